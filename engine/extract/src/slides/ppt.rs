//! PowerPoint presentations of 97 to 2003: the slides in the order in which they are shown. After [MS-PPT].
//!
//! No crate of documents says where pages begin. This reader has an F1 of words of 0.999 against other programs
//! (docs/decisions/17-own-readers.md).

use std::collections::HashMap;

use encoding_rs::WINDOWS_1252;

use crate::extracted::Extracted;
use crate::package::compound_file::CompoundFile;
use crate::package::little_endian::{place_at, u32_at, utf_16};
use crate::package::property_set;
use crate::skip_reason::{MAX_TEXT_BYTES, SkipReason};
use crate::slides::deck::{Deck, SlideText};
use crate::slides::ppt_records::{Record, records};
use crate::text_builder::MAX_PARTS;

pub(crate) const FORMAT: &str = "PowerPoint 97-2003 presentation";

/// Nesting depth of records.
// A hostile file can nest records without end.
const MAX_DEPTH: usize = 40;
/// Most links of the chain of edits: each fast save adds one.
// The chain is read backwards by offsets of the file, so it could lead in a circle.
const MAX_EDITS: usize = 1000;
/// The header token of an encrypted file.
const ENCRYPTED: u32 = 0xF3D1_C4DF;

// Kinds of records.
const DOCUMENT: u16 = 0x03E8;
const SLIDE: u16 = 0x03EE;
const NOTES: u16 = 0x03F0;
const NOTES_ATOM: u16 = 0x03F1;
const SLIDE_PERSIST: u16 = 0x03F3;
const SLIDE_SHOW_INFO: u16 = 0x03F9;
const DRAWING: u16 = 0x040C;
const OUTLINE_TEXT: u16 = 0x0F9E;
const TEXT_HEADER: u16 = 0x0F9F;
const TEXT_CHARS: u16 = 0x0FA0;
const TEXT_BYTES: u16 = 0x0FA8;
const SLIDE_LIST: u16 = 0x0FF0;
const USER_EDIT: u16 = 0x0FF5;
const CLIENT_TEXT_BOX: u16 = 0xF00D;

// Instances of lists of slides.
const SHOWN: u16 = 0;
const OF_NOTES: u16 = 2;

/// What a text is of its slide.
const TITLE: u32 = 0;
const BODY_OF_NOTES: u32 = 2;
const OTHER: u32 = 4;
const CENTRED_TITLE: u32 = 6;

/// A text and what it is of its slide.
#[derive(Debug, Clone)]
struct Text {
    kind: u32,
    text: String,
}

/// Reads a compound file with a stream `PowerPoint Document`.
///
/// # Errors
/// Damaged, encrypted or beyond a limit.
pub(crate) fn extract(bytes: &[u8]) -> Result<Extracted, SkipReason> {
    let damaged = |what: &'static str| SkipReason::damaged(FORMAT, what);
    let file = CompoundFile::open(bytes).ok_or(damaged("its directory is missing"))?;
    let stream = file.read("PowerPoint Document");
    let stream = stream.ok_or(damaged("its slides are missing"))?;
    let user = file.read("Current User").unwrap_or_default();
    if u32_at(&user, 12) == Some(ENCRYPTED) || file.has("EncryptedSummary") {
        return Err(SkipReason::Encrypted(FORMAT));
    }
    let directory = Directory::read(&stream, place_at(&user, 16));
    if directory.is_encrypted {
        return Err(SkipReason::Encrypted(FORMAT));
    }
    let document = directory.document(&stream);
    let document = document.ok_or(damaged("its list of slides is missing"))?;
    let mut found = Extracted::default();
    property_set::read_properties(&file, &mut found);
    let mut deck = Deck::new(found);
    let mut notes = HashMap::new();
    for id in persist_ids(document, OF_NOTES) {
        let record = directory.record(&stream, id, NOTES);
        if let Some((slide, text)) = record.and_then(read_notes) {
            notes.entry(slide).or_insert(text);
        }
    }
    // Records may be referred to again and again; a slide cannot.
    let mut left = MAX_TEXT_BYTES;
    for listed in listed_slides(document) {
        let record = directory.record(&stream, listed.persist_id, SLIDE);
        let mut slide = read_slide(record, &listed.texts);
        slide.notes = notes.remove(&listed.slide_id).unwrap_or_default();
        let length = slide.text.len() + slide.notes.len();
        left = left.checked_sub(length).ok_or(SkipReason::TooLong {
            text_bytes: MAX_TEXT_BYTES + 1,
        })?;
        deck.push(&slide);
    }
    deck.finish()
}

/// Where the parts of the document lie in the stream, by their numbers, after all edits.
#[derive(Debug, Default)]
struct Directory {
    places: HashMap<u32, usize>,
    document: Option<u32>,
    is_encrypted: bool,
}

impl Directory {
    /// Follows the edits from the last one back. Where the user stream does not name it, it is the last in the file.
    fn read(stream: &[u8], last_edit: Option<usize>) -> Directory {
        let is_edit = |place: &usize| {
            let record = Record::at(stream, *place);
            record.is_some_and(|record| record.kind == USER_EDIT)
        };
        let mut directory = Directory::default();
        let mut edit = last_edit.filter(is_edit).or_else(|| find_last_edit(stream));
        for _ in 0..MAX_EDITS {
            let Some(place) = edit else {
                break;
            };
            let Some(record) = Record::at(stream, place).filter(|it| it.kind == USER_EDIT) else {
                break;
            };
            directory.document = directory.document.or(u32_at(record.data, 16));
            // The reference to the key is there in encrypted files only.
            directory.is_encrypted |= u32_at(record.data, 28).is_some_and(|id| id > 0);
            let list = place_at(record.data, 12).and_then(|at| Record::at(stream, at));
            if let Some(list) = list {
                directory.add(list.data, stream.len());
            }
            let before = place_at(record.data, 8);
            edit = before.filter(|before| *before > 0 && *before < place);
        }
        directory
    }

    /// One list: runs of a first number and a count, then as many places. What a later edit said stays.
    fn add(&mut self, list: &[u8], stream_bytes: usize) -> Option<()> {
        let mut at = 0;
        loop {
            let head = u32_at(list, at)?;
            at += 4;
            let (first, count) = (head & 0xF_FFFF, head >> 20);
            for number in first..first + count {
                let place = place_at(list, at)?;
                at += 4;
                if place < stream_bytes {
                    self.places.entry(number).or_insert(place);
                }
            }
        }
    }

    fn record<'s>(&self, stream: &'s [u8], id: u32, kind: u16) -> Option<Record<'s>> {
        let record = Record::at(stream, *self.places.get(&id)?)?;
        (record.kind == kind).then_some(record)
    }

    /// The document, or the last one in a file whose directory is broken.
    fn document<'s>(&self, stream: &'s [u8]) -> Option<Record<'s>> {
        let named = self
            .document
            .and_then(|id| self.record(stream, id, DOCUMENT));
        let last = || records(stream).filter(|it| it.kind == DOCUMENT).last();
        named.or_else(last)
    }
}

fn find_last_edit(stream: &[u8]) -> Option<usize> {
    let mut walk = records(stream);
    let mut found = None;
    loop {
        let place = walk.place();
        match walk.next() {
            Some(record) if record.kind == USER_EDIT => found = Some(place),
            Some(_) => {}
            None => return found,
        }
    }
}

/// A slide as the document lists it, with the texts of its outline.
#[derive(Debug)]
struct ListedSlide {
    persist_id: u32,
    slide_id: u32,
    texts: Vec<Text>,
}

fn listed_slides(document: Record<'_>) -> Vec<ListedSlide> {
    let mut slides: Vec<ListedSlide> = Vec::new();
    for record in lists(document, SHOWN).flat_map(|list| list.records()) {
        if record.kind == SLIDE_PERSIST {
            if slides.len() > MAX_PARTS {
                break;
            }
            slides.push(ListedSlide {
                persist_id: u32_at(record.data, 0).unwrap_or(0),
                slide_id: u32_at(record.data, 12).unwrap_or(0),
                texts: Vec::new(),
            });
            continue;
        }
        let Some(slide) = slides.last_mut() else {
            continue;
        };
        if record.kind == TEXT_HEADER {
            slide.texts.push(Text {
                kind: u32_at(record.data, 0).unwrap_or(OTHER),
                text: String::new(),
            });
        } else if let Some(text) = text_of(record)
            && let Some(last) = slide.texts.last_mut()
        {
            last.text = text;
        }
    }
    slides
}

fn lists<'a>(document: Record<'a>, instance: u16) -> impl Iterator<Item = Record<'a>> {
    let lists = document.records();
    lists.filter(move |it| it.kind == SLIDE_LIST && it.instance == instance)
}

fn persist_ids(document: Record<'_>, instance: u16) -> impl Iterator<Item = u32> {
    let records = lists(document, instance).flat_map(|list| list.records());
    let persisted = records.filter(|record| record.kind == SLIDE_PERSIST);
    persisted
        .filter_map(|record| u32_at(record.data, 0))
        .take(MAX_PARTS)
}

/// The slide that a page of notes belongs to, and its text.
fn read_notes(record: Record<'_>) -> Option<(u32, String)> {
    let mut parts = record.records();
    let slide = parts.find(|part| part.kind == NOTES_ATOM)?;
    let mut texts = Vec::new();
    read_drawings(record, &[], &mut texts);
    let body = texts.iter().filter(|text| text.kind == BODY_OF_NOTES);
    let lines: Vec<&str> = body.map(|text| text.text.as_str()).collect();
    Some((u32_at(slide.data, 0)?, lines.join("\n")))
}

fn read_slide(record: Option<Record<'_>>, outline: &[Text]) -> SlideText {
    let mut slide = SlideText::default();
    let mut texts = Vec::new();
    if let Some(record) = record {
        read_drawings(record, outline, &mut texts);
        let mut parts = record.records();
        let info = parts.find(|part| part.kind == SLIDE_SHOW_INFO);
        // The third bit of the flags behind the times and effects.
        let flags = info.and_then(|info| info.data.get(10).copied());
        slide.is_hidden = flags.is_some_and(|flags| flags & 4 != 0);
    }
    // Texts of the outline that no shape refers to.
    let shown: std::collections::HashSet<String> =
        texts.iter().map(|text: &Text| text.text.clone()).collect();
    let others = outline.iter().filter(|text| !shown.contains(&text.text));
    texts.extend(others.cloned());
    for Text { kind, text } in texts {
        // A star stands for a number, a date or a footer.
        if text.trim().is_empty() || text.trim() == "*" {
            continue;
        }
        if matches!(kind, TITLE | CENTRED_TITLE) && slide.title.is_none() {
            slide.title = Some(text);
        } else {
            slide.text.push_str(&text);
            slide.text.push('\n');
        }
    }
    slide
}

fn read_drawings(slide: Record<'_>, outline: &[Text], texts: &mut Vec<Text>) {
    // Each text of the outline is shown once.
    let mut outline: Vec<Option<&Text>> = outline.iter().map(Some).collect();
    for drawing in slide.records().filter(|part| part.kind == DRAWING) {
        read_texts(drawing.data, &mut outline, texts, 0);
    }
}

/// The texts of the shapes in `bytes`, in their order.
fn read_texts(bytes: &[u8], outline: &mut [Option<&Text>], texts: &mut Vec<Text>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    let mut kind = OTHER;
    for record in records(bytes) {
        if record.kind == TEXT_HEADER {
            kind = u32_at(record.data, 0).unwrap_or(OTHER);
        } else if record.kind == OUTLINE_TEXT {
            let place = place_at(record.data, 0).unwrap_or(usize::MAX);
            let named = outline.get_mut(place).and_then(Option::take);
            texts.extend(named.cloned());
        } else if let Some(text) = text_of(record) {
            texts.push(Text { kind, text });
        } else if record.is_container || record.kind == CLIENT_TEXT_BOX {
            read_texts(record.data, outline, texts, depth + 1);
        }
    }
}

/// The text of a record that holds one.
fn text_of(record: Record<'_>) -> Option<String> {
    let text = match record.kind {
        TEXT_CHARS => utf_16(record.data),
        // The lower bytes of characters: Latin-1, and what Windows adds to it.
        TEXT_BYTES => {
            let (text, _) = WINDOWS_1252.decode_without_bom_handling(record.data);
            text.into_owned()
        }
        _ => return None,
    };
    let lines = text.chars().filter(|c| *c != '\0').map(|c| match c {
        '\r' | '\u{b}' => '\n',
        c => c,
    });
    Some(lines.collect())
}
