//! The text of a page, tag by tag.

use crate::extracted::{Extracted, LineCounter, MAX_TITLE_CHARS};
use crate::markup::html::character_references::decode_into;
use crate::markup::html::hidden::{HiddenElement, Meets, OpenContainers, hides, is_void};
use crate::markup::html::tag::{Tag, declaration_len, raw_text_len};

/// How a run of text begins in which `<` and `&` are letters.
pub(in crate::markup) const CDATA: &str = "<![CDATA[";
const SOFT_HYPHEN: char = '\u{ad}';
/// Steps of indentation shown for nested lists.
// Deeper lists would be mostly white space.
const DEEPEST_LIST: usize = 6;

/// Whether a text without a name that says so is a page of HTML.
pub(crate) fn is_page(source: &str) -> bool {
    let start = source.trim_start();
    ["<!doctype html", "<html"].into_iter().any(|mark| {
        let head = start.get(..mark.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(mark))
    })
}

/// Reads a page of HTML, or of XHTML where it begins like XML. Time and memory are linear in the length of
/// `source`.
pub(crate) fn extract(source: &str) -> Extracted {
    match source.trim_start().starts_with("<?xml") {
        true => extract_xhtml(source),
        false => read(Page::new(source), source),
    }
}

/// Reads a page of XHTML, in which an element may end where it begins: `<title/>`, `<script src="a.js"/>`.
pub(crate) fn extract_xhtml(source: &str) -> Extracted {
    let mut page = Page::new(source);
    page.is_xhtml = true;
    read(page, source)
}

fn read(mut page: Page<'_>, source: &str) -> Extracted {
    let mut at = 0;
    while let Some(rest) = source.get(at..) {
        let open = rest.find('<').unwrap_or(rest.len());
        page.add_text(rest.get(..open).unwrap_or_default(), at);
        at += open;
        let Some(rest) = source.get(at..).filter(|rest| !rest.is_empty()) else {
            break;
        };
        let second = rest.as_bytes().get(1).copied().unwrap_or(b' ');
        at += match second {
            b'!' if page.is_xhtml && rest.starts_with(CDATA) => page.add_cdata(rest, at),
            b'!' | b'?' => declaration_len(rest),
            b'/' | b'a'..=b'z' | b'A'..=b'Z' => match Tag::scan(rest) {
                Some(tag) => page.add_tag(&tag, rest, at),
                // The end of the file inside a tag: browsers drop it.
                None => rest.len(),
            },
            _ => {
                page.add_text("<", at);
                1
            }
        };
    }
    page.finish()
}

/// What comes between the text so far and the next word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
    Paragraph,
}

/// Where text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Body,
    Title,
    /// Inside so many nested elements of this name whose content is not read.
    Hidden(&'static str, u32),
}

struct OpenHeading {
    level: usize,
    /// Byte of the output and line of the source of its first word.
    start: Option<(usize, u32)>,
}

pub(in crate::markup) struct Page<'a> {
    is_xhtml: bool,
    lines: LineCounter<'a>,
    out: String,
    line_numbers: Vec<u32>,
    gap: Gap,
    place: Place,
    /// The element that is not shown, of which the next text is part.
    hidden: Option<HiddenElement>,
    containers: OpenContainers,
    title: String,
    heading: Option<OpenHeading>,
    preformatted: u32,
    lists: usize,
    /// Cells of the open table row so far.
    cells: u32,
    /// Whether the open cell has no word yet: blocks in it then start no line.
    cell_is_empty: bool,
    extracted: Extracted,
    /// Decoded text of the current run, kept to save allocations.
    scratch: String,
}

impl<'a> Page<'a> {
    pub(in crate::markup) fn new(source: &'a str) -> Page<'a> {
        Page {
            is_xhtml: false,
            lines: LineCounter::new(source),
            out: String::with_capacity(source.len() / 2),
            line_numbers: vec![1],
            gap: Gap::None,
            place: Place::Body,
            hidden: None,
            containers: OpenContainers::default(),
            title: String::new(),
            heading: None,
            preformatted: 0,
            lists: 0,
            cells: 0,
            cell_is_empty: false,
            extracted: Extracted::default(),
            scratch: String::new(),
        }
    }

    /// Takes one tag that starts at `at`; returns how many bytes of `rest` it used, the content of
    /// raw-text elements included.
    fn add_tag(&mut self, tag: &Tag<'_>, rest: &str, at: usize) -> usize {
        let name = tag.name.as_str();
        if let Some(hidden) = &mut self.hidden {
            if self.is_xhtml && tag.is_empty() {
                return tag.len;
            }
            let meets = hidden.take(tag, &mut self.containers);
            if meets != Meets::Within {
                self.hidden = None;
                // As around an element that is shown.
                self.widen(gap_around(&tag.name));
            }
            match meets {
                Meets::Within if !tag.is_end && is_raw_text(name) => {
                    let body = rest.get(tag.len..).unwrap_or_default();
                    return tag.len + raw_text_len(body, name);
                }
                Meets::Within | Meets::End => return tag.len,
                Meets::Behind => {}
            }
        }
        if let Place::Hidden(hidden, depth) = self.place {
            if hidden == name {
                let depth = if tag.is_end {
                    depth - 1
                } else {
                    depth.saturating_add(1)
                };
                self.place = if depth == 0 {
                    Place::Body
                } else {
                    Place::Hidden(hidden, depth)
                };
            }
            return tag.len;
        }
        if self.place == Place::Title {
            // Only its own end closes a title; other tags in it are text.
            if tag.is_end && name == "title" {
                self.place = Place::Body;
            } else {
                self.add_text(rest.get(..tag.len).unwrap_or_default(), at);
            }
            return tag.len;
        }
        if tag.is_end {
            self.containers.close(name);
            self.close(name);
            return tag.len;
        }
        if hides(tag) && !is_raw_text(name) {
            self.widen(gap_around(name));
            let has_content = !self.is_xhtml || !tag.is_empty();
            if has_content && !is_void(name) {
                self.hidden = Some(HiddenElement::new(name));
            }
            return tag.len;
        }
        if self.is_xhtml && tag.is_empty() {
            self.add_empty(tag, at);
            return tag.len;
        }
        self.containers.open(name);
        match name {
            _ if is_raw_text(name) => {
                let body = rest.get(tag.len..).unwrap_or_default();
                return tag.len + raw_text_len(body, name);
            }
            "template" => self.place = Place::Hidden("template", 1),
            "svg" if !tag.is_empty() => self.place = Place::Hidden("svg", 1),
            "title" => self.place = Place::Title,
            "meta" => self.add_meta(tag),
            "img" | "area" => self.add_alternative(tag, at),
            _ => self.open(name, at),
        }
        tag.len
    }

    /// An element that ends where it begins.
    fn add_empty(&mut self, tag: &Tag<'_>, at: usize) {
        match tag.name.as_str() {
            name if is_raw_text(name) => {}
            "template" | "svg" | "title" => {}
            "meta" => self.add_meta(tag),
            "img" | "area" => self.add_alternative(tag, at),
            name => {
                self.open(name, at);
                self.close(name);
            }
        }
    }

    fn add_alternative(&mut self, tag: &Tag<'_>, at: usize) {
        if let Some(words) = tag.attribute("alt") {
            self.add_decoded(&words, at);
        }
    }

    /// Takes a run of text that `rest` begins with, in which `<` and `&` are letters; returns its length.
    pub(in crate::markup) fn add_cdata(&mut self, rest: &str, at: usize) -> usize {
        let body = rest.get(CDATA.len()..).unwrap_or_default();
        let len = body.find("]]>").unwrap_or(body.len());
        if self.is_shown() {
            self.add_decoded(body.get(..len).unwrap_or_default(), at + CDATA.len());
        }
        (CDATA.len() + len + 3).min(rest.len())
    }

    pub(in crate::markup) fn open(&mut self, name: &str, at: usize) {
        self.widen(gap_around(name));
        match name {
            "br" => {
                self.gap = self.gap.max(Gap::Line);
            }
            "pre" | "textarea" | "listing" | "xmp" => {
                self.preformatted = self.preformatted.saturating_add(1);
            }
            "ul" | "ol" | "menu" => self.lists = self.lists.saturating_add(1),
            "li" => {
                let depth = self.lists.saturating_sub(1).min(DEEPEST_LIST);
                self.write_gap(at);
                self.out.extend(std::iter::repeat_n("  ", depth));
                self.out.push_str("- ");
                self.cell_is_empty = true;
            }
            "tr" => {
                self.gap = self.gap.max(Gap::Line);
                self.cells = 0;
                self.cell_is_empty = false;
            }
            "td" | "th" => {
                if self.cells > 0 {
                    self.gap = Gap::None;
                    self.write_gap(at);
                    self.out.push_str(" | ");
                }
                self.cells = self.cells.saturating_add(1);
                self.cell_is_empty = true;
            }
            _ => {
                if let Some(level) = heading_level(name) {
                    self.end_heading();
                    self.heading = Some(OpenHeading { level, start: None });
                }
            }
        }
    }

    pub(in crate::markup) fn close(&mut self, name: &str) {
        match name {
            "pre" | "textarea" | "listing" | "xmp" => {
                self.preformatted = self.preformatted.saturating_sub(1);
            }
            "ul" | "ol" | "menu" => self.lists = self.lists.saturating_sub(1),
            "tr" | "table" => {
                self.cells = 0;
                self.cell_is_empty = false;
            }
            "li" => self.cell_is_empty = false,
            _ if heading_level(name).is_some() => self.end_heading(),
            _ => {}
        }
        self.widen(gap_around(name));
    }

    fn is_shown(&self) -> bool {
        self.hidden.is_none() && !matches!(self.place, Place::Hidden(..))
    }

    /// Asks for at least this gap before the next word.
    fn widen(&mut self, gap: Gap) {
        if !self.cell_is_empty {
            let in_list_or_cell = self.lists > 0 || self.cells > 0;
            self.gap = self.gap.max(if in_list_or_cell {
                gap.min(Gap::Line)
            } else {
                gap
            });
        }
    }

    pub(in crate::markup) fn add_text(&mut self, text: &str, at: usize) {
        if text.is_empty() || !self.is_shown() {
            return;
        }
        if text.contains('&') {
            let mut scratch = std::mem::take(&mut self.scratch);
            scratch.clear();
            decode_into(&mut scratch, text);
            self.add_decoded(&scratch, at);
            self.scratch = scratch;
        } else {
            self.add_decoded(text, at);
        }
    }

    /// Words of one run of text. Line ends in it are those of the source: entities make no lines
    /// worth counting.
    fn add_decoded(&mut self, text: &str, at: usize) {
        if self.place == Place::Title {
            if self.title.len() <= MAX_TITLE_CHARS * 4 {
                self.title.push_str(text);
            }
            return;
        }
        if self.preformatted > 0 {
            self.add_preformatted(text, at);
            return;
        }
        let mut from = 0;
        let is_space = |c: char| c.is_ascii_whitespace() || c == '\u{a0}';
        while let Some(rest) = text.get(from..).filter(|rest| !rest.is_empty()) {
            let word_start = rest.find(|c| !is_space(c)).unwrap_or(rest.len());
            if word_start > 0 {
                self.gap = self.gap.max(Gap::Space);
            }
            let Some(word) = rest.get(word_start..).filter(|word| !word.is_empty()) else {
                return;
            };
            let word_len = word.find(is_space).unwrap_or(word.len());
            self.write_gap(at + from + word_start);
            self.start_heading();
            self.push_word(word.get(..word_len).unwrap_or_default());
            self.cell_is_empty = false;
            from += word_start + word_len;
        }
    }

    /// A word without the places where it may be divided, which nobody sees: it is found as the word.
    fn push_word(&mut self, word: &str) {
        match word.contains(SOFT_HYPHEN) {
            true => self.out.extend(word.chars().filter(|c| *c != SOFT_HYPHEN)),
            false => self.out.push_str(word),
        }
    }

    fn add_preformatted(&mut self, text: &str, at: usize) {
        let mut from = 0;
        for line in text.split_inclusive('\n') {
            let words = line.trim_end_matches(['\n', '\r']);
            if !words.is_empty() {
                self.write_gap(at + from);
                self.start_heading();
                self.push_word(words);
                self.cell_is_empty = false;
            }
            if line.ends_with('\n') && self.gap == Gap::None && !self.out.is_empty() {
                self.start_line(at + from + line.len());
            }
            from += line.len();
        }
    }

    /// Writes what separates the next word, which stands at `at` in the source.
    fn write_gap(&mut self, at: usize) {
        let gap = std::mem::replace(&mut self.gap, Gap::None);
        let is_line_start = self.out.is_empty() || self.out.ends_with('\n');
        match gap {
            Gap::None => {}
            Gap::Space if is_line_start || self.out.ends_with(' ') => {}
            Gap::Space => self.out.push(' '),
            Gap::Line if is_line_start => {}
            Gap::Line => self.start_line(at),
            Gap::Paragraph => {
                if !is_line_start {
                    self.start_line(at);
                }
                if !self.out.is_empty() && !self.out.ends_with("\n\n") {
                    self.start_line(at);
                }
            }
        }
        if (self.out.is_empty() || self.out.ends_with('\n'))
            && let Some(number) = self.line_numbers.last_mut()
        {
            *number = self.lines.line_of(at);
        }
    }

    fn start_line(&mut self, at: usize) {
        let kept = self.out.trim_end_matches([' ', '\t']).len();
        // Spaces at the end of a preformatted line carry nothing; those of ` | ` go with them.
        self.out.truncate(kept);
        self.out.push('\n');
        let number = self.lines.line_of(at);
        self.line_numbers.push(number);
    }

    fn start_heading(&mut self) {
        let place = (
            self.out.len(),
            self.line_numbers.last().copied().unwrap_or(1),
        );
        if let Some(heading) = &mut self.heading {
            heading.start.get_or_insert(place);
        }
    }

    fn end_heading(&mut self) {
        let Some(OpenHeading {
            level,
            start: Some((start, line)),
        }) = self.heading.take()
        else {
            return;
        };
        let words = self.out.get(start..).unwrap_or_default();
        // Bounded work for a heading that holds half the page; `tidy` cuts exactly.
        let words: String = words.chars().take(MAX_TITLE_CHARS * 4).collect();
        self.extracted.add_heading(level, &words, start, line);
    }

    fn add_meta(&mut self, tag: &Tag<'_>) {
        let Some(name) = tag.attribute("name").or_else(|| tag.attribute("property")) else {
            return;
        };
        let key = match name.to_ascii_lowercase().as_str() {
            "author" | "article:author" | "dc.creator" => "author",
            "date" | "dc.date" | "article:published_time" => "date",
            "description" | "og:description" => "description",
            "keywords" => "tags",
            _ => return,
        };
        if let Some(value) = tag.attribute("content") {
            self.extracted.add_metadata(key, &value);
        }
    }

    pub(in crate::markup) fn finish(mut self) -> Extracted {
        self.end_heading();
        self.out.truncate(self.out.trim_end().len());
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        let lines = self.out.bytes().filter(|&byte| byte == b'\n').count();
        self.line_numbers.truncate(lines);
        let title = self.title.trim();
        Extracted {
            title: (!title.is_empty()).then(|| title.to_owned()),
            text: Some(self.out),
            line_numbers: self.line_numbers,
            ..self.extracted
        }
    }
}

/// Whether the content of an element is no markup, and not read.
fn is_raw_text(name: &str) -> bool {
    matches!(
        name,
        "script" | "style" | "noscript" | "iframe" | "noembed" | "noframes"
    )
}

fn heading_level(name: &str) -> Option<usize> {
    let digit = name.strip_prefix('h')?.parse().ok()?;
    (1..=6).contains(&digit).then_some(digit)
}

fn gap_around(name: &str) -> Gap {
    match name {
        "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "blockquote" | "pre" | "ul" | "ol"
        | "dl" | "menu" | "table" | "section" | "article" | "header" | "footer" | "main"
        | "nav" | "aside" | "hr" | "figure" | "form" | "fieldset" | "details" | "body" => {
            Gap::Paragraph
        }
        "div" | "li" | "dt" | "dd" | "tr" | "caption" | "option" | "address" | "figcaption"
        | "legend" | "summary" | "thead" | "tbody" | "tfoot" | "center" | "dialog" | "hgroup"
        | "select" | "textarea" | "listing" | "xmp" | "optgroup" => Gap::Line,
        _ => Gap::None,
    }
}
