//! A document in an answer of a worker: its fields, which are checked against its text when they are read.
//!
//! Numbers are little-endian and of fixed width, texts and lists behind their length as u32, an optional number
//! behind a byte that is 1 when it is there.

use kb_types::file_types;
use kb_types::part::{self, Part, PartContent, PartKind};
use kb_types::syntax::nesting;
use kb_types::{
    Class, Document, Heading, Lines, Page, PageSource, Sheet, Slide, Span, Symbol, SymbolKind,
    Syntax, SyntaxCut, SyntaxFallback, line_ends,
};
use unicode_normalization::UnicodeNormalization;

/// All fields of a document but its path, which its parent knows, and its text.
pub(super) fn encode_fields(document: &Document) -> Vec<u8> {
    let mut out = Fields::default();
    out.text(&document.file_type);
    out.text(&document.language);
    out.bytes.push(document.class as u8);
    out.text(&document.title);
    out.list(&document.metadata, |out, (key, value)| {
        out.text(key);
        out.text(value);
    });
    // The outline of a program follows from its symbols.
    let is_derived = !document.syntax.symbols.is_empty();
    let outline = if is_derived {
        &[]
    } else {
        document.outline.as_slice()
    };
    out.list(outline, |out, heading| {
        out.bytes.push(heading.level);
        out.number(heading.start);
        out.number(heading.line);
        out.text(&heading.title);
    });
    out.list(&document.parts, encode_part);
    out.list(&document.line_numbers, |out, line| out.number(*line));
    encode_syntax(&mut out, &document.syntax);
    out.bytes
}

/// Uses are not asked for where documents are made.
fn encode_syntax(out: &mut Fields, syntax: &Syntax) {
    out.list(&syntax.symbols, |out, symbol| {
        out.bytes.push(symbol.kind as u8);
        out.text(&symbol.name);
        out.text(&symbol.keyword);
        out.option(symbol.parent);
        out.option(symbol.doc.map(|doc| doc.start));
        out.number(symbol.doc.map_or(0, |doc| doc.end));
        out.number(symbol.span.start);
        out.number(symbol.span.end);
        out.number(symbol.head.start);
        out.number(symbol.head.end);
        out.number(symbol.lines.first);
        out.number(symbol.lines.last);
        out.number(symbol.name_start);
    });
    out.list(&syntax.cuts, |out, cut| {
        out.number(cut.at);
        out.number(u32::from(cut.depth));
        out.bytes.push(u8::from(cut.is_attached));
    });
    let (reason, bytes) = match syntax.fallback {
        None => (0, 0),
        Some(SyntaxFallback::TooLarge(bytes)) => (1, bytes),
        Some(SyntaxFallback::TooSlow) => (2, 0),
        Some(SyntaxFallback::Unavailable) => (3, 0),
        Some(SyntaxFallback::Failed) => (4, 0),
    };
    out.bytes.push(reason);
    out.length(bytes);
}

fn encode_part(out: &mut Fields, part: &Part) {
    out.number(part.start);
    out.number(part.line);
    out.bytes.push(part.content.kind() as u8);
    match &part.content {
        PartContent::Page(page) => {
            out.bytes.push(page.source as u8);
            out.text(&page.label);
        }
        PartContent::Sheet(sheet) => {
            out.text(&sheet.name);
            out.number(sheet.rows);
            out.number(sheet.columns);
            out.option(sheet.header_row);
            out.bytes.push(u8::from(sheet.is_hidden));
            out.number(sheet.uncalculated);
            out.list(&sheet.runs, |out, (line, row)| {
                out.number(*line);
                out.number(*row);
            });
        }
        PartContent::Slide(slide) => {
            out.text(&slide.title);
            out.option(slide.notes);
            out.bytes.push(u8::from(slide.is_hidden));
        }
    }
}

#[derive(Debug, Default)]
struct Fields {
    bytes: Vec<u8>,
}

impl Fields {
    fn number(&mut self, number: u32) {
        self.bytes.extend(number.to_le_bytes());
    }

    /// What is too long for its length makes the record too long to be sent.
    fn length(&mut self, length: usize) {
        self.number(u32::try_from(length).unwrap_or(u32::MAX));
    }

    fn option(&mut self, number: Option<u32>) {
        self.bytes.push(u8::from(number.is_some()));
        self.bytes
            .extend(number.map(u32::to_le_bytes).iter().flatten());
    }

    fn text(&mut self, text: &str) {
        self.length(text.len());
        self.bytes.extend(text.as_bytes());
    }

    fn list<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Fields, &T)) {
        self.length(items.len());
        for one in items {
            item(self, one);
        }
    }
}

/// What is wrong with the fields or the text, as a few words.
type Fault = &'static str;

/// The document under the name `path` with these fields and this text. Linear in both.
///
/// # Errors
/// A lie: fields that end early or go on, a number that names nothing, headings, parts or lines that do not
/// stand in the text.
pub(super) fn decode(path: &str, fields: &[u8], text: String) -> Result<Document, Fault> {
    let mut rest = Reader { rest: fields };
    let file_type = rest.text()?;
    let language = rest.text()?;
    let known = file_types::from_type(&file_type).ok_or("an unknown file type")?;
    // A notebook has the language of its cells, one of those that are known.
    let is_of_cells = file_types::canonical_language(&language) == Some(language.as_str());
    if !language.is_empty() && language != known.language && !is_of_cells {
        return Err("an unknown language");
    }
    let mut document = Document {
        path: path.nfc().collect(),
        file_type,
        language,
        class: Class::from_number(rest.byte()?).ok_or("an unknown class")?,
        title: rest.text()?,
        // 8: two lengths of four bytes. The numbers below are the least bytes of an item in the
        // same way.
        metadata: rest.list(8, |rest| Ok((rest.text()?, rest.text()?)))?,
        outline: rest.list(13, |rest| {
            Ok(Heading {
                level: rest.byte()?,
                start: rest.number()?,
                line: rest.number()?,
                title: rest.text()?,
                symbol: None,
            })
        })?,
        parts: rest.list(9, decode_part)?,
        line_numbers: rest.list(4, Reader::number)?,
        syntax: decode_syntax(&mut rest)?,
        text,
    };
    // Strict: parent and worker have the same version, so further bytes mean that one of them
    // misread.
    if !rest.rest.is_empty() {
        return Err("bytes behind its fields");
    }
    if let Some(fault) = fault_in(&document) {
        return Err(fault);
    }
    if !document.syntax.symbols.is_empty() {
        // Made here and not sent: an outline from the worker could contradict its symbols.
        document.outline = nesting::outline(&document.syntax.symbols);
    }
    Ok(document)
}

fn decode_part(rest: &mut Reader<'_>) -> Result<Part, Fault> {
    let (start, line) = (rest.number()?, rest.number()?);
    let content = match rest.byte()? {
        kind if kind == PartKind::Page as u8 => PartContent::Page(Page {
            source: PageSource::from_number(rest.byte()?).ok_or("an unknown source of pages")?,
            label: rest.text()?,
        }),
        kind if kind == PartKind::Sheet as u8 => PartContent::Sheet(Sheet {
            name: rest.text()?,
            rows: rest.number()?,
            columns: rest.number()?,
            header_row: rest.option()?,
            is_hidden: rest.flag()?,
            uncalculated: rest.number()?,
            runs: rest.list(8, |rest| Ok((rest.number()?, rest.number()?)))?,
        }),
        kind if kind == PartKind::Slide as u8 => PartContent::Slide(Slide {
            title: rest.text()?,
            notes: rest.option()?,
            is_hidden: rest.flag()?,
        }),
        _ => return Err("an unknown kind of part"),
    };
    Ok(Part {
        start,
        line,
        content,
    })
}

fn decode_syntax(rest: &mut Reader<'_>) -> Result<Syntax, Fault> {
    let symbols = rest.list(47, |rest| {
        Ok(Symbol {
            kind: SymbolKind::from_number(rest.byte()?).ok_or("an unknown kind of symbol")?,
            name: rest.text()?,
            keyword: rest.text()?,
            parent: rest.option()?,
            doc: {
                let (start, end) = (rest.option()?, rest.number()?);
                start.map(|start| Span { start, end })
            },
            span: Span {
                start: rest.number()?,
                end: rest.number()?,
            },
            head: Span {
                start: rest.number()?,
                end: rest.number()?,
            },
            lines: Lines {
                first: rest.number()?,
                last: rest.number()?,
            },
            name_start: rest.number()?,
        })
    })?;
    let cuts = rest.list(9, |rest| {
        Ok(SyntaxCut {
            at: rest.number()?,
            depth: u16::try_from(rest.number()?).map_err(|_| "a depth over the limit")?,
            is_attached: rest.flag()?,
        })
    })?;
    let (reason, bytes) = (rest.byte()?, rest.number()?);
    let fallback = match reason {
        0 => None,
        1 => Some(SyntaxFallback::TooLarge(bytes as usize)),
        2 => Some(SyntaxFallback::TooSlow),
        3 => Some(SyntaxFallback::Unavailable),
        4 => Some(SyntaxFallback::Failed),
        _ => return Err("an unknown reason not to parse"),
    };
    Ok(Syntax {
        symbols,
        cuts,
        uses: Vec::new(),
        fallback,
    })
}

/// What the structure of a program must be, for the rooms that use it.
fn fault_in_syntax(syntax: &Syntax, text: &str) -> Option<Fault> {
    let stands = |span: Span| text.get(span.start as usize..span.end as usize).is_some();
    let is_right = |symbol: &Symbol| {
        stands(symbol.span)
            && stands(symbol.head)
            && symbol.doc.is_none_or(stands)
            && text.is_char_boundary(symbol.name_start as usize)
    };
    let text_bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let is_nested = nesting::fault(&syntax.symbols, text_bytes).is_none();
    if !is_nested || !syntax.symbols.iter().all(is_right) {
        return Some("symbols that do not stand in its text");
    }
    let starts = syntax.cuts.iter().map(|cut| cut.at);
    let is_line = |at: u32| {
        text.get(..at as usize)
            .is_some_and(|head| head.is_empty() || head.ends_with('\n'))
    };
    if !starts.clone().is_sorted() || !starts.clone().all(is_line) {
        return Some("cuts that do not stand in its text");
    }
    None
}

/// What extraction in this process gives by construction: later rooms take it at its word.
fn fault_in(document: &Document) -> Option<Fault> {
    let text = &document.text;
    // Bookmarks may go back in the text, so their order is not looked at.
    let stands = |heading: &Heading| {
        (1..=6).contains(&heading.level) && text.is_char_boundary(heading.start as usize)
    };
    if !document.outline.iter().all(stands) {
        return Some("headings that do not stand in its text");
    }
    let numbers = &document.line_numbers;
    let whole_lines = line_ends(text) as usize;
    let lines = whole_lines + usize::from(!text.is_empty() && !text.ends_with('\n'));
    if !numbers.is_empty() && (numbers.len() != lines || !numbers.is_sorted()) {
        return Some("numbers that are not those of its lines");
    }
    if !numbers.is_empty() && !document.parts.is_empty() {
        return Some("parts in a text whose lines are not those of its file");
    }
    fault_in_syntax(&document.syntax, text).or_else(|| part::fault_in(&document.parts, text))
}

/// Takes fields from the front.
struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let (array, rest) = self
            .rest
            .split_first_chunk()
            .ok_or("fields that end early")?;
        self.rest = rest;
        Ok(*array)
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    fn number(&mut self) -> Result<u32, Fault> {
        self.array().map(u32::from_le_bytes)
    }

    fn flag(&mut self) -> Result<bool, Fault> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err("a flag that is neither 0 nor 1"),
        }
    }

    fn option(&mut self) -> Result<Option<u32>, Fault> {
        let is_there = self.flag()?;
        is_there.then(|| self.number()).transpose()
    }

    fn text(&mut self) -> Result<String, Fault> {
        let length = self.number()? as usize;
        let (text, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or("fields that end early")?;
        self.rest = rest;
        let text = std::str::from_utf8(text).map_err(|_| "a field that is not UTF-8")?;
        Ok(text.to_owned())
    }

    /// Items that take at least so many bytes each.
    fn list<T>(
        &mut self,
        item_bytes: usize,
        mut item: impl FnMut(&mut Self) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let count = self.number()? as usize;
        // Before memory is taken. The worker may be under the control of a hostile file.
        if count > self.rest.len() / item_bytes {
            return Err("a list that is longer than its fields");
        }
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            items.push(item(self)?);
        }
        Ok(items)
    }
}
