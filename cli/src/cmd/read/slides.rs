//! `kb slides`: prints the slides of a presentation.

use kb_engine::{PartKind, SlideText};

use crate::args::{PageRanges, SlidesArguments};
use crate::cmd::opened::{Opened, Rest, each_part};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::format::no_parts;

pub(crate) fn run(arguments: &SlidesArguments, output: &mut Output) -> Result<Exit, Failure> {
    let opened = Opened::new("kb slides", arguments.file.file.as_deref())?;
    let ranges = match &arguments.slides {
        Some(PageRanges(ranges)) => ranges.as_slice(),
        None => &[],
    };
    let is_json = arguments.json.json;
    let (mut is_first, mut exit) = (true, Exit::Found);
    each_part(&arguments.page, is_json, output, |page, output| {
        let found = opened.ask(opened.kb.slides(&arguments.document, ranges, page))?;
        let rest = Rest::from(&found.slides);
        if std::mem::take(&mut is_first) {
            let path = &found.document.path;
            opened.warn_stale(path, output);
            if found.total == 0 {
                output.note(&no_parts(path, PartKind::Slide));
                exit = Exit::Nothing;
            }
        }
        for slide in found.slides {
            if is_json {
                output.json(kb_json::slide(&found.document, found.total, slide))?;
            } else {
                print(&slide, found.total, output)?;
            }
        }
        Ok(rest)
    })?;
    Ok(exit)
}

fn print(slide: &SlideText, total: u32, output: &mut Output) -> Result<(), Failure> {
    let hidden = if slide.is_hidden { ", hidden" } else { "" };
    let head = format!("slide {} of {total}{hidden}", slide.number);
    let head = output.stdout_style().path(&head);
    output.line(&format!("==> {head} <=="))?;
    output.document_text(&slide.text)?;
    if !slide.notes.is_empty() {
        output.line("Notes:")?;
        output.document_text(&slide.notes)?;
    }
    Ok(())
}
