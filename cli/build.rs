//! Hands the commit of the checkout to `kb --version`, as `KB_COMMIT`. Without git or a checkout there is none.

// Lines on the standard output are how a build script talks to cargo.
#![allow(clippy::print_stdout)]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Hexadecimal digits of a commit that are shown: unique in any repository of this size.
const DIGITS: usize = 12;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=KB_COMMIT");
    if let Some(commit) = commit().filter(|commit| is_commit(commit)) {
        let commit: String = commit.chars().take(DIGITS).collect();
        println!("cargo::rustc-env=KB_COMMIT={commit}");
    }
}

/// The commit that is built: named by the packager, by the package of a registry, or by git.
fn commit() -> Option<String> {
    if let Ok(commit) = env::var("KB_COMMIT") {
        return Some(commit);
    }
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    // `cargo package` writes it into what it publishes.
    if let Ok(text) = fs::read_to_string(folder.join(".cargo_vcs_info.json")) {
        let (_, rest) = text.split_once("\"sha1\": \"")?;
        return Some(rest.split('"').next()?.to_owned());
    }
    // In a debug build each commit would compile this crate again.
    if env::var("PROFILE").as_deref() != Ok("release") {
        return None;
    }
    // A vendored copy may lie in the checkout of another project, whose commits say nothing about it.
    let top = PathBuf::from(git(&folder, &["rev-parse", "--show-toplevel"])?);
    if top.canonicalize().ok()? != folder.parent()?.canonicalize().ok()? {
        return None;
    }
    // The log of HEAD grows with every commit and checkout.
    let log = git(&folder, &["rev-parse", "--git-path", "logs/HEAD"])?;
    let log = folder.join(log);
    if log.is_file() {
        println!("cargo::rerun-if-changed={}", log.display());
    }
    git(&folder, &["rev-parse", "HEAD"])
}

/// What git answers in this folder; `None` if there is no git or it refuses.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    let output = command.args(arguments).current_dir(folder).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn is_commit(text: &str) -> bool {
    text.len() >= DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
