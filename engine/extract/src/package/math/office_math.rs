//! Equations of Office Open XML.

use crate::package::math::linear::{
    BINOMIAL, MAX_NESTED, accented, applied, base, fraction, is_one, join, operand, root, scripts,
};
use crate::package::symbols;
use crate::package::xml::{Element, XmlEvent, XmlReader};
use crate::skip_reason::SkipReason;

/// What is being read.
#[derive(Debug)]
enum Open {
    /// A fraction, a root, a sum: what is made of its arguments.
    Structure(Structure),
    /// An argument, by the name that the structure has for it.
    Argument(String, String),
}

#[derive(Debug, Default)]
struct Structure {
    name: String,
    /// Settings by their names, as `chr`.
    settings: Vec<(String, String)>,
    arguments: Vec<(String, String)>,
}

/// Reads the equation whose element was begun last, and passes over it.
///
/// # Errors
/// As [`XmlReader::next`].
pub(crate) fn read_office_math(reader: &mut XmlReader<'_>) -> Result<String, SkipReason> {
    let outside = reader.depth().saturating_sub(1);
    let mut equation = Equation::default();
    let mut is_text = false;
    while reader.depth() > outside {
        let Some(event) = reader.next()? else {
            break;
        };
        match event {
            XmlEvent::Start(element) => match element.name() {
                "t" => is_text = true,
                // Deleted text, and how things look.
                "del" | "moveFrom" | "delText" | "rPr" | "ctrlPr" => reader.skip()?,
                "br" | "tab" => equation.push(" "),
                "sym" => {
                    let font = element.attribute("font").unwrap_or_default();
                    let place = element.attribute("char").unwrap_or_default();
                    let place = u32::from_str_radix(&place, 16).ok();
                    if let Some(c) = place.and_then(|place| symbols::character(&font, place)) {
                        equation.push(c.encode_utf8(&mut [0; 4]));
                    }
                }
                _ => equation.start(&element, reader.depth()),
            },
            XmlEvent::End(end) => {
                is_text &= end.name() != "t";
                equation.end(reader.depth() + 1);
            }
            XmlEvent::Text(text) if is_text => equation.push(&text),
            XmlEvent::Text(_) => {}
        }
    }
    Ok(equation.finish())
}

/// An equation of Office Math that is being read: in Office Open XML, and in RTF.
#[derive(Debug, Default)]
pub(crate) struct Equation {
    /// What is open, with the depth of its element.
    open: Vec<(Open, u64)>,
    text: String,
}

impl Equation {
    pub(crate) fn push(&mut self, text: &str) {
        match self.open.last_mut() {
            None => join(&mut self.text, text),
            Some((Open::Argument(_, argument), _)) => join(argument, text),
            Some((Open::Structure(structure), _)) => structure.push(text),
        }
    }

    fn start(&mut self, element: &Element<'_>, depth: u64) {
        let name = element.name();
        if is_setting(name) {
            self.set(name, element.reference("val").unwrap_or_default());
        } else {
            self.begin(name, depth);
        }
    }

    /// Takes a setting of the structure that was begun last.
    pub(crate) fn set(&mut self, name: &str, value: String) {
        if let Some((Open::Structure(structure), _)) = self.open.last_mut() {
            structure.settings.push((name.to_owned(), value));
        }
    }

    /// A structure or one of its arguments begins, in so many others; nothing for other names.
    pub(crate) fn begin(&mut self, name: &str, depth: u64) {
        let is_structure = matches!(self.open.last(), Some((Open::Structure(_), _)));
        let opened = match name {
            "f" | "rad" | "sSup" | "sSub" | "sSubSup" | "sPre" | "nary" | "d" | "m" | "mr"
            | "eqArr" | "acc" | "bar" | "groupChr" | "limLow" | "limUpp" | "func" => {
                Open::Structure(Structure {
                    name: name.to_owned(),
                    ..Structure::default()
                })
            }
            "num" | "den" | "e" | "sub" | "sup" | "deg" | "lim" | "fName" if is_structure => {
                Open::Argument(name.to_owned(), String::new())
            }
            _ => return,
        };
        if self.open.len() < MAX_NESTED {
            self.open.push((opened, depth));
        }
    }

    /// The element of a depth ends.
    pub(crate) fn end(&mut self, depth: u64) {
        while self.open.last().is_some_and(|(_, open)| *open >= depth) {
            self.close();
        }
    }

    fn close(&mut self) {
        let Some((closed, _)) = self.open.pop() else {
            return;
        };
        match closed {
            Open::Structure(structure) => {
                let is_bracketed = self.is_in_brackets();
                let text = structure.write(is_bracketed);
                if structure.name == "mr"
                    && let Some((Open::Structure(matrix), _)) = self.open.last_mut()
                {
                    matrix.arguments.push((structure.name, text));
                    return;
                }
                self.push(&text);
            }
            Open::Argument(name, text) => {
                if let Some((Open::Structure(structure), _)) = self.open.last_mut() {
                    structure.arguments.push((name, text));
                }
            }
        }
    }

    /// Whether what was closed last is all that brackets hold so far.
    fn is_in_brackets(&self) -> bool {
        let mut open = self.open.iter().rev();
        let is_start = matches!(open.next(), Some((Open::Argument(_, text), _)) if text.is_empty());
        let outer = open.next();
        is_start && matches!(outer, Some((Open::Structure(outer), _)) if outer.name == "d")
    }

    pub(crate) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.text
    }
}

/// Whether a name is that of a setting which changes how an equation is written.
pub(crate) fn is_setting(name: &str) -> bool {
    matches!(
        name,
        "chr" | "begChr" | "endChr" | "sepChr" | "type" | "pos"
    )
}

impl Structure {
    /// Text outside of any argument.
    fn push(&mut self, text: &str) {
        match self.arguments.last_mut() {
            Some((_, argument)) => argument.push_str(text),
            None => self.arguments.push(("e".to_owned(), text.to_owned())),
        }
    }

    fn argument(&self, name: &str) -> &str {
        let mut arguments = self.arguments.iter();
        let found = arguments.find(|(known, _)| known == name);
        found.map_or("", |(_, text)| text.trim())
    }

    fn setting(&self, name: &str) -> Option<&str> {
        let mut settings = self.settings.iter();
        let found = settings.find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    fn all(&self, separator: &str) -> String {
        let texts: Vec<&str> = self.arguments.iter().map(|(_, it)| it.trim()).collect();
        texts.join(separator)
    }

    /// `is_bracketed`: whether brackets are around it already.
    fn write(&self, is_bracketed: bool) -> String {
        let (e, below, above) = (
            self.argument("e"),
            self.argument("sub"),
            self.argument("sup"),
        );
        match self.name.as_str() {
            "f" => {
                let (above, below) = (self.argument("num"), self.argument("den"));
                match self.setting("type") {
                    Some("noBar") => format!("{}{BINOMIAL}{}", operand(above), operand(below)),
                    _ => fraction(above, below),
                }
            }
            "rad" => root(self.argument("deg"), e),
            "sSup" | "sSub" | "sSubSup" => scripts(&base(e), below, above),
            "sPre" => applied(&scripts("", below, above), e),
            "nary" => {
                let sign = self.setting("chr").unwrap_or("∫");
                applied(&scripts(sign, below, above), e)
            }
            "d" => {
                let (begin, end) = (self.setting("begChr"), self.setting("endChr"));
                let inside = self.all(self.setting("sepChr").unwrap_or("|"));
                format!("{}{inside}{}", begin.unwrap_or("("), end.unwrap_or(")"))
            }
            "m" if is_bracketed => self.all("; "),
            "m" => format!("[{}]", self.all("; ")),
            "mr" => self.all(", "),
            // Marks of alignment stand between the parts of its lines.
            "eqArr" => self.all("; ").replace('&', ""),
            "acc" => accented(e, self.setting("chr").unwrap_or("\u{302}")),
            "bar" if is_one(e) && self.setting("pos") == Some("top") => accented(e, "\u{305}"),
            "bar" if is_one(e) => accented(e, "\u{332}"),
            "bar" if self.setting("pos") == Some("top") => format!("¯({e})"),
            "bar" => format!("▁({e})"),
            "groupChr" => format!("{}{}", self.setting("chr").unwrap_or("⏟"), operand(e)),
            "limLow" => scripts(&base(e), self.argument("lim"), ""),
            "limUpp" => scripts(&base(e), "", self.argument("lim")),
            "func" => applied(self.argument("fName"), e),
            _ => self.all(""),
        }
    }
}
