//! `kb man`: the manual page of the command or of one verb.

use crate::args::{self, ManArguments};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

pub(crate) fn run(arguments: &ManArguments, output: &mut Output) -> Result<Exit, Failure> {
    let mut command = args::command();
    command.build();
    let page_of = match &arguments.verb {
        None => command,
        Some(verb) => match command.find_subcommand(verb) {
            Some(found) => found.clone(),
            None => {
                let verbs: Vec<&str> = command
                    .get_subcommands()
                    .map(clap::Command::get_name)
                    .collect();
                return Err(Failure::usage(
                    format!("no verb {verb:?}"),
                    Some(format!("the verbs are {}", verbs.join(", "))),
                ));
            }
        },
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(page_of)
        .source(format!("kb {}", env!("CARGO_PKG_VERSION")))
        .render(&mut page)
        .map_err(|error| Failure::io("make the page", &error))?;
    output.write(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Found)
}
