//! Fields and variants, what JavaScript exports, in small programs of each language.

use kb_types::SymbolKind;
use kb_types::syntax::nesting::hierarchy;

use crate::syntax::parser::{SyntaxOptions, SyntaxParser};

/// Line, kind and hierarchy of each symbol, for fields also the signature.
fn shown(language: &str, path: &str, text: &str) -> Vec<String> {
    let syntax = SyntaxParser::new(SyntaxOptions::default()).parse(language, path, text);
    let symbols = syntax.symbols.iter().enumerate();
    let line = |(at, symbol): (usize, &kb_types::Symbol)| {
        let hierarchy = hierarchy(&syntax.symbols[..], at);
        let of_field = match symbol.kind {
            SymbolKind::Field => format!(": {}", symbol.signature(text)),
            _ => String::new(),
        };
        format!(
            "{} {} {hierarchy}{of_field}",
            symbol.lines.first, symbol.kind
        )
    };
    symbols.map(line).collect()
}

#[cfg(feature = "grammar-go")]
#[test]
fn go_fields_of_several_names_and_of_inner_structs() {
    let text = "package a\n\ntype Config struct {\n\tio.Reader\n\tHost, Port string `json:\"host\"`\n\tAdmin struct {\n\t\tListen string\n\t}\n}\n\n\
                func f() {\n\ttype local struct {\n\t\tn int\n\t}\n}\n";
    assert_eq!(
        shown("go", "a.go", text),
        [
            "3 struct type Config",
            "5 field type Config > Host: Host, Port string `json:\"host\"`",
            "5 field type Config > Port: Host, Port string `json:\"host\"`",
            "6 field type Config > Admin: Admin struct",
            "7 field type Config > Listen: Listen string",
            "11 function func f",
            "12 struct func f > type local",
        ]
    );
}

#[cfg(feature = "grammar-rust")]
#[test]
fn rust_fields_and_variants_begin_with_their_attributes() {
    let text = "/// Doc.\nstruct A {\n    /// Of it.\n    #[serde(default)]\n    pub max_age: u32,\n}\nstruct T(u8);\n\
                enum E {\n    One,\n    Two { at: u8 },\n}\nimpl A {\n    fn f(&self) {}\n}\n";
    assert_eq!(
        shown("rust", "a.rs", text),
        [
            "2 struct struct A",
            "4 field struct A > max_age: pub max_age: u32",
            "7 struct struct T",
            "8 enum enum E",
            "9 field enum E > One: One",
            "10 field enum E > Two: Two { at: u8 }",
            "10 field enum E > at: at: u8",
            "12 impl impl A",
            "13 method impl A > fn f",
        ]
    );
}

#[cfg(feature = "grammar-c")]
#[test]
fn c_fields_of_several_declarators_and_pointers_to_functions() {
    let text = "struct ops {\n  int a, *b, c[3];\n  int (*open)(const char *path);\n  union { int n; } u;\n};\nenum { LOW, HIGH = 3 };\n\
                int f(struct ops *it) { struct local { int m; } x; return it->a; }\n";
    assert_eq!(
        shown("c", "a.c", text),
        [
            "1 struct struct ops",
            "2 field struct ops > a: int a, *b, c[3]",
            "2 field struct ops > b: int a, *b, c[3]",
            "2 field struct ops > c: int a, *b, c[3]",
            "3 field struct ops > open: int (*open)(const char *path)",
            "4 field struct ops > u: union { int n; } u",
            "4 field struct ops > n: int n",
            "7 function f",
            "7 struct f > struct local",
        ]
    );
}

#[cfg(feature = "grammar-cpp")]
#[test]
fn cpp_members_are_functions_or_fields() {
    let text = "class Pool {\n public:\n  int size() const;\n  void (*hook)(int);\n  int count = 0;\n};\nenum class Mode { Fast, Slow };\n";
    assert_eq!(
        shown("cpp", "a.cpp", text),
        [
            "1 class class Pool",
            "3 method class Pool > size",
            "4 field class Pool > hook: void (*hook)(int)",
            "5 field class Pool > count: int count = 0",
            "7 enum enum Mode",
            "7 field enum Mode > Fast: Fast",
            "7 field enum Mode > Slow: Slow",
        ]
    );
}

#[cfg(feature = "grammar-java")]
#[test]
fn java_fields_components_and_variants() {
    let text = "class A {\n  @Id private long id, key;\n  A(int start) { int local = 1; }\n}\nrecord P(int x, int y) {}\n\
                enum E { ONE, TWO { void f() {} } }\n";
    assert_eq!(
        shown("java", "A.java", text),
        [
            "1 class class A",
            "2 field class A > id: private long id, key",
            "2 field class A > key: private long id, key",
            "3 method class A > A",
            "5 class record P",
            "5 field record P > x: int x",
            "5 field record P > y: int y",
            "6 enum enum E",
            "6 field enum E > ONE: ONE",
            "6 constant enum E > TWO",
            "6 method enum E > TWO > f",
        ]
    );
}

#[cfg(feature = "grammar-csharp")]
#[test]
fn csharp_fields_and_variants() {
    let text = "class A {\n  private int a, b;\n  public int Size { get; set; }\n}\nenum E { One, Two = 2 }\n";
    assert_eq!(
        shown("csharp", "A.cs", text),
        [
            "1 class class A",
            "2 field class A > a: private int a, b",
            "2 field class A > b: private int a, b",
            "3 method class A > Size",
            "5 enum enum E",
            "5 field enum E > One: One",
            "5 field enum E > Two: Two = 2",
        ]
    );
}

#[cfg(feature = "grammar-kotlin")]
#[test]
fn kotlin_variants_and_parameters_that_are_properties() {
    let text = "class A(val x: Int, y: Int) {\n  fun f(z: Int) { val local = 1 }\n}\nenum class E { ONE, TWO }\n";
    assert_eq!(
        shown("kotlin", "A.kt", text),
        [
            "1 class class A",
            "1 field class A > x: val x: Int",
            "2 method class A > fun f",
            "4 enum enum class E",
            "4 field enum class E > ONE: ONE",
            "4 field enum class E > TWO: TWO",
        ]
    );
}

#[cfg(feature = "grammar-typescript")]
#[test]
fn typescript_fields_of_classes_interfaces_and_types() {
    let text = "interface Options {\n  timeout?: number;\n  done(): void;\n}\ntype Pair = { left: string };\n\
                class A {\n  private readonly limit = 3;\n  constructor(private db: Db) { this.x = 1; }\n}\n\
                enum Color { Red, Green = 'g' }\nfunction f(o: { inner: number }) {}\n";
    assert_eq!(
        shown("typescript", "a.ts", text),
        [
            "1 interface interface Options",
            "2 field interface Options > timeout: timeout?: number",
            "3 method interface Options > done",
            "5 type type Pair",
            "5 field type Pair > left: left: string",
            "6 class class A",
            "7 field class A > limit: private readonly limit = 3",
            "8 method class A > constructor",
            "10 enum enum Color",
            "10 field enum Color > Red: Red",
            "10 field enum Color > Green: Green = 'g'",
            "11 function function f",
        ]
    );
}

#[cfg(feature = "grammar-python")]
#[test]
fn python_attributes_of_classes() {
    let text = "class A:\n    name: str\n    size: int = 3\n    size = 4\n    a.b = 1\n\n    def f(self):\n        self.x = 1\n        y = 2\n";
    assert_eq!(
        shown("python", "a.py", text),
        [
            "1 class class A",
            "2 field class A > name: name: str",
            "3 field class A > size: size: int = 3",
            "7 method class A > def f",
        ]
    );
}

#[cfg(feature = "grammar-php")]
#[test]
fn php_properties_have_no_dollar() {
    let text = "<?php\nclass A {\n  private int $size = 1;\n  function f() { $local = 1; }\n}\nenum E { case One; }\n";
    assert_eq!(
        shown("php", "a.php", text),
        [
            "2 class class A",
            "3 field class A > size: $size = 1",
            "4 method class A > function f",
            "6 enum enum E",
            "6 field enum E > One: case One",
        ]
    );
}

#[cfg(feature = "grammar-javascript")]
#[test]
fn javascript_exports_and_prototypes_define_names() {
    let text = "exports.LIMIT = 5;\nexports.parse = parse;\nmodule.exports.Pool = class {};\nmodule.exports = function start(a) {};\n\
                Queue.prototype = {\n  push: function (a) {},\n  pop() {},\n};\nmodule.exports = { parse, open: () => 1 };\n\
                a.b = 3;\nfunction f() { exports.inner = 1; }\n";
    assert_eq!(
        shown("javascript", "a.js", text),
        [
            "1 constant LIMIT",
            "3 class class Pool",
            "4 function start",
            "5 impl prototype Queue",
            "6 method prototype Queue > push",
            "7 method prototype Queue > pop",
            "9 method open",
            "11 function function f",
        ]
    );
}
