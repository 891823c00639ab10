//! `kb outline`: the headings of a document.

use crate::args::OutlineArguments;
use crate::cmd::opened::{Opened, Rest, note_rest};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::format::{plural, shell_word};
use crate::output::json::Object;

pub(crate) fn run(arguments: &OutlineArguments, output: &mut Output) -> Result<Exit, Failure> {
    let opened = Opened::new("kb outline", arguments.file.file.as_deref())?;
    let page = arguments.page.page();
    let (kb, document) = (&opened.kb, arguments.document.as_str());
    let outline = opened.ask(match &arguments.section {
        None => kb.sections(document, &page),
        Some(section) => kb.subsections(document, section, &page),
    })?;
    let rest = Rest::from(&outline.sections);
    let document = &outline.document;
    opened.warn_stale(&document.path, output);
    if outline.sections.is_empty() {
        output.note(&format!("{} has no headings", document.path));
        output.hint(&format!(
            "`kb get -f {} {}` prints its text",
            shell_word(&opened.file),
            shell_word(&document.path)
        ));
        return Ok(Exit::Nothing);
    }
    if arguments.json.json {
        for section in &outline.sections {
            output.json(
                Object::new()
                    .field("document", &*document.path)
                    .field("section", &*section.number)
                    .field("level", section.level)
                    .field("title", &*section.title)
                    .field("line", section.lines.first)
                    .field("end_line", section.lines.last)
                    .field("start_byte", section.span.start)
                    .field("end_byte", section.span.end),
            )?;
        }
        note_rest(&arguments.page, true, &rest, output)?;
        return Ok(Exit::Found);
    }
    let style = output.stdout_style();
    let title = style.strong(&output.name(&document.title));
    let path = style.path(&output.name(&document.path));
    output.line(&format!(
        "{path}  {title}  {}",
        plural(document.lines.into(), "line")
    ))?;
    let digits = document.lines.to_string().len();
    for section in &outline.sections {
        let line = style.line_number(&format!("{:>digits$}", section.lines.first));
        let indent = "  ".repeat(usize::from(section.level.saturating_sub(1)));
        output.line(&format!(
            "  {line}  {indent}{} {}",
            section.number,
            output.name(&section.title)
        ))?;
    }
    note_rest(&arguments.page, false, &rest, output)?;
    Ok(Exit::Found)
}
