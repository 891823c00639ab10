//! The words for a recall that cannot be had.

use kb_engine::{MissedRecall, VectorCodec};

/// That it cannot be had, and what would help.
pub(crate) fn missed_recall(missed: &MissedRecall) -> String {
    let MissedRecall {
        wanted,
        reached,
        exact,
        vectors,
        ..
    } = missed;
    let why = match vectors {
        _ if exact >= wanted => {
            "searches that compare every row find it, those of the index do not"
        }
        VectorCodec::I4 => {
            "vectors stored as i4 do not tell chunks apart that well; i8 (`kb index --rebuild --vectors i8`) does it \
             better"
        }
        VectorCodec::I8 => "the vectors, stored as i8, do not tell chunks apart that well",
    };
    format!(
        "searches find {reached:.3} of the nearest chunks, not {wanted}; comparing every row finds {exact:.3}: {why}"
    )
}
