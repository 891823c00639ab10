//! What lies in the file and belongs to nothing, and files that were left out.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use kb_types::SegmentId;
use kb_types::error::Result;

use crate::catalog::Catalog;
use crate::check::problems::Problems;
use crate::container::codec::{array_at, u64_at};
use crate::container::segment_table_name;
use crate::container::{Key, Snapshot};
use crate::store::{skipped, tables};

/// Names rows and tables of segments that are not live, and skipped files of unknown roots.
///
/// # Errors
/// Those that tell nothing about the file.
pub(super) fn check(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    problems: &mut Problems,
) -> Result<()> {
    let live: BTreeSet<u32> = catalog.manifest.segments.iter().copied().collect();
    let is_live = |number: u64| u32::try_from(number).is_ok_and(|number| live.contains(&number));
    let found = segment_tables(snapshot);
    for name in problems
        .unless_damaged(|| "table names".to_owned(), found)?
        .unwrap_or_default()
    {
        if !segment_of(&name).is_some_and(|SegmentId(number)| live.contains(&number)) {
            problems.add(format!("table {name:?} belongs to no live segment"));
        }
    }
    for table in [tables::SEGMENTS, tables::DELETED] {
        let mut left = BTreeSet::new();
        let read = each_key(snapshot, table, Key::U64(0), |key| {
            left.extend(Some(u64_at(key, 0)?).filter(|number| !is_live(*number)));
            Ok(())
        });
        problems.unless_damaged(|| format!("table {table}"), read)?;
        for number in left {
            problems.add(format!("table {table}: segment {number} is not live"));
        }
    }
    for table in [tables::FACETS, tables::FIELDS] {
        let mut left = BTreeSet::new();
        let read = each_key(snapshot, table, Key::Bytes(&[]), |key| {
            let number = array_at(key, 0).map(u32::from_be_bytes)?;
            left.extend(Some(number).filter(|number| !live.contains(number)));
            Ok(())
        });
        problems.unless_damaged(|| format!("table {table}"), read)?;
        for number in left {
            problems.add(format!("table {table}: segment {number} is not live"));
        }
    }
    check_skipped(snapshot, catalog, problems)?;
    check_roots(catalog, problems);
    Ok(())
}

fn segment_tables(snapshot: &Snapshot<'_>) -> Result<Vec<String>> {
    let names = snapshot.tables()?.into_iter().map(|(name, _)| name);
    Ok(names.filter(|name| name.starts_with("seg/")).collect())
}

/// The segment whose extents a table holds.
fn segment_of(table: &str) -> Option<SegmentId> {
    let digits = table.strip_prefix("seg/")?;
    let number = u32::from_str_radix(digits, 16).ok().map(SegmentId)?;
    (segment_table_name(number) == table).then_some(number)
}

fn each_key(
    snapshot: &Snapshot<'_>,
    table: &str,
    from: Key<'_>,
    mut visit: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let Some(table) = snapshot.table(table)? else {
        return Ok(());
    };
    snapshot.range(&table, from, |key, _| {
        visit(key)?;
        Ok(ControlFlow::Continue(()))
    })
}

fn check_skipped(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    problems: &mut Problems,
) -> Result<()> {
    let all = skipped::all(snapshot);
    let all = problems.unless_damaged(|| "table skipped".to_owned(), all)?;
    for (path, record) in all.unwrap_or_default() {
        if !catalog.meta.roots.iter().any(|root| root.id == record.root) {
            let root = record.root;
            problems.add(format!("table skipped: {path:?} is of no root {root}"));
        }
        let document = catalog.documents.by_path(snapshot, &path);
        let place = || format!("document {path:?}");
        if problems
            .unless_damaged(place, document)?
            .flatten()
            .is_some()
        {
            problems.add(format!("table skipped: {path:?} is a document too"));
        }
    }
    Ok(())
}

fn check_roots(catalog: &Catalog, problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    for root in &catalog.meta.roots {
        if !seen.insert(root.id) {
            problems.add(format!("row meta: two roots have the number {}", root.id));
        }
        if root.id >= catalog.manifest.next_root {
            let next = catalog.manifest.next_root;
            problems.add(format!(
                "row meta: there is a root {}, and the next would be {next}",
                root.id
            ));
        }
    }
}
