//! Classes, kinds of symbols and kinds of parts, as numbers.

use kb_engine::{Class, PartKind, SymbolKind};

use crate::base::fault::Fault;

/// Classes of documents, as bits.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub enum kb_class {
    /// Programs.
    Code = 1,
    /// Prose.
    Doc = 2,
    /// Data.
    Data = 4,
}

/// The bit of `kb_class`.
pub(crate) fn class_number(class: Class) -> i32 {
    let at = Class::ALL.iter().position(|it| *it == class);
    at.map_or(0, |at| 1 << at)
}

/// Kinds of symbols, as bits.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub enum kb_symbol_kind {
    /// A function that belongs to no type.
    Function = 1,
    /// A class.
    Class = 2,
    /// A function of a type.
    Method = 4,
    /// An interface.
    Interface = 8,
    /// A structure or union.
    Struct = 16,
    /// An enumeration.
    Enum = 32,
    /// A trait.
    Trait = 64,
    /// A module or namespace.
    Module = 128,
    /// A constant or variable outside of any function.
    Constant = 256,
    /// A type alias.
    Type = 512,
    /// The methods of a type apart from its definition.
    Impl = 1024,
    /// A field of a type, a variant of an enumeration. No section.
    Field = 2048,
}

/// The bit of a kind.
pub(crate) fn kind_bit(kind: SymbolKind) -> u32 {
    let at = SymbolKind::ALL.iter().position(|it| *it == kind);
    at.map_or(0, |at| 1 << at)
}

/// Kind of the parts of a document.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub enum kb_part_kind {
    /// The document has no parts.
    None = 0,
    /// Pages.
    Page = 1,
    /// Sheets.
    Sheet = 2,
    /// Slides.
    Slide = 3,
}

/// The number of `kb_part_kind`.
pub(crate) fn part_number(kind: Option<PartKind>) -> i32 {
    match kind {
        None => 0,
        Some(PartKind::Page) => 1,
        Some(PartKind::Sheet) => 2,
        Some(PartKind::Slide) => 3,
    }
}

/// The values of some bits, lowest first.
pub(crate) fn bits<T: Copy>(argument: &str, bits: u32, all: &[T]) -> Result<Vec<T>, Fault> {
    if bits
        .checked_shr(u32::try_from(all.len()).unwrap_or(32))
        .unwrap_or(0)
        != 0
    {
        return Err(Fault::argument(
            argument,
            &format!("{bits:#x} has unknown bits"),
        ));
    }
    let chosen = (0u32..).zip(all).filter(|(at, _)| bits >> at & 1 == 1);
    Ok(chosen.map(|(_, value)| *value).collect())
}

/// The numbers follow the lists of the engine.
const _: () = {
    assert!(matches!(Class::ALL, [Class::Code, Class::Doc, Class::Data]));
    assert!(SymbolKind::ALL.len() == 12 && kb_symbol_kind::Field as u32 == 1 << 11);
};
