//! Links of documents as facets: the name of the document that is linked to, a zero byte, and the link as it is written.
//!
//! A link is not resolved before somebody asks for it: folders are renamed, and documents come and go.

use kb_types::link::{Link, name_of};

/// Stands behind the name.
// No path has a zero byte: with it the links to `a` do not begin as those to `ab` do.
const BEHIND_NAME: char = '\0';

/// Begins a link to a note; no path begins so.
const NOTE: char = '\0';

/// The facet of a link.
#[cfg(feature = "ingest")]
pub(crate) fn facet_of(link: &Link) -> String {
    match link {
        Link::Path(path) => format!("{}{path}", start_of(path)),
        Link::Note(name) => format!("{}{NOTE}{name}", start_of(name)),
    }
}

/// What the facets of all links to documents of the name of this path begin with.
pub(crate) fn start_of(path: &str) -> String {
    format!("{}{BEHIND_NAME}", name_of(path))
}

/// The link of a facet.
pub(crate) fn link_of(facet: &str) -> Option<Link> {
    let (_, link) = facet.split_once(BEHIND_NAME)?;
    Some(match link.strip_prefix(NOTE) {
        Some(name) => Link::Note(name.to_owned()),
        None => Link::Path(link.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_one_document_begin_alike_and_are_read_again() {
        for link in [
            Link::Path("../docs/Guide.md".to_owned()),
            Link::Path("/docs/guide".to_owned()),
            Link::Note("docs/guide".to_owned()),
            Link::Note("guide".to_owned()),
        ] {
            let facet = facet_of(&link);
            assert!(facet.starts_with(&start_of("x/GUIDE.md")), "{facet:?}");
            assert_eq!(link_of(&facet), Some(link));
        }
        assert_eq!(link_of("none"), None);
    }
}
