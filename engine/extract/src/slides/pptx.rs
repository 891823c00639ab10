//! PowerPoint presentations (Office Open XML): the slides in the order in which they are shown.

use crate::extracted::Extracted;
use crate::package::drawing_parts::DrawingParts;
use crate::package::math::read_office_math;
use crate::package::ooxml::{self, Relationships};
use crate::package::symbols;
use crate::package::xml::{XmlEvent, XmlReader};
use crate::package::zip_package::ZipPackage;
use crate::skip_reason::SkipReason;
use crate::slides::auto_numbers::AutoNumbers;
use crate::slides::deck::{Deck, SlideText};
use crate::text_builder::MAX_PARTS;

pub(crate) const FORMAT: &str = "PowerPoint presentation";

/// Reads a package whose main part is a presentation.
///
/// # Errors
/// Damaged, encrypted or beyond a limit.
pub(crate) fn extract(bytes: &[u8]) -> Result<Extracted, SkipReason> {
    let package = &mut ZipPackage::open(bytes, FORMAT)?;
    let main = ooxml::main_part(package)?;
    let relationships = Relationships::read(package, &main)?;
    let targets = relationships.by_id();
    let mut found = Extracted::default();
    ooxml::read_properties(package, &mut found)?;
    let presentation = ooxml::read_part(package, &main)?.unwrap_or_default();
    let mut deck = Deck::new(found);
    let slides = slide_ids(&presentation)?;
    for id in slides {
        let target = targets.get(id.as_str()).map(|one| one.target.as_str());
        deck.push(&read_slide(package, target.unwrap_or_default())?);
        if deck.is_full() {
            break;
        }
    }
    deck.finish()
}

/// The names that the presentation has for its slides, in order.
fn slide_ids(presentation: &str) -> Result<Vec<String>, SkipReason> {
    let mut reader = XmlReader::office(presentation);
    let mut ids = Vec::new();
    let mut has_root = false;
    while let Some(event) = reader.next()? {
        let XmlEvent::Start(element) = event else {
            continue;
        };
        has_root |= element.name() == "presentation";
        // Sections name slides as well, without relationship.
        if element.name() == "sldId"
            && let Some(id) = element.prefixed_attribute("id")
        {
            ids.push(id);
            if ids.len() > MAX_PARTS {
                break;
            }
        }
    }
    match has_root {
        true => Ok(ids),
        false => Err(SkipReason::damaged(FORMAT, "its list of slides is no XML")),
    }
}

/// A slide with its notes; what is missing or broken is empty, so that the numbers of the others stay right.
fn read_slide(package: &mut ZipPackage<'_>, part: &str) -> Result<SlideText, SkipReason> {
    let text = ooxml::read_optional(package, part)?;
    let mut slide = SlideText::default();
    let relationships = Relationships::read(package, part)?;
    let mut drawings = DrawingParts::new(&relationships);
    let others = Some((&mut *package, &mut drawings));
    read_shapes(&text, &mut slide, Shapes::Slide, others)?;
    for notes in relationships.of_kind("notesSlide").take(1) {
        let text = ooxml::read_optional(package, notes)?;
        read_shapes(&text, &mut slide, Shapes::Notes, None)?;
    }
    let diagrams = relationships.of_kind("diagramData");
    for line in drawings.other_diagrams(package, diagrams)? {
        push_line(&mut slide.text, &line);
    }
    Ok(slide)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shapes {
    Slide,
    Notes,
}

/// Takes the text of the shapes of a part; `others`: where its charts and diagrams are.
fn read_shapes(
    part: &str,
    slide: &mut SlideText,
    shapes: Shapes,
    mut others: Option<(&mut ZipPackage<'_>, &mut DrawingParts)>,
) -> Result<(), SkipReason> {
    let mut reader = XmlReader::office(part);
    let mut is_text = false;
    let mut placeholder = None;
    let mut text = String::new();
    // That of the open run, which may be one of symbols.
    let mut font = String::new();
    let mut cells = 0usize;
    let mut numbers = AutoNumbers::default();
    while let Some(event) = reader.next()? {
        match event {
            XmlEvent::Start(element) => match element.name() {
                "sld" => slide.is_hidden = element.attribute("show").as_deref() == Some("0"),
                "sp" | "cxnSp" | "graphicFrame" => {
                    flush(&mut text, None, slide, shapes);
                    placeholder = None;
                }
                "ph" => placeholder = Some(element.attribute("type").unwrap_or_default()),
                "t" => is_text = true,
                "r" | "fld" => font.clear(),
                "latin" if font.is_empty() => {
                    font = element.reference("typeface").unwrap_or_default();
                }
                "sym" => font = element.reference("typeface").unwrap_or_default(),
                "br" => text.push('\n'),
                "tab" => text.push('\t'),
                "oMath" => text.push_str(&read_office_math(&mut reader)?),
                "chart" | "relIds" => {
                    if let Some((package, drawings)) = &mut others {
                        for line in drawings.lines(package, &element)? {
                            push_line(&mut text, &line);
                        }
                    }
                }
                "tc" => {
                    if cells > 0 {
                        text.push_str(" | ");
                    }
                    cells += 1;
                }
                _ => numbers.start(&element, text.len()),
            },
            XmlEvent::End(end) => match end.name() {
                "t" => is_text = false,
                "p" => {
                    numbers.number(&mut text);
                    // A row is a line.
                    text.push(if cells == 0 { '\n' } else { ' ' });
                }
                "tc" => text.truncate(text.trim_end_matches(' ').len()),
                "tr" => {
                    cells = 0;
                    text.push('\n');
                }
                "sp" | "cxnSp" | "graphicFrame" => {
                    flush(&mut text, placeholder.take().as_deref(), slide, shapes);
                }
                _ => {}
            },
            XmlEvent::Text(piece) if is_text => text.push_str(&symbols::text(&font, &piece)),
            XmlEvent::Text(_) => {}
        }
    }
    flush(&mut text, placeholder.as_deref(), slide, shapes);
    Ok(())
}

/// The end of a shape: what its text is of the slide.
fn flush(text: &mut String, placeholder: Option<&str>, slide: &mut SlideText, shapes: Shapes) {
    let text = std::mem::take(text);
    let text = text.trim_end_matches('\n');
    if text.trim().is_empty() {
        return;
    }
    let is_title = matches!(placeholder, Some("title" | "ctrTitle"));
    match shapes {
        // Beside the notes their page has a picture of the slide, a date, a number.
        Shapes::Notes if placeholder != Some("body") => {}
        Shapes::Notes => push_line(&mut slide.notes, text),
        Shapes::Slide if is_title && slide.title.is_none() => {
            slide.title = Some(text.to_owned());
        }
        Shapes::Slide => push_line(&mut slide.text, text),
    }
}

fn push_line(lines: &mut String, text: &str) {
    lines.push_str(text);
    lines.push('\n');
}
