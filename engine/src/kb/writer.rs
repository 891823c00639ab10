//! [`KbWriter`]: makes or changes one .kb. The work is done in `ingest/run`.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kb_extract::tags;
use kb_extract::worker::extraction::Extraction;
use kb_types::error::Result;
use kb_types::{Document, EmbedderResolver, TextEmbedder};

use crate::index::keyword::MAX_ROWS;
use crate::ingest::changes::survey::BUFFER_LIMIT_BYTES;
use crate::ingest::options::IndexOptions;
use crate::ingest::prepare::preparer::Chunking;
use crate::ingest::report::Report;
use crate::ingest::run::{
    AddOptions, ColumnUpdate, EachAdded, ImportReport, MergeOptions, MergeReport, MergeSource,
    NewDocument, NewVectors, ReembedOptions, ReembedReport, SealOptions, SealReport, Session,
    SourceInfo, VectorTarget, WaitingTexts,
};
use crate::progress::{Hook, Reporter};
use crate::store::fields::FieldValue;

/// Makes or changes one .kb.
///
/// Changes are gathered and become visible together, at [`KbWriter::commit`]; [`KbWriter::index`] is
/// a commit of its own. The first change locks the file against other writers, until the writer is
/// dropped; readers are never held up. Dropping the writer, or [`KbWriter::abandon`], leaves the last
/// commit as it was.
///
/// From the first change on the writer has one file open, whatever its name. When its path leads to
/// another file, or to none, every call fails with [`crate::Error::FileReplaced`]: nothing is written, neither
/// to that file nor to this one, which keeps its last commit, and changes that wait for a commit are
/// gone, because they were made for this file. The call after that starts over with what is at the path.
///
/// In a process forked from the one that locked the file every call fails with
/// [`crate::Error::ForkedWriter`], and dropping the writer there changes and unlocks nothing. A writer is
/// `Send`, so another thread of the same process may take it over.
///
/// ```
/// use kb_engine::{IndexOptions, Kb, KbWriter, Progress};
///
/// # fn main() -> kb_engine::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let sources = folder.path().join("notes");
/// # std::fs::create_dir(&sources).unwrap();
/// # std::fs::write(sources.join("bread.md"), "# Bread\n\nFlour and patience.\n").unwrap();
/// # let path = folder.path().join("notes.kb");
/// let mut writer = KbWriter::open_or_create(&path)?;
/// let report = writer.index(&[sources], &IndexOptions::new(), &mut Progress::ignore)?;
/// assert_eq!(report.added, ["bread.md"]);
///
/// writer.add_bytes("tides.md", b"The moon pulls the sea.")?;
/// writer.tag("tides.md", &["sea"], &[])?;
/// writer.remove("bread.md")?;
/// writer.commit()?;
/// assert_eq!(Kb::open(&path)?.info()?.documents, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct KbWriter {
    /// The file under change.
    pub(crate) session: Session,
}

impl KbWriter {
    /// Opens the .kb at `path` for changing, or will make a new one there. A new file is built under
    /// a temporary name in the same folder and renamed when it is complete.
    ///
    /// # Errors
    /// [`crate::Error::PathNotFound`] when its folder does not exist; [`crate::Error::NotAKb`] when the path holds
    /// something else; [`crate::Error::Damaged`], [`crate::Error::FormatUnsupported`], [`crate::Error::Io`].
    pub fn open_or_create(path: impl AsRef<Path>) -> Result<KbWriter> {
        let session = Session::open_or_create(path.as_ref())?;
        Ok(KbWriter { session })
    }

    /// Opens the .kb at `path` to make it anew: the first commit or index run holds what was added since, and
    /// nothing of what was there. Until then, and when it does not come, the file stays as it is. It keeps its
    /// uuid. Later commits change the new file.
    ///
    /// # Errors
    /// As [`KbWriter::open_or_create`].
    pub fn create(path: impl AsRef<Path>) -> Result<KbWriter> {
        let session = Session::create(path.as_ref())?;
        Ok(KbWriter { session })
    }

    /// Opens the .kb at `path` for changing, and never makes a new one: when the file is moved or
    /// removed later, [`KbWriter::index`] and [`KbWriter::commit`] fail with [`crate::Error::FileReplaced`].
    /// For programs that change a file again and again, beside others.
    ///
    /// # Errors
    /// [`crate::Error::PathNotFound`] when nothing is there; as [`KbWriter::open_or_create`].
    pub fn open(path: impl AsRef<Path>) -> Result<KbWriter> {
        let session = Session::open(path.as_ref())?;
        Ok(KbWriter { session })
    }

    /// How long a change waits for another writer to finish before it fails with [`crate::Error::IndexLocked`]. By
    /// default
    /// it fails at once.
    #[must_use]
    pub fn lock_timeout(mut self, timeout: Duration) -> KbWriter {
        self.session.set_lock_timeout(timeout);
        self
    }

    /// Locks the file now, not with the first change, after waiting for another writer for so long. It is locked already
    /// after a change; the first commit of a new file unlocks it.
    ///
    /// # Errors
    /// [`crate::Error::IndexLocked`] when the time is over; as [`KbWriter::add`].
    pub fn lock(&mut self, timeout: Duration) -> Result<()> {
        self.session.set_lock_timeout(timeout);
        self.session.lock_for_change()
    }

    /// Makes inverted lists for segments of so many rows in files of so many chunks, not only for large ones. For
    /// tests.
    #[cfg(any(test, feature = "testing"))]
    #[doc(hidden)]
    #[must_use]
    pub fn with_lists_from(mut self, chunks: u64, rows: u32) -> KbWriter {
        let limits = crate::ingest::run::ListLimits { chunks, rows };
        self.session.make_lists_from(limits);
        self
    }

    /// Never merges segments. Searches give the same answers and become slower. For measurements.
    #[must_use]
    pub fn without_merges(mut self) -> KbWriter {
        self.session.disable_merges();
        self
    }

    /// Adds a document; it is kept in memory until [`KbWriter::commit`].
    ///
    /// # Errors
    /// [`crate::Error::DocumentExists`] when the .kb or an earlier call has its path;
    /// [`crate::Error::InvalidArgument`] when the path is empty; [`crate::Error::IndexLocked`] while another writer
    /// has the file.
    pub fn add(&mut self, document: Document) -> Result<()> {
        let source = SourceInfo::of(document.text.as_bytes());
        self.add_from(document, source, false).map(|_| ())
    }

    /// Adds a document, or puts it in the place of the one that has its path and keeps that one's
    /// handle and tags. True when there was one.
    ///
    /// # Errors
    /// As [`KbWriter::add`], without [`crate::Error::DocumentExists`].
    pub fn replace(&mut self, document: Document) -> Result<bool> {
        let source = SourceInfo::of(document.text.as_bytes());
        self.add_from(document, source, true)
    }

    /// Adds the document that was made from a file, or, when `may_replace`, puts it in the place of
    /// the one that has its path. True when there was one.
    ///
    /// # Errors
    /// As [`KbWriter::add`].
    pub fn add_from(
        &mut self,
        document: Document,
        source: SourceInfo,
        may_replace: bool,
    ) -> Result<bool> {
        self.add_given(document, source, &[], may_replace)
    }

    /// As [`KbWriter::add_from`], with the names of the fields that people gave the document, as by
    /// [`give_fields`](crate::give_fields): what its metadata has of these stays when its content changes; see
    /// [`KbWriter::set_fields`]. Of a document that is replaced, given fields of other names stay.
    ///
    /// # Errors
    /// As [`KbWriter::add`]; [`crate::Error::InvalidArgument`] for more than 200 given values in all.
    pub fn add_given(
        &mut self,
        document: Document,
        source: SourceInfo,
        given: &[&str],
        may_replace: bool,
    ) -> Result<bool> {
        self.session
            .put(document, source, Chunking::Auto, given, may_replace)
    }

    /// Adds many documents as [`KbWriter::read_document`] and [`KbWriter::add_given`] would one after the other, but reads,
    /// cuts and embeds them on all cores. `each` gets, in the order of the rows and on this thread, what became of a
    /// row, with what the caller knows of it; it may commit. An error of `rows` is handed on in its place.
    ///
    /// At most 32 MB of rows and prepared documents are ahead of `each`; what waits for a commit is in memory as well.
    /// `hook` gets no counts. After an error the rows before stay for the commit.
    ///
    /// # Errors
    /// The first of `each`; [`crate::Error::IndexLocked`] while another writer has the file, before a row is drawn;
    /// [`crate::Error::Cancelled`] when `hook` breaks.
    pub fn add_many<T: Send>(
        &mut self,
        rows: impl Iterator<Item = (T, Result<NewDocument>)>,
        options: AddOptions,
        each: &mut EachAdded<'_, KbWriter, T>,
        hook: &mut Hook<'_>,
    ) -> Result<()> {
        let hook = RefCell::new(hook);
        let reporter = Reporter::new(&hook);
        let mut rows = rows;
        let session = KbWriter::session_of;
        Session::add_many(self, session, &mut rows, options, each, &reporter)
    }

    fn session_of(writer: &mut KbWriter) -> &mut Session {
        &mut writer.session
    }

    /// Adds a document as one chunk, or one for each of its parts, whose path is not searched: to measure
    /// ranking alone.
    ///
    /// # Errors
    /// As [`KbWriter::add`].
    pub fn add_unchunked(&mut self, document: Document) -> Result<()> {
        let source = SourceInfo::of(document.text.as_bytes());
        let replaced = self
            .session
            .put(document, source, Chunking::Whole, &[], false);
        replaced.map(|_| ())
    }

    /// Sets which process reads the files given to [`KbWriter::add_bytes`] and [`KbWriter::replace_bytes`], instead of
    /// the
    /// default of this program.
    #[must_use]
    pub fn extraction(mut self, extraction: Extraction) -> KbWriter {
        self.session.set_extraction(extraction);
        self
    }

    /// The document that [`KbWriter::add_bytes`] would add, so that a caller can change it first. `hook` may stop a
    /// reader
    /// that takes long.
    ///
    /// # Errors
    /// As [`KbWriter::add_bytes`]; [`Error::Cancelled`](crate::Error::Cancelled) when `hook` breaks.
    pub fn read_document(
        &mut self,
        path: &str,
        bytes: &[u8],
        hook: &mut Hook<'_>,
    ) -> Result<Document> {
        let hook = RefCell::new(hook);
        self.session
            .document_of_with(path, bytes, &Reporter::new(&hook))
    }

    /// Which process reads files that are given as bytes.
    pub fn extraction_now(&self) -> Extraction {
        self.session.extractor.extraction().clone()
    }

    /// Number of documents that the next commit changes.
    pub fn pending(&self) -> usize {
        self.session.pending_changes()
    }

    /// Adds the content of a file, read as its bytes and the ending of `path` say.
    ///
    /// # Errors
    /// As [`KbWriter::add`] and [`Extraction::extract`].
    pub fn add_bytes(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        let document = self.session.document_of(path, bytes)?;
        self.add_from(document, SourceInfo::of(bytes), false)
            .map(|_| ())
    }

    /// As [`KbWriter::add_bytes`], or puts the document in the place of the one that has its path, which
    /// keeps its handle and tags. True when there was one.
    ///
    /// # Errors
    /// As [`KbWriter::add_bytes`], without [`crate::Error::DocumentExists`].
    pub fn replace_bytes(&mut self, path: &str, bytes: &[u8]) -> Result<bool> {
        let document = self.session.document_of(path, bytes)?;
        self.add_from(document, SourceInfo::of(bytes), true)
    }

    /// Removes a document: named by its path, by the end of its path if only one has it, by its
    /// handle or `kb://` address. Returns its path. A file of an indexed folder comes back when the
    /// folder is indexed again.
    ///
    /// # Errors
    /// [`crate::Error::DocumentNotFound`], [`crate::Error::AmbiguousDocument`]; [`crate::Error::IndexLocked`] while
    /// another writer has the file.
    pub fn remove(&mut self, name: &str) -> Result<String> {
        self.session.remove(name)
    }

    /// Adds tags to a document and removes others. The document is named as in [`KbWriter::remove`]. Tags are stored in
    /// lower case. Returns the tags that the document has afterwards.
    ///
    /// # Errors
    /// As [`KbWriter::remove`]; [`crate::Error::InvalidArgument`] for a tag that is empty, longer than 64
    /// characters, or has a comma or control character, and for one to give that holds a key or token.
    pub fn tag(&mut self, name: &str, add: &[&str], remove: &[&str]) -> Result<Vec<String>> {
        self.session.tag(name, add, remove)
    }

    /// Gives a document fields, each in the place of what it has under that name; without values it only removes. The
    /// document is named as in [`KbWriter::remove`]. Its text is not read, cut or embedded again. Returns its metadata
    /// afterwards, the values of one name joined.
    ///
    /// What is given stays when the content changes, whatever that states under these names. A removed field that the
    /// content states comes back when the content is read again.
    ///
    /// # Errors
    /// As [`KbWriter::remove`]; as [`give_fields`](crate::give_fields); [`crate::Error::InvalidArgument`] for more than
    /// 200 given values in all, and for a field that holds a key or token.
    pub fn set_fields(
        &mut self,
        name: &str,
        fields: &[(String, Vec<FieldValue>)],
    ) -> Result<Vec<(String, String)>> {
        self.session.set_fields(name, fields)
    }

    /// Checks whether words may be tags, for callers that want to know before they add a document.
    ///
    /// # Errors
    /// Those of [`KbWriter::tag`] for a tag.
    pub fn check_tags(tags: &[&str]) -> Result<()> {
        tags::given(tags).map(|_| ())
    }

    /// Makes all changes since the last commit durable and visible, at once. A .kb that did not exist
    /// appears now, also when nothing was added. Then segments may be merged, in commits of their own
    /// that copy 64 MB of text at most: about a second.
    ///
    /// # Errors
    /// [`crate::Error::IndexLocked`] while another process writes the file; [`crate::Error::FileReplaced`] when it
    /// was moved, removed or replaced; [`crate::Error::Storage`] or [`crate::Error::Io`] when the disk refuses. The
    /// old state stands after every error, and the changes are gone.
    pub fn commit(&mut self) -> Result<()> {
        self.session.commit(&Reporter::silent())
    }

    /// As [`KbWriter::commit`]. `hook` gets documents written, then bytes of merged segments. `Break`
    /// before the commit is in the file leaves the file as it was and forgets the changes; later it
    /// only ends the merges.
    ///
    /// # Errors
    /// As [`KbWriter::commit`]; [`crate::Error::Cancelled`].
    pub fn commit_with(&mut self, hook: &mut Hook<'_>) -> Result<()> {
        let hook = RefCell::new(hook);
        self.session.commit(&Reporter::new(&hook))
    }

    /// Forgets all changes since the last commit and lets other writers have the file.
    pub fn abandon(&mut self) {
        self.session.abandon();
    }

    /// Makes the .kb hold what the folders and files in `paths` hold now. Only what changed is read
    /// and written; documents whose files are gone are removed; what came from elsewhere, or was
    /// added by name, stays. One commit: readers see the old state or the new one. Changes that wait
    /// for a commit are committed first. `hook` gets files and bytes; see [`Hook`]. Only a new file comes in several
    /// commits where it takes long: see [`IndexOptions::checkpoint_after`].
    ///
    /// When nothing changed, nothing is written and no lock is taken. A new file that would hold no
    /// document is not made: the report says 0 documents.
    ///
    /// # Errors
    /// [`crate::Error::PathNotFound`]; [`crate::Error::PathNotAllowed`]; [`crate::Error::RootVanished`] when no file is left
    /// of what the .kb has documents of; [`crate::Error::IndexLocked`]; [`crate::Error::Cancelled`] when asked to stop before the commit:
    /// after it only merges stop;
    /// [`crate::Error::Storage`], [`crate::Error::Io`], the latter also when a file cannot be read whose document a
    /// rebuild would lose. The old state stands after every error.
    pub fn index(
        &mut self,
        paths: &[PathBuf],
        options: &IndexOptions,
        hook: &mut Hook<'_>,
    ) -> Result<Report> {
        let hook = RefCell::new(hook);
        let reporter = Reporter::new(&hook);
        self.session
            .index(paths, options, &reporter, BUFFER_LIMIT_BYTES)
    }

    /// [`KbWriter::index`] over all folders and files that the .kb was made from, where they are now; those that are gone
    /// stay as they are in the .kb. `None` where there is none, as in a sealed file.
    ///
    /// # Errors
    /// As [`KbWriter::index`].
    pub fn refresh(
        &mut self,
        options: &IndexOptions,
        hook: &mut Hook<'_>,
    ) -> Result<Option<Report>> {
        let paths = self.session.sources_at_hand()?;
        if paths.is_empty() {
            return Ok(None);
        }
        self.index(&paths, options, hook).map(Some)
    }

    /// Removes all documents and forgets the indexed folders, and changes that wait for a commit with
    /// them, and imported vectors. The file stays, as small as an empty one gets, with its identity, its way to
    /// store vectors, and the columns that know their model, with the models that it keeps; readers go on and follow at
    /// their next request. Returns how many
    /// documents went. One commit; a .kb that does not exist yet is not made.
    ///
    /// # Errors
    /// [`crate::Error::IndexLocked`] while another writer has the file;
    /// [`crate::Error::NotReplaceable`] when it has several names; [`crate::Error::Storage`] or
    /// [`crate::Error::Io`] when the disk refuses; [`crate::Error::Damaged`] when the file cannot be
    /// read, for it may hold what only it has. The old state stands after every error.
    pub fn clear(&mut self) -> Result<u64> {
        self.session.clear()
    }

    /// Puts vectors that another model made into a column of the .kb; a column of a new name is made. Changes that
    /// wait for a commit are committed first; then all vectors come with one commit, or none.
    ///
    /// `rows` are read once, in their order; each is the chunk and its vector, or an error of the caller, which ends the
    /// import and is returned. Not all chunks need a vector; those without are found by their words only. The first
    /// vector of a new column decides its dimensions, 1 to [`VECTOR_DIM_LIMIT`](crate::VECTOR_DIM_LIMIT); vectors are
    /// stored as bytes or nibbles on a scale that the first import decides; numbers beyond it are cut, and counted in
    /// [`ImportReport::cut_numbers`]. A document that is changed or removed loses its vectors.
    ///
    /// Memory: 16 bytes for each vector, and at most 32 MiB of vectors for the measurement of [`ImportReport::recall`].
    /// The
    /// others wait in a temporary file without a name beside the .kb, with 4 bytes a number in the first import of a
    /// column
    /// and 1 in later ones. `hook` gets the vectors read, then the chunks written; see [`Hook`].
    ///
    /// # Errors
    /// [`crate::Error::InvalidArgument`], which names the first row that is wrong, from 0, and why: its chunk is not there,
    /// or had an earlier row; its numbers are not finite, all zero (cosine), or not as many as the column has dimensions. Also
    /// for a column that has another metric or model, for a chunk that has a vector already without
    /// [`NewVectors::replace`], for rows by [`VectorTarget::Position`] that are not as many as the chunks, and where
    /// there is no row. [`crate::Error::PathNotFound`] when there is no .kb;
    /// [`crate::Error::Cancelled`]; [`crate::Error::Io`] for the temporary file; as [`KbWriter::commit`].
    pub fn import_vectors(
        &mut self,
        options: &NewVectors,
        rows: &mut dyn Iterator<Item = Result<(VectorTarget, Vec<f32>)>>,
        hook: &mut Hook<'_>,
    ) -> Result<ImportReport> {
        let hook = RefCell::new(hook);
        self.session
            .import_vectors(options, rows, &Reporter::new(&hook))
    }

    /// Has a model embed the chunks that have no vector of it yet, newest documents first, into a column of the .kb; a
    /// column of a new name is made. Changes that wait for a commit are committed first.
    ///
    /// What is embedded for a chunk is its title, the titles of the sections above it, and its text. Vectors are
    /// committed every [`ReembedOptions::commit_after`], so that a process that is killed loses no more than these, and
    /// the next call goes on where it stopped. The file is locked for commits only. The column stores the
    /// [card](crate::ModelCard) of the model, so that later chunks and queries are embedded by the same one.
    ///
    /// `hook` gets the chunks that are embedded; see [`Hook`]. A stop keeps what is embedded.
    ///
    /// # Errors
    /// [`crate::Error::InvalidArgument`] for a column of another model without [`ReembedOptions::replace`], and for a model
    /// that changed since it made the column; [`crate::Error::EmbeddingModelUnavailable`] where the model fails;
    /// [`crate::Error::PathNotFound`] when there is no .kb; [`crate::Error::Cancelled`]; as [`KbWriter::commit`]. Vectors of
    /// earlier commits stay.
    pub fn reembed(
        &mut self,
        model: &dyn TextEmbedder,
        options: &ReembedOptions,
        hook: &mut Hook<'_>,
    ) -> Result<ReembedReport> {
        let hook = RefCell::new(hook);
        self.session.reembed(model, options, &Reporter::new(&hook))
    }

    /// Counts what [`KbWriter::reembed`] would embed for a column; for a new one, and for `None`, the whole file. Reads the
    /// last commit, without the lock.
    ///
    /// # Errors
    /// [`crate::Error::PathNotFound`] when there is no .kb; [`crate::Error::Damaged`].
    pub fn waiting_texts(&self, column: Option<&str>) -> Result<WaitingTexts> {
        self.session.waiting_texts(column)
    }

    /// As [`KbWriter::reembed`] for all columns that know their model, as far as `models` finds it: what an index run
    /// leaves to do. Without such a column nothing is done.
    ///
    /// # Errors
    /// As [`KbWriter::reembed`]; a model that is not found is no error, see [`ColumnUpdate::outcome`].
    pub fn update_embeddings(
        &mut self,
        models: &dyn EmbedderResolver,
        options: &ReembedOptions,
        hook: &mut Hook<'_>,
    ) -> Result<Vec<ColumnUpdate>> {
        let hook = RefCell::new(hook);
        self.session
            .update_embeddings(models, options, &Reporter::new(&hook))
    }

    /// Removes an imported column of vectors. Pending changes are committed first; this is a commit of its own. Returns
    /// the
    /// number of live chunks that had a vector. If it was the default, the built-in column becomes the default.
    ///
    /// # Errors
    /// [`crate::Error::InvalidArgument`] for a name that no column has, and for the built-in one; as
    /// [`KbWriter::commit`].
    pub fn remove_vectors(&mut self, name: &str) -> Result<u64> {
        self.session.remove_vectors(name)
    }

    /// Sets the column of vectors, perhaps the built-in one, that requests search if they name none. Pending changes
    /// are
    /// committed first; this is a commit of its own.
    ///
    /// # Errors
    /// [`crate::Error::InvalidArgument`] for a name that no column has; as [`KbWriter::commit`].
    pub fn set_default_vectors(&mut self, name: &str) -> Result<()> {
        self.session.set_default_vectors(name)
    }

    /// Takes the documents of other .kb files, one after the other, with all that was made of them: text, words, vectors,
    /// symbols, tags and fields are copied, and nothing is read, embedded or parsed again. One commit; changes that wait
    /// for a commit are committed first. A .kb that does not exist yet is made, with trigrams if any of `sources` has
    /// them, and with vectors in nibbles if any of them has. Searches then answer as of one file in which all documents
    /// were indexed.
    ///
    /// A document that the file has alike is not taken again. Handles stay, unless another document has them. Folders
    /// that were indexed are followed here too, where their prefixes are free: see [`MergeReport::left_roots`]. Later runs
    /// keep files with keys only where this file says so. Memory: the paths of all documents, some 100 bytes beside each,
    /// and what a merge of segments takes. `hook` gets the documents and bytes of text copied, from zero for each of `sources`; see [`Hook`].
    ///
    /// # Errors
    /// [`crate::Error::InvalidArgument`] for documents of one path and other content, see
    /// [`MergeOptions::on_conflict`], and when a source is this file, has vectors that this one cannot hold, or none has
    /// what [`MergeOptions::only`] names; [`crate::Error::EmbeddingModelUnavailable`] and
    /// [`crate::Error::FormatUnsupported`] for a file of another model or analyser; [`crate::Error::IndexLocked`];
    /// [`crate::Error::Cancelled`]; what [`KbWriter::commit`] and [`Kb::open`](crate::Kb::open) say. The old state
    /// stands after every error.
    pub fn merge_from(
        &mut self,
        sources: &[MergeSource],
        options: &MergeOptions,
        hook: &mut Hook<'_>,
    ) -> Result<MergeReport> {
        let hook = RefCell::new(hook);
        let reporter = Reporter::new(&hook);
        self.session
            .merge_from(sources, options, MAX_ROWS, &reporter)
    }

    /// Rewrites the .kb in the form to ship: documents in the order of their paths, in as few segments
    /// as hold them (2^24 chunks each), text compressed as well as possible, nothing deleted or unused
    /// left, only the names of the indexed folders, and the content root. It replaces the file, or is
    /// written to `output`; readers go on and follow at their next request. Changes that wait for a
    /// commit are committed first. Takes about half a second a megabyte of text and core.
    /// `hook` gets documents and bytes of their text; see [`Hook`].
    ///
    /// The file keeps its owner, group and permission bits as far as the system allows; access control
    /// lists and other extended attributes are not kept, and a file that has a list ends up its
    /// owner's alone. At `output` it is read by nobody who may not read the .kb. Links are followed.
    ///
    /// # Errors
    /// [`crate::Error::PathNotFound`]; [`crate::Error::IndexLocked`] while another writer has the file;
    /// [`crate::Error::OutputExists`] when another .kb is at `output`, see [`SealOptions::replace`];
    /// [`crate::Error::NotAKb`] when something else than a .kb is there; [`crate::Error::NotReplaceable`] when
    /// what is to be replaced has several names (hard links), or may be another program's;
    /// [`crate::Error::FileReplaced`]; [`crate::Error::Storage`] or [`crate::Error::Io`] when the disk refuses. The old
    /// state stands after every error.
    pub fn seal(
        &mut self,
        output: Option<&Path>,
        options: &SealOptions,
        hook: &mut Hook<'_>,
    ) -> Result<SealReport> {
        let hook = RefCell::new(hook);
        let reporter = Reporter::new(&hook);
        self.session.seal(output, options, MAX_ROWS, &reporter)
    }
}
