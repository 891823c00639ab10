//! What benches beside other systems share: processes that are timed, environments of Python, and tables
//! of numbers that all of them read.

pub(crate) mod npy;
pub(crate) mod process;
pub(crate) mod python;
