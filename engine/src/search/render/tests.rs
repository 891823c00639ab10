//! Properties of hits in random documents: the section, its number, the lines and the text agree, and what
//! a hit says of its place reads its text again.

use kb_types::{Lines, Span};
use proptest::prelude::*;

use crate::kb::{Kb, KbWriter};
use crate::paging::PageOptions;
use crate::search::options::Mode;
use crate::search::request::Request;
use crate::search::response::Hit;
use crate::search::show::Show;

/// Headings with titles that repeat, look like numbers or contain the separator, and text of few words.
fn document() -> impl Strategy<Value = String> {
    let title = prop::sample::select(vec![
        "Install", "Use", "Flags", "1", "1.1", "2 Use", "A > B", "walrus", "> Use",
    ]);
    let heading = (1usize..5, title).prop_map(|(level, title)| {
        let marks = "#".repeat(level);
        format!("\n{marks} {title}\n\n")
    });
    let word = prop::sample::select(vec!["walrus", "ice", "tide", "moon", "harbour", "rope"]);
    let sentence = prop::collection::vec(word, 1..9).prop_map(|words| words.join(" ") + "\n");
    let quoted = prop::sample::select(vec!["> ## Quoted\n> tide\n", "- # Listed\n  moon\n"]);
    let piece = prop_oneof![
        3 => heading,
        8 => sentence.clone(),
        2 => (sentence, 1usize..30).prop_map(|(text, times)| text.repeat(times)),
        1 => Just("\n".to_owned()),
        1 => quoted.prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 1..40).prop_map(|pieces| pieces.concat())
}

fn requests() -> Vec<Request> {
    let mut all = Vec::new();
    for query in ["walrus ice", "tide", "install flags", "moon harbour rope"] {
        for mode in [Mode::Keyword, Mode::Hybrid, Mode::Semantic] {
            let request = Request::new(query).mode(mode).k(5);
            all.push(request.clone());
            all.push(request.clone().join(false));
            for show in [
                Show::chars(60),
                Show::chars(700),
                Show::lines(2),
                Show::lines(9),
            ] {
                all.push(request.clone().show(show));
            }
        }
    }
    all
}

/// Bytes and lines of the section of a hit, found by its name; `None` before the first heading.
fn section_of(kb: &Kb, hit: &Hit) -> Option<(Span, Lines)> {
    if hit.section_name.is_empty() {
        assert!(hit.section.is_empty() && hit.section_number.is_empty());
        return None;
    }
    let page = PageOptions::default();
    let found = kb.subsections(&hit.document, &hit.section_name, &page);
    let found = found.unwrap().sections.items.swap_remove(0);
    assert_eq!(found.number, hit.section_number, "{}", hit.section_name);
    assert_eq!(Some(&found.title), hit.section.last());
    let by_number = kb.section_text(&hit.document, &hit.section_number, &page);
    let by_name = kb.section_text(&hit.document, &hit.section_name, &page);
    assert_eq!(by_name.unwrap(), by_number.unwrap());
    Some((found.span, found.lines))
}

fn holds(outer: Lines, inner: Lines) -> bool {
    outer.first <= inner.first && inner.last <= outer.last
}

/// The lines of the snippet of a hit.
fn snippet_lines(hit: &Hit) -> Lines {
    let first = hit.snippet_first_line.unwrap();
    let text = hit.text[hit.snippet.clone()].trim_end_matches('\n');
    let ends = text.matches('\n').count() as u32;
    Lines {
        first,
        last: first + ends,
    }
}

fn check(kb: &Kb, request: &Request, hit: &Hit) {
    let shown = snippet_lines(hit);
    assert!(holds(hit.lines, shown), "{hit:?}");
    let snippet = hit.text[hit.snippet.clone()].trim();
    if let Some((span, lines)) = section_of(kb, hit) {
        assert!(holds(lines, shown), "{lines:?} {hit:?}");
        if request.show.is_part() {
            // It is the innermost one: none below it has all lines.
            let page = PageOptions::default();
            let below = kb.subsections(&hit.document, &hit.section_name, &page);
            for inner in below.unwrap().sections.items.iter().skip(1) {
                assert!(!holds(inner.lines, hit.lines), "{inner:?} {hit:?}");
            }
            assert!(holds(lines, hit.lines), "{lines:?} {hit:?}");
            assert!(hit.span.end <= span.end, "{span:?} {hit:?}");
        }
    }
    let Lines { first, last } = hit.lines;
    let path = &hit.document;
    for name in [
        format!("{path}:{first}-{last}"),
        format!("{path}#L{first}-L{last}"),
        format!("kb://notes/lines/{first}-{last}/{path}"),
        format!("kb://notes/doc/{path}#L{first}-{last}"),
        format!("{}:{first}-{last}", hit.handle),
    ] {
        let text = kb.text(&name, None).unwrap();
        assert!(text.text.contains(&hit.text), "{name}: {hit:?}");
        assert_eq!(text.lines, hit.lines);
    }
    let best = format!("{path}:{}-{}", shown.first, shown.last);
    assert!(kb.text(&best, None).unwrap().text.contains(snippet));
    let pages = kb.pages(&best, &[], &PageOptions::default()).unwrap().pages;
    let text: String = pages.iter().map(|page| page.text.as_str()).collect();
    assert!(text.contains(snippet), "{best}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn section_lines_and_text_of_a_hit_agree(texts in prop::collection::vec(document(), 1..4)) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notes.kb");
        let mut writer = KbWriter::open_or_create(&file).unwrap();
        for (number, text) in texts.iter().enumerate() {
            writer.add_bytes(&format!("a/{number}.md"), text.as_bytes()).unwrap();
        }
        writer.commit().unwrap();
        let kb = Kb::open(&file).unwrap();
        for request in requests() {
            for hit in &kb.search(&request).unwrap().hits {
                check(&kb, &request, hit);
            }
        }
    }
}

/// A file of one document.
fn file_of(folder: &std::path::Path, path: &str, text: &str) -> Kb {
    let file = folder.join("notes.kb");
    let mut writer = KbWriter::open_or_create(&file).unwrap();
    writer.add_bytes(path, text.as_bytes()).unwrap();
    writer.commit().unwrap();
    Kb::open(&file).unwrap()
}

#[test]
fn the_lines_with_a_quoted_phrase_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let others = "Walrus, tide and harbour: the walrus of the harbour.\n\n".repeat(8);
    let text = format!("# Tides\n\n{others}So the moon\npulls the sea.\n\n{others}");
    let kb = file_of(folder.path(), "tides.md", &text);
    for query in [
        "walrus harbour tide \"moon pulls\"",
        "how is the walrus of the harbour \"moon pulls\" like a tide?",
        "walrus harbour tide +\"moon pull\"",
    ] {
        for request in [
            Request::new(query),
            Request::new(query).show(Show::lines(3)),
            Request::new(query).show(Show::chars(120)),
        ] {
            let found = kb.search(&request).unwrap();
            let hit = found.hits.items.first().unwrap();
            let snippet = &hit.text[hit.snippet.clone()];
            assert!(snippet.contains("moon\npulls"), "{request:?}: {snippet}");
        }
    }
}

#[test]
fn the_text_of_a_hit_is_whole_lines_or_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let words = |count: usize| -> String { (0..count).map(|n| format!("ice{n} ")).collect() };
    // Divided behind its first sentence, and into many pieces.
    for (count, is_short) in [(190, true), (3_000, false)] {
        let sentences = format!("{}end. {}walrus", words(110), words(count));
        let text = format!("first\n{sentences} {}\nlast\n", words(20));
        let kb = file_of(folder.path(), &format!("{count}.md"), &text);
        for query in ["walrus", "ice7 ice8", "last"] {
            for request in [
                Request::new(query),
                Request::new(query).join(false),
                Request::new(query).join(false).show(Show::lines(3)),
                Request::new(query)
                    .join(false)
                    .show(Show::whole().context_lines(2, 2)),
            ] {
                let found = kb.search(&request).unwrap();
                for hit in &found.hits {
                    let whole = kb.text(&hit.document, None).unwrap().text;
                    let (start, end) = (hit.span.start as usize, hit.span.end as usize);
                    assert_eq!(whole.get(start..end), Some(hit.text.as_str()));
                    let begins = start == 0 || whole[..start].ends_with('\n');
                    let ends = whole[..end].ends_with('\n') || whole[end..].starts_with('\n');
                    assert_eq!(
                        (begins, ends),
                        (!hit.begins_within_line, !hit.ends_within_line)
                    );
                    let first = whole[..start].matches('\n').count() as u32 + 1;
                    let last = whole[..end - 1].matches('\n').count() as u32 + 1;
                    assert_eq!(hit.lines, Lines { first, last }, "{request:?}");
                    let around = format!("{}{}{}", hit.before, hit.text, hit.after);
                    let is_whole = !around.contains("[...]");
                    assert!(!is_whole || whole.contains(&around), "{request:?}");
                    if is_short && hit.text.contains("walrus") && !request.show.is_part() {
                        assert!(begins && ends, "{request:?} {hit:?}");
                    }
                }
            }
        }
    }
}
