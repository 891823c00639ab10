//! `kb serve`: pages and an HTTP API over files.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use kb_mcp::{HttpOptions, Started};
use kb_web::SiteOptions;

use super::served;
use crate::args::ServeArguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::log;

/// The verb, as errors name it.
const VERB: &str = "kb serve";

pub(crate) fn run(arguments: &ServeArguments) -> Result<Exit, Failure> {
    let options = served::options(&arguments.served, VERB)?;
    for (name, path) in &options.files {
        log(&format!("serving {} as {name:?}", shown(path)));
    }
    let note = Arc::clone(&options.note);
    let opening: Started = Arc::new(move |address| {
        if let Err(error) = open(address) {
            note(&format!("no browser was opened: {error}"));
        }
    });
    let http = HttpOptions {
        address: arguments.listen.clone(),
        allow_hosts: arguments.allow_host.clone(),
        allow_origins: arguments.allow_origin.clone(),
        tokens: arguments.tokens.clone(),
        started: arguments.open.then_some(opening),
    };
    let base_path = base_path(&arguments.base_path)?;
    let site = SiteOptions { base_path };
    let make = |files| kb_web::site(files, &site);
    let served = kb_mcp::serve_http(&options, &http, Some(&make));
    served.map_err(|error| served::explain(error, VERB))?;
    Ok(served::ended())
}

/// Checks what comes before every address: names of letters, digits and `-._~`, as addresses have them.
fn base_path(given: &str) -> Result<String, Failure> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~/".contains(c);
    let is_name = |name: &str| name != "." && name != "..";
    if given.chars().all(is_plain) && given.split('/').all(is_name) && !given.contains("//") {
        return Ok(given.to_owned());
    }
    Err(Failure::usage(
        format!("--base-path {given:?} cannot be a part of an address"),
        Some("use letters, digits and -._~, such as /kb".to_owned()),
    ))
}

fn shown(path: &Path) -> String {
    let absolute = std::path::absolute(path);
    absolute.as_deref().unwrap_or(path).display().to_string()
}

/// Lets the system open an address.
fn open(address: &str) -> io::Result<()> {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut command = Command::new("rundll32");
        command.arg("url.dll,FileProtocolHandler");
        command
    } else {
        Command::new("xdg-open")
    };
    let quiet = command
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    quiet.spawn().map(drop)
}
