//! C++, also in headers that are named like those of C.

use kb_types::SymbolKind::{Class, Constant, Enum, Function, Module, Struct, Trait, Type};

use crate::syntax::grammar::{Grammar, Rule};
use crate::syntax::languages::systems::declarator;

pub(in crate::syntax) static GRAMMAR: Grammar = grammar("cpp");
pub(in crate::syntax) static IN_C_HEADERS: Grammar = grammar("c");

const fn grammar(language: &'static str) -> Grammar {
    Grammar {
        rules: RULES,
        wrappers: &["type_definition", "template_declaration"],
        closures: &["lambda_expression"],
        identifiers: &[
            "identifier",
            "type_identifier",
            "field_identifier",
            "namespace_identifier",
        ],
        calls: &[("call_expression", "function")],
        is_preprocessed: true,
        ..Grammar::new(language, || tree_sitter_cpp::LANGUAGE.into())
    }
}

/// Whether a header that is named like one of C has lines that only C++ has.
pub(in crate::syntax) fn is_cpp_header(path: &str, text: &str) -> bool {
    let is_cpp = |line: &str| {
        let line = line.trim_start();
        [
            "class ",
            "namespace ",
            "template<",
            "template <",
            "public:",
            "private:",
            "using ",
        ]
        .iter()
        .any(|word| line.starts_with(word))
    };
    path.ends_with(".h") && text.lines().any(is_cpp)
}

static RULES: &[Rule] = &[
    Rule::new("function_definition", Function, "").found(declarator::function),
    Rule::line("declaration", Function, "").found(declarator::declaration),
    Rule::line("field_declaration", Function, "")
        .found(declarator::member_function)
        .or_fields(declarator::fields),
    Rule::field("enumerator"),
    Rule::new("class_specifier", Class, "class").needs_body(),
    Rule::new("struct_specifier", Struct, "struct").needs_body(),
    Rule::new("union_specifier", Struct, "union").needs_body(),
    Rule::new("enum_specifier", Enum, "enum").needs_body(),
    Rule::new("namespace_definition", Module, "namespace"),
    Rule::new("concept_definition", Trait, "concept"),
    Rule::line("alias_declaration", Type, "using"),
    Rule::line("type_definition", Type, "typedef").found(declarator::type_definition),
    Rule::line("preproc_def", Constant, "#define").found(declarator::valued_macro),
    Rule::line("preproc_function_def", Function, "#define"),
];
