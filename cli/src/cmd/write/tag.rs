//! `kb tag`: shows, adds and removes tags of documents.

use kb_engine::DocumentInfo;

use crate::args::TagArguments;
use crate::cmd::opened::Opened;
use crate::cmd::write::each_document::{change_each, command_of};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::target::writing_hint;

pub(crate) fn run(arguments: &TagArguments, output: &mut Output) -> Result<Exit, Failure> {
    let opened = Opened::new("kb tag", arguments.file.file.as_deref())?;
    let documents = if arguments.add.is_empty() && arguments.remove.is_empty() {
        let names = arguments.documents.iter();
        let found = names.map(|name| opened.kb.document(name));
        opened.ask(found.collect::<kb_engine::Result<Vec<DocumentInfo>>>())?
    } else {
        let flags = [("--add", &arguments.add), ("--remove", &arguments.remove)];
        let verb = command_of("kb tag", arguments.file.file.as_deref(), flags);
        let add: Vec<&str> = arguments.add.iter().map(String::as_str).collect();
        let remove: Vec<&str> = arguments.remove.iter().map(String::as_str).collect();
        let names = &arguments.documents;
        let changed = change_each(
            &opened.file,
            &arguments.wait,
            names,
            output,
            |writer, name| writer.tag(name, &add, &remove).map(|_| ()),
        );
        changed.map_err(|error| {
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
