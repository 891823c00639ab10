//! Rows -> documents -> symbols.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use crate::error::Result;
use crate::index::keyword::{SymbolTerm, searched_names};
use crate::search::sources::Sources;
use crate::store::documents::DocumentRecord;
use crate::store::facets::{self, Facet};
use crate::types::{DocumentId, NamePattern, Span, Symbol, SymbolKind};

/// What a symbol must be.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Any of these; empty: all.
    pub(super) kinds: Vec<SymbolKind>,
    /// `None`: any name.
    pub(super) name: Option<NamePattern>,
}

impl Wanted {
    pub(super) fn has(&self, symbol: &Symbol) -> bool {
        let is_kind = self.kinds.is_empty() || self.kinds.contains(&symbol.kind);
        is_kind && self.name.as_ref().is_none_or(|name| is_named(symbol, name))
    }

    /// Leaves the rows that may have the name of such a symbol.
    pub(super) fn keep_rows(
        &self,
        sources: &Sources<'_>,
        rows: &mut [RoaringBitmap],
    ) -> Result<()> {
        for (segment, (bound, rows)) in sources.segments.iter().zip(rows).enumerate() {
            sources.tick()?;
            if let Some(name) = &self.name {
                *rows &= bound
                    .keyword_index()?
                    .rows_of_symbols(SymbolTerm::Definition, name)?;
            }
            if !self.kinds.is_empty() && !rows.is_empty() {
                let mut of_kinds = RoaringBitmap::new();
                let snapshot = sources.source(sources.file_of(segment))?.snapshot;
                let (id, count) = (bound.segment.id, bound.segment.rows());
                for kind in &self.kinds {
                    let with = facets::rows_with(snapshot, id, count, Facet::Kind, kind.name())?;
                    of_kinds |= with.unwrap_or_default();
                }
                *rows &= of_kinds;
            }
        }
        Ok(())
    }
}

/// Whether a name finds a symbol: its whole name or the last part of it.
fn is_named(symbol: &Symbol, name: &NamePattern) -> bool {
    searched_names(&symbol.name).any(|own| name.matches(own))
}

/// Some rows of a document.
#[derive(Debug)]
pub(super) struct DocumentRows {
    pub(super) id: DocumentId,
    pub(super) record: DocumentRecord,
    /// Position of its segment.
    pub(super) segment: usize,
    /// Which of its rows, ascending.
    pub(super) rows: Vec<u32>,
}

/// The documents of some live rows, in the order of paths.
pub(super) fn documents(
    sources: &Sources<'_>,
    rows: &[RoaringBitmap],
) -> Result<Vec<DocumentRows>> {
    let mut by_path: BTreeMap<String, DocumentRows> = BTreeMap::new();
    for (segment, (bound, rows)) in sources.segments.iter().zip(rows).enumerate() {
        let chunks = bound.chunks();
        let file = sources.file_of(segment);
        let mut open: Option<DocumentRows> = None;
        for row in rows {
            if let Some(open) = &mut open
                && row < open.record.first_row.saturating_add(open.record.rows)
            {
                open.rows.push(row);
                continue;
            }
            sources.tick()?;
            let id = chunks.document(row)?;
            let record = sources.document(file, id)?;
            let next = DocumentRows {
                id,
                record,
                segment,
                rows: vec![row],
            };
            if let Some(done) = open.replace(next) {
                by_path.insert(done.record.path.clone(), done);
            }
        }
        if let Some(done) = open {
            by_path.insert(done.record.path.clone(), done);
        }
    }
    Ok(by_path.into_values().collect())
}

/// Bytes of a document, read from the chunks that hold them.
///
/// # Errors
/// [`crate::Error::Damaged`] when a chunk cannot be read.
pub(super) fn text_of(
    sources: &Sources<'_>,
    document: &DocumentRows,
    span: Span,
) -> Result<String> {
    let bound = sources.segment(document.segment)?;
    let (chunks, mut blocks) = (bound.chunks(), bound.blocks()?);
    let record = &document.record;
    let (mut low, end) = (
        record.first_row,
        record.first_row.saturating_add(record.rows),
    );
    let mut high = end;
    // The first row that ends behind the first byte.
    while low < high {
        let middle = low + (high - low) / 2;
        if chunks.get(middle)?.at.span.end <= span.start {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let mut text = String::new();
    let mut start = None;
    for row in low..end {
        let at = chunks.get(row)?.at.span;
        if at.start >= span.end {
            break;
        }
        start.get_or_insert(at.start);
        blocks.append(row, 1, &mut text)?;
    }
    let start = start.unwrap_or(span.start);
    let own = text
        .get(span.start.saturating_sub(start) as usize..span.end.saturating_sub(start) as usize);
    Ok(own.unwrap_or_default().to_owned())
}
