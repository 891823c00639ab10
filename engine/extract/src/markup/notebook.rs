//! Jupyter notebooks: the cells as Markdown, in their order. Code stands in fences that name its language, and what
//! it printed in fences named `output`; pictures are left out. Line numbers are those of this text: the lines of the
//! file itself are JSON.

use kb_types::file_types::{self, UNKNOWN, canonical_language};

use crate::code;
use crate::extracted::Extracted;
use crate::markup::data_uris::without_base64;
use crate::markup::front_matter::add_tags;
use crate::markup::notebook_json::{
    Author, Cell, Kernel, Metadata, Notebook, Object, Output, Words, cells,
};
use crate::markup::{html, markdown};
use crate::skip_reason::SkipReason;
use crate::tags;
use crate::text_builder::TextBuilder;

/// Bytes of the outputs of one cell that are kept, about three chunks: enough to find a cell by what it printed,
/// and logs do not outweigh the text.
const MAX_OUTPUT_BYTES: usize = 4096;

/// Reads a notebook. What is none, such as one with the marks of a merge conflict, is kept as the text that it is.
///
/// # Errors
/// [`SkipReason::TooLong`]; [`SkipReason::MachineMade`] for what is none and holds pictures.
pub(crate) fn extract(source: &str) -> Result<Extracted, SkipReason> {
    if let Some(extracted) = read(source)? {
        return Ok(extracted);
    }
    code::is_machine_made(source, file_types::from_type("json").unwrap_or(UNKNOWN))?;
    Ok(Extracted::default())
}

fn read(source: &str) -> Result<Option<Extracted>, SkipReason> {
    let Ok(Notebook { nbformat, metadata }) = serde_json::from_str(source) else {
        return Ok(None);
    };
    if nbformat.0 == 0 {
        return Ok(None);
    }
    let Metadata {
        title,
        authors,
        kernelspec: Object(kernel),
        language_info,
    } = metadata.0;
    let mut notebook = Text {
        builder: TextBuilder::new(),
        language: first_of([&language_info.0.name, &kernel.language, &Words::default()]),
        cells: 0,
    };
    let found = notebook.builder.found();
    found.title = (!title.0.trim().is_empty()).then_some(title.0);
    let names = authors.0.into_iter().map(|Object(Author { name })| name.0);
    let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
    found.add_metadata("author", &names.join(", "));
    let Kernel {
        display_name, name, ..
    } = &kernel;
    found.add_metadata("kernel", &first_of([display_name, name, &kernel.language]));
    // The metadata of the whole was read, so this is JSON all the way.
    if cells(source, |cell| notebook.add_cell(cell)).is_err() {
        return Ok(None);
    }
    let language = canonical_language(
        notebook
            .language
            .trim_end_matches(|c: char| c.is_ascii_digit()),
    );
    let mut extracted = notebook.builder.finish()?;
    extracted.language = language;
    Ok(Some(extracted))
}

fn first_of(words: [&Words; 3]) -> String {
    let mut words = words.into_iter().map(|words| words.0.trim());
    words
        .find(|words| !words.is_empty())
        .unwrap_or_default()
        .to_owned()
}

struct Text {
    builder: TextBuilder,
    /// The language of code cells, as the notebook calls it.
    language: String,
    cells: usize,
}

impl Text {
    /// Appends a cell; whether there is room for more.
    fn add_cell(&mut self, cell: Cell) -> bool {
        self.cells += 1;
        let source = cell.source.0;
        match cell.cell_type.0.as_str() {
            "markdown" => self.add_markdown(&source),
            // Front matter, for programs that publish notebooks.
            "raw" if self.cells == 1 => self.add_markdown(&source),
            "heading" => {
                let level = usize::try_from(cell.level.0).unwrap_or(1);
                self.builder.heading(level, source.trim());
            }
            "code" => {
                let input = cell.input.0;
                if self.language.is_empty() {
                    self.language = cell.language.0;
                }
                let code = if source.is_empty() { input } else { source };
                let language: String = self.language.to_lowercase();
                self.add_fenced(&language.replace(char::is_whitespace, "-"), &code);
                let outputs = cell.outputs.0;
                self.add_outputs(outputs.into_iter().map(|Object(output)| output));
            }
            _ => self.builder.paragraph(&source),
        }
        !self.builder.is_full()
    }

    fn add_markdown(&mut self, source: &str) {
        let text = without_base64(source, 0);
        let text = text.trim_matches('\n').trim_end();
        let (start, line) = (self.builder.len(), self.builder.line());
        let Extracted {
            title,
            outline,
            metadata,
            ..
        } = markdown::extract(text);
        let found = self.builder.found();
        for heading in outline {
            let line = line.saturating_add(heading.line.saturating_sub(1));
            let start = start.saturating_add(heading.start as usize);
            found.add_heading(usize::from(heading.level), &heading.title, start, line);
        }
        for (key, value) in metadata {
            if key == tags::KEY {
                add_tags(found, &value.split(',').collect::<Vec<_>>());
            } else {
                found.add_metadata(&key, &value);
            }
        }
        found.title = found.title.take().or(title);
        if !text.is_empty() {
            self.builder.lines(text);
            self.builder.lines("\n");
        }
    }

    fn add_fenced(&mut self, language: &str, text: &str) {
        let text = text.trim_matches('\n').trim_end();
        if text.is_empty() {
            return;
        }
        // Longer than any run of marks that begins a line inside.
        let marks = |line: &str| line.len() - line.trim_start_matches('`').len();
        let longest = text.lines().map(|line| marks(line.trim_start())).max();
        let fence = "`".repeat(longest.unwrap_or(0).saturating_add(1).max(3));
        self.builder
            .lines(&format!("{fence}{language}\n{text}\n{fence}\n\n"));
    }

    fn add_outputs(&mut self, outputs: impl Iterator<Item = Output>) {
        let mut text = String::new();
        let mut left_out = 0;
        for output in outputs {
            let output = shown(output);
            let room = MAX_OUTPUT_BYTES.saturating_sub(text.len());
            let kept = output
                .get(..output.floor_char_boundary(room))
                .unwrap_or_default();
            left_out += output.len() - kept.len();
            text.push_str(kept);
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
        }
        if left_out > 0 {
            text.push_str(&format!("[{left_out} more bytes of output]\n"));
        }
        self.add_fenced("output", &text);
    }
}

/// An output as text.
fn shown(output: Output) -> String {
    if !output.ename.0.is_empty() {
        return format!("{}: {}", output.ename.0, as_printed(&output.evalue.0));
    }
    if output.is_picture() {
        return String::new();
    }
    let bundle = output.data.0;
    let texts = [bundle.markdown, bundle.plain, output.text];
    if let Some(Words(text)) = texts.into_iter().find(|text| !text.0.trim().is_empty()) {
        return as_printed(&without_base64(&text, 0));
    }
    let page = if bundle.html.0.is_empty() {
        output.html.0
    } else {
        bundle.html.0
    };
    html::extract(&page).text.unwrap_or_default()
}

/// What a terminal shows of a text: without escape sequences, each line as it was last overwritten.
fn as_printed(text: &str) -> String {
    let mut printed = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (words, end) = match line.strip_suffix('\n') {
            Some(words) => (words, "\n"),
            None => (line, ""),
        };
        let words = words.trim_end_matches('\r');
        let last = words.rsplit('\r').next().unwrap_or(words);
        let mut pieces = last.split('\u{1b}');
        printed.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            // `[`, parameters, one letter.
            let sequence = piece.strip_prefix('[').unwrap_or(piece);
            let parameters = sequence.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
            let mut rest = parameters.chars();
            rest.next();
            printed.push_str(rest.as_str());
        }
        printed.push_str(end);
    }
    printed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text_of(source: &str) -> Extracted {
        extract(source).unwrap()
    }

    const NOTEBOOK: &str = r##"{"cells": [
        {"cell_type": "raw", "source": "---\ntitle: Tides\n---"},
        {"cell_type": "markdown", "source": ["# Height\n", "\n", "Words ![p](data:image/png;base64,AAAA+/==) on\n"],
         "attachments": {"a.png": {"image/png": "QUFBQQ=="}}},
        {"cell_type": "code", "source": ["x = 1\n", "print(x)"], "outputs": [
          {"output_type": "stream", "name": "stdout", "text": ["10%\r100%\n", "\u001b[31mred\u001b[0m\n"]},
          {"output_type": "display_data", "data": {"image/png": "QUFBQQ==", "text/plain": "<Figure>"}},
          {"output_type": "execute_result", "data": {"text/html": "<b>h</b>", "text/plain": ["a  b"]}},
          {"output_type": "display_data", "data": {"text/html": ["<p>page</p>"]}},
          {"output_type": "error", "ename": "KeyError", "evalue": "'k'", "traceback": ["long"]}]},
        {"cell_type": "code", "source": "", "outputs": []},
        {"cell_type": "markdown", "source": "text\n\n## Inner"},
        {"cell_type": "code", "source": "```\n", "outputs": [{"text": 5}, null, "odd"], "metadata": []}
        ],
        "metadata": {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
          "language_info": {"name": "python", "version": "3.12"}, "authors": [{"name": "Ada"}, {"name": "B"}]},
        "nbformat": 4, "nbformat_minor": 5}"##;

    #[test]
    fn cells_become_markdown_with_headings_and_outputs() {
        let found = text_of(NOTEBOOK);
        let text = found.text.unwrap();
        assert_eq!(
            text,
            "---\ntitle: Tides\n---\n\n# Height\n\nWords ![p](data:image/png;base64,) on\n\n\
             ```python\nx = 1\nprint(x)\n```\n\n```output\n100%\nred\na  b\npage\nKeyError: 'k'\n```\n\n\
             text\n\n## Inner\n\n````python\n```\n````\n\n"
        );
        let outline: Vec<(u8, &str, u32)> = found
            .outline
            .iter()
            .map(|heading| (heading.level, heading.title.as_str(), heading.line))
            .collect();
        assert_eq!(outline, [(1, "Height", 5), (2, "Inner", 24)]);
        for (heading, start) in found.outline.iter().zip(["# Height", "## Inner"]) {
            assert!(text[heading.start as usize..].starts_with(start));
            assert_eq!(text.lines().nth(heading.line as usize - 1), Some(start));
        }
        assert_eq!(found.title.as_deref(), Some("Tides"));
        assert_eq!(found.language, Some("python"));
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let expected = [
            pair("author", "Ada, B"),
            pair("kernel", "Python 3 (ipykernel)"),
        ];
        assert_eq!(found.metadata, expected);
    }

    #[test]
    fn notebooks_of_the_old_format_are_read() {
        let source = r#"{"metadata": {"name": "n"}, "nbformat": 3, "worksheets": [{"cells": [
            {"cell_type": "heading", "level": 2, "source": ["Old"]},
            {"cell_type": "code", "language": "python", "input": ["1 + 1"],
             "outputs": [{"output_type": "pyout", "text": ["2"]}, {"png": "QQ==", "text": "<Figure>"}]}]}]}"#;
        let found = text_of(source);
        assert_eq!(
            found.text.as_deref(),
            Some("Old\n\n```python\n1 + 1\n```\n\n```output\n2\n```\n\n")
        );
        assert_eq!(found.outline.len(), 1);
        assert_eq!(found.outline[0].level, 2);
    }

    #[test]
    fn long_output_is_cut_and_says_so() {
        let output = "line of a log\n".repeat(1000);
        let source = serde_json::json!({"nbformat": 4, "cells": [{"cell_type": "code", "source": "x",
            "outputs": [{"text": output}, {"text": output}]}]});
        let text = text_of(&source.to_string()).text.unwrap();
        assert!(text.len() < MAX_OUTPUT_BYTES + 100, "{}", text.len());
        assert!(text.contains("more bytes of output]\n```"), "{text}");
    }

    #[test]
    fn what_is_no_notebook_is_left_to_others() {
        let deep = format!("{{\"nbformat\": 4, \"cells\": {}", "[".repeat(300_000));
        let cut = NOTEBOOK.get(..NOTEBOOK.len() / 2).unwrap();
        let conflict = NOTEBOOK.replace("\"nbformat\"", "<<<<<<< HEAD\n\"nbformat\"");
        for source in [
            "",
            "{}",
            "[]",
            "text",
            "{\"cells\": []}",
            &deep,
            cut,
            &conflict,
        ] {
            assert!(read(source).unwrap().is_none());
        }
        // Odd values lose no more than themselves.
        let odd = r#"{"nbformat": 4, "metadata": 5, "cells": [7, [], {"cell_type": "markdown", "source": {"a": 1}},
            {"cell_type": "markdown", "source": ["kept", 5, ["too"]]}]}"#;
        assert_eq!(text_of(odd).text.as_deref(), Some("kepttoo\n\n"));
    }

    proptest! {
        #[test]
        fn any_json_gives_a_document_or_a_reason(
            pieces in prop::collection::vec(
                prop_oneof![
                    Just("{\"cell_type\": \"code\", \"source\": \"x\", \"outputs\": [{\"text\": ["),
                    Just("{\"cell_type\": \"markdown\", \"source\": [\"# a\", "),
                    Just("\"data:image/png;base64,AAAA\u{e9}\\u001b[3\", "),
                    Just("null, "),
                    Just("\"b\"]}, "),
                    Just("]}]}, "),
                ],
                0..12,
            ),
        ) {
            let source = format!("{{\"nbformat\": 4, \"cells\": [{}7]}}", pieces.concat());
            let found = text_of(&source);
            let text = found.text.unwrap_or(source);
            for heading in found.outline {
                prop_assert!(text[heading.start as usize..].starts_with("# a"));
            }
        }
    }
}
