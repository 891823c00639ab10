//! What takes the bytes of a file.

use kb_types::error::{Error, Result};

use crate::container::layout::page::PAGE_SIZE;
use crate::container::layout::table::Table;
use crate::container::read::snapshot::Snapshot;

/// Bytes of one table, as `kb info --sizes` shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableBytes {
    /// Name of the table.
    pub name: String,
    /// Number of pairs.
    pub pairs: u64,
    /// Bytes of its branch pages.
    pub branch_bytes: u64,
    /// Bytes of its leaf pages; for a segment table, its extents.
    pub leaf_bytes: u64,
}

/// Where the bytes of a file are; the parts add up to `file_bytes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileBytes {
    /// The whole file.
    pub file_bytes: u64,
    /// redb's header, signature block, writer record: the first page.
    pub header_bytes: u64,
    /// Headers of regions.
    pub region_header_bytes: u64,
    /// Pages of the tree that names the tables.
    pub names_bytes: u64,
    /// Each table, by name.
    pub tables: Vec<TableBytes>,
    /// redb's own tables (free lists, allocator state) and free pages.
    pub remainder_bytes: u64,
}

impl Snapshot<'_> {
    /// Where every byte of the file is. Reads branch pages only.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a branch page fails its checks.
    pub fn file_bytes(&self) -> Result<FileBytes> {
        let total = |table: &Table| -> Result<(u64, u64)> {
            let (leaves, branch_bytes) = self.btree().leaf_pointers(table)?;
            let leaf_bytes = leaves.iter().map(|leaf| leaf.size_bytes()).sum::<u64>();
            Ok((branch_bytes, leaf_bytes))
        };
        let mut tables = Vec::new();
        for (name, table) in self.tables()? {
            let (branch_bytes, leaf_bytes) = total(&table)?;
            tables.push(TableBytes {
                name,
                pairs: table.len(),
                branch_bytes,
                leaf_bytes,
            });
        }
        let names = total(&self.slot().names()?)?;
        let file_bytes = self.btree().len_bytes();
        let mut sizes = FileBytes {
            file_bytes,
            header_bytes: u64::from(PAGE_SIZE),
            region_header_bytes: self.btree().geometry().header_bytes(file_bytes),
            names_bytes: names.0 + names.1,
            tables,
            remainder_bytes: 0,
        };
        let overhead = sizes.header_bytes + sizes.region_header_bytes + sizes.names_bytes;
        let in_tables = sizes
            .tables
            .iter()
            .map(|table| table.branch_bytes + table.leaf_bytes)
            .sum::<u64>();
        // Free pages and redb's own tables are not walked: they would need the allocator state. The
        // rest is what is left over.
        sizes.remainder_bytes = file_bytes
            .checked_sub(overhead + in_tables)
            .ok_or_else(|| Error::damaged("tables that share pages"))?;
        Ok(sizes)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::container::read::container::Container;
    use crate::container::testing::fixture::{build, fill, temp_path};

    #[test]
    fn every_byte_of_the_file_is_accounted_for() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 2));
        let container = Container::open(&path).unwrap();
        let sizes = container.read(|snapshot| snapshot.file_bytes()).unwrap();
        let in_tables: u64 = sizes
            .tables
            .iter()
            .map(|t| t.branch_bytes + t.leaf_bytes)
            .sum();
        assert_eq!(
            sizes.header_bytes
                + sizes.region_header_bytes
                + sizes.names_bytes
                + in_tables
                + sizes.remainder_bytes,
            fs::metadata(&path).unwrap().len()
        );
        let names: Vec<_> = sizes
            .tables
            .iter()
            .map(|table| table.name.as_str())
            .collect();
        let expected = [
            "bytes",
            "columns",
            "kb",
            "names",
            "numbers",
            "seg/0000000000000001",
        ];
        assert_eq!(names, expected);
        let table = |name: &str| {
            sizes
                .tables
                .iter()
                .find(|table| table.name == name)
                .unwrap()
        };
        assert_eq!(table("numbers").pairs, 300);
        assert!(table("numbers").leaf_bytes > 30_000);
        assert!((40_000..100_000).contains(&table("seg/0000000000000001").leaf_bytes));
        assert!(sizes.remainder_bytes < sizes.file_bytes / 2);
    }
}
