//! Numbers of the paragraphs of a slide that are lists: they are not in its text.

use crate::package::xml::Element;
use crate::word::list_numbers::NumberFormat;

/// Levels of a list.
const LEVELS: usize = 9;

/// How paragraphs are numbered.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Numbering {
    format: NumberFormat,
    before: &'static str,
    after: &'static str,
    start: u32,
}

impl Numbering {
    /// From its type, as `romanUcPeriod`.
    fn read(element: &Element<'_>) -> Numbering {
        let kind = element.reference("type").unwrap_or_default();
        let (before, after) = match kind.as_str() {
            kind if kind.ends_with("ParenBoth") => ("(", ")"),
            kind if kind.ends_with("ParenR") => ("", ")"),
            kind if kind.ends_with("Plain") => ("", ""),
            kind if kind.ends_with("Minus") => ("", "-"),
            _ => ("", "."),
        };
        let format = match kind.as_str() {
            kind if kind.starts_with("alphaLc") => NumberFormat::Lower,
            kind if kind.starts_with("alphaUc") => NumberFormat::Upper,
            kind if kind.starts_with("romanLc") => NumberFormat::LowerRoman,
            kind if kind.starts_with("romanUc") => NumberFormat::UpperRoman,
            kind if kind.starts_with("circleNum") => NumberFormat::Signs('\u{2460}'),
            kind if kind.starts_with("ea1Ch") => NumberFormat::Chinese,
            _ => NumberFormat::Decimal,
        };
        Numbering {
            format,
            before,
            after,
            start: element.number("startAt").unwrap_or(1),
        }
    }
}

/// What a paragraph or a level says of its mark.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Mark {
    #[default]
    Unsaid,
    /// `buNone`, `buChar` or `buBlip`: a bullet, or no mark at all.
    NoNumber,
    Number(Numbering),
}

/// Numbers the paragraphs of one text.
#[derive(Debug, Default)]
pub(super) struct AutoNumbers {
    /// What the text says of its levels.
    levels: [Mark; LEVELS],
    /// The last numbers.
    counters: [Option<(Numbering, u32)>; LEVELS],
    /// The level that is being defined; none in a paragraph.
    defined: Option<usize>,
    level: usize,
    mark: Mark,
    /// Where the text of the open paragraph begins.
    start: usize,
}

impl AutoNumbers {
    /// Takes what an element says of the text or of its paragraph, which begins behind so many bytes.
    pub(super) fn start(&mut self, element: &Element<'_>, bytes: usize) {
        match element.name() {
            "txBody" => *self = AutoNumbers::default(),
            "p" => {
                (self.level, self.start) = (0, bytes);
                (self.mark, self.defined) = (Mark::Unsaid, None);
            }
            "pPr" => {
                let level = element.number("lvl").unwrap_or(0);
                self.level = usize::try_from(level).unwrap_or(0).min(LEVELS - 1);
                self.defined = None;
            }
            "buNone" | "buChar" | "buBlip" => self.put(Mark::NoNumber),
            "buAutoNum" => self.put(Mark::Number(Numbering::read(element))),
            name => {
                if let Some(level) = level_of(name) {
                    self.defined = Some(level);
                }
            }
        }
    }

    fn put(&mut self, mark: Mark) {
        let target = match self.defined {
            Some(level) => self.levels.get_mut(level),
            None => Some(&mut self.mark),
        };
        if let Some(target) = target {
            *target = mark;
        }
    }

    /// Puts the number before the paragraph that ends. One without text has none.
    pub(super) fn number(&mut self, text: &mut String) {
        let is_empty = text
            .get(self.start..)
            .is_none_or(|paragraph| paragraph.trim().is_empty());
        if is_empty {
            return;
        }
        for deeper in self.counters.iter_mut().skip(self.level + 1) {
            *deeper = None;
        }
        let mark = match std::mem::take(&mut self.mark) {
            Mark::Unsaid => self.levels.get(self.level).cloned().unwrap_or_default(),
            mark => mark,
        };
        let Some(counter) = self.counters.get_mut(self.level) else {
            return;
        };
        let Mark::Number(numbering) = mark else {
            *counter = None;
            return;
        };
        let number = match counter {
            Some((known, last)) if *known == numbering => last.saturating_add(1),
            _ => numbering.start,
        };
        let written = numbering.format.write(number);
        let label = format!("{}{written}{} ", numbering.before, numbering.after);
        *counter = Some((numbering, number));
        text.insert_str(self.start, &label);
    }
}

/// The level that an element of a list style is about: `lvl2pPr`.
fn level_of(name: &str) -> Option<usize> {
    let number = name.strip_prefix("lvl")?.strip_suffix("pPr")?;
    let number: usize = number.parse().ok()?;
    number.checked_sub(1).filter(|level| *level < LEVELS)
}
