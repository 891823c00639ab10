//! Error objects.

use crate::object::Object;

/// A failure, as `error`: its stable code, what happened, and what to do about it where that is known.
#[must_use]
pub fn error(code: &str, message: &str, hint: Option<&str>) -> Object {
    let mut error = Object::new().field("code", code).field("message", message);
    if let Some(hint) = hint {
        error = error.field("hint", hint);
    }
    Object::new().object("error", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_a_hint_only_where_one_is_known() {
        assert_eq!(
            error("IO", "cannot read \"a\"", None).finish(),
            r#"{"error":{"code":"IO","message":"cannot read \"a\""}}"#
        );
        assert_eq!(
            error("USAGE", "no", Some("yes")).finish(),
            r#"{"error":{"code":"USAGE","message":"no","hint":"yes"}}"#
        );
    }
}
