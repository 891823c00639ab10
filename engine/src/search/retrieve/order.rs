//! The order that a request wants for what was found, groups of equal values, and counts of values.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use kb_types::DocumentId;
use kb_types::error::Result;
use rustc_hash::FxHashSet;

use crate::search::filter::values::{check_field, facet_texts, values_of};
use crate::search::options::Sort;
use crate::search::rank::passages::Passage;
use crate::search::request::Request;
use crate::search::response::FacetCounts;
use crate::search::sources::Sources;
use crate::store::documents::DocumentRecord;
use crate::store::fields::FieldValue as Value;

/// What orders passages beside their scores.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Time(Reverse<i64>),
    Path(String, u32, usize),
    Ascending(Comparable),
    Descending(Reverse<Comparable>),
    /// Of the documents without the field.
    Last,
}

/// A value as it is ordered among those of all types.
struct Comparable(Value);

impl Ord for Comparable {
    fn cmp(&self, other: &Comparable) -> Ordering {
        self.0.order(&other.0)
    }
}

impl PartialOrd for Comparable {
    fn partial_cmp(&self, other: &Comparable) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Comparable {
    fn eq(&self, other: &Comparable) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Comparable {}

/// Checks that some document of the files has each field that a request sorts, groups or counts by.
///
/// # Errors
/// [`crate::Error::InvalidArgument`] with the nearest name, unless there are no documents.
pub(crate) fn check_fields(request: &Request, sources: &Sources<'_>) -> Result<()> {
    if let Sort::Field { name, .. } = &request.sort {
        check_field("sort", name, sources.files)?;
    }
    if let Some(name) = &request.group_by {
        check_field("group_by", name, sources.files)?;
    }
    for name in &request.facets {
        check_field("facets", name, sources.files)?;
    }
    Ok(())
}

/// Keeps the first passage of each group, in their order.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(crate) fn group(
    found: &mut Vec<Passage>,
    request: &Request,
    sources: &Sources<'_>,
) -> Result<()> {
    let Some(field) = &request.group_by else {
        return Ok(());
    };
    let mut seen: FxHashSet<Option<String>> = FxHashSet::default();
    let mut kept = Vec::new();
    for passage in found.drain(..) {
        let (_, record) = document_of(&passage, sources)?;
        let texts = facet_texts(&values_of(&record, field));
        // Those without a value are one group.
        let mut is_new = texts.is_empty() && seen.insert(None);
        for text in texts {
            is_new |= seen.insert(Some(text));
        }
        if is_new {
            kept.push(passage);
        }
    }
    found.append(&mut kept);
    Ok(())
}

/// Sorts passages that come in the order of their scores. Those of equal places keep it: all files of a fresh checkout
/// have one time.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(crate) fn sort(found: &mut Vec<Passage>, sort: &Sort, sources: &Sources<'_>) -> Result<()> {
    if *sort == Sort::Score {
        return Ok(());
    }
    let mut placed = Vec::with_capacity(found.len());
    for passage in found.drain(..) {
        let (file, record) = document_of(&passage, sources)?;
        let place = match sort {
            Sort::Recency => Place::Time(Reverse(record.modified_ms)),
            Sort::Score | Sort::Path => Place::Path(record.path, passage.rows.start, file),
            Sort::Field {
                name,
                is_descending,
            } => of_field(&record, name, *is_descending),
        };
        placed.push((place, passage));
    }
    // Stable.
    placed.sort_by(|(a, _), (b, _)| a.cmp(b));
    found.extend(placed.into_iter().map(|(_, passage)| passage));
    Ok(())
}

fn of_field(record: &DocumentRecord, name: &str, is_descending: bool) -> Place {
    let values = values_of(record, name).into_iter().map(Comparable);
    let place = if is_descending {
        values.max().map(|value| Place::Descending(Reverse(value)))
    } else {
        values.min().map(Place::Ascending)
    };
    place.unwrap_or(Place::Last)
}

fn document_of(passage: &Passage, sources: &Sources<'_>) -> Result<(usize, DocumentRecord)> {
    let file = sources.file_of(passage.best.address.segment);
    let id = match passage.document {
        Some(id) => id,
        None => sources.document_of(passage.best.address)?,
    };
    Ok((file, sources.document(file, id)?))
}

/// Most values of a field that are counted.
const FACET_VALUES_LIMIT: usize = 1000;

/// How many documents have each value of the fields that a request asks for.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(crate) fn counts(
    documents: &FxHashSet<(usize, DocumentId)>,
    request: &Request,
    sources: &Sources<'_>,
) -> Result<Vec<FacetCounts>> {
    let mut counted: Vec<BTreeMap<String, u64>> = vec![BTreeMap::new(); request.facets.len()];
    for (file, id) in documents {
        let record = sources.document(*file, *id)?;
        for (name, counts) in request.facets.iter().zip(&mut counted) {
            for text in facet_texts(&values_of(&record, name)) {
                *counts.entry(text).or_default() += 1;
            }
        }
    }
    let facets = request.facets.iter().zip(counted).map(|(name, counts)| {
        let mut values: Vec<(String, u64)> = counts.into_iter().collect();
        values.sort_by_key(|(_, documents)| Reverse(*documents));
        let more_values = values.len().saturating_sub(FACET_VALUES_LIMIT) as u64;
        values.truncate(FACET_VALUES_LIMIT);
        FacetCounts {
            field: name.clone(),
            values,
            more_values,
        }
    });
    Ok(facets.collect())
}

#[cfg(test)]
#[cfg(feature = "ingest")]
mod tests {
    use crate::kb::{Kb, KbWriter};
    use crate::search::options::{Mode, Scope, Sort};
    use crate::search::request::Request;
    use crate::store::fields::FieldValue as Value;

    /// Notes about the sea, of which one has no field, and one that is about something else.
    fn notes() -> (tempfile::TempDir, Kb) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap().without_merges();
        for (name, front, text) in [
            ("a.md", "year: 9\nauthor: Kim", "Sea, and the sea."),
            ("b.md", "year: 10\nauthor: Lee", "Sea."),
            ("c.md", "year: 2.5\nauthor: [Kim, Ann]", "The sea."),
            ("d.md", "", "Sea of notes."),
            ("e.md", "year: old\nauthor: Lee", "A sea."),
            ("f.md", "year: 2024-05-06\nauthor: Kim", "Sea again."),
            ("z.md", "year: 1\nauthor: Zoe", "Bread and butter."),
        ] {
            let text = format!("---\n{front}\n---\n{text}\n");
            writer.add_bytes(name, text.as_bytes()).unwrap();
            if name == "c.md" {
                writer.commit().unwrap();
            }
        }
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        (folder, kb)
    }

    fn names(kb: &Kb, request: &Request) -> String {
        let hits = kb.search(request).unwrap().hits.items;
        let names: Vec<&str> = hits.iter().map(|it| it.document.as_str()).collect();
        names.join(" ").replace(".md", "")
    }

    fn sea() -> Request {
        Request::new("sea").mode(Mode::Keyword)
    }

    fn by(name: &str) -> Sort {
        Sort::from_name(name).unwrap()
    }

    #[test]
    fn hits_are_sorted_by_fields() {
        let (_folder, kb) = notes();
        let in_order = |sort: &str| names(&kb, &sea().sort(by(sort)));
        assert_eq!(in_order("year"), "c a b f e d");
        assert_eq!(in_order("-year"), "e f b a c d");
        assert_eq!(in_order("-path"), "f e d c b a");
        // The least of several values counts, and in descending order the greatest.
        assert!(
            in_order("author").starts_with("c"),
            "{}",
            in_order("author")
        );
        let lists = |sort: &str| {
            let all = Request::new("").filters(crate::Filters::new().where_("year > 2"));
            names(&kb, &all.sort(by(sort)))
        };
        assert_eq!(lists("year"), "c a b");
        assert_eq!(lists("-meta.year"), "b a c");
    }

    #[test]
    fn pages_of_a_sorted_answer_go_on() {
        let (_folder, kb) = notes();
        let mut request = sea().sort(by("year")).k(4);
        let first = kb.search(&request).unwrap();
        request.page = request
            .page
            .clone()
            .cursor(first.hits.next.clone().unwrap());
        assert_eq!(names(&kb, &request), "e d");
        // It is of this order only.
        let other = request.sort(by("-year"));
        assert_eq!(
            kb.search(&other).unwrap_err().code(),
            "INVALID_CONTINUATION_TOKEN"
        );
    }

    #[test]
    fn a_group_has_one_hit() {
        let (_folder, kb) = notes();
        let first = |sort: &str| names(&kb, &sea().sort(by(sort)).group_by("author"));
        // Kim, Lee, Ann with Kim, none.
        assert_eq!(first("path"), "a b c d");
        assert_eq!(first("-path"), "f e d c");
        let ranked = names(&kb, &sea());
        let grouped = names(&kb, &sea().group_by("author"));
        assert_eq!(grouped.get(..1), ranked.get(..1), "{ranked}");
        assert_eq!(grouped.split(' ').count(), 4, "{grouped}");
    }

    #[test]
    fn values_of_two_types_are_two_groups() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("types.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let values = [
            Value::Integer(2016),
            Value::Text("2016".to_owned()),
            Value::Text("true".to_owned()),
            Value::Boolean(true),
            Value::Text("2016".to_owned()),
        ];
        for (number, value) in values.into_iter().enumerate() {
            let name = format!("{number}.md");
            writer.add_bytes(&name, b"The sea.").unwrap();
            let fields = [("v".to_owned(), vec![value])];
            writer.set_fields(&name, &fields).unwrap();
        }
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        let grouped = sea().sort(by("path")).group_by("V").facets(["v", "Type"]);
        assert_eq!(names(&kb, &grouped), "0 1 2 3");
        let response = kb.search(&grouped).unwrap();
        let expected = [
            ("\"2016\"".to_owned(), 2),
            ("\"true\"".to_owned(), 1),
            ("2016".to_owned(), 1),
            ("true".to_owned(), 1),
        ];
        assert_eq!(response.facets[0].values, expected);
        assert_eq!(response.facets[1].values, [("markdown".to_owned(), 5)]);
    }

    #[test]
    fn values_of_what_is_found_are_counted() {
        let (_folder, kb) = notes();
        let counted = |request: Request| {
            let response = kb
                .search(&request.facets(["author", "class"]).k(1))
                .unwrap();
            let facets = response.facets.iter();
            let facets =
                facets.map(|it| format!("{} {:?} {}", it.field, it.values, it.more_values));
            facets.collect::<Vec<_>>()
        };
        let expected = [
            "author [(\"kim\", 3), (\"lee\", 2), (\"ann\", 1)] 0",
            "class [(\"doc\", 6)] 0",
        ];
        assert_eq!(counted(sea()), expected);
        assert_eq!(
            counted(sea().scope(Scope::Documents).sort(by("year"))),
            expected
        );
        let listed = Request::new("").filters(crate::Filters::new().where_("year < 9 or draft"));
        assert!(kb.search(&listed).is_err(), "no document has a draft");
        let listed = Request::new("").filters(crate::Filters::new().where_("year < 9"));
        let expected = [
            "author [(\"ann\", 1), (\"kim\", 1), (\"zoe\", 1)] 0",
            "class [(\"doc\", 2)] 0",
        ];
        assert_eq!(counted(listed), expected);
        assert_eq!(kb.search(&sea()).unwrap().facets, []);
    }

    #[test]
    fn unknown_fields_and_symbols_are_refused() {
        let (_folder, kb) = notes();
        let told = |request: &Request| kb.search(request).unwrap_err().to_string();
        let wrong = told(&sea().sort(by("-yaer")));
        assert!(
            wrong.contains("unknown field \"yaer\"; did you mean \"year\"?"),
            "{wrong}"
        );
        let wrong = told(&sea().group_by("x y"));
        assert!(
            wrong.contains("group_by") && wrong.contains("author"),
            "{wrong}"
        );
        let wrong = told(&sea().facets(["year", "nothing"]));
        assert!(wrong.contains("facets"), "{wrong}");
        let wrong = told(&sea().group_by("year").smart_context(true));
        assert!(wrong.contains("symbols"), "{wrong}");
        let wrong = told(&sea().facets(vec!["year"; 17]));
        assert!(wrong.contains("at most 16"), "{wrong}");
        assert_eq!(Sort::from_name("-"), None);
    }
}
