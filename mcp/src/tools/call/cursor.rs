//! What continuation tokens remember of the first call. The engine carries a client state of this server
//! in each: the tool, and the arguments that differ from their defaults. Tokens are not authenticated,
//! so nothing in them is trusted.

use kb_engine::Cursor;
use serde_json::{Value, json};

use crate::response::{Object, ToolError};

/// Longest client state, in bytes: a token is in both forms of a result and counts in its size. Longer
/// arguments are not remembered; the caller must repeat them.
const CLIENT_STATE_LIMIT_BYTES: usize = 1024;

/// The client state of a call; `None` where it would be too long.
pub(in crate::tools) fn client_state(tool: &str, arguments: &Object) -> Option<String> {
    let state = json!([tool, arguments]).to_string();
    (state.len() <= CLIENT_STATE_LIMIT_BYTES).then_some(state)
}

/// The arguments that a token of `tool` remembers; `None`: it has no client state.
pub(in crate::tools) fn remembered_arguments(
    cursor: &Cursor,
    tool: &str,
) -> Result<Option<Object>, ToolError> {
    let Some(state) = cursor.client_state()? else {
        return Ok(None);
    };
    let state: Value = serde_json::from_str(&state).map_err(|_| malformed())?;
    let (Some(Value::String(of)), Some(Value::Object(arguments)), None) =
        (state.get(0), state.get(1), state.get(2))
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
    fn a_client_state_belongs_to_its_tool() {
        let Value::Object(arguments) = json!({"limit": 3}) else {
            panic!();
        };
        let given = token(&client_state("search", &arguments).unwrap());
        assert_eq!(
            remembered_arguments(&given, "search").unwrap(),
            Some(arguments)
        );
        let error = remembered_arguments(&given, "list_documents").unwrap_err();
        assert_eq!(
            error.text(),
            "INVALID_CONTINUATION_TOKEN: continuation_token: it belongs to another tool. \
             Call again without it."
        );
    }

    #[test]
    fn a_forged_client_state_is_refused() {
        for note in [
            "",
            "x",
            "[]",
            "[\"search\"]",
            "[\"search\",1]",
            "[\"search\",{},1]",
            "{}",
        ] {
            let error = remembered_arguments(&token(note), "search").unwrap_err();
            assert_eq!(error.code, "INVALID_CONTINUATION_TOKEN", "{note}");
        }
        for token in ["", "!", "e30"] {
            assert_eq!(
                remembered_arguments(&token.into(), "search")
                    .unwrap_err()
                    .code,
                "INVALID_CONTINUATION_TOKEN"
            );
        }
    }

    #[test]
    fn long_arguments_are_not_remembered() {
        let mut arguments = Object::new();
        arguments.insert(
            "folder".to_owned(),
            "x".repeat(CLIENT_STATE_LIMIT_BYTES).into(),
        );
        assert_eq!(client_state("search", &arguments), None);
    }
}
