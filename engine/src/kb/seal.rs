//! Seal: the file to ship, fresh, in one order, as small as it gets.

use std::path::{Path, PathBuf};

use crate::catalog::{BoundSegment, Catalog};
use crate::check::content_root::content_root;
use crate::container::{Container, ContainerWriter, Snapshot, Transaction};
use crate::error::{Error, Result};
use crate::index::vector::Codec;
use crate::ingest::merge::{self, Form};
use crate::ingest::report::{Progress, Stage};
use crate::ingest::walk::now_ms;
use crate::kb::fresh::{check_codec, first_manifest};
use crate::kb::recall;
use crate::kb::write::{KbWriter, PROGRAM};
use crate::store::block_writer::Compression;
use crate::store::meta::{Manifest, Meta, RootRecord, SealRecord};
use crate::store::{documents, outline};
use crate::types::{DocumentId, SegmentId, hex};

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

impl KbWriter {
    /// Writes the .kb anew in the form to ship: documents in the order of their paths, one segment,
    /// text compressed as well as possible, nothing deleted or unused left, only the names of the
    /// indexed folders, and the content root. It replaces the file, or is written to `output`; readers
    /// go on and follow at their next request. Changes that wait for a commit are committed first.
    /// Takes about half a second a megabyte of text and core. `progress` hears of bytes of text.
    ///
    /// # Errors
    /// [`Error::PathNotFound`]; [`Error::IndexLocked`] while another writer has the file;
    /// [`Error::Storage`] or [`Error::Io`] when the disk refuses. The old state stands after every
    /// error.
    pub fn seal(
        &mut self,
        output: Option<&Path>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<SealReport> {
        self.seal_as(output, None, progress)
    }

    /// As [`KbWriter::seal`]; vectors are stored as `vectors` says, without it as the file has them.
    ///
    /// # Errors
    /// As [`KbWriter::seal`]; [`Error::InvalidArgument`] for signed bytes from a file of nibbles.
    pub fn seal_as(
        &mut self,
        output: Option<&Path>,
        vectors: Option<Codec>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<SealReport> {
        if self.has_pending() {
            self.commit()?;
        }
        // A file that this writer has open would be locked against it.
        self.open = None;
        let target = output.unwrap_or(&self.path);
        let source = Container::open(&self.path)?;
        // Before anything is read: nobody changes what is about to be replaced.
        let mut writer = Some(ContainerWriter::create(target, &self.opener())?);
        let source = match output {
            None => Container::open(&self.path)?,
            Some(_) => source,
        };
        let bytes_before = source.len_bytes();
        let _hold = source.hold();
        let mut is_first = true;
        let (root, documents) = source.read(|snapshot| {
            // Another file is written than the one that is read, and only its last attempt counts.
            let mut fresh = match writer.take() {
                Some(first) if std::mem::take(&mut is_first) => first,
                failed => {
                    drop(failed);
                    ContainerWriter::create(target, &self.opener())?
                }
            };
            let mut transaction = fresh.begin()?;
            let sealed = write(&mut transaction, snapshot, vectors, progress)?;
            transaction.commit()?;
            recall::certify(&mut fresh)?;
            writer = Some(fresh);
            Ok(sealed)
        })?;
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

fn write(
    transaction: &mut Transaction<'_>,
    snapshot: &Snapshot<'_>,
    vectors: Option<Codec>,
    progress: &mut dyn FnMut(Progress),
) -> Result<([u8; 32], u64)> {
    let catalog = Catalog::load(snapshot)?;
    let mut embedder = catalog.meta.embedder.clone();
    if vectors != Some(Codec::I4) {
        check_codec(&catalog.meta, vectors)?;
    }
    embedder.codec = vectors.map_or(embedder.codec, Codec::number);
    let root = content_root(snapshot, &catalog)?;
    let bound = catalog
        .segments
        .iter()
        .map(|segment| segment.bind(snapshot))
        .collect::<Result<Vec<BoundSegment<'_>>>>()?;
    let mut manifest = Manifest {
        generation: catalog.manifest.generation,
        next_root: catalog.manifest.next_root,
        ..first_manifest()
    };
    let mut listed = merge::documents_of(snapshot, &catalog, &bound)?;
    for (id, _) in &listed {
        let new = manifest.take_document()?;
        outline::put(transaction, new, &outline::get(snapshot, *id)?)?;
    }
    for (number, (id, _)) in (1..).zip(&mut listed) {
        *id = DocumentId(number);
    }
    if !listed.is_empty() {
        let total = catalog.meta.text_bytes;
        let mut done = Progress {
            files_total: listed.len() as u64,
            bytes_total: total,
            ..Progress::at(Stage::Write)
        };
        merge::write_segment(
            transaction,
            SegmentId(manifest.next_segment),
            &bound,
            &mut listed,
            Form {
                compression: Compression::Best,
                codec: embedder.codec,
            },
            &mut |record| {
                done.files_done += 1;
                done.bytes_done += u64::from(record.text_bytes);
                progress(done);
            },
        )?;
        manifest.segments.push(manifest.next_segment);
        manifest.next_segment += 1;
    }
    for (id, record) in &listed {
        documents::put(transaction, *id, record)?;
    }
    let roots = catalog.meta.roots.iter().map(without_place).collect();
    let meta = Meta {
        roots,
        embedder,
        writer: PROGRAM.to_owned(),
        recall: None,
        ..catalog.meta.clone()
    };
    meta.write(transaction)?;
    manifest.write(transaction)?;
    let seal = SealRecord {
        content_root: root,
        sealed_ms: now_ms(),
    };
    seal.write(transaction)?;
    Ok((root, listed.len() as u64))
}

/// A root that tells nothing of the machine but the name of its folder.
fn without_place(root: &RootRecord) -> RootRecord {
    let name = root.source.rsplit(['/', '\\']).next().unwrap_or_default();
    RootRecord {
        source: name.to_owned(),
        ..root.clone()
    }
}
