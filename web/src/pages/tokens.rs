//! Access tokens: those that there are, a new one, and one less.

use axum::http::StatusCode;
use kb_mcp::tokens::{TOKENS_LIMIT, TokenInfo};
use maud::{Markup, html};

use super::layout::{Layout, page as layout_page};
use crate::answer::{Answer, Problem, redirect};
use crate::links::Links;
use crate::parameters::Parameters;
use crate::site::Visit;
use crate::text::numbers::day;

/// The tokens, and the form for a new one.
pub(crate) fn page(visit: &Visit) -> Result<Answer, Problem> {
    shown(visit, None)
}

/// Creates the token of the form, and shows it, this once.
pub(crate) fn create(visit: &Visit, form: &Parameters) -> Result<Answer, Problem> {
    let (tokens, _) = visit.managed_tokens()?;
    check_key(visit, form)?;
    let name = form.first("name").unwrap_or_default().trim();
    let token = tokens.create(name, form.has("write", "1"))?;
    shown(visit, Some((name, &token)))
}

/// Revokes the token of the form.
pub(crate) fn revoke(visit: &Visit, form: &Parameters) -> Result<Answer, Problem> {
    let (tokens, _) = visit.managed_tokens()?;
    check_key(visit, form)?;
    tokens.revoke(form.first("name").unwrap_or_default())?;
    Ok(redirect(&visit.site.links.page("tokens")))
}

fn check_key(visit: &Visit, form: &Parameters) -> Result<(), Problem> {
    if visit.is_form_key(form.first("key").unwrap_or_default()) {
        return Ok(());
    }
    let message = "this form is not valid any more";
    Err(Problem {
        hint: Some("go back, load the page again, and send the form again".to_owned()),
        ..Problem::new(StatusCode::FORBIDDEN, "FORBIDDEN", message)
    })
}

fn shown(visit: &Visit, new: Option<(&str, &str)>) -> Result<Answer, Problem> {
    let links = &visit.site.links;
    let (tokens, key) = visit.managed_tokens()?;
    let all = tokens.list()?;
    let body = html! {
        section.narrow {
            h1 { "Access tokens" }
            p { "Programs and MCP clients send a token with each request. " a href=(links.page("agents")) { "Connect an agent" } }
            @if let Some((name, token)) = new {
                div.once role="status" {
                    p { "The token " strong { (name) } ". Copy it now: it is not shown again." }
                    p { code #token { (token) } " " button.copy type="button" data-copy="#token" hidden { "Copy" } }
                }
            }
            (list(links, &all, &key))
            @if all.len() < TOKENS_LIMIT { (form(links, &key)) } @else {
                p.quiet { "There are " (TOKENS_LIMIT) " tokens, the most that are possible. Revoke one to make another." }
            }
        }
    };
    let layout = Layout {
        title: "Access tokens",
        is_for_strangers: false,
        file: None,
        search: None,
        body,
    };
    Ok(layout_page(&visit.site, StatusCode::OK, &layout))
}

fn list(links: &Links, all: &[TokenInfo], key: &str) -> Markup {
    html! {
        div.wide tabindex="0" {
            table.listing {
                thead { tr {
                    th scope="col" { "Name" } th scope="col" { "May" } th.date scope="col" { "Created" }
                    th.date scope="col" { "Last used" } th scope="col" { span.hidden { "Change" } }
                } }
                tbody {
                    @for token in all {
                        tr {
                            th scope="row" { (token.name) }
                            td { @if token.may_write { "read and write" } @else { "read" } }
                            td.date { (day(token.created_ms)) }
                            td.date { @match token.last_used_ms { Some(used) => (day(used)), None => "never" } }
                            td {
                                form method="post" action=(links.page("tokens/revoke")) {
                                    input type="hidden" name="key" value=(key);
                                    input type="hidden" name="name" value=(token.name);
                                    button.plain type="submit" aria-label={ "Revoke " (token.name) } { "Revoke" }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn form(links: &Links, key: &str) -> Markup {
    html! {
        h2 { "New token" }
        form.stacked.token method="post" action=(links.page("tokens")) {
            input type="hidden" name="key" value=(key);
            label for="name" { "Name" }
            input id="name" name="name" required maxlength="64" autocomplete="off" placeholder="laptop";
            label.choice { input type="checkbox" name="write" value="1"; " It may also write, and manage tokens" }
            button type="submit" { "Create" }
        }
    }
}
