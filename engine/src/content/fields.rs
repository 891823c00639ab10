//! The fields that the documents of a file have.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use kb_types::error::Result;
use rustc_hash::FxHashMap;

use crate::content::CommitView;
use crate::store::fields::{FieldValue, facets_of};

/// Most values of a field that are counted one by one.
// 100,000 short texts with their counts take about 10 MB.
const COUNTED_VALUES: usize = 100_000;

/// The values of one type that documents have under one name.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FieldInfo {
    /// The name, in lower case.
    pub name: String,
    /// The type of the values: `text`, `integer`, `float`, `boolean` or `time`.
    pub kind: &'static str,
    /// Documents with such a value.
    pub documents: u64,
    /// The values with the documents that have each, most frequent first; at most 100,000, in lower case.
    pub values: Vec<(String, u64)>,
    /// Whether there are more values.
    pub has_more_values: bool,
    /// The least value of numbers and times; `None` for other types.
    pub least: Option<FieldValue>,
    /// The greatest value of numbers and times; `None` for other types.
    pub greatest: Option<FieldValue>,
}

#[derive(Default)]
struct Counted {
    documents: u64,
    values: FxHashMap<String, u64>,
    has_more: bool,
    least: Option<FieldValue>,
    greatest: Option<FieldValue>,
}

impl Counted {
    /// Widens the range of values by one.
    fn include(&mut self, value: FieldValue) {
        if matches!(value, FieldValue::Text(_) | FieldValue::Boolean(_)) {
            return;
        }
        if self
            .least
            .as_ref()
            .is_none_or(|least| value.order(least).is_lt())
        {
            self.least = Some(value.clone());
        }
        if self
            .greatest
            .as_ref()
            .is_none_or(|greatest| value.order(greatest).is_gt())
        {
            self.greatest = Some(value);
        }
    }
}

/// See [`crate::Kb::fields`].
pub(crate) fn fields(commit: CommitView<'_>) -> Result<Vec<FieldInfo>> {
    let mut fields: BTreeMap<(String, &'static str), Counted> = BTreeMap::new();
    commit
        .catalog
        .documents
        .each(commit.snapshot, |_, record| {
            // In the order of names, so that values of one name follow each other.
            let mut last: Vec<(String, &'static str)> = Vec::new();
            for facet in facets_of(&record.metadata) {
                let Some((name, value)) = facet.split_once('=') else {
                    continue;
                };
                let typed = FieldValue::of_text(value);
                let key = (name.to_owned(), typed.kind());
                let counted = fields.entry(key.clone()).or_default();
                counted.include(typed);
                if !last.contains(&key) {
                    counted.documents += 1;
                    last.push(key);
                }
                if let Some(count) = counted.values.get_mut(value) {
                    *count += 1;
                } else if counted.values.len() < COUNTED_VALUES {
                    counted.values.insert(value.to_owned(), 1);
                } else {
                    counted.has_more = true;
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
    let fields = fields.into_iter().map(|((name, kind), counted)| {
        let mut values: Vec<(String, u64)> = counted.values.into_iter().collect();
        // By value as well, so that the order is always the same.
        values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        FieldInfo {
            name,
            kind,
            documents: counted.documents,
            values,
            has_more_values: counted.has_more,
            least: counted.least,
            greatest: counted.greatest,
        }
    });
    Ok(fields.collect())
}
