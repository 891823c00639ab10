use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A token with that client state, as anybody may forge it.
pub(in crate::tools::call) fn token(state: &[u8]) -> Cursor {
    let mut bytes = vec![2];
    bytes.extend([0; 14]);
    bytes.extend([1, 7]);
    bytes.extend(state);
    URL_SAFE_NO_PAD.encode(bytes).into()
}

fn table(tool: &str) -> &'static ArgumentTable {
    crate::tools::find(tool).unwrap().signature().table()
}

fn arguments(value: Value) -> Object {
    match value {
        Value::Object(arguments) => arguments,
        other => panic!("{other}"),
    }
}

#[test]
fn the_usual_arguments_fit_into_a_token() {
    for (tool, given) in [
        ("search", json!({})),
        (
            "search",
            json!({"limit": 50, "max_tokens": 20_000, "mode": "keyword", "scope": "chunks", "sort": "recency"}),
        ),
        ("search", json!({"filters.folder": "docs/api", "limit": 7})),
        ("search_docs", json!({"min_score": 0.5, "top_k": 3})),
        (
            "list_documents",
            json!({"recursive": true, "index_name": "guides"}),
        ),
        (
            "get_document_data",
            json!({"format": "chunks", "section": "2.1.3"}),
        ),
    ] {
        let given = arguments(given);
        let state = table(tool).client_state(&given);
        assert_ne!(state.get(2), Some(&IN_MEMORY), "{tool} {given:?}");
        assert_eq!(table(tool).remembered(&token(&state)).unwrap(), given);
    }
}

#[test]
fn long_arguments_stay_in_memory() {
    let given = arguments(json!({"filters.folder": "a/long/path/of/a/folder/that/does/not/fit"}));
    let state = table("search").client_state(&given);
    assert_eq!(state.len(), 2 + 1 + KEY_BYTES);
    assert_eq!(table("search").remembered(&token(&state)).unwrap(), given);
    // Another server, or a forgotten call.
    let mut other = state;
    *other.last_mut().unwrap() ^= 1;
    let remembered = table("search").remembered(&token(&other)).unwrap();
    assert!(remembered.is_empty());
}

#[test]
fn the_memory_is_bounded() {
    let mut memory = CallMemory {
        calls: VecDeque::new(),
    };
    let key = |n: usize| {
        let mut key = [0; KEY_BYTES];
        key[..8].copy_from_slice(&n.to_le_bytes());
        key
    };
    for n in 0..CALLS_LIMIT + 10 {
        memory.keep(key(n), Object::new());
        memory.keep(key(5), Object::new());
    }
    assert_eq!(memory.calls.len(), CALLS_LIMIT);
    assert!(memory.find(&key(5)).is_some() && memory.find(&key(6)).is_none());
    let huge = arguments(json!({"filters.folder": "x".repeat(ARGUMENTS_LIMIT_BYTES)}));
    let state = table("search").client_state(&huge);
    assert!(
        table("search")
            .remembered(&token(&state))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_client_state_belongs_to_its_tool() {
    let state = table("search").client_state(&Object::new());
    let error = table("list_documents")
        .remembered(&token(&state))
        .unwrap_err();
    assert_eq!(
        error.text(),
        "INVALID_CONTINUATION_TOKEN: continuation_token: it belongs to another tool. \
         Call again without it."
    );
    for (number, tool) in crate::tools::all().iter().enumerate() {
        let others = crate::tools::all().iter().take(number);
        let tag = tool.signature().table().tag;
        assert!(
            others
                .into_iter()
                .all(|other| other.signature().table().tag != tag)
        );
    }
}

#[test]
fn a_forged_client_state_is_refused() {
    let tag = table("search").tag;
    for state in [&[200][..], &[IN_MEMORY], &[IN_MEMORY, 1, 2], &[0], &[1]] {
        let state = [&tag[..], state].concat();
        let error = table("search").remembered(&token(&state)).unwrap_err();
        assert_eq!(error.code, "INVALID_CONTINUATION_TOKEN", "{state:?}");
    }
    for cursor in [
        token(&[]),
        token(&tag[..1]),
        "".into(),
        "!".into(),
        "e30".into(),
    ] {
        let error = table("search").remembered(&cursor).unwrap_err();
        assert_eq!(error.code, "INVALID_CONTINUATION_TOKEN");
    }
}

proptest! {
    #[test]
    fn any_client_state_is_read_or_refused(state in proptest::collection::vec(any::<u8>(), 0..18)) {
        for tool in crate::tools::all() {
            let table = tool.signature().table();
            let state = [&table.tag[..], &state].concat();
            match table.remembered(&token(&state)) {
                Ok(arguments) => prop_assert!(arguments.len() <= state.len()),
                Err(error) => prop_assert_eq!(error.code, "INVALID_CONTINUATION_TOKEN"),
            }
        }
    }
}
