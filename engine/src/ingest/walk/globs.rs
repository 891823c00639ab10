//! Patterns that a run was asked for, beside those of ignore files.

use kb_types::error::{Error, Result};

use crate::ingest::gitignore::{IgnoreFiles, Rules, Verdict};

/// Patterns as in `.gitignore`, relative to the folder of a root.
#[derive(Debug, Clone)]
pub(crate) struct Globs {
    rules: Rules,
}

impl Globs {
    /// Those of an option, which is named in errors; `None` when there are none.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a pattern that is none, or more than can be matched at once.
    pub(crate) fn new(argument: &'static str, patterns: &[String]) -> Result<Option<Globs>> {
        if patterns.is_empty() {
            return Ok(None);
        }
        let refused = |pattern: &str, reason: &str| Error::InvalidArgument {
            argument,
            reason: format!("{pattern:?} {reason}"),
        };
        for pattern in patterns {
            if pattern.contains(['\n', '\r']) {
                return Err(refused(pattern, "has a line break in it"));
            }
            if pattern.starts_with('!') {
                return Err(refused(
                    pattern,
                    "begins with `!`: give it to the other option",
                ));
            }
        }
        // A pattern may begin with what is a comment in a file.
        let lines = patterns.iter().map(|pattern| match pattern.as_bytes() {
            [b'#', ..] => format!("\\{pattern}"),
            _ => pattern.clone(),
        });
        let lines: Vec<String> = lines.collect();
        let files = IgnoreFiles {
            bytes: [Some(lines.join("\n").into_bytes()), None, None],
            is_top: false,
        };
        let (rules, problems) = Rules::default().with(b"", &files);
        match problems.into_iter().next() {
            Some((_, problem)) => Err(refused(&patterns.join(" "), &format!(": {problem}"))),
            None => Ok(Some(Globs { rules })),
        }
    }

    /// Whether a path below the root is meant, with `/` between names. What lies in a folder that is meant is not
    /// looked for.
    pub(crate) fn has(&self, path: &[u8], is_folder: bool, state: &mut Vec<u64>) -> bool {
        self.rules.verdict(path, is_folder, state) == Some(Verdict::Ignored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_ignore_files() {
        let patterns = ["*.md", "/src/**/*.rs", "build/", "#x"].map(str::to_owned);
        let globs = Globs::new("include", &patterns).unwrap().unwrap();
        for (path, is_folder, expected) in [
            ("a.md", false, true),
            ("deep/b.md", false, true),
            ("src/x/y.rs", false, true),
            ("other/src/y.rs", false, false),
            ("x/build", true, true),
            ("x/build", false, false),
            ("#x", false, true),
        ] {
            let has = globs.has(path.as_bytes(), is_folder, &mut Vec::new());
            assert_eq!(has, expected, "{path}");
        }
        assert!(Globs::new("include", &[]).unwrap().is_none());
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        let long = "x".repeat(2000);
        for pattern in ["!a", "a\nb", "}", "[z-a]", &long] {
            let refused = Globs::new("exclude", &[pattern.to_owned()]).unwrap_err();
            assert_eq!(refused.code(), "INVALID_ARGUMENT", "{pattern}");
        }
    }
}
