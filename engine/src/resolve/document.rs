//! Finds the document that a name means.

use std::ops::ControlFlow;
use std::path::Path;

use kb_types::error::{Error, Result};
use kb_types::percent;
use kb_types::{DocumentId, Lines};
use unicode_normalization::UnicodeNormalization;

use crate::catalog::Catalog;
use crate::container::{MAX_KEY_BYTES, Snapshot};
use crate::resolve::disk_path::{DiskPath, has_folder_here};
use crate::resolve::line_suffix::{LineSuffix, address_lines, split_column, split_lines};
use crate::resolve::nearest::{MAX_SUGGESTIONS, Nearest};
use crate::store::{handles, skipped};

/// Longest name that is looked up, in bytes: a percent-encoded address has three bytes for each of the
/// longest path, and the name of the file.
const NAME_LIMIT_BYTES: usize = 4 * MAX_KEY_BYTES;

/// How the address of a document begins: `kb://<name of the file>/doc/<path>`.
const SCHEME: &str = "kb://";

/// How a name means a document, the best first: of several files, the one that it means best has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameMatch {
    /// It is the path, or the address.
    Path,
    /// It is the path behind the name of the file and a slash.
    NamedFile,
    /// It is the path on the disk: of a file below a folder that was indexed.
    DiskPath,
    /// It is a handle, or the suffix of one.
    Handle,
    /// It is the end of the path, and of no other.
    PathEnd,
    /// It is the path or the end of one in upper and lower case, and of no other.
    AnyCase,
    /// It ends as the path does, and as no other: the path on a disk of a file whose folders are known by name only.
    DiskPathEnd,
}

/// A document, and the lines of it that its name selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Located {
    /// The document.
    pub id: DocumentId,
    /// The lines, as they stand in the name; `None`: the name is that of the document alone.
    pub lines: Option<Lines>,
    /// Bytes of the text of these lines that the name skips, as in `docs/a.md:10-20+300`.
    pub skip_bytes: u32,
    /// How the name means the document.
    pub how: NameMatch,
}

impl Located {
    fn new(id: DocumentId, suffix: Option<LineSuffix>, how: NameMatch) -> Located {
        Located {
            id,
            lines: suffix.map(|suffix| suffix.lines),
            skip_bytes: suffix.map_or(0, |suffix| suffix.skip_bytes),
            how,
        }
    }
}

/// Finds a document by its path, its handle (`release-notes-k3f9qa`; the suffix decides), its address
/// (`kb://notes/doc/a/b.md`, percent-encoded, with the name of the file at `file`), or by the end of
/// its path (`lib.rs`, `src/lib.rs`) when only one document has it, in any case when no document has it as it is
/// written; its path also behind the name of the file (`notes/a/b.md`), and as the path of the file that it was made
/// from (`/home/ada/notes/a/b.md`, `file:///home/ada/notes/a/b.md`, `a\\b.md`). Reads all paths only for the end of one.
///
/// # Errors
/// [`Error::DocumentNotFound`] with the nearest paths, [`Error::AmbiguousDocument`] with the
/// candidates.
pub(crate) fn document(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    file: Option<&Path>,
    name: &str,
) -> Result<DocumentId> {
    let wanted = Wanted::of(name, file)?;
    if wanted.lines.is_some() {
        return Err(not_found(name, Vec::new()));
    }
    let names = [Name::new(&wanted.path, None)];
    let found = find(snapshot, catalog, name, file, &names)?;
    // A guess is good enough to read a document, and not to remove one.
    if found.how == NameMatch::DiskPathEnd {
        return Err(not_found(name, Vec::new()));
    }
    Ok(found.id)
}

/// As [`document`], of a name that may have lines behind it, as in `docs/a.md:10-20` and `docs/a.md#L10-L20`,
/// or line and column, as in `docs/a.md:10:5`, or in an address: `kb://notes/lines/10-20/docs/a.md`; behind
/// lines also the bytes of them that are skipped, as in `docs/a.md:10-20+300`. What a document has as its whole
/// path, or as the end of its path where no other has the rest of the name, is no suffix.
///
/// # Errors
/// As [`document`].
pub(crate) fn locate(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    file: Option<&Path>,
    name: &str,
) -> Result<Located> {
    let wanted = Wanted::of(name, file)?;
    let mut names = vec![Name::new(&wanted.path, wanted.lines)];
    if wanted.lines.is_none() {
        let split = split_lines(&wanted.path);
        let column = split_column(&wanted.path).map(|(path, lines)| (path, lines.into()));
        let split = split.into_iter().chain(column);
        names.extend(split.map(|(path, suffix)| Name::new(path, Some(suffix))));
    }
    find(snapshot, catalog, name, file, &names)
}

/// Path, and lines in one form, that an address stands for; any other name is the path.
///
/// # Errors
/// [`Error::DocumentNotFound`] for an address of another file, and a name that is too long.
pub(crate) fn of_address(name: &str, file: Option<&Path>) -> Result<(String, Option<String>)> {
    let wanted = Wanted::of(name, file)?;
    let lines = wanted.lines.map(LineSuffix::range_text);
    Ok((wanted.path, lines))
}

/// Splits `docs/*.md:10-20` before the lines, which are in one form whatever they were written as.
pub(crate) fn split_selection(name: &str) -> Option<(&str, String)> {
    let (path, suffix) = split_lines(name)?;
    Some((path, suffix.range_text()))
}

/// A name without its lines.
struct Name<'n> {
    path: &'n str,
    /// What it is as a path on a disk, where it has another form than paths of documents.
    disk: Option<DiskPath>,
    suffix: Option<LineSuffix>,
}

impl<'n> Name<'n> {
    fn new(given: &'n str, suffix: Option<LineSuffix>) -> Name<'n> {
        Name {
            path: given.trim_start_matches("./"),
            disk: DiskPath::of(given),
            suffix,
        }
    }
}

/// The first of `names` that is a path, else that is one behind the name of the file, else that is a handle, else
/// that is a path on the disk, else that ends a path; each with the lines it stands for.
fn find(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    given: &str,
    file: Option<&Path>,
    names: &[Name<'_>],
) -> Result<Located> {
    if let Some(found) = find_whole(snapshot, catalog, file, names)? {
        return Ok(found);
    }
    let mut ends: Vec<PathEnds> = Vec::new();
    // What is compared with paths of documents, and offered where it is like one.
    let wanted = names.iter().map(|name| {
        let places = name
            .disk
            .as_ref()
            .map(|disk| disk.places(&catalog.meta.roots));
        places.and_then(|places| places.into_iter().next())
    });
    for (name, place) in names.iter().zip(wanted) {
        ends.push(PathEnds::new(place.unwrap_or_else(|| name.path.to_owned())));
    }
    let mut nearest = Nearest::new(ends.last().map_or("", |ends| &ends.end));
    // All paths once, for every reading and for the suggestions of an error: what was cheap has
    // found nothing.
    catalog.documents.each_path(snapshot, "", |path, id| {
        let lower = path.to_lowercase();
        for ends in &mut ends {
            ends.offer(path, &lower, id);
        }
        nearest.offer(path);
        Ok(ControlFlow::Continue(()))
    })?;
    for how in [NameMatch::PathEnd, NameMatch::AnyCase] {
        let mut ends = names.iter().zip(&ends);
        let has_any = |(_, ends): &(&Name<'_>, &PathEnds)| !ends.found(how).is_empty();
        if let Some((name, ends)) = ends.find(has_any) {
            return one_of(given, ends.found(how), name.suffix, how);
        }
    }
    for name in names {
        let handle = name.path.to_lowercase();
        let ending = handles::suffix_of(&handle).or_else(|| handles::as_suffix(&handle));
        if let Some(ending) = ending
            && let Some(id) = catalog.documents.by_suffix(snapshot, ending)?
        {
            return Ok(Located::new(id, name.suffix, NameMatch::Handle));
        }
    }
    for (name, disk) in of_disk(names) {
        if let Some(found) = by_end_of_disk_path(snapshot, catalog, given, name, disk)? {
            return Ok(found);
        }
    }
    let wanted = ends.last().map_or("", |ends| &ends.end);
    Err(Error::DocumentNotFound {
        name: given.to_owned(),
        skipped: skipped_files(snapshot, wanted)?,
        nearest: nearest.finish(),
    })
}

/// The document that one of the names means as a whole: as its path, its handle, or a path on disk.
fn find_whole(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    file: Option<&Path>,
    names: &[Name<'_>],
) -> Result<Option<Located>> {
    let by_path = |path: &str| match path.len() {
        // No document has a longer path, and the table refuses longer keys as an error.
        0..=MAX_KEY_BYTES => catalog.documents.by_path(snapshot, path),
        _ => Ok(None),
    };
    let located = |id, name: &Name<'_>, how| Ok(Some(Located::new(id, name.suffix, how)));
    // One way of naming after the other, each for all readings of the name: a whole path goes
    // before the end of one even where lines could be split off it.
    for name in names {
        if let Some(id) = by_path(name.path)? {
            return located(id, name, NameMatch::Path);
        }
    }
    for name in names {
        if let Some(path) = behind_name(file, name.path)
            && let Some(id) = by_path(path)?
        {
            return located(id, name, NameMatch::NamedFile);
        }
    }
    for name in names {
        if let Some(ending) = handles::suffix_of(name.path)
            && let Some(id) = catalog.documents.by_suffix(snapshot, ending)?
        {
            return located(id, name, NameMatch::Handle);
        }
    }
    for (name, disk) in of_disk(names) {
        for place in disk.places(&catalog.meta.roots) {
            if let Some(id) = by_path(&place)? {
                return located(id, name, NameMatch::DiskPath);
            }
        }
    }
    for (name, disk) in of_disk(names) {
        let places = disk.on_disk().map(|real| real.places(&catalog.meta.roots));
        for place in places.unwrap_or_default() {
            if let Some(id) = by_path(&place)? {
                return located(id, name, NameMatch::DiskPath);
            }
        }
    }
    Ok(None)
}

/// The names that may be paths on disk.
fn of_disk<'n, 'd>(names: &'n [Name<'d>]) -> impl Iterator<Item = (&'n Name<'d>, &'n DiskPath)> {
    names
        .iter()
        .filter_map(|name| Some((name, name.disk.as_ref()?)))
}

/// The document that a path on another disk means, or on one that is not known: what follows the name of a root in it,
/// else the longest end of it that any document ends with, if no other does. `None` where the roots are here: a path
/// outside of them is another file.
fn by_end_of_disk_path(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    given: &str,
    name: &Name<'_>,
    disk: &DiskPath,
) -> Result<Option<Located>> {
    let roots = &catalog.meta.roots;
    if !disk.is_absolute() || has_folder_here(roots) {
        return Ok(None);
    }
    for place in disk.places_by_name(roots) {
        if place.len() <= MAX_KEY_BYTES
            && let Some(id) = catalog.documents.by_path(snapshot, &place)?
        {
            let how = NameMatch::DiskPathEnd;
            return Ok(Some(Located::new(id, name.suffix, how)));
        }
    }
    let whole = disk.ends().next().unwrap_or_default();
    // More than one name in common: a file name alone, such as `README.md`, would lead anywhere.
    let (mut longest, mut found) = (1, Vec::new());
    catalog.documents.each_path(snapshot, "", |path, id| {
        let same = |(one, other): &(&str, &str)| one == other;
        let names = path.rsplit('/').zip(whole.rsplit('/'));
        let common = names.take_while(same).count();
        if common > longest {
            (longest, found) = (common, Vec::new());
        }
        if common == longest {
            found.push((path.to_owned(), id));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if found.is_empty() {
        return Ok(None);
    }
    one_of(given, &found, name.suffix, NameMatch::DiskPathEnd).map(Some)
}

/// The one document that is found.
///
/// # Errors
/// [`Error::AmbiguousDocument`] where there are several.
fn one_of(
    given: &str,
    found: &[(String, DocumentId)],
    suffix: Option<LineSuffix>,
    how: NameMatch,
) -> Result<Located> {
    match found {
        [(_, id)] => Ok(Located::new(*id, suffix, how)),
        several => Err(Error::AmbiguousDocument {
            name: given.to_owned(),
            candidates: several
                .iter()
                .take(MAX_SUGGESTIONS)
                .map(|(path, _)| path.clone())
                .collect(),
        }),
    }
}

/// The documents whose paths end with a name.
struct PathEnds {
    end: String,
    /// In lower case.
    lower: String,
    as_written: Vec<(String, DocumentId)>,
    /// In any case; only those that have it as their whole path, once there is one.
    in_any_case: Vec<(String, DocumentId)>,
    has_whole: bool,
}

impl PathEnds {
    fn new(end: String) -> PathEnds {
        PathEnds {
            lower: end.to_lowercase(),
            end,
            as_written: Vec::new(),
            in_any_case: Vec::new(),
            has_whole: false,
        }
    }

    /// Takes a path, given also in lower case.
    fn offer(&mut self, path: &str, lower: &str, id: DocumentId) {
        if ends_with_path(path, &self.end) {
            self.as_written.push((path.to_owned(), id));
        }
        let is_whole = lower == self.lower;
        if is_whole && !self.has_whole {
            self.has_whole = true;
            self.in_any_case.clear();
        }
        if is_whole || !self.has_whole && ends_with_path(lower, &self.lower) {
            self.in_any_case.push((path.to_owned(), id));
        }
    }

    fn found(&self, how: NameMatch) -> &[(String, DocumentId)] {
        if how == NameMatch::AnyCase {
            &self.in_any_case
        } else {
            &self.as_written
        }
    }
}

/// What stands behind the name of the file and a slash: `docs/a.md` of `notes/docs/a.md`, where `file` is
/// `notes.kb`.
fn behind_name<'n>(file: Option<&Path>, name: &'n str) -> Option<&'n str> {
    let own = file?.file_stem()?.to_str()?;
    let rest = name.strip_prefix(own)?.strip_prefix('/')?;
    (!rest.is_empty()).then_some(rest)
}

/// The files of that path, or with that end of their paths, that were skipped: `path: reason`.
fn skipped_files(snapshot: &Snapshot<'_>, wanted: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    skipped::each_from(snapshot, "", |path, record| {
        if ends_with_path(path, wanted) {
            found.push(format!("{path}: {}", record.reason));
        }
        Ok(if found.len() < MAX_SUGGESTIONS {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        })
    })?;
    Ok(found)
}

fn not_found(name: &str, nearest: Vec<String>) -> Error {
    Error::DocumentNotFound {
        name: name.to_owned(),
        skipped: Vec::new(),
        nearest,
    }
}

/// A name as it is looked up: of an address, path and lines.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    path: String,
    lines: Option<LineSuffix>,
}

impl Wanted {
    /// # Errors
    /// [`Error::DocumentNotFound`] for a name that is too long, and for an address of another file.
    fn of(name: &str, file: Option<&Path>) -> Result<Wanted> {
        if name.len() > NAME_LIMIT_BYTES {
            return Err(not_found(name, Vec::new()));
        }
        let name = &*name.nfc().collect::<String>();
        match name.strip_prefix(SCHEME) {
            Some(address) => {
                Wanted::of_address(address, file).ok_or_else(|| not_found(name, Vec::new()))
            }
            None => Ok(Wanted {
                path: name.to_owned(),
                lines: None,
            }),
        }
    }

    /// Path and lines of an address, `NAME/doc/PATH`, `NAME/outline/PATH` or `NAME/lines/A-B/PATH`, decoded,
    /// the lines also as a fragment of the first two; `None` when it names another file or nothing.
    fn of_address(address: &str, file: Option<&Path>) -> Option<Wanted> {
        let (name, rest) = address.split_once('/')?;
        let own = file.and_then(Path::file_stem);
        let is_own =
            own.is_none_or(|own| percent::decode(name).is_some_and(|name| own == name.as_str()));
        let (kind, path) = rest.split_once('/').filter(|_| is_own)?;
        let (path, lines) = match kind {
            "doc" | "outline" => match split_lines(path).filter(|_| path.contains("#L")) {
                Some((path, lines)) => (path, Some(lines)),
                None => (path, None),
            },
            "lines" => {
                let (range, path) = path.split_once('/')?;
                (path, Some(address_lines(range)?.into()))
            }
            _ => return None,
        };
        let path = percent::decode(path)?;
        Some(Wanted { path, lines })
    }
}

/// Whether `end` is the last components of `path`.
fn ends_with_path(path: &str, end: &str) -> bool {
    !end.is_empty()
        && path
            .strip_suffix(end)
            .is_some_and(|start| start.is_empty() || start.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_path_matches_at_component_borders_only() {
        assert!(ends_with_path("engine/src/lib.rs", "src/lib.rs"));
        assert!(ends_with_path("lib.rs", "lib.rs"));
        assert!(!ends_with_path("engine/mylib.rs", "lib.rs"));
        assert!(!ends_with_path("lib.rs", ""));
    }

    #[test]
    fn a_path_may_stand_behind_the_name_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("own.kb");
        let mut writer = crate::kb::KbWriter::open_or_create(&file).unwrap();
        for path in ["a.md", "own/b.md", "b.md"] {
            writer.add_bytes(path, b"one\ntwo\n").unwrap();
        }
        writer.commit().unwrap();
        let kb = crate::kb::Kb::open(&file).unwrap();
        let found = |name: &str| {
            let found = kb.locate(name).ok()?;
            let lines = found.lines.map(|lines| (lines.first, lines.last));
            Some((found.document.path, lines))
        };
        let expected = |path: &str, lines| Some((path.to_owned(), lines));
        assert_eq!(found("own/a.md"), expected("a.md", None));
        assert_eq!(found("own/a.md:1-2"), expected("a.md", Some((1, 2))));
        assert_eq!(found("own/a.md:2:7"), expected("a.md", Some((2, 2))));
        assert_eq!(found("own/b.md"), expected("own/b.md", None), "its path");
        assert_eq!(found("other/a.md"), None);
        assert_eq!(found("own/"), None);
    }

    #[test]
    fn an_address_names_a_path_of_its_own_file_only() {
        let file = Some(Path::new("/x/my notes.kb"));
        let found = |address: &str| {
            let wanted = Wanted::of_address(address, file)?;
            let lines = wanted
                .lines
                .map(|suffix| (suffix.lines.first, suffix.lines.last));
            Some((wanted.path, lines))
        };
        let expected = |path: &str, lines| Some((path.to_owned(), lines));
        assert_eq!(
            found("my%20notes/doc/a%2Fb/%C3%A9.md"),
            expected("a/b/\u{e9}.md", None)
        );
        assert_eq!(
            found("my%20notes/lines/3-9/a.md"),
            expected("a.md", Some((3, 9)))
        );
        assert_eq!(
            found("my%20notes/doc/a%23L1.md#L3-L9"),
            expected("a#L1.md", Some((3, 9)))
        );
        assert_eq!(found("my%20notes/outline/a"), expected("a", None));
        for other in [
            "other/doc/a",
            "my notes",
            "my notes/doc/%",
            "my notes/doc/%zz",
            "my notes/doc/%FF",
            "my notes/lines/3/a",
            "my notes/pages/a",
        ] {
            assert_eq!(found(other), None, "{other}");
        }
        let any = Wanted::of_address("any/doc/a", None);
        assert_eq!(any.unwrap().path, "a");
    }
}
