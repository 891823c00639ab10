use proptest::prelude::*;

use super::*;
use crate::index::keyword::Analyser;
use crate::index::keyword::analysis::joined_words::{is_joined, runs};
use crate::index::keyword::query::phrase::MAX_PHRASE_ELEMENTS;

fn stands(phrase: &str, text: &str) -> bool {
    PhraseMatcher::new(&Phrase::new(phrase), Form::Stemmed).matches(text)
}

fn written(phrase: &str, text: &str) -> bool {
    PhraseMatcher::new(&Phrase::new(phrase), Form::Written).matches(text)
}

#[test]
fn consecutive_words_match_in_any_case_and_inflection() {
    assert!(stands("state of the art", "The State of the Arts, today"));
    assert!(!stands("state of the art", "state of art"));
    assert!(!stands("state of the art", "the art of the state"));
    assert!(stands("to be", "not to be"));
    assert!(!stands("to being", "to be"));
    assert!(stands("a b", "(a, b)"));
    assert!(stands("let x", "let _ = x;"));
    assert!(!stands("", "x") && !stands("!", "!"));
}

#[test]
fn identifiers_match_as_a_whole_or_as_parts_in_a_row() {
    for text in [
        "readFile",
        "read_file",
        "now read file",
        "sys_readFile_at",
        "read.file",
    ] {
        assert!(stands("read file", text), "{text}");
    }
    assert!(stands("readFile", "if READFILE then"));
    assert!(!stands("readFile", "read file"));
    assert!(!stands("readFile", "read_file"));
    assert!(stands("file now", "readFile now"));
    assert!(stands("try readFile now", "try readFile(now)"));
    assert!(!stands("try file now", "try readFile(now)"));
    assert!(stands("utf 8", "utf8") && stands("utf 8", "utf-8") && !stands("utf8", "utf-8"));
    assert!(stands("to string", "to_string") && stands("std::vec", "use std::vec::Vec;"));
}

#[test]
fn words_with_signs_match_as_a_whole_or_as_their_runs_in_a_row() {
    assert!(stands("C# library", "the C# library") && !stands("C# library", "the C library"));
    assert!(stands("2.10.3", "[v2.10.3]") && !stands("2.10.3", "2.10.4, 3"));
    assert!(stands("x86 64 build", "an x86-64 build") && stands("x86-64", "X86-64"));
    assert!(stands("\u{a7} 4", "see \u{a7}4.") && !stands("\u{a7} 4", "see 4"));
    assert!(stands("\u{1f680} done", "\u{1f680} done") && !stands("\u{1f680}", "\u{2705}"));
    assert!(written("C++ list", "a c++ list") && !written("C++ list", "a C list"));
    assert!(written("dry run", "with --dry-run") && written("--dry-run", "with --dry-run"));
}

#[test]
fn words_as_written_ignore_case_and_punctuation() {
    for text in [
        "the page cache is",
        "Page\nCACHE",
        "page-cache",
        "a *page* `cache`",
        "a _page cache_ and",
        "__page__ __cache__",
        "pages page page cache",
    ] {
        assert!(written("page cache", text), "{text}");
    }
    for text in [
        "PagedCachedFile",
        "pageCache",
        "page_cache",
        "pages cache",
        "page caches",
        "page the cache",
        "cache page",
        "homepage cache",
    ] {
        assert!(!written("page cache", text), "{text}");
    }
    assert!(written("caf\u{e9} au", "Cafe\u{301} AU"));
    assert!(written("readFile", "try READFILE()") && !written("readFile", "read_file"));
    assert!(written("__init__", "def __init__(self)") && !written("__init__", "def init()"));
    assert!(written("init", "def __init__(self)") && !written("get", "_getFile_"));
    assert!(written("the page", "the page") && !written("the page", "a page"));
    assert!(written("\u{4e2d}\u{6587} rust", "\u{4e2d}\u{6587}Rust"));
    assert!(!written("", "x") && !written("!", "!"));
}

#[test]
fn characters_without_spaces_match_side_by_side() {
    let text = "\u{4e2d}\u{6587}\u{5b57} rust\u{8a9e}";
    assert!(stands("\u{6587}\u{5b57}", text));
    assert!(stands("\u{6587}", text));
    assert!(stands("rust \u{8a9e}", text));
    assert!(!stands("\u{4e2d}\u{5b57}", text));
    assert!(!stands("\u{4e2d}\u{6587}", "\u{4e2d}\u{3002}\u{6587}"));
    assert!(stands("\u{4e2d} \u{6587}", "\u{4e2d}\u{6587}"));
}

#[test]
fn a_phrase_of_too_many_words_is_cut() {
    let phrase = Phrase::new(&"x ".repeat(100));
    assert_eq!((phrase.len(), phrase.is_cut()), (MAX_PHRASE_ELEMENTS, true));
    for form in [Form::Written, Form::Stemmed] {
        assert!(PhraseMatcher::new(&phrase, form).matches(&"x ".repeat(64)));
        assert!(!PhraseMatcher::new(&phrase, form).matches(&"x ".repeat(63)));
    }
}

/// The rules again, slowly: does the phrase from element `at` on stand in the words from `from`
/// on?
fn slow(phrase: &[Element], words: &[Vec<Vec<Element>>], inside: Option<usize>) -> bool {
    let Some((first, rest)) = phrase.split_first() else {
        return true;
    };
    let Some((word, after)) = words.split_first() else {
        return false;
    };
    let equal = |other: &Element| match (first, other) {
        (Element::Character(a, beside), Element::Character(b, side)) => {
            a == b && (!beside || *side)
        }
        (a, b) => a == b,
    };
    let whole = || {
        inside.is_none()
            && matches!(word[0].as_slice(), [one] if equal(one))
            && slow(rest, after, None)
    };
    let part = || {
        let parts = word.get(1)?;
        let at = inside.unwrap_or(0);
        equal(parts.get(at)?).then_some(())?;
        let (words, inside) = if at + 1 < parts.len() {
            (words, Some(at + 1))
        } else {
            (after, None)
        };
        Some(slow(rest, words, inside))
    };
    whole() || part().unwrap_or(false)
}

fn slowly(phrase: &Phrase, form: Form, text: &str) -> bool {
    let mut keys = WordNormalizer::new();
    let bare = |word: &str| Element::Bare(word.to_owned());
    let mut element = |word: &str| match form {
        Form::Written => keys.written(word).map(bare),
        Form::Stemmed => keys.of(word).map(|key| match key {
            WordKey::Term(term) => Element::Term(term.to_owned()),
            WordKey::Bare(word) => bare(word),
        }),
    };
    let mut words: Vec<Vec<Vec<Element>>> = Vec::new();
    let mut end = None;
    let mut scanner = Segmenter::new(text);
    while let Some(word) = scanner.next() {
        let bytes = std::str::from_utf8(word.bytes).unwrap();
        if word.class == CharClass::Bigram {
            for (at, c) in bytes.char_indices() {
                if end.is_none_or(|end| word.start + at >= end) {
                    let beside = end == Some(word.start + at);
                    words.push(vec![vec![Element::Character(c, beside)]]);
                    end = Some(word.start + at + c.len_utf8());
                }
            }
        } else if let Some(whole) = element(bytes) {
            let mut parts: Vec<_> = IdentifierParts::new(bytes).collect();
            // None of these texts has an identifier with signs.
            if is_joined(bytes) {
                parts = runs(bytes).collect();
            } else if form == Form::Written && parts.len() > 1 {
                parts.clear();
            }
            let parts = parts.into_iter().filter_map(|part| element(&bytes[part]));
            words.push(vec![vec![whole], parts.collect()]);
        }
    }
    let elements = phrase.elements.iter().zip(&phrase.written);
    let wanted: Vec<Element> = elements
        .map(|(element, written)| match (element, form) {
            (Element::Term(_), Form::Written) => bare(written),
            _ => element.clone(),
        })
        .collect();
    !wanted.is_empty()
        && (0..words.len()).any(|from| {
            let parts = words[from].get(1).map_or(1, Vec::len).max(1);
            (0..parts).any(|part| slow(&wanted, &words[from..], (part > 0).then_some(part)))
        })
}

fn forms() -> impl Strategy<Value = Form> {
    prop::sample::select(vec![Form::Written, Form::Stemmed])
}

const TEXTS: &str = "(the |a|The|read|reads|File|_|__|x|8| |, | 10-8 | C#| --read |\u{4e2d}|\u{6587}|\u{3002}|\u{e9}){0,14}";

proptest! {
    #[test]
    fn a_matcher_agrees_with_the_rules_said_slowly(
        phrase in TEXTS,
        texts in prop::collection::vec(TEXTS, 1..4),
        form in forms(),
    ) {
        let phrase = Phrase::new(&phrase);
        let mut matcher = PhraseMatcher::new(&phrase, form);
        for text in &texts {
            let stands = matcher.matches(text);
            prop_assert_eq!(stands, slowly(&phrase, form, text), "{:?}", text);
            prop_assert!(!stands || slowly(&phrase, Form::Stemmed, text));
        }
    }

    #[test]
    fn a_border_between_words_changes_nothing(phrase in TEXTS, first in TEXTS, second in TEXTS, form in forms()) {
        let phrase = Phrase::new(&phrase);
        let mut matcher = PhraseMatcher::new(&phrase, form);
        let (first, second) = (format!("{first} "), format!("{second} "));
        let inside = matcher.matches(&first) || matcher.matches(&second);
        let crosses = matcher.crosses(&first, &second);
        prop_assert_eq!(inside || crosses, slowly(&phrase, form, &format!("{first}{second}")));
        prop_assert!(!crosses || matcher.may_end_in(&second));
    }

    #[test]
    fn where_a_phrase_stands_the_analyser_gives_its_terms(phrase in TEXTS, text in TEXTS, form in forms()) {
        let phrase = Phrase::new(&phrase);
        if PhraseMatcher::new(&phrase, form).matches(&text) {
            let mut found = Vec::new();
            Analyser::new().analyse(&text, |term, _| found.push(term.to_owned()));
            for wanted in phrase.terms() {
                // A single character of a script without spaces is in the pairs that have it.
                let is_pair = |term: &String| {
                    let mut characters = wanted.term.chars();
                    let one = characters.next().filter(|_| characters.next().is_none());
                    term.chars().count() == 2 && one.is_some_and(|one| term.contains(one))
                };
                let is_there = found.contains(&wanted.term) || found.iter().any(is_pair);
                prop_assert!(is_there, "{:?} of {:?}", wanted, found);
            }
        }
    }

    #[test]
    fn a_term_begins_like_its_word(word in "[a-zA-Z]{1,12}(ing|ies|ied|ed|s|ly|ational|y)?") {
        let mut keys = WordNormalizer::new();
        if let Some(WordKey::Term(key) | WordKey::Bare(key)) = keys.of(&word) {
            prop_assert_eq!(&key[..1], &word[..1].to_lowercase());
        }
    }
}
