//! `get_pages`: a document in pages.

use kb_engine::{Cursor, DocumentPages};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::budget::{self, Attempt};
use super::call::context::Context;
use super::call::params::{ContinuationToken, DocumentName, IndexName, MaxTokens};
use super::call::stale;
use super::call::tool::Tool;
use crate::limits::LIST_LIMIT;
use crate::response::envelope::{Envelope, ResultPage};
use crate::response::{Text, ToolError, ToolResponse};

/// About how many tokens a page has.
const PAGE_TOKENS: u64 = 800;

/// Most ranges in one call.
const RANGES_LIMIT: usize = 200;

pub(super) struct GetPages;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetPagesParams {
    document_id: DocumentName,
    /// Pages such as 1-5,8,12. Omit for all.
    #[schemars(length(max = LIST_LIMIT))]
    page_range: Option<String>,
    index_name: Option<IndexName>,
    #[serde(default)]
    max_tokens: MaxTokens,
    continuation_token: Option<ContinuationToken>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct PagesData<'a> {
    pages: Vec<DocumentPage<'a>>,
    total_pages: u32,
    token_count: u64,
}

#[derive(Serialize, JsonSchema)]
struct DocumentPage<'a> {
    page_number: u32,
    content: &'a str,
}

impl Tool for GetPages {
    const NAME: &'static str = "get_pages";
    const TITLE: &'static str = "Read pages";
    const DESCRIPTION: &'static str =
        "Read a document in pages of about 800 tokens. Always returns at least one page.";

    type Params = GetPagesParams;
    type Output = Envelope<PagesData<'static>>;

    fn run(cx: &Context<'_>, params: &GetPagesParams) -> Result<ToolResponse, ToolError> {
        let ranges = ranges(params.page_range.as_deref().unwrap_or_default())?;
        let index_name = params.index_name.as_deref();
        let (index, document) = cx.indexes.document(index_name, &params.document_id)?;
        let cx = &cx.with_warnings(stale::of_document(&index, &document));
        budget::fit(params.max_tokens.get(), |budget| {
            let page = cx.page(budget, params.continuation_token.as_deref());
            let found = index.kb().pages(&document.path, &ranges, &page)?;
            Ok(Attempt {
                can_shrink: found.pages.len() > 1,
                tokens: found.pages.tokens,
                response: respond(cx, params, &ranges, &found),
            })
        })
    }
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

fn respond(
    cx: &Context<'_>,
    params: &GetPagesParams,
    ranges: &[(u32, u32)],
    found: &DocumentPages,
) -> ToolResponse {
    let wanted = match ranges {
        [] => u64::from(found.total),
        some => some
            .iter()
            .map(|(first, last)| u64::from(last.abs_diff(*first)) + 1)
            .sum(),
    };
    let cursor = found.pages.next.as_ref();
    let given = cursor.and_then(|cursor| cursor.offset().ok());
    let left = given.map(|given| wanted.saturating_sub(given).saturating_mul(PAGE_TOKENS));
    let last = found.pages.last();
    let next = last.map_or(1, |page| page.number.saturating_add(1).min(found.total));
    let next = next.to_string();
    let mut text = Text::new();
    text.warnings(&cx.warnings);
    for page in found.pages.iter() {
        let path = &found.document.path;
        text.line(format!("{path}  page {} of {}", page.number, found.total));
        text.passage(&page.text);
    }
    let page = ResultPage {
        tokens: found.pages.tokens,
        max_tokens: params.max_tokens.get().into(),
        token: cursor.map(Cursor::as_str),
        is_continued: params.continuation_token.is_some(),
        complete: "SUCCESS",
        items: "pages",
        tokens_left: left,
        page_range: Some(&next),
        ..ResultPage::default()
    };
    let pages = found.pages.iter().map(|page| DocumentPage {
        page_number: page.number,
        content: &page.text,
    });
    let data = PagesData {
        pages: pages.collect(),
        total_pages: found.total,
        token_count: page.tokens,
    };
    let envelope = page.envelope(data, cx.warnings.clone());
    ToolResponse::new(&envelope, text.envelope(&envelope))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tools::testing::Fixture;

    fn huge() -> Fixture {
        let text: String = (0..4000)
            .map(|n| format!("{n}: nothing happened on this day\n"))
            .collect();
        Fixture::new("huge", &[("huge.txt", &text)])
    }

    #[test]
    fn one_page_may_exceed_the_budget() {
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
    fn pages_keep_the_order_of_the_ranges() {
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
