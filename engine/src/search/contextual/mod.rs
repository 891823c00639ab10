//! Vectors of a model that is not built in, beside those of the built-in one.
//!
//! A file whose column knows its model is searched by that model too, if the front can find it. [`columns`] embeds the
//! query by it; `models` finds it and checks that it is still the one that made the column; `rank::fusion` brings its scores to
//! the scale of the built-in model and decides how much they weigh. A chunk without a vector in the column keeps the score
//! of the built-in model. Files without such a column pay for a look at an empty list.

pub(crate) mod columns;

#[cfg(feature = "ingest")]
#[cfg(test)]
mod tests;
