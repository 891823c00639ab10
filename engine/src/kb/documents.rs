//! What [`Kb`] reads of documents and folders; the code is in [`content`].

use kb_types::error::Result;
use kb_types::{ChunkSpan, Lines};

use crate::content::{
    self, ChunkText, CommitView, DocumentInfo, DocumentPages, DocumentParts, DocumentSections,
    DocumentSlides, DocumentText, Entry, FieldInfo, Folders, LocatedDocument, Outline,
    PageSelection, SheetData, SkippedFile,
};
#[cfg(any(test, feature = "testing"))]
use crate::ingest::run::each_embedded;
use crate::kb::Kb;
use crate::kb::open_file::read_all;
use crate::paging::{PageOptions, Paged};
use crate::progress::Reporter;
use crate::search;

/// Documents and their texts.
impl Kb {
    /// The facts that the file stores about one document.
    ///
    /// # Errors
    /// [`Error::DocumentNotFound`](crate::Error::DocumentNotFound) with the nearest names, [`Error::AmbiguousDocument`](crate::Error::AmbiguousDocument) with the
    /// candidates.
    pub fn document(&self, name: &str) -> Result<DocumentInfo> {
        self.file.read(|commit| content::document(commit, name))
    }

    /// The document that a name refers to, the lines that the name selects, and by which kind of name it was found.
    ///
    /// # Errors
    /// As [`Kb::document`].
    pub fn locate(&self, name: &str) -> Result<LocatedDocument> {
        self.file.read(|commit| content::locate(commit, name))
    }

    /// The document with exactly this path; `None` if there is none. Cost: one look-up.
    ///
    /// # Errors
    /// [`Error::Damaged`](crate::Error::Damaged), [`Error::SnapshotExpired`](crate::Error::SnapshotExpired).
    pub fn document_at(&self, path: &str) -> Result<Option<DocumentInfo>> {
        self.file.read(|commit| content::document_at(commit, path))
    }

    /// The stored text of a document: all of it, or some lines of the original, as far as they exist. If the text does
    /// not
    /// have the lines of the original (HTML), the chunks that touch them are returned whole.
    ///
    /// It is one string; [`Kb::text_paged`] returns a long text piece by piece.
    ///
    /// # Errors
    /// As [`Kb::document`]; [`Error::InvalidRange`](crate::Error::InvalidRange) when none of the lines exists; [`Error::TooLarge`](crate::Error::TooLarge)
    /// for a text above [`WHOLE_TEXT_LIMIT_BYTES`](crate::WHOLE_TEXT_LIMIT_BYTES).
    pub fn text(&self, name: &str, lines: Option<Lines>) -> Result<DocumentText> {
        self.file.read(|commit| content::text(commit, name, lines))
    }

    /// As [`Kb::text`], but only as much as fits the token budget of `page`, up to the end of a line if one fits. Cost
    /// grows with what is returned.
    ///
    /// # Errors
    /// As [`Kb::text`]; [`Error::InvalidCursor`](crate::Error::InvalidCursor), [`Error::StaleCursor`](crate::Error::StaleCursor).
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

    /// The pages, sheets or slides of a document. No text is read.
    ///
    /// # Errors
    /// As [`Kb::document`]; [`Error::InvalidCursor`](crate::Error::InvalidCursor), [`Error::StaleCursor`](crate::Error::StaleCursor).
    pub fn parts(&self, name: &str, page: &PageOptions) -> Result<DocumentParts> {
        self.file.read(|commit| content::parts(commit, name, page))
    }

    /// Rows of a sheet of that name, without regard to case where only one has it so; without a name of the first
    /// that is not hidden. `cells` is a range as [`CellRange::parse`](crate::CellRange::parse) reads it, of which
    /// what is beyond the sheet is left out; its first row is the header. Without `cells`, lines in `name` select
    /// the rows that they are, and the sheet. Rows without cells are left out. Cost
    /// grows with the rows that are returned, not with where they begin.
    ///
    /// # Errors
    /// As [`Kb::document`]; [`Error::UnsupportedDocumentType`](crate::Error::UnsupportedDocumentType) for a document
    /// without sheets, [`Error::SheetNotFound`](crate::Error::SheetNotFound), [`Error::NoSheetNames`](crate::Error::NoSheetNames)
    /// for a name in a document that is one table; [`Error::InvalidCells`](crate::Error::InvalidCells) for text that is
    /// no range and a range outside of the sheet; [`Error::InvalidRange`](crate::Error::InvalidRange) for lines outside
    /// of it; [`Error::InvalidCursor`](crate::Error::InvalidCursor), [`Error::StaleCursor`](crate::Error::StaleCursor).
    pub fn sheet(
        &self,
        name: &str,
        sheet: Option<&str>,
        cells: Option<&str>,
        page: &PageOptions,
    ) -> Result<SheetData> {
        self.file
            .read(|commit| content::sheet(commit, name, sheet, cells, page))
    }

    /// Slides of a document: the ranges `ranges`, as those of [`Kb::pages`]. Only the text of the slides that are
    /// returned is read.
    ///
    /// # Errors
    /// As [`Kb::document`]; [`Error::UnsupportedDocumentType`](crate::Error::UnsupportedDocumentType) for a document
    /// without slides, [`Error::InvalidSlides`](crate::Error::InvalidSlides) when a range is reversed or begins outside
    /// of the document; [`Error::InvalidCursor`](crate::Error::InvalidCursor), [`Error::StaleCursor`](crate::Error::StaleCursor).
    pub fn slides(
        &self,
        name: &str,
        ranges: &[(u32, u32)],
        page: &PageOptions,
    ) -> Result<DocumentSlides> {
        self.file
            .read(|commit| content::slides(commit, name, ranges, page))
    }

    /// Pages of a document: the ranges `ranges` (first and last page, from 1; what is beyond the last page is
    /// left out) in the order given, all pages when there are none. They are its own pages, where it has some
    /// ([`DocumentInfo::part_kind`]), else neighbouring chunks of about 800 tokens. The pages of a
    /// document together are its text, and a document without text has one empty page. Only the text
    /// of the pages that are returned is read.
    ///
    /// # Errors
    /// As [`Kb::document`]; [`Error::InvalidPages`](crate::Error::InvalidPages) when a range is reversed or begins outside of the
    /// document; [`Error::UnsupportedDocumentType`](crate::Error::UnsupportedDocumentType) for a document of sheets or
    /// slides; [`Error::InvalidCursor`](crate::Error::InvalidCursor), [`Error::StaleCursor`](crate::Error::StaleCursor).
    pub fn pages(
        &self,
        name: &str,
        ranges: &[(u32, u32)],
        page: &PageOptions,
    ) -> Result<DocumentPages> {
        let selection = PageSelection::Ranges(ranges);
        self.file
            .read(|commit| content::pages(commit, name, selection, page))
    }

    /// The pages that hold these lines, whole.
    ///
    /// # Errors
    /// As [`Kb::text_paged`].
    pub fn pages_of_lines(
        &self,
        name: &str,
        lines: Lines,
        page: &PageOptions,
    ) -> Result<DocumentPages> {
        let selection = PageSelection::Lines(lines);
        self.file
            .read(|commit| content::pages(commit, name, selection, page))
    }

    /// The pages that hold text of a section, whole.
    ///
    /// # Errors
    /// As [`Kb::section_text`].
    pub fn section_pages(
        &self,
        name: &str,
        section: &str,
        page: &PageOptions,
    ) -> Result<DocumentPages> {
        let selection = PageSelection::Section(section);
        self.file
            .read(|commit| content::pages(commit, name, selection, page))
    }

    /// The spans of the chunks of a document, in order. Together they cover its text. No text is read.
    ///
    /// # Errors
    /// As [`Kb::document`].
    pub fn chunk_spans(&self, name: &str) -> Result<Vec<ChunkSpan>> {
        self.file.read(|commit| content::chunk_spans(commit, name))
    }

    /// The text that the vector of each chunk of a document is of, in order: what
    /// [`Embedder::embed_documents`](crate::testing::embed::Embedder::embed_documents) was given.
    ///
    /// # Errors
    /// As [`Kb::document`].
    #[cfg(any(test, feature = "testing"))]
    pub fn embedded_texts(&self, name: &str) -> Result<Vec<String>> {
        self.file.read(|commit| {
            let (id, _) = commit.resolve(name)?;
            let mut texts = Vec::new();
            each_embedded(commit.snapshot, commit.catalog, id, 0.., |_, text| {
                texts.push(text.to_owned());
                Ok(())
            })?;
            Ok(texts)
        })
    }

    /// The chunks of a document with their texts, in order; with `section` only those that hold text of it.
    ///
    /// # Errors
    /// As [`Kb::document`]; [`Error::SectionNotFound`](crate::Error::SectionNotFound), [`Error::AmbiguousSection`](crate::Error::AmbiguousSection);
    /// [`Error::InvalidCursor`](crate::Error::InvalidCursor), [`Error::StaleCursor`](crate::Error::StaleCursor).
    pub fn chunks(
        &self,
        name: &str,
        section: Option<&str>,
        page: &PageOptions,
    ) -> Result<Paged<ChunkText>> {
        self.file
            .read(|commit| content::chunks(commit, name, section, None, page))
    }

    /// The chunks of a document that hold these lines, with their texts, in order.
    ///
    /// # Errors
    /// As [`Kb::text_paged`].
    pub fn chunks_of_lines(
        &self,
        name: &str,
        lines: Lines,
        page: &PageOptions,
    ) -> Result<Paged<ChunkText>> {
        self.file
            .read(|commit| content::chunks(commit, name, None, Some(lines), page))
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
    /// As [`Kb::document`]; [`Error::InvalidCursor`](crate::Error::InvalidCursor), [`Error::StaleCursor`](crate::Error::StaleCursor).
    pub fn sections(&self, name: &str, page: &PageOptions) -> Result<DocumentSections> {
        self.file
            .read(|commit| content::sections(commit, name, None, page))
    }

    /// One section and those below it, in reading order.
    ///
    /// # Errors
    /// As [`Kb::section_text`].
    pub fn subsections(
        &self,
        name: &str,
        section: &str,
        page: &PageOptions,
    ) -> Result<DocumentSections> {
        self.file
            .read(|commit| content::sections(commit, name, Some(section), page))
    }

    /// The text of one section: its heading and everything below it, as much as fits the token budget of `page`, up to
    /// the
    /// end of a line if one fits.
    ///
    /// # Errors
    /// As [`Kb::document`]; [`Error::SectionNotFound`](crate::Error::SectionNotFound) with the sections that look like it;
    /// [`Error::AmbiguousSection`](crate::Error::AmbiguousSection) with the numbers and paths of those that have that title or path; [`Error::InvalidCursor`](crate::Error::InvalidCursor), [`Error::StaleCursor`](crate::Error::StaleCursor).
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
    /// The folders and then the documents directly in `folder` (`None`: at the top), each in the order of the bytes of
    /// their paths. Cost grows with the number of documents below the folder.
    ///
    /// # Errors
    /// [`Error::FolderNotFound`](crate::Error::FolderNotFound) with the nearest names; [`Error::InvalidCursor`](crate::Error::InvalidCursor),
    /// [`Error::StaleCursor`](crate::Error::StaleCursor).
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
            .read(|commit| content::documents(commit, folder, is_recursive, None, page))
    }

    /// The documents in `folder` (`None`: all), and below it if `is_recursive`, for which a condition on their fields
    /// holds, in the order of path bytes. The condition is that of [`Filters::where_`](crate::Filters::where_). Documents without text have no
    /// fields that it could find.
    ///
    /// # Errors
    /// As [`Kb::list`]; [`Error::InvalidArgument`](crate::Error::InvalidArgument) with the position, for a condition that
    /// cannot be read and a field that no document has.
    pub fn documents_where(
        &self,
        folder: Option<&str>,
        is_recursive: bool,
        condition: &str,
        page: &PageOptions,
    ) -> Result<Paged<DocumentInfo>> {
        read_all(&[&self.file], &Reporter::silent(), &mut |sources| {
            let [source] = sources else {
                return Ok(Paged::default());
            };
            let passing = search::documents_where(source, condition)?;
            let commit = CommitView {
                uuid: source.uuid,
                path: source.path,
                snapshot: source.snapshot,
                catalog: source.catalog,
            };
            content::documents(
                commit,
                folder,
                is_recursive,
                Some((condition, &passing)),
                page,
            )
        })
    }

    /// The files of the indexed folders that are in or below `folder` (`None`: all) and did not become documents, each
    /// with
    /// the reason, in the order of the bytes of their paths. For a hidden folder only the folder is listed. Ignored
    /// files
    /// are not recorded, and a sealed file records none. Cost grows with the number of skipped files below the folder.
    ///
    /// # Errors
    /// [`Error::InvalidCursor`](crate::Error::InvalidCursor), [`Error::StaleCursor`](crate::Error::StaleCursor), [`Error::Damaged`](crate::Error::Damaged).
    pub fn skipped(&self, folder: Option<&str>, page: &PageOptions) -> Result<Paged<SkippedFile>> {
        self.file
            .read(|commit| content::skipped(commit, folder, page))
    }

    /// The number of skipped files for each reason, largest first. Reasons are shortened to what several files have in
    /// common. Cost grows with the number of skipped files.
    ///
    /// # Errors
    /// [`Error::Damaged`](crate::Error::Damaged), [`Error::SnapshotExpired`](crate::Error::SnapshotExpired).
    pub fn skipped_reasons(&self) -> Result<Vec<(String, u64)>> {
        self.file.read(content::skipped_reasons)
    }

    /// The fields that documents state or were given, by name and type, as conditions find them. Reads the record of every
    /// document.
    ///
    /// # Errors
    /// [`Error::Damaged`](crate::Error::Damaged), [`Error::SnapshotExpired`](crate::Error::SnapshotExpired).
    pub fn fields(&self) -> Result<Vec<FieldInfo>> {
        self.file.read(content::fields)
    }

    /// The first `limit` documents whose paths come after `after` (`None`: from the first), in the
    /// order of path bytes. Cost grows with what is returned, not with where it begins.
    ///
    /// # Errors
    /// [`Error::Damaged`](crate::Error::Damaged), [`Error::SnapshotExpired`](crate::Error::SnapshotExpired).
    pub fn documents_after(&self, after: Option<&str>, limit: usize) -> Result<Vec<DocumentInfo>> {
        self.file
            .read(|commit| content::documents_after(commit, after, limit))
    }

    /// All folders. Their paths take at most `limit_bytes` bytes, with 24 more for each; the deepest folders are left
    /// out
    /// first. Cost grows with the number of documents.
    ///
    /// # Errors
    /// [`Error::Damaged`](crate::Error::Damaged), [`Error::SnapshotExpired`](crate::Error::SnapshotExpired).
    pub fn folders(&self, limit_bytes: u64) -> Result<Folders> {
        self.file
            .read(|commit| content::folders(commit, limit_bytes))
    }

    /// The documents that a glob over whole paths matches, as those of
    /// [`Filters::paths`](crate::Filters::paths) do: at most `limit` of the paths, in the order of path bytes, and
    /// how many there are. Of a glob with lines behind it (`docs/*.md:1-20`) each path has them too; an address
    /// of this file (`kb://notes/doc/docs/*.md`) stands for the glob in it. Cost grows with the number of
    /// documents.
    ///
    /// # Errors
    /// [`Error::DocumentNotFound`](crate::Error::DocumentNotFound) for an address of another file;
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a glob that does not parse or exceeds a limit.
    pub fn matching(&self, glob: &str, limit: usize) -> Result<(Vec<String>, u64)> {
        self.file
            .read(|commit| content::matching(commit, glob, limit))
    }

    /// Completions of a path: at most `limit` of the paths that begin with `typed`, then of those that
    /// have it elsewhere, both without regard to case and in the order of path bytes, and how many
    /// there are. Cost grows with the number of documents.
    ///
    /// # Errors
    /// [`Error::Damaged`](crate::Error::Damaged), [`Error::SnapshotExpired`](crate::Error::SnapshotExpired).
    pub fn complete_path(&self, typed: &str, limit: usize) -> Result<(Vec<String>, u64)> {
        self.file
            .read(|commit| content::complete_path(commit, typed, limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kb::KbWriter;

    #[test]
    fn what_is_embedded_of_a_chunk_begins_with_what_stands_above_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let guide = b"# Guide\n\nThe walrus sleeps.\n\n## Tides\n\nThe moon pulls the sea.\n";
        writer.add_bytes("guide.md", guide).unwrap();
        writer
            .add_bytes("sea.rs", b"fn ebb() {}\n\nfn flood() {}\n")
            .unwrap();
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        // The heading is the title, which counts once.
        let guide =
            "Guide\n\n# Guide\n\nThe walrus sleeps.\n\n## Tides\n\nThe moon pulls the sea.\n";
        assert_eq!(kb.embedded_texts("guide.md").unwrap(), [guide]);
        // Small functions share a chunk, which is found by the name of each.
        let texts = kb.embedded_texts("sea.rs").unwrap();
        assert_eq!(
            texts,
            ["sea.rs\nfn ebb\nfn flood\nfn ebb() {}\n\nfn flood() {}\n"]
        );
    }
}
