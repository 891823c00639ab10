//! Tags in the text of Markdown: `#word`, outside of headings, code, links and HTML.

use std::ops::Range;

use pulldown_cmark::{Event, Tag, TagEnd};

/// Tags of one document; further ones are not read.
const MAX_TAGS: usize = 1000;

/// Bytes of a tag; what is longer is none.
const MAX_TAG_BYTES: usize = 200;

/// Words behind `#` that are directives of programs, which texts about programs name.
const DIRECTIVES: [&str; 15] = [
    "include",
    "define",
    "undef",
    "if",
    "ifdef",
    "ifndef",
    "elif",
    "else",
    "endif",
    "pragma",
    "error",
    "warning",
    "line",
    "region",
    "endregion",
];

/// Finds tags, given the events of a parser.
pub(super) struct InlineTags<'s> {
    source: &'s str,
    /// Text that stands together in the source; the parser parts it at marks.
    run: Range<usize>,
    /// Headings, code and links that are open.
    closed: usize,
    found: Vec<&'s str>,
}

impl<'s> InlineTags<'s> {
    /// `source` is what the parser reads.
    pub(super) fn new(source: &'s str) -> InlineTags<'s> {
        InlineTags {
            source,
            run: 0..0,
            closed: 0,
            found: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, event: &Event<'_>, range: &Range<usize>) {
        match event {
            Event::Text(_) if self.closed == 0 && range.start == self.run.end => {
                self.run.end = range.end;
            }
            Event::Text(_) if self.closed == 0 => {
                self.end_run();
                self.run = range.clone();
            }
            Event::Start(tag) if is_closed(tag) => {
                self.end_run();
                self.closed += 1;
            }
            Event::End(tag) if is_closing(*tag) => self.closed = self.closed.saturating_sub(1),
            _ => {}
        }
    }

    /// The tags, without `#`.
    pub(super) fn finish(mut self) -> Vec<&'s str> {
        self.end_run();
        self.found
    }

    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        let text = self.source.get(run.clone()).unwrap_or_default();
        for (at, _) in text.match_indices('#') {
            let before = self.source.get(..run.start + at).unwrap_or_default();
            let begins = before
                .chars()
                .next_back()
                .is_none_or(|c| c.is_whitespace() || matches!(c, '(' | ',' | '>' | '|'));
            let tag = text.get(at + 1..).and_then(tag).filter(|_| begins);
            if self.found.len() < MAX_TAGS {
                self.found.extend(tag);
            }
        }
    }
}

/// The tag at the start of a text: letters, digits, `_`, `-` and `/` between names, with a letter or `_`.
fn tag(text: &str) -> Option<&str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let behind = text.get(end..).unwrap_or_default();
    let tag = text.get(..end)?.trim_end_matches(['/', '-']);
    let has_letter = tag.chars().any(|c| c.is_alphabetic() || c == '_');
    let is_colour =
        matches!(tag.len(), 3 | 4 | 6 | 8) && tag.bytes().all(|byte| byte.is_ascii_hexdigit());
    // `#a.b`, `#foo()`, `#[derive]` and `#id=1` are names of something else.
    let goes_on = behind.starts_with(['(', '[', '{', '=', '<', '#', '@'])
        || behind.starts_with(['.', ':'])
            && behind.chars().nth(1).is_some_and(char::is_alphanumeric);
    let begins = tag.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let is_tag = has_letter && begins && !is_colour && !goes_on && tag.len() <= MAX_TAG_BYTES;
    (is_tag && !DIRECTIVES.contains(&tag)).then_some(tag)
}

fn is_closed(tag: &Tag<'_>) -> bool {
    is_closing(tag.to_end())
}

fn is_closing(tag: TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::Heading(_) | TagEnd::CodeBlock | TagEnd::Link | TagEnd::Image | TagEnd::HtmlBlock
    )
}

#[cfg(test)]
mod tests {
    use crate::markup::markdown;
    use crate::tags;

    fn tags_of(source: &str) -> Vec<String> {
        tags::stated("markdown", &markdown::extract(source).metadata)
    }

    #[test]
    fn words_with_a_hash_are_tags() {
        for (source, expected) in [
            (
                "About #sea and #Deep_Water, #2024-plan.",
                &["2024-plan", "deep_water", "sea"][..],
            ),
            (
                "#first\n\n- #project/alpha/\n- (#beta)",
                &["beta", "first", "project/alpha"],
            ),
            ("*#bold* and #\u{e9}t\u{e9}!", &["\u{e9}t\u{e9}"]),
            (
                "---\ntags: [own, sea]\n---\nOn #sea and #new",
                &["new", "own", "sea"],
            ),
            ("| a | b |\n|---|---|\n| #cell | x |", &["cell"]),
        ] {
            assert_eq!(tags_of(source), expected, "{source}");
        }
    }

    #[test]
    fn code_headings_colours_and_numbers_have_no_tags() {
        for source in [
            "# A #heading here\n\nText\n=\n",
            "`#code` and ``a #b``",
            "```\n#fenced\n```\n\n    #indented\n",
            "Colours #fff, #A1B2C3 and #00ff00aa; issue #123, (#45), a#b",
            "[#label](x.md#part) and ![#image](a.png) <a href=\"#x\">",
            "\\#escaped, ## no, #, #-, #!bang, http://a/#frag",
            "#include <x>, #define, #a.b, #call(), #[derive(Debug)], #id=1",
        ] {
            assert_eq!(tags_of(source), [""; 0], "{source}");
        }
    }
}
