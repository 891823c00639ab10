//! Requests that no browser sends.

use super::Site;
use crate::mcp::http::Connection;
use crate::support::{Folder, Random, number_from};

/// Requests of a usual run; `cargo xtask trials requests` makes more.
const REQUESTS: u64 = 600;

const PATHS: [&str; 22] = [
    "/?q=moon&from=0&mode=hybrid&type=rust&since=2024-01-01",
    "/d/harbour/docs/guide.md?lines=1-2&view=lines&from=1",
    "/b/harbour/docs?cursor=AAAA",
    "/find?q=tide&part=list",
    "/about/harbour",
    "/raw/harbour/docs/guide.md",
    "/api/v1/search?q=moon&k=3&cursor=x&max_tokens=10&min_score=0.5",
    "/api/v1/text/harbour/docs/guide.md?lines=1-3",
    "/api/v1/symbols?kind=function&name=a*",
    "/api/v1/documents/harbour?folder=docs",
    "/sign-in?key=abc&next=/",
    "/assets/style.css",
    "/api",
    "/upload/harbour?folder=docs",
    "/remove/harbour/docs/guide.md",
    "/tags/harbour/docs/guide.md",
    "/api/v1/regex?pattern=a.c&k=3&multiline=1",
    "/api/v1/sheet/harbour/docs/guide.md?sheet=1&cells=A1:B2",
    "/api/v1/find?q=gui&format=json",
    "/api/v1/upload/harbour",
    "/api/v1/document/harbour/new/a.md?tag=x",
    "/api/v1/tags/harbour/docs/guide.md",
];

const INSERTIONS: [&str; 16] = [
    "%00",
    "%ff",
    "%",
    "..",
    "//",
    "%2e%2e%2f",
    "\u{202e}",
    "%E2%80%AE",
    "99999999999999999999",
    "-1",
    "=",
    "&",
    "?",
    "#",
    "'\"<>",
    "{}[]*?!",
];

#[test]
fn wrong_requests_are_answered_and_harm_nothing() {
    let folder = Folder::indexed();
    let site = Site::start(&folder, &["harbour.kb", "--allow-write"]);
    let mut random = Random(number_from("KB_TRIAL_SEED", 11));
    for number in 0..number_from("KB_TRIAL_ROUNDS", REQUESTS) {
        let mut path = (*random.one_of(&PATHS)).to_owned();
        for _ in 0..=random.below(3) {
            let at = 1 + random.below(path.len());
            let at = (1..=at.min(path.len()))
                .rev()
                .find(|at| path.is_char_boundary(*at))
                .unwrap_or(0);
            match random.below(3) {
                0 => {
                    let inserted: &str = INSERTIONS[random.below(INSERTIONS.len())];
                    path.insert_str(at, inserted);
                }
                1 => path.truncate(at),
                _ => path.insert_str(at, &"A".repeat(random.below(300))),
            }
        }
        let methods = [
            "GET", "GET", "GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS",
        ];
        let method = *random.one_of(&methods);
        let body: &[u8] = if matches!(method, "POST" | "PUT") {
            b"{\"q\": [1, {\"a\": null}], \"k\": -1}"
        } else {
            b""
        };
        let mut connection = Connection::open(site.address);
        let host = site.address.to_string();
        connection.send(
            method,
            &path,
            &[("host", &host), ("accept", "text/html")],
            body,
        );
        // Of some the server makes no request at all, and closes.
        if let Some(reply) = connection.head() {
            assert!(
                reply.status < 500,
                "{number}: {method} {path:?}: {}",
                reply.status
            );
        }
    }
    assert_eq!(site.page("/?q=moon").status, 200);
}
