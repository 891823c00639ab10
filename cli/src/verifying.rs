//! Stands in for `Kb::verify` until the engine has it: reads the text of every document.

use std::time::{Duration, Instant};

use kb_engine::{Entry, Error, Kb};

/// What a check of the whole file found.
#[derive(Debug, Clone, Default)]
pub(crate) struct VerifyReport {
    pub(crate) pages: u64,
    pub(crate) extents: u64,
    pub(crate) bytes: u64,
    pub(crate) documents: u64,
    pub(crate) chunks: u64,
    pub(crate) deep: bool,
    pub(crate) system_checked: bool,
    pub(crate) content_root: Option<String>,
    pub(crate) problems: Vec<String>,
    pub(crate) elapsed: Duration,
}

/// Reads everything. `progress` hears of bytes done, and of all bytes.
pub(crate) fn verify(
    kb: &Kb,
    deep: bool,
    progress: &mut dyn FnMut(u64, u64),
) -> kb_engine::Result<VerifyReport> {
    let started = Instant::now();
    let info = kb.info()?;
    let mut report = VerifyReport {
        documents: info.documents,
        chunks: info.chunks,
        content_root: info.content_root,
        deep,
        ..VerifyReport::default()
    };
    let mut folders = vec![None];
    while let Some(folder) = folders.pop() {
        for entry in kb.list(folder.as_deref())? {
            let document = match entry {
                Entry::Folder { path, .. } => {
                    folders.push(Some(path));
                    continue;
                }
                Entry::Document(document) => document,
            };
            match kb.text(&document.path, None) {
                Ok(_) => {}
                Err(Error::Damaged { what }) => report.problems.push(what),
                Err(error) => return Err(error),
            }
            report.bytes += document.text_bytes;
            progress(report.bytes, info.text_bytes);
        }
    }
    report.elapsed = started.elapsed();
    Ok(report)
}
