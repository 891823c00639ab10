//! What was embedded for the chunks of a stored document.

use kb_types::DocumentId;
use kb_types::error::Result;

use crate::catalog::Catalog;
use crate::container::Snapshot;
use crate::ingest::prepare::preparer::{ChunkTexts, Chunking};
use crate::ingest::run::preserved;

/// Calls `each` with the number of a chunk in its document and the text that its vector is of, in ascending order, for
/// those of the chunks that are `wanted`.
///
/// # Errors
/// [`crate::Error::Damaged`], and what `each` returns.
pub(crate) fn each_embedded(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    id: DocumentId,
    wanted: impl Fn(usize) -> bool,
    mut each: impl FnMut(usize, &str) -> Result<()>,
) -> Result<()> {
    let stored = preserved::document(snapshot, catalog, id)?;
    let Some((document, _, Chunking::Existing { chunks, .. })) = &stored.parts else {
        return Ok(());
    };
    let mut texts = ChunkTexts::new(document);
    let mut context = String::new();
    for (number, chunk) in chunks.iter().enumerate() {
        if wanted(number) {
            let (headings, text) = texts.at(chunk.span);
            texts.embedded(&headings, &text, &mut context);
            each(number, &context)?;
        }
    }
    Ok(())
}
