//! Constructs of OpenDocument and EPUB.

use super::{Kind, check_kind, owned};

fn odf(kind: &str, around: [&str; 2]) -> Vec<(String, String)> {
    let [open, close] = around;
    vec![
        ("mimetype".to_owned(), format!("application/vnd.oasis.opendocument.{kind}")),
        (
            "content.xml".to_owned(),
            format!("<office:document-content><office:automatic-styles>{{STYLES}}</office:automatic-styles><office:body>\
                {open}{{PIECES}}{close}</office:body></office:document-content>"),
        ),
        ("styles.xml".to_owned(), "<office:document-styles><office:styles>{PIECES}</office:styles></office:document-styles>".to_owned()),
        ("meta.xml".to_owned(), "<office:document-meta><office:meta>{PIECES}</office:meta></office:document-meta>".to_owned()),
    ]
}

const ODT: Kind = Kind {
    file: "a.odt",
    parts: || odf("text", ["<office:text>", "</office:text>"]),
    constructs: &[
        ("content", "<text:p>a", "</text:p>"),
        ("content", "<text:span>a", "</text:span>"),
        ("content", "<text:h text:outline-level='1'>a", "</text:h>"),
        (
            "content",
            "<text:list><text:list-item><text:p>a</text:p>",
            "</text:list-item></text:list>",
        ),
        (
            "content",
            "<text:list text:style-name='L{n}' text:continue-numbering='true'><text:list-item><text:p>a</text:p>",
            "</text:list-item></text:list>",
        ),
        (
            "content",
            "<text:list xml:id='l{n}' text:continue-list='l{p}'><text:list-item><text:p>a</text:p>",
            "</text:list-item></text:list>",
        ),
        (
            "content",
            "<table:table><table:table-row><table:table-cell><text:p>a</text:p>",
            "</table:table-cell></table:table-row></table:table>",
        ),
        (
            "content",
            "<table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>",
            "</table:table-row>",
        ),
        (
            "content",
            "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>a</text:p>",
            "</text:note-body></text:note>",
        ),
        (
            "content",
            "<draw:frame><draw:text-box><text:p>a</text:p>",
            "</draw:text-box></draw:frame>",
        ),
        (
            "content",
            "<office:annotation><text:p>a</text:p>",
            "</office:annotation>",
        ),
        (
            "content",
            "<text:tracked-changes><text:changed-region>",
            "</text:changed-region></text:tracked-changes>",
        ),
        ("content", "<text:s text:c='9'/>", ""),
        ("content", "<text:tab/>", ""),
        ("content", "<text:soft-page-break/>", ""),
        ("content", "<text:p text:style-name='s{n}'>a", "</text:p>"),
        ("content", "<text:section>", "</text:section>"),
        (
            "styles",
            "<style:style style:name='s{n}' style:parent-style-name='s{p}'>",
            "</style:style>",
        ),
        (
            "styles",
            "<text:list-style style:name='L{n}'><text:list-level-style-number text:level='{n}' style:num-format='1'/>",
            "</text:list-style>",
        ),
        ("meta", "<dc:title>a", "</dc:title>"),
        ("meta", "<meta:keyword>a", "</meta:keyword>"),
    ],
};

const ODP: Kind = Kind {
    file: "a.odp",
    parts: || {
        odf(
            "presentation",
            ["<office:presentation>", "</office:presentation>"],
        )
    },
    constructs: &[
        (
            "content",
            "<draw:page draw:name='a{n}'><draw:frame><draw:text-box><text:p>a</text:p></draw:text-box></draw:frame>",
            "</draw:page>",
        ),
        ("content", "<draw:page>", "</draw:page>"),
        (
            "content",
            "<draw:page><draw:frame presentation:class='title'><text:p>a",
            "</text:p></draw:frame></draw:page>",
        ),
        (
            "content",
            "<draw:frame><draw:text-box><text:p>a",
            "</text:p></draw:text-box></draw:frame>",
        ),
        ("content", "<draw:g>", "</draw:g>"),
        (
            "content",
            "<text:list><text:list-item><text:p>a</text:p>",
            "</text:list-item></text:list>",
        ),
        (
            "content",
            "<presentation:notes><text:p>a",
            "</text:p></presentation:notes>",
        ),
    ],
};

const ODS: Kind = Kind {
    file: "a.ods",
    parts: || {
        odf(
            "spreadsheet",
            ["<office:spreadsheet>", "</office:spreadsheet>"],
        )
    },
    constructs: &[
        (
            "content",
            "<table:table table:name='a{n}'>",
            "</table:table>",
        ),
        (
            "content",
            "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row>",
            "</table:table>",
        ),
        (
            "content",
            "<table:table-row><table:table-cell office:value-type='float' office:value='1'><text:p>1</text:p></table:table-cell>",
            "</table:table-row>",
        ),
        (
            "content",
            "<table:table-cell><text:p>a",
            "</text:p></table:table-cell>",
        ),
        (
            "content",
            "<table:table-cell table:number-columns-repeated='3'><text:p>a",
            "</text:p></table:table-cell>",
        ),
        (
            "content",
            "<table:table-row table:number-rows-repeated='3'><table:table-cell/>",
            "</table:table-row>",
        ),
        ("content", "<text:p>a<text:span>b</text:span>", "</text:p>"),
        ("content", "<table:covered-table-cell/>", ""),
        (
            "content",
            "<office:annotation><text:p>a</text:p>",
            "</office:annotation>",
        ),
        (
            "content",
            "<table:table-header-rows>",
            "</table:table-header-rows>",
        ),
    ],
};

pub(super) fn epub() -> Vec<(String, String)> {
    owned(&[
        ("mimetype", "application/epub+zip"),
        (
            "META-INF/container.xml",
            "<container><rootfiles><rootfile full-path='book.opf' media-type='application/oebps-package+xml'/></rootfiles></container>",
        ),
        (
            "book.opf",
            "<package><metadata><dc:title>T</dc:title></metadata><manifest><item id='toc' href='toc.ncx' \
             media-type='application/x-dtbncx+xml'/><item id='c0' href='c0.xhtml' media-type='application/xhtml+xml'/>\
             {MANIFEST}</manifest><spine toc='toc'><itemref idref='c0'/>{PIECES}</spine></package>",
        ),
        ("toc.ncx", "<ncx><navMap>{PIECES}</navMap></ncx>"),
        (
            "c0.xhtml",
            "<?xml version='1.0'?><html><body>{PIECES}</body></html>",
        ),
    ])
}

const EPUB: Kind = Kind {
    file: "a.epub",
    parts: epub,
    constructs: &[
        ("book", "<itemref idref='c0'/>", ""),
        ("book", "<itemref idref='c{n}'/>", ""),
        ("book", "<item id='c{n}' href='c{n}.xhtml'/>", ""),
        ("book", "<dc:creator>a", "</dc:creator>"),
        (
            "toc",
            "<navPoint><navLabel><text>a</text></navLabel><content src='c0.xhtml'/>",
            "</navPoint>",
        ),
        (
            "toc",
            "<navPoint><navLabel><text>a</text></navLabel><content src='c0.xhtml#a{n}'/>",
            "</navPoint>",
        ),
        ("c0", "<h1 id='a{n}'>a", "</h1>"),
        ("c0", "<p id='a{n}'>a", "</p>"),
        ("c0", "<div>", "</div>"),
        ("c0", "<a id='a{n}'/>", ""),
    ],
};

#[test]
fn open_documents_are_read_in_linear_time() {
    check_kind(&ODT);
    check_kind(&ODP);
    check_kind(&ODS);
}

#[test]
fn books_are_read_in_linear_time() {
    check_kind(&EPUB);
}
