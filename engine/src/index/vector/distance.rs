//! Signed bytes as they lie in the map.

/// A row of bytes from the map as signed bytes.
pub fn as_signed(bytes: &[u8]) -> &[i8] {
    // SAFETY: u8 and i8 have the same size, alignment and validity; the lifetime is kept.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast::<i8>(), bytes.len()) }
}
