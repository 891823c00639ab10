//! `kb_call`: all calls through one function, with JSON in and JSON out, for languages without a wrapper.

mod arguments;
mod read;
mod search;
mod table;
#[cfg(feature = "write")]
mod vectors;
#[cfg(feature = "write")]
mod write;

use std::ffi::c_void;

use serde_json::Value;

use crate::base::boundary::fallible;
use crate::base::error::kb_error;
use crate::base::fault::Fault;
use crate::base::handle;
use crate::base::progress::{Listener, kb_progress_fn};
use crate::base::status::kb_status;
use crate::base::str::kb_str;
use crate::base::text::{self, ended, kb_text};
use crate::call::arguments::Arguments;
use crate::call::table::find;
use crate::reader::open::kb;
use crate::writer::open::kb_writer;

/// Longest request, in bytes; documents that are added may be as long as files may.
const LIMIT_BYTES: usize = 256 << 20;

/// Answers a JSON object with a JSON object, which has the fields of `kb --json`. `file` is for calls that read, `writer`
/// for calls that write; the other one may be NULL. `progress` is NULL, or is called with `progress_data`.
/// `{"call": "help"}` lists the calls with the names of their arguments:
///
///     {"call": "search", "query": "why does the sea rise", "k": 3}
///     {"call": "text", "document": "tides.md", "lines": "10-20"}
///     {"call": "add", "path": "notes/tides.md", "text": "The moon pulls the sea."}
///     {"call": "import_vectors", "name": "minilm", "rows": [{"document": "tides.md", "chunk": 0, "vector": [0.1, 0.2]}]}
///     {"call": "search", "vector": [0.1, 0.2], "vector_column": "minilm"}
///     {"call": "merge", "sources": ["a.kb", "b.kb"], "on_conflict": "keep-newest"}
///
/// Errors: `KB_INVALID_ARGUMENT` for a request that is not a JSON object, and for an unknown argument; `KB_NOT_BUILT`
/// for a call that this library lacks; and the errors of the function that does the same.
///
/// # Safety
/// The handles are NULL or open; `request` may be read; `out` and `err` are NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_call(
    file: *const kb,
    writer: *mut kb_writer,
    request: kb_str,
    progress: kb_progress_fn,
    progress_data: *mut c_void,
    out: *mut *mut kb_text,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            handle::hand_over(out, || {
                let request = text::required(request, "request")?;
                let mut arguments = parsed(request)?;
                let listener = Listener {
                    callback: progress,
                    data: progress_data,
                };
                let call = arguments.required("call")?;
                let answer = if let Some((_, names, answer)) = find(read::CALLS, &call) {
                    let file = handle::used(file, "file")?;
                    arguments.only(&call, names)?;
                    answer(&file, &mut arguments, &listener)?
                } else if call == "help" {
                    arguments.only(&call, &[])?;
                    help()
                } else {
                    write(writer, &call, arguments, &listener)?
                };
                Ok(ended(answer))
            })
        })
    }
}

#[cfg(feature = "write")]
unsafe fn write(
    writer: *mut kb_writer,
    call: &str,
    mut arguments: Arguments,
    listener: &Listener,
) -> Result<String, Fault> {
    let Some((_, names, answer)) = find(write::CALLS, call) else {
        return Err(unknown(call));
    };
    // SAFETY: as the caller promises.
    let writer = unsafe { handle::used(writer, "writer") }?;
    arguments.only(call, names)?;
    answer(&writer, &mut arguments, listener)
}

#[cfg(not(feature = "write"))]
unsafe fn write(
    _: *mut kb_writer,
    call: &str,
    _: Arguments,
    _: &Listener,
) -> Result<String, Fault> {
    if cfg!(not(feature = "regex")) && call == "regex" {
        let feature = "build it with the feature `regex`";
        return Err(Fault::not_built("regular expressions", feature));
    }
    match WRITES.contains(&call) {
        true => Err(Fault::not_built(
            "writers",
            "build it with the feature `write`",
        )),
        false => Err(unknown(call)),
    }
}

/// The calls that need a writer, for builds without.
#[cfg(not(feature = "write"))]
const WRITES: [&str; 10] = [
    "add",
    "commit",
    "import_vectors",
    "index",
    "merge",
    "meta",
    "remove",
    "rollback",
    "seal",
    "tag",
];

fn unknown(call: &str) -> Fault {
    let mut names: Vec<&str> = read::CALLS.iter().map(|(name, _, _)| *name).collect();
    #[cfg(feature = "write")]
    names.extend(write::CALLS.iter().map(|(name, _, _)| *name));
    #[cfg(not(feature = "write"))]
    names.extend(WRITES);
    let reason = format!("{call:?} given; there are help, {}", names.join(", "));
    Fault::argument("call", &reason)
}

/// The calls with the names of their arguments.
fn help() -> String {
    let mut calls = serde_json::Map::new();
    let mut add = |name: &str, arguments: &[&str]| {
        calls.insert(name.to_owned(), Value::from(arguments.to_vec()));
    };
    read::CALLS
        .iter()
        .for_each(|(name, names, _)| add(name, names));
    #[cfg(feature = "write")]
    write::CALLS
        .iter()
        .for_each(|(name, names, _)| add(name, names));
    serde_json::json!({ "calls": calls }).to_string()
}

fn parsed(request: &str) -> Result<Arguments, Fault> {
    if request.len() > LIMIT_BYTES {
        let reason = format!("it has {} bytes, more than {LIMIT_BYTES}", request.len());
        return Err(Fault::argument("request", &reason));
    }
    match serde_json::from_str(request) {
        Ok(Value::Object(fields)) => Ok(Arguments::new(fields)),
        Ok(_) => Err(Fault::argument("request", "it is no JSON object")),
        Err(error) => Err(Fault::argument(
            "request",
            &format!("it is no JSON: {error}"),
        )),
    }
}
