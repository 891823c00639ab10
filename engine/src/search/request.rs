//! What a caller asks: the query and all options, with their limits and defaults.

use kb_types::error::{Error, Result};

use crate::index::vector::Scan;
use crate::paging::PageOptions;
use crate::search::filters::Filters;
use crate::search::options::{Mode, RERANK_LIMIT, Rerank, Scope, Sort};
use crate::search::show::Show;

/// Longest query that is searched, in bytes; the rest of a longer one is ignored with a warning.
// A pasted stack trace has some KB. The cost of a query grows with its terms, and later terms
// hardly change the result.
pub const QUERY_LIMIT_BYTES: usize = 8 << 10;

/// Most threads of a request.
// More threads than processors gain nothing; a client must not start thousands.
pub const THREADS_LIMIT: usize = 64;

/// Most hits that one request may ask for.
// Candidates, scores and records are held in memory for all hits of a request. Pages and cursors go
// on beyond.
pub const K_LIMIT: usize = 10_000;

/// Most fields whose values one request counts.
// Each is a map over all documents that were found.
pub const FACETS_LIMIT: usize = 16;

/// One query to one or several .kb files: what is retrieved, and in `show` and `previews` what is shown of it.
///
/// The builder methods have the names of the fields. [`Kb::search`](crate::Kb::search) checks the
/// values; building a request never fails.
///
/// ```
/// use kb_engine::{Filters, Mode, Request, Show};
///
/// let request = Request::new("tide tables")
///     .k(5)
///     .mode(Mode::Keyword)
///     .filters(Filters::new().paths(["docs/**"]))
///     .show(Show::whole().context_lines(2, 2));
/// assert_eq!(request.k, 5);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// The query: words, and the operators `"phrase"`, `+word`, `-word`, `title:`, `path:` and `tag:`.
    /// Anything that is not an operator is plain text, so no query is a syntax error. A query of
    /// operators alone lists the documents that pass, and so does a blank one with filters; without, it is refused.
    pub query: String,
    /// Whether operators are plain text like everything else.
    pub plain: bool,
    /// Whether words are searched as they are written. Without it, a word that no document has is replaced by the word
    /// that it is spelled like: never names, identifiers and quoted words.
    pub exact: bool,
    /// Most hits to return at once, `1..=`[`K_LIMIT`].
    pub k: usize,
    /// Which index answers.
    pub mode: Mode,
    /// What one hit stands for.
    pub scope: Scope,
    /// The order of the hits.
    pub sort: Sort,
    /// Name of a field: of the hits whose documents have one value of it only the first is returned, and one of those
    /// without the field. A document with several values stands for each of them. Only relevant hits count, as in
    /// [`Sort::Recency`].
    pub group_by: Option<String>,
    /// Names of fields whose values are counted in [`Response::facets`](crate::Response::facets), at most
    /// [`FACETS_LIMIT`].
    pub facets: Vec<String>,
    /// Which documents are searched.
    pub filters: Filters,
    /// Hits with a lower [`score`](crate::Hit::score) are left out, `0.0..=1.0`. [`Sort`] and [`Filters`]
    /// do not change scores. Documents that a query of fields alone lists score 1.
    pub min_score: f32,
    /// Whether neighbouring chunks with similar scores make one hit; has no effect in
    /// [`Scope::Documents`].
    pub join: bool,
    /// In programs, makes each hit the whole function or type that has the best lines of its chunk, with the comment
    /// above it, and each of them once. Not one of more than 16 KB. Without it, a hit is what was found. What is shown
    /// of a hit is up to `show`. [Filters](Filters::symbol_kinds) of symbols make the symbols that they ask for
    /// the hits, with it or without.
    pub smart_context: bool,
    /// How much of its passage each hit shows.
    pub show: Show,
    /// What is shown where nothing is [relevant](crate::Response::relevance) and there are several hits: at most
    /// so many of them, each of so many of its best lines and without context, and no cursor. `None`: as where
    /// something is. Neither may be 0.
    pub previews: Option<(usize, u32)>,
    /// How vectors are compared; for measurements.
    pub scan: Scan,
    /// Threads that may search at the same time, 1 to [`THREADS_LIMIT`]. With 2 or more the vector index of a
    /// hybrid request is searched beside the keyword index. The answer is the same.
    pub threads: usize,
    /// A vector to search by, of the model of the column: the words of the query then rank the keyword part of a
    /// hybrid request, and this the vector part. The query may be blank; without words the mode is semantic.
    /// Keyword and title mode refuse it. Numbers must be finite, as many as the column has dimensions, and for cosine
    /// not all zero; the length does not matter there. Scores of such a request are the fused scores as they are:
    /// nothing is known of what is a good one, and every hit counts as relevant.
    pub vector: Option<Vec<f32>>,
    /// Name of the column that `vector` is compared with. `None`: the default one of the file; of several files all
    /// must have a column of that name, with the same dimensions and metric. Without a vector the query is
    /// embedded, which only [`BUILT_IN_VECTORS`](crate::BUILT_IN_VECTORS) allows.
    pub vector_column: Option<String>,
    /// The model that orders the first passages anew; `None`: that of [`install_reranker`](crate::install_reranker), if
    /// there is one. Only an answer in the order of [`Sort::Score`] of one hit for a passage or document is ordered, not
    /// one of symbols, groups or documents that are listed. [`Hit::score`](crate::Hit::score) stays what it is without
    /// it. If the model fails, the answer is as without it, with a warning.
    pub rerank: Option<Rerank>,
    /// Token budget and cursor.
    pub page: PageOptions,
    /// Whether the response has an [`Explanation`](crate::Explanation), and each hit its
    /// [`TermScore`](crate::TermScore)s.
    pub explain: bool,
}

impl Request {
    /// A hybrid request for the ten best passages, without filters or context.
    pub fn new(query: impl Into<String>) -> Request {
        Request {
            query: query.into(),
            plain: false,
            exact: false,
            k: 10,
            mode: Mode::default(),
            scope: Scope::default(),
            sort: Sort::default(),
            group_by: None,
            facets: Vec::new(),
            filters: Filters::default(),
            min_score: 0.0,
            join: true,
            smart_context: false,
            show: Show::default(),
            previews: None,
            scan: Scan::Auto,
            threads: 1,
            vector: None,
            vector_column: None,
            rerank: None,
            page: PageOptions::default(),
            explain: false,
        }
    }

    /// Replaces the query.
    #[must_use]
    pub fn query(mut self, query: impl Into<String>) -> Request {
        self.query = query.into();
        self
    }

    /// Sets whether operators are plain text.
    #[must_use]
    pub fn plain(mut self, plain: bool) -> Request {
        self.plain = plain;
        self
    }

    /// Sets whether words are searched as they are written.
    #[must_use]
    pub fn exact(mut self, exact: bool) -> Request {
        self.exact = exact;
        self
    }

    /// Shows at most `hits` hits of `lines` lines where nothing is relevant.
    #[must_use]
    pub fn previews(mut self, hits: usize, lines: u32) -> Request {
        self.previews = Some((hits, lines));
        self
    }

    /// Sets the number of hits.
    #[must_use]
    pub fn k(mut self, k: usize) -> Request {
        self.k = k;
        self
    }

    /// Sets which index answers.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Request {
        self.mode = mode;
        self
    }

    /// Sets what one hit stands for.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Request {
        self.scope = scope;
        self
    }

    /// Sets the order of the hits.
    #[must_use]
    pub fn sort(mut self, sort: Sort) -> Request {
        self.sort = sort;
        self
    }

    /// Returns one hit for each value of a field.
    #[must_use]
    pub fn group_by(mut self, field: impl Into<String>) -> Request {
        self.group_by = Some(field.into());
        self
    }

    /// Counts the values of these fields.
    #[must_use]
    pub fn facets<T: Into<String>>(mut self, fields: impl IntoIterator<Item = T>) -> Request {
        self.facets = fields.into_iter().map(Into::into).collect();
        self
    }

    /// Replaces the filters.
    #[must_use]
    pub fn filters(mut self, filters: Filters) -> Request {
        self.filters = filters;
        self
    }

    /// Sets the lowest score.
    #[must_use]
    pub fn min_score(mut self, min_score: f32) -> Request {
        self.min_score = min_score;
        self
    }

    /// Sets whether neighbouring chunks make one hit.
    #[must_use]
    pub fn join(mut self, join: bool) -> Request {
        self.join = join;
        self
    }

    /// Sets whether parts of symbols become whole symbols.
    #[must_use]
    pub fn smart_context(mut self, smart_context: bool) -> Request {
        self.smart_context = smart_context;
        self
    }

    /// Sets how much of its passage each hit shows.
    #[must_use]
    pub fn show(mut self, show: Show) -> Request {
        self.show = show;
        self
    }

    /// Sets how vectors are compared.
    #[must_use]
    pub fn scan(mut self, scan: Scan) -> Request {
        self.scan = scan;
        self
    }

    /// Sets how many threads may search at the same time.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Request {
        self.threads = threads;
        self
    }

    /// Sets the vector to search by.
    #[must_use]
    pub fn vector(mut self, vector: impl Into<Vec<f32>>) -> Request {
        self.vector = Some(vector.into());
        self
    }

    /// Sets the column that the vector is compared with.
    #[must_use]
    pub fn vector_column(mut self, name: impl Into<String>) -> Request {
        self.vector_column = Some(name.into());
        self
    }

    /// Sets the model that orders the first passages anew.
    #[must_use]
    pub fn rerank(mut self, rerank: impl Into<Option<Rerank>>) -> Request {
        self.rerank = rerank.into();
        self
    }

    /// Sets token budget and cursor.
    #[must_use]
    pub fn page(mut self, page: PageOptions) -> Request {
        self.page = page;
        self
    }

    /// Sets whether the response has an explanation.
    #[must_use]
    pub fn explain(mut self, explain: bool) -> Request {
        self.explain = explain;
        self
    }

    /// Checks the values without searching; [`Kb::search`](crate::Kb::search) does the same first.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] when the query is blank without a filter, or a number is out of range.
    pub fn validate(&self) -> Result<()> {
        let invalid = |argument, reason| Err(Error::InvalidArgument { argument, reason });
        if self.vector.is_some() && matches!(self.mode, Mode::Keyword | Mode::Title) {
            let mode = self.mode.name();
            let reason = format!("{mode} mode does not search vectors; take hybrid or semantic");
            return invalid("vector", reason);
        }
        if self.query.trim().is_empty() && self.vector.is_none() && self.filters.is_empty() {
            let reason = "it is empty; give at least one word, or a filter".to_owned();
            return invalid("query", reason);
        }
        if self.k == 0 || self.k > K_LIMIT {
            let reason = format!("{} given; allowed are 1 to {K_LIMIT}", self.k);
            return invalid("k", reason);
        }
        check_threads(self.threads)?;
        if !(0.0..=1.0).contains(&self.min_score) {
            let reason = format!("{} given; allowed are 0 to 1", self.min_score);
            return invalid("min_score", reason);
        }
        if self.facets.len() > FACETS_LIMIT {
            let reason = format!("{} given; at most {FACETS_LIMIT}", self.facets.len());
            return invalid("facets", reason);
        }
        let is_grouped = self.group_by.is_some() || !self.facets.is_empty();
        if is_grouped && self.is_of_symbols() {
            let argument = if self.group_by.is_some() {
                "group_by"
            } else {
                "facets"
            };
            return invalid(
                argument,
                "hits are symbols here, which have no fields".to_owned(),
            );
        }
        if let Some(rerank) = &self.rerank
            && !(1..=RERANK_LIMIT).contains(&rerank.top)
        {
            let reason = format!("{} given; allowed are 1 to {RERANK_LIMIT}", rerank.top);
            return invalid("rerank_top", reason);
        }
        self.show.validate()?;
        if self
            .previews
            .is_some_and(|(hits, lines)| hits == 0 || lines == 0)
        {
            return invalid("previews", "0 given; at least 1".to_owned());
        }
        self.page.validate()
    }

    /// Whether hits are symbols of programs: those that filters ask for, or with smart context those that hold
    /// what is found.
    pub(crate) fn is_of_symbols(&self) -> bool {
        let filters = &self.filters;
        self.smart_context || !filters.symbol_kinds.is_empty() || !filters.symbol_names.is_empty()
    }

    /// Whether there is nothing to search for: the documents that pass the filters are listed.
    pub(crate) fn lists_documents(&self) -> bool {
        self.query.trim().is_empty() && self.vector.is_none()
    }

    /// The arguments that a cursor is bound to: all that decide which hits there are, and in what
    /// order. The others may change from page to page.
    ///
    /// A new field does not compile before it is listed here, on one side or the other.
    pub(crate) fn fingerprint(&self) -> [String; 2] {
        let Request {
            query,
            plain,
            exact,
            k,
            mode,
            scope,
            sort,
            group_by,
            facets: _,
            filters,
            min_score,
            join,
            smart_context,
            show: _,
            previews: _,
            scan,
            threads: _,
            vector,
            vector_column,
            rerank,
            page: _,
            explain: _,
        } = self;
        let mut options = format!(
            "{plain} {exact} {mode:?} {scope:?} {sort:?} {scan:?} {k} {min_score} {join} {smart_context} {filters:?}"
        );
        if vector.is_some() || vector_column.is_some() {
            options.push_str(&format!(" {vector:?} {vector_column:?}"));
        }
        if let Some(field) = group_by {
            options.push_str(&format!(" by {field:?}"));
        }
        if let Some(rerank) = rerank {
            let name = rerank.model.name();
            options.push_str(&format!(" reranked {name:?} {}", rerank.top));
        }
        [query.clone(), options]
    }
}

/// # Errors
/// [`Error::InvalidArgument`] for no thread or more than [`THREADS_LIMIT`].
pub(crate) fn check_threads(threads: usize) -> Result<()> {
    if (1..=THREADS_LIMIT).contains(&threads) {
        return Ok(());
    }
    Err(Error::InvalidArgument {
        argument: "threads",
        reason: format!("{threads} given; allowed are 1 to {THREADS_LIMIT}"),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kb_types::{Class, EmbedError, Reranker, SymbolKind};

    use super::*;

    #[derive(Debug)]
    struct Model;

    impl Reranker for Model {
        fn name(&self) -> &str {
            "model"
        }

        fn scores(&self, _: &str, _: &[&str]) -> std::result::Result<Vec<f32>, EmbedError> {
            Ok(Vec::new())
        }
    }

    /// One change of each field and of each filter, with whether a cursor is bound to it.
    fn changes() -> Vec<(Request, bool)> {
        let base = || Request::new("tide");
        let filter = |filters: Filters| (base().filters(filters), true);
        vec![
            (base().query("tides"), true),
            (base().plain(true), true),
            (base().exact(true), true),
            (base().k(11), true),
            (base().rerank(Rerank::new(Arc::new(Model))), true),
            (base().mode(Mode::Keyword), true),
            (base().scope(Scope::Documents), true),
            (base().sort(Sort::Path), true),
            (base().min_score(0.01), true),
            (base().join(false), true),
            (base().smart_context(true), true),
            (base().scan(Scan::Exact), true),
            (base().vector([0.5, 0.25]), true),
            (base().vector_column("built-in"), true),
            filter(Filters::new().paths(["a"])),
            filter(Filters::new().types(["a"])),
            filter(Filters::new().languages(["a"])),
            filter(Filters::new().classes([Class::Doc])),
            filter(Filters::new().tags(["a"])),
            filter(Filters::new().folders(["a"])),
            filter(Filters::new().modified_since_ms(1)),
            filter(Filters::new().symbol_kinds([SymbolKind::Function])),
            filter(Filters::new().symbol_names(["a"])),
            (base().show(Show::whole().context_lines(1, 0)), false),
            (base().show(Show::lines(9)), false),
            (base().show(Show::chars(9)), false),
            (base().previews(3, 2), false),
            (base().explain(true), false),
            (base().threads(2), false),
            (base().page(PageOptions::default().max_tokens(9)), false),
        ]
    }

    #[test]
    fn every_field_that_decides_the_hits_changes_the_fingerprint() {
        let mut seen = vec![Request::new("tide").fingerprint()];
        for (request, is_bound) in changes() {
            assert_ne!(request, Request::new("tide"));
            let fingerprint = request.fingerprint();
            assert_eq!(!seen.contains(&fingerprint), is_bound, "{request:?}");
            seen.push(fingerprint);
        }
    }
}
