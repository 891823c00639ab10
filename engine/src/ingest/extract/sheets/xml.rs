//! What readers of XML parts share.

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesRef, BytesStart, Event};

use crate::ingest::extract::sheets::package::damaged;
use crate::ingest::extract::skip_reason::SkipReason;

/// The events of a part. Nothing in it recurses, and entities that the part declares are not expanded.
pub(super) struct Events<'t> {
    reader: Reader<&'t [u8]>,
    format: &'static str,
    part: &'static str,
}

impl<'t> Events<'t> {
    pub(super) fn new(text: &'t str, format: &'static str, part: &'static str) -> Events<'t> {
        let mut reader = Reader::from_str(text);
        reader.config_mut().allow_dangling_amp = true;
        Events {
            reader,
            format,
            part,
        }
    }

    /// The next event, [`Event::Eof`] at the end.
    ///
    /// # Errors
    /// [`SkipReason::Damaged`] for what is no XML.
    pub(super) fn next(&mut self) -> Result<Event<'t>, SkipReason> {
        let event = self.reader.read_event();
        event.map_err(|error| damaged(self.format, format!("{}: {error}", self.part)))
    }

    /// Passes over what is inside the element that has just begun, up to its end.
    ///
    /// # Errors
    /// As [`Events::next`].
    pub(super) fn skip(&mut self) -> Result<(), SkipReason> {
        let mut depth = 1u64;
        while depth > 0 {
            match self.next()? {
                Event::Start(_) => depth += 1,
                Event::End(_) => depth -= 1,
                Event::Eof => return Ok(()),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Calls `visit` with the local name and the value of each attribute.
pub(super) fn each_attribute(element: &BytesStart<'_>, mut visit: impl FnMut(&str, String)) {
    // Whether one comes twice is not checked, for that would be quadratic.
    for attribute in element.attributes().with_checks(false).flatten() {
        let value = match unescape(&attribute.value) {
            Ok(value) => value.into_owned(),
            Err(_) => attribute.value.to_string(),
        };
        visit(attribute.key.local_name().as_ref(), value);
    }
}

/// An attribute by its local name.
pub(super) fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut found = None;
    each_attribute(element, |local, value| {
        if local == name && found.is_none() {
            found = Some(value);
        }
    });
    found
}

/// Adds the text that an event stands for.
pub(super) fn push_text(event: &Event<'_>, text: &mut String) {
    match event {
        Event::Text(words) => text.push_str(&words.xml10_content()),
        Event::CData(words) => text.push_str(&words.xml10_content()),
        Event::GeneralRef(reference) => text.extend(character(reference)),
        _ => {}
    }
}

fn character(reference: &BytesRef<'_>) -> Option<char> {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return Some(character);
    }
    match reference.as_ref() {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}

/// The text of the elements of a part of properties, by local name: `title`, `creator`.
///
/// # Errors
/// As [`Events::next`].
pub(super) fn each_property(
    events: &mut Events<'_>,
    mut visit: impl FnMut(&str, &str),
) -> Result<(), SkipReason> {
    let mut text = String::new();
    loop {
        match events.next()? {
            Event::Start(_) => text.clear(),
            Event::End(element) => {
                visit(element.local_name().as_ref(), text.trim());
                text.clear();
            }
            Event::Eof => return Ok(()),
            event => push_text(&event, &mut text),
        }
    }
}
