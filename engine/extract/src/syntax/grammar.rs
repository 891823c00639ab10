//! What a language tells of its syntax tree: a table of node kinds.

use kb_types::SymbolKind;
use tree_sitter::{Language, Node};

/// A language, or one of its dialects.
#[derive(Debug)]
pub(super) struct Grammar {
    /// The word of [`kb_types::file_types`].
    pub(super) language: &'static str,
    pub(super) load: fn() -> Language,
    /// Which nodes are symbols.
    pub(super) rules: &'static [Rule],
    /// Comments.
    pub(super) comments: &'static [&'static str],
    /// Attributes, decorators and annotations before an item, beside it or as its first children.
    pub(super) attributes: &'static [&'static str],
    /// What holds attributes among other modifiers.
    pub(super) modifiers: &'static [&'static str],
    /// Nodes around a single symbol, which begins where they begin: exports, decorated definitions.
    pub(super) wrappers: &'static [&'static str],
    /// Functions that are values: what stands in them stands in a function, whether they are symbols or not.
    pub(super) closures: &'static [&'static str],
    /// Names.
    pub(super) identifiers: &'static [&'static str],
    /// Calls, and the field that holds what is called.
    pub(super) calls: &'static [(&'static str, &'static str)],
    /// Whether its programs are preprocessed before they are compiled.
    pub(super) is_preprocessed: bool,
    /// Whether the first string of a body is the comment of its symbol.
    pub(super) doc_in_body: bool,
    /// A byte without which a node of one line holds no symbol, and neither do those inside of it; none where there is no
    /// such byte.
    pub(super) opener: Option<u8>,
}

impl Grammar {
    /// A grammar without any kinds.
    pub(super) const fn new(language: &'static str, load: fn() -> Language) -> Grammar {
        Grammar {
            language,
            load,
            rules: &[],
            comments: &["comment"],
            attributes: &[],
            modifiers: &[],
            wrappers: &[],
            closures: &[],
            identifiers: &["identifier"],
            calls: &[],
            is_preprocessed: false,
            doc_in_body: false,
            opener: None,
        }
    }
}

/// One kind of node that is a symbol.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) node: &'static str,
    pub(super) kind: SymbolKind,
    /// The word before the name in a hierarchy.
    pub(super) keyword: &'static str,
    pub(super) name: NameOf,
    /// Fields or kinds of children that hold the body, of which the first that is there counts: the signature ends
    /// before it.
    pub(super) body: &'static [&'static str],
    /// Whether a node without a body is none: a struct that is only mentioned.
    pub(super) needs_body: bool,
    pub(super) scope: Scope,
    /// What fields of a type it is where it is no symbol of the rule.
    pub(super) fields: Option<FieldsOf>,
}

/// Lists the fields that a node of a type is.
pub(super) type FieldsOf = for<'t> fn(Node<'t>, &'t str) -> Vec<Field<'t>>;

/// A field of a type, or a variant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'t> {
    /// All of its definition.
    pub(super) node: Node<'t>,
    pub(super) name: Node<'t>,
}

/// What has its names in its fields `name`.
pub(super) fn named_fields<'t>(node: Node<'t>, _: &'t str) -> Vec<Field<'t>> {
    let mut cursor = node.walk();
    let names = node.children_by_field_name("name", &mut cursor);
    names.map(|name| Field { node, name }).collect()
}

/// Where a node must stand to be a symbol. Constants and declarations of functions are none inside of functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Anywhere,
    /// In no symbol but modules, unless [`Name::kind`] says what it is.
    OutsideTypes,
    /// In no symbol.
    Outermost,
}

/// Where the name of a symbol stands.
#[derive(Debug, Clone, Copy)]
pub(super) enum NameOf {
    /// In that field.
    Field(&'static str),
    /// The first child of one of these kinds.
    Child(&'static [&'static str]),
    /// A function finds it, or decides that the node is no symbol.
    Found(for<'t> fn(Node<'t>, &'t str) -> Option<Name>),
}

/// The name of a symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) text: String,
    /// First byte in the text of the program.
    pub(super) start: usize,
    /// What it is, if not what its rule says.
    pub(super) kind: Option<(SymbolKind, &'static str)>,
}

impl Name {
    /// What a node says.
    pub(super) fn of(node: Node<'_>, text: &str) -> Option<Name> {
        Some(Name {
            text: text_of(node, text)?.to_owned(),
            start: node.start_byte(),
            kind: None,
        })
    }

    /// Says what it is.
    pub(super) fn with_kind(mut self, kind: SymbolKind, keyword: &'static str) -> Name {
        self.kind = Some((kind, keyword));
        self
    }
}

/// The text of a node.
pub(super) fn text_of<'t>(node: Node<'_>, text: &'t str) -> Option<&'t str> {
    text.get(node.byte_range())
}

/// The first child of one of these kinds.
pub(super) fn child_of<'t>(node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    // With a cursor: `Node::child` counts from the first child each time, which is quadratic in a
    // node of many.
    let mut cursor = node.walk();
    if !cursor.goto_first_child() {
        return None;
    }
    loop {
        let child = cursor.node();
        if kinds.contains(&child.kind()) {
            return Some(child);
        }
        if !cursor.goto_next_sibling() {
            return None;
        }
    }
}

impl Rule {
    /// A node whose field `name` has its name and whose field `body` its body.
    pub(super) const fn new(node: &'static str, kind: SymbolKind, keyword: &'static str) -> Rule {
        Rule {
            node,
            kind,
            keyword,
            name: NameOf::Field("name"),
            body: &["body"],
            needs_body: false,
            scope: Scope::Anywhere,
            fields: None,
        }
    }

    pub(super) const fn named(mut self, name: NameOf) -> Rule {
        self.name = name;
        self
    }

    pub(super) const fn found(self, find: for<'t> fn(Node<'t>, &'t str) -> Option<Name>) -> Rule {
        self.named(NameOf::Found(find))
    }

    pub(super) const fn body(mut self, fields: &'static [&'static str]) -> Rule {
        self.body = fields;
        self
    }

    pub(super) const fn needs_body(mut self) -> Rule {
        self.needs_body = true;
        self
    }

    pub(super) const fn within(mut self, scope: Scope) -> Rule {
        self.scope = scope;
        self
    }

    /// A definition that has no body: a constant, a declaration.
    pub(super) const fn line(node: &'static str, kind: SymbolKind, keyword: &'static str) -> Rule {
        Rule::new(node, kind, keyword).body(&[])
    }

    /// What is a field, or several, where a type holds it.
    pub(super) const fn or_fields(mut self, find: FieldsOf) -> Rule {
        self.fields = Some(find);
        self
    }

    /// What is never anything but a field, or several, of the type that holds it.
    pub(super) const fn fields(node: &'static str, find: FieldsOf) -> Rule {
        let rule = Rule::line(node, SymbolKind::Field, "");
        rule.found(|_, _| None).or_fields(find)
    }

    /// A field whose name stands in the field `name`.
    pub(super) const fn field(node: &'static str) -> Rule {
        Rule::fields(node, named_fields)
    }

    /// The name of a node.
    pub(super) fn name_in(&self, node: Node<'_>, text: &str) -> Option<Name> {
        let name = match self.name {
            NameOf::Field(field) => Name::of(node.child_by_field_name(field)?, text)?,
            NameOf::Child(kinds) => Name::of(child_of(node, kinds)?, text)?,
            NameOf::Found(find) => find(node, text)?,
        };
        let trimmed = name.text.trim();
        (!trimmed.is_empty() && (!self.needs_body || self.body_of(node).is_some())).then_some(name)
    }

    /// The body of a node.
    pub(super) fn body_of<'t>(&self, node: Node<'t>) -> Option<Node<'t>> {
        let held = self.body.iter().find_map(|field| {
            node.child_by_field_name(field)
                .or_else(|| child_of(node, &[*field]))
        })?;
        // A function that is a value has parameters before its body.
        let value = match held.kind() {
            "expression_list" => held.named_child(0).unwrap_or(held),
            _ => held,
        };
        Some(value.child_by_field_name("body").unwrap_or(value))
    }
}
