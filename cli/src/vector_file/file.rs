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

/// The reader of the rows, by format.
type Rows = Box<dyn Iterator<Item = Result<Row, VectorFileError>>>;

/// A file of vectors that is being read.
pub(crate) struct VectorFile {
    rows: Rows,
    /// Number of rows, if the file states it.
    pub(crate) total: Option<u64>,
    /// Name of the file, for errors.
    file: String,
    read: u64,
    /// Length of the first vector; all others must have it too.
    dim: Option<usize>,
}

impl VectorFile {
    /// Opens `path`. `names` is a file with the chunk of each row, for a format that does not name chunks. The file must
    /// not have more rows than `chunks`. If rows have no chunk names, it must have exactly as many: with fewer, other text
    /// was embedded, and vectors would get to wrong chunks.
    pub(crate) fn open(
        path: &Path,
        names: Option<&Path>,
        chunks: u64,
    ) -> Result<VectorFile, VectorFileError> {
        let format = Format::of(path)?;
        if let (Some(_), false) = (names, format == Format::Npy) {
            return Err(VectorFileError::new(
                path,
                "its rows name their chunks themselves",
                "do not use --rows, which names the chunks of an .npy file",
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
                "the file needs one row for each chunk; it may have fewer if --rows FILE.jsonl names the chunk of each row"
            } else {
                "a column has at most one vector for each chunk"
            };
            return Err(VectorFileError::new(
                path,
                format!("it has {total} rows, but the .kb file has {chunks} chunks"),
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
            format!("the vector has {found} numbers, but the vectors before it have {dim}"),
            "all vectors of a column have the same length; import vectors of another model with another --name",
        )))
    }
}

/// The format of a file, by its extension.
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
                "an .npz file is an archive of arrays",
                "save one of them with `numpy.save(\"vectors.npy\", array)`",
            )),
            _ => Err(VectorFileError::new(
                path,
                "its extension is not that of a supported format",
                "give an .npy or .jsonl file",
            )),
        }
    }
}

/// Returns the error for a format that only builds with the feature `parquet` read, with the line of Python that
/// converts the file. Polars writes the columns that [`JsonLines`] reads.
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
            "convert it in Python with `polars.{read}(\"{from}\").write_ndjson(\"{}\")` and import the result; \
             or pass its vectors to `Writer.import_vectors` of the Python module; or build kb with `--features parquet`",
            to.display()
        ),
    )
}
