//! `kb vectors`: lists the vector columns of a file, removes one, or makes one the default.

use kb_engine::{Error, Kb, KbWriter};

use crate::args::ColumnsArguments;
use crate::cmd::opened::Opened;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::columns::column_facts;
use crate::output::format::{plural, shell_word};
use crate::target::writing_hint;
use crate::writer_wait::{wait_for_writer, waiting_note};

pub(crate) fn run(arguments: &ColumnsArguments, output: &mut Output) -> Result<Exit, Failure> {
    let opened = Opened::new("kb vectors", arguments.file.path())?;
    if arguments.remove.is_some() || arguments.default.is_some() {
        change(arguments, &opened, output)?;
    }
    // The list after the change.
    let info = opened.ask(Kb::open(&opened.file).and_then(|kb| kb.info()))?;
    for column in &info.vector_columns {
        if arguments.json.json {
            output.json(kb_json::vector_column(column))?;
        } else {
            let name = output.stdout_style().strong(&output.name(&column.name));
            let facts = output.name(&column_facts(column, info.chunks)).into_owned();
            output.line(&format!("{name}  {facts}"))?;
        }
    }
    Ok(Exit::Found)
}

fn change(
    arguments: &ColumnsArguments,
    opened: &Opened,
    output: &mut Output,
) -> Result<(), Failure> {
    let file = &opened.file;
    let changed = wait_for_writer(
        arguments.wait.limit(),
        None,
        &mut |holder| output.note(&waiting_note(holder)),
        |wait| {
            let mut writer = KbWriter::open_or_create(file)?.lock_timeout(wait);
            let removed = match &arguments.remove {
                Some(name) => Some(writer.remove_vectors(name)?),
                None => None,
            };
            if let Some(name) = &arguments.default {
                writer.set_default_vectors(name)?;
            }
            Ok(removed)
        },
    );
    let removed = changed.map_err(|error| {
        if let Error::InvalidArgument { reason, .. } = &error {
            let flag = match arguments.remove {
                Some(_) => "--remove",
                None => "--default",
            };
            let lists = format!("`kb vectors {}` lists the columns", shell_word(file));
            return Failure::new(error.code(), format!("{flag}: {reason}"), Some(lists));
        }
        let hint = writing_hint(&error, file, None);
        Failure::from_engine(error, "kb vectors", file).and_hint(hint)
    })?;
    if let Some(removed) = removed {
        output.note(&format!("removed {}", plural(removed, "vector")));
    }
    Ok(())
}
