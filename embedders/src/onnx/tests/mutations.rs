//! Graphs and tokenizers that are changed by their structure: fields are dropped, doubled, exchanged and given other
//! values. What comes of it is an error or clean numbers, in bounded time and memory.
//!
//! Every test run makes a few rounds; `cargo xtask trials models` makes many (`KB_TRIAL_ROUNDS`, `KB_TRIAL_SEED`).

use std::time::{Duration, Instant};

use kb_types::{ModelFile, Reranker, TextEmbedder};
use serde_json::Value;

use super::made::{Model, Node, external, floats, ints};
use super::{TABLE, TOKENIZER, table};
use crate::onnx::{OnnxEmbedder, OnnxReranker};

/// Longest time of one model, with what it embeds. A model may take 2^33 steps for a batch.
const MOST_TIME: Duration = Duration::from_secs(60);

/// Most bytes of memory of the process; what a model may take is in `budget`.
const MOST_BYTES: u64 = 4 << 30;

/// Numbers that mean something else than the one that is there.
const NUMBERS: [u64; 16] = [
    0,
    1,
    2,
    3,
    7,
    8,
    255,
    1 << 16,
    (1 << 31) - 1,
    1 << 31,
    1 << 32,
    1 << 40,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

/// Texts in the place of others: operators, names of values and of files.
const TEXTS: [&str; 34] = [
    "",
    "input_ids",
    "attention_mask",
    "token_type_ids",
    "last_hidden_state",
    "sentence_embedding",
    "table",
    "shape",
    "axis",
    "Add",
    "Cast",
    "Concat",
    "Constant",
    "ConstantOfShape",
    "Div",
    "DynamicQuantizeLinear",
    "Einsum",
    "Expand",
    "Flatten",
    "Gather",
    "Gemm",
    "If",
    "LayerNormalization",
    "Loop",
    "MatMul",
    "Mul",
    "Pad",
    "Range",
    "Reshape",
    "Slice",
    "Tile",
    "Transpose",
    "../secret",
    "/dev/zero",
];

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    fn one_of<T: Copy>(&mut self, these: &[T]) -> T {
        these[self.below(these.len())]
    }
}

/// A field of Protocol Buffers.
#[derive(Clone)]
struct Field {
    number: u64,
    content: Content,
}

#[derive(Clone)]
enum Content {
    Number(u64),
    Bytes(Vec<u8>),
    Message(Vec<Field>),
    /// Four or eight bytes.
    Fixed(u64, Vec<u8>),
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The fields of a message; `None` if the bytes are none.
fn fields(mut bytes: &[u8], depth: usize) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let content = match key & 7 {
            0 => Content::Number(varint(&mut bytes)?),
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                let (inner, rest) = bytes.split_at_checked(length)?;
                bytes = rest;
                // A name is a message only by chance.
                let is_text = inner.iter().all(|byte| byte.is_ascii_graphic());
                match fields_of_message(inner, depth).filter(|_| !is_text) {
                    Some(inner) => Content::Message(inner),
                    None => Content::Bytes(inner.to_vec()),
                }
            }
            kind @ (1 | 5) => {
                let (inner, rest) = bytes.split_at_checked(if kind == 1 { 8 } else { 4 })?;
                bytes = rest;
                Content::Fixed(kind, inner.to_vec())
            }
            _ => return None,
        };
        let number = key >> 3;
        fields.push(Field { number, content });
    }
    Some(fields)
}

fn fields_of_message(bytes: &[u8], depth: usize) -> Option<Vec<Field>> {
    let inner = depth.checked_sub(1)?;
    let fields = fields(bytes, inner)?;
    // Numbers of a tensor are a message only by chance, and would be written in another way.
    (!fields.is_empty() && write(&fields) == bytes).then_some(fields)
}

fn write(fields: &[Field]) -> Vec<u8> {
    let mut out = Vec::new();
    for field in fields {
        let key = field.number << 3;
        match &field.content {
            Content::Number(number) => {
                put_varint(&mut out, key);
                put_varint(&mut out, *number);
            }
            Content::Bytes(bytes) => {
                put_varint(&mut out, key | 2);
                put_varint(&mut out, bytes.len() as u64);
                out.extend(bytes);
            }
            Content::Message(inner) => {
                let bytes = write(inner);
                put_varint(&mut out, key | 2);
                put_varint(&mut out, bytes.len() as u64);
                out.extend(bytes);
            }
            Content::Fixed(kind, bytes) => {
                put_varint(&mut out, key | kind);
                out.extend(bytes);
            }
        }
    }
    out
}

/// Changes one field somewhere.
fn change(fields: &mut Vec<Field>, random: &mut Random) {
    if fields.is_empty() {
        return;
    }
    let place = random.below(fields.len());
    // Deeper, mostly: most of a graph is in its nodes.
    if random.below(8) > 0
        && let Content::Message(inner) = &mut fields[place].content
    {
        return change(inner, random);
    }
    match random.below(6) {
        0 => {
            fields.remove(place);
        }
        1 => {
            let twice = fields[place].clone();
            fields.push(twice);
        }
        2 => {
            let other = random.below(fields.len());
            fields.swap(place, other);
        }
        3 => {
            fields[place].number = random.one_of(&[1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 14, 20, 25])
        }
        4 => {
            let number = fields[place].number;
            let content = Content::Bytes(random.one_of(&TEXTS).as_bytes().to_vec());
            fields.push(Field { number, content });
        }
        _ => changed(&mut fields[place].content, random),
    }
}

fn changed(content: &mut Content, random: &mut Random) {
    match content {
        Content::Number(number) => *number = random.one_of(&NUMBERS),
        Content::Bytes(bytes) => match random.below(4) {
            0 => *bytes = random.one_of(&TEXTS).as_bytes().to_vec(),
            1 => bytes.truncate(random.below(bytes.len() + 1)),
            2 => {
                let number = random.one_of(&NUMBERS).to_le_bytes();
                let start = random.below(bytes.len());
                for (byte, new) in bytes.iter_mut().skip(start).zip(number) {
                    *byte = new;
                }
            }
            _ => {
                let number = random.one_of(&[f32::NAN, f32::INFINITY, -1e38, 0.0]);
                let start = random.below(bytes.len()) / 4 * 4;
                for (byte, new) in bytes.iter_mut().skip(start).zip(number.to_le_bytes()) {
                    *byte = new;
                }
            }
        },
        Content::Message(inner) => change(inner, random),
        Content::Fixed(_, bytes) => bytes.fill(random.below(256) as u8),
    }
}

/// Changes one value of a tokenizer.
fn change_json(value: &mut Value, random: &mut Random) {
    match value {
        Value::Object(map) if !map.is_empty() && random.below(8) > 0 => {
            let key = map.keys().nth(random.below(map.len())).unwrap().clone();
            match random.below(4) {
                0 => {
                    map.remove(&key);
                }
                1 => {
                    let other = map[&key].clone();
                    map.insert(random.one_of(&TEXTS).to_owned(), other);
                }
                _ => change_json(&mut map[&key], random),
            }
        }
        Value::Array(list) if !list.is_empty() && random.below(8) > 0 => {
            let place = random.below(list.len());
            match random.below(4) {
                0 => {
                    list.remove(place);
                }
                1 => list.extend(std::iter::repeat_n(list[place].clone(), 20)),
                _ => change_json(&mut list[place], random),
            }
        }
        value => {
            *value = match random.below(7) {
                0 => Value::Null,
                1 => random.one_of(&NUMBERS).into(),
                2 => random.one_of(&TEXTS).into(),
                3 => Value::Bool(random.below(2) == 0),
                4 => Value::Array(vec![1.into(), "a".into()]),
                5 => "a".repeat(random.below(3000)).into(),
                _ => serde_json::json!({"type": "BertNormalizer", "[CLS]": 1}),
            }
        }
    }
}

/// Graphs with the operators that shapes are made with.
fn seeds() -> Vec<Model> {
    let tokens = || table(&TABLE, &[8, 2]);
    let pooled = tokens()
        .constant("axis", ints(&[1], &[1]))
        .node(Node::new("ReduceMean", &["last_hidden_state", "axis"], "mean").int("keepdims", 0))
        .constant("square", floats(&[2, 2], &[1.0, 2.0, 3.0, 4.0]))
        .node(Node::new(
            "MatMul",
            &["mean", "square"],
            "sentence_embedding",
        ))
        .output("sentence_embedding");
    let shaped = tokens()
        .node(Node::new("Shape", &["input_ids"], "shape"))
        .constant("two", ints(&[1], &[2]))
        .node(Node::new("Concat", &["shape", "two"], "wanted").int("axis", 0))
        .node(Node::new(
            "Reshape",
            &["last_hidden_state", "wanted"],
            "again",
        ))
        .node(Node::new("Expand", &["again", "wanted"], "expanded"))
        .node(Node::new("Identity", &["expanded"], "turned"))
        .only_output("turned");
    let made = tokens()
        .node(Node::new("Shape", &["last_hidden_state"], "shape"))
        .node(
            Node::new("ConstantOfShape", &["shape"], "ones").tensor("value", floats(&[1], &[1.0])),
        )
        .constant("times", ints(&[3], &[1, 1, 1]))
        .node(Node::new("Tile", &["ones", "times"], "tiled"))
        .constant("zero", ints(&[1], &[0]))
        .constant("end", ints(&[1], &[1 << 40]))
        .constant("last", ints(&[1], &[2]))
        .node(Node::new("Slice", &["tiled", "zero", "end", "last"], "cut"))
        .node(Node::new("Add", &["last_hidden_state", "cut"], "sum"))
        .only_output("sum");
    let rounded = tokens()
        .node(
            Node::new("DynamicQuantizeLinear", &["last_hidden_state"], "q")
                .also("s")
                .also("z"),
        )
        .node(Node::new("DequantizeLinear", &["q", "s", "z"], "back"))
        .only_output("back");
    let elsewhere = Model::new(&["input_ids"], "last_hidden_state")
        .constant("table", external(&[8, 2], "model.onnx_data", 64))
        .node(Node::new(
            "Gather",
            &["table", "input_ids"],
            "last_hidden_state",
        ));
    vec![tokens(), pooled, shaped, made, rounded, elsewhere]
}

fn number_from(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |text| text.parse().unwrap())
}

/// Most memory that the process had, where the system says it.
fn most_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes << 10)
}

/// The files of a model.
fn files(graph: &[u8], tokenizer: &str) -> Vec<ModelFile> {
    let file = |name: &str, bytes: &[u8]| ModelFile {
        name: name.to_owned(),
        bytes: bytes.to_vec(),
    };
    vec![
        file("model.onnx", graph),
        file("model.onnx_data", &[7; 64]),
        file("tokenizer.json", tokenizer.as_bytes()),
    ]
}

/// Embeds some texts, if the model can be read at all. Returns whether it gave vectors.
fn embeds(graph: &[u8], tokenizer: &str, seed: u64) -> bool {
    let begun = Instant::now();
    let long = "a b q ".repeat(2000);
    let texts = ["a b", "", "\u{1f600} \u{5317}", "[CLS] [SEP]", &long];
    let mut has_vectors = false;
    if let Ok(model) = OnnxEmbedder::unpack("changed", files(graph, tokenizer), 1) {
        let dimension = model.card().dimension as usize;
        if let Ok(vectors) = model.passages(&texts) {
            assert_eq!(vectors.len(), texts.len() * dimension, "seed {seed}");
            assert!(
                vectors.iter().all(|number| number.is_finite()),
                "seed {seed}"
            );
            has_vectors = true;
        }
        if let Ok(vector) = model.query("a") {
            assert!(
                vector.iter().all(|number| number.is_finite()),
                "seed {seed}"
            );
        }
    }
    let took = begun.elapsed();
    assert!(took < MOST_TIME, "seed {seed}: {took:?}");
    has_vectors
}

/// The same as a cross-encoder in a folder.
fn reranks(graph: &[u8], tokenizer: &str, seed: u64) {
    let folder = super::folder(graph);
    std::fs::write(folder.path().join("tokenizer.json"), tokenizer).unwrap();
    if let Ok(model) = OnnxReranker::load(folder.path(), 1)
        && let Ok(scores) = model.scores("a b", &["a", "", "q q"])
    {
        assert_eq!(scores.len(), 3, "seed {seed}");
        assert!(scores.iter().all(|score| score.is_finite()), "seed {seed}");
    }
}

#[test]
fn a_model_that_was_changed_anywhere_gives_clean_vectors_or_an_error() {
    let graphs: Vec<Vec<Field>> = seeds()
        .iter()
        .map(|model| fields(&model.bytes(), 8).unwrap())
        .collect();
    for (number, graph) in graphs.iter().enumerate() {
        // What is changed below is a whole model before.
        let files = files(&write(graph), TOKENIZER);
        let whole = OnnxEmbedder::unpack("whole", files, 1);
        assert!(whole.is_ok(), "seed graph {number}: {:?}", whole.err());
    }
    let first = number_from("KB_TRIAL_SEED", 1);
    let (mut whole, rounds) = (0, number_from("KB_TRIAL_ROUNDS", 400));
    for seed in first..first + rounds {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut graph = graphs[random.below(graphs.len())].clone();
        let mut tokenizer: Value = serde_json::from_str(TOKENIZER).unwrap();
        for _ in 0..=random.below(3) {
            match random.below(5) {
                0 => change_json(&mut tokenizer, &mut random),
                _ => change(&mut graph, &mut random),
            }
        }
        let (graph, tokenizer) = (write(&graph), tokenizer.to_string());
        whole += u64::from(embeds(&graph, &tokenizer, seed));
        if seed % 8 == 0 {
            reranks(&graph, &tokenizer, seed);
        }
    }
    println!(
        "models: {whole} of {rounds} gave vectors, memory at most {:?} MB",
        most_bytes().map(|bytes| bytes >> 20)
    );
    // Many of them are still models: only then what runs them is tried.
    assert!(whole > rounds / 10 && whole < rounds, "{whole} of {rounds}");
    assert!(most_bytes().is_none_or(|bytes| bytes < MOST_BYTES));
}
