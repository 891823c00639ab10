//! Rich Text Format: control words, groups, and bytes in the code page of each font.

use std::collections::HashMap;

use encoding_rs::{Encoding, WINDOWS_1252};

use crate::extracted::Extracted;
use crate::package::code_pages::{encoding_of, encoding_of_charset};
use crate::package::math::{Equation, is_setting};
use crate::skip_reason::{MAX_TEXT_BYTES, SkipReason};
use crate::word::docx_styles::{heading_level, level_of_name};
use crate::word::flow::{Break, Flow};
use crate::word::rtf_tokens::{Token, Tokens};

/// Nesting depth of groups.
// Real files stay below 100. Each open group keeps a copy of the state of its text.
const MAX_GROUPS: usize = 4000;
/// Bytes of a property or the name of a style.
const MAX_PROPERTY_BYTES: usize = 64 << 10;
/// Fonts and styles that are kept.
// Numbers of fonts and styles are 16 bits.
const MAX_DEFINITIONS: usize = 65_536;
/// Most substitute bytes behind a Unicode character (`\uc`).
// Writers use one, or two in East Asian text. A forged number would swallow the text behind.
const MAX_SUBSTITUTES: usize = 16;

pub(crate) const FORMAT: &str = "RTF";

/// Bytes before `{\rtf` in files that begin with white space or a mark.
// Without a limit any text that quotes RTF would be taken for it.
const START_BYTES: usize = 64;

/// Whether a file begins as Rich Text Format does, perhaps after white space or a mark.
pub(crate) fn is_rtf(bytes: &[u8]) -> bool {
    let head = bytes.get(..START_BYTES).unwrap_or(bytes);
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches(['\u{feff}', '\u{fffd}', '\0', ' ', '\t', '\r', '\n']);
    text.starts_with("{\\rtf")
}

/// Reads a file that begins with `{\rtf`, perhaps after white space.
///
/// # Errors
/// [`SkipReason::Limit`] for groups nested too deep, too much text.
pub(crate) fn extract(bytes: &[u8]) -> Result<Extracted, SkipReason> {
    let mut reader = Reader::default();
    for token in Tokens::new(bytes) {
        reader.read(token)?;
        if reader.is_done || reader.flow.is_full() {
            break;
        }
    }
    reader.flush();
    reader.end_paragraph();
    let mut found = Extracted::default();
    for (key, value) in &reader.properties {
        found.add_property(key, value);
    }
    reader.flow.finish(found)
}

/// Where the text of a group goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Destination {
    #[default]
    Body,
    /// Notes and comments, which follow their paragraph.
    Note,
    Fonts,
    Styles,
    /// Properties of the document, and one of them.
    Info,
    Property(&'static str),
    /// A time, in one word for each of its parts.
    Time(&'static str),
    /// An equation, and a setting in it.
    Equation,
    Setting,
    Nowhere,
}

/// What a group changes until its end.
#[derive(Debug, Clone, Default)]
struct Group {
    destination: Destination,
    /// The same for the Unicode form of a text of two forms, whose other form is left out.
    unicode_form: Option<Destination>,
    font: i32,
    style: i32,
    /// Outline level of the paragraph, from 0.
    outline_level: Option<u32>,
    is_hidden: bool,
    substitutes: Option<usize>,
    in_table: bool,
}

#[derive(Debug, Default)]
struct Style {
    name: String,
    outline_level: Option<u32>,
}

#[derive(Debug, Default)]
struct Reader {
    flow: Flow,
    group: Group,
    outer: Vec<Group>,
    /// Bytes in the code page of the font, not yet decoded.
    bytes: Vec<u8>,
    page: Option<&'static Encoding>,
    fonts: HashMap<i32, &'static Encoding>,
    styles: HashMap<i32, Style>,
    default_font: i32,
    /// The font or style that is being defined.
    defined: i32,
    name: String,
    level: Option<u32>,
    properties: Vec<(&'static str, String)>,
    /// Year, month, day, hour, minute and second of the time that is being read.
    time: [i32; 6],
    paragraph: String,
    breaks: Vec<(usize, Break)>,
    notes: String,
    equation: Equation,
    /// The setting of it that is being read, and its value.
    setting: (String, String),
    /// The group begins with `\*`: what is not known is left out.
    is_optional: bool,
    /// Bytes to pass over, which stand for the character before.
    to_skip: usize,
    /// First half of a character of two units.
    high: Option<u16>,
    /// The section goes on on the page of the one before.
    section_goes_on: bool,
    in_row: bool,
    is_done: bool,
}

impl Reader {
    fn read(&mut self, token: Token<'_>) -> Result<(), SkipReason> {
        match token {
            Token::Open => {
                self.flush();
                if self.outer.len() >= MAX_GROUPS {
                    return Err(SkipReason::Limit {
                        what: "groups inside each other",
                        limit: MAX_GROUPS as u64,
                    });
                }
                self.outer.push(self.group.clone());
                self.is_optional = false;
                self.to_skip = 0;
            }
            Token::Close => self.close(),
            Token::Word(word, value) => {
                self.flush();
                self.to_skip = 0;
                self.word(word, value);
                self.is_optional = false;
            }
            Token::Character(number) => {
                self.flush();
                self.unit(number);
                self.to_skip = self.group.substitutes.unwrap_or(1);
                self.is_optional = false;
            }
            Token::Byte(_) if self.to_skip > 0 => self.to_skip -= 1,
            Token::Byte(byte) => self.bytes.push(byte),
            Token::Symbol(symbol) => {
                self.flush();
                self.to_skip = 0;
                match symbol {
                    b'*' => self.is_optional = true,
                    b'~' => self.push("\u{a0}"),
                    b'_' => self.push("-"),
                    b'\r' | b'\n' => self.paragraph_ends(),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn close(&mut self) {
        self.flush();
        self.to_skip = 0;
        let is_definition = self.group.destination == Destination::Styles;
        let Some(outer) = self.outer.pop() else {
            self.is_done = true;
            return;
        };
        if is_definition && outer.destination == Destination::Styles {
            self.define_style();
        }
        if let Destination::Time(key) = self.group.destination
            && outer.destination == Destination::Info
        {
            let [year, month, day, hour, minute, second] = std::mem::take(&mut self.time);
            let time = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
            self.properties.push((key, time));
        }
        if self.group.destination == Destination::Note && outer.destination != Destination::Note {
            self.notes.push('\n');
        }
        let closed = self.group.destination;
        self.group = outer;
        self.is_done = self.outer.is_empty();
        self.end_in_equation(closed);
    }

    /// A group with that destination was closed, and perhaps the equation that it belongs to.
    fn end_in_equation(&mut self, closed: Destination) {
        match (closed, self.group.destination) {
            (Destination::Setting, Destination::Equation) => {
                let (name, value) = std::mem::take(&mut self.setting);
                self.equation.set(&name, value.trim().to_owned());
            }
            (Destination::Equation, Destination::Equation) => {
                self.equation.end(self.outer.len() as u64 + 1);
            }
            (Destination::Equation, _) => {
                let equation = std::mem::take(&mut self.equation).finish();
                self.push(&equation);
            }
            _ => {}
        }
    }

    /// A word in an equation; whether it is one of equations.
    fn word_of_equation(&mut self, word: &[u8]) -> bool {
        let Some(name) = word.strip_prefix(b"m") else {
            return false;
        };
        let name = String::from_utf8_lossy(name).into_owned();
        match name.as_str() {
            // Runs, properties that hold settings, and how characters look.
            "r" | "scr" | "sty" | "nor" | "lit" | "aln" | "brk" | "oMath" => {}
            name if name.ends_with("Pr") => {}
            name if is_setting(name) => {
                self.group.destination = Destination::Setting;
                self.setting = (name.to_owned(), String::new());
            }
            "f" | "rad" | "sSup" | "sSub" | "sSubSup" | "sPre" | "nary" | "d" | "m" | "mr"
            | "eqArr" | "acc" | "bar" | "groupChr" | "limLow" | "limUpp" | "func" | "num"
            | "den" | "e" | "sub" | "sup" | "deg" | "lim" | "fName" | "box" | "borderBox"
            | "phant" => self.equation.begin(&name, self.outer.len() as u64),
            // Settings that change nothing in the text, and a picture of it.
            _ => self.group.destination = Destination::Nowhere,
        }
        true
    }

    fn define_style(&mut self) {
        let name = std::mem::take(&mut self.name);
        let outline_level = self.level.take();
        if self.styles.len() < MAX_DEFINITIONS {
            let name = name.trim_end_matches(';').to_owned();
            self.styles.insert(
                self.group.style,
                Style {
                    name,
                    outline_level,
                },
            );
        }
    }

    /// Decodes the bytes so far.
    fn flush(&mut self) {
        if self.bytes.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.bytes);
        let of_font = self.fonts.get(&self.group.font).copied();
        let encoding = of_font.or(self.page).unwrap_or(WINDOWS_1252);
        let (text, _) = encoding.decode_without_bom_handling(&bytes);
        self.push(&text);
        self.bytes = bytes;
        self.bytes.clear();
    }

    fn push(&mut self, text: &str) {
        if self.group.is_hidden {
            return;
        }
        let (target, most) = match self.group.destination {
            Destination::Body => (&mut self.paragraph, MAX_TEXT_BYTES + 1),
            Destination::Note => (&mut self.notes, MAX_TEXT_BYTES),
            Destination::Styles => (&mut self.name, MAX_PROPERTY_BYTES),
            Destination::Property(key) => {
                if self.properties.last().is_none_or(|(last, _)| *last != key) {
                    self.properties.push((key, String::new()));
                }
                let Some((_, value)) = self.properties.last_mut() else {
                    return;
                };
                (value, MAX_PROPERTY_BYTES)
            }
            Destination::Equation => return self.equation.push(text),
            Destination::Setting => (&mut self.setting.1, MAX_SUBSTITUTES),
            Destination::Fonts
            | Destination::Info
            | Destination::Time(_)
            | Destination::Nowhere => return,
        };
        if target.len() + text.len() <= most {
            target.push_str(text);
        }
    }

    /// A character by its number: a unit of UTF-16.
    fn unit(&mut self, number: i32) {
        // Numbers above 32,767 are written as negative ones.
        let unit = (number & 0xFFFF).unsigned_abs();
        let Ok(unit) = u16::try_from(unit) else {
            return;
        };
        let high = self.high.take();
        match unit {
            0xD800..=0xDBFF => self.high = Some(unit),
            _ => {
                let pair = high.into_iter().chain([unit]);
                let text: String = char::decode_utf16(pair)
                    .filter_map(Result::ok)
                    .filter(|c| *c != '\0')
                    .collect();
                self.push(&text);
            }
        }
    }

    fn word(&mut self, word: &[u8], value: Option<i32>) {
        let number = value.unwrap_or(0);
        let in_body = self.group.destination == Destination::Body && !self.group.is_hidden;
        if matches!(self.group.destination, Destination::Time(_)) {
            let parts = [&b"yr"[..], b"mo", b"dy", b"hr", b"min", b"sec"];
            for (part, slot) in std::iter::zip(parts, &mut self.time) {
                if part == word {
                    *slot = number;
                }
            }
            return;
        }
        if self.group.destination == Destination::Equation && self.word_of_equation(word) {
            return;
        }
        match word {
            b"moMath" if self.takes_equation() => {
                self.group.destination = Destination::Equation;
                self.equation = Equation::default();
            }
            b"ansicpg" => self.page = u32::try_from(number).ok().and_then(encoding_of),
            b"mac" => self.page = encoding_of(10_000),
            b"uc" => {
                let count = usize::try_from(number).unwrap_or(0);
                self.group.substitutes = Some(count.min(MAX_SUBSTITUTES));
            }
            b"deff" => {
                self.default_font = number;
                self.group.font = number;
            }
            b"plain" => {
                self.group.font = self.default_font;
                self.group.is_hidden = false;
            }
            b"v" => self.group.is_hidden = value != Some(0),
            b"f" => {
                self.defined = number;
                self.group.font = number;
            }
            b"fcharset" => self.define_font(encoding_of_charset(number)),
            b"cpg" => {
                let encoding = u32::try_from(number).ok().and_then(encoding_of);
                self.define_font(encoding);
            }
            b"pard" => {
                self.group.outline_level = None;
                self.group.style = 0;
                self.group.in_table = false;
            }
            b"intbl" => self.group.in_table = true,
            b"s" => self.group.style = number,
            b"outlinelevel" => {
                let level = u32::try_from(number).ok();
                self.group.outline_level = level;
                if self.group.destination == Destination::Styles {
                    self.level = level;
                }
            }
            b"sectd" | b"sbkpage" | b"sbkodd" | b"sbkeven" => self.section_goes_on = false,
            b"sbknone" | b"sbkcol" => self.section_goes_on = true,
            b"par" => self.paragraph_ends(),
            b"sect" => {
                self.paragraph_ends();
                if in_body && !self.section_goes_on {
                    self.flow.begin_page(Break::NewPage);
                }
            }
            b"page" if in_body => self.breaks.push((self.paragraph.len(), Break::Page)),
            b"pagebb" if in_body => self.flow.begin_page(Break::NewPage),
            b"cell" | b"nestcell" if in_body => self.end_cell(),
            b"row" | b"nestrow" if in_body => self.end_row(),
            _ => match character_of(word) {
                Some(text) => self.push(text),
                None => self.destination(word),
            },
        }
    }

    fn takes_equation(&self) -> bool {
        matches!(
            self.group.destination,
            Destination::Body | Destination::Note
        )
    }

    fn define_font(&mut self, encoding: Option<&'static Encoding>) {
        if self.group.destination == Destination::Fonts
            && self.fonts.len() < MAX_DEFINITIONS
            && let Some(encoding) = encoding
        {
            self.fonts.insert(self.defined, encoding);
        }
    }

    /// A word that says what the group is.
    fn destination(&mut self, word: &[u8]) {
        let in_info = self.group.destination == Destination::Info;
        let destination = match word {
            b"fonttbl" => Destination::Fonts,
            b"stylesheet" => Destination::Styles,
            b"info" => Destination::Info,
            b"title" if in_info => Destination::Property("title"),
            b"author" if in_info => Destination::Property("author"),
            b"subject" if in_info => Destination::Property("subject"),
            b"keywords" if in_info => Destination::Property("keywords"),
            b"doccomm" if in_info => Destination::Property("description"),
            b"creatim" if in_info => Destination::Time("created"),
            b"revtim" if in_info => Destination::Time("modified"),
            b"footnote" | b"annotation" if self.group.destination == Destination::Body => {
                Destination::Note
            }
            // A text in the code page, then `{\*\ud }` with the same in Unicode.
            b"upr" if self.group.destination != Destination::Nowhere => {
                self.group.unicode_form = Some(self.group.destination);
                Destination::Nowhere
            }
            b"ud" => {
                if let Some(form) = self.group.unicode_form.take() {
                    self.group.destination = form;
                }
                return;
            }
            b"header"
            | b"headerl"
            | b"headerr"
            | b"headerf"
            | b"footer"
            | b"footerl"
            | b"footerr"
            | b"footerf"
            | b"colortbl"
            | b"pict"
            | b"themedata"
            | b"colorschememapping"
            | b"latentstyles"
            | b"datastore"
            | b"listtable"
            | b"listoverridetable"
            | b"rsidtbl"
            | b"generator"
            | b"xmlnstbl"
            | b"pgdsctbl"
            | b"fldinst"
            | b"objdata"
            | b"objclass"
            | b"nonshppict"
            | b"bkmkstart"
            | b"bkmkend"
            | b"revtbl"
            | b"filetbl"
            | b"mmathPr"
            | b"wgrffmtfilter"
            | b"atnid"
            | b"atnauthor"
            | b"annotation"
            | b"xe"
            | b"tc"
            | b"falt"
            | b"panose"
            | b"fname"
            | b"fontemb"
            | b"sp"
            | b"userprops"
            | b"pntxtb"
            | b"pntxta"
            | b"pnseclvl"
            | b"pn"
            | b"nonesttables"
            | b"deleted"
            | b"docvar"
            | b"template" => Destination::Nowhere,
            b"mmath" | b"moMathPara" => return,
            b"shpinst" | b"shprslt" | b"shptxt" | b"fldrslt" | b"result" | b"upr" | b"listtext"
            | b"pntext" | b"nesttableprops" | b"shppict" => return,
            _ if self.is_optional => Destination::Nowhere,
            _ => return,
        };
        if self.group.destination != Destination::Nowhere {
            self.group.destination = destination;
        }
        if destination == Destination::Styles {
            self.name.clear();
        }
    }

    fn paragraph_ends(&mut self) {
        match self.group.destination {
            Destination::Body => self.end_paragraph(),
            _ => self.push("\n"),
        }
    }

    fn end_paragraph(&mut self) {
        let style = self.styles.get(&self.group.style);
        let own = self.group.outline_level;
        let level = match own.or_else(|| style.and_then(|style| style.outline_level)) {
            Some(level) => heading_level(level),
            None => style.and_then(|style| level_of_name(&style.name)),
        };
        // Text in a table belongs to a cell, and cells to rows.
        if self.group.in_table && !self.in_row {
            self.begin_row();
        }
        self.flow.paragraph(&self.paragraph, level, &self.breaks);
        self.paragraph.clear();
        self.breaks.clear();
        for note in self.notes.lines() {
            self.flow.paragraph(note, None, &[]);
        }
        self.notes.clear();
    }

    fn begin_row(&mut self) {
        self.flow.begin_row();
        self.in_row = true;
    }

    fn end_cell(&mut self) {
        if !self.in_row {
            self.begin_row();
        }
        self.end_paragraph();
        self.flow.end_cell();
    }

    fn end_row(&mut self) {
        if !self.paragraph.is_empty() {
            self.end_paragraph();
        }
        if self.in_row {
            self.flow.end_row();
        }
        self.in_row = false;
    }
}

/// The character that a word stands for.
fn character_of(word: &[u8]) -> Option<&'static str> {
    Some(match word {
        b"line" | b"lbr" => "\n",
        b"tab" => "\t",
        b"emdash" => "\u{2014}",
        b"endash" => "\u{2013}",
        b"lquote" => "\u{2018}",
        b"rquote" => "\u{2019}",
        b"ldblquote" => "\u{201c}",
        b"rdblquote" => "\u{201d}",
        b"bullet" => "\u{2022}",
        b"emspace" | b"enspace" | b"qmspace" => " ",
        _ => return None,
    })
}
