//! Passages -> hits: [`hit`] reads text and metadata, [`window`] decides which lines are shown, [`snippet`]
//! picks the best few, [`phrases`] marks what they should have, [`imports`] what they
//! need not have, [`section`] names the section they lie in,
//! [`trim`] shortens the text around them, [`context`] reads what comes before and after, [`whole_lines`] the rest of
//! lines that chunks divide.

pub(crate) mod context;
pub(crate) mod hit;
pub(crate) mod imports;
pub(crate) mod phrases;
pub(crate) mod room;
pub(crate) mod section;
pub(crate) mod snippet;
#[cfg(test)]
#[cfg(feature = "ingest")]
mod tests;
pub(crate) mod trim;
pub(crate) mod whole_lines;
pub(crate) mod window;
