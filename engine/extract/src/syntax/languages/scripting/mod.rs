//! Languages that are run from their source.

#[cfg(feature = "grammar-bash")]
pub(super) mod bash;
#[cfg(any(feature = "grammar-javascript", feature = "grammar-typescript"))]
mod ecmascript;
#[cfg(feature = "grammar-javascript")]
pub(super) mod javascript;
#[cfg(feature = "grammar-lua")]
pub(super) mod lua;
#[cfg(feature = "grammar-php")]
pub(super) mod php;
#[cfg(feature = "grammar-python")]
pub(super) mod python;
#[cfg(feature = "grammar-ruby")]
pub(super) mod ruby;
#[cfg(feature = "grammar-typescript")]
pub(super) mod typescript;
