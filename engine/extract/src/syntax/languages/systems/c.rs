//! C.

use kb_types::SymbolKind::{Constant, Enum, Function, Struct, Type};

use crate::syntax::grammar::{Grammar, Rule};
use crate::syntax::languages::systems::declarator;

pub(in crate::syntax) static GRAMMAR: Grammar = Grammar {
    rules: &[
        Rule::new("function_definition", Function, "").found(declarator::function),
        Rule::line("declaration", Function, "").found(declarator::declaration),
        Rule::new("struct_specifier", Struct, "struct").needs_body(),
        Rule::new("union_specifier", Struct, "union").needs_body(),
        Rule::new("enum_specifier", Enum, "enum").needs_body(),
        Rule::fields("field_declaration", declarator::fields),
        Rule::field("enumerator"),
        Rule::line("type_definition", Type, "typedef").found(declarator::type_definition),
        Rule::line("preproc_def", Constant, "#define").found(declarator::valued_macro),
        Rule::line("preproc_function_def", Function, "#define"),
    ],
    wrappers: &["type_definition"],
    identifiers: &["identifier", "type_identifier", "field_identifier"],
    calls: &[("call_expression", "function")],
    is_preprocessed: true,
    ..Grammar::new("c", || tree_sitter_c::LANGUAGE.into())
};
