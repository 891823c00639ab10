//! Completion of paths.

use std::ops::ControlFlow;

use unicode_normalization::UnicodeNormalization;

use crate::content::CommitView;
use crate::error::Result;

/// See [`crate::Kb::complete_path`].
pub(crate) fn complete_path(
    commit: CommitView<'_>,
    typed: &str,
    limit: usize,
) -> Result<(Vec<String>, u64)> {
    let typed = typed.nfc().collect::<String>().to_lowercase();
    let (mut beginning, mut containing) = (Vec::new(), Vec::new());
    let mut total = 0;
    let documents = &commit.catalog.documents;
    documents.each_path(commit.snapshot, "", |path, _| {
        let group = match path.to_lowercase().find(&typed) {
            Some(0) => &mut beginning,
            Some(_) => &mut containing,
            None => return Ok(ControlFlow::Continue(())),
        };
        total += 1;
        if group.len() < limit {
            group.push(path.to_owned());
        }
        Ok(ControlFlow::Continue(()))
    })?;
    beginning.extend(containing);
    beginning.truncate(limit);
    Ok((beginning, total))
}
