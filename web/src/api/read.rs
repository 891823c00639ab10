//! Reading by programs: files, documents, texts, outlines.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::Request;
use axum::response::Response;
use kb_engine::Kb;
use kb_json::Object;

use super::call::{page, reading};
use super::names::{FOLDER, LINES, Names, PAGE, only};
use crate::answer::{Problem, json};
use crate::asked::{flag, one};
use crate::fresh::Depends;
use crate::parameters::Parameters;
use crate::site::{Shared, Visit};
use crate::text::lines::parse_range;

type Site = State<Arc<Shared>>;

/// A file, and a document in it.
type Named = Path<(String, String)>;

/// All open files.
pub(super) async fn status(State(site): Site, request: Request<Body>) -> Response {
    reading(Visit::of(site, &request), Depends::OnFiles, |visit, _| {
        only(&visit.parameters, &[])?;
        let mut files = Vec::new();
        for file in visit.site.files.list() {
            let state = file.kb().state()?;
            files.push(
                Object::new()
                    .field("file", file.name())
                    .field("uuid", &*state.uuid)
                    .field("generation", state.generation)
                    .field("documents", state.documents)
                    .field("chunks", state.chunks)
                    .field("updated_ms", state.updated_ms)
                    .field("model", &*state.model)
                    .field("dim", state.dim),
            );
        }
        let (major, minor) = kb_engine::FORMAT_VERSION;
        let may_write = visit.site.files.may_write(visit.access.as_ref());
        Ok(json(
            Object::new()
                .field("version", env!("CARGO_PKG_VERSION"))
                .field("format", format!("{major}.{minor}"))
                .field("may_write", may_write)
                .objects("files", files),
        ))
    })
    .await
}

/// What a file holds.
pub(super) async fn about(
    State(site): Site,
    Path(file): Path<String>,
    request: Request<Body>,
) -> Response {
    reading(
        Visit::of(site, &request),
        Depends::OnFiles,
        move |visit, _| {
            only(&visit.parameters, &[])?;
            let file = visit.site.file(&file)?;
            let kb = file.kb();
            let skipped = kb.skipped_reasons()?;
            // Who writes the file is nothing for clients.
            let info = kb_json::info(file.name(), &kb.info()?, &skipped, None, Some(&kb.sizes()?));
            Ok(json(info))
        },
    )
    .await
}

/// Folders and documents of a folder; with `recursive=1` all documents below it.
pub(super) async fn documents(
    State(site): Site,
    Path(file): Path<String>,
    request: Request<Body>,
) -> Response {
    reading(
        Visit::of(site, &request),
        Depends::OnFiles,
        move |visit, _| {
            let file = visit.site.file(&file)?;
            let parameters = &visit.parameters;
            only(parameters, &[FOLDER, PAGE])?;
            let folder = parameters.first("folder");
            let options = page(parameters)?;
            let (entries, paging) = if flag(parameters, "recursive")? {
                let found = file.kb().documents(folder, true, &options)?;
                let paging = kb_json::paging(found.tokens, found.over_budget, found.next.as_ref());
                (found.iter().map(kb_json::document).collect(), paging)
            } else {
                let found = file.kb().list(folder, &options)?;
                let paging = kb_json::paging(found.tokens, found.over_budget, found.next.as_ref());
                (found.iter().map(kb_json::entry).collect(), paging)
            };
            Ok(json(Object::new().objects("entries", entries).join(paging)))
        },
    )
    .await
}

/// What the file records about a document.
pub(super) async fn document(site: Site, named: Named, request: Request<Body>) -> Response {
    of_document(site, named, request, &[], |_, kb, document| {
        Ok(kb_json::metadata(&kb.document(document)?))
    })
    .await
}

/// Text of a document, whole or some `lines`, as much as one answer holds.
pub(super) async fn text(site: Site, named: Named, request: Request<Body>) -> Response {
    of_document(
        site,
        named,
        request,
        &[LINES, PAGE],
        |parameters, kb, document| {
            let lines = one(parameters, "lines", parse_range)?;
            let text = kb.text_paged(document, lines, &page(parameters)?)?;
            let paging = kb_json::paging(text.tokens, text.over_budget, text.next.as_ref());
            Ok(kb_json::document_text(text).join(paging))
        },
    )
    .await
}

/// Headings or symbols of a document.
pub(super) async fn outline(site: Site, named: Named, request: Request<Body>) -> Response {
    of_document(site, named, request, &[PAGE], |parameters, kb, document| {
        let outline = kb.sections(document, &page(parameters)?)?;
        let found = &outline.sections;
        let section = |section| kb_json::section(&outline.document, section);
        let paging = kb_json::paging(found.tokens, found.over_budget, found.next.as_ref());
        let sections = found.iter().map(section).collect();
        Ok(Object::new().objects("sections", sections).join(paging))
    })
    .await
}

/// Answers with what `read` makes of a document of an open file.
async fn of_document(
    State(site): Site,
    Path((file, document)): Named,
    request: Request<Body>,
    names: &'static [Names],
    read: impl FnOnce(&Parameters, &Kb, &str) -> Result<Object, Problem> + Send + 'static,
) -> Response {
    reading(
        Visit::of(site, &request),
        Depends::OnFiles,
        move |visit, _| {
            only(&visit.parameters, names)?;
            let file = visit.site.file(&file)?;
            Ok(json(read(&visit.parameters, file.kb(), &document)?))
        },
    )
    .await
}
