//! Where a search continues: a file, a document and a line of it, in one number.

use kb_types::DocumentId;
use kb_types::error::Result;

use crate::paging::CursorScope;

/// Bits of the start of a line: a text that was extracted has 64 MiB at most. Of a longer one, given as a document,
/// the lines beyond cannot be named; a result that would continue there goes on at the last that can.
const LINE_BITS: u32 = 26;

/// A position in the order of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    /// Position of the file in the request, at most 63.
    pub(super) file: usize,
    /// The document.
    pub(super) document: DocumentId,
    /// First byte of the line in the stored text; of a sheet, whose cells show less than is stored, its number.
    pub(super) line: usize,
}

impl Position {
    /// For a cursor. Documents are numbered from 1, so it is never 0.
    pub(super) fn offset(self) -> u64 {
        let line = (self.line as u64).min((1 << LINE_BITS) - 1);
        let file = (self.file as u64) << (LINE_BITS + u32::BITS);
        file | u64::from(self.document.0) << LINE_BITS | line
    }

    /// What the offset of a cursor stands for; `None` for 0, the beginning.
    ///
    /// # Errors
    /// [`InvalidCursor`](crate::Error::InvalidCursor) for a file that is not searched.
    pub(super) fn of(offset: u64, files: usize) -> Result<Option<Position>> {
        if offset == 0 {
            return Ok(None);
        }
        let file = (offset >> (LINE_BITS + u32::BITS)) as usize;
        if file >= files {
            return Err(CursorScope::out_of_range());
        }
        Ok(Some(Position {
            file,
            document: DocumentId((offset >> LINE_BITS) as u32),
            line: (offset & ((1 << LINE_BITS) - 1)) as usize,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_its_offset_and_back() {
        for (file, document, line) in [(0, 1, 0), (63, u32::MAX, 67_108_863), (5, 7, 9)] {
            let position = Position {
                file,
                document: DocumentId(document),
                line,
            };
            assert_eq!(Position::of(position.offset(), 64).unwrap(), Some(position));
        }
        assert_eq!(Position::of(0, 1).unwrap(), None);
        let beyond = Position {
            file: 1,
            document: DocumentId(1),
            line: 0,
        };
        let error = Position::of(beyond.offset(), 1).unwrap_err();
        assert_eq!(error.code(), "INVALID_CONTINUATION_TOKEN");
    }
}
