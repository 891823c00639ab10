//! Handles: short names of documents that people and programs pass on, `release-notes-k3f9qa`.
//!
//! A handle is a slug, made from the title and only for the eye, and a suffix that names the
//! document: derived from its path, so that it stays when title or text change.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Characters of a suffix: Crockford's base 32, which has no two that look alike.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Characters of a suffix that clashes with no other.
// Six characters are 30 bits: among 10,000 documents a clash has a probability of 5 %, and then the
// suffix gets longer.
pub(crate) const SUFFIX_CHARS: usize = 6;

/// Longest slug, in characters.
// A handle is shown on every hit, and models copy it; the suffix alone identifies the document.
const SLUG_CHARS: usize = 60;

/// The suffixes of a path, best first: six characters of the blake3 of the path, then one more each.
pub(crate) fn suffixes(path: &str) -> impl Iterator<Item = String> {
    let hash = blake3::hash(path.as_bytes());
    let characters: String = hash
        .as_bytes()
        .iter()
        .filter_map(|byte| ALPHABET.get(usize::from(byte % 32)))
        .map(|byte| char::from(*byte))
        .collect();
    (SUFFIX_CHARS..=characters.len())
        .map(move |len| characters.get(..len).unwrap_or_default().to_owned())
}

/// The part of a handle that tells people what it names: words of the title in lower-case ASCII,
/// joined by `-`; of the file name when the title has none.
pub(crate) fn slug(title: &str, path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    [title, stem]
        .into_iter()
        .map(slug_words)
        .find(|slug| !slug.is_empty())
        .unwrap_or_else(|| "document".to_owned())
}

fn slug_words(text: &str) -> String {
    let mut slug = String::new();
    // Accents become marks of their own, and go.
    for character in text
        .nfkd()
        .filter(|character| !is_combining_mark(*character))
    {
        if slug.len() >= SLUG_CHARS {
            break;
        }
        if character.is_ascii_alphanumeric() {
            slug.push(character.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}

/// Slug and suffix as one name.
pub(crate) fn handle(title: &str, path: &str, suffix: &str) -> String {
    format!("{}-{suffix}", slug(title, path))
}

/// The suffix of something that could be a handle.
pub(crate) fn suffix_of(handle: &str) -> Option<&str> {
    let (slug, suffix) = handle.rsplit_once('-')?;
    as_suffix(suffix).filter(|_| !slug.is_empty())
}

/// A name that may be a suffix by itself.
pub(crate) fn as_suffix(name: &str) -> Option<&str> {
    let is_suffix = name.len() >= SUFFIX_CHARS && name.bytes().all(|byte| ALPHABET.contains(&byte));
    is_suffix.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_made_of_the_words_of_the_title() {
        for (title, path, expected) in [
            ("Q1 Report", "a/b.pdf", "q1-report"),
            ("  R\u{e9}sum\u{e9} -- (final)! ", "x", "resume-final"),
            ("\u{706f}\u{53f0}", "docs/light house.md", "light-house"),
            ("\u{706f}\u{53f0}", "\u{706f}.md", "document"),
            ("", ".profile", "document"),
        ] {
            assert_eq!(slug(title, path), expected, "{title:?}");
        }
        assert!(slug(&"word ".repeat(50), "x").len() <= SLUG_CHARS);
    }

    #[test]
    fn suffixes_of_a_path_are_always_the_same_and_grow() {
        let all: Vec<String> = suffixes("docs/a.md").collect();
        assert_eq!(all, suffixes("docs/a.md").collect::<Vec<_>>());
        assert_eq!(all[0].len(), SUFFIX_CHARS);
        assert!(all.len() > 20);
        assert!(all.windows(2).all(|pair| pair[1].starts_with(&pair[0])));
        assert_ne!(suffixes("docs/b.md").next().unwrap(), all[0]);
    }

    #[test]
    fn only_what_ends_like_a_handle_has_a_suffix() {
        let suffix = suffixes("docs/a.md").next().unwrap();
        let handle = handle("Old title", "docs/a.md", &suffix);
        assert_eq!(suffix_of(&handle), Some(suffix.as_str()));
        for other in ["", "abcdef", "-abcdef", "a-abc", "a-ABCDEF", "read-me.md"] {
            assert_eq!(suffix_of(other), None, "{other}");
        }
    }
}
