//! `kb outline`: prints the structure of a document without its text.

use kb_engine::{
    DocumentInfo, DocumentParts, DocumentSections, PageSource, PartContent, PartInfo, PartKind,
    Section,
};

use crate::args::OutlineArguments;
use crate::cmd::opened::{Opened, Rest, note_rest};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::format::{bytes, count, no_parts, plural, shell_word};
use crate::output::passage::width;

pub(crate) fn run(arguments: &OutlineArguments, output: &mut Output) -> Result<Exit, Failure> {
    let opened = Opened::new("kb outline", arguments.file.file.as_deref())?;
    let document = opened.ask(opened.kb.document(&arguments.document))?;
    opened.warn_stale(&document.path, output);
    let has_listed_parts = matches!(document.part_kind, Some(PartKind::Sheet | PartKind::Slide));
    if has_listed_parts && arguments.section.is_none() {
        return parts(&opened, arguments, output);
    }
    sections(&opened, arguments, output)
}

/// Prints headings, or the bookmarks of a document with physical pages.
fn sections(
    opened: &Opened,
    arguments: &OutlineArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let page = arguments.page.page();
    let (kb, document) = (&opened.kb, arguments.document.as_str());
    let outline = opened.ask(match &arguments.section {
        None => kb.sections(document, &page),
        Some(section) => kb.subsections(document, section, &page),
    })?;
    let rest = Rest::from(&outline.sections);
    let document = &outline.document;
    if outline.sections.is_empty() && outline.page_source.is_none() {
        output.note(&format!("{} has no headings", document.path));
        output.hint(&format!(
            "`kb get -f {} {}` prints its text",
            shell_word(&opened.file),
            shell_word(&document.path)
        ));
        return Ok(Exit::Nothing);
    }
    let is_json = arguments.json.json;
    let pages = outline.page_source.map(|source| {
        let pages = plural(document.parts.into(), "page");
        format!("{pages}, {}", source.name())
    });
    if is_json {
        if let Some(totals) = kb_json::sections_total(&outline) {
            output.json(totals)?;
        }
    } else {
        let lines = pages.unwrap_or_else(|| plural(document.lines.into(), "line"));
        print_head(document, &lines, output)?;
    }
    for section in &outline.sections {
        if is_json {
            output.json(kb_json::section(document, section))?;
        } else {
            print_section(&outline, section, output)?;
        }
    }
    note_rest(&arguments.page, is_json, &rest, output)?;
    Ok(Exit::Found)
}

/// `path  title  94 pages, physical`.
fn print_head(document: &DocumentInfo, parts: &str, output: &mut Output) -> Result<(), Failure> {
    let style = output.stdout_style();
    let title = style.strong(&output.name(&document.title));
    let path = style.path(&output.name(&document.path));
    let size = match document.part_kind {
        None => String::new(),
        Some(_) => format!(", {}", bytes(document.size_bytes)),
    };
    output.line(&format!("{path}  {title}  {parts}{size}"))
}

/// Prints one line for a heading: its line (or page, if pages are physical), its number and its title.
fn print_section(
    outline: &DocumentSections,
    section: &Section,
    output: &mut Output,
) -> Result<(), Failure> {
    let style = output.stdout_style();
    let document = &outline.document;
    let is_paged = outline.page_source == Some(PageSource::Physical);
    let (first, last) = if is_paged {
        (section.part.unwrap_or(1), document.parts)
    } else {
        (section.lines.first, document.lines)
    };
    let digits = last.to_string().len();
    let mark = if is_paged { "p. " } else { "" };
    let number = format!("{mark}{first:>digits$}");
    let indent = "  ".repeat(usize::from(section.level.saturating_sub(1)));
    let page = match (section.part, outline.page_source) {
        (Some(page), Some(_)) if !is_paged => format!("  p. {page}"),
        _ => String::new(),
    };
    let lines = section.lines;
    let symbol = section.kind.map_or(String::new(), |kind| {
        format!("  {kind}, lines {}-{}", lines.first, lines.last)
    });
    let lead = format!("{indent}{} ", section.number);
    let taken = 4 + width(&number) + width(&lead);
    let title = output.name(&section.title);
    // On a narrow terminal the title matters most.
    let whole = taken + width(&title) + width(&page) + width(&symbol);
    let fits = output.columns().is_none_or(|columns| whole <= columns);
    let (page, symbol) = if fits {
        (page, style.faint(&symbol))
    } else {
        (String::new(), String::new())
    };
    let title = output.fit(&title, taken);
    let number = style.line_number(&number);
    output.line(&format!("  {number}  {lead}{title}{page}{symbol}"))
}

/// Prints sheets or slides.
fn parts(
    opened: &Opened,
    arguments: &OutlineArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let page = arguments.page.page();
    let found = opened.ask(opened.kb.parts(&arguments.document, &page))?;
    let rest = Rest::from(&found.parts);
    let is_json = arguments.json.json;
    if let (0, Some(kind)) = (found.document.parts, found.document.part_kind) {
        output.note(&no_parts(&found.document.path, kind));
        return Ok(Exit::Nothing);
    }
    if is_json {
        output.json(kb_json::parts_total(&found))?;
    } else {
        print_head(&found.document, &parts_text(&found), output)?;
    }
    for part in &found.parts {
        if is_json {
            output.json(kb_json::part(&found.document, part))?;
        } else {
            print_part(&found.document, part, output)?;
        }
    }
    note_rest(&arguments.page, is_json, &rest, output)?;
    Ok(Exit::Found)
}

/// `3 sheets, 2 050 rows`, `45 slides`.
fn parts_text(found: &DocumentParts) -> String {
    let parts = u64::from(found.document.parts);
    match found.document.part_kind {
        Some(PartKind::Sheet) => {
            let rows = match found.rows {
                1 => "1 row".to_owned(),
                rows => format!("{} rows", count(rows)),
            };
            format!("{}, {rows}", plural(parts, "sheet"))
        }
        _ => plural(parts, "slide"),
    }
}

/// `Revenue  1000 x 4, header in row 2`, or the number of a slide and its title.
fn print_part(
    document: &DocumentInfo,
    part: &PartInfo,
    output: &mut Output,
) -> Result<(), Failure> {
    let style = output.stdout_style();
    let digits = document.parts.to_string().len();
    let number = style.line_number(&format!("{:>digits$}", part.number));
    let (name, size, is_hidden) = match &part.content {
        PartContent::Sheet(sheet) => {
            let header = sheet.header_row.map(|row| format!(", header in row {row}"));
            let header = header.unwrap_or_default();
            let size = format!("{} x {}{header}", sheet.rows, sheet.columns);
            (sheet.name.as_str(), size, sheet.is_hidden)
        }
        PartContent::Slide(slide) => (slide.title.as_str(), String::new(), slide.is_hidden),
        PartContent::Page(page) => (page.label.as_str(), String::new(), false),
    };
    let hidden = if is_hidden { "hidden" } else { "" };
    let name = match name {
        "" => style.faint("(no name)"),
        name => output.name(name).into_owned(),
    };
    let facts: Vec<&str> = [size.as_str(), hidden]
        .into_iter()
        .filter(|fact| !fact.is_empty())
        .collect();
    let facts = match facts.as_slice() {
        [] => String::new(),
        facts => format!("  {}", facts.join(", ")),
    };
    output.line(&format!("  {number}  {name}{facts}"))
}
