//! The pages as files for any host of plain files, and as one file: the same handlers answer, without a server.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::{Request, StatusCode};
use kb_engine::percent;
use kb_mcp::{Files, OfflineSite, Options, Site, StartError};

use crate::links::Links;
use crate::router::Routes;
use crate::site::Kind;

/// Longest name of a file that is kept, in bytes; a longer one becomes a hash. Most systems take 255.
const NAME_LIMIT_BYTES: usize = 200;

/// How the addresses of pages begin that an export has; others need a server.
const PAGES: [&str; 4] = ["/d/", "/b/", "/about/", "/raw/"];

/// What an export wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exported {
    /// Pages and other files.
    pub files: u64,
    /// Bytes of all of them together.
    pub bytes: u64,
    /// Addresses without a file: their names cannot be those of files.
    pub left_out: Vec<String>,
}

/// Why an export stopped.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExportError {
    /// A file cannot be opened.
    Start(StartError),
    /// The folder has files already.
    NotEmpty(PathBuf),
    /// The system refused an operation.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The reason given by the system.
        error: io::Error,
    },
    /// A page could not be made; what it says of that.
    Page(String),
}

impl From<StartError> for ExportError {
    fn from(error: StartError) -> ExportError {
        ExportError::Start(error)
    }
}

fn open(options: &Options, kind: Kind) -> Result<OfflineSite, StartError> {
    let make =
        |files: Files| -> Arc<dyn Site> { Arc::new(Routes::new(files, Links::new(""), kind)) };
    OfflineSite::open(options, &make)
}

fn ask(site: &OfflineSite, address: &str) -> Option<(StatusCode, Bytes)> {
    let request = Request::get(address).header("accept", "text/html");
    let answer = site.ask(request.body(Bytes::new()).ok()?);
    Some((answer.status(), answer.into_body()))
}

/// The page about a file, with its style in itself.
///
/// # Errors
/// [`ExportError::Start`] when the file cannot be opened, [`ExportError::Page`].
pub fn report(options: &Options) -> Result<String, ExportError> {
    let site = open(options, Kind::Report)?;
    let name = site
        .files()
        .list()
        .first()
        .map(|file| file.name().to_owned());
    let address = Links::new("").about(&name.unwrap_or_default());
    match ask(&site, &address) {
        Some((StatusCode::OK, page)) => Ok(String::from_utf8_lossy(&page).into_owned()),
        Some((_, page)) => Err(ExportError::Page(
            String::from_utf8_lossy(&page).into_owned(),
        )),
        None => Err(ExportError::Page(address)),
    }
}

/// Writes the pages of the files into `folder`, which is made or empty: each page that links lead to from the first one,
/// with relative links, so that the folder can be served from anywhere. `progress` gets the number of files written.
///
/// # Errors
/// [`ExportError`]; what was written until then stays.
pub fn export(
    options: &Options,
    folder: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<Exported, ExportError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| ExportError::Io { path, error }
    };
    let site = open(options, Kind::Static)?;
    fs::create_dir_all(folder).map_err(failed(folder))?;
    let mut entries = fs::read_dir(folder).map_err(failed(folder))?;
    if entries.next().is_some() {
        return Err(ExportError::NotEmpty(folder.to_owned()));
    }
    let mut exported = Exported::default();
    let mut queue = VecDeque::from(["/".to_owned()]);
    let mut known: BTreeSet<String> = queue.iter().cloned().collect();
    while let Some(address) = queue.pop_front() {
        let (Some(name), Some((StatusCode::OK, body))) = (file_of(&address), ask(&site, &address))
        else {
            exported.left_out.push(address);
            continue;
        };
        let is_page = name.ends_with(".html") && !address.starts_with("/raw/");
        let written = if is_page {
            let page = String::from_utf8_lossy(&body);
            let depth = name.matches('/').count();
            let rewritten = with_links(&page, |link| {
                let (asked, fragment) = match link.split_once('#') {
                    Some((asked, fragment)) => (asked, format!("#{fragment}")),
                    None => (link, String::new()),
                };
                let target = file_of(asked);
                let is_wanted = PAGES.iter().any(|start| asked.starts_with(start));
                if (target.is_some() || is_wanted) && known.insert(asked.to_owned()) {
                    queue.push_back(asked.to_owned());
                }
                let target = target?;
                let up = "../".repeat(depth);
                Some(format!("{up}{}{fragment}", percent::encode(&target, true)))
            });
            Bytes::from(rewritten)
        } else {
            body
        };
        let path = folder.join(&name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(failed(parent))?;
        fs::write(&path, &written).map_err(failed(&path))?;
        exported.files += 1;
        exported.bytes += written.len() as u64;
        progress(exported.files);
    }
    Ok(exported)
}

/// The file of an address, relative, with `/`; `None` for what is not exported, or has a name that is not one of a file.
fn file_of(address: &str) -> Option<String> {
    let (path, query) = match address.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (address, None),
    };
    let inner = path.strip_prefix('/')?.trim_end_matches('/');
    if inner.is_empty() {
        return query.is_none().then(|| "index.html".to_owned());
    }
    let mut names = Vec::new();
    for part in inner.split('/') {
        let name = percent::decode(part)?;
        // Of a hostile file, a document could have the name of a file elsewhere.
        let is_plain = !matches!(&*name, "" | "." | "..")
            && !name.contains(['/', '\\', ':', '*', '?', '"', '<', '>', '|'])
            && !name.chars().any(char::is_control)
            && !name.ends_with([' ', '.']);
        if !is_plain {
            return None;
        }
        names.push(if name.len() > NAME_LIMIT_BYTES {
            hash(&name)
        } else {
            name
        });
    }
    let ending = match names.first().map(String::as_str) {
        Some("assets") => return Some(names.join("/")),
        // A document may be a page of script: here it is a text.
        Some("raw") => ".txt".to_owned(),
        Some("d" | "b" | "about") => match query {
            Some(query) => format!(".{}.html", hash(query)),
            None => ".html".to_owned(),
        },
        _ => return None,
    };
    Some(format!("{}{ending}", names.join("/")))
}

fn hash(text: &str) -> String {
    let hash = blake3::hash(text.as_bytes()).to_hex();
    hash.chars().take(12).collect()
}

/// A page with other addresses in its links. One without another address loses its own.
fn with_links(page: &str, mut other: impl FnMut(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(page.len());
    let mut rest = page;
    // Texts are escaped, so that each `<` begins an element of a template.
    while let Some(start) = rest.find('<') {
        let (before, element) = rest.split_at(start);
        let (element, behind) =
            element.split_at(element.find('>').map_or(element.len(), |at| at + 1));
        out.push_str(before);
        let is_link = element.starts_with("<a ") || element.starts_with("<link ");
        match href(element).filter(|_| is_link) {
            Some((head, link, tail)) if link.starts_with('/') => {
                out.push_str(head);
                if let Some(link) = other(&unescaped(link)) {
                    out.push_str("href=\"");
                    out.push_str(&link.replace('&', "&amp;"));
                    out.push('"');
                }
                out.push_str(tail);
            }
            _ => out.push_str(element),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// What is before the attribute `href` of an element, its value, and what is behind it.
fn href(element: &str) -> Option<(&str, &str, &str)> {
    let start = element.find(" href=\"")? + 1;
    let (head, attribute) = element.split_at(start);
    let value = attribute.strip_prefix("href=\"")?;
    let (value, tail) = value.split_once('"')?;
    Some((head, value, tail))
}

fn unescaped(text: &str) -> String {
    let mut text = text.replace("&quot;", "\"").replace("&#x27;", "'");
    text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_file_that_cannot_leave_the_folder() {
        let file = |address: &str| file_of(address).unwrap_or_default();
        assert_eq!(file("/"), "index.html");
        assert_eq!(file("/b/notes/"), "b/notes.html");
        assert_eq!(file("/d/notes/a%20b/x.md"), "d/notes/a b/x.md.html");
        assert!(
            file("/d/notes/x?sheet=A").starts_with("d/notes/x.")
                && file("/d/notes/x?sheet=A").ends_with(".html")
        );
        assert_ne!(file("/d/notes/x?sheet=A"), file("/d/notes/x?sheet=B"));
        assert_eq!(file("/raw/notes/x.html"), "raw/notes/x.html.txt");
        assert_eq!(file("/assets/style.css"), "assets/style.css");
        for nowhere in [
            "",
            "x",
            "/?q=a",
            "/find?q=a",
            "/api",
            "/agents",
            "/d/../x",
            "/d/notes/%2e%2e/x",
            "/d/n/a%2Fb",
            "/d/n/a%5Cb",
            "/d/n/a%00",
            "/d/n//x",
            "//evil.example/x",
            "/d/n/c:x",
            "/d/n/a.",
        ] {
            assert_eq!(file(nowhere), "", "{nowhere}");
        }
        let long = file(&format!("/d/n/{}", "a".repeat(300)));
        assert_eq!(long.len(), "d/n/".len() + 12 + ".html".len());
    }

    #[test]
    fn only_links_of_templates_are_rewritten() {
        let page = "<link href=\"/assets/a.css\"><p> href=\"/x\" &lt;a href=\"/y\"&gt;</p>\
                    <a class=\"k\" href=\"/d/n/a?b=1&amp;c=2\">t</a><a href=\"/api\">u</a><a href=\"https://e.org/\">v</a><a href=\"#z\">w</a>";
        let rewritten = with_links(page, |link| {
            (link != "/api").then(|| format!("../{}&", link.trim_start_matches('/')))
        });
        assert_eq!(
            rewritten,
            "<link href=\"../assets/a.css&amp;\"><p> href=\"/x\" &lt;a href=\"/y\"&gt;</p>\
             <a class=\"k\" href=\"../d/n/a?b=1&amp;c=2&amp;\">t</a><a >u</a><a href=\"https://e.org/\">v</a><a href=\"#z\">w</a>"
        );
    }
}
