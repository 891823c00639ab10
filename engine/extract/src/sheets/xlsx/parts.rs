//! The parts of a workbook that its sheets refer to.

use std::collections::HashMap;
use std::ops::Range;

use crate::package::xml::{XmlEvent, XmlReader};
use crate::sheets::number_format::{CodeReader, NumberFormat};
use crate::skip_reason::{MAX_TEXT_BYTES, SkipReason};

pub(crate) const FORMAT: &str = "Excel workbook";

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
///
/// # Errors
/// [`SkipReason::Damaged`] for what is no such list; a limit is exceeded.
pub(super) fn book(xml: &str) -> Result<Book, SkipReason> {
    let mut reader = XmlReader::of_own(xml);
    let mut book = Book::default();
    let mut is_book = false;
    while let Some(event) = reader.next()? {
        let XmlEvent::Start(element) = event else {
            continue;
        };
        match element.name() {
            "workbook" => is_book = true,
            "workbookPr" => {
                let stated = element.attribute("date1904");
                // Workbooks of Excel for Macintosh: without it all their dates would be four years
                // and a day too early.
                book.is_1904 = matches!(stated.as_deref(), Some("1" | "true"));
            }
            "sheet" => {
                let state = element.attribute("state");
                book.sheets.push(Entry {
                    name: element.attribute("name").unwrap_or_default(),
                    is_hidden: state.is_some_and(|state| state != "visible"),
                    id: element.prefixed_attribute("id").unwrap_or_default(),
                });
            }
            _ => {}
        }
    }
    match is_book && !reader.is_broken() {
        true => Ok(book),
        false => Err(SkipReason::damaged(FORMAT, "its list of sheets is no XML")),
    }
}

/// The texts that cells share, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Strings {
    text: String,
    ends: Vec<usize>,
}

impl Strings {
    /// Reads the part that holds them.
    ///
    /// # Errors
    /// [`SkipReason::Damaged`] for what is no XML; a limit is exceeded.
    pub(super) fn read(xml: &str) -> Result<Strings, SkipReason> {
        let mut reader = XmlReader::of_own(xml);
        let mut strings = Strings::default();
        while let Some(event) = reader.next()? {
            if let XmlEvent::Start(element) = event
                && element.name() == "si"
            {
                let words = rich_text(&mut reader, "si")?;
                strings.text.push_str(&unescape(&words));
                strings.ends.push(strings.text.len());
            }
        }
        match reader.is_broken() {
            false => Ok(strings),
            true => Err(SkipReason::damaged(FORMAT, "its shared strings are no XML")),
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

/// The text of the element of that name which was begun last, up to its end: of its `t`, but for those that say
/// how it is spoken.
///
/// # Errors
/// A limit is exceeded.
pub(super) fn rich_text(reader: &mut XmlReader<'_>, name: &str) -> Result<String, SkipReason> {
    let mut text = String::new();
    while let Some(event) = reader.next()? {
        match event {
            XmlEvent::Start(element) => match element.name() {
                "t" => {
                    let left = MAX_TEXT_BYTES.saturating_sub(text.len());
                    // Limited here, because runs add up: each alone may be of the largest size.
                    text.push_str(&reader.text_of_element(left)?);
                }
                "r" => {}
                _ => reader.skip()?,
            },
            XmlEvent::End(element) if element.name() == name => break,
            _ => {}
        }
    }
    Ok(text)
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
            // The escape of ST_Xstring (ECMA-376 part 1, 22.9.2.19). `_x005F_` is an underscore
            // that would begin one.
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
    /// Reads the part that holds them.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub(super) fn read(xml: &str) -> Result<Styles, SkipReason> {
        let mut reader = XmlReader::of_own(xml);
        let mut styles = Styles::default();
        let mut codes: HashMap<u32, String> = HashMap::new();
        let mut known: HashMap<u32, usize> = HashMap::new();
        let mut reader_of_codes = CodeReader::new();
        let mut of_cells = false;
        while let Some(event) = reader.next()? {
            match event {
                XmlEvent::Start(element) => match element.name() {
                    "numFmt" => {
                        let id = element.number("numFmtId");
                        if let (Some(id), Some(code)) = (id, element.attribute("formatCode")) {
                            codes.insert(id, code);
                        }
                    }
                    // Of formats that depend on a condition.
                    "dxf" => reader.skip()?,
                    "cellXfs" => of_cells = true,
                    "cellStyleXfs" | "dxfs" | "cellStyles" => of_cells = false,
                    "xf" if of_cells => {
                        let id = element.number("numFmtId").unwrap_or(0);
                        // A workbook may have tens of thousands of styles with few formats; each is
                        // parsed once.
                        let format = *known.entry(id).or_insert_with(|| {
                            let format =
                                reader_of_codes.read(id, codes.get(&id).map(String::as_str));
                            styles.formats.push(format);
                            styles.formats.len() - 1
                        });
                        styles.of_style.push(format);
                    }
                    _ => {}
                },
                XmlEvent::End(element) if element.name() == "cellXfs" => of_cells = false,
                _ => {}
            }
        }
        Ok(styles)
    }

    pub(super) fn format(&self, style: usize) -> &NumberFormat {
        let format = self.of_style.get(style);
        format
            .and_then(|format| self.formats.get(*format))
            .unwrap_or(&self.general)
    }
}
