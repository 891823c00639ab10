//! Numbered paragraphs of Word: the numbers are not in the text, but follow from its lists.

use std::collections::HashMap;

use crate::package::xml::{Element, XmlEvent, XmlReader};
use crate::skip_reason::SkipReason;
use crate::word::list_numbers::NumberFormat;

/// Levels of a list.
// The levels of an abstract numbering in ECMA-376: 0 to 8.
const LEVELS: usize = 9;
/// Bytes of the text around a number.
// Repeated before every paragraph of a list: a forged text of a megabyte would make a small file
// huge.
const MAX_TEXT_BYTES: usize = 64;
/// Digits that a number is filled up to.
// A u32 has no more.
const MAX_DIGITS: usize = 10;

/// How the paragraphs of one level are numbered.
#[derive(Debug, Clone, Default)]
struct Level {
    /// None for bullets, and for numbers of which the signs are not known.
    format: Option<NumberFormat>,
    /// `%1.%2)`: the numbers of levels, and what is printed around them.
    text: String,
    start: Option<u32>,
    /// All numbers in it are decimal.
    is_legal: bool,
    /// After a paragraph of which level, from 1, it begins again; 0 for never, none for any above.
    restart: Option<u32>,
    /// The style of the paragraphs that are of this level.
    style: String,
}

/// What lists are made after.
#[derive(Debug, Clone, Default)]
struct Definition {
    levels: [Level; LEVELS],
    /// The style whose list it stands for.
    stands_for: Option<String>,
}

/// A list: the definition that it follows, and where it begins instead.
#[derive(Debug, Clone, Default)]
struct List {
    definition: u32,
    starts: [Option<u32>; LEVELS],
    /// Levels that differ from those of the definition.
    levels: HashMap<usize, Level>,
}

impl List {
    fn level<'l>(&'l self, definition: &'l Definition, at: usize) -> Option<&'l Level> {
        self.levels.get(&at).or_else(|| definition.levels.get(at))
    }
}

/// The lists of a document, and where the text is in them.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    definitions: HashMap<u32, Definition>,
    /// Definitions by the style that has its list from them.
    by_style: HashMap<String, u32>,
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
        let mut reader = XmlReader::office(part);
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
                "abstractNum" => {
                    definition = element.number("abstractNumId");
                    level = LEVELS;
                }
                "num" => {
                    list = element.number("numId");
                    level = LEVELS;
                }
                "lvl" | "lvlOverride" => level = level_of(&element),
                // What older programs print instead.
                "numStyleLink" => {
                    if let Some(id) = definition {
                        let of = numbering.definitions.entry(id).or_default();
                        of.stands_for = element.reference("val");
                    }
                }
                "styleLink" => {
                    let style = element.reference("val");
                    numbering.by_style.extend(style.zip(definition));
                }
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
                    let found = match (definition, list) {
                        (Some(id), _) => {
                            let of = numbering.definitions.entry(id).or_default();
                            of.levels.get_mut(level)
                        }
                        (None, Some(list)) if level < LEVELS => {
                            let found = numbering.lists.get_mut(&list);
                            found.map(|list| list.levels.entry(level).or_default())
                        }
                        _ => None,
                    };
                    if let Some(level) = found {
                        level.take(&element);
                    }
                }
            }
        }
        Ok(numbering)
    }

    /// The number of the next paragraph of a list with a space behind it, at a level from 0; without one at the level of
    /// the style of the paragraph. `None` where a bullet or nothing is printed. Counts it.
    pub(super) fn label(&mut self, list: u32, level: Option<u32>, style: &str) -> Option<String> {
        let found = self.lists.get(&list)?;
        let mut id = found.definition;
        let mut definition = self.definitions.get(&id)?;
        if let Some(linked) = &definition.stands_for {
            id = *self.by_style.get(linked)?;
            definition = self.definitions.get(&id)?;
        }
        let of_style = || {
            let mut levels = definition.levels.iter();
            levels.position(|level| !style.is_empty() && level.style == style)
        };
        let at = match level {
            Some(level) => usize::try_from(level).ok()?,
            None => of_style().unwrap_or(0),
        };
        let counters = self.counters.entry(id).or_default();
        let begun = self.begun.entry(list).or_default();
        let is_first = begun
            .get_mut(at)
            .is_some_and(|begun| !std::mem::replace(begun, true));
        let restart = found.starts.get(at).copied().flatten().filter(|_| is_first);
        let own = found.level(definition, at)?;
        let counter = counters.get_mut(at)?;
        let next = counter.map_or(own.first(), |number| number.saturating_add(1));
        *counter = Some(restart.unwrap_or(next));
        for (number, counter) in counters.iter_mut().enumerate() {
            let Some(level) = found.level(definition, number) else {
                continue;
            };
            if number < at {
                // A level that was passed over has begun with its first number.
                counter.get_or_insert(level.first());
            } else if number > at {
                let after = level
                    .restart
                    .map(|after| usize::try_from(after).unwrap_or(0));
                if after.is_none_or(|after| at < after) {
                    *counter = None;
                }
            }
        }
        own.format?;
        let mut label = String::new();
        let mut characters = own.text.chars();
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
            let of = found.level(definition, shown)?;
            let number = counters.get(shown).copied().flatten();
            let format = match of.format {
                _ if own.is_legal => NumberFormat::Decimal,
                Some(format) => format,
                None => NumberFormat::Decimal,
            };
            label.push_str(&format.write(number.unwrap_or(of.first())));
        }
        let label = label.trim();
        (!label.is_empty()).then(|| format!("{label} "))
    }
}

impl Level {
    /// The first number: where none is stated 0, and 1 for letters and Roman numbers, which have no 0.
    fn first(&self) -> u32 {
        let has_zero = !matches!(
            self.format,
            Some(
                NumberFormat::Lower
                    | NumberFormat::Upper
                    | NumberFormat::LowerRoman
                    | NumberFormat::UpperRoman
                    | NumberFormat::Signs(_)
                    | NumberFormat::NoteMarks
                    | NumberFormat::Chinese
            )
        );
        self.start.unwrap_or(u32::from(!has_zero))
    }

    /// A property of the level.
    fn take(&mut self, element: &Element<'_>) {
        match element.name() {
            "start" => self.start = element.number("val"),
            "isLgl" => self.is_legal = element.is_on(),
            "lvlRestart" => self.restart = element.number("val"),
            "pStyle" => self.style = element.reference("val").unwrap_or_default(),
            "numFmt" => self.format = format_of(element),
            "lvlText" => {
                let mut text = element.attribute("val").unwrap_or_default();
                text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
                self.text = text;
            }
            _ => {}
        }
    }
}

fn format_of(element: &Element<'_>) -> Option<NumberFormat> {
    Some(match element.attribute("val").as_deref()? {
        "decimal" | "decimalFullWidth" | "decimalFullWidth2" | "decimalHalfWidth" => {
            NumberFormat::Decimal
        }
        "decimalZero" => NumberFormat::DecimalZero,
        "lowerLetter" => NumberFormat::Lower,
        "upperLetter" => NumberFormat::Upper,
        "lowerRoman" => NumberFormat::LowerRoman,
        "upperRoman" => NumberFormat::UpperRoman,
        "ordinal" => NumberFormat::Ordinal,
        "cardinalText" => NumberFormat::CardinalText,
        "ordinalText" => NumberFormat::OrdinalText,
        "decimalEnclosedCircle" | "decimalEnclosedCircleChinese" => NumberFormat::Signs('①'),
        "decimalEnclosedParen" => NumberFormat::Signs('⑴'),
        "decimalEnclosedFullstop" => NumberFormat::Signs('⒈'),
        "numberInDash" => NumberFormat::Dashes,
        "chicago" => NumberFormat::NoteMarks,
        "chineseCounting"
        | "chineseCountingThousand"
        | "japaneseCounting"
        | "taiwaneseCounting"
        | "taiwaneseCountingThousand" => NumberFormat::Chinese,
        "none" => NumberFormat::Nothing,
        // `001, 002, 003, ...`
        "custom" => {
            let example = element.attribute("format")?;
            let digits = example.bytes().take_while(u8::is_ascii_digit).count();
            NumberFormat::Padded(digits.min(MAX_DIGITS))
        }
        _ => return None,
    })
}

fn level_of(element: &Element<'_>) -> usize {
    let level = element.number("ilvl").unwrap_or(0);
    usize::try_from(level).unwrap_or(0)
}
