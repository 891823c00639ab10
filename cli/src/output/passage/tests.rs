use kb_engine::{Bonus, ChunkId, Lines, SegmentId, Span, TermScore};

use super::*;

const PLAIN: Style = Style { color: false };

fn hit(text: &str, words: &[&str]) -> Hit {
    let highlights = words.iter().flat_map(|word| {
        text.match_indices(word)
            .map(|(at, word)| at..at + word.len())
    });
    let mut highlights: Vec<Range<usize>> = highlights.collect();
    highlights.sort_by_key(|highlight| highlight.start);
    let lines = text.lines().count() as u32;
    let mut hit = Hit::of_text("docs/guide.md", text);
    hit.handle = "guide-k3f9qa".to_owned();
    hit.title = "Guide".to_owned();
    hit.section = vec!["Guide".to_owned(), "File  locks".to_owned()];
    hit.score = 0.612_345;
    hit.fused_score = 0.4;
    hit.keyword_score = Some(0.5);
    hit.lines = Lines {
        first: 9,
        last: 8 + lines,
    };
    hit.span = Span {
        start: 100,
        end: 100 + text.len() as u32,
    };
    hit.file_type = "markdown".to_owned();
    hit.highlights = highlights;
    hit.snippet = 0..text.len();
    hit.snippet_first_line = Some(9);
    hit.chunk = ChunkId {
        segment: SegmentId(1),
        row: 0,
    };
    hit.chunks = 1;
    hit.matches = 1;
    hit.terms = vec![TermScore::new("lock", 2, 0.5)];
    hit
}

fn layout(columns: Option<usize>) -> Layout {
    Layout {
        style: PLAIN,
        columns,
        full: false,
        explain: false,
    }
}

#[test]
fn a_hit_names_its_place_and_shows_its_lines_with_numbers() {
    let shown = render(&hit("\none lock\n\n  two\n\n", &[]), None, &layout(None));
    let expected = "docs/guide.md:10-12  Guide > File locks  0.61\n  \
                    10  one lock\n  11\n  12    two\n";
    assert_eq!(shown, expected);
}

#[test]
fn what_is_not_shown_of_a_document_and_its_copies_are_counted_below_a_hit() {
    let mut hit = hit("one lock\n", &[]);
    hit.more_in_document = 4;
    hit.copies = 1;
    hit.copy_paths = vec!["old/guide.md".to_owned()];
    let shown = render(&hit, None, &layout(None));
    let expected = "one lock\n  4 more in this document\n  1 more copy: old/guide.md\n";
    assert!(shown.ends_with(expected), "{shown}");
    hit.copies = 5;
    hit.copy_paths = ["a", "b\u{7}", "c", "d", "e"].map(str::to_owned).to_vec();
    let shown = render(&hit, None, &layout(None));
    assert!(shown.contains("  5 more copies: a, b"), "{shown}");
    assert!(
        shown.ends_with(", c, ...\n") && !shown.contains('\u{7}'),
        "{shown}"
    );
}

#[test]
fn a_line_that_is_shown_in_part_is_marked() {
    let mut hit = hit("tail of a line\nhead of a line", &[]);
    hit.begins_within_line = true;
    hit.ends_within_line = true;
    let shown = render(&hit, None, &layout(None));
    assert!(
        shown.contains("   9  [...]tail of a line\n  10  head of a line[...]\n"),
        "{shown}"
    );
}

#[test]
fn lines_that_the_original_does_not_have_get_no_number() {
    let mut hit = hit("one\ntwo\n", &[]);
    hit.snippet_first_line = None;
    let shown = render(&hit, None, &layout(None));
    assert!(shown.ends_with("0.61\n      one\n      two\n"), "{shown}");
    assert!(shown.starts_with("docs/guide.md:9-10 "), "{shown}");
}

#[test]
fn marked_words_are_coloured_and_only_they() {
    let colored = Layout {
        style: Style { color: true },
        ..layout(None)
    };
    let shown = render(&hit("a lock, two locks", &["lock"]), None, &colored);
    let line = shown.lines().nth(1).unwrap();
    assert!(line.ends_with("a \u{1b}[1;31mlock\u{1b}[0m, two \u{1b}[1;31mlock\u{1b}[0ms"));
}

#[test]
fn best_lines_are_shown_unless_the_whole_chunk_is_asked_for() {
    let mut hit = hit("one\ntwo\nthree\n", &[]);
    hit.snippet = 4..8;
    hit.snippet_first_line = Some(10);
    assert!(render(&hit, None, &layout(None)).ends_with("0.61\n  10  two\n"));
    let full = render(
        &hit,
        None,
        &Layout {
            full: true,
            ..layout(None)
        },
    );
    assert!(
        full.ends_with("   9  one\n  10  two\n  11  three\n"),
        "{full}"
    );
}

#[test]
fn a_long_line_is_clipped_around_its_marks_on_a_terminal_only() {
    let text = format!("{} needle {}", "x".repeat(300), "y".repeat(300));
    let hit = hit(&text, &["needle"]);
    let shown = render(&hit, None, &layout(Some(60)));
    let line = shown.lines().nth(1).unwrap();
    assert_eq!(width(line), 60, "{line}");
    assert!(line.contains("x needle y"), "{line}");
    assert!(
        line.starts_with("  9  \u{2026}x") && line.ends_with("y\u{2026}"),
        "{line}"
    );
    assert!(render(&hit, None, &layout(None)).contains(&text));
}

#[test]
fn a_long_line_keeps_its_start_when_the_marks_fit_with_it() {
    let text = format!("a needle {}", "y".repeat(300));
    let shown = render(&hit(&text, &["needle"]), None, &layout(Some(40)));
    assert!(
        shown
            .lines()
            .nth(1)
            .unwrap()
            .starts_with("  9  a needle yyy"),
        "{shown}"
    );
}

#[test]
fn wide_characters_count_two_columns() {
    let shown = render(&hit(&"\u{6f22}".repeat(100), &[]), None, &layout(Some(40)));
    assert!(width(shown.lines().nth(1).unwrap()) <= 40, "{shown}");
}

#[test]
fn escape_sequences_are_shown_on_a_terminal_and_raw_in_a_pipe() {
    let mut hit = hit("a\u{1b}[31m\tb", &[]);
    hit.title = "evil\u{1b}]0;title\u{7}".to_owned();
    let terminal = render(&hit, None, &layout(Some(200)));
    assert!(
        !terminal.contains('\u{1b}') && !terminal.contains('\t'),
        "{terminal:?}"
    );
    assert!(terminal.contains("a\\u{1b}[31m"), "{terminal:?}");
    let pipe = render(&hit, None, &layout(None));
    let (header, passage) = pipe.split_once('\n').unwrap();
    assert!(passage.contains("a\u{1b}[31m\tb"), "{pipe:?}");
    assert!(header.contains("evil\\u{1b}]0;title\\u{7}"), "{pipe:?}");
}

#[test]
fn the_header_stays_one_line_wherever_it_goes() {
    let mut hit = hit("x", &[]);
    hit.document = "a\nb\u{85}c\r.md".to_owned();
    hit.section = vec!["one\u{2028}two".to_owned()];
    hit.terms[0].term = "t\n\u{1b}".to_owned();
    let explained = |columns| {
        let layout = Layout {
            explain: true,
            ..layout(columns)
        };
        render(&hit, Some("f\n.kb"), &layout)
    };
    for columns in [None, Some(200)] {
        let shown = explained(columns);
        assert_eq!(shown.lines().count(), 4, "{shown:?}");
        let is_steering = |c: char| c != '\n' && (c.is_control() || c == '\u{2028}');
        assert!(!shown.contains(is_steering), "{shown:?}");
    }
}

#[test]
fn long_crumbs_give_way_to_place_and_score_outer_ones_first() {
    let mut hit = hit("x", &[]);
    hit.section = ["Guide", "Operating the lamp", "In winter"]
        .map(str::to_owned)
        .to_vec();
    let header = |hit: &Hit, columns| {
        let shown = render(hit, None, &layout(Some(columns)));
        shown.lines().next().unwrap().to_owned()
    };
    assert_eq!(
        header(&hit, 80),
        "docs/guide.md:9-9  Guide > Operating the lamp > In winter  0.61"
    );
    assert_eq!(
        header(&hit, 48),
        "docs/guide.md:9-9  Guide > \u{2026} > In winter  0.61"
    );
    assert_eq!(header(&hit, 40), "docs/guide.md:9-9  In winter  0.61");
    assert_eq!(header(&hit, 30), "docs/guide.md:9-9  In w\u{2026}  0.61");
    hit.section = vec!["A very long heading".repeat(10)];
    assert_eq!(width(&header(&hit, 60)), 60);
}

#[test]
fn explaining_shows_the_parts_that_there_are() {
    let mut hit = hit("x", &[]);
    hit.bonuses = vec![Bonus::new("adjacency", 0.5, 0.1123)];
    let shown = render(
        &hit,
        None,
        &Layout {
            explain: true,
            ..layout(None)
        },
    );
    assert!(
        shown.contains(
            "  score 0.6123  fused 0.4000  keyword 0.5000  adjacency +0.1123\n  lock 0.5000 (x2)\n"
        ),
        "{shown}"
    );
}

#[test]
fn marks_and_lines_off_character_bounds_do_not_panic() {
    let mut hit = hit("\u{e9}\u{e9}\u{e9}", &[]);
    hit.highlights = vec![1..3, 90..99];
    hit.snippet = 1..5;
    assert!(render(&hit, None, &layout(Some(30))).starts_with("docs/guide.md:9-9"));
    hit.snippet = 0..6;
    assert!(render(&hit, None, &layout(Some(30))).contains("\u{e9}\u{e9}\u{e9}"));
}
