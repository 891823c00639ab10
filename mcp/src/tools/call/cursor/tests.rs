use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A token with these arguments, as anybody may forge it.
pub(in crate::tools::call) fn token(tool: &'static str, arguments: Object) -> String {
    let cursor = Cursor::from("AgAA");
    FirstCall { tool, arguments }.token(&cursor, ("offset", 7))
}

fn arguments(value: Value) -> Object {
    match value {
        Value::Object(arguments) => arguments,
        other => panic!("{other}"),
    }
}

fn decoded(token: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(token).unwrap()).unwrap()
}

fn encoded(fields: &Value) -> String {
    URL_SAFE_NO_PAD.encode(fields.to_string())
}

#[test]
fn a_token_is_json_that_has_the_whole_call() {
    // S3-14, S3-62, S3-63
    let given =
        arguments(json!({"filters.folder": "a/long/path/of/a/folder/".repeat(9), "limit": 7}));
    let token = token("search", given.clone());
    let fields = decoded(&token);
    assert_eq!(
        (&fields["offset"], &fields["tool"]),
        (&json!(7), &json!("search"))
    );
    assert_eq!(fields["arguments"], Value::Object(given.clone()));
    for same in [token.clone(), format!("{token}==")] {
        let continued = Continued::read("search", &same).unwrap();
        assert_eq!(
            (continued.cursor, continued.arguments),
            ("AgAA".into(), given.clone())
        );
    }
}

#[test]
fn the_longest_arguments_are_left_out() {
    let given = arguments(json!({"query": "tide", "vector": vec![0.123_456; 999], "limit": 7}));
    let first = FirstCall::of("search", given);
    assert_eq!(
        first.arguments,
        arguments(json!({"query": "tide", "limit": 7}))
    );
    let most = arguments(json!({"query": "x".repeat(ARGUMENTS_LIMIT_BYTES - 20)}));
    let token = FirstCall::of("search", most).token(&"A".repeat(60).into(), ("offset", u64::MAX));
    assert!(
        token.len() > ARGUMENTS_LIMIT_BYTES && token.len() <= TOKEN_LIMIT,
        "{}",
        token.len()
    );
}

#[test]
fn a_token_belongs_to_its_tool() {
    let token = token("search", Object::new());
    let error = Continued::read("list_documents", &token).unwrap_err();
    assert_eq!(
        error.text(),
        "INVALID_CONTINUATION_TOKEN: continuation_token: it belongs to another tool. \
         Call again without it."
    );
}

#[test]
fn a_changed_token_is_refused() {
    // S3-62
    let token = token("search", arguments(json!({"limit": 7})));
    let whole = decoded(&token);
    let with = |name: &str, value: Value| {
        let mut fields = whole.clone();
        fields[name] = value;
        encoded(&fields)
    };
    for forged in [
        with("offset", json!(8)),
        with("cursor", json!("AgAB")),
        with("cursor", json!(5)),
        with("arguments", json!({"limit": 8})),
        with("arguments", json!([])),
        with("more", json!(1)),
        with("sum", json!(0)),
        encoded(&json!({"offset": 10})),
        encoded(&json!([1])),
        token[1..].to_owned(),
        String::new(),
        "!".to_owned(),
        "e30".to_owned(),
    ] {
        let error = Continued::read("search", &forged).unwrap_err();
        assert_eq!(error.code, "INVALID_CONTINUATION_TOKEN", "{forged}");
    }
}

proptest! {
    #[test]
    fn any_token_is_read_or_refused(text in "\\PC{0,60}", bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        for token in [text.clone(), URL_SAFE_NO_PAD.encode(&text), URL_SAFE_NO_PAD.encode(&bytes)] {
            let error = Continued::read("search", &token).unwrap_err();
            prop_assert_eq!(error.code, "INVALID_CONTINUATION_TOKEN");
        }
    }
}
