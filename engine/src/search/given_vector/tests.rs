//! Searches by a vector.

use crate::index::vector::{Codec, Scan};
use crate::ingest::run::vectors::tests::{
    DIM, File, exact, found, import, name, random, request, vectors,
};
use crate::kb::search_files;
use crate::metric::Metric;
use crate::search::{Filters, Mode, Relevance, Request};
use crate::{NewVectors, VectorTarget};

/// The hits have the scores of an exact computation, and no chunk that scores clearly more is missing.
fn assert_exact(
    metric: Metric,
    query: &[f32],
    hits: &[(String, f32)],
    rows: &[(usize, Vec<f32>)],
    tolerance: f64,
) {
    let score = |number: usize| exact(metric, query, &rows[number].1);
    for (document, told) in hits {
        let number: usize = document[1..5].parse().unwrap();
        let is = score(number);
        assert!(
            (is - f64::from(*told)).abs() < tolerance,
            "{metric:?} {document}: {told} and {is}"
        );
    }
    let mut all: Vec<f64> = rows.iter().map(|(number, _)| score(*number)).collect();
    all.sort_by(|a, b| b.total_cmp(a));
    let scores: Vec<f32> = hits.iter().map(|hit| hit.1).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b));
    for (told, is) in scores.iter().zip(&all) {
        assert!(
            (is - f64::from(*told)).abs() < tolerance,
            "{metric:?}: {told} and {is}"
        );
    }
}

#[test]
fn hits_are_those_of_an_exact_computation() {
    let rows = vectors(300);
    for (metric, codec, tolerance) in [
        (Metric::Cosine, Codec::I8, 0.01),
        (Metric::Dot, Codec::I8, 0.01),
        (Metric::L2, Codec::I8, 0.02),
        (Metric::Cosine, Codec::I4, 0.1),
        (Metric::Dot, Codec::I4, 0.1),
        (Metric::L2, Codec::I4, 0.15),
    ] {
        // Several segments, whose rows must rank as those of one.
        for each in [300, 70] {
            let file = File::new(300, each);
            let options = NewVectors::new("m").metric(metric).codec(codec);
            let report = file.import(&options, &rows).unwrap();
            assert_eq!(
                (report.rows, report.chunks, report.dim),
                (300, 300, DIM as u32)
            );
            let kb = file.sound();
            for seed in [7000, 7001, 7002] {
                let query = random(seed, DIM);
                let of = request(&query, 40).vector_column("m");
                let response = kb.search(&of).unwrap();
                assert_eq!((response.hits.len(), response.mode), (40, Mode::Semantic));
                assert_eq!(response.relevance, Relevance::Relevant);
                assert_exact(metric, &query, &found(&response), &rows, tolerance);
                for hit in response.hits.iter() {
                    assert_eq!(Some(hit.score), hit.vector_score);
                }
                let all = kb.search(&of.clone().k(1000)).unwrap();
                let expected = match metric {
                    Metric::Cosine => all.hits.len() < 200,
                    // Below 0 as well.
                    Metric::Dot | Metric::L2 => all.hits.len() == 300,
                };
                assert!(expected, "{metric:?} {}", all.hits.len());
                assert_eq!(found(&all)[..40], found(&response));
            }
        }
    }
}

#[test]
fn many_chunks_are_found_by_their_signs_first() {
    let (file, rows) = (File::new(5000, 5000), vectors(5000));
    for metric in Metric::ALL {
        let options = NewVectors::new(metric.name()).metric(metric);
        file.import(&options, &rows).unwrap();
        let (kb, query) = (file.kb(), random(7000, DIM));
        let of = request(&query, 10)
            .vector_column(metric.name())
            .explain(true);
        let auto = kb.search(&of).unwrap();
        let exact = kb.search(&of.clone().scan(Scan::Exact)).unwrap();
        let is_rescored = auto.explanation.as_ref().unwrap().vectors.rescored;
        assert_eq!(is_rescored, metric == Metric::Cosine);
        let exact = found(&exact);
        assert_exact(metric, &query, &exact, &rows, 0.02);
        let auto = found(&auto);
        let is_found = |hit: &&(String, f32)| auto.contains(hit);
        assert!(exact.iter().filter(is_found).count() >= 9, "{metric:?}");
    }
}

#[test]
fn filters_and_deleted_documents_leave_chunks_out() {
    let file = File::new(60, 25);
    file.import(&NewVectors::new("m").metric(Metric::L2), &vectors(60))
        .unwrap();
    let query = random(3, DIM);
    let of = request(&query, 100).vector_column("m");
    let filtered = |paths: &[&str]| {
        let filters = Filters::new().paths(paths.iter().copied());
        let response = file.kb().search(&of.clone().filters(filters)).unwrap();
        let mut names: Vec<String> = found(&response).into_iter().map(|hit| hit.0).collect();
        names.sort();
        names
    };
    assert_eq!(
        filtered(&["d000[1-3].txt", "d0050.txt"]),
        [1, 2, 3, 50].map(name)
    );
    assert!(filtered(&["nothing"]).is_empty());
    let mut writer = file.writer();
    writer.remove(&name(2)).unwrap();
    writer.replace_bytes(&name(50), b"Another buoy.\n").unwrap();
    writer.commit().unwrap();
    // The new text has no vector.
    assert_eq!(filtered(&["d000[1-3].txt", "d0050.txt"]), [1, 3].map(name));
    file.sound();
    let kb = file.kb();
    let hits = found(&kb.search(&of).unwrap());
    assert_eq!(hits.len(), 58);
    assert!(hits.iter().all(|hit| hit.0 != name(2) && hit.0 != name(50)));
    for number in (0..60).filter(|number| *number != 2) {
        writer.remove(&name(number)).unwrap();
    }
    writer.commit().unwrap();
    assert!(file.sound().search(&of).unwrap().hits.is_empty());
    let columns = file.kb().vector_columns().unwrap();
    assert_eq!((columns[1].rows, columns[1].name.as_str()), (0, "m"));
}

#[test]
fn chunks_without_a_vector_never_answer_by_one() {
    let file = File::new(30, 8);
    // Nothing at all in the segment of 16 to 23.
    let some: Vec<_> = vectors(30)
        .into_iter()
        .filter(|(number, _)| number % 3 == 0 && !(16..24).contains(number))
        .collect();
    for metric in Metric::ALL {
        let options = NewVectors::new(metric.name())
            .metric(metric)
            .codec(Codec::I4);
        let report = file.import(&options, &some).unwrap();
        assert_eq!((report.rows, report.chunks), (8, 30));
        let kb = file.sound();
        let query = &some[2].1;
        let of = request(query, 100).vector_column(metric.name());
        let found = found(&kb.search(&of).unwrap());
        assert_eq!(found[0].0, name(6));
        let has_one = |hit: &(String, f32)| some.iter().any(|row| name(row.0) == hit.0);
        assert!(found.iter().all(has_one), "{found:?}");
        // By words they are found as before, and the others get both scores.
        let hybrid = of.query("buoy number 7 harbour").mode(Mode::Hybrid);
        let hits = kb.search(&hybrid).unwrap().hits;
        assert_eq!(hits.len(), 30);
        let best = hits
            .iter()
            .map(|hit| hit.keyword_score.unwrap())
            .fold(0.0, f32::max);
        let seventh = hits.iter().find(|hit| hit.document == name(7)).unwrap();
        assert_eq!(seventh.keyword_score, Some(best));
        for hit in hits.iter() {
            assert!(hit.keyword_score.unwrap() > 0.0);
            let has_one = has_one(&(hit.document.clone(), 0.0));
            let score = hit.vector_score.unwrap();
            assert!(has_one || score == 0.0, "{}", hit.document);
        }
    }
}

#[test]
fn words_rank_the_keyword_part_beside_a_vector() {
    let file = File::new(40, 40);
    let rows = vectors(40);
    file.import(&NewVectors::new("m").make_default(true), &rows)
        .unwrap();
    let kb = file.kb();
    let of = Request::new("buoy 17").vector(&rows[31].1[..]).join(false);
    let response = kb.search(&of).unwrap();
    assert_eq!(response.mode, Mode::Hybrid);
    let first: Vec<&str> = response
        .hits
        .iter()
        .take(2)
        .map(|hit| &*hit.document)
        .collect();
    assert!(
        first.contains(&&*name(17)) && first.contains(&&*name(31)),
        "{first:?}"
    );
    // Without words the vector alone ranks, whatever else the query has.
    for query in ["", " ", "-\"17\"", "path:d00"] {
        let response = kb.search(&of.clone().query(query)).unwrap();
        assert_eq!(response.mode, Mode::Semantic, "{query:?}");
        assert_eq!(response.hits[0].document, name(31), "{query:?}");
        assert!(response.hits[0].score > 0.99);
        let excluded = response.hits.iter().any(|hit| hit.document == name(17));
        assert!(!query.starts_with('-') || !excluded);
    }
    // Requests without a vector are as they were.
    let response = kb.search(&Request::new("buoy 17")).unwrap();
    assert_eq!(response.hits[0].document, name(17));
}

#[test]
fn the_built_in_column_is_searched_by_a_vector_too() {
    let file = File::new(40, 40);
    let kb = file.kb();
    let (vector, _) = kb.embed("The buoy number 12 of the harbour.").unwrap();
    let semantic = Request::new("The buoy number 12 of the harbour.")
        .mode(Mode::Semantic)
        .join(false);
    let by_words = found(&kb.search(&semantic).unwrap());
    let longer: Vec<f32> = vector.iter().map(|x| x * 8.0).collect();
    for vector in [vector, longer] {
        let by_vector = kb.search(&request(&vector, 10)).unwrap();
        for (a, b) in found(&by_vector).iter().zip(&by_words) {
            assert!(a.0 == b.0 && (a.1 - b.1).abs() < 1e-4, "{a:?} {b:?}");
        }
    }
    let named = semantic.vector_column(crate::BUILT_IN_VECTORS);
    assert_eq!(found(&kb.search(&named).unwrap()), by_words);
}

#[test]
fn several_files_answer_as_one() {
    let rows = vectors(60);
    let options = NewVectors::new("m").metric(Metric::Dot);
    let whole = File::new(60, 60);
    whole.import(&options, &rows).unwrap();
    // The same range in both: the largest number decides it here.
    let halves = [File::new(60, 13), File::new(60, 60)];
    for (half, file) in halves.iter().enumerate() {
        let mut writer = file.writer();
        for number in (0..60).filter(|number| number % 2 != half) {
            writer.remove(&name(number)).unwrap();
        }
        writer.commit().unwrap();
        drop(writer);
        let some = rows.iter().filter(|(number, _)| number % 2 == half);
        file.import(&options, &some.cloned().collect::<Vec<_>>())
            .unwrap();
    }
    let (kbs, query) = (halves.each_ref().map(File::kb), random(99, DIM));
    let of = request(&query, 20).vector_column("m");
    let together = search_files(&[&kbs[0], &kbs[1]], &of).unwrap();
    let alone = whole.kb().search(&of).unwrap();
    for (a, b) in found(&together).iter().zip(&found(&alone)) {
        assert!(a.0 == b.0 && (a.1 - b.1).abs() < 0.01, "{a:?} {b:?}");
    }
    assert_eq!(together.hits.len(), 20);
}

#[test]
fn several_requests_are_answered_from_one_commit() {
    let (file, rows) = (File::new(50, 20), vectors(50));
    file.import(&NewVectors::new("a"), &rows).unwrap();
    file.import(&NewVectors::new("b").metric(Metric::L2), &rows)
        .unwrap();
    let kb = file.kb();
    let requests: Vec<Request> = (0..20)
        .map(|seed| request(&random(seed * 31, DIM), 5).vector_column(["a", "b"][seed % 2]))
        .collect();
    let many = kb.search_many(&requests).unwrap();
    for (request, response) in requests.iter().zip(&many) {
        assert_eq!(*response, kb.search(request).unwrap());
    }
    let cut = requests[0].clone().k(3);
    let first = kb.search(&cut).unwrap();
    let page = crate::PageOptions::default().cursor(first.hits.next.clone().unwrap());
    let second = kb.search(&cut.clone().page(page.clone())).unwrap();
    let all = kb.search(&cut.clone().k(6)).unwrap();
    assert_eq!([found(&first), found(&second)].concat(), found(&all));
    let other = cut.vector(random(1, DIM)).page(page);
    let stale = kb.search(&other).unwrap_err();
    assert_eq!(stale.code(), "INVALID_CONTINUATION_TOKEN");
}

#[test]
fn thousands_of_one_vector_are_found_in_the_order_of_paths() {
    let file = File::new(5000, 2000);
    let vector = random(1, DIM);
    let rows: Vec<_> = (0..5000)
        .map(|number| (VectorTarget::Position(number), vector.clone()))
        .collect();
    for metric in Metric::ALL {
        let options = NewVectors::new(metric.name()).metric(metric);
        import(&mut file.writer(), &options, rows.clone()).unwrap();
        let of = request(&vector, 30).vector_column(metric.name());
        let names = found(&file.kb().search(&of).unwrap());
        let names: Vec<String> = names.into_iter().map(|hit| hit.0).collect();
        assert_eq!(names, (0..30).map(name).collect::<Vec<_>>(), "{metric:?}");
    }
}
