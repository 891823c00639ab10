//! Text documents of OpenDocument: text in the order of the body.
//!
//! Comments, deleted and hidden text, alternative descriptions of pictures and the readings of ruby text are no text. Notes
//! stand where they are referred to, equations where they are; text boxes and charts follow the paragraph that they are
//! anchored to.

use std::collections::HashMap;

use crate::extracted::Extracted;
use crate::package::odf::{self, Object, Objects};
use crate::package::ooxml;
use crate::package::xml::{Element, XmlEvent, XmlReader};
use crate::package::zip_package::ZipPackage;
use crate::skip_reason::SkipReason;
use crate::word::flow::{Break, Flow};
use crate::word::odt_lists::Lists;

pub(crate) const FORMAT: &str = "OpenDocument text";
/// Most styles in a chain of parents. The bound ends chains that refer to themselves.
const MAX_BASES: usize = 12;

/// Reads a package whose content is a text.
///
/// # Errors
/// Damaged, encrypted or beyond a limit.
pub(crate) fn extract(bytes: &[u8]) -> Result<Extracted, SkipReason> {
    let package = &mut ZipPackage::open(bytes, FORMAT)?;
    let content = odf::content(package)?;
    let mut found = Extracted::default();
    odf::read_properties(package, &mut found)?;
    let mut styles = Styles::default();
    styles.read(&ooxml::read_optional(package, "styles.xml")?)?;
    styles.read(&content)?;
    let mut flow = Flow::default();
    let mut body = Body {
        reader: XmlReader::new(&content),
        package,
        objects: Objects::default(),
        styles: &styles.paragraphs,
        characters: &styles.characters,
        spans: Vec::new(),
        hidden: 0,
        lists: &mut styles.lists,
        flow: &mut flow,
        paragraphs: Vec::new(),
        boxed: Vec::new(),
    };
    if body.read()? && flow.is_empty() {
        return Err(SkipReason::damaged(FORMAT, "its text is no XML"));
    }
    flow.finish(found)
}

#[derive(Debug, Default)]
struct Style {
    parent: Option<String>,
    breaks_before: Option<bool>,
    breaks_after: Option<bool>,
    is_hidden: Option<bool>,
}

#[derive(Debug, Default)]
struct Styles {
    paragraphs: StylesByName,
    characters: StylesByName,
    lists: Lists,
}

/// Styles of paragraphs, or of characters.
#[derive(Debug, Default)]
struct StylesByName(HashMap<String, Style>);

impl Styles {
    fn read(&mut self, part: &str) -> Result<(), SkipReason> {
        let mut reader = XmlReader::new(part);
        let mut open: Option<(String, Style)> = None;
        let mut is_paragraph = false;
        while let Some(event) = reader.next()? {
            match event {
                XmlEvent::Start(element) => match element.name() {
                    "style" => {
                        let family = element.attribute("family");
                        is_paragraph = family.as_deref() == Some("paragraph");
                        if !is_paragraph && family.as_deref() != Some("text") {
                            open = None;
                            continue;
                        }
                        let page = element.attribute("master-page-name");
                        let breaks = page.is_some_and(|name| !name.is_empty());
                        let style = Style {
                            parent: element.reference("parent-style-name"),
                            breaks_before: breaks.then_some(true),
                            breaks_after: None,
                            is_hidden: None,
                        };
                        open = Some((element.reference("name").unwrap_or_default(), style));
                    }
                    "paragraph-properties" => {
                        if let Some((_, style)) = &mut open {
                            let at = |name| element.attribute(name).map(|kind| kind == "page");
                            style.breaks_before = style.breaks_before.or(at("break-before"));
                            style.breaks_after = at("break-after");
                        }
                    }
                    "text-properties" => {
                        if let Some((_, style)) = &mut open {
                            let display = element.attribute("display");
                            style.is_hidden = display.map(|display| display == "none");
                        }
                    }
                    // Nothing of the body is a style.
                    "body" => break,
                    _ => self.lists.define(&element),
                },
                XmlEvent::End(end) if end.name() == "style" => {
                    let of = match is_paragraph {
                        true => &mut self.paragraphs,
                        false => &mut self.characters,
                    };
                    of.0.extend(open.take());
                }
                XmlEvent::End(end) if end.name() == "list-style" => self.lists.end_definition(),
                _ => {}
            }
        }
        Ok(())
    }
}

impl StylesByName {
    fn inherited(&self, name: &str, fact: impl Fn(&Style) -> Option<bool>) -> bool {
        let mut style = self.0.get(name);
        for _ in 0..MAX_BASES {
            let Some(known) = style else {
                break;
            };
            if let Some(found) = fact(known) {
                return found;
            }
            style = known.parent.as_ref().and_then(|name| self.0.get(name));
        }
        false
    }
}

/// A paragraph that is being read.
#[derive(Debug, Default)]
struct Paragraph {
    /// Its number in a list.
    label: Option<String>,
    text: String,
    level: Option<u8>,
    breaks: Vec<(usize, Break)>,
    breaks_before: bool,
    breaks_after: bool,
    is_hidden: bool,
}

struct Body<'a, 'z> {
    reader: XmlReader<'a>,
    package: &'a mut ZipPackage<'z>,
    objects: Objects,
    styles: &'a StylesByName,
    characters: &'a StylesByName,
    /// Of each open span whether it hides its text, and how many do.
    spans: Vec<bool>,
    hidden: usize,
    lists: &'a mut Lists,
    flow: &'a mut Flow,
    /// Those of notes and text boxes lie inside the paragraph that they are anchored to.
    paragraphs: Vec<Paragraph>,
    boxed: Vec<Paragraph>,
}

impl Body<'_, '_> {
    /// Reads all of it; whether it is broken somewhere.
    fn read(&mut self) -> Result<bool, SkipReason> {
        while let Some(event) = self.reader.next()? {
            match event {
                XmlEvent::Start(element) => self.start(&element)?,
                XmlEvent::End(end) => match end.name() {
                    "p" | "h" => self.end_paragraph(),
                    "span" => {
                        let hides = self.spans.pop() == Some(true);
                        self.hidden -= usize::from(hides);
                    }
                    "list" => self.lists.end(),
                    "table-cell" if self.paragraphs.is_empty() => self.flow.end_cell(),
                    "table-row" if self.paragraphs.is_empty() => self.flow.end_row(),
                    _ => {}
                },
                XmlEvent::Text(text) if self.hidden == 0 => {
                    if let Some(paragraph) = self.paragraphs.last_mut() {
                        odf::push_collapsed(&mut paragraph.text, &text);
                    }
                }
                XmlEvent::Text(_) => {}
            }
            if self.flow.is_full() {
                break;
            }
        }
        while !self.paragraphs.is_empty() {
            self.end_paragraph();
        }
        Ok(self.reader.is_broken())
    }

    fn start(&mut self, element: &Element<'_>) -> Result<(), SkipReason> {
        match element.name() {
            "tracked-changes" | "annotation" | "ruby-text" | "forms" | "note-citation"
            | "variable-decls" | "sequence-decls" | "user-field-decls" | "automatic-styles"
            | "font-face-decls" | "scripts" | "meta" => self.reader.skip()?,
            // `text:title` is a field.
            "title" | "desc" if element.prefix() != "text" => self.reader.skip()?,
            "h" => {
                let level = element.number("outline-level").unwrap_or(1).clamp(1, 10);
                self.begin_paragraph(element, u8::try_from(level).ok());
            }
            "p" => self.begin_paragraph(element, None),
            "span" => {
                let style = element.reference("style-name").unwrap_or_default();
                let hides = self.characters.inherited(&style, |style| style.is_hidden);
                self.hidden += usize::from(hides);
                self.spans.push(hides);
            }
            "section" | "hidden-text" if is_hidden(element) => self.reader.skip()?,
            "hidden-paragraph" if is_hidden(element) => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.is_hidden = true;
                }
            }
            "object" => match self.objects.read(self.package, element)? {
                Some(Object::Equation(equation)) => self.push(&equation),
                Some(Object::Chart(lines)) => {
                    let lines = lines.into_iter().map(|text| Paragraph {
                        text,
                        ..Paragraph::default()
                    });
                    self.boxed.extend(lines);
                }
                None => {}
            },
            "list" => self.lists.begin(element),
            "list-item" => self.lists.begin_item(element),
            "s" => {
                if let Some(paragraph) = self.paragraphs.last_mut()
                    && self.hidden == 0
                {
                    odf::push_spaces(&mut paragraph.text, element.number("c"));
                }
            }
            "tab" => self.push("\t"),
            "line-break" => self.push("\n"),
            "soft-page-break" => match self.paragraphs.as_mut_slice() {
                [] => self.flow.begin_page(Break::Rendered),
                [paragraph] => paragraph
                    .breaks
                    .push((paragraph.text.len(), Break::Rendered)),
                _ => {}
            },
            "table-row" if self.paragraphs.is_empty() => self.flow.begin_row(),
            _ => {}
        }
        Ok(())
    }

    fn push(&mut self, text: &str) {
        if let Some(paragraph) = self.paragraphs.last_mut()
            && self.hidden == 0
        {
            paragraph.text.push_str(text);
        }
    }

    fn begin_paragraph(&mut self, element: &Element<'_>, level: Option<u8>) {
        let style = element.reference("style-name").unwrap_or_default();
        self.paragraphs.push(Paragraph {
            level,
            label: self.lists.label(),
            breaks_before: self.styles.inherited(&style, |style| style.breaks_before),
            breaks_after: self.styles.inherited(&style, |style| style.breaks_after),
            is_hidden: self.styles.inherited(&style, |style| style.is_hidden),
            ..Paragraph::default()
        });
    }

    fn end_paragraph(&mut self) {
        let Some(mut paragraph) = self.paragraphs.pop() else {
            return;
        };
        if paragraph.is_hidden {
            paragraph.text.clear();
        }
        if !self.paragraphs.is_empty() {
            self.boxed.push(paragraph);
            return;
        }
        if paragraph.breaks_before {
            self.flow.begin_page(Break::NewPage);
        }
        let (text, breaks) = (&paragraph.text, &paragraph.breaks);
        let number = paragraph.label.as_deref().unwrap_or_default();
        self.flow.numbered(number, text, paragraph.level, breaks);
        for boxed in std::mem::take(&mut self.boxed) {
            self.flow.paragraph(&boxed.text, boxed.level, &[]);
        }
        if paragraph.breaks_after {
            self.flow.begin_page(Break::Page);
        }
    }
}

/// Whether a section or a field says that it is not shown.
fn is_hidden(element: &Element<'_>) -> bool {
    let is_hidden = element.attribute("is-hidden");
    match element.attribute("display").as_deref() {
        Some("none") => true,
        Some("true") => false,
        _ => is_hidden.as_deref() == Some("true"),
    }
}
