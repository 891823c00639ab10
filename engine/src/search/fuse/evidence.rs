//! What is known of a chunk beside its keyword and vector score.
//!
//! The parts of file name and definition were first shares of what is missing to 1: .4 and .6, chosen on the
//! development sets, the questions of `eval where` and the commit messages of the same checkouts, leaving one
//! set out at a time. The weights here are what these shares added on average; they were not fitted again.

/// Weight of adjacency, as a share of that of the keyword score. Chosen on the development sets.
const ADJACENCY_WEIGHT: f32 = 0.25;

/// Most that the name of a file adds. Of the functions in five collections of whole files, .007 more are shown by
/// the first five hits with it.
const FILE_NAME_WEIGHT: f32 = 0.2;

/// Most that a definition adds: .023 nDCG@10 on eight collections of code, nothing on prose. It does not shrink
/// where the score is high: the mentions of a name that is all of the query have high scores, too.
const DEFINITION_WEIGHT: f32 = 0.33;

/// What a symbol of the name that the query asks for adds: more than all else together adds to a use of that name,
/// so that no use comes before its definition.
const SYMBOL_WEIGHT: f32 = 1.0;

/// What was found out about a chunk, by what it adds to the fused score; all 0 for a chunk that was not
/// looked at.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Evidence {
    /// For a kind of document that mentions much that is defined elsewhere; at most 0.
    pub(crate) kind: f32,
    /// For words of the query in the name of the file.
    pub(crate) file_name: f32,
    /// For neighbouring terms of the query that are neighbours in the text, too.
    pub(crate) adjacency: f32,
    /// For words of the query in a name that a line of the text defines.
    pub(crate) definition: f32,
    /// For a symbol of the name that the query asks for.
    pub(crate) symbol: f32,
}

impl Evidence {
    /// Adds what the document says: the share of the score that its kind costs, 0..1, and how much the name of
    /// its file says about the query, 0..1. The kind does not take the score below `least`.
    pub(crate) fn add_document(&mut self, fused: f32, least: f32, kind_loss: f32, file_name: f32) {
        self.kind = (fused * (1.0 - kind_loss)).max(least.min(fused)) - fused;
        self.file_name = FILE_NAME_WEIGHT * file_name;
    }

    /// Adds what the text shows, both 0..1; the keyword score has the weight `keyword_weight`.
    pub(crate) fn add_text(&mut self, keyword_weight: f32, adjacency: f32, definition: f32) {
        self.adjacency = keyword_weight * ADJACENCY_WEIGHT * adjacency;
        self.definition = DEFINITION_WEIGHT * definition;
    }

    /// Adds that a symbol of the name that is asked for begins in the chunk, 0..1.
    pub(crate) fn add_symbol(&mut self, share: f32) {
        self.symbol = SYMBOL_WEIGHT * share;
    }

    /// The fused score with all of this; what chunks are ordered by. It may exceed 1, so that the best of several
    /// good chunks is still the first.
    pub(crate) fn total(&self, fused: f32) -> f32 {
        let bonuses = self.bonuses().into_iter();
        fused + bonuses.map(|(_, bonus)| bonus).sum::<f32>()
    }

    /// Each part by name.
    pub(crate) fn bonuses(&self) -> [(&'static str, f32); 5] {
        [
            ("kind", self.kind),
            ("file name", self.file_name),
            ("adjacency", self.adjacency),
            ("definition", self.definition),
            ("symbol", self.symbol),
        ]
    }
}
