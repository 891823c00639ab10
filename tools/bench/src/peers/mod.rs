//! What benches beside other systems share: processes that are timed, environments of Python, and tables
//! of numbers that all of them read, and the results.

pub(crate) mod npy;
pub(crate) mod process;
pub(crate) mod python;
pub(crate) mod results;

/// How many neighbours are asked for and compared.
pub(crate) const K: usize = 10;

/// Scores this near are equal: the order in which products are summed moves the last digits.
pub(crate) const EQUAL: f32 = 1e-5;
