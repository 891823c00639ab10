//! Continuation tokens: what they remember of the first call. The engine carries a note of this server
//! in each: the tool, and the arguments that differ from their defaults. Tokens are not authenticated,
//! so nothing in them is trusted.

use kb_engine::Cursor;
use serde_json::{Value, json};

use crate::response::{Object, ToolError};

/// Longest note, in bytes: a token is in both forms of a result and counts in its size. Longer
/// arguments are not remembered; the caller must repeat them.
const NOTE_LIMIT_BYTES: usize = 1024;

/// The note for a call; none where it would be too long.
pub(in crate::tools) fn note(tool: &str, arguments: &Object) -> Option<String> {
    let note = json!([tool, arguments]).to_string();
    (note.len() <= NOTE_LIMIT_BYTES).then_some(note)
}

/// The arguments that a token of `tool` remembers; `None`: it has no note.
pub(in crate::tools) fn noted(cursor: &Cursor, tool: &str) -> Result<Option<Object>, ToolError> {
    let Some(note) = cursor.client_state()? else {
        return Ok(None);
    };
    let note: Value = serde_json::from_str(&note).map_err(|_| malformed())?;
    let (Some(Value::String(of)), Some(Value::Object(arguments)), None) =
        (note.get(0), note.get(1), note.get(2))
    else {
        return Err(malformed());
    };
    if of != tool {
        // What it says may be anything, so it is not repeated.
        return Err(refused("it belongs to another tool"));
    }
    Ok(Some(arguments.clone()))
}

/// The error for a token that no result held.
pub(in crate::tools) fn malformed() -> ToolError {
    refused("it is malformed")
}

fn refused(reason: &str) -> ToolError {
    ToolError::new(
        "INVALID_CONTINUATION_TOKEN",
        format!("continuation_token: {reason}"),
    )
    .with_hint("Call again without it")
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::*;

    fn token(note: &str) -> Cursor {
        let state = json!({"v": 1, "note": note, "offset": 7}).to_string();
        URL_SAFE_NO_PAD.encode(state).into()
    }

    #[test]
    fn a_note_belongs_to_its_tool() {
        let Value::Object(arguments) = json!({"limit": 3}) else {
            panic!();
        };
        let given = token(&note("search", &arguments).unwrap());
        assert_eq!(noted(&given, "search").unwrap(), Some(arguments));
        let error = noted(&given, "list_documents").unwrap_err();
        assert_eq!(
            error.text(),
            "INVALID_CONTINUATION_TOKEN: continuation_token: it belongs to another tool. \
             Call again without it."
        );
    }

    #[test]
    fn a_forged_note_is_refused() {
        for note in [
            "",
            "x",
            "[]",
            "[\"search\"]",
            "[\"search\",1]",
            "[\"search\",{},1]",
            "{}",
        ] {
            let error = noted(&token(note), "search").unwrap_err();
            assert_eq!(error.code, "INVALID_CONTINUATION_TOKEN", "{note}");
        }
        for token in ["", "!", "e30"] {
            assert_eq!(
                noted(&token.into(), "search").unwrap_err().code,
                "INVALID_CONTINUATION_TOKEN"
            );
        }
    }

    #[test]
    fn long_arguments_are_not_remembered() {
        let mut arguments = Object::new();
        arguments.insert("folder".to_owned(), "x".repeat(NOTE_LIMIT_BYTES).into());
        assert_eq!(note("search", &arguments), None);
    }
}
