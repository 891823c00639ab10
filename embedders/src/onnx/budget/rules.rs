//! The shapes of the outputs of each operator.

use super::integers::{integers, sliced};
use super::step::Step;
use super::value::{Value, axis_of, broadcast, range_length, slice_length};

/// The inputs of an operator.
struct Inputs<'i>(&'i [Option<&'i Value>]);

impl<'i> Inputs<'i> {
    fn get(&self, place: usize) -> Option<&'i Value> {
        self.0.get(place).copied().flatten()
    }

    fn shape(&self, place: usize) -> Option<&'i [u64]> {
        self.get(place).map(|value| value.shape.as_slice())
    }

    fn integers(&self, place: usize) -> Option<&'i [i64]> {
        self.get(place)?.integers.as_deref()
    }

    /// The integers of an attribute, or of an input in later versions of the operator.
    fn setting<'s>(&'s self, step: &'s Step, name: &str, place: usize) -> Setting<'s> {
        match (step.attribute(name), self.0.get(place)) {
            // Which of them counts depends on the version.
            (Some(_), Some(Some(_))) => Setting::Unknown,
            (Some(given), _) => Setting::Given(given),
            (None, Some(Some(value))) => match &value.integers {
                Some(integers) => Setting::Given(integers),
                None => Setting::Unknown,
            },
            _ => Setting::Absent,
        }
    }
}

/// A setting of an operator.
enum Setting<'s> {
    Given(&'s [i64]),
    Absent,
    Unknown,
}

/// The outputs of an operator, and how many steps it takes; `None` if that is not known.
pub(super) fn outputs(step: &Step, values: &[Option<&Value>]) -> Option<(Vec<Value>, u64)> {
    let inputs = Inputs(values);
    let outputs = match step.kind.as_str() {
        "Split" => split(step, &inputs)?,
        "DynamicQuantizeLinear" => {
            let scalar = || Value::of(Vec::new());
            vec![Value::of(inputs.shape(0)?.to_vec()), scalar(), scalar()]
        }
        "Shape" => vec![shape(step, &inputs)?],
        "Slice" => vec![slice(step, &inputs)?],
        _ => {
            let shape = output(step, &inputs)?;
            let known = integers(step, values, &shape);
            let value = Value::of(shape);
            vec![match known {
                Some(known) => value.with(known),
                None => value,
            }]
        }
    };
    let made = outputs.iter().map(Value::numbers);
    let read = values.iter().flatten().map(|value| value.numbers());
    let all = made.chain(read).fold(0, u64::saturating_add);
    let steps = match step.kind.as_str() {
        "MatMul" | "MatMulInteger" => {
            let inner = inputs.shape(0)?.last().copied().unwrap_or(1);
            product(&outputs.first()?.shape).saturating_mul(inner)
        }
        "Gemm" => {
            let inner = inputs.shape(0)?.iter().copied().max().unwrap_or(1);
            product(&outputs.first()?.shape).saturating_mul(inner)
        }
        // The largest rank of a value times its numbers: places are computed for each.
        "GatherND" | "ScatterND" | "ScatterElements" => all.saturating_mul(16),
        _ => 0,
    };
    Some((outputs, steps.saturating_add(all)))
}

fn product(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |all, dim| all.saturating_mul(*dim))
}

/// The shape of the only output.
fn output(step: &Step, inputs: &Inputs<'_>) -> Option<Vec<u64>> {
    match step.kind.as_str() {
        "Abs" | "Cast" | "CastLike" | "Ceil" | "Clip" | "Cos" | "CumSum" | "DequantizeLinear"
        | "Elu" | "Erf" | "Exp" | "Floor" | "Gelu" | "HardSigmoid" | "HardSwish" | "Identity"
        | "IsInf" | "IsNaN" | "LayerNormalization" | "LeakyRelu" | "Log" | "LogSoftmax"
        | "LpNormalization" | "Neg" | "Not" | "QuantizeLinear" | "Reciprocal" | "Relu"
        | "RotaryEmbedding" | "Round" | "ScatterElements" | "ScatterND" | "Sigmoid" | "Sign"
        | "Sin" | "Softmax" | "Softplus" | "Softsign" | "Sqrt" | "Tanh" | "Trilu" => {
            // Later outputs of these are not known.
            (step.outputs.iter().flatten().count() <= 1)
                .then(|| inputs.shape(0).map(<[u64]>::to_vec))?
        }
        "Add" | "And" | "Div" | "Equal" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual"
        | "Max" | "Mean" | "Min" | "Mod" | "Mul" | "Or" | "PRelu" | "Pow" | "Sub" | "Sum"
        | "Where" | "Xor" => {
            let shapes: Option<Vec<&[u64]>> = (0..step.inputs.len())
                .map(|place| inputs.shape(place))
                .collect();
            broadcast(&shapes?)
        }
        "MatMul" | "MatMulInteger" => matmul(inputs.shape(0)?, inputs.shape(1)?),
        "Gemm" => gemm(step, inputs),
        "ArgMax" => {
            let value = inputs.get(0)?;
            let axis = value.axis(step.integer("axis", 0))?;
            Some(reduced(
                &value.shape,
                &[axis],
                step.integer("keepdims", 1) != 0,
            ))
        }
        "ReduceL2" | "ReduceMax" | "ReduceMean" | "ReduceMin" | "ReduceProd" | "ReduceSum"
        | "ReduceSumSquare" => reduce(step, inputs),
        "Size" => Some(Vec::new()),
        "Gather" => gather(step, inputs),
        "GatherElements" => inputs.shape(1).map(<[u64]>::to_vec),
        "GatherND" => gather_nd(step, inputs),
        "Concat" => concat(step, inputs),
        "Reshape" => reshape(step, inputs),
        "Flatten" => {
            let shape = inputs.shape(0)?;
            let axis = step.integer("axis", 1);
            let at = axis_of(axis, shape.len() + 1)?;
            let (rows, columns) = shape.split_at_checked(at)?;
            Some(vec![product(rows), product(columns)])
        }
        "Squeeze" => squeeze(step, inputs),
        "Unsqueeze" => unsqueeze(step, inputs),
        "Transpose" => transpose(step, inputs),
        "Expand" => {
            let wanted = dims(inputs.integers(1)?)?;
            broadcast(&[inputs.shape(0)?, &wanted])
        }
        "ConstantOfShape" => dims(inputs.integers(0)?),
        "Range" => {
            let [start, limit, step] =
                [0, 1, 2].map(|place| inputs.integers(place)?.first().copied());
            range_length(start?, limit?, step?).map(|length| vec![length])
        }
        "Tile" => {
            let (shape, repeats) = (inputs.shape(0)?, dims(inputs.integers(1)?)?);
            let times = shape.iter().zip(&repeats);
            let tiled = times.map(|(dim, times)| dim.checked_mul(*times)).collect();
            (shape.len() == repeats.len()).then_some(tiled)?
        }
        "Pad" => pad(step, inputs),
        _ => None,
    }
}

/// Dimensions out of integers.
fn dims(integers: &[i64]) -> Option<Vec<u64>> {
    integers
        .iter()
        .map(|dim| u64::try_from(*dim).ok())
        .collect()
}

fn matmul(one: &[u64], other: &[u64]) -> Option<Vec<u64>> {
    let (one_rank, other_rank) = (one.len(), other.len());
    if one_rank < 2 || other_rank < 2 {
        // Vectors: one is a row, the other a column, and the dimension goes again.
        return match (one, other) {
            ([_], [_]) => Some(Vec::new()),
            ([_], [batch @ .., _, columns]) => Some([batch, &[*columns][..]].concat()),
            ([batch @ .., rows, _], [_]) => Some([batch, &[*rows][..]].concat()),
            _ => None,
        };
    }
    let ([batch @ .., rows, inner], [other_batch @ .., other_inner, columns]) = (one, other) else {
        return None;
    };
    if inner != other_inner {
        return None;
    }
    let mut shape = broadcast(&[batch, other_batch])?;
    shape.extend([*rows, *columns]);
    Some(shape)
}

fn gemm(step: &Step, inputs: &Inputs<'_>) -> Option<Vec<u64>> {
    let ([a, b], [c, d]) = (inputs.shape(0)?, inputs.shape(1)?) else {
        return None;
    };
    let rows = if step.integer("transA", 0) == 0 { a } else { b };
    let columns = if step.integer("transB", 0) == 0 { d } else { c };
    Some(vec![*rows, *columns])
}

/// A shape without some axes, or with 1 in their places.
fn reduced(shape: &[u64], axes: &[usize], keeps: bool) -> Vec<u64> {
    let dims = shape.iter().enumerate();
    let dims = dims.filter_map(|(place, dim)| match (axes.contains(&place), keeps) {
        (false, _) => Some(*dim),
        (true, true) => Some(1),
        (true, false) => None,
    });
    dims.collect()
}

fn reduce(step: &Step, inputs: &Inputs<'_>) -> Option<Vec<u64>> {
    let value = inputs.get(0)?;
    let all = || (0..value.rank()).collect::<Vec<usize>>();
    let axes = match inputs.setting(step, "axes", 1) {
        Setting::Unknown => return None,
        Setting::Absent => all(),
        Setting::Given([]) if step.integer("noop_with_empty_axes", 0) != 0 => Vec::new(),
        Setting::Given([]) => all(),
        Setting::Given(axes) => axes
            .iter()
            .map(|axis| value.axis(*axis))
            .collect::<Option<_>>()?,
    };
    Some(reduced(
        &value.shape,
        &axes,
        step.integer("keepdims", 1) != 0,
    ))
}

fn gather(step: &Step, inputs: &Inputs<'_>) -> Option<Vec<u64>> {
    let data = inputs.get(0)?;
    let axis = data.axis(step.integer("axis", 0))?;
    let (before, rest) = data.shape.split_at_checked(axis)?;
    let (_, behind) = rest.split_first()?;
    Some([before, inputs.shape(1)?, behind].concat())
}

fn gather_nd(step: &Step, inputs: &Inputs<'_>) -> Option<Vec<u64>> {
    let (data, places) = (inputs.shape(0)?, inputs.shape(1)?);
    let (last, others) = places.split_last()?;
    let skipped = usize::try_from(step.integer("batch_dims", 0)).ok()?;
    let from = skipped.checked_add(usize::try_from(*last).ok()?)?;
    Some([others, data.get(from..)?].concat())
}

fn concat(step: &Step, inputs: &Inputs<'_>) -> Option<Vec<u64>> {
    let first = inputs.get(0)?;
    let axis = first.axis(step.integer("axis", 0))?;
    let mut shape = first.shape.clone();
    let mut length = 0u64;
    for place in 0..step.inputs.len() {
        length = length.saturating_add(*inputs.shape(place)?.get(axis)?);
    }
    *shape.get_mut(axis)? = length;
    Some(shape)
}

fn reshape(step: &Step, inputs: &Inputs<'_>) -> Option<Vec<u64>> {
    let value = inputs.get(0)?;
    let wanted = inputs.integers(1)?;
    let copies = step.integer("allowzero", 0) == 0;
    let mut shape = Vec::with_capacity(wanted.len());
    let mut free = None;
    for (place, dim) in wanted.iter().enumerate() {
        shape.push(match dim {
            -1 => {
                if free.replace(place).is_some() {
                    return None;
                }
                1
            }
            0 if copies => *value.shape.get(place)?,
            dim => u64::try_from(*dim).ok()?,
        });
    }
    let (all, known) = (value.numbers(), product(&shape));
    if let Some(free) = free {
        *shape.get_mut(free)? = all.checked_div(known)?;
    }
    // A view of the same numbers.
    (product(&shape) == all).then_some(shape)
}

fn squeeze(step: &Step, inputs: &Inputs<'_>) -> Option<Vec<u64>> {
    let value = inputs.get(0)?;
    let axes: Vec<usize> = match inputs.setting(step, "axes", 1) {
        Setting::Unknown => return None,
        Setting::Absent => {
            let ones = value.shape.iter().enumerate();
            ones.filter_map(|(place, dim)| (*dim == 1).then_some(place))
                .collect()
        }
        Setting::Given(axes) => axes
            .iter()
            .map(|axis| value.axis(*axis))
            .collect::<Option<_>>()?,
    };
    let is_one = |axis: &usize| value.shape.get(*axis) == Some(&1);
    axes.iter()
        .all(is_one)
        .then(|| reduced(&value.shape, &axes, false))
}

fn unsqueeze(step: &Step, inputs: &Inputs<'_>) -> Option<Vec<u64>> {
    let value = inputs.get(0)?;
    let Setting::Given(axes) = inputs.setting(step, "axes", 1) else {
        return None;
    };
    let rank = value.rank().checked_add(axes.len())?;
    let places: Vec<usize> = axes
        .iter()
        .map(|axis| axis_of(*axis, rank))
        .collect::<Option<_>>()?;
    let mut dims = value.shape.iter();
    let shape: Option<Vec<u64>> = (0..rank)
        .map(|place| match places.contains(&place) {
            true => Some(1),
            false => dims.next().copied(),
        })
        .collect();
    shape
}

fn transpose(step: &Step, inputs: &Inputs<'_>) -> Option<Vec<u64>> {
    let value = inputs.get(0)?;
    match step.attribute("perm") {
        None => Some(value.shape.iter().rev().copied().collect()),
        Some(order) if order.len() == value.rank() => order
            .iter()
            .map(|axis| value.shape.get(value.axis(*axis)?).copied())
            .collect(),
        Some(_) => None,
    }
}

fn pad(step: &Step, inputs: &Inputs<'_>) -> Option<Vec<u64>> {
    let value = inputs.get(0)?;
    let Setting::Given(pads) = inputs.setting(step, "pads", 1) else {
        return None;
    };
    // With a list of axes the numbers belong to those.
    if inputs.get(3).is_some() || pads.len() != value.rank() * 2 {
        return None;
    }
    let (starts, ends) = pads.split_at_checked(value.rank())?;
    let sides = value.shape.iter().zip(starts.iter().zip(ends));
    sides
        .map(|(dim, (start, end))| {
            let sum = i128::from(*dim) + i128::from(*start) + i128::from(*end);
            u64::try_from(sum).ok()
        })
        .collect()
}

fn shape(step: &Step, inputs: &Inputs<'_>) -> Option<Value> {
    let shape = inputs.shape(0)?;
    let rank = i64::try_from(shape.len()).ok()?;
    let (start, end) = (step.integer("start", 0), step.integer("end", rank));
    let at = |place: i64| {
        let from_start = if place < 0 {
            place.saturating_add(rank)
        } else {
            place
        };
        usize::try_from(from_start.clamp(0, rank)).ok()
    };
    let (start, end) = (at(start)?, at(end)?);
    let dims = shape.get(start..end.max(start))?.iter();
    let dims: Option<Vec<i64>> = dims.map(|dim| i64::try_from(*dim).ok()).collect();
    Some(Value::list(dims?))
}

fn slice(step: &Step, inputs: &Inputs<'_>) -> Option<Value> {
    let value = inputs.get(0)?;
    let given = |name: &str, place: usize| match inputs.setting(step, name, place) {
        Setting::Given(list) => Some(Some(list.to_vec())),
        Setting::Absent => Some(None),
        Setting::Unknown => None,
    };
    let (starts, ends) = (given("starts", 1)??, given("ends", 2)??);
    let axes = given("axes", 3)?;
    let axes = axes.unwrap_or_else(|| (0i64..).take(starts.len()).collect());
    let steps = given("steps", 4)?.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return None;
    }
    let mut shape = value.shape.clone();
    let mut known = value.integers.clone();
    for (((start, end), axis), step) in starts.iter().zip(&ends).zip(&axes).zip(&steps) {
        let dim = shape.get_mut(value.axis(*axis)?)?;
        *dim = slice_length(*dim, *start, *end, *step)?;
        known = known.and_then(|list| sliced(&list, *start, *end, *step));
    }
    let is_list = value.rank() == 1 && starts.len() == 1;
    let sliced = Value::of(shape);
    Some(match known {
        Some(known) if is_list => sliced.with(known),
        _ => sliced,
    })
}

fn split(step: &Step, inputs: &Inputs<'_>) -> Option<Vec<Value>> {
    let value = inputs.get(0)?;
    let axis = value.axis(step.integer("axis", 0))?;
    let length = *value.shape.get(axis)?;
    let count = step.outputs.len() as u64;
    if step
        .attribute("num_outputs")
        .is_some_and(|given| given != [count.cast_signed()])
    {
        return None;
    }
    let lengths = match inputs.setting(step, "split", 1) {
        Setting::Given(lengths) => dims(lengths)?,
        Setting::Unknown => return None,
        Setting::Absent => {
            let each = length.div_ceil(count.max(1));
            let left = |n: u64| length.saturating_sub(n.saturating_mul(each));
            (0..count).map(|n| left(n).min(each)).collect()
        }
    };
    let sum = lengths
        .iter()
        .fold(0, |sum: u64, part| sum.saturating_add(*part));
    if sum != length || lengths.len() != step.outputs.len() {
        return None;
    }
    let part = |part: u64| {
        let mut shape = value.shape.clone();
        if let Some(dim) = shape.get_mut(axis) {
            *dim = part;
        }
        Value::of(shape)
    };
    Some(lengths.into_iter().map(part).collect())
}
