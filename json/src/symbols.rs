//! Symbols of source code.

use kb_engine::FoundSymbol;

use crate::object::Object;

/// A symbol; `file` names the .kb that it is of where several were searched. The lines that use a name
/// are there where uses were asked for.
#[must_use]
pub fn symbol(symbol: &FoundSymbol, file: Option<&str>) -> Object {
    let mut object = Object::new();
    if let Some(file) = file {
        object = object.field("file", file);
    }
    let object = object
        .field("document", &*symbol.document)
        .field("handle", &*symbol.handle)
        .field("start_line", symbol.lines.first)
        .field("end_line", symbol.lines.last)
        .field("kind", symbol.kind.name())
        .field("name", &*symbol.name)
        .field("hierarchy", &*symbol.hierarchy)
        .field("signature", &*symbol.signature)
        .field("language", &*symbol.language);
    if symbol.uses.is_empty() {
        object
    } else {
        object
            .field("used_in_lines", symbol.uses.clone())
            .field("called_in_lines", symbol.calls.clone())
    }
}
