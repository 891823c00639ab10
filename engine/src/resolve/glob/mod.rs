//! Globs over paths of documents, thousands at a time.

mod limits;
mod pattern;

use kb_types::error::{Error, Result};
use memchr::memmem::Finder;
use rustc_hash::{FxHashMap, FxHashSet};
use unicode_normalization::UnicodeNormalization;

use crate::glob::syntax::Fault;
use crate::resolve::abbreviate::abbreviate;
use limits::check_limits;
pub(super) use pattern::META;
use pattern::{InFolder, Pattern, folder_and_above, folder_and_name};

/// Most globs in one request.
const GLOBS_LIMIT: usize = 16_384;

/// A glob without the `/` or `./` that says that it begins at the top, and whether there was one. All of `/`, `.` and
/// an empty one is the top, and what is below it.
fn from_top(glob: &str) -> (&str, bool) {
    let mut rest = glob;
    while let Some(behind) = rest.strip_prefix("./").or_else(|| rest.strip_prefix('/')) {
        rest = behind;
    }
    match rest {
        "" | "." => ("**", true),
        _ => (rest, rest.len() < glob.len()),
    }
}

/// A set of globs over paths. Thousands of them cost little more than one: names and folders without a
/// pattern are looked up, and a glob is tried only on paths in the folder that it begins with.
#[derive(Debug, Default)]
pub(crate) struct Globs {
    /// Documents and folders by path.
    paths: FxHashSet<String>,
    /// Names of documents at any depth.
    names: FxHashSet<String>,
    /// Globs with a pattern, by the folder before it.
    patterns: FxHashMap<String, Vec<Pattern>>,
    /// Those without a folder before the pattern.
    anywhere: Vec<Pattern>,
}

impl Globs {
    /// # Errors
    /// [`Error::InvalidArgument`] for a glob that does not parse or exceeds a limit, and for too many.
    pub(crate) fn new(globs: &[String]) -> Result<Globs> {
        if globs.len() > GLOBS_LIMIT {
            return Err(Error::InvalidArgument {
                argument: "path",
                reason: format!(
                    "{} globs given; at most {GLOBS_LIMIT} are allowed",
                    globs.len()
                ),
            });
        }
        let mut all = Globs::default();
        let distinct: FxHashSet<&String> = globs.iter().collect();
        for glob in distinct {
            check_limits(glob).map_err(|reason| invalid_glob(glob, &reason))?;
            let (given, is_from_top) = from_top(glob);
            let given: String = given.nfc().collect();
            let folder = given.trim_end_matches('/');
            if !folder.contains(META) {
                if !folder.contains('/') && !is_from_top {
                    all.names.insert(folder.to_owned());
                }
                all.paths.insert(folder.to_owned());
                continue;
            }
            let added = all.add_pattern(&given, is_from_top);
            added.map_err(|error| invalid_glob(glob, &error))?;
        }
        Ok(all)
    }

    /// Everything below some folders.
    pub(crate) fn below(folders: impl IntoIterator<Item = String>) -> Globs {
        let below = |folder: String| (folder.clone(), vec![Pattern::below(folder)]);
        Globs {
            patterns: folders.into_iter().map(below).collect(),
            ..Globs::default()
        }
    }

    /// One glob with a pattern.
    fn of_pattern(glob: &str, is_from_top: bool) -> std::result::Result<Globs, Fault> {
        let mut one = Globs::default();
        one.add_pattern(glob, is_from_top)?;
        Ok(one)
    }

    fn add_pattern(&mut self, glob: &str, is_from_top: bool) -> std::result::Result<(), Fault> {
        let before = glob.split(META).next().unwrap_or_default();
        let begins = before.rsplit_once('/').map_or("", |(folder, _)| folder);
        let pattern = Pattern::new(&with_depth(glob, is_from_top))?;
        match begins {
            "" => self.anywhere.push(pattern),
            begins => {
                let patterns = self.patterns.entry(begins.to_owned()).or_default();
                patterns.push(pattern);
            }
        }
        Ok(())
    }

    /// The folders of which these globs match everything below, if they match nothing else.
    pub(crate) fn whole_folders(&self) -> Option<Vec<&str>> {
        if !self.names.is_empty() || !self.paths.is_empty() {
            return None;
        }
        self.all_patterns().map(Pattern::whole_folder).collect()
    }

    fn all_patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.patterns.values().flatten().chain(&self.anywhere)
    }

    /// What tells of one path after the other whether any glob matches. Fast while these are in one folder.
    pub(crate) fn matcher(&self) -> GlobMatcher<'_> {
        GlobMatcher {
            globs: self,
            folder: None,
            is_all: false,
            in_folder: Vec::new(),
        }
    }
}

/// Matches paths, the globs that can match in a folder chosen once for all neighbours in it.
#[derive(Debug)]
pub(crate) struct GlobMatcher<'g> {
    globs: &'g Globs,
    /// The folder of the last path.
    folder: Option<String>,
    /// Whether all names in it match.
    is_all: bool,
    /// What else may match there.
    in_folder: Vec<InFolder<'g>>,
}

impl GlobMatcher<'_> {
    /// Whether any glob matches.
    pub(crate) fn is_match(&mut self, path: &str) -> bool {
        let (folder, name) = folder_and_name(path);
        if self.folder.as_deref() != Some(folder) {
            self.enter(folder);
            self.folder = Some(folder.to_owned());
        }
        self.is_all || self.is_match_here(path, name)
    }

    /// Chooses the globs that can match in a folder; empty: the top.
    pub(crate) fn enter(&mut self, folder: &str) {
        self.folder = None;
        self.in_folder.clear();
        let globs = self.globs;
        // Most filters are one glob: nothing is looked up where there is nothing.
        self.is_all = !globs.paths.is_empty()
            && folder_and_above(folder).any(|folder| globs.paths.contains(folder));
        if self.is_all {
            return;
        }
        let begins = (!globs.patterns.is_empty()).then(|| folder_and_above(folder));
        let begins = begins.into_iter().flatten();
        let begins = begins.filter_map(|folder| globs.patterns.get(folder));
        let patterns = begins.flatten().chain(&globs.anywhere);
        let in_folder = patterns.map(|pattern| pattern.in_folder(folder));
        let some = in_folder.filter(|some| !matches!(some, InFolder::None));
        self.in_folder.extend(some);
        let mut all = self.in_folder.iter();
        self.is_all = all.any(|some| matches!(some, InFolder::All));
    }

    /// Whether all paths in the folder that was entered match, or none of them; `None` when that depends on their
    /// names.
    pub(crate) fn matches_in_folder(&self) -> Option<bool> {
        let Globs { paths, names, .. } = self.globs;
        let is_none = self.in_folder.is_empty() && names.is_empty() && paths.is_empty();
        (self.is_all || is_none).then_some(self.is_all)
    }

    /// Whether a path in the folder that was entered matches, where that depends on its name.
    pub(crate) fn is_match_here(&self, path: &str, name: &str) -> bool {
        let Globs { paths, names, .. } = self.globs;
        let mut in_folder = self.in_folder.iter();
        in_folder.any(|pattern| match pattern {
            InFolder::None => false,
            InFolder::All => true,
            InFolder::Names(part) => part.is_match(name),
            InFolder::Paths(glob) => glob.is_match(path),
        }) || !names.is_empty() && names.contains(name)
            || !paths.is_empty() && paths.contains(path)
    }
}

/// The glob over whole paths for a glob with a pattern: one without `/` matches names at any depth, one
/// that ends with `/` everything below.
fn with_depth(glob: &str, is_from_top: bool) -> String {
    let folder = glob.trim_end_matches('/');
    let is_at_one_depth = is_from_top || folder.contains('/');
    let depth = if is_at_one_depth { "" } else { "**/" };
    let below = if glob.ends_with('/') { "/**" } else { "" };
    format!("{depth}{folder}{below}")
}

fn invalid_glob(glob: &str, why: &dyn std::fmt::Display) -> Error {
    Error::InvalidArgument {
        argument: "path",
        reason: format!("{:?} is not a valid glob: {why}", abbreviate(glob)),
    }
}

/// The operand of `path:`: a glob if it is a valid one with a pattern, else a part of the path in any case.
#[derive(Debug)]
pub(crate) enum PathOperand {
    /// A glob as in `Filters::paths`.
    Glob(Globs),
    /// A part of the path.
    Part(PathPart),
}

impl PathOperand {
    /// For the text after `path:`. Warns when it is a glob that exceeds a limit, which is matched as plain
    /// text.
    pub(crate) fn new(text: &str, warnings: &mut Vec<String>) -> PathOperand {
        let given: String = text.nfc().collect();
        if given.contains(['*', '?', '[', '{']) {
            let limits = check_limits(text);
            let is_within = limits.is_ok();
            if let Err(reason) = limits {
                warnings.push(format!(
                    "path:{:?} was matched as plain text, not as a glob: {reason}",
                    abbreviate(text)
                ));
            }
            let (of_glob, is_from_top) = from_top(&given);
            if is_within && let Ok(globs) = Globs::of_pattern(of_glob, is_from_top) {
                return PathOperand::Glob(globs);
            }
        }
        let part = given.trim_start_matches("./").to_lowercase();
        let part = Finder::new(&part).into_owned();
        let path = String::new();
        PathOperand::Part(PathPart { part, path })
    }
}

/// A part of paths in any case.
#[derive(Debug)]
pub(crate) struct PathPart {
    /// In lower case.
    part: Finder<'static>,
    /// The last path in lower case.
    path: String,
}

impl PathPart {
    /// Whether a path has it.
    pub(crate) fn is_match(&mut self, path: &str) -> bool {
        if path.is_ascii() {
            self.path.clear();
            self.path.push_str(path);
            self.path.make_ascii_lowercase();
        } else {
            self.path = path.to_lowercase();
        }
        self.part.find(self.path.as_bytes()).is_some()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::limits::{BRACES_LIMIT, COMMAS_LIMIT, GLOB_LIMIT_BYTES};
    use super::*;

    fn is_match(operand: PathOperand, path: &str) -> bool {
        match operand {
            PathOperand::Glob(globs) => globs.matcher().is_match(path),
            PathOperand::Part(mut part) => part.is_match(path),
        }
    }

    fn matches(glob: &str, path: &str) -> bool {
        Globs::new(&[glob.to_owned()])
            .unwrap()
            .matcher()
            .is_match(path)
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
    fn a_glob_may_begin_at_the_top() {
        for top in ["/", "./", "././"] {
            let glob = |rest: &str| [top, rest].concat();
            assert!(matches(&glob("docs/**"), "docs/a/b.md"), "{top}");
            assert!(!matches(&glob("docs/**"), "a/docs/b.md"), "{top}");
            assert!(matches(&glob("*.md"), "a.md"), "{top}");
            assert!(!matches(&glob("*.md"), "docs/a.md"), "{top}");
            assert!(matches(&glob("a.md"), "a.md"), "{top}");
            assert!(!matches(&glob("a.md"), "docs/a.md"), "{top}");
            assert!(matches(&glob("docs"), "docs/a/b.md"), "{top}");
        }
        for top in ["", ".", "/", "./", "/."] {
            assert!(matches(top, "a.md"), "{top:?}");
            assert!(matches(top, "docs/a/b.md"), "{top:?}");
        }
    }

    #[test]
    fn a_glob_that_does_not_parse_is_refused_by_name() {
        let error = Globs::new(&["src/[".to_owned()]).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT");
        assert!(error.to_string().contains("src/["), "{error}");
    }

    #[test]
    fn thousands_of_globs_match_as_one_by_one() {
        let paths = ["a/b/c.rs", "a/c.rs", "c.md", "x1/y", "d/[z].txt", "a/b"];
        let globs = [
            "a/**/c.rs",
            "**/c.*",
            "a/*",
            "x{1,2}/?",
            "d/\\[z\\].txt",
            "a/b/",
            "b",
            "*.m?",
            "./a/*.rs",
        ];
        let alone = |glob: &str, path| matches(glob, path);
        let mut many: Vec<String> = (0..5_000).map(|n| format!("q{n}/*.rs")).collect();
        for glob in globs {
            many.push(glob.to_owned());
            let all = Globs::new(&many).unwrap();
            let mut matcher = all.matcher();
            for path in paths {
                assert_eq!(matcher.is_match(path), alone(glob, path), "{glob} {path}");
            }
            many.pop();
        }
        for (glob, path) in std::iter::zip(globs, ["a/c.rs", "c.md", "a/c.rs", "x1/y", "d/[z].txt"])
        {
            assert!(alone(glob, path), "{glob}");
        }
    }

    #[test]
    fn a_path_of_a_query_is_a_part_in_any_case_or_a_glob() {
        let asked =
            |words: &str, path: &str| is_match(PathOperand::new(words, &mut Vec::new()), path);
        assert!(asked("SRC/lib", "engine/src/lib.rs") && !asked("src/x", "engine/src/lib.rs"));
        assert!(asked("*.rs", "engine/src/lib.rs") && !asked("src/*.rs", "engine/src/lib.rs"));
        assert!(asked("a[b", "x/A[b.c"), "no glob, so a part");
    }

    #[test]
    fn a_glob_at_the_limits_compiles_and_one_beyond_them_is_refused() {
        let nested = |depth: usize| format!("{}a{}", "{b,".repeat(depth), "}".repeat(depth));
        let alternatives = |commas: usize| format!("{{{}b}}", "a,".repeat(commas));
        let long = |bytes: usize| format!("{}b", "?".repeat(bytes - 1));
        for (make, limit) in [
            (&nested as &dyn Fn(usize) -> String, BRACES_LIMIT),
            (&alternatives, COMMAS_LIMIT),
            (&long, GLOB_LIMIT_BYTES),
        ] {
            let glob = make(limit);
            let pattern = Pattern::new(&with_depth(&glob, false)).unwrap();
            assert!(
                !matches!(pattern.in_folder("a"), InFolder::All),
                "{glob:.30}"
            );
            let error = Globs::new(&[make(limit + 1)]).unwrap_err().to_string();
            assert!(error.contains(&limit.to_string()), "{error}");
            let mut warnings = Vec::new();
            let path = PathOperand::new(&make(limit + 1), &mut warnings);
            assert!(matches!(path, PathOperand::Part(_)) && warnings.len() == 1);
        }
        assert!(matches(&nested(BRACES_LIMIT), "x/a"));
        assert!(matches(&nested(BRACES_LIMIT), "x/b") && !matches(&nested(3), "x/c"));
    }

    proptest! {
        #[test]
        fn any_text_is_refused_as_a_glob_or_matches(
            parts in prop::collection::vec(
                ("[{},*?\\[\\]!^\\\\/a.-]{0,12}|\\PC{0,4}|[{}]{0,400}|(\\*\\*/){0,300}", 1usize..40),
                0..8,
            ),
            path in "[a./\u{e9}]{0,12}",
        ) {
            let text: String = parts.iter().map(|(part, times)| part.repeat(*times)).collect();
            let operand = PathOperand::new(&text, &mut Vec::new());
            let _ = is_match(operand, &path);
            if let Ok(globs) = Globs::new(std::slice::from_ref(&text)) {
                let _ = globs.matcher().is_match(&path);
            }
        }
    }
}
