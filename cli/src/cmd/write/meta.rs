//! `kb meta`: shows, sets and removes fields of documents.

use kb_engine::{DocumentInfo, FieldValue};

use crate::args::MetaArguments;
use crate::cmd::opened::Opened;
use crate::cmd::write::each_document::{change_each, command_of};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::format::shell_word;
use crate::target::writing_hint;

/// Fields with their values; one without values is removed.
type Fields = Vec<(String, Vec<FieldValue>)>;

pub(crate) fn run(arguments: &MetaArguments, output: &mut Output) -> Result<Exit, Failure> {
    let mut fields: Fields = Vec::new();
    for name in &arguments.remove {
        fields.push((name.clone(), Vec::new()));
    }
    fields.extend(given_fields("--set", &arguments.set)?);
    let opened = Opened::new("kb meta", arguments.file.file.as_deref())?;
    let documents = if fields.is_empty() {
        let names = arguments.documents.iter();
        let found = names.map(|name| opened.kb.document(name));
        opened.ask(found.collect::<kb_engine::Result<Vec<DocumentInfo>>>())?
    } else {
        let flags = [("--set", &arguments.set), ("--remove", &arguments.remove)];
        let verb = command_of("kb meta", arguments.file.file.as_deref(), flags);
        let names = &arguments.documents;
        let changed = change_each(
            &opened.file,
            &arguments.wait,
            names,
            output,
            |writer, name| writer.set_fields(name, &fields).map(|_| ()),
        );
        changed.map_err(|error| {
            let hint = writing_hint(&error, &opened.file, None);
            Failure::from_engine(error, &verb, &opened.file).and_hint(hint)
        })?
    };
    for document in &documents {
        if arguments.json.json {
            output.json(kb_json::document(document))?;
            continue;
        }
        let path = output.stdout_style().path(&output.name(&document.path));
        output.line(&path)?;
        for (name, value) in &document.metadata {
            let (name, value) = (output.name(name), output.name(value));
            let line = format!("  {name}: {value}");
            output.line(line.trim_end())?;
        }
    }
    Ok(Exit::Found)
}

/// Returns the fields of `NAME=VALUE` words that `flag` gave, each with all its values.
pub(crate) fn given_fields(flag: &str, given: &[String]) -> Result<Fields, Failure> {
    let mut fields: Fields = Vec::new();
    for pair in given {
        let parts = pair.split_once('=');
        let Some((name, value)) = parts.map(|(name, value)| (name.trim(), value.trim())) else {
            let message = format!("{flag} {}: NAME=VALUE is needed", shell_word(pair));
            return Err(Failure::usage(
                &message,
                Some(format!("`{flag} year=2024`")),
            ));
        };
        let value = FieldValue::of_text(value);
        match fields.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.push(value),
            None => fields.push((name.to_owned(), vec![value])),
        }
    }
    Ok(fields)
}
