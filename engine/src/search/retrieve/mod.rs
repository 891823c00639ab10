//! Plan -> candidates. [`candidates`] asks the keyword and the vector index, [`layers`] goes deeper for later
//! pages; [`defined`] knows which chunks define a name that is asked for; [`browse`] and [`title`]
//! find documents that are not ranked by their text; [`order`] sorts, groups and counts what was found.

pub(crate) mod browse;
pub(crate) mod candidates;
pub(crate) mod layers;
pub(crate) mod order;
pub(crate) mod signals;
pub(crate) mod sorted;
pub(crate) mod title;
