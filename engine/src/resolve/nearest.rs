//! Suggestions for a mistyped name, by edit distance.

/// Most names that an error suggests.
pub(super) const MAX_SUGGESTIONS: usize = 5;

/// Longest name that suggestions are sought for, in bytes. It is compared with every path, so a longer
/// one would be slow.
const COMPARED_LIMIT_BYTES: usize = 1024;

/// Collects the names that are most similar to one; none when that has more than a kilobyte.
#[derive(Debug)]
pub struct Nearest {
    /// The mistyped name in lower case, and its last component.
    wanted: (String, String),
    /// Distance and name, nearest first, at most [`MAX_SUGGESTIONS`].
    best: Vec<(usize, String)>,
}

impl Nearest {
    /// Seeks names similar to `wanted`.
    pub fn new(wanted: &str) -> Nearest {
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

    /// Compares a name, and keeps it if it is among the most similar.
    pub fn offer(&mut self, name: &str) {
        // A folder comes once for every run of documents in it.
        if self.wanted.0.is_empty()
            || name.is_empty()
            || self.best.iter().any(|(_, known)| known == name)
        {
            return;
        }
        let lower = name.to_lowercase();
        let last = last_component(&lower);
        let distance = if last.contains(&self.wanted.1) || self.wanted.1.contains(last) {
            lower.len().abs_diff(self.wanted.0.len()).min(8) / 4
        } else {
            edit_distance(last, &self.wanted.1)
        };
        if distance > self.wanted.1.chars().count() / 2 {
            return;
        }
        let at = self.best.partition_point(|(other, _)| *other <= distance);
        if at < MAX_SUGGESTIONS {
            self.best.insert(at, (distance, name.to_owned()));
            self.best.truncate(MAX_SUGGESTIONS);
        }
    }

    /// The most similar names, best first.
    pub fn finish(self) -> Vec<String> {
        self.best.into_iter().map(|(_, name)| name).collect()
    }
}

fn last_component(path: &str) -> &str {
    path.trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(path)
}

/// Levenshtein distance (1966) of the first 64 characters of each.
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=a.len()).collect();
    for (i, y) in b.chars().take(64).enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, x) in row.iter_mut().skip(1).zip(&a) {
            let substituted = diagonal + usize::from(*x != y);
            diagonal = *cell;
            left = substituted.min(*cell + 1).min(left + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distance_counts_changes() {
        for (a, b, distance) in [
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("same", "same", 0),
        ] {
            assert_eq!(edit_distance(a, b), distance);
            assert_eq!(edit_distance(b, a), distance);
        }
    }

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
}
