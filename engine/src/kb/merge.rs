//! Merges after a commit: each a commit of its own, so that a reader never waits and a crash costs
//! one merge.

use crate::catalog::{BoundSegment, Catalog, CatalogCache};
use crate::container::{Container, ContainerWriter, Snapshot, Transaction};
use crate::error::{Error, Result};
use crate::ingest::merge::{self, Form, Size};
use crate::store::block_writer::Compression;
use crate::store::meta::Manifest;
use crate::store::{documents, segments};
use crate::types::SegmentId;

/// Merges after one commit; the next commit goes on.
const MOST_MERGES: usize = 4;

/// Merges segments of `base`, which `writer` has open, until few enough are left.
///
/// # Errors
/// What storage says; what was committed before stands.
pub(super) fn merge_small(
    writer: &mut ContainerWriter,
    base: &Container,
    catalogs: &CatalogCache,
) -> Result<()> {
    for _ in 0..MOST_MERGES {
        let sizes = base.read(|snapshot| Ok(sizes(&*catalogs.get(snapshot)?)))?;
        let Some(chosen) = merge::choose(&sizes) else {
            break;
        };
        merge_once(writer, base, catalogs, &chosen)?;
    }
    Ok(())
}

/// Nobody else commits, so what is read stands; only that the file has grown is found out late, and
/// then all is done once more.
fn merge_once(
    writer: &mut ContainerWriter,
    base: &Container,
    catalogs: &CatalogCache,
    chosen: &[SegmentId],
) -> Result<()> {
    let mut open = Some(writer.begin()?);
    let mut is_repeated = false;
    let merged = base.read(|snapshot| match &mut open {
        Some(transaction) if !is_repeated => {
            is_repeated = true;
            merge_some(transaction, snapshot, &*catalogs.get(snapshot)?, chosen)
        }
        // Half of it is in the transaction already.
        _ => Err(Error::SnapshotExpired),
    });
    let transaction = open.take().ok_or(Error::WriterFailed)?;
    match merged {
        Ok(()) => transaction.commit().map(|_| ()),
        Err(error) => Err(error),
    }
}

fn sizes(catalog: &Catalog) -> Vec<Size> {
    let segments = catalog.segments.iter();
    segments
        .map(|segment| Size {
            segment: segment.id,
            live_bytes: segment.live_text_bytes(),
            dead_bytes: segment.deleted.as_ref().map_or(0, |gone| gone.text_bytes),
        })
        .collect()
}

fn merge_some(
    transaction: &mut Transaction<'_>,
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    chosen: &[SegmentId],
) -> Result<()> {
    let bound = chosen
        .iter()
        .map(|id| catalog.segment(*id)?.bind(snapshot))
        .collect::<Result<Vec<BoundSegment<'_>>>>()?;
    let mut merged = merge::documents_of(snapshot, catalog, &bound)?;
    let mut manifest: Manifest = catalog.manifest.clone();
    let number = manifest.take_segment()?;
    manifest
        .segments
        .retain(|live| !chosen.contains(&SegmentId(*live)));
    manifest.segments.push(number.0);
    merge::write_segment(
        transaction,
        number,
        &bound,
        &mut merged,
        Form {
            compression: Compression::Fast,
            codec: catalog.meta.embedder.codec,
        },
        &mut |_| (),
    )?;
    for (id, record) in &merged {
        documents::put_record(transaction, *id, record)?;
    }
    for segment in chosen {
        segments::remove(transaction, *segment)?;
    }
    manifest.write(transaction)
}
