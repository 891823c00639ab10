//! What two files say differently: their documents, compared by what the content root is made of.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use kb_types::DocumentId;
use kb_types::error::Result;

use crate::catalog::{BoundSegment, Catalog};
use crate::check::content_root::{bound, document_root};
use crate::container::Snapshot;
use crate::store::documents::DocumentRecord;

/// How the documents of one file differ from those of an older one. Files without a difference have one content root,
/// if their texts were analysed and embedded alike.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// Paths of documents that only the newer file has, ascending.
    pub added: Vec<String>,
    /// Paths of documents that only the older file has, ascending.
    pub removed: Vec<String>,
    /// Documents of one path that are not alike, ascending by path.
    pub changed: Vec<ChangedDocument>,
    /// Documents that are alike.
    pub unchanged: u64,
}

impl Difference {
    /// Whether there is any.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// A document that two files have, not alike.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangedDocument {
    /// Its path, the same in both.
    pub path: String,
    /// What is not alike: at least one thing, in the order of [`DocumentChange`].
    pub changes: Vec<DocumentChange>,
}

/// What of a document is not alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DocumentChange {
    /// The stored text, by its hash.
    Text,
    /// The bytes of the original, where the text is the same.
    Source,
    /// The title that people see.
    Title,
    /// File type, language or class.
    Type,
    /// A field and its value.
    Fields,
    /// Tags, whoever gave them.
    Tags,
    /// Headings, symbols, pages, chunks or vectors, where nothing else differs.
    Structure,
}

impl DocumentChange {
    /// Its word in output.
    pub fn name(self) -> &'static str {
        match self {
            DocumentChange::Text => "text",
            DocumentChange::Source => "source",
            DocumentChange::Title => "title",
            DocumentChange::Type => "type",
            DocumentChange::Fields => "fields",
            DocumentChange::Tags => "tags",
            DocumentChange::Structure => "structure",
        }
    }
}

/// A commit to compare.
pub(crate) type Side<'s> = (&'s Snapshot<'s>, &'s Catalog);

/// See [`crate::Kb::difference`]. `tick` is called with each document.
///
/// # Errors
/// [`crate::Error::Damaged`]; what `tick` says.
pub(crate) fn difference(
    old: Side<'_>,
    new: Side<'_>,
    tick: &mut dyn FnMut() -> Result<()>,
) -> Result<Difference> {
    let segments = (bound(old.0, old.1)?, bound(new.0, new.1)?);
    let (of_old, of_new) = (paths(old, tick)?, paths(new, tick)?);
    let mut found = Difference::default();
    let (mut before, mut after) = (of_old.into_iter().peekable(), of_new.into_iter().peekable());
    loop {
        let order = match (before.peek(), after.peek()) {
            (None, None) => return Ok(found),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => a.0.cmp(&b.0),
        };
        tick()?;
        let of_old = before.next_if(|_| order.is_le());
        let of_new = after.next_if(|_| order.is_ge());
        match (of_old, of_new) {
            (Some((path, _)), None) => found.removed.push(path),
            (None, Some((path, _))) => found.added.push(path),
            (Some((path, a)), Some((_, b))) => {
                let changes = changes((old, &segments.0, a), (new, &segments.1, b))?;
                if changes.is_empty() {
                    found.unchanged += 1;
                } else {
                    found.changed.push(ChangedDocument { path, changes });
                }
            }
            (None, None) => {}
        }
    }
}

/// Path and number of each document, in the order of paths.
fn paths(
    (snapshot, catalog): Side<'_>,
    tick: &mut dyn FnMut() -> Result<()>,
) -> Result<Vec<(String, DocumentId)>> {
    let mut all = Vec::new();
    catalog.documents.each_path(snapshot, "", |path, id| {
        tick()?;
        all.push((path.to_owned(), id));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(all)
}

/// One document of one side.
type OneOf<'s, 'b> = (Side<'s>, &'b [BoundSegment<'b>], DocumentId);

/// What is not alike of one document in two files.
fn changes(
    (old, old_segments, old_id): OneOf<'_, '_>,
    (new, new_segments, new_id): OneOf<'_, '_>,
) -> Result<Vec<DocumentChange>> {
    let a = old.1.documents.get(old.0, old_id)?;
    let b = new.1.documents.get(new.0, new_id)?;
    let mut changes = told(&a, &b);
    if changes.is_empty()
        && document_root(old, old_segments, (old_id, a))?
            != document_root(new, new_segments, (new_id, b))?
    {
        changes.push(DocumentChange::Structure);
    }
    Ok(changes)
}

/// What the records of a document say differently.
fn told(a: &DocumentRecord, b: &DocumentRecord) -> Vec<DocumentChange> {
    let has_text = a.text_hash != b.text_hash;
    let differs = [
        (DocumentChange::Text, has_text),
        (DocumentChange::Source, !has_text && a.hash != b.hash),
        (DocumentChange::Title, a.title != b.title),
        (
            DocumentChange::Type,
            (&a.file_type, &a.language, a.class) != (&b.file_type, &b.language, b.class),
        ),
        (DocumentChange::Fields, a.metadata != b.metadata),
        (DocumentChange::Tags, a.tags != b.tags),
    ];
    let differs = differs.into_iter().filter(|(_, differs)| *differs);
    differs.map(|(change, _)| change).collect()
}
