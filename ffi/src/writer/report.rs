//! [`kb_report`]: what an index run or sealing did.

use crate::base::boundary::fallible;
use crate::base::error::kb_error;
use crate::base::handle::{self, Opaque};
use crate::base::options;
use crate::base::panic::infallible;
use crate::base::status::kb_status;
use crate::base::str::kb_str;
use crate::writer::Report;
use crate::writer::numbers::kb_report_view;

/// Report of an index run or of sealing. The caller owns it: `kb_report_free`.
#[allow(non_camel_case_types)]
pub struct kb_report {
    _private: [u8; 0],
}

impl Opaque for kb_report {
    type Value = Report;
    const TAG: u64 = u64::from_le_bytes(*b"kb.repts");
    const NAME: &str = "kb_report";
}

/// Fills `out`: `kb_report_view view = KB_REPORT_VIEW_INIT;`
///
/// # Safety
/// `report` is live; `out` may be written as far as its size says; `err` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_report_get(
    report: *const kb_report,
    out: *mut kb_report_view,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            let report = handle::used(report, "report")?;
            options::fill(out, &report.view(), "out")
        })
    }
}

/// The report as `kb index --json` and `kb seal --json` print it, with every changed document and every skipped file. Valid
/// until the report is freed; empty for NULL.
///
/// # Safety
/// `report` is NULL or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_report_json(report: *const kb_report) -> kb_str {
    infallible(kb_str::EMPTY, || {
        // SAFETY: as the caller promises.
        unsafe { handle::peek(report) }.map_or(kb_str::EMPTY, |report| kb_str::of(report.json()))
    })
}

/// Frees a report and sets the pointer to NULL. Does nothing if either is NULL.
///
/// # Safety
/// `report` is NULL or points to NULL or to a live report.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_report_free(report: *mut *mut kb_report) {
    // SAFETY: as the caller promises.
    infallible((), || unsafe { handle::free(report) });
}
