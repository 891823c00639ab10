//! The text of a document as it is stored.

use std::ops::Range;

use axum::body::Bytes;
use axum::http::StatusCode;
use axum::http::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_RANGE, HeaderName, HeaderValue,
};
use kb_engine::{file_types, percent};

use crate::answer::{Answer, Problem, answer as make_answer};
use crate::site::Visit;

/// The text, as plain text whatever the document is, to be saved under its name.
pub(crate) fn answer(visit: &Visit, file: &str, document: &str) -> Result<Answer, Problem> {
    let file = visit.site.file(file)?;
    let text = file.kb().text(document, None)?;
    let mut name = text
        .document
        .path
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_owned();
    let media_type = file_types::mime(&text.document.file_type);
    if !media_type.starts_with("text/") || text.document.has_own_lines {
        // The text that was read out of it is not the file.
        name.push_str(".txt");
    }
    let disposition = format!(
        "attachment; filename*=UTF-8''{}",
        percent::encode(&name, false)
    );
    let mut response = match visit
        .range
        .as_deref()
        .map(|range| part(range, text.text.len()))
    {
        None | Some(Part::Whole) => {
            make_answer(StatusCode::OK, "text/plain; charset=utf-8", text.text)
        }
        Some(Part::Bytes(range)) => partial(text.text, range),
        Some(Part::Beyond) => {
            let end = format!("bytes */{}", text.text.len());
            let status = StatusCode::RANGE_NOT_SATISFIABLE;
            with(
                make_answer(status, "text/plain; charset=utf-8", ""),
                CONTENT_RANGE,
                &end,
            )
        }
    };
    let headers = response.headers_mut();
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if let Ok(disposition) = HeaderValue::from_str(&disposition) {
        response
            .headers_mut()
            .insert(CONTENT_DISPOSITION, disposition);
    }
    Ok(response)
}

/// What a range asks for.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    /// All: it is no range of bytes, or of several parts, which a server may answer so.
    Whole,
    Bytes(Range<usize>),
    /// Nothing that there is.
    Beyond,
}

/// Reads `bytes=0-99`, `bytes=100-` and `bytes=-50` (RFC 9110, 14.1.2) for a text of `length` bytes.
fn part(range: &str, length: usize) -> Part {
    let Some((first, last)) = range
        .strip_prefix("bytes=")
        .and_then(|range| range.trim().split_once('-'))
    else {
        return Part::Whole;
    };
    let (start, end) = match (first.parse::<usize>(), last.parse::<usize>()) {
        (Ok(first), Ok(last)) if first <= last => (first, last.saturating_add(1)),
        (Ok(first), _) if last.is_empty() => (first, length),
        (_, Ok(0)) if first.is_empty() => return Part::Beyond,
        (_, Ok(last)) if first.is_empty() => (length.saturating_sub(last), length),
        _ => return Part::Whole,
    };
    if start >= length {
        return Part::Beyond;
    }
    Part::Bytes(start..end.min(length))
}

fn partial(text: String, range: Range<usize>) -> Answer {
    let said = format!("bytes {}-{}/{}", range.start, range.end - 1, text.len());
    let bytes = Bytes::from(text).slice(range);
    let answer = make_answer(
        StatusCode::PARTIAL_CONTENT,
        "text/plain; charset=utf-8",
        bytes,
    );
    with(answer, CONTENT_RANGE, &said)
}

fn with(mut answer: Answer, name: HeaderName, value: &str) -> Answer {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_of_bytes_that_there_are() {
        for (range, expected) in [
            ("bytes=0-0", Part::Bytes(0..1)),
            ("bytes=2-99", Part::Bytes(2..10)),
            ("bytes=9-", Part::Bytes(9..10)),
            ("bytes=-3", Part::Bytes(7..10)),
            ("bytes=-99", Part::Bytes(0..10)),
            ("bytes=10-", Part::Beyond),
            ("bytes=-0", Part::Beyond),
            ("bytes=0-18446744073709551615", Part::Bytes(0..10)),
            ("bytes=3-2", Part::Whole),
            ("bytes=0-1,3-4", Part::Whole),
            ("bytes=--1", Part::Whole),
            ("lines=0-1", Part::Whole),
            ("", Part::Whole),
        ] {
            assert_eq!(part(range, 10), expected, "{range}");
        }
        assert_eq!(part("bytes=0-", 0), Part::Beyond);
    }
}
