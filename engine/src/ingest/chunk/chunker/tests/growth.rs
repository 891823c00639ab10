//! Texts of twice the length are cut in about twice the time, whatever they repeat.

use kb_extract::extract;
use kb_types::growth::{timed, too_fast};
use kb_types::{Part, PartContent, Slide};

use super::chunk;

/// Pieces that are repeated, and the name of the file that they fill.
const PIECES: [(&str, &str); 23] = [
    ("a.txt", "word "),
    ("a.txt", "word\n"),
    ("a.txt", "\n"),
    ("a.txt", "x"),
    ("a.txt", "e\u{301}"),
    ("a.txt", "\u{301}"),
    ("a.txt", "\u{6f22}"),
    ("a.txt", " \t"),
    ("a.txt", "A sentence. Another one! "),
    ("a.txt", "word word\r\n\r\n"),
    ("a.md", "# heading\n"),
    ("a.md", "# heading\n\ntext\n\n"),
    ("a.md", "# a\n## b\n### c\n#### d\n##### e\n###### f\n"),
    ("a.md", "- item\n  - item\n"),
    ("a.md", "```\ncode\n```\n"),
    ("a.md", "| a | b |\n"),
    ("a.rs", "fn name() {}\n"),
    ("a.rs", "mod a { mod b { fn c() {} } }\n"),
    ("a.rs", "/// Comment.\n"),
    ("a.py", "def name():\n    pass\n"),
    ("a.py", "class A:\n"),
    ("a.json", "{\"a\": [1, "),
    ("a.csv", "1,2,3\n"),
];

#[test]
fn texts_are_cut_in_linear_time() {
    let mut faults = Vec::new();
    for (file, piece) in PIECES {
        // With parts, each piece begins a slide as well. Programs have none.
        let is_text = file.ends_with(".txt") || file.ends_with(".md");
        for has_parts in [false, true].into_iter().take(1 + usize::from(is_text)) {
            let time = |bytes: usize| {
                let count = bytes / piece.len();
                let Ok(mut document) = extract(file, piece.repeat(count).as_bytes()) else {
                    return [std::time::Duration::ZERO];
                };
                if has_parts && document.parts.is_empty() {
                    let starts = (0..document.text.len()).step_by(piece.len());
                    let starts = starts.filter(|start| document.text.is_char_boundary(*start));
                    document.parts = starts
                        .map(|start| Part {
                            start: u32::try_from(start).unwrap(),
                            line: 1,
                            content: PartContent::Slide(Slide::default()),
                        })
                        .collect();
                }
                [timed(|| chunk(&document)).1]
            };
            if let [Some(growth)] = too_fast(16 << 10, 256 << 10, &time) {
                faults.push(format!("{file} {piece:?}, parts {has_parts}: x{growth:.2}"));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "for twice the length:\n{}",
        faults.join("\n")
    );
}
