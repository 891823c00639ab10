//! The search page.

use std::sync::atomic::AtomicBool;

use axum::http::StatusCode;
use kb_engine::{Kb, PageOptions, Relevance, Request, Response, Show, search_files_with};
use kb_mcp::OpenFile;
use maud::{Markup, html};

use super::hit::hit;
use super::layout::{Layout, page as layout_page};
use crate::answer::{Answer, Problem, html as answer_html};
use crate::asked::{chosen, request, unless};
use crate::parameters::Parameters;
use crate::site::{Kind, Shared, Visit};
use crate::text::numbers::{count, counted};

/// Hits of one page.
const HITS: usize = 10;

/// Lines that a hit shows.
const LINES: u32 = 8;

/// Most values that a filter offers.
const CHOICES: usize = 40;

/// Searches for what the address says. With `part=results` only the results, for the script.
pub(crate) fn page(visit: &Visit, cancel: &AtomicBool) -> Result<Answer, Problem> {
    let parameters = visit.parameters.clone().without("part");
    let files = chosen(&visit.site, &parameters)?;
    let asked = request(&parameters)?;
    let is_blank = asked.query.trim().is_empty() && asked.filters.is_empty();
    let results = if is_blank {
        welcome(&visit.site)
    } else {
        results(visit, &parameters, &files, &asked, cancel)?
    };
    if visit.parameters.has("part", "results") {
        return Ok(answer_html(StatusCode::OK, results));
    }
    let body = html! {
        @if visit.site.kind == Kind::Live {
            h1.hidden { "Search" }
            div.columns {
                (filters(&visit.site, &parameters, &files)?)
                section id="results" { (results) }
            }
        } @else {
            h1 { "Documents" }
            (results)
        }
    };
    let layout = Layout {
        title: parameters.first("q").unwrap_or_default(),
        is_for_strangers: false,
        file: None,
        search: Some(&parameters),
        body,
    };
    Ok(layout_page(&visit.site, StatusCode::OK, &layout))
}

fn results(
    visit: &Visit,
    parameters: &Parameters,
    files: &[OpenFile],
    asked: &Request,
    cancel: &AtomicBool,
) -> Result<Markup, Problem> {
    let kbs: Vec<&Kb> = files.iter().map(OpenFile::kb).collect();
    let start = parameters
        .first("from")
        .and_then(|from| from.parse::<usize>().ok());
    let start = start.unwrap_or(0).min(kb_engine::K_LIMIT - HITS - 1);
    // Hits are in the same order whatever `k` is, so that a page is a window of them.
    let request = asked
        .clone()
        .k(start + HITS + 1)
        .show(Show::lines(LINES))
        .page(PageOptions::default());
    let response = search_files_with(&kbs, &request, &mut |_| unless(cancel))?;
    let shown = response.hits.iter().skip(start).take(HITS);
    let links = &visit.site.links;
    let name = |number: usize| files.get(number).map(OpenFile::name).unwrap_or_default();
    Ok(html! {
        (set(&visit.site, parameters))
        (summary(&visit.site, parameters, &response))
        ol.hits start=(start + 1) {
            @for found in shown {
                (hit(links, name(found.file), files.len() > 1, found, asked.explain))
            }
        }
        (pages(&visit.site, parameters, start, response.hits.len() > start + HITS))
    })
}

/// The filters that are set, each as a link to the search without it.
fn set(site: &Shared, parameters: &Parameters) -> Markup {
    let plain = ["q", "from", "mode", "sort", "explain", "exact"];
    let filters = parameters.pairs().filter(|(name, _)| !plain.contains(name));
    let filters: Vec<(&str, &str)> = filters.collect();
    html! {
        @if !filters.is_empty() {
            ul.set aria-label="Filters that are set" {
                @for (name, value) in filters {
                    li {
                        a href=(site.links.search(&parameters.clone().without_pair(name, value).without("from"))) {
                            (name) ": " (value) " " span aria-hidden="true" { "×" } span.hidden { "remove" }
                        }
                    }
                }
            }
        }
    }
}

/// What was searched and found, in a sentence or two.
fn summary(site: &Shared, parameters: &Parameters, response: &Response) -> Markup {
    html! {
        div.summary role="status" {
            @if response.hits.is_empty() {
                p { "Nothing found in " (counted(response.searched_chunks, "chunk")) "." }
            } @else if response.relevance == Relevance::NothingRelevant {
                p { b { "Nothing relevant." } " These are the nearest of " (counted(response.searched_chunks, "chunk")) "." }
            }
            @for correction in &response.corrections {
                p {
                    "Showing results for " b { (correction.to) } ". "
                    a href=(site.links.search(&parameters.clone().with("exact", "1"))) {
                        "Search instead for " (correction.from)
                    }
                }
            }
            @if !response.missing.is_empty() {
                p { "No document has " b { (response.missing.join(", ")) } "." }
            }
            @for warning in &response.warnings {
                p.quiet { (warning) }
            }
        }
    }
}

fn pages(site: &Shared, parameters: &Parameters, start: usize, has_more: bool) -> Markup {
    let at = |start: usize| {
        let parameters = parameters.clone().without("from");
        site.links.search(&match start {
            0 => parameters,
            start => parameters.with("from", &start.to_string()),
        })
    };
    html! {
        @if start > 0 || has_more {
            nav.pages aria-label="Pages of results" {
                @if start > 0 { a rel="prev" href=(at(start.saturating_sub(HITS))) { "Previous" } }
                @if has_more { a rel="next" href=(at(start + HITS)) { "Next" } }
            }
        }
    }
}

/// The filters, as a form that works without a script.
fn filters(site: &Shared, parameters: &Parameters, files: &[OpenFile]) -> Result<Markup, Problem> {
    let mut types: Vec<(String, u64)> = Vec::new();
    let mut classes: Vec<(String, u64)> = Vec::new();
    for file in files {
        let choices = site.choices(file)?;
        add(&mut types, &choices.types);
        add(&mut classes, &choices.classes);
    }
    let all = site.files.list();
    let mode = parameters.first("mode").unwrap_or("hybrid");
    let sort = parameters.first("sort").unwrap_or("score");
    let set = parameters
        .pairs()
        .filter(|(name, _)| !["q", "from", "explain", "exact"].contains(name))
        .count();
    // What the form has no field for stays as it is, and so does a second value of a field that has one.
    let kept = parameters.pairs().filter(|(name, value)| match *name {
        "q" | "file" | "mode" | "sort" | "class" | "type" | "since" | "explain" | "from" => false,
        "folder" | "path" => parameters.first(name) != Some(value),
        _ => true,
    });
    Ok(html! {
        details.filters id="filters" {
            summary { "Filters" @if set > 0 { " (" (set) " set)" } }
            form action=(site.links.page("")) {
                input type="hidden" name="q" value=(parameters.first("q").unwrap_or_default());
                @for (name, value) in kept { input type="hidden" name=(name) value=(value); }
                @if all.len() > 1 {
                    fieldset {
                        legend { "Files" }
                        @for file in &all {
                            (choice("checkbox", "file", file.name(), file.name(), None, parameters.has("file", file.name())))
                        }
                    }
                }
                fieldset {
                    legend { "Search by" }
                    @for (value, label) in [("hybrid", "words and meaning"), ("keyword", "words"), ("semantic", "meaning"), ("title", "titles")] {
                        (choice("radio", "mode", value, label, None, mode == value))
                    }
                }
                fieldset {
                    legend { "Order" }
                    @for (value, label) in [("score", "best first"), ("recency", "newest first"), ("path", "by path")] {
                        (choice("radio", "sort", value, label, None, sort == value))
                    }
                }
                fieldset {
                    legend { "Kind" }
                    @for (class, documents) in &classes {
                        (choice("checkbox", "class", class, class, Some(*documents), parameters.has("class", class)))
                    }
                }
                fieldset {
                    legend { "Type" }
                    div.long {
                        @for (name, documents) in types.iter().take(CHOICES) {
                            (choice("checkbox", "type", name, name, Some(*documents), parameters.has("type", name)))
                        }
                    }
                }
                label.field { "Folder" input name="folder" value=(parameters.first("folder").unwrap_or_default()); }
                label.field { "Path, such as " code { "src/**/*.rs" } " or " code { "!tests/**" }
                    input name="path" value=(parameters.first("path").unwrap_or_default()); }
                label.field { "Changed since" input type="date" name="since" value=(parameters.first("since").unwrap_or_default()); }
                (choice("checkbox", "explain", "1", "say why", None, parameters.has("explain", "1")))
                button type="submit" { "Apply" }
            }
        }
    })
}

fn add(all: &mut Vec<(String, u64)>, some: &[(String, u64)]) {
    for (name, documents) in some {
        match all.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => *sum += documents,
            None => all.push((name.clone(), *documents)),
        }
    }
    all.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
}

fn choice(
    kind: &str,
    name: &str,
    value: &str,
    label: &str,
    documents: Option<u64>,
    on: bool,
) -> Markup {
    html! {
        label.choice {
            input type=(kind) name=(name) value=(value) checked[on];
            span { (label) }
            @if let Some(documents) = documents { span.count { (count(documents)) } }
        }
    }
}

/// What the page shows before anything is asked: what there is to search.
fn welcome(site: &Shared) -> Markup {
    html! {
        div.welcome {
            @for file in site.files.list() {
                @if let Ok(state) = file.kb().state() {
                    p {
                        a href=(site.links.folder(file.name(), "")) { b { (file.name()) } }
                        " " span.quiet { (counted(state.documents, "document")) ", " (counted(state.chunks, "chunk")) }
                    }
                }
            }
            @if site.kind == Kind::Live { (hints(site)) }
        }
    }
}

/// What there is to know about searching.
fn hints(site: &Shared) -> Markup {
    html! {
            p.quiet { "Ask a question or give words. " code { "\"a phrase\"" } ", " code { "+must" } ", " code { "-not" } ", " code { "title:word" } " and " code { "path:word" } " narrow a search." }
            p.quiet.keys { kbd { "/" } " search, " kbd { "t" } " find a document, " kbd { "↑" } " " kbd { "↓" } " choose, " kbd { "Enter" } " open, " kbd { "y" } " copy its place" }
            p.quiet { "Programs search and read by the " a href=(site.links.page("api")) { "API" } "." }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_several_files_are_added() {
        let mut all = vec![("rust".to_owned(), 2)];
        add(&mut all, &[("go".to_owned(), 5), ("rust".to_owned(), 1)]);
        assert_eq!(all, [("go".to_owned(), 5), ("rust".to_owned(), 3)]);
    }
}
