//! A document: rendered, as lines, or by its pages, sheets and slides.

mod parts;
mod shown;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use axum::http::StatusCode;
use kb_engine::{Lines, PageOptions, PartKind, Section};
use maud::{Markup, html};

use self::shown::Shown;
use super::folder::crumbs;
use super::layout::{Layout, page as layout_page};
use crate::answer::{Answer, Problem};
use crate::site::Visit;
use crate::text::highlight::{self, Highlights};
use crate::text::lines::{numbered, parse_range};
use crate::text::markdown::{self, Anchor};
use crate::text::numbers::{counted, day};

/// Lines of one page of a long text. A browser lays out so many in a few milliseconds.
const WINDOW_LINES: u32 = 2_000;

/// Longest Markdown that is rendered, in bytes; a longer one is shown by its lines.
const RENDERED_LIMIT_BYTES: u64 = 1 << 20;

/// Most different documents that the links of one document are looked up for.
const LINKS: usize = 5_000;

/// Headings and symbols of the list of contents.
const OUTLINE_TOKENS: u32 = 20_000;

/// The page of a document of the file.
pub(crate) fn page(visit: &Visit, file: &str, document: &str) -> Result<Answer, Problem> {
    let open = visit.site.file(file)?;
    let found = open.kb().document(document)?;
    let shown = Shown {
        visit,
        file: open,
        marked: visit.parameters.first("lines").and_then(parse_range),
        document: found,
    };
    let (text, contents) = match shown.document.part_kind {
        Some(PartKind::Sheet) => (parts::sheet(&shown)?, html! {}),
        Some(PartKind::Slide) => (parts::slides(&shown)?, html! {}),
        Some(PartKind::Page) if shown.marked.is_none() => (parts::pages(&shown)?, html! {}),
        _ if shown.is_rendered() => shown.rendered()?,
        _ => (shown.lines()?, shown.outline()?),
    };
    let body = html! {
        (crumbs(&visit.site, file, &shown.document.path))
        (shown.head())
        div.columns {
            @if !contents.0.is_empty() {
                details.contents id="contents" { summary { "Contents" } nav aria-label="Contents" { (contents) } }
            }
            article.document { (text) }
        }
    };
    let title = if shown.document.title.is_empty() {
        &shown.document.path
    } else {
        &shown.document.title
    };
    let layout = Layout {
        title,
        is_for_strangers: false,
        file: Some(file),
        search: None,
        body,
    };
    Ok(layout_page(&visit.site, StatusCode::OK, &layout))
}

impl Shown<'_> {
    fn is_markdown(&self) -> bool {
        self.document.file_type == "markdown"
    }

    fn is_rendered(&self) -> bool {
        self.is_markdown()
            && !self.visit.parameters.has("view", "lines")
            && self.document.text_bytes <= RENDERED_LIMIT_BYTES
    }

    fn head(&self) -> Markup {
        let document = &self.document;
        html! {
            div.head data-place=(document.path) {
                @if !document.title.is_empty() && !document.path.ends_with(&document.title) {
                    p.title { (document.title) }
                }
                p.about {
                    span { (document.file_type) }
                    span { (counted(u64::from(document.lines), "line")) }
                    span { (kb_json::bytes(document.size_bytes)) }
                    @if document.modified_ms > 0 { span { (day(document.modified_ms)) } }
                    @for tag in &document.tags { span.tag { (tag) } }
                    span { "handle " code.handle { (document.handle) } }
                    @if self.is_markdown() {
                        @if self.is_rendered() {
                            a href=(self.address("view=lines")) { "Lines" }
                        } @else {
                            a href=(self.address("")) { "Rendered" }
                        }
                    }
                    a href=(self.links().raw(self.file.name(), &document.path)) download { "Text" }
                    @if self.visit.form_key.is_some() {
                        a href=(self.links().remove(self.file.name(), &document.path)) { "Remove" }
                    }
                }
                @if let Some(key) = &self.visit.form_key { (self.tags(key)) }
            }
        }
    }

    /// The form for its tags. It says which it showed, so that those which others gave meanwhile stay.
    fn tags(&self, key: &str) -> Markup {
        let tags = self.document.tags.join(", ");
        html! {
            details.edit {
                summary { "Edit tags" }
                form method="post" action=(self.links().tags(self.file.name(), &self.document.path)) {
                    input type="hidden" name="key" value=(key);
                    input type="hidden" name="shown" value=(tags);
                    input name="tags" value=(tags) aria-label="Tags, with commas between" placeholder="sea, moon" autocomplete="off";
                    button type="submit" { "Save" }
                }
            }
        }
    }

    fn rendered(&self) -> Result<(Markup, Markup), Problem> {
        let text = self.file.kb().text(&self.document.path, None)?.text;
        if text.trim().is_empty() {
            return Ok((html! { p.quiet { "This document has no text." } }, html! {}));
        }
        let folder = match self.document.path.rsplit_once('/') {
            Some((folder, _)) => folder,
            None => "",
        };
        // A document of a megabyte may have a hundred thousand links; few lead to different places.
        let known: RefCell<HashMap<String, Option<String>>> = RefCell::default();
        let link = |path: &str| {
            let target = resolved(folder, path)?;
            let mut known = known.borrow_mut();
            if known.len() >= LINKS && !known.contains_key(&target) {
                return None;
            }
            let address = known
                .entry(target)
                .or_insert_with_key(|target| self.address_of(target));
            address.clone()
        };
        let marked = self
            .marked
            .and_then(|lines| Some((bytes_of(&text, lines)?, lines.first)));
        let rendered = markdown::render(&text, &link, marked);
        Ok((
            html! { div.prose { (rendered.html) } },
            anchors(&rendered.anchors),
        ))
    }

    /// The address of a document or a folder of the file; `None` if there is none of that path.
    fn address_of(&self, path: &str) -> Option<String> {
        let (kb, name) = (self.file.kb(), self.file.name());
        if let Some(found) = kb.document_at(path).ok().flatten() {
            return Some(self.links().document(name, &found.path));
        }
        let one = PageOptions::default().max_tokens(1);
        let is_folder = !path.is_empty() && kb.list(Some(path), &one).is_ok();
        is_folder.then(|| self.links().folder(name, path))
    }

    /// The text with a number before each line, as much as one page holds.
    fn lines(&self) -> Result<Markup, Problem> {
        if self.document.text_bytes == 0 {
            return Ok(html! { p.quiet { "This document has no text." } });
        }
        if self.document.has_own_lines {
            // The engine counts lines of the original: those of the text are counted here.
            let text = self.file.kb().text(&self.document.path, None)?.text;
            let all = u32::try_from(text.lines().count())
                .unwrap_or(u32::MAX)
                .max(1);
            let bytes = self.visit.parameters.first("bytes").and_then(parse_bytes);
            let marked = bytes.and_then(|bytes| lines_of(&text, &bytes));
            let window = self.window(all, marked);
            let shown = bytes_of(&text, window).unwrap_or_default();
            let lines = numbered(&text, shown, window.first, marked, &Highlights::default());
            return Ok(self.page_of_lines(&lines, all, window));
        }
        let all = self.document.lines.max(1);
        let window = self.window(all, self.marked);
        let language = &self.document.language;
        // What a line is may depend on any line before it.
        let is_coloured =
            !language.is_empty() && self.document.text_bytes <= highlight::LIMIT_BYTES as u64;
        let is_whole = all <= WINDOW_LINES || is_coloured;
        let kb = self.file.kb();
        let text = kb.text(&self.document.path, (!is_whole).then_some(window))?;
        let text = &text.text;
        let (shown, highlights) = if is_coloured {
            let shown = bytes_of(text, window).unwrap_or_default();
            (shown, Highlights::of(language, text))
        } else {
            (0..text.len(), Highlights::default())
        };
        let lines = numbered(text, shown, window.first, self.marked, &highlights);
        Ok(self.page_of_lines(&lines, all, window))
    }

    /// The lines of one page: those that the address asks for, else those around a marked line, else the first.
    fn window(&self, all: u32, marked: Option<Lines>) -> Lines {
        let asked = self
            .visit
            .parameters
            .first("from")
            .and_then(|from| from.parse().ok());
        // A marked line is in the upper part of its page.
        let marked = marked.map(|lines| lines.first.saturating_sub(WINDOW_LINES / 4));
        let first = match asked.or(marked) {
            Some(first) if all > WINDOW_LINES => first.clamp(1, all),
            _ => 1,
        };
        let last = all.min(first.saturating_add(WINDOW_LINES - 1));
        Lines { first, last }
    }

    fn page_of_lines(&self, lines: &Markup, all: u32, window: Lines) -> Markup {
        let Lines { first, last } = window;
        let at = |from: u32| self.address(&format!("view=lines&from={from}"));
        let turning = html! {
            @if all > WINDOW_LINES {
                nav.pages aria-label="Pages of lines" {
                    @if first > 1 { a rel="prev" href=(at(first.saturating_sub(WINDOW_LINES).max(1))) { "Lines before" } }
                    span { "Lines " (first) " to " (last) " of " (all) }
                    @if last < all { a rel="next" href=(at(last + 1)) { "Lines after" } }
                }
            }
        };
        let beyond = self.marked.filter(|lines| lines.first > all);
        html! {
            @if let Some(lines) = beyond {
                p.quiet { "There is no line " (lines.first) ": the document has " (all) "." }
            }
            (turning)
            @if self.visit.parameters.first("bytes").is_some() { span id="marked" {} }
            pre.lines tabindex="0" { code { (lines) } }
            (turning)
        }
    }

    /// Headings or symbols, as links to their lines.
    fn outline(&self) -> Result<Markup, Problem> {
        let page = PageOptions::default().max_tokens(OUTLINE_TOKENS);
        let sections = self
            .file
            .kb()
            .sections(&self.document.path, &page)?
            .sections;
        if sections.items.is_empty() || self.document.has_own_lines {
            return Ok(html! {});
        }
        let address = |section: &Section| {
            let line = section.lines.first;
            if self.document.lines > WINDOW_LINES {
                self.address(&format!("view=lines&from={line}#L{line}"))
            } else {
                format!("#L{line}")
            }
        };
        Ok(html! {
            ul {
                @for section in &sections.items {
                    li class={ "level-" (section.level.min(6)) } { a href=(address(section)) { (section.title) } }
                }
            }
        })
    }
}

fn anchors(anchors: &[Anchor]) -> Markup {
    if anchors.len() < 2 {
        return html! {};
    }
    html! {
        ul {
            @for anchor in anchors {
                li class={ "level-" (anchor.level) } { a href={ "#" (anchor.id) } { (anchor.title) } }
            }
        }
    }
}

/// The path that a link of a document in `folder` means; `None` above the top.
fn resolved(folder: &str, link: &str) -> Option<String> {
    let (mut parts, link): (Vec<&str>, &str) = match link.strip_prefix('/') {
        Some(link) => (Vec::new(), link),
        None => (
            folder.split('/').filter(|part| !part.is_empty()).collect(),
            link,
        ),
    };
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Reads `10-20`: bytes of a text.
fn parse_bytes(text: &str) -> Option<Range<usize>> {
    let (start, end) = text.split_once('-')?;
    let (start, end) = (start.parse().ok()?, end.parse().ok()?);
    (start <= end).then_some(start..end)
}

/// The lines that hold these bytes; `None` beyond the end.
fn lines_of(text: &str, bytes: &Range<usize>) -> Option<Lines> {
    let line_of = |at: usize| {
        let before = text.as_bytes().get(..at)?;
        let ends = before.iter().filter(|byte| **byte == b'\n').count();
        u32::try_from(ends + 1).ok()
    };
    Some(Lines {
        first: line_of(bytes.start)?,
        last: line_of(bytes.end.saturating_sub(1).max(bytes.start))?,
    })
}

/// The bytes of these lines; `None` beyond the end.
fn bytes_of(text: &str, lines: Lines) -> Option<Range<usize>> {
    let mut starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let first = usize::try_from(lines.first).ok()?.checked_sub(1)?;
    let start = starts.nth(first).filter(|start| *start < text.len())?;
    let count = usize::try_from(lines.last.checked_sub(lines.first)?).ok()?;
    let end = starts.nth(count).unwrap_or(text.len());
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_of_its_folder_and_cannot_leave_the_file() {
        assert_eq!(resolved("a/b", "c.md").as_deref(), Some("a/b/c.md"));
        assert_eq!(resolved("a/b", "../c.md").as_deref(), Some("a/c.md"));
        assert_eq!(resolved("a", "/c.md").as_deref(), Some("c.md"));
        assert_eq!(resolved("", "./c.md").as_deref(), Some("c.md"));
        assert_eq!(resolved("a", "../../c.md"), None);
    }

    #[test]
    fn lines_are_bytes_of_the_text() {
        let text = "a\nbb\nc";
        let bytes = |first, last| bytes_of(text, Lines { first, last });
        assert_eq!(bytes(1, 1), Some(0..2));
        assert_eq!(bytes(2, 3), Some(2..6));
        assert_eq!(bytes(3, 9), Some(5..6));
        assert_eq!(bytes(4, 4), None);
        assert_eq!(bytes(0, 1), None);
        let lines =
            |bytes: Range<usize>| lines_of(text, &bytes).map(|lines| (lines.first, lines.last));
        assert_eq!(lines(0..2), Some((1, 1)));
        assert_eq!(lines(2..6), Some((2, 3)));
        assert_eq!(lines(7..9), None);
    }
}
