//! all-MiniLM-L6-v2 gives the tokens and vectors that `tokenizers` and ONNX Runtime give.
//!
//! The model is not part of the repository: `cargo xtask models` fetches it, or `KB_TEST_MINILM` names its folder. The
//! expected values are made by `data/make_minilm.py`.

#![expect(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test"
)]

use std::env;
use std::path::{Path, PathBuf};

use kb_embedders::{Choice, Model, Options, Resolver, parse};
use kb_types::{EmbedderResolver, TextEmbedder};
use serde::Deserialize;

/// A line of the expected values.
#[derive(Deserialize)]
struct Expected {
    text: String,
    tokens: Vec<u32>,
    /// In ten thousandths.
    vector: Vec<f32>,
}

/// The model; `None`, with a word, where it is not at hand.
fn model() -> Option<Model> {
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/models/minilm");
    let folder = env::var_os("KB_TEST_MINILM").map_or(fetched, PathBuf::from);
    if !folder.is_dir() {
        println!(
            "skipped: no model in {}; cargo xtask models fetches it",
            folder.display()
        );
        return None;
    }
    let specification = format!("onnx:{}", folder.display());
    match parse(&specification, &Options::default()).unwrap() {
        Choice::Model(model) => Some(model),
        other => panic!("{other:?}"),
    }
}

fn expected() -> Vec<Expected> {
    let lines = include_str!("data/minilm.jsonl").lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    product(one, other) / (product(one, one) * product(other, other)).sqrt()
}

#[test]
fn vectors_are_those_of_onnx_runtime() {
    let Some(model) = model() else { return };
    assert_eq!(model.card().dimension, 384);
    assert_eq!(model.card().max_tokens, 256);
    let expected = expected();
    let texts: Vec<&str> = expected.iter().map(|line| line.text.as_str()).collect();
    let together = model.passages(&texts).unwrap();
    assert_eq!(together.len(), texts.len() * 384);
    for (line, vector) in expected.iter().zip(together.chunks_exact(384)) {
        assert_eq!(
            model.tokens(&line.text),
            Some(line.tokens.len()),
            "{}",
            line.text
        );
        let similarity = cosine(&line.vector, vector);
        assert!(similarity >= 0.999, "{similarity}: {}", line.text);
        // Alone or in a batch, as passage or as query: this model makes no difference.
        let alone = model.query(&line.text).unwrap();
        assert!(cosine(&alone, vector) >= 0.99999, "{}", line.text);
    }
}

#[test]
fn odd_texts_have_clean_vectors() {
    let Some(model) = model() else { return };
    let megabyte = "lorem ipsum ".repeat(90_000);
    let texts = [
        "",
        " ",
        "\u{0}\u{fffd}",
        "\u{1f600}\u{1f469}\u{200d}\u{1f680}",
        "\u{5317}\u{4eac}",
        &"x".repeat(1 << 20),
        &megabyte,
    ];
    let vectors = model.passages(&texts).unwrap();
    for (number, vector) in vectors.chunks_exact(384).enumerate() {
        let length = vector
            .iter()
            .map(|number| number * number)
            .sum::<f32>()
            .sqrt();
        let expected = if number < 3 { 0.0 } else { 1.0 };
        assert!((length - expected).abs() < 1e-5, "{number}: {length}");
    }
}

#[test]
fn a_real_model_stays_within_what_a_model_of_a_kb_may_take() {
    let Some(model) = model() else { return };
    let card = model.card().clone();
    let files = model.files().unwrap();
    assert!(files.iter().any(|file| file.name == "model.onnx"));
    let resolver = Resolver::new(Options::default(), None);
    let unpacked = resolver.unpack(&card, files).unwrap();
    assert!(unpacked.card().is_same_model(&card));
    assert_eq!(unpacked.card().location, "");
    let long = "tide ".repeat(500);
    let texts = ["a query", long.as_str(), "another"];
    assert_eq!(
        unpacked.passages(&texts).unwrap(),
        model.passages(&texts).unwrap()
    );
}
