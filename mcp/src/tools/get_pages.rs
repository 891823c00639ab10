//! `get_pages`: a document in pages.

use kb_engine::{Cursor, DocumentPages};
use serde_json::{Value, json};

use super::call::arguments::Arguments;
use super::call::budget::{self, Attempt};
use super::call::{Call, resolve};
use crate::response::envelope::Part;
use crate::response::{Text, ToolError, ToolResponse, object};

/// About how many tokens a page has.
const PAGE_TOKENS: u64 = 800;

/// Most ranges in one call.
const RANGES_LIMIT: usize = 200;

pub(super) fn call(call: &Call<'_>, arguments: &Arguments) -> Result<ToolResponse, ToolError> {
    let name = arguments.required_text("document_id");
    let ranges = ranges(arguments.text("page_range").unwrap_or_default())?;
    let (index, document) = resolve::document(call, arguments, name)?;
    budget::fit(arguments.max_tokens(), |budget| {
        let page = arguments.page(budget);
        let found = index.kb().pages(&document.path, &ranges, &page)?;
        Ok(Attempt {
            can_shrink: found.pages.len() > 1,
            tokens: found.pages.tokens,
            answer: answer(arguments, &ranges, &found),
        })
    })
}

/// Pages as people write them: `1-5,8,12`; nothing: all.
fn ranges(text: &str) -> Result<Vec<(u32, u32)>, ToolError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let bound = |text: &str| text.trim().parse::<u32>().ok();
    let range = |part: &str| match part.split_once('-') {
        Some((first, last)) => Some((bound(first)?, bound(last)?)),
        None => bound(part).map(|page| (page, page)),
    };
    let ranges: Option<Vec<(u32, u32)>> = text.split(',').map(range).collect();
    ranges
        .filter(|ranges| ranges.len() <= RANGES_LIMIT)
        .ok_or_else(|| {
            let shown: String = text.chars().take(60).collect();
            ToolError::new(
                "INVALID_RANGE",
                format!("page_range: {shown:?} is not a list of pages"),
            )
            .with_hint(format!(
                "Write it as 1-5,8,12, at most {RANGES_LIMIT} of them"
            ))
        })
}

fn answer(arguments: &Arguments, ranges: &[(u32, u32)], found: &DocumentPages) -> ToolResponse {
    let asked = match ranges {
        [] => u64::from(found.total),
        some => some
            .iter()
            .map(|(first, last)| u64::from(last.abs_diff(*first)) + 1)
            .sum(),
    };
    let next = found.pages.next.as_ref();
    let given = next.and_then(|cursor| cursor.offset().ok());
    let left = given.map(|given| asked.saturating_sub(given).saturating_mul(PAGE_TOKENS));
    let range = found
        .pages
        .last()
        .map_or(1, |page| page.number.saturating_add(1).min(found.total));
    let range = range.to_string();
    let part = Part {
        tokens: found.pages.tokens,
        max_tokens: arguments.max_tokens().into(),
        token: next.map(Cursor::as_str),
        is_continued: arguments.is_continued(),
        whole: "SUCCESS",
        items: "pages",
        left,
        range: Some(("page_range", &range)),
        ..Part::default()
    };
    let pages: Vec<Value> = found
        .pages
        .iter()
        .map(|page| json!({"page_number": page.number, "content": page.text}))
        .collect();
    let warnings = arguments.warnings();
    let data = object(json!({"pages": pages, "total_pages": found.total}));
    let structured = part.around(data, &warnings);
    let mut text = Text::new();
    text.warnings(&warnings);
    for page in &found.pages {
        let path = &found.document.path;
        text.line(format!("{path}  page {} of {}", page.number, found.total));
        text.passage(&page.text);
    }
    let text = text.envelope(&structured);
    ToolResponse { structured, text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::Fixture;

    fn huge() -> Fixture {
        let text: String = (0..4000)
            .map(|n| format!("{n}: nothing happened on this day\n"))
            .collect();
        Fixture::new("huge", &[("huge.txt", &text)])
    }

    #[test]
    fn one_page_always_comes_also_when_it_is_over_the_budget() {
        let fixture = huge();
        let answer = fixture.answer(
            "get_pages",
            json!({"document_id": "huge.txt", "max_tokens": 100}),
        );
        let data = &answer.structured["data"];
        assert_eq!(data["pages"].as_array().unwrap().len(), 1);
        assert!(data["total_pages"].as_u64().unwrap() > 30);
        let status =
            json!({"code": "partial_success", "message": "TOKEN_LIMIT_EXCEEDED_BUT_INCLUDED"});
        assert_eq!(answer.structured["status"], status);
        let actions = answer.structured["actions"].as_array().unwrap();
        let ids: Vec<&str> = actions
            .iter()
            .map(|action| action["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids, ["CONTINUE", "INCREASE_LIMIT", "USE_SPECIFIC_RANGE"]);
    }

    #[test]
    fn pages_are_given_in_the_order_asked_for() {
        let fixture = huge();
        let given = json!({"document_id": "huge.txt", "page_range": "3, 1-2", "max_tokens": 9000});
        let answer = fixture.answer("get_pages", given);
        let pages = answer.structured["data"]["pages"].as_array().unwrap();
        let numbers: Vec<_> = pages
            .iter()
            .map(|page| page["page_number"].as_u64().unwrap())
            .collect();
        assert_eq!(numbers, [3, 1, 2]);
        assert_eq!(answer.structured["status"]["message"], "SUCCESS");
        for wrong in ["0", "2-1", "1-99999", "x", "1-", "-3", "1,,2", "1;2"] {
            let given = json!({"document_id": "huge.txt", "page_range": wrong});
            let error = fixture.error("get_pages", given);
            assert_eq!(error.code, "INVALID_RANGE", "{wrong}");
        }
        let given = json!({"document_id": "huge.txt", "page_range": "99999"});
        assert!(
            fixture.error("get_pages", given).facts["total_pages"]
                .as_u64()
                .unwrap()
                > 30
        );
    }
}
