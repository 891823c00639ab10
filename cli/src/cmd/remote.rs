//! `kb search -f http://HOST:PORT/`: asks a server that `kb serve` started.

use std::path::PathBuf;
use std::time::Duration;

use kb_engine::escape::escape_json;
use kb_engine::{Mode, Sort};
use kb_mcp::hosts::TOKEN_VARIABLE;
use serde_json::{Value, json};
use ureq::Agent;

use crate::args::SearchArguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// Longest answer that is read, in bytes. A server gives at most 100,000 tokens of text.
const ANSWER_BYTES: u64 = 16 << 20;

/// How long a search may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Lines of a hit where none are asked for.
const LINES: u32 = 6;

const SCHEME: &str = "http://";

/// The address of a server among the files of a search, if one is given.
///
/// # Errors
/// One beside others, and `https` where this program does not speak it.
pub(crate) fn server(files: &[PathBuf]) -> Result<Option<&str>, Failure> {
    let is_server = |file: &&str| file.starts_with(SCHEME) || file.starts_with("https://");
    let mut servers = files
        .iter()
        .filter_map(|file| file.to_str())
        .filter(is_server);
    let Some(server) = servers.next() else {
        return Ok(None);
    };
    if files.len() > 1 {
        let hint = "a server searches all of its files together";
        return Err(Failure::usage(
            "a server is searched alone",
            Some(hint.to_owned()),
        ));
    }
    if !server.starts_with(SCHEME) && cfg!(not(feature = "tls")) {
        let hint = "Python speaks it: `kbfile.connect(\"https://...\")`";
        return Err(Failure::usage(
            "this kb speaks http, not https: it is built without the feature `tls`",
            Some(hint.to_owned()),
        ));
    }
    Ok(Some(server))
}

/// Prints the hits of the server.
pub(crate) fn search(
    url: &str,
    arguments: &SearchArguments,
    mode: Mode,
    query: &str,
    output: &mut Output,
) -> Result<Exit, Failure> {
    refuse_local(arguments)?;
    let answer = ask(url, "/api/v1/search", &body(arguments, mode, query))?;
    let list = |name: &str| answer.pointer(name).and_then(Value::as_array);
    for warning in list("/summary/warnings").into_iter().flatten() {
        output.warning(warning.as_str().unwrap_or_default());
    }
    let hits = list("/hits").map_or(&[][..], Vec::as_slice);
    let verdict = answer.pointer("/summary/verdict").and_then(Value::as_str);
    if verdict == Some("nothing relevant") && !hits.is_empty() {
        output.warning(
            "the files contain nothing relevant to the query; these are the nearest passages",
        );
    }
    for (position, hit) in hits.iter().enumerate() {
        if arguments.json.json {
            output.write(&format!("{}\n", escape_json(&hit.to_string())))?;
            continue;
        }
        if position > 0 {
            output.line("")?;
        }
        let text = |name: &str| hit.get(name).and_then(Value::as_str).unwrap_or_default();
        let number = |name: &str| hit.get(name).and_then(Value::as_u64).unwrap_or_default();
        let place = format!(
            "{}:{}-{}",
            text("document"),
            number("start_line"),
            number("end_line")
        );
        let place = output.stdout_style().path(&output.name(&place));
        let score = hit.get("score").and_then(Value::as_f64);
        let score = score.unwrap_or_default();
        let file = output.name(text("file")).into_owned();
        output.line(&format!("{place}  {score:.2}  {file}"))?;
        let passage = text("text");
        output.document_text(passage)?;
        if !passage.ends_with('\n') {
            output.line("")?;
        }
    }
    let token = answer.pointer("/paging/continuation");
    if let Some(token) = token.and_then(Value::as_str)
        && (arguments.page.is_given() || hits.len() < arguments.k.unwrap_or(10))
    {
        output.hint(&format!("there is more: --continue {token}"));
    }
    Ok(if hits.is_empty() {
        Exit::Nothing
    } else {
        Exit::Found
    })
}

/// Refuses what a server is not asked for, so that no flag is without effect.
fn refuse_local(arguments: &SearchArguments) -> Result<(), Failure> {
    let given = [
        ("--vector", arguments.vector.is_some()),
        ("--vector-column", arguments.vector_column.is_some()),
        ("--plain", arguments.plain),
        ("--scope", arguments.scope != kb_engine::Scope::default()),
        ("--smart-context", arguments.smart_context),
        ("--before", arguments.before > 0),
        ("--after", arguments.after > 0),
        ("--no-join", arguments.no_join),
        ("--explain", arguments.explain),
        ("--since", arguments.since.is_some()),
        ("--refresh", arguments.fresh.refresh),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => Err(Failure::usage(
            format!("{flag} needs a file, not a server"),
            None,
        )),
        None => Ok(()),
    }
}

/// The request, as the API takes it.
fn body(arguments: &SearchArguments, mode: Mode, query: &str) -> Value {
    let kinds: Vec<&str> = arguments.kind.iter().map(|kind| kind.name()).collect();
    let classes: Vec<&str> = arguments.class.iter().map(|class| class.name()).collect();
    let sort = match &arguments.sort {
        Sort::Field {
            name,
            is_descending: true,
        } => format!("-{name}"),
        Sort::Field { name, .. } => name.clone(),
        other => Sort::NAMES
            .iter()
            .find(|name| Sort::from_name(name).as_ref() == Some(other))
            .map_or_else(String::new, |name| (*name).to_owned()),
    };
    let is_whole = arguments.full || arguments.json.json;
    let mut body = json!({
        "q": query, "mode": mode.name(), "sort": sort, "k": arguments.k.unwrap_or(10),
        "min_score": arguments.min_score, "exact": arguments.exact,
        "facet": arguments.facet, "path": arguments.path, "folder": arguments.folder,
        "type": arguments.file_type, "lang": arguments.lang, "kind": kinds,
        "symbol": arguments.symbol, "class": classes, "tag": arguments.tag,
        "field": arguments.field, "links_to": arguments.links_to,
        "where": arguments.where_, "group_by": arguments.group_by,
        "max_tokens": arguments.page.max_tokens,
        "cursor": arguments.page.continuation.as_ref().map(|cursor| cursor.as_str()),
        "lines": arguments.lines.or((!is_whole).then_some(LINES)),
    });
    // What is not asked for is not said.
    if let Some(body) = body.as_object_mut() {
        body.retain(|_, value| match value {
            Value::Null | Value::Bool(false) => false,
            Value::Array(values) => !values.is_empty(),
            Value::Number(number) => number.as_f64() != Some(0.0),
            _ => true,
        });
    }
    body
}

/// Sends a request and reads the object of its answer.
fn ask(url: &str, path: &str, body: &Value) -> Result<Value, Failure> {
    let lost = |error: &dyn std::fmt::Display| {
        let hint = Some("`kb serve` prints its address".to_owned());
        let message = format!("{url} does not answer: {error}");
        Failure::new("NOT_CONNECTED", message, hint)
    };
    let no_server = || {
        let message = format!("{url} is not a server of kb serve");
        Failure::new("NOT_CONNECTED", message, None)
    };
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        // A redirection would take the query and the token to an address that nobody named.
        .max_redirects(0)
        .timeout_global(Some(TIMEOUT))
        .user_agent(concat!("kb/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let address = format!("{}{path}", url.trim_end_matches('/'));
    let mut request = agent
        .post(&address)
        .header("Content-Type", "application/json")
        .header("Accept", "application/json");
    if let Some(token) = token()? {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    let mut answer = match request.send(body.to_string()) {
        Ok(answer) => answer,
        Err(ureq::Error::BadUri(_) | ureq::Error::Http(_)) => {
            let hint = Some("`-f http://127.0.0.1:8000/`".to_owned());
            let message = format!("{url:?} is not the address of a server");
            return Err(Failure::usage(message, hint));
        }
        Err(error) => return Err(lost(&error)),
    };
    let status = answer.status().as_u16();
    let content = answer.body_mut().with_config().limit(ANSWER_BYTES);
    let content = content.read_to_vec().map_err(|error| lost(&error))?;
    let object: Value = serde_json::from_slice(&content).map_err(|_| no_server())?;
    if status == 200 {
        return Ok(object);
    }
    let said = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
    let message = said("detail").ok_or_else(no_server)?;
    let (code, hint) = match status {
        401 => {
            let hint = format!("set {TOKEN_VARIABLE} to a token of the server");
            ("INVALID_TOKEN", Some(hint))
        }
        _ => ("REFUSED", said("hint")),
    };
    Err(Failure::new(code, message, hint))
}

/// The token of the environment.
fn token() -> Result<Option<String>, Failure> {
    match std::env::var(TOKEN_VARIABLE) {
        Ok(token) if token.chars().all(|c| c.is_ascii_graphic()) => Ok(Some(token)),
        Ok(_) => Err(Failure::usage(
            format!("{TOKEN_VARIABLE} is not a token"),
            None,
        )),
        Err(_) => Ok(None),
    }
}
