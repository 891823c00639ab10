//! Symbols of a sealed file, whose rows refer to a dictionary.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::OnceLock;

use kb_engine::testing::container::{Container, Key};
use kb_engine::{Kb, KbWriter, Progress, SealOptions, SymbolsRequest};

use super::lies::assert_all_named;
use super::{assert_clean, verify};
use crate::corruption::forgery::forge;

/// So many programs have 128 KiB of symbols.
const PROGRAMS: usize = 120;

fn program(number: usize) -> String {
    let mut text = format!("class Gauge{number}:\n");
    for part in 0..60 {
        let name = ["level", "tide", "drift", "height"][(number + part) % 4];
        let _ = write!(
            text,
            "    def read_{name}_{part}(self, at, of={number}):\n        return self.{name}[at]\n\n"
        );
    }
    text
}

fn seal(path: &Path) -> String {
    let mut writer = KbWriter::open_or_create(path).expect("writer");
    let sealed = writer.seal(None, &SealOptions::new(), &mut Progress::ignore);
    sealed.expect("sealed").content_root
}

/// Form of each row of symbols, the dictionary left out.
fn forms(path: &Path) -> Vec<u8> {
    let container = Container::open(path).expect("it opens");
    let forms = container.read(|snapshot| {
        let table = snapshot.table("symbols")?.expect("a table");
        let mut forms = Vec::new();
        snapshot.range(&table, Key::U64(1), |_, row| {
            forms.push(row[1]);
            Ok(std::ops::ControlFlow::Continue(()))
        })?;
        Ok(forms)
    });
    forms.expect("rows")
}

fn symbols(kb: &Kb) -> String {
    let found = kb.symbols(&SymbolsRequest::new().name("read_tide_1*").k(500));
    format!("{:?}", found.expect("symbols").symbols)
}

/// A sealed file of programs.
fn sealed_bytes() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("programs.kb");
        let mut writer = KbWriter::open_or_create(&path).expect("writer");
        for number in 0..PROGRAMS {
            let name = format!("gauge{number:03}.py");
            let text = program(number);
            writer.add_bytes(&name, text.as_bytes()).expect("added");
        }
        writer.commit().expect("commit");
        drop(writer);
        let before = symbols(&Kb::open(&path).expect("it opens"));
        assert!(before.contains("gauge119.py"), "{before}");
        assert!(forms(&path).iter().all(|form| *form == 1));
        seal(&path);
        assert!(forms(&path).iter().all(|form| *form == 2));
        assert_eq!(symbols(&Kb::open(&path).expect("it opens")), before);
        std::fs::read(path).expect("bytes")
    })
}

#[test]
fn rows_with_and_without_the_dictionary_stand_beside_each_other() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("changed.kb");
    std::fs::write(&path, sealed_bytes()).expect("copy");
    let root = assert_clean(&path).content_root;
    let before = symbols(&Kb::open(&path).expect("it opens"));
    for text in [program(500), program(7)] {
        let changed = kb_engine::document_of("gauge007.py", text.as_bytes()).expect("a program");
        let mut writer = KbWriter::open_or_create(&path).expect("writer");
        assert!(writer.replace(changed).expect("replaced"));
        writer.commit().expect("commit");
        drop(writer);
        let forms = forms(&path);
        assert_eq!(forms.iter().filter(|form| **form == 1).count(), 1);
        assert_eq!(forms.len(), PROGRAMS);
        assert_clean(&path);
    }
    assert_eq!(symbols(&Kb::open(&path).expect("it opens")), before);
    assert_eq!(Some(seal(&path)), root);
    assert_clean(&path);
}

#[test]
fn lies_of_the_dictionary_are_named() {
    assert_all_named(
        sealed_bytes(),
        &[
            ("is no zstd frame", |_, transaction| {
                transaction.remove("symbols", Key::U64(0)).expect("removed");
            }),
            ("a list of symbols", |_, transaction| {
                let row = [&[1][..], &[7; 9000]].concat();
                transaction.put("symbols", Key::U64(0), &row).expect("row");
            }),
            ("a dictionary has entropy tables", |_, transaction| {
                let row = [1, 0x37, 0xa4, 0x30, 0xec, 0, 0, 0, 0];
                transaction.put("symbols", Key::U64(0), &row).expect("row");
            }),
            (
                "version 2 of the dictionary of symbols",
                |_, transaction| {
                    transaction.put("symbols", Key::U64(0), &[2]).expect("row");
                },
            ),
            ("symbols of document 4000", |_, transaction| {
                transaction
                    .put("symbols", Key::U64(4000), &[2])
                    .expect("row");
            }),
        ],
    );
}

#[test]
fn without_its_dictionary_a_file_says_that_it_is_damaged() {
    let bytes = forge(sealed_bytes(), |_, transaction| {
        transaction.remove("symbols", Key::U64(0)).expect("removed");
    });
    let kb = Kb::from_bytes(bytes).expect("it opens");
    let error = kb.outline("gauge007.py").unwrap_err();
    assert_eq!(error.code(), "DAMAGED");
    assert!(kb.text("gauge007.py", None).is_ok());
    assert!(!verify(&kb, true).problems.is_empty());
}
