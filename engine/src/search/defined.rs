//! The chunks that define the name that a query asks for, by the symbols of the file.

use kb_types::NamePattern;
use kb_types::error::Result;
use roaring::RoaringBitmap;

use crate::index::keyword::{SymbolTerm, searched_names};
use crate::search::filter::symbol_name::SymbolName;
use crate::search::filter::symbols::WantedSymbols;
use crate::search::query::intent::Intent;
use crate::search::query::two_phase::TwoPhaseFilter;
use crate::search::sources::{ChunkAddress, Sources};

/// Most chunks with definitions of the name that come first. As many as texts are read of them.
pub(crate) const LIMIT: usize = 64;

/// Words that ask for a definition.
const CUES: [&str; 26] = [
    "where",
    "defined",
    "declared",
    "implemented",
    "definition",
    "declaration",
    "implementation",
    "define",
    "defines",
    "class",
    "function",
    "method",
    "struct",
    "enum",
    "trait",
    "interface",
    "macro",
    "constant",
    "module",
    "type",
    "def",
    "fn",
    "field",
    "attribute",
    "property",
    "variant",
];

/// Words that may stand beside them.
const FILLERS: [&str; 9] = ["is", "are", "was", "the", "a", "an", "of", "in", "find"];

/// The name that a query asks for, and the rows in which a symbol of that name begins.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    /// As it stands in the query.
    name: Option<String>,
    /// The symbols of the name.
    symbol: Option<SymbolName>,
    /// By position of the segment.
    rows: Vec<RoaringBitmap>,
}

impl Definitions {
    /// Nothing where the query asks for no name, or no symbol has it. A look-up a segment; for a name with what holds
    /// it, as `Runtime::spawn`, also the symbols of the documents that have the last part of the name. A name that is
    /// all of the query is found by its last part where nothing has all of it. Fields count where nothing else has the
    /// name and the query cannot mean a word of prose: it has the type before the name, or asks for a definition, or the
    /// name is written as no word is.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    pub(crate) fn find(query: &str, intent: &Intent, sources: &Sources<'_>) -> Result<Definitions> {
        let asked = asked_name(query);
        let Some(name) = asked.or_else(|| called_name(intent)) else {
            return Ok(Definitions::default());
        };
        let Ok(symbol) = SymbolName::new("query", name) else {
            return Ok(Definitions::default());
        };
        if symbol.has_holders() {
            let held = rows_of(
                &symbol,
                &[SymbolTerm::Definition, SymbolTerm::Field],
                sources,
            )?;
            if held.iter().any(|rows| !rows.is_empty()) {
                return Ok(Definitions {
                    name: Some(name.to_owned()),
                    symbol: Some(symbol),
                    rows: held,
                });
            }
            if asked.is_none() {
                return Ok(Definitions::default());
            }
        }
        let may_be_field = is_unlike_a_word(name) || name.len() < query.trim().len();
        let terms = [SymbolTerm::Definition, SymbolTerm::Field];
        let terms = terms.into_iter().take(1 + usize::from(may_be_field));
        for term in terms {
            for name in searched_names(name.split('(').next().unwrap_or(name)) {
                let Some(pattern) = NamePattern::new(name).filter(NamePattern::is_name) else {
                    continue;
                };
                let symbol = SymbolName::of_pattern(pattern);
                let rows = rows_of(&symbol, &[term], sources)?;
                if rows.iter().any(|rows| !rows.is_empty()) {
                    return Ok(Definitions {
                        name: Some(name.to_owned()),
                        symbol: Some(symbol),
                        rows,
                    });
                }
            }
        }
        Ok(Definitions::default())
    }

    /// The name as it stands in the query; `None` where nothing defines it.
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The name without what holds it, as it stands in a definition.
    pub(crate) fn own_name(&self) -> Option<&str> {
        let name = self.name.as_deref()?;
        let name = name.split_once('(').map_or(name, |(name, _)| name);
        searched_names(name).last()
    }

    /// The symbols of the name.
    pub(crate) fn wanted(&self) -> Option<WantedSymbols> {
        self.symbol.clone().map(WantedSymbols::of_name)
    }

    /// Whether a symbol of the name begins in a chunk.
    pub(crate) fn has(&self, address: ChunkAddress) -> bool {
        let rows = self.rows.get(address.segment);
        rows.is_some_and(|rows| rows.contains(address.row))
    }

    /// Up to [`LIMIT`] of these chunks that pass a filter.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    pub(crate) fn chunks(&self, filter: &mut TwoPhaseFilter<'_>) -> Result<Vec<ChunkAddress>> {
        let all = self.rows.iter().enumerate().flat_map(|(segment, rows)| {
            let rows = rows.iter();
            rows.map(move |row| ChunkAddress { segment, row })
        });
        let passes = |address: &ChunkAddress| {
            let rows = filter.rows(address.segment);
            rows.is_none_or(|rows| rows.contains(address.row))
        };
        let mut chunks: Vec<ChunkAddress> = all.filter(passes).take(LIMIT).collect();
        filter.verify(chunks.iter().copied())?;
        chunks.retain(|address| filter.is_verified(*address));
        Ok(chunks)
    }
}

/// Whether a name is written as no word of prose is: `max_age`, `maxAge`, `MaxHeaderBytes`.
fn is_unlike_a_word(name: &str) -> bool {
    let inner = || name.chars().skip(1);
    name.contains('_') || (inner().any(char::is_uppercase) && name.chars().any(char::is_lowercase))
}

/// The rows of all segments in which a symbol begins that has the name, by terms of these kinds.
fn rows_of(
    name: &SymbolName,
    terms: &[SymbolTerm],
    sources: &Sources<'_>,
) -> Result<Vec<RoaringBitmap>> {
    let wanted = WantedSymbols::of_name(name.clone());
    let mut rows = Vec::with_capacity(sources.segments.len());
    for (position, bound) in sources.segments.iter().enumerate() {
        sources.tick()?;
        let mut of_segment = RoaringBitmap::new();
        for pattern in name.patterns().filter(|pattern| pattern.is_name()) {
            for term in terms {
                of_segment |= bound.keyword_index()?.rows_of_symbols(*term, pattern)?;
            }
        }
        if let Some(deleted) = bound.segment.deleted_rows() {
            of_segment -= deleted;
        }
        if name.has_holders() && !of_segment.is_empty() {
            let source = sources.source(sources.file_of(position))?;
            of_segment &= wanted.rows_of_documents(source, bound, &of_segment)?;
        }
        rows.push(of_segment);
    }
    Ok(rows)
}

/// The one name of a question that is written as that of a symbol with what holds it, or with arguments:
/// `Runtime::spawn`, `parse_config()`.
fn called_name(intent: &Intent) -> Option<&str> {
    let mut called = intent.called.iter();
    let name = called.next()?;
    called.next().is_none().then_some(name.as_str())
}

/// The one name of a query that is a name, or that asks for a definition: "where is url_for defined".
fn asked_name(query: &str) -> Option<&str> {
    let is_outside = |c: char| !c.is_alphanumeric() && c != '_' && c != '$';
    let words = || {
        let words = query.split_whitespace();
        words
            .map(|word| word.trim_matches(is_outside))
            .filter(|word| !word.is_empty())
    };
    let has = |list: &[&str], word: &str| list.iter().any(|of| of.eq_ignore_ascii_case(word));
    let mut all = words();
    if let (Some(only), None) = (all.next(), all.next()) {
        return Some(only);
    }
    let mut names = words().filter(|word| !has(&CUES, word) && !has(&FILLERS, word));
    let name = names.next()?;
    let asks = words().any(|word| has(&CUES, word));
    (asks && names.next().is_none()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kb::{Kb, KbWriter};
    use crate::search::{Mode, Request, Show};

    #[test]
    fn a_question_for_a_definition_has_one_name() {
        for (query, name) in [
            ("url_for", Some("url_for")),
            ("`Flask.url_for()`", Some("Flask.url_for")),
            ("type", Some("type")),
            ("where is url_for defined?", Some("url_for")),
            ("Definition of JsonReader", Some("JsonReader")),
            ("class Response", Some("Response")),
            ("where is login validated", None),
            ("tests of Response", None),
            ("what is retry", None),
            ("where is the class", None),
            ("", None),
        ] {
            assert_eq!(asked_name(query), name, "{query}");
        }
    }

    /// A function that two hundred others mention more densely than its definition does.
    fn kb() -> (tempfile::TempDir, Kb) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let body = "    adapter = current.adapter or request.adapter\n".repeat(12);
        let definition = format!("def url_for(endpoint, **values):\n{body}");
        writer
            .add_bytes("src/helpers.py", definition.as_bytes())
            .unwrap();
        for number in 0..200 {
            let text = format!("def page_{number}():\n    return url_for(url_for(url_for))\n");
            let name = format!("src/url_for/url_for_{number}.py");
            writer.add_bytes(&name, text.as_bytes()).unwrap();
        }
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        (folder, kb)
    }

    #[test]
    fn a_definition_comes_before_all_that_use_it() {
        let (_folder, kb) = kb();
        for mode in [Mode::Hybrid, Mode::Keyword] {
            for query in ["url_for", "URL_FOR", "where is url_for defined"] {
                let request = Request::new(query).mode(mode).explain(true);
                let found = kb.search(&request).unwrap();
                assert_eq!(found.hits[0].document, "src/helpers.py", "{query} {mode:?}");
                let explanation = found.explanation.unwrap();
                let name = query.split(' ').find(|word| word.contains('_'));
                assert_eq!(explanation.definition_of.as_deref(), name);
            }
        }
        let other = kb.search(&Request::new("url_for adapter").explain(true));
        assert_eq!(other.unwrap().explanation.unwrap().definition_of, None);
    }

    #[test]
    fn a_name_with_what_holds_it_is_not_that_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let method = |of: &str| {
            format!("class {of}:\n    def spawn(self, task):\n        return task.spawn(self)\n")
        };
        for of in ["Pool", "Runtime", "Thread"] {
            let name = format!("{of}.py").to_lowercase();
            writer.add_bytes(&name, method(of).as_bytes()).unwrap();
        }
        let uses = "# Tasks\n\nRuntime.spawn starts a task; Runtime.spawn puts the task last.\n";
        writer.add_bytes("tasks.md", uses.as_bytes()).unwrap();
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        for (query, name) in [
            ("Runtime.spawn", "Runtime.spawn"),
            ("where is Runtime::spawn defined", "Runtime::spawn"),
            ("where does Runtime.spawn put the task?", "Runtime.spawn"),
            (
                "why does `Runtime#spawn()` put the task last",
                "Runtime#spawn",
            ),
        ] {
            let found = kb.search(&Request::new(query).explain(true)).unwrap();
            assert_eq!(found.hits[0].document, "runtime.py", "{query}");
            let name = Some(name);
            assert_eq!(found.explanation.unwrap().definition_of.as_deref(), name);
        }
        // A question that nothing of this name answers, and a word of a question.
        for query in [
            "why is Queue.spawn slow?",
            "how does spawn put the task last",
        ] {
            let found = kb.search(&Request::new(query).explain(true)).unwrap();
            assert_eq!(found.explanation.unwrap().definition_of, None, "{query}");
        }
    }

    #[test]
    fn receivers_and_objects_hold_their_functions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let body = "\tspawn(Runtime.spawn, Runtime)\n".repeat(9);
        for of in ["Pool", "Runtime"] {
            let go = format!("package a\n\nfunc (r *{of}) Spawn(t Task) {{\n{body}}}\n");
            let js = format!("{of}.prototype.close = function (task) {{\n{body}}};\n");
            let name = of.to_lowercase();
            writer
                .add_bytes(&format!("{name}.go"), go.as_bytes())
                .unwrap();
            writer
                .add_bytes(&format!("{name}.js"), js.as_bytes())
                .unwrap();
        }
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        for (query, document, line) in [
            ("Runtime.Spawn", "runtime.go", "func (r *Runtime) Spawn"),
            (
                "where is Runtime::Spawn defined",
                "runtime.go",
                "func (r *Runtime) Spawn",
            ),
            ("Runtime.close", "runtime.js", "Runtime.prototype.close ="),
            (
                "Pool.prototype.close()",
                "pool.js",
                "Pool.prototype.close =",
            ),
        ] {
            let found = kb.search(&Request::new(query).explain(true)).unwrap();
            let hit = &found.hits[0];
            assert_eq!(hit.document, document, "{query}");
            assert!(hit.text[hit.snippet.clone()].contains(line), "{query}");
            let symbol = hit.bonuses.iter().find(|bonus| bonus.name == "symbol");
            assert_eq!(symbol.unwrap().value, 1.0, "{query}");
        }
    }

    #[test]
    fn a_field_is_a_definition_where_the_query_means_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let config = format!(
            "pub struct Config {{\n{}    pub max_age: u32,\n    pub timeout: u32,\n    pub retry_all: u32,\n}}\n",
            "    // Of a server.\n".repeat(9)
        );
        writer.add_bytes("config.rs", config.as_bytes()).unwrap();
        for number in 0..30 {
            let uses = "    config.max_age + config.timeout + config.retry_all\n".repeat(4);
            let text = format!("fn age_{number}() -> u32 {{\n{uses}}}\n");
            writer
                .add_bytes(&format!("age_{number}.rs"), text.as_bytes())
                .unwrap();
        }
        let function = "fn retry_all() {\n    config.retry_all\n}\n";
        writer.add_bytes("retry.rs", function.as_bytes()).unwrap();
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        for (query, name, document) in [
            ("max_age", Some("max_age"), "config.rs"),
            ("Config.timeout", Some("Config.timeout"), "config.rs"),
            ("where is timeout defined", Some("timeout"), "config.rs"),
            // A word alone, and a name that something else has.
            ("timeout", None, ""),
            ("retry_all", Some("retry_all"), "retry.rs"),
        ] {
            let found = kb.search(&Request::new(query).explain(true)).unwrap();
            let explanation = found.explanation.unwrap();
            assert_eq!(explanation.definition_of.as_deref(), name, "{query}");
            if name.is_some() {
                assert_eq!(found.hits[0].document, document, "{query}");
            }
        }
    }

    #[test]
    fn the_line_of_a_definition_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let doc =
            "    Calls url_for of the app: url_for makes a url, and url_for knows it.\n".repeat(8);
        let text = format!(
            "import os\n\ndef url_for(endpoint):\n    \"\"\"\n{doc}    \"\"\"\n    return endpoint\n"
        );
        writer.add_bytes("a.py", text.as_bytes()).unwrap();
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        for query in ["url_for", "where is url_for defined"] {
            let found = kb
                .search(&Request::new(query).show(Show::lines(4)))
                .unwrap();
            let hit = &found.hits[0];
            assert!(
                hit.text.contains("def url_for(endpoint)"),
                "{query}: {}",
                hit.text
            );
            assert!(hit.text[hit.snippet.clone()].contains("def url_for"));
        }
    }

    #[test]
    fn a_definition_that_is_gone_is_not_found() {
        let (folder, _kb) = kb();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        writer.remove("src/helpers.py").unwrap();
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        let found = kb.search(&Request::new("url_for").explain(true)).unwrap();
        assert!(
            found
                .hits
                .iter()
                .all(|hit| hit.document != "src/helpers.py")
        );
        assert_eq!(found.explanation.unwrap().definition_of, None);
    }
}
