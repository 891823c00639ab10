//! Filter by what documents state of themselves: `status=draft`, `date>=2024-05`.

use std::collections::BTreeMap;

use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;

use crate::resolve::abbreviate;
use crate::search::filter::expression::{Literal, Operator, Test};
use crate::search::filter::facet::listed;
use crate::search::filter::rows::{intersect, live_rows};
use crate::search::filter::stored;
use crate::search::filter::values::stored_names;
use crate::search::sources::Source;
use crate::store::fields::{DateRange, FieldValue, normalized, value_of};

/// Longer ones first: `<=` begins with `<`.
const OPERATORS: [(&str, Operator); 5] = [
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("=", Operator::Equal),
];

/// A condition, as it was given and as it was read.
#[derive(Debug)]
struct Condition {
    name: String,
    operator: Operator,
    value: String,
}

impl Condition {
    fn read(given: &str) -> Result<Condition> {
        let at = given.find(['<', '>', '=']);
        let parts = at.and_then(|at| {
            let (name, rest) = given.split_at_checked(at)?;
            let found = OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign));
            let (sign, operator) = found?;
            Some((
                normalized(name),
                *operator,
                value_of(rest.strip_prefix(sign)?),
            ))
        });
        match parts {
            Some((name, operator, value)) if !name.is_empty() && !value.is_empty() => {
                Ok(Condition {
                    name,
                    operator,
                    value,
                })
            }
            _ => Err(Error::InvalidArgument {
                argument: "field",
                reason: format!(
                    "{:?} is not a condition; examples: status=draft, date>=2024-05, rating>3",
                    abbreviate(given)
                ),
            }),
        }
    }

    /// What a value must be; any of these.
    fn tests(&self) -> Vec<Test> {
        let mut literals = vec![match FieldValue::of_text(&self.value) {
            FieldValue::Integer(number) => Literal::Integer(number),
            FieldValue::Float(number) => Literal::Float(number),
            FieldValue::Boolean(is) => Literal::Boolean(is),
            FieldValue::Text(text) => Literal::Text(text),
            FieldValue::Time(at) => {
                Literal::Date(DateRange::parse(&self.value).unwrap_or(DateRange {
                    start_ms: at,
                    end_ms: at.saturating_add(1),
                }))
            }
        }];
        // A number of four digits is a year, too.
        let month = |month: &str| DateRange::parse(&format!("{}-{month}", self.value));
        if let (Some(first), Some(last)) = (month("01"), month("12")) {
            literals.push(Literal::Date(DateRange {
                start_ms: first.start_ms,
                end_ms: last.end_ms,
            }));
        }
        let literals = literals.into_iter();
        literals
            .map(|literal| Test::Compare(self.operator, literal))
            .collect()
    }
}

/// Keeps the rows of documents for which the conditions hold. Values that one name may equal are alternatives.
///
/// # Errors
/// [`Error::InvalidArgument`] for what is no condition, and for a name that no document of the file has;
/// [`Error::Damaged`].
pub(crate) fn keep_fields(
    source: &Source<'_>,
    given: &[String],
    rows: &mut [RoaringBitmap],
) -> Result<()> {
    if given.is_empty() {
        return Ok(());
    }
    let mut alternatives: BTreeMap<String, Vec<Condition>> = BTreeMap::new();
    let mut all = Vec::new();
    for condition in given {
        let condition = Condition::read(condition)?;
        match condition.operator {
            Operator::Equal => {
                let same = alternatives.entry(condition.name.clone()).or_default();
                same.push(condition);
            }
            _ => all.push(vec![condition]),
        }
    }
    all.extend(alternatives.into_values());
    for conditions in &all {
        let mut passing = vec![RoaringBitmap::new(); rows.len()];
        for condition in conditions {
            for test in condition.tests() {
                let with = stored::rows_with(source, &condition.name, Some(&test))?;
                for (passing, with) in passing.iter_mut().zip(with) {
                    *passing |= with;
                }
            }
        }
        intersect(&mut passing, &live_rows(source.catalog));
        if passing.iter().all(RoaringBitmap::is_empty) {
            check_names(source, conditions)?;
        }
        intersect(rows, &passing);
    }
    Ok(())
}

/// # Errors
/// [`Error::InvalidArgument`] for a name that no live document has.
fn check_names(source: &Source<'_>, conditions: &[Condition]) -> Result<()> {
    let names = stored_names(source)?;
    let unknown = conditions
        .iter()
        .find(|condition| !names.contains(&condition.name));
    unknown.map_or(Ok(()), |unknown| {
        Err(Error::InvalidArgument {
            argument: "field",
            reason: format!(
                "unknown field {:?}; {}",
                abbreviate(&unknown.name),
                listed("this file has", &names)
            ),
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::check::VerifyOptions;
    use crate::kb::{Kb, KbWriter};
    use crate::progress::Progress;
    use crate::search::filters::Filters;
    use crate::search::request::Request;
    use kb_types::error::Result;

    /// Three notes with front matter, in two segments, the first without its last document.
    fn notes() -> (tempfile::TempDir, Kb) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap().without_merges();
        for (name, front) in [
            ("a.md", "status: Draft\nyear: 9\ndate: 2024-05-06"),
            ("b.md", "status: final\nyear: 10\ndate: 2024-05-31 23:00"),
            ("gone.md", "owner: Ann\nstatus: gone"),
        ] {
            let text = format!("---\n{front}\n---\nSome words.\n");
            writer.add_bytes(name, text.as_bytes()).unwrap();
        }
        writer.commit().unwrap();
        let text = "---\nstatus: draft\nyear: 2023\ndate: 2023\nauthors: [Ann, Lee]\n---\nWords.\n";
        writer.add_bytes("c.md", text.as_bytes()).unwrap();
        writer.remove("gone.md").unwrap();
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        (folder, kb)
    }

    fn found(kb: &Kb, conditions: &[&str]) -> Result<Vec<String>> {
        let filters = Filters::new().fields(conditions.iter().copied());
        let listed = kb.search(&Request::new("").filters(filters))?;
        Ok(listed.hits.iter().map(|hit| hit.document.clone()).collect())
    }

    #[test]
    fn documents_pass_whose_fields_hold() {
        let (_folder, kb) = notes();
        for (conditions, expected) in [
            (&["status=draft"][..], &["a.md", "c.md"][..]),
            (&[" STATUS = Draft "], &["a.md", "c.md"]),
            (&["status=final", "status=draft"], &["a.md", "b.md", "c.md"]),
            (&["status=draft", "year>9"], &["c.md"]),
            (&["year>=9", "year<=10"], &["a.md", "b.md"]),
            (&["year=2023"], &["c.md"]),
            (&["author=lee"], &["c.md"]),
            (&["author=Ann, Lee"], &["c.md"]),
            (&["date=2024-05"], &["a.md", "b.md"]),
            (&["date=2024-05-31"], &["b.md"]),
            (&["date>2024-05-06"], &["b.md"]),
            (&["date<=2024"], &["a.md", "b.md", "c.md"]),
            (&["date<2024"], &["c.md"]),
            (&["status=none"], &[]),
        ] {
            assert_eq!(found(&kb, conditions).unwrap(), expected, "{conditions:?}");
        }
    }

    #[test]
    fn what_is_no_condition_and_unknown_names_are_refused() {
        let (_folder, kb) = notes();
        for (condition, said) in [
            ("status", "not a condition"),
            ("=draft", "not a condition"),
            ("status=", "not a condition"),
            (
                "statu=draft",
                "unknown field \"statu\"; this file has: author, date, status, year",
            ),
            ("owner=ann", "unknown field"),
        ] {
            let error = found(&kb, &[condition]).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn the_facets_of_fields_and_links_are_those_of_the_documents() {
        let (folder, kb) = notes();
        drop(kb);
        let path = folder.path().join("notes.kb");
        let check = |path: &std::path::Path| {
            let deep = VerifyOptions::new().deep(true);
            Kb::open(path)
                .unwrap()
                .verify(&deep, &mut Progress::ignore)
                .unwrap()
        };
        assert!(check(&path).problems.is_empty());
    }
}
