//! Which columns of vectors of other models come along.

use crate::ingest::segment::more_vectors::ColumnMove;
use crate::store::vector_columns::{NUMBER_LIMIT, NumberedColumn, VectorColumns};

/// Where each column of the other file goes, by ascending number here; names of those that are left. New columns are
/// added to `target`.
pub(super) fn join(
    source: &VectorColumns,
    target: &mut VectorColumns,
) -> (Vec<ColumnMove>, Vec<String>) {
    let is_first = target.list.is_empty();
    let (mut moves, mut left) = (Vec::new(), Vec::new());
    for column in &source.list {
        let to = match target.named(&column.record.name) {
            Some(known) if is_alike(known, column) => known.clone(),
            None if target.next <= NUMBER_LIMIT => {
                // Measured again when its lists are made here.
                let new = NumberedColumn {
                    number: target.next,
                    effort: None,
                    ..column.clone()
                };
                target.next += 1;
                if is_first && source.default == column.number {
                    target.default = new.number;
                }
                target.list.push(new.clone());
                new
            }
            _ => {
                left.push(column.record.name.clone());
                continue;
            }
        };
        moves.push(ColumnMove {
            from: column.number,
            to,
        });
    }
    moves.sort_by_key(|column| column.to.number);
    (moves, left)
}

/// Whether rows of one are rows of the other: made by one model, stored and compared in one way.
fn is_alike(a: &NumberedColumn, b: &NumberedColumn) -> bool {
    let is_same_model = match (&a.model, &b.model) {
        (Some(a), Some(b)) => a.card.is_same_model(&b.card),
        (None, None) => a.record.model == b.record.model,
        _ => false,
    };
    let [a, b] = [a, b].map(|column| {
        let record = &column.record;
        (column.metric, record.dim, record.codec, record.range)
    });
    is_same_model && a == b
}
