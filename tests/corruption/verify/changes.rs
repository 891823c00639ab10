//! Changes of a damaged file are refused, or correct, or made beside the damage. `verify` must still find the damage
//! after them.

use std::path::Path;

use kb_engine::{
    FieldValue, IndexOptions, Kb, KbWriter, Progress, Result, SealOptions, VerifyOptions,
};

use super::flips::{PAGE_BYTES, answers, live_pages, next};
use super::{Sample, paragraph, verify};
use crate::support::{content_of, memory_folder};

/// Flips of a normal test run; `KB_FLIPS` asks for another number.
const FLIPS: usize = 210;

type Change = fn(&mut KbWriter, &Path) -> Result<()>;

const CHANGES: [(&str, Change); 8] = [
    ("add", |writer, _| {
        let text: String = (0..20).map(|day| paragraph(day, "added")).collect();
        writer.add_bytes("x/new.md", text.as_bytes())?;
        writer.commit()
    }),
    ("tag", |writer, _| {
        writer.tag("notes/3.md", &["sea", "late"], &[])?;
        writer.tag("notes.txt", &[], &["sea"])?;
        writer.commit()
    }),
    ("set fields", |writer, _| {
        let year = ("year".to_owned(), vec![FieldValue::Integer(2024)]);
        writer.set_fields("notes/3.md", &[year])?;
        writer.commit()
    }),
    ("remove", |writer, _| {
        writer.remove("log.md")?;
        writer.remove("notes/9.md")?;
        writer.commit()
    }),
    ("index", |writer, sources| {
        let paths = [sources.to_owned()];
        let report = writer.index(&paths, &IndexOptions::default(), &mut Progress::ignore)?;
        assert!(report.has_changes());
        Ok(())
    }),
    ("merge", |writer, _| {
        for number in 0..9 {
            let text = paragraph(number, "small");
            writer.add_bytes(&format!("small/{number}.md"), text.as_bytes())?;
            writer.commit()?;
        }
        Ok(())
    }),
    ("seal", |writer, _| {
        writer
            .seal(None, &SealOptions::new(), &mut Progress::ignore)
            .map(|_| ())
    }),
    ("clear", |writer, _| writer.clear().map(|_| ())),
];

fn change(path: &Path, sources: &Path, change: Change) -> Result<()> {
    let mut writer = KbWriter::open_or_create(path)?;
    change(&mut writer, sources)
}

/// A hash of the content of a file in which `verify` finds nothing.
fn sound_content(path: &Path) -> Option<u64> {
    let kb = Kb::open(path).ok()?;
    let report = kb
        .verify(&VerifyOptions::new().deep(true), &mut Progress::ignore)
        .ok()?;
    report.problems.is_empty().then(|| content_of(&kb))
}

#[test]
fn no_change_of_a_damaged_file_hides_the_damage() {
    let asked = std::env::var("KB_FLIPS").ok();
    let flips = asked.map_or(FLIPS, |flips| flips.parse().expect("a number"));
    let sample = Sample::new();
    let whole = std::fs::read(&sample.path).expect("bytes");
    let sources = sample.path.with_file_name("harbour");
    std::fs::write(sources.join("notes.txt"), "Paraffin was ordered.\n").expect("file");
    std::fs::write(sources.join("new.md"), paragraph(1, "new")).expect("file");
    std::fs::remove_file(sources.join("docs/install.rst")).expect("removed");
    let folder = memory_folder();
    let path = folder.path().join("a.kb");
    let right = CHANGES.map(|(name, what)| {
        std::fs::write(&path, &whole).expect("file");
        change(&path, &sources, what).expect(name);
        sound_content(&path).expect("a sound file")
    });
    let right_answers = answers(&Kb::from_bytes(&whole[..]).expect("it opens"));
    let live = live_pages(&whole, right_answers);
    let mut state = 7;
    let (mut refused, mut beside, mut gone, mut harmless) = (0, 0, 0, 0);
    for round in 0..flips {
        let place =
            live[next(&mut state) % live.len()] * PAGE_BYTES + next(&mut state) % PAGE_BYTES;
        let mut bytes = whole.clone();
        bytes[place] ^= 1 << (next(&mut state) % 8);
        std::fs::write(&path, &bytes).expect("file");
        let was_sound = sound_content(&path).is_some();
        let at = round % CHANGES.len();
        let (name, what) = CHANGES[at];
        let changed = change(&path, &sources, what);
        let said = format!("byte {place}, {name}: {changed:?}");
        match (changed, sound_content(&path)) {
            (Ok(()), Some(content)) => {
                assert_eq!(content, right[at], "hidden: {said}");
                gone += usize::from(!was_sound);
                harmless += usize::from(was_sound);
            }
            (Ok(()), None) => {
                assert!(!was_sound, "{said}");
                beside += 1;
            }
            (Err(error), after) => {
                assert_eq!(error.code(), "DAMAGED", "{said}");
                assert!(!was_sound && after.is_none(), "{said}");
                refused += 1;
            }
        }
    }
    println!("{refused} refused, {beside} beside, {gone} gone, {harmless} harmless");
    assert!(
        refused > flips / 20 && beside > flips / 20,
        "{refused} {beside}"
    );
    let kb = Kb::from_bytes(whole).expect("it opens");
    assert_eq!(verify(&kb, true).problems, [""; 0]);
}
