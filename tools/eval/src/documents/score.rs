//! Scores one document against what other programs read in the same file.

use kb_engine::{Document, PageSource, PartContent};
use serde_json::Value;

use super::cells;
use super::metric::{FileScore, Metric, part_text};
use super::words::{Overlap, letters_and_digits, ratio, sequence_ratio, words};

/// Letters from which on a title may have been cut: the engine keeps 300 characters, spaces among them.
const CUT_TITLE_LETTERS: usize = 200;

/// Scores a document of `format` against its oracle.
pub(super) fn score(document: &Document, oracle: &Value, format: &str) -> FileScore {
    let mut score = FileScore::default();
    match format {
        "xlsx" | "xls" | "ods" | "csv" => cells::score(document, oracle, format, &mut score),
        "pptx" | "ppt" | "odp" => slides(document, oracle, &mut score),
        "code" => {}
        _ => {
            text(document, oracle, format, &mut score);
            headings(document, oracle, format, &mut score);
            pages(document, oracle, &mut score);
        }
    }
    score
}

/// The text of an oracle that took UTF-16 for text of one byte a letter is what it is without the NULs.
fn decoded(text: &str) -> String {
    let nuls = text.matches('\0').count();
    if nuls * 3 > text.len() {
        text.replace('\0', "")
    } else {
        text.to_owned()
    }
}

fn text(document: &Document, oracle: &Value, format: &str, score: &mut FileScore) {
    let mut texts: Vec<(String, String)> = Vec::new();
    if let Some(pages) = oracle["pages"].as_array() {
        let pages: Vec<&str> = pages.iter().filter_map(Value::as_str).collect();
        texts.push(("poppler".to_owned(), pages.join("\n")));
    }
    for (name, text) in oracle["texts"].as_object().into_iter().flatten() {
        texts.push((name.clone(), decoded(text.as_str().unwrap_or_default())));
    }
    // LibreOffice is the oracle that all formats of word processors have.
    texts.sort_by_key(|(name, _)| name != "libreoffice");
    let Some((first, _)) = texts.first() else {
        return;
    };
    let first = first.clone();
    let ours = words(&document.text);
    let mut best: Option<(f64, String, Overlap, f64)> = None;
    for (name, text) in &texts {
        let theirs = words(text);
        let overlap = Overlap::of(&ours, &theirs);
        if *name == first {
            score.add(Metric::Text, overlap.f1());
        }
        if best.as_ref().is_none_or(|(f1, ..)| overlap.f1() > *f1) {
            let sequence = sequence_ratio(&ours, &theirs);
            best = Some((overlap.f1(), name.clone(), overlap, sequence));
        }
    }
    let Some((f1, name, overlap, sequence)) = best else {
        return;
    };
    match format {
        // Markdown is stored as it is: addresses of links are words of it.
        "md" => score.add(Metric::Recall, overlap.recall()),
        "pdf" => score.add(Metric::Sequence, sequence),
        _ if texts.len() > 1 || name == "libreoffice" => {
            score.add(Metric::BestText, f1);
            let pages = oracle["lo_pages"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default();
            let pages: Vec<&str> = pages.iter().filter_map(Value::as_str).collect();
            let laid_out = Overlap::of(&ours, &words(&pages.join("\n"))).f1();
            score.add(Metric::LaidOutText, f1.max(laid_out));
        }
        _ => {}
    }
    for (what, list) in [("lacks", &overlap.missing), ("has more", &overlap.extra)] {
        let is_of_interest = format != "md" || what == "lacks";
        if !list.is_empty() && is_of_interest {
            let shown: Vec<String> = list
                .iter()
                .take(12)
                .map(|(word, count)| format!("{word} x{count}"))
                .collect();
            score.miss(format!(
                "text {what} ({name}, {} words of {}): {}",
                list.iter().map(|(_, count)| count).sum::<usize>(),
                overlap.oracle,
                shown.join(", ")
            ));
        }
    }
}

/// Level and title as they are compared.
fn tidy_outline(list: &Value) -> Vec<(i64, String, Option<i64>)> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let entries = list.iter().map(|entry| {
        (
            entry[0].as_i64().unwrap_or(0),
            letters_and_digits(entry[1].as_str().unwrap_or_default()),
            entry[2].as_i64(),
        )
    });
    entries.filter(|(_, title, _)| !title.is_empty()).collect()
}

fn headings(document: &Document, oracle: &Value, format: &str, score: &mut FileScore) {
    let ours: Vec<(i64, String)> = document
        .outline
        .iter()
        .map(|heading| (i64::from(heading.level), letters_and_digits(&heading.title)))
        .filter(|(_, title)| !title.is_empty())
        .collect();
    let expected = tidy_outline(&oracle["outline"]);
    if !expected.is_empty() {
        // The stored outline has six levels.
        let levels = expected
            .iter()
            .map(|(level, title, _)| (level.min(&6), title));
        let is_same = levels.eq(ours.iter().map(|(level, title)| (level, title)));
        score.add(Metric::Outline, f64::from(u8::from(is_same)));
        if !is_same {
            score.miss(format!("outline {ours:?}, not {expected:?}"));
        }
        outline_pages(document, &expected, score);
    }
    let expected = tidy_outline(&oracle["headings"]);
    if expected.is_empty() {
        return;
    }
    let mut left: Vec<&str> = ours.iter().map(|(_, title)| title.as_str()).collect();
    let mut read = 0;
    for (_, title, _) in &expected {
        if let Some(at) = left.iter().position(|ours| is_same_title(ours, title)) {
            left.remove(at);
            read += 1;
        } else {
            score.miss(format!("no heading {title:?}"));
        }
    }
    if matches!(format, "html" | "md") {
        let titles = expected.iter().map(|(level, title, _)| (level, title));
        let is_same = titles.eq(ours.iter().map(|(level, title)| (level, title)));
        score.add(Metric::Headings, f64::from(u8::from(is_same)));
        if !is_same {
            score.miss(format!("headings {ours:?}, not {expected:?}"));
        }
    } else {
        score.add(Metric::HeadingRecall, ratio(read, expected.len()));
    }
}

/// Whether a stored title is that of the oracle: long ones are cut.
fn is_same_title(ours: &str, expected: &str) -> bool {
    let is_cut = ours.chars().count() > CUT_TITLE_LETTERS;
    ours == expected || is_cut && expected.starts_with(ours)
}

/// Whether each bookmark leads to the page that the oracle says.
fn outline_pages(
    document: &Document,
    expected: &[(i64, String, Option<i64>)],
    score: &mut FileScore,
) {
    let page_of = |start: u32| {
        let before = document.parts.partition_point(|part| part.start <= start);
        i64::try_from(before).unwrap_or(0)
    };
    let (mut right, mut all) = (0, 0);
    for (heading, (_, title, page)) in document.outline.iter().zip(expected) {
        let Some(page) = page else { continue };
        all += 1;
        let ours = page_of(heading.start);
        // An empty page begins where the next one does.
        let is_right = ours == *page
            || usize::try_from(*page - 1)
                .ok()
                .and_then(|at| document.parts.get(at))
                .is_some_and(|part| part.start == heading.start);
        right += usize::from(is_right);
        if !is_right {
            score.miss(format!(
                "bookmark {title:?} leads to page {ours}, not {page}"
            ));
        }
    }
    if all > 0 {
        score.add(Metric::OutlinePages, ratio(right, all));
    }
}

fn pages(document: &Document, oracle: &Value, score: &mut FileScore) {
    let is_page = |content: &PartContent| matches!(content, PartContent::Page(_));
    let ours = document
        .parts
        .iter()
        .filter(|part| is_page(&part.content))
        .count();
    let source = document.parts.iter().find_map(|part| match &part.content {
        PartContent::Page(page) => Some(page.source),
        _ => None,
    });
    let mut compare = |metrics: &[Metric], expected: usize| {
        for metric in metrics {
            score.add(*metric, f64::from(u8::from(ours == expected)));
        }
        if ours != expected {
            let source = source.map_or("no", PageSource::name);
            score.miss(format!("{ours} pages ({source}), not {expected}"));
        }
    };
    if let Some(pages) = oracle["pages"].as_array() {
        compare(&[Metric::Pages], pages.len());
    }
    if let Some(pages) = oracle["lo_pages"].as_array() {
        match source {
            Some(PageSource::Rendered | PageSource::Explicit) => {
                compare(&[Metric::OfficePages, Metric::BrokenPages], pages.len());
            }
            _ => compare(&[Metric::OfficePages], pages.len()),
        }
    }
}

fn slides(document: &Document, oracle: &Value, score: &mut FileScore) {
    let Some(expected) = oracle["slides"].as_array() else {
        return;
    };
    let slides: Vec<_> = document
        .parts
        .iter()
        .enumerate()
        .filter_map(|(position, part)| match &part.content {
            PartContent::Slide(slide) => Some((position, part, slide)),
            _ => None,
        })
        .collect();
    score.add(
        Metric::Slides,
        f64::from(u8::from(slides.len() == expected.len())),
    );
    if slides.len() != expected.len() {
        score.miss(format!("{} slides, not {}", slides.len(), expected.len()));
    }
    let mut all = String::new();
    let (mut titles, mut right_titles, mut notes, mut right_notes) = (0, 0, 0, 0);
    for (at, theirs) in expected.iter().enumerate() {
        let field = |name: &str| theirs[name].as_str().unwrap_or_default();
        for name in ["title", "text", "notes"] {
            all.push_str(field(name));
            all.push('\n');
        }
        let ours = slides.get(at);
        let title = letters_and_digits(field("title"));
        if !title.is_empty() {
            titles += 1;
            let our_title = ours.map_or("", |(_, _, slide)| &slide.title);
            let is_right = letters_and_digits(our_title) == title;
            right_titles += usize::from(is_right);
            if !is_right {
                score.miss(format!(
                    "slide {}: title {our_title:?}, not {title:?}",
                    at + 1
                ));
            }
        }
        let expected_notes = letters_and_digits(field("notes"));
        if !expected_notes.is_empty() {
            notes += 1;
            let our_notes = ours.map_or("", |(position, part, slide)| {
                let text = part_text(document, *position);
                let start = slide.notes.map(|notes| (notes - part.start) as usize);
                start
                    .and_then(|start| text.get(start..))
                    .unwrap_or_default()
            });
            let is_right = letters_and_digits(our_notes) == expected_notes;
            right_notes += usize::from(is_right);
            if !is_right {
                score.miss(format!(
                    "slide {}: notes {our_notes:?}, not {:?}",
                    at + 1,
                    field("notes")
                ));
            }
        }
    }
    if titles > 0 {
        score.add(Metric::Titles, ratio(right_titles, titles));
    }
    if notes > 0 {
        score.add(Metric::Notes, ratio(right_notes, notes));
    }
    let overlap = Overlap::of(&words(&document.text), &words(&all));
    score.add(Metric::Text, overlap.f1());
    for (what, list) in [("lacks", &overlap.missing), ("has more", &overlap.extra)] {
        if !list.is_empty() {
            let shown: Vec<&str> = list
                .iter()
                .take(12)
                .map(|(word, _)| word.as_str())
                .collect();
            score.miss(format!("text {what}: {}", shown.join(", ")));
        }
    }
}
