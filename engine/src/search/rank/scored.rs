//! Fuses keyword and vector score into one.

use crate::search::rank::fusion::ContextualScore;
use crate::search::rank::parts::Features;
use crate::search::rank::weights::RANK_WEIGHTS;
use crate::search::sources::ChunkAddress;

/// Weight of the vector score when the model knows that share of the words of the query, 0..1, and that
/// share of the chunks is code: an embedding of the few known words of a query in another language is
/// arbitrary. Over eleven languages a constant weight loses 0.029 nDCG@10; the square or the root of the
/// share, or a start at half of it, gains nothing.
pub(crate) fn vector_weight(known_share: f32, code_share: f32, is_question: bool) -> f32 {
    let weights = RANK_WEIGHTS;
    let prose = weights.vector_in_prose;
    let code = if is_question {
        weights.vector_in_code_for_questions
    } else {
        weights.vector_in_code
    };
    (prose + (code - prose) * code_share.clamp(0.0, 1.0)) * known_share.clamp(0.0, 1.0)
}

/// A chunk with its scores, comparable between queries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scored {
    /// The chunk.
    pub(crate) address: ChunkAddress,
    /// Keyword score, 0..1; 0 without a common term.
    pub(crate) keyword: f32,
    /// Vector score, 0..1.
    pub(crate) vector: f32,
    /// What a contextual model says of it; `None` without one, and where the chunk has no vector of it.
    pub(crate) contextual: Option<ContextualScore>,
    /// The weighted mean of all, 0..1.
    pub(crate) fused: f32,
    /// What else is known of it.
    pub(crate) features: Features,
    /// What it is ordered by: the fused score; after ranking with all its parts, which may raise it above 1.
    pub(crate) score: f32,
}

impl Scored {
    /// A chunk of which nothing else is known yet.
    pub(crate) fn new(address: ChunkAddress, keyword: f32, vector: f32, fused: f32) -> Scored {
        Scored {
            address,
            keyword,
            vector,
            contextual: None,
            fused,
            features: Features::default(),
            score: fused,
        }
    }

    /// Adds what the contextual model says to the fused score: `own` as it is, `score` on the scale of the built-in model.
    /// `weight` is that of both models, `share` that of the contextual one among them.
    pub(crate) fn add_contextual(&mut self, (own, score): (f32, f32), weight: f32, share: f32) {
        let gain = weight * share * (score - self.vector);
        self.contextual = Some(ContextualScore { own, score, gain });
        self.fused += gain;
        self.score = self.fused;
    }
}

/// The fused score: the weighted mean of both scores.
pub(crate) fn fused(keyword: f32, vector: f32, vector_weight: f32) -> f32 {
    (1.0 - vector_weight) * keyword + vector_weight * vector
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kb::{Kb, KbWriter};
    use crate::search::{Explanation, Request};

    #[test]
    fn the_weight_lies_between_that_of_prose_and_that_of_code() {
        let (prose, code) = (RANK_WEIGHTS.vector_in_prose, RANK_WEIGHTS.vector_in_code);
        assert_eq!(vector_weight(1.0, 0.0, false), prose);
        assert!((vector_weight(1.0, 1.0, false) - code).abs() < 1e-6);
        assert!((vector_weight(1.0, 0.5, false) - (prose + code) / 2.0).abs() < 1e-6);
        assert_eq!(vector_weight(0.5, 0.0, false), prose / 2.0);
        assert_eq!(vector_weight(0.0, 1.0, false), 0.0);
        let of_question = RANK_WEIGHTS.vector_in_code_for_questions;
        assert!((vector_weight(1.0, 1.0, true) - of_question).abs() < 1e-6);
    }

    #[test]
    fn the_weight_follows_the_live_chunks_of_all_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, documents: &[&str]| {
            let path = folder.path().join(name);
            let mut writer = KbWriter::open_or_create(&path).unwrap();
            for document in documents {
                writer.add_bytes(document, b"reset = password\n").unwrap();
            }
            writer.commit().unwrap();
            path
        };
        let explain = |files: &[&Kb]| -> Explanation {
            let request = Request::new("reset password").explain(true);
            let response = crate::kb::search_files(files, &request).unwrap();
            response.explanation.unwrap()
        };
        let mixed = file("1.kb", &["a.py", "b.py", "c.md", "d.md", "e.toml"]);
        let code = file("2.kb", &["f.py", "g.py"]);
        let (mixed_kb, code_kb) = (Kb::open(&mixed).unwrap(), Kb::open(&code).unwrap());
        let told = explain(&[&mixed_kb]);
        assert_eq!(told.code_share, 0.5);
        assert_eq!(told.vector_weight, vector_weight(1.0, 0.5, false));
        assert!((explain(&[&mixed_kb, &code_kb]).code_share - 4.0 / 6.0).abs() < 1e-6);
        let mut writer = KbWriter::open(&mixed).unwrap();
        writer.remove("a.py").unwrap();
        writer.remove("b.py").unwrap();
        writer.commit().unwrap();
        assert_eq!(explain(&[&mixed_kb]).code_share, 0.0);
    }
}
