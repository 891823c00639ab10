//! Reads forms with files: `multipart/form-data` (RFC 7578), whole in memory, as browsers send it.

use axum::body::Bytes;

/// Most parts of one form.
const PARTS: usize = 1000;

/// Longest head of a part, in bytes.
const HEAD_LIMIT_BYTES: usize = 8 << 10;

/// Longest boundary (RFC 2046, 5.1.1).
const BOUNDARY_LIMIT: usize = 70;

/// One field of a form, or one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: String,
    /// The name of a file; `None` for a plain field.
    pub(crate) file_name: Option<String>,
    pub(crate) media_type: Option<String>,
    pub(crate) content: Bytes,
}

/// The parts of a body.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn parts(content_type: &str, body: &Bytes) -> Result<Vec<Part>, &'static str> {
    let boundary = boundary(content_type).ok_or("its Content-Type has no boundary")?;
    let between = format!("\r\n--{boundary}").into_bytes();
    let first = between.get(2..).unwrap_or_default();
    let mut at = find(body, first, 0).ok_or("it does not have its boundary")? + first.len();
    let mut parts = Vec::new();
    loop {
        let rest = body.get(at..).unwrap_or_default();
        if rest.starts_with(b"--") {
            return Ok(parts);
        }
        if parts.len() == PARTS {
            return Err("it has more than 1,000 parts");
        }
        // Spaces may stand behind a boundary.
        let start = find(body, b"\r\n", at).ok_or("it ends within a part")? + 2;
        let end = find(body, &between, start.saturating_sub(2)).ok_or("it ends within a part")?;
        let part = body.slice(start..end.max(start));
        parts.push(read(&part)?);
        at = end + between.len();
    }
}

/// The boundary that a media type names.
fn boundary(content_type: &str) -> Option<&str> {
    let (essence, parameters) = content_type.split_once(';')?;
    if !essence.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let boundary = parameter(parameters, "boundary")?;
    let is_boundary = (1..=BOUNDARY_LIMIT).contains(&boundary.len())
        && boundary.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    is_boundary.then_some(boundary)
}

/// The value of a parameter of a header, without its quotes. Browsers write `"` in a name as `%22`.
fn parameter<'h>(header: &'h str, name: &str) -> Option<&'h str> {
    let mut rest = header;
    while !rest.is_empty() {
        let (key, after) = rest.split_once('=')?;
        let key = key.trim_start_matches([';', ' ', '\t']).trim_end();
        let (value, left) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_once(';').unwrap_or((after, "")),
        };
        if key.eq_ignore_ascii_case(name) {
            return Some(value.trim());
        }
        rest = left;
    }
    None
}

fn read(part: &Bytes) -> Result<Part, &'static str> {
    let within = part
        .get(..part.len().min(HEAD_LIMIT_BYTES))
        .unwrap_or_default();
    let end = find(within, b"\r\n\r\n", 0).ok_or("a part has no head")?;
    let head = String::from_utf8_lossy(part.get(..end).unwrap_or_default());
    let header = |wanted: &str| {
        let mut lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
        let found = lines.find(|(name, _)| name.trim().eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value.trim())
    };
    let disposition = header("content-disposition").ok_or("a part has no name")?;
    let (_, parameters) = disposition.split_once(';').ok_or("a part has no name")?;
    let text = |name| parameter(parameters, name).map(|value| value.replace("%22", "\""));
    Ok(Part {
        name: text("name").ok_or("a part has no name")?,
        file_name: text("filename"),
        media_type: header("content-type").map(str::to_owned),
        content: part.slice(end + 4..),
    })
}

/// Where `needle` begins in `text` from `from` on.
fn find(text: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    let first = *needle.first()?;
    let mut at = from;
    loop {
        let rest = text.get(at..)?;
        at += rest.iter().position(|byte| *byte == first)?;
        if text.get(at..)?.starts_with(needle) {
            return Some(at);
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: &str = "multipart/form-data; charset=x; boundary=\"a b\"";

    fn read_all(body: &str) -> Result<Vec<Part>, &'static str> {
        parts(TYPE, &Bytes::copy_from_slice(body.as_bytes()))
    }

    #[test]
    fn fields_and_files_are_read_as_browsers_send_them() {
        let body = "before\r\n--a b\r\nContent-Disposition: form-data; name=\"tags\"\r\n\r\nx, y\r\n--a b \r\n\
            content-disposition: form-data; name=\"file\"; filename=\"a%22b;c.md\"\r\nContent-Type: text/markdown\r\n\r\n\
            # A\r\n--a\r\n--a b\r\nContent-Disposition: form-data; name=\"empty\"\r\n\r\n\r\n--a b--\r\nbehind";
        let parts = read_all(body).unwrap();
        let [tags, file, empty] = parts.as_slice() else {
            panic!("{parts:?}");
        };
        assert_eq!((&*tags.name, &*tags.content), ("tags", &b"x, y"[..]));
        assert_eq!(
            (tags.file_name.as_deref(), tags.media_type.as_deref()),
            (None, None)
        );
        assert_eq!(file.file_name.as_deref(), Some("a\"b;c.md"));
        assert_eq!(file.media_type.as_deref(), Some("text/markdown"));
        assert_eq!(&*file.content, b"# A\r\n--a");
        assert!(empty.content.is_empty() && empty.name == "empty");
        assert_eq!(read_all("--a b--"), Ok(Vec::new()));
    }

    #[test]
    fn what_is_no_form_is_said_to_be_wrong() {
        for body in [
            "",
            "x",
            "--a b",
            "--a b\r\n",
            "--a b\r\n\r\n--a b--",
            "--a b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--a b--",
            "--a b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\nnever ends",
            "--a b\r\nContent-Disposition: form-data; name=\"x\r\n\r\nx\r\n--a b--",
            "--a b\r\nContent-Type: text/plain\r\n\r\nx\r\n--a b--",
        ] {
            assert!(read_all(body).is_err(), "{body:?}");
        }
        let many =
            "--a b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\nx\r\n".repeat(PARTS + 1);
        assert!(read_all(&(many + "--a b--")).is_err());
        for wrong in [
            "",
            "text/plain",
            "multipart/form-data",
            "multipart/form-data; boundary=",
            "multipart/form-data; x",
        ] {
            assert!(
                parts(wrong, &Bytes::from_static(b"--a b--")).is_err(),
                "{wrong}"
            );
        }
    }
}
