//! [`Kb`]: an open .kb for reading. Each method reads one commit; the code is in
//! [`content`], [`search`] and [`check`].

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use crate::check::{self, VerifyOptions, VerifyReport};
use crate::container::Container;
use crate::content::{
    self, ChunkText, DocumentInfo, DocumentPages, DocumentSections, DocumentText, Entry, Folders,
    Info, Outline, RootInfo, Sizes, SkippedFile, State, VectorPass,
};
use crate::error::{Error, Result};
use crate::kb::open_file::{OpenFile, read_all};
use crate::paging::{PageOptions, Paged};
use crate::progress::{Hook, Reporter, Stage};
use crate::resolve::NameMatch;
use crate::search::{self, Request, Response};
use crate::types::{ChunkSpan, Class, Lines};

/// Most files that one request may search.
pub const FILES_LIMIT: usize = 64;

/// An open .kb for reading. `Send` and `Sync`: any number of threads may share one. Each call reads one commit, and the
/// next call sees the newest.
///
/// A document is named by its path, by the end of its path when only one document has it (`lib.rs`,
/// `src/lib.rs`), by its handle, or by its address (`kb://notes/doc/src/lib.rs`).
#[derive(Debug)]
pub struct Kb {
    pub(super) file: OpenFile,
}

/// Opening.
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
        let file = OpenFile::new(container)?;
        Ok(Kb { file })
    }

    /// Opens the bytes of a .kb.
    ///
    /// # Errors
    /// As [`Kb::open`].
    pub fn from_bytes(bytes: impl Into<Arc<[u8]>>) -> Result<Kb> {
        let file = OpenFile::new(Container::from_bytes(bytes)?)?;
        Ok(Kb { file })
    }

    pub(super) fn container(&self) -> &Container {
        self.file.container()
    }
}

/// Searching.
impl Kb {
    /// Answers a request.
    ///
    /// ```
    /// # fn main() -> kb_engine::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("notes.kb");
    /// # let mut writer = kb_engine::KbWriter::open_or_create(&path)?;
    /// # writer.add_bytes("tides.md", b"The moon pulls the sea.")?;
    /// # writer.commit()?;
    /// let kb = kb_engine::Kb::open(&path)?;
    /// let response = kb.search(&kb_engine::Request::new("moon and sea"))?;
    /// assert_eq!(response.hits[0].document, "tides.md");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a blank query, a number out of range or an unknown filter value;
    /// [`Error::InvalidCursor`] and [`Error::StaleCursor`];
    /// [`Error::EmbeddingModelUnavailable`] for a semantic request without the model of the file;
    /// [`Error::Damaged`], [`Error::SnapshotExpired`].
    pub fn search(&self, request: &Request) -> Result<Response> {
        search_files(&[self], request)
    }

    /// As [`Kb::search`], for a caller that may want to stop it. Most searches take milliseconds; one
    /// with phrases over very many documents, or for a late page, may take seconds.
    ///
    /// `hook` is called with [`Stage::Search`] and without counts, first at the start and then about 40
    /// times a second, between two segments, documents or texts.
    ///
    /// ```
    /// # fn main() -> kb_engine::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("notes.kb");
    /// # let mut writer = kb_engine::KbWriter::open_or_create(&path)?;
    /// # writer.add_bytes("tides.md", b"The moon pulls the sea.")?;
    /// # writer.commit()?;
    /// use std::ops::ControlFlow;
    /// use std::time::{Duration, Instant};
    ///
    /// use kb_engine::{Kb, Progress, Request};
    ///
    /// let deadline = Instant::now() + Duration::from_secs(10);
    /// let mut hook = |_: &Progress| {
    ///     if Instant::now() < deadline {
    ///         ControlFlow::Continue(())
    ///     } else {
    ///         ControlFlow::Break(())
    ///     }
    /// };
    /// let kb = Kb::open(&path)?;
    /// let response = kb.search_with(&Request::new("\"the moon\""), &mut hook)?;
    /// assert_eq!(response.hits.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Kb::search`]; [`Error::Cancelled`] when `hook` breaks.
    pub fn search_with(&self, request: &Request, hook: &mut Hook<'_>) -> Result<Response> {
        search_files_with(&[self], request, hook)
    }

    /// Answers several requests from one commit, each as [`Kb::search`] would.
    ///
    /// # Errors
    /// As [`Kb::search`], for the first request that fails.
    pub fn search_many(&self, requests: &[Request]) -> Result<Vec<Response>> {
        self.file.with_analyser(|analyser| {
            read_all(&[&self.file], &Reporter::silent(), &mut |sources| {
                search::search_many(sources, requests, analyser)
            })
        })
    }

    /// The vector of a text as a query has it, in the model of the file, and the id of that model. The
    /// vector is of unit length, or all zero when the model knows nothing in the text.
    ///
    /// # Errors
    /// [`Error::EmbeddingModelUnavailable`] when this program cannot reproduce the model.
    pub fn embed(&self, text: &str) -> Result<(Vec<f32>, String)> {
        self.file.read_with_model(|commit, model| {
            let id = commit.catalog.meta.embedder.id.clone();
            match model {
                Some(model) => Ok((search::embedded(model, text)?, id)),
                None => Err(Error::EmbeddingModelUnavailable { needs: id }),
            }
        })
    }
}

/// Answers a request from several files as if they were one: a term weighs by how many chunks of all
/// files have it, so scores compare, and [`crate::Hit::file`] says which file a hit is from. Each file
/// is read at one commit.
///
/// # Errors
/// As [`Kb::search`]; [`Error::InvalidArgument`] for no file or more than [`FILES_LIMIT`].
pub fn search_files(files: &[&Kb], request: &Request) -> Result<Response> {
    search_reporting(files, request, &Reporter::silent())
}

/// As [`search_files`], for a caller that may want to stop it: see [`Kb::search_with`].
///
/// # Errors
/// As [`search_files`]; [`Error::Cancelled`] when `hook` breaks.
pub fn search_files_with(
    files: &[&Kb],
    request: &Request,
    hook: &mut Hook<'_>,
) -> Result<Response> {
    let hook = RefCell::new(hook);
    let reporter = Reporter::new(&hook);
    reporter.start(Stage::Search)?;
    search_reporting(files, request, &reporter)
}

fn search_reporting(files: &[&Kb], request: &Request, reporter: &Reporter<'_>) -> Result<Response> {
    let Some(first) = files.first().filter(|_| files.len() <= FILES_LIMIT) else {
        return Err(Error::InvalidArgument {
            argument: "files",
            reason: format!("{} given; allowed are 1 to {FILES_LIMIT}", files.len()),
        });
    };
    let files: Vec<&OpenFile> = files.iter().map(|kb| &kb.file).collect();
    first.file.with_analyser(|analyser| {
        read_all(&files, reporter, &mut |sources| {
            search::search(sources, request, analyser)
        })
    })
}

/// Documents and their texts.
impl Kb {
    /// What the file records about one document.
    ///
    /// # Errors
    /// [`Error::DocumentNotFound`] with the nearest names, [`Error::AmbiguousDocument`] with the
    /// candidates.
    pub fn document(&self, name: &str) -> Result<DocumentInfo> {
        self.file.read(|commit| content::document(commit, name))
    }

    /// As [`Kb::document`], and how the name means it: to choose among documents of several files.
    ///
    /// # Errors
    /// As [`Kb::document`].
    pub fn document_match(&self, name: &str) -> Result<(DocumentInfo, NameMatch)> {
        self.file
            .read(|commit| content::document_match(commit, name))
    }

    /// The document of exactly that path; `None` when there is none. Reads no other path.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::SnapshotExpired`].
    pub fn document_at(&self, path: &str) -> Result<Option<DocumentInfo>> {
        self.file.read(|commit| content::document_at(commit, path))
    }

    /// The stored text of a document, whole or some lines of the original, cut to those there are.
    /// Where the text has other lines than the original (HTML), whole chunks that touch the lines.
    ///
    /// It is one string; [`Kb::text_paged`] returns a long text piece by piece.
    ///
    /// # Errors
    /// As [`Kb::document`]; [`Error::InvalidRange`] when none of the lines exists; [`Error::TooLarge`]
    /// for a text above [`WHOLE_TEXT_LIMIT_BYTES`](crate::WHOLE_TEXT_LIMIT_BYTES).
    pub fn text(&self, name: &str, lines: Option<Lines>) -> Result<DocumentText> {
        self.file.read(|commit| content::text(commit, name, lines))
    }

    /// As [`Kb::text`], as much as fits the budget: up to the end of a line, where one fits. Cost grows
    /// with what is returned.
    ///
    /// # Errors
    /// As [`Kb::text`]; [`Error::InvalidCursor`], [`Error::StaleCursor`].
    pub fn text_paged(
        &self,
        name: &str,
        lines: Option<Lines>,
        page: &PageOptions,
    ) -> Result<DocumentText> {
        self.file
            .read(|commit| content::text_paged(commit, name, lines, page))
    }

    /// The first `bytes` bytes of the stored text of a document, up to three fewer where a character
    /// would be cut. Reads no more text than that.
    ///
    /// # Errors
    /// As [`Kb::document`].
    pub fn head(&self, name: &str, bytes: usize) -> Result<(DocumentInfo, String)> {
        self.file.read(|commit| content::head(commit, name, bytes))
    }

    /// Pages of a document: the ranges `ranges` (first and last page, from 1) in the order given, all
    /// pages when there are none. A page is neighbouring chunks of about 800 tokens; the pages of a
    /// document together are its text, and a document without text has one empty page. Only the text
    /// of the pages that are returned is read.
    ///
    /// # Errors
    /// As [`Kb::document`]; [`Error::InvalidPages`] when the document does not have all of them;
    /// [`Error::InvalidCursor`], [`Error::StaleCursor`].
    pub fn pages(
        &self,
        name: &str,
        ranges: &[(u32, u32)],
        page: &PageOptions,
    ) -> Result<DocumentPages> {
        self.file
            .read(|commit| content::pages(commit, name, ranges, page))
    }

    /// Where the chunks of a document are, in order; together they are its text. No text is read.
    ///
    /// # Errors
    /// As [`Kb::document`].
    pub fn chunk_spans(&self, name: &str) -> Result<Vec<ChunkSpan>> {
        self.file.read(|commit| content::chunk_spans(commit, name))
    }

    /// The chunks of a document with their texts, in order; with `section` those that hold text of
    /// that section, given by its number or by a title that only one heading has.
    ///
    /// # Errors
    /// As [`Kb::document`]; [`Error::SectionNotFound`], [`Error::AmbiguousSection`];
    /// [`Error::InvalidCursor`], [`Error::StaleCursor`].
    pub fn chunks(
        &self,
        name: &str,
        section: Option<&str>,
        page: &PageOptions,
    ) -> Result<Paged<ChunkText>> {
        self.file
            .read(|commit| content::chunks(commit, name, section, page))
    }

    /// The headings of a document.
    ///
    /// # Errors
    /// As [`Kb::document`].
    pub fn outline(&self, name: &str) -> Result<Outline> {
        self.file.read(|commit| content::outline(commit, name))
    }

    /// The sections of a document in reading order. No text is read.
    ///
    /// # Errors
    /// As [`Kb::document`]; [`Error::InvalidCursor`], [`Error::StaleCursor`].
    pub fn sections(&self, name: &str, page: &PageOptions) -> Result<DocumentSections> {
        self.file
            .read(|commit| content::sections(commit, name, page))
    }

    /// The text of one section, its heading and what lies under it, as much as fits the budget: up to
    /// the end of a line, where one fits. `section` is its number, or a title that only one heading
    /// has.
    ///
    /// # Errors
    /// As [`Kb::document`]; [`Error::SectionNotFound`] with the sections that look like it;
    /// [`Error::AmbiguousSection`]; [`Error::InvalidCursor`], [`Error::StaleCursor`].
    pub fn section_text(
        &self,
        name: &str,
        section: &str,
        page: &PageOptions,
    ) -> Result<DocumentText> {
        self.file
            .read(|commit| content::section_text(commit, name, section, page))
    }
}

/// Folders and paths.
impl Kb {
    /// Folders, then documents, directly in `folder` (`None`: at the top), each in the order of path
    /// bytes. Cost grows with the documents below it.
    ///
    /// # Errors
    /// [`Error::FolderNotFound`] with the nearest names; [`Error::InvalidCursor`],
    /// [`Error::StaleCursor`].
    pub fn list(&self, folder: Option<&str>, page: &PageOptions) -> Result<Paged<Entry>> {
        self.file.read(|commit| content::list(commit, folder, page))
    }

    /// The documents in `folder` (`None`: at the top), and, when `is_recursive`, those below it at any
    /// depth, in the order of path bytes. Cost grows with the documents below the folder.
    ///
    /// # Errors
    /// As [`Kb::list`].
    pub fn documents(
        &self,
        folder: Option<&str>,
        is_recursive: bool,
        page: &PageOptions,
    ) -> Result<Paged<DocumentInfo>> {
        self.file
            .read(|commit| content::documents(commit, folder, is_recursive, page))
    }

    /// The files in `folder` (`None`: all) and below it that are in the indexed folders and were not read into
    /// documents, each with the reason, in the order of path bytes. Files that are hidden or under an ignore
    /// rule are not recorded, and a sealed file has none. Cost grows with the skipped files below the folder.
    ///
    /// # Errors
    /// [`Error::InvalidCursor`], [`Error::StaleCursor`], [`Error::Damaged`].
    pub fn skipped(&self, folder: Option<&str>, page: &PageOptions) -> Result<Paged<SkippedFile>> {
        self.file
            .read(|commit| content::skipped(commit, folder, page))
    }

    /// How many files were skipped for each reason, most first, without what is special to one file. Cost
    /// grows with the number of skipped files.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::SnapshotExpired`].
    pub fn skipped_reasons(&self) -> Result<Vec<(String, u64)>> {
        self.file.read(content::skipped_reasons)
    }

    /// The first `limit` documents whose paths come after `after` (`None`: from the first), in the
    /// order of path bytes. Cost grows with what is returned, not with where it begins.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::SnapshotExpired`].
    pub fn documents_after(&self, after: Option<&str>, limit: usize) -> Result<Vec<DocumentInfo>> {
        self.file
            .read(|commit| content::documents_after(commit, after, limit))
    }

    /// All folders. At most `limit_bytes` bytes of their paths are returned, counting 24 more for each;
    /// the deepest are left out first. Cost grows with the number of documents.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::SnapshotExpired`].
    pub fn folders(&self, limit_bytes: u64) -> Result<Folders> {
        self.file
            .read(|commit| content::folders(commit, limit_bytes))
    }

    /// Completions of a path: at most `limit` of the paths that begin with `typed`, then of those that
    /// have it elsewhere, both without regard to case and in the order of path bytes, and how many
    /// there are. Cost grows with the number of documents.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::SnapshotExpired`].
    pub fn complete_path(&self, typed: &str, limit: usize) -> Result<(Vec<String>, u64)> {
        self.file
            .read(|commit| content::complete_path(commit, typed, limit))
    }
}

/// Facts about the file.
impl Kb {
    /// The commit that a call would read now.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::SnapshotExpired`].
    pub fn state(&self) -> Result<State> {
        self.file.read(|commit| Ok(content::state(commit)))
    }

    /// Facts about the file. Cost grows with the number of documents.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn info(&self) -> Result<Info> {
        let signature = self.container().signature();
        let format = format!("{}.{}", signature.major, signature.minor);
        self.file.read(|commit| {
            // Reading maps the file again where it has grown.
            let file_bytes = self.container().len_bytes();
            content::info(commit, format.clone(), file_bytes)
        })
    }

    /// The folders that were indexed.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn roots(&self) -> Result<Vec<RootInfo>> {
        self.file.read(|commit| Ok(content::roots(commit)))
    }

    /// Whether any document of one of these classes has a chunk. Reads a bitmap for each segment.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn has_class(&self, classes: &[Class]) -> Result<bool> {
        self.file.read(|commit| content::has_class(commit, classes))
    }

    /// Bytes of the file by section. Reads every branch page.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn sizes(&self) -> Result<Sizes> {
        self.file.read(content::sizes)
    }

    /// Reads the newest commit and reports what is wrong with it: compares all pages and extents with
    /// their checksums and, with [`VerifyOptions::deep`], everything that the file stores twice: text against its hash, rows
    /// against documents, words, vectors and tags against each other, a sealed file against its
    /// content root. It repairs nothing. `hook` gets bytes done and to be done, of
    /// the file and then of its text.
    ///
    /// Cost: reads all bytes in use once; deep about 2 s for 100 MB of text.
    ///
    /// # Errors
    /// [`Error::SnapshotExpired`] when commits overtook every attempt; [`Error::Io`];
    /// [`Error::Cancelled`]. Damage is no error: it is in [`VerifyReport::problems`].
    pub fn verify(&self, options: &VerifyOptions, hook: &mut Hook<'_>) -> Result<VerifyReport> {
        check::verify(self.container(), options, hook)
    }
}

/// Diagnostics: what `kb bench` measures.
impl Kb {
    /// Queries drawn from the file itself, `count` at most: of chunks spread evenly over all, in turn
    /// the heading above and the first words of the text. The same file returns the same ones.
    ///
    /// Cost: one text block and one outline per query.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn sample_queries(&self, count: usize) -> Result<Vec<String>> {
        self.file
            .read(|commit| content::sample_queries(commit.snapshot, commit.catalog, count))
    }

    /// Reads every byte of the vector rows `times` times and does nothing with them but add: as fast as
    /// one thread can get them from memory, or from the processor's cache when they fit in it.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn read_vector_rows(&self, times: u32) -> Result<VectorPass> {
        self.file
            .read(|commit| content::read_vector_rows(commit, times))
    }

    /// Compares every vector row with one vector, `times` times, and keeps the nearest: the exact scan of
    /// a semantic search and nothing else. The vector is a row of the file, so that no model is
    /// needed.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn scan_vector_rows(&self, times: u32) -> Result<VectorPass> {
        self.file
            .read(|commit| content::scan_vector_rows(commit, times))
    }
}
