//! Models in the format ONNX, run by `rten` on the processor.

mod batches;
mod budget;
mod graph;
mod loading;
mod operators;
mod protobuf;
mod reranker;
mod runtime;

use std::fmt;
use std::path::{Path, PathBuf};

use kb_types::{EmbedError, ModelCard, ModelFile, Pooling, TextEmbedder};

use self::batches::{Batches, Row};
use self::graph::Graph;
use self::loading::{Found, KEPT_GRAPH, Loaded, Place};
pub(crate) use self::loading::{GRAPH_LIMIT_BYTES, GRAPHS};
pub(crate) use self::reranker::OnnxReranker;
use crate::files::{Files, Origin};
use crate::folder;
use crate::tokenizer::Tokenizer;

/// Texts that keep all threads busy with batches of similar length.
const PREFERRED_TEXTS: usize = 256;

/// A model of a folder.
pub(crate) struct OnnxEmbedder {
    card: ModelCard,
    tokenizer: Tokenizer,
    /// Tokens of the prefix of a passage.
    passage_prefix_tokens: usize,
    /// Tokens of the prefix of a query.
    query_prefix_tokens: usize,
    batches: Batches,
    /// The folder with the settings.
    home: PathBuf,
    origin: Origin,
}

impl fmt::Debug for OnnxEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OnnxEmbedder({})", self.card)
    }
}

/// Names of the files with weights that a graph wants beside it; an error says why the graph cannot be used.
pub(crate) fn weight_files(bytes: &[u8]) -> Result<Vec<String>, String> {
    let graph = Graph::read(bytes)?;
    let names = graph.weight_files.iter();
    Ok(names.map(|name| (*name).to_owned()).collect())
}

impl OnnxEmbedder {
    /// Reads a model: a folder with the graph, `tokenizer.json` and settings, or the graph in such a folder.
    ///
    /// # Errors
    /// [`EmbedError::Missing`] for files, [`EmbedError::Budget`] for files that are too long, and [`EmbedError::Unfit`]
    /// for what this program cannot do.
    pub(crate) fn load(path: &Path, threads: usize) -> Result<OnnxEmbedder, EmbedError> {
        Found::at(path)?.with_place(|place| OnnxEmbedder::build(place, threads))
    }

    /// Reads a model that a .kb keeps.
    ///
    /// # Errors
    /// As [`OnnxEmbedder::load`].
    pub(crate) fn unpack(
        name: &str,
        files: Vec<ModelFile>,
        threads: usize,
    ) -> Result<OnnxEmbedder, EmbedError> {
        let place = Place {
            files: &Files::Kept(files),
            home: Path::new(""),
            graph: Path::new(KEPT_GRAPH),
            name: name.to_owned(),
            location: String::new(),
        };
        OnnxEmbedder::build(&place, threads)
    }

    fn build(place: &Place<'_>, threads: usize) -> Result<OnnxEmbedder, EmbedError> {
        let loaded = Loaded::read(place, threads)?;
        if let (Some(step), false) = (&loaded.settings.further_step, loaded.pools_itself) {
            return Err(place.unfit(format!(
                "the model has a step {step} behind the pooling, and the graph does not compute it"
            )));
        }
        let Loaded {
            tokenizer,
            settings,
            batches,
            weights,
            origin,
            ..
        } = loaded;
        let prefix_tokens = |prefix: &str| {
            let tokens = tokenizer.encode(prefix, usize::MAX).len();
            tokens.saturating_sub(tokenizer.around())
        };
        let mut embedder = OnnxEmbedder {
            passage_prefix_tokens: prefix_tokens(&settings.passage_prefix),
            query_prefix_tokens: prefix_tokens(&settings.query_prefix),
            card: ModelCard {
                source: "onnx".to_owned(),
                name: place.name.clone(),
                location: place.location.clone(),
                dimension: 0,
                pooling: settings.pooling,
                normalised: true,
                query_prefix: settings.query_prefix,
                passage_prefix: settings.passage_prefix,
                max_tokens: settings.max_tokens,
                weights: Some(weights),
            },
            batches,
            tokenizer,
            home: place.home.to_path_buf(),
            origin,
        };
        embedder.probe().map_err(|error| match error {
            EmbedError::Unfit { reason } => place.unfit(reason),
            other => other,
        })?;
        Ok(embedder)
    }

    /// Runs the model once: what it returns is known only then. The text has the highest token of the vocabulary, which
    /// a model with a smaller one refuses.
    fn probe(&mut self) -> Result<(), EmbedError> {
        let mut tokens = self.tokenizer.encode("probe", 8);
        tokens.insert(tokens.len() / 2, self.tokenizer.highest());
        let (dimension, pools_itself) = self.batches.probe(Row::of_one(0, tokens))?;
        self.card.dimension = dimension;
        if pools_itself {
            self.card.pooling = Pooling::Given;
        }
        match self.card.fault() {
            None => Ok(()),
            Some(reason) => Err(EmbedError::Unfit { reason }),
        }
    }

    /// What files say of the model.
    pub(crate) fn card_mut(&mut self) -> &mut ModelCard {
        &mut self.card
    }

    /// The tokens of a passage that count.
    pub(crate) fn tokens(&self, text: &str) -> usize {
        let text = format!("{}{text}", self.card.passage_prefix);
        self.tokenizer
            .encode(&text, self.card.max_tokens as usize)
            .len()
    }

    fn rows(&self, texts: &[&str], prefix: &str, prefix_tokens: usize) -> Vec<Row> {
        let limit = self.card.max_tokens as usize;
        let nothing = self.tokenizer.around() + prefix_tokens;
        let mut rows = Vec::with_capacity(texts.len());
        for (place, text) in texts.iter().enumerate() {
            let tokens = if prefix.is_empty() {
                self.tokenizer.encode(text, limit)
            } else {
                self.tokenizer.encode(&format!("{prefix}{text}"), limit)
            };
            if tokens.len() > nothing {
                rows.push(Row::of_one(place, tokens));
            }
        }
        rows
    }
}

impl TextEmbedder for OnnxEmbedder {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    fn passages(&self, texts: &[&str]) -> Result<Vec<f32>, EmbedError> {
        let prefix = &self.card.passage_prefix;
        let rows = self.rows(texts, prefix, self.passage_prefix_tokens);
        self.batches.run(rows, texts.len(), self.card.dimension)
    }

    fn query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let prefix = &self.card.query_prefix;
        let rows = self.rows(&[text], prefix, self.query_prefix_tokens);
        self.batches.run(rows, 1, self.card.dimension)
    }

    fn preferred_batch(&self) -> usize {
        PREFERRED_TEXTS
    }

    fn files(&self) -> Result<Vec<ModelFile>, EmbedError> {
        self.origin.read(&self.home, &folder::SETTINGS)
    }
}

#[cfg(test)]
mod tests;
