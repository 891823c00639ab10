//! That skipping by trigrams changes no answer.

use std::sync::LazyLock;

use proptest::prelude::*;

use crate::check::VerifyOptions;
use crate::ingest::options::IndexOptions;
use crate::ingest::run::SealOptions;
use crate::kb::{Kb, KbWriter};
use crate::progress::Progress;
use crate::search::{RegexRequest, RegexResponse};

/// Bytes of text of the file, more than a segment without trigrams has.
const TEXT_BYTES: usize = 1_300_000;

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % limit
    }
}

/// Lines of words, some of them rare, some not ASCII, some lines long, some ends CRLF.
fn words(random: &mut Random, bytes: usize) -> String {
    const STEMS: [&str; 12] = [
        "tide",
        "Walrus",
        "fn ",
        "parse_",
        "\u{fc}ber",
        "K\u{212a}",
        "0x",
        "\\path\\",
        "\t",
        "==",
        "Stra\u{df}e",
        "AbC",
    ];
    let mut text = String::new();
    while text.len() < bytes {
        text.push_str(STEMS[random.below(STEMS.len())]);
        text.push_str(&format!("{:x} ", random.below(5000)));
        match random.below(14) {
            0 => text.push_str("\r\n"),
            1 => text.push('\n'),
            _ => {}
        }
        if random.below(4000) == 0 {
            text.push_str(&"long line ".repeat(3000));
        }
    }
    text
}

/// Files with the same documents: of several segments with deleted chunks, and sealed; and their texts.
struct Files {
    _folder: tempfile::TempDir,
    kbs: [Kb; 2],
    text: String,
}

static FILES: LazyLock<Files> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let (file, sealed) = (folder.path().join("a.kb"), folder.path().join("b.kb"));
    let mut random = Random(7);
    let mut writer = KbWriter::open_or_create(&file).unwrap().without_merges();
    let mut text = String::new();
    for number in 0..36 {
        let bytes = [300, 3000, 30_000, 150_000][random.below(4)];
        let path = if number % 7 == 0 {
            format!("{number:02}.csv")
        } else {
            format!("{number:02}.txt")
        };
        let words = words(&mut random, bytes);
        writer.add_bytes(&path, words.as_bytes()).unwrap();
        text.push_str(&words);
    }
    let rest = words(
        &mut random,
        TEXT_BYTES.saturating_sub(text.len()).max(20_000),
    );
    writer.add_bytes("50.txt", rest.as_bytes()).unwrap();
    writer.commit().unwrap();
    writer.remove("05.txt").unwrap();
    let changed = words(&mut random, 40_000);
    writer.replace_bytes("11.txt", changed.as_bytes()).unwrap();
    writer.add_bytes("01a.txt", b"one Walrus\n").unwrap();
    writer.commit().unwrap();
    writer
        .seal(Some(&sealed), &SealOptions::new(), &mut Progress::ignore)
        .unwrap();
    let kbs = [&file, &sealed].map(|file| Kb::open(file).unwrap());
    Files {
        _folder: folder,
        kbs,
        text,
    }
});

fn answer(kb: &Kb, request: &RegexRequest) -> RegexResponse {
    kb.search_regex(&request.clone().k(10_000)).unwrap()
}

#[test]
fn the_trigrams_of_a_file_are_sound_and_skip_text() {
    for kb in &FILES.kbs {
        let options = VerifyOptions::new().deep(true);
        let report = kb.verify(&options, &mut Progress::ignore).unwrap();
        assert_eq!(report.problems, [""; 0]);
        let sizes = kb.sizes().unwrap();
        let trigrams = sizes.sections.iter().find(|(name, _)| name == "trigrams");
        assert!(trigrams.unwrap().1 > 10_000, "{sizes:?}");
        let rare = answer(kb, &RegexRequest::new("zz_nowhere_zz"));
        assert_eq!((rare.matches.len(), rare.warnings.len()), (0, 0));
        assert!(rare.searched_bytes < 100_000, "{}", rare.searched_bytes);
        let whole = answer(kb, &RegexRequest::new("zz_nowhere_zz").uses_trigrams(false));
        assert!(whole.searched_bytes > 1_000_000, "{}", whole.searched_bytes);
    }
}

#[test]
fn a_file_without_trigrams_says_so_and_answers_alike() {
    let folder = tempfile::tempdir().unwrap();
    let (file, source) = (folder.path().join("a.kb"), folder.path().join("source"));
    std::fs::create_dir(&source).unwrap();
    let text = words(&mut Random(3), 1_100_000);
    std::fs::write(source.join("a.txt"), &text).unwrap();
    let has_trigrams = || {
        let sizes = Kb::open(&file).unwrap().sizes().unwrap();
        sizes
            .sections
            .iter()
            .any(|(name, bytes)| name == "trigrams" && *bytes > 0)
    };
    let index = |options: IndexOptions| {
        let mut writer = KbWriter::open_or_create(&file).unwrap();
        let paths = [source.clone()];
        writer
            .index(&paths, &options, &mut Progress::ignore)
            .unwrap();
    };
    index(IndexOptions::new().trigrams(false));
    assert!(!has_trigrams());
    let request = RegexRequest::new("Walrus12");
    let without = answer(&Kb::open(&file).unwrap(), &request);
    assert!(
        without.warnings[0].contains("no trigrams"),
        "{:?}",
        without.warnings
    );
    assert!(!without.matches.is_empty());
    index(IndexOptions::new().rebuild(true));
    assert!(!has_trigrams(), "the file remembers it");
    index(IndexOptions::new().trigrams(true));
    let mut writer = KbWriter::open_or_create(&file).unwrap();
    writer
        .seal(None, &SealOptions::new(), &mut Progress::ignore)
        .unwrap();
    assert!(has_trigrams());
    let with = answer(&Kb::open(&file).unwrap(), &request);
    assert_eq!(
        (&with.matches.items, with.warnings.len()),
        (&without.matches.items, 0)
    );
    let rare = answer(
        &Kb::open(&file).unwrap(),
        &RegexRequest::new("zz_nowhere_zz"),
    );
    assert!(
        rare.searched_bytes < without.searched_bytes / 4,
        "{}",
        rare.searched_bytes
    );
}

/// Parts of the text, joined as patterns join them.
fn patterns_of_text() -> impl Strategy<Value = String> {
    let piece = (any::<prop::sample::Index>(), 1usize..9).prop_map(|(at, len)| {
        let text = &FILES.text;
        let start = text.floor_char_boundary(at.index(text.len()));
        let piece: String = text[start..].chars().take(len).collect();
        regex_syntax::escape(&piece.replace(['\r', '\n'], " "))
    });
    let leaf = prop_oneof![
        6 => piece,
        1 => Just(r"\w+".to_owned()),
        1 => Just(".*".to_owned()),
        1 => Just(r"\s".to_owned()),
        1 => Just("[0-9a-f]".to_owned()),
        1 => Just("[x1]".to_owned()),
        1 => Just(r"\b".to_owned()),
        1 => Just("^".to_owned()),
        1 => Just("$".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 1..4).prop_map(|all| all.concat()),
            2 => pieces_between_repeats(),
            1 => prop::collection::vec(inner.clone(), 1..4)
                .prop_map(|all| format!("(?:{})", all.join("|"))),
            1 => (inner.clone(), prop::sample::select(vec!["+", "?", "{2}", "{1,3}", "*"]))
                .prop_map(|(inner, times)| format!("(?:{inner}){times}")),
            1 => inner.prop_map(|inner| format!("(?i:{inner})")),
        ]
    })
}

/// A part of the text of which each character may be repeated: only where characters meet are trigrams known.
fn pieces_between_repeats() -> impl Strategy<Value = String> {
    (any::<prop::sample::Index>(), 3usize..9).prop_map(|(at, len)| {
        let text = &FILES.text;
        let start = text.floor_char_boundary(at.index(text.len()));
        let characters: Vec<char> = text[start..].chars().take(len).collect();
        let pairs = characters.chunks(2).map(|pair| {
            let pair: String = pair.iter().collect();
            let pair = regex_syntax::escape(&pair.replace(['\r', '\n'], " "));
            format!("(?:{pair})+")
        });
        pairs.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn skipping_by_trigrams_changes_no_answer(
        pattern in patterns_of_text(),
        ignore_case in any::<bool>(),
        multi_line in any::<bool>(),
    ) {
        let request = RegexRequest::new(&*pattern)
            .ignore_case(ignore_case)
            .multi_line(multi_line)
            .max_line_bytes(100)
            .k(2000);
        for kb in &FILES.kbs {
            let skipping = kb.search_regex(&request).unwrap();
            let whole = kb.search_regex(&request.clone().uses_trigrams(false)).unwrap();
            prop_assert_eq!(&skipping.matches.items, &whole.matches.items, "{}", pattern);
            prop_assert!(skipping.searched_bytes <= whole.searched_bytes);
        }
    }
}
