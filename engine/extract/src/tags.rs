//! Tags as people type them, or state them in a document -> tags as the file keeps them.

use kb_types::error::{Error, Result};
use unicode_normalization::UnicodeNormalization;

use crate::secrets;

/// Tags of a document: 256 KiB at most.
// 64 characters of at most 4 bytes each. The record of a document must fit one value of 16 MiB.
pub const MAX_TAGS: usize = 1000;

/// Characters that a tag never exceeds.
// A tag is a word that people type.
const LIMIT_CHARS: usize = 64;

/// The key of the metadata in which a document states its tags, separated by commas.
pub const KEY: &str = "tags";

/// The file type whose metadata is front matter. The keywords that a web page states are for search
/// engines, and no tags.
const STATED_IN: &str = "markdown";

/// One tag, trimmed, in lower case and NFC.
///
/// # Errors
/// Why the word cannot be a tag.
fn word(tag: &str) -> std::result::Result<String, String> {
    let word: String = tag.trim().to_lowercase().nfc().collect();
    let refused = |character: char| character == ',' || character.is_control();
    if word.is_empty() {
        Err("it is empty".to_owned())
    } else if word.chars().count() > LIMIT_CHARS {
        Err(format!("it has more than {LIMIT_CHARS} characters"))
    } else if word.contains(refused) {
        Err("it has a comma or a control character in it".to_owned())
    } else {
        Ok(word)
    }
}

/// The words of a list that can be tags, ascending, each once: `#` in front of one is left out, as are
/// words that cannot be tags.
pub fn of_list<'l>(list: impl IntoIterator<Item = &'l str>) -> Vec<String> {
    let words = list
        .into_iter()
        .map(|tag| tag.trim().trim_start_matches('#'));
    let mut tags: Vec<String> = words.filter_map(|tag| word(tag).ok()).collect();
    tags.sort();
    tags.dedup();
    tags
}

/// The tags that a document of that type states in its metadata, as [`of_list`].
pub fn stated(file_type: &str, metadata: &[(String, String)]) -> Vec<String> {
    let value = metadata.iter().find(|(key, _)| key == KEY);
    let list = value.filter(|_| file_type == STATED_IN);
    of_list(list.iter().flat_map(|(_, list)| list.split(',')))
}

/// The tags of a document whose content changed: those that people gave stay, those that it stated
/// `before` make way for those that it states `now`, as many as fit into [`MAX_TAGS`].
pub fn restated(tags: &[String], before: &[String], now: &[String]) -> Vec<String> {
    let given = tags.iter().filter(|tag| !before.contains(tag));
    let mut restated: Vec<String> = given.cloned().collect();
    let new = now.iter().filter(|tag| !restated.contains(tag));
    let room = MAX_TAGS.saturating_sub(restated.len());
    let new: Vec<String> = new.take(room).cloned().collect();
    restated.extend(new);
    restated.sort();
    restated
}

/// Trimmed, lower case, NFC, ascending, no tag twice.
///
/// # Errors
/// [`Error::InvalidArgument`] for a tag that is empty, too long, or has a comma or control character.
pub fn normal(tags: &[&str]) -> Result<Vec<String>> {
    let refused = |tag: &str, reason: String| Error::InvalidArgument {
        argument: "tag",
        reason: format!("{tag:?}: {reason}"),
    };
    let words = tags
        .iter()
        .map(|tag| word(tag).map_err(|reason| refused(tag, reason)));
    let mut normal = words.collect::<Result<Vec<String>>>()?;
    normal.sort();
    normal.dedup();
    Ok(normal)
}

/// As [`normal`], of tags that a document is to be given.
///
/// # Errors
/// Also [`Error::InvalidArgument`] for a tag that holds a key or token.
pub fn given(tags: &[&str]) -> Result<Vec<String>> {
    for tag in tags {
        if let Some(secret) = secrets::in_words(tag, "a tag") {
            return Err(Error::InvalidArgument {
                argument: "tag",
                reason: format!("it {secret}"),
            });
        }
    }
    normal(tags)
}

/// `tags` with those of `add` and without those of `remove`.
///
/// # Errors
/// [`Error::TooMany`] when these are more than [`MAX_TAGS`], and more than before.
pub fn changed(tags: &[String], add: &[String], remove: &[String]) -> Result<Vec<String>> {
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

    #[test]
    fn stated_tags_follow_the_document_and_given_ones_stay() {
        let words = |list: &str| of_list(list.split(' '));
        let metadata = [("tags".to_owned(), "Sea, #harbour,, sea, ".to_owned())];
        assert_eq!(stated("markdown", &metadata), ["harbour", "sea"]);
        assert_eq!(stated("html", &metadata), [""; 0]);
        assert_eq!(stated("markdown", &[]), [""; 0]);
        let tags = restated(&words("a sea own"), &words("a sea"), &words("sea b"));
        assert_eq!(tags, ["b", "own", "sea"]);
        let many: Vec<String> = (0..2 * MAX_TAGS).map(|n| n.to_string()).collect();
        assert_eq!(restated(&words("own"), &[], &many).len(), MAX_TAGS);
    }

    #[test]
    fn a_tag_that_holds_a_token_is_refused_and_not_shown() {
        let token = format!("glpat-{}", "Zk4Qw8Rt2Yp6Lm1Xv9Bc");
        let refused = given(&["sea", &token]).unwrap_err();
        assert!(!refused.to_string().contains(&token), "{refused}");
        assert_eq!(refused.code(), "INVALID_ARGUMENT");
    }
}
