use std::cell::Cell;
use std::time::{Duration, Instant};

use kb_types::error::Error;
use proptest::prelude::*;
use regex_automata::Input;
use regex_automata::meta;
use regex_syntax::ParserBuilder;

use super::*;

fn hir(pattern: &str) -> Hir {
    let mut parser = ParserBuilder::new().multi_line(true).crlf(true).build();
    parser.parse(pattern).unwrap()
}

fn machine(pattern: &str) -> Machine {
    Machine::new(&hir(pattern), 10 << 20).unwrap()
}

/// All matches, one after the other, as `find` gives them.
fn all(text: &str, mut find: impl FnMut(usize) -> Option<(usize, usize)>) -> Vec<(usize, usize)> {
    let (mut found, mut from) = (Vec::new(), 0);
    while from <= text.len()
        && let Some(next) = find(from)
    {
        found.push(next);
        from = next.1;
        if next.0 == next.1 {
            from += text[from..].chars().next().map_or(1, char::len_utf8);
        }
    }
    found
}

fn of_machine(machine: &mut Machine, text: &str, watch: &mut Watch<'_>) -> Vec<(usize, usize)> {
    machine.begin_text(text);
    all(text, |from| {
        match machine.find(text, from, text.len(), watch).unwrap() {
            Found::Match(start, end) => Some((start, end)),
            Found::Nothing => None,
            Found::OutOfTime => panic!("there is no deadline"),
        }
    })
}

fn compare(pattern: &str, text: &str) {
    let hir = hir(pattern);
    let regex = meta::Builder::new().build_from_hir(&hir).unwrap();
    let wanted = all(text, |from| {
        let found = regex.search(&Input::new(text).range(from..))?;
        Some((found.start(), found.end()))
    });
    let mut watch = Watch::new(&|| Ok(()), None);
    let found = of_machine(&mut Machine::new(&hir, 10 << 20).unwrap(), text, &mut watch);
    assert_eq!(found, wanted, "{pattern:?} in {text:?}");
}

/// The steps of all matches, in thousands.
fn thousands_of_steps(pattern: &str, text: &str) -> u64 {
    let ticks = Cell::new(0);
    let tick = || {
        ticks.set(ticks.get() + 1);
        Ok(())
    };
    let mut watch = Watch::new(&tick, None);
    of_machine(&mut machine(pattern), text, &mut watch);
    ticks.get() * 65
}

#[test]
fn matches_are_those_of_the_crate() {
    let texts = [
        "",
        "a",
        "abcab\ncab\r\nb\u{fc}b\u{df} \u{212a}\n\n",
        "\u{e9}a\u{301} a\u{e9} b",
    ];
    for pattern in [
        "",
        "a*",
        "a|ab",
        "ab|a",
        "(?s).*b|.",
        "^",
        "$",
        r"\b",
        r"\B",
        r"\bc?a",
        r"\w+",
        r"\W*?",
        "(?i)k",
        "^$",
        r"\A.",
        r".\z",
        "[^a]+",
        "a{2,3}?",
        "(?:ab|a)(?:c|bcd)?",
        r"\b{start}\w",
        r"x*\b{end-half}",
        "(?s-u:.)*?b",
    ] {
        if regex_syntax::Parser::new().parse(pattern).is_err() {
            continue;
        }
        for text in texts {
            compare(pattern, text);
        }
    }
}

#[test]
fn a_scan_for_each_match_does_not_read_to_the_end_each_time() {
    let text = "one two three four\n".repeat(20_000);
    for pattern in [
        "(?s).*Z|.",
        "(?s)o.*Z|[a-z]",
        "(?s)[a-z ]+(?:.*Z)?",
        r"(?s)\w+(?:\b.*\d)?",
    ] {
        let once = thousands_of_steps(pattern, &text[..text.len() / 2]);
        let twice = thousands_of_steps(pattern, &text);
        assert!(twice < 80_000, "{pattern}: {twice} thousand steps");
        assert!(twice <= once * 5 / 2 + 200, "{pattern}: {once} and {twice}");
    }
}

#[test]
fn large_counts_take_steps_for_each_state_and_can_be_stopped() {
    let text = "one two three four five six ".repeat(4000);
    let pattern = "[a-z ]*e[a-z ]{20000}[A-Z]";
    let deadline = Instant::now() + Duration::from_millis(50);
    let mut watch = Watch::new(&|| Ok(()), Some(deadline));
    let mut machine = machine(pattern);
    machine.begin_text(&text);
    let began = Instant::now();
    let found = machine.find(&text, 0, text.len(), &mut watch).unwrap();
    assert_eq!(found, Found::OutOfTime);
    assert!(
        began.elapsed() < Duration::from_secs(2),
        "{:?}",
        began.elapsed()
    );
    let stop = || Err(Error::Cancelled);
    let mut watch = Watch::new(&stop, None);
    let stopped = machine.find(&text, 0, text.len(), &mut watch);
    assert!(matches!(stopped, Err(Error::Cancelled)));
}

#[test]
fn states_that_do_not_repeat_give_the_same_matches() {
    let mut text = String::new();
    let mut number = 7u64;
    for _ in 0..6000 {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        text.push(if number >> 60 < 8 { 'a' } else { 'b' });
    }
    for pattern in [
        "(?:a|b)*a(?:a|b){14}c|ab",
        "a[ab]{40}b",
        r"\b[ab]{0,300}a[ab]{13}aa",
    ] {
        compare(pattern, &text);
    }
}

/// Patterns of everything that a pattern may have, over few letters.
fn patterns() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => "[abcAB ]{1,4}",
        1 => Just("\u{fc}b\u{df}".to_owned()),
        2 => prop::sample::select(vec![".", r"\w", r"\s", "[ab]", "[^a]", r"\b", r"\B", "^", "$", "", r"\A", r"\z"])
            .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|all| all.concat()),
            prop::collection::vec(inner.clone(), 1..4)
                .prop_map(|all| format!("(?:{})", all.join("|"))),
            (
                inner.clone(),
                prop::sample::select(vec!["*", "+", "?", "{2}", "{1,3}", "*?", "+?", "??"])
            )
                .prop_map(|(inner, times)| format!("(?:{inner}){times}")),
            inner.clone().prop_map(|inner| format!("(?s:{inner})")),
            inner.prop_map(|inner| format!("(?i:{inner})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn matches_of_any_pattern_are_those_of_the_crate(
        pattern in patterns(),
        texts in prop::collection::vec("[abcAB \n\r\u{fc}\u{df}\u{212a}\u{4e2d}]{0,150}", 4),
    ) {
        for text in texts {
            compare(&pattern, &text);
        }
    }
}
