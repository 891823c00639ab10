//! Computes with short lists of integers, of which graphs make shapes.

use super::step::Step;
use super::value::{INTEGERS_LIMIT, Value, axis_of, slice_length, slice_start};

/// The integers of the output of an operator of these inputs and of an output of that shape; `None` if they are not
/// known. Shapes are checked before.
pub(super) fn integers(step: &Step, inputs: &[Option<&Value>], shape: &[u64]) -> Option<Vec<i64>> {
    let integers = computed(step, inputs, shape)?;
    // The runtime has 32 bits for each: what does not fit becomes something else there.
    let fits = |number: &i64| i32::try_from(*number).is_ok();
    integers.iter().all(fits).then_some(integers)
}

fn computed(step: &Step, inputs: &[Option<&Value>], shape: &[u64]) -> Option<Vec<i64>> {
    let of = |place: usize| inputs.get(place).copied().flatten()?.integers.as_deref();
    match step.kind.as_str() {
        "Identity" | "Reshape" | "Squeeze" | "Unsqueeze" | "Flatten" => of(0).map(<[i64]>::to_vec),
        // To integers of 32 or 64 bits. Fractions would be divided otherwise.
        "Cast" if matches!(step.integer("to", 0), 6 | 7) => of(0).map(<[i64]>::to_vec),
        "Neg" => of(0)?.iter().map(|number| number.checked_neg()).collect(),
        "Add" => pairs(inputs, shape, i64::checked_add),
        "Sub" => pairs(inputs, shape, i64::checked_sub),
        "Mul" => pairs(inputs, shape, i64::checked_mul),
        "Div" => pairs(inputs, shape, i64::checked_div),
        "Equal" => pairs(inputs, shape, |a, b| Some((a == b).into())),
        "Less" => pairs(inputs, shape, |a, b| Some((a < b).into())),
        "Greater" => pairs(inputs, shape, |a, b| Some((a > b).into())),
        "Max" if step.inputs.len() == 2 => pairs(inputs, shape, |a, b| Some(a.max(b))),
        "Min" if step.inputs.len() == 2 => pairs(inputs, shape, |a, b| Some(a.min(b))),
        "Where" => {
            let [condition, yes, no] = [0, 1, 2].map(of);
            let (condition, yes, no) = (condition?, yes?, no?);
            let count = count_of(shape)?;
            let at = |list: &[i64], place: usize| match list {
                [only] => Some(*only),
                list if list.len() == count => list.get(place).copied(),
                _ => None,
            };
            let pick = |place| match at(condition, place)? {
                0 => at(no, place),
                _ => at(yes, place),
            };
            (0..count).map(pick).collect()
        }
        "Concat" => {
            let mut all = Vec::new();
            for place in 0..step.inputs.len() {
                all.extend_from_slice(of(place)?);
            }
            // Of lists; those of higher rank are interleaved.
            (shape.len() == 1).then_some(all)
        }
        "Gather" => {
            let (data, places) = (of(0)?, of(1)?);
            let is_list = inputs.first().copied().flatten()?.rank() == 1;
            let pick = |place: &i64| {
                let place = axis_of(*place, data.len())?;
                data.get(place).copied()
            };
            is_list.then(|| places.iter().map(pick).collect())?
        }
        "ConstantOfShape" => {
            let value = match step.tensor.as_deref() {
                None => 0,
                Some([value]) => *value,
                // Fractions, too.
                Some(_) => return None,
            };
            Some(vec![value; count_of(shape)?])
        }
        "Range" => {
            let (start, step) = (*of(0)?.first()?, *of(2)?.first()?);
            let count = i64::try_from(count_of(shape)?).ok()?;
            (0..count)
                .map(|n| n.checked_mul(step)?.checked_add(start))
                .collect()
        }
        "ReduceProd" => {
            let all = of(0)?
                .iter()
                .try_fold(1i64, |all, number| all.checked_mul(*number));
            (count_of(shape)? == 1).then_some(vec![all?])
        }
        _ => None,
    }
}

fn count_of(shape: &[u64]) -> Option<usize> {
    let count = shape
        .iter()
        .try_fold(1u64, |all, dim| all.checked_mul(*dim))?;
    let count = usize::try_from(count).ok()?;
    (count <= INTEGERS_LIMIT).then_some(count)
}

/// Both inputs number by number, one of which may be a single one.
fn pairs(
    inputs: &[Option<&Value>],
    shape: &[u64],
    work: impl Fn(i64, i64) -> Option<i64>,
) -> Option<Vec<i64>> {
    let [Some(one), Some(other)] = inputs else {
        return None;
    };
    let (one, other) = (one.integers.as_deref()?, other.integers.as_deref()?);
    let count = count_of(shape)?;
    let at = |list: &[i64], place: usize| match list {
        [only] => Some(*only),
        list if list.len() == count => list.get(place).copied(),
        _ => None,
    };
    (0..count)
        .map(|place| work(at(one, place)?, at(other, place)?))
        .collect()
}

/// A part of a list, as the operator `Slice` takes it.
pub(super) fn sliced(list: &[i64], start: i64, end: i64, step: i64) -> Option<Vec<i64>> {
    let count = slice_length(list.len() as u64, start, end, step)?;
    let length = i64::try_from(list.len()).ok()?;
    let first = slice_start(length, start, step);
    (0..i64::try_from(count).ok()?)
        .map(|n| list.get(usize::try_from(first + n * step).ok()?).copied())
        .collect()
}
