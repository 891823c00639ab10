//! Finds the files of a model in folders and archives, and copies them. Files get fixed names: what an archive calls
//! them does not decide where they go.

use std::fs;
use std::path::Path;

use kb_types::EmbedError;
use serde_json::{Map, Value, json};

use super::source::{Source, failed};
use crate::files::ORIGIN;
use crate::onnx::{self, GRAPHS};
use crate::tokenizer;

/// Files of settings beside the tokenizer.
const SETTINGS: [&str; 6] = [
    "config.json",
    "tokenizer_config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "1_Pooling/config.json",
];
/// Most bytes of a file of settings, and of a licence.
const SETTINGS_LIMIT_BYTES: u64 = 4 << 20;
/// Most files of licences.
const LICENCES_LIMIT: usize = 16;
/// The file that says what a model wants in front of texts.
const PROMPTS: &str = "config_sentence_transformers.json";

/// What is asked of a model before it is added.
#[derive(Debug, Clone, Default)]
pub struct Addition {
    /// What the model wants in front of a query, if no file says so.
    pub query_prefix: Option<String>,
    /// What the model wants in front of a passage, if no file says so.
    pub passage_prefix: Option<String>,
}

/// A file of a source: number of the source, name.
type Place = (usize, String);

/// Copies a model into a new folder.
pub(super) fn copy(
    sources: &mut [Source],
    folder: &Path,
    addition: &Addition,
) -> Result<(), EmbedError> {
    let missing = |what: &str, sources: &[Source]| {
        let names: Vec<String> = sources
            .iter()
            .map(|source| source.path.display().to_string())
            .collect();
        EmbedError::Missing {
            what: format!("{what} in {}", names.join(", ")),
        }
    };
    let Some((source, name)) = find(sources, "tokenizer.json") else {
        return Err(missing("tokenizer.json", sources));
    };
    let bytes = read(
        sources,
        &(source, name.clone()),
        tokenizer::FILE_LIMIT_BYTES,
    )?;
    write(folder, "tokenizer.json", &bytes)?;
    let home = name.strip_suffix("tokenizer.json").unwrap_or_default();
    for setting in SETTINGS {
        let name = format!("{home}{setting}");
        if sources
            .get(source)
            .is_some_and(|source| source.names.contains(&name))
        {
            let bytes = read(sources, &(source, name), SETTINGS_LIMIT_BYTES)?;
            write(folder, setting, &bytes)?;
        }
    }
    match GRAPHS.iter().find_map(|graph| find(sources, graph)) {
        Some(graph) => copy_graph(sources, &graph, folder)?,
        None => {
            let table = find(sources, "model.safetensors");
            let table = table.ok_or_else(|| missing("model.onnx or model.safetensors", sources))?;
            let bytes = read(sources, &table, onnx::GRAPH_LIMIT_BYTES)?;
            write(folder, "model.safetensors", &bytes)?;
        }
    }
    copy_notices(sources, folder)?;
    add_prompts(folder, addition)
}

/// The file of a name that is least deep in the first source that has one.
fn find(sources: &[Source], wanted: &str) -> Option<Place> {
    sources.iter().enumerate().find_map(|(number, source)| {
        let is_wanted = |name: &&String| {
            let start = name.strip_suffix(wanted);
            start.is_some_and(|start| start.is_empty() || start.ends_with('/'))
        };
        let names = source.names.iter().filter(is_wanted);
        let name = names.min_by_key(|name| name.len())?;
        Some((number, name.clone()))
    })
}

fn read(sources: &mut [Source], place: &Place, limit_bytes: u64) -> Result<Vec<u8>, EmbedError> {
    let source = sources.get_mut(place.0);
    let source = source.ok_or_else(|| EmbedError::Missing {
        what: place.1.clone(),
    })?;
    source.read(&place.1, limit_bytes)
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), EmbedError> {
    let path = folder.join(name);
    let parent = path.parent().unwrap_or(folder);
    let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, bytes));
    written.map_err(|error| failed("write", &path, &error))
}

/// Copies a graph and the files of weights that it names.
fn copy_graph(sources: &mut [Source], graph: &Place, folder: &Path) -> Result<(), EmbedError> {
    let bytes = read(sources, graph, onnx::GRAPH_LIMIT_BYTES)?;
    let names = onnx::weight_files(&bytes).map_err(|reason| EmbedError::Unfit {
        reason: format!("{}: {reason}", graph.1),
    })?;
    let beside = graph
        .1
        .rfind('/')
        .map_or("", |slash| graph.1.get(..=slash).unwrap_or_default());
    for name in names {
        let place = (graph.0, format!("{beside}{name}"));
        let bytes = read(sources, &place, onnx::GRAPH_LIMIT_BYTES)?;
        write(folder, &name, &bytes)?;
    }
    write(folder, "model.onnx", &bytes)
}

/// Copies licences, and writes from where the model comes.
fn copy_notices(sources: &mut [Source], folder: &Path) -> Result<(), EmbedError> {
    let mut notice = String::from("This model was copied from:\n");
    let mut licences = 0;
    for source in sources {
        // A download says more than the name of its folder.
        if source.names.iter().any(|name| name == ORIGIN) {
            let bytes = source.read(ORIGIN, SETTINGS_LIMIT_BYTES)?;
            notice.push_str(&format!("\n{}", String::from_utf8_lossy(&bytes)));
        } else {
            let file = source.path.file_name().unwrap_or_default();
            notice.push_str(&format!("\n{}\n", file.to_string_lossy()));
        }
        for name in source.names.clone() {
            let file = name.rsplit('/').next().unwrap_or_default();
            let upper = file.to_ascii_uppercase();
            let is_licence = ["LICENSE", "LICENCE", "NOTICE", "COPYING"]
                .iter()
                .any(|start| upper.starts_with(start));
            if is_licence && licences < LICENCES_LIMIT {
                let bytes = source.read(&name, SETTINGS_LIMIT_BYTES)?;
                licences += 1;
                write(folder, &format!("licences/{licences}.txt"), &bytes)?;
                notice.push_str(&format!("  {name} is licences/{licences}.txt\n"));
            } else if name.ends_with(".dist-info/METADATA") {
                let bytes = source.read(&name, SETTINGS_LIMIT_BYTES)?;
                for line in String::from_utf8_lossy(&bytes).lines() {
                    if line.is_empty() {
                        break;
                    }
                    let wanted = ["Name:", "Version:", "License", "Project-URL:", "Home-page:"];
                    if wanted.iter().any(|start| line.starts_with(start)) {
                        notice.push_str(&format!("  {line}\n"));
                    }
                }
            }
        }
    }
    write(folder, "NOTICE.txt", notice.as_bytes())
}

/// Writes what the user says of prefixes into the settings.
fn add_prompts(folder: &Path, addition: &Addition) -> Result<(), EmbedError> {
    let given = [
        ("query", &addition.query_prefix),
        ("document", &addition.passage_prefix),
    ];
    if given.iter().all(|(_, prefix)| prefix.is_none()) {
        return Ok(());
    }
    let settings: Option<Map<String, Value>> = crate::files::read_settings(&folder.join(PROMPTS))?;
    let mut settings = settings.unwrap_or_default();
    let prompts = settings.entry("prompts").or_insert_with(|| json!({}));
    if !prompts.is_object() {
        *prompts = json!({});
    }
    if let Some(prompts) = prompts.as_object_mut() {
        for (name, prefix) in given {
            if let Some(prefix) = prefix {
                prompts.insert(name.to_owned(), prefix.clone().into());
            }
        }
    }
    write(
        folder,
        PROMPTS,
        Value::Object(settings).to_string().as_bytes(),
    )
}
