//! What every function of the library needs: the boundary that panics do not cross, statuses and errors, handles, and
//! what C hands over by pointer.

pub(crate) mod boundary;
pub mod error;
pub(crate) mod fault;
pub(crate) mod handle;
pub(crate) mod options;
pub(crate) mod panic;
pub mod progress;
pub mod status;
pub mod str;
pub mod text;
