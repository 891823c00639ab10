//! Languages that are compiled to machine code.

#[cfg(any(feature = "grammar-c", feature = "grammar-cpp"))]
mod declarator;

#[cfg(feature = "grammar-c")]
pub(super) mod c;
#[cfg(feature = "grammar-cpp")]
pub(super) mod cpp;
#[cfg(feature = "grammar-go")]
pub(super) mod go;
#[cfg(feature = "grammar-rust")]
pub(super) mod rust;
