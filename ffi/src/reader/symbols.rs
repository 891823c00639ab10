//! [`kb_symbols`]: the functions, types and constants of the programs of a file.

use kb_engine::{Filters, SymbolKind, SymbolRelation, SymbolsRequest, SymbolsResponse};

use crate::base::boundary::fallible;
use crate::base::error::kb_error;
use crate::base::fault::Fault;
use crate::base::handle::{self, Opaque};
use crate::base::options::{self, BySize};
use crate::base::panic::infallible;
use crate::base::status::kb_status;
use crate::base::str::{kb_str, pointers};
use crate::base::text;
use crate::reader::items::{no_item, page};
use crate::reader::kinds::{bits, kind_bit};
use crate::reader::open::kb;

/// Options of a search for symbols. Zeros are defaults: begin with `KB_SYMBOLS_OPTIONS_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_symbols_options {
    /// sizeof(kb_symbols_options).
    pub struct_size: usize,
    /// Bits of `kb_symbol_kind`; 0: all.
    pub kinds: u32,
    /// Maximum tokens (4 bytes each) of the result, up to 1000000; 0: no limit. `cursor` continues it.
    pub max_tokens: u32,
    /// Maximum number of symbols; 0: 100.
    pub k: u32,
    /// A name, with `*` and `?`; case is ignored. NULL: all.
    pub name: kb_str,
    /// A name: symbols that use it. Cannot be combined with `used_by`.
    pub uses: kb_str,
    /// A name: symbols that it uses.
    pub used_by: kb_str,
    /// Languages.
    pub languages: *const kb_str,
    /// Number of items.
    pub languages_len: usize,
    /// Globs over paths; `!tests/**` excludes.
    pub paths: *const kb_str,
    /// Number of items.
    pub paths_len: usize,
    /// Continues an earlier result: pass its `kb_symbols_next`.
    pub cursor: kb_str,
}

// SAFETY: `repr(C)`, it begins with its size, and all else is numbers and pointers.
unsafe impl BySize for kb_symbols_options {
    const NAME: &str = "kb_symbols_options";
}

/// Symbols of a file. The caller owns it: `kb_symbols_free`.
#[allow(non_camel_case_types)]
pub struct kb_symbols {
    _private: [u8; 0],
}

/// A symbol. Texts and arrays are valid until the symbols are freed.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_symbol {
    /// sizeof(kb_symbol).
    pub struct_size: usize,
    /// Path of its document.
    pub document: kb_str,
    /// Language of its document.
    pub language: kb_str,
    /// Its name.
    pub name: kb_str,
    /// The enclosing symbols and the symbol itself: `impl Foo > fn bar`.
    pub hierarchy: kb_str,
    /// The text before its body, on one line.
    pub signature: kb_str,
    /// One bit of `kb_symbol_kind`.
    pub kind: u32,
    /// First line of its definition, from 1.
    pub first_line: u32,
    /// Last line, included.
    pub last_line: u32,
    /// Lines that contain the name given as `uses`, ascending.
    pub uses: *const u32,
    /// Number of items.
    pub uses_len: usize,
    /// The lines of `uses` in which the name is called.
    pub calls: *const u32,
    /// Number of items.
    pub calls_len: usize,
}

// SAFETY: `repr(C)`, it begins with its size, and all else is numbers and pointers.
unsafe impl BySize for kb_symbol {
    const NAME: &str = "kb_symbol";
}

impl Opaque for kb_symbols {
    type Value = SymbolsResponse;
    const TAG: u64 = u64::from_le_bytes(*b"kb.symbs");
    const NAME: &str = "kb_symbols";
}

/// Finds symbols by name, kind, language or path, or by the names that they use. Names are compared, not scopes:
/// functions with the same name are not distinguished.
///
/// Errors: `KB_INVALID_ARGUMENT`, `KB_INVALID_CONTINUATION_TOKEN`, `KB_CONTINUATION_STALE`.
///
/// # Safety
/// `file` is an open file; all else may be read, `out` and `err` written, where they are not NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_find_symbols(
    file: *const kb,
    options: *const kb_symbols_options,
    out: *mut *mut kb_symbols,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            handle::hand_over(out, || {
                let file = handle::used(file, "file")?;
                let options = options::read(options, "options")?;
                Ok(file.symbols(&request(&options)?)?)
            })
        })
    }
}

/// # Safety
/// As for `kb_find_symbols`.
unsafe fn request(options: &kb_symbols_options) -> Result<SymbolsRequest, Fault> {
    // SAFETY: as the caller promises.
    let (name, uses, used_by, page, filters) = unsafe {
        let languages = text::texts(options.languages, options.languages_len, "languages")?;
        let paths = text::texts(options.paths, options.paths_len, "paths")?;
        (
            text::optional(options.name, "name")?,
            text::optional(options.uses, "uses")?,
            text::optional(options.used_by, "used_by")?,
            page(options.max_tokens, options.cursor)?,
            Filters::new().languages(languages).paths(paths),
        )
    };
    let kinds = bits("kinds", options.kinds, &SymbolKind::ALL)?;
    let mut request = SymbolsRequest::new()
        .kinds(kinds)
        .page(page)
        .filters(filters);
    if let Some(name) = name {
        request = request.name(name);
    }
    if options.k > 0 {
        request = request.k(usize::try_from(options.k).unwrap_or(usize::MAX));
    }
    match (uses, used_by) {
        (Some(_), Some(_)) => Err(Fault::argument(
            "uses",
            "it cannot be combined with used_by",
        )),
        (Some(uses), None) => Ok(request.relation(SymbolRelation::Uses(uses.to_owned()))),
        (None, Some(by)) => Ok(request.relation(SymbolRelation::UsedBy(by.to_owned()))),
        (None, None) => Ok(request),
    }
}

/// How many symbols there are in this result; 0 for NULL.
///
/// # Safety
/// `symbols` is NULL or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_symbols_len(symbols: *const kb_symbols) -> usize {
    infallible(0, || {
        // SAFETY: as the caller promises.
        unsafe { handle::peek(symbols) }.map_or(0, |all| all.symbols.len())
    })
}

/// How many symbols there are on all pages; 0 for NULL.
///
/// # Safety
/// `symbols` is NULL or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_symbols_total(symbols: *const kb_symbols) -> u64 {
    infallible(0, || {
        // SAFETY: as the caller promises.
        unsafe { handle::peek(symbols) }.map_or(0, |all| all.total)
    })
}

/// Pass it as `cursor` of the same options to get the next symbols. Empty if there are none. Valid until the symbols
/// are freed.
///
/// # Safety
/// `symbols` is NULL or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_symbols_next(symbols: *const kb_symbols) -> kb_str {
    infallible(kb_str::EMPTY, || {
        // SAFETY: as the caller promises.
        let next = unsafe { handle::peek(symbols) }.and_then(|all| all.symbols.next.as_ref());
        next.map_or(kb_str::EMPTY, |next| kb_str::of(next.as_str()))
    })
}

/// Fills `out` with one symbol: `kb_symbol symbol = KB_SYMBOL_INIT;`
///
/// Errors: `KB_INVALID_ARGUMENT` for an index from `kb_symbols_len` on.
///
/// # Safety
/// `symbols` is live; `out` may be written as far as its size says; `err` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_symbols_get(
    symbols: *const kb_symbols,
    index: usize,
    out: *mut kb_symbol,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            let all = handle::used(symbols, "symbols")?;
            let symbol = all.symbols.get(index);
            let symbol = symbol.ok_or_else(|| no_item(index, all.symbols.len()))?;
            let view = kb_symbol {
                struct_size: size_of::<kb_symbol>(),
                document: kb_str::of(&symbol.document),
                language: kb_str::of(&symbol.language),
                name: kb_str::of(&symbol.name),
                hierarchy: kb_str::of(&symbol.hierarchy),
                signature: kb_str::of(&symbol.signature),
                kind: kind_bit(symbol.kind),
                first_line: symbol.lines.first,
                last_line: symbol.lines.last,
                uses: pointers(&symbol.uses),
                uses_len: symbol.uses.len(),
                calls: pointers(&symbol.calls),
                calls_len: symbol.calls.len(),
            };
            options::fill(out, &view, "out")
        })
    }
}

/// Frees symbols and sets the pointer to NULL. Does nothing if either is NULL.
///
/// # Safety
/// `symbols` is NULL or points to NULL or to live symbols.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_symbols_free(symbols: *mut *mut kb_symbols) {
    // SAFETY: as the caller promises.
    infallible((), || unsafe { handle::free(symbols) });
}
