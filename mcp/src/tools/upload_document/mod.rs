//! `upload_document`: adds or replaces one document.

mod content;
mod media_type;
mod reader_place;

use std::borrow::Cow;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{mem, thread};

use content::Encoding;
use kb_engine::{
    Document, DocumentInfo, KbWriter, Secret, Sniffed, SourceInfo, file_types, secret_by_name,
    secret_in, sniff,
};
use reader_place::ReaderPlace;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::indexes::{Index, Indexes, RunningJob};
use crate::limits::{FILE_NAME_LIMIT, MIME_LIMIT, TAG_LIMIT, TAGS_LIMIT};
use crate::response::{Text, ToolError, ToolResponse, Warnings, uri};
use crate::tools::call::coerce::invalid;
use crate::tools::call::context::Context;
use crate::tools::call::params::IndexName;
use crate::tools::call::resolve;
use crate::tools::call::tool::{Effect, Tool};

/// How long a caller waits; hosts give up a call soon after.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long an accepted upload waits for other writers: as long as indexing a very large folder takes.
const WRITER_TIMEOUT: Duration = Duration::from_secs(600);

/// Bytes of a text that is read at once, whatever others are being read: a worker needs little for it.
const SMALL_BYTES: usize = 1 << 20;

/// Longest path, in bytes.
const PATH_LIMIT_BYTES: usize = 1024;

pub(super) struct UploadDocument;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct UploadDocumentParams {
    index_name: Option<IndexName>,
    /// Its path, e.g. guide/install.md.
    #[serde(rename = "fileName")]
    #[schemars(length(max = FILE_NAME_LIMIT))]
    file_name: String,
    // Without a published limit: FILE_TOO_LARGE says how many bytes there may be.
    /// Plain text, or base64 of a file.
    // Taken by the upload: it may have 14 MB.
    #[schemars(with = "String")]
    content: Mutex<String>,
    /// Must match the content.
    #[serde(rename = "mimeType")]
    #[schemars(length(max = MIME_LIMIT), extend("default" = "text/plain"))]
    mime_type: Option<String>,
    /// auto: base64 if 32 or more characters decode to text or a known format.
    #[serde(default)]
    encoding: Encoding,
    /// Its tags.
    #[schemars(length(max = TAGS_LIMIT))]
    tags: Option<Vec<Tag>>,
}

/// Tag.
#[derive(Debug, Deserialize, JsonSchema)]
struct Tag(#[schemars(length(max = TAG_LIMIT))] String);

#[derive(Serialize, JsonSchema)]
pub(super) struct Uploaded<'a> {
    #[serde(rename = "documentId")]
    document_id: &'a str,
    #[serde(rename = "fileName")]
    file_name: &'a str,
    /// State
    status: UploadStatus,
    #[serde(rename = "chunkCount")]
    chunk_count: Option<u32>,
    /// Opaque; changes whenever the stored document changes.
    #[serde(rename = "revisionToken")]
    revision_token: Option<&'a str>,
    doc_handle: Option<&'a str>,
    uri: Option<&'a str>,
    replaced: Option<bool>,
    warnings: Option<Warnings>,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum UploadStatus {
    Processing,
    Complete,
}

impl Tool for UploadDocument {
    const NAME: &'static str = "upload_document";
    const TITLE: &'static str = "Upload a document";
    const DESCRIPTION: &'static str = "Add or replace one document (text, Markdown, or base64 of any \
        file, such as PDF), at most 10 MB, and index it. Large files return status processing: poll \
        get_status.";
    const EFFECT: Effect = Effect::Replaces;
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("projectId", "index_name"),
        ("project_id", "index_name"),
        ("file_name", "fileName"),
        ("mime_type", "mimeType"),
    ];

    type Params = UploadDocumentParams;
    type Output = Uploaded<'static>;

    fn run(cx: &Context<'_>, params: &UploadDocumentParams) -> Result<ToolResponse, ToolError> {
        within(PATIENCE, cx, params)
    }
}

/// Uploads, and waits `patience` for the end of it.
fn within(
    patience: Duration,
    cx: &Context<'_>,
    params: &UploadDocumentParams,
) -> Result<ToolResponse, ToolError> {
    let index = resolve::one(cx, params.index_name.as_deref())?;
    let mut upload = Upload::of(params)?;
    let mut warnings = cx.warnings.clone();
    warnings.append(&mut upload.warnings);
    let file_name = upload.path.clone();
    let (done, result) = sync_channel(1);
    let before = index.kb().document_at(&file_name).ok().flatten();
    let running = index
        .jobs()
        .begin_upload(&file_name, before.map(|document| document.revision))?;
    let number = running.id();
    let job = Job {
        indexes: Arc::clone(cx.indexes),
        index: Arc::clone(&index),
        running,
    };
    let run = move || {
        let result = job.run(upload);
        // After the wait nobody receives; get_status knows the result.
        let _ = done.send(result);
    };
    let spawned = thread::Builder::new().name("upload".to_owned()).spawn(run);
    if let Err(error) = spawned {
        index.jobs().forget(number);
        return Err(ToolError::new(
            "INTERNAL",
            format!("no thread to work on: {error}"),
        ));
    }
    match result.recv_timeout(patience) {
        Ok(Ok(stored)) => Ok(complete(&index, &file_name, &stored, warnings)),
        Ok(Err(error)) => {
            // The caller gets the error now, so get_status need not keep it.
            index.jobs().forget(number);
            Err(error)
        }
        Err(RecvTimeoutError::Timeout) => Ok(processing(&index, &file_name, warnings)),
        Err(RecvTimeoutError::Disconnected) => {
            index.jobs().forget(number);
            Err(ToolError::new("INTERNAL", "the upload stopped").with_hint("Try again"))
        }
    }
}

/// What was sent. It is read by the job, because that may take as long as a worker process has.
struct Upload {
    warnings: Vec<String>,
    path: String,
    /// The name whose ending says how the bytes are read.
    read_as: String,
    bytes: Vec<u8>,
    tags: Vec<String>,
}

impl Upload {
    fn of(params: &UploadDocumentParams) -> Result<Upload, ToolError> {
        let mime = params.mime_type.as_deref();
        let mut content = params
            .content
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let content = mem::take(&mut *content);
        let decoded = match content::bytes_of(&content, params.encoding, mime)? {
            Cow::Owned(decoded) => Some(decoded),
            // Text is its own bytes.
            Cow::Borrowed(_) => None,
        };
        let path = params.file_name.as_str();
        check_path(path)?;
        refuse_secret(path, secret_by_name(path))?;
        // Without a known ending, the media type says how the file is read.
        let ending = match file_types::from_name(path) {
            Some(_) => None,
            None => mime.and_then(file_types::from_mime),
        };
        let read_as = ending.map_or_else(|| path.to_owned(), |ending| format!("{path}.{ending}"));
        let tags = params.tags.iter().flatten();
        let warnings = content::short_base64(&content, params.encoding);
        Ok(Upload {
            warnings: warnings.into_iter().collect(),
            path: path.to_owned(),
            read_as,
            bytes: decoded.unwrap_or_else(|| content.into_bytes()),
            tags: tags.map(|Tag(tag)| tag.clone()).collect(),
        })
    }

    /// The document ready to be stored.
    fn read(&self) -> Result<Document, ToolError> {
        let is_binary = matches!(sniff(&self.bytes), Sniffed::Binary(_));
        let _place = (is_binary || self.bytes.len() > SMALL_BYTES).then(ReaderPlace::take);
        let mut document = content::document(&self.read_as, &self.bytes)?;
        self.path.clone_into(&mut document.path);
        refuse_secret(&self.path, secret_in(&document))?;
        Ok(document)
    }
}

/// What is uploaded is read by all clients of the server, so no client can override this.
fn refuse_secret(path: &str, secret: Option<Secret>) -> Result<(), ToolError> {
    let Some(secret) = secret else {
        return Ok(());
    };
    let reason = format!("{path}: {secret}; it was not stored, because others could read it");
    Err(invalid("content", &reason).with_hint(
        "Remove keys and credentials; the operator of the server can add such a file with `kb add --include-secrets`",
    ))
}

/// A name inside the knowledge base: relative, and going down only.
fn check_path(path: &str) -> Result<(), ToolError> {
    let mut parts = path.split(['/', '\\']);
    // A letter and a colon name a drive.
    let is_drive = matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    let is_absolute = path.starts_with(['/', '\\']) || is_drive;
    if is_absolute || parts.clone().any(|part| part == "..") {
        let shown: String = path.chars().take(100).collect();
        let sentence = format!("fileName: {shown:?} is outside the knowledge base");
        return Err(ToolError::new("PATH_NOT_ALLOWED", sentence)
            .with_hint("Give a relative path such as guide/install.md"));
    }
    if parts.any(|part| part.is_empty() || part == ".")
        || path.chars().any(|c| c.is_control() || c == '\\')
    {
        let shown: String = path.chars().take(100).collect();
        let reason = format!(
            "{shown:?} given; a path of a document has no empty part, no ., no backslash and no control \
             character"
        );
        return Err(invalid("fileName", reason));
    }
    if path.len() > PATH_LIMIT_BYTES {
        let reason = format!(
            "{} bytes given; at most {PATH_LIMIT_BYTES} are allowed",
            path.len()
        );
        return Err(invalid("fileName", reason));
    }
    Ok(())
}

/// An upload under way.
struct Job {
    indexes: Arc<Indexes>,
    index: Arc<Index>,
    running: RunningJob,
}

/// What was stored.
struct Stored {
    document: DocumentInfo,
    is_replaced: bool,
}

impl Job {
    fn run(self, upload: Upload) -> Result<Stored, ToolError> {
        let result = self.store(upload);
        match &result {
            Ok(_) => self.running.done(),
            Err(error) => self.running.failed(error.text()),
        }
        result
    }

    fn store(&self, upload: Upload) -> Result<Stored, ToolError> {
        let document = upload.read()?;
        self.running.wait_for_earlier();
        let Upload {
            path, tags, bytes, ..
        } = upload;
        let original = SourceInfo::of(&bytes);
        // Waiting for the writer takes long, and storing takes memory.
        drop(bytes);
        let is_replaced = self
            .index
            .write_within(WRITER_TIMEOUT, |writer: &mut KbWriter| {
                let is_replaced = writer.add_from(document, original, true)?;
                let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
                if !tags.is_empty() {
                    writer.tag(&path, &tags, &[])?;
                }
                self.running.progress(90);
                writer.commit()?;
                Ok(is_replaced)
            })?;
        self.indexes.committed();
        let document = self.index.kb().document(&path)?;
        Ok(Stored {
            document,
            is_replaced,
        })
    }
}

fn complete(
    index: &Index,
    file_name: &str,
    stored: &Stored,
    warnings: Vec<String>,
) -> ToolResponse {
    let Stored {
        document,
        is_replaced,
    } = stored;
    let uri = uri::of_document(index.name(), &document.path);
    let mut text = Text::new();
    text.warnings(&warnings);
    let verb = if *is_replaced { "replaced" } else { "added" };
    text.line(format!("complete: {file_name} {verb} as {}", document.path));
    text.facts(&[
        ("chunks", Some(&document.chunks)),
        ("handle", Some(&document.handle)),
        ("revision", Some(&document.revision)),
        ("", Some(&uri)),
    ]);
    let result = Uploaded {
        document_id: &document.path,
        file_name,
        status: UploadStatus::Complete,
        chunk_count: Some(document.chunks),
        revision_token: Some(&document.revision),
        doc_handle: Some(&document.handle),
        uri: Some(&uri),
        replaced: Some(*is_replaced),
        warnings: Warnings::of(warnings),
    };
    ToolResponse::new(&result, text.end())
}

/// The result of an upload that goes on.
fn processing(index: &Index, file_name: &str, mut warnings: Vec<String>) -> ToolResponse {
    if let Some((writer, _)) = index.other_writer() {
        warnings.push(format!(
            "{writer} is writing {}; the upload is stored after that, within {} minutes",
            index.name(),
            WRITER_TIMEOUT.as_secs() / 60
        ));
    }
    let mut text = Text::new();
    text.warnings(&warnings);
    text.line(format!("processing: {file_name}"));
    text.line(format!(
        "Call get_status with document_id {file_name} to see whether it is done."
    ));
    let result = Uploaded {
        document_id: file_name,
        file_name,
        status: UploadStatus::Processing,
        chunk_count: None,
        revision_token: None,
        doc_handle: None,
        uri: None,
        replaced: None,
        warnings: Warnings::of(warnings),
    };
    ToolResponse::new(&result, text.end())
}

#[cfg(test)]
mod tests;
