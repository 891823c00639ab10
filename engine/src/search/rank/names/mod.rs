//! How much a name says about the query: of a file, of what a line defines, of a heading.

pub(super) mod definitions;
mod title;

use std::ops::Range;

use crate::index::keyword::{Analyser, Query, QueryTerm};

pub(super) use title::QueryTitle;

/// Least share of the words of a name that the query must have.
// One word of four says little: `get` in `get_user_session_token`.
const LEAST_SHARE: f32 = 0.3;

/// Shortest word of a name that may stand for a longer one of the query: `req` for "request".
const LEAST_BEGINNING_BYTES: usize = 3;

/// How much longer that one is at least.
const LEAST_LEFT_OUT_BYTES: usize = 2;

/// Longest name that is read.
const NAME_LIMIT_BYTES: usize = 200;

/// The terms of a query, to compare names with.
#[derive(Debug)]
pub(in crate::search::rank) struct QueryNames {
    /// Terms by their number in the query, each with the number of the word that it is a form of.
    terms: Vec<(String, usize)>,
    /// Indexes of the terms, ascending by term.
    // A long query has more than a hundred, and each word of each name is looked for among them.
    by_term: Vec<usize>,
    /// Weights of the words, all their forms together, by number.
    weights: Vec<f32>,
    /// Sum of the weights of all words.
    total: f32,
    /// Which words the name at hand has.
    found: Vec<bool>,
    /// Words of the name at hand: whether the query has them, and where they are.
    words: Vec<(bool, Range<usize>)>,
}

impl QueryNames {
    /// The terms of a query; `None` without any. A term that no chunk has is in no name: "defined" does not
    /// weaken the name beside it in a file without that word.
    pub(in crate::search::rank) fn new(query: &Query<'_>) -> Option<QueryNames> {
        QueryNames::of_words(query, |_| true)
    }

    /// The terms of those words of a query that are identifiers; `None` without any.
    pub(in crate::search::rank) fn of_identifiers(
        query: &Query<'_>,
        identifiers: &[String],
        analyser: &mut Analyser,
    ) -> Option<QueryNames> {
        let mut wanted: Vec<String> = Vec::new();
        for identifier in identifiers {
            analyser.analyse(identifier, |term, _| wanted.push(term.to_owned()));
        }
        QueryNames::of_words(query, |term| wanted.contains(&term.term))
    }

    /// The terms of those words of which a form is wanted.
    fn of_words(query: &Query<'_>, is_wanted: impl Fn(&QueryTerm) -> bool) -> Option<QueryNames> {
        let mut terms = Vec::with_capacity(query.terms().len());
        let mut weights = vec![0.0; query.terms().len()];
        let mut wanted = vec![false; query.terms().len()];
        for (number, term) in query.terms().iter().enumerate() {
            let word = term.form_of.unwrap_or(number);
            terms.push((term.term.clone(), word));
            if let (Some(weight), Some(wanted)) = (weights.get_mut(word), wanted.get_mut(word)) {
                *wanted |= is_wanted(term);
                // A name has a word in any of its forms, which have its weight together.
                *weight += if term.chunks > 0 {
                    term.weighted_idf()
                } else {
                    0.0
                };
            }
        }
        for (weight, wanted) in weights.iter_mut().zip(wanted) {
            if !wanted {
                *weight = 0.0;
            }
        }
        QueryNames::with_weights(terms, weights)
    }

    /// Terms, each with the number of its word, and the weights of the words.
    pub(in crate::search::rank) fn with_weights(
        terms: Vec<(String, usize)>,
        weights: Vec<f32>,
    ) -> Option<QueryNames> {
        let total: f32 = weights.iter().sum();
        let mut by_term: Vec<usize> = (0..terms.len()).collect();
        by_term.sort_by_key(|at| terms.get(*at).map(|(term, _)| term.as_str()));
        (total > 0.0).then(|| QueryNames {
            found: vec![false; weights.len()],
            words: Vec::new(),
            by_term,
            terms,
            weights,
            total,
        })
    }

    /// The most that a name with these terms of the query, by number and in any order, can say about it. Beginnings of
    /// words do not count: for them alone no text is read.
    pub(in crate::search::rank) fn bound(&self, terms: impl Iterator<Item = usize> + Clone) -> f32 {
        let words = terms.filter_map(|term| self.terms.get(term).map(|(_, word)| *word));
        let mut weight = 0.0;
        for (at, word) in words.clone().enumerate() {
            if !words.clone().take(at).any(|before| before == word) {
                weight += self.weights.get(word).copied().unwrap_or(0.0);
            }
        }
        weight / self.total
    }

    /// The share of the query's words, by weight, that a path has, 0..1. Of a long path its end counts.
    pub(in crate::search::rank) fn covered(&mut self, path: &str, analyser: &mut Analyser) -> f32 {
        let start = path.ceil_char_boundary(path.len().saturating_sub(NAME_LIMIT_BYTES));
        self.found.fill(false);
        let QueryNames {
            terms,
            by_term,
            found,
            ..
        } = self;
        analyser.analyse(path.get(start..).unwrap_or_default(), |term, _| {
            let mut equal = beginning_with(term, terms, by_term);
            let of_query = equal.find(|(_, of_query, _)| *of_query == term);
            if let Some(found) = of_query.and_then(|(_, _, word)| found.get_mut(word)) {
                *found = true;
            }
        });
        self.found_share()
    }

    /// The share of the words that were found, by weight.
    fn found_share(&self) -> f32 {
        let found = self.weights.iter().zip(&self.found);
        let weight: f32 = found
            .filter(|(_, found)| **found)
            .map(|(weight, _)| weight)
            .sum();
        (weight / self.total).min(1.0)
    }

    /// How much a name says about the query, 0..1: the share of the query's terms, by weight, that the name
    /// has, times the root of the share of the name's words that the query has. 1 for a query that is the
    /// name. A word of the name may be the beginning of one of the query: `req` of "request".
    pub(in crate::search::rank) fn share(&mut self, name: &str, analyser: &mut Analyser) -> f32 {
        if name.len() > NAME_LIMIT_BYTES {
            return 0.0;
        }
        self.found.fill(false);
        self.words.clear();
        let QueryNames {
            terms,
            by_term,
            weights,
            found,
            words,
            ..
        } = self;
        analyser.analyse(name, |term, range| {
            let counts = |word: usize| weights.get(word).is_some_and(|weight| *weight > 0.0);
            let known = || {
                let known = beginning_with(term, terms, by_term);
                known.filter(|(_, _, word)| counts(*word))
            };
            let mut of_query = known().find(|(_, of_query, _)| *of_query == term);
            if of_query.is_none() && term.len() >= LEAST_BEGINNING_BYTES {
                let least = term.len() + LEAST_LEFT_OUT_BYTES;
                let longer = known().filter(|(_, of_query, _)| of_query.len() >= least);
                // The first in the order of the query.
                of_query = longer.min();
            }
            if let Some(found) = of_query.and_then(|(_, _, word)| found.get_mut(word)) {
                *found = true;
            }
            match words.last_mut() {
                // Another form of the same word.
                Some((is_known, before)) if *before == range => {
                    *is_known |= of_query.is_some();
                    return;
                }
                Some((_, before)) if is_part_of(&range, before) => {
                    words.pop();
                }
                _ => {}
            }
            words.push((of_query.is_some(), range));
        });
        let known = words.iter().filter(|(is_known, _)| *is_known).count();
        let share = known as f32 / words.len().max(1) as f32;
        if share < LEAST_SHARE {
            return 0.0;
        }
        self.found_share() * share.sqrt()
    }
}

/// The terms that begin with `beginning`, ascending: the index of each, the term, and the number of its word.
fn beginning_with<'t>(
    beginning: &'t str,
    terms: &'t [(String, usize)],
    by_term: &'t [usize],
) -> impl Iterator<Item = (usize, &'t str, usize)> {
    let term_at = |at: usize| terms.get(at).map(|(term, word)| (at, term.as_str(), *word));
    let first =
        by_term.partition_point(|at| term_at(*at).is_some_and(|(_, term, _)| term < beginning));
    let rest = by_term.get(first..).unwrap_or_default().iter();
    rest.map_while(move |at| term_at(*at))
        .take_while(move |(_, term, _)| term.starts_with(beginning))
}

/// Whether a term belongs to a part of the identifier whose term came before it. The parts take the place of the
/// identifier wherever words are counted or paired.
pub(in crate::search::rank) fn is_part_of(term: &Range<usize>, before: &Range<usize>) -> bool {
    before.start <= term.start && term.end <= before.end && before != term
}

/// The name of a file without extension; where that is the same in every folder, the name of the folder.
pub(in crate::search::rank) fn name_of_file(path: &str) -> &str {
    const SAME: [&str; 6] = ["mod", "index", "__init__", "main", "lib", "README"];
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    if SAME.contains(&stem) && !folders.is_empty() {
        folders.rsplit('/').next().unwrap_or(folders)
    } else {
        stem
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(terms: &[(&str, f32)]) -> QueryNames {
        let weights = terms.iter().map(|(_, weight)| *weight).collect();
        let terms = terms.iter().map(|(term, _)| (*term).to_owned());
        QueryNames::with_weights(terms.zip(0..).collect(), weights).unwrap()
    }

    fn share(query: &QueryNames, name: &str) -> f32 {
        let (terms, weights) = (query.terms.clone(), query.weights.clone());
        let mut query = QueryNames::with_weights(terms, weights).unwrap();
        query.share(name, &mut Analyser::new())
    }

    #[test]
    fn a_query_that_is_the_name_has_all_of_it() {
        let asked = query(&[("crawlerprocess", 5.0), ("crawler", 2.0), ("process", 1.0)]);
        assert_eq!(share(&asked, "CrawlerProcess"), 1.0);
        let half = share(&asked, "crawler.py");
        assert!(half > 0.15 && half < 0.3, "{half}");
        assert_eq!(share(&asked, "scheduler"), 0.0);
    }

    #[test]
    fn no_name_says_more_than_its_bound() {
        let asked = query(&[
            ("crawler", 2.0),
            ("process", 1.0),
            ("gone", 0.0),
            ("run", 1.0),
        ]);
        assert_eq!(asked.bound([1, 0, 1, 2].into_iter()), 0.75);
        assert_eq!(share(&asked, "CrawlerProcess"), 0.75);
        assert!(share(&asked, "crawler_process_of_spiders") < 0.75);
        assert_eq!(asked.bound([2, 9].into_iter()), 0.0);
        assert_eq!(share(&asked, "gone"), 0.0);
    }

    #[test]
    fn other_words_of_the_name_weaken_it() {
        let asked = query(&[("request", 1.0), ("id", 1.0), ("generat", 2.0)]);
        let short = share(&asked, "request_id");
        let long = share(&asked, "requestIdHeaderOfServer");
        assert!(short > long && long > 0.0, "{short} {long}");
        assert_eq!(share(&asked, "one_two_three_request"), 0.0);
    }

    #[test]
    fn a_file_of_a_module_has_the_name_of_its_folder() {
        assert_eq!(name_of_file("src/retry.py"), "retry");
        assert_eq!(name_of_file("core/scheduler/__init__.py"), "scheduler");
        assert_eq!(name_of_file("main.rs"), "main");
        assert_eq!(name_of_file("a/Makefile"), "Makefile");
    }

    #[test]
    fn a_path_counts_by_the_words_that_it_covers() {
        let mut asked = query(&[("request", 1.0), ("limit", 3.0)]);
        let mut covered = |path: &str| asked.covered(path, &mut Analyser::new());
        assert_eq!(covered("src/http/ngx_http_limit_req_module.c"), 0.75);
        assert_eq!(covered("limits/of/requests.md"), 1.0);
        assert_eq!(covered("src/pool.rs"), 0.0);
        assert_eq!(covered(&format!("limit/{}", "a/".repeat(200))), 0.0);
    }

    #[test]
    fn a_name_may_have_any_form_of_a_word() {
        let terms = [("m\u{fc}ll", 0), ("mull", 0), ("muell", 0), ("archiv", 3)];
        let terms = terms.map(|(term, word)| (term.to_owned(), word));
        let weights = vec![3.0, 0.0, 0.0, 1.0];
        let mut asked = QueryNames::with_weights(terms.to_vec(), weights).unwrap();
        for name in ["M\u{fc}ll", "muell", "mull"] {
            assert_eq!(share(&asked, name), 0.75, "{name}");
            let covered = asked.covered(&format!("{name}/a.md"), &mut Analyser::new());
            assert_eq!(covered, 0.75, "{name}");
        }
        assert_eq!(share(&asked, "archiv-m\u{fc}ll"), 1.0);
        assert_eq!(asked.bound([0, 2, 1].into_iter()), 0.75);
    }

    #[test]
    fn a_word_of_a_name_may_be_the_beginning_of_one_of_the_query() {
        let asked = query(&[("limit", 1.0), ("request", 1.0), ("authent", 2.0)]);
        assert_eq!(share(&asked, "limit_req"), 0.5);
        assert!(share(&asked, "sub_http_limit_req_module") > 0.3);
        assert!(share(&asked, "auth") == 0.5 && share(&asked, "conn_req") > 0.1);
        // Too short, or hardly shorter.
        assert!(share(&asked, "re") == 0.0 && share(&asked, "authen") == 0.0);
        assert_eq!(share(&asked, "requests_req"), 0.25);
    }

    #[test]
    fn stems_of_words_match() {
        let asked = query(&[("request", 1.0), ("generat", 1.0)]);
        assert!(share(&asked, "generatingRequests") == 1.0);
    }
}
