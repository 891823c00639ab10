//! `kb get`: the text of a document, some of its lines, some of its pages, or one section.

use kb_engine::{DocumentText, Error, Paging};

use crate::args::{GetArguments, PageRanges, parse_lines};
use crate::cmd::{Opened, document_object, tell_rest};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

pub(crate) fn run(arguments: &GetArguments, output: &mut Output) -> Result<Exit, Failure> {
    let opened = Opened::new("kb get", arguments.file.file.as_deref())?;
    if let Some(PageRanges(ranges)) = &arguments.pages {
        return pages(&opened, arguments, ranges, output);
    }
    let (found, paging) = opened.ask(text_of(&opened, arguments))?;
    if arguments.json.json {
        let object = document_object(&found.document)
            .field("start_line", found.lines.first)
            .field("end_line", found.lines.last)
            .field("document_lines", found.document.lines)
            .field("text", found.text);
        output.json(object)?;
    } else {
        output.document_text(&found.text)?;
    }
    tell_rest(&arguments.page, arguments.json.json, &paging, output)?;
    Ok(Exit::Found)
}

fn pages(
    opened: &Opened,
    arguments: &GetArguments,
    ranges: &[(u32, u32)],
    output: &mut Output,
) -> Result<Exit, Failure> {
    let (name, page) = (arguments.document.as_str(), arguments.page.page());
    let (found, paging) = opened.ask(opened.kb.pages_page(name, ranges, &page))?;
    for page in found.pages {
        if arguments.json.json {
            let object = document_object(&found.document)
                .field("page", page.number)
                .field("total_pages", found.total)
                .field("start_line", page.lines.first)
                .field("end_line", page.lines.last)
                .field("text", page.text);
            output.json(object)?;
        } else {
            output.document_text(&page.text)?;
        }
    }
    tell_rest(&arguments.page, arguments.json.json, &paging, output)?;
    Ok(Exit::Found)
}

/// Also understands `PATH:A-B`, where no document has all of that as its name.
fn text_of(opened: &Opened, arguments: &GetArguments) -> kb_engine::Result<(DocumentText, Paging)> {
    let name = arguments.document.as_str();
    let page = arguments.page.page();
    if let Some(section) = &arguments.section {
        return opened.kb.section_page(name, section, &page);
    }
    let whole = opened.kb.text_page(name, arguments.lines, &page);
    if arguments.lines.is_some() || !matches!(whole, Err(Error::DocumentNotFound { .. })) {
        return whole;
    }
    match name.rsplit_once(':') {
        Some((path, range)) => match parse_lines(range) {
            Ok(lines) => opened.kb.text_page(path, Some(lines), &page),
            Err(_) => whole,
        },
        None => whole,
    }
}
