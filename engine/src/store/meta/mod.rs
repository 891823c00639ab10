//! Facts about the whole file: the rows `meta`, `manifest`, `seal`, `settings` and `trigrams` of
//! table `kb`; table `vectors` beside it.

use kb_types::error::{Error, Result};
use kb_types::{DocumentId, SegmentId};
use wincode::{SchemaRead, SchemaWrite};

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::codec::{decode_record, encode_record};
use crate::container::{Key, Snapshot};
use crate::store::blocks::BLOCK_LIMIT_BYTES;
use crate::store::meta::selection::RootSelection;
use crate::store::tables;

pub(crate) mod column_model;
pub(crate) mod effort;
pub(crate) mod kept_model;
pub(crate) mod selection;
pub(crate) mod vector_columns;

// A record begins with its version. A field at the end does not raise it, because decoding ignores bytes behind the
// fields that it knows (`decode_record`).
const META_VERSION: u8 = 1;
const MANIFEST_VERSION: u8 = 1;
const SEAL_VERSION: u8 = 1;
const SETTINGS_VERSION: u8 = 1;
const TRIGRAMS_VERSION: u8 = 1;

/// A folder that was indexed.
#[derive(Debug, Clone, Default, PartialEq, Eq, SchemaRead, SchemaWrite)]
pub struct RootRecord {
    /// Its number, by which documents name it. Never used again.
    pub id: u32,
    /// Absolute path on the machine that indexed it, in a sealed file only its last part; bytes that
    /// are not UTF-8 escaped.
    pub source: String,
    /// First part of the document paths from it; empty when there is none. Never changed.
    pub prefix: String,
    /// The files of the folder that were asked for, relative; empty: the whole folder.
    pub files: Vec<String>,
    /// Git commit of the folder when it was indexed.
    pub git_commit: Option<String>,
    /// Git branch, likewise.
    pub git_branch: Option<String>,
    /// When its files were looked at last, milliseconds since 1970.
    pub indexed_ms: i64,
}

/// A text and the vector that the model of the file gives it.
#[derive(Debug, Clone, PartialEq, SchemaRead, SchemaWrite)]
pub struct ProbeRecord {
    /// The text.
    pub text: String,
    /// Its vector, `dim` numbers, unit length.
    pub vector: Vec<f32>,
}

/// The embedding model that made the vectors.
#[derive(Debug, Clone, PartialEq, SchemaRead, SchemaWrite)]
pub struct EmbedderRecord {
    /// Its id.
    pub id: String,
    /// blake3 of its files.
    pub hash: [u8; 32],
    /// Dimensions of its vectors.
    pub dim: u32,
    /// The quantiser: `x` is stored as `round(x / range * 127)`, clipped to -127..127.
    pub quantiser_range: f32,
    /// Texts with vectors that a reader must be able to reproduce.
    pub probes: Vec<ProbeRecord>,
    /// How all segments store rows: 1 signed bytes, 2 nibbles.
    pub codec: u8,
}

/// How text was cut into chunks.
#[derive(Debug, Clone, PartialEq, Eq, SchemaRead, SchemaWrite)]
pub struct ChunkerRecord {
    /// Bytes that a chunk aims at.
    pub target_bytes: u32,
    /// Bytes that no chunk of the file exceeds. A reader refuses a longer one.
    pub cap_bytes: u32,
}

/// How much vector search in two stages found of what an exact one finds, measured when the file was
/// written whole.
#[derive(Debug, Clone, PartialEq, SchemaRead, SchemaWrite)]
pub struct RecallRecord {
    /// Questions drawn from the file.
    pub queries: u32,
    /// Nearest chunks wanted of each.
    pub k: u32,
    /// Candidates of the first stage.
    pub candidates: u32,
    /// Live chunks then.
    pub rows: u64,
    /// Share of the k nearest chunks that were found: 0 to 1.
    pub recall: f32,
}

/// Row `meta`.
#[derive(Debug, Clone, PartialEq, SchemaRead, SchemaWrite)]
pub struct Meta {
    /// When the file was made, milliseconds since 1970.
    pub created_ms: i64,
    /// When its content changed last.
    pub updated_ms: i64,
    /// Name and version of the program that wrote last.
    pub writer: String,
    /// Folders that were indexed.
    pub roots: Vec<RootRecord>,
    /// The embedding model.
    pub embedder: EmbedderRecord,
    /// Id of the analyser that made the terms.
    pub analyser: String,
    /// How text was cut.
    pub chunker: ChunkerRecord,
    /// Live documents.
    pub documents: u64,
    /// Live chunks.
    pub chunks: u64,
    /// Bytes of stored text of live documents.
    pub text_bytes: u64,
    /// What vector search finds; none where it was not measured.
    pub recall: Option<RecallRecord>,
}

/// Row `manifest`.
#[derive(Debug, Clone, Default, PartialEq, Eq, SchemaRead, SchemaWrite)]
pub struct Manifest {
    /// Counts the commits that changed content, from 1.
    pub generation: u64,
    /// Numbers of the live segments, ascending.
    pub segments: Vec<u32>,
    /// Number of the next segment.
    pub next_segment: u32,
    /// Number of the next document.
    pub next_document: u32,
    /// Number of the next root.
    pub next_root: u32,
}

/// Row `seal`: there while nothing has changed since the file was sealed.
#[derive(Debug, Clone, PartialEq, Eq, SchemaRead, SchemaWrite)]
pub struct SealRecord {
    /// blake3 over the canonical records of everything in the file.
    pub content_root: [u8; 32],
    /// When it was sealed, milliseconds since 1970.
    pub sealed_ms: i64,
}

/// Rules by which the documents of a root were searched for secrets, and the readers that read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, SchemaRead, SchemaWrite)]
pub(crate) struct SearchedRoot {
    /// Its number.
    pub root: u32,
    /// The version of the rules, 0 where nothing was searched, and 256 times that of the readers.
    versions: u32,
}

#[cfg(feature = "ingest")]
impl SearchedRoot {
    /// One of these versions; each is below 256.
    pub(crate) fn new(root: u32, rules: u32, readers: u32) -> SearchedRoot {
        SearchedRoot {
            root,
            versions: (readers << 8) | (rules & 0xFF),
        }
    }

    /// The same of another root.
    pub(crate) fn of_root(self, root: u32) -> SearchedRoot {
        SearchedRoot { root, ..self }
    }

    /// The version of the readers.
    pub(crate) fn readers(self) -> u32 {
        self.versions >> 8
    }
}

/// What index runs and merges are to do. A file without the rows has the defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Whether files that are, or hold, keys or credentials become documents.
    pub include_secrets: bool,
    /// Roots whose files were all read, by number, with the versions of what read and searched them. Documents of others
    /// may hold secrets.
    pub searched: Vec<SearchedRoot>,
    /// Whether new segments get no trigrams.
    pub without_trigrams: bool,
    /// Which files of roots are taken, where it is not the default.
    pub selections: Vec<RootSelection>,
}

/// Row `settings`.
#[derive(Debug, SchemaRead, SchemaWrite)]
struct SecretsRecord {
    include_secrets: bool,
    searched: Vec<SearchedRoot>,
}

/// Row `trigrams`.
#[derive(Debug, SchemaRead, SchemaWrite)]
struct TrigramsRecord {
    without: bool,
}

impl Meta {
    /// Reads the row.
    ///
    /// # Errors
    /// [`Error::Damaged`] when it is missing or does not decode.
    pub fn read(snapshot: &Snapshot<'_>) -> Result<Meta> {
        let row = read_kb_record(snapshot, tables::KB_META)?;
        let meta: Meta = decode_record("row meta", META_VERSION, &row)?;
        match &meta.recall {
            // It is shown to people as a certificate: NaN, or 300 %, must not be.
            Some(record) if !(0.0..=1.0).contains(&record.recall) => {
                Err(Error::damaged("row meta states a recall that is no share"))
            }
            // Readers take memory for a chunk up to this number.
            _ if meta.chunker.cap_bytes as usize > BLOCK_LIMIT_BYTES => Err(Error::damaged(
                "row meta allows chunks that no block can hold",
            )),
            _ => Ok(meta),
        }
    }

    /// Writes the row.
    #[cfg(feature = "ingest")]
    pub fn write(&self, transaction: &mut Transaction<'_>) -> Result<()> {
        let row = encode_record(META_VERSION, self)?;
        transaction.put(tables::KB, Key::Str(tables::KB_META), &row)
    }
}

impl Manifest {
    /// Reads the row.
    ///
    /// # Errors
    /// [`Error::Damaged`] when it is missing, does not decode, or names segments out of order or
    /// twice.
    pub fn read(snapshot: &Snapshot<'_>) -> Result<Manifest> {
        let row = read_kb_record(snapshot, tables::KB_MANIFEST)?;
        decode_record::<Manifest>("row manifest", MANIFEST_VERSION, &row)?.checked()
    }

    /// A number for a new document.
    ///
    /// # Errors
    /// [`Error::TooMany`] when all were given: numbers are never given twice.
    pub fn next_document_id(&mut self) -> Result<DocumentId> {
        take_number(&mut self.next_document, "documents that were ever added").map(DocumentId)
    }

    /// A number for a new segment, the greatest so far.
    ///
    /// # Errors
    /// As [`Manifest::next_document_id`].
    pub fn next_segment_id(&mut self) -> Result<SegmentId> {
        take_number(&mut self.next_segment, "segments that were ever written").map(SegmentId)
    }

    /// Segments must ascend: one that is named again and again would be loaded as often.
    fn checked(self) -> Result<Manifest> {
        if self.segments.is_sorted_by(|a, b| a < b) {
            Ok(self)
        } else {
            Err(Error::damaged(
                "row manifest does not name segments in order",
            ))
        }
    }

    /// Writes the row.
    #[cfg(feature = "ingest")]
    pub fn write(&self, transaction: &mut Transaction<'_>) -> Result<()> {
        let row = encode_record(MANIFEST_VERSION, self)?;
        transaction.put(tables::KB, Key::Str(tables::KB_MANIFEST), &row)
    }
}

impl SealRecord {
    /// Reads the row; `None` when the file is not sealed.
    ///
    /// # Errors
    /// [`Error::Damaged`] when it does not decode.
    pub fn read(snapshot: &Snapshot<'_>) -> Result<Option<SealRecord>> {
        let Some(table) = snapshot.table(tables::KB)? else {
            return Ok(None);
        };
        snapshot
            .get(&table, Key::Str(tables::KB_SEAL))?
            .map(|row| decode_record("row seal", SEAL_VERSION, &row))
            .transpose()
    }

    /// Writes the row.
    #[cfg(feature = "ingest")]
    pub fn write(&self, transaction: &mut Transaction<'_>) -> Result<()> {
        let row = encode_record(SEAL_VERSION, self)?;
        transaction.put(tables::KB, Key::Str(tables::KB_SEAL), &row)
    }

    /// Removes the row: the file is about to change.
    #[cfg(feature = "ingest")]
    pub fn remove(transaction: &mut Transaction<'_>) -> Result<()> {
        transaction
            .remove(tables::KB, Key::Str(tables::KB_SEAL))
            .map(|_| ())
    }
}

impl Settings {
    /// Reads the rows; the defaults where there is none.
    ///
    /// # Errors
    /// [`Error::Damaged`] when one does not decode.
    pub(crate) fn read(snapshot: &Snapshot<'_>) -> Result<Settings> {
        let mut settings = Settings::default();
        let Some(table) = snapshot.table(tables::KB)? else {
            return Ok(settings);
        };
        if let Some(row) = snapshot.get(&table, Key::Str(tables::KB_SETTINGS))? {
            let secrets: SecretsRecord = decode_record("row settings", SETTINGS_VERSION, &row)?;
            settings.include_secrets = secrets.include_secrets;
            settings.searched = secrets.searched;
        }
        if let Some(row) = snapshot.get(&table, Key::Str(tables::KB_TRIGRAMS))? {
            let trigrams: TrigramsRecord = decode_record("row trigrams", TRIGRAMS_VERSION, &row)?;
            settings.without_trigrams = trigrams.without;
        }
        settings.selections = selection::read(snapshot)?;
        Ok(settings)
    }

    /// Writes the rows, where they say more than the defaults.
    #[cfg(feature = "ingest")]
    pub(crate) fn write(&self, transaction: &mut Transaction<'_>) -> Result<()> {
        let secrets = SecretsRecord {
            include_secrets: self.include_secrets,
            searched: self.searched.clone(),
        };
        if !self.include_secrets && self.searched.is_empty() {
            transaction.remove(tables::KB, Key::Str(tables::KB_SETTINGS))?;
        } else {
            let row = encode_record(SETTINGS_VERSION, &secrets)?;
            transaction.put(tables::KB, Key::Str(tables::KB_SETTINGS), &row)?;
        }
        selection::write(transaction, &self.selections)?;
        if !self.without_trigrams {
            let removed = transaction.remove(tables::KB, Key::Str(tables::KB_TRIGRAMS));
            return removed.map(|_| ());
        }
        let row = encode_record(TRIGRAMS_VERSION, &TrigramsRecord { without: true })?;
        transaction.put(tables::KB, Key::Str(tables::KB_TRIGRAMS), &row)
    }

    /// Which files of a root are taken.
    pub(crate) fn selection(&self, root: u32) -> RootSelection {
        let known = self.selections.iter().find(|known| known.root == root);
        known.cloned().unwrap_or_else(|| RootSelection {
            root,
            ..RootSelection::default()
        })
    }

    /// Whether the documents of a root were searched by these rules.
    #[cfg(feature = "ingest")]
    pub(crate) fn is_searched(&self, root: u32, rules: u32) -> bool {
        let mut roots = self.searched.iter();
        roots.any(|known| known.root == root && known.versions & 0xFF == rules)
    }

    /// The version of the readers that read all files of a root last; 0 in a file that does not say.
    #[cfg(feature = "ingest")]
    pub(crate) fn readers(&self, root: u32) -> u32 {
        let known = self.searched.iter().find(|known| known.root == root);
        known.map_or(0, |known| known.readers())
    }
}

/// The next number; the last one is never given, so that there is always one after it.
fn take_number(next: &mut u32, what: &'static str) -> Result<u32> {
    let number = *next;
    *next = number.checked_add(1).ok_or(Error::TooMany {
        what,
        count: u64::from(number),
        limit: u64::from(number) - 1,
    })?;
    Ok(number)
}

fn read_kb_record(snapshot: &Snapshot<'_>, key: &str) -> Result<Vec<u8>> {
    let missing = || Error::damaged(format!("row {key} of table kb is missing"));
    let table = snapshot.table(tables::KB)?.ok_or_else(missing)?;
    snapshot.get(&table, Key::Str(key))?.ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_of_a_manifest_must_ascend() {
        let naming = |segments: &[u32]| Manifest {
            segments: segments.to_vec(),
            ..Manifest::default()
        };
        for good in [&[][..], &[7], &[1, 2, 9]] {
            assert!(naming(good).checked().is_ok(), "{good:?}");
        }
        for bad in [&[1, 1][..], &[2, 1], &[1, 3, 3]] {
            assert_eq!(naming(bad).checked().unwrap_err().code(), "DAMAGED");
        }
    }
}
