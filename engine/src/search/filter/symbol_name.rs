//! Names of symbols as people ask for them: `spawn`, `parse_*`, `Runtime::spawn`, `MemoryCapture.on_prompt()`.

use std::fmt;

use kb_types::NamePattern;
use kb_types::error::{Error, Result};
use kb_types::syntax::nesting::{SymbolList, holders};

use crate::index::keyword::searched_names;

/// Words that stand for the module, or the object, that they are in.
const OWN_MODULES: [&str; 6] = ["crate", "self", "super", "this", "exports", "prototype"];

/// Names of files that are the module of their folder.
const FOLDER_MODULES: [&str; 5] = ["mod", "lib", "main", "index", "__init__"];

/// Most names before the last one that are compared.
// Paths in programs have fewer than ten parts.
const MAX_HOLDERS: usize = 16;

/// A name, or a pattern of names, with what holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SymbolName {
    /// All of it.
    whole: NamePattern,
    /// What it is without arguments behind it, and parted from the names before it.
    parted: Option<Parted>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Parted {
    last: NamePattern,
    /// Names of what holds it, the innermost first.
    held_by: Vec<NamePattern>,
}

impl SymbolName {
    /// A name that an argument asks for.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] when it is empty or too long.
    pub(crate) fn new(argument: &'static str, name: &str) -> Result<SymbolName> {
        let whole = NamePattern::new(name).ok_or_else(|| Error::InvalidArgument {
            argument,
            reason: format!(
                "a name of 1 to 200 bytes is wanted, {} given",
                name.trim().len()
            ),
        })?;
        let parted = Parted::of(name.trim());
        Ok(SymbolName { whole, parted })
    }

    /// A name that is not parted.
    pub(crate) fn of_pattern(whole: NamePattern) -> SymbolName {
        SymbolName {
            whole,
            parted: None,
        }
    }

    /// Whether it has no wildcard.
    pub(crate) fn is_name(&self) -> bool {
        self.whole.is_name()
    }

    /// Whether it says what holds the symbol.
    pub(crate) fn has_holders(&self) -> bool {
        let parted = self.parted.as_ref();
        parted.is_some_and(|parted| !parted.held_by.is_empty())
    }

    /// The same without what holds it.
    pub(crate) fn without_holders(&self) -> SymbolName {
        match &self.parted {
            Some(parted) => SymbolName::of_pattern(parted.last.clone()),
            None => self.clone(),
        }
    }

    /// Its last part, as it was written: `spawn` of `Runtime::spawn()`.
    pub(crate) fn last_name(&self) -> String {
        let last = match &self.parted {
            Some(parted) => parted.last.to_string(),
            None => self.whole.to_string(),
        };
        let name = searched_names(&last).last().unwrap_or_default();
        name.to_owned()
    }

    /// The patterns of which a symbol has one as its whole name or its last part.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &NamePattern> {
        let last = self.parted.as_ref().map(|parted| &parted.last);
        std::iter::once(&self.whole).chain(last)
    }

    /// Whether a symbol may have it, whatever holds it.
    pub(crate) fn may_be(&self, name: &str) -> bool {
        self.patterns()
            .any(|pattern| searched_names(name).any(|own| pattern.matches(own)))
    }

    /// Whether a symbol of the document at `path` has it, and what holds it has the names before.
    pub(crate) fn matches(
        &self,
        symbols: &(impl SymbolList + ?Sized),
        position: usize,
        path: &str,
    ) -> bool {
        let Some(symbol) = symbols.symbol_at(position) else {
            return false;
        };
        let has =
            |pattern: &NamePattern| searched_names(symbol.name).any(|own| pattern.matches(own));
        if has(&self.whole) {
            return true;
        }
        let Some(parted) = self.parted.as_ref().filter(|parted| has(&parted.last)) else {
            return false;
        };
        if parted.held_by.is_empty() {
            return true;
        }
        // `Foo::bar` of C++ is held by `Foo` and by what its definition lies in.
        let mut own = parts(symbol.name);
        own.pop();
        let around = holders(symbols, position)
            .skip(1)
            .filter_map(|at| symbols.symbol_at(at).map(|symbol| symbol.name));
        let mut held_by = own.into_iter().rev().chain(around);
        for (position, wanted) in parted.held_by.iter().enumerate() {
            match held_by.next() {
                Some(name) if is_called(name, wanted) => {}
                Some(_) => return false,
                None => {
                    let rest = parted.held_by.get(position..).unwrap_or_default();
                    return is_module(rest, position > 0, path);
                }
            }
        }
        true
    }
}

impl fmt::Display for SymbolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.whole.fmt(f)
    }
}

impl Parted {
    /// `None` where it is what the name is already.
    fn of(name: &str) -> Option<Parted> {
        let bare = match name.find('(') {
            Some(at) if at > 0 && name.ends_with(')') => name.get(..at)?.trim_end(),
            _ => name,
        };
        let mut all: Vec<&str> = bare.split(" > ").flat_map(parts).map(bare_word).collect();
        all.retain(|part| !part.is_empty());
        let last = all.pop()?;
        if last == name {
            return None;
        }
        if all.ends_with(&["module", "exports"]) {
            all.pop();
            all.pop();
        }
        let wanted = all.iter().rev().filter(|part| !OWN_MODULES.contains(part));
        let wanted = wanted.take(MAX_HOLDERS).map(|part| NamePattern::new(part));
        Some(Parted {
            last: NamePattern::new(last)?,
            held_by: wanted.collect::<Option<_>>()?,
        })
    }
}

/// The names that a path of names is made of: of `a::b`, `a.b`, `a#b`, `a->b`, `a/b` and `a\b`.
fn parts(name: &str) -> Vec<&str> {
    // What has no letter is an operator.
    if !name.contains(|c: char| c.is_alphanumeric() || matches!(c, '_' | '*' | '?')) {
        return vec![name];
    }
    let separators = [':', '.', '#', '/', '\\'];
    let parts = name.split("->").flat_map(|part| part.split(separators));
    parts.filter(|part| !part.is_empty()).collect()
}

/// The name itself: without keywords before it and type arguments behind it.
fn bare_word(part: &str) -> &str {
    let part = part.trim_start_matches('(');
    let part = part.split(['<', '[', '(']).next().unwrap_or_default();
    let word = part.split_whitespace().next_back();
    let is_part = |c: char| c.is_alphanumeric() || "_*?$@!~=+-".contains(c);
    word.unwrap_or_default().trim_matches(|c| !is_part(c))
}

/// Whether the name of what holds a symbol is the wanted one, or has it as a word: `Clone for Shape<T>`.
fn is_called(name: &str, wanted: &NamePattern) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "_$@!?".contains(c);
    let mut words = name.split(|c| !is_part(c)).filter(|word| *word != "for");
    wanted.matches(name) || words.any(|word| wanted.matches(word))
}

/// Whether the names, innermost first, are those of a file and its folders, in this order. The outermost may be that of
/// a package, which is no folder, where another one was found.
fn is_module(names: &[NamePattern], is_found: bool, path: &str) -> bool {
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.split('.').next().unwrap_or_default();
    let stem = Some(stem).filter(|stem| !FOLDER_MODULES.contains(stem));
    let mut on_path = stem.into_iter().chain(folders.rsplit('/'));
    let found = names.iter().take_while(|name| {
        let name = name.to_string();
        on_path.any(|part| part == name)
    });
    match names.len() - found.count() {
        0 => true,
        1 => is_found || names.len() > 1,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parted(name: &str) -> Option<(String, Vec<String>)> {
        let name = SymbolName::new("name", name).unwrap();
        let parted = name.parted?;
        let held_by = parted.held_by.iter().map(NamePattern::to_string);
        Some((parted.last.to_string(), held_by.collect()))
    }

    #[test]
    fn names_are_parted_as_every_language_writes_them() {
        let expected = |last: &str, held_by: &[&str]| {
            let held_by = held_by.iter().map(|&name| name.to_owned());
            Some((last.to_owned(), held_by.collect()))
        };
        for (name, last, held_by) in [
            ("Runtime::spawn", "spawn", &["Runtime"][..]),
            ("MemoryCapture.on_prompt", "on_prompt", &["MemoryCapture"]),
            ("parse_config()", "parse_config", &[]),
            ("parse_config(path, 3)", "parse_config", &[]),
            ("crate::net::Pool::<T>::get", "get", &["Pool", "net"]),
            ("Queue#push", "push", &["Queue"]),
            ("$queue->push()", "push", &["$queue"]),
            (r"App\Http\Kernel", "Kernel", &["Http", "App"]),
            ("impl Clone for Shape > fn clone", "clone", &["Shape"]),
            ("(*Server).Start", "Start", &["*Server"]),
            ("fn spawn", "spawn", &[]),
            ("Pool::*", "*", &["Pool"]),
            ("vec!()", "vec!", &[]),
            ("A.prototype.run", "run", &["A"]),
            ("module.exports.run", "run", &[]),
            ("exports.run", "run", &[]),
        ] {
            assert_eq!(parted(name), expected(last, held_by), "{name}");
        }
        for name in ["spawn", "parse_*", "..", "+", "==", "a-b"] {
            assert_eq!(parted(name), None, "{name}");
        }
    }

    #[test]
    fn a_module_is_a_file_or_its_folders() {
        let is = |names: &[&str], path: &str| {
            let names = names.iter().map(|name| NamePattern::new(name).unwrap());
            is_module(&names.collect::<Vec<_>>(), false, path)
        };
        assert!(is(&["runtime"], "src/runtime.rs"));
        assert!(is(&["runtime"], "src/runtime/mod.rs"));
        assert!(is(&["task", "runtime"], "src/runtime/task.rs"));
        assert!(is(&["task", "tokio"], "src/task.rs"), "a package");
        assert!(
            !is(&["Runtime"], "src/runtime.rs"),
            "a type, and not a module"
        );
        assert!(!is(&["other"], "src/runtime.rs"));
        assert!(!is(&["a", "b", "c"], "a.rs"));
    }

    #[test]
    fn hostile_names_are_parted_in_bounded_time() {
        for name in ["::".repeat(100), "(".repeat(200), "a.".repeat(100)] {
            let _ = SymbolName::new("name", &name).unwrap();
        }
        assert!(SymbolName::new("name", &"a".repeat(201)).is_err());
    }
}
