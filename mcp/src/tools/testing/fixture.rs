//! A server's files in a folder of their own, for tests of tools. Every result is compared with the
//! published schema, and its two forms with each other.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use kb_engine::escape::{escape_line, escape_text};
use kb_engine::{
    Document, EmbedError, EmbedderResolver, Extraction, KbWriter, ModelCard, Progress,
    ReembedOptions, TextEmbedder,
};
use kb_types::embedding::toy::WordHashes;
use serde_json::Value;
use tempfile::TempDir;

use super::{parts, schema::violations};
use crate::indexes::{Index, Indexes};
use crate::options::{Options, StartError};
use crate::response::{Object, ToolError, ToolResponse};
use crate::tools::Call;

/// Knows one model.
#[derive(Debug)]
struct Toys(Arc<WordHashes>);

impl EmbedderResolver for Toys {
    fn find(&self, card: &ModelCard) -> Result<Arc<dyn TextEmbedder>, EmbedError> {
        let known = Arc::clone(&self.0);
        match known.card().is_same_model(card) {
            true => Ok(known),
            false => Err(EmbedError::Missing {
                what: card.location.clone(),
            }),
        }
    }
}

pub(in crate::tools) struct Fixture {
    folder: Arc<TempDir>,
    pub(in crate::tools) indexes: Arc<Indexes>,
}

impl Fixture {
    /// A writable server of one file with these documents.
    pub(in crate::tools) fn new(name: &str, documents: &[(&str, &str)]) -> Fixture {
        Fixture::of(&[(name, documents)], true)
    }

    pub(in crate::tools) fn of(files: &[(&str, &[(&str, &str)])], allow_write: bool) -> Fixture {
        // The program of a test is no worker.
        Extraction::InProcess.install_default();
        let folder = tempfile::tempdir().unwrap();
        let mut written = Vec::new();
        for (name, documents) in files {
            let path = folder.path().join(format!("{name}.kb"));
            let mut writer = KbWriter::open_or_create(&path).unwrap();
            for (path, text) in *documents {
                writer.add_bytes(path, text.as_bytes()).unwrap();
            }
            writer.commit().unwrap();
            written.push(((*name).to_owned(), path));
        }
        Fixture::with(Arc::new(folder), written, allow_write).unwrap()
    }

    /// Another server over the same files.
    pub(in crate::tools) fn started_again(&self) -> Fixture {
        let index = self.index();
        self.over(&[(index.name(), index.path().to_path_buf())])
            .unwrap()
    }

    /// Another server over files of this folder.
    pub(in crate::tools) fn over(&self, files: &[(&str, PathBuf)]) -> Result<Fixture, StartError> {
        let files = files.iter();
        let files = files.map(|(name, path)| ((*name).to_owned(), path.clone()));
        Fixture::with(Arc::clone(&self.folder), files.collect(), true)
    }

    fn with(
        folder: Arc<TempDir>,
        files: Vec<(String, PathBuf)>,
        allow_write: bool,
    ) -> Result<Fixture, StartError> {
        let indexes = opened(&folder, files, allow_write, 1)?;
        Ok(Fixture { folder, indexes })
    }

    /// The files of another server over this file, whose searches use this many threads.
    pub(in crate::tools) fn with_threads(&self, threads: usize) -> Arc<Indexes> {
        let index = self.index();
        let file = (index.name().to_owned(), index.path().to_path_buf());
        opened(&self.folder, vec![file], true, threads).unwrap()
    }

    /// Prose, logs and code about ships.
    pub(in crate::tools) fn guides() -> Fixture {
        let fixture = Fixture::new("guides", GUIDES);
        let tag = |writer: &mut KbWriter| {
            writer.tag("guides/sails.md", &["deck"], &[])?;
            writer.commit()
        };
        fixture.index().write(tag).unwrap();
        fixture
    }

    /// A spreadsheet, a document with pages, a presentation, and others with these texts.
    pub(in crate::tools) fn harbour(others: &[(&str, &str)]) -> Fixture {
        let fixture = Fixture::new("harbour", others);
        fixture.add_documents(vec![parts::ledger(), parts::pilot_book(), parts::talk()]);
        fixture
    }

    /// Adds documents as they are.
    pub(in crate::tools) fn add_documents(&self, documents: Vec<Document>) {
        let add = move |writer: &mut KbWriter| {
            for document in documents {
                writer.add(document)?;
            }
            writer.commit()
        };
        self.index().write(add).unwrap();
    }

    pub(in crate::tools) fn index(&self) -> Arc<Index> {
        Arc::clone(&self.indexes.list()[0])
    }

    pub(in crate::tools) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Fills a column with the vectors of a toy model. Only "words" is found again.
    pub(in crate::tools) fn embed(&self, model: &str) {
        kb_engine::install_models(Arc::new(Toys(Arc::new(WordHashes::new("words", 64)))));
        let model = WordHashes::new(model, 64);
        let embed = |writer: &mut KbWriter| {
            writer.reembed(&model, &ReembedOptions::new(), &mut Progress::ignore)
        };
        self.index().write(embed).unwrap();
    }

    /// Adds one more document.
    pub(in crate::tools) fn add(&self, path: &str, text: &str) {
        let add = |writer: &mut KbWriter| {
            writer.add_bytes(path, text.as_bytes())?;
            writer.commit()
        };
        self.index().write(add).unwrap();
    }

    pub(in crate::tools) fn call(
        &self,
        name: &str,
        arguments: Value,
    ) -> Result<ToolResponse, ToolError> {
        let Value::Object(arguments) = arguments else {
            panic!("{arguments}");
        };
        crate::tools::dispatch(Call {
            indexes: &self.indexes,
            name,
            arguments,
            may_write: true,
            cancel: &Arc::new(AtomicBool::new(false)),
            progress: &|_, _| {},
        })
    }

    pub(in crate::tools) fn error(&self, name: &str, arguments: Value) -> ToolError {
        match self.call(name, arguments) {
            Err(error) => error,
            Ok(answer) => panic!("{}", answer.text),
        }
    }

    /// The checked result of a call that succeeds.
    pub(in crate::tools) fn answer(&self, name: &str, arguments: Value) -> ToolResponse {
        let answer = match self.call(name, arguments) {
            Ok(answer) => answer,
            Err(error) => panic!("{name}: {}", error.text()),
        };
        let schema = &crate::tools::find(name).unwrap().published["outputSchema"];
        let wrong = violations(schema, &Value::Object(answer.structured.clone()));
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
        says_all(&answer.text, &answer.structured);
        answer
    }
}

fn opened(
    folder: &TempDir,
    files: Vec<(String, PathBuf)>,
    allow_write: bool,
    threads: usize,
) -> Result<Arc<Indexes>, StartError> {
    Indexes::open(&Options {
        command: "kb mcp",
        files,
        allow_write,
        allow_roots: vec![folder.path().to_path_buf()],
        tools: None,
        tool_prefix: None,
        threads,
        note: Arc::new(|_| {}),
        opened: None,
    })
}

/// Asserts that the text has every string and number of the structured form, passages with or without numbers
/// of their lines.
fn says_all(text: &str, structured: &Object) {
    let unnumbered: String = text.split_inclusive('\n').map(without_number).collect();
    for (key, value) in structured {
        says(&format!("{text}\n{unnumbered}"), key, value);
    }
}

/// A line without the number before it.
fn without_number(line: &str) -> &str {
    let rest = line.trim_start_matches(' ');
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.strip_prefix("  ").unwrap_or(rest)
}

fn says(text: &str, key: &str, value: &Value) {
    let is_said = match value {
        Value::String(word) => {
            let long = escape_text(word);
            let short = escape_line(word);
            text.contains(&*long) || text.contains(&*short)
        }
        // Times differ from call to call, and are for programs.
        Value::Number(_) if key == "searchTimeMs" => true,
        Value::Number(number) => says_number(text, &number.to_string()),
        Value::Array(items) => {
            items.iter().for_each(|item| says(text, key, item));
            true
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                says(text, key, value);
            }
            true
        }
        _ => true,
    };
    // Types, actions and the end of a list are said in other words.
    let is_said_otherwise = matches!(key, "type" | "id" | "has_more");
    assert!(
        is_said || is_said_otherwise,
        "{key} {value} is not in:\n{text}"
    );
}

/// Whether the text has a number, not only as digits of a longer one.
fn says_number(text: &str, number: &str) -> bool {
    text.match_indices(number).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + number.len()..]);
        let is_begun = before.ends_with(|c: char| c.is_ascii_digit() || c == '.');
        let fraction = after.strip_prefix('.').unwrap_or(after);
        !is_begun && !fraction.starts_with(|c: char| c.is_ascii_digit())
    })
}

#[test]
fn digits_of_a_longer_number_do_not_count() {
    says("of 10 there is 1", "count", &serde_json::json!(1));
    let result = std::panic::catch_unwind(|| says("10, 0.1", "count", &serde_json::json!(1)));
    result.unwrap_err();
}

const GUIDES: &[(&str, &str)] = &[
    (
        "guides/sails.md",
        "# Sails\n\nA ship under way carries several sails of heavy canvas, each with a name.\n\n\
         ## Mending\n\nTorn sails are mended with waxed thread: draw the thread through wax, sew flat \
         seams, and rub the seam with a rubber made of bone.\n\n\
         ## Storing\n\nWet sails rot. Dry them before they are folded and stored below the deck.\n",
    ),
    (
        "guides/ropes.md",
        "# Ropes\n\nEvery rope of a ship has a name and a place.\n\n## Knots\n\nThe bowline holds a \
         loop that does not slip; the reef knot ties two ends of one rope, as in sails that are reefed.\n\n\
         ## Splices\n\nA splice joins two ropes for ever by weaving their strands.\n",
    ),
    (
        "guides/food/bread.md",
        "# Bread\n\nShips carry hard bread, baked twice, that keeps for months.\n\n## Baking\n\nFlour, \
         water and a little salt; bake, rest, and bake again.\n",
    ),
    (
        "logs/voyage.txt",
        "Day 1: left the harbour with all sails set.\nDay 2: calm, no wind at all.\n\
         Day 3: storm, two sails lost.\n",
    ),
    (
        "guides/stars.md",
        "# Stars\n\nThe pole star stands over the north.\n",
    ),
    (
        "guides/flags.md",
        "# Flags\n\nEach letter has a flag of its own.\n",
    ),
    (
        "notes.md",
        "# Notes\n\nAsk the cook about bread.\n\nAsk the mate about the sails.\n",
    ),
    (
        "src/rig.rs",
        "//! The rig of a ship.\n\n/// Turns a sail to an angle against the wind.\npub fn trim_sail(angle: \
         f32) -> f32 {\n    angle.clamp(0.0, 90.0)\n}\n\n/// Takes in a reef.\npub fn reef(sails: u32) -> u32 \
         {\n    sails.saturating_sub(1)\n}\n",
    ),
    (
        "src/hoist.py",
        "\"\"\"Hoists sails.\"\"\"\n\n\ndef hoist(sail):\n    \"\"\"Pulls a sail up its mast.\"\"\"\n    \
         return sail.up()\n",
    ),
];
