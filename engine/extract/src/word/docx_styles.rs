//! Styles of Word: which are headings, which begin a page, and which hide their text.

use std::collections::HashMap;

use crate::package::xml::{XmlEvent, XmlReader};
use crate::skip_reason::SkipReason;

/// Most styles in a chain of `basedOn`. Word allows 11.
const MAX_BASES: usize = 12;

#[derive(Debug, Default)]
struct Style {
    name: String,
    based_on: Option<String>,
    outline_level: Option<u32>,
    begins_page: Option<bool>,
    list: Option<u32>,
    list_level: Option<u32>,
    is_hidden: Option<bool>,
}

/// The styles of a document, by their ids.
#[derive(Debug, Default)]
pub(super) struct Styles(HashMap<String, Style>);

/// The heading level of an outline level as files have it: from 0, 9 for text.
pub(super) fn heading_level(outline_level: u32) -> Option<u8> {
    match outline_level {
        0..=8 => u8::try_from(outline_level + 1).ok(),
        _ => None,
    }
}

/// The level that the name of a style states: `heading 2`. A title is of the first.
pub(super) fn level_of_name(name: &str) -> Option<u8> {
    let name = name.trim().to_lowercase();
    if name == "title" {
        return Some(1);
    }
    let level: u8 = name.strip_prefix("heading ")?.trim().parse().ok()?;
    (1..=9).contains(&level).then_some(level)
}

impl Styles {
    /// Reads the part that defines them.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub(super) fn read(part: &str) -> Result<Styles, SkipReason> {
        let mut reader = XmlReader::office(part);
        let mut styles: HashMap<String, Style> = HashMap::new();
        let mut open = None;
        while let Some(event) = reader.next()? {
            let element = match event {
                XmlEvent::Start(element) => element,
                XmlEvent::End(end) => {
                    if end.name() == "style"
                        && let Some((id, style)) = open.take()
                    {
                        styles.insert(id, style);
                    }
                    continue;
                }
                XmlEvent::Text(_) => continue,
            };
            if element.name() == "style" {
                let id = element.reference("styleId").unwrap_or_default();
                open = Some((id, Style::default()));
                continue;
            }
            let Some((_, style)) = &mut open else {
                continue;
            };
            match element.name() {
                "name" => style.name = element.reference("val").unwrap_or_default(),
                "basedOn" => style.based_on = element.reference("val"),
                "outlineLvl" => style.outline_level = element.number("val"),
                "numId" => style.list = element.number("val"),
                "ilvl" => style.list_level = element.number("val"),
                "pageBreakBefore" => style.begins_page = Some(element.is_on()),
                "vanish" => style.is_hidden = Some(element.is_on()),
                _ => {}
            }
        }
        Ok(Styles(styles))
    }

    /// The first that `fact` finds in a style or those that it is based on.
    fn inherited<T>(&self, id: &str, fact: impl Fn(&Style) -> Option<T>) -> Option<T> {
        let mut style = self.0.get(id);
        for _ in 0..MAX_BASES {
            let known = style?;
            if let Some(found) = fact(known) {
                return Some(found);
            }
            style = self.0.get(known.based_on.as_deref()?);
        }
        None
    }

    /// The heading level of a paragraph in a style.
    pub(super) fn level(&self, id: &str) -> Option<u8> {
        let level = |style: &Style| match style.outline_level {
            Some(level) => Some(heading_level(level)),
            None => level_of_name(&style.name).map(Some),
        };
        self.inherited(id, level).flatten()
    }

    /// The list and the level in it of a paragraph in a style.
    pub(super) fn list(&self, id: &str) -> (Option<u32>, Option<u32>) {
        let list = self.inherited(id, |style| style.list);
        (list, self.inherited(id, |style| style.list_level))
    }

    /// Whether text in a style of characters, in a paragraph of another style, is hidden.
    pub(super) fn hides(&self, characters: &str, paragraph: &str) -> bool {
        let hides = |id| self.inherited(id, |style| style.is_hidden);
        hides(characters)
            .or_else(|| hides(paragraph))
            .unwrap_or(false)
    }

    /// Whether a paragraph in a style begins a page.
    pub(super) fn begins_page(&self, id: &str) -> bool {
        let begins = self.inherited(id, |style| style.begins_page);
        begins.unwrap_or(false)
    }
}
