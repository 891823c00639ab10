//! Embedding models that are not built in: what a file says of one, and what one does.
//!
//! The engine knows models by these traits alone. `kb-embedders` implements them for files of weights and for services,
//! and the Python package for functions.

use std::fmt::{self, Debug};
use std::sync::Arc;

use crate::VECTOR_DIM_LIMIT;

#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod toy;

/// How the vectors of tokens become the vector of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Pooling {
    /// The mean over the tokens of the text.
    Mean = 1,
    /// The vector of the first token.
    Cls = 2,
    /// The vector of the last token.
    LastToken = 3,
    /// Vectors of texts come from elsewhere: a service, or a function of the caller.
    Given = 4,
}

impl Pooling {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Pooling; 4] = [
        Pooling::Mean,
        Pooling::Cls,
        Pooling::LastToken,
        Pooling::Given,
    ];

    /// The name in output.
    pub fn name(self) -> &'static str {
        match self {
            Pooling::Mean => "mean",
            Pooling::Cls => "cls",
            Pooling::LastToken => "last token",
            Pooling::Given => "given",
        }
    }

    /// The kind with that number in a file.
    pub fn from_number(number: u8) -> Option<Pooling> {
        Pooling::ALL
            .into_iter()
            .find(|pooling| *pooling as u8 == number)
    }
}

/// What a file stores of the model that made a column of vectors, so that the same model embeds later chunks and
/// queries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelCard {
    /// Kind of model, the part of its specification before the colon: `onnx`, `model2vec`, `fastembed`, `openai`,
    /// `python`. 1 to [`ModelCard::SOURCE_LIMIT_BYTES`].
    pub source: String,
    /// The name for people: name of a folder, of a model. 1 to [`ModelCard::NAME_LIMIT_BYTES`].
    pub name: String,
    /// Where the model was found: the part of its specification behind the colon, paths made absolute. Empty where the
    /// name is enough, and in sealed files. At most [`ModelCard::LOCATION_LIMIT_BYTES`].
    pub location: String,
    /// Dimensions of the vectors, 1 to [`VECTOR_DIM_LIMIT`].
    pub dimension: u32,
    /// How vectors of tokens become one.
    pub pooling: Pooling,
    /// Whether vectors have length 1.
    pub normalised: bool,
    /// What the model puts in front of a query. At most [`ModelCard::PREFIX_LIMIT_BYTES`].
    pub query_prefix: String,
    /// What the model puts in front of a passage. At most [`ModelCard::PREFIX_LIMIT_BYTES`].
    pub passage_prefix: String,
    /// Tokens of a text that count, from its start; 0: not known.
    pub max_tokens: u32,
    /// BLAKE3 over the files that determine the vectors; `None` where they cannot be read, as of a service.
    pub weights: Option<[u8; 32]>,
}

impl ModelCard {
    /// Most bytes of [`ModelCard::source`].
    pub const SOURCE_LIMIT_BYTES: usize = 32;
    /// Most bytes of [`ModelCard::name`].
    pub const NAME_LIMIT_BYTES: usize = 200;
    /// Most bytes of [`ModelCard::location`].
    pub const LOCATION_LIMIT_BYTES: usize = 4096;
    /// Most bytes of [`ModelCard::query_prefix`] and of [`ModelCard::passage_prefix`].
    pub const PREFIX_LIMIT_BYTES: usize = 1000;

    /// What no card may have; `None`: nothing.
    pub fn fault(&self) -> Option<String> {
        let texts = [
            ("source", &self.source, 1, ModelCard::SOURCE_LIMIT_BYTES),
            ("name", &self.name, 1, ModelCard::NAME_LIMIT_BYTES),
            (
                "location",
                &self.location,
                0,
                ModelCard::LOCATION_LIMIT_BYTES,
            ),
            (
                "query prefix",
                &self.query_prefix,
                0,
                ModelCard::PREFIX_LIMIT_BYTES,
            ),
            (
                "passage prefix",
                &self.passage_prefix,
                0,
                ModelCard::PREFIX_LIMIT_BYTES,
            ),
        ];
        for (what, text, least, most) in texts {
            if !(least..=most).contains(&text.len()) {
                let bytes = text.len();
                return Some(format!("a {what} of {bytes} bytes, not {least} to {most}"));
            }
        }
        let dimension = self.dimension;
        (dimension == 0 || dimension > VECTOR_DIM_LIMIT)
            .then(|| format!("{dimension} dimensions, not 1 to {VECTOR_DIM_LIMIT}"))
    }

    /// Whether another card is of the same model: everything that determines vectors agrees. Names and locations may
    /// differ if both cards know the weights.
    pub fn is_same_model(&self, other: &ModelCard) -> bool {
        let is_known = match (self.weights, other.weights) {
            (Some(own), Some(others)) => own == others,
            (None, None) => self.source == other.source && self.name == other.name,
            _ => false,
        };
        is_known
            && self.dimension == other.dimension
            && self.pooling == other.pooling
            && self.normalised == other.normalised
            && self.query_prefix == other.query_prefix
            && self.passage_prefix == other.passage_prefix
            && self.max_tokens == other.max_tokens
    }
}

impl fmt::Display for ModelCard {
    /// `source:name`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.source, self.name)
    }
}

/// Why a model gave no vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// The model, or something that it needs, is not on this machine.
    #[error("{what} is missing")]
    Missing {
        /// A file, a runtime, a feature of this program, a key in the environment.
        what: String,
    },
    /// The model is there and cannot be used.
    #[error("the model cannot be used: {reason}")]
    Unfit {
        /// What is wrong with its files, or what this program cannot compute.
        reason: String,
    },
    /// A specification of a model that names none.
    #[error("{spec:?} names no model: {reason}")]
    Specification {
        /// As given.
        spec: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A service, or a function of the caller, failed.
    #[error("{service}: {reason}")]
    Service {
        /// Its address or name, without any key.
        service: String,
        /// What it answered, or why it did not.
        reason: String,
    },
    /// A vector has another length than the card says.
    #[error("a vector has {got} numbers, and the model has {expected} dimensions")]
    Dimension {
        /// Dimensions of the card.
        expected: u32,
        /// Numbers of the vector.
        got: usize,
    },
    /// Another number of vectors than of texts.
    #[error("{got} vectors for {expected} texts")]
    Count {
        /// Texts.
        expected: usize,
        /// Vectors.
        got: usize,
    },
    /// A vector has a number that is infinite or none.
    #[error("a vector has a number that is not finite")]
    NotFinite,
    /// A call would take more time or memory than it may.
    #[error("the model may use {limit}, and needs more")]
    Budget {
        /// How much of what.
        limit: String,
    },
    /// The caller asked to stop.
    #[error("stopped on request")]
    Stopped,
}

/// A file of a model, as a .kb keeps it.
#[derive(Clone, PartialEq, Eq)]
pub struct ModelFile {
    /// Its path in the folder of the model, with `/`.
    pub name: String,
    /// All of it.
    pub bytes: Vec<u8>,
}

impl Debug for ModelFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModelFile({:?}, {} bytes)", self.name, self.bytes.len())
    }
}

/// A model that embeds texts. Calls may come from several threads at once.
pub trait TextEmbedder: Send + Sync + Debug {
    /// What files say of this model.
    fn card(&self) -> &ModelCard;

    /// The vectors of passages: `[texts.len(), dimension]`, row-major, of length 1 if the card says so. A text without
    /// any token gives a row of zeros. A vector depends on its text alone.
    ///
    /// # Errors
    /// Those of the model.
    fn passages(&self, texts: &[&str]) -> Result<Vec<f32>, EmbedError>;

    /// The vector of a query: `dimension` numbers.
    ///
    /// # Errors
    /// Those of the model.
    fn query(&self, text: &str) -> Result<Vec<f32>, EmbedError>;

    /// How many texts a call of [`TextEmbedder::passages`] takes best, at least 1.
    fn preferred_batch(&self) -> usize;

    /// The files that make the model, with its licences, for [`EmbedderResolver::unpack`].
    ///
    /// # Errors
    /// [`EmbedError::Unfit`] if it has none, as a service; those of reading them.
    fn files(&self) -> Result<Vec<ModelFile>, EmbedError> {
        Err(EmbedError::Unfit {
            reason: format!("{} has no files", self.card()),
        })
    }
}

/// A model that reads a query and a passage together and says how well the passage answers, such as a cross-encoder. Calls
/// may come from several threads at once.
pub trait Reranker: Send + Sync + Debug {
    /// The name in messages.
    fn name(&self) -> &str;

    /// One number for each passage, higher for better answers. A number depends on the query and its passage alone.
    ///
    /// # Errors
    /// Those of the model.
    fn scores(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError>;
}

/// Finds models by their cards: what a front gives to the engine.
pub trait EmbedderResolver: Send + Sync + Debug {
    /// The model of a card. Calls for the same card are cheap after the first one. The caller compares the card of the
    /// model with this one.
    ///
    /// # Errors
    /// [`EmbedError::Missing`] if it is not on this machine; other errors if it is and cannot be used.
    fn find(&self, card: &ModelCard) -> Result<Arc<dyn TextEmbedder>, EmbedError>;

    /// The model of a card out of files that a .kb keeps. They come from strangers: they are data, and nothing that
    /// they say costs more time or memory than the model may have. The caller compares the cards.
    ///
    /// # Errors
    /// [`EmbedError::Unfit`] and [`EmbedError::Budget`] for what is no such model; [`EmbedError::Missing`] where this
    /// program runs no models.
    fn unpack(
        &self,
        card: &ModelCard,
        files: Vec<ModelFile>,
    ) -> Result<Arc<dyn TextEmbedder>, EmbedError> {
        let _ = files;
        Err(EmbedError::Missing {
            what: format!("a program that runs {card}"),
        })
    }
}

/// Checks that a model returned `texts` vectors of finite numbers.
///
/// # Errors
/// [`EmbedError::Count`], [`EmbedError::Dimension`] or [`EmbedError::NotFinite`].
pub fn check_vectors(vectors: &[f32], texts: usize, dimension: u32) -> Result<(), EmbedError> {
    let width = dimension as usize;
    if texts.checked_mul(width) != Some(vectors.len()) {
        return Err(match (texts, width) {
            (1, _) | (_, 0) => EmbedError::Dimension {
                expected: dimension,
                got: vectors.len(),
            },
            _ => EmbedError::Count {
                expected: texts,
                got: vectors.len() / width,
            },
        });
    }
    if vectors.iter().all(|number| number.is_finite()) {
        Ok(())
    } else {
        Err(EmbedError::NotFinite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card() -> ModelCard {
        ModelCard {
            source: "onnx".to_owned(),
            name: "minilm".to_owned(),
            location: "/models/minilm".to_owned(),
            dimension: 384,
            pooling: Pooling::Mean,
            normalised: true,
            query_prefix: String::new(),
            passage_prefix: "passage: ".to_owned(),
            max_tokens: 256,
            weights: Some([7; 32]),
        }
    }

    #[test]
    fn numbers_of_poolings_are_those_of_files() {
        for pooling in Pooling::ALL {
            assert_eq!(Pooling::from_number(pooling as u8), Some(pooling));
        }
        assert_eq!(Pooling::from_number(0), None);
        assert_eq!(Pooling::from_number(5), None);
    }

    #[test]
    fn a_card_that_no_file_may_have_says_why() {
        type Change = fn(&mut ModelCard);
        let faults: [(&str, Change); 6] = [
            ("source", |card| card.source.clear()),
            ("name", |card| card.name = "n".repeat(201)),
            ("location", |card| card.location = "/".repeat(4097)),
            ("query prefix", |card| card.query_prefix = "q".repeat(1001)),
            ("0 dimensions", |card| card.dimension = 0),
            ("4097 dimensions", |card| card.dimension = 4097),
        ];
        assert_eq!(card().fault(), None);
        for (expected, change) in faults {
            let mut other = card();
            change(&mut other);
            let fault = other.fault().unwrap();
            assert!(fault.contains(expected), "{fault}");
        }
    }

    #[test]
    fn the_same_weights_under_another_name_are_the_same_model() {
        let mut moved = card();
        moved.name = "other".to_owned();
        moved.location.clear();
        assert!(card().is_same_model(&moved));
        let mut changed = card();
        changed.weights = Some([8; 32]);
        assert!(!card().is_same_model(&changed));
        let mut prefixed = card();
        prefixed.query_prefix = "query: ".to_owned();
        assert!(!card().is_same_model(&prefixed));
        let (mut one, mut two) = (card(), card());
        (one.weights, two.weights) = (None, None);
        assert!(one.is_same_model(&two));
        assert!(!one.is_same_model(&card()));
        two.name = "other".to_owned();
        assert!(!one.is_same_model(&two));
    }

    #[test]
    fn vectors_are_as_many_and_as_long_as_they_should_be() {
        assert_eq!(check_vectors(&[0.0; 6], 2, 3), Ok(()));
        assert_eq!(check_vectors(&[], 0, 3), Ok(()));
        let count = EmbedError::Count {
            expected: 3,
            got: 2,
        };
        assert_eq!(check_vectors(&[0.0; 6], 3, 3), Err(count));
        let dimension = EmbedError::Dimension {
            expected: 3,
            got: 6,
        };
        assert_eq!(check_vectors(&[0.0; 6], 1, 3), Err(dimension));
        for wrong in [f32::NAN, f32::INFINITY] {
            let vectors = [0.0, wrong, 0.0];
            assert_eq!(check_vectors(&vectors, 1, 3), Err(EmbedError::NotFinite));
        }
    }
}
