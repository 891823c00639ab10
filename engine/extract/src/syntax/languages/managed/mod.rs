//! Languages of the JVM and of .NET.

#[cfg(feature = "grammar-csharp")]
pub(super) mod csharp;
#[cfg(feature = "grammar-java")]
pub(super) mod java;
#[cfg(feature = "grammar-kotlin")]
pub(super) mod kotlin;
#[cfg(feature = "grammar-scala")]
pub(super) mod scala;
