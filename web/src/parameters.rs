//! What comes behind `?` in an address, or in the body of a form.

use std::borrow::Cow;

/// Names and values, in the order of the address. A name may repeat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Reads `a=b&c=d`. Nothing is an error: bytes that are not UTF-8 become U+FFFD.
    pub(crate) fn parse(encoded: &[u8]) -> Parameters {
        let pairs = form_urlencoded::parse(encoded).map(|(name, value)| (own(name), own(value)));
        Parameters(pairs.collect())
    }

    /// The first value of a name that is not blank.
    pub(crate) fn first(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// All values of a name but blank ones.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let pairs = self.0.iter();
        let values = pairs
            .filter(move |(given, _)| given == name)
            .map(|(_, value)| value.trim());
        values.filter(|value| !value.is_empty())
    }

    /// Whether a name has that value.
    pub(crate) fn has(&self, name: &str, value: &str) -> bool {
        self.all(name).any(|given| given == value)
    }

    /// The same without a name.
    #[must_use]
    pub(crate) fn without(mut self, name: &str) -> Parameters {
        self.0.retain(|(given, _)| given != name);
        self
    }

    /// The same without one value of a name.
    #[must_use]
    pub(crate) fn without_pair(mut self, name: &str, value: &str) -> Parameters {
        self.0
            .retain(|(given, text)| given != name || text.trim() != value);
        self
    }

    /// The same with one value of a name, in place of all others.
    #[must_use]
    pub(crate) fn with(self, name: &str, value: &str) -> Parameters {
        let mut parameters = self.without(name);
        parameters.0.push((name.to_owned(), value.to_owned()));
        parameters
    }

    /// The same with one more value of a name.
    #[must_use]
    pub(crate) fn and(mut self, name: &str, value: &str) -> Parameters {
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Names and values that an address keeps: those that are not blank.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self
            .0
            .iter()
            .map(|(name, value)| (name.as_str(), value.trim()));
        pairs.filter(|(_, value)| !value.is_empty())
    }

    /// As they stand behind `?`.
    pub(crate) fn encoded(&self) -> String {
        let mut encoder = form_urlencoded::Serializer::new(String::new());
        encoder.extend_pairs(self.pairs());
        encoder.finish()
    }
}

fn own(text: Cow<'_, str>) -> String {
    text.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_address_says_is_kept_but_for_what_is_blank() {
        let read = Parameters::parse(b"q=a+b%26c&type=rust&type=go&mode=&x=%FF");
        assert_eq!(read.first("q"), Some("a b&c"));
        assert_eq!(read.all("type").collect::<Vec<_>>(), ["rust", "go"]);
        assert_eq!(read.first("mode"), None);
        assert!(read.has("type", "go") && !read.has("type", "c"));
        assert_eq!(
            read.clone().without_pair("type", "go").all("type").count(),
            1
        );
        let written = read.with("q", "z").without("x").encoded();
        assert_eq!(written, "type=rust&type=go&q=z");
        assert_eq!(Parameters::parse(written.as_bytes()).encoded(), written);
    }
}
