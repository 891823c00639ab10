//! The rows of a segment in order: whose they are, and their text.

use kb_types::error::{Error, Result};

use crate::check::deep::block_text::BlockTextReader;
use crate::check::deep::context::{CheckedRows, Context};
use crate::check::deep::document_checker::{ChunkText, DocumentChecker};
use crate::check::problems::Problems;
use crate::store::decoder::Decoder;
use crate::store::{dictionary, tables};

/// Rows between two reports of progress.
// About 300 KB of text: the hook is called often enough to stop a check, and costs nothing beside
// decoding.
const ROWS_PER_REPORT: u32 = 256;

/// Reads all rows with their text and compares each document with its record.
///
/// # Errors
/// Those that tell nothing about the file.
pub(super) fn check(
    context: &Context<'_>,
    problems: &mut Problems,
    progress: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<CheckedRows> {
    let mut found = CheckedRows::default();
    let bound = context.segment.bind(context.snapshot)?;
    let chunks = bound.chunks();
    let is_canonical = problems.unless_damaged(|| context.location(), chunks.is_canonical())?;
    if is_canonical == Some(false) {
        let what = "its rows of chunks are not the bytes that they make";
        problems.add(format!("{}: {what}", context.location()));
    }
    let blocks = context.column(tables::BLOCKS)?;
    let text = context.column(tables::TEXT)?;
    let dictionary = context.column(tables::TEXT_DICTIONARY)?;
    let read = dictionary::read(dictionary.view());
    let dictionary = problems.unless_damaged(|| context.location(), read)?;
    let decoder = Decoder::new(dictionary.unwrap_or_default());
    let mut text = BlockTextReader::new(blocks.view(), text.view(), decoder);
    let deleted = context.segment.deleted_rows();
    let mut run: Option<DocumentChecker> = None;
    let mut last_path = None;
    for row in 0..context.segment.rows() {
        if problems.is_full() {
            return Ok(found);
        }
        let place = || format!("row {row} of {}", context.location());
        let Some(chunk) = problems.unless_damaged(place, chunks.row(row))? else {
            // What follows cannot be distinguished from what is missing.
            found.documents.insert_range(..);
            return Ok(found);
        };
        let is_dead = deleted.is_some_and(|deleted| deleted.contains(row));
        if run.as_ref().is_none_or(|run| run.id != chunk.document) {
            if let Some(run) = run.take() {
                run.finish(context, row, &mut last_path, &mut found, problems);
            }
            run = Some(DocumentChecker::start(
                context,
                chunk.document,
                row,
                is_dead,
                problems,
            )?);
        }
        problems.unless_damaged(|| context.location(), text.enter(row))?;
        let Some(run) = &mut run else {
            continue;
        };
        let start = run.end;
        let len = chunk.end.checked_sub(start);
        let len = len.ok_or_else(|| Error::damaged("it ends before it starts"));
        let bytes = match len {
            Ok(len) => text.take(len as usize),
            Err(error) => Err(error),
        };
        let bytes = problems.unless_damaged(place, bytes)?.flatten();
        found.text_bytes = found
            .text_bytes
            .saturating_add(u64::from(chunk.end.saturating_sub(start)));
        let piece = ChunkText {
            row,
            is_dead,
            end: chunk.end,
            lines: chunk.lines,
            bytes,
        };
        run.add(&piece, problems);
        if row % ROWS_PER_REPORT == 0 {
            progress(found.text_bytes)?;
        }
    }
    if let Some(run) = run {
        let end = context.segment.rows();
        run.finish(context, end, &mut last_path, &mut found, problems);
    }
    problems.unless_damaged(|| context.location(), text.finish())?;
    found.is_complete = true;
    Ok(found)
}
