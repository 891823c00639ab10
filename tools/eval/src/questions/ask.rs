//! A question put to `kb search`, and the hits that it prints.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::set::{ANSWERS, Question};
use crate::checkout::Lines;
use crate::sets::{parse_lines, text_of};

/// How `kb search` is called.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    /// What follows `--mode`.
    pub(super) mode: &'static str,
    /// How many hits are asked for.
    pub(super) hits: usize,
    /// Whether neighbouring hits are joined, as they are by default.
    pub(super) is_joined: bool,
}

/// One hit.
#[derive(Debug, Clone)]
pub(super) struct Hit {
    pub(super) lines: Lines,
    /// Everything that `--json --explain` says about it.
    pub(super) parts: Value,
}

/// The answer to one question.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) hits: Vec<Hit>,
    /// What `--explain` says about the search.
    pub(super) explanation: Value,
}

impl Answer {
    /// The rank, from 1, of the first hit that shares a line with a place that answers the question.
    pub(super) fn span_rank(&self, question: &Question) -> Option<usize> {
        self.rank(|lines| question.grade(lines) == ANSWERS)
    }

    /// The rank, from 1, of the first hit in a file that answers the question.
    pub(super) fn file_rank(&self, question: &Question) -> Option<usize> {
        self.rank(|lines| question.is_right_file(&lines.path))
    }

    fn rank(&self, is_right: impl Fn(&Lines) -> bool) -> Option<usize> {
        let at = self.hits.iter().position(|hit| is_right(&hit.lines));
        at.map(|at| at + 1)
    }
}

/// Asks a build of `kb` that has this file.
pub(super) fn ask(program: &Path, file: &Path, question: &str, call: Call) -> Result<Answer> {
    let mut command = Command::new(program);
    command
        .args(["search", "--plain", "--json", "--explain", "--mode"])
        .arg(call.mode)
        .arg("-k")
        .arg(call.hits.to_string())
        .arg("-f")
        .arg(file);
    if !call.is_joined {
        command.arg("--no-join");
    }
    let output = command
        .arg("--")
        .arg(question)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", program.display()))?;
    // Status 1 says that nothing was found.
    if !matches!(output.status.code(), Some(0 | 1)) {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!(
            "kb search {question:?} ended with {}: {message}",
            output.status
        );
    }
    parse(&String::from_utf8_lossy(&output.stdout))
        .with_context(|| format!("kb search {question:?}"))
}

/// Has a model embed what a file lacks.
pub(super) fn reembed(program: &Path, file: &Path, embedder: &str) -> Result<()> {
    let mut command = Command::new(program);
    command
        .arg("reembed")
        .arg(file)
        .args(["--embedder", embedder]);
    let status = command.stdout(Stdio::null()).status();
    let status = status.with_context(|| format!("cannot start {}", program.display()))?;
    if !status.success() {
        bail!("kb reembed {} ended with {status}", file.display());
    }
    Ok(())
}

/// Reads one hit a line, and the explanation.
fn parse(printed: &str) -> Result<Answer> {
    let mut answer = Answer {
        hits: Vec::new(),
        explanation: Value::Null,
    };
    for mut line in parse_lines(printed)? {
        if line.get("document").is_none() {
            if let Some(explanation) = line.get_mut("explanation") {
                answer.explanation = explanation.take();
            }
            continue;
        }
        let number = |field: &str| {
            let number = line[field].as_u64();
            number.with_context(|| format!("no number in field {field:?} of a hit"))
        };
        answer.hits.push(Hit {
            lines: Lines {
                path: text_of(&line, "document")?,
                first: number("start_line")?,
                last: number("end_line")?,
            },
            parts: line,
        });
    }
    Ok(answer)
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::set::tests::question;
    use super::*;

    /// An answer with hits on these lines.
    pub(in crate::questions) fn answer(hits: &[&str]) -> Answer {
        let line = |lines: &&str| {
            let lines = Lines::parse(lines).unwrap();
            let (path, first, last) = (lines.path, lines.first, lines.last);
            format!(
                "{{\"document\":\"{path}\",\"start_line\":{first},\"end_line\":{last},\"text\":\"a\",\
                 \"score\":0.9,\"fused_score\":0.5,\"keyword_score\":0.25,\
                 \"bonuses\":[{{\"bonus\":\"adjacency\",\"score\":-0.03}}],\
                 \"terms\":[{{\"term\":\"loop\",\"frequency\":2,\"score\":0.1}}]}}\n"
            )
        };
        let lines: String = hits.iter().map(line).collect();
        let last = "{\"explanation\":{\"mode\":\"hybrid\",\"steps\":[{\"step\":\"plan\",\"micros\":3}]}}\n";
        parse(&(lines + last)).unwrap()
    }

    #[test]
    fn ranks_are_those_of_the_first_right_hit() {
        let asked = question("q", &[("a.c:10-20", 2), ("b.c:1-5", 1)]);
        let found = answer(&["b.c:1-5", "a.c:30-40", "a.c:20-29"]);
        assert_eq!(found.span_rank(&asked), Some(3));
        assert_eq!(found.file_rank(&asked), Some(2));
        assert_eq!(found.explanation["mode"], "hybrid");
        assert_eq!(answer(&["b.c:1-5"]).span_rank(&asked), None);
        assert_eq!(answer(&[]).file_rank(&asked), None);
    }

    #[test]
    fn a_hit_without_lines_is_an_error() {
        assert!(parse("{\"document\":\"a.c\",\"start_line\":1}\n").is_err());
        assert!(parse("kb: no such file\n").is_err());
    }
}
