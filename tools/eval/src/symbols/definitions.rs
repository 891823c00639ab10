//! `eval definitions [--verbose] FOLDER ...`: where the definition of a name stands among the hits of the name alone,
//! and of "where is NAME defined".
//!
//! Names are drawn by a fixed seed from what universal-ctags finds in the folders, as many of each. A hit is right
//! when it has the line of a tag of that name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use kb_engine::{IndexOptions, Kb, KbWriter, Progress, Request, file_types};
use tempfile::TempDir;

use super::tags::{counts, last_name, list, tags};

/// Names of all folders together.
const NAMES: usize = 300;
/// Of the order in which names are drawn.
const SEED: u64 = 17;
/// Hits that are looked at.
const DEPTH: usize = 10;

/// How a name is asked for, and the shares of first hits and of those among three that are wanted.
const FORMS: [(&str, f64, f64); 2] = [("NAME", 0.85, 0.95), ("where is NAME defined", 0.80, 0.92)];

/// A name that is asked for.
#[derive(Debug)]
struct Asked {
    name: String,
    /// Paths and lines of its definitions.
    places: Vec<(String, u32)>,
}

/// Ranks of the definitions, from 1, one a name and form.
#[derive(Debug, Default)]
struct Ranks {
    of_forms: [Vec<Option<usize>>; 2],
}

/// Runs the verb; false when a share is missed.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let mut is_verbose = false;
    let mut folders = Vec::new();
    for argument in arguments {
        match argument.as_str() {
            "--verbose" => is_verbose = true,
            flag if flag.starts_with('-') => bail!("eval definitions does not know {flag}"),
            folder => folders.push(PathBuf::from(folder)),
        }
    }
    if folders.is_empty() {
        println!("definitions: skipped, name the folders of checkouts");
        return Ok(true);
    }
    let mut rows: Vec<(String, Ranks)> = Vec::new();
    for (number, folder) in folders.iter().enumerate() {
        let folder = folder
            .canonicalize()
            .with_context(|| folder.display().to_string())?;
        // As many of each, one more of the first where it does not divide.
        let count = (NAMES + folders.len() - 1 - number) / folders.len();
        let ranks = measure(&folder, count, is_verbose)?;
        let name = folder.file_name().unwrap_or_default();
        rows.push((name.to_string_lossy().into_owned(), ranks));
    }
    Ok(print(&rows))
}

fn measure(folder: &Path, count: usize, is_verbose: bool) -> Result<Ranks> {
    let place = TempDir::new()?;
    let path = place.path().join("definitions.kb");
    let mut writer = KbWriter::open_or_create(&path)?;
    writer.index(
        &[folder.to_path_buf()],
        &IndexOptions::new(),
        &mut Progress::ignore,
    )?;
    drop(writer);
    let kb = Kb::open(&path)?;
    let mut ranks = Ranks::default();
    for asked in names(folder, count)? {
        for ((form, ..), ranks) in FORMS.iter().zip(&mut ranks.of_forms) {
            let rank = rank(&kb, &form.replace("NAME", &asked.name), &asked)?;
            if is_verbose && rank != Some(1) {
                println!("{}: {form}: {} {rank:?}", folder.display(), asked.name);
            }
            ranks.push(rank);
        }
    }
    Ok(ranks)
}

/// Names of definitions, drawn by [`SEED`].
fn names(folder: &Path, count: usize) -> Result<Vec<Asked>> {
    let mut files = Vec::new();
    list(folder, &mut files)?;
    files.sort();
    let mut places: BTreeMap<String, Vec<(String, u32)>> = BTreeMap::new();
    for tag in tags(&files)? {
        let path = Path::new(&tag.path);
        let Some(language) = file_types::from_name(&tag.path).map(|named| named.language) else {
            continue;
        };
        let name = last_name(&tag.name);
        let is_word = name.chars().count() >= 3
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit());
        if language.is_empty() || !is_word || !counts(&tag, language) {
            continue;
        }
        let path = path.strip_prefix(folder).unwrap_or(path);
        let path = path.to_string_lossy().into_owned();
        places
            .entry(name.to_owned())
            .or_default()
            .push((path, tag.line));
    }
    let mut drawn: Vec<Asked> = places
        .into_iter()
        .map(|(name, places)| Asked { name, places })
        .collect();
    let mut state = SEED;
    let mut keyed: Vec<(u64, Asked)> = drawn.drain(..).map(|it| (next(&mut state), it)).collect();
    keyed.sort_by_key(|(key, _)| *key);
    drawn.extend(keyed.into_iter().take(count).map(|(_, asked)| asked));
    Ok(drawn)
}

/// The next number of SplitMix64 (Steele, Lea and Flood, 2014).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The first hit that has a definition of the name.
fn rank(kb: &Kb, query: &str, asked: &Asked) -> Result<Option<usize>> {
    let response = kb.search(&Request::new(query).k(DEPTH))?;
    let hits = response.hits.items.iter();
    let mut is_right = hits.map(|hit| {
        let mut places = asked.places.iter();
        places.any(|(path, line)| {
            *path == hit.document && hit.lines.first <= *line && *line <= hit.lines.last
        })
    });
    Ok(is_right.position(|right| right).map(|at| at + 1))
}

/// Prints the table; whether all shares are reached.
fn print(rows: &[(String, Ranks)]) -> bool {
    println!("\n## Definitions of names that universal-ctags finds, share of the names\n");
    println!("| checkout | names | form | first | among 3 | among {DEPTH} |");
    println!("|---|---|---|---|---|---|");
    let mut good = true;
    let folders: BTreeSet<&str> = rows.iter().map(|(name, _)| name.as_str()).collect();
    let all = format!("**all {}**", folders.len());
    for (at, (form, first, three)) in FORMS.iter().enumerate() {
        let of = |ranks: &Ranks| ranks.of_forms.get(at).cloned().unwrap_or_default();
        for (name, ranks) in rows {
            shares(name, form, &of(ranks));
        }
        let together: Vec<_> = rows.iter().flat_map(|(_, ranks)| of(ranks)).collect();
        let (own_first, own_three) = shares(&all, form, &together);
        if own_first < *first || own_three < *three {
            println!("definitions: {form}: {first} and {three} are wanted");
            good = false;
        }
    }
    good
}

/// Prints a row; the shares of first hits and of those among three.
fn shares(name: &str, form: &str, ranks: &[Option<usize>]) -> (f64, f64) {
    let within = |most: usize| {
        let found = ranks.iter().flatten().filter(|rank| **rank <= most).count();
        found as f64 / ranks.len().max(1) as f64
    };
    println!(
        "| {name} | {} | {form} | {:.3} | {:.3} | {:.3} |",
        ranks.len(),
        within(1),
        within(3),
        within(DEPTH)
    );
    (within(1), within(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_published_generator() {
        let mut state = 0;
        assert_eq!(next(&mut state), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn shares_are_of_all_names() {
        assert_eq!(
            shares("a", "b", &[Some(1), Some(3), None, None]),
            (0.25, 0.5)
        );
        assert_eq!(shares("a", "b", &[]), (0.0, 0.0));
    }
}
