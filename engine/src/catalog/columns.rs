//! All columns of a segment, one entry each.
//!
//! Opening a segment, the deep check, `kb info --sizes` and the test of `format-spec/tables.md` follow [`COLUMNS`]. The
//! numbers, writers and readers are in `store` and `index`, which do not know each other.

use crate::container::column::ColumnId;
use crate::index::keyword::KeywordRecord;
use crate::index::vector::lists::layout;
use crate::index::vector::{VectorRecord, sign_bits};
use crate::index::{keyword, trigram, vector};
use crate::metric::Metric;
use crate::store::{blocks, chunks, tables};

/// One kind of column.
#[derive(Debug)]
pub struct Column {
    /// Its number. A column of vectors has another one for each model: see [`tables::vector_columns_base`].
    pub id: ColumnId,
    /// Its name in `format-spec/tables.md`.
    pub name: &'static str,
    /// What it belongs to.
    pub group: ColumnGroup,
    /// Bytes of its rows.
    pub width: Width,
    /// Its rows in a segment; `None` where its bytes alone say how many there are.
    pub rows: Option<fn(&Facts<'_>) -> u32>,
    /// Whether a segment has it.
    pub is_in: fn(&Facts<'_>) -> bool,
}

/// Bytes of the rows of a column.
#[derive(Debug)]
pub enum Width {
    /// It has items of their own length.
    Items,
    /// The same in every segment.
    Fixed(u32),
    /// The records of a segment tell.
    Told(fn(&Facts<'_>) -> u32),
}

/// What columns are made and checked together. Each is a section of `kb info --sizes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnGroup {
    /// Blocks of text.
    Text,
    /// Words and where they occur.
    KeywordIndex,
    /// Vectors of the built-in model, and of others.
    Vectors,
    /// Which trigrams occur where.
    Trigrams,
    /// Rows of chunks.
    Chunks,
    /// Values of fields.
    Fields,
}

impl ColumnGroup {
    /// All groups, in the order of `kb info --sizes`.
    pub const ALL: [ColumnGroup; 6] = [
        ColumnGroup::Text,
        ColumnGroup::KeywordIndex,
        ColumnGroup::Vectors,
        ColumnGroup::Trigrams,
        ColumnGroup::Chunks,
        ColumnGroup::Fields,
    ];

    /// The name in `kb info --sizes`.
    pub fn name(self) -> &'static str {
        match self {
            ColumnGroup::Text => "text",
            ColumnGroup::KeywordIndex => "keyword index",
            ColumnGroup::Vectors => "vectors",
            ColumnGroup::Trigrams => "trigrams",
            ColumnGroup::Chunks => "chunks",
            ColumnGroup::Fields => "fields",
        }
    }
}

/// What the columns of a segment depend on. For columns of vectors there is one for each model.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'r> {
    /// Chunks of the segment.
    pub rows: u32,
    /// Header of its keyword index.
    pub keyword: &'r KeywordRecord,
    /// Header of the vector index.
    pub vectors: &'r VectorRecord,
    /// How its vectors are compared.
    pub metric: Metric,
    /// Whether the segment has trigrams: it has all of their columns or none.
    pub has_trigrams: bool,
    /// Whether the segment has columns of fields.
    pub has_fields: bool,
}

impl Column {
    /// Bytes of a row in a segment; 0: it has items.
    pub fn width_in(&self, facts: &Facts<'_>) -> u32 {
        match self.width {
            Width::Items => 0,
            Width::Fixed(width) => width,
            Width::Told(width) => width(facts),
        }
    }

    /// The entry of a column by its number for the built-in model.
    pub fn of(id: ColumnId) -> Option<&'static Column> {
        COLUMNS.iter().find(|column| column.id == id)
    }
}

fn always(_: &Facts<'_>) -> bool {
    true
}

/// Sign bits tell which rows to read where no inverted lists do.
fn has_codes(facts: &Facts<'_>) -> bool {
    facts.vectors.lists == 0
}

fn has_lists(facts: &Facts<'_>) -> bool {
    facts.vectors.lists > 0
}

fn has_trigrams(facts: &Facts<'_>) -> bool {
    facts.has_trigrams
}

fn has_fields(facts: &Facts<'_>) -> bool {
    facts.has_fields
}

/// All kinds of columns, by ascending number.
pub const COLUMNS: &[Column] = &[
    Column {
        id: tables::BLOCKS,
        name: "blocks",
        group: ColumnGroup::Text,
        width: Width::Fixed(blocks::ROW_BYTES),
        rows: None,
        is_in: always,
    },
    Column {
        id: tables::TEXT,
        name: "text",
        group: ColumnGroup::Text,
        width: Width::Items,
        rows: None,
        is_in: always,
    },
    Column {
        id: tables::TEXT_DICTIONARY,
        name: "text dictionary",
        group: ColumnGroup::Text,
        width: Width::Items,
        rows: None,
        is_in: always,
    },
    Column {
        id: tables::CHUNK_HEADS,
        name: "chunk heads",
        group: ColumnGroup::Chunks,
        width: Width::Fixed(chunks::HEAD_BYTES),
        rows: Some(|facts| facts.rows.div_ceil(chunks::BLOCK_ROWS)),
        is_in: always,
    },
    Column {
        id: tables::CHUNK_BLOCKS,
        name: "chunk blocks",
        group: ColumnGroup::Chunks,
        width: Width::Items,
        rows: None,
        is_in: always,
    },
    Column {
        id: tables::FIELD_VALUES,
        name: "field values",
        group: ColumnGroup::Fields,
        width: Width::Items,
        rows: None,
        is_in: has_fields,
    },
    Column {
        id: keyword::DICTIONARY,
        name: "dictionary",
        group: ColumnGroup::KeywordIndex,
        width: Width::Items,
        rows: None,
        is_in: always,
    },
    Column {
        id: keyword::POSTINGS,
        name: "postings",
        group: ColumnGroup::KeywordIndex,
        width: Width::Items,
        rows: None,
        is_in: always,
    },
    Column {
        id: keyword::LENGTHS,
        name: "lengths",
        group: ColumnGroup::KeywordIndex,
        width: Width::Told(|facts| facts.keyword.lengths.width),
        rows: Some(|facts| facts.rows),
        is_in: always,
    },
    Column {
        id: vector::ROWS,
        name: "vector rows",
        group: ColumnGroup::Vectors,
        width: Width::Told(|facts| facts.vectors.stride),
        rows: Some(|facts| facts.rows),
        is_in: always,
    },
    Column {
        id: vector::CODES,
        name: "sign codes",
        group: ColumnGroup::Vectors,
        width: Width::Told(|facts| sign_bits::block_bytes(facts.vectors.dim)),
        rows: Some(|facts| sign_bits::blocks(facts.rows)),
        is_in: has_codes,
    },
    Column {
        id: vector::CENTROIDS,
        name: "centroids",
        group: ColumnGroup::Vectors,
        width: Width::Told(|facts| vector::stride(facts.vectors.dim)),
        rows: Some(|facts| facts.vectors.lists),
        is_in: has_lists,
    },
    Column {
        id: vector::LISTS,
        name: "lists",
        group: ColumnGroup::Vectors,
        width: Width::Fixed(layout::LIST_BYTES),
        rows: Some(|facts| facts.vectors.lists),
        is_in: has_lists,
    },
    Column {
        id: vector::LIST_BLOCKS,
        name: "list blocks",
        group: ColumnGroup::Vectors,
        width: Width::Told(|facts| layout::list_block_bytes(facts.vectors.dim)),
        rows: None,
        is_in: has_lists,
    },
    Column {
        id: vector::NORMS,
        name: "vector lengths",
        group: ColumnGroup::Vectors,
        width: Width::Fixed(vector::NORM_BYTES as u32),
        rows: Some(|facts| facts.rows),
        is_in: |facts| facts.metric == Metric::L2,
    },
    Column {
        id: trigram::UNITS,
        name: "trigram units",
        group: ColumnGroup::Trigrams,
        width: Width::Fixed(trigram::UNIT_ROW_BYTES),
        rows: None,
        is_in: has_trigrams,
    },
    Column {
        id: trigram::BLOCKS,
        name: "trigram blocks",
        group: ColumnGroup::Trigrams,
        width: Width::Fixed(trigram::BLOCK_ROW_BYTES),
        rows: None,
        is_in: has_trigrams,
    },
    Column {
        id: trigram::LISTS,
        name: "trigram lists",
        group: ColumnGroup::Trigrams,
        width: Width::Items,
        rows: None,
        is_in: has_trigrams,
    },
];
