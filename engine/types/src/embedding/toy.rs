//! A model for tests: a vector is the sum of pseudo-random vectors of the words of a text.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{EmbedError, ModelCard, ModelFile, Pooling, TextEmbedder};

/// Sums pseudo-random vectors of lower-case words; the name of the model is the seed.
#[derive(Debug)]
pub struct WordHashes {
    card: ModelCard,
    synonyms: Vec<(String, String)>,
    embedded: AtomicUsize,
}

impl WordHashes {
    /// A model of that name.
    pub fn new(name: &str, dimension: u32) -> WordHashes {
        WordHashes {
            card: ModelCard {
                source: "toy".to_owned(),
                name: name.to_owned(),
                location: format!("/toys/{name}"),
                dimension,
                pooling: Pooling::Mean,
                normalised: true,
                query_prefix: String::new(),
                passage_prefix: String::new(),
                max_tokens: 0,
                weights: Some(weights_of(name)),
            },
            synonyms: Vec::new(),
            embedded: AtomicUsize::new(0),
        }
    }

    /// The model of its files.
    ///
    /// # Errors
    /// [`EmbedError::Missing`] without a name.
    pub fn unpack(card: &ModelCard, files: &[ModelFile]) -> Result<WordHashes, EmbedError> {
        let [name, synonyms @ ..] = files else {
            return Err(EmbedError::Missing {
                what: "name".to_owned(),
            });
        };
        let text = |file: &ModelFile| String::from_utf8_lossy(&file.bytes).into_owned();
        let model = WordHashes::new(&text(name), card.dimension);
        Ok(synonyms
            .iter()
            .fold(model, |model, file| model.synonym(&file.name, &text(file))))
    }

    /// Makes two words mean the same.
    #[must_use]
    pub fn synonym(mut self, word: &str, same: &str) -> WordHashes {
        self.synonyms.push((word.to_owned(), same.to_owned()));
        self
    }

    /// Passages that were embedded so far.
    pub fn embedded(&self) -> usize {
        self.embedded.load(Ordering::Relaxed)
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0f32; self.card.dimension as usize];
        for word in text.split(|c: char| !c.is_alphanumeric()) {
            let word = word.to_lowercase();
            if word.is_empty() {
                continue;
            }
            let same = self.synonyms.iter().find(|(of, _)| *of == word);
            let word = same.map_or(word.as_str(), |(_, same)| same);
            let seed = self.card.name.bytes().chain(word.bytes());
            let mut state = seed.fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
            for number in &mut vector {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                *number += (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0;
            }
        }
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length > 0.0 {
            vector.iter_mut().for_each(|number| *number /= length);
        }
        vector
    }
}

/// Differs where names do.
fn weights_of(name: &str) -> [u8; 32] {
    let mut weights = [0; 32];
    for (byte, of_name) in weights.iter_mut().zip(name.bytes()) {
        *byte = of_name;
    }
    weights
}

impl TextEmbedder for WordHashes {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    fn passages(&self, texts: &[&str]) -> Result<Vec<f32>, EmbedError> {
        self.embedded.fetch_add(texts.len(), Ordering::Relaxed);
        Ok(texts.iter().flat_map(|text| self.vector(text)).collect())
    }

    fn query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(self.vector(text))
    }

    fn preferred_batch(&self) -> usize {
        4
    }

    fn files(&self) -> Result<Vec<ModelFile>, EmbedError> {
        let mut files = vec![ModelFile {
            name: "name".to_owned(),
            bytes: self.card.name.clone().into_bytes(),
        }];
        files.extend(self.synonyms.iter().map(|(word, same)| ModelFile {
            name: word.clone(),
            bytes: same.clone().into_bytes(),
        }));
        Ok(files)
    }
}
