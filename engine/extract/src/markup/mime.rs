//! Internet messages (RFC 5322) and their MIME parts (RFC 2045 to 2047, 2231): headers, parts, text.
//!
//! `mail-parser` 0.11 has 13,800 lines and a procedural macro. It reads more of the odd forms, but aborts with a stack
//! overflow on 3 MB of nested messages. This reader read all 107 messages of the tests of that crate. Every function is
//! linear in its input (docs/decisions/17-own-readers.md).

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use encoding_rs::{EUC_KR, Encoding, GBK, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use memchr::memchr;
use memchr::memmem;

use crate::text;

/// Fields of one header that are kept.
// Messages have some dozens; each relay adds a few.
const MAX_FIELDS: usize = 1000;
/// Bytes of one field that are kept.
// Lists of thousands of recipients are longer; the index needs none of them.
const MAX_FIELD_BYTES: usize = 64 << 10;
/// Parameters of one field that are read.
const MAX_PARAMETERS: usize = 100;
/// Parts of one multipart that are read.
const MAX_PARTS: usize = 10_000;

/// Base64 as it comes by mail: padded or not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A message, or a part of one: a header and what follows it.
pub(super) struct Entity<'a> {
    /// Names in lower case, and values unfolded.
    fields: Vec<(String, Vec<u8>)>,
    pub(super) body: &'a [u8],
}

impl<'a> Entity<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Entity<'a> {
        let mut fields: Vec<(String, Vec<u8>)> = Vec::new();
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let len = memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            let line = rest.get(..len).unwrap_or_default().trim_ascii_end();
            at += len;
            if line.is_empty() {
                break;
            }
            if line.starts_with(b" ") || line.starts_with(b"\t") {
                if let Some((_, value)) = fields.last_mut()
                    && value.len() + line.len() <= MAX_FIELD_BYTES
                {
                    value.extend_from_slice(line);
                }
            } else if let Some((name, value)) = field(line) {
                if fields.len() < MAX_FIELDS {
                    let value = value.get(..value.len().min(MAX_FIELD_BYTES));
                    fields.push((name, value.unwrap_or_default().to_vec()));
                }
            } else if !line.starts_with(b"From ") && !line.starts_with(b">From ") {
                // No header any more: the line is of the body.
                at -= len;
                break;
            }
        }
        Entity {
            fields,
            body: bytes.get(at..).unwrap_or_default(),
        }
    }

    /// The value of a field, decoded; empty without it.
    pub(super) fn field(&self, name: &str) -> String {
        let found = self.fields.iter().find(|(have, _)| have == name);
        found.map_or_else(String::new, |(_, value)| decode_words(value))
    }

    /// The names of the fields, in lower case.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(name, _)| name.as_str())
    }

    /// The media type in lower case, `text/plain` where none is stated, with its parameters.
    pub(super) fn media_type(&self, default: &str) -> Value {
        let mut value = self.value("content-type");
        if !value.word.contains('/') {
            value.word = default.to_owned();
        }
        value
    }

    /// A field of one word with parameters, such as `Content-Disposition`.
    pub(super) fn value(&self, name: &str) -> Value {
        let found = self.fields.iter().find(|(have, _)| have == name);
        Value::parse(found.map_or(&[], |(_, value)| value))
    }

    /// The body without its transfer encoding.
    pub(super) fn content(&self) -> Cow<'a, [u8]> {
        match self.value("content-transfer-encoding").word.as_str() {
            "base64" => Cow::Owned(decode_base64(self.body)),
            "quoted-printable" => Cow::Owned(decode_quoted_printable(self.body, false)),
            _ => Cow::Borrowed(self.body),
        }
    }

    /// The body as text, in the character set that the part states.
    pub(super) fn text(&self) -> String {
        let charset = self.media_type("text/plain").parameter("charset");
        decode_text(&self.content(), charset.as_deref().unwrap_or_default())
    }

    /// The parts of a body between lines of `--boundary`.
    pub(super) fn parts(&self, boundary: &str) -> Vec<&'a [u8]> {
        let delimiter = format!("--{boundary}");
        let mut parts = Vec::new();
        let mut start = None;
        for at in memmem::find_iter(self.body, delimiter.as_bytes()) {
            if at > 0 && self.body.get(at - 1) != Some(&b'\n') {
                continue;
            }
            let after = self.body.get(at + delimiter.len()..).unwrap_or_default();
            let (is_last, after) = match after.strip_prefix(b"--") {
                Some(after) => (true, after),
                None => (false, after),
            };
            let line = after.get(..memchr(b'\n', after).unwrap_or(after.len()));
            if !line.unwrap_or_default().trim_ascii().is_empty() {
                continue;
            }
            if let Some(start) = start {
                parts.push(self.body.get(start..at).unwrap_or_default());
            }
            let line_len = memchr(b'\n', after).map_or(after.len(), |end| end + 1);
            start = Some(self.body.len() - after.len() + line_len);
            if is_last || parts.len() >= MAX_PARTS {
                return parts;
            }
        }
        // A message that was cut ends in its last part.
        parts.extend(start.and_then(|start| self.body.get(start..)));
        parts
    }
}

/// `Name: value`.
fn field(line: &[u8]) -> Option<(String, &[u8])> {
    let colon = memchr(b':', line)?;
    let name = line.get(..colon)?.trim_ascii_end();
    let is_name = !name.is_empty() && name.iter().all(|byte| (b'!'..=b'~').contains(byte));
    let value = line.get(colon + 1..)?.trim_ascii_start();
    is_name.then(|| (String::from_utf8_lossy(name).to_ascii_lowercase(), value))
}

/// A word and parameters: `text/plain; charset=utf-8`.
#[derive(Debug, Default)]
pub(super) struct Value {
    /// In lower case.
    pub(super) word: String,
    /// Names in lower case.
    parameters: Vec<(String, Vec<u8>)>,
}

impl Value {
    fn parse(bytes: &[u8]) -> Value {
        let word_len = memchr(b';', bytes).unwrap_or(bytes.len());
        let word = bytes.get(..word_len).unwrap_or_default().trim_ascii();
        let mut value = Value {
            word: String::from_utf8_lossy(word).to_ascii_lowercase(),
            parameters: Vec::new(),
        };
        let mut rest = bytes.get(word_len..).unwrap_or_default();
        while let Some(b';') = rest.first()
            && value.parameters.len() < MAX_PARAMETERS
        {
            rest = rest.get(1..).unwrap_or_default();
            let name_len = rest.iter().position(|byte| matches!(byte, b'=' | b';'));
            let name = rest
                .get(..name_len.unwrap_or(rest.len()))
                .unwrap_or_default();
            rest = rest.get(name.len()..).unwrap_or_default();
            let Some(after) = rest.strip_prefix(b"=") else {
                continue;
            };
            let (parameter, after) = parameter_value(after.trim_ascii_start());
            let name = String::from_utf8_lossy(name.trim_ascii()).to_ascii_lowercase();
            value.parameters.push((name, parameter));
            rest = after;
        }
        value
    }

    /// The value of a parameter, however it is written: plain, with encoded words, or with RFC 2231's character
    /// set, in one piece or several.
    pub(super) fn parameter(&self, name: &str) -> Option<String> {
        let of = |name: &str| {
            let found = self.parameters.iter().find(|(have, _)| have == name);
            found.map(|(_, value)| value.as_slice())
        };
        if let Some(value) = of(name) {
            return Some(decode_words(value));
        }
        if let Some(value) = of(&format!("{name}*")) {
            return Some(decode_extended(value, true));
        }
        let mut bytes = Vec::new();
        let mut is_extended = false;
        for number in 0..MAX_PARAMETERS {
            if let Some(piece) = of(&format!("{name}*{number}")) {
                bytes.extend_from_slice(piece);
            } else if let Some(piece) = of(&format!("{name}*{number}*")) {
                is_extended = true;
                bytes.extend_from_slice(piece);
            } else {
                break;
            }
        }
        (!bytes.is_empty()).then(|| decode_extended(&bytes, is_extended))
    }
}

/// The value of a parameter, in quotes or not, and what follows it.
fn parameter_value(bytes: &[u8]) -> (Vec<u8>, &[u8]) {
    let Some(inside) = bytes.strip_prefix(b"\"") else {
        let len = memchr(b';', bytes).unwrap_or(bytes.len());
        let (value, rest) = bytes.split_at_checked(len).unwrap_or((bytes, &[]));
        return (value.trim_ascii().to_vec(), rest);
    };
    let mut value = Vec::new();
    let mut bytes = inside.iter().enumerate();
    while let Some((at, &byte)) = bytes.next() {
        match byte {
            b'"' => {
                let rest = inside.get(at + 1..).unwrap_or_default();
                let end = memchr(b';', rest).unwrap_or(rest.len());
                return (value, rest.get(end..).unwrap_or_default());
            }
            b'\\' => value.extend(bytes.next().map(|(_, byte)| *byte)),
            _ => value.push(byte),
        }
    }
    (value, &[])
}

/// `utf-8'en'%e2%82%ac`, or without a character set.
fn decode_extended(bytes: &[u8], has_charset: bool) -> String {
    let mut pieces = bytes.splitn(3, |byte| *byte == b'\'');
    let (charset, value) = match (pieces.next(), pieces.next(), pieces.next()) {
        (Some(charset), Some(_), Some(value)) if has_charset => (charset, value),
        _ => (&b""[..], bytes),
    };
    let charset = String::from_utf8_lossy(charset);
    let mut decoded = Vec::with_capacity(value.len());
    let mut at = 0;
    while let Some(&byte) = value.get(at) {
        match value.get(at + 1..at + 3).and_then(hex_byte) {
            Some(coded) if byte == b'%' => {
                decoded.push(coded);
                at += 3;
            }
            _ => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    decode_text(&decoded, &charset)
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits).ok()?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)
}

/// A value with its encoded words (RFC 2047) decoded: `=?utf-8?Q?caf=C3=A9?=`.
fn decode_words(value: &[u8]) -> String {
    let mut decoded = String::new();
    // Bytes of one character may be divided between words of one character set.
    let mut pending: Option<(String, Vec<u8>)> = None;
    let flush = |pending: &mut Option<(String, Vec<u8>)>, decoded: &mut String| {
        if let Some((charset, bytes)) = pending.take() {
            decoded.push_str(&decode_text(&bytes, &charset));
        }
    };
    let mut rest = value;
    while let Some(at) = memmem::find(rest, b"=?") {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        let Some((charset, bytes, len)) = encoded_word(from) else {
            flush(&mut pending, &mut decoded);
            decoded.push_str(&decode_text(before, ""));
            decoded.push_str("=?");
            rest = from.get(2..).unwrap_or_default();
            continue;
        };
        // White space between two encoded words is none.
        let is_between = pending.is_some() && before.trim_ascii().is_empty();
        if !is_between {
            flush(&mut pending, &mut decoded);
            decoded.push_str(&decode_text(before, ""));
        }
        match &mut pending {
            Some((known, held)) if *known == charset => held.extend_from_slice(&bytes),
            _ => {
                flush(&mut pending, &mut decoded);
                pending = Some((charset, bytes));
            }
        }
        rest = from.get(len..).unwrap_or_default();
    }
    flush(&mut pending, &mut decoded);
    decoded.push_str(&decode_text(rest, ""));
    decoded
}

/// The character set, bytes and length of the encoded word that `from` begins with.
fn encoded_word(from: &[u8]) -> Option<(String, Vec<u8>, usize)> {
    // No encoded word is longer than 75 bytes; programs write longer ones.
    let word = from.get(2..from.len().min(1000))?;
    let charset_len = memchr(b'?', word)?;
    let charset = word.get(..charset_len)?;
    let encoding = word.get(charset_len + 1)?;
    let text = word.get(charset_len + 2..)?.strip_prefix(b"?")?;
    let len = memmem::find(text, b"?=")?;
    let text = text.get(..len)?;
    let bytes = match encoding {
        b'B' | b'b' => decode_base64(text),
        b'Q' | b'q' => decode_quoted_printable(text, true),
        _ => return None,
    };
    let charset = String::from_utf8_lossy(charset).to_ascii_lowercase();
    let charset = charset.split('*').next().unwrap_or_default().to_owned();
    Some((charset, bytes, charset_len + len + 7))
}

/// What is no letter of base64 is passed over, as line ends are.
fn decode_base64(text: &[u8]) -> Vec<u8> {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let mut letters: Vec<u8> = text.iter().copied().filter(is_letter).collect();
    if letters.len() % 4 == 1 {
        letters.pop();
    }
    BASE64.decode(letters).unwrap_or_default()
}

/// In an encoded word `_` is a space.
fn decode_quoted_printable(text: &[u8], is_word: bool) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'_' if is_word => decoded.push(b' '),
            b'=' => {
                if let Some(coded) = after.get(..2).and_then(hex_byte) {
                    decoded.push(coded);
                    rest = after.get(2..).unwrap_or_default();
                } else if let Some(after) = after.strip_prefix(b"\r\n") {
                    rest = after;
                } else if let Some(after) = after.strip_prefix(b"\n") {
                    rest = after;
                } else {
                    decoded.push(b'=');
                }
            }
            _ => decoded.push(byte),
        }
    }
    decoded
}

/// Bytes in a character set, as far as it is known and fits, else in the likeliest one.
fn decode_text(bytes: &[u8], charset: &str) -> String {
    let charset = charset.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\'' | '"'));
    let stated = encoding_of(charset);
    // Programs state Latin letters, or ASCII, and send UTF-8. A message that was written again in UTF-8 as a whole still
    // states what its parts were.
    let is_wide = stated.is_some_and(|encoding| encoding == UTF_16LE || encoding == UTF_16BE);
    let is_vague = |encoding| encoding == UTF_8 || encoding == WINDOWS_1252;
    if (stated.is_none_or(is_vague) || (is_wide && !bytes.contains(&0)))
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        if let Some(text) = shifted(bytes, charset) {
            return text;
        }
        return text.strip_prefix('\u{feff}').unwrap_or(text).to_owned();
    }
    // Which byte comes first is stated by a mark, or shows.
    let shown = is_wide.then(|| text::unicode_text(bytes)).flatten();
    if let Some(text) = shown {
        return text;
    }
    match stated.filter(|encoding| *encoding != UTF_8) {
        Some(encoding) => encoding.decode(bytes).0.into_owned(),
        None => text::decode(bytes, false)
            .unwrap_or_else(|_| String::from_utf8_lossy(bytes).into_owned()),
    }
}

/// The encoding of a character set by its name in mail, where it is one of those of the Web or a code page of Windows.
fn encoding_of(charset: &str) -> Option<&'static Encoding> {
    let known = |label: &str| Encoding::for_label_no_replacement(label.as_bytes());
    let page = || {
        let digits = charset.trim_start_matches(|c: char| !c.is_ascii_digit());
        match digits {
            "932" | "943" => known("shift_jis"),
            "936" => known("gbk"),
            "949" => known("euc-kr"),
            "950" => known("big5"),
            "65001" => known("utf-8"),
            "51932" => known("euc-jp"),
            digits => known(&format!("windows-{digits}")),
        }
    };
    let lower = charset.to_ascii_lowercase();
    let is_page = ["cp", "ms", "ibm", "windows", "x-cp"]
        .iter()
        .any(|name| lower.starts_with(name));
    known(charset).or_else(|| is_page.then(page).flatten())
}

/// Text of a character set whose bytes are all of ASCII: escapes or marks say which letters they stand for.
fn shifted(bytes: &[u8], charset: &str) -> Option<String> {
    if charset.eq_ignore_ascii_case("hz-gb-2312") {
        return Some(unshifted(bytes, GBK, b"~{", b"~}"));
    }
    if charset.eq_ignore_ascii_case("iso-2022-kr") {
        let bytes = bytes.strip_prefix(b"\x1B$)C").unwrap_or(bytes);
        return Some(unshifted(bytes, EUC_KR, b"\x0E", b"\x0F"));
    }
    text::iso_2022_jp(bytes)
}

/// Text of which what stands between two marks is of an encoding, without its upper bits.
fn unshifted(bytes: &[u8], encoding: &'static Encoding, begin: &[u8], end: &[u8]) -> String {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memmem::find(rest, begin) {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        plain.extend_from_slice(before);
        let from = from.get(begin.len()..).unwrap_or_default();
        let len = memmem::find(from, end).unwrap_or(from.len());
        let letters = from.get(..len).unwrap_or_default();
        plain.extend(letters.iter().map(|byte| match byte {
            b'!'..=b'~' => byte | 0x80,
            other => *other,
        }));
        rest = from.get(len + end.len()..).unwrap_or_default();
    }
    plain.extend_from_slice(rest);
    encoding.decode_without_bom_handling(&plain).0.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_headers_are_decoded() {
        for (value, words) in [
            ("plain", "plain"),
            ("=?utf-8?Q?caf=C3=A9_noir?= x", "caf\u{e9} noir x"),
            ("=?UTF-8?B?4oKs?=\r\n =?utf-8?q?!?=", "\u{20ac}!"),
            // One character in two words.
            ("=?utf-8?B?4oI=?= =?utf-8?B?rA==?=", "\u{20ac}"),
            (
                "=?iso-8859-1?q?=E9?= =?koi8-r?b?xMk=?=",
                "\u{e9}\u{434}\u{438}",
            ),
            ("=?utf-8*en?Q?a?= b =?x?Z?c?= =?d", "a b =?x?Z?c?= =?d"),
        ] {
            assert_eq!(decode_words(value.as_bytes()), words, "{value}");
        }
        assert_eq!(decode_words(b"caf\xe9"), "caf\u{e9}");
        assert_eq!(decode_words("caf\u{e9}".as_bytes()), "caf\u{e9}");
    }

    #[test]
    fn parameters_are_read_in_every_form() {
        for (value, name) in [
            ("x; filename=a.txt", "a.txt"),
            ("x; FileName = \"a \\\"b\\\";.txt\"; size=5", "a \"b\";.txt"),
            ("x; filename*=utf-8'en'%e2%82%ac%20a", "\u{20ac} a"),
            ("x; filename*0=\"long \"; filename*1=name", "long name"),
            ("x; filename*1*=%ac; filename*0*=utf-8''%e2%82", "\u{20ac}"),
            ("x; filename=\"=?utf-8?B?4oKs?=\"", "\u{20ac}"),
            ("x; ; y; filename=a", "a"),
        ] {
            let value = Value::parse(value.as_bytes());
            assert_eq!(value.word, "x");
            assert_eq!(value.parameter("filename").as_deref(), Some(name));
            assert_eq!(value.parameter("none"), None);
        }
    }

    #[test]
    fn headers_are_unfolded_and_parts_divided() {
        let source = b"From someone Mon May  6\r\nSubject: a\r\n  b\r\nX: y\r\nSubject: c\r\n\r\n\
            preamble\r\n--B\r\n\r\none\r\n--Bx\r\n--B \r\nH: v\r\n\r\ntwo\r\n--B--\r\nepilogue --B\r\n";
        let entity = Entity::parse(source);
        assert_eq!(entity.field("subject"), "a  b");
        let names: Vec<&str> = entity.names().collect();
        assert_eq!(names, ["subject", "x", "subject"]);
        let parts = entity.parts("B");
        assert_eq!(parts, [&b"\r\none\r\n--Bx\r\n"[..], b"H: v\r\n\r\ntwo\r\n"]);
        // A cut message.
        assert_eq!(Entity::parse(b"A: b\n\n--B\nx").parts("B"), [b"x"]);
        assert_eq!(
            Entity::parse(b"no header\nA: b\n").body,
            b"no header\nA: b\n"
        );
    }

    #[test]
    fn transfer_encodings_and_character_sets_are_decoded() {
        let latin = b"Content-Type: text/plain; charset=iso-8859-2\nContent-Transfer-Encoding: quoted-printable\n\n\
            =B1 a=\n b =3D =zz=\n";
        assert_eq!(Entity::parse(latin).text(), "\u{105} a b = =zz");
        let base64 = b"Content-Transfer-Encoding: BASE64\n\n4o\nKs! YQ\n";
        assert_eq!(Entity::parse(base64).text(), "\u{20ac}a");
        let wrong = "Content-Type: text/plain; charset=us-ascii\n\ncaf\u{e9}";
        assert_eq!(Entity::parse(wrong.as_bytes()).text(), "caf\u{e9}");
        // In UTF-16 whichever byte comes first, with a mark or without, and where the whole was made UTF-8.
        let words = "Gr\u{fc}n \u{6f6e}, words and words";
        let little: Vec<u8> = words.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = words.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (charset, body) in [
            ("utf-16", little.clone()),
            ("UTF-16", big.clone()),
            ("utf-16le", little.clone()),
            ("'utf-16be'", big.clone()),
            ("utf-16", [b"\xFE\xFF", &big[..]].concat()),
            ("utf-16", [b"\xFF\xFE", &little[..]].concat()),
            ("utf-16", words.as_bytes().to_vec()),
        ] {
            let head = format!("Content-Type: text/plain; charset={charset}\n\n");
            let source = [head.as_bytes(), &body].concat();
            assert_eq!(Entity::parse(&source).text(), words, "{charset}");
        }
        for (charset, body, words) in [
            ("iso-2022-jp", &b"\x1b$BD,\x1b(B tide"[..], "\u{6f6e} tide"),
            ("ISO-2022-JP-MS", b"\x1b$BD,\x1b(B tide", "\u{6f6e} tide"),
            ("us-ascii", b"\x1b$BD,\x1b(B tide", "\u{6f6e} tide"),
            ("cp932", b"\x92\xaa tide", "\u{6f6e} tide"),
            ("gb2312", b"\xb3\xb1 tide", "\u{6f6e} tide"),
            ("hz-gb-2312", b"~{31~} tide", "\u{6f6e} tide"),
            (
                "iso-2022-kr",
                b"\x1b$)C\x0e9Y4Y\x0f sea",
                "\u{bc14}\u{b2e4} sea",
            ),
            (
                "cp1251",
                b"\xec\xee\xf0\xe5",
                "\u{43c}\u{43e}\u{440}\u{435}",
            ),
            ("iso-8859-15", b"5 \xa4", "5 \u{20ac}"),
            ("macintosh", b"caf\x8e", "caf\u{e9}"),
        ] {
            let head = format!("Content-Type: text/plain; charset={charset}\n\n");
            let source = [head.as_bytes(), body].concat();
            assert_eq!(Entity::parse(&source).text(), words, "{charset}");
        }
        assert_eq!(
            decode_words(b"=?ISO-2022-JP?B?GyRCRCwbKEI=?= a"),
            "\u{6f6e} a"
        );
        assert_eq!(decode_words(b"\x1b$BD,\x1b(B a"), "\u{6f6e} a");
        assert_eq!(decode_words(b"=?utf-16?B?/v9vbg==?="), "\u{6f6e}");
        let unknown = b"Content-Type: text/plain; charset=unknown-8bit\n\ncaf\xe9 au lait";
        assert_eq!(Entity::parse(unknown).text(), "caf\u{e9} au lait");
    }
}
