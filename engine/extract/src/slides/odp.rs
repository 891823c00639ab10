//! Presentations of OpenDocument: their pages are slides.

use crate::extracted::Extracted;
use crate::package::odf::{self, Object, Objects};
use crate::package::xml::{Element, XmlEvent, XmlReader};
use crate::package::zip_package::ZipPackage;
use crate::skip_reason::SkipReason;
use crate::slides::deck::{Deck, SlideText};

pub(crate) const FORMAT: &str = "OpenDocument presentation";

/// Reads a package whose content is a presentation.
///
/// # Errors
/// Damaged, encrypted or beyond a limit.
pub(crate) fn extract(bytes: &[u8]) -> Result<Extracted, SkipReason> {
    let package = &mut ZipPackage::open(bytes, FORMAT)?;
    let content = odf::content(package)?;
    let mut found = Extracted::default();
    odf::read_properties(package, &mut found)?;
    let mut slides = Slides {
        reader: XmlReader::new(&content),
        package,
        objects: Objects::default(),
        deck: Deck::new(found),
        slide: None,
        is_notes: false,
        class: None,
        text: String::new(),
        paragraphs: 0,
        cells: 0,
    };
    slides.read()?;
    if slides.reader.is_broken() && slides.deck.slides() == 0 {
        return Err(SkipReason::damaged(FORMAT, "its content is no XML"));
    }
    slides.deck.finish()
}

struct Slides<'a, 'z> {
    reader: XmlReader<'a>,
    package: &'a mut ZipPackage<'z>,
    objects: Objects,
    deck: Deck,
    /// The open slide.
    slide: Option<SlideText>,
    is_notes: bool,
    /// What the open frame is on its slide: `title`, `notes`.
    class: Option<String>,
    text: String,
    paragraphs: usize,
    cells: usize,
}

impl Slides<'_, '_> {
    fn read(&mut self) -> Result<(), SkipReason> {
        while let Some(event) = self.reader.next()? {
            match event {
                XmlEvent::Start(element) => self.start(&element)?,
                XmlEvent::End(end) => self.end(end.name()),
                XmlEvent::Text(text) if self.paragraphs > 0 => {
                    odf::push_collapsed(&mut self.text, &text);
                }
                XmlEvent::Text(_) => {}
            }
            if self.deck.is_full() {
                break;
            }
        }
        self.end_slide();
        Ok(())
    }

    fn start(&mut self, element: &Element<'_>) -> Result<(), SkipReason> {
        match element.name() {
            "annotation" | "ruby-text" | "forms" | "automatic-styles" | "master-styles" => {
                self.reader.skip()?;
            }
            "title" | "desc" if element.prefix() != "text" => self.reader.skip()?,
            "page" if element.prefix() != "style" => {
                self.end_slide();
                self.slide = Some(SlideText::default());
            }
            "notes" => {
                self.end_frame();
                self.is_notes = true;
            }
            "frame" | "custom-shape" => {
                self.end_frame();
                self.class = element.attribute("class");
            }
            "object" => {
                let lines = match self.objects.read(self.package, element)? {
                    Some(Object::Equation(equation)) => vec![equation],
                    Some(Object::Chart(lines)) => lines,
                    None => Vec::new(),
                };
                for line in lines {
                    self.text.push_str(&line);
                    self.text.push('\n');
                }
            }
            "p" | "h" => self.paragraphs += 1,
            "s" if self.paragraphs > 0 => odf::push_spaces(&mut self.text, element.number("c")),
            "tab" if self.paragraphs > 0 => self.text.push('\t'),
            "line-break" if self.paragraphs > 0 => self.text.push('\n'),
            "table-cell" => {
                if self.cells > 0 {
                    self.text.push_str(" | ");
                }
                self.cells += 1;
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) {
        match name {
            "p" | "h" => {
                self.paragraphs = self.paragraphs.saturating_sub(1);
                // A row is a line.
                self.text.push(if self.cells > 0 { ' ' } else { '\n' });
            }
            "table-cell" => self.text.truncate(self.text.trim_end_matches(' ').len()),
            "table-row" => {
                self.cells = 0;
                self.text.push('\n');
            }
            "frame" | "custom-shape" => self.end_frame(),
            "notes" => {
                self.end_frame();
                self.is_notes = false;
            }
            "page" => self.end_slide(),
            _ => {}
        }
    }

    fn end_frame(&mut self) {
        let text = std::mem::take(&mut self.text);
        let class = self.class.take();
        let text = text.trim_end();
        let Some(slide) = self.slide.as_mut().filter(|_| !text.is_empty()) else {
            return;
        };
        let class = class.as_deref();
        let target = match class {
            Some("notes") if self.is_notes => &mut slide.notes,
            // Beside the notes their page has a picture of the slide, a date, a number.
            _ if self.is_notes => return,
            Some("title") if slide.title.is_none() => {
                slide.title = Some(text.trim_start().to_owned());
                return;
            }
            _ => &mut slide.text,
        };
        target.push_str(text);
        target.push('\n');
    }

    fn end_slide(&mut self) {
        self.end_frame();
        self.is_notes = false;
        if let Some(slide) = self.slide.take() {
            self.deck.push(&slide);
        }
    }
}
