//! Flags of the verbs that serve a file to other programs.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
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

    /// With --allow-write: a folder that clients may have indexed (repeatable) [default: this folder]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "allow_write")]
    pub(crate) allow_root: Vec<PathBuf>,

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
  kb mcp notes.kb --print-config vscode > .vscode/mcp.json";
