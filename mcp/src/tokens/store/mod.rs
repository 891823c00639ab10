//! Reads and changes the token file.
//!
//! A change replaces the whole file, by a temporary file and a rename, while a lock file beside it is
//! held. If the path is a symbolic link, the target is replaced and locked, so that every path to a file
//! leads to the same content and the same lock. Times of last use are kept in memory and written at
//! most once a minute.

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

/// Most symbolic links that are followed to the file: as many as Linux follows.
const LINKS_LIMIT: usize = 40;

/// How often times of last use are written.
const FLUSH_INTERVAL: Duration = Duration::from_secs(60);

/// The tokens of one file.
#[derive(Debug)]
pub struct Tokens {
    path: PathBuf,
    cache: Mutex<Cache>,
}

/// The tokens in memory.
#[derive(Debug, Default)]
struct Cache {
    /// The state of the file that was read; `None` before the first read.
    stamp: Option<Stamp>,
    tokens: Vec<Token>,
    /// Times of last use that are not written yet, by name.
    uses: BTreeMap<String, i64>,
    flushed: Option<Instant>,
}

/// The default token file: `kb/tokens.json` in `$XDG_CONFIG_HOME`, `~/.config` or `%APPDATA%`. `None` if
/// none of these is set.
pub fn default_path() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let configuration = folder("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| folder("HOME").map(|home| Path::new(&home).join(".config")))
        .or_else(|| folder("APPDATA").map(PathBuf::from))?;
    Some(configuration.join("kb").join("tokens.json"))
}

impl Tokens {
    /// The tokens in a file, which need not exist.
    pub fn new(path: PathBuf) -> Tokens {
        Tokens {
            path,
            cache: Mutex::default(),
        }
    }

    /// The token file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All tokens, in the order in which they were created.
    ///
    /// # Errors
    /// Those of reading the file; [`TokenError::Exposed`] if other users can read it.
    pub fn list(&self) -> Result<Vec<TokenInfo>, TokenError> {
        let mut tokens = self.read()?;
        tokens.sort_by_key(|token| token.info.created_ms);
        Ok(tokens.into_iter().map(|token| token.info).collect())
    }

    /// Creates a token and returns its text, which is stored nowhere.
    ///
    /// # Errors
    /// [`TokenError::Name`], [`TokenError::Taken`], [`TokenError::Full`], and those of reading and
    /// writing the file.
    pub fn create(&self, name: &str, may_write: bool) -> Result<String, TokenError> {
        if !is_name(name) {
            return Err(TokenError::Name(name.to_owned()));
        }
        let secret = secret::generate().map_err(|error| self.failed(error))?;
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

    /// Removes a token: requests with it are refused from now on.
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

    /// The access that an `Authorization` header gives, if any. The file is checked for changes each time,
    /// so that a revoked token is refused at once. A file that cannot be read gives no access.
    pub fn check(&self, header: Option<&str>) -> Option<Access> {
        self.access_of(bearer_hash(header)?)
    }

    /// As [`Tokens::check`], for the token of that hash.
    pub(crate) fn access_of(&self, hash: Hash) -> Option<Access> {
        let mut cache = self.cache();
        self.refresh(&mut cache).ok()?;
        // All are compared, so that the time tells nothing about the tokens.
        let mut access = None;
        for token in &cache.tokens {
            if token.hash.is_same(hash) {
                access = Some(Access {
                    name: token.info.name.clone(),
                    may_write: token.info.may_write,
                    hash,
                });
            }
        }
        let access = access?;
        cache.uses.insert(access.name.clone(), now_ms());
        let is_due = cache
            .flushed
            .is_none_or(|written| written.elapsed() >= FLUSH_INTERVAL);
        drop(cache);
        if is_due {
            self.flush();
        }
        Some(access)
    }

    /// Whether a header has a token that was valid when the file was last read. Does not read it: only
    /// [`Tokens::check`] gives access.
    pub(crate) fn is_known(&self, header: Option<&str>) -> bool {
        let Some(hash) = bearer_hash(header) else {
            return false;
        };
        let cache = self.cache();
        let same = cache.tokens.iter().filter(|token| token.hash.is_same(hash));
        same.count() > 0
    }

    /// The hashes of all tokens; none if the file cannot be read.
    pub(crate) fn hashes(&self) -> Vec<Hash> {
        let mut cache = self.cache();
        match self.refresh(&mut cache) {
            Ok(()) => cache.tokens.iter().map(|token| token.hash).collect(),
            Err(_) => Vec::new(),
        }
    }

    /// Writes the times of last use. Errors are ignored: they matter to no request.
    pub fn flush(&self) {
        let uses = {
            let mut cache = self.cache();
            cache.flushed = Some(Instant::now());
            std::mem::take(&mut cache.uses)
        };
        if uses.is_empty() {
            return;
        }
        let _ = self.change(|tokens| {
            for token in tokens {
                // A token that was revoked meanwhile is not in the file.
                if let Some(used) = uses.get(&token.info.name) {
                    token.info.last_used_ms = token.info.last_used_ms.max(Some(*used));
                }
            }
            Ok(())
        });
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refresh(&self, cache: &mut Cache) -> Result<(), TokenError> {
        let stamp = match fs::metadata(&self.path) {
            Ok(metadata) => Some(Stamp::of(&metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(self.failed(error)),
        };
        if stamp != cache.stamp || stamp.is_none() {
            cache.tokens = self.read()?;
            cache.stamp = stamp;
        }
        Ok(())
    }

    /// Reads, changes and writes the tokens under the lock.
    fn change(
        &self,
        change: impl FnOnce(&mut Vec<Token>) -> Result<(), TokenError>,
    ) -> Result<(), TokenError> {
        let target = self.target().map_err(|error| self.failed(error))?;
        let folder = target.parent().unwrap_or(Path::new(""));
        if !folder.as_os_str().is_empty() && !folder.exists() {
            file::create_folder(folder).map_err(|error| self.failed(error))?;
        }
        let lock = file::private()
            .create(true)
            .truncate(false)
            .open(beside(&target, "lock"));
        let lock = lock.map_err(|error| self.failed(error))?;
        lock.lock().map_err(|error| self.failed(error))?;
        let mut tokens = self.read_at(&target)?;
        change(&mut tokens)?;
        write(&target, &tokens).map_err(|error| self.failed(error))
    }

    /// The path of the file itself, with symbolic links followed. Replacing a link would leave two files,
    /// and a token revoked in one would be valid in the other.
    fn target(&self) -> io::Result<PathBuf> {
        let mut target = self.path.clone();
        for _ in 0..LINKS_LIMIT {
            match fs::symlink_metadata(&target) {
                Ok(metadata) if metadata.is_symlink() => {
                    let link = fs::read_link(&target)?;
                    target = target.parent().unwrap_or(Path::new("")).join(link);
                }
                Ok(_) => return Ok(target),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(target),
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("it is a broken symbolic link"))
    }

    fn read(&self) -> Result<Vec<Token>, TokenError> {
        self.read_at(&self.path)
    }

    fn read_at(&self, target: &Path) -> Result<Vec<Token>, TokenError> {
        let metadata = match fs::metadata(target) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.failed(error)),
        };
        if file::is_exposed(&metadata) {
            return Err(TokenError::Exposed(self.path.clone()));
        }
        let bytes = fs::read(target).map_err(|error| self.failed(error))?;
        file::parse(&bytes).ok_or_else(|| TokenError::Unreadable(self.path.clone()))
    }

    fn failed(&self, error: io::Error) -> TokenError {
        TokenError::Io {
            path: self.path.clone(),
            error,
        }
    }
}

fn write(target: &Path, tokens: &[Token]) -> io::Result<()> {
    let text = file::encode(tokens);
    let temporary = beside(target, "tmp");
    // Left behind by a crash; the lock is held here.
    let _ = fs::remove_file(&temporary);
    let mut file = file::private().create_new(true).open(&temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&temporary, target)?;
    // Systems whose folders cannot be synced keep a rename without it.
    if let Some(Ok(folder)) = target.parent().map(File::open) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// The path with an extension appended: `tokens.json.lock`.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

/// The hash of the bearer token in an `Authorization` header.
fn bearer_hash(header: Option<&str>) -> Option<Hash> {
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
