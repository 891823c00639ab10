//! What a file holds: counts, sizes, types, models.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use kb_engine::{Info, Kb, Sizes};
use maud::{Markup, html};

use super::layout::{Layout, page as layout_page};
use crate::answer::{Answer, Problem};
use crate::site::Visit;
use crate::text::numbers::{count, day};

/// Rows of each table.
const ROWS: usize = 20;

/// Most documents whose times and lengths are counted: each record is read, which takes a tenth of a second then.
const COUNTED_DOCUMENTS: u64 = 100_000;

/// Documents that are read at once.
const BATCH: usize = 1_000;

/// Most months that are shown apart; a longer time is shown by years.
const MONTHS: usize = 24;

/// Most columns of a picture.
const COLUMNS: usize = 40;

/// The longest text of each column of lengths but the last, in bytes, and its name.
const LENGTHS: [(u64, &str); 6] = [
    (1 << 10, "to 1 KB"),
    (4 << 10, "to 4 KB"),
    (16 << 10, "to 16 KB"),
    (64 << 10, "to 64 KB"),
    (256 << 10, "to 256 KB"),
    (1 << 20, "to 1 MB"),
];

type Counts = Vec<(String, u64)>;

/// Documents by the month or year of their last change, and by the length of their text.
fn spread(kb: &Kb) -> Result<(Counts, Counts), Problem> {
    let mut months: BTreeMap<String, u64> = BTreeMap::new();
    let mut lengths: Counts = LENGTHS.map(|(_, name)| (name.to_owned(), 0)).into();
    lengths.push(("more".to_owned(), 0));
    let mut after: Option<String> = None;
    loop {
        let batch = kb.documents_after(after.as_deref(), BATCH)?;
        let Some(last) = batch.last() else { break };
        after = Some(last.path.clone());
        for document in &batch {
            let month = day(document.modified_ms);
            if let Some(month) = month.get(..month.len().saturating_sub(3))
                && !month.is_empty()
            {
                *months.entry(month.to_owned()).or_default() += 1;
            }
            let at = LENGTHS.partition_point(|(most, _)| *most < document.text_bytes);
            if let Some((_, count)) = lengths.get_mut(at) {
                *count += 1;
            }
        }
    }
    let mut times: Counts = months.into_iter().collect();
    if times.len() > MONTHS {
        let mut years: BTreeMap<String, u64> = BTreeMap::new();
        for (month, count) in times {
            let year = month.rsplit_once('-').map_or(&*month, |(year, _)| year);
            *years.entry(year.to_owned()).or_default() += count;
        }
        times = years.into_iter().collect();
    }
    times.drain(..times.len().saturating_sub(COLUMNS));
    Ok((times, lengths))
}

/// A picture with a column for each count.
fn columns(counts: &[(String, u64)]) -> Markup {
    let largest = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let largest = largest.max(1) as f64;
    let said = counts
        .iter()
        .map(|(name, value)| format!("{name}: {}", count(*value)));
    let said: Vec<String> = said.collect();
    // All have the width of ten, so that a picture of two columns is no wall.
    let slots = counts.len().max(10);
    let (width, height) = (720.0, 120.0);
    let step = width / slots as f64;
    // A name takes about seven units a character.
    let longest = counts.iter().map(|(name, _)| name.len()).max().unwrap_or(1);
    let every = ((longest as f64 * 8.0 + 10.0) / step).ceil().max(1.0) as usize;
    html! {
        svg.columns-picture viewBox="0 0 720 142" role="img" aria-label=(said.join(", ")) {
            @for (place, (name, value)) in counts.iter().enumerate() {
                @let tall = (*value as f64 / largest * (height - 16.0)).max(if *value > 0 { 1.0 } else { 0.0 });
                @let left = place as f64 * step;
                g {
                    title { (name) ": " (count(*value)) }
                    rect x=(format!("{:.1}", left + 1.0)) y=(format!("{:.1}", height - tall)) width=(format!("{:.1}", step - 2.0)) height=(format!("{tall:.1}")) {}
                    @if place % every == 0 {
                        text x=(format!("{:.1}", left + step / 2.0)) y="137" text-anchor="middle" { (name) }
                    }
                    @if counts.len() <= 12 && *value > 0 {
                        text x=(format!("{:.1}", left + step / 2.0)) y=(format!("{:.1}", height - tall - 4.0)) text-anchor="middle" { (count(*value)) }
                    }
                }
            }
        }
    }
}

/// The facts about a file.
pub(crate) fn page(visit: &Visit, file: &str) -> Result<Answer, Problem> {
    let open = visit.site.file(file)?;
    let info = open.kb().info()?;
    let sizes = open.kb().sizes()?;
    let skipped = open.kb().skipped_reasons()?;
    let is_counted = info.documents <= COUNTED_DOCUMENTS;
    let (times, lengths) = if is_counted {
        spread(open.kb())?
    } else {
        Default::default()
    };
    let body = html! {
        article.narrow {
            h1 { (file) }
            (facts(&info))
            h2 { "Size by section" }
            (bars(&sections(&sizes), true))
            h2 { "Documents by type" }
            (bars(&info.types, false))
            @if !times.is_empty() {
                h2 { "Documents by time of their last change" }
                (columns(&times))
            }
            @if !lengths.is_empty() {
                h2 { "Documents by length of their text" }
                (columns(&lengths))
            }
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
            @if let Some(recall) = &info.unquantised_recall {
                dt { "Recall of search by meaning" } dd { (format!("{:.3}", recall.recall)) " of the nearest " (recall.k) ", over " (count(u64::from(recall.queries))) " questions" }
            }
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
    let sections = sizes.sections.iter().filter(|(_, bytes)| *bytes > 0);
    let mut sections: Vec<(String, u64)> = sections
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
