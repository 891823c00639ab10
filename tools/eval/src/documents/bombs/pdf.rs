//! Malicious PDF files.

use super::archive::Deflated;
use super::bomb::Bomb;

pub(super) const BOMBS: &[Bomb] = &[
    Bomb::new("300 000 nested arrays in a page", "a.pdf", nested_arrays),
    Bomb::new(
        "300 000 nested dictionaries in a page",
        "a.pdf",
        nested_dictionaries,
    )
    .long(),
    Bomb::new("bookmarks in a circle", "a.pdf", outline_cycle),
    Bomb::new("bookmarks 100 000 deep", "a.pdf", deep_outline).long(),
    Bomb::new("400 MB of content in 400 KB", "a.pdf", flate_bomb).long(),
    Bomb::new(
        "2 GB of content, deflated twice",
        "a.pdf",
        nested_flate_bomb,
    )
    .long(),
    Bomb::new("forms that draw forms, 4^25 times", "a.pdf", forms).long(),
    Bomb::new("a form that draws itself", "a.pdf", form_cycle),
    Bomb::new("pages in a circle", "a.pdf", page_cycle),
    Bomb::new("/Count 2147483648", "a.pdf", count),
    Bomb::new("a million q", "a.pdf", saved_states),
    Bomb::new("matrices that are no numbers", "a.pdf", not_numbers),
    Bomb::new("no pages", "a.pdf", no_pages),
    Bomb::new("cross references in a circle", "a.pdf", reference_cycle),
    Bomb::new("a length that is its own length", "a.pdf", length_cycle),
    Bomb::new("10 000 pages without text", "a.pdf", many_pages).long(),
];

/// A file of objects, numbered from 1; the first is the catalog.
fn file(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.7\n".to_vec();
    let mut offsets = Vec::new();
    for (number, object) in (1..).zip(objects) {
        offsets.push(bytes.len());
        bytes.extend(format!("{number} 0 obj\n").as_bytes());
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    let start = bytes.len();
    let count = objects.len() + 1;
    bytes.extend(format!("xref\n0 {count}\n0000000000 65535 f \n").as_bytes());
    for offset in offsets {
        bytes.extend(format!("{offset:010} 00000 n \n").as_bytes());
    }
    let trailer = format!("trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n");
    bytes.extend(trailer.as_bytes());
    bytes
}

fn stream(entries: &str, content: &[u8]) -> Vec<u8> {
    let start = format!("<< {entries} /Length {} >>\nstream\n", content.len());
    [start.as_bytes(), content, b"\nendstream"].concat()
}

const CATALOG: &[u8] = b"<< /Type /Catalog /Pages 2 0 R >>";
const PAGES: &[u8] = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>";
const FONT: &str = "/Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>";
const TEXT: &[u8] = b"BT /F 12 Tf 72 700 Td (some words) Tj ET";

/// A page whose content is object 4.
fn page(more: &str) -> Vec<u8> {
    format!(
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R \
         /Resources << {FONT} >> {more} >>"
    )
    .into_bytes()
}

/// One page with such a content.
fn of_content(content: Vec<u8>) -> Vec<u8> {
    file(&[CATALOG.to_vec(), PAGES.to_vec(), page(""), content])
}

fn with_entry(entry: &str) -> Vec<u8> {
    file(&[
        CATALOG.to_vec(),
        PAGES.to_vec(),
        page(entry),
        stream("", TEXT),
    ])
}

fn nested_arrays() -> Vec<u8> {
    with_entry(&format!(
        "/X {}{}",
        "[".repeat(300_000),
        "]".repeat(300_000)
    ))
}

fn nested_dictionaries() -> Vec<u8> {
    with_entry(&format!(
        "/X {}null{}",
        "<< /X ".repeat(300_000),
        ">>".repeat(300_000)
    ))
}

fn with_outline(items: impl Iterator<Item = String>) -> Vec<u8> {
    let catalog = b"<< /Type /Catalog /Pages 2 0 R /Outlines 5 0 R >>".to_vec();
    let mut objects = vec![
        catalog,
        PAGES.to_vec(),
        page(""),
        stream("", TEXT),
        b"<< /Type /Outlines /First 6 0 R /Last 6 0 R /Count 1 >>".to_vec(),
    ];
    objects.extend(items.map(String::into_bytes));
    file(&objects)
}

fn outline_cycle() -> Vec<u8> {
    let item = |title: &str, next: u32| {
        format!(
            "<< /Title ({title}) /Parent 5 0 R /First 6 0 R /Next {next} 0 R /Dest [3 0 R /Fit] >>"
        )
    };
    with_outline([item("one", 7), item("two", 6)].into_iter())
}

fn deep_outline() -> Vec<u8> {
    let item = |number: u32| {
        format!(
            "<< /Title (bookmark {number}) /Parent {} 0 R /First {} 0 R /Dest [3 0 R /Fit] >>",
            number + 5,
            number + 7
        )
    };
    with_outline((0..100_000).map(item))
}

fn flate_bomb() -> Vec<u8> {
    let content = Deflated::new().add(TEXT).repeat(&[b' '; 1 << 20], 400);
    of_content(stream("/Filter /FlateDecode", &content.zlib()))
}

fn nested_flate_bomb() -> Vec<u8> {
    let inner = Deflated::new().add(TEXT).repeat(&[b' '; 1 << 20], 2000);
    let outer = Deflated::new().add(&inner.zlib());
    of_content(stream("/Filter [/FlateDecode /FlateDecode]", &outer.zlib()))
}

fn forms() -> Vec<u8> {
    let page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R \
        /Resources << /XObject << /X 5 0 R >> >> >>"
        .to_vec();
    let mut objects = vec![CATALOG.to_vec(), PAGES.to_vec(), page, stream("", b"/X Do")];
    for level in 0..25 {
        let entries = format!(
            "/Type /XObject /Subtype /Form /BBox [0 0 612 792] \
             /Resources << /XObject << /X {} 0 R >> >>",
            level + 6
        );
        objects.push(stream(&entries, b"/X Do /X Do /X Do /X Do"));
    }
    let last = format!("/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << {FONT} >>");
    objects.push(stream(&last, TEXT));
    file(&objects)
}

fn form_cycle() -> Vec<u8> {
    let page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R \
        /Resources << /XObject << /X 5 0 R >> >> >>"
        .to_vec();
    let form = "/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /XObject << /X 5 0 R >> >>";
    file(&[
        CATALOG.to_vec(),
        PAGES.to_vec(),
        page,
        stream("", b"/X Do"),
        stream(form, b"/X Do /X Do"),
    ])
}

fn page_cycle() -> Vec<u8> {
    let pages = b"<< /Type /Pages /Kids [3 0 R 2 0 R 2 0 R] /Count 3 /Parent 2 0 R >>".to_vec();
    file(&[CATALOG.to_vec(), pages, page(""), stream("", TEXT)])
}

fn count() -> Vec<u8> {
    let pages = b"<< /Type /Pages /Kids [3 0 R] /Count 2147483648 >>".to_vec();
    file(&[CATALOG.to_vec(), pages, page(""), stream("", TEXT)])
}

fn saved_states() -> Vec<u8> {
    of_content(stream(
        "",
        &[b"q ".repeat(1_000_000).as_slice(), TEXT].concat(),
    ))
}

fn not_numbers() -> Vec<u8> {
    let content = [
        b"nan nan nan nan nan nan cm 1e999 0 0 -1e999 1e308 1e308 cm ".as_slice(),
        b"0 0 0 0 0 0 cm BT /F nan Tf 1e999 0 0 0 0 0 Tm (words) Tj 99999999999999999999 Td ",
        b"(more) Tj 0 0 0 0 0 0 Tm (words) Tj ET",
    ];
    of_content(stream("", &content.concat()))
}

fn no_pages() -> Vec<u8> {
    file(&[
        CATALOG.to_vec(),
        b"<< /Type /Pages /Kids [] /Count 0 >>".to_vec(),
    ])
}

fn reference_cycle() -> Vec<u8> {
    let mut bytes = file(&[CATALOG.to_vec(), PAGES.to_vec(), page(""), stream("", TEXT)]);
    let start = bytes
        .windows(5)
        .rposition(|it| it == b"xref\n")
        .unwrap_or(0);
    let table = bytes
        .windows(5)
        .position(|it| it == b"xref\n")
        .unwrap_or(start);
    let end = bytes
        .windows(7)
        .rposition(|it| it == b"trailer")
        .unwrap_or(start);
    bytes.truncate(end);
    let trailer = format!(
        "trailer\n<< /Size 5 /Root 1 0 R /Prev {table} /XRefStm {table} >>\nstartxref\n{table}\n%%EOF\n"
    );
    bytes.extend(trailer.as_bytes());
    bytes
}

fn length_cycle() -> Vec<u8> {
    let content = [b"<< /Length 4 0 R >>\nstream\n", TEXT, b"\nendstream"].concat();
    of_content(content)
}

fn many_pages() -> Vec<u8> {
    let kids: String = (0..10_000)
        .map(|number| format!("{} 0 R ", number + 3))
        .collect();
    let mut objects = vec![
        CATALOG.to_vec(),
        format!("<< /Type /Pages /Kids [{kids}] /Count 10000 >>").into_bytes(),
    ];
    let page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>";
    objects.extend((0..10_000).map(|_| page.to_vec()));
    file(&objects)
}
