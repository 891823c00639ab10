//! Merges after a commit: each a commit of its own, so that a reader never waits and a crash costs
//! one merge.

use kb_types::SegmentId;
use kb_types::error::{Error, Result};

use crate::catalog::{BoundSegment, Catalog, CatalogCache, Segment};
use crate::container::{Container, ContainerWriter, Snapshot, Transaction, watched};
use crate::ingest::segment::live_documents::LiveDocuments;
use crate::ingest::segment::merge_policy::{self, Limit, Size};
use crate::ingest::segment::merge_writer::{self, MergeWriter, SegmentEncoding};
use crate::ingest::segment::more_vectors::ColumnMove;
use crate::progress::{Progress, Reporter, Stage};
use crate::store::block_writer::Compression;
use crate::store::documents;
use crate::store::meta::{Manifest, Settings};
use crate::store::segments;
use crate::store::vector_columns::VectorColumns;

/// Merges segments of `base`, which `writer` has open, until few enough are left or the limit is
/// reached.
///
/// # Errors
/// What storage and `reporter` say; what was committed before stands.
pub(super) fn merge_segments(
    writer: &mut ContainerWriter,
    base: &Container,
    catalogs: &CatalogCache,
    mut limit: Limit,
    reporter: &Reporter<'_>,
) -> Result<()> {
    loop {
        let sizes = base.read(|snapshot| Ok(sizes(&*catalogs.get(snapshot)?)))?;
        let Some((chosen, bytes)) = merge_policy::choose(&sizes, &limit) else {
            return Ok(());
        };
        // The commits before have made the file longer.
        base.map_growth()?;
        merge_once(writer, base, catalogs, &chosen, reporter)?;
        limit.spend(bytes);
    }
}

/// Nobody else commits, and all of the file is mapped, so what is read stands and is read once.
fn merge_once(
    writer: &mut ContainerWriter,
    base: &Container,
    catalogs: &CatalogCache,
    chosen: &[SegmentId],
    reporter: &Reporter<'_>,
) -> Result<()> {
    let mut open = Some(writer.begin()?);
    let mut is_repeated = false;
    let merged = base.read(|snapshot| match &mut open {
        Some(transaction) if !is_repeated => {
            is_repeated = true;
            merge_some(
                transaction,
                snapshot,
                &*catalogs.get(snapshot)?,
                chosen,
                reporter,
            )
        }
        // Half of it is in the transaction already.
        _ => Err(Error::SnapshotExpired),
    });
    let transaction = open.take().ok_or(Error::WriterFailed)?;
    match merged {
        Ok(()) => reporter
            .wait_for(watched(|| transaction.commit()))
            .map(|_| ()),
        Err(error) => Err(error),
    }
}

fn sizes(catalog: &Catalog) -> Vec<Size> {
    let segments = catalog.segments.iter();
    segments
        .map(|segment| Size {
            segment: segment.id,
            live_rows: segment.live_rows(),
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
    reporter: &Reporter<'_>,
) -> Result<()> {
    let bound = chosen
        .iter()
        .map(|id| catalog.segment(*id)?.bind(snapshot))
        .collect::<Result<Vec<BoundSegment<'_>>>>()?;
    let segments = || bound.iter().map(|bound| bound.segment);
    let text_bytes: u64 = segments().map(Segment::live_text_bytes).sum();
    let expected: u64 = segments().map(live_documents).sum();
    let mut manifest: Manifest = catalog.manifest.clone();
    let number = manifest.next_segment_id()?;
    manifest
        .segments
        .retain(|live| !chosen.contains(&SegmentId(*live)));
    let columns: Vec<ColumnMove> = unmoved(&catalog.vector_columns);
    let encoding = SegmentEncoding {
        compression: Compression::Fast,
        codec: catalog.meta.embedder.codec,
        has_trigrams: !Settings::read(snapshot)?.without_trigrams,
        has_codes: true,
        more_vectors: &columns,
    };
    let sample = merge_writer::dictionary_sample(&bound)?;
    let mut writer = MergeWriter::new(number, &bound, encoding, sample.as_ref(), reporter)?;
    let (mut merged, mut done_bytes) = (0, 0);
    let mut documents = LiveDocuments::new(snapshot, catalog, &bound)?;
    while let Some((id, mut record)) = documents.advance()? {
        let parts = catalog.parts.count(snapshot, id)?.map(|(kind, _)| kind);
        writer.push(transaction, id, id, &mut record, parts, reporter)?;
        documents::put_record(transaction, id, &record)?;
        merged += 1;
        done_bytes += u64::from(record.text_bytes);
        reporter.report(merging(done_bytes, text_bytes))?;
    }
    if merged != expected {
        return Err(Error::damaged(format!(
            "segments to merge count {expected} documents and have {merged}"
        )));
    }
    if writer.rows() > 0 {
        writer.finish(snapshot, transaction, &mut || reporter.tick())?;
        manifest.segments.push(number.0);
    }
    for segment in chosen {
        segments::remove(transaction, *segment)?;
    }
    manifest.write(transaction)
}

/// Columns of vectors that keep number and codec.
fn unmoved(columns: &VectorColumns) -> Vec<ColumnMove> {
    let columns = columns.list.iter();
    let unmoved = columns.map(|column| ColumnMove {
        from: column.number,
        to: column.clone(),
    });
    unmoved.collect()
}

/// How far a merge is.
fn merging(bytes_done: u64, bytes_total: u64) -> Progress {
    Progress {
        bytes_done,
        bytes_total,
        ..Progress::new(Stage::Merge)
    }
}

fn live_documents(segment: &Segment) -> u64 {
    let deleted = segment.deleted.as_ref().map_or(0, |gone| gone.documents);
    u64::from(segment.records.segment.documents.saturating_sub(deleted))
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::path::Path;

    use super::*;
    use crate::ingest::options::IndexOptions;
    use crate::ingest::run::session::Session;
    use crate::kb::{Kb, KbWriter};
    use crate::store::documents::{DocumentRecord, NO_SEGMENT};

    fn assert_sound(path: &Path) -> Kb {
        let kb = Kb::open(path).unwrap();
        let report = kb
            .verify(
                &crate::VerifyOptions::new().deep(true),
                &mut crate::Progress::ignore,
            )
            .unwrap();
        assert_eq!(report.problems, [""; 0]);
        kb
    }

    fn record_of(path: &Path, name: &str) -> DocumentRecord {
        let read = Container::open(path).unwrap().read(|snapshot| {
            let documents = Catalog::load(snapshot)?.documents;
            let id = documents.by_path(snapshot, name)?.unwrap();
            documents.get(snapshot, id)
        });
        read.unwrap()
    }

    fn add(path: &Path, documents: &[(&str, &str)]) {
        let mut writer = KbWriter::open_or_create(path).unwrap();
        for (name, text) in documents {
            writer.add_bytes(name, text.as_bytes()).unwrap();
        }
        writer.commit().unwrap();
    }

    #[test]
    fn a_document_without_text_is_in_no_segment() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        add(&path, &[("empty.md", ""), ("none.txt", "")]);
        let kb = assert_sound(&path);
        assert_eq!(kb.info().unwrap().segments, 0);
        assert_eq!(record_of(&path, "empty.md").segment, NO_SEGMENT);
        for number in 0..9 {
            add(&path, &[(&format!("{number}.txt"), "one walrus")]);
        }
        let kb = assert_sound(&path);
        assert_eq!(kb.info().unwrap().segments, 2, "eight were merged");
        assert_eq!(kb.text("empty.md", None).unwrap().text, "");
        assert!(kb.chunk_spans("empty.md").unwrap().is_empty());
        assert!(kb.outline("empty.md").unwrap().headings.is_empty());
        assert_eq!(
            kb.list(None, &crate::PageOptions::default()).unwrap().len(),
            11
        );
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        writer.tag("empty.md", &["sea"], &[]).unwrap();
        writer.remove("none.txt").unwrap();
        writer.commit().unwrap();
        assert_sound(&path);
        writer
            .seal(
                None,
                &crate::SealOptions::new(),
                &mut crate::Progress::ignore,
            )
            .unwrap();
        let kb = assert_sound(&path);
        assert_eq!(kb.info().unwrap().documents, 10);
        assert_eq!(kb.document("empty.md").unwrap().tags, ["sea"]);
        writer.remove("empty.md").unwrap();
        writer.commit().unwrap();
        assert_sound(&path);
    }

    #[test]
    fn a_stopped_merge_loses_nothing_and_is_made_later() {
        let folder = tempfile::tempdir().unwrap();
        let (path, sources) = (folder.path().join("a.kb"), folder.path().join("sources"));
        std::fs::create_dir(&sources).unwrap();
        let options = IndexOptions::new();
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let paths = [sources.clone()];
        let mut merges = 0;
        for number in 0..9 {
            std::fs::write(sources.join(format!("{number}.txt")), "one walrus").unwrap();
            let mut stop_merges = |progress: &Progress| {
                if progress.stage == Stage::Merge && number == 7 {
                    merges += 1;
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            };
            let report = writer.index(&paths, &options, &mut stop_merges).unwrap();
            assert_eq!(report.documents, number + 1);
            let segments = assert_sound(&path).info().unwrap().segments;
            let expected = if number < 8 { number + 1 } else { 2 };
            assert_eq!(segments, expected, "after {number}");
        }
        assert_eq!(merges, 1);
    }

    /// The writer maps the file when it opens it, and its commits append behind that.
    #[test]
    fn a_writer_merges_what_it_appended_to_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        add(&path, &[("0.txt", "one walrus")]);
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        for number in 1..=8 {
            let word = |at: u64| format!("{:x} ", at.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let text: String = (number * 5000..number * 5000 + 5000).map(word).collect();
            let name = format!("{number}.txt");
            writer.add_bytes(&name, text.as_bytes()).unwrap();
            writer.commit().unwrap();
        }
        assert_eq!(assert_sound(&path).info().unwrap().segments, 2);
    }

    #[test]
    fn contradicting_records_stop_a_merge_without_loss() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        for number in 0..7 {
            add(&path, &[(&format!("{number}.txt"), "one walrus")]);
        }
        let identity = Session::open_or_create(&path).unwrap().identity();
        let mut writer = ContainerWriter::open(&path, &identity).unwrap();
        let mut record = record_of(&path, "3.txt");
        record.rows = 70_000;
        let mut transaction = writer.begin().unwrap();
        documents::put_record(&mut transaction, kb_types::DocumentId(4), &record).unwrap();
        transaction.commit().unwrap();
        writer.finish().unwrap();
        add(&path, &[("7.txt", "one walrus")]);
        let info = Kb::open(&path).unwrap().info().unwrap();
        assert_eq!((info.segments, info.documents), (8, 8));
    }
}
