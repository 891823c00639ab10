//! One document: its rows, text and outline against its record.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use kb_types::error::{Error, Result};
use kb_types::syntax::by_chunk::SymbolsByChunk;
use kb_types::{DocumentId, Heading, Lines, Part, PartContent, Span, Symbol, line_ends, part};
use roaring::RoaringBitmap;

use crate::catalog::Catalog;
use crate::check::deep::context::{CheckedRows, Context};
use crate::check::problems::{MAX_PROBLEMS, Problems};
use crate::container::codec::u64_at;
use crate::container::{Key, Snapshot};
use crate::index::keyword::{SymbolTerm, searched_names};
use crate::store::documents::DocumentRecord;
use crate::store::facets::Facet;
use crate::store::fields::columns::stored_values;
use crate::store::{symbols, tables};

/// A chunk with its text.
#[derive(Debug)]
pub(super) struct ChunkText<'p> {
    pub(super) row: u32,
    pub(super) is_dead: bool,
    /// End of its span.
    pub(super) end: u32,
    pub(super) lines: Lines,
    /// Its text; `None` when that is lost, which was noted.
    pub(super) bytes: Option<&'p [u8]>,
}

/// Consecutive rows of one document.
#[derive(Debug)]
pub(super) struct DocumentChecker {
    /// The document that the rows name.
    pub(super) id: DocumentId,
    /// End of the last span.
    pub(super) end: u32,
    first_row: u32,
    dead_rows: u32,
    /// Its record; `None` for deleted rows, and when it could not be read.
    record: Option<DocumentRecord>,
    /// Whether a problem of the whole run was noted.
    is_noted: bool,
    headings: Vec<Heading>,
    parts: Vec<Part>,
    symbols: Vec<Symbol>,
    /// Row and bytes of each chunk, of a program.
    chunks: Vec<(u32, Span)>,
    /// Symbols that begin before `end`.
    symbols_passed: usize,
    /// Headings before the end of the last span.
    headings_passed: usize,
    /// Parts that begin before `end`.
    parts_passed: usize,
    /// Parts whose notes begin before `end`.
    notes_passed: usize,
    hasher: blake3::Hasher,
    /// Line ends so far.
    line_ends: u32,
    last_line: u32,
    last_byte: Option<u8>,
    /// Whether all text so far was there and is UTF-8.
    is_whole: bool,
}

impl DocumentChecker {
    /// The run of `id` that begins with `row`.
    pub(super) fn start(
        context: &Context<'_>,
        id: DocumentId,
        row: u32,
        is_dead: bool,
        problems: &mut Problems,
    ) -> Result<DocumentChecker> {
        let place = || format!("row {row} of {}", context.location());
        let mut record = None;
        let (mut headings, mut parts, mut symbols) = (Vec::new(), Vec::new(), Vec::new());
        if !is_dead {
            let read = context.catalog.documents.get(context.snapshot, id);
            record = problems.unless_damaged(place, read)?;
        }
        if let Some(record) = &record {
            let place = || format!("document {:?}", record.path);
            let read = context.catalog.outlines.get(context.snapshot, id);
            headings = problems.unless_damaged(place, read)?.unwrap_or_default();
            let table = &context.catalog.symbols;
            let read = table.get(context.snapshot, id, record.text_bytes);
            if let Some(read) = problems.unless_damaged(place, read)? {
                symbols = read;
                let read = table.fault_of_groups(context.snapshot, id, &symbols);
                if let Some(fault) = problems.unless_damaged(place, read)?.flatten() {
                    problems.add(format!("{}: {fault}", place()));
                }
            }
            if headings.iter().any(|heading| heading.symbol.is_none()) && !symbols.is_empty() {
                problems.add(format!("{}: it has headings beside symbols", place()));
            }
            let table = &context.catalog.parts;
            let read = table.get(context.snapshot, id, record.text_bytes);
            parts = problems.unless_damaged(place, read)?.unwrap_or_default();
            if !parts.is_empty() {
                // Bookmarks of pages may go back in the text.
                headings.sort_by_key(|heading: &Heading| heading.start);
            }
        }
        Ok(DocumentChecker {
            id,
            end: 0,
            first_row: row,
            dead_rows: 0,
            is_noted: !is_dead && record.is_none(),
            record,
            headings,
            headings_passed: 0,
            parts,
            parts_passed: 0,
            symbols,
            chunks: Vec::new(),
            symbols_passed: 0,
            notes_passed: 0,
            hasher: blake3::Hasher::new(),
            line_ends: 0,
            last_line: 0,
            last_byte: None,
            is_whole: true,
        })
    }

    fn location(&self) -> String {
        match &self.record {
            Some(record) => format!("document {:?}", record.path),
            None => format!("document {}", self.id.0),
        }
    }

    /// Appends the next chunk.
    pub(super) fn add(&mut self, chunk: &ChunkText<'_>, problems: &mut Problems) {
        self.dead_rows += u32::from(chunk.is_dead);
        let start = std::mem::replace(&mut self.end, chunk.end);
        let Some(bytes) = chunk.bytes else {
            self.is_whole = false;
            return;
        };
        let Ok(text) = std::str::from_utf8(bytes) else {
            let row = chunk.row;
            problems.add(format!("{}: row {row} is not UTF-8", self.location()));
            self.is_whole = false;
            return;
        };
        if !self.symbols.is_empty() {
            let span = Span {
                start,
                end: self.end,
            };
            self.chunks.push((chunk.row, span));
        }
        if self.is_whole && self.record.is_some() {
            self.check_symbols(start, text, problems);
            self.check_parts(start, problems);
            self.check_notes(start, bytes, problems);
            self.check_lines(chunk, bytes, problems);
            self.check_headings(start, text, problems);
        }
        self.hasher.update(bytes);
        self.last_byte = bytes.last().copied().or(self.last_byte);
        self.last_line = chunk.lines.last;
    }

    /// Lines ascend; those of a text that is its original are counted.
    fn check_lines(&mut self, chunk: &ChunkText<'_>, bytes: &[u8], problems: &mut Problems) {
        let Lines { first, last } = chunk.lines;
        let before = self.line_ends;
        let here = bytes.iter().filter(|byte| **byte == b'\n').count();
        let here = u32::try_from(here).unwrap_or(u32::MAX);
        self.line_ends = before.saturating_add(here);
        let is_right = if self.record.as_ref().is_some_and(|record| record.line_map) {
            first >= 1 && first >= self.last_line && last >= first
        } else {
            let own_first = before.saturating_add(1);
            let ended = u32::from(bytes.last() == Some(&b'\n'));
            let own_last = (self.line_ends + 1).saturating_sub(ended).max(own_first);
            (first, last) == (own_first, own_last)
        };
        if !is_right {
            let row = chunk.row;
            let place = self.location();
            problems.add(format!(
                "{place}: row {row} cannot have lines {first} to {last}"
            ));
        }
    }

    /// Parts begin with a chunk and with the line that they state. Called before the lines of the chunk from
    /// byte `start` on are counted.
    fn check_parts(&mut self, start: u32, problems: &mut Problems) {
        while let Some(part) = self.parts.get(self.parts_passed)
            && part.start < self.end
        {
            self.parts_passed += 1;
            self.check_part(self.parts_passed, part, start, problems);
        }
    }

    /// Compares a part, by its number, with the text that ends before byte `start`, where a chunk begins.
    fn check_part(&self, number: usize, part: &Part, start: u32, problems: &mut Problems) {
        let begins_line = self.last_byte.is_none_or(|byte| byte == b'\n');
        let line = self.line_ends.saturating_add(1);
        if part.start != start || part.line != line || !begins_line {
            problems.add(format!(
                "{}: part {number} at byte {}, line {}, does not begin with a chunk and that line",
                self.location(),
                part.start,
                part.line
            ));
        }
    }

    /// The notes of a slide begin with a line; those in the chunk from byte `start` on.
    fn check_notes(&mut self, start: u32, bytes: &[u8], problems: &mut Problems) {
        while let Some(part) = self.parts.get(self.notes_passed) {
            let notes = match &part.content {
                PartContent::Slide(slide) => slide.notes,
                PartContent::Page(_) | PartContent::Sheet(_) => None,
            };
            let at = notes.unwrap_or(part.start);
            if at >= self.end {
                return;
            }
            self.notes_passed += 1;
            let before = match at.checked_sub(start) {
                Some(0) => self.last_byte,
                Some(offset) => bytes.get(offset as usize - 1).copied(),
                // Part of a chunk that was read before, which was noted.
                None => continue,
            };
            if notes.is_some() && before.is_some_and(|byte| byte != b'\n') {
                problems.add(format!(
                    "{}: the notes of part {} at byte {at} do not begin with a line",
                    self.location(),
                    self.notes_passed
                ));
            }
        }
    }

    /// Symbols begin on characters, and on the lines that they state. Called before the lines of the chunk from byte
    /// `start` on are counted.
    fn check_symbols(&mut self, start: u32, text: &str, problems: &mut Problems) {
        let has_map = self.record.as_ref().is_some_and(|record| record.line_map);
        let (mut counted, mut line) = (0, self.line_ends.saturating_add(1));
        while let Some(symbol) = self.symbols.get(self.symbols_passed)
            && symbol.span.start < self.end
        {
            self.symbols_passed += 1;
            let offset = symbol.span.start.saturating_sub(start) as usize;
            let Some(above) = text.get(counted..offset) else {
                problems.add(format!(
                    "{}: symbol {:?} at byte {} is inside a character",
                    self.location(),
                    symbol.name,
                    symbol.span.start
                ));
                return;
            };
            line = line.saturating_add(line_ends(above));
            counted = offset;
            if symbol.lines.first != line && !has_map {
                problems.add(format!(
                    "{}: symbol {:?} at byte {} states line {}, it begins on line {line}",
                    self.location(),
                    symbol.name,
                    symbol.span.start,
                    symbol.lines.first
                ));
            }
        }
    }

    /// Headings begin on characters, in order.
    fn check_headings(&mut self, start: u32, text: &str, problems: &mut Problems) {
        while let Some(heading) = self.headings.get(self.headings_passed)
            && heading.start < self.end
        {
            self.headings_passed += 1;
            let offset = heading.start.checked_sub(start);
            if !offset.is_some_and(|offset| text.is_char_boundary(offset as usize)) {
                problems.add(format!(
                    "{}: heading {:?} at byte {} is out of order or inside a character",
                    self.location(),
                    heading.title,
                    heading.start
                ));
            }
        }
    }

    /// Compares the whole run, which ends before row `end_row`, with the record.
    pub(super) fn finish(
        mut self,
        context: &Context<'_>,
        end_row: u32,
        last_path: &mut Option<String>,
        found: &mut CheckedRows,
        problems: &mut Problems,
    ) {
        let rows = end_row - self.first_row;
        if self.dead_rows == rows || self.is_noted {
            return;
        }
        if self.record.is_none() {
            // Its first row is deleted, so it was not read.
            let read = context.catalog.documents.get(context.snapshot, self.id);
            self.record = read.ok();
        }
        let place = self.location();
        let here = format!(
            "rows {}..{end_row} of {}",
            self.first_row,
            context.location()
        );
        if self.dead_rows > 0 {
            problems.add(format!("{place}: {} of {here} are deleted", self.dead_rows));
            return;
        }
        let Some(record) = self.record.take() else {
            return;
        };
        let claimed = (record.segment, record.first_row, record.rows);
        if claimed != (context.segment.id.0, self.first_row, rows) {
            problems.add(format!(
                "{place}: {here} name it, its record says {} rows from {} on of segment {}",
                record.rows, record.first_row, record.segment
            ));
            return;
        }
        found.documents.insert(self.id.0);
        if last_path.as_ref().is_some_and(|last| *last >= record.path) {
            problems.add(format!("{place}: {here} do not follow the order of paths"));
        }
        self.compare(&place, &record, problems);
        let mut add = |facet, value: &str| {
            if !value.is_empty() {
                let rows = found.facets.entry((facet, value.to_owned())).or_default();
                rows.insert_range(self.first_row..end_row);
            }
        };
        add(Facet::Type, &record.file_type);
        add(Facet::Language, &record.language);
        add(
            Facet::Class,
            record.class().map_or("", |class| class.name()),
        );
        for tag in &record.tags {
            add(Facet::Tag, tag);
        }
        for field in stored_values(&record.metadata).keys() {
            add(Facet::Field, field);
        }
        self.add_symbols(found);
        *last_path = Some(record.path);
    }

    /// What the chunks of a program define, and which kinds they have.
    fn add_symbols(&self, found: &mut CheckedRows) {
        let mut kinds = SymbolsByChunk::new(&self.symbols);
        let mut names = SymbolsByChunk::new(&self.symbols);
        for (row, span) in &self.chunks {
            for kind in kinds.kinds_of(*span) {
                let value = (Facet::Kind, kind.name().to_owned());
                found.facets.entry(value).or_default().insert(*row);
            }
            let terms = names.named_in(*span).flat_map(|symbol| {
                let term = SymbolTerm::for_kind(symbol.kind);
                searched_names(&symbol.name).map(move |name| term.of(name))
            });
            // A chunk that defines a name twice has one term.
            for term in terms.collect::<BTreeSet<String>>() {
                found.definitions.add(term.as_bytes(), *row);
            }
        }
    }

    fn compare(&self, place: &str, record: &DocumentRecord, problems: &mut Problems) {
        if self.end != record.text_bytes {
            problems.add(format!(
                "{place}: its chunks end at byte {}, its record says {}",
                self.end, record.text_bytes
            ));
        } else if self.is_whole && *self.hasher.finalize().as_bytes() != record.text_hash {
            problems.add(format!(
                "{place}: its text has another hash than its record"
            ));
        }
        let open = u32::from(self.last_byte.is_some_and(|byte| byte != b'\n'));
        let lines = self.line_ends.saturating_add(open);
        if self.is_whole && !record.line_map && record.lines != lines {
            problems.add(format!(
                "{place}: its text has {lines} lines, its record says {}",
                record.lines
            ));
        }
        if record.line_map && self.last_line > record.lines.max(1) {
            problems.add(format!(
                "{place}: a chunk has line {}, its record says {} lines",
                self.last_line, record.lines
            ));
        }
        if let Some(beyond) = self.headings.get(self.headings_passed)
            && self.is_whole
            // An empty sheet at the end begins where the text ends.
            && (self.parts.is_empty() || beyond.start > self.end)
        {
            problems.add(format!(
                "{place}: heading {:?} at byte {} lies beyond its text",
                beyond.title, beyond.start
            ));
        }
        self.compare_parts(place, record, problems);
        let odd = |heading: &&Heading| {
            let is_deep = heading.level > 6 && heading.symbol.is_none();
            heading.level == 0 || is_deep || heading.line == 0
        };
        if let Some(heading) = self.headings.iter().find(odd) {
            problems.add(format!(
                "{place}: heading {:?} has level {} and line {}",
                heading.title, heading.level, heading.line
            ));
        }
    }

    /// Compares the parts with the whole text.
    fn compare_parts(&self, place: &str, record: &DocumentRecord, problems: &mut Problems) {
        if self.parts.is_empty() || !self.is_whole {
            return;
        }
        if record.line_map {
            problems.add(format!(
                "{place}: it has parts, and its lines are not those of its text"
            ));
            return;
        }
        // Those without text at its end.
        let ended = self.parts.iter().enumerate().skip(self.parts_passed);
        for (position, part) in ended {
            self.check_part(position.saturating_add(1), part, self.end, problems);
        }
        if let Some(fault) = part::fault_of_lines(&self.parts, record.lines) {
            problems.add(format!("{place}: {fault}"));
        }
    }
}

/// What is wrong with the parts and symbols of a document without text.
///
/// # Errors
/// Those that tell nothing about the file.
pub(super) fn check_without_text(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    id: DocumentId,
    place: &str,
    problems: &mut Problems,
) -> Result<()> {
    let read = catalog.parts.get(snapshot, id, 0);
    let parts = problems.unless_damaged(|| place.to_owned(), read)?;
    if let Some(fault) = part::fault_of_lines(&parts.unwrap_or_default(), 0) {
        problems.add(format!("{place}: {fault}"));
    }
    let read = catalog.symbols.stored(snapshot, id, 0);
    let symbols = problems.unless_damaged(|| place.to_owned(), read)?;
    if symbols.is_some_and(|symbols| !symbols.is_empty()) {
        problems.add(format!("{place}: it has symbols and no text"));
    }
    Ok(())
}

/// Outlines, parts and symbols of documents that there are not, and groups of symbols that no row refers to.
///
/// # Errors
/// Those that tell nothing about the file.
pub(super) fn check_outlines(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    documents: &RoaringBitmap,
    problems: &mut Problems,
) -> Result<()> {
    for (name, what, first) in [
        (tables::OUTLINE, "headings", 0),
        (tables::PARTS, "parts", 0),
        (tables::SYMBOLS, "symbols", symbols::FIRST_DOCUMENT_KEY),
    ] {
        let unknown = unknown_keys(snapshot, name, first, problems, |number| {
            Ok(u32::try_from(number).is_ok_and(|id| documents.contains(id)))
        })?;
        for number in unknown {
            problems.add(format!(
                "table {name}: {what} of document {number}, which does not exist"
            ));
        }
    }
    // The document that was met last, and how many groups it has.
    let mut met = (DocumentId(0), 0);
    let name = tables::SYMBOL_GROUPS;
    let unknown = unknown_keys(snapshot, name, 0, problems, |key| {
        let (id, group) = symbols::owner_of(key);
        if met.0 != id {
            // Of a row that cannot be read, which was noted with its document, they may be.
            let groups = match catalog.symbols.groups(snapshot, id) {
                Err(Error::Damaged { .. } | Error::FormatUnsupported { .. }) => usize::MAX,
                groups => groups?,
            };
            met = (id, groups);
        }
        Ok((group as usize) < met.1)
    })?;
    for key in unknown {
        let (id, group) = symbols::owner_of(key);
        problems.add(format!(
            "table {name}: group {group} of document {}, which does not have it",
            id.0
        ));
    }
    Ok(())
}

/// The first keys from `first` on that are not known.
fn unknown_keys(
    snapshot: &Snapshot<'_>,
    name: &str,
    first: u64,
    problems: &mut Problems,
    mut is_known: impl FnMut(u64) -> Result<bool>,
) -> Result<Vec<u64>> {
    let mut unknown = Vec::new();
    let read = snapshot.table(name).and_then(|table| {
        let Some(table) = table else {
            return Ok(());
        };
        snapshot.range(&table, Key::U64(first), |key, _| {
            let number = u64_at(key, 0)?;
            if unknown.len() < MAX_PROBLEMS && !is_known(number)? {
                unknown.push(number);
            }
            Ok(ControlFlow::Continue(()))
        })
    });
    problems.unless_damaged(|| format!("table {name}"), read)?;
    Ok(unknown)
}
