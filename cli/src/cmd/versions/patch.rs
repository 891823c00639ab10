//! `kb patch`: makes the newer file of an older one and a patch.

use kb_engine::{PatchOptions, apply_patch};

use super::{explain, show};
use crate::args::PatchArguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::progress::Meter;
use crate::writer_wait::{stop_if, stop_on_interrupt};

pub(crate) fn run(arguments: &PatchArguments, output: &mut Output) -> Result<Exit, Failure> {
    let PatchArguments {
        base,
        patch,
        output: new,
        ..
    } = arguments;
    for file in [base, patch] {
        if !file.exists() {
            let error = kb_engine::Error::PathNotFound { path: file.clone() };
            return Err(Failure::from_engine(error, "kb patch", file));
        }
    }
    let cancel = stop_on_interrupt()?;
    let meter = Meter::of_run(output.stderr_is_terminal(), false);
    let options = PatchOptions::new().replace(arguments.force);
    let made = apply_patch(base, patch, new, &options, &mut |progress| {
        meter.show(progress);
        stop_if(&cancel)
    });
    meter.clear();
    let report = made.map_err(|error| explain(error, "kb patch", new))?;
    show(&report, new, arguments.json.json, output)
}
