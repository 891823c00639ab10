//! How large files, folders and functions are.

use std::collections::BTreeMap;

use super::SourceFile;
use super::scan::{is_word, tokens, without_comments_and_text, without_tests};

/// The longest of something, and its name.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Longest {
    /// Lines.
    pub lines: usize,
    /// File, or file and function.
    pub name: String,
}

impl Longest {
    fn offer(&mut self, lines: usize, name: impl FnOnce() -> String) {
        if lines > self.lines {
            *self = Longest {
                lines,
                name: name(),
            };
        }
    }
}

/// Figures of the files below one folder.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Measures {
    /// Files of Rust.
    pub files: usize,
    /// Lines of all of them, with comments and tests.
    pub lines: usize,
    /// Lines of the middle one.
    pub median_file: usize,
    /// The longest file.
    pub longest_file: Longest,
    /// The longest function outside test modules.
    pub longest_function: Longest,
    /// Items, fields and functions marked `pub` outside test modules; `pub(crate)` is none.
    pub public_items: usize,
    /// Files directly in each folder.
    pub folders: BTreeMap<String, usize>,
}

/// Measures files.
pub fn measure(files: &[SourceFile]) -> Measures {
    let mut measures = Measures {
        files: files.len(),
        ..Measures::default()
    };
    let mut lengths = Vec::new();
    for file in files {
        let lines = file.text.lines().count();
        lengths.push(lines);
        measures.longest_file.offer(lines, || file.path.clone());
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        *measures.folders.entry(folder.to_owned()).or_default() += 1;
        let code = without_tests(&without_comments_and_text(&file.text));
        measures.public_items += public_items(&code);
        for (name, lines) in functions(&code) {
            let function = || format!("{}: {name}", file.path);
            measures.longest_function.offer(lines, function);
        }
    }
    lengths.sort_unstable();
    measures.lines = lengths.iter().sum();
    measures.median_file = lengths.get(lengths.len() / 2).copied().unwrap_or_default();
    measures
}

/// Functions of more than `most` lines outside test modules.
pub fn long_functions(files: &[SourceFile], most: usize) -> Vec<Longest> {
    let mut found = Vec::new();
    for file in files {
        let code = without_tests(&without_comments_and_text(&file.text));
        let long = functions(&code)
            .into_iter()
            .filter(|(_, lines)| *lines > most);
        found.extend(long.map(|(name, lines)| Longest {
            lines,
            name: format!("{}: {name}", file.path),
        }));
    }
    found
}

fn public_items(code: &str) -> usize {
    let starts = code.lines().map(str::trim_start);
    starts.filter(|line| line.starts_with("pub ")).count()
}

/// Each function with the lines from its `fn` to its closing brace.
fn functions(code: &str) -> Vec<(&str, usize)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        if code[..at].ends_with(is_word) {
            continue;
        }
        let rest = &code[at..];
        // A declaration in a trait, or a pointer to a function, has no body. A `;` in brackets is the
        // length of an array.
        let mut brackets = 0_usize;
        let body = rest.char_indices().find(|(_, character)| {
            match character {
                '[' => brackets += 1,
                ']' => brackets = brackets.saturating_sub(1),
                _ => {}
            }
            *character == '{' || (*character == ';' && brackets == 0)
        });
        if let Some((open, '{')) = body
            && let Some(name) = tokens(&rest[3..open]).first().copied()
            && name.starts_with(is_word)
        {
            let length = open + super::scan::block_length(&rest[open..]);
            found.push((name, rest[..length].lines().count()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_folders_and_functions_are_measured() {
        let file = |path: &str, text: &str| SourceFile {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let files = [
            file(
                "a/x.rs",
                "pub fn f(_: [u8; 2])\n{\n// }\n}\npub(crate) struct X;\n",
            ),
            file("a/y.rs", "trait T {\n    fn g();\n    fn h() {}\n}\n\n\n\n"),
            file("a/b/z.rs", "pub struct Z {\n    pub field: u8,\n}\n"),
        ];
        let measures = measure(&files);
        assert_eq!(
            (measures.files, measures.lines, measures.median_file),
            (3, 15, 5)
        );
        assert_eq!(measures.longest_file.name, "a/y.rs");
        assert_eq!(measures.longest_function.name, "a/x.rs: f");
        assert_eq!(measures.longest_function.lines, 4);
        assert_eq!(measures.public_items, 3);
        assert_eq!(measures.folders["a"], 2);
        assert_eq!(long_functions(&files, 3), [measures.longest_function]);
        assert_eq!(long_functions(&files, 4), []);
    }
}
