//! Configuration, styles and builds.

#[cfg(feature = "grammar-css")]
pub(super) mod css;
#[cfg(feature = "grammar-dockerfile")]
pub(super) mod dockerfile;
#[cfg(feature = "grammar-hcl")]
pub(super) mod hcl;
#[cfg(feature = "grammar-makefile")]
pub(super) mod makefile;
#[cfg(feature = "grammar-toml")]
pub(super) mod toml;
