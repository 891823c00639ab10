//! Front matter: what a Markdown document states of itself before its text, between two lines `---`
//! (YAML) or `+++` (TOML).
//!
//! Read are lines `key: value` and `key = value`, and lists in the forms that people write: `[a, "b c"]` on one line or
//! several, and one `- a` a line; of tags also `a, b`. A key in a mapping or table has its name before its own:
//! `meta.level`. Anything else is passed over, so no front matter is an error.

use crate::extracted::{Extracted, MAX_METADATA_CHARS};
use crate::tags;

/// Lines of front matter that are read.
// Front matter of static site generators has some ten lines. Without a bound a text that begins
// with `---` would be read to its end for the closing mark.
const MAX_LINES: usize = 200;

/// Bytes of a key; a longer one is a sentence.
const MAX_KEY_BYTES: usize = 64;

/// Keys without a meaning of their own that are kept: some metadata are left for what else is found.
const MAX_FIELDS: usize = 48;

/// One `key: value`, and the items of a list below it.
struct Pair<'s> {
    key: &'s str,
    /// The keys of the mappings around it, outermost first, or the name of its table; a point behind each.
    within: String,
    /// Columns before the key.
    indent: usize,
    value: &'s str,
    /// The lines of a list below the key.
    items: Vec<&'s str>,
}

/// Reads front matter into `extracted`; returns where the body starts, 0 where there is none.
pub(super) fn front_matter(source: &str, extracted: &mut Extracted) -> usize {
    let mut lines = source.split_inclusive('\n');
    let (mark, separator) = match lines.next().map(str::trim_end) {
        Some("---") => ("---", ':'),
        Some("+++") => ("+++", '='),
        _ => return 0,
    };
    let mut at = source.find('\n').map_or(source.len(), |end| end + 1);
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    let mut table = String::new();
    for line in lines.take(MAX_LINES) {
        at += line.len();
        let trimmed = line.trim_end();
        if trimmed == mark || (mark == "---" && trimmed == "...") {
            add_pairs(extracted, &pairs);
            return at;
        }
        if let Some(pair) = pairs.last_mut()
            && is_item(pair, line)
        {
            pair.items.push(line.trim());
        } else if mark == "+++"
            && let Some(name) = trimmed
                .strip_prefix('[')
                .and_then(|it| it.strip_suffix(']'))
        {
            table = format!("{}.", name.trim());
        } else if !line.starts_with(['\t', '#', '-'])
            && let Some((key, value)) = trimmed.split_once(separator)
        {
            let indent = line.len() - line.trim_start().len();
            let around = match indent {
                0 => Some(table.clone()),
                _ => mapping_around(&pairs, indent),
            };
            pairs.extend(around.map(|within| Pair {
                key: key.trim(),
                within,
                indent,
                value: value.trim(),
                items: Vec::new(),
            }));
        }
    }
    0
}

/// The keys around one with an indent, which stands below some pairs; `None` where it is text or in a list.
fn mapping_around(pairs: &[Pair<'_>], indent: usize) -> Option<String> {
    let holder = pairs.iter().rev().find(|pair| pair.indent < indent)?;
    let is_mapping = without_comment(holder.value).is_empty() && holder.items.is_empty();
    is_mapping.then(|| format!("{}{}.", holder.within, holder.key.trim_matches('"')))
}

/// Whether a line goes on with the list of the key above it.
fn is_item(pair: &Pair<'_>, line: &str) -> bool {
    let is_flow = pair.value.starts_with('[');
    let last = pair.items.last().unwrap_or(&pair.value);
    if is_flow {
        !without_comment(last).ends_with(']')
    } else {
        let item = line.trim_start();
        without_comment(pair.value).is_empty() && (item.starts_with("- ") || item.starts_with('#'))
    }
}

fn is_tags(key: &str) -> bool {
    ["tags", "tag", "keywords", "categories"].contains(&key.to_ascii_lowercase().as_str())
}

impl Pair<'_> {
    /// Its value, or the items of a list with commas between.
    fn text(&self) -> String {
        if !self.value.starts_with('[') && self.items.is_empty() {
            let is_quoted = self.value.starts_with(['"', '\'']);
            let value = if is_quoted {
                self.value
            } else {
                without_comment(self.value)
            };
            return unquoted(value).to_owned();
        }
        let lines = std::iter::once(self.value).chain(self.items.iter().copied());
        let items = lines.flat_map(items).filter(|item| !item.is_empty());
        items.collect::<Vec<_>>().join(", ")
    }

    /// Its key as the metadata have it, where its value is a text, a number or a list of these.
    fn field(&self) -> Option<String> {
        let key = format!("{}{}", self.within, self.key.trim_matches('"')).to_lowercase();
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
        let is_key = key.len() <= MAX_KEY_BYTES && key.chars().all(is_name);
        // A text over several lines, an object, a reference.
        let is_plain = !self.value.starts_with(['|', '>', '{', '&', '*', '!']);
        (is_key && is_plain).then_some(key)
    }
}

fn add_pairs(extracted: &mut Extracted, pairs: &[Pair<'_>]) {
    let mut list: Vec<&str> = Vec::new();
    let mut others = Vec::new();
    for pair in pairs {
        // Tables of TOML group the taxonomies of a site.
        if is_tags(pair.key) && pair.indent == 0 {
            let lines = std::iter::once(pair.value).chain(pair.items.iter().copied());
            list.extend(lines.flat_map(items));
            continue;
        }
        let value = pair.text();
        // So do they other fields that all sites have.
        let known = match pair.indent {
            0 => pair.key.to_ascii_lowercase(),
            _ => String::new(),
        };
        match known.as_str() {
            "title" => extracted.title = Some(value),
            "author" | "authors" => extracted.add_metadata("author", &value),
            "date" => extracted.add_metadata("date", &value),
            "description" | "summary" => extracted.add_metadata("description", &value),
            "alias" | "aliases" => extracted.add_metadata("aliases", &value),
            _ => others.extend(pair.field().map(|key| (key, value))),
        }
    }
    add_tags(extracted, &list);
    for (key, value) in others.iter().take(MAX_FIELDS) {
        extracted.add_metadata(key, value);
    }
}

/// Adds tags to those that were found: as many whole ones as the value of one key has room for.
pub(super) fn add_tags(extracted: &mut Extracted, tags: &[&str]) {
    let known = extracted
        .metadata
        .iter()
        .position(|(key, _)| key == tags::KEY);
    let before = known.and_then(|at| extracted.metadata.get(at));
    let before = before.map_or_else(String::new, |(_, value)| value.clone());
    let mut list: Vec<&str> = before.split(',').collect();
    list.extend(tags.iter().copied());
    let (mut value, mut chars) = (String::new(), 0);
    for tag in tags::of_list(list) {
        chars += tag.chars().count() + 2;
        if chars > MAX_METADATA_CHARS {
            break;
        }
        if !value.is_empty() {
            value.push_str(", ");
        }
        value.push_str(&tag);
    }
    match known.and_then(|at| extracted.metadata.get_mut(at)) {
        Some((_, known)) => *known = value,
        None => extracted.add_metadata(tags::KEY, &value),
    }
}

/// The items in one line of a list.
fn items(line: &str) -> impl Iterator<Item = &str> {
    let line = without_comment(line.strip_prefix("- ").unwrap_or(line));
    let line = line.trim_start_matches('[').trim_end_matches(']');
    line.split(',').map(|item| unquoted(item.trim()))
}

/// A value before its comment: `a  # said by hand`. A `#` that begins a word is part of it, as in `#a`.
fn without_comment(value: &str) -> &str {
    if value.starts_with("# ") {
        return "";
    }
    let end = value.find(" # ").unwrap_or(value.len());
    value.get(..end).unwrap_or(value).trim_end()
}

fn unquoted(value: &str) -> &str {
    let within = |mark| {
        let inner = value.strip_prefix(mark)?;
        inner.strip_suffix(mark)
    };
    within('"').or_else(|| within('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags_of(front: &str) -> Vec<String> {
        let mut extracted = Extracted::default();
        let source = format!("{front}\n\n# Body\n\ntags: none\n");
        assert!(front_matter(&source, &mut extracted) > 0, "{front}");
        tags::stated("markdown", &extracted.metadata)
    }

    #[test]
    fn tags_are_read_in_every_form_that_people_write() {
        for front in [
            "---\ntags: [Sea, \"Tide pools\", 'rope']\n---",
            "---\ntags: Sea, tide pools, rope\n---",
            "---\ntags:\n  - sea\n  - \"tide pools\"\n  - rope\ntitle: x\n---",
            "---\ntags:\n- sea\n- tide pools  # a comment\n# another\n- '#rope'\n---",
            "---\ntags: [sea,\n  tide pools,\n  rope]\nauthor: x\n---",
            "---\nTags: sea\nkeywords: [rope]\ncategories:\n  - Tide pools\n---",
            "+++\ntitle = \"x\"\ntags = [\"sea\", \"tide pools\", \"rope\"]\n+++",
            "+++\n[taxonomies]\ntags = [\n  \"sea\",\n  \"tide pools\",\n  \"rope\",\n]\n+++",
        ] {
            assert_eq!(tags_of(front), ["rope", "sea", "tide pools"], "{front}");
        }
    }

    #[test]
    fn what_is_no_list_of_tags_gives_none() {
        for front in [
            "---\ntags:\n---",
            "---\ntags: []\n---",
            "---\ntags: \"\"\nother:\n  - a\n---",
            "---\nother:\n  tags: a\n---",
            "---\ntitle: tags\n---",
        ] {
            assert_eq!(tags_of(front), [""; 0], "{front}");
        }
        // A key after a list is a key again.
        assert_eq!(tags_of("---\ntags:\n  - a\nother:\n  - b\n---"), ["a"]);
        let mut extracted = Extracted::default();
        assert_eq!(front_matter("---\ntags: a\n", &mut extracted), 0);
        assert_eq!(extracted.metadata, []);
    }

    #[test]
    fn any_field_is_kept_as_text() {
        let mut extracted = Extracted::default();
        let front = "---\ntitle: \"A: b\"\nStatus: draft  # for now\nrating: 4\ndraft: true\nauthors:\n  - Ann\n  \
            - 'Lee'\naliases: [First, \"Other name\"]\nup: \"[[Map]]\"\nrelated:\n- one # first\n- two\nempty:\n\
            long: |\n  lines of text\nobject: {a: b}\nnested:\n  inner: x\n  deep:\n    er: [1, 2]\n  last: z\n\
            people:\n  - name: Ann\n    role: cook\na/b: c\n---\n";
        assert!(front_matter(front, &mut extracted) > 0);
        assert_eq!(extracted.title.as_deref(), Some("A: b"));
        let found: Vec<(&str, &str)> = extracted
            .metadata
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        let expected = [
            ("author", "Ann, Lee"),
            ("aliases", "First, Other name"),
            ("status", "draft"),
            ("rating", "4"),
            ("draft", "true"),
            ("up", "[[Map]]"),
            ("related", "one, two"),
            ("nested.inner", "x"),
            ("nested.deep.er", "1, 2"),
            ("nested.last", "z"),
            ("people", "name: Ann"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn keys_of_a_table_have_its_name() {
        let mut extracted = Extracted::default();
        let front =
            "+++\ndraft = true\n[extra]\nLevel = 3\nauthor = \"Ann\"\n[[links]]\nto = \"x\"\n+++\n";
        assert!(front_matter(front, &mut extracted) > 0);
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let expected = [
            pair("author", "Ann"),
            pair("draft", "true"),
            pair("extra.level", "3"),
        ];
        assert_eq!(extracted.metadata, expected);
    }

    #[test]
    fn a_long_list_keeps_whole_tags() {
        let many: Vec<String> = (0..500).map(|n| format!("tag{n:03}")).collect();
        let tags = tags_of(&format!("---\ntags: [{}]\n---", many.join(", ")));
        assert!(
            tags.len() > 100 && tags.iter().all(|tag| tag.len() == 6),
            "{tags:?}"
        );
    }
}
