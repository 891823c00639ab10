//! Applies [`Filters`] to one file: the rows that pass, one bitmap a segment.

use kb_types::Class;
use kb_types::error::Result;
use kb_types::file_types;
use roaring::RoaringBitmap;
use rustc_hash::FxHashSet;

use crate::resolve;
use crate::resolve::{Globs, PathFilter, excluding, is_disk_path};
use crate::search::filter::evaluation::keep_where;
use crate::search::filter::facet::{AbsentValues, FacetFilter};
use crate::search::filter::field::keep_fields;
use crate::search::filter::links::keep_linking;
use crate::search::filter::rows::{
    Rows, intersect, live_rows, rows_below, rows_of_documents, rows_of_paths,
};
use crate::search::filter::symbols;
use crate::search::filters::Filters;
use crate::search::sources::Source;
use crate::store::facets::{self, Facet};

/// The rows that pass the filters; `None` when there are no filters. Counts valid values that no document
/// has in `absent`.
///
/// # Errors
/// [`Error::InvalidArgument`] for a glob that is not valid, and for a type, language or tag that is unknown
/// to the file and to this program, a condition on a field that is none or that no document has, an
/// expression that cannot be read or has such a field, and a name of no symbol; [`Error::FolderNotFound`]; [`Error::DocumentNotFound`]; [`Error::Damaged`];
/// [`Error::Cancelled`].
pub(crate) fn apply(
    source: &Source<'_>,
    filters: &Filters,
    absent: &mut AbsentValues,
) -> Result<Rows> {
    // None, not all rows: an index without a filter skips the test of each row.
    if filters.is_empty() {
        return Ok(None);
    }
    let mut rows = live_rows(source.catalog);
    let types = FacetFilter {
        argument: "type",
        facet: Facet::Type,
        values: &filters.types,
        canonical: file_types::canonical_type,
    };
    let languages = FacetFilter {
        argument: "language",
        facet: Facet::Language,
        values: &filters.languages,
        canonical: file_types::canonical_language,
    };
    // Facets first: a bitmap for each value and segment. Globs and times, which look at every
    // document, come last.
    types.apply(source, &mut rows, absent)?;
    languages.apply(source, &mut rows, absent)?;
    let tags = FacetFilter {
        argument: "tag",
        facet: Facet::Tag,
        values: &filters.tags,
        canonical: |_| None,
    };
    tags.apply(source, &mut rows, absent)?;
    keep_classes(source, &filters.classes, &mut rows)?;
    keep_fields(source, &filters.fields, &mut rows)?;
    keep_linking(source, &filters.links_to, &mut rows)?;
    keep_where(source, filters.where_.as_deref(), &mut rows)?;
    keep_folders(source, &filters.folders, &mut rows)?;
    keep_paths(source, &filters.paths, &mut rows)?;
    keep_modified(source, filters.modified_since_ms, &mut rows)?;
    symbols::keep_symbols(source, filters, &mut rows)?;
    Ok(Some(rows))
}

/// Most folders that are found by binary search over the rows of each segment. For more, all documents are listed.
// A search reads some tens of records: 30 us for a folder among 86,000 documents.
const MAX_BINARY_SEARCHES: usize = 16;

fn keep_classes(source: &Source<'_>, classes: &[Class], rows: &mut [RoaringBitmap]) -> Result<()> {
    if classes.is_empty() {
        return Ok(());
    }
    for (segment, rows) in source.catalog.segments.iter().zip(rows) {
        let mut passing = RoaringBitmap::new();
        for class in classes {
            if let Some(with) = facets::rows_with(
                source.snapshot,
                segment.id,
                segment.rows(),
                Facet::Class,
                class.name(),
            )? {
                passing |= with;
            }
        }
        *rows &= passing;
    }
    Ok(())
}

/// Keeps the rows of documents that any of the globs matches, and none of those that exclude.
fn keep_paths(source: &Source<'_>, globs: &[String], rows: &mut [RoaringBitmap]) -> Result<()> {
    if globs.is_empty() {
        return Ok(());
    }
    let find = || rows_passing(source, globs);
    // Paths of the disk are looked up there, and it may change while the file is open.
    let is_of_disk = |glob: &String| is_disk_path(excluding(glob).unwrap_or(glob));
    if globs.iter().any(is_of_disk) {
        intersect(rows, &find()?);
    } else {
        intersect(rows, &source.catalog.path_rows.get_or_find(globs, find)?);
    }
    Ok(())
}

/// The rows of documents that any of the globs matches, and none of those that exclude.
fn rows_passing(source: &Source<'_>, globs: &[String]) -> Result<Vec<RoaringBitmap>> {
    let filter = PathFilter::new(source.snapshot, source.catalog, globs)?;
    let mut passing = match &filter.kept {
        Some(kept) => rows_matching(source, kept)?,
        None => live_rows(source.catalog),
    };
    if let Some(excluded) = &filter.excluded {
        let excluded = rows_matching(source, excluded)?;
        for (passing, excluded) in passing.iter_mut().zip(&excluded) {
            *passing -= excluded;
        }
    }
    Ok(passing)
}

/// The rows of documents that any of the globs matches.
fn rows_matching(source: &Source<'_>, globs: &Globs) -> Result<Vec<RoaringBitmap>> {
    match globs.whole_folders() {
        Some(folders) if folders.len() <= MAX_BINARY_SEARCHES => rows_below(source, &folders),
        _ => rows_of_paths(source, &mut globs.matcher()),
    }
}

fn keep_modified(
    source: &Source<'_>,
    since_ms: Option<i64>,
    rows: &mut [RoaringBitmap],
) -> Result<()> {
    let Some(since_ms) = since_ms else {
        return Ok(());
    };
    let passing = rows_of_documents(source, |document| {
        let modified = document.modified_ms();
        // A time of 0 is unknown. Whoever asks for new documents does not want those.
        modified != 0 && modified >= since_ms
    })?;
    intersect(rows, &passing);
    Ok(())
}

/// Keeps the rows of documents below any of the folders.
fn keep_folders(source: &Source<'_>, folders: &[String], rows: &mut [RoaringBitmap]) -> Result<()> {
    if folders.is_empty() {
        return Ok(());
    }
    let mut wanted: FxHashSet<String> = FxHashSet::default();
    for folder in folders {
        let name = resolve::folder(source.snapshot, source.catalog, folder)?;
        // The top: every document is below it.
        if name.is_empty() {
            return Ok(());
        }
        wanted.insert(name);
    }
    let passing = if wanted.len() <= MAX_BINARY_SEARCHES {
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        rows_below(source, &wanted)?
    } else {
        rows_of_paths(source, &mut Globs::below(wanted).matcher())?
    };
    intersect(rows, &passing);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kb::KbWriter;
    use crate::search::sources::with_sources;
    use kb_types::error::Error;

    /// Paths of the documents that pass, in two segments with a deleted document.
    fn passing(filters: &Filters) -> Result<(Vec<String>, Vec<String>)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("filter.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap().without_merges();
        let commits: [&[&str]; 2] = [
            &[
                "a/b/one.md",
                "a-b/two.md",
                "a/three.md",
                "gone/x.md",
                "a0/four.md",
            ],
            &["a/b/c/five.md", "z.md", "b/six.md"],
        ];
        for documents in commits {
            for document in documents {
                writer.add_bytes(document, b"some walrus text").unwrap();
            }
            writer.commit().unwrap();
        }
        writer.remove("gone/x.md").unwrap();
        writer.tag("z.md", &["last"], &[]).unwrap();
        writer.commit().unwrap();
        with_sources(&path, |sources| {
            let source = sources.source(0)?;
            let (snapshot, catalog) = (source.snapshot, source.catalog);
            let mut absent = AbsentValues::default();
            let rows = apply(source, filters, &mut absent)?;
            let rows = rows.unwrap_or_else(|| live_rows(catalog));
            let mut paths = Vec::new();
            for (segment, rows) in catalog.segments.iter().zip(&rows) {
                let bound = segment.bind(snapshot)?;
                for row in rows {
                    let document = bound.chunks().document(row)?;
                    paths.push(catalog.documents.get(snapshot, document)?.path);
                }
            }
            paths.sort();
            Ok((paths, absent.warnings(1)))
        })
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_folder_keeps_all_below_it_however_it_is_asked_for() {
        // More folders than are found by binary search.
        let many = |folder: &str| {
            let mut globs: Vec<String> = (0..50).map(|n| format!("none{n}/**")).collect();
            globs.push(format!("{folder}/**"));
            globs
        };
        for (folder, expected) in [
            ("a", &["a/b/c/five.md", "a/b/one.md", "a/three.md"][..]),
            ("./a/b/", &["a/b/c/five.md", "a/b/one.md"]),
            ("a/b/c", &["a/b/c/five.md"]),
        ] {
            let found = |filters: Filters| passing(&filters).unwrap().0;
            assert_eq!(found(Filters::new().folders([folder])), expected);
            let below = folder.trim_end_matches('/');
            assert_eq!(found(Filters::new().paths([folder])), expected);
            assert_eq!(
                found(Filters::new().paths([format!("{below}/**")])),
                expected
            );
            assert_eq!(found(Filters::new().paths(many(below))), expected);
        }
        let two = Filters::new().folders(words(&["a/b/c", "a-b"]));
        let expected = ["a-b/two.md", "a/b/c/five.md"];
        assert_eq!(passing(&two).unwrap().0, expected);
        let two = Filters::new().paths(words(&["a/b/c/**", "a-b/**"]));
        assert_eq!(passing(&two).unwrap().0, expected);
        for all in ["", ".", "/"] {
            let filters = Filters::new().folders(words(&["a", all]));
            assert_eq!(passing(&filters).unwrap().0.len(), 7);
        }
    }

    #[test]
    fn more_folders_than_are_searched_for_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("folders.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        for n in 0..40 {
            let document = format!("d{n:02}/x/y.md");
            writer.add_bytes(&document, b"some walrus text").unwrap();
        }
        writer.commit().unwrap();
        with_sources(&path, |sources| {
            for count in [1, MAX_BINARY_SEARCHES, MAX_BINARY_SEARCHES + 1, 39] {
                let wanted = (0..count).map(|n| format!("d{n:02}"));
                let filters = Filters::new().folders(wanted);
                let rows = apply(sources.source(0)?, &filters, &mut AbsentValues::default())?;
                let kept = rows.map_or(0, |rows| rows.iter().map(RoaringBitmap::len).sum());
                assert_eq!(kept, count as u64);
            }
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn rows_of_globs_are_those_of_the_commit_at_hand() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("globs.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let mut commit = |documents: &[&str]| {
            for document in documents {
                writer.add_bytes(document, b"some walrus text").unwrap();
            }
            writer.commit().unwrap();
        };
        commit(&["a/one.md", "a/x.md", "b/one.md"]);
        let kb = crate::kb::Kb::open(&path).unwrap();
        let found = |globs: &[&str]| {
            let filters = Filters::new().paths(words(globs));
            let request = crate::search::request::Request::new("walrus").filters(filters);
            kb.search(&request).unwrap().searched_chunks
        };
        for (expected, next) in [
            ([1, 2, 3, 1], &["a/two.md", "b/x.md", "c.md"][..]),
            ([2, 3, 6, 3], &[]),
        ] {
            for _ in 0..2 {
                let kept = [
                    found(&["a/*.md", "!**/x*"]),
                    found(&["a/*.md"]),
                    found(&["**/*.md"]),
                    found(&["!a/*.md"]),
                ];
                assert_eq!(kept, expected);
            }
            commit(next);
        }
    }

    #[test]
    fn neighbours_in_one_folder_are_known_as_such() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("neighbours.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        for document in [
            "top.md", "a/b/x.md", "a/b/y.md", "a/bc.md", "a/z.md", "a.md",
        ] {
            writer.add_bytes(document, b"some walrus text").unwrap();
        }
        writer.commit().unwrap();
        with_sources(&path, |sources| {
            let source = sources.source(0)?;
            let directory = source.catalog.directory(source.snapshot)?;
            for (one, other) in directory.iter().zip(directory.iter().skip(1)) {
                let is_same = one.folder_number() == other.folder_number();
                assert_eq!(is_same, one.folder() == other.folder(), "{}", other.path());
            }
            let parts = directory.iter().map(|it| (it.folder(), it.name()));
            let mut parts: Vec<_> = parts.collect();
            parts.sort_unstable();
            let expected = [
                ("", "a.md"),
                ("", "top.md"),
                ("a", "bc.md"),
                ("a", "z.md"),
                ("a/b", "x.md"),
                ("a/b", "y.md"),
            ];
            assert_eq!(parts, expected);
            Ok(())
        })
        .unwrap();
    }

    /// More than are looked up one by one.
    const MAX_TAGS_LOOKED_UP: usize = 20;

    #[test]
    fn a_tag_has_the_tags_inside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tags.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        for (name, text) in [
            ("a.md", "A #project here."),
            ("b.md", "A #Project/Alpha here."),
            ("c.md", "---\ntags: project/alpha/x, other\n---\nWords."),
            ("d.md", "A #projects here."),
        ] {
            writer.add_bytes(name, text.as_bytes()).unwrap();
        }
        let many: Vec<String> = (0..MAX_TAGS_LOOKED_UP).map(|n| format!("tag{n}")).collect();
        let text = format!("---\ntags: [{}]\n---\nWords.\n", many.join(", "));
        writer.add_bytes("e.md", text.as_bytes()).unwrap();
        writer.commit().unwrap();
        let count = |tags: Vec<String>| {
            with_sources(&path, |sources| {
                let filters = Filters::new().tags(tags.clone());
                let rows = apply(sources.source(0)?, &filters, &mut AbsentValues::default())?;
                Ok(rows.map_or(0, |rows| rows.iter().map(RoaringBitmap::len).sum::<u64>()))
            })
        };
        for (tag, expected) in [
            ("project", 3),
            ("project/alpha", 2),
            ("PROJECTS", 1),
            ("other", 1),
        ] {
            assert_eq!(count(words(&[tag])).unwrap(), expected, "{tag}");
        }
        assert_eq!(count(words(&["project", "project/alpha"])).unwrap(), 3);
        let more = [many, words(&["project", "projects"])].concat();
        assert_eq!(count(more).unwrap(), 5);
        for unknown in ["alpha", "proj", "project/a"] {
            assert!(count(words(&[unknown])).is_err(), "{unknown}");
        }
        let list = |query: &str| {
            let kb = crate::kb::Kb::open(&path).unwrap();
            kb.search(&crate::search::request::Request::new(query))
                .unwrap()
                .hits
                .len()
        };
        assert_eq!((list("tag:project"), list("tag:project/alpha")), (3, 2));
    }

    #[test]
    fn globs_with_an_exclamation_mark_exclude() {
        let found = |globs: &[&str]| passing(&Filters::new().paths(words(globs))).unwrap().0;
        let all = found(&["**"]);
        assert_eq!(found(&["!gone/**"]), all);
        let rest = ["a-b/two.md", "a0/four.md", "b/six.md", "z.md"];
        for below_a in ["!a", "!a/", "!a/**", "!./a/**", "!/a"] {
            assert_eq!(found(&[below_a]), rest, "{below_a}");
        }
        assert_eq!(found(&["!a/**", "!z.md", "!*/s?x.md"]), rest[..2]);
        assert_eq!(found(&["a/**", "!a/b/**"]), ["a/three.md"]);
        assert_eq!(found(&["!a/b/**", "a/**", "b"]), ["a/three.md", "b/six.md"]);
        assert!(found(&["a/**", "!**"]).is_empty());
        for alone in ["!", "! "] {
            let filters = Filters::new().paths(words(&["a/**", alone]));
            let error = passing(&filters).unwrap_err().to_string();
            assert!(error.contains("excludes nothing"), "{error}");
        }
        let error = passing(&Filters::new().paths(words(&["!a/["]))).unwrap_err();
        assert!(error.to_string().contains("glob"), "{error}");
    }

    #[test]
    fn a_backslash_begins_names_with_an_exclamation_mark() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("marks.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        for document in ["!read.md", "read.md", "!d/a.md", "d/a.md"] {
            writer.add_bytes(document, b"some walrus text").unwrap();
        }
        writer.commit().unwrap();
        let count = |globs: &[&str]| {
            with_sources(&path, |sources| {
                let filters = Filters::new().paths(words(globs));
                let rows = apply(sources.source(0)?, &filters, &mut AbsentValues::default())?;
                Ok(rows.map_or(0, |rows| rows.iter().map(RoaringBitmap::len).sum::<u64>()))
            })
            .unwrap()
        };
        assert_eq!(count(&["\\!read.md"]), 1);
        assert_eq!(count(&["\\!d"]), 1);
        assert_eq!(count(&["\\!*"]), 1);
        assert_eq!(count(&["!\\!read.md"]), 3);
        assert_eq!(count(&["!read.md"]), 3);
        assert_eq!(count(&["!!d/**"]), 3);
    }

    #[test]
    fn a_folder_that_is_not_there_is_refused_with_the_nearest() {
        for folder in ["a/d", "gone", "z.md"] {
            let filters = Filters::new().folders(words(&["a", folder]));
            let error = passing(&filters).unwrap_err();
            assert_eq!(error.code(), "FOLDER_NOT_FOUND", "{folder}");
        }
        let filters = Filters::new().folders(words(&["x/b"]));
        let error = passing(&filters).unwrap_err();
        let Error::FolderNotFound { nearest, .. } = error else {
            panic!("{error:?}");
        };
        assert!(nearest.iter().any(|name| name == "a/b"), "{nearest:?}");
    }

    #[test]
    fn thousands_of_values_keep_what_one_by_one_would() {
        let many = |more: &str| {
            let mut values: Vec<String> = (0..10_000).map(|n| format!("none{n}")).collect();
            values.push(more.to_owned());
            values
        };
        let filters = Filters::new()
            .paths(many("a/*/*.md"))
            .types(words(&["md"; 10_000]));
        assert_eq!(passing(&filters).unwrap().0, ["a/b/one.md"]);
        let filters = Filters::new().tags(many("last"));
        let error = passing(&filters).unwrap_err().to_string();
        assert!(
            error.contains("\"none0\"") && error.contains("last"),
            "{error}"
        );
    }

    #[test]
    fn modification_time_and_symbols_filter() {
        let since = |modified_since_ms| Filters::new().modified_since_ms(modified_since_ms);
        assert_eq!(passing(&since(0)).unwrap().0.len(), 7);
        assert_eq!(passing(&since(i64::MAX)).unwrap().0.len(), 0);
        let symbols = Filters::new().symbol_names(words(&["main"]));
        assert!(passing(&symbols).unwrap().0.is_empty());
        let blank = Filters::new().symbol_names(words(&[" "]));
        let error = passing(&blank).unwrap_err().to_string();
        assert!(error.contains("symbol_name"), "{error}");
    }
}
