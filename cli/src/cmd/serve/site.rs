//! `kb site` and `kb info --html`: the pages of `kb serve` as files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kb_mcp::Options;
use kb_web::{ExportError, Exported};

use super::served;
use crate::args::SiteArguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::format::{bytes, plural};
use crate::output::log;

/// The verb, as errors name it.
const VERB: &str = "kb site";

/// Most addresses that are named of those without a file.
const SHOWN: usize = 5;

pub(crate) fn run(arguments: &SiteArguments, output: &mut Output) -> Result<Exit, Failure> {
    let options = options(served::files(&arguments.files, VERB)?, VERB);
    let folder = &arguments.output;
    let written = kb_web::export(&options, folder, &mut |_| ());
    let Exported {
        files,
        bytes: size,
        left_out,
    } = written.map_err(|error| explain(error, VERB))?;
    for address in left_out.iter().take(SHOWN) {
        output.warning(&format!(
            "{address} has no page: its name cannot be that of a file"
        ));
    }
    if left_out.len() > SHOWN {
        let more = plural((left_out.len() - SHOWN) as u64, "other");
        output.warning(&format!("{more} have no page"));
    }
    if !arguments.quiet {
        let name = output
            .stdout_style()
            .path(&output.name(&folder.display().to_string()));
        let files = plural(files, "file");
        output.line(&format!("{name}  {files}, {}", bytes(size)))?;
    }
    Ok(if left_out.is_empty() {
        Exit::Found
    } else {
        Exit::Nothing
    })
}

/// Writes the page about a file.
pub(crate) fn report(file: &Path, to: &Path, output: &mut Output) -> Result<Exit, Failure> {
    const VERB: &str = "kb info --html";
    let named = served::files(&[file.as_os_str().to_owned()], VERB)?;
    let page = kb_web::report(&options(named, VERB)).map_err(|error| explain(error, VERB))?;
    if to == Path::new("-") {
        output.write(&page)?;
        output.flush()?;
        return Ok(Exit::Found);
    }
    fs::write(to, page).map_err(|error| Failure::io(&format!("write {}", to.display()), &error))?;
    Ok(Exit::Found)
}

fn options(files: Vec<(String, PathBuf)>, command: &'static str) -> Options {
    Options {
        command,
        files,
        allow_write: false,
        allow_roots: Vec::new(),
        tools: None,
        tool_prefix: None,
        threads: 1,
        note: Arc::new(log),
        opened: None,
    }
}

fn explain(error: ExportError, verb: &str) -> Failure {
    match error {
        ExportError::Start(error) => served::explain(error, verb),
        ExportError::NotEmpty(folder) => {
            let message = format!("{} is not empty", folder.display());
            let hint = Some("name a new folder with -o".to_owned());
            Failure::new("FILE_EXISTS", message, hint)
        }
        ExportError::Io { path, error } => {
            Failure::io(&format!("write {}", path.display()), &error)
        }
        ExportError::Page(page) => {
            Failure::new("INTERNAL", format!("a page cannot be made: {page}"), None)
        }
        _ => Failure::new("INTERNAL", "the pages cannot be made", None),
    }
}
