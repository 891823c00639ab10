//! A row of a file of vectors, and what is looked at before any is read.

use std::fs::File;
use std::path::Path;

use kb_engine::{VECTOR_DIM_LIMIT, VectorTarget};

use super::error::VectorFileError;

/// Numbers of a vector that a column can have.
pub(super) const MAX_DIM: usize = VECTOR_DIM_LIMIT as usize;

/// One row of a file.
pub(crate) type Row = (VectorTarget, Vec<f32>);

/// Opens a file that has a length. A pipe has none, and what a header says could not be compared with it.
pub(super) fn open_regular(path: &Path) -> Result<File, VectorFileError> {
    let metadata = std::fs::metadata(path).map_err(|error| VectorFileError::io(path, &error))?;
    if !metadata.is_file() {
        return Err(VectorFileError::new(
            path,
            "it is no regular file",
            "write the vectors into a file first",
        ));
    }
    File::open(path).map_err(|error| VectorFileError::io(path, &error))
}
