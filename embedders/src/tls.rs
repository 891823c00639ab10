//! What a build without TLS says of addresses that need it.

use kb_types::EmbedError;

/// Says that this build has no TLS, and how one gets it.
pub(crate) fn missing() -> EmbedError {
    EmbedError::Missing {
        what: "TLS for https:// (this build is without the feature \"tls\"; `cargo build --release --features tls` adds it)"
            .to_owned(),
    }
}
