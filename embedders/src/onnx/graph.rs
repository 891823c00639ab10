//! The graph of an ONNX file, read without its weights to find what must not reach the runtime: operators that are not
//! known here, graphs inside graphs, weights that are larger than memory or lie in files elsewhere, and values of more
//! numbers than any text needs.

use std::collections::HashMap;

use super::operators;
use super::protobuf::{Field, Fields, packed};

/// Most operators. A model of 24 layers has 3,000.
const OPERATOR_LIMIT: usize = 50_000;
/// Most constants, with those in attributes of operators.
const CONSTANT_LIMIT: usize = 200_000;
/// Most numbers in all constants. The runtime holds each in four bytes.
const NUMBER_LIMIT: u64 = 1 << 30;
/// Most dimensions of a constant.
const RANK_LIMIT: usize = 16;

/// Most numbers of a value whose shape a constant states. Attention over 8,192 tokens has 2^26.
const VALUE_LIMIT: u64 = 1 << 28;
/// Operators that make a value as large as a constant says, without data of that size.
const GROWING: [&str; 5] = ["ConstantOfShape", "Expand", "Pad", "Range", "Tile"];
/// Integers of a constant that can be a shape.
const SHAPE_NUMBERS: usize = 2 * RANK_LIMIT;

/// What a file says of its graph.
#[derive(Debug, Default)]
pub(super) struct Graph<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) constants: Vec<Constant<'a>>,
    /// Names of the values that must be given, and of constants in old files.
    pub(super) inputs: Vec<&'a str>,
    pub(super) outputs: Vec<&'a str>,
    /// Names of files with weights beside this one.
    pub(super) weight_files: Vec<&'a str>,
}

/// An operator of a graph.
#[derive(Debug, Default)]
pub(super) struct Node<'a> {
    pub(super) kind: &'a str,
    domain: &'a str,
    pub(super) inputs: Vec<&'a str>,
    pub(super) outputs: Vec<&'a str>,
    /// Attributes that are integers, by their names.
    pub(super) attributes: Vec<(&'a str, Vec<i64>)>,
    /// Integers of a tensor in an attribute; `None` without any tensor.
    pub(super) tensor: Option<Vec<i64>>,
    /// Whether its attributes can be read in two ways, or not wholly.
    pub(super) is_ambiguous: bool,
}

/// A constant of a graph.
#[derive(Debug, Default)]
pub(super) struct Constant<'a> {
    pub(super) name: &'a str,
    pub(super) shape: Vec<u64>,
    /// Name of the file that has the numbers.
    file: Option<&'a str>,
    /// The numbers of a short list of integers.
    pub(super) integers: Vec<i64>,
    /// Whether they are its numbers: not if these are fractions, or lie in another file.
    pub(super) is_exact: bool,
}

impl<'a> Graph<'a> {
    /// Reads the bytes of an ONNX file; an error says why the file cannot be used.
    pub(super) fn read(file: &'a [u8]) -> Result<Graph<'a>, String> {
        let mut graph = Graph::default();
        let mut is_found = false;
        for field in Fields::new(file) {
            match field.map_err(|error| format!("no ONNX file: {error}"))? {
                (7, message) if !is_found => {
                    is_found = true;
                    graph.read_graph(message.bytes())?;
                }
                (7, _) => return Err("an ONNX file with two graphs".to_owned()),
                (25, _) => return Err("the model has functions, which are not read".to_owned()),
                _ => {}
            }
        }
        if !is_found {
            return Err("no ONNX file: it has no graph".to_owned());
        }
        graph.check_numbers()?;
        graph.check_values()?;
        Ok(graph)
    }

    fn read_graph(&mut self, message: &'a [u8]) -> Result<(), String> {
        for field in Fields::new(message) {
            match field? {
                (1, node) => {
                    if self.nodes.len() == OPERATOR_LIMIT {
                        return Err(format!(
                            "the model has more than {OPERATOR_LIMIT} operators"
                        ));
                    }
                    let node = self.node(node.bytes())?;
                    self.nodes.push(node);
                }
                (5, constant) => self.constant(constant.bytes())?,
                (11, input) => self.inputs.push(name(input.bytes())?),
                (12, output) => self.outputs.push(name(output.bytes())?),
                (15, _) => {
                    return Err("the model has sparse weights, which are not read".to_owned());
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn node(&mut self, message: &'a [u8]) -> Result<Node<'a>, String> {
        let mut node = Node::default();
        let constants = self.constants.len();
        for field in Fields::new(message) {
            match field? {
                (1, input) => node.inputs.push(input.text()?),
                (2, output) => node.outputs.push(output.text()?),
                (4, kind) => node.kind = kind.text()?,
                (5, attribute) => self.attribute(attribute.bytes(), &mut node)?,
                (7, domain) => node.domain = domain.text()?,
                _ => {}
            }
        }
        if operators::is_known(node.domain, node.kind) {
            // The operator `Constant` gives its value the name of its output.
            if let Some(constant) = self.constants.get_mut(constants) {
                node.tensor = Some(constant.integers.clone());
                constant.name = match node.kind {
                    "Constant" => node.outputs.first().copied().unwrap_or_default(),
                    _ => "",
                };
            }
            return Ok(node);
        }
        let domain = if node.domain.is_empty() { "" } else { "." };
        Err(format!(
            "the model needs the operator {}{domain}{}, which this program does not have",
            node.domain.escape_debug(),
            node.kind.escape_debug()
        ))
    }

    fn attribute(&mut self, message: &'a [u8], node: &mut Node<'a>) -> Result<(), String> {
        let (mut name, mut integers) = ("", Vec::new());
        let (mut is_single, mut is_list, mut is_whole) = (false, false, true);
        for field in Fields::new(message) {
            match field? {
                (1, text) => name = text.text()?,
                (3, number) => {
                    is_single = true;
                    integers.push(number.number().cast_signed());
                }
                (8, numbers) => {
                    is_list = true;
                    is_whole &= append(&mut integers, numbers)?;
                }
                (5, tensor) | (10, tensor) => self.constant(tensor.bytes())?,
                (6 | 11, _) => return Err("the model has graphs in its operators".to_owned()),
                (22 | 23, _) => {
                    return Err("the model has sparse weights, which are not read".to_owned());
                }
                _ => {}
            }
        }
        let mut known = node.attributes.iter();
        node.is_ambiguous |= !is_whole
            || is_single && (is_list || integers.len() > 1)
            || known.any(|(known, _)| *known == name);
        // The values of an operator `Constant`.
        if name == "value_int" || name == "value_ints" {
            let length = is_list.then_some(integers.len() as u64);
            self.add(Constant {
                shape: length.into_iter().collect(),
                integers: integers.clone(),
                is_exact: true,
                ..Constant::default()
            })?;
        }
        node.attributes.push((name, integers));
        Ok(())
    }

    /// Whether no constant asks an operator for a value that is larger than memory.
    fn check_values(&self) -> Result<(), String> {
        let by_name: HashMap<&str, &Constant<'_>> = self
            .constants
            .iter()
            .map(|constant| (constant.name, constant))
            .collect();
        for node in self
            .nodes
            .iter()
            .filter(|node| GROWING.contains(&node.kind))
        {
            for input in &node.inputs {
                let integers = by_name.get(input).map_or(&[][..], |found| &found.integers);
                let numbers = integers.iter().fold(1u64, |product, number| {
                    product.saturating_mul(number.unsigned_abs().max(1))
                });
                if numbers > VALUE_LIMIT {
                    return Err(format!(
                        "an operator {} makes a value of more than {VALUE_LIMIT} numbers",
                        node.kind
                    ));
                }
            }
        }
        Ok(())
    }

    fn constant(&mut self, message: &'a [u8]) -> Result<(), String> {
        let mut constant = Constant::default();
        let (mut kind, mut raw) = (0, &[][..]);
        for field in Fields::new(message) {
            match field? {
                (1, Field::Bytes(dims)) => {
                    let dims = packed(dims).ok_or("a shape is cut off")?;
                    constant.shape.extend(dims);
                }
                (1, dim) => constant.shape.push(dim.number()),
                (2, number) => kind = number.number(),
                (5 | 7, numbers) => {
                    append(&mut constant.integers, numbers)?;
                }
                (9, bytes) => raw = bytes.bytes(),
                (8, text) => constant.name = text.text()?,
                (13, entry) => {
                    if let Some(file) = location(entry.bytes())? {
                        constant.file = Some(file);
                    }
                }
                _ => {}
            }
            if constant.shape.len() > RANK_LIMIT {
                return Err(format!("a constant of more than {RANK_LIMIT} dimensions"));
            }
        }
        // Which of two forms counts is up to the reader.
        if !raw.is_empty() && !constant.integers.is_empty() {
            return Err("a constant has its numbers twice".to_owned());
        }
        if constant.integers.is_empty() {
            constant.integers = raw_integers(kind, raw);
        }
        constant.is_exact = matches!(kind, 6 | 7) && constant.file.is_none();
        if let Some(file) = constant.file
            && !self.weight_files.contains(&file)
        {
            // A name with a folder could lead anywhere on the disk.
            if !is_plain_name(file) {
                return Err(format!(
                    "the model has weights in {file:?}, which is not a file beside it"
                ));
            }
            self.weight_files.push(file);
        }
        self.add(constant)
    }

    fn add(&mut self, constant: Constant<'a>) -> Result<(), String> {
        if self.constants.len() == CONSTANT_LIMIT {
            return Err(format!(
                "the model has more than {CONSTANT_LIMIT} constants"
            ));
        }
        self.constants.push(constant);
        Ok(())
    }

    fn check_numbers(&self) -> Result<(), String> {
        let mut sum = 0u64;
        for constant in &self.constants {
            let numbers = constant
                .shape
                .iter()
                .try_fold(1u64, |product, dim| product.checked_mul(*dim));
            sum = sum.saturating_add(numbers.unwrap_or(u64::MAX));
            if sum > NUMBER_LIMIT {
                return Err(format!(
                    "the model has more than {NUMBER_LIMIT} numbers with those of {:?}",
                    constant.name
                ));
            }
        }
        Ok(())
    }

    /// Whether the graph rounds activations by the range of all texts of a batch, so that the vector of a text depends
    /// on its neighbours.
    pub(super) fn rounds_activations(&self) -> bool {
        self.nodes
            .iter()
            .any(|node| node.kind.starts_with("DynamicQuantize"))
    }
}

/// Appends the integers of a field, as far as they can be those of a shape. False if there are more.
fn append(integers: &mut Vec<i64>, field: Field<'_>) -> Result<bool, String> {
    match field {
        // A long list is no shape; each number has a byte or more.
        Field::Bytes(bytes) if bytes.len() > SHAPE_NUMBERS * 10 => return Ok(false),
        Field::Bytes(bytes) => {
            let numbers = packed(bytes).ok_or("a list of numbers is cut off")?;
            integers.extend(numbers.into_iter().map(u64::cast_signed));
        }
        number => integers.push(number.number().cast_signed()),
    }
    let is_whole = integers.len() <= SHAPE_NUMBERS;
    integers.truncate(SHAPE_NUMBERS);
    Ok(is_whole)
}

/// The integers in the bytes of a tensor: of 32 bits (kind 6) or 64 (kind 7).
fn raw_integers(kind: u64, raw: &[u8]) -> Vec<i64> {
    match kind {
        6 if raw.len() <= SHAPE_NUMBERS * 4 => {
            let (chunks, _) = raw.as_chunks();
            chunks
                .iter()
                .map(|chunk| i32::from_le_bytes(*chunk).into())
                .collect()
        }
        7 if raw.len() <= SHAPE_NUMBERS * 8 => {
            let (chunks, _) = raw.as_chunks();
            chunks
                .iter()
                .map(|chunk| i64::from_le_bytes(*chunk))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The name of a `ValueInfoProto`.
fn name(message: &[u8]) -> Result<&str, String> {
    for field in Fields::new(message) {
        if let (1, name) = field? {
            return Ok(name.text()?);
        }
    }
    Ok("")
}

/// The value of a `StringStringEntryProto` whose key is `location`.
fn location(message: &[u8]) -> Result<Option<&str>, String> {
    let (mut is_location, mut value) = (false, None);
    for field in Fields::new(message) {
        match field? {
            (1, key) => is_location = key.bytes() == b"location",
            (2, text) => value = Some(text),
            _ => {}
        }
    }
    match value {
        Some(value) if is_location => Ok(Some(value.text()?)),
        _ => Ok(None),
    }
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && !name.contains(['/', '\\', ':'])
        && !name.chars().any(char::is_control)
}
