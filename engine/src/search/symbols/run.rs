//! Request -> rows -> symbols -> one page.

use kb_types::error::Result;
use kb_types::syntax::nesting::{SymbolList as _, hierarchy};
use kb_types::syntax::signature;

use crate::paging::{Budget, CursorScope};
use crate::search::filter::rows::live_rows_of;
use crate::search::filter::symbol_name::SymbolName;
use crate::search::filter::symbols::{WantedSymbols, any_has_symbols};
use crate::search::filters::Filters;
use crate::search::plan::filtered;
use crate::search::sources::{Source, Sources};
use crate::search::symbols::lookup::{DocumentRows, documents, keep_rows, text_of};
use crate::search::symbols::request::{SymbolRelation, SymbolsRequest};
use crate::search::symbols::response::{FoundSymbol, SymbolsResponse};
use crate::search::symbols::uses::{
    UsedNames, Uses, UsingLine, called_names, symbols_of, used_by, uses_of,
};
use crate::store::handles;
use crate::store::symbols::StoredSymbols;

/// Bytes that the numbers and field names of a symbol count as in a token budget.
// Without it a page of hundreds of small symbols would be several times its budget as JSON.
const SYMBOL_OVERHEAD_BYTES: u64 = 100;

/// Bytes that a line of a use counts as.
// Up to five digits and a comma.
const LINE_BYTES: u64 = 6;

/// Answers a request to one or several files.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for what the request gets wrong,
/// [`Error::InvalidCursor`](crate::Error::InvalidCursor) and [`Error::StaleCursor`](crate::Error::StaleCursor) for a
/// continuation of something else, [`Error::Damaged`](crate::Error::Damaged) for what the file gets wrong.
pub(crate) fn symbols(files: &[Source<'_>], request: &SymbolsRequest) -> Result<SymbolsResponse> {
    request.validate()?;
    let commits = files.iter();
    let commits = commits.map(|file| (file.uuid, file.catalog.manifest.generation));
    let commits: Vec<([u8; 16], u64)> = commits.collect();
    let scope = CursorScope::new("symbols", &commits, request.fingerprint());
    let start = scope.start(&request.page)?;
    let sources = Sources::bind(files)?;
    let mut warnings = Vec::new();
    let rows = filtered(&sources, &request.filters, &mut warnings)?;
    let mut rows = rows.unwrap_or_else(|| live_rows_of(&sources));
    let wanted = WantedSymbols {
        kinds: request.kinds.clone(),
        names: request.wanted_name()?.into_iter().collect(),
    };
    let filter = WantedSymbols::of(&request.filters)?;
    let mut uses = Uses::default();
    let mut related = Related::All;
    if let (Some(relation), Some(name)) = (&request.relation, request.related_name()?) {
        let is_defined = match relation {
            SymbolRelation::Uses(_) => {
                let (names, is_defined) = called_names(&sources, &name)?;
                uses = uses_of(&sources, &names, rows.clone())?;
                related = Related::Uses;
                is_defined
            }
            SymbolRelation::UsedBy(_) => {
                let used = used_by(&sources, &name)?;
                let is_defined = used.is_defined();
                if used.is_cut {
                    warnings.push(
                        "not all definitions of the name were read: there are too many".to_owned(),
                    );
                }
                related = Related::UsedBy(used);
                is_defined
            }
        };
        if !is_defined {
            warnings.push(format!("no symbol has the name {name}"));
        }
        if uses.is_cut {
            warnings.push("not all text was read: the name is too common; use filters".to_owned());
        }
    }
    let mut page = Page {
        request,
        start,
        seen: 0,
        items: Vec::new(),
        budget: Budget::of_list(&request.page),
        next: None,
    };
    if let Related::Uses = related {
        page.take_using(&sources, (&wanted, filter.as_ref()), &uses)?;
    } else {
        keep_rows(&wanted, &sources, &mut rows)?;
        for document in documents(&sources, &rows)? {
            let symbols = symbols_of(&sources, &document)?;
            let mut numbered = symbols.iter().enumerate().filter(|(position, symbol)| {
                let path = &document.record.path;
                wanted.has_at(&symbols, *position, path)
                    && passes(filter.as_ref(), &symbols, *position, path)
                    && match &related {
                        Related::UsedBy(names) => names.has(symbol, &document.record.language),
                        _ => true,
                    }
            });
            numbered.try_for_each(|(position, _)| {
                page.take(&sources, &document, &symbols, (position, &[]))
            })?;
        }
    }
    if let ([name], 0) = (wanted.names.as_slice(), page.seen)
        && name.has_holders()
    {
        warnings.extend(held_by_others(&sources, &request.filters, name)?);
    }
    if start > 0 && page.items.is_empty() {
        return Err(CursorScope::out_of_range());
    }
    Ok(SymbolsResponse {
        total: page.seen,
        symbols: page.budget.paged(page.items, &scope, page.next),
        uses_outside: uses.outside,
        has_symbols: any_has_symbols(files)?,
        warnings,
    })
}

/// Whether a symbol is what filters ask for.
fn passes(
    filter: Option<&WantedSymbols>,
    symbols: &StoredSymbols,
    position: usize,
    path: &str,
) -> bool {
    filter.is_none_or(|filter| filter.has_at(symbols, position, path))
}

/// Says where the last part of a name is, when nothing of its name is held by what stands before.
fn held_by_others(
    sources: &Sources<'_>,
    filters: &Filters,
    name: &SymbolName,
) -> Result<Option<String>> {
    let wanted = WantedSymbols::of_name(name.without_holders());
    let rows = filtered(sources, filters, &mut Vec::new())?;
    let mut rows = rows.unwrap_or_else(|| live_rows_of(sources));
    keep_rows(&wanted, sources, &mut rows)?;
    let (mut count, mut first) = (0_u64, None);
    for document in documents(sources, &rows)? {
        let symbols = symbols_of(sources, &document)?;
        for (position, symbol) in symbols.iter().enumerate() {
            if wanted.has(&symbol) {
                count += 1;
                first.get_or_insert_with(|| {
                    let path = &document.record.path;
                    let hierarchy = hierarchy(&symbols, position);
                    format!("{hierarchy} in {path}:{}", symbol.spans.lines.first)
                });
            }
        }
    }
    let last = name.last_name();
    Ok(first.map(|first| match count {
        1 => format!("no symbol is {name}; one has the name {last}: {first}"),
        count => format!("no symbol is {name}; {count} have the name {last}, the first: {first}"),
    }))
}

/// Which symbols a relation leaves.
enum Related {
    All,
    /// Those that use a name.
    Uses,
    /// Those of these names, which the definitions of a name use.
    UsedBy(UsedNames),
}

/// The symbols of one page, and how many there are on all.
struct Page<'r> {
    request: &'r SymbolsRequest,
    /// Symbols on earlier pages.
    start: u64,
    seen: u64,
    items: Vec<FoundSymbol>,
    budget: Budget,
    /// Where the next page begins.
    next: Option<u64>,
}

impl Page<'_> {
    /// Takes the symbols that use a name.
    fn take_using(
        &mut self,
        sources: &Sources<'_>,
        (wanted, filter): (&WantedSymbols, Option<&WantedSymbols>),
        uses: &Uses,
    ) -> Result<()> {
        for (document, by_symbol) in &uses.documents {
            let symbols = symbols_of(sources, document)?;
            for (position, lines) in by_symbol {
                let path = &document.record.path;
                if wanted.has_at(&symbols, *position, path)
                    && passes(filter, &symbols, *position, path)
                {
                    self.take(sources, document, &symbols, (*position, lines))?;
                }
            }
        }
        Ok(())
    }

    /// Counts a symbol, and takes it where it belongs to this page and fits.
    fn take(
        &mut self,
        sources: &Sources<'_>,
        document: &DocumentRows,
        symbols: &StoredSymbols,
        (position, uses): (usize, &[UsingLine]),
    ) -> Result<()> {
        let number = self.seen;
        self.seen += 1;
        // Counted on, also behind the page: the total is part of the answer.
        if number < self.start || self.next.is_some() {
            return Ok(());
        }
        if self.items.len() >= self.request.k {
            self.next = Some(number);
            return Ok(());
        }
        let Some(symbol) = symbols.symbol_at(position) else {
            return Ok(());
        };
        let record = &document.record;
        let head = text_of(sources, document, symbol.spans.head)?;
        let lines = |uses: &mut dyn Iterator<Item = &UsingLine>| uses.map(|it| it.line).collect();
        let item = FoundSymbol {
            file: sources.file_of(document.segment),
            document: record.path.clone(),
            handle: handles::handle(&record.title, &record.path, &record.suffix),
            language: record.language.clone(),
            kind: symbol.kind,
            name: symbol.name.to_owned(),
            hierarchy: hierarchy(symbols, position),
            signature: signature(&head),
            lines: symbol.spans.lines,
            uses: lines(&mut uses.iter()),
            calls: lines(&mut uses.iter().filter(|line| line.is_call)),
        };
        let texts = [
            &item.document,
            &item.handle,
            &item.name,
            &item.hierarchy,
            &item.signature,
        ];
        let texts: usize = texts.iter().map(|text| text.len()).sum();
        let cost = texts as u64
            + SYMBOL_OVERHEAD_BYTES
            + (item.uses.len() + item.calls.len()) as u64 * LINE_BYTES;
        if self.budget.take(cost) {
            self.items.push(item);
        } else {
            self.next = Some(number);
        }
        Ok(())
    }
}
