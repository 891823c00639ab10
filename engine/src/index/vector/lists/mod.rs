//! Inverted lists: the rows of a large segment by the nearest of many centroids, so that a search
//! reads the lists near the query instead of all rows (Jegou, Douze and Schmid 2011, "Product
//! quantization for nearest neighbor search", section IV).
//!
//! The rows stay where they are; a list has, for each of its rows, the number of the row, the signs
//! of its residual from the centroid, and a factor with which these signs estimate a product.

pub(crate) mod block;
pub(crate) mod centroids;
pub(crate) mod check;
pub(crate) mod layout;
pub(crate) mod present;
pub(crate) mod probe;
pub(crate) mod reader;
pub(crate) mod residual;
pub(crate) mod sample;
pub(crate) mod scan;
pub(crate) mod train;
pub(crate) mod writer;

#[cfg(test)]
mod tests;
