//! Looks at the documents and texts of the best chunks and orders these again.

use kb_types::error::Result;
use kb_types::{Class, DocumentId};
use rustc_hash::FxHashMap;

use super::adjacency::Pairs;
use super::definitions;
use super::document_kind::{DocumentKind, WantedKinds};
use super::names::{QueryNames, name_of_file};
use super::{DEPTH, DEPTH_FOR_NAMES, DOCUMENT_DEPTH, DOCUMENT_DEPTH_FOR_NAMES};
use crate::index::keyword::{Analyser, TermSet, norm};
use crate::search::defined;
use crate::search::fuse::score::Scored;
use crate::search::fuse::top_k;
use crate::search::plan::Plan;
use crate::search::read_cache::{Occurrence, ReadCache};
use crate::search::sources::{ChunkAddress, Sources};

/// A heading says less than a definition: it is one of many words about a thing.
const HEADING_SHARE: f32 = 0.5;

/// Share of a symbol outside of programs: a key of a configuration, a section.
const DATA_SHARE: f32 = 0.5;

/// Share of a symbol whose name has other capitals than the query: `Response` and `response` are two names.
const OTHER_CASE_SHARE: f32 = 0.9;

/// What is looked for in the documents and texts of one request.
#[derive(Debug)]
pub(crate) struct Reranker<'a, 'r> {
    sources: &'r Sources<'r>,
    analyser: &'a mut Analyser,
    cache: ReadCache<'r>,
    /// The terms of the query.
    terms: TermSet,
    /// Neighbouring terms of the query; `None` without any.
    pairs: Option<Pairs>,
    /// The terms of the query, to compare names with; `None` without any.
    names: Option<QueryNames>,
    /// Kinds of documents that the query asks for.
    wanted_kinds: WantedKinds,
    /// What was found out about documents, by file and id.
    documents: FxHashMap<(usize, DocumentId), AboutDocument>,
    mean_length: f32,
}

/// What the record of a document says.
#[derive(Debug, Clone, Copy)]
struct AboutDocument {
    /// Share of the score that the kind of the document costs, 0..1.
    kind_loss: f32,
    /// How much the name of the file says about the query, 0..1.
    file_name: f32,
    lines: LinesOf,
}

/// How the lines of a document define names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinesOf {
    Prose,
    Code(definitions::Functions),
    /// Data and configuration.
    Other,
}

impl<'a, 'r> Reranker<'a, 'r> {
    pub(crate) fn new(
        plan: &Plan<'_>,
        sources: &'r Sources<'r>,
        analyser: &'a mut Analyser,
    ) -> Reranker<'a, 'r> {
        let query = plan.keyword_query.as_ref();
        let pairs = query.and_then(|query| Pairs::new(&plan.text, query, analyser));
        Reranker {
            sources,
            analyser,
            cache: ReadCache::new(sources),
            terms: TermSet::new(query.iter().flat_map(|query| {
                let terms = query.terms().iter();
                terms.map(|term| term.term.as_str())
            })),
            pairs,
            names: query.and_then(QueryNames::new),
            wanted_kinds: query.map(WantedKinds::of).unwrap_or_default(),
            documents: FxHashMap::default(),
            mean_length: sources.statistics().mean_length(),
        }
    }

    /// The list, best first, with the evidence of its first chunks in their scores, best first again. No chunk
    /// that was not looked at comes before one that was.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`], [`crate::Error::Cancelled`].
    pub(crate) fn rerank(&mut self, plan: &Plan<'_>, ranked: Vec<Scored>) -> Result<Vec<Scored>> {
        // Without a term of the query there is nothing to look for.
        if self.names.is_none() {
            return Ok(ranked);
        }
        let asks_for_names = plan.asks_for_names || plan.definitions.name().is_some();
        let (document_depth, depth) = if asks_for_names {
            (DOCUMENT_DEPTH_FOR_NAMES, DEPTH_FOR_NAMES)
        } else {
            (DOCUMENT_DEPTH, DEPTH)
        };
        let mut ranked = definitions_first(plan, ranked);
        let rest = ranked.split_off(ranked.len().min(document_depth));
        let least = rest.first().map_or(0.0, |first| first.score);
        self.cache
            .records
            .read_of(ranked.iter().map(|scored| scored.address))?;
        for scored in &mut ranked {
            self.sources.tick()?;
            let about = self.document(scored.address)?;
            let (evidence, fused) = (&mut scored.evidence, scored.score);
            evidence.add_document(fused, least, about.kind_loss, about.file_name);
            if plan.definitions.has(scored.address) {
                let is_code = matches!(about.lines, LinesOf::Code(_));
                evidence.add_symbol(if is_code { 1.0 } else { DATA_SHARE });
            }
        }
        let mut ranked = self.sorted(ranked)?;
        let mut others = ranked.split_off(ranked.len().min(depth));
        // In the order of their rows, so that each block is decoded once.
        ranked.sort_unstable_by_key(|scored| scored.address);
        for scored in &mut ranked {
            // The text of a chunk without a term of the query adds nothing to what its document does.
            if scored.keyword <= 0.0 {
                continue;
            }
            self.sources.tick()?;
            let file = self.sources.file_of(scored.address.segment);
            let name = plan.definitions.name();
            let name = name.filter(|_| plan.definitions.has(scored.address));
            self.read_text(scored, 1.0 - plan.vector(file).weight, name)?;
        }
        let mut all = self.sorted(ranked)?;
        all.append(&mut others);
        for scored in &mut all {
            scored.score = scored.evidence.total(scored.score);
        }
        all.extend(rest);
        Ok(all)
    }

    /// The chunks by their scores with the evidence so far.
    fn sorted(&self, list: Vec<Scored>) -> Result<Vec<Scored>> {
        top_k::top_k(
            list,
            usize::MAX,
            |scored: &Scored| scored.evidence.total(scored.score),
            |scored| scored.address,
            |address| self.sources.tie_break_key(address),
        )
    }

    /// What the record of the document of a chunk says.
    fn document(&mut self, address: ChunkAddress) -> Result<AboutDocument> {
        let file = self.sources.file_of(address.segment);
        let id = self.sources.document_of(address)?;
        if let Some(about) = self.documents.get(&(file, id)) {
            return Ok(*about);
        }
        let record = self.cache.records.get(file, id)?;
        let class = record.class()?;
        let kind = DocumentKind::of(&record.path, class);
        let file_name = match &mut self.names {
            Some(names) => names.share(name_of_file(&record.path), self.analyser),
            None => 0.0,
        };
        let about = AboutDocument {
            kind_loss: self.wanted_kinds.loss(kind),
            file_name,
            lines: match class {
                Class::Code => LinesOf::Code(definitions::Functions::of(&record.language)),
                Class::Doc => LinesOf::Prose,
                Class::Data => LinesOf::Other,
            },
        };
        self.documents.insert((file, id), about);
        Ok(about)
    }

    /// Looks at the text of a chunk, which defines a symbol of the name where there is one.
    fn read_text(
        &mut self,
        scored: &mut Scored,
        keyword_weight: f32,
        name: Option<&str>,
    ) -> Result<()> {
        let address = scored.address;
        let lines = self.document(address)?.lines;
        let reader = self.sources.segment(address.segment)?.keyword_index()?;
        let norm = norm(reader.length(address.row)? as f32, self.mean_length);
        let (terms, pairs, names) = (&self.terms, &mut self.pairs, &mut self.names);
        let analyser = &mut *self.analyser;
        let mut is_other_case = false;
        let (adjacency, mut definition) =
            self.cache.texts.chunk(address, |text, occurrences| {
                is_other_case = name.is_some_and(|name| !text.contains(name));
                analyser.highlights(text, terms, |number, range| {
                    occurrences.push((number, range));
                });
                let adjacency = match pairs {
                    Some(pairs) => pairs.score(text, occurrences, norm),
                    None => 0.0,
                };
                let definition = match names {
                    Some(names) => best_definition(text, lines, occurrences, names, analyser),
                    None => 0.0,
                };
                (adjacency, definition)
            })?;
        if lines == LinesOf::Prose {
            definition *= HEADING_SHARE;
        }
        let evidence = &mut scored.evidence;
        evidence.add_text(keyword_weight, adjacency, definition);
        if is_other_case {
            evidence.symbol *= OTHER_CASE_SHARE;
        }
        Ok(())
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
fn best_definition(
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
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let end = from.find('\n').map_or(text.len(), |at| range.start + at);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kb::{Kb, KbWriter};
    use crate::paging::PageOptions;
    use crate::search::{Hit, Mode, Request};

    const QUERY: &str = "retry middleware";

    /// Sixty documents that have both words; every seventh has them beside each other.
    fn kb() -> (tempfile::TempDir, Kb) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        for number in 0..60 {
            let between = if number % 7 == 3 { "" } else { "once by the " };
            let more = "moon ".repeat(number % 5);
            let text = format!("Number {number}: the retry {between}middleware. {more}\n");
            let name = format!("{number:02}.txt");
            writer.add_bytes(&name, text.as_bytes()).unwrap();
        }
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        (folder, kb)
    }

    fn shown(hits: &[Hit]) -> Vec<(String, u32)> {
        let hits = hits.iter();
        hits.map(|hit| (hit.document.clone(), hit.score.to_bits()))
            .collect()
    }

    #[test]
    fn the_order_does_not_depend_on_the_page() {
        let (_folder, kb) = kb();
        for mode in [Mode::Hybrid, Mode::Keyword] {
            let request = Request::new(QUERY).mode(mode);
            let all = kb.search(&request.clone().k(60)).unwrap().hits;
            assert_eq!(all.len(), 60);
            assert!(all.windows(2).all(|two| two[0].score >= two[1].score));
            for k in [1, 3, 19, 20, 21] {
                let first = kb.search(&request.clone().k(k)).unwrap().hits;
                assert_eq!(shown(&first), shown(&all)[..k], "{k}");
            }
            let (mut request, mut parts) = (request.k(8), Vec::new());
            loop {
                let page = kb.search(&request).unwrap().hits;
                parts.extend(shown(&page));
                let Some(next) = page.next else { break };
                request = request.page(PageOptions::default().cursor(next));
            }
            assert_eq!(parts, shown(&all));
        }
    }

    #[test]
    fn neighbours_come_first_and_the_parts_add_up() {
        let (_folder, kb) = kb();
        let request = Request::new(QUERY).k(60).explain(true);
        let response = kb.search(&request).unwrap();
        let weight = response.explanation.as_ref().unwrap().vector_weight;
        let is_beside = |hit: &Hit| hit.text.contains("retry middleware");
        assert!(is_beside(&response.hits[0]), "{:?}", response.hits[0]);
        for hit in response.hits.iter() {
            let bonus: f32 = hit.bonuses.iter().map(|bonus| bonus.score).sum();
            assert!(bonus == 0.0 || is_beside(hit), "{hit:?}");
            let (keyword, vector) = (hit.keyword_score.unwrap(), hit.vector_score.unwrap());
            let sum = (1.0 - weight) * keyword + weight * vector + bonus;
            assert!((hit.fused_score - sum).abs() < 1e-6, "{hit:?}");
        }
        let plain = kb.search(&Request::new(QUERY).k(60)).unwrap();
        assert!(plain.hits.iter().all(|hit| hit.bonuses.is_empty()));
        assert_eq!(shown(&plain.hits), shown(&response.hits));
    }

    /// The class, its documentation and thirty tests that use it.
    fn code() -> (tempfile::TempDir, Kb) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let mut add = |path: &str, text: &str| {
            writer.add_bytes(path, text.as_bytes()).unwrap();
        };
        let body = "    def start(self):\n        return self.loop.run(self.settings)\n".repeat(6);
        add(
            "src/crawler.py",
            &format!("class CrawlerProcess(Base):\n{body}"),
        );
        add(
            "CHANGELOG.md",
            "# News\n\nCrawlerProcess and CrawlerProcess again\n",
        );
        for number in 0..30 {
            let text = "from src import CrawlerProcess\n\nCrawlerProcess(CrawlerProcess)\n";
            add(
                &format!("tests/test_{number}.py"),
                &format!("{text}x = {number}\n"),
            );
        }
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        (folder, kb)
    }

    #[test]
    fn the_best_definition_of_a_text_counts() {
        let (_folder, kb) = code();
        let crawler = "class Crawler:\n    pass\n\n\nclass CrawlerProcess(Crawler):\n    pass\n";
        for (text, share) in [
            (crawler, 1.0),
            ("class CrawlerProcess:\n    x = Crawler\n", 1.0),
            ("x = CrawlerProcess", 0.0),
        ] {
            let mut analyser = Analyser::new();
            let of_file = kb.search(&Request::new("CrawlerProcess").explain(true));
            let terms = of_file.unwrap().explanation.unwrap().terms;
            let terms: Vec<_> = terms.iter().map(|term| (term.term.clone(), 1.0)).collect();
            let set = TermSet::new(terms.iter().map(|(term, _)| term.as_str()));
            let mut names = QueryNames::of_terms(terms).unwrap();
            let mut found = Vec::new();
            analyser.highlights(text, &set, |term, range| found.push((term, range)));
            let lines = LinesOf::Code(definitions::Functions::of("python"));
            let best = best_definition(text, lines, &found, &mut names, &mut analyser);
            assert_eq!(best, share, "{text}");
        }
    }

    /// The terms of a passage of several chunks are put together from those of its chunks.
    #[test]
    fn all_terms_of_a_joined_passage_are_highlighted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let paragraph = "The retry of a request sleeps before the middleware sends it once more.\n";
        let text = format!("{}\n", paragraph.repeat(6)).repeat(8);
        writer.add_bytes("a.txt", text.as_bytes()).unwrap();
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        let hits = kb.search(&Request::new(QUERY)).unwrap().hits;
        assert!(hits[0].chunks > 1);
        for hit in hits.iter() {
            let words = ["retry", "middleware"].map(|word| hit.text.match_indices(word));
            let words = words.into_iter().flatten();
            let mut words: Vec<_> = words.map(|(at, word)| at..at + word.len()).collect();
            words.sort_by_key(|range| range.start);
            assert_eq!(hit.highlights, words);
        }
    }

    #[test]
    fn a_definition_comes_before_its_tests() {
        let (_folder, kb) = code();
        for mode in [Mode::Hybrid, Mode::Keyword] {
            for query in ["CrawlerProcess", "where is CrawlerProcess defined"] {
                let request = Request::new(query).mode(mode).explain(true);
                let hits = kb.search(&request).unwrap().hits;
                assert_eq!(hits[0].document, "src/crawler.py", "{query}");
                let names: Vec<&str> = hits[0].bonuses.iter().map(|bonus| bonus.name).collect();
                assert!(names.contains(&"definition"), "{names:?}");
                assert!(hits.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
            }
        }
    }

    #[test]
    fn a_question_about_tests_gets_tests() {
        let (_folder, kb) = code();
        let hits = kb
            .search(&Request::new("tests of CrawlerProcess"))
            .unwrap()
            .hits;
        let is_test = |hit: &Hit| hit.document.starts_with("tests/");
        assert!(hits.iter().take(5).filter(|hit| is_test(hit)).count() >= 4);
        let request = Request::new("tests of CrawlerProcess").explain(true);
        let explained = kb.search(&request).unwrap();
        let mut bonuses = explained
            .hits
            .iter()
            .filter(|hit| is_test(hit))
            .flat_map(|hit| &hit.bonuses);
        assert!(bonuses.all(|bonus| bonus.name != "kind"));
    }
}
