//! Names of symbols as people ask for them: whole, or with `*` and `?`.

use std::fmt;

/// A name, or a pattern of names, without regard to case: `*` is any number of characters, `?` one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern {
    /// As it was asked for.
    text: String,
    /// In lower case.
    chars: Vec<char>,
    /// What all names begin with, in lower case.
    prefix: String,
}

/// Bytes of a pattern.
// As long as the longest name in a symbol term. Matching takes time with the product of pattern and
// name.
pub(crate) const MAX_PATTERN_BYTES: usize = 200;

impl NamePattern {
    /// `None` for a text that is empty, or longer than 200 bytes: as long as names are.
    pub fn new(text: &str) -> Option<NamePattern> {
        let text = text.trim();
        if text.is_empty() || text.len() > MAX_PATTERN_BYTES {
            return None;
        }
        let chars: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
        let prefix = chars.iter().take_while(|c| !is_wildcard(**c)).collect();
        Some(NamePattern {
            text: text.to_owned(),
            chars,
            prefix,
        })
    }

    /// Whether it has no wildcard.
    pub fn is_name(&self) -> bool {
        self.prefix.chars().count() == self.chars.len()
    }

    /// What all names begin with, in lower case.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether a name matches, in any case.
    pub fn matches(&self, name: &str) -> bool {
        let lower: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
        self.matches_chars(&lower)
    }

    /// Whether a name in lower case matches. Takes at most the product of both lengths.
    pub fn matches_lower_case(&self, name: &str) -> bool {
        if !name.starts_with(&self.prefix) {
            return false;
        }
        self.is_name() && name.len() == self.prefix.len()
            || self.matches_chars(&name.chars().collect::<Vec<char>>())
    }

    fn matches_chars(&self, name: &[char]) -> bool {
        let (mut at, mut from) = (0, 0);
        // Where to go on after the last `*`, which takes one character more each time.
        let mut star: Option<(usize, usize)> = None;
        while let Some(c) = name.get(from) {
            match self.chars.get(at) {
                Some('*') => {
                    star = Some((at + 1, from));
                    at += 1;
                }
                Some(wanted) if *wanted == '?' || wanted == c => {
                    at += 1;
                    from += 1;
                }
                _ => match &mut star {
                    Some((behind, taken)) => {
                        *taken += 1;
                        (at, from) = (*behind, *taken);
                    }
                    None => return false,
                },
            }
        }
        let mut rest = self.chars.iter().skip(at);
        rest.all(|c| *c == '*')
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn is_wildcard(c: char) -> bool {
    matches!(c, '*' | '?')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same by trying all.
    fn is_match(pattern: &[char], name: &[char]) -> bool {
        match (pattern, name) {
            ([], []) => true,
            (['*', rest @ ..], _) => {
                is_match(rest, name) || !name.is_empty() && is_match(pattern, &name[1..])
            }
            (['?', rest @ ..], [_, others @ ..]) => is_match(rest, others),
            ([c, rest @ ..], [first, others @ ..]) => c == first && is_match(rest, others),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn patterns_match_as_when_all_is_tried(pattern in "[ab*?]{1,7}", name in "[ab]{0,9}") {
            let chars = |text: &str| text.chars().collect::<Vec<char>>();
            let expected = is_match(&chars(&pattern), &chars(&name));
            let pattern = NamePattern::new(&pattern).unwrap();
            prop_assert_eq!(pattern.matches(&name), expected);
            prop_assert_eq!(pattern.matches_lower_case(&name), expected);
            prop_assert_eq!(pattern.matches(&name.to_uppercase()), expected);
        }
    }

    #[test]
    fn empty_and_endless_patterns_are_none() {
        assert_eq!(NamePattern::new("  "), None);
        assert_eq!(NamePattern::new(&"a".repeat(MAX_PATTERN_BYTES + 1)), None);
        let pattern = NamePattern::new(" *Handler ").unwrap();
        assert!(pattern.matches("HTTPHandler") && !pattern.matches("Handlers"));
        assert_eq!((pattern.prefix(), pattern.is_name()), ("", false));
    }
}
