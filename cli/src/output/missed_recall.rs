//! The warning about a recall that cannot be reached.

use kb_engine::{MissedRecall, VectorCodec};

/// Returns the warning, with the cause and what would help.
pub(crate) fn missed_recall(missed: &MissedRecall) -> String {
    let MissedRecall {
        wanted,
        reached,
        exact,
        vectors,
        ..
    } = missed;
    let why = match vectors {
        _ if exact >= wanted => "an exact scan reaches it, a search by the index does not",
        VectorCodec::I4 => {
            "i4 vectors are not precise enough; `kb index --rebuild --vectors i8` stores more precise ones"
        }
        VectorCodec::I8 => "i8 vectors are not precise enough for these chunks",
    };
    format!(
        "the recall of searches is {reached:.3}, below the required {wanted}; that of an exact scan is {exact:.3}: {why}"
    )
}
