//! Searching.

use std::ffi::c_void;

use kb_engine::{
    Class, Filters, Kb, Mode, Request, Scope, Show, Sort, SymbolKind, search_files,
    search_files_with,
};

use crate::base::boundary::fallible;
use crate::base::error::kb_error;
use crate::base::fault::Fault;
use crate::base::options::{self, BySize};
use crate::base::progress::{Listener, kb_progress_fn};
use crate::base::status::kb_status;
use crate::base::str::kb_str;
use crate::base::{handle, text};
use crate::reader::hits::{Hits, kb_hits};
use crate::reader::items::page;
use crate::reader::kinds::bits;
use crate::reader::open::kb;

/// How to search.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub enum kb_mode {
    /// Keyword and vector index, their scores fused. The default.
    Hybrid = 0,
    /// The vector index alone.
    Semantic = 1,
    /// The keyword index alone.
    Keyword = 2,
    /// Documents by title, slug and tags.
    Title = 3,
}

/// What one hit is.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub enum kb_scope {
    /// A passage of a document. The default.
    Chunks = 0,
    /// A document, shown by its best chunk.
    Documents = 1,
}

/// The order of hits.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub enum kb_sort {
    /// Best score first. The default.
    Score = 0,
    /// The relevant hits, the most recently modified document first.
    Recency = 1,
    /// The relevant hits, by path.
    Path = 2,
}

/// Options of a search. Zeros are defaults: begin with `KB_SEARCH_OPTIONS_INIT`. Items of one filter are alternatives;
/// filters are joined by AND.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_search_options {
    /// sizeof(kb_search_options).
    pub struct_size: usize,
    /// Maximum number of hits, 1 to 10000; 0: 10.
    pub k: u32,
    /// A `kb_mode`.
    pub mode: i32,
    /// A `kb_scope`.
    pub scope: i32,
    /// A `kb_sort`.
    pub sort: i32,
    /// Minimum score of a hit, 0 to 1.
    pub min_score: f32,
    /// Lines of the document before each hit, up to 1000.
    pub context_before: u32,
    /// Lines of the document after each hit, up to 1000.
    pub context_after: u32,
    /// Maximum number of lines of each passage; the best lines are kept. 0: the whole passage.
    pub max_lines: u32,
    /// Maximum tokens (4 bytes each) of the whole result, up to 1000000; 0: no limit. `cursor` continues it.
    pub max_tokens: u32,
    /// Not 0: operators such as `"phrase"` and `-word` are plain text.
    pub plain: i32,
    /// Not 0: neighbouring chunks stay separate hits.
    pub no_join: i32,
    /// Not 0: a hit inside a symbol is extended to the whole symbol, up to 16 KB.
    pub smart_context: i32,
    /// Bits of `kb_class`; 0: all.
    pub classes: u32,
    /// Bits of `kb_symbol_kind` of the symbol around a hit; 0: all hits, with or without a symbol.
    pub symbol_kinds: u32,
    /// Milliseconds since 1970: documents modified then or later; 0: all.
    pub modified_since_ms: i64,
    /// Globs over paths: `docs/**`; `!locales/**` excludes.
    pub paths: *const kb_str,
    /// Number of items.
    pub paths_len: usize,
    /// Folders: documents in them and in their subfolders.
    pub folders: *const kb_str,
    /// Number of items.
    pub folders_len: usize,
    /// File types: `markdown`.
    pub types: *const kb_str,
    /// Number of items.
    pub types_len: usize,
    /// Languages: `rust`, `shell`.
    pub languages: *const kb_str,
    /// Number of items.
    pub languages_len: usize,
    /// Tags.
    pub tags: *const kb_str,
    /// Number of items.
    pub tags_len: usize,
    /// Names of symbols, with `*` and `?`; case is ignored.
    pub symbol_names: *const kb_str,
    /// Number of items.
    pub symbol_names_len: usize,
    /// Continues an earlier result: `next` of its `kb_hits_summary`.
    pub cursor: kb_str,
    /// Progress callback; NULL: none.
    pub progress: kb_progress_fn,
    /// Passed to `progress`.
    pub progress_data: *mut c_void,
    /// What documents state about themselves: `status=draft`, `date>=2024-05`.
    pub fields: *const kb_str,
    /// Number of items.
    pub fields_len: usize,
    /// Documents that the documents link to.
    pub links_to: *const kb_str,
    /// Number of items.
    pub links_to_len: usize,
    /// Not 0: words are searched as they are written; slips are not corrected.
    pub exact: i32,
}

// SAFETY: `repr(C)`, it begins with its size, and all else is numbers and pointers.
unsafe impl BySize for kb_search_options {
    const NAME: &str = "kb_search_options";
}

/// Searches a file for a query: words, a question, or an identifier, with the operators `"phrase"`, `+word`, `-word`,
/// `title:`, `path:` and `tag:`. About a millisecond for 100000 chunks.
///
/// Errors: `KB_INVALID_ARGUMENT` (an empty query, a number out of range), `KB_FOLDER_NOT_FOUND`,
/// `KB_EMBEDDING_MODEL_UNAVAILABLE` (only with `KB_MODE_SEMANTIC`), `KB_INVALID_CONTINUATION_TOKEN`,
/// `KB_CONTINUATION_STALE`, `KB_CANCELLED`, `KB_DAMAGED`, `KB_SNAPSHOT_EXPIRED`.
///
/// # Safety
/// `file` is an open file; all else may be read, `out` and `err` written, where they are not NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_search(
    file: *const kb,
    query: kb_str,
    options: *const kb_search_options,
    out: *mut *mut kb_hits,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            handle::hand_over(out, || {
                let file = handle::used(file, "file")?;
                let (request, listener) = request(query, options)?;
                found(&[&file], &request, &listener)
            })
        })
    }
}

/// Searches 1 to 64 files as if they were one. `file` of a hit is the position of its file in `files`.
///
/// Errors: as those of `kb_search`.
///
/// # Safety
/// As for `kb_search`; `files` are open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_search_files(
    files: *const *const kb,
    files_len: usize,
    query: kb_str,
    options: *const kb_search_options,
    out: *mut *mut kb_hits,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            handle::hand_over(out, || {
                let files = text::items(files, files_len, "files")?;
                let files = files.iter().map(|file| handle::used(*file, "files"));
                let files: Vec<_> = files.collect::<Result<_, Fault>>()?;
                let opened: Vec<&Kb> = files.iter().map(|file| &**file).collect();
                let (request, listener) = request(query, options)?;
                found(&opened, &request, &listener)
            })
        })
    }
}

fn found(files: &[&Kb], request: &Request, listener: &Listener) -> Result<Hits, Fault> {
    // A search that nobody listens to does not look at the clock.
    let response = match listener.callback {
        None => search_files(files, request),
        Some(_) => search_files_with(files, request, &mut |progress| listener.tell(progress)),
    }?;
    Ok(Hits::new(response))
}

/// The request of a query and options.
///
/// # Safety
/// As for `kb_search`.
unsafe fn request(
    query: kb_str,
    options: *const kb_search_options,
) -> Result<(Request, Listener), Fault> {
    // SAFETY: as the caller promises.
    let (query, options) = unsafe {
        (
            text::required(query, "query")?,
            options::read(options, "options")?,
        )
    };
    let mut request = Request::new(query);
    if options.k > 0 {
        request.k = usize::try_from(options.k).unwrap_or(usize::MAX);
    }
    request.mode = choice("mode", options.mode, &Mode::ALL)?;
    request.scope = choice("scope", options.scope, &Scope::ALL)?;
    request.sort = choice("sort", options.sort, &SORTS)?;
    request.min_score = options.min_score;
    request.show = Show::up_to_lines((options.max_lines > 0).then_some(options.max_lines))
        .context_lines(options.context_before, options.context_after);
    request.plain = options.plain != 0;
    request.exact = options.exact != 0;
    request.join = options.no_join == 0;
    request.smart_context = options.smart_context != 0;
    // SAFETY: as the caller promises.
    unsafe {
        request.filters = filters(&options)?;
        request.page = page(options.max_tokens, options.cursor)?;
    }
    let listener = Listener {
        callback: options.progress,
        data: options.progress_data,
    };
    Ok((request, listener))
}

/// The value of that number.
fn choice<T: Clone>(argument: &str, number: i32, all: &[T]) -> Result<T, Fault> {
    let value = usize::try_from(number).ok().and_then(|at| all.get(at));
    value.cloned().ok_or_else(|| {
        let reason = format!("{number} given; allowed are 0 to {}", all.len() - 1);
        Fault::argument(argument, &reason)
    })
}

/// # Safety
/// As for `kb_search`.
unsafe fn filters(options: &kb_search_options) -> Result<Filters, Fault> {
    // SAFETY: as the caller promises.
    let some = |data, len, name| unsafe { text::texts(data, len, name) };
    let mut filters = Filters::new()
        .paths(some(options.paths, options.paths_len, "paths")?)
        .folders(some(options.folders, options.folders_len, "folders")?)
        .types(some(options.types, options.types_len, "types")?)
        .languages(some(options.languages, options.languages_len, "languages")?)
        .tags(some(options.tags, options.tags_len, "tags")?)
        .fields(some(options.fields, options.fields_len, "fields")?)
        .links_to(some(options.links_to, options.links_to_len, "links_to")?)
        .symbol_names(some(
            options.symbol_names,
            options.symbol_names_len,
            "symbol_names",
        )?)
        .classes(bits("classes", options.classes, &Class::ALL)?)
        .symbol_kinds(bits(
            "symbol_kinds",
            options.symbol_kinds,
            &SymbolKind::ALL,
        )?);
    if options.modified_since_ms != 0 {
        filters = filters.modified_since_ms(options.modified_since_ms);
    }
    Ok(filters)
}

/// The orders of `kb_sort`, by number.
const SORTS: [Sort; 3] = [Sort::Score, Sort::Recency, Sort::Path];

/// What is public as numbers follows the lists of the engine.
const _: () = {
    assert!(matches!(
        Mode::ALL,
        [Mode::Hybrid, Mode::Semantic, Mode::Keyword, Mode::Title]
    ));
    assert!(matches!(Scope::ALL, [Scope::Chunks, Scope::Documents]));
};
