//! A row of a file of vectors, and the check before the file is opened.

use std::fs::File;
use std::path::Path;

use kb_engine::{VECTOR_DIM_LIMIT, VectorTarget};

use super::error::VectorFileError;

/// Maximum dimension of a vector column.
pub(super) const MAX_DIM: usize = VECTOR_DIM_LIMIT as usize;

/// One row of a file.
pub(crate) type Row = (VectorTarget, Vec<f32>);

/// Opens a regular file. A pipe has no length to check a header against.
pub(super) fn open_regular(path: &Path) -> Result<File, VectorFileError> {
    let metadata = std::fs::metadata(path).map_err(|error| VectorFileError::io(path, &error))?;
    if !metadata.is_file() {
        return Err(VectorFileError::new(
            path,
            "it is not a regular file",
            "write the vectors into a file first",
        ));
    }
    File::open(path).map_err(|error| VectorFileError::io(path, &error))
}
