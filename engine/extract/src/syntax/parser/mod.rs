//! Text -> syntax tree -> [`Syntax`], within limits.

use std::fmt;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use kb_types::{Syntax, SyntaxFallback};
use tree_sitter::{ParseOptions, Parser, Point, Tree};

use crate::syntax::kinds::LoadedGrammar;
use crate::syntax::languages;
use crate::syntax::preprocessor;
use crate::syntax::walk::walk;

/// Bytes of a program that is parsed; a tree takes up to 60 times as much memory, of real programs half of it.
// 6 MiB with 60 times as much memory stay below half of a worker's 1 GiB. Larger programs are
// generated, and are chunked by lines.
const MAX_SOURCE_BYTES: usize = 6 << 20;
/// Steps of a parser, in hundreds, as it reports them: the base, and one for so many bytes. The same program always
/// takes the same number, so what is parsed does not depend on the machine or its load. Of 4,000 real files none of
/// that size takes one for fewer than 53 bytes, the mean is 183; a text that is no program at all takes dozens of
/// times as many, and longer for each.
const STEPS_BASE: u64 = 1 << 11;
const BYTES_PER_STEP: u64 = 32;
/// For a parser whose steps are slow beyond all experience. One that hangs between two of them is ended with the
/// worker process.
// Below the 30 s of CPU time of a worker, so that the rest of the file can still be stored without
// symbols.
const MAX_TIME: Duration = Duration::from_secs(20);

/// What is wanted of a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SyntaxOptions {
    /// Whether the names that it uses are listed.
    pub uses: bool,
}

/// Parses programs, one after another, on one thread.
pub struct SyntaxParser {
    parser: Parser,
    options: SyntaxOptions,
}

impl fmt::Debug for SyntaxParser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyntaxParser").finish_non_exhaustive()
    }
}

impl SyntaxParser {
    /// A parser for any language.
    pub fn new(options: SyntaxOptions) -> SyntaxParser {
        SyntaxParser {
            parser: Parser::new(),
            options,
        }
    }

    /// The structure of `text`, a program in `language` (a word of [`kb_types::file_types`]) under the name `path`,
    /// whose ending decides between dialects. Nothing where there is no grammar. Linear in the text, but for what
    /// the limits bound: a parser that recovers from errors may take more steps.
    pub fn parse(&mut self, language: &str, path: &str, text: &str) -> Syntax {
        let Some(loaded) = languages::find(language, path, text) else {
            return Syntax::default();
        };
        match self.tree(loaded, text) {
            Ok(tree) => {
                let syntax = walk(&tree, loaded, text, self.options.uses);
                let has_error = tree.root_node().has_error();
                // Only after an error: blanking costs a second parse, and most programs parse as
                // they are.
                let is_preprocessed = has_error && loaded.grammar.is_preprocessed;
                let other = is_preprocessed.then(|| self.parse_blanked(loaded, text));
                // What is blanked holds symbols, too.
                let other = other.flatten();
                // More symbols are the only sign of which reading is the right one.
                match other.filter(|other| other.symbols.len() > syntax.symbols.len()) {
                    Some(other) => other,
                    None => syntax,
                }
            }
            Err(fallback) => Syntax {
                fallback: Some(fallback),
                ..Syntax::default()
            },
        }
    }

    /// The structure of `text` without what only a preprocessor understands.
    fn parse_blanked(&mut self, loaded: &LoadedGrammar, text: &str) -> Option<Syntax> {
        let blanked = preprocessor::blanked(text)?;
        let tree = self.tree(loaded, &blanked).ok()?;
        Some(walk(&tree, loaded, text, self.options.uses))
    }

    fn tree(&mut self, loaded: &LoadedGrammar, text: &str) -> Result<Tree, SyntaxFallback> {
        if text.len() > MAX_SOURCE_BYTES {
            return Err(SyntaxFallback::TooLarge(text.len()));
        }
        let set = self.parser.set_language(&loaded.language);
        set.map_err(|_| SyntaxFallback::Unavailable)?;
        let started = Instant::now();
        // Steps, not time: what is stored of a program must not depend on how busy the machine was.
        let mut left = STEPS_BASE + text.len() as u64 / BYTES_PER_STEP;
        let mut progress = |_: &tree_sitter::ParseState| {
            left = left.saturating_sub(1);
            if left == 0 || (left.is_multiple_of(1024) && started.elapsed() > MAX_TIME) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let bytes = text.as_bytes();
        let mut read = |at: usize, _: Point| bytes.get(at..).unwrap_or_default();
        let options = ParseOptions::new().progress_callback(&mut progress);
        let tree = self
            .parser
            .parse_with_options(&mut read, None, Some(options));
        if tree.is_none() {
            // What is left of an interrupted parse would be taken up again.
            self.parser.reset();
        }
        tree.ok_or(SyntaxFallback::TooSlow)
    }
}

#[cfg(test)]
mod tests;
