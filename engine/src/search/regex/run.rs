//! Searches: targets -> windows -> lines -> items, until a budget is used up.

use std::ops::{ControlFlow, Range};
use std::time::Instant;

use roaring::RoaringBitmap;

use crate::error::{Error, Result};
use crate::paging::{Budget, CursorScope};
use crate::resolve;
use crate::search::filter::rows::{intersect, live_rows_of};
use crate::search::plan::filtered;
use crate::search::regex::candidates::keep_candidates;
use crate::search::regex::line_finder::{FoundLine, count_lines, each_line};
use crate::search::regex::pattern::Pattern;
use crate::search::regex::position::Position;
use crate::search::regex::request::{RegexOutput, RegexRequest};
use crate::search::regex::response::{RegexMatch, RegexResponse};
use crate::search::regex::target::{Target, Targets};
use crate::search::regex::trigram_query::TrigramQuery;
use crate::search::regex::window::{DOCUMENT_LIMIT_BYTES, WindowReader};
use crate::search::sources::{Source, Sources};
use crate::store::documents::DocumentRecord;
use crate::store::handles;
use crate::store::meta::Settings;
use crate::types::{DocumentId, Lines, Part, PartAddress, PartKind};

/// Answers a request to one or several files.
///
/// # Errors
/// [`Error::InvalidPattern`] and [`Error::InvalidArgument`] for what the request gets wrong,
/// [`Error::DocumentNotFound`], [`Error::AmbiguousDocument`], [`Error::FolderNotFound`] for names that it gives,
/// [`Error::InvalidCursor`] and [`Error::StaleCursor`] for a continuation of something else, [`Error::Cancelled`],
/// [`Error::Damaged`] for what a file gets wrong.
pub(crate) fn search_regex(files: &[Source<'_>], request: &RegexRequest) -> Result<RegexResponse> {
    request.validate_numbers()?;
    let pattern = Pattern::compile(request)?;
    let commits = files.iter().map(|source| {
        let generation = source.catalog.manifest.generation;
        (source.uuid, generation)
    });
    let commits: Vec<([u8; 16], u64)> = commits.collect();
    let scope = CursorScope::new("regex", &commits, request.fingerprint());
    let start = Position::of(scope.start(&request.page)?, files.len())?;
    let sources = Sources::bind(files)?;
    let mut warnings = Vec::new();
    let mut rows = rows_to_search(&sources, request, &mut warnings)?;
    let text_bytes = text_bytes(&sources, &rows);
    if *pattern.trigrams() != TrigramQuery::Any && request.uses_trigrams {
        skip_by_trigrams(&sources, &pattern, &mut rows, &mut warnings)?;
    }
    let mut search = Search {
        sources: &sources,
        request,
        pattern: &pattern,
        start,
        budget: Budget::of_texts(&request.page),
        items: Vec::new(),
        began: Instant::now(),
        searched_bytes: 0,
        next: None,
        is_complete: true,
        warnings,
    };
    let first_file = start.map_or(0, |start| start.file);
    for file in first_file..files.len() {
        let rows = rows.get(sources.positions(file)).unwrap_or_default();
        search.file(file, rows.to_vec())?;
        if search.next.is_some() {
            break;
        }
    }
    let Search {
        budget,
        items,
        searched_bytes,
        next,
        is_complete,
        warnings,
        ..
    } = search;
    Ok(RegexResponse {
        matches: budget.paged(items, &scope, next.map(Position::offset)),
        is_complete,
        searched_bytes,
        text_bytes,
        warnings,
    })
}

/// The live rows of the documents that pass, one bitmap a segment of all files.
fn rows_to_search(
    sources: &Sources<'_>,
    request: &RegexRequest,
    warnings: &mut Vec<String>,
) -> Result<Vec<RoaringBitmap>> {
    let rows = filtered(sources, &request.filters, warnings)?;
    let mut rows = rows.unwrap_or_else(|| live_rows_of(sources));
    if !request.documents.is_empty() {
        intersect(&mut rows, &rows_of_named(sources, &request.documents)?);
    }
    Ok(rows)
}

/// The rows of documents that are named. In several files it is enough that one has a document of the name.
fn rows_of_named(sources: &Sources<'_>, names: &[String]) -> Result<Vec<RoaringBitmap>> {
    let mut rows = vec![RoaringBitmap::new(); sources.segments.len()];
    for name in names {
        let (mut is_found, mut failed) = (false, None);
        for (file, source) in sources.files.iter().enumerate() {
            let located = resolve::locate(source.snapshot, source.catalog, source.path, name);
            let located = match located {
                Ok(located) => located,
                Err(error @ (Error::DocumentNotFound { .. } | Error::AmbiguousDocument { .. })) => {
                    failed.get_or_insert(error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            is_found = true;
            let record = source.catalog.documents.get(source.snapshot, located.id)?;
            for position in sources.positions(file) {
                let segment = sources.segment(position)?.segment;
                if segment.id == record.segment()
                    && let Some(rows) = rows.get_mut(position)
                {
                    let end = record.first_row.saturating_add(record.rows);
                    rows.insert_range(record.first_row..end.min(segment.rows()));
                }
            }
        }
        if let (Some(error), false) = (failed, is_found) {
            return Err(error);
        }
    }
    Ok(rows)
}

/// Leaves the rows that the pattern may match in. Warns where the file was told to have no trigrams.
fn skip_by_trigrams(
    sources: &Sources<'_>,
    pattern: &Pattern,
    rows: &mut [RoaringBitmap],
    warnings: &mut Vec<String>,
) -> Result<()> {
    for (bound, rows) in sources.segments.iter().zip(rows) {
        sources.tick()?;
        if !rows.is_empty() {
            keep_candidates(bound, pattern.trigrams(), pattern.needs_document(), rows)?;
        }
    }
    for source in sources.files {
        if Settings::read(source.snapshot)?.without_trigrams {
            warnings.push(
                "the file has no trigrams, so all text was read: index it with trigrams to search faster"
                    .to_owned(),
            );
            break;
        }
    }
    Ok(())
}

/// Bytes of the text of some rows, by their share of the rows of each segment.
fn text_bytes(sources: &Sources<'_>, rows: &[RoaringBitmap]) -> u64 {
    let shares = sources.segments.iter().zip(rows).map(|(bound, rows)| {
        let (live, bytes) = (bound.segment.live_rows(), bound.segment.live_text_bytes());
        let share = rows.len() as f64 / f64::from(live.max(1));
        (bytes as f64 * share) as u64
    });
    shares.sum()
}

/// A search under way.
struct Search<'r> {
    sources: &'r Sources<'r>,
    request: &'r RegexRequest,
    pattern: &'r Pattern,
    /// Where it began, as a cursor says.
    start: Option<Position>,
    budget: Budget,
    items: Vec<RegexMatch>,
    began: Instant,
    searched_bytes: u64,
    /// Where it continues.
    next: Option<Position>,
    is_complete: bool,
    warnings: Vec<String>,
}

/// A document that is searched, and what was read of it so far.
struct Current {
    file: usize,
    id: DocumentId,
    /// Items begin at this line or later, as [`Position::line`] says.
    from: usize,
    /// Whether it is a sheet, once that was asked.
    is_sheet: Option<bool>,
    /// Read with the first match.
    facts: Option<Facts>,
    matching_lines: u64,
}

/// What an item says of its document.
struct Facts {
    record: DocumentRecord,
    parts: Vec<Part>,
}

impl<'r> Search<'r> {
    /// Searches what is left of a file.
    fn file(&mut self, file: usize, rows: Vec<RoaringBitmap>) -> Result<()> {
        let source = self.sources.source(file)?;
        let start = self.start.filter(|start| start.file == file);
        let from = match start {
            Some(start) => {
                let record = source
                    .catalog
                    .documents
                    .get(source.snapshot, start.document);
                // A cursor names any document that its sender likes.
                Some(record.map_err(|_| CursorScope::out_of_range())?.path)
            }
            None => None,
        };
        let is_whole = self.pattern.needs_document();
        let mut targets = Targets::new(self.sources, file, rows, is_whole, from.as_deref())?;
        let mut readers: Vec<(usize, WindowReader<'r>)> = Vec::new();
        while let Some(target) = targets.next()? {
            let at = readers
                .iter()
                .position(|(segment, _)| *segment == target.segment);
            let at = match at {
                Some(at) => at,
                None => {
                    let reader = WindowReader::new(self.sources.segment(target.segment)?)?;
                    readers.push((target.segment, reader));
                    readers.len() - 1
                }
            };
            let Some((_, reader)) = readers.get_mut(at) else {
                break;
            };
            let from = start.filter(|start| start.document == target.document);
            self.document(file, &target, from.map_or(0, |start| start.line), reader)?;
            if self.next.is_some() {
                break;
            }
        }
        Ok(())
    }

    fn document(
        &mut self,
        file: usize,
        target: &Target,
        from: usize,
        reader: &mut WindowReader<'r>,
    ) -> Result<()> {
        let mut current = Current {
            file,
            id: target.document,
            from,
            is_sheet: None,
            facts: None,
            matching_lines: 0,
        };
        let is_by_line = self.request.output == RegexOutput::Lines;
        if !is_by_line && self.is_used_up() {
            self.stop_at(&current, 0);
            return Ok(());
        }
        let is_whole = self.pattern.needs_document();
        if is_whole && self.is_too_long(target)? {
            self.warnings.push(format!(
                "a document of more than {} MiB was not searched: the pattern needs whole documents",
                DOCUMENT_LIMIT_BYTES >> 20
            ));
            return Ok(());
        }
        'ranges: for rows in &target.rows {
            let mut rows = rows.clone();
            if from > 0 && !is_whole {
                rows = self.rows_from(target, rows, &mut current)?;
            }
            while !rows.is_empty() {
                self.sources.tick()?;
                if is_by_line && self.is_used_up() {
                    let chunks = self.sources.segment(target.segment)?.chunks();
                    let at = chunks.get(rows.start)?.at;
                    let line =
                        self.line_key(&mut current, at.span.start as usize, at.lines.first)?;
                    self.stop_at(&current, line);
                    break 'ranges;
                }
                rows = reader.read(rows, target.end, is_whole)?;
                self.searched_bytes += reader.stored_bytes() as u64;
                if reader.may_have_cells() && self.is_sheet(&mut current)? {
                    reader.show_cells();
                }
                if self.window(&mut current, reader)?.is_break() {
                    break 'ranges;
                }
            }
        }
        if !is_by_line && current.matching_lines > 0 {
            let matching_lines = current.matching_lines;
            let item = self.item(&mut current, None, matching_lines, reader)?;
            self.take(item, &current, 0);
        }
        Ok(())
    }

    /// Searches a window; breaks when the rest of the document is not wanted.
    fn window(
        &mut self,
        current: &mut Current,
        reader: &WindowReader<'r>,
    ) -> Result<ControlFlow<()>> {
        let limit = match self.request.output {
            RegexOutput::Lines => None,
            RegexOutput::Counts => Some(u64::MAX),
            RegexOutput::Documents => Some(1),
        };
        if let Some(limit) = limit {
            // A cursor of these is at the start of a document.
            current.matching_lines += count_lines(self.pattern, reader.text(), limit)?;
            return Ok(if current.matching_lines >= limit {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            });
        }
        let (first_byte, first_line) = (reader.first_byte()? as usize, reader.first_line()?);
        let mut flow = ControlFlow::Continue(());
        each_line(self.pattern, reader.text(), |line| {
            let number = first_line.saturating_add(line.line_ends_before);
            let byte = first_byte + line.bytes.start;
            if current.from > 0 && self.line_key(current, byte, number)? < current.from {
                return Ok(flow);
            }
            let item = self.item(current, Some(&line), 1, reader)?;
            let key = self.line_key(current, byte, number)?;
            if !self.take(item, current, key) {
                flow = ControlFlow::Break(());
            }
            Ok(flow)
        })?;
        Ok(flow)
    }

    /// Takes an item, if it fits; else the answer continues there.
    fn take(&mut self, item: RegexMatch, current: &Current, line: usize) -> bool {
        let fits = self.items.len() < self.request.k && self.budget.take(item.cost_bytes());
        if fits {
            self.items.push(item);
        } else {
            self.next = Some(position(current, line));
        }
        fits
    }

    /// Whether the budgets of time and bytes are used up. What was not searched at all is not left for later.
    fn is_used_up(&self) -> bool {
        if self.searched_bytes == 0 {
            return false;
        }
        let limit = self.request.time_limit;
        self.searched_bytes >= self.request.max_scan_bytes
            || limit.is_some_and(|limit| self.began.elapsed() >= limit)
    }

    fn stop_at(&mut self, current: &Current, line: usize) {
        self.next = Some(position(current, line));
        self.is_complete = false;
        self.warnings.push(format!(
            "the search stopped after {:.1} MB of text; continue it for the rest",
            self.searched_bytes as f64 / 1e6
        ));
    }

    /// The rows of a range without those before the line that the document is searched from.
    fn rows_from(
        &self,
        target: &Target,
        rows: Range<u32>,
        current: &mut Current,
    ) -> Result<Range<u32>> {
        let chunks = self.sources.segment(target.segment)?.chunks();
        let is_sheet = self.is_sheet(current)?;
        let mut start = rows.start;
        // The first line of the window, which may begin in an earlier chunk.
        let mut with_line = rows.start;
        while start < rows.end {
            let at = chunks.get(start)?.at;
            let before = start.checked_sub(1).filter(|_| start > rows.start);
            let goes_on = match before {
                Some(before) => chunks.get(before)?.at.lines.last >= at.lines.first,
                None => false,
            };
            if !goes_on {
                with_line = start;
            }
            let end = if is_sheet {
                at.lines.last as usize + 1
            } else {
                at.span.end as usize
            };
            if end > current.from {
                break;
            }
            start += 1;
        }
        Ok(with_line.min(start)..rows.end)
    }

    /// What a cursor calls a line of a document.
    fn line_key(&self, current: &mut Current, byte: usize, number: u32) -> Result<usize> {
        Ok(if self.is_sheet(current)? {
            number as usize
        } else {
            byte
        })
    }

    fn is_too_long(&self, target: &Target) -> Result<bool> {
        let chunks = self.sources.segment(target.segment)?.chunks();
        Ok(match target.end.checked_sub(1) {
            Some(last) => chunks.get(last)?.at.span.end > DOCUMENT_LIMIT_BYTES,
            None => false,
        })
    }

    fn is_sheet(&self, current: &mut Current) -> Result<bool> {
        if let Some(known) = current.is_sheet {
            return Ok(known);
        }
        let source = self.sources.source(current.file)?;
        let parts = source.catalog.parts.count(source.snapshot, current.id)?;
        let is_sheet = parts.is_some_and(|(kind, _)| kind == PartKind::Sheet);
        current.is_sheet = Some(is_sheet);
        Ok(is_sheet)
    }

    /// The item of a line, or of a document.
    fn item(
        &self,
        current: &mut Current,
        line: Option<&FoundLine>,
        matching_lines: u64,
        reader: &WindowReader<'r>,
    ) -> Result<RegexMatch> {
        let facts = match &mut current.facts {
            Some(facts) => facts,
            facts => {
                let source = self.sources.source(current.file)?;
                let record = source.catalog.documents.get(source.snapshot, current.id)?;
                // A whole document has no address in one of its parts.
                let parts = match line {
                    Some(_) => {
                        let parts = &source.catalog.parts;
                        parts.get(source.snapshot, current.id, record.text_bytes)?
                    }
                    None => Vec::new(),
                };
                facts.insert(Facts { record, parts })
            }
        };
        let record = &facts.record;
        let mut item = RegexMatch {
            file: current.file,
            document: record.path.clone(),
            handle: handles::handle(&record.title, &record.path, &record.suffix),
            file_type: record.file_type.clone(),
            part: None,
            lines: Lines { first: 0, last: 0 },
            lines_are_of_passage: record.line_map,
            text: String::new(),
            begins_within_line: false,
            ends_within_line: false,
            ranges: Vec::new(),
            matching_lines,
        };
        let Some(line) = line else {
            item.lines_are_of_passage = false;
            return Ok(item);
        };
        item.lines = if record.line_map {
            reader.chunk_lines(&line.bytes)?
        } else {
            let first = reader.first_line()?.saturating_add(line.line_ends_before);
            Lines {
                first,
                last: first.saturating_add(line.line_ends_within),
            }
        };
        item.part = part_of(&facts.parts, item.lines);
        show(&mut item, reader.text(), line, self.request.max_line_bytes);
        Ok(item)
    }
}

fn position(current: &Current, line: usize) -> Position {
    Position {
        file: current.file,
        document: current.id,
        line,
    }
}

/// The part that some lines of the stored text begin in. Each part begins with a line.
fn part_of(parts: &[Part], lines: Lines) -> Option<PartAddress> {
    let after = parts.partition_point(|part| part.line <= lines.first);
    let part = parts.get(after.checked_sub(1)?)?;
    let next_line = parts.get(after).map_or(u32::MAX, |next| next.line);
    let within = Lines {
        first: lines.first,
        last: lines.last.min(next_line.saturating_sub(1)),
    };
    PartAddress::of(parts, part.start, within)
}

/// Puts a line into an item, or the part of it around its first match.
fn show(item: &mut RegexMatch, text: &str, line: &FoundLine, limit_bytes: usize) {
    let whole = line.bytes.clone();
    let line_text = text.get(whole.clone()).unwrap_or_default();
    let line_text = line_text.strip_suffix('\r').unwrap_or(line_text);
    let (mut start, mut end) = (0, line_text.len());
    if end > limit_bytes {
        let first = line
            .matches
            .first()
            .map_or(0, |found| found.start - whole.start);
        // A quarter of what is shown stands before the match, unless the line ends before the rest does.
        let wanted = first.saturating_sub(limit_bytes / 4);
        start = line_text.floor_char_boundary(wanted.min(end - limit_bytes));
        end = line_text.floor_char_boundary(start + limit_bytes);
        item.begins_within_line = start > 0;
        item.ends_within_line = end < line_text.len();
    }
    item.text = line_text.get(start..end).unwrap_or_default().to_owned();
    let (from, to) = (whole.start + start, whole.start + end);
    let clipped = line.matches.iter().map(|found| {
        let (begin, end) = (found.start.clamp(from, to), found.end.clamp(from, to));
        begin - from..end - from
    });
    item.ranges = clipped.filter(|range| !range.is_empty()).collect();
}
