use proptest::prelude::*;

use super::*;

/// The operators of a query as `sign|field|operand`, with `"` around what is quoted.
fn told(query: &str) -> Vec<String> {
    let parsed = parse(query);
    let told = parsed.operators().map(|(_, operator)| {
        let sign = match operator.sign {
            Some(Sign::Plus) => "+",
            Some(Sign::Minus) => "-",
            None => "",
        };
        let field = operator
            .field
            .map_or(String::new(), |field| format!("{}:", field.name()));
        let quote = if operator.operand.is_quoted { "\"" } else { "" };
        format!("{sign}{field}{quote}{}{quote}", operator.operand.text)
    });
    told.collect()
}

#[test]
fn text_that_is_not_an_operator_is_plain() {
    for query in [
        "",
        "tide",
        "a-b",
        "C++",
        "++i",
        "--flag",
        "-",
        "+",
        "- a",
        "-1",
        "error -5",
        "+49",
        "\"",
        "a \"b c",
        "x\"y z\"",
        "std::vec",
        "path::Path",
        "http://x",
        "title:",
        "title: x",
        "C:\\dir",
        "path:C:\\dir",
        "path:c:/dir",
        "path://host/dir",
        "-\"",
        "\"\"",
        "\" \" -",
        "tag:\"",
        "Title:x",
        "-(a)",
        "title:\"a b",
        "fn main() -> T",
        "a - b",
    ] {
        let parsed = parse(query);
        assert!(parsed.is_plain(), "{query:?} {parsed:?}");
        assert_eq!(parsed.ranked_text(), query);
    }
}

#[test]
fn signs_of_running_text_and_options_are_plain() {
    for query in [
        "git log -p",
        "remove `python -m`",
        "the -O2 flag of gcc",
        "how to fix error \"Filtered offsite request to example.org\"",
        "Why does my posting using -F not work?",
        "find files named \"something\" below the folder",
        "Support -nographic flag",
        "gcc -c x.c -Wall",
        "cargo test --release -nocapture",
        "gcc -std=c11",
        "chmod +x",
        "run \"x\"?",
        "one two three four five \"six seven\"",
        "one two three four five -six",
        "what is +tide",
    ] {
        let parsed = parse(query);
        assert!(parsed.is_plain(), "{query:?} {parsed:?}");
        assert_eq!(parsed.ranked_text(), query);
    }
}

#[test]
fn operators_of_keywords_count() {
    for (query, expected) in [
        ("rust -async", &["-async"][..]),
        ("tide -moon -sun", &["-moon", "-sun"]),
        ("-paraffin lens wick", &["-paraffin"]),
        (
            "\"fn main\" -test path:examples",
            &["\"fn main\"", "-test", "path:examples"],
        ),
        ("tide +moon tables", &["+moon"]),
        ("one two three four \"five six\"", &["\"five six\""]),
        ("page cache \"dirty pages\"", &["\"dirty pages\""]),
        ("lamp -\u{6d77}", &["-\u{6d77}"]),
        ("lamp +std::vec", &["+std::vec"]),
    ] {
        assert_eq!(told(query), expected, "{query}");
    }
}

#[test]
fn a_sign_before_quotes_and_a_field_count_anywhere() {
    for (query, expected) in [
        (
            "how is +\"the robots.txt\" parsed",
            &["+\"the robots.txt\""][..],
        ),
        (
            "where are tests -\"unit tests\" described?",
            &["-\"unit tests\""],
        ),
        ("where is the path:src/x.rs parsed", &["path:src/x.rs"]),
        ("what about -tag:draft in here", &["-tag:draft"]),
        (
            "how does \u{201c}x y\u{201d} work +\u{201c}a b\u{201d}",
            &["+\"a b\""],
        ),
    ] {
        assert_eq!(told(query), expected, "{query}");
    }
}

#[test]
fn ranked_text_has_plain_and_required_words() {
    let parsed = parse(
        "rust \"state of  the art\" +std::vec -\"high water\" +\"a b\" \u{201c}q r\u{201d} path:x end",
    );
    assert_eq!(
        parsed.ranked_text(),
        "rust state of  the art std::vec a b q r end"
    );
    assert!(!parsed.is_browse() && !parsed.only_excludes());
    let parsed = parse("-title:\"a b\" path:src/*.rs +tag:x moon");
    assert_eq!(parsed.ranked_text(), "moon");
}

#[test]
fn queries_without_ranked_words_browse_or_only_exclude() {
    for query in ["-abc tag:x", "tag:x !", "path:src -\"a b\""] {
        let parsed = parse(query);
        assert!(parsed.is_browse() && !parsed.only_excludes(), "{query}");
    }
    for query in ["-abc", "-\"a b\" -abc", "-tag:x !", "-path:a"] {
        assert!(parse(query).only_excludes(), "{query}");
    }
}

#[test]
fn an_operator_taken_as_text_is_text_as_typed() {
    let mut parsed = parse("lamp \"of the\" -horn +\"a b\"");
    let first = parsed.operators().next().unwrap().0;
    assert_eq!(parsed.raw(first), "\"of the\"");
    parsed.take_as_text(first);
    assert_eq!(parsed.ranked_text(), "lamp \"of the\" a b");
    let mut parsed = parse("lamp \"of the\" -horn path:x");
    parsed
        .operators()
        .map(|(number, _)| number)
        .collect::<Vec<_>>()
        .into_iter()
        .for_each(|number| parsed.take_as_text(number));
    assert_eq!(parsed.ranked_text(), "lamp \"of the\" -horn path:x");
}

#[test]
fn dropped_operators_leave_what_is_ranked() {
    let mut parsed = parse("lamp \"of the\" path:x +\"a b\" -horn");
    assert_eq!(parsed.drop_lenient(), ["\"of the\"", "path:x", "-horn"]);
    assert_eq!(parsed.ranked_text(), "lamp \"of the\" a b");
    assert_eq!(parsed.operators().count(), 1);
    let mut parsed = parse("lamp -horn");
    parsed.drop_lenient();
    assert!(parsed.is_plain());
    assert_eq!(parsed.ranked_text(), "lamp");
}

#[test]
fn long_queries_of_operators_parse_in_linear_time() {
    for part in [
        "\"",
        "-",
        "\"a",
        "-\"",
        "title:\"",
        "\" ",
        "\u{201c}\u{0} ",
        "+ab ",
        "\"a\" -b ",
        "\"a\" -bc ",
    ] {
        let query = part.repeat((1 << 20) / part.len());
        let parsed = parse(&query);
        assert!(parsed.ranked_text().len() <= query.len() + 1, "{part:?}");
    }
}

proptest! {
    #[test]
    fn only_excluded_words_and_fields_are_not_ranked(
        query in "([ab]|[ \"+-]|title:|tag:|how|\u{201c}|\u{4e2d}|\\PC){0,20}"
    ) {
        let parsed = parse(&query);
        let words = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
        let unranked = parsed.operators().filter(|(_, it)| it.excludes() || it.field.is_some());
        let unranked: usize = unranked.map(|(number, _)| words(parsed.raw(number))).sum();
        prop_assert_eq!(words(&parsed.ranked_text()) + unranked, words(&query));
    }

    #[test]
    fn without_its_operators_a_query_is_itself(query in "(ab|[ \"+-]|tag:|[a-c]){0,20}") {
        let mut parsed = parse(&query);
        let numbers: Vec<usize> = parsed.operators().map(|(number, _)| number).collect();
        numbers.into_iter().for_each(|number| parsed.take_as_text(number));
        prop_assert!(parsed.is_plain());
        prop_assert_eq!(parsed.ranked_text(), query);
    }

    #[test]
    fn running_text_has_only_operators_that_are_plainly_meant(
        query in "(ab|\"ab c\"|-ab|\\+ab|-\"ab\"|tag:ab| ){1,9} how"
    ) {
        for (_, operator) in parse(&query).operators() {
            prop_assert!(operator.field.is_some() || operator.is_strict());
        }
    }

    #[test]
    fn exclusions_stand_before_or_after_all_plain_words(
        query in "(ab |\"ab c\" |-ab |\\+ab |tag:ab ){1,9}"
    ) {
        let parsed = parse(&query);
        let is_word = |piece: &Piece| piece.operator.is_none();
        let (Some(first), Some(last)) = (
            parsed.pieces.iter().position(is_word),
            parsed.pieces.iter().rposition(is_word),
        ) else {
            return Ok(());
        };
        for (number, operator) in parsed.operators() {
            let is_outside = number < first || number > last;
            prop_assert!(is_outside || operator.sign != Some(Sign::Minus));
        }
    }
}
