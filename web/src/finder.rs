//! Finding documents by a part of their name: best names first, over all files, in bounded work.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use kb_engine::{Mode, Request};

use crate::answer::Problem;
use crate::asked::unless;
use crate::site::Shared;

/// Most names that are compared, over all files.
const COMPARED: usize = 20_000;

/// Longest text that is looked for, in characters.
const TYPED_LIMIT: usize = 60;

/// How well a document fits what was typed: the lesser, the better.
type Fit = (u8, usize);

/// A document that was found, with the name of its file.
pub(crate) type Found = (String, String);

/// At most `limit` documents whose paths have what was typed, or whose titles have its words.
pub(crate) fn find(
    site: &Shared,
    typed: &str,
    limit: usize,
    cancel: &AtomicBool,
) -> Result<Vec<Found>, Problem> {
    let typed: String = typed.trim().chars().take(TYPED_LIMIT).collect();
    if typed.is_empty() {
        return Ok(Vec::new());
    }
    let files = site.files.list();
    let of_each = (COMPARED / files.len().max(1)).max(limit);
    let mut found: Vec<(Fit, Found)> = Vec::new();
    for file in files {
        if unless(cancel).is_break() {
            break;
        }
        let kb = file.kb();
        let (having, _) = kb.complete_path(&typed, of_each)?;
        let (like, _) = kb.matching(&glob(&typed), of_each)?;
        let titled = kb.search(&Request::new(&*typed).mode(Mode::Title).k(limit));
        let titled = titled.map(|response| response.hits.items);
        let titled = titled.unwrap_or_default().into_iter();
        let titled = titled
            .enumerate()
            .map(|(at, hit)| ((TITLED, at), hit.document));
        let paths = having.into_iter().chain(like);
        let named = paths.map(|path| (fit(&path, &typed), path));
        let mut known = HashSet::new();
        for (fit, path) in named.chain(titled) {
            if known.insert(path.clone()) {
                found.push((fit, (file.name().to_owned(), path)));
            }
        }
    }
    found.sort();
    found.truncate(limit);
    Ok(found.into_iter().map(|(_, found)| found).collect())
}

/// The place of documents that are found by their title: before those that only have the letters.
const TITLED: u8 = 5;

fn fit(path: &str, typed: &str) -> Fit {
    let (path, typed) = (path.to_lowercase(), typed.to_lowercase());
    let name = path.rsplit('/').next().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let begins_word = |at: usize| {
        let before = name.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|before| !before.is_alphanumeric())
    };
    let place = if name == typed || stem == typed || path == typed {
        0
    } else if name.starts_with(&typed) {
        1
    } else if name.match_indices(&*typed).any(|(at, _)| begins_word(at)) {
        2
    } else if name.contains(&typed) {
        3
    } else if path.contains(&typed) {
        4
    } else {
        TITLED + 1
    };
    (place, path.len())
}

/// The glob of the paths that have the typed characters in that order, as fuzzy finders do; those before a `/` in the
/// names of folders.
fn glob(typed: &str) -> String {
    let parts = typed.split('/').filter(|part| !part.is_empty());
    let parts: Vec<String> = parts.map(letters).collect();
    format!("**/{}", parts.join("/**/"))
}

/// The glob of a name with these characters in that order.
fn letters(part: &str) -> String {
    let mut glob = String::from("*");
    for character in part.chars() {
        match character {
            '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!' => glob.push('?'),
            character => {
                let upper: Vec<char> = character.to_uppercase().collect();
                let lower: Vec<char> = character.to_lowercase().collect();
                match (upper.as_slice(), lower.as_slice()) {
                    ([upper], [lower]) if upper != lower => {
                        glob.extend(['[', *upper, *lower, ']']);
                    }
                    _ => glob.push(character),
                }
            }
        }
        glob.push('*');
    }
    glob
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_in_order_match_in_any_case() {
        assert_eq!(glob("aB"), "**/*[Aa]*[Bb]*");
        assert_eq!(glob("s/x*"), "**/*[Ss]*/**/*[Xx]*?*");
    }

    #[test]
    fn a_name_comes_before_a_part_of_a_name_before_a_folder_before_letters() {
        let mut paths = [
            "a/s_e_a_r_c_h.rs",
            "search/a.rs",
            "a/research.rs",
            "a/re_search.rs",
            "b/search_all.rs",
            "a/long/Search.rs",
            "a/search.rs",
        ];
        paths.sort_by_key(|path| fit(path, "search"));
        let best_first = [
            "a/search.rs",
            "a/long/Search.rs",
            "b/search_all.rs",
            "a/re_search.rs",
            "a/research.rs",
            "search/a.rs",
            "a/s_e_a_r_c_h.rs",
        ];
        assert_eq!(paths, best_first);
    }
}
