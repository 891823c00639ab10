//! What the chunks of a segment are and what they are for, by row.

use kb_types::error::Result;
use kb_types::{Class, Role};
use roaring::RoaringBitmap;

use crate::store::facets::Facet;

/// The classes and roles of the chunks of one segment.
#[derive(Debug, Clone, Default)]
pub struct ChunkRoles {
    /// Rows of code. A row that is neither code nor data is prose.
    code: RoaringBitmap,
    data: RoaringBitmap,
    /// Rows of each role that the segment has.
    roles: Vec<(Role, RoaringBitmap)>,
}

impl ChunkRoles {
    /// Reads the bitmaps with `rows_with`; a value that no row has has none.
    pub(super) fn read(
        mut rows_with: impl FnMut(Facet, &str) -> Result<Option<RoaringBitmap>>,
    ) -> Result<ChunkRoles> {
        let mut of_class = |class: Class| -> Result<_> {
            rows_with(Facet::Class, class.name()).map(Option::unwrap_or_default)
        };
        let (code, data) = (of_class(Class::Code)?, of_class(Class::Data)?);
        let mut roles = Vec::new();
        for role in Role::ALL {
            if let Some(rows) = rows_with(Facet::Role, role.name())? {
                roles.push((role, rows));
            }
        }
        Ok(ChunkRoles { code, data, roles })
    }

    /// Code, prose or data: the class of the document of a row. Two lookups in bitmaps.
    pub fn class(&self, row: u32) -> Class {
        if self.code.contains(row) {
            Class::Code
        } else if self.data.contains(row) {
            Class::Data
        } else {
            Class::Doc
        }
    }

    /// Whether a chunk has a role.
    pub fn has(&self, role: Role, row: u32) -> bool {
        let mut roles = self.roles.iter();
        roles.any(|(of, rows)| *of == role && rows.contains(row))
    }

    /// The role of the document of a chunk; `None` for an ordinary one.
    pub fn of_document(&self, row: u32) -> Option<Role> {
        let mut of_documents = self
            .roles
            .iter()
            .filter(|(role, _)| *role != Role::TestFunction);
        let with = of_documents.find(|(_, rows)| rows.contains(row));
        with.map(|(role, _)| *role)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_class_and_the_roles_of_its_bitmaps() {
        let roles = ChunkRoles::read(|facet, value| {
            Ok(match (facet, value) {
                (Facet::Class, "code") => Some(RoaringBitmap::from_iter(0..4)),
                (Facet::Class, "data") => Some(RoaringBitmap::from_iter([5])),
                (Facet::Role, "test") => Some(RoaringBitmap::from_iter([2, 3])),
                (Facet::Role, "test-function") => Some(RoaringBitmap::from_iter([1, 3])),
                _ => None,
            })
        })
        .unwrap();
        let classes: Vec<Class> = [0, 4, 5].map(|row| roles.class(row)).to_vec();
        assert_eq!(classes, [Class::Code, Class::Doc, Class::Data]);
        assert_eq!(
            [0, 1, 2, 3].map(|row| roles.of_document(row).is_some()),
            [false, false, true, true]
        );
        assert_eq!(
            [0, 1, 2, 3].map(|row| roles.has(Role::TestFunction, row)),
            [false, true, false, true]
        );
    }
}
