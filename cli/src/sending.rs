//! Asks before texts leave this machine.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use kb_embedders::{Destination, destination};
use kb_engine::{Kb, KbWriter};

use crate::failure::Failure;
use crate::output::Output;
use crate::output::format::{bytes, plural};

/// Bytes of a token of English, on average. Code and other languages have fewer.
const TOKEN_BYTES: u64 = 4;

/// The host that a model sends texts to, if the user has to allow that: it is another machine, and the environment does
/// not allow it already.
pub(crate) fn remote(specification: &str) -> Option<Destination> {
    destination(specification).filter(|place| !place.is_local && !place.is_allowed)
}

/// Says how much a model would send to another machine, and asks unless `yes`. Nothing was sent before.
///
/// # Errors
/// Unless the user allows it, and those of reading the file.
pub(crate) fn allow(
    file: &Path,
    specification: &str,
    name: Option<&str>,
    yes: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    let Some(place) = remote(specification) else {
        return Ok(());
    };
    let column = || {
        let columns = Kb::open(file)?.vector_columns()?;
        let made = columns.into_iter().find(|column| {
            let card = column.card.as_ref();
            card.is_some_and(|card| card.location == place.location)
        });
        Ok(made.map(|column| column.name))
    };
    let waiting = match name {
        Some(name) => Ok(Some(name.to_owned())),
        None => column(),
    };
    let waiting = waiting.and_then(|name| KbWriter::open(file)?.waiting_texts(name.as_deref()));
    let waiting = waiting.map_err(|error| Failure::from_engine(error, "kb reembed", file))?;
    let amount = format!(
        "{} (about {}, {})",
        plural(waiting.texts, "text"),
        plural(waiting.bytes.div_ceil(TOKEN_BYTES), "token"),
        bytes(waiting.bytes)
    );
    let host = output.name(&place.host).into_owned();
    if yes {
        output.note(&format!("sending {amount} to {host}"));
        return Ok(());
    }
    let can_answer = io::stdin().is_terminal() && output.stderr_is_terminal();
    if can_answer && asked(&format!("Send {amount} to {host}? [y/N] ")) {
        return Ok(());
    }
    Err(refused(&format!("{amount} would be sent to {host}")))
}

/// What is said where nobody allowed it.
pub(crate) fn refused(what: &str) -> Failure {
    let hint = Some("--yes sends them".to_owned());
    let message = format!("{what}; nothing was sent");
    Failure::new("INVALID_ARGUMENT", message, hint)
}

/// Asks on the terminal.
pub(crate) fn asked(question: &str) -> bool {
    let mut stderr = io::stderr();
    let mut answer = String::new();
    let read = write!(stderr, "{question}")
        .and_then(|()| stderr.flush())
        .and_then(|()| io::stdin().read_line(&mut answer));
    let answer = answer.trim();
    read.is_ok()
        && ["y", "yes"]
            .iter()
            .any(|yes| answer.eq_ignore_ascii_case(yes))
}
