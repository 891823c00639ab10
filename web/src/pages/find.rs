//! Finding a document by a part of its name.

use axum::http::StatusCode;
use kb_engine::{Mode, Request};
use maud::html;

use super::layout::{Layout, page as layout_page};
use crate::answer::{Answer, Problem, html as answer_html};
use crate::site::Visit;
use crate::text::numbers::counted;

/// Most names that are listed.
const NAMES: usize = 50;

/// The documents whose paths have what was typed, then those whose titles have its words. With `part=list` only the
/// list, for the script.
pub(crate) fn page(visit: &Visit, _: &std::sync::atomic::AtomicBool) -> Result<Answer, Problem> {
    let typed = visit.parameters.first("q").unwrap_or_default();
    let mut found: Vec<(String, String)> = Vec::new();
    for file in visit.site.files.list() {
        if typed.is_empty() {
            continue;
        }
        let (paths, _) = file.kb().matching(&glob(typed), NAMES)?;
        let titles = file
            .kb()
            .search(&Request::new(typed).mode(Mode::Title).k(NAMES));
        let titles = titles
            .map(|response| response.hits.items)
            .unwrap_or_default();
        let titles = titles.into_iter().map(|hit| hit.document);
        for path in paths.into_iter().chain(titles) {
            let entry = (file.name().to_owned(), path);
            if !found.contains(&entry) {
                found.push(entry);
            }
        }
    }
    found.truncate(NAMES);
    let several = visit.site.files.list().len() > 1;
    let list = html! {
        ol.names {
            @for (file, path) in &found {
                li { a href=(visit.site.links.document(file, path)) {
                    @if several { span.quiet { (file) " / " } }
                    (path)
                } }
            }
        }
    };
    if visit.parameters.has("part", "list") {
        return Ok(answer_html(StatusCode::OK, list));
    }
    let body = html! {
        section.narrow {
            h1 { "Find a document" }
            form.stacked action=(visit.site.links.page("find")) {
                label for="name" { "A part of its path or title" }
                input id="name" name="q" type="search" value=(typed) autocomplete="off";
                button type="submit" { "Find" }
            }
            @if !typed.is_empty() {
                p role="status" { (counted(found.len() as u64, "document")) }
            }
            (list)
        }
    };
    let layout = Layout {
        title: "Find a document",
        is_for_strangers: false,
        file: None,
        search: None,
        body,
    };
    Ok(layout_page(&visit.site, StatusCode::OK, &layout))
}

/// The glob of the paths that have the typed characters in that order: what fuzzy finders do.
fn glob(typed: &str) -> String {
    let mut glob = String::from("**/*");
    let file_name = typed.rsplit('/').next().unwrap_or(typed);
    for character in file_name.chars().take(60) {
        match character {
            '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!' => glob.push('?'),
            character => {
                let upper: Vec<char> = character.to_uppercase().collect();
                let lower: Vec<char> = character.to_lowercase().collect();
                match (upper.as_slice(), lower.as_slice()) {
                    ([upper], [lower]) if upper != lower => {
                        glob.extend(['[', *upper, *lower, ']']);
                    }
                    _ => glob.push(character),
                }
            }
        }
        glob.push('*');
    }
    glob
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_in_order_match_in_any_case() {
        assert_eq!(glob("aB"), "**/*[Aa]*[Bb]*");
        assert_eq!(glob("src/x*"), "**/*[Xx]*?*");
    }
}
