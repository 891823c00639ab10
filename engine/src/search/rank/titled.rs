//! Documents whose title is the query, wherever their chunks rank.
//!
//! Every chunk has the words of the title and of the path of its document. So a document of this title has the rarest
//! word of the query in each of its chunks, and all words in the first, which few other documents have. The records of
//! these say which titles are the query.

use kb_types::error::Result;

use super::names::QueryTitle;
use super::ranker::Ranker;
use super::titles::MOST_TITLED;
use crate::index::keyword::Query;
use crate::search::plan::Plan;
use crate::search::query::two_phase::TwoPhaseFilter;
use crate::search::sources::ChunkAddress;

/// Most rows with the rarest word of a query that are read.
const ROWS_LIMIT: u64 = 16_384;

/// Documents whose records are read: those whose first chunks have the best keyword scores.
const DOCUMENTS_LIMIT: usize = 512;

impl Ranker<'_, '_> {
    /// The first chunk of each document whose title is the query, unless there are many of them or the filter does not
    /// let it pass. They come first when the candidates are ranked.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`], [`crate::Error::Cancelled`].
    pub(crate) fn titled_chunks(
        &mut self,
        plan: &Plan<'_>,
        filter: &mut TwoPhaseFilter<'_>,
    ) -> Result<Vec<ChunkAddress>> {
        let mut titled = Vec::new();
        let query = plan.keyword_query.as_ref();
        let Some(query) = query.filter(|_| self.title.is_some()) else {
            return Ok(titled);
        };
        let mut chunks = self.with_all_words(plan, query)?;
        chunks.retain(|address| {
            let rows = filter.rows(address.segment);
            rows.is_none_or(|rows| rows.contains(address.row))
        });
        if chunks.len() > DOCUMENTS_LIMIT {
            chunks = best_of(query, &chunks)?;
        }
        self.cache.records.read_of(chunks.iter().copied())?;
        for address in chunks {
            let file = self.sources.file_of(address.segment);
            let id = self.sources.document_of(address)?;
            let record = self.cache.records.get(file, id)?;
            let is_it = |title: &mut QueryTitle| title.is_of(&record.title, &record.path);
            if self.title.as_mut().is_some_and(is_it) {
                self.titled.insert((file, id));
                titled.push(address);
            }
        }
        if titled.len() > MOST_TITLED {
            titled.clear();
        }
        filter.verify(titled.iter().copied())?;
        titled.retain(|address| filter.is_verified(*address));
        Ok(titled)
    }

    /// The first chunks that have all words of the query, of the documents that have the rarest in each chunk.
    fn with_all_words(&mut self, plan: &Plan<'_>, query: &Query<'_>) -> Result<Vec<ChunkAddress>> {
        let mut first = Vec::new();
        let Some(words) = query.words(&plan.text, self.analyser) else {
            return Ok(first);
        };
        if !(1..=ROWS_LIMIT).contains(&query.rows_with_rarest(&words)) {
            return Ok(first);
        }
        for (segment, bound) in self.sources.segments.iter().enumerate() {
            self.sources.tick()?;
            let deleted = bound.segment.deleted_rows();
            let chunks = bound.chunks();
            let rows = query.rows_with_words(segment, &words, |mut rows| {
                rows.retain(|row| deleted.is_none_or(|deleted| !deleted.contains(*row)));
                chunks.first_rows_of_whole(&rows)
            })?;
            first.extend(rows.into_iter().map(|row| ChunkAddress { segment, row }));
        }
        Ok(first)
    }
}

/// The chunks with the best keyword scores; those of equal scores all or none, so that the order of rows decides
/// nothing.
fn best_of(query: &Query<'_>, chunks: &[ChunkAddress]) -> Result<Vec<ChunkAddress>> {
    let mut scored: Vec<(f32, ChunkAddress)> = Vec::with_capacity(chunks.len());
    for of_segment in chunks.chunk_by(|a, b| a.segment == b.segment) {
        let Some(first) = of_segment.first() else {
            continue;
        };
        let rows: Vec<u32> = of_segment.iter().map(|address| address.row).collect();
        let scores = query.score_rows(first.segment, &rows)?;
        scored.extend(scores.into_iter().zip(of_segment.iter().copied()));
    }
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let next = scored.get(DOCUMENTS_LIMIT).map_or(0.0, |(score, _)| *score);
    let better = scored.into_iter().take_while(|(score, _)| *score > next);
    Ok(better.map(|(_, address)| address).collect())
}

#[cfg(test)]
mod tests {
    use crate::kb::{Kb, KbWriter};
    use crate::search::{Filters, Mode, Request, Response};

    /// Documents that say the words of a title far more often than the documents of that title do.
    fn kb(titled: &[&str]) -> (tempfile::TempDir, Kb) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        for number in 0..300 {
            let line = "The storm warning says storm warning, and the storm has a warning.\n";
            let text = format!("# Day {number}\n\n{}", line.repeat(6));
            writer
                .add_bytes(&format!("days/{number}.md"), text.as_bytes())
                .unwrap();
        }
        for name in titled {
            let body = "Keepers look at the sea by turns, and write down each ship.\n".repeat(40);
            let text = format!("# Storm warning\n\n{body}");
            writer.add_bytes(name, text.as_bytes()).unwrap();
        }
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        (folder, kb)
    }

    fn ask(kb: &Kb, query: &str, mode: Mode, filters: Filters) -> Response {
        let request = Request::new(query)
            .mode(mode)
            .filters(filters)
            .explain(true);
        kb.search(&request).unwrap()
    }

    fn titled_hits(response: &Response) -> Vec<&str> {
        let is_titled = |hit: &&crate::search::Hit| hit.bonuses.iter().any(|it| it.name == "title");
        let hits = response.hits.iter().filter(is_titled);
        hits.map(|hit| hit.document.as_str()).collect()
    }

    #[test]
    fn a_document_of_this_title_comes_first_from_behind_all_candidates() {
        let (_folder, kb) = kb(&["rules.md"]);
        for mode in [Mode::Hybrid, Mode::Keyword] {
            let found = ask(&kb, "storm warning", mode, Filters::default());
            assert_eq!(found.hits[0].document, "rules.md", "{mode:?}");
            assert_eq!(titled_hits(&found), ["rules.md"]);
            assert_eq!(found.hits[0].lines.first, 1);
            let others = Filters::new().paths(["!rules.md"]);
            let others = ask(&kb, "storm warning", mode, others);
            assert!(titled_hits(&others).is_empty() && others.hits.len() > 1);
        }
        // Vectors alone know no title.
        let found = ask(&kb, "storm warning", Mode::Semantic, Filters::default());
        assert!(titled_hits(&found).is_empty());
    }

    #[test]
    fn of_many_documents_of_this_title_none_comes_first() {
        let names: Vec<String> = (0..4).map(|number| format!("{number}/a.md")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (_folder, kb) = kb(&names);
        let found = ask(&kb, "storm warning", Mode::Hybrid, Filters::default());
        assert!(titled_hits(&found).is_empty());
    }
}
