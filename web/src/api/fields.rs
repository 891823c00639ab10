//! The fields of the answers' objects, for the description of the API. A test compares them with what the server sends.

use serde_json::{Map, Value, json};

/// An object of answers: its name, and its fields as `NAME:KIND`, with `?` where it is not always there. A kind is
/// `text`, `number`, `flag`, `object`, `any`, the name of an object of [`OBJECTS`], or one of these in `[]`; `|null`
/// behind it says that it may be null.
pub(crate) type Fields = (&'static str, &'static str);

/// All objects.
pub(crate) const OBJECTS: &[Fields] = &[
    (
        "Problem",
        "type:text title:text status:number code:text detail:text hint:text?",
    ),
    (
        "Paging",
        "tokens:number over_budget:flag has_more:flag continuation:text|null",
    ),
    (
        "Summary",
        "verdict:text? corrections:[object]? missing:[text]? warnings:[text]",
    ),
    (
        "Hit",
        "file:text document:text handle:text title:text section:[text] section_number:text section_name:text \
         score:number keyword_score:number|null vector_score:number|null start_line:number end_line:number \
         start_byte:number end_byte:number file_type:text language:text class:text tags:[text] modified_ms:number \
         size_bytes:number chunk_index:number chunks:number matches:number text:text symbol:object? part:object? \
         begins_within_line:flag? ends_within_line:flag? more_in_document:number? copies:number? copy_paths:[text]? \
         stale:text? metadata:object? fused_score:number? terms:[object]? bonuses:[object]?",
    ),
    (
        "Hits",
        "hits:[Hit] summary:Summary facets:[object]? paging:Paging explanation:object?",
    ),
    (
        "Match",
        "file:text document:text handle:text file_type:text start_line:number? end_line:number? text:text? \
         matches:[any]? matching_lines:number? lines_are_of_passage:flag? begins_within_line:flag? \
         ends_within_line:flag? part:object?",
    ),
    ("Matches", "matches:[Match] summary:Summary paging:Paging"),
    (
        "Symbol",
        "file:text document:text handle:text start_line:number end_line:number kind:text name:text hierarchy:any \
         signature:text language:text used_in_lines:[any]? called_in_lines:[any]?",
    ),
    ("Symbols", "symbols:[Symbol] paging:Paging"),
    ("Name", "file:text document:text"),
    ("Names", "documents:[Name]"),
    (
        "File",
        "file:text uuid:text generation:number documents:number chunks:number updated_ms:number model:text dim:number",
    ),
    (
        "Status",
        "version:text format:text may_write:flag files:[File]",
    ),
    (
        "About",
        "file:text uuid:text format:text created_ms:number updated_ms:number commit:number roots:[object] \
         documents:number chunks:number deleted_chunks:number symbols_pending:number segments:number text_bytes:number file_bytes:number \
         model:text dim:number vectors:text vectors_exact:flag vector_columns:[object] recall:any \
         unquantised_recall:any listed_segments:number model_available:flag analyser:text content_root:text|null \
         types:object languages:object classes:object skipped:object writer:object sizes:object",
    ),
    (
        "Entry",
        "folder:text? documents:number? document:text? handle:text? title:text? file_type:text? language:text? \
         class:text? tags:[text]? size_bytes:number text_bytes:number? lines:number? chunks:number? \
         modified_ms:number? added_ms:number? hash:text? metadata:object?",
    ),
    ("Entries", "entries:[Entry] paging:Paging"),
    (
        "Document",
        "document:text handle:text title:text author:text|null created:text|null modified:text|null file_type:text \
         mime_type:text language:text class:text tags:[text] pages:number? sheets:number? slides:number? \
         size_bytes:number file_size:text text_bytes:number lines:number chunks:number modified_ms:number \
         added_ms:number metadata:object",
    ),
    (
        "Text",
        "document:text handle:text title:text file_type:text language:text class:text tags:[text] start_line:number \
         end_line:number document_lines:number text:text paging:Paging",
    ),
    (
        "Section",
        "document:text section:text level:number title:text page:number? sheet:number? slide:number? kind:text? \
         line:number end_line:number start_byte:number end_byte:number",
    ),
    ("Outline", "sections:[Section] paging:Paging"),
    (
        "Page",
        "document:text handle:text title:text file_type:text language:text class:text tags:[text] page:number \
         total_pages:number source:text? label:text? start_line:number end_line:number text:text",
    ),
    ("Pages", "pages:[Page] paging:Paging"),
    (
        "Slide",
        "document:text handle:text title:text file_type:text language:text class:text tags:[text] slide:number \
         total_slides:number slide_title:text hidden:flag start_line:number end_line:number text:text notes:text",
    ),
    ("Slides", "slides:[Slide] paging:Paging"),
    (
        "Row",
        "document:text sheet:text row:number header:flag? cells:object values:object?",
    ),
    ("Rows", "rows:[Row] paging:Paging"),
    (
        "Passages",
        "results:[any] totalResults:number searchTimeMs:number truncated:flag? corrections:[any]? missing:[text]? \
         warnings:any?",
    ),
    (
        "Handles",
        "doc_handle:text title:text updated:text approx_size:any",
    ),
    (
        "Body",
        "body:text updated:text createdAt:text full_size:number is_truncated:flag start_line:number? \
         end_line:number? total_lines:number revisionToken:text doc_handle:text document_id:text title:text? uri:text \
         continuation:text? warnings:any?",
    ),
    ("AccessTokens", "tokens:[AccessToken]"),
    (
        "AccessToken",
        "name:text may_write:flag created_ms:number last_used_ms:number|null",
    ),
    ("NewToken", "name:text may_write:flag token:text"),
    ("Revoked", "revoked:text"),
    ("Removed", "removed:text"),
    ("Tags", "document:text tags:[text]"),
    ("Stored", "documents:[StoredFile]"),
    (
        "StoredFile",
        "fileName:text status:text code:text? detail:text? documentId:text? chunkCount:number? revisionToken:text? \
         doc_handle:text? uri:text? replaced:flag? warnings:any?",
    ),
    (
        "Uploaded",
        "documentId:text fileName:text status:text chunkCount:number? revisionToken:text? doc_handle:text? uri:text? \
         replaced:flag? warnings:any?",
    ),
];

/// The fields of the object of that name.
pub(crate) fn of(name: &str) -> Option<&'static str> {
    let found = OBJECTS.iter().find(|(known, _)| *known == name);
    found.map(|(_, fields)| *fields)
}

/// The schema of an object: its fields, and which of them are always there. There may be others in later versions.
pub(crate) fn schema(fields: &str) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for field in fields.split_whitespace() {
        let (name, kind) = field.split_once(':').unwrap_or((field, "any"));
        let kind = match kind.strip_suffix('?') {
            Some(kind) => kind,
            None => {
                required.push(name);
                kind
            }
        };
        properties.insert(name.to_owned(), schema_of_kind(kind));
    }
    json!({"type": "object", "properties": properties, "required": required})
}

fn schema_of_kind(kind: &str) -> Value {
    let (kind, may_be_null) = match kind.strip_suffix("|null") {
        Some(kind) => (kind, true),
        None => (kind, false),
    };
    if let Some(items) = kind
        .strip_prefix('[')
        .and_then(|kind| kind.strip_suffix(']'))
    {
        return json!({"type": "array", "items": schema_of_kind(items)});
    }
    let name = match kind {
        "text" => "string",
        "number" => "number",
        "flag" => "boolean",
        "object" => "object",
        "any" => return json!({}),
        named => return json!({"$ref": format!("#/components/schemas/{named}")}),
    };
    if may_be_null {
        json!({"type": [name, "null"]})
    } else {
        json!({"type": name})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_has_its_kind_and_is_there_unless_it_says_otherwise() {
        let made = schema("a:text b:[Hit]? c:number|null");
        let expected = json!({
            "type": "object",
            "properties": {
                "a": {"type": "string"},
                "b": {"type": "array", "items": {"$ref": "#/components/schemas/Hit"}},
                "c": {"type": ["number", "null"]},
            },
            "required": ["a", "c"],
        });
        assert_eq!(made, expected);
    }

    #[test]
    fn every_kind_is_known() {
        for (name, fields) in OBJECTS {
            for field in fields.split_whitespace() {
                let (_, kind) = field.split_once(':').unwrap();
                let kind = kind.trim_end_matches('?').trim_end_matches("|null");
                let kind = kind.trim_start_matches('[').trim_end_matches(']');
                let is_plain = ["text", "number", "flag", "object", "any"].contains(&kind);
                assert!(is_plain || of(kind).is_some(), "{name}: {field}");
            }
        }
    }
}
