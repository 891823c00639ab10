//! A file of vectors of any format.

use std::path::Path;

use super::error::VectorFileError;
#[cfg(feature = "parquet")]
use super::from_arrow::ArrowRows;
#[cfg(feature = "parquet")]
use super::from_parquet::ParquetRows;
use super::jsonl::JsonLines;
use super::npy::{NamedRows, NpyRows};
use super::row::{Row, open_regular};

/// What the rows of a file are read by.
type Rows = Box<dyn Iterator<Item = Result<Row, VectorFileError>>>;

/// A file of vectors that is being read.
pub(crate) struct VectorFile {
    rows: Rows,
    /// How many rows it has, where it says so.
    pub(crate) total: Option<u64>,
    /// Its name, for errors.
    file: String,
    read: u64,
    /// The length of the first vector, which all others have.
    dim: Option<usize>,
}

impl VectorFile {
    /// Opens `path`; `names` is a file with the chunk of each row, for a file that has no names of its own. No more
    /// rows are read than there are `chunks`, and as many where rows have no names: with fewer, the file is another
    /// one than was embedded, and each vector might come to the wrong chunk.
    pub(crate) fn open(
        path: &Path,
        names: Option<&Path>,
        chunks: u64,
    ) -> Result<VectorFile, VectorFileError> {
        let format = Format::of(path)?;
        if let (Some(_), false) = (names, format == Format::Npy) {
            return Err(VectorFileError::new(
                path,
                "its rows have names of their own",
                "leave out --rows, which names the rows of an .npy file",
            ));
        }
        let file = open_regular(path)?;
        let (rows, total): (Rows, Option<u64>) = match format {
            Format::Npy => {
                let vectors = NpyRows::new(path, file)?;
                let total = vectors.rows();
                let names = match names {
                    Some(names) => Some(JsonLines::new(names, open_regular(names)?)),
                    None => None,
                };
                (Box::new(NamedRows::new(vectors, names)), Some(total))
            }
            Format::JsonLines => (Box::new(JsonLines::new(path, file).with_vectors()), None),
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                let rows = ParquetRows::new(path, file, chunks)?;
                let total = rows.rows();
                (Box::new(rows), Some(total))
            }
            #[cfg(feature = "parquet")]
            Format::Arrow => (Box::new(ArrowRows::new(path, file)?), None),
        };
        let is_in_order = format == Format::Npy && names.is_none();
        let fits = |total: u64| total == chunks || (total < chunks && !is_in_order);
        if let Some(total) = total.filter(|total| !fits(*total)) {
            let hint = if is_in_order {
                "give one row for each chunk; with --rows FILE.jsonl, which names the chunk of each row, there may be fewer"
            } else {
                "a chunk has one vector in a column; there may be fewer rows than chunks"
            };
            return Err(VectorFileError::new(
                path,
                format!("it has {total} rows, and the .kb {chunks} chunks"),
                hint,
            ));
        }
        Ok(VectorFile {
            rows,
            total,
            file: path.display().to_string(),
            read: 0,
            dim: None,
        })
    }
}

impl Iterator for VectorFile {
    type Item = Result<Row, VectorFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = match self.rows.next()? {
            Ok(row) => row,
            Err(error) => return Some(Err(error)),
        };
        let (found, number) = (row.1.len(), self.read);
        self.read = self.read.saturating_add(1);
        let dim = *self.dim.get_or_insert(found);
        if found == dim {
            return Some(Ok(row));
        }
        Some(Err(VectorFileError::named(
            &self.file,
            Some(number),
            format!("the vector has {found} numbers, those before it {dim}"),
            "all vectors of a column have one length: import those of another model under another --name",
        )))
    }
}

/// What a file is, by its ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Npy,
    JsonLines,
    #[cfg(feature = "parquet")]
    Parquet,
    #[cfg(feature = "parquet")]
    Arrow,
}

impl Format {
    fn of(path: &Path) -> Result<Format, VectorFileError> {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        match ending.to_ascii_lowercase().as_str() {
            "npy" => Ok(Format::Npy),
            "jsonl" | "ndjson" => Ok(Format::JsonLines),
            #[cfg(feature = "parquet")]
            "parquet" => Ok(Format::Parquet),
            #[cfg(feature = "parquet")]
            "arrow" | "feather" => Ok(Format::Arrow),
            #[cfg(not(feature = "parquet"))]
            "parquet" | "arrow" | "feather" => Err(lacks_reader(path)),
            "npz" => Err(VectorFileError::new(
                path,
                "an .npz is an archive of arrays",
                "save the one that is meant with `numpy.save(\"vectors.npy\", array)`",
            )),
            _ => Err(VectorFileError::new(
                path,
                "its ending names no format of vectors",
                "give an .npy or .jsonl file",
            )),
        }
    }
}

/// A table that only builds with the feature `parquet` read, and the line of Python that converts it. Polars writes the
/// columns that [`JsonLines`] reads.
#[cfg(any(test, not(feature = "parquet")))]
pub(super) fn lacks_reader(path: &Path) -> VectorFileError {
    let ending = path.extension().unwrap_or_default();
    let read = match ending.eq_ignore_ascii_case("parquet") {
        true => "read_parquet",
        false => "read_ipc",
    };
    let (from, to) = (path.display(), path.with_extension("jsonl"));
    VectorFileError::new(
        path,
        "this build of kb does not read Parquet and Arrow files",
        &format!(
            "convert it in Python with `polars.{read}(\"{from}\").write_ndjson(\"{}\")` and import the result, \
             pass its vectors to `Writer.import_vectors` of the Python module, or build kb with `--features parquet`",
            to.display()
        ),
    )
}
