//! What a column of vectors says of the model that made it: its card, and probes to recognise it by.

use kb_types::embedding::check_vectors;
use kb_types::{ModelCard, Pooling};
use wincode::{SchemaRead, SchemaWrite};

/// Most probes of a column.
// Each is read with the records of every commit.
const PROBES_LIMIT: usize = 16;

/// The model of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnModel {
    /// Which model it is.
    pub card: ModelCard,
    /// Texts with the vectors that it made of them as passages.
    pub probes: Vec<(String, Vec<f32>)>,
}

/// A [`ColumnModel`] as a part of a row of table `vectors`. Its dimensions are those of the column.
#[derive(Debug, Clone, PartialEq, SchemaRead, SchemaWrite)]
pub(super) struct ColumnModelRecord {
    source: String,
    name: String,
    location: String,
    pooling: u8,
    normalised: bool,
    query_prefix: String,
    passage_prefix: String,
    max_tokens: u32,
    weights: Option<[u8; 32]>,
    probes: Vec<(String, Vec<f32>)>,
}

impl ColumnModelRecord {
    #[cfg(any(test, feature = "ingest"))]
    pub(super) fn of(model: &ColumnModel) -> ColumnModelRecord {
        let card = &model.card;
        ColumnModelRecord {
            source: card.source.clone(),
            name: card.name.clone(),
            location: card.location.clone(),
            pooling: card.pooling as u8,
            normalised: card.normalised,
            query_prefix: card.query_prefix.clone(),
            passage_prefix: card.passage_prefix.clone(),
            max_tokens: card.max_tokens,
            weights: card.weights,
            probes: model.probes.clone(),
        }
    }

    /// The model of a column of that many dimensions; `None` if it is one that none may be.
    pub(super) fn model(self, dimension: u32) -> Option<ColumnModel> {
        let card = ModelCard {
            source: self.source,
            name: self.name,
            location: self.location,
            dimension,
            // Unknown kinds of later versions are vectors that come from elsewhere.
            pooling: Pooling::from_number(self.pooling).unwrap_or(Pooling::Given),
            normalised: self.normalised,
            query_prefix: self.query_prefix,
            passage_prefix: self.passage_prefix,
            max_tokens: self.max_tokens,
            weights: self.weights,
        };
        let mut probes = self.probes.iter();
        let is_sound = card.fault().is_none()
            && self.probes.len() <= PROBES_LIMIT
            && probes.all(|(_, vector)| check_vectors(vector, 1, dimension).is_ok());
        is_sound.then_some(ColumnModel {
            card,
            probes: self.probes,
        })
    }
}
