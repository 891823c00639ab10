//! Pages with forms that change a file: upload, removal, tags.

mod remove;
mod tags;
mod upload;

use axum::http::StatusCode;

use crate::answer::Problem;
use crate::site::Visit;

pub(crate) use remove::{page as remove_page, taken as remove_taken};
pub(crate) use tags::taken as tags_taken;
pub(crate) use upload::{page as upload_page, taken as upload_taken};

/// The secret of the forms of this visitor.
///
/// # Errors
/// That nothing may be changed.
pub(crate) fn key(visit: &Visit) -> Result<&str, Problem> {
    visit.form_key.as_deref().ok_or_else(|| Problem {
        hint: Some("a server that is started with --allow-write can, and tokens that are created with --write".to_owned()),
        ..Problem::new(StatusCode::FORBIDDEN, "INDEX_READ_ONLY", "nothing can be changed here")
    })
}

/// Refuses a form that no page of this server gave to this browser.
fn check_key(visit: &Visit, given: &str) -> Result<(), Problem> {
    key(visit)?;
    if visit.is_form_key(given) {
        return Ok(());
    }
    Err(Problem {
        hint: Some("go back, load the page again, and send the form again".to_owned()),
        ..Problem::new(
            StatusCode::FORBIDDEN,
            "FORBIDDEN",
            "this form is not valid any more",
        )
    })
}
