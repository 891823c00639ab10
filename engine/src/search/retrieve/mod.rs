//! Plan -> candidates. [`candidates`] asks the keyword and the vector index, [`layers`] goes deeper for later
//! pages; [`defined`] knows which chunks define a name that is asked for; [`browse`] and [`title`] find documents that are not ranked by their text.

pub(crate) mod browse;
pub(crate) mod candidates;
pub(crate) mod layers;
pub(crate) mod signals;
pub(crate) mod sorted;
pub(crate) mod title;
