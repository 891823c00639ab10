//! Options of writers.

use std::ffi::c_void;

use crate::base::options::BySize;
use crate::base::progress::kb_progress_fn;
use crate::base::str::kb_str;

/// How a writer opens its file.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub enum kb_writer_mode {
    /// Opens the file, or creates it if it does not exist. The default.
    OpenOrCreate = 0,
    /// Creates a new file. An existing file is replaced at the first commit.
    Create = 1,
    /// Opens the file; `KB_PATH_NOT_FOUND` if it does not exist.
    Open = 2,
}

/// Options of a writer. Zeros are defaults: begin with `KB_WRITER_OPTIONS_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_writer_options {
    /// sizeof(kb_writer_options).
    pub struct_size: usize,
    /// A `kb_writer_mode`.
    pub mode: i32,
    /// How long a change waits for another writer to close, in milliseconds; 0: not at all.
    pub lock_timeout_ms: u32,
    /// Path of a `kb` program of this version, which reads PDF and office documents in sandboxed worker processes. If it is
    /// NULL and `in_process` is 0, such documents are skipped with a reason.
    pub worker: kb_str,
    /// Not 0: reads them in this process, for trusted files only. A hostile file can slow the process down, exhaust its
    /// memory or abort it.
    pub in_process: i32,
}

// SAFETY: `repr(C)`, it begins with its size, and all else is numbers and pointers.
unsafe impl BySize for kb_writer_options {
    const NAME: &str = "kb_writer_options";
}

/// How the numbers of vectors are stored.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub enum kb_codec {
    /// The codec of the file; `KB_CODEC_I8` for a new file.
    Default = 0,
    /// A byte each.
    I8 = 1,
    /// Half a byte each: smaller and slightly less precise.
    I4 = 2,
}

/// Options of an index run. Zeros are defaults: begin with `KB_INDEX_OPTIONS_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_index_options {
    /// sizeof(kb_index_options).
    pub struct_size: usize,
    /// Number of threads; 0: one per core.
    pub threads: u32,
    /// A `kb_codec`.
    pub vectors: i32,
    /// Files with more bytes are skipped; 0: 16 MiB.
    pub max_file_bytes: u64,
    /// Not 0: reads every file again; imported vectors are lost.
    pub rebuild: i32,
    /// Not 0: compares contents even if size and time are unchanged.
    pub force_hash: i32,
    /// Not 0: removes the documents of folders that have no files left.
    pub prune: i32,
    /// 1: also reads files that may hold keys or credentials; -1: skips them; 0: the choice stored in the file.
    pub include_secrets: i32,
    /// 1: writes a trigram index, which makes search by regular expressions fast; -1: writes none; 0: the choice stored
    /// in the file.
    pub trigrams: i32,
    /// Name of the root that this folder continues, for a folder that was moved. NULL: the root with the same path.
    pub root: kb_str,
    /// Progress callback; NULL: none.
    pub progress: kb_progress_fn,
    /// Passed to `progress`.
    pub progress_data: *mut c_void,
    /// 1: also reads hidden files and folders that git does not track; -1: skips them; 0: the choice stored for the folder,
    /// else -1. Hidden files that git tracks are always read.
    pub hidden: i32,
    /// 1: follows symbolic links; -1: skips them; 0: the choice stored for the folder, else -1.
    pub follow: i32,
    /// Patterns as in .gitignore, relative to the folder: only files that match one, or are in a folder that matches, are
    /// read. NULL: the patterns stored for the folder. Not NULL with `include_len` 0: every file.
    pub include: *const kb_str,
    /// How many patterns `include` points to.
    pub include_len: usize,
    /// Patterns as in .gitignore of files and folders to skip; NULL and length 0 as for `include`.
    pub exclude: *const kb_str,
    /// How many patterns `exclude` points to.
    pub exclude_len: usize,
}

// SAFETY: `repr(C)`, it begins with its size, and all else is numbers and pointers.
unsafe impl BySize for kb_index_options {
    const NAME: &str = "kb_index_options";
}

/// The texts among the options of an index run.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "write"),
    expect(dead_code, reason = "only a writer reads them")
)]
pub(crate) struct IndexTexts<'a> {
    pub(crate) root: Option<&'a str>,
    pub(crate) include: Option<Vec<&'a str>>,
    pub(crate) exclude: Option<Vec<&'a str>>,
}

/// Options of sealing. Zeros are defaults: begin with `KB_SEAL_OPTIONS_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_seal_options {
    /// sizeof(kb_seal_options).
    pub struct_size: usize,
    /// Path of the sealed file; NULL: in place.
    pub output: kb_str,
    /// A `kb_codec`.
    pub vectors: i32,
    /// Not 0: replaces another .kb at `output`.
    pub replace: i32,
    /// Progress callback; NULL: none.
    pub progress: kb_progress_fn,
    /// Passed to `progress`.
    pub progress_data: *mut c_void,
}

// SAFETY: `repr(C)`, it begins with its size, and all else is numbers and pointers.
unsafe impl BySize for kb_seal_options {
    const NAME: &str = "kb_seal_options";
}
