//! What becomes of columns while a file changes; and the file of short documents that tests of columns begin with.

use std::path::{Path, PathBuf};

use kb_types::error::Result;

use crate::catalog::Catalog;
use crate::container::Container;
use crate::index::vector::Codec;
use crate::kb::{Kb, KbWriter};
use crate::metric::Metric;
use crate::progress::Progress;
use crate::search::{Mode, Request, Response};
use crate::store::tables;
use crate::{ImportReport, NewVectors, SealOptions, VectorTarget, VerifyOptions};

/// Dimensions of most vectors here.
pub(crate) const DIM: usize = 24;

/// A .kb in a folder of its own.
pub(crate) struct File {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

pub(crate) fn name(number: usize) -> String {
    format!("d{number:04}.txt")
}

impl File {
    /// Documents of one chunk each, `each` in a commit, so that each commit makes a segment.
    pub(crate) fn new(documents: usize, each: usize) -> File {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap().without_merges();
        for number in 0..documents {
            let text = format!("The buoy number {number} of the harbour.\n");
            writer.add_bytes(&name(number), text.as_bytes()).unwrap();
            if number % each == each - 1 {
                writer.commit().unwrap();
            }
        }
        writer.commit().unwrap();
        File { folder, path }
    }

    pub(crate) fn writer(&self) -> KbWriter {
        KbWriter::open(&self.path).unwrap()
    }

    pub(crate) fn kb(&self) -> Kb {
        Kb::open(&self.path).unwrap()
    }

    /// Imports a vector for each of some documents.
    pub(crate) fn import(
        &self,
        options: &NewVectors,
        rows: &[(usize, Vec<f32>)],
    ) -> Result<ImportReport> {
        let rows = rows.iter();
        let rows =
            rows.map(|(number, vector)| (VectorTarget::Document(name(*number)), vector.clone()));
        import(&mut self.writer(), options, rows.collect())
    }

    /// The file after a deep check that finds nothing.
    pub(crate) fn sound(&self) -> Kb {
        sound(&self.path)
    }
}

pub(crate) fn import(
    writer: &mut KbWriter,
    options: &NewVectors,
    rows: Vec<(VectorTarget, Vec<f32>)>,
) -> Result<ImportReport> {
    writer.import_vectors(
        options,
        &mut rows.into_iter().map(Ok),
        &mut Progress::ignore,
    )
}

pub(crate) fn sound(path: &Path) -> Kb {
    let kb = Kb::open(path).unwrap();
    let options = VerifyOptions::new().deep(true);
    let report = kb.verify(&options, &mut Progress::ignore).unwrap();
    assert_eq!(report.problems, [""; 0]);
    kb
}

/// Numbers that are the same for the same seed, from -1 to 1.
pub(crate) fn random(seed: usize, dim: usize) -> Vec<f32> {
    let mut state = (seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut next = move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..dim).map(|_| next()).collect()
}

/// A vector for each document, of different lengths.
pub(crate) fn vectors(documents: usize) -> Vec<(usize, Vec<f32>)> {
    let vector = |number: usize| {
        let length = 0.5 + (number % 7) as f32 / 4.0;
        let vector = random(number, DIM).into_iter();
        vector.map(|x| x * length).collect()
    };
    (0..documents)
        .map(|number| (number, vector(number)))
        .collect()
}

/// The score of a vector, computed with the numbers as they were given.
pub(crate) fn exact(metric: Metric, query: &[f32], vector: &[f32]) -> f64 {
    let pairs = || query.iter().zip(vector);
    let dot: f64 = pairs().map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
    let length = |of: &[f32]| -> f64 {
        let squares = of.iter().map(|x| f64::from(*x) * f64::from(*x));
        squares.sum::<f64>().sqrt()
    };
    match metric {
        Metric::Cosine => (dot / length(query) / length(vector)).max(0.0),
        Metric::Dot if dot < 0.0 => 0.5 / (1.0 - dot),
        Metric::Dot => 1.0 - 0.5 / (1.0 + dot),
        Metric::L2 => {
            let squares = pairs().map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2));
            1.0 / (1.0 + squares.sum::<f64>())
        }
    }
}

/// A request for single chunks by a vector.
pub(crate) fn request(vector: &[f32], k: usize) -> Request {
    Request::new("")
        .vector(vector)
        .k(k)
        .join(false)
        .mode(Mode::Semantic)
}

/// Paths and vector scores of the hits.
pub(crate) fn found(response: &Response) -> Vec<(String, f32)> {
    let hits = response.hits.iter();
    hits.map(|hit| (hit.document.clone(), hit.vector_score.unwrap()))
        .collect()
}

/// The hits of some vectors in each column.
fn answers(kb: &Kb) -> Vec<Vec<(String, f32)>> {
    let columns = kb.vector_columns().unwrap();
    let mut all = Vec::new();
    for column in columns.iter().skip(1) {
        for seed in [500, 501, 502] {
            let of = request(&random(seed, DIM), 15).vector_column(&column.name);
            all.push(found(&kb.search(&of).unwrap()));
        }
    }
    all
}

fn import_all_metrics(file: &File, rows: &[(usize, Vec<f32>)]) {
    for metric in Metric::ALL {
        let options = NewVectors::new(metric.name()).metric(metric).model("any");
        file.import(&options, rows).unwrap();
    }
}

#[test]
fn vectors_come_in_several_imports_and_are_replaced() {
    let file = File::new(40, 16);
    let (rows, options) = (vectors(40), NewVectors::new("m").metric(Metric::L2));
    let report = file.import(&options, &rows[..25]).unwrap();
    assert_eq!((report.rows, report.replaced), (25, 0));
    // Another codec and no model are no contradiction.
    let later = options.clone().codec(Codec::I4);
    let report = file.import(&later, &rows[25..]).unwrap();
    assert_eq!((report.rows, report.replaced, report.chunks), (15, 0, 40));
    let of = |number: usize| {
        let response = file
            .sound()
            .search(&request(&rows[number].1, 3).vector_column("m"));
        found(&response.unwrap())[0].clone()
    };
    for number in [0, 24, 25, 39] {
        assert_eq!(of(number).0, name(number));
    }
    let swapped = [(3, rows[30].1.clone()), (30, rows[3].1.clone())];
    let refused = file.import(&options, &swapped).unwrap_err();
    assert_eq!(refused.code(), "INVALID_ARGUMENT");
    let report = file.import(&options.replace(true), &swapped).unwrap();
    assert_eq!((report.rows, report.replaced), (2, 2));
    assert_eq!((of(3).0, of(30).0, of(4).0), (name(30), name(3), name(4)));
    let column = file.kb().vector_columns().unwrap().remove(1);
    assert_eq!(
        (column.codec, column.rows, column.dim),
        (Codec::I8, 40, DIM as u32)
    );
}

#[test]
fn chunks_are_named_in_four_ways() {
    let file = File::new(3, 3);
    let text = "# Fog\n\nThe horn sounds all night long.\n\n".repeat(120);
    let mut writer = file.writer();
    writer.add_bytes("long.md", text.as_bytes()).unwrap();
    writer.add_bytes("empty.md", b"").unwrap();
    writer.commit().unwrap();
    let kb = file.kb();
    let chunks = kb.chunk_spans("long.md").unwrap();
    assert!(chunks.len() > 3, "{}", chunks.len());
    let places = kb.chunks_in_order(0, 100).unwrap();
    assert_eq!(places.len(), chunks.len() + 3);
    assert_eq!(
        (places[4].document.as_str(), places[4].index),
        ("long.md", 1)
    );
    assert_eq!(kb.chunks_in_order(4, 2).unwrap(), places[4..6]);
    assert!(kb.chunks_in_order(100, 2).unwrap().is_empty());
    let document = "long.md".to_owned();
    let targets = vec![
        VectorTarget::Chunk {
            document: document.clone(),
            index: 1,
        },
        VectorTarget::Chunk {
            document: document.clone(),
            index: 0,
        },
        VectorTarget::Span {
            document: document.clone(),
            start: chunks[2].span.start,
            end: chunks[2].span.end,
        },
        VectorTarget::Lines {
            document: document.clone(),
            first: chunks[3].lines.first,
            last: chunks[3].lines.last,
        },
        VectorTarget::Document(name(1)),
    ];
    let rows = targets.into_iter().enumerate();
    let rows = rows.map(|(seed, target)| (target, random(seed, DIM)));
    import(&mut writer, &NewVectors::new("m"), rows.collect()).unwrap();
    let kb = file.sound();
    for (seed, index) in [(0, 1), (1, 0), (2, 2), (3, 3)] {
        let of = request(&random(seed, DIM), 1).vector_column("m");
        let hit = kb.search(&of).unwrap().hits.items.remove(0);
        assert_eq!(
            (hit.document.as_str(), hit.span),
            ("long.md", chunks[index].span)
        );
    }
    let only = VectorTarget::Document(document);
    let error = import(
        &mut writer,
        &NewVectors::new("n"),
        vec![(only, random(0, DIM))],
    );
    assert!(error.unwrap_err().to_string().contains("name the chunk"));
    let empty = VectorTarget::Document("empty.md".to_owned());
    let error = import(
        &mut writer,
        &NewVectors::new("n"),
        vec![(empty, random(0, DIM))],
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.ends_with(
            "row 0: \"empty.md\" has no chunks, so it can have no vector: leave the row out"
        ),
        "{error}"
    );
    // All chunks of one long line have the same lines.
    let line = "The horn sounds all night long. ".repeat(300);
    writer.add_bytes("one.txt", line.as_bytes()).unwrap();
    let target = VectorTarget::Lines {
        document: "one.txt".to_owned(),
        first: 1,
        last: 1,
    };
    let error = import(
        &mut writer,
        &NewVectors::new("n"),
        vec![(target, random(0, DIM))],
    );
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("or several, of exactly the lines 1 to 1")
    );
}

#[test]
fn merges_carry_vectors_along() {
    let file = File::new(42, 6);
    let rows = vectors(42);
    import_all_metrics(&file, &rows[..20]);
    let mut writer = file.writer();
    writer.remove(&name(4)).unwrap();
    writer.commit().unwrap();
    let before = (file.kb().info().unwrap().segments, answers(&file.kb()));
    // The eighth segment makes all of them one.
    writer.add_bytes("last.txt", b"The last buoy.\n").unwrap();
    writer.commit().unwrap();
    let kb = file.sound();
    assert_eq!((before.0, kb.info().unwrap().segments), (7, 1));
    assert_eq!(answers(&kb), before.1);
    let columns = kb.vector_columns().unwrap();
    assert!(columns[1..].iter().all(|column| column.rows == 19));
    // A writer that had the old records goes on.
    let more: Vec<_> = rows[20..]
        .iter()
        .map(|(number, vector)| (VectorTarget::Document(name(*number)), vector.clone()))
        .collect();
    import(
        &mut writer,
        &NewVectors::new("dot").metric(Metric::Dot),
        more,
    )
    .unwrap();
    assert_eq!(file.sound().vector_columns().unwrap()[2].rows, 41);
}

#[test]
fn sealing_carries_vectors_along() {
    let file = File::new(42, 6);
    let plain = file.folder.path().join("plain.kb");
    let seal = |output: &std::path::Path, codec| {
        let options = SealOptions::new().vectors(codec).replace(true);
        let report = file
            .writer()
            .seal(Some(output), &options, &mut Progress::ignore);
        (report.unwrap().content_root, sound(output))
    };
    let (root, kb) = seal(&plain, None);
    assert_eq!(kb.vector_columns().unwrap().len(), 1);
    import_all_metrics(&file, &vectors(30));
    file.writer().set_default_vectors("l2").unwrap();
    file.writer().remove_vectors("dot").unwrap();
    let output = file.folder.path().join("sealed.kb");
    let (with_vectors, kb) = seal(&output, None);
    assert_eq!(with_vectors, root, "imported vectors are no part of it");
    assert_eq!(answers(&kb), answers(&file.kb()));
    let columns = kb.vector_columns().unwrap();
    let names: Vec<(&str, bool)> = columns
        .iter()
        .map(|it| (&*it.name, it.is_default))
        .collect();
    assert_eq!(
        names,
        [("built-in", false), ("cosine", false), ("l2", true)]
    );
    assert_eq!(columns[2].model, "any");
    let (_, again) = seal(&plain, None);
    for column in ["cosine", "l2"] {
        let bytes = |kb: &Kb| kb.vectors_of(column).unwrap().to_f32();
        assert!(bytes(&kb) == bytes(&again));
    }
    assert_eq!(
        kb.sizes().unwrap().sections,
        again.sizes().unwrap().sections
    );
    // All of them in half the bytes, and not back.
    let (root_of_i4, packed) = seal(&output, Some(Codec::I4));
    assert_eq!(root_of_i4, root);
    let columns = packed.vector_columns().unwrap();
    assert!(columns.iter().all(|column| column.codec == Codec::I4));
    assert_eq!(answers(&packed)[0][0].0, answers(&kb)[0][0].0);
    let mut writer = KbWriter::open(&output).unwrap();
    let options = SealOptions::new().vectors(Some(Codec::I8));
    let refused = writer
        .seal(None, &options, &mut Progress::ignore)
        .unwrap_err();
    assert_eq!(refused.code(), "INVALID_ARGUMENT");
    // A sealed file gets vectors like any other, and is not sealed then.
    drop(writer);
    let mut writer = KbWriter::open(&plain).unwrap();
    let rows = vec![(VectorTarget::Document(name(35)), random(35, DIM))];
    import(&mut writer, &NewVectors::new("l2").metric(Metric::L2), rows).unwrap();
    let kb = sound(&plain);
    assert_eq!(kb.info().unwrap().content_root, None);
    assert_eq!(kb.vector_columns().unwrap()[2].rows, 31);
}

#[test]
fn a_removed_column_leaves_nothing_and_no_number_comes_twice() {
    let file = File::new(20, 7);
    let rows = vectors(20);
    let columns_of = |path: &std::path::Path| {
        let container = Container::open(path).unwrap();
        let read = container.read(|snapshot| {
            let catalog = Catalog::load(snapshot)?;
            let records = catalog
                .segments
                .iter()
                .map(|segment| &segment.records.segment);
            let columns = records.clone().flat_map(|record| record.columns.iter());
            let numbers: Vec<u16> = columns.map(|column| column.column).collect();
            let more = records
                .map(|record| record.more_vectors.len())
                .sum::<usize>();
            let has_table = snapshot.table(tables::VECTORS)?.is_some();
            Ok((numbers, more, catalog.vector_columns.next, has_table))
        });
        read.unwrap()
    };
    let before = columns_of(&file.path);
    assert_eq!((before.1, before.2, before.3), (0, 1, false));
    let sizes = file.kb().sizes().unwrap();
    file.import(&NewVectors::new("a").make_default(true), &rows)
        .unwrap();
    file.import(&NewVectors::new("b").metric(Metric::L2), &rows)
        .unwrap();
    let grown = file.kb().sizes().unwrap();
    // Rows of 64 bytes, a block of signs of 512 for each of three segments, and lengths.
    let stored = 2 * 20 * 64 + 2 * 3 * 512 + 20 * 4;
    assert!(grown.sections[2].1 >= sizes.sections[2].1 + stored);
    let sum: u64 = grown.sections.iter().map(|section| section.1).sum();
    assert_eq!(sum, grown.file_bytes);
    let (numbers, more, next, _) = columns_of(&file.path);
    assert_eq!((more, next), (6, 3));
    for number in [256 + 32, 256 + 34, 512 + 32, 512 + 34, 512 + 44] {
        let count = numbers.iter().filter(|it| **it == number).count();
        assert_eq!(count, 3, "{number}");
    }
    let mut writer = file.writer();
    assert_eq!(writer.remove_vectors("a").unwrap(), 20);
    let columns = file.sound().vector_columns().unwrap();
    assert_eq!((columns.len(), columns[0].is_default), (2, true));
    assert_eq!(writer.remove_vectors("b").unwrap(), 20);
    let after = columns_of(&file.path);
    assert_eq!((&after.0, after.1, after.2), (&before.0, 0, 3));
    for name in ["a", "built-in"] {
        let error = writer.remove_vectors(name).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT");
    }
    let gone = file.kb().search(&request(&rows[0].1, 3).vector_column("a"));
    assert_eq!(gone.unwrap_err().code(), "INVALID_ARGUMENT");
    let text = |sizes: &crate::Sizes| sizes.sections[2].1;
    assert!(text(&file.kb().sizes().unwrap()) <= text(&sizes) + 8192);
    drop(writer);
    file.import(&NewVectors::new("a"), &rows).unwrap();
    assert_eq!(columns_of(&file.path).2, 4);
    file.writer().remove_vectors("a").unwrap();
    let output = file.folder.path().join("sealed.kb");
    let mut writer = file.writer();
    writer
        .seal(Some(&output), &SealOptions::new(), &mut Progress::ignore)
        .unwrap();
    let sealed = columns_of(&output);
    assert_eq!((sealed.1, sealed.2, sealed.3), (0, 1, false));
}

#[test]
fn a_default_that_stays_writes_nothing() {
    let file = File::new(5, 5);
    let mut writer = file.writer();
    writer.set_default_vectors("built-in").unwrap();
    assert_eq!(
        writer.set_default_vectors("x").unwrap_err().code(),
        "INVALID_ARGUMENT"
    );
    drop(writer);
    assert_eq!(file.kb().state().unwrap().generation, 1);
    file.import(&NewVectors::new("m"), &vectors(5)).unwrap();
    let default = || {
        let columns = file.kb().info().unwrap().vector_columns;
        columns
            .into_iter()
            .find(|column| column.is_default)
            .unwrap()
            .name
    };
    assert_eq!(default(), "built-in");
    file.writer().set_default_vectors("m").unwrap();
    assert_eq!(default(), "m");
    let hits = file
        .kb()
        .search(&request(&vectors(5)[2].1, 1))
        .unwrap()
        .hits;
    assert_eq!(hits[0].document, name(2));
    file.writer().set_default_vectors("built-in").unwrap();
    assert_eq!(default(), "built-in");
}

#[test]
fn stored_vectors_are_lent_by_their_column() {
    let file = File::new(20, 8);
    let rows: Vec<_> = vectors(20)
        .into_iter()
        .filter(|row| row.0 < 8 || row.0 == 17)
        .collect();
    file.import(
        &NewVectors::new("m").metric(Metric::Dot).model("some"),
        &rows,
    )
    .unwrap();
    let mut writer = file.writer();
    writer.remove(&name(3)).unwrap();
    writer.commit().unwrap();
    let kb = file.kb();
    let vectors = kb.vectors_of("m").unwrap();
    assert_eq!(
        (vectors.dim as usize, vectors.model.as_str()),
        (DIM, "some")
    );
    let of = kb.vector_rows(&vectors).unwrap();
    // The segment of 8 to 15 has none.
    assert_eq!((vectors.rows(), of.len()), (12, 12));
    let numbers = vectors.to_f32();
    for (row, told) in of.iter().zip(numbers.chunks_exact(DIM)) {
        let given = rows.iter().find(|given| name(given.0) == row.document);
        assert_eq!(row.has_vector, given.is_some() || row.is_deleted);
        match given {
            Some((_, given)) => {
                let near = given.iter().zip(told).all(|(a, b)| (a - b).abs() < 0.02);
                assert!(near, "{row:?}");
            }
            None if !row.is_deleted => assert!(told.iter().all(|x| *x == 0.0)),
            None => {}
        }
    }
    let all = kb.vectors_of("built-in").unwrap();
    assert_eq!((all.rows(), kb.vectors().unwrap().rows()), (20, 20));
    assert!(
        kb.vector_rows(&all)
            .unwrap()
            .iter()
            .all(|row| row.has_vector)
    );
    assert_eq!(kb.vectors_of("x").unwrap_err().code(), "INVALID_ARGUMENT");
}

#[test]
fn a_file_that_is_built_anew_names_the_columns_it_lost() {
    let file = File::new(4, 4);
    file.import(&NewVectors::new("a"), &vectors(4)).unwrap();
    file.import(&NewVectors::new("b"), &vectors(4)).unwrap();
    let folder = file.folder.path().join("sources");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("more.md"), "# More\n").unwrap();
    let index = |options: crate::IndexOptions| {
        let sources = std::slice::from_ref(&folder);
        file.writer()
            .index(sources, &options, &mut Progress::ignore)
    };
    let options = crate::IndexOptions::new();
    assert_eq!(index(options.clone()).unwrap().lost_columns, [""; 0]);
    assert_eq!(file.kb().vector_columns().unwrap().len(), 3);
    let report = index(options.clone().rebuild(true)).unwrap();
    assert_eq!(report.lost_columns, ["a", "b"]);
    assert_eq!(file.kb().vector_columns().unwrap().len(), 1);
    assert_eq!(index(options.rebuild(true)).unwrap().lost_columns, [""; 0]);
}

#[test]
fn later_vectors_keep_the_range_of_the_first() {
    let file = File::new(12, 12);
    let short: Vec<_> = (0..10)
        .map(|number| (number, random(number, DIM)))
        .collect();
    let options = NewVectors::new("m").metric(Metric::Dot);
    assert_eq!(file.import(&options, &short).unwrap().cut_numbers, 0);
    let scale = || file.kb().vectors_of("m").unwrap().blocks[0].scale;
    let before = scale();
    let long = vec![(11, vec![50.0; DIM])];
    let report = file.import(&options, &long).unwrap();
    assert_eq!(report.cut_numbers, DIM as u64);
    assert_eq!(scale(), before);
    file.sound();
}
