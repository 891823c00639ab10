//! Which words of a long query are searched.

use super::query_term::QueryTerm;

/// Most terms of a query that are searched, without those that no chunk has.
// The time of a search grows with them. nDCG@10 of the 76 questions of CISI, 40 of which have more than 32 words: .4044
// by keywords and .4040 hybrid with all terms, .4048 and .4073 with 48, .4005 and .4078 with 40, .4018 and .4084 with
// 32. Commit messages (440, 47 with more than 32 words) lose nothing with 32.
pub(super) const SEARCHED_TERMS: usize = 48;

/// Most terms of a query that are looked up.
// A lookup takes about a microsecond a segment. Only texts of more than some 150 words have more.
pub(super) const LOOKED_UP_TERMS: usize = 3 * SEARCHED_TERMS;

/// The indexes of the terms of a query when some are left out.
#[derive(Debug)]
pub(super) struct Places(Vec<Option<usize>>);

impl Places {
    /// The new index of a term, by its old one; `None` for one that is left out.
    pub(super) fn of(&self, at: usize) -> Option<usize> {
        self.0.get(at).copied().flatten()
    }
}

/// The places of terms when at most `most` that have a `bound` are kept, those of the words with the greatest ones;
/// `None` if there are no more than that. A word keeps all its forms. Terms without a bound cost nothing and are kept.
pub(super) fn places(
    terms: &[QueryTerm],
    most: usize,
    bound: impl Fn(&QueryTerm) -> Option<f32>,
) -> Option<Places> {
    if terms.iter().filter_map(&bound).count() <= most {
        return None;
    }
    let word_of = |(at, term): (usize, &QueryTerm)| term.form_of.unwrap_or(at);
    // Of each word the greatest bound of a term, and the number of its terms that have one.
    let mut words = vec![(0.0_f32, 0); terms.len()];
    for (at, term) in terms.iter().enumerate() {
        if let (Some(bound), Some(word)) = (bound(term), words.get_mut(word_of((at, term)))) {
            *word = (word.0.max(bound), word.1 + 1);
        }
    }
    let mut known: Vec<(usize, (f32, usize))> = words.into_iter().enumerate().collect();
    // Stable: of equal words the first is kept.
    known.sort_by(|(_, (a, _)), (_, (b, _))| b.total_cmp(a));
    let mut room = Some(most);
    let mut is_kept = vec![true; terms.len()];
    for (at, (_, count)) in known.into_iter().filter(|(_, (_, count))| *count > 0) {
        // Without room for a word there is none for those after it, however few forms they have.
        room = room.and_then(|room| room.checked_sub(count));
        if let Some(is_kept) = is_kept.get_mut(at) {
            *is_kept = room.is_some();
        }
    }
    let mut next = 0..;
    let places = terms.iter().enumerate().map(|term| {
        let is_kept = is_kept.get(word_of(term)) == Some(&true);
        is_kept.then(|| next.next()).flatten()
    });
    Some(Places(places.collect()))
}

/// The terms that have a place, at it.
pub(super) fn kept(terms: Vec<QueryTerm>, places: &Places) -> Vec<QueryTerm> {
    let kept = terms
        .into_iter()
        .enumerate()
        .filter(|(at, _)| places.of(*at).is_some());
    let moved = kept.map(|(_, mut term)| {
        term.form_of = term.form_of.and_then(|word| places.of(word));
        term
    });
    moved.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(idf: f32, chunks: u64, form_of: Option<usize>) -> QueryTerm {
        QueryTerm {
            term: format!("{idf}"),
            times: 1,
            form_of,
            word_weight: 1.0,
            weight: 1.0,
            chunks,
            idf,
        }
    }

    fn kept_of(terms: &[QueryTerm], most: usize) -> Option<Vec<(f32, Option<usize>)>> {
        let places = places(terms, most, |term| {
            (term.chunks > 0).then_some(term.bound())
        })?;
        let kept = kept(terms.to_vec(), &places);
        Some(kept.iter().map(|term| (term.idf, term.form_of)).collect())
    }

    #[test]
    fn words_that_add_most_are_kept_with_their_forms_and_so_are_unknown_ones() {
        let mut terms = vec![
            term(1.0, 5, None),
            term(9.0, 0, None),
            term(3.0, 5, None),
            term(2.0, 5, None),
            term(0.5, 5, Some(2)),
            term(0.4, 5, Some(3)),
            term(2.0, 5, None),
        ];
        assert_eq!(kept_of(&terms, 6), None);
        let all = [
            (9.0, None),
            (3.0, None),
            (2.0, None),
            (0.5, Some(1)),
            (0.4, Some(2)),
        ];
        assert_eq!(kept_of(&terms, 4).unwrap(), all);
        // The second word has no room for its forms, and the last one comes after it.
        let first = [(9.0, None), (3.0, None), (0.5, Some(1))];
        assert_eq!(kept_of(&terms, 3).unwrap(), first);
        assert_eq!(kept_of(&terms, 2).unwrap(), first);
        // Occurrences count.
        terms[0].times = 4;
        assert_eq!(kept_of(&terms, 1).unwrap(), [(1.0, None), (9.0, None)]);
    }
}
