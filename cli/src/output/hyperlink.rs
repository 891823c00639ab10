//! Terminal hyperlinks (OSC 8) to the source files of documents, in the formats of ripgrep.

use std::path::Path;

/// Names of formats and the formats they stand for, as in ripgrep.
const ALIASES: [(&str, &str); 12] = [
    ("cursor", "cursor://file{path}:{line}:{column}"),
    ("default", "file://{host}{path}"),
    ("file", "file://{host}{path}"),
    ("grep+", "grep+://{path}:{line}"),
    ("kitty", "file://{host}{path}#{line}"),
    (
        "macvim",
        "mvim://open?url=file://{path}&line={line}&column={column}",
    ),
    ("none", ""),
    (
        "textmate",
        "txmt://open?url=file://{path}&line={line}&column={column}",
    ),
    ("vscode", "vscode://file{path}:{line}:{column}"),
    (
        "vscode-insiders",
        "vscode-insiders://file{path}:{line}:{column}",
    ),
    ("vscodium", "vscodium://file{path}:{line}:{column}"),
    ("zed", "zed://file{path}:{line}:{column}"),
];

/// How links are written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HyperlinkFormat {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Host,
    Path,
    Line,
    Column,
}

impl HyperlinkFormat {
    /// Parses the name of a format, or a format.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<HyperlinkFormat, String> {
        let alias = ALIASES.iter().find(|(name, _)| *name == text);
        let is_alias = alias.is_some();
        let format = alias.map_or(text, |(_, format)| format);
        if format.is_empty() {
            return Ok(HyperlinkFormat::default());
        }
        if !is_alias && !format.contains('{') {
            let names: Vec<&str> = ALIASES.iter().map(|(name, _)| *name).collect();
            let names = names.join(", ");
            return Err(format!("unknown format name; the names are {names}"));
        }
        let parts = parts(format)?;
        let has = |part: &Part| parts.contains(part);
        if !has(&Part::Path) {
            return Err("a format needs {path}".to_owned());
        }
        if has(&Part::Column) && !has(&Part::Line) {
            return Err("a format with {column} needs {line}".to_owned());
        }
        let scheme = match parts.first() {
            Some(Part::Text(text)) => text.split(':').next().filter(|_| text.contains(':')),
            _ => None,
        };
        let is_scheme = |scheme: &str| {
            let letters = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
            scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(letters)
        };
        if !scheme.is_some_and(is_scheme) {
            return Err("a format must begin with a scheme, such as file://{path}".to_owned());
        }
        Ok(HyperlinkFormat { parts })
    }

    /// Whether it writes no links.
    pub(crate) fn is_none(&self) -> bool {
        self.parts.is_empty()
    }

    /// The address of a line of a file.
    pub(crate) fn address(&self, path: &Path, line: u32) -> Option<String> {
        let path = path.to_str()?;
        let mut address = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => address.push_str(text),
                Part::Path => address.push_str(&encoded(path)),
                Part::Line => address.push_str(&line.to_string()),
                Part::Column => address.push('1'),
                Part::Host => {}
            }
        }
        Some(address)
    }
}

/// Returns a text that a terminal shows as a link. `address` must not contain a character that ends the sequence.
pub(crate) fn linked(text: &str, address: &str) -> String {
    format!("\u{1b}]8;;{address}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\")
}

/// Splits a format into its parts; `{{` and `}}` are literal brackets.
fn parts(format: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        let is_double = chars.as_str().starts_with(c);
        match c {
            '{' | '}' if is_double => {
                chars.next();
                text.push(c);
            }
            '{' => {
                let (name, rest) = chars.as_str().split_once('}').ok_or("a { without a }")?;
                if !text.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut text)));
                }
                parts.push(match name {
                    "path" => Part::Path,
                    "line" => Part::Line,
                    "column" => Part::Column,
                    "host" | "wslprefix" => Part::Host,
                    other => {
                        return Err(format!(
                            "{{{other}}} is not a variable; the variables are {{path}}, {{line}}, {{column}} and {{host}}"
                        ));
                    }
                });
                chars = rest.chars();
            }
            '}' => return Err("a } without a {".to_owned()),
            c if c.is_control() => {
                return Err("a format must not contain control characters".to_owned());
            }
            c => text.push(c),
        }
    }
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
    Ok(parts)
}

/// Returns a path for a URI: with a leading `/`, and with percent encoding.
fn encoded(path: &str) -> String {
    let path = if cfg!(windows) {
        path.replace('\\', "/")
    } else {
        path.to_owned()
    };
    let lead = if path.starts_with('/') { "" } else { "/" };
    format!("{lead}{}", kb_engine::percent::encode(&path, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(format: &str, path: &str) -> String {
        let format = HyperlinkFormat::parse(format).unwrap();
        format.address(Path::new(path), 7).unwrap()
    }

    #[test]
    fn formats_are_those_of_ripgrep() {
        for (format, expected) in [
            ("default", "file:///a/b.rs"),
            ("file", "file:///a/b.rs"),
            ("vscode", "vscode://file/a/b.rs:7:1"),
            ("kitty", "file:///a/b.rs#7"),
            (
                "x-open://{path}?l={line}&b={{{column}}}",
                "x-open:///a/b.rs?l=7&b={1}",
            ),
        ] {
            assert_eq!(address(format, "/a/b.rs"), expected, "{format}");
        }
        assert!(HyperlinkFormat::parse("none").unwrap().is_none());
        assert!(HyperlinkFormat::parse("").unwrap().is_none());
        for (_, format) in ALIASES {
            HyperlinkFormat::parse(format).unwrap();
        }
    }

    #[test]
    fn wrong_formats_are_refused() {
        for format in [
            "unknown",
            "file://{line}",
            "file://{path}:{column}",
            "{path}",
            "file://{path",
            "file://{path}}",
            "file://{path}{x}",
            "file://\u{1b}{path}",
            "a b://{path}",
        ] {
            assert!(HyperlinkFormat::parse(format).is_err(), "{format}");
        }
    }

    #[test]
    fn a_hostile_path_cannot_end_the_sequence() {
        let address = address("file", "/a\u{1b}]0;x\u{7}/\u{9c} ;\n\u{202e}b#?%.rs");
        assert!(
            address.is_ascii() && !address.contains(char::is_control),
            "{address}"
        );
        assert_eq!(
            address.matches([';', '#', '?', ' ']).count(),
            0,
            "{address}"
        );
    }
}
