//! `cargo xtask dist`: what a release offers for one target, built, packed, unpacked in a clean folder and tried.
//!
//! A release runs it once on each system; `dist manifests` then makes what names the archives of all of them.

mod archive;
mod build;
mod deb;
pub(crate) mod kernels;
mod manifests;
mod options;
mod stage;
mod third_party;
mod trial;
mod workspace;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use options::Options;
use workspace::workspace_value;
use xtask::repository::target;

/// Runs the verb.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    if let [verb, folder] = arguments
        && verb == "manifests"
    {
        manifests::write(&PathBuf::from(folder))?;
        return Ok(true);
    }
    let options = Options::parse(arguments, "dist")?;
    let version = workspace_value("version")?;
    let program = match &options.program {
        Some(program) => program.clone(),
        None => build::program(&options)?,
    };
    let packages = target().join("packages");
    fs::create_dir_all(&packages)?;
    let stage = stage::fill(&options, &version, &program)?;
    let archive = archive::pack(&stage, options.is_windows(), &packages)?;
    tell(&archive)?;
    trial::of_archive(&options, &archive)?;
    if options.is_linux() && options.model.is_none() {
        match deb::pack(&options, &version, &stage, &packages)? {
            Some(deb) => {
                tell(&deb)?;
                trial::of_deb(&options, &deb)?;
            }
            None => println!("no .deb: dpkg-deb is not installed"),
        }
    }
    Ok(true)
}

fn tell(file: &Path) -> Result<()> {
    println!("{}: {} bytes", file.display(), fs::metadata(file)?.len());
    Ok(())
}
