//! Markdown: the source is the text; the outline is its headings, the metadata its front matter, with the tags in
//! its text.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::extracted::{Extracted, LineCounter, MAX_TITLE_CHARS};
use crate::markup::front_matter::{add_tags, front_matter};
use crate::markup::inline_tags::InlineTags;

/// Quotes and lists inside each other at the start of a line. The parser looks at all that are open for each line that
/// follows, so that its time would grow with the product of the two; people write five or six.
const MAX_CONTAINERS: usize = 100;

pub(crate) fn extract(source: &str) -> Extracted {
    let mut extracted = Extracted::default();
    let body_start = front_matter(source, &mut extracted);
    let body = source.get(body_start..).unwrap_or_default();
    if body.lines().any(|line| containers(line) > MAX_CONTAINERS) {
        // A text without headings.
        return extracted;
    }
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_HEADING_ATTRIBUTES;
    let mut lines = LineCounter::new(source);
    let mut heading: Option<(usize, usize, String)> = None;
    let mut inline = InlineTags::new(body);
    for (event, range) in Parser::new_ext(body, options).into_offset_iter() {
        inline.add(&event, &range);
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
    add_tags(&mut extracted, &inline.finish());
    extracted
}

/// How many quotes and lists a line begins.
fn containers(line: &str) -> usize {
    let is_space = |c: char| matches!(c, ' ' | '\t');
    let mut rest = line.trim_start_matches(is_space);
    let mut count = 0;
    loop {
        let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let ordered = number
            .strip_prefix(['.', ')'])
            .filter(|_| number.len() < rest.len());
        let behind = match rest.strip_prefix('>') {
            Some(behind) => behind,
            None => match rest.strip_prefix(['-', '*', '+']).or(ordered) {
                Some(behind) if behind.starts_with(is_space) => behind,
                _ => return count,
            },
        };
        count += 1;
        rest = behind.trim_start_matches(is_space);
    }
}

fn add_words(heading: &mut Option<(usize, usize, String)>, words: &str) {
    if let Some((_, _, title)) = heading
        && title.len() <= MAX_TITLE_CHARS * 4
    {
        title.push_str(words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_lists_at_the_start_of_a_line_are_counted() {
        for (line, count) in [
            ("", 0),
            ("a > b", 0),
            ("> a", 1),
            (">> - 1. a", 4),
            ("  - > * b", 3),
            ("-a", 0),
            ("12) 3. x", 2),
            ("2024", 0),
        ] {
            assert_eq!(containers(line), count, "{line:?}");
        }
    }

    #[test]
    fn a_text_of_very_many_open_quotes_is_one_without_headings() {
        let headings = |depth: usize| {
            let source = format!("{}\n\n# A heading\n", "> ".repeat(depth));
            extract(&source).outline.len()
        };
        assert_eq!(
            (headings(MAX_CONTAINERS), headings(MAX_CONTAINERS + 1)),
            (1, 0)
        );
    }
}
