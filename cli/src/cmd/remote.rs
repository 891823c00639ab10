//! `kb search -f http://HOST:PORT/`: asks a server that `kb serve` started.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use kb_engine::escape::escape_json;
use kb_engine::{Mode, Sort};
use kb_mcp::hosts::TOKEN_VARIABLE;
use serde_json::{Value, json};

use crate::args::SearchArguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// Longest answer that is read, in bytes. A server gives at most 100,000 tokens of text.
const ANSWER_BYTES: u64 = 16 << 20;

/// How long the server may take to take the connection, and between two pieces of an answer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Lines of a hit where none are asked for.
const LINES: u32 = 6;

const SCHEME: &str = "http://";

/// The address of a server among the files of a search, if one is given.
///
/// # Errors
/// One beside others, and `https`, which this program does not speak.
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
    if !server.starts_with(SCHEME) {
        let hint = "Python speaks it: `kbfile.connect(\"https://...\")`";
        return Err(Failure::usage(
            "kb speaks http, not https",
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
    let (authority, base) = parts(url)?;
    let lost = |error: std::io::Error| {
        let hint = Some("`kb serve` prints its address".to_owned());
        Failure::new(
            "NOT_CONNECTED",
            format!("{url} does not answer: {error}"),
            hint,
        )
    };
    let body = body.to_string();
    let mut head = format!(
        "POST {base}{path} HTTP/1.0\r\nHost: {authority}\r\nContent-Type: application/json\r\n\
         Accept: application/json\r\nContent-Length: {}\r\n",
        body.len()
    );
    if let Some(token) = token()? {
        head.push_str(&format!("Authorization: Bearer {token}\r\n"));
    }
    let answer = exchange(authority, format!("{head}\r\n{body}").as_bytes()).map_err(lost)?;
    let no_server = || {
        let message = format!("{url} is not a server of kb serve");
        Failure::new("NOT_CONNECTED", message, None)
    };
    let end = answer.windows(4).position(|end| end == b"\r\n\r\n");
    let (head, content) = answer.split_at(end.ok_or_else(no_server)?);
    let status = String::from_utf8_lossy(head);
    let status = status
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse::<u16>().ok());
    let content = content.get(4..).unwrap_or_default();
    let object: Value = serde_json::from_slice(content).map_err(|_| no_server())?;
    if status == Some(200) {
        return Ok(object);
    }
    let said = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
    let message = said("detail").ok_or_else(no_server)?;
    let code = if status == Some(401) {
        "INVALID_TOKEN"
    } else {
        "REFUSED"
    };
    let hint = match status {
        Some(401) => Some(format!("set {TOKEN_VARIABLE} to a token of the server")),
        _ => said("hint"),
    };
    Err(Failure::new(code, message, hint))
}

/// Host with port, and what is before each path.
fn parts(url: &str) -> Result<(&str, &str), Failure> {
    let rest = url.strip_prefix(SCHEME).unwrap_or(url);
    let (authority, base) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let base = base.trim_end_matches('/');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/[]%".contains(c);
    if authority.is_empty() || !rest.chars().all(is_plain) {
        let hint = Some("`-f http://127.0.0.1:8000/`".to_owned());
        return Err(Failure::usage(
            format!("{url:?} is not the address of a server"),
            hint,
        ));
    }
    Ok((authority, base))
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

fn exchange(authority: &str, request: &[u8]) -> std::io::Result<Vec<u8>> {
    let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| {
        !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    });
    let address = if has_port {
        authority.to_owned()
    } else {
        format!("{authority}:80")
    };
    let mut last = std::io::Error::other("it has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Ok(mut stream) => {
                stream.set_read_timeout(Some(TIMEOUT))?;
                stream.set_write_timeout(Some(TIMEOUT))?;
                stream.write_all(request)?;
                let mut answer = Vec::new();
                stream.take(ANSWER_BYTES).read_to_end(&mut answer)?;
                return Ok(answer);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_and_what_is_before_each_path() {
        fn of(url: &str) -> Option<(&str, &str)> {
            parts(url).ok()
        }
        assert_eq!(of("http://127.0.0.1:8000/"), Some(("127.0.0.1:8000", "")));
        assert_eq!(of("http://[::1]:8000/kb/"), Some(("[::1]:8000", "/kb")));
        assert_eq!(of("http://notes.example"), Some(("notes.example", "")));
        for wrong in [
            "http://",
            "http:///x",
            "http://a b/",
            "http://a\r\nX: y/",
            "http://u@h/",
        ] {
            assert_eq!(of(wrong), None, "{wrong:?}");
        }
    }
}
