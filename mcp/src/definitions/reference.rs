//! Generates the reference page of the tools from their definitions and examples.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::Value;

use crate::response::Object;
use crate::tools;

/// An [`Example`] of each tool, by its name.
const EXAMPLES: &str = include_str!("../../data/examples.json");

/// A call of a tool.
#[derive(Debug, Deserialize)]
struct Example {
    /// What a person says to have the tool called.
    prompt: String,
    request: Value,
    result: Value,
}

fn examples() -> BTreeMap<String, Example> {
    serde_json::from_str(EXAMPLES).unwrap_or_default()
}

/// Returns `docs/mcp-tools.md`: each tool with its description, parameters, and an example as a sentence, a request and a
/// response.
pub fn reference() -> String {
    let examples = examples();
    let mut page = String::from(
        "# Tools of the MCP server\n\n\
         <!-- Made by `cargo xtask docs --write`; change mcp/src/tools or mcp/data/examples.json. -->\n\n\
         `kb mcp FILE.kb` serves these tools. Those that write are offered only with `--allow-write`. \
         The examples show the structured result, with long lists shortened; a text block says the same.\n",
    );
    for (tool, writes) in tools::published() {
        let name = name(tool);
        let of = |key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default();
        write(
            &mut page,
            format_args!("\n## `{name}`: {}\n\n{}\n", of("title"), of("description")),
        );
        if writes {
            page.push_str("\nOnly with `--allow-write`.\n");
        }
        parameters(&mut page, tool);
        if let Some(example) = examples.get(name) {
            write(
                &mut page,
                format_args!(
                    "\nExample: \"{}\"\n\nRequest:\n\n```json\n{:#}\n```\n\nAnswer:\n\n```json\n{:#}\n```\n",
                    example.prompt, example.request, example.result
                ),
            );
        }
    }
    page.push_str("\nThe tools are implemented in `mcp/src/tools/`.\n");
    page
}

fn name(tool: &Object) -> &str {
    tool.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// The table of the parameters, required ones first; those of an object follow it as `object.field`.
fn parameters(page: &mut String, tool: &Object) {
    let mut rows = Vec::new();
    collect(
        tool.get("inputSchema").unwrap_or(&Value::Null),
        "",
        &mut rows,
    );
    if rows.is_empty() {
        page.push_str("\nNo parameters.\n");
        return;
    }
    rows.sort_by_key(|row| !row.1);
    page.push_str(
        "\n| Parameter | Type | Required | Default | Description |\n|---|---|---|---|---|\n",
    );
    for (row, is_required) in rows {
        let [name, kind, default, description] = row;
        let required = if is_required { "yes" } else { "no" };
        write(
            page,
            format_args!("| `{name}` | {kind} | {required} | {default} | {description} |\n"),
        );
    }
}

/// Name, type, default and description, and whether it is required.
type Row = ([String; 4], bool);

fn collect(schema: &Value, above: &str, rows: &mut Vec<Row>) {
    let required = schema.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let is_required = required.contains(&name.as_str());
        let name = format!("{above}{name}");
        let default = property.get("default").map(|value| format!("`{value}`"));
        let description = property.get("description").and_then(Value::as_str);
        let row = [
            name.clone(),
            kind(property),
            default.unwrap_or_default(),
            description.unwrap_or_default().replace('|', "\\|"),
        ];
        rows.push((row, is_required));
        collect(property, &format!("{name}."), rows);
    }
}

/// A type in words: `integer 1..50`, `"raw" or "chunks"`.
fn kind(property: &Value) -> String {
    let word = |value: &Value| value.get("type").and_then(Value::as_str).map(str::to_owned);
    if let Some(values) = property.get("enum").and_then(Value::as_array) {
        let values: Vec<String> = values.iter().map(Value::to_string).collect();
        return values.join(" or ");
    }
    let kind = word(property).unwrap_or_default();
    match (property.get("minimum"), property.get("maximum")) {
        (Some(least), Some(most)) => format!("{kind} {least}..{most}"),
        _ if kind == "array" => {
            let items = property.get("items").map(self::kind).unwrap_or_default();
            match property.get("maxItems") {
                Some(most) => format!("array of at most {most} of {items}"),
                None => format!("array of {items}"),
            }
        }
        _ => match property.get("maxLength") {
            Some(most) => format!("{kind}, at most {most} characters"),
            None => kind,
        },
    }
}

fn write(page: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String does not fail.
    let _ = page.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::schema::violations;

    #[test]
    fn committed_page_is_that_of_the_tools() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/mcp-tools.md");
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        if std::env::var_os("KB_WRITE_DOCS").is_some() {
            std::fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs")).unwrap();
            std::fs::write(path, reference()).unwrap();
            return;
        }
        assert!(
            committed == reference(),
            "stale: run cargo xtask docs --write"
        );
        assert!(committed.lines().count() > 200);
    }

    #[test]
    fn every_tool_has_a_valid_example() {
        let examples = examples();
        assert_eq!(examples.len(), tools::published().count());
        for (tool, _) in tools::published() {
            let name = name(tool);
            let example = &examples[name];
            assert!(example.prompt.len() > 10, "{name}");
            for (key, value) in [
                ("inputSchema", &example.request),
                ("outputSchema", &example.result),
            ] {
                let wrong = violations(&tool[key], value);
                assert!(wrong.is_empty(), "{name}: {wrong:#?}");
            }
        }
    }
}
