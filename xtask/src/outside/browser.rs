//! `cargo xtask browser`: the pages of `kb serve` in Chromium, driven by one Node script. Node and its packages come from
//! PyPI and npm; Chromium is that of the system. Without one the verb says so and passes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use xtask::repository;

use super::mcp_clients;

/// Where systems have Chromium; `KB_CHROMIUM` names another.
const BROWSERS: [&str; 3] = [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
];

const PACKAGES: [&str; 2] = ["playwright-core@1.65.1", "axe-core@4.14.1"];

/// What a document could try.
const HOSTILE: &str = "# <script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n[x](javascript:alert(1)) \
    ![y](//evil.example/y.png)\n\n<svg onload=alert(1)><style>*{display:none}</style>\n\n\
    \u{202e}right to left\u{202c}\n\n<iframe src=\"data:text/html,<script>alert(1)</script>\"></iframe>\n";

/// Runs the verb.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    if !arguments.is_empty() {
        bail!("browser takes no arguments");
    }
    let Some(chromium) = chromium() else {
        println!("no Chromium on this machine: the pages are not tested in a browser");
        return Ok(true);
    };
    let folder = std::path::absolute(repository::target().join("browser"))?;
    fs::create_dir_all(&folder)?;
    let node = mcp_clients::install_from_npm(&PACKAGES, &folder)?;
    repository::build_tested("kb")?;
    let kb = repository::target().join(format!("debug/kb{}", std::env::consts::EXE_SUFFIX));
    let kb = std::path::absolute(kb)?;
    let files = files(&folder, &kb)?;
    let tokens = folder.join("tokens.json");
    let _ = fs::remove_file(&tokens);
    let token = token(&kb, &tokens)?;
    let open = Site::start(Command::new(&kb).arg("serve").args(&files))?;
    let closed = Site::start(
        Command::new(&kb)
            .arg("serve")
            .args(&files)
            .arg("--tokens")
            .arg(&tokens),
    )?;
    let written = writable(&folder, &kb)?;
    let writing = Site::start(
        Command::new(&kb)
            .args(["serve", "--allow-write"])
            .arg(&written),
    )?;
    let mut script = Command::new(node);
    script
        .arg(std::path::absolute(
            repository::root().join("tests/browser/pages.mjs"),
        )?)
        .args([&open.address, &closed.address, &token])
        .arg(folder.join("screenshots"))
        .arg(&writing.address)
        .env("KB_CHROMIUM", chromium)
        .current_dir(&folder);
    let status = script.status();
    Ok(status
        .with_context(|| format!("cannot start {script:?}"))?
        .success())
}

fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("KB_CHROMIUM").map(PathBuf::from);
    let usual = BROWSERS.iter().map(PathBuf::from);
    named.into_iter().chain(usual).find(|path| path.is_file())
}

/// The files that are served, as arguments of `kb serve`.
fn files(folder: &Path, kb: &Path) -> Result<Vec<String>> {
    let hostile = folder.join("hostile");
    fs::create_dir_all(&hostile)?;
    fs::write(hostile.join("hostile.md"), HOSTILE)?;
    let root = repository::root();
    let sources = [
        ("docs", root.join("docs")),
        ("office", root.join("tests/corpus/documents")),
        ("code", root.join("web/src")),
        ("hostile", hostile),
    ];
    let mut files = Vec::new();
    for (name, source) in sources {
        let file = folder.join(format!("{name}.kb"));
        let _ = fs::remove_file(&file);
        repository::index_with(kb, &source, &file)?;
        files.push(format!("{name}={}", file.display()));
    }
    Ok(files)
}

/// A file that the pages may change, as an argument of `kb serve`.
fn writable(folder: &Path, kb: &Path) -> Result<String> {
    let notes = folder.join("written");
    fs::create_dir_all(&notes)?;
    fs::write(
        notes.join("tides.md"),
        "# Tides\n\nThe moon pulls the sea twice a day.\n",
    )?;
    fs::write(
        notes.join("reefs.md"),
        "# Reefs\n\nA bell rings at low water.\n",
    )?;
    let file = folder.join("written.kb");
    let _ = fs::remove_file(&file);
    repository::index_with(kb, &notes, &file)?;
    Ok(format!("written={}", file.display()))
}

/// Makes a token that manages tokens.
fn token(kb: &Path, tokens: &Path) -> Result<String> {
    let mut command = Command::new(kb);
    command
        .args(["token", "create", "browser", "--write", "--tokens"])
        .arg(tokens);
    let said = String::from_utf8(command.output()?.stdout)?;
    let token = said.split_whitespace().find(|word| word.starts_with("kb_"));
    token.map(str::to_owned).context("no token was made")
}

/// A server; killed when dropped.
struct Site {
    child: Child,
    /// `http://127.0.0.1:8000`.
    address: String,
}

impl Site {
    /// Starts `command` on a free port and reads the address from its first line with one.
    fn start(command: &mut Command) -> Result<Site> {
        command.args(["--listen", "127.0.0.1:0"]);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let mut lines = BufReader::new(child.stderr.take().context("stderr")?).lines();
        let address = loop {
            let line = lines.next().context("the server says no address")??;
            if let Some((address, _)) = line.split_once("/ (MCP: ") {
                break address.trim().to_owned();
            }
        };
        std::thread::spawn(move || lines.for_each(drop));
        let start = address.find("http://").unwrap_or_default();
        Ok(Site {
            child,
            address: address.get(start..).unwrap_or_default().to_owned(),
        })
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
