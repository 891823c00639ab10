use std::collections::BTreeSet;
use std::path::PathBuf;

use kb_types::error::samples::samples;

use super::*;

fn command_line(command: &str) -> Front<'_> {
    let file = Path::new("/gone.kb");
    Front::CommandLine { command, file }
}

fn fronts() -> [Front<'static>; 4] {
    [command_line("kb get"), Front::Mcp, Front::Python, Front::C]
}

/// What the command line says.
fn told(error: &Error, command: &str) -> String {
    advice(error, command_line(command)).unwrap()
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn unknown_document(name: &str, nearest: &[&str]) -> Error {
    Error::DocumentNotFound {
        name: name.to_owned(),
        skipped: Vec::new(),
        nearest: owned(nearest),
    }
}

fn unknown_sheet(nearest: &[&str], sheets: &[&str], total: u32) -> Error {
    Error::SheetNotFound {
        sheet: "q".to_owned(),
        path: "a.xlsx".to_owned(),
        nearest: owned(nearest),
        sheets: owned(sheets).into(),
        total,
    }
}

#[test]
fn every_front_has_advice_on_every_code_or_a_reason_for_none() {
    for front in fronts() {
        let advised: BTreeSet<&str> = samples()
            .iter()
            .filter(|error| advice(error, front).is_some())
            .map(Error::code)
            .collect();
        let silent: BTreeSet<&str> = front
            .words()
            .into_iter()
            .flat_map(str::lines)
            .filter_map(|line| line.strip_prefix("! ")?.split_once(" = "))
            .map(|(code, reason)| {
                assert!(reason.len() > 10, "{front:?}: {code}: {reason}");
                code
            })
            .collect();
        assert_eq!(advised.intersection(&silent).next(), None, "{front:?}");
        let all: BTreeSet<&str> = advised.union(&silent).copied().collect();
        assert_eq!(all, BTreeSet::from(Error::CODES), "{front:?}");
    }
}

/// A misspelt word would leave out its clause.
#[test]
fn every_word_that_is_used_is_known_and_every_known_word_is_used() {
    let sources = [include_str!("mod.rs"), include_str!("words.rs")];
    let used: BTreeSet<&str> = sources
        .iter()
        .flat_map(|source| source.split('<').skip(1))
        .filter_map(|text| text.split_once('>'))
        .map(|(name, _)| name)
        .filter(|name| {
            let mut bytes = name.bytes();
            !name.is_empty() && bytes.all(|it| b"abcdefghijklmnopqrstuvwxyz_4".contains(&it))
        })
        .collect();
    let mut known: BTreeSet<&str> = fronts()
        .iter()
        .flat_map(|front| front.words())
        .flat_map(str::lines)
        .filter(|line| !line.starts_with("! "))
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name)
        .collect();
    known.extend([
        "command", "file", "path", "first", "names", "several", "either",
    ]);
    known.extend(["sheets", "last", "range"]);
    assert_eq!(used, known);
}

#[test]
fn no_front_names_a_thing_of_another() {
    for error in samples() {
        let others = [Front::Mcp, Front::Python, Front::C];
        for text in others.into_iter().filter_map(|front| advice(&error, front)) {
            assert!(!text.contains("--") && !text.contains("`kb"), "{text}");
        }
    }
}

#[test]
fn failures_of_the_disk_have_advice_in_every_front() {
    for (kind, expected) in [
        (ErrorKind::StorageFull, "free some space"),
        (ErrorKind::QuotaExceeded, "free some of your quota"),
        (
            ErrorKind::ReadOnlyFilesystem,
            "mount the file system for writing",
        ),
    ] {
        let error = Error::Io {
            action: "create",
            path: PathBuf::from("a.kb"),
            source: io::Error::from(kind),
        };
        for front in fronts() {
            let text = advice(&error, front).unwrap();
            assert!(text.to_lowercase().contains(expected), "{text}");
        }
    }
}

#[test]
fn every_fault_of_a_pattern_has_advice() {
    use PatternFault::{Backreference, InvalidUtf8, LineEnd, LookAround, Syntax, TooLarge};
    for fault in [
        Syntax,
        LookAround,
        Backreference,
        InvalidUtf8,
        LineEnd,
        TooLarge,
    ] {
        let error = Error::InvalidPattern {
            position: None,
            reason: "no".to_owned(),
            fault,
        };
        for front in fronts() {
            assert!(advice(&error, front).is_some(), "{front:?} {fault:?}");
        }
    }
}

#[test]
fn an_unknown_document_offers_the_nearest() {
    let one = unknown_document("gide.md", &["the guide.md"]);
    assert_eq!(told(&one, "kb get"), "`kb get 'the guide.md'`");
    let two = unknown_document("c", &["a", "b"]);
    assert_eq!(told(&two, "kb get"), "`kb get a`; the nearest: a, b");
    let meant = "did you mean \"a\" or \"b\"?";
    assert_eq!(advice(&two, Front::Python).as_deref(), Some(meant));
    let meant = "Did you mean \"a\" or \"b\"?";
    assert_eq!(advice(&two, Front::Mcp).as_deref(), Some(meant));
    let none = told(&unknown_document("c", &[]), "kb get");
    assert_eq!(none, "`kb ls -f /gone.kb` lists what is there");
    let glob = told(&unknown_document("zzz/*.py:1-2", &["a.py"]), "kb get");
    assert!(glob.starts_with("`kb ls -r -f /gone.kb`"), "{glob}");
    let unread = Error::DocumentNotFound {
        name: "a.pdf".to_owned(),
        skipped: owned(&["a.pdf: encrypted"]),
        nearest: Vec::new(),
    };
    assert!(told(&unread, "kb get").starts_with("`kb ls --skipped"));
}

#[test]
fn the_folder_of_a_search_is_that_of_its_flag() {
    let folder = Error::FolderNotFound {
        name: "nope".to_owned(),
        nearest: owned(&["src"]),
    };
    assert_eq!(told(&folder, "kb search -f a.kb"), "`--folder src`");
    assert_eq!(told(&folder, "kb ls"), "`kb ls src`");
}

#[test]
fn only_the_path_of_the_file_is_made() {
    let path = |path: &str| Error::PathNotFound {
        path: PathBuf::from(path),
    };
    let made = told(&path("/gone.kb"), "kb search");
    assert_eq!(made, "`kb index FOLDER -o /gone.kb` makes it");
    for (wrong, front) in [("/src", command_line("kb index")), ("/a.md", Front::Python)] {
        assert_eq!(advice(&path(wrong), front), None);
    }
}

#[test]
fn another_codec_is_had_by_the_command_that_can() {
    let codec = Error::InvalidArgument {
        argument: "vectors",
        reason: "the file has i8 and not i4".to_owned(),
    };
    let text = told(&codec, "kb index");
    assert!(
        text.starts_with("`kb seal /gone.kb --vectors i4`"),
        "{text}"
    );
    assert!(text.contains("--rebuild"), "{text}");
    let text = told(&codec, "kb seal");
    assert!(text.starts_with("`kb index --rebuild`"), "{text}");
}

#[test]
fn a_range_is_corrected_to_the_whole() {
    let lines = |range: &str, lines| Error::InvalidRange {
        range: range.to_owned(),
        path: "a b.txt".to_owned(),
        lines,
    };
    let text = told(&lines("3-", 1), "kb get");
    assert_eq!(text, "`kb get 'a b.txt' --lines 1`");
    let text = told(&lines("9-", 3), "kb get");
    assert_eq!(text, "`kb get 'a b.txt' --lines 1-3`");
    assert_eq!(advice(&lines("1-2", 0), command_line("kb get")), None);
    let text = advice(&lines("1-1+9", 3), Front::Mcp).unwrap();
    assert!(text.ends_with("leave out the bytes"), "{text}");
}

#[test]
fn a_misspelt_sheet_is_told_how_many_there_are() {
    let text = told(&unknown_sheet(&[], &["A", "B"], 2), "kb sheet");
    assert_eq!(text, "it has A, B");
    let text = told(&unknown_sheet(&["B b"], &["A", "B b"], 3002), "kb sheet");
    let expected = "`kb sheet a.xlsx --sheet 'B b'`; it has A, B b and 3,000 more";
    assert_eq!(text, expected);
    let text = advice(&unknown_sheet(&["B"], &["A", "B"], 2), Front::Mcp).unwrap();
    assert_eq!(text, "Did you mean \"B\"? It has A, B");
    let text = told(&unknown_sheet(&[], &[], 0), "kb sheet");
    assert_eq!(text, "it has no sheets: the workbook is empty");
}

#[test]
fn a_name_at_the_beginning_keeps_its_case() {
    let error = Error::UnsupportedDocumentType {
        path: "a.pdf".to_owned(),
        file_type: "pdf".to_owned(),
        wanted: PartKind::Sheet,
        has: Some(PartKind::Page),
    };
    assert_eq!(advice(&error, Front::Mcp).unwrap(), "get_pages reads it");
}

#[test]
fn a_file_of_an_older_format_is_rebuilt_in_place() {
    let error = Error::FormatUnsupported {
        needs: "format 0.9".to_owned(),
        reads: "format 0.10".to_owned(),
    };
    for (front, how) in [
        (Front::Mcp, "index its folders again"),
        (Front::Python, "kbfile.open(path, \"a\").index(folder)"),
        (Front::C, "kb_writer_index"),
    ] {
        let text = advice(&error, front).unwrap();
        assert!(
            text.contains(how) && text.contains("older one in place"),
            "{text}"
        );
    }
}
