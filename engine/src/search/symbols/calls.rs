//! Whether a name is called where it stands, by the characters around it: a look at the text, no parser, since texts of a
//! file may be made to harm one. `docs/search.md` says how far it agrees with syntax trees.

/// Bytes of type arguments between a name and its bracket.
// `f::<HashMap<String, Vec<u8>>>(` is a call; a `<` of a comparison must not be followed to the end
// of the file.
const MAX_TYPE_ARGUMENTS_BYTES: usize = 200;

/// Bytes of a line before a name that are looked at: a chunk has no more, but one of a forged file may.
const MAX_BEFORE_BYTES: usize = 2048;

/// Whether a name that ends at `end` of a text is called there: an opening bracket follows, behind type arguments or the
/// `!` of a macro if there are any, and no comment has begun in its line. Languages without such calls have none.
pub(super) fn is_called(text: &str, start: usize, end: usize, language: &str) -> bool {
    let Some(marks) = comment_marks(language) else {
        return false;
    };
    let from = text.floor_char_boundary(start.saturating_sub(MAX_BEFORE_BYTES));
    let line = text.get(from..start).unwrap_or_default();
    let line = line.rsplit('\n').next().unwrap_or_default();
    let first = line.trim_start();
    let begins_comment = |mark: &&str| {
        let mut places = line.match_indices(*mark);
        // Not in an address: `https://`.
        places.any(|(at, _)| !line.get(..at).unwrap_or_default().ends_with(':'))
    };
    let is_in_block = marks.contains(&"//") && (first.starts_with("* ") || first.starts_with("/*"));
    let is_comment = is_in_block || marks.iter().any(begins_comment);
    let is_annotation = match language {
        "rust" => first.starts_with("#[") || first.starts_with("#!["),
        "python" | "javascript" | "typescript" | "tsx" => false,
        _ => line.ends_with('@'),
    };
    // What is defined there is not called.
    let before = line
        .trim_end()
        .rsplit(|c: char| !c.is_alphanumeric())
        .next();
    let is_defined = matches!(before, Some("def" | "fn" | "func" | "function" | "fun"));
    let rest = text.get(end..).unwrap_or_default();
    !is_comment && !is_annotation && !is_defined && opens(rest, language)
}

/// Whether a text begins with the arguments of a call.
fn opens(text: &str, language: &str) -> bool {
    let text = text.trim_start_matches([' ', '\t']);
    if text.starts_with('(') {
        return true;
    }
    if language == "rust"
        && let Some(rest) = text.strip_prefix('!')
    {
        return rest.trim_start().starts_with(['(', '[', '{']);
    }
    let text = text.strip_prefix("::").unwrap_or(text);
    text.starts_with('<')
        && end_of_type_arguments(text)
            .and_then(|end| text.get(end..))
            .is_some_and(|rest| rest.starts_with('('))
}

/// Bytes of the type arguments that a text begins with, brackets included.
fn end_of_type_arguments(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            // An arrow is no bracket.
            '>' if before != '-' && before != '=' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            ';' | '{' | '\n' | '"' => return None,
            _ => {}
        }
        if at > MAX_TYPE_ARGUMENTS_BYTES {
            return None;
        }
        before = c;
    }
    None
}

/// What begins a comment in a language with calls in brackets; `None` for others.
fn comment_marks(language: &str) -> Option<&'static [&'static str]> {
    match language {
        "rust" | "go" | "java" | "javascript" | "typescript" | "tsx" | "jsx" | "c" | "cpp"
        | "csharp" | "kotlin" | "scala" => Some(&["//"]),
        "php" => Some(&["//", "# "]),
        "python" | "ruby" => Some(&["# "]),
        "lua" => Some(&["--"]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_a_bracket_behind_the_name() {
        for (language, text, expected) in [
            ("rust", "let a = load(b)?;", true),
            ("rust", "let a = load::<Vec<u8>>(b)?;", true),
            ("rust", "let a = load::<fn() -> u8>(b)?;", true),
            ("rust", "a.map(load)", false),
            ("rust", "load![a]", true),
            ("rust", "if load != b", false),
            ("rust", "if load < b && c > (d)", false),
            ("rust", "x(); // load(a) fails", false),
            ("rust", "fn load(a: u8)", false),
            ("rust", "#[load(a)]", false),
            ("java", "@load(a)", false),
            ("javascript", "get('http://a').load()", true),
            ("java", "List<A> a = load<B> (c);", false),
            ("java", " * load(a)", false),
            ("python", "@load (a)", true),
            ("python", "# load(a)", false),
            ("python", "def load(a):", false),
            ("typescript", "const a = load<B, C[]>(d)", true),
            ("bash", "load (a)", false),
            ("lua", "-- load(a)", false),
            ("rust", "load", false),
            ("rust", "load<", false),
        ] {
            let start = text.find("load").unwrap();
            let found = is_called(text, start, start + 4, language);
            assert_eq!(found, expected, "{language}: {text}");
        }
    }
}

#[cfg(test)]
#[cfg(all(
    feature = "grammar-go",
    feature = "grammar-java",
    feature = "grammar-python"
))]
mod as_grammars_tell {
    use std::collections::{BTreeMap, BTreeSet};

    use kb_extract::syntax::{SyntaxOptions, SyntaxParser};
    use kb_types::file_types::canonical_language;

    use super::*;

    #[test]
    fn calls_are_those_of_the_syntax_tree() {
        let mut parser = SyntaxParser::new(SyntaxOptions { uses: true });
        for (language, path, text, count) in [
            (
                "python",
                "a.py",
                "import os\n\n@retry(3)\ndef run(a, b=stop):\n    # run(a)\n    x = a.load(b)(c)\n    return [y(z) for z in map(run, x)]\n",
                4,
            ),
            (
                "go",
                "a.go",
                "package a\n\n// Run runs run(a).\nfunc Run(a int) int {\n\tdefer close(c)\n\tx := a.Load(b)\n\tgo func() { step(x) }()\n\treturn x[y]\n}\n",
                3,
            ),
            (
                "java",
                "A.java",
                "class A {\n  /** run(a). */\n  @Named(\"a\")\n  int run(int a) {\n    var x = load(a).next();\n    return this.size + x;\n  }\n}\n",
                2,
            ),
        ] {
            let syntax = parser.parse(language, path, text);
            let named: Vec<u32> = syntax.symbols.iter().map(|it| it.name_start).collect();
            let uses = syntax.uses.iter();
            let mut calls = 0;
            for used in uses.filter(|used| !named.contains(&used.span.start)) {
                let (start, end) = (used.span.start as usize, used.span.end as usize);
                let found = is_called(text, start, end, language);
                assert_eq!(found, used.is_call, "{language}: {}", &text[start..]);
                calls += usize::from(found);
            }
            assert_eq!(calls, count, "{language}");
        }
    }

    /// Prints the table of `docs/search.md`: calls that both find, that only the syntax tree has, that only the text
    /// has, of the programs named in the lines of the file `KB_PROGRAMS`.
    #[test]
    #[ignore = "measures; run with --release --nocapture"]
    fn agreement_with_syntax_trees() {
        let list = std::env::var("KB_PROGRAMS").unwrap();
        let list = std::fs::read_to_string(list).unwrap();
        let mut parser = SyntaxParser::new(SyntaxOptions { uses: true });
        let mut counts: BTreeMap<&str, [u64; 4]> = BTreeMap::new();
        for path in list.lines() {
            let extension = path.rsplit('.').next().unwrap();
            let language = canonical_language(extension);
            let (Some(language), Ok(text)) = (language, std::fs::read_to_string(path)) else {
                continue;
            };
            let syntax = parser.parse(language, path, &text);
            let symbols = syntax.symbols.iter();
            let named: BTreeSet<u32> = symbols.map(|it| it.name_start).collect();
            for used in syntax.uses {
                if !named.contains(&used.span.start) {
                    let (start, end) = (used.span.start as usize, used.span.end as usize);
                    let found = is_called(&text, start, end, language);
                    let cell = usize::from(found) * 2 + usize::from(used.is_call);
                    counts.entry(language).or_default()[cell] += 1;
                }
            }
        }
        for (language, [_, tree, text, both]) in counts {
            println!("{language}: both {both}, tree alone {tree}, text alone {text}");
        }
    }
}
