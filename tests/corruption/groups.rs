//! Symbol groups with wrong values, and document groups that change.

use std::path::Path;

use kb_engine::testing::container::{Container, Key};
use kb_engine::testing::store::decoder::decode_frame;
use kb_engine::{
    Kb, KbWriter, Mode, Progress, Request, SealOptions, Show, SymbolKind, SymbolsRequest,
    VerifyOptions,
};

use super::forgery::forge;
use super::records::blames_the_file;
use crate::support::registers::{FUNCTIONS, METHODS, registers};

/// A file of two programs, of which one has its symbols in groups.
fn file() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&path).expect("writer");
    writer
        .add_bytes("a.py", registers().as_bytes())
        .expect("document");
    writer
        .add_bytes("b.py", b"def moor(boat):\n    return boat\n")
        .expect("document");
    writer.commit().expect("commit");
    drop(writer);
    (folder, path)
}

/// The rows of groups: key and value.
fn groups(path: &Path) -> Vec<(u64, Vec<u8>)> {
    let container = Container::open(path).expect("it opens");
    let groups = container.read(|snapshot| {
        let table = snapshot.table("symbol_groups")?;
        let mut groups = Vec::new();
        let Some(table) = table else {
            return Ok(groups);
        };
        snapshot.range(&table, Key::U64(0), |key, row| {
            let key = u64::from_le_bytes(key.try_into().expect("eight bytes"));
            groups.push((key, row.to_vec()));
            Ok(std::ops::ControlFlow::Continue(()))
        })?;
        Ok(groups)
    });
    groups.expect("rows")
}

fn problems(kb: &Kb) -> Vec<String> {
    let options = VerifyOptions::new().deep(true);
    let report = kb.verify(&options, &mut Progress::ignore);
    report.expect("a report").problems
}

/// Number and name of the section of the first hit, and the symbol that it shows.
fn first(kb: &Kb, query: &str) -> (String, String, String) {
    let request = Request::new(query).mode(Mode::Keyword).show(Show::lines(3));
    let response = kb.search(&request).expect("a response");
    let hit = response.hits.into_iter().next().expect("a hit");
    let symbol = hit.symbol.expect("a symbol").hierarchy;
    (hit.section_number, hit.section_name, symbol)
}

fn section(number: &str, name: &str, symbol: &str) -> (String, String, String) {
    (number.to_owned(), name.to_owned(), symbol.to_owned())
}

#[test]
fn a_hit_in_a_group_has_its_section() {
    let (_folder, path) = file();
    assert_eq!(
        groups(&path).len(),
        (METHODS + FUNCTIONS + 5).div_ceil(1024)
    );
    let sealed = path.with_file_name("sealed.kb");
    let mut writer = KbWriter::open(&path).expect("writer");
    writer
        .seal(Some(&sealed), &SealOptions::new(), &mut Progress::ignore)
        .expect("sealed");
    drop(writer);
    for path in [path, sealed] {
        let kb = Kb::open(&path).expect("it opens");
        assert_eq!(problems(&kb), Vec::<String>::new());
        // The second group begins within the class.
        assert_eq!(
            first(&kb, "\"tide_gauge[1100]\""),
            section(
                "1.1101",
                "class Registers > def read_1100",
                "class Registers > def read_1100"
            )
        );
        let inner = "class Banks > class Bank > def read_7";
        assert_eq!(first(&kb, "\"return 7\""), section("2.1.1", inner, inner));
        assert_eq!(
            first(&kb, "\"wharf(950)\""),
            section("953", "def reset_950", "def reset_950")
        );
        // Of two of the same name each has its number.
        assert_eq!(
            first(&kb, "bollard"),
            section("1003", "1003 def reset_0", "def reset_0")
        );
        assert_eq!(
            first(&kb, "\"wharf(0)\""),
            section("3", "3 def reset_0", "def reset_0")
        );
        let all = kb.symbols(&SymbolsRequest::new().name("read_*").k(2000));
        assert_eq!(all.expect("symbols").symbols.len(), METHODS + 1);
        let outline = kb.outline("a.py").expect("an outline");
        assert_eq!(outline.headings.len(), METHODS + FUNCTIONS + 5);
    }
}

#[test]
fn a_program_that_shrinks_leaves_no_groups() {
    let (_folder, path) = file();
    for text in [
        "def moor(boat):\n    return boat\n",
        &registers(),
        "No symbols.\n",
    ] {
        let mut writer = KbWriter::open(&path).expect("writer");
        writer.remove("a.py").expect("removed");
        writer.add_bytes("a.py", text.as_bytes()).expect("document");
        writer.commit().expect("commit");
        drop(writer);
        let kb = Kb::open(&path).expect("it opens");
        assert_eq!(problems(&kb), Vec::<String>::new());
        assert_eq!(groups(&path).is_empty(), text.len() < 100);
    }
    let mut writer = KbWriter::open(&path).expect("writer");
    writer.remove("a.py").expect("removed");
    writer
        .add_bytes("a.py", registers().as_bytes())
        .expect("document");
    writer.commit().expect("commit");
    writer.remove("a.py").expect("removed");
    writer.commit().expect("commit");
    assert!(groups(&path).is_empty());
}

#[test]
fn groups_may_hold_anything() {
    let (_folder, path) = file();
    let bytes = std::fs::read(&path).expect("bytes");
    let groups = groups(&path);
    let (first, last) = (groups[0].0, groups[groups.len() - 1].0);
    let of_another = (first >> 32) + 1;
    // What is written under which key; nothing: it is removed.
    let mut lies: Vec<(u64, Option<Vec<u8>>)> = Vec::new();
    let table_of = |key: u64| {
        if key >> 32 == 0 {
            "symbols"
        } else {
            "symbol_groups"
        }
    };
    for (key, row) in &groups {
        lies.push((*key, None));
        for other in [
            &[][..],
            &[1],
            &[1, 0, 0],
            &[2, 0, 0],
            &[9; 40],
            &row[..row.len() / 2],
        ] {
            lies.push((*key, Some(other.to_vec())));
        }
        for (other, row) in &groups {
            if other != key {
                lies.push((*key, Some(row.clone())));
            }
        }
    }
    // Groups that nothing refers to.
    lies.push((last + 1, Some(groups[0].1.clone())));
    lies.push((of_another << 32, Some(groups[0].1.clone())));
    lies.push((u64::MAX, Some(Vec::new())));
    // The row of the document: symbols, start and end of each group.
    let document = first >> 32;
    let varint = |number: u32| {
        let mut bytes = Vec::new();
        let mut rest = number;
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
        bytes
    };
    for place in 0..4 {
        for number in [0, 1, 2, 1023, 1024, 1025, 1 << 20, u32::MAX] {
            let mut row = vec![3];
            let mut numbers = vec![3, 1024, 0, 0, 1024, 60_000, 5, 157, 90_000, 7];
            numbers[place] = number;
            numbers.into_iter().for_each(|it| row.extend(varint(it)));
            lies.push((document, Some(row)));
        }
    }
    for (key, row) in lies {
        let what = format!("{key:x} {row:?}");
        let forged = forge(&bytes, |_, transaction| {
            let (table, key) = (table_of(key), Key::U64(key));
            match &row {
                Some(row) => transaction.put(table, key, row).expect("a row"),
                None => assert!(transaction.remove(table, key).expect("a row")),
            }
        });
        let kb = Kb::from_bytes(forged).expect("it opens");
        for query in [
            "\"tide_gauge[1100]\"",
            "\"wharf(950)\"",
            "where is reset_7 defined",
        ] {
            let request = Request::new(query).show(Show::lines(2));
            blames_the_file(kb.search(&request), &what);
            blames_the_file(kb.search(&request.smart_context(true)), &what);
        }
        blames_the_file(kb.symbols(&SymbolsRequest::new().name("read_*")), &what);
        blames_the_file(kb.outline("a.py"), &what);
        assert!(
            !problems(&kb).is_empty(),
            "{what}: a deep check finds nothing"
        );
    }
}

/// Numbers and bits of a group follow from the symbols; those that do not are found.
#[test]
fn a_deep_check_compares_what_groups_say() {
    let (_folder, path) = file();
    let bytes = std::fs::read(&path).expect("bytes");
    for (key, row) in groups(&path) {
        // Version, form, length, and the body as it is or as a frame.
        let (head, bytes_of_length) = row.split_at(2);
        let end = bytes_of_length.iter().position(|byte| *byte < 0x80);
        let (bytes_of_length, stored) = bytes_of_length.split_at(end.expect("an end") + 1);
        let seven = bytes_of_length.iter().rev();
        let len = seven.fold(0, |len, byte| len << 7 | usize::from(byte & 0x7f));
        let body = match head[1] {
            0 => stored.to_vec(),
            _ => decode_frame(&[], stored, len).expect("a frame"),
        };
        let holders = usize::from(body[0]);
        let mut ends = body[1..]
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte < 0x80);
        let bits_at = 2 + ends.nth(holders).expect("numbers").0;
        for at in [1, bits_at - 1, bits_at, bits_at + 1] {
            let mut changed = body.clone();
            changed[at] ^= 1;
            let mut row = vec![1, 0];
            row.extend_from_slice(&length(changed.len()));
            row.extend_from_slice(&changed);
            let forged = forge(&bytes, |_, transaction| {
                transaction
                    .put("symbol_groups", Key::U64(key), &row)
                    .expect("a row");
            });
            let kb = Kb::from_bytes(forged).expect("it opens");
            let problems = problems(&kb).join("; ");
            assert!(
                problems.contains("other numbers or paths"),
                "{key:x} {at}: {problems}"
            );
        }
    }
}

/// Frames that hold much more than they have bytes, as many as there are groups.
#[test]
fn frames_of_groups_are_no_bombs() {
    let (_folder, path) = file();
    let bytes = std::fs::read(&path).expect("bytes");
    let document = groups(&path)[0].0 >> 32;
    let number = 200u8;
    // So many groups of one symbol, each with a name of 8 MiB.
    let mut row = vec![3, number | 0x80, 1];
    for _ in 0..number {
        row.extend([1, 0, 0]);
    }
    // No holders, no number, a bit; one symbol with one label, and its ten columns.
    let mut body = vec![0, 0, 0, 1, 1, SymbolKind::Function as u8, 0];
    body.extend([0; 10]);
    let group = bomb(&body, 64);
    let forged = forge(&bytes, |_, transaction| {
        transaction
            .put("symbols", Key::U64(document), &row)
            .expect("a row");
        for at in 0..u64::from(number) {
            let key = Key::U64(document << 32 | at);
            transaction
                .put("symbol_groups", key, &group)
                .expect("a row");
        }
    });
    let kb = Kb::from_bytes(forged).expect("it opens");
    let error = kb.outline("a.py").expect_err("it is refused").to_string();
    assert!(error.contains("too long"), "{error}");
}

/// Two groups with 200 000 symbols and as many labels each, which are all different: compared with each other they
/// would keep a reader busy for minutes, and those of the largest groups for hours.
#[test]
fn labels_of_groups_are_not_compared_with_each_other() {
    let (_folder, path) = file();
    let bytes = std::fs::read(&path).expect("bytes");
    let document = groups(&path)[0].0 >> 32;
    let count = 200_000_u32;
    let group = |first: u32| {
        // No holders, no number, a bit for each symbol.
        let mut body = vec![0; 2 + count as usize / 8];
        body.extend(length(count as usize));
        body.extend(length(count as usize));
        for label in first..first + count {
            body.extend([SymbolKind::Function as u8, 6]);
            body.extend(format!("{label:06}").bytes());
        }
        // Ten columns, and what stands between names.
        body.resize(body.len() + 10 * count as usize, 0);
        body.resize(body.len() + count as usize - 1, 0xff);
        [&[1, 0], &*length(body.len()), &body].concat()
    };
    let in_row = [&length(count as usize)[..], &[0, 0]].concat();
    let row = [&[3, 2][..], &in_row, &in_row].concat();
    let forged = forge(&bytes, |_, transaction| {
        transaction
            .put("symbols", Key::U64(document), &row)
            .expect("a row");
        for at in 0..2 {
            let key = Key::U64(document << 32 | u64::from(at));
            transaction
                .put("symbol_groups", key, &group(at * count))
                .expect("a row");
        }
    });
    let kb = Kb::from_bytes(forged).expect("it opens");
    let error = kb.outline("a.py").expect_err("it is refused").to_string();
    assert!(error.contains("no name"), "{error}");
}

/// A row of symbols that cannot be read is named once, and does not hide groups that no row refers to.
#[test]
fn a_damaged_row_hides_no_groups_behind_it() {
    let (_folder, path) = file();
    let bytes = std::fs::read(&path).expect("bytes");
    let document = groups(&path)[0].0 >> 32;
    let forged = forge(&bytes, |_, transaction| {
        let mut put = |table: &str, key: u64, row: &[u8]| {
            transaction.put(table, Key::U64(key), row).expect("a row");
        };
        put("symbols", document, &[3, 2, 1]);
        put("symbol_groups", (document + 7) << 32, &[1, 0, 0]);
    });
    let kb = Kb::from_bytes(forged).expect("it opens");
    let problems = problems(&kb);
    let named = |what: &str| problems.iter().filter(|it| it.contains(what)).count();
    assert_eq!(named("symbols is cut off"), 1, "{problems:?}");
    assert_eq!(named("cannot be read in groups"), 0, "{problems:?}");
    let orphan = format!("group 0 of document {}", document + 7);
    assert_eq!(named(&orphan), 1, "{problems:?}");
}

/// Groups behind one that is lost go with their document.
#[test]
fn a_document_with_a_lost_group_leaves_none() {
    let (_folder, path) = file();
    let bytes = std::fs::read(&path).expect("bytes");
    let lost = groups(&path)[0].0;
    let forged = forge(&bytes, |_, transaction| {
        assert!(
            transaction
                .remove("symbol_groups", Key::U64(lost))
                .expect("a row")
        );
    });
    std::fs::write(&path, forged).expect("written");
    assert!(!groups(&path).is_empty());
    let mut writer = KbWriter::open(&path).expect("writer");
    writer.remove("a.py").expect("removed");
    writer.commit().expect("commit");
    drop(writer);
    assert!(groups(&path).is_empty());
}

/// A document without text has no symbols.
#[test]
fn symbols_without_text_are_found() {
    let (_folder, path) = file();
    let mut writer = KbWriter::open(&path).expect("writer");
    writer.add_bytes("c.py", b"").expect("document");
    writer.commit().expect("commit");
    drop(writer);
    let bytes = std::fs::read(&path).expect("bytes");
    let forged = forge(&bytes, |_, transaction| {
        let programs =
            (1..=2).find_map(|id| transaction.get("symbols", Key::U64(id)).expect("a row"));
        let row = programs.expect("a program");
        transaction
            .put("symbols", Key::U64(3), &row)
            .expect("a row");
    });
    let kb = Kb::from_bytes(forged).expect("it opens");
    let problems = problems(&kb).join("; ");
    assert!(problems.contains("c.py"), "{problems}");
}

/// The row of a group whose body is these bytes and so many times 128 KiB of the letter a: a frame with one raw block
/// and blocks of one repeated byte.
fn bomb(body: &[u8], blocks: usize) -> Vec<u8> {
    const BLOCK_BYTES: usize = 128 << 10;
    let head = |bytes: usize, kind: u32, is_last: bool| {
        let head = (bytes as u32) << 3 | kind << 1 | u32::from(is_last);
        head.to_le_bytes()[..3].to_vec()
    };
    let mut row = vec![1, 1];
    let mut rest = body.len() + blocks * BLOCK_BYTES;
    while rest >= 0x80 {
        row.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    row.push(rest as u8);
    // No length, no checksum, a window of 2 MiB.
    row.extend([0x28, 0xb5, 0x2f, 0xfd, 0, 0x58]);
    row.extend(head(body.len(), 0, false));
    row.extend(body);
    for block in 1..=blocks {
        row.extend(head(BLOCK_BYTES, 1, block == blocks));
        row.push(b'a');
    }
    row
}

/// Up to 28 bits.
fn length(number: usize) -> Vec<u8> {
    let bits = |shift: usize| (number >> shift) as u8 & 0x7f;
    vec![bits(0) | 0x80, bits(7) | 0x80, bits(14) | 0x80, bits(21)]
}
