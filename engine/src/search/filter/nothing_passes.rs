//! Says which filter no document passes, and which values would.

use std::collections::BTreeSet;

use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;

use crate::resolve::{abbreviate, excluding};
use crate::search::filter::facet::{AbsentValues, listed, values_of};
use crate::search::filter::metadata;
use crate::search::filter::rows::Rows;
use crate::search::filter::symbols::any_has_symbols;
use crate::search::filters::Filters;
use crate::search::sources::Source;
use crate::store::facets::Facet;

/// Most values of one filter that a message names.
// A message is one sentence; whoever wants all values asks for the facts of the file.
const MAX_VALUES: usize = 5;

/// The facets, in the order in which one is blamed: a wrong language is likelier than a wrong class.
const FACETS: [(Facet, &str); 4] = [
    (Facet::Language, "language"),
    (Facet::Type, "type"),
    (Facet::Tag, "tag"),
    (Facet::Class, "class"),
];

/// A sentence for filters that no document of the files passes. Costs a few runs of the filters.
///
/// # Errors
/// [`Error::Damaged`], [`Error::Cancelled`].
pub(crate) fn sentence(files: &[Source<'_>], filters: &Filters) -> Result<String> {
    if !filters.symbol_kinds.is_empty() || !filters.symbol_names.is_empty() {
        if !any_has_symbols(files)? {
            return Ok("no document has symbols: there are no programs".to_owned());
        }
        let mut others = filters.clone();
        let kinds = std::mem::take(&mut others.symbol_kinds);
        let names = std::mem::take(&mut others.symbol_names);
        if passes_any(files, &others)? {
            let symbols = Filters::new().symbol_kinds(kinds).symbol_names(names);
            let of = of_those_with(&others);
            return Ok(format!(
                "no document{of} defines a symbol with {}",
                described(&symbols)
            ));
        }
    }
    for (facet, name) in FACETS {
        let (others, given) = without(filters, facet);
        if given.is_empty() {
            continue;
        }
        let mut values = BTreeSet::new();
        for source in files {
            let among = match metadata::apply(source, &others, &mut AbsentValues::default()) {
                Ok(among) => among,
                // A file that refuses a value has no document that passes.
                Err(Error::InvalidArgument { .. } | Error::FolderNotFound { .. }) => continue,
                Err(error) => return Err(error),
            };
            values.extend(values_of(source, facet, among.as_deref())?);
        }
        if values.is_empty() {
            continue;
        }
        let of = of_those_with(&others);
        return Ok(format!(
            "no document{of} has {name} {}; {}",
            alternatives(&given),
            listed("there are", &values)
        ));
    }
    Ok(format!(
        "no document passes the filters: {}",
        described(filters)
    ))
}

/// Whether a row of any file passes.
fn passes_any(files: &[Source<'_>], filters: &Filters) -> Result<bool> {
    for source in files {
        match metadata::apply(source, filters, &mut AbsentValues::default()) {
            Ok(None) => return Ok(true),
            Ok(rows) if is_nothing(&rows) => {}
            Ok(Some(_)) => return Ok(true),
            Err(Error::InvalidArgument { .. } | Error::FolderNotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

/// Whether no row passes.
pub(crate) fn is_nothing(rows: &Rows) -> bool {
    rows.as_ref()
        .is_some_and(|rows| rows.iter().all(RoaringBitmap::is_empty))
}

/// The filters without that of a facet, and its values.
fn without(filters: &Filters, facet: Facet) -> (Filters, Vec<String>) {
    let mut others = filters.clone();
    let given = match facet {
        Facet::Language => std::mem::take(&mut others.languages),
        Facet::Type => std::mem::take(&mut others.types),
        Facet::Tag => std::mem::take(&mut others.tags),
        Facet::Class => {
            let classes = std::mem::take(&mut others.classes);
            classes
                .iter()
                .map(|class| class.name().to_owned())
                .collect()
        }
        Facet::Kind | Facet::Role | Facet::Field | Facet::Link | Facet::Edited => Vec::new(),
    };
    (others, given)
}

/// What the filters ask for: `class code or data, folder "src"`.
fn described(filters: &Filters) -> String {
    let classes = filters.classes.iter().map(|class| class.name().to_owned());
    let kinds = filters
        .symbol_kinds
        .iter()
        .map(|kind| kind.name().to_owned());
    let mut parts = Vec::new();
    let is_excluding = |glob: &&String| excluding(glob).is_some();
    let (excluded, paths): (Vec<_>, Vec<_>) = filters.paths.iter().partition(is_excluding);
    let excluded = excluded.into_iter().filter_map(|glob| excluding(glob));
    for (name, values) in [
        ("class", &classes.collect()),
        ("language", &filters.languages),
        ("type", &filters.types),
        ("tag", &filters.tags),
        ("field", &filters.fields),
        ("a link to", &filters.links_to),
        ("folder", &filters.folders),
        ("path", &paths.into_iter().cloned().collect()),
        ("path other than", &excluded.map(str::to_owned).collect()),
        ("kind", &kinds.collect()),
        ("name", &filters.symbol_names),
    ] {
        if !values.is_empty() {
            parts.push(format!("{name} {}", alternatives(values)));
        }
    }
    if let Some(given) = &filters.where_ {
        parts.push(format!("where {}", abbreviate(given)));
    }
    if filters.modified_since_ms.is_some() {
        parts.push("a modification time since the one given".to_owned());
    }
    parts.join(", ")
}

/// What follows `no document` where other filters leave some.
fn of_those_with(filters: &Filters) -> String {
    match described(filters) {
        described if described.is_empty() => described,
        described => format!(" of those with {described}"),
    }
}

fn alternatives(values: &[String]) -> String {
    let mut shown: Vec<String> = values
        .iter()
        .take(MAX_VALUES)
        .map(|value| format!("{:?}", abbreviate(value)))
        .collect();
    if values.len() > MAX_VALUES {
        shown.push(format!("{} others", values.len() - MAX_VALUES));
    }
    shown.join(" or ")
}
