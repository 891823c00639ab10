//! What a call is given: names, types and ranges by the published schema, so that these stand once.

use std::collections::BTreeSet;

use kb_engine::{Cursor, PageOptions};
use serde_json::Value;

use crate::definitions;
use crate::response::{Object, ToolError, cut};

use super::coerce::{coerce, invalid, too_long};
use super::cursor;

/// Other names that are taken for an argument: tool (`*`: all), other name, name.
const ALIASES: &[(&str, &str, &str)] = &[
    ("search", "project", "index_name"),
    ("search", "folder", "filters.folder"),
    ("search", "fileType", "filters.fileType"),
    ("search", "file_type", "filters.fileType"),
    ("search_docs", "topK", "top_k"),
    ("search_docs", "limit", "top_k"),
    ("search_docs", "minScore", "min_score"),
    ("get_document", "document_id", "doc_handle"),
    ("list_documents", "path", "folder"),
    ("upload_document", "file_name", "fileName"),
    ("upload_document", "mime_type", "mimeType"),
];

/// The same for the tools that also say project for index.
const PROJECT_TOOLS: &[&str] = &["search", "search_docs", "upload_document"];
const PROJECT_NAMES: &[&str] = &["projectId", "project_id"];

/// Arguments that may also come as a list, and are then joined by commas: tool and name.
const LISTS_TOO: &[(&str, &str)] = &[("search_code", "language")];

/// Unknown arguments that a warning names, and characters of each.
const UNKNOWN_SHOWN: usize = 10;
const UNKNOWN_LENGTH: usize = 60;

/// The arguments of one call, checked.
#[derive(Debug)]
pub(in crate::tools) struct Arguments {
    tool: &'static str,
    /// The published schema of each.
    properties: &'static Object,
    /// Typed and in range, by published name; those of an object as `object.field`. What was left
    /// out is not in it.
    values: Object,
    /// The names used by the caller, as they came.
    spelled: BTreeSet<String>,
    /// What was ignored.
    warnings: Vec<String>,
    continuation: Option<Cursor>,
}

impl Arguments {
    /// Reads what a call of `tool` is given; with a continuation, what it leaves out is as it was in
    /// the first call.
    pub(in crate::tools) fn read(tool: &str, given: Object) -> Result<Arguments, ToolError> {
        let unknown = || ToolError::new("INTERNAL", format!("no tool {tool}"));
        let definition = definitions::definition(tool).ok_or_else(unknown)?;
        let name = definition.get("name").and_then(Value::as_str);
        let schema = definition.get("inputSchema").ok_or_else(unknown)?;
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut arguments = Arguments {
            tool: name.ok_or_else(unknown)?,
            properties: properties.unwrap_or(none()),
            values: Object::new(),
            spelled: BTreeSet::new(),
            warnings: Vec::new(),
            continuation: None,
        };
        let refuses_unknown = definitions::writes(definition);
        arguments.take(given, refuses_unknown)?;
        if let Some(Value::String(token)) = arguments.values.remove("continuation_token") {
            let cursor = Cursor::from(token);
            arguments.go_on_from(&cursor)?;
            arguments.continuation = Some(cursor);
        }
        for required in arguments.required() {
            if !arguments.values.contains_key(required) {
                return Err(invalid(required, "it is required"));
            }
        }
        Ok(arguments)
    }

    /// Takes in what was given under the names that it has here.
    fn take(&mut self, given: Object, refuses_unknown: bool) -> Result<(), ToolError> {
        let mut unknown = Vec::new();
        for (spelled, value) in given {
            if value.is_null() {
                continue;
            }
            let Some(name) = self.name_of(&spelled) else {
                unknown.push(spelled);
                continue;
            };
            match (self.schema_of(&name), value) {
                (Some(schema), Value::Object(fields)) if is_object(schema) => {
                    for (field, value) in fields {
                        let field_name = format!("{name}.{field}");
                        if value.is_null() {
                            continue;
                        }
                        match self.schema_of(&field_name) {
                            Some(_) => self.put(&field_name, value, true)?,
                            None => unknown.push(field_name),
                        }
                    }
                }
                (_, value) => self.put(&name, value, name == spelled)?,
            }
            self.spelled.insert(spelled);
        }
        if unknown.is_empty() {
            return Ok(());
        }
        let known: Vec<&str> = self.properties.keys().map(String::as_str).collect();
        let known = match known.as_slice() {
            [] => format!("{} takes no arguments", self.tool),
            some => format!("{} takes {}", self.tool, some.join(", ")),
        };
        let shown = unknown.iter().take(UNKNOWN_SHOWN);
        let shown: Vec<_> = shown.map(|name| cut(name, UNKNOWN_LENGTH)).collect();
        let mut shown = shown.join(", ");
        if unknown.len() > UNKNOWN_SHOWN {
            shown = format!("{shown} and {} more", unknown.len() - UNKNOWN_SHOWN);
        }
        if refuses_unknown {
            return Err(invalid(&shown, "no such argument").with_hint(known));
        }
        self.warnings.push(format!("{shown} ignored: {known}"));
        Ok(())
    }

    /// Keeps a value. What comes by its published name goes before what comes by another one.
    fn put(&mut self, name: &str, value: Value, is_published: bool) -> Result<(), ToolError> {
        let Some(schema) = self.schema_of(name) else {
            return Err(invalid(name, "no such argument"));
        };
        let value = match value {
            Value::Array(words) if LISTS_TOO.contains(&(self.tool, name)) => {
                // Each takes a character, and a comma.
                let most = schema.get("maxLength").and_then(Value::as_u64);
                if let Some(most) = most.filter(|most| words.len() as u64 > *most) {
                    return Err(too_long(name, words.len(), "values", most));
                }
                let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
                let words = words.ok_or_else(|| invalid(name, "not a list of texts"))?;
                Value::String(words.join(","))
            }
            other => other,
        };
        let value = match coerce(name, schema, value) {
            // No answer gave such a one.
            Err(error) if name == "continuation_token" && error.facts.contains_key("limit") => {
                return Err(cursor::malformed());
            }
            coerced => coerced?,
        };
        if is_published || !self.values.contains_key(name) {
            self.values.insert(name.to_owned(), value);
        }
        Ok(())
    }

    /// Fills in what the first call was given.
    fn go_on_from(&mut self, cursor: &Cursor) -> Result<(), ToolError> {
        let Some(noted) = cursor::noted(cursor, self.tool)? else {
            return Ok(());
        };
        for (name, value) in noted {
            // A note may be forged: it says no more than a caller may.
            let is_required = self.required().contains(&name.as_str());
            let schema = self.schema_of(&name).filter(|_| !is_required);
            let schema = schema.ok_or_else(cursor::malformed)?;
            let value = coerce(&name, schema, value).map_err(|_| cursor::malformed())?;
            self.values.entry(name).or_insert(value);
        }
        Ok(())
    }

    /// The published name of an argument.
    fn name_of(&self, spelled: &str) -> Option<String> {
        if self.properties.contains_key(spelled) {
            return Some(spelled.to_owned());
        }
        if PROJECT_NAMES.contains(&spelled) && PROJECT_TOOLS.contains(&self.tool) {
            return Some("index_name".to_owned());
        }
        let mut aliases = ALIASES.iter();
        let found = aliases.find(|(tool, alias, _)| *tool == self.tool && *alias == spelled);
        found.map(|(_, _, name)| (*name).to_owned())
    }

    fn schema_of(&self, name: &str) -> Option<&'static Value> {
        match name.split_once('.') {
            None => self.properties.get(name),
            Some((object, field)) => self.properties.get(object)?.get("properties")?.get(field),
        }
    }

    /// An error about an argument that this tool has among its filters, with the name it has there.
    pub(in crate::tools) fn in_its_names(&self, mut error: ToolError) -> ToolError {
        let Some((name, reason)) = error.sentence.split_once(": ") else {
            return error;
        };
        if error.code != "INVALID_ARGUMENT" || self.properties.contains_key(name) {
            return error;
        }
        let one = name.strip_suffix('s').unwrap_or(name);
        let names = [format!("filters.{name}"), format!("filters.{one}")];
        let found = names.iter().find(|name| self.schema_of(name).is_some());
        if let Some(name) = found {
            error.sentence = format!("{name}: {reason}");
        }
        error
    }

    fn required(&self) -> Vec<&'static str> {
        let schema = definitions::definition(self.tool).and_then(|tool| tool.get("inputSchema"));
        let required = schema
            .and_then(|schema| schema.get("required"))
            .and_then(Value::as_array);
        required
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    /// The value of an argument: as given, or the published default.
    fn value(&self, name: &str) -> Option<&Value> {
        let default = || self.schema_of(name)?.get("default");
        self.values.get(name).or_else(default)
    }

    pub(in crate::tools) fn text(&self, name: &str) -> Option<&str> {
        self.value(name).and_then(Value::as_str)
    }

    /// A text that the schema requires, so that it is there.
    pub(in crate::tools) fn required_text(&self, name: &str) -> &str {
        self.text(name).unwrap_or_default()
    }

    pub(in crate::tools) fn integer(&self, name: &str) -> Option<u64> {
        self.value(name).and_then(Value::as_u64)
    }

    pub(in crate::tools) fn number(&self, name: &str) -> Option<f64> {
        self.value(name).and_then(Value::as_f64)
    }

    pub(in crate::tools) fn flag(&self, name: &str) -> Option<bool> {
        self.value(name).and_then(Value::as_bool)
    }

    pub(in crate::tools) fn texts(&self, name: &str) -> Vec<&str> {
        let list = self.value(name).and_then(Value::as_array);
        list.into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    /// Whether an argument was given, here or in the first call.
    pub(in crate::tools) fn is_given(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Whether one of these words was used in this call.
    pub(in crate::tools) fn is_spelled(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.spelled.contains(*word))
    }

    pub(in crate::tools) fn index_name(&self) -> Option<&str> {
        self.text("index_name")
    }

    /// How many tokens are wanted.
    pub(in crate::tools) fn max_tokens(&self) -> u32 {
        let tokens = self
            .integer("max_tokens")
            .and_then(|tokens| tokens.try_into().ok());
        tokens.unwrap_or(2000)
    }

    /// Whether this call goes on where another answer ended.
    pub(in crate::tools) fn is_continued(&self) -> bool {
        self.continuation.is_some()
    }

    /// What was ignored, for the answer.
    pub(in crate::tools) fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// The part of an answer that is wanted, `budget` tokens of it.
    pub(in crate::tools) fn page(&self, budget: u32) -> PageOptions {
        let mut page = PageOptions::default().with_max_tokens(budget);
        page.cursor.clone_from(&self.continuation);
        page.client_state = cursor::note(self.tool, &self.to_be_noted());
        page
    }

    /// What a call that goes on need not say again.
    fn to_be_noted(&self) -> Object {
        let required = self.required();
        let differing = self.values.iter().filter(|(name, value)| {
            let default = self
                .schema_of(name)
                .and_then(|schema| schema.get("default"));
            default != Some(value) && !required.contains(&name.as_str())
        });
        differing
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }
}

fn none() -> &'static Object {
    static NONE: std::sync::OnceLock<Object> = std::sync::OnceLock::new();
    NONE.get_or_init(Object::new)
}

fn is_object(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(tool: &str, given: Value) -> Result<Arguments, ToolError> {
        let Value::Object(given) = given else {
            panic!("{given}");
        };
        Arguments::read(tool, given)
    }

    fn refusal(tool: &str, given: Value) -> String {
        read(tool, given).unwrap_err().text()
    }

    #[test]
    fn strings_stand_for_numbers_and_booleans() {
        let given = json!({"query": "a", "top_k": "5", "min_score": " 0.5 "});
        let arguments = read("search_docs", given).unwrap();
        assert_eq!(arguments.integer("top_k"), Some(5));
        assert_eq!(arguments.number("min_score"), Some(0.5));
        let arguments = read("list_documents", json!({"recursive": "true"})).unwrap();
        assert_eq!(arguments.flag("recursive"), Some(true));
        let arguments = read("search", json!({"query": "a", "limit": 7.0})).unwrap();
        assert_eq!(arguments.integer("limit"), Some(7));
        let text = refusal("list_documents", json!({"recursive": "yes"}));
        assert_eq!(
            text,
            "INVALID_ARGUMENT: recursive: \"yes\" given; it is a boolean."
        );
        let text = refusal("search", json!({"query": "a", "limit": "ten"}));
        assert_eq!(
            text,
            "INVALID_ARGUMENT: limit: \"ten\" given; it is an integer."
        );
        assert!(refusal("search", json!({"query": "a", "limit": 1.5})).contains("an integer"));
        assert!(refusal("search", json!({"query": 1})).contains("a string"));
    }

    #[test]
    fn null_is_omitted_and_defaults_are_those_published() {
        let given =
            json!({"query": "a", "limit": null, "index_name": null, "filters": {"folder": null}});
        let arguments = read("search", given).unwrap();
        assert_eq!(arguments.integer("limit"), Some(10));
        assert_eq!(arguments.text("mode"), Some("hybrid"));
        assert_eq!(
            (arguments.index_name(), arguments.max_tokens()),
            (None, 2000)
        );
        assert!(!arguments.is_given("filters.folder") && !arguments.is_given("limit"));
        let text = refusal("search", json!({"query": null}));
        assert_eq!(text, "INVALID_ARGUMENT: query: it is required.");
    }

    #[test]
    fn out_of_range_names_the_range() {
        for (given, text) in [
            (
                json!({"query": "a", "limit": 51}),
                "limit: 51 given; allowed are 1 to 50",
            ),
            (
                json!({"query": "a", "limit": "0"}),
                "limit: 0 given; allowed are 1 to 50",
            ),
            (
                json!({"query": "a", "mode": "regex"}),
                "mode: \"regex\" given; allowed are hybrid, semantic, keyword, title",
            ),
        ] {
            assert_eq!(
                refusal("search", given),
                format!("INVALID_ARGUMENT: {text}.")
            );
        }
        let text = refusal("search_docs", json!({"query": "a", "minScore": 1.5}));
        assert_eq!(
            text,
            "INVALID_ARGUMENT: min_score: 1.5 given; allowed are 0 to 1."
        );
    }

    #[test]
    fn a_name_of_an_index_is_as_long_as_one_may_be() {
        let name = "\u{1f600}".repeat(crate::options::NAME_LIMIT);
        read("index_stats", json!({"index_name": name})).unwrap();
        let text = refusal("index_stats", json!({"index_name": format!("{name}x")}));
        let expected = "INVALID_ARGUMENT: index_name: 65 characters given; at most 64.";
        assert_eq!(text, expected);
    }

    #[test]
    fn max_tokens_is_clamped() {
        for (given, expected) in [
            (json!(0), 1),
            (json!(-5), 1),
            (json!(1e9), 20_000),
            (json!("300"), 300),
        ] {
            let arguments = read("search", json!({"query": "a", "max_tokens": given})).unwrap();
            assert_eq!(arguments.max_tokens(), expected);
        }
        assert!(
            refusal("search", json!({"query": "a", "max_tokens": "many"})).contains("an integer")
        );
    }

    #[test]
    fn unknown_arguments_warn_on_reads_and_stop_writes() {
        let given = json!({"query": "a", "colour": 1, "filters": {"shape": "round"}});
        let warnings = read("search", given).unwrap().warnings();
        assert!(
            warnings[0].starts_with("colour, filters.shape ignored: search takes "),
            "{warnings:?}"
        );
        let given = json!({"index_name": "a", "colour": 1});
        let text = refusal("clear_index", given);
        let expected = "INVALID_ARGUMENT: colour: no such argument. clear_index takes index_name.";
        assert_eq!(text, expected);
        let warnings = read("list_indexes", json!({"x": 1})).unwrap().warnings();
        assert_eq!(warnings, ["x ignored: list_indexes takes no arguments"]);
    }

    #[test]
    fn many_unknown_arguments_make_one_short_warning() {
        let many = (0..30).map(|n| (format!("{n}{}", "x".repeat(500)), json!(1)));
        let mut given: Object = many.collect();
        let error = Arguments::read("clear_index", given.clone()).unwrap_err();
        assert!(error.text().len() < 1000, "{}", error.text());
        assert!(Value::Object(error.facts).to_string().len() < 1000);
        given.insert("query".to_owned(), "a".into());
        let warnings = Arguments::read("search", given).unwrap().warnings();
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].len() < 1200, "{warnings:?}");
        assert!(
            warnings[0].contains(" and 20 more ignored: "),
            "{warnings:?}"
        );
    }

    #[test]
    fn other_names_are_taken_too() {
        let given = json!({"query": "a", "folder": "x", "file_type": "md", "project": "p"});
        let arguments = read("search", given).unwrap();
        assert_eq!(arguments.text("filters.folder"), Some("x"));
        assert_eq!(arguments.text("filters.fileType"), Some("md"));
        assert_eq!(arguments.index_name(), Some("p"));
        let arguments = read("search_docs", json!({"query": "a", "topK": 3})).unwrap();
        assert_eq!(arguments.integer("top_k"), Some(3));
        let both = json!({"query": "a", "topK": 3, "top_k": 4});
        assert_eq!(read("search_docs", both).unwrap().integer("top_k"), Some(4));
        assert!(arguments.is_spelled(&["topK"]) && !arguments.is_spelled(&["top_k"]));
        let arguments = read(
            "search_code",
            json!({"query": "a", "language": ["rs", "py"]}),
        )
        .unwrap();
        assert_eq!(arguments.text("language"), Some("rs,py"));
        let given = json!({"file_name": "a", "content": "b", "tags": "t"});
        let arguments = read("upload_document", given).unwrap();
        assert_eq!(arguments.texts("tags"), ["t"]);
    }

    /// A continuation with a note, as anybody may forge it.
    fn token(note: &Value) -> String {
        let state = json!({"v": 1, "note": note.to_string()});
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(state.to_string())
    }

    #[test]
    fn a_continuation_fills_in_what_is_left_out() {
        let token = token(&json!(["search", {"limit": 3, "filters.folder": "x"}]));
        let given = json!({"query": "a", "limit": 4, "continuation_token": token});
        let arguments = read("search", given).unwrap();
        assert_eq!(arguments.integer("limit"), Some(4));
        assert_eq!(arguments.text("filters.folder"), Some("x"));
        assert!(arguments.is_continued());
    }

    #[test]
    fn a_note_says_no_more_than_a_caller_may() {
        for noted in [
            json!({"query": "b"}),
            json!({"limit": 51}),
            json!({"colour": 1}),
        ] {
            let given =
                json!({"query": "a", "continuation_token": token(&json!(["search", noted]))});
            let text = refusal("search", given);
            assert!(text.starts_with("INVALID_CONTINUATION_TOKEN: "), "{text}");
        }
    }

    proptest! {
        #[test]
        fn anything_may_come_as_an_argument(
            name in "(query|limit|mode|filters|max_tokens|tags|continuation_token|[a-z]{1,5})",
            text in "\\PC{0,20}",
            number in any::<f64>(),
            integer in any::<i64>(),
        ) {
            for value in [json!(text), json!(number), json!(integer), json!([text]), json!({"folder": integer})] {
                for tool in ["search", "upload_document", "get_pages"] {
                    let mut given = Object::new();
                    given.insert("query".to_owned(), "a".into());
                    given.insert(name.clone(), value.clone());
                    if let Err(error) = Arguments::read(tool, given) {
                        prop_assert!(error.code.starts_with("INVALID_"), "{:?}", error);
                    }
                }
            }
        }
    }
}
