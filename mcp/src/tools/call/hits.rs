//! What the three searches share: asking several files as one, warnings, and what is shown of a hit.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use kb_engine::{Hit, Kb, Progress, Relevance, Request, Response, search_files_with};

use super::context::Context;
use crate::indexes::{Index, Stale, is_of_file, skipped};
use crate::response::{Text, ToolError, uri};

/// An index older than that many days may be out of date.
pub(in crate::tools) const OLD_DAYS: f64 = 7.0;

/// Searches the files as if they were one, until the call is cancelled. Of several, those that cannot
/// be read are left out with a warning.
pub(in crate::tools) fn ask(
    cx: &Context<'_>,
    indexes: &[Arc<Index>],
    request: &Request,
) -> Result<Response, ToolError> {
    let files: Vec<&Kb> = indexes.iter().map(|index| index.kb()).collect();
    let error = match search(cx, &files, request) {
        Err(error) if is_of_file(&error) => error,
        result => return Ok(result?),
    };
    if let [index] = indexes {
        return Err(index.failure(error));
    }
    ask_readable(cx, indexes, request)
}

fn search(cx: &Context<'_>, files: &[&Kb], request: &Request) -> kb_engine::Result<Response> {
    let mut hook = |_: &Progress| {
        if cx.cancel.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    search_files_with(files, request, &mut hook)
}

/// Searches those that can be read, and warns of the others.
fn ask_readable(
    cx: &Context<'_>,
    indexes: &[Arc<Index>],
    request: &Request,
) -> Result<Response, ToolError> {
    let mut alone = request.clone();
    alone.page.cursor = None;
    let (mut numbers, mut readable, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for (number, index) in indexes.iter().enumerate() {
        match search(cx, &[index.kb()], &alone) {
            Err(error) if is_of_file(&error) => failed.push(index.failure(error)),
            _ => {
                numbers.push(number);
                readable.push(index.kb());
            }
        }
    }
    if readable.is_empty() && !failed.is_empty() {
        return Err(failed.swap_remove(0));
    }
    let mut response = search(cx, &readable, request)?;
    for hit in &mut response.hits.items {
        hit.file = numbers.get(hit.file).copied().unwrap_or(hit.file);
    }
    response.warnings.extend(failed.iter().map(skipped));
    Ok(response)
}

/// Name of the index that a hit comes from.
pub(in crate::tools) fn index_of<'i>(indexes: &'i [Arc<Index>], hit: &Hit) -> &'i str {
    indexes.get(hit.file).map_or("", |index| index.name())
}

/// Address of the document of a hit.
pub(in crate::tools) fn uri_of(indexes: &[Arc<Index>], hit: &Hit) -> String {
    uri::of_document(index_of(indexes, hit), &hit.document)
}

/// A score as it is shown: four digits after the point, in both forms.
pub(in crate::tools) fn score(score: f32) -> f64 {
    (f64::from(score.clamp(0.0, 1.0)) * 10_000.0).round() / 10_000.0
}

/// The warnings of a search: about ignored arguments, from the engine, whether the files contain
/// anything relevant, and whether they are out of date.
pub(in crate::tools) fn warnings(
    cx: &Context<'_>,
    indexes: &[Arc<Index>],
    response: &Response,
) -> Vec<String> {
    let mut warnings = cx.warnings.clone();
    warnings.extend(response.warnings.iter().cloned());
    if response.relevance == Relevance::NothingRelevant {
        let names = names(indexes);
        let verb = if indexes.len() == 1 {
            "contains"
        } else {
            "contain"
        };
        let nothing = format!("NOTHING_RELEVANT: {names} {verb} nothing relevant to the query");
        warnings.push(if response.hits.is_empty() {
            format!("{nothing}.")
        } else {
            format!("{nothing}; these are the nearest passages.")
        });
    }
    for index in indexes {
        // A file that is old but holds what its sources hold is not stale.
        let stale = index.staleness().filter(|stale| stale.changed != Some(0));
        if let Some(stale) = stale {
            warnings.push(format!("STALE: {}", out_of_date(index.name(), stale)));
        }
    }
    warnings
}

/// How old an index is and what has changed, in a sentence.
pub(in crate::tools) fn out_of_date(name: &str, stale: Stale) -> String {
    let days = stale.age_days.floor();
    let age = match days {
        days if days < 1.0 => "today".to_owned(),
        days if days < 2.0 => "1 day ago".to_owned(),
        days => format!("{days} days ago"),
    };
    let changed = match stale.changed {
        None => "whether its sources changed since is not known",
        Some(0) => "its sources have not changed since",
        Some(1) => "1 file changed since",
        Some(many) => &format!("{many} files changed since"),
    };
    format!("{name} was indexed {age}; {changed}.")
}

pub(in crate::tools) fn names(indexes: &[Arc<Index>]) -> String {
    let names: Vec<&str> = indexes.iter().map(|index| index.name()).collect();
    names.join(", ")
}

/// The first line of a result: `1. path:3-9  score 0.87  Title`.
pub(in crate::tools) fn first_line(text: &mut Text, number: usize, hit: &Hit) {
    let title = match hit.title.as_str() {
        "" => String::new(),
        title => format!("  {title}"),
    };
    // A document without text has no lines.
    let lines = match hit.lines.first {
        0 => String::new(),
        first => format!(":{first}-{}", hit.lines.last),
    };
    let score = score(hit.score);
    let path = &hit.document;
    text.line(format!("{number}. {path}{lines}  score {score:?}{title}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_age_of_an_index_is_in_days() {
        let said = |age_days, changed| out_of_date("a", Stale { age_days, changed });
        assert_eq!(
            said(9.7, Some(3)),
            "a was indexed 9 days ago; 3 files changed since."
        );
        assert_eq!(
            said(1.2, Some(1)),
            "a was indexed 1 day ago; 1 file changed since."
        );
        let unknown = "a was indexed today; whether its sources changed since is not known.";
        assert_eq!(said(0.3, None), unknown);
    }

    #[test]
    fn scores_are_shown_with_four_digits() {
        assert_eq!(score(0.92), 0.92);
        assert_eq!(score(0.123_456), 0.1235);
        assert_eq!(score(1.000_001), 1.0);
        assert_eq!(score(-0.1), 0.0);
    }
}
