//! `kb import documents`: adds the rows of a JSON Lines or CSV file as documents.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kb_engine::{Error, KbWriter, Progress, SourceInfo, give_fields, secret_by_name, secret_in};

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
    /// The row that is added next, with its line.
    next: Option<(u64, DocumentRow)>,
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
        next: None,
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

    /// Adds the rows. While another writer has the file nothing is lost: the row waits.
    fn run(
        &mut self,
        file: &Path,
        wait: Duration,
        meter: &Meter,
        cancel: &AtomicBool,
    ) -> kb_engine::Result<()> {
        let mut writer = KbWriter::open_or_create(file)?.lock_timeout(wait);
        let mut waiting_bytes = 0;
        loop {
            if stop_if(cancel).is_break() {
                return Err(Error::Cancelled);
            }
            let row = self.next.take();
            let row = row.map(|(line, row)| (line, Ok(row)));
            let (line, row) = match row.or_else(|| self.rows.next()) {
                None => break,
                Some((line, Ok(row))) => (line, row),
                Some((line, Err(reason))) => return Err(self.refuse(line, reason)),
            };
            let bytes = row.text.len();
            match self.add(&mut writer, line, &row) {
                Ok(()) => {}
                Err(error @ Error::IndexLocked { .. }) => {
                    self.next = Some((line, row));
                    return Err(error);
                }
                Err(
                    error @ (Error::InvalidArgument { .. }
                    | Error::DocumentExists { .. }
                    | Error::TooLarge { .. }),
                ) => {
                    return Err(self.refuse(line, error.to_string()));
                }
                Err(error) => return Err(error),
            }
            waiting_bytes += bytes;
            meter.show_count("import", "documents", self.done.documents, 0);
            if waiting_bytes >= COMMIT_TEXT_BYTES || writer.pending() as u64 >= COMMIT_DOCUMENTS {
                self.commit(&mut writer, cancel)?;
                waiting_bytes = 0;
            }
        }
        self.commit(&mut writer, cancel)
    }

    fn commit(&mut self, writer: &mut KbWriter, cancel: &AtomicBool) -> kb_engine::Result<()> {
        writer.commit_with(&mut |_| stop_if(cancel))?;
        self.done.committed = self.done.documents;
        Ok(())
    }

    fn refuse(&mut self, line: u64, reason: String) -> Error {
        self.wrong = Some((line, reason.clone()));
        Error::InvalidArgument {
            argument: "row",
            reason,
        }
    }

    fn add(
        &mut self,
        writer: &mut KbWriter,
        line: u64,
        row: &DocumentRow,
    ) -> kb_engine::Result<()> {
        let path = row.path.clone().unwrap_or_else(|| {
            let stem = self.arguments.source.file_stem().unwrap_or_default();
            format!("{}/{line:08}.txt", stem.to_string_lossy())
        });
        let tags: Vec<&str> = row.tags.iter().map(String::as_str).collect();
        KbWriter::check_tags(&tags)?;
        let content = row.text.as_bytes();
        let mut document = writer.read_document(&path, content, &mut Progress::ignore)?;
        document.path.clone_from(&path);
        if let Some(title) = &row.title {
            document.title.clone_from(title);
        }
        give_fields(&mut document, &row.fields)?;
        let is_refused = !self.arguments.include_secrets
            && secret_by_name(&path)
                .or_else(|| secret_in(&document))
                .is_some();
        if is_refused {
            self.done.refused += 1;
            return Ok(());
        }
        let source = SourceInfo::of(content);
        let given: Vec<&str> = row.fields.iter().map(|(name, _)| name.as_str()).collect();
        let replaced = writer.add_given(document, source, &given, self.arguments.replace)?;
        if !tags.is_empty() {
            writer.tag(&path, &tags, &[])?;
        }
        self.done.documents += 1;
        self.done.replaced += u64::from(replaced);
        Ok(())
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
