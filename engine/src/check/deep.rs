//! Contents: what a file says twice is compared. Each part goes on after what it finds, and the next
//! part does not depend on it.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use crate::catalog::{Catalog, Segment};
use crate::check::problems::Problems;
use crate::check::rows::Rows;
use crate::check::{document_checker, documents, facets, orphans, rows, seal, segments, vectors};
use crate::container::Snapshot;
use crate::error::Result;
use crate::index::keyword;
use crate::store::meta::SealRecord;

/// What live documents add up to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Totals {
    /// Documents.
    pub(super) documents: u64,
    /// Their chunks.
    pub(super) chunks: u64,
    /// Bytes of their text.
    pub(super) text_bytes: u64,
}

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

/// Compares all contents of a commit. `progress` hears of bytes of text so far.
///
/// # Errors
/// Those that tell nothing about the file; what is wrong with it goes to `problems`.
pub(super) fn check(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    seal: Option<&SealRecord>,
    problems: &mut Problems,
    progress: &mut dyn FnMut(u64),
) -> Result<Totals> {
    let found = documents::check(snapshot, catalog, problems)?;
    let mut met = RoaringBitmap::new();
    let mut text_bytes = 0;
    for segment in &catalog.segments {
        if problems.is_full() {
            break;
        }
        let live = found.by_segment.get(&segment.id.0).copied();
        let context = Context {
            snapshot,
            catalog,
            segment,
            live: live.unwrap_or_default(),
        };
        let mut heard = |done: u64| progress(text_bytes + done);
        let rows = context.check(&mut met, problems, &mut heard)?;
        text_bytes += rows;
    }
    if !problems.is_full() {
        documents::check_unmet(snapshot, catalog, &(&found.with_rows - &met), problems)?;
        document_checker::check_outlines(snapshot, &found.all, problems)?;
        orphans::check(snapshot, catalog, problems)?;
        seal::check(snapshot, catalog, seal, problems)?;
    }
    documents::compare_totals(catalog, &found, problems);
    Ok(found.by_segment.values().fold(Totals::default(), sum))
}

pub(super) fn sum(a: Totals, b: &Totals) -> Totals {
    Totals {
        documents: a.documents.saturating_add(b.documents),
        chunks: a.chunks.saturating_add(b.chunks),
        text_bytes: a.text_bytes.saturating_add(b.text_bytes),
    }
}

/// One segment of the commit that is checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'c> {
    /// The commit.
    pub(super) snapshot: &'c Snapshot<'c>,
    /// Its records.
    pub(super) catalog: &'c Catalog,
    /// The segment.
    pub(super) segment: &'c Segment,
    /// What the records of its documents say.
    pub(super) live: Totals,
}

impl Context<'_> {
    /// How problems name the segment.
    pub(super) fn location(&self) -> String {
        format!("segment {}", self.segment.id.0)
    }

    /// Checks everything of the segment; returns bytes of its text.
    fn check(
        &self,
        met: &mut RoaringBitmap,
        problems: &mut Problems,
        progress: &mut dyn FnMut(u64),
    ) -> Result<u64> {
        segments::check_record(self, problems)?;
        let bound = self.segment.bind(self.snapshot);
        let Some(bound) = problems.unless_damaged(|| self.location(), bound)? else {
            met.insert_range(..);
            return Ok(0);
        };
        let rows = rows::check(self, problems, progress)?;
        *met |= &rows.documents;
        if rows.is_complete {
            facets::check(self, &rows.facets, problems)?;
        }
        segments::check_totals(self, &rows, problems);
        let words = bound.keyword_index().and_then(|words| {
            segments::check_lengths(self, &words, problems)?;
            keyword::check(&words)
        });
        problems.unless_damaged(|| format!("keyword index of {}", self.location()), words)?;
        vectors::check(self, problems)?;
        let Rows { text_bytes, .. } = rows;
        Ok(text_bytes)
    }
}
