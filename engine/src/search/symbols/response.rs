//! What a request for symbols returns.

use kb_types::{Lines, SymbolKind};

use crate::paging::Paged;

/// A symbol of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundSymbol {
    /// Position of its file among those of the request; 0 where one file is asked.
    pub file: usize,
    /// Path of its document.
    pub document: String,
    /// Handle of its document.
    pub handle: String,
    /// Language of its document.
    pub language: String,
    /// What it is.
    pub kind: SymbolKind,
    /// Its name as it stands in the text.
    pub name: String,
    /// Labels of the symbols that hold it and its own, the outermost first: `impl Foo > fn bar`.
    pub hierarchy: String,
    /// What stands before its body, on one line, at most 200 bytes; empty where its text cannot be read.
    pub signature: String,
    /// Lines of its definition, attributes included, without the comment above it.
    pub lines: Lines,
    /// Where the relation was [`Uses`](crate::SymbolRelation::Uses): lines that have the name, ascending, at most 100.
    pub uses: Vec<u32>,
    /// Those of `uses` in which the name is called: an opening bracket follows it outside of comments. Languages that call
    /// without brackets have none.
    pub calls: Vec<u32>,
}

impl FoundSymbol {
    /// Those of `uses` that only name it, ascending.
    pub fn mentions(&self) -> Vec<u32> {
        let lines = self.uses.iter().copied();
        lines.filter(|line| !self.calls.contains(line)).collect()
    }
}

/// The symbols of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SymbolsResponse {
    /// File by file, by path, then line.
    pub symbols: Paged<FoundSymbol>,
    /// How many there are on all pages.
    pub total: u64,
    /// With [`Uses`](crate::SymbolRelation::Uses): lines that have the name and lie in no symbol: imports, statements at
    /// the top of a program.
    pub uses_outside: u64,
    /// Whether any document of the files has symbols: none in files without programs.
    pub has_symbols: bool,
    /// Where the answer may not be what was meant: a name that nothing has, filters that nothing passes.
    pub warnings: Vec<String>,
}
