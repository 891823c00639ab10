//! Excel workbooks since 2007.
//!
//! Read by our own walk over the XML of the package: a cell's value, its format and its formula stand side by
//! side there, so one pass has all three.

mod parts;
mod shared_formulas;
mod sheet;

pub(crate) use self::parts::FORMAT;
use self::parts::{Strings, Styles};
use crate::extracted::Extracted;
use crate::package::ooxml::{self, Relationships};
use crate::package::zip_package::ZipPackage;
use crate::sheets::workbook::Workbook;
use crate::skip_reason::SkipReason;

/// Reads a package whose main part is a workbook.
///
/// # Errors
/// Damaged, encrypted or beyond a limit.
pub(crate) fn extract(bytes: &[u8]) -> Result<Extracted, SkipReason> {
    let package = &mut ZipPackage::open(bytes, FORMAT)?;
    let main = ooxml::main_part(package)?;
    let relationships = Relationships::read(package, &main)?;
    let book = ooxml::read_part(package, &main)?.unwrap_or_default();
    let book = parts::book(&book)?;
    let strings = match relationships.of_kind("sharedStrings").next() {
        Some(part) => ooxml::read_part(package, part)?.map(|xml| Strings::read(&xml)),
        None => None,
    };
    let strings = strings.transpose()?.unwrap_or_default();
    let styles = match relationships.of_kind("styles").next() {
        Some(part) => Styles::read(&ooxml::read_optional(package, part)?)?,
        None => Styles::default(),
    };
    let mut workbook = Workbook::new();
    ooxml::read_properties(package, workbook.found())?;
    let context = sheet::Context {
        strings: &strings,
        styles: &styles,
        is_1904: book.is_1904,
    };
    let parts = relationships.by_id();
    for entry in &book.sheets {
        let mut sheet = workbook.sheet(&entry.name, entry.is_hidden)?;
        // Sheets of charts and dialogs have no cells.
        if let Some(part) = parts.get(entry.id.as_str())
            && matches!(part.kind.as_str(), "worksheet" | "xlMacrosheet")
        {
            let xml = ooxml::read_part(package, &part.target)?;
            let xml = xml.ok_or_else(|| {
                SkipReason::damaged(FORMAT, format!("{} is missing", part.target))
            })?;
            sheet::read(&xml, &context, &mut sheet)?;
        }
        sheet.finish()?;
    }
    workbook.finish()
}

#[cfg(test)]
mod tests;
