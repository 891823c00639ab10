//! A sealed file is what sealing promises: one order, nothing left over, and its content root.

use std::ops::ControlFlow;
use std::path::Path;

use kb_types::error::Result;
use kb_types::hex;

use crate::catalog::Catalog;
use crate::check::content_root::content_root;
use crate::check::problems::Problems;
use crate::container::Snapshot;
use crate::progress::Reporter;
use crate::store::documents::NO_SEGMENT;
use crate::store::meta::SealRecord;

/// Compares a sealed file with its record. Nothing to do for a file that is not sealed.
///
/// # Errors
/// Those that tell nothing about the file.
pub(super) fn check(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    seal: Option<&SealRecord>,
    problems: &mut Problems,
    reporter: &Reporter<'_>,
) -> Result<()> {
    let Some(seal) = seal else {
        return Ok(());
    };
    let root = content_root(snapshot, catalog, &mut |_| reporter.tick());
    let root = problems.unless_damaged(|| "content root".to_owned(), root)?;
    if let Some(root) = root
        && root != seal.content_root
    {
        problems.add(format!(
            "row seal: the content root is {}, the row states {}",
            hex(&root),
            hex(&seal.content_root)
        ));
    }
    let mut next = (1, 0, 0);
    let read = catalog.documents.each_path(snapshot, "", |path, id| {
        let (number, segment, first_row) = next;
        // One that cannot be read was noted before.
        let Ok(record) = catalog.documents.get(snapshot, id) else {
            return Ok(ControlFlow::Break(()));
        };
        let follows = match record.rows {
            0 => record.first_row == 0 && record.segment == NO_SEGMENT,
            _ if record.segment == segment => record.first_row == first_row,
            _ => record.segment > segment && record.first_row == 0,
        };
        if id.0 != number || !follows {
            problems.add(format!(
                "document {path:?}: sealed, and number {} at row {} of segment {} is not its place",
                id.0, record.first_row, record.segment
            ));
            return Ok(ControlFlow::Break(()));
        }
        next.0 = number.saturating_add(1);
        if record.rows > 0 {
            let after = record.first_row.saturating_add(record.rows);
            (next.1, next.2) = (record.segment, after);
        }
        Ok(ControlFlow::Continue(()))
    });
    problems.unless_damaged(|| "table doc_by_path".to_owned(), read)?;
    for segment in &catalog.segments {
        if segment.deleted.is_some() {
            problems.add(format!(
                "segment {}: sealed, with deleted rows",
                segment.id.0
            ));
        }
    }
    for root in &catalog.meta.roots {
        if Path::new(&root.source).is_absolute() {
            problems.add(format!(
                "row meta: sealed, and root {} still says {:?}",
                root.id, root.source
            ));
        }
    }
    Ok(())
}
