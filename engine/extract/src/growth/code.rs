//! Constructs of programs. Grammars are libraries in C: how much they compute is bounded by the steps that a parser may
//! take, which grow with the length of the text.

use super::{Construct, check, repeated};

/// Of every language: brackets, texts and comments that are begun, ended or neither.
const COMMON: &[(&str, &str)] = &[
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("\"a", "\""),
    ("'a", "'"),
    ("/* a", "*/"),
    ("<", ">"),
    ("a + ", ""),
    ("a.", ""),
    ("a, ", ""),
    ("a\n", ""),
    ("- ", ""),
    ("#", "\n"),
];

/// Of each language: definitions, and what may be nested.
const OF_LANGUAGES: &[(&str, &[(&str, &str)])] = &[
    (
        "a.rs",
        &[
            ("fn a{n}() {\n", "}\n"),
            ("mod a{n} {\n", "}\n"),
            ("impl A {\n", "}\n"),
            ("/// a\n", ""),
            ("#[a]\n", ""),
            ("a::<", ">"),
            ("match a { b => ", "}\n"),
        ],
    ),
    (
        "a.py",
        &[
            ("def a{n}():\n  b\n", ""),
            ("class A{n}:\n  pass\n", ""),
            ("if a:\n  b\nelse:\n  c\n", ""),
            ("'''a", "'''\n"),
            ("f'{", "}'"),
            ("lambda: ", ""),
        ],
    ),
    (
        "a.js",
        &[
            ("function a{n}() {\n", "}\n"),
            ("class A{n} {\n", "}\n"),
            ("a => ", "\n"),
            ("`${", "}`"),
            ("<a>", "</a>"),
            ("/a", "/\n"),
        ],
    ),
    (
        "a.ts",
        &[
            ("function a{n}(b: C): D {\n", "}\n"),
            ("interface A{n} {\n", "}\n"),
            ("type A = B<", ">\n"),
            ("a as ", ""),
        ],
    ),
    (
        "a.go",
        &[
            ("func a{n}() {\n", "}\n"),
            ("type A{n} struct {\n", "}\n"),
            ("`a", "`\n"),
        ],
    ),
    (
        "a.java",
        &[
            ("class A{n} {\n", "}\n"),
            ("void a{n}() {\n", "}\n"),
            ("@A ", ""),
            ("A<", ">"),
        ],
    ),
    (
        "a.c",
        &[
            ("int a{n}(void) {\n", "}\n"),
            ("struct a{n} {\n", "};\n"),
            ("#if A\n", "#endif\n"),
            ("#define A{n} b\n", ""),
            ("*", ""),
            ("(a)", ""),
        ],
    ),
    (
        "a.cpp",
        &[
            ("class A{n} {\n", "};\n"),
            ("namespace a {\n", "}\n"),
            ("template<class A> void b{n}() {\n", "}\n"),
            ("a<", ">"),
            ("#ifdef A\n", "#endif\n"),
        ],
    ),
    (
        "a.cs",
        &[
            ("class A{n} {\n", "}\n"),
            ("void A{n}() {\n", "}\n"),
            ("#region a\n", "#endregion\n"),
            ("$\"{", "}\""),
        ],
    ),
    (
        "a.rb",
        &[
            ("def a{n}\n", "end\n"),
            ("class A{n}\n", "end\n"),
            ("do |a|\n", "end\n"),
            ("<<A\n", "A\n"),
        ],
    ),
    (
        "a.php",
        &[
            ("<?php function a{n}() {\n", "}\n?>"),
            ("<?php class A{n} {\n", "}\n?>"),
            ("<?php ", "?>"),
        ],
    ),
    (
        "a.sh",
        &[
            ("a{n}() {\n", "}\n"),
            ("if a; then\n", "fi\n"),
            ("$(", ")"),
            ("<<A\n", "A\n"),
            ("a | ", ""),
        ],
    ),
    ("a.lua", &[("function a{n}()\n", "end\n"), ("[[a", "]]\n")]),
    (
        "a.kt",
        &[
            ("fun a{n}() {\n", "}\n"),
            ("class A{n} {\n", "}\n"),
            ("\"${", "}\""),
        ],
    ),
    (
        "a.css",
        &[
            (".a{n} {\n", "}\n"),
            ("@media a {\n", "}\n"),
            ("a ", ""),
            (":not(", ")"),
        ],
    ),
    (
        "a.tf",
        &[("resource \"a\" \"b{n}\" {\n", "}\n"), ("\"${", "}\"")],
    ),
    (
        "a.toml",
        &[("[a{n}]\n", ""), ("a{n} = 1\n", ""), ("a = [", "]\n")],
    ),
    (
        "Dockerfile",
        &[
            ("RUN a\n", ""),
            ("RUN a \\\n", ""),
            ("FROM a AS b{n}\n", ""),
        ],
    ),
    (
        "Makefile",
        &[
            ("a{n}: b\n\tc\n", ""),
            ("A{n} = b\n", ""),
            ("$(", ")"),
            ("ifdef A\n", "endif\n"),
        ],
    ),
];

/// What the grammars themselves read in quadratic time: the marks of texts that go on to a line of their own, of which
/// none comes, and names without anything else. The worker ends such a file, and it is read without being parsed.
const OF_LIBRARIES: [(&str, &str); 3] = [("a.sh", "<<A\n"), ("a.lua", "a\n"), ("a.lua", "#")];

#[test]
fn programs_are_read_in_linear_time() {
    let mut constructs = Vec::new();
    for (file, own) in OF_LANGUAGES {
        let file: &'static str = file;
        for (open, close) in COMMON.iter().chain(*own) {
            let (open, close): (&'static str, &'static str) = (open, close);
            if OF_LIBRARIES.contains(&(file, open)) {
                continue;
            }
            constructs.push(Construct::new(
                file,
                format!("{open:?} begun"),
                move |bytes| repeated(open, bytes).into_bytes(),
            ));
            if close.is_empty() {
                continue;
            }
            constructs.push(Construct::new(
                file,
                format!("{open:?} and {close:?} in a row"),
                move |bytes| repeated(&format!("{open}{close}"), bytes).into_bytes(),
            ));
            constructs.push(Construct::new(
                file,
                format!("{open:?} inside each other"),
                move |bytes| {
                    let times = bytes / (open.len() + close.len());
                    let nested =
                        repeated(open, times * open.len()) + &repeated(close, times * close.len());
                    nested.into_bytes()
                },
            ));
        }
    }
    check(constructs, 8 << 10, 64 << 10);
}
