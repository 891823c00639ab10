//! Measures a model: `measure SPECIFICATION FILE [VECTORS]` embeds each line of a file on one thread and prints tokens
//! a second of processor time. `VECTORS` gets the numbers, 32-bit and little-endian.

#![expect(clippy::print_stdout, reason = "a program for people")]

use std::error::Error;
use std::time::Instant;
use std::{env, fs};

use kb_embedders::{Choice, Options, parse};
use kb_types::TextEmbedder;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [specification, file, rest @ ..] = arguments.as_slice() else {
        return Err("measure SPECIFICATION FILE [VECTORS]".into());
    };
    let text = fs::read_to_string(file)?;
    let texts: Vec<&str> = text.lines().collect();

    let start = Instant::now();
    let options = Options { threads: Some(1) };
    let Choice::Model(model) = parse(specification, &options)? else {
        return Err("this model is not measured here".into());
    };
    println!(
        "loaded in {:.0} ms: {:?}",
        milliseconds(start),
        model.card()
    );

    let tokens: usize = texts.iter().filter_map(|text| model.tokens(text)).sum();
    let start = Instant::now();
    let mut vectors = Vec::new();
    for texts in texts.chunks(model.preferred_batch()) {
        vectors.extend(model.passages(texts)?);
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{} texts, {tokens} tokens in {seconds:.2} s: {:.0} tokens a second",
        texts.len(),
        tokens as f64 / seconds
    );

    let query = "where is the checksum of a page compared with that of its parent";
    let mut times: Vec<f64> = Vec::new();
    for _ in 0..50 {
        let start = Instant::now();
        model.query(query)?;
        times.push(milliseconds(start));
    }
    times.sort_by(f64::total_cmp);
    println!(
        "a query of {:?} tokens: {:.1} ms in the median",
        model.tokens(query),
        times.get(25).copied().unwrap_or(0.0)
    );
    if let Some(path) = rest.first() {
        let bytes: Vec<u8> = vectors
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect();
        fs::write(path, bytes)?;
    }
    Ok(())
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
