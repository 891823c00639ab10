//! The open .kb file of a reading command, and the end of output that was cut.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kb_engine::{Cursor, DocumentText, Error, Kb, PageOptions, Paged};

use crate::args::PageFlags;
use crate::failure::Failure;
use crate::locate::locate;
use crate::output::Output;
use crate::output::format::shell_word;

/// How long to wait for the disk with the source files.
pub(crate) const SOURCES_TIMEOUT: Duration = Duration::from_millis(100);

/// The open .kb file of a reading command, and what its error messages need.
pub(crate) struct Opened {
    pub(crate) kb: Kb,
    pub(crate) file: PathBuf,
    /// The command for hints: `kb get`, with `-f` when it was given.
    verb: String,
}

impl Opened {
    /// Opens the file of `verb` ("kb get"): `given`, or the one that [`locate`] finds.
    pub(crate) fn new(verb: &str, given: Option<&Path>) -> Result<Opened, Failure> {
        let file = locate(given)?;
        let verb = match given {
            Some(given) => format!("{verb} -f {}", shell_word(given)),
            None => verb.to_owned(),
        };
        match Kb::open(&file) {
            Ok(kb) => Ok(Opened { kb, file, verb }),
            Err(error) => Err(Failure::from_engine(error, &verb, &file)),
        }
    }

    /// Opens each of the files of `verb` once; without any, the one that [`locate`] finds.
    pub(crate) fn all(
        verb: &str,
        files: &[PathBuf],
        output: &mut Output,
    ) -> Result<Vec<Opened>, Failure> {
        let given: Vec<Option<&Path>> = match files {
            [] => vec![None],
            files => files.iter().map(|file| Some(file.as_path())).collect(),
        };
        let mut opened: Vec<Opened> = Vec::new();
        for given in given {
            let one = Opened::new(verb, given)?;
            // Its results would come twice.
            if opened.iter().any(|other| other.is_same_file(&one)) {
                let name = output.name(&one.file.display().to_string()).into_owned();
                output.warning(&format!("{name} is given twice; it is searched once"));
            } else {
                opened.push(one);
            }
        }
        Ok(opened)
    }

    fn is_same_file(&self, other: &Opened) -> bool {
        let absolute = |opened: &Opened| opened.file.canonicalize().ok();
        absolute(self).is_some_and(|path| Some(path) == absolute(other))
    }

    /// Returns the file names that results show; empty if there is only one file.
    pub(crate) fn names(opened: &[Opened]) -> Vec<String> {
        let several = if opened.len() > 1 { opened } else { &[] };
        let names = several.iter().map(|one| one.file.display().to_string());
        names.collect()
    }

    /// Returns the command that lists the documents of the file.
    pub(crate) fn list_command(&self) -> String {
        format!("kb ls -r -f {}", shell_word(&self.file))
    }

    /// Unwraps a result of the engine; an error gets the corrected command as its hint.
    pub(crate) fn ask<T>(&self, answer: kb_engine::Result<T>) -> Result<T, Failure> {
        answer.map_err(|error| {
            // A folder was given instead of a document.
            let folder = match &error {
                Error::DocumentNotFound { name, .. } => name.trim_end_matches('/').to_owned(),
                _ => String::new(),
            };
            let failure = Failure::from_engine(error, &self.verb, &self.file);
            let page = PageOptions::default().max_tokens(1);
            if folder.is_empty() || self.kb.list(Some(&folder), &page).is_err() {
                return failure;
            }
            let (file, folder) = (shell_word(&self.file), shell_word(&folder));
            failure.with_hint(format!("`kb ls -f {file} {folder}` lists this folder"))
        })
    }

    /// Warns if the source file of a document changed after it was indexed.
    pub(crate) fn warn_stale(&self, document: &str, output: &mut Output) {
        let check = self.kb.source_check(&[document]).ok();
        let states = check.and_then(|check| check.run_within(SOURCES_TIMEOUT));
        // Staleness is best-effort: a read does not fail for it.
        let state = states
            .unwrap_or_default()
            .first()
            .and_then(|state| state.stale());
        if let Some(state) = state {
            output.warning(&format!(
                "out of date: the file of {document} was {state} after it was indexed; text and line numbers are those of \
                 the indexed version"
            ));
        }
    }
}

/// Stale documents that a warning names.
const STALE_SHOWN: usize = 5;

/// Returns the warning about documents of a result whose files changed, each with what happened to it.
pub(crate) fn stale_warning<'d>(
    documents: impl Iterator<Item = (&'d str, &'static str)>,
) -> Option<String> {
    let mut stale: Vec<String> = Vec::new();
    for (document, state) in documents {
        let name = format!("{document} ({state})");
        if !stale.contains(&name) {
            stale.push(name);
        }
    }
    (!stale.is_empty()).then(|| {
        let more = stale.len().saturating_sub(STALE_SHOWN);
        stale.truncate(STALE_SHOWN);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        format!(
            "out of date: after they were indexed, files of these results changed or were deleted: {}{more}",
            stale.join(", ")
        )
    })
}

/// How much of a result was printed, and where it continues.
pub(crate) struct Rest {
    tokens: u64,
    over_budget: bool,
    pub(crate) next: Option<Cursor>,
}

impl<T> From<&Paged<T>> for Rest {
    fn from(paged: &Paged<T>) -> Rest {
        Rest {
            tokens: paged.tokens,
            over_budget: paged.over_budget,
            next: paged.next.clone(),
        }
    }
}

impl From<&DocumentText> for Rest {
    fn from(text: &DocumentText) -> Rest {
        Rest {
            tokens: text.tokens,
            over_budget: text.over_budget,
            next: text.next.clone(),
        }
    }
}

/// If output was requested in parts, prints how to continue.
pub(crate) fn note_rest(
    flags: &PageFlags,
    json: bool,
    rest: &Rest,
    output: &mut Output,
) -> Result<(), Failure> {
    if flags.is_given() {
        show_rest(json, rest, output)?;
    }
    Ok(())
}

/// Prints one part if the user asked for a part, else all parts: the engine limits the length of one result.
pub(crate) fn each_part(
    flags: &PageFlags,
    json: bool,
    output: &mut Output,
    mut print: impl FnMut(&PageOptions, &mut Output) -> Result<Rest, Failure>,
) -> Result<(), Failure> {
    let mut page = flags.page();
    loop {
        let rest = print(&page, output)?;
        if flags.is_given() || rest.next.is_none() {
            return note_rest(flags, json, &rest, output);
        }
        page.cursor = rest.next;
    }
}

/// Prints how to continue output that was cut.
pub(crate) fn show_rest(json: bool, rest: &Rest, output: &mut Output) -> Result<(), Failure> {
    if json {
        let paging = kb_json::paging(rest.tokens, rest.over_budget, rest.next.as_ref());
        return output.json(paging);
    }
    if let Some(token) = &rest.next {
        output.flush()?;
        output.hint(&format!(
            "there is more: run the same command with --continue {token}"
        ));
    }
    Ok(())
}
