//! The page for what went wrong.

use maud::html;

use super::layout::{Layout, page as layout_page};
use crate::answer::{Answer, Problem};
use crate::site::Shared;

/// The page of a problem, with its status.
pub(crate) fn page(site: &Shared, problem: &Problem) -> Answer {
    made(site, problem, false)
}

/// The same for somebody who may not know what files there are.
pub(crate) fn page_for_strangers(site: &Shared, problem: &Problem) -> Answer {
    made(site, problem, true)
}

fn made(site: &Shared, problem: &Problem, is_for_strangers: bool) -> Answer {
    let title = problem.status.canonical_reason().unwrap_or("Error");
    let body = html! {
        section.narrow {
            h1 { (title) }
            p { (sentence(&problem.message)) }
            @if let Some(hint) = &problem.hint {
                p { (sentence(hint)) }
            }
            p.quiet { code { (problem.code) } }
        }
    };
    let layout = Layout {
        title,
        is_for_strangers,
        file: None,
        search: None,
        body,
    };
    layout_page(site, problem.status, &layout)
}

/// As a sentence: with a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let Some(first) = characters.next() else {
        return String::new();
    };
    let end = if text.ends_with(['.', '?', '!']) {
        ""
    } else {
        "."
    };
    first.to_uppercase().chain(characters).collect::<String>() + end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_becomes_a_sentence() {
        assert_eq!(sentence("no file"), "No file.");
        assert_eq!(sentence("Is it?"), "Is it?");
        assert_eq!(sentence(""), "");
    }
}
