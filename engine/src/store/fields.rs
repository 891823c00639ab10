//! Fields of documents, as filters find them: what a document states of itself, as facets `name=value`.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;

/// Characters of a value that is a facet. What is longer is text to be searched, no value to filter by.
const VALUE_LIMIT_CHARS: usize = 64;

/// Facets of one document: a list has one for each item.
const FACETS_LIMIT: usize = 200;

/// Names that are no facets: tags have their own, the others are texts.
const LEFT_OUT: [&str; 4] = ["tags", "description", "subject", "invalid_bytes"];

/// The facets of the metadata of a document.
pub(crate) fn facets_of(metadata: &[(String, String)]) -> BTreeSet<String> {
    let mut facets = BTreeSet::new();
    for (name, value) in metadata {
        let name = normalized(name);
        let is_name = !name.is_empty() && !name.contains(['=', '<', '>']);
        if !is_name || LEFT_OUT.contains(&name.as_str()) {
            continue;
        }
        let items = value.contains(", ").then(|| value.split(", "));
        for item in std::iter::once(value.as_str()).chain(items.into_iter().flatten()) {
            let item = value_of(item);
            let is_value = !item.is_empty() && item.chars().count() <= VALUE_LIMIT_CHARS;
            if is_value && facets.len() < FACETS_LIMIT {
                facets.insert(facet(&name, &item));
            }
        }
    }
    facets
}

/// The facet of a name and a value.
pub(crate) fn facet(name: &str, value: &str) -> String {
    format!("{name}={value}")
}

/// A name or value, trimmed, in lower case, composed (NFC).
pub(crate) fn normalized(text: &str) -> String {
    text.trim().to_lowercase().nfc().collect()
}

/// A value as in facets: a time has `t` between date and hour.
pub(crate) fn value_of(text: &str) -> String {
    let value = normalized(text);
    match value.split_once(' ') {
        Some((date, time)) if is_whole_date(date) => format!("{date}t{time}"),
        _ => value,
    }
}

/// How a stored value compares with one that is asked for: numbers as such, dates as far as the asked one goes, and
/// other texts by their characters. `None`: they cannot be compared.
pub(crate) fn compare(stored: &str, asked: &str) -> Option<Ordering> {
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    if let (Some(stored), Some(asked)) = (number(stored), number(asked)) {
        return stored.partial_cmp(&asked);
    }
    if is_date(stored) && is_date(asked) {
        let stored = stored.get(..asked.len()).unwrap_or(stored);
        return Some(stored.cmp(asked));
    }
    let is_text = !is_date(asked) && number(asked).is_none();
    is_text.then(|| stored.cmp(asked))
}

/// Whether a value is a year, a month, a day or a time of one: `2024-05-06t10:20`.
pub(crate) fn is_date(value: &str) -> bool {
    let date = value.split('t').next().unwrap_or(value);
    let has_time = date.len() < value.len();
    let mut parts = date.split('-');
    let is_number = |part: Option<&str>, digits: usize| {
        part.is_some_and(|part| {
            part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let is_year = is_number(parts.next(), 4);
    let rest: Vec<&str> = parts.collect();
    let is_rest = rest.len() <= 2 && rest.iter().all(|part| is_number(Some(part), 2));
    is_year && is_rest && (!has_time || rest.len() == 2)
}

fn is_whole_date(value: &str) -> bool {
    value.len() == 10 && is_date(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facets(pairs: &[(&str, &str)]) -> Vec<String> {
        let pairs: Vec<(String, String)> = pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        facets_of(&pairs).into_iter().collect()
    }

    #[test]
    fn values_and_items_of_lists_are_facets() {
        let expected = [
            "author=ann",
            "author=ann, lee",
            "author=lee",
            "date=2024-05-06t10:20",
            "status=draft",
        ];
        let pairs = [
            ("Status", " Draft "),
            ("author", "Ann, Lee"),
            ("date", "2024-05-06 10:20"),
            ("tags", "sea"),
            ("a=b", "c"),
            ("empty", ""),
        ];
        assert_eq!(facets(&pairs), expected);
        assert!(facets(&[("note", &"x".repeat(65))]).is_empty());
        let many: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
        assert_eq!(facets(&[("list", &many.join(", "))]).len(), FACETS_LIMIT);
    }

    #[test]
    fn numbers_dates_and_texts_are_compared() {
        for (stored, asked, expected) in [
            ("9", "10", Some(Ordering::Less)),
            ("1e1", "10.0", Some(Ordering::Equal)),
            ("2024-05-06", "2024", Some(Ordering::Equal)),
            ("2024-05-06t10:20", "2024-05-06", Some(Ordering::Equal)),
            ("2024-05-06", "2024-05-06t10:20", Some(Ordering::Less)),
            ("2023-12-31", "2024-01", Some(Ordering::Less)),
            ("2024", "2024-01", Some(Ordering::Less)),
            ("soon", "2024-01-01", None),
            ("many", "3", None),
            ("draft", "final", Some(Ordering::Less)),
        ] {
            assert_eq!(compare(stored, asked), expected, "{stored} {asked}");
        }
        for wrong in [
            "",
            "24-05-06",
            "2024-5-6",
            "2024-05-06-07",
            "2024t10",
            "nan",
            "inf",
        ] {
            assert!(!is_date(wrong), "{wrong}");
        }
        assert_eq!(compare("nan", "1"), None);
    }
}
