//! Formats counts and lists for sentences.

/// A count with its noun: `1 result`, `2 results`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

/// Names as a subject: `a`, `a and b`, `a, b and c`.
pub(crate) fn all_of(names: &[&str]) -> String {
    joined(names, "and")
}

/// Names to choose from: `a`, `a or b`, `a, b or c`.
pub(crate) fn one_of(names: &[&str]) -> String {
    joined(names, "or")
}

fn joined(names: &[&str], word: &str) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [most @ .., last] => format!("{} {word} {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_the_last_name_has_its_word() {
        assert_eq!(count(0, "result"), "0 results");
        assert_eq!(count(1, "result"), "1 result");
        assert_eq!(count(12, "file"), "12 files");
        assert_eq!(all_of(&[]), "");
        assert_eq!(all_of(&["a"]), "a");
        assert_eq!(all_of(&["a", "b"]), "a and b");
        assert_eq!(one_of(&["a", "b", "c"]), "a, b or c");
    }
}
