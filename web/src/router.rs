//! Which handler answers which address.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use axum::http::{Method, Request, Response, StatusCode};
use axum::routing::{get, post};
use http_body_util::BodyExt as _;
use kb_engine::percent;
use kb_mcp::{Files, Refused, Site, SiteFuture};
use tower_service::Service as _;

use crate::answer::{Answer, Problem, redirect, respond, wants_page};
use crate::fresh::Depends;
use crate::links::Links;
use crate::parameters::Parameters;
use crate::site::{Kind, Shared, Visit};
use crate::{api, assets, pages};

/// The site: what all handlers need, and their addresses.
pub(crate) struct Routes {
    site: Arc<Shared>,
    router: Router,
}

impl Routes {
    pub(crate) fn new(files: Files, links: Links, kind: Kind) -> Routes {
        let site = Arc::new(Shared::new(files, links, kind));
        let router = Router::new()
            .route("/", get(search_page))
            .route("/d/{file}/{*document}", get(document_page))
            .route("/raw/{file}/{*document}", get(raw_text))
            .route("/b/{file}/", get(top_page))
            .route("/b/{file}/{*folder}", get(folder_page))
            .route("/about/{file}", get(about_page))
            .route("/find", get(find_page))
            .route("/api", get(interface_page))
            .route("/upload/{file}", get(upload_page).post(upload))
            .route("/remove/{file}/{*document}", get(remove_page).post(remove))
            .route("/tags/{file}/{*document}", post(tags))
            .route("/agents", get(agents_page))
            .route("/tokens", get(tokens_page).post(create_token))
            .route("/tokens/revoke", post(revoke_token))
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
            let query = parts.uri.query().unwrap_or_default();
            let address = as_json(&inner, query).unwrap_or_else(|| joined(&inner, query));
            if let Ok(uri) = address.parse() {
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

/// An address of a path and what comes behind `?`.
fn joined(path: &str, query: &str) -> String {
    if query.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{query}")
    }
}

/// The address in the API that has what a page shows, if `format=json` asks for it.
fn as_json(path: &str, query: &str) -> Option<String> {
    let parameters = Parameters::parse(query.as_bytes());
    if !parameters.has("format", "json") {
        return None;
    }
    let mut parameters = parameters.without("format").without("part");
    let address = if path == "/" {
        "/api/v1/search".to_owned()
    } else if path == "/find" {
        "/api/v1/find".to_owned()
    } else if path == "/tokens" {
        "/api/v1/tokens".to_owned()
    } else if path == "/api" {
        "/api/v1/openapi.json".to_owned()
    } else if let Some(file) = path.strip_prefix("/about/") {
        format!("/api/v1/about/{file}")
    } else if let Some(document) = path.strip_prefix("/d/") {
        parameters = Parameters::default();
        format!("/api/v1/document/{document}")
    } else {
        let (file, folder) = path.strip_prefix("/b/")?.split_once('/')?;
        let folder = percent::decode(folder)?;
        parameters = parameters.with("folder", folder.trim_end_matches('/'));
        format!("/api/v1/documents/{file}")
    };
    Some(joined(&address, &parameters.encoded()))
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
/// With `depends`, a page that the browser has is not made again.
async fn page(
    visit: Visit,
    depends: Option<Depends>,
    job: impl FnOnce(&Visit, &AtomicBool) -> Result<Answer, Problem> + Send + 'static,
) -> axum::response::Response {
    let (site, access) = (Arc::clone(&visit.site), visit.access.clone());
    let files = site.files.clone();
    let done = files.read(access.as_ref(), move |_, cancel| match depends {
        Some(depends) => visit.unless_known(depends, || job(&visit, cancel)),
        None => job(&visit, cancel),
    });
    let done = done.await;
    let answer = done.map_err(Problem::from).and_then(|answer| answer);
    respond(answer.unwrap_or_else(|problem| pages::problem::page(&site, &problem)))
}

type Shares = State<Arc<Shared>>;

/// Of pages that show what the files have.
const FILES: Option<Depends> = Some(Depends::OnFiles);

async fn search_page(State(site): Shares, request: Request<Body>) -> axum::response::Response {
    page(
        Visit::of(site, &request),
        Some(Depends::OnSources),
        pages::search::page,
    )
    .await
}

async fn find_page(State(site): Shares, request: Request<Body>) -> axum::response::Response {
    page(Visit::of(site, &request), FILES, pages::find::page).await
}

async fn document_page(
    State(site): Shares,
    Path((file, document)): Path<(String, String)>,
    request: Request<Body>,
) -> axum::response::Response {
    page(Visit::of(site, &request), FILES, move |visit, _| {
        pages::document::page(visit, &file, &document)
    })
    .await
}

async fn raw_text(
    State(site): Shares,
    Path((file, document)): Path<(String, String)>,
    request: Request<Body>,
) -> axum::response::Response {
    page(Visit::of(site, &request), FILES, move |visit, _| {
        pages::raw::answer(visit, &file, &document)
    })
    .await
}

async fn top_page(
    State(site): Shares,
    Path(file): Path<String>,
    request: Request<Body>,
) -> axum::response::Response {
    page(Visit::of(site, &request), FILES, move |visit, _| {
        pages::folder::page(visit, &file, "")
    })
    .await
}

async fn folder_page(
    State(site): Shares,
    Path((file, folder)): Path<(String, String)>,
    request: Request<Body>,
) -> axum::response::Response {
    page(Visit::of(site, &request), FILES, move |visit, _| {
        pages::folder::page(visit, &file, &folder)
    })
    .await
}

async fn about_page(
    State(site): Shares,
    Path(file): Path<String>,
    request: Request<Body>,
) -> axum::response::Response {
    page(Visit::of(site, &request), FILES, move |visit, _| {
        pages::about::page(visit, &file)
    })
    .await
}

async fn interface_page(State(site): Shares, request: Request<Body>) -> axum::response::Response {
    page(Visit::of(site, &request), FILES, |visit, _| {
        pages::interface::page(visit)
    })
    .await
}

async fn upload_page(
    State(site): Shares,
    Path(file): Path<String>,
    request: Request<Body>,
) -> axum::response::Response {
    page(Visit::of(site, &request), FILES, move |visit, _| {
        pages::change::upload_page(visit, &file)
    })
    .await
}

async fn upload(
    State(site): Shares,
    Path(file): Path<String>,
    request: Request<Body>,
) -> axum::response::Response {
    let visit = Visit::of(site, &request);
    let kind = request.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.to_owned();
    let body = body_of(request).await;
    let taken = pages::change::upload_taken(&visit, &file, &kind, &body).await;
    respond(taken.unwrap_or_else(|problem| pages::problem::page(&visit.site, &problem)))
}

async fn remove_page(
    State(site): Shares,
    Path((file, document)): Path<(String, String)>,
    request: Request<Body>,
) -> axum::response::Response {
    page(Visit::of(site, &request), FILES, move |visit, _| {
        pages::change::remove_page(visit, &file, &document)
    })
    .await
}

async fn remove(
    State(site): Shares,
    Path((file, document)): Path<(String, String)>,
    request: Request<Body>,
) -> axum::response::Response {
    let visit = Visit::of(site, &request);
    let form = Parameters::parse(&body_of(request).await);
    let taken = pages::change::remove_taken(&visit, &file, &document, &form).await;
    respond(taken.unwrap_or_else(|problem| pages::problem::page(&visit.site, &problem)))
}

async fn tags(
    State(site): Shares,
    Path((file, document)): Path<(String, String)>,
    request: Request<Body>,
) -> axum::response::Response {
    let visit = Visit::of(site, &request);
    let form = Parameters::parse(&body_of(request).await);
    let taken = pages::change::tags_taken(&visit, &file, &document, &form).await;
    respond(taken.unwrap_or_else(|problem| pages::problem::page(&visit.site, &problem)))
}

/// The body of a request, which is in memory.
async fn body_of(request: Request<Body>) -> Bytes {
    let body = request.into_body().collect().await;
    body.map(|body| body.to_bytes()).unwrap_or_default()
}

async fn agents_page(State(site): Shares, request: Request<Body>) -> axum::response::Response {
    page(Visit::of(site, &request), None, |visit, _| {
        pages::agents::page(visit)
    })
    .await
}

async fn tokens_page(State(site): Shares, request: Request<Body>) -> axum::response::Response {
    page(Visit::of(site, &request), None, |visit, _| {
        pages::tokens::page(visit)
    })
    .await
}

async fn create_token(State(site): Shares, request: Request<Body>) -> axum::response::Response {
    let visit = Visit::of(site, &request);
    let form = Parameters::parse(&body_of(request).await);
    page(visit, None, move |visit, _| {
        pages::tokens::create(visit, &form)
    })
    .await
}

async fn revoke_token(State(site): Shares, request: Request<Body>) -> axum::response::Response {
    let visit = Visit::of(site, &request);
    let form = Parameters::parse(&body_of(request).await);
    page(visit, None, move |visit, _| {
        pages::tokens::revoke(visit, &form)
    })
    .await
}

async fn sign_in_page(State(site): Shares, request: Request<Body>) -> axum::response::Response {
    page(Visit::of(site, &request), None, |visit, _| {
        Ok(pages::sign_in::page(visit))
    })
    .await
}

async fn sign_in(State(site): Shares, request: Request<Body>) -> axum::response::Response {
    let mut visit = Visit::of(site, &request);
    visit.parameters = Parameters::parse(&body_of(request).await);
    page(visit, None, |visit, _| Ok(pages::sign_in::answer(visit))).await
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
