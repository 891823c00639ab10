//! Constructs of binary formats.

#![cfg(all(feature = "office", feature = "pdf", feature = "sheets"))]

use super::{Construct, check, repeated};
use crate::package::test_files::{compound_file, compound_file_with};
use crate::pdf::tests::{at, file, stream, with_objects};
use crate::sheets::xls::tests::{label, record, xls};
use crate::slides::tests::{deck_of, record as ppt_record};
use crate::word::tests::doc_with;

/// So many of something.
fn of(count: usize, make: impl Fn(u32) -> Vec<u8>) -> Vec<u8> {
    (0..count as u32).flat_map(make).collect()
}

fn short(number: u32) -> [u8; 2] {
    (number as u16).to_le_bytes()
}

#[test]
fn binary_workbooks_are_read_in_linear_time() {
    let sheet = |name: &str, each: usize, cell: fn(u32) -> Vec<u8>| {
        Construct::new("a.xls", name, move |bytes| {
            let cells = (0..(bytes / each) as u32).map(cell).collect();
            xls(&[], &[("a", 0, cells)])
        })
    };
    let globals = |name: &str, each: usize, one: fn(u32) -> Vec<u8>| {
        Construct::new("a.xls", name, move |bytes| {
            let globals: Vec<Vec<u8>> = (0..(bytes / each) as u32).map(one).collect();
            xls(&globals, &[("a", 0, vec![label(0, 0, "a")])])
        })
    };
    let strings = |name: &str, each: usize, one: fn(u32) -> Vec<u8>| {
        Construct::new("a.xls", name, move |bytes| {
            let first = record(0xFC, &[0; 8]);
            let rest = (0..(bytes / each) as u32).map(|n| record(0x3C, &one(n)));
            let globals: Vec<Vec<u8>> = std::iter::once(first).chain(rest).collect();
            xls(&globals, &[("a", 0, vec![label(0, 0, "a")])])
        })
    };
    check(
        vec![
            sheet("rows", 20, |n| label(n as u16, 0, "ab")),
            sheet("columns", 20, |n| {
                label((n / 256) as u16, (n % 256) as u16, "ab")
            }),
            sheet("rows from the last to the first", 20, |n| {
                label(65_535 - n as u16, 0, "ab")
            }),
            sheet("cells at one place", 20, |_| label(0, 0, "ab")),
            sheet("numbers", 18, |n| {
                record(0x203, &[&[n as u8, 0, 0, 0, 0, 0][..], &[0; 8]].concat())
            }),
            sheet("numbers in a row", 18, |n| {
                record(
                    0xBD,
                    &[&[n as u8, 0, 0, 0][..], &[0, 0, 8, 0, 0, 0], &[0, 0]].concat(),
                )
            }),
            sheet("beginnings", 12, |_| {
                record(0x809, &[0, 6, 0x20, 0, 0, 0, 0, 0])
            }),
            sheet("ends", 4, |_| record(0x0A, &[])),
            sheet("formulas with texts", 40, |n| {
                let formula = record(
                    6,
                    &[
                        &[n as u8, 0, 0, 0, 0, 0][..],
                        &[0, 0, 0, 0, 0, 0, 0xFF, 0xFF],
                        &[0; 8],
                    ]
                    .concat(),
                );
                [formula, record(0x207, &[2, 0, 0, b'a', b'b'])].concat()
            }),
            sheet("unknown records", 4, |_| record(0x1234, &[])),
            globals("formats", 16, |n| {
                record(0x41E, &[&short(n)[..], &[4, 0, 0], b"0.00"].concat())
            }),
            globals("styles", 10, |n| {
                record(0xE0, &[&[0, 0][..], &short(n), &[0, 0]].concat())
            }),
            globals("sheets", 16, |n| {
                record(
                    0x85,
                    &[&(n % 4096).to_le_bytes()[..], &[0, 0, 3, 0], b"abc"].concat(),
                )
            }),
            globals("lists of shared strings", 20, |_| {
                record(0xFC, &[1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, b'a'])
            }),
            strings("shared strings, each in its record", 8, |_| {
                vec![1, 0, 0, b'a']
            }),
            strings("empty records of shared strings", 4, |_| vec![]),
            strings("shared strings cut in the middle", 8, |_| {
                vec![9, 0, 0, b'a']
            }),
            strings("shared strings with runs", 16, |_| {
                [&[1, 0, 8, 2, 0, b'a'][..], &[0; 8]].concat()
            }),
            strings("shared strings of UTF-16", 12, |_| {
                vec![2, 0, 1, b'a', 0, b'b', 0]
            }),
        ],
        48 << 10,
        768 << 10,
    );
}

#[test]
fn binary_documents_are_read_in_linear_time() {
    let text = |name: &str, piece: &'static str| {
        Construct::new("a.doc", name, move |bytes| {
            doc_with(repeated(piece, bytes).as_bytes(), "x\r", 0x200, &[], &[])
        })
    };
    let numbers =
        |numbers: Vec<u32>| -> Vec<u8> { numbers.into_iter().flat_map(u32::to_le_bytes).collect() };
    let listed = |name: &str, place: usize, each: usize| {
        Construct::new("a.doc", format!("{name} at {place:#x}"), move |bytes| {
            let count = bytes / each;
            let words = repeated("ab\u{2}\r", 4 * count);
            let kinds = [(0x50, 2 * count as u32)];
            // Places, and what is at each.
            let list = [
                numbers((0..=count as u32).map(|n| 4 * n).collect()),
                vec![1; count * 8],
            ]
            .concat();
            doc_with(words.as_bytes(), "x\r", 0x200, &kinds, &[(place, list)])
        })
    };
    let mut constructs = vec![
        text("paragraphs", "ab\r"),
        text("cells", "ab\u{7}"),
        text("rows", "ab\u{7}cd\u{7}\u{7}"),
        text("pages", "ab\u{c}"),
        text("fields", "\u{13}PAGE\u{14}1\u{15}"),
        text("fields that begin", "\u{13}"),
        text("fields that end", "\u{15}"),
        text("tabs", "\t"),
        text("notes", "\u{2}"),
        text("words", "word "),
    ];
    // Styles, notes, comments, text boxes, tables of places of paragraphs and characters.
    for place in [
        0xA2, 0xAA, 0xB2, 0xBA, 0xFA, 0x102, 0x10A, 0x20A, 0x212, 0x2A2,
    ] {
        constructs.push(listed("a list", place, 12));
    }
    constructs.push(Construct::new("a.doc", "compound file: streams", |bytes| {
        let names: Vec<String> = (0..bytes / 640).map(|n| format!("a{n}")).collect();
        let streams: Vec<(&str, Vec<u8>)> =
            names.iter().map(|name| (name.as_str(), vec![0])).collect();
        compound_file(&streams)
    }));
    constructs.push(Construct::new(
        "a.doc",
        "compound file: streams in storages",
        |bytes| {
            let names: Vec<String> = (0..bytes / 640).map(|n| format!("a{n}")).collect();
            let streams: Vec<(&str, Vec<u8>)> =
                names.iter().map(|name| (name.as_str(), vec![0])).collect();
            compound_file_with(&streams, 1)
        },
    ));
    check(constructs, 48 << 10, 768 << 10);
}

#[test]
fn binary_presentations_are_read_in_linear_time() {
    let slide = |name: &str, each: usize, one: fn(u32) -> Vec<u8>| {
        Construct::new("a.ppt", name, move |bytes| {
            deck_of(&of(bytes / each, one), &[])
        })
    };
    let listed = |name: &str, each: usize, one: fn(u32) -> Vec<u8>| {
        Construct::new("a.ppt", name, move |bytes| {
            deck_of(&[], &of(bytes / each, one))
        })
    };
    fn text(kind: u8) -> Vec<u8> {
        let kind = ppt_record(0, 0xF9F, &u32::from(kind).to_le_bytes());
        [kind, ppt_record(0, 0xFA8, b"a b")].concat()
    }
    check(
        vec![
            slide("texts", 23, |_| text(1)),
            slide("titles", 23, |_| text(0)),
            slide("wide texts", 12, |_| ppt_record(0, 0xFA0, b"a\0b\0")),
            slide("containers", 8, |_| ppt_record(0xF, 0xF00D, &[])),
            slide("containers that are cut", 8, |_| {
                [&ppt_record(0xF, 0xF00D, &[])[..4], &[0xFF, 0xFF, 0, 0]].concat()
            }),
            slide("unknown records", 8, |_| ppt_record(0, 0x123, &[])),
            slide("texts of the list", 12, |n| {
                ppt_record(0, 0xF9E, &n.to_le_bytes())
            }),
            listed("slides of one place", 28, |_| {
                ppt_record(
                    0,
                    0x3F3,
                    &[[2, 0, 0, 0], [0; 4], [0; 4], [0; 4], [0; 4]].concat(),
                )
            }),
            listed("slides of no place", 28, |n| {
                ppt_record(
                    0,
                    0x3F3,
                    &[n.to_le_bytes(), [0; 4], [0; 4], n.to_le_bytes(), [0; 4]].concat(),
                )
            }),
            listed("texts", 23, |_| text(1)),
        ],
        48 << 10,
        768 << 10,
    );
}

#[test]
fn pdf_documents_are_read_in_linear_time() {
    let page = |name: &str, piece: &'static str| {
        Construct::new("a.pdf", format!("page: {name}"), move |bytes| {
            let content = format!(
                "BT /F 10 Tf 1 0 0 1 50 700 Tm {} ET",
                repeated(piece, bytes)
            );
            with_objects(
                "",
                &[("", &content)],
                &[stream("/Type /XObject /Subtype /Form /BBox [0 0 1 1]", "")],
                "",
            )
        })
    };
    let drawn = |name: &str, each: usize, place: fn(u32) -> (u32, u32)| {
        Construct::new("a.pdf", format!("page: {name}"), move |bytes| {
            let lines = (0..(bytes / each) as u32).map(|n| {
                let (x, y) = place(n);
                at(x, y, "ab")
            });
            with_objects("", &[("", &lines.collect::<String>())], &[], "")
        })
    };
    let catalog =
        |name: &str, each: usize, entry: &'static str, one: &'static str, close: &'static str| {
            Construct::new("a.pdf", name, move |bytes| {
                let entry = entry.replace("{}", &repeated(one, bytes * one.len() / each)) + close;
                with_objects(&entry, &[("", "BT /F 10 Tf 50 700 Td (a) Tj ET")], &[], "")
            })
        };
    // Objects from 4 on, made of their number.
    let objects = |name: &str, each: usize, entry: &'static str, one: &'static str| {
        Construct::new("a.pdf", name, move |bytes| {
            let count = (bytes / each).max(2);
            let others: Vec<String> = (0..count)
                .map(|n| {
                    let (own, next) = ((n + 4).to_string(), (n + 5).to_string());
                    let next = if n + 1 == count {
                        "null".to_owned()
                    } else {
                        format!("{next} 0 R")
                    };
                    one.replace("{own}", &own).replace("{next}", &next)
                })
                .collect();
            let entry = entry.replace("{last}", &(count + 3).to_string());
            let pages = [(entry.as_str(), "BT /F 10 Tf 50 700 Td (a) Tj ET")];
            let catalog = entry.clone();
            with_objects(&catalog, &pages, &others, "")
        })
    };
    let pages = |name: &str, each: usize, content: &'static str| {
        Construct::new("a.pdf", name, move |bytes| {
            let pages = vec![("", content); (bytes / each).max(1)];
            with_objects("", &pages, &[], "")
        })
    };
    let constructs = vec![
        page("words", "(word) Tj "),
        page("words in an array", "[(ab) -300 (cd)] TJ "),
        page("lines", "0 -12 Td (word) Tj "),
        page("lines down and up", "0 -12 Td (word) Tj 0 12 Td "),
        page("fonts", "/F 9 Tf (a) Tj "),
        page("marked content", "/P BMC (a) Tj EMC "),
        page("marked content that begins", "/P BMC (a) Tj "),
        page("properties", "/Span << /ActualText (ab) >> BDC (a) Tj EMC "),
        page("saved states", "q "),
        page("restored states", "Q "),
        page("states", "q 1 0 0 1 1 1 cm Q "),
        page("forms", "/X Do "),
        page("arrays", "["),
        page("dictionaries", "<<"),
        page("strings", "("),
        page("numbers", "1 "),
        page("names", "/a "),
        page("clips", "0 0 9 9 re W n "),
        page("paths", "0 0 m 9 9 l S "),
        page("pictures", "BI /W 1 /H 1 /BPC 1 /CS /G ID \u{1} EI "),
        page("unknown operators", "abc "),
        page("comments", "% a\n"),
        page("spaces", " "),
        drawn("a column", 40, |n| (50, 790 - n % 780)),
        drawn("a row", 40, |n| (n % 590, 700)),
        drawn("a grid", 40, |n| (50 * (n % 11), 790 - 12 * (n / 11 % 60))),
        drawn("one place", 40, |_| (50, 700)),
        drawn("places all over", 40, |n| {
            (n * 7919 % 590, n * 104_729 % 790)
        }),
        drawn("two columns", 40, |n| {
            (50 + 300 * (n % 2), 790 - n / 2 % 780)
        }),
        catalog(
            "page labels",
            20,
            "/PageLabels << /Nums [",
            "{n} << /S /D >> ",
            "{}] >>",
        ),
        catalog(
            "destinations",
            20,
            "/Dests << ",
            "/a{n} [1 0 R /Fit] ",
            "{} >>",
        ),
        catalog("arrays in the catalog", 1, "/A {}", "[", ""),
        objects(
            "bookmarks",
            70,
            "/Outlines << /First 4 0 R /Last {last} 0 R >>",
            "<< /Title (a) /Dest [1 /Fit] /Next {next} >>",
        ),
        objects(
            "bookmarks inside each other",
            70,
            "/Outlines << /First 4 0 R /Last 4 0 R >>",
            "<< /Title (a) /Dest [1 /Fit] /First {next} /Last {next} >>",
        ),
        objects(
            "annotations of one page",
            90,
            "/Annots [4 0 R]",
            "<< /Type /Annot /Subtype /Text /Contents (a) /Rect [0 0 9 9] /Parent {next} >>",
        ),
        objects(
            "forms",
            90,
            "/AcroForm << /Fields [4 0 R] >>",
            "<< /FT /Tx /T (a) /V (b) /Kids [{next}] >>",
        ),
        objects("objects that nobody names", 20, "", "<< /A {next} >>"),
        pages("pages", 300, "BT /F 10 Tf 50 700 Td (word) Tj ET"),
        pages("empty pages", 250, ""),
        Construct::new("a.pdf", "characters of a font", |bytes| {
            let chars = repeated("<41> <0041>\n", bytes);
            let map = format!(
                "1 begincodespacerange <00> <ff> endcodespacerange\n9 beginbfchar\n{chars}endbfchar"
            );
            let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 5 0 R >>"
                .to_owned();
            let entries = "/Resources << /Font << /F 4 0 R >> >>";
            with_objects(
                "",
                &[(entries, "BT /F 10 Tf 50 700 Td (AAA) Tj ET")],
                &[font, stream("", &map)],
                "",
            )
        }),
        Construct::new("a.pdf", "objects without a table", |bytes| {
            let mut broken = file(&vec!["<< /A 1 >>".to_owned(); bytes / 30], "");
            broken.truncate(broken.len() - 40);
            broken
        }),
        Construct::new("a.pdf", "ends of objects", |bytes| {
            format!("%PDF-1.7\n{}", repeated("endobj\n", bytes)).into_bytes()
        }),
        Construct::new("a.pdf", "beginnings of objects", |bytes| {
            format!("%PDF-1.7\n{}", repeated("{n} 0 obj\n", bytes)).into_bytes()
        }),
        Construct::new("a.pdf", "beginnings of streams", |bytes| {
            format!(
                "%PDF-1.7\n{}",
                repeated("{n} 0 obj << /Length 9 >> stream\n", bytes)
            )
            .into_bytes()
        }),
    ];
    check(constructs, 24 << 10, 384 << 10);
}
