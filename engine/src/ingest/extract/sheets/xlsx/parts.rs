//! The parts of a workbook that its sheets refer to.

use std::collections::HashMap;
use std::ops::Range;

use quick_xml::events::Event;

use crate::ingest::extract::sheets::number_format::{self, NumberFormat};
use crate::ingest::extract::sheets::package::{Package, damaged};
use crate::ingest::extract::sheets::xml::{Events, attribute, each_attribute, push_text};
use crate::ingest::extract::skip_reason::SkipReason;

pub(in crate::ingest::extract::sheets) const FORMAT: &str = "Excel workbook";

/// A part that another one refers to.
#[derive(Debug, Default)]
pub(super) struct Relation {
    pub(super) id: String,
    /// The last word of its type: `worksheet`.
    pub(super) kind: String,
    /// Its name in the package.
    pub(super) target: String,
}

/// The parts that `part` refers to; the package itself is the part without a name.
pub(super) fn relations(
    package: &mut Package<'_>,
    part: &str,
) -> Result<Vec<Relation>, SkipReason> {
    let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
    let slash = if folder.is_empty() { "" } else { "/" };
    let listed = package.xml(&format!("{folder}{slash}_rels/{name}.rels"))?;
    let mut found = Vec::new();
    let Some(listed) = listed else {
        return Ok(found);
    };
    let mut events = Events::new(&listed, FORMAT, "a part of relationships");
    loop {
        match events.next()? {
            Event::Start(element) | Event::Empty(element)
                if element.local_name().as_ref() == "Relationship" =>
            {
                let mut relation = Relation::default();
                let mut is_external = false;
                each_attribute(&element, |name, value| match name {
                    "Id" => relation.id = value,
                    "Type" => {
                        relation.kind = value.rsplit('/').next().unwrap_or_default().to_owned();
                    }
                    "Target" => relation.target = resolve(folder, &value),
                    "TargetMode" => is_external = value == "External",
                    _ => {}
                });
                if !is_external {
                    found.push(relation);
                }
            }
            Event::Eof => return Ok(found),
            _ => {}
        }
    }
}

fn resolve(folder: &str, target: &str) -> String {
    let target = target.replace('\\', "/");
    let mut names: Vec<&str> = Vec::new();
    if !target.starts_with('/') {
        names.extend(folder.split('/'));
    }
    for name in target.split('/') {
        match name {
            "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    names.retain(|name| !name.is_empty());
    names.join("/")
}

/// The name of the part that lists the sheets.
pub(in crate::ingest::extract::sheets) fn main_part(
    package: &mut Package<'_>,
) -> Result<String, SkipReason> {
    let relations = relations(package, "")?;
    let main = relations
        .into_iter()
        .find(|relation| relation.kind == "officeDocument");
    Ok(main.map_or_else(|| "xl/workbook.xml".to_owned(), |main| main.target))
}

/// What the workbook lists.
#[derive(Debug, Default)]
pub(super) struct Book {
    pub(super) sheets: Vec<Entry>,
    /// Whether days are counted from 1904.
    pub(super) is_1904: bool,
}

#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) is_hidden: bool,
    /// Of its relation.
    pub(super) id: String,
}

/// Reads the list of the sheets.
pub(super) fn book(xml: &str) -> Result<Book, SkipReason> {
    let mut events = Events::new(xml, FORMAT, "its workbook");
    let mut book = Book::default();
    let mut is_book = false;
    loop {
        match events.next()? {
            Event::Start(element) | Event::Empty(element) => match element.local_name().as_ref() {
                "workbook" => is_book = true,
                "workbookPr" => {
                    let stated = attribute(&element, "date1904");
                    book.is_1904 = matches!(stated.as_deref(), Some("1" | "true"));
                }
                "sheet" => {
                    let mut entry = Entry::default();
                    each_attribute(&element, |name, value| match name {
                        "name" => entry.name = value,
                        "state" => entry.is_hidden = value != "visible",
                        "id" => entry.id = value,
                        _ => {}
                    });
                    book.sheets.push(entry);
                }
                _ => {}
            },
            Event::Eof if is_book => return Ok(book),
            Event::Eof => return Err(damaged(FORMAT, "its workbook is none")),
            _ => {}
        }
    }
}

/// The texts that cells share, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Strings {
    text: String,
    ends: Vec<usize>,
}

impl Strings {
    pub(super) fn read(xml: &str) -> Result<Strings, SkipReason> {
        let mut events = Events::new(xml, FORMAT, "its shared strings");
        let mut strings = Strings::default();
        let mut words = String::new();
        loop {
            match events.next()? {
                Event::Start(element) if element.local_name().as_ref() == "si" => {
                    words.clear();
                    rich_text(&mut events, "si", &mut words)?;
                    strings.text.push_str(&unescape(&words));
                    strings.ends.push(strings.text.len());
                }
                Event::Empty(element) if element.local_name().as_ref() == "si" => {
                    strings.ends.push(strings.text.len());
                }
                Event::Eof => return Ok(strings),
                _ => {}
            }
        }
    }

    pub(super) fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let before = index
            .checked_sub(1)
            .and_then(|before| self.ends.get(before));
        let span: Range<usize> = before.copied().unwrap_or(0)..end;
        self.text.get(span)
    }
}

/// The text of an element up to its end: of its `t`, but for those that say how it is spoken.
pub(super) fn rich_text(
    events: &mut Events<'_>,
    name: &str,
    text: &mut String,
) -> Result<(), SkipReason> {
    let mut in_text = false;
    loop {
        let event = events.next()?;
        match &event {
            Event::Start(element) => match element.local_name().as_ref() {
                "t" => in_text = true,
                "r" => {}
                _ => events.skip()?,
            },
            Event::End(element) => {
                let ended = element.local_name();
                if ended.as_ref() == name {
                    return Ok(());
                }
                in_text = false;
            }
            Event::Eof => return Ok(()),
            event if in_text => push_text(event, text),
            _ => {}
        }
    }
}

/// `_x000D_` stands for a character that XML cannot hold.
pub(super) fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("_x") {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        let character = from
            .get(2..6)
            .filter(|_| from.get(6..7) == Some("_"))
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .and_then(char::from_u32);
        match character {
            Some(character) => {
                plain.push(character);
                rest = from.get(7..).unwrap_or_default();
            }
            None => {
                plain.push_str("_x");
                rest = from.get(2..).unwrap_or_default();
            }
        }
    }
    plain.push_str(rest);
    plain.replace("\r\n", "\n")
}

/// The number formats of the styles of cells.
#[derive(Debug, Default)]
pub(super) struct Styles {
    formats: Vec<NumberFormat>,
    /// The format of each style.
    of_style: Vec<usize>,
    general: NumberFormat,
}

impl Styles {
    pub(super) fn read(xml: &str) -> Result<Styles, SkipReason> {
        let mut events = Events::new(xml, FORMAT, "its styles");
        let mut styles = Styles::default();
        let mut codes: HashMap<u32, String> = HashMap::new();
        let mut known: HashMap<u32, usize> = HashMap::new();
        let mut of_cells = false;
        loop {
            match events.next()? {
                Event::Start(element) | Event::Empty(element) => {
                    match element.local_name().as_ref() {
                        "numFmt" => {
                            let id = attribute(&element, "numFmtId");
                            let id = id.and_then(|id| id.parse::<u32>().ok());
                            let code = attribute(&element, "formatCode");
                            if let (Some(id), Some(code)) = (id, code) {
                                codes.insert(id, code);
                            }
                        }
                        "cellXfs" => of_cells = true,
                        "cellStyleXfs" | "dxfs" | "cellStyles" => of_cells = false,
                        "xf" if of_cells => {
                            let id = attribute(&element, "numFmtId");
                            let id = id.and_then(|id| id.parse::<u32>().ok()).unwrap_or(0);
                            let format = *known.entry(id).or_insert_with(|| {
                                let code = codes.get(&id).map(String::as_str);
                                let code = code.or_else(|| number_format::built_in(id));
                                styles
                                    .formats
                                    .push(NumberFormat::parse(code.unwrap_or_default()));
                                styles.formats.len() - 1
                            });
                            styles.of_style.push(format);
                        }
                        _ => {}
                    }
                }
                Event::End(element) if element.local_name().as_ref() == "cellXfs" => {
                    of_cells = false;
                }
                Event::Eof => return Ok(styles),
                _ => {}
            }
        }
    }

    pub(super) fn format(&self, style: usize) -> &NumberFormat {
        let format = self.of_style.get(style);
        format
            .and_then(|format| self.formats.get(*format))
            .unwrap_or(&self.general)
    }
}
