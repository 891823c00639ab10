//! Filters -> the rows that may answer, one bitmap a segment, before any ranking.

use std::ops::ControlFlow;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use roaring::RoaringBitmap;
use unicode_normalization::UnicodeNormalization;

use crate::catalog::Catalog;
use crate::container::Snapshot;
use crate::error::{Error, Result};
use crate::file_types;
use crate::search::request::Filters;
use crate::store::facets::{self, Facet};
use crate::types::Class;

/// The rows of each segment that pass, in the order of the catalog; `None`: no filter was given.
pub type Rows = Option<Vec<RoaringBitmap>>;

/// Applies the filters of a request; pushes a sentence to `warnings` for a value that is fine but
/// that no document of the file has.
///
/// # Errors
/// [`Error::InvalidArgument`] for a glob that does not parse, or a type or language that neither
/// the file nor the program knows.
pub fn apply(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    filters: &Filters,
    warnings: &mut Vec<String>,
) -> Result<Rows> {
    if filters.is_empty() {
        return Ok(None);
    }
    let mut rows: Vec<RoaringBitmap> = catalog
        .segments
        .iter()
        .map(|segment| {
            let mut all = RoaringBitmap::new();
            all.insert_range(0..segment.rows());
            if let Some(deleted) = segment.deleted_rows() {
                all -= deleted;
            }
            all
        })
        .collect();
    let types = Values {
        argument: "type",
        facet: Facet::Type,
        given: &filters.types,
        canonical: file_types::canonical_type,
    };
    let languages = Values {
        argument: "language",
        facet: Facet::Language,
        given: &filters.languages,
        canonical: file_types::canonical_language,
    };
    types.keep(snapshot, catalog, &mut rows, warnings)?;
    languages.keep(snapshot, catalog, &mut rows, warnings)?;
    let tags = Values {
        argument: "tag",
        facet: Facet::Tag,
        given: &filters.tags,
        canonical: |_| None,
    };
    tags.keep(snapshot, catalog, &mut rows, warnings)?;
    keep_classes(snapshot, catalog, &filters.classes, &mut rows)?;
    keep_paths(snapshot, catalog, &filters.paths, &mut rows)?;
    Ok(Some(rows))
}

/// The values asked for of one facet whose values have aliases.
struct Values<'f> {
    /// Name of the argument, for messages.
    argument: &'static str,
    /// The facet.
    facet: Facet,
    /// As given.
    given: &'f [String],
    /// Alias -> the stored word, if this program knows it.
    canonical: fn(&str) -> Option<&'static str>,
}

impl Values<'_> {
    fn keep(
        &self,
        snapshot: &Snapshot<'_>,
        catalog: &Catalog,
        rows: &mut [RoaringBitmap],
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        if self.given.is_empty() {
            return Ok(());
        }
        let mut passing = vec![RoaringBitmap::new(); rows.len()];
        for given in self.given {
            let known = (self.canonical)(given);
            let value = known.map_or_else(
                || given.trim().to_lowercase().nfc().collect(),
                str::to_owned,
            );
            let mut found = false;
            for (segment, passing) in catalog.segments.iter().zip(&mut passing) {
                if let Some(mut with) = facets::rows_with(snapshot, segment.id, self.facet, &value)?
                {
                    if let Some(deleted) = segment.deleted_rows() {
                        with -= deleted;
                    }
                    found |= !with.is_empty();
                    *passing |= with;
                }
            }
            if !found {
                self.missing(snapshot, catalog, given, known, warnings)?;
            }
        }
        for (rows, passing) in rows.iter_mut().zip(&passing) {
            *rows &= passing;
        }
        Ok(())
    }

    fn missing(
        &self,
        snapshot: &Snapshot<'_>,
        catalog: &Catalog,
        given: &str,
        known: Option<&str>,
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        let mut present = Vec::new();
        for segment in &catalog.segments {
            for value in facets::values(snapshot, segment.id, self.facet)? {
                let rows = facets::rows_with(snapshot, segment.id, self.facet, &value)?;
                let deleted = segment.deleted_rows();
                if rows.is_some_and(|rows| deleted.is_none_or(|deleted| !rows.is_subset(deleted))) {
                    present.push(value);
                }
            }
        }
        present.sort();
        present.dedup();
        let list = if present.is_empty() {
            "none".to_owned()
        } else {
            present.join(", ")
        };
        if let Some(value) = known {
            let argument = self.argument;
            warnings.push(format!(
                "no document has {argument} {value:?}; this file has: {list}"
            ));
            return Ok(());
        }
        Err(Error::InvalidArgument {
            argument: self.argument,
            reason: format!(
                "{given:?} is no known {}; this file has: {list}",
                self.argument
            ),
        })
    }
}

fn keep_classes(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    classes: &[Class],
    rows: &mut [RoaringBitmap],
) -> Result<()> {
    if classes.is_empty() {
        return Ok(());
    }
    for (segment, rows) in catalog.segments.iter().zip(rows) {
        let mut passing = RoaringBitmap::new();
        for class in classes {
            if let Some(with) = facets::rows_with(snapshot, segment.id, Facet::Class, class.name())?
            {
                passing |= with;
            }
        }
        *rows &= passing;
    }
    Ok(())
}

fn keep_paths(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    globs: &[String],
    rows: &mut [RoaringBitmap],
) -> Result<()> {
    if globs.is_empty() {
        return Ok(());
    }
    let matcher = compile(globs)?;
    let mut passing = vec![RoaringBitmap::new(); rows.len()];
    catalog
        .documents
        .each_path(snapshot, &common_start(globs), |path, id| {
            if matcher.is_match(path) {
                let record = catalog.documents.get(snapshot, id)?;
                let position = catalog
                    .segments
                    .iter()
                    .position(|segment| segment.id == record.segment());
                if let Some(passing) = position.and_then(|position| passing.get_mut(position)) {
                    let end = record.first_row.saturating_add(record.rows);
                    passing.insert_range(record.first_row..end);
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
    for (rows, passing) in rows.iter_mut().zip(&passing) {
        *rows &= passing;
    }
    Ok(())
}

fn compile(globs: &[String]) -> Result<GlobSet> {
    let invalid = |glob: &str, error: globset::Error| Error::InvalidArgument {
        argument: "path",
        reason: format!("{glob:?} is no glob: {}", error.kind()),
    };
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        for pattern in patterns(glob) {
            let built = GlobBuilder::new(&pattern).literal_separator(true).build();
            set.add(built.map_err(|error| invalid(glob, error))?);
        }
    }
    set.build()
        .map_err(|error| invalid(&globs.join(" "), error))
}

/// What a glob of a request stands for: a name without `/` matches at any depth, and a plain folder
/// stands for all below it.
fn patterns(glob: &str) -> Vec<String> {
    let glob = glob.trim_start_matches("./");
    let folder = glob.trim_end_matches('/');
    if folder.contains(META) {
        let anchored = folder.contains('/');
        let pattern = if anchored {
            folder.to_owned()
        } else {
            format!("**/{folder}")
        };
        return if glob.ends_with('/') {
            vec![format!("{pattern}/**")]
        } else {
            vec![pattern]
        };
    }
    let mut patterns = vec![folder.to_owned(), format!("{folder}/**")];
    if !folder.contains('/') {
        patterns.push(format!("**/{folder}"));
    }
    patterns
}

/// Characters that make a pattern of a path.
const META: [char; 5] = ['*', '?', '[', '{', '\\'];

/// The longest text with which every path that can match begins: a scan starts there.
fn common_start(globs: &[String]) -> String {
    match globs {
        [glob] if glob.contains('/') && glob.contains(META) => {
            let glob = glob.trim_start_matches("./");
            let end = glob.find(META).unwrap_or(glob.len());
            glob.get(..end).unwrap_or_default().to_owned()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(glob: &str, path: &str) -> bool {
        compile(&[glob.to_owned()]).unwrap().is_match(path)
    }

    #[test]
    fn a_glob_without_a_slash_matches_names_at_any_depth() {
        assert!(matches("*.rs", "a/b/c.rs"));
        assert!(matches("*.rs", "c.rs"));
        assert!(!matches("*.rs", "c.rst"));
        assert!(matches("lib.rs", "engine/src/lib.rs"));
    }

    #[test]
    fn a_star_stays_within_a_folder_and_two_stars_do_not() {
        assert!(matches("src/*.rs", "src/a.rs"));
        assert!(!matches("src/*.rs", "src/b/a.rs"));
        assert!(matches("src/**/*.rs", "src/b/a.rs"));
        assert!(matches("src/**/*.rs", "src/a.rs"));
    }

    #[test]
    fn a_plain_folder_stands_for_all_below_it() {
        for glob in ["docs", "docs/", "./docs"] {
            assert!(matches(glob, "docs/a/b.md"), "{glob}");
            assert!(!matches(glob, "documents/a.md"), "{glob}");
        }
    }

    #[test]
    fn a_scan_starts_at_the_literal_part_of_a_single_glob() {
        assert_eq!(common_start(&["src/x*/y".to_owned()]), "src/x");
        assert_eq!(common_start(&["*.rs".to_owned()]), "");
        assert_eq!(common_start(&["src".to_owned()]), "");
        assert_eq!(common_start(&["a/*".to_owned(), "b/*".to_owned()]), "");
    }

    #[test]
    fn a_glob_that_does_not_parse_is_refused_by_name() {
        let error = compile(&["src/[".to_owned()]).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT");
        assert!(error.to_string().contains("src/["), "{error}");
    }
}
