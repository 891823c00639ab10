//! A folder beside the output, for files that are not complete. It goes when it is dropped.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use kb_types::error::{Error, Result};

/// Folders that this process made so far: each has a name of its own.
static MADE: AtomicU64 = AtomicU64::new(0);

#[derive(Debug)]
pub(super) struct Workspace {
    folder: PathBuf,
    may_replace: bool,
}

impl Workspace {
    /// One in the folder of the output, so that a rename suffices to publish a file.
    pub(super) fn beside(output: &Path, may_replace: bool) -> Result<Workspace> {
        refuse_existing(output, may_replace)?;
        let name = output.file_name().unwrap_or_default().to_string_lossy();
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let folder = format!(".{name}.{}.{number}.part", std::process::id());
        let folder = output.with_file_name(folder);
        fs::create_dir(&folder).map_err(|error| match output.parent() {
            Some(parent) if !parent.as_os_str().is_empty() && !parent.exists() => {
                Error::PathNotFound {
                    path: parent.to_path_buf(),
                }
            }
            _ => Error::io("create", &folder, error),
        })?;
        Ok(Workspace {
            folder,
            may_replace,
        })
    }

    /// The path of a file in it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Gives a complete file the name of the output.
    pub(super) fn publish(&self, file: &Path, output: &Path) -> Result<()> {
        refuse_existing(output, self.may_replace)?;
        fs::rename(file, output).map_err(|error| Error::io("rename", output, error))
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // What is left is named after the output and ends with `.part`: nobody takes it for a file.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn refuse_existing(output: &Path, may_replace: bool) -> Result<()> {
    if output.is_dir() || (!may_replace && output.symlink_metadata().is_ok()) {
        let path = output.to_path_buf();
        return Err(Error::OutputExists { path });
    }
    Ok(())
}
