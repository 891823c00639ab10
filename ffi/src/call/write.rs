//! Calls that write.

use kb_engine::{IndexOptions, MergeOptions, MergeSource, OnConflict, SealOptions, VectorCodec};
use kb_json::Object;

use crate::base::fault::Fault;
use crate::base::progress::Listener;
use crate::call::arguments::Arguments;
use crate::call::table::Call;
use crate::call::vectors;
use crate::writer::Writer;
use crate::writer::document::NewDocument;

/// What answers a call.
type Answer = fn(&Writer, &mut Arguments, &Listener) -> Result<String, Fault>;

/// The calls with the names of their arguments, in the order of the alphabet.
pub(crate) const CALLS: &[Call<Answer>] = &[
    (
        "add",
        &[
            "path",
            "text",
            "title",
            "tags",
            "metadata",
            "modified_ms",
            "replace",
            "include_secrets",
        ],
        add,
    ),
    ("commit", &[], commit),
    ("import_vectors", vectors::IMPORT, import_vectors),
    (
        "index",
        &[
            "paths",
            "threads",
            "max_file_bytes",
            "rebuild",
            "force_hash",
            "prune",
            "include_secrets",
            "trigrams",
            "root",
            "vectors",
            "min_recall",
            "hidden",
            "follow",
            "include",
            "exclude",
        ],
        index,
    ),
    (
        "merge",
        &["sources", "on_conflict", "only", "tags", "folders"],
        merge,
    ),
    ("meta", &["document", "set"], meta),
    ("remove", &["document"], remove),
    ("rollback", &[], rollback),
    ("seal", &["output", "vectors", "replace"], seal),
    ("tag", &["document", "add", "remove"], tag),
];

fn add(writer: &Writer, arguments: &mut Arguments, listener: &Listener) -> Result<String, Fault> {
    let (path, text) = (arguments.required("path")?, arguments.required("text")?);
    let (title, tags) = (arguments.text("title")?, arguments.texts("tags")?);
    let fields = arguments.fields("metadata")?;
    let document = NewDocument {
        path: &path,
        data: text.as_bytes(),
        title: title.as_deref(),
        tags: tags.iter().map(String::as_str).collect(),
        metadata: Vec::new(),
        fields,
        modified_ms: arguments.time("modified_ms")?,
        replace: arguments.flag("replace")?,
        include_secrets: arguments.flag("include_secrets")?,
    };
    let replaced = writer.add(&document, listener)?;
    Ok(Object::new()
        .field("added", path.as_str())
        .field("replaced", replaced)
        .finish())
}

fn remove(writer: &Writer, arguments: &mut Arguments, _: &Listener) -> Result<String, Fault> {
    let path = writer.remove(&arguments.required("document")?)?;
    Ok(kb_json::removed(&path).finish())
}

fn tag(writer: &Writer, arguments: &mut Arguments, _: &Listener) -> Result<String, Fault> {
    let name = arguments.required("document")?;
    let (add, remove) = (arguments.texts("add")?, arguments.texts("remove")?);
    let add: Vec<&str> = add.iter().map(String::as_str).collect();
    let remove: Vec<&str> = remove.iter().map(String::as_str).collect();
    let tags = writer.tag(&name, &add, &remove)?;
    Ok(Object::new()
        .field("document", name)
        .field("tags", tags)
        .finish())
}

fn meta(writer: &Writer, arguments: &mut Arguments, _: &Listener) -> Result<String, Fault> {
    let (name, fields) = (arguments.required("document")?, arguments.fields("set")?);
    let metadata = writer.set_fields(&name, &fields)?;
    let metadata = metadata
        .iter()
        .fold(Object::new(), |object, (name, value)| {
            object.field(name, &**value)
        });
    Ok(Object::new()
        .field("document", name)
        .object("metadata", metadata)
        .finish())
}

fn commit(writer: &Writer, _: &mut Arguments, listener: &Listener) -> Result<String, Fault> {
    let changed = writer.pending();
    writer.commit(listener)?;
    Ok(Object::new().field("committed", changed).finish())
}

fn rollback(writer: &Writer, _: &mut Arguments, _: &Listener) -> Result<String, Fault> {
    let forgotten = writer.pending();
    writer.rollback()?;
    Ok(Object::new().field("forgotten", forgotten).finish())
}

/// The codec of that name.
fn codec(arguments: &mut Arguments) -> Result<Option<VectorCodec>, Fault> {
    let codecs = [VectorCodec::I8, VectorCodec::I4];
    let named = |name: &str| codecs.into_iter().find(|codec| codec.name() == name);
    let found = arguments.named("vectors", named, &codecs.map(VectorCodec::name))?;
    Ok(found.into_iter().next_back())
}

fn import_vectors(
    writer: &Writer,
    arguments: &mut Arguments,
    listener: &Listener,
) -> Result<String, Fault> {
    let (column, rows) = vectors::import(arguments)?;
    let report = writer.import_vectors(&column, rows, listener)?;
    Ok(kb_json::import_report(&column.name, &report).finish())
}

fn index(writer: &Writer, arguments: &mut Arguments, listener: &Listener) -> Result<String, Fault> {
    let paths = arguments.paths("paths")?;
    if paths.is_empty() {
        return Err(Fault::argument("paths", "there is none"));
    }
    let mut options = IndexOptions::new()
        .threads(arguments.small("threads")?.unwrap_or(0))
        .rebuild(arguments.flag("rebuild")?)
        .force_hash(arguments.flag("force_hash")?)
        .prune(arguments.flag("prune")?)
        .root(arguments.text("root")?)
        .vectors(codec(arguments)?)
        .hidden(arguments.choice("hidden")?)
        .follow(arguments.choice("follow")?)
        .include(arguments.optional_texts("include")?)
        .exclude(arguments.optional_texts("exclude")?);
    if let Some(bytes) = arguments.number("max_file_bytes")? {
        options = options.max_file_bytes(bytes);
    }
    options.include_secrets = arguments.choice("include_secrets")?;
    options.trigrams = arguments.choice("trigrams")?;
    // Out of range is refused by the engine, which has the words.
    options.min_recall = arguments.float("min_recall")?.map(|share| share as f32);
    let report = writer.run(&paths, options, &mut |progress| listener.tell(progress))?;
    Ok(report.json().to_owned())
}

fn merge(writer: &Writer, arguments: &mut Arguments, listener: &Listener) -> Result<String, Fault> {
    let has_folders = arguments.flag("folders")?;
    let sources = arguments.paths("sources")?.into_iter().map(|path| {
        let source = MergeSource::new(&path);
        if !has_folders {
            return Ok(source);
        }
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let stem = stem.ok_or_else(|| {
            let reason = format!("{} has no name that a path can have", path.display());
            Fault::argument("folders", &reason)
        })?;
        Ok(source.folder(stem))
    });
    let sources = sources.collect::<Result<Vec<MergeSource>, Fault>>()?;
    let decided = arguments.named(
        "on_conflict",
        OnConflict::of_name,
        &OnConflict::ALL.map(OnConflict::name),
    )?;
    let options = MergeOptions::new()
        .on_conflict(decided.into_iter().next_back().unwrap_or_default())
        .only(arguments.texts("only")?)
        .tags(arguments.texts("tags")?);
    writer.merge(&sources, &options, listener)
}

fn seal(writer: &Writer, arguments: &mut Arguments, listener: &Listener) -> Result<String, Fault> {
    let output = arguments.paths("output")?.into_iter().next_back();
    let options = SealOptions::new()
        .replace(arguments.flag("replace")?)
        .vectors(codec(arguments)?);
    let report = writer.sealed(output.as_deref(), &options, &mut |progress| {
        listener.tell(progress)
    })?;
    Ok(report.json().to_owned())
}
