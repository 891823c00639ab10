//! AsciiDoc: the source is the text; the outline is its section titles, the metadata the header of the document.
//!
//! Both forms of a title are read, `== Title` and a line of marks under it, outside of delimited blocks. Includes
//! and conditions are lines like any other: only the file itself is read.

use std::collections::HashMap;

use crate::extracted::{Extracted, MAX_METADATA_CHARS, MAX_TITLE_CHARS};

/// Attributes that titles may refer to.
const MAX_ATTRIBUTES: usize = 1000;
/// Marks of one title that are looked at.
const MAX_MARKS: usize = 100;
/// Characters of a line of authors; a longer one is a paragraph.
const MAX_AUTHOR_CHARS: usize = 200;

/// A line with its place in the source.
#[derive(Clone, Copy)]
struct Line<'a> {
    text: &'a str,
    start: usize,
    number: u32,
}

/// Where the header of the document is read: title, authors, revision, each on its line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Header {
    Title,
    Authors,
    Revision,
    Attributes,
    Over,
}

/// Time and memory are linear in the length of `source`.
pub(crate) fn extract(source: &str) -> Extracted {
    let lines = lines(source);
    let mut delimiters = Delimiters::new(&lines);
    let mut document = Document {
        extracted: Extracted::default(),
        attributes: HashMap::new(),
        header: Header::Title,
    };
    // The title may use what the lines below it set.
    let untitled = |line: &&Line<'_>| one_line_title(line.text).is_none();
    let titled = lines.iter().skip_while(untitled);
    for line in titled.take_while(|line| !line.text.is_empty()) {
        document.attributes.extend(attribute(line.text));
    }
    let mut above = "";
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let next = lines.get(at + 1).map_or("", |next| next.text);
        if let Some((level, title)) = one_line_title(line.text) {
            document.add_title(level, title, line);
        } else if let Some(level) = underlined_title(above, line.text, next) {
            document.add_title(level, line.text, line);
            // The marks begin no block.
            at += 1;
        } else if let Some(end) = delimiters.end_of_block(at, line.text) {
            document.end_header();
            at = end;
        } else {
            document.add_line(line.text);
        }
        above = lines.get(at).map_or("", |line| line.text);
        at += 1;
    }
    document.extracted
}

fn lines<'a>(source: &'a str) -> Vec<Line<'a>> {
    let mut start = 0;
    let numbered = source.split_inclusive('\n').zip(1u32..);
    let line = |(text, number): (&'a str, u32)| {
        let line = Line {
            text: text.trim_end(),
            start,
            number,
        };
        start += text.len();
        line
    };
    numbered.map(line).collect()
}

struct Document<'a> {
    extracted: Extracted,
    attributes: HashMap<&'a str, &'a str>,
    header: Header,
}

impl<'a> Document<'a> {
    fn add_title(&mut self, level: usize, title: &str, line: &Line<'_>) {
        let title = self.plain(title);
        if self.header == Header::Title && level == 1 {
            self.extracted.title = Some(title.clone());
            self.header = Header::Authors;
        } else {
            self.header = Header::Over;
        }
        self.extracted
            .add_heading(level, &title, line.start, line.number);
    }

    fn end_header(&mut self) {
        // A comment or a block of them may stand before the title.
        if self.header != Header::Title {
            self.header = Header::Over;
        }
    }

    /// A line that is neither a title nor in a block.
    fn add_line(&mut self, line: &'a str) {
        if let Some((name, value)) = attribute(line) {
            self.add_attribute(name, value);
            return;
        }
        if line.starts_with("//") {
            return;
        }
        self.header = match self.header {
            Header::Title if line.is_empty() => Header::Title,
            Header::Authors if is_authors(line) => {
                let names = line.split(';').map(|author| {
                    let name = author.split('<').next().unwrap_or_default();
                    name.trim().replace('_', " ")
                });
                let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
                self.extracted.add_metadata("author", &names.join(", "));
                Header::Revision
            }
            Header::Revision if !line.is_empty() => {
                self.add_revision(line);
                Header::Attributes
            }
            _ => Header::Over,
        };
    }

    /// `v1.2, 2024-05-06: what changed`, or its date alone.
    fn add_revision(&mut self, line: &str) {
        let before_remark = line.split(": ").next().unwrap_or_default();
        let is_version = |word: &str| {
            let number = word.strip_prefix('v').unwrap_or(word);
            number.starts_with(|c: char| c.is_ascii_digit()) && !number.contains('-')
        };
        let date = match before_remark.split_once(',') {
            Some((version, date)) if is_version(version) => date,
            _ if before_remark.starts_with('v') && is_version(before_remark) => "",
            _ => before_remark,
        };
        if date.contains(|c: char| c.is_ascii_digit()) {
            self.extracted.add_metadata("date", date);
        }
    }

    fn add_attribute(&mut self, name: &'a str, value: &'a str) {
        let key = match name {
            "author" | "authors" => "author",
            "revdate" | "date" => "date",
            "description" => "description",
            "keywords" => "keywords",
            "lang" => "language",
            _ => "",
        };
        if !key.is_empty() && self.header != Header::Over {
            self.extracted.add_metadata(key, value);
        }
        if self.attributes.len() < MAX_ATTRIBUTES {
            self.attributes.insert(name, value);
        }
    }

    /// A title as it is read: without marks, anchors and the targets of links, with the values of attributes.
    fn plain(&self, title: &str) -> String {
        let end = title
            .char_indices()
            .nth(MAX_TITLE_CHARS * 4)
            .map_or(title.len(), |(at, _)| at);
        let mut rest = title.get(..end).unwrap_or(title);
        let mut words = String::new();
        for _ in 0..MAX_MARKS {
            let Some(at) = rest.find(['[', '{', '<', '`', '*', '_', ':']) else {
                break;
            };
            let (before, from) = rest.split_at(at);
            words.push_str(before);
            let used = match from.as_bytes().first() {
                Some(b'[') if from.starts_with("[[") => from.find("]]").map(|end| end + 2),
                Some(b'{') => self.push_attribute(&mut words, from),
                Some(b'<') if from.starts_with("<<") => push_reference(&mut words, from),
                Some(b'`') => Some(1),
                Some(b':') => push_link(&mut words, from),
                Some(b'*' | b'_') if is_mark(before, from) => Some(1),
                _ => None,
            };
            let used = used.unwrap_or_else(|| {
                words.push_str(from.get(..1).unwrap_or_default());
                1
            });
            rest = from.get(used..).unwrap_or_default();
        }
        words.push_str(rest);
        words
    }

    /// The value of `{name}`, if it is known.
    fn push_attribute(&self, words: &mut String, from: &str) -> Option<usize> {
        let end = from.find('}')?;
        let value = self.attributes.get(from.get(1..end)?)?;
        let value: String = value.chars().take(MAX_METADATA_CHARS).collect();
        words.push_str(&value);
        Some(end + 1)
    }
}

/// `<<target,words>>`.
fn push_reference(words: &mut String, from: &str) -> Option<usize> {
    let end = from.find(">>")?;
    let inside = from.get(2..end)?;
    let (_, text) = inside.split_once(',').unwrap_or(("", inside));
    words.push_str(text.trim());
    Some(end + 2)
}

/// `link:target[words]` and its like; the name of the macro is at the end of `words` already.
fn push_link(words: &mut String, from: &str) -> Option<usize> {
    let name = ["link", "xref", "https", "http"]
        .into_iter()
        .find(|name| words.ends_with(name))?;
    let open = from.find('[')?;
    let target = from.get(1..open)?;
    let end = from.find(']').filter(|end| *end > open)?;
    if target.contains(char::is_whitespace) {
        return None;
    }
    words.truncate(words.len() - name.len());
    words.push_str(from.get(open + 1..end)?);
    Some(end + 1)
}

/// Whether a `*` or `_` marks words: it stands at the edge of one.
fn is_mark(before: &str, from: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric();
    let inside_before = before.chars().next_back().is_some_and(is_word);
    let inside_after = from.chars().nth(1).is_some_and(is_word);
    inside_before != inside_after
}

/// `== Title` and, as in Markdown, `## Title`.
fn one_line_title(line: &str) -> Option<(usize, &str)> {
    let mark = line
        .chars()
        .next()
        .filter(|mark| matches!(mark, '=' | '#'))?;
    let rest = line.trim_start_matches(mark);
    let level = line.len() - rest.len();
    let title = rest.strip_prefix([' ', '\t'])?.trim();
    // The same marks may close the title.
    let closing = rest.len() - rest.trim_end_matches(mark).len();
    let title = match closing == level {
        true => title.trim_end_matches(mark).trim_end(),
        false => title,
    };
    (level <= 6 && !title.is_empty()).then_some((level, title))
}

/// The level of a title with marks of about its length below it: `=`, `-`, `~`, `^`, `+`.
fn underlined_title(above: &str, line: &str, next: &str) -> Option<usize> {
    let mark = next.chars().next()?;
    let level = "=-~^+".find(mark)? + 1;
    let is_underline = next.len() >= 2 && next.chars().all(|c| c == mark);
    let stands_alone = above.is_empty()
        || above.starts_with("//")
        || above.starts_with('[')
        || attribute(above).is_some();
    if !is_underline || !stands_alone || line.starts_with(['.', ' ', '\t', '[']) {
        return None;
    }
    let is_title = line.contains(char::is_alphanumeric);
    let chars = line.chars().count();
    (is_title && chars.abs_diff(next.len()) <= 1).then_some(level)
}

/// `:name: value`, `:name:`, and `:!name:`, which takes a value away.
fn attribute(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix(':')?.split_once(':')?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '!');
    let is_apart = value.is_empty() || value.starts_with([' ', '\t']);
    (is_apart && !name.is_empty() && name.chars().all(is_name)).then_some((name, value.trim()))
}

/// Whether a line under the title names authors: up to three names each, perhaps an address, `;` between them.
fn is_authors(line: &str) -> bool {
    let is_author = |author: &str| {
        let (name, address) = author.split_once('<').unwrap_or((author, ""));
        let words = name.split_whitespace().count();
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '.' | '-' | '_' | '\'');
        let is_closed = address.is_empty() || address.trim_end().ends_with('>');
        (1..=3).contains(&words) && name.chars().all(is_name) && is_closed
    };
    line.starts_with(char::is_alphabetic)
        && line.chars().count() <= MAX_AUTHOR_CHARS
        && line.split(';').all(|author| is_author(author.trim()))
}

/// The lines that begin and end blocks, by their text.
struct Delimiters<'a> {
    /// Ascending.
    places: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Delimiters<'a> {
    fn new(lines: &[Line<'a>]) -> Delimiters<'a> {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, line) in lines.iter().enumerate() {
            if is_delimiter(line.text) {
                places.entry(closing(line.text)).or_default().push(at);
            }
        }
        Delimiters { places }
    }

    /// The line that ends the block which `line`, at that place, begins. A block without an end is none.
    fn end_of_block(&mut self, at: usize, line: &str) -> Option<usize> {
        if !is_delimiter(line) {
            return None;
        }
        let places = self.places.get(closing(line))?;
        places
            .get(places.partition_point(|place| *place <= at))
            .copied()
    }
}

/// What ends a block that begins with this line: a fence may name a language.
fn closing(line: &str) -> &str {
    if line.starts_with("```") { "```" } else { line }
}

/// Whether a line begins or ends a delimited block: listing, literal, example, sidebar, quote, passthrough,
/// comment, open block, fence, table.
fn is_delimiter(line: &str) -> bool {
    if line.starts_with("```") {
        return !line.trim_start_matches('`').contains('`');
    }
    if line == "--" {
        return true;
    }
    let mut bytes = line.bytes();
    match bytes.next() {
        Some(mark @ (b'-' | b'.' | b'=' | b'*' | b'_' | b'+' | b'/')) => {
            line.len() >= 4 && bytes.all(|byte| byte == mark)
        }
        Some(b'|' | b',' | b':' | b'!') => line.len() >= 4 && bytes.all(|byte| byte == b'='),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(extracted: &Extracted) -> Vec<(u8, &str, u32)> {
        let headings = extracted.outline.iter();
        headings
            .map(|heading| (heading.level, heading.title.as_str(), heading.line))
            .collect()
    }

    #[test]
    fn the_header_states_title_authors_date_and_attributes() {
        let source = "// a comment\n:product: Tide Gauge\n= The {product} {kind}\n\
            Ada Q. Writer <ada@example.org>; B_C Person\nv1.2, 2024-05-06: first words\n\
            :description: How to read tides\n:keywords: sea, gauge\n:kind: Manual\n\nWords.\n";
        let found = extract(source);
        assert_eq!(found.title.as_deref(), Some("The Tide Gauge Manual"));
        let metadata: Vec<(&str, &str)> = found
            .metadata
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        assert_eq!(
            metadata,
            [
                ("author", "Ada Q. Writer, B C Person"),
                ("date", "2024-05-06"),
                ("description", "How to read tides"),
                ("keywords", "sea, gauge"),
            ]
        );
        assert_eq!(outline(&found), [(1, "The Tide Gauge Manual", 3)]);
        assert!(found.text.is_none());
    }

    #[test]
    fn a_paragraph_under_the_title_names_no_authors() {
        let found = extract("= Title\nThis is a paragraph of words, not a name.\n");
        assert_eq!(found.metadata, []);
        let found = extract("= Title\n\nAda Writer\n");
        assert_eq!(found.metadata, []);
    }

    #[test]
    fn titles_of_both_forms_make_the_outline() {
        let source = "Git Log(1)\n==========\n\nNAME\n----\ngit-log - show it\n\n\
            == One-line ==\n\n[[opt]]\n=== An `--option`, *bold* and snake_case\n\n\
            ==== link:a.html[Linked] [[id]]and <<x,reference>>\n\n## Fenced kin\n\n\
            Detail\n~~~~~~\n\ntext above\nNot alone\n---------\n";
        assert_eq!(
            outline(&extract(source)),
            [
                (1, "Git Log(1)", 1),
                (2, "NAME", 4),
                (2, "One-line", 8),
                (3, "An --option, bold and snake_case", 11),
                (4, "Linked and reference", 13),
                (2, "Fenced kin", 15),
                (3, "Detail", 17),
            ]
        );
    }

    #[test]
    fn blocks_hold_no_titles_and_an_open_one_hides_none() {
        let source = "= T\n\n----\n== in a listing\n----\n\n====\n== in an example\n====\n\n\
            |===\n|== cell\n|===\n\n```ruby\n# comment\n```\n\n////\n== commented\n////\n\n\
            == Seen\n\n----\n\n== After a block without an end\n";
        let titles: Vec<&str> = vec!["T", "Seen", "After a block without an end"];
        let found = extract(source);
        let names: Vec<&str> = found.outline.iter().map(|one| one.title.as_str()).collect();
        assert_eq!(names, titles);
    }

    #[test]
    fn long_and_nested_markup_takes_linear_time() {
        for piece in [
            "----\n", "{a}", "<<", "[[", "link:[", "== x\n", "a\n--\n", "`*_",
        ] {
            extract(&format!("= T\n\n== {}", piece.repeat(60_000)));
            extract(&piece.repeat(60_000));
        }
    }
}
