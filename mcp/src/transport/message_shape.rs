//! Scans the bytes of a JSON-RPC message before it is parsed: its method, its id, and how much memory
//! parsing it would take.
//!
//! A parsed value takes up to several hundred bytes where its text takes two, so memory depends on the
//! number of values more than on the length. They are counted by structural characters, as simdjson
//! calls them. One pass without allocation.

use std::fmt;

/// Longest `initialize`, and longest message without a plain method, in bytes. An `initialize` of known
/// clients has less than 2 KiB, and a session keeps its parameters.
const NON_CALL_LIMIT: usize = 64 << 10;

/// Longest call that is no upload, in bytes: enough for a query, for a document handle and for as many
/// URIs as may be subscribed to.
const CALL_LIMIT: usize = 1 << 20;

/// Longest message, in bytes. A document to upload may have 10 MiB; base64 and JSON make it longer.
pub(super) const UPLOAD_LIMIT: usize = 24 << 20;

/// Most opening brackets, commas and colons outside of strings. Known clients send fewer than 100;
/// 1000 URIs or tags have 1000.
pub(super) const STRUCTURALS_LIMIT: usize = 10_000;

/// Structural characters that are not charged for, as small messages have them.
const FREE_STRUCTURALS: usize = 64;

/// Memory that a parsed message takes for each structural character, at most: 460 bytes were measured
/// for objects of one member each.
const BYTES_PER_STRUCTURAL: usize = 1 << 10;

/// The tool whose calls may have up to [`UPLOAD_LIMIT`] bytes.
const UPLOAD_TOOL: &[u8] = b"upload_document";

/// The method whose response is a stream that stays open.
const LISTEN_METHOD: &[u8] = b"subscriptions/listen";

/// What a scan finds out about a message. A member that occurs twice, or has an escape in its string,
/// counts as absent: a parser might read it differently.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct MessageShape<'m> {
    length: usize,
    /// Opening brackets, commas and colons outside of strings.
    structurals: usize,
    method: Field<'m>,
    /// `params.name`.
    name: Field<'m>,
    /// How often `params` occurs.
    params: u32,
    /// The JSON text of the first `id`.
    pub(super) id: Option<&'m [u8]>,
}

/// A member of an object: how often it occurs, and its value if that is a string without escapes.
#[derive(Debug, Default, Clone, Copy)]
struct Field<'m> {
    occurrences: u32,
    text: Option<&'m [u8]>,
}

impl<'m> Field<'m> {
    fn record(&mut self, text: Option<&'m [u8]>) {
        self.occurrences = self.occurrences.saturating_add(1);
        self.text = text.filter(|text| !text.contains(&b'\\'));
    }

    fn unique(&self) -> Option<&'m [u8]> {
        self.text.filter(|_| self.occurrences == 1)
    }
}

/// The limit that a message exceeds. It is not parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitExceeded {
    /// [`NON_CALL_LIMIT`].
    NonCall,
    /// [`CALL_LIMIT`].
    Call,
    /// [`UPLOAD_LIMIT`].
    Upload,
    /// [`STRUCTURALS_LIMIT`].
    Structurals,
}

impl fmt::Display for LimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LimitExceeded::NonCall => write!(
                f,
                "message over {} KiB: initialize, and a message without a plain \"method\", may not \
                 be longer",
                NON_CALL_LIMIT >> 10
            ),
            LimitExceeded::Call => write!(
                f,
                "message over {} MiB: only a call of upload_document may be longer; send shorter \
                 arguments",
                CALL_LIMIT >> 20
            ),
            LimitExceeded::Upload => write!(
                f,
                "message over {} MiB: add larger documents with kb add or kb index",
                UPLOAD_LIMIT >> 20
            ),
            LimitExceeded::Structurals => write!(
                f,
                "message with more than {STRUCTURALS_LIMIT} brackets, commas and colons: send fewer values"
            ),
        }
    }
}

impl<'m> MessageShape<'m> {
    /// Scans a message, which need not be JSON: the parser refuses what is not.
    pub(super) fn scan(message: &'m [u8]) -> MessageShape<'m> {
        let mut shape = MessageShape {
            length: message.len(),
            ..MessageShape::default()
        };
        let mut depth = 0_u32;
        // Names of the members being read: of the message, and of `params`.
        let (mut outer, mut inner): (Option<&[u8]>, Option<&[u8]>) = (None, None);
        let (mut is_object, mut in_params) = (false, false);
        // The last string, and the offset at which the value of `outer` begins.
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
                    shape.structurals += 1;
                    depth += 1;
                    match depth {
                        1 => is_object = *byte == b'{',
                        2 => in_params = *byte == b'{' && outer == Some(b"params"),
                        _ => {}
                    }
                    last = None;
                }
                b':' => {
                    shape.structurals += 1;
                    if depth == 1 {
                        (outer, start) = (last, at + 1);
                    } else if depth == 2 && in_params {
                        inner = last;
                    }
                    last = None;
                }
                b',' | b'}' | b']' => {
                    if depth == 1 && is_object {
                        shape.record_member(
                            outer,
                            last,
                            message.get(start..at).unwrap_or_default(),
                        );
                        outer = None;
                    } else if depth == 2 && in_params && inner == Some(b"name") {
                        shape.name.record(last);
                    }
                    inner = None;
                    last = None;
                    if *byte == b',' {
                        shape.structurals += 1;
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

    /// Takes a member of the message: its value if that is a string, and its JSON text.
    fn record_member(&mut self, name: Option<&[u8]>, string: Option<&'m [u8]>, text: &'m [u8]) {
        match name {
            Some(b"method") => self.method.record(string),
            Some(b"params") => self.params = self.params.saturating_add(1),
            Some(b"id") => self.id = self.id.or(Some(text.trim_ascii())),
            _ => {}
        }
    }

    /// Whether there is a `method`: a request or a notification.
    pub(super) fn has_method(&self) -> bool {
        self.method.occurrences > 0
    }

    /// Whether the response may be a stream that stays open. True if the method is not a plain string.
    pub(super) fn may_be_stream(&self) -> bool {
        self.has_method()
            && self
                .method
                .unique()
                .is_none_or(|method| method == LISTEN_METHOD)
    }

    /// Checks the limits, before the message is parsed.
    pub(super) fn check(&self) -> Result<(), LimitExceeded> {
        if self.length > UPLOAD_LIMIT {
            return Err(LimitExceeded::Upload);
        }
        if self.structurals > STRUCTURALS_LIMIT {
            return Err(LimitExceeded::Structurals);
        }
        if self.length <= NON_CALL_LIMIT {
            return Ok(());
        }
        let method = self.method.unique().filter(|_| self.params == 1);
        match method {
            None | Some(b"initialize") => Err(LimitExceeded::NonCall),
            Some(_) if self.length <= CALL_LIMIT => Ok(()),
            Some(b"tools/call") if self.name.unique() == Some(UPLOAD_TOOL) => Ok(()),
            Some(_) => Err(LimitExceeded::Call),
        }
    }

    /// Memory that the parsed message may take in addition to its text, in bytes; 0 for small messages.
    pub(super) fn parsed_bytes(&self) -> usize {
        self.structurals.saturating_sub(FREE_STRUCTURALS) * BYTES_PER_STRUCTURAL
    }
}

/// Offset of the quotation mark that closes the string at `start`, or the end of the message.
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

    fn check(text: &str) -> Result<(), LimitExceeded> {
        MessageShape::scan(text.as_bytes()).check()
    }

    /// A call with an argument of that many bytes, with its members in either order.
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
    fn only_an_upload_may_be_long() {
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
        // A name outside of `params` does not count.
        let text = long
            .replacen(r#""name":"upload_document","#, "", 1)
            .replacen('{', r#"{"name":"upload_document","#, 1);
        assert_eq!(check(&text), Err(LimitExceeded::Call));
        for call in call("upload_document", UPLOAD_LIMIT) {
            assert_eq!(check(&call), Err(LimitExceeded::Upload));
        }
    }

    #[test]
    fn a_message_without_a_plain_method_must_be_small() {
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
            assert_eq!(
                check(&message(method)),
                Err(LimitExceeded::NonCall),
                "{method}"
            );
        }
        assert_eq!(
            check(&format!("[{}]", message(""))),
            Err(LimitExceeded::NonCall)
        );
    }

    #[test]
    fn a_stream_is_recognised_by_its_method() {
        let may_last = |text: &str| MessageShape::scan(text.as_bytes()).may_be_stream();
        assert!(may_last(r#"{"method":"subscriptions/listen"}"#));
        assert!(may_last(r#"{"method":"subscriptions\/listen"}"#));
        assert!(may_last(
            r#"{"method":"tools/list","method":"subscriptions/listen"}"#
        ));
        assert!(!may_last(r#"{"method":"tools/list"}"#) && !may_last("{}"));
    }

    #[test]
    fn structural_characters_in_strings_are_not_counted() {
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
            assert_eq!(
                check(&format!("{text}[")),
                Err(LimitExceeded::Structurals),
                "{part}"
            );
        }
        let values = format!("[{}0]", "0,".repeat(2000));
        assert_eq!(
            MessageShape::scan(values.as_bytes()).parsed_bytes(),
            (2001 - 64) << 10
        );
        assert_eq!(MessageShape::scan(b"{}").parsed_bytes(), 0);
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_scanned(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = MessageShape::scan(&bytes).check();
        }

        #[test]
        fn members_are_the_same_as_after_parsing(
            method in "[a-z/\"\\\\{},:]{0,9}", name in "[a-z\"\\\\{}]{0,9}", id in any::<u32>(),
            other in "[\"\\\\{}\\[\\],:a-z]{0,20}", is_pretty in any::<bool>(),
        ) {
            let value = json!({"jsonrpc": "2.0", "id": id, "method": method, "other": [{"method": other}],
                "params": {"name": name, "a": {"name": other}, "z": other}});
            let text = if is_pretty { format!("{value:#}") } else { value.to_string() };
            let shape = MessageShape::scan(text.as_bytes());
            let text_of = |bytes: Option<&[u8]>| bytes.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
            let plain = |text: &str| (!text.contains(['"', '\\'])).then(|| text.to_owned());
            prop_assert_eq!(text_of(shape.method.unique()), plain(&method));
            prop_assert_eq!(text_of(shape.name.unique()), plain(&name));
            let parsed_id: Value = serde_json::from_slice(shape.id.unwrap()).unwrap();
            prop_assert_eq!(parsed_id, json!(id));
        }
    }
}
