//! Words that are one edit away from a word.

/// Letters that an edit may bring in.
const LETTERS: std::ops::RangeInclusive<u8> = b'a'..=b'z';

/// Calls `each` with the words that are one edit away from a word of small letters `a` to `z`: a letter left out, added
/// or replaced, or two neighbours in the other order. The first letter stays, unless it is one too many or changed
/// places with the second. Some come more than once, also the word itself. Calls nothing for other words.
///
/// # Errors
/// Those of `each`.
pub(super) fn for_each<E>(
    word: &str,
    mut each: impl FnMut(&str) -> Result<(), E>,
) -> Result<(), E> {
    if !is_plain(word) {
        return Ok(());
    }
    let mut changed = String::with_capacity(word.len() + 1);
    let mut call = |before: &str, between: &[u8], after: &str| {
        changed.clear();
        changed.push_str(before);
        changed.extend(between.iter().map(|letter| char::from(*letter)));
        changed.push_str(after);
        each(&changed)
    };
    for at in 0..=word.len() {
        let (before, after) = word.split_at(at);
        let mut rest = after.bytes();
        if let Some(letter) = rest.next() {
            let behind = after.get(1..).unwrap_or_default();
            call(before, &[], behind)?;
            if let Some(next) = rest.next() {
                call(before, &[next, letter], behind.get(1..).unwrap_or_default())?;
            }
            for letter in LETTERS.filter(|_| at > 0) {
                call(before, &[letter], behind)?;
            }
        }
        for letter in LETTERS.filter(|_| at > 0) {
            call(before, &[letter], after)?;
        }
    }
    Ok(())
}

/// Whether a word has small letters `a` to `z` only.
pub(super) fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use kb_types::edit_distance;

    use super::*;

    fn edits(word: &str) -> Vec<String> {
        let mut found = Vec::new();
        for_each(word, |word| {
            found.push(word.to_owned());
            Ok::<(), ()>(())
        })
        .unwrap();
        found
    }

    #[test]
    fn every_word_at_one_edit_with_the_same_first_letter_is_there() {
        let of_word = edits("tide");
        for (word, is_there) in [
            ("tid", true),
            ("ide", true),
            ("itde", true),
            ("tied", true),
            ("tidy", true),
            ("tides", true),
            ("tiide", true),
            ("ride", false),
            ("stide", false),
            ("toad", false),
        ] {
            assert_eq!(of_word.iter().any(|one| one == word), is_there, "{word}");
        }
        assert!(of_word.iter().all(|word| edit_distance(word, "tide") <= 1));
    }

    #[test]
    fn words_of_other_letters_have_none() {
        for word in ["", "Tide", "t\u{ed}de", "tide1"] {
            let plain = word.is_empty();
            assert_eq!(is_plain(word), plain, "{word}");
            assert!(edits(word).iter().all(String::is_empty), "{word}");
        }
    }
}
