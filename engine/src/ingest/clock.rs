//! Times of the system as the file stores them.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970; negative before.
fn unix_ms(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
    }
}

/// When a file was changed, in milliseconds since 1970; 0 when unknown.
#[cfg(not(unix))]
pub(super) fn modified_ms(metadata: &std::fs::Metadata) -> i64 {
    metadata.modified().map_or(0, unix_ms)
}

/// When a file or folder was made and when it was changed, in milliseconds since 1970; `None` where the system does not
/// say both.
pub(super) fn made_and_changed_ms(metadata: &std::fs::Metadata) -> Option<(i64, i64)> {
    let (made, changed) = metadata.created().ok().zip(metadata.modified().ok())?;
    Some((unix_ms(made), unix_ms(changed)))
}

/// The time now, in milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    unix_ms(SystemTime::now())
}
