//! What lies in other parts of a Word document: charts, diagrams, and documents that were put in whole.

use std::mem;

use crate::extracted::Extracted;
use crate::markup::{html, message};
use crate::package::drawing_parts::DrawingParts;
use crate::package::ooxml::Relationships;
use crate::package::xml::Element;
use crate::package::zip_package::{self, ZipPackage};
use crate::skip_reason::SkipReason;
use crate::text;
use crate::word::flow::Flow;
use crate::word::rtf;

/// Nesting depth of documents that were put into one another (`altChunk`).
// Real files have one level. Each level is read with all limits of a document, so the depth
// multiplies the work.
const MAX_INSIDE: usize = 3;
/// Bytes of a document that was put into another one.
// It is unpacked beside the document around it, and both must fit into the memory of a worker.
const MAX_CHUNK_BYTES: usize = 32 << 20;

/// The parts that a part refers to.
pub(super) struct Parts<'p, 'z> {
    package: &'p mut ZipPackage<'z>,
    drawings: DrawingParts,
    /// How many documents this one is inside of.
    inside: usize,
    read: ReadDocument,
}

/// Appends what a package holds that lies inside so many others.
pub(super) type ReadDocument =
    fn(&mut ZipPackage<'_>, usize, &mut Flow) -> Result<Extracted, SkipReason>;

impl<'p, 'z> Parts<'p, 'z> {
    pub(super) fn new(
        package: &'p mut ZipPackage<'z>,
        relationships: &Relationships,
        inside: usize,
        read: ReadDocument,
    ) -> Parts<'p, 'z> {
        Parts {
            package,
            drawings: DrawingParts::new(relationships),
            inside,
            read,
        }
    }

    /// The lines of the chart or diagram that an element stands for.
    pub(super) fn drawing(&mut self, element: &Element<'_>) -> Result<Vec<String>, SkipReason> {
        self.drawings.lines(self.package, element)
    }

    /// Appends a document that was put in here: a Word document, RTF, a page, a message or a text. One that cannot be
    /// read is left out.
    pub(super) fn chunk(&mut self, id: &str, flow: &mut Flow) -> Result<(), SkipReason> {
        let Some(part) = self
            .drawings
            .unread(id)
            .filter(|_| self.inside < MAX_INSIDE)
        else {
            return Ok(());
        };
        let bytes = match self.package.read(&part) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(SkipReason::Damaged { .. }) => return Ok(()),
            Err(reason) => return Err(reason),
        };
        if bytes.len() > MAX_CHUNK_BYTES {
            return Ok(());
        }
        if bytes.starts_with(zip_package::SIGNATURE) {
            return self.document(&bytes, flow);
        }
        let found = if rtf::is_rtf(&bytes) {
            rtf::extract(&bytes).ok()
        } else {
            of_text(&bytes, &part)
        };
        if let Some(found) = found {
            append(found, flow);
        }
        Ok(())
    }

    fn document(&mut self, bytes: &[u8], flow: &mut Flow) -> Result<(), SkipReason> {
        let Ok(mut inner) = ZipPackage::open(bytes, self.package.format()) else {
            return Ok(());
        };
        inner.share_limit(self.package);
        let read = (self.read)(&mut inner, self.inside + 1, flow);
        inner.share_limit(self.package);
        match read {
            Ok(_) | Err(SkipReason::Damaged { .. } | SkipReason::Encrypted(_)) => Ok(()),
            Err(reason) => Err(reason),
        }
    }
}

/// A page, a message with a page in it, or the text itself, by its ending and its beginning.
fn of_text(bytes: &[u8], name: &str) -> Option<Extracted> {
    let (_, ending) = name.rsplit_once('.').unwrap_or_default();
    let ending = ending.to_ascii_lowercase();
    let is_message = matches!(ending.as_str(), "mht" | "mhtml" | "eml");
    if is_message || bytes.starts_with(b"MIME-Version:") {
        return message::extract(bytes).ok();
    }
    let is_page = matches!(ending.as_str(), "htm" | "html" | "xhtml" | "xht");
    let text = text::decode(bytes, is_page).ok()?;
    if is_page || html::is_page(&text) {
        return Some(html::extract(&text));
    }
    // Other markup, as Word's own form in one part, is not read.
    let is_plain = !text.trim_start().starts_with('<');
    is_plain.then(|| Extracted {
        text: Some(text),
        ..Extracted::default()
    })
}

/// The lines of a document as paragraphs, its headings as headings.
fn append(mut found: Extracted, flow: &mut Flow) {
    let text = found.text.take().unwrap_or_default();
    let mut headings = mem::take(&mut found.outline).into_iter().peekable();
    let mut start = 0usize;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let is_here = |at: u32| usize::try_from(at).is_ok_and(|at| at < end);
        let mut level = None;
        while let Some(heading) = headings.next_if(|heading| is_here(heading.start)) {
            level = level.or(Some(heading.level));
        }
        flow.paragraph(line, level, &[]);
        start = end;
    }
}
