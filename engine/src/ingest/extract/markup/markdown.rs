//! Markdown: the source is the text; the outline is its headings, the metadata its front matter.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::ingest::extract::extracted::{Extracted, LineCounter, MAX_TITLE_CHARS};
use crate::ingest::extract::markup::front_matter::front_matter;

pub(in crate::ingest::extract) fn extract(source: &str) -> Extracted {
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
