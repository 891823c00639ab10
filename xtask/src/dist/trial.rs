//! The first steps of a new user with a package: unpack it in a clean folder, index, search, seal.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use xtask::repository::{self, root};

use super::archive;
use super::options::Options;

/// A document that is read in a worker process, by the program that starts itself.
const OFFICE_DOCUMENT: &str = "tests/corpus/documents/numbered-headings.docx";

/// Tries an archive.
pub(super) fn of_archive(options: &Options, archive: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    archive::unpack(archive, folder.path())?;
    let top = fs::read_dir(folder.path())?.next();
    let top = top.context("an empty archive")??.path();
    for name in [
        "README.md",
        "LICENSE-MIT",
        "THIRD-PARTY.txt",
        "sbom.cdx.json",
        "man/kb.1",
    ] {
        if !top.join(name).is_file() {
            bail!("no {name} in {}", archive.display());
        }
    }
    of_program(options, &top.join(options.program_name()), folder.path())
}

/// Tries a package of Debian, without installing it: its files as they would lie below `/`.
pub(super) fn of_deb(options: &Options, deb: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let tree = folder.path().join("root");
    repository::run(Command::new("dpkg-deb").arg("-x").arg(deb).arg(&tree))?;
    of_program(options, &tree.join("usr/bin/kb"), folder.path())
}

fn of_program(options: &Options, program: &Path, folder: &Path) -> Result<()> {
    let notes = folder.join("notes");
    fs::create_dir_all(&notes)?;
    fs::write(
        notes.join("tides.md"),
        "# Tides\n\nThe moon pulls at the sea, which rises twice a day.\n",
    )?;
    fs::write(
        notes.join("tide.rs"),
        "/// Hours between high waters.\npub fn high_water() -> f64 { 12.4 }\n",
    )?;
    // A program that is run for another processor cannot start itself without being told by whom.
    if options.runner.is_none() {
        fs::copy(root().join(OFFICE_DOCUMENT), notes.join("letter.docx"))?;
    }
    let run = |arguments: &[&str]| answer(options, program, folder, arguments);
    let version = run(&["--version"])?;
    expect(&version, "(format ")?;
    run(&["index", "notes", "-o", "notes.kb", "-q"])?;
    expect(
        &run(&["search", "-f", "notes.kb", "why does the sea rise"])?,
        "tides.md",
    )?;
    expect(
        &run(&["symbols", "-f", "notes.kb", "high_water"])?,
        "tide.rs",
    )?;
    if options.runner.is_none() {
        expect(&run(&["ls", "-f", "notes.kb"])?, "letter.docx")?;
    }
    run(&["seal", "notes.kb", "-o", "sealed.kb"])?;
    run(&["verify", "sealed.kb", "--deep"])?;
    expect(
        &run(&["search", "-f", "sealed.kb", "--json", "moon"])?,
        "tides.md",
    )?;
    print!("tried in a clean folder: {version}");
    Ok(())
}

/// What the program prints in a folder, without anything from the environment of the caller.
fn answer(options: &Options, program: &Path, folder: &Path, arguments: &[&str]) -> Result<String> {
    let mut command = options.start(program);
    command.args(arguments).current_dir(folder).env_clear();
    command.env("HOME", folder);
    // Programs of Windows do not start without it.
    if let Some(system) = std::env::var_os("SystemRoot") {
        command.env("SystemRoot", system);
    }
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{command:?} ended with {}\n{printed}{said}", output.status);
    }
    Ok(printed)
}

fn expect(printed: &str, wanted: &str) -> Result<()> {
    if printed.contains(wanted) {
        return Ok(());
    }
    bail!("{wanted:?} is missing in\n{printed}");
}
