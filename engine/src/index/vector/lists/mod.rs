//! Inverted lists: the rows of a large segment by the nearest of many centroids, so that a search
//! reads the lists near the query instead of all rows (Jegou, Douze and Schmid 2011, "Product
//! quantization for nearest neighbor search", section IV).
//!
//! The rows stay where they are; a list has, for each of its rows, the number of the row, the signs
//! of its residual from the centroid, and a factor with which these signs estimate a product.

pub mod block;
pub mod centroids;
pub mod check;
pub mod layout;
pub mod present;
pub mod probe;
pub mod reader;
pub mod residual;
pub mod sample;
pub mod scan;
pub mod train;
pub mod writer;

#[cfg(test)]
mod tests;
