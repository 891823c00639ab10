//! One line about a vector column.

use kb_engine::VectorColumn;

use crate::output::format::{bytes, count, plural};

/// Returns `384 dimensions, cosine, i8, 120 of 121 chunks, default, all-MiniLM-L6-v2`.
pub(crate) fn column_facts(column: &VectorColumn, chunks: u64) -> String {
    let of = match column.rows == chunks {
        true => plural(chunks, "chunk"),
        false => format!("{} of {}", count(column.rows), plural(chunks, "chunk")),
    };
    let mut facts = format!(
        "{} dimensions, {}, {}, {of}",
        column.dim,
        column.metric.name(),
        column.codec.name()
    );
    if column.is_default {
        facts.push_str(", default");
    }
    if !column.model.is_empty() {
        facts.push_str(&format!(", {}", column.model));
    }
    if let Some(size) = column.model_bytes {
        facts.push_str(&format!(", with the model in the file ({})", bytes(size)));
    }
    if let Some(recall) = &column.recall {
        facts.push_str(&format!(
            ", search finds {:.2} of the {} nearest ({} of its vectors as queries, at {})",
            recall.recall,
            recall.k,
            recall.queries,
            count(recall.chunks)
        ));
    }
    facts
}
