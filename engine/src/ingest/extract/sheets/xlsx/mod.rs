//! Excel workbooks since 2007.
//!
//! Read by our own walk over the XML of the package: a cell's value, its format and its formula stand side by
//! side there, so one pass has all three.

mod parts;
mod sheet;

use quick_xml::events::Event;

pub(super) use self::parts::{FORMAT, main_part};
use self::parts::{Strings, Styles};
use crate::ingest::extract::extracted::Extracted;
use crate::ingest::extract::sheets::package::{Package, damaged};
use crate::ingest::extract::sheets::workbook::Workbook;
use crate::ingest::extract::sheets::xml::{Events, each_property};
use crate::ingest::extract::skip_reason::SkipReason;

/// # Errors
/// Why there is no document in it.
pub(super) fn extract(bytes: &[u8]) -> Result<Extracted, SkipReason> {
    let mut package = Package::open(bytes, FORMAT)?;
    let main = main_part(&mut package)?;
    let relations = parts::relations(&mut package, &main)?;
    let book = package
        .xml(&main)?
        .ok_or_else(|| damaged(FORMAT, "it has no workbook"))?;
    let book = parts::book(&book)?;
    let target = |kind: &str| {
        let found = relations.iter().find(|relation| relation.kind == kind);
        found.map(|relation| relation.target.clone())
    };
    let strings = match target("sharedStrings") {
        Some(part) => package.xml(&part)?.map(|xml| Strings::read(&xml)),
        None => None,
    };
    let strings = strings.transpose()?.unwrap_or_default();
    let styles = match target("styles") {
        Some(part) => package.xml(&part)?.map(|xml| Styles::read(&xml)),
        None => None,
    };
    let styles = styles.transpose()?.unwrap_or_default();
    let mut workbook = Workbook::new();
    if let Ok(Some(properties)) = package.xml("docProps/core.xml") {
        // What a workbook says of itself is no reason to refuse it.
        let _ = read_properties(&properties, &mut workbook);
    }
    for entry in &book.sheets {
        let mut sheet = workbook.sheet(&entry.name, entry.is_hidden)?;
        let relation = relations.iter().find(|relation| relation.id == entry.id);
        // Sheets of charts and dialogs have no cells.
        if let Some(relation) = relation
            && matches!(relation.kind.as_str(), "worksheet" | "xlMacrosheet")
        {
            let xml = package
                .xml(&relation.target)?
                .ok_or_else(|| damaged(FORMAT, format!("it has no {}", relation.target)))?;
            let context = sheet::Context {
                strings: &strings,
                styles: &styles,
                is_1904: book.is_1904,
            };
            sheet::read(&xml, &context, &mut sheet)?;
        }
        sheet.finish()?;
    }
    workbook.finish()
}

/// Whether a part is the list of the sheets of a workbook.
pub(super) fn is_workbook(package: &mut Package<'_>, part: &str) -> bool {
    let Ok(Some(xml)) = package.xml(part) else {
        return false;
    };
    let mut events = Events::new(&xml, FORMAT, "its workbook");
    loop {
        match events.next() {
            Ok(Event::Start(element)) => return element.local_name().as_ref() == "workbook",
            Ok(Event::Eof) | Err(_) => return false,
            Ok(_) => {}
        }
    }
}

fn read_properties(properties: &str, workbook: &mut Workbook) -> Result<(), SkipReason> {
    let mut events = Events::new(properties, FORMAT, "docProps/core.xml");
    each_property(&mut events, |name, value| {
        let found = workbook.found();
        match name {
            "title" if !value.is_empty() => found.title = Some(value.to_owned()),
            "creator" => found.add_metadata("author", value),
            "created" => found.add_metadata("created", value),
            "modified" => found.add_metadata("modified", value),
            "keywords" => found.add_metadata("keywords", value),
            _ => {}
        }
    })
}

#[cfg(test)]
mod tests;
