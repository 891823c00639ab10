//! All contents of a commit, part by part. Each part goes on after a problem and does not depend on the
//! others.

use kb_types::error::Result;
use roaring::RoaringBitmap;

use crate::catalog::columns::ColumnGroup;
use crate::catalog::{BoundSegment, Catalog};
use crate::check::deep::context::{CheckedRows, Context, Totals};
use crate::check::deep::{
    document_checker, documents, facets, fields, orphans, rows, seal, segments, trigrams, vectors,
};
use crate::check::problems::Problems;
use crate::container::Snapshot;
use crate::index::keyword;
use crate::progress::Reporter;
use crate::store::meta::SealRecord;

/// Compares all contents of a commit. `progress` is called with the bytes of text checked so far, `reporter` while other parts are read.
///
/// # Errors
/// Those that tell nothing about the file; what is wrong with it goes to `problems`.
pub(in crate::check) fn check(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    seal: Option<&SealRecord>,
    problems: &mut Problems,
    reporter: &Reporter<'_>,
    progress: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Totals> {
    let index = documents::check(snapshot, catalog, problems)?;
    let mut met = RoaringBitmap::new();
    let mut text_bytes = 0;
    for segment in &catalog.segments {
        if problems.is_full() {
            break;
        }
        let live = index.by_segment.get(&segment.id.0).copied();
        let context = Context {
            snapshot,
            catalog,
            segment,
            live: live.unwrap_or_default(),
        };
        let mut report = |done: u64| progress(text_bytes + done);
        let segment_bytes = check_segment(&context, &mut met, problems, reporter, &mut report)?;
        text_bytes += segment_bytes;
    }
    // What follows reads all documents once more, and could not add anything to a full list.
    if !problems.is_full() {
        documents::check_unmet(snapshot, catalog, &(&index.with_rows - &met), problems)?;
        document_checker::check_outlines(snapshot, catalog, &index.all, problems)?;
        let dictionary = catalog.symbols.dictionary(snapshot);
        problems.unless_damaged(|| "table symbols".to_owned(), dictionary)?;
        orphans::check(snapshot, catalog, problems)?;
        seal::check(snapshot, catalog, seal, problems, reporter)?;
    }
    documents::compare_totals(catalog, &index, problems);
    Ok(index
        .by_segment
        .values()
        .fold(Totals::default(), Totals::plus))
}

/// Checks everything of one segment; returns bytes of its text. `met` collects the documents whose rows
/// are where their records say.
fn check_segment(
    context: &Context<'_>,
    met: &mut RoaringBitmap,
    problems: &mut Problems,
    reporter: &Reporter<'_>,
    progress: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<u64> {
    segments::check_record(context, problems)?;
    let bound = context.segment.bind(context.snapshot);
    let Some(bound) = problems.unless_damaged(|| context.location(), bound)? else {
        met.insert_range(..);
        return Ok(0);
    };
    let rows = rows::check(context, problems, progress)?;
    *met |= &rows.documents;
    if rows.is_complete {
        let of_columns = fields::check(context, &bound, &rows.facets);
        let place = || format!("fields of {}", context.location());
        if let Some(facets) = problems.unless_damaged(place, of_columns)? {
            facets::check(context, &facets, problems)?;
        }
    }
    segments::check_totals(context, &rows, problems);
    for group in ColumnGroup::ALL {
        match group {
            // Their columns are read together, row by row.
            ColumnGroup::Text | ColumnGroup::Chunks => {}
            // With the facets, which have the rest of the fields.
            ColumnGroup::Fields => {}
            ColumnGroup::KeywordIndex => {
                check_keyword_index(context, &bound, &rows, problems, reporter)?;
            }
            ColumnGroup::Vectors => vectors::check(context, &bound, problems)?,
            ColumnGroup::Trigrams => {
                let checked = trigrams::check(context, &bound, problems, reporter);
                let place = || format!("trigrams of {}", context.location());
                problems.unless_damaged(place, checked)?;
            }
        }
        reporter.check()?;
    }
    Ok(rows.text_bytes)
}

/// Compares the keyword index of a segment with itself, and the names that it says are defined with the symbols.
fn check_keyword_index(
    context: &Context<'_>,
    bound: &BoundSegment<'_>,
    rows: &CheckedRows,
    problems: &mut Problems,
    reporter: &Reporter<'_>,
) -> Result<()> {
    let checked = bound.keyword_index().and_then(|index| {
        segments::check_lengths(context, &index, problems)?;
        let deleted = context.segment.deleted_rows();
        reporter.wait_for(|| keyword::check(&index, deleted))
    });
    let definitions = problems.unless_damaged(
        || format!("keyword index of {}", context.location()),
        checked,
    )?;
    if let Some(definitions) = definitions
        && rows.is_complete
        && definitions != rows.definitions
    {
        problems.add(format!(
            "keyword index of {}: the names that it says are defined are not those of the symbols",
            context.location()
        ));
    }
    Ok(())
}
