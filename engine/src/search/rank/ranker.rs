//! Makes a row of evidence of each candidate, and orders the candidates by what it is worth.

use kb_types::error::Result;
use kb_types::{Class, DocumentId, Role};
use rustc_hash::{FxHashMap, FxHashSet};

use super::adjacency::Pairs;
use super::names::{QueryNames, QueryTitle, definitions, name_of_file};
use super::parts::Rules;
use super::scored::Scored;
use super::verbatim::Verbatim;
use super::{
    DEPTH, DEPTH_FOR_NAMES, DEPTH_FOR_QUESTIONS, DOCUMENT_DEPTH, DOCUMENT_DEPTH_FOR_NAMES,
};
use crate::index::keyword::{Analyser, TermSet, norm};
use crate::search::defined;
use crate::search::plan::Plan;
use crate::search::query::intent::Ask;
use crate::search::read_cache::{Occurrence, ReadCache};
use crate::search::sources::{ChunkAddress, Sources};
use crate::search::top_k;

/// A heading says less than a definition: it is one of many words about a thing.
pub(super) const HEADING_SHARE: f32 = 0.5;

/// Share of a symbol outside of programs: a key of a configuration, a section.
const DATA_SHARE: f32 = 0.5;

/// Share of a symbol that is only declared: its body comes first.
const DECLARED_SHARE: f32 = 0.8;

/// Share of a symbol whose name has other capitals than the query: `Response` and `response` are two names.
const OTHER_CASE_SHARE: f32 = 0.9;

/// What is looked for in the documents and texts of one request.
#[derive(Debug)]
pub(crate) struct Ranker<'a, 'r> {
    pub(super) sources: &'r Sources<'r>,
    pub(super) analyser: &'a mut Analyser,
    pub(super) cache: ReadCache<'r>,
    rules: Rules,
    /// The terms of the query.
    terms: TermSet,
    /// Neighbouring terms of the query; `None` without any.
    pub(super) pairs: Option<Pairs>,
    /// The words of a statement in their order; `None` for other queries.
    pub(super) verbatim: Option<Verbatim>,
    /// The terms of the query, to compare names with; `None` without any.
    pub(super) names: Option<QueryNames>,
    /// Those of them that a question writes as identifiers; `None` without any.
    pub(super) identifiers: Option<QueryNames>,
    /// The query as a title; `None` where it cannot be one.
    pub(super) title: Option<QueryTitle>,
    /// Documents whose title it is, as far as they were looked for, by file and id.
    pub(super) titled: FxHashSet<(usize, DocumentId)>,
    /// Whether a name that a text defines adds to a score.
    pub(super) seeks_definitions: bool,
    /// What was found out about documents, by file and id.
    documents: FxHashMap<(usize, DocumentId), AboutDocument>,
    pub(super) mean_length: f32,
}

/// What the record of a document says.
#[derive(Debug, Clone, Copy)]
pub(super) struct AboutDocument {
    /// Share of the words of the query that the path has, 0..1.
    path: f32,
    /// How much the name of the file says about the query, 0..1.
    file_name: f32,
    /// Whether its title, or its file name without extension, is the query.
    pub(super) is_titled: bool,
    pub(super) lines: LinesOf,
}

/// How the lines of a document define names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinesOf {
    Prose,
    Code(definitions::Functions),
    /// Data and configuration.
    Other,
}

impl<'a, 'r> Ranker<'a, 'r> {
    pub(crate) fn new(
        plan: &Plan<'_>,
        sources: &'r Sources<'r>,
        analyser: &'a mut Analyser,
    ) -> Ranker<'a, 'r> {
        let query = plan.keyword_query.as_ref();
        let pairs = query.and_then(|query| Pairs::new(&plan.text, query, analyser));
        let verbatim = query.filter(|_| plan.intent.quotes());
        let asked = (plan.text.as_str(), &plan.intent);
        let verbatim = verbatim.and_then(|query| Verbatim::new(asked, query, analyser));
        let identifiers = &plan.intent.identifiers;
        let of_identifiers = query.filter(|_| plan.intent.is_question && !identifiers.is_empty());
        let identifiers = of_identifiers
            .and_then(|query| QueryNames::of_identifiers(query, identifiers, analyser));
        let rules = Rules::of(&plan.intent);
        Ranker {
            sources,
            analyser,
            cache: ReadCache::new(sources),
            terms: TermSet::new(query.iter().flat_map(|query| {
                let terms = query.terms().iter();
                terms.map(|term| term.term.as_str())
            })),
            pairs,
            verbatim,
            names: query.and_then(QueryNames::new),
            seeks_definitions: rules.counts_definitions(),
            rules,
            identifiers,
            title: QueryTitle::of(&plan.text),
            titled: FxHashSet::default(),
            documents: FxHashMap::default(),
            mean_length: sources.statistics().mean_length(),
        }
    }

    /// The candidates of the first layer, best first.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`], [`crate::Error::Cancelled`].
    pub(crate) fn rank(&mut self, plan: &Plan<'_>, list: Vec<Scored>) -> Result<Vec<Scored>> {
        let ranked = self.rank_by_index(plan, list)?;
        // Without a term of the query there is nothing to look for in names and texts.
        if self.names.is_none() {
            return Ok(ranked);
        }
        let has_no_name = plan.intent.is_question && self.identifiers.is_none();
        let (document_depth, depth) = if plan.definitions.name().is_some() {
            (DOCUMENT_DEPTH_FOR_NAMES, DEPTH_FOR_NAMES)
        } else if has_no_name {
            (DOCUMENT_DEPTH, DEPTH_FOR_QUESTIONS)
        } else if plan.asks_for_names || plan.intent.ask == Ask::Message {
            (DOCUMENT_DEPTH_FOR_NAMES, DEPTH_FOR_NAMES)
        } else {
            (DOCUMENT_DEPTH, DEPTH)
        };
        let mut ranked = definitions_first(plan, ranked);
        let mut rest = ranked.split_off(ranked.len().min(document_depth));
        let read = ranked.iter().map(|scored| scored.address);
        self.cache.records.read_of(read)?;
        for scored in &mut ranked {
            self.sources.tick()?;
            let about = self.document(scored.address)?;
            scored.features.path = about.path;
            scored.features.file_name = about.file_name;
            if plan.definitions.has(scored.address) {
                let is_code = matches!(about.lines, LinesOf::Code(_));
                scored.features.symbol = if is_code { 1.0 } else { DATA_SHARE };
            }
        }
        let mut ranked = self.sorted(plan, ranked)?;
        let mut others = ranked.split_off(ranked.len().min(depth));
        let ranked = self.read_texts(plan, ranked)?;
        let mut all = self.sorted(plan, ranked)?;
        all.append(&mut others);
        let read = all.len();
        all.append(&mut rest);
        self.titled_to_front(plan, all, read)
    }

    /// Candidates by what the index says of them alone, best first. Vectors alone are ranked by nothing else.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    pub(crate) fn rank_by_index(
        &self,
        plan: &Plan<'_>,
        mut list: Vec<Scored>,
    ) -> Result<Vec<Scored>> {
        if self.names.is_some() {
            for scored in &mut list {
                let ChunkAddress { segment, row } = scored.address;
                let roles = self.sources.roles(segment)?;
                let features = &mut scored.features;
                features.class = roles.class(row);
                features.role = roles.of_document(row);
                features.holds_test_functions = roles.has(Role::TestFunction, row);
            }
        }
        self.sorted(plan, list)
    }

    /// The chunks by their scores with the evidence so far.
    pub(super) fn sorted(&self, plan: &Plan<'_>, mut list: Vec<Scored>) -> Result<Vec<Scored>> {
        for scored in &mut list {
            scored.score = self.score(plan, scored);
        }
        top_k::top_k(
            list,
            usize::MAX,
            |scored: &Scored| scored.score,
            |scored| scored.address,
            |address| self.sources.tie_break_key(address),
        )
    }

    /// The score of a chunk with the evidence so far.
    pub(super) fn score(&self, plan: &Plan<'_>, scored: &Scored) -> f32 {
        let file = self.sources.file_of(scored.address.segment);
        let keyword_weight = 1.0 - plan.vector(file).weight;
        self.rules
            .score(scored.fused, keyword_weight, &scored.features)
    }

    /// What the record of the document of a chunk says.
    pub(super) fn document(&mut self, address: ChunkAddress) -> Result<AboutDocument> {
        let file = self.sources.file_of(address.segment);
        let id = self.sources.document_of(address)?;
        if let Some(about) = self.documents.get(&(file, id)) {
            return Ok(*about);
        }
        let record = self.cache.records.get(file, id)?;
        // A path with no word of the query says nothing, as most.
        let may_say = self.terms.may_occur_in(&record.path);
        let (path, file_name) = match &mut self.names {
            Some(names) if may_say => (
                names.covered(&record.path, self.analyser),
                names.share(name_of_file(&record.path), self.analyser),
            ),
            _ => (0.0, 0.0),
        };
        let title = self.title.as_mut();
        let about = AboutDocument {
            path,
            file_name,
            is_titled: title.is_some_and(|title| title.is_of(&record.title, &record.path)),
            lines: match record.class()? {
                Class::Code => LinesOf::Code(definitions::Functions::of(&record.language)),
                Class::Doc => LinesOf::Prose,
                Class::Data => LinesOf::Other,
            },
        };
        self.documents.insert((file, id), about);
        Ok(about)
    }

    /// Looks at the text of a chunk, which defines a symbol of the name where there is one.
    pub(super) fn read_text(&mut self, scored: &mut Scored, name: Option<&str>) -> Result<()> {
        let address = scored.address;
        let lines = self.document(address)?.lines;
        let reader = self.sources.segment(address.segment)?.keyword_index()?;
        let norm = norm(reader.length(address.row)? as f32, self.mean_length);
        let (terms, pairs, verbatim) = (&self.terms, &mut self.pairs, &mut self.verbatim);
        let names = self.identifiers.as_mut().or(self.names.as_mut());
        let names = names.filter(|_| self.seeks_definitions);
        let analyser = &mut *self.analyser;
        let (mut is_other_case, mut is_declared) = (false, false);
        let (adjacency, in_a_row, mut definition) =
            self.cache.texts.chunk(address, |text, occurrences| {
                is_other_case = name.is_some_and(|name| !text.contains(name));
                is_declared = name.is_some_and(|name| definitions::is_only_declared(text, name));
                analyser.highlights(text, terms, |number, range| {
                    occurrences.push((number, range));
                });
                let adjacency = match pairs {
                    Some(pairs) => pairs.score(text, occurrences, norm),
                    None => 0.0,
                };
                let is_code = matches!(lines, LinesOf::Code(_));
                let in_a_row = verbatim.as_mut();
                let in_a_row = in_a_row.map_or(0.0, |words| words.share(text, is_code));
                let definition = match names {
                    Some(names) => best_definition(text, lines, occurrences, names, analyser),
                    None => 0.0,
                };
                (adjacency, in_a_row, definition)
            })?;
        if lines == LinesOf::Prose {
            definition *= HEADING_SHARE;
        }
        scored.features.adjacency = adjacency;
        scored.features.verbatim = in_a_row;
        scored.features.definition = definition;
        if is_other_case {
            scored.features.symbol *= OTHER_CASE_SHARE;
        }
        if is_declared || scored.features.role == Some(Role::Declaration) {
            scored.features.symbol *= DECLARED_SHARE;
        }
        Ok(())
    }

    /// What was read so far.
    pub(crate) fn cache(&mut self) -> &mut ReadCache<'r> {
        &mut self.cache
    }

    /// What was read.
    pub(crate) fn into_cache(self) -> ReadCache<'r> {
        self.cache
    }
}

/// The list with the first chunks that define the name that is asked for before all others.
fn definitions_first(plan: &Plan<'_>, ranked: Vec<Scored>) -> Vec<Scored> {
    let mut count = 0;
    let (mut first, others): (Vec<Scored>, Vec<Scored>) = ranked.into_iter().partition(|scored| {
        let is_first = count < defined::LIMIT && plan.definitions.has(scored.address);
        count += usize::from(is_first);
        is_first
    });
    first.extend(others);
    first
}

/// How much the names say about the query that those lines of a text define in which terms of it occur: the
/// most of one of them, 0..1. A line whose terms cannot say more than a name before it is passed over.
pub(super) fn best_definition(
    text: &str,
    lines: LinesOf,
    occurrences: &[Occurrence],
    names: &mut QueryNames,
    analyser: &mut Analyser,
) -> f32 {
    let (mut best, mut first) = (0.0_f32, 0);
    if lines == LinesOf::Other {
        return best;
    }
    while let Some((_, range)) = occurrences.get(first) {
        let (before, from) = text.split_at_checked(range.start).unwrap_or_default();
        let start = memchr::memrchr(b'\n', before.as_bytes()).map_or(0, |at| at + 1);
        let end = memchr::memchr(b'\n', from.as_bytes());
        let end = end.map_or(text.len(), |at| range.start + at);
        let rest = occurrences.get(first..).unwrap_or_default();
        let on_line = rest.partition_point(|(_, range)| range.start < end).max(1);
        first += on_line;
        let terms = rest.iter().take(on_line).map(|(term, _)| *term);
        if end - start > definitions::LINE_LIMIT_BYTES || names.bound(terms) <= best {
            continue;
        }
        let line = text.get(start..end).unwrap_or_default();
        let name = match lines {
            LinesOf::Code(functions) => definitions::in_code(line, functions),
            LinesOf::Prose => {
                let next = text.get(end + 1..).unwrap_or_default();
                definitions::in_prose(line, next.split('\n').next().unwrap_or(""))
            }
            LinesOf::Other => None,
        };
        if let Some(name) = name {
            best = best.max(names.share(name, analyser));
        }
    }
    best
}
