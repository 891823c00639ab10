//! `get_pages`: a document in pages.

use kb_engine::{DocumentPages, PageSource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::arguments::JoinedList;
use super::call::budget::{self, Attempt};
use super::call::context::{Context, non_empty};
use super::call::lines::{first_number, line, source};
use super::call::params::{
    ContinuationToken, DocumentName, IndexName, MaxTokens, SECTION_PATH, SectionName,
};
use super::call::ranges::ranges;
use super::call::stale;
use super::call::tool::Tool;
use crate::limits::LIST_LIMIT;
use crate::response::envelope::{Envelope, RangeArgument, ResultPage};
use crate::response::{Text, ToolError, ToolResponse};

pub(super) struct GetPages;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetPagesParams {
    document_id: DocumentName,
    /// Pages such as 3, 1-5,8 or 9-. Omit for all.
    #[schemars(length(max = LIST_LIMIT))]
    page_range: Option<String>,
    section: Option<SectionName>,
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
    /// How it is known where it begins: physical (PDF), rendered, explicit or estimated. Absent: about 800 tokens of a text.
    source: Option<&'static str>,
    /// The number printed on it, where it is another one.
    label: Option<&'a str>,
    /// Line of the original that content begins with; of HTML approximate.
    start_line: Option<u32>,
    end_line: Option<u32>,
}

impl Tool for GetPages {
    const NAME: &'static str = "get_pages";
    const TITLE: &'static str = "Read pages";
    const DESCRIPTION: &'static str = "Read pages of a document: real pages (PDF, Word, RTF, ODT), or parts of \
        about 800 tokens. All, page_range, or those of a section or of lines. A page over \
        max_tokens comes in parts.";
    const JOINED_LISTS: &'static [JoinedList] = SECTION_PATH;

    type Params = GetPagesParams;
    type Output = Envelope<PagesData<'static>>;

    fn run(cx: &Context<'_>, params: &GetPagesParams) -> Result<ToolResponse, ToolError> {
        let ranges = ranges(RangeArgument::Pages, params.page_range.as_deref())?;
        let index_name = params.index_name.as_deref();
        let located = cx.indexes.document(index_name, &params.document_id)?;
        let cx = &cx.with_warnings(stale::of_document(&located.index, &located.document));
        let (kb, path) = (located.index.kb(), &located.document.path);
        if params.section.is_some() && !ranges.is_empty() {
            let sentence = "section and page_range are both given; a call reads only one of them";
            return Err(ToolError::new("INVALID_ARGUMENT", sentence)
                .with_fact("argument", "section")
                .with_hint("Omit one of them"));
        }
        budget::fit(params.max_tokens.get(), |budget| {
            let page = cx.page(budget, params.continuation_token.as_deref());
            let found = match (params.section.as_deref(), located.lines) {
                (Some(section), _) => kb.section_pages(path, section, &page),
                (None, Some(lines)) if ranges.is_empty() => kb.pages_of_lines(path, lines, &page),
                (None, _) => kb.pages(path, &ranges, &page),
            };
            let found = found.map_err(|error| located.index.failure(error))?;
            Ok(Attempt {
                can_shrink: found.pages.len() > 1,
                tokens: found.pages.tokens,
                response: respond(cx, params, &found),
            })
        })
    }
}

fn respond(cx: &Context<'_>, params: &GetPagesParams, found: &DocumentPages) -> ToolResponse {
    let cursor = found.pages.next.as_ref();
    let bytes = found.document.text_bytes / u64::from(found.total.max(1));
    let left = cursor.map(|_| found.left.saturating_mul(bytes.div_ceil(4).max(1)));
    let last = found.pages.last();
    // In one that is divided it goes on.
    let step = u32::from(!found.pages.is_divided);
    let next = last.map_or(1, |page| page.number.saturating_add(step).min(found.total));
    let token = cx.token_at(cursor, ("page", next.into()));
    let next = next.to_string();
    let mut text = Text::new();
    text.warnings(&cx.warnings);
    for page in found.pages.iter() {
        let source = source(&found.document.path, page.lines);
        let mut head = format!("{source}  page {} of {}", page.number, found.total);
        if let Some(source) = page.source {
            head = format!("{head}, {}", source.name());
        }
        if let Some(label) = non_empty(&page.label) {
            head = format!("{head}, printed {label}");
        }
        text.line(head);
        // A page of its own is cited by its number.
        let number = first_number(&found.document, page.lines);
        text.lines(&page.text, number.filter(|_| page.source.is_none()));
    }
    let page = ResultPage {
        tokens: found.pages.tokens,
        max_tokens: params.max_tokens.get().into(),
        is_cut: found.pages.is_divided,
        token: token.as_deref(),
        is_continued: params.continuation_token.is_some(),
        complete: "SUCCESS",
        items: "pages",
        tokens_left: left,
        range: Some((RangeArgument::Pages, &next)),
        ..ResultPage::default()
    };
    let pages = found.pages.iter().map(|page| DocumentPage {
        page_number: page.number,
        content: &page.text,
        source: page.source.map(PageSource::name),
        label: non_empty(&page.label),
        start_line: line(page.lines.first),
        end_line: line(page.lines.last),
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

    use crate::tools::testing::{Fixture, parts};

    fn huge() -> Fixture {
        let text: String = (0..4000)
            .map(|n| format!("{n}: nothing happened on this day\n"))
            .collect();
        Fixture::new("huge", &[("huge.txt", &text)])
    }

    #[test]
    fn a_page_too_long_for_any_answer_comes_in_parts() {
        let line = "The minutes of the harbour board.\n";
        let text = line.repeat(200_000 / line.len());
        let fixture = Fixture::new("long", &[]);
        fixture.add_documents(vec![parts::paper(&[&text, "The end.\n"])]);
        let mut given = json!({"document_id": "paper.pdf", "max_tokens": 9000});
        let mut joined = String::new();
        for _ in 0..20 {
            let answer = fixture.answer("get_pages", given);
            let page = &answer.structured["data"]["pages"][0];
            joined.push_str(page["content"].as_str().unwrap());
            if answer.structured["data"]["pages"].get(1).is_some() {
                break;
            }
            assert_eq!(
                answer.structured["status"]["message"],
                "TOKEN_LIMIT_REACHED"
            );
            given = json!({"continuation_token": answer.structured["continuation"]["token"]});
        }
        assert_eq!(joined, text);
    }

    #[test]
    fn a_page_over_the_budget_comes_whole() {
        // S3-64, S3-65, S3-67
        let fixture = huge();
        let answer = fixture.answer(
            "get_pages",
            json!({"document_id": "huge.txt", "max_tokens": 100}),
        );
        let data = &answer.structured["data"];
        assert_eq!(data["pages"].as_array().unwrap().len(), 1);
        assert!(data["total_pages"].as_u64().unwrap() > 30);
        assert!(data["token_count"].as_u64().unwrap() > 700);
        let content = data["pages"][0]["content"].as_str().unwrap();
        assert!(content.starts_with("0: nothing") && content.ends_with("day\n"));
        assert_eq!(
            data["pages"][0]["end_line"].as_u64().unwrap() as usize,
            content.lines().count()
        );
        let status =
            json!({"code": "partial_success", "message": "TOKEN_LIMIT_EXCEEDED_BUT_INCLUDED"});
        assert_eq!(answer.structured["status"], status);
        let actions = answer.structured["actions"].as_array().unwrap();
        let ids: Vec<&str> = actions
            .iter()
            .map(|action| action["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids, ["CONTINUE", "INCREASE_LIMIT"]);
        let next = json!({"document_id": "huge.txt", "max_tokens": 3000,
            "continuation_token": answer.structured["continuation"]["token"]});
        let next = fixture.answer("get_pages", next);
        let second = &next.structured["data"]["pages"][0];
        assert_eq!(second["page_number"], 2);
        assert_eq!(
            second["start_line"].as_u64(),
            data["pages"][0]["end_line"].as_u64().map(|last| last + 1)
        );
        assert_eq!(next.structured["data"]["pages"][1]["page_number"], 3);
        assert_eq!(next.structured["status"]["message"], "TOKEN_LIMIT_REACHED");
    }

    #[test]
    fn pages_of_their_own_say_their_source() {
        let fixture = Fixture::harbour(&[]);
        let hits = fixture.answer(
            "search",
            json!({"query": "anchorage cable", "scope": "chunks"}),
        );
        let hit = &hits.structured["data"]["results"][0];
        let location = json!({"document_type": "pdf", "page": 4, "start_line": 5, "end_line": 5});
        assert_eq!(hit["location"], location);
        assert_eq!(hit["metadata"]["total_pages"], 4);
        let told = "1. pilot-book.pdf p. 4  score ";
        assert!(hits.text.contains(told), "{}", hits.text);
        let given =
            json!({"document_id": hit["document_id"], "page_range": hit["location"]["page"]});
        let answer = fixture.answer("get_pages", given);
        let expected = json!([{
            "page_number": 4,
            "content": "Anchorage is forbidden over the cable.\n",
            "source": "physical",
            "start_line": 5,
            "end_line": 5,
        }]);
        assert_eq!(answer.structured["data"]["pages"], expected);
        let first = fixture.answer(
            "get_pages",
            json!({"document_id": "pilot-book.pdf", "page_range": "1"}),
        );
        assert_eq!(first.structured["data"]["pages"][0]["label"], "ii");
        let told = "pilot-book.pdf:1-3  page 1 of 4, physical, printed ii\n```\nPilot book\n";
        assert!(first.text.starts_with(told), "{}", first.text);
        for (document, tool) in [
            ("ledger.xlsx", "get_sheet_data"),
            ("talk.pptx", "get_slides"),
        ] {
            let error = fixture.error("get_pages", json!({"document_id": document}));
            assert_eq!(error.code, "UNSUPPORTED_DOCUMENT_TYPE");
            assert!(
                error.text().ends_with(&format!("{tool} reads it.")),
                "{}",
                error.text()
            );
        }
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
        let given =
            json!({"document_id": "huge.txt", "page_range": "1-2,30-", "max_tokens": 20000});
        let open = fixture.answer("get_pages", given);
        let clipped = json!({"document_id": "huge.txt", "page_range": "1-2,30-99999",
            "max_tokens": 20000});
        assert_eq!(open, fixture.answer("get_pages", clipped));
        let pages = open.structured["data"]["pages"].as_array().unwrap();
        let total = open.structured["data"]["total_pages"].as_u64().unwrap();
        assert_eq!(pages.len() as u64, 2 + total - 29);
        assert_eq!(open.structured["continuation"]["has_more"], false);
        for wrong in ["0", "2-1", "x", "-", "-3", "1,,2", "1;2"] {
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
    #[test]
    fn pages_have_lines_and_are_found_by_them() {
        let fixture = huge();
        let pages = |given: serde_json::Value| {
            let mut given = given.clone();
            given["max_tokens"] = 20_000.into();
            let answer = fixture.answer("get_pages", given);
            answer.structured["data"]["pages"]
                .as_array()
                .unwrap()
                .clone()
        };
        let second = pages(json!({"document_id": "huge.txt", "page_range": "2"}));
        let (first, last) = (&second[0]["start_line"], &second[0]["end_line"]);
        let content = second[0]["content"].as_str().unwrap();
        let lines = last.as_u64().unwrap() - first.as_u64().unwrap() + 1;
        assert_eq!(content.lines().count() as u64, lines);
        let number = first.as_u64().unwrap() - 1;
        assert!(
            content.starts_with(&format!("{number}: nothing")),
            "{content}"
        );
        let named = json!({"document_id": format!("huge.txt:{first}-{last}")});
        assert_eq!(pages(named), second);
        let across =
            json!({"document_id": format!("huge.txt:{last}-{}", last.as_u64().unwrap() + 1)});
        assert_eq!(pages(across).len(), 2);
        let text = format!("# A\n\n{}# B\n\nthe end\n", "a line of words\n".repeat(600));
        let fixture = Fixture::new("b", &[("b.md", &text)]);
        let given = json!({"document_id": "b.md", "section": "B"});
        let answer = fixture.answer("get_pages", given);
        let pages = answer.structured["data"]["pages"].as_array().unwrap();
        assert_eq!(pages.len(), 1);
        assert!(
            pages[0]["content"]
                .as_str()
                .unwrap()
                .ends_with("# B\n\nthe end\n")
        );
        let given = json!({"document_id": "b.md", "section": "B", "page_range": "1"});
        assert_eq!(fixture.error("get_pages", given).code, "INVALID_ARGUMENT");
    }
}
