//! Numbered lists of OpenDocument.

use std::collections::HashMap;

use crate::package::xml::Element;
use crate::word::list_numbers::NumberFormat;

/// Levels of a list.
// The levels of a list style in OpenDocument: 1 to 10.
const LEVELS: usize = 10;

/// How the items of one level are numbered.
#[derive(Debug, Clone)]
struct Level {
    format: NumberFormat,
    prefix: String,
    suffix: String,
    start: u32,
    /// How many levels its number names: `2.1.` names two.
    shown: usize,
}

/// The lists of a document: their styles, and where the text is in them.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// By name of the style; levels without numbers have bullets.
    styles: HashMap<String, [Option<Level>; LEVELS]>,
    defined: Option<(String, [Option<Level>; LEVELS])>,
    open: Vec<OpenList>,
    /// The last number of a list at the outermost level, by style, for lists that go on.
    ended: HashMap<String, u32>,
}

#[derive(Debug)]
struct OpenList {
    style: String,
    number: Option<u32>,
    /// An item has begun whose first paragraph is still to come.
    is_due: bool,
}

impl Lists {
    /// An element of a style begins.
    pub(super) fn define(&mut self, element: &Element<'_>) {
        if element.name() == "list-style" {
            let name = element.reference("name").unwrap_or_default();
            self.defined = Some((name, Default::default()));
        }
        let Some((_, levels)) = &mut self.defined else {
            return;
        };
        if element.name() != "list-level-style-number" {
            return;
        }
        let format = match element.attribute("num-format").as_deref() {
            Some("1") => NumberFormat::Decimal,
            Some("a") => NumberFormat::Lower,
            Some("A") => NumberFormat::Upper,
            Some("i") => NumberFormat::LowerRoman,
            Some("I") => NumberFormat::UpperRoman,
            _ => return,
        };
        let number = element.number("level").unwrap_or(1);
        let at = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
        let shown = element.number("display-levels").unwrap_or(1);
        if let Some(level) = levels.get_mut(at) {
            *level = Some(Level {
                format,
                prefix: element.reference("num-prefix").unwrap_or_default(),
                suffix: element.reference("num-suffix").unwrap_or_default(),
                start: element.number("start-value").unwrap_or(1),
                shown: usize::try_from(shown).unwrap_or(1).clamp(1, LEVELS),
            });
        }
    }

    /// The style that was begun last ends.
    pub(super) fn end_definition(&mut self) {
        self.styles.extend(self.defined.take());
    }

    /// A list begins, perhaps in an item of another.
    pub(super) fn begin(&mut self, element: &Element<'_>) {
        let outer = self.open.last().map(|list| list.style.clone());
        let style = element
            .reference("style-name")
            .or(outer)
            .unwrap_or_default();
        let goes_on = element.attribute("continue-numbering").as_deref() == Some("true")
            || element.attribute("continue-list").is_some();
        let number = match goes_on && self.open.is_empty() {
            true => self.ended.get(&style).copied(),
            false => None,
        };
        self.open.push(OpenList {
            style,
            number,
            is_due: false,
        });
    }

    pub(super) fn end(&mut self) {
        if let Some(list) = self.open.pop()
            && self.open.is_empty()
            && let Some(number) = list.number
        {
            self.ended.insert(list.style, number);
        }
    }

    /// An item begins.
    pub(super) fn begin_item(&mut self, element: &Element<'_>) {
        let start = element.number("start-value");
        let first = self.level(self.open.len()).map_or(1, |level| level.start);
        if let Some(list) = self.open.last_mut() {
            let next = list.number.map_or(first, |number| number.saturating_add(1));
            list.number = Some(start.unwrap_or(next));
            list.is_due = true;
        }
    }

    /// The number of the item whose first paragraph begins, with what is printed around it and a space.
    pub(super) fn label(&mut self) -> Option<String> {
        let depth = self.open.len();
        let list = self.open.last_mut()?;
        if !std::mem::take(&mut list.is_due) {
            return None;
        }
        let level = self.level(depth)?;
        let mut label = level.prefix.clone();
        for outer in depth.saturating_sub(level.shown)..depth {
            let number = self
                .open
                .get(outer)
                .and_then(|list| list.number)
                .unwrap_or(1);
            let format = self.level(outer + 1).map_or(level.format, |it| it.format);
            if outer + level.shown > depth {
                label.push('.');
            }
            label.push_str(&format.write(number));
        }
        label.push_str(&level.suffix);
        label.push(' ');
        Some(label)
    }

    /// The numbering at a depth from 1, in the style of the innermost list.
    fn level(&self, depth: usize) -> Option<&Level> {
        let style = &self.open.last()?.style;
        self.styles.get(style)?.get(depth.checked_sub(1)?)?.as_ref()
    }
}
