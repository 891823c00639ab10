//! Malicious HTML, Markdown, data and mail.

use super::archive::{Archive, Deflated};
use super::bomb::Bomb;
use super::office::laughs;

pub(super) const BOMBS: &[Bomb] = &[
    Bomb::new("a million nested div", "a.html", || {
        b"<div>".repeat(1_000_000)
    }),
    Bomb::new("200 000 attributes", "a.html", html_of_attributes),
    Bomb::new("100 000 open b", "a.html", || {
        b"<p><b>words".repeat(100_000)
    }),
    Bomb::new("50 000 nested tables", "a.html", || {
        b"<table><tr><td>words".repeat(50_000)
    }),
    Bomb::new("200 000 nested lists", "a.html", || {
        b"<ul><li>words".repeat(200_000)
    }),
    Bomb::new("100 000 open links and headings", "a.html", || {
        b"<a href=x><h1>words".repeat(100_000)
    }),
    Bomb::new("100 000 nested quotes", "a.md", || {
        [b">".repeat(100_000), b"words".to_vec()].concat()
    }),
    Bomb::new("quotes of every depth", "a.md", md_of_quotes),
    Bomb::new("200 000 open brackets", "a.md", || b"[".repeat(200_000)),
    Bomb::new("100 000 open links", "a.md", || b"[a](".repeat(100_000)),
    Bomb::new("200 000 signs of emphasis", "a.md", || {
        b"*a **b _c ".repeat(70_000)
    }),
    Bomb::new("100 000 footnotes", "a.md", md_of_footnotes),
    Bomb::new("a table of 20 000 columns", "a.md", md_of_columns),
    Bomb::new("10 000 nested lists", "a.md", md_of_lists),
    Bomb::new("a million nested elements", "a.xml", || {
        b"<a>".repeat(1_000_000)
    }),
    Bomb::new("a billion laughs", "a.xml", xml_of_entities),
    Bomb::new("200 000 attributes", "a.xml", xml_of_attributes),
    Bomb::new("a million nested lists", "a.json", || {
        b"[".repeat(1_000_000)
    }),
    Bomb::new("a million nested objects", "a.jsonl", || {
        b"{\"a\":".repeat(1_000_000)
    }),
    Bomb::new("cells nested a million deep", "a.ipynb", notebook),
    Bomb::new("100 000 nested sections", "a.rst", rst_of_sections),
    Bomb::new("100 000 nested blocks", "a.adoc", || {
        b"====\n".repeat(100_000)
    }),
    Bomb::new("10 000 nested parts", "a.eml", mail_of_parts),
    Bomb::new("a mail in a mail, 10 000 times", "a.eml", mail_of_mails),
    Bomb::new("a million header lines", "a.eml", mail_of_headers).long(),
    Bomb::new(
        "100 000 chapters that are one",
        "a.epub",
        book_of_one_chapter,
    )
    .long(),
    Bomb::new("400 MB in one chapter", "a.epub", book_of_one_text).long(),
    Bomb::new("a quote that never ends", "a.csv", || {
        [b"a,b\n\"".to_vec(), b"words,and\nlines".repeat(2_000_000)].concat()
    })
    .long(),
    Bomb::new("a million columns", "a.csv", || b"a,".repeat(1_000_000)),
    Bomb::new("10 million rows", "a.csv", || b"a\n".repeat(10_000_000)).long(),
    Bomb::new("an archive of archives", "a.zip", archives).long(),
];

fn html_of_attributes() -> Vec<u8> {
    let attributes: String = (0..200_000).map(|number| format!(" a{number}=1")).collect();
    format!("<p{attributes}>words</p>").into_bytes()
}

fn md_of_quotes() -> Vec<u8> {
    let lines: Vec<String> = (0..1000)
        .map(|depth| format!("{} words\n", ">".repeat(depth)))
        .collect();
    lines.concat().into_bytes()
}

fn md_of_footnotes() -> Vec<u8> {
    let notes: String = (0..100_000)
        .map(|number| format!("[^{number}]: note [^{}]\n\n", number + 1))
        .collect();
    notes.into_bytes()
}

fn md_of_columns() -> Vec<u8> {
    let row = "|a".repeat(20_000) + "|\n";
    let line = "|-".repeat(20_000) + "|\n";
    (row + &line + &"|a\n".repeat(2000)).into_bytes()
}

fn md_of_lists() -> Vec<u8> {
    b"- ".repeat(10_000)
}

fn xml_of_entities() -> Vec<u8> {
    format!(
        "<?xml version=\"1.0\"?>{}<a>{}</a>",
        laughs(),
        "&e9;".repeat(10)
    )
    .into_bytes()
}

fn xml_of_attributes() -> Vec<u8> {
    let attributes: String = (0..200_000)
        .map(|number| format!(" a{number}=\"1\""))
        .collect();
    format!("<a{attributes}>words</a>").into_bytes()
}

fn notebook() -> Vec<u8> {
    let nested = "[".repeat(1_000_000);
    format!("{{\"nbformat\": 4, \"cells\": [{{\"cell_type\": \"markdown\", \"source\": {nested}")
        .into_bytes()
}

fn rst_of_sections() -> Vec<u8> {
    let signs = ["=", "-", "~", "^", "\"", "'", "+", "#"];
    let sections: String = (0..100_000)
        .map(|number| format!("Title\n{}\n\n", signs[number % signs.len()].repeat(5)))
        .collect();
    sections.into_bytes()
}

const MAIL: &str =
    "From: a@example.org\r\nTo: b@example.org\r\nSubject: words\r\nMIME-Version: 1.0\r\n";

fn mail_of_parts() -> Vec<u8> {
    let mut mail = MAIL.to_owned();
    for depth in 0..10_000 {
        mail.push_str(&format!(
            "Content-Type: multipart/mixed; boundary=\"b{depth}\"\r\n\r\n--b{depth}\r\n"
        ));
    }
    mail.push_str("Content-Type: text/plain\r\n\r\nsome words\r\n");
    mail.into_bytes()
}

fn mail_of_mails() -> Vec<u8> {
    let inner = format!("{MAIL}Content-Type: message/rfc822\r\n\r\n").repeat(10_000);
    format!("{inner}{MAIL}\r\nsome words\r\n").into_bytes()
}

fn mail_of_headers() -> Vec<u8> {
    let headers = "X-Header: some words\r\n".repeat(1_000_000);
    format!("{MAIL}{headers}\r\nsome words\r\n").into_bytes()
}

/// A book whose list of contents names one chapter so many times.
fn book(times: usize, chapter: &Deflated) -> Vec<u8> {
    let spine = r#"<itemref idref="c"/>"#.repeat(times);
    let package = format!(
        r#"<package xmlns="http://www.idpf.org/2007/opf"><metadata/><manifest><item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest><spine>{spine}</spine></package>"#
    );
    let container = r#"<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"#;
    Archive::new()
        .store("mimetype", b"application/epub+zip")
        .store("META-INF/container.xml", container.as_bytes())
        .store("book.opf", package.as_bytes())
        .deflate("c.xhtml", chapter)
        .finish()
}

fn book_of_one_chapter() -> Vec<u8> {
    let text = "<p>some words</p>".repeat(1000);
    book(
        100_000,
        &Deflated::new()
            .add(b"<html><body>")
            .repeat(text.as_bytes(), 50),
    )
}

fn book_of_one_text() -> Vec<u8> {
    let text = "<p>some words</p>".repeat(60_000);
    book(
        1,
        &Deflated::new()
            .add(b"<html><body>")
            .repeat(text.as_bytes(), 400),
    )
}

fn archives() -> Vec<u8> {
    let mut inner = Deflated::new().repeat(&[0; 1 << 20], 100);
    for level in 0..5 {
        let mut archive = Archive::new();
        for number in 0..10 {
            archive = archive.deflate(&format!("{level}-{number}.zip"), &inner);
        }
        inner = Deflated::new().add(&archive.finish());
    }
    Archive::new().deflate("a.zip", &inner).finish()
}
