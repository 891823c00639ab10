//! Which documents of a file a run looks at.

use std::path::PathBuf;

use kb_types::error::{Error, Result};
use rustc_hash::FxHashMap;

use crate::ingest::root::{Root, Scope};

/// The parts of all roots that are looked at, by document path.
///
/// Every question costs the logarithm of the number of parts for each folder of a path.
#[derive(Debug)]
pub(crate) struct Coverage {
    roots: FxHashMap<u32, RootParts>,
    parts: Vec<Part>,
}

#[derive(Debug)]
struct RootParts {
    prefix: String,
    /// When it was looked at last.
    indexed_ms: i64,
    /// Its document paths with positions in `parts`, ascending; a root that is looked at whole has
    /// none.
    paths: Vec<(String, usize)>,
    /// Position in `parts` of a root that is looked at whole.
    whole: Option<usize>,
    /// Whether its folder belongs to another root now.
    is_superseded: bool,
}

/// A part of a root, and what was seen of it.
#[derive(Debug)]
struct Part {
    /// Where it is on disk.
    place: PathBuf,
    /// Documents that the file has of it.
    documents: u64,
    /// Whether a file is there, or something that could not be read.
    is_there: bool,
}

impl RootParts {
    /// Positions of the parts that a path lies in.
    fn parts_of<'p>(&'p self, path: &'p str) -> impl Iterator<Item = usize> + 'p {
        let above = ancestors(path).filter(|_| !self.paths.is_empty());
        let parts = above.flat_map(|above| self.parts_at(above));
        self.whole.into_iter().chain(parts)
    }

    /// Positions of the parts of exactly that path: several where names differ only in normalisation.
    fn parts_at<'p>(&'p self, path: &'p str) -> impl Iterator<Item = usize> + 'p {
        let first = self.paths.partition_point(|(part, _)| part.as_str() < path);
        let from = self.paths.get(first..).unwrap_or_default();
        let same = from.iter().take_while(move |(part, _)| part == path);
        same.map(|(_, part)| *part)
    }

    /// Positions of the parts that lie in a folder; in an empty path all do.
    fn parts_in<'p>(&'p self, folder: &'p str) -> impl Iterator<Item = usize> + 'p {
        let range = match folder {
            "" => PathRange::all(),
            folder => PathRange::below(folder),
        };
        let first = self.paths.partition_point(|(part, _)| *part < range.from);
        let from = self.paths.get(first..).unwrap_or_default();
        let inside = from.iter().take_while(move |(part, _)| range.reaches(part));
        let whole = self.whole.filter(|_| folder.is_empty());
        inside.map(|(_, part)| *part).chain(whole)
    }
}

/// Document paths from one on, up to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathRange {
    /// First path, inclusive.
    pub from: String,
    /// The first path behind it; `None`: there is none.
    pub until: Option<String>,
}

impl PathRange {
    /// All paths.
    pub(crate) fn all() -> PathRange {
        PathRange {
            from: String::new(),
            until: None,
        }
    }

    /// One path.
    fn only(path: &str) -> PathRange {
        PathRange {
            from: path.to_owned(),
            // The least string behind a path; no path has a zero byte.
            until: Some([path, "\0"].concat()),
        }
    }

    /// What lies below a folder. `0` follows `/`.
    fn below(folder: &str) -> PathRange {
        PathRange {
            from: [folder, "/"].concat(),
            until: Some([folder, "0"].concat()),
        }
    }

    /// Whether a path that is not before the range lies in it.
    pub(crate) fn reaches(&self, path: &str) -> bool {
        self.until.as_deref().is_none_or(|until| path < until)
    }
}

impl Coverage {
    /// What a run over `roots` looks at.
    pub(crate) fn new(roots: &[Root]) -> Coverage {
        let mut coverage = Coverage {
            roots: FxHashMap::default(),
            parts: Vec::new(),
        };
        for root in roots {
            let mut paths = Vec::new();
            let mut whole = None;
            match &root.scope {
                Scope::Whole => whole = Some(coverage.add_part(root.folder.clone(), false)),
                // That no file is left of it is what it is.
                Scope::Superseded => whole = Some(coverage.add_part(root.folder.clone(), true)),
                Scope::Parts(parts) | Scope::Files(parts) => {
                    for part in parts {
                        let place = coverage.add_part(root.folder.join(part), false);
                        paths.push((root.document_path(part), place));
                    }
                }
            }
            paths.sort();
            let root_parts = RootParts {
                is_superseded: root.scope == Scope::Superseded,
                prefix: root.prefix.clone(),
                indexed_ms: root.indexed_ms,
                paths,
                whole,
            };
            coverage.roots.insert(root.id, root_parts);
        }
        coverage
    }

    fn add_part(&mut self, place: PathBuf, is_there: bool) -> usize {
        self.parts.push(Part {
            place,
            documents: 0,
            is_there,
        });
        self.parts.len() - 1
    }

    /// When a root was looked at last, milliseconds since 1970; 0: never.
    pub(crate) fn indexed_ms(&self, root: u32) -> i64 {
        self.roots.get(&root).map_or(0, |root| root.indexed_ms)
    }

    /// Whether the folder of a root belongs to another root from this run on, and with it its
    /// documents.
    pub(crate) fn is_superseded(&self, root: Option<u32>) -> bool {
        let root = root.and_then(|root| self.roots.get(&root));
        root.is_some_and(|root| root.is_superseded)
    }

    /// Whether a document of that root and path is looked at.
    pub(crate) fn covers(&self, root: Option<u32>, path: &str) -> bool {
        let root = root.and_then(|root| self.roots.get(&root));
        root.is_some_and(|root| root.parts_of(path).next().is_some())
    }

    /// Notes a document that the file has.
    pub(crate) fn note_document(&mut self, root: Option<u32>, path: &str) {
        let root = root.and_then(|root| self.roots.get(&root));
        for part in root.into_iter().flat_map(|root| root.parts_of(path)) {
            if let Some(part) = self.parts.get_mut(part) {
                part.documents += 1;
            }
        }
    }

    /// Notes a file that is there.
    pub(crate) fn note_file(&mut self, root: u32, path: &str) {
        let root = self.roots.get(&root);
        for part in root.into_iter().flat_map(|root| root.parts_of(path)) {
            if let Some(part) = self.parts.get_mut(part) {
                part.is_there = true;
            }
        }
    }

    /// Notes something that is there and could not be read: parts that it lies in, or that lie in it,
    /// may be there.
    pub(crate) fn note_unread(&mut self, path: &str) {
        for root in self.roots.values() {
            for part in root.parts_of(path).chain(root.parts_in(path)) {
                if let Some(part) = self.parts.get_mut(part) {
                    part.is_there = true;
                }
            }
        }
    }

    /// Refuses to take an empty folder for one whose files were removed: it may be a disk that is not
    /// mounted. Asked once everything is noted.
    ///
    /// # Errors
    /// [`Error::RootVanished`] naming the first part that has documents and no file.
    pub(crate) fn refuse_vanished(&self) -> Result<()> {
        let mut parts = self.parts.iter();
        match parts.find(|part| part.documents > 0 && !part.is_there) {
            None => Ok(()),
            Some(part) => Err(Error::RootVanished {
                root: part.place.clone(),
                documents: part.documents,
            }),
        }
    }

    /// Where all documents that are looked at are, and all whose paths files of these roots may have:
    /// ascending, without overlap.
    pub(crate) fn ranges(&self) -> Vec<PathRange> {
        let mut ranges = Vec::new();
        for root in self.roots.values() {
            match (root.whole, root.prefix.as_str()) {
                (Some(_), "") => return vec![PathRange::all()],
                (Some(_), prefix) => ranges.push(PathRange::below(prefix)),
                (None, _) => {
                    for (path, _) in &root.paths {
                        ranges.push(PathRange::only(path));
                        ranges.push(PathRange::below(path));
                    }
                }
            }
        }
        // Ranges lie inside each other or apart, and the outer one begins first.
        ranges.sort_by(|a, b| a.from.cmp(&b.from).then_with(|| b.until.cmp(&a.until)));
        // Overlapping ranges would list a document twice.
        ranges.dedup_by(|next, last| last.reaches(&next.from));
        ranges
    }
}

/// A path and the folders that it lies in, the outermost first.
pub(super) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    let folders = path.match_indices('/');
    let folders = folders.map(|(at, _)| path.get(..at).unwrap_or_default());
    folders.chain(std::iter::once(path))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn root(id: u32, prefix: &str, scope: Scope) -> Root {
        Root {
            id,
            folder: PathBuf::from("/top"),
            prefix: prefix.to_owned(),
            scope,
            foreign: BTreeSet::new(),
            elsewhere: Vec::new(),
            selection: Default::default(),
            indexed_ms: 0,
        }
    }

    fn parts(names: &[&str]) -> Scope {
        Scope::Parts(names.iter().map(PathBuf::from).collect())
    }

    #[test]
    fn parts_cover_what_lies_at_or_below_them() {
        let roots = [
            root(1, "", parts(&["docs/sub", "z.md", "docs/sub/deep"])),
            root(2, "two", Scope::Whole),
        ];
        let coverage = Coverage::new(&roots);
        for (of, path, covered) in [
            (1, "docs/sub/y.md", true),
            (1, "docs/sub", true),
            (1, "z.md", true),
            (1, "docs/x.md", false),
            (1, "docs/subway", false),
            (1, "docs", false),
            (2, "two/x", true),
            (3, "two/x", false),
        ] {
            assert_eq!(coverage.covers(Some(of), path), covered, "{of} {path}");
        }
        assert!(!coverage.covers(None, "z.md"));
    }

    #[test]
    fn ranges_hold_what_is_covered_and_nothing_twice() {
        let ranges = |roots: &[Root]| -> Vec<(String, Option<String>)> {
            let ranges = Coverage::new(roots).ranges();
            ranges.into_iter().map(|r| (r.from, r.until)).collect()
        };
        let pair = |from: &str, until: &str| (from.to_owned(), Some(until.to_owned()));
        let some = root(1, "", parts(&["docs", "docs/sub", "docs-x"]));
        assert_eq!(
            ranges(std::slice::from_ref(&some)),
            [
                pair("docs", "docs\0"),
                pair("docs-x", "docs-x\0"),
                pair("docs-x/", "docs-x0"),
                pair("docs/", "docs0"),
            ]
        );
        let whole = root(2, "p", Scope::Whole);
        assert_eq!(ranges(std::slice::from_ref(&whole)), [pair("p/", "p0")]);
        let all = root(3, "", Scope::Whole);
        assert_eq!(ranges(&[some, whole, all]), [(String::new(), None)]);
    }

    #[test]
    fn a_part_of_which_nothing_is_left_is_named() {
        let seen = |note: &dyn Fn(&mut Coverage)| {
            let roots = [root(1, "", parts(&["a", "b"])), root(2, "p", Scope::Whole)];
            let mut coverage = Coverage::new(&roots);
            for path in ["a/x", "a/y", "b/x"] {
                coverage.note_document(Some(1), path);
            }
            coverage.note_document(None, "added");
            coverage.note_file(1, "b/new");
            note(&mut coverage);
            let refused = coverage.refuse_vanished();
            refused.map_err(|error| error.to_string())
        };
        let error = seen(&|_| ()).unwrap_err();
        assert!(
            error.contains("/top/a") && error.contains("2 documents"),
            "{error}"
        );
        assert!(seen(&|coverage| coverage.note_file(1, "a/z")).is_ok());
        // Nothing is known of what lies below, or around it.
        assert!(seen(&|coverage| coverage.note_unread("a/sub")).is_ok());
        assert!(seen(&|coverage| coverage.note_unread("")).is_ok());
        assert!(seen(&|coverage| coverage.note_unread("b")).is_err());
        assert!(seen(&|coverage| coverage.note_document(Some(2), "p/x")).is_err());
    }
}
