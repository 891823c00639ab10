//! Names that the lines of a text define, found by the form of a line: no syntax tree, any language.
//!
//! What is taken for a definition:
//! - the word after a keyword of definitions: `class Name`, `pub fn name`, `func (r *T) Name`, `#define NAME`,
//!   `impl Trait for Name`
//! - the function of a line like `static int name(int a)`, `name (a) {` or `exports.name = function`
//! - a constant that a line begins with: `NAME = 3`
//! - a heading of Markdown or reStructuredText
//!
//! A line that only looks like one costs little, because its name counts only where the query has its words.

/// Longest line, in bytes, that is searched for a definition.
// Longer lines are data, minified or generated.
pub(in crate::search::rank) const LINE_LIMIT_BYTES: usize = 400;

/// Words of a line among which a keyword is looked for.
// `pub(crate) unsafe extern "C" fn name` has seven.
const WORDS_LIMIT: usize = 12;

/// Whether a name follows a word.
fn is_keyword(word: &str) -> bool {
    // By length, so that most words are compared with none or a few.
    let of_length: &[&str] = match word.len() {
        2 => &["fn"],
        3 => &["mod", "def", "fun", "sub", "var", "let", "val"],
        4 => &["enum", "func", "proc", "type", "impl", "defp", "defn"],
        5 => &["class", "union", "trait", "const", "macro"],
        6 => &["struct", "record", "module", "object", "static"],
        7 => &["package", "typedef"],
        8 => &["protocol", "function"],
        9 => &[
            "interface",
            "namespace",
            "procedure",
            "extension",
            "defmodule",
        ],
        11 => &["macro_rules"],
        _ => &[],
    };
    of_length.contains(&word)
}

/// Whether a keyword names a value, or stands before the type of something else.
fn is_before_value(word: &str) -> bool {
    matches!(word, "const" | "static" | "var" | "let" | "val")
}

/// Whether a word begins a statement, not a definition.
// Of all languages in one list: a word that is a name in another language is rarely the name that a
// query asks for.
fn is_statement(word: &str) -> bool {
    matches!(
        word,
        "if" | "for"
            | "while"
            | "switch"
            | "return"
            | "else"
            | "new"
            | "throw"
            | "await"
            | "yield"
            | "case"
            | "do"
            | "try"
            | "catch"
            | "in"
            | "assert"
            | "print"
            | "del"
            | "raise"
            | "not"
            | "and"
            | "or"
            | "elif"
            | "sizeof"
            | "with"
            | "when"
            | "match"
            | "unless"
            | "goto"
    )
}

/// Whether a word stands before a method.
fn is_modifier(word: &str) -> bool {
    matches!(
        word,
        "public"
            | "private"
            | "protected"
            | "static"
            | "final"
            | "abstract"
            | "synchronized"
            | "native"
            | "override"
            | "virtual"
            | "inline"
            | "constexpr"
            | "extern"
            | "default"
    )
}

/// How functions are written in a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::search::rank) enum Functions {
    /// As in C: a line that begins with a type, or with the name itself, may be the head of a function.
    ByType,
    /// After a keyword or a modifier, or with the brace of their body on the line.
    Other,
}

impl Functions {
    pub(in crate::search::rank) fn of(language: &str) -> Functions {
        match language {
            "c" | "cpp" | "objective-c" => Functions::ByType,
            _ => Functions::Other,
        }
    }
}

/// The name that a line of program code defines.
pub(in crate::search::rank) fn in_code(line: &str, functions: Functions) -> Option<&str> {
    let code = line.trim();
    if line.len() > LINE_LIMIT_BYTES || code.is_empty() || is_comment(code) {
        return None;
    }
    let is_indented = line.starts_with([' ', '\t']);
    after_keyword(code)
        .or_else(|| assigned_function(code))
        .or_else(|| function_header(code, is_indented, functions))
        .or_else(|| constant(code).filter(|_| !is_indented))
}

/// Characters behind the arguments of a function among which its body begins.
const HEAD_REST_CHARS: usize = 200;

/// Whether a text of program code declares a function of a name and has the body of none: a prototype of C, a method of
/// a trait.
pub(in crate::search::rank) fn is_only_declared(text: &str, name: &str) -> bool {
    let mut is_declared = false;
    for (start, _) in text.match_indices(name) {
        let before = text.get(..start).unwrap_or_default();
        let after = text.get(start + name.len()..).unwrap_or_default();
        if before.bytes().next_back().is_some_and(is_name_byte) || !after.starts_with('(') {
            continue;
        }
        let behind = without_brackets(after, '(', ')');
        // A return type, `const`, or the type of an attribute may stand between.
        let between: String = behind.chars().take(HEAD_REST_CHARS).collect();
        let between = between.replace("()", "");
        let mut signs = between
            .chars()
            .filter(|c| !c.is_alphanumeric() && !" \t\n\r_:<>&*,'[]-".contains(*c));
        let sign = signs.next();
        match sign {
            Some('{') => return false,
            // A call stands behind `=`, `return` or an opening bracket, or alone on its line.
            Some(';') if is_head(before) => is_declared = true,
            _ => {}
        }
    }
    is_declared
}

/// Whether what stands before a name on its line can be the head of a function: a type or `fn`.
fn is_head(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default().trim();
    let first = first_word(line).unwrap_or_default();
    !line.is_empty()
        && !is_statement(first)
        && line
            .bytes()
            .all(|byte| is_name_byte(byte) || b" \t<>[]&*:,()".contains(&byte))
        && line.ends_with(|c: char| c.is_alphanumeric() || "_ *&>)".contains(c))
}

/// The heading in a line of prose, which may be underlined by the next line.
pub(in crate::search::rank) fn in_prose<'t>(line: &'t str, next: &str) -> Option<&'t str> {
    let line = line.trim_end();
    if line.len() > LINE_LIMIT_BYTES {
        return None;
    }
    let heading = line.trim_start_matches('#');
    let is_marked = heading.len() < line.len() && heading.starts_with(' ');
    (is_marked || is_underline(next.trim_end())).then_some(heading.trim())
}

/// Whether a line underlines the heading above it.
fn is_underline(line: &str) -> bool {
    let first = line.bytes().next().unwrap_or(b' ');
    line.len() >= 3 && b"=-~^\"'*+#`".contains(&first) && line.bytes().all(|byte| byte == first)
}

fn is_comment(code: &str) -> bool {
    let of_lines = ["//", "/*", "*", "--", "<!--", ";"];
    let hash = code.strip_prefix('#');
    of_lines.iter().any(|start| code.starts_with(start))
        || hash.is_some_and(|rest| !rest.trim_start().starts_with("define"))
}

/// The name after the first keyword that has one.
fn after_keyword(code: &str) -> Option<&str> {
    if let Some(rest) = code.strip_prefix('#') {
        return first_word(rest.trim_start().strip_prefix("define")?.trim_start());
    }
    let mut rest = code;
    for _ in 0..WORDS_LIMIT {
        let (before, word, after) = next_word(rest)?;
        let stands_alone = before.is_empty() || before.ends_with([' ', '\t', '(', '{', ';']);
        rest = after;
        if !stands_alone || !is_keyword(word) {
            continue;
        }
        let mut at = match word {
            "impl" => implemented(after),
            "func" => without_receiver(after),
            "macro_rules" => after.strip_prefix('!')?,
            _ => after,
        };
        if !at.starts_with([' ', '\t']) {
            continue;
        }
        at = at.trim_start().trim_start_matches(['*', '&']);
        at = at.strip_prefix("mut ").unwrap_or(at);
        match first_word(at) {
            // `static int count`: the word behind the keyword is a type.
            Some(name) if is_before_value(word) && !is_value(at, name) => {}
            Some(name) if is_keyword(name) || is_modifier(name) => {}
            Some(name) => return Some(name),
            None => {}
        }
    }
    None
}

/// Whether a name that a text begins with is that of a value, not the type before a name.
fn is_value(text: &str, name: &str) -> bool {
    let after = text.get(name.len()..).unwrap_or_default().trim_start();
    after.is_empty() || after.starts_with([':', '=', ';', ','])
}

/// What follows `impl`: the type, which comes after the trait.
fn implemented(after: &str) -> &str {
    match after.find(" for ") {
        Some(at) => after.get(at + 4..).unwrap_or_default(),
        None => without_brackets(after, '<', '>'),
    }
}

/// What follows `func` and the receiver of a method in Go.
fn without_receiver(after: &str) -> &str {
    let rest = after.trim_start();
    if rest.len() < after.len() {
        let name = without_brackets(rest, '(', ')');
        if name.len() < rest.len() {
            return name;
        }
    }
    after
}

/// The text after a bracket that it begins with.
fn without_brackets(text: &str, open: char, close: char) -> &str {
    if !text.starts_with(open) {
        return text;
    }
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        if character == open {
            depth += 1;
        } else if character == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return text.get(at + 1..).unwrap_or_default();
            }
        }
    }
    text
}

/// `exports.name = function`, `Type.prototype.name = (`.
fn assigned_function(code: &str) -> Option<&str> {
    let (target, value) = code.split_once('=')?;
    let (of, name) = target.trim_end().rsplit_once('.')?;
    let value = value.trim_start();
    let value = value.strip_prefix("async").unwrap_or(value).trim_start();
    let is_path = of.bytes().all(|byte| is_name_byte(byte) || byte == b'.');
    let is_function = value.starts_with("function") || value.starts_with('(');
    (is_path && is_function).then(|| first_word(name))?
}

/// The function that a line begins: `static int name(int a)`, `name (a, b) {`.
fn function_header(code: &str, is_indented: bool, functions: Functions) -> Option<&str> {
    let (before, arguments) = code.split_once('(')?;
    let before = before.trim_end();
    let name = last_word(before)?;
    let types = before.get(..before.len() - name.len()).unwrap_or_default();
    let first = first_word(types.trim_start_matches('@')).unwrap_or(name);
    if is_statement(first) || is_statement(name) {
        return None;
    }
    if !types
        .bytes()
        // Types, pointers, generics and annotations. An operator makes it an expression.
        .all(|byte| is_name_byte(byte) || b" \t<>[]&*:?,.@~".contains(&byte))
    {
        return None;
    }
    // A head has no texts and no closures among its arguments; a call often has.
    let is_call =
        arguments.contains(['"', '\'', '`']) || arguments.contains("=>") || types.ends_with('.');
    let opens_block = code.ends_with('{') && code.contains(')') && !arguments.contains("function");
    let is_unfinished = code.ends_with([')', ',', '(']);
    let is_declared = is_unfinished
        && ((functions == Functions::ByType && !is_indented)
            || (is_modifier(first) && first != name));
    (!is_call && (opens_block || is_declared)).then_some(name)
}

/// The constant that a line begins with.
fn constant(code: &str) -> Option<&str> {
    let name = first_word(code)?;
    let is_upper = name.len() >= 3
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    if !is_upper {
        return None;
    }
    let (between, value) = code.get(name.len()..)?.split_once('=')?;
    let between = between.trim();
    let is_assigned = between.is_empty() || between.starts_with(':');
    (is_assigned && !value.starts_with('=')).then_some(name)
}

/// Letters, digits, `_`, `$`, and all that is not ASCII.
fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// The name at the start of a text.
fn first_word(text: &str) -> Option<&str> {
    let end = text.bytes().position(|byte| !is_name_byte(byte));
    let name = text.get(..end.unwrap_or(text.len()))?;
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
}

/// The name at the end of a text.
fn last_word(text: &str) -> Option<&str> {
    let length = text.bytes().rev().take_while(|byte| is_name_byte(*byte));
    first_word(text.get(text.len() - length.count()..)?)
}

/// The text before the next word, the word, and the text after it.
fn next_word(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.bytes().position(is_name_byte)?;
    let (before, from) = text.split_at_checked(start)?;
    let end = from.bytes().position(|byte| !is_name_byte(byte));
    let (word, after) = from.split_at_checked(end.unwrap_or(from.len()))?;
    Some((before, word, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
        let lines = text.split('\n');
        let functions = Functions::of(language);
        lines.filter_map(|line| in_code(line, functions)).collect()
    }

    #[test]
    fn names_follow_keywords_in_many_languages() {
        for (line, name) in [
            (
                "class CrawlerProcess(CrawlerProcessBase):",
                "CrawlerProcess",
            ),
            ("    async def process_request(", "process_request"),
            ("  pub(crate) fn load_dotenv<'a>(", "load_dotenv"),
            ("pub(crate) const fn new() -> Self {", "new"),
            ("impl<'src> Display for Suggestion<'src> {", "Suggestion"),
            ("impl<T: Clone> Table<T> {", "Table"),
            ("macro_rules! assert_matches {", "assert_matches"),
            (
                "func (r *Replacer) ReplaceAll(input, empty string) string {",
                "ReplaceAll",
            ),
            ("func Format(input []byte) []byte {", "Format"),
            ("type LeastConnSelection struct{}", "LeastConnSelection"),
            ("export default class Router extends Base {", "Router"),
            ("export const buildRouting = (options) => {", "buildRouting"),
            ("function wrapThenable (thenable, reply) {", "wrapThenable"),
            (
                "public final class JsonReader implements Closeable {",
                "JsonReader",
            ),
            ("typedef struct nni_lmq {", "nni_lmq"),
            ("#define NNI_MAX_FD 3", "NNI_MAX_FD"),
            ("# define INNER 3", "INNER"),
            ("data class User(val name: String)", "User"),
        ] {
            assert_eq!(code(line, ""), [name], "{line}");
        }
    }

    #[test]
    fn functions_are_known_by_their_lines() {
        for (line, language, name) in [
            (
                "nng_url_parse(nng_url **urlp, const char *raw)",
                "c",
                Some("nng_url_parse"),
            ),
            ("static int nni_init(void) {", "c", Some("nni_init")),
            ("    nni_init(void);", "c", None),
            (
                "  public static <T> TypeToken<T> get(Class<T> type) {",
                "java",
                Some("get"),
            ),
            (
                "  protected Object read(JsonReader in,",
                "java",
                Some("read"),
            ),
            ("  addHook (name, fn) {", "javascript", Some("addHook")),
            (
                "Reply.prototype.send = function (payload) {",
                "javascript",
                Some("send"),
            ),
            (
                "exports.open = async (path) => {",
                "javascript",
                Some("open"),
            ),
            ("  it('sends', function () {", "javascript", None),
            ("if (ready) {", "javascript", None),
            ("process.start()", "python", None),
            ("  return build(options) {", "javascript", None),
        ] {
            let found = code(line, language);
            assert_eq!(found.first().copied(), name, "{line}");
        }
    }

    #[test]
    fn a_prototype_has_no_body() {
        for (text, is_declared) in [
            ("int uv_close(uv_handle_t* handle);\n", true),
            (
                "UV_EXTERN int uv_close(uv_handle_t* handle,\n    uv_close_cb cb);\n",
                true,
            ),
            ("    fn uv_close(&self) -> Result<(), Error>;\n", true),
            (
                "int uv_close(uv_handle_t* handle) {\n  return 0;\n}\n",
                false,
            ),
            ("int uv_close(int a);\n\nint uv_close(int a)\n{\n}\n", false),
            ("  fn uv_close(&self) -> Option<u32> {\n", false),
            ("  uv_close(handle);\n", false),
            ("  return uv_close(handle);\n", false),
            ("  x = uv_close(handle);\n", false),
            ("my_uv_close(handle);\n", false),
        ] {
            assert_eq!(is_only_declared(text, "uv_close"), is_declared, "{text}");
        }
    }

    #[test]
    fn constants_begin_a_line() {
        assert_eq!(
            code("RETRY_TIMES = 2\nX = 1\n    INNER = 3\nA_B: int = 4", ""),
            ["RETRY_TIMES", "A_B"]
        );
        assert!(code("RETRY == 2\nReady = 3", "").is_empty());
    }

    #[test]
    fn comments_and_long_lines_define_nothing() {
        assert!(code("// class Old\n * class Doc\n# def gone", "").is_empty());
        assert!(code(&format!("class {}", "x".repeat(500)), "").is_empty());
    }

    #[test]
    fn headings_of_both_kinds_are_names() {
        assert_eq!(in_prose("Jobs: pausing", "====="), Some("Jobs: pausing"));
        assert_eq!(in_prose("## Setting `x`", "text"), Some("Setting `x`"));
        for (line, next) in [("text", "text"), ("#!not", ""), ("a", "--"), ("#tag", "")] {
            assert_eq!(in_prose(line, next), None, "{line}");
        }
    }
}
