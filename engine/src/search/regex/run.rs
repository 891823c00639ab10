//! Searches: targets -> windows -> lines -> items, until a budget is used up.

use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use kb_types::error::{Error, Result};
use kb_types::{DocumentId, PartKind};
use roaring::RoaringBitmap;

use crate::paging::{Budget, CursorScope};
use crate::resolve;
use crate::search::filter::rows::{intersect, live_rows_of};
use crate::search::plan::filtered;
use crate::search::regex::candidates::keep_candidates;
use crate::search::regex::finder::{Finder, line_end};
use crate::search::regex::item::{Facts, document_item, line_item};
use crate::search::regex::line_finder::{FoundLine, Searched, count_lines, each_line};
use crate::search::regex::machine::Watch;
use crate::search::regex::pattern::Pattern;
use crate::search::regex::position::Position;
use crate::search::regex::request::{RegexOutput, RegexRequest};
use crate::search::regex::response::{RegexMatch, RegexResponse};
use crate::search::regex::target::{Target, Targets};
use crate::search::regex::trigram_query::TrigramQuery;
use crate::search::regex::window::{DOCUMENT_LIMIT_BYTES, WindowReader};
use crate::search::sources::{Source, Sources};
use crate::store::meta::Settings;

/// Least time that the first text of a page gets.
// Without it a page whose time is up before it begins would return the same cursor again and again.
const LEAST_TIME: Duration = Duration::from_millis(500);

/// Answers a request to one or several files.
///
/// # Errors
/// [`Error::InvalidPattern`] and [`Error::InvalidArgument`] for what the request gets wrong,
/// [`Error::DocumentNotFound`], [`Error::AmbiguousDocument`], [`Error::FolderNotFound`] for names that it gives,
/// [`Error::InvalidCursor`] and [`Error::StaleCursor`] for a continuation of something else, [`Error::Cancelled`],
/// [`Error::Damaged`] for what a file gets wrong.
pub(crate) fn search_regex(files: &[Source<'_>], request: &RegexRequest) -> Result<RegexResponse> {
    let began = Instant::now();
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
    let tick = || sources.tick();
    let time = request.time_limit.map(|limit| limit.max(LEAST_TIME));
    let deadline = time.and_then(|time| began.checked_add(time));
    let mut finder = Finder::new(&pattern, Watch::new(&tick, deadline));
    let mut search = Search {
        sources: &sources,
        request,
        pattern: &pattern,
        start,
        budget: Budget::of_texts(&request.page),
        items: Vec::new(),
        began,
        searched_bytes: 0,
        has_progressed: false,
        next: None,
        is_complete: true,
        warnings,
    };
    let first_file = start.map_or(0, |start| start.file);
    for file in first_file..files.len() {
        let rows = rows.get(sources.positions(file)).unwrap_or_default();
        search.file(file, rows.to_vec(), &mut finder)?;
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
            let (trigrams, is_whole) = (pattern.trigrams(), pattern.needs_document());
            keep_candidates(bound, trigrams, is_whole, rows, &|| sources.tick())?;
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
    /// Whether a search that continues where it is now has less to do.
    has_progressed: bool,
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

impl<'r> Search<'r> {
    /// Searches what is left of a file.
    fn file(
        &mut self,
        file: usize,
        rows: Vec<RoaringBitmap>,
        finder: &mut Finder<'_>,
    ) -> Result<()> {
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
            let from = from.map_or(0, |start| start.line);
            self.document(file, &target, from, reader, finder)?;
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
        finder: &mut Finder<'_>,
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
                if self.window(&mut current, reader, finder)?.is_break() {
                    break 'ranges;
                }
            }
        }
        if !is_by_line && current.matching_lines > 0 {
            let source = self.sources.source(file)?;
            let record = source.catalog.documents.get(source.snapshot, current.id)?;
            let item = document_item(file, &record, current.matching_lines);
            self.take(item, &current, 0);
        }
        self.has_progressed = true;
        Ok(())
    }

    /// Searches a window; breaks when the rest of the document is not wanted.
    fn window(
        &mut self,
        current: &mut Current,
        reader: &WindowReader<'r>,
        finder: &mut Finder<'_>,
    ) -> Result<ControlFlow<()>> {
        let limit = match self.request.output {
            RegexOutput::Lines => None,
            RegexOutput::Counts => Some(u64::MAX),
            RegexOutput::Documents => Some(1),
        };
        if let Some(limit) = limit {
            // A cursor of these is at the start of a document.
            let (count, searched) = count_lines(finder, reader.text(), limit)?;
            current.matching_lines += count;
            if searched != Searched::AsWanted {
                self.leave_document(current)?;
                return Ok(ControlFlow::Break(()));
            }
            return Ok(if current.matching_lines >= limit {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            });
        }
        let from = self.first_wanted(current, reader)?;
        let mut flow = ControlFlow::Continue(());
        let searched = each_line(finder, reader.text(), from, |line| {
            if self.take_line(current, &line, reader)?.is_break() {
                flow = ControlFlow::Break(());
            }
            Ok(flow)
        })?;
        if let Searched::Until { line, partial } = searched {
            self.leave_line(current, reader, from, line, partial)?;
            return Ok(ControlFlow::Break(()));
        }
        self.has_progressed = true;
        Ok(flow)
    }

    /// The start of the first line of a window that the search did not have before.
    fn first_wanted(&self, current: &mut Current, reader: &WindowReader<'r>) -> Result<usize> {
        if current.from == 0 {
            return Ok(0);
        }
        let bytes = reader.text().as_bytes();
        if self.is_sheet(current)? {
            let lines = current.from.saturating_sub(reader.first_line()? as usize);
            let line_end = lines.checked_sub(1);
            let line_end = line_end.map(|before| memchr::memchr_iter(b'\n', bytes).nth(before));
            return Ok(line_end.map_or(0, |end| end.map_or(bytes.len(), |end| end + 1)));
        }
        let from = current.from.saturating_sub(reader.first_byte()? as usize);
        let before = from.checked_sub(1).and_then(|before| bytes.get(before..));
        // A cursor names any byte that its sender likes.
        Ok(match before {
            Some(before) => {
                let end = memchr::memchr(b'\n', before);
                end.map_or(bytes.len(), |end| from + end)
            }
            None => from.min(bytes.len()),
        })
    }

    /// Takes a line of a window as an item; breaks if it does not fit.
    fn take_line(
        &mut self,
        current: &mut Current,
        line: &FoundLine,
        reader: &WindowReader<'r>,
    ) -> Result<ControlFlow<()>> {
        let number = reader.first_line()?.saturating_add(line.line_ends_before);
        let byte = reader.first_byte()? as usize + line.bytes.start;
        let key = self.line_key(current, byte, number)?;
        if current.facts.is_none() {
            let source = self.sources.source(current.file)?;
            let record = source.catalog.documents.get(source.snapshot, current.id)?;
            let parts = &source.catalog.parts;
            let parts = parts.get(source.snapshot, current.id, record.text_bytes)?;
            current.facts = Some(Facts { record, parts });
        }
        let Some(facts) = &current.facts else {
            return Ok(ControlFlow::Break(()));
        };
        let limit = self.request.max_line_bytes;
        let item = line_item(current.file, facts, line, reader, limit)?;
        Ok(if self.take(item, current, key) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        })
    }

    /// Ends the page at a line that the time was up in, or behind it, if it is the first of the page.
    fn leave_line(
        &mut self,
        current: &mut Current,
        reader: &WindowReader<'r>,
        from: usize,
        line: usize,
        partial: Option<FoundLine>,
    ) -> Result<()> {
        if self.has_progressed || line > from || !self.items.is_empty() {
            let (byte, number) = (reader.first_byte()? as usize, self.number_of(reader, line)?);
            let key = self.line_key(current, byte + line, number)?;
            self.stop_at(current, key);
            return Ok(());
        }
        let path = self.path(current)?;
        let bytes = reader.text().as_bytes();
        let number = self.number_of(reader, line)?;
        self.is_complete = false;
        let mut end = line_end(bytes, (line, line));
        let is_rest_left = self.pattern.is_multi_line() && partial.is_none();
        self.warnings.push(if is_rest_left {
            format!("{path} was searched up to line {number} only: the pattern takes too long")
        } else {
            format!(
                "line {number} of {path} was not searched to its end: the pattern takes too long"
            )
        });
        if is_rest_left {
            return Ok(());
        }
        if let Some(partial) = partial {
            end = end.max(partial.bytes.end);
            if self.take_line(current, &partial, reader)?.is_break() {
                return Ok(());
            }
        }
        let (byte, number) = (reader.first_byte()? as usize, self.number_of(reader, end)?);
        let key = self.line_key(current, byte + end + 1, number.saturating_add(1))?;
        self.next = Some(position(current, key));
        Ok(())
    }

    /// Ends the page at a document that the time was up in, or leaves its rest out, if it is the first of the page.
    fn leave_document(&mut self, current: &mut Current) -> Result<()> {
        if self.has_progressed || !self.items.is_empty() {
            current.matching_lines = 0;
            self.stop_at(current, 0);
            return Ok(());
        }
        let path = self.path(current)?;
        self.is_complete = false;
        self.warnings.push(format!(
            "{path} was not searched to its end: the pattern takes too long"
        ));
        Ok(())
    }

    fn path(&self, current: &Current) -> Result<String> {
        let source = self.sources.source(current.file)?;
        let record = source.catalog.documents.get(source.snapshot, current.id)?;
        Ok(record.path)
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

    /// The number of the line that a byte of a window is in.
    fn number_of(&self, reader: &WindowReader<'r>, start: usize) -> Result<u32> {
        let bytes = reader.text().as_bytes();
        let before = bytes.get(..start.min(bytes.len())).unwrap_or_default();
        let line_ends = memchr::memchr_iter(b'\n', before).count();
        let line_ends = u32::try_from(line_ends).unwrap_or(u32::MAX);
        Ok(reader.first_line()?.saturating_add(line_ends))
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
}

fn position(current: &Current, line: usize) -> Position {
    Position {
        file: current.file,
        document: current.id,
        line,
    }
}
