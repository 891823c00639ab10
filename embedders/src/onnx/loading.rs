//! Reads what embedders and rerankers have in common: graph, weights, tokenizer and settings of a folder.

use std::iter;
use std::path::{Path, PathBuf};

use kb_types::EmbedError;

use super::batches::Batches;
use super::budget::Budget;
use super::graph::Graph;
use super::runtime::Runtime;
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
pub(super) const KEPT_GRAPH: &str = "model.onnx";

/// The name of the tokenizer.
const TOKENIZER: &str = "tokenizer.json";

/// Where a model is.
pub(super) struct Place<'p> {
    pub(super) files: &'p Files,
    /// The folder with the settings.
    pub(super) home: &'p Path,
    pub(super) graph: &'p Path,
    pub(super) name: String,
    pub(super) location: String,
}

impl Place<'_> {
    /// Why the graph cannot be used.
    pub(super) fn unfit(&self, reason: String) -> EmbedError {
        EmbedError::Unfit {
            reason: format!("{}: {reason}", self.graph.display()),
        }
    }
}

/// A model in a folder of this machine.
pub(super) struct Found {
    home: PathBuf,
    graph: PathBuf,
    location: PathBuf,
}

impl Found {
    /// Looks for a model: a folder with the graph, `tokenizer.json` and settings, or the graph in such a folder.
    ///
    /// # Errors
    /// [`EmbedError::Missing`].
    pub(super) fn at(path: &Path) -> Result<Found, EmbedError> {
        let location = folder::absolute(path)?;
        let graph = graph_file(&location)?;
        let beside = graph.parent().unwrap_or(&location);
        // Hubs keep graphs in a folder of their own below the settings.
        let folders = [beside, beside.parent().unwrap_or(beside)];
        let home = folders
            .into_iter()
            .find(|folder| folder.join(TOKENIZER).is_file());
        let home = home.ok_or_else(|| EmbedError::Missing {
            what: beside.join(TOKENIZER).display().to_string(),
        })?;
        Ok(Found {
            home: home.to_path_buf(),
            graph,
            location,
        })
    }

    pub(super) fn with_place<T>(&self, read: impl FnOnce(&Place<'_>) -> T) -> T {
        read(&Place {
            files: &Files::Disk,
            home: &self.home,
            graph: &self.graph,
            name: folder::name(&self.home),
            location: self.location.display().to_string(),
        })
    }
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

/// A model that is ready to run, and was not run yet.
pub(super) struct Loaded {
    pub(super) tokenizer: Tokenizer,
    pub(super) settings: Settings,
    pub(super) batches: Batches,
    /// Whether the graph has numbers for each text.
    pub(super) pools_itself: bool,
    /// BLAKE3 over graph, weights and tokenizer.
    pub(super) weights: [u8; 32],
    /// Its files on this machine.
    pub(super) origin: Origin,
}

impl Loaded {
    /// Reads a model, and checks what it costs before the runtime sees it.
    ///
    /// # Errors
    /// [`EmbedError::Missing`] for files, [`EmbedError::Budget`] for files that are too long, and [`EmbedError::Unfit`]
    /// for what this program cannot do.
    pub(super) fn read(place: &Place<'_>, threads: usize) -> Result<Loaded, EmbedError> {
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
        let unfit = |reason: String| place.unfit(reason);
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
        Ok(Loaded {
            pools_itself: runtime.pools_itself(),
            batches: Batches::new(runtime, tokenizer.padding(), threads, rounds_activations)
                .within(is_strict.then_some(budget)),
            tokenizer,
            settings,
            weights: *hash.finalize().as_bytes(),
            origin: match files {
                Files::Disk => origin,
                Files::Kept(_) => Origin::default(),
            },
        })
    }
}
