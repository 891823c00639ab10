//! Requests of searches.

use kb_engine::{
    Class, Filters, Mode, Request, Scope, Show, Sort, SymbolKind, SymbolRelation, SymbolsRequest,
};

#[cfg(feature = "regex")]
use kb_engine::{RegexOutput, RegexRequest};

use crate::base::fault::Fault;
use crate::call::arguments::Arguments;

/// Arguments of a filter.
fn filters(arguments: &mut Arguments) -> Result<Filters, Fault> {
    let classes = Class::ALL.map(Class::name);
    let mut filters = Filters::new()
        .paths(arguments.texts("path")?)
        .folders(arguments.texts("folder")?)
        .types(arguments.texts("type")?)
        .languages(arguments.texts("lang")?)
        .tags(arguments.texts("tag")?)
        .fields(arguments.texts("field")?)
        .links_to(arguments.texts("links_to")?)
        .symbol_names(arguments.texts("symbol")?)
        .symbol_kinds(kinds(arguments)?)
        .classes(arguments.named("class", Class::from_name, &classes)?);
    if let Some(since) = arguments.time("since_ms")? {
        filters = filters.modified_since_ms(since);
    }
    filters.where_ = arguments.text("where")?;
    Ok(filters)
}

fn kinds(arguments: &mut Arguments) -> Result<Vec<SymbolKind>, Fault> {
    let names = SymbolKind::ALL.map(SymbolKind::name);
    arguments.named("kind", SymbolKind::from_name, &names)
}

/// The single value of a name, if it is there.
fn one<T>(name: &'static str, values: Vec<T>) -> Result<Option<T>, Fault> {
    if values.len() > 1 {
        return Err(Fault::argument(name, "one value is allowed"));
    }
    Ok(values.into_iter().next())
}

/// Arguments of "search".
pub(crate) const SEARCH: &[&str] = &[
    "query",
    "vector",
    "vector_column",
    "k",
    "mode",
    "scope",
    "sort",
    "group_by",
    "facets",
    "min_score",
    "plain",
    "exact",
    "no_join",
    "smart_context",
    "lines",
    "before",
    "after",
    "explain",
    "threads",
    "path",
    "folder",
    "type",
    "lang",
    "tag",
    "field",
    "where",
    "links_to",
    "symbol",
    "kind",
    "class",
    "since_ms",
    "max_tokens",
    "continue",
];

/// The request of "search".
pub(crate) fn request(arguments: &mut Arguments) -> Result<Request, Fault> {
    let vector = arguments.numbers("vector")?;
    let query = match vector {
        Some(_) => arguments.text("query")?.unwrap_or_default(),
        None => arguments.required("query")?,
    };
    let mut request = Request::new(query);
    request.vector = vector;
    request.vector_column = arguments.text("vector_column")?;
    let modes = Mode::ALL.map(Mode::name);
    let scopes = Scope::ALL.map(Scope::name);
    let mode = arguments.named("mode", Mode::from_name, &modes)?;
    let scope = arguments.named("scope", Scope::from_name, &scopes)?;
    let sort = arguments.named("sort", Sort::from_name, &Sort::NAMES)?;
    request.mode = one("mode", mode)?.unwrap_or_default();
    request.scope = one("scope", scope)?.unwrap_or_default();
    request.sort = one("sort", sort)?.unwrap_or_default();
    request.group_by = arguments.text("group_by")?;
    request.facets = arguments.texts("facets")?;
    request.k = arguments.small("k")?.unwrap_or(request.k);
    request.min_score = arguments.float("min_score")?.unwrap_or(0.0) as f32;
    request.plain = arguments.flag("plain")?;
    request.exact = arguments.flag("exact")?;
    request.join = !arguments.flag("no_join")?;
    request.smart_context = arguments.flag("smart_context")?;
    let lines = arguments.small("lines")?;
    let before = arguments.small("before")?.unwrap_or(0);
    let after = arguments.small("after")?.unwrap_or(0);
    request.show = Show::up_to_lines(lines).context_lines(before, after);
    request.explain = arguments.flag("explain")?;
    request.threads = arguments.small("threads")?.unwrap_or(request.threads);
    request.filters = filters(arguments)?;
    request.page = arguments.page()?;
    Ok(request)
}

/// Arguments of "regex".
#[cfg(feature = "regex")]
pub(crate) const REGEX: &[&str] = &[
    "pattern",
    "k",
    "output",
    "ignore_case",
    "word",
    "literal",
    "multiline",
    "document",
    "path",
    "folder",
    "type",
    "lang",
    "tag",
    "field",
    "where",
    "links_to",
    "symbol",
    "kind",
    "class",
    "since_ms",
    "max_tokens",
    "continue",
];

/// The request of "regex".
#[cfg(feature = "regex")]
pub(crate) fn regex(arguments: &mut Arguments) -> Result<RegexRequest, Fault> {
    let mut request = RegexRequest::new(arguments.required("pattern")?);
    let output = |name: &str| match name {
        "lines" => Some(RegexOutput::Lines),
        "counts" => Some(RegexOutput::Counts),
        "documents" => Some(RegexOutput::Documents),
        _ => None,
    };
    let output = arguments.named("output", output, &["lines", "counts", "documents"])?;
    request.output = one("output", output)?.unwrap_or_default();
    request.k = arguments.small("k")?.unwrap_or(request.k);
    request.ignore_case = arguments.flag("ignore_case")?;
    request.whole_words = arguments.flag("word")?;
    request.literal = arguments.flag("literal")?;
    request.multi_line = arguments.flag("multiline")?;
    request.documents = arguments.texts("document")?;
    request.filters = filters(arguments)?;
    request.page = arguments.page()?;
    Ok(request)
}

/// Arguments of "symbols".
pub(crate) const SYMBOLS: &[&str] = &[
    "name",
    "uses",
    "used_by",
    "kind",
    "lang",
    "path",
    "where",
    "k",
    "max_tokens",
    "continue",
];

/// The request of "symbols".
pub(crate) fn symbols(arguments: &mut Arguments) -> Result<SymbolsRequest, Fault> {
    let mut request = SymbolsRequest::new().kinds(kinds(arguments)?);
    request.filters = Filters::new()
        .languages(arguments.texts("lang")?)
        .paths(arguments.texts("path")?);
    request.filters.where_ = arguments.text("where")?;
    request.name = arguments.text("name")?;
    request.relation = match (arguments.text("uses")?, arguments.text("used_by")?) {
        (Some(_), Some(_)) => {
            return Err(Fault::argument(
                "uses",
                "it cannot be combined with used_by",
            ));
        }
        (Some(name), None) => Some(SymbolRelation::Uses(name)),
        (None, name) => name.map(SymbolRelation::UsedBy),
    };
    request.k = arguments.small("k")?.unwrap_or(request.k);
    request.page = arguments.page()?;
    Ok(request)
}
