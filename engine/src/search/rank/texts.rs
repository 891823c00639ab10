//! Which texts of the candidates are read, and in which order: a text that cannot bring its chunk among the first hits
//! is not.

use kb_types::DocumentId;
use kb_types::error::Result;
use rustc_hash::FxHashMap;

use super::passages::JOIN_SHARE;
use super::ranker::{HEADING_SHARE, LinesOf, Ranker};
use super::scored::Scored;
use super::spread;
use crate::index::keyword::norm;
use crate::search::plan::Plan;
use crate::search::sources::ChunkAddress;

/// Hits that are decided by texts: those of a first page, and one more.
// Fixed, so that the order of hits does not depend on the page.
const FIRST: usize = spread::FIRST + 1;

/// Texts that are read before it is asked again which others can still come among the first.
const TOGETHER: usize = 8;

/// A chunk that waits to be read, and the most that its score can become.
type Waiting = (f32, Scored);

impl Ranker<'_, '_> {
    /// Looks at the texts of chunks, which come by their scores so far: first at [`FIRST`] of them, then at those that can
    /// still come among the first hits or join one. The first hits are those that all texts would give.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`], [`crate::Error::Cancelled`].
    pub(super) fn read_texts(
        &mut self,
        plan: &Plan<'_>,
        mut ranked: Vec<Scored>,
    ) -> Result<Vec<Scored>> {
        let others = ranked.split_off(ranked.len().min(FIRST));
        self.read_some(plan, &mut ranked)?;
        if others.is_empty() {
            return Ok(ranked);
        }
        let mut waiting = self.with_bounds(plan, others)?;
        waiting.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let mut waiting = waiting.into_iter().peekable();
        let mut least;
        loop {
            ranked = self.sorted(plan, ranked)?;
            least = self.least_of_first(&ranked)?;
            let mut some = Vec::with_capacity(TOGETHER);
            let mut last = f32::NEG_INFINITY;
            // All of one bound together: their order is that of their rows, which must not decide what is read.
            while let Some((bound, scored)) = waiting
                .next_if(|(bound, _)| *bound >= least && (some.len() < TOGETHER || *bound == last))
            {
                last = bound;
                some.push(scored);
            }
            if some.is_empty() {
                break;
            }
            self.read_some(plan, &mut some)?;
            ranked.append(&mut some);
        }
        let (mut some, others) = self.neighbours(&ranked, waiting.collect(), least)?;
        self.read_some(plan, &mut some)?;
        ranked.extend(some);
        ranked.extend(others);
        Ok(ranked)
    }

    /// The least score of chunks, best first, that make the first hits: neighbours make one, and of a document no more
    /// than some come first.
    fn least_of_first(&self, ranked: &[Scored]) -> Result<f32> {
        let mut counted: FxHashMap<(usize, DocumentId), Vec<u32>> = FxHashMap::default();
        let mut count = 0;
        for scored in ranked {
            let ChunkAddress { segment, row } = scored.address;
            let id = self.sources.document_of(scored.address)?;
            let rows = counted
                .entry((self.sources.file_of(segment), id))
                .or_default();
            let is_neighbour = rows.iter().any(|other| other.abs_diff(row) == 1);
            rows.push(row);
            count += usize::from(!is_neighbour && rows.len() <= spread::OF_DOCUMENT as usize);
            if count >= FIRST {
                return Ok(scored.score);
            }
        }
        Ok(f32::NEG_INFINITY)
    }

    /// Looks at the texts of some chunks.
    fn read_some(&mut self, plan: &Plan<'_>, some: &mut [Scored]) -> Result<()> {
        // In the order of their rows, so that each block is decoded once.
        some.sort_unstable_by_key(|scored| scored.address);
        for scored in some {
            // The text of a chunk without a term of the query adds nothing to what its document does.
            if scored.keyword <= 0.0 {
                continue;
            }
            self.sources.tick()?;
            let name = plan.definitions.own_name();
            let name = name.filter(|_| plan.definitions.has(scored.address));
            self.read_text(scored, name)?;
        }
        Ok(())
    }

    /// Chunks with the most that their scores can be when their texts are read, by the terms that they have.
    fn with_bounds(&mut self, plan: &Plan<'_>, mut list: Vec<Scored>) -> Result<Vec<Waiting>> {
        list.sort_unstable_by_key(|scored| scored.address);
        let Some(query) = &plan.keyword_query else {
            return Ok(list.into_iter().map(|it| (it.score, it)).collect());
        };
        let terms = query.terms().len();
        let mut bounded = Vec::with_capacity(list.len());
        for of_segment in list.chunk_by(|a, b| a.address.segment == b.address.segment) {
            let Some(segment) = of_segment.first().map(|first| first.address.segment) else {
                continue;
            };
            let rows: Vec<u32> = of_segment.iter().map(|it| it.address.row).collect();
            let mut frequencies = vec![0; rows.len() * terms];
            query.each_term_of(segment, &rows, |place, term, frequency| {
                if let Some(slot) = frequencies.get_mut(place * terms + term) {
                    *slot = frequency;
                }
            })?;
            let reader = self.sources.segment(segment)?.keyword_index()?;
            for (scored, frequencies) in of_segment.iter().zip(frequencies.chunks(terms.max(1))) {
                let mut best = *scored;
                let norm = norm(reader.length(scored.address.row)? as f32, self.mean_length);
                let pairs = self.pairs.as_ref();
                best.features.adjacency = pairs.map_or(0.0, |pairs| pairs.bound(frequencies, norm));
                best.features.verbatim = self.verbatim_bound(scored.address, frequencies)?;
                best.features.definition = self.definition_bound(scored.address, frequencies)?;
                bounded.push((self.score(plan, &best), *scored));
            }
        }
        Ok(bounded)
    }

    /// The most of the words of a statement that the text of a chunk can have in a row.
    fn verbatim_bound(&mut self, address: ChunkAddress, frequencies: &[u32]) -> Result<f32> {
        if self.verbatim.is_none() {
            return Ok(0.0);
        }
        let is_code = matches!(self.document(address)?.lines, LinesOf::Code(_));
        let words = self.verbatim.as_ref();
        Ok(words.map_or(0.0, |words| words.bound(frequencies, is_code)))
    }

    /// The most that a name can say that the text of a chunk defines.
    fn definition_bound(&mut self, address: ChunkAddress, frequencies: &[u32]) -> Result<f32> {
        let share = match self.document(address)?.lines {
            LinesOf::Code(_) => 1.0,
            LinesOf::Prose => HEADING_SHARE,
            LinesOf::Other => 0.0,
        };
        let names = self.identifiers.as_ref().or(self.names.as_ref());
        let Some(names) = names.filter(|_| self.seeks_definitions) else {
            return Ok(0.0);
        };
        let there = frequencies.iter().enumerate();
        let there = there.filter(|(_, times)| **times > 0);
        Ok(share * names.bound(there.map(|(term, _)| term)))
    }

    /// Divides chunks that wait into those that may join a hit of one that was read, with a score of at least `least`,
    /// and the others.
    fn neighbours(
        &self,
        read: &[Scored],
        waiting: Vec<Waiting>,
        least: f32,
    ) -> Result<(Vec<Scored>, Vec<Scored>)> {
        // What a chunk has, or may come to, of which document it is, and whether it joins.
        let mut most: FxHashMap<ChunkAddress, (f32, DocumentId, bool)> = FxHashMap::default();
        let known = read.iter().map(|it| (it.address, it.score));
        let bounded = waiting.iter().map(|(bound, it)| (it.address, *bound));
        for (address, score) in known.chain(bounded) {
            let document = self.sources.document_of(address)?;
            most.insert(address, (score, document, false));
        }
        for first in read.iter().filter(|it| it.score >= least) {
            let ChunkAddress { segment, row } = first.address;
            let Some((_, document, _)) = most.get(&first.address).copied() else {
                continue;
            };
            let mut mark = |row: u32| match most.get_mut(&ChunkAddress { segment, row }) {
                Some((most, of, joins)) if *of == document && *most >= first.score * JOIN_SHARE => {
                    *joins = true;
                    true
                }
                _ => false,
            };
            let _ = (0..row).rev().take_while(|row| mark(*row)).count();
            let _ = (row.saturating_add(1)..)
                .take_while(|row| mark(*row))
                .count();
        }
        let all = waiting.into_iter().map(|(_, scored)| scored);
        Ok(all.partition(|it| most.get(&it.address).is_some_and(|(_, _, joins)| *joins)))
    }
}
