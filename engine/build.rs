//! Lays out the vocabulary of the built-in model as a hash table that is compiled in, so that the
//! model is ready the moment the program starts.

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

#[path = "src/embed/slot.rs"]
mod slot;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_MODEL").is_none() {
        return Ok(());
    }
    println!("cargo::rerun-if-changed=src/embed/slot.rs");
    println!("cargo::rerun-if-changed=model/vocab.txt");

    let vocabulary = fs::read_to_string("model/vocab.txt")?;
    let mut slots = vec![0_u64; slot::COUNT];
    let mut offset_bytes = 0;
    for (id, line) in vocabulary.lines().enumerate() {
        // Line 0 is the unknown token, which no text yields: id 0 marks an empty slot.
        if id > 0 {
            let (position, piece) = match line.strip_prefix("##") {
                Some(rest) if !rest.is_empty() => (slot::Position::Inside, rest),
                _ => (slot::Position::Start, line),
            };
            let start = offset_bytes + line.len() - piece.len();
            let hash = piece.bytes().fold(position.seed(), slot::extend);
            let filled = slot::pack(hash, position, piece.len(), start, id)
                .ok_or_else(|| format!("token {id} {line:?} does not fit into a slot"))?;
            let free = slot::probe(hash)
                .find(|&index| slots.get(index) == Some(&0))
                .and_then(|index| slots.get_mut(index))
                .ok_or("more tokens than slots")?;
            *free = filled;
        }
        offset_bytes += line.len() + 1;
    }
    let bytes: Vec<u8> = slots.into_iter().flat_map(u64::to_le_bytes).collect();
    fs::write(
        Path::new(&env::var("OUT_DIR")?).join("vocabulary.slots"),
        bytes,
    )?;
    Ok(())
}
