//! `cargo xtask dist`: what a release offers for one target, built, packed, unpacked in a clean folder and tried.
//!
//! A release runs it once on each system; `dist manifests` then makes what names the archives of all of them.

mod archive;
mod build;
mod deb;
mod manifests;
mod stage;
mod third_party;
mod trial;

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use xtask::repository::{root, target};

/// What is built, and how.
#[derive(Debug, Default)]
struct Options {
    /// Triple of the target.
    target: String,
    /// The profile of cargo.
    profile: String,
    /// Starts a program of the target, where this machine cannot by itself.
    runner: Option<String>,
    /// Whether the standard library is compiled too.
    builds_std: bool,
    /// A program that was built before.
    program: Option<PathBuf>,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options> {
        let mut options = Options {
            target: default_target()?,
            profile: "dist".to_owned(),
            ..Options::default()
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || {
                let value = rest.next().cloned();
                value.with_context(|| format!("{argument} needs a value"))
            };
            match argument.as_str() {
                "--target" => options.target = value()?,
                "--profile" => options.profile = value()?,
                "--runner" => options.runner = Some(value()?),
                "--build-std" => options.builds_std = true,
                "--program" => options.program = Some(PathBuf::from(value()?)),
                other => {
                    bail!(
                        "dist knows --target, --profile, --runner, --build-std, --program, not {other:?}"
                    )
                }
            }
        }
        Ok(options)
    }

    fn is_windows(&self) -> bool {
        self.target.contains("windows")
    }

    fn is_linux(&self) -> bool {
        self.target.contains("linux")
    }

    fn program_name(&self) -> &'static str {
        if self.is_windows() { "kb.exe" } else { "kb" }
    }

    /// A command that starts this program of the target.
    fn start(&self, program: &std::path::Path) -> Command {
        match &self.runner {
            Some(runner) => {
                let mut command = Command::new(runner);
                command.arg(program);
                command
            }
            None => Command::new(program),
        }
    }
}

/// Runs the verb.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    if let [verb, folder] = arguments
        && verb == "manifests"
    {
        manifests::write(&PathBuf::from(folder))?;
        return Ok(true);
    }
    let options = Options::parse(arguments)?;
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
    if options.is_linux() {
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

fn tell(file: &std::path::Path) -> Result<()> {
    println!("{}: {} bytes", file.display(), fs::metadata(file)?.len());
    Ok(())
}

/// The target of this machine. On Linux it is musl: one file that runs on every distribution.
fn default_target() -> Result<String> {
    if cfg!(target_os = "linux") {
        return Ok(format!("{}-unknown-linux-musl", env::consts::ARCH));
    }
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().context("rustc")?;
    let text = String::from_utf8(output.stdout)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV names no host")?.to_owned())
}

/// The text of a key that stands once in the manifest of the workspace, such as `version` or `repository`.
fn workspace_value(key: &str) -> Result<String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml"))?;
    let start = format!("{key} = \"");
    let line = manifest.lines().find_map(|line| line.strip_prefix(&start));
    let value = line.and_then(|rest| rest.split('"').next());
    Ok(value
        .with_context(|| format!("no {key} in Cargo.toml"))?
        .to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_workspace_are_found() {
        assert_eq!(workspace_value("edition").unwrap(), "2024");
        assert!(
            workspace_value("repository")
                .unwrap()
                .starts_with("https://")
        );
        assert!(workspace_value("nothing").is_err());
    }

    #[test]
    fn a_wrong_flag_is_refused() {
        assert!(Options::parse(&["--runner".to_owned()]).is_err());
        assert!(Options::parse(&["--fast".to_owned()]).is_err());
        let options = Options::parse(&["--target".to_owned(), "x86_64-pc-windows-msvc".to_owned()]);
        assert_eq!(options.unwrap().program_name(), "kb.exe");
    }
}
