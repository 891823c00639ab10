//! Numbers and texts of binary formats.

/// The two bytes at `at`.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

/// The four bytes at `at`.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

/// The four bytes at `at`, as a place or a length.
pub(crate) fn place_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32_at(bytes, at)?).ok()
}

/// The `length` bytes from `start` on, or as many of them as there are.
pub(crate) fn stretch(bytes: &[u8], start: usize, length: usize) -> &[u8] {
    let rest = bytes.get(start..).unwrap_or_default();
    rest.get(..length).unwrap_or(rest)
}

/// UTF-16 without a mark; half a pair becomes U+FFFD.
pub(crate) fn utf_16(bytes: &[u8]) -> String {
    let (text, _) = encoding_rs::UTF_16LE.decode_without_bom_handling(bytes);
    text.into_owned()
}
