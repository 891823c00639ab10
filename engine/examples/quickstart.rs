//! Build a file, ask it. `cargo run --example quickstart [FOLDER] [QUESTION]`
#![expect(clippy::print_stdout, reason = "an example shows its answer")]

use std::path::PathBuf;

use kb_engine::{IndexOptions, Kb, KbWriter, Progress, Request};

fn main() -> kb_engine::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| ".".to_owned()));
    let question = arguments
        .next()
        .unwrap_or_else(|| "how are documents stored".to_owned());
    let path = std::env::temp_dir().join(format!("quickstart-{}.kb", std::process::id()));

    let mut writer = KbWriter::open_or_create(&path)?;
    let report = writer.index(&[folder], &IndexOptions::default(), &mut Progress::ignore)?;
    println!("{} documents, {} chunks", report.documents, report.chunks);

    let kb = Kb::open(&path)?;
    for hit in kb.search(&Request::new(question))?.hits {
        println!(
            "{:.3}  {}:{}  {}",
            hit.score, hit.document, hit.lines.first, hit.title
        );
    }
    let _ = std::fs::remove_file(&path);
    Ok(())
}
