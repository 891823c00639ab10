//! What forms and programs change, in one way for both.

use std::sync::Arc;

use axum::body::Bytes;
use axum::http::StatusCode;
use kb_mcp::tokens::Access;
use kb_mcp::{OpenFile, Upload};
use serde_json::{Map, Value};

use crate::answer::Problem;
use crate::multipart::{Part, parts};
use crate::site::{Shared, Visit};

/// Most files of one form.
const FILES: usize = 100;

/// What became of one file of a form: its path, and the result of the upload.
pub(crate) type Stored = (String, Result<Map<String, Value>, Problem>);

/// Who changes what.
pub(crate) struct Change {
    pub(crate) site: Arc<Shared>,
    pub(crate) access: Option<Access>,
    pub(crate) file: OpenFile,
}

impl Change {
    pub(crate) fn of(visit: &Visit, file: &str) -> Result<Change, Problem> {
        Ok(Change {
            site: Arc::clone(&visit.site),
            access: visit.access.clone(),
            file: visit.site.file(file)?,
        })
    }

    /// Stores one document.
    pub(crate) async fn store(&self, upload: Upload) -> Result<Map<String, Value>, Problem> {
        let files = &self.site.files;
        let stored = files.upload(self.access.clone(), &self.file, upload).await;
        Ok(stored?)
    }

    /// Stores the files of a form: `file`, as often as it is there, below `folder`, with the `tags`.
    pub(crate) async fn store_all(&self, form: &Form) -> Result<Vec<Stored>, Problem> {
        let folder = form.text("folder");
        let folder = folder.trim().trim_matches('/');
        let tags = listed(&form.text("tags"));
        let files: Vec<&Part> = form.files().collect();
        if files.is_empty() {
            return Err(wrong("file: no file was chosen"));
        }
        if files.len() > FILES {
            return Err(wrong("file: at most 100 files can be sent at once"));
        }
        let mut all = Vec::new();
        for part in files {
            let name = part.file_name.as_deref().unwrap_or_default();
            // Some programs send the whole path.
            let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
            let path = match folder {
                "" => name.to_owned(),
                folder => format!("{folder}/{name}"),
            };
            let upload = Upload {
                path: path.clone(),
                bytes: part.content.to_vec(),
                media_type: media_type(part.media_type.as_deref()),
                tags: tags.clone(),
            };
            all.push((path, self.store(upload).await));
        }
        Ok(all)
    }

    /// Removes a document. Returns its path.
    pub(crate) async fn remove(&self, document: &str) -> Result<String, Problem> {
        let files = &self.site.files;
        let removed = files
            .remove(self.access.clone(), &self.file, document.to_owned())
            .await;
        Ok(removed?)
    }

    /// Changes the tags of a document. Returns those that it has then.
    pub(crate) async fn tag(
        &self,
        document: &str,
        add: Vec<String>,
        remove: Vec<String>,
    ) -> Result<Vec<String>, Problem> {
        let files = &self.site.files;
        let tags = files
            .tag(
                self.access.clone(),
                &self.file,
                document.to_owned(),
                add,
                remove,
            )
            .await;
        Ok(tags?)
    }
}

/// A form with files.
pub(crate) struct Form(Vec<Part>);

impl Form {
    /// Reads the body of a request.
    pub(crate) fn read(content_type: &str, body: &Bytes) -> Result<Form, Problem> {
        let parts = parts(content_type, body);
        parts
            .map(Form)
            .map_err(|reason| wrong(&format!("the body is no form with files: {reason}")))
    }

    /// The text of a field; empty if there is none.
    pub(crate) fn text(&self, name: &str) -> String {
        let mut fields = self.0.iter().filter(|part| part.file_name.is_none());
        let found = fields.find(|part| part.name == name);
        found.map_or(String::new(), |part| {
            String::from_utf8_lossy(&part.content).into_owned()
        })
    }

    /// The files; a field without a chosen file has no name.
    fn files(&self) -> impl Iterator<Item = &Part> {
        let named = |part: &&Part| {
            part.file_name
                .as_deref()
                .is_some_and(|name| !name.is_empty())
        };
        self.0.iter().filter(named)
    }
}

/// The items of a text with commas between them.
pub(crate) fn listed(text: &str) -> Vec<String> {
    let items = text.split(',').map(str::trim);
    items
        .filter(|item| !item.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The media type of a file, if it says something: browsers and programs send one for what they do not know.
pub(crate) fn media_type(given: Option<&str>) -> Option<String> {
    let given = given?;
    let essence = given.split(';').next().unwrap_or_default().trim();
    let says_nothing = [
        "",
        "application/octet-stream",
        "application/x-www-form-urlencoded",
    ];
    let says_nothing = says_nothing
        .iter()
        .any(|none| essence.eq_ignore_ascii_case(none));
    (!says_nothing).then(|| given.to_owned())
}

fn wrong(message: &str) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "INVALID_ARGUMENT", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_media_type_that_says_nothing_is_none() {
        assert_eq!(
            media_type(Some("text/plain; charset=x")).as_deref(),
            Some("text/plain; charset=x")
        );
        for none in [
            None,
            Some(""),
            Some("Application/Octet-Stream"),
            Some("application/x-www-form-urlencoded"),
        ] {
            assert_eq!(media_type(none), None, "{none:?}");
        }
    }

    #[test]
    fn tags_have_commas_between() {
        assert_eq!(listed(" a, b c ,,"), ["a", "b c"]);
        assert!(listed(" ").is_empty());
    }
}
