//! `kb tag`: shows, adds and removes tags of documents.

use std::path::Path;

use kb_engine::{DocumentInfo, Kb, KbWriter};

use crate::args::TagArguments;
use crate::cmd::opened::Opened;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::format::shell_word;
use crate::target::writing_hint;
use crate::writer_wait::{wait_for_writer, waiting_note};

pub(crate) fn run(arguments: &TagArguments, output: &mut Output) -> Result<Exit, Failure> {
    let opened = Opened::new("kb tag", arguments.file.file.as_deref())?;
    let documents = if arguments.add.is_empty() && arguments.remove.is_empty() {
        let names = arguments.documents.iter();
        let found = names.map(|name| opened.kb.document(name));
        opened.ask(found.collect::<kb_engine::Result<Vec<DocumentInfo>>>())?
    } else {
        let verb = verb(arguments);
        change(arguments, &opened.file, output).map_err(|error| {
            let hint = writing_hint(&error, &opened.file, None);
            Failure::from_engine(error, &verb, &opened.file).and_hint(hint)
        })?
    };
    for document in &documents {
        if arguments.json.json {
            output.json(kb_json::document_head(document))?;
            continue;
        }
        let path = output.stdout_style().path(&output.name(&document.path));
        let tags = output.name(&document.tags.join(", ")).into_owned();
        output.line(format!("{path}  {tags}").trim_end())?;
    }
    Ok(Exit::Found)
}

/// Changes the tags of all named documents, or of none.
fn change(
    arguments: &TagArguments,
    file: &Path,
    output: &mut Output,
) -> kb_engine::Result<Vec<DocumentInfo>> {
    let add: Vec<&str> = arguments.add.iter().map(String::as_str).collect();
    let remove: Vec<&str> = arguments.remove.iter().map(String::as_str).collect();
    wait_for_writer(
        arguments.wait.limit(),
        None,
        &mut |holder| output.note(&waiting_note(holder)),
        |wait| {
            let mut writer = KbWriter::open_or_create(file)?.lock_timeout(wait);
            for name in &arguments.documents {
                writer.tag(name, &add, &remove)?;
            }
            writer.commit()?;
            let kb = Kb::open(file)?;
            let names = arguments.documents.iter();
            names.map(|name| kb.document(name)).collect()
        },
    )
}

/// Returns this command up to its documents, for the corrected command in a hint.
fn verb(arguments: &TagArguments) -> String {
    let mut verb = "kb tag".to_owned();
    if let Some(file) = &arguments.file.file {
        verb.push_str(&format!(" -f {}", shell_word(file)));
    }
    for (flag, tags) in [("--add", &arguments.add), ("--remove", &arguments.remove)] {
        for tag in tags {
            verb.push_str(&format!(" {flag} {}", shell_word(tag)));
        }
    }
    verb
}
