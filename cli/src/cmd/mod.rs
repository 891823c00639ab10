//! One verb per file: its arguments become calls of the engine, the answers become lines.

pub(crate) mod add;
pub(crate) mod bench;
pub(crate) mod completions;
pub(crate) mod get;
pub(crate) mod index;
pub(crate) mod info;
pub(crate) mod ls;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod outline;
pub(crate) mod rm;
pub(crate) mod seal;
pub(crate) mod search;
pub(crate) mod tag;
pub(crate) mod token;
pub(crate) mod verify;
pub(crate) mod watch;

use std::path::{Path, PathBuf};

use kb_engine::{DocumentInfo, Kb, Paging};

use crate::args::PageFlags;
use crate::failure::Failure;
use crate::json::Object;
use crate::locate::locate;
use crate::output::Output;

/// The open file of a command that reads, and what its errors need to know.
pub(crate) struct Opened {
    pub(crate) kb: Kb,
    pub(crate) file: PathBuf,
    /// The command for hints: `kb get`, with `-f` when it was given.
    verb: String,
}

impl Opened {
    /// Opens the file of `verb` ("kb get"): `given`, or located.
    pub(crate) fn new(verb: &str, given: Option<&Path>) -> Result<Opened, Failure> {
        let file = locate(given)?;
        let verb = match given {
            Some(given) => format!("{verb} -f {}", crate::human::shell_word(given)),
            None => verb.to_owned(),
        };
        match Kb::open(&file) {
            Ok(kb) => Ok(Opened { kb, file, verb }),
            Err(error) => Err(Failure::from_engine(error, &verb, &file)),
        }
    }

    /// The answer of the engine, or its error with the corrected command.
    pub(crate) fn ask<T>(&self, answer: kb_engine::Result<T>) -> Result<T, Failure> {
        answer.map_err(|error| Failure::from_engine(error, &self.verb, &self.file))
    }
}

/// What is left of an answer that was asked for in parts, and how to get it.
pub(crate) fn tell_rest(
    asked: &PageFlags,
    json: bool,
    paging: &Paging,
    output: &mut Output,
) -> Result<(), Failure> {
    match asked.asked() {
        true => show_rest(json, paging, output),
        false => Ok(()),
    }
}

/// What is left of an answer, and how to get it.
pub(crate) fn show_rest(json: bool, paging: &Paging, output: &mut Output) -> Result<(), Failure> {
    if json {
        let continuation = paging.continuation.clone();
        let object = Object::new()
            .field("tokens", paging.tokens)
            .field("over_budget", paging.over_budget)
            .field("has_more", continuation.is_some())
            .field("continuation", continuation);
        return output.json(Object::new().object("paging", object));
    }
    if let Some(token) = &paging.continuation {
        output.flush()?;
        output.hint(&format!(
            "there is more: the same command with --continue {token}"
        ));
    }
    Ok(())
}

/// The fields that every object about a document begins with.
pub(crate) fn document_object(document: &DocumentInfo) -> Object {
    Object::new()
        .field("document", &*document.path)
        .field("handle", &*document.handle)
        .field("title", &*document.title)
        .field("file_type", &*document.file_type)
        .field("language", &*document.language)
        .field("class", document.class.name())
        .field("tags", document.tags.clone())
}
