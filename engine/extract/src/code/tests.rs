use kb_types::SyntaxFallback;

use crate::extract;
use crate::extractor::extract_without_syntax;

#[test]
fn symbols_are_the_outline_of_a_program_and_not_its_title() {
    let text = "import os\n\n# Doc.\nclass A:\n    def run(self):\n        pass\n";
    let document = extract("dir/a.py", text.as_bytes()).unwrap();
    assert_eq!(document.title, "a.py");
    let outline = document.outline.iter();
    let outline: Vec<(u8, &str, u32, u32)> = outline
        .map(|heading| {
            (
                heading.level,
                heading.title.as_str(),
                heading.start,
                heading.line,
            )
        })
        .collect();
    assert_eq!(outline, [(1, "class A", 11, 4), (2, "def run", 27, 5)]);
    let unparsed = extract_without_syntax("dir/a.py", text.as_bytes(), SyntaxFallback::Failed);
    let unparsed = unparsed.unwrap();
    assert_eq!(unparsed.syntax.fallback, Some(SyntaxFallback::Failed));
    assert!(unparsed.outline.is_empty() && unparsed.syntax.cuts.is_empty());
    assert_eq!(unparsed.text, text);
}

#[test]
fn what_a_machine_wrote_is_not_parsed() {
    let text = format!("def f(): return [{}]\n", "1,".repeat(2000));
    let document = extract("a.py", text.as_bytes()).unwrap();
    assert!(document.outline.is_empty() && document.syntax.cuts.is_empty());
}
