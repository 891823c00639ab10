//! The bytes of a patch (`format-spec/patch.md`).
//!
//! ```text
//! 8A 4B 42 50 0D 0A 1A 0A     magic
//! u32 little-endian           version, 1
//! u32 little-endian           bytes of the head
//! head                        JSON: name and content root of the older file; content root of the newer one and whether
//!                             it is sealed; number of new documents; paths of changed and removed documents; bytes of
//!                             the content
//! zstd frame                  the content: a .kb with the new and changed documents; nothing where there are none
//! 32 bytes                    blake3 of everything before
//! ```

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use kb_types::error::{Error, Result};
use serde_json::{Value, json};

use super::options::PatchReport;
use crate::progress::Reporter;

const MAGIC: &[u8; 8] = b"\x8aKBP\r\n\x1a\n";
const VERSION: u32 = 1;
const HASH_BYTES: u64 = 32;
/// Bytes before the head.
const FIXED_BYTES: u64 = 16;
/// Longest head: paths of some million documents.
const HEAD_LIMIT_BYTES: u64 = 256 << 20;
/// zstd level of the content.
// Text and symbols in it are compressed already; pages, vectors and postings are left.
const LEVEL: i32 = 19;
const PIECE_BYTES: usize = 64 << 10;

/// What a patch says beside its documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) base_name: String,
    pub(super) base_root: String,
    pub(super) result_root: String,
    pub(super) is_sealed: bool,
    pub(super) added: u64,
    pub(super) changed: BTreeSet<String>,
    pub(super) removed: BTreeSet<String>,
}

impl Head {
    pub(super) fn report(self, bytes: u64) -> PatchReport {
        PatchReport {
            added: self.added,
            changed: self.changed.len() as u64,
            removed: self.removed.len() as u64,
            base_root: self.base_root,
            content_root: self.result_root,
            bytes,
        }
    }
}

/// Passes on what is written, and hashes it.
struct Hashing<W> {
    to: W,
    hasher: blake3::Hasher,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.hasher.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Writes a patch with the documents of a file, if it is there; returns its size in bytes.
pub(super) fn write(path: &Path, head: &Head, content: &Path) -> Result<u64> {
    let failed = |error| Error::io("write", path, error);
    let mut file = File::create_new(path).map_err(failed)?;
    let content = match File::open(content) {
        Ok(content) => Some(content),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(Error::io("open", content, error)),
    };
    let write = |file: &mut File| -> io::Result<u64> {
        let mut out = Hashing {
            to: BufWriter::new(file),
            hasher: blake3::Hasher::new(),
        };
        let content_bytes = match &content {
            Some(content) => content.metadata()?.len(),
            None => 0,
        };
        let text = json!({
            "base": {"name": head.base_name, "content_root": head.base_root},
            "result": {"content_root": head.result_root, "sealed": head.is_sealed},
            "added": head.added,
            "changed": head.changed,
            "removed": head.removed,
            "content_bytes": content_bytes,
        });
        let text = text.to_string();
        let len = u32::try_from(text.len()).map_err(io::Error::other)?;
        out.write_all(MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        out.write_all(&len.to_le_bytes())?;
        out.write_all(text.as_bytes())?;
        if let Some(content) = content {
            zstd::stream::copy_encode(BufReader::new(content), &mut out, LEVEL)?;
        }
        let hash = out.hasher.finalize();
        out.to.write_all(hash.as_bytes())?;
        let file = out
            .to
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        Ok(file.metadata()?.len())
    };
    write(&mut file).map_err(failed)
}

/// Checks a patch and writes the file with its documents to `content`, if it has any.
pub(super) fn read(path: &Path, content: &Path, reporter: &Reporter<'_>) -> Result<Head> {
    let failed = |error| Error::io("read", path, error);
    let mut file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    let len = file.metadata().map_err(failed)?.len();
    let mut fixed = [0; FIXED_BYTES as usize];
    let is_long = len >= FIXED_BYTES + HASH_BYTES;
    if is_long {
        file.read_exact(&mut fixed).map_err(failed)?;
    }
    let Some((magic, numbers)) = fixed.split_first_chunk::<8>().filter(|_| is_long) else {
        return Err(no_patch(path));
    };
    let (version, head_bytes) = match numbers {
        [a, b, c, d, e, f, g, h] if magic == MAGIC => (
            u32::from_le_bytes([*a, *b, *c, *d]),
            u64::from(u32::from_le_bytes([*e, *f, *g, *h])),
        ),
        _ => return Err(no_patch(path)),
    };
    if version != VERSION {
        return Err(Error::FormatUnsupported {
            needs: format!("a reader of patches of version {version}"),
            reads: format!("version {VERSION}"),
        });
    }
    let body_bytes = len - HASH_BYTES;
    if head_bytes > HEAD_LIMIT_BYTES || FIXED_BYTES + head_bytes > body_bytes {
        return Err(damaged());
    }
    check_hash(&mut file, body_bytes, reporter)
        .map_err(failed)?
        .then_some(())
        .ok_or_else(damaged)?;
    reporter.check()?;
    file.seek(SeekFrom::Start(FIXED_BYTES)).map_err(failed)?;
    let mut text = Vec::new();
    let mut head = (&file).take(head_bytes);
    head.read_to_end(&mut text).map_err(failed)?;
    let value: Value = serde_json::from_slice(&text).map_err(|_| damaged())?;
    let head = head_of(&value).ok_or_else(damaged)?;
    let content_bytes = value.get("content_bytes").and_then(Value::as_u64);
    let content_bytes = content_bytes.ok_or_else(damaged)?;
    let frame = (&file).take(body_bytes - FIXED_BYTES - head_bytes);
    unpack(frame, content, content_bytes, reporter)?;
    Ok(head)
}

/// Whether a patch ends with the hash of what comes before.
fn check_hash(file: &mut File, body_bytes: u64, reporter: &Reporter<'_>) -> io::Result<bool> {
    file.seek(SeekFrom::Start(0))?;
    let mut hasher = blake3::Hasher::new();
    let mut piece = vec![0; PIECE_BYTES];
    let mut body = file.take(body_bytes);
    loop {
        let read = body.read(&mut piece)?;
        if read == 0 || reporter.check().is_err() {
            break;
        }
        hasher.update(piece.get(..read).unwrap_or_default());
    }
    let mut hash = [0; HASH_BYTES as usize];
    file.seek(SeekFrom::Start(body_bytes))?;
    file.read_exact(&mut hash)?;
    Ok(reporter.check().is_err() || hasher.finalize() == hash)
}

/// Writes what a frame holds, which has `content_bytes`.
fn unpack(
    frame: impl Read,
    content: &Path,
    content_bytes: u64,
    reporter: &Reporter<'_>,
) -> Result<()> {
    if content_bytes == 0 {
        return Ok(());
    }
    let failed = |error| Error::io("write", content, error);
    let mut file = BufWriter::new(File::create_new(content).map_err(failed)?);
    let frame = zstd::stream::read::Decoder::new(frame).map_err(|_| damaged())?;
    // One byte more shows a frame that is longer than its head says.
    let mut frame = frame.take(content_bytes.saturating_add(1));
    let mut piece = vec![0; PIECE_BYTES];
    let mut left = content_bytes;
    loop {
        reporter.check()?;
        let read = frame.read(&mut piece).map_err(|_| damaged())?;
        if read == 0 {
            break;
        }
        left = left.checked_sub(read as u64).ok_or_else(damaged)?;
        file.write_all(piece.get(..read).unwrap_or_default())
            .map_err(failed)?;
    }
    if left > 0 {
        return Err(damaged());
    }
    file.flush().map_err(failed)
}

fn head_of(value: &Value) -> Option<Head> {
    let text = |pointer: &str| Some(value.pointer(pointer)?.as_str()?.to_owned());
    let paths = |name: &str| -> Option<BTreeSet<String>> {
        let list = value.get(name)?.as_array()?.iter();
        list.map(|path| Some(path.as_str()?.to_owned())).collect()
    };
    Some(Head {
        base_name: text("/base/name")?,
        base_root: text("/base/content_root")?,
        result_root: text("/result/content_root")?,
        is_sealed: value.pointer("/result/sealed")?.as_bool()?,
        added: value.get("added")?.as_u64()?,
        changed: paths("changed")?,
        removed: paths("removed")?,
    })
}

/// A file that is no patch is not replaced by one.
pub(super) fn check_magic(path: &Path) -> Result<()> {
    let mut magic = [0; MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    match read {
        Ok(()) if magic == *MAGIC => Ok(()),
        _ => Err(no_patch(path)),
    }
}

fn no_patch(path: &Path) -> Error {
    Error::InvalidArgument {
        argument: "patch",
        reason: format!(
            "{} is no patch, as `kb diff --patch` writes them",
            path.display()
        ),
    }
}

fn damaged() -> Error {
    Error::damaged("the patch")
}
