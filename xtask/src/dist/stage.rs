//! The folder that becomes the archive: the program, its completions, manual pages and third-party licences.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use xtask::repository::{root, target};

use super::options::Options;
use super::third_party;

/// Shells and how their scripts are named.
const SHELLS: [(&str, &str); 4] = [
    ("bash", "kb.bash"),
    ("zsh", "_kb"),
    ("fish", "kb.fish"),
    ("powershell", "_kb.ps1"),
];

/// Files of the repository, and their names in the archive.
const COPIED: [(&str, &str); 5] = [
    ("README.md", "README.md"),
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("LICENSE-APACHE", "LICENSE-APACHE"),
    ("LICENSE-MIT", "LICENSE-MIT"),
    ("engine/model/README.md", "MODEL.md"),
];

/// A folder below the target folder, named as the archive is.
pub(super) fn fill(options: &Options, version: &str, program: &Path) -> Result<PathBuf> {
    let name = format!("{}-{version}-{}", options.package(), options.target);
    let stage = target().join("dist-stage").join(name);
    let _ = fs::remove_dir_all(&stage);
    fs::create_dir_all(stage.join("completions"))?;
    fs::create_dir_all(stage.join("man"))?;
    fs::copy(program, stage.join(options.program_name()))?;
    for (from, to) in COPIED {
        fs::copy(root().join(from), stage.join(to)).with_context(|| from.to_owned())?;
    }
    if let Some(model) = &options.model {
        // Who gives the model away gives its licences with it; that of Apache is among those of the program.
        fs::copy(model.join("NOTICE.txt"), stage.join("MINILM-NOTICE.txt"))?;
        fs::create_dir_all(stage.join("minilm-licences"))?;
        for entry in fs::read_dir(model.join("licences"))? {
            let entry = entry?;
            fs::copy(
                entry.path(),
                stage.join("minilm-licences").join(entry.file_name()),
            )?;
        }
    }
    for (shell, file) in SHELLS {
        let script = answer(options, program, &["completions", shell])?;
        fs::write(stage.join("completions").join(file), script)?;
    }
    fs::write(stage.join("man/kb.1"), answer(options, program, &["man"])?)?;
    for verb in verbs(&answer(options, program, &["--help"])?) {
        let page = answer(options, program, &["man", &verb])?;
        fs::write(stage.join(format!("man/kb-{verb}.1")), page)?;
    }
    third_party::write(&options.target, version, &stage)?;
    Ok(stage)
}

/// What the program prints.
fn answer(options: &Options, program: &Path, arguments: &[&str]) -> Result<String> {
    let mut command = options.start(program);
    let output = command
        .args(arguments)
        .output()
        .with_context(|| format!("{command:?} (for a target of another processor: --runner)"))?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// The verbs that a page of help lists.
fn verbs(help: &str) -> Vec<String> {
    let lines = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"));
    let names = lines
        .skip(1)
        .take_while(|line| !line.is_empty())
        // Further lines of a description are indented more.
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_are_read_from_the_help() {
        let help = "Search a folder\n\nUsage: kb\n\nCommands:\n  index   Make a file\n          of a folder\n  search  Ask it\n\nOptions:\n  -h\n";
        assert_eq!(verbs(help), ["index", "search"]);
    }
}
