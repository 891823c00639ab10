//! Candidates -> one order: [`score`] weighs keyword and vector score, [`top_k`] sorts and breaks ties,
//! [`passages`] joins neighbouring chunks or keeps one chunk a document.

pub(crate) mod evidence;
pub(crate) mod passages;
pub(crate) mod score;
pub(crate) mod top_k;
