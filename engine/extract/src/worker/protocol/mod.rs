//! What goes through the pipes of a worker: records behind their lengths, little-endian.
//!
//! ```text
//! worker -> parent, once   magic, protection u8, length u8, version of the program
//! parent -> worker         path length u32, content length u32, CPU seconds u32, path, content
//! worker -> parent         kind u8, last u8, fields length u32, text length u32, fields, text
//! ```
//! Kind 0 is a document: its fields as in [`super::document_codec`], then its text. Another kind is the number of
//! a refusal, whose reason is the text. The parent takes every byte of a worker for a lie until it is checked;
//! memory is taken as bytes come, not as a length says.

use std::io::{self, Read, Write};

use kb_types::Document;

use crate::skip_reason::MAX_TEXT_BYTES;
use crate::worker::document_codec;
use crate::worker::protection::WorkerProtection;
use crate::worker::refusal::{Refusal, RefusalKind};

/// Bytes of a file that a worker reads: as many as the largest of any format may have.
pub(super) const MAX_INPUT_BYTES: usize = 256 << 20;
/// Bytes of the fields of a document: outline, parts, metadata and line numbers.
pub(super) const MAX_FIELDS_BYTES: usize = 128 << 20;
/// Bytes of the reason of a refusal.
const MAX_REASON_BYTES: usize = 4 << 10;

/// How a worker begins. The digit changes with the records.
const MAGIC: &[u8] = b"kb extraction worker 2\n";
/// Workers of another version may read documents in another way.
// Parent and worker are the same executable, unless it was replaced while a run was under way.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A file to be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// Its name, whose ending matters.
    pub(super) path: String,
    /// Seconds of CPU that it may take.
    pub(super) cpu_seconds: u32,
    /// Its bytes.
    pub(super) content: Vec<u8>,
}

/// What became of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// The document; its path is the one that was asked for.
    pub(super) result: Result<Document, Refusal>,
    /// Whether the worker ends now.
    pub(super) is_last: bool,
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn length(bytes: &[u8]) -> io::Result<[u8; 4]> {
    let length = u32::try_from(bytes.len()).map_err(|_| invalid("a record of 4 GiB"))?;
    Ok(length.to_le_bytes())
}

pub(super) fn write_hello(out: &mut impl Write, protection: WorkerProtection) -> io::Result<()> {
    out.write_all(MAGIC)?;
    let version_bytes = u8::try_from(VERSION.len()).map_err(|_| invalid("a long version"))?;
    out.write_all(&[protection.to_byte(), version_bytes])?;
    out.write_all(VERSION.as_bytes())?;
    out.flush()
}

/// Reads what a worker of this version begins with.
///
/// # Errors
/// `InvalidData` for a program that is none; those of the pipe.
pub(super) fn read_hello(input: &mut impl Read) -> io::Result<WorkerProtection> {
    let magic = read_bytes(input, MAGIC.len())?;
    if magic != MAGIC {
        return Err(invalid("it is no extraction worker"));
    }
    let [protection, version_bytes] = read_array(input)?;
    let version = read_bytes(input, usize::from(version_bytes))?;
    if version != VERSION.as_bytes() {
        return Err(invalid("it is an extraction worker of another version"));
    }
    Ok(WorkerProtection::from_byte(protection))
}

pub(super) fn write_request(
    out: &mut impl Write,
    path: &str,
    cpu_seconds: u32,
    content: &[u8],
) -> io::Result<()> {
    let mut head = Vec::with_capacity(12 + path.len());
    head.extend(length(path.as_bytes())?);
    head.extend(length(content)?);
    head.extend(cpu_seconds.to_le_bytes());
    head.extend(path.as_bytes());
    out.write_all(&head)?;
    out.write_all(content)?;
    out.flush()
}

/// The next request; `None` when there is none any more.
///
/// # Errors
/// Those of the pipe; a request is from the parent and taken at its word, but for its size.
pub(super) fn read_request(input: &mut impl Read) -> io::Result<Option<Request>> {
    let mut first = [0];
    if input.read(&mut first)? == 0 {
        return Ok(None);
    }
    let rest: [u8; 3] = read_array(input)?;
    let [first] = first;
    let [second, third, fourth] = rest;
    let path_bytes = u32::from_le_bytes([first, second, third, fourth]);
    let content_bytes = u32::from_le_bytes(read_array(input)?);
    let cpu_seconds = u32::from_le_bytes(read_array(input)?);
    if content_bytes as usize > MAX_INPUT_BYTES {
        return Err(invalid("a file over the limit"));
    }
    let path = read_bytes(input, path_bytes as usize)?;
    let path = String::from_utf8(path).map_err(|_| invalid("a path that is not UTF-8"))?;
    // At once: growing would take twice the memory of a large file.
    let mut content = vec![0; content_bytes as usize];
    input.read_exact(&mut content)?;
    Ok(Some(Request {
        path,
        cpu_seconds,
        content,
    }))
}

pub(super) fn write_answer(
    out: &mut impl Write,
    result: &Result<Document, Refusal>,
    is_last: bool,
) -> io::Result<()> {
    let (kind, fields, text) = match result {
        Ok(document) => (0, document_codec::encode_fields(document), &document.text),
        Err(refusal) => (refusal.kind as u8, Vec::new(), &refusal.reason),
    };
    if kind == 0 && fields.len() > MAX_FIELDS_BYTES {
        let refusal = Refusal::from(crate::skip_reason::SkipReason::Limit {
            what: "bytes of outline, parts and line numbers",
            limit: MAX_FIELDS_BYTES as u64,
        });
        return write_answer(out, &Err(refusal), is_last);
    }
    let mut text = text.as_str();
    if kind != 0 {
        text = text
            .get(..text.floor_char_boundary(MAX_REASON_BYTES))
            .unwrap_or_default();
    }
    let mut head = vec![kind, u8::from(is_last)];
    head.extend(length(&fields)?);
    head.extend(length(text.as_bytes())?);
    out.write_all(&head)?;
    out.write_all(&fields)?;
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The answer to a request for `path`.
///
/// # Errors
/// `InvalidData` for one that no worker of ours gives; `UnexpectedEof` when it ends before; those of the pipe.
pub(super) fn read_answer(input: &mut impl Read, path: &str) -> io::Result<Answer> {
    let [kind, is_last] = read_array(input)?;
    let fields_bytes = u32::from_le_bytes(read_array(input)?) as usize;
    let text_bytes = u32::from_le_bytes(read_array(input)?) as usize;
    let (most_fields, most_text) = match kind {
        0 => (MAX_FIELDS_BYTES, MAX_TEXT_BYTES),
        _ => (0, MAX_REASON_BYTES),
    };
    if fields_bytes > most_fields || text_bytes > most_text || is_last > 1 {
        return Err(invalid("an answer over the limits"));
    }
    let fields = read_bytes(input, fields_bytes)?;
    let text = String::from_utf8(read_bytes(input, text_bytes)?);
    let text = text.map_err(|_| invalid("a text that is not UTF-8"))?;
    let result = match kind {
        0 => Ok(document_codec::decode(path, &fields, text).map_err(invalid)?),
        number => {
            let kind = RefusalKind::from_worker(number);
            let kind = kind.ok_or_else(|| invalid("an unknown kind of answer"))?;
            Err(Refusal::new(kind, text))
        }
    };
    let is_last = is_last == 1;
    Ok(Answer { result, is_last })
}

fn read_array<const N: usize>(input: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Exactly so many bytes; memory grows with those that come.
fn read_bytes(input: &mut impl Read, count: usize) -> io::Result<Vec<u8>> {
    /// Memory that is taken before any byte of a field has come.
    // The length of a field comes from the worker, which a hostile file may control. More memory is
    // taken only for bytes that came.
    const FIRST_BYTES: usize = 1 << 20;
    let mut bytes = Vec::with_capacity(count.min(FIRST_BYTES));
    input.take(count as u64).read_to_end(&mut bytes)?;
    if bytes.len() < count {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
