//! One passage for a text that several documents have.
//!
//! Two passages are copies where their texts are the same, or nearly the same in documents that are nearly the same: an
//! older version, or one with another licence above it. Numbers that a search has anyway rule out most pairs, and texts
//! are read of the rest only. So a search without copies hardly costs more.

mod likeness;

use std::cmp::Ordering;
use std::hash::BuildHasher;
use std::ops::Range;

use kb_types::error::Result;
use kb_types::{Class, DocumentId};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::search::options::Scope;
use crate::search::rank::copies::likeness::{Lines, are_versions, may_be_alike, name_of};
use crate::search::rank::passage::Passage;
use crate::search::read_cache::ReadCache;
use crate::search::sources::Sources;
use crate::store::documents::DocumentRecord;

/// Bytes of the shortest text of which there are copies: lines such as `# Notes` are alike without being copied. A
/// whole document of the same name may be shorter.
const LEAST_BYTES: u32 = 64;

/// Longest chunk and longest document whose texts are compared: a hostile file has chunks of any size.
const MOST_BYTES: u32 = 64 << 10;
const MOST_DOCUMENT_BYTES: u32 = 4 << 20;

/// Most difference of the keyword scores, and of the vector scores, of near copies: where the query tells two texts
/// apart, both are hits.
// A licence of twenty lines before a function of twenty moves the vector score by up to 0.12.
const SCORE_RANGE: f32 = 0.15;

/// Least share of their lines that near copies have in common.
// A licence of twenty lines before a function of twenty is half of a chunk.
const CHUNK_LIKENESS: f32 = 0.5;

/// Least share of their lines that two versions of a document have in common.
const VERSION_LIKENESS: f32 = 0.8;

/// Least share of their lines that documents of the same name have in common whose folders say nothing.
const NAMESAKE_LIKENESS: f32 = 0.97;

/// Share of the best score that a near copy needs to be shown instead of the best.
const AS_GOOD_SHARE: f32 = 0.97;

/// First chunks of a document that are compared, some 25 KB of text.
const COMPARED_ROWS: u32 = 16;

/// Places between a near copy and the one before it, at most: near copies have nearly the same score. Further ones are
/// not worth their texts.
const NEAR_PLACES: usize = 10;

/// Texts whose copies are looked for, unless these are not enough or more are wanted.
pub(super) const LEAST_GROUPS: usize = 20;

/// Bytes by which one of two texts can be longer than their likeness says: lines are compared without indents and, at
/// the beginning of a program, without a licence.
const INDENTS_BYTES: u32 = 512;
const LICENCE_BYTES: u32 = 4096;

/// A document of one of the files.
type Document = (usize, DocumentId);

/// What is known of a passage before its text is read.
#[derive(Debug, Clone, Copy)]
struct Facts {
    /// Its place.
    at: usize,
    document: Document,
    segment: usize,
    /// First byte and length of its best chunk, and how many lines end in it.
    start: u32,
    bytes: u32,
    lines: u32,
    keyword: f32,
    vector: f32,
}

/// How much a copy is like the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Likeness {
    Same,
    Near,
}

/// Passages with one text.
#[derive(Debug)]
struct Group {
    first: Facts,
    /// Places of the others, best first, and how much they are alike.
    others: Vec<(usize, Likeness)>,
    has_other_documents: bool,
}

/// Finds copies among passages: of the text of their best chunk or, where a passage is a document, of its text.
#[derive(Debug)]
struct Copies<'s, 'r> {
    found: &'s [Passage],
    scope: Scope,
    sources: &'s Sources<'s>,
    cache: &'s mut ReadCache<'r>,
    /// Hashes of the file names of documents that were compared.
    names: FxHashMap<Document, u64>,
    /// Lines of best chunks that were compared, by the place of their passage.
    of_chunks: FxHashMap<usize, Lines>,
    /// Lines of documents that were compared.
    lines: FxHashMap<Document, Lines>,
}

/// Whether there are copies among some passages.
///
/// # Errors
/// [`crate::Error::Damaged`], [`crate::Error::Cancelled`].
pub(crate) fn has_any(
    found: &[Passage],
    scope: Scope,
    sources: &Sources<'_>,
    cache: &mut ReadCache<'_>,
) -> Result<bool> {
    let groups = Copies::new(found, scope, sources, cache).groups(found.len())?;
    Ok(groups.iter().any(|group| group.has_other_documents))
}

/// Leaves one passage of all copies of each of the first `limit` texts, in the place of the first, with the documents
/// of the others. Of the passages with the text of the first, or with its score, it is the one of a document without a
/// role. Of several it is the one whose path has most words of the query, then the one with the shortest path.
///
/// # Errors
/// [`crate::Error::Damaged`], [`crate::Error::Cancelled`].
pub(crate) fn united(
    mut found: Vec<Passage>,
    limit: usize,
    scope: Scope,
    sources: &Sources<'_>,
    cache: &mut ReadCache<'_>,
) -> Result<Vec<Passage>> {
    let mut copies = Copies::new(&found, scope, sources, cache);
    let mut units = Vec::new();
    let mut gone: FxHashSet<usize> = FxHashSet::default();
    for group in copies.groups(limit)? {
        if group.has_other_documents {
            let united = copies.unite(&group)?;
            units.extend(united.map(|united| (group.first.at, united)));
            gone.extend(group.others.iter().map(|(at, _)| *at));
        }
    }
    for (place, united) in units {
        if let Some(first) = found.get_mut(place) {
            *first = united;
        }
    }
    let kept = found.into_iter().enumerate();
    let kept = kept.filter(|(at, _)| !gone.contains(at));
    Ok(kept.map(|(_, passage)| passage).collect())
}

impl<'s, 'r> Copies<'s, 'r> {
    fn new(
        found: &'s [Passage],
        scope: Scope,
        sources: &'s Sources<'s>,
        cache: &'s mut ReadCache<'r>,
    ) -> Copies<'s, 'r> {
        Copies {
            found,
            scope,
            sources,
            cache,
            names: FxHashMap::default(),
            of_chunks: FxHashMap::default(),
            lines: FxHashMap::default(),
        }
    }

    /// The first `limit` passages that have a text of their own, each with all copies that follow.
    fn groups(&mut self, limit: usize) -> Result<Vec<Group>> {
        let mut groups: Vec<Group> = Vec::with_capacity(self.found.len().min(limit));
        for (at, passage) in self.found.iter().enumerate() {
            if passage.rows.is_empty() {
                continue;
            }
            self.sources.tick()?;
            let may_be_first = groups.len() < limit;
            let facts = self.facts(at, passage)?;
            let mut copied = None;
            for group in &mut groups {
                let last = group.others.last().map_or(group.first.at, |other| other.0);
                let may_be_near = at - last <= NEAR_PLACES;
                if let Some(likeness) = self.likeness(&group.first, &facts, may_be_near)? {
                    copied = Some((group, likeness));
                    break;
                }
            }
            match copied {
                Some((group, likeness)) => {
                    group.has_other_documents |= group.first.document != facts.document;
                    group.others.push((at, likeness));
                }
                None if may_be_first => groups.push(Group {
                    first: facts,
                    others: Vec::new(),
                    has_other_documents: false,
                }),
                None => {}
            }
        }
        Ok(groups)
    }

    fn facts(&self, at: usize, passage: &Passage) -> Result<Facts> {
        let best = &passage.best;
        let address = best.address;
        let chunk = self
            .sources
            .segment(address.segment)?
            .chunks()
            .get(address.row)?;
        let (span, lines) = (chunk.at.span, chunk.at.lines);
        Ok(Facts {
            at,
            segment: address.segment,
            document: (self.sources.file_of(address.segment), chunk.document),
            start: span.start,
            bytes: span.end.saturating_sub(span.start),
            lines: lines.last.saturating_sub(lines.first),
            keyword: best.keyword,
            vector: best.vector,
        })
    }

    /// How much two passages are alike; `None` if they are no copies.
    fn likeness(&mut self, a: &Facts, b: &Facts, may_be_near: bool) -> Result<Option<Likeness>> {
        let is_other = a.document != b.document;
        // Paths are those of one file.
        if a.document.0 != b.document.0 {
            return Ok(None);
        }
        let is_same = match self.scope {
            Scope::Documents => is_other && self.are_same_documents(a, b)?,
            Scope::Chunks => self.are_same_chunks(a, b)?,
        };
        if is_same {
            return Ok(Some(Likeness::Same));
        }
        let is_near = may_be_near && is_other && self.are_near(a, b)?;
        Ok(is_near.then_some(Likeness::Near))
    }

    fn are_same_documents(&mut self, a: &Facts, b: &Facts) -> Result<bool> {
        Ok(self.have_same_hash(a, b)?
            && (self.record(a.document)?.text_bytes >= LEAST_BYTES || self.are_namesakes(a, b)?))
    }

    /// Whether the texts of two documents have the same hash.
    fn have_same_hash(&mut self, a: &Facts, b: &Facts) -> Result<bool> {
        let of_first = self.record(a.document)?.text_hash;
        Ok(self.record(b.document)?.text_hash == of_first)
    }

    fn are_same_chunks(&mut self, a: &Facts, b: &Facts) -> Result<bool> {
        if (a.bytes, a.lines) != (b.bytes, b.lines) || a.bytes > MOST_BYTES {
            return Ok(false);
        }
        if a.bytes < LEAST_BYTES {
            return Ok(a.document != b.document
                && self.record(a.document)?.text_bytes == a.bytes
                && self.are_same_documents(a, b)?);
        }
        // The same part of the same text need not be read.
        let is_same_part = a.document != b.document && a.start == b.start;
        if is_same_part && self.have_same_hash(a, b)? {
            return Ok(true);
        }
        let (of_first, of_second) = self.texts(a, b)?;
        Ok(of_first == of_second)
    }

    /// Whether two passages of different documents are nearly alike, and so are the documents.
    fn are_near(&mut self, a: &Facts, b: &Facts) -> Result<bool> {
        let is_in_range = |one: f32, other: f32| (one - other).abs() <= SCORE_RANGE;
        if a.bytes.max(b.bytes) > MOST_BYTES
            || !is_in_range(a.keyword, b.keyword)
            || !is_in_range(a.vector, b.vector)
            || !self.are_namesakes(a, b)?
        {
            return Ok(false);
        }
        // Two parts of one text.
        if self.have_same_hash(a, b)? {
            return Ok(false);
        }
        let bytes = self.record(a.document)?.text_bytes;
        if bytes.max(self.record(b.document)?.text_bytes) > MOST_DOCUMENT_BYTES {
            return Ok(false);
        }
        let class = self.record(a.document)?.class()?;
        // Two configurations differ in little that says much.
        if class == Class::Data {
            return Ok(false);
        }
        let path = self.record(a.document)?.path.clone();
        let least = if are_versions(&path, &self.record(b.document)?.path) {
            VERSION_LIKENESS
        } else {
            NAMESAKE_LIKENESS
        };
        // Most namesakes are of other length, and no text is read of them.
        let is_beginning = a.start.min(b.start) == 0;
        let of_chunk = if is_beginning {
            LICENCE_BYTES
        } else {
            INDENTS_BYTES
        };
        let documents = (self.compared(a)?, self.compared(b)?);
        if !may_be_alike((a.bytes, b.bytes), CHUNK_LIKENESS, of_chunk)
            || !may_be_alike(documents, least, LICENCE_BYTES)
        {
            return Ok(false);
        }
        let is_code = class == Class::Code;
        if self.likeness_of_chunks(a, b, is_code)? < CHUNK_LIKENESS {
            return Ok(false);
        }
        self.read_document(a, is_code)?;
        self.read_document(b, is_code)?;
        let lines = (self.lines.get(&a.document), self.lines.get(&b.document));
        Ok(matches!(lines, (Some(a), Some(b)) if a.likeness(b) >= least))
    }

    /// Whether the documents of two passages have the same file name.
    fn are_namesakes(&mut self, a: &Facts, b: &Facts) -> Result<bool> {
        Ok(self.name(a.document)? == self.name(b.document)?)
    }

    /// The hash of the file name of a document.
    fn name(&mut self, document: Document) -> Result<u64> {
        if let Some(name) = self.names.get(&document) {
            return Ok(*name);
        }
        let name = FxBuildHasher.hash_one(name_of(&self.record(document)?.path));
        self.names.insert(document, name);
        Ok(name)
    }

    fn record(&mut self, (file, id): Document) -> Result<&DocumentRecord> {
        self.cache.records.get(file, id)
    }

    /// The texts of the best chunks of two passages, of at most [`MOST_BYTES`].
    fn texts(&mut self, a: &Facts, b: &Facts) -> Result<(&str, &str)> {
        let address = |facts: &Facts| self.found.get(facts.at).map(|found| found.best.address);
        let (Some(a), Some(b)) = (address(a), address(b)) else {
            return Ok(("", ""));
        };
        self.cache.texts.keep([a, b])?;
        let text = |address| self.cache.texts.kept(address).unwrap_or_default();
        Ok((text(a), text(b)))
    }

    /// How much the best chunks of two passages are alike.
    fn likeness_of_chunks(&mut self, a: &Facts, b: &Facts, is_code: bool) -> Result<f32> {
        for facts in [a, b] {
            if !self.of_chunks.contains_key(&facts.at) {
                let text = self.texts(facts, facts)?.0;
                let lines = Lines::of(text, is_code && facts.start == 0);
                self.of_chunks.insert(facts.at, lines);
            }
        }
        let lines = (self.of_chunks.get(&a.at), self.of_chunks.get(&b.at));
        Ok(match lines {
            (Some(a), Some(b)) => a.likeness(b),
            _ => 0.0,
        })
    }

    /// The rows of a document that are compared.
    fn compared_rows(&mut self, facts: &Facts) -> Result<Range<u32>> {
        let record = self.record(facts.document)?;
        let rows = record.rows.min(COMPARED_ROWS);
        Ok(record.first_row..record.first_row.saturating_add(rows))
    }

    /// Bytes of the text in them.
    fn compared(&mut self, facts: &Facts) -> Result<u32> {
        let rows = self.compared_rows(facts)?;
        let chunks = self.sources.segment(facts.segment)?.chunks();
        Ok(chunks.get(rows.end.saturating_sub(1))?.at.span.end)
    }

    fn read_document(&mut self, facts: &Facts, is_code: bool) -> Result<()> {
        if !self.lines.contains_key(&facts.document) {
            self.sources.tick()?;
            let rows = self.compared_rows(facts)?;
            let text = self.cache.texts.rows(facts.segment, rows)?;
            self.lines.insert(facts.document, Lines::of(&text, is_code));
        }
        Ok(())
    }

    /// One passage of several copies.
    fn unite(&mut self, group: &Group) -> Result<Option<Passage>> {
        let (mut matches, mut best) = (0, None);
        let mut placed = Vec::with_capacity(group.others.len() + 1);
        let mut documents: FxHashSet<Document> = FxHashSet::default();
        let found = self.found;
        let first = [(group.first.at, Likeness::Same)];
        for (at, likeness) in first.iter().chain(&group.others) {
            let Some(passage) = found.get(*at) else {
                continue;
            };
            matches += passage.matches;
            best = best.or(Some(passage.best.score));
            let document = self.facts(*at, passage)?.document;
            // A document that has the text twice has it where it fits best.
            if !documents.insert(document) {
                continue;
            }
            let address = passage.best.address;
            let roles = self.sources.roles(address.segment)?;
            let role = roles.of_document(address.row);
            let path = self.record(document)?.path.clone();
            let is_as_good = passage.best.score >= best.unwrap_or(0.0) * AS_GOOD_SHARE;
            let is_worse = *likeness == Likeness::Near && !is_as_good;
            let words = passage.best.features.path;
            let key = (path.split('/').count(), path.len(), path);
            placed.push(((is_worse, role.is_some()), words, key, document, passage));
        }
        placed.sort_by(|a, b| {
            // Not by `total_cmp`, for which a share of 0 may be less than another 0.
            let by_words = b.1.partial_cmp(&a.1).unwrap_or(Ordering::Equal);
            let by_role = a.0.cmp(&b.0);
            by_role.then(by_words).then_with(|| a.2.cmp(&b.2))
        });
        let mut placed = placed.into_iter();
        let Some((.., shown)) = placed.next() else {
            return Ok(None);
        };
        let mut united = shown.clone();
        // In the place of the best, with its score.
        let score = best.unwrap_or(united.best.score);
        united.best.features.repeats += score - united.best.score;
        united.best.score = score;
        united.matches = matches;
        united.copied_in = placed.map(|(.., document, _)| document).collect();
        Ok(Some(united))
    }
}

#[cfg(test)]
mod tests;
