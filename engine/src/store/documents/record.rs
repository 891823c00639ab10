//! A document record as bytes: what follows from another field is not stored.
//!
//! Of most documents the title is the name of the file, the text is the original byte for byte, and the
//! language is called as the file type is.

use kb_types::error::{Error, Result};
use kb_types::{Class, SegmentId, hex};
use wincode::{SchemaRead, SchemaWrite};

#[cfg(feature = "ingest")]
use crate::container::codec::{append_fields, encode_record};
use crate::container::codec::{decode_appended, decode_record};

// A reader refuses another version. Fields can be appended within one (see `codec`).
const DOCUMENT_VERSION: u8 = 2;

/// Version of the records of files before 0.10, which have every field. An index run reads them when it makes such a
/// file anew.
const WHOLE_VERSION: u8 = 1;

/// What table `docs` says of a document. The order of the fields is that of [`WHOLE_VERSION`].
#[derive(Debug, Clone, PartialEq, Eq, SchemaRead, SchemaWrite)]
pub struct DocumentRecord {
    /// Path inside the .kb.
    pub path: String,
    /// Number of its root; none for a document that is no file of a root.
    pub root: Option<u32>,
    /// Title for people.
    pub title: String,
    /// Last part of its handle; no other document of the file has it.
    pub suffix: String,
    /// File type.
    pub file_type: String,
    /// Language; empty for prose.
    pub language: String,
    /// Number of the class.
    pub class: u8,
    /// Bytes of the original.
    pub size_bytes: u64,
    /// Modification time of the original, milliseconds since 1970; 0 when unknown.
    pub modified_ms: i64,
    /// When the document came into the file, milliseconds since 1970.
    pub added_ms: i64,
    /// blake3 of the original bytes.
    pub hash: [u8; 32],
    /// blake3 of the stored text.
    pub text_hash: [u8; 32],
    /// Key and value pairs that the document states about itself.
    pub metadata: Vec<(String, String)>,
    /// Words that people gave it, ascending, no word twice.
    pub tags: Vec<String>,
    /// Bytes of the stored text.
    pub text_bytes: u32,
    /// Lines of the original.
    pub lines: u32,
    /// Whether the lines of the stored text are other lines than those of the original; only the
    /// chunks then know the original's.
    pub line_map: bool,
    /// Segment that holds its chunks; `NO_SEGMENT` when it has none.
    pub segment: u32,
    /// First of its rows there.
    pub first_row: u32,
    /// Number of its chunks.
    pub rows: u32,
    /// Names of the metadata that people gave it, normalised and ascending, no name twice. The content does not
    /// change what has these names.
    // Appended to version 2; version 1 has none.
    #[wincode(skip)]
    pub given: Vec<String>,
}

impl DocumentRecord {
    /// The class, if the number is known.
    ///
    /// # Errors
    /// [`Error::Damaged`] for an unknown number.
    pub fn class(&self) -> Result<Class> {
        Class::from_number(self.class).ok_or_else(|| {
            Error::damaged(format!("document {:?} has class {}", self.path, self.class))
        })
    }

    /// The segment that holds its chunks.
    pub fn segment(&self) -> SegmentId {
        SegmentId(self.segment)
    }

    /// 16 hexadecimal digits that differ where anything of the document does: what it says, what it
    /// is called, what people gave it. Where it lies in the file, and since when, is no part of them.
    // 64 bits of the hash: only revisions of one document are compared, which are few, and models
    // pay for every token.
    pub fn revision(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        // Each with its length: no two lists of strings are the same bytes.
        let mut part = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        let texts = [&self.path, &self.title, &self.file_type, &self.language];
        texts.into_iter().for_each(|text| part(text.as_bytes()));
        part(&[self.class]);
        part(&self.size_bytes.to_le_bytes());
        part(&self.modified_ms.to_le_bytes());
        part(&self.hash);
        part(&self.text_hash);
        part(&(self.metadata.len() as u64).to_le_bytes());
        for (key, value) in &self.metadata {
            part(key.as_bytes());
            part(value.as_bytes());
        }
        self.tags.iter().for_each(|tag| part(tag.as_bytes()));
        let hash = hasher.finalize();
        hex(hash.as_bytes().first_chunk::<8>().unwrap_or(&[0; 8]))
    }
}

/// Row of table `docs`.
#[derive(Debug, SchemaRead, SchemaWrite)]
struct StoredDocument<'a> {
    path: &'a str,
    root: Option<u32>,
    title: Option<&'a str>,
    suffix: &'a str,
    file_type: &'a str,
    language: Option<&'a str>,
    class: u8,
    size_bytes: u64,
    modified_ms: i64,
    added_ms: i64,
    hash: [u8; 32],
    text_hash: Option<[u8; 32]>,
    metadata: Vec<(&'a str, &'a str)>,
    tags: Vec<&'a str>,
    text_bytes: Option<u32>,
    lines: u32,
    line_map: bool,
    segment: u32,
    first_row: u32,
    rows: u32,
}

/// The title of a document that stores none.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The row of a record.
///
/// # Errors
/// [`Error::TooLarge`].
#[cfg(feature = "ingest")]
pub(super) fn encode(record: &DocumentRecord) -> Result<Vec<u8>> {
    let follows = u64::from(record.text_bytes) == record.size_bytes;
    let metadata = record.metadata.iter();
    let stored = StoredDocument {
        path: &record.path,
        root: record.root,
        // What equals another field is left out: for most documents that saves the title, a hash of
        // 32 bytes and a length.
        title: Some(&*record.title).filter(|title| *title != file_name(&record.path)),
        suffix: &record.suffix,
        file_type: &record.file_type,
        language: Some(&*record.language).filter(|language| *language != record.file_type),
        class: record.class,
        size_bytes: record.size_bytes,
        modified_ms: record.modified_ms,
        added_ms: record.added_ms,
        hash: record.hash,
        text_hash: Some(record.text_hash).filter(|text_hash| *text_hash != record.hash),
        metadata: metadata.map(|(key, value)| (&**key, &**value)).collect(),
        tags: record.tags.iter().map(String::as_str).collect(),
        text_bytes: Some(record.text_bytes).filter(|_| !follows),
        lines: record.lines,
        line_map: record.line_map,
        segment: record.segment,
        first_row: record.first_row,
        rows: record.rows,
    };
    let mut row = encode_record(DOCUMENT_VERSION, &stored)?;
    if !record.given.is_empty() {
        append_fields(&mut row, &record.given)?;
    }
    Ok(row)
}

/// The record of a row.
///
/// # Errors
/// [`Error::Damaged`]; [`Error::FormatUnsupported`] for another version.
pub(super) fn decode(row: &[u8]) -> Result<DocumentRecord> {
    if row.first() == Some(&WHOLE_VERSION) {
        return decode_record("a document", WHOLE_VERSION, row);
    }
    let (stored, given): (StoredDocument<'_>, Vec<String>) =
        decode_appended("a document", DOCUMENT_VERSION, row)?;
    let text_bytes = match stored.text_bytes {
        Some(text_bytes) => text_bytes,
        // The size of a file is a u64, its text is not: only an original that is text throughout
        // may leave the length out.
        None => u32::try_from(stored.size_bytes)
            .map_err(|_| Error::damaged(format!("document {:?} is too long", stored.path)))?,
    };
    let metadata = stored.metadata.into_iter();
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    Ok(DocumentRecord {
        path: stored.path.to_owned(),
        root: stored.root,
        title: stored.title.unwrap_or(file_name(stored.path)).to_owned(),
        suffix: stored.suffix.to_owned(),
        file_type: stored.file_type.to_owned(),
        language: stored.language.unwrap_or(stored.file_type).to_owned(),
        class: stored.class,
        size_bytes: stored.size_bytes,
        modified_ms: stored.modified_ms,
        added_ms: stored.added_ms,
        hash: stored.hash,
        text_hash: stored.text_hash.unwrap_or(stored.hash),
        metadata: metadata.map(owned).collect(),
        tags: stored.tags.into_iter().map(str::to_owned).collect(),
        text_bytes,
        lines: stored.lines,
        line_map: stored.line_map,
        segment: stored.segment,
        first_row: stored.first_row,
        rows: stored.rows,
        given,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn records() -> impl Strategy<Value = DocumentRecord> {
        let texts = (
            "([a-z]{1,4}/){0,2}[a-z.]{0,9}",
            prop::option::of("[a-z\u{e9}]{0,9}"),
            "(rust|text)",
            prop::option::of("(rust|)"),
        );
        let numbers = (any::<u32>(), prop::option::of(any::<u64>()), any::<bool>());
        (texts, numbers, any::<u8>()).prop_map(|(texts, numbers, byte)| {
            let (path, title, file_type, language) = texts;
            let (text_bytes, size_bytes, is_text) = numbers;
            DocumentRecord {
                title: title.unwrap_or_else(|| file_name(&path).to_owned()),
                root: is_text.then_some(text_bytes),
                suffix: "k3f9qa".to_owned(),
                language: language.unwrap_or_else(|| file_type.clone()),
                file_type,
                class: byte,
                size_bytes: size_bytes.unwrap_or(u64::from(text_bytes)),
                modified_ms: -20,
                added_ms: i64::from(text_bytes),
                hash: [1; 32],
                text_hash: [1 + u8::from(is_text); 32],
                metadata: vec![(path.clone(), "bc".to_owned()); usize::from(byte % 3)],
                tags: vec![path.clone(); usize::from(byte % 2)],
                path,
                text_bytes,
                lines: 1,
                line_map: is_text,
                segment: 1,
                first_row: text_bytes,
                rows: 1,
                given: vec!["year".to_owned(); usize::from(byte % 5 / 3)],
            }
        })
    }

    proptest! {
        #[test]
        fn records_come_back_as_they_were_written(record in records()) {
            prop_assert_eq!(&decode(&encode(&record).unwrap()).unwrap(), &record);
            let whole = encode_record(WHOLE_VERSION, &record).unwrap();
            let record = DocumentRecord { given: Vec::new(), ..record };
            prop_assert_eq!(decode(&whole).unwrap(), record);
        }

        #[test]
        fn any_bytes_give_a_record_or_an_error(
            record in records(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
            end in any::<prop::sample::Index>(),
        ) {
            let mut row = encode(&record).unwrap();
            for (at, byte) in changes {
                let at = at.index(row.len());
                row[at] = byte;
            }
            let _ = decode(&row);
            let _ = decode(&row[..end.index(row.len())]);
        }
    }

    #[test]
    fn a_text_as_long_as_an_original_that_no_text_can_be_is_refused() {
        let mut record = DocumentRecord {
            path: "a.bin".to_owned(),
            root: None,
            title: String::new(),
            suffix: String::new(),
            file_type: "text".to_owned(),
            language: String::new(),
            class: 2,
            size_bytes: 9,
            modified_ms: 0,
            added_ms: 0,
            hash: [1; 32],
            text_hash: [1; 32],
            metadata: Vec::new(),
            tags: Vec::new(),
            text_bytes: 9,
            lines: 0,
            line_map: false,
            segment: 0,
            first_row: 0,
            rows: 0,
            given: Vec::new(),
        };
        let mut row = encode(&record).unwrap();
        // The varint of the size, behind the class, as eight bytes.
        let at = row.windows(2).position(|it| it == [2, 9]).unwrap() + 1;
        row.splice(at..=at, [253, 9, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(decode(&row).unwrap_err().code(), "DAMAGED");
        record.size_bytes = 9 + (1 << 32);
        assert_eq!(decode(&encode(&record).unwrap()).unwrap(), record);
        row[0] = DOCUMENT_VERSION + 1;
        assert_eq!(decode(&row).unwrap_err().code(), "FORMAT_UNSUPPORTED");
    }

    #[test]
    fn names_of_given_fields_are_appended_and_nothing_without_them() {
        let mut record = record();
        let before = encode(&record).unwrap();
        assert_eq!(decode(&before).unwrap(), record);
        record.given = vec!["author".to_owned(), "year".to_owned()];
        let row = encode(&record).unwrap();
        // A list of two, each behind its length.
        assert_eq!(row, [&before[..], b"\x02\x06author\x04year"].concat());
        assert_eq!(decode(&row).unwrap(), record);
        // What is appended later is ignored, and a list that ends early is damage.
        assert_eq!(decode(&[&row[..], b"later"].concat()).unwrap(), record);
        for len in before.len() + 1..row.len() {
            assert_eq!(decode(&row[..len]).unwrap_err().code(), "DAMAGED", "{len}");
        }
    }

    fn record() -> DocumentRecord {
        DocumentRecord {
            path: "a/b.md".to_owned(),
            root: Some(1),
            title: "Tides".to_owned(),
            suffix: "k3f9qa".to_owned(),
            file_type: "markdown".to_owned(),
            language: "markdown".to_owned(),
            class: 2,
            size_bytes: 10,
            modified_ms: 20,
            added_ms: 30,
            hash: [1; 32],
            text_hash: [2; 32],
            metadata: vec![("a".to_owned(), "bc".to_owned())],
            tags: vec!["sea".to_owned()],
            text_bytes: 10,
            lines: 1,
            line_map: false,
            segment: 1,
            first_row: 0,
            rows: 1,
            given: Vec::new(),
        }
    }

    #[test]
    fn the_revision_is_another_one_whenever_the_document_is() {
        let before = record().revision();
        assert_eq!(before.len(), 16);
        let changes: [fn(&mut DocumentRecord); 13] = [
            |record| record.path.push('x'),
            |record| record.title.push('x'),
            |record| record.file_type.push('x'),
            |record| record.language.push('x'),
            |record| record.class = 3,
            |record| record.size_bytes = 11,
            |record| record.modified_ms = 21,
            |record| record.hash = [3; 32],
            |record| record.text_hash = [3; 32],
            |record| record.metadata = vec![("ab".to_owned(), "c".to_owned())],
            |record| record.tags.push("tide".to_owned()),
            |record| record.tags.clear(),
            |record| {
                record.metadata.clear();
                record.tags = ["a", "bc", "sea"].map(str::to_owned).to_vec();
            },
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut other = record();
            change(&mut other);
            assert_ne!(other.revision(), before, "change {number}");
        }
        let mut moved = record();
        (moved.segment, moved.first_row, moved.rows) = (7, 8, 9);
        (moved.root, moved.added_ms) = (None, 31);
        assert_eq!(moved.revision(), before, "merging changes no document");
    }
}
