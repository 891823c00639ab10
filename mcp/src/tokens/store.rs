//! The file of tokens.
//!
//! It is replaced whole, by a temporary file and a rename; whoever changes it holds the lock of a
//! file beside it. Where its path is a symbolic link, all this happens to the file that the link leads
//! to, so that it has one content and one lock by whatever path it is named. When a token was last used
//! is remembered in memory and written now and then.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::error::TokenError;
use super::file::{self, Stamp, Token};
use super::secret::{self, Hash};
use super::token::{Access, TOKENS_LIMIT, TokenInfo, is_name};

/// Links from one to the next that are followed to the file; as many as Linux follows.
const LINKS_LIMIT: usize = 40;

/// How often uses are written down.
const USES_PAUSE: Duration = Duration::from_secs(60);

/// The tokens of one file.
#[derive(Debug)]
pub struct Tokens {
    path: PathBuf,
    known: Mutex<Known>,
}

/// What is in memory.
#[derive(Debug, Default)]
struct Known {
    /// Which state of the file was read; `None`: none yet.
    stamp: Option<Stamp>,
    tokens: Vec<Token>,
    /// Uses since the last time they were written, by name.
    uses: BTreeMap<String, i64>,
    written: Option<Instant>,
}

/// Where tokens lie when nothing else is said: `kb/tokens.json` in the user's configuration.
pub fn default_path() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let configuration = folder("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| folder("HOME").map(|home| Path::new(&home).join(".config")))
        .or_else(|| folder("APPDATA").map(PathBuf::from))?;
    Some(configuration.join("kb").join("tokens.json"))
}

impl Tokens {
    /// The tokens of that file, which need not exist.
    pub fn new(path: PathBuf) -> Tokens {
        Tokens {
            path,
            known: Mutex::default(),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is known of every token, in the order they were made.
    ///
    /// # Errors
    /// Those of reading the file; [`TokenError::Exposed`] when others may read it.
    pub fn list(&self) -> Result<Vec<TokenInfo>, TokenError> {
        let mut tokens = self.read()?;
        tokens.sort_by_key(|token| token.info.created_ms);
        Ok(tokens.into_iter().map(|token| token.info).collect())
    }

    /// Makes a token and gives it; it is not stored and cannot be had again.
    ///
    /// # Errors
    /// [`TokenError::Name`], [`TokenError::Taken`], [`TokenError::Full`], and those of reading and
    /// writing the file.
    pub fn create(&self, name: &str, may_write: bool) -> Result<String, TokenError> {
        if !is_name(name) {
            return Err(TokenError::Name(name.to_owned()));
        }
        let secret = secret::make().map_err(|error| self.failed(error))?;
        self.change(|tokens| {
            if tokens.iter().any(|token| token.info.name == name) {
                return Err(TokenError::Taken(name.to_owned()));
            }
            if tokens.len() >= TOKENS_LIMIT {
                return Err(TokenError::Full);
            }
            let info = TokenInfo {
                name: name.to_owned(),
                may_write,
                created_ms: now_ms(),
                last_used_ms: None,
            };
            let hash = Hash::of(&secret);
            tokens.push(Token { info, hash });
            Ok(())
        })?;
        Ok(secret)
    }

    /// Removes a token; who has it is refused from now on.
    ///
    /// # Errors
    /// [`TokenError::Unknown`], and those of reading and writing the file.
    pub fn revoke(&self, name: &str) -> Result<(), TokenError> {
        self.change(|tokens| {
            let at = tokens.iter().position(|token| token.info.name == name);
            let Some(at) = at else {
                return Err(TokenError::Unknown {
                    name: name.to_owned(),
                    names: tokens.iter().map(|token| token.info.name.clone()).collect(),
                });
            };
            tokens.remove(at);
            Ok(())
        })
    }

    /// What an `Authorization` header allows; `None`: nothing. Looks at the file each time, so that a
    /// change counts at once; a file that cannot be read allows nothing.
    pub fn check(&self, header: Option<&str>) -> Option<Access> {
        let hash = shown(header)?;
        let mut known = self.known();
        self.refresh(&mut known).ok()?;
        // All are compared, so that time does not tell which one is near.
        let mut found = None;
        for token in &known.tokens {
            if token.hash.is_same(hash) {
                found = Some(Access {
                    name: token.info.name.clone(),
                    may_write: token.info.may_write,
                    hash,
                });
            }
        }
        let access = found?;
        known.uses.insert(access.name.clone(), now_ms());
        let is_due = known
            .written
            .is_none_or(|written| written.elapsed() >= USES_PAUSE);
        drop(known);
        if is_due {
            self.flush();
        }
        Some(access)
    }

    /// Whether a header shows a token that was there when the file was last looked at. The file is
    /// not: what is allowed is what [`Tokens::check`] says.
    pub(crate) fn is_known(&self, header: Option<&str>) -> bool {
        let Some(hash) = shown(header) else {
            return false;
        };
        let known = self.known();
        let same = known.tokens.iter().filter(|token| token.hash.is_same(hash));
        same.count() > 0
    }

    /// Which tokens there are now; a file that cannot be read allows nothing.
    pub(crate) fn hashes(&self) -> Vec<Hash> {
        let mut known = self.known();
        match self.refresh(&mut known) {
            Ok(()) => known.tokens.iter().map(|token| token.hash).collect(),
            Err(_) => Vec::new(),
        }
    }

    /// Writes down when tokens were used. That it fails changes nothing for anybody.
    pub fn flush(&self) {
        let uses = {
            let mut known = self.known();
            known.written = Some(Instant::now());
            std::mem::take(&mut known.uses)
        };
        if uses.is_empty() {
            return;
        }
        let _ = self.change(|tokens| {
            for token in tokens {
                // One that was revoked meanwhile does not come back.
                if let Some(used) = uses.get(&token.info.name) {
                    token.info.last_used_ms = token.info.last_used_ms.max(Some(*used));
                }
            }
            Ok(())
        });
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refresh(&self, known: &mut Known) -> Result<(), TokenError> {
        let stamp = match fs::metadata(&self.path) {
            Ok(metadata) => Some(Stamp::of(&metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(self.failed(error)),
        };
        if stamp != known.stamp || stamp.is_none() {
            known.tokens = self.read()?;
            known.stamp = stamp;
        }
        Ok(())
    }

    /// Reads, changes and writes the tokens while nobody else does.
    fn change(
        &self,
        change: impl FnOnce(&mut Vec<Token>) -> Result<(), TokenError>,
    ) -> Result<(), TokenError> {
        let place = self.place().map_err(|error| self.failed(error))?;
        let folder = place.parent().unwrap_or(Path::new(""));
        if !folder.as_os_str().is_empty() && !folder.exists() {
            file::make_folder(folder).map_err(|error| self.failed(error))?;
        }
        let lock = file::private()
            .create(true)
            .truncate(false)
            .open(beside(&place, "lock"));
        let lock = lock.map_err(|error| self.failed(error))?;
        lock.lock().map_err(|error| self.failed(error))?;
        let mut tokens = self.read_at(&place)?;
        change(&mut tokens)?;
        write(&place, &tokens).map_err(|error| self.failed(error))
    }

    /// Where the file is, or will be: the path without symbolic links at its end. To replace a link
    /// would leave two files, and who is revoked in one would be let in by the other.
    fn place(&self) -> io::Result<PathBuf> {
        let mut place = self.path.clone();
        for _ in 0..LINKS_LIMIT {
            match fs::symlink_metadata(&place) {
                Ok(metadata) if metadata.is_symlink() => {
                    let target = fs::read_link(&place)?;
                    place = place.parent().unwrap_or(Path::new("")).join(target);
                }
                Ok(_) => return Ok(place),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(place),
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("it is a symbolic link that leads nowhere"))
    }

    fn read(&self) -> Result<Vec<Token>, TokenError> {
        self.read_at(&self.path)
    }

    fn read_at(&self, place: &Path) -> Result<Vec<Token>, TokenError> {
        let metadata = match fs::metadata(place) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.failed(error)),
        };
        if file::is_exposed(&metadata) {
            return Err(TokenError::Exposed(self.path.clone()));
        }
        let bytes = fs::read(place).map_err(|error| self.failed(error))?;
        file::parsed(&bytes).ok_or_else(|| TokenError::Unreadable(self.path.clone()))
    }

    fn failed(&self, error: io::Error) -> TokenError {
        TokenError::Io {
            path: self.path.clone(),
            error,
        }
    }
}

fn write(place: &Path, tokens: &[Token]) -> io::Result<()> {
    let text = file::text(tokens);
    let temporary = beside(place, "tmp");
    // One that a crash left behind; we hold the lock.
    let _ = fs::remove_file(&temporary);
    let mut file = file::private().create_new(true).open(&temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&temporary, place)?;
    // Where a folder cannot be synced, the rename is safe without.
    if let Some(Ok(folder)) = place.parent().map(File::open) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// `tokens.json.lock` for `lock`.
fn beside(place: &Path, ending: &str) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

/// The hash of the token in an `Authorization` header.
fn shown(header: Option<&str>) -> Option<Hash> {
    let (scheme, token) = header?.split_once(' ')?;
    let is_bearer = scheme.eq_ignore_ascii_case("bearer");
    is_bearer.then(|| Hash::of(token))
}

fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(now.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
