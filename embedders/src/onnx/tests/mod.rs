//! Small models, written here byte for byte.

mod budget;
mod made;
mod mutations;
mod rerankers;

use std::fs;
use std::path::Path;

use kb_types::{EmbedError, Pooling, TextEmbedder};
use tempfile::TempDir;

use self::made::{Model, Node, external, floats, ints};
use super::OnnxEmbedder;

/// Tokens have the numbers of their places.
const TOKENIZER: &str = r###"{
    "added_tokens": [],
    "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}]},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
        "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "a": 4, "b": 5, "q": 6, "##a": 7}}
}"###;

/// The vectors of the eight tokens.
const TABLE: [f32; 16] = [
    9.0, 9.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 4.0, 1.0, 0.0, 0.0, 1.0,
];

/// A model that looks tokens up in a table.
fn table(numbers: &[f32], shape: &[u64]) -> Model {
    Model::new(&["input_ids", "attention_mask"], "last_hidden_state")
        .constant("table", floats(shape, numbers))
        .node(Node::new(
            "Gather",
            &["table", "input_ids"],
            "last_hidden_state",
        ))
}

fn folder(model: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("model.onnx"), model).unwrap();
    fs::write(folder.path().join("tokenizer.json"), TOKENIZER).unwrap();
    folder
}

fn load(model: &[u8]) -> Result<OnnxEmbedder, EmbedError> {
    OnnxEmbedder::load(folder(model).path(), 2)
}

fn refusal(model: &[u8]) -> String {
    load(model).unwrap_err().to_string()
}

#[test]
fn a_text_has_the_mean_of_its_tokens() {
    let model = load(&table(&TABLE, &[8, 2]).bytes()).unwrap();
    let card = model.card();
    assert_eq!((card.source.as_str(), card.dimension), ("onnx", 2));
    assert_eq!(card.pooling, Pooling::Mean);
    assert!(card.normalised && card.weights.is_some());
    assert_eq!(model.query("a b").unwrap(), [0.6, 0.8]);
    assert_eq!(model.query("a").unwrap(), [1.0, 0.0]);
    assert_eq!(model.tokens("a b"), 4);
}

#[test]
fn a_batch_gives_each_text_its_own_vector() {
    let model = load(&table(&TABLE, &[8, 2]).bytes()).unwrap();
    let long = "b ".repeat(3000);
    let mut texts = vec!["a", "", "b", " \u{200b}", "a b", &long];
    texts.extend(["a"; 200]);
    let vectors = model.passages(&texts).unwrap();
    let vectors: Vec<&[f32]> = vectors.chunks_exact(2).collect();
    // Texts without a token have zeros.
    let first: [&[f32]; 6] = [
        &[1.0, 0.0],
        &[0.0, 0.0],
        &[0.0, 1.0],
        &[0.0, 0.0],
        &[0.6, 0.8],
        &[0.0, 1.0],
    ];
    assert_eq!(vectors[..6], first);
    assert!(vectors[6..].iter().all(|vector| *vector == [1.0, 0.0]));
    assert_eq!(vectors.len(), 206);
    assert_eq!(model.passages(&[]).unwrap(), [0.0; 0]);
}

#[test]
fn the_settings_of_the_folder_count() {
    let folder = folder(&table(&TABLE, &[8, 2]).bytes());
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(
        "1_Pooling/config.json",
        r#"{"pooling_mode_lasttoken": true}"#,
    );
    write("sentence_bert_config.json", r#"{"max_seq_length": 5}"#);
    write(
        "config_sentence_transformers.json",
        r#"{"prompts": {"query": "q "}}"#,
    );
    let model = OnnxEmbedder::load(folder.path(), 1).unwrap();
    assert_eq!(model.card().pooling, Pooling::LastToken);
    assert_eq!(model.card().max_tokens, 5);
    assert_eq!(model.card().query_prefix, "q ");
    // The last token is [SEP], whose vector is zeros.
    assert_eq!(model.query("a").unwrap(), [0.0, 0.0]);
    write(
        "1_Pooling/config.json",
        r#"{"pooling_mode_mean_tokens": true}"#,
    );
    let model = OnnxEmbedder::load(folder.path(), 1).unwrap();
    let query = model.query("a").unwrap();
    assert_eq!(query, [1.0, 0.0]);
    // A query of nothing but the prefix has no token of its own.
    assert_eq!(model.query(" ").unwrap(), [0.0, 0.0]);
    // Three tokens of the text are left beside [CLS] and [SEP]: the b is cut off.
    assert_eq!(model.passages(&["a a a b"]).unwrap(), [1.0, 0.0]);
    // A step behind the pooling that this graph does not have.
    write(
        "modules.json",
        r#"[{"type": "sentence_transformers.models.Dense"}]"#,
    );
    let error = OnnxEmbedder::load(folder.path(), 1)
        .unwrap_err()
        .to_string();
    assert!(error.contains("Dense"), "{error}");
}

#[test]
fn graphs_lie_where_hubs_keep_them() {
    let model = table(&TABLE, &[8, 2]).bytes();
    let folder = folder(&model);
    let below = folder.path().join("onnx");
    fs::create_dir(&below).unwrap();
    fs::rename(folder.path().join("model.onnx"), below.join("model.onnx")).unwrap();
    for path in [folder.path().to_owned(), below.join("model.onnx")] {
        assert_eq!(
            OnnxEmbedder::load(&path, 1).unwrap().query("a").unwrap(),
            [1.0, 0.0]
        );
    }
    fs::remove_file(below.join("model.onnx")).unwrap();
    let error = OnnxEmbedder::load(folder.path(), 1).unwrap_err();
    assert!(
        matches!(&error, EmbedError::Missing { what } if what.contains("model.onnx")),
        "{error}"
    );
    fs::write(below.join("model.onnx"), &model).unwrap();
    fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    let error = OnnxEmbedder::load(folder.path(), 1).unwrap_err();
    assert!(
        matches!(&error, EmbedError::Missing { what } if what.contains("tokenizer.json")),
        "{error}"
    );
    let error = OnnxEmbedder::load(Path::new("no/such/folder"), 1).unwrap_err();
    assert!(matches!(error, EmbedError::Missing { .. }));
}

#[test]
fn a_model_that_pools_itself_is_taken_at_its_word() {
    let model = table(&TABLE, &[8, 2])
        .constant("axis", ints(&[1], &[1]))
        .node(
            Node::new(
                "ReduceMax",
                &["last_hidden_state", "axis"],
                "sentence_embedding",
            )
            .int("keepdims", 0),
        )
        .output("sentence_embedding");
    let model = load(&model.bytes()).unwrap();
    assert_eq!(model.card().pooling, Pooling::Given);
    assert_eq!(model.query("a b").unwrap(), [0.6, 0.8]);
}

#[test]
fn weights_may_lie_beside_the_graph_and_nowhere_else() {
    let bytes: Vec<u8> = TABLE
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let model = |file: &str| {
        Model::new(&["input_ids"], "last_hidden_state")
            .constant("table", external(&[8, 2], file, bytes.len()))
            .node(Node::new(
                "Gather",
                &["table", "input_ids"],
                "last_hidden_state",
            ))
            .bytes()
    };
    let beside = folder(&model("model.onnx_data"));
    let missing = OnnxEmbedder::load(beside.path(), 1).unwrap_err();
    assert!(matches!(&missing, EmbedError::Missing { what } if what.contains("model.onnx_data")));
    fs::write(beside.path().join("model.onnx_data"), &bytes).unwrap();
    let loaded = OnnxEmbedder::load(beside.path(), 1).unwrap();
    assert_eq!(loaded.query("a b").unwrap(), [0.6, 0.8]);
    fs::write(beside.path().join("model.onnx_data"), &bytes[..60]).unwrap();
    OnnxEmbedder::load(beside.path(), 1).unwrap_err();
    for elsewhere in ["../secret", "/etc/passwd", "c:data", "a\\b", "", ".hidden"] {
        let refusal = refusal(&model(elsewhere));
        assert!(refusal.contains("not a file beside it"), "{refusal}");
    }
}

#[test]
fn the_same_files_have_the_same_hash() {
    let hash = |table: &Model| load(&table.bytes()).unwrap().card().weights;
    let mut other = TABLE;
    other[15] = 2.0;
    assert_eq!(hash(&table(&TABLE, &[8, 2])), hash(&table(&TABLE, &[8, 2])));
    assert_ne!(hash(&table(&TABLE, &[8, 2])), hash(&table(&other, &[8, 2])));
}

#[test]
fn a_model_that_does_not_fit_its_tokenizer_is_refused_when_it_is_loaded() {
    // Rows for four of the eight tokens.
    let refusal = refusal(&table(&TABLE[..8], &[4, 2]).bytes());
    assert!(refusal.contains("model.onnx"), "{refusal}");
}

#[test]
fn numbers_that_are_none_never_leave_the_model() {
    let mut numbers = TABLE;
    numbers[8] = f32::NAN;
    let model = load(&table(&numbers, &[8, 2]).bytes()).unwrap();
    assert_eq!(model.query("b").unwrap(), [0.0, 1.0]);
    assert_eq!(model.query("a"), Err(EmbedError::NotFinite));
    numbers[8] = f32::INFINITY;
    let model = load(&table(&numbers, &[8, 2]).bytes()).unwrap();
    assert_eq!(model.passages(&["b", "a"]), Err(EmbedError::NotFinite));
}

#[test]
fn hostile_graphs_are_refused_before_they_are_built() {
    let hidden = Model::new(&["input_ids"], "last_hidden_state");
    for (expected, model) in [
        (
            "operator Loop",
            table(&TABLE, &[8, 2])
                .node(Node::new("Loop", &["a"], "b"))
                .bytes(),
        ),
        (
            "operator evil.Gather",
            table(&TABLE, &[8, 2])
                .node(Node::new("Gather", &["a"], "b").domain("evil"))
                .bytes(),
        ),
        (
            "graphs in its operators",
            table(&TABLE, &[8, 2])
                .node(Node::new("Add", &["a"], "b").graph("then_branch"))
                .bytes(),
        ),
        (
            "numbers",
            hidden
                .clone()
                .constant("huge", floats(&[1 << 40, 1 << 40], &[]))
                .bytes(),
        ),
        (
            "numbers",
            hidden
                .clone()
                .constant("huge", floats(&[1 << 31], &[]))
                .bytes(),
        ),
        (
            "dimensions",
            hidden
                .clone()
                .constant("deep", floats(&[1; 40], &[1.0]))
                .bytes(),
        ),
        (
            "an input \"pixel_values\"",
            Model::new(&["input_ids", "pixel_values"], "x")
                .node(Node::new("Cast", &["input_ids"], "x").int("to", 1))
                .bytes(),
        ),
        (
            "no input input_ids",
            Model::new(&["attention_mask"], "x")
                .node(Node::new("Cast", &["attention_mask"], "x").int("to", 1))
                .bytes(),
        ),
        ("no graph", Vec::new()),
        ("no ONNX file", b"\x3a\xff\xff\xff\xff\x0f".to_vec()),
        ("two graphs", b"\x3a\x00\x3a\x00".to_vec()),
        ("functions", b"\x3a\x00\xca\x01\x00".to_vec()),
    ] {
        let refusal = refusal(&model);
        assert!(refusal.contains(expected), "{expected}: {refusal}");
    }
}

#[test]
fn values_that_are_larger_than_memory_are_never_made() {
    let huge = [1i64 << 20, 1 << 20];
    for kind in ["ConstantOfShape", "Expand", "Tile", "Pad", "Range"] {
        let grown = table(&TABLE, &[8, 2])
            .constant("huge", ints(&[2], &huge))
            .node(Node::new(kind, &["huge"], "grown"));
        let refusal = refusal(&grown.bytes());
        assert!(
            refusal.contains(kind) && refusal.contains("numbers"),
            "{refusal}"
        );
    }
    // The same by an operator `Constant`, in its two forms.
    let value = [
        Node::new("Constant", &[], "huge"),
        Node::new("Constant", &[], "huge"),
    ];
    let [tensor, list] = value;
    for constant in [
        tensor.tensor("value", ints(&[2], &huge)),
        list.ints("value_ints", &[1 << 20, 1 << 20]),
    ] {
        let grown = table(&TABLE, &[8, 2]).node(constant).node(Node::new(
            "ConstantOfShape",
            &["huge"],
            "grown",
        ));
        let refusal = refusal(&grown.bytes());
        assert!(refusal.contains("ConstantOfShape"), "{refusal}");
    }
    // As many numbers as attention has, and a list that only others use.
    let usual = table(&TABLE, &[8, 2])
        .constant("usual", ints(&[2], &[4, 2]))
        .constant("end", ints(&[1], &[i64::MAX]))
        .node(Node::new("ConstantOfShape", &["usual"], "grown"));
    load(&usual.bytes()).unwrap();
}

#[test]
fn a_graph_that_is_cut_off_anywhere_is_an_error() {
    let whole = table(&TABLE, &[8, 2]).bytes();
    for end in 0..whole.len() {
        load(&whole[..end]).unwrap_err();
    }
}

#[test]
fn a_byte_that_changed_gives_an_error_or_clean_vectors() {
    let whole = table(&TABLE, &[8, 2]).bytes();
    let mut random = 7u64;
    for _ in 0..400 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let mut bytes = whole.clone();
        let place = (random >> 33) as usize % bytes.len();
        bytes[place] ^= 1 << (random >> 13 & 7);
        if let Ok(model) = load(&bytes)
            && let Ok(vector) = model.query("a b")
        {
            assert!(vector.iter().all(|number| number.is_finite()));
        }
    }
}

#[test]
fn shapes_that_the_model_makes_up_are_errors() {
    // One text becomes a single row of numbers without a dimension for texts.
    let model = Model::new(&["input_ids"], "last_hidden_state")
        .constant("table", floats(&[8], &[1.0; 8]))
        .node(Node::new("Gather", &["table", "input_ids"], "x"))
        .node(Node::new("ReduceSum", &["x"], "last_hidden_state").int("keepdims", 0));
    let refusal = refusal(&model.bytes());
    assert!(refusal.contains("dimensions"), "{refusal}");
}

#[test]
fn texts_of_a_model_that_rounds_activations_do_not_depend_on_each_other() {
    let model = table(&TABLE, &[8, 2])
        .node(
            Node::new("DynamicQuantizeLinear", &["last_hidden_state"], "rounded")
                .also("scale")
                .also("zero"),
        )
        .node(Node::new(
            "DequantizeLinear",
            &["rounded", "scale", "zero"],
            "sentence",
        ))
        .only_output("sentence");
    let model = load(&model.bytes()).unwrap();
    let alone = model.passages(&["a b"]).unwrap();
    let together = model.passages(&["a b", "[UNK] q q q q q q", "a"]).unwrap();
    assert_eq!(alone, together[..2]);
}
