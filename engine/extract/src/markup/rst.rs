//! reStructuredText: the source is the text; section titles are lines with an adornment.

use crate::extracted::Extracted;

/// Lines at the top in which `:Author:` and its like are read.
// Docutils reads fields only at the top of a document, before any other text.
const FIELD_LINES: usize = 40;

/// A line with its place in the source.
#[derive(Clone, Copy)]
struct Line<'a> {
    text: &'a str,
    start: usize,
    number: u32,
}

pub(crate) fn extract(source: &str) -> Extracted {
    let mut extracted = Extracted::default();
    // Adornments in order of first appearance: their rank is the level of the section.
    let mut styles: Vec<(u8, bool)> = Vec::new();
    let mut start = 0;
    // The three lines before the current one; a title is recognised at its underline.
    let blank = Line {
        text: "",
        start: 0,
        number: 0,
    };
    let mut window = [blank; 3];
    let mut consumed = 0u32;
    for (index, text) in source.split_inclusive('\n').enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let line = Line {
            text: text.trim_end(),
            start,
            number,
        };
        start += text.len();
        let [before, above, title] = window;
        window = [above, title, line];
        if index < FIELD_LINES {
            read_field(line.text, &mut extracted);
        }
        let Some(mark) = adornment(line.text) else {
            continue;
        };
        let is_title = !title.text.is_empty()
            && title.number > consumed
            && adornment(title.text).is_none()
            && fits(title.text.trim(), line.text);
        if !is_title {
            continue;
        }
        let is_overlined = above.number > consumed
            && adornment(above.text) == Some(mark)
            && above.text.len() == line.text.len()
            && (before.text.is_empty() || before.number <= consumed);
        let stands_alone = above.text.is_empty() || above.number <= consumed;
        if !is_overlined && (!stands_alone || title.text.starts_with([' ', '\t'])) {
            continue;
        }
        let style = (mark, is_overlined);
        let rank = styles.iter().position(|&known| known == style);
        let rank = rank.unwrap_or_else(|| {
            // Documents with more styles than levels exist only as attacks or accidents.
            if styles.len() < 16 {
                styles.push(style);
            }
            styles.len() - 1
        });
        let first = if is_overlined { above } else { title };
        extracted.add_heading(rank + 1, &plain(title.text), first.start, first.number);
        consumed = number;
    }
    extracted.title = extracted
        .outline
        .first()
        .map(|heading| heading.title.clone());
    extracted
}

/// The mark of a line that consists of one repeated mark, two at least.
fn adornment(line: &str) -> Option<u8> {
    let bytes = line.as_bytes();
    let first = *bytes.first()?;
    let is_adornment =
        bytes.len() >= 2 && first.is_ascii_punctuation() && bytes.iter().all(|&byte| byte == first);
    is_adornment.then_some(first)
}

/// An underline is as long as its title; a shorter one counts from four marks on. Wide characters
/// need two marks each, so only characters are counted.
fn fits(title: &str, underline: &str) -> bool {
    underline.len() >= 4 || underline.len() >= title.chars().count()
}

/// `:Author: Name` at the top.
fn read_field(line: &str, extracted: &mut Extracted) {
    let Some((key, value)) = line
        .strip_prefix(':')
        .and_then(|rest| rest.split_once(": "))
    else {
        return;
    };
    match key.to_ascii_lowercase().as_str() {
        "author" | "authors" => extracted.add_metadata("author", value),
        "date" => extracted.add_metadata("date", value),
        "summary" | "description" | "abstract" => extracted.add_metadata("description", value),
        _ => {}
    }
}

/// A title without inline markup: ``:ref:`words``` and ```words``` become words.
fn plain(title: &str) -> String {
    if !title.contains('`') {
        return title.to_owned();
    }
    let mut words = String::with_capacity(title.len());
    for (index, piece) in title.split('`').enumerate() {
        let role = piece
            .rfind(':')
            .filter(|_| index % 2 == 0 && piece.ends_with(':'));
        let opening = role
            .and_then(|end| piece.get(..end))
            .and_then(|rest| rest.rfind(':'));
        words.push_str(opening.and_then(|at| piece.get(..at)).unwrap_or(piece));
    }
    words
}
