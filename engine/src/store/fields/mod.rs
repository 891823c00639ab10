//! Fields of documents, as filters find them: what a document states of itself or was given, as facets `name=value`.

#[cfg(feature = "ingest")]
use std::borrow::Cow;
use std::collections::BTreeSet;

use kb_types::Document;
use kb_types::error::{Error, Result};
use unicode_normalization::UnicodeNormalization;

pub(crate) mod columns;
mod date;
mod value;

pub(crate) use date::DateRange;
pub use value::FieldValue;
use value::unquoted;
pub(crate) use value::{compare_numbers, quoted};

/// Characters of a value that is a facet. What is longer is text to be searched, no value to filter by.
const VALUE_LIMIT_CHARS: usize = 64;

/// Facets of one document: a list has one for each item.
// Each is a row of its own with a bitmap, and a document may state a list of any length.
const FACETS_LIMIT: usize = 200;

/// Given values of one document, over all fields.
pub(crate) const GIVEN_LIMIT: usize = FACETS_LIMIT;

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
        let is_list = value.contains(", ") && unquoted(value).is_none();
        let items = is_list.then(|| value.split(", "));
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

/// Longest name of a given field, in characters.
const NAME_LIMIT_CHARS: usize = 64;

/// Longest text of a given field, in bytes.
const TEXT_LIMIT_BYTES: usize = 4096;

/// Gives a document fields, each in the place of what the document states or has under that name. A field without values
/// only removes. Its metadata then has one pair for each value.
///
/// # Errors
/// [`Error::InvalidArgument`] for a name that is empty, has more than 64 characters, a control character, `=`, `<` or
/// `>`, or is "tags", which documents have beside fields; for a text of more than 4,096 bytes; for a number that is not
/// finite and a time outside of the years 0 to 9999; and for more than 200 values in all.
pub fn give_fields(document: &mut Document, fields: &[(String, Vec<FieldValue>)]) -> Result<()> {
    check(fields)?;
    set(&mut document.metadata, fields);
    Ok(())
}

fn invalid(reason: String) -> Error {
    Error::InvalidArgument {
        argument: "metadata",
        reason,
    }
}

/// Whether fields may be given.
///
/// # Errors
/// Those of [`give_fields`].
pub(crate) fn check(fields: &[(String, Vec<FieldValue>)]) -> Result<()> {
    let mut count = 0;
    for (name, values) in fields {
        let plain = normalized(name);
        let is_wrong = |c: char| c.is_control() || matches!(c, '=' | '<' | '>');
        if plain.is_empty() || plain.chars().count() > NAME_LIMIT_CHARS || plain.contains(is_wrong)
        {
            return Err(invalid(format!(
                "{name:?} is no name of a field: 1 to {NAME_LIMIT_CHARS} characters without =, < and >"
            )));
        }
        if plain == "tags" {
            return Err(invalid("tags are no field; give them as tags".to_owned()));
        }
        for value in values {
            count += 1;
            if !value.is_valid() {
                return Err(invalid(format!("{name}: {value:?} is no value of a field")));
            }
            if matches!(value, FieldValue::Text(text) if text.len() > TEXT_LIMIT_BYTES) {
                let reason = format!("{name}: a text of more than {TEXT_LIMIT_BYTES} bytes");
                return Err(invalid(reason));
            }
        }
    }
    if count > FACETS_LIMIT {
        return Err(invalid(format!("{count} values; at most {FACETS_LIMIT}")));
    }
    Ok(())
}

fn set(metadata: &mut Vec<(String, String)>, fields: &[(String, Vec<FieldValue>)]) {
    let mut given: Vec<(String, String)> = Vec::new();
    for (name, values) in fields {
        let plain = normalized(name);
        metadata.retain(|(old, _)| normalized(old) != plain);
        given.retain(|(old, _)| normalized(old) != plain);
        let name: String = name.trim().nfc().collect();
        given.extend(values.iter().map(|value| (name.clone(), value.to_string())));
    }
    metadata.extend(given);
}

/// Sets fields that passed [`check`] in the metadata of a document, and in `given`, the part of it that people gave.
/// After an error both are as they were.
///
/// # Errors
/// [`Error::InvalidArgument`] for more than 200 given values in all.
#[cfg(feature = "ingest")]
pub(crate) fn change(
    metadata: &mut Vec<(String, String)>,
    given: &mut Vec<(String, String)>,
    fields: &[(String, Vec<FieldValue>)],
) -> Result<()> {
    let mut changed = given.clone();
    set(&mut changed, fields);
    check_count(&changed)?;
    set(metadata, fields);
    *given = changed;
    Ok(())
}

#[cfg(feature = "ingest")]
fn check_count(given: &[(String, String)]) -> Result<()> {
    match given.len() {
        0..=GIVEN_LIMIT => Ok(()),
        count => Err(invalid(format!(
            "{count} given values of one document; at most {GIVEN_LIMIT}"
        ))),
    }
}

/// Marks the pairs of `metadata` with these names as given. What was given before stays in the place of what the
/// content states, except under these names.
///
/// # Errors
/// As [`change`].
#[cfg(feature = "ingest")]
pub(crate) fn take_given(
    metadata: &mut Vec<(String, String)>,
    given: &mut Vec<(String, String)>,
    names: &[&str],
) -> Result<()> {
    // Tags are given beside fields, and `tags` are those that the content states.
    let is_name = |name: &String| !name.is_empty() && name != "tags";
    let names: Vec<String> = names.iter().map(|name| normalized(name)).collect();
    let names: Vec<String> = names.into_iter().filter(is_name).collect();
    given.retain(|(name, _)| !names.contains(&normalized(name)));
    *metadata = with_given(metadata, given).into_owned();
    given.extend(named(metadata, &names));
    check_count(given)
}

/// The pairs of metadata whose names are `names`.
#[cfg(feature = "ingest")]
pub(crate) fn named(metadata: &[(String, String)], names: &[String]) -> Vec<(String, String)> {
    let is_named = |(name, _): &&(String, String)| names.contains(&normalized(name));
    metadata.iter().filter(is_named).cloned().collect()
}

/// The normalised names of pairs, ascending, no name twice.
pub(crate) fn names_of(pairs: &[(String, String)]) -> Vec<String> {
    let names: BTreeSet<String> = pairs.iter().map(|(name, _)| normalized(name)).collect();
    names.into_iter().collect()
}

/// The metadata that a document states, with given pairs in the place of those of the same names.
#[cfg(feature = "ingest")]
pub(crate) fn with_given<'m>(
    stated: &'m [(String, String)],
    given: &[(String, String)],
) -> Cow<'m, [(String, String)]> {
    if given.is_empty() {
        return Cow::Borrowed(stated);
    }
    let names = names_of(given);
    let others = stated
        .iter()
        .filter(|(name, _)| !names.contains(&normalized(name)));
    Cow::Owned(others.chain(given).cloned().collect())
}

/// The values of names that have several, as they are stored.
pub(crate) type Lists = Vec<(String, Vec<String>)>;

/// Pairs as they are shown: the values of one name joined, in the place of the first. Beside them the values that were
/// joined, which their text alone does not tell from one value with commas.
pub(crate) fn joined(metadata: Vec<(String, String)>) -> (Vec<(String, String)>, Lists) {
    let mut pairs: Vec<(String, String)> = Vec::with_capacity(metadata.len());
    let mut lists = Lists::new();
    for (name, value) in metadata {
        let Some((_, values)) = pairs.iter_mut().find(|(known, _)| *known == name) else {
            pairs.push((name, value));
            continue;
        };
        match lists.iter_mut().find(|(known, _)| *known == name) {
            Some((_, list)) => list.push(value.clone()),
            None => lists.push((name, vec![values.clone(), value.clone()])),
        }
        values.push_str(", ");
        values.push_str(&value);
    }
    (pairs, lists)
}

/// The values of each name, with their types.
pub(crate) fn typed(
    pairs: &[(String, String)],
    lists: &[(String, Vec<String>)],
) -> Vec<(String, Vec<FieldValue>)> {
    let values = |name: &String, shown: &String| {
        let list = lists.iter().find(|(known, _)| known == name);
        let values = list.map_or(std::slice::from_ref(shown), |(_, values)| values);
        values
            .iter()
            .map(|value| FieldValue::of_text(value))
            .collect()
    };
    let pairs = pairs.iter();
    pairs
        .map(|(name, shown)| (name.clone(), values(name, shown)))
        .collect()
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

/// Whether a value is a year, a month, a day or a time of one: `2024-05-06t10:20`.
fn is_date(value: &str) -> bool {
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
    fn given_fields_take_the_place_of_stated_ones() {
        let mut document = Document {
            path: "a.md".to_owned(),
            title: String::new(),
            file_type: "markdown".to_owned(),
            language: "markdown".to_owned(),
            class: kb_types::Class::Doc,
            text: String::new(),
            outline: Vec::new(),
            line_numbers: Vec::new(),
            parts: Vec::new(),
            metadata: vec![
                ("Year".to_owned(), "1999".to_owned()),
                ("author".to_owned(), "Ann".to_owned()),
            ],
            syntax: kb_types::Syntax::default(),
        };
        let text = |text: &str| FieldValue::Text(text.to_owned());
        let field = |name: &str, values: Vec<FieldValue>| (name.to_owned(), values);
        let fields = [
            field("year", vec![FieldValue::Integer(2016)]),
            field(" topic", vec![text("sea"), text("moon, sun"), text("7")]),
            field("author", vec![]),
        ];
        give_fields(&mut document, &fields).unwrap();
        let pairs: Vec<(&str, &str)> = document
            .metadata
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .collect();
        let expected = [
            ("year", "2016"),
            ("topic", "sea"),
            ("topic", "\"moon, sun\""),
            ("topic", "\"7\""),
        ];
        assert_eq!(pairs, expected);
        let (shown, lists) = joined(document.metadata.clone());
        assert_eq!(shown[1].1, "sea, \"moon, sun\", \"7\"");
        assert_eq!(shown.len(), 2);
        let topics = vec![text("sea"), text("moon, sun"), text("7")];
        let typed = typed(&shown, &lists);
        assert_eq!(typed[0].1, [FieldValue::Integer(2016)]);
        assert_eq!(typed[1], ("topic".to_owned(), topics));
        let facets: Vec<String> = facets_of(&document.metadata).into_iter().collect();
        assert_eq!(
            facets,
            [
                "topic=\"7\"",
                "topic=\"moon, sun\"",
                "topic=sea",
                "year=2016"
            ]
        );
        let before = document.metadata.clone();
        for (wrong, said) in [
            (field("a=b", vec![]), "no name of a field"),
            (field(" ", vec![]), "no name of a field"),
            (field(&"x".repeat(65), vec![]), "no name of a field"),
            (field("Tags", vec![text("x")]), "as tags"),
            (field("x", vec![FieldValue::Float(f64::NAN)]), "no value"),
            (field("x", vec![FieldValue::Time(i64::MAX)]), "no value"),
            (field("x", vec![text(&"y".repeat(4097))]), "4096 bytes"),
            (
                field("x", vec![FieldValue::Boolean(true); 201]),
                "at most 200",
            ),
        ] {
            let error = give_fields(&mut document, &[wrong]).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
            assert_eq!(document.metadata, before);
        }
    }

    #[test]
    fn dates_are_known_by_their_form() {
        for date in ["2024", "2024-05", "2024-05-06", "2024-05-06t10:20"] {
            assert!(is_date(date), "{date}");
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
    }
}
