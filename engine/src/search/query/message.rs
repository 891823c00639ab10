//! Whether a query is an error message: one with a label such as `error:`, a code, or a line of a stack trace.

/// What the word of a label ends with, before its colon.
const LABELS: [&str; 7] = [
    "error",
    "exception",
    "warning",
    "fatal",
    "panic",
    "failure",
    "fehler",
];

/// Words among which a label is looked for: `fatal error:`, `thread 'main' panicked at`.
const LABEL_WORDS: usize = 4;

/// What only stack traces and reports of crashes have.
const TRACES: [&str; 6] = [
    "panicked at",
    "Traceback (most recent call last)",
    "Caused by:",
    "Exception in thread",
    "core dumped",
    "stack backtrace",
];

/// Names of errors of systems.
const ERRNO: [&str; 18] = [
    "EACCES",
    "EADDRINUSE",
    "EAGAIN",
    "EBADF",
    "ECONNREFUSED",
    "ECONNRESET",
    "EEXIST",
    "EINVAL",
    "EISDIR",
    "EMFILE",
    "ENOENT",
    "ENOMEM",
    "ENOSPC",
    "ENOTDIR",
    "ENOTFOUND",
    "EPERM",
    "EPIPE",
    "ETIMEDOUT",
];

/// Whether it is a message of a program.
pub(crate) fn is_message(query: &str) -> bool {
    let words = query.split_whitespace();
    let first = words.clone().next().unwrap_or_default();
    let count = words.clone().count();
    let is_labelled = words.clone().take(LABEL_WORDS).any(is_label);
    (count > 1 && (is_labelled || words.clone().any(is_code)))
        || TRACES.iter().any(|trace| query.contains(trace))
        || (first == "at" || first == "File") && has_line_number(query)
}

/// `error:`, `TypeError:`, `java.io.IOException:`, `error[E0382]:`.
fn is_label(word: &str) -> bool {
    let Some(word) = word.strip_suffix(':') else {
        return false;
    };
    let word = word.split('[').next().unwrap_or_default().to_lowercase();
    LABELS.iter().any(|label| word.ends_with(label))
}

/// `E0382:`, `[TS2345]`, `EACCES`, `ERR_INVALID_URL`.
fn is_code(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    let is_upper = |text: &str| text.bytes().all(|byte| byte.is_ascii_uppercase());
    let letters = bare.trim_end_matches(|c: char| c.is_ascii_digit());
    let name = letters.trim_end_matches('-');
    // `SHA256` and `ISO8601` are words like others.
    let is_marked = word.ends_with(':') || word.starts_with('[');
    let is_numbered =
        bare.len() - letters.len() >= 3 && (1..=5).contains(&name.len()) && is_upper(name);
    let rest = bare.strip_prefix("ERR_").unwrap_or_default();
    let is_named = !rest.is_empty() && is_upper(&rest.replace('_', ""));
    (is_marked && is_numbered) || is_named || ERRNO.contains(&bare)
}

/// Whether a text has the place of a line: `main.js:12`, `line 12`.
fn has_line_number(text: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut places = text.split(':').skip(1).chain(text.split("line ").skip(1));
    places.any(|behind| behind.starts_with(is_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_a_label_a_code_or_a_trace() {
        for query in [
            "error: cannot open notes.kb",
            "error[E0382]: borrow of moved value: `x`",
            "TypeError: Cannot read properties of undefined",
            "java.lang.IllegalStateException: not open",
            "Fatal error: no such file",
            "E0382: use of moved value",
            "EACCES: permission denied, open '/etc/shadow'",
            "npm ERR! code ENOENT",
            "code ERR_INVALID_URL when parsing",
            "thread 'main' panicked at src/main.rs:3:5",
            "    at Layer.handle (/app/router/layer.js:95:5)",
            "File \"a.py\", line 3, in <module>",
        ] {
            assert!(is_message(query), "{query}");
        }
        for query in [
            "error handling",
            "where is the error made",
            "SHA256 checksum of a file",
            "at which time is it closed",
            "File name of the log",
            "EACCES",
            "error:",
            "format: json",
            "",
        ] {
            assert!(!is_message(query), "{query}");
        }
    }
}
