//! What a graph costs: the shape of each value is computed from the shapes of the inputs, before the runtime sees
//! anything.
//!
//! A runtime multiplies what it is told to. A graph of harmless operators that doubles a value forty times, or takes a
//! shape out of the tokens, would take all memory. Here each operator has a rule for the shapes of its outputs, and
//! short lists of integers are computed as well, because shapes are made of them.

mod integers;
mod rules;
mod step;
mod value;

use std::collections::HashMap;

use self::step::Step;
use self::value::Value;
use super::graph::Graph;

/// Most numbers of the values that are there at once, besides weights: 1 GiB.
const LIVE_LIMIT: u64 = 1 << 28;
/// Most numbers of values that are computed from weights alone, which the runtime keeps.
const WEIGHTS_LIMIT: u64 = 1 << 30;
/// Most numbers of these values in a model of strangers, for each number that its files store: weights of 4 bits become
/// numbers of 32, and are turned and packed. A small file must not fill the memory.
const GROWTH_LIMIT: u64 = 16;
/// What such a model may have beside that: 16 MiB.
const GROWTH_BASE: u64 = 1 << 22;
/// Most steps for a token: multiplications, and numbers that are read and written. The largest encoders, of 340 million
/// weights, take about as many.
const TOKEN_STEPS: u64 = 1 << 29;
/// Steps that any batch may take.
const BASE_STEPS: u64 = 1 << 33;

/// The places of values by their names.
#[derive(Default)]
struct Places<'a> {
    by_name: HashMap<&'a str, usize>,
    values: Vec<Option<Value>>,
}

impl<'a> Places<'a> {
    fn of(&mut self, name: &'a str) -> Option<usize> {
        if name.is_empty() {
            return None;
        }
        Some(*self.by_name.entry(name).or_insert_with(|| {
            self.values.push(None);
            self.values.len() - 1
        }))
    }
}

/// A graph without its weights.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    steps: Vec<Step>,
    /// Constants at their places, and room for all other values.
    values: Vec<Option<Value>>,
    /// Places of what a batch gives.
    inputs: Vec<usize>,
    /// The last step that needs a value.
    last_use: Vec<usize>,
    /// Whether the graph can be read in two ways.
    is_ambiguous: bool,
    /// Numbers of all constants.
    stored: u64,
}

impl Budget {
    /// Keeps the shapes of a graph.
    pub(super) fn new(graph: &Graph<'_>) -> Budget {
        let mut places = Places::default();
        let mut is_ambiguous = graph.nodes.iter().any(|node| node.is_ambiguous);
        for constant in &graph.constants {
            let integers = match constant.is_exact {
                true => constant.integers.as_slice(),
                false => &[],
            };
            let value = Value::constant(&constant.shape, integers);
            if let Some(place) = places.of(constant.name)
                && let Some(room) = places.values.get_mut(place)
            {
                is_ambiguous |= room.is_some();
                *room = Some(value);
            }
        }
        let sizes = graph.constants.iter().map(|constant| {
            let dims = constant.shape.iter();
            dims.fold(1, |product: u64, dim| product.saturating_mul(*dim))
        });
        let stored = sizes.fold(0, u64::saturating_add);
        let mut steps = Vec::with_capacity(graph.nodes.len());
        for node in graph.nodes.iter().filter(|node| node.kind != "Constant") {
            let attributes = node.attributes.iter();
            let attributes = attributes.map(|(name, list)| ((*name).to_owned(), list.clone()));
            steps.push(Step {
                kind: node.kind.to_owned(),
                inputs: node.inputs.iter().map(|name| places.of(name)).collect(),
                outputs: node.outputs.iter().map(|name| places.of(name)).collect(),
                attributes: attributes.collect(),
                tensor: node.tensor.clone(),
            });
        }
        let given = graph.inputs.iter().filter_map(|name| places.of(name));
        let inputs: Vec<usize> = given.collect();
        let is_given = |place: &usize| matches!(places.values.get(*place), Some(None));
        // Old files list constants among their inputs.
        is_ambiguous |= !inputs.iter().all(is_given);
        let inputs: Vec<usize> = inputs.into_iter().filter(is_given).collect();
        // Each value is made once.
        let mut made: Vec<bool> = places.values.iter().map(Option::is_some).collect();
        let outputs = steps
            .iter()
            .flat_map(|step: &Step| step.outputs.iter().flatten());
        for place in inputs.iter().chain(outputs) {
            if let Some(made) = made.get_mut(*place) {
                is_ambiguous |= std::mem::replace(made, true);
            }
        }
        let mut last_use = vec![usize::MAX; places.values.len()];
        for (number, step) in steps.iter().enumerate() {
            for place in step.inputs.iter().chain(&step.outputs).flatten() {
                if let Some(last) = last_use.get_mut(*place) {
                    *last = number;
                }
            }
        }
        Budget {
            steps,
            values: places.values,
            inputs,
            last_use,
            is_ambiguous,
            stored,
        }
    }

    /// Checks what a batch of `texts` texts of `width` tokens takes. With `is_strict`, what is not known is refused too.
    ///
    /// # Errors
    /// In words, what is too much, or not known.
    pub(super) fn check(&self, texts: usize, width: usize, is_strict: bool) -> Result<(), String> {
        if is_strict && self.is_ambiguous {
            return Err("the graph can be read in two ways".to_owned());
        }
        let (texts, width) = (texts as u64, width as u64);
        let mut values = self.values.clone();
        let mut is_constant: Vec<bool> = values.iter().map(Option::is_some).collect();
        for place in &self.inputs {
            if let Some(value) = values.get_mut(*place) {
                *value = Some(Value::of(vec![texts, width]));
            }
        }
        let tokens = texts.saturating_mul(width);
        let most = BASE_STEPS.saturating_add(TOKEN_STEPS.saturating_mul(tokens));
        let growth = self.stored.saturating_mul(GROWTH_LIMIT);
        let most_weights = match is_strict {
            true => WEIGHTS_LIMIT.min(growth.saturating_add(GROWTH_BASE)),
            false => WEIGHTS_LIMIT,
        };
        let (mut live, mut weights, mut taken) = (0u64, 0u64, 0u64);
        for (number, step) in self.steps.iter().enumerate() {
            let of = |place: &Option<usize>| values.get((*place)?)?.as_ref();
            let inputs: Vec<Option<&Value>> = step.inputs.iter().map(of).collect();
            let is_missing = |(place, value): (&Option<usize>, &Option<&Value>)| {
                place.is_some() && value.is_none()
            };
            let is_known = !step.inputs.iter().zip(&inputs).any(is_missing);
            let made = is_known.then(|| rules::outputs(step, &inputs)).flatten();
            let Some((outputs, steps)) = made else {
                if is_strict {
                    let kind = &step.kind;
                    return Err(format!(
                        "how large the values of an operator {kind} are is not known"
                    ));
                }
                continue;
            };
            taken = taken.saturating_add(steps);
            let of_weights = step.inputs.iter().flatten();
            let of_weights = of_weights
                .map(|place| is_constant.get(*place))
                .all(|is_constant| is_constant == Some(&true));
            for (place, value) in step.outputs.iter().zip(outputs) {
                let Some(place) = place else {
                    continue;
                };
                let sum = if of_weights { &mut weights } else { &mut live };
                *sum = sum.saturating_add(value.numbers());
                if let (Some(room), Some(constant)) =
                    (values.get_mut(*place), is_constant.get_mut(*place))
                {
                    (*room, *constant) = (Some(value), of_weights);
                }
            }
            if live > LIVE_LIMIT || weights > most_weights || taken > most {
                let kind = &step.kind;
                return Err(format!(
                    "{texts} texts of {width} tokens take more than a model may, from an operator {kind} on"
                ));
            }
            // What no later operator needs is freed.
            for place in step.inputs.iter().chain(&step.outputs).flatten() {
                let is_last = self.last_use.get(*place) == Some(&number);
                let is_freed = is_last && is_constant.get(*place) == Some(&false);
                if let (true, Some(room)) = (is_freed, values.get_mut(*place))
                    && !self.inputs.contains(place)
                    && let Some(value) = room.take()
                {
                    live = live.saturating_sub(value.numbers());
                }
            }
        }
        Ok(())
    }
}
