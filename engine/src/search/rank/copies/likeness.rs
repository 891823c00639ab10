//! How much two texts, and the paths of two documents, are alike.

use std::cmp::Ordering;
use std::hash::Hasher;

use kb_types::role::is_vendored;
use rustc_hash::FxHasher;

/// Longest line that is compared whole. A paragraph of prose is often one line, in which one word may differ.
const MOST_LINE_BYTES: usize = 120;

/// The lines of a text, without their indents, and the sentences of long ones.
#[derive(Debug)]
pub(super) struct Lines {
    /// Hash and length of each, in ascending order.
    of_text: Vec<(u64, u32)>,
    /// Bytes of all.
    bytes: u64,
}

impl Lines {
    /// Those of a text; of a program without the comment that it begins with, which is often a licence.
    pub(super) fn of(text: &str, skips_comment: bool) -> Lines {
        let mut lines = Lines {
            of_text: Vec::new(),
            bytes: 0,
        };
        let mut comment = skips_comment.then(FirstComment::default);
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(first) = &mut comment {
                if first.has(line) {
                    continue;
                }
                comment = None;
            }
            for line in sentences(line) {
                let mut hasher = FxHasher::default();
                hasher.write(line.as_bytes());
                let bytes = u32::try_from(line.len()).unwrap_or(u32::MAX);
                lines.of_text.push((hasher.finish(), bytes));
                lines.bytes += u64::from(bytes);
            }
        }
        lines.of_text.sort_unstable();
        lines
    }

    /// The share of bytes in lines that both have, 0..1.
    pub(super) fn likeness(&self, other: &Lines) -> f32 {
        let (mut these, mut others) = (self.of_text.iter().peekable(), other.of_text.iter());
        let mut common = 0;
        let mut other_line = others.next();
        while let (Some(line), Some(second)) = (these.peek(), other_line) {
            match (*line).cmp(second) {
                Ordering::Less => {
                    these.next();
                }
                Ordering::Greater => other_line = others.next(),
                Ordering::Equal => {
                    common += u64::from(second.1);
                    these.next();
                    other_line = others.next();
                }
            }
        }
        let all = self.bytes.saturating_add(other.bytes);
        if all == 0 {
            return 0.0;
        }
        (2.0 * common as f64 / all as f64) as f32
    }
}

/// Whether two texts of so many bytes may have that likeness, where one may have so many more that do not count: at most
/// all of the shorter one is common.
pub(super) fn may_be_alike((a, b): (u32, u32), least: f32, uncounted: u32) -> bool {
    let shorter = a.min(b) as f32;
    let longer = a.max(b).saturating_sub(uncounted) as f32;
    2.0 * shorter >= least * (shorter + longer)
}

/// The sentences of a long line; a short one whole.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let from = rest.take()?;
        let end = (line.len() > MOST_LINE_BYTES)
            .then(|| from.find(". "))
            .flatten();
        let Some((sentence, after)) = end.and_then(|end| from.split_at_checked(end + 2)) else {
            return Some(from);
        };
        rest = Some(after);
        Some(sentence.trim_end())
    })
}

/// The comment at the beginning of a program, line by line.
#[derive(Debug, Default)]
struct FirstComment {
    /// What ends the comment of several lines that it is in.
    end: Option<&'static str>,
}

impl FirstComment {
    /// Whether the next line is of it.
    fn has(&mut self, line: &str) -> bool {
        if let Some(end) = self.end {
            if line.contains(end) {
                self.end = None;
            }
            return true;
        }
        for (start, end) in [("/*", "*/"), ("<!--", "-->"), ("{-", "-}"), ("(*", "*)")] {
            if let Some(rest) = line.strip_prefix(start) {
                self.end = (!rest.contains(end)).then_some(end);
                return true;
            }
        }
        // `#include` is no comment.
        let is_after = |mark: char| {
            line.strip_prefix(mark)
                .is_some_and(|rest| rest.chars().next().is_none_or(|next| !next.is_alphabetic()))
        };
        line.starts_with("//") || line.starts_with("--") || "#;%".chars().any(is_after)
    }
}

/// The file name of a path.
pub(super) fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether two paths with the same file name may be of two versions of a document: in folders of the same name, in one
/// that is named after a version, or in one for what was taken over from elsewhere.
pub(super) fn are_versions(a: &str, b: &str) -> bool {
    if is_vendored(a) || is_vendored(b) {
        return true;
    }
    let mut folders = (a.rsplit('/').skip(1), b.rsplit('/').skip(1));
    let (of_first, of_second) = (folders.0.next(), folders.1.next());
    if of_first.is_some() && of_first == of_second {
        return true;
    }
    [of_first, of_second].into_iter().flatten().any(is_version)
}

/// Whether a folder is named after a version: `v2`, `1.3`, `zlib-1.2.11`, `react@18.2`.
fn is_version(folder: &str) -> bool {
    folder.split(['-', '_', '@']).any(|part| {
        let number = part.strip_prefix(['v', 'V']).unwrap_or(part);
        let is_number = number.starts_with(|first: char| first.is_ascii_digit())
            && number
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.');
        is_number && (number.len() < part.len() || number.contains('.'))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn texts_that_are_alike_have_lengths_that_may_be(
            a in prop::collection::vec("[ab]{1,6}", 1..12),
            b in prop::collection::vec("[ab]{1,6}", 1..12),
        ) {
            let lines = |lines: &[String]| Lines::of(&lines.join("\n"), false);
            let bytes = |lines: &[String]| lines.iter().map(|line| line.len() as u32).sum::<u32>();
            let lengths = (bytes(&a), bytes(&b));
            let likeness = lines(&a).likeness(&lines(&b));
            prop_assert!(may_be_alike(lengths, likeness - 1e-6, 0), "{likeness} {lengths:?}");
        }
    }

    #[test]
    fn lengths_say_which_texts_are_not_alike() {
        assert!(may_be_alike((100, 100), 1.0, 0));
        assert!(!may_be_alike((100, 151), 0.8, 0) && may_be_alike((100, 150), 0.8, 0));
        assert!(may_be_alike((151, 100), 0.8, 1));
    }

    fn likeness(a: &str, b: &str) -> f32 {
        Lines::of(a, true).likeness(&Lines::of(b, true))
    }

    #[test]
    fn the_first_comment_of_a_program_says_nothing() {
        let body = "#include <a.h>\nint main(void) { return 0; }\n";
        for comment in [
            "",
            "// MIT\n//\n// Do what you want.\n\n",
            "/* Apache\n * 2.0\n */\n",
            "/* GPL */\n",
            "#!/bin/sh\n# MIT\n",
            "-- BSD\n",
            "<!--\nISC\n-->\n",
        ] {
            assert_eq!(
                likeness(&format!("{comment}{body}"), body),
                1.0,
                "{comment}"
            );
        }
        // Of texts it is text.
        let lines = Lines::of("# Tides\nlow\n", false);
        assert!(lines.likeness(&Lines::of("low\n", false)) < 0.7);
    }

    #[test]
    fn likeness_is_the_share_of_bytes_in_common_lines() {
        assert_eq!(likeness("aaaa\n  bb\ncc\n", "bb\naaaa\ndd"), 0.75);
        assert_eq!(likeness("a\na\n", "a\n"), 2.0 / 3.0);
        assert_eq!(likeness("a\n", "b\n"), 0.0);
        assert_eq!(likeness("", ""), 0.0);
    }

    #[test]
    fn a_long_line_is_compared_by_its_sentences() {
        let first = "The moon pulls the sea twice a day. The harbour master writes the height down. Boats that are moored \
            go up and down with it.";
        let second = first.replace("twice a day", "two times a day");
        assert!(likeness(first, &second) > 0.6);
        assert_eq!(likeness(first, first), 1.0);
        let short = "The sea is low. The moon is high.";
        assert_eq!(likeness(short, "The sea is low. The moon is full."), 0.0);
    }

    #[test]
    fn folders_tell_versions() {
        for (a, b) in [
            ("src/net/tcp.c", "worktree/src/net/tcp.c"),
            ("lib-1.2/x.js", "lib-1.3/x.js"),
            ("docs/v1/index.md", "docs/v2/index.md"),
            ("index.md", "v2/index.md"),
            ("react@18.2/a.js", "a.js"),
            ("src/zip.c", "third_party/zip/zip.c"),
            ("lib/x.js", "Node_Modules/x/dist/x.js"),
        ] {
            assert!(are_versions(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("users/index.md", "teams/index.md"),
            ("lesson1/README.md", "lesson2/README.md"),
            ("2023/index.md", "2024/index.md"),
            ("README.md", "a/README.md"),
            ("LICENSE", "LICENSE"),
            ("via/a.c", "val/a.c"),
            ("src/vendor", "lib/vendor"),
        ] {
            assert!(!are_versions(a, b), "{a} {b}");
        }
    }
}
