//! Markdown as HTML, without the HTML in it: that is shown as text. Links lead to documents of the file, to sections,
//! or to other hosts by `http`, `https` and `mailto`; pictures are named, not loaded.

use std::collections::HashMap;
use std::ops::Range;

use kb_engine::percent;
use maud::{Markup, PreEscaped};
use pulldown_cmark::{
    Alignment, CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd,
    html,
};

use super::highlight::Highlights;

/// Deepest nesting that is rendered: each level is an element in the browser, which a document could make endless.
const DEPTH_LIMIT: usize = 64;

/// Before the ids of headings, so that none is that of another element of the page.
const ID_PREFIX: &str = "s-";

/// A heading, for the list of contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Anchor {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) level: u8,
}

/// A rendered document.
#[derive(Debug, Clone)]
pub(crate) struct Rendered {
    pub(crate) html: Markup,
    pub(crate) anchors: Vec<Anchor>,
}

/// Renders `text`. `link` makes the address of a document from a path that the text states; `None` if the file has no
/// such document. The blocks that hold bytes of `marked` are marked, and the first of them has the id of line `line`.
pub(crate) fn render(
    text: &str,
    link: &dyn Fn(&str) -> Option<String>,
    marked: Option<(Range<usize>, u32)>,
) -> Rendered {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;
    let events: Vec<(Event<'_>, Range<usize>)> =
        Parser::new_ext(text, options).into_offset_iter().collect();
    let anchors = anchors(events.iter().map(|(event, _)| event));
    let mut ids = anchors.iter().map(|anchor| anchor.id.clone());
    let mut blocks = Blocks {
        marked,
        ..Blocks::default()
    };
    let mut shown = Vec::with_capacity(events.len());
    for (event, range) in events {
        blocks.push(event, &range, link, &mut ids, &mut shown);
    }
    let mut out = String::with_capacity(text.len() + text.len() / 2);
    html::push_html(&mut out, shown.into_iter());
    // A block that scrolls can be reached by keys. Only the renderer writes these characters: those of the text are
    // escaped.
    let out = out.replace("<pre><code", "<pre tabindex=\"0\"><code");
    let out = out.replace("<table>", "<table tabindex=\"0\">");
    Rendered {
        html: PreEscaped(out),
        anchors,
    }
}

/// Which blocks are open.
#[derive(Default)]
struct Blocks {
    depth: usize,
    /// Open blocks that are too deep to be shown.
    skipped: usize,
    in_metadata: bool,
    /// The language and the text of an open block of code that is coloured.
    code: Option<(String, String)>,
    /// The open links, and whether each is shown as one.
    links: Vec<bool>,
    in_marked: bool,
    marked: Option<(Range<usize>, u32)>,
    has_marked: bool,
}

impl Blocks {
    fn push<'t>(
        &mut self,
        event: Event<'t>,
        range: &Range<usize>,
        link: &dyn Fn(&str) -> Option<String>,
        ids: &mut impl Iterator<Item = String>,
        shown: &mut Vec<Event<'t>>,
    ) {
        if let Some((language, code)) = &mut self.code {
            match &event {
                Event::Text(text) => return code.push_str(text),
                _ => {
                    let mut out = String::with_capacity(2 * code.len());
                    Highlights::of(language, code).render(code, 0..code.len(), &mut out);
                    shown.push(Event::Html(out.into()));
                    self.code = None;
                }
            }
        }
        match &event {
            Event::Start(Tag::MetadataBlock(_)) => self.in_metadata = true,
            Event::End(TagEnd::MetadataBlock(_)) => {
                self.in_metadata = false;
                return;
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. })
                if !self.in_metadata =>
            {
                self.begin_link(dest_url, link, shown);
                return;
            }
            Event::End(TagEnd::Link | TagEnd::Image) if !self.in_metadata => {
                if self.links.pop() == Some(true) {
                    shown.push(Event::End(TagEnd::Link));
                }
                return;
            }
            Event::Start(_) if !self.in_metadata => {
                self.depth += 1;
                if self.depth > DEPTH_LIMIT {
                    self.skipped += 1;
                    return;
                }
                if self.depth == 1 {
                    self.begin_marked(range, shown);
                }
                if let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) = &event {
                    // What stands behind the first word is for other programs: `rust,no_run`.
                    let word = info.split([' ', ',', '{']).next().unwrap_or_default();
                    self.code = Some((word.to_owned(), String::new()));
                }
            }
            Event::End(_) if !self.in_metadata => {
                self.depth = self.depth.saturating_sub(1);
                if self.skipped > 0 {
                    self.skipped -= 1;
                    return;
                }
                shown.push(safe(event, ids));
                if self.depth == 0 && self.in_marked {
                    self.in_marked = false;
                    shown.push(Event::Html("</div>".into()));
                }
                return;
            }
            _ => {}
        }
        if !self.in_metadata {
            shown.push(safe(event, ids));
        }
    }

    /// Opens a link that leads somewhere; of another the text stays. A picture is a link with its alternative text,
    /// within a link only that.
    fn begin_link(
        &mut self,
        given: &str,
        link: &dyn Fn(&str) -> Option<String>,
        shown: &mut Vec<Event<'_>>,
    ) {
        let address = if self.links.contains(&true) {
            None
        } else {
            address(given, link)
        };
        self.links.push(address.is_some());
        if let Some(address) = address {
            shown.push(Event::Start(Tag::Link {
                link_type: LinkType::Inline,
                dest_url: address.into(),
                title: "".into(),
                id: "".into(),
            }));
        }
    }

    /// Opens the mark of a block that holds marked bytes.
    fn begin_marked(&mut self, range: &Range<usize>, shown: &mut Vec<Event<'_>>) {
        let Some((marked, line)) = &self.marked else {
            return;
        };
        if range.start < marked.end && marked.start < range.end {
            let id = if self.has_marked {
                String::new()
            } else {
                format!(" id=\"L{line}\"")
            };
            shown.push(Event::Html(format!("<div class=\"marked\"{id}>").into()));
            (self.in_marked, self.has_marked) = (true, true);
        }
    }
}

/// An event whose markup is this program's.
fn safe<'t>(event: Event<'t>, ids: &mut impl Iterator<Item = String>) -> Event<'t> {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        // Classes and attributes in braces are not read; ids are of this room.
        Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
            level,
            id: ids.next().map(CowStr::from),
            classes: Vec::new(),
            attrs: Vec::new(),
        }),
        // The renderer writes alignments as inline style, which the policy of the pages forbids.
        Event::Start(Tag::Table(columns)) => {
            Event::Start(Tag::Table(vec![Alignment::None; columns.len()]))
        }
        Event::Start(Tag::FootnoteDefinition(name)) => {
            Event::Start(Tag::FootnoteDefinition(format!("{ID_PREFIX}{name}").into()))
        }
        Event::FootnoteReference(name) => {
            Event::FootnoteReference(format!("{ID_PREFIX}{name}").into())
        }
        Event::TaskListMarker(done) => Event::Text(if done { "[x] " } else { "[ ] " }.into()),
        other => other,
    }
}

/// Where a link may lead; `None` for nowhere.
fn address(given: &str, link: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let given = given.trim();
    if let Some(fragment) = given.strip_prefix('#') {
        return Some(format!("#{}", own_fragment(fragment)));
    }
    let (path, fragment) = match given.split_once('#') {
        Some((path, fragment)) => (path, Some(fragment)),
        None => (given, None),
    };
    let scheme = path.split_once(':').map(|(scheme, _)| scheme);
    let is_scheme = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    match scheme {
        Some(scheme) if is_scheme(scheme) => {
            let allowed = ["http", "https", "mailto"];
            let is_allowed = allowed
                .iter()
                .any(|known| scheme.eq_ignore_ascii_case(known));
            return is_allowed.then(|| given.to_owned());
        }
        // A colon behind control characters: browsers drop some of these and see a scheme.
        Some(scheme) if scheme.chars().any(|c| c.is_control() || c.is_whitespace()) => {
            return None;
        }
        _ => {}
    }
    if path.starts_with("//") || path.starts_with('\\') {
        return None;
    }
    let path = path.split('?').next().unwrap_or_default();
    let address = percent::decode(path).and_then(|path| link(&path))?;
    Some(match fragment {
        Some(fragment) => format!("{address}#{}", own_fragment(fragment)),
        None => address,
    })
}

/// The id here of a heading that a link names as code hosts do.
fn own_fragment(fragment: &str) -> String {
    let fragment = percent::decode(fragment).unwrap_or_default();
    // A line of a program, as code hosts name it.
    let line = fragment
        .strip_prefix('L')
        .and_then(|line| line.split('-').next());
    if line.is_some_and(|line| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit())) {
        return fragment;
    }
    percent::encode(&format!("{ID_PREFIX}{fragment}"), false)
}

/// The headings with an id for each.
fn anchors<'e, 't: 'e>(events: impl Iterator<Item = &'e Event<'t>>) -> Vec<Anchor> {
    let mut anchors = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut open: Option<(u8, String)> = None;
    for event in events {
        match event {
            Event::Start(Tag::Heading { level, .. }) => open = Some((depth(*level), String::new())),
            Event::Text(text) | Event::Code(text) => {
                if let Some((_, title)) = &mut open {
                    title.push_str(text);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let Some((level, title)) = open.take() else {
                    continue;
                };
                let slug = slug(&title);
                let times = seen.get(&slug).copied().unwrap_or(0);
                let ids = (times..).map(|times| match times {
                    0 => (times, slug.clone()),
                    times => (times, format!("{slug}-{times}")),
                });
                // `Same-1` may be the title of another heading.
                let mut free = ids.filter(|(_, id)| !seen.contains_key(id));
                let Some((times, id)) = free.next() else {
                    continue;
                };
                seen.insert(slug, times + 1);
                seen.entry(id.clone()).or_insert(1);
                anchors.push(Anchor { id, title, level });
            }
            _ => {}
        }
    }
    anchors
}

fn depth(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// The id of a heading, as code hosts make it: letters and digits in lower case, `-` for spaces.
fn slug(title: &str) -> String {
    let mut slug = String::from(ID_PREFIX);
    for character in title.trim().chars() {
        if character.is_alphanumeric() || character == '_' {
            slug.extend(character.to_lowercase());
        } else if character == ' ' || character == '-' {
            slug.push('-');
        }
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str) -> String {
        let link = |path: &str| (path == "guide.md").then(|| "/d/a/guide.md".to_owned());
        render(text, &link, None).html.into_string()
    }

    #[test]
    fn raw_html_is_shown_as_text() {
        for hostile in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "<!-- x --><iframe src=\"//evil\"></iframe>",
            "<style>body{display:none}</style>",
            "<svg onload=alert(1)>",
        ] {
            let page = rendered(hostile);
            for element in ["<script", "<img", "<iframe", "<style", "<svg"] {
                assert!(!page.contains(element), "{hostile}: {page}");
            }
            assert!(page.contains("&lt;"), "{page}");
        }
    }

    #[test]
    fn links_lead_to_documents_and_to_few_schemes() {
        let target = |link: &str| {
            let page = rendered(&format!("[x](<{link}>)"));
            let address = page.split("href=\"").nth(1).unwrap_or_default();
            address.split('"').next().unwrap_or_default().to_owned()
        };
        assert_eq!(target("guide.md#some part"), "/d/a/guide.md#s-some%20part");
        assert_eq!(target("https://example.org/a"), "https://example.org/a");
        assert_eq!(target("#part"), "#s-part");
        for nowhere in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "java\tscript:alert(1)",
            "//evil.example/x",
            "\\\\evil.example",
            "missing.md",
            "file:///etc/passwd",
        ] {
            assert_eq!(target(nowhere), "", "{nowhere}");
        }
    }

    #[test]
    fn pictures_are_not_loaded() {
        let page = rendered("![a cat](https://evil.example/cat.png)");
        assert!(!page.contains("<img") && page.contains("a cat"), "{page}");
        let page = rendered("[![badge](a.svg)](https://example.org)");
        assert!(
            page.contains("<a href=\"https://example.org\">badge</a>"),
            "{page}"
        );
    }

    #[test]
    fn headings_have_ids_that_differ() {
        let link = |_: &str| None;
        let rendered = render("# A b!\n\n## A b\n\n## `C`\n", &link, None);
        let ids: Vec<&str> = rendered.anchors.iter().map(|anchor| &*anchor.id).collect();
        assert_eq!(ids, ["s-a-b", "s-a-b-1", "s-c"]);
        let page = rendered.html.into_string();
        assert!(page.contains("<h2 id=\"s-a-b-1\">A b</h2>"), "{page}");
    }

    #[test]
    fn the_blocks_of_marked_lines_are_marked() {
        let text = "# A\n\none\n\ntwo\n";
        let page = render(text, &|_| None, Some((5..12, 3))).html.into_string();
        let expected = "<h1 id=\"s-a\">A</h1>\n<div class=\"marked\" id=\"L3\">\n<p>one</p>\n</div>\
            <div class=\"marked\">\n<p>two</p>\n</div>";
        assert_eq!(page, expected);
    }

    #[test]
    fn front_matter_is_not_shown() {
        let page = rendered("---\ntitle: x\n---\n\nText\n");
        assert!(!page.contains("title") && page.contains("Text"), "{page}");
    }

    #[test]
    fn deep_nesting_is_flat_beyond_a_bound() {
        let page = rendered(&format!("{}x", ">".repeat(5000)));
        assert!(page.matches("<blockquote>").count() <= DEPTH_LIMIT);
        assert_eq!(
            page.matches("<blockquote>").count(),
            page.matches("</blockquote>").count()
        );
    }
}
