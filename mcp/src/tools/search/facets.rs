//! Counts of the values of fields beside the results.

use kb_engine::FacetCounts;
use schemars::JsonSchema;
use serde::Serialize;

use crate::response::{Text, wording};

/// Values of a facet. The budget of a call is for results, and the engine counts up to 1,000.
const SHOWN_VALUES: usize = 20;

/// The values of a field in the documents of all relevant results.
#[derive(Serialize, JsonSchema)]
pub(super) struct Facet<'a> {
    field: &'a str,
    /// Most frequent first.
    values: Vec<ValueCount<'a>>,
    /// Values beyond these.
    more_values: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct ValueCount<'a> {
    value: &'a str,
    documents: u64,
}

impl<'a> Facet<'a> {
    fn of(counts: &'a FacetCounts) -> Facet<'a> {
        let shown = counts.values.iter().take(SHOWN_VALUES);
        let values = shown.map(|(value, documents)| ValueCount {
            value,
            documents: *documents,
        });
        let left = counts.values.len().saturating_sub(SHOWN_VALUES) as u64;
        let more = left.saturating_add(counts.more_values);
        Facet {
            field: &counts.field,
            values: values.collect(),
            more_values: (more > 0).then_some(more),
        }
    }

    /// `None` if no facets were asked for.
    pub(super) fn all(counts: &'a [FacetCounts]) -> Option<Vec<Facet<'a>>> {
        (!counts.is_empty()).then(|| counts.iter().map(Facet::of).collect())
    }

    /// A line such as `author: kim 3, lee 1, 2 more values`.
    fn line(&self) -> String {
        let values = self.values.iter();
        let mut shown: Vec<String> = values
            .map(|count| format!("{} {}", count.value, count.documents))
            .collect();
        if let Some(more) = self.more_values {
            shown.push(wording::count(more, "more value"));
        }
        if shown.is_empty() {
            shown.push("no values".to_owned());
        }
        format!("{}: {}", self.field, shown.join(", "))
    }
}

/// A line for each facet.
pub(super) fn show(text: &mut Text, counts: &[FacetCounts]) {
    for facet in counts {
        text.line(Facet::of(facet).line());
    }
}
