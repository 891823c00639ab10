//! What an address asks to be searched: the same for pages and programs.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::StatusCode;
use kb_engine::calendar::Date;
use kb_engine::{Class, Filters, Mode, Request, Sort, SymbolKind};
use kb_mcp::OpenFile;

use crate::answer::Problem;
use crate::parameters::Parameters;
use crate::site::Shared;

/// The files that are searched: those that the address names, else all.
pub(crate) fn chosen(site: &Shared, parameters: &Parameters) -> Result<Vec<OpenFile>, Problem> {
    let named: Result<Vec<OpenFile>, Problem> =
        parameters.all("file").map(|name| site.file(name)).collect();
    let named = named?;
    Ok(if named.is_empty() {
        site.files.list()
    } else {
        named
    })
}

/// The search that parameters ask for.
///
/// # Errors
/// A value that is not one of its name. Names that are not known are ignored, so that an address of a later version
/// works.
pub(crate) fn request(parameters: &Parameters) -> Result<Request, Problem> {
    let all = |name: &str| parameters.all(name).map(str::to_owned).collect::<Vec<_>>();
    let mut filters = Filters::new()
        .paths(all("path"))
        .types(all("type"))
        .languages(all("lang"))
        .tags(all("tag"))
        .folders(all("folder"))
        .fields(all("field"))
        .links_to(all("links_to"))
        .classes(each(parameters, "class", Class::from_name)?)
        .symbol_kinds(each(parameters, "kind", SymbolKind::from_name)?)
        .symbol_names(all("symbol"));
    for condition in all("where") {
        filters = filters.where_(condition);
    }
    if let Some(since) = one(parameters, "since", day_ms)? {
        filters = filters.modified_since_ms(since);
    }
    let mut request = Request::new(parameters.first("q").unwrap_or_default())
        .mode(one(parameters, "mode", Mode::from_name)?.unwrap_or_default())
        .sort(one(parameters, "sort", Sort::from_name)?.unwrap_or_default())
        .facets(all("facet"))
        .exact(flag(parameters, "exact")?)
        .explain(flag(parameters, "explain")?)
        .filters(filters);
    request.group_by = parameters.first("group_by").map(str::to_owned);
    Ok(request)
}

/// All values of a name.
fn each<T>(
    parameters: &Parameters,
    name: &'static str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, Problem> {
    let values = parameters.all(name);
    values
        .map(|value| read(value).ok_or_else(|| wrong(name, value)))
        .collect()
}

/// The value of a name, if it is given.
pub(crate) fn one<T>(
    parameters: &Parameters,
    name: &'static str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, Problem> {
    let value = parameters.first(name);
    value
        .map(|value| read(value).ok_or_else(|| wrong(name, value)))
        .transpose()
}

/// Whether a search goes on: not once its client has left.
pub(crate) fn unless(cancel: &AtomicBool) -> ControlFlow<()> {
    if cancel.load(Ordering::Relaxed) {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

/// Whether a name is switched on.
pub(crate) fn flag(parameters: &Parameters, name: &'static str) -> Result<bool, Problem> {
    let read = |value: &str| match value {
        "1" | "true" => Some(true),
        "0" | "false" => Some(false),
        _ => None,
    };
    Ok(one(parameters, name, read)?.unwrap_or(false))
}

fn wrong(name: &str, value: &str) -> Problem {
    Problem::new(
        StatusCode::BAD_REQUEST,
        "INVALID_ARGUMENT",
        format!("{name}: {value:?} is not one of its values"),
    )
}

/// The first millisecond of a day, `2026-11-28`, in UTC.
fn day_ms(text: &str) -> Option<i64> {
    let mut parts = text.splitn(3, '-').map(|part| part.parse::<u32>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let days = Date::unix_days_of(year, month, day)?;
    days.checked_mul(24 * 3600 * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_request() {
        let parameters = Parameters::parse(
            b"q=x&mode=keyword&type=rust&type=go&class=code&since=2026-11-28&exact=true&later=1",
        );
        let request = request(&parameters).unwrap();
        assert_eq!(request.mode, Mode::Keyword);
        assert!(request.exact && !request.explain);
        assert_eq!(request.filters.types, ["rust", "go"]);
        assert_eq!(request.filters.modified_since_ms, Some(1_795_824_000_000));
    }

    #[test]
    fn a_value_that_is_none_of_its_name_is_said_to_be_wrong() {
        for wrong in [
            "mode=nonsense",
            "sort=-",
            "class=nonsense",
            "kind=x",
            "exact=yes",
            "since=2026",
            "since=2026-13-01",
            "since=yesterday",
            "since=2026-02-30",
        ] {
            let parameters = Parameters::parse(format!("q=x&{wrong}").as_bytes());
            let problem = request(&parameters).unwrap_err();
            assert_eq!(problem.code, "INVALID_ARGUMENT", "{wrong}");
            let name = wrong.split('=').next().unwrap();
            assert!(problem.message.starts_with(name), "{}", problem.message);
        }
    }
}
