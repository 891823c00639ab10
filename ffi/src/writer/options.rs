//! Options of writers.

use std::ffi::c_void;

use crate::base::options::BySize;
use crate::base::progress::kb_progress_fn;
use crate::base::str::kb_str;

/// What a writer does with the file of its path.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub enum kb_writer_mode {
    /// Changes it, or makes it where there is none. The default.
    OpenOrCreate = 0,
    /// Makes a new one, in the place of one that is there. That one stays until the first commit.
    Create = 1,
    /// Changes it; `KB_PATH_NOT_FOUND` where there is none.
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
    /// How long a change waits until another writer is closed, milliseconds; 0: not at all.
    pub lock_timeout_ms: u32,
    /// Path of a `kb` program of this version, which reads PDF and office documents in confined processes of its own.
    /// NULL, and `in_process` 0: such documents are left out, with a reason that says so.
    pub worker: kb_str,
    /// Not 0: they are read in this process, which a hostile file can slow, fill with memory or abort. For files that
    /// are trusted.
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
    /// As the file has them; `KB_CODEC_I8` in a new one.
    Default = 0,
    /// A byte each.
    I8 = 1,
    /// Half a byte each: smaller, a little less exact.
    I4 = 2,
}

/// Options of an index run. Zeros are defaults: begin with `KB_INDEX_OPTIONS_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_index_options {
    /// sizeof(kb_index_options).
    pub struct_size: usize,
    /// Threads; 0: as many as there are cores.
    pub threads: u32,
    /// A `kb_codec`.
    pub vectors: i32,
    /// Larger files are left out, bytes; 0: 16 MiB.
    pub max_file_bytes: u64,
    /// Not 0: reads every file anew; columns of imported vectors are lost.
    pub rebuild: i32,
    /// Not 0: compares contents where size and time are the same.
    pub force_hash: i32,
    /// Not 0: removes the documents of folders that are gone.
    pub prune: i32,
    /// 1: files that are, or hold, keys or credentials become documents; -1: they do not; 0: as the file says.
    pub include_secrets: i32,
    /// 1: segments get trigrams; -1: they do not; 0: as the file says.
    pub trigrams: i32,
    /// Which root of the file the folder is, where it moved; NULL: the one that has its path.
    pub root: kb_str,
    /// Called meanwhile; NULL: nobody.
    pub progress: kb_progress_fn,
    /// Handed to `progress`.
    pub progress_data: *mut c_void,
    /// 1: hidden files and folders that git does not track are read too; -1: they are not; 0: as the file says for the
    /// folder, in a new one not. Those that git tracks are always read.
    pub hidden: i32,
    /// 1: symbolic links are followed; -1: they are not; 0: as the file says for the folder, in a new one not.
    pub follow: i32,
    /// Patterns as in .gitignore, relative to the folder: only files are read that match one, or that lie in a folder that
    /// does. NULL: as the file says for the folder. Not NULL and `include_len` 0: every file.
    pub include: *const kb_str,
    /// How many patterns `include` points to.
    pub include_len: usize,
    /// Patterns as in .gitignore of files and folders that are not read; NULL and length 0 as for `include`.
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
    /// Called meanwhile; NULL: nobody.
    pub progress: kb_progress_fn,
    /// Handed to `progress`.
    pub progress_data: *mut c_void,
}

// SAFETY: `repr(C)`, it begins with its size, and all else is numbers and pointers.
unsafe impl BySize for kb_seal_options {
    const NAME: &str = "kb_seal_options";
}
