//! What every page has: head, search box, navigation.

use axum::http::StatusCode;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::answer::{Answer, html as answer_html};
use crate::assets;
use crate::parameters::Parameters;
use crate::site::{Kind, Shared};

/// One page.
pub(crate) struct Layout<'p> {
    pub(crate) title: &'p str,
    /// Whether it is shown to everybody, so that it may say nothing of the files.
    pub(crate) is_for_strangers: bool,
    /// The file that it is about, if it is about one.
    pub(crate) file: Option<&'p str>,
    /// What the search box has, and the search that it goes on with.
    pub(crate) search: Option<&'p Parameters>,
    pub(crate) body: Markup,
}

/// What pages without a server may load, which has no header to say it: style and pictures beside them.
const STATIC_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'";

/// The same for a page that has its style in itself.
const REPORT_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The whole page.
pub(crate) fn page(site: &Shared, status: StatusCode, layout: &Layout<'_>) -> Answer {
    let title = if layout.title.is_empty() {
        "kb".to_owned()
    } else {
        format!("{} - kb", layout.title)
    };
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                (loaded(site))
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                @if site.kind != Kind::Report { (top(site, layout)) }
                main id="main" tabindex="-1" { (layout.body) }
            }
        }
    };
    answer_html(status, markup)
}

/// Style, icon and script.
fn loaded(site: &Shared) -> Markup {
    let [style, script, icon] = assets::names();
    let asset = |name: &str| site.links.page(&format!("assets/{name}"));
    let policy =
        |policy: &str| html! { meta http-equiv="Content-Security-Policy" content=(policy); };
    html! {
        @if site.kind == Kind::Report {
            (policy(REPORT_POLICY))
            style { (PreEscaped(assets::style())) }
        } @else {
            @if site.kind == Kind::Static { (policy(STATIC_POLICY)) }
            link rel="stylesheet" href=(asset(style));
            link rel="icon" type="image/svg+xml" href=(asset(icon));
            @if site.kind == Kind::Live { script defer src=(asset(script)) {} }
        }
    }
}

fn top(site: &Shared, layout: &Layout<'_>) -> Markup {
    html! {
        header.top {
            a.home href=(site.links.page("")) { "kb" }
            @if !layout.is_for_strangers {
                @if site.kind == Kind::Live { (search_box(site, layout)) }
                (navigation(site, layout.file))
            }
        }
    }
}

fn search_box(site: &Shared, layout: &Layout<'_>) -> Markup {
    let empty = Parameters::default();
    let parameters = layout.search.unwrap_or(&empty);
    let kept = parameters.clone().without("q").without("from");
    html! {
        form.search role="search" action=(site.links.page("")) {
            input id="q" type="search" name="q" value=(parameters.first("q").unwrap_or_default())
                placeholder="Ask, or give words" aria-label="Search" autocomplete="off"
                autocapitalize="off" spellcheck="false" maxlength="8000" data-live[layout.search.is_some()];
            @for (name, value) in kept.pairs() {
                input type="hidden" name=(name) value=(value);
            }
            button type="submit" { "Search" }
        }
    }
}

fn navigation(site: &Shared, file: Option<&str>) -> Markup {
    let files = site.files.list();
    let shown = file.map(str::to_owned).or_else(|| match files.as_slice() {
        [only] => Some(only.name().to_owned()),
        _ => None,
    });
    html! {
        nav aria-label="Pages" {
            @if let Some(file) = &shown {
                a href=(site.links.folder(file, "")) { "Browse" }
                a href=(site.links.about(file)) { "About" }
            } @else {
                @for file in &files {
                    a href=(site.links.folder(file.name(), "")) { (file.name()) }
                }
            }
            @if site.kind == Kind::Live { a href=(site.links.page("agents")) { "Agents" } }
            @if site.files.requires_token() {
                form method="post" action=(site.links.page("sign-out")) {
                    button.plain type="submit" { "Sign out" }
                }
            }
        }
    }
}
