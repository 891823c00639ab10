//! Progress of long calls, and how a caller stops them.

use std::ffi::c_void;
use std::ops::ControlFlow;

use kb_engine::{Progress, Stage};

/// What a long call is doing.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub enum kb_stage {
    /// Listing files and comparing them with the documents; the totals are still unknown.
    Walk = 0,
    /// Reading, splitting, embedding and storing files.
    Index = 1,
    /// Writing indexes and the commit of an index run.
    Write = 2,
    /// Merging segments after a commit, which stays.
    Merge = 3,
    /// Writing a sealed file.
    Seal = 4,
    /// Comparing a file with its checksums.
    Verify = 5,
    /// Writing the changes of a commit.
    Commit = 6,
    /// Searching.
    Search = 7,
    /// Building the inverted lists that make vector search fast in a large file.
    Lists = 8,
    /// Importing vectors: `files_done` counts the vectors read, then the chunks written.
    Import = 9,
    /// Embedding chunks by a model: `files_done` counts chunks.
    Embed = 10,
    /// Parsing source files whose text is indexed already.
    Symbols = 11,
}

/// Progress of a long call. Counts grow within a stage and start at 0 in each stage.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_progress {
    /// Size of this struct in the library, in bytes.
    pub struct_size: usize,
    /// A `kb_stage`; later versions may have more.
    pub stage: i32,
    /// Files or documents done in this stage.
    pub files_done: u64,
    /// Total number of files or documents; 0 while unknown.
    pub files_total: u64,
    /// Bytes done in this stage.
    pub bytes_done: u64,
    /// Total bytes; 0 while unknown.
    pub bytes_total: u64,
}

/// Called when a stage begins and then about 20 times a second, on the thread of the call. Return 0 to continue. Any
/// other value cancels the call, mostly within 50 ms: it returns `KB_CANCELLED`, and the file keeps its last
/// commit. A cancellation during the sync of a commit or the merge after it is too late: the commit stands, and the
/// call may return `KB_OK`. `progress` is valid during the callback. The callback may use other handles, but must not close or
/// change the handle of its call. It must return: no exception or `longjmp` may leave it.
#[allow(non_camel_case_types)]
pub type kb_progress_fn =
    Option<unsafe extern "C" fn(progress: *const kb_progress, data: *mut c_void) -> i32>;

/// Who listens to a call.
pub(crate) struct Listener {
    pub(crate) callback: kb_progress_fn,
    pub(crate) data: *mut c_void,
}

impl Listener {
    /// Tells the caller, and asks whether to go on.
    pub(crate) fn tell(&self, progress: &Progress) -> ControlFlow<()> {
        let Some(callback) = self.callback else {
            return ControlFlow::Continue(());
        };
        let progress = kb_progress {
            struct_size: size_of::<kb_progress>(),
            stage: match progress.stage {
                Stage::Walk => kb_stage::Walk,
                Stage::Index => kb_stage::Index,
                Stage::Write => kb_stage::Write,
                Stage::Merge => kb_stage::Merge,
                Stage::Seal => kb_stage::Seal,
                Stage::Verify => kb_stage::Verify,
                Stage::Commit => kb_stage::Commit,
                Stage::Lists => kb_stage::Lists,
                Stage::Import => kb_stage::Import,
                Stage::Embed => kb_stage::Embed,
                Stage::Symbols => kb_stage::Symbols,
                _ => kb_stage::Search,
            } as i32,
            files_done: progress.files_done,
            files_total: progress.files_total,
            bytes_done: progress.bytes_done,
            bytes_total: progress.bytes_total,
        };
        // SAFETY: the caller gave the function with this data, for calls on this thread until this call ends.
        match unsafe { callback(&raw const progress, self.data) } {
            0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }
}
