//! What is shown where nothing is relevant, or scores enough.

use std::sync::Arc;

use kb_types::{EmbedError, Reranker};

use super::{find, renderer};
use crate::index::keyword::Analyser;
use crate::kb::{Kb, KbWriter};
use crate::paging::PageOptions;
use crate::search::calibration::shown_score;
use crate::search::filters::Filters;
use crate::search::options::{Mode, Rerank, Sort};
use crate::search::plan;
use crate::search::relevance::Relevance;
use crate::search::render::room::Room;
use crate::search::request::Request;
use crate::search::show::{Show, TextContext};
use crate::search::sources::with_sources;
use crate::search::timer::StepTimer;

/// Twelve documents of twenty lines each about a voyage.
fn logbook() -> (tempfile::TempDir, Kb) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log.kb");
    let mut writer = KbWriter::open_or_create(&file).unwrap();
    for day in 0..12 {
        let hours = (0..20).map(|hour| format!("Hour {hour}: wind from the north, {day} knots.\n"));
        let text = format!("# Day {day}\n\n{}", hours.collect::<String>());
        writer
            .add_bytes(&format!("{day:02}.md"), text.as_bytes())
            .unwrap();
    }
    let storm = "# Storm\n\nThe storm broke the mast of the ship; the storm lasted three days.\n";
    let sails = "The crew mended sails and slept in the sun.\n".repeat(9);
    let calm = format!("# Calm\n\nNo storm today.\n\n{sails}\nThe cook painted the mast.\n");
    for (path, text) in [("storm.md", storm), ("calm.md", &calm)] {
        writer.add_bytes(path, text.as_bytes()).unwrap();
    }
    writer.commit().unwrap();
    let kb = Kb::open(&file).unwrap();
    (folder, kb)
}

/// A question that the logbook has no answer to.
const FOREIGN: &str = "quarterly tax";

#[test]
fn what_is_not_relevant_is_shown_as_previews() {
    let (_folder, kb) = logbook();
    let asked = Request::new(FOREIGN).k(8).show(Show::lines(9));
    let whole = kb.search(&asked).unwrap();
    assert_eq!(whole.relevance, Relevance::NothingRelevant);
    assert!(whole.hits.len() == 8 && whole.hits.next.is_some());
    assert!(whole.hits.iter().any(|hit| hit.text.lines().count() > 2));
    for asked in [
        asked.clone(),
        asked.clone().show(Show::whole().context_lines(3, 3)),
        asked.clone().show(Show::chars(900)),
        asked.clone().show(Show::Lines(9, TextContext::Chars(900))),
    ] {
        let few = kb.search(&asked.previews(3, 2)).unwrap();
        assert_eq!(few.relevance, Relevance::NothingRelevant);
        assert_eq!(few.warnings, whole.warnings);
        assert!(few.hits.next.is_none());
        assert_eq!(few.hits.len(), 3);
        for (hit, first) in few.hits.iter().zip(&whole.hits) {
            assert_eq!((&hit.document, hit.score), (&first.document, first.score));
            let shown = hit.text.trim_end().lines().count();
            assert!(hit.before.is_empty() && hit.after.is_empty() && shown <= 2);
        }
    }
    // Fewer are asked for.
    let one = kb
        .search(&Request::new(FOREIGN).k(1).previews(3, 2))
        .unwrap();
    assert_eq!((one.hits.len(), one.hits.next.is_none()), (1, true));
}

#[test]
fn what_is_relevant_or_alone_is_not_a_preview() {
    let (_folder, kb) = logbook();
    let asked = Request::new("storm broke the mast").k(4);
    let whole = kb.search(&asked).unwrap();
    assert_eq!(whole.relevance, Relevance::Relevant);
    let few = kb.search(&asked.clone().previews(2, 1)).unwrap();
    assert_eq!(few.hits.items, whole.hits.items);
    assert!(few.hits.next.is_some());

    let only = Filters::new().paths(["07.md"]);
    let asked = Request::new(FOREIGN).filters(only).previews(3, 2);
    let only = kb.search(&asked).unwrap();
    assert_eq!(only.relevance, Relevance::NothingRelevant);
    assert_eq!(only.hits.len(), 1);
    let lines = only.hits.items.first().unwrap().lines;
    assert!(lines.last - lines.first > 2, "{lines:?}");
}

#[test]
fn the_best_score_is_named_in_every_order() {
    let (_folder, kb) = logbook();
    let asked = Request::new("storm mast").mode(Mode::Keyword);
    let ranked = kb.search(&asked).unwrap().hits.items;
    let [best, second, ..] = ranked.as_slice() else {
        panic!("{ranked:?}");
    };
    assert_eq!(
        (best.document.as_str(), second.document.as_str()),
        ("storm.md", "calm.md")
    );
    assert!(shown_score(second.score, 4) < shown_score(best.score, 4) && best.score < 1.0);
    let least = best.score.midpoint(1.0);
    for sort in [Sort::Score, Sort::Path, Sort::Recency] {
        let told = kb
            .search(&asked.clone().sort(sort.clone()).min_score(least))
            .unwrap();
        assert!(told.hits.is_empty());
        let named = format!("the best scores {}:", shown_score(best.score, 4));
        let is_named = told.warnings.iter().any(|told| told.contains(&named));
        assert!(is_named, "{sort:?}: {:?}", told.warnings);
    }
}

#[test]
fn what_is_read_to_find_symbols_is_not_read_again_to_show_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("code.kb");
    let mut writer = KbWriter::open_or_create(&file).unwrap();
    let body = "    mast = rig(mast)\n".repeat(20);
    for number in 0..4 {
        let text = format!("def storm():\n{body}\n\ndef calm_{number}():\n{body}");
        let path = format!("{number}.py");
        writer.add_bytes(&path, text.as_bytes()).unwrap();
    }
    writer.commit().unwrap();
    let asked = Request::new("storm mast").mode(Mode::Keyword);
    let asked = asked.smart_context(true);
    with_sources(&file, |sources| {
        let mut analyser = Analyser::new();
        let parsed = plan::parse(&asked, &mut Vec::new());
        let timer = &mut StepTimer::start();
        let found = find(&asked, parsed, sources, &mut analyser, (0, 11), timer)?;
        let read = found.cache.decoded_bytes();
        assert!(found.cache.outlines.read_bytes() > 0 && found.found.passages.len() > 2);
        let mut renderer = renderer(
            sources,
            (&asked, asked.show),
            &found.plan,
            found.found.calibration,
            (&mut analyser, found.cache),
        )?;
        for passage in &found.found.passages {
            let hit = renderer.hit(passage, Vec::new(), Room::new(u64::MAX, 0, 1))?;
            assert!(hit.symbol.is_some());
        }
        assert_eq!(renderer.work_bytes(), read);
        Ok(())
    })
    .unwrap();
}

/// Prefers passages that have a word.
#[derive(Debug)]
struct Wants(&'static str);

impl Reranker for Wants {
    fn name(&self) -> &str {
        self.0
    }

    fn scores(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError> {
        assert_eq!(query, "wind from the north");
        let scores = passages.iter().map(|passage| match self.0 {
            "nan" => f32::NAN,
            word => f32::from(u8::from(passage.contains(word))),
        });
        match self.0 {
            "failing" => Err(EmbedError::NotFinite),
            "short" => Ok(scores.skip(1).collect()),
            _ => Ok(scores.collect()),
        }
    }
}

fn reranked(word: &'static str, top: usize) -> Request {
    let rerank = Rerank::new(Arc::new(Wants(word))).top(top);
    Request::new("wind from the north").k(3).rerank(rerank)
}

fn found(kb: &Kb, request: &Request) -> Vec<String> {
    let hits = kb.search(request).unwrap().hits;
    hits.iter().map(|hit| hit.document.clone()).collect()
}

#[test]
fn a_model_orders_the_first_passages_and_no_others() {
    let (_folder, kb) = logbook();
    let plain = Request::new("wind from the north");
    let before = found(&kb, &plain.clone().k(20));
    let place = before.iter().position(|path| path == "05.md").unwrap();
    assert!(place > 3, "{before:?}");
    let request = reranked(" 5 knots", place + 1).explain(true);
    let response = kb.search(&request).unwrap();
    assert_eq!(response.hits.len(), 3);
    assert_eq!(response.hits[0].document, "05.md");
    // The others stay in their order, and all keep their scores.
    assert_eq!(response.hits[1].document, before[0]);
    let score = |request: &Request| kb.search(request).unwrap().hits[0].score;
    assert_eq!(response.hits[1].score, score(&plain));
    let bonus = response.hits[0].bonuses.iter();
    let values: Vec<f32> = bonus
        .filter(|it| it.name == "reranker")
        .map(|it| it.value)
        .collect();
    assert_eq!(values, [1.0]);
    let steps = response.explanation.unwrap().steps;
    assert!(steps.iter().any(|step| step.name == "rerank"), "{steps:?}");
    // One fewer, and it is not read.
    assert_eq!(found(&kb, &reranked(" 5 knots", place)), before[..3]);
    // Pages go on where the one before ended.
    let mut request = reranked(" 5 knots", place + 1);
    let mut all = Vec::new();
    loop {
        let hits = kb.search(&request).unwrap().hits;
        all.extend(hits.iter().map(|hit| hit.document.clone()));
        let Some(next) = hits.next else { break };
        request = request.page(PageOptions::default().cursor(next));
    }
    let mut expected = before.clone();
    let first = expected.remove(place);
    expected.insert(0, first);
    assert_eq!(all, expected);
    // A cursor is bound to the model.
    let next = kb.search(&reranked(" 5 knots", 9)).unwrap().hits.next;
    let page = PageOptions::default().cursor(next.unwrap());
    let error = kb.search(&plain.k(3).page(page)).unwrap_err();
    assert_eq!(error.code(), "INVALID_CONTINUATION_TOKEN");
}

#[test]
fn a_model_that_fails_leaves_the_order_and_says_why() {
    let (_folder, kb) = logbook();
    let before = found(&kb, &Request::new("wind from the north").k(3));
    for (word, reason) in [
        ("nan", "not finite"),
        ("failing", "not finite"),
        ("short", "13 vectors for 14 texts"),
    ] {
        let request = reranked(word, 20);
        assert_eq!(found(&kb, &request), before);
        let warnings = kb.search(&request).unwrap().warnings;
        let has = |warning: &String| warning.contains(word) && warning.contains(reason);
        assert!(warnings.iter().any(has), "{warnings:?}");
    }
    for wrong in [
        reranked("a", 0),
        reranked("a", 101),
        reranked("a", 20).sort(Sort::Recency),
        reranked("a", 20).smart_context(true),
        reranked("a", 20).group_by("author"),
    ] {
        assert_eq!(kb.search(&wrong).unwrap_err().code(), "INVALID_ARGUMENT");
    }
    // What is listed has no passages to read.
    let titles = reranked("failing", 20).mode(Mode::Title);
    assert!(kb.search(&titles).unwrap().warnings.is_empty());
}
