//! `kb models`: lists, adds, downloads, deletes and checks embedding models.

mod adding;
mod pull;

use std::path::Path;
use std::time::{Duration, Instant};

use kb_embedders::{Addition, Cache, Choice, Entry, Hub, Model, Options};
use kb_embedders::{EmbedError, ModelCard, TextEmbedder};
use kb_engine::BUILT_IN_MODEL;
use kb_json::Object;

use self::adding::{add, cache, failed, probe};
use self::pull::{Wanted, pull};
use crate::args::{ModelsAction, ModelsArguments};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::format::{bytes, count, duration, shell_word};

/// Texts that are embedded to see how fast a model is.
const CHECKED_TEXTS: usize = 32;
/// Words of each of them: about 128 tokens.
const CHECKED_WORDS: usize = 90;
/// A query of 12 tokens with those around it.
const QUERY: &str = "how does a reader notice a new commit";
/// How often the query is embedded.
const QUERIES: usize = 9;

/// Runs the verb.
pub(crate) fn run(arguments: &ModelsArguments, output: &mut Output) -> Result<Exit, Failure> {
    let json = arguments.json;
    match &arguments.action {
        None | Some(ModelsAction::List) => list(json, output),
        Some(ModelsAction::Add {
            name,
            paths,
            query_prefix,
            passage_prefix,
        }) => {
            let addition = Addition {
                query_prefix: query_prefix.clone(),
                passage_prefix: passage_prefix.clone(),
            };
            let added = add(name, paths, &addition)?;
            show_added(&added, json, output)
        }
        Some(ModelsAction::Pull(arguments)) => {
            let wanted = Wanted {
                model: &arguments.model,
                name: arguments.name.as_deref(),
                hub: arguments.from.as_deref().unwrap_or(Hub::ADDRESS),
                yes: arguments.yes,
                addition: Addition {
                    query_prefix: arguments.query_prefix.clone(),
                    passage_prefix: arguments.passage_prefix.clone(),
                },
            };
            let added = pull(&wanted, json, output)?;
            show_added(&added, json, output)
        }
        Some(ModelsAction::Rm { name }) => {
            let entry = cache()?.remove(name).map_err(failed)?;
            if json {
                output.json(Object::new().field("deleted", &*entry.name))?;
            } else {
                let size = bytes(entry.size_bytes);
                output.note(&format!("{} is deleted ({size})", shell_word(name)));
            }
            Ok(Exit::Found)
        }
        Some(ModelsAction::Check { model }) => check(model, json, output),
    }
}

fn show_added(
    (entry, card): &(Entry, Option<ModelCard>),
    json: bool,
    output: &mut Output,
) -> Result<Exit, Failure> {
    if json {
        let dimension = card.as_ref().map(|card| card.dimension);
        output.json(entry_object(entry).field("dimension", dimension))?;
        return Ok(Exit::Found);
    }
    show(entry, output)?;
    output.flush()?;
    let name = shell_word(&entry.name);
    output.note(&format!(
        "`{name}` names this model; it embeds text without the network"
    ));
    Ok(Exit::Found)
}

fn list(json: bool, output: &mut Output) -> Result<Exit, Failure> {
    let built_in = Object::new()
        .field("name", "builtin")
        .field("kind", "static")
        .field("model", BUILT_IN_MODEL);
    if json {
        output.json(built_in)?;
    } else {
        let name = output.stdout_style().path("builtin");
        output.line(&format!(
            "{name}  static, {BUILT_IN_MODEL}, part of this program"
        ))?;
    }
    if let Some((name, size_bytes)) = kb_embedders::compiled_in() {
        if json {
            let object = Object::new().field("name", name).field("kind", "onnx");
            output.json(object.field("size_bytes", size_bytes))?;
        } else {
            let (name, size) = (output.stdout_style().path(name), bytes(size_bytes));
            output.line(&format!("{name}  onnx, {size}, part of this program"))?;
        }
    }
    let cache = Cache::of_user();
    for entry in cache.as_ref().map(Cache::list).unwrap_or_default() {
        if json {
            output.json(entry_object(&entry))?;
        } else {
            show(&entry, output)?;
        }
    }
    Ok(Exit::Found)
}

fn entry_object(entry: &Entry) -> Object {
    Object::new()
        .field("name", &*entry.name)
        .field("kind", entry.kind.name())
        .field("size_bytes", entry.size_bytes)
        .field("path", &*entry.path.to_string_lossy())
}

fn show(entry: &Entry, output: &mut Output) -> Result<(), Failure> {
    let name = output.stdout_style().path(&entry.name);
    let path = entry.path.to_string_lossy();
    let line = format!(
        "{name}  {}, {}, {}",
        entry.kind.name(),
        bytes(entry.size_bytes),
        output.name(&path)
    );
    output.line(&line)
}

fn check(specification: &str, json: bool, output: &mut Output) -> Result<Exit, Failure> {
    let start = Instant::now();
    let choice = kb_embedders::parse(specification, &Options::default()).map_err(failed)?;
    let loaded = start.elapsed();
    let model = match choice {
        Choice::Model(model) => model,
        Choice::Builtin => {
            output.note(&format!(
                "builtin is {BUILT_IN_MODEL}, a part of this program"
            ));
            return Ok(Exit::Found);
        }
        _ => {
            output.note(&format!("{} makes no vectors", shell_word(specification)));
            return Ok(Exit::Found);
        }
    };
    probe(&model).map_err(failed)?;
    let speed = Speed::measure(&model).map_err(failed)?;
    let card = model.card();
    if json {
        let object = card_object(card)
            .field("load_ms", milliseconds(loaded))
            .field("tokens_per_second", speed.tokens_per_second)
            .field("query_ms", milliseconds(speed.query));
        output.json(object)?;
        return Ok(Exit::Found);
    }
    output.line(&output.stdout_style().path(&card.to_string()))?;
    for (name, value) in facts(card) {
        output.line(&format!("  {name:<14}  {}", output.name(&value)))?;
    }
    output.line(&format!("  {:<14}  {}", "loaded in", duration(loaded)))?;
    if let Some(tokens) = speed.tokens_per_second {
        output.line(&format!("  {:<14}  {} tokens/s", "passages", count(tokens)))?;
    }
    output.line(&format!(
        "  {:<14}  {:.1} ms",
        "a query",
        milliseconds(speed.query)
    ))?;
    Ok(Exit::Found)
}

/// How fast a model is on this machine.
struct Speed {
    tokens_per_second: Option<u64>,
    query: Duration,
}

impl Speed {
    fn measure(model: &Model) -> Result<Speed, EmbedError> {
        let text = "the reader checks each page against the checksum in its parent ";
        let words = text.split_inclusive(' ').cycle();
        let text: String = words.take(CHECKED_WORDS).collect();
        let start = Instant::now();
        model.passages(&[text.as_str(); CHECKED_TEXTS])?;
        let seconds = start.elapsed().as_secs_f64().max(1e-6);
        let tokens = model.tokens(&text).map(|tokens| tokens * CHECKED_TEXTS);
        let mut queries = [Duration::ZERO; QUERIES];
        for query in &mut queries {
            let start = Instant::now();
            model.query(QUERY)?;
            *query = start.elapsed();
        }
        queries.sort_unstable();
        Ok(Speed {
            tokens_per_second: tokens.map(|tokens| (tokens as f64 / seconds) as u64),
            query: queries.get(QUERIES / 2).copied().unwrap_or_default(),
        })
    }
}

fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e4).round() / 10.0
}

fn hash(card: &ModelCard) -> Option<String> {
    let weights = card.weights?;
    Some(weights.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn card_object(card: &ModelCard) -> Object {
    Object::new()
        .field("kind", &*card.source)
        .field("name", &*card.name)
        .field("location", &*card.location)
        .field("dimension", card.dimension)
        .field("pooling", card.pooling.name())
        .field("max_tokens", card.max_tokens)
        .field("query_prefix", &*card.query_prefix)
        .field("passage_prefix", &*card.passage_prefix)
        .field("weights_blake3", hash(card))
}

fn facts(card: &ModelCard) -> Vec<(&'static str, String)> {
    let quoted = |text: &str| format!("{text:?}");
    let mut facts = vec![("dimensions", card.dimension.to_string())];
    facts.push(("pooling", card.pooling.name().to_owned()));
    if card.max_tokens > 0 {
        facts.push((
            "tokens",
            format!("the first {} of a text", count(card.max_tokens.into())),
        ));
    }
    if !card.query_prefix.is_empty() {
        facts.push(("query prefix", quoted(&card.query_prefix)));
    }
    if !card.passage_prefix.is_empty() {
        facts.push(("passage prefix", quoted(&card.passage_prefix)));
    }
    if let Some(hash) = hash(card) {
        facts.push(("weights", hash));
    }
    if Path::new(&card.location).is_absolute() {
        facts.push(("folder", card.location.clone()));
    }
    facts
}
