//! `kb mcp --install` and `--uninstall`: adds the server to the configuration of a host, or removes it.

use std::path::{Path, PathBuf};

use kb_mcp::hosts::{Change, Entry, Folders, Host, InstallError, file_of_project};

use crate::args::McpArguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// Adds the server to the configuration of `host`.
pub(super) fn install(
    host: Host,
    entry: &Entry,
    arguments: &McpArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let file = file_of(host, arguments)?;
    let name = &arguments.server_name;
    let change = kb_mcp::hosts::install(host, &file, name, entry);
    let change = change.map_err(|error| refused(&error, &file, name))?;
    finish(&change, &file, arguments, "already has this server", output)?;
    if host == Host::Claude && !arguments.project && !arguments.dry_run {
        output.hint(
            "this is the file of Claude Code; Claude Desktop uses claude_desktop_config.json",
        );
    }
    Ok(Exit::Found)
}

/// Removes the server.
pub(super) fn uninstall(
    host: Host,
    arguments: &McpArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let file = file_of(host, arguments)?;
    let name = &arguments.server_name;
    let change = kb_mcp::hosts::uninstall(host, &file, name);
    let change = change.map_err(|error| refused(&error, &file, name))?;
    let nothing = format!("has no server called {name}");
    let is_changed = finish(&change, &file, arguments, &nothing, output)?;
    Ok(if is_changed {
        Exit::Found
    } else {
        Exit::Nothing
    })
}

fn file_of(host: Host, arguments: &McpArguments) -> Result<PathBuf, Failure> {
    if arguments.project {
        let here = std::env::current_dir();
        let here = here.map_err(|error| Failure::io("find the current folder", &error))?;
        return Ok(file_of_project(host, &here));
    }
    let folders = Folders::of_user();
    let folders = folders.ok_or_else(|| {
        let hint = "--project changes the configuration in this folder instead".to_owned();
        Failure::usage("this user has no home folder".to_owned(), Some(hint))
    })?;
    Ok(folders.file_of(host))
}

/// Makes the change, or prints it with --dry-run. Returns whether there is a change.
fn finish(
    change: &Change,
    file: &Path,
    arguments: &McpArguments,
    nothing: &str,
    output: &mut Output,
) -> Result<bool, Failure> {
    let shown = file.display();
    if change.is_empty() {
        output.note(&format!("{shown} {nothing}"));
        return Ok(false);
    }
    if arguments.dry_run {
        output.line(&format!("{shown}:"))?;
        output.write(&kb_engine::escape::escape_text(&change.diff()))?;
        output.flush()?;
        return Ok(true);
    }
    let backup = change.apply();
    let backup = backup.map_err(|error| refused(&error, file, &arguments.server_name))?;
    output.line(&format!("changed {shown}"))?;
    output.flush()?;
    if let Some(backup) = backup {
        output.note(&format!("backup of the old file: {}", backup.display()));
    }
    Ok(true)
}

fn refused(error: &InstallError, file: &Path, name: &str) -> Failure {
    let hint = match error {
        InstallError::Io(error) => {
            return Failure::io(&format!("change {}", file.display()), error);
        }
        InstallError::Broken(_) => {
            "the file was not changed; --print-config prints the entry to add by hand".to_owned()
        }
        InstallError::NameTaken => format!("choose another name than {name} with --server-name"),
        InstallError::ServesOthers(_) => format!(
            "add this server under another name with --server-name; or remove the other one with --uninstall and \
             --server-name {name}"
        ),
    };
    Failure::usage(format!("{}: {error}", file.display()), Some(hint))
}
