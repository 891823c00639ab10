//! Seal: the file to ship, fresh, in one order, as small as it gets.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::catalog::{BoundSegment, Catalog};
use crate::check::content_root::content_root;
use crate::container::{Container, ContainerWriter, Snapshot, Transaction};
use crate::error::{Error, Result};
use crate::index::keyword::MAX_ROWS;
use crate::index::vector::Codec;
use crate::ingest::clock::now_ms;
use crate::ingest::segment::merge_writer::{MergeWriter, SegmentEncoding};
use crate::kb::even_sample::{EvenSample, evenly_spaced};
use crate::kb::new_file::{check_codec, new_manifest};
use crate::kb::recall;
use crate::kb::write::{KbWriter, PROGRAM};
use crate::progress::{Progress, Stage};
use crate::store::block_writer::{Compression, TextSample};
use crate::store::dictionary::SAMPLE_BYTES;
use crate::store::documents::{DocumentRecord, NO_SEGMENT};
use crate::store::meta::{Manifest, Meta, RootRecord, SealRecord};
use crate::store::{documents, outline};
use crate::types::{DocumentId, Heading, SegmentId, hex};

/// What sealing did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealReport {
    /// The sealed file.
    pub path: PathBuf,
    /// 64 hexadecimal digits, the same for the same documents.
    pub content_root: String,
    /// Documents in it.
    pub documents: u64,
    /// Bytes of the file before.
    pub bytes_before: u64,
    /// Bytes of the sealed file.
    pub bytes_after: u64,
}

/// How to seal, beside where to.
#[derive(Debug, Clone, Default)]
pub struct SealOptions {
    /// How vectors are stored; `None`: as the file has them.
    pub vectors: Option<Codec>,
    /// Replace another .kb at the output. Its identity stays, its documents go.
    pub replace: bool,
    /// Set by the caller to stop: sealing ends with [`Error::Cancelled`] and leaves nothing behind.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl SealOptions {
    fn check_cancel(&self) -> Result<()> {
        match &self.cancel {
            Some(cancel) if cancel.load(std::sync::atomic::Ordering::Relaxed) => {
                Err(Error::Cancelled)
            }
            _ => Ok(()),
        }
    }
}

impl KbWriter {
    /// Rewrites the .kb in the form to ship: documents in the order of their paths, in as few segments
    /// as hold them (2^24 chunks each), text compressed as well as possible, nothing deleted or unused
    /// left, only the names of the indexed folders, and the content root. It replaces the file, or is
    /// written to `output`; readers go on and follow at their next request. Changes that wait for a
    /// commit are committed first. Takes about half a second a megabyte of text and core. `progress`
    /// hears of bytes of text.
    ///
    /// The file keeps its owner, group and permission bits as far as the system allows; access control
    /// lists and other extended attributes are not kept, and a file that has a list ends up its
    /// owner's alone. At `output` it is read by nobody who may not read the .kb. Links are followed.
    ///
    /// # Errors
    /// [`Error::PathNotFound`]; [`Error::IndexLocked`] while another writer has the file;
    /// [`Error::OutputExists`] when another .kb is at `output`, see [`SealOptions::replace`];
    /// [`Error::NotAKb`] when something else than a .kb is there; [`Error::NotReplaceable`] when
    /// what is to be replaced has several names (hard links), or may be another program's;
    /// [`Error::FileReplaced`]; [`Error::Storage`] or [`Error::Io`] when the disk refuses. The old
    /// state stands after every error.
    pub fn seal(
        &mut self,
        output: Option<&Path>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<SealReport> {
        self.seal_as(output, &SealOptions::default(), progress)
    }

    /// As [`KbWriter::seal`], with options.
    ///
    /// # Errors
    /// As [`KbWriter::seal`]; [`Error::InvalidArgument`] for signed bytes from a file of nibbles;
    /// [`Error::Cancelled`] when asked to stop.
    pub fn seal_as(
        &mut self,
        output: Option<&Path>,
        options: &SealOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<SealReport> {
        self.seal_in_segments(output, options, MAX_ROWS, progress)
    }

    /// A new file that will be at `target`.
    fn beside(&self, target: &Path, may_replace: bool) -> Result<ContainerWriter> {
        let writer = ContainerWriter::create(target, &self.identity())?;
        // An empty file, as mktemp makes it, holds nothing to lose.
        if !may_replace && !matches!(writer.replaced(), Ok(None)) {
            let path = target.to_path_buf();
            return Err(Error::OutputExists { path });
        }
        Ok(writer)
    }

    /// As [`KbWriter::seal_as`], with at most `max_rows` chunks in a segment.
    fn seal_in_segments(
        &mut self,
        output: Option<&Path>,
        options: &SealOptions,
        max_rows: u32,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<SealReport> {
        self.check_open()?;
        if self.has_pending() {
            self.commit()?;
        }
        // A file that this writer has open would be locked against it.
        self.open = None;
        // The place of the file itself is no place beside it, however it is spelled.
        let output = output.filter(|output| !is_one_place(output, &self.path));
        let target = output.unwrap_or(&self.path);
        let source = Container::open(&self.path)?;
        // Before anything is read: nobody changes what is about to be replaced.
        let mut writer = Some(self.beside(target, output.is_none() || options.replace)?);
        let source = match (output, &writer) {
            // What is locked is what is read; the path may lead to another file by now.
            (None, Some(writer)) => writer.replaced()?.ok_or_else(|| Error::PathNotFound {
                path: self.path.clone(),
            })?,
            _ => source,
        };
        let bytes_before = source.len_bytes();
        let _lease = source.lease();
        let mut is_first = true;
        let (root, documents) = source.read_cancellable(options.cancel.as_deref(), |snapshot| {
            // Another file is written than the one that is read, and only its last attempt counts.
            let mut fresh = match writer.take() {
                Some(first) if std::mem::take(&mut is_first) => first,
                // What is locked does not change under the reader, and must not be let go.
                _ if output.is_none() => return Err(Error::SnapshotExpired),
                failed => {
                    drop(failed);
                    self.beside(target, options.replace)?
                }
            };
            fresh.limit_access(&source)?;
            fresh.set_cancel(options.cancel.clone());
            let mut transaction = fresh.begin()?;
            let sealed = write(
                &mut transaction,
                snapshot,
                options.vectors,
                max_rows,
                progress,
            )?;
            transaction.commit()?;
            recall::record_recall(&mut fresh)?;
            writer = Some(fresh);
            Ok(sealed)
        })?;
        options.check_cancel()?;
        writer.ok_or(Error::WriterFailed)?.finish()?;
        let sealed = Container::open(target)?;
        Ok(SealReport {
            path: target.to_path_buf(),
            content_root: hex(&root),
            documents,
            bytes_before,
            bytes_after: sealed.len_bytes(),
        })
    }
}

/// Whether two paths lead to one file by one name.
fn is_one_place(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Chunks of which the dictionary of a segment is made at most: enough for a sample of 2 MB.
const SAMPLE_ROWS: usize = 1 << 12;

/// A segment of the sealed file, before it is written.
#[derive(Debug)]
struct PlannedSegment {
    rows: u32,
    text_bytes: u64,
    /// Some of its chunks, where they lie now.
    sample: EvenSample<(SegmentId, u32)>,
}

/// How documents, in the order of their paths, are put into segments: each is filled until the next
/// document does not fit. Decided by the documents alone.
#[derive(Debug)]
struct SegmentPlan {
    max_rows: u32,
    segments: Vec<PlannedSegment>,
}

impl SegmentPlan {
    fn add(&mut self, record: &DocumentRecord) {
        if record.rows == 0 {
            return;
        }
        let last = self.segments.last();
        let rows = last.and_then(|planned| planned.rows.checked_add(record.rows));
        if rows.is_none_or(|rows| rows > self.max_rows) {
            self.segments.push(PlannedSegment {
                rows: 0,
                text_bytes: 0,
                sample: EvenSample::new(SAMPLE_ROWS),
            });
        }
        if let Some(planned) = self.segments.last_mut() {
            planned.rows = planned.rows.saturating_add(record.rows);
            planned.text_bytes += u64::from(record.text_bytes);
            for row in record.first_row..record.first_row.saturating_add(record.rows) {
                planned.sample.push((record.segment(), row));
            }
        }
    }
}

impl PlannedSegment {
    /// Text for the dictionary of the segment; none when it is too small for one.
    fn read_sample(self, bound: &[BoundSegment<'_>]) -> Result<Option<TextSample>> {
        let Some(step) = TextSample::step(self.text_bytes) else {
            return Ok(None);
        };
        let wanted = u64::from(self.rows).div_ceil(step);
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        let mut readers = Vec::with_capacity(bound.len());
        for bound in bound {
            readers.push((bound.segment.id, bound.blocks()?));
        }
        let mut pieces = String::with_capacity(SAMPLE_BYTES);
        for (segment, row) in evenly_spaced(self.sample.into_items(), wanted) {
            let at = readers.binary_search_by_key(&segment, |(id, _)| *id);
            let reader = at.ok().and_then(|at| readers.get_mut(at));
            let (_, reader) = reader.ok_or_else(|| Error::damaged("a document of no segment"))?;
            reader.append(row, 1, &mut pieces)?;
        }
        Ok(Some(TextSample {
            pieces,
            text_bytes: self.text_bytes,
        }))
    }
}

/// What is read and written while a file is sealed.
struct Sealing<'s, 'b> {
    snapshot: &'s Snapshot<'s>,
    bound: &'b [BoundSegment<'b>],
    encoding: SegmentEncoding,
    /// Segments that are not written yet.
    planned: std::vec::IntoIter<PlannedSegment>,
    /// Rows that are still to come of the segment that is written.
    rows_left: u32,
    open: Option<MergeWriter<'b>>,
    manifest: Manifest,
}

impl Sealing<'_, '_> {
    /// Writes a document into the segment that it was planned for.
    fn push(
        &mut self,
        transaction: &mut Transaction<'_>,
        old: DocumentId,
        mut record: DocumentRecord,
        outline: &[Heading],
    ) -> Result<()> {
        let new = self.manifest.next_document_id()?;
        outline::put(transaction, new, outline)?;
        if record.rows == 0 {
            (record.segment, record.first_row) = (NO_SEGMENT, 0);
            return documents::put(transaction, new, &record);
        }
        if self.rows_left == 0 {
            self.close(transaction)?;
            let planned = self.planned.next();
            let planned = planned.ok_or_else(|| Error::damaged("a document that was not there"))?;
            let segment = self.manifest.next_segment_id()?;
            self.manifest.segments.push(segment.0);
            self.rows_left = planned.rows;
            let sample = planned.read_sample(self.bound)?;
            let writer = MergeWriter::new(segment, self.bound, self.encoding, sample.as_ref())?;
            self.open = Some(writer);
        }
        if let Some(open) = &mut self.open {
            self.rows_left = self.rows_left.saturating_sub(record.rows);
            open.push(transaction, old, new, &mut record)?;
        }
        documents::put(transaction, new, &record)
    }

    fn close(&mut self, transaction: &mut Transaction<'_>) -> Result<()> {
        match self.open.take() {
            Some(open) => open
                .finish(self.snapshot, transaction, &mut || Ok(()))
                .map(|_| ()),
            None => Ok(()),
        }
    }
}

/// Writes the documents of a commit in sealed encoding. One record at a time is held, and a few thousand
/// numbers for each segment.
fn write(
    transaction: &mut Transaction<'_>,
    snapshot: &Snapshot<'_>,
    vectors: Option<Codec>,
    max_rows: u32,
    progress: &mut dyn FnMut(Progress),
) -> Result<([u8; 32], u64)> {
    let catalog = Catalog::load(snapshot)?;
    let mut embedder = catalog.meta.embedder.clone();
    if vectors != Some(Codec::I4) {
        check_codec(&catalog.meta, vectors)?;
    }
    embedder.codec = vectors.map_or(embedder.codec, Codec::number);
    let mut plan = SegmentPlan {
        max_rows,
        segments: Vec::new(),
    };
    let root = content_root(snapshot, &catalog, &mut |record| plan.add(record))?;
    let bound = catalog
        .segments
        .iter()
        .map(|segment| segment.bind(snapshot))
        .collect::<Result<Vec<BoundSegment<'_>>>>()?;
    let mut sealing = Sealing {
        snapshot,
        bound: &bound,
        encoding: SegmentEncoding {
            compression: Compression::Best,
            codec: embedder.codec,
        },
        planned: plan.segments.into_iter(),
        rows_left: 0,
        open: None,
        manifest: Manifest {
            generation: catalog.manifest.generation,
            next_root: catalog.manifest.next_root,
            ..new_manifest()
        },
    };
    let mut done = Progress {
        files_total: catalog.meta.documents,
        bytes_total: catalog.meta.text_bytes,
        ..Progress::new(Stage::Write)
    };
    catalog.documents.each_path(snapshot, "", |_, old| {
        let record = catalog.documents.get(snapshot, old)?;
        let outline = catalog.outlines.get(snapshot, old)?;
        done.files_done += 1;
        done.bytes_done += u64::from(record.text_bytes);
        sealing.push(transaction, old, record, &outline)?;
        progress(done);
        Ok(ControlFlow::Continue(()))
    })?;
    sealing.close(transaction)?;
    let roots = catalog.meta.roots.iter().map(without_place).collect();
    let meta = Meta {
        roots,
        embedder,
        writer: PROGRAM.to_owned(),
        recall: None,
        ..catalog.meta.clone()
    };
    meta.write(transaction)?;
    sealing.manifest.write(transaction)?;
    let seal = SealRecord {
        content_root: root,
        sealed_ms: now_ms(),
    };
    seal.write(transaction)?;
    Ok((root, done.files_done))
}

/// A root that tells nothing of the machine but the name of its folder.
fn without_place(root: &RootRecord) -> RootRecord {
    let name = root.source.rsplit(['/', '\\']).next().unwrap_or_default();
    RootRecord {
        source: name.to_owned(),
        ..root.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kb::Kb;
    use crate::search::{Mode, Request};

    const WORDS: [&str; 7] = ["lamp", "lens", "fog", "horn", "tide", "buoy", "harbour"];

    /// A file of forty documents, some without text, in commits of `each`.
    fn file(path: &Path, each: usize) {
        let mut writer = KbWriter::open_or_create(path).unwrap();
        for number in 0..40usize {
            let sentence = |at: usize| format!("{} {} {at}. ", WORDS[at % 7], WORDS[at * 3 % 5]);
            let text: String = (number..number * (number % 9) * 9).map(sentence).collect();
            // Not in the order of paths.
            let path = format!("{:02}.txt", number * 17 % 40);
            writer.add_bytes(&path, text.as_bytes()).unwrap();
            if number % each == 0 {
                writer.commit().unwrap();
            }
        }
        writer.commit().unwrap();
    }

    fn seal(path: &Path, max_rows: u32) -> SealReport {
        let mut writer = KbWriter::open_or_create(path).unwrap();
        let report = writer.seal_in_segments(None, &SealOptions::default(), max_rows, &mut |_| ());
        report.unwrap()
    }

    /// What a file answers, with scores to the bit.
    fn answers(path: &Path) -> Vec<String> {
        let kb = Kb::open(path).unwrap();
        let mut answers = Vec::new();
        for mode in Mode::RANKED {
            for query in ["fog horn", "the lens of a lamp", "tide 12"] {
                let request = Request {
                    mode,
                    k: 200,
                    ..Request::new(query)
                };
                for hit in kb.search(&request).unwrap().hits {
                    let score = hit.score.to_bits();
                    answers.push(format!(
                        "{} {:?} {score} {}",
                        hit.document, hit.span, hit.text
                    ));
                }
            }
        }
        answers
    }

    /// First row and segment of each document with chunks, in the order of paths.
    fn places(path: &Path) -> Vec<(u32, u32, u32)> {
        let read = Container::open(path).unwrap().read(|snapshot| {
            let mut places = Vec::new();
            Catalog::load(snapshot)?
                .documents
                .each(snapshot, |_, record| {
                    if record.rows > 0 {
                        places.push((record.segment, record.first_row, record.rows));
                    }
                    Ok(ControlFlow::Continue(()))
                })?;
            Ok(places)
        });
        read.unwrap()
    }

    /// A segment holds 2^24 chunks; a file of more could not be sealed, which was told after hours.
    #[test]
    fn a_sealed_file_has_as_many_segments_as_it_needs_and_answers_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        file(&place("one.kb"), 100);
        file(&place("many.kb"), 3);
        let whole = seal(&place("one.kb"), MAX_ROWS);
        let right = answers(&place("one.kb"));
        assert!(right.len() > 100);
        let max_rows = 12;
        for name in ["one.kb", "many.kb"] {
            let path = place(name);
            let report = seal(&path, max_rows);
            assert_eq!(report.content_root, whole.content_root);
            let kb = Kb::open(&path).unwrap();
            let info = kb.info().unwrap();
            assert!(info.segments > 3, "{}", info.segments);
            assert_eq!(info.content_root.as_ref(), Some(&whole.content_root));
            let problems = kb.verify(true, &mut |_, _| ()).unwrap().problems;
            assert_eq!(problems, [""; 0]);
            assert!(answers(&path) == right);
        }
        let of_many = places(&place("many.kb"));
        assert_eq!(
            of_many,
            places(&place("one.kb")),
            "the documents decide alone"
        );
        // Each segment is filled until the next document does not fit.
        for pair in of_many.windows(2) {
            let [(segment, first, rows), (next, next_first, next_rows)] = pair else {
                continue;
            };
            let is_full = first + rows + next_rows > max_rows;
            let expected = match is_full {
                true => (segment + 1, 0),
                false => (*segment, first + rows),
            };
            assert_eq!((*next, *next_first), expected);
        }
        // It changes and is sealed again.
        let mut writer = KbWriter::open_or_create(place("many.kb")).unwrap();
        writer.add_bytes("00a.txt", b"a guest").unwrap();
        writer.commit().unwrap();
        writer.remove("00a.txt").unwrap();
        writer.commit().unwrap();
        drop(writer);
        assert_eq!(seal(&place("many.kb"), 20).content_root, whole.content_root);
    }

    #[test]
    fn the_check_of_a_sealed_file_notices_documents_out_of_place_across_segments() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        file(&path, 100);
        seal(&path, 12);
        let identity = KbWriter::open_or_create(&path).unwrap().identity();
        let base = Container::open(&path).unwrap();
        let mut writer = ContainerWriter::open(&path, &identity).unwrap();
        let mut manifest = base.read(Catalog::load).unwrap().manifest.clone();
        // A whole segment and its documents are lost.
        manifest.segments.remove(1);
        let mut transaction = writer.begin().unwrap();
        manifest.write(&mut transaction).unwrap();
        transaction.commit().unwrap();
        writer.finish().unwrap();
        let report = Kb::open(&path).unwrap().verify(true, &mut |_, _| ());
        assert!(!report.unwrap().problems.is_empty());
    }
}
