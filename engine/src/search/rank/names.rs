//! How much a name says about the query: of a file, of what a line defines, of a heading.

use std::ops::Range;

use crate::index::keyword::{Analyser, Query, QueryTerm};

/// Least share of the words of a name that the query must have.
// One word of four says little: `get` in `get_user_session_token`.
const LEAST_SHARE: f32 = 0.3;

/// Longest name that is read.
const NAME_LIMIT_BYTES: usize = 200;

/// The terms of a query, to compare names with.
#[derive(Debug)]
pub(super) struct QueryNames {
    /// Terms with their weights, by the number of the term in the query.
    terms: Vec<(String, f32)>,
    /// Sum of the weights of all terms.
    total: f32,
    /// Which terms the name at hand has.
    found: Vec<bool>,
    /// Words of the name at hand: whether the query has them, and where they are.
    words: Vec<(bool, Range<usize>)>,
}

impl QueryNames {
    /// The terms of a query; `None` without any. A term that no chunk has is in no name: "defined" does not
    /// weaken the name beside it in a file without that word.
    pub(super) fn new(query: &Query<'_>) -> Option<QueryNames> {
        let terms: Vec<(String, f32)> = query
            .terms()
            .iter()
            .map(|term| {
                let weight = if term.chunks > 0 {
                    QueryTerm::weighted_idf(term)
                } else {
                    0.0
                };
                (term.term.clone(), weight)
            })
            .collect();
        QueryNames::of_terms(terms)
    }

    /// The terms of those words of a query that are identifiers; `None` without any.
    pub(super) fn of_identifiers(
        query: &Query<'_>,
        identifiers: &[String],
        analyser: &mut Analyser,
    ) -> Option<QueryNames> {
        let mut wanted: Vec<String> = Vec::new();
        for identifier in identifiers {
            analyser.analyse(identifier, |term, _| wanted.push(term.to_owned()));
        }
        let mut names = QueryNames::new(query)?;
        for (term, weight) in &mut names.terms {
            if !wanted.contains(term) {
                *weight = 0.0;
            }
        }
        QueryNames::of_terms(names.terms)
    }

    pub(super) fn of_terms(terms: Vec<(String, f32)>) -> Option<QueryNames> {
        let total: f32 = terms.iter().map(|(_, weight)| weight).sum();
        (total > 0.0).then(|| QueryNames {
            found: vec![false; terms.len()],
            words: Vec::new(),
            terms,
            total,
        })
    }

    /// The most that a name with these terms of the query, by number and in any order, can say about it.
    pub(super) fn bound(&self, terms: impl Iterator<Item = usize> + Clone) -> f32 {
        let mut weight = 0.0;
        for (at, term) in terms.clone().enumerate() {
            if !terms.clone().take(at).any(|before| before == term) {
                weight += self.terms.get(term).map_or(0.0, |(_, weight)| *weight);
            }
        }
        weight / self.total
    }

    /// The share of the query's terms, by weight, that a path has, 0..1. Of a long path its end counts.
    pub(super) fn covered(&mut self, path: &str, analyser: &mut Analyser) -> f32 {
        let start = path.ceil_char_boundary(path.len().saturating_sub(NAME_LIMIT_BYTES));
        let QueryNames { terms, found, .. } = self;
        found.fill(false);
        analyser.analyse(path.get(start..).unwrap_or_default(), |term, _| {
            let at = terms.iter().position(|(of_query, _)| of_query == term);
            if let Some(found) = at.and_then(|at| found.get_mut(at)) {
                *found = true;
            }
        });
        let found = terms.iter().zip(found.iter()).filter(|(_, found)| **found);
        let weight: f32 = found.map(|((_, weight), _)| weight).sum();
        (weight / self.total).min(1.0)
    }

    /// How much a name says about the query, 0..1: the share of the query's terms, by weight, that the name
    /// has, times the root of the share of the name's words that the query has. 1 for a query that is the
    /// name.
    pub(super) fn share(&mut self, name: &str, analyser: &mut Analyser) -> f32 {
        if name.len() > NAME_LIMIT_BYTES {
            return 0.0;
        }
        let QueryNames {
            terms,
            total,
            found,
            words,
        } = self;
        found.fill(false);
        words.clear();
        analyser.analyse(name, |term, range| {
            if words
                .last()
                .is_some_and(|(_, before)| is_part_of(&range, before))
            {
                words.pop();
            }
            let mut of_query = terms.iter();
            let at = of_query.position(|(of_query, weight)| *weight > 0.0 && of_query == term);
            if let Some(found) = at.and_then(|at| found.get_mut(at)) {
                *found = true;
            }
            words.push((at.is_some(), range));
        });
        let weights = terms.iter().zip(found.iter());
        let weight: f32 = weights
            .filter(|(_, found)| **found)
            .map(|((_, weight), _)| weight)
            .sum();
        let known = words.iter().filter(|(is_known, _)| *is_known).count();
        let share = known as f32 / words.len().max(1) as f32;
        if share < LEAST_SHARE {
            return 0.0;
        }
        (weight / *total).min(1.0) * share.sqrt()
    }
}

/// Whether a term belongs to a part of the identifier whose term came before it. The parts take the place of the
/// identifier wherever words are counted or paired.
pub(super) fn is_part_of(term: &Range<usize>, before: &Range<usize>) -> bool {
    before.start <= term.start && term.end <= before.end && before != term
}

/// The name of a file without extension; where that is the same in every folder, the name of the folder.
pub(super) fn name_of_file(path: &str) -> &str {
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
        let terms = terms
            .iter()
            .map(|(term, weight)| ((*term).to_owned(), *weight));
        QueryNames::of_terms(terms.collect()).unwrap()
    }

    fn share(query: &QueryNames, name: &str) -> f32 {
        let terms = query.terms.clone();
        let mut query = QueryNames::of_terms(terms).unwrap();
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
    fn stems_of_words_match() {
        let asked = query(&[("request", 1.0), ("generat", 1.0)]);
        assert!(share(&asked, "generatingRequests") == 1.0);
    }
}
