//! The package of Debian and its kin.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use xtask::repository::{self, target};

use super::options::Options;
use super::workspace::{commit_time, workspace_value};

/// What follows the fields that depend on the build in the control file.
const DESCRIPTION: &str = "\
Section: utils
Priority: optional
Description: knowledge base in one file, searched by words and by meaning
 kb turns folders of documents and code into one .kb file that answers
 questions by keyword, by meaning, or both. The file holds the text, its
 structure, a keyword index and a vector index. No server and no network
 are needed.
 .
 The package has the command kb with its MCP server, completions for bash,
 zsh and fish, and manual pages.
";

/// Scripts of the stage, and where Debian's shells look for them.
const COMPLETIONS: [(&str, &str); 3] = [
    ("kb.bash", "usr/share/bash-completion/completions/kb"),
    ("_kb", "usr/share/zsh/vendor-completions/_kb"),
    ("kb.fish", "usr/share/fish/vendor_completions.d/kb.fish"),
];

/// Makes the package of a stage; `None` where `dpkg-deb` is missing.
pub(super) fn pack(
    options: &Options,
    version: &str,
    stage: &Path,
    packages: &Path,
) -> Result<Option<PathBuf>> {
    let mut known = Command::new("dpkg-deb");
    known.arg("--version").stdout(Stdio::null());
    if !known.status().is_ok_and(|status| status.success()) {
        return Ok(None);
    }
    let architecture = architecture(&options.target)?;
    let tree = target()
        .join("dist-stage")
        .join(format!("deb-{architecture}"));
    let _ = fs::remove_dir_all(&tree);
    fill(&tree, stage)?;
    let control = control(version, architecture, kibibytes(&tree)?)?;
    fs::create_dir_all(tree.join("DEBIAN"))?;
    fs::write(tree.join("DEBIAN/control"), control)?;
    let deb = packages.join(format!("kb_{version}_{architecture}.deb"));
    let mut build = Command::new("dpkg-deb");
    build
        .args(["--build", "--root-owner-group"])
        .arg(&tree)
        .arg(&deb)
        .env("SOURCE_DATE_EPOCH", commit_time())
        .stdout(Stdio::null());
    repository::run(&mut build)?;
    Ok(Some(deb))
}

fn fill(tree: &Path, stage: &Path) -> Result<()> {
    place(&stage.join("kb"), &tree.join("usr/bin/kb"))?;
    for (from, to) in COMPLETIONS {
        place(&stage.join("completions").join(from), &tree.join(to))?;
    }
    let pages = tree.join("usr/share/man/man1");
    for page in fs::read_dir(stage.join("man"))? {
        let page = page?.path();
        let name = page.file_name().context("a page without a name")?;
        place(&page, &pages.join(name))?;
        gzip(&pages.join(name))?;
    }
    let documents = tree.join("usr/share/doc/kb");
    place(&stage.join("CHANGELOG.md"), &documents.join("changelog"))?;
    gzip(&documents.join("changelog"))?;
    for name in ["LICENSE-APACHE", "LICENSE-MIT", "MODEL.md", "sbom.cdx.json"] {
        place(&stage.join(name), &documents.join(name))?;
    }
    let mut copyright = fs::read_to_string(stage.join("LICENSE-MIT"))?;
    copyright.push_str(
        "\nOr, at your choice, the Apache License 2.0: /usr/share/common-licenses/Apache-2.0\n\n",
    );
    copyright.push_str(&fs::read_to_string(stage.join("THIRD-PARTY.txt"))?);
    fs::write(documents.join("copyright"), copyright)?;
    Ok(())
}

fn place(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to).with_context(|| from.display().to_string())?;
    Ok(())
}

/// In place, without a name or time in it.
fn gzip(file: &Path) -> Result<()> {
    repository::run(Command::new("gzip").args(["-9", "-n", "-f"]).arg(file))
}

fn control(version: &str, architecture: &str, kibibytes: u64) -> Result<String> {
    let maintainer = workspace_value("maintainer")?;
    let homepage = workspace_value("repository")?;
    Ok(format!(
        "Package: kb\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: {maintainer}\n\
         Installed-Size: {kibibytes}\nHomepage: {homepage}\n{DESCRIPTION}"
    ))
}

/// How Debian calls the processor of a target.
fn architecture(target: &str) -> Result<&'static str> {
    match target.split('-').next() {
        Some("x86_64") => Ok("amd64"),
        Some("aarch64") => Ok("arm64"),
        Some("riscv64gc") => Ok("riscv64"),
        _ => bail!("no name of Debian is known for {target}"),
    }
}

/// The size of all files of a folder.
fn kibibytes(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sum += kibibytes(&entry.path())?;
        } else {
            sum += entry.metadata()?.len().div_ceil(1024);
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_file_names_what_dpkg_asks_for() {
        let control = control(
            "0.1.0",
            architecture("x86_64-unknown-linux-musl").unwrap(),
            7,
        );
        let control = control.unwrap();
        for field in [
            "Package: kb",
            "Version: 0.1.0",
            "Architecture: amd64",
            "Maintainer: ",
        ] {
            assert!(
                control.lines().any(|line| line.starts_with(field)),
                "{field}"
            );
        }
        assert!(architecture("sparc64-unknown-linux-gnu").is_err());
    }
}
