//! What was embedded for the chunks of a stored document.

use kb_types::DocumentId;
use kb_types::error::Result;

use crate::catalog::Catalog;
use crate::container::Snapshot;
use crate::ingest::prepare::preparer::{ChunkTexts, Chunking};
use crate::ingest::run::preserved;

/// Calls `each` with the text that the vector of a chunk is of, for chunks of a document by their ascending numbers; those
/// that it does not have are left out.
///
/// # Errors
/// [`crate::Error::Damaged`], and what `each` returns.
pub(crate) fn each_embedded(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    id: DocumentId,
    numbers: impl IntoIterator<Item = u32>,
    mut each: impl FnMut(u32, &str) -> Result<()>,
) -> Result<()> {
    let stored = preserved::document(snapshot, catalog, id)?;
    let Some((document, _, Chunking::Existing { chunks, .. })) = &stored.parts else {
        return Ok(());
    };
    let mut texts = ChunkTexts::new(document);
    let mut context = String::new();
    for number in numbers {
        let Some(chunk) = chunks.get(number as usize) else {
            break;
        };
        let (headings, text) = texts.at(chunk.span);
        texts.embedded(&headings, &text, &mut context);
        each(number, &context)?;
    }
    Ok(())
}
