//! Filter by the documents that a document links to.

use kb_types::error::Result;
use kb_types::link::{Link, without_extension};
use roaring::RoaringBitmap;

use crate::resolve;
use crate::search::filter::rows::{intersect, live};
use crate::search::sources::Source;
use crate::store::facets::{self, Facet};
use crate::store::{fields, links};

/// Key of the metadata in which a document states its other names, with commas between.
const ALIASES: &str = "aliases";

/// What a document is called by those that link to it.
struct Target {
    path: String,
    /// In lower case, without the end of notes.
    note: String,
    /// Other names.
    aliases: Vec<String>,
}

/// Keeps the rows of documents that link to any of some documents.
///
/// # Errors
/// As [`resolve::document`]; [`crate::Error::Damaged`].
pub(crate) fn keep_linking(
    source: &Source<'_>,
    documents: &[String],
    rows: &mut [RoaringBitmap],
) -> Result<()> {
    if documents.is_empty() {
        return Ok(());
    }
    let mut passing = vec![RoaringBitmap::new(); rows.len()];
    for name in documents {
        let (snapshot, catalog) = (source.snapshot, source.catalog);
        let id = resolve::locate(snapshot, catalog, None, name)?.id;
        let record = catalog.documents.get(snapshot, id)?;
        let aliases = record.metadata.iter().filter(|(key, _)| key == ALIASES);
        let aliases = aliases.flat_map(|(_, value)| value.split(", "));
        let target = Target {
            note: without_extension(&record.path.to_lowercase()).to_owned(),
            aliases: aliases.map(fields::normalized).collect(),
            path: record.path,
        };
        add_linking(source, &target, &mut passing)?;
    }
    intersect(rows, &passing);
    Ok(())
}

fn add_linking(source: &Source<'_>, target: &Target, passing: &mut [RoaringBitmap]) -> Result<()> {
    let names = std::iter::once(&target.path).chain(&target.aliases);
    for start in names.map(|name| links::start_of(name)) {
        for (segment, passing) in source.catalog.segments.iter().zip(&mut *passing) {
            source.reporter.tick()?;
            for value in facets::values_from(source.snapshot, segment.id, Facet::Link, &start)? {
                let Some(link) = links::link_of(&value) else {
                    continue;
                };
                let (snapshot, id) = (source.snapshot, segment.id);
                let with = facets::rows_with(snapshot, id, segment.rows(), Facet::Link, &value)?;
                let with = with.unwrap_or_default();
                match &link {
                    Link::Note(name) if is_note(name, target) => *passing |= with,
                    Link::Note(_) => {}
                    Link::Path(path) => {
                        let bound = segment.bind(snapshot)?;
                        let mut last = None;
                        // Deleted documents have no record.
                        for row in with & live(segment) {
                            let document = bound.chunks().document(row)?;
                            let (_, links) = match last {
                                Some((same, links)) if same == document => (same, links),
                                _ => {
                                    let documents = &source.catalog.documents;
                                    let from = documents.get(snapshot, document)?.path;
                                    let links = is_path(path, &from, target);
                                    *last.insert((document, links))
                                }
                            };
                            if links {
                                passing.insert(row);
                            }
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// Whether the name of a note is one of this document: its path, an end of it, or another name that it states.
fn is_note(name: &str, target: &Target) -> bool {
    let name = without_extension(name);
    let before = target.note.strip_suffix(name);
    before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
        || target.aliases.iter().any(|alias| alias == name)
}

/// Whether a path in the document `from` leads to this document.
fn is_path(path: &str, from: &str, target: &Target) -> bool {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let (mut names, path) = match path.strip_prefix('/') {
        Some(path) => (Vec::new(), path),
        None => (
            folder.split('/').filter(|name| !name.is_empty()).collect(),
            path,
        ),
    };
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                // What lies above the top is not known.
                if names.pop().is_none() {
                    return false;
                }
            }
            name => names.push(name),
        }
    }
    let path = names.join("/");
    path == target.path || path == without_extension(&target.path)
}

#[cfg(test)]
mod tests {
    use crate::kb::{Kb, KbWriter};
    use crate::search::filters::Filters;
    use crate::search::request::Request;

    fn linking(documents: &[(&str, &str)], to: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        for (name, text) in documents {
            writer.add_bytes(name, text.as_bytes()).unwrap();
        }
        writer.commit().unwrap();
        let filters = Filters::new().links_to(to.iter().copied());
        let listed = Kb::open(&path)
            .unwrap()
            .search(&Request::new("").filters(filters))
            .unwrap();
        listed.hits.iter().map(|hit| hit.document.clone()).collect()
    }

    const NOTES: [(&str, &str); 9] = [
        (
            "a/map.md",
            "---\naliases: [Atlas, The Chart]\n---\nNo link.",
        ),
        ("a/near.md", "[m](map.md#part)"),
        ("a/b/up.md", "[m](../map.md)"),
        ("b/map.md", "Another. [[a/map|first]]"),
        ("b/near.md", "[m](map.md) of b"),
        ("b/top.md", "[m](/a/map)"),
        ("c/note.md", "![[Map]]"),
        ("c/other.md", "See [[the chart]]."),
        (
            "c/none.md",
            "[[mapping]], [[b/x/map]], [m](../../map.md), `[[map]]`, [m](a/map.md)",
        ),
    ];

    #[test]
    fn links_lead_from_the_folder_of_their_document() {
        let expected = [
            "a/b/up.md",
            "a/near.md",
            "b/map.md",
            "b/top.md",
            "c/note.md",
            "c/other.md",
        ];
        assert_eq!(linking(&NOTES, &["a/map.md"]), expected);
        assert_eq!(linking(&NOTES, &["b/map.md"]), ["b/near.md", "c/note.md"]);
        assert_eq!(
            linking(&NOTES, &["b/map.md", "a/near.md"]),
            ["b/near.md", "c/note.md"]
        );
    }

    #[test]
    fn a_document_that_is_not_there_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        writer.add_bytes("a.md", b"Words.").unwrap();
        writer.commit().unwrap();
        let filters = Filters::new().links_to(["b.md"]);
        let error = Kb::open(&path)
            .unwrap()
            .search(&Request::new("").filters(filters));
        assert_eq!(error.unwrap_err().code(), "DOCUMENT_NOT_FOUND");
    }
}
