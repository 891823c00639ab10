//! `kb models pull`: downloads a model of a hub and gives it a name.

use std::fs;
use std::io::{self, IsTerminal as _};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use kb_embedders::{Addition, Entry, Hub, Listing, ModelCard};

use super::adding::{add, cache, failed};
use crate::failure::Failure;
use crate::output::Output;
use crate::output::format::{bytes, shell_word};
use crate::output::progress::Meter;
use crate::sending::asked;
use crate::writer_wait::stop_on_interrupt;

/// What the user asks for.
pub(crate) struct Wanted<'a> {
    /// As the hub calls it.
    pub(crate) model: &'a str,
    /// The name that it gets; `None`: the last part of the hub's, in small letters.
    pub(crate) name: Option<&'a str>,
    /// The address of the hub.
    pub(crate) hub: &'a str,
    pub(crate) yes: bool,
    pub(crate) addition: Addition,
}

/// Downloads a model, checks it and gives it a name.
pub(crate) fn pull(
    wanted: &Wanted<'_>,
    json: bool,
    output: &mut Output,
) -> Result<(Entry, Option<ModelCard>), Failure> {
    let cache = cache()?;
    // Before anything is asked of the network.
    if let Some(name) = wanted.name {
        cache.check_free(name).map_err(failed)?;
    }
    let hub = Hub::new(wanted.hub).map_err(failed)?;
    let listing = hub.find(wanted.model).map_err(failed)?;
    let short = listing.short_name();
    let name = wanted.name.unwrap_or(&short);
    cache.check_free(name).map_err(failed)?;
    allow(&listing, wanted, output)?;
    let cancel = stop_on_interrupt()?;
    let meter = Meter::of_run(output.stderr_is_terminal(), json);
    let fetched = hub.fetch(&listing, cache.folder(), &mut |done, total| {
        meter.show_bytes("download", done, total);
        match cancel.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    meter.clear();
    let home = fetched.map_err(|error| {
        let hint = "what was downloaded is kept; run the command again to go on".to_owned();
        Failure::new("EMBEDDING_MODEL_UNAVAILABLE", error.to_string(), Some(hint))
    })?;
    let added = add(name, std::slice::from_ref(&home), &wanted.addition)?;
    // The model is a copy of what is in there.
    let _ = fs::remove_dir_all(&home);
    Ok(added)
}

/// Says what would be downloaded, and asks unless `--yes` is given.
fn allow(listing: &Listing, wanted: &Wanted<'_>, output: &mut Output) -> Result<(), Failure> {
    let what = format!(
        "{} ({}, licence: {}) from {}",
        output.name(&listing.name()),
        bytes(listing.size_bytes()),
        output.name(listing.licence().unwrap_or("not stated")),
        output.name(wanted.hub)
    );
    if wanted.yes {
        output.note(&format!("downloading {what}"));
        return Ok(());
    }
    let can_answer = io::stdin().is_terminal() && output.stderr_is_terminal();
    if can_answer && asked(&format!("Download {what}? [y/N] ")) {
        return Ok(());
    }
    Err(Failure::new(
        "INVALID_ARGUMENT",
        format!("{what} would be downloaded; nothing was"),
        Some(format!(
            "kb models pull {} --yes downloads it",
            shell_word(wanted.model)
        )),
    ))
}
