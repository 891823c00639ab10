//! Who may read and write a file that is about to take its name: as many as may with the file that it
//! replaces, and never more.
//!
//! Owner, group and permission bits are kept as far as the system lets this process. Access control
//! lists and other extended attributes are not: a file that has a list ends up its owner's alone,
//! because its permission bits do not say who may do what.

use std::fs::{File, Permissions};
use std::io;

#[cfg(unix)]
pub(crate) use of_unix::{Access, apply_access};

use crate::container::write::disk;

#[cfg(unix)]
mod of_unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    use super::{File, Permissions, disk, io};

    const OWNER: u32 = 0o700;
    const GROUP: u32 = 0o070;
    const OTHERS: u32 = 0o007;

    /// Permissions of a new file before the umask, as of any program that writes data.
    const NEW_FILE: u32 = 0o666;

    /// Where Linux keeps the access control list of a file.
    #[cfg(target_os = "linux")]
    // Only the presence of the attribute is needed, so libacl is not linked.
    const ACCESS_LIST: &str = "system.posix_acl_access";

    /// Who may do what with a file.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Access {
        owner: u32,
        group: u32,
        /// The nine permission bits.
        mode: u32,
    }

    impl Access {
        /// That of an open file; of one with an access control list, what its owner has.
        pub(crate) fn of(file: &File) -> io::Result<Access> {
            let metadata = file.metadata()?;
            let mode = metadata.mode() & (OWNER | GROUP | OTHERS);
            Ok(Access {
                owner: metadata.uid(),
                group: metadata.gid(),
                // With a list the group bits are its mask, so they may allow more than the group
                // really has.
                mode: if has_list(file) { mode & OWNER } else { mode },
            })
        }

        /// Permission bits with which a file of that owner and group lets nobody but its owner do more
        /// than this one: who was owner, or in the group, may be one of the others there.
        fn mode_for(self, owner: u32, group: u32) -> u32 {
            let mut mode = self.mode;
            if owner != self.owner {
                // The former owner is now in the group or one of the others, so both get at most
                // what he had.
                mode &= OWNER | mode >> 3 & GROUP | mode >> 6 & OTHERS;
            }
            if group != self.group {
                // Members of the new group were others before; members of the old group are others
                // now.
                mode &= OWNER | mode << 3 & GROUP | mode >> 3 & OTHERS;
            }
            mode
        }
    }

    /// Gives `file`, which is its owner's alone so far, the access of the file that it replaces, or
    /// without one that of a new file; but none that `source` does not give.
    pub(crate) fn apply_access(
        file: &File,
        replaced: Option<&File>,
        source: Option<Access>,
    ) -> io::Result<()> {
        let replaced = replaced.map(Access::of).transpose()?;
        if let Some(replaced) = replaced {
            copy_owner(file, replaced)?;
        }
        let now = file.metadata()?;
        let limits = replaced.into_iter().chain(source);
        let modes = limits.map(|limit| limit.mode_for(now.uid(), now.gid()));
        let default = match replaced {
            Some(_) => OWNER | GROUP | OTHERS,
            None => NEW_FILE & !umask(),
        };
        let mode = modes.fold(default, |mode, limit| mode & limit);
        if replaced.is_some() || source.is_some() {
            // A list that the folder gave it would let people in whom the bits keep out.
            drop_list(file)?;
        }
        disk::set_permissions(file, Permissions::from_mode(mode))
    }

    /// Owner and group, or the group at least, as far as this process may.
    fn copy_owner(file: &File, wanted: Access) -> io::Result<()> {
        let now = file.metadata()?;
        if (now.uid(), now.gid()) != (wanted.owner, wanted.group)
            // Only root may give a file away. A member of the group may still set the group.
            && fchown(file, Some(wanted.owner), Some(wanted.group)).is_err()
        {
            let _ = fchown(file, None, Some(wanted.group));
        }
        Ok(())
    }

    #[cfg(target_os = "linux")]
    fn has_list(file: &File) -> bool {
        rustix::fs::fgetxattr_query(file, ACCESS_LIST).is_ok()
    }

    #[cfg(not(target_os = "linux"))]
    fn has_list(_: &File) -> bool {
        false
    }

    #[cfg(target_os = "linux")]
    fn drop_list(file: &File) -> io::Result<()> {
        if has_list(file) {
            Ok(rustix::fs::fremovexattr(file, ACCESS_LIST)?)
        } else {
            Ok(())
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn drop_list(_: &File) -> io::Result<()> {
        Ok(())
    }

    /// What this process takes from the permissions of new files.
    fn umask() -> u32 {
        umask_from_proc().unwrap_or_else(umask_by_setting)
    }

    /// The umask, changed for a moment, because the system tells the old one only for a new one. A file
    /// that another thread makes in between has fewer permissions and never more.
    fn umask_by_setting() -> u32 {
        use rustix::fs::Mode;
        use rustix::process::umask;
        // 0o077 is the strictest common mask: a file made in this moment is never too open.
        let own = umask(Mode::from_raw_mode(0o077));
        umask(own);
        #[allow(clippy::useless_conversion, reason = "of 16 bits on some systems")]
        u32::from(own.as_raw_mode())
    }

    /// The umask without changing it, where the system tells it.
    #[cfg(target_os = "linux")]
    fn umask_from_proc() -> Option<u32> {
        let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
        let mask = status
            .lines()
            .find_map(|line| line.strip_prefix("Umask:"))?;
        u32::from_str_radix(mask.trim(), 8).ok()
    }

    #[cfg(not(target_os = "linux"))]
    fn umask_from_proc() -> Option<u32> {
        None
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn access(owner: u32, group: u32, mode: u32) -> Access {
            Access { owner, group, mode }
        }

        #[test]
        fn nobody_gains_when_owner_or_group_cannot_be_kept() {
            // (mode, same group, other group, other owner, both others)
            let cases = [
                (0o644, 0o644, 0o644, 0o644, 0o644),
                (0o600, 0o600, 0o600, 0o600, 0o600),
                // The members of the new group were others, with nothing.
                (0o640, 0o640, 0o600, 0o640, 0o600),
                (0o664, 0o664, 0o644, 0o664, 0o644),
                // The members of the old group, which had nothing, are others now.
                (0o604, 0o604, 0o600, 0o604, 0o600),
                // So is the old owner, who could not even read.
                (0o066, 0o066, 0o066, 0o000, 0o000),
                (0o460, 0o460, 0o400, 0o440, 0o400),
            ];
            for (mode, same, other_group, other_owner, both) in cases {
                let of = access(1, 2, mode);
                let found = [
                    of.mode_for(1, 2),
                    of.mode_for(1, 3),
                    of.mode_for(4, 2),
                    of.mode_for(4, 3),
                ];
                assert_eq!(found, [same, other_group, other_owner, both], "{mode:o}");
            }
        }

        #[test]
        fn the_umask_is_told_and_not_changed() {
            let before = umask_by_setting();
            assert_eq!(umask(), before);
            assert_eq!(umask_by_setting(), before);
        }

        #[cfg(target_os = "linux")]
        #[test]
        fn a_list_of_access_leaves_a_file_to_its_owner() {
            let (replaced, file) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
            // Version 2; owner rw-, user 1 r--, group ---, mask r--, others r--.
            let entries: [(u16, u16, u32); 5] = [
                (1, 6, u32::MAX),
                (2, 4, 1),
                (4, 0, u32::MAX),
                (16, 4, u32::MAX),
                (32, 4, u32::MAX),
            ];
            let mut list = 2u32.to_le_bytes().to_vec();
            for (tag, bits, id) in entries {
                list.extend(tag.to_le_bytes());
                list.extend(bits.to_le_bytes());
                list.extend(id.to_le_bytes());
            }
            let flags = rustix::fs::XattrFlags::empty();
            if rustix::fs::fsetxattr(&replaced, ACCESS_LIST, &list, flags).is_err() {
                println!("skipped: no access control lists here");
                return;
            }
            // The bits alone would let the group read, which the list keeps out.
            assert_eq!(replaced.metadata().unwrap().mode() & 0o777, 0o644);
            assert_eq!(Access::of(&replaced).unwrap().mode, 0o600);
            rustix::fs::fsetxattr(&file, ACCESS_LIST, &list, flags).unwrap();
            apply_access(&file, Some(&replaced), None).unwrap();
            assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
            assert!(!has_list(&file));
        }
    }
}

/// Permissions of a file; on Windows all that is kept is whether it is read-only.
#[cfg(not(unix))]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access;

#[cfg(not(unix))]
impl Access {
    pub(crate) fn of(_: &File) -> io::Result<Access> {
        Ok(Access)
    }
}

#[cfg(not(unix))]
pub(crate) fn apply_access(
    file: &File,
    replaced: Option<&File>,
    _: Option<Access>,
) -> io::Result<()> {
    match replaced {
        Some(replaced) => disk::set_permissions(file, replaced.metadata()?.permissions()),
        None => Ok(()),
    }
}
