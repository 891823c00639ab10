//! Where is it: the rank of the right file.

use anyhow::Result;
use serde_json::{Value, json};

use super::client::Server;
use super::tasks::Question;

/// Files that are looked at.
const DEPTH: usize = 10;

/// The tools that are asked.
const TOOLS: [&str; 2] = ["search", "search_code"];

/// One question with the rank of the first right file by each of [`TOOLS`], counted from 1.
pub(crate) struct Ranked {
    question: Question,
    ranks: [Option<usize>; 2],
    /// The file that came first.
    first: [String; 2],
}

/// Asks both tools.
pub(crate) fn rank(server: &mut Server, question: &Question) -> Result<Ranked> {
    let mut ranks = [None; 2];
    let mut first = [String::new(), String::new()];
    for (tool, (rank, first)) in TOOLS.iter().zip(ranks.iter_mut().zip(&mut first)) {
        // Enough for every hit to be there with some text.
        let arguments = json!({ "query": question.question, "limit": 20, "max_tokens": 20_000 });
        let answer = server.call(tool, &arguments)?;
        let files = files_of(&answer.value);
        *rank = files
            .iter()
            .take(DEPTH)
            .position(|file| question.files.contains(file))
            .map(|at| at + 1);
        *first = files.first().cloned().unwrap_or_default();
    }
    Ok(Ranked {
        question: question.clone(),
        ranks,
        first,
    })
}

/// The files of the hits, each where it stands first.
fn files_of(answer: &Value) -> Vec<String> {
    let list = answer["results"]
        .as_array()
        .or_else(|| answer["data"]["results"].as_array());
    let mut files: Vec<String> = Vec::new();
    for hit in list.into_iter().flatten() {
        let path = hit["file_path"].as_str().or(hit["document_id"].as_str());
        if let Some(path) = path
            && !files.iter().any(|file| file == path)
        {
            files.push(path.to_owned());
        }
    }
    files
}

pub(crate) fn print(ranked: &[Ranked], verbose: bool) {
    if verbose {
        for row in ranked {
            println!(
                "{:8} {:66} {:?} {:?}",
                row.question.checkout, row.question.question, row.ranks, row.first
            );
        }
    }
    println!("\n## Where is it\n");
    println!("| checkout | questions | search: first | in 5 | search_code: first | in 5 |");
    println!("|---|---|---|---|---|---|");
    let mut names: Vec<&str> = ranked
        .iter()
        .map(|row| row.question.checkout.as_str())
        .collect();
    names.dedup();
    for name in names {
        let own = ranked.iter().filter(|row| row.question.checkout == name);
        print_row(name, &own.collect::<Vec<_>>());
    }
    print_row("**all**", &ranked.iter().collect::<Vec<_>>());
}

fn print_row(name: &str, rows: &[&Ranked]) {
    let within = |tool: usize, most: usize| {
        let ranks = rows.iter().filter_map(|row| row.ranks[tool]);
        ranks.filter(|rank| *rank <= most).count()
    };
    println!(
        "| {name} | {} | {} | {} | {} | {} |",
        rows.len(),
        within(0, 1),
        within(0, 5),
        within(1, 1),
        within(1, 5)
    );
}

pub(crate) fn to_json(ranked: &[Ranked]) -> Value {
    let rows = ranked.iter().map(|row| {
        json!({
            "checkout": row.question.checkout,
            "question": row.question.question,
            "search": row.ranks[0],
            "search_code": row.ranks[1],
        })
    });
    Value::Array(rows.collect())
}
