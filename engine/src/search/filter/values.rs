//! The values of a field that a document has, and the fields that a file has.

use std::collections::BTreeSet;

use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;
use unicode_normalization::UnicodeNormalization;

use crate::catalog::Segment;
use crate::resolve::{Nearest, abbreviate};
use crate::search::filter::facet::listed;
use crate::search::filter::rows::{intersect, live, live_rows};
use crate::search::filter::stored;
use crate::search::sources::Source;
use crate::store::documents::DocumentRecord;
use crate::store::facets::{self, Facet};
use crate::store::fields::{FieldValue as Value, columns, facets_of, normalized};

/// Begins the name of a field that is not one of [`BUILT_IN_NAMES`], whatever follows.
pub(super) const OWN: &str = "meta.";

/// The fields that every document has.
pub(super) const BUILT_IN_NAMES: [&str; 9] = [
    "added", "class", "language", "modified", "path", "size", "tags", "title", "type",
];

/// The values of a field of a document, as conditions find them: texts in lower case.
pub(crate) fn values_of(record: &DocumentRecord, name: &str) -> Vec<Value> {
    let name = normalized(name);
    let time = |ms: i64| (ms != 0).then_some(Value::Time(ms));
    let text = |text: &str| (!text.is_empty()).then(|| Value::Text(normalized(text)));
    let built_in = match &*name {
        "added" => time(record.added_ms),
        "class" => record.class().ok().and_then(|class| text(class.name())),
        "language" => text(&record.language),
        "modified" => time(record.modified_ms),
        "path" => text(&record.path),
        "size" => i64::try_from(record.size_bytes).ok().map(Value::Integer),
        "title" => text(&record.title),
        "type" => text(&record.file_type),
        _ => None,
    };
    let mut values: Vec<Value> = built_in.into_iter().collect();
    if name == "tags" {
        values.extend(record.tags.iter().map(|tag| Value::Text(tag.clone())));
    }
    let start = format!("{}=", name.strip_prefix(OWN).unwrap_or(&name));
    let stored = facets_of(&record.metadata);
    let of_name = stored.iter().filter_map(|facet| facet.strip_prefix(&start));
    let mut own: Vec<&str> = of_name.collect();
    // A list is a value of its own beside its items, for conditions that ask for the whole.
    if own.len() > 1 {
        own.retain(|value| !value.contains(", ") || value.starts_with('"'));
    }
    values.extend(own.into_iter().map(Value::of_text));
    values
}

/// Values as groups and counts show them, each once. A text that looks like a number, a time or a boolean stands in quotes,
/// which keeps it apart from the value of that type.
pub(crate) fn facet_texts(values: &[Value]) -> BTreeSet<String> {
    let shown = values.iter().map(|value| match value {
        Value::Text(text) if Value::of_text(text) == *value => text.clone(),
        other => other.to_string(),
    });
    shown.collect()
}

/// The names of the fields that live documents of a file state or were given.
///
/// # Errors
/// [`Error::Damaged`].
pub(crate) fn stored_names(source: &Source<'_>) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for segment in &source.catalog.segments {
        let (snapshot, id, live) = (source.snapshot, segment.id, live(segment));
        for (name, _) in columns::names(snapshot, id)? {
            if !names.contains(&name) && has_field(source, &name)? {
                names.insert(name);
            }
        }
        for value in facets::values(snapshot, id, Facet::Field)? {
            let name = value.split('=').next().unwrap_or_default();
            if names.contains(name) {
                continue;
            }
            let with = facets::rows_with(snapshot, id, segment.rows(), Facet::Field, &value)?;
            if with.is_some_and(|with| !with.is_disjoint(&live)) {
                names.insert(name.to_owned());
            }
        }
    }
    Ok(names)
}

/// Whether a live document states a field, or was given it.
fn has_field(source: &Source<'_>, name: &str) -> Result<bool> {
    let mut rows = stored::rows_with(source, name, None)?;
    intersect(&mut rows, &live_rows(source.catalog));
    Ok(rows.iter().any(|rows| !rows.is_empty()))
}

/// The nearest of the names of fields, or all, as a hint.
pub(crate) fn names_hint(own: &str, names: &BTreeSet<String>) -> String {
    let mut nearest = Nearest::new(own);
    let all = BUILT_IN_NAMES.into_iter();
    all.chain(names.iter().map(String::as_str))
        .for_each(|name| nearest.offer(name));
    match nearest.finish().first() {
        Some(name) => format!("did you mean {name:?}?"),
        None => listed("this file has", names),
    }
}

/// Checks that a field that an argument names is one that some document of the files has.
///
/// # Errors
/// [`Error::InvalidArgument`] with the nearest name, unless there are no documents; [`Error::Damaged`].
pub(crate) fn check_field(argument: &'static str, name: &str, files: &[Source<'_>]) -> Result<()> {
    let plain = normalized(name);
    if BUILT_IN_NAMES.contains(&&*plain) {
        return Ok(());
    }
    let own = plain.strip_prefix(OWN).unwrap_or(&plain);
    for source in files {
        if has_field(source, own)? {
            return Ok(());
        }
    }
    let mut names = BTreeSet::new();
    for source in files {
        names.extend(stored_names(source)?);
    }
    let segments = files.iter().flat_map(|source| &source.catalog.segments);
    let has_rows = |segment: &Segment| !RoaringBitmap::is_empty(&live(segment));
    if !segments.into_iter().any(has_rows) {
        return Ok(());
    }
    let hint = names_hint(own, &names);
    Err(Error::InvalidArgument {
        argument,
        reason: format!(
            "unknown field {:?}; {hint}",
            abbreviate(&name.nfc().collect::<String>())
        ),
    })
}
