//! Expressions as they are written, read, shown and evaluated.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn shown(given: &str) -> String {
    parse(given)
        .unwrap_or_else(|error| panic!("{given}: {error}"))
        .to_string()
}

fn refused(given: &str) -> String {
    parse(given).unwrap_err().to_string()
}

#[test]
fn expressions_are_read() {
    for (given, expected) in [
        ("year > 2015", "year > 2015"),
        ("draft", "draft = true"),
        ("NOT Draft", "not draft = true"),
        ("a=1 and b=2 or c=3", "(a = 1 and b = 2) or c = 3"),
        ("a=1 and (b=2 or c=3)", "a = 1 and (b = 2 or c = 3)"),
        ("((a == 1))", "a = 1"),
        ("a != 'x'", "not a = \"x\""),
        ("author in (\"Kim\", 'Lee')", "author in (\"Kim\", \"Lee\")"),
        ("author not in (1)", "not author in (1)"),
        ("tags has \"x\"", "tags = \"x\""),
        ("title ~ \"report*\"", "title ~ \"report*\""),
        ("missing( owner )", "missing(owner)"),
        ("`is it?` = true", "`is it?` = true"),
        ("`and` = 1", "`and` = 1"),
        ("x = -1.5e3", "x = -1500.0"),
        ("x=\"a \\\" b\\\\\"", "x = \"a \\\" b\\\\\""),
        ("created >= 2024-01-01", "created >= 2024-01-01"),
        ("created = 2024-05", "created = 2024-05"),
        ("at = 2024-05-06T10:20+02:00", "at = 2024-05-06T08:20Z"),
        ("at = 2024-05-06T10:20:30Z", "at = 2024-05-06T10:20:30Z"),
        (
            "at = 2024-05-06T10:20:30.25",
            "at = 2024-05-06T10:20:30.250Z",
        ),
        ("Größe > 3 and 名 = 1", "größe > 3 and 名 = 1"),
        ("not not a", "not not a = true"),
    ] {
        assert_eq!(shown(given), expected, "{given}");
    }
}

#[test]
fn what_is_none_is_refused_with_its_place() {
    for (given, expected) in [
        ("", "expected the name of a field at character 1"),
        (
            "a =",
            "expected a text in quotes, a number, a date, true or false at character 4",
        ),
        ("a = b", "a text stands in quotes: \"b\" at character 5"),
        (
            "a = 1 b = 2",
            "expected \"and\", \"or\" or the end at character 7",
        ),
        ("(a = 1", "expected \")\" at character 7"),
        ("ä = \"x", "a text that nothing closes at character 5"),
        ("a in ()", "expected a text in quotes"),
        ("a in 1", "expected \"(\" at character 6"),
        ("a not 1", "expected \"in\" at character 7"),
        (
            "a ~ 1",
            "expected a pattern of 1 to 200 bytes in quotes at character 5",
        ),
        ("a ~ \"\"", "expected a pattern"),
        (
            "a = 2024-13-01",
            "neither a number nor a date at character 5",
        ),
        ("a = 2024-02-30", "neither a number nor a date"),
        (
            "a = 99999999999999999999",
            "a number that 64 bits do not hold at character 5",
        ),
        ("a = 1e999", "a number that 64 bits do not hold"),
        ("a = 1 & b = 2", "unexpected '&' at character 7"),
        ("and = 1", "expected the name of a field at character 1"),
        ("`` = 1", "expected the name of a field at character 1"),
    ] {
        let said = refused(given);
        assert!(said.contains(expected), "{given}: {said}");
    }
}

#[test]
fn size_and_depth_are_bounded() {
    let deep = |levels| format!("{}a{}", "(".repeat(levels), ")".repeat(levels));
    assert_eq!(shown(&deep(63)), "a = true");
    assert!(refused(&deep(64)).contains("64 levels"));
    assert!(refused(&"not ".repeat(100_000 / 4)).contains("more than 65536 bytes"));
    assert!(refused(&format!("{}a", "not ".repeat(16_000))).contains("64 levels"));
    let many = |tests| vec!["a"; tests].join(" or ");
    assert!(parse(&many(1024)).is_ok());
    assert!(refused(&many(1025)).contains("more than 1024 tests"));
}

fn holds(given: &str, fields: &[(&str, &[Value])]) -> bool {
    let of: BTreeMap<&str, &[Value]> = fields.iter().copied().collect();
    parse(given)
        .unwrap()
        .holds(&|name| of.get(name).copied().unwrap_or_default())
}

#[test]
fn documents_pass_by_any_value_of_a_field() {
    let text = |text: &str| Value::Text(text.to_owned());
    let at = |date: &str| Value::Time(DateRange::parse(date).unwrap().start_ms);
    let (authors, day) = ([text("Kim"), text("Lee")], [at("2024-05-31T23:00")]);
    let fields: [(&str, &[Value]); 5] = [
        ("author", &authors),
        ("created", &day),
        ("year", &[Value::Integer(2016)]),
        ("draft", &[Value::Boolean(false)]),
        ("price", &[Value::Float(2.5)]),
    ];
    for (given, expected) in [
        ("author = \"lee\"", true),
        ("author != \"lee\"", false),
        ("author in (\"Ann\", \"KIM\")", true),
        ("author ~ \"l?e\"", true),
        ("author ~ \"e\"", false),
        ("created = 2024-05", true),
        ("created > 2024-05", false),
        ("created <= 2024-05", true),
        ("created < 2024-06-01T01:00+02:00", false),
        ("created < 2024-06-01T01:01+02:00", true),
        ("year > 2015 and year < 2016.5", true),
        ("year = 2016.0", true),
        ("year = \"2016\"", false),
        ("draft", false),
        ("not draft", true),
        ("price >= 2 and price < 3", true),
        ("missing(owner) and not missing(author)", true),
        ("owner = 1", false),
        ("owner != 1", true),
    ] {
        assert_eq!(holds(given, &fields), expected, "{given}");
    }
}

#[test]
fn numbers_compare_exactly() {
    let big = [Value::Integer(i64::MAX)];
    for (given, expected) in [
        ("n = 9223372036854775807", true),
        ("n < 9223372036854775808.0", true),
        ("n = 9223372036854775808.0", false),
        ("n > 9223372036854774784.0", true),
        ("n < 1e300", true),
        ("n > -1e300", true),
    ] {
        assert_eq!(holds(given, &[("n", &big)]), expected, "{given}");
    }
    let small = [Value::Float(-0.5)];
    assert!(holds("n < 0 and n > -1", &[("n", &small)]));
}

fn literal() -> impl Strategy<Value = Literal> {
    let dates = prop_oneof!["[0-9]{4}-0[1-9]", "[0-9]{4}-1[0-2]-[0-2][1-8]"];
    prop_oneof![
        ".{0,8}".prop_map(Literal::Text),
        any::<i64>().prop_map(Literal::Integer),
        any::<f64>()
            .prop_filter("finite", |n| n.is_finite())
            .prop_map(Literal::Float),
        any::<bool>().prop_map(Literal::Boolean),
        dates.prop_filter_map("a date", |date| DateRange::parse(&date).map(Literal::Date)),
    ]
}

fn expression() -> impl Strategy<Value = Expression> {
    let name = prop_oneof![
        "[a-c_]{1,2}",
        "[^A-Z]{1,5}".prop_map(|name| name.trim().to_lowercase())
    ];
    let name = name.prop_filter("a name", |name| {
        !name.trim().is_empty() && name.trim().to_lowercase() == *name
    });
    let operator = prop::sample::select(vec![
        Operator::Equal,
        Operator::Less,
        Operator::LessOrEqual,
        Operator::Greater,
        Operator::GreaterOrEqual,
    ]);
    let test = prop_oneof![
        (operator, literal()).prop_map(|(operator, literal)| Test::Compare(operator, literal)),
        prop::collection::vec(literal(), 1..4).prop_map(Test::OneOf),
    ];
    let leaf = prop_oneof![
        name.clone().prop_map(Expression::Missing),
        (name, test).prop_map(|(name, test)| Expression::Field(name, test)),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let some = prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            some.clone().prop_map(Expression::All),
            some.prop_map(Expression::Any),
            inner.prop_map(|one| Expression::Not(Box::new(one))),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_shown_is_read_as_the_same(expression in expression()) {
        let shown = expression.to_string();
        prop_assert_eq!(parse(&shown).unwrap(), expression, "{}", shown);
    }

    #[test]
    fn no_text_is_too_much(text in "[a-c0-9()'\"`=<>!~, .\\\\-]{0,60}") {
        let _ = parse(&text);
    }
}
