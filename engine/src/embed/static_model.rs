//! The built-in model: a table with one row of small integers for each token, and no layers. The vector of a text is
//! the weighted sum of the rows of its tokens; `model/README.md` has the rules.
//!
//! Vectors are the same to the bit on every machine and in every thread, because the content root
//! of a file covers them: tokens are added in the order of their ids, with an f32 multiplication
//! and an f32 addition that are never fused, and the length is summed in f64 in the order of the
//! columns.

use std::cell::RefCell;

use kb_types::error::Result;

use super::embedder::{BUILT_IN_MODEL, Coverage, Embedder, check_out};
use super::wordpiece::{Pieces, Vocabulary, for_each_word};

/// Dimensions of the vectors.
// 256 dimensions gain 0.002 and 0.004 nDCG@10 in hybrid search, 128 lose 0.003
// (docs/decisions/10-static-model.md). A row of 192 signed bytes takes three cache lines.
const DIM: usize = 192;
/// Two numbers a byte.
// 4 bits a number: 49,513 rows of 96 bytes are most of the 5.2 MB of the model.
const ROW_BYTES: usize = DIM / 2;
/// Tokens and rows.
const ROWS: usize = 49_513;

/// Length of the rows of a word from which on it has the full weight: 0.8 times `ref` of `model.json`.
// Chosen on the development sets, together with the model.
const WHOLE_WORD_LENGTH: f64 = 0.8 * 9.177_46;

/// Least weight of a word.
// Above 0, so that a query of weak words alone is ranked too.
const LEAST_WORD_WEIGHT: f64 = 0.05;

static KB_STATIC_2: StaticModel = StaticModel {
    id: BUILT_IN_MODEL,
    // Stored in every file: a reader refuses vectors of a model whose files differ.
    hash: [
        0x04, 0x7e, 0x9b, 0x9d, 0x6b, 0xad, 0x2f, 0xd6, 0xc4, 0x7f, 0xd8, 0xe6, 0xc8, 0x8a, 0x7d,
        0x57, 0x98, 0x07, 0xc7, 0x0e, 0xb9, 0x64, 0xfe, 0x2e, 0x54, 0xea, 0x9e, 0x52, 0xad, 0x50,
        0x76, 0x76,
    ],
    quantiser_range: 0.305,
    vocabulary: Vocabulary {
        text: include_str!("../../model/vocab.txt"),
        slots: include_bytes!(concat!(env!("OUT_DIR"), "/vocabulary.slots")),
    },
    table: include_bytes!("../../model/table.bin"),
    scales: include_bytes!("../../model/scales.bin"),
};

/// The newest built-in model, the default for new files. Costs nothing to get.
pub fn built_in() -> &'static StaticModel {
    &KB_STATIC_2
}

/// A model that is compiled into the program: it takes microseconds for a query, and no set-up.
#[derive(Debug)]
pub struct StaticModel {
    /// Stable name.
    id: &'static str,
    /// BLAKE3 hash over vocab.txt, table.bin and scales.bin, in that order. A constant, because the
    /// files are too large to hash whenever a program starts; a test compares it.
    hash: [u8; 32],
    /// See [`StaticModel::quantiser_range`].
    quantiser_range: f32,
    /// The tokens.
    vocabulary: Vocabulary,
    /// `[ROWS, DIM]` signed 4-bit integers, the low half of a byte first.
    table: &'static [u8],
    /// One little-endian f16 a row.
    scales: &'static [u8],
}

impl StaticModel {
    /// Calls `emit` with the id of every token of the text, in order. The id, 1..49513, is the line
    /// in `vocab.txt`, counted from 0. The text is never truncated.
    pub fn tokens(&self, text: &str, mut emit: impl FnMut(u32)) {
        let mut pieces = Pieces::new();
        for_each_word(text, |word| {
            for &id in self.vocabulary.tokens(word, &mut pieces) {
                emit(u32::from(id));
            }
        });
    }

    /// How much of a text the vocabulary covers: search trusts keywords more where it covers
    /// little.
    pub fn coverage(&self, text: &str) -> Coverage {
        let mut coverage = Coverage::default();
        let mut pieces = Pieces::new();
        for_each_word(text, |word| {
            let tokens = self.vocabulary.tokens(word, &mut pieces).len();
            coverage.tokens += tokens;
            if !word.is_mark() {
                coverage.words += 1;
                coverage.known_words += usize::from(tokens == 1);
            }
        });
        coverage
    }

    /// How much a word says, 0.05..1, by the lengths of the rows of its tokens: near 1 for names and things, .1
    /// to .2 for "how", "using" and "which". 1 for a word that has no tokens. Costs the tokens of that word.
    pub fn word_weight(&self, word: &str) -> f32 {
        let (rows, _) = self.table.as_chunks::<ROW_BYTES>();
        let (scales, _) = self.scales.as_chunks::<2>();
        let mut pieces = Pieces::new();
        let mut squares = None;
        for_each_word(word, |word| {
            if word.is_mark() {
                return;
            }
            for &id in self.vocabulary.tokens(word, &mut pieces) {
                let id = usize::from(id);
                let (Some(row), Some(&scale)) = (rows.get(id), scales.get(id)) else {
                    continue;
                };
                let scale = f64::from(f32_from_half(u16::from_le_bytes(scale)));
                let length: i32 = row
                    .iter()
                    .map(|&pair| {
                        let low = i32::from((pair << 4).cast_signed() >> 4);
                        let high = i32::from(pair.cast_signed() >> 4);
                        low * low + high * high
                    })
                    .sum();
                *squares.get_or_insert(0.0) += scale * scale * f64::from(length);
            }
        });
        squares.map_or(1.0, |squares: f64| {
            (squares.sqrt() / WHOLE_WORD_LENGTH).clamp(LEAST_WORD_WEIGHT, 1.0) as f32
        })
    }

    /// The range of the quantiser of the vector index: the 0.9999 quantile of all components.
    /// Larger ones are clipped. A constant of the model.
    pub fn quantiser_range(&self) -> f32 {
        self.quantiser_range
    }

    fn embed(&self, texts: &[&str], out: &mut [f32]) -> Result<()> {
        thread_local! {
            static COUNTS: RefCell<TokenCounts> = RefCell::new(TokenCounts::new());
        }
        check_out(texts.len(), DIM, out)?;
        COUNTS.with_borrow_mut(|counts| {
            for (text, vector) in texts.iter().zip(out.as_chunks_mut::<DIM>().0) {
                self.tokens(text, |id| counts.add(id));
                *vector = self.weighted_sum(counts);
                normalise(vector);
            }
        });
        Ok(())
    }

    /// The sum of sqrt(count) x scale x row over the tokens. Drains the counts.
    fn weighted_sum(&self, counts: &mut TokenCounts) -> [f32; DIM] {
        let (rows, _) = self.table.as_chunks::<ROW_BYTES>();
        let (scales, _) = self.scales.as_chunks::<2>();
        let mut even = [0.0_f32; ROW_BYTES];
        let mut odd = [0.0_f32; ROW_BYTES];
        counts.drain(|id, count| {
            let (Some(row), Some(&scale)) = (rows.get(id), scales.get(id)) else {
                return;
            };
            let scale = f64::from(f32_from_half(u16::from_le_bytes(scale)));
            // The root of the count: a word that comes often says more than one that comes once,
            // but not as often more.
            let weight = (f64::from(count).sqrt() * scale) as f32;
            for ((&pair, even), odd) in row.iter().zip(&mut even).zip(&mut odd) {
                let pair = u32::from(pair);
                *even += weight * (((pair << 28) as i32) >> 28) as f32;
                *odd += weight * (((pair << 24) as i32) >> 28) as f32;
            }
        });
        let mut sum = [0.0; DIM];
        for ((pair, even), odd) in sum.as_chunks_mut::<2>().0.iter_mut().zip(even).zip(odd) {
            *pair = [even, odd];
        }
        sum
    }
}

impl Embedder for StaticModel {
    fn id(&self) -> &str {
        self.id
    }

    fn hash(&self) -> [u8; 32] {
        self.hash
    }

    fn dim(&self) -> usize {
        DIM
    }

    fn embed_documents(&self, texts: &[&str], out: &mut [f32]) -> Result<()> {
        self.embed(texts, out)
    }

    fn embed_queries(&self, texts: &[&str], out: &mut [f32]) -> Result<()> {
        self.embed(texts, out)
    }

    fn coverage(&self, text: &str) -> Coverage {
        StaticModel::coverage(self, text)
    }
}

/// Divides by the Euclidean length; a zero vector is left as it is.
fn normalise(vector: &mut [f32; DIM]) {
    let length = vector
        .iter()
        .map(|&x| f64::from(x) * f64::from(x))
        .sum::<f64>()
        .sqrt() as f32;
    if length > 0.0 {
        for x in vector {
            *x /= length;
        }
    }
}

/// The value of a finite half-precision number. Subnormal ones are converted as integers, because a
/// host program may have set the processor to flush subnormal f32 to zero.
fn f32_from_half(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let magnitude = u32::from(bits & 0x7fff);
    let value = if magnitude < 0x400 {
        magnitude as f32 / (1 << 24) as f32
    } else {
        f32::from_bits((magnitude << 13) + ((127 - 15) << 23))
    };
    f32::from_bits(value.to_bits() | sign)
}

/// The number of occurrences of each token in a text. Reused from text to text, to not allocate.
struct TokenCounts {
    /// By token.
    counts: Vec<u32>,
    /// One bit for each token whose count is not 0.
    present: Vec<u64>,
    /// One bit for each `u64` of `present` that is not 0.
    // Two levels of bits: draining looks at 13 words, not at 49,513 counts, and gives ids in
    // ascending order without sorting. The order of the sum is part of the model.
    groups: [u64; ROWS.div_ceil(64 * 64)],
}

impl TokenCounts {
    fn new() -> TokenCounts {
        TokenCounts {
            counts: vec![0; ROWS],
            present: vec![0; ROWS.div_ceil(64)],
            groups: [0; ROWS.div_ceil(64 * 64)],
        }
    }

    #[inline]
    fn add(&mut self, id: u32) {
        let id = id as usize;
        let (word, group) = (id / 64, id / (64 * 64));
        if let (Some(count), Some(present), Some(groups)) = (
            self.counts.get_mut(id),
            self.present.get_mut(word),
            self.groups.get_mut(group),
        ) {
            *count = count.saturating_add(1);
            *present |= 1 << (id % 64);
            *groups |= 1 << (word % 64);
        }
    }

    /// Calls `on_token` with the id and count of every token that occurs, by ascending id, and
    /// resets the counts.
    fn drain(&mut self, mut on_token: impl FnMut(usize, u32)) {
        for (group, groups) in self.groups.iter_mut().enumerate() {
            for word in take_bits(groups) {
                let word = group * 64 + word;
                let Some(present) = self.present.get_mut(word) else {
                    continue;
                };
                for id in take_bits(present) {
                    let id = word * 64 + id;
                    if let Some(count) = self.counts.get_mut(id) {
                        on_token(id, std::mem::take(count));
                    }
                }
            }
        }
    }
}

/// The positions of the set bits, rising; the bits are cleared.
fn take_bits(bits: &mut u64) -> impl Iterator<Item = usize> {
    let mut left = std::mem::take(bits);
    std::iter::from_fn(move || {
        let position = left.trailing_zeros() as usize;
        let found = left != 0;
        left &= left.wrapping_sub(1);
        found.then_some(position)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::models::by_id;
    use super::*;

    fn ids(text: &str) -> Vec<u32> {
        let mut ids = Vec::new();
        built_in().tokens(text, |id| ids.push(id));
        ids
    }

    fn vector(text: &str) -> Vec<f32> {
        let mut vector = vec![f32::NAN; DIM];
        built_in().embed_documents(&[text], &mut vector).unwrap();
        vector
    }

    #[test]
    fn tokens_and_vectors_equal_those_of_the_reference() {
        let file = include_str!("../../model/vectors.json");
        let file: serde_json::Value = serde_json::from_str(file).unwrap();
        let cases = file["cases"].as_array().unwrap();
        assert_eq!(cases.len(), 60);
        for case in cases {
            let text = case["text"].as_str().unwrap();
            let expected: Vec<u32> = serde_json::from_value(case["ids"].clone()).unwrap();
            assert_eq!(ids(text), expected, "{text:?}");
            let expected: Vec<f32> = serde_json::from_value(case["vector"].clone()).unwrap();
            let got = vector(text);
            assert_eq!(got.len(), expected.len());
            for (got, expected) in got.iter().zip(&expected) {
                assert!((got - expected).abs() < 2e-6, "{got} {expected} {text:?}");
            }
        }
    }

    #[test]
    fn the_hash_is_that_of_the_model_files() {
        let mut hasher = blake3::Hasher::new();
        hasher.update(KB_STATIC_2.vocabulary.text.as_bytes());
        hasher.update(KB_STATIC_2.table);
        hasher.update(KB_STATIC_2.scales);
        assert_eq!(hasher.finalize(), blake3::Hash::from(built_in().hash()));
    }

    #[test]
    fn every_token_of_the_vocabulary_is_found() {
        let lines: Vec<&str> = KB_STATIC_2.vocabulary.text.lines().collect();
        assert_eq!(lines.len(), ROWS);
        assert_eq!(KB_STATIC_2.table.len(), ROWS * ROW_BYTES);
        assert_eq!(KB_STATIC_2.scales.len(), ROWS * 2);
        for (id, line) in lines.iter().enumerate().skip(1) {
            if !line.starts_with("##") {
                assert_eq!(ids(line), [id as u32], "{line:?}");
            }
        }
    }

    #[test]
    fn vectors_are_the_same_to_the_bit_everywhere() {
        let bytes: Vec<u8> = crate::embed::probe::PROBE_TEXTS
            .iter()
            .flat_map(|text| vector(text))
            .flat_map(|x| x.to_bits().to_le_bytes())
            .collect();
        assert_eq!(
            blake3::hash(&bytes).to_hex().as_str(),
            "02e1eb19cc44c66c414694adbfdb900983889e5196f9a430610963bff5ab826d"
        );
    }

    #[test]
    fn a_vector_depends_on_its_text_alone() {
        let texts = ["reset a password", "", "fn main() {}", "reset a password"];
        let mut together = vec![f32::NAN; texts.len() * DIM];
        built_in().embed_queries(&texts, &mut together).unwrap();
        for (text, row) in texts.iter().zip(together.chunks(DIM)) {
            assert_eq!(row, vector(text), "{text:?}");
        }
    }

    #[test]
    fn a_text_without_tokens_has_the_zero_vector() {
        for text in [
            "",
            " \t\r\n",
            "\0\u{7}",
            "\u{4f60}\u{597d}",
            &"x".repeat(65),
        ] {
            assert!(ids(text).is_empty(), "{text:?}");
            assert_eq!(vector(text), [0.0; DIM], "{text:?}");
        }
    }

    #[test]
    fn an_output_of_another_length_is_refused() {
        for len in [0, DIM - 1, DIM + 1, 3 * DIM] {
            let mut out = vec![0.0; len];
            let error = built_in()
                .embed_documents(&["a", "b"], &mut out)
                .unwrap_err();
            assert_eq!(error.code(), "INVALID_ARGUMENT");
        }
    }

    #[test]
    fn coverage_counts_the_words_that_the_model_knows() {
        let coverage = |text| {
            let Coverage {
                words,
                known_words,
                tokens,
            } = built_in().coverage(text);
            (words, known_words, tokens)
        };
        assert_eq!(coverage(""), (0, 0, 0));
        assert_eq!(coverage("?!"), (0, 0, 2));
        assert_eq!(coverage("reset my password?"), (3, 3, 4));
        assert_eq!(coverage("resetPassword"), (2, 2, 2));
        assert_eq!(coverage("password \u{43f}\u{430}\u{440}"), (2, 1, 1));
        let (words, known_words, tokens) = coverage("qzxvkw password");
        assert_eq!((words, known_words), (2, 1));
        assert!(tokens > 2, "a word in pieces has several tokens");
        assert_eq!(built_in().coverage("qzxvkw password").known_share(), 0.5);
        assert_eq!(Coverage::default().known_share(), 0.0);
    }

    #[test]
    fn names_weigh_more_than_question_words() {
        let weight = |word| built_in().word_weight(word);
        for word in ["how", "How", "using", "which", "where"] {
            assert!(
                (0.05..0.3).contains(&weight(word)),
                "{word}: {}",
                weight(word)
            );
        }
        for word in ["robots", "serializer", "RetryMiddleware", "parse_header"] {
            assert!(weight(word) > 0.7, "{word}: {}", weight(word));
        }
        // No token: nothing is known that speaks against it.
        for word in ["\u{43f}\u{430}\u{440}", &"x".repeat(65), "_", ""] {
            assert_eq!(weight(word), 1.0, "{word:?}");
        }
    }

    #[test]
    fn the_weight_of_a_word_is_the_length_of_its_rows() {
        // A text of one token has the vector scale x row / length, so the length is not seen there: the
        // sum of squares of a word in two pieces is that of its pieces.
        let square = |word: &str| f64::from(built_in().word_weight(word)).powi(2);
        let (whole, parts) = (square("how_which"), square("how") + square("which"));
        assert!((whole - parts).abs() < 1e-6, "{whole} {parts}");
    }

    #[test]
    fn models_are_found_by_id() {
        let model = by_id("kb-static-2").unwrap();
        assert_eq!((model.hash(), model.dim()), (built_in().hash(), DIM));
        assert!(by_id("kb-static-9").is_none());
    }

    #[test]
    fn half_precision_numbers_are_exact() {
        for (bits, value) in [
            (0x0000, 0.0),
            (0x0001, 5.960_464_5e-8),
            (0x03ff, 1023.0 * 5.960_464_5e-8),
            (0x0400, 6.103_515_6e-5),
            (0x3555, 0.333_251_95),
            (0x3c00, 1.0),
            (0x7bff, 65504.0),
            (0xc000, -2.0),
        ] {
            assert_eq!(f32_from_half(bits), value, "{bits:#x}");
        }
    }

    #[test]
    fn hostile_texts_of_a_megabyte_are_embedded() {
        let mega = 1 << 20;
        let word_of_64 = "qxjz".repeat(16);
        let hostile = [
            "a".repeat(mega),
            format!("{word_of_64} ").repeat(mega / 65),
            format!("a{}", "\u{301}".repeat(mega / 2)),
            "\u{fdfa}\u{1d160}\u{ac01}".repeat(mega / 10),
            "aB".repeat(mega / 2),
            "_".repeat(mega),
        ];
        for text in &hostile {
            let length: f32 = vector(text).iter().map(|x| x * x).sum();
            assert!(length == 0.0 || (length - 1.0).abs() < 1e-5);
        }
        assert!(ids(&hostile[0]).is_empty());
        assert_eq!(ids(&hostile[2]), ids("a"));
    }

    proptest! {
        #[test]
        fn any_text_has_a_unit_vector_or_none(text in "\\PC{0,200}|.{0,200}") {
            let coverage = built_in().coverage(&text);
            prop_assert!(ids(&text).iter().all(|&id| (1..ROWS as u32).contains(&id)));
            prop_assert_eq!(coverage.tokens, ids(&text).len());
            prop_assert!(coverage.known_words <= coverage.words);
            let length: f32 = vector(&text).iter().map(|x| x * x).sum();
            prop_assert_eq!(length == 0.0, coverage.tokens == 0);
            prop_assert!(length == 0.0 || (length - 1.0).abs() < 1e-5);
        }
    }
}
