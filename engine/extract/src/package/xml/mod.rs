//! XML as a stream of elements and text, under a limit of depth. No entity is expanded but the five of XML and
//! numbers, so none can grow.

mod namespaces;

use std::borrow::Cow;

use namespaces::Namespaces;
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesEnd, BytesRef, BytesStart, Event};

use crate::skip_reason::SkipReason;
use crate::text;

/// Bytes of a name that one element gives and others refer to.
const MAX_NAME_BYTES: usize = 255;
/// Nesting depth of elements.
// Real documents stay below 200. Readers keep a state for each open element.
const MAX_DEPTH: u64 = 2000;

/// The text of an XML part, by its byte order mark, its form or the encoding that it names.
pub(crate) fn decode(bytes: &[u8], format: &'static str) -> Result<String, SkipReason> {
    text::decode(bytes, false)
        .map_err(|_| SkipReason::damaged(format, "one of its XML parts is no text"))
}

/// What a reader comes to. Names are without prefix: programs choose prefixes as they like, and the strict form
/// of office XML has other namespaces for the same names.
#[derive(Debug)]
pub(crate) enum XmlEvent<'a> {
    Start(Element<'a>),
    End(EndTag<'a>),
    Text(Cow<'a, str>),
}

#[derive(Debug)]
pub(crate) struct Element<'a>(BytesStart<'a>);

#[derive(Debug)]
pub(crate) struct EndTag<'a>(BytesEnd<'a>);

impl Element<'_> {
    pub(crate) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    /// The prefix that the document gives its namespace, empty without one.
    pub(crate) fn prefix(&self) -> &str {
        let name = self.0.name().into_inner();
        name.split_once(':').map_or("", |(prefix, _)| prefix)
    }

    /// Whether it may declare a namespace.
    fn declares(&self) -> bool {
        self.0.contains("xmlns")
    }

    /// The namespaces that it declares, by prefix; empty for elements without one.
    fn namespaces(&self) -> impl Iterator<Item = (String, String)> {
        let mut attributes = self.0.attributes();
        // The check for duplicate names is quadratic in the number of attributes.
        attributes.with_checks(false);
        attributes.flatten().filter_map(|attribute| {
            let prefix = match attribute.key.into_inner() {
                "xmlns" => "",
                name => name.strip_prefix("xmlns:")?,
            };
            Some((prefix.to_owned(), attribute.value.into_owned()))
        })
    }

    /// The value of an attribute of this name, whatever its prefix; the first of several.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.0.attributes();
        let found = attributes
            .with_checks(false)
            .flatten()
            .find(|attribute| attribute.key.local_name().into_inner() == name)?;
        Some(match unescape(&found.value) {
            Ok(value) => value.into_owned(),
            Err(_) => found.value.into_owned(),
        })
    }

    /// Calls `visit` with the local name and the value of each attribute. Whether one comes twice is not checked, for
    /// that would be quadratic.
    pub(crate) fn each_attribute(&self, mut visit: impl FnMut(&str, String)) {
        for attribute in self.0.attributes().with_checks(false).flatten() {
            let value = match unescape(&attribute.value) {
                Ok(value) => value.into_owned(),
                Err(_) => attribute.value.to_string(),
            };
            visit(attribute.key.local_name().into_inner(), value);
        }
    }

    /// An attribute that names something, cut to 255 bytes so that finding it stays cheap.
    pub(crate) fn reference(&self, name: &str) -> Option<String> {
        let mut value = self.attribute(name)?;
        value.truncate(value.floor_char_boundary(MAX_NAME_BYTES));
        Some(value)
    }

    /// The value of an attribute that has a prefix: `r:id`, where `id` is another.
    pub(crate) fn prefixed_attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.0.attributes();
        let found = attributes.with_checks(false).flatten().find(|attribute| {
            let key = attribute.key.into_inner();
            key.split_once(':').is_some_and(|(_, local)| local == name)
        })?;
        Some(found.value.into_owned())
    }

    /// The number that an attribute holds.
    pub(crate) fn number(&self, name: &str) -> Option<u32> {
        self.attribute(name)?.trim().parse().ok()
    }

    /// Whether a switch is on: it is unless its `val` says no.
    pub(crate) fn is_on(&self) -> bool {
        !matches!(
            self.attribute("val").as_deref(),
            Some("0" | "false" | "off")
        )
    }
}

impl EndTag<'_> {
    /// As that of its element.
    pub(crate) fn prefix(&self) -> &str {
        let name = self.0.name().into_inner();
        name.split_once(':').map_or("", |(prefix, _)| prefix)
    }

    pub(crate) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }
}

/// Reads one part from start to end.
pub(crate) struct XmlReader<'a> {
    reader: Reader<&'a [u8]>,
    depth: u64,
    is_broken: bool,
    /// Which elements are read, where only those of one vocabulary are.
    own: Option<Vocabulary>,
    /// The namespaces of a part of an office format.
    office: Option<Namespaces>,
    /// Whether the element that ended last is one of the format.
    ends_own: bool,
}

/// The vocabulary of a part: that of its outermost element.
#[derive(Debug, Default)]
struct Vocabulary {
    /// Prefixes of its elements; empty before the outermost one.
    prefixes: Vec<String>,
    namespace: String,
}

impl Vocabulary {
    /// Whether an element is of it.
    fn has(&mut self, element: &Element<'_>) -> bool {
        let prefix = element.prefix();
        if self.prefixes.is_empty() {
            self.prefixes.push(prefix.to_owned());
            let declared: Vec<(String, String)> = element.namespaces().collect();
            let own = declared.iter().find(|(declared, _)| declared == prefix);
            if let Some((_, own)) = own {
                self.namespace.clone_from(own);
                let same = declared.iter().filter(|(_, namespace)| namespace == own);
                self.prefixes.extend(same.map(|(prefix, _)| prefix.clone()));
            }
            return true;
        }
        // An element may declare its prefix itself.
        self.prefixes.iter().any(|own| own == prefix)
            || element
                .namespaces()
                .any(|(declared, namespace)| declared == prefix && namespace == self.namespace)
    }
}

impl<'a> XmlReader<'a> {
    pub(crate) fn new(text: &'a str) -> XmlReader<'a> {
        let mut reader = Reader::from_str(text);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        // Damaged documents are read as far as they go, as office programs do. Depth is counted
        // here instead.
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        // Hand-made files have a bare `&` in URLs.
        config.allow_dangling_amp = true;
        XmlReader {
            reader,
            depth: 0,
            is_broken: false,
            own: None,
            office: None,
            ends_own: true,
        }
    }

    /// Reads a part of Office Open XML, which uses several vocabularies: without the elements that are of none of
    /// them, though with what is in these, and with one of several alternatives.
    pub(crate) fn office(text: &'a str) -> XmlReader<'a> {
        XmlReader {
            office: Some(Namespaces::default()),
            ..XmlReader::new(text)
        }
    }

    /// Reads a part without what other vocabularies add to it: elements of another namespace than the outermost one
    /// has, and lists of extensions. They may have the names that the format itself uses: an extension of a workbook
    /// has a `workbookPr` of its own, which says nothing of dates. Of alternatives that for all programs is read.
    pub(crate) fn of_own(text: &'a str) -> XmlReader<'a> {
        XmlReader {
            own: Some(Vocabulary::default()),
            ..XmlReader::new(text)
        }
    }

    /// How many elements are open, that which was begun last among them.
    pub(crate) fn depth(&self) -> u64 {
        self.depth
    }

    /// Whether reading ended before the end, where the part is no XML any more, or was cut.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// The next start, end or text; `None` at the end, or where the part is no XML any more: what came before is
    /// worth reading. An empty element has a start and an end.
    ///
    /// # Errors
    /// [`SkipReason::Limit`] for elements nested deeper than [`MAX_DEPTH`].
    pub(crate) fn next(&mut self) -> Result<Option<XmlEvent<'a>>, SkipReason> {
        loop {
            let event = self.next_of_all()?;
            if let (Some(own), Some(XmlEvent::Start(element))) = (&mut self.own, &event) {
                // `extLst` and `Choice` hold what newer programs added; the `Fallback` says the
                // same for others (ECMA-376 part 3).
                let is_read = match element.name() {
                    "extLst" | "Choice" => false,
                    "AlternateContent" | "Fallback" => true,
                    _ => own.has(element),
                };
                if !is_read {
                    self.skip()?;
                    continue;
                }
            }
            if self.office.is_some()
                && let Some(event) = &event
                && !self.is_office(event)?
            {
                continue;
            }
            return Ok(event);
        }
    }

    /// Whether an event is one of the office format. Passes over alternatives that are not read.
    fn is_office(&mut self, event: &XmlEvent<'_>) -> Result<bool, SkipReason> {
        let Some(namespaces) = &mut self.office else {
            return Ok(true);
        };
        let element = match event {
            XmlEvent::Start(element) => element,
            XmlEvent::End(_) => return Ok(self.ends_own),
            XmlEvent::Text(_) => return Ok(true),
        };
        if !namespaces.is_own(element.prefix()) {
            return Ok(false);
        }
        match element.name() {
            "AlternateContent" => namespaces.alternatives(self.depth),
            "Choice" | "Fallback" => {
                let required = element.attribute("Requires").unwrap_or_default();
                match namespaces.is_chosen(self.depth, &required) {
                    Some(true) => {}
                    Some(false) => self.skip()?,
                    None => return Ok(true),
                }
            }
            _ => return Ok(true),
        }
        Ok(false)
    }

    /// The same, whatever its vocabulary is.
    fn next_of_all(&mut self) -> Result<Option<XmlEvent<'a>>, SkipReason> {
        loop {
            return Ok(Some(match self.reader.read_event() {
                Ok(Event::Start(element)) => {
                    self.depth += 1;
                    if self.depth > MAX_DEPTH {
                        return Err(SkipReason::Limit {
                            what: "elements inside each other",
                            limit: MAX_DEPTH,
                        });
                    }
                    let element = Element(element);
                    if let Some(namespaces) = &mut self.office
                        && element.declares()
                    {
                        namespaces.begin(self.depth, element.prefix(), element.namespaces());
                    }
                    XmlEvent::Start(element)
                }
                Ok(Event::End(end)) => {
                    let end = EndTag(end);
                    if let Some(namespaces) = &mut self.office {
                        self.ends_own = namespaces.end(self.depth, end.prefix());
                    }
                    self.depth = self.depth.saturating_sub(1);
                    XmlEvent::End(end)
                }
                Ok(Event::Text(text)) => XmlEvent::Text(text.xml10_content()),
                Ok(Event::CData(text)) => XmlEvent::Text(text.xml10_content()),
                Ok(Event::GeneralRef(reference)) => match character(&reference) {
                    Some(character) => XmlEvent::Text(Cow::Owned(character.to_string())),
                    // Only the five entities of XML are known: others need a DTD, and expanding
                    // those of a DTD is how small files become large ("billion laughs").
                    None => continue,
                },
                Ok(Event::Eof) => {
                    // The end inside an element: what was read counts, and the document says that
                    // it is incomplete.
                    self.is_broken |= self.depth > 0;
                    return Ok(None);
                }
                Err(_) => {
                    self.is_broken = true;
                    return Ok(None);
                }
                Ok(_) => continue,
            }));
        }
    }

    /// Passes over the rest of the element that was begun last, with all that is in it.
    ///
    /// # Errors
    /// As [`XmlReader::next`].
    pub(crate) fn skip(&mut self) -> Result<(), SkipReason> {
        let outside = self.depth.saturating_sub(1);
        // Without recursion, so that depth costs no stack.
        while self.depth > outside && self.next_of_all()?.is_some() {}
        Ok(())
    }

    /// The text of the element that was begun last, `most` bytes at most, and passes over it.
    ///
    /// # Errors
    /// As [`XmlReader::next`].
    pub(crate) fn text_of_element(&mut self, most: usize) -> Result<String, SkipReason> {
        let outside = self.depth.saturating_sub(1);
        let mut text = String::new();
        while self.depth > outside {
            match self.next()? {
                Some(XmlEvent::Text(piece)) if text.len() < most => text.push_str(&piece),
                Some(_) => {}
                None => break,
            }
        }
        text.truncate(text.floor_char_boundary(most));
        Ok(text)
    }
}

fn character(reference: &BytesRef<'_>) -> Option<char> {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return Some(character);
    }
    match &**reference {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}
