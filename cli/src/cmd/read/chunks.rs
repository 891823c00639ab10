//! `kb get --format chunks`: prints the indexed chunks of a document.

use kb_engine::ChunkText;

use crate::args::GetArguments;
use crate::cmd::opened::{Opened, Rest, each_part};
use crate::failure::Failure;
use crate::output::Output;

/// Prints the chunks of a document, or those in some lines or in a section.
pub(super) fn print(
    opened: &Opened,
    arguments: &GetArguments,
    name: &str,
    output: &mut Output,
) -> Result<(), Failure> {
    let is_json = arguments.json.json;
    let document = opened.ask(opened.kb.document(name))?;
    let path = &document.path;
    opened.warn_stale(path, output);
    each_part(&arguments.page, is_json, output, |page, output| {
        let found = match (arguments.lines, arguments.section.as_deref()) {
            (Some(lines), _) => opened.kb.chunks_of_lines(path, lines, page),
            (None, section) => opened.kb.chunks(name, section, page),
        };
        let found = opened.ask(found)?;
        let rest = Rest::from(&found);
        for chunk in found {
            if is_json {
                output.json(kb_json::chunk(path, chunk))?;
            } else {
                let head = head(path, &chunk, output);
                output.line(&head)?;
                output.document_text(&chunk.text)?;
            }
        }
        Ok(rest)
    })
}

/// `==> report.pdf#12  120-131, p. 4  Results > Costs <==`.
fn head(path: &str, chunk: &ChunkText, output: &Output) -> String {
    let lines = chunk.at.lines;
    let mut head = format!("{path}#{}  {}-{}", chunk.index, lines.first, lines.last);
    if let Some(part) = &chunk.part {
        head = format!("{head}, {part}");
    }
    if !chunk.section.is_empty() {
        head = format!("{head}  {}", chunk.section.join(" > "));
    }
    format!(
        "==> {} <==",
        output.stdout_style().path(&output.name(&head))
    )
}
