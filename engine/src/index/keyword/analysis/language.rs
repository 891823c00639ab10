//! The language of prose, and the stems of its words.
//!
//! A stem of another language than English is a term of its own, which no word equals: a control character, the code
//! of the language, the stem. So a stemmer of German cannot touch an English word. A chunk with such terms also has
//! [`MARKER`].

use rust_stemmers::{Algorithm, Stemmer};
use whatlang::Lang;

/// The term of all chunks whose words have stems of another language than English.
pub(crate) const MARKER: &str = "\u{2}";

/// Bytes of a text from which its language is told.
// whatlang counts runs of three letters. Of texts of three sentences, some 450 bytes, it tells the language of all but 3 in
// 1,000 (xquadr, eleven languages). Reading more costs time in proportion.
const SAMPLE_BYTES: usize = 1024;

/// A language with a stemmer, and the code in its terms (ISO 639-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Language {
    lang: Lang,
    code: &'static str,
}

/// The languages of rust-stemmers that whatlang tells, but for English.
const LANGUAGES: [Language; 17] = [
    language(Lang::Ara, "ar"),
    language(Lang::Dan, "da"),
    language(Lang::Deu, "de"),
    language(Lang::Ell, "el"),
    language(Lang::Fin, "fi"),
    language(Lang::Fra, "fr"),
    language(Lang::Hun, "hu"),
    language(Lang::Ita, "it"),
    language(Lang::Nld, "nl"),
    language(Lang::Nob, "no"),
    language(Lang::Por, "pt"),
    language(Lang::Ron, "ro"),
    language(Lang::Rus, "ru"),
    language(Lang::Spa, "es"),
    language(Lang::Swe, "sv"),
    language(Lang::Tam, "ta"),
    language(Lang::Tur, "tr"),
];

const fn language(lang: Lang, code: &'static str) -> Language {
    Language { lang, code }
}

impl Language {
    /// All languages with a stemmer of their own.
    pub(crate) fn all() -> impl Iterator<Item = Language> {
        LANGUAGES.into_iter()
    }

    /// The language of a document, by its first bytes; `None` for English, for one without a stemmer, and where the guess
    /// is not reliable.
    // Lists of names and of files are like the oddest languages, and none of those of five repositories is reliable; of
    // texts of three sentences in ten languages 0.99 are.
    pub fn of_document(text: &str) -> Option<Language> {
        let sample = text.get(..text.floor_char_boundary(SAMPLE_BYTES))?;
        let found = whatlang::detect(sample)?;
        Language::of(found.lang()).filter(|_| found.is_reliable())
    }

    /// The language that a query is likely in. A wrong guess costs little: words that the language does not have
    /// are no terms of the file.
    pub(crate) fn of_query(text: &str) -> Option<Language> {
        Language::of(whatlang::detect(text)?.lang())
    }

    fn of(lang: Lang) -> Option<Language> {
        Language::all().find(|language| language.lang == lang)
    }

    /// The language of a term with a stem.
    pub(crate) fn of_term(term: &str) -> Option<Language> {
        let rest = term.strip_prefix(MARKER)?;
        Language::all().find(|language| rest.starts_with(language.code))
    }

    /// Whether it writes the parts of a compound as one word.
    pub(crate) fn has_compounds(self) -> bool {
        matches!(
            self.lang,
            Lang::Dan | Lang::Deu | Lang::Nld | Lang::Nob | Lang::Swe
        )
    }

    /// Whether its stems have `a` for an umlaut of `a`.
    pub(crate) fn folds_umlauts(self) -> bool {
        self.lang == Lang::Deu
    }

    /// What all terms with its stems begin with.
    pub(crate) fn marker(self) -> String {
        [MARKER, self.code].concat()
    }

    pub(crate) fn stemmer(self) -> Stemmer {
        Stemmer::create(match self.lang {
            Lang::Ara => Algorithm::Arabic,
            Lang::Dan => Algorithm::Danish,
            Lang::Deu => Algorithm::German,
            Lang::Ell => Algorithm::Greek,
            Lang::Fin => Algorithm::Finnish,
            Lang::Fra => Algorithm::French,
            Lang::Hun => Algorithm::Hungarian,
            Lang::Ita => Algorithm::Italian,
            Lang::Nld => Algorithm::Dutch,
            Lang::Nob => Algorithm::Norwegian,
            Lang::Por => Algorithm::Portuguese,
            Lang::Ron => Algorithm::Romanian,
            Lang::Rus => Algorithm::Russian,
            Lang::Spa => Algorithm::Spanish,
            Lang::Swe => Algorithm::Swedish,
            Lang::Tam => Algorithm::Tamil,
            Lang::Tur => Algorithm::Turkish,
            _ => Algorithm::English,
        })
    }

    /// Replaces `term` with the term of a lower-case word.
    pub(crate) fn term(self, stemmer: &Stemmer, lower: &str, term: &mut String) {
        term.clear();
        term.push_str(MARKER);
        term.push_str(self.code);
        term.push_str(&stemmer.stem(lower));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Option<&'static str> {
        Language::of_document(text).map(|language| language.code)
    }

    #[test]
    fn prose_has_a_language() {
        let german = "Die Fischer bringen ihre Boote am Abend in den Hafen zur\u{fc}ck. Am Morgen verkaufen sie auf dem Markt, \
            was sie in der Nacht gefangen haben. Bei Sturm bleiben alle H\u{e4}user am Ufer geschlossen.";
        assert_eq!(code(german), Some("de"));
        let russian = "\u{420}\u{44b}\u{431}\u{430}\u{43a}\u{438} \u{432}\u{43e}\u{437}\u{432}\u{440}\u{430}\u{449}\u{430}\u{44e}\u{442}\u{441}\u{44f} \
            \u{432} \u{433}\u{430}\u{432}\u{430}\u{43d}\u{44c} \u{432}\u{435}\u{447}\u{435}\u{440}\u{43e}\u{43c}";
        assert_eq!(code(&russian.repeat(3)), Some("ru"));
        let english = "The fishermen bring their boats back to the harbour in the evening. In the morning they sell on the \
            market what they caught during the night.";
        assert_eq!(code(english), None);
        assert_eq!(code(""), None);
        assert_eq!(code("# Notes"), None);
        let names = "Ryan Dahl <ry@example.org>\nBen Noordhuis <info@example.nl>\nBert Belder <bert@example.com>\n\
            Henry Rawas <henry@example.com>\nJosh Roesslein <josh@example.com>\nAlan Gutierrez <alan@example.com>\n";
        assert_eq!(code(names), None);
    }

    #[test]
    fn a_stem_of_a_language_is_a_term_of_its_own() {
        let german = Language::of(Lang::Deu).expect("German");
        let mut term = String::new();
        german.term(&german.stemmer(), "h\u{e4}usern", &mut term);
        assert_eq!(term, "\u{2}dehaus");
        assert_eq!(Language::of_term(&term), Some(german));
        assert_eq!(Language::of_term("dehaus"), None);
        assert!(Language::all().all(|language| language.code.len() == 2));
    }
}
