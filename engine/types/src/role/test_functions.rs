//! Test functions in the text of a chunk, found by the forms of lines: no syntax tree, any language.

/// Starts of lines that only tests have.
// Assertions are none: in C and Python the code itself has many.
const LINE_STARTS: [&str; 16] = [
    "#[cfg(test)]",
    "def test_",
    "async def test_",
    "@Test",
    "@ParameterizedTest",
    "@pytest.",
    "[Test]",
    "[Fact]",
    "[Theory]",
    "[TestMethod]",
    "TEST(",
    "TEST_F(",
    "TEST_P(",
    "TEST_CASE(",
    "TEST_IMPL(",
    "BENCHMARK_IMPL(",
];

/// Functions of Go that its test runner calls, by the start of their names. A capital follows.
const GO_FUNCTIONS: [&str; 4] = ["func Test", "func Benchmark", "func Example", "func Fuzz"];

/// Functions that take the title of a test: `it('sends', ...`.
const TITLED: [&str; 3] = ["it(", "describe(", "test("];

/// Whether a text of program code has the head of a test function, or of a module of them.
pub(super) fn holds_test_functions(text: &str) -> bool {
    text.lines().any(is_of_test)
}

pub(super) fn is_of_test(line: &str) -> bool {
    let code = line.trim_start();
    // Most lines begin with none of these.
    match code.as_bytes().first() {
        Some(b'#') => is_test_attribute(code) || starts_with_one(code, &LINE_STARTS),
        Some(b'f') if code.len() == line.len() => {
            let mut names = GO_FUNCTIONS
                .iter()
                .filter_map(|start| code.strip_prefix(start));
            names.any(|rest| rest.starts_with(|c: char| c.is_uppercase()))
        }
        Some(b'i' | b'd' | b't') => {
            let mut titles = TITLED.iter().filter_map(|start| code.strip_prefix(start));
            titles.any(|rest| rest.starts_with(['\'', '"', '`']))
                || starts_with_one(code, &LINE_STARTS)
        }
        Some(b'a' | b'@' | b'[' | b'T' | b'B') => starts_with_one(code, &LINE_STARTS),
        _ => false,
    }
}

fn starts_with_one(code: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| code.starts_with(start))
}

/// `#[test]`, `#[tokio::test(flavor = "...")]`.
fn is_test_attribute(code: &str) -> bool {
    let Some(attribute) = code.strip_prefix("#[") else {
        return false;
    };
    let end = attribute.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    let path = attribute.get(..end.unwrap_or(attribute.len()));
    path.and_then(|path| path.rsplit("::").next()) == Some("test")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_tests_are_known_in_many_languages() {
        for text in [
            "#[cfg(test)]\nmod tests {\n    use super::*;\n",
            "    #[test]\n    fn reads() {\n",
            "#[tokio::test(flavor = \"current_thread\")]\nasync fn reads() {\n",
            "def test_reads(client):\n",
            "class A:\n    async def test_reads(self):\n",
            "func TestRead(t *testing.T) {\n",
            "  it('reads', function () {\n",
            "describe(\"reader\", () => {\n",
            "  @Test\n  public void reads() {\n",
            "TEST_IMPL(fs_read) {\n",
            "TEST_F(Reader, Reads) {\n",
            "    [Fact]\n    public void Reads() {\n",
        ] {
            assert!(holds_test_functions(text), "{text}");
        }
    }

    #[test]
    fn code_that_only_looks_like_tests_holds_none() {
        for text in [
            "def testing_mode():\n",
            "func Testify() {}\n",
            "  test(value) {\n    return this.pattern.test(value);\n",
            "  assert(handle != NULL);\n",
            "#[derive(Debug)]\nstruct Test;\n",
            "#[testing]\nfn a() {}\n",
            "// it('reads')\n",
            "",
        ] {
            assert!(!holds_test_functions(text), "{text}");
        }
    }
}
