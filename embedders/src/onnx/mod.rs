//! Models in the format ONNX, run by `rten` on the processor.

mod batches;
mod budget;
mod graph;
mod operators;
mod protobuf;
mod runtime;

use std::path::{Path, PathBuf};
use std::{fmt, iter};

use kb_types::{EmbedError, ModelCard, ModelFile, Pooling, TextEmbedder};

use self::batches::{Batches, Row};
use self::budget::Budget;
use self::graph::Graph;
use self::runtime::Runtime;
use crate::files::{Files, Origin};
use crate::folder::{self, Settings};
use crate::tokenizer::{self, Tokenizer};

/// Names of the graph in folders of hubs. Those with 32-bit weights come first: the vectors of the others are further
/// from what the model was trained for.
pub(crate) const GRAPHS: [&str; 6] = [
    "model.onnx",
    "onnx/model.onnx",
    "onnx/model_fp16.onnx",
    "onnx/model_int8.onnx",
    "onnx/model_quantized.onnx",
    "model_quantized.onnx",
];

/// Most bytes of the graph and of each file of weights: what Protocol Buffers allow.
pub(crate) const GRAPH_LIMIT_BYTES: u64 = (1 << 31) - 1;

/// The name of the graph in a .kb.
const KEPT_GRAPH: &str = "model.onnx";
/// The name of the tokenizer.
const TOKENIZER: &str = "tokenizer.json";

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

/// Where a model is.
struct Place<'p> {
    files: &'p Files,
    /// The folder with the settings.
    home: &'p Path,
    graph: &'p Path,
    name: String,
    location: String,
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

/// The graph that a path means: the path itself, or a file of the folder.
fn graph_file(path: &Path) -> Result<PathBuf, EmbedError> {
    if path.is_file() {
        return Ok(path.to_owned());
    }
    let found = GRAPHS
        .iter()
        .map(|name| path.join(name))
        .find(|file| file.is_file());
    found.ok_or_else(|| EmbedError::Missing {
        what: format!(
            "a graph in {} (one of {})",
            path.display(),
            GRAPHS.join(", ")
        ),
    })
}

impl OnnxEmbedder {
    /// Reads a model: a folder with the graph, `tokenizer.json` and settings, or the graph in such a folder.
    ///
    /// # Errors
    /// [`EmbedError::Missing`] for files, [`EmbedError::Budget`] for files that are too long, and [`EmbedError::Unfit`]
    /// for what this program cannot do.
    pub(crate) fn load(path: &Path, threads: usize) -> Result<OnnxEmbedder, EmbedError> {
        let path = folder::absolute(path)?;
        let graph = graph_file(&path)?;
        let beside = graph.parent().unwrap_or(&path);
        // Hubs keep graphs in a folder of their own below the settings.
        let folders = [beside, beside.parent().unwrap_or(beside)];
        let home = folders
            .into_iter()
            .find(|folder| folder.join("tokenizer.json").is_file());
        let home = home.ok_or_else(|| EmbedError::Missing {
            what: beside.join("tokenizer.json").display().to_string(),
        })?;
        let place = Place {
            files: &Files::Disk,
            home,
            graph: &graph,
            name: folder::name(home),
            location: path.display().to_string(),
        };
        OnnxEmbedder::build(&place, threads)
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
        let Place {
            files, home, graph, ..
        } = *place;
        let mut origin = Origin::default();
        let tokenizer_path = home.join(TOKENIZER);
        let tokenizer_bytes = files.read(&tokenizer_path, tokenizer::FILE_LIMIT_BYTES)?;
        let mut tokenizer = Tokenizer::new(&tokenizer_path, &tokenizer_bytes)?;
        let settings = Settings::read(files, home, tokenizer.truncation())?;
        if settings.lower_case {
            tokenizer.lower_case();
        }

        let bytes = files.read(graph, GRAPH_LIMIT_BYTES)?;
        let unfit = |reason: String| EmbedError::Unfit {
            reason: format!("{}: {reason}", graph.display()),
        };
        let read = Graph::read(&bytes).map_err(unfit)?;
        origin.add(KEPT_GRAPH, graph);
        origin.add(TOKENIZER, &tokenizer_path);
        let mut weights = Vec::with_capacity(read.weight_files.len());
        for name in &read.weight_files {
            let path = graph.with_file_name(name);
            weights.push(((*name).to_owned(), files.read(&path, GRAPH_LIMIT_BYTES)?));
            origin.add(name, &path);
        }
        let mut hash = blake3::Hasher::new();
        let parts = iter::once(&bytes).chain(weights.iter().map(|(_, bytes)| bytes));
        for part in parts.chain([&tokenizer_bytes]) {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let rounds_activations = read.rounds_activations();
        let budget = Budget::new(&read);
        let is_strict = matches!(files, Files::Kept(_));
        // Before the runtime computes anything: it does what depends on weights alone when it loads them.
        for (texts, width) in Batches::extremes(settings.max_tokens) {
            budget.check(texts, width, is_strict).map_err(unfit)?;
        }
        let runtime = Runtime::load(bytes, weights, settings.pooling).map_err(unfit)?;
        if let (Some(step), false) = (&settings.further_step, runtime.pools_itself()) {
            return Err(unfit(format!(
                "the model has a step {step} behind the pooling, and the graph does not compute it"
            )));
        }

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
                weights: Some(*hash.finalize().as_bytes()),
            },
            batches: Batches::new(runtime, tokenizer.padding(), threads, rounds_activations)
                .within(is_strict.then_some(budget)),
            tokenizer,
            home: home.to_path_buf(),
            origin: match files {
                Files::Disk => origin,
                Files::Kept(_) => Origin::default(),
            },
        };
        embedder.probe().map_err(|error| match error {
            EmbedError::Unfit { reason } => unfit(reason),
            other => other,
        })?;
        Ok(embedder)
    }

    /// Runs the model once: what it returns is known only then. The text has the highest token of the vocabulary, which
    /// a model with a smaller one refuses.
    fn probe(&mut self) -> Result<(), EmbedError> {
        let mut tokens = self.tokenizer.encode("probe", 8);
        tokens.insert(tokens.len() / 2, self.tokenizer.highest());
        let (dimension, pools_itself) = self.batches.probe(tokens)?;
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
                rows.push(Row { place, tokens });
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
