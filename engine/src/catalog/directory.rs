//! All documents of one commit in memory, for what asks of every document: globs, titles, times.

use std::ops::{ControlFlow, Range};

use kb_types::error::{Error, Result};
use kb_types::{DocumentId, SegmentId};

use crate::catalog::segment::Segment;
use crate::container::Snapshot;
use crate::store::documents::{DocumentRecord, Documents};

/// Separates tags; no tag contains a control character.
const TAG_SEPARATOR: char = '\n';

/// The documents of one commit, by ascending number.
///
/// It holds the strings of each document, which the file holds too, and 72 bytes: never more than
/// twice the size of table `docs`.
#[derive(Debug, Default)]
// Two strings for all: two or three strings a document of their own would take 24 bytes each beside
// an allocation, and a glob over all paths would wait for memory at each.
pub struct Directory {
    /// The paths of all documents, one after the other: globs are compared with one after the other.
    paths: String,
    /// Title, suffix and tags of all documents, one after the other.
    text: String,
    /// The fixed-size fields of each document.
    entries: Vec<Record>,
}

/// One document.
#[derive(Debug)]
struct Record {
    /// First byte of its path in those of the directory.
    path_start: usize,
    /// Bytes of its path.
    path_bytes: u32,
    /// Bytes of title, suffix and tags.
    len_bytes: [u32; 3],
    /// First byte of its title in the text of the directory.
    start: usize,
    /// Modification time.
    modified_ms: i64,
    /// Its number.
    document: DocumentId,
    /// Bytes of its folder, without the `/` behind it; 0 at the top.
    folder_bytes: u32,
    /// The same as that of the document before it, if they are in one folder.
    folder_number: u32,
    /// Position of its segment in the catalog.
    segment: u32,
    /// Its first row there.
    first_row: u32,
    /// How many there are.
    rows: u32,
}

/// A document of the directory.
#[derive(Debug, Clone, Copy)]
pub struct DirectoryEntry<'d> {
    directory: &'d Directory,
    entry: &'d Record,
}

impl Directory {
    /// Reads table `docs` once, in its order.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a record does not decode, or names a segment that is not live.
    pub(super) fn read(
        snapshot: &Snapshot<'_>,
        documents: &Documents,
        segments: &[Segment],
    ) -> Result<Directory> {
        let mut directory = Directory::default();
        documents.each(snapshot, |id, record| {
            directory.push(id, &record, segments)?;
            Ok(ControlFlow::Continue(()))
        })?;
        // It stays as long as the commit is open, and growing left up to twice the bytes.
        directory.paths.shrink_to_fit();
        directory.text.shrink_to_fit();
        directory.entries.shrink_to_fit();
        Ok(directory)
    }

    fn push(
        &mut self,
        id: DocumentId,
        record: &DocumentRecord,
        segments: &[Segment],
    ) -> Result<()> {
        let (path_start, start) = (self.paths.len(), self.text.len());
        let mut tags = String::new();
        for tag in &record.tags {
            tags.push_str(tag);
            tags.push(TAG_SEPARATOR);
        }
        let bytes = |text: &str| {
            let bytes = u32::try_from(text.len());
            bytes.map_err(|_| Error::damaged(format!("document {} is too large", id.0)))
        };
        let path_bytes = bytes(&record.path)?;
        let len_bytes = [bytes(&record.title)?, bytes(&record.suffix)?, bytes(&tags)?];
        for text in [&record.title, &record.suffix, &tags] {
            self.text.push_str(text);
        }
        let segment = position(segments, record.segment());
        let (segment, first_row, rows) = match segment {
            Some(segment) => (segment, record.first_row, record.rows),
            // Without chunks it is in no segment.
            None if record.rows == 0 => (0, 0, 0),
            None => {
                let segment = record.segment;
                let what = format!("segment {segment} is named but not live");
                return Err(Error::damaged(what));
            }
        };
        let folder_bytes = record.path.rfind('/').unwrap_or(0);
        let folder = record.path.get(..folder_bytes);
        let last = self.entries.last();
        // Documents of one folder mostly follow each other, so that a glob can decide a folder
        // once.
        let folder_number = last.map_or(0, |last| {
            let end = last.path_start + last.folder_bytes as usize;
            let before = self.paths.get(last.path_start..end);
            last.folder_number + u32::from(before != folder)
        });
        // No longer than the path.
        let folder_bytes = u32::try_from(folder_bytes).unwrap_or(0);
        self.paths.push_str(&record.path);
        self.entries.push(Record {
            path_start,
            path_bytes,
            len_bytes,
            start,
            folder_bytes,
            folder_number,
            modified_ms: record.modified_ms,
            document: id,
            segment,
            first_row,
            rows,
        });
        Ok(())
    }

    /// All documents, by ascending number.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = DirectoryEntry<'_>> {
        self.entries.iter().map(|entry| DirectoryEntry {
            directory: self,
            entry,
        })
    }
}

fn position(segments: &[Segment], id: SegmentId) -> Option<u32> {
    let at = segments
        .binary_search_by_key(&id, |segment| segment.id)
        .ok()?;
    u32::try_from(at).ok()
}

impl<'d> DirectoryEntry<'d> {
    /// Its number.
    pub fn id(&self) -> DocumentId {
        self.entry.document
    }

    /// Its path.
    pub fn path(&self) -> &'d str {
        let start = self.entry.path_start;
        let path = self
            .directory
            .paths
            .get(start..start + self.entry.path_bytes as usize);
        path.unwrap_or_default()
    }

    /// Its folder, empty at the top.
    pub fn folder(&self) -> &'d str {
        let folder = self.path().get(..self.entry.folder_bytes as usize);
        folder.unwrap_or_default()
    }

    /// A number that it has in common with its neighbours in the same folder, and with no other.
    pub fn folder_number(&self) -> u32 {
        self.entry.folder_number
    }

    /// The last part of its path.
    pub fn name(&self) -> &'d str {
        let path = self.path();
        let folder = self.entry.folder_bytes as usize;
        path.get(folder + usize::from(folder > 0)..).unwrap_or(path)
    }

    /// Its title.
    pub fn title(&self) -> &'d str {
        self.field(0)
    }

    /// The last part of its handle.
    pub fn suffix(&self) -> &'d str {
        self.field(1)
    }

    /// Its tags.
    pub fn tags(&self) -> impl Iterator<Item = &'d str> + use<'d> {
        self.field(2).split_terminator(TAG_SEPARATOR)
    }

    fn field(&self, number: usize) -> &'d str {
        let len_bytes = &self.entry.len_bytes;
        let before: usize = len_bytes.iter().take(number).map(|len| *len as usize).sum();
        let len = len_bytes.get(number).copied().unwrap_or(0) as usize;
        let start = self.entry.start + before;
        let text = self.directory.text.get(start..start + len);
        text.unwrap_or_default()
    }

    /// Modification time of the original, milliseconds since 1970; 0 when unknown.
    pub fn modified_ms(&self) -> i64 {
        self.entry.modified_ms
    }

    /// Position of its segment in the catalog.
    pub fn segment(&self) -> usize {
        self.entry.segment as usize
    }

    /// Its rows there; empty when it has no text.
    pub fn rows(&self) -> Range<u32> {
        let first = self.entry.first_row;
        first..first.saturating_add(self.entry.rows)
    }
}
