//! One hit of a search.

use kb_engine::{Class, Hit, Lines};
use maud::{Markup, html};

use crate::links::Links;
use crate::text::marks::marked;
use crate::text::numbers::{counted, day};

/// A hit of the file of that name, which is shown where several were searched.
pub(super) fn hit(
    links: &Links,
    file: &str,
    names_file: bool,
    hit: &Hit,
    explains: bool,
) -> Markup {
    let address = links.hit(file, hit);
    let place = place(hit);
    html! {
        li.hit data-address=(address) data-place=(place) {
            h2 {
                a href=(address) { (hit.document) }
                @if hit.lines.first > 0 { span.at { ":" (range(hit.lines)) } }
            }
            p.about {
                @if names_file { span { (file) } }
                @if let Some(symbol) = &hit.symbol {
                    span.symbol { (symbol.kind.name()) " " b { (symbol.name) } }
                } @else if !hit.section.is_empty() {
                    span { (hit.section.join(" › ")) }
                } @else if !hit.title.is_empty() && !hit.document.ends_with(&hit.title) {
                    span { (hit.title) }
                }
                @if let Some(part) = &hit.part { span { (part.name()) } }
                @if hit.modified_ms > 0 { span { (day(hit.modified_ms)) } }
                @if hit.source_state.stale().is_some() { span.stale { "changed since" } }
                span.score title="Probability that this answers" { (percent(hit.score)) }
            }
            (passage(hit))
            @if hit.more_in_document > 0 {
                p.quiet { (counted(u64::from(hit.more_in_document), "more passage")) " in this document" }
            }
            @if explains { (why(hit)) }
        }
    }
}

/// `path:12-20`, to be copied.
fn place(hit: &Hit) -> String {
    if hit.lines.first == 0 {
        return hit.document.clone();
    }
    format!("{}:{}", hit.document, range(hit.lines))
}

fn range(lines: Lines) -> String {
    if lines.first == lines.last {
        return lines.first.to_string();
    }
    format!("{}-{}", lines.first, lines.last)
}

fn percent(score: f32) -> String {
    format!("{:.0}\u{a0}%", f64::from(score) * 100.0)
}

/// What is shown of the passage: programs and data with their lines, prose as it flows.
fn passage(hit: &Hit) -> Markup {
    let whole = 0..hit.text.len();
    html! {
        @if hit.class == Class::Doc {
            p.passage { (hit.cut_before()) (marked(&flowing(&hit.text), whole, &hit.highlights)) (hit.cut_after()) }
        } @else {
            pre.passage tabindex="0" { code { (hit.cut_before()) (marked(&hit.text, whole, &hit.highlights)) (hit.cut_after()) } }
        }
    }
}

/// Prose without the line ends within its sentences: lines are of the width of an editor, not of this page. It has as
/// many bytes as before, so that marks stay where they are. A line that begins with a sign stays one: it is an item, a
/// row, a heading.
fn flowing(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut before = '\n';
    while let Some(character) = rest.next() {
        let goes_on = rest.peek().is_some_and(|next| next.is_alphanumeric());
        if character == '\n' && before != '\n' && goes_on {
            out.push(' ');
        } else {
            out.push(character);
        }
        before = character;
    }
    out
}

/// How the hit came to its place: a bar for each part.
fn why(hit: &Hit) -> Markup {
    let mut parts: Vec<(&str, f32)> = Vec::new();
    parts.extend(hit.keyword_score.map(|score| ("keywords", score)));
    parts.extend(hit.vector_score.map(|score| ("meaning", score)));
    parts.extend(hit.bonuses.iter().map(|bonus| (bonus.name, bonus.score)));
    html! {
        details.why {
            summary { "Why this hit" }
            dl {
                @for (name, value) in parts {
                    dt { (name) }
                    dd {
                        meter min="0" max="1" value=(format!("{:.3}", value.abs().min(1.0))) {}
                        " " (format!("{value:+.3}"))
                    }
                }
                @for term in &hit.terms {
                    dt { code { (term.term) } }
                    dd {
                        meter min="0" max="1" value=(format!("{:.3}", term.score.clamp(0.0, 1.0))) {}
                        " " (format!("{:+.3}", term.score)) ", " (counted(u64::from(term.frequency), "time"))
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_flows_but_for_items_and_paragraphs() {
        let text = "One\ntwo.\n\nThree\n- four\n| five\n";
        assert_eq!(flowing(text), "One two.\n\nThree\n- four\n| five\n");
        assert_eq!(flowing("a\n\u{e9}").len(), "a\n\u{e9}".len());
    }
}
