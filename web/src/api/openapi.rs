//! The description of the API in OpenAPI 3.1, made of the table of its operations.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use serde_json::{Map, Value, json};

use super::fields;
use super::names::{Kind, Name};
use super::operations::{OPERATIONS, Operation, Takes};
use crate::answer::{answer as make_answer, respond};
use crate::site::Shared;

pub(super) async fn answer(State(site): State<Arc<Shared>>, _: Request<Body>) -> Response {
    let base = site.links.home().trim_end_matches('/');
    let base = if base.is_empty() { "/" } else { base };
    let document = document(base, site.files.requires_token());
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    respond(make_answer(StatusCode::OK, "application/json", text))
}

/// The whole description. `base` is what comes before each path.
fn document(base: &str, requires_token: bool) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for operation in OPERATIONS {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        if let Some(path) = path.as_object_mut() {
            path.insert(operation.method.to_owned(), described(operation));
        }
    }
    let schemas = fields::OBJECTS.iter();
    let schemas = schemas.map(|(name, fields)| ((*name).to_owned(), fields::schema(fields)));
    let schemas: Map<String, Value> = schemas.collect();
    let security = if requires_token {
        json!([{"token": []}])
    } else {
        json!([])
    };
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "kb",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Searching and reading .kb files.",
        },
        "servers": [{"url": base}],
        "security": security,
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    })
}

fn described(operation: &Operation) -> Value {
    let places = operation.places().map(
        |name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}),
    );
    let names = operation.names.iter().copied().flatten();
    let in_address = names
        .filter(|_| matches!(operation.takes, Takes::Address | Takes::File))
        .map(parameter);
    let parameters: Vec<Value> = places.chain(in_address).collect();
    let (status, gives) = operation.gives;
    let mut described = json!({
        "operationId": operation.id,
        "summary": operation.about,
        "parameters": parameters,
        "responses": {
            status.to_string(): {
                "description": "The answer.",
                "content": {"application/json": {"schema": given(gives)}},
            },
            "default": {
                "description": "What is wrong.",
                "content": {"application/problem+json": {"schema": given("Problem")}},
            },
        },
    });
    let body = match operation.takes {
        Takes::Address => None,
        Takes::Body => Some(("application/json", body(operation))),
        Takes::Fields(fields) => Some(("application/json", fields::schema(fields))),
        Takes::File => Some(("application/octet-stream", json!({}))),
        Takes::Form => Some(("multipart/form-data", form())),
    };
    if let (Some((media_type, schema)), Some(described)) = (body, described.as_object_mut()) {
        let content = json!({media_type: {"schema": schema}});
        described.insert(
            "requestBody".to_owned(),
            json!({"required": true, "content": content}),
        );
    }
    described
}

/// The fields of a form with files.
fn form() -> Value {
    json!({
        "type": "object",
        "properties": {
            "file": {"type": "array", "items": {"type": "string", "format": "binary"}},
            "folder": {"type": "string"},
            "tags": {"type": "string", "description": "With commas between."},
        },
        "required": ["file"],
    })
}

fn given(name: &str) -> Value {
    match name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'))
    {
        Some(items) => json!({"type": "array", "items": given(items)}),
        None if name.is_empty() => json!({"type": "object"}),
        None => json!({"$ref": format!("#/components/schemas/{name}")}),
    }
}

fn parameter(name: &Name) -> Value {
    json!({
        "name": name.name,
        "in": "query",
        "description": name.about,
        "schema": schema(name),
    })
}

fn body(operation: &Operation) -> Value {
    let names = operation.names.iter().copied().flatten();
    let properties = names.map(|name| {
        let mut schema = schema(name);
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("description".to_owned(), name.about.into());
        }
        (name.name.to_owned(), schema)
    });
    let properties: Map<String, Value> = properties.collect();
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn schema(name: &Name) -> Value {
    let one = match name.kind {
        Kind::Text => json!({"type": "string"}),
        Kind::Number(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
        Kind::Share => json!({"type": "number", "minimum": 0, "maximum": 1}),
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Day => json!({"type": "string", "format": "date"}),
        Kind::OneOf(words) => json!({"type": "string", "enum": words()}),
    };
    if name.repeats {
        json!({"type": "array", "items": one})
    } else {
        one
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_operation_has_its_own_name_and_known_objects() {
        let ids: BTreeSet<&str> = OPERATIONS.iter().map(|operation| operation.id).collect();
        assert_eq!(ids.len(), OPERATIONS.len());
        for operation in OPERATIONS {
            let given = operation.gives.1.trim_matches(['[', ']']);
            let is_known = given.is_empty() || fields::of(given).is_some();
            assert!(is_known, "{}: {given}", operation.id);
            let names: Vec<&str> = operation
                .names
                .iter()
                .copied()
                .flatten()
                .map(|name| name.name)
                .collect();
            let different: BTreeSet<&&str> = names.iter().collect();
            assert_eq!(different.len(), names.len(), "{}", operation.id);
        }
    }

    #[test]
    fn all_references_lead_somewhere() {
        fn references(value: &Value, found: &mut Vec<String>) {
            match value {
                Value::Object(object) => {
                    for (name, value) in object {
                        match value.as_str().filter(|_| name == "$ref") {
                            Some(target) => found.push(target.to_owned()),
                            None => references(value, found),
                        }
                    }
                }
                Value::Array(values) => values.iter().for_each(|value| references(value, found)),
                _ => {}
            }
        }
        let document = document("/kb", true);
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > OPERATIONS.len());
        for target in found {
            assert!(
                document.pointer(target.trim_start_matches('#')).is_some(),
                "{target}"
            );
        }
        assert_eq!(document["servers"][0]["url"], "/kb");
    }
}
