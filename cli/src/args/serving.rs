//! Flags of `kb mcp`, `kb serve` and `kb token`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueHint};
use kb_engine::THREADS_LIMIT;
use kb_mcp::hosts::Host;

use super::flags::RerankFlags;

/// Serve .kb files to agents and editors (Model Context Protocol)
///
/// An MCP client, such as an agent or an editor, starts this command and talks to it over stdin and stdout. Its model
/// can then search the files, read documents and outlines, and list folders. It can change nothing without
/// --allow-write. The server exits when stdin closes. --install puts the server into the configuration of a client.
#[derive(Debug, Args)]
#[command(after_help = MCP_EXAMPLES)]
pub(crate) struct McpArguments {
    #[command(flatten)]
    pub(crate) served: ServedArguments,

    /// Serve over HTTP at this address, path /mcp, instead of stdio; port 0 picks a free port
    ///
    /// The URL is printed on stderr. 127.0.0.1 can be reached from this machine only. Any other address requires tokens
    /// (`kb token create NAME`). The connection is not encrypted: put the server behind a proxy with TLS. The Host header
    /// of a request must be this address, localhost, or a name given with --allow-host. With 0.0.0.0, clients on other
    /// machines need such a name.
    #[arg(long, value_name = "ADDR:PORT", help_heading = "HTTP")]
    pub(crate) http: Option<String>,

    /// Allow requests for this host name, with or without a port (repeatable)
    #[arg(long, value_name = "HOST", requires = "http", help_heading = "HTTP")]
    pub(crate) allow_host: Vec<String>,

    /// Allow web pages of this origin, scheme://host:port (repeatable); :* allows any port
    #[arg(long, value_name = "ORIGIN", requires = "http", help_heading = "HTTP")]
    pub(crate) allow_origin: Vec<String>,

    /// Require a token of this file from every client
    ///
    /// Default, if other machines can reach the server: kb/tokens.json in $XDG_CONFIG_HOME, or in ~/.config.
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        requires = "http",
        help_heading = "HTTP"
    )]
    pub(crate) tokens: Option<PathBuf>,

    /// Connect stdin and stdout to a running `kb mcp --http` server at this URL instead of serving files
    ///
    /// For clients that can only start a command, or cannot send a token. The token comes from --token-file, else from
    /// the environment variable KB_MCP_TOKEN (or CONTEXTOR_PAT). It is checked at the start; an invalid token ends the
    /// command with exit status 2. The URL begins with http://; TLS is not supported. Without URL, the variable KB_MCP_URL
    /// (or CONTEXTOR_API_URL) is used.
    #[arg(
        long,
        value_name = "URL",
        num_args = 0..=1,
        default_missing_value = "",
        conflicts_with_all = ["files", "allow_write", "allow_root", "watch", "no_watch", "threads", "http"],
        help_heading = "HTTP"
    )]
    pub(crate) connect: Option<String>,

    /// With --connect: read the token from the first line of this file instead of KB_MCP_TOKEN
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        requires = "connect",
        help_heading = "HTTP"
    )]
    pub(crate) token_file: Option<PathBuf>,

    /// Offer only these tools: `code`, `docs`, `all`, or tool names separated by commas
    #[arg(long, value_name = "TOOLS", conflicts_with = "connect")]
    pub(crate) tools: Option<String>,

    /// Put NAME_ before each tool name, to tell the tools from those of other servers
    #[arg(long, value_name = "NAME", conflicts_with = "connect")]
    pub(crate) tool_prefix: Option<String>,

    /// Add this server to the configuration of HOST and exit
    ///
    /// HOST is the program that will start this server, such as claude or vscode. The entry has absolute paths and the
    /// other flags given here. Comments and other servers in the configuration stay, and a backup copy is written next to
    /// it. With --http, the entry makes HOST connect to that address, with the token in the environment variable
    /// KB_MCP_TOKEN.
    #[arg(
        long,
        value_name = "HOST",
        value_parser = hosts(),
        conflicts_with_all = ["uninstall", "print_config"],
        help_heading = "Hosts"
    )]
    pub(crate) install: Option<Host>,

    /// Remove this server from the configuration of HOST and exit
    #[arg(
        long,
        value_name = "HOST",
        value_parser = hosts(),
        conflicts_with_all = ["files", "print_config"],
        help_heading = "Hosts"
    )]
    pub(crate) uninstall: Option<Host>,

    /// With --install or --uninstall: change the configuration of the project in this folder, not of the user
    #[arg(long, help_heading = "Hosts")]
    pub(crate) project: bool,

    /// With --install or --uninstall: only print what would change
    #[arg(long, help_heading = "Hosts")]
    pub(crate) dry_run: bool,

    /// Name of the server in the configuration
    #[arg(
        long,
        value_name = "NAME",
        default_value = kb_mcp::hosts::SERVER,
        value_parser = parse_server_name,
        help_heading = "Hosts"
    )]
    pub(crate) server_name: String,

    /// Print the configuration for HOST and exit
    #[arg(long, value_name = "HOST", value_parser = hosts(), help_heading = "Hosts")]
    pub(crate) print_config: Option<Host>,
}

/// What is served, and what clients may do with it.
#[derive(Debug, Args)]
pub(crate) struct ServedArguments {
    /// The .kb files, each with the name that clients use for it [default: its file name without .kb]
    ///
    /// Default: the file that KB_FILE names, else the .kb file in this folder or in the nearest parent folder with
    /// one. Among several, the newest that was indexed from this folder. With --allow-write, a file that does not exist
    /// is created.
    #[arg(value_name = "[NAME=]FILE.kb", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<OsString>,

    /// Allow clients to upload documents, index folders and clear files
    #[arg(long)]
    pub(crate) allow_write: bool,

    /// With --allow-write: a folder that may be indexed (repeatable) [default: this folder]
    ///
    /// Applies to clients, and to folders that the server watches. Symbolic links are resolved before the check.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "allow_write")]
    pub(crate) allow_root: Vec<PathBuf>,

    /// With --allow-write: keep sealed files up to date too
    ///
    /// With --allow-write, the server keeps its files up to date with their indexed folders, if these exist and are
    /// inside --allow-root. Without --watch, sealed files are not updated.
    #[arg(long, requires = "allow_write")]
    pub(crate) watch: bool,

    /// With --allow-write: do not update the files when their folders change
    ///
    /// Results then say which source files changed, as they do without --allow-write.
    #[arg(long, requires = "allow_write", conflicts_with = "watch")]
    pub(crate) no_watch: bool,

    /// Let one search use N threads, for lower latency on a machine with idle cores
    ///
    /// With 2 or more, vectors and keywords are searched in parallel. Requests of several clients run in parallel in
    /// any case.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        hide_default_value = true,
        value_parser = parse_threads
    )]
    pub(crate) threads: usize,

    #[command(flatten)]
    pub(crate) rerank: RerankFlags,
}

/// Serve .kb files to people and programs: pages for a browser, an HTTP API, and MCP at /mcp
///
/// The pages search, read and browse the files. They need nothing from any other server, and no script. The same process
/// answers programs at /api/v1 and MCP clients at /mcp. It can change nothing without --allow-write. It runs until Ctrl-C.
#[cfg(feature = "web")]
#[derive(Debug, Args)]
#[command(after_help = SERVE_EXAMPLES)]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    pub(crate) served: ServedArguments,

    /// The address to listen on; port 0 picks a free port
    ///
    /// 127.0.0.1 can be reached from this machine only. Any other address requires tokens (`kb token create NAME`). The
    /// connection is not encrypted: put the server behind a proxy with TLS. The Host header of a request must be this
    /// address, localhost, or a name given with --allow-host.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8000")]
    pub(crate) listen: String,

    /// Open the start page in the browser
    #[arg(long)]
    pub(crate) open: bool,

    /// Put this before every address of the pages and the API, such as /kb behind a proxy that serves other things too
    #[arg(
        long,
        value_name = "PATH",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) base_path: String,

    /// Allow requests for this host name, with or without a port (repeatable)
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,

    /// Allow web pages of this origin, scheme://host:port, to use the API (repeatable); :* allows any port
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) allow_origin: Vec<String>,

    /// Require a token of this file from every client; browsers sign in with one
    ///
    /// Default, if other machines can reach the server: kb/tokens.json in $XDG_CONFIG_HOME, or in ~/.config.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tokens: Option<PathBuf>,
}

#[cfg(feature = "web")]
const SERVE_EXAMPLES: &str = "\
Examples:
  kb serve                              the file of this folder, at http://127.0.0.1:8000/
  kb serve notes.kb --open              open it in the browser
  kb serve docs=manual.kb code=src.kb   two files, searched together
  kb serve notes.kb --listen 0.0.0.0:8000 --allow-host notes.example
  curl 'http://127.0.0.1:8000/api/v1/search?q=tides&k=3'";

/// Write the pages of .kb files as plain files, for any web server
///
/// The pages are those of `kb serve` without searching: folders, documents, facts. Links between them are relative, so the
/// folder can be served under any address. Nothing in it runs a script.
#[cfg(feature = "web")]
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kb site manual.kb -o public")]
pub(crate) struct SiteArguments {
    /// The .kb files, each FILE.kb or NAME=FILE.kb [default: the .kb file of this folder]
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<OsString>,

    /// The folder to write to; it is created, or must be empty
    #[arg(short, long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,

    /// Print no report
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Parses the name of a server in a configuration.
fn parse_server_name(text: &str) -> Result<String, String> {
    const LONGEST: usize = 40;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if (1..=LONGEST).contains(&text.len()) && text.chars().all(is_plain) {
        Ok(text.to_owned())
    } else {
        Err(format!("expected 1 to {LONGEST} letters, digits, _ and -"))
    }
}

/// Parses a number of threads.
fn parse_threads(text: &str) -> Result<usize, String> {
    let number = text.parse().ok();
    let number = number.filter(|number| (1..=THREADS_LIMIT).contains(number));
    number.ok_or_else(|| format!("expected a number from 1 to {THREADS_LIMIT}"))
}

/// Parses the name of a host.
fn hosts() -> impl TypedValueParser<Value = Host> {
    let names = PossibleValuesParser::new(Host::ALL.map(Host::name));
    names.map(|name| Host::from_name(&name).unwrap_or(Host::Claude))
}

const MCP_EXAMPLES: &str = "\
Examples:
  kb mcp notes.kb                       one file, on stdin and stdout
  kb mcp docs=manual.kb code=src.kb     two files with names of your choice
  kb mcp notes.kb --allow-write --allow-root ~/notes
  kb mcp notes.kb --http 127.0.0.1:8765
  kb mcp --connect http://127.0.0.1:8765/mcp
  kb mcp notes.kb --install claude --project
  kb mcp notes.kb --install vscode --dry-run";

/// Create, list and revoke access tokens for `kb serve` and `kb mcp --http`
///
/// A token is printed once, when it is created; the file holds its hash. At most 10 tokens. A running
/// server applies changes at once.
#[derive(Debug, Args)]
#[command(after_help = TOKEN_EXAMPLES, disable_help_subcommand = true)]
pub(crate) struct TokenArguments {
    #[command(subcommand)]
    pub(crate) action: TokenAction,

    /// The token file [default: kb/tokens.json in $XDG_CONFIG_HOME, or in ~/.config]
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tokens: Option<PathBuf>,

    /// Print JSON, one object per line
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// The subcommands of `kb token`.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenAction {
    /// Create a token and print it; it cannot be shown again
    Create {
        /// A name for the token, such as the client that uses it
        #[arg(value_name = "NAME")]
        name: String,

        /// Allow writes with this token (requires --allow-write)
        #[arg(long)]
        write: bool,
    },
    /// List the tokens: name, scope, when created and when last used
    List,
    /// Revoke a token; requests with it are then refused
    Revoke {
        /// The name of the token
        #[arg(value_name = "NAME")]
        name: String,
    },
}

const TOKEN_EXAMPLES: &str = "\
Examples:
  kb token create laptop                print a read-only token
  kb token create ci --write            print a token that also allows writes
  kb token list
  kb token revoke laptop";
