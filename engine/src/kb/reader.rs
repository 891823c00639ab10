//! [`Kb`]: an open .kb for reading. Each method reads one commit; the code is in
//! [`content`], [`search`] and [`check`]. What it reads of documents is in `documents.rs`.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use kb_types::error::{Error, Result};
use kb_types::{Class, EmbedderResolver};

use crate::check::{self, VerifyOptions, VerifyReport};
use crate::container::Container;
use crate::content::{
    self, ChunkPlace, Info, RootInfo, Sizes, State, VectorColumn, VectorPass, VectorRow, Vectors,
};
use crate::index::keyword::Analyser;
use crate::kb::open_file::{OpenFile, read_all};
use crate::progress::{Hook, Progress, Reporter, Stage};
use crate::search::{
    self, Request, Response, Source, SymbolsRequest, SymbolsResponse, check_threads,
};
#[cfg(feature = "regex")]
use crate::search::{RegexRequest, RegexResponse};

/// Most files that one request may search.
// Each file costs a map, its segments and a part of every search. The limit keeps one request of a
// client bounded.
pub const FILES_LIMIT: usize = 64;

/// An open .kb for reading. `Send` and `Sync`: any number of threads may share one. Each call reads one commit, and the
/// next call sees the newest.
///
/// A document is named by its path, by the end of its path when only one document has it (`lib.rs`,
/// `src/lib.rs`), by its handle, or by its address (`kb://notes/doc/src/lib.rs`).
///
/// A name may be followed by lines: `lib.rs:10-20`, `lib.rs:10`, `lib.rs:10-` (to the end), `lib.rs#L10`,
/// `lib.rs#L10-L20`. An address with lines is `kb://notes/lines/10-20/src/lib.rs`. A call that returns text then
/// returns these lines, or the chunks or pages that hold them, unless its arguments select something else. Other calls
/// ignore them. If the whole string is the name of a document, nothing in it is taken for lines.
///
/// A section of a document is named by its number (`2.1`), its path of titles (`Guide > Install`), both
/// (`2.1 Guide > Install`), the end of that path, or its title. Case does not matter. A path or title must belong to
/// one section only. [`Hit::section_name`](crate::Hit::section_name) is such a name.
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

    /// Embeds queries by the models of columns that know theirs, as far as `models` finds them: a search by vectors then
    /// uses such a column beside that of the built-in model. Without this, or where a model is not found, the built-in
    /// model answers alone, and [`Response::warnings`] say so.
    #[must_use]
    pub fn with_models(mut self, models: Arc<dyn EmbedderResolver>) -> Kb {
        self.file.set_models(models);
        self
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

    /// As [`Kb::search`], with a `hook` that may stop it. Most searches take milliseconds. One with phrases over very
    /// many
    /// documents, or for a late page, may take seconds.
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

    /// Finds the lines or documents that match a regular expression.
    ///
    /// ```
    /// # fn main() -> kb_engine::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("notes.kb");
    /// # let mut writer = kb_engine::KbWriter::open_or_create(&path)?;
    /// # writer.add_bytes("tides.md", b"# Tides\n\nThe moon pulls the sea.")?;
    /// # writer.commit()?;
    /// let kb = kb_engine::Kb::open(&path)?;
    /// let found = kb.search_regex(&kb_engine::RegexRequest::new(r"\bpull\w+"))?;
    /// assert_eq!((found.matches[0].lines.first, &found.matches[0].text[9..14]), (3, "pulls"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Cost: reads and decodes the text that may match by its trigrams, some 500 MB a second; all text for a pattern
    /// without three fixed characters in a row, and where the file has no trigrams.
    ///
    /// # Errors
    /// [`Error::InvalidPattern`] with the position of the fault; otherwise as [`Kb::search`], and as
    /// [`Kb::document`] for a document that is named.
    #[cfg(feature = "regex")]
    pub fn search_regex(&self, request: &RegexRequest) -> Result<RegexResponse> {
        search_files_regex(&[self], request, &mut Progress::ignore)
    }

    /// Finds the definitions of programs by kind, name and use.
    ///
    /// ```
    /// # fn main() -> kb_engine::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("notes.kb");
    /// # let mut writer = kb_engine::KbWriter::open_or_create(&path)?;
    /// # writer.add_bytes("tides.py", b"def ebb():\n    pass\n\ndef flow():\n    ebb()\n")?;
    /// # writer.commit()?;
    /// use kb_engine::{SymbolRelation, SymbolsRequest};
    ///
    /// let kb = kb_engine::Kb::open(&path)?;
    /// let found = kb.symbols(&SymbolsRequest::new().name("eb*"))?;
    /// assert_eq!((found.total, found.symbols[0].signature.as_str()), (1, "def ebb()"));
    /// let callers = SymbolsRequest::new().relation(SymbolRelation::Uses("ebb".to_owned()));
    /// let found = kb.symbols(&callers)?;
    /// assert_eq!((found.symbols[0].name.as_str(), found.symbols[0].uses.as_slice()), ("flow", &[5][..]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Cost: the names of the index that begin as the pattern does, the records of the documents with such symbols, and
    /// the text of those on the page; without name and kind the records of all programs. With
    /// [`Uses`](crate::SymbolRelation::Uses) the text of all chunks that have the word, at most 256 MiB.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a name or number that no request may have; otherwise as [`Kb::search`].
    pub fn symbols(&self, request: &SymbolsRequest) -> Result<SymbolsResponse> {
        read_all(&[&self.file], &Reporter::silent(), &mut |sources| {
            search::symbols(sources, request)
        })
    }

    /// Answers several requests from one commit, each as [`Kb::search`] would.
    ///
    /// # Errors
    /// As [`Kb::search`], for the first request that fails.
    pub fn search_many(&self, requests: &[Request]) -> Result<Vec<Response>> {
        self.search_many_reporting(requests, 1, &Reporter::silent())
    }

    /// As [`Kb::search_many`] on at most `threads` threads, each of which answers one request at a time. `hook` may
    /// stop
    /// it, see [`Kb::search_with`].
    ///
    /// # Errors
    /// As [`Kb::search_many`]; [`Error::Cancelled`] when `hook` breaks; [`Error::InvalidArgument`] for no thread or
    /// more than [`THREADS_LIMIT`](crate::THREADS_LIMIT).
    pub fn search_many_with(
        &self,
        requests: &[Request],
        threads: usize,
        hook: &mut Hook<'_>,
    ) -> Result<Vec<Response>> {
        let hook = RefCell::new(hook);
        let reporter = Reporter::new(&hook);
        reporter.start(Stage::Search)?;
        self.search_many_reporting(requests, threads, &reporter)
    }

    fn search_many_reporting(
        &self,
        requests: &[Request],
        threads: usize,
        reporter: &Reporter<'_>,
    ) -> Result<Vec<Response>> {
        check_threads(threads)?;
        let lend = |work: &mut dyn FnMut(&mut Analyser)| self.file.with_analyser(work);
        read_all(&[&self.file], reporter, &mut |sources| {
            search::search_many(sources, requests, threads, &lend)
        })
    }

    /// The vector that a query with this text has in the model of the file, and the id of that model. The vector has
    /// unit
    /// length, or is all zero if the model knows no word of the text.
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

/// Answers a request from several files as if they were one. Term weights are computed over the chunks of all files, so
/// scores are comparable. [`crate::Hit::file`] is the position of the file of a hit. Each file is read at one commit.
///
/// # Errors
/// As [`Kb::search`]; [`Error::InvalidArgument`] for no file or more than [`FILES_LIMIT`].
pub fn search_files(files: &[&Kb], request: &Request) -> Result<Response> {
    search_reporting(files, request, &Reporter::silent())
}

/// As [`search_files`], with a `hook` that may stop it: see [`Kb::search_with`].
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
    let files = open_files(files)?;
    let answer = |analyser: &mut Analyser| {
        read_all(&files, reporter, &mut |sources| {
            search::search(sources, request, analyser)
        })
    };
    match files.first() {
        Some(first) => first.with_analyser(answer),
        None => answer(&mut Analyser::default()),
    }
}

/// Searches several files for a regular expression, one file after the other. `hook` is called as in
/// [`Kb::search_with`].
///
/// # Errors
/// As [`Kb::search_regex`]; [`Error::InvalidArgument`] for no file or more than [`FILES_LIMIT`];
/// [`Error::Cancelled`] when `hook` breaks.
#[cfg(feature = "regex")]
pub fn search_files_regex(
    files: &[&Kb],
    request: &RegexRequest,
    hook: &mut Hook<'_>,
) -> Result<RegexResponse> {
    ask_files(files, hook, &mut |sources| {
        search::search_regex(sources, request)
    })
}

/// Finds the symbols of programs in several files, one file after the other. A use in one file of a name that another
/// file defines is found too. `hook` is called as in [`Kb::search_with`].
///
/// # Errors
/// As [`Kb::symbols`]; [`Error::InvalidArgument`] for no file or more than [`FILES_LIMIT`]; [`Error::Cancelled`] when
/// `hook` breaks.
pub fn search_files_symbols(
    files: &[&Kb],
    request: &SymbolsRequest,
    hook: &mut Hook<'_>,
) -> Result<SymbolsResponse> {
    ask_files(files, hook, &mut |sources| {
        search::symbols(sources, request)
    })
}

/// Asks several files what is not ranked.
fn ask_files<T>(
    files: &[&Kb],
    hook: &mut Hook<'_>,
    ask: &mut dyn FnMut(&[Source<'_>]) -> Result<T>,
) -> Result<T> {
    let hook = RefCell::new(hook);
    let reporter = Reporter::new(&hook);
    reporter.start(Stage::Search)?;
    read_all(&open_files(files)?, &reporter, ask)
}

/// The files of a request.
fn open_files<'k>(files: &[&'k Kb]) -> Result<Vec<&'k OpenFile>> {
    if files.is_empty() || files.len() > FILES_LIMIT {
        return Err(Error::InvalidArgument {
            argument: "files",
            reason: format!("{} given; allowed are 1 to {FILES_LIMIT}", files.len()),
        });
    }
    Ok(files.iter().map(|kb| &kb.file).collect())
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

    /// Whether the file was moved or deleted since it was opened. Calls then answer from the file that is still mapped,
    /// until another file takes its path. Always false after [`Kb::from_bytes`]. Cost: one look at the path.
    pub fn is_file_gone(&self) -> bool {
        self.container().is_gone()
    }

    /// The vectors of all chunks of the newest commit, in place: nothing is copied, and they stay readable when
    /// this handle is dropped. Deleted chunks are among them until their segment is merged.
    ///
    /// Cost: each extent is checked against its checksum when it is first read.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn vectors(&self) -> Result<Vectors> {
        self.file.read(content::vectors)
    }

    /// As [`Kb::vectors`], of a [column](crate::VectorColumn) by its name; those of
    /// [`BUILT_IN_VECTORS`](crate::BUILT_IN_VECTORS) are those of [`Kb::vectors`]. Rows of chunks without a vector are
    /// zeros; segments in which no chunk has one are left out.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] when there is no such column; as [`Kb::vectors`].
    pub fn vectors_of(&self, column: &str) -> Result<Vectors> {
        self.file.read(|commit| content::vectors_of(commit, column))
    }

    /// The columns of vectors: the built-in one first, then those that were imported, by the order of their first
    /// import. Cost: a bitmap for each column and segment.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn vector_columns(&self) -> Result<Vec<VectorColumn>> {
        self.file.read(content::vector_columns)
    }

    /// The live chunks `first` to `first + count - 1`, from 0, in the order that
    /// [`VectorTarget::Position`](crate::VectorTarget) counts in: documents in the order of the bytes of their paths, then chunks by
    /// number. Fewer at the end. Cost: a record for each document up to the last one.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn chunks_in_order(&self, first: u64, count: usize) -> Result<Vec<ChunkPlace>> {
        self.file
            .read(|commit| content::chunks_in_order(commit, first, count))
    }

    /// Which chunks the rows of `vectors` are of, in their order. Cost: a record for each chunk and document.
    ///
    /// # Errors
    /// [`Error::StaleCursor`] when the file has another commit now; as [`Kb::state`].
    pub fn vector_rows(&self, vectors: &Vectors) -> Result<Vec<VectorRow>> {
        self.file
            .read(|commit| content::vector_rows(commit, vectors))
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

    /// Whether a document of one of these classes has a chunk. Cost: a bitmap for each segment and class.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn has_class(&self, classes: &[Class]) -> Result<bool> {
        self.file.read(|commit| content::has_class(commit, classes))
    }

    /// Programs that are indexed as text and not parsed yet: their symbols and outlines are missing. See
    /// [`IndexOptions::symbols_later_bytes`](crate::IndexOptions::symbols_later_bytes). Cost: a look-up for each segment;
    /// while programs are pending, a row of each of their chunks.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn symbols_pending(&self) -> Result<u64> {
        self.file.read(content::symbols_pending)
    }

    /// Sizes of the parts of the file, in bytes. Cost: reads every branch page.
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
    /// At most `count` queries drawn from the file: of evenly spread chunks, alternately the heading above and the
    /// first
    /// words of the text. The same file always gives the same queries.
    ///
    /// Cost: one text block and one outline per query.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn sample_queries(&self, count: usize) -> Result<Vec<String>> {
        self.file
            .read(|commit| content::sample_queries(commit.snapshot, commit.catalog, count))
    }

    /// Reads every byte of the vector rows `times` times and only adds them up. This measures how fast one thread gets
    /// them
    /// from memory, or from the processor's cache if they fit.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn read_vector_rows(&self, times: u32) -> Result<VectorPass> {
        self.file
            .read(|commit| content::read_vector_rows(commit, times))
    }

    /// Compares every vector row with one vector, `times` times, and keeps the nearest. This measures the exact scan of
    /// a
    /// semantic search alone. The vector is a row of the file, so no model is needed.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn scan_vector_rows(&self, times: u32) -> Result<VectorPass> {
        self.file
            .read(|commit| content::scan_vector_rows(commit, times))
    }
}
