//! For tests of the workspace: runs that are held where a test can look at them or end them. Only with
//! the feature `faults`.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kb_engine::Progress;

/// With `KB_FAULT_HOLD=FILE` an index run makes FILE once the first document is written and nothing is
/// committed. It goes on when it is cancelled or FILE is gone.
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
