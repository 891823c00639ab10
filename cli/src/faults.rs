//! For tests of the workspace: see `kb_mcp::faults`. Only with the feature `testing`.

use std::path::PathBuf;

/// `KB_FAULT_CEILING`: the folder above which no .kb file is looked for, so that files that lie
/// around on the machine of a test do not answer.
pub(crate) fn ceiling() -> Option<PathBuf> {
    std::env::var_os("KB_FAULT_CEILING").map(PathBuf::from)
}
