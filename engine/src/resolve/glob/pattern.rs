//! One glob with a pattern, parted at its last `/` where that changes nothing: its folders are compared once for
//! all documents of a folder, and its name mostly without an automaton.

use std::cell::OnceCell;
use std::iter::once;

use crate::glob::characters::{self, Glob};
use crate::glob::syntax::{Fault, Token};
use crate::resolve::glob::limits::BRACES_LIMIT;

/// Characters that make a path a pattern.
pub(in crate::resolve) const META: [char; 5] = ['*', '?', '[', '{', '\\'];

/// A glob over whole paths.
#[derive(Debug)]
pub(super) enum Pattern {
    /// What it says of the folder and of the name.
    Parted(FolderPart, NamePart),
    /// Its parts cannot be told apart, as those of `{a/b,c}`.
    Whole(Compiled),
}

/// What a pattern says of the names in a folder.
#[derive(Debug, Clone, Copy)]
pub(super) enum InFolder<'p> {
    /// It matches none of them.
    None,
    /// It matches all of them.
    All,
    /// It matches some names.
    Names(&'p NamePart),
    /// It matches some paths.
    Paths(&'p Compiled),
}

impl Pattern {
    /// # Errors
    /// When it does not parse.
    pub(super) fn new(pattern: &str) -> Result<Pattern, Fault> {
        let whole = Compiled::new(pattern)?;
        let parts = parts(pattern);
        Ok(parts.map_or(Pattern::Whole(whole), |(folder, name)| {
            Pattern::Parted(folder, name)
        }))
    }

    /// Everything below a folder.
    pub(super) fn below(folder: String) -> Pattern {
        let glob = FolderGlob::Name(folder);
        Pattern::Parted(FolderPart { glob, below: true }, NamePart::Any)
    }

    /// What it says of the names in a folder; empty: the top.
    pub(super) fn in_folder(&self, folder: &str) -> InFolder<'_> {
        match self {
            Pattern::Whole(glob) => InFolder::Paths(glob),
            Pattern::Parted(folders, _) if !folders.contains(folder) => InFolder::None,
            Pattern::Parted(_, NamePart::Any) => InFolder::All,
            Pattern::Parted(_, name) => InFolder::Names(name),
        }
    }

    /// The folder of which it matches everything below, and nothing else.
    pub(super) fn whole_folder(&self) -> Option<&str> {
        match self {
            Pattern::Parted(
                FolderPart {
                    glob: FolderGlob::Name(folder),
                    below: true,
                },
                NamePart::Any,
            ) => Some(folder),
            _ => None,
        }
    }
}

/// What a glob says of the folder that a document is in.
#[derive(Debug)]
pub(super) struct FolderPart {
    glob: FolderGlob,
    /// Whether all folders below match too.
    below: bool,
}

#[derive(Debug)]
enum FolderGlob {
    /// Every folder, and the top.
    Any,
    /// One folder.
    Name(String),
    /// Those that a glob matches.
    Glob(Compiled),
}

impl FolderPart {
    fn contains(&self, folder: &str) -> bool {
        let is_it = |folder: &str| match &self.glob {
            FolderGlob::Any => true,
            FolderGlob::Name(name) => name == folder,
            FolderGlob::Glob(glob) => glob.is_match(folder),
        };
        if folder.is_empty() {
            return matches!(self.glob, FolderGlob::Any);
        }
        is_it(folder) || self.below && folders_of(folder).any(is_it)
    }
}

/// What a glob says of the name of a document.
#[derive(Debug)]
pub(super) enum NamePart {
    Any,
    Is(String),
    /// Texts with a `*` between each two.
    Texts {
        start: String,
        middle: Vec<String>,
        end: String,
    },
    Glob(Compiled),
}

impl NamePart {
    fn new(name: &str) -> Option<NamePart> {
        if matches!(name, "*" | "**") {
            return Some(NamePart::Any);
        }
        if name.contains(|c| c != '*' && META.contains(&c)) {
            return Compiled::new(name).ok().map(NamePart::Glob);
        }
        let mut middle: Vec<String> = name.split('*').map(str::to_owned).collect();
        let end = middle.pop()?;
        if middle.is_empty() {
            return Some(NamePart::Is(end));
        }
        let start = middle.remove(0);
        Some(NamePart::Texts { start, middle, end })
    }

    pub(super) fn is_match(&self, name: &str) -> bool {
        match self {
            NamePart::Any => true,
            NamePart::Is(text) => name == text,
            NamePart::Texts { start, middle, end } => {
                let within = match (start.as_str(), end.as_str()) {
                    // Comparing with an empty text of nowhere takes processors with AVX-512 100 ns.
                    ("", end) => name.strip_suffix(end),
                    (start, "") => name.strip_prefix(start),
                    (start, end) => name
                        .strip_prefix(start)
                        .and_then(|rest| rest.strip_suffix(end)),
                };
                let Some(mut rest) = within else {
                    return false;
                };
                middle.iter().all(|text| {
                    let after = rest.split_once(text.as_str());
                    after.is_some_and(|(_, after)| {
                        rest = after;
                        true
                    })
                })
            }
            NamePart::Glob(glob) => glob.is_match(name),
        }
    }
}

/// The parts of a glob, if a path matches it exactly when its folder and its name match one part each.
fn parts(glob: &str) -> Option<(FolderPart, NamePart)> {
    let (folder, name) = glob.rsplit_once('/').filter(|(_, name)| !name.is_empty())?;
    let count = |wanted: char| folder.matches(wanted).count();
    // No group and no class of characters goes across the last `/`.
    let is_parted = count('{') == count('}') && !folder.contains(['[', ']', '\\']);
    let is_recursive_inside = |text: &str| text.contains("**");
    let has_odd_stars = name != "**" && is_recursive_inside(name)
        || folder.contains('{') && is_recursive_inside(folder);
    if !is_parted || has_odd_stars || !classes_are_plain(name) || folder.starts_with('/') {
        return None;
    }
    let (folder, below) = match folder.strip_suffix("/**") {
        _ if folder == "**" && name != "**" => {
            let any = FolderPart {
                glob: FolderGlob::Any,
                below: true,
            };
            return Some((any, NamePart::new(name)?));
        }
        Some(folder) if name != "**" => (folder, true),
        _ => (folder, name == "**"),
    };
    if folder.is_empty() || folder.ends_with('/') || folder.ends_with("**") {
        return None;
    }
    let glob = match folder.contains(META) {
        true => FolderGlob::Glob(Compiled::new(folder).ok()?),
        false => FolderGlob::Name(folder.to_owned()),
    };
    Some((FolderPart { glob, below }, NamePart::new(name)?))
}

/// Whether no class of characters in a name can match `/`, as `[!a]` and `[.-a]` do.
fn classes_are_plain(name: &str) -> bool {
    let classes = name.split('[').skip(1);
    classes.into_iter().all(|class| {
        let class = class.split(']').next().unwrap_or_default();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        !class.is_empty() && !class.starts_with('-') && class.chars().all(is_plain)
    })
}

/// A glob whose automaton is made when a path first needs it.
#[derive(Debug)]
pub(super) struct Compiled {
    tokens: Vec<Token>,
    /// Everything that matches ends with this.
    end: String,
    /// In a box: it has a table of all bytes.
    glob: OnceCell<Box<Glob>>,
}

impl Compiled {
    fn new(pattern: &str) -> Result<Compiled, Fault> {
        let tokens = characters::parse(pattern, BRACES_LIMIT)?;
        let after = |c: char| matches!(c, '*' | '?' | ']' | '}' | '\\');
        let end = pattern.rsplit(after).next().unwrap_or_default();
        Ok(Compiled {
            tokens,
            // `**/` also stands for nothing.
            end: end.trim_start_matches('/').to_owned(),
            glob: OnceCell::new(),
        })
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        let glob = || self.glob.get_or_init(|| Box::new(Glob::new(&self.tokens)));
        text.ends_with(&self.end) && glob().is_match(text)
    }
}

/// The folders above a path, innermost first.
fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    let parent = |path: &str| path.rfind('/');
    std::iter::successors(parent(path), move |end| parent(path.get(..*end)?))
        .filter_map(move |end| path.get(..end))
}

/// The folder of a path, empty at the top, and the name in it.
pub(super) fn folder_and_name(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// A folder and those above it, innermost first; none of the top.
pub(super) fn folder_and_above(folder: &str) -> impl Iterator<Item = &str> {
    let itself = once(folder).filter(|folder| !folder.is_empty());
    itself.chain(folders_of(folder))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn common_globs_are_parted() {
        for glob in [
            "src/**/*.rs",
            "**/*.c",
            "**/[a-i]*",
            "docs/**",
            "**/x*/**",
            "{a,b}/*/c?.h",
        ] {
            let pattern = Pattern::new(glob).unwrap();
            assert!(matches!(pattern, Pattern::Parted(..)), "{glob}");
        }
        assert_eq!(Pattern::new("a/b/**").unwrap().whole_folder(), Some("a/b"));
        for glob in ["a*/**", "a/**/*.c", "a/*", "a/**/b/**"] {
            let pattern = Pattern::new(glob).unwrap();
            let folder = pattern.whole_folder();
            assert_eq!(folder, None, "{glob}");
        }
    }

    #[test]
    fn a_question_mark_and_a_class_are_characters() {
        let glob = |glob: &str, text: &str| Compiled::new(glob).unwrap().is_match(text);
        for (pattern, text) in [
            ("?", "\u{dc}"),
            ("docs/?/[\u{e4}\u{f6}].md", "docs/\u{dc}/\u{e4}.md"),
            ("??/\u{8a9e}.*", "\u{65e5}\u{672c}/\u{8a9e}.md"),
            ("[\u{e0}-\u{ef}]x", "\u{e4}x"),
            ("[!a]", "\u{fc}"),
            ("\u{fc}\\?*", "\u{fc}?\u{1f600}"),
            ("a\\\\xc3?", "a\\xc3\u{e4}"),
        ] {
            assert!(glob(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("[\u{f6}]*", "\u{fc}x"),
            ("?", "ab"),
            ("??", "\u{fc}"),
            ("[\u{e0}-\u{ef}]", "\u{f6}"),
            ("?", "/"),
        ] {
            assert!(!glob(pattern, text), "{pattern} {text}");
        }
    }

    fn piece() -> impl Strategy<Value = String> {
        let common = prop::sample::select(vec![
            "a", "b", "ab", ".", "*", "**", "?", "/", "/", "/**/", "**/", "/**", "{a,b}",
            "{a/b,c}", "{", ",", "}", "[ab]", "[a-c]", "\u{e4}", "[\u{e4}]", "[!a]", "[.-a]",
            "[-a]", "[", "]", "\\",
        ]);
        common.prop_map(str::to_owned)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn parts_match_what_the_whole_does(
            pieces in prop::collection::vec(piece(), 1..7),
            paths in prop::collection::vec("([abc.\u{e4}]{1,3}/){0,3}[abc.\u{e4}]{1,3}", 24),
        ) {
            let glob = pieces.concat();
            let Ok(whole) = Compiled::new(&glob) else {
                prop_assert!(Pattern::new(&glob).is_err());
                return Ok(());
            };
            let pattern = Pattern::new(&glob).unwrap();
            for path in &paths {
                let (folder, name) = folder_and_name(path);
                let by_parts = match pattern.in_folder(folder) {
                    InFolder::None => false,
                    InFolder::All => true,
                    InFolder::Names(part) => part.is_match(name),
                    InFolder::Paths(whole) => whole.is_match(path),
                };
                prop_assert_eq!(by_parts, whole.is_match(path), "{} {}", glob, path);
                if let Some(folder) = pattern.whole_folder() {
                    let is_below = path.starts_with(&format!("{folder}/"));
                    prop_assert_eq!(by_parts, is_below, "{} {}", glob, path);
                }
            }
        }
    }
}
