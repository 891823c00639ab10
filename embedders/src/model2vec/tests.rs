use std::fs;

use super::*;

/// Tokens have the numbers of their places.
const TOKENIZER: &str = r###"{
    "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "vocab": {"[UNK]": 0, "a": 1, "b": 2}}
}"###;

/// Vectors of the three tokens.
const TABLE: [f32; 6] = [9.0, 9.0, 3.0, 0.0, 0.0, 4.0];

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

/// A model with these tensors: name, kind, shape, bytes.
fn load(tensors: &[(&str, &str, &[usize], Vec<u8>)]) -> Result<Model2VecEmbedder, EmbedError> {
    let mut header = serde_json::Map::new();
    let mut numbers = Vec::new();
    for (name, kind, shape, bytes) in tensors {
        let end = numbers.len() + bytes.len();
        header.insert(
            (*name).to_owned(),
            serde_json::json!({"dtype": kind, "shape": shape, "data_offsets": [numbers.len(), end]}),
        );
        numbers.extend(bytes);
    }
    let header = serde_json::to_vec(&header).unwrap();
    let file = [&(header.len() as u64).to_le_bytes()[..], &header, &numbers].concat();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("model.safetensors"), file).unwrap();
    fs::write(folder.path().join("tokenizer.json"), TOKENIZER).unwrap();
    Model2VecEmbedder::load(folder.path())
}

#[test]
fn a_text_has_the_mean_of_its_known_words() {
    let model = load(&[("embeddings", "F32", &[3, 2], bytes(&TABLE))]).unwrap();
    let vectors = model.passages(&["a b", "xyz a", "xyz", "", "A"]).unwrap();
    assert_eq!(vectors, [0.6, 0.8, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(model.query("b").unwrap(), [0.0, 1.0]);
    assert_eq!((model.card().dimension, model.card().max_tokens), (2, 512));
    assert_eq!(model.tokens("a xyz b"), 2);
}

#[test]
fn rows_may_be_shared_and_weighted() {
    let places: Vec<u8> = [0i64, 0, 1]
        .iter()
        .flat_map(|place| place.to_le_bytes())
        .collect();
    let model = load(&[
        ("embeddings", "F32", &[2, 2], bytes(&TABLE[2..])),
        ("mapping", "I64", &[3], places),
        ("weights", "F32", &[3], bytes(&[1.0, 4.0, 4.0])),
    ])
    .unwrap();
    assert_eq!(model.query("a b").unwrap(), [0.6, 0.8]);
}

#[test]
fn tables_that_do_not_fit_are_refused() {
    let negative: Vec<u8> = [0i64, -1, 1]
        .iter()
        .flat_map(|place| place.to_le_bytes())
        .collect();
    let far: Vec<u8> = [0i64, 3, 1]
        .iter()
        .flat_map(|place| place.to_le_bytes())
        .collect();
    let table = || ("embeddings", "F32", &[3, 2][..], bytes(&TABLE));
    for (expected, tensors) in [
        (
            "3 tokens, and the model 2",
            vec![("embeddings", "F32", &[2, 2][..], bytes(&TABLE[..4]))],
        ),
        (
            "no table",
            vec![("embeddings", "F32", &[6][..], bytes(&TABLE))],
        ),
        (
            "0 dimensions",
            vec![("embeddings", "F32", &[3, 0][..], vec![])],
        ),
        ("no tensor", vec![("other", "F32", &[6][..], bytes(&TABLE))]),
        (
            "PyTorch",
            vec![("encoder.attention.key", "F32", &[6][..], bytes(&TABLE))],
        ),
        (
            "other numbers than rows",
            vec![table(), ("mapping", "I64", &[3][..], negative)],
        ),
        (
            "rows that are not there",
            vec![table(), ("mapping", "I64", &[3][..], far)],
        ),
        (
            "and the model 1",
            vec![table(), ("weights", "F32", &[1][..], bytes(&[1.0]))],
        ),
    ] {
        let error = load(&tensors).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn numbers_that_are_none_never_leave_the_model() {
    let mut table = TABLE;
    table[2] = f32::NAN;
    let model = load(&[("embeddings", "F32", &[3, 2], bytes(&table))]).unwrap();
    assert_eq!(model.query("b").unwrap(), [0.0, 1.0]);
    assert_eq!(model.query("a"), Err(EmbedError::NotFinite));
}
