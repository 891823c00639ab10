//! What verbs share that change documents by their names, without new content.

use std::path::Path;

use kb_engine::{DocumentInfo, Kb, KbWriter};

use crate::args::WaitFlag;
use crate::output::Output;
use crate::output::format::shell_word;
use crate::writer_wait::{wait_for_writer, waiting_note};

/// Changes all named documents, or none, in one commit. Returns what the file says of each afterwards.
pub(super) fn change_each(
    file: &Path,
    wait: &WaitFlag,
    documents: &[String],
    output: &mut Output,
    mut change: impl FnMut(&mut KbWriter, &str) -> kb_engine::Result<()>,
) -> kb_engine::Result<Vec<DocumentInfo>> {
    wait_for_writer(
        wait.limit(),
        None,
        &mut |holder| output.note(&waiting_note(holder)),
        |wait| {
            let mut writer = KbWriter::open_or_create(file)?.lock_timeout(wait);
            for name in documents {
                change(&mut writer, name)?;
            }
            writer.commit()?;
            let kb = Kb::open(file)?;
            documents.iter().map(|name| kb.document(name)).collect()
        },
    )
}

/// A command up to its documents, for the corrected command in a hint. `flags` have their words.
pub(super) fn command_of(
    verb: &str,
    file: Option<&Path>,
    flags: [(&str, &Vec<String>); 2],
) -> String {
    let mut command = verb.to_owned();
    if let Some(file) = file {
        command.push_str(&format!(" -f {}", shell_word(file)));
    }
    for (flag, words) in flags {
        for word in words {
            command.push_str(&format!(" {flag} {}", shell_word(word)));
        }
    }
    command
}
