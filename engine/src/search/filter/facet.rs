//! Filters by a facet whose values have aliases: type, language, tag.

use std::collections::{BTreeMap, BTreeSet};

use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::resolve::abbreviate;
use crate::search::filter::rows::{inner_tags, intersect, live, normalized};
use crate::search::sources::Source;
use crate::store::facets::{self, Facet};

/// Most values of a facet that are looked up one by one. For more, all values are listed.
// A lookup reads a path of the tree, a listing all values once. Where one becomes faster was not
// measured.
const MAX_LOOKUPS: usize = 16;

/// Most values that a message lists.
const MAX_LISTED: usize = 50;

/// One value of a filter.
#[derive(Debug, Clone, Copy)]
struct FilterValue<'f> {
    /// As the caller wrote it.
    text: &'f str,
    /// The stored form that it is an alias of; `None`: this program does not know the value.
    canonical: Option<&'static str>,
}

/// A filter by one facet: a document passes if it has any of the values.
pub(crate) struct FacetFilter<'f> {
    /// Name of the argument, for messages.
    pub(crate) argument: &'static str,
    /// The facet.
    pub(crate) facet: Facet,
    /// The values as the caller wrote them; empty: every document passes.
    pub(crate) values: &'f [String],
    /// Alias -> stored form; `None` for an unknown value.
    pub(crate) canonical: fn(&str) -> Option<&'static str>,
}

impl FacetFilter<'_> {
    /// The values one by one: no language has a comma in it, so `rust,go` are two.
    fn single_values(&self) -> Vec<&str> {
        let is_list = self.facet == Facet::Language;
        let parts = self
            .values
            .iter()
            .flat_map(|value| value.split(|c| is_list && c == ','));
        parts.map(str::trim).collect()
    }

    /// A value, and of tags those that it is inside of: `project/alpha`, `project`.
    fn and_outer<'v>(&self, value: &'v str) -> impl Iterator<Item = &'v str> {
        let is_nested = self.facet == Facet::Tag;
        let outer = move |inner: &&'v str| inner.rsplit_once('/').map(|(outer, _)| outer);
        std::iter::successors(Some(value), move |inner| outer(inner).filter(|_| is_nested))
    }

    /// Removes from `rows`, one bitmap a segment, the rows of documents that do not pass.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a value that neither the file nor this program knows,
    /// [`Error::Damaged`].
    pub(crate) fn apply(
        &self,
        source: &Source<'_>,
        rows: &mut [RoaringBitmap],
        absent: &mut AbsentValues,
    ) -> Result<()> {
        let values = self.single_values();
        if values.is_empty() {
            return Ok(());
        }
        let mut wanted: FxHashMap<String, FilterValue<'_>> = FxHashMap::default();
        for text in values {
            let canonical = (self.canonical)(text);
            let stored = canonical.map_or_else(|| normalized(text), str::to_owned);
            let value = FilterValue { text, canonical };
            wanted.entry(stored).or_insert(value);
        }
        let mut passing = vec![RoaringBitmap::new(); rows.len()];
        let mut present: FxHashSet<String> = FxHashSet::default();
        for (segment, passing) in source.catalog.segments.iter().zip(&mut passing) {
            source.reporter.tick()?;
            let live = live(segment);
            let values = if wanted.len() > MAX_LOOKUPS {
                facets::values(source.snapshot, segment.id, self.facet)?
            } else {
                let mut values: Vec<String> = wanted.keys().cloned().collect();
                if self.facet == Facet::Tag {
                    for tag in wanted.keys() {
                        values.extend(inner_tags(source.snapshot, segment.id, tag)?);
                    }
                }
                values
            };
            for value in values {
                let asked = self
                    .and_outer(&value)
                    .filter(|value| wanted.contains_key(*value));
                let asked: Vec<&str> = asked.collect();
                if asked.is_empty() {
                    continue;
                }
                if let Some(with) = facets::rows_with(
                    source.snapshot,
                    segment.id,
                    segment.rows(),
                    self.facet,
                    &value,
                )? && !with.is_disjoint(&live)
                {
                    *passing |= with;
                    present.extend(asked.into_iter().map(str::to_owned));
                }
            }
        }
        intersect(rows, &passing);
        let mut missing: Vec<_> = wanted
            .into_iter()
            .filter(|(stored, _)| !present.contains(stored))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        missing.sort_by(|a, b| a.0.cmp(&b.0));
        self.report_missing(source, missing, absent)
    }

    /// Counts values that no document of the file has; refuses those that this program does not know
    /// either.
    fn report_missing(
        &self,
        source: &Source<'_>,
        missing: Vec<(String, FilterValue<'_>)>,
        absent: &mut AbsentValues,
    ) -> Result<()> {
        let present = values_of(source, self.facet, None)?;
        if let Some((_, unknown)) = missing.iter().find(|(_, value)| value.canonical.is_none()) {
            let argument = self.argument;
            return Err(Error::InvalidArgument {
                argument,
                reason: format!(
                    "unknown {argument} {:?}; {}",
                    abbreviate(unknown.text),
                    listed("this file has", &present)
                ),
            });
        }
        absent
            .present
            .entry(self.argument)
            .or_default()
            .extend(present);
        for (stored, _) in missing {
            *absent.files.entry((self.argument, stored)).or_default() += 1;
        }
        Ok(())
    }
}

/// Values of filters that documents of some of the searched files do not have.
#[derive(Debug, Default)]
pub(crate) struct AbsentValues {
    /// In how many files no document has a value, by argument and value.
    files: BTreeMap<(&'static str, String), usize>,
    /// What those files have, by argument.
    present: BTreeMap<&'static str, BTreeSet<String>>,
}

impl AbsentValues {
    /// A warning for each argument with values that no document of the `files` files has.
    pub(crate) fn warnings(&self, files: usize) -> Vec<String> {
        let mut everywhere: BTreeMap<&'static str, Vec<&str>> = BTreeMap::new();
        for ((argument, value), missing) in &self.files {
            if *missing >= files {
                everywhere.entry(argument).or_default().push(value);
            }
        }
        let none = BTreeSet::new();
        let warning = |(argument, values): (&'static str, Vec<&str>)| {
            let present = self.present.get(argument).unwrap_or(&none);
            let values = values.iter().take(MAX_LISTED);
            let values: Vec<String> = values.map(|it| format!("{:?}", abbreviate(it))).collect();
            let values = values.join(", ");
            format!(
                "no document has {argument} {values}; {}",
                listed("there are", present)
            )
        };
        everywhere.into_iter().map(warning).collect()
    }
}

/// The values of a facet that live rows of a file have; with `among`, one bitmap a segment, that rows of
/// these have.
///
/// # Errors
/// [`Error::Damaged`].
pub(crate) fn values_of(
    source: &Source<'_>,
    facet: Facet,
    among: Option<&[RoaringBitmap]>,
) -> Result<BTreeSet<String>> {
    let mut present = BTreeSet::new();
    for (position, segment) in source.catalog.segments.iter().enumerate() {
        let live = live(segment);
        let among = match among {
            Some(rows) => rows.get(position),
            None => Some(&live),
        };
        let Some(among) = among.filter(|rows| !rows.is_empty()) else {
            continue;
        };
        for value in facets::values(source.snapshot, segment.id, facet)? {
            let rows =
                facets::rows_with(source.snapshot, segment.id, segment.rows(), facet, &value)?;
            if rows.is_some_and(|rows| !rows.is_disjoint(among)) {
                present.insert(value);
            }
        }
    }
    Ok(present)
}

/// `there are: a, b`, or `there are none`.
pub(crate) fn listed(there_are: &str, values: &BTreeSet<String>) -> String {
    if values.is_empty() {
        return format!("{there_are} none");
    }
    let mut listed: Vec<String> = values.iter().take(MAX_LISTED).cloned().collect();
    if values.len() > MAX_LISTED {
        listed.push(format!("and {} more", values.len() - MAX_LISTED));
    }
    format!("{there_are}: {}", listed.join(", "))
}
