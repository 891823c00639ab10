//! Single documents: added, replaced, tagged and removed with the next commit.

use std::sync::atomic::Ordering;

use kb_extract::{secrets, tags};
use kb_types::error::{Error, Result};
use kb_types::{Document, DocumentId, PartKind};
use unicode_normalization::UnicodeNormalization;

use crate::catalog::CatalogCache;
use crate::container::Container;
use crate::ingest::prepare::limits;
use crate::ingest::prepare::preparer::{Chunking, Prepared};
use crate::ingest::prepare::preserved::Given;
use crate::ingest::run::session::{PendingChange, Session};
use crate::ingest::run::source_info::SourceInfo;
use crate::progress::{Reporter, Stage};
use crate::resolve;
use crate::store::documents::DocumentRecord;
use crate::store::fields::{self, FieldValue};

/// What is at the path of a new document.
struct Place {
    /// The document of the last commit.
    stored: Option<(DocumentId, DocumentRecord)>,
    /// Whether the path has one, with the changes that wait.
    exists: bool,
}

impl Session {
    /// The document of a file that is given as bytes.
    ///
    /// # Errors
    /// As [`crate::Extraction::extract`].
    pub(crate) fn document_of(&mut self, path: &str, bytes: &[u8]) -> Result<Document> {
        let document = self.extractor.extract(path, bytes);
        document.map_err(|refusal| refusal.into_error(path))
    }

    /// As [`Session::document_of`], for a caller that may want to stop it: a worker that is busy ends within a
    /// tenth of a second.
    ///
    /// # Errors
    /// As [`Session::document_of`]; [`Error::Cancelled`] when the hook of `reporter` breaks.
    pub(crate) fn document_of_with(
        &mut self,
        path: &str,
        bytes: &[u8],
        reporter: &Reporter<'_>,
    ) -> Result<Document> {
        reporter.start(Stage::Index)?;
        let (extractor, stop) = (&mut self.extractor, &self.stop);
        if !extractor.asks_worker(path, bytes) {
            // Read sooner than a thread is started.
            let document = extractor.extract(path, bytes);
            return document.map_err(|refusal| refusal.into_error(path));
        }
        stop.store(false, Ordering::Relaxed);
        let document = reporter.wait_or_stop(stop, || extractor.extract(path, bytes))?;
        document.map_err(|refusal| refusal.into_error(path))
    }

    /// Prepares a document for the next commit, with the names of the metadata that it is given. True when the path had one, which is replaced if
    /// `may_replace`; what people gave that one stays.
    ///
    /// # Errors
    /// [`Error::DocumentExists`], [`Error::InvalidArgument`], [`Error::TooLarge`],
    /// [`Error::IndexLocked`].
    pub(crate) fn put(
        &mut self,
        document: Document,
        source: SourceInfo,
        chunking: Chunking,
        names: &[&str],
        may_replace: bool,
    ) -> Result<bool> {
        let mut document = document;
        document.path = document.path.nfc().collect();
        let path = document.path.clone();
        self.check_open()?;
        check_path(&path)?;
        check_outline(&document)?;
        let place = self.place_of(&path, may_replace)?;
        let given = self.given_at(&path, &place, &mut document, names)?;
        let prepared = self.preparer.prepare(document, source.into(), chunking)?;
        Ok(self.wait_for_commit(path, place, prepared, given))
    }

    /// As [`Session::put`], of a document that was prepared by itself, with more tags. Its path is composed.
    ///
    /// # Errors
    /// As [`Session::put`]; [`Error::TooMany`] for tags.
    pub(super) fn put_prepared(
        &mut self,
        path: String,
        prepared: Result<Prepared>,
        [names, add_tags]: [&[String]; 2],
        may_replace: bool,
    ) -> Result<bool> {
        self.check_open()?;
        check_path(&path)?;
        let place = self.place_of(&path, may_replace)?;
        let mut prepared = prepared?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let document = &mut prepared.document;
        let mut given = self.given_at(&path, &place, document, &names)?;
        // What was given before may have joined it since it was prepared.
        limits::check(document)?;
        given.tags = tags::changed(&given.tags, add_tags, &[])?;
        Ok(self.wait_for_commit(path, place, prepared, given))
    }

    /// What is at the path of a new document; the file is locked afterwards.
    fn place_of(&mut self, path: &str, may_replace: bool) -> Result<Place> {
        let refused = || {
            let path = path.to_owned();
            Err(Error::DocumentExists { path })
        };
        let mut stored = self.document_at(path)?;
        if self.open.is_none() {
            if stored.is_some() && !may_replace {
                return refused();
            }
            self.lock()?;
            stored = self.document_at(path)?;
        }
        let exists = match self.pending.get(path) {
            Some(PendingChange::Remove { .. }) => false,
            Some(_) => true,
            None => stored.is_some(),
        };
        match exists && !may_replace {
            true => refused(),
            false => Ok(Place { stored, exists }),
        }
    }

    /// What a document at this place is given, and its metadata with that.
    fn given_at(
        &self,
        path: &str,
        place: &Place,
        document: &mut Document,
        names: &[&str],
    ) -> Result<Given> {
        let stated = |document: &Document| tags::stated(&document.file_type, &document.metadata);
        let stated_in = |record: &DocumentRecord| tags::stated(&record.file_type, &record.metadata);
        let record = place.stored.as_ref().map(|(_, record)| record);
        // What the document is given, and those of its tags that its content states.
        let (mut given, before) = match (self.pending.get(path), record) {
            (
                Some(
                    PendingChange::Add { given, prepared }
                    | PendingChange::Replace {
                        given, prepared, ..
                    },
                ),
                _,
            ) => (given.clone(), stated(&prepared.document)),
            (Some(PendingChange::Edit { given, .. }), Some(record)) => {
                (given.clone(), stated_in(record))
            }
            (None, Some(record)) => (given_to(record), stated_in(record)),
            // A document that comes after one that went is another one.
            _ => (Given::default(), Vec::new()),
        };
        given.tags = tags::restated(&given.tags, &before, &stated(document));
        if !given.fields.is_empty() || !names.is_empty() {
            fields::take_given(&mut document.metadata, &mut given.fields, names)?;
        }
        Ok(given)
    }

    /// Leaves a document to the next commit. True when it replaces another.
    fn wait_for_commit(
        &mut self,
        path: String,
        place: Place,
        prepared: Prepared,
        given: Given,
    ) -> bool {
        let prepared = Box::new(prepared);
        let change = match place.stored {
            Some((id, _)) => PendingChange::Replace {
                id,
                prepared,
                given,
            },
            None => PendingChange::Add { prepared, given },
        };
        self.pending.insert(path, change);
        place.exists
    }

    /// See [`crate::KbWriter::remove`].
    pub(crate) fn remove(&mut self, name: &str) -> Result<String> {
        let (path, stored) = self.named(name)?;
        match stored {
            Some((id, _)) => self
                .pending
                .insert(path.clone(), PendingChange::Remove { id }),
            None => self.pending.remove(&path),
        };
        Ok(path)
    }

    /// See [`crate::KbWriter::tag`].
    pub(crate) fn tag(&mut self, name: &str, add: &[&str], remove: &[&str]) -> Result<Vec<String>> {
        let add = tags::given(add)?;
        let remove = tags::normal(remove)?;
        let (path, stored) = self.named(name)?;
        match self.pending.get_mut(&path) {
            Some(
                PendingChange::Add { given, .. }
                | PendingChange::Replace { given, .. }
                | PendingChange::Edit { given, .. },
            ) => {
                given.tags = tags::changed(&given.tags, &add, &remove)?;
                Ok(given.tags.clone())
            }
            _ => {
                let (id, record) = stored.ok_or_else(|| not_found(name))?;
                let tags = tags::changed(&record.tags, &add, &remove)?;
                if tags == record.tags {
                    return Ok(tags);
                }
                let given = Given {
                    tags: tags.clone(),
                    ..given_to(&record)
                };
                let change = PendingChange::Edit {
                    id,
                    given,
                    metadata: record.metadata,
                };
                self.pending.insert(path, change);
                Ok(tags)
            }
        }
    }

    /// See [`crate::KbWriter::set_fields`].
    pub(crate) fn set_fields(
        &mut self,
        name: &str,
        fields: &[(String, Vec<FieldValue>)],
    ) -> Result<Vec<(String, String)>> {
        fields::check(fields)?;
        check_secrets(fields)?;
        let (path, stored) = self.named(name)?;
        match self.pending.get_mut(&path) {
            Some(
                PendingChange::Add { given, prepared }
                | PendingChange::Replace {
                    given, prepared, ..
                },
            ) => {
                let metadata = &mut prepared.document.metadata;
                fields::change(metadata, &mut given.fields, fields)?;
                Ok(fields::joined(metadata.clone()).0)
            }
            Some(PendingChange::Edit {
                given, metadata, ..
            }) => {
                fields::change(metadata, &mut given.fields, fields)?;
                Ok(fields::joined(metadata.clone()).0)
            }
            _ => {
                let (id, record) = stored.ok_or_else(|| not_found(name))?;
                let mut given = given_to(&record);
                let mut metadata = record.metadata.clone();
                fields::change(&mut metadata, &mut given.fields, fields)?;
                let shown = fields::joined(metadata.clone());
                let is_given = fields::names_of(&given.fields) == record.given;
                if !is_given || metadata != record.metadata {
                    let change = PendingChange::Edit {
                        id,
                        given,
                        metadata,
                    };
                    self.pending.insert(path, change);
                }
                Ok(shown.0)
            }
        }
    }

    /// Finds a document among those that the next commit leaves in the file. What is refused is
    /// refused before the file is locked and touched.
    fn named(&mut self, name: &str) -> Result<(String, Option<(DocumentId, DocumentRecord)>)> {
        self.check_open()?;
        if self.open.is_none() {
            self.find(name)?;
            self.lock()?;
        }
        self.find(name)
    }

    fn find(&self, name: &str) -> Result<(String, Option<(DocumentId, DocumentRecord)>)> {
        let name = &*name.nfc().collect::<String>();
        if let Some((path, pending)) = self.pending.get_key_value(name) {
            return match pending {
                PendingChange::Remove { .. } => Err(not_found(name)),
                _ => Ok((path.clone(), self.document_at(path)?)),
            };
        }
        let found = self.with_base(|base, catalogs| {
            base.read(|snapshot| {
                let catalog = catalogs.get(snapshot)?;
                let id = resolve::document(snapshot, &catalog, base.path(), name)?;
                Ok((id, catalog.documents.get(snapshot, id)?))
            })
        })?;
        let Some((id, record)) = found else {
            return Err(not_found(name));
        };
        if let Some(PendingChange::Remove { .. }) = self.pending.get(&record.path) {
            return Err(not_found(name));
        }
        Ok((record.path.clone(), Some((id, record))))
    }

    /// The document of that path in the last commit.
    fn document_at(&self, path: &str) -> Result<Option<(DocumentId, DocumentRecord)>> {
        let found = self.with_base(|base, catalogs| {
            base.read(|snapshot| {
                let documents = &catalogs.get(snapshot)?.documents;
                match documents.by_path(snapshot, path)? {
                    Some(id) => Ok(Some((id, documents.get(snapshot, id)?))),
                    None => Ok(None),
                }
            })
        })?;
        Ok(found.flatten())
    }

    /// Asks the last commit, locked or not; `None` for a file that does not exist yet.
    fn with_base<T>(
        &self,
        ask: impl FnOnce(&Container, &CatalogCache) -> Result<T>,
    ) -> Result<Option<T>> {
        match &self.open {
            Some(open) => open
                .base()
                .map(|(base, catalogs)| ask(base, catalogs))
                .transpose(),
            None if self.starts_empty => Ok(None),
            None => match Container::open(&self.path) {
                Ok(base) => ask(&base, &CatalogCache::default()).map(Some),
                Err(Error::PathNotFound { .. }) => Ok(None),
                Err(error) => Err(error),
            },
        }
    }
}

/// What people gave a document of the file.
fn given_to(record: &DocumentRecord) -> Given {
    Given {
        tags: record.tags.clone(),
        fields: fields::named(&record.metadata, &record.given),
    }
}

/// Refuses fields that hold a key or token.
fn check_secrets(fields: &[(String, Vec<FieldValue>)]) -> Result<()> {
    for (name, values) in fields {
        let texts = values.iter().filter_map(|value| match value {
            FieldValue::Text(text) => Some(text.as_str()),
            _ => None,
        });
        for text in texts.chain([name.as_str()]) {
            if let Some(secret) = secrets::in_words(text, "a field") {
                return Err(Error::InvalidArgument {
                    argument: "metadata",
                    reason: format!("it {secret}"),
                });
            }
        }
    }
    Ok(())
}

pub(super) fn check_path(path: &str) -> Result<()> {
    let reason = if path.is_empty() {
        "it is empty; a document needs a name"
    } else if path.starts_with('/') || path.ends_with('/') {
        "it begins or ends with /; the path of a document is relative: notes/today.md"
    } else if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        "it has an empty part, . or .. in it; give the path as it shall be listed"
    } else if path.chars().any(char::is_control) {
        "it has a control character in it"
    } else {
        return Ok(());
    };
    Err(Error::InvalidArgument {
        argument: "path",
        reason: format!("{path:?}: {reason}"),
    })
}

/// Headings must stand in the text, in order; bookmarks of pages may go back in it.
fn check_outline(document: &Document) -> Result<()> {
    let starts = document
        .outline
        .iter()
        .map(|heading| heading.start as usize);
    let in_text = starts
        .clone()
        .all(|start| document.text.is_char_boundary(start));
    let levels = document.outline.iter().all(|heading| heading.level > 0);
    let first = document.parts.first().map(|part| part.content.kind());
    if in_text && levels && (starts.is_sorted() || first == Some(PartKind::Page)) {
        return Ok(());
    }
    Err(Error::InvalidArgument {
        argument: "outline",
        reason: format!(
            "the headings of {:?} do not stand in its text, in order, with levels from 1",
            document.path
        ),
    })
}

fn not_found(name: &str) -> Error {
    Error::DocumentNotFound {
        name: name.to_owned(),
        skipped: Vec::new(),
        nearest: Vec::new(),
    }
}
