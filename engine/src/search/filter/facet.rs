//! Filters by a facet whose values have aliases: type, language, tag.

use std::collections::BTreeSet;

use roaring::RoaringBitmap;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::{Error, Result};
use crate::resolve::abbreviate;
use crate::search::filter::rows::{intersect, live, normalized};
use crate::search::sources::Source;
use crate::store::facets::{self, Facet};

/// Up to this many values of a facet are looked up one by one; for more, all values are listed.
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
    /// Removes from `rows`, one bitmap a segment, the rows of documents that do not pass.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a value that neither the file nor this program knows,
    /// [`Error::Damaged`].
    pub(crate) fn apply(
        &self,
        source: &Source<'_>,
        rows: &mut [RoaringBitmap],
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        if self.values.is_empty() {
            return Ok(());
        }
        let mut wanted: FxHashMap<String, FilterValue<'_>> = FxHashMap::default();
        for text in self.values {
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
                wanted.keys().cloned().collect()
            };
            for value in values
                .into_iter()
                .filter(|value| wanted.contains_key(value))
            {
                if let Some(with) = facets::rows_with(
                    source.snapshot,
                    segment.id,
                    segment.rows(),
                    self.facet,
                    &value,
                )? && !with.is_disjoint(&live)
                {
                    *passing |= with;
                    present.insert(value);
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
        self.report_missing(source, &missing, warnings)
    }

    /// Warns of values that no document has; refuses those that this program does not know either.
    fn report_missing(
        &self,
        source: &Source<'_>,
        missing: &[(String, FilterValue<'_>)],
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        let mut present = BTreeSet::new();
        for segment in &source.catalog.segments {
            let live = live(segment);
            for value in facets::values(source.snapshot, segment.id, self.facet)? {
                let rows = facets::rows_with(
                    source.snapshot,
                    segment.id,
                    segment.rows(),
                    self.facet,
                    &value,
                )?;
                if rows.is_some_and(|rows| !rows.is_disjoint(&live)) {
                    present.insert(value);
                }
            }
        }
        let mut listed: Vec<String> = present.iter().take(MAX_LISTED).cloned().collect();
        if present.len() > MAX_LISTED {
            listed.push(format!("and {} more", present.len() - MAX_LISTED));
        }
        let listed = if listed.is_empty() {
            "this file has none".to_owned()
        } else {
            format!("this file has: {}", listed.join(", "))
        };
        let argument = self.argument;
        if let Some((_, unknown)) = missing.iter().find(|(_, value)| value.canonical.is_none()) {
            return Err(Error::InvalidArgument {
                argument,
                reason: format!(
                    "unknown {argument} {:?}; {listed}",
                    abbreviate(unknown.text)
                ),
            });
        }
        let absent: Vec<String> = missing
            .iter()
            .take(MAX_LISTED)
            .map(|(stored, _)| format!("{:?}", abbreviate(stored)))
            .collect();
        warnings.push(format!(
            "no document has {argument} {}; {listed}",
            absent.join(", ")
        ));
        Ok(())
    }
}
