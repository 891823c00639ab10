//! Graphs that cost more than they look like.

use kb_types::{ModelFile, TextEmbedder};

use super::made::{Model, Node, floats, ints};
use super::{TABLE, TOKENIZER, folder, load, refusal, table};
use crate::onnx::OnnxEmbedder;

fn kept(model: &[u8]) -> Vec<ModelFile> {
    let file = |name: &str, bytes: &[u8]| ModelFile {
        name: name.to_owned(),
        bytes: bytes.to_vec(),
    };
    vec![
        file("model.onnx", model),
        file("tokenizer.json", TOKENIZER.as_bytes()),
    ]
}

fn unpack(model: &[u8]) -> Result<OnnxEmbedder, String> {
    let made = OnnxEmbedder::unpack("made", kept(model), 1);
    made.map_err(|error| error.to_string())
}

fn tokens() -> Model {
    Model::new(&["input_ids", "attention_mask"], "last_hidden_state")
        .constant("table", floats(&[8, 2], &TABLE))
        .node(Node::new("Gather", &["table", "input_ids"], "looked_up"))
}

/// Doubles a value again and again.
fn doubled(mut model: Model, first: &str, last: &str, times: usize) -> Model {
    let mut name = first.to_owned();
    for number in 0..times {
        let next = match number + 1 == times {
            true => last.to_owned(),
            false => format!("{first}{number}"),
        };
        let node = Node::new("Concat", &[&name, &name], &next).int("axis", 0);
        model = model.node(node);
        name = next;
    }
    model
}

#[test]
fn a_model_of_a_kb_is_that_of_the_folder() {
    let model = table(&TABLE, &[8, 2]).bytes();
    let on_disk = load(&model).unwrap();
    let folder = folder(&model);
    std::fs::write(folder.path().join("LICENSE"), "as you like").unwrap();
    std::fs::write(folder.path().join("config.json"), "{}").unwrap();
    let files = OnnxEmbedder::load(folder.path(), 1)
        .unwrap()
        .files()
        .unwrap();
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(
        names,
        ["model.onnx", "tokenizer.json", "config.json", "LICENSE"]
    );
    let unpacked = OnnxEmbedder::unpack("made", files, 1).unwrap();
    assert!(unpacked.card().is_same_model(on_disk.card()));
    assert_eq!(unpacked.card().name, "made");
    assert_eq!(unpacked.card().location, "");
    assert_eq!(unpacked.query("a b").unwrap(), [0.6, 0.8]);
    assert!(
        unpacked
            .files()
            .unwrap_err()
            .to_string()
            .contains("another .kb")
    );
    let mut cut = kept(&model);
    cut.pop();
    let missing = OnnxEmbedder::unpack("made", cut, 1).unwrap_err();
    assert_eq!(missing.to_string(), "tokenizer.json is missing");
}

#[test]
fn a_value_that_doubles_is_refused_wherever_the_model_is() {
    let small = doubled(tokens(), "looked_up", "unused", 3).node(Node::new(
        "Identity",
        &["looked_up"],
        "last_hidden_state",
    ));
    unpack(&small.bytes()).unwrap();
    let large = doubled(tokens(), "looked_up", "last_hidden_state", 40).bytes();
    for error in [unpack(&large).unwrap_err(), refusal(&large)] {
        assert!(error.contains("take more than a model may"), "{error}");
    }
    // Of weights alone, which the runtime would compute when it loads them.
    let weights = doubled(tokens(), "table", "weights", 40)
        .node(Node::new(
            "Gather",
            &["weights", "input_ids"],
            "last_hidden_state",
        ))
        .bytes();
    for error in [unpack(&weights).unwrap_err(), refusal(&weights)] {
        assert!(error.contains("take more than a model may"), "{error}");
    }
}

#[test]
fn products_that_take_too_long_are_refused() {
    let wide = || {
        let shape = ints(&[2], &[1 << 13, 1 << 13]);
        let ones =
            Node::new("ConstantOfShape", &["wide"], "square").tensor("value", floats(&[1], &[1.0]));
        tokens().constant("wide", shape).node(ones)
    };
    let product = wide()
        .node(Node::new("MatMul", &["square", "square"], "product"))
        .node(Node::new(
            "Gather",
            &["product", "input_ids"],
            "last_hidden_state",
        ))
        .bytes();
    let error = refusal(&product);
    assert!(error.contains("from an operator MatMul on"), "{error}");
    // Of strangers not even the square, which is 256 MiB out of two numbers.
    let error = unpack(&product).unwrap_err();
    assert!(
        error.contains("from an operator ConstantOfShape on"),
        "{error}"
    );
}

#[test]
fn a_shape_out_of_tokens_is_refused_in_a_kb() {
    let of_tokens = |model: Model| {
        model
            .node(Node::new("ConstantOfShape", &["shape"], "made"))
            .node(Node::new("Identity", &["looked_up"], "last_hidden_state"))
            .bytes()
    };
    let flat = || tokens().constant("flat", ints(&[1], &[-1]));
    let model = of_tokens(flat().node(Node::new("Reshape", &["input_ids", "flat"], "shape")));
    let error = unpack(&model).unwrap_err();
    assert!(error.contains("ConstantOfShape"), "{error}");
    // Numbers that the runtime takes for others: of more than 32 bits, and fractions.
    for (kind, number) in [("Mul", 1i64 << 16), ("Add", (1 << 31) - 1)] {
        let model = flat()
            .constant("number", ints(&[1], &[number]))
            .node(Node::new(kind, &["number", "number"], "shape"));
        assert!(unpack(&of_tokens(model)).is_err(), "{kind}");
    }
    let fractions = flat()
        .constant("half", floats(&[1], &[0.5]))
        .node(Node::new("Cast", &["half"], "shape").int("to", 7));
    assert!(unpack(&of_tokens(fractions)).is_err());
}

#[test]
fn a_graph_that_can_be_read_in_two_ways_is_refused_in_a_kb() {
    let end = |model: Model| {
        model
            .node(Node::new("Identity", &["looked_up"], "last_hidden_state"))
            .bytes()
    };
    unpack(&end(tokens())).unwrap();
    let twice = tokens().node(Node::new("Identity", &["looked_up"], "table"));
    let attributes = Node::new("Concat", &["looked_up"], "other").int("axis", 0);
    let attributes = tokens().node(attributes.int("axis", 1));
    for model in [twice, attributes] {
        let error = unpack(&end(model)).unwrap_err();
        assert!(error.contains("two ways"), "{error}");
    }
}
