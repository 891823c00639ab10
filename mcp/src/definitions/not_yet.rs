//! What the decided surface has and the engine cannot do yet: taken out of what is advertised. A line
//! goes when its part of the engine comes.

use serde_json::Value;

use crate::response::Object;

/// Tools that are not served at all.
const TOOLS: &[&str] = &["get_sheet_data", "get_slides"];

/// Tool (`*`: each that has it), place in its definition, and the text that stands there for now
/// (empty: nothing does).
#[rustfmt::skip]
const PLACES: &[(&str, &str, &str)] = &[
    ("search", "/description", "Search documents or passages of the knowledge base. mode=hybrid (default) for questions, semantic for concepts, keyword for exact words, title to find a document by slug, title or tags. Results carry document_id and location for get_pages and get_document_data."),
    ("search", "/inputSchema/properties/query/description", "Natural language or keywords."),
    ("search", "/inputSchema/properties/mode/enum/3", ""),
    ("search", "/inputSchema/properties/filters/properties/fileType/description", "Only this file type, e.g. html or md."),
    ("search", "/outputSchema/properties/data/properties/results/items/properties/location/properties/page", ""),
    ("search", "/outputSchema/properties/data/properties/results/items/properties/location/properties/sheet", ""),
    ("search", "/outputSchema/properties/data/properties/results/items/properties/location/properties/slide", ""),
    ("search", "/outputSchema/properties/data/properties/results/items/properties/metadata/properties/total_pages", ""),
    ("search_docs", "/description", "Search documentation and other prose (Markdown, text, HTML; never source code) in natural language. Returns ranked passages with path, line numbers and score 0-1. For source code use search_code."),
    ("search_docs", "/outputSchema/properties/results/items/properties/page", ""),
    ("search_code", "/description", "Search source code with natural language or identifiers. Returns code chunks ranked by relevance with file and lines. Filter by language; context_before and context_after add lines around each match."),
    ("search_code", "/inputSchema/properties/symbol_type", ""),
    ("search_code", "/inputSchema/properties/symbol_name", ""),
    ("search_code", "/inputSchema/properties/smart_context", ""),
    ("search_code", "/inputSchema/properties/context_before/description", "Lines before the match."),
    ("search_code", "/inputSchema/properties/context_after/description", "Lines after the match."),
    ("search_code", "/outputSchema/properties/results/items/properties/block_type", ""),
    ("search_code", "/outputSchema/properties/results/items/properties/hierarchy", ""),
    ("search_code", "/outputSchema/properties/results/items/properties/symbol_type", ""),
    ("search_code", "/outputSchema/properties/results/items/properties/symbol_name", ""),
    ("search_code", "/outputSchema/properties/results/items/properties/symbol_signature", ""),
    ("get_document_outline", "/description", "Structure of a document without its content: its headings, with the numbers and lines to fetch parts. Use before reading a long document."),
    ("get_document_outline", "/outputSchema/properties/type/description", "File type: md, html, txt, or code."),
    ("get_document_outline", "/outputSchema/properties/total_pages", ""),
    ("get_document_outline", "/outputSchema/properties/bookmarks", ""),
    ("get_document_outline", "/outputSchema/properties/sheets", ""),
    ("get_document_outline", "/outputSchema/properties/total_rows", ""),
    ("get_document_outline", "/outputSchema/properties/total_slides", ""),
    ("get_document_outline", "/outputSchema/properties/slides", ""),
    ("get_document_outline", "/outputSchema/properties/symbols", ""),
    ("get_document_data", "/description", "Read a document as raw text, as chunks, or as metadata only (instant). section limits it to one heading of the outline."),
    ("get_document_data", "/outputSchema/properties/data/properties/chunks/items/properties/metadata/properties/page", ""),
    ("get_document_data", "/outputSchema/properties/data/properties/metadata/properties/pages", ""),
    ("get_pages", "/description", "Read a document in pages of about 800 tokens. Always returns at least one page."),
    ("list_indexes", "/outputSchema/properties/indexes/items/properties/title", ""),
    ("upload_document", "/description", "Add or replace one document (text, Markdown, HTML or code, as text or base64), at most 10 MB, then chunk and index it. Large files return status processing: poll get_status."),
    ("upload_document", "/inputSchema/properties/content/description", "Plain text, or base64 of a file."),
    ("*", "/outputSchema/properties/actions/items/properties/params/properties/slide_numbers", ""),
    ("*", "/outputSchema/properties/actions/items/properties/params/properties/cell_range", ""),
];

/// The tools without what is not there yet.
pub(super) fn without(mut tools: Vec<Object>) -> Vec<Object> {
    tools.retain(|tool| !TOOLS.contains(&super::name(tool)));
    for tool in &mut tools {
        let name = super::name(tool).to_owned();
        let mut whole = Value::Object(std::mem::take(tool));
        for (of, place, text) in PLACES {
            if *of == "*" || *of == name {
                change(&mut whole, place, text);
            }
        }
        if let Value::Object(whole) = whole {
            *tool = whole;
        }
    }
    tools
}

/// Puts `text` at a place, or takes away what is there. True when there was something.
fn change(whole: &mut Value, place: &str, text: &str) -> bool {
    if !text.is_empty() {
        let found = whole.pointer_mut(place);
        let is_there = found.is_some();
        if let Some(found) = found {
            *found = text.into();
        }
        return is_there;
    }
    let Some((above, last)) = place.rsplit_once('/') else {
        return false;
    };
    match whole.pointer_mut(above) {
        Some(Value::Object(object)) => object.remove(last).is_some(),
        Some(Value::Array(list)) => match last.parse() {
            Ok(at) if at < list.len() => {
                list.remove(at);
                true
            }
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_changes_something() {
        let tools = super::super::parsed(super::super::TOOLS, "tools");
        for (of, place, text) in PLACES {
            let mut of = tools
                .iter()
                .filter(|tool| *of == "*" || super::super::name(tool) == *of);
            let changes = of.any(|tool| change(&mut Value::Object(tool.clone()), place, text));
            assert!(changes, "{place}");
        }
    }
}
