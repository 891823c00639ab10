//! Vectors of texts.

use crate::base::boundary::fallible;
use crate::base::error::kb_error;
use crate::base::fault::Fault;
use crate::base::handle::{self, Opaque};
use crate::base::panic::infallible;
use crate::base::status::kb_status;
use crate::base::str::{kb_str, pointers};
use crate::base::text;

/// Role of a text that is embedded.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub enum kb_text_role {
    /// A text to search in. The default.
    Document = 0,
    /// A query.
    Query = 1,
}

/// Vectors of some texts. The caller owns it: `kb_vectors_free`.
#[allow(non_camel_case_types)]
pub struct kb_vectors {
    _private: [u8; 0],
}

/// What is behind the pointer.
#[derive(Debug)]
pub(crate) struct Vectors {
    numbers: Vec<f32>,
    dim: usize,
}

impl Opaque for kb_vectors {
    type Value = Vectors;
    const TAG: u64 = u64::from_le_bytes(*b"kb.vects");
    const NAME: &str = "kb_vectors";
}

/// Embeds texts with the built-in model. Each vector has unit length, or is zero if the model knows no word of its text.
/// `role` is a `kb_text_role`. Takes about a microsecond per word.
///
/// Errors: `KB_INVALID_ARGUMENT`; `KB_NOT_BUILT` in a library without the model.
///
/// # Safety
/// `len` texts at `texts` may be read; `out` and `err` are NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_embed(
    texts: *const kb_str,
    len: usize,
    role: i32,
    out: *mut *mut kb_vectors,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            handle::hand_over(out, || {
                let texts = text::texts(texts, len, "texts")?;
                if !matches!(role, 0 | 1) {
                    let reason = format!("{role} given; allowed are 0 and 1");
                    return Err(Fault::argument("role", &reason));
                }
                embedded(&texts, role == 1)
            })
        })
    }
}

#[cfg(feature = "model")]
fn embedded(texts: &[&str], is_query: bool) -> Result<Vectors, Fault> {
    use kb_engine::TextRole;

    let role = match is_query {
        true => TextRole::Query,
        false => TextRole::Document,
    };
    let (numbers, dim) = kb_engine::embed_texts(texts, role)?;
    Ok(Vectors { numbers, dim })
}

#[cfg(not(feature = "model"))]
fn embedded(_: &[&str], _: bool) -> Result<Vectors, Fault> {
    Err(Fault::not_built(
        "embedding model",
        "build it with the feature `model`",
    ))
}

/// Returns the numbers, one vector after the other. Writes the dimensions to `dim` and the number of vectors to `len`, unless
/// they are NULL. NULL for NULL. Valid until the vectors are freed.
///
/// # Safety
/// `vectors` is NULL or live; `len` and `dim` are NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_vectors_data(
    vectors: *const kb_vectors,
    len: *mut usize,
    dim: *mut usize,
) -> *const f32 {
    infallible(std::ptr::null(), || {
        // SAFETY: as the caller promises.
        let found = unsafe { handle::peek(vectors) };
        let (numbers, dims) = found.map_or((&[][..], 0), |it| (it.numbers.as_slice(), it.dim));
        let count = numbers.len().checked_div(dims).unwrap_or_default();
        for (out, value) in [(len, count), (dim, dims)] {
            if !out.is_null() {
                // SAFETY: not null, and the caller says that it may be written.
                unsafe { out.write(value) };
            }
        }
        pointers(numbers)
    })
}

/// Frees vectors and sets the pointer to NULL. Does nothing if either is NULL.
///
/// # Safety
/// `vectors` is NULL or points to NULL or to live vectors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_vectors_free(vectors: *mut *mut kb_vectors) {
    // SAFETY: as the caller promises.
    infallible((), || unsafe { handle::free(vectors) });
}
