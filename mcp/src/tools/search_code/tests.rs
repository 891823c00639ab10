use serde_json::json;

use crate::tools::testing::Fixture;

#[test]
fn code_is_found_by_meaning_and_by_name() {
    let fixture = Fixture::guides();
    let given = json!({"query": "fn trim_sail(angle: f32) -> f32", "limit": 2});
    let answer = fixture.answer("search_code", given);
    let first = &answer.structured["results"][0];
    assert_eq!(first["file_path"], "src/rig.rs");
    assert_eq!(first["language_id"], "rust");
    assert_eq!(first["match_type"], "both");
    assert_eq!(answer.structured["search_context"]["index_name"], "guides");
    assert!(first["content"].as_str().unwrap().contains("trim_sail"));
    let named = fixture.answer(
        "search_code",
        json!({"query": "sail", "index_name": "guides"}),
    );
    assert!(named.structured.get("search_context").is_none());
}

#[test]
fn results_are_code_of_the_languages() {
    let fixture = Fixture::guides();
    let paths = |given| {
        let answer = fixture.answer("search_code", given);
        let results = answer.structured["results"].as_array().unwrap().clone();
        let paths = results
            .iter()
            .map(|one| one["file_path"].as_str().unwrap().to_owned());
        paths.collect::<std::collections::BTreeSet<_>>()
    };
    let all = paths(json!({"query": "mending sails with wax"}));
    assert!(all.iter().all(|path| path.starts_with("src/")), "{all:?}");
    let rust = paths(json!({"query": "sails", "language": "rs"}));
    assert_eq!(rust.into_iter().collect::<Vec<_>>(), ["src/rig.rs"]);
    let both = paths(json!({"query": "sails", "language": ["rs", "python"]}));
    assert_eq!(both.len(), 2);
}

#[test]
fn signs_of_a_language_are_plain_text() {
    let fixture = Fixture::guides();
    for query in [
        "fn trim_sail(angle: f32) -> f32",
        "trim_sail -a",
        "trim_sail(-angle)",
    ] {
        let answer = fixture.answer("search_code", json!({"query": query}));
        let first = &answer.structured["results"][0];
        assert_eq!(first["file_path"], "src/rig.rs", "{query}");
    }
}

#[test]
fn a_language_that_no_document_has_is_named() {
    let fixture = Fixture::guides();
    let answer = fixture.answer("search_code", json!({"query": "sails", "language": "go"}));
    assert_eq!(answer.structured["results"].as_array().unwrap().len(), 0);
    let warnings = answer.structured["warnings"].as_array().unwrap();
    let [warning] = warnings.as_slice() else {
        panic!("{warnings:?}");
    };
    let warning = warning.as_str().unwrap();
    assert!(
        warning.contains("has language \"go\"; there are: python, rust"),
        "{warning}"
    );
}

const SAILS: &str = "\
import math

class Rig:
    def trim_sail(self, angle):
        return math.sin(angle)

    def reef_sail(self, wind):
        return wind > 20


def trim_sail(angle):
    return angle
";

#[test]
fn symbols_filter_and_are_told() {
    let fixture = Fixture::new("code", &[("rig.py", SAILS), ("a.json", "{\"sail\": 1}")]);
    let results = |given| {
        let answer = fixture.answer("search_code", given);
        answer.structured["results"].as_array().unwrap().clone()
    };
    let method = json!({"query": "sail", "symbol_type": "method", "symbol_name": "TRIM_*"});
    let found = results(method);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["symbol_name"], "trim_sail");
    assert_eq!(found[0]["symbol_type"], "method");
    assert_eq!(found[0]["hierarchy"], "class Rig > def trim_sail");
    let any = json!({"query": "sail", "symbol_type": ["method", "class"]});
    assert!(!results(any).is_empty());
    let none = json!({"query": "sail", "symbol_type": "enum"});
    let answer = fixture.answer("search_code", none);
    let warning = answer.structured["warnings"][0].as_str().unwrap();
    assert!(
        warning.contains("defines a symbol with kind \"enum\""),
        "{warning}"
    );
    let error = fixture.error("search_code", json!({"query": "a", "symbol_type": "gizmo"}));
    assert_eq!(error.code, "INVALID_ARGUMENT");
}

#[test]
fn parts_of_functions_become_whole_unless_lines_are_wanted() {
    let body: String = (0..90)
        .map(|n| format!("    total = combine(total, values[{n}], weights[{n}])\n"))
        .collect();
    let code = format!("def walrus(values):\n    total = 0\n{body}    return zeppelin(total)\n");
    let fixture = Fixture::new("code", &[("long.py", &code)]);
    let first = |more: serde_json::Value| {
        let mut given = json!({"query": "zeppelin", "limit": 1, "full": true});
        given
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        fixture.answer("search_code", given).structured["results"][0].clone()
    };
    let whole = first(json!({}));
    assert_eq!(
        (&whole["start_line"], &whole["end_line"]),
        (&json!(1), &json!(93))
    );
    for more in [
        json!({"smart_context": false}),
        json!({"context_before": 0}),
    ] {
        let part = first(more);
        assert!(part["start_line"].as_u64().unwrap() > 1, "{part}");
        assert_eq!(part["symbol_signature"], "def walrus(values)");
    }
}

#[test]
fn hybrid_search_can_be_turned_off() {
    let fixture = Fixture::guides();
    let given = json!({"query": "trim_sail", "use_hybrid_search": "false"});
    let answer = fixture.answer("search_code", given);
    let first = &answer.structured["results"][0];
    assert!(first.get("keyword_score").is_none());
    assert_eq!(first["match_type"], "semantic");
}

#[test]
fn context_lines_are_optional() {
    let function = |n: u32| {
        let body = "    let total = values.iter().sum::<f32>();\n".repeat(6);
        format!("/// Number {n}.\npub fn item_{n}() -> f32 {{\n{body}    total\n}}\n\n")
    };
    let code: String = (0..60).map(function).collect();
    let code = code.replace("pub fn item_30(", "pub fn walrus(");
    let fixture = Fixture::new("code", &[("a.rs", &code)]);
    let first = |given| fixture.answer("search_code", given).structured["results"][0].clone();
    let plain = first(json!({"query": "walrus", "limit": 1}));
    assert!(plain.get("context_after").is_none() && plain.get("context_before").is_none());
    let given = json!({"query": "walrus", "limit": 1, "context_before": 2, "context_after": 3});
    let around = first(given);
    let lines = |key: &str| around[key].as_str().unwrap().lines().count();
    assert_eq!((lines("context_before"), lines("context_after")), (2, 3));
}

#[test]
fn an_unknown_filter_is_ignored_with_a_warning() {
    let fixture = Fixture::guides();
    let given = json!({"query": "hoist", "language": "python", "colour": "function"});
    let answer = fixture.answer("search_code", given);
    let warning = answer.structured["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("colour ignored"), "{warning}");
}

#[test]
fn a_token_continues_with_the_first_arguments() {
    let fixture = Fixture::guides();
    let given = json!({"query": "sails", "limit": 1, "language": ["rs", "python"]});
    let first = fixture.answer("search_code", given);
    let token = &first.structured["continuation"]["token"];
    assert!(first.structured.get("truncated").is_none());
    let next = json!({"query": "sails", "continuation_token": token});
    let next = fixture.answer("search_code", next);
    assert_eq!(next.structured["results"].as_array().unwrap().len(), 1);
    assert_ne!(next.structured["results"], first.structured["results"]);
    assert!(
        next.structured.get("continuation").is_none(),
        "{}",
        next.text
    );
}

#[test]
fn an_index_without_code_is_an_error() {
    let fixture = Fixture::new("docs", &[("a.md", "# A\n\ntext")]);
    let error = fixture.error("search_code", json!({"query": "main"}));
    assert_eq!(error.code, "CODE_INDEX_NOT_FOUND");
}
