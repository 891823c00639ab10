//! What comes before and after the text of a hit: the rest of the lines that its passage divides, which is
//! added to it, and the requested context.

use std::ops::Range;

use kb_types::error::Result;

use crate::search::rank::passages::Passage;
use crate::search::render::context::{self, Pieces, Side};
use crate::search::render::hit::Renderer;
use crate::search::render::hit::read::{ReadPassage, Stored};
use crate::search::render::trim::{first_words, last_words};
use crate::search::render::whole_lines;
use crate::search::show::{ContextLines, TextContext};

impl Renderer<'_, '_> {
    /// Adds to the text of a passage the rest of the lines that it begins and ends within, where that is
    /// short. Returns whether the rest was left out, before and after. Reads neighbouring chunks only of a
    /// passage that begins or ends so.
    pub(super) fn add_rests(
        &mut self,
        stored: &mut Stored,
        text: &mut String,
        passage: &Passage,
    ) -> Result<(bool, bool)> {
        let (segment, rows) = (passage.best.address.segment, &passage.rows);
        if rows.is_empty() {
            return Ok((false, false));
        }
        let (rows_before, mut rows_after) = self.neighbouring_rows(stored, segment, rows)?;
        if text.ends_with('\n') {
            rows_after.end = rows_after.start;
        }
        let chunks = self.sources.segment(segment)?.chunks();
        // Of a document with a line map (HTML) chunks may share a line of the original, and not of the text.
        let may_join = |row: u32| {
            let before = chunks.get(row.saturating_sub(1))?;
            Ok(before.at.lines.last >= chunks.get(row)?.at.lines.first)
        };
        let texts = &mut self.cache.texts;
        let before = whole_lines::before(rows_before, may_join, |row| {
            texts.rows(segment, row..row + 1)
        })?;
        let after = whole_lines::after(rows_after, |row| texts.rows(segment, row..row + 1))?;
        stored.rests = (before.text.len(), after.text.len());
        let bytes = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
        stored.span.start = stored.span.start.saturating_sub(bytes(&before.text));
        stored.span.end = stored.span.end.saturating_add(bytes(&after.text));
        stored.best = stored.best.start + stored.rests.0..stored.best.end + stored.rests.0;
        text.insert_str(0, &before.text);
        text.push_str(&after.text);
        Ok((before.is_left_out, after.is_left_out))
    }

    /// The requested lines or characters before and after what is shown of a passage: first what the passage has
    /// there, then the neighbouring chunks of the document.
    pub(super) fn context(
        &mut self,
        passage: &Passage,
        read: &ReadPassage,
        shown: &Range<usize>,
    ) -> Result<(Side, Side)> {
        let (segment, rows) = (passage.best.address.segment, &passage.rows);
        let (before, after) = (read.text.get(..shown.start), read.text.get(shown.end..));
        let sides = [
            [before.unwrap_or_default(), &read.sides.0],
            [after.unwrap_or_default(), &read.sides.1],
        ];
        match self.show.context() {
            TextContext::Chars(characters) => {
                self.context_chars(&read.stored, segment, rows, sides, characters)
            }
            TextContext::Lines(lines) => {
                self.context_lines(&read.stored, segment, rows, sides, lines)
            }
        }
    }

    /// The requested lines before and after a text, as far as its document has them.
    fn context_lines(
        &mut self,
        stored: &Stored,
        segment: usize,
        rows: &Range<u32>,
        sides: [[&str; 2]; 2],
        lines: ContextLines,
    ) -> Result<(Side, Side)> {
        if rows.is_empty() || lines == ContextLines::NONE {
            return Ok(Default::default());
        }
        // One line end more than lines: the one that ends the line before them.
        let is_enough_before =
            |pieces: &Pieces| lines.before == 0 || pieces.has_lines(lines.before + 1);
        let is_enough_after = |pieces: &Pieces| pieces.has_lines(lines.after);
        let is_enough = (is_enough_before, is_enough_after);
        let [(before, is_start), (after, is_end)] =
            self.text_around(stored, segment, rows, sides, is_enough)?;
        Ok((
            context::lines_before(&before, lines.before, is_start),
            context::lines_after(&after, lines.after, is_end),
        ))
    }

    /// Up to `characters` characters before and after a cut text.
    fn context_chars(
        &mut self,
        stored: &Stored,
        segment: usize,
        rows: &Range<u32>,
        sides: [[&str; 2]; 2],
        characters: usize,
    ) -> Result<(Side, Side)> {
        if rows.is_empty() || characters == 0 {
            return Ok(Default::default());
        }
        // One character more, to see whether the outermost word is whole.
        let is_enough = |pieces: &Pieces| pieces.is_longer_than(characters);
        let [(before, _), (mut after, _)] =
            self.text_around(stored, segment, rows, sides, (is_enough, is_enough))?;
        let before = last_words(&before, characters).to_owned();
        after.truncate(first_words(&after, characters).len());
        let side = |text| Side {
            text,
            is_cut: false,
        };
        Ok((side(before), side(after)))
    }

    /// The text before and after a cut text, until there `is_enough`: first `sides`, which the passage has
    /// there, from the text on, then the neighbouring chunks of the document; and whether that is all there is on that side.
    fn text_around(
        &mut self,
        stored: &Stored,
        segment: usize,
        rows: &Range<u32>,
        sides: [[&str; 2]; 2],
        is_enough: (impl Fn(&Pieces) -> bool, impl Fn(&Pieces) -> bool),
    ) -> Result<[(String, bool); 2]> {
        let (mut row, mut end) = self.neighbouring_rows(stored, segment, rows)?;
        let (mut before, mut after) = (Pieces::default(), Pieces::default());
        for (pieces, side) in [&mut before, &mut after].into_iter().zip(sides) {
            side.into_iter()
                .for_each(|piece| pieces.push(piece.to_owned()));
        }
        let (mut rest_before, mut rest_after) = stored.rests;
        while !row.is_empty() && !is_enough.0(&before) {
            row.end -= 1;
            before.push(self.text_before_rest(segment, row.end, &mut rest_before)?);
        }
        while !end.is_empty() && !is_enough.1(&after) {
            after.push(self.text_after_rest(segment, end.start, &mut rest_after)?);
            end.start += 1;
        }
        Ok([
            (before.before(), row.is_empty()),
            (after.after(), end.is_empty()),
        ])
    }

    /// The text of a row before a passage, without the `rest` bytes at its end that the passage has.
    fn text_before_rest(&mut self, segment: usize, row: u32, rest: &mut usize) -> Result<String> {
        let mut text = self.text(segment, row..row + 1)?;
        let taken = text.len().min(*rest);
        *rest -= taken;
        text.truncate(text.floor_char_boundary(text.len() - taken));
        Ok(text)
    }

    /// The text of a row after a passage, without the `rest` bytes at its start that the passage has.
    fn text_after_rest(&mut self, segment: usize, row: u32, rest: &mut usize) -> Result<String> {
        let mut text = self.text(segment, row..row + 1)?;
        let taken = text.len().min(*rest);
        *rest -= taken;
        text.drain(..text.ceil_char_boundary(taken));
        Ok(text)
    }

    /// The rows of the document before and after a passage.
    fn neighbouring_rows(
        &mut self,
        stored: &Stored,
        segment: usize,
        rows: &Range<u32>,
    ) -> Result<(Range<u32>, Range<u32>)> {
        let file = self.sources.file_of(segment);
        let document = self.cache.records.get(file, stored.document)?;
        let end_row = document.first_row.saturating_add(document.rows);
        Ok((document.first_row..rows.start, rows.end..end_row))
    }
}
