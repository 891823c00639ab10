//! Every table and column of a .kb, in one list. Mirrored in `format-spec/tables.md` and
//! `format-spec/registry.md`; a test compares them.

use kb_types::SegmentId;

use crate::container::column::ColumnId;

/// `kb`: text key -> record. Facts about the whole file.
pub(crate) const KB: &str = "kb";
/// Row of [`KB`]: counts, roots, embedder, analyser.
pub(crate) const KB_META: &str = "meta";
/// Row of [`KB`]: which segments are live.
pub(crate) const KB_MANIFEST: &str = "manifest";
/// Row of [`KB`]: what sealing found; none in a file that changed since, or never was sealed.
pub(crate) const KB_SEAL: &str = "seal";
/// Row of [`KB`]: what index runs are to do with keys and credentials; none before the first run.
pub(crate) const KB_SETTINGS: &str = "settings";
/// Row of [`KB`]: that segments get no trigrams; none where they do.
pub(crate) const KB_TRIGRAMS: &str = "trigrams";
/// Row of [`KB`]: how much a vector search reads; none where the defaults are.
pub(crate) const KB_EFFORT: &str = "effort";
/// Row of [`KB`]: which files of roots are taken; none where the defaults are.
pub(crate) const KB_SELECTION: &str = "selection";
/// `docs`: document number -> document record.
pub(crate) const DOCS: &str = "docs";
/// `doc_by_path`: path -> document number, eight bytes little-endian.
pub(crate) const DOC_BY_PATH: &str = "doc_by_path";
/// `doc_by_suffix`: suffix of a handle -> document number, eight bytes little-endian.
pub(crate) const DOC_BY_SUFFIX: &str = "doc_by_suffix";
/// `outline`: document number -> outline record; no row for a document without headings.
pub(crate) const OUTLINE: &str = "outline";
/// `parts`: document number -> parts record; no row for a document without pages, sheets or slides.
pub(crate) const PARTS: &str = "parts";
/// `symbols`: document number -> row of symbols; no row for a document without symbols.
pub(crate) const SYMBOLS: &str = "symbols";
/// `symbol_groups`: document and number of a group, in one number -> row of a group of its symbols.
pub(crate) const SYMBOL_GROUPS: &str = "symbol_groups";
/// `facets`: segment, facet, value -> bitmap of rows.
pub const FACETS: &str = "facets";
/// `fields`: segment, name, kind of values -> where the column of a field lies.
pub const FIELDS: &str = "fields";
/// `segs`: segment number -> segment record.
pub(crate) const SEGMENTS: &str = "segs";

/// `deleted`: segment number -> which of its chunks are deleted; no row for a segment without any.
pub(crate) const DELETED: &str = "deleted";
/// `skipped`: path -> a file of a root that was read and left out.
pub(crate) const SKIPPED: &str = "skipped";

/// `vectors`: number of a column of vectors of another model -> what it is; 0: the default one.
pub(crate) const VECTORS: &str = "vectors";

/// `models`: number of a column and of a piece, in one number -> the files of its model.
pub(crate) const MODELS: &str = "models";

/// `cache`: model and text, hashed -> the vector that the model made of the text.
pub(crate) const CACHE: &str = "cache";

/// All tables with a fixed name.
#[cfg(any(test, feature = "testing"))]
pub const ALL: [&str; 16] = [
    KB,
    DOCS,
    DOC_BY_PATH,
    DOC_BY_SUFFIX,
    OUTLINE,
    PARTS,
    SYMBOLS,
    SYMBOL_GROUPS,
    FACETS,
    FIELDS,
    SEGMENTS,
    DELETED,
    SKIPPED,
    VECTORS,
    MODELS,
    CACHE,
];

/// Name of the table that holds the extents of a segment.
pub fn segment_table(segment: SegmentId) -> String {
    format!("seg/{:016x}", segment.0)
}

/// Rows of text blocks: where each lies and which chunks it holds.
pub const BLOCKS: ColumnId = ColumnId(2);
/// Text blocks: one zstd frame each.
pub const TEXT: ColumnId = ColumnId(3);
/// What text blocks may refer to: a raw dictionary of zstd, or nothing.
pub const TEXT_DICTIONARY: ColumnId = ColumnId(4);
/// Heads of the blocks of chunk rows.
pub const CHUNK_HEADS: ColumnId = ColumnId(5);
/// Blocks of chunk rows: document, end, first line, last line.
pub const CHUNK_BLOCKS: ColumnId = ColumnId(6);

/// Texts and keys of the columns of fields.
pub const FIELD_VALUES: ColumnId = ColumnId(7);

/// The columns of a segment that hold the vectors of column `number` begin here: what is column 32 for the built-in
/// model is this plus 32.
pub(crate) fn vector_columns_base(number: u16) -> u16 {
    number.saturating_mul(VECTOR_COLUMN_STEP)
}

/// Which column of vectors a column of a segment belongs to, and what it would be for the built-in model.
pub(crate) fn vector_column_of(column: ColumnId) -> (u16, ColumnId) {
    let number = column.0 / VECTOR_COLUMN_STEP;
    (number, ColumnId(column.0 % VECTOR_COLUMN_STEP))
}

/// Distance of the column numbers of two columns of vectors.
// 256 numbers for each column of vectors leave room for the columns of an index (docs:
// format-spec/registry.md). 126 columns then fit 15 bits.
const VECTOR_COLUMN_STEP: u16 = 256;
