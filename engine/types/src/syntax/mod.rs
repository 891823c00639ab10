//! What is known of a program's structure: its symbols, and where its lines may be parted. Plain data; which parser
//! found it does not show.

use std::fmt;

use crate::{Lines, Span};

pub mod by_chunk;
pub mod nesting;
pub mod paths;
pub mod pending;
mod signature;

pub use signature::signature;

/// What a symbol is. The names are those of filters and output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum SymbolKind {
    /// A function that belongs to no type; a subroutine, a build target, a macro with parameters.
    Function = 1,
    /// A class, an object, a record.
    Class = 2,
    /// A function of a type; a property with code of its own.
    Method = 3,
    /// An interface, a protocol, an annotation type.
    Interface = 4,
    /// A structure or union; an infrastructure resource.
    Struct = 5,
    /// An enumeration.
    Enum = 6,
    /// A trait, a concept.
    Trait = 7,
    /// A module, a namespace, a section of configuration.
    Module = 8,
    /// A constant or variable outside of any function, a macro without parameters.
    Constant = 9,
    /// A type alias, a type definition.
    Type = 10,
    /// The methods of a type apart from its definition: `impl` in Rust, extensions elsewhere. Its name is that type.
    Impl = 11,
    /// A field of a structure or class, a variant of an enumeration. It holds no symbols, and is no section.
    Field = 12,
}

impl SymbolKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [SymbolKind; 12] = [
        SymbolKind::Function,
        SymbolKind::Class,
        SymbolKind::Method,
        SymbolKind::Interface,
        SymbolKind::Struct,
        SymbolKind::Enum,
        SymbolKind::Trait,
        SymbolKind::Module,
        SymbolKind::Constant,
        SymbolKind::Type,
        SymbolKind::Impl,
        SymbolKind::Field,
    ];

    /// The name used in filters and output.
    pub fn name(self) -> &'static str {
        match self {
            SymbolKind::Function => "function",
            SymbolKind::Class => "class",
            SymbolKind::Method => "method",
            SymbolKind::Interface => "interface",
            SymbolKind::Struct => "struct",
            SymbolKind::Enum => "enum",
            SymbolKind::Trait => "trait",
            SymbolKind::Module => "module",
            SymbolKind::Constant => "constant",
            SymbolKind::Type => "type",
            SymbolKind::Impl => "impl",
            SymbolKind::Field => "field",
        }
    }

    /// The kind with that name.
    pub fn from_name(name: &str) -> Option<SymbolKind> {
        SymbolKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind with that number.
    pub fn from_number(number: u8) -> Option<SymbolKind> {
        SymbolKind::ALL
            .into_iter()
            .find(|kind| *kind as u8 == number)
    }

    /// Whether functions inside of it are its methods.
    pub fn has_methods(self) -> bool {
        matches!(
            self,
            SymbolKind::Class
                | SymbolKind::Interface
                | SymbolKind::Struct
                | SymbolKind::Enum
                | SymbolKind::Trait
                | SymbolKind::Impl
        )
    }

    /// Whether its text is a section of its document: programs have as many fields as lines in places, and their
    /// section is the type that holds them.
    pub fn is_section(self) -> bool {
        self != SymbolKind::Field
    }

    /// Whether fields inside of it are symbols.
    pub fn has_fields(self) -> bool {
        matches!(
            self,
            SymbolKind::Class
                | SymbolKind::Interface
                | SymbolKind::Struct
                | SymbolKind::Enum
                | SymbolKind::Trait
                | SymbolKind::Type
        )
    }

    /// Whether it has statements, among which no further constants are symbols.
    pub fn is_callable(self) -> bool {
        matches!(self, SymbolKind::Function | SymbolKind::Method)
    }
}

impl fmt::Display for SymbolKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A definition in a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// What it is.
    pub kind: SymbolKind,
    /// Its name as it stands in the text, not empty: `bar`, `Foo::bar` for a method outside of its class in C++.
    pub name: String,
    /// The word with which the language introduces it: `fn`, `def`, `class`; empty where there is none.
    pub keyword: String,
    /// The text before its body, without attributes: what its signature is made of.
    pub head: Span,
    /// Position of the symbol that holds it, in the list of symbols; always before its own.
    pub parent: Option<u32>,
    /// Its comment: the lines above it, or the first string of its body.
    pub doc: Option<Span>,
    /// Its definition, with attributes, decorators and modifiers, without the comment above it; from the first byte
    /// of its line where nothing but white space stands before it.
    pub span: Span,
    /// Lines of `span`.
    pub lines: Lines,
    /// First byte of its name.
    pub name_start: u32,
}

impl Symbol {
    /// How it is called in a hierarchy: `fn bar`, `impl Foo`, `class A`.
    pub fn label(&self) -> String {
        SymbolRef::from(self).label()
    }

    /// What stands before its body in the text of its document, on one line: `pub fn bar(&self) -> usize`. At most
    /// 200 bytes; empty where the text does not have its head.
    pub fn signature(&self, text: &str) -> String {
        let head = text.get(self.head.start as usize..self.head.end as usize);
        signature(head.unwrap_or_default())
    }

    /// First byte of the symbol with the comment above it.
    pub fn start_with_doc(&self) -> u32 {
        SymbolRef::from(self).spans.start_with_doc()
    }
}

/// Where a symbol lies: the fields of [`Symbol`] that are no texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SymbolSpans {
    /// The text before its body.
    pub head: Span,
    /// Position of the symbol that holds it.
    pub parent: Option<u32>,
    /// Its comment.
    pub doc: Option<Span>,
    /// Its definition.
    pub span: Span,
    /// Lines of `span`.
    pub lines: Lines,
    /// First byte of its name.
    pub name_start: u32,
}

impl SymbolSpans {
    /// As [`Symbol::start_with_doc`].
    pub fn start_with_doc(&self) -> u32 {
        let doc = self.doc.map_or(u32::MAX, |doc| doc.start);
        self.span.start.min(doc)
    }
}

/// A [`Symbol`] whose texts are not copied: of a list that was decoded without a copy of each, or of a [`Symbol`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SymbolRef<'s> {
    /// What it is.
    pub kind: SymbolKind,
    /// Its name.
    pub name: &'s str,
    /// The word with which the language introduces it; empty where there is none.
    pub keyword: &'s str,
    /// Where it lies.
    pub spans: SymbolSpans,
}

impl SymbolRef<'_> {
    /// As [`Symbol::label`].
    pub fn label(&self) -> String {
        label(self.keyword, self.name)
    }

    /// With texts of its own.
    pub fn to_symbol(self) -> Symbol {
        let SymbolSpans {
            head,
            parent,
            doc,
            span,
            lines,
            name_start,
        } = self.spans;
        Symbol {
            kind: self.kind,
            name: self.name.to_owned(),
            keyword: self.keyword.to_owned(),
            head,
            parent,
            doc,
            span,
            lines,
            name_start,
        }
    }
}

impl<'s> From<&'s Symbol> for SymbolRef<'s> {
    fn from(symbol: &'s Symbol) -> SymbolRef<'s> {
        SymbolRef {
            kind: symbol.kind,
            name: &symbol.name,
            keyword: &symbol.keyword,
            spans: SymbolSpans {
                head: symbol.head,
                parent: symbol.parent,
                doc: symbol.doc,
                span: symbol.span,
                lines: symbol.lines,
                name_start: symbol.name_start,
            },
        }
    }
}

/// The label of a symbol with that keyword, which may be empty, and that name.
pub fn label(keyword: &str, name: &str) -> String {
    if keyword.is_empty() {
        name.to_owned()
    } else {
        format!("{keyword} {name}")
    }
}

/// A line at which some node of the syntax tree begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntaxCut {
    /// First byte of the line.
    pub at: u32,
    /// Constructs of several lines that began on an earlier line and go on behind this one, counted once for each
    /// line on which some begin.
    pub depth: u16,
    /// Whether it goes with the line before: the second line of a comment, an attribute behind another, the item
    /// that a comment describes.
    pub is_attached: bool,
}

/// A name that is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// Bytes of the name.
    pub span: Span,
    /// Whether it is called there.
    pub is_call: bool,
}

/// Why a program was not parsed: it is cut into chunks by its lines, and has no symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntaxFallback {
    /// It is larger than programs that are parsed; bytes.
    TooLarge(usize),
    /// Its parser took more steps or time than it may.
    TooSlow,
    /// Its grammar cannot be loaded.
    Unavailable,
    /// The worker process that parsed it ended.
    Failed,
}

impl fmt::Display for SyntaxFallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SyntaxFallback::TooLarge(bytes) => {
                write!(f, "{bytes} bytes are more than are parsed")
            }
            SyntaxFallback::TooSlow => f.write_str("parsing it takes too long"),
            SyntaxFallback::Unavailable => f.write_str("its grammar cannot be used"),
            SyntaxFallback::Failed => f.write_str("the worker process that parsed it ended"),
        }
    }
}

/// What is known of the structure of a program. Empty for texts that are none, and for languages without a grammar.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Syntax {
    /// Symbols in the order in which they begin, those that hold others before them.
    pub symbols: Vec<Symbol>,
    /// Lines at which it may be cut, ascending.
    pub cuts: Vec<SyntaxCut>,
    /// Names that are used, in the order of the text, where they were asked for.
    pub uses: Vec<Use>,
    /// Why there is nothing of all this.
    pub fallback: Option<SyntaxFallback>,
}
