//! How far apart two words are spelled.

/// Characters of a word that are compared.
// The cost is the product of both lengths, and words come from files and clients.
const COMPARED_CHARS: usize = 64;

/// The Damerau-Levenshtein distance of the first 64 characters of two words: the least number of characters to insert,
/// to leave out, to replace or to exchange with their neighbour (optimal string alignment: Boytsov 2011, "Indexing
/// methods for approximate dictionary searching").
#[must_use]
pub fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(COMPARED_CHARS).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=a.len()).collect();
    let mut last = None;
    for (i, y) in b.chars().take(COMPARED_CHARS).enumerate() {
        let mut next = vec![i + 1];
        for (j, x) in a.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX / 2);
            let replaced = at(&row, j) + usize::from(*x != y);
            let mut cost = replaced.min(at(&row, j + 1) + 1).min(at(&next, j) + 1);
            let previous = j.checked_sub(1).and_then(|previous| a.get(previous));
            if previous == Some(&y) && last == Some(*x) {
                cost = cost.min(at(&before, j - 1) + 1);
            }
            next.push(cost);
        }
        before = std::mem::replace(&mut row, next);
        last = Some(y);
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (a, b, distance) in [
            ("", "", 0),
            ("", "abc", 3),
            ("same", "same", 0),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
            ("abc", "ca", 3),
            ("seperate", "separate", 1),
            ("recieve", "receive", 1),
            ("configuraton", "configuration", 1),
            ("acomodate", "accommodate", 2),
            ("stra\u{df}e", "strase", 1),
        ] {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
            assert_eq!(edit_distance(b, a), distance, "{b} {a}");
        }
    }

    #[test]
    fn what_is_behind_64_characters_is_not_compared() {
        let long = "a".repeat(64);
        assert_eq!(edit_distance(&long, &format!("{long}bc")), 0);
        assert_eq!(edit_distance(&long, &long[1..]), 1);
    }
}
