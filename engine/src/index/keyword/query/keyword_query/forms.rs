//! The forms of the words of a query: as they are written, without marks, and stems of other languages than English.

use std::ops::ControlFlow;

use kb_types::error::Result;

use super::query_term::{QuerySegment, QueryTerm};
use super::searched::{self, LOOKED_UP_TERMS, SEARCHED_TERMS};
use crate::index::keyword::analysis::joined_words::is_joined;
use crate::index::keyword::analysis::language::{Language, MARKER};
use crate::index::keyword::analysis::tokenizer::{Analyser, is_stemmed};
use crate::index::keyword::postings::dictionary::for_each_term_from;

/// The words of a query.
pub(super) struct QueryWords {
    /// Distinct terms in the order of their first occurrence, and those of further forms.
    pub(super) terms: Vec<QueryTerm>,
    /// The terms of other forms of a word, each with the term of the form that is written; those of one word side by
    /// side.
    pub(super) forms: Vec<(usize, usize)>,
}

impl QueryWords {
    /// The words of `text`, weighted as by [`super::Query::weighted`].
    ///
    /// # Errors
    /// As [`super::Query::weighted`].
    pub(super) fn new(
        analyser: &mut Analyser,
        text: &str,
        segments: &[QuerySegment<'_>],
        mut word_weight: impl FnMut(&str) -> f32,
    ) -> Result<QueryWords> {
        let mut terms: Vec<QueryTerm> = Vec::new();
        let mut seen = rustc_hash::FxHashMap::default();
        // The terms of other forms of a word, each with the term of the form that is written.
        let mut forms: Vec<(usize, usize)> = Vec::new();
        let mut written = 0;
        // Words without signs and parts, each with its term.
        let mut words: Vec<(String, usize)> = Vec::new();
        analyser.analyse_words(text, |word, term, is_folded| {
            let next = terms.len();
            let at = match seen.get(term) {
                Some(at) => *at,
                None => {
                    seen.insert(term.to_owned(), next);
                    terms.push(QueryTerm {
                        term: term.to_owned(),
                        times: 0,
                        form_of: None,
                        word_weight: 0.0,
                        weight: 0.0,
                        chunks: 0,
                        idf: 0.0,
                    });
                    next
                }
            };
            if !is_folded {
                written = at;
                // Who writes both forms seeks both.
                forms.retain(|(form, _)| *form != at);
                let lower = word.to_lowercase();
                if is_stemmed(&lower) && words.iter().all(|(_, known)| *known != at) {
                    words.push((lower, at));
                }
            } else if at == next {
                forms.push((at, written));
            }
            if let Some(term) = terms.get_mut(at) {
                term.times += 1;
                // The sum for now. `C#` names something, however little the model knows of `c`.
                term.weight += if is_joined(word) {
                    1.0
                } else {
                    word_weight(word)
                };
            }
        });
        for term in &mut terms {
            term.weight /= term.times as f32;
            term.word_weight = term.weight;
        }
        for (form, written) in forms {
            if let Some(term) = terms.get_mut(form) {
                term.form_of = Some(written);
            }
        }
        // Before anything is known of the file: what a word weighs by itself.
        let weight = |term: &QueryTerm| Some(term.weight * term.times as f32);
        if let Some(places) = searched::places(&terms, LOOKED_UP_TERMS, weight) {
            terms = searched::kept(terms, &places);
            let words_at = words.into_iter();
            let words_at = words_at.filter_map(|(word, at)| Some((word, places.of(at)?)));
            words = words_at.collect();
        }
        for (at, term) in stems(text, &words, &terms, segments)? {
            let Some((weight, times)) = terms.get(at).map(|term| (term.weight, term.times)) else {
                continue;
            };
            terms.push(QueryTerm {
                term,
                times,
                form_of: Some(at),
                word_weight: weight,
                weight,
                chunks: 0,
                idf: 0.0,
            });
        }
        let numbered = terms.iter().enumerate();
        let mut forms: Vec<(usize, usize)> = numbered
            .filter_map(|(at, term)| Some((at, term.form_of?)))
            .collect();
        // Those of one word side by side.
        forms.sort_by_key(|(_, written)| *written);
        Ok(QueryWords { terms, forms })
    }
}

/// Share of the weight of a word that its forms without marks have together.
// `K\u{f6}ln` and `Koln` are one word, so they have the weight of one; the exact form comes first. With 0.5 of the
// weight nDCG@10 of Vietnamese, where marks tell words apart, falls by 0.014, with 0.1 by less than 0.005 (xquadr).
const FOLDED_SHARE: f32 = 0.1;

/// Share of the weight of a word that its stem in another language than English has.
// nDCG@10 of xquadr, mean of eleven languages: 0.731 without stems, 0.753, 0.763 and 0.767 with 0.3, 0.5 and 0.7.
const STEM_SHARE: f32 = 0.7;

/// Bytes of a long query that its language is told by.
const TOLD_BY_BYTES: usize = 1000;

/// The stems of the words of a query that the segments have, each with the index of the term of its word: in the
/// language of the query, and in all languages for a word that no segment has. In a long query, whose language can be
/// told, only in that. Most queries have neither, and cost a look-up a word and telling the language.
fn stems(
    text: &str,
    words: &[(String, usize)],
    terms: &[QueryTerm],
    segments: &[QuerySegment<'_>],
) -> Result<Vec<(usize, String)>> {
    let has = |term: &str| {
        let mut found = false;
        for segment in segments {
            found = found || segment.reader.postings(term)?.is_some();
        }
        Result::Ok(found)
    };
    let mut stems: Vec<(usize, String)> = Vec::new();
    if words.is_empty() || !has(MARKER)? {
        return Ok(stems);
    }
    let is_long = words.len() > SEARCHED_TERMS;
    let told_by = if is_long {
        text.get(..text.floor_char_boundary(TOLD_BY_BYTES))
    } else {
        None
    };
    let of_query = Language::of_query(told_by.unwrap_or(text));
    // Words that no segment has as they are written, in a query whose language may be told wrongly.
    let mut is_unknown = vec![false; words.len()];
    if !is_long {
        for (is_unknown, (_, at)) in is_unknown.iter_mut().zip(words) {
            *is_unknown = !has(terms.get(*at).map_or("", |term| term.term.as_str()))?;
        }
    }
    let languages = if is_unknown.contains(&true) {
        languages(segments)?
    } else {
        of_query.into_iter().collect()
    };
    let mut term = String::new();
    for language in languages {
        let stemmer = language.stemmer();
        for ((lower, at), is_unknown) in words.iter().zip(&is_unknown) {
            if !is_unknown && of_query != Some(language) {
                continue;
            }
            language.term(&stemmer, lower, &mut term);
            // Of two words with one stem the first is enough.
            let is_new = stems.iter().all(|(_, known)| *known != term);
            if is_new && has(&term)? {
                stems.push((*at, term.clone()));
            }
        }
    }
    Ok(stems)
}

/// The languages that the segments have stems of. A look-up a language and segment.
fn languages(segments: &[QuerySegment<'_>]) -> Result<Vec<Language>> {
    let mut found = Vec::new();
    for QuerySegment { reader, .. } in segments {
        // Behind the marker itself.
        let mut from = Some([MARKER.as_bytes(), &[0]].concat());
        while let Some(start) = from.take() {
            for_each_term_from(reader.parts(), &reader.dictionary(), &start, |bytes| {
                if let Some(stem) = std::str::from_utf8(bytes).ok().and_then(Language::of_term) {
                    found.push(stem);
                    // Behind all terms of the language: no byte of a text is so large.
                    from = Some([stem.marker().as_bytes(), &[u8::MAX]].concat());
                }
                ControlFlow::Break(())
            })?;
        }
    }
    let mut all: Vec<Language> = Language::all().collect();
    all.retain(|language| found.contains(language));
    Ok(all)
}

/// Divides the weight of words among their forms, each given as a term and the term of the form that is written. A
/// word that no row has as it is written is sought by its other forms.
pub(super) fn share_among_forms(terms: &mut [QueryTerm], forms: &[(usize, usize)]) {
    for same_word in forms.chunk_by(|one, other| one.1 == other.1) {
        let Some((_, written)) = same_word.first() else {
            continue;
        };
        let form = |at: usize| {
            let term = terms.get(at).filter(|term| term.chunks > 0);
            term.map(|term| Language::of_term(&term.term).is_some())
        };
        let count = |of: bool| {
            same_word
                .iter()
                .filter(|(at, _)| form(*at) == Some(of))
                .count()
        };
        let (folded, stems) = (count(false), count(true));
        let part = |share: f32, count: usize| if count > 0 { share } else { 0.0 };
        let (of_folded, of_stems) = (part(FOLDED_SHARE, folded), part(STEM_SHARE, stems));
        let others = of_folded + of_stems;
        let (of_written, scale) = match (form(*written), others > 0.0) {
            (None, true) => (0.0, 1.0 / others),
            _ => (1.0 - others, 1.0),
        };
        let weights: Vec<(usize, f32)> = same_word
            .iter()
            .map(|(at, _)| match form(*at) {
                Some(true) => (*at, scale * of_stems / stems as f32),
                Some(false) => (*at, scale * of_folded / folded as f32),
                None => (*at, 0.0),
            })
            .chain([(*written, of_written)])
            .collect();
        for (at, share) in weights {
            if let Some(term) = terms.get_mut(at) {
                term.weight = (term.weight * share).max(LEAST_WEIGHT);
            }
        }
    }
}

/// The weight of a form that adds nothing. Weights are above 0.
const LEAST_WEIGHT: f32 = 1e-4;
