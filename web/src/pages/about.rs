//! What a file holds: counts, sizes, types, models.

use axum::http::StatusCode;
use kb_engine::{Info, Sizes};
use maud::{Markup, html};

use super::layout::{Layout, page as layout_page};
use crate::answer::{Answer, Problem};
use crate::site::Visit;
use crate::text::numbers::{count, day};

/// Rows of each table.
const ROWS: usize = 20;

/// The facts about a file.
pub(crate) fn page(visit: &Visit, file: &str) -> Result<Answer, Problem> {
    let open = visit.site.file(file)?;
    let info = open.kb().info()?;
    let sizes = open.kb().sizes()?;
    let skipped = open.kb().skipped_reasons()?;
    let body = html! {
        article.narrow {
            h1 { (file) }
            (facts(&info))
            h2 { "Size by section" }
            (bars(&sections(&sizes), true))
            h2 { "Documents by type" }
            (bars(&info.types, false))
            @if !info.languages.is_empty() {
                h2 { "Documents by language" }
                (bars(&info.languages, false))
            }
            @if !skipped.is_empty() {
                h2 { "Files that were left out" }
                (bars(&skipped, false))
            }
        }
    };
    let layout = Layout {
        title: file,
        is_for_strangers: false,
        file: Some(file),
        search: None,
        body,
    };
    Ok(layout_page(&visit.site, StatusCode::OK, &layout))
}

fn facts(info: &Info) -> Markup {
    html! {
        dl.facts {
            dt { "Documents" } dd { (count(info.documents)) }
            dt { "Chunks" } dd { (count(info.chunks)) }
            dt { "Text" } dd { (kb_json::bytes(info.text_bytes)) }
            dt { "File" } dd { (kb_json::bytes(info.file_bytes)) ", format " (info.format) }
            dt { "Changed" } dd { (day(info.updated_ms)) }
            dt { "Model" } dd { (info.model) ", " (info.dim) " dimensions" @if !info.model_available { " (this program does not have it)" } }
            @if let Some(recall) = &info.recall { dt { "Recall of vectors" } dd { (format!("{:.3}", recall.recall)) " of the nearest " (recall.k) } }
            @for root in &info.roots {
                dt { "Indexed folder" } dd { code { (root.source) }
                    @if let Some(commit) = &root.git_commit { ", commit " code { (commit.chars().take(12).collect::<String>()) } } }
            }
            @if let Some(root) = &info.content_root { dt { "Content root" } dd { code { (root) } } }
        }
    }
}

fn sections(sizes: &Sizes) -> Vec<(String, u64)> {
    let mut sections: Vec<(String, u64)> = sizes
        .sections
        .iter()
        .map(|(name, bytes)| ((*name).to_string(), *bytes))
        .collect();
    sections.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    sections
}

/// A table with a bar in each row, as long as its share of the largest.
fn bars(rows: &[(String, u64)], are_bytes: bool) -> Markup {
    let largest = rows
        .iter()
        .map(|(_, value)| *value)
        .max()
        .unwrap_or(0)
        .max(1);
    html! {
        table.bars {
            tbody {
                @for (name, value) in rows.iter().take(ROWS) {
                    tr {
                        th scope="row" { (name) }
                        td.bar { (bar(*value, largest)) }
                        td.number { @if are_bytes { (kb_json::bytes(*value)) } @else { (count(*value)) } }
                    }
                }
            }
        }
    }
}

fn bar(value: u64, largest: u64) -> Markup {
    let width = (value as f64 / largest as f64 * 100.0).max(0.5);
    html! {
        svg width="100%" height="10" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" {
            rect width=(format!("{width:.1}")) height="10" {}
        }
    }
}
