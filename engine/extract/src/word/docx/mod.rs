//! Word documents (Office Open XML): text in the order of the body, notes and comments behind the paragraph that
//! refers to them.
//!
//! Deleted and hidden text, field codes and the fallbacks of newer drawings are no text. Text boxes, charts and diagrams
//! follow the paragraph that they are anchored to. Headers and footers are left out.

mod bindings;

use std::collections::HashMap;

use bindings::{Controls, Stores};

use crate::extracted::Extracted;
use crate::package::math::read_office_math;
use crate::package::ooxml::{self, Relationships};
use crate::package::symbols;
use crate::package::xml::{Element, EndTag, XmlEvent, XmlReader};
use crate::package::zip_package::ZipPackage;
use crate::skip_reason::SkipReason;
use crate::word::docx_numbering::Numbering;
use crate::word::docx_parts::Parts;
use crate::word::docx_styles::{Styles, heading_level};
use crate::word::flow::{Break, Flow};

pub(crate) const FORMAT: &str = "Word document";

/// Reads a package whose main part is a Word document.
///
/// # Errors
/// Damaged, encrypted or beyond a limit.
pub(crate) fn extract(bytes: &[u8]) -> Result<Extracted, SkipReason> {
    let package = &mut ZipPackage::open(bytes, FORMAT)?;
    let mut flow = Flow::default();
    let found = read(package, 0, &mut flow)?;
    flow.finish(found)
}

/// Appends what a package holds, which lies inside so many others, and gives what it says of itself.
///
/// # Errors
/// As [`extract`].
fn read(
    package: &mut ZipPackage<'_>,
    inside: usize,
    flow: &mut Flow,
) -> Result<Extracted, SkipReason> {
    let main = ooxml::main_part(package)?;
    let relationships = Relationships::read(package, &main)?;
    let mut found = Extracted::default();
    ooxml::read_properties(package, &mut found)?;
    let styles = match relationships.of_kind("styles").next() {
        Some(part) => Styles::read(&ooxml::read_optional(package, part)?)?,
        None => Styles::default(),
    };
    let numbering = match relationships.of_kind("numbering").next() {
        Some(part) => Numbering::read(&ooxml::read_optional(package, part)?)?,
        None => Numbering::default(),
    };
    let mut known = Known {
        styles,
        numbering,
        notes: Notes::default(),
    };
    // Before the body: a note belongs behind the paragraph that refers to it, and the body is read
    // once.
    for (kind, reference) in [
        ("footnotes", "footnoteReference"),
        ("endnotes", "endnoteReference"),
        ("comments", "commentReference"),
    ] {
        for part in relationships.of_kind(kind) {
            let part = ooxml::read_optional(package, part)?;
            read_notes(&part, reference, &mut known)?;
        }
    }
    let body = ooxml::read_part(package, &main)?.unwrap_or_default();
    // The parts of stores are read only for a body that binds to them.
    let stores = match bindings::are_in(&body) {
        true => Stores::read(package, &relationships)?,
        false => Stores::default(),
    };
    let mut reading = Body::new(&body, &mut known, flow);
    reading.controls = Controls::new(&stores);
    reading.parts = Some(Parts::new(package, &relationships, inside, read));
    let is_broken = reading.read()?;
    if is_broken && flow.is_empty() {
        return Err(SkipReason::damaged(FORMAT, "its text is no XML"));
    }
    // Notes that nothing refers to, perhaps because the body is broken: they are text of the
    // document all the same.
    for paragraph in known.notes.texts.drain(..).flatten() {
        flow.paragraph(&paragraph, None, &[]);
    }
    Ok(found)
}

/// Notes or comments, in the order of their parts.
#[derive(Default)]
struct Notes {
    /// The paragraphs of each; none of those that the body had.
    texts: Vec<Vec<String>>,
    /// Their places there, by the element that refers to them and its number. Of those of one number the first.
    places: HashMap<(&'static str, String), usize>,
}

impl Notes {
    fn take(&mut self, reference: &'static str, number: String) -> Vec<String> {
        let place = self.places.get(&(reference, number));
        let text = place.and_then(|place| self.texts.get_mut(*place));
        text.map(std::mem::take).unwrap_or_default()
    }
}

/// Reads a part with the notes that `reference` refers to.
fn read_notes(part: &str, reference: &'static str, known: &mut Known) -> Result<(), SkipReason> {
    let mut flow = Flow::default();
    let mut body = Body::new(part, known, &mut flow);
    body.has_pages = false;
    body.read()?;
    let starts = std::mem::take(&mut body.note_starts);
    if flow.is_full() {
        return flow.finish(Extracted::default()).map(|_| ());
    }
    let ends = starts.iter().skip(1).map(|(_, start)| *start);
    let ends = ends.chain([flow.blocks()]);
    let notes = &mut known.notes;
    let first = starts.first().map_or(flow.blocks(), |(_, start)| *start);
    let without_number = flow.texts(0, first).map(str::to_owned);
    notes.texts.push(without_number.collect());
    for ((number, start), end) in starts.iter().zip(ends) {
        let place = notes.texts.len();
        let texts = flow.texts(*start, end).map(str::to_owned);
        notes.texts.push(texts.collect());
        let key = (reference, number.clone());
        notes.places.entry(key).or_insert(place);
    }
    Ok(())
}

/// What other parts say of paragraphs.
struct Known {
    styles: Styles,
    numbering: Numbering,
    notes: Notes,
}

/// A paragraph that is being read.
#[derive(Debug, Default)]
struct Paragraph {
    text: String,
    breaks: Vec<(usize, Break)>,
    /// What follows it: paragraphs of its notes and comments.
    notes: Vec<String>,
    style: String,
    /// Its own outline level, 9 for none.
    outline_level: Option<u32>,
    begins_page: Option<bool>,
    /// Its list, 0 for none, and the level in it.
    list: Option<u32>,
    list_level: Option<u32>,
    /// It is the large first letter of the next one.
    is_initial: bool,
    /// It ends a section: whether the next one begins on a new page.
    ends_section: Option<bool>,
}

impl Paragraph {
    /// Whether there is nothing in it, neither a number nor a page.
    fn is_blank(&self) -> bool {
        self.text.is_empty()
            && self.notes.is_empty()
            && self.breaks.is_empty()
            && self.style.is_empty()
            && self.begins_page.is_none()
            && self.list.is_none()
    }
}

/// A run of text that is being read.
#[derive(Debug, Default)]
struct Run {
    /// How many paragraphs are open around it.
    paragraphs: usize,
    style: String,
    font: String,
    /// What it says itself.
    is_hidden: Option<bool>,
    /// What it says, or else its style and that of its paragraph, once that was asked for.
    hides: Option<bool>,
}

/// Reads a body of paragraphs and tables.
struct Body<'a, 'z> {
    reader: XmlReader<'a>,
    known: &'a mut Known,
    flow: &'a mut Flow,
    /// What the part refers to; notes have none.
    parts: Option<Parts<'a, 'z>>,
    /// Whether page breaks count; notes have none.
    has_pages: bool,
    /// Those in text boxes lie inside the paragraph of the box.
    paragraphs: Vec<Paragraph>,
    /// Large first letters of the paragraph that comes next.
    initials: String,
    /// Paragraphs of the text boxes of the outermost open paragraph.
    boxed: Vec<Paragraph>,
    runs: Vec<Run>,
    /// How many of them hide their text themselves.
    hidden: usize,
    /// Equations of the open paragraph of equations.
    equations: usize,
    is_text: bool,
    in_section: bool,
    /// Open fields: whether the result is reached.
    fields: Vec<bool>,
    /// How many of them have not reached it.
    codes: usize,
    controls: Controls<'a>,
    /// Numbers of the notes of a part of notes, and how many blocks come before each.
    note_starts: Vec<(String, usize)>,
}

impl<'a, 'z> Body<'a, 'z> {
    fn new(text: &'a str, known: &'a mut Known, flow: &'a mut Flow) -> Body<'a, 'z> {
        Body {
            reader: XmlReader::office(text),
            known,
            flow,
            parts: None,
            has_pages: true,
            paragraphs: Vec::new(),
            initials: String::new(),
            boxed: Vec::new(),
            runs: Vec::new(),
            hidden: 0,
            equations: 0,
            is_text: false,
            in_section: false,
            fields: Vec::new(),
            codes: 0,
            controls: Controls::default(),
            note_starts: Vec::new(),
        }
    }

    /// Reads all of it; whether it is broken somewhere.
    fn read(&mut self) -> Result<bool, SkipReason> {
        while let Some(event) = self.reader.next()? {
            match event {
                XmlEvent::Start(element) => self.start(&element)?,
                XmlEvent::End(end) => self.end(&end),
                XmlEvent::Text(text) if self.is_text => self.push_text(&text),
                XmlEvent::Text(_) => {}
            }
            if self.flow.is_full() {
                break;
            }
        }
        // What a broken part leaves open.
        while !self.paragraphs.is_empty() {
            self.end_paragraph();
        }
        let initials = std::mem::take(&mut self.initials);
        self.flow.paragraph(&initials, None, &[]);
        Ok(self.reader.is_broken())
    }

    /// Text in the font of its run.
    fn push_text(&mut self, text: &str) {
        if self.codes == 0
            && let Some(shown) = self.controls.shown()
        {
            return self.push(&shown);
        }
        let font = self.runs.last().map_or("", |run| run.font.as_str());
        if font.is_empty() {
            return self.push(text);
        }
        let shown = symbols::text(font, text).into_owned();
        self.push(&shown);
    }

    fn push(&mut self, text: &str) {
        if self.codes > 0 || self.is_hidden() {
            return;
        }
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.push_str(text);
        }
    }

    /// Whether what comes next is hidden.
    fn is_hidden(&mut self) -> bool {
        if self.hidden > 0 {
            return true;
        }
        let (styles, paragraph) = (&self.known.styles, self.paragraphs.last());
        let paragraph = paragraph.map_or("", |paragraph| paragraph.style.as_str());
        match self.runs.last_mut() {
            Some(run) => *run.hides.get_or_insert_with(|| match run.is_hidden {
                Some(is_hidden) => is_hidden,
                None => styles.hides(&run.style, paragraph),
            }),
            None => false,
        }
    }

    fn start(&mut self, element: &Element<'_>) -> Result<(), SkipReason> {
        let in_run = !self.runs.is_empty();
        match element.name() {
            // Text of drawings has paragraphs of the same name.
            "p" if element.prefix() != "a" => self.paragraphs.push(Paragraph::default()),
            "r" => self.runs.push(Run {
                paragraphs: self.paragraphs.len(),
                ..Run::default()
            }),
            "vanish" | "rStyle" | "rFonts" if self.is_of_run() => self.run_property(element),
            "t" => self.is_text = true,
            "tab" | "ptab" if in_run => self.push("\t"),
            "cr" if in_run => self.push("\n"),
            "noBreakHyphen" => self.push("-"),
            "br" if in_run => match element.attribute("type").as_deref() {
                Some("page") => self.break_page(Break::Page),
                _ => self.push("\n"),
            },
            "lastRenderedPageBreak" => self.break_page(Break::Rendered),
            "footnote" | "endnote" | "comment" => {
                let number = element.reference("id").unwrap_or_default();
                self.note_starts.push((number, self.flow.blocks()));
            }
            "footnoteReference" => self.refer("footnoteReference", element),
            "endnoteReference" => self.refer("endnoteReference", element),
            "commentReference" => self.refer("commentReference", element),
            "sym" => self.push_symbol(element),
            "fldChar" => self.field(element),
            "sdt" => self.controls.begin(),
            "dataBinding" | "text" | "comboBox" | "dropDownList" | "listItem" | "sdtContent" => {
                self.controls.property(element);
            }
            "oMathPara" => self.equations = 0,
            "oMath" => {
                let equation = read_office_math(&mut self.reader)?;
                if self.equations > 0 {
                    self.push("\n");
                }
                self.equations += 1;
                self.push(&equation);
            }
            "chart" | "relIds" => self.push_drawing(element)?,
            "altChunk" if self.paragraphs.is_empty() => {
                if let (Some(parts), Some(id)) = (&mut self.parts, element.prefixed_attribute("id"))
                {
                    parts.chunk(&id, self.flow)?;
                }
            }
            // What a reader of the document does not see, and readings above East Asian words.
            "del" | "moveFrom" | "delText" | "instrText" | "delInstrText" | "rt" => {
                self.reader.skip()?
            }
            // What properties were before a change.
            "pPrChange" | "rPrChange" | "sectPrChange" | "tblPrChange" | "trPrChange"
            | "tcPrChange" => self.reader.skip()?,
            "tr" if self.paragraphs.is_empty() => self.flow.begin_row(),
            _ => self.property(element),
        }
        Ok(())
    }

    /// Whether an element belongs to the run that was begun last, and not to a paragraph inside it.
    fn is_of_run(&self) -> bool {
        let run = self.runs.last();
        run.is_some_and(|run| run.paragraphs == self.paragraphs.len())
    }

    fn run_property(&mut self, element: &Element<'_>) {
        let Some(run) = self.runs.last_mut() else {
            return;
        };
        match element.name() {
            "vanish" => {
                self.hidden -= usize::from(run.is_hidden == Some(true));
                run.is_hidden = Some(element.is_on());
                self.hidden += usize::from(run.is_hidden == Some(true));
            }
            "rStyle" => run.style = element.reference("val").unwrap_or_default(),
            _ => {
                let font = element
                    .reference("ascii")
                    .or_else(|| element.reference("hAnsi"));
                run.font = font.unwrap_or_default();
            }
        }
    }

    /// A chart or a diagram, a line each.
    fn push_drawing(&mut self, element: &Element<'_>) -> Result<(), SkipReason> {
        let Some(parts) = &mut self.parts else {
            return Ok(());
        };
        for line in parts.drawing(element)? {
            if self.paragraphs.is_empty() {
                self.flow.paragraph(&line, None, &[]);
            } else {
                self.boxed.push(Paragraph {
                    text: line,
                    ..Paragraph::default()
                });
            }
        }
        Ok(())
    }

    /// A property of a paragraph or a section.
    fn property(&mut self, element: &Element<'_>) {
        let in_section = self.in_section;
        let Some(paragraph) = self.paragraphs.last_mut() else {
            return;
        };
        match element.name() {
            "pStyle" => paragraph.style = element.reference("val").unwrap_or_default(),
            "numId" => paragraph.list = element.number("val"),
            "ilvl" => paragraph.list_level = element.number("val"),
            "outlineLvl" => paragraph.outline_level = element.number("val"),
            "framePr" => {
                let initial = element.attribute("dropCap");
                paragraph.is_initial = matches!(initial.as_deref(), Some("drop" | "margin"));
            }
            "pageBreakBefore" => paragraph.begins_page = Some(element.is_on()),
            "sectPr" => {
                paragraph.ends_section = Some(true);
                self.in_section = true;
            }
            "type" if in_section => {
                let kind = element.attribute("val");
                let goes_on = matches!(kind.as_deref(), Some("continuous" | "nextColumn"));
                paragraph.ends_section = Some(!goes_on);
            }
            _ => {}
        }
    }

    fn end(&mut self, end: &EndTag<'_>) {
        match end.name() {
            "t" => self.is_text = false,
            "oMathPara" => self.equations = 0,
            "r" => {
                let run = self.runs.pop();
                let hides = run.is_some_and(|run| run.is_hidden == Some(true));
                self.hidden -= usize::from(hides);
            }
            "p" if end.prefix() != "a" => self.end_paragraph(),
            "sectPr" => self.in_section = false,
            "sdt" => self.controls.end(),
            "tc" if self.paragraphs.is_empty() => self.flow.end_cell(),
            "tr" if self.paragraphs.is_empty() => self.flow.end_row(),
            _ => {}
        }
    }

    fn break_page(&mut self, kind: Break) {
        if !self.has_pages || self.codes > 0 {
            return;
        }
        match self.paragraphs.as_mut_slice() {
            [] => self.flow.begin_page(kind),
            // Noted by place, because a paragraph may go on on the next page.
            [paragraph] => paragraph.breaks.push((paragraph.text.len(), kind)),
            // Text boxes lie on one page.
            _ => {}
        }
    }

    /// Puts a note behind the paragraph that refers to it first.
    fn refer(&mut self, reference: &'static str, element: &Element<'_>) {
        if self.is_hidden() {
            return;
        }
        let number = element.reference("id").unwrap_or_default();
        if let Some(paragraph) = self.paragraphs.last_mut() {
            let note = self.known.notes.take(reference, number);
            paragraph.notes.extend(note);
        }
    }

    fn push_symbol(&mut self, element: &Element<'_>) {
        let code = element.attribute("char").unwrap_or_default();
        let Ok(code) = u32::from_str_radix(&code, 16) else {
            return;
        };
        let font = element.reference("font").unwrap_or_default();
        if let Some(character) = symbols::character(&font, code) {
            self.push(character.encode_utf8(&mut [0; 4]));
        }
    }

    fn field(&mut self, element: &Element<'_>) {
        match element.attribute("fldCharType").as_deref() {
            Some("begin") => {
                self.fields.push(false);
                self.codes += 1;
            }
            Some("separate") => {
                if let Some(has_result) = self.fields.last_mut()
                    && !std::mem::replace(has_result, true)
                {
                    // A code ends once, though a forged field may state several separators: the
                    // count must not fall below zero.
                    self.codes -= 1;
                }
            }
            Some("end") => {
                let had_result = self.fields.pop().unwrap_or(true);
                self.codes -= usize::from(!had_result);
            }
            _ => {}
        }
    }

    fn end_paragraph(&mut self) {
        let Some(mut paragraph) = self.paragraphs.pop() else {
            return;
        };
        if !self.paragraphs.is_empty() {
            self.boxed.push(paragraph);
            return;
        }
        if paragraph.is_initial && self.boxed.is_empty() {
            self.initials.push_str(paragraph.text.trim());
            return;
        }
        if !self.initials.is_empty() {
            paragraph.text.insert_str(0, &self.initials);
            let moved = self.initials.len();
            for (at, _) in &mut paragraph.breaks {
                *at += moved;
            }
            self.initials.clear();
        }
        let ends_section = paragraph.ends_section;
        self.write(paragraph);
        for boxed in std::mem::take(&mut self.boxed) {
            self.write(boxed);
        }
        if ends_section == Some(true) && self.has_pages {
            self.flow.begin_page(Break::Page);
        }
    }

    /// The number of a paragraph in its list. An empty one counts as well.
    fn number(&mut self, paragraph: &Paragraph) -> Option<String> {
        let (list, level) = self.known.styles.list(&paragraph.style);
        let level = paragraph.list_level.or(level);
        let list = paragraph.list.or(list).filter(|list| *list > 0)?;
        let numbering = &mut self.known.numbering;
        numbering.label(list, level, &paragraph.style)
    }

    fn write(&mut self, paragraph: Paragraph) {
        // Millions of these are a small file.
        if paragraph.is_blank() {
            return;
        }
        let number = self.number(&paragraph).unwrap_or_default();
        let begins = paragraph.begins_page;
        if begins.unwrap_or_else(|| self.known.styles.begins_page(&paragraph.style))
            && self.has_pages
        {
            self.flow.begin_page(Break::NewPage);
        }
        let level = match paragraph.outline_level {
            Some(level) => heading_level(level),
            None => self.known.styles.level(&paragraph.style),
        };
        let (text, breaks) = (&paragraph.text, &paragraph.breaks);
        self.flow.numbered(&number, text, level, breaks);
        for note in &paragraph.notes {
            self.flow.paragraph(note, None, &[]);
        }
    }
}
