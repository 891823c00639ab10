//! What the command line of `cargo xtask dist` asks for.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// What is built, and how.
#[derive(Debug, Default)]
pub(super) struct Options {
    /// Triple of the target.
    pub(super) target: String,
    /// The profile of cargo.
    pub(super) profile: String,
    /// Starts a program of the target, where this machine cannot by itself.
    pub(super) runner: Option<String>,
    /// Whether the standard library is compiled too.
    pub(super) builds_std: bool,
    /// A program that was built before.
    pub(super) program: Option<PathBuf>,
    /// The folder of the model that becomes a part of the program: all-MiniLM-L6-v2, as `kb models add` makes it.
    pub(super) model: Option<PathBuf>,
}

impl Options {
    /// Reads the arguments of a verb; `profile` is the one it takes by itself.
    pub(super) fn parse(arguments: &[String], profile: &str) -> Result<Options> {
        let mut options = Options {
            target: default_target()?,
            profile: profile.to_owned(),
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
                "--full" => options.model = Some(model(&value()?)?),
                other => {
                    bail!(
                        "there are --target, --profile, --runner, --build-std, --program, --full, not {other:?}"
                    )
                }
            }
        }
        Ok(options)
    }

    /// What packages are called.
    pub(super) fn package(&self) -> &'static str {
        match self.model {
            Some(_) => "kb-full",
            None => "kb",
        }
    }

    pub(super) fn is_windows(&self) -> bool {
        self.target.contains("windows")
    }

    pub(super) fn is_linux(&self) -> bool {
        self.target.contains("linux")
    }

    pub(super) fn program_name(&self) -> &'static str {
        if self.is_windows() { "kb.exe" } else { "kb" }
    }

    /// The variable by which cargo learns what starts the tests of the target.
    pub(super) fn runner_variable(&self) -> String {
        let target = self.target.to_uppercase().replace(['-', '.'], "_");
        format!("CARGO_TARGET_{target}_RUNNER")
    }

    /// A command that starts this program of the target.
    pub(super) fn start(&self, program: &Path) -> Command {
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

/// A folder of a model with its licences: the program includes files by their absolute names.
fn model(folder: &str) -> Result<PathBuf> {
    let folder = Path::new(folder);
    for name in [
        "model.onnx",
        "tokenizer.json",
        "NOTICE.txt",
        "licences/1.txt",
    ] {
        if !folder.join(name).is_file() {
            bail!(
                "no {name} in {}: `kb models add` makes such a folder",
                folder.display()
            );
        }
    }
    Ok(folder.canonicalize()?)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_flag_is_refused() {
        let parse = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|&it| it.to_owned()).collect();
            Options::parse(&arguments, "dist")
        };
        assert!(parse(&["--runner"]).is_err());
        assert!(parse(&["--fast"]).is_err());
        let folder = tempfile::tempdir().unwrap();
        let full = ["--full", folder.path().to_str().unwrap()];
        let error = parse(&full).unwrap_err().to_string();
        assert!(error.contains("no model.onnx"), "{error}");
        std::fs::create_dir(folder.path().join("licences")).unwrap();
        for name in [
            "model.onnx",
            "tokenizer.json",
            "NOTICE.txt",
            "licences/1.txt",
        ] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(parse(&full).unwrap().package(), "kb-full");
        let options = parse(&["--target", "x86_64-pc-windows-msvc"]).unwrap();
        assert_eq!(options.package(), "kb");
        assert_eq!(options.program_name(), "kb.exe");
        assert_eq!(
            options.runner_variable(),
            "CARGO_TARGET_X86_64_PC_WINDOWS_MSVC_RUNNER"
        );
    }
}
