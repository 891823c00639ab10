//! A snippet of each language, and programs that are broken or made to harm.

use std::fmt::Write as _;

use kb_types::SymbolKind;
use kb_types::syntax::nesting::hierarchy;

use super::*;

fn parse(language: &str, path: &str, text: &str) -> Syntax {
    SyntaxParser::new(SyntaxOptions { uses: true }).parse(language, path, text)
}

/// Lines, kind, hierarchy and signature of each symbol.
fn shown(language: &str, path: &str, text: &str) -> Vec<String> {
    let syntax = parse(language, path, text);
    let symbols = syntax.symbols.iter().enumerate();
    symbols
        .map(|(position, symbol)| {
            format!(
                "{}-{} {} | {} | {}",
                symbol.lines.first,
                symbol.lines.last,
                symbol.kind,
                hierarchy(&syntax.symbols[..], position),
                symbol.signature(text)
            )
        })
        .collect()
}

#[track_caller]
fn assert_shown(language: &str, path: &str, text: &str, expected: &[&str]) {
    assert_eq!(shown(language, path, text), expected);
}

#[cfg(feature = "grammar-rust")]
#[test]
fn rust_items_and_methods() {
    let text = "/// Doc.\n#[derive(Debug)]\npub struct Foo<T>(T);\n\nimpl<T> Clone for Foo<T> {\n    \
                #[inline]\n    fn clone(&self) -> Self {\n        const N: u8 = 1;\n        todo!()\n    }\n}\n\
                const MAX: usize = 3;\nmod inner {\n    fn free() {}\n}\n";
    assert_shown(
        "rust",
        "a.rs",
        text,
        &[
            "2-3 struct | struct Foo | pub struct Foo<T>",
            "5-11 impl | impl Clone for Foo<T> | impl<T> Clone for Foo<T>",
            "6-10 method | impl Clone for Foo<T> > fn clone | fn clone(&self) -> Self",
            "12-12 constant | const MAX | const MAX: usize = 3",
            "13-15 module | mod inner | mod inner",
            "14-14 function | mod inner > fn free | fn free()",
        ],
    );
    let syntax = parse("rust", "a.rs", text);
    let foo = &syntax.symbols[0];
    let doc = foo.doc.unwrap();
    assert_eq!(
        text[doc.start as usize..doc.end as usize].trim_end(),
        "/// Doc."
    );
    assert_eq!(foo.start_with_doc(), 0);
}

#[cfg(feature = "grammar-python")]
#[test]
fn python_decorators_and_docstrings() {
    let text = "import os\nLIMIT = 3\nLIMIT = 4\n\nclass A(B):\n    x = 1\n\n    @property\n    \
                def size(self):\n        \"\"\"How large.\"\"\"\n        return len(self)\n";
    assert_shown(
        "python",
        "a.py",
        text,
        &[
            "2-2 constant | LIMIT | LIMIT = 3",
            "5-11 class | class A | class A(B)",
            "6-6 field | class A > x | x = 1",
            "8-11 method | class A > def size | def size(self)",
        ],
    );
    let syntax = parse("python", "a.py", text);
    let doc = syntax.symbols[3].doc.unwrap();
    assert_eq!(
        &text[doc.start as usize..doc.end as usize],
        "\"\"\"How large.\"\"\""
    );
    let called: Vec<&str> = (syntax.uses.iter().filter(|used| used.is_call))
        .map(|used| &text[used.span.start as usize..used.span.end as usize])
        .collect();
    assert_eq!(called, ["len"]);
}

#[cfg(feature = "grammar-go")]
#[test]
fn go_types_and_groups() {
    let text = "package a\n\n// Kinds.\nconst (\n\tOne = 1\n\tTwo = 2\n)\n\n// Store keeps.\ntype Store struct {\n\tn int\n}\n\n\
                func (s *Store) Get(k string) error {\n\treturn nil\n}\n\ntype Doer interface {\n\tDo()\n}\n";
    assert_shown(
        "go",
        "a.go",
        text,
        &[
            "5-5 constant | const One | One = 1",
            "6-6 constant | const Two | Two = 2",
            "10-12 struct | type Store | type Store struct",
            "11-11 field | type Store > n | n int",
            "14-16 method | func Store.Get | func (s *Store) Get(k string) error",
            "18-20 interface | type Doer | type Doer interface",
            "19-19 method | type Doer > Do | Do()",
        ],
    );
}

#[cfg(feature = "grammar-go")]
#[test]
fn go_methods_have_the_names_of_their_receivers() {
    let text = "package a\n\nfunc (p Pair[K, V]) Key() K { return p.k }\n\nfunc (l *List[T]) Len() int { return 0 }\n\n\
                func (Empty) Do() {}\n\nfunc Top() {}\n";
    assert_shown(
        "go",
        "a.go",
        text,
        &[
            "3-3 method | func Pair.Key | func (p Pair[K, V]) Key() K",
            "5-5 method | func List.Len | func (l *List[T]) Len() int",
            "7-7 method | func Empty.Do | func (Empty) Do()",
            "9-9 function | func Top | func Top()",
        ],
    );
}

#[cfg(feature = "grammar-javascript")]
#[test]
fn javascript_functions_of_objects_have_their_names() {
    let text = "app.use = function use(fn) {}\nexports.open = async (p) => p\nmodule.exports.shut = function () {}\n\
                this.run = () => 1\na.b.go = () => 1\nlist[0].go = () => 1\nfree = () => 1\n";
    assert_shown(
        "javascript",
        "a.js",
        text,
        &[
            "1-1 function | app.use | app.use = function use(fn)",
            "2-2 function | open | exports.open = async (p)",
            "3-3 function | shut | module.exports.shut = function ()",
            "4-4 function | run | this.run = ()",
            "5-5 function | a.b.go | a.b.go = ()",
            "6-6 function | go | list[0].go = ()",
            "7-7 function | free | free = ()",
        ],
    );
}

#[cfg(feature = "grammar-javascript")]
#[test]
fn javascript_functions_that_are_values() {
    let text = "export const add = (a, b) => {\n  const c = a\n  return c + b\n}\nconst LIMIT = 3\n\
                A.prototype.run = function () {}\nclass B {\n  #x = 1\n  go() {}\n  on = () => 1\n}\n\
                it('works', () => {\n  const local = 1\n})\n";
    assert_shown(
        "javascript",
        "a.mjs",
        text,
        &[
            "1-4 function | add | export const add = (a, b)",
            "5-5 constant | LIMIT | const LIMIT",
            "6-6 function | A.run | A.prototype.run = function ()",
            "7-11 class | class B | class B",
            "8-8 field | class B > #x | #x = 1",
            "9-9 method | class B > go | go()",
            "10-10 method | class B > on | on = ()",
        ],
    );
}

#[cfg(feature = "grammar-typescript")]
#[test]
fn typescript_types_with_and_without_jsx() {
    let text = "export interface Shape {\n  area(): number\n}\ntype Id = string\nenum Color { Red }\n\
                namespace N {\n  export function f<T>(x: T): T { return x }\n}\n";
    assert_shown(
        "typescript",
        "a.ts",
        text,
        &[
            "1-3 interface | interface Shape | export interface Shape",
            "2-2 method | interface Shape > area | area(): number",
            "4-4 type | type Id | type Id = string",
            "5-5 enum | enum Color | enum Color",
            "5-5 field | enum Color > Red | Red",
            "6-8 module | namespace N | namespace N",
            "7-7 function | namespace N > function f | export function f<T>(x: T): T",
        ],
    );
    let view = "const View = () => {\n  return <div>{a}</div>\n}\nfunction next() {}\n";
    assert_shown(
        "typescript",
        "a.tsx",
        view,
        &[
            "1-3 function | View | const View = ()",
            "4-4 function | function next | function next()",
        ],
    );
}

#[cfg(feature = "grammar-java")]
#[test]
fn java_members_and_annotations() {
    let text = "package a;\n/** Doc. */\n@Deprecated\npublic class A<T> {\n  static final int MAX = 1;\n  int field;\n  \
                @Override\n  public String toString() { return \"\"; }\n  A() {}\n}\nenum E { X }\n";
    assert_shown(
        "java",
        "A.java",
        text,
        &[
            "3-10 class | class A | public class A<T>",
            "5-5 constant | class A > MAX | static final int MAX = 1",
            "6-6 field | class A > field | int field",
            "7-8 method | class A > toString | public String toString()",
            "9-9 method | class A > A | A()",
            "11-11 enum | enum E | enum E",
            "11-11 field | enum E > X | X",
        ],
    );
}

#[cfg(feature = "grammar-c")]
#[test]
fn c_declarators_and_macros() {
    let text = "#ifndef A_H\n#define A_H\n#define SIZE 3\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\n\
                typedef struct point { int x; } point;\ntypedef enum { RED } color;\ntypedef unsigned long word;\n\
                int open_file(const char *path, int flags);\nstatic const int table[] = {1};\n\
                static char *\nname_of(struct point *p)\n{\n  int local = 1;\n  return 0;\n}\n#endif\n";
    assert_shown(
        "c",
        "a.h",
        text,
        &[
            "3-3 constant | #define SIZE | #define SIZE 3",
            "4-4 function | #define MAX | #define MAX(a, b) ((a) > (b) ? (a) : (b))",
            "5-5 struct | struct point | typedef struct point",
            "5-5 field | struct point > x | int x",
            "6-6 enum | enum color | typedef enum { RED } color",
            "6-6 field | enum color > RED | RED",
            "7-7 type | typedef word | typedef unsigned long word",
            "8-8 function | open_file | int open_file(const char *path, int flags)",
            "9-9 constant | table | static const int table[] = {1}",
            "10-15 function | name_of | static char * name_of(struct point *p)",
        ],
    );
}

#[cfg(feature = "grammar-cpp")]
#[test]
fn cpp_classes_also_in_headers_like_those_of_c() {
    let text = "namespace a {\ntemplate <typename T>\nclass Box : Base {\n public:\n  int size() const { return 1; }\n  \
                void put(T t);\n};\n}\nint a::Box::other() { return 2; }\n";
    for path in ["a.h", "a.cpp"] {
        let language = if path == "a.h" { "c" } else { "cpp" };
        assert_shown(
            language,
            path,
            text,
            &[
                "1-8 module | namespace a | namespace a",
                "2-7 class | namespace a > class Box | template <typename T> class Box : Base",
                "5-5 method | namespace a > class Box > size | int size() const",
                "6-6 method | namespace a > class Box > put | void put(T t)",
                "9-9 function | a::Box::other | int a::Box::other()",
            ],
        );
    }
}

#[cfg(feature = "grammar-csharp")]
#[test]
fn csharp_members() {
    let text = "namespace A.B\n{\n    [Serializable]\n    public class C\n    {\n        const int Max = 1;\n        int field;\n        \
                public int Size { get; set; }\n        public void Run() { }\n    }\n    record Point(int X);\n}\n";
    assert_shown(
        "csharp",
        "a.cs",
        text,
        &[
            "1-12 module | namespace A.B | namespace A.B",
            "3-10 class | namespace A.B > class C | public class C",
            "6-6 constant | namespace A.B > class C > Max | const int Max = 1",
            "7-7 field | namespace A.B > class C > field | int field",
            "8-8 method | namespace A.B > class C > Size | public int Size",
            "9-9 method | namespace A.B > class C > Run | public void Run()",
            "11-11 class | namespace A.B > record Point | record Point(int X)",
        ],
    );
}

#[cfg(feature = "grammar-ruby")]
#[test]
fn ruby_modules_and_methods() {
    let text = "module A\n  # Doc.\n  class B < C\n    MAX = 1\n    def self.make(x)\n    end\n    def empty?\n    end\n    alias none? empty?\n  end\nend\n";
    assert_shown(
        "ruby",
        "a.rb",
        text,
        &[
            "1-11 module | module A | module A",
            "3-10 class | module A > class B | class B < C",
            "4-4 constant | module A > class B > MAX | MAX = 1",
            "5-6 method | module A > class B > def make | def self.make(x)",
            "7-8 method | module A > class B > def empty? | def empty?",
            "9-9 method | module A > class B > alias none? | alias none? empty?",
        ],
    );
}

#[cfg(feature = "grammar-php")]
#[test]
fn php_among_html() {
    let text = "<p>\n<?php\nnamespace A;\ninterface I {}\nabstract class B implements I {\n    const X = 1;\n    \
                public function run(): int { return 1; }\n}\nfunction f() {}\n";
    assert_shown(
        "php",
        "a.php",
        text,
        &[
            "3-3 module | namespace A | namespace A",
            "4-4 interface | interface I | interface I",
            "5-8 class | class B | abstract class B implements I",
            "6-6 constant | class B > const X | const X = 1",
            "7-7 method | class B > function run | public function run(): int",
            "9-9 function | function f | function f()",
        ],
    );
}

#[cfg(feature = "grammar-kotlin")]
#[test]
fn kotlin_classes_and_objects() {
    let text = "package a\n\ninterface Shape { fun area(): Int }\n\ndata class P(val x: Int) {\n    val y = 1\n    \
                companion object {\n        const val MAX = 3\n    }\n}\nfun top(a: Int): Int = a\ntypealias Id = String\n";
    assert_shown(
        "kotlin",
        "a.kt",
        text,
        &[
            "3-3 interface | interface Shape | interface Shape",
            "3-3 method | interface Shape > fun area | fun area(): Int",
            "5-10 class | class P | data class P(val x: Int)",
            "5-5 field | class P > x | val x: Int",
            "6-6 field | class P > y | val y = 1",
            "7-9 class | class P > companion object Companion | companion object",
            "8-8 constant | class P > companion object Companion > const val MAX | const val MAX = 3",
            "11-11 function | fun top | fun top(a: Int): Int",
            "12-12 type | typealias Id | typealias Id = String",
        ],
    );
}

#[cfg(feature = "grammar-scala")]
#[test]
fn scala_objects_and_traits() {
    let text = "package a\n\ntrait Shape {\n  def area: Int\n}\n\nobject Main extends App {\n  val Max = 3\n  val low = 1\n  \
                def run(x: Int): Int = {\n    val Local = 1\n    x\n  }\n}\n";
    assert_shown(
        "scala",
        "a.scala",
        text,
        &[
            "3-5 trait | trait Shape | trait Shape",
            "4-4 method | trait Shape > def area | def area: Int",
            "7-14 class | object Main | object Main extends App",
            "8-8 constant | object Main > val Max | val Max = 3",
            "10-13 method | object Main > def run | def run(x: Int): Int",
        ],
    );
}

#[cfg(feature = "grammar-bash")]
#[test]
fn bash_functions_and_variables() {
    let text = "#!/bin/sh\nreadonly MAX=3\n# Says it.\nsay() {\n  local x=1\n  echo \"$1\"\n}\nfunction other {\n  say a\n}\n";
    assert_shown(
        "bash",
        "a.sh",
        text,
        &[
            "2-2 constant | MAX | readonly MAX=3",
            "4-7 function | say | say()",
            "8-10 function | other | function other",
        ],
    );
}

#[cfg(feature = "grammar-lua")]
#[test]
fn lua_functions_of_tables() {
    let text = "local M = {}\nfunction M.open(path)\nend\nM.close = function(self)\n  go()\nend\nlocal t = {\n  run = function() go() end,\n}\nreturn M\n";
    assert_shown(
        "lua",
        "a.lua",
        text,
        &[
            "1-1 constant | M | local M",
            "2-3 function | function M.open | function M.open(path)",
            "4-6 function | function M.close | M.close = function(self)",
            "7-9 constant | t | local t",
            "8-8 method | t > run | run = function()",
        ],
    );
}

#[cfg(feature = "grammar-hcl")]
#[test]
fn hcl_blocks_are_named_by_their_labels() {
    let text = "variable \"name\" {\n  type = string\n}\n\nresource \"aws_vpc\" \"main\" {\n  tags {\n    a = 1\n  }\n}\nlocals {\n}\n";
    assert_shown(
        "hcl",
        "a.tf",
        text,
        &[
            "1-3 constant | variable name | variable \"name\"",
            "5-9 struct | resource aws_vpc.main | resource \"aws_vpc\" \"main\"",
            "10-11 struct | locals | locals",
        ],
    );
}

#[cfg(all(feature = "grammar-css", feature = "grammar-toml"))]
#[test]
fn css_rules_and_toml_tables() {
    let css = ":root {\n  --blue: #00f;\n}\n.a,\n.b > p {\n  color: red;\n}\n@keyframes spin {\n  from { top: 0 }\n}\n";
    assert_shown(
        "css",
        "a.css",
        css,
        &[
            "1-3 type | :root | :root",
            "2-2 constant | :root > --blue | --blue: #00f",
            "4-7 type | .a, .b > p | .a, .b > p",
            "8-10 type | @keyframes spin | @keyframes spin",
        ],
    );
    let toml = "edition = 1\n[package]\nname = \"a\"\n[[bin]]\npath = \"b\"\n";
    let found: Vec<String> = (parse("toml", "a.toml", toml).symbols.iter())
        .map(|symbol| format!("{} {}", symbol.kind, symbol.name))
        .collect();
    assert_eq!(found, ["constant edition", "module package", "module bin"]);
}

#[cfg(all(feature = "grammar-makefile", feature = "grammar-dockerfile"))]
#[test]
fn make_targets_and_docker_stages() {
    let make = "CC := gcc\n.PHONY: all\nall: a.o\n\t$(CC) a.o\n\ninstall:\n\tcp a b\n";
    let of = |language: &str, path: &str, text: &str| -> Vec<String> {
        let symbols = parse(language, path, text).symbols;
        let named = symbols
            .iter()
            .map(|symbol| format!("{} {}", symbol.kind, symbol.name));
        named.collect()
    };
    assert_eq!(
        of("makefile", "Makefile", make),
        ["constant CC", "function all", "function install"]
    );
    let docker =
        "ARG VERSION=1\nFROM rust:1 AS build\nENV A=b\nFROM debian\nCOPY --from=build /a /b\n";
    assert_eq!(
        of("dockerfile", "Dockerfile", docker),
        ["constant VERSION", "module build", "constant A"]
    );
}

#[test]
fn a_language_without_a_grammar_has_no_syntax() {
    assert_eq!(
        parse("cobol", "a.cob", "IDENTIFICATION DIVISION.\n"),
        Syntax::default()
    );
}

#[cfg(feature = "grammar-rust")]
#[test]
fn what_is_broken_keeps_what_can_be_read() {
    let text = "fn good() {}\r\n\r\nfn half( {\r\n    let x = ;\r\n\r\nfn after(a: u8) -> u8 {\r\n\ta\r\n}\r\n";
    let found = shown("rust", "a.rs", text);
    assert!(
        found.contains(&"1-1 function | fn good | fn good()".to_owned()),
        "{found:?}"
    );
    assert!(
        found
            .iter()
            .any(|line| line.contains("fn after(a: u8) -> u8")),
        "{found:?}"
    );
    for broken in ["", "\u{feff}", "\0\0", "fn", "}}}}", "impl \u{1f600} for"] {
        assert_eq!(parse("rust", "a.rs", broken).fallback, None);
    }
}

#[cfg(feature = "grammar-c")]
#[test]
fn deep_nesting_is_walked_without_a_deep_stack() {
    let depth = 100_000;
    let text = format!(
        "int f() {{ return {}1{}; }}\n",
        "(".repeat(depth),
        ")".repeat(depth)
    );
    let syntax = parse("c", "a.c", &text);
    assert!(syntax.fallback.is_none());
    assert_eq!(syntax.symbols.len(), 1);
    let blocks = format!(
        "void g() {}{}\nint h;\n",
        "{\n".repeat(depth),
        "}\n".repeat(depth)
    );
    let syntax = parse("c", "a.c", &blocks);
    assert_eq!(syntax.symbols[0].name, "g");
    assert!(syntax.cuts.iter().any(|cut| cut.depth == u16::MAX));
}

#[cfg(feature = "grammar-javascript")]
#[test]
fn symbols_deep_in_others_are_left_out() {
    let depth = 10_000;
    let (open, close) = ("function n() {\n".repeat(depth), "}\n".repeat(depth));
    let text = format!("{open}{close}function after() {{}}\n");
    let syntax = parse("javascript", "a.js", &text);
    assert_eq!(syntax.symbols.len(), 65);
    assert_eq!(hierarchy(&syntax.symbols[..], 63).split(" > ").count(), 64);
    assert_eq!(syntax.symbols[64].name, "after");
    assert_eq!(syntax.symbols[64].parent, None);
}

#[cfg(feature = "grammar-javascript")]
#[test]
fn too_large_a_program_is_cut_by_lines() {
    let text = "a;\n".repeat(MAX_SOURCE_BYTES / 3 + 1);
    let syntax = parse("javascript", "a.js", &text);
    assert_eq!(syntax.fallback, Some(SyntaxFallback::TooLarge(text.len())));
    assert!(syntax.symbols.is_empty() && syntax.cuts.is_empty());
}

#[cfg(feature = "grammar-go")]
#[test]
fn many_symbols_are_as_many_as_an_outline_holds() {
    let mut text = String::from("package a\n");
    for number in 0..70_000 {
        writeln!(text, "func f{number}() {{}}").unwrap();
    }
    let syntax = parse("go", "a.go", &text);
    assert_eq!(syntax.symbols.len(), 65_535);
    assert_eq!(syntax.symbols[65_534].lines.first, 65_536);
}

#[cfg(feature = "grammar-python")]
#[test]
fn cuts_stand_at_lines_and_know_what_they_part() {
    let text = "import a\n# Comment\n# goes on.\n@decorated\ndef f(\n    x,\n):\n    if x:\n        y = [\n            1,\n        ]\n    return y\n";
    let syntax = parse("python", "a.py", text);
    let line = |at: u32| text[..at as usize].matches('\n').count() + 1;
    let cuts: Vec<(usize, u16, bool)> = (syntax.cuts.iter())
        .map(|cut| (line(cut.at), cut.depth, cut.is_attached))
        .collect();
    assert_eq!(
        cuts,
        [
            (1, 0, false),
            (2, 0, false),
            (3, 0, true),
            (4, 0, true),
            (5, 1, true),
            (6, 2, false),
            (8, 2, false),
            (9, 3, false),
            (10, 4, false),
            (12, 3, false),
        ]
    );
    for kind in SymbolKind::ALL {
        assert_eq!(SymbolKind::from_name(kind.name()), Some(kind));
        assert_eq!(SymbolKind::from_number(kind as u8), Some(kind));
    }
}
