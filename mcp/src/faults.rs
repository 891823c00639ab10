//! For tests: holds an index run or an import while a test inspects or kills the process. Only with the feature
//! `faults`.

use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kb_engine::{Progress, Stage};

thread_local! {
    /// What this thread was called with last.
    static LAST: Cell<Option<Progress>> = const { Cell::new(None) };
}

/// With `KB_FAULT_HOLD=FILE`, an index run creates FILE after its first document, an import after its first row,
/// before anything is committed, and waits until it is cancelled or FILE is removed. With `KB_FAULT_HOLD_SYMBOLS` set, it
/// does so after the first program that the second pass of a run parses.
pub fn hold(progress: &Progress, cancel: &AtomicBool) {
    // The hook is called again with the same progress while the run goes on.
    if LAST.replace(Some(*progress)) == Some(*progress) {
        return;
    }
    let in_symbols = std::env::var_os("KB_FAULT_HOLD_SYMBOLS").is_some();
    let is_due = progress.files_done == 1 && (progress.stage == Stage::Symbols || !in_symbols);
    let Some(file) = std::env::var_os("KB_FAULT_HOLD").filter(|_| is_due) else {
        return;
    };
    let file = Path::new(&file);
    if std::fs::write(file, "").is_ok() {
        while file.exists() && !cancel.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
