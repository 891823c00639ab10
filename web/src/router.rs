//! Which handler answers which address.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header::{CACHE_CONTROL, HeaderValue};
use axum::http::{Method, Request, Response, StatusCode, Uri};
use axum::routing::{get, post};
use http_body_util::BodyExt as _;
use kb_mcp::{Files, Refused, Site, SiteFuture};
use tower_service::Service as _;

use crate::answer::{Answer, Problem, redirect, respond, wants_page};
use crate::links::Links;
use crate::parameters::Parameters;
use crate::site::{Shared, Visit};
use crate::{api, assets, pages};

/// The site: what all handlers need, and their addresses.
pub(crate) struct Routes {
    site: Arc<Shared>,
    router: Router,
}

impl Routes {
    pub(crate) fn new(files: Files, links: Links) -> Routes {
        let site = Arc::new(Shared::new(files, links));
        let router = Router::new()
            .route("/", get(search_page))
            .route("/d/{file}/{*document}", get(document_page))
            .route("/raw/{file}/{*document}", get(raw_text))
            .route("/b/{file}/", get(top_page))
            .route("/b/{file}/{*folder}", get(folder_page))
            .route("/about/{file}", get(about_page))
            .route("/find", get(find_page))
            .route("/sign-in", get(sign_in_page).post(sign_in))
            .route("/sign-out", post(sign_out))
            .route("/assets/{name}", get(asset))
            .merge(api::routes())
            .fallback(nothing_here)
            .method_not_allowed_fallback(wrong_method)
            .with_state(Arc::clone(&site));
        Routes { site, router }
    }
}

impl Site for Routes {
    fn respond(&self, request: Request<Bytes>) -> SiteFuture {
        let mut router = self.router.clone();
        let is_private = self.site.files.requires_token();
        let inner = self
            .site
            .links
            .inner(request.uri().path())
            .map(str::to_owned);
        Box::pin(async move {
            let Some(inner) = inner else {
                return Problem::not_found("there is no such page").to_json();
            };
            let (mut parts, body) = request.into_parts();
            if let Some(uri) = with_path(&parts.uri, &inner) {
                parts.uri = uri;
            }
            let head = parts.method == Method::HEAD;
            let is_asset = inner.starts_with("/assets/");
            let Ok::<_, Infallible>(response) = router
                .call(Request::from_parts(parts, Body::from(body)))
                .await;
            let mut answer = whole(response, head).await;
            if is_private && !is_asset {
                // Nobody reads them in the cache of the browser after signing out.
                let headers = answer.headers_mut();
                headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            }
            answer
        })
    }

    fn home(&self) -> &str {
        self.site.links.home()
    }

    fn is_public(&self, path: &str) -> bool {
        let inner = self.site.links.inner(path);
        inner.is_some_and(|path| {
            path == "/sign-in" || path == "/sign-out" || path.starts_with("/assets/")
        })
    }

    fn refuse(&self, refused: &Refused<'_>) -> Answer {
        let is_page = wants_page(refused.headers);
        if is_page && refused.status == StatusCode::UNAUTHORIZED {
            let can_be_asked_again = matches!(*refused.method, Method::GET | Method::HEAD);
            let asked = refused.uri.path_and_query().filter(|_| can_be_asked_again);
            let asked = asked.map_or(self.site.links.home(), |asked| asked.as_str());
            let next = Parameters::default().with("next", asked).encoded();
            return redirect(&format!("{}?{next}", self.site.links.page("sign-in")));
        }
        let code = match refused.status {
            StatusCode::UNAUTHORIZED => "UNAUTHORIZED",
            StatusCode::FORBIDDEN => "FORBIDDEN",
            StatusCode::NOT_FOUND => "NOT_FOUND",
            StatusCode::PAYLOAD_TOO_LARGE => "FILE_TOO_LARGE",
            StatusCode::REQUEST_TIMEOUT => "TIMEOUT",
            StatusCode::INTERNAL_SERVER_ERROR => "INTERNAL",
            _ => "RATE_LIMITED",
        };
        let problem = Problem::new(refused.status, code, refused.message);
        if is_page {
            pages::problem::page_for_strangers(&self.site, &problem)
        } else {
            problem.to_json()
        }
    }
}

/// The same address with another path.
fn with_path(uri: &Uri, path: &str) -> Option<Uri> {
    let address = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    address.parse().ok()
}

/// A response of axum whose body is in memory, as all of them are here.
async fn whole(response: axum::response::Response, head: bool) -> Answer {
    let (parts, body) = response.into_parts();
    let bytes = match body.collect().await {
        Ok(body) if !head => body.to_bytes(),
        _ => Bytes::new(),
    };
    Response::from_parts(parts, bytes)
}

/// Runs `job`, which reads files, on a thread for that, and answers with its page or with the page of its problem.
async fn page(
    visit: Visit,
    job: impl FnOnce(&Visit, &AtomicBool) -> Result<Answer, Problem> + Send + 'static,
) -> axum::response::Response {
    let (site, access) = (Arc::clone(&visit.site), visit.access.clone());
    let files = site.files.clone();
    let done = files
        .read(access.as_ref(), move |_, cancel| job(&visit, cancel))
        .await;
    let answer = done.map_err(Problem::from).and_then(|answer| answer);
    respond(answer.unwrap_or_else(|problem| pages::problem::page(&site, &problem)))
}

type Shares = State<Arc<Shared>>;

async fn search_page(State(site): Shares, request: Request<Body>) -> axum::response::Response {
    page(Visit::of(site, &request), pages::search::page).await
}

async fn find_page(State(site): Shares, request: Request<Body>) -> axum::response::Response {
    page(Visit::of(site, &request), pages::find::page).await
}

async fn document_page(
    State(site): Shares,
    Path((file, document)): Path<(String, String)>,
    request: Request<Body>,
) -> axum::response::Response {
    page(Visit::of(site, &request), move |visit, _| {
        pages::document::page(visit, &file, &document)
    })
    .await
}

async fn raw_text(
    State(site): Shares,
    Path((file, document)): Path<(String, String)>,
    request: Request<Body>,
) -> axum::response::Response {
    page(Visit::of(site, &request), move |visit, _| {
        pages::raw::answer(visit, &file, &document)
    })
    .await
}

async fn top_page(
    State(site): Shares,
    Path(file): Path<String>,
    request: Request<Body>,
) -> axum::response::Response {
    page(Visit::of(site, &request), move |visit, _| {
        pages::folder::page(visit, &file, "")
    })
    .await
}

async fn folder_page(
    State(site): Shares,
    Path((file, folder)): Path<(String, String)>,
    request: Request<Body>,
) -> axum::response::Response {
    page(Visit::of(site, &request), move |visit, _| {
        pages::folder::page(visit, &file, &folder)
    })
    .await
}

async fn about_page(
    State(site): Shares,
    Path(file): Path<String>,
    request: Request<Body>,
) -> axum::response::Response {
    page(Visit::of(site, &request), move |visit, _| {
        pages::about::page(visit, &file)
    })
    .await
}

async fn sign_in_page(State(site): Shares, request: Request<Body>) -> axum::response::Response {
    page(Visit::of(site, &request), |visit, _| {
        Ok(pages::sign_in::page(visit))
    })
    .await
}

async fn sign_in(State(site): Shares, request: Request<Body>) -> axum::response::Response {
    let mut visit = Visit::of(site, &request);
    // A body in memory is always read.
    let body = request.into_body().collect().await;
    let body = body.map(|body| body.to_bytes()).unwrap_or_default();
    visit.parameters = Parameters::parse(&body);
    page(visit, |visit, _| Ok(pages::sign_in::answer(visit))).await
}

async fn sign_out(State(site): Shares, request: Request<Body>) -> axum::response::Response {
    respond(pages::sign_in::sign_out(&site, request.headers()))
}

async fn asset(State(site): Shares, Path(name): Path<String>) -> axum::response::Response {
    let answer = assets::asset(&name);
    respond(answer.unwrap_or_else(|problem| pages::problem::page_for_strangers(&site, &problem)))
}

async fn nothing_here(State(site): Shares, request: Request<Body>) -> axum::response::Response {
    let problem = Problem::not_found("there is no such page");
    respond(problem_for(&site, &request, &problem))
}

async fn wrong_method(State(site): Shares, request: Request<Body>) -> axum::response::Response {
    let method = request.method();
    let problem = Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "METHOD_NOT_ALLOWED",
        format!("this address does not take {method}"),
    );
    respond(problem_for(&site, &request, &problem))
}

fn problem_for(site: &Shared, request: &Request<Body>, problem: &Problem) -> Answer {
    if wants_page(request.headers()) {
        pages::problem::page(site, problem)
    } else {
        problem.to_json()
    }
}
