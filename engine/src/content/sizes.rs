//! How many bytes of a file each kind of data takes.

use kb_types::error::Result;

use crate::catalog::columns::{Column, ColumnGroup};
use crate::container::column::{ColumnId, MAX_ORDER, payload_capacity};
use crate::content::CommitView;
use crate::store::tables;
use crate::store::vector_columns::BUILT_IN;

/// Names of the sections behind those of columns, in the order of [`Sizes::sections`].
const OTHER_SECTIONS: [&str; 8] = [
    "models",
    "cache",
    "documents",
    "outlines",
    "symbols",
    "facets",
    "container",
    "unused",
];

/// Bytes of a file by section; the sections add up to the whole file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sizes {
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Bytes of stored text before compression.
    pub text_bytes: u64,
    /// Section name and bytes, in a fixed order.
    pub sections: Vec<(String, u64)>,
}

/// See [`crate::Kb::sizes`].
pub(crate) fn sizes(commit: CommitView<'_>) -> Result<Sizes> {
    let of_columns = ColumnGroup::ALL.map(ColumnGroup::name);
    let names = of_columns.into_iter().chain(OTHER_SECTIONS);
    let mut sections: Vec<(String, u64)> = names.map(|name| (name.to_owned(), 0)).collect();
    let mut add = |section: &str, bytes: u64| {
        let mut sections = sections.iter_mut();
        if let Some((_, total)) = sections.find(|(name, _)| name == section) {
            *total += bytes;
        }
    };
    for segment in &commit.catalog.segments {
        for column in &segment.records.segment.columns {
            let pages = column.payload_lens.iter().map(|len| page_bytes(*len)).sum();
            add(section_of(ColumnId(column.column)), pages);
        }
    }
    let bytes = commit.snapshot.file_bytes()?;
    for table in &bytes.tables {
        match table.name.as_str() {
            tables::DOCS | tables::DOC_BY_PATH | tables::DOC_BY_SUFFIX => {
                add("documents", table.branch_bytes + table.leaf_bytes);
            }
            tables::OUTLINE | tables::PARTS => {
                add("outlines", table.branch_bytes + table.leaf_bytes)
            }
            tables::SYMBOLS | tables::SYMBOL_GROUPS => {
                add("symbols", table.branch_bytes + table.leaf_bytes);
            }
            tables::MODELS => add("models", table.branch_bytes + table.leaf_bytes),
            tables::CACHE => add("cache", table.branch_bytes + table.leaf_bytes),
            tables::VECTORS => add("vectors", table.branch_bytes + table.leaf_bytes),
            tables::FIELDS => add("fields", table.branch_bytes + table.leaf_bytes),
            tables::FACETS => add("facets", table.branch_bytes + table.leaf_bytes),
            // Their leaves are the extents counted above.
            name if name.starts_with("seg/") => add("container", table.branch_bytes),
            _ => add("container", table.branch_bytes + table.leaf_bytes),
        }
    }
    add(
        "container",
        bytes.header_bytes + bytes.region_header_bytes + bytes.names_bytes,
    );
    add("unused", bytes.remainder_bytes);
    Ok(Sizes {
        file_bytes: bytes.file_bytes,
        text_bytes: commit.catalog.meta.text_bytes,
        sections,
    })
}

fn section_of(column: ColumnId) -> &'static str {
    let (number, column) = tables::vector_column_of(column);
    if number != BUILT_IN {
        return ColumnGroup::Vectors.name();
    }
    Column::of(column).map_or("container", |column| column.group.name())
}

/// Size of the page that holds an extent of `payload` bytes.
fn page_bytes(payload: u32) -> u64 {
    (0..=MAX_ORDER)
        .find(|order| payload_capacity(*order) >= payload as usize)
        .map_or(0, |order| 4096 << order)
}
