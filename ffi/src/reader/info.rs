//! Facts about a file, and about this library.

use std::ffi::{CStr, c_char};

use kb_engine::Info;

use crate::base::boundary::fallible;
use crate::base::error::kb_error;
use crate::base::handle::{self, Opaque};
use crate::base::options::{self, BySize};
use crate::base::panic::infallible;
use crate::base::status::kb_status;
use crate::base::str::kb_str;
use crate::reader::open::kb;

/// Version of the interface in this header. It grows when something is added. A library works with programs compiled for
/// its own version, and for lower versions with the same soname.
pub const KB_ABI_VERSION: u32 = 2;

/// What a build of the library can have, as bits.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub enum kb_feature {
    /// Writers.
    Write = 1,
    /// The built-in embedding model: search by meaning.
    Model = 2,
    /// Grammars: source code is parsed.
    Grammars = 4,
    /// Documents and presentations of office programs.
    Office = 8,
    /// PDF.
    Pdf = 16,
    /// Sheets of workbooks and tables.
    Sheets = 32,
    /// Search by regular expressions: the call "regex" of `kb_call`.
    Regex = 64,
}

/// What a file holds. Texts are valid until the info is freed.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_info_view {
    /// sizeof(kb_info_view).
    pub struct_size: usize,
    /// Identity of the file, 32 hexadecimal digits.
    pub uuid: kb_str,
    /// Format version: "0.13".
    pub format: kb_str,
    /// Id of its embedding model.
    pub model: kb_str,
    /// Hash of the whole content if the file is sealed; else empty.
    pub content_root: kb_str,
    /// Dimensions of its vectors.
    pub dim: u32,
    /// Not 0: this library has its model.
    pub is_model_available: i32,
    /// Not 0: the file is sealed and unchanged since then.
    pub is_sealed: i32,
    /// Documents.
    pub documents: u64,
    /// Chunks.
    pub chunks: u64,
    /// Bytes of stored text.
    pub text_bytes: u64,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Number of the last commit: it grows with each change of the file, by one or more.
    pub commits: u64,
    /// When it was made, milliseconds since 1970.
    pub created_ms: i64,
    /// When it was changed last.
    pub updated_ms: i64,
}

// SAFETY: `repr(C)`, it begins with its size, and all else is numbers and pointers.
unsafe impl BySize for kb_info_view {
    const NAME: &str = "kb_info_view";
}

/// What a file holds. The caller owns it: `kb_info_free`.
#[allow(non_camel_case_types)]
pub struct kb_info {
    _private: [u8; 0],
}

impl Opaque for kb_info {
    type Value = Info;
    const TAG: u64 = u64::from_le_bytes(*b"kb.info\0");
    const NAME: &str = "kb_info";
}

/// Returns what a file holds. The call "info" of `kb_call` returns more.
///
/// # Safety
/// `file` is an open file; `out` and `err` are NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_get_info(
    file: *const kb,
    out: *mut *mut kb_info,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            handle::hand_over(out, || Ok(handle::used(file, "file")?.info()?))
        })
    }
}

/// Fills `out`: `kb_info_view view = KB_INFO_VIEW_INIT;`
///
/// # Safety
/// `info` is live; `out` may be written as far as its size says; `err` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_info_get(
    info: *const kb_info,
    out: *mut kb_info_view,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            let info = handle::used(info, "info")?;
            let root = info.content_root.as_deref();
            let view = kb_info_view {
                struct_size: size_of::<kb_info_view>(),
                uuid: kb_str::of(&info.uuid),
                format: kb_str::of(&info.format),
                model: kb_str::of(&info.model),
                content_root: root.map_or(kb_str::EMPTY, kb_str::of),
                dim: info.dim,
                is_model_available: i32::from(info.model_available),
                is_sealed: i32::from(root.is_some()),
                documents: info.documents,
                chunks: info.chunks,
                text_bytes: info.text_bytes,
                file_bytes: info.file_bytes,
                commits: info.commit,
                created_ms: info.created_ms,
                updated_ms: info.updated_ms,
            };
            options::fill(out, &view, "out")
        })
    }
}

/// Frees an info and sets the pointer to NULL. Does nothing if either is NULL.
///
/// # Safety
/// `info` is NULL or points to NULL or to a live info.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_info_free(info: *mut *mut kb_info) {
    // SAFETY: as the caller promises.
    infallible((), || unsafe { handle::free(info) });
}

/// Version of the library, NUL-terminated; equal to KB_VERSION if header and library match. Static.
#[unsafe(no_mangle)]
pub extern "C" fn kb_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}

/// `KB_ABI_VERSION` of the library, to compare with that of the header.
#[unsafe(no_mangle)]
pub extern "C" fn kb_abi_version() -> u32 {
    KB_ABI_VERSION
}

/// What this build of the library has, as bits of `kb_feature`.
#[unsafe(no_mangle)]
pub extern "C" fn kb_features() -> u32 {
    const FEATURES: [(bool, kb_feature); 7] = [
        (cfg!(feature = "write"), kb_feature::Write),
        (cfg!(feature = "model"), kb_feature::Model),
        (cfg!(feature = "grammars"), kb_feature::Grammars),
        (cfg!(feature = "office"), kb_feature::Office),
        (cfg!(feature = "pdf"), kb_feature::Pdf),
        (cfg!(feature = "sheets"), kb_feature::Sheets),
        (cfg!(feature = "regex"), kb_feature::Regex),
    ];
    let there = FEATURES.iter().filter(|(is_there, _)| *is_there);
    there.fold(0, |bits, (_, feature)| bits | *feature as u32)
}
