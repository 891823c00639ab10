//! The order of hits, and what explains it, through the handle of a file.

use super::names::QueryNames;
use super::names::definitions;
use super::ranker::{LinesOf, best_definition};
use crate::index::keyword::{Analyser, TermSet};
use crate::kb::{Kb, KbWriter};
use crate::paging::PageOptions;
use crate::search::{Hit, Mode, Request};

const QUERY: &str = "retry middleware";

/// Sixty documents that have both words; every seventh has them beside each other.
fn kb() -> (tempfile::TempDir, Kb) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    for number in 0..60 {
        let between = if number % 7 == 3 { "" } else { "once by the " };
        let more = "moon ".repeat(number % 5);
        let text = format!("Number {number}: the retry {between}middleware. {more}\n");
        let name = format!("{number:02}.txt");
        writer.add_bytes(&name, text.as_bytes()).unwrap();
    }
    writer.commit().unwrap();
    let kb = Kb::open(&path).unwrap();
    (folder, kb)
}

fn shown(hits: &[Hit]) -> Vec<(String, u32)> {
    let hits = hits.iter();
    hits.map(|hit| (hit.document.clone(), hit.score.to_bits()))
        .collect()
}

#[test]
fn the_order_does_not_depend_on_the_page() {
    let (_folder, kb) = kb();
    for mode in [Mode::Hybrid, Mode::Keyword] {
        let request = Request::new(QUERY).mode(mode);
        let all = kb.search(&request.clone().k(60)).unwrap().hits;
        assert_eq!(all.len(), 60);
        assert!(all.windows(2).all(|two| two[0].score >= two[1].score));
        for k in [1, 3, 19, 20, 21] {
            let first = kb.search(&request.clone().k(k)).unwrap().hits;
            assert_eq!(shown(&first), shown(&all)[..k], "{k}");
        }
        let (mut request, mut parts) = (request.k(8), Vec::new());
        loop {
            let page = kb.search(&request).unwrap().hits;
            parts.extend(shown(&page));
            let Some(next) = page.next else { break };
            request = request.page(PageOptions::default().cursor(next));
        }
        assert_eq!(parts, shown(&all));
    }
}

#[test]
fn texts_that_are_not_read_change_none_of_the_first_hits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    for number in 0..140 {
        let line = match number % 7 {
            0 => "x = retry(once, by, the, middleware)",
            1 => "class RetryMiddleware(Base):",
            2 => "def middleware_of(retry):",
            3 => "x = retry.middleware",
            4 => "def retry_of_the_middleware_of_all(x):",
            5 => "x = middleware_retry",
            _ => "x = retry, 1, middleware",
        };
        // No two are copies, which would be one hit.
        let filler = "    moon(sea)\n".repeat(number % 13);
        let text = format!("{line}\n{filler}    # {number:03}\n");
        let name = format!("{number:03}.py");
        writer.add_bytes(&name, text.as_bytes()).unwrap();
    }
    writer.commit().unwrap();
    let kb = Kb::open(&path).unwrap();
    for query in [QUERY, "middleware", "RetryMiddleware"] {
        for mode in [Mode::Hybrid, Mode::Keyword] {
            let request = Request::new(query).mode(mode).k(10);
            let first = kb.search(&request).unwrap().hits;
            // Alone among the candidates each text is read.
            let mut expected = Vec::new();
            for number in 0..140 {
                let mut alone = request.clone();
                alone.filters.paths = vec![format!("{number:03}.py")];
                expected.extend(kb.search(&alone).unwrap().hits);
            }
            expected.sort_by(|a, b| b.fused_score.total_cmp(&a.fused_score));
            let scores = |hits: &[Hit]| -> Vec<f32> {
                let scores = hits.iter().map(|hit| hit.fused_score);
                scores.take(10).collect()
            };
            assert_eq!(scores(&first), scores(&expected), "{query} {mode:?}");
        }
    }
}

#[test]
fn neighbours_come_first_and_the_parts_add_up() {
    let (_folder, kb) = kb();
    let request = Request::new(QUERY).k(60).explain(true);
    let response = kb.search(&request).unwrap();
    let weight = response.explanation.as_ref().unwrap().vector_weight;
    let is_beside = |hit: &Hit| hit.text.contains("retry middleware");
    assert!(is_beside(&response.hits[0]), "{:?}", response.hits[0]);
    for hit in response.hits.iter() {
        let bonus: f32 = hit.bonuses.iter().map(|bonus| bonus.score).sum();
        assert!(bonus == 0.0 || is_beside(hit), "{hit:?}");
        let (keyword, vector) = (hit.keyword_score.unwrap(), hit.vector_score.unwrap());
        let sum = (1.0 - weight) * keyword + weight * vector + bonus;
        assert!((hit.fused_score - sum).abs() < 1e-6, "{hit:?}");
    }
    let plain = kb.search(&Request::new(QUERY).k(60)).unwrap();
    assert!(plain.hits.iter().all(|hit| hit.bonuses.is_empty()));
    assert_eq!(shown(&plain.hits), shown(&response.hits));
}

/// The class, its documentation and thirty tests that use it.
fn code() -> (tempfile::TempDir, Kb) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    let mut add = |path: &str, text: &str| {
        writer.add_bytes(path, text.as_bytes()).unwrap();
    };
    let body = "    def start(self):\n        return self.loop.run(self.settings)\n".repeat(6);
    add(
        "src/crawler.py",
        &format!("class CrawlerProcess(Base):\n{body}"),
    );
    add(
        "CHANGELOG.md",
        "# News\n\nCrawlerProcess and CrawlerProcess again\n",
    );
    for number in 0..30 {
        let text = "from src import CrawlerProcess\n\nCrawlerProcess(CrawlerProcess)\n";
        add(
            &format!("tests/test_{number}.py"),
            &format!("{text}x = {number}\n"),
        );
    }
    writer.commit().unwrap();
    let kb = Kb::open(&path).unwrap();
    (folder, kb)
}

#[test]
fn the_best_definition_of_a_text_counts() {
    let (_folder, kb) = code();
    let crawler = "class Crawler:\n    pass\n\n\nclass CrawlerProcess(Crawler):\n    pass\n";
    for (text, share) in [
        (crawler, 1.0),
        ("class CrawlerProcess:\n    x = Crawler\n", 1.0),
        ("x = CrawlerProcess", 0.0),
    ] {
        let mut analyser = Analyser::new();
        let of_file = kb.search(&Request::new("CrawlerProcess").explain(true));
        let terms = of_file.unwrap().explanation.unwrap().terms;
        let set = TermSet::new(terms.iter().map(|term| term.term.as_str()));
        let weights = vec![1.0; terms.len()];
        let terms = terms.iter().map(|term| term.term.clone());
        let mut names = QueryNames::with_weights(terms.zip(0..).collect(), weights).unwrap();
        let mut found = Vec::new();
        analyser.highlights(text, &set, |term, range| found.push((term, range)));
        let lines = LinesOf::Code(definitions::Functions::of("python"));
        let best = best_definition(text, lines, &found, &mut names, &mut analyser);
        assert_eq!(best, share, "{text}");
    }
}

/// The terms of a passage of several chunks are put together from those of its chunks.
#[test]
fn all_terms_of_a_joined_passage_are_highlighted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    let paragraph = "The retry of a request sleeps before the middleware sends it once more.\n";
    let text = format!("{}\n", paragraph.repeat(6)).repeat(8);
    writer.add_bytes("a.txt", text.as_bytes()).unwrap();
    writer.commit().unwrap();
    let kb = Kb::open(&path).unwrap();
    let hits = kb.search(&Request::new(QUERY)).unwrap().hits;
    assert!(hits[0].chunks > 1);
    for hit in hits.iter() {
        let words = ["retry", "middleware"].map(|word| hit.text.match_indices(word));
        let words = words.into_iter().flatten();
        let mut words: Vec<_> = words.map(|(at, word)| at..at + word.len()).collect();
        words.sort_by_key(|range| range.start);
        assert_eq!(hit.highlights, words);
    }
}

#[test]
fn a_definition_comes_before_its_tests() {
    let (_folder, kb) = code();
    for mode in [Mode::Hybrid, Mode::Keyword] {
        for query in ["CrawlerProcess", "where is CrawlerProcess defined"] {
            let request = Request::new(query).mode(mode).explain(true);
            let hits = kb.search(&request).unwrap().hits;
            assert_eq!(hits[0].document, "src/crawler.py", "{query}");
            let names: Vec<&str> = hits[0].bonuses.iter().map(|bonus| bonus.name).collect();
            assert!(names.contains(&"definition"), "{names:?}");
            assert!(hits.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
        }
    }
}

#[test]
fn a_question_about_tests_gets_tests() {
    let (_folder, kb) = code();
    let hits = kb
        .search(&Request::new("tests of CrawlerProcess"))
        .unwrap()
        .hits;
    let is_test = |hit: &Hit| hit.document.starts_with("tests/");
    assert!(hits.iter().take(5).filter(|hit| is_test(hit)).count() >= 4);
    let request = Request::new("tests of CrawlerProcess").explain(true);
    let explained = kb.search(&request).unwrap();
    let mut bonuses = explained
        .hits
        .iter()
        .filter(|hit| is_test(hit))
        .flat_map(|hit| &hit.bonuses);
    assert!(bonuses.all(|bonus| bonus.name != "tests"));
}

#[test]
fn the_first_hits_are_the_same_for_every_k() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    for number in 0..400_usize {
        let words = ["retry ", "middleware ", "sleep ", "server "];
        let text: String = (0..8)
            .map(|at| words[(number * (at + 3) / 5 + at * at) % (2 + number % 3)])
            .collect();
        let more = "moon ".repeat(number % 11);
        let name = format!("{:02}/{number:03}.txt", number % 40);
        let text = format!("{text}{more}\n");
        writer.add_bytes(&name, text.as_bytes()).unwrap();
    }
    writer.commit().unwrap();
    let kb = Kb::open(&path).unwrap();
    for query in ["retry middleware sleep", "how does the middleware retry"] {
        let request = Request::new(query);
        let all = kb.search(&request.clone().k(200)).unwrap().hits;
        assert!(all.len() > 150, "{}", all.len());
        for k in [5, 10, 50] {
            let first = kb.search(&request.clone().k(k)).unwrap().hits;
            assert_eq!(shown(&first), shown(&all)[..k], "{query} {k}");
        }
    }
}

#[test]
fn one_document_does_not_take_all_first_places() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    let section = |number: usize| {
        let rows = "The middleware waits for a while and a retry goes on.\n".repeat(20);
        format!("## Part {number}\n\n{rows}\n")
    };
    let dump: String = (0..12).map(section).collect();
    writer.add_bytes("dump.md", dump.as_bytes()).unwrap();
    for number in 0..8 {
        let rows = "The middleware waits for a while and a retry goes on.\n".repeat(18);
        let name = format!("{number}.md");
        let text = format!("# Page {number}\n\n{rows}And more.\n");
        writer.add_bytes(&name, text.as_bytes()).unwrap();
    }
    writer.commit().unwrap();
    let kb = Kb::open(&path).unwrap();
    let request = Request::new(QUERY).join(false);
    let hits = kb.search(&request.clone().k(10)).unwrap().hits;
    let of_dump = hits.iter().filter(|hit| hit.document == "dump.md");
    assert_eq!(of_dump.clone().count(), 3, "{:?}", shown(&hits));
    let more: u32 = of_dump.map(|hit| hit.more_in_document).sum();
    assert!(more >= 9, "{more}");
    let alone = request.filters(crate::Filters::new().paths(["dump.md"]));
    let hits = kb.search(&alone.k(10)).unwrap().hits;
    assert_eq!(hits.len(), 10);
    assert!(hits.iter().all(|hit| hit.more_in_document == 0));
}

#[test]
fn inline_tests_come_after_the_code_that_they_test() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    let body = "    for socket in pool.idle() {\n        socket.shutdown();\n    }\n".repeat(20);
    let checks = "        assert!(close_idle_sockets(pool(3)).idle_sockets() == 0);\n".repeat(24);
    let text = format!(
        "/// Closes sockets.\npub fn close_idle_sockets(pool: Pool) {{\n{body}}}\n\n\
         #[cfg(test)]\nmod tests {{\n    #[test]\n    fn idle_sockets_are_closed() {{\n{checks}    }}\n}}\n"
    );
    writer.add_bytes("src/pool.rs", text.as_bytes()).unwrap();
    writer.commit().unwrap();
    let kb = Kb::open(&path).unwrap();
    let request = Request::new("how are idle sockets closed").explain(true);
    let hits = kb.search(&request.join(false)).unwrap().hits;
    assert!(
        hits[0].text.contains("pub fn close_idle_sockets"),
        "{}",
        hits[0].text
    );
    let of_tests = hits
        .iter()
        .find(|hit| hit.text.contains("cfg(test)"))
        .unwrap();
    let names: Vec<&str> = of_tests.bonuses.iter().map(|bonus| bonus.name).collect();
    assert!(names.contains(&"test functions"), "{names:?}");
    let request = Request::new("which tests close idle sockets").explain(true);
    let hits = kb.search(&request.join(false)).unwrap().hits;
    let bonuses = hits.iter().flat_map(|hit| &hit.bonuses);
    assert!(bonuses.clone().all(|bonus| bonus.name != "test functions"));
}

#[test]
fn an_error_message_finds_the_code_that_makes_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    let mut add = |name: &str, text: &str| writer.add_bytes(name, text.as_bytes()).unwrap();
    let rest = "    count += rows.len();\n".repeat(12);
    let makes = format!(
        "fn read(path: &Path) {{\n{rest}    bail!(\"cannot read {{path}}: {{}} of {{}} rows are damaged\");\n}}\n"
    );
    add("src/read.rs", &makes);
    let uses = "fn rows(path: &Path) {\n    // Damaged rows of a path: read damaged rows, damaged path.\n    read(rows)\n}\n";
    add("src/rows.rs", uses);
    add("tests/read.rs", &makes);
    add(
        "docs/errors.md",
        "# Errors\n\nDamaged rows: `cannot read PATH: N of M rows are damaged`. Read the path again, and its damaged rows.\n",
    );
    for number in 0..40 {
        add(
            &format!("src/other_{number}.rs"),
            &format!(
                "fn other_{number}(path: &Path) {{\n    // Number {number} of 50.\n    write(path)\n}}\n"
            ),
        );
    }
    writer.commit().unwrap();
    let kb = Kb::open(&path).unwrap();
    for query in [
        "error: cannot read /srv/data_4.bin: 3 of 12 rows are damaged",
        "cannot read data.bin: 3 of 12 rows are damaged",
        "IOError: cannot read srv_x.bin: 3 of 12 rows are damaged",
    ] {
        let response = kb.search(&Request::new(query).explain(true)).unwrap();
        let hit = &response.hits[0];
        assert_eq!(hit.document, "src/read.rs", "{query}");
        assert!(hit.bonuses.iter().any(|bonus| bonus.name == "verbatim"));
        // The name that was filled in is in no document, and nobody asks for it.
        assert!(hit.score > 0.5, "{query}: {}", hit.score);
    }
}
