//! Flags of the verbs that serve a file to other programs.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueHint};
use kb_mcp::hosts::Host;

/// Serve .kb files to agents and editors (Model Context Protocol)
///
/// A program that speaks the protocol starts this command and talks to it on stdin and stdout; it
/// ends when stdin does. The program's model can then search the files, read documents and outlines,
/// and list folders. Nothing can be changed without --allow-write.
///
/// Where the program lies on the same machine there is nothing else to set up: no network, no
/// account, no model to download.
#[derive(Debug, Args)]
#[command(after_help = MCP_EXAMPLES)]
pub(crate) struct McpArguments {
    /// The .kb files, each with the name that clients call it by [default: its file name without .kb]
    ///
    /// Without any: the file that KB_FILE names, else the single .kb file in this folder, or in the
    /// nearest folder above that has one. With --allow-write a file that does not exist is made.
    #[arg(value_name = "[NAME=]FILE.kb", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<OsString>,

    /// Let clients upload documents, index folders and clear files
    #[arg(long)]
    pub(crate) allow_write: bool,

    /// With --allow-write: a folder that may be indexed (repeatable) [default: this folder]
    ///
    /// For clients, and for --watch: folders count by where they are with all links followed.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "allow_write")]
    pub(crate) allow_root: Vec<PathBuf>,

    /// With --allow-write: keep the files up to date with the folders that they were made from
    ///
    /// A file that was made from no folder, or from one that is not there or lies outside of
    /// --allow-root, stays as it is.
    #[arg(long, requires = "allow_write")]
    pub(crate) watch: bool,

    /// Serve clients over HTTP at this address instead, at /mcp; port 0 is any free one
    ///
    /// The address of this server is printed on stderr. 127.0.0.1 can be reached from this machine
    /// only; any other address needs tokens (`kb token create NAME`), and has no encryption of its own:
    /// put it behind a proxy that has. Clients are let in that ask for this address, for localhost, or
    /// for a name that --allow-host says; with 0.0.0.0 other machines need one.
    #[arg(
        long,
        value_name = "ADDR:PORT",
        conflicts_with = "print_config",
        help_heading = "HTTP"
    )]
    pub(crate) http: Option<String>,

    /// A name that clients know the server by, with a port or without (repeatable)
    #[arg(long, value_name = "HOST", requires = "http", help_heading = "HTTP")]
    pub(crate) allow_host: Vec<String>,

    /// A web page that may ask, as scheme://host:port (repeatable); :* is any port
    #[arg(long, value_name = "ORIGIN", requires = "http", help_heading = "HTTP")]
    pub(crate) allow_origin: Vec<String>,

    /// Ask every client for a token of this file [default, where others can reach the server:
    /// kb/tokens.json in $XDG_CONFIG_HOME, or in ~/.config]
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        requires = "http",
        help_heading = "HTTP"
    )]
    pub(crate) tokens: Option<PathBuf>,

    /// Start nothing; print what makes that program start this server
    ///
    /// The paths in it are absolute, and the other flags are in it.
    #[arg(long, value_name = "HOST", value_parser = hosts())]
    pub(crate) print_config: Option<Host>,
}

/// The names of hosts that can be configured.
fn hosts() -> impl TypedValueParser<Value = Host> {
    let names = PossibleValuesParser::new(Host::ALL.map(Host::name));
    names.map(|name| Host::from_name(&name).unwrap_or(Host::Claude))
}

const MCP_EXAMPLES: &str = "\
Examples:
  kb mcp notes.kb                       one file, on stdin and stdout
  kb mcp docs=manual.kb code=src.kb     two files under names of your choice
  kb mcp notes.kb --allow-write --allow-root ~/notes
  kb mcp notes.kb --http 127.0.0.1:8765
  kb mcp notes.kb --print-config vscode > .vscode/mcp.json";

/// Make, list and revoke the tokens that clients of `kb mcp --http` show
///
/// A token is printed once, when it is made; the file holds a hash of it. At most 10 tokens. A running
/// server follows every change at once.
#[derive(Debug, Args)]
#[command(after_help = TOKEN_EXAMPLES, disable_help_subcommand = true)]
pub(crate) struct TokenArguments {
    #[command(subcommand)]
    pub(crate) action: TokenAction,

    /// The file of the tokens [default: kb/tokens.json in $XDG_CONFIG_HOME, or in ~/.config]
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tokens: Option<PathBuf>,

    /// Print JSON, one object per line
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What is done with tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenAction {
    /// Make a token and print it, this once
    Create {
        /// What you call it, such as the client that has it
        #[arg(value_name = "NAME")]
        name: String,

        /// Let its clients write, where the server lets anybody
        #[arg(long)]
        write: bool,
    },
    /// List the tokens: names, what they allow, when they were made and last used
    List,
    /// Remove a token; its clients are refused from then on
    Revoke {
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
    },
}

const TOKEN_EXAMPLES: &str = "\
Examples:
  kb token create laptop                print a token that may read
  kb token create ci --write            one that may also write
  kb token list
  kb token revoke laptop";
