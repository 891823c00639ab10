//! Filter by an expression over fields: `year > 2015 and not draft`.

use std::ops::ControlFlow;

use kb_types::error::Result;
use kb_types::file_types;
use kb_types::{Class, DocumentId};
use roaring::RoaringBitmap;
use rustc_hash::FxHashSet;

use crate::catalog::{DirectoryEntry, Segment};
use crate::resolve::abbreviate;
use crate::search::filter::expression::{self, Expression, Test};
use crate::search::filter::rows::{DOCUMENTS_PER_TICK, intersect, live_rows, rows_of_documents};
use crate::search::filter::stored::{self, with_texts};
use crate::search::filter::values::{OWN, names_hint, stored_names};
use crate::search::sources::Source;
use crate::store::documents::DocumentRecord;
use crate::store::facets::{self, Facet};
use crate::store::fields::{FieldValue as Value, normalized};

/// Where the values of a field are that every document has.
#[derive(Clone, Copy)]
enum BuiltIn {
    /// In bitmaps of a facet; an alias has the form of the second part.
    Facet(Facet, fn(&str) -> Option<&'static str>),
    /// In the directory.
    Directory(fn(&DirectoryEntry<'_>) -> Option<Value>),
    /// In the records of documents.
    Record(fn(&DocumentRecord) -> Option<Value>),
}

const BUILT_IN: [(&str, BuiltIn); 9] = [
    ("added", BuiltIn::Record(|it| time(it.added_ms))),
    (
        "class",
        BuiltIn::Facet(Facet::Class, |name| Class::from_name(name).map(Class::name)),
    ),
    (
        "language",
        BuiltIn::Facet(Facet::Language, file_types::canonical_language),
    ),
    ("modified", BuiltIn::Directory(|it| time(it.modified_ms()))),
    (
        "path",
        BuiltIn::Directory(|it| Some(Value::Text(it.path().to_owned()))),
    ),
    (
        "size",
        BuiltIn::Record(|it| i64::try_from(it.size_bytes).ok().map(Value::Integer)),
    ),
    ("tags", BuiltIn::Facet(Facet::Tag, |_| None)),
    (
        "title",
        BuiltIn::Record(|it| Some(Value::Text(it.title.clone()))),
    ),
    (
        "type",
        BuiltIn::Facet(Facet::Type, file_types::canonical_type),
    ),
];

/// A time of 0 is unknown.
fn time(ms: i64) -> Option<Value> {
    (ms != 0).then_some(Value::Time(ms))
}

/// Keeps the rows of documents for which an expression holds.
///
/// # Errors
/// [`crate::Error::InvalidArgument`] with the position, for one that cannot be read and for a field that no document of the
/// file has; [`crate::Error::Damaged`]; [`crate::Error::Cancelled`].
pub(crate) fn keep_where(
    source: &Source<'_>,
    given: Option<&str>,
    rows: &mut [RoaringBitmap],
) -> Result<()> {
    let Some(given) = given else {
        return Ok(());
    };
    let expression = expression::parse(given)?;
    let evaluation = Evaluation {
        source,
        given,
        live: live_rows(source.catalog),
    };
    intersect(rows, &evaluation.rows(&expression)?);
    Ok(())
}

/// The documents for which an expression holds. Those without rows are not found.
///
/// # Errors
/// As [`keep_where`].
pub(crate) fn documents_where(source: &Source<'_>, given: &str) -> Result<FxHashSet<DocumentId>> {
    let mut rows = live_rows(source.catalog);
    keep_where(source, Some(given), &mut rows)?;
    let mut found = FxHashSet::default();
    for document in source.catalog.directory(source.snapshot)?.iter() {
        let of_segment = rows.get(document.segment());
        if of_segment.is_some_and(|rows| rows.range_cardinality(document.rows()) > 0) {
            found.insert(document.id());
        }
    }
    Ok(found)
}

/// Rows of a file, one bitmap a segment.
type FileRows = Vec<RoaringBitmap>;

struct Evaluation<'e, 's> {
    source: &'e Source<'s>,
    given: &'e str,
    live: FileRows,
}

impl Evaluation<'_, '_> {
    /// The live rows for which an expression holds.
    // Recurses no deeper than the parser lets expressions nest.
    fn rows(&self, expression: &Expression) -> Result<FileRows> {
        match expression {
            Expression::All(of) => {
                let mut all = self.live.clone();
                for one in of {
                    intersect(&mut all, &self.rows(one)?);
                }
                Ok(all)
            }
            Expression::Any(of) => {
                let mut any = vec![RoaringBitmap::new(); self.live.len()];
                for one in of {
                    unite(&mut any, &self.rows(one)?);
                }
                Ok(any)
            }
            Expression::Not(one) => self.without(self.rows(one)?),
            Expression::Missing(field) => self.without(self.field(field, None)?),
            Expression::Field(field, test) => self.field(field, Some(test)),
        }
    }

    fn without(&self, rows: FileRows) -> Result<FileRows> {
        let live = self.live.iter().zip(&rows);
        Ok(live.map(|(live, rows)| live - rows).collect())
    }

    /// The live rows of documents with a value of the field that passes, or with any.
    fn field(&self, name: &str, test: Option<&Test>) -> Result<FileRows> {
        self.source.reporter.tick()?;
        let own = name.strip_prefix(OWN);
        let built_in = BUILT_IN.iter().find(|(built_in, _)| *built_in == name);
        let mut rows = stored::rows_with(self.source, own.unwrap_or(name), test)?;
        if let Some((_, built_in)) = built_in {
            unite(&mut rows, &self.built_in(*built_in, test)?);
        }
        intersect(&mut rows, &self.live);
        let is_found = rows.iter().any(|rows| !rows.is_empty());
        if !is_found && test.is_some() && built_in.is_none() {
            self.check_name(own.unwrap_or(name), name)?;
        }
        Ok(rows)
    }

    fn built_in(&self, field: BuiltIn, test: Option<&Test>) -> Result<FileRows> {
        let passes = |value: Option<Value>| value.is_some_and(|value| passes_as(test, value));
        match field {
            BuiltIn::Facet(facet, canonical) => {
                let test = test.map(|test| with_canonical(test, canonical));
                self.each_segment(|segment| {
                    let of = (segment.id, segment.rows());
                    facets::rows_of_values(self.source.snapshot, of, facet, "", |text| {
                        passes_as(test.as_ref(), Value::Text(text.to_owned()))
                    })
                })
            }
            BuiltIn::Directory(value) => {
                rows_of_documents(self.source, |document| passes(value(document)))
            }
            BuiltIn::Record(value) => {
                let segments = &self.source.catalog.segments;
                let mut all = vec![RoaringBitmap::new(); segments.len()];
                let (mut visited, documents) = (0, &self.source.catalog.documents);
                documents.each(self.source.snapshot, |_, record| {
                    if visited % DOCUMENTS_PER_TICK == 0 {
                        self.source.reporter.tick()?;
                    }
                    visited += 1;
                    let at = segments.iter().position(|it| it.id == record.segment());
                    if let Some(at) = at
                        && let (Some(rows), Some(of)) = (all.get_mut(at), segments.get(at))
                        && passes(value(&record))
                    {
                        let end = record.first_row.saturating_add(record.rows);
                        rows.insert_range(record.first_row..end.min(of.rows()));
                    }
                    Ok(ControlFlow::Continue(()))
                })?;
                Ok(all)
            }
        }
    }

    fn each_segment(&self, rows: impl Fn(&Segment) -> Result<RoaringBitmap>) -> Result<FileRows> {
        let segments = self.source.catalog.segments.iter();
        let rows = segments.map(|segment| {
            self.source.reporter.tick()?;
            rows(segment)
        });
        rows.collect()
    }

    /// # Errors
    /// [`crate::Error::InvalidArgument`] for a name that no live document has, unless there are no documents.
    fn check_name(&self, own: &str, shown: &str) -> Result<()> {
        let names = stored_names(self.source)?;
        if names.contains(&normalized(own)) || self.live.iter().all(RoaringBitmap::is_empty) {
            return Ok(());
        }
        let what = format!("unknown field {:?}", abbreviate(shown));
        let hint = names_hint(own, &names);
        Err(expression::field_error(self.given, shown, &what, &hint))
    }
}

/// Whether a value passes a test, if there is one.
fn passes_as(test: Option<&Test>, value: Value) -> bool {
    test.is_none_or(|test| test.passes(&value))
}

/// The test with aliases in their stored form: `md` is `markdown`.
fn with_canonical(test: &Test, canonical: fn(&str) -> Option<&'static str>) -> Test {
    with_texts(test, |text| canonical(text).map(str::to_owned))
}

fn unite(rows: &mut [RoaringBitmap], more: &[RoaringBitmap]) {
    for (rows, more) in rows.iter_mut().zip(more) {
        *rows |= more;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use kb_types::error::Result;
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization as _;

    use crate::check::VerifyOptions;
    use crate::ingest::run::SealOptions;
    use crate::kb::{Kb, KbWriter};
    use crate::progress::Progress;
    use crate::search::filter::expression;
    use crate::search::filters::Filters;
    use crate::search::request::Request;
    use crate::store::fields::{FieldValue, give_fields};

    /// Notes with front matter, in two segments, the first without its last document.
    fn notes() -> (tempfile::TempDir, Kb) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap().without_merges();
        for (name, front) in [
            (
                "a.md",
                "status: Draft\nyear: 2016\ndate: 2024-05-06\ndraft: true",
            ),
            (
                "b.md",
                "status: final\nyear: 10\nprice: 2.5\ndate: 2024-05-31 23:00",
            ),
            ("gone.md", "owner: Ann"),
        ] {
            let text = format!("---\n{front}\n---\nSome words.\n");
            writer.add_bytes(name, text.as_bytes()).unwrap();
        }
        writer.commit().unwrap();
        let text = "---\nauthors: [Ann, Lee]\ntype: post\ntags: sea\n---\n# Log\n\nSome words.\n";
        writer.add_bytes("c.md", text.as_bytes()).unwrap();
        writer
            .add_bytes("src/main.rs", b"fn main() {} // words")
            .unwrap();
        writer.remove("gone.md").unwrap();
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        (folder, kb)
    }

    fn found(kb: &Kb, query: &str, given: &str) -> Result<String> {
        let request = Request::new(query).filters(Filters::new().where_(given));
        let found = kb.search(&request)?;
        let mut names: Vec<&str> = found.hits.iter().map(|it| it.document.as_str()).collect();
        names.sort_unstable();
        Ok(names.join(" "))
    }

    #[test]
    fn documents_pass_for_which_an_expression_holds() {
        let (_folder, kb) = notes();
        for (given, expected) in [
            ("year > 2015", "a.md"),
            ("year <= 2016", "a.md b.md"),
            ("price < 3 and not draft", "b.md"),
            ("draft", "a.md"),
            ("status in (\"final\", \"DRAFT\")", "a.md b.md"),
            ("date = 2024-05", "a.md b.md"),
            ("date > 2024-05-06", "b.md"),
            ("author = \"lee\" or author = \"nobody\"", "c.md"),
            ("author ~ \"a*\"", "c.md"),
            ("missing(status)", "c.md src/main.rs"),
            ("missing(nothing) and missing(year)", "c.md src/main.rs"),
            ("type = \"md\"", "a.md b.md c.md"),
            ("type = \"post\"", "c.md"),
            ("meta.type = \"markdown\"", ""),
            ("not missing(meta.type)", "c.md"),
            ("language = \"rs\" and class = \"code\"", "src/main.rs"),
            ("path ~ \"src/*\"", "src/main.rs"),
            ("tags has \"sea\"", "c.md"),
            ("title = \"log\"", "c.md"),
            ("size < 25 and added > 2020-01", "src/main.rs"),
            ("missing(modified) or missing(path)", ""),
            ("year = \"2016\"", ""),
        ] {
            assert_eq!(found(&kb, "", given).unwrap(), expected, "{given}");
            assert_eq!(found(&kb, "words", given).unwrap(), expected, "{given}");
        }
    }

    #[test]
    fn fields_of_every_document_are_those_of_sorting() {
        let names = super::BUILT_IN.map(|(name, _)| name);
        assert_eq!(names, crate::search::filter::values::BUILT_IN_NAMES);
    }

    #[test]
    fn unknown_fields_are_refused_where_they_stand() {
        let (_folder, kb) = notes();
        for (given, said) in [
            (
                "draft and yeer > 3",
                "unknown field \"yeer\" at character 11; did you mean \"year\"?",
            ),
            (
                "`owner` = \"ann\"",
                "unknown field \"owner\" at character 1; this file has: author",
            ),
            (
                "meta.path = \"x\"",
                "unknown field \"meta.path\" at character 1",
            ),
            ("year >", "at character 7"),
        ] {
            let error = found(&kb, "", given).unwrap_err();
            assert_eq!(error.code(), "INVALID_ARGUMENT");
            assert!(error.to_string().contains(said), "{error}");
        }
    }

    #[test]
    fn fields_are_counted_by_type() {
        let (_folder, kb) = notes();
        let fields = kb.fields().unwrap();
        let shown: Vec<String> = fields
            .iter()
            .map(|it| format!("{} {} {} {:?}", it.name, it.kind, it.documents, it.values))
            .collect();
        let expected = [
            "author text 1 [(\"ann\", 1), (\"ann, lee\", 1), (\"lee\", 1)]",
            "date time 2 [(\"2024-05-06\", 1), (\"2024-05-31t23:00\", 1)]",
            "draft boolean 1 [(\"true\", 1)]",
            "price float 1 [(\"2.5\", 1)]",
            "status text 2 [(\"draft\", 1), (\"final\", 1)]",
            "type text 1 [(\"post\", 1)]",
            "year integer 2 [(\"10\", 1), (\"2016\", 1)]",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn conditions_are_joined_and_named() {
        let (_folder, kb) = notes();
        let filters = Filters::new()
            .where_("draft or year = 10")
            .where_("year > 2015");
        assert_eq!(
            filters.where_.as_deref(),
            Some("(draft or year = 10) and (year > 2015)")
        );
        let request = Request::new("").filters(filters);
        assert_eq!(kb.search(&request).unwrap().hits.len(), 1);
        let nothing = Request::new("words").filters(Filters::new().where_("year = 3"));
        let warnings = kb.search(&nothing).unwrap().warnings;
        assert!(
            warnings.iter().any(|it| it.contains("where year = 3")),
            "{warnings:?}"
        );
    }

    /// Values of every type, some alike in other letters, or equal as numbers, or of another type than they look.
    fn value() -> impl Strategy<Value = FieldValue> {
        let text = prop::sample::select(vec![
            "Kim",
            "kim lee",
            "2",
            "K\u{e9}",
            "a, \"b\"\\",
            " k",
            "2024-05-06 10:20",
        ]);
        prop_oneof![
            text.prop_map(|text| FieldValue::Text(text.to_owned())),
            (-3..4i64).prop_map(FieldValue::Integer),
            prop::sample::select(vec![2.0, 0.5, -3.0]).prop_map(FieldValue::Float),
            any::<bool>().prop_map(FieldValue::Boolean),
            prop::sample::select(vec!["2024-05-06", "2024-05-31T23:00:00.5", "2024-06-01"])
                .prop_map(FieldValue::of_text),
        ]
    }

    const ASKED: [&str; 16] = [
        "1",
        "2",
        "2.5",
        "-3.0",
        "true",
        "false",
        "2024-05",
        "2024-05-06",
        "2024-06-01",
        "\"kim\"",
        "\"K\"",
        "\"2\"",
        "\"a, \\\"b\\\"\\\\\"",
        "\"ke\u{301}\"",
        "\" K\"",
        "\"2024-05-06T10:20\"",
    ];

    fn asked() -> impl Strategy<Value = String> {
        let value = || prop::sample::select(ASKED.to_vec());
        let name = prop::sample::select(vec!["a", "b", "C"]);
        let sign = prop::sample::select(vec!["=", "!=", "<", "<=", ">", ">=", "has"]);
        let test = prop_oneof![
            4 => (sign, value()).prop_map(|(sign, value)| format!("{sign} {value}")),
            1 => (value(), value()).prop_map(|(one, other)| format!("in ({one}, {other})")),
            1 => (value(), value()).prop_map(|(one, other)| format!("not in ({one}, {other})")),
            1 => Just("~ \"k*\"".to_owned()),
            1 => Just(String::new()),
        ];
        let leaf = prop_oneof![
            6 => (name.clone(), test).prop_map(|(name, test)| format!("{name} {test}")),
            1 => name.prop_map(|name| format!("missing({name})")),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                inner.clone().prop_map(|one| format!("not ({one})")),
                (inner.clone(), inner.clone())
                    .prop_map(|(one, other)| format!("({one} and {other})")),
                (inner.clone(), inner).prop_map(|(one, other)| format!("({one} or {other})")),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]
        #[test]
        fn rows_are_those_of_a_plain_evaluation(
            documents in prop::collection::vec(prop::collection::vec((0..3usize, value()), 0..4), 1..24),
            expressions in prop::collection::vec(asked(), 40),
            commits in 1..4usize,
            edits in prop::collection::vec((0..24usize, 0..3usize, prop::option::of(value())), 0..6),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("random.kb");
            let mut writer = KbWriter::open_or_create(&path).unwrap().without_merges();
            // Every name is known, so that none is refused.
            let all = (0..3).map(|name| (name, FieldValue::Integer(1))).collect();
            let mut values: Vec<BTreeMap<String, Vec<FieldValue>>> = Vec::new();
            for (number, fields) in documents.iter().chain([&all]).enumerate() {
                let mut of: BTreeMap<String, Vec<FieldValue>> = BTreeMap::new();
                for (name, value) in fields {
                    let name = ["a", "b", "c"][*name].to_owned();
                    of.entry(name).or_default().push(value.clone());
                }
                let path = format!("{number:03}.md");
                let text = b"Some words.";
                let mut document = writer.read_document(&path, text, &mut Progress::ignore).unwrap();
                let fields: Vec<_> = of.clone().into_iter().collect();
                give_fields(&mut document, &fields).unwrap();
                writer.add(document).unwrap();
                if number % (documents.len() / commits + 1) == 0 {
                    writer.commit().unwrap();
                }
                values.push(of);
            }
            writer.commit().unwrap();
            check(&path, &values, &expressions)?;
            for (at, name, value) in edits {
                let (at, name) = (at % values.len(), ["a", "b", "c"][name].to_owned());
                let given: Vec<FieldValue> = value.into_iter().collect();
                let fields = [(name.clone(), given.clone())];
                writer.set_fields(&format!("{at:03}.md"), &fields).unwrap();
                values[at].insert(name, given);
            }
            // Every name stays known.
            let one = vec![FieldValue::Integer(1)];
            let all: Vec<_> = ["a", "b", "c"].map(|name| (name.to_owned(), one.clone())).into();
            let last = values.len() - 1;
            writer.set_fields(&format!("{last:03}.md"), &all).unwrap();
            values[last] = all.into_iter().collect();
            writer.commit().unwrap();
            check(&path, &values, &expressions)?;
            // One segment of all, whose columns are made from those.
            writer.seal(None, &SealOptions::default(), &mut Progress::ignore).unwrap();
            check(&path, &values, &expressions)?;
        }
    }

    /// Compares what each expression finds with a plain evaluation of the values of all documents, and checks the file.
    fn check(
        path: &Path,
        values: &[BTreeMap<String, Vec<FieldValue>>],
        expressions: &[String],
    ) -> std::result::Result<(), TestCaseError> {
        let kb = Kb::open(path).unwrap();
        let deep = VerifyOptions::new().deep(true);
        let problems = kb.verify(&deep, &mut Progress::ignore).unwrap().problems;
        prop_assert!(problems.is_empty(), "{:?}", problems);
        for given in expressions {
            let expression = expression::parse(&given.nfc().collect::<String>()).unwrap();
            let of = |at: usize| {
                let values = &values[at];
                expression.holds(&|name| values.get(name).map(Vec::as_slice).unwrap_or_default())
            };
            let expected: Vec<String> = (0..values.len())
                .filter(|at| of(*at))
                .map(|at| format!("{at:03}.md"))
                .collect();
            let request = Request::new("")
                .k(100)
                .filters(Filters::new().where_(given));
            let found = kb.search(&request).unwrap();
            let mut names: Vec<String> =
                found.hits.iter().map(|hit| hit.document.clone()).collect();
            names.sort_unstable();
            prop_assert_eq!(names, expected, "{}", given);
        }
        Ok(())
    }
}
