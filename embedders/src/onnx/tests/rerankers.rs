//! Cross-encoders that are written here byte for byte.

use std::fs;

use kb_types::Reranker;

use super::made::{Model, Node, floats, ints};
use super::{TABLE, TOKENIZER, folder, table};
use crate::onnx::OnnxReranker;

/// Numbers of the eight tokens: only "a" counts.
const NUMBERS: [f32; 8] = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];

/// Counts the "a" of the second text: the product of the number of a token and of its kind, summed.
fn counting() -> Model {
    let inputs = ["input_ids", "attention_mask", "token_type_ids"];
    Model::new(&inputs, "logits")
        .constant("numbers", floats(&[8, 1], &NUMBERS))
        .constant("kinds", floats(&[2, 1], &[0.0, 1.0]))
        .constant("axis", ints(&[1], &[1]))
        .node(Node::new("Gather", &["numbers", "input_ids"], "of_tokens"))
        .node(Node::new(
            "Gather",
            &["kinds", "token_type_ids"],
            "of_kinds",
        ))
        .node(Node::new("Mul", &["of_tokens", "of_kinds"], "both"))
        .node(Node::new("ReduceSum", &["both", "axis"], "logits").int("keepdims", 0))
}

fn load(model: &Model) -> Result<OnnxReranker, String> {
    let loaded = OnnxReranker::load(folder(&model.bytes()).path(), 2);
    loaded.map_err(|error| error.to_string())
}

#[test]
fn a_passage_is_read_together_with_the_query() {
    let model = load(&counting()).unwrap();
    assert!(model.name().starts_with("onnx:"));
    // The two of the query are of the first text.
    let scores = model.scores("a a", &["b", "a b a", "", "a"]).unwrap();
    assert_eq!(scores, [0.0, 2.0, 0.0, 1.0]);
    let many: Vec<&str> = ["a a a", "b", "a"].into_iter().cycle().take(300).collect();
    let scores = model.scores("q", &many).unwrap();
    assert!(scores.chunks(3).all(|three| three == [3.0, 0.0, 1.0]));
    assert_eq!(model.scores("q", &[]).unwrap(), [0.0; 0]);
}

#[test]
fn a_long_query_leaves_half_of_the_tokens_to_the_passage() {
    let folder = folder(&counting().bytes());
    fs::write(
        folder.path().join("sentence_bert_config.json"),
        r#"{"max_seq_length": 12}"#,
    )
    .unwrap();
    let model = OnnxReranker::load(folder.path(), 1).unwrap();
    let long = "b ".repeat(100);
    let many = "a ".repeat(100);
    // [CLS], four of the query, [SEP], five of the passage, [SEP].
    assert_eq!(model.scores(&long, &[&many]).unwrap(), [5.0]);
    assert_eq!(model.scores("b", &[&many]).unwrap(), [8.0]);
}

#[test]
fn a_model_that_is_no_cross_encoder_is_refused() {
    let of_tokens = table(&TABLE, &[8, 2]);
    let two = counting()
        .node(Node::new("Concat", &["logits", "logits"], "pairs").int("axis", 1))
        .only_output("pairs");
    for (model, expected) in [
        (&of_tokens, "vectors of tokens"),
        (&two, "2 numbers for a text"),
    ] {
        let error = load(model).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    // A vocabulary that is larger than the table.
    let folder = folder(&counting().bytes());
    let larger = TOKENIZER.replace("\"##a\": 7", "\"##a\": 7, \"more\": 8");
    fs::write(folder.path().join("tokenizer.json"), larger).unwrap();
    assert!(OnnxReranker::load(folder.path(), 1).is_err());
}

#[test]
fn a_number_that_is_none_is_an_error() {
    let mut numbers = NUMBERS;
    numbers[5] = f32::NAN;
    let model = Model::new(&["input_ids"], "logits")
        .constant("numbers", floats(&[8, 1], &numbers))
        .constant("axis", ints(&[1], &[1]))
        .node(Node::new("Gather", &["numbers", "input_ids"], "of_tokens"))
        .node(Node::new("ReduceSum", &["of_tokens", "axis"], "logits").int("keepdims", 0));
    let model = load(&model).unwrap();
    assert_eq!(model.scores("a", &["a"]).unwrap(), [2.0]);
    let error = model.scores("a", &["a", "b"]).unwrap_err();
    assert!(error.to_string().contains("not finite"), "{error}");
}

#[test]
fn a_cross_encoder_has_the_limits_of_embedders() {
    let mut model = counting();
    let mut name = "both".to_owned();
    for number in 0..40 {
        let next = format!("doubled{number}");
        model = model.node(Node::new("Concat", &[&name, &name], &next).int("axis", 0));
        name = next;
    }
    let error = load(&model).unwrap_err();
    assert!(error.contains("take more than a model may"), "{error}");
}
