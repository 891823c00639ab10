//! `kb mcp`: serves files to MCP clients, or connects a client to a running server.

mod configure;

use std::io::IsTerminal as _;
use std::net::ToSocketAddrs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kb_engine::Kb;
use kb_mcp::hosts::{
    Entry, Host, Launch, Remote, Snippet, TOKEN_VARIABLE, entry, remote_entry, snippet,
};
use kb_mcp::{ConnectOptions, HttpOptions, Options};

use super::served;
use crate::args::McpArguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::launcher;
use crate::output::{Output, log};

/// The verb, as errors name it.
const VERB: &str = "kb mcp";

/// The environment variables with the URL for `--connect`; Contextor uses the second name.
const URL_VARIABLES: [&str; 2] = ["KB_MCP_URL", "CONTEXTOR_API_URL"];

/// The environment variables with the token for it.
const TOKEN_VARIABLES: [&str; 2] = [TOKEN_VARIABLE, "CONTEXTOR_PAT"];

/// What the server prints if it is started in a terminal.
const WAITING: &str = "waiting for an MCP client on stdin; press Ctrl-D to stop. Usually a client starts this command: \
    --install HOST (claude, cursor, vscode, codex, gemini, zed, opencode) adds it to the configuration of the client";

pub(crate) fn run(arguments: &McpArguments, output: &mut Output) -> Result<Exit, Failure> {
    if let Some(host) = arguments.uninstall {
        return configure::uninstall(host, arguments, output);
    }
    if arguments.install.is_none() && (arguments.project || arguments.dry_run) {
        let message = "--project and --dry-run require --install or --uninstall".to_owned();
        return Err(Failure::usage(message, None));
    }
    if let Some(host) = arguments.install {
        let entry = configured_entry(host, arguments)?;
        check_files(arguments)?;
        return configure::install(host, &entry, arguments, output);
    }
    if let Some(host) = arguments.print_config {
        let entry = configured_entry(host, arguments)?;
        return print_snippet(&snippet(host, &arguments.server_name, &entry), output);
    }
    if let Some(url) = url(arguments)? {
        return connect(&url, arguments);
    }
    let options = options(arguments)?;
    if arguments.served.files.is_empty() {
        // The choice depends on the folder and on KB_FILE, so it is printed.
        for (name, path) in &options.files {
            log(&format!("serving {} as {name:?}", absolute(path)?));
        }
    }
    match &arguments.http {
        Some(address) => {
            let http = HttpOptions {
                address: address.clone(),
                allow_hosts: arguments.allow_host.clone(),
                allow_origins: arguments.allow_origin.clone(),
                tokens: arguments.tokens.clone(),
                started: None,
            };
            kb_mcp::serve_http(&options, &http, None)
                .map_err(|error| served::explain(error, VERB))?;
        }
        None => {
            if std::io::stdin().is_terminal() {
                log(WAITING);
            }
            kb_mcp::serve_stdio(&options).map_err(|error| served::explain(error, VERB))?;
        }
    }
    Ok(served::ended())
}

fn options(arguments: &McpArguments) -> Result<Options, Failure> {
    Ok(Options {
        tools: arguments.tools.clone(),
        tool_prefix: arguments.tool_prefix.clone(),
        ..served::options(&arguments.served, VERB)?
    })
}

/// Opens the files, as the server does when a client starts it: a client often hides why a server does not start.
fn check_files(arguments: &McpArguments) -> Result<(), Failure> {
    if arguments.http.is_some() || url(arguments)?.is_some() {
        return Ok(());
    }
    for (_, path) in served::files(&arguments.served.files, VERB)? {
        let is_created = arguments.served.allow_write && !path.exists();
        if let (false, Err(error)) = (is_created, Kb::open(&path)) {
            return Err(Failure::from_engine(error, VERB, &path));
        }
    }
    Ok(())
}

/// Returns the entry of this server in the configuration of `host`.
fn configured_entry(host: Host, arguments: &McpArguments) -> Result<Entry, Failure> {
    if let Some(url) = url(arguments)? {
        return Ok(entry(host, &bridge(&url, arguments)?));
    }
    let Some(address) = &arguments.http else {
        let launch = launch(launch_arguments(arguments, &options(arguments)?)?)?;
        return Ok(entry(host, &launch));
    };
    let (url, is_public) = url_of(address, arguments)?;
    let remote = Remote {
        bridge: bridge(&url, arguments)?,
        url,
        requires_token: is_public || arguments.tokens.is_some(),
    };
    Ok(remote_entry(host, &remote))
}

fn print_snippet(snippet: &Snippet, output: &mut Output) -> Result<Exit, Failure> {
    output.write(&snippet.text)?;
    output.flush()?;
    output.hint(&format!(
        "add this to {}, or let --install do it",
        snippet.file
    ));
    Ok(Exit::Found)
}

/// Returns the command that starts this program with these arguments.
fn launch(arguments: Vec<String>) -> Result<Launch, Failure> {
    if let Some((command, first)) = launcher::command().and_then(<[String]>::split_first) {
        return Ok(Launch {
            command: command.clone(),
            arguments: [first, &arguments].concat(),
        });
    }
    let command = std::env::current_exe();
    let command = command.map_err(|error| Failure::io("find the path of this program", &error))?;
    Ok(Launch {
        command: configured(&command)?,
        arguments,
    })
}

/// The URL of a server at `ADDR:PORT`, and whether other machines can reach it.
fn url_of(address: &str, arguments: &McpArguments) -> Result<(String, bool), Failure> {
    let refused = |message: String, hint: &str| Failure::usage(message, Some(hint.to_owned()));
    let parsed = address
        .to_socket_addrs()
        .ok()
        .and_then(|mut all| all.next());
    let parsed = parsed.ok_or_else(|| {
        refused(
            format!("{address:?} is not an address"),
            "give ADDR:PORT, such as 127.0.0.1:8765",
        )
    })?;
    if parsed.port() == 0 {
        let message = "with port 0 the port is different at each start".to_owned();
        return Err(refused(
            message,
            "a configuration needs a fixed port: --http 127.0.0.1:8765",
        ));
    }
    let authority = match arguments.allow_host.first() {
        Some(host) if has_port(host) => host.clone(),
        Some(host) => format!("{host}:{}", parsed.port()),
        None if parsed.ip().is_unspecified() => {
            let message = format!("clients cannot connect to {address}");
            return Err(refused(
                message,
                "give the host name that they use with --allow-host HOST",
            ));
        }
        None => address.to_owned(),
    };
    Ok((
        format!("http://{authority}/mcp"),
        !parsed.ip().is_loopback(),
    ))
}

/// Whether a host has a port after it: an IPv6 address has colons too, in brackets.
fn has_port(host: &str) -> bool {
    host.rsplit_once(':')
        .is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The command that connects to a running server.
fn bridge(url: &str, arguments: &McpArguments) -> Result<Launch, Failure> {
    let mut words = vec!["mcp".to_owned(), "--connect".to_owned(), url.to_owned()];
    if let Some(file) = &arguments.token_file {
        words.push("--token-file".to_owned());
        words.push(absolute(file)?);
    }
    launch(words)
}

fn connect(url: &str, arguments: &McpArguments) -> Result<Exit, Failure> {
    let options = ConnectOptions {
        url: url.to_owned(),
        token: token(arguments)?,
        note: Arc::new(log),
    };
    let result = kb_mcp::connect_stdio(&options);
    result
        .map(|()| served::ended())
        .map_err(|error| served::explain(error, VERB))
}

/// The URL of `--connect`: the one that is given, else from the environment.
fn url(arguments: &McpArguments) -> Result<Option<String>, Failure> {
    match arguments.connect.as_deref() {
        Some("") => match variable(URL_VARIABLES) {
            Some(url) => Ok(Some(url)),
            None => {
                let names = URL_VARIABLES.join(" or ");
                let hint = format!("pass the URL of a `kb mcp --http` server, or set {names}");
                Err(Failure::usage("--connect needs a URL", Some(hint)))
            }
        },
        given => Ok(given.map(str::to_owned)),
    }
}

/// Returns the value of the first variable that is set and not empty.
fn variable(names: [&str; 2]) -> Option<String> {
    let values = names.iter().filter_map(|name| std::env::var(name).ok());
    let mut values = values.map(|value| value.trim().to_owned());
    values.find(|value| !value.is_empty())
}

/// The token from `--token-file`, else from the environment.
fn token(arguments: &McpArguments) -> Result<Option<String>, Failure> {
    let Some(file) = &arguments.token_file else {
        return Ok(variable(TOKEN_VARIABLES));
    };
    let failed = |error| Failure::io(&format!("read {}", file.display()), &error);
    let text = std::fs::read_to_string(file).map_err(failed)?;
    Ok(Some(
        text.lines().next().unwrap_or_default().trim().to_owned(),
    ))
}

/// Returns the command line that starts the same server from any folder.
fn launch_arguments(arguments: &McpArguments, options: &Options) -> Result<Vec<String>, Failure> {
    let mut words = vec!["mcp".to_owned()];
    for (name, path) in &options.files {
        words.push(format!("{name}={}", absolute(path)?));
    }
    if options.allow_write {
        words.push("--allow-write".to_owned());
        // By default, the current folder is allowed.
        let here = [PathBuf::from(".")];
        let roots = match options.allow_roots.as_slice() {
            [] => &here,
            roots => roots,
        };
        for root in roots {
            let root = root.canonicalize();
            let root = root.map_err(|error| Failure::io("find an allowed folder", &error))?;
            words.push("--allow-root".to_owned());
            words.push(configured(&root)?);
        }
    }
    for (is_given, flag) in [
        (arguments.served.watch, "--watch"),
        (arguments.served.no_watch, "--no-watch"),
    ] {
        if is_given {
            words.push(flag.to_owned());
        }
    }
    for (flag, value) in [
        ("--tools", &options.tools),
        ("--tool-prefix", &options.tool_prefix),
    ] {
        if let Some(value) = value {
            words.extend([flag.to_owned(), value.clone()]);
        }
    }
    let rerank = &arguments.served.rerank;
    if let Some(specification) = &rerank.rerank {
        let top = rerank.rerank_top.to_string();
        let specification = absolute_model(specification)?;
        words.extend([
            "--rerank".to_owned(),
            specification,
            "--rerank-top".to_owned(),
            top,
        ]);
    }
    if options.threads > 1 {
        words.extend(["--threads".to_owned(), options.threads.to_string()]);
    }
    Ok(words)
}

/// The specification of a model whose folder is found from everywhere.
fn absolute_model(specification: &str) -> Result<String, Failure> {
    match specification.split_once(':') {
        Some((kind, folder)) => Ok(format!("{kind}:{}", absolute(Path::new(folder))?)),
        None => Ok(specification.to_owned()),
    }
}

fn absolute(path: &Path) -> Result<String, Failure> {
    let absolute = std::path::absolute(path);
    configured(&absolute.map_err(|error| Failure::io("find the current folder", &error))?)
}

/// Returns a path as UTF-8, as a configuration needs it.
fn configured(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        let message = format!(
            "{} is not UTF-8, so it cannot be written into a configuration",
            path.display()
        );
        Failure::usage(message, None)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_says_everything_that_was_said_here() {
        use clap::Parser;
        let folder = std::env::temp_dir().canonicalize().unwrap();
        let root = folder.display().to_string();
        let line = ["kb", "mcp", "x=a/b.kb", "c.kb", "--watch", "--allow-write"];
        let line = line.into_iter().chain(["--allow-root", &root]);
        let parsed = crate::args::Arguments::try_parse_from(line).unwrap();
        let crate::args::Verb::Mcp(arguments) = parsed.verb else {
            panic!("another verb");
        };
        let options = options(&arguments).unwrap_or_else(|_| panic!("no options"));
        let words = launch_arguments(&arguments, &options).unwrap_or_default();
        let here = std::env::current_dir().unwrap();
        let file = |name: &str| here.join(name).display().to_string();
        let expected = [
            "mcp".to_owned(),
            format!("x={}", file("a/b.kb")),
            format!("c={}", file("c.kb")),
            "--allow-write".to_owned(),
            "--allow-root".to_owned(),
            root,
            "--watch".to_owned(),
        ];
        assert_eq!(words, expected);
    }
}
