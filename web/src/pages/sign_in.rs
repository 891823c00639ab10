//! Signing in with a token, or by the link that the server printed.

use axum::http::header::{HeaderValue, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use maud::html;

use super::layout::{Layout, page as layout_page};
use crate::answer::{Answer, redirect};
use crate::site::{Shared, Visit};

/// The form; with `key` of a link, signs in.
pub(crate) fn page(visit: &Visit) -> Answer {
    if let Some(key) = visit.parameters.first("key") {
        return match visit.site.files.sign_in_by_link(key) {
            Some(cookie) => signed_in(visit, &cookie),
            None => form(
                visit,
                Some("This link was used before. Sign in with a token."),
            ),
        };
    }
    form(visit, None)
}

/// Takes the form.
pub(crate) fn answer(visit: &Visit) -> Answer {
    let token = visit.parameters.first("token").unwrap_or_default();
    match visit.site.files.sign_in(token) {
        Some(cookie) => signed_in(visit, &cookie),
        None => form(visit, Some("This token is not valid.")),
    }
}

/// Signs out: the session ends, and the browser forgets its cookie.
pub(crate) fn sign_out(site: &Shared, headers: &HeaderMap) -> Answer {
    let name = site.files.sign_out(headers).to_owned();
    let mut response = redirect(&site.links.page("sign-in"));
    let path = site.links.cookie_path();
    let cookie = format!("{name}=; Path={path}; Max-Age=0; HttpOnly; SameSite=Strict");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

fn form(visit: &Visit, wrong: Option<&str>) -> Answer {
    let site = &visit.site;
    let body = html! {
        section.narrow {
            h1 { "Sign in" }
            @if !site.files.requires_token() {
                p { "This server requires no token. " a href=(site.links.page("")) { "Search" } }
            } @else {
                @if let Some(wrong) = wrong {
                    p.wrong role="alert" { (wrong) }
                }
                form.stacked method="post" action=(site.links.page("sign-in")) {
                    label for="token" { "Access token" }
                    input id="token" name="token" type="password" required autocomplete="current-password";
                    input type="hidden" name="next" value=(next(visit));
                    button type="submit" { "Sign in" }
                }
                p.quiet { "The person who runs this server makes tokens with " code { "kb token create NAME" } "." }
            }
        }
    };
    let status = match wrong {
        Some(_) => StatusCode::UNAUTHORIZED,
        None => StatusCode::OK,
    };
    let layout = Layout {
        title: "Sign in",
        is_for_strangers: true,
        file: None,
        search: None,
        body,
    };
    layout_page(site, status, &layout)
}

fn signed_in(visit: &Visit, cookie: &str) -> Answer {
    let mut response = redirect(&next(visit));
    let path = visit.site.links.cookie_path();
    let cookie = format!("{cookie}; Path={path}; HttpOnly; SameSite=Strict");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

/// Where the visitor wanted to go: an address of this site, whatever the form says.
fn next(visit: &Visit) -> String {
    let home = visit.site.links.page("");
    let next = visit.parameters.first("next").unwrap_or_default();
    let is_here = next.starts_with('/')
        && !next.starts_with("//")
        && !next.contains(|c: char| c == '\\' || c.is_control() || c.is_whitespace())
        && visit.site.links.inner(next).is_some();
    if is_here { next.to_owned() } else { home }
}
