//! Changing the tags of a document.

use super::check_key;
use crate::answer::{Answer, Problem, redirect};
use crate::changes::{Change, listed};
use crate::parameters::Parameters;
use crate::site::Visit;

/// Gives the document the tags of the form in place of those that the form showed, and shows the document. Tags that
/// somebody else gave it meanwhile stay.
pub(crate) async fn taken(
    visit: &Visit,
    file: &str,
    document: &str,
    form: &Parameters,
) -> Result<Answer, Problem> {
    check_key(visit, form.first("key").unwrap_or_default())?;
    let wanted = listed(form.first("tags").unwrap_or_default());
    let shown = listed(form.first("shown").unwrap_or_default());
    let beyond = |of: &[String], other: &[String]| -> Vec<String> {
        let of = of.iter().filter(|tag| !other.contains(tag));
        of.cloned().collect()
    };
    let (add, remove) = (beyond(&wanted, &shown), beyond(&shown, &wanted));
    if !add.is_empty() || !remove.is_empty() {
        let change = Change::of(visit, file)?;
        change.tag(document, add, remove).await?;
    }
    Ok(redirect(&visit.site.links.document(file, document)))
}
