//! `cargo xtask mcp-clients`: every outside client and suite against a release build of the server, with
//! a file of the corpus of `bench main`, from the folder of their runners.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::json;
use xtask::http_server::HttpServer;
use xtask::repository;

use crate::corpus::first_part;

/// What the command line asks for.
struct Options {
    /// Where the runners of the clients are.
    clients: PathBuf,
    /// Where the clients are installed.
    tools: PathBuf,
    /// Only the conformance suite, against the build that has its fixtures.
    only_fixtures: bool,
}

/// Installs the clients and runs them.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let options = parse(arguments)?;
    if !options.clients.join("run_all.sh").is_file() {
        println!(
            "skipped: {} holds no runners (--clients DIR)",
            options.clients.display()
        );
        return Ok(true);
    }
    let setup = options.clients.join("setup.sh");
    let mut install = Command::new("bash");
    install.arg(setup).arg(&options.tools);
    repository::run(install.env("WITH_FRAMEWORKS", "1"))?;
    let mut good = true;
    if !options.only_fixtures {
        good &= real_server(&options)?;
    }
    good &= fixtures(&options)?;
    Ok(good)
}

fn parse(arguments: &[String]) -> Result<Options> {
    let mut options = Options {
        clients: repository::root().join("../shared/mcp/clients"),
        tools: repository::target().join("mcp-clients"),
        only_fixtures: false,
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut folder = || -> Result<PathBuf> {
            let folder = rest
                .next()
                .with_context(|| format!("{argument} needs a folder"))?;
            std::path::absolute(folder).context("the folder of the working directory")
        };
        match argument.as_str() {
            "--clients" => options.clients = folder()?,
            "--tools" => options.tools = folder()?,
            "--fixtures" => options.only_fixtures = true,
            other => bail!("mcp-clients does not know {other:?}"),
        }
    }
    Ok(options)
}

/// A build of `kb` as it is shipped, for the fixtures with the feature that has them.
fn build(features: &[&str], folder: &Path) -> Result<PathBuf> {
    let mut arguments = vec!["build", "--profile", "dist", "--package", "kb-cli"];
    arguments.extend_from_slice(features);
    repository::run(repository::cargo(&arguments).env("CARGO_TARGET_DIR", folder))?;
    let program = format!("dist/kb{}", std::env::consts::EXE_SUFFIX);
    Ok(folder.join(program))
}

/// All clients against the server as it is shipped.
fn real_server(options: &Options) -> Result<bool> {
    let program = build(&[], &repository::target())?;
    let folder = tempfile::tempdir()?;
    let sources = first_part()?;
    let file = folder.path().join("corpus.kb");
    repository::index_with(&program, &sources, &file)?;
    let many = folder.path().join("many");
    fs::create_dir(&many)?;
    // With the corpus they fit into the 64 pages of resources that some clients read at most.
    for n in 0..3000 {
        let text = format!("# Note {n}\n\n{}\n", "Some words of a note. ".repeat(300));
        fs::write(many.join(format!("{n}.md")), text)?;
    }
    let plan = folder.path().join("plan.json");
    fs::write(&plan, plan_of(&file, &many)?.to_string())?;
    let tokens = folder.path().join("tokens.json");
    let mut create = Command::new(&program);
    create
        .args(["token", "create", "clients", "--write", "--tokens"])
        .arg(&tokens);
    let created = create.output().context("kb token create")?;
    let said = String::from_utf8(created.stdout)?;
    let token = said.split_whitespace().find(|word| word.starts_with("kb_"));
    let token = token.with_context(|| format!("no token in {said:?}"))?;
    let allowed = folder.path().display();
    // Every server gets a file of its own, so that no client sees what another one wrote.
    let script = folder.path().join("serve.sh");
    fs::write(
        &script,
        format!(
            "D=$(mktemp -d {allowed}/XXXXXX); cp {} $D/; \
             exec {} mcp $D/corpus.kb --allow-write --allow-root {allowed} \"$@\"\n",
            file.display(),
            program.display()
        ),
    )?;
    let serve = format!("bash {}", script.display());
    let mut all = Command::new("bash");
    all.arg(options.clients.join("run_all.sh"))
        .arg("--plan")
        .arg(&plan)
        .args(["--stdio", &serve])
        .args(["--http-cmd", &format!("{serve} --http {{addr}}")])
        .args([
            "--tool",
            "search_docs",
            "--args",
            r#"{"query": "open a file", "top_k": 3}"#,
        ])
        .args(["--slow-tool", "index_codebase"])
        .args(["--slow-args", &json!({"path": many}).to_string()])
        .args(["--token", token])
        .args([
            "--http-cmd-token",
            &format!("{serve} --http {{addr}} --tokens {}", tokens.display()),
        ])
        .env("MCP_TOOLS", &options.tools)
        .env("OUT", repository::target().join("mcp-clients-logs"));
    Ok(all.status().context("run_all.sh")?.success())
}

/// What the clients ask, with names of documents that the file has.
fn plan_of(file: &Path, many: &Path) -> Result<serde_json::Value> {
    let kb = kb_engine::Kb::open(file)?;
    let documents = kb.documents_after(None, 400)?;
    let of_type = |wanted: &str| -> Result<&str> {
        let found = documents
            .iter()
            .find(|document| document.file_type == wanted);
        Ok(&found
            .with_context(|| format!("no {wanted} among the first documents"))?
            .path)
    };
    let (page, code) = (of_type("markdown")?, of_type("rust")?);
    let name = file
        .file_stem()
        .and_then(|stem| stem.to_str())
        .context("a name")?;
    let template = "kb://{index_name}/doc/{+path}";
    let beginning: String = page.chars().take(4).collect();
    Ok(json!({
        "server": "kb mcp",
        "calls": [
            {"tool": "search", "args": {"query": "how is a file opened"}, "expect": "ok"},
            {"tool": "search", "args": {"query": "readme", "mode": "title", "limit": 3}, "expect": "ok"},
            {"tool": "search_docs", "args": {"query": "installation", "top_k": 3}, "expect": "ok"},
            {"tool": "search_docs", "args": {"query": "x", "top_k": 99}, "expect": "error", "contains": "INVALID_ARGUMENT"},
            {"tool": "search_docs", "args": {"q": "wrong field"}, "expect": "error", "contains": "query"},
            {"tool": "search_code", "args": {"query": "parse arguments", "language": "rust", "context_before": 2}, "expect": "ok"},
            {"tool": "get_document", "args": {"doc_handle": page}, "expect": "ok"},
            {"tool": "get_document", "args": {"doc_handle": "no/such.md"}, "expect": "error", "contains": "DOCUMENT_NOT_FOUND"},
            {"tool": "get_document_outline", "args": {"document_id": page}, "expect": "ok"},
            {"tool": "get_document_data", "args": {"document_id": code, "format": "chunks"}, "expect": "ok"},
            {"tool": "get_document_data", "args": {"document_id": page, "format": "metadata"}, "expect": "ok"},
            {"tool": "get_pages", "args": {"document_id": code, "page_range": "1"}, "expect": "ok"},
            {"tool": "list_folders", "args": {"index_name": name}, "expect": "ok"},
            {"tool": "list_documents", "args": {"index_name": name, "recursive": true, "max_tokens": 500}, "expect": "ok"},
            {"tool": "list_indexes", "args": {}, "expect": "ok"},
            {"tool": "index_stats", "args": {}, "expect": "ok"},
            {"tool": "get_status", "args": {}, "expect": "ok"},
            {"tool": "get_embedding", "args": {"text": "some words"}, "expect": "ok"},
            {"tool": "upload_document", "args": {"index_name": name, "fileName": "notes/plan.md", "content": "# Plan\n\nUploaded.\n"}, "expect": "ok"},
            {"tool": "upload_document", "args": {"index_name": name, "fileName": "../plan.md", "content": "x"}, "expect": "error", "contains": "PATH_NOT_ALLOWED"},
            {"tool": "index_codebase", "args": {"path": "/"}, "expect": "error", "contains": "PATH_NOT_ALLOWED"},
            // So that there is work to tell the progress of, also for the next client of a server.
            {"tool": "index_codebase", "args": {"path": many, "index_name": "many"}, "expect": "ok"},
            {"tool": "clear_index", "args": {"index_name": "many"}, "expect": "ok"},
            {"tool": "no_such_tool", "args": {}, "expect": "protocol_error", "code": -32602},
        ],
        "resources": {"min": 5, "read": [format!("kb://{name}"), format!("kb://{name}/outline/{page}")], "missing": format!("kb://{name}/doc/none"), "templates_min": 3},
        "prompts": [{"name": "answer_from_docs", "args": {"question": "what is this about?"}}],
        "complete": [
            {"ref": {"type": "ref/prompt", "name": "answer_from_docs"}, "argument": {"name": "index_name", "value": &name[..1]}, "contains": name},
            {"ref": {"type": "ref/resource", "uri": template}, "argument": {"name": "path", "value": beginning}, "contains": page},
        ],
        "progress": {"tool": "index_codebase", "args": {"path": many, "index_name": "many"}, "min": 2},
        "cancel": {"tool": "index_codebase", "args": {"path": many, "index_name": "again"}, "after_ms": 200, "within_ms": 2000},
        "listen": {"tool": "upload_document", "args": {"index_name": name, "fileName": "notes/listen.md", "content": "# Heard\n\nUploaded.\n"}, "notification": "resourcesListChanged"},
    }))
}

/// The conformance suite against the same server with the suite's fixtures, nothing excused.
fn fixtures(options: &Options) -> Result<bool> {
    let target = repository::target().join("conformance");
    let program = build(&["--features", "conformance"], &target)?;
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("note.md"), "# Note\n\nText.\n")?;
    let file = folder.path().join("fixtures.kb");
    repository::index_with(&program, folder.path(), &file)?;
    let mut server = Command::new(&program);
    server.arg("mcp").arg(&file).args(["--http", "127.0.0.1:0"]);
    let listening = HttpServer::start(server)?;
    let mut suite = Command::new("bash");
    suite
        .arg(options.clients.join("conformance.sh"))
        .args(["fixtures", &format!("http://{}/mcp", listening.address)])
        .arg(repository::target().join("mcp-clients-logs/fixtures"))
        .env("MCP_TOOLS", &options.tools);
    Ok(suite.status().context("conformance.sh")?.success())
}
