//! Filters by what chunks define: kinds and names of symbols.

use kb_types::error::Result;
use kb_types::syntax::SymbolRef;
use kb_types::syntax::by_chunk::SymbolsByChunk;
use kb_types::syntax::nesting::{SymbolList, innermost};
use kb_types::{DocumentId, Symbol, SymbolKind};
use roaring::RoaringBitmap;
use rustc_hash::FxHashSet;

use crate::catalog::BoundSegment;
use crate::index::keyword::SymbolTerm;
use crate::search::filter::rows::live;
use crate::search::filter::symbol_name::SymbolName;
use crate::search::filters::Filters;
use crate::search::sources::Source;
use crate::store::facets::{self, Facet};

/// What a symbol must be.
#[derive(Debug, Default)]
pub(crate) struct WantedSymbols {
    /// Any of these; empty: all, without names all but fields.
    pub(crate) kinds: Vec<SymbolKind>,
    /// Any of these; empty: any name.
    pub(crate) names: Vec<SymbolName>,
}

impl WantedSymbols {
    /// What filters ask for; `None`: nothing.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a pattern that no name can match.
    pub(crate) fn of(filters: &Filters) -> Result<Option<WantedSymbols>> {
        if filters.symbol_kinds.is_empty() && filters.symbol_names.is_empty() {
            return Ok(None);
        }
        let names = filters
            .symbol_names
            .iter()
            .map(|name| SymbolName::new("symbol_name", name));
        Ok(Some(WantedSymbols {
            kinds: filters.symbol_kinds.clone(),
            names: names.collect::<Result<_>>()?,
        }))
    }

    /// Those of a name, of any kind.
    pub(crate) fn of_name(name: SymbolName) -> WantedSymbols {
        WantedSymbols {
            kinds: Vec::new(),
            names: vec![name],
        }
    }

    /// Whether a symbol may be one of them: its kind, and its whole name or the last part of it, whatever holds it.
    pub(crate) fn has(&self, symbol: &SymbolRef<'_>) -> bool {
        let is_named = |name: &SymbolName| name.may_be(symbol.name);
        self.has_kind(symbol) && (self.names.is_empty() || self.names.iter().any(is_named))
    }

    /// Whether a symbol of the document at `path` is one of them: as [`WantedSymbols::has`], and held by what the name
    /// says before its last part.
    pub(crate) fn has_at(
        &self,
        symbols: &(impl SymbolList + ?Sized),
        position: usize,
        path: &str,
    ) -> bool {
        let Some(symbol) = symbols.symbol_at(position) else {
            return false;
        };
        let is_named = |name: &SymbolName| name.matches(symbols, position, path);
        self.has_kind(&symbol) && (self.names.is_empty() || self.names.iter().any(is_named))
    }

    fn has_kind(&self, symbol: &SymbolRef<'_>) -> bool {
        if self.kinds.is_empty() {
            // A list of all that a program defines is unreadable with them, and by name they are asked for.
            symbol.kind.is_section() || !self.names.is_empty()
        } else {
            self.kinds.contains(&symbol.kind)
        }
    }

    /// The terms by which such symbols are found.
    fn terms(&self) -> impl Iterator<Item = SymbolTerm> + use<> {
        let has = |is_field| {
            let mut kinds = self.kinds.iter();
            self.kinds.is_empty() || kinds.any(|kind| (*kind == SymbolKind::Field) == is_field)
        };
        let definition = has(false).then_some(SymbolTerm::Definition);
        let field = has(true).then_some(SymbolTerm::Field);
        definition.into_iter().chain(field)
    }

    /// Leaves the rows that may have the name of such a symbol.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn keep_rows(
        &self,
        source: &Source<'_>,
        bound: &BoundSegment<'_>,
        rows: &mut RoaringBitmap,
    ) -> Result<()> {
        if !self.names.is_empty() {
            let mut named = RoaringBitmap::new();
            for name in self.names.iter().flat_map(SymbolName::patterns) {
                let index = bound.keyword_index()?;
                for term in self.terms() {
                    named |= index.rows_of_symbols(term, name)?;
                }
            }
            *rows &= named;
        }
        if !self.kinds.is_empty() && !rows.is_empty() {
            let mut of_kinds = RoaringBitmap::new();
            let (id, count) = (bound.segment.id, bound.segment.rows());
            for kind in &self.kinds {
                let with = facets::rows_with(source.snapshot, id, count, Facet::Kind, kind.name())?;
                of_kinds |= with.unwrap_or_default();
            }
            *rows &= of_kinds;
        }
        Ok(())
    }

    /// The rows of the documents of some rows, as [`WantedSymbols::rows_of_document`].
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Cancelled`].
    pub(crate) fn rows_of_documents(
        &self,
        source: &Source<'_>,
        bound: &BoundSegment<'_>,
        named: &RoaringBitmap,
    ) -> Result<RoaringBitmap> {
        let mut passing = RoaringBitmap::new();
        let mut passed = 0;
        for row in named {
            if row < passed {
                continue;
            }
            source.reporter.tick()?;
            let id = bound.chunks().document(row)?;
            passed = self.rows_of_document(source, bound, id, &mut passing)?;
        }
        Ok(passing)
    }

    /// The rows of a document that have the name of such a symbol, or begin within one and no symbol that it holds:
    /// the further parts of a long function.
    fn rows_of_document(
        &self,
        source: &Source<'_>,
        bound: &BoundSegment<'_>,
        id: DocumentId,
        passing: &mut RoaringBitmap,
    ) -> Result<u32> {
        let record = source.catalog.documents.get(source.snapshot, id)?;
        let table = &source.catalog.symbols;
        let symbols = table.stored(source.snapshot, id, record.text_bytes)?;
        let end = record.first_row.saturating_add(record.rows);
        let end = end.min(bound.segment.rows());
        if !symbols.iter().any(|symbol| self.has(&symbol)) {
            return Ok(end);
        }
        let symbols = symbols.to_symbols();
        let positions = 0..symbols.len();
        let wanted = positions.filter(|at| self.has_at(symbols.as_slice(), *at, &record.path));
        let names = wanted.filter_map(|at| symbols.get(at).map(|symbol| symbol.name_start));
        let names: FxHashSet<u32> = names.collect();
        let has = |symbol: &Symbol| names.contains(&symbol.name_start);
        let mut by_chunk = SymbolsByChunk::new(&symbols);
        for row in record.first_row..end {
            let chunk = bound.chunks().get(row)?.at.span;
            let around = innermost(&symbols, chunk.start).and_then(|at| symbols.get(at));
            let is_named = by_chunk.named_in(chunk).any(has);
            if is_named || around.is_some_and(has) {
                passing.insert(row);
            }
        }
        Ok(end)
    }
}

/// Whether any document of the files has symbols.
///
/// # Errors
/// [`Error::Damaged`].
pub(crate) fn any_has_symbols(files: &[Source<'_>]) -> Result<bool> {
    for source in files {
        if source.catalog.symbols.has_any(source.snapshot)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Keeps the rows that define what the filters ask for, or are parts of it. Reads the symbols of documents that have
/// a name of it.
///
/// # Errors
/// [`Error::InvalidArgument`] for a pattern that no name can match, [`Error::Damaged`], [`Error::Cancelled`].
pub(crate) fn keep_symbols(
    source: &Source<'_>,
    filters: &Filters,
    rows: &mut [RoaringBitmap],
) -> Result<()> {
    let Some(wanted) = WantedSymbols::of(filters)? else {
        return Ok(());
    };
    for (segment, rows) in source.catalog.segments.iter().zip(rows) {
        source.reporter.tick()?;
        let bound = segment.bind(source.snapshot)?;
        if wanted.names.is_empty() {
            wanted.keep_rows(source, &bound, rows)?;
            continue;
        }
        let mut named = live(segment);
        wanted.keep_rows(source, &bound, &mut named)?;
        *rows &= wanted.rows_of_documents(source, &bound, &named)?;
    }
    Ok(())
}

#[cfg(test)]
#[cfg(all(feature = "grammar-python", feature = "grammar-rust"))]
mod tests {
    use super::*;
    use crate::kb::{Kb, KbWriter};
    use crate::search::{Mode, Request};

    /// A method, a function of the same name, a long function, and a class in another language.
    fn programs() -> (tempfile::TempDir, Kb) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let long: String = (0..200)
            .map(|n| format!("    walrus = combine(walrus, values[{n}], weights[{n}])\n"))
            .collect();
        let python = format!(
            "class Rig:\n    def trim(self):\n        return walrus\n\n\ndef trim(walrus):\n    return 1\n\n\n\
             def long_one(walrus):\n{long}    return walrus\n"
        );
        writer.add_bytes("a.py", python.as_bytes()).unwrap();
        let rust = b"/// A walrus.\nstruct Rig {\n    walrus: u32,\n}\n";
        writer.add_bytes("a.rs", rust).unwrap();
        writer.add_bytes("a.md", b"walrus trim").unwrap();
        writer.commit().unwrap();
        drop(writer);
        let kb = Kb::open(&path).unwrap();
        (folder, kb)
    }

    /// Kind and name of the symbols of the hits, and how many there are.
    fn found(kb: &Kb, filters: Filters) -> (Vec<String>, usize) {
        let request = Request::new("walrus").mode(Mode::Keyword).join(false);
        let response = kb.search(&request.filters(filters)).unwrap();
        let symbols = response.hits.iter().map(|hit| {
            let symbol = hit.symbol.as_ref().unwrap();
            format!("{} {}", symbol.kind.name(), symbol.hierarchy)
        });
        let mut symbols: Vec<String> = symbols.collect();
        symbols.sort();
        symbols.dedup();
        (symbols, response.hits.len())
    }

    #[test]
    fn one_symbol_has_both_kind_and_name() {
        let (_folder, kb) = programs();
        let named = |name: &str| Filters::new().symbol_names([name]);
        let (symbols, _) = found(&kb, named("TRIM").symbol_kinds([SymbolKind::Method]));
        assert_eq!(symbols, ["method class Rig > def trim"]);
        let (symbols, _) = found(&kb, named("tri?").symbol_kinds([SymbolKind::Function]));
        assert_eq!(symbols, ["function def trim"]);
        let (symbols, _) = found(&kb, named("trim").symbol_kinds([SymbolKind::Class]));
        assert!(symbols.is_empty(), "{symbols:?}");
    }

    #[test]
    fn a_symbol_is_one_hit_whatever_it_has_of_chunks() {
        // S2-08, S2-09
        let (_folder, kb) = programs();
        let (symbols, hits) = found(&kb, Filters::new().symbol_names(["long*"]));
        assert_eq!(
            (symbols, hits),
            (vec!["function def long_one".to_owned()], 1)
        );
        let (symbols, hits) = found(&kb, Filters::new().symbol_names(["trim"]));
        assert_eq!((symbols.len(), hits), (2, 2), "{symbols:?}");
    }

    #[test]
    fn languages_may_stand_in_one_value() {
        let (_folder, kb) = programs();
        let of = |languages: &str| {
            let filters = Filters::new().languages([languages]);
            found(&kb, filters.symbol_names(["Rig"])).0
        };
        assert_eq!(of("rs"), ["struct struct Rig"]);
        assert_eq!(of("py, rs").len(), 2);
        let filters = Filters::new().languages(["rust,klingon"]);
        let error = kb.search(&Request::new("walrus").filters(filters));
        let error = error.unwrap_err().to_string();
        assert!(error.contains("klingon"), "{error}");
    }

    #[test]
    fn a_part_of_a_symbol_becomes_all_of_it() {
        let (_folder, kb) = programs();
        let part = Request::new("\"weights[100]\"").mode(Mode::Keyword);
        let part = part.join(false);
        let lines = |request: &Request| {
            let response = kb.search(request).unwrap();
            let first = response.hits.first().unwrap();
            (first.lines.first, first.lines.last)
        };
        let (first, last) = lines(&part);
        assert!(10 < first && last < 211, "{first}-{last}");
        // S2-12
        assert_eq!(lines(&part.clone().smart_context(true)), (10, 211));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let body: String = (0..80)
            .map(|n| format!("    walrus = combine(walrus, values[{n}], weights[{n}])\n"))
            .collect();
        let code = format!("import a\n\n\n# Adds.\ndef add(walrus):\n{body}    return walrus\n");
        writer.add_bytes("b.py", code.as_bytes()).unwrap();
        // More than 16 KB.
        let endless = "    seal = seal + step(seal)\n".repeat(700);
        let endless = format!("def endless(seal):\n{endless}    return seal\n");
        writer.add_bytes("c.py", endless.as_bytes()).unwrap();
        writer.commit().unwrap();
        drop(writer);
        let kb = Kb::open(&path).unwrap();
        let request = Request::new("walrus combine")
            .mode(Mode::Keyword)
            .join(false);
        let parts = kb.search(&request).unwrap().hits.len();
        let whole = kb.search(&request.smart_context(true)).unwrap();
        assert!(parts > 1, "{parts}");
        assert_eq!(whole.hits.len(), 1, "parts of one symbol are one hit");
        let hit = whole.hits.first().unwrap();
        // With its comment, without the import above it.
        assert_eq!((hit.lines.first, hit.lines.last), (4, 86), "{}", hit.text);
        let seal = Request::new("seal step").mode(Mode::Keyword).join(false);
        let part = kb.search(&seal.clone().smart_context(true)).unwrap();
        assert!(part.hits.len() > 2, "its parts");
        // A filter asks for it all the same, and gets its beginning.
        let filters = Filters::new().symbol_names(["endless"]);
        let named = kb.search(&seal.filters(filters)).unwrap();
        let [hit] = named.hits.items.as_slice() else {
            panic!("{}", named.hits.len());
        };
        assert_eq!((hit.lines.first, hit.lines.last), (1, 702));
        assert!(hit.text.starts_with("def endless(seal):\n") && hit.text.len() < 20_000);
        assert!(hit.ends_within_line && hit.text.ends_with('\n'));
    }

    #[test]
    fn a_file_without_symbols_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        writer.add_bytes("a.md", b"# Tides\n\nEbb.\n").unwrap();
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        let filters = Filters::new().symbol_names(["ebb"]);
        let found = kb.search(&Request::new("ebb").filters(filters)).unwrap();
        assert!(found.hits.is_empty());
        let warning = found.warnings.join(" ");
        assert!(warning.contains("no document has symbols"), "{warning}");
    }
}
