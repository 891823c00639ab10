//! Compounds of German, Dutch and the Scandinavian languages: a word that no document has may be part of words that
//! documents have, or consist of such words.
//!
//! Stems of these languages are terms of their own, so compounds are looked for in documents of the language alone, and
//! a file without such documents costs a look at its dictionary.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use kb_types::error::Result;

use crate::index::keyword::{Analyser, Language};
use crate::search::query::phrase::RowText;
use crate::search::query::term_chunks::{chunks_of, rows_of};
use crate::search::sources::Sources;

/// Fewest letters of a word that stands at the beginning or end of compounds, and of one within them.
// `rand` is in `Brandung`.
const LEAST_LETTERS: usize = 4;
const LEAST_INNER_LETTERS: usize = 6;

/// Fewest letters of the rest of a compound: shorter ones are prefixes such as `un` and `ge`, and endings.
const LEAST_REST: usize = 3;

/// Fewest letters of a part of a word, and of the last part where the rest is unknown.
const LEAST_PART: usize = 3;
const LEAST_HEAD: usize = 6;

/// Fewest letters of the stem of the last part: `sch` is that of an ending.
const LEAST_LAST_STEM: usize = 4;

/// Longest word that is taken apart, in letters. Each beginning and end of it is looked up.
const MOST_LETTERS: usize = 48;

/// Stems that are compared, in all segments.
// 0.05 us each, so 5 ms. A text of 10 million words in German has 200,000.
const MOST_STEMS: usize = 100_000;

/// Compounds that take the place of a word.
const MOST_COMPOUNDS: usize = 3;

/// Compounds whose words are read in a text.
const MOST_READ: usize = 6;

/// Letters between the parts of a compound; none first.
const LINKS: [&str; 8] = ["", "s", "es", "n", "en", "er", "e", "ens"];

/// Where a compound has a word; what it is about comes last, so compounds that end with it are nearest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    End,
    Beginning,
    Inside,
}

/// The languages with compounds that a file has documents of.
pub(super) fn languages(sources: &Sources<'_>) -> Result<Vec<Language>> {
    let mut found = Vec::new();
    for language in Language::all().filter(|language| language.has_compounds()) {
        for segment in sources.keyword_segments()? {
            if segment.reader.has_stems(language)? {
                found.push(language);
                break;
            }
        }
    }
    Ok(found)
}

/// Compounds in the documents that have a word in them, as they are written, the nearest and most frequent first.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(super) fn with_part(
    lower: &str,
    languages: &[Language],
    sources: &Sources<'_>,
    analyser: &mut Analyser,
) -> Result<Vec<String>> {
    let segments = sources.keyword_segments()?;
    let mut compounds: Vec<(Place, Reverse<u64>, String)> = Vec::new();
    let mut left = MOST_STEMS;
    for language in languages {
        let part = Part::new(lower, *language);
        let mut stems: Vec<(Place, String)> = Vec::new();
        for segment in &segments {
            sources.tick()?;
            segment.reader.each_stem(*language, |stem| {
                if left == 0 {
                    return ControlFlow::Break(());
                }
                left -= 1;
                stems.extend(part.place_in(stem).map(|place| (place, stem.to_owned())));
                ControlFlow::Continue(())
            })?;
        }
        stems.sort();
        stems.dedup();
        for (place, stem) in stems {
            // `hard` is in `Richard`, and no compound: the rest must be a word, too.
            let rest = part.rest_of_short(place, &stem);
            if !rest.is_empty() && !any_is_known(&rest, *language, sources)? {
                continue;
            }
            let term = [language.marker(), stem].concat();
            compounds.push((place, Reverse(chunks_of(&term, &segments)?), term));
        }
    }
    compounds.sort();
    let mut texts = RowText::new(sources);
    let mut written: Vec<String> = Vec::new();
    for (.., term) in compounds.iter().take(MOST_READ) {
        let Some(language) = Language::of_term(term) else {
            continue;
        };
        let stemmer = language.stemmer();
        let (mut own, mut found) = (String::new(), None);
        for address in rows_of(term, sources)? {
            let text = texts.of(address)?;
            analyser.analyse(text, |_, range| {
                let word = text.get(range).unwrap_or_default();
                if found.is_none() && word.chars().all(char::is_alphabetic) {
                    language.term(&stemmer, &word.to_lowercase(), &mut own);
                    found = (own == *term).then(|| word.to_owned());
                }
            });
        }
        written.extend(found.filter(|word| !written.contains(word)));
        if written.len() >= MOST_COMPOUNDS {
            break;
        }
    }
    Ok(written)
}

/// Whether documents have one of some words of a language.
fn any_is_known(words: &[String], language: Language, sources: &Sources<'_>) -> Result<bool> {
    let segments = sources.keyword_segments()?;
    let (stemmer, mut term) = (language.stemmer(), String::new());
    for word in words {
        language.term(&stemmer, word, &mut term);
        if chunks_of(&term, &segments)? > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A word as it stands in compounds.
struct Part {
    /// All of it, as stemmers write letters.
    word: String,
    /// Its stem: at the end of a compound it has the ending of the compound.
    stem: String,
}

impl Part {
    fn new(lower: &str, language: Language) -> Part {
        let mut term = String::new();
        language.term(&language.stemmer(), lower, &mut term);
        let stem = term.strip_prefix(language.marker().as_str());
        let is_folded = language.folds_umlauts();
        let letters = lower.chars().map(|letter| match letter {
            '\u{e4}' if is_folded => 'a',
            '\u{f6}' if is_folded => 'o',
            '\u{fc}' if is_folded => 'u',
            other => other,
        });
        Part {
            word: letters.collect::<String>().replace('\u{df}', "ss"),
            stem: stem.unwrap_or_default().to_owned(),
        }
    }

    /// What the rest of a compound may be without a link, where so short a word may be in it by chance. Empty for longer
    /// words.
    fn rest_of_short(&self, place: Place, compound: &str) -> Vec<String> {
        let is_short = |text: &str| text.chars().count() < LEAST_INNER_LETTERS;
        let rests: Vec<Option<&str>> = match place {
            Place::End if is_short(&self.stem) => {
                let rest = compound.strip_suffix(self.stem.as_str());
                let rest = rest.unwrap_or_default();
                LINKS.iter().map(|link| rest.strip_suffix(link)).collect()
            }
            Place::Beginning if is_short(&self.word) => {
                let rest = compound.strip_prefix(self.word.as_str());
                let rest = rest.unwrap_or_default();
                LINKS.iter().map(|link| rest.strip_prefix(link)).collect()
            }
            _ => Vec::new(),
        };
        let is_part = |rest: &&str| rest.chars().count() >= LEAST_PART;
        let rests = rests.into_iter().flatten().filter(is_part);
        rests.map(str::to_owned).collect()
    }

    /// Where the stem of a compound has the word.
    fn place_in(&self, compound: &str) -> Option<Place> {
        let letters = |text: &str| text.chars().count();
        let is_rest = |rest: &str| letters(rest) >= LEAST_REST;
        if letters(&self.stem) < LEAST_LETTERS {
            return None;
        }
        if let Some(before) = compound.strip_suffix(self.stem.as_str()) {
            return is_rest(before).then_some(Place::End);
        }
        let at = compound.find(self.word.as_str())?;
        let (before, from) = compound.split_at_checked(at)?;
        let after = from.get(self.word.len()..)?;
        match (before.is_empty(), is_rest(after)) {
            (true, true) => Some(Place::Beginning),
            (false, true) if is_rest(before) && letters(&self.word) >= LEAST_INNER_LETTERS => {
                Some(Place::Inside)
            }
            _ => None,
        }
    }
}

/// The words of the documents that a word consists of, in one of some languages; the last one alone where only that is
/// known and the query `is_told` to be in such a language. Empty where there are none.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(super) fn parts_of(
    lower: &str,
    (languages, is_told): (&[Language], bool),
    sources: &Sources<'_>,
) -> Result<Vec<String>> {
    let mut ends: Vec<usize> = lower.char_indices().map(|(at, _)| at).collect();
    ends.push(lower.len());
    let letters = ends.len().saturating_sub(1);
    if !(LEAST_LETTERS + LEAST_PART..=MOST_LETTERS).contains(&letters) {
        return Ok(Vec::new());
    }
    let segments = sources.keyword_segments()?;
    let mut term = String::new();
    let stemmers: Vec<_> = languages.iter().map(|it| (*it, it.stemmer())).collect();
    let mut is_known = |part: &str, least_stem: usize| -> Result<bool> {
        for (language, stemmer) in &stemmers {
            language.term(stemmer, part, &mut term);
            let stem = term.strip_prefix(language.marker().as_str());
            let letters = stem.unwrap_or_default().chars().count();
            if letters >= least_stem && chunks_of(&term, &segments)? > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    };
    // The parts of each beginning of the word, the fewest, of which the shortest is longest.
    let mut best: Vec<Option<Vec<&str>>> = vec![None; letters + 1];
    if let Some(first) = best.first_mut() {
        *first = Some(Vec::new());
    }
    let rank = |parts: &[&str]| (parts.len(), Reverse(parts.iter().map(|it| it.len()).min()));
    for end in LEAST_PART..=letters {
        for start in 0..=end - LEAST_PART {
            let Some(before) = best.get(start).cloned().flatten() else {
                continue;
            };
            let range = ends.get(start).zip(ends.get(end));
            let part = range.and_then(|(from, to)| lower.get(*from..*to));
            let Some(part) = part.filter(|part| part.len() < lower.len()) else {
                continue;
            };
            // A link stands between two parts.
            let (links, least_stem) = if end < letters {
                (&LINKS[..], 1)
            } else {
                (&LINKS[..1], LEAST_LAST_STEM)
            };
            for link in links {
                let Some(own) = part.strip_suffix(link) else {
                    continue;
                };
                if own.chars().count() < LEAST_PART || !is_known(own, least_stem)? {
                    continue;
                }
                let parts: Vec<&str> = before.iter().copied().chain([own]).collect();
                if let Some(slot) = best.get_mut(end)
                    && slot.as_ref().is_none_or(|known| rank(&parts) < rank(known))
                {
                    *slot = Some(parts);
                }
                break;
            }
        }
    }
    if let Some(parts) = best.pop().flatten() {
        return Ok(parts.into_iter().map(str::to_owned).collect());
    }
    if is_told {
        let heads = ends.iter().skip(LEAST_REST);
        let heads = heads.take(letters.saturating_sub(LEAST_REST + LEAST_HEAD - 1));
        for at in heads {
            let head = lower.get(*at..).unwrap_or_default();
            if is_known(head, LEAST_LAST_STEM)? {
                return Ok(vec![head.to_owned()]);
            }
        }
    }
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kb::{Kb, KbWriter};
    use crate::search::Request;

    const GERMAN: &str = "Die Fischer bringen ihre Boote am Abend in den Hafen zur\u{fc}ck. Am Morgen verkaufen sie auf dem \
        Markt, was sie in der Nacht gefangen haben. Bei Sturm bleiben alle H\u{e4}user am Ufer geschlossen. ";
    const DUTCH: &str = "De vissers brengen hun boten 's avonds terug naar de haven en verkopen op de markt wat zij in de nacht \
        hebben gevangen. Bij storm blijven alle huizen aan de oever gesloten. ";
    const SWEDISH: &str = "Fiskarna tar sina b\u{e5}tar tillbaka till hamnen p\u{e5} kv\u{e4}llen och s\u{e4}ljer p\u{e5} torget vad de har \
        f\u{e5}ngat under natten. Vid storm \u{e4}r alla hus vid stranden st\u{e4}ngda. ";

    fn kb(documents: &[(&str, String)]) -> (tempfile::TempDir, Kb) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        for (name, text) in documents {
            writer.add_bytes(name, text.as_bytes()).unwrap();
        }
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        (folder, kb)
    }

    /// What a query is searched as, and the first document.
    fn searched(kb: &Kb, query: &str) -> (Vec<String>, Option<String>) {
        let found = kb.search(&Request::new(query)).unwrap();
        let words = found.corrections.iter().map(|it| it.to.clone()).collect();
        (words, found.hits.first().map(|hit| hit.document.clone()))
    }

    #[test]
    fn a_word_finds_compounds_and_a_compound_its_parts() {
        let of = |text: &str| format!("{GERMAN}{text}");
        let (_folder, kb) = kb(&[
            (
                "kranken.md",
                of("Der Krankenversicherungsbeitrag steigt, sagt Richard."),
            ),
            ("rente.md", of("Die Rentenversicherung zahlt im Alter.")),
            (
                "ordnung.md",
                of("In der Pr\u{fc}fungsordnung steht die Frist."),
            ),
            (
                "beitrag.md",
                of("Der Beitrag und die Pflicht sind bekannt."),
            ),
            (
                "dutch.md",
                format!("{DUTCH}De zorgverzekering wordt duurder."),
            ),
            (
                "swedish.md",
                format!("{SWEDISH}Sjukf\u{f6}rs\u{e4}kringen betalar."),
            ),
            (
                "english.md",
                "The upshot of the gearbox is a rebate in the ledger.".to_owned(),
            ),
        ]);
        for (query, words, document) in [
            // The word is what the compound is about.
            (
                "Versicherung",
                "Rentenversicherung Krankenversicherungsbeitrag",
                "kranken.md",
            ),
            ("Pr\u{fc}fung", "Pr\u{fc}fungsordnung", "ordnung.md"),
            (
                "was zahlt die Versicherung im Alter",
                "Rentenversicherung Krankenversicherungsbeitrag",
                "rente.md",
            ),
            ("Beitragspflicht", "beitrags pflicht", "beitrag.md"),
            ("verzekering", "zorgverzekering", "dutch.md"),
            (
                "f\u{f6}rs\u{e4}kring",
                "Sjukf\u{f6}rs\u{e4}kringen",
                "swedish.md",
            ),
        ] {
            let found = searched(&kb, query);
            assert_eq!(
                found,
                (vec![words.to_owned()], Some(document.to_owned())),
                "{query}"
            );
            let exact = kb.search(&Request::new(query).exact(true)).unwrap();
            assert!(exact.corrections.is_empty(), "{query}");
        }
        // A word that a document has, parts that are none, and an English question.
        for query in [
            "Beitrag",
            "xyzzyordnxng",
            // In `Richard`, and at the end of no word.
            "harder",
            "what is the alter of the gear",
        ] {
            assert_eq!(searched(&kb, query).0, [""; 0], "{query}");
        }
    }

    #[test]
    fn english_documents_have_no_compounds() {
        let text = "The gearbox of the lighthouse was repaired by the blacksmith of the harbour.";
        let (_folder, kb) = kb(&[("a.md", text.to_owned())]);
        for query in ["gear", "smith", "harbourlighthouse"] {
            assert_eq!(searched(&kb, query).0, [""; 0], "{query}");
        }
    }

    #[test]
    fn places_of_a_part_are_told() {
        let german = Language::all()
            .find(|it| it.marker().ends_with("de"))
            .unwrap();
        let part = |word: &str| Part::new(word, german);
        for (word, compound, place) in [
            ("versicherung", "krankenversicher", Some(Place::End)),
            (
                "versicherung",
                "versicherungsbeitrag",
                Some(Place::Beginning),
            ),
            (
                "versicherung",
                "krankenversicherungsbeitrag",
                Some(Place::Inside),
            ),
            ("pr\u{fc}fung", "abschlussprufungsordn", Some(Place::Inside)),
            // Prefixes, endings, and short words within others.
            ("recht", "unrecht", None),
            ("haus", "hausen", None),
            ("rand", "brandungstal", None),
            ("rat", "beirat", None),
            ("beitrag", "beitrag", None),
        ] {
            assert_eq!(part(word).place_in(compound), place, "{word} {compound}");
        }
    }
}
