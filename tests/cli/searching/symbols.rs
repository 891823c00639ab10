//! `kb symbols`: the listed symbols, and the messages without results.

use crate::support::{Folder, run};

const LIBRARY: &str = "\
//! Parses.

const LIMIT: usize = 3;

/// A reader.
#[derive(Debug)]
pub struct Reader;

impl Reader {
    /// Reads.
    pub fn parse(&self, text: &str) -> usize {
        helper(text) + LIMIT
    }
}

fn helper(text: &str) -> usize {
    text.len()
}

static START: fn(&str) -> usize = helper;
";

const SCRIPT: &str = "\
class TextHandler:
    def handle(self, text):
        return parse(text)


def parse(text):
    return text
";

/// Two programs and a text, indexed into `a.kb`.
fn indexed() -> Folder {
    let folder = Folder::empty();
    folder.write("in/src/lib.rs", LIBRARY);
    folder.write("in/tool.py", SCRIPT);
    folder.write("in/notes.md", "# parse\n\nhelper\n");
    folder.kb("index in -o a.kb").expect(0);
    folder
}

#[test]
fn symbols_are_listed_by_path_and_line() {
    let folder = indexed();
    assert_eq!(
        folder.kb("symbols").expect(0).stdout,
        "src/lib.rs:3  constant  const LIMIT  const LIMIT: usize = 3\n\
         src/lib.rs:6-7  struct  struct Reader  pub struct Reader\n\
         src/lib.rs:9-14  impl  impl Reader\n\
         src/lib.rs:11-13  method  impl Reader > fn parse  pub fn parse(&self, text: &str) -> usize\n\
         src/lib.rs:16-18  function  fn helper  fn helper(text: &str) -> usize\n\
         src/lib.rs:20  constant  static START  static START: fn(&str) -> usize = helper\n\
         tool.py:1-3  class  class TextHandler\n\
         tool.py:2-3  method  class TextHandler > def handle  def handle(self, text)\n\
         tool.py:6-7  function  def parse  def parse(text)\n"
    );
}

#[test]
fn kind_name_language_and_path_choose_symbols() {
    let folder = indexed();
    let names = |flags: &[&str]| -> Vec<String> {
        let arguments = [&["symbols", "a.kb", "--json"], flags].concat();
        let lines = run(folder.command().args(arguments)).expect(0).json_lines();
        let name = |line: &serde_json::Value| line["name"].as_str().unwrap().to_owned();
        lines.iter().map(name).collect()
    };
    assert_eq!(names(&["--name", "PARSE"]), ["parse", "parse"]);
    assert_eq!(names(&["--name", "h*"]), ["helper", "handle"]);
    assert_eq!(
        names(&["--kind", "class", "--kind", "struct"]),
        ["Reader", "TextHandler"]
    );
    assert_eq!(names(&["--kind", "method", "--lang", "py"]), ["handle"]);
    assert_eq!(names(&["--name", "parse", "--path", "src/**"]), ["parse"]);
}

#[test]
fn callers_and_callees_are_found_by_name() {
    let folder = indexed();
    let told = folder.kb("symbols --uses helper").expect(0);
    assert_eq!(
        told.stdout,
        "src/lib.rs:11-13  method  impl Reader > fn parse  pub fn parse(&self, text: &str) -> usize\n    \
         called in line 12\n\
         src/lib.rs:20  constant  static START  static START: fn(&str) -> usize = helper\n    named in line 20\n"
    );
    let told = folder.kb("symbols --used-by parse --lang rust").expect(0);
    assert!(told.stdout.contains("const LIMIT") && told.stdout.contains("fn helper"));
    assert!(!told.stdout.contains("fn parse"), "{}", told.stdout);
    let told = folder.kb("symbols --used-by handle").expect(0);
    assert!(told.stdout.contains("tool.py:6-7  function  def parse"));
}

#[test]
fn a_long_list_goes_on_with_its_token() {
    let folder = indexed();
    let mut lines = Vec::new();
    let mut next: Option<String> = None;
    for _ in 0..9 {
        let mut arguments = vec!["symbols", "--limit", "2", "--json"];
        arguments.extend(next.iter().flat_map(|token| ["--continue", token]));
        let mut told = run(folder.command().args(arguments)).expect(0).json_lines();
        let token = told
            .last()
            .and_then(|last| last["paging"]["continuation"].as_str().map(str::to_owned));
        told.retain(|line| line.get("name").is_some());
        lines.extend(told);
        next = token;
        if next.is_none() {
            break;
        }
    }
    assert_eq!(lines.len(), 9);
    assert_eq!(lines[8]["name"], "parse");
}

#[test]
fn nothing_found_says_why() {
    let folder = indexed();
    let told = folder.kb("symbols --name nowhere").expect(1);
    told.stderr_has("no symbol matches");
    let told = folder.kb("symbols --uses nowhere").expect(1);
    told.stderr_has("no symbol has the name nowhere");
    let told = folder.kb("symbols --kind gadget").expect(2);
    told.stderr_has("function, class, method");
    let told = folder.kb("symbols --uses par*").expect(2);
    told.stderr_has("pattern");
    folder.write("text/a.md", "# A\n");
    folder.kb("index text -o b.kb").expect(0);
    let told = folder.kb("symbols b.kb").expect(1);
    told.stderr_has("`kb ls -f b.kb`");
}

#[test]
fn an_outline_shows_kinds_and_ends() {
    let folder = indexed();
    let told = folder.kb("outline lib.rs").expect(0);
    let shown = "  9  3 impl Reader  impl, lines 9-14\n";
    told.stdout_has(shown);
    let told = folder.kb("get lib.rs --section 'fn helper'").expect(0);
    assert_eq!(
        told.stdout,
        "fn helper(text: &str) -> usize {\n    text.len()\n}"
    );
}

#[test]
fn lines_that_call_a_name_are_told_from_others() {
    let folder = Folder::empty();
    folder.write(
        "in/a.py",
        "def load(path):\n    return path\n\n\ndef main(paths):\n    load(1)\n    # load(2)\n    return map(load, paths)\n",
    );
    folder.kb("index in -o a.kb").expect(0);
    let shown = folder.kb("symbols --uses load").expect(0).stdout;
    assert!(
        shown.contains("\n    called in line 6; named in line 7, 8\n"),
        "{shown}"
    );
    let lines = folder.kb("symbols --uses load --json");
    let line = &lines.expect(0).json_lines()[0];
    assert_eq!(line["used_in_lines"], serde_json::json!([6, 7, 8]));
    assert_eq!(line["called_in_lines"], serde_json::json!([6]));
}

#[test]
fn several_files_are_asked_one_after_the_other() {
    let folder = indexed();
    folder.write("other/b.py", "def start(text):\n    return helper(text)\n");
    folder.kb("index other -o b.kb").expect(0);
    let ask = |flags: &[&str]| {
        let several = ["symbols", "-f", "b.kb", "-f", "a.kb"];
        run(folder.command().args(several).args(flags))
    };
    let shown = ask(&["--uses", "helper"]);
    let shown = shown.expect(0).stdout;
    assert!(
        shown.starts_with("b.kb b.py:1-2  function  def start"),
        "{shown}"
    );
    assert!(shown.contains("\na.kb src/lib.rs:11-13  method"), "{shown}");
    let all = ask(&["--json", "-k", "2"]);
    let lines = all.expect(0).json_lines();
    assert_eq!(lines[0]["file"], "b.kb");
    assert_eq!(lines[1]["file"], "a.kb");
    let next = lines[2]["paging"]["continuation"].as_str().unwrap();
    let rest = ask(&["--json", "--continue", next]);
    assert_eq!(rest.expect(0).json_lines()[0]["name"], "Reader");
    let refused = folder.kb(["symbols", "a.kb", "--continue", next]).expect(2);
    refused.stderr_has("--continue");
}

/// A method, a function and a function of a module, all of one name.
fn spawning() -> Folder {
    let folder = Folder::empty();
    let rust = "pub struct Kiln;\n\nimpl Kiln {\n    pub fn fire(&self) {}\n}\n";
    folder.write("in/src/kiln.rs", rust);
    folder.write("in/src/oven.rs", "pub fn fire() {}\n");
    folder.write(
        "in/pot.py",
        "class Wheel:\n    def fire(self, clay):\n        return shape(clay)\n\n\ndef shape(clay):\n    return clay\n",
    );
    let cpp = "namespace clay {\nvoid Rack::fire(int n) { turn(n); }\n}\n";
    folder.write("in/rack.cpp", cpp);
    folder.kb("index in -o a.kb").expect(0);
    folder
}

#[test]
fn a_name_may_say_what_holds_the_symbol() {
    let folder = spawning();
    for (name, place) in [
        ("Kiln::fire", "src/kiln.rs:4"),
        ("crate::kiln::Kiln::fire", "src/kiln.rs:4"),
        ("kiln.fire", "src/kiln.rs:4"),
        ("oven::fire", "src/oven.rs:1"),
        ("Wheel.fire", "pot.py:2-3"),
        ("pot.Wheel.fire(clay)", "pot.py:2-3"),
        ("Wheel#fire()", "pot.py:2-3"),
        ("class Wheel > def fire", "pot.py:2-3"),
        ("shape()", "pot.py:6-7"),
        ("Rack::fire", "rack.cpp:2"),
        ("clay::Rack::fire", "rack.cpp:2"),
        ("wheel.*", "pot.py:2-3"),
    ] {
        let told = folder.kb(["symbols", "--name", name]).expect(0);
        let lines: Vec<&str> = told.stdout.lines().collect();
        assert_eq!(lines.len(), 1, "{name}: {told:#?}");
        assert!(
            lines[0].starts_with(&format!("{place}  ")),
            "{name}: {told:#?}"
        );
    }
    let used = folder.kb("symbols --uses shape()").expect(0);
    assert!(used.stdout.starts_with("pot.py:2-3  "), "{used:#?}");
    let used = folder.kb("symbols --used-by Wheel.fire()").expect(0);
    assert!(used.stdout.starts_with("pot.py:6-7  "), "{used:#?}");
}

#[test]
fn a_name_that_nothing_holds_names_those_of_its_last_part() {
    let folder = spawning();
    let told = folder.kb("symbols --name Barge::fire").expect(1);
    told.stderr_has("no symbol is Barge::fire; 4 have the name fire");
    let told = folder.kb("symbols --name Barge::shape").expect(1);
    told.stderr_has("pot.py:6");
}

#[test]
fn a_filter_by_symbol_takes_what_holds_it() {
    let folder = spawning();
    let flags = ["search", "fire", "--json", "--mode", "keyword", "--symbol"];
    let mut command = folder.command();
    command.args(flags).arg("Wheel.fire");
    let hits = run(&mut command).expect(0).json_lines();
    assert_eq!(hits.len(), 1, "{hits:#?}");
    assert_eq!(hits[0]["document"], "pot.py");
}
