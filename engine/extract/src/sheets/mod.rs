//! Sheets: workbooks of spreadsheet programs, and tables as text. Each sheet is a part, each row that has cells one
//! line of text ([`kb_types::cell_text`]).

pub(super) mod csv;
mod number_format;
pub(super) mod ods;
mod workbook;
pub(super) mod xls;
pub(super) mod xlsx;

#[cfg(test)]
pub(super) mod tests;
