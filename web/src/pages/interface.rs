//! The operations of the API, for people who write programs.

use axum::http::StatusCode;
use maud::{Markup, html};

use super::layout::{Layout, page as layout_page};
use crate::answer::{Answer, Problem};
use crate::api::fields;
use crate::api::names::{Kind, Name};
use crate::api::operations::{OPERATIONS, Operation, Takes};
use crate::site::Visit;

/// All operations, with what they take and give.
pub(crate) fn page(visit: &Visit) -> Result<Answer, Problem> {
    let site = &visit.site;
    let description = site.links.page("api/v1/openapi.json");
    let body = html! {
        article.narrow {
            h1 { "API" }
            p { "Answers are JSON. An error is " code { "application/problem+json" } ". " a href=(description) { "Description in OpenAPI 3.1" } }
            @if site.files.requires_token() {
                p { "Each request needs " code { "Authorization: Bearer TOKEN" } "." }
            }
            @for operation in OPERATIONS {
                (section(site.links.home().trim_end_matches('/'), operation))
            }
        }
    };
    let layout = Layout {
        title: "API",
        is_for_strangers: false,
        file: None,
        search: None,
        body,
    };
    Ok(layout_page(site, StatusCode::OK, &layout))
}

fn section(base: &str, operation: &Operation) -> Markup {
    let method = operation.method.to_uppercase();
    let names: Vec<&Name> = operation.names.iter().copied().flatten().collect();
    html! {
        section.operation id=(operation.id) {
            h2 { (method) " " code { (base) (operation.path) } }
            p { (operation.about) }
            @if !names.is_empty() {
                details {
                    summary { "Parameters" @if operation.takes == Takes::Body { ", in an object" } }
                    div.scrolled tabindex="0" {
                        table.listing {
                            thead { tr { th scope="col" { "Name" } th scope="col" { "Value" } th scope="col" { "Meaning" } } }
                            tbody {
                                @for name in names {
                                    tr {
                                        th scope="row" { code { (name.name) } }
                                        td { (kind(name.kind)) @if name.repeats { ", may repeat" } }
                                        td { (with_code(name.about)) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
            @if let Takes::Fields(fields) = operation.takes { (list("Body", fields)) }
            (object(operation.gives.1))
        }
    }
}

/// A text whose parts between backticks are code.
fn with_code(text: &str) -> Markup {
    html! {
        @for (number, part) in text.split('`').enumerate() {
            @if number % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

fn kind(kind: Kind) -> String {
    match kind {
        Kind::Text => "text".to_owned(),
        Kind::Number(least, u32::MAX) => format!("number from {least}"),
        Kind::Number(least, most) => format!("number, {least} to {most}"),
        Kind::Share => "number, 0 to 1".to_owned(),
        Kind::Flag => "true or false".to_owned(),
        Kind::Day => "day, 2026-11-28".to_owned(),
        Kind::OneOf(words) => words().join(", "),
    }
}

/// The object of that name, and those in it.
fn object(name: &str) -> Markup {
    let name = name.trim_matches(['[', ']']);
    let fields = fields::of(name).unwrap_or_default();
    let inner = fields
        .split_whitespace()
        .filter_map(|field| field.split_once(":[")?.1.split_once(']'));
    html! {
        @if !fields.is_empty() { (list("Answer", fields)) }
        @for (name, _) in inner {
            @if let Some(fields) = fields::of(name) { (list(name, fields)) }
        }
    }
}

fn list(title: &str, fields: &str) -> Markup {
    html! {
        details {
            summary { (title) }
            ul.fields {
                @for (name, kind) in fields.split_whitespace().filter_map(|field| field.split_once(':')) {
                    li {
                        code { (name) } " " span.quiet {
                            (kind.trim_end_matches('?').replace('|', " or "))
                            @if kind.ends_with('?') { ", not always there" }
                        }
                    }
                }
            }
        }
    }
}
