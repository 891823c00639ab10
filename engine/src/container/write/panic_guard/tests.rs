use std::fs;
use std::ops::Range;
use std::path::Path;

use kb_types::SegmentId;
use xxhash_rust::xxh3::xxh3_128;

use super::*;
use crate::container::layout::commit_slot::CommitSlot;
use crate::container::layout::node::{BRANCH, Branch, Leaf};
use crate::container::layout::page::{Geometry, PagePointer};
use crate::container::layout::table::{Key, Table, Widths};
use crate::container::read::container::Container;
use crate::container::read::map::Map;
use crate::container::testing::fixture::{
    Numbers, build, fill, identity, temp_path_in_memory, write_segment,
};
use crate::container::write::writer::ContainerWriter;

#[test]
fn a_panic_becomes_damage_and_nothing_may_be_written_after_it() {
    let guard = PanicGuard::default();
    assert_eq!(guard.call(|| Ok(7)).unwrap(), 7);
    assert!(guard.call(|| Err::<(), _>(Error::WriterFailed)).is_err());
    assert!(guard.check().is_ok());
    let error = guard.call(|| -> Result<()> { panic!("redb") }).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    assert!(guard.clone().check().is_err());
}

/// Set for the process whose stderr is looked at.
const IS_CHILD: &str = "KB_TEST_OF_PANICS";

/// Panics in a process of its own, because a hook and stderr are those of all threads.
#[test]
fn panics_of_redb_are_not_printed_and_all_others_are_once() {
    if std::env::var_os(IS_CHILD).is_some() {
        return panic_in_many_ways();
    }
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &name, "--nocapture", "--test-threads=1"])
        .env(IS_CHILD, "1")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(!stderr.contains("guarded"), "{stderr}");
    for shown in ["before", "a thread", "between", "after"] {
        let line = format!("hook: {shown}\n");
        assert_eq!(stderr.matches(&line).count(), 1, "{shown}: {stderr}");
    }
}

fn panic_in_many_ways() {
    use std::io::Write;
    let fails = |what: &'static str| {
        let caught = std::panic::catch_unwind(|| std::panic::panic_any(what));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&what));
    };
    let is_contained = |what: &'static str| {
        let guard = PanicGuard::default();
        let contained = guard.call(|| -> Result<()> { std::panic::panic_any(what) });
        assert_eq!(contained.unwrap_err().code(), "DAMAGED");
    };
    // A hook of the program that itself uses a .kb, for the first time while a thread panics: a hook cannot be set then.
    std::panic::set_hook(Box::new(|panic| {
        let written = PanicGuard::default().call(|| {
            let what = panic.payload().downcast_ref::<&str>().unwrap_or(&"");
            writeln!(std::io::stderr(), "hook: {what}").map_err(Error::storage)
        });
        assert!(written.is_ok());
    }));
    fails("before");
    is_contained("guarded once");
    is_contained("guarded twice");
    let outer = PanicGuard::default();
    let inside = outer.call(|| -> Result<()> {
        is_contained("guarded in a guarded call");
        // A thread is not guarded because another one is.
        let thread = std::thread::spawn(|| std::panic::panic_any("a thread"));
        assert!(thread.join().is_err());
        std::panic::panic_any("guarded behind another")
    });
    assert_eq!(inside.unwrap_err().code(), "DAMAGED");
    fails("between");
    // The hook is put before the others once, however many threads come first.
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| is_contained("guarded in a thread"));
        }
    });
    fails("after");
}

/// Puts true checksums into all that refers to the page or to pages under it, and returns its own.
/// `values` gets the ranges of the values of redb's tables.
fn settle(
    bytes: &mut [u8],
    geometry: Geometry,
    page: u64,
    widths: Widths,
    is_name: bool,
    values: &mut Vec<Range<usize>>,
) -> u128 {
    let pointer = PagePointer { page, checksum: 0 };
    let start = geometry.offset(pointer).unwrap() as usize;
    let copy = bytes[start..start + pointer.size_bytes() as usize].to_vec();
    if copy[0] == BRANCH {
        let (branch, end) = Branch::parse(copy, widths).unwrap();
        for child in 0..branch.children() {
            let page = branch.child(child).unwrap().page;
            let checksum = settle(bytes, geometry, page, widths, is_name, values);
            bytes[start + 8 + 16 * child..][..16].copy_from_slice(&checksum.to_le_bytes());
        }
        return xxh3_128(&bytes[start..start + end]);
    }
    let (leaf, end) = Leaf::parse(copy, widths).unwrap();
    let at = |value: &[u8]| start + value.as_ptr().addr() - leaf.bytes().as_ptr().addr();
    for pair in (0..leaf.pairs()).filter(|_| is_name) {
        let value = leaf.value(pair).unwrap();
        let table = Table::from_definition("", value).unwrap();
        if let Some(root) = table.root {
            let page = root.pointer.page;
            let checksum = settle(bytes, geometry, page, table.widths, false, values);
            bytes[at(value) + 18..][..16].copy_from_slice(&checksum.to_le_bytes());
        }
    }
    if !is_name {
        values.push(at(leaf.value(0).unwrap())..start + end);
    }
    xxh3_128(&bytes[start..start + end])
}

/// Makes all checksums of redb's own tables true.
fn settle_system(bytes: &mut [u8]) -> Vec<Range<usize>> {
    let map = Map::Bytes((&*bytes).into());
    let root = CommitSlot::read(&map).unwrap().system_names().unwrap().root;
    let geometry = Geometry::from_header(bytes).unwrap();
    let mut values = Vec::new();
    let page = root.unwrap().pointer.page;
    let widths = Widths::default();
    let checksum = settle(bytes, geometry, page, widths, true, &mut values);
    let slot = 64 + 128 * usize::from(bytes[9] & 1);
    bytes[slot + 48..slot + 64].copy_from_slice(&checksum.to_le_bytes());
    let checksum = xxh3_128(&bytes[slot..slot + 112]);
    bytes[slot + 112..slot + 128].copy_from_slice(&checksum.to_le_bytes());
    values
}

/// The file with noise in redb's lists of pages, all checksums true.
fn with_noise(good: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = good.to_vec();
    let values = settle_system(&mut bytes);
    assert!(bytes == good);
    for _ in 0..=numbers.below(6) {
        let range = &values[numbers.below(values.len() as u64) as usize];
        // The first bytes say how long a list is.
        let near = if numbers.below(2) == 0 {
            24
        } else {
            range.len()
        };
        let at = range.start + numbers.below(near.min(range.len()) as u64) as usize;
        bytes[at] = numbers.next() as u8;
    }
    settle_system(&mut bytes);
    bytes
}

fn work(path: &Path) -> Result<()> {
    let mut writer = ContainerWriter::open(path, &identity())?;
    for seed in 0..3 {
        let mut transaction = writer.begin()?;
        transaction.delete_table("names")?;
        transaction.delete_table("seg/0000000000000001")?;
        fill(&mut transaction, seed)?;
        write_segment(&mut transaction, SegmentId(2), &mut Numbers(seed))?;
        transaction.remove("numbers", Key::U64(7))?;
        transaction.get("numbers", Key::U64(14))?;
        if seed > 0 {
            transaction.commit()?;
        }
    }
    writer.finish()
}

#[test]
fn panics_of_redb_become_errors() {
    let (_folder, path) = temp_path_in_memory();
    build(&path, |transaction| fill(transaction, 1));
    let good = fs::read(&path).unwrap();
    let mut numbers = Numbers(6);
    let mut panics = 0;
    for _ in 0..150 {
        fs::write(&path, with_noise(&good, &mut numbers)).unwrap();
        let verified = Container::open(&path).unwrap().verify(&mut |_| {}).unwrap();
        assert!(verified.damage.is_empty(), "{verified:?}");
        if let Err(error) = work(&path) {
            let known = ["DAMAGED", "STORAGE", "WRITER_FAILED", "SNAPSHOT_EXPIRED"];
            assert!(known.contains(&error.code()), "{error}");
            panics += usize::from(error.to_string().contains("redb's own tables"));
        }
        // No lock is left behind, whatever happened.
        let again = ContainerWriter::open(&path, &identity());
        assert!(
            !matches!(again, Err(Error::IndexLocked { .. })),
            "{again:?}"
        );
    }
    assert!(panics > 5, "{panics}");
}
