//! Who uses whom, by name: rows that have a word from the keyword index, the word itself from their text.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};

use kb_types::error::Result;
use kb_types::syntax::nesting::innermost;
use kb_types::syntax::{SymbolRef, SymbolSpans};
use kb_types::{Symbol, line_ends};
use roaring::RoaringBitmap;

use crate::index::keyword::{Analyser, SymbolTerm, searched_names};
use crate::search::filter::rows::live_rows_of;
use crate::search::filter::symbol_name::SymbolName;
use crate::search::filter::symbols::WantedSymbols;
use crate::search::sources::Sources;
use crate::search::symbols::calls::is_called;
use crate::search::symbols::lookup::{DocumentRows, documents, keep_rows, text_of};
use crate::store::symbols::StoredSymbols;

/// Most bytes of text that are read to find the uses of a name.
// Half a second at 600 MB/s. A name such as `new` is in every chunk; the result then says that it
// is incomplete.
const MAX_READ_BYTES: u64 = 256 << 20;

/// Most bytes of the definitions of a name that are read.
const MAX_DEFINITION_BYTES: u64 = 4 << 20;

/// Distinct identifiers that are looked up.
// One lookup each: some tens of milliseconds for all of them.
const MAX_IDENTIFIERS: usize = 20_000;

/// Most lines of one symbol that are kept. Further uses are only counted.
const MAX_LINES: usize = 100;

/// Where a name is used.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// Documents with symbols that use it, file by file in the order of paths, each with the lines by position of the symbol.
    pub(super) documents: Vec<(DocumentRows, BTreeMap<usize, Vec<UsingLine>>)>,
    /// Lines outside of symbols.
    pub(super) outside: u64,
    /// Whether text was left unread.
    pub(super) is_cut: bool,
}

/// A line that has a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct UsingLine {
    /// Its number in the original file, from 1.
    pub(super) line: u32,
    /// Whether the name is called in it.
    pub(super) is_call: bool,
}

/// The names by which symbols are called that `name` finds: as it was asked for where that is one of them; without any
/// such symbol as it was asked for. Whether there are such symbols comes second.
pub(super) fn called_names(
    sources: &Sources<'_>,
    name: &SymbolName,
) -> Result<(BTreeSet<String>, bool)> {
    let mut names = BTreeSet::new();
    each_definition(sources, name, |_, symbol| {
        names.extend(searched_names(symbol.name).last().map(str::to_owned));
        Ok(ControlFlow::Continue(()))
    })?;
    let asked = name.last_name();
    let is_defined = !names.is_empty();
    if names.contains(&asked) || !is_defined {
        names = BTreeSet::from([asked]);
    }
    Ok((names, is_defined))
}

/// Calls `visit` with the symbols that a name finds and their documents, by path and line, until it breaks.
fn each_definition(
    sources: &Sources<'_>,
    name: &SymbolName,
    mut visit: impl FnMut(&DocumentRows, SymbolRef<'_>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let wanted = WantedSymbols::of_name(name.clone());
    let mut rows = live_rows_of(sources);
    keep_rows(&wanted, sources, &mut rows)?;
    for document in documents(sources, &rows)? {
        let symbols = symbols_of(sources, &document)?;
        for (position, symbol) in symbols.iter().enumerate() {
            if wanted.has_at(&symbols, position, &document.record.path)
                && visit(&document, symbol)?.is_break()
            {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The symbols of a document.
pub(super) fn symbols_of(sources: &Sources<'_>, document: &DocumentRows) -> Result<StoredSymbols> {
    let source = sources.source(sources.file_of(document.segment))?;
    let table = &source.catalog.symbols;
    table.stored(source.snapshot, document.id, document.record.text_bytes)
}

/// What the definitions of a name use.
#[derive(Debug, Default)]
pub(super) struct UsedNames {
    /// Identifiers in them that some symbol of the file has as its name.
    names: BTreeSet<String>,
    /// Languages of the definitions, each by the family that it calls: a word of another one is another name.
    families: BTreeSet<String>,
    /// Whether definitions or identifiers in them were left unread.
    pub(super) is_cut: bool,
}

impl UsedNames {
    /// Whether there is a definition of the name.
    pub(super) fn is_defined(&self) -> bool {
        !self.families.is_empty()
    }

    /// Whether a symbol of a program in that language is called by one of the names.
    pub(super) fn has(&self, symbol: &SymbolRef<'_>, language: &str) -> bool {
        let last = searched_names(symbol.name).last();
        // The name of a field is a common word, and what uses a type names few of its fields.
        symbol.kind.is_section()
            && self.families.contains(family(language))
            && last.is_some_and(|it| self.names.contains(it))
    }
}

/// The language that stands for those that call each other.
fn family(language: &str) -> &str {
    match language {
        "cpp" => "c",
        "typescript" | "tsx" | "jsx" => "javascript",
        "kotlin" | "scala" | "groovy" => "java",
        other => other,
    }
}

/// The names of symbols that the definitions of a name use.
pub(super) fn used_by(sources: &Sources<'_>, name: &SymbolName) -> Result<UsedNames> {
    let mut used: BTreeSet<String> = BTreeSet::new();
    let mut families = BTreeSet::new();
    let mut is_cut = false;
    let mut read_bytes = 0;
    each_definition(sources, name, |document, symbol| {
        if read_bytes > MAX_DEFINITION_BYTES || used.len() > MAX_IDENTIFIERS {
            is_cut = true;
            return Ok(ControlFlow::Break(()));
        }
        sources.tick()?;
        families.insert(family(&document.record.language).to_owned());
        let text = text_of(sources, document, symbol.spans.span)?;
        read_bytes += text.len() as u64;
        // Where its own name stands is no use of it.
        let SymbolSpans {
            name_start, span, ..
        } = symbol.spans;
        let own = name_start.saturating_sub(span.start) as usize;
        let own = own..own + symbol.name.len();
        let others = identifiers(&text).filter(|range| !own.contains(&range.start));
        used.extend(others.filter_map(|range| text.get(range).map(str::to_owned)));
        Ok(ControlFlow::Continue(()))
    })?;
    let indexes = sources.segments.iter().map(|bound| bound.keyword_index());
    let indexes = indexes.collect::<Result<Vec<_>>>()?;
    let mut names = BTreeSet::new();
    is_cut |= used.len() > MAX_IDENTIFIERS;
    for word in used.into_iter().take(MAX_IDENTIFIERS) {
        for index in &indexes {
            if index.has_symbol(SymbolTerm::Definition, &word)? {
                names.insert(word);
                break;
            }
        }
    }
    Ok(UsedNames {
        names,
        families,
        is_cut,
    })
}

/// Where names are used in the live rows of `rows`. Costs the reading of the rows that have the word.
pub(super) fn uses_of(
    sources: &Sources<'_>,
    names: &BTreeSet<String>,
    mut rows: Vec<RoaringBitmap>,
) -> Result<Uses> {
    keep_rows_with_words(sources, names, &mut rows)?;
    let mut uses = Uses::default();
    let mut read_bytes = 0;
    for document in documents(sources, &rows)? {
        let symbols = symbols_of(sources, &document)?;
        if symbols.is_empty() {
            continue;
        }
        let symbols = symbols.to_symbols();
        let own_names = OwnNames::of(&symbols, names);
        let mut by_symbol: BTreeMap<usize, Vec<UsingLine>> = BTreeMap::new();
        let bound = sources.segment(document.segment)?;
        let (chunks, mut blocks) = (bound.chunks(), bound.blocks()?);
        for row in &document.rows {
            sources.tick()?;
            if read_bytes > MAX_READ_BYTES {
                uses.is_cut = true;
                break;
            }
            let at = chunks.get(*row)?.at;
            let text = blocks.chunk(*row)?;
            read_bytes += text.len() as u64;
            let (mut line, mut counted) = (at.lines.first, 0);
            let mut last_outside = None;
            for range in identifiers(&text) {
                let is_meant = text.get(range.clone()).is_some_and(|it| names.contains(it));
                if !is_meant {
                    continue;
                }
                line += line_ends(text.get(counted..range.start).unwrap_or_default());
                counted = range.start;
                let byte = at.span.start.saturating_add(range.start as u32);
                if own_names.has(byte) {
                    continue;
                }
                match innermost(&symbols, byte) {
                    Some(position) => {
                        let lines = by_symbol.entry(position).or_default();
                        let language = &document.record.language;
                        let is_call = is_called(&text, range.start, range.end, language);
                        let is_full = lines.len() >= MAX_LINES;
                        match lines.last_mut() {
                            Some(last) if last.line == line => last.is_call |= is_call,
                            _ if is_full => {}
                            _ => lines.push(UsingLine { line, is_call }),
                        }
                    }
                    None if last_outside == Some(line) => {}
                    None => {
                        uses.outside += 1;
                        last_outside = Some(line);
                    }
                }
            }
        }
        if !by_symbol.is_empty() {
            uses.documents.push((document, by_symbol));
        }
        if uses.is_cut {
            break;
        }
    }
    Ok(uses)
}

/// Where a program names the symbols of some names: that is no use of them. The name of a type may stand behind what
/// it holds, so this is no matter of nesting.
struct OwnNames {
    /// First byte of each name, ascending, and the farthest end of it and those before.
    spans: Vec<(u32, u32)>,
}

impl OwnNames {
    fn of(symbols: &[Symbol], names: &BTreeSet<String>) -> OwnNames {
        let named = symbols.iter().filter(|symbol| {
            let last = searched_names(&symbol.name).last();
            last.is_some_and(|last| names.contains(last))
        });
        let spans = named.map(|symbol| {
            let start = symbol.name_start;
            (start, start.saturating_add(symbol.name.len() as u32))
        });
        OwnNames::at(spans.collect())
    }

    /// First bytes and ends of the names, in any order.
    fn at(mut spans: Vec<(u32, u32)>) -> OwnNames {
        spans.sort_unstable();
        let mut farthest = 0;
        for (_, end) in &mut spans {
            farthest = farthest.max(*end);
            *end = farthest;
        }
        OwnNames { spans }
    }

    /// Whether a byte lies in one of the names. Takes the logarithm of their number.
    fn has(&self, byte: u32) -> bool {
        let begun = self.spans.partition_point(|(start, _)| *start <= byte);
        let last = begun.checked_sub(1).and_then(|last| self.spans.get(last));
        last.is_some_and(|(_, end)| byte < *end)
    }
}

/// Leaves the rows that may have one of the words: those with its term. A word without one (a single letter) leaves all
/// rows.
fn keep_rows_with_words(
    sources: &Sources<'_>,
    names: &BTreeSet<String>,
    rows: &mut [RoaringBitmap],
) -> Result<()> {
    let mut analyser = Analyser::new();
    let mut terms: BTreeSet<String> = BTreeSet::new();
    for name in names {
        let mut first = None;
        // A single letter has no term in lower case, nor as a part of `A/B`.
        if name.chars().nth(1).is_none() {
            return Ok(());
        }
        analyser.analyse(name, |term, range| {
            // The whole identifier comes before its parts.
            if first.is_none() && range.start == 0 {
                first = Some(term.to_owned());
            }
        });
        match first {
            Some(term) => terms.insert(term),
            None => return Ok(()),
        };
    }
    for (bound, rows) in sources.segments.iter().zip(rows) {
        let index = bound.keyword_index()?;
        let mut with = RoaringBitmap::new();
        for term in &terms {
            if let Some(list) = index.postings(term)? {
                index.cursor(&list)?.for_each_block(|block, _, _| {
                    with.extend(block);
                    Ok(())
                })?;
            }
        }
        *rows &= with;
    }
    Ok(())
}

/// The identifiers of a text: runs of letters, digits, `_` and `$` that do not begin with a digit.
fn identifiers(text: &str) -> impl Iterator<Item = Range<usize>> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(at..)?;
            let start = at + rest.find(is_part)?;
            let run = text.get(start..)?;
            let length = run.find(|c| !is_part(c)).unwrap_or(run.len());
            at = start + length;
            if !run.starts_with(|c: char| c.is_numeric()) {
                return Some(start..at);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn names_of_symbols_are_found_as_when_all_are_tried(
            spans in prop::collection::vec((0u32..60, 0u32..20), 0..12),
            byte in 0u32..90,
        ) {
            let spans: Vec<(u32, u32)> = spans.iter().map(|(at, len)| (*at, at + len)).collect();
            let expected = spans.iter().any(|(start, end)| *start <= byte && byte < *end);
            prop_assert_eq!(OwnNames::at(spans).has(byte), expected);
        }
    }

    #[test]
    fn identifiers_are_runs_of_their_characters() {
        let text = "let $a_1 = b2(3c, \u{e9}t\u{e9}) + 9;";
        let found: Vec<&str> = identifiers(text).map(|range| &text[range]).collect();
        assert_eq!(found, ["let", "$a_1", "b2", "\u{e9}t\u{e9}"]);
        assert_eq!(identifiers("").count(), 0);
    }
}
