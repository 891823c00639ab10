//! Markdown: the source is the text; the outline is its headings, the metadata its front matter.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::ingest::extract::extracted::{Extracted, LineCounter, MAX_TITLE_CHARS};

/// Lines of front matter that are read.
const MAX_FRONT_MATTER_LINES: usize = 200;

pub(super) fn extract(source: &str) -> Extracted {
    let mut extracted = Extracted::default();
    let body_start = front_matter(source, &mut extracted);
    let body = source.get(body_start..).unwrap_or_default();
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_HEADING_ATTRIBUTES;
    let mut lines = LineCounter::new(source);
    let mut heading: Option<(usize, usize, String)> = None;
    for (event, range) in Parser::new_ext(body, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                heading = Some((level as usize, body_start + range.start, String::new()));
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some((level, start, title)) = heading.take() {
                    extracted.add_heading(level, &title, start, lines.line_of(start));
                }
            }
            Event::Text(words) | Event::Code(words) => add_words(&mut heading, &words),
            Event::SoftBreak | Event::HardBreak => add_words(&mut heading, " "),
            _ => {}
        }
    }
    extracted
}

fn add_words(heading: &mut Option<(usize, usize, String)>, words: &str) {
    if let Some((_, _, title)) = heading
        && title.len() <= MAX_TITLE_CHARS * 4
    {
        title.push_str(words);
    }
}

/// Reads `---` (YAML) or `+++` (TOML) front matter into `extracted`; returns where the body starts.
/// Only plain `key: value` and `key = value` lines are understood: that covers what people write
/// about title, author and date.
fn front_matter(source: &str, extracted: &mut Extracted) -> usize {
    let mut lines = source.split_inclusive('\n');
    let (mark, separator) = match lines.next().map(str::trim_end) {
        Some("---") => ("---", ':'),
        Some("+++") => ("+++", '='),
        _ => return 0,
    };
    let mut at = source.find('\n').map_or(source.len(), |end| end + 1);
    let mut pairs = Vec::new();
    for line in lines.take(MAX_FRONT_MATTER_LINES) {
        at += line.len();
        let trimmed = line.trim_end();
        if trimmed == mark || (mark == "---" && trimmed == "...") {
            for (key, value) in pairs {
                add_pair(extracted, key, value);
            }
            return at;
        }
        if !line.starts_with([' ', '\t', '#', '-'])
            && let Some((key, value)) = trimmed.split_once(separator)
        {
            pairs.push((key.trim(), value.trim()));
        }
    }
    0
}

fn add_pair(extracted: &mut Extracted, key: &str, value: &str) {
    let quoted = |mark| {
        value
            .strip_prefix(mark)
            .and_then(|value| value.strip_suffix(mark))
    };
    let value = quoted('"').or_else(|| quoted('\'')).unwrap_or(value);
    let value = value.trim_matches(['[', ']']);
    match key.to_ascii_lowercase().as_str() {
        "title" => extracted.title = Some(value.to_owned()),
        "author" | "authors" => extracted.add_metadata("author", value),
        "date" => extracted.add_metadata("date", value),
        "description" | "summary" => extracted.add_metadata("description", value),
        "tags" | "keywords" | "categories" => extracted.add_metadata("tags", value),
        _ => {}
    }
}
