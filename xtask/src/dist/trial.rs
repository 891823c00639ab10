//! The first steps of a new user with a package: unpack it in a clean folder, index, search, serve, seal.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};
use xtask::repository::{self, root};

use super::archive;
use super::options::Options;

/// A document that is read in a worker process, by the program that starts itself.
const OFFICE_DOCUMENT: &str = "tests/corpus/documents/numbered-headings.docx";

/// Tries an archive.
pub(super) fn of_archive(options: &Options, archive: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    archive::unpack(archive, folder.path())?;
    let top = fs::read_dir(folder.path())?.next();
    let top = top.context("an empty archive")??.path();
    for name in [
        "README.md",
        "LICENSE-MIT",
        "THIRD-PARTY.txt",
        "sbom.cdx.json",
        "man/kb.1",
        "completions/kb.bash",
    ] {
        if !top.join(name).is_file() {
            bail!("no {name} in {}", archive.display());
        }
    }
    let program = top.join(options.program_name());
    of_program(options, &program, folder.path())?;
    if options.model.is_some() {
        of_model(options, &program, &top, folder.path())?;
    }
    Ok(())
}

/// Tries the model that is a part of the program, where there is no other.
fn of_model(options: &Options, program: &Path, top: &Path, folder: &Path) -> Result<()> {
    for name in ["MINILM-NOTICE.txt", "minilm-licences/1.txt"] {
        if !top.join(name).is_file() {
            bail!("no {name} in the archive");
        }
    }
    let mut command = start(
        options,
        program,
        folder,
        &["models", "check", "minilm", "--json"],
    );
    let output = command.env("KB_MODELS", folder.join("none")).output()?;
    expect(
        &String::from_utf8_lossy(&output.stdout),
        "\"dimension\":384",
    )
}

/// Tries a package of Debian, without installing it: its files as they would lie below `/`.
pub(super) fn of_deb(options: &Options, deb: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let tree = folder.path().join("root");
    repository::run(Command::new("dpkg-deb").arg("-x").arg(deb).arg(&tree))?;
    of_program(options, &tree.join("usr/bin/kb"), folder.path())
}

fn of_program(options: &Options, program: &Path, folder: &Path) -> Result<()> {
    let notes = folder.join("notes");
    fs::create_dir_all(&notes)?;
    fs::write(
        notes.join("tides.md"),
        "# Tides\n\nThe moon pulls at the sea, which rises twice a day.\n",
    )?;
    fs::write(
        notes.join("tide.rs"),
        "/// Hours between high waters.\npub fn high_water() -> f64 { 12.4 }\n",
    )?;
    // A program that is run for another processor cannot start itself without being told by whom.
    if options.runner.is_none() {
        fs::copy(root().join(OFFICE_DOCUMENT), notes.join("letter.docx"))?;
    }
    let run = |arguments: &[&str]| answer(options, program, folder, arguments);
    let version = run(&["--version"])?;
    expect(&version, "(format ")?;
    run(&["index", "notes", "-o", "notes.kb", "-q"])?;
    expect(
        &run(&["search", "-f", "notes.kb", "why does the sea rise"])?,
        "tides.md",
    )?;
    expect(
        &run(&["symbols", "-f", "notes.kb", "high_water"])?,
        "tide.rs",
    )?;
    if options.runner.is_none() {
        expect(&run(&["ls", "-f", "notes.kb"])?, "letter.docx")?;
    }
    serve(options, program, folder)?;
    run(&["seal", "notes.kb", "-o", "sealed.kb"])?;
    run(&["verify", "sealed.kb", "--deep"])?;
    expect(
        &run(&["search", "-f", "sealed.kb", "--json", "moon"])?,
        "tides.md",
    )?;
    print!("tried in a clean folder: {version}");
    Ok(())
}

/// Asks the MCP server, which reads the file while another process writes to it.
fn serve(options: &Options, program: &Path, folder: &Path) -> Result<()> {
    let mut server = Server::start(start(options, program, folder, &["mcp", "notes.kb"]))?;
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"trial","version":"1"}}}"#;
    expect(&server.ask(hello)?, "\"serverInfo\"")?;
    server.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
    let question = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"zugzwang"}}}"#;
    let before = server.ask(question)?;
    if before.contains("chess.md") {
        bail!("found before it was added:\n{before}");
    }
    fs::write(
        folder.join("chess.md"),
        "# Chess\n\nZugzwang: whoever moves, loses.\n",
    )?;
    let add = ["add", "chess.md", "-f", "notes.kb"];
    answer(options, program, folder, &add)?;
    expect(&server.ask(question)?, "chess.md")?;
    server.stop()
}

/// `kb mcp` over its standard streams; killed when dropped.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(mut command: Command) -> Result<Server> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("{command:?}"))?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("stdout")?);
        Ok(Server {
            child,
            input,
            output,
        })
    }

    fn send(&mut self, message: &str) -> Result<()> {
        let input = self.input.as_mut().context("the server was stopped")?;
        writeln!(input, "{message}")?;
        Ok(input.flush()?)
    }

    /// The next line that the server writes.
    fn ask(&mut self, message: &str) -> Result<String> {
        self.send(message)?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        if line.is_empty() {
            bail!("kb mcp ended before it answered {message}");
        }
        Ok(line)
    }

    /// Closes its input, whereupon it is to exit.
    fn stop(mut self) -> Result<()> {
        self.input = None;
        let status = self.child.wait()?;
        if !status.success() {
            bail!("kb mcp ended with {status}");
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program in a folder, without anything from the environment of the caller.
fn start(options: &Options, program: &Path, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = options.start(program);
    command.args(arguments).current_dir(folder).env_clear();
    command.env("HOME", folder);
    // Programs of Windows do not start without it.
    if let Some(system) = std::env::var_os("SystemRoot") {
        command.env("SystemRoot", system);
    }
    command
}

/// What the program prints.
fn answer(options: &Options, program: &Path, folder: &Path, arguments: &[&str]) -> Result<String> {
    let mut command = start(options, program, folder, arguments);
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{command:?} ended with {}\n{printed}{said}", output.status);
    }
    Ok(printed)
}

fn expect(printed: &str, wanted: &str) -> Result<()> {
    if printed.contains(wanted) {
        return Ok(());
    }
    bail!("{wanted:?} is missing in\n{printed}");
}
