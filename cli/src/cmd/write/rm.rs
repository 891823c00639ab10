//! `kb rm`: removes documents, all that are named or none.

use kb_engine::{Kb, KbWriter};

use crate::args::{RmArguments, file_and_documents};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::locate::locate;
use crate::output::Output;
use crate::output::format::shell_word;
use crate::target::writing_hint;
use crate::writer_wait::{wait_for_writer, waiting_note};

pub(crate) fn run(arguments: &RmArguments, output: &mut Output) -> Result<Exit, Failure> {
    // A .kb file that does not exist is an error, not the name of a document.
    let given = arguments.file.file.as_deref();
    let (given, documents) = file_and_documents(given, &arguments.documents, |_| true);
    let file = locate(given)?;
    let verb = format!("kb rm {}", shell_word(&file));
    let explain = |error| Failure::from_engine(error, &verb, &file);
    // A writer would create a missing file.
    let kb = Kb::open(&file).map_err(explain)?;
    let removed = wait_for_writer(
        arguments.wait.limit(),
        None,
        &mut |holder| output.note(&waiting_note(holder)),
        |wait| {
            let mut writer = KbWriter::open_or_create(&file)?.lock_timeout(wait);
            let names = documents.iter();
            let removed = names.map(|name| writer.remove(name));
            let removed = removed.collect::<kb_engine::Result<Vec<String>>>()?;
            writer.commit()?;
            Ok(removed)
        },
    );
    let removed = removed.map_err(|error| {
        let hint = writing_hint(&error, &file, None);
        explain(error).and_hint(hint)
    })?;
    for path in &removed {
        if arguments.json.json {
            output.json(kb_json::removed(path))?;
        } else {
            let shown = output.name(path).into_owned();
            output.line(&shown)?;
        }
    }
    let has_roots = kb.info().is_ok_and(|info| !info.roots.is_empty());
    if has_roots && !arguments.json.json {
        output.flush()?;
        output.hint(
            "a file of an indexed folder comes back with the next `kb index`; \
             to keep it out, put its path into a .kbignore file",
        );
    }
    Ok(Exit::Found)
}
