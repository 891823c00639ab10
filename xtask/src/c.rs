//! `cargo xtask c` and `cargo xtask header`: the C library, its header, its tests and its examples.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use xtask::repository::{self, AS_TESTS, Profile, TESTED, cargo, root, target};

use crate::steps::{self, Summary};

/// Tests in C, each a program of its own.
const TESTS: [&str; 8] = [
    "reading",
    "searching",
    "writing",
    "cancel",
    "call",
    "hostile",
    "misuse",
    "golden",
];

/// What every compiler of tests is told.
const WARNINGS: [&str; 5] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g"];

/// Most bytes of the library, stripped: its name, features, profile of cargo, and the limit.
const LIMITS: [(&str, &[&str], &str, u64); 3] = [
    ("with everything", &[], "dist", 48 << 20),
    (
        "without grammars and office formats",
        &["--no-default-features", "--features", "write"],
        "small",
        14 << 20,
    ),
    // The bar is 2 MiB; docs/benchmarks.md says what is in the way.
    (
        "that only reads",
        &["--no-default-features"],
        "small",
        7 << 19,
    ),
];

/// Runs the verb `header`.
pub(crate) fn header(arguments: &[String]) -> Result<bool> {
    repository::run_tool("kb-header", arguments, Profile::Dev)
}

/// Runs the verb `c`: the tests alone, or with `--sizes` the sizes of shipped builds.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    match arguments {
        [] => steps::run_with(&[], test),
        [argument] if argument == "--sizes" => sizes(),
        [argument] if argument == "--write-symbols" => {
            build()?;
            fs::write(symbols_file(), symbols(&target().join("debug/libkb.so"))?)?;
            Ok(true)
        }
        _ => bail!("c knows --sizes and --write-symbols only"),
    }
}

/// Tests the library as built for the other tests.
pub(crate) fn test(summary: &mut Summary) -> Result<()> {
    println!("--- header");
    if !header(&[])? {
        summary.fail("header");
    }
    build()?;
    let library = target().join("debug");
    check_symbols(summary, &library.join("libkb.so"))?;
    let work = target().join("c-tests");
    fs::create_dir_all(&work)?;
    compile_header(summary, &work)?;
    for name in TESTS {
        let program = compile(name, &work, &library, &[])?;
        let mut test = Command::new(&program);
        summary.count("c", arguments(&mut test, &work))?;
    }
    cpp(summary, &work, &library)?;
    sanitised(summary, &work, &library)?;
    under_valgrind(summary, &work)?;
    reader(summary, &work)?;
    examples(summary, &work, &library)
}

fn build() -> Result<()> {
    // Examples make the build take the features of the tests, so that cargo takes the libraries it has.
    let mut build = cargo(&["build", "--quiet", "--lib"]);
    repository::run(build.args(TESTED).args(AS_TESTS))?;
    let mut program = cargo(&["build", "--quiet", "--bin", "kb"]);
    repository::run(program.args(TESTED).args(AS_TESTS))
}

fn symbols_file() -> PathBuf {
    root().join("ffi/symbols.txt")
}

/// The names that a library exports, a line each.
fn symbols(library: &Path) -> Result<String> {
    let mut nm = Command::new("nm");
    let output = nm
        .args(["-D", "--defined-only", "--format=posix"])
        .arg(library)
        .output();
    let output = output.context("nm (binutils) is needed")?;
    if !output.status.success() {
        bail!("{nm:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stdout)?;
    let mut names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    names.sort_unstable();
    Ok(names.join("\n") + "\n")
}

/// What is exported is what `ffi/symbols.txt` lists: a name that goes breaks programs.
fn check_symbols(summary: &mut Summary, library: &Path) -> Result<()> {
    println!("--- symbols of {}", library.display());
    let listed = fs::read_to_string(symbols_file()).context("ffi/symbols.txt")?;
    let exported = symbols(library)?;
    let missing = listed
        .lines()
        .filter(|name| !exported.lines().any(|it| it == *name));
    let missing: Vec<&str> = missing.collect();
    let more = exported
        .lines()
        .filter(|name| !listed.lines().any(|it| it == *name));
    let more: Vec<&str> = more.collect();
    if !missing.is_empty() || !more.is_empty() {
        println!("gone: {missing:?}; not in ffi/symbols.txt: {more:?}");
        println!("`cargo xtask c --write-symbols` writes the list");
        summary.fail("symbols");
    }
    Ok(())
}

fn compiler(language: &str) -> Command {
    let (variable, program) = match language {
        "c++" => ("CXX", "c++"),
        _ => ("CC", "cc"),
    };
    let mut compiler = Command::new(env::var_os(variable).unwrap_or_else(|| program.into()));
    compiler
        .args(WARNINGS)
        .arg("-I")
        .arg(root().join("ffi/include"))
        .arg("-I")
        .arg(root().join("ffi/tests"));
    compiler
}

/// The header alone, in the languages that it promises.
fn compile_header(summary: &mut Summary, work: &Path) -> Result<()> {
    println!("--- header as C99, C11, C17, C++17");
    let source = root().join("ffi/tests/header.c");
    for (language, standard) in [
        ("c", "-std=c99"),
        ("c", "-std=c11"),
        ("c", "-std=c17"),
        ("c++", "-std=c++17"),
    ] {
        let mut compile = compiler(language);
        compile.args([standard, "-x", language, "-c", "-o"]);
        compile.arg(work.join("header.o")).arg(&source);
        if language == "c++" && !is_installed("c++") {
            println!("c++: skipped, c++ is not installed");
            continue;
        }
        if repository::run(&mut compile).is_err() {
            summary.fail("header");
        }
    }
    Ok(())
}

/// One test, linked with the shared library of a build.
fn compile(name: &str, work: &Path, library: &Path, flags: &[&str]) -> Result<PathBuf> {
    let suffix = if flags.is_empty() { "" } else { "-sanitised" };
    let program = work.join(format!("{name}{suffix}"));
    let tests = root().join("ffi/tests");
    let mut compile = compiler("c");
    compile
        .args(["-std=c11", "-D_GNU_SOURCE", "-pthread", "-o"])
        .arg(&program)
        .args(flags)
        .arg(tests.join(format!("{name}.c")))
        .args([tests.join("support.c"), tests.join("json.c")])
        .arg("-L")
        .arg(library)
        .args(["-lkb", "-lm"])
        .arg(format!("-Wl,-rpath,{}", library.display()));
    repository::run(&mut compile)?;
    Ok(program)
}

/// The test of what only the C++ header does.
fn cpp(summary: &mut Summary, work: &Path, library: &Path) -> Result<()> {
    if !is_installed("c++") {
        println!("--- c++: skipped, c++ is not installed");
        return Ok(());
    }
    let program = work.join("fields-cpp");
    let mut compile = compiler("c++");
    compile
        .args(["-std=c++17", "-o"])
        .arg(&program)
        .arg(root().join("ffi/tests/fields.cpp"))
        .arg("-L")
        .arg(library)
        .arg("-lkb")
        .arg(format!("-Wl,-rpath,{}", library.display()));
    repository::run(&mut compile)?;
    let mut test = Command::new(&program);
    summary.count("c++", arguments(&mut test, work))
}

/// Where a test writes, the golden files, and a worker.
fn arguments<'c>(test: &'c mut Command, work: &Path) -> &'c mut Command {
    // Cargo names its folder of libraries in it, before the one that a test was linked with.
    test.env_remove("LD_LIBRARY_PATH")
        .arg("--temp")
        .arg(work)
        .arg("--golden")
        .arg(root().join("tests/golden"))
        .arg("--kb")
        .arg(target().join("debug/kb"))
}

/// The tests with the sanitizers of the C compiler: what the C side does with what the library hands out.
fn sanitised(summary: &mut Summary, work: &Path, library: &Path) -> Result<()> {
    let flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    for name in TESTS {
        let Ok(program) = compile(name, work, library, &flags) else {
            println!("--- c, sanitised: skipped, the compiler has no sanitizers");
            return Ok(());
        };
        let mut test = Command::new(&program);
        summary.count("c, sanitised", arguments(&mut test, work).arg("--quick"))?;
    }
    Ok(())
}

fn under_valgrind(summary: &mut Summary, work: &Path) -> Result<()> {
    if !is_installed("valgrind") {
        println!("--- c, valgrind: skipped, valgrind is not installed");
        return Ok(());
    }
    for name in ["reading", "hostile"] {
        let mut test = Command::new("valgrind");
        test.args(["--quiet", "--error-exitcode=9", "--leak-check=full"])
            // A child of a test ends without freeing what its parent has.
            .arg("--child-silent-after-fork=yes")
            .arg("--errors-for-leak-kinds=definite")
            .arg(work.join(name));
        summary.count("c, valgrind", arguments(&mut test, work).arg("--quick"))?;
    }
    Ok(())
}

/// A library that only reads: the same header, the same names, the same answers of golden files.
fn reader(summary: &mut Summary, work: &Path) -> Result<()> {
    let folder = target().join("c-reader");
    let mut build = cargo(&[
        "build",
        "--quiet",
        "--package",
        "kb-ffi",
        "--no-default-features",
    ]);
    repository::run(build.arg("--target-dir").arg(&folder))?;
    let library = folder.join("debug");
    check_symbols(summary, &library.join("libkb.so"))?;
    let program = compile("reader", work, &library, &[])?;
    let mut test = Command::new(&program);
    summary.count("c, reader", arguments(&mut test, work))
}

/// The examples in C, C++ and other languages, as far as their toolchains are here.
fn examples(summary: &mut Summary, work: &Path, library: &Path) -> Result<()> {
    if !is_installed("python3") {
        println!("--- c, examples: skipped, python3 is not installed");
        return Ok(());
    }
    let mut check = Command::new("python3");
    check
        .arg(root().join("ffi/examples/check.py"))
        .arg(library)
        .arg(target().join("debug/kb"))
        .arg("--work")
        .arg(work.join("examples"));
    summary.count("c, examples", &mut check)
}

fn is_installed(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The sizes of shipped builds beside their limits.
fn sizes() -> Result<bool> {
    let mut good = true;
    for (name, features, profile, limit) in LIMITS {
        let folder = target().join("c-sizes");
        let mut build = cargo(&[
            "build",
            "--quiet",
            "--package",
            "kb-ffi",
            "--profile",
            profile,
        ]);
        repository::run(build.args(features).arg("--target-dir").arg(&folder))?;
        let bytes = fs::metadata(folder.join(profile).join("libkb.so"))?.len();
        println!("libkb.so {name}: {bytes} bytes of {limit}");
        good &= bytes <= limit;
    }
    Ok(good)
}
