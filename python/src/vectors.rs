//! Vectors: those of a file in place, and those of texts. The only file of this crate with `unsafe`: the buffer
//! protocol lends memory by address.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use kb_engine::{Error, TextRole, VectorCodec, embed_texts};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::arrow::{stream, vectors_batch, vectors_schema};
use crate::call::run_short;
use crate::handle::Handle;
use crate::options::words;
use crate::results::sequence::{indexed, iterator};

/// Texts that are embedded between two looks for signals.
const EMBEDDED_AT_ONCE: usize = 1024;

/// Numbers as an array of float32 `[n, dim]` through the buffer protocol.
///
/// What this library hands out is a view of it: a numpy.ndarray where numpy is installed, else a memoryview.
#[pyclass(module = "kbfile._kbfile", frozen)]
#[derive(Debug)]
pub(crate) struct Array {
    numbers: Vec<f32>,
    dim: usize,
}

impl Array {
    pub(crate) fn new(numbers: Vec<f32>, dim: usize) -> Array {
        Array { numbers, dim }
    }

    /// The array as other libraries know arrays.
    pub(crate) fn view(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let array = Bound::new(py, self)?;
        py.import("kbfile._tables")?
            .call_method1("as_array", (array,))
    }
}

/// The stored vectors of one commit: a sequence of blocks of rows, in place. They stay readable when the file is
/// closed, replaced or deleted.
///
/// `numpy.asarray(block)` of each block is a view without a copy; `to_float32()` makes numbers of all of them.
#[pyclass(module = "kbfile", frozen, sequence)]
#[derive(Debug)]
pub(crate) struct Vectors {
    vectors: Arc<kb_engine::Vectors>,
    handle: Arc<Handle>,
}

/// Rows of one segment that lie next to each other in the file: int8 `[rows, dim]`, or with the codec i4 uint8
/// `[rows, bytes]` of two dimensions each. A component of a vector is its int8 times `scale`.
#[pyclass(module = "kbfile", frozen)]
#[derive(Debug)]
pub(crate) struct VectorBlock {
    vectors: Arc<kb_engine::Vectors>,
    /// Which block.
    position: usize,
}

impl Vectors {
    pub(crate) fn new(vectors: kb_engine::Vectors, handle: &Arc<Handle>) -> Vectors {
        Vectors {
            vectors: Arc::new(vectors),
            handle: Arc::clone(handle),
        }
    }

    fn block<'py>(&self, py: Python<'py>, position: usize) -> PyResult<Bound<'py, PyAny>> {
        let block = VectorBlock {
            vectors: Arc::clone(&self.vectors),
            position,
        };
        Ok(Bound::new(py, block)?.into_any())
    }

    fn positions(&self) -> Vec<usize> {
        (0..self.vectors.blocks.len()).collect()
    }

    /// Which chunk each row is of.
    fn read_rows(&self, py: Python<'_>) -> PyResult<Vec<kb_engine::VectorRow>> {
        let kb = self.handle.kb(py)?;
        run_short(py, || kb.vector_rows(&self.vectors))
    }
}

#[pymethods]
impl Vectors {
    /// Dimensions.
    #[getter]
    fn dim(&self) -> u32 {
        self.vectors.dim
    }

    /// Name of the model that made them.
    #[getter]
    fn model(&self) -> &str {
        &self.vectors.model
    }

    /// How rows are stored: "i8" or "i4".
    #[getter]
    fn codec(&self) -> &'static str {
        self.vectors.codec.name()
    }

    /// Rows of all blocks, including those of deleted chunks.
    #[getter]
    fn row_count(&self) -> u64 {
        self.vectors.rows()
    }

    /// Bytes of all blocks.
    #[getter]
    fn nbytes(&self) -> usize {
        let blocks = self.vectors.blocks.iter();
        blocks.map(|block| block.bytes.as_slice().len()).sum()
    }

    /// Whether the bytes are still those of the commit. False once a writer may have reused their place; then read
    /// `kb.vectors` again. Without a writer it stays True.
    fn is_current(&self) -> bool {
        self.vectors.is_current()
    }

    /// Returns the chunk of each row, in the order of the blocks: path of the document, and number of the chunk in it. None
    /// for a row whose chunk is deleted, or has no vector in an imported column. Raises CursorError if the file has a newer
    /// commit.
    fn ids(&self, py: Python<'_>) -> PyResult<Vec<Option<(String, u32)>>> {
        let rows = self.read_rows(py)?.into_iter();
        let ids = rows.map(|row| {
            let is_there = row.has_vector && !row.is_deleted;
            is_there.then_some((row.document, row.chunk_index))
        });
        Ok(ids.collect())
    }

    /// Returns a copy of all vectors as float32 `[rows, dim]`, each of about unit length.
    fn to_float32<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let numbers = py.detach(|| self.vectors.to_f32());
        Array::new(numbers, self.vectors.dim as usize).view(py)
    }

    fn __len__(&self) -> usize {
        self.vectors.blocks.len()
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        indexed(&self.positions(), index, |position| {
            self.block(py, *position)
        })
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let blocks = self.positions().into_iter();
        let blocks = blocks.map(|position| self.block(py, position));
        iterator(py, blocks.collect::<PyResult<_>>()?)
    }

    /// The rows as an Arrow stream, a batch for each block: document, chunk_index, is_deleted, scale, and vector: a list of
    /// int8 that is not copied, or of float32 with the codec i4 or padded rows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // A schema that is asked for is a wish that need not be fulfilled.
        let _ = requested_schema;
        let rows = self.read_rows(py)?;
        let vectors = &self.vectors;
        let dim = i32::try_from(vectors.dim).unwrap_or(i32::MAX);
        let is_plain = vectors.codec == VectorCodec::I8
            && vectors
                .blocks
                .iter()
                .all(|it| it.stride_bytes == vectors.dim);
        let schema = vectors_schema(dim, is_plain);
        let mut rows = rows.as_slice();
        let mut batches = Vec::with_capacity(vectors.blocks.len());
        for block in &vectors.blocks {
            let count = usize::try_from(block.rows).unwrap_or(0).min(rows.len());
            let (own, rest) = rows.split_at(count);
            rows = rest;
            let numbers = (!is_plain).then(|| vectors.block_to_f32(block));
            batches.push(vectors_batch(&schema, block, own, numbers, dim)?);
        }
        stream(py, schema, batches)
    }

    fn __repr__(&self) -> String {
        let kb_engine::Vectors {
            dim, codec, model, ..
        } = &*self.vectors;
        format!(
            "Vectors({} rows, dim={dim}, codec={:?}, model={model:?})",
            self.vectors.rows(),
            codec.name()
        )
    }
}

impl VectorBlock {
    fn get(&self) -> Option<&kb_engine::VectorBlock> {
        self.vectors.blocks.get(self.position)
    }

    /// Rows, columns and bytes from one row to the next.
    fn layout(&self) -> [usize; 3] {
        let Some(block) = self.get() else {
            return [0; 3];
        };
        let [rows, stride, dim] = [block.rows, block.stride_bytes, self.vectors.dim]
            .map(|number| usize::try_from(number).unwrap_or(0));
        match self.vectors.codec {
            VectorCodec::I8 => [rows, dim.min(stride), stride],
            VectorCodec::I4 => [rows, stride, stride],
        }
    }
}

#[pymethods]
impl VectorBlock {
    /// Number of the segment.
    #[getter]
    fn segment(&self) -> u32 {
        self.get().map_or(0, |block| block.segment.0)
    }

    /// First row in the segment, from 0.
    #[getter]
    fn first_row(&self) -> u32 {
        self.get().map_or(0, |block| block.first_row)
    }

    /// Rows and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        let [rows, columns, _] = self.layout();
        (rows, columns)
    }

    /// Factor: an int8 of the block times `scale` is a component of its vector.
    #[getter]
    fn scale(&self) -> f32 {
        self.get().map_or(0.0, |block| block.scale)
    }

    fn __len__(&self) -> usize {
        self.layout()[0]
    }

    fn __repr__(&self) -> String {
        let [rows, columns, _] = self.layout();
        let (segment, first) = (self.segment(), self.first_row());
        format!("VectorBlock([{rows}, {columns}], segment={segment}, first_row={first})")
    }

    // SAFETY: called by Python with a view to fill. The bytes belong to a map that `slf` holds, whose reference the view
    // takes; nothing moves or unmaps them before it is released. They are lent for reading only. Another process may
    // change them, as `is_current` says: they are numbers, and any byte is one.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let block = slf.get();
        let [rows, columns, stride] = block.layout();
        let bytes = block.get().map_or(&[][..], |it| it.bytes.as_slice());
        let format = match block.vectors.codec {
            VectorCodec::I8 => c"b",
            VectorCodec::I4 => c"B",
        };
        let lent = Lent {
            address: bytes.as_ptr().cast(),
            format,
            item: 1,
            shape: [rows, columns],
            row_bytes: stride,
        };
        // SAFETY: as above.
        unsafe { lend(slf.clone().into_any(), view, flags, lent) }
    }

    // SAFETY: called by Python once for each view that was filled.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: as above.
        unsafe { release(view) }
    }
}

#[pymethods]
impl Array {
    fn __len__(&self) -> usize {
        self.numbers.len() / self.dim.max(1)
    }

    // SAFETY: called by Python with a view to fill. The numbers belong to `slf`, whose reference the view takes; they are
    // never changed nor moved, and lent for reading only.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let array = slf.get();
        let lent = Lent {
            address: array.numbers.as_ptr().cast(),
            format: c"f",
            item: size_of::<f32>(),
            shape: [array.__len__(), array.dim],
            row_bytes: array.dim * size_of::<f32>(),
        };
        // SAFETY: as above.
        unsafe { lend(slf.clone().into_any(), view, flags, lent) }
    }

    // SAFETY: called by Python once for each view that was filled.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: as above.
        unsafe { release(view) }
    }
}

/// Memory that is lent to Python.
struct Lent {
    address: *const c_void,
    /// Of one item, as in the module `struct`.
    format: &'static std::ffi::CStr,
    /// Bytes of an item.
    item: usize,
    shape: [usize; 2],
    row_bytes: usize,
}

/// What a view points to beside the memory; it lives until the view is released.
struct Dimensions {
    shape: [isize; 2],
    strides: [isize; 2],
}

/// Fills a view.
///
/// # Safety
/// `view` is to be filled; `lent` lives as long as `owner` and is not changed by this process.
unsafe fn lend(
    owner: Bound<'_, PyAny>,
    view: *mut ffi::Py_buffer,
    flags: c_int,
    lent: Lent,
) -> PyResult<()> {
    if view.is_null() {
        return Err(PyBufferError::new_err("the view is null"));
    }
    // SAFETY: the caller gives a view to fill; PEP 3118 wants its owner null when it is not filled.
    unsafe { (*view).obj = std::ptr::null_mut() };
    if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
        return Err(PyBufferError::new_err("these vectors are read-only"));
    }
    let [rows, columns] = lent.shape;
    let is_contiguous = columns * lent.item == lent.row_bytes || rows <= 1;
    let has = |flag: c_int| flags & flag == flag;
    if !is_contiguous && (!has(ffi::PyBUF_STRIDES) || has(ffi::PyBUF_C_CONTIGUOUS)) {
        return Err(PyBufferError::new_err(
            "these rows are padded: ask for strides",
        ));
    }
    if has(ffi::PyBUF_F_CONTIGUOUS) && !has(ffi::PyBUF_ANY_CONTIGUOUS) && rows > 1 && columns > 1 {
        return Err(PyBufferError::new_err("these vectors are row-major"));
    }
    let signed = |number: usize| isize::try_from(number).unwrap_or(isize::MAX);
    let dimensions = Box::into_raw(Box::new(Dimensions {
        shape: [signed(rows), signed(columns)],
        strides: [signed(lent.row_bytes), signed(lent.item)],
    }));
    let null: *mut c_void = std::ptr::null_mut();
    // SAFETY: `view` is valid and exclusively ours until this returns; `dimensions` was just allocated and is freed by
    // `release`; the format is a constant. Python writes to none of them.
    unsafe {
        (*view).buf = lent.address.cast_mut();
        (*view).len = signed(rows * columns * lent.item);
        (*view).readonly = 1;
        (*view).itemsize = signed(lent.item);
        (*view).format = if has(ffi::PyBUF_FORMAT) {
            lent.format.as_ptr().cast_mut()
        } else {
            null.cast()
        };
        (*view).ndim = 2;
        (*view).shape = if has(ffi::PyBUF_ND) {
            (&raw mut (*dimensions).shape).cast()
        } else {
            null.cast()
        };
        (*view).strides = if has(ffi::PyBUF_STRIDES) {
            (&raw mut (*dimensions).strides).cast()
        } else {
            null.cast()
        };
        (*view).suboffsets = null.cast();
        (*view).internal = dimensions.cast();
        (*view).obj = owner.into_ptr();
    }
    Ok(())
}

/// Frees what [`lend`] allocated.
///
/// # Safety
/// `view` was filled by [`lend`] and is released once.
unsafe fn release(view: *mut ffi::Py_buffer) {
    // SAFETY: `internal` is what `lend` put there.
    let dimensions: *mut Dimensions = unsafe { (*view).internal }.cast();
    if !dimensions.is_null() {
        // SAFETY: it came from `Box::into_raw`, and is freed once.
        drop(unsafe { Box::from_raw(dimensions) });
    }
}

/// Embeds texts with the built-in model, without a file. Returns float32 `[n, dim]`, each row of unit length, or
/// all zero if the model knows no word of its text. A single str is one text.
///
/// `query=True` marks the texts as queries; some models embed queries differently, the built-in one does not.
/// Returns a numpy.ndarray, or a memoryview if numpy is not installed. Takes about a microsecond per word.
#[pyfunction]
#[pyo3(signature = (texts, *, query = false))]
pub(crate) fn embed<'py>(texts: &Bound<'py, PyAny>, query: bool) -> PyResult<Bound<'py, PyAny>> {
    let py = texts.py();
    if texts.is_none() {
        return Err(PyTypeError::new_err(
            "texts takes a str or an iterable of str, not NoneType",
        ));
    }
    let texts = words("texts", texts)?;
    let role = if query {
        TextRole::Query
    } else {
        TextRole::Document
    };
    let mut numbers = Vec::new();
    // Of an empty list, too.
    let dim = embed_texts(&[], role).map_or(0, |(_, dim)| dim);
    for some in texts.chunks(EMBEDDED_AT_ONCE) {
        let embedded = run_short(py, || {
            let some: Vec<&str> = some.iter().map(String::as_str).collect();
            Ok::<_, Error>(embed_texts(&some, role)?.0)
        })?;
        numbers.extend(embedded);
        py.check_signals()?;
    }
    Array::new(numbers, dim).view(py)
}
