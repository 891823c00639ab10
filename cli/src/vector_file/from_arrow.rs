//! Arrow IPC files and streams: `.arrow`, and `.feather` of version 2.
//!
//! This module finds and reads the messages, so that every length is checked against the file first. The library decodes
//! them. A batch is read whole, and its size is limited.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block, MetadataVersion, root_as_footer, root_as_message};

use super::columns::{Batch, locate};
use super::error::VectorFileError;
use super::row::Row;
use super::unwinding::{damaged, guarded};

/// First and last bytes of a file that is no stream.
const MAGIC: &[u8; 6] = b"ARROW1";

/// Bytes before each message: a mark, and the length of what describes it.
const PREFIX: u64 = 8;

/// The mark, from format version 0.15 of Arrow on.
const CONTINUATION: [u8; 4] = [0xFF; 4];

/// Bytes of a description.
const MAX_METADATA: u64 = 64 << 20;

/// Bytes of a batch as it is stored, and of all its columns when they are unpacked.
const MAX_BATCH: u64 = 2 << 30;

/// The rows of a file.
pub(super) struct ArrowRows {
    path: PathBuf,
    messages: Messages,
    /// `None` once it has failed.
    decoder: Option<FileDecoder>,
    batch: Option<Batch>,
    read: u64,
}

impl ArrowRows {
    pub(super) fn new(path: &Path, file: File) -> Result<ArrowRows, VectorFileError> {
        guarded(path, || open(path, file))
    }
}

impl Iterator for ArrowRows {
    type Item = Result<Row, VectorFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut decoder = self.decoder.take()?;
        let (path, number) = (self.path.as_path(), self.read);
        let (batch, messages) = (&mut self.batch, &mut self.messages);
        let row = guarded(path, || {
            loop {
                let row = batch
                    .as_mut()
                    .and_then(|batch| batch.next_row(path, number));
                if row.is_some() {
                    return row.transpose();
                }
                // The memory of the last batch goes before the next one is read.
                *batch = None;
                match next_batch(path, messages, &mut decoder)? {
                    Some(columns) => *batch = Some(Batch::new(columns)),
                    None => return Ok(None),
                }
            }
        });
        self.read = self.read.saturating_add(1);
        if let Ok(Some(_)) = row {
            self.decoder = Some(decoder);
        }
        row.transpose()
    }
}

fn open(path: &Path, mut file: File) -> Result<ArrowRows, VectorFileError> {
    let io = |error| VectorFileError::io(path, &error);
    let length = file.metadata().map_err(io)?.len();
    let mut start = [0; 8];
    let got = length.min(8);
    read_at(
        path,
        &mut file,
        0,
        start
            .get_mut(..usize::try_from(got).unwrap_or(0))
            .unwrap_or_default(),
    )?;
    if start.starts_with(b"FEA1") {
        return Err(VectorFileError::new(
            path,
            "it is a Feather file of version 1",
            "write it with `pyarrow.feather.write_feather(table, path, version=2)`",
        ));
    }
    let is_file = start.starts_with(MAGIC);
    if !is_file && !start.starts_with(&CONTINUATION) {
        return Err(damaged(
            path,
            "it does not begin as an Arrow file or stream does",
        ));
    }
    let mut messages = Messages {
        file,
        length,
        waiting: VecDeque::new(),
        stream_at: (!is_file).then_some(0),
    };
    let (schema, version) = if is_file {
        file_schema(path, &mut messages)?
    } else {
        stream_schema(path, &mut messages)?
    };
    let places = locate(path, &schema)?;
    let decoder = FileDecoder::new(Arc::new(schema), version).with_projection(places);
    Ok(ArrowRows {
        path: path.to_owned(),
        messages,
        decoder: Some(decoder),
        batch: None,
        read: 0,
    })
}

/// Where a message lies, as its file or the message itself says it.
#[derive(Debug, Clone, Copy)]
struct Place {
    is_dictionary: bool,
    at: u64,
    /// Bytes of the description, with the mark and the length.
    metadata: u64,
    body: u64,
}

/// The messages of a file that are still to be read.
struct Messages {
    file: File,
    length: u64,
    /// Of a file that lists them.
    waiting: VecDeque<Place>,
    /// Where the next one begins, of a stream.
    stream_at: Option<u64>,
}

/// Reads the table at the end of a file.
fn file_schema(
    path: &Path,
    messages: &mut Messages,
) -> Result<(arrow_schema::Schema, MetadataVersion), VectorFileError> {
    let cut = || {
        damaged(
            path,
            "it does not end as an Arrow file does; it may be incomplete",
        )
    };
    let end = messages.length.checked_sub(10).ok_or_else(cut)?;
    let mut trailer = [0; 10];
    read_at(path, &mut messages.file, end, &mut trailer)?;
    let [a, b, c, d, magic @ ..] = trailer;
    if &magic != MAGIC {
        return Err(cut());
    }
    let size = u64::from(u32::from_le_bytes([a, b, c, d]));
    let at = end.checked_sub(size).filter(|_| size <= MAX_METADATA);
    let at = at.ok_or_else(|| damaged(path, format!("it claims a table of {size} bytes")))?;
    let bytes = read_vec(path, &mut messages.file, at, size)?;
    let footer = root_as_footer(&bytes).map_err(|error| damaged(path, error))?;
    let schema = footer
        .schema()
        .ok_or_else(|| damaged(path, "it has no schema"))?;
    let schema = try_fb_to_schema(schema).map_err(|error| damaged(path, error))?;
    for (is_dictionary, blocks) in [
        (true, footer.dictionaries()),
        (false, footer.recordBatches()),
    ] {
        for block in blocks.iter().flatten() {
            let place = (|| {
                Some(Place {
                    is_dictionary,
                    at: u64::try_from(block.offset()).ok()?,
                    metadata: u64::try_from(block.metaDataLength()).ok()?,
                    body: u64::try_from(block.bodyLength()).ok()?,
                })
            })();
            let place = place.ok_or_else(|| damaged(path, "a batch has a negative length"))?;
            messages.waiting.push_back(place);
        }
    }
    Ok((schema, footer.version()))
}

/// Reads the first message of a stream.
fn stream_schema(
    path: &Path,
    messages: &mut Messages,
) -> Result<(arrow_schema::Schema, MetadataVersion), VectorFileError> {
    let none = || damaged(path, "it has no schema");
    let (at, size) = messages.next_in_stream(path)?.ok_or_else(none)?;
    let bytes = read_vec(path, &mut messages.file, at + PREFIX, size)?;
    let message = root_as_message(&bytes).map_err(|error| damaged(path, error))?;
    let schema = message.header_as_schema().ok_or_else(none)?;
    let schema = try_fb_to_schema(schema).map_err(|error| damaged(path, error))?;
    messages.stream_at = at.checked_add(PREFIX).and_then(|at| at.checked_add(size));
    Ok((schema, message.version()))
}

impl Messages {
    /// Where the next message of a stream begins, and the bytes of its description; `None` at the end.
    fn next_in_stream(&mut self, path: &Path) -> Result<Option<(u64, u64)>, VectorFileError> {
        let Some(at) = self.stream_at else {
            return Ok(None);
        };
        if at == self.length {
            return Ok(None);
        }
        let mut prefix = [0; PREFIX as usize];
        if at.checked_add(PREFIX).is_none_or(|end| end > self.length) {
            return Err(damaged(
                path,
                "it ends within a message; it may be incomplete",
            ));
        }
        read_at(path, &mut self.file, at, &mut prefix)?;
        let [mark @ .., a, b, c, d] = prefix;
        let size = u64::from(u32::from_le_bytes([a, b, c, d]));
        match (mark == CONTINUATION, size) {
            (true, 0) => Ok(None),
            (true, size) if size <= MAX_METADATA => Ok(Some((at, size))),
            _ => Err(damaged(path, format!("there is no message at byte {at}"))),
        }
    }

    /// The next message with its bytes.
    fn next(&mut self, path: &Path) -> Result<Option<(Place, Vec<u8>)>, VectorFileError> {
        if self.stream_at.is_none() {
            return match self.waiting.pop_front() {
                Some(place) => Ok(Some((place, self.bytes(path, place)?))),
                None => Ok(None),
            };
        }
        let Some((at, size)) = self.next_in_stream(path)? else {
            return Ok(None);
        };
        let metadata = read_vec(path, &mut self.file, at + PREFIX, size)?;
        let message = root_as_message(&metadata).map_err(|error| damaged(path, error))?;
        let body = u64::try_from(message.bodyLength());
        let place = Place {
            is_dictionary: message.header_as_dictionary_batch().is_some(),
            at,
            metadata: PREFIX + size,
            body: body.map_err(|_| damaged(path, "a batch has a negative length"))?,
        };
        let bytes = self.bytes(path, place)?;
        self.stream_at = Some(at + bytes.len() as u64);
        Ok(Some((place, bytes)))
    }

    /// The bytes of a message, once its lengths were compared with the file.
    fn bytes(&mut self, path: &Path, place: Place) -> Result<Vec<u8>, VectorFileError> {
        let size = place.metadata.checked_add(place.body);
        let end = size.and_then(|size| place.at.checked_add(size));
        let (Some(size), Some(_)) = (size, end.filter(|end| *end <= self.length)) else {
            return Err(damaged(
                path,
                "a batch reaches beyond its end; it may be incomplete",
            ));
        };
        if place.metadata < PREFIX || place.metadata > MAX_METADATA {
            return Err(damaged(
                path,
                "the description of a batch has a wrong length",
            ));
        }
        if place.body > MAX_BATCH {
            return Err(too_large(path, place.body));
        }
        read_vec(path, &mut self.file, place.at, size)
    }
}

fn next_batch(
    path: &Path,
    messages: &mut Messages,
    decoder: &mut FileDecoder,
) -> Result<Option<RecordBatch>, VectorFileError> {
    while let Some((place, bytes)) = messages.next(path)? {
        check_buffers(path, place, &bytes)?;
        let lengths = (
            i64::try_from(place.at),
            i32::try_from(place.metadata),
            i64::try_from(place.body),
        );
        let (Ok(at), Ok(metadata), Ok(body)) = lengths else {
            return Err(damaged(path, "a batch has a wrong length"));
        };
        let (block, bytes) = (Block::new(at, metadata, body), Buffer::from_vec(bytes));
        if place.is_dictionary {
            let read = decoder.read_dictionary(&block, &bytes);
            read.map_err(|error| damaged(path, error))?;
            continue;
        }
        let batch = decoder.read_record_batch(&block, &bytes);
        if let Some(batch) = batch.map_err(|error| damaged(path, error))? {
            return Ok(Some(batch));
        }
    }
    Ok(None)
}

/// Whether the columns of a message lie within it, and how large they get: each compressed one says that itself.
fn check_buffers(path: &Path, place: Place, bytes: &[u8]) -> Result<(), VectorFileError> {
    let at = usize::try_from(place.metadata).unwrap_or(usize::MAX);
    let (metadata, body) = bytes
        .split_at_checked(at)
        .ok_or_else(|| damaged(path, "a batch has a wrong length"))?;
    let metadata = match metadata.strip_prefix(&CONTINUATION) {
        Some(rest) => rest.get(4..),
        None => metadata.get(4..),
    };
    let message = root_as_message(metadata.unwrap_or_default());
    let message = message.map_err(|error| damaged(path, error))?;
    let dictionary = message.header_as_dictionary_batch();
    let batch = match &dictionary {
        Some(dictionary) => dictionary.data(),
        None => message.header_as_record_batch(),
    };
    let Some(batch) = batch else {
        return Ok(());
    };
    let mut total = 0u64;
    for buffer in batch.buffers().iter().flatten() {
        let range = (
            usize::try_from(buffer.offset()),
            usize::try_from(buffer.length()),
        );
        let stored = match range {
            (Ok(start), Ok(length)) => start
                .checked_add(length)
                .and_then(|end| body.get(start..end)),
            _ => None,
        };
        let stored = stored.ok_or_else(|| damaged(path, "a column lies outside its batch"))?;
        let size = match stored.first_chunk() {
            Some(size) if batch.compression().is_some() => {
                // -1: not compressed after all.
                u64::try_from(i64::from_le_bytes(*size)).unwrap_or(0)
            }
            _ => 0,
        };
        total = total.saturating_add(size);
    }
    if total > MAX_BATCH {
        return Err(too_large(path, total));
    }
    Ok(())
}

fn too_large(path: &Path, bytes: u64) -> VectorFileError {
    VectorFileError::new(
        path,
        format!(
            "one of its batches has {bytes} bytes; a batch may have at most {MAX_BATCH}, because it is read whole"
        ),
        "write smaller ones: `writer.write_table(table, max_chunksize=65536)`, `write_feather(table, path, chunksize=65536)`; or write .parquet",
    )
}

fn read_at(path: &Path, file: &mut File, at: u64, bytes: &mut [u8]) -> Result<(), VectorFileError> {
    let read = file
        .seek(SeekFrom::Start(at))
        .and_then(|_| file.read_exact(bytes));
    read.map_err(|error| VectorFileError::io(path, &error))
}

/// Reads `size` bytes. They take memory as they come.
fn read_vec(path: &Path, file: &mut File, at: u64, size: u64) -> Result<Vec<u8>, VectorFileError> {
    let io = |error| VectorFileError::io(path, &error);
    file.seek(SeekFrom::Start(at)).map_err(io)?;
    let mut bytes = Vec::new();
    let read = file.take(size).read_to_end(&mut bytes).map_err(io)?;
    if read as u64 != size {
        return Err(damaged(
            path,
            "it ends within a message; it may be incomplete",
        ));
    }
    Ok(bytes)
}
