//! Programs that were broken at random, in every language: what is known of them stands in their text, and names the
//! lines of the original.

use kb_types::Symbol;

use super::*;

/// Real ones, cut short.
#[rustfmt::skip]
const PROGRAMS: &[(&str, &str)] = &[
    ("a.rs", "//! Room.\n\nuse std::io;\n\n/// Doc \u{e9}.\n#[derive(Debug)]\npub struct A<T> {\n    b: Vec<T>,\n}\n\nimpl<T> A<T> {\n    /// Adds.\n    pub fn add(&mut self, t: T) -> usize {\n        let s = \"x\\n{\";\n        self.b.push(t);\n        s.len()\n    }\n}\n\nconst N: u8 = b'{';\n"),
    ("a.py", "\"\"\"Room.\"\"\"\nimport os\n\nN = 3\n\n@deco(\n    1,\n)\nclass A(B):\n    '''Doc \u{4e16}.'''\n\n    def run(self, *, a=None) -> str:\n        \"\"\"Runs.\"\"\"\n        return f\"{a!r}\\n\"\n\n    async def b(self):\n        await c\n"),
    ("a.js", "'use strict'\n\n/** Doc. */\nexport class A extends B {\n  #c = 1\n  static run(a, { b }) {\n    return `x ${a + `${b}`}`\n  }\n}\n\nconst f = (a) => ({ a })\nmodule.exports = { f, g() { return /[/]/ } }\n"),
    ("a.ts", "import { B } from './b'\n\n/** Doc. */\nexport interface A<T> {\n  b?: T\n  c(): Promise<void>\n}\n\nexport type C = A<string> | undefined\n\nenum D { E = 1 }\n\nexport default abstract class F {\n  private g = 1\n  constructor(readonly h: C) {}\n}\n"),
    ("a.tsx", "export const A: React.FC = ({ b }) => {\n  const c = useState<string>()\n  return <div className=\"d\">{c ?? <B />}</div>\n}\n"),
    ("a.go", "// Package a.\npackage a\n\nimport (\n\t\"fmt\"\n)\n\n// T is.\ntype T struct {\n\tA int `json:\"a\"`\n}\n\n// Run runs.\nfunc (t *T) Run(a ...int) (int, error) {\n\tdefer func() { recover() }()\n\treturn fmt.Println(`x\n`)\n}\n"),
    ("A.java", "package a;\n\nimport java.util.*;\n\n/** Doc. */\n@Entity(name = \"a\")\npublic class A<T> implements B {\n  private final int c = 1;\n\n  /** Runs. */\n  @Override\n  public <U> void run(U u) throws E {\n    new Runnable() { public void run() {} }.run();\n  }\n\n  enum D { X, Y }\n}\n"),
    ("a.c", "/* Doc. */\n#include <a.h>\n#define MAX(a, b) \\\n    ((a) > (b) ? (a) : (b))\n#ifdef B\nstatic int ZEXPORT run(char FAR *a) {\n#else\nint run(a) char *a; {\n#endif\n    return '\\'';\n}\n\ntypedef struct { int x; } P;\n"),
    ("a.cpp", "#pragma once\nnamespace a::b {\n// Doc.\ntemplate <typename T>\nclass A : public B {\npublic:\n  ~A() override = default;\n  T operator()(int x) const { return [&] { return R\"(})\"; }(); }\n};\n}\nint A<int>::run() { return 1; }\n"),
    ("A.cs", "using System;\n\nnamespace A.B;\n\n/// <summary>Doc.</summary>\n[Attr]\npublic sealed class C : D\n{\n    public int E { get; set; } = 1;\n    public async Task<F> Run(string s) => $\"{s}\";\n}\n"),
    ("a.rb", "# Doc.\nmodule A\n  class B < C\n    attr_reader :d\n\n    def self.run(a, &b)\n      puts <<~X\n        #{a}\n      X\n    end\n  end\nend\n"),
    ("a.php", "<html>\n<?php\nnamespace A;\n\n/** Doc. */\nclass B extends C\n{\n    public function run(?int $a = null): string\n    {\n        return \"x {$a}\";\n    }\n}\n?>\n</html>\n"),
    ("a.kt", "package a\n\n/** Doc. */\ndata class A(val b: Int) : B() {\n    companion object {\n        const val C = 1\n    }\n\n    override fun run(d: (Int) -> Unit) = \"${b} x\"\n}\n\nfun <T> T.ext(): T = this\n"),
    ("a.scala", "package a\n\n/** Doc. */\ncase class A(b: Int) extends B {\n  def run[T](c: T): String = s\"$b\"\n}\n\nobject A {\n  val d = 1\n}\n"),
    ("a.sh", "#!/bin/bash\n# Doc.\nset -e\n\nrun() {\n  local a=\"$(cat <<X\n${1:-b}\nX\n)\"\n  case $a in (b) echo;; esac\n}\n\nexport B=1\nrun \"$@\"\n"),
    ("a.lua", "-- Doc.\nlocal M = {}\n\nfunction M.run(a, ...)\n  return [[x\n]]\nend\n\nM.b = function() end\n\nreturn M\n"),
    ("a.tf", "# Doc.\nresource \"a\" \"b\" {\n  for_each = toset([\"x\"])\n  name     = \"${var.c}-d\"\n  dynamic \"e\" {\n    content {}\n  }\n}\n\nvariable \"c\" {\n  default = <<-X\n    y\n  X\n}\n"),
    ("a.css", "/* Doc. */\n@media (min-width: 1px) {\n  .a > b::before,\n  #c {\n    content: \"}\";\n  }\n}\n\n:root { --d: 1px }\n"),
    ("a.toml", "# Doc.\na = 1\n\n[b.c]\nd = [\n  \"x\",\n]\n\n[[e]]\nf = '''\ny\n'''\n"),
    ("Makefile", "# Doc.\nA := $(shell b)\n\n.PHONY: run\nrun: c.o\n\t@echo $(A)\n\nifdef D\nd:\n\ttrue\nendif\n"),
    ("Dockerfile", "# Doc.\nFROM a:1 AS b\nRUN x && \\\n    y\nCOPY --from=b /c /d\nFROM e\nCMD [\"f\"]\n"),
    ("a.swift", "import A\n\n/// Doc.\nfinal class B: C {\n    func run(_ a: Int) -> String {\n        return \"\\(a)\"\n    }\n}\n"),
];

const PIECES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    "\"",
    "'",
    "`",
    "\"\"\"",
    "/*",
    "*/",
    "//",
    "#",
    "\\",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    ";",
    ":",
    ",",
    "\u{0}",
    "\u{feff}",
    "\u{e9}",
    "\u{1f600}",
    "\u{2028}",
    "#if A\n",
    "#else\n",
    "#endif\n",
    "end\n",
    "<<X\n",
    "${",
    "=> ",
    "class A",
    "fn f",
    "def g(",
    "@a\n",
    "/** b */\n",
    "    ",
];

/// A change of a text: where, how many characters are taken out, and what comes in their place.
type Change = (prop::sample::Index, usize, usize);

fn change(text: &str, (place, taken, piece): &Change) -> String {
    let characters: Vec<char> = text.chars().collect();
    let at = place.index(characters.len() + 1);
    let (head, tail) = characters.split_at(at);
    let tail = tail.get(*taken..).unwrap_or_default();
    let piece = match PIECES.get(*piece) {
        Some(piece) => (*piece).to_owned(),
        // A part of it once more.
        None => characters.iter().skip(at / 2).take(80).collect(),
    };
    head.iter().collect::<String>() + &piece + &tail.iter().collect::<String>()
}

/// Lines of the original that end before a byte of a document, from 1.
fn line_of(text: &str, at: u32) -> u32 {
    text[..at as usize].matches('\n').count() as u32 + 1
}

fn check_symbols(symbols: &[Symbol], text: &str) {
    let slice = |start: u32, end: u32| text.get(start as usize..end as usize).unwrap();
    for (position, symbol) in symbols.iter().enumerate() {
        let held = slice(symbol.span.start, symbol.span.end);
        assert!(!held.is_empty() && !symbol.name.trim().is_empty());
        assert!(symbol.start_with_doc() <= symbol.span.start);
        assert!(text.is_char_boundary(symbol.name_start as usize));
        assert!(symbol.span.start <= symbol.name_start && symbol.name_start < symbol.span.end);
        if let Some(doc) = symbol.doc {
            assert!(!slice(doc.start, doc.end).is_empty());
        }
        assert_eq!(symbol.lines.first, line_of(text, symbol.span.start));
        let held = held.strip_suffix('\n').unwrap_or(held);
        assert_eq!(
            symbol.lines.last,
            symbol.lines.first + held.matches('\n').count() as u32
        );
        if let Some(parent) = symbol.parent {
            assert!((parent as usize) < position, "{symbol:?}");
        }
    }
}

fn check_program(path: &str, bytes: &[u8], text: &str) {
    // What holds more zeros than a text is refused.
    let Ok(document) = extract(path, bytes) else {
        return;
    };
    assert_eq!(
        document.text.matches('\n').count(),
        text.matches('\n').count(),
        "{path}"
    );
    check_symbols(&document.syntax.symbols, &document.text);
    let cuts = document.syntax.cuts.iter().map(|cut| cut.at);
    assert!(cuts.clone().is_sorted());
    for at in cuts {
        let head = &document.text[..at as usize];
        assert!(head.is_empty() || head.ends_with('\n'));
    }
    checked(&document);
}

#[test]
fn every_program_of_the_table_has_symbols_and_lines() {
    for (path, text) in PROGRAMS {
        let document = document(path, text);
        let is_parsed = kb_extract::syntax::has_grammar(&document.language);
        assert_eq!(!document.syntax.symbols.is_empty(), is_parsed, "{path}");
        for text in [(*text).to_owned(), text.replace('\n', "\r\n")] {
            check_program(path, text.as_bytes(), &text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_broken_program_is_cut_with_the_lines_of_its_bytes(
        program in prop::sample::select(PROGRAMS),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..40usize, 0..PIECES.len() + 4), 1..8),
        ending in 0..3usize,
        encoding in 0..4usize,
    ) {
        let (path, text) = program;
        let mut text = changes.iter().fold(text.to_owned(), |text, one| change(&text, one));
        if ending == 0 {
            text = text.replace('\n', "\r\n");
        }
        let utf_16 = || text.encode_utf16().flat_map(u16::to_le_bytes);
        let bytes = match encoding {
            0 => b"\xFF\xFE".iter().copied().chain(utf_16()).collect(),
            1 => encoding_rs::WINDOWS_1252.encode(&text).0.into_owned(),
            // Bytes that are no UTF-8.
            2 => [text.as_bytes(), b" \xFF\xFE\xE9"].concat(),
            _ => text.clone().into_bytes(),
        };
        check_program(path, &bytes, &text);
    }
}
