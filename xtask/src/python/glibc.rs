//! Which GNU C library a shared library needs.

/// A version of the GNU C library: 2.28 is `(2, 28)`.
pub(crate) type Version = (u32, u32);

/// The newest version that wheels may need: that of `manylinux2014`.
pub(crate) const NEWEST: Version = (2, 17);

/// What stands before each version in the table of strings of a library.
const PREFIX: &[u8] = b"GLIBC_";

/// The newest version that a library asks for, by the names in its bytes; `None` where it asks for none.
pub(crate) fn newest_needed(library: &[u8]) -> Option<Version> {
    let places = library
        .windows(PREFIX.len())
        .enumerate()
        .filter(|(_, bytes)| *bytes == PREFIX);
    let versions = places.filter_map(|(at, _)| {
        let name = library.get(at + PREFIX.len()..)?;
        // A name ends with a zero byte; `GLIBC_PRIVATE` and texts that only begin so are none.
        let end = name.iter().take(16).position(|byte| *byte == 0)?;
        let name = std::str::from_utf8(name.get(..end)?).ok()?;
        let mut numbers = name.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    });
    versions.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_is_found() {
        let names = b"\0pthread_create\0GLIBC_2.2.5\0GLIBC_2.34\0hypot\0GLIBC_2.4\0GLIBC_PRIVATE\0GLIBC_9 is text";
        assert_eq!(newest_needed(names), Some((2, 34)));
        assert_eq!(newest_needed(b"GLIBCXX_3.4\0GLIBC_2.17"), None);
        assert!(newest_needed(b"GLIBC_2.17\0") <= Some(NEWEST));
    }
}
