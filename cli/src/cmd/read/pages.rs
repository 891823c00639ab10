//! `kb pages`: prints the pages of a document.

use kb_engine::DocumentPage;

use crate::args::{PageRanges, PagesArguments};
use crate::cmd::opened::{Opened, Rest, each_part};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

pub(crate) fn run(arguments: &PagesArguments, output: &mut Output) -> Result<Exit, Failure> {
    let opened = Opened::new("kb pages", arguments.file.file.as_deref())?;
    let ranges = match &arguments.pages {
        Some(PageRanges(ranges)) => ranges.as_slice(),
        None => &[],
    };
    let is_json = arguments.json.json;
    let mut is_first = true;
    each_part(&arguments.page, is_json, output, |page, output| {
        let found = opened.ask(opened.kb.pages(&arguments.document, ranges, page))?;
        let rest = Rest::from(&found.pages);
        if std::mem::take(&mut is_first) {
            opened.warn_stale(&found.document.path, output);
        }
        for page in found.pages {
            if is_json {
                output.json(kb_json::page(&found.document, found.total, page))?;
            } else {
                let head = head(&page, found.total, output);
                output.line(&head)?;
                output.document_text(&page.text)?;
            }
        }
        Ok(rest)
    })?;
    Ok(Exit::Found)
}

/// `==> page 3 of 12, physical, printed iv <==`.
fn head(page: &DocumentPage, total: u32, output: &Output) -> String {
    let mut head = format!("page {} of {total}", page.number);
    if let Some(source) = page.source {
        head.push_str(", ");
        head.push_str(source.name());
    }
    if !page.label.is_empty() {
        head.push_str(", printed ");
        head.push_str(&output.name(&page.label));
    }
    format!("==> {} <==", output.stdout_style().path(&head))
}
