//! `kb get`: the text of a document, some of its lines, some of its pages, or one section.

use kb_engine::{DocumentText, Error, PageOptions};

use crate::args::{GetArguments, PageRanges, parse_lines};
use crate::cmd::opened::{Opened, Rest, document_object, note_rest};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

pub(crate) fn run(arguments: &GetArguments, output: &mut Output) -> Result<Exit, Failure> {
    let opened = Opened::new("kb get", arguments.file.file.as_deref())?;
    if let Some(PageRanges(ranges)) = &arguments.pages {
        return pages(&opened, arguments, ranges, output);
    }
    each_part(arguments, output, |page, output| {
        let found = opened.ask(text_of(&opened, arguments, page))?;
        let rest = Rest::from(&found);
        if arguments.json.json {
            let object = document_object(&found.document)
                .field("start_line", found.lines.first)
                .field("end_line", found.lines.last)
                .field("document_lines", found.document.lines)
                .field("text", found.text);
            output.json(object)?;
        } else if rest.next.is_none() {
            output.document_text(&found.text)?;
        } else {
            output.document_part(&found.text)?;
        }
        Ok(rest)
    })
}

/// Prints one part where the user asked for a part, else all of them: the engine gives no text of any
/// length at once.
fn each_part(
    arguments: &GetArguments,
    output: &mut Output,
    mut print: impl FnMut(&PageOptions, &mut Output) -> Result<Rest, Failure>,
) -> Result<Exit, Failure> {
    let mut page = arguments.page.page();
    loop {
        let rest = print(&page, output)?;
        if arguments.page.is_given() || rest.next.is_none() {
            note_rest(&arguments.page, arguments.json.json, &rest, output)?;
            return Ok(Exit::Found);
        }
        page.cursor = rest.next;
    }
}

fn pages(
    opened: &Opened,
    arguments: &GetArguments,
    ranges: &[(u32, u32)],
    output: &mut Output,
) -> Result<Exit, Failure> {
    let name = arguments.document.as_str();
    each_part(arguments, output, |page, output| {
        let found = opened.ask(opened.kb.pages(name, ranges, page))?;
        let rest = Rest::from(&found.pages);
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
        Ok(rest)
    })
}

/// Also understands `PATH:A-B`, where no document has all of that as its name.
fn text_of(
    opened: &Opened,
    arguments: &GetArguments,
    page: &PageOptions,
) -> kb_engine::Result<DocumentText> {
    let name = arguments.document.as_str();
    if let Some(section) = &arguments.section {
        return opened.kb.section_text(name, section, page);
    }
    let whole = opened.kb.text_paged(name, arguments.lines, page);
    if arguments.lines.is_some() || !matches!(whole, Err(Error::DocumentNotFound { .. })) {
        return whole;
    }
    match name.rsplit_once(':') {
        Some((path, range)) => match parse_lines(range) {
            Ok(lines) => opened.kb.text_paged(path, Some(lines), page),
            Err(_) => whole,
        },
        None => whole,
    }
}
