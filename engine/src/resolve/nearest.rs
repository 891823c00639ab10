//! Suggestions for a mistyped name, by edit distance.

use kb_types::edit_distance;

/// Most names that an error suggests.
pub(super) const MAX_SUGGESTIONS: usize = 5;

/// Longest name that suggestions are sought for, in bytes. It is compared with every path, so a longer
/// one would be slow.
const COMPARED_LIMIT_BYTES: usize = 1024;

/// Edit distance by which a suggestion may be farther than the nearest one.
const FARTHER: usize = 1;

/// A shorter name is in too many others to be meant by one that contains it, and too near to all of its length.
const CONTAINED_CHARS: usize = 3;

/// Collects the names that are most similar to one; none when that has more than a kilobyte.
#[derive(Debug)]
pub(crate) struct Nearest {
    /// The mistyped name in lower case, and its last component.
    wanted: (String, String),
    /// Distances of the last component and of the whole, and name; nearest first, at most [`MAX_SUGGESTIONS`].
    best: Vec<((usize, usize), String)>,
}

impl Nearest {
    /// Seeks names similar to `wanted`.
    pub(crate) fn new(wanted: &str) -> Nearest {
        let wanted = if wanted.len() > COMPARED_LIMIT_BYTES {
            String::new()
        } else {
            wanted.to_lowercase()
        };
        let last = last_component(&wanted).to_owned();
        Nearest {
            wanted: (wanted, last),
            best: Vec::new(),
        }
    }

    /// Compares a name, and keeps it if it is among the most similar: by the last component without its
    /// extension, which many have in common, then by all of it. One that contains the other is similar; else a
    /// third of the characters may differ, rounded up, and none of a name of one or two.
    pub(crate) fn offer(&mut self, name: &str) {
        // A folder comes once for every run of documents in it.
        if self.wanted.0.is_empty()
            || name.is_empty()
            || self.best.iter().any(|(_, known)| known == name)
        {
            return;
        }
        let lower = name.to_lowercase();
        let (stem, extension) = stem_and_extension(last_component(&lower));
        let (wanted, wanted_extension) = stem_and_extension(&self.wanted.1);
        let is_in = |inner: &str, outer: &str| {
            inner.chars().count() >= CONTAINED_CHARS && outer.contains(inner)
        };
        let distance = if stem == wanted {
            0
        } else if is_in(wanted, stem) || is_in(stem, wanted) {
            1
        } else {
            edit_distance(stem, wanted)
        };
        let wanted_chars = wanted.chars().count();
        let farthest = if wanted_chars < CONTAINED_CHARS {
            0
        } else {
            wanted_chars.div_ceil(3)
        };
        if distance > farthest {
            return;
        }
        let distance = distance + usize::from(extension != wanted_extension);
        let distance = (distance, edit_distance(&lower, &self.wanted.0));
        let at = self.best.partition_point(|(other, _)| *other <= distance);
        if at < MAX_SUGGESTIONS {
            self.best.insert(at, (distance, name.to_owned()));
            self.best.truncate(MAX_SUGGESTIONS);
        }
    }

    /// The most similar names, best first; none that is much farther than the first.
    pub(crate) fn finish(self) -> Vec<String> {
        let nearest = self.best.first().map_or(0, |((distance, _), _)| *distance);
        let near = self.best.into_iter();
        near.take_while(|((distance, _), _)| *distance <= nearest + FARTHER)
            .map(|(_, name)| name)
            .collect()
    }
}

fn last_component(path: &str) -> &str {
    path.trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(path)
}

/// `lib` and `rs` of `lib.rs`; a name that begins with its only full stop has no extension, and what has spaces is
/// none: `1.1 Use` is the title of a section.
fn stem_and_extension(name: &str) -> (&str, &str) {
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && !extension.contains(' ') => {
            (stem, extension)
        }
        _ => (name, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_offers_the_right_one_first() {
        // A name that no file can have is like none, however many there are to compare.
        let mut nearest = Nearest::new(&"src/serch.rs".repeat(100));
        nearest.offer("src/search.rs");
        assert_eq!(nearest.finish(), [""; 0]);
        let mut nearest = Nearest::new("src/serch.rs");
        for path in ["src/search.rs", "src/store.rs", "README.md"] {
            nearest.offer(path);
        }
        assert_eq!(
            nearest.finish().first().map(String::as_str),
            Some("src/search.rs")
        );
    }

    #[test]
    fn names_that_share_an_extension_only_are_not_similar() {
        let nearest = |wanted: &str, names: &[&str]| {
            let mut nearest = Nearest::new(wanted);
            names.iter().for_each(|name| nearest.offer(name));
            nearest.finish()
        };
        let all = ["dup.md", "one.md", "docs/setup.md", "src/dup.rs", "x.md"];
        assert_eq!(nearest("zzz.md", &all), [""; 0]);
        assert_eq!(nearest("own/nothing.md", &all), [""; 0]);
        assert_eq!(nearest("dpu.md", &all), ["dup.md", "src/dup.rs"]);
        assert_eq!(nearest("docs/dup.md", &all), ["dup.md", "src/dup.rs"]);
        assert_eq!(nearest("setup", &all), ["docs/setup.md"]);
    }
}
