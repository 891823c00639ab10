use proptest::prelude::*;

use super::*;
use crate::outlook::compressed_rtf::tests::stored;
use crate::package::test_files::compound_tree;

/// Nodes of a compound file: the storage that each is in, its name, what it holds.
type Nodes = Vec<(usize, String, Option<Vec<u8>>)>;

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn add(
    nodes: &mut Nodes,
    storage: usize,
    property: u16,
    kind: u16,
    value: Option<Vec<u8>>,
) -> usize {
    nodes.push((
        storage,
        format!("__substg1.0_{property:04X}{kind:04X}"),
        value,
    ));
    nodes.len()
}

fn add_text(nodes: &mut Nodes, storage: usize, property: u16, text: &str) {
    add(nodes, storage, property, WIDE, Some(wide(text)));
}

fn add_storage(nodes: &mut Nodes, storage: usize, name: &str) -> usize {
    nodes.push((storage, name.to_owned(), None));
    nodes.len()
}

/// The list of values behind a header of that length.
fn add_values(nodes: &mut Nodes, storage: usize, header: usize, values: &[(u16, u64)]) {
    let mut list = vec![0; header];
    for (property, value) in values {
        list.extend([3, 0]);
        list.extend(property.to_le_bytes());
        list.extend([0; 4]);
        list.extend(value.to_le_bytes());
    }
    nodes.push((storage, PROPERTIES.to_owned(), Some(list)));
}

fn file(nodes: &Nodes) -> Vec<u8> {
    let nodes: Vec<(usize, &str, Option<Vec<u8>>)> = nodes
        .iter()
        .map(|(storage, name, value)| (*storage, name.as_str(), value.clone()))
        .collect();
    compound_tree(&nodes)
}

/// 6 May 2024, 10:20:30, in Windows' time.
const TIME: u64 = (1_714_990_830 + 11_644_473_600) * 10_000_000;

/// A message with a subject and a text.
pub(crate) fn msg(subject: &str, body: &str) -> Vec<u8> {
    let mut nodes = Nodes::new();
    add_values(&mut nodes, 0, 32, &[]);
    add_text(&mut nodes, 0, SUBJECT, subject);
    add_text(&mut nodes, 0, BODY, body);
    file(&nodes)
}

fn full() -> Nodes {
    let mut nodes = Nodes::new();
    let list = &mut nodes;
    add_values(list, 0, 32, &[(SUBMITTED, TIME), (CODE_PAGE, 1251)]);
    add_text(list, 0, SUBJECT, "Tides \u{20ac}");
    add_text(list, 0, CLASS, "IPM.Note");
    // In the code page of the message.
    add(list, 0, SENDER_NAME, NARROW, Some(b"\xc0\xe4\xe0".to_vec()));
    add_text(list, 0, SENDER_ADDRESS, "/O=ORG/CN=ADA");
    add_text(list, 0, SENDER_SMTP, "ada@example.org");
    add_text(list, 0, BODY, "High water at noon.\r\nBring rope.");
    add(list, 0, PAGE, BINARY, Some(b"<p>page".to_vec()));
    for (number, (name, address, kind)) in [
        ("Bo", "bo@example.org", 1),
        ("di@example.org", "di@example.org", 2),
        ("Eve", "eve@example.org", 3),
    ]
    .into_iter()
    .enumerate()
    {
        let recipient = add_storage(list, 0, &format!("__recip_version1.0_#{number:08X}"));
        add_values(list, recipient, 8, &[(RECIPIENT_KIND, kind)]);
        add_text(list, recipient, NAME, name);
        add_text(list, recipient, SMTP_ADDRESS, address);
    }
    let attach = |list: &mut Nodes, number: usize, method: u64| {
        let attachment = add_storage(list, 0, &format!("__attach_version1.0_#{number:08X}"));
        add_values(
            list,
            attachment,
            8,
            &[(ATTACH_METHOD, method), (ATTACH_FLAGS, 4)],
        );
        attachment
    };
    let table = attach(list, 0, 1);
    add_text(list, table, FILE_NAME, "table.csv");
    add(list, table, DATA, BINARY, Some(b"a,b\n".to_vec()));
    let report = attach(list, 1, 1);
    add_text(list, report, SHORT_FILE_NAME, "REPORT.PDF");
    add(list, report, DATA, BINARY, Some(b"%PDF".to_vec()));
    let picture = attach(list, 2, 1);
    add_text(list, picture, FILE_NAME, "logo.png");
    add_text(list, picture, CONTENT_ID, "logo");
    let inner = attach(list, 3, 5);
    let message = add(list, inner, DATA, OBJECT, None);
    add_values(list, message, 24, &[]);
    add_text(list, message, SUBJECT, "Inner");
    add_text(list, message, SHOWN_TO, "Flo; Gus");
    add(
        list,
        message,
        PAGE,
        BINARY,
        Some(b"<p>Inner <b>words</b><p hidden>no".to_vec()),
    );
    nodes
}

#[test]
fn a_message_has_its_header_text_and_attachments() {
    let found = extract(&file(&full())).unwrap();
    assert_eq!(
        found.text.as_deref(),
        Some(
            "Tides \u{20ac}\n\nFrom: \u{410}\u{434}\u{430} <ada@example.org>\nTo: Bo <bo@example.org>\n\
             Cc: di@example.org\nDate: 2024-05-06T10:20:30Z\n\nHigh water at noon.\r\nBring rope.\n\n\
             table.csv\n\na,b\n\nInner\n\nTo: Flo; Gus\n\nInner words\n\n\
             Attachments:\n- table.csv (text/csv)\n- REPORT.PDF (application/pdf)\n\n"
        )
    );
    assert_eq!(found.title.as_deref(), Some("Tides \u{20ac}"));
    let outline: Vec<(u8, &str)> = found
        .outline
        .iter()
        .map(|heading| (heading.level, heading.title.as_str()))
        .collect();
    assert_eq!(
        outline,
        [(1, "Tides \u{20ac}"), (2, "table.csv"), (2, "Inner")]
    );
    let pairs = [
        ("author", "\u{410}\u{434}\u{430} <ada@example.org>"),
        ("to", "Bo <bo@example.org>"),
        ("cc", "di@example.org"),
        ("created", "2024-05-06T10:20:30Z"),
    ];
    let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(found.metadata, pairs);
}

#[test]
fn of_the_forms_of_a_text_the_first_with_words_is_read() {
    let rich = stored(
        b"{\\rtf1\\ansi\\fromhtml1{\\*\\htmltag64 <p>}Rich \\'e9{\\*\\htmltag72 </p>}\\par}",
    );
    for (values, text) in [
        (
            vec![
                (BODY, WIDE, wide("plain")),
                (PAGE, BINARY, b"<p>page".to_vec()),
            ],
            "plain\n\n",
        ),
        (
            vec![
                (BODY, WIDE, wide(" \r\n")),
                (PAGE, BINARY, b"<p>page".to_vec()),
            ],
            "page\n\n",
        ),
        (vec![(PAGE, WIDE, wide("<p>page"))], "page\n\n"),
        (vec![(PAGE, BINARY, b"<p>\xe9".to_vec())], "\u{e9}\n\n"),
        (
            vec![
                (PAGE, BINARY, b"<p> ".to_vec()),
                (RTF, BINARY, rich.clone()),
            ],
            "Rich \u{e9}\n\n",
        ),
        (vec![(RTF, BINARY, rich)], "Rich \u{e9}\n\n"),
        (vec![(RTF, BINARY, b"not compressed at all".to_vec())], ""),
        (vec![], ""),
    ] {
        let mut nodes = Nodes::new();
        add_values(&mut nodes, 0, 32, &[(PAGE_CODE_PAGE, 1252)]);
        for (property, kind, value) in values {
            add(&mut nodes, 0, property, kind, Some(value));
        }
        let found = extract(&file(&nodes)).unwrap();
        assert_eq!(found.text.as_deref(), Some(text));
    }
}

#[test]
fn sealed_empty_and_endless_messages_have_their_answers() {
    let mut sealed = Nodes::new();
    add_text(&mut sealed, 0, CLASS, "IPM.Note.SMIME");
    assert_eq!(
        extract(&file(&sealed)).unwrap_err(),
        SkipReason::Encrypted(FORMAT)
    );
    let reason = extract(&file(&Nodes::new())).unwrap_err().to_string();
    assert_eq!(reason, "damaged (Outlook message): it has no properties");

    // Messages inside each other, deeper than any program writes.
    let mut deep = Nodes::new();
    let mut storage = 0;
    for _ in 0..MAX_DEPTH + 2 {
        let attachment = add_storage(&mut deep, storage, "__attach_version1.0_#00000000");
        add_values(&mut deep, attachment, 8, &[(ATTACH_METHOD, 5)]);
        storage = add(&mut deep, attachment, DATA, OBJECT, None);
    }
    let reason = extract(&file(&deep)).unwrap_err();
    assert!(matches!(reason, SkipReason::Limit { .. }), "{reason}");

    // A storage that is inside itself, many times: it is read once.
    let mut bytes = file(&full());
    let name: Vec<u8> = wide("__attach_version1.0_#00000003");
    let at = bytes
        .windows(name.len())
        .position(|window| window == name)
        .unwrap();
    bytes[at + 76..at + 80].copy_from_slice(&1u32.to_le_bytes());
    let _ = extract(&bytes);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn changed_messages_give_a_document_or_a_reason(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let mut bytes = file(&full());
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = extract(&bytes);
    }
}
