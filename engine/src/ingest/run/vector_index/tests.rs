//! Files with inverted lists, from limits that are low enough for a test.

use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::ingest::options::IndexOptions;
use crate::ingest::run::vectors::{NewVectors, VectorTarget};
use crate::kb::{Kb, KbWriter};
use crate::{
    Error, Filters, Mode, Progress, Report, Request, Scan, SealOptions, Stage, VectorCodec,
    VerifyOptions,
};

/// Chunks in the file.
const CHUNKS: usize = 6000;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// Text that each chunk has words of its own in, and some with their neighbours.
    fn new() -> Place {
        let place = Place {
            folder: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir(place.at("sources")).unwrap();
        place.fill(CHUNKS / 100);
        place
    }

    /// Writes the first files again and those up to `files` anew.
    fn fill(&self, files: usize) {
        (0..files).for_each(|file| self.write(file, 0));
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, file: usize, salt: usize) {
        const WORDS: [&str; 12] = [
            "harbour", "moon", "pump", "ledger", "orchard", "valve", "glacier", "violin", "copper",
            "bakery", "tunnel", "parrot",
        ];
        let sections = (0..100).map(|at| {
            let number = (file * 100 + at + salt) * 7919;
            let word = |step: usize| WORDS[number / step % WORDS.len()];
            let line = format!("{} {} {} {number} ", word(1), word(13), word(171));
            format!("# Part {number}\n\n{}\n\n", line.repeat(30))
        });
        let name = format!(
            "sources/{file:03}.{}",
            if file.is_multiple_of(10) { "txt" } else { "md" }
        );
        std::fs::write(self.at(&name), sections.collect::<String>()).unwrap();
    }

    fn writer(&self) -> KbWriter {
        let writer = KbWriter::open_or_create(self.at("all.kb")).unwrap();
        writer.with_lists_from(CHUNKS as u64 / 2, 1000)
    }

    fn index(&self, options: &IndexOptions) -> Report {
        let paths = [self.at("sources")];
        self.writer()
            .index(&paths, options, &mut Progress::ignore)
            .unwrap()
    }

    fn kb(&self) -> Kb {
        Kb::open(self.at("all.kb")).unwrap()
    }

    fn verify(&self, name: &str) {
        let kb = Kb::open(self.at(name)).unwrap();
        let options = VerifyOptions::new().deep(true);
        let report = kb.verify(&options, &mut Progress::ignore).unwrap();
        assert!(report.problems.is_empty(), "{:?}", report.problems);
    }
}

fn request(query: &str) -> Request {
    Request::new(query).mode(Mode::Semantic).join(false)
}

/// The share of the first ten of an exact search that a usual one finds.
fn recall(kb: &Kb, filters: &Filters) -> f32 {
    let (mut wanted, mut found) = (0, 0);
    for query in kb.sample_queries(40).unwrap() {
        let ask = |scan| {
            let request = request(&query).scan(scan).filters(filters.clone());
            kb.search(&request).unwrap().hits
        };
        let exact = ask(Scan::Exact);
        let least = exact.last().map_or(f32::INFINITY, |hit| hit.score);
        wanted += exact.len();
        found += ask(Scan::Auto)
            .iter()
            .filter(|hit| hit.score >= least)
            .count();
    }
    assert!(wanted > 100);
    found as f32 / wanted as f32
}

#[test]
fn large_files_get_lists_small_ones_do_not() {
    let place = Place::new();
    place.index(&IndexOptions::new());
    let info = place.kb().info().unwrap();
    assert!(info.chunks > 5000 && info.listed_segments == 1, "{info:?}");
    let measured = info.unquantised_recall.unwrap();
    assert!(
        measured.recall > 0.9 && measured.recall <= measured.exact,
        "{measured:?}"
    );
    place.verify("all.kb");
    assert!(recall(&place.kb(), &Filters::default()) > 0.95);
    let texts = Filters {
        types: vec!["txt".to_owned()],
        ..Filters::default()
    };
    assert!(recall(&place.kb(), &texts) > 0.95);

    let path = place.at("small.kb");
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    let paths = [place.at("sources")];
    writer
        .index(&paths, &IndexOptions::new(), &mut Progress::ignore)
        .unwrap();
    let info = Kb::open(&path).unwrap().info().unwrap();
    assert_eq!((info.listed_segments, info.unquantised_recall), (0, None));
}

#[test]
fn changes_merges_and_seals_keep_what_is_found() {
    let place = Place::new();
    place.index(&IndexOptions::new());
    // Commits between index runs make no lists.
    let mut writer = place.writer();
    writer
        .remove("sources/007.md")
        .or_else(|_| writer.remove("007.md"))
        .unwrap();
    for number in 0..5 {
        let text = format!("# Owl {number}\n\nThe owl of tower {number} hunts at night.\n");
        writer
            .add_bytes(&format!("owls/{number}.md"), text.as_bytes())
            .unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    let kb = place.kb();
    let response = kb.search(&request("owl that hunts at night")).unwrap();
    assert!(response.hits[0].document.starts_with("owls/"));
    assert_eq!(kb.info().unwrap().listed_segments, 1);
    place.verify("all.kb");
    assert!(recall(&kb, &Filters::default()) > 0.95);
    // More than half changes: the segment is rebuilt, with the centroids that are there or new ones.
    for file in 0..40 {
        place.write(file, 1_000_003);
    }
    place.index(&IndexOptions::new());
    place.verify("all.kb");
    assert!(place.kb().info().unwrap().listed_segments > 0);
    assert!(recall(&place.kb(), &Filters::default()) > 0.95);

    let seal = |name: &str, codec| {
        let options = SealOptions::new().vectors(codec);
        place
            .writer()
            .seal(Some(&place.at(name)), &options, &mut Progress::ignore)
            .unwrap();
        place.verify(name);
        let info = Kb::open(place.at(name)).unwrap().info().unwrap();
        assert_eq!((info.listed_segments, info.segments), (1, 1));
        info.unquantised_recall.unwrap()
    };
    let first = seal("one.kb", None);
    assert_eq!(seal("two.kb", None), first);
    seal("four.kb", Some(VectorCodec::I4));
    let vectors = |name: &str| {
        Kb::open(place.at(name))
            .unwrap()
            .vectors()
            .unwrap()
            .to_f32()
    };
    assert_eq!(vectors("one.kb"), vectors("two.kb"));
}

#[test]
fn a_wished_recall_is_reached_and_remembered() {
    let place = Place::new();
    let report = place.index(&IndexOptions::new().min_recall(Some(0.9)));
    assert_eq!(report.missed_recall, None);
    let measured = place.kb().info().unwrap().unquantised_recall.unwrap();
    assert!(measured.recall >= 0.9 && measured.wanted == Some(0.9));
    // The file remembers it, and a run that changes nothing takes another wish.
    assert_eq!(place.index(&IndexOptions::new()).missed_recall, None);
    let wanted = |share| {
        place.index(&IndexOptions::new().min_recall(Some(share)));
        place
            .kb()
            .info()
            .unwrap()
            .unquantised_recall
            .unwrap()
            .wanted
    };
    assert_eq!(wanted(0.95), Some(0.95));
    // 0 takes it back.
    assert_eq!(wanted(0.0), None);
    for share in [0.2, 1.5, -1.0, f32::NAN] {
        let options = IndexOptions::new().min_recall(Some(share));
        let refused = place
            .writer()
            .index(&[place.at("sources")], &options, &mut Progress::ignore);
        assert_eq!(refused.unwrap_err().code(), "INVALID_ARGUMENT");
    }
}

#[test]
fn a_recall_that_cannot_be_had_is_said_to_be_missed() {
    let place = Place::new();
    let options = IndexOptions::new().min_recall(Some(1.0));
    place.index(&options);
    // Nibbles do not tell all chunks apart that signed bytes do.
    let sealed = place.at("four.kb");
    let options = SealOptions::new().vectors(Some(VectorCodec::I4));
    let report = place
        .writer()
        .seal(Some(&sealed), &options, &mut Progress::ignore);
    let missed = report.unwrap().missed_recall.expect("a miss");
    assert!(missed.wanted == 1.0 && missed.vectors == VectorCodec::I4);
    assert!(missed.reached < 1.0 && missed.exact < 1.0, "{missed:?}");
    let info = Kb::open(&sealed).unwrap().info().unwrap();
    let measured = info.unquantised_recall.unwrap();
    let told = (measured.wanted, measured.recall, measured.exact);
    assert_eq!(told, (Some(1.0), missed.reached, missed.exact));
    // What is said to be rescored is what is: all 6000 chunks at most.
    assert!(u64::from(info.recall.unwrap().candidates) <= info.chunks);

    let mut writer = KbWriter::open_or_create(&sealed).unwrap();
    let options = IndexOptions::new().min_recall(Some(0.95));
    let paths = [place.at("sources")];
    let report = writer.index(&paths, &options, &mut Progress::ignore);
    let reached = Kb::open(&sealed).unwrap().info().unwrap();
    let reached = reached.unquantised_recall.unwrap();
    let missed = report.unwrap().missed_recall;
    assert_eq!(missed.is_some(), reached.recall < 0.95, "{reached:?}");
}

#[test]
fn a_wish_holds_when_lists_come_and_when_the_file_grows() {
    let place = Place::new();
    std::fs::remove_dir_all(place.at("sources")).unwrap();
    std::fs::create_dir(place.at("sources")).unwrap();
    let measured = |files, writer: KbWriter, options: &IndexOptions| {
        let mut writer = writer;
        place.fill(files);
        let paths = [place.at("sources")];
        let report = writer.index(&paths, options, &mut Progress::ignore);
        assert_eq!(report.unwrap().missed_recall, None);
        let info = place.kb().info().unwrap();
        let measured = info.unquantised_recall.unwrap();
        assert_eq!(measured.wanted, Some(0.9));
        (info.chunks, info.listed_segments, measured)
    };
    let without_lists = || KbWriter::open_or_create(place.at("all.kb")).unwrap();
    let options = IndexOptions::new().min_recall(Some(0.9));
    let (small, lists, first) = measured(30, without_lists(), &options);
    assert!(small < 4096 && lists == 0);
    assert_eq!((first.chunks, first.lists), (small, 1.0));
    // The file grows by less than half, and is not compared chunk by chunk any more.
    let options = IndexOptions::new();
    let (chunks, lists, second) = measured(45, without_lists(), &options);
    assert!(chunks > 4096 && chunks < 2 * small && lists == 0);
    assert_eq!((second.chunks, second.lists), (chunks, 1.0));
    // Lists come.
    let (chunks, lists, third) = measured(46, place.writer(), &options);
    assert!(lists > 0 && third.chunks == chunks);
    let (chunks, lists, fourth) = measured(100, place.writer(), &options);
    assert!(lists > 0 && chunks > 2 * third.chunks);
    assert!(fourth.chunks == chunks && fourth.recall >= 0.9);
    assert!(fourth.lists < 1.0, "{fourth:?}");
}

#[test]
fn what_was_measured_says_how_much_of_the_file_is_new() {
    let place = Place::new();
    place.index(&IndexOptions::new());
    let measured = || {
        let info = place.kb().info().unwrap();
        (info.chunks, info.unquantised_recall.unwrap())
    };
    let (chunks, first) = measured();
    assert_eq!((first.chunks, first.new_chunks), (chunks, 0));
    let mut writer = place.writer().without_merges();
    for number in 0..5 {
        let path = format!("owls/{number}.md");
        writer
            .add_bytes(&path, b"# Owl\n\nIt hunts at night.\n")
            .unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    assert_eq!(measured().1.new_chunks, 5);
    // A run with few changes measures nothing, one that replaces the contents does, also by about as many chunks.
    let index = |salt, mut writer: KbWriter| {
        (0..30).for_each(|file| place.write(file, salt));
        let paths = [place.at("sources")];
        writer
            .index(&paths, &IndexOptions::new(), &mut Progress::ignore)
            .unwrap();
        measured()
    };
    let (_, second) = index(0, place.writer().without_merges());
    assert_eq!((second.chunks, second.new_chunks), (chunks, 5));
    (30..60).for_each(|file| place.write(file, 2_000_003));
    let (now, third) = index(1_000_003, place.writer());
    assert!(now.abs_diff(chunks) < chunks / 10, "{now} of {chunks}");
    assert_eq!((third.chunks, third.new_chunks), (now, 0));
}

#[test]
fn a_run_that_is_stopped_in_its_lists_leaves_no_half() {
    let place = Place::new();
    let mut seen = 0;
    let stopped = place.writer().index(
        &[place.at("sources")],
        &IndexOptions::new(),
        &mut |progress| {
            if progress.stage == Stage::Lists {
                assert!(progress.bytes_done <= progress.bytes_total);
                seen += 1;
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        },
    );
    assert!(matches!(stopped, Err(Error::Cancelled)) && seen == 1);
    assert!(!place.at("all.kb").exists());
}

/// A vector for the chunk at a position.
fn vector(row: u64) -> Vec<f32> {
    let angle = |dim: u64| ((row * 31 + dim * dim * 17) % 97) as f32 / 9.0;
    (0..24).map(|dim| angle(dim).sin()).collect()
}

/// Imports vectors for each `every`-th chunk from `first` on.
fn import(place: &Place, options: &NewVectors, first: u64, every: u64) {
    let kb = place.kb();
    let places = kb.chunks_in_order(0, usize::MAX).unwrap();
    assert_eq!(places.len() as u64, kb.info().unwrap().chunks);
    let rows = (0u64..).zip(places).skip(first as usize);
    let mut rows = rows.step_by(every as usize).map(|(row, place)| {
        let target = VectorTarget::Chunk {
            document: place.document,
            index: place.index,
        };
        Ok((target, vector(row)))
    });
    place
        .writer()
        .with_lists_from(CHUNKS as u64 / 2, 500)
        .import_vectors(options, &mut rows, &mut Progress::ignore)
        .unwrap();
    place.verify("all.kb");
}

/// The scores of the first hits in column `other`.
fn near(kb: &Kb, row: u64, scan: Scan) -> Vec<f32> {
    let request = Request::new("")
        .vector(vector(row))
        .vector_column("other")
        .scan(scan)
        .join(false);
    let hits = kb.search(&request).unwrap().hits;
    hits.iter().map(|hit| hit.score).collect()
}

/// Checks that searches of lists of column `other` find what exact ones find.
fn lists_find_the_same(kb: &Kb) {
    let (mut wanted, mut found) = (0, 0);
    for row in (0..6000).step_by(211) {
        let exact = near(kb, row, Scan::Exact);
        let least = exact.last().copied().unwrap();
        let of_lists = near(kb, row, Scan::Rescored);
        wanted += exact.len();
        found += of_lists.iter().filter(|score| **score >= least).count();
    }
    assert!(wanted > 200);
    assert!(found * 100 >= wanted * 95, "{found} of {wanted}");
}

#[test]
fn columns_of_other_models_get_lists_too() {
    let place = Place::new();
    place.index(&IndexOptions::new());
    import(&place, &NewVectors::new("other"), 0, 1);
    let kb = place.kb();
    for row in [0, 77, 4321] {
        let (usual, exact) = (near(&kb, row, Scan::Auto), near(&kb, row, Scan::Exact));
        assert_eq!(usual[0], exact[0]);
        assert!(exact[0] > 0.95);
    }
    lists_find_the_same(&kb);
    let measured = |kb: &Kb| {
        let column = kb.vector_columns().unwrap().remove(1);
        column.recall.unwrap()
    };
    let found = measured(&kb);
    assert_eq!(
        (found.queries, found.k, found.chunks),
        (128, 10, kb.info().unwrap().chunks)
    );
    assert!(found.recall >= 0.97 && found.lists > 0.0, "{found:?}");
    assert_eq!(kb.vector_columns().unwrap()[0].recall, None);
    let sealed = place.at("sealed.kb");
    place
        .writer()
        .seal(Some(&sealed), &SealOptions::new(), &mut Progress::ignore)
        .unwrap();
    place.verify("sealed.kb");
    let sealed = Kb::open(sealed).unwrap();
    for scan in [Scan::Exact, Scan::Auto] {
        assert_eq!(near(&sealed, 77, scan)[0], near(&kb, 77, scan)[0]);
    }
    assert!(measured(&sealed).recall >= 0.97);
}

#[test]
fn lists_have_no_chunks_without_a_vector() {
    for codec in [VectorCodec::I8, VectorCodec::I4] {
        let place = Place::new();
        place.index(&IndexOptions::new());
        let options = NewVectors {
            codec,
            ..NewVectors::new("other")
        };
        // Verification knows which chunks have a vector, and finds any other one in the lists.
        import(&place, &options, 3, 10);
        lists_find_the_same(&place.kb());
        import(&place, &options, 7, 10);
        lists_find_the_same(&place.kb());
        // More than half of the file is new, and segments are merged; documents that changed have no vectors any more.
        (60..130).for_each(|file| place.write(file, 0));
        (0..3).for_each(|file| place.write(file, 1_000_003));
        let index = |place: &Place| {
            let mut writer = place.writer().with_lists_from(CHUNKS as u64 / 2, 500);
            let paths = [place.at("sources")];
            let report = writer.index(&paths, &IndexOptions::new(), &mut Progress::ignore);
            report.unwrap()
        };
        index(&place);
        place.verify("all.kb");
        import(
            &place,
            &NewVectors {
                replace: true,
                ..options
            },
            2,
            5,
        );
        lists_find_the_same(&place.kb());
        let sealed = place.at("sealed.kb");
        let mut writer = place.writer().with_lists_from(CHUNKS as u64 / 2, 500);
        writer
            .seal(Some(&sealed), &SealOptions::new(), &mut Progress::ignore)
            .unwrap();
        place.verify("sealed.kb");
        lists_find_the_same(&Kb::open(sealed).unwrap());
    }
}
