//! Pages, sheets and slides.

use kb_engine::{Cursor, PageOptions, PartContent, SheetRow, column_name};
use maud::{Markup, html};

use super::shown::Shown;
use crate::answer::Problem;
use crate::text::numbers::counted;

/// Tokens of one page of rows.
const ROWS_TOKENS: u32 = 30_000;

/// Rows around one that the address names.
const ROWS_BEFORE: u32 = 20;
const ROWS_AFTER: u32 = 500;

/// Most columns that are shown of a sheet; `cells` in the address shows others.
const COLUMNS: u32 = 256;

/// Tokens of the texts of pages and slides that are shown at once.
const TEXT_TOKENS: u32 = 60_000;

/// The rows of one sheet, with a tab for each.
pub(super) fn sheet(shown: &Shown<'_>) -> Result<Markup, Problem> {
    let kb = shown.file.kb();
    let path = &shown.document.path;
    let parts = kb.parts(path, &PageOptions::default().max_tokens(ROWS_TOKENS))?;
    let asked = shown.visit.parameters.first("sheet");
    let mut page = PageOptions::default().max_tokens(ROWS_TOKENS);
    page.cursor = shown.visit.parameters.first("cursor").map(Cursor::from);
    let row = shown
        .visit
        .parameters
        .first("row")
        .and_then(|row| row.parse::<u32>().ok());
    let given = shown.visit.parameters.first("cells").map(str::to_owned);
    let around = row.filter(|row| *row > ROWS_BEFORE).map(|row| {
        let (first, last) = (row - ROWS_BEFORE, row.saturating_add(ROWS_AFTER));
        format!("A{first}:XFD{last}")
    });
    let data = kb.sheet(path, asked, given.or(around).as_deref(), &page)?;
    let rows = data.header.iter().chain(&data.rows.items);
    let last = rows
        .filter_map(|row| row.cells.last())
        .map(|(column, _)| *column);
    let first = data.range.map_or(1, |range| range.first_column);
    let last = last.max().unwrap_or(first);
    let is_cut = last - first >= COLUMNS;
    let last = last.min(first.saturating_add(COLUMNS - 1));
    let query = |sheet: &str| format!("sheet={}", kb_engine::percent::encode(sheet, false));
    Ok(html! {
        @if parts.parts.items.len() > 1 {
            nav.tabs aria-label="Sheets" {
                @for part in &parts.parts.items {
                    @if let PartContent::Sheet(sheet) = &part.content {
                        a href=(shown.address(&query(&sheet.name)))
                            aria-current=[(part.number == data.number).then_some("page")] { (sheet.name) }
                    }
                }
            }
        }
        div.scrolled tabindex="0" {
            table.sheet {
                thead {
                    tr { td {} @for column in first..=last { th scope="col" { (column_name(column)) } } }
                    @if let Some(header) = &data.header { (sheet_row(header, first, last, row)) }
                }
                tbody { @for one in &data.rows.items { (sheet_row(one, first, last, row)) } }
            }
        }
        @if is_cut {
            p.quiet { "The sheet has more columns: " code { "?cells=IW1:ZZ100" } " in the address shows others." }
        }
        @if data.rows.items.is_empty() && data.header.is_none() {
            p.quiet { "This sheet is empty." }
        }
        @if let Some(next) = &data.rows.next {
            p { a rel="next" href=(shown.address(&format!("{}&cursor={}", query(&data.sheet.name), kb_engine::percent::encode(next.as_str(), false)))) {
                (counted(data.left, "more row"))
            } }
        }
    })
}

/// A row with its cells from column `first` to `last`. Empty ones side by side are one, so that a row of few cells is
/// short however wide the sheet is.
fn sheet_row(row: &SheetRow, first: u32, last: u32, marked: Option<u32>) -> Markup {
    let mut shown: Vec<(u32, Option<String>)> = Vec::new();
    let mut next = first;
    for (column, cell) in &row.cells {
        if *column < next || *column > last {
            continue;
        }
        if *column > next {
            shown.push((column - next, None));
        }
        shown.push((1, Some(cell.displayed().to_string())));
        next = column.saturating_add(1);
    }
    if next <= last {
        shown.push((last - next + 1, None));
    }
    html! {
        tr.marked[marked == Some(row.number)] id={ "R" (row.number) } {
            th.number scope="row" { (row.number) }
            @for (width, text) in &shown {
                td colspan=[(*width > 1).then_some(width)] { @if let Some(text) = text { (text) } }
            }
        }
    }
}

/// The slides with their notes.
pub(super) fn slides(shown: &Shown<'_>) -> Result<Markup, Problem> {
    let page = options(shown);
    let slides = shown.file.kb().slides(&shown.document.path, &[], &page)?;
    Ok(html! {
        ol.slides {
            @for slide in &slides.slides.items {
                li id={ "slide-" (slide.number) } value=(slide.number) {
                    h2 { "Slide " (slide.number) @if !slide.title.is_empty() { ": " (slide.title) } @if slide.is_hidden { " " span.quiet { "(hidden)" } } }
                    p.passage { (slide.text) }
                    @if !slide.notes.is_empty() { details open { summary { "Notes" } p.passage { (slide.notes) } } }
                }
            }
        }
        (more(shown, slides.slides.next.as_ref()))
    })
}

/// The pages with their texts.
pub(super) fn pages(shown: &Shown<'_>) -> Result<Markup, Problem> {
    let page = options(shown);
    let pages = shown.file.kb().pages(&shown.document.path, &[], &page)?;
    Ok(html! {
        @for page in &pages.pages.items {
            section.page id={ "page-" (page.number) } {
                h2 { "Page " (page.number) @if !page.label.is_empty() { " (" (page.label) ")" } }
                p.passage { (page.text) }
            }
        }
        (more(shown, pages.pages.next.as_ref()))
    })
}

fn options(shown: &Shown<'_>) -> PageOptions {
    let mut page = PageOptions::default().max_tokens(TEXT_TOKENS);
    page.cursor = shown.visit.parameters.first("cursor").map(Cursor::from);
    page
}

fn more(shown: &Shown<'_>, next: Option<&Cursor>) -> Markup {
    html! {
        @if let Some(next) = next {
            p { a rel="next" href=(shown.address(&format!("cursor={}", kb_engine::percent::encode(next.as_str(), false)))) { "More" } }
        }
    }
}
