//! The lines of a page as paragraphs of the stored text.

use crate::pdf::line::Line;
use crate::pdf::words::Words;
use crate::text_builder::TextBuilder;

/// Where a line of a page lies in the stored text: what a bookmark can point to.
#[derive(Debug, Clone)]
pub(super) struct PlacedLine {
    /// First byte and line of the stored text.
    pub(super) start: usize,
    pub(super) line: u32,
    /// Letters and digits of its text, small.
    pub(super) key: String,
    /// Its upper edge from the top of the page as it is shown.
    pub(super) page_y: f64,
}

/// Letters and digits of a text, small: what a bookmark and its heading have in common.
pub(super) fn key_of(text: &str) -> String {
    let letters = text.chars().filter(|one| one.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Appends the paragraphs of a page; gives where its lines are.
pub(super) fn push_page(
    builder: &mut TextBuilder,
    words: &Words,
    lines: Vec<Line>,
) -> Vec<PlacedLine> {
    let lines = words.join(lines);
    let mut placed = Vec::with_capacity(lines.len());
    let mut paragraph: Vec<&Line> = Vec::new();
    for line in &lines {
        if line.begins_block {
            push_paragraph(builder, &paragraph, &mut placed);
            paragraph.clear();
        }
        paragraph.push(line);
    }
    push_paragraph(builder, &paragraph, &mut placed);
    placed
}

fn push_paragraph(builder: &mut TextBuilder, lines: &[&Line], placed: &mut Vec<PlacedLine>) {
    let mut text = String::new();
    let (start, first) = (builder.len(), builder.line());
    for (number, line) in (0..).zip(lines) {
        placed.push(PlacedLine {
            start: start + text.len(),
            line: first.saturating_add(number),
            key: key_of(&line.text),
            page_y: line.page_y,
        });
        text.push_str(&line.text);
        text.push('\n');
    }
    builder.paragraph(&text);
}
