//! Looks at the bytes of a message before it is parsed: how many values it has, and what it asks for.
//!
//! A parsed value takes up to several hundred bytes where its text takes two, so the number of values
//! decides about memory, not the length. One pass, no memory of its own, cost linear in the bytes.

use std::fmt;

/// Longest message that is no call. An `initialize` of known clients has less than 2 KiB, and a
/// session keeps what it says.
const SMALL_LIMIT: usize = 64 << 10;

/// Longest message that is no upload: room for a query, for a document handle and for as many
/// addresses as may be subscribed to.
const MESSAGE_LIMIT: usize = 1 << 20;

/// Longest message. An upload may have 10 MiB, base64 and JSON make it longer.
pub(super) const UPLOAD_LIMIT: usize = 24 << 20;

/// Most brackets, commas and colons of a message. Known clients send fewer than 100; 1000 addresses
/// or tags take 1000.
pub(super) const MARKS_LIMIT: usize = 10_000;

/// Marks of a message that is as small as most.
const USUAL_MARKS: usize = 64;

/// The memory that a parsed message may take for each of its marks: 460 bytes were measured for
/// objects of one member each.
const MARK_BYTES: usize = 1 << 10;

/// The tool whose calls may be long.
const UPLOAD: &[u8] = b"upload_document";

/// The method whose answer is a stream that lasts.
const LISTEN: &[u8] = b"subscriptions/listen";

/// What the bytes of a message tell without parsing it. What is said twice, or not plainly, counts
/// as not said.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Shape<'m> {
    length: usize,
    /// Brackets that open, commas and colons outside of strings.
    marks: usize,
    method: Said<'m>,
    /// `name` in `params`.
    name: Said<'m>,
    params: u32,
    /// The text of the first member `id`.
    pub(super) id: Option<&'m [u8]>,
}

/// A member of an object: how often it is there, and what it says where that is a plain string.
#[derive(Debug, Default, Clone, Copy)]
struct Said<'m> {
    times: u32,
    text: Option<&'m [u8]>,
}

impl<'m> Said<'m> {
    fn hear(&mut self, text: Option<&'m [u8]>) {
        self.times = self.times.saturating_add(1);
        self.text = text.filter(|text| !text.contains(&b'\\'));
    }

    fn once(&self) -> Option<&'m [u8]> {
        self.text.filter(|_| self.times == 1)
    }
}

/// Why a message is not parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TooMuch {
    /// More than a message may have that is no call.
    Small,
    /// More than a message may have that is no upload.
    Message,
    /// More than any message may have.
    Upload,
    /// More values than any message may have.
    Marks,
}

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TooMuch::Small => write!(
                f,
                "message over {} KiB: initialize, and a message without a plain \"method\", may not \
                 be longer",
                SMALL_LIMIT >> 10
            ),
            TooMuch::Message => write!(
                f,
                "message over {} MiB: only a call of upload_document may be longer; send shorter \
                 arguments",
                MESSAGE_LIMIT >> 20
            ),
            TooMuch::Upload => write!(
                f,
                "message over {} MiB: add larger documents with kb add or kb index",
                UPLOAD_LIMIT >> 20
            ),
            TooMuch::Marks => write!(
                f,
                "message with more than {MARKS_LIMIT} brackets, commas and colons: send fewer values"
            ),
        }
    }
}

impl<'m> Shape<'m> {
    /// Looks at a message. It need not be JSON: what is no JSON is refused when it is parsed.
    pub(super) fn of(message: &'m [u8]) -> Shape<'m> {
        let mut shape = Shape {
            length: message.len(),
            ..Shape::default()
        };
        let mut depth = 0_u32;
        // The names of the members that are open, on the first level and in `params`.
        let (mut outer, mut inner): (Option<&[u8]>, Option<&[u8]>) = (None, None);
        let (mut is_object, mut in_params) = (false, false);
        // The string before this place, and where the value of `outer` begins.
        let (mut last, mut start): (Option<&[u8]>, usize) = (None, 0);
        let mut at = 0;
        while let Some(byte) = message.get(at) {
            match byte {
                b'"' => {
                    let end = string_end(message, at + 1);
                    last = message.get(at + 1..end);
                    at = end + 1;
                    continue;
                }
                b'{' | b'[' => {
                    shape.marks += 1;
                    depth += 1;
                    match depth {
                        1 => is_object = *byte == b'{',
                        2 => in_params = *byte == b'{' && outer == Some(b"params"),
                        _ => {}
                    }
                    last = None;
                }
                b':' => {
                    shape.marks += 1;
                    if depth == 1 {
                        (outer, start) = (last, at + 1);
                    } else if depth == 2 && in_params {
                        inner = last;
                    }
                    last = None;
                }
                b',' | b'}' | b']' => {
                    if depth == 1 && is_object {
                        shape.member(outer, last, message.get(start..at).unwrap_or_default());
                        outer = None;
                    } else if depth == 2 && in_params && inner == Some(b"name") {
                        shape.name.hear(last);
                    }
                    inner = None;
                    last = None;
                    if *byte == b',' {
                        shape.marks += 1;
                    } else {
                        depth = depth.saturating_sub(1);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        shape
    }

    /// A member of the message: its value where that is a string, and its text.
    fn member(&mut self, name: Option<&[u8]>, string: Option<&'m [u8]>, text: &'m [u8]) {
        match name {
            Some(b"method") => self.method.hear(string),
            Some(b"params") => self.params = self.params.saturating_add(1),
            Some(b"id") => self.id = self.id.or(Some(text.trim_ascii())),
            _ => {}
        }
    }

    /// Whether it says what it asks for.
    pub(super) fn is_call(&self) -> bool {
        self.method.times > 0
    }

    /// Whether it asks for a stream that lasts; so does, as far as is known, what does not say plainly
    /// what it asks for.
    pub(super) fn may_last(&self) -> bool {
        self.is_call() && self.method.once().is_none_or(|method| method == LISTEN)
    }

    /// Whether it may be parsed.
    pub(super) fn check(&self) -> Result<(), TooMuch> {
        if self.length > UPLOAD_LIMIT {
            return Err(TooMuch::Upload);
        }
        if self.marks > MARKS_LIMIT {
            return Err(TooMuch::Marks);
        }
        if self.length <= SMALL_LIMIT {
            return Ok(());
        }
        let method = self.method.once().filter(|_| self.params == 1);
        match method {
            None | Some(b"initialize") => Err(TooMuch::Small),
            Some(_) if self.length <= MESSAGE_LIMIT => Ok(()),
            Some(b"tools/call") if self.name.once() == Some(UPLOAD) => Ok(()),
            Some(_) => Err(TooMuch::Message),
        }
    }

    /// The memory that it may take when it is parsed, beside its text and beyond what every message
    /// takes. In bytes.
    pub(super) fn weight(&self) -> usize {
        self.marks.saturating_sub(USUAL_MARKS) * MARK_BYTES
    }
}

/// Where a string ends whose first character is there: at its quotation mark, or with the message.
fn string_end(message: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(byte) = message.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    message.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn check(text: &str) -> Result<(), TooMuch> {
        Shape::of(text.as_bytes()).check()
    }

    /// A call with an argument of that many bytes, its members in this order or in the other.
    fn call(tool: &str, bytes: usize) -> [String; 2] {
        let text = "y".repeat(bytes);
        [
            format!(
                r#"{{"id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{{"content":"{text}"}}}}}}"#
            ),
            format!(
                r#"{{"params" : {{"arguments":{{"content":"{text}"}}, "name" :"{tool}"}},"method": "tools/call"}}"#
            ),
        ]
    }

    #[test]
    fn an_upload_may_be_long_and_nothing_that_only_looks_like_one() {
        for call in call("upload_document", 2 << 20) {
            assert_eq!(check(&call), Ok(()));
        }
        let [long, _] = call("upload_document", 2 << 20);
        for (right, wrong) in [
            ("upload_document", "search"),
            ("upload_document", r"upload\u005fdocument"),
            ("tools/call", "tools/list"),
            (r#""id":1"#, r#""params":{"name":"upload_document"}"#),
            (r#""name":"#, r#""name":"search","name":"#),
            (
                r#""arguments":{"#,
                r#""arguments":{"name":"upload_document","#,
            ),
        ] {
            let text = long.replacen(right, wrong, 1);
            let is_fine = wrong.starts_with(r#""arguments"#);
            assert_eq!(check(&text).is_ok(), is_fine, "{text:.120}");
        }
        // A name somewhere else is none.
        let text = long
            .replacen(r#""name":"upload_document","#, "", 1)
            .replacen('{', r#"{"name":"upload_document","#, 1);
        assert_eq!(check(&text), Err(TooMuch::Message));
        for call in call("upload_document", UPLOAD_LIMIT) {
            assert_eq!(check(&call), Err(TooMuch::Upload));
        }
    }

    #[test]
    fn what_is_no_call_is_small() {
        let long = "y".repeat(100 << 10);
        let message = |method: &str| format!(r#"{{"id":1,{method}"params":{{"x":"{long}"}}}}"#);
        assert_eq!(check(&message(r#""method":"tools/list","#)), Ok(()));
        for method in [
            "",
            r#""method":"initialize","#,
            r#""method":"initiali\u007ae","#,
            r#""m\u0065thod":"initialize","#,
            r#""method":"initialize","method":"tools/list","#,
            r#""method":{"x":"tools/list"},"#,
            r#""method":["tools/list"],"#,
        ] {
            assert_eq!(check(&message(method)), Err(TooMuch::Small), "{method}");
        }
        assert_eq!(check(&format!("[{}]", message(""))), Err(TooMuch::Small));
    }

    #[test]
    fn a_stream_that_lasts_is_known_by_its_method() {
        let may_last = |text: &str| Shape::of(text.as_bytes()).may_last();
        assert!(may_last(r#"{"method":"subscriptions/listen"}"#));
        assert!(may_last(r#"{"method":"subscriptions\/listen"}"#));
        assert!(may_last(
            r#"{"method":"tools/list","method":"subscriptions/listen"}"#
        ));
        assert!(!may_last(r#"{"method":"tools/list"}"#) && !may_last("{}"));
    }

    #[test]
    fn marks_in_strings_are_not_counted_and_others_are() {
        let strings = format!(r#"{{"x":"{}"}}"#, r#"\"{[,:]}\\"#.repeat(3000));
        assert_eq!(check(&strings), Ok(()));
        for (part, times) in [
            ("0,", 10_000),
            ("{},", 5_000),
            ("[", 10_000),
            (r#"{"a":"#, 5_000),
        ] {
            let text = part.repeat(times);
            assert_eq!(check(&text), Ok(()), "{part}");
            assert_eq!(check(&format!("{text}[")), Err(TooMuch::Marks), "{part}");
        }
        let values = format!("[{}0]", "0,".repeat(2000));
        assert_eq!(Shape::of(values.as_bytes()).weight(), (2001 - 64) << 10);
        assert_eq!(Shape::of(b"{}").weight(), 0);
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_shape(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Shape::of(&bytes).check();
        }

        #[test]
        fn the_members_of_real_messages_are_found(
            method in "[a-z/\"\\\\{},:]{0,9}", name in "[a-z\"\\\\{}]{0,9}", id in any::<u32>(),
            other in "[\"\\\\{}\\[\\],:a-z]{0,20}", is_pretty in any::<bool>(),
        ) {
            let value = json!({"jsonrpc": "2.0", "id": id, "method": method, "other": [{"method": other}],
                "params": {"name": name, "a": {"name": other}, "z": other}});
            let text = if is_pretty { format!("{value:#}") } else { value.to_string() };
            let shape = Shape::of(text.as_bytes());
            let heard = |said: Option<&[u8]>| said.map(|said| String::from_utf8(said.to_vec()).unwrap());
            let plain = |text: &str| (!text.contains(['"', '\\'])).then(|| text.to_owned());
            prop_assert_eq!(heard(shape.method.once()), plain(&method));
            prop_assert_eq!(heard(shape.name.once()), plain(&name));
            let found: Value = serde_json::from_slice(shape.id.unwrap()).unwrap();
            prop_assert_eq!(found, json!(id));
        }
    }
}
