//! Files that must be refused, each with its own code, and files that look strange and must not be.

use std::path::Path;

use kb_engine::testing::container::Container;
use kb_engine::testing::store::meta::ProbeRecord;
use kb_engine::{Error, Kb, KbWriter, Mode, Request};
use xxhash_rust::xxh3::xxh3_64;

use super::forgery::{RawKey, Stored};
use crate::format::golden::golden_bytes;
use crate::support::{Folder, run};

/// Where the signature block lies.
const BLOCK: std::ops::Range<usize> = 512..1024;

/// The golden file with `value` at `offset` of the signature block, its checksum made true again.
fn signed(offset: usize, value: &[u8]) -> Vec<u8> {
    let mut bytes = golden_bytes().to_vec();
    let block = &mut bytes[BLOCK];
    block[offset..offset + value.len()].copy_from_slice(value);
    let sum = xxh3_64(&block[..504]);
    block[504..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// The golden file with `value` at `offset`, nothing else changed.
fn patched(offset: usize, value: &[u8]) -> Vec<u8> {
    let mut bytes = golden_bytes().to_vec();
    bytes[offset..offset + value.len()].copy_from_slice(value);
    bytes
}

/// The golden file with one row replaced, all checksums true.
fn row(table: &'static str, key: RawKey, value: &[u8]) -> Vec<u8> {
    let mut stored = Stored::of_golden();
    stored.raw.push((table, key, value.to_vec()));
    stored.into_bytes()
}

/// A database of redb that is no .kb.
fn plain_redb() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("plain.redb");
    let database = redb::Database::create(&path).expect("database");
    let changes = database.begin_write().expect("transaction");
    let table = redb::TableDefinition::<&str, &[u8]>::new("other");
    let opened = changes.open_table(table);
    opened
        .expect("table")
        .insert("key", b"value".as_slice())
        .expect("row");
    changes.commit().expect("commit");
    drop(database);
    std::fs::read(path).expect("bytes")
}

/// What must be refused: what it is, its bytes, the code.
fn refused() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let golden = golden_bytes();
    let header_copy = |bytes: &[u8]| row("kb", RawKey::Str("header"), bytes);
    let without_copy = {
        let mut bytes = header_copy(&[1]);
        bytes[BLOCK].fill(0);
        bytes
    };
    let mut no_pages = golden.to_vec();
    no_pages[4096..].fill(0);
    vec![
        ("nothing", vec![], "NOT_A_KB"),
        ("a word", b"fog".to_vec(), "NOT_A_KB"),
        (
            "a picture",
            [b"\x89PNG\r\n\x1a\n".as_slice(), &[0; 5000]].concat(),
            "NOT_A_KB",
        ),
        (
            "an archive",
            [b"PK\x03\x04".as_slice(), &[7; 5000]].concat(),
            "NOT_A_KB",
        ),
        ("zeros", vec![0; 1 << 16], "NOT_A_KB"),
        ("a plain database", plain_redb(), "NOT_A_KB"),
        ("another first byte", patched(0, b"X"), "DAMAGED"),
        (
            "the next minor version",
            signed(10, &(kb_engine::FORMAT_VERSION.1 + 1).to_le_bytes()),
            "FORMAT_UNSUPPORTED",
        ),
        (
            "the minor version before",
            signed(10, &(kb_engine::FORMAT_VERSION.1 - 1).to_le_bytes()),
            "FORMAT_UNSUPPORTED",
        ),
        (
            "the next major version",
            signed(8, &1u16.to_le_bytes()),
            "FORMAT_UNSUPPORTED",
        ),
        (
            "the highest version",
            signed(8, &[255; 4]),
            "FORMAT_UNSUPPORTED",
        ),
        (
            "an unknown incompatible feature",
            signed(32, &7u64.to_le_bytes()),
            "FORMAT_UNSUPPORTED",
        ),
        (
            "all incompatible features",
            signed(32, &[255; 8]),
            "FORMAT_UNSUPPORTED",
        ),
        (
            "another underlying format",
            signed(56, &4u32.to_le_bytes()),
            "FORMAT_UNSUPPORTED",
        ),
        (
            "another page size",
            signed(60, &8192u32.to_le_bytes()),
            "FORMAT_UNSUPPORTED",
        ),
        (
            "another record codec",
            signed(72, &2u16.to_le_bytes()),
            "FORMAT_UNSUPPORTED",
        ),
        (
            "another text codec",
            signed(74, &2u16.to_le_bytes()),
            "FORMAT_UNSUPPORTED",
        ),
        (
            "newer meta",
            row("kb", RawKey::Str("meta"), &[2; 40]),
            "FORMAT_UNSUPPORTED",
        ),
        (
            "newer manifest",
            row("kb", RawKey::Str("manifest"), &[2; 9]),
            "FORMAT_UNSUPPORTED",
        ),
        (
            "newer segments",
            row("segs", RawKey::U64(1), &[4; 99]),
            "FORMAT_UNSUPPORTED",
        ),
        (
            "a version without its checksum",
            patched(520, &[9, 9]),
            "DAMAGED",
        ),
        ("a wrong checksum", patched(1016, &[0; 8]), "DAMAGED"),
        (
            "another length of the block",
            signed(12, &256u32.to_le_bytes()),
            "DAMAGED",
        ),
        ("another magic", signed(0, b"\x89KBX"), "DAMAGED"),
        ("no signature and no copy", without_copy, "DAMAGED"),
        ("half of the first page", golden[..2048].to_vec(), "DAMAGED"),
        ("the first page only", golden[..4096].to_vec(), "DAMAGED"),
        ("no pages behind the first", no_pages, "DAMAGED"),
        (
            "both commit slots gone",
            patched(64, &[0x55; 256]),
            "DAMAGED",
        ),
        ("no meta", row("kb", RawKey::Str("meta"), &[]), "DAMAGED"),
        (
            "a short manifest",
            row("kb", RawKey::Str("manifest"), &[1, 1]),
            "DAMAGED",
        ),
    ]
}

#[test]
fn what_cannot_be_read_is_refused_with_its_own_code() {
    let folder = Folder::empty();
    for (what, bytes, code) in refused() {
        let error = Kb::from_bytes(bytes.clone()).expect_err(what);
        assert_eq!(error.code(), code, "{what}: {error}");
        let path = folder.write("refused.kb", &bytes);
        let error = Kb::open(&path).expect_err(what);
        assert_eq!(error.code(), code, "{what} from a path: {error}");
        assert!(
            std::fs::read(&path).expect("bytes") == bytes,
            "{what} was changed"
        );
        let told = folder.kb("search fog -f refused.kb --json").expect(2);
        assert_eq!(told.error_code(), code, "{what}: {told:#?}");
    }
}

#[test]
fn what_is_refused_is_not_written_over_or_added_to() {
    let folder = Folder::empty();
    for (what, bytes, code) in refused() {
        let path = folder.write("refused.kb", &bytes);
        let added = add_one(&path);
        assert!(added.is_err(), "{what}");
        // A writer may open pages that are sound before it reads records; it commits nothing.
        if Container::from_bytes(bytes.clone()).is_err() {
            assert!(
                std::fs::read(&path).expect("bytes") == bytes,
                "{what} was changed"
            );
        }
        let error = Kb::open(&path).expect_err(what);
        assert_eq!(error.code(), code, "{what}: {error}");
    }
}

fn add_one(path: &Path) -> kb_engine::Result<()> {
    let mut writer = KbWriter::open_or_create(path)?;
    writer.add_bytes("new.md", b"# New\n\nA page.\n")?;
    writer.commit()
}

#[test]
fn unknown_features_that_readers_may_ignore_are_ignored() {
    let golden = Kb::from_bytes(golden_bytes()).expect("it opens");
    let request = Request::new("fog signals");
    let right = golden.search(&request).expect("an answer");
    for (what, offset) in [("compat", 16), ("ro-compat", 24)] {
        let bytes = signed(offset, &[255; 8]);
        let kb = Kb::from_bytes(bytes).expect(what);
        assert_eq!(kb.search(&request).expect(what).hits, right.hits);
    }
}

#[test]
fn a_feature_for_writers_is_refused_by_the_writer_only() {
    let folder = Folder::empty();
    let path = folder.write("newer.kb", signed(24, &[255; 8]));
    let error = add_one(&path).expect_err("a writer must know it");
    assert_eq!(error.code(), "FORMAT_UNSUPPORTED", "{error}");
    assert!(Kb::open(&path).is_ok());
    let path = folder.write("compatible.kb", signed(16, &[255; 8]));
    add_one(&path).expect("nobody must know it");
    assert!(
        Kb::open(&path)
            .expect("it opens")
            .document("new.md")
            .is_ok()
    );
}

#[test]
fn a_file_of_an_older_format_is_named_and_stays() {
    let folder = Folder::with_corpus();
    let (major, minor) = kb_engine::FORMAT_VERSION;
    let older = signed(10, &(minor - 1).to_le_bytes());
    let path = folder.write("old.kb", older.clone());
    folder.write("new.txt", "A walrus.\n");
    // Its documents are of a folder that is not there, so an index run would lose them.
    for arguments in [
        &["search", "fog horn", "-f", "old.kb"][..],
        &["add", "new.txt", "-f", "old.kb"],
        &["rm", "old.kb", "notes.txt"],
        &["seal", "old.kb"],
        &["index", "harbour", "-o", "old.kb", "--check"],
    ] {
        let told = run(folder.command().args(arguments)).expect(2);
        let version = format!("format version {major}.{}", minor - 1);
        told.stderr_has(&version);
        assert!(told.hint().contains("-o old.kb"), "{told:#?}");
        assert!(std::fs::read(&path).expect("old.kb") == older);
    }
}

#[test]
fn a_file_without_a_signature_block_is_read_by_its_copy() {
    let mut bytes = golden_bytes().to_vec();
    bytes[BLOCK].fill(0);
    let kb = Kb::from_bytes(bytes).expect("the copy decides");
    let (major, minor) = kb_engine::FORMAT_VERSION;
    assert_eq!(kb.info().expect("info").format, format!("{major}.{minor}"));
}

/// Three files of models that this program cannot reproduce.
fn other_models() -> Vec<(&'static str, Vec<u8>)> {
    let with = |change: fn(&mut Stored)| {
        let mut stored = Stored::of_golden();
        change(&mut stored);
        stored.into_bytes()
    };
    vec![
        (
            "another id",
            with(|stored| stored.meta.embedder.id = "kb-static-9".to_owned()),
        ),
        (
            "another hash",
            with(|stored| stored.meta.embedder.hash[7] ^= 1),
        ),
        (
            "other probes",
            with(|stored| {
                let probe: &mut ProbeRecord = &mut stored.meta.embedder.probes[0];
                probe.vector.reverse();
            }),
        ),
    ]
}

#[test]
fn a_file_of_an_unknown_model_answers_by_words_alone() {
    let golden = Kb::from_bytes(golden_bytes()).expect("it opens");
    let ask = |kb: &Kb, mode| kb.search(&Request::new("polish the lens").mode(mode));
    let right = ask(&golden, Mode::Keyword).expect("an answer");
    assert!(!right.hits.is_empty() && right.warnings.is_empty());
    let folder = Folder::empty();
    for (what, bytes) in other_models() {
        let kb = Kb::from_bytes(bytes.clone()).expect(what);
        assert!(!kb.info().expect(what).model_available, "{what}");
        assert_eq!(ask(&kb, Mode::Keyword).expect(what), right, "{what}");
        let error = ask(&kb, Mode::Semantic).expect_err(what);
        assert!(
            matches!(error, Error::EmbeddingModelUnavailable { .. }),
            "{what}: {error}"
        );
        assert_eq!(error.code(), "EMBEDDING_MODEL_UNAVAILABLE");
        let hybrid = ask(&kb, Mode::Hybrid).expect(what);
        assert_eq!(hybrid.mode, Mode::Keyword, "{what}");
        assert_eq!(hybrid.hits, right.hits, "{what}");
        assert_eq!(hybrid.warnings.len(), 1, "{what}: {:?}", hybrid.warnings);
        assert!(
            hybrid.warnings[0].contains("embedding model"),
            "{:?}",
            hybrid.warnings
        );

        folder.write("other.kb", &bytes);
        let told = folder.kb("search lens --mode semantic --json").expect(2);
        assert_eq!(told.error_code(), "EMBEDDING_MODEL_UNAVAILABLE");
        let told = folder.kb("search lens").expect(0);
        told.stderr_has("embedding model");
    }
}
