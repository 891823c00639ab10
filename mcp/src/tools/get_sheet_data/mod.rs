//! `get_sheet_data`: rows of a sheet.

mod grid;
#[cfg(test)]
mod tests;

use kb_engine::{CellRange, SheetData};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::grid::Grid;
use super::call::budget::{self, Attempt};
use super::call::context::{Context, non_empty};
use super::call::params::{ContinuationToken, DocumentName, IndexName, MaxTokens};
use super::call::stale;
use super::call::tool::Tool;
use crate::limits::{CELLS_LIMIT, SHEET_LIMIT};
use crate::response::envelope::{Envelope, RangeArgument, ResultPage};
use crate::response::{Text, ToolError, ToolResponse, wording};

/// Rows of the range that is shown as an example of one.
const EXAMPLE_ROWS: u32 = 20;

/// Where a row alone is longer than any answer.
const CUT_ROW: &str = "a row is too long for one answer: its cells are cut; ask for fewer columns, or read its \
    line with get_document_data";

pub(super) struct GetSheetData;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetSheetDataParams {
    document_id: DocumentName,
    /// Omit for the first, and for CSV.
    #[schemars(length(max = SHEET_LIMIT))]
    sheet_name: Option<String>,
    /// Such as A1:D10, A:D or 3:10; its first row is the header.
    #[schemars(length(max = CELLS_LIMIT))]
    cell_range: Option<String>,
    index_name: Option<IndexName>,
    #[serde(default)]
    max_tokens: MaxTokens,
    continuation_token: Option<ContinuationToken>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Rows<'a> {
    /// Absent in a file that is one table.
    sheet_name: Option<&'a str>,
    /// The header row: the first of cell_range, else the detected one; letters of columns that it does not name.
    headers: Vec<&'a str>,
    /// Cells as they are displayed, under their headers; rows without cells are left out.
    rows: Vec<Vec<&'a str>>,
    /// Numbers of these rows in the sheet: 2-40,45.
    row_numbers: Option<String>,
    /// Letters of the columns, where those without cells are left out.
    columns: Option<Vec<&'a str>>,
    /// Rows of the sheet.
    total_rows: Option<u32>,
    token_count: u64,
}

impl Tool for GetSheetData {
    const NAME: &'static str = "get_sheet_data";
    const TITLE: &'static str = "Read a spreadsheet";
    const DESCRIPTION: &'static str =
        "Read rows of a spreadsheet (xlsx, xls, ods, csv) with headers.";

    type Params = GetSheetDataParams;
    type Output = Envelope<Rows<'static>>;

    fn run(cx: &Context<'_>, params: &GetSheetDataParams) -> Result<ToolResponse, ToolError> {
        let index_name = params.index_name.as_deref();
        let located = cx.indexes.document(index_name, &params.document_id)?;
        let cx = &cx.with_warnings(stale::of_document(&located.index, &located.document));
        let (kb, name) = (located.index.kb(), located.name());
        let (sheet, cells) = (params.sheet_name.as_deref(), params.cell_range.as_deref());
        // What models send for an argument that they leave out.
        let given = |text: &&str| !text.trim().is_empty();
        let (sheet, cells) = (sheet.filter(given), cells.filter(given));
        budget::fit(params.max_tokens.get(), |budget| {
            let page = cx.page(budget, params.continuation_token.as_deref());
            let found = kb.sheet(&name, sheet, cells, &page);
            let found = found.map_err(|error| located.index.failure(error))?;
            Ok(Attempt {
                can_shrink: found.rows.len() > 1,
                tokens: found.rows.tokens,
                response: respond(cx, params, &found),
            })
        })
    }
}

fn respond(cx: &Context<'_>, params: &GetSheetDataParams, found: &SheetData) -> ToolResponse {
    let mut warnings = cx.warnings.clone();
    if found.sheet.uncalculated > 0 {
        warnings.push(format!(
            "the file stores no values for {}: they show their formulas",
            wording::count(found.sheet.uncalculated.into(), "cell")
        ));
    }
    if found.document.parts == 0 {
        warnings.push("it has no sheets: the workbook is empty".to_owned());
    }
    let grid = Grid::of(found);
    if grid.is_cut() {
        warnings.push(CUT_ROW.to_owned());
    }
    let numbers = grid.row_numbers();
    let cursor = found.rows.next.as_ref();
    let rows = found.rows.len() as u64;
    let left = cursor.map(|_| {
        let each = found.rows.tokens.div_ceil(rows.max(1));
        found.left.saturating_mul(each)
    });
    let next = next_range(found);
    let row = found.rows.last();
    let row = row.map_or(1, |row| u64::from(row.number) + 1);
    let token = cx.token_at(cursor, ("row", row));
    let page = ResultPage {
        tokens: found.rows.tokens,
        max_tokens: params.max_tokens.get().into(),
        token: token.as_deref(),
        is_continued: params.continuation_token.is_some(),
        complete: "SUCCESS",
        items: "rows",
        tokens_left: left,
        range: next.as_deref().map(|next| (RangeArgument::Cells, next)),
        ..ResultPage::default()
    };
    let mut text = Text::new();
    text.warnings(&warnings);
    text.line(head(found, numbers.as_deref()));
    text.passage(&grid.text());
    let data = Rows {
        sheet_name: non_empty(&found.sheet.name),
        headers: grid.headers(),
        rows: grid.rows(),
        row_numbers: numbers,
        columns: grid.left_out().then(|| grid.letters()),
        total_rows: Some(found.sheet.rows),
        token_count: page.tokens,
    };
    let envelope = page.envelope(data, warnings);
    ToolResponse::new(&envelope, text.envelope(&envelope))
}

/// `sales.xlsx [Q1] rows 2-40 of 1000, A1:D1000`.
fn head(found: &SheetData, numbers: Option<&str>) -> String {
    let mut head = found.document.path.clone();
    if let Some(name) = non_empty(&found.sheet.name) {
        head = format!("{head} [{name}]");
    }
    let total = found.sheet.rows;
    head = match (numbers, found.range) {
        (_, None) => format!("{head} is empty: {total} rows"),
        (None, Some(range)) => format!("{head} {range}: no further rows, {total} in all"),
        (Some(rows), Some(range)) => format!("{head} rows {rows} of {total}, {range}"),
    };
    if found.sheet.is_hidden {
        head.push_str(", hidden");
    }
    head
}

/// Some rows after the last one, as a range.
fn next_range(found: &SheetData) -> Option<String> {
    let range = found.range?;
    let first_row = found
        .rows
        .last()?
        .number
        .saturating_add(1)
        .min(range.last_row);
    let next = CellRange {
        first_row,
        last_row: first_row.saturating_add(EXAMPLE_ROWS).min(range.last_row),
        ..range
    };
    Some(next.to_string())
}
