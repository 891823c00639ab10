//! The one place that opens what stands in a source tree.
//!
//! A tree may hold anything, and may change at any time. So nothing is opened that is not a regular
//! file (a pipe would be waited for, a device may act on being opened), nothing is opened in a way that
//! waits, and what a walk has found is opened below the descriptor of its root without following a
//! link, so that a folder that became a link since leads nowhere. Neither does a root that became one,
//! or a folder above it: roots are known by paths without links.
//!
//! Windows has no descriptors of folders that a path could start from: there a link is looked for before
//! a file is opened, and one that comes in between is followed.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};

/// Longest path below a root, in bytes: what Linux and macOS take in one call. Deeper folders cannot be
/// read by other programs either.
const MAX_PATH_BYTES: usize = 4095;

/// What becomes of a link at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// What it leads to is opened: somebody named the file.
    Follow,
    /// It is not opened.
    Refuse,
}

/// Why a file is not opened. Displayed as a reason to leave it out.
#[derive(Debug)]
pub(crate) enum OpenError {
    /// It is a link, or a folder on the way to it is one.
    Link,
    /// A folder, pipe, socket or device.
    NotRegular,
    /// What the system says.
    Io(io::Error),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Link => f.write_str("symbolic link"),
            OpenError::NotRegular => f.write_str("not a regular file"),
            OpenError::Io(error) => write!(f, "cannot be read: {error}"),
        }
    }
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> OpenError {
        OpenError::Io(error)
    }
}

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    /// A pipe, socket or device.
    Special,
    /// The folder does not tell; [`OpenFolder::look`] does.
    Unknown,
}

/// What the system knows of a file without opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) kind: Kind,
    pub(crate) size_bytes: u64,
    /// Milliseconds since 1970, cut towards it; 0 when unknown.
    pub(crate) modified_ms: i64,
}

/// The folder of a root, kept open: paths below it start here whatever becomes of its name.
#[derive(Debug)]
pub(crate) struct SourceFolder {
    path: PathBuf,
    #[cfg(unix)]
    descriptor: std::os::fd::OwnedFd,
}

/// A folder whose entries are read.
#[derive(Debug)]
pub(crate) struct OpenFolder {
    #[cfg(unix)]
    folder: rustix::fs::Dir,
    #[cfg(not(unix))]
    folder: PathBuf,
}

impl SourceFolder {
    /// Where it was when it was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// A path below a folder has only names in it.
fn check_relative(relative: &Path) -> io::Result<()> {
    let mut parts = relative.components();
    if !parts.all(|part| matches!(part, Component::Normal(_))) {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    Ok(())
}

#[cfg(unix)]
mod system {
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::os::unix::ffi::OsStrExt;
    #[cfg(target_os = "linux")]
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
    use rustix::io::Errno;

    use super::*;

    /// Most attempts of one call while other programs rename folders on its way.
    #[cfg(target_os = "linux")]
    // `openat2` returns EAGAIN when a rename raced with it (openat2(2)). Sixteen in a row mean a
    // program that does so on purpose.
    const MOST_TRIES: usize = 16;

    fn flags() -> OFlags {
        // NONBLOCK: opening a pipe must not wait for a writer. NOCTTY: opening a terminal must not
        // make it the terminal of this process. CLOEXEC: workers must not inherit the sources.
        OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY
    }

    impl From<FileType> for Kind {
        fn from(kind: FileType) -> Kind {
            match kind {
                FileType::RegularFile => Kind::File,
                FileType::Directory => Kind::Folder,
                FileType::Symlink => Kind::Link,
                FileType::Unknown => Kind::Unknown,
                _ => Kind::Special,
            }
        }
    }

    impl From<Stat> for Look {
        #[allow(
            clippy::unnecessary_cast,
            reason = "the types of the fields differ from system to system"
        )]
        fn from(stat: Stat) -> Look {
            // i128: seconds of a hostile file system may be any i64.
            let nanoseconds = stat.st_mtime as i128 * 1_000_000_000 + stat.st_mtime_nsec as i128;
            Look {
                kind: FileType::from_raw_mode(stat.st_mode).into(),
                size_bytes: u64::try_from(stat.st_size).unwrap_or(0),
                modified_ms: i64::try_from(nanoseconds / 1_000_000).unwrap_or(0),
            }
        }
    }

    impl From<Errno> for OpenError {
        fn from(error: Errno) -> OpenError {
            match error {
                Errno::LOOP => OpenError::Link,
                // A socket, or a pipe that nobody reads.
                Errno::NXIO => OpenError::NotRegular,
                error => OpenError::Io(error.into()),
            }
        }
    }

    impl SourceFolder {
        /// Opens the folder at an absolute path without links. Whoever checked where the path leads
        /// need not check again: it leads there, or nowhere.
        ///
        /// # Errors
        /// Those of the system.
        pub(crate) fn open(path: &Path) -> io::Result<SourceFolder> {
            let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY;
            Ok(SourceFolder {
                path: path.to_owned(),
                descriptor: through_no_link(path, flags)?,
            })
        }

        /// What lies below at that path, if it is a link the link. Links on the way are followed.
        ///
        /// # Errors
        /// Those of the system.
        pub(crate) fn look(&self, relative: &Path) -> io::Result<Look> {
            check_relative(relative)?;
            let stat = rustix::fs::statat(&self.descriptor, relative, AtFlags::SYMLINK_NOFOLLOW)?;
            Ok(stat.into())
        }

        /// Opens a regular file below.
        pub(crate) fn open_file(&self, relative: &Path) -> Result<File, OpenError> {
            check_relative(relative)?;
            // Links on the way are only looked through here.
            let stat = rustix::fs::statat(&self.descriptor, relative, AtFlags::SYMLINK_NOFOLLOW)?;
            check_regular(stat)?;
            // Checked before and after: before, because opening a device may act on it; after,
            // because the name may lead to something else by then.
            regular(beneath(self.descriptor.as_fd(), relative, flags())?)
        }

        /// Opens a folder below, or with an empty path this one, to read its entries.
        ///
        /// # Errors
        /// Those of the system.
        pub(crate) fn open_folder(&self, relative: &Path) -> io::Result<OpenFolder> {
            check_relative(relative)?;
            let flags = flags() | OFlags::DIRECTORY;
            let folder = if relative.as_os_str().is_empty() {
                rustix::fs::openat(&self.descriptor, ".", flags, Mode::empty())?
            } else {
                beneath(self.descriptor.as_fd(), relative, flags)?
            };
            Ok(OpenFolder {
                folder: Dir::new(folder)?,
            })
        }
    }

    impl OpenFolder {
        /// Calls `visit` with name and kind of each entry, in no order, until it breaks.
        ///
        /// # Errors
        /// Those of the system; more entries may follow, but cannot be read.
        pub(crate) fn entries(
            &mut self,
            mut visit: impl FnMut(&OsStr, Kind) -> ControlFlow<()>,
        ) -> io::Result<()> {
            while let Some(entry) = self.folder.read() {
                let entry = entry?;
                let name = entry.file_name().to_bytes();
                if matches!(name, b"." | b"..") {
                    continue;
                }
                if visit(OsStr::from_bytes(name), entry.file_type().into()).is_break() {
                    break;
                }
            }
            Ok(())
        }

        /// What an entry is, if it is a link the link.
        ///
        /// # Errors
        /// Those of the system.
        pub(crate) fn look(&self, name: &OsStr) -> io::Result<Look> {
            let stat = rustix::fs::statat(self.folder.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
            Ok(stat.into())
        }

        /// Opens a regular file that is an entry.
        pub(crate) fn open_file(&self, name: &OsStr) -> Result<File, OpenError> {
            open_at(self.folder.fd()?, Path::new(name), Links::Refuse)
        }
    }

    /// Opens a regular file.
    pub(crate) fn open_regular(path: &Path, links: Links) -> Result<File, OpenError> {
        open_at(CWD, path, links)
    }

    /// What a path leads to; a link is followed.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn look(path: &Path) -> io::Result<Look> {
        Ok(rustix::fs::stat(path)?.into())
    }

    fn open_at(folder: BorrowedFd<'_>, path: &Path, links: Links) -> Result<File, OpenError> {
        let (look, open) = match links {
            Links::Follow => (AtFlags::empty(), OFlags::empty()),
            Links::Refuse => (AtFlags::SYMLINK_NOFOLLOW, OFlags::NOFOLLOW),
        };
        check_regular(rustix::fs::statat(folder, path, look)?)?;
        let file = rustix::fs::openat(folder, path, flags() | open, Mode::empty())?;
        regular(file)
    }

    fn check_regular(stat: Stat) -> Result<(), OpenError> {
        match Look::from(stat).kind {
            Kind::File => Ok(()),
            Kind::Link => Err(OpenError::Link),
            _ => Err(OpenError::NotRegular),
        }
    }

    /// What was opened may be something else than what was looked at.
    fn regular(file: OwnedFd) -> Result<File, OpenError> {
        check_regular(rustix::fs::fstat(&file)?)?;
        Ok(File::from(file))
    }

    /// Opens a folder by a path from the top of the file system.
    #[cfg(target_os = "linux")]
    fn through_no_link(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        use rustix::fs::ResolveFlags;
        // One call, in which the kernel checks each name: nothing can change between two checks of
        // ours.
        if let Some(opened) = in_one_call(CWD, path, flags, ResolveFlags::NO_SYMLINKS) {
            return Ok(opened?);
        }
        let top = OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY;
        let top = rustix::fs::open("/", top, Mode::empty())?;
        Ok(match path.strip_prefix("/") {
            Ok(below) if !below.as_os_str().is_empty() => step_by_step(top.as_fd(), below, flags)?,
            Ok(_) => rustix::fs::openat(&top, ".", flags, Mode::empty())?,
            Err(_) => return Err(io::Error::from(io::ErrorKind::InvalidInput)),
        })
    }

    /// The same where the folders on the way cannot be opened one by one, since that takes leave to list
    /// them: a link is looked for when the folder is open.
    #[cfg(not(target_os = "linux"))]
    fn through_no_link(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let opened = rustix::fs::open(path, flags | OFlags::NOFOLLOW, Mode::empty())?;
        if std::fs::canonicalize(path)? == path {
            Ok(opened)
        } else {
            Err(Errno::LOOP.into())
        }
    }

    /// Opens what lies below a folder, through no link.
    fn beneath(folder: BorrowedFd<'_>, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        if relative.as_os_str().len() > MAX_PATH_BYTES {
            return Err(Errno::NAMETOOLONG);
        }
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::ResolveFlags;
            // BENEATH refuses a folder that was moved out of the root while the path was resolved.
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            if let Some(opened) = in_one_call(folder, relative, flags, resolve) {
                return opened;
            }
        }
        step_by_step(folder, relative, flags)
    }

    /// With `openat2` of Linux 5.6; `None` where it is missing, or refused by a sandbox.
    #[cfg(target_os = "linux")]
    fn in_one_call(
        folder: BorrowedFd<'_>,
        relative: &Path,
        flags: OFlags,
        resolve: rustix::fs::ResolveFlags,
    ) -> Option<Result<OwnedFd, Errno>> {
        static IS_MISSING: AtomicBool = AtomicBool::new(false);
        if IS_MISSING.load(Ordering::Relaxed) {
            return None;
        }
        for _ in 0..MOST_TRIES {
            match rustix::fs::openat2(folder, relative, flags, Mode::empty(), resolve) {
                // A folder on the way was renamed meanwhile.
                Err(Errno::AGAIN) => {}
                Err(Errno::NOSYS) => {
                    IS_MISSING.store(true, Ordering::Relaxed);
                    return None;
                }
                // Sandboxes (older Docker and systemd) answer unknown calls with EPERM. It may also
                // be the answer for this one file, so it is not remembered.
                Err(Errno::PERM) => return None,
                opened => return Some(opened),
            }
        }
        None
    }

    /// With one call for each folder on the way.
    fn step_by_step(
        folder: BorrowedFd<'_>,
        relative: &Path,
        flags: OFlags,
    ) -> Result<OwnedFd, Errno> {
        // Enough to go on from, also where the folder itself may not be listed.
        #[cfg(target_os = "linux")]
        let through = OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        #[cfg(not(target_os = "linux"))]
        let through = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let mut current: Option<OwnedFd> = None;
        let mut names = relative.iter().peekable();
        while let Some(name) = names.next() {
            let flags = match names.peek() {
                Some(_) => through,
                // Each name is opened by itself without following a link, from the descriptor of
                // the folder before.
                None => flags | OFlags::NOFOLLOW,
            };
            let from = current.as_ref().map_or(folder, |opened| opened.as_fd());
            current = Some(rustix::fs::openat(from, name, flags, Mode::empty())?);
        }
        current.ok_or(Errno::INVAL)
    }

    #[cfg(test)]
    pub(super) fn open_step_by_step(
        folder: &SourceFolder,
        relative: &Path,
    ) -> Result<File, OpenError> {
        regular(step_by_step(folder.descriptor.as_fd(), relative, flags())?)
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::Metadata;

    use super::*;
    use crate::ingest::clock::modified_ms;

    impl From<&Metadata> for Look {
        fn from(metadata: &Metadata) -> Look {
            let kind = match metadata.file_type() {
                kind if kind.is_symlink() => Kind::Link,
                kind if kind.is_dir() => Kind::Folder,
                kind if kind.is_file() => Kind::File,
                _ => Kind::Special,
            };
            Look {
                kind,
                size_bytes: metadata.len(),
                modified_ms: modified_ms(metadata),
            }
        }
    }

    impl SourceFolder {
        pub(crate) fn open(path: &Path) -> io::Result<SourceFolder> {
            std::fs::read_dir(path)?;
            if path.symlink_metadata()?.is_symlink() {
                return Err(io::Error::from(io::ErrorKind::InvalidInput));
            }
            let path = path.to_owned();
            Ok(SourceFolder { path })
        }

        pub(crate) fn look(&self, relative: &Path) -> io::Result<Look> {
            check_relative(relative)?;
            Ok(Look::from(&self.path.join(relative).symlink_metadata()?))
        }

        pub(crate) fn open_file(&self, relative: &Path) -> Result<File, OpenError> {
            check_relative(relative)?;
            open_regular(&self.path.join(relative), Links::Refuse)
        }

        pub(crate) fn open_folder(&self, relative: &Path) -> io::Result<OpenFolder> {
            check_relative(relative)?;
            let folder = self.path.join(relative);
            if relative.as_os_str().len() > MAX_PATH_BYTES
                || folder.symlink_metadata()?.is_symlink()
            {
                return Err(io::Error::from(io::ErrorKind::InvalidInput));
            }
            Ok(OpenFolder { folder })
        }
    }

    impl OpenFolder {
        pub(crate) fn entries(
            &mut self,
            mut visit: impl FnMut(&OsStr, Kind) -> ControlFlow<()>,
        ) -> io::Result<()> {
            for entry in std::fs::read_dir(&self.folder)? {
                let entry = entry?;
                let look = Look::from(&entry.metadata()?);
                if visit(&entry.file_name(), look.kind).is_break() {
                    break;
                }
            }
            Ok(())
        }

        pub(crate) fn look(&self, name: &OsStr) -> io::Result<Look> {
            Ok(Look::from(&self.folder.join(name).symlink_metadata()?))
        }

        pub(crate) fn open_file(&self, name: &OsStr) -> Result<File, OpenError> {
            open_regular(&self.folder.join(name), Links::Refuse)
        }
    }

    pub(crate) fn open_regular(path: &Path, links: Links) -> Result<File, OpenError> {
        let metadata = match links {
            Links::Follow => path.metadata()?,
            Links::Refuse => path.symlink_metadata()?,
        };
        match Look::from(&metadata).kind {
            Kind::File => {}
            Kind::Link => return Err(OpenError::Link),
            _ => return Err(OpenError::NotRegular),
        }
        let file = File::open(path)?;
        match Look::from(&file.metadata()?).kind {
            Kind::File => Ok(file),
            _ => Err(OpenError::NotRegular),
        }
    }

    pub(crate) fn look(path: &Path) -> io::Result<Look> {
        Ok(Look::from(&path.metadata()?))
    }
}

pub(crate) use system::{look, open_regular};

#[cfg(test)]
#[cfg(unix)]
mod tests;
