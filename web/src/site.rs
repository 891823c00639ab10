//! What all handlers share, and one request for them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::http::header::{COOKIE, HOST, IF_RANGE, RANGE};
use axum::http::{HeaderMap, Request, StatusCode};
use kb_mcp::tokens::{Access, Tokens};
use kb_mcp::{Files, OpenFile};

use crate::answer::{Answer, Problem};
use crate::fresh::{Depends, Known, mark_of_process, tag};
use crate::links::Links;
use crate::parameters::Parameters;

/// Where the pages are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Kind {
    /// A server answers, so that they search and have forms.
    #[default]
    Live,
    /// They are files beside each other: what needs a server is not there.
    Static,
    /// Each is one file by itself, which has no links.
    Report,
}

/// What all handlers need.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) files: Files,
    pub(crate) links: Links,
    pub(crate) kind: Kind,
    /// What differs from that of every other process.
    pub(crate) started: String,
    /// What filters offer, by file. Counting it reads a record of each document, so it is kept for a commit.
    choices: Mutex<BTreeMap<String, (u64, Arc<Choices>)>>,
}

/// Types and classes of the documents of a file, with the number of documents, most first.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    pub(crate) types: Vec<(String, u64)>,
    pub(crate) classes: Vec<(String, u64)>,
}

impl Shared {
    pub(crate) fn new(files: Files, links: Links, kind: Kind) -> Shared {
        Shared {
            files,
            links,
            kind,
            started: mark_of_process(),
            choices: Mutex::default(),
        }
    }

    /// What filters offer for a file.
    pub(crate) fn choices(&self, file: &OpenFile) -> Result<Arc<Choices>, Problem> {
        let commit = file.kb().state()?.commit;
        let kept = || self.choices.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, choices)) = kept().get(file.name())
            && *known == commit
        {
            return Ok(Arc::clone(choices));
        }
        let info = file.kb().info()?;
        let choices = Arc::new(Choices {
            types: info.types,
            classes: info.classes,
        });
        kept().insert(file.name().to_owned(), (info.commit, Arc::clone(&choices)));
        Ok(choices)
    }

    /// The open file of that name.
    pub(crate) fn file(&self, name: &str) -> Result<OpenFile, Problem> {
        let found = self
            .files
            .list()
            .into_iter()
            .find(|file| file.name() == name);
        found.ok_or_else(|| Problem::not_found(format!("no file {name:?} is open here")))
    }
}

/// One request for the site, after its address was taken apart.
pub(crate) struct Visit {
    pub(crate) site: Arc<Shared>,
    pub(crate) access: Option<Access>,
    pub(crate) parameters: Parameters,
    /// What the client has already.
    pub(crate) known: Known,
    /// The secret of the forms of this visitor; `None` if nothing may be changed.
    pub(crate) form_key: Option<String>,
    /// The part of the answer that it asks for, as its header says it.
    pub(crate) range: Option<String>,
    /// The host and port that it names, as a browser shows them.
    pub(crate) host: String,
    cookies: HeaderMap,
}

impl Visit {
    pub(crate) fn of(site: Arc<Shared>, request: &Request<Body>) -> Visit {
        let query = request.uri().query().unwrap_or_default();
        let access = request.extensions().get::<Access>().cloned();
        let cookies = request.headers().get_all(COOKIE).into_iter();
        let cookies: HeaderMap = cookies.map(|value| (COOKIE, value.clone())).collect();
        let may_write = site.files.may_write(access.as_ref());
        let form_key = may_write.then(|| site.files.form_key(&cookies)).flatten();
        let host = request.headers().get(HOST);
        let host = host.and_then(|host| host.to_str().ok());
        Visit {
            site,
            access,
            form_key,
            range: range_of(request.headers()),
            host: host.unwrap_or("127.0.0.1").to_owned(),
            cookies,
            parameters: Parameters::parse(query.as_bytes()),
            known: Known::of(request.method(), request.headers()),
        }
    }

    /// The tokens that this visitor manages, and the secret of their forms.
    ///
    /// # Errors
    /// That it may not manage any.
    pub(crate) fn managed_tokens(&self) -> Result<(&Tokens, String), Problem> {
        let files = &self.site.files;
        let refused = |message: &str, hint: &str| Problem {
            hint: Some(hint.to_owned()),
            ..Problem::new(StatusCode::FORBIDDEN, "FORBIDDEN", message)
        };
        if !files.requires_token() {
            let hint = "start it with --tokens FILE";
            return Err(refused("this server requires no tokens", hint));
        }
        let tokens = files.managed_tokens(self.access.as_ref());
        let key = files.form_key(&self.cookies);
        tokens.zip(key).ok_or_else(|| {
            let hint = "use a token that was created with --write";
            refused("this token may not manage tokens", hint)
        })
    }

    /// Whether a form came from a page of this server in the same browser.
    pub(crate) fn is_form_key(&self, given: &str) -> bool {
        self.site.files.is_form_key(&self.cookies, given)
    }

    /// The answer of `job`, or that the client has it already: nothing changed that it depends on.
    pub(crate) fn unless_known(
        &self,
        depends: Depends,
        job: impl FnOnce() -> Result<Answer, Problem>,
    ) -> Result<Answer, Problem> {
        self.known.or(|| self.tag(depends), job)
    }

    /// The tag of what is read now, for this visitor. `None` if a file cannot be read: the answer tells of that.
    fn tag(&self, depends: Depends) -> Option<String> {
        let site = &self.site;
        let key = self.form_key.as_deref().unwrap_or_default();
        let mut parts = vec![site.started.as_bytes().to_vec(), key.as_bytes().to_vec()];
        let mut newest = 0;
        for file in site.files.list() {
            let state = file.kb().state().ok()?;
            newest = newest.max(state.commit);
            parts.push(file.name().as_bytes().to_vec());
            parts.push(state.uuid.into_bytes());
            parts.push(state.commit.to_le_bytes().to_vec());
        }
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        tag(depends, newest, &parts)
    }
}

/// The range that a request asks for. With `If-Range` it is for a client that has an older answer, which is rare: it gets
/// the whole.
fn range_of(headers: &HeaderMap) -> Option<String> {
    let range = headers.get(RANGE)?.to_str().ok()?;
    (!headers.contains_key(IF_RANGE)).then(|| range.to_owned())
}
