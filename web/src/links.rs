//! The form of every address of the site. Addresses are promises: people keep and share them.

use kb_engine::percent::encode;
use kb_engine::{Hit, Lines, PartAddress};

use crate::parameters::Parameters;

/// Makes addresses. `base` comes before each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Links {
    base: String,
    home: String,
}

impl Links {
    /// `base_path` with or without slashes at its ends.
    pub(crate) fn new(base_path: &str) -> Links {
        let inner = base_path.trim_matches('/');
        let base = if inner.is_empty() {
            String::new()
        } else {
            format!("/{inner}")
        };
        Links {
            home: format!("{base}/"),
            base,
        }
    }

    /// The first page.
    pub(crate) fn home(&self) -> &str {
        &self.home
    }

    /// The path of cookies: no request of this site is outside of it, also none without the last `/`.
    pub(crate) fn cookie_path(&self) -> &str {
        if self.base.is_empty() {
            "/"
        } else {
            &self.base
        }
    }

    /// The path of a request without the base; `None` if it is not below it.
    pub(crate) fn inner<'p>(&self, path: &'p str) -> Option<&'p str> {
        let inner = path.strip_prefix(self.base.as_str())?;
        match inner {
            "" => Some("/"),
            _ => inner.starts_with('/').then_some(inner),
        }
    }

    /// Searching, with what `parameters` ask for.
    pub(crate) fn search(&self, parameters: &Parameters) -> String {
        let query = parameters.encoded();
        if query.is_empty() {
            format!("{}/", self.base)
        } else {
            format!("{}/?{query}", self.base)
        }
    }

    /// A document.
    pub(crate) fn document(&self, file: &str, document: &str) -> String {
        format!(
            "{}/d/{}/{}",
            self.base,
            encode(file, false),
            encode(document, true)
        )
    }

    /// Lines of a document, which are marked there.
    pub(crate) fn lines(&self, file: &str, document: &str, lines: Lines) -> String {
        let address = self.document(file, document);
        if lines.first == 0 {
            return address;
        }
        format!(
            "{address}?lines={}-{}#L{}",
            lines.first, lines.last, lines.first
        )
    }

    /// Where a hit is: lines, or in a workbook its rows, in a presentation its slide. Lines of a text that are not
    /// those of the original are found by bytes.
    pub(crate) fn hit(&self, file: &str, hit: &Hit) -> String {
        let address = self.document(file, &hit.document);
        match &hit.part {
            Some(PartAddress::Sheet {
                name, first_row, ..
            }) => {
                let sheet = encode(name, false);
                format!("{address}?sheet={sheet}&row={first_row}#R{first_row}")
            }
            Some(PartAddress::Slide { number, .. }) => format!("{address}#slide-{number}"),
            _ if hit.lines.first == 0 => address,
            _ if hit.snippet_first_line.is_none() => {
                format!("{address}?bytes={}-{}#marked", hit.span.start, hit.span.end)
            }
            _ => self.lines(file, &hit.document, hit.lines),
        }
    }

    /// The text of a document as it is stored.
    pub(crate) fn raw(&self, file: &str, document: &str) -> String {
        format!(
            "{}/raw/{}/{}",
            self.base,
            encode(file, false),
            encode(document, true)
        )
    }

    /// A folder; the empty name is the top.
    pub(crate) fn folder(&self, file: &str, folder: &str) -> String {
        format!(
            "{}/b/{}/{}",
            self.base,
            encode(file, false),
            encode(folder, true)
        )
    }

    /// What a file holds.
    pub(crate) fn about(&self, file: &str) -> String {
        format!("{}/about/{}", self.base, encode(file, false))
    }

    /// Uploading to a folder; the empty name is the top.
    pub(crate) fn upload(&self, file: &str, folder: &str) -> String {
        let address = format!("{}/upload/{}", self.base, encode(file, false));
        if folder.is_empty() {
            return address;
        }
        let query = Parameters::default().with("folder", folder).encoded();
        format!("{address}?{query}")
    }

    /// Removing a document.
    pub(crate) fn remove(&self, file: &str, document: &str) -> String {
        self.of_document("remove", file, document)
    }

    /// The tags of a document.
    pub(crate) fn tags(&self, file: &str, document: &str) -> String {
        self.of_document("tags", file, document)
    }

    fn of_document(&self, page: &str, file: &str, document: &str) -> String {
        format!(
            "{}/{page}/{}/{}",
            self.base,
            encode(file, false),
            encode(document, true)
        )
    }

    /// A page of a fixed name: `sign-in`.
    pub(crate) fn page(&self, name: &str) -> String {
        format!("{}/{name}", self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_documents_cannot_leave_their_place_in_an_address() {
        let links = Links::new("");
        let address = links.document("a b", "x/../<y>?q#\u{e9}\"");
        assert_eq!(address, "/d/a%20b/x/../%3Cy%3E%3Fq%23%C3%A9%22");
    }

    #[test]
    fn the_base_is_before_each_address_and_taken_off_each_request() {
        for base in ["kb", "/kb", "/kb/"] {
            let links = Links::new(base);
            assert_eq!(links.page("sign-in"), "/kb/sign-in");
            assert_eq!(links.inner("/kb/d/a"), Some("/d/a"));
            assert_eq!(links.inner("/kb"), Some("/"));
            assert_eq!(links.inner("/kbx"), None);
            assert_eq!(links.inner("/"), None);
        }
        assert_eq!(Links::new("").inner("/d"), Some("/d"));
    }
}
