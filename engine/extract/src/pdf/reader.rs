//! Reads a PDF document page by page.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use hayro_interpret::kurbo::{Affine, Point, Rect};
use hayro_interpret::{
    Context, InterpreterCache, InterpreterSettings, TransformExt, interpret_page,
};
use hayro_syntax::object::Dict;
use hayro_syntax::page::Page as PdfPage;
use hayro_syntax::{DecryptionError, LoadPdfError, Pdf, PdfData};
use kb_types::{Page, PageSource, PartContent};

use crate::extracted::Extracted;
use crate::pdf::bookmarks::{self, Bookmark};
use crate::pdf::cid_fonts::{self, CidFonts};
use crate::pdf::destinations::Destinations;
use crate::pdf::device::{Drawn, PageContent, PageDevice, Stopped};
use crate::pdf::forms;
use crate::pdf::line::Line;
use crate::pdf::page_text::{self, PlacedLine};
use crate::pdf::reading_order;
use crate::pdf::words::Words;
use crate::pdf::{page_labels, text_string};
use crate::skip_reason::{MAX_TEXT_BYTES, SkipReason};
use crate::text_builder::{MAX_PARTS, TextBuilder};

pub(crate) const FORMAT: &str = "PDF";
/// Bytes within which a file says that it is one (ISO 32000-1, implementation note 13).
const MARK_BYTES: usize = 1024;
const MARK: &[u8] = b"%PDF-";
/// Bytes of the text of pages that only ask to wait.
// Such pages have a sentence or two for viewers that cannot show the form; a document with more
// text is read.
const MAX_WAITING_BYTES: usize = 4000;
/// Bytes of the contents of pages, unpacked, that are held at a time. The library keeps that of each page that was read
/// for as long as the document is open; those of some hundred maps or drawings are more than a worker may have.
// 300 pages of 4 MB took 996 MB with the cache of the library, and take 148 MB with pages dropped
// (docs/decisions/17-own-readers.md).
const MAX_HELD_BYTES: usize = 64 << 20;

/// Whether a file is a PDF document: it says so where it begins, or, behind what a transfer has left before it, within the
/// first 1024 bytes of a file that is no text.
pub(crate) fn is_pdf(bytes: &[u8]) -> bool {
    let head = bytes.get(..MARK_BYTES).unwrap_or(bytes);
    let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
    match memchr::memmem::find(head, MARK) {
        Some(at) if head.iter().take(at).all(is_space) => true,
        Some(_) => std::str::from_utf8(bytes).is_err(),
        None => false,
    }
}

/// Reads a document: its pages as parts, its bookmarks as headings.
///
/// # Errors
/// Damaged, encrypted or beyond a limit.
pub(crate) fn extract(bytes: &[u8]) -> Result<Extracted, SkipReason> {
    extract_holding(MAX_HELD_BYTES, bytes)
}

/// The same, with so many bytes of the contents of pages in memory, and one page more.
pub(super) fn extract_holding(most_held: usize, bytes: &[u8]) -> Result<Extracted, SkipReason> {
    let pdf = open(bytes.to_vec().into())?;
    let pages = pdf.pages();
    if pages.is_empty() {
        return Err(SkipReason::damaged(FORMAT, "it has no pages"));
    }
    if pages.len() > MAX_PARTS {
        return Err(SkipReason::Limit {
            what: "pages",
            limit: u64::try_from(MAX_PARTS).unwrap_or(u64::MAX),
        });
    }
    let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id());
    let catalog = catalog.unwrap_or_else(Dict::empty);
    let bookmarks = bookmarks::read(pdf.xref(), &catalog, &Destinations::read(&pdf, &catalog));
    let form = catalog.get::<Dict<'_>>("AcroForm");
    let mut read = PagesRead {
        regenerates: form.as_ref().is_some_and(regenerates),
        ..PagesRead::default()
    };
    let mut next = read.read_from(0, &pdf, most_held)?;
    while next < pages.len() && !read.is_full() {
        // Opened once more, without what the library has kept of the pages before.
        let again = open(pdf.data().clone())?;
        let following = read.read_from(next, &again, most_held)?;
        if following == next {
            break;
        }
        next = following;
    }
    if read.is_full() {
        return Err(SkipReason::TooLong {
            text_bytes: MAX_TEXT_BYTES + 1,
        });
    }
    if let Some(form) = form
        && read.stands_for_form(&catalog)
        && let Some(text) = forms::text_of_form(&form)
    {
        read.replace(&text);
    }
    let mut builder = TextBuilder::new();
    let mut labels = page_labels::read(&catalog, pages.len()).into_iter();
    let mut lines = Vec::new();
    for page in read.pages {
        builder.begin_part(PartContent::Page(Page {
            source: PageSource::Physical,
            label: labels.next().unwrap_or_default(),
        }));
        let placed = page_text::push_page(&mut builder, &read.words, page);
        // Their places are of use to bookmarks only.
        if !bookmarks.is_empty() {
            lines.push(placed);
        }
    }
    add_headings(&mut builder, &pdf, &bookmarks, &lines);
    add_metadata(builder.found(), &pdf);
    read.notes.add_to(builder.found());
    builder.finish()
}

/// Whether a form has viewers draw its fields anew.
fn regenerates(form: &Dict<'_>) -> bool {
    form.get::<bool>("NeedAppearances").unwrap_or(false)
}

/// What is read of the pages of a document.
#[derive(Debug, Default)]
struct PagesRead {
    regenerates: bool,
    pages: Vec<Vec<Line>>,
    words: Words,
    bytes: usize,
    has_fields: bool,
    notes: PageNotes,
    drawn: Drawn,
}

impl PagesRead {
    /// Whether there is more text than a document may have.
    fn is_full(&self) -> bool {
        self.bytes > MAX_TEXT_BYTES
    }

    /// Reads pages from one of them on, until the library holds so many bytes of their contents; the page that
    /// follows.
    fn read_from(
        &mut self,
        first: usize,
        pdf: &Pdf,
        most_held: usize,
    ) -> Result<usize, SkipReason> {
        let mut reader = PageReader::new(pdf, self.regenerates);
        let (mut next, mut held) = (first, 0usize);
        for page in pdf.pages().iter().skip(first) {
            next += 1;
            let (content, has_fields) = reader.read(page, &mut self.drawn)?;
            self.notes.add(next, &content);
            self.has_fields |= has_fields;
            let lines = reading_order::lines_of(content.segments);
            self.bytes += lines.iter().map(|line| line.text.len() + 1).sum::<usize>();
            self.words.add(&lines);
            self.pages.push(lines);
            held = held.saturating_add(page.page_stream().map_or(0, <[u8]>::len));
            if self.is_full() || held > most_held {
                break;
            }
        }
        Ok(next)
    }

    /// Whether the pages only ask to wait for the form that a viewer makes of XML.
    fn stands_for_form(&self, catalog: &Dict<'_>) -> bool {
        let is_made = catalog.get::<bool>("NeedsRendering").unwrap_or(false);
        let is_short = self.bytes < MAX_WAITING_BYTES;
        is_short && (is_made || !self.has_fields)
    }

    /// Has a form for the text of all pages, which the first of them gets.
    fn replace(&mut self, text: &str) {
        self.pages.iter_mut().for_each(Vec::clear);
        self.words = Words::default();
        if let Some(first) = self.pages.first_mut() {
            first.extend(reading_order::lines_of_text(text));
        }
        self.notes.without_text.clear();
    }
}

fn open(data: PdfData) -> Result<Pdf, SkipReason> {
    let opened = panic::catch_unwind(AssertUnwindSafe(|| Pdf::new(data)));
    match opened {
        Ok(Ok(pdf)) => Ok(pdf),
        // By a password, or in another way: for the holders of certificates, by a service.
        Ok(Err(LoadPdfError::Decryption(
            DecryptionError::PasswordProtected | DecryptionError::UnsupportedAlgorithm,
        ))) => Err(SkipReason::Encrypted(FORMAT)),
        Ok(Err(LoadPdfError::Decryption(_))) => Err(SkipReason::damaged(
            FORMAT,
            "what it says of its encryption is broken",
        )),
        Ok(Err(LoadPdfError::Invalid)) => Err(SkipReason::damaged(
            FORMAT,
            "its list of pages cannot be found",
        )),
        Err(_) => Err(SkipReason::damaged(FORMAT, "its structure cannot be read")),
    }
}

/// Interprets pages.
struct PageReader<'a> {
    pdf: &'a Pdf,
    cache: InterpreterCache<'a>,
    settings: InterpreterSettings,
    cid_fonts: CidFonts,
    /// Whether the fields of a form are drawn anew.
    regenerates: bool,
}

impl<'a> PageReader<'a> {
    fn new(pdf: &'a Pdf, regenerates: bool) -> PageReader<'a> {
        PageReader {
            pdf,
            cache: InterpreterCache::new(),
            settings: InterpreterSettings {
                cmap_resolver: Arc::new(cid_fonts::named_map),
                ..InterpreterSettings::default()
            },
            cid_fonts: CidFonts::default(),
            regenerates,
        }
    }

    /// What is on a page, and whether it has fields of a form. A page whose content the interpreter cannot read has what came before that.
    fn read(
        &mut self,
        page: &PdfPage<'a>,
        drawn: &mut Drawn,
    ) -> Result<(PageContent, bool), SkipReason> {
        let shown = shown_at(page);
        let edges = page.media_box();
        let corners =
            [(edges.x0, edges.y0), (edges.x1, edges.y1)].map(|corner| shown * Point::from(corner));
        let [one, other] = corners;
        let area = (
            one.x.min(other.x),
            one.y.min(other.y),
            one.x.max(other.x),
            one.y.max(other.y),
        );
        let bounds = Rect::new(area.0, area.1, area.2, area.3);
        let mut context = Context::new(
            shown,
            bounds,
            &self.cache,
            self.pdf.xref(),
            self.settings.clone(),
        );
        let cid_text = self.cid_fonts.of_page(page);
        let mut device = PageDevice::new(area, cid_text, drawn);
        let interpreted = panic::catch_unwind(AssertUnwindSafe(|| {
            interpret_page(page, &mut context, &mut device);
        }));
        drop(context);
        if let Err(payload) = interpreted {
            if let Some(Stopped(reason)) = payload.downcast_ref::<Stopped>() {
                return Err(reason.clone());
            }
            // A lock that was held then cannot be taken again.
            self.cache = InterpreterCache::new();
        }
        let fields = forms::written_on(page, self.regenerates, |area, text| {
            let corners = [(area.0, area.1), (area.2, area.3)];
            let [one, other] = corners.map(|corner| shown * Point::from(corner));
            device.has_text_in(Rect::from_points(one, other), text)
        });
        for line in &fields.written {
            device.write(shown, line)?;
        }
        Ok((device.finish(), fields.has_any))
    }
}

/// From the coordinates of a page to those of the page as it is shown: turned as it says, from its upper left corner.
fn shown_at(page: &PdfPage<'_>) -> Affine {
    page.initial_transform(true).to_kurbo()
}

/// Pages that are not read as their readers see them.
#[derive(Debug, Default)]
struct PageNotes {
    pages: usize,
    without_text: Vec<usize>,
    unreliable: Vec<usize>,
}

impl PageNotes {
    fn add(&mut self, number: usize, content: &PageContent) {
        self.pages = number;
        if content.characters == 0 && content.has_image {
            self.without_text.push(number);
        } else if content.unknown * 2 > content.characters {
            self.unreliable.push(number);
        }
    }

    fn add_to(&self, found: &mut Extracted) {
        found.add_metadata("pages", &self.pages.to_string());
        found.add_metadata("pages_without_text", &ranges(&self.without_text));
        found.add_metadata("pages_with_unreliable_text", &ranges(&self.unreliable));
    }
}

/// Numbers that ascend, as people write them: `1-3,7`.
fn ranges(numbers: &[usize]) -> String {
    let mut written = String::new();
    let mut rest = numbers;
    while let Some((first, _)) = rest.split_first() {
        let run = (0..)
            .zip(rest)
            .take_while(|(at, number)| **number == first + at);
        let length = run.count();
        let comma = if written.is_empty() { "" } else { "," };
        written.push_str(&format!("{comma}{first}"));
        if length > 1 {
            written.push_str(&format!("-{}", first + length - 1));
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    written
}

fn add_metadata(found: &mut Extracted, pdf: &Pdf) {
    let stated = pdf.metadata();
    let text = |value: &Option<Box<[u8]>>| {
        let value = value.as_deref().map(text_string::decode);
        let value = value.unwrap_or_default().trim().to_owned();
        // What programs write that know none.
        match value.as_str() {
            "(anonymous)" | "(unspecified)" => String::new(),
            _ => value,
        }
    };
    let title = text(&stated.title);
    let is_title = !title.is_empty() && title != "untitled";
    found.title = is_title.then_some(title);
    found.add_metadata("author", &text(&stated.author));
    found.add_metadata("subject", &text(&stated.subject));
    found.add_metadata("keywords", &text(&stated.keywords));
    let date = |date| text_string::date(date).unwrap_or_default();
    let created = stated.creation_date.as_ref().map(date);
    found.add_metadata("created", &created.unwrap_or_default());
    let modified = stated.modification_date.as_ref().map(date);
    found.add_metadata("modified", &modified.unwrap_or_default());
}

/// Headings where the bookmarks lead.
fn add_headings(
    builder: &mut TextBuilder,
    pdf: &Pdf,
    bookmarks: &[Bookmark],
    lines: &[Vec<PlacedLine>],
) {
    // The line of the bookmark before.
    let mut last = (0, 0);
    for bookmark in bookmarks {
        let place = bookmark.destination;
        let page = place.map_or(0, |place| place.page);
        let lines = lines.get(page).map(Vec::as_slice).unwrap_or_default();
        let top = place.and_then(|place| {
            let shown = shown_at(pdf.pages().get(page)?);
            Some((shown * Point::from(place.point?)).y)
        });
        let from = if last.0 == page { last.1 } else { 0 };
        let at = bookmarks::line_of(lines, &bookmark.title, top, from).unwrap_or(0);
        last = (page, at);
        let (start, line) = match lines.get(at) {
            Some(line) => (line.start, line.line),
            None => builder.part_start(page),
        };
        let title = &bookmark.title;
        builder
            .found()
            .add_heading(bookmark.level, title, start, line);
    }
}
