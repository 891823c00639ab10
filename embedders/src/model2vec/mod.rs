//! Models of the format Model2Vec: a vector for each token, whose mean is the vector of a text. They are a thousand
//! times faster than a graph.

mod safetensors;

use std::fmt;
use std::path::{Path, PathBuf};

use kb_types::embedding::check_vectors;
use kb_types::{EmbedError, ModelCard, ModelFile, Pooling, TextEmbedder};
use serde::Deserialize;

use self::safetensors::Tensors;
use crate::files::{Files, Origin};
use crate::folder::{self, Settings};
use crate::pooling::normalise;
use crate::tokenizer::{self, Tokenizer};

/// The name of the table.
const TABLE: &str = "model.safetensors";
/// The name of the tokenizer.
const TOKENIZER: &str = "tokenizer.json";
/// Most bytes of the table. That of a model for a hundred languages has 512 MB.
const TABLE_LIMIT_BYTES: u64 = 2 << 30;
/// Tokens of a text: as many as Model2Vec takes by default.
const MAX_TOKENS: u32 = 512;
/// Texts of a call.
const PREFERRED_TEXTS: usize = 1024;

/// A model of a folder.
pub(crate) struct Model2VecEmbedder {
    card: ModelCard,
    tokenizer: Tokenizer,
    /// `[rows, dimension]`.
    table: Vec<f32>,
    /// The row of each token, if it is not the number of the token.
    rows: Option<Vec<u32>>,
    /// What the row of each token is multiplied with.
    weights: Option<Vec<f32>>,
    home: PathBuf,
    origin: Origin,
}

impl fmt::Debug for Model2VecEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Model2VecEmbedder({})", self.card)
    }
}

/// `config.json`.
#[derive(Debug, Default, Deserialize)]
struct Config {
    seq_length: Option<u32>,
}

impl Model2VecEmbedder {
    /// Reads a model: a folder with `model.safetensors` and `tokenizer.json`.
    ///
    /// # Errors
    /// [`EmbedError::Missing`] for files, [`EmbedError::Budget`] for files that are too long, and [`EmbedError::Unfit`]
    /// for what is no such model.
    pub(crate) fn load(path: &Path) -> Result<Model2VecEmbedder, EmbedError> {
        let home = folder::absolute(path)?;
        let location = home.display().to_string();
        Model2VecEmbedder::build(&Files::Disk, &home, folder::name(&home), location)
    }

    /// Reads a model that a .kb keeps.
    ///
    /// # Errors
    /// As [`Model2VecEmbedder::load`].
    pub(crate) fn unpack(
        name: &str,
        files: Vec<ModelFile>,
    ) -> Result<Model2VecEmbedder, EmbedError> {
        let files = Files::Kept(files);
        Model2VecEmbedder::build(&files, Path::new(""), name.to_owned(), String::new())
    }

    fn build(
        files: &Files,
        home: &Path,
        name: String,
        location: String,
    ) -> Result<Model2VecEmbedder, EmbedError> {
        let mut origin = Origin::default();
        let tokenizer_path = home.join(TOKENIZER);
        let tokenizer_bytes = files.read(&tokenizer_path, tokenizer::FILE_LIMIT_BYTES)?;
        let tokenizer = Tokenizer::new(&tokenizer_path, &tokenizer_bytes)?;
        let settings = Settings::read(files, home, None)?;
        let config: Option<Config> = files.read_settings(&home.join("config.json"))?;
        let file = home.join(TABLE);
        let bytes = files.read(&file, TABLE_LIMIT_BYTES)?;
        origin.add(TABLE, &file);
        origin.add(TOKENIZER, &tokenizer_path);
        let unfit = |reason: String| EmbedError::Unfit {
            reason: format!("{}: {reason}", file.display()),
        };
        let tensors = Tensors::new(&bytes).map_err(unfit)?;
        let table = match tensors.get("embeddings").map_err(unfit)? {
            Some(table) => table,
            None if tensors.names().any(|name| name.contains("attention")) => {
                return Err(unfit(
                    "these are weights for PyTorch; export the model to ONNX, and name its folder as onnx:FOLDER"
                        .to_owned(),
                ));
            }
            None => return Err(unfit("there is no tensor \"embeddings\"".to_owned())),
        };
        let [rows, dimension] = table.shape[..] else {
            return Err(unfit("the tensor \"embeddings\" is no table".to_owned()));
        };
        let weights = tensors.get("weights").map_err(unfit)?;
        let mapping = tensors.get("mapping").map_err(unfit)?;
        let mut hash = blake3::Hasher::new();
        for part in [&bytes, &tokenizer_bytes] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let max_tokens = config.and_then(|config| config.seq_length);
        let model = Model2VecEmbedder {
            card: ModelCard {
                source: "model2vec".to_owned(),
                name,
                location,
                dimension: u32::try_from(dimension).unwrap_or(u32::MAX),
                pooling: Pooling::Mean,
                normalised: true,
                query_prefix: settings.query_prefix,
                passage_prefix: settings.passage_prefix,
                max_tokens: max_tokens.unwrap_or(MAX_TOKENS).clamp(1, 1 << 20),
                weights: Some(*hash.finalize().as_bytes()),
            },
            table: table.floats(),
            rows: match mapping {
                Some(mapping) => Some(mapping.places().ok_or_else(|| {
                    unfit("the tensor \"mapping\" has other numbers than rows".to_owned())
                })?),
                None => None,
            },
            weights: weights.map(|weights| weights.floats()),
            tokenizer,
            home: home.to_path_buf(),
            origin: match files {
                Files::Disk => origin,
                Files::Kept(_) => Origin::default(),
            },
        };
        model.check(rows).map_err(unfit)?;
        Ok(model)
    }

    /// Whether every token of the tokenizer has a row.
    fn check(&self, rows: usize) -> Result<(), String> {
        if let Some(fault) = self.card.fault() {
            return Err(fault);
        }
        let tokens = self.tokenizer.highest() as usize + 1;
        let known = match &self.rows {
            None => rows,
            Some(places) if places.iter().all(|place| (*place as usize) < rows) => places.len(),
            Some(_) => {
                return Err("the tensor \"mapping\" names rows that are not there".to_owned());
            }
        };
        let weighted = self.weights.as_ref().map_or(tokens, Vec::len);
        if known.min(weighted) < tokens {
            return Err(format!(
                "the tokenizer has {tokens} tokens, and the model {}",
                known.min(weighted)
            ));
        }
        Ok(())
    }

    /// What files say of the model.
    pub(crate) fn card_mut(&mut self) -> &mut ModelCard {
        &mut self.card
    }

    /// The tokens of a passage that count.
    pub(crate) fn tokens(&self, text: &str) -> usize {
        let text = format!("{}{text}", self.card.passage_prefix);
        self.tokenizer
            .known(&text, self.card.max_tokens as usize)
            .len()
    }

    /// Adds the vector of a text to zeros.
    fn embed(&self, prefix: &str, text: &str, vector: &mut [f32]) {
        let limit = self.card.max_tokens as usize;
        let tokens = if prefix.is_empty() {
            self.tokenizer.known(text, limit)
        } else if self.tokenizer.known(text, 1).is_empty() {
            Vec::new()
        } else {
            self.tokenizer.known(&format!("{prefix}{text}"), limit)
        };
        for token in tokens {
            let token = token as usize;
            let row = match &self.rows {
                Some(rows) => rows.get(token).copied().unwrap_or(0) as usize,
                None => token,
            };
            let weights = self.weights.as_ref();
            let weight = weights.and_then(|weights| weights.get(token)).copied();
            let weight = weight.unwrap_or(1.0);
            let start = row * vector.len();
            let numbers = self.table.get(start..start + vector.len());
            for (sum, number) in vector.iter_mut().zip(numbers.unwrap_or_default()) {
                *sum += number * weight;
            }
        }
        normalise(vector);
    }

    fn vectors(&self, prefix: &str, texts: &[&str]) -> Result<Vec<f32>, EmbedError> {
        let width = self.card.dimension as usize;
        let length = texts.len().checked_mul(width);
        let length = length.ok_or_else(|| EmbedError::Budget {
            limit: format!("{} texts at once", texts.len()),
        })?;
        let mut vectors = vec![0.0; length];
        for (text, vector) in texts.iter().zip(vectors.chunks_exact_mut(width.max(1))) {
            self.embed(prefix, text, vector);
        }
        check_vectors(&vectors, texts.len(), self.card.dimension)?;
        Ok(vectors)
    }
}

impl TextEmbedder for Model2VecEmbedder {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    fn passages(&self, texts: &[&str]) -> Result<Vec<f32>, EmbedError> {
        self.vectors(&self.card.passage_prefix, texts)
    }

    fn query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        self.vectors(&self.card.query_prefix, &[text])
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
