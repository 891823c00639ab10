//! How to seal, and what sealing did.

use std::path::PathBuf;

use kb_types::{ModelCard, ModelFile};

use crate::index::vector::Codec;
use crate::ingest::report::MissedRecall;

/// The result of [`crate::KbWriter::seal`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SealReport {
    /// Path of the sealed file.
    pub path: PathBuf,
    /// 64 hexadecimal digits, the same for the same documents.
    pub content_root: String,
    /// Documents in it.
    pub documents: u64,
    /// Bytes of the file before.
    pub bytes_before: u64,
    /// Bytes of the sealed file.
    pub bytes_after: u64,
    /// The recall that the .kb remembers as asked for, where the sealed file does not have it; it is sealed all the same.
    pub missed_recall: Option<MissedRecall>,
}

/// How [`crate::KbWriter::seal`] writes the sealed file.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SealOptions {
    /// How vectors are stored; `None`: as the file has them.
    pub vectors: Option<Codec>,
    /// Replace another .kb at the output. Its identity stays, its documents go.
    pub replace: bool,
    /// Whether the vectors that are kept by their texts stay: [`ReembedOptions::cache`](crate::ReembedOptions::cache).
    pub keep_cache: bool,
    /// Models that the sealed file keeps, of [`Kb::pack_models`](crate::Kb::pack_models), beside those that the file keeps
    /// already.
    pub models: Vec<PackedModel>,
}

/// A model that a sealed file keeps, so that queries are embedded where it is nowhere else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedModel {
    /// Name of the column of vectors.
    pub column: String,
    /// The model.
    pub card: ModelCard,
    /// Its files, with its licences.
    pub files: Vec<ModelFile>,
}

impl PackedModel {
    /// Bytes that it adds to a file.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes.len() as u64).sum()
    }
}

impl SealOptions {
    /// The defaults: vectors as the file has them, and no file is replaced.
    pub fn new() -> SealOptions {
        SealOptions::default()
    }

    /// Sets [`SealOptions::vectors`].
    #[must_use]
    pub fn vectors(mut self, vectors: Option<Codec>) -> SealOptions {
        self.vectors = vectors;
        self
    }

    /// Sets [`SealOptions::keep_cache`].
    #[must_use]
    pub fn keep_cache(mut self, keep_cache: bool) -> SealOptions {
        self.keep_cache = keep_cache;
        self
    }

    /// Sets [`SealOptions::models`].
    #[must_use]
    pub fn models(mut self, models: Vec<PackedModel>) -> SealOptions {
        self.models = models;
        self
    }

    /// Sets [`SealOptions::replace`].
    #[must_use]
    pub fn replace(mut self, replace: bool) -> SealOptions {
        self.replace = replace;
        self
    }
}
