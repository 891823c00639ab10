//! `kb import documents`: adds the rows of a JSON Lines or CSV file as documents.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kb_engine::{AddOptions, Added, Error, KbWriter, NewDocument};

use crate::args::ImportDocumentsArguments;
use crate::document_rows::{DocumentRow, DocumentRows};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::locate::locate;
use crate::output::Output;
use crate::output::format::{plural, shell_word};
use crate::output::progress::Meter;
use crate::target::writing_hint;
use crate::writer_wait::{stop_if, stop_on_interrupt, wait_for_writer, waiting_note};

/// Bytes of text between two commits. What waits for a commit is in memory, with its words and vectors.
const COMMIT_TEXT_BYTES: usize = 32 << 20;

/// Documents between two commits: short ones take more memory than their text.
const COMMIT_DOCUMENTS: u64 = 50_000;

/// What became of the rows.
#[derive(Default)]
struct Imported {
    documents: u64,
    replaced: u64,
    /// Rows with keys or credentials.
    refused: u64,
    /// How many documents are committed.
    committed: u64,
}

/// The rows on their way into a file.
struct Import<'a> {
    arguments: &'a ImportDocumentsArguments,
    rows: DocumentRows,
    done: Imported,
    /// What is wrong with a row, by its line.
    wrong: Option<(u64, String)>,
}

pub(crate) fn run(
    arguments: &ImportDocumentsArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let file = locate(Some(&arguments.file))?;
    let verb = format!("kb import documents {}", shell_word(&file));
    let source = &arguments.source;
    let rows = DocumentRows::open(source)
        .map_err(|error| Failure::io(&format!("read {}", source.display()), &error))?;
    let mut import = Import {
        arguments,
        rows,
        done: Imported::default(),
        wrong: None,
    };
    let cancel = stop_on_interrupt()?;
    let meter = Meter::of_run(output.stderr_is_terminal(), false);
    let result = wait_for_writer(
        arguments.wait.limit(),
        Some(&cancel),
        &mut |holder| meter.note(&waiting_note(holder)),
        |wait| import.run(&file, wait, &meter, &cancel),
    );
    meter.clear();
    if let Some((line, reason)) = import.wrong.take() {
        let message = format!("{}:{line}: {reason}", source.display());
        return Err(Failure::usage(message, Some(import.rest())));
    }
    result.map_err(|error| {
        let hint = writing_hint(&error, &file, None);
        let hint = hint.unwrap_or_else(|| import.rest());
        Failure::from_engine(error, &verb, &file).and_hint(Some(hint))
    })?;
    show(&import.done, arguments, output)?;
    Ok(Exit::Found)
}

impl Import<'_> {
    /// What is in the file after an error.
    fn rest(&self) -> String {
        match self.done.committed {
            0 => "nothing was imported".to_owned(),
            documents => format!(
                "{} of earlier lines are in the file; with --replace the import can be repeated",
                plural(documents, "document")
            ),
        }
    }

    /// Adds the rows. Without the lock none is read.
    fn run(
        &mut self,
        file: &Path,
        wait: Duration,
        meter: &Meter,
        cancel: &AtomicBool,
    ) -> kb_engine::Result<()> {
        let mut writer = KbWriter::open_or_create(file)?;
        writer.lock(wait)?;
        let (arguments, done, wrong) = (self.arguments, &mut self.done, &mut self.wrong);
        let options = AddOptions {
            replace: arguments.replace,
            include_secrets: arguments.include_secrets,
            ..AddOptions::default()
        };
        let rows = self.rows.by_ref().map(|(line, row)| match row {
            Ok(row) => (
                (line, row.text.len()),
                Ok(new_document(arguments, line, row)),
            ),
            Err(reason) => ((line, 0), Err(refused(reason))),
        });
        let mut waiting_bytes = 0;
        let mut each = |writer: &mut KbWriter, (line, bytes): (u64, usize), added| {
            match added {
                Ok(Added::Refused(_)) => done.refused += 1,
                Ok(added) => {
                    done.documents += 1;
                    done.replaced += u64::from(added == Added::Replaced);
                }
                Err(
                    error @ (Error::InvalidArgument { .. }
                    | Error::DocumentExists { .. }
                    | Error::TooLarge { .. }),
                ) => {
                    let reason = match &error {
                        Error::InvalidArgument {
                            argument: ROW,
                            reason,
                        } => reason.clone(),
                        error => error.to_string(),
                    };
                    *wrong = Some((line, reason));
                    return Err(error);
                }
                Err(error) => return Err(error),
            }
            waiting_bytes += bytes;
            meter.show_count("import", "documents", done.documents, 0);
            if waiting_bytes >= COMMIT_TEXT_BYTES || writer.pending() as u64 >= COMMIT_DOCUMENTS {
                writer.commit_with(&mut |_| stop_if(cancel))?;
                (done.committed, waiting_bytes) = (done.documents, 0);
                // A new file is unlocked by its first commit, and others may have it before the next row.
                wait_for_writer(
                    arguments.wait.limit(),
                    Some(cancel),
                    &mut |holder| meter.note(&waiting_note(holder)),
                    |wait| writer.lock(wait),
                )?;
            }
            Ok(())
        };
        writer.add_many(rows, options, &mut each, &mut |_| stop_if(cancel))?;
        writer.commit_with(&mut |_| stop_if(cancel))?;
        self.done.committed = self.done.documents;
        Ok(())
    }
}

/// What an error of a row calls it.
const ROW: &str = "row";

fn refused(reason: String) -> Error {
    Error::InvalidArgument {
        argument: ROW,
        reason,
    }
}

fn new_document(arguments: &ImportDocumentsArguments, line: u64, row: DocumentRow) -> NewDocument {
    let path = row.path.unwrap_or_else(|| {
        let stem = arguments.source.file_stem().unwrap_or_default();
        format!("{}/{line:08}.txt", stem.to_string_lossy())
    });
    NewDocument {
        path,
        content: row.text.into_bytes(),
        title: row.title,
        tags: row.tags,
        fields: row.fields,
        ..NewDocument::default()
    }
}

fn show(
    done: &Imported,
    arguments: &ImportDocumentsArguments,
    output: &mut Output,
) -> Result<(), Failure> {
    if arguments.json.json {
        let object = kb_json::Object::new()
            .field("imported", done.documents)
            .field("replaced", done.replaced)
            .field("refused", done.refused);
        output.json(object)?;
    } else {
        let replaced = match done.replaced {
            0 => String::new(),
            replaced => format!(", {replaced} of them replace others"),
        };
        output.line(&format!("{}{replaced}", plural(done.documents, "document")))?;
    }
    if done.refused > 0 {
        let rows = plural(done.refused, "row");
        output.warning(&format!("{rows} with keys or credentials were left out"));
        output.hint("--include-secrets imports them anyway");
    }
    Ok(())
}
