//! Objects about a whole result: its continuation, its relevance, and warnings.

use kb_engine::{Cursor, Response};

use crate::object::Object;

/// The end of an answer, as `paging`: its tokens, whether these exceed the budget because one item
/// alone does, and the cursor of what is left.
#[must_use]
pub fn paging(tokens: u64, over_budget: bool, next: Option<&Cursor>) -> Object {
    let object = Object::new()
        .field("tokens", tokens)
        .field("over_budget", over_budget)
        .field("has_more", next.is_some())
        .field("continuation", next.map(Cursor::to_string));
    Object::new().object("paging", object)
}

/// What was done about words of the query that no document has: `corrections` with what took their place and where they
/// are in the query, in bytes; and `missing` identifiers.
#[must_use]
pub fn spelling(response: &Response) -> Object {
    let corrections = response.corrections.iter().map(|it| {
        Object::new()
            .field("from", &*it.from)
            .field("to", &*it.to)
            .field("start_byte", it.span.start)
            .field("end_byte", it.span.end)
    });
    Object::new()
        .objects("corrections", corrections.collect())
        .field("missing", response.missing.clone())
}

/// `facets`: of each field that was asked for its `values`, each with the number of `documents` that have it, and how many
/// `more_values` there are. Empty where none was asked for.
#[must_use]
pub fn facets(response: &Response) -> Object {
    if response.facets.is_empty() {
        return Object::new();
    }
    let facets = response.facets.iter().map(|facet| {
        let values = facet.values.iter().map(|(value, documents)| {
            Object::new()
                .field("value", &**value)
                .field("documents", *documents)
        });
        Object::new()
            .field("field", &*facet.field)
            .objects("values", values.collect())
            .field("more_values", facet.more_values)
    });
    Object::new().objects("facets", facets.collect())
}

/// What is said of an answer as a whole, as `summary`: whether it is about what was asked, which only a ranked search
/// says, and warnings. `spelling`: the object of that name, for a ranked search.
#[must_use]
pub fn summary(verdict: Option<&str>, spelling: Object, warnings: &[String]) -> Object {
    let mut summary = Object::new();
    if let Some(verdict) = verdict {
        summary = summary.field("verdict", verdict);
    }
    let summary = summary.join(spelling);
    Object::new().object("summary", summary.field("warnings", warnings.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_whole_answer_has_no_continuation() {
        assert_eq!(
            paging(12, false, None).finish(),
            r#"{"paging":{"tokens":12,"over_budget":false,"has_more":false,"continuation":null}}"#
        );
    }

    #[test]
    fn a_verdict_is_there_where_one_is_given() {
        let warnings = ["old".to_owned()];
        assert_eq!(
            summary(Some("relevant"), Object::new(), &warnings).finish(),
            r#"{"summary":{"verdict":"relevant","warnings":["old"]}}"#
        );
        assert_eq!(
            summary(None, Object::new(), &[]).finish(),
            r#"{"summary":{"warnings":[]}}"#
        );
    }
}
