//! [`Kb`]: an open .kb for reading.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::catalog::{Catalog, Segment};
use crate::container::{Container, MAX_KEY_BYTES, SlotIdentity, Snapshot};
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::index::keyword::Analyser;
use crate::index::vector::{Codec, uses_rescoring};
use crate::kb::facts::{DocumentInfo, DocumentText, Entry, Info, Outline, Recall, RootInfo, Sizes};
use crate::kb::{sizes, texts};
use crate::resolve;
use crate::search::{MIN_CANDIDATES, model_of};
use crate::store::documents::DocumentRecord;
use crate::store::meta::SealRecord;
use crate::types::{ChunkSpan, DocumentId, Lines, hex};

/// Most bytes of a text that [`Kb::text`] gives as one string.
pub const WHOLE_TEXT_LIMIT_BYTES: u64 = 256 << 20;

/// An open .kb for reading. Any number of threads may share one; each call answers from one commit,
/// and the next call sees the newest.
#[derive(Debug)]
pub struct Kb {
    /// The bytes.
    container: Container,
    /// What was loaded of the commit that answered last.
    loaded: Mutex<Option<(SlotIdentity, Arc<Loaded>)>>,
    /// Analysers with warm caches, one for each thread that is asking.
    pub(super) analysers: Mutex<Vec<Analyser>>,
}

/// What is kept of one commit between calls.
#[derive(Debug)]
pub(super) struct Loaded {
    /// Its records.
    pub(super) catalog: Catalog,
    /// The model of the file; `None` when this program cannot reproduce it.
    pub(super) model: Option<&'static dyn Embedder>,
}

impl Kb {
    /// Opens a .kb file. It takes no lock and needs no write access; a few pages are read.
    ///
    /// # Errors
    /// [`Error::PathNotFound`], [`Error::NotAKb`], [`Error::FormatUnsupported`] or
    /// [`Error::Damaged`].
    pub fn open(path: impl AsRef<Path>) -> Result<Kb> {
        let path = path.as_ref();
        let container = Container::open(path).map_err(|error| match error {
            // Named as the caller named it.
            Error::PathNotFound { .. } => Error::PathNotFound {
                path: path.to_path_buf(),
            },
            other => other,
        })?;
        Kb::over(container)
    }

    /// Opens the bytes of a .kb.
    ///
    /// # Errors
    /// As [`Kb::open`].
    pub fn from_bytes(bytes: impl Into<Arc<[u8]>>) -> Result<Kb> {
        Kb::over(Container::from_bytes(bytes)?)
    }

    fn over(container: Container) -> Result<Kb> {
        let kb = Kb {
            container,
            loaded: Mutex::default(),
            analysers: Mutex::default(),
        };
        kb.read(|_, _| Ok(()))?;
        Ok(kb)
    }

    /// The bytes.
    pub(super) fn container(&self) -> &Container {
        &self.container
    }

    /// Runs `request` on one commit until its answer stands.
    pub(super) fn read<T>(
        &self,
        mut request: impl FnMut(&Snapshot<'_>, &Catalog) -> Result<T>,
    ) -> Result<T> {
        self.container.read(|snapshot| {
            let loaded = self.loaded(snapshot)?;
            request(snapshot, &loaded.catalog)
        })
    }

    pub(super) fn loaded(&self, snapshot: &Snapshot<'_>) -> Result<Arc<Loaded>> {
        let identity = snapshot.identity();
        let mut kept = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, loaded)) = kept.as_ref()
            && *of == identity
        {
            return Ok(Arc::clone(loaded));
        }
        let before = kept.as_ref().map(|(_, loaded)| &loaded.catalog);
        let catalog = Catalog::load_after(snapshot, before)?;
        let model = model_of(&catalog);
        let loaded = Arc::new(Loaded { catalog, model });
        *kept = Some((identity, Arc::clone(&loaded)));
        Ok(loaded)
    }

    /// What is known of one document. `name`: its path, or the end of its path if only one document
    /// has it.
    ///
    /// # Errors
    /// [`Error::DocumentNotFound`] with the nearest names, [`Error::AmbiguousDocument`] with the
    /// candidates.
    pub fn document(&self, name: &str) -> Result<DocumentInfo> {
        self.read(|snapshot, catalog| {
            let (_, record) = self.resolved(snapshot, catalog, name)?;
            DocumentInfo::from_record(record)
        })
    }

    /// The stored text of a document, whole or some lines of the original, cut to those there are.
    /// Where the text has other lines than the original (HTML), whole chunks that touch the lines.
    ///
    /// It is one string; [`Kb::text_paged`] returns a long text piece by piece.
    ///
    /// # Errors
    /// As [`Kb::document`]; [`Error::InvalidRange`] when no asked line exists; [`Error::TooLarge`] for a
    /// text above [`WHOLE_TEXT_LIMIT_BYTES`].
    pub fn text(&self, name: &str, lines: Option<Lines>) -> Result<DocumentText> {
        self.read(|snapshot, catalog| {
            let (_, record) = self.resolved(snapshot, catalog, name)?;
            texts::whole(snapshot, catalog, record, lines)
        })
    }

    /// The document of exactly that path; `None` when there is none. Reads no other path.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::SnapshotExpired`].
    pub fn document_at(&self, path: &str) -> Result<Option<DocumentInfo>> {
        if path.len() > MAX_KEY_BYTES {
            return Ok(None);
        }
        self.read(|snapshot, catalog| {
            let Some(id) = catalog.documents.by_path(snapshot, path)? else {
                return Ok(None);
            };
            let record = catalog.documents.get(snapshot, id)?;
            Ok(Some(DocumentInfo::from_record(record)?))
        })
    }

    /// The chunks of a document, in order; together they are its text.
    ///
    /// # Errors
    /// As [`Kb::document`].
    pub fn chunk_spans(&self, name: &str) -> Result<Vec<ChunkSpan>> {
        self.read(|snapshot, catalog| {
            let (_, record) = self.resolved(snapshot, catalog, name)?;
            let Some(segment) = catalog.bind_document(snapshot, &record)? else {
                return Ok(Vec::new());
            };
            let chunks = segment.chunks();
            let rows = record.first_row..record.first_row.saturating_add(record.rows);
            rows.map(|row| Ok(chunks.get(row)?.at)).collect()
        })
    }

    /// The headings of a document.
    ///
    /// # Errors
    /// As [`Kb::document`].
    pub fn outline(&self, name: &str) -> Result<Outline> {
        self.read(|snapshot, catalog| {
            let (id, record) = self.resolved(snapshot, catalog, name)?;
            let headings = catalog.outlines.get(snapshot, id)?;
            Ok(Outline {
                document: DocumentInfo::from_record(record)?,
                headings,
            })
        })
    }

    /// What a folder holds.
    pub(super) fn entries(
        &self,
        snapshot: &Snapshot<'_>,
        catalog: &Catalog,
        folder: Option<&str>,
    ) -> Result<Vec<Entry>> {
        let prefix = Kb::folder_prefix(folder);
        let mut folders: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        let mut documents = Vec::new();
        catalog.documents.each_path(snapshot, &prefix, |path, id| {
            let Some(rest) = path.strip_prefix(&prefix) else {
                return Ok(ControlFlow::Break(()));
            };
            let record = catalog.documents.get(snapshot, id)?;
            match rest.split_once('/') {
                Some((child, _)) => {
                    let below = folders.entry(format!("{prefix}{child}")).or_default();
                    below.0 += 1;
                    // Sizes are what records claim.
                    below.1 = u64::saturating_add(below.1, record.size_bytes);
                }
                None => documents.push(Entry::Document(DocumentInfo::from_record(record)?)),
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if folders.is_empty() && documents.is_empty() && !prefix.is_empty() {
            return Err(Kb::no_folder(snapshot, catalog, &prefix)?);
        }
        let folders = folders
            .into_iter()
            .map(|(path, (documents, size_bytes))| Entry::Folder {
                path,
                documents,
                size_bytes,
            });
        Ok(folders.chain(documents).collect())
    }

    /// What the paths of documents in a folder begin with; empty for the top.
    pub(super) fn folder_prefix(folder: Option<&str>) -> String {
        let folder = folder.unwrap_or("").trim_start_matches("./");
        match folder.trim_matches('/') {
            "" | "." => String::new(),
            folder => format!("{folder}/"),
        }
    }

    /// The error for a folder without documents.
    pub(super) fn no_folder(
        snapshot: &Snapshot<'_>,
        catalog: &Catalog,
        prefix: &str,
    ) -> Result<Error> {
        let folder = prefix.trim_end_matches('/');
        Ok(Error::FolderNotFound {
            name: folder.to_owned(),
            nearest: resolve::nearest_folders(snapshot, catalog, folder)?,
        })
    }

    /// Facts about the file. Cost grows with the number of documents.
    pub fn info(&self) -> Result<Info> {
        let signature = self.container.signature();
        self.read(|snapshot, catalog| {
            let meta = &catalog.meta;
            let mut types: BTreeMap<String, u64> = BTreeMap::new();
            let mut languages = BTreeMap::new();
            let mut classes = BTreeMap::new();
            catalog.documents.each_path(snapshot, "", |_, id| {
                let record = catalog.documents.get(snapshot, id)?;
                *classes
                    .entry(record.class()?.name().to_owned())
                    .or_default() += 1;
                *types.entry(record.file_type).or_default() += 1;
                if !record.language.is_empty() {
                    *languages.entry(record.language).or_default() += 1;
                }
                Ok(ControlFlow::Continue(()))
            })?;
            Ok(Info {
                path: self.container.path().map(Path::to_path_buf),
                uuid: hex(&signature.uuid),
                format: format!("{}.{}", signature.major, signature.minor),
                created_ms: meta.created_ms,
                updated_ms: meta.updated_ms,
                commit: snapshot.commit(),
                roots: meta.roots.iter().map(RootInfo::from_record).collect(),
                documents: meta.documents,
                chunks: meta.chunks,
                segments: catalog.segments.len() as u64,
                text_bytes: meta.text_bytes,
                file_bytes: self.container.len_bytes(),
                model: meta.embedder.id.clone(),
                dim: meta.embedder.dim,
                vectors: Codec::of(meta.embedder.codec)?,
                is_exact: !uses_rescoring(meta.chunks, MIN_CANDIDATES),
                recall: meta.recall.as_ref().map(Recall::from_record),
                model_available: model_of(catalog).is_some(),
                analyser: meta.analyser.clone(),
                deleted_chunks: catalog
                    .segments
                    .iter()
                    .filter_map(Segment::deleted_rows)
                    .map(roaring::RoaringBitmap::len)
                    .sum(),
                content_root: SealRecord::read(snapshot)?.map(|seal| hex(&seal.content_root)),
                types: most_first(types),
                languages: most_first(languages),
                classes: most_first(classes),
            })
        })
    }

    pub(super) fn resolved(
        &self,
        snapshot: &Snapshot<'_>,
        catalog: &Catalog,
        name: &str,
    ) -> Result<(DocumentId, DocumentRecord)> {
        let id = resolve::document(snapshot, catalog, self.container.path(), name)?;
        Ok((id, catalog.documents.get(snapshot, id)?))
    }

    /// Bytes of the file by section; reads every branch page.
    pub fn sizes(&self) -> Result<Sizes> {
        self.read(sizes::sizes)
    }
}

/// All lines of a document.
pub(super) fn all_lines(record: &DocumentRecord) -> Lines {
    Lines {
        first: 1.min(record.lines),
        last: record.lines,
    }
}

fn most_first(counts: BTreeMap<String, u64>) -> Vec<(String, u64)> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts
}
