//! What one document may be. Everything that the file could not hold is refused here, before anything
//! of the document is written: a limit that is met while a transaction is written would end the whole
//! run.

use kb_types::error::{Error, Result};
use kb_types::{ChunkSpan, Document, part};

use crate::container::MAX_KEY_BYTES;
use crate::container::column::MAX_ITEM_BYTES;
use crate::index::keyword::MAX_ROWS;
use crate::store::block_writer::frame_bytes;
use crate::store::blocks::BLOCK_LIMIT_BYTES;
use crate::store::{outline, parts};

/// Bytes of a title. Extraction cuts titles long before; it is searched with every chunk.
const MAX_TITLE_BYTES: usize = 16 << 10;

/// Bytes of a file type or a language: part of a key.
const MAX_NAME_BYTES: usize = 255;

/// Bytes of all metadata. Leaves room in the record for the longest path and all tags.
const MAX_METADATA_BYTES: usize = 1 << 20;

/// Bytes of a chunk that fits an extent even if it does not compress, with zstd's own bytes. A longer
/// one, as documents that are not cut have, is compressed to see whether it fits.
// zstd adds less than 1 % to bytes that do not compress; 16 KiB are 1.5 % of an extent.
const MAX_CHUNK_BYTES: usize = MAX_ITEM_BYTES - (16 << 10);

/// Compressed bytes of a longer chunk. Leaves room for the chunks before it in its block, and for
/// merges and seal, which compress with other settings.
const MAX_FRAME_BYTES: usize = MAX_ITEM_BYTES / 4 * 3;

/// Refuses a document that no .kb can hold.
///
/// # Errors
/// [`Error::TooLarge`] naming what is too large; [`Error::InvalidArgument`] for parts that do not divide its text.
pub(crate) fn check(document: &Document) -> Result<()> {
    let metadata = document.metadata.iter();
    let metadata = metadata.map(|(key, value)| key.len() + value.len());
    for (what, size, limit) in [
        ("its path", document.path.len(), MAX_KEY_BYTES),
        ("its title", document.title.len(), MAX_TITLE_BYTES),
        ("its file type", document.file_type.len(), MAX_NAME_BYTES),
        ("its language", document.language.len(), MAX_NAME_BYTES),
        ("its metadata", metadata.sum(), MAX_METADATA_BYTES),
        ("its text", document.text.len(), u32::MAX as usize),
    ] {
        check_size(what, size, limit)?;
    }
    outline::check_size(&document.outline)?;
    parts::check_size(&document.parts)?;
    check_parts(document)
}

/// Parts must divide the text as [`Part`](crate::Part) says: readers take them at their word.
fn check_parts(document: &Document) -> Result<()> {
    let has_map = !document.line_numbers.is_empty() && !document.parts.is_empty();
    let fault = if has_map {
        Some("it has parts, and its lines are not those of its text")
    } else {
        part::fault_in(&document.parts, &document.text)
    };
    match fault {
        None => Ok(()),
        Some(fault) => Err(Error::InvalidArgument {
            argument: "parts",
            reason: format!("{:?}: {fault}", document.path),
        }),
    }
}

/// Refuses chunks of a text that no segment can hold.
///
/// # Errors
/// [`Error::TooLarge`] for a chunk, [`Error::TooMany`] for their number; [`Error::Storage`] when zstd
/// cannot be set up.
pub(crate) fn check_chunks(text: &str, chunks: &[ChunkSpan]) -> Result<()> {
    for chunk in chunks {
        let bytes = chunk.span.len() as usize;
        if bytes <= MAX_CHUNK_BYTES {
            continue;
        }
        check_size("one of its chunks", bytes, BLOCK_LIMIT_BYTES)?;
        let span = chunk.span.start as usize..chunk.span.end as usize;
        let frame_bytes = frame_bytes(text.get(span).unwrap_or_default())?;
        check_size(
            "one of its chunks, compressed,",
            frame_bytes,
            MAX_FRAME_BYTES,
        )?;
    }
    if chunks.len() > MAX_ROWS as usize {
        return Err(Error::TooMany {
            what: "chunks of one document",
            count: chunks.len() as u64,
            limit: u64::from(MAX_ROWS),
        });
    }
    Ok(())
}

fn check_size(what: &str, size: usize, limit: usize) -> Result<()> {
    if size <= limit {
        return Ok(());
    }
    Err(Error::TooLarge {
        what: what.to_owned(),
        size: size as u64,
        limit: limit as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::{MAX_KEY_BYTES, MAX_VALUE_BYTES};
    use crate::ingest::run::document_of;
    use crate::kb::{Kb, KbWriter};
    use kb_extract::tags::MAX_TAGS;
    use kb_types::Heading;

    fn heading(title: String) -> Heading {
        Heading {
            level: 1,
            title,
            start: 0,
            line: 1,
            symbol: None,
        }
    }

    /// The largest that passes, and one that does not, with what is told of it.
    type Case = (&'static str, fn(&mut Document), fn(&mut Document));

    const CASES: [Case; 7] = [
        (
            "its path has 16385 bytes, more than 16384",
            |document| document.path = "p".repeat(MAX_KEY_BYTES),
            |document| document.path = "p".repeat(MAX_KEY_BYTES + 1),
        ),
        (
            "its title has 16385 bytes",
            |document| document.title = "t ".repeat(MAX_TITLE_BYTES / 2),
            |document| document.title = "t".repeat(MAX_TITLE_BYTES + 1),
        ),
        (
            "its file type has 256 bytes",
            |document| document.file_type = "f".repeat(MAX_NAME_BYTES),
            |document| document.file_type = "f".repeat(MAX_NAME_BYTES + 1),
        ),
        (
            "its language has 256 bytes",
            |document| document.language = "l".repeat(MAX_NAME_BYTES),
            |document| document.language = "l".repeat(MAX_NAME_BYTES + 1),
        ),
        (
            "its metadata has 1048577 bytes",
            |document| {
                let value = "v".repeat(MAX_METADATA_BYTES - 1);
                document.metadata = vec![("k".to_owned(), value)];
            },
            |document| {
                let value = "v".repeat(MAX_METADATA_BYTES);
                document.metadata = vec![("k".to_owned(), value)];
            },
        ),
        (
            "its outline has ",
            |document| document.outline = vec![heading("h".repeat(MAX_VALUE_BYTES - 20))],
            |document| document.outline = vec![heading("h".repeat(MAX_VALUE_BYTES))],
        ),
        // Heading by heading small; the list is what a reader would not take.
        (
            "its outline has ",
            |document| document.outline = vec![heading("h".to_owned()); 300_000],
            |document| document.outline = vec![heading("h".to_owned()); 700_000],
        ),
    ];

    /// Each limit used to be met while the commit was written, and everything that waited for it was
    /// gone.
    #[test]
    fn a_document_over_a_limit_is_refused_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        for (number, (told, largest, too_large)) in CASES.iter().enumerate() {
            let name = format!("{number}.txt");
            let mut document = document_of(&name, b"a walrus\n").unwrap();
            too_large(&mut document);
            let refused = writer.add(document).unwrap_err();
            assert_eq!(refused.code(), "FILE_TOO_LARGE");
            assert!(refused.to_string().contains(told), "{refused}");
            let mut document = document_of(&name, b"a walrus\n").unwrap();
            largest(&mut document);
            writer.add(document).unwrap();
        }
        let whole = |bytes: usize| {
            let mut document = document_of("whole.txt", b"").unwrap();
            // Digits that compress to half of their bytes.
            document.text = (0..)
                .map(|n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15))
                .map(|n| format!("{n:x}"))
                .take(bytes / 8)
                .collect();
            document.text.truncate(bytes);
            document
        };
        let refused = writer.add_unchunked(whole(2 * MAX_ITEM_BYTES)).unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("one of its chunks, compressed"),
            "{refused}"
        );
        writer.add_unchunked(whole(MAX_CHUNK_BYTES)).unwrap();
        let long = |bytes: usize| {
            let mut document = document_of("long.txt", b"").unwrap();
            document.text = "sea ".repeat(bytes / 4);
            document
        };
        let refused = writer
            .add_unchunked(long(BLOCK_LIMIT_BYTES + 4))
            .unwrap_err();
        assert!(
            refused.to_string().contains("one of its chunks has"),
            "{refused}"
        );
        writer.add_unchunked(long(BLOCK_LIMIT_BYTES)).unwrap();
        let tags: Vec<String> = (0..=MAX_TAGS).map(|n| format!("tag {n}")).collect();
        let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
        writer.tag("1.txt", &tags[1..], &[]).unwrap();
        let refused = writer.tag("1.txt", &tags[..1], &[]).unwrap_err();
        assert!(refused.to_string().contains("1001 tags"), "{refused}");
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        assert_eq!(kb.info().unwrap().documents, CASES.len() as u64 + 2);
        let report = kb
            .verify(
                &crate::VerifyOptions::new().deep(true),
                &mut crate::Progress::ignore,
            )
            .unwrap();
        assert_eq!(report.problems, [""; 0]);
        // Of a document that is stored.
        let refused = writer.tag("1.txt", &tags[..1], &[]).unwrap_err();
        assert_eq!(refused.code(), "FILE_TOO_LARGE");
        writer.tag("1.txt", &tags[..1], &tags[1..2]).unwrap();
        writer.commit().unwrap();
    }

    /// Extraction cuts the titles of very many headings so that a row holds them.
    #[test]
    fn every_outline_that_is_extracted_fits_a_row() {
        let wide = format!("# {}\n", "\u{20000}".repeat(500));
        let document = kb_extract::extract("a.md", wide.repeat(30_000).as_bytes()).unwrap();
        assert_eq!(document.outline.len(), 30_000);
        outline::check_size(&document.outline).unwrap();
    }
}
