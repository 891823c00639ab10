use kb_extract::extract;
use kb_types::{Part, PartContent, Slide};
use proptest::prelude::*;
use unicode_segmentation::GraphemeCursor;

use super::*;

#[cfg(unix)]
mod growth;
mod programs;
mod unparsed;

fn document(name: &str, text: &str) -> Document {
    extract(name, text.as_bytes()).unwrap()
}

fn pieces<'a>(text: &'a str, chunks: &[ChunkSpan]) -> Vec<&'a str> {
    let piece = |span: Span| &text[span.start as usize..span.end as usize];
    chunks.iter().map(|chunk| piece(chunk.span)).collect()
}

/// What holds for every document; returns the pieces of text.
fn checked(document: &Document) -> Vec<&str> {
    let chunks = chunk(document);
    let pieces = pieces(&document.text, &chunks);
    assert_eq!(pieces.concat(), document.text);
    for (chunk, piece) in chunks.iter().zip(&pieces) {
        assert!(
            !piece.is_empty() && piece.len() <= CAP_BYTES,
            "{} bytes",
            piece.len()
        );
        let before = &document.text[..chunk.span.start as usize];
        assert!(!(before.ends_with('\r') && piece.starts_with('\n')));
        if document.line_numbers.is_empty() {
            let first = before.matches('\n').count() as u32 + 1;
            let ends = piece
                .strip_suffix('\n')
                .unwrap_or(piece)
                .matches('\n')
                .count() as u32;
            let lines = Lines {
                first,
                last: first + ends,
            };
            assert_eq!(chunk.lines, lines);
        }
    }
    pieces
}

fn is_grapheme_boundary(text: &str, at: usize) -> bool {
    GraphemeCursor::new(at, text.len(), true)
        .is_boundary(text, 0)
        .unwrap()
}

#[test]
fn an_empty_text_has_no_chunks_and_a_short_one_has_one() {
    assert!(chunk(&document("a.txt", "")).is_empty());
    assert_eq!(checked(&document("a.txt", "word")), ["word"]);
    assert_eq!(checked(&document("a.txt", "\n")), ["\n"]);
}

#[test]
fn functions_are_cut_apart_and_keep_their_comments() {
    let mut text = String::from("use std::fmt;\n\n");
    for number in 0..40 {
        text.push_str(&format!(
            "/// Doc comment of item {number}, long enough to be words.\n#[inline]\n\
             pub fn item_{number}(input: &str) -> usize {{\n    let value = 1;\n\n    \
             if value > 3 {{\n        return value;\n    }}\n    value + {number}\n}}\n\n"
        ));
    }
    for piece in checked(&document("a.rs", &text)) {
        assert!(
            piece.starts_with("/// Doc") || piece.starts_with("use"),
            "{piece}"
        );
        assert!(piece.ends_with("}\n\n"), "{piece}");
        assert!(piece.len() > 700);
    }
}

#[test]
fn comments_and_decorators_stay_with_their_items() {
    let mut text = String::new();
    for number in 0..60 {
        let comment = format!("# Comment of item {number},\n# two lines of it.\n@decorated\n");
        let body = "    first()\n    second()\n    return third()\n";
        text.push_str(&format!("{comment}def item_{number}():\n{body}"));
    }
    for piece in checked(&document("a.py", &text)) {
        assert!(piece.starts_with("# Comment"), "{piece}");
        assert!(piece.ends_with("return third()\n"), "{piece}");
    }
}

#[test]
fn methods_of_one_long_class_are_cut_apart() {
    let mut text = String::from("class Thing:\n");
    for number in 0..40 {
        text.push_str(&format!(
            "    @property\n    def method_{number}(self):\n        value = self.v\n\n        \
             for part in value:\n            if part:\n                yield part\n            \
             else:\n                break\n        return None\n\n"
        ));
    }
    for piece in checked(&document("a.py", &text)).iter().skip(1) {
        assert!(piece.starts_with("    @property\n"), "{piece}");
    }
}

/// By their lines these would be cut at the blank lines inside of the functions.
#[cfg(feature = "grammar-rust")]
#[test]
fn a_symbol_that_fits_is_one_chunk_with_its_comment() {
    let statement = "    let value = compute(value);\n\nlet odd = 1;\n\n";
    let body = statement.repeat(26);
    let text: String = (0..12)
        .map(|number| format!("/// Item {number}.\n#[inline]\nfn item_{number}() {{\n{body}}}\n"))
        .collect();
    let document = document("a.rs", &text);
    let pieces = checked(&document);
    assert_eq!(pieces.len(), 12);
    for piece in pieces {
        assert!(piece.starts_with("/// Item"), "{piece}");
    }
    let mut by_lines = document;
    by_lines.syntax = kb_types::Syntax::default();
    let cut_inside = |piece: &&str| !piece.starts_with("/// Item");
    assert!(checked(&by_lines).iter().any(cut_inside));
}

/// A class that does not fit is cut between its methods, a method that does not between its statements.
#[cfg(feature = "grammar-python")]
#[test]
fn what_does_not_fit_is_cut_at_its_inner_nodes() {
    let short: String = (0..20)
        .map(|number| {
            format!(
                "    def short_{number}(self):\n        return \"\"\"\n{}\"\"\"\n",
                "text\n".repeat(40)
            )
        })
        .collect();
    let call = "        self.call(\n            first,\n            second,\n        )\n";
    let long = format!("    def long(self):\n{}", call.repeat(120));
    let document = document("a.py", &format!("class A:\n{short}{long}"));
    for piece in checked(&document).iter().skip(1) {
        let starts = ["    def ", "        self.call("];
        assert!(
            starts.iter().any(|start| piece.starts_with(start)),
            "{piece}"
        );
    }
}

#[cfg(feature = "grammar-javascript")]
#[test]
fn nesting_and_many_symbols_take_linear_time() {
    let deep = "function a() {\n".repeat(20_000) + &"}\n".repeat(20_000);
    let flat = "function a() {}\n".repeat(60_000);
    for text in [deep, flat] {
        let document = document("a.js", &text);
        assert_eq!(document.syntax.fallback, None);
        assert!(!document.syntax.cuts.is_empty());
        let chunks = chunk(&document);
        assert_eq!(pieces(&text, &chunks).concat(), text);
    }
}

#[test]
fn short_sections_are_joined_and_cut_before_headings() {
    let mut text = String::new();
    for number in 0..60 {
        text.push_str(&format!(
            "## Part {number}\n\nA short section of some words.\n\n"
        ));
    }
    let document = document("a.md", &text);
    let pieces = checked(&document);
    assert!(pieces.len() < 4);
    assert!(pieces.iter().all(|piece| piece.starts_with("## Part")));
}

#[test]
fn an_example_that_fits_is_not_divided() {
    let example = "```sh\nfirst command\n\nsecond command\n\nthird command\n```\n";
    let words = "Words of a paragraph that say something about it. ".repeat(9);
    let text = format!("# Title\n\n{words}\n\nRun this:\n\n{example}\n{words}\n\n").repeat(8);
    let document = document("a.md", &text);
    for piece in checked(&document) {
        assert_eq!(piece.matches("```").count() % 2, 0, "{piece}");
        assert!(!piece.ends_with("Run this:\n\n"));
    }
}

#[test]
fn rows_stay_whole_even_when_a_cell_holds_line_ends() {
    let text = "name,\"first line\nsecond line\nthird line\",42\n".repeat(200);
    for piece in checked(&document("a.csv", &text)) {
        assert!(piece.starts_with("name\t") && piece.ends_with("\t42\n"));
    }
}

#[test]
fn no_record_that_fits_is_cut() {
    let record = |len: usize| format!("{{\"a\": \"{}\"}}\n", "word, and. ".repeat(len));
    // Long ones after short ones, in one stretch of the grid.
    let lens = [0, 1, 180, 0, 0, 178, 100, 2, 60, 179, 1, 5, 180, 177, 30];
    let text: String = (0..300).map(|n| record(lens[n * 7 % 15])).collect();
    assert!(text.lines().all(|line| line.len() < CAP_BYTES));
    for piece in checked(&document("a.jsonl", &text)) {
        assert!(piece.starts_with('{') && piece.ends_with("}\n"), "{piece}");
    }
    let long = record(1000).repeat(3);
    assert!(checked(&document("a.jsonl", &long)).len() > 15);
}

#[test]
fn a_paragraph_on_one_line_is_cut_after_sentences() {
    let text = "This is a sentence of some length, with a clause in it. ".repeat(200);
    for piece in checked(&document("a.txt", &text)) {
        assert!(piece.starts_with("This is"), "{piece}");
    }
    let text = "\u{6f22}\u{5b57}\u{4eee}\u{540d}\u{3002}".repeat(500);
    for piece in checked(&document("a.txt", &text)) {
        assert!(piece.ends_with('\u{3002}'));
    }
}

#[test]
fn only_a_grapheme_longer_than_the_cap_is_divided() {
    let flags = "\u{1F1E9}\u{1F1EA}".repeat(3000);
    let family = "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}".repeat(2000);
    let word = format!("a{}", "\u{301}".repeat(500)).repeat(20);
    for text in [flags, family, word, "\r\n".repeat(4000), "\n".repeat(5000)] {
        let document = document("a.txt", &text);
        let mut at = 0;
        for piece in checked(&document) {
            at += piece.len();
            assert!(is_grapheme_boundary(&text, at), "{at}");
        }
    }
    let monster = format!("ab{}cd", "\u{301}".repeat(5000));
    assert!(checked(&document("a.txt", &monster)).len() >= 6);
}

#[test]
fn chunks_of_long_texts_are_large_enough_on_average() {
    let prose = "One sentence of a paragraph. Another one follows it here.\n\n".repeat(2000);
    let code = "fn name() {\n    call();\n}\n\n".repeat(3000);
    for (name, text) in [("a.md", prose), ("a.rs", code)] {
        let document = document(name, &text);
        let average = text.len() / checked(&document).len();
        assert!(average >= 900, "{name}: {average}");
    }
}

#[test]
fn line_numbers_of_the_original_are_passed_on() {
    let page = format!(
        "<p>one</p>\n\n\n<p>{}</p>\n<p>last</p>",
        "word ".repeat(600)
    );
    let document = document("a.html", &page);
    let chunks = chunk(&document);
    assert_eq!(chunks[0].lines, Lines { first: 1, last: 4 });
    assert_eq!(chunks.last().unwrap().lines.last, 5);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_is_covered_exactly_and_cut_at_graphemes(
        parts in prop::collection::vec(
            prop_oneof![
                "\\PC{0,40}",
                "[ \\t]{0,6}[a-z(){};.]{1,30}",
                Just("\n".to_owned()),
                Just("\r\n".to_owned()),
                Just("\n\n".to_owned()),
                Just("\r".to_owned()),
                "[\u{300}\u{301}\u{200d}\u{1F468}\u{1F1E6}\u{1100}\u{1161}\u{11a8}\u{ac00}\
                    \u{94d}\u{915}\u{e33}\u{e01}\u{600}\u{620}\u{1F3FB}a ]{1,400}",
                "[a-z]{1,8} ".prop_map(|word| word.repeat(90)),
            ],
            0..120,
        ),
        kind in 0usize..5,
    ) {
        let text = parts.concat();
        let name = ["a.rs", "a.md", "a.csv", "a.txt", "a.rst"][kind];
        let mut document = document(name, "");
        document.text = text;
        let mut at = 0;
        for piece in checked(&document) {
            at += piece.len();
            prop_assert!(is_grapheme_boundary(&document.text, at));
        }
    }

    #[test]
    fn no_chunk_crosses_the_border_of_two_parts(
        lines in prop::collection::vec(
            (
                prop_oneof![
                    "[a-z ]{0,60}",
                    "[a-z]{1,8}\t".prop_map(|cell| cell.repeat(90)),
                    "\\PC{0,20}",
                    Just(String::new()),
                    "\u{301}{1,3}",
                ],
                // How many parts begin with the line.
                prop_oneof![6 => Just(0usize), 2 => Just(1), 1 => 2usize..4],
            ),
            1..80,
        ),
        kind in 0usize..4,
        is_open in any::<bool>(),
    ) {
        let name = ["a.rs", "a.md", "a.log", "a.txt"][kind];
        let mut document = document(name, "");
        for (number, (line, parts)) in (0u32..).zip(&lines) {
            let part = Part {
                start: document.text.len() as u32,
                line: number + 1,
                content: PartContent::Slide(Slide::default()),
            };
            let count = if number == 0 { 1.max(*parts) } else { *parts };
            document.parts.extend(std::iter::repeat_n(part, count));
            document.text.push_str(&line.replace('\n', " "));
            document.text.push('\n');
        }
        if is_open && document.parts.last().is_some_and(|part| (part.start as usize) < document.text.len() - 1) {
            document.text.pop();
        }
        prop_assert_eq!(kb_types::part::fault_in(&document.parts, &document.text), None);
        checked(&document);
        let starts: Vec<u32> = chunk(&document).iter().map(|chunk| chunk.span.start).collect();
        for part in &document.parts {
            let is_end = part.start as usize == document.text.len();
            prop_assert!(is_end || starts.contains(&part.start), "{}", part.start);
        }
    }
}
