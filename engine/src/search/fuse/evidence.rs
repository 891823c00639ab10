//! What the text of a chunk shows beside its scores.

/// Weight of adjacency, as a share of that of the keyword score. Chosen on the development sets.
const ADJACENCY_WEIGHT: f32 = 0.3;

/// What the text of a chunk shows, each part 0..1; all 0 for a chunk that was not read.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Evidence {
    /// Neighbouring terms of the query that are neighbours in the text, too.
    pub(crate) adjacency: f32,
}

impl Evidence {
    /// What each part adds to a fused score in which the keyword score has the weight `keyword_weight`, by name.
    pub(crate) fn bonuses(self, keyword_weight: f32) -> [(&'static str, f32); 1] {
        [(
            "adjacency",
            keyword_weight * ADJACENCY_WEIGHT * self.adjacency,
        )]
    }

    /// What all of it adds.
    pub(crate) fn bonus(self, keyword_weight: f32) -> f32 {
        let bonuses = self.bonuses(keyword_weight);
        bonuses.iter().map(|(_, bonus)| bonus).sum()
    }
}
