//! Programs in C that cannot be parsed before they are preprocessed: brackets that open in one branch of an `#if` and
//! close in another, macros among the words of a declaration. What stands in the way is blanked, so that every byte
//! keeps its place.

/// Words that may stand before a name without declaring it, or before the name of a type.
const NO_TYPES: &[&str] = &[
    "auto", "case", "const", "define", "delete", "else", "enum", "extern", "goto", "ifdef",
    "ifndef", "inline", "new", "register", "return", "sizeof", "static", "struct", "throw",
    "typedef", "typename", "undef", "union", "using", "volatile",
];
/// Bytes of the arguments of a macro.
// A macro that declares something has a short argument; a longer search would read the rest of the
// file for each `(`.
const MAX_ARGUMENT_BYTES: usize = 200;

/// `text` without directives, second branches of conditionals, and macros between a type and what it is the type of
/// (`int ZEXPORT inflate(`, `char FAR *at`, `void PRINTF_LIKE(1, 2) log(`): each of their bytes is a space. `None`
/// where there is none of these. Linear.
pub(super) fn blanked(text: &str) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let branches = blank_branches(text, &mut bytes);
    let macros = blank_macros(text.as_bytes(), &mut bytes);
    if !(branches || macros) {
        return None;
    }
    // Whole lines and words of ASCII were blanked.
    String::from_utf8(bytes).ok()
}

fn blank(bytes: &mut [u8], start: usize, end: usize) {
    let range = bytes.get_mut(start..end).unwrap_or_default();
    for byte in range
        .iter_mut()
        // Line ends stay, and with them all line numbers.
        .filter(|byte| !matches!(**byte, b'\n' | b'\r'))
    {
        *byte = b' ';
    }
}

/// Blanks what stands between `#else` or `#elif` and the end of their conditional, and the directives of all
/// conditionals that have such a branch. The guard of an include file has none.
fn blank_branches(text: &str, bytes: &mut [u8]) -> bool {
    // Of each conditional that is open: the lines of its directives, and whether its first branch is over.
    let mut open: Vec<(Vec<(usize, usize)>, bool)> = Vec::new();
    // Conditionals that are open and in a later branch.
    let mut later = 0;
    let (mut at, mut found) = (0, false);
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        let directive = directive.unwrap_or_default();
        if directive.starts_with("if") {
            open.push((vec![(at, end)], false));
        } else if directive.starts_with("el")
            && let Some((lines, is_later)) = open.last_mut()
        {
            lines.push((at, end));
            later += usize::from(!*is_later);
            *is_later = true;
        } else if directive.starts_with("endif")
            && let Some((lines, is_later)) = open.pop()
        {
            later -= usize::from(is_later);
            if is_later {
                found = true;
                blank(bytes, at, end);
                for (start, end) in lines {
                    blank(bytes, start, end);
                }
            }
        }
        if later > 0 {
            blank(bytes, at, end);
        }
        at = end;
    }
    found
}

/// Blanks words in capitals between a type and a name or `*`, with their arguments.
fn blank_macros(text: &[u8], bytes: &mut [u8]) -> bool {
    let (mut at, mut found) = (0, false);
    // The last word of the line, and what stands between it and the next.
    let mut before: Option<&[u8]> = None;
    while let Some(byte) = text.get(at).copied() {
        if byte == b'#' && is_line_start(text, at) {
            at += line_len(text, at);
            before = None;
            continue;
        }
        if !is_word(byte) {
            match byte {
                b' ' | b'\t' => {}
                b'(' => before = Some(b"("),
                _ => before = None,
            }
            at += 1;
            continue;
        }
        let end = at + word_len(text, at);
        let word = text.get(at..end).unwrap_or_default();
        if is_macro(word)
            && let Some(last) = before
            && let Some(blank_end) = macro_end(text, end, last == b"(")
            && !NO_TYPES.iter().any(|other| other.as_bytes() == last)
        {
            found = true;
            blank(bytes, at, blank_end);
            at = blank_end;
            continue;
        }
        before = Some(word);
        at = end;
    }
    found
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_macro(word: &[u8]) -> bool {
    // By convention only. What stands around a word decides whether it is blanked.
    let is_capital =
        |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    word.len() >= 3
        && word.iter().all(is_capital)
        && word.first().is_some_and(u8::is_ascii_uppercase)
}

fn is_line_start(text: &[u8], at: usize) -> bool {
    let head = text.get(..at).unwrap_or_default();
    let last = head.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
    last.is_none_or(|byte| *byte == b'\n')
}

fn line_len(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1)
}

fn word_len(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.iter()
        .position(|byte| !is_word(*byte))
        .unwrap_or(rest.len())
}

/// Where a macro ends that stands before the name of a function, before `*`, or as `(MACRO *name)`.
fn macro_end(text: &[u8], end: usize, is_in_brackets: bool) -> Option<usize> {
    let space_end = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        let spaces = rest.iter().position(|byte| !byte.is_ascii_whitespace());
        from + spaces.unwrap_or(rest.len())
    };
    let mut next = space_end(end);
    if text.get(next) == Some(&b'*') {
        let name = space_end(next + 1);
        let behind = name + word_len(text, name);
        return (!is_in_brackets || (behind > name && text.get(behind) == Some(&b')')))
            .then_some(end);
    }
    if is_in_brackets {
        return None;
    }
    let mut macro_end = end;
    if text.get(next) == Some(&b'(') {
        macro_end = arguments_end(text, next)?;
        next = space_end(macro_end);
    }
    let name_end = next + word_len(text, next);
    (next > macro_end && name_end > next && text.get(space_end(name_end)) == Some(&b'('))
        .then_some(macro_end)
}

/// Behind the bracket that closes the one at `start`.
fn arguments_end(text: &[u8], start: usize) -> Option<usize> {
    let rest = text.get(start..)?;
    let mut depth = 0usize;
    for (position, byte) in rest.iter().take(MAX_ARGUMENT_BYTES).enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b'\n' | b';' | b'{' => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(start + position + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_of_declarations_are_blanked_and_no_others() {
        for (text, left) in [
            ("int ZEXPORT inflate(a) {", "int         inflate(a) {"),
            ("unsigned FAR *have;", "unsigned     *have;"),
            ("typedef a (CALLBACK *f)(b);", "typedef a (         *f)(b);"),
            (
                "int LIKE(f (p, 1))\nlog(int a)",
                "int               \nlog(int a)",
            ),
        ] {
            assert_eq!(blanked(text).as_deref(), Some(left));
        }
        for text in [
            "const FOO *a;",
            "static FOO bar(void);",
            "a = (FOO *)b;",
            "return FOO * 2;",
            "x = FOO(1);",
            "#define FOO BAR (a)",
            "else FOO(x)\n bar(y)",
            "FOO *a;",
            "f(a, FOO * b)",
        ] {
            assert_eq!(blanked(text), None, "{text}");
        }
    }

    #[test]
    fn the_first_branch_of_a_conditional_is_left() {
        let text = "#ifndef A\n#if B\nif (a ||\n#else /* \u{e9} */\nif (\r\n# if C\n#endif\n#endif\n  b) {}\n#endif\n";
        let left = blanked(text).unwrap();
        assert_eq!(left.len(), text.len());
        let lines: Vec<&str> = left.lines().map(str::trim).collect();
        assert_eq!(
            lines,
            [
                "#ifndef A",
                "",
                "if (a ||",
                "",
                "",
                "",
                "",
                "",
                "b) {}",
                "#endif"
            ]
        );
        assert_eq!(blanked("#if A\nint a;\n#endif\n"), None);
        assert_eq!(blanked("#else\n#endif\n#elif\n"), None);
    }
}
