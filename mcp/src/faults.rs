//! For tests: holds an index run while a test inspects or kills the process. Only with the feature
//! `faults`.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kb_engine::Progress;

/// With `KB_FAULT_HOLD=FILE`, an index run creates FILE after its first document, before anything is
/// committed, and waits until it is cancelled or FILE is removed.
pub fn hold(progress: Progress, cancel: &AtomicBool) {
    let Some(file) = std::env::var_os("KB_FAULT_HOLD").filter(|_| progress.files_done == 1) else {
        return;
    };
    let file = Path::new(&file);
    if std::fs::write(file, "").is_ok() {
        while file.exists() && !cancel.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
