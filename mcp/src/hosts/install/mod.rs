//! Adds this server to the configuration of a host, or removes it. Everything else in the file stays unchanged.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::InstallError;
use super::{Entry, Host, json_file, toml_file};

/// Bytes of a configuration file.
const FILE_LIMIT_BYTES: u64 = 16 << 20;

/// Backups of one file.
const BACKUPS_LIMIT: u32 = 1000;

/// What some editors put before the text of a file.
const BOM: char = '\u{feff}';

/// A change of a configuration file that was not made yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file, with links resolved.
    pub file: PathBuf,
    /// What is in it; `None`: it is not there.
    pub before: Option<String>,
    /// What it will have.
    pub after: String,
}

impl Change {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        match &self.before {
            Some(before) => *before == self.after,
            None => self.after.is_empty(),
        }
    }

    /// The lines that differ: `-` before those that go, `+` before those that come, with up to three around them.
    pub fn diff(&self) -> String {
        const AROUND: usize = 3;
        let before: Vec<&str> = self.before.as_deref().unwrap_or_default().lines().collect();
        let after: Vec<&str> = self.after.lines().collect();
        let same = before
            .iter()
            .zip(&after)
            .take_while(|(a, b)| a == b)
            .count();
        let left = before.len().min(after.len()) - same;
        let ends = before.iter().rev().zip(after.iter().rev());
        let same_end = ends.take(left).take_while(|(a, b)| a == b).count();
        let (old_end, new_end) = (before.len() - same_end, after.len() - same_end);
        let above = same.saturating_sub(AROUND)..same;
        let below = new_end..after.len().min(new_end + AROUND);
        let mut diff = String::new();
        for (sign, lines) in [
            (' ', after.get(above)),
            ('-', before.get(same..old_end)),
            ('+', after.get(same..new_end)),
            (' ', after.get(below)),
        ] {
            for line in lines.into_iter().flatten() {
                diff.push_str(&format!("{sign} {line}\n"));
            }
        }
        diff
    }

    /// Makes the change: the file is replaced as a whole, so that a host never reads half of it. Returns the copy of
    /// the file that was there.
    ///
    /// # Errors
    /// [`InstallError::Io`].
    pub fn apply(&self) -> Result<Option<PathBuf>, InstallError> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let backup = match &self.before {
            None => None,
            Some(_) => Some(back_up(&self.file)?),
        };
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        let temporary = folder.join(format!(".{name}.{}.tmp", std::process::id()));
        let written = self.write(&temporary);
        let replaced = written.and_then(|()| fs::rename(&temporary, &self.file));
        if let Err(error) = replaced {
            let _ = fs::remove_file(&temporary);
            return Err(error.into());
        }
        Ok(backup)
    }

    fn write(&self, temporary: &Path) -> std::io::Result<()> {
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(temporary)?;
        if let Ok(metadata) = fs::metadata(&self.file) {
            // Such files may hold keys that others must not read.
            file.set_permissions(metadata.permissions())?;
        }
        file.write_all(self.after.as_bytes())?;
        file.sync_all()
    }
}

/// Copies a file to a name beside it that is free.
fn back_up(file: &Path) -> Result<PathBuf, InstallError> {
    for number in 1..BACKUPS_LIMIT {
        let mut name = file.file_name().unwrap_or_default().to_owned();
        name.push(".kb-backup");
        if number > 1 {
            name.push(number.to_string());
        }
        let backup = file.with_file_name(name);
        if fs::symlink_metadata(&backup).is_err() {
            fs::copy(file, &backup)?;
            return Ok(backup);
        }
    }
    Err(std::io::Error::new(ErrorKind::AlreadyExists, "it has too many backup copies").into())
}

/// The change that puts the server into `file` under `name`.
///
/// # Errors
/// [`InstallError`]: the file is not changed where it cannot be read whole, or where another server has the name.
pub fn install(host: Host, file: &Path, name: &str, entry: &Entry) -> Result<Change, InstallError> {
    change(host, file, |text| {
        let keys = keys(host, text, entry.key);
        match server(host, text, &keys, name)? {
            None => {}
            Some(existing) if !is_ours(&existing) => return Err(InstallError::NameTaken),
            Some(existing) => {
                let served = served(&existing);
                if !served.is_empty() && served != self::served(&entry.server) {
                    return Err(InstallError::ServesOthers(served));
                }
            }
        }
        let after = match host {
            Host::Codex => toml_file::with_server(text, entry.key, name, &entry.server)?,
            _ => json_file::with_server(text, &keys, name, &entry.server)?,
        };
        Ok(after)
    })
    .and_then(|made| checked(host, made, entry.key, name))
}

/// The change that takes the server of `name` out of `file`.
///
/// # Errors
/// As [`install`].
pub fn uninstall(host: Host, file: &Path, name: &str) -> Result<Change, InstallError> {
    let key = super::key_of(host);
    change(host, file, |text| {
        let keys = keys(host, text, key);
        match server(host, text, &keys, name)? {
            None => Ok(text.to_owned()),
            Some(existing) if !is_ours(&existing) => Err(InstallError::NameTaken),
            Some(_) => match host {
                Host::Codex => toml_file::without_server(text, key, name),
                _ => json_file::without_server(text, &keys, name),
            },
        }
    })
    .and_then(|made| checked(host, made, key, name))
}

/// Reads the file, and lets `edit` change its text without what stands before it.
fn change(
    host: Host,
    file: &Path,
    edit: impl FnOnce(&str) -> Result<String, InstallError>,
) -> Result<Change, InstallError> {
    // Through a link, as to a folder of settings under version control: the link stays.
    let file = match fs::canonicalize(file) {
        Ok(real) => real,
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
        Err(error) if fs::symlink_metadata(file).is_ok() => return Err(error.into()),
        Err(_) => std::path::absolute(file)?,
    };
    let before = match fs::metadata(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
        Ok(metadata) if !metadata.is_file() => {
            return Err(InstallError::Broken("it is not a file".to_owned()));
        }
        Ok(metadata) if metadata.len() > FILE_LIMIT_BYTES => {
            return Err(InstallError::Broken("it is too large".to_owned()));
        }
        Ok(_) => Some(fs::read(&file)?),
    };
    let before = before.map(String::from_utf8).transpose();
    let before = before.map_err(|_| InstallError::Broken("it is not UTF-8".to_owned()))?;
    let text = before.as_deref().unwrap_or_default();
    let (bom, body) = match text.strip_prefix(BOM) {
        Some(body) => (BOM.to_string(), body),
        None => (String::new(), text),
    };
    let mut after = edit(body)?;
    let line_ends = body.matches('\n').count();
    if host == Host::Codex && line_ends > 0 && body.matches("\r\n").count() == line_ends {
        after = after.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    if before.is_none() && !after.is_empty() && !after.ends_with('\n') {
        after.push('\n');
    }
    Ok(Change {
        file,
        after: bom + &after,
        before,
    })
}

/// The change, if it concerns the server alone: the rest of what the file says is the same before and after.
fn checked(host: Host, change: Change, key: &str, name: &str) -> Result<Change, InstallError> {
    let rest = |text: &str| {
        let text = text.strip_prefix(BOM).unwrap_or(text);
        let mut value = match host {
            Host::Codex => toml_file::value(text)?,
            _ => json_file::value(text)?,
        };
        remove(&mut value, &keys(host, text, key), name);
        Ok::<_, InstallError>(value)
    };
    let before = rest(change.before.as_deref().unwrap_or_default())?;
    if before == rest(&change.after)? {
        Ok(change)
    } else {
        let reason = "the change would affect more than this server".to_owned();
        Err(InstallError::Broken(reason))
    }
}

/// Removes a server, and the objects above it that this leaves empty.
fn remove(value: &mut Value, keys: &[&str], name: &str) {
    let Some(object) = value.as_object_mut() else {
        return;
    };
    match keys.split_first() {
        None => drop(object.remove(name)),
        Some((key, rest)) => {
            if let Some(inner) = object.get_mut(*key) {
                remove(inner, rest, name);
                if inner.as_object().is_some_and(serde_json::Map::is_empty) {
                    object.remove(*key);
                }
            }
        }
    }
}

/// The keys that lead to the servers. opencode 2 has them one level deeper.
fn keys<'k>(host: Host, text: &str, key: &'k str) -> Vec<&'k str> {
    let is_deeper = || {
        let value = json_file::value(text).ok();
        value.is_some_and(|value| {
            let servers = value.get(key).and_then(|inner| inner.get("servers"));
            servers.is_some_and(|servers| servers.is_object() && servers.get("type").is_none())
        })
    };
    if host == Host::Opencode && is_deeper() {
        vec![key, "servers"]
    } else {
        vec![key]
    }
}

fn server(
    host: Host,
    text: &str,
    keys: &[&str],
    name: &str,
) -> Result<Option<Value>, InstallError> {
    match host {
        Host::Codex => toml_file::server(text, keys.first().unwrap_or(&""), name),
        _ => json_file::server(text, keys, name),
    }
}

/// The words of the command of a server, in whichever field the host has them.
fn words(server: &Value) -> Vec<&str> {
    let fields = ["command", "args"]
        .into_iter()
        .filter_map(|key| server.get(key));
    let words = fields.flat_map(|field| match field {
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        Value::String(word) => vec![word.as_str()],
        _ => Vec::new(),
    });
    words.collect()
}

fn url(server: &Value) -> Option<&str> {
    let urls = ["url", "httpUrl"].into_iter();
    urls.filter_map(|key| server.get(key))
        .find_map(Value::as_str)
}

/// Whether a server is this program: one that is started with `mcp`, or an address of one.
fn is_ours(server: &Value) -> bool {
    let words = words(server);
    let starts =
        words.iter().skip(1).any(|word| *word == "mcp") && words.iter().any(|word| is_kb(word));
    // As `--http` writes it: there is no TLS.
    let is_address = |url: &str| url.starts_with("http://") && url.ends_with("/mcp");
    starts || url(server).is_some_and(is_address)
}

/// Whether a word of a command is this program, or one of its files.
fn is_kb(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
    matches!(name, "kb" | "kb.exe" | "kbfile" | "--connect") || name.ends_with(".kb")
}

/// The files or the address that a server serves.
fn served(server: &Value) -> Vec<String> {
    let words = words(server);
    let mut served: Vec<String> = words
        .iter()
        .skip(1)
        .filter(|word| word.ends_with(".kb") || word.starts_with("http://"))
        .map(|word| (*word).to_owned())
        .collect();
    served.extend(url(server).map(str::to_owned));
    served.sort();
    served
}

#[cfg(test)]
mod tests;
