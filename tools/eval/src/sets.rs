//! Judged collections in the BEIR layout: `corpus.jsonl`, `queries.jsonl`, `qrels.tsv`.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use kb_engine::{Class, Document, Extraction, Syntax};
use serde_json::Value;

use crate::metrics::Judgements;

/// One row of a collection.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) title: String,
    pub(crate) text: String,
}

/// One question with what is right.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) judgements: Judgements,
}

/// One collection.
#[derive(Debug)]
pub(crate) struct JudgedSet {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) rows: Vec<Row>,
    pub(crate) questions: Vec<Question>,
}

/// Names of the collections in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let entry = entry?;
        if entry.path().join("corpus.jsonl").is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Reads one collection. Questions without a judgement are left out.
pub(crate) fn load(folder: &Path, name: &str) -> Result<JudgedSet> {
    let folder = folder.join(name);
    let mut rows = Vec::new();
    let mut row_of = HashMap::new();
    for value in read_lines(&folder.join("corpus.jsonl"))? {
        row_of.insert(text_of(&value, "_id")?, u32::try_from(rows.len())?);
        rows.push(Row {
            title: value["title"].as_str().unwrap_or_default().to_owned(),
            text: text_of(&value, "text")?,
        });
    }
    let judgements = read_judgements(&folder.join("qrels.tsv"), &row_of)?;
    let mut questions = Vec::new();
    for value in read_lines(&folder.join("queries.jsonl"))? {
        let id = text_of(&value, "_id")?;
        if let Some(judgements) = judgements.get(&id) {
            let text = text_of(&value, "text")?;
            questions.push(Question {
                id,
                text,
                judgements: judgements.clone(),
            });
        }
    }
    Ok(JudgedSet {
        name: name.to_owned(),
        folder,
        rows,
        questions,
    })
}

/// Lines of JSON, split at line feeds only: texts may hold other line separators.
pub(crate) fn read_lines(path: &Path) -> Result<Vec<Value>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse_lines(&text).with_context(|| format!("{} is not lines of JSON", path.display()))
}

/// As [`read_lines`], from text.
pub(crate) fn parse_lines(text: &str) -> Result<Vec<Value>> {
    text.split('\n')
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).map_err(Into::into))
        .collect()
}

/// A field that must be text.
pub(crate) fn text_of(value: &Value, field: &str) -> Result<String> {
    let text = value[field]
        .as_str()
        .ok_or_else(|| anyhow!("no text in field {field:?}"))?;
    Ok(text.to_owned())
}

fn read_judgements(
    path: &Path,
    row_of: &HashMap<String, u32>,
) -> Result<HashMap<String, Judgements>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut judgements: HashMap<String, Judgements> = HashMap::new();
    for line in text.lines().skip(1).filter(|line| !line.is_empty()) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [question, row, gain] = fields[..] else {
            return Err(anyhow!("{}: not three columns: {line:?}", path.display()));
        };
        let gain: f64 = gain.trim().parse()?;
        judgements
            .entry(question.to_owned())
            .or_default()
            .add(row_of.get(row).copied(), gain);
    }
    Ok(judgements)
}

/// File type, language and class of the rows of a collection, or of a file, by its extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    file_type: &'static str,
    language: &'static str,
    class: Class,
}

const PROSE: Kind = Kind {
    file_type: "text",
    language: "",
    class: Class::Doc,
};

const fn code(language: &'static str) -> Kind {
    Kind {
        file_type: language,
        language,
        class: Class::Code,
    }
}

/// Kind of a file by its name; prose when the extension says nothing.
pub(crate) fn kind_of_path(path: &str) -> Kind {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "py" => code("python"),
        "rs" => code("rust"),
        "go" => code("go"),
        "java" => code("java"),
        "js" | "mjs" | "cjs" | "jsx" => code("javascript"),
        "ts" | "tsx" => code("typescript"),
        "sh" | "bash" => code("shell"),
        "md" => Kind {
            file_type: "markdown",
            language: "",
            class: Class::Doc,
        },
        _ => PROSE,
    }
}

/// Kind of a row: what its title says if that is a path, else what the collection holds.
pub(crate) fn kind_of_row(set: &str, title: &str, text: &str) -> Kind {
    match kind_of_path(title) {
        PROSE => match set {
            "code-go" => code("go"),
            "code-java" => code("java"),
            "code-js" => code("javascript"),
            "code-python" => code("python"),
            "cookbook-code" => code(language_of_text(text)),
            "code-rust" => code("rust"),
            "nl2bash" => code("shell"),
            _ => PROSE,
        },
        kind => kind,
    }
}

/// The language of a row of a collection whose files have several and whose rows have no names, by words that only
/// that language has: the collection `cookbook-code` has files in five.
fn language_of_text(text: &str) -> &'static str {
    let begins = |words: &[&str]| {
        let mut lines = text.lines().map(str::trim_start);
        lines.any(|line| words.iter().any(|word| line.starts_with(word)))
    };
    let ends = |line: &str| line.trim_end().ends_with(';');
    let is_package = |line: &&str| line.starts_with("package ");
    let package = text.lines().find(is_package);
    if begins(&["#include", "namespace ", "template <", "template<"]) {
        "cpp"
    } else if package.is_some_and(ends) || begins(&["import java", "public class ", "@Override"]) {
        "java"
    } else if package.is_some() || begins(&["func "]) {
        "go"
    } else if begins(&["use ", "fn ", "pub ", "impl ", "impl<", "let ", "mod "]) {
        "rust"
    } else if begins(&["def ", "class ", "from ", "import "]) {
        "python"
    } else {
        "java"
    }
}

/// A document of that kind: a program with its symbols, as that of a file; else one without outline.
pub(crate) fn document(path: String, title: &str, text: &str, kind: Kind) -> Document {
    let ending = match kind.language {
        "python" => "py",
        "rust" => "rs",
        "javascript" => "js",
        "typescript" => "ts",
        "bash" | "shell" => "sh",
        other => other,
    };
    if kind.class == Class::Code {
        let parsed = Extraction::InProcess.extract(&format!("row.{ending}"), text.as_bytes());
        if let Ok(parsed) = parsed
            && parsed.text == text
        {
            return Document {
                path,
                title: title.to_owned(),
                class: kind.class,
                ..parsed
            };
        }
    }
    Document {
        path,
        title: title.to_owned(),
        file_type: kind.file_type.to_owned(),
        language: kind.language.to_owned(),
        class: kind.class,
        text: text.to_owned(),
        outline: Vec::new(),
        line_numbers: Vec::new(),
        parts: Vec::new(),
        metadata: Vec::new(),
        syntax: Syntax::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collection_is_read_with_its_judgements() {
        let folder = tempfile::tempdir().unwrap();
        let set = folder.path().join("small");
        fs::create_dir(&set).unwrap();
        let corpus = "{\"_id\":\"a\",\"title\":\"T\",\"text\":\"one\u{2028}line\"}\n\
                      {\"_id\":\"b\",\"text\":\"two\"}\n";
        fs::write(set.join("corpus.jsonl"), corpus).unwrap();
        let queries = "{\"_id\":\"q1\",\"text\":\"ask\"}\n{\"_id\":\"q2\",\"text\":\"unjudged\"}\n";
        fs::write(set.join("queries.jsonl"), queries).unwrap();
        let judged = "query-id\tcorpus-id\tscore\nq1\tb\t2\nq1\tgone\t1\n";
        fs::write(set.join("qrels.tsv"), judged).unwrap();

        assert_eq!(names(folder.path()).unwrap(), ["small"]);
        let loaded = load(folder.path(), "small").unwrap();
        assert_eq!(loaded.rows.len(), 2);
        assert_eq!(loaded.rows[0].text, "one\u{2028}line");
        assert_eq!(loaded.rows[1].title, "");
        assert_eq!(loaded.questions.len(), 1);
        assert_eq!(loaded.questions[0].judgements.recall(&[1], 10), 0.5);
    }

    #[test]
    fn a_row_takes_its_language_from_its_title_or_its_collection() {
        assert_eq!(kind_of_row("commits", "tokio/src/lib.rs", ""), code("rust"));
        assert_eq!(
            kind_of_row("code-js", "typeorm/src/find.ts", ""),
            code("typescript")
        );
        assert_eq!(kind_of_row("nl2bash", "", ""), code("shell"));
        assert_eq!(kind_of_row("scifact", "On the length of 3.5 km", ""), PROSE);
    }
}
