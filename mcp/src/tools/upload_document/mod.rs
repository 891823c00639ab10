//! `upload_document`: adds or replaces one document.

mod content;

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use kb_engine::{Document, DocumentInfo, KbWriter, SourceInfo, document_of, file_types};
use serde_json::json;

use crate::indexes::{Index, Indexes, Running};
use crate::response::{Text, ToolError, ToolResponse, object, uri};
use crate::tools::call::arguments::Arguments;
use crate::tools::call::coerce::invalid;
use crate::tools::call::{Call, resolve};

/// How long a caller waits; hosts give up a call soon after.
const PATIENCE: Duration = Duration::from_secs(2);

/// Longest path, in bytes.
const PATH_LIMIT_BYTES: usize = 1024;

pub(super) fn call(call: &Call<'_>, arguments: &Arguments) -> Result<ToolResponse, ToolError> {
    within(PATIENCE, call, arguments)
}

fn within(
    patience: Duration,
    call: &Call<'_>,
    arguments: &Arguments,
) -> Result<ToolResponse, ToolError> {
    let index = resolve::one(call, arguments)?;
    let upload = Upload::of(arguments)?;
    let file_name = upload.document.path.clone();
    let (done, result) = sync_channel(1);
    let before = index.kb().document_at(&file_name).ok().flatten();
    let running = index
        .jobs()
        .begin(&file_name, before.map(|document| document.revision))?;
    let number = running.number();
    let job = Job {
        indexes: Arc::clone(call.indexes),
        index: Arc::clone(&index),
        running,
    };
    let run = move || {
        let result = job.run(upload);
        // Nobody hears when the caller has gone; get_status knows.
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
        Ok(Ok(stored)) => Ok(complete(&index, &file_name, &stored)),
        Ok(Err(error)) => {
            // The caller is told now, so nothing is left to be asked for.
            index.jobs().forget(number);
            Err(error)
        }
        Err(RecvTimeoutError::Timeout) => Ok(processing(&file_name)),
        Err(RecvTimeoutError::Disconnected) => {
            index.jobs().forget(number);
            Err(ToolError::new("INTERNAL", "the upload stopped").with_hint("Try again"))
        }
    }
}

/// A document ready to be stored.
struct Upload {
    document: Document,
    original: SourceInfo,
    tags: Vec<String>,
}

impl Upload {
    fn of(arguments: &Arguments) -> Result<Upload, ToolError> {
        let mime = arguments
            .text("mimeType")
            .filter(|_| arguments.is_given("mimeType"));
        let encoding = arguments.text("encoding").unwrap_or("auto");
        let bytes = content::bytes_of(arguments.required_text("content"), encoding, mime)?;
        let path = arguments.required_text("fileName");
        check_path(path)?;
        // A name that says nothing is read as what the caller calls it.
        let ending = match file_types::from_name(path) {
            Some(_) => None,
            None => mime.and_then(file_types::from_mime),
        };
        let read_as = ending.map_or_else(|| path.to_owned(), |ending| format!("{path}.{ending}"));
        let mut document = document_of(&read_as, &bytes)?;
        path.clone_into(&mut document.path);
        Ok(Upload {
            original: SourceInfo::of(&bytes),
            document,
            tags: arguments
                .texts("tags")
                .into_iter()
                .map(str::to_owned)
                .collect(),
        })
    }
}

/// A name inside the knowledge base: relative, and going down only.
fn check_path(path: &str) -> Result<(), ToolError> {
    let mut parts = path.split(['/', '\\']);
    // A letter and a colon name a drive.
    let is_drive = matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    let is_absolute = path.starts_with(['/', '\\']) || is_drive;
    if is_absolute || parts.clone().any(|part| part == "..") {
        let shown: String = path.chars().take(100).collect();
        let sentence = format!("fileName: {shown:?} leads out of the knowledge base");
        return Err(ToolError::new("PATH_NOT_ALLOWED", sentence)
            .with_hint("Give a relative path as guide/install.md"));
    }
    if parts.any(|part| part.is_empty() || part == ".")
        || path.chars().any(|c| c.is_control() || c == '\\')
    {
        let reason =
            "a path of a document has no empty part, no ., no backslash and no control character";
        return Err(invalid("fileName", reason));
    }
    if path.len() > PATH_LIMIT_BYTES {
        let reason = format!("{} bytes given; at most {PATH_LIMIT_BYTES}", path.len());
        return Err(invalid("fileName", reason));
    }
    Ok(())
}

/// An upload under way.
struct Job {
    indexes: Arc<Indexes>,
    index: Arc<Index>,
    running: Running,
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
        let Upload {
            document,
            original,
            tags,
        } = upload;
        let path = document.path.clone();
        let is_replaced = self.index.write(|writer: &mut KbWriter| {
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

fn complete(index: &Index, file_name: &str, stored: &Stored) -> ToolResponse {
    let Stored {
        document,
        is_replaced,
    } = stored;
    let uri = uri::of_document(index.name(), &document.path);
    let structured = object(json!({
        "documentId": document.path,
        "fileName": file_name,
        "status": "complete",
        "chunkCount": document.chunks,
        "revisionToken": document.revision,
        "doc_handle": document.handle,
        "uri": uri,
        "replaced": is_replaced,
    }));
    let mut text = Text::new();
    let verb = if *is_replaced { "replaced" } else { "added" };
    text.line(format!("complete: {file_name} {verb} as {}", document.path));
    text.facts(&[
        ("chunks", Some(&document.chunks)),
        ("handle", Some(&document.handle)),
        ("revision", Some(&document.revision)),
        ("", Some(&uri)),
    ]);
    let text = text.end();
    ToolResponse { structured, text }
}

fn processing(file_name: &str) -> ToolResponse {
    let structured = object(json!({
        "documentId": file_name,
        "fileName": file_name,
        "status": "processing",
    }));
    let mut text = Text::new();
    text.line(format!("processing: {file_name}"));
    text.line(format!(
        "Ask get_status with document_id {file_name} whether it is done."
    ));
    let text = text.end();
    ToolResponse { structured, text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::Fixture;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn an_upload_is_found_at_once() {
        let fixture = Fixture::new("team", &[]);
        let given = json!({"fileName": "guide/notes.md", "content": "# Notes\n\nThe walrus sleeps.",
            "tags": ["Sea"]});
        let answer = fixture.answer("upload_document", given);
        let uploaded = &answer.structured;
        assert_eq!(uploaded["status"], "complete");
        assert_eq!(
            (&uploaded["chunkCount"], &uploaded["replaced"]),
            (&json!(1), &json!(false))
        );
        let found = fixture.answer(
            "search",
            json!({"query": "walrus", "filters": {"tag": "sea"}}),
        );
        assert_eq!(
            found.structured["data"]["results"][0]["uri"],
            uploaded["uri"]
        );
        let again = json!({"file_name": "guide/notes.md", "content": "# Notes\n\nIt swims."});
        let again = fixture.answer("upload_document", again).structured;
        assert_eq!(again["replaced"], true);
        assert_eq!(again["doc_handle"], uploaded["doc_handle"]);
        assert_ne!(again["revisionToken"], uploaded["revisionToken"]);
    }

    #[test]
    fn a_name_that_says_nothing_is_read_as_its_media_type() {
        let fixture = Fixture::new("team", &[]);
        let html = "<html><head><title>Fish</title></head><body><p>cod</p></body></html>";
        let given = json!({"fileName": "page", "content": html, "mimeType": "text/html"});
        fixture.answer("upload_document", given);
        let given = json!({"document_id": "page", "format": "metadata"});
        let known =
            fixture.answer("get_document_data", given).structured["data"]["metadata"].clone();
        assert_eq!(
            (&known["title"], &known["mime_type"]),
            (&json!("Fish"), &json!("text/html"))
        );
    }

    #[test]
    fn paths_that_lead_out_are_refused() {
        let fixture = Fixture::new("team", &[]);
        for (path, code) in [
            ("/etc/passwd", "PATH_NOT_ALLOWED"),
            ("../a.md", "PATH_NOT_ALLOWED"),
            ("a/../../b.md", "PATH_NOT_ALLOWED"),
            ("a\\..\\b.md", "PATH_NOT_ALLOWED"),
            ("C:\\b.md", "PATH_NOT_ALLOWED"),
            ("c:b.md", "PATH_NOT_ALLOWED"),
            ("C:/b.md", "PATH_NOT_ALLOWED"),
            ("a\\b.md", "INVALID_ARGUMENT"),
            ("", "INVALID_ARGUMENT"),
            ("a//b.md", "INVALID_ARGUMENT"),
            ("a/./b.md", "INVALID_ARGUMENT"),
            ("a\u{0}.md", "INVALID_ARGUMENT"),
            ("a/", "INVALID_ARGUMENT"),
        ] {
            let given = json!({"fileName": path, "content": "x"});
            assert_eq!(fixture.error("upload_document", given).code, code, "{path}");
        }
        let given = json!({"fileName": "a.md", "content": "x", "tags": ["a,b"]});
        let error = fixture.error("upload_document", given);
        assert!(
            error.text().starts_with("INVALID_ARGUMENT: tags: "),
            "{}",
            error.text()
        );
        assert_eq!(
            fixture.answer("index_stats", json!({})).structured["file_count"],
            0
        );
        assert!(fixture.index().jobs().list().is_empty());
    }

    #[test]
    fn a_long_upload_goes_on_and_get_status_follows_it() {
        let fixture = Fixture::new("team", &[]);
        let given = json!({"fileName": "a.md", "content": "walrus"});
        let call = Call {
            indexes: &fixture.indexes,
            name: "upload_document",
            arguments: given.as_object().unwrap().clone(),
            may_write: true,
            cancel: &Arc::new(AtomicBool::new(false)),
            progress: &|_, _| {},
        };
        let arguments = Arguments::read(call.name, call.arguments.clone()).unwrap();
        // Another writer has the file meanwhile.
        let index = fixture.index();
        let answer = index.write(|_| Ok(within(Duration::from_millis(20), &call, &arguments)));
        assert_eq!(answer.unwrap().unwrap().structured["status"], "processing");
        let status = || {
            fixture
                .call("get_status", json!({"document_id": "a.md"}))
                .unwrap()
                .structured
        };
        let mut tries = 0;
        while status()["status"] != "ready" && tries < 12_000 {
            assert_eq!(
                status()["message"].as_str().map(|word| &word[..9]),
                Some("DOCUMENT_")
            );
            thread::sleep(Duration::from_millis(10));
            tries += 1;
        }
        assert_eq!(status()["message"], "DOCUMENT_READY");
    }
}
