//! The trigrams of a segment, made again from its text.

use std::collections::BTreeMap;

use kb_types::cell_text::ShownRows;
use kb_types::error::{Error, Result};
use kb_types::{DocumentId, PartKind};

use crate::catalog::BoundSegment;
use crate::check::deep::context::Context;
use crate::check::problems::Problems;
use crate::index::trigram::Reader;
use crate::index::trigram::builder::{Builder, SearchedText};
use crate::progress::Reporter;

/// Compares the lists of a segment with its text: each unit must have its trigrams, and no others unless it has
/// deleted chunks, of which it is not known any more what was searched. Decodes all text of the segment once more.
///
/// # Errors
/// [`Error::Damaged`] when columns do not decode; [`Error::Cancelled`].
pub(super) fn check(
    context: &Context<'_>,
    bound: &BoundSegment<'_>,
    problems: &mut Problems,
    reporter: &Reporter<'_>,
) -> Result<()> {
    let Some(reader) = bound.trigrams()? else {
        return Ok(());
    };
    let Expected {
        builder,
        has_deleted,
    } = expected(context, bound, &reader, reporter)?;
    let (_, lists) = builder.finish();
    let mut of_text = lists.into_iter().peekable();
    let mut walk = reader.iter();
    let mut wrong: BTreeMap<u32, &str> = BTreeMap::new();
    while let Some((trigram, stored)) = walk.advance()? {
        reporter.tick()?;
        while let Some((_, lacking)) = of_text.next_if(|(missed, _)| *missed < trigram) {
            wrong.extend(lacking.into_iter().map(|unit| (unit, "lacks")));
        }
        let made = of_text.next_if(|(made, _)| *made == trigram);
        let made = made.map_or(Vec::new(), |(_, units)| units);
        for unit in &made {
            if stored.binary_search(unit).is_err() {
                wrong.insert(*unit, "lacks");
            }
        }
        for unit in stored {
            let is_deleted = has_deleted.get(unit as usize).copied().unwrap_or(false);
            if made.binary_search(&unit).is_err() && !is_deleted {
                wrong.entry(unit).or_insert("has other");
            }
        }
    }
    for (_, lacking) in of_text {
        wrong.extend(lacking.into_iter().map(|unit| (unit, "lacks")));
    }
    for (unit, what) in wrong {
        if problems.is_full() {
            break;
        }
        let location = context.location();
        problems.add(format!(
            "{location}: unit {unit} of its trigrams {what} trigrams of its text"
        ));
    }
    Ok(())
}

/// The trigrams of the live text.
struct Expected {
    builder: Builder,
    /// For each unit, whether it has deleted chunks.
    has_deleted: Vec<bool>,
}

fn expected(
    context: &Context<'_>,
    bound: &BoundSegment<'_>,
    reader: &Reader<'_>,
    reporter: &Reporter<'_>,
) -> Result<Expected> {
    let mut expected = Expected {
        builder: Builder::default(),
        has_deleted: Vec::new(),
    };
    let (chunks, mut blocks) = (bound.chunks(), bound.blocks()?);
    let deleted = context.segment.deleted_rows();
    let mut next_row = 0;
    let mut text = String::new();
    let mut document: Option<(DocumentId, Option<SearchedText>)> = None;
    for unit in 0..reader.units() {
        reporter.tick()?;
        let rows = reader.rows_of(unit)?;
        if rows.start != next_row {
            return Err(Error::damaged(format!(
                "unit {unit} does not begin where the last one ends"
            )));
        }
        next_row = rows.end;
        let mut has_deleted = false;
        let last = rows.end - 1;
        for row in rows {
            if deleted.is_some_and(|deleted| deleted.contains(row)) {
                has_deleted = true;
                // Its place is kept, so that the numbers of units agree.
                expected.builder.push_within(u32::MAX, "", None);
                continue;
            }
            let id = chunks.document(row)?;
            let searched = match document {
                Some((known, searched)) if known == id => searched,
                _ => {
                    let searched = searched_text(context, id)?;
                    document = Some((id, searched));
                    searched
                }
            };
            text.clear();
            blocks.append(row, 1, &mut text)?;
            expected.builder.push_within(id.0, &text, searched);
        }
        // A line that goes on in the next unit would have trigrams of neither.
        let goes_on = last
            .checked_add(1)
            .filter(|next| *next < context.segment.rows());
        if let Some(next) = goes_on
            && chunks.document(next)? == chunks.document(last)?
            && !text.ends_with('\n')
            && !has_deleted
        {
            return Err(Error::damaged(format!("unit {unit} ends within a line")));
        }
        expected.builder.close();
        expected.has_deleted.push(has_deleted);
    }
    if next_row != context.segment.rows() {
        return Err(Error::damaged(
            "the last unit does not end with the last chunk",
        ));
    }
    Ok(expected)
}

/// What is searched of a document, where that is another text than is stored.
fn searched_text(context: &Context<'_>, id: DocumentId) -> Result<Option<SearchedText>> {
    let parts = context.catalog.parts.count(context.snapshot, id)?;
    let is_sheet = parts.is_some_and(|(kind, _)| kind == PartKind::Sheet);
    Ok(is_sheet.then_some(|stored: &str| ShownRows::of(stored).text))
}
