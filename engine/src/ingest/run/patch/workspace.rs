//! A folder beside the output, for files that are not complete. It goes when it is dropped.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use kb_types::error::{Error, Result};

use crate::container::sync_folder;

/// Folders that this process made so far: each has a name of its own.
static MADE: AtomicU64 = AtomicU64::new(0);

/// Says what is wrong with replacing a file that is there.
pub(super) type Replaceable = fn(&Path) -> Result<()>;

#[derive(Debug)]
pub(super) struct Workspace {
    folder: PathBuf,
    /// `None`: nothing may be replaced.
    replaceable: Option<Replaceable>,
}

impl Workspace {
    /// One in the folder of the output, so that a rename suffices to publish a file.
    pub(super) fn beside(output: &Path, replaceable: Option<Replaceable>) -> Result<Workspace> {
        refuse_existing(output, replaceable)?;
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
            replaceable,
        })
    }

    /// The path of a file in it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Gives a complete file the name of the output.
    pub(super) fn publish(&self, file: &Path, output: &Path) -> Result<()> {
        refuse_existing(output, self.replaceable)?;
        fs::rename(file, output).map_err(|error| Error::io("rename", output, error))?;
        // The name survives a power loss, as the file does.
        let folder = output
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        sync_folder(folder).map_err(|error| Error::io("sync", folder, error))
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // What is left is named after the output and ends with `.part`: nobody takes it for a file.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn refuse_existing(output: &Path, replaceable: Option<Replaceable>) -> Result<()> {
    if output.symlink_metadata().is_err() {
        return Ok(());
    }
    match replaceable {
        Some(check) if !output.is_dir() => check(output),
        _ => Err(Error::OutputExists {
            path: output.to_path_buf(),
        }),
    }
}
