//! The bytes of an ignore file -> its patterns, and what of it is not applied.

use crate::ingest::gitignore::matcher::{Matcher, MatcherBuilder};
use crate::ingest::gitignore::pattern::{self, Refusal};

/// Largest ignore file, in bytes.
// The largest in use have some tens of kilobytes, lists made by programs included. A file is read
// whole.
pub(super) const MAX_FILE_BYTES: u64 = 256 << 10;

/// Most lines of an ignore file.
// With short lines the tables of patterns take 100 times the bytes of the file.
const MAX_LINES: usize = 20_000;

/// Line numbers that are named for each reason.
const MOST_NAMED: usize = 5;

/// Reads an ignore file. `states` is how many states of automata its patterns may take, and is
/// lowered by what they take. Gives the patterns, `None` when there are none, and why lines, or all of
/// it, are not applied.
pub(super) fn read(bytes: &[u8], states: &mut usize) -> (Option<Matcher>, Vec<String>) {
    if bytes.len() as u64 > MAX_FILE_BYTES {
        let reason = format!("ignore file not applied: larger than {MAX_FILE_BYTES} bytes");
        return (None, vec![reason]);
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    if bytes.iter().filter(|byte| **byte == b'\n').count() > MAX_LINES {
        let reason = format!("ignore file not applied: more than {MAX_LINES} lines");
        return (None, vec![reason]);
    }
    let mut builder = MatcherBuilder::default();
    let mut refused: Vec<(Refusal, usize)> = Vec::new();
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Err(refusal) = add(line, &mut builder, states) {
            refused.push((refusal, number));
        }
    }
    refused.sort();
    let reasons = refused.chunk_by(|(one, _), (other, _)| one == other);
    (builder.finish(), reasons.map(told).collect())
}

fn add(line: &[u8], builder: &mut MatcherBuilder, states: &mut usize) -> Result<(), Refusal> {
    let line = std::str::from_utf8(line).map_err(|_| Refusal::NotUtf8)?;
    let Some(pattern) = pattern::parse(line)? else {
        return Ok(());
    };
    let more = MatcherBuilder::states_of(&pattern);
    *states = states.checked_sub(more).ok_or(Refusal::TooManyWildcards)?;
    builder.add(&pattern);
    Ok(())
}

/// Lines that are refused for the same reason.
fn told(lines: &[(Refusal, usize)]) -> String {
    let Some((refusal, first)) = lines.first() else {
        return String::new();
    };
    let named: Vec<String> = lines
        .iter()
        .take(MOST_NAMED)
        .map(|(_, number)| number.to_string())
        .collect();
    match lines.len() - named.len() {
        0 if lines.len() == 1 => format!("line {first} not applied: {refusal}"),
        0 => format!("lines {} not applied: {refusal}", named.join(", ")),
        more => format!(
            "lines {} and {more} more not applied: {refusal}",
            named.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(bytes: &[u8]) -> Vec<String> {
        read(bytes, &mut 10_000).1
    }

    #[test]
    fn lines_that_are_not_applied_are_named_by_number_and_reason() {
        let deep = format!("{}a{}", "{".repeat(5), "}".repeat(5));
        let wide = format!("{{{}}}", "a,".repeat(65) + "a");
        let text = format!(
            "a\n[z-a]\n# [z-a]\n{deep}\r\nb\\\n{wide}\n{}\nb",
            "x".repeat(1025)
        );
        assert_eq!(
            problems(text.as_bytes()),
            [
                "line 7 not applied: longer than 1024 bytes",
                "lines 2, 5 not applied: not a pattern",
                "line 4 not applied: more than 4 braces inside each other",
                "line 6 not applied: more than 64 alternatives in braces",
            ]
        );
        assert_eq!(problems(b"a\nb\xFF\n"), ["line 2 not applied: not UTF-8"]);
        let many = "}\n".repeat(9);
        assert_eq!(
            problems(many.as_bytes()),
            ["lines 1, 2, 3, 4, 5 and 4 more not applied: not a pattern"]
        );
    }

    #[test]
    fn the_other_lines_count() {
        let (matcher, problems) = read(b"\xEF\xBB\xBF*.log\n}\nb\xFF\n!a.log\n", &mut 10_000);
        assert_eq!(problems.len(), 2);
        let matcher = matcher.unwrap();
        let verdict = |path: &[u8]| matcher.verdict(path, false, &mut Vec::new()).is_some();
        assert!(verdict(b"b.log") && verdict(b"a.log") && !verdict(b"b"));
    }

    #[test]
    fn a_file_over_a_bound_is_not_applied_at_all() {
        let large = vec![b'x'; MAX_FILE_BYTES as usize + 1];
        let (matcher, problems) = read(&large, &mut 10_000);
        assert!(matcher.is_none());
        assert_eq!(
            problems,
            ["ignore file not applied: larger than 262144 bytes"]
        );
        let (matcher, problems) = read("x\n".repeat(20_001).as_bytes(), &mut 10_000);
        assert!(matcher.is_none());
        assert_eq!(problems, ["ignore file not applied: more than 20000 lines"]);
        let (matcher, problems) = read(b"# nothing\n\n", &mut 10_000);
        assert!(matcher.is_none() && problems.is_empty());
    }

    #[test]
    fn wildcards_are_bounded_in_all_and_names_are_not() {
        let text = "a*b*c\n".repeat(10) + "name\n*.ending\na/path\n";
        // Six states each.
        let mut states = 40;
        let (matcher, problems) = read(text.as_bytes(), &mut states);
        assert_eq!(states, 4);
        assert_eq!(
            problems,
            ["lines 7, 8, 9, 10 not applied: more wildcards than are matched at once"]
        );
        let verdict = matcher.unwrap().verdict(b"x/name", false, &mut Vec::new());
        assert!(verdict.is_some());
    }
}
