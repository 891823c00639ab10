//! Writes ONNX files: as much of Protocol Buffers as a small model needs.

/// A model that grows.
#[derive(Clone)]
pub(super) struct Model {
    graph: Vec<u8>,
    outputs: Vec<String>,
}

/// An operator.
pub(super) struct Node(Vec<u8>);

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn number(field: u64, number: u64) -> Vec<u8> {
    [varint(field << 3), varint(number)].concat()
}

fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
    [
        varint(field << 3 | 2),
        varint(content.len() as u64),
        content.to_vec(),
    ]
    .concat()
}

fn text(field: u64, content: &str) -> Vec<u8> {
    bytes(field, content.as_bytes())
}

/// A value of 64-bit integers (7) or 32-bit floating point numbers (1), without a shape.
fn value(name: &str, kind: u64) -> Vec<u8> {
    [text(1, name), bytes(2, &bytes(1, &number(1, kind)))].concat()
}

fn tensor(shape: &[u64], kind: u64, raw: &[u8]) -> Vec<u8> {
    let dims: Vec<u8> = shape.iter().flat_map(|dim| number(1, *dim)).collect();
    [dims, number(2, kind), bytes(9, raw)].concat()
}

/// A constant of 32-bit floating point numbers.
pub(super) fn floats(shape: &[u64], numbers: &[f32]) -> Vec<u8> {
    let raw: Vec<u8> = numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    tensor(shape, 1, &raw)
}

/// A constant of 64-bit integers.
pub(super) fn ints(shape: &[u64], numbers: &[i64]) -> Vec<u8> {
    let raw: Vec<u8> = numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    tensor(shape, 7, &raw)
}

/// A constant of 32-bit floating point numbers in another file.
pub(super) fn external(shape: &[u64], file: &str, len_bytes: usize) -> Vec<u8> {
    let entry = |key: &str, value: &str| bytes(13, &[text(1, key), text(2, value)].concat());
    let dims: Vec<u8> = shape.iter().flat_map(|dim| number(1, *dim)).collect();
    [
        dims,
        number(2, 1),
        entry("location", file),
        entry("offset", "0"),
        entry("length", &len_bytes.to_string()),
        number(14, 1),
    ]
    .concat()
}

impl Model {
    pub(super) fn new(inputs: &[&str], output: &str) -> Model {
        let mut graph = text(2, "made");
        for name in inputs {
            graph.extend(bytes(11, &value(name, 7)));
        }
        Model {
            graph,
            outputs: vec![output.to_owned()],
        }
    }

    pub(super) fn node(mut self, node: Node) -> Model {
        self.graph.extend(bytes(1, &node.0));
        self
    }

    pub(super) fn constant(mut self, name: &str, tensor: Vec<u8>) -> Model {
        self.graph
            .extend(bytes(5, &[tensor, text(8, name)].concat()));
        self
    }

    pub(super) fn output(mut self, name: &str) -> Model {
        self.outputs.push(name.to_owned());
        self
    }

    pub(super) fn only_output(mut self, name: &str) -> Model {
        self.outputs = vec![name.to_owned()];
        self
    }

    /// The file.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut graph = self.graph.clone();
        for name in &self.outputs {
            graph.extend(bytes(12, &value(name, 1)));
        }
        // The graph stands last: a file that is cut off has no whole one.
        [number(1, 8), bytes(8, &number(2, 17)), bytes(7, &graph)].concat()
    }
}

impl Node {
    pub(super) fn new(kind: &str, inputs: &[&str], output: &str) -> Node {
        let inputs: Vec<u8> = inputs.iter().flat_map(|name| text(1, name)).collect();
        Node([inputs, text(2, output), text(4, kind)].concat())
    }

    /// One more output.
    pub(super) fn also(mut self, output: &str) -> Node {
        self.0.extend(text(2, output));
        self
    }

    pub(super) fn domain(mut self, domain: &str) -> Node {
        self.0.extend(text(7, domain));
        self
    }

    pub(super) fn int(mut self, name: &str, value: u64) -> Node {
        self.0.extend(bytes(
            5,
            &[text(1, name), number(3, value), number(20, 2)].concat(),
        ));
        self
    }

    pub(super) fn tensor(mut self, name: &str, tensor: Vec<u8>) -> Node {
        let attribute = [text(1, name), bytes(5, &tensor), number(20, 4)].concat();
        self.0.extend(bytes(5, &attribute));
        self
    }

    pub(super) fn ints(mut self, name: &str, values: &[u64]) -> Node {
        let packed: Vec<u8> = values.iter().flat_map(|value| varint(*value)).collect();
        let attribute = [text(1, name), bytes(8, &packed), number(20, 7)].concat();
        self.0.extend(bytes(5, &attribute));
        self
    }

    pub(super) fn graph(mut self, name: &str) -> Node {
        self.0.extend(bytes(
            5,
            &[text(1, name), bytes(6, &[]), number(20, 5)].concat(),
        ));
        self
    }
}
