//! Outlines as they are read say what the same headings say where each has a title of its own and all are looked at.

use proptest::prelude::*;

use super::*;

/// The sections that a heading opens and those around it, each with its number and how many are below it.
#[derive(Default)]
struct Open<'h> {
    open: Vec<(&'h Heading, u32, u32)>,
    at_top: u32,
}

impl<'h> Open<'h> {
    fn push(&mut self, heading: &'h Heading) {
        while self
            .open
            .last()
            .is_some_and(|(last, ..)| last.level >= heading.level)
        {
            self.open.pop();
        }
        let count = match self.open.last_mut() {
            Some((.., below)) => below,
            None => &mut self.at_top,
        };
        *count += 1;
        let number = *count;
        self.open.push((heading, number, 0));
    }

    fn titles(&self) -> Vec<String> {
        self.open
            .iter()
            .map(|(heading, ..)| heading.title.clone())
            .collect()
    }

    fn number(&self) -> String {
        let numbers: Vec<String> = self.open.iter().map(|(_, it, _)| it.to_string()).collect();
        numbers.join(".")
    }
}

fn has_ended(heading: &Heading, byte: u32) -> bool {
    heading.symbol.is_some_and(|symbol| symbol.end <= byte)
}

fn expected_count(headings: &[Heading], byte: u32) -> usize {
    let before = (1..).zip(headings).filter(|(_, it)| it.start <= byte);
    let nearest = before.max_by_key(|(_, heading)| heading.start);
    let mut count = nearest.map_or(0, |(count, _)| count);
    let mut level = u8::MAX;
    while count > 0 {
        let heading = &headings[count - 1];
        if (level == u8::MAX || heading.level < level) && !has_ended(heading, byte) {
            break;
        }
        level = level.min(heading.level);
        count -= 1;
    }
    count
}

fn expected_section(headings: &[Heading], byte: u32, text_bytes: u32) -> SectionAt {
    let (before, after) = headings.split_at(expected_count(headings, byte));
    let mut open = Open::default();
    before.iter().for_each(|heading| open.push(heading));
    let own = before.last();
    let begun = headings.iter().filter(|heading| heading.start <= byte);
    let ends = begun.filter_map(|heading| Some(heading.symbol?.end));
    let start = own.map_or(ends.max().unwrap_or(0), |own| own.start);
    let next = after
        .iter()
        .find(|next| own.is_none_or(|own| next.level <= own.level));
    let mut end = next.map_or(text_bytes, |next| next.start);
    if let Some(symbol) = own.and_then(|own| own.symbol) {
        end = symbol.end.min(text_bytes);
    } else if own.is_none() || end < start {
        let starts = headings.iter().map(|heading| heading.start);
        end = starts.filter(|it| *it > byte).min().unwrap_or(text_bytes);
    }
    SectionAt {
        is_ambiguous: own.is_some() && expected_ambiguity(headings, &open),
        titles: open.titles(),
        number: open.number(),
        span: Span {
            start,
            end: end.max(start),
        },
    }
}

fn expected_ambiguity(headings: &[Heading], own: &Open<'_>) -> bool {
    let (path, number) = (own.titles().join(" > "), own.number());
    let first = path.split(' ').next().unwrap();
    let is_like_a_number = first.starts_with(|c: char| c.is_ascii_digit());
    let mut open = Open::default();
    let is_other = |heading| {
        open.push(heading);
        let other = open.titles().join(" > ");
        let before = other.strip_suffix(&path);
        let ends = before.is_some_and(|before| before.is_empty() || before.ends_with(" > "));
        let is_first = is_like_a_number && first != number && open.number() == first;
        is_first || (ends && open.number() != number)
    };
    path.starts_with("> ") || headings.iter().any(is_other)
}

fn expected_parent(headings: &[Heading], byte: u32) -> Option<u32> {
    let (own, before) = headings[..expected_count(headings, byte)].split_last()?;
    let mut open = Open::default();
    if own.symbol.is_some() {
        let mut all = before.iter().chain([own]);
        all.by_ref().for_each(|heading| open.push(heading));
        let mut around = open.open.iter().rev().skip(1).map(|(heading, ..)| heading);
        let parent = around.find(|heading| heading.start < own.start);
        return parent.map(|parent| parent.start);
    }
    let mut above = before.iter().rev();
    let parent = above.find(|above| above.level < own.level && above.start < own.start);
    parent.map(|parent| parent.start)
}

/// Compares all that is asked of an outline at every byte of a text.
fn check(outline: &StoredOutline, headings: &[Heading], text_bytes: u32) {
    for byte in 0..text_bytes + 3 {
        let section = expected_section(headings, byte, text_bytes);
        assert_eq!(
            titles_at(outline, byte),
            section.titles,
            "{byte} {headings:?}"
        );
        assert_eq!(
            section_at(outline, byte, text_bytes),
            section,
            "{byte} {headings:?}"
        );
        let parent = expected_parent(headings, byte);
        assert_eq!(
            start_of_parent(outline, byte),
            parent,
            "{byte} {headings:?}"
        );
        let span = Span {
            start: byte,
            end: byte + 9,
        };
        let starts = headings.iter().map(|heading| heading.start);
        let mut starts: Vec<u32> = starts.filter(|at| byte < *at && *at < byte + 9).collect();
        starts.sort_unstable();
        assert_eq!(starts_within(outline, span), starts, "{byte} {headings:?}");
    }
}

/// Titles that repeat, that have the separator in them, or that are like numbers.
const TITLES: [&str; 12] = [
    "a", "b", "b > a", "> a", "1", "1.2 a", "01", "2 b", "", "x a", "\u{e9}", "a > ",
];

/// Nested symbols that end behind those that they hold, and where the last one ends. Comments may lie anywhere
/// before them.
fn symbols() -> impl Strategy<Value = (Vec<Symbol>, u32)> {
    let one = (
        prop::sample::select(vec![
            "a", "b", "b > a", "> a", "1", "1.2 a", "x a", "\u{e9}",
        ]),
        prop::sample::select(vec!["", "fn", "1", "b >"]),
        0usize..4,
        0u32..4,
        prop::option::of((0u32..9, 0u32..3)),
    );
    prop::collection::vec(one, 0..14).prop_map(|all| {
        let mut symbols: Vec<Symbol> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let (mut at, mut line) = (0, 1);
        let close = |symbols: &mut Vec<Symbol>, position: Option<usize>, at: u32, line: u32| {
            if let Some(position) = position {
                symbols[position].span.end = at;
                symbols[position].lines.last = line;
            }
        };
        for (name, keyword, closed, gap, doc) in all {
            for _ in 0..closed {
                close(&mut symbols, open.pop(), at, line);
                at += gap % 2;
            }
            at += gap;
            line += gap % 3;
            let doc = doc.map(|(back, bytes)| {
                let start = at.saturating_sub(back);
                let end = start + bytes;
                Span { start, end }
            });
            symbols.push(Symbol {
                kind: SymbolKind::ALL[symbols.len() % 11],
                name: name.to_owned(),
                keyword: keyword.to_owned(),
                head: Span {
                    start: at,
                    end: at + 2,
                },
                parent: open.last().map(|parent| *parent as u32),
                doc,
                span: Span { start: at, end: at },
                lines: Lines {
                    first: line,
                    last: line,
                },
                name_start: at + 1,
            });
            open.push(symbols.len() - 1);
            at += 2;
        }
        while let Some(position) = open.pop() {
            close(&mut symbols, Some(position), at, line);
            at += 1;
        }
        // Fields hold nothing and stand in what has them, so that none is a bound of what lies outside of all.
        let holders: Vec<Option<u32>> = symbols.iter().map(|symbol| symbol.parent).collect();
        for (position, symbol) in (0u32..).zip(&mut symbols) {
            let is_leaf = !holders.contains(&Some(position)) && symbol.parent.is_some();
            if is_leaf && symbol.name_start % 3 == 0 {
                symbol.kind = SymbolKind::Field;
            }
        }
        (symbols, at)
    })
}

proptest! {
    #[test]
    fn stored_symbols_have_the_sections_of_their_headings((symbols, end) in symbols()) {
        prop_assert_eq!(nesting::fault(&symbols, end + 3), None);
        let headings = nesting::outline(&symbols);
        let stored = stored(&symbols);
            prop_assert_eq!(nesting::fault(stored.iter(), end + 3), None);
            prop_assert_eq!(&nesting::outline(stored.iter()), &headings);
            prop_assert_eq!(&stored.to_symbols(), &symbols);
            for position in 0..symbols.len() {
                let hierarchy = nesting::hierarchy(&symbols[..], position);
                prop_assert_eq!(nesting::hierarchy(&stored, position), hierarchy);
            }
            check(&StoredOutline::of_symbols(stored, None), &headings, end + 2);
    }

    #[test]
    fn an_excerpt_has_the_sections_of_its_bytes(
        (symbols, end) in symbols(),
        size in 1usize..5,
        start in 0u32..60,
        bytes in 0u32..20,
    ) {
        let Some(excerpts) = excerpts_of(&symbols, size) else {
            return Ok(());
        };
        let span = Span { start, end: start + bytes };
        let (part, excerpt) = excerpts(span);
        prop_assert_eq!(nesting::fault(part.iter(), end + 3), None);
        let part = StoredOutline::of_symbols(part, Some(excerpt));
        prop_assert!(part.covers(span));
        let whole = StoredOutline::of_symbols(stored(&symbols), None);
        prop_assert_eq!(starts_within(&part, span), starts_within(&whole, span));
        for byte in start..=start + bytes.saturating_sub(1) {
            let expected = section_at(&whole, byte, end + 2);
            prop_assert_eq!(section_at(&part, byte, end + 2), expected, "{} {:?}", byte, symbols);
            prop_assert_eq!(titles_at(&part, byte), titles_at(&whole, byte));
            prop_assert_eq!(start_of_parent(&part, byte), start_of_parent(&whole, byte));
        }
        let is_named_here = |name: u32| start <= name && name < start + bytes;
        let names = |outline: &StoredOutline| {
            let symbols = outline.symbols().unwrap();
            let here = symbols.iter().enumerate();
            let here = here.filter(|(_, symbol)| is_named_here(symbol.spans.name_start));
            let named = here.map(|(at, symbol)| (symbol.to_symbol().span, nesting::hierarchy(symbols, at)));
            named.collect::<Vec<_>>()
        };
        prop_assert_eq!(names(&part), names(&whole));
    }

    #[test]
    fn stored_titles_have_the_sections_of_their_headings(
        all in prop::collection::vec((1u8..5, prop::sample::select(TITLES.to_vec()), 0u32..30), 0..14),
        is_ascending in any::<bool>(),
    ) {
        let headings = all.into_iter().map(|(level, title, start)| heading(level, title, start));
        let mut headings: Vec<Heading> = headings.collect();
        if is_ascending {
            headings.sort_by_key(|heading| heading.start);
        }
        check(&outline_of(&headings), &headings, 32);
    }
}

#[test]
fn deeper_symbols_than_levels_have_their_sections() {
    let depth: u32 = 262;
    let symbols = (0..depth).map(|at: u32| Symbol {
        parent: at.checked_sub(1),
        span: Span {
            start: at,
            end: 2 * depth - at,
        },
        head: Span { start: at, end: at },
        name_start: at,
        ..program()[0].clone()
    });
    let symbols: Vec<Symbol> = symbols.collect();
    let headings = nesting::outline(&symbols);
    let stored = StoredOutline::of_symbols(stored(&symbols), None);
    check(&stored, &headings, 2 * depth);
}
