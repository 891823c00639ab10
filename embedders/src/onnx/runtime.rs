//! The runtime `rten` behind one door. Its errors become words, and its panics errors: it reads files of strangers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use kb_types::Pooling;
use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value};
use rten_tensor::Layout as _;

use super::operators;

/// What a model is given; only the first is needed.
const INPUTS: [&str; 3] = ["input_ids", "attention_mask", "token_type_ids"];
/// Names of outputs that have a vector for each token.
const TOKEN_VECTORS: [&str; 3] = ["last_hidden_state", "token_embeddings", "hidden_states"];
/// The name of an output that has a vector for each text.
const TEXT_VECTORS: &str = "sentence_embedding";

/// What a model returned for a batch.
pub(super) enum Output {
    /// `[texts, tokens, dimension]`.
    Tokens { dimension: usize, numbers: Vec<f32> },
    /// `[texts, dimension]`.
    Texts { dimension: usize, numbers: Vec<f32> },
}

/// A batch: `[texts, width]` tokens with their mask, 1 where a token is, and kinds, 1 in the second of two texts.
pub(super) struct Batch {
    pub(super) texts: usize,
    pub(super) width: usize,
    pub(super) tokens: Vec<i32>,
    pub(super) mask: Vec<i32>,
    pub(super) kinds: Vec<i32>,
}

/// A loaded model.
pub(super) struct Runtime {
    model: Model,
    input_ids: NodeId,
    attention_mask: Option<NodeId>,
    token_type_ids: Option<NodeId>,
    output: NodeId,
    is_text_output: bool,
    /// How vectors of tokens become one, if the model does not do it itself.
    pub(super) pooling: Pooling,
}

impl Runtime {
    /// Builds the graph of an ONNX file; an error says why it cannot be used.
    pub(super) fn load(
        file: Vec<u8>,
        weights: Vec<(String, Vec<u8>)>,
        pooling: Pooling,
    ) -> Result<Runtime, String> {
        let mut options = ModelOptions::with_ops(operators::registry());
        // Packing weights once saves a third of the time of a query.
        options.prepack_weights(true);
        for (name, bytes) in weights {
            options.external_data(&name, bytes);
        }
        let model = guarded(|| options.load(file).map_err(|error| error.to_string()))?;
        let mut ids = [None; INPUTS.len()];
        for &id in model.input_ids() {
            let name = model.node_info(id).and_then(|info| info.name());
            let name = name.unwrap_or_default();
            let Some(place) = INPUTS.iter().position(|known| *known == name) else {
                return Err(format!(
                    "the model wants an input {name:?}; this program gives {}",
                    INPUTS.join(", ")
                ));
            };
            if let Some(known) = ids.get_mut(place) {
                *known = Some(id);
            }
        }
        let [Some(input_ids), attention_mask, token_type_ids] = ids else {
            return Err(format!("the model has no input {}", INPUTS[0]));
        };
        let (output, is_text_output) = output(&model)?;
        Ok(Runtime {
            model,
            input_ids,
            attention_mask,
            token_type_ids,
            output,
            is_text_output,
            pooling,
        })
    }

    /// Whether the model returns vectors of texts.
    pub(super) fn pools_itself(&self) -> bool {
        self.is_text_output
    }

    /// Whether the model can tell tokens from padding.
    pub(super) fn has_mask(&self) -> bool {
        self.attention_mask.is_some()
    }

    /// Runs a batch on a pool of threads; an error is in the words of the runtime.
    pub(super) fn run(&self, batch: Batch, pool: &Arc<ThreadPool>) -> Result<Output, String> {
        let shape = [batch.texts, batch.width];
        let value = |numbers: Vec<i32>| {
            Value::from_shape(shape, numbers).map_err(|error| error.to_string())
        };
        let mut inputs = Vec::with_capacity(INPUTS.len());
        if let Some(id) = self.token_type_ids {
            inputs.push((id, value(batch.kinds)?.into()));
        }
        if let Some(id) = self.attention_mask {
            inputs.push((id, value(batch.mask)?.into()));
        }
        inputs.push((self.input_ids, value(batch.tokens)?.into()));
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(pool)));
        let outputs = guarded(|| {
            let run = self.model.run(inputs, &[self.output], Some(options));
            run.map_err(|error| error.to_string())
        })?;
        let value = outputs
            .into_iter()
            .next()
            .ok_or("the model returned nothing")?;
        let rank = match &value {
            Value::FloatTensor(tensor) => tensor.ndim(),
            _ => return Err("the model returned no 32-bit floating point numbers".to_owned()),
        };
        let wrong = |shape: &[usize]| {
            let [texts, width] = [batch.texts, batch.width];
            format!(
                "the model returned numbers of the shape {shape:?} for {texts} texts of {width} tokens"
            )
        };
        match rank {
            3 => {
                let tensor = value.into_shape_vec::<f32, 3>();
                let (shape, numbers) = tensor.map_err(|error| error.to_string())?;
                let [texts, tokens, dimension] = shape;
                if (texts, tokens) != (batch.texts, batch.width) {
                    return Err(wrong(&shape));
                }
                Ok(Output::Tokens { dimension, numbers })
            }
            2 => {
                let tensor = value.into_shape_vec::<f32, 2>();
                let (shape, numbers) = tensor.map_err(|error| error.to_string())?;
                let [texts, dimension] = shape;
                if texts != batch.texts {
                    return Err(wrong(&shape));
                }
                Ok(Output::Texts { dimension, numbers })
            }
            rank => Err(format!("the model returned numbers of {rank} dimensions")),
        }
    }
}

/// The output to take, and whether it has vectors of texts.
fn output(model: &Model) -> Result<(NodeId, bool), String> {
    let named = |wanted: &str| {
        let mut ids = model.output_ids().iter().copied();
        ids.find(|id| model.node_info(*id).and_then(|info| info.name()) == Some(wanted))
    };
    // A model with a step behind the pooling has both, and only this one is complete.
    if let Some(id) = named(TEXT_VECTORS) {
        return Ok((id, true));
    }
    let first = || model.output_ids().first().copied();
    let id = TOKEN_VECTORS.into_iter().find_map(named).or_else(first);
    let id = id.ok_or("the model has no output")?;
    let rank = model.node_info(id).and_then(|info| info.shape());
    Ok((id, rank.is_some_and(|shape| shape.len() == 2)))
}

/// Turns a panic into an error.
fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err("the runtime failed on this model".to_owned()))
}
