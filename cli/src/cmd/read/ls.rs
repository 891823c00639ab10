//! `kb ls`: lists folders and documents of the file.

use kb_engine::{DocumentInfo, Entry, PageOptions};

use crate::args::LsArguments;
use crate::cmd::opened::{Opened, Rest, note_rest};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::format::{bytes, plural};
use crate::output::hyperlink::linked;
use crate::output::passage::width;

pub(crate) fn run(arguments: &LsArguments, output: &mut Output) -> Result<Exit, Failure> {
    let opened = Opened::new("kb ls", arguments.file.file.as_deref())?;
    // Shell completion writes `kb ls .` and `kb ls docs/`. The engine handles `./docs`.
    let folder = arguments
        .folder
        .as_deref()
        .map(|folder| folder.trim_end_matches('/'));
    let folder = folder.filter(|folder| !folder.is_empty() && *folder != ".");
    let page = arguments.page.page();
    if arguments.skipped {
        return list_skipped(&opened, folder, arguments, output);
    }
    output.link_documents(&arguments.link.hyperlink_format);
    let rest = if arguments.recursive || arguments.where_.is_some() {
        let documents = opened.ask(match &arguments.where_ {
            Some(condition) => opened.kb.documents_where(folder, true, condition, &page),
            None => opened.kb.documents(folder, true, &page),
        })?;
        for document in &documents {
            show_document(&opened, document, arguments, output)?;
        }
        (!documents.is_empty()).then(|| Rest::from(&documents))
    } else {
        let entries = opened.ask(opened.kb.list(folder, &page))?;
        for entry in &entries {
            match entry {
                Entry::Folder {
                    path,
                    documents,
                    size_bytes,
                    ..
                } => show_folder(path, *documents, *size_bytes, arguments, output)?,
                Entry::Document(document) => show_document(&opened, document, arguments, output)?,
            }
        }
        (!entries.is_empty()).then(|| Rest::from(&entries))
    };
    let Some(rest) = rest else {
        if let Some(condition) = &arguments.where_ {
            output.note(&format!("no document passes {condition}"));
            return Ok(Exit::Nothing);
        }
        output.note(&format!("{} has no documents", opened.file.display()));
        return Ok(Exit::Nothing);
    };
    note_rest(&arguments.page, arguments.json.json, &rest, output)?;
    Ok(Exit::Found)
}

/// Prints the skipped files, one per line with the reason.
fn list_skipped(
    opened: &Opened,
    folder: Option<&str>,
    arguments: &LsArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let files = opened.ask(opened.kb.skipped(folder, &arguments.page.page()))?;
    for file in &files {
        if arguments.json.json {
            output.json(kb_json::skipped_file(file))?;
        } else {
            let path = output.name(&file.path).into_owned();
            let reason = output.stdout_style().faint(&output.name(&file.reason));
            output.line(&format!("{path}  {reason}"))?;
        }
    }
    if files.is_empty() {
        let file = opened.file.display();
        match folder {
            // A folder that does not exist is an error.
            Some(folder) => {
                let page = PageOptions::default().max_tokens(1);
                opened.ask(opened.kb.list(Some(folder), &page))?;
                output.note(&format!("{file} has no skipped files below {folder}"));
            }
            None => output.note(&format!("{file} has no skipped files")),
        }
        return Ok(Exit::Nothing);
    }
    let rest = Rest::from(&files);
    note_rest(&arguments.page, arguments.json.json, &rest, output)?;
    Ok(Exit::Found)
}

fn show_folder(
    path: &str,
    documents: u64,
    size_bytes: u64,
    arguments: &LsArguments,
    output: &mut Output,
) -> Result<(), Failure> {
    if arguments.json.json {
        return output.json(kb_json::folder(path, documents, size_bytes));
    }
    let shown = output
        .stdout_style()
        .path(&format!("{}/", output.name(path)));
    if !arguments.long {
        return output.line(&shown);
    }
    let documents = plural(documents, "document");
    if is_narrow(output) {
        return output.line(&format!("{shown}\n  {}, {documents}", bytes(size_bytes)));
    }
    let columns = long_columns(size_bytes, &documents, "");
    output.line(&format!("{columns}  {shown}"))
}

fn show_document(
    opened: &Opened,
    document: &DocumentInfo,
    arguments: &LsArguments,
    output: &mut Output,
) -> Result<(), Failure> {
    if arguments.json.json {
        return output.json(kb_json::document(document));
    }
    let mut path = output.name(&document.path).into_owned();
    if let Some(address) = output.link(&opened.kb, &document.path, 1) {
        path = linked(&path, &address);
    }
    if !arguments.long {
        return output.line(&path);
    }
    let lines = plural(document.lines.into(), "line");
    let file_type = output.name(&document.file_type);
    let title = output.name(&document.title);
    if is_narrow(output) {
        let facts = format!("  {}, {lines}, {file_type}  ", bytes(document.size_bytes));
        let title = output.fit(&title, width(&facts));
        let title = output.stdout_style().faint(&title);
        return output.line(format!("{path}\n{facts}{title}").trim_end());
    }
    let columns = long_columns(document.size_bytes, &lines, &file_type);
    let title = output.fit(&title, width(&columns) + width(&document.path) + 4);
    let title = output.stdout_style().faint(&title);
    output.line(&format!("{columns}  {path}  {title}"))
}

/// Whether the terminal is too narrow for one line per document.
fn is_narrow(output: &Output) -> bool {
    output
        .columns()
        .is_some_and(|columns| columns < LEAST_COLUMNS)
}

/// Columns of a terminal on which `kb ls --long` prints one line a document.
const LEAST_COLUMNS: usize = 72;

fn long_columns(size_bytes: u64, amount: &str, file_type: &str) -> String {
    format!("{:>9}  {amount:>15}  {file_type:<10}", bytes(size_bytes))
}
