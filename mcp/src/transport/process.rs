//! What a server sets up once for its process: the signals that stop it, and how a panic is reported.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::options::Note;

/// Whether Ctrl-C stopped a server of this process.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether the server that ended was stopped by Ctrl-C.
pub fn was_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Completes when the process receives SIGTERM or Ctrl-C.
pub(super) async fn shutdown_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => return,
                interrupt = tokio::signal::ctrl_c() => if interrupt.is_ok() {
                    INTERRUPTED.store(true, Ordering::Relaxed);
                    return;
                },
            }
        }
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_ok() {
        INTERRUPTED.store(true, Ordering::Relaxed);
        return;
    }
    // No handler could be installed: signals keep their default action, which ends the process.
    tokio::time::sleep(Duration::MAX).await;
}

/// Reports every panic as one line through `note`. The call that panicked gets an error, and the
/// server goes on.
pub(super) fn install_panic_hook(note: &Note) {
    let note = Arc::clone(note);
    std::panic::set_hook(Box::new(move |panic| {
        let location = panic.location().map(ToString::to_string);
        let location = location.unwrap_or_else(|| "an unknown place".to_owned());
        let message = panic.payload_as_str().unwrap_or("no message");
        note(&format!("a bug at {location}: {message}"));
    }));
}
