//! `cargo xtask python` and `cargo xtask wheel`: the tests of the Python module, and the wheels.

mod glibc;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use xtask::repository::{self, AS_TESTS, TESTED, cargo, root, target};

use crate::steps::{self, Summary};

/// What the tests are in the summary.
const NAME: &str = "python";

/// Where tests are: of the module, of the second reader of the format, and of what others use the module by.
const FOLDERS: [&str; 4] = [
    "python",
    "format-spec/reader",
    "python/integrations/langchain-kbfile",
    "python/integrations/llama-index-retrievers-kbfile",
];

/// Most bytes of the wheels. That without grammars is to have 12 MiB some day; python/WHEELS.md says what is in the way.
const WHEEL_LIMITS: [(&str, &[&str], u64); 2] = [
    ("with grammars, the default", &[], 25 << 20),
    (
        "without grammars",
        &["--no-default-features", "--features", "abi3"],
        17 << 20,
    ),
];

/// What links against an old C library, whatever this machine has: else newer versions of its functions (`hypot` of
/// 2.35, `pthread_create` of 2.34) would be needed.
const PORTABLE: &[&str] = if cfg!(target_os = "linux") {
    &["--zig", "--compatibility", "manylinux2014"]
} else {
    &[]
};

/// Runs the verb `python`: the tests alone. Arguments are those of pytest.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    steps::run_with(&[], |summary| test(summary, arguments))
}

/// Installs what the tests need. Whether that worked is seen, and told, when they start.
pub(crate) fn prepare() {
    if let Some(python) = interpreter() {
        let _ = environment(&python);
    }
}

/// Tests the module as built for the other tests, in an environment of its own below the target folder.
pub(crate) fn test(summary: &mut Summary, arguments: &[String]) -> Result<()> {
    let Some(python) = interpreter() else {
        println!("--- {NAME}: skipped, python3 (3.11 or newer) is not installed");
        if is_ci() {
            summary.fail(NAME);
        }
        return Ok(());
    };
    let venv = match environment(&python) {
        Ok(venv) => venv,
        Err(error) => {
            println!("--- {NAME}: skipped, its packages cannot be installed: {error:#}");
            if is_ci() {
                summary.fail(NAME);
            }
            return Ok(());
        }
    };
    let stage = stage()?;
    for folder in FOLDERS {
        let folder = root().join(folder);
        // The sources of the package have no module: the stage comes first, and the folder of the tests is none of
        // its own (`python -m pytest` would make it one).
        let paths = env::join_paths([stage.as_path(), &folder])?;
        let mut pytest = Command::new(program(&venv, "pytest"));
        pytest
            .args(["-q", "-p", "no:cacheprovider", "-W", "error"])
            .args(["-o", "asyncio_default_fixture_loop_scope=function", "tests"])
            .args(arguments)
            .current_dir(&folder)
            .env("PYTHONPATH", paths)
            .env("MYPYPATH", &stage)
            .env("PYTHONDONTWRITEBYTECODE", "1");
        summary.count(NAME, &mut pytest)?;
    }
    Ok(())
}

/// Runs the verb `wheel`: both wheels into `target/wheels`, and what a user does first with each.
pub(crate) fn wheel(arguments: &[String]) -> Result<bool> {
    let wheels = match arguments {
        [] => WHEEL_LIMITS.as_slice(),
        [flag] if flag == "--default" => &WHEEL_LIMITS[..1],
        _ => bail!("wheel knows --default only"),
    };
    let python = interpreter().context("python3 (3.11 or newer) is not installed")?;
    let tools = new_environment(
        &python,
        "wheel-tools",
        &["maturin[zig]==1.16.0", "abi3audit"],
    )?;
    for (name, features, limit) in wheels {
        let folder = target().join("wheels").join(name.replace([' ', ','], "-"));
        let _ = fs::remove_dir_all(&folder);
        let mut maturin = Command::new(program(&tools, "maturin"));
        let path = [
            programs(&tools).into_os_string(),
            env::var_os("PATH").unwrap_or_default(),
        ];
        maturin
            .args(["build", "--profile", "dist", "--quiet", "--out"])
            .arg(&folder)
            .args(*features)
            .args(PORTABLE)
            .current_dir(root().join("python"))
            .env(
                "PATH",
                env::join_paths(path.iter().flat_map(env::split_paths))?,
            )
            .env("VIRTUAL_ENV", &tools)
            .env_remove("CARGO_MANIFEST_DIR");
        repository::run(&mut maturin)?;
        let wheel = fs::read_dir(&folder)?
            .next()
            .context("maturin made no wheel")??;
        let bytes = wheel.metadata()?.len();
        println!(
            "{name}: {} bytes of {limit}: {}",
            bytes,
            wheel.path().display()
        );
        if bytes > *limit {
            bail!("the wheel {name} has {bytes} bytes, more than {limit}");
        }
        check_glibc(&python, &wheel.path())?;
        let mut audit = Command::new(program(&tools, "abi3audit"));
        repository::run(audit.arg("--strict").arg(wheel.path()))?;
        let user = new_environment(&python, "wheel-user", &[&wheel.path().to_string_lossy()])?;
        let mut smoke = Command::new(program(&user, "python"));
        repository::run(smoke.arg(root().join("python/tests/smoke.py")))?;
    }
    Ok(true)
}

/// Fails when the module of a wheel needs a newer C library than wheels may.
fn check_glibc(python: &Path, wheel: &Path) -> Result<()> {
    let folder = target().join("wheel-content");
    let _ = fs::remove_dir_all(&folder);
    let mut unpack = Command::new(python);
    repository::run(unpack.args(["-m", "zipfile", "-e"]).arg(wheel).arg(&folder))?;
    for file in fs::read_dir(folder.join("kbfile"))? {
        let path = file?.path();
        if path.extension().is_none_or(|extension| extension != "so") {
            continue;
        }
        let needed = glibc::newest_needed(&fs::read(&path)?);
        println!("{} needs glibc {needed:?}", path.display());
        if needed > Some(glibc::NEWEST) {
            bail!(
                "{} needs a newer glibc than {:?}",
                path.display(),
                glibc::NEWEST
            );
        }
    }
    Ok(())
}

/// Measures the module in a wheel's form beside other libraries. Arguments are those of `python/benches/compare.py`.
pub(crate) fn bench(arguments: &[String]) -> Result<bool> {
    let python = interpreter().context("python3 (3.11 or newer) is not installed")?;
    let packages = [
        "numpy",
        "pandas",
        "polars",
        "pyarrow",
        "lancedb",
        "chromadb",
        "sqlite-vec",
        "pysqlite3-binary",
    ];
    let venv = new_environment(&python, "python-bench", &packages)?;
    repository::run(&mut cargo(&[
        "build",
        "--profile",
        "dist",
        "--package",
        "kbfile-python",
    ]))?;
    let stage = staged("python-stage-dist", &target().join("dist"))?;
    let mut compare = Command::new(program(&venv, "python"));
    compare
        .arg(root().join("python/benches/compare.py"))
        .args(arguments)
        .env("PYTHONPATH", stage);
    repository::run(&mut compare).map(|()| true)
}

fn is_ci() -> bool {
    env::var_os("CI").is_some()
}

/// The interpreter, if it is new enough: that of the variable PYTHON, else `python3`.
pub(crate) fn interpreter() -> Option<PathBuf> {
    let python = env::var_os("PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    let is_new = "import sys; sys.exit(sys.version_info < (3, 11))";
    let mut command = Command::new(&python);
    command.args(["-c", is_new]).stderr(Stdio::null());
    command
        .status()
        .is_ok_and(|status| status.success())
        .then_some(python)
}

/// The environment of the tests, made anew when their requirements change.
fn environment(python: &Path) -> Result<PathBuf> {
    let requirements = root().join("python/tests/requirements.txt");
    let wanted = fs::read_to_string(&requirements).context("python/tests/requirements.txt")?;
    let venv = target().join("python-venv");
    let installed = venv.join("requirements.txt");
    if fs::read_to_string(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(venv);
    }
    println!(
        "--- {NAME}: installing what its tests need into {}",
        venv.display()
    );
    make_venv(python, &venv)?;
    let mut pip = Command::new(program(&venv, "python"));
    pip.args([
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        "-r",
    ])
    .arg(&requirements);
    repository::run(&mut pip)?;
    fs::write(installed, wanted)?;
    Ok(venv)
}

/// A new environment with these packages.
fn new_environment(python: &Path, name: &str, packages: &[&str]) -> Result<PathBuf> {
    let venv = target().join(name);
    make_venv(python, &venv)?;
    let mut pip = Command::new(program(&venv, "python"));
    pip.args(["-m", "pip", "install", "-q", "--disable-pip-version-check"])
        .args(packages);
    repository::run(&mut pip)?;
    Ok(venv)
}

/// An environment with these packages, kept from one run to the next.
pub(crate) fn kept_environment(python: &Path, name: &str, packages: &[&str]) -> Result<PathBuf> {
    let wanted = packages.join("\n");
    let venv = target().join(name);
    let installed = venv.join("requirements.txt");
    if fs::read_to_string(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(venv);
    }
    let venv = new_environment(python, name, packages)?;
    fs::write(installed, wanted)?;
    Ok(venv)
}

/// Where the programs of an environment are.
pub(crate) fn programs(environment: &Path) -> PathBuf {
    environment.join(if cfg!(windows) { "Scripts" } else { "bin" })
}

fn program(environment: &Path, name: &str) -> PathBuf {
    programs(environment).join(format!("{name}{}", env::consts::EXE_SUFFIX))
}

fn make_venv(python: &Path, venv: &Path) -> Result<()> {
    let mut make = Command::new(python);
    repository::run(make.args(["-m", "venv", "--clear"]).arg(venv))
}

/// The package with the module in it, as built for the other tests.
fn stage() -> Result<PathBuf> {
    // Examples make the build take the features of the tests, so that cargo takes the libraries it has.
    let mut build = cargo(&["build", "--quiet", "--lib"]);
    repository::run(build.args(TESTED).args(AS_TESTS))?;
    staged("python-stage", &target().join("debug"))
}

/// Copies the files of a folder, without the folders in it.
fn copy_files(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for file in fs::read_dir(from)? {
        let file = file?;
        if file.file_type()?.is_file() {
            fs::copy(file.path(), to.join(file.file_name()))?;
        }
    }
    Ok(())
}

/// The package with the module of a build in it, in a folder of that name below the target folder.
fn staged(name: &str, build: &Path) -> Result<PathBuf> {
    let stage = target().join(name);
    let package = stage.join("kbfile");
    let _ = fs::remove_dir_all(&package);
    copy_files(&root().join("python/kbfile"), &package)?;
    copy_files(
        &root().join("python/kbfile/_minilm"),
        &package.join("_minilm"),
    )?;
    let library = build.join("lib_kbfile.so");
    let module = package.join("_kbfile.abi3.so");
    fs::copy(&library, module).with_context(|| library.display().to_string())?;
    Ok(stage)
}
