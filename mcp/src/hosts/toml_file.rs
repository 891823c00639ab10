//! A server in a configuration file in TOML, whose comments, order and spaces stay.

use serde_json::Value;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike};

use super::error::InstallError;

/// The server of that name below the table `key`.
pub(super) fn server(text: &str, key: &str, name: &str) -> Result<Option<Value>, InstallError> {
    let document = parsed(text)?;
    let servers = document.get(key).and_then(Item::as_table_like);
    let server = servers.and_then(|servers| servers.get(name));
    Ok(server.map(value_of))
}

/// The text with the server under that name, in place of one that is there.
pub(super) fn with_server(
    text: &str,
    key: &str,
    name: &str,
    server: &Value,
) -> Result<String, InstallError> {
    let mut document = parsed(text)?;
    let root: &mut dyn TableLike = document.as_table_mut();
    if !root.contains_key(key) {
        let mut servers = Table::new();
        // No header of its own, only those of its servers.
        servers.set_implicit(true);
        root.insert(key, Item::Table(servers));
    }
    let servers = root.get_mut(key).and_then(Item::as_table_like_mut);
    let servers =
        servers.ok_or_else(|| InstallError::Broken(format!("{key:?} in it is not a table")))?;
    match servers.get_mut(name).and_then(Item::as_table_like_mut) {
        // In place, so that what a person added to it stays.
        Some(existing) => {
            for stale in ["command", "args", "url", "bearer_token_env_var"] {
                existing.remove(stale);
            }
            fill(existing, server);
        }
        None => {
            let mut table = Table::new();
            fill(&mut table, server);
            servers.insert(name, Item::Table(table));
        }
    }
    Ok(document.to_string())
}

/// The text without the server of that name.
pub(super) fn without_server(text: &str, key: &str, name: &str) -> Result<String, InstallError> {
    let mut document = parsed(text)?;
    let servers = document.get_mut(key).and_then(Item::as_table_like_mut);
    if let Some(servers) = servers {
        servers.remove(name);
    }
    Ok(document.to_string())
}

/// What the file says, whatever its spelling.
pub(super) fn value(text: &str) -> Result<Value, InstallError> {
    Ok(value_of(parsed(text)?.as_item()))
}

fn parsed(text: &str) -> Result<DocumentMut, InstallError> {
    let parsed = text.parse::<DocumentMut>();
    // The message has the line that is wrong; one line of it is enough.
    parsed.map_err(|error| InstallError::Broken(error.message().to_owned()))
}

fn fill(table: &mut dyn TableLike, server: &Value) {
    for (key, value) in super::toml_fields(server) {
        let item = match value {
            Value::Array(items) => {
                let items = items.iter().filter_map(Value::as_str);
                toml_edit::value(items.collect::<Array>())
            }
            Value::String(text) => toml_edit::value(text.as_str()),
            Value::Bool(flag) => toml_edit::value(*flag),
            other => toml_edit::value(other.to_string()),
        };
        table.insert(key, item);
    }
}

/// As JSON, to be compared: dates and numbers as they are written.
fn value_of(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        let fields = table.iter();
        return Value::Object(
            fields
                .map(|(key, item)| (key.to_owned(), value_of(item)))
                .collect(),
        );
    }
    if let Some(tables) = item.as_array_of_tables() {
        let tables = tables
            .iter()
            .map(|table| value_of(&Item::Table(table.clone())));
        return Value::Array(tables.collect());
    }
    match item.as_value() {
        None => Value::Null,
        Some(toml_edit::Value::String(text)) => Value::String(text.value().clone()),
        Some(toml_edit::Value::Boolean(flag)) => Value::Bool(*flag.value()),
        Some(toml_edit::Value::Array(items)) => {
            let items = items
                .iter()
                .map(|value| value_of(&Item::Value(value.clone())));
            Value::Array(items.collect())
        }
        Some(other) => Value::String(other.to_string().trim().to_owned()),
    }
}
