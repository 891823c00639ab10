//! How a column of vectors is filled by a model, and what came of it.

use std::time::Duration;

use kb_types::EmbedError;

use crate::index::vector::Codec;

/// How [`KbWriter::reembed`](crate::KbWriter::reembed) fills a column.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReembedOptions {
    /// Name of the column; `None`: that of the column of this model, or else a new one with the name of the model.
    pub name: Option<String>,
    /// How a new column is stored; one that exists keeps its own.
    pub codec: Codec,
    /// Embeds only the documents below this folder; `None`: all.
    pub folder: Option<String>,
    /// Stops once this time has passed, and commits what is embedded; `None`: goes on to the end.
    pub max_time: Option<Duration>,
    /// Whether a column of that name that has vectors of another model is removed first. Without it that is an error.
    pub replace: bool,
    /// Commits after this time; after ten times as long as the last commit took, where that is more.
    pub commit_after: Duration,
    /// Commits after so many vectors.
    pub commit_vectors: usize,
    /// Whether the file keeps each vector by its text and model, so that no text is embedded twice. They take as many
    /// bytes as the column.
    pub cache: bool,
}

impl Default for ReembedOptions {
    fn default() -> ReembedOptions {
        ReembedOptions {
            name: None,
            codec: Codec::I8,
            folder: None,
            max_time: None,
            replace: false,
            // What is lost when the process is killed. A commit writes the column again in each segment that gets a
            // vector.
            commit_after: Duration::from_secs(20),
            commit_vectors: 16_384,
            cache: true,
        }
    }
}

impl ReembedOptions {
    /// The defaults.
    pub fn new() -> ReembedOptions {
        ReembedOptions::default()
    }

    /// Sets [`ReembedOptions::name`].
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> ReembedOptions {
        self.name = Some(name.into());
        self
    }

    /// Sets [`ReembedOptions::codec`].
    #[must_use]
    pub fn codec(mut self, codec: Codec) -> ReembedOptions {
        self.codec = codec;
        self
    }

    /// Sets [`ReembedOptions::folder`].
    #[must_use]
    pub fn folder(mut self, folder: impl Into<String>) -> ReembedOptions {
        self.folder = Some(folder.into());
        self
    }

    /// The folder, without a slash at its ends.
    pub(super) fn folder_path(&self) -> &str {
        self.folder.as_deref().unwrap_or_default().trim_matches('/')
    }

    /// Sets [`ReembedOptions::max_time`].
    #[must_use]
    pub fn max_time(mut self, max_time: Option<Duration>) -> ReembedOptions {
        self.max_time = max_time;
        self
    }

    /// Sets [`ReembedOptions::replace`].
    #[must_use]
    pub fn replace(mut self, replace: bool) -> ReembedOptions {
        self.replace = replace;
        self
    }

    /// Sets [`ReembedOptions::cache`].
    #[must_use]
    pub fn cache(mut self, cache: bool) -> ReembedOptions {
        self.cache = cache;
        self
    }

    /// Sets [`ReembedOptions::commit_after`] and [`ReembedOptions::commit_vectors`].
    #[must_use]
    pub fn commit_every(mut self, time: Duration, vectors: usize) -> ReembedOptions {
        (self.commit_after, self.commit_vectors) = (time, vectors);
        self
    }
}

/// What [`KbWriter::reembed`](crate::KbWriter::reembed) did.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReembedReport {
    /// Name of the column.
    pub column: String,
    /// The model, as `source:name`.
    pub model: String,
    /// Chunks that got a vector that was committed.
    pub embedded: u64,
    /// Chunks whose text the model had embedded before, and did not again.
    pub cached: u64,
    /// Chunks of which the model knows no token; they get no vector.
    pub empty: u64,
    /// Live chunks of the folder that still have no vector, without `empty`.
    pub left: u64,
    /// Live chunks of the file.
    pub chunks: u64,
    /// Time spent in the model.
    pub model_time: Duration,
    /// Commits that were made.
    pub commits: u32,
    /// What quantising leaves of the vectors of the last commit; see [`ImportReport::recall`](crate::ImportReport::recall).
    pub recall: Option<f32>,
}

/// What [`KbWriter::update_embeddings`](crate::KbWriter::update_embeddings) did with one column.
#[derive(Debug)]
#[non_exhaustive]
pub struct ColumnUpdate {
    /// Name of the column.
    pub column: String,
    /// What was embedded, or why the model of the column could not be used.
    pub outcome: Result<ReembedReport, EmbedError>,
}

/// What a model would get to embed: see [`KbWriter::waiting_texts`](crate::KbWriter::waiting_texts).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitingTexts {
    /// Chunks without a vector.
    pub texts: u64,
    /// Bytes of what is embedded for them: text with titles.
    pub bytes: u64,
}
