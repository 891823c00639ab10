//! `get_document_outline`: the structure of a document without its content: bookmarks, headings, sheets or slides.

use kb_engine::{
    DocumentInfo, DocumentParts, DocumentSections, PageSource, PartContent, PartInfo, PartKind,
    Section,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::arguments::JoinedList;
use super::call::budget::{self, Attempt};
use super::call::context::{Context, non_empty};
use super::call::params::{
    ContinuationToken, DocumentName, IndexName, MaxTokens, SECTION_PATH, SectionName,
};
use super::call::stale;
use super::call::tool::Tool;
use crate::response::envelope::Continuation;
use crate::response::{Text, ToolError, ToolResponse, Warnings, time};

pub(super) struct GetDocumentOutline;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetDocumentOutlineParams {
    document_id: DocumentName,
    section: Option<SectionName>,
    index_name: Option<IndexName>,
    #[serde(default)]
    max_tokens: MaxTokens,
    continuation_token: Option<ContinuationToken>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Outline<'a> {
    #[schemars(default)]
    document_id: &'a str,
    title: Option<&'a str>,
    /// File type: pdf, xlsx, pptx, markdown, rust.
    r#type: &'a str,
    /// Human readable, e.g. 2.4MB.
    file_size: String,
    #[schemars(default)]
    file_size_bytes: u64,
    /// Of a document with pages.
    total_pages: Option<u32>,
    /// How it is known where its pages begin: physical (PDF), rendered, explicit or estimated.
    page_source: Option<&'static str>,
    bookmarks: Option<Vec<Bookmark<'a>>>,
    /// Of a spreadsheet.
    sheets: Option<Vec<Sheet<'a>>>,
    /// Of all its sheets.
    total_rows: Option<u64>,
    /// Of a presentation.
    total_slides: Option<u32>,
    slides: Option<Vec<Slide<'a>>>,
    #[schemars(default)]
    total_lines: u32,
    headings: Option<Vec<Heading<'a>>>,
    /// Of a program, in place of headings.
    symbols: Option<Vec<SymbolEntry<'a>>>,
    continuation: Option<Continuation>,
    warnings: Option<Warnings>,
}

#[derive(Serialize, JsonSchema)]
struct Bookmark<'a> {
    title: &'a str,
    page: u32,
    #[schemars(default)]
    level: u32,
    /// Pass as section to get_pages.
    #[schemars(default)]
    section: &'a str,
}

#[derive(Serialize, JsonSchema)]
struct Sheet<'a> {
    name: &'a str,
    /// The last row with a cell; 0 for an empty sheet, as columns.
    rows: u32,
    columns: u32,
    /// The row that names the columns, where one was detected.
    header_row: Option<u32>,
    hidden: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
struct Slide<'a> {
    number: u32,
    /// Absent where it has none.
    title: Option<&'a str>,
    hidden: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
struct Heading<'a> {
    title: &'a str,
    level: u32,
    /// Pass as section to get_document_data.
    section: &'a str,
    /// The page on which it begins.
    page: Option<u32>,
    #[schemars(default)]
    start_line: u32,
    #[schemars(default)]
    end_line: u32,
}

#[derive(Serialize, JsonSchema)]
struct SymbolEntry<'a> {
    name: &'a str,
    kind: &'static str,
    /// How it is introduced: fn parse.
    #[schemars(default)]
    title: &'a str,
    #[schemars(default)]
    level: u32,
    /// Pass as section to get_document_data.
    #[schemars(default)]
    section: &'a str,
    #[schemars(default)]
    start_line: u32,
    #[schemars(default)]
    end_line: u32,
}

impl Tool for GetDocumentOutline {
    const NAME: &'static str = "get_document_outline";
    const TITLE: &'static str = "Outline of a document";
    const DESCRIPTION: &'static str = "Structure of a document: bookmarks and pages, \
        sheets, slides, headings or code symbols, with the numbers and lines to fetch parts. Use before reading a \
        long document. section: only it and its subsections.";
    const JOINED_LISTS: &'static [JoinedList] = SECTION_PATH;

    type Params = GetDocumentOutlineParams;
    type Output = Outline<'static>;

    fn run(cx: &Context<'_>, params: &GetDocumentOutlineParams) -> Result<ToolResponse, ToolError> {
        let index_name = params.index_name.as_deref();
        let located = cx.indexes.document(index_name, &params.document_id)?;
        let cx = &cx.with_warnings(stale::of_document(&located.index, &located.document));
        let (kb, path) = (located.index.kb(), &located.document.path);
        let has_listed_parts = matches!(
            located.document.part_kind,
            Some(PartKind::Sheet | PartKind::Slide)
        );
        budget::fit(params.max_tokens.get(), |budget| {
            let page = cx.page(budget, params.continuation_token.as_deref());
            if has_listed_parts && params.section.is_none() {
                let found = kb.parts(path, &page);
                let found = found.map_err(|error| located.index.failure(error))?;
                return Ok(Attempt {
                    can_shrink: found.parts.len() > 1,
                    tokens: found.parts.tokens,
                    response: respond_parts(cx, &found),
                });
            }
            let found = match params.section.as_deref() {
                None => kb.sections(path, &page),
                Some(section) => kb.subsections(path, section, &page),
            };
            let found = found.map_err(|error| located.index.failure(error))?;
            Ok(Attempt {
                can_shrink: found.sections.len() > 1,
                tokens: found.sections.tokens,
                response: respond_sections(cx, &found),
            })
        })
    }
}

/// The outline of a document without what it is made of.
fn outline_of<'a>(
    cx: &Context<'_>,
    document: &'a DocumentInfo,
    token: Option<&str>,
) -> Outline<'a> {
    let total = |kind: PartKind| (document.part_kind == Some(kind)).then_some(document.parts);
    Outline {
        document_id: &document.path,
        title: non_empty(&document.title),
        r#type: &document.file_type,
        file_size: time::size(document.size_bytes),
        file_size_bytes: document.size_bytes,
        total_pages: total(PartKind::Page),
        page_source: None,
        bookmarks: None,
        sheets: None,
        total_rows: None,
        total_slides: total(PartKind::Slide),
        slides: None,
        total_lines: document.lines,
        headings: None,
        symbols: None,
        continuation: Some(Continuation::of(token)),
        warnings: Warnings::of(cx.warnings.clone()),
    }
}

/// The first lines of the text form.
fn head(cx: &Context<'_>, outline: &Outline<'_>) -> Text {
    let mut text = Text::new();
    text.warnings(&cx.warnings);
    let title = outline.title.unwrap_or_default();
    text.line(format!("{}  {title}", outline.document_id));
    let shown = |number: &'_ Option<u32>| number.map(|number| number.to_string());
    text.facts(&[
        ("type", Some(&outline.r#type)),
        ("size", Some(&outline.file_size)),
        ("bytes", Some(&outline.file_size_bytes)),
        ("lines", Some(&outline.total_lines)),
        (
            "pages",
            Some(&shown(&outline.total_pages).unwrap_or_default()),
        ),
        ("", Some(&outline.page_source.unwrap_or_default())),
        (
            "slides",
            Some(&shown(&outline.total_slides).unwrap_or_default()),
        ),
    ]);
    text
}

/// Headings, or the bookmarks of a document whose pages are its own.
fn respond_sections(cx: &Context<'_>, found: &DocumentSections) -> ToolResponse {
    let token = cx.token(found.sections.next.as_ref());
    let token = token.as_deref();
    let mut outline = outline_of(cx, &found.document, token);
    outline.page_source = found.page_source.map(PageSource::name);
    let mut text = head(cx, &outline);
    let are_bookmarks = found.page_source == Some(PageSource::Physical);
    for section in found.sections.iter() {
        let page = section.part.filter(|_| found.page_source.is_some());
        let page = page.map_or_else(String::new, |page| format!(", page {page}"));
        let lines = if are_bookmarks {
            String::new()
        } else {
            format!(", lines {}-{}", section.lines.first, section.lines.last)
        };
        let kind = section
            .kind
            .map_or_else(String::new, |kind| format!("{kind}, "));
        text.line(format!(
            "{} {}  {kind}level {}{page}{lines}",
            section.number, section.title, section.level
        ));
    }
    if found.sections.is_empty() {
        text.line(if are_bookmarks {
            "No bookmarks."
        } else {
            "No headings."
        });
    }
    if are_bookmarks {
        outline.bookmarks = Some(found.sections.iter().map(bookmark).collect());
    } else if found.sections.iter().any(|section| section.kind.is_some()) {
        outline.symbols = Some(found.sections.iter().filter_map(symbol).collect());
    } else {
        let is_paged = found.page_source.is_some();
        let headings = found.sections.iter();
        outline.headings = Some(headings.map(|one| heading(one, is_paged)).collect());
    }
    ToolResponse::new(&outline, text.continued("There is more", token))
}

/// Sheets or slides.
fn respond_parts(cx: &Context<'_>, found: &DocumentParts) -> ToolResponse {
    let token = cx.token(found.parts.next.as_ref());
    let token = token.as_deref();
    let mut outline = outline_of(cx, &found.document, token);
    let mut text = head(cx, &outline);
    if found.document.part_kind == Some(PartKind::Sheet) {
        outline.total_rows = Some(found.rows);
        text.line(format!("{} rows in all sheets", found.rows));
        let sheets = found.parts.iter().filter_map(sheet);
        let sheets: Vec<Sheet<'_>> = sheets.collect();
        for sheet in &sheets {
            text.line(sheet_line(sheet));
        }
        outline.sheets = Some(sheets);
    } else {
        let slides: Vec<Slide<'_>> = found.parts.iter().filter_map(slide).collect();
        for slide in &slides {
            let hidden = if slide.hidden.is_some() {
                ", hidden"
            } else {
                ""
            };
            let title = slide.title.unwrap_or("(no title)");
            text.line(format!("slide {}{hidden}  {title}", slide.number));
        }
        outline.slides = Some(slides);
    }
    ToolResponse::new(&outline, text.continued("There is more", token))
}

/// `[Revenue] 1000 rows, 4 columns, header in row 2`.
fn sheet_line(sheet: &Sheet<'_>) -> String {
    let mut line = match sheet.name {
        "" => String::new(),
        name => format!("[{name}] "),
    };
    line.push_str(&format!("{} rows, {} columns", sheet.rows, sheet.columns));
    if let Some(row) = sheet.header_row {
        line.push_str(&format!(", header in row {row}"));
    }
    if sheet.hidden.is_some() {
        line.push_str(", hidden");
    }
    line
}

fn bookmark(section: &Section) -> Bookmark<'_> {
    Bookmark {
        title: &section.title,
        page: section.part.unwrap_or(1),
        level: section.level.into(),
        section: &section.number,
    }
}

fn sheet(part: &PartInfo) -> Option<Sheet<'_>> {
    let PartContent::Sheet(sheet) = &part.content else {
        return None;
    };
    Some(Sheet {
        name: &sheet.name,
        rows: sheet.rows,
        columns: sheet.columns,
        header_row: sheet.header_row,
        hidden: sheet.is_hidden.then_some(true),
    })
}

fn slide(part: &PartInfo) -> Option<Slide<'_>> {
    let PartContent::Slide(slide) = &part.content else {
        return None;
    };
    Some(Slide {
        number: part.number,
        title: non_empty(&slide.title),
        hidden: slide.is_hidden.then_some(true),
    })
}

fn symbol(section: &Section) -> Option<SymbolEntry<'_>> {
    Some(SymbolEntry {
        name: section.name.as_deref()?,
        kind: section.kind?.name(),
        title: &section.title,
        level: section.level.into(),
        section: &section.number,
        start_line: section.lines.first,
        end_line: section.lines.last,
    })
}

fn heading(section: &Section, is_paged: bool) -> Heading<'_> {
    Heading {
        title: &section.title,
        level: section.level.into(),
        section: &section.number,
        page: section.part.filter(|_| is_paged),
        start_line: section.lines.first,
        end_line: section.lines.last,
    }
}

#[cfg(test)]
mod tests {
    use kb_engine::{Heading, PageSource, PartContent};
    use serde_json::json;

    use crate::tools::testing::{Fixture, parts};

    #[test]
    fn headings_have_numbers_that_fetch_them() {
        let fixture = Fixture::guides();
        let answer = fixture.answer("get_document_outline", json!({"document_id": "sails.md"}));
        let outline = &answer.structured;
        assert_eq!(
            (&outline["type"], &outline["total_lines"]),
            (&json!("markdown"), &json!(11))
        );
        let mending = &outline["headings"][1];
        assert_eq!(
            (&mending["title"], &mending["section"]),
            (&json!("Mending"), &json!("1.1"))
        );
        let given = json!({"document_id": "sails.md", "section": mending["section"]});
        let text = fixture.answer("get_document_data", given);
        let content = text.structured["data"]["content"].as_str().unwrap();
        assert!(content.starts_with("## Mending\n"), "{content}");
        let given = json!({"document_id": "sails.md:3", "section": "Sails > Storing"});
        let one = fixture.answer("get_document_outline", given);
        assert_eq!(one.structured["headings"], json!([outline["headings"][2]]));
        let code = fixture.answer("get_document_outline", json!({"document_id": "src/rig.rs"}));
        assert_eq!(code.structured["type"], "rust");
        assert_eq!(code.structured["continuation"], json!({"has_more": false}));
    }

    #[test]
    fn sheets_and_slides_are_listed_with_their_sizes() {
        let fixture = Fixture::harbour(&[]);
        let book = fixture.answer(
            "get_document_outline",
            json!({"document_id": "ledger.xlsx"}),
        );
        let expected = json!([
            {"name": "Dues", "rows": 6, "columns": 3, "header_row": 1},
            {"name": "Empty", "rows": 0, "columns": 0},
            {"name": "Corner", "rows": 1_048_576, "columns": 16_384, "hidden": true},
        ]);
        assert_eq!(book.structured["sheets"], expected);
        assert_eq!(book.structured["total_rows"], 1_048_582);
        assert_eq!(book.structured["type"], "xlsx");
        let lines = "[Dues] 6 rows, 3 columns, header in row 1\n[Empty] 0 rows, 0 columns\n";
        assert!(book.text.contains(lines), "{}", book.text);
        let talk = fixture.answer("get_document_outline", json!({"document_id": "talk.pptx"}));
        let expected = json!([
            {"number": 1, "title": "The new lens"},
            {"number": 2, "hidden": true},
            {"number": 3, "title": "Thanks"},
        ]);
        let outline = &talk.structured;
        assert_eq!(
            (&outline["slides"], &outline["total_slides"]),
            (&expected, &json!(3))
        );
        assert_eq!(
            (outline.get("headings"), outline.get("sheets")),
            (None, None)
        );
    }

    #[test]
    fn bookmarks_have_pages_and_headings_too() {
        let fixture = Fixture::new("paper", &[]);
        for (path, source) in [
            ("paper.pdf", PageSource::Physical),
            ("paper.odt", PageSource::Estimated),
        ] {
            let mut paper = parts::paper(&["One\nof three\n", "\n", "Two\n"]);
            path.clone_into(&mut paper.path);
            let heading = |level, title: &str, start, line| Heading {
                level,
                title: title.to_owned(),
                start,
                line,
                symbol: None,
            };
            paper.outline = vec![heading(1, "One", 0, 1), heading(2, "Two", 14, 4)];
            for part in &mut paper.parts {
                if let PartContent::Page(page) = &mut part.content {
                    page.source = source;
                }
            }
            fixture.add_documents(vec![paper]);
        }
        let answer = fixture.answer("get_document_outline", json!({"document_id": "paper.pdf"}));
        let outline = answer.structured;
        let expected = json!([
            {"title": "One", "page": 1, "level": 1, "section": "1"},
            {"title": "Two", "page": 3, "level": 2, "section": "1.1"},
        ]);
        assert_eq!(
            (&outline["bookmarks"], &outline["total_pages"]),
            (&expected, &json!(3))
        );
        assert_eq!(
            (&outline["page_source"], outline.get("headings")),
            (&json!("physical"), None)
        );
        let answer = fixture.answer("get_document_outline", json!({"document_id": "paper.odt"}));
        let outline = answer.structured;
        let expected = json!({"title": "Two", "level": 2, "section": "1.1", "page": 3, "start_line": 4, "end_line": 4});
        assert_eq!(
            (&outline["headings"][1], outline.get("bookmarks")),
            (&expected, None)
        );
        let given = json!({"document_id": "paper.pdf", "section": "Two"});
        let pages = fixture.answer("get_pages", given);
        assert_eq!(pages.structured["data"]["pages"][0]["page_number"], 3);
    }

    #[test]
    fn a_long_outline_has_several_pages() {
        let text: String = (1..=300)
            .map(|n| format!("## Heading number {n}\n\ntext\n\n"))
            .collect();
        let fixture = Fixture::new("long", &[("long.md", &text)]);
        let (mut titles, mut parts) = (Vec::new(), 0);
        let mut given = json!({"document_id": "long.md", "max_tokens": 1000});
        loop {
            let answer = fixture.answer("get_document_outline", given);
            let headings = answer.structured["headings"].as_array().unwrap();
            titles.extend(
                headings
                    .iter()
                    .map(|one| one["title"].as_str().unwrap().to_owned()),
            );
            parts += 1;
            let Some(token) = answer.structured["continuation"].get("token") else {
                break;
            };
            given = json!({"document_id": "long.md", "continuation_token": token});
        }
        let all: Vec<String> = (1..=300).map(|n| format!("Heading number {n}")).collect();
        assert_eq!(titles, all);
        assert!(parts > 3, "{parts}");
    }
}
