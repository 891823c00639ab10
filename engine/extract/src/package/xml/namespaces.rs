//! Which elements of a part are of Office Open XML, by their namespaces, and which of several alternatives is read.

use std::collections::HashMap;

/// How the namespaces of the format begin, in its transitional and in its strict form.
const FORMAT: [&str; 2] = [
    "http://schemas.openxmlformats.org/",
    "http://purl.oclc.org/ooxml/",
];
/// Charts of a later kind, which a part refers to as to others.
const LATER_CHARTS: &str = "http://schemas.microsoft.com/office/drawing/2014/chartex";
/// How the namespaces begin of what office programs add to it, and know.
const ADDITIONS: [&str; 2] = [
    "http://schemas.microsoft.com/",
    "urn:schemas-microsoft-com:",
];
/// Namespaces that one alternative may require; what is behind them is not looked at.
const MAX_REQUIRED: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The vocabulary of the format itself, transitional or strict.
    Own,
    /// What office programs add.
    Added,
    Foreign,
}

impl Kind {
    fn of(namespace: &str) -> Kind {
        let begins = |starts: &[&str]| starts.iter().any(|start| namespace.starts_with(start));
        if begins(&FORMAT) || namespace == LATER_CHARTS {
            Kind::Own
        } else if begins(&ADDITIONS) {
            Kind::Added
        } else {
            Kind::Foreign
        }
    }
}

/// The namespaces that are declared where a reader is. A prefix that is not declared is taken to be of the format.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    /// By prefix, the innermost last, with the depth of the element that declares it.
    kinds: HashMap<String, Vec<Kind>>,
    declared: Vec<(u64, String)>,
    /// Open alternatives: their depth, and whether one was read.
    alternatives: Vec<(u64, bool)>,
}

impl Namespaces {
    /// An element of this depth and prefix begins, and declares namespaces by their prefixes.
    pub(super) fn begin(
        &mut self,
        depth: u64,
        own: &str,
        declared: impl Iterator<Item = (String, String)>,
    ) {
        for (prefix, namespace) in declared {
            // Whatever it is called: the part was taken for one of the format.
            let is_outermost = depth == 1 && prefix == own;
            let kind = match is_outermost {
                true => Kind::Own,
                false => Kind::of(&namespace),
            };
            self.kinds.entry(prefix.clone()).or_default().push(kind);
            self.declared.push((depth, prefix));
        }
    }

    /// The element of this depth ends: whether it is one of the format.
    pub(super) fn end(&mut self, depth: u64, prefix: &str) -> bool {
        let is_own = self.is_own(prefix);
        while let Some((_, prefix)) = self.declared.pop_if(|(declared, _)| *declared >= depth) {
            if let Some(kinds) = self.kinds.get_mut(&prefix) {
                kinds.pop();
            }
        }
        while self
            .alternatives
            .pop_if(|(open, _)| *open >= depth)
            .is_some()
        {}
        is_own
    }

    fn kind(&self, prefix: &str) -> Kind {
        let declared = self.kinds.get(prefix).and_then(|kinds| kinds.last());
        declared.copied().unwrap_or(Kind::Own)
    }

    /// Whether elements with a prefix are of the format.
    pub(super) fn is_own(&self, prefix: &str) -> bool {
        self.kind(prefix) == Kind::Own
    }

    /// Alternatives begin.
    pub(super) fn alternatives(&mut self, depth: u64) {
        self.alternatives.push((depth, false));
    }

    /// Whether an element of this depth is one of alternatives and to be read: the first that asks for nothing which
    /// is not known. None where it is no alternative.
    pub(super) fn is_chosen(&mut self, depth: u64, required: &str) -> Option<bool> {
        let mut required = required.split_whitespace().take(MAX_REQUIRED);
        let is_known = required.all(|prefix| self.kind(prefix) != Kind::Foreign);
        let (open, was_read) = self.alternatives.last_mut()?;
        if *open + 1 != depth {
            return None;
        }
        let is_chosen = is_known && !*was_read;
        *was_read |= is_chosen;
        Some(is_chosen)
    }
}

#[cfg(test)]
mod tests {
    use crate::package::xml::{XmlEvent, XmlReader};

    /// The names of what is read, in order.
    fn names(part: &str) -> Vec<String> {
        let mut reader = XmlReader::office(part);
        let mut names = Vec::new();
        while let Some(event) = reader.next().unwrap() {
            match event {
                XmlEvent::Start(element) => names.push(element.name().to_owned()),
                XmlEvent::End(end) => names.push(format!("/{}", end.name())),
                XmlEvent::Text(text) => names.push(text.into_owned()),
            }
        }
        names
    }

    #[test]
    fn elements_of_foreign_namespaces_are_not_taken_for_those_of_the_format() {
        for format in [
            "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
            "http://purl.oclc.org/ooxml/wordprocessingml/main",
        ] {
            let part = format!(
                "<w:p xmlns:w='{format}' xmlns:x='urn:mine'><x:t>a</x:t><w:r/><t xmlns='urn:mine'/>\
                 <y:t xmlns:y='{format}'/><x:t xmlns:x='{format}'/><x:t/></w:p>"
            );
            let expected = ["p", "a", "r", "/r", "t", "/t", "t", "/t", "/p"];
            assert_eq!(names(&part), expected);
        }
        // What declares nothing is of the format, and so is the outermost element.
        assert_eq!(names("<w:p><x:r/></w:p>"), ["p", "r", "/r", "/p"]);
        assert_eq!(
            names("<p xmlns='urn:mine'><r/></p>"),
            ["p", "r", "/r", "/p"]
        );
    }

    #[test]
    fn one_of_alternatives_is_read() {
        let part = |choices: &str| {
            format!(
                "<p xmlns:n='http://schemas.microsoft.com/office/new' xmlns:x='urn:mine'>\
                 <AlternateContent>{choices}</AlternateContent></p>"
            )
        };
        let read = |choices: &str| -> Vec<String> {
            let names = names(&part(choices)).into_iter();
            names.filter(|name| name.len() == 1).collect()
        };
        for (choices, expected) in [
            (
                "<Choice Requires='n'>1</Choice><Choice>2</Choice><Fallback>3</Fallback>",
                "1",
            ),
            (
                "<Choice Requires='n x'>1</Choice><Choice Requires='n'>2</Choice><Fallback>3</Fallback>",
                "2",
            ),
            ("<Choice Requires='x'>1</Choice><Fallback>3</Fallback>", "3"),
            (
                "<Choice>1<AlternateContent><Fallback/></AlternateContent></Choice><Fallback>3</Fallback>",
                "1",
            ),
        ] {
            assert_eq!(read(choices), ["p", expected], "{choices}");
        }
    }
}
