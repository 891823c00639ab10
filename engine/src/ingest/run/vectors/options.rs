//! What is imported into a column of vectors, and what came of it.

use crate::index::vector::Codec;
use crate::metric::Metric;

/// The column that [`KbWriter::import_vectors`](crate::KbWriter::import_vectors) puts vectors into.
///
/// ```
/// use kb_engine::{Metric, NewVectors, VectorCodec};
///
/// let column = NewVectors::new("minilm")
///     .model("all-MiniLM-L6-v2")
///     .metric(Metric::Cosine)
///     .codec(VectorCodec::I8)
///     .make_default(true);
/// assert!(!column.replace);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewVectors {
    /// Name of the column: 1 to 64 characters, none of them a control character, no space at either end, and not
    /// [`BUILT_IN_VECTORS`](crate::BUILT_IN_VECTORS). A column of that name gets more vectors.
    pub name: String,
    /// What made the vectors, up to 1000 bytes of any text; empty: not said. A column that says another is
    /// refused.
    pub model: String,
    /// How vectors are compared. A column that has another is refused.
    pub metric: Metric,
    /// How a new column is stored; one that exists keeps its own.
    pub codec: Codec,
    /// Whether requests with a vector that name no column search this one from now on.
    pub make_default: bool,
    /// Whether a chunk that has a vector in the column already gets the new one. Without it that is an error.
    pub replace: bool,
}

impl NewVectors {
    /// A column of that name for vectors that are compared by cosine, as signed bytes.
    pub fn new(name: impl Into<String>) -> NewVectors {
        NewVectors {
            name: name.into(),
            model: String::new(),
            metric: Metric::Cosine,
            codec: Codec::I8,
            make_default: false,
            replace: false,
        }
    }

    /// Sets [`NewVectors::model`].
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> NewVectors {
        self.model = model.into();
        self
    }

    /// Sets [`NewVectors::metric`].
    #[must_use]
    pub fn metric(mut self, metric: Metric) -> NewVectors {
        self.metric = metric;
        self
    }

    /// Sets [`NewVectors::codec`].
    #[must_use]
    pub fn codec(mut self, codec: Codec) -> NewVectors {
        self.codec = codec;
        self
    }

    /// Sets [`NewVectors::make_default`].
    #[must_use]
    pub fn make_default(mut self, make_default: bool) -> NewVectors {
        self.make_default = make_default;
        self
    }

    /// Sets [`NewVectors::replace`].
    #[must_use]
    pub fn replace(mut self, replace: bool) -> NewVectors {
        self.replace = replace;
        self
    }
}

/// The chunk that an imported vector is of. Documents are named as everywhere: path, end of a path, handle, address.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum VectorTarget {
    /// A chunk by its number in its document.
    Chunk {
        /// The document.
        document: String,
        /// Number of the chunk, from 0.
        index: u32,
    },
    /// The chunk of exactly these bytes of the stored text.
    Span {
        /// The document.
        document: String,
        /// First byte.
        start: u32,
        /// Byte behind the last.
        end: u32,
    },
    /// The chunk of exactly these lines of the original, where only one chunk has them.
    Lines {
        /// The document.
        document: String,
        /// First line, from 1.
        first: u32,
        /// Last line.
        last: u32,
    },
    /// The only chunk of a document; one with several is refused.
    Document(String),
    /// The n-th live chunk of the file, from 0, as [`Kb::chunks_in_order`](crate::Kb::chunks_in_order) has them:
    /// documents in the order of the bytes of their paths, then chunks by number. An import with such a row
    /// has a row for each chunk of the file, or is refused: the chunks are others than those that were counted.
    Position(u64),
}

/// What [`KbWriter::import_vectors`](crate::KbWriter::import_vectors) did.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ImportReport {
    /// Vectors that were imported.
    pub rows: u64,
    /// Live chunks of the file.
    pub chunks: u64,
    /// Dimensions of the column.
    pub dim: u32,
    /// How many of the vectors took the place of another one of the column.
    pub replaced: u64,
    /// How many of their numbers lie beyond the scale of the column and are stored as its ends. Of a first import at
    /// most one in 10 000; more of a later one say that its vectors are longer than those that decided the scale.
    pub cut_numbers: u64,
    /// Share of the ten nearest vectors, by the imported numbers, that comparing the stored ones finds, 0 to 1: what
    /// quantising leaves. Measured on up to 16 384 of them; `None` for fewer than 200.
    pub recall: Option<f32>,
}

impl ImportReport {
    /// A recall below this is worth a warning.
    // Below it one of ten nearest rows is missing, mostly because of vectors with a few large
    // components.
    pub const LOW_RECALL: f32 = 0.9;
}
