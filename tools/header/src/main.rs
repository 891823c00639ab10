//! `cargo xtask header`: compares `ffi/include/kb.h` with what cbindgen makes of the library, or writes it.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[String]) -> Result<bool> {
    let writes = match arguments {
        [] => false,
        [argument] if argument == "--write" => true,
        _ => bail!("header knows --write only"),
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ffi");
    let header = folder.join("include/kb.h");
    let made = generated(&folder)?;
    let committed = fs::read_to_string(&header).unwrap_or_default();
    if made == committed {
        return Ok(true);
    }
    if writes {
        fs::write(&header, made).with_context(|| header.display().to_string())?;
        return Ok(true);
    }
    let line = committed.lines().zip(made.lines());
    let line = line.take_while(|(old, new)| old == new).count() + 1;
    println!(
        "ffi/include/kb.h differs from ffi/src in line {line}: `cargo xtask header --write` writes it"
    );
    Ok(false)
}

/// The header that the sources make.
fn generated(folder: &Path) -> Result<String> {
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml"))
        .map_err(|error| anyhow::anyhow!("ffi/cbindgen.toml: {error}"))?;
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(folder.join("src/lib.rs"))
        .generate()?;
    let mut text = Vec::new();
    bindings.write(&mut text);
    let text = String::from_utf8(text)?;
    let version = env!("CARGO_PKG_VERSION");
    let numbers: Vec<&str> = version.split('.').collect();
    let [major, minor, patch] = numbers.as_slice() else {
        bail!("the version {version} has not three numbers");
    };
    let names = [
        // Everyone writes these: they have the short name.
        ("KB_STATUS_", "KB_"),
        ("@VERSION@", version),
        ("@MAJOR@", major),
        ("@MINOR@", minor),
        ("@PATCH@", patch),
    ];
    let text = names
        .iter()
        .fold(text, |text, (name, value)| text.replace(name, value));
    Ok(for_c(&guarded(&text)?))
}

/// With the trailer inside the guard, behind which cbindgen puts it.
fn guarded(text: &str) -> Result<String> {
    const END: &str = "#endif  /* KB_H */\n";
    let (before, trailer) = text.split_once(END).context("the header has no guard")?;
    Ok(format!("{before}{trailer}\n{END}"))
}

/// Without the sections that speak to callers in Rust.
fn for_c(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut is_safety = false;
    for line in text.lines() {
        let comment = line.trim_start();
        if comment == "// # Safety" {
            is_safety = true;
            // The empty line before it.
            if lines.last().is_some_and(|last| last.trim() == "//") {
                lines.pop();
            }
        }
        if !comment.starts_with("//") {
            is_safety = false;
        }
        if !is_safety {
            lines.push(line.trim_end());
        }
    }
    lines.join("\n") + "\n"
}
