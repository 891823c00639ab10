//! What is known of a value before anything is computed.

/// Most integers of a value that are kept. Shapes have fewer.
pub(super) const INTEGERS_LIMIT: usize = 32;

/// A value: its shape, and its numbers if they are a short list of integers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) shape: Vec<u64>,
    pub(super) integers: Option<Vec<i64>>,
}

impl Value {
    pub(super) fn of(shape: Vec<u64>) -> Value {
        Value {
            shape,
            integers: None,
        }
    }

    /// A constant; `integers` are not its numbers if they are fewer.
    pub(super) fn constant(shape: &[u64], integers: &[i64]) -> Value {
        // As the runtime reads them: the end of a slice is often the largest integer of 64 bits.
        let clamped = |number: &i64| (*number).clamp(i32::MIN.into(), i32::MAX.into());
        Value::of(shape.to_vec()).with(integers.iter().map(clamped).collect())
    }

    /// A list of integers.
    pub(super) fn list(integers: Vec<i64>) -> Value {
        Value::of(vec![integers.len() as u64]).with(integers)
    }

    /// With its numbers, if they are as many as the shape says, and few.
    pub(super) fn with(mut self, integers: Vec<i64>) -> Value {
        // The runtime has 32 bits for each.
        let fits = |number: &i64| i32::try_from(*number).is_ok();
        let is_whole = self.numbers() == integers.len() as u64
            && integers.len() <= INTEGERS_LIMIT
            && integers.iter().all(fits);
        self.integers = is_whole.then_some(integers);
        self
    }

    /// How many numbers it has.
    pub(super) fn numbers(&self) -> u64 {
        self.shape
            .iter()
            .fold(1, |all, dim| all.saturating_mul(*dim))
    }

    pub(super) fn rank(&self) -> usize {
        self.shape.len()
    }

    /// A dimension, counted from the end if negative.
    pub(super) fn axis(&self, axis: i64) -> Option<usize> {
        axis_of(axis, self.rank())
    }
}

/// The place of an axis among `rank`.
pub(super) fn axis_of(axis: i64, rank: usize) -> Option<usize> {
    let rank_integer = i64::try_from(rank).ok()?;
    let from_start = if axis < 0 {
        axis.checked_add(rank_integer)?
    } else {
        axis
    };
    usize::try_from(from_start)
        .ok()
        .filter(|place| *place < rank)
}

/// The shape that several shapes have together.
pub(super) fn broadcast(shapes: &[&[u64]]) -> Option<Vec<u64>> {
    let rank = shapes.iter().map(|shape| shape.len()).max()?;
    let mut all = vec![1u64; rank];
    for shape in shapes {
        let dims = all.iter_mut().rev().zip(shape.iter().rev());
        for (dim, other) in dims {
            *dim = match (*dim, *other) {
                (1, other) => other,
                (dim, 1) => dim,
                (dim, other) if dim == other => dim,
                _ => return None,
            };
        }
    }
    Some(all)
}

/// How many numbers a range has.
pub(super) fn range_length(start: i64, limit: i64, step: i64) -> Option<u64> {
    let distance = i128::from(limit) - i128::from(start);
    let step = i128::from(step);
    if step == 0 {
        return None;
    }
    let rounds = (distance + step - step.signum()) / step;
    u64::try_from(rounds.max(0)).ok()
}

/// Where a slice of a list begins.
pub(super) fn slice_start(length: i64, start: i64, step: i64) -> i64 {
    let from_start = if start < 0 {
        start.saturating_add(length)
    } else {
        start
    };
    if step > 0 {
        from_start.clamp(0, length)
    } else {
        from_start.clamp(-1, length - 1)
    }
}

/// How many items a slice of a list has.
pub(super) fn slice_length(length: u64, start: i64, end: i64, step: i64) -> Option<u64> {
    let length = i64::try_from(length).ok()?;
    let first = slice_start(length, start, step);
    // An end before the first item of a list that is walked backwards.
    let end = if end < -length {
        -1
    } else {
        slice_start(length, end, step)
    };
    range_length(first, end, step)
}
