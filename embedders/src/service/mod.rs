//! Models behind an address: any service that answers as OpenAI's `/v1/embeddings` does, such as Ollama, llama.cpp,
//! vLLM and LM Studio. Texts leave the process here, and nowhere else.

mod address;
mod answer;
mod transport;

use std::fmt;

use kb_types::embedding::check_vectors;
use kb_types::{EmbedError, ModelCard, Pooling, TextEmbedder};

pub(crate) use self::address::Address;
pub(crate) use self::transport::Patience;
use self::transport::Transport;
use crate::pooling::normalise;

/// Texts of a request.
const REQUEST_TEXTS: usize = 64;
/// Bytes of the texts of a request. Services refuse requests with too many tokens.
const REQUEST_BYTES: usize = 128 << 10;
/// Bytes of a text that are sent. Chunks have at most 2 KB.
const TEXT_LIMIT_BYTES: usize = 16 << 10;

/// A model of a service.
pub(crate) struct ServiceEmbedder {
    card: ModelCard,
    transport: Transport,
}

impl fmt::Debug for ServiceEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServiceEmbedder({})", self.card)
    }
}

impl ServiceEmbedder {
    /// A model of a service. `dimension`: that of its vectors if it is known; otherwise the service is asked for the
    /// vector of one word.
    ///
    /// # Errors
    /// [`EmbedError::Missing`] if this build cannot reach the address, and [`EmbedError::Service`] if the service does
    /// not answer as it should.
    pub(crate) fn new(
        address: &Address,
        dimension: Option<u32>,
        patience: Patience,
    ) -> Result<ServiceEmbedder, EmbedError> {
        let mut service = ServiceEmbedder {
            transport: Transport::new(address, patience)?,
            card: ModelCard {
                source: "openai".to_owned(),
                name: address.model.clone(),
                location: address.location(),
                dimension: dimension.unwrap_or(0),
                pooling: Pooling::Given,
                normalised: true,
                query_prefix: String::new(),
                passage_prefix: String::new(),
                max_tokens: 0,
                weights: None,
            },
        };
        if dimension.is_none() {
            let vector = service
                .transport
                .ask(&address.model, &["word"], None, false)?;
            service.card.dimension = u32::try_from(vector.len()).unwrap_or(u32::MAX);
            check_vectors(&vector, 1, service.card.dimension)?;
        }
        match service.card.fault() {
            None => Ok(service),
            Some(reason) => Err(EmbedError::Unfit { reason }),
        }
    }

    fn vectors(&self, texts: &[&str], is_query: bool) -> Result<Vec<f32>, EmbedError> {
        let dimension = self.card.dimension;
        let width = dimension as usize;
        let length = texts.len().checked_mul(width);
        let length = length.ok_or_else(|| EmbedError::Budget {
            limit: format!("{} texts at once", texts.len()),
        })?;
        let mut vectors = vec![0.0; length];
        // Services refuse texts without any token; their vectors are zeros.
        let sent: Vec<(usize, &str)> = texts
            .iter()
            .enumerate()
            .map(|(place, text)| (place, cut(text)))
            .filter(|(_, text)| !text.is_empty())
            .collect();
        let mut rest = sent.as_slice();
        while !rest.is_empty() {
            let (request, others) = rest.split_at(fitting(rest));
            rest = others;
            let texts: Vec<&str> = request.iter().map(|(_, text)| *text).collect();
            let answer = self
                .transport
                .ask(&self.card.name, &texts, Some(dimension), is_query)?;
            check_vectors(&answer, texts.len(), dimension)?;
            for ((place, _), vector) in request.iter().zip(answer.chunks_exact(width.max(1))) {
                let start = place * width;
                if let Some(target) = vectors.get_mut(start..start + width) {
                    target.copy_from_slice(vector);
                    normalise(target);
                }
            }
        }
        Ok(vectors)
    }
}

/// The part of a text that is sent.
fn cut(text: &str) -> &str {
    let text = text.trim();
    let mut end = text.len().min(TEXT_LIMIT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// How many texts fit into a request; at least one.
fn fitting(texts: &[(usize, &str)]) -> usize {
    let mut bytes = 0;
    let fits = texts.iter().take(REQUEST_TEXTS).take_while(|(_, text)| {
        bytes += text.len();
        bytes <= REQUEST_BYTES
    });
    fits.count().max(1)
}

impl TextEmbedder for ServiceEmbedder {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    fn passages(&self, texts: &[&str]) -> Result<Vec<f32>, EmbedError> {
        self.vectors(texts, false)
    }

    fn query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        self.vectors(&[text], true)
    }

    fn preferred_batch(&self) -> usize {
        REQUEST_TEXTS
    }
}

#[cfg(test)]
mod tests;
