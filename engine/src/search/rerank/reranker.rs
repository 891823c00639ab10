//! Reads the texts of the best chunks and orders these again.

use super::DEPTH;
use super::adjacency::Pairs;
use super::texts::ChunkTexts;
use crate::error::Result;
use crate::index::keyword::{Analyser, TermSet, norm};
use crate::search::fuse::evidence::Evidence;
use crate::search::fuse::score::Scored;
use crate::search::fuse::top_k;
use crate::search::plan::Plan;
use crate::search::sources::{ChunkAddress, Sources};

/// What is looked for in the texts of one request.
#[derive(Debug)]
pub(crate) struct Reranker<'r> {
    sources: &'r Sources<'r>,
    analyser: &'r mut Analyser,
    texts: ChunkTexts<'r>,
    /// The terms of the query.
    terms: TermSet,
    /// Neighbouring terms of the query; `None` without any.
    pairs: Option<Pairs>,
    mean_length: f32,
}

impl<'r> Reranker<'r> {
    pub(crate) fn new(
        plan: &Plan<'_>,
        sources: &'r Sources<'r>,
        analyser: &'r mut Analyser,
    ) -> Reranker<'r> {
        let query = plan.keyword_query.as_ref();
        let pairs = query.and_then(|query| Pairs::new(&plan.parsed.plain, query, analyser));
        Reranker {
            sources,
            analyser,
            texts: ChunkTexts::new(sources),
            terms: TermSet::new(query.iter().flat_map(|query| {
                let terms = query.terms().iter();
                terms.map(|term| term.term.as_str())
            })),
            pairs,
            mean_length: sources.statistics().mean_length(),
        }
    }

    /// Whether no text can change the order.
    fn is_idle(&self) -> bool {
        self.pairs.is_none()
    }

    /// The list, best first, with the evidence of its first chunks in their scores, best first again. A score
    /// grows or stays, so that no chunk of the rest comes before one of these.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`], [`crate::Error::Cancelled`].
    pub(crate) fn rerank(
        &mut self,
        plan: &Plan<'_>,
        mut ranked: Vec<Scored>,
    ) -> Result<Vec<Scored>> {
        if self.is_idle() {
            return Ok(ranked);
        }
        let rest = ranked.split_off(ranked.len().min(DEPTH));
        // In the order of their rows, so that each block is decoded once.
        ranked.sort_unstable_by_key(|scored| scored.address);
        for scored in &mut ranked {
            self.sources.tick()?;
            scored.evidence = self.evidence(scored.address)?;
            let vector_weight = plan
                .vector(self.sources.file_of(scored.address.segment))
                .weight;
            let bonus = scored.evidence.bonus(1.0 - vector_weight);
            scored.score = (scored.score + bonus).min(1.0);
        }
        let mut all = top_k::top_k(
            ranked,
            usize::MAX,
            |scored: &Scored| scored.score,
            |scored| scored.address,
            |address| self.sources.tie_break_key(address),
        )?;
        all.extend(rest);
        Ok(all)
    }

    /// What the text of a chunk shows.
    fn evidence(&mut self, address: ChunkAddress) -> Result<Evidence> {
        let reader = self.sources.segment(address.segment)?.keyword_index()?;
        let norm = norm(reader.length(address.row)? as f32, self.mean_length);
        let (analyser, terms, pairs) = (&mut *self.analyser, &self.terms, &mut self.pairs);
        self.texts.chunk(
            address,
            |text, occurrences| {
                analyser.highlights(text, terms, |number, range| {
                    occurrences.push((number, range));
                });
            },
            |text, occurrences| Evidence {
                adjacency: match pairs {
                    Some(pairs) => pairs.score(text, occurrences, norm),
                    None => 0.0,
                },
            },
        )
    }

    /// The analyser that was lent, and the texts that were read.
    pub(crate) fn into_parts(self) -> (&'r mut Analyser, ChunkTexts<'r>) {
        (self.analyser, self.texts)
    }
}

#[cfg(test)]
mod tests {
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
            assert!((hit.score - sum.min(1.0)).abs() < 1e-6, "{hit:?}");
        }
        let plain = kb.search(&Request::new(QUERY).k(60)).unwrap();
        assert!(plain.hits.iter().all(|hit| hit.bonuses.is_empty()));
        assert_eq!(shown(&plain.hits), shown(&response.hits));
    }
}
