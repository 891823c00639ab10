//! What a site changes in the open files of a server.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::HeaderMap;
use kb_engine::KbWriter;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::files::{CallError, Files, OpenFile};
use crate::response::{ToolError, short};
use crate::tokens::{Access, Hash};
use crate::tools::may_write;
use crate::transport::executor::JobKind;
use crate::transport::results::job_error;

/// A document to be stored.
#[derive(Debug, Clone)]
pub struct Upload {
    /// Its path.
    pub path: String,
    /// The bytes of its file.
    pub bytes: Vec<u8>,
    /// The media type, where the sender knows one.
    pub media_type: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
}

impl Files {
    /// Stores a document, as the tool `upload_document` does. Returns its structured result.
    ///
    /// # Errors
    /// As [`Files::call`].
    pub async fn upload(
        &self,
        access: Option<Access>,
        file: &OpenFile,
        upload: Upload,
    ) -> Result<Map<String, Value>, CallError> {
        let arguments = [
            ("index_name", Value::from(file.name())),
            ("fileName", upload.path.into()),
            ("content", STANDARD.encode(&upload.bytes).into()),
            ("encoding", "base64".into()),
            ("mimeType", upload.media_type.into()),
            ("tags", upload.tags.into()),
        ];
        drop(upload.bytes);
        let given = arguments.into_iter().filter(|(_, value)| !value.is_null());
        let arguments = given
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        self.call(access, "upload_document", arguments).await
    }

    /// Removes a document. Returns its path.
    ///
    /// # Errors
    /// What a client would be told: that there is no such document, that it may not write, that another program writes.
    pub async fn remove(
        &self,
        access: Option<Access>,
        file: &OpenFile,
        document: String,
    ) -> Result<String, CallError> {
        let path = document.clone();
        self.change(access, file, document, move |writer| writer.remove(&path))
            .await
    }

    /// Changes the tags of a document. Returns all that it has then.
    ///
    /// # Errors
    /// As [`Files::remove`]; also for a tag that is not one.
    pub async fn tag(
        &self,
        access: Option<Access>,
        file: &OpenFile,
        document: String,
        add: Vec<String>,
        remove: Vec<String>,
    ) -> Result<Vec<String>, CallError> {
        let path = document.clone();
        self.change(access, file, document, move |writer| {
            let add: Vec<&str> = add.iter().map(String::as_str).collect();
            let remove: Vec<&str> = remove.iter().map(String::as_str).collect();
            writer.tag(&path, &add, &remove)
        })
        .await
    }

    /// Runs `work` with a writer of the file, and commits what it changed of `document`, a whole path: by a part of one,
    /// or in another case, another document would be changed than the caller means.
    async fn change<T: Send + 'static>(
        &self,
        access: Option<Access>,
        file: &OpenFile,
        document: String,
        mut work: impl FnMut(&mut KbWriter) -> kb_engine::Result<T> + Send + 'static,
    ) -> Result<T, CallError> {
        let owner = access.as_ref().map(|access| access.hash);
        let client_may = self.may_write(access.as_ref());
        let (index, indexes) = (Arc::clone(&file.0), Arc::clone(&self.server.indexes));
        let job = move |cancel: &Arc<AtomicBool>, _: &(dyn Fn(u64, u64) + Sync)| {
            may_write(&indexes, client_may)?;
            if index.kb().document_at(&document)?.is_none() {
                let sentence = format!("no document has the path {:?}", short(&document));
                return Err(ToolError::new("DOCUMENT_NOT_FOUND", sentence));
            }
            let done = index.write_unless(cancel, |writer| {
                let done = work(writer)?;
                writer.commit()?;
                Ok(done)
            })?;
            indexes.committed();
            Ok(done)
        };
        let never = CancellationToken::new();
        let executor = &self.server.executor;
        match executor.run(JobKind::Write, owner, &never, None, job).await {
            Ok(done) => done.map_err(CallError),
            Err(error) => Err(CallError(job_error(error))),
        }
    }

    /// A secret for the forms of the pages that the browser of a request gets: a page of somebody else cannot know it.
    /// `None` without a source of random numbers.
    pub fn form_key(&self, headers: &HeaderMap) -> Option<String> {
        self.sign_ins.form_key(headers)
    }

    /// Whether that is the secret of [`Files::form_key`].
    pub fn is_form_key(&self, headers: &HeaderMap, given: &str) -> bool {
        let key = self.form_key(headers);
        key.is_some_and(|key| Hash::of(&key).is_same(Hash::of(given)))
    }
}
