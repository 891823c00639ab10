//! What a hit shows: joined chunks, context lines, a part of its text.

use kb_engine::{Hit, Kb, PageOptions, Request, Show, TextContext};

use super::{ask, documents, file, one_file};

#[test]
fn neighbours_of_about_the_same_score_make_one_passage() {
    let folder = tempfile::tempdir().expect("folder");
    let mut documents = documents();
    // All its chunks are alike: more than one passage may hold.
    let long = "The keeper of the storm lamp looks at the tide.\n\n".repeat(400);
    documents.push(("long.txt".to_owned(), long));
    let kb = file(&folder, "all.kb", &documents, 3);
    for query in ["keeper of the storm lamp", "lens", "tide wick fog", "rock"] {
        passages_are_made_of_neighbours(&kb, query);
    }
}

fn passages_are_made_of_neighbours(kb: &Kb, query: &str) {
    let request = Request::new(query).k(500);
    let apart = ask(kb, &request.clone().join(false));
    let joined = ask(kb, &request);
    assert!(joined.hits.iter().any(|hit| hit.chunks > 1), "none joined");
    assert!(apart.hits.iter().all(|hit| hit.chunks == 1));
    let chunks: u32 = joined.hits.iter().map(|hit| hit.chunks).sum();
    assert_eq!(
        chunks as usize,
        apart.hits.len(),
        "every chunk in one passage"
    );
    for hit in &joined.hits {
        let text = kb.text(&hit.document, None).expect("text").text;
        let (start, end) = (hit.span.start as usize, hit.span.end as usize);
        assert_eq!(text[start..end], hit.text);
        assert_eq!(hit.matches, hit.chunks);
        assert!(hit.chunks == 1 || hit.text.len() <= 4096);
        let parts = apart.hits.iter().filter(|chunk| {
            chunk.document == hit.document
                && chunk.span.start >= hit.span.start
                && chunk.span.end <= hit.span.end
        });
        let parts: Vec<&Hit> = parts.collect();
        // The parts are best first.
        assert_eq!(parts[0].score, hit.score);
        section_holds_snippet(kb, hit);
        let least = 0.75 * hit.fused_score;
        assert!(parts.iter().all(|chunk| chunk.fused_score >= least));
        assert_eq!(parts.len(), hit.chunks as usize);
    }
    let scores: Vec<f32> = joined.hits.iter().map(|hit| hit.score).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b));
}

/// The section that a hit names is the one its best lines stand in.
fn section_holds_snippet(kb: &Kb, hit: &Hit) {
    if hit.section_name.is_empty() {
        assert!(hit.section.is_empty());
        return;
    }
    let page = PageOptions::default();
    let found = kb.subsections(&hit.document, &hit.section_name, &page);
    let found = &found.expect("the section").sections[0];
    assert_eq!(Some(&found.title), hit.section.last());
    let start = hit.span.start + hit.snippet.start as u32;
    let end = hit.span.start + hit.snippet.end as u32;
    assert!(
        found.span.start <= start && end <= found.span.end,
        "{hit:?}"
    );
}

#[test]
fn lines_around_a_hit_are_those_of_the_document() {
    let (_folder, kb) = one_file();
    for (before, after) in [(0, 0), (1, 0), (0, 3), (4, 7), (1000, 1000)] {
        let request = Request::new("keeper of the storm lamp")
            .k(40)
            .show(Show::whole().context_lines(before, after))
            .join(false);
        let hits = ask(&kb, &request).hits;
        assert_eq!(hits.iter().any(|hit| !hit.before.is_empty()), before > 0);
        assert_eq!(hits.iter().any(|hit| !hit.after.is_empty()), after > 0);
        for hit in hits {
            let text = kb.text(&hit.document, None).expect("text").text;
            let (head, rest) = text.split_at(hit.span.start as usize);
            let tail = &rest[hit.text.len()..];
            assert!(head.ends_with(&hit.before) && tail.starts_with(&hit.after));
            let lines = |text: &str| text.split_inclusive('\n').count();
            assert_eq!(lines(&hit.before), lines(head).min(before as usize));
            assert_eq!(lines(&hit.after), lines(tail).min(after as usize));
        }
    }
    let request = Request::new("lamp").show(Show::whole().context_lines(0, 1001));
    assert_eq!(kb.search(&request).unwrap_err().code(), "INVALID_ARGUMENT");
}

#[test]
fn a_snippet_is_the_text_at_its_span_and_lines() {
    let (_folder, kb) = one_file();
    for characters in [1, 7, 60, 500, 100_000] {
        let request = Request::new("keeper of the storm lamp")
            .k(40)
            .show(Show::chars(characters));
        for hit in ask(&kb, &request).hits {
            assert!(hit.text.chars().count() <= characters);
            let text = kb.text(&hit.document, None).expect("text").text;
            let (start, end) = (hit.span.start as usize, hit.span.end as usize);
            assert_eq!(text[start..end], hit.text);
            let line = |at: usize| text[..at].matches('\n').count() as u32 + 1;
            assert_eq!(hit.lines.first, line(start));
            let shown = hit.text.strip_suffix('\n').unwrap_or(&hit.text);
            assert_eq!(hit.lines.last, line(start + shown.len()));
            for mark in &hit.highlights {
                let marked = &hit.text[mark.clone()];
                // At either end of the preview a word may be cut.
                let is_part = |word: &&str| word.starts_with(marked) || word.ends_with(marked);
                let word = ["keeper", "storm", "lamp"].into_iter().find(is_part);
                assert!(word.is_some(), "{marked:?}");
            }
            assert!(hit.text.get(hit.snippet.clone()).is_some());
        }
    }
}

#[test]
fn around_a_preview_stand_the_words_of_the_document_beside_it() {
    let (_folder, kb) = one_file();
    for (preview, around) in [(1, 0), (20, 1), (60, 40), (200, 3000), (100_000, 500)] {
        let request = Request::new("keeper of the storm lamp")
            .k(40)
            .show(Show::Chars(preview, TextContext::Chars(around)))
            .join(false);
        let plain = request.clone().show(Show::chars(preview));
        let hits = ask(&kb, &request).hits;
        // One character before a line is the end of the line above.
        assert!(
            around < 40 || hits.iter().any(|hit| !hit.before.is_empty()),
            "{preview} {around}"
        );
        assert!(
            around < 40 || hits.iter().any(|hit| !hit.after.is_empty()),
            "{preview} {around}"
        );
        for (hit, other) in hits.iter().zip(ask(&kb, &plain).hits) {
            assert_eq!((&hit.text, hit.span), (&other.text, other.span));
            assert_eq!((other.before, other.after), Default::default());
            let text = kb.text(&hit.document, None).expect("text").text;
            let head = &text[..hit.span.start as usize];
            let tail = &text[hit.span.end as usize..];
            assert!(head.ends_with(&hit.before) && tail.starts_with(&hit.after));
            for (side, whole) in [(&hit.before, head), (&hit.after, tail)] {
                let (shown, all) = (side.chars().count(), whole.chars().count());
                assert!(shown <= around, "{shown} of {around}");
                // At most half of it was left out for the sake of a whole word.
                assert!(all <= around && shown == all || 2 * shown + 2 >= around.min(all));
            }
        }
    }
    let too_much = Show::Chars(10, TextContext::Chars(10_001));
    let refused = kb.search(&Request::new("lamp").show(too_much));
    assert_eq!(refused.unwrap_err().code(), "INVALID_ARGUMENT");
}

#[test]
fn lines_without_end_around_a_hit_are_cut_and_said_to_be() {
    let folder = tempfile::tempdir().expect("folder");
    // The hit is in the middle of a line of two megabytes.
    let word = "\u{e9}t\u{e9} tide ";
    let text = format!("first\n{0}walrus {0}\nlast\n", word.repeat(100_000));
    let kb = file(&folder, "long.kb", &[("long.txt".to_owned(), text)], 1);
    for lines in [1, 2, 1000] {
        let request = Request::new("+walrus")
            .show(Show::whole().context_lines(lines, lines))
            .k(1);
        let hits = ask(&kb, &request).hits;
        let hit = &hits[0];
        assert!(hit.before_is_cut && hit.after_is_cut);
        assert!(hit.before.len() < 5000, "{}", hit.before.len());
        assert!(hit.after.len() < 5000, "{}", hit.after.len());
        assert!(hit.before.starts_with("[...]"));
        assert!(hit.after.contains("[...]"));
    }
    let request = Request::new("+walrus")
        .show(Show::Chars(20, TextContext::Chars(10_000)))
        .k(1);
    let hit = &ask(&kb, &request).hits[0];
    assert!(!hit.before_is_cut && !hit.after_is_cut);
    assert!(hit.before.chars().count() > 9000 && hit.after.chars().count() > 9000);
}
