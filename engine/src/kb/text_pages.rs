//! Texts by size: the first bytes of one.

use crate::catalog::Catalog;
use crate::container::Snapshot;
use crate::error::Result;
use crate::kb::Kb;
use crate::kb::facts::DocumentInfo;
use crate::store::documents::DocumentRecord;

impl Kb {
    /// The first `bytes` bytes of the stored text of a document, up to three fewer where a character
    /// would be cut. Reads no more text than that.
    ///
    /// # Errors
    /// As [`Kb::document`].
    pub fn head(&self, name: &str, bytes: usize) -> Result<(DocumentInfo, String)> {
        self.read(|snapshot, catalog| {
            let (_, record) = self.resolved(snapshot, catalog, name)?;
            let mut text = String::new();
            append_rows(snapshot, catalog, &record, 0..record.rows, &mut text, bytes)?;
            text.truncate(text.floor_char_boundary(bytes));
            Ok((DocumentInfo::from_record(record)?, text))
        })
    }
}

/// Appends the text of some chunks of a document, by their place in it, until `text` has at least
/// `enough` bytes.
fn append_rows(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    record: &DocumentRecord,
    rows: std::ops::Range<u32>,
    text: &mut String,
    enough: usize,
) -> Result<()> {
    if rows.is_empty() || enough == 0 {
        return Ok(());
    }
    let segment = catalog.segment(record.segment())?.bind(snapshot)?;
    let mut blocks = segment.blocks()?;
    for row in rows {
        if text.len() >= enough {
            break;
        }
        blocks.append(record.first_row.saturating_add(row), 1, text)?;
    }
    Ok(())
}

#[cfg(test)]
#[cfg(feature = "ingest")]
mod tests {
    use super::*;
    use crate::kb::KbWriter;

    /// A file with one document of that text.
    fn kb(path: &str, text: &str) -> (tempfile::TempDir, Kb) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&file).unwrap();
        writer.add_bytes(path, text.as_bytes()).unwrap();
        writer.commit().unwrap();
        (folder, Kb::open(&file).unwrap())
    }

    #[test]
    fn the_head_of_a_text_ends_before_the_character_that_does_not_fit() {
        let text = "tide \u{1f30a} and sand\n".repeat(700);
        let (_folder, kb) = kb("a.txt", &text);
        for bytes in (0..40).chain([5000, text.len() - 1, text.len(), usize::MAX]) {
            let (document, head) = kb.head("a.txt", bytes).unwrap();
            assert_eq!(document.text_bytes, text.len() as u64);
            assert!(text.starts_with(&head), "{bytes}");
            let limit = bytes.min(text.len());
            assert!(head.len() <= limit && limit - head.len() <= 3, "{bytes}");
        }
        assert_eq!(
            kb.head("b.txt", 1).unwrap_err().code(),
            "DOCUMENT_NOT_FOUND"
        );
    }
}
