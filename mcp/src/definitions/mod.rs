//! What a server publishes about itself: the definitions of its tools, the instructions for models, and
//! the reference page.

mod instructions;
mod offer;
mod reference;

pub(crate) use instructions::instructions;
pub(crate) use offer::Offer;
pub use reference::reference;

use crate::response::Object;
use crate::tools;

/// The definitions as published, sorted by name; those that write only where writing is allowed.
#[cfg(test)]
pub(crate) fn definitions(allow_write: bool) -> Vec<Object> {
    offered(allow_write, &Offer::default())
}

/// The same of the tools that are offered, under the names that clients see.
pub(crate) fn offered(allow_write: bool, offer: &Offer) -> Vec<Object> {
    let shown = tools::published().filter(|(_, writes)| allow_write || !writes);
    let shown = shown.filter_map(|(tool, _)| {
        let name = tool.get("name")?.as_str()?;
        offer.has(name).then(|| {
            let mut tool = tool.clone();
            // Names and descriptions; what follows `enum` and the like is no name of a tool.
            for text in tool.values_mut() {
                offer.rename_all(text);
            }
            tool.insert("name".to_owned(), offer.shown(name).into());
            tool
        })
    });
    shown.collect()
}

#[cfg(test)]
mod tests;
