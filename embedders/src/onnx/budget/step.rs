//! An operator of a graph.

/// An operator with the places of its values.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) kind: String,
    pub(super) inputs: Vec<Option<usize>>,
    pub(super) outputs: Vec<Option<usize>>,
    pub(super) attributes: Vec<(String, Vec<i64>)>,
    /// Integers of a tensor in an attribute; `None` without any tensor.
    pub(super) tensor: Option<Vec<i64>>,
}

impl Step {
    /// The integers of an attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&[i64]> {
        let mut attributes = self.attributes.iter();
        let found = attributes.find(|(known, _)| known == name);
        found.map(|(_, integers)| integers.as_slice())
    }

    /// An attribute that is one integer.
    pub(super) fn integer(&self, name: &str, default: i64) -> i64 {
        let first = self.attribute(name).and_then(<[i64]>::first);
        first.copied().unwrap_or(default)
    }
}
