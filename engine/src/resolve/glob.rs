//! Globs over paths, thousands at a time.
//!
//! A glob comes from a user or a client, and globset parses and compiles it by recursion into a regular
//! expression, so every glob is held to the limits below first.

use std::cell::OnceCell;

use globset::{Glob, GlobBuilder, GlobSet};
use rustc_hash::{FxHashMap, FxHashSet};
use unicode_normalization::UnicodeNormalization;

use crate::error::{Error, Result};
use crate::resolve::abbreviate::abbreviate;

/// Most bytes of one glob.
const GLOB_LIMIT_BYTES: usize = 4096;

/// Most `{` in one glob. This bounds the nesting of its braces, whatever is escaped.
const BRACES_LIMIT: usize = 32;

/// Most `,` in one glob. This bounds the number of its alternatives.
const COMMAS_LIMIT: usize = 1024;

/// Most globs in one request.
const GLOBS_LIMIT: usize = 16_384;

/// Checks that a glob is small enough to be parsed and compiled.
///
/// # Errors
/// A sentence with the limit and what exceeds it.
fn check_limits(glob: &str) -> std::result::Result<(), String> {
    if glob.len() > GLOB_LIMIT_BYTES {
        return Err(format!(
            "it has {} bytes; at most {GLOB_LIMIT_BYTES} are allowed",
            glob.len()
        ));
    }
    let count = |wanted: u8| glob.bytes().filter(|byte| *byte == wanted).count();
    for (byte, limit) in [(b'{', BRACES_LIMIT), (b',', COMMAS_LIMIT)] {
        let there = count(byte);
        if there > limit {
            let byte = char::from(byte);
            return Err(format!(
                "it has {there} `{byte}`; at most {limit} are allowed"
            ));
        }
    }
    Ok(())
}

/// The folders above a path, innermost first.
pub(crate) fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    let parent = |path: &str| path.rfind('/');
    std::iter::successors(parent(path), move |end| parent(path.get(..*end)?))
        .filter_map(move |end| path.get(..end))
}

/// A set of globs over paths. Thousands of them cost little more than one: names and folders without a
/// pattern are looked up, and a glob is tried only on paths in the folder that it begins with.
#[derive(Debug, Default)]
pub(crate) struct Globs {
    /// Documents and folders by path.
    paths: FxHashSet<String>,
    /// Names of documents at any depth.
    names: FxHashSet<String>,
    /// Globs with a pattern, by the folder before it; empty: the top.
    patterns: FxHashMap<String, Vec<Pattern>>,
}

/// A glob that is compiled when a path first needs it.
#[derive(Debug)]
pub(crate) struct Pattern {
    glob: Glob,
    /// Every path that matches ends with this.
    end: String,
    /// `None` when the glob does not compile; nothing matches then.
    matcher: OnceCell<Option<GlobSet>>,
}

impl Pattern {
    fn new(pattern: &str) -> std::result::Result<Pattern, globset::Error> {
        let glob = GlobBuilder::new(pattern).literal_separator(true).build()?;
        let after = |c: char| matches!(c, '*' | '?' | ']' | '}' | '\\');
        let end = pattern.rsplit(after).next().unwrap_or_default();
        Ok(Pattern {
            glob,
            // `**/` also stands for nothing.
            end: end.trim_start_matches('/').to_owned(),
            matcher: OnceCell::new(),
        })
    }

    fn is_match(&self, path: &str) -> bool {
        path.ends_with(&self.end)
            && self
                .matcher
                .get_or_init(|| self.compiled())
                .as_ref()
                .is_some_and(|matcher| matcher.is_match(path))
    }

    /// Compiles the glob. No glob within the limits fails here; `Glob::compile_matcher` would panic if one
    /// did.
    fn compiled(&self) -> Option<GlobSet> {
        GlobSet::builder().add(self.glob.clone()).build().ok()
    }
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
            let given: String = glob.trim_start_matches("./").nfc().collect();
            let folder = given.trim_end_matches('/');
            let Some(first) = folder.find(META) else {
                if !folder.contains('/') {
                    all.names.insert(folder.to_owned());
                }
                all.paths.insert(folder.to_owned());
                continue;
            };
            let before = folder.get(..first).unwrap_or_default();
            let begins = before.rsplit_once('/').map_or("", |(folder, _)| folder);
            let pattern = Pattern::new(&with_depth(&given))
                .map_err(|error| invalid_glob(glob, error.kind()))?;
            let patterns = all.patterns.entry(begins.to_owned()).or_default();
            patterns.push(pattern);
        }
        Ok(all)
    }

    /// Whether any glob matches.
    pub(crate) fn is_match(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let matches = |folder: &str| {
            let patterns = self.patterns.get(folder);
            patterns.is_some_and(|some| some.iter().any(|pattern| pattern.is_match(path)))
        };
        self.names.contains(name)
            || self.paths.contains(path)
            || matches("")
            || folders_of(path).any(|folder| self.paths.contains(folder) || matches(folder))
    }
}

/// The glob over whole paths for a glob with a pattern: one without `/` matches names at any depth, one
/// that ends with `/` everything below.
fn with_depth(glob: &str) -> String {
    let folder = glob.trim_end_matches('/');
    let depth = if folder.contains('/') { "" } else { "**/" };
    let below = if glob.ends_with('/') { "/**" } else { "" };
    format!("{depth}{folder}{below}")
}

fn invalid_glob(glob: &str, why: &dyn std::fmt::Display) -> Error {
    Error::InvalidArgument {
        argument: "path",
        reason: format!("{:?} is not a valid glob: {why}", abbreviate(glob)),
    }
}

/// Characters that make a path a pattern.
const META: [char; 5] = ['*', '?', '[', '{', '\\'];

/// Matches the operand of `path:`: as a glob if it is a valid one with a pattern, else as a part of the path
/// in any case.
#[derive(Debug)]
pub(crate) enum PathMatcher {
    /// A glob as in `Filters::paths`.
    Glob(Box<Pattern>),
    /// A part of the path, in lower case.
    Part(String),
}

impl PathMatcher {
    /// For the text after `path:`. Warns when it is a glob that exceeds a limit, which is matched as plain
    /// text.
    pub(crate) fn new(text: &str, warnings: &mut Vec<String>) -> PathMatcher {
        let given: String = text.trim_start_matches("./").nfc().collect();
        if given.contains(['*', '?', '[', '{']) {
            if let Err(reason) = check_limits(text) {
                warnings.push(format!(
                    "path:{:?} was matched as plain text, not as a glob: {reason}",
                    abbreviate(text)
                ));
            } else if let Ok(pattern) = Pattern::new(&with_depth(&given)) {
                return PathMatcher::Glob(Box::new(pattern));
            }
        }
        PathMatcher::Part(given.to_lowercase())
    }

    /// Whether a path matches.
    pub(crate) fn is_match(&self, path: &str) -> bool {
        match self {
            PathMatcher::Glob(glob) => glob.is_match(path),
            PathMatcher::Part(part) => path.to_lowercase().contains(part),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(glob: &str, path: &str) -> bool {
        Globs::new(&[glob.to_owned()]).unwrap().is_match(path)
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
            for path in paths {
                assert_eq!(all.is_match(path), alone(glob, path), "{glob} {path}");
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
            |words: &str, path: &str| PathMatcher::new(words, &mut Vec::new()).is_match(path);
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
            let pattern = Pattern::new(&with_depth(&glob)).unwrap();
            assert!(pattern.compiled().is_some(), "{glob:.30}");
            let error = Globs::new(&[make(limit + 1)]).unwrap_err().to_string();
            assert!(error.contains(&limit.to_string()), "{error}");
            let mut warnings = Vec::new();
            let path = PathMatcher::new(&make(limit + 1), &mut warnings);
            assert!(matches!(path, PathMatcher::Part(_)) && warnings.len() == 1);
        }
        assert!(matches(&nested(BRACES_LIMIT), "x/a"));
        assert!(matches(&nested(BRACES_LIMIT), "x/b") && !matches(&nested(3), "x/c"));
    }

    proptest! {
        #[test]
        fn any_text_is_refused_as_a_glob_or_compiles(
            parts in prop::collection::vec(
                ("[{},*?\\[\\]!^\\\\/a.-]{0,12}|\\PC{0,4}|[{}]{0,400}|(\\*\\*/){0,300}", 1usize..40),
                0..8,
            ),
            path in "[a./\u{e9}]{0,12}",
        ) {
            let text: String = parts.iter().map(|(part, times)| part.repeat(*times)).collect();
            let _ = PathMatcher::new(&text, &mut Vec::new()).is_match(&path);
            if let Ok(globs) = Globs::new(std::slice::from_ref(&text)) {
                let _ = globs.is_match(&path);
                for pattern in globs.patterns.values().flatten() {
                    prop_assert!(pattern.compiled().is_some(), "{:?}", pattern.glob);
                }
            }
        }
    }
}
