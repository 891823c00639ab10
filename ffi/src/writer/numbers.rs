//! The numbers of a report.

use crate::base::options::BySize;
use crate::base::str::kb_str;

/// The numbers of a report. Fields of the other kind of report are 0.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_report_view {
    /// sizeof(kb_report_view).
    pub struct_size: usize,
    /// Documents of the file.
    pub documents: u64,
    /// Index run: chunks of the file.
    pub chunks: u64,
    /// Index run: documents that were added.
    pub added: u64,
    /// Index run: documents that were updated.
    pub updated: u64,
    /// Index run: documents that were removed.
    pub removed: u64,
    /// Index run: documents that are unchanged.
    pub unchanged: u64,
    /// Index run: files that were skipped.
    pub skipped: u64,
    /// Sealing: bytes of the file before.
    pub bytes_before: u64,
    /// Sealing: bytes of the sealed file.
    pub bytes_after: u64,
    /// Sealing: hash of the whole content. Valid until the report is freed.
    pub content_root: kb_str,
}

impl kb_report_view {
    /// Of nothing.
    #[cfg(feature = "write")]
    pub(crate) const EMPTY: kb_report_view = kb_report_view {
        struct_size: size_of::<kb_report_view>(),
        documents: 0,
        chunks: 0,
        added: 0,
        updated: 0,
        removed: 0,
        unchanged: 0,
        skipped: 0,
        bytes_before: 0,
        bytes_after: 0,
        content_root: kb_str::EMPTY,
    };
}

// SAFETY: `repr(C)`, it begins with its size, and all else is numbers and pointers.
unsafe impl BySize for kb_report_view {
    const NAME: &str = "kb_report_view";
}
