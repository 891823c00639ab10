//! `get_document`: one whole document.

use kb_engine::{DocumentInfo, Lines, PageOptions, TOKEN_BYTES};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::context::{Context, non_empty};
use super::call::lines::{first_number, line, source};
use super::call::params::IndexName;
use super::call::stale;
use super::call::tool::Tool;
use crate::indexes::{Index, Located, Selection, updated_ms};
use crate::limits::DOCUMENT_LIMIT;
use crate::response::{Text, ToolError, ToolResponse, Warnings, time, uri};

/// A body of more tokens has a warning: most contexts have no room for it.
const LONG_TOKENS: u64 = 20_000;

/// Tokens of the outline in that warning.
const OUTLINE_TOKENS: u32 = 300;

/// Tokens of a body at most.
const BODY_TOKENS: u32 = 204_800;

/// Bytes of a body at most.
const BODY_BYTES: usize = BODY_TOKENS as usize * 4;

pub(super) struct GetDocument;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetDocumentParams {
    /// Handle, path or kb:// URI; path:A-B reads these lines only.
    #[schemars(length(max = DOCUMENT_LIMIT))]
    doc_handle: String,
    index_name: Option<IndexName>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Document<'a> {
    body: &'a str,
    /// ISO 8601.
    updated: String,
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
    warnings: Option<Warnings>,
}

impl Tool for GetDocument {
    const NAME: &'static str = "get_document";
    const TITLE: &'static str = "Get a document";
    const DESCRIPTION: &'static str = "Read one whole document by its handle (slug-suffix) or id. \
        Warns above 20 000 tokens, cuts at 800 KB. For parts of long ones: get_document_outline, then \
        get_pages or get_document_data.";
    const ALIASES: &'static [(&'static str, &'static str)] = &[("document_id", "doc_handle")];
    const MAX_RESULT_CHARACTERS: Option<u32> = Some(500_000);

    type Params = GetDocumentParams;
    type Output = Document<'static>;

    fn run(cx: &Context<'_>, params: &GetDocumentParams) -> Result<ToolResponse, ToolError> {
        let index_name = params.index_name.as_deref();
        let located = cx.indexes.document(index_name, &params.doc_handle)?;
        let cx = &cx.with_warnings(stale::of_document(&located.index, &located.document));
        let index = &located.index;
        let Body {
            document,
            text: body,
            lines,
            is_truncated,
        } = &Body::read(&located)?;
        let is_truncated = *is_truncated;
        let uri = uri::of_document(index.name(), &document.path);
        let updated = time::rfc3339(updated_ms(document));
        let mut warnings = cx.warnings.clone();
        warnings.extend(long_warning(index, document, body.len())?);
        let mut text = Text::new();
        text.warnings(&warnings);
        let source = source(&document.path, *lines);
        text.line(format!("{source}  {}", document.title));
        text.facts(&[
            ("handle", Some(&document.handle)),
            ("updated", Some(&updated)),
            ("bytes", Some(&document.text_bytes)),
            ("lines", Some(&document.lines)),
            ("revision", Some(&document.revision)),
            ("", Some(&uri)),
        ]);
        text.lines(body, first_number(document, *lines));
        if is_truncated {
            text.line(format!(
                "Cut after {} bytes: read the rest with get_pages or get_document_data.",
                body.len()
            ));
        }
        let result = Document {
            body,
            updated,
            full_size: document.text_bytes,
            is_truncated,
            start_line: line(lines.first),
            end_line: line(lines.last),
            total_lines: document.lines,
            revision_token: &document.revision,
            doc_handle: &document.handle,
            document_id: &document.path,
            title: non_empty(&document.title),
            uri,
            warnings: Warnings::of(warnings),
        };
        Ok(ToolResponse::new(&result, text.end()))
    }
}

/// What a call reads.
struct Body {
    document: DocumentInfo,
    text: String,
    /// Lines of the original that the text covers.
    lines: Lines,
    is_truncated: bool,
}

impl Body {
    /// The whole document, or the lines that its name selects; cut at [`BODY_BYTES`].
    fn read(located: &Located) -> Result<Body, ToolError> {
        let (kb, path) = (located.index.kb(), &located.document.path);
        if located.lines.is_some() {
            let page = PageOptions::default().max_tokens(BODY_TOKENS);
            let Selection { name, lines } = located.selection();
            let read = kb.text_paged(&name, lines, &page)?;
            return Ok(Body {
                is_truncated: read.next.is_some(),
                document: read.document,
                text: read.text,
                lines: read.lines,
            });
        }
        let (document, text) = kb.head(path, BODY_BYTES)?;
        let is_truncated = (text.len() as u64) < document.text_bytes;
        // Of an own text that is cut, the last line is known as that of the document at most.
        let last = if is_truncated && !document.has_own_lines {
            let ends = text.strip_suffix('\n').unwrap_or(&text).matches('\n');
            u32::try_from(ends.count())
                .unwrap_or(u32::MAX)
                .saturating_add(1)
        } else {
            document.lines
        };
        Ok(Body {
            lines: Lines {
                first: last.min(1),
                last,
            },
            is_truncated,
            document,
            text,
        })
    }
}

/// What to read instead of a long document: how long it is, and where its first sections are.
fn long_warning(
    index: &Index,
    document: &DocumentInfo,
    bytes: usize,
) -> Result<Option<String>, ToolError> {
    let tokens = (bytes as u64).div_ceil(TOKEN_BYTES);
    if tokens <= LONG_TOKENS {
        return Ok(None);
    }
    let page = PageOptions::default().max_tokens(OUTLINE_TOKENS);
    let outline = index.kb().sections(&document.path, &page)?.sections;
    let first: Vec<String> = outline
        .iter()
        .map(|section| {
            let lines = section.lines;
            format!(
                "{} {} {}-{}",
                section.number, section.title, lines.first, lines.last
            )
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
    Ok(Some(format!(
        "LONG_DOCUMENT: {tokens} tokens, {} lines. Next time read a part, as PATH:first-last, or \
         with get_document_data (section) or get_pages; {sections}",
        document.lines
    )))
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
        let answer = fixture.answer("get_document", json!({"doc_handle": "long.txt"}));
        let body = answer.structured["body"].as_str().unwrap();
        assert!((BODY_BYTES - 3..=BODY_BYTES).contains(&body.len()) && long.starts_with(body));
        assert_eq!(answer.structured["is_truncated"], true);
        assert_eq!(answer.structured["full_size"], 900_000);
        assert!(
            answer
                .text
                .ends_with("read the rest with get_pages or get_document_data.")
        );
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
        let answer = fixture.answer("get_document", json!({"doc_handle": "long.md"}));
        let warning = answer.structured["warnings"][0].as_str().unwrap();
        assert!(warning.starts_with("LONG_DOCUMENT: 21"), "{warning}");
        assert!(
            warning.contains("get_document_data") && warning.contains("2 Part 2 603-1204"),
            "{warning}"
        );
        assert!(warning.len() < 1500);
        assert_eq!(answer.structured["body"], text);
        let answer = fixture.answer("get_document", json!({"doc_handle": "short.md"}));
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
