//! Where an answer that was given in part goes on.

use kb_engine::Cursor;

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
}
