//! Which parts of a program are tests, by its symbols.

use super::test_functions::{holds_test_functions, is_of_test};
use crate::Span;
use crate::syntax::{Symbol, SymbolKind};

/// Names of modules that hold tests.
const MODULES: [&str; 2] = ["tests", "test"];

/// The parts of one program that are tests: functions, and modules and classes of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestSpans {
    /// Ascending, none within another.
    spans: Vec<Span>,
}

impl TestSpans {
    /// Of a program with this text and these symbols. Of a program without symbols nothing is known.
    pub fn of(text: &str, symbols: &[Symbol]) -> TestSpans {
        let mut are_tests: Vec<bool> = symbols.iter().map(|one| is_test(text, one)).collect();
        // Fixtures and helpers of a class of tests have no head of their own.
        for (at, symbol) in symbols.iter().enumerate() {
            let class = symbol.parent.and_then(|at| usize::try_from(at).ok());
            let class = class.and_then(|at| Some((at, symbols.get(at)?)));
            if let Some((class, parent)) = class
                && are_tests.get(at) == Some(&true)
                && parent.kind == SymbolKind::Class
                && parent.name.contains("Test")
                && let Some(is_test) = are_tests.get_mut(class)
            {
                *is_test = true;
            }
        }
        let spans = symbols.iter().zip(are_tests);
        let mut spans: Vec<Span> = spans
            .filter(|(_, is_test)| *is_test)
            .map(|(symbol, _)| symbol.span)
            .collect();
        spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
        let mut outer: Vec<Span> = Vec::new();
        for span in spans {
            if outer.last().is_none_or(|last| last.end < span.end) {
                outer.push(span);
            }
        }
        TestSpans { spans: outer }
    }

    /// Whether a chunk is of tests: more than half of it lies in them, or a line outside of them is the head of one,
    /// which has no symbol: `it('sends', ...`.
    pub fn have(&self, text: &str, chunk: Span) -> bool {
        let here = text.get(chunk.start as usize..chunk.end as usize);
        let here = here.unwrap_or_default();
        if self.spans.is_empty() {
            return holds_test_functions(here);
        }
        let first = self.spans.partition_point(|span| span.end <= chunk.start);
        let after = self.spans.partition_point(|span| span.start < chunk.end);
        let spans = self.spans.get(first..after).unwrap_or_default();
        let common = |span: &Span| {
            let end = span.end.min(chunk.end);
            end.saturating_sub(span.start.max(chunk.start))
        };
        if spans.iter().map(common).sum::<u32>() > chunk.len() / 2 {
            return true;
        }
        let mut end = chunk.start;
        here.split_inclusive('\n').any(|line| {
            let start = end;
            // A text has fewer than 2^32 bytes.
            end = end.saturating_add(u32::try_from(line.len()).unwrap_or(u32::MAX));
            let is_outside = || {
                !spans
                    .iter()
                    .any(|span| (span.start..span.end).contains(&start))
            };
            is_of_test(line.trim_end_matches(['\r', '\n'])) && is_outside()
        })
    }
}

fn is_test(text: &str, symbol: &Symbol) -> bool {
    let head = text.get(symbol.span.start as usize..symbol.head.end as usize);
    match symbol.kind {
        SymbolKind::Module if MODULES.contains(&symbol.name.as_str()) => true,
        SymbolKind::Constant | SymbolKind::Field => false,
        _ => holds_test_functions(head.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lines;

    fn symbol(text: &str, kind: SymbolKind, (from, head, end): (&str, &str, &str)) -> Symbol {
        let find = |what: &str, after: usize| text[after..].find(what).unwrap() + after;
        let start = find(from, 0);
        let head_start = find(head, start);
        let name = head.split_once(' ').unwrap().1;
        Symbol {
            kind,
            name: name.to_owned(),
            keyword: String::new(),
            head: Span {
                start: head_start as u32,
                end: (head_start + head.len()) as u32,
            },
            parent: None,
            doc: None,
            span: Span {
                start: start as u32,
                end: (find(end, head_start) + end.len()) as u32,
            },
            lines: Lines { first: 1, last: 1 },
            name_start: head_start as u32,
        }
    }

    const PROGRAM: &str = "fn tide() {\n    moon();\n    sea();\n}\n\n#[cfg(test)]\nmod tests {\n    high! {\n        \
                           a: 1,\n        b: 2,\n    }\n}\n";

    fn chunk(start: usize, end: usize) -> Span {
        Span {
            start: start as u32,
            end: end as u32,
        }
    }

    #[test]
    fn all_of_a_module_of_tests_is_tests() {
        let module = symbol(
            PROGRAM,
            SymbolKind::Module,
            ("#[cfg", "mod tests", "}\n}\n"),
        );
        let tests = TestSpans::of(PROGRAM, &[module]);
        let inside = PROGRAM.find("high!").unwrap();
        assert!(tests.have(PROGRAM, chunk(inside, PROGRAM.len())));
        assert!(!tests.have(PROGRAM, chunk(0, 20)));
        // A chunk is what most of it is.
        let begin = PROGRAM.find("#[cfg").unwrap();
        assert!(!tests.have(PROGRAM, chunk(0, begin + 20)));
        assert!(tests.have(PROGRAM, chunk(begin - 8, PROGRAM.len())));
    }

    #[test]
    fn what_has_no_symbol_is_known_by_its_lines() {
        let text = "function tide() {}\ndescribe('tide', () => {\n  it('ebbs', () => {})\n})\n";
        let function = symbol(
            text,
            SymbolKind::Function,
            ("function", "function tide", "}\n"),
        );
        let tests = TestSpans::of(text, &[function]);
        assert!(tests.have(text, chunk(0, text.len())));
        assert!(!tests.have(text, chunk(0, 18)));
    }

    #[test]
    fn a_class_of_tests_is_tests_with_its_helpers() {
        let text = "class TideTest:\n    def moon(self):\n        pass\n    def test_ebb(self):\n        pass\n";
        let class = symbol(
            text,
            SymbolKind::Class,
            ("class", "class TideTest", "ebb(self):\n        pass\n"),
        );
        let test = Symbol {
            parent: Some(0),
            ..symbol(
                text,
                SymbolKind::Method,
                ("    def test_ebb", "def test_ebb", "pass\n"),
            )
        };
        let tests = TestSpans::of(text, &[class.clone(), test.clone()]);
        assert!(tests.have(text, chunk(0, text.find("    def test_ebb").unwrap())));
        let product = Symbol {
            name: "Tide".to_owned(),
            ..class
        };
        let tests = TestSpans::of(text, &[product, test]);
        assert!(!tests.have(text, chunk(0, text.find("    def test_ebb").unwrap())));
    }
}
