//! Tags as people type them -> tags as the file keeps them.

use unicode_normalization::UnicodeNormalization;

use crate::error::{Error, Result};
use crate::ingest::prepare::limits::MAX_TAGS;

/// Characters that a tag never exceeds.
const LIMIT_CHARS: usize = 64;

/// Trimmed, lower case, NFC, ascending, no tag twice.
///
/// # Errors
/// [`Error::InvalidArgument`] for a tag that is empty, too long, or has a comma or control character.
pub(super) fn normal(tags: &[&str]) -> Result<Vec<String>> {
    let mut normal = Vec::with_capacity(tags.len());
    for tag in tags {
        let word: String = tag.trim().to_lowercase().nfc().collect();
        let refused = |character: char| character == ',' || character.is_control();
        let reason = if word.is_empty() {
            "it is empty".to_owned()
        } else if word.chars().count() > LIMIT_CHARS {
            format!("it has more than {LIMIT_CHARS} characters")
        } else if word.contains(refused) {
            "it has a comma or a control character in it".to_owned()
        } else {
            normal.push(word);
            continue;
        };
        return Err(Error::InvalidArgument {
            argument: "tag",
            reason: format!("{tag:?}: {reason}"),
        });
    }
    normal.sort();
    normal.dedup();
    Ok(normal)
}

/// `tags` with those of `add` and without those of `remove`.
///
/// # Errors
/// [`Error::TooMany`] when these are more than [`MAX_TAGS`], and more than before.
pub(super) fn changed(tags: &[String], add: &[String], remove: &[String]) -> Result<Vec<String>> {
    let mut changed: Vec<String> = tags.iter().chain(add).cloned().collect();
    changed.sort();
    changed.dedup();
    changed.retain(|tag| !remove.contains(tag));
    if changed.len() > MAX_TAGS.max(tags.len()) {
        return Err(Error::TooMany {
            what: "tags of one document",
            count: changed.len() as u64,
            limit: MAX_TAGS as u64,
        });
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_words_in_lower_case_each_once_in_order() {
        let tags = normal(&[" Sea ", "draft", "sea", "E\u{301}te\u{301}"]).unwrap();
        assert_eq!(tags, ["draft", "sea", "\u{e9}t\u{e9}"]);
        let words = |list: &[&str]| normal(list).unwrap();
        assert_eq!(
            changed(&words(&["b", "c"]), &words(&["a", "c"]), &words(&["b"])).unwrap(),
            ["a", "c"]
        );
        for refused in ["", "  ", "a,b", "a\nb", &"x".repeat(65)] {
            assert_eq!(normal(&[refused]).unwrap_err().code(), "INVALID_ARGUMENT");
        }
    }
}
