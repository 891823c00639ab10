//! `kb site` and `kb info --html`: the pages as files.

use std::collections::BTreeSet;
use std::path::Path;

use kb_engine::KbWriter;

use crate::support::Folder;

/// All files below a folder, relative.
fn files(folder: &Path) -> BTreeSet<String> {
    fn walk(folder: &Path, top: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, top, found);
            } else {
                let name = path.strip_prefix(top).unwrap().to_str().unwrap();
                found.insert(name.replace('\\', "/"));
            }
        }
    }
    let mut found = BTreeSet::new();
    walk(folder, folder, &mut found);
    found
}

#[test]
fn every_link_of_a_site_leads_to_a_file_of_it() {
    let folder = Folder::indexed();
    let told = folder.kb("site harbour.kb -o public").expect(0);
    assert!(told.stdout.starts_with("public  "), "{told:?}");
    let public = folder.join("public");
    let all = files(&public);
    for name in [
        "index.html",
        "b/harbour.html",
        "about/harbour.html",
        "d/harbour/docs/guide.md.html",
    ] {
        assert!(all.contains(name), "{name}: {all:?}");
    }
    let mut links = 0;
    for name in all.iter().filter(|name| name.ends_with(".html")) {
        let page = std::fs::read_to_string(public.join(name)).unwrap();
        assert!(
            page.contains("Content-Security-Policy") && !page.contains("<script"),
            "{name}"
        );
        assert!(
            !page.contains("<form") && !page.contains("href=\"/"),
            "{name}: {page}"
        );
        for link in page.split(" href=\"").skip(1) {
            let link = link.split('"').next().unwrap();
            let path = link.split('#').next().unwrap();
            if path.is_empty() || link.starts_with("http") || link.starts_with("mailto:") {
                continue;
            }
            links += 1;
            let target = public
                .join(name)
                .parent()
                .unwrap()
                .join(path.replace("%20", " "));
            assert!(target.is_file(), "{name}: {link}");
        }
    }
    assert!(links > 20, "{links}");
    // The text of a page of a document is no page of the site.
    assert!(all.iter().any(|name| name.starts_with("raw/")));
    assert!(
        all.iter()
            .filter(|name| name.starts_with("raw/"))
            .all(|name| name.ends_with(".txt"))
    );
    let told = folder.kb("site harbour.kb -o public").expect(2);
    told.stderr_has("public is not empty");
}

#[test]
fn a_document_of_a_hostile_name_leaves_the_folder_alone() {
    let folder = Folder::empty();
    let mut writer = KbWriter::create(folder.join("h.kb")).unwrap();
    writer
        .add_bytes(
            "a.md",
            b"# A\n\n[x](javascript:alert(1)) <a href=\"/d/h/b\">y</a>\n",
        )
        .unwrap();
    writer.add_bytes("c:\\x", b"text").unwrap();
    writer
        .add_bytes("x.html", b"<script>alert(1)</script>")
        .unwrap();
    writer.commit().unwrap();
    drop(writer);
    let told = folder.kb("site h.kb -o out").expect(1);
    told.stderr_has("has no page");
    let all = files(&folder.join("out"));
    assert!(all.contains("d/h/a.md.html") && !all.iter().any(|name| name.contains("c:")));
    let names = folder.names();
    assert_eq!(names, ["h.kb", "out"]);
}

#[test]
fn a_report_is_one_page_that_loads_nothing() {
    let folder = Folder::indexed();
    folder.kb("info harbour.kb --html report.html").expect(0);
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("<style>") && page.contains("<svg class=\"columns-picture\""));
    for loading in ["href=\"/", "src=", "<script", "@import", "<link"] {
        assert!(!page.contains(loading), "{loading}");
    }
    let printed = folder.kb("info harbour.kb --html -").expect(0).stdout;
    assert_eq!(printed, page);
}
