//! What all handlers share, and one request for them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::http::Request;
use kb_mcp::tokens::Access;
use kb_mcp::{Files, OpenFile};

use crate::answer::Problem;
use crate::links::Links;
use crate::parameters::Parameters;

/// What all handlers need.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) files: Files,
    pub(crate) links: Links,
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
    pub(crate) fn new(files: Files, links: Links) -> Shared {
        Shared {
            files,
            links,
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
}

impl Visit {
    pub(crate) fn of(site: Arc<Shared>, request: &Request<Body>) -> Visit {
        let query = request.uri().query().unwrap_or_default();
        Visit {
            site,
            access: request.extensions().get::<Access>().cloned(),
            parameters: Parameters::parse(query.as_bytes()),
        }
    }
}
