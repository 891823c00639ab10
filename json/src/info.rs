//! Objects about a file: its contents, sources and sizes.

use kb_engine::{
    ColumnRecall, Info, ModelCard, Recall, RootInfo, Sizes, UnquantisedRecall, VectorColumn,
    WriterInfo,
};
use serde_json::Value;

use crate::object::{Object, share};

/// The file as a whole. `skipped` are reasons with the number of files that were left out for each;
/// `writer` is who writes the file now, an empty object when nobody does; `sizes` is there where it is
/// given.
#[must_use]
pub fn info(
    file: &str,
    info: &Info,
    skipped: &[(String, u64)],
    writer: Option<&WriterInfo>,
    sizes: Option<&Sizes>,
) -> Object {
    let object = Object::new()
        .field("file", file)
        .field("uuid", &*info.uuid)
        .field("format", &*info.format)
        .field("created_ms", info.created_ms)
        .field("updated_ms", info.updated_ms)
        .field("commit", info.commit)
        .objects("roots", info.roots.iter().map(root_object).collect())
        .field("documents", info.documents)
        .field("chunks", info.chunks)
        .field("deleted_chunks", info.deleted_chunks)
        .field("symbols_pending", info.symbols_pending)
        .field("segments", info.segments)
        .field("text_bytes", info.text_bytes)
        .field("file_bytes", info.file_bytes)
        .field("model", &*info.model)
        .field("dim", info.dim)
        .field("vectors", info.vectors.name())
        .field("vectors_exact", info.is_exact)
        .objects(
            "vector_columns",
            info.vector_columns.iter().map(vector_column).collect(),
        );
    let object = match &info.recall {
        Some(recall) => object.object("recall", recall_object(recall)),
        None => object.field("recall", Value::Null),
    };
    let object = match &info.unquantised_recall {
        Some(recall) => object.object("unquantised_recall", unquantised_object(recall)),
        None => object.field("unquantised_recall", Value::Null),
    };
    let object = object.field("listed_segments", info.listed_segments);
    let object = object
        .field("model_available", info.model_available)
        .field("analyser", &*info.analyser)
        .field("content_root", info.content_root.as_deref())
        .object("types", counts_object(&info.types))
        .object("languages", counts_object(&info.languages))
        .object("classes", counts_object(&info.classes))
        .object("skipped", counts_object(skipped))
        .object("writer", writer_object(writer));
    match sizes {
        Some(sizes) => object.object("sizes", sizes_object(sizes)),
        None => object,
    }
}

/// A column of vectors.
#[must_use]
pub fn vector_column(column: &VectorColumn) -> Object {
    let object = Object::new()
        .field("name", &*column.name)
        .field("model", &*column.model)
        .field("dim", column.dim)
        .field("metric", column.metric.name())
        .field("codec", column.codec.name())
        .field("rows", column.rows)
        .field("default", column.is_default);
    let object = match &column.card {
        Some(card) => object
            .object("card", model_card(card))
            .field("model_bytes", column.model_bytes),
        None => object,
    };
    match &column.recall {
        Some(recall) => object.object("recall", column_recall(recall)),
        None => object.field("recall", Value::Null),
    }
}

fn model_card(card: &ModelCard) -> Object {
    let hex =
        |hash: [u8; 32]| -> String { hash.iter().map(|byte| format!("{byte:02x}")).collect() };
    Object::new()
        .field("source", &*card.source)
        .field("name", &*card.name)
        .field("location", &*card.location)
        .field("pooling", card.pooling.name())
        .field("normalised", card.normalised)
        .field("query_prefix", &*card.query_prefix)
        .field("passage_prefix", &*card.passage_prefix)
        .field("max_tokens", card.max_tokens)
        .field("weights", card.weights.map(hex))
}

fn column_recall(recall: &ColumnRecall) -> Object {
    Object::new()
        .field("recall", share(recall.recall))
        .field("lists", share(recall.lists))
        .field("k", recall.k)
        .field("queries", recall.queries)
        .field("chunks", recall.chunks)
}

fn root_object(root: &RootInfo) -> Object {
    Object::new()
        .field("source", &*root.source)
        .field("prefix", &*root.prefix)
        .field("git_commit", root.git_commit.as_deref())
        .field("git_branch", root.git_branch.as_deref())
}

fn recall_object(recall: &Recall) -> Object {
    Object::new()
        .field("recall", share(recall.recall))
        .field("k", recall.k)
        .field("queries", recall.queries)
        .field("candidates", recall.candidates)
        .field("chunks", recall.chunks)
}

fn unquantised_object(recall: &UnquantisedRecall) -> Object {
    Object::new()
        .field("recall", share(recall.recall))
        .field("exact", share(recall.exact))
        .field("wanted", recall.wanted.map(share))
        .field("lists", share(recall.lists))
        .field("k", recall.k)
        .field("queries", recall.queries)
        .field("chunks", recall.chunks)
        .field("new_chunks", recall.new_chunks)
}

/// Empty when nobody writes the file.
fn writer_object(writer: Option<&WriterInfo>) -> Object {
    match writer {
        None => Object::new(),
        Some(writer) => Object::new()
            .field("program", &*writer.program)
            .field("host", &*writer.host)
            .field("process_id", writer.process_id)
            .field("since_ms", writer.since_ms),
    }
}

fn counts_object(values: &[(String, u64)]) -> Object {
    let values = values.iter();
    values.fold(Object::new(), |object, (value, count)| {
        object.field(value, *count)
    })
}

fn sizes_object(sizes: &Sizes) -> Object {
    let sections = sizes.sections.iter().map(|(name, part)| {
        Object::new()
            .field("section", &**name)
            .field("bytes", *part)
    });
    Object::new()
        .field("file_bytes", sizes.file_bytes)
        .field("text_bytes", sizes.text_bytes)
        .objects("sections", sections.collect())
}
