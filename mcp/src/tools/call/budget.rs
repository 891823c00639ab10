//! Keeps both forms of a result within the token limit of the caller. The engine counts the bytes of texts and names; the
//! two forms add escapes, field names and addresses. The continuation (actions and token) is not counted: its length
//! depends on the arguments, and the content of a result must not.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use crate::response::{ToolError, ToolResponse};

/// Bytes of each form for each token of the budget: 4, and a quarter more for the frame.
const BYTES_PER_TOKEN: usize = 5;

/// Below this many tokens the frame alone (status, continuation) and the names of one item are larger than
/// the budget; they are not counted there.
const FRAME_TOKENS: u32 = 100;

/// Most attempts with a smaller budget; those after [`PROPORTIONAL_TRIES`] halve it.
const TRIES: u32 = 16;
const PROPORTIONAL_TRIES: u32 = 8;

/// A result made with some budget.
pub(in crate::tools) struct Attempt {
    pub(in crate::tools) response: ToolResponse,
    /// Whether a smaller budget would make it smaller.
    pub(in crate::tools) can_shrink: bool,
    /// Its tokens as the engine counts them.
    pub(in crate::tools) tokens: u64,
}

/// The largest result of `attempt` whose two forms fit. `attempt` gets the budget for the engine; where
/// its result is continued depends on what it holds, so no item is lost and the same call has the same
/// result.
pub(in crate::tools) fn fit(
    max_tokens: u32,
    attempt: impl FnMut(u32) -> Result<Attempt, ToolError>,
) -> Result<ToolResponse, ToolError> {
    fit_from(max_tokens, max_tokens, attempt)
}

/// As [`fit`], for results that do not say how many tokens the engine counts: it counts names for each item
/// that the forms have once, so the first attempt has `more_percent` more, up to the 25 that a form may have.
pub(in crate::tools) fn fit_results(
    max_tokens: u32,
    more_percent: u32,
    attempt: impl FnMut(u32) -> Result<Attempt, ToolError>,
) -> Result<ToolResponse, ToolError> {
    let more = u64::from(max_tokens) * u64::from(more_percent) / 100;
    let first = max_tokens.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
    fit_from(first, max_tokens, attempt)
}

fn fit_from(
    mut budget: u32,
    max_tokens: u32,
    mut attempt: impl FnMut(u32) -> Result<Attempt, ToolError>,
) -> Result<ToolResponse, ToolError> {
    let limit = usize::try_from(max_tokens.max(FRAME_TOKENS)).unwrap_or(usize::MAX);
    let limit = limit.saturating_mul(BYTES_PER_TOKEN);
    let mut made = attempt(budget)?;
    for number in 0..TRIES {
        let measured = larger_form(&made.response);
        if measured <= limit || !made.can_shrink || budget <= 1 {
            break;
        }
        // What was given, not what was allowed, so that at least one item less is asked for; and a
        // little less than the proportion, for the frame does not shrink with the content.
        let given = u32::try_from(made.tokens).unwrap_or(u32::MAX).min(budget);
        let share = if number < PROPORTIONAL_TRIES {
            0.95 * limit as f64 / measured as f64
        } else {
            0.5
        };
        budget = ((f64::from(given) * share) as u32).clamp(1, budget - 1);
        made = attempt(budget)?;
    }
    Ok(made.response)
}

/// How many items of this many tokens fit: at least one.
pub(in crate::tools) fn count_that_fits(
    tokens: impl IntoIterator<Item = u64>,
    budget: u32,
) -> usize {
    let mut left = u64::from(budget);
    let fits = |tokens: u64| {
        left = left.checked_sub(tokens)?;
        Some(())
    };
    let mut tokens = tokens.into_iter().peekable();
    let has_any = tokens.peek().is_some();
    let count = tokens.map_while(fits).count();
    count.max(usize::from(has_any))
}

/// Bytes of the larger of the two forms, without actions and token.
pub(in crate::tools) fn larger_form(response: &ToolResponse) -> usize {
    let structured = &response.structured;
    let token = structured
        .get("continuation")
        .and_then(|it| it.get("token"));
    let token = token.and_then(Value::as_str).map_or(0, str::len);
    let actions = structured.get("actions").map_or(0, bytes_of);
    let structured = bytes_of(structured).saturating_sub(actions);
    structured.max(response.text.len()).saturating_sub(token)
}

/// Bytes of the JSON of a value.
fn bytes_of(value: &impl Serialize) -> usize {
    let mut counter = ByteCounter(0);
    let written = serde_json::to_writer(&mut counter, value);
    written.map_or(0, |()| counter.0)
}

/// Counts what is written to it.
struct ByteCounter(usize);

impl Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::Object;

    fn made(bytes: usize, can_shrink: bool, tokens: u32) -> Result<Attempt, ToolError> {
        let response = ToolResponse {
            structured: Object::new(),
            text: "x".repeat(bytes),
        };
        let tokens = tokens.into();
        Ok(Attempt {
            response,
            can_shrink,
            tokens,
        })
    }

    #[test]
    fn the_budget_shrinks_until_both_forms_fit() {
        // A frame of 900 bytes and texts that take six times their size.
        let answer = fit(1000, |budget| {
            made(900 + budget as usize * 24, true, budget)
        })
        .unwrap();
        assert!(
            (3000..=5000).contains(&answer.text.len()),
            "{}",
            answer.text.len()
        );
        let mut asked = Vec::new();
        let answer = fit(1000, |budget| {
            asked.push(budget);
            made(budget as usize * 5, true, budget)
        });
        assert_eq!((asked, answer.unwrap().text.len()), (vec![1000], 5000));
    }

    #[test]
    fn small_items_with_large_frames_become_fewer() {
        // Items of 60 tokens that take 1 300 bytes each.
        let items = |budget: u32| (budget / 60).clamp(1, 2);
        let answer = fit(500, |budget| {
            let items = items(budget);
            made(items as usize * 1300, items > 1, items * 60)
        });
        assert_eq!(answer.unwrap().text.len(), 1300);
    }

    #[test]
    fn one_item_is_never_cut() {
        let mut asked = 0;
        let answer = fit(100, |_| {
            asked += 1;
            made(100_000, false, 100)
        });
        assert_eq!((asked, answer.unwrap().text.len()), (1, 100_000));
    }
}
