//! Pages, sheets and slides for programs.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::Request;
use axum::response::Response;
use kb_engine::Kb;
use kb_json::Object;

use super::call::{page, reading};
use super::names::{NUMBERS, Names, PAGE, SHEET, only, wrong};
use crate::answer::{Problem, json};
use crate::fresh::Depends;
use crate::parameters::Parameters;
use crate::site::{Shared, Visit};

type Site = State<Arc<Shared>>;
type Named = Path<(String, String)>;

/// The pages of a document.
pub(super) async fn pages(site: Site, named: Named, request: Request<Body>) -> Response {
    of_document(site, named, request, NUMBERS, |parameters, kb, document| {
        let found = kb.pages(document, &numbers(parameters)?, &page(parameters)?)?;
        let paging = paging(&found.pages);
        let (document, total) = (&found.document, found.total);
        let pages = found.pages.items.into_iter();
        let pages = pages.map(|page| kb_json::page(document, total, page));
        Ok(Object::new().objects("pages", pages.collect()).join(paging))
    })
    .await
}

/// The slides of a document.
pub(super) async fn slides(site: Site, named: Named, request: Request<Body>) -> Response {
    of_document(site, named, request, NUMBERS, |parameters, kb, document| {
        let found = kb.slides(document, &numbers(parameters)?, &page(parameters)?)?;
        let paging = paging(&found.slides);
        let (document, total) = (&found.document, found.total);
        let slides = found.slides.items.into_iter();
        let slides = slides.map(|slide| kb_json::slide(document, total, slide));
        Ok(Object::new()
            .objects("slides", slides.collect())
            .join(paging))
    })
    .await
}

/// The sheets of a document, and the rows of one.
pub(super) async fn sheet(site: Site, named: Named, request: Request<Body>) -> Response {
    of_document(site, named, request, SHEET, |parameters, kb, document| {
        let page = page(parameters)?;
        let (sheet, cells) = (parameters.first("sheet"), parameters.first("cells"));
        let found = kb.sheet(document, sheet, cells, &page)?;
        let row = |row, is_header| {
            kb_json::sheet_row(&found.document.path, &found.sheet.name, row, is_header)
        };
        let header = found.header.iter().map(|header| row(header, true));
        let rows = header.chain(found.rows.iter().map(|one| row(one, false)));
        Ok(Object::new()
            .objects("rows", rows.collect())
            .join(paging(&found.rows)))
    })
    .await
}

/// The parts that `number` names; all without it.
fn numbers(parameters: &Parameters) -> Result<Vec<(u32, u32)>, Problem> {
    let numbers = parameters.all("number").map(|given| {
        let number = given.parse().ok().filter(|number| *number >= 1);
        let number: Option<u32> = number;
        number.map(|number| (number, number)).ok_or_else(|| {
            wrong(format!(
                "number: {given:?} given; a number from 1 was expected"
            ))
        })
    });
    numbers.collect()
}

fn paging<T>(paged: &kb_engine::Paged<T>) -> Object {
    kb_json::paging(paged.tokens, paged.over_budget, paged.next.as_ref())
}

/// Answers with what `read` makes of a document of an open file.
async fn of_document(
    State(site): Site,
    Path((file, document)): Named,
    request: Request<Body>,
    names: Names,
    read: impl FnOnce(&Parameters, &Kb, &str) -> Result<Object, Problem> + Send + 'static,
) -> Response {
    let job = move |visit: &Visit, _: &AtomicBool| {
        only(&visit.parameters, &[names, PAGE])?;
        let file = visit.site.file(&file)?;
        Ok(json(read(&visit.parameters, file.kb(), &document)?))
    };
    reading(Visit::of(site, &request), Depends::OnFiles, job).await
}
