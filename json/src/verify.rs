//! The report of a verification.

use kb_engine::VerifyReport;

use crate::object::Object;

/// What was checked of a file and what is wrong with it. Where its sources were compared as well,
/// `with_changes` adds how they differ.
#[must_use]
pub fn verify_report(file: &str, report: &VerifyReport) -> Object {
    Object::new()
        .field("file", file)
        .field("damaged", !report.problems.is_empty())
        .field("documents", report.documents)
        .field("chunks", report.chunks)
        .field("pages", report.pages)
        .field("extents", report.extents)
        .field("bytes", report.bytes)
        .field("deep", report.deep)
        .field("system_checked", report.system_checked)
        .field("content_root", report.content_root.clone())
        .field("problems", report.problems.clone())
        .field("seconds", report.elapsed.as_secs_f64())
}
