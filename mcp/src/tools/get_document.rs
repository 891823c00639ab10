//! `get_document`: one whole document, as much of it as fits.

use kb_engine::{DocumentInfo, Lines, PageOptions, TOKEN_BYTES};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::budget::{self, Attempt};
use super::call::context::{Context, non_empty};
use super::call::lines::{first_number, line, source};
use super::call::params::{ContinuationToken, IndexName};
use super::call::tool::Tool;
use super::call::{hits, stale};
use crate::indexes::{Index, Located, Selection, updated_ms};
use crate::limits::DOCUMENT_LIMIT;
use crate::response::envelope::{Continuation, TOKENS_LIMIT};
use crate::response::{Text, ToolError, ToolResponse, Warnings, time, uri};

/// A body of more tokens has a warning, also where it was asked for: most contexts have no room for it.
const LONG_TOKENS: u64 = 20_000;

/// Tokens of the outline in that warning.
const OUTLINE_TOKENS: u32 = 300;

/// Tokens of a body by default. Both forms together, each with a quarter more, stay below the 25 000 tokens of a
/// result that Claude Code passes on.
const DEFAULT_TOKENS: u32 = 8000;

/// Tokens of a body at most: 800 KB.
const BODY_TOKENS: u32 = 204_800;

pub(super) struct GetDocument;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetDocumentParams {
    /// Handle, path or kb:// URI; path:A-B for lines.
    #[schemars(length(max = DOCUMENT_LIMIT))]
    doc_handle: String,
    index_name: Option<IndexName>,
    #[serde(default)]
    max_tokens: BodyTokens,
    continuation_token: Option<ContinuationToken>,
}

/// 4 bytes each; above 20000, only the body counts.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
struct BodyTokens(#[schemars(range(min = 1, max = BODY_TOKENS))] u32);

impl Default for BodyTokens {
    fn default() -> BodyTokens {
        BodyTokens(DEFAULT_TOKENS)
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Document<'a> {
    body: &'a str,
    /// ISO 8601.
    updated: String,
    /// When it was added; ISO 8601.
    #[serde(rename = "createdAt")]
    #[schemars(default)]
    created_at: String,
    /// Bytes of the whole document.
    full_size: u64,
    /// Whether the end of the document, or of the lines asked for, is missing.
    is_truncated: bool,
    /// Line of the original that the body begins with; of HTML approximate. Absent for an empty body.
    start_line: Option<u32>,
    end_line: Option<u32>,
    #[schemars(default)]
    total_lines: u32,
    /// Opaque; changes whenever the stored document changes.
    #[serde(rename = "revisionToken")]
    #[schemars(default)]
    revision_token: &'a str,
    #[schemars(default)]
    doc_handle: &'a str,
    #[schemars(default)]
    document_id: &'a str,
    title: Option<&'a str>,
    #[schemars(default)]
    uri: String,
    /// Where the body is truncated.
    continuation: Option<Continuation>,
    warnings: Option<Warnings>,
}

impl Tool for GetDocument {
    const NAME: &'static str = "get_document";
    const TITLE: &'static str = "Get a document";
    const DESCRIPTION: &'static str = "Read one whole document by its handle (slug-suffix) or id. For a long one: \
        its beginning, its sections, and a token to continue. For parts: get_document_outline, \
        then get_pages or get_document_data.";
    const ALIASES: &'static [(&'static str, &'static str)] = &[("document_id", "doc_handle")];
    const MAX_RESULT_CHARACTERS: Option<u32> = Some(500_000);

    type Params = GetDocumentParams;
    type Output = Document<'static>;

    fn run(cx: &Context<'_>, params: &GetDocumentParams) -> Result<ToolResponse, ToolError> {
        let index_name = params.index_name.as_deref();
        let located = cx.indexes.document(index_name, &params.doc_handle)?;
        let cx = &cx.with_warnings(stale::of_document(&located.index, &located.document));
        let max_tokens = params.max_tokens.0;
        if max_tokens > TOKENS_LIMIT {
            return Ok(attempt(cx, params, &located, max_tokens)?.response);
        }
        budget::fit(max_tokens, |budget| attempt(cx, params, &located, budget))
    }
}

/// The document, or the lines that its name selects, up to the end of a line where one fits into `budget`.
fn attempt(
    cx: &Context<'_>,
    params: &GetDocumentParams,
    located: &Located,
    budget: u32,
) -> Result<Attempt, ToolError> {
    let index = &located.index;
    let page = cx.page(budget, params.continuation_token.as_deref());
    let Selection { name, lines } = located.selection();
    let read = index.kb().text_paged(&name, lines, &page);
    let read = read.map_err(|error| index.failure(error))?;
    let (document, body) = (&read.document, &read.text);
    let token = cx.token(read.next.as_ref());
    let token = token.as_deref();
    let uri = uri::of_document(index.name(), &document.path);
    let updated = time::rfc3339(updated_ms(document));
    let created_at = time::rfc3339(document.added_ms);
    let mut warnings = cx.warnings.clone();
    let is_long = token.is_some() || tokens_of(body.len() as u64) > LONG_TOKENS;
    if is_long && params.continuation_token.is_none() {
        warnings.push(long_warning(index, document, token.is_some())?);
    }
    let mut text = Text::new();
    text.warnings(&warnings);
    let source = source(&document.path, read.lines);
    text.line(format!("{source}  {}", document.title));
    text.facts(&[
        ("handle", Some(&document.handle)),
        ("updated", Some(&updated)),
        ("created", Some(&created_at)),
        ("bytes", Some(&document.text_bytes)),
        ("lines", Some(&document.lines)),
        ("revision", Some(&document.revision)),
        ("", Some(&uri)),
    ]);
    text.lines(body, first_number(document, read.lines));
    let result = Document {
        body,
        updated,
        created_at,
        full_size: document.text_bytes,
        is_truncated: token.is_some(),
        start_line: line(read.lines.first),
        end_line: line(read.lines.last),
        total_lines: document.lines,
        revision_token: &document.revision,
        doc_handle: &document.handle,
        document_id: &document.path,
        title: non_empty(&document.title),
        uri,
        continuation: token.map(|token| Continuation::of(Some(token))),
        warnings: Warnings::of(warnings),
    };
    Ok(Attempt {
        can_shrink: body.len() > 1,
        tokens: read.tokens,
        response: ToolResponse::new(&result, text.continued(hits::lead(true), token)),
    })
}

fn tokens_of(bytes: u64) -> u64 {
    bytes.div_ceil(TOKEN_BYTES)
}

/// What to read instead of a long document: how long it is, and where its first sections are.
fn long_warning(
    index: &Index,
    document: &DocumentInfo,
    is_truncated: bool,
) -> Result<String, ToolError> {
    let page = PageOptions::default().max_tokens(OUTLINE_TOKENS);
    let outline = index.kb().sections(&document.path, &page)?.sections;
    let first: Vec<String> = outline
        .iter()
        .map(|section| {
            let Lines { first, last } = section.lines;
            format!("{} {} {first}-{last}", section.number, section.title)
        })
        .collect();
    let sections = match (first.is_empty(), outline.next.is_some()) {
        (true, _) => "it has no headings".to_owned(),
        (false, is_cut) => {
            let more = if is_cut {
                "; more in get_document_outline"
            } else {
                ""
            };
            format!("sections and lines: {}{more}", first.join("; "))
        }
    };
    let instead = if is_truncated {
        "This is the beginning. Read a part instead"
    } else {
        "Next time read a part"
    };
    Ok(format!(
        "LONG_DOCUMENT: {} tokens, {} lines. {instead}, as PATH:first-last, or with get_document_data (section) or \
         get_pages; {sections}",
        tokens_of(document.text_bytes),
        document.lines
    ))
}

#[cfg(test)]
mod tests {
    use kb_engine::{KbWriter, SourceInfo, document_of};
    use serde_json::json;

    use super::*;
    use crate::tools::testing::Fixture;

    #[test]
    fn a_document_is_read_by_any_of_its_names() {
        let fixture = Fixture::guides();
        let path = "guides/ropes.md";
        let by_path = fixture.answer("get_document", json!({"doc_handle": path}));
        assert_eq!(by_path.structured["document_id"], path);
        assert_eq!(by_path.structured["is_truncated"], false);
        let body = by_path.structured["body"].as_str().unwrap();
        assert!(body.starts_with("# Ropes\n\nEvery rope"));
        assert_eq!(by_path.structured["full_size"], body.len());
        let handle = &by_path.structured["doc_handle"];
        let uri = &by_path.structured["uri"];
        for given in [
            json!({"doc_handle": handle}),
            json!({"doc_handle": uri}),
            json!({"doc_handle": "ropes.md"}),
            json!({"document_id": path, "index_name": "guides"}),
        ] {
            assert_eq!(fixture.answer("get_document", given), by_path);
        }
        let error = fixture.error("get_document", json!({"doc_handle": "guides/rope.md"}));
        assert_eq!(error.code, "DOCUMENT_NOT_FOUND");
        assert!(error.text().contains(path), "{}", error.text());
    }

    #[test]
    fn a_long_body_is_cut_at_a_character() {
        let long = "\u{4e2d}".repeat(300_000);
        let fixture = Fixture::new("long", &[("long.txt", &long)]);
        let given = json!({"doc_handle": "long.txt", "max_tokens": 1_000_000});
        let answer = fixture.answer("get_document", given);
        let body = answer.structured["body"].as_str().unwrap();
        let most = BODY_TOKENS as usize * 4;
        assert!((most - 3..=most).contains(&body.len()) && long.starts_with(body));
        assert_eq!(answer.structured["is_truncated"], true);
        assert_eq!(answer.structured["full_size"], 900_000);
        let token = &answer.structured["continuation"]["token"];
        assert!(answer.text.trim_end().ends_with(token.as_str().unwrap()));
        let given = json!({"doc_handle": "long.txt", "continuation_token": token});
        let rest = fixture.answer("get_document", given).structured;
        assert_eq!(format!("{body}{}", rest["body"].as_str().unwrap()), long);
        assert_eq!(rest["is_truncated"], false);
    }

    /// Hosts pass on 25 000 tokens of both forms together.
    #[test]
    fn by_default_a_long_document_is_cut_to_what_hosts_take() {
        let line = |n: u32| format!("{n} \u{4e2d}\"\\ the tide tables of the harbour\n");
        let text: String = (1..9000).map(line).collect();
        let fixture = Fixture::new("long", &[("long.md", &format!("# Tides\n\n{text}"))]);
        let mut given = json!({"doc_handle": "long.md"});
        let mut whole = String::new();
        loop {
            let answer = fixture.answer("get_document", given.clone());
            let structured = serde_json::to_string(&answer.structured).unwrap();
            let (one, other) = (structured.len(), answer.text.len());
            assert!(one <= 40_000 && other <= 40_000, "{one} {other}");
            let is_first = given.get("continuation_token").is_none();
            assert_eq!(answer.text.contains("1 Tides 1-"), is_first);
            assert!(!is_first || one > 30_000, "{one}");
            whole.push_str(answer.structured["body"].as_str().unwrap());
            if answer.structured["is_truncated"] == false {
                break;
            }
            given["continuation_token"] = answer.structured["continuation"]["token"].clone();
        }
        assert_eq!(whole, format!("# Tides\n\n{text}"));
    }

    #[test]
    fn a_token_has_the_lines_of_the_first_call() {
        let line = |n: u32| format!("line {n} of the log of the walrus\n");
        let text: String = (1..400).map(line).collect();
        let fixture = Fixture::new("log", &[("log.txt", &text)]);
        let begin =
            json!({"doc_handle": "log.txt", "start_line": 100, "end_line": 250, "max_tokens": 500});
        let name = json!({"doc_handle": "log.txt:100-250", "max_tokens": 500});
        for first in [begin, name] {
            let mut read = fixture.answer("get_document", first).structured;
            let mut body = read["body"].as_str().unwrap().to_owned();
            while read["is_truncated"] == true {
                let token = &read["continuation"]["token"];
                let given = json!({"doc_handle": "log.txt", "continuation_token": token});
                read = fixture.answer("get_document", given).structured;
                body.push_str(read["body"].as_str().unwrap());
            }
            assert_eq!(body, (100..=250).map(line).collect::<String>());
        }
        // Lines that are given again count.
        let given = json!({"doc_handle": "log.txt:5-250", "max_tokens": 500});
        let first = fixture.answer("get_document", given).structured;
        let token = &first["continuation"]["token"];
        let given = json!({"doc_handle": "log.txt:7-9", "continuation_token": token});
        let error = fixture.error("get_document", given);
        assert_eq!(error.code, "INVALID_CONTINUATION_TOKEN");
    }

    #[test]
    fn a_name_with_lines_reads_these_lines() {
        let fixture = Fixture::guides();
        let given = json!({"doc_handle": "guides/ropes.md:5-7"});
        let answer = fixture.answer("get_document", given);
        let read = &answer.structured;
        assert!(
            read["body"]
                .as_str()
                .unwrap()
                .starts_with("## Knots\n\nThe bowline")
        );
        let lines = json!([read["start_line"], read["end_line"], read["total_lines"]]);
        assert_eq!(lines, json!([5, 7, 11]));
        assert_eq!(read["is_truncated"], false);
        assert!(
            answer.text.contains("\n5  ## Knots\n6\n7  The bowline"),
            "{}",
            answer.text
        );
        let handle = format!("{}#L5-L7", read["doc_handle"].as_str().unwrap());
        for name in [
            "ropes.md:5-7",
            "kb://guides/lines/5-7/guides/ropes.md",
            "kb://guides/doc/guides/ropes.md#L5-7",
            &handle,
        ] {
            let again = fixture.answer("get_document", json!({"doc_handle": name}));
            assert_eq!(again, answer, "{name}");
        }
        for wrong in ["ropes.md:12", "ropes.md:0", "ropes.md:7-5"] {
            let error = fixture.error("get_document", json!({"doc_handle": wrong}));
            assert_eq!(error.code, "INVALID_RANGE");
            assert!(error.text().contains("1 to 11"), "{}", error.text());
        }
    }

    #[test]
    fn a_long_document_has_a_warning_with_its_outline() {
        let section = |n: u32| format!("# Part {n}\n\n{}", "sails and ropes\n".repeat(600));
        let text: String = (1..=9).map(section).collect();
        let short = &text[..80_000];
        let fixture = Fixture::new("long", &[("long.md", &text), ("short.md", short)]);
        let given = json!({"doc_handle": "long.md", "max_tokens": 30_000});
        let answer = fixture.answer("get_document", given);
        let warning = answer.structured["warnings"][0].as_str().unwrap();
        assert!(warning.starts_with("LONG_DOCUMENT: 21"), "{warning}");
        assert!(
            warning.contains("get_document_data") && warning.contains("2 Part 2 603-1204"),
            "{warning}"
        );
        assert!(warning.len() < 1500);
        assert_eq!(answer.structured["body"], text);
        let given = json!({"doc_handle": "short.md", "max_tokens": 30_000});
        let answer = fixture.answer("get_document", given);
        assert!(answer.structured.get("warnings").is_none());
    }

    #[test]
    fn the_revision_changes_with_the_content() {
        let fixture = Fixture::new("a", &[("a.md", "one")]);
        let revision = || {
            let answer = fixture.answer("get_document", json!({"doc_handle": "a.md"}));
            answer.structured["revisionToken"].clone()
        };
        let first = revision();
        assert_eq!(revision(), first);
        let replace = |writer: &mut KbWriter| {
            let source = SourceInfo::of(b"two");
            writer.add_from(document_of("a.md", b"two")?, source, true)?;
            writer.commit()
        };
        fixture.index().write(replace).unwrap();
        assert_ne!(revision(), first);
    }
}
