//! What is refused, with nothing committed.

use std::ops::ControlFlow;

use kb_types::error::{Error, Result};

use crate::ingest::run::vectors::tests::{
    DIM, File, found, import, name, random, request, vectors,
};
use crate::kb::{KbWriter, search_files};
use crate::metric::Metric;
use crate::progress::{Progress, Stage};
use crate::search::{Mode, Request};
use crate::{NewVectors, VectorColumn, VectorTarget};

fn document(number: usize) -> VectorTarget {
    VectorTarget::Document(name(number))
}

/// What a commit would change.
fn state(file: &File) -> (u64, Vec<VectorColumn>) {
    let kb = file.kb();
    (kb.state().unwrap().generation, kb.vector_columns().unwrap())
}

/// Rows of three good vectors and a last one.
fn last(target: VectorTarget, vector: Vec<f32>) -> Vec<(VectorTarget, Vec<f32>)> {
    let good = (0..3).map(|number| (document(number), random(number, DIM)));
    good.chain([(target, vector)]).collect()
}

#[test]
fn bad_rows_are_named_and_leave_the_file_as_it_was() {
    let file = File::new(10, 4);
    file.import(&NewVectors::new("old"), &vectors(10)).unwrap();
    let before = state(&file);
    let good = || random(9, DIM);
    let with = |at: usize, number: f32| {
        let mut vector = good();
        vector[at] = number;
        vector
    };
    let chunk = |document: &str, index| VectorTarget::Chunk {
        document: document.to_owned(),
        index,
    };
    let span = |start, end| VectorTarget::Span {
        document: name(5),
        start,
        end,
    };
    let lines = |first, last| VectorTarget::Lines {
        document: name(5),
        first,
        last,
    };
    let cosine = NewVectors::new("new");
    let dot = NewVectors::new("new").metric(Metric::Dot);
    let bad = [
        (
            &cosine,
            last(document(5), with(2, f32::NAN)),
            "vectors: row 3: number 2 is NaN",
        ),
        (
            &dot,
            last(document(5), with(0, f32::INFINITY)),
            "row 3: number 0 is inf",
        ),
        (
            &cosine,
            last(document(5), vec![0.0; DIM]),
            "row 3: all its numbers are 0",
        ),
        (
            &dot,
            last(document(5), with(1, 3e38)),
            "row 3: it is longer than",
        ),
        (
            &cosine,
            last(document(5), random(1, DIM + 1)),
            "row 3: it has 25 numbers, the column has 24",
        ),
        (
            &cosine,
            last(document(5), Vec::new()),
            "row 3: it has 0 numbers",
        ),
        (
            &cosine,
            vec![(document(5), Vec::new())],
            "row 0: it has 0 numbers; a column has 1 to 4096",
        ),
        (
            &cosine,
            vec![(document(5), vec![1.0; 4097])],
            "row 0: it has 4097 numbers",
        ),
        (
            &cosine,
            last(document(2), good()),
            "row 3: its chunk had an earlier row",
        ),
        (
            &cosine,
            last(chunk(&name(2), 0), good()),
            "row 3: its chunk had an earlier row",
        ),
        (
            &cosine,
            last(VectorTarget::Position(1), good()),
            "row 3: its chunk had an earlier row",
        ),
        (
            &cosine,
            last(document(77), good()),
            "chunks: row 3: no document \"d0077.txt\"",
        ),
        (
            &cosine,
            last(chunk(&name(5), 1), good()),
            "row 3: \"d0005.txt\" has 1 chunks and none of number 1",
        ),
        (
            &cosine,
            last(span(0, 5), good()),
            "row 3: \"d0005.txt\" has no chunk of exactly the bytes 0 to 5",
        ),
        (
            &cosine,
            last(lines(1, 2), good()),
            "row 3: \"d0005.txt\" has no chunk, or several, of exactly the lines",
        ),
        (
            &cosine,
            last(VectorTarget::Position(10), good()),
            "row 3: there is no chunk 10: the file has 10",
        ),
        (&cosine, Vec::new(), "there is no row to import"),
        (
            &NewVectors::new("old"),
            last(document(5), good()),
            "replace: row 0: its chunk has a vector in \"old\" already",
        ),
        (
            &NewVectors::new("old").metric(Metric::L2),
            last(document(5), good()),
            "metric: l2 given; \"old\" is compared by cosine",
        ),
        (
            &NewVectors::new("old").model("x"),
            last(document(5), good()),
            "model: \"x\" given; \"old\" has no name of a model: leave it out, import",
        ),
        (
            &NewVectors::new(""),
            last(document(5), good()),
            "name: \"\": it is empty",
        ),
        (
            &NewVectors::new("built-in"),
            last(document(5), good()),
            "that is the column of the built-in model",
        ),
        (
            &NewVectors::new("a\u{7}"),
            last(document(5), good()),
            "control character",
        ),
        (
            &NewVectors::new("n").model("m".repeat(1001)),
            last(document(5), good()),
            "model: 1001 bytes given",
        ),
    ];
    for (options, rows, expected) in bad {
        let error = import(&mut file.writer(), options, rows).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT", "{expected}: {error}");
        assert!(error.to_string().contains(expected), "{expected}: {error}");
        assert_eq!(state(&file), before, "{expected}");
    }
    let left = std::fs::read_dir(file.folder.path()).unwrap().count();
    assert_eq!(left, 1, "a temporary file is left");
    file.sound();
}

#[test]
fn rows_in_order_are_as_many_as_the_chunks() {
    let file = File::new(10, 4);
    let rows = |count: u64| -> Vec<(VectorTarget, Vec<f32>)> {
        let vector = |number| (VectorTarget::Position(number), random(number as usize, DIM));
        (0..count).map(vector).collect()
    };
    let options = NewVectors::new("m");
    let refused = import(&mut file.writer(), &options, rows(9)).unwrap_err();
    assert_eq!(refused.code(), "INVALID_ARGUMENT");
    let expected = "there are 9 rows for the chunks in order, and the file has 10 chunks";
    assert!(refused.to_string().contains(expected), "{refused}");
    assert_eq!(file.sound().vector_columns().unwrap().len(), 1);
    assert_eq!(
        import(&mut file.writer(), &options, rows(10)).unwrap().rows,
        10
    );
    for number in [0, 9] {
        let of = request(&random(number, DIM), 1).vector_column("m");
        assert_eq!(found(&file.kb().search(&of).unwrap())[0].0, name(number));
    }
    // A document that came since the rows were counted.
    let mut writer = file.writer();
    writer.add_bytes("a.txt", b"A lamp.\n").unwrap();
    let later = import(&mut writer, &options.replace(true), rows(10)).unwrap_err();
    assert!(
        later
            .to_string()
            .contains("10 rows for the chunks in order, and the file has 11")
    );
}

#[test]
fn an_error_of_the_caller_or_a_break_ends_an_import() {
    let file = File::new(200, 60);
    let before = state(&file);
    let rows = |fails_at: Option<u64>| {
        (0..200u64).map(move |number| match fails_at {
            Some(at) if at == number => Err(Error::SnapshotExpired),
            _ => Ok((VectorTarget::Position(number), random(number as usize, DIM))),
        })
    };
    let options = NewVectors::new("m");
    let mut writer = file.writer();
    let failed = writer.import_vectors(&options, &mut rows(Some(150)), &mut Progress::ignore);
    assert_eq!(failed.unwrap_err().code(), "SNAPSHOT_EXPIRED");
    let mut reports = Vec::new();
    for stop_at in [0, 130, 290, 381] {
        let mut hook = |progress: &Progress| {
            assert_eq!(progress.stage, Stage::Import);
            reports.push(progress.files_done);
            if progress.files_done >= stop_at {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        let stopped = writer.import_vectors(&options, &mut rows(None), &mut hook);
        assert_eq!(stopped.unwrap_err().code(), "CANCELLED", "{stop_at}");
        assert!(reports.is_sorted(), "{reports:?}");
        reports.clear();
    }
    assert_eq!(state(&file), before);
    let mut most = 0;
    let mut hook = |progress: &Progress| {
        most = most.max(progress.files_done);
        assert!(progress.files_total == 0 || progress.files_total == 400);
        ControlFlow::Continue(())
    };
    writer
        .import_vectors(&options, &mut rows(None), &mut hook)
        .unwrap();
    assert!(most > 350, "{most}");
    assert_eq!(file.sound().vector_columns().unwrap()[1].rows, 200);
}

#[test]
fn there_must_be_a_file_to_import_into() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.kb");
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    let rows = vec![(document(0), random(0, DIM))];
    let error = import(&mut writer, &NewVectors::new("m"), rows.clone()).unwrap_err();
    assert_eq!(error.code(), "PATH_NOT_FOUND");
    assert!(!path.exists());
    // What waits for a commit is there to be named.
    writer.add_bytes(&name(0), b"A buoy.\n").unwrap();
    let report = import(&mut writer, &NewVectors::new("m"), rows).unwrap();
    assert_eq!((report.rows, report.chunks, writer.pending()), (1, 1, 0));
}

#[test]
fn requests_that_no_column_can_answer_are_refused() {
    let file = File::new(10, 10);
    let rows = vectors(10);
    file.import(&NewVectors::new("m").model("some model"), &rows)
        .unwrap();
    file.import(&NewVectors::new("l").metric(Metric::L2), &rows)
        .unwrap();
    let kb = file.kb();
    let of = |vector: Vec<f32>| request(&vector, 5).vector_column("m");
    let mut infinite = random(1, DIM);
    infinite[3] = f32::NEG_INFINITY;
    let text = |mode| Request::new("buoy").mode(mode);
    for (request, expected) in [
        (
            of(random(1, 7)),
            "vector: it has 7 numbers, the column has 24: take a vector by its model; it is searched in column \"m\" by \"some model\"",
        ),
        (of(Vec::new()), "it has 0 numbers"),
        (of(infinite), "number 3 is -inf"),
        (of(vec![0.0; DIM]), "all its numbers are 0"),
        (of(vec![1e19; DIM]), "longer than"),
        (
            of(random(1, DIM)).vector_column("x"),
            "vector_column: the file has no column of vectors \"x\"; it has built-in, m, l",
        ),
        (
            of(random(1, DIM)).vector_column("built-in"),
            "it has 24 numbers, the column has",
        ),
        (
            of(random(1, DIM)).mode(Mode::Keyword),
            "keyword mode does not search vectors",
        ),
        (
            of(random(1, DIM)).mode(Mode::Title),
            "title mode does not search vectors",
        ),
        (
            text(Mode::Hybrid).vector_column("m"),
            "cannot embed text with \"some model\"; give the vector",
        ),
        (
            text(Mode::Semantic).vector_column("x"),
            "no column of vectors \"x\"",
        ),
        (Request::new(" "), "query: it is empty"),
    ] {
        let error = kb.search(&request).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT", "{expected}: {error}");
        assert!(error.to_string().contains(expected), "{expected}: {error}");
    }
    // A zero vector has a dot product and a distance.
    let zero = request(&[0.0; DIM], 10).vector_column("l");
    let hits = kb.search(&zero).unwrap().hits;
    let shortest = rows
        .iter()
        .min_by(|a, b| length(&a.1).total_cmp(&length(&b.1)));
    assert_eq!(
        (hits.len(), hits[0].document.clone()),
        (10, name(shortest.unwrap().0))
    );
}

fn length(vector: &[f32]) -> f32 {
    vector.iter().map(|x| x * x).sum()
}

#[test]
fn files_with_other_columns_are_not_searched_together() {
    let rows = vectors(5);
    let (one, other) = (File::new(5, 5), File::new(5, 5));
    one.import(&NewVectors::new("m").make_default(true), &rows)
        .unwrap();
    let of = request(&rows[0].1, 5);
    let both = |request: &Request| -> Result<usize> {
        let (one, other) = (one.kb(), other.kb());
        Ok(search_files(&[&one, &other], request)?.hits.len())
    };
    let refused = |request: &Request, expected: &str| {
        let error = both(request).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT");
        assert!(error.to_string().contains(expected), "{expected}: {error}");
    };
    let named = of.clone().vector_column("m");
    refused(
        &named,
        "all.kb has no column of vectors \"m\"; it has built-in",
    );
    refused(&of, "all.kb has \"built-in\" as its default column");
    let short: Vec<_> = rows
        .iter()
        .map(|(number, vector)| (*number, vector[..9].to_vec()))
        .collect();
    other.import(&NewVectors::new("m"), &short).unwrap();
    refused(&named, "all.kb has vectors of 9 numbers there");
    other.writer().remove_vectors("m").unwrap();
    other
        .import(&NewVectors::new("m").metric(Metric::Dot), &rows)
        .unwrap();
    refused(&named, "all.kb compares them by dot");
    other.writer().remove_vectors("m").unwrap();
    other.import(&NewVectors::new("m"), &rows).unwrap();
    assert!(both(&named).unwrap() >= 2);
    refused(&of, "default column");
    other.writer().set_default_vectors("m").unwrap();
    assert_eq!(both(&of).unwrap(), both(&named).unwrap());
}
