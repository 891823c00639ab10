//! The pages, without a script.

use super::{Site, text};
use crate::support::Folder;

/// A folder with a file of prose, a program and what an enemy would write.
fn folder() -> Folder {
    let folder = Folder::empty();
    folder.write("notes/tides.md", "# Tides\n\nThe *moon* pulls the sea twice a day.\n\n## Springs\n\nSee [the table](../data/table.csv) and [nothing](missing.md).\n");
    folder.write("src/moon.rs", "/// How high the water stands.\npub fn high_water(hours: f64) -> f64 {\n    hours.cos()\n}\n");
    folder.write(
        "data/table.csv",
        "port,height\nBrest,6.1\nDover,<b>5.9</b>\n",
    );
    folder.write("notes/hostile.md", HOSTILE);
    folder.kb("index . -o notes.kb").expect(0);
    folder
}

const HOSTILE: &str = "# <script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n[x](javascript:alert(1)) \
    ![y](https://evil.example/y.png) <a href=\"data:text/html,x\">z</a>\n\n<style>*{display:none}</style>\n";

#[test]
fn every_page_is_there_and_forbids_what_it_does_not_need() {
    let folder = folder();
    let site = Site::start(&folder, &["notes.kb"]);
    for (path, has) in [
        ("/", "4\u{a0}documents"),
        ("/?q=moon", "<mark>moon</mark>"),
        ("/?q=moon&explain=1", "Why this hit"),
        ("/?q=moon&type=rust", "src/moon.rs"),
        ("/?q=zzqqx", "zzqqx"),
        ("/d/notes/notes/tides.md", "<h1 id=\"s-tides\">Tides</h1>"),
        (
            "/d/notes/notes/tides.md?lines=3-3",
            "<div class=\"marked\" id=\"L3\">",
        ),
        ("/d/notes/notes/tides.md?view=lines", "id=\"L3\""),
        (
            "/d/notes/src/moon.rs?lines=2-3",
            "class=\"line marked\" id=\"L2\"",
        ),
        ("/d/notes/data/table.csv", "Brest"),
        ("/b/notes/", "notes/"),
        ("/b/notes/src", "moon.rs"),
        ("/about/notes", "Size by section"),
        ("/find?q=mnrs", "src/moon.rs"),
        ("/sign-in", "requires no token"),
    ] {
        let reply = site.page(path);
        let page = text(&reply);
        assert_eq!(reply.status, 200, "{path}: {page}");
        assert!(page.contains(has), "{path} has no {has:?}: {page}");
        let policy = reply.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(
            reply.header("x-content-type-options"),
            Some("nosniff"),
            "{path}"
        );
        assert!(page.contains("<h1"), "{path} has no heading: {page}");
        assert!(
            !page.contains("http://") && !page.contains("https://"),
            "{path}: {page}"
        );
        assert!(
            !page.contains(" style=") && !page.contains("<style"),
            "{path}: {page}"
        );
    }
}

#[test]
fn links_of_markdown_lead_to_documents_of_the_file() {
    let folder = folder();
    let site = Site::start(&folder, &["notes.kb"]);
    let page = text(&site.page("/d/notes/notes/tides.md"));
    assert!(
        page.contains("<a href=\"/d/notes/data/table.csv\">the table</a>"),
        "{page}"
    );
    assert!(page.contains("and nothing."), "{page}");
}

#[test]
fn no_document_becomes_markup() {
    let folder = folder();
    let site = Site::start(&folder, &["notes.kb"]);
    for path in [
        "/d/notes/notes/hostile.md",
        "/d/notes/notes/hostile.md?view=lines",
        "/d/notes/data/table.csv",
        "/?q=alert",
        "/?q=%3Cscript%3Ealert(1)%3C/script%3E",
        "/find?q=%3Cscript%3E",
        "/b/notes/%3Cscript%3E",
        "/d/notes/%3Cimg%20src=x%3E",
        "/?q=moon&file=%22%3E%3Cscript%3E",
    ] {
        let page = text(&site.page(path));
        for element in [
            "<script>",
            "<img",
            "<style",
            "<b>5.9",
            "href=\"javascript:",
            "<a href=\"data:",
        ] {
            assert!(!page.contains(element), "{path} has {element}: {page}");
        }
    }
}

#[test]
fn what_is_not_there_is_said_as_a_page_or_as_a_problem() {
    let folder = folder();
    let site = Site::start(&folder, &["notes.kb"]);
    for path in [
        "/nowhere",
        "/d/notes/none.md",
        "/d/other/notes/tides.md",
        "/b/notes/none",
        "/about/x",
        "/assets/x.css",
    ] {
        let reply = site.page(path);
        assert_eq!(reply.status, 404, "{path}");
        assert!(text(&reply).contains("<h1>Not Found</h1>"), "{path}");
    }
    let reply = site.send("GET", "/nowhere", &[], b"");
    assert_eq!(
        reply.header("content-type"),
        Some("application/problem+json")
    );
    let reply = site.send("DELETE", "/", &[("accept", "text/html")], b"");
    assert_eq!(reply.status, 405);
    let reply = site.page("/?q=moon&type=nonsense");
    assert_eq!(reply.status, 400);
    assert!(text(&reply).contains("nonsense"));
}

#[test]
fn a_text_is_saved_and_never_shown_as_it_is() {
    let folder = folder();
    let site = Site::start(&folder, &["notes.kb"]);
    let reply = site.page("/raw/notes/notes/hostile.md");
    assert_eq!(text(&reply), HOSTILE);
    assert_eq!(
        reply.header("content-type"),
        Some("text/plain; charset=utf-8")
    );
    assert!(
        reply
            .header("content-disposition")
            .unwrap()
            .starts_with("attachment;")
    );
}

#[test]
fn several_files_are_searched_together_and_each_alone() {
    let folder = folder();
    folder.write(
        "more/moon.md",
        "# Phases\n\nThe moon is full every 29.5 days.\n",
    );
    folder.kb("index more -o more.kb").expect(0);
    let site = Site::start(&folder, &["notes.kb", "sky=more.kb"]);
    let both = text(&site.page("/?q=moon"));
    assert!(
        both.contains("/d/notes/") && both.contains("/d/sky/"),
        "{both}"
    );
    let one = text(&site.page("/?q=moon&file=sky"));
    assert!(
        !one.contains("href=\"/d/notes/") && one.contains("/d/sky/"),
        "{one}"
    );
}

#[test]
fn every_address_is_below_the_base_path() {
    let folder = folder();
    let site = Site::start(&folder, &["notes.kb", "--base-path", "/kb"]);
    let page = text(&site.page("/kb/?q=moon"));
    for link in page
        .split("href=\"")
        .skip(1)
        .chain(page.split("action=\"").skip(1))
    {
        assert!(
            link.starts_with("/kb/") || link.starts_with('#'),
            "{link:.80}"
        );
    }
    assert_eq!(site.page("/?q=moon").status, 404);
    assert_eq!(site.page("/kb/d/notes/src/moon.rs").status, 200);
}

#[test]
fn a_range_of_the_stored_text_is_given() {
    let folder = Folder::empty();
    folder.write("n/a.txt", "0123456789");
    folder.kb("index n").expect(0);
    let site = Site::start(&folder, &["n.kb"]);
    let asked = |headers: &[(&str, &str)]| {
        let reply = site.send("GET", "/raw/n/a.txt", headers, b"");
        let range = reply.header("content-range").map(str::to_owned);
        (reply.status, range, text(&reply))
    };
    let whole = (200, None, "0123456789".to_owned());
    assert_eq!(asked(&[]), whole);
    let of = |said: &str| Some(said.to_owned());
    assert_eq!(
        asked(&[("range", "bytes=2-4")]),
        (206, of("bytes 2-4/10"), "234".to_owned())
    );
    assert_eq!(
        asked(&[("range", "bytes=-2")]),
        (206, of("bytes 8-9/10"), "89".to_owned())
    );
    assert_eq!(
        asked(&[("range", "bytes=10-")]),
        (416, of("bytes */10"), String::new())
    );
    assert_eq!(asked(&[("range", "bytes=0-1,3-4")]), whole);
    assert_eq!(
        asked(&[("range", "bytes=0-1"), ("if-range", "\"x\"")]),
        whole
    );
}

#[test]
fn a_long_text_is_shown_in_pages_of_lines() {
    let folder = Folder::empty();
    let lines: Vec<String> = (1..=5000)
        .map(|number| format!("line {number} of the log"))
        .collect();
    folder.write("long.txt", lines.join("\n"));
    folder.kb("index . -o long.kb").expect(0);
    let site = Site::start(&folder, &["long.kb"]);
    let first = text(&site.page("/d/long/long.txt"));
    assert!(
        first.contains("id=\"L1\"")
            && first.contains("id=\"L2000\"")
            && !first.contains("id=\"L2001\"")
    );
    let next = first
        .split("rel=\"next\" href=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let second = text(&site.page(&next.replace("&amp;", "&")));
    assert!(second.contains("id=\"L2001\"") && second.contains("line 2001 of the log"));
    let marked = text(&site.page("/d/long/long.txt?lines=4321-4322"));
    assert!(marked.contains("class=\"line marked\" id=\"L4321\""));
}

#[test]
fn a_hit_leads_to_its_place_in_every_kind_of_document() {
    let folder = Folder::empty();
    let filler = "<p>Nothing of interest.</p>\n\n\n".repeat(3000);
    folder.write(
        "page.html",
        format!("<html><body>{filler}<p>The zebrafish swims.</p></body></html>"),
    );
    let rows: String = (1..=900).map(|row| format!("port {row},{row}\n")).collect();
    folder.write("table.csv", format!("port,height\n{rows}Zanzibar,7\n"));
    folder.kb("index . -o all.kb").expect(0);
    let site = Site::start(&folder, &["all.kb"]);
    for (query, name) in [("zebrafish", "page.html"), ("Zanzibar", "table.csv")] {
        let results = text(&site.page(&format!("/?q={query}")));
        let address = results.split("data-address=\"").nth(1).unwrap();
        let address = address.split('"').next().unwrap().replace("&amp;", "&");
        let (path, anchor) = address.split_once('#').unwrap();
        assert!(path.contains(name), "{address}");
        let page = text(&site.page(path));
        assert!(page.contains(&format!("id=\"{anchor}\"")), "{address}");
        let marked = page.split("marked\"").skip(1);
        assert!(
            marked
                .into_iter()
                .any(|rest| rest[..rest.len().min(400)].contains(query)),
            "{address}"
        );
        assert!(page.len() < 1 << 20, "{name}: {} bytes", page.len());
    }
}

#[test]
fn the_filters_keep_the_query_and_each_can_be_taken_off() {
    let folder = folder();
    let site = Site::start(&folder, &["notes.kb"]);
    let page = text(&site.page("/?q=moon&lang=rust&path=src/**&path=!data/**"));
    let form = page
        .split("id=\"filters\"")
        .nth(1)
        .unwrap()
        .split("</form>")
        .next()
        .unwrap();
    for kept in [
        "name=\"q\" value=\"moon\"",
        "name=\"lang\" value=\"rust\"",
        "value=\"!data/**\"",
    ] {
        assert!(form.contains(kept), "{kept}: {form}");
    }
    assert!(page.contains("lang: rust"), "{page}");
    assert_eq!(site.page("/?q=moon&from=99999999").status, 200);
}
