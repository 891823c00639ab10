//! Documents: three tables that name each other, and what a record says of itself.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use kb_types::DocumentId;
use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;

use crate::catalog::Catalog;
use crate::check::deep::context::Totals;
use crate::check::deep::document_checker::check_without_text;
use crate::check::problems::Problems;
use crate::container::codec::u64_at;
use crate::container::{Key, Snapshot};
use crate::store::documents::{DocumentRecord, NO_SEGMENT};
use crate::store::{fields, handles, tables};

/// The documents of a commit, as far as their records were read.
#[derive(Debug, Default)]
pub(super) struct DocumentIndex {
    /// Numbers of all documents.
    pub(super) all: RoaringBitmap,
    /// Numbers of those with chunks that were met where their records say, or may have been.
    pub(super) with_rows: RoaringBitmap,
    /// By segment, what the records of documents say.
    pub(super) by_segment: BTreeMap<u32, Totals>,
}

/// Compares the tables `docs`, `doc_by_path` and `doc_by_suffix`, and every record with what it
/// names.
///
/// # Errors
/// Those that tell nothing about the file.
pub(super) fn check(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    problems: &mut Problems,
) -> Result<DocumentIndex> {
    let mut found = DocumentIndex::default();
    let mut lookup = Lookup {
        snapshot,
        catalog,
        problems,
        found: &mut found,
    };
    each(snapshot, tables::DOC_BY_PATH, Key::Str(""), |key, value| {
        lookup.path(&String::from_utf8_lossy(key), value)
    })
    .or_else(|error| lookup.note(tables::DOC_BY_PATH, error))?;
    each(snapshot, tables::DOCS, Key::U64(0), |key, _| {
        lookup.number(u64_at(key, 0)?)
    })
    .or_else(|error| lookup.note(tables::DOCS, error))?;
    each(
        snapshot,
        tables::DOC_BY_SUFFIX,
        Key::Str(""),
        |key, value| lookup.suffix(&String::from_utf8_lossy(key), value),
    )
    .or_else(|error| lookup.note(tables::DOC_BY_SUFFIX, error))?;
    Ok(found)
}

/// Visits all rows of a table, if it is there.
fn each(
    snapshot: &Snapshot<'_>,
    table: &str,
    from: Key<'_>,
    mut visit: impl FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>>,
) -> Result<()> {
    match snapshot.table(table)? {
        Some(table) => snapshot.range(&table, from, &mut visit),
        None => Ok(()),
    }
}

struct Lookup<'l, 's> {
    snapshot: &'l Snapshot<'s>,
    catalog: &'l Catalog,
    problems: &'l mut Problems,
    found: &'l mut DocumentIndex,
}

impl Lookup<'_, '_> {
    fn note(&mut self, table: &str, error: Error) -> Result<()> {
        let read: Result<()> = Err(error);
        let place = || format!("table {table}");
        self.problems.unless_damaged(place, read).map(|_| ())
    }

    fn go_on(&self) -> ControlFlow<()> {
        if self.problems.is_full() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn record(&mut self, place: &str, id: DocumentId) -> Result<Option<DocumentRecord>> {
        let record = self.catalog.documents.get(self.snapshot, id);
        self.problems.unless_damaged(|| place.to_owned(), record)
    }

    /// A row of `doc_by_path`.
    fn path(&mut self, path: &str, value: &[u8]) -> Result<ControlFlow<()>> {
        let place = format!("document {path:?}");
        let Some(id) = number_in(value) else {
            self.problems
                .add(format!("{place}: table doc_by_path gives it no number"));
            return Ok(self.go_on());
        };
        let Some(record) = self.record(&place, id)? else {
            self.found.all.insert(id.0);
            return Ok(self.go_on());
        };
        if record.path != path {
            self.problems.add(format!(
                "{place}: table doc_by_path names document {}, whose path is {:?}",
                id.0, record.path
            ));
            return Ok(self.go_on());
        }
        self.found.all.insert(id.0);
        if id.0 >= self.catalog.manifest.next_document {
            self.problems.add(format!(
                "{place}: its number is {}, and the next would be {}",
                id.0, self.catalog.manifest.next_document
            ));
        }
        let suffix = &record.suffix;
        if handles::suffix_of(&format!("x-{suffix}")) != Some(suffix) {
            self.problems
                .add(format!("{place}: {suffix:?} is no suffix of a handle"));
        }
        let by_suffix = self.catalog.documents.by_suffix(self.snapshot, suffix);
        let by_suffix = self.problems.unless_damaged(|| place.clone(), by_suffix)?;
        if by_suffix.is_some_and(|other| other != Some(id)) {
            self.problems.add(format!(
                "{place}: table doc_by_suffix does not lead from {suffix:?} to it"
            ));
        }
        self.check_record(&place, &record);
        if record.rows == 0 {
            let (snapshot, catalog) = (self.snapshot, self.catalog);
            check_without_text(snapshot, catalog, id, &place, self.problems)?;
        }
        self.add(id, &record);
        Ok(self.go_on())
    }

    /// A row of `docs`.
    fn number(&mut self, number: u64) -> Result<ControlFlow<()>> {
        let id = u32::try_from(number).ok().map(DocumentId);
        let Some(id) = id else {
            self.problems
                .add(format!("table docs: document number {number}"));
            return Ok(self.go_on());
        };
        if !self.found.all.contains(id.0) {
            let record = self.record(&format!("document {number}"), id)?;
            let path = record.map(|record| record.path).unwrap_or_default();
            self.problems.add(format!(
                "document {number} {path:?}: table doc_by_path does not have it"
            ));
        }
        Ok(self.go_on())
    }

    /// A row of `doc_by_suffix`.
    fn suffix(&mut self, suffix: &str, value: &[u8]) -> Result<ControlFlow<()>> {
        let record = match number_in(value) {
            Some(id) if self.found.all.contains(id.0) => {
                let record = self.catalog.documents.get(self.snapshot, id);
                // One that cannot be read was noted under its path.
                record.ok()
            }
            _ => None,
        };
        if record.is_none_or(|record| record.suffix != suffix) {
            self.problems.add(format!(
                "table doc_by_suffix: {suffix:?} leads to no document of that suffix"
            ));
        }
        Ok(self.go_on())
    }

    fn check_record(&mut self, place: &str, record: &DocumentRecord) {
        let mut wrong = Vec::new();
        if let Err(Error::Damaged { what }) = record.class() {
            wrong.push(what);
        }
        if !record.tags.is_sorted_by(|a, b| a < b) {
            wrong.push(format!("tags {:?} do not ascend", record.tags));
        }
        let given = &record.given;
        if !given.is_empty() {
            // Names of pairs are normalised, ascend and are different.
            let names = fields::names_of(&record.metadata);
            let are_names = given.iter().all(|name| names.binary_search(name).is_ok());
            if !given.is_sorted_by(|a, b| a < b) || !are_names {
                wrong.push(format!(
                    "given fields {given:?} are not ascending names of its metadata"
                ));
            }
            let is_given = |pair: &&(String, String)| given.contains(&fields::normalized(&pair.0));
            let values = record.metadata.iter().filter(is_given).count();
            if values > fields::GIVEN_LIMIT {
                wrong.push(format!(
                    "{values} given values, at most {} are possible",
                    fields::GIVEN_LIMIT
                ));
            }
        }
        let roots = &self.catalog.meta.roots;
        if let Some(root) = record.root
            && !roots.iter().any(|known| known.id == root)
        {
            wrong.push(format!("the file has no root {root}"));
        }
        match self.catalog.segment(record.segment()) {
            _ if record.rows == 0 => {
                if (record.segment, record.first_row) != (NO_SEGMENT, 0) {
                    wrong.push(format!(
                        "it has no chunks, in segment {} from row {} on",
                        record.segment, record.first_row
                    ));
                }
            }
            Err(_) => wrong.push(format!("segment {} is not live", record.segment)),
            Ok(segment) => {
                let end = record.first_row.checked_add(record.rows);
                if end.is_none_or(|end| end > segment.rows()) {
                    wrong.push(format!(
                        "{} rows from {} on, and segment {} has {}",
                        record.rows,
                        record.first_row,
                        record.segment,
                        segment.rows()
                    ));
                }
            }
        }
        let nothing = *blake3::hash(b"").as_bytes();
        if record.rows == 0 && (record.text_bytes != 0 || record.text_hash != nothing) {
            wrong.push("it has text and no chunks".to_owned());
        }
        for what in wrong {
            self.problems.add(format!("{place}: {what}"));
        }
    }

    fn add(&mut self, id: DocumentId, record: &DocumentRecord) {
        if record.rows > 0 {
            self.found.with_rows.insert(id.0);
        }
        let totals = self.found.by_segment.entry(record.segment).or_default();
        let of_one = Totals {
            documents: 1,
            chunks: u64::from(record.rows),
            text_bytes: u64::from(record.text_bytes),
        };
        *totals = totals.plus(&of_one);
    }
}

fn number_in(value: &[u8]) -> Option<DocumentId> {
    let number = u64_at(value, 0).ok().filter(|_| value.len() == 8)?;
    u32::try_from(number).ok().map(DocumentId)
}

/// Names the documents whose rows were not met in their segment.
///
/// # Errors
/// Those that tell nothing about the file.
pub(super) fn check_unmet(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    unmet: &RoaringBitmap,
    problems: &mut Problems,
) -> Result<()> {
    for number in unmet {
        let record = catalog.documents.get(snapshot, DocumentId(number));
        let place = || format!("document {number}");
        if let Some(record) = problems.unless_damaged(place, record)? {
            problems.add(format!(
                "document {:?}: rows {}..{} of segment {} are not all its own and live",
                record.path,
                record.first_row,
                u64::from(record.first_row) + u64::from(record.rows),
                record.segment
            ));
        }
        if problems.is_full() {
            break;
        }
    }
    Ok(())
}

/// Compares what the file states with what its documents add up to.
pub(super) fn compare_totals(catalog: &Catalog, found: &DocumentIndex, problems: &mut Problems) {
    let totals = found
        .by_segment
        .values()
        .fold(Totals::default(), Totals::plus);
    let meta = &catalog.meta;
    for (what, stated, is) in [
        ("documents", meta.documents, totals.documents),
        ("chunks", meta.chunks, totals.chunks),
        ("bytes of text", meta.text_bytes, totals.text_bytes),
    ] {
        if stated != is {
            problems.add(format!("row meta states {stated} {what}, there are {is}"));
        }
    }
}
