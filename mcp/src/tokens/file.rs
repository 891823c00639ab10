//! The token file: its format, and its permissions.

use std::fs::{DirBuilder, Metadata, OpenOptions};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use serde_json::{Map, Value, json};

use super::secret::Hash;
use super::token::TokenInfo;

/// Version of the format.
const VERSION: u64 = 1;

/// A token as it is stored.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) info: TokenInfo,
    pub(super) hash: Hash,
}

/// The content of a file with these tokens.
pub(super) fn encode(tokens: &[Token]) -> String {
    let tokens: Vec<Value> = tokens.iter().map(object).collect();
    format!("{:#}\n", json!({ "version": VERSION, "tokens": tokens }))
}

fn object(token: &Token) -> Value {
    let mut object = json!({
        "name": token.info.name,
        "sha256": token.hash.hex(),
        "scope": if token.info.may_write { "write" } else { "read" },
        "created_ms": token.info.created_ms,
    });
    if let (Some(used), Some(object)) = (token.info.last_used_ms, object.as_object_mut()) {
        object.insert("last_used_ms".to_owned(), used.into());
    }
    object
}

/// The tokens in a file; `None` if it is no token file of this version.
pub(super) fn parse(bytes: &[u8]) -> Option<Vec<Token>> {
    let file: Value = serde_json::from_slice(bytes).ok()?;
    if file.get("version")?.as_u64()? != VERSION {
        return None;
    }
    let tokens = file.get("tokens")?.as_array()?;
    tokens
        .iter()
        .map(|token| parse_token(token.as_object()?))
        .collect()
}

fn parse_token(token: &Map<String, Value>) -> Option<Token> {
    Some(Token {
        info: TokenInfo {
            name: token.get("name")?.as_str()?.to_owned(),
            may_write: match token.get("scope")?.as_str()? {
                "read" => false,
                "write" => true,
                _ => return None,
            },
            created_ms: token.get("created_ms")?.as_i64()?,
            last_used_ms: match token.get("last_used_ms") {
                None => None,
                Some(used) => Some(used.as_i64()?),
            },
        },
        hash: Hash::from_hex(token.get("sha256")?.as_str()?)?,
    })
}

/// Differs after every change of the file: of its content, its inode or its permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
    inode: u64,
    /// The ctime of Unix in seconds and nanoseconds, which also changes with the permissions.
    changed: (i64, i64),
}

/// Options to create a file that only its owner can read and write.
pub(super) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a folder that only its owner can enter, and its parents.
pub(super) fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)
}

/// Whether users other than its owner can read the file. Always false on systems other than Unix.
#[cfg(unix)]
pub(super) fn is_exposed(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
pub(super) fn is_exposed(_: &Metadata) -> bool {
    false
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Stamp {
        #[cfg(unix)]
        let (inode, changed) = {
            use std::os::unix::fs::MetadataExt;
            (metadata.ino(), (metadata.ctime(), metadata.ctime_nsec()))
        };
        #[cfg(not(unix))]
        let (inode, changed) = (0, (0, 0));
        Stamp {
            modified: metadata.modified().ok(),
            bytes: metadata.len(),
            inode,
            changed,
        }
    }
}
