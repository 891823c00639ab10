//! Flags of the verbs that serve a file to other programs.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};

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
}

const MCP_EXAMPLES: &str = "\
Examples:
  kb mcp notes.kb                       one file, on stdin and stdout
  kb mcp docs=manual.kb code=src.kb     two files under names of your choice
  kb mcp notes.kb --allow-write --allow-root ~/notes";
