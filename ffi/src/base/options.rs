//! Structs that begin with their size: a caller and a library of different versions agree on the shorter one.

use std::mem::MaybeUninit;
use std::ptr;

use crate::base::fault::Fault;

/// Bytes of the field that each of them begins with.
const SIZE_BYTES: usize = size_of::<usize>();

/// No struct of this library is larger, in any version.
const LIMIT_BYTES: usize = 4096;

/// A struct of numbers and pointers that begins with its size.
///
/// # Safety
/// It is `repr(C)`, its first field is `struct_size: usize`, and all other fields are valid as zeros.
pub(crate) unsafe trait BySize: Copy {
    /// Its name in C.
    const NAME: &str;
}

/// The options of a caller; zeros, which are the defaults, for NULL and for fields that it does not know.
///
/// # Errors
/// A size that is none, and fields of a newer header that are set.
///
/// # Safety
/// The pointer is null, or as many bytes as the struct says may be read.
pub(crate) unsafe fn read<T: BySize>(options: *const T, argument: &str) -> Result<T, Fault> {
    let mut known = MaybeUninit::<T>::zeroed();
    if options.is_null() {
        // SAFETY: zeros are valid, as the trait says.
        return Ok(unsafe { known.assume_init() });
    }
    // SAFETY: the struct begins with its size, which may be read.
    let size = unsafe { size_of_struct::<T>(options.cast(), argument) }?;
    let from = options.cast::<u8>();
    if let Some(more) = size.checked_sub(size_of::<T>()) {
        // SAFETY: the caller has `size` bytes.
        let more = unsafe { std::slice::from_raw_parts(from.add(size_of::<T>()), more) };
        if more.iter().any(|byte| *byte != 0) {
            let reason = format!("it sets fields of a {} newer than this libkb", T::NAME);
            return Err(Fault::argument(argument, &reason));
        }
    }
    // SAFETY: both have as many bytes, and are different memory. The rest stays zero, which is valid.
    Ok(unsafe {
        ptr::copy_nonoverlapping(from, known.as_mut_ptr().cast(), size.min(size_of::<T>()));
        known.assume_init()
    })
}

/// Fills a struct of a caller as far as it knows its fields; what it knows beyond this library becomes zeros.
///
/// # Errors
/// NULL, and a size that is none.
///
/// # Safety
/// The pointer is null, or as many bytes as the struct says may be read and written.
pub(crate) unsafe fn fill<T: BySize>(out: *mut T, value: &T, argument: &str) -> Result<(), Fault> {
    if out.is_null() {
        return Err(Fault::argument(argument, "it is NULL"));
    }
    // SAFETY: the struct begins with its size, which may be read.
    let size = unsafe { size_of_struct::<T>(out.cast_const().cast(), argument) }?;
    let known = size.min(size_of::<T>());
    // SAFETY: the caller has `size` bytes; the first ones keep its size.
    unsafe {
        let to = out.cast::<u8>();
        let from = ptr::from_ref(value).cast::<u8>();
        ptr::copy_nonoverlapping(from.add(SIZE_BYTES), to.add(SIZE_BYTES), known - SIZE_BYTES);
        ptr::write_bytes(to.add(known), 0, size - known);
    }
    Ok(())
}

/// # Safety
/// A `usize` may be read there.
unsafe fn size_of_struct<T: BySize>(at: *const usize, argument: &str) -> Result<usize, Fault> {
    // SAFETY: as the caller promises.
    let size = unsafe { at.read_unaligned() };
    if (SIZE_BYTES..=LIMIT_BYTES).contains(&size) {
        return Ok(size);
    }
    let reason = format!(
        "its struct_size is {size}: begin with sizeof({}), as its INIT macro does",
        T::NAME
    );
    Err(Fault::argument(argument, &reason))
}
