//! Keyword arguments of searches as requests of the engine.

use kb_engine::{
    Class, Cursor, Filters, Mode, PageOptions, RERANK_TOP, Request, Scope, Show, Sort, SymbolKind,
    VectorCodec,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::embedding::reranking;
use crate::error::{invalid, type_name};
use crate::numbers::one_vector;
use crate::time::since_ms;

/// One word or several: a `str`, or any iterable of them.
pub(crate) fn words(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if value.is_none() {
        return Ok(Vec::new());
    }
    if value.is_instance_of::<PyString>() {
        return Ok(vec![value.extract()?]);
    }
    let wrong = || {
        let message = format!(
            "{name} takes a str or an iterable of str, not {}",
            type_name(value)
        );
        PyTypeError::new_err(message)
    };
    let mut words = Vec::new();
    for word in value.try_iter().map_err(|_| wrong())? {
        let word = word?;
        if !word.is_instance_of::<PyString>() {
            return Err(wrong());
        }
        words.push(word.extract()?);
    }
    Ok(words)
}

/// The value of that name, which `of` finds among `all`.
pub(crate) fn named<T>(
    argument: &str,
    value: &Bound<'_, PyAny>,
    of: impl Fn(&str) -> Option<T>,
    all: &[&str],
) -> PyResult<T> {
    let name: String = value.extract()?;
    of(&name).ok_or_else(|| {
        let message = format!("{argument}: {name:?} given; allowed are {}", all.join(", "));
        invalid(value.py(), &message)
    })
}

/// How vectors are stored, by name.
pub(crate) fn codec(
    name: &str,
    vectors: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<VectorCodec>> {
    let of = |name: &str| match name {
        "i8" => Some(VectorCodec::I8),
        "i4" => Some(VectorCodec::I4),
        _ => None,
    };
    vectors
        .filter(|value| !value.is_none())
        .map(|value| named(name, value, of, &["i8", "i4"]))
        .transpose()
}

/// All kinds of symbols by name.
pub(crate) fn kinds(value: &Bound<'_, PyAny>) -> PyResult<Vec<SymbolKind>> {
    let names = SymbolKind::ALL.map(SymbolKind::name);
    let words = words("kind", value)?;
    let found = words.iter().map(|word| {
        SymbolKind::from_name(word).ok_or_else(|| {
            let message = format!("kind: {word:?} given; allowed are {}", names.join(", "));
            invalid(value.py(), &message)
        })
    });
    found.collect()
}

/// Takes one filter; false: the name is of another argument.
pub(crate) fn take_filter(
    filters: &mut Filters,
    name: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    match name {
        "folder" => filters.folders = words(name, value)?,
        "path" => filters.paths = words(name, value)?,
        "type" => filters.types = words(name, value)?,
        "language" => filters.languages = words(name, value)?,
        "tag" => filters.tags = words(name, value)?,
        "field" => filters.fields = words(name, value)?,
        "where" => filters.where_ = value.extract()?,
        "links_to" => filters.links_to = words(name, value)?,
        "symbol" => filters.symbol_names = words(name, value)?,
        "kind" => filters.symbol_kinds = kinds(value)?,
        "class_" => {
            let names = Class::ALL.map(Class::name);
            for word in words(name, value)? {
                filters.classes.push(Class::from_name(&word).ok_or_else(|| {
                    let message =
                        format!("class_: {word:?} given; allowed are {}", names.join(", "));
                    invalid(value.py(), &message)
                })?);
            }
        }
        "since" if value.is_none() => {}
        "since" => filters.modified_since_ms = Some(since_ms(value)?),
        _ => return Ok(false),
    }
    Ok(true)
}

/// The exception of Python itself.
pub(crate) fn unexpected(function: &str, name: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "{function}() got an unexpected keyword argument '{name}'"
    ))
}

/// The request that a query and keyword arguments make.
pub(crate) fn request(
    function: &str,
    query: String,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Request> {
    let mut request = Request::new(query);
    let mut page = PageOptions::default();
    let (mut max_lines, mut context, mut rerank_top) = (None, (0, 0), RERANK_TOP);
    for (name, value) in options.into_iter().flatten() {
        let name: String = name.extract()?;
        match name.as_str() {
            "k" => request.k = value.extract()?,
            "mode" => {
                let names = Mode::ALL.map(Mode::name);
                request.mode = named(&name, &value, Mode::from_name, &names)?;
            }
            "scope" => {
                let names = Scope::ALL.map(Scope::name);
                request.scope = named(&name, &value, Scope::from_name, &names)?;
            }
            "sort" => {
                request.sort = named(&name, &value, Sort::from_name, &Sort::NAMES)?;
            }
            "group_by" => request.group_by = value.extract()?,
            "facets" => request.facets = words(&name, &value)?,
            "min_score" => request.min_score = value.extract()?,
            "context" => {
                context = if value.is_instance_of::<PyTuple>() {
                    value.extract()?
                } else {
                    let lines = value.extract()?;
                    (lines, lines)
                };
            }
            "smart_context" => request.smart_context = value.extract()?,
            "max_lines" => max_lines = value.extract()?,
            "plain" => request.plain = value.extract()?,
            "exact" => request.exact = value.extract()?,
            "join" => request.join = value.extract()?,
            "explain" => request.explain = value.extract()?,
            "rerank" => request.rerank = reranking::rerank(&value)?,
            "rerank_top" => rerank_top = value.extract()?,
            "threads" => request.threads = value.extract()?,
            "max_tokens" => page.max_tokens = value.extract()?,
            "vector" if function != "search_many" => {
                request.vector = (!value.is_none()).then(|| one_vector(&value)).transpose()?;
            }
            "vector_column" if function != "search_many" => {
                request.vector_column = value.extract()?;
            }
            "cursor" if function != "search_many" => page.cursor = cursor(&value)?,
            _ if take_filter(&mut request.filters, &name, &value)? => {}
            _ => return Err(unexpected(function, &name)),
        }
    }
    if let Some(rerank) = &mut request.rerank {
        rerank.top = rerank_top;
    }
    request.show = Show::up_to_lines(max_lines).context_lines(context.0, context.1);
    request.page = page;
    Ok(request)
}

/// A cursor of an earlier result.
pub(crate) fn cursor(value: &Bound<'_, PyAny>) -> PyResult<Option<Cursor>> {
    let text: Option<String> = value.extract()?;
    Ok(text.map(Cursor::from))
}
