//! Numbered paragraphs of Word: the numbers are not in the text, but follow from its lists.

use std::collections::HashMap;

use crate::ingest::extract::package::xml::{Element, XmlEvent, XmlReader};
use crate::ingest::extract::skip_reason::SkipReason;
use crate::ingest::extract::word::list_numbers::NumberFormat;

/// Levels of a list.
const LEVELS: usize = 9;
/// Bytes of the text around a number.
const MAX_TEXT_BYTES: usize = 64;

/// How the paragraphs of one level are numbered.
#[derive(Debug, Clone, Default)]
struct Level {
    /// None for bullets, and for numbers in words.
    format: Option<NumberFormat>,
    /// `%1.%2)`: the numbers of levels, and what is printed around them.
    text: String,
    start: Option<u32>,
}

/// A list: the definition that it follows, and where it begins instead.
#[derive(Debug, Clone, Default)]
struct List {
    definition: u32,
    starts: [Option<u32>; LEVELS],
}

/// The lists of a document, and where the text is in them.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    definitions: HashMap<u32, [Level; LEVELS]>,
    lists: HashMap<u32, List>,
    /// The last number of each level, by definition: lists of one definition go on where another ended.
    counters: HashMap<u32, [Option<u32>; LEVELS]>,
    /// Lists that have begun, by their number.
    begun: HashMap<u32, [bool; LEVELS]>,
}

impl Numbering {
    /// Reads the part that defines them.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub(super) fn read(part: &str) -> Result<Numbering, SkipReason> {
        let mut reader = XmlReader::new(part);
        let mut numbering = Numbering::default();
        let mut definition: Option<u32> = None;
        let mut list: Option<u32> = None;
        let mut level = 0usize;
        while let Some(event) = reader.next()? {
            let element = match event {
                XmlEvent::Start(element) => element,
                XmlEvent::End(end) => {
                    match end.name() {
                        "abstractNum" => definition = None,
                        "num" => list = None,
                        _ => {}
                    }
                    continue;
                }
                XmlEvent::Text(_) => continue,
            };
            match element.name() {
                "abstractNum" => definition = element.number("abstractNumId"),
                "num" => list = element.number("numId"),
                "lvl" | "lvlOverride" => level = level_of(&element),
                "abstractNumId" => {
                    if let (Some(list), Some(of)) = (list, element.number("val")) {
                        numbering.lists.entry(list).or_default().definition = of;
                    }
                }
                "startOverride" => {
                    let found = list.and_then(|list| numbering.lists.get_mut(&list));
                    if let Some(start) = found.and_then(|list| list.starts.get_mut(level)) {
                        *start = element.number("val");
                    }
                }
                _ => {
                    let levels = definition.map(|id| numbering.definitions.entry(id).or_default());
                    if let Some(level) = levels.and_then(|levels| levels.get_mut(level)) {
                        level.take(&element);
                    }
                }
            }
        }
        Ok(numbering)
    }

    /// The number of the next paragraph of a list at a level from 0, with a space behind it; `None` where a bullet or
    /// nothing is printed. Counts it.
    pub(super) fn label(&mut self, list: u32, level: u32) -> Option<String> {
        let at = usize::try_from(level).ok()?;
        let found = self.lists.get(&list)?;
        let levels = self.definitions.get(&found.definition)?;
        let counters = self.counters.entry(found.definition).or_default();
        let begun = self.begun.entry(list).or_default();
        let is_first = begun
            .get_mut(at)
            .is_some_and(|begun| !std::mem::replace(begun, true));
        let restart = found.starts.get(at).copied().flatten().filter(|_| is_first);
        let start = levels.get(at)?.start.unwrap_or(1);
        let counter = counters.get_mut(at)?;
        let next = counter.map_or(start, |number| number.saturating_add(1));
        *counter = Some(restart.unwrap_or(next));
        // A level that was passed over has begun with its first number.
        for (above, level) in std::iter::zip(counters.iter_mut(), levels).take(at) {
            above.get_or_insert(level.start.unwrap_or(1));
        }
        for deeper in counters.iter_mut().skip(at + 1) {
            *deeper = None;
        }
        let level = levels.get(at)?;
        level.format?;
        let mut label = String::new();
        let mut characters = level.text.chars();
        while let Some(character) = characters.next() {
            let digit = match character {
                '%' => characters.next().and_then(|c| c.to_digit(10)),
                character => {
                    label.push(character);
                    continue;
                }
            };
            let shown = digit.and_then(|digit| usize::try_from(digit).ok()?.checked_sub(1));
            let Some(shown) = shown.filter(|shown| *shown <= at) else {
                continue;
            };
            let of = levels.get(shown)?;
            let number = counters.get(shown).copied().flatten().unwrap_or(1);
            let format = of.format.unwrap_or(NumberFormat::Decimal);
            label.push_str(&format.write(number));
        }
        let label = label.trim();
        (!label.is_empty()).then(|| format!("{label} "))
    }
}

impl Level {
    /// A property of the level.
    fn take(&mut self, element: &Element<'_>) {
        match element.name() {
            "start" => self.start = element.number("val"),
            "numFmt" => {
                self.format = match element.attribute("val").as_deref() {
                    Some("decimal") => Some(NumberFormat::Decimal),
                    Some("decimalZero") => Some(NumberFormat::DecimalZero),
                    Some("lowerLetter") => Some(NumberFormat::Lower),
                    Some("upperLetter") => Some(NumberFormat::Upper),
                    Some("lowerRoman") => Some(NumberFormat::LowerRoman),
                    Some("upperRoman") => Some(NumberFormat::UpperRoman),
                    _ => None,
                }
            }
            "lvlText" => {
                let mut text = element.attribute("val").unwrap_or_default();
                text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
                self.text = text;
            }
            _ => {}
        }
    }
}

fn level_of(element: &Element<'_>) -> usize {
    let level = element.number("ilvl").unwrap_or(0);
    usize::try_from(level).unwrap_or(0)
}
