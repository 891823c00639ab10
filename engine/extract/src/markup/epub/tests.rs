use proptest::prelude::*;

use super::*;
use crate::package::test_files::package;

const CONTAINER: &str = "<container><rootfiles><rootfile full-path='OPS/book.opf' \
    media-type='application/oebps-package+xml'/></rootfiles></container>";
const METADATA: &str = "<metadata xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:title>The Sea</dc:title>\
    <dc:creator>Ada Writer</dc:creator><dc:creator>B. Person</dc:creator><dc:language>en</dc:language>\
    <dc:date>2024-05-06</dc:date><dc:subject>tides</dc:subject><dc:subject>moon</dc:subject>\
    <dc:description>&lt;p&gt;About &amp;amp; around&lt;/p&gt;</dc:description>\
    <meta property='dcterms:modified'>2024-06-07T00:00:00Z</meta></metadata>";

/// A book with these pages in its spine, `c1.xhtml` and further, and parts beside them.
fn book(chapters: &[&str], manifest: &str, spine: &str, others: &[(&str, &str)]) -> Vec<u8> {
    let items: String = (1..=chapters.len())
        .map(|n| {
            format!(
                "<item id='c{n}' href='text/c%20{n}.xhtml' media-type='application/xhtml+xml'/>"
            )
        })
        .collect();
    let refs: String = (1..=chapters.len())
        .map(|n| format!("<itemref idref='c{n}'/>"))
        .collect();
    let opf = format!(
        "<package>{METADATA}<manifest>{items}{manifest}</manifest><spine>{refs}{spine}</spine></package>"
    );
    let mut parts = vec![
        ("mimetype".to_owned(), MEDIA_TYPE.to_owned()),
        ("META-INF/container.xml".to_owned(), CONTAINER.to_owned()),
        ("OPS/book.opf".to_owned(), opf),
    ];
    for (number, chapter) in (1..).zip(chapters) {
        let page = format!(
            "<?xml version='1.0'?><html><head><title/></head><body>{chapter}</body></html>"
        );
        parts.push((format!("OPS/text/c {number}.xhtml"), page));
    }
    parts.extend(
        others
            .iter()
            .map(|(name, text)| (name.to_string(), text.to_string())),
    );
    let parts: Vec<(&str, &str)> = parts
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect();
    package(&parts)
}

fn outline(extracted: &Extracted) -> Vec<(u8, &str, u32)> {
    let headings = extracted.outline.iter();
    headings
        .map(|heading| (heading.level, heading.title.as_str(), heading.line))
        .collect()
}

#[test]
fn chapters_become_text_in_order_with_headings_and_facts() {
    let bytes = book(
        &[
            "<h1>One</h1><p>First <br/>words</p><script src='a.js'/><h2>Inner</h2><p>x</p>",
            "<h1>Two</h1>",
        ],
        "",
        "",
        &[],
    );
    let found = extract(&bytes).unwrap();
    let text = found.text.as_deref().unwrap();
    assert_eq!(text, "One\n\nFirst\nwords\n\nInner\n\nx\n\nTwo\n\n");
    assert_eq!(
        outline(&found),
        [(1, "One", 1), (2, "Inner", 6), (1, "Two", 10)]
    );
    for heading in &found.outline {
        assert!(text[heading.start as usize..].starts_with(&heading.title));
    }
    assert_eq!(found.title.as_deref(), Some("The Sea"));
    let pairs: Vec<(&str, &str)> = found
        .metadata
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect();
    for pair in [
        ("author", "Ada Writer, B. Person"),
        ("language", "en"),
        ("created", "2024-05-06"),
        ("modified", "2024-06-07T00:00:00Z"),
        ("keywords", "tides, moon"),
        ("description", "About & around"),
    ] {
        assert!(pairs.contains(&pair), "{pair:?} in {pairs:?}");
    }
}

#[test]
fn the_table_of_contents_names_and_ranks_chapters() {
    let chapters = [
        "<p>No heading</p>",
        "<h1>Two</h1><h2>Deep</h2>",
        "<h1>Notes</h1>",
        "",
    ];
    let navigation = "<html><nav epub:type='landmarks'><ol><li><a href='text/c%201.xhtml'>Cover</a></li></ol></nav>\
        <nav epub:type='toc'><ol><li><a href='text/c%201.xhtml#a'>Part <b>I</b></a><ol>\
        <li><a href='text/c%202.xhtml'>Chapter 2</a></li></ol></li></ol></nav></html>";
    let manifest =
        "<item id='nav' href='nav.xhtml' properties='nav' media-type='application/xhtml+xml'/>";
    let bytes = book(
        &chapters,
        manifest,
        "<itemref idref='nav'/>",
        &[("OPS/nav.xhtml", navigation)],
    );
    let expected = [
        (1, "Part I", 1),
        (2, "Two", 3),
        (3, "Deep", 5),
        (2, "Notes", 7),
    ];
    assert_eq!(outline(&extract(&bytes).unwrap()), expected);
    let ncx = "<ncx><docTitle><text>The Sea</text></docTitle><navMap><navPoint><navLabel><text>Part I</text></navLabel>\
        <content src='text/c%201.xhtml'/><navPoint><navLabel><text>Chapter 2</text></navLabel>\
        <content src='text/c%202.xhtml#x'/></navPoint></navPoint></navMap></ncx>";
    let manifest = "<item id='n' href='toc.ncx' media-type='application/x-dtbncx+xml'/>";
    let bytes = book(&chapters, manifest, "", &[("OPS/toc.ncx", ncx)]);
    assert_eq!(outline(&extract(&bytes).unwrap()), expected);
}

#[test]
fn protected_chapters_are_encrypted_and_disguised_fonts_are_not() {
    let encryption = |algorithm: &str, part: &str| {
        format!(
            "<encryption><enc:EncryptedData><enc:EncryptionMethod Algorithm='{algorithm}'/><enc:CipherData>\
             <enc:CipherReference URI='{part}'/></enc:CipherData></enc:EncryptedData></encryption>"
        )
    };
    let aes = "http://www.w3.org/2001/04/xmlenc#aes256-cbc";
    let font = "http://www.idpf.org/2008/embedding";
    for (algorithm, part, is_readable) in [
        (font, "OPS/font.otf", true),
        (aes, "OPS/picture.png", true),
        (aes, "OPS/text/c%201.xhtml", false),
    ] {
        let others = [("META-INF/encryption.xml", &*encryption(algorithm, part))];
        let read = extract(&book(&["<p>a</p>"], "", "", &others));
        if is_readable {
            assert_eq!(read.unwrap().text.as_deref(), Some("a\n\n"));
        } else {
            assert_eq!(read.unwrap_err(), SkipReason::Encrypted(FORMAT));
        }
    }
}

#[test]
fn broken_books_have_their_answers() {
    // Chapters twice and in circles, missing and unknown.
    let manifest = "<item id='gone' href='gone.xhtml'/><item id='opf' href='book.opf'/>";
    let spine = "<itemref idref='c1'/><itemref idref='gone'/><itemref idref='none'/><itemref/>"
        .repeat(1000);
    let found = extract(&book(&["<p>once</p>"], manifest, &spine, &[])).unwrap();
    assert_eq!(found.text.as_deref(), Some("once\n\n"));
    let damaged = |what: &'static str| SkipReason::damaged(FORMAT, what);
    for (parts, reason) in [
        (
            &[("mimetype", MEDIA_TYPE)][..],
            "it names no package document",
        ),
        (
            &[("META-INF/container.xml", CONTAINER)][..],
            "its package document is missing",
        ),
        (
            &[
                ("META-INF/container.xml", CONTAINER),
                ("OPS/book.opf", "<package/>"),
            ][..],
            "none of its chapters can be read",
        ),
    ] {
        assert_eq!(extract(&package(parts)).unwrap_err(), damaged(reason));
    }
    let whole = book(&["<p>a</p>"], "", "", &[]);
    for end in 0..whole.len() {
        let _ = extract(&whole[..end]);
    }
}

proptest! {
    #[test]
    fn any_change_of_a_book_gives_a_document_or_a_reason(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let mut bytes = book(&["<h1>One</h1><p>a</p>", "<p>b</p>"], "", "", &[]);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = extract(&bytes);
    }
}
