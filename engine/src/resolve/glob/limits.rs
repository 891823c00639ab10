//! Limits of one glob. A glob comes from a user or a client: its states, which take memory and time, and the depth of
//! its braces, which are walked by recursion, are bounded by them.

/// Most bytes of one glob.
pub(super) const GLOB_LIMIT_BYTES: usize = 4096;

/// Most `{` in one glob. This bounds the nesting of its braces, whatever is escaped.
pub(super) const BRACES_LIMIT: usize = 32;

/// Most `,` in one glob. This bounds the number of its alternatives.
pub(super) const COMMAS_LIMIT: usize = 1024;

/// Checks that a glob is small enough to be parsed and matched.
///
/// # Errors
/// A sentence with the limit and what exceeds it.
pub(super) fn check_limits(glob: &str) -> std::result::Result<(), String> {
    if glob.len() > GLOB_LIMIT_BYTES {
        return Err(format!(
            "it has {} bytes; at most {GLOB_LIMIT_BYTES} are allowed",
            glob.len()
        ));
    }
    let count = |wanted: u8| glob.bytes().filter(|byte| *byte == wanted).count();
    for (byte, limit) in [(b'{', BRACES_LIMIT), (b',', COMMAS_LIMIT)] {
        let there = count(byte);
        if there > limit {
            let byte = char::from(byte);
            return Err(format!(
                "it has {there} `{byte}`; at most {limit} are allowed"
            ));
        }
    }
    Ok(())
}
