//! Files that name the archives of all systems: checksums, the Homebrew formula, the npm packages.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use xtask::repository::root;

use super::archive;
use super::third_party::json;
use super::workspace::workspace_value;

/// Targets with archives, and what npm calls their systems and processors.
const TARGETS: [(&str, &str, &str); 5] = [
    ("x86_64-unknown-linux-musl", "linux", "x64"),
    ("aarch64-unknown-linux-musl", "linux", "arm64"),
    ("x86_64-apple-darwin", "darwin", "x64"),
    ("aarch64-apple-darwin", "darwin", "arm64"),
    ("x86_64-pc-windows-msvc", "win32", "x64"),
];

/// The name of the package that everybody installs.
const NPM_NAME: &str = "kbfile";

/// Writes all of it beside the archives. Targets without an archive are left out with a word.
pub(super) fn write(folder: &Path) -> Result<()> {
    let version = workspace_value("version")?;
    let mut sums = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_file() && name != "SHA256SUMS" && name != "kb.rb" {
            sums.insert(name, sha256(&path)?);
        }
    }
    let lines: Vec<String> = sums
        .iter()
        .map(|(name, sum)| format!("{sum}  {name}\n"))
        .collect();
    fs::write(folder.join("SHA256SUMS"), lines.concat())?;
    println!("SHA256SUMS: {} files", lines.len());
    write_formula(folder, &version, &sums)?;
    write_npm(folder, &version)
}

fn sha256(file: &Path) -> Result<String> {
    let mut command = Command::new("sha256sum");
    let output = command.arg(file).output().context("sha256sum is needed")?;
    let text = String::from_utf8_lossy(&output.stdout);
    // A name with a backslash puts one before the sum.
    let sum = text.trim_start_matches('\\').split(' ').next();
    match sum {
        Some(sum) if output.status.success() && sum.len() == 64 => Ok(sum.to_owned()),
        _ => bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)),
    }
}

fn archive_name(version: &str, target: &str) -> String {
    let suffix = if target.contains("windows") {
        "zip"
    } else {
        "tar.gz"
    };
    format!("kb-{version}-{target}.{suffix}")
}

fn write_formula(folder: &Path, version: &str, sums: &BTreeMap<String, String>) -> Result<()> {
    let template = fs::read_to_string(root().join("packaging/kb.rb"))?;
    let mut formula = template
        .replace("{repository}", &workspace_value("repository")?)
        .replace("{version}", version);
    // The first line explains the template.
    if let Some((_, rest)) = formula.split_once('\n') {
        formula = rest.to_owned();
    }
    for (target, system, _) in TARGETS {
        if system == "win32" {
            continue;
        }
        let Some(sum) = sums.get(&archive_name(version, target)) else {
            println!("no kb.rb: there is no archive for {target}");
            return Ok(());
        };
        formula = formula.replace(&format!("{{sha256 {target}}}"), sum);
    }
    fs::write(folder.join("kb.rb"), formula)?;
    println!("kb.rb");
    Ok(())
}

/// A folder for each package below `npm`: one for each system, and the one that depends on all.
fn write_npm(folder: &Path, version: &str) -> Result<()> {
    let npm = folder.join("npm");
    let _ = fs::remove_dir_all(&npm);
    let mut dependencies = Vec::new();
    for (target, system, processor) in TARGETS {
        let archive = folder.join(archive_name(version, target));
        if !archive.is_file() {
            println!("no npm package for {target}: there is no archive");
            continue;
        }
        let name = format!("{NPM_NAME}-{system}-{processor}");
        let package = npm.join(&name);
        fs::create_dir_all(&package)?;
        let unpacked = tempfile::tempdir()?;
        archive::unpack(&archive, unpacked.path())?;
        let top = unpacked.path().join(format!("kb-{version}-{target}"));
        let program = if system == "win32" { "kb.exe" } else { "kb" };
        for file in [
            program,
            "LICENSE-APACHE",
            "LICENSE-MIT",
            "MODEL.md",
            "THIRD-PARTY.txt",
        ] {
            fs::copy(top.join(file), package.join(file)).with_context(|| file.to_owned())?;
        }
        let description = format!("The program kb for {target}, a part of {NPM_NAME}");
        let mut fields = common(&name, version, &description)?;
        fields.push(format!("\"os\": [{}]", json(system)));
        fields.push(format!("\"cpu\": [{}]", json(processor)));
        write_package(&package, &fields)?;
        dependencies.push(format!("    {}: {}", json(&name), json(version)));
    }
    let package = npm.join(NPM_NAME);
    fs::create_dir_all(&package)?;
    for file in ["kb.js", "README.md"] {
        fs::copy(root().join("packaging/npm").join(file), package.join(file))?;
    }
    for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(root().join(file), package.join(file))?;
    }
    let description =
        "Knowledge base in one file, searched by words and by meaning: the command kb";
    let mut fields = common(NPM_NAME, version, description)?;
    fields.push("\"bin\": {\"kb\": \"kb.js\", \"kbfile\": \"kb.js\"}".to_owned());
    fields.push("\"engines\": {\"node\": \">=18\"}".to_owned());
    let dependencies = dependencies.join(",\n");
    fields.push(format!(
        "\"optionalDependencies\": {{\n{dependencies}\n  }}"
    ));
    write_package(&package, &fields)?;
    println!("npm: {NPM_NAME} and what it depends on");
    Ok(())
}

/// The fields that all packages have.
fn common(name: &str, version: &str, description: &str) -> Result<Vec<String>> {
    let repository = workspace_value("repository")?;
    Ok(vec![
        format!("\"name\": {}", json(name)),
        format!("\"version\": {}", json(version)),
        format!("\"description\": {}", json(description)),
        format!("\"license\": {}", json(&workspace_value("license")?)),
        format!(
            "\"repository\": {{\"type\": \"git\", \"url\": {}}}",
            json(&format!("git+{repository}.git"))
        ),
    ])
}

fn write_package(package: &Path, fields: &[String]) -> Result<()> {
    let text = format!("{{\n  {}\n}}\n", fields.join(",\n  "));
    fs::write(package.join("package.json"), text)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_names_every_archive_that_it_can_have() {
        let template = fs::read_to_string(root().join("packaging/kb.rb")).unwrap();
        for (target, system, _) in TARGETS {
            let is_named = template.contains(&format!("{{sha256 {target}}}"));
            assert_eq!(is_named, system != "win32", "{target}");
            let archive = archive_name("{version}", target);
            assert_eq!(template.contains(&archive), system != "win32", "{archive}");
        }
    }
}
