//! What it costs to cut a program at a line, by its syntax: nothing between symbols, much inside of one that fits
//! into a chunk.

use std::iter::Peekable;
use std::slice::Iter;

use kb_types::{Document, Syntax, SyntaxCut};

/// As [`super::split_costs::Cost`].
type Cost = u32;

/// Between two symbols beside each other. Before the first of a file, behind imports and licence, it costs nothing.
// On the scale of `split_costs`. Together these were judged by which functions are among the first
// hits (docs/decisions/15-grammars.md), not one by one.
const BETWEEN_SYMBOLS: Cost = 6;
/// The same inside of a class or module, for each such.
const PER_HOLDER: Cost = 12;
/// Between statements that are no symbols, where there is no blank line.
const BETWEEN_STATEMENTS: Cost = 40;
/// Inside of a symbol that fits into a chunk.
const INSIDE_WHOLE: Cost = 130;
/// Inside of a function that does not fit, at its outermost statements.
const INSIDE_DIVIDED: Cost = 40;
/// For each construct further in.
const PER_DEPTH: Cost = 22;
/// Constructs that count.
const DEEPEST: u16 = 6;
/// Between a comment or an attribute and what it belongs to.
const ATTACHED: Cost = 170;
/// Between a line that opens a body and its first statement.
const INTO_BODY: Cost = 110;
/// At a line on which no construct begins: `}`, the inside of a string.
const NO_CONSTRUCT: Cost = 190;

/// What may follow a symbol on its line.
// A minified program is one line, which must not be searched for its end once for each symbol.
const REST_OF_LINE_BYTES: usize = 200;

/// A symbol with its comment.
#[derive(Debug, Clone, Copy)]
struct Extent {
    /// First byte of its first line.
    start: usize,
    end: usize,
    is_callable: bool,
    /// Whether it holds other symbols.
    holds: bool,
    /// Symbols around it.
    level: u32,
}

/// The costs of one program, asked for in ascending order of lines.
#[derive(Debug)]
pub(super) struct SyntaxCosts<'a> {
    cuts: Peekable<Iter<'a, SyntaxCut>>,
    extents: Vec<Extent>,
    /// Extents before this one begin before the line.
    next: usize,
    /// Those that hold the line, the outermost first.
    open: Vec<usize>,
    /// What fits into a chunk.
    cap_bytes: usize,
}

/// What is known of the line before.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineBefore {
    pub(super) is_blank: bool,
    /// Whether it is less indented than the line.
    pub(super) is_outer: bool,
}

impl<'a> SyntaxCosts<'a> {
    /// `None` for a document whose syntax is not known.
    pub(super) fn new(document: &'a Document, cap_bytes: usize) -> Option<SyntaxCosts<'a>> {
        let syntax = &document.syntax;
        if syntax.cuts.is_empty() {
            return None;
        }
        Some(SyntaxCosts {
            cuts: syntax.cuts.iter().peekable(),
            extents: extents(syntax, &document.text),
            next: 0,
            open: Vec::new(),
            cap_bytes,
        })
    }

    /// The cost of a cut before the line at `at`. Amortised over all lines, constant time.
    pub(super) fn cost(&mut self, at: usize, before: LineBefore) -> Cost {
        while self.cuts.next_if(|cut| (cut.at as usize) < at).is_some() {}
        let cut = self
            .cuts
            .peek()
            .filter(|cut| cut.at as usize == at)
            .copied();
        let is_first = self.next == 0;
        let mut begins = false;
        while let Some(extent) = self.extents.get(self.next).filter(|it| it.start <= at) {
            begins |= extent.start == at;
            if extent.start < at {
                self.open.push(self.next);
                self.next += 1;
            } else {
                break;
            }
        }
        let extents = &self.extents;
        let has_ended = |open: usize| extents.get(open).is_none_or(|extent| extent.end <= at);
        while self.open.pop_if(|open| has_ended(*open)).is_some() {}
        let holder = self.open.last().and_then(|open| extents.get(*open));
        let Some(cut) = cut else {
            // At most 322: below `ANYWHERE`, so that any line end is better than a cut within a
            // line.
            return NO_CONSTRUCT + PER_DEPTH * self.open.len().min(6) as Cost;
        };
        let mut cost = match holder {
            None => 0,
            Some(holder) if holder.is_callable || !holder.holds => self.inside(holder, cut),
            Some(holder) => {
                let whole = if holder.end - holder.start <= self.cap_bytes {
                    INSIDE_WHOLE / 2
                } else {
                    0
                };
                whole + PER_HOLDER * (holder.level + 1).min(6)
            }
        };
        if cut.is_attached {
            return cost + ATTACHED;
        }
        if begins {
            cost += if is_first { 0 } else { BETWEEN_SYMBOLS };
        } else if !before.is_blank {
            cost += BETWEEN_STATEMENTS;
        } else {
            cost += BETWEEN_STATEMENTS / 2;
        }
        if before.is_outer && !before.is_blank {
            cost += INTO_BODY;
        }
        cost
    }

    fn inside(&self, holder: &Extent, cut: &SyntaxCut) -> Cost {
        let depth = cut.depth.min(DEEPEST + holder.level as u16);
        let further = u32::from(depth).saturating_sub(holder.level + 1);
        let base = if holder.end - holder.start <= self.cap_bytes {
            INSIDE_WHOLE
        } else {
            INSIDE_DIVIDED
        };
        base + PER_DEPTH * further
    }
}

/// Symbols that are sections, with their comments, from the first byte of a line to behind their line, in ascending order.
fn extents(syntax: &Syntax, text: &str) -> Vec<Extent> {
    let mut extents: Vec<Extent> = Vec::with_capacity(syntax.symbols.len());
    // Where the extent of each symbol is; that of a field is the one before, which nothing asks for.
    let mut places: Vec<usize> = Vec::with_capacity(syntax.symbols.len());
    let bytes = text.as_bytes();
    for symbol in &syntax.symbols {
        places.push(extents.len());
        if !symbol.kind.is_section() {
            continue;
        }
        let start = symbol.start_with_doc() as usize;
        let head = text.get(..start).unwrap_or_default();
        let start = head.trim_end_matches([' ', '\t']).len();
        let mut end = symbol.span.end as usize;
        // A semicolon or a comment may follow.
        let behind = bytes.get(end..).unwrap_or_default();
        let behind = behind.get(..REST_OF_LINE_BYTES).unwrap_or(behind);
        end += memchr::memchr(b'\n', behind).unwrap_or(behind.len());
        let above = symbol.parent.and_then(|parent| places.get(parent as usize));
        let mut level = 0;
        if let Some(holder) = above.and_then(|above| extents.get_mut(*above)) {
            holder.holds = true;
            level = holder.level + 1;
        }
        extents.push(Extent {
            start,
            end,
            is_callable: symbol.kind.is_callable(),
            holds: false,
            level,
        });
    }
    // The longer one first: it holds the other, and is opened before it.
    extents.sort_by_key(|extent| (extent.start, std::cmp::Reverse(extent.end)));
    extents
}
