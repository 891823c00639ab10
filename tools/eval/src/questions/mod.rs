//! `cargo xtask eval questions`: where the lines that answer natural questions stand among the hits of `kb search`.
//!
//! The questions are about real checkouts at fixed commits. Each is put to the program with `--plain -k 10`, once by
//! words and meaning and once by each alone. A hit is right when it shares a line with a place of grade 2.

mod ask;
mod candidates;
mod figures;
mod misses;
mod set;
mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use ask::{Answer, Call};
use candidates::Candidates;
use figures::{DEPTH, Figures, Ranks};
use serde_json::{Map, Value, json};
pub(crate) use set::{ANSWERS, Question};
use tempfile::TempDir;
use xtask::repository;

use crate::checkout;

/// The modes that are asked; a short run asks the first.
const MODES: [&str; 3] = ["hybrid", "keyword", "semantic"];

/// Hits of a question that `--candidates` writes.
const CANDIDATES: usize = 100;

/// What the command line asks for.
struct Options {
    /// Each checkout is in a folder of the name of its repository, without the owner.
    checkouts: PathBuf,
    sets: Vec<PathBuf>,
    /// The build of `kb` that is asked.
    program: PathBuf,
    json: Option<PathBuf>,
    is_verbose: bool,
    is_quick: bool,
    /// How many hits of each question are written to `out`.
    candidates: Option<usize>,
    out: PathBuf,
    /// The model that embeds the checkouts beside the built-in one.
    embedder: Option<String>,
    /// Where their files are kept.
    files: Option<PathBuf>,
}

/// The ranks of one question, in the order of the modes.
struct Asked {
    question: Question,
    ranks: Vec<Ranks>,
}

/// Runs the verb.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let options = parse(arguments)?;
    let questions = given(&options)?;
    if questions.is_empty() {
        println!("questions: skipped, there is no question about a checkout");
        return Ok(true);
    }
    checkout::require_program(&options.program)?;
    let modes = if options.is_quick {
        MODES.get(..1).unwrap_or_default()
    } else {
        MODES.as_slice()
    };
    let mut written = match options.candidates {
        Some(_) => Some(Candidates::create(&options.out)?),
        None => None,
    };
    let folder = TempDir::new()?;
    let mut asked: Vec<Asked> = Vec::new();
    for (name, of_checkout) in questions {
        let folder = options.files.as_deref().unwrap_or(folder.path());
        let file = folder.join(format!("{name}.kb"));
        // A file that is kept is asked as it is.
        if options.files.is_none() || !file.is_file() {
            repository::index_with(&options.program, &options.checkouts.join(&name), &file)?;
        }
        if let Some(embedder) = &options.embedder {
            ask::reembed(&options.program, &file, embedder)?;
        }
        for question in of_checkout {
            let of_question = ask_all(&options, modes, &file, question, written.as_mut())?;
            asked.push(of_question);
        }
    }
    report(&options, modes, &asked)?;
    written.map_or(Ok(()), Candidates::finish)?;
    Ok(true)
}

/// The questions of all sets about the checkouts in a folder, with their checkouts.
pub(crate) fn judged(checkouts: &Path) -> Result<Vec<(PathBuf, Vec<Question>)>> {
    let options = Options {
        checkouts: checkouts.to_owned(),
        ..parse(&[])?
    };
    let given = given(&options)?.into_iter();
    Ok(given
        .map(|(name, questions)| (checkouts.join(name), questions))
        .collect())
}

/// Questions by the folders of their checkouts, in the order of the sets. Says what is missing.
fn given(options: &Options) -> Result<Vec<(String, Vec<Question>)>> {
    let mut checkouts: Vec<(String, Vec<Question>)> = Vec::new();
    for path in &options.sets {
        if !path.is_file() {
            println!(
                "questions: skipped the set {}: no such file",
                path.display()
            );
            continue;
        }
        for question in set::load(path)? {
            let name = folder_of(&question.repository);
            match checkouts.iter_mut().find(|(other, _)| other == name) {
                Some((_, questions)) => questions.push(question),
                None => checkouts.push((name.to_owned(), vec![question])),
            }
        }
    }
    let mut kept = Vec::new();
    for (name, questions) in checkouts {
        let folder = options.checkouts.join(&name);
        let Some(first) = questions.first() else {
            continue;
        };
        if !folder.is_dir() {
            println!(
                "questions: skipped {} questions about {}, there is no {}. Get it with\n  \
                 git clone https://github.com/{} {} && git -C {} checkout {}",
                questions.len(),
                first.repository,
                folder.display(),
                first.repository,
                folder.display(),
                folder.display(),
                first.commit
            );
            continue;
        }
        for question in &questions {
            if question.repository != first.repository {
                bail!(
                    "{} and {} have the same folder {}",
                    first.repository,
                    question.repository,
                    folder.display()
                );
            }
            question.check_against(&folder)?;
        }
        kept.push((name, questions));
    }
    Ok(kept)
}

/// The folder of the checkout of a repository `owner/name`.
fn folder_of(repository: &str) -> &str {
    repository.rsplit('/').next().unwrap_or(repository)
}

/// Asks one question in all modes; writes its candidates and prints it when it is a miss, where that is wanted.
fn ask_all(
    options: &Options,
    modes: &[&'static str],
    file: &Path,
    question: Question,
    written: Option<&mut Candidates>,
) -> Result<Asked> {
    let call = |mode, hits, is_joined| -> Result<Answer> {
        let call = Call {
            mode,
            hits,
            is_joined,
        };
        ask::ask(&options.program, file, &question.text, call)
            .with_context(|| format!("question {}", question.id))
    };
    let mut ranks = Vec::new();
    for &mode in modes {
        let answer = call(mode, DEPTH, true)?;
        let found = Ranks {
            span: answer.span_rank(&question),
            file: answer.file_rank(&question),
        };
        let is_first_mode = ranks.is_empty();
        if options.is_verbose && is_first_mode && found.span != Some(1) {
            let far = || call(mode, misses::FAR, true);
            println!("{}", misses::describe(&question, found, &answer, far)?);
        }
        ranks.push(found);
    }
    if let (Some(written), Some(hits)) = (written, options.candidates) {
        // A ranking orders passages before neighbours are joined.
        let mode = modes.first().copied().unwrap_or_default();
        written.add(&question, &call(mode, hits, false)?)?;
    }
    Ok(Asked { question, ranks })
}

/// Prints the tables and writes the figures.
fn report(options: &Options, modes: &[&'static str], asked: &[Asked]) -> Result<()> {
    let mut of_modes = Map::new();
    for (number, mode) in modes.iter().enumerate() {
        let ranks: Vec<(&Question, Ranks)> = asked
            .iter()
            .filter_map(|asked| Some((&asked.question, *asked.ranks.get(number)?)))
            .collect();
        let rows = figures::all(&ranks);
        let printed: &[Figures] = if options.is_quick {
            rows.get(..1).unwrap_or_default()
        } else {
            &rows
        };
        table::print(mode, printed);
        let rows: Vec<Value> = rows.iter().map(figures::to_json).collect();
        of_modes.insert((*mode).to_owned(), rows.into());
    }
    let questions = asked.iter().map(|asked| {
        let of_modes = modes.iter().zip(&asked.ranks).map(|(mode, ranks)| {
            let ranks = json!({ "span": ranks.span, "file": ranks.file });
            ((*mode).to_owned(), ranks)
        });
        json!({
            "id": asked.question.id,
            "repo": asked.question.repository,
            "kind": asked.question.kind,
            "ranks": of_modes.collect::<Map<_, _>>(),
        })
    });
    let questions: Vec<Value> = questions.collect();
    let figures = json!({ "modes": of_modes, "questions": questions });
    checkout::write_json(options.json.as_deref(), &figures)
}

fn parse(arguments: &[String]) -> Result<Options> {
    let beside = repository::root().parent().map(Path::to_path_buf);
    let beside = beside.unwrap_or_default();
    let mut options = Options {
        checkouts: beside.join("checkouts"),
        sets: vec![beside.join("shared/eval/questions/dev.jsonl"), own_set()],
        program: checkout::default_program(),
        json: None,
        is_verbose: false,
        is_quick: false,
        candidates: None,
        out: repository::target().join("questions-candidates.jsonl"),
        embedder: None,
        files: None,
    };
    let mut named_sets = Vec::new();
    let mut arguments = arguments.iter().peekable();
    while let Some(argument) = arguments.next() {
        if argument == "--candidates" {
            let number = arguments.peek().and_then(|next| next.parse().ok());
            if number.is_some() {
                arguments.next();
            }
            options.candidates = Some(number.unwrap_or(CANDIDATES));
            continue;
        }
        let mut value = || {
            let next = arguments.next().map(PathBuf::from);
            next.with_context(|| format!("{argument} needs a value"))
        };
        match argument.as_str() {
            "--checkouts" => options.checkouts = value()?,
            "--set" => named_sets.push(value()?),
            "--kb" => options.program = value()?,
            "--json" => options.json = Some(value()?),
            "--out" => options.out = value()?,
            "--files" => options.files = Some(value()?),
            "--embedder" => options.embedder = Some(value()?.to_string_lossy().into_owned()),
            "--verbose" => options.is_verbose = true,
            "--quick" => options.is_quick = true,
            other => bail!(
                "eval questions knows --checkouts DIR, --set FILE, --kb PROGRAM, --json FILE, --candidates [N], \
                 --out FILE, --embedder SPEC, --files DIR, --verbose and --quick, not {other}"
            ),
        }
    }
    if let Some(missing) = named_sets.iter().find(|set| !set.is_file()) {
        bail!("no set {}", missing.display());
    }
    if !named_sets.is_empty() {
        options.sets = named_sets;
    }
    Ok(options)
}

/// The set of this repository.
fn own_set() -> PathBuf {
    repository::root().join("tools/eval/questions/ours.jsonl")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Result<Options> {
        let words = line.split_whitespace().map(str::to_owned);
        parse(&words.collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read() {
        let read = options("--checkouts c --kb k --candidates 50 --out o --quick").unwrap();
        assert_eq!(read.checkouts, PathBuf::from("c"));
        assert_eq!((read.candidates, read.is_quick), (Some(50), true));
        assert_eq!(read.sets.len(), 2);
        let read = options("--candidates --verbose").unwrap();
        assert_eq!((read.candidates, read.is_verbose), (Some(CANDIDATES), true));
        let own = own_set();
        let read = options(&format!("--set {}", own.display())).unwrap();
        assert_eq!(read.sets, [own]);
        let read = options("--embedder onnx:m --files f").unwrap();
        assert_eq!(read.embedder.as_deref(), Some("onnx:m"));
        assert_eq!(read.files, Some(PathBuf::from("f")));
        for wrong in ["--fast", "--json", "--embedder", "--set /no/such/set.jsonl"] {
            assert!(options(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn questions_without_a_checkout_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let set = folder.path().join("two.jsonl");
        let line = |repo: &str| {
            format!(
                "{{\"repo\":\"{repo}\",\"commit\":\"c\",\"id\":\"{repo}\",\"kind\":\"how\",\"question\":\"?\",\
                 \"answers\":[{{\"path\":\"a.c\",\"start\":1,\"end\":1,\"grade\":2}}]}}\n"
            )
        };
        std::fs::write(&set, line("o/here") + &line("o/gone")).unwrap();
        std::fs::create_dir(folder.path().join("here")).unwrap();
        std::fs::write(folder.path().join("here/a.c"), "int a;\n").unwrap();
        let mut read = options("").unwrap();
        read.checkouts = folder.path().to_owned();
        read.sets = vec![folder.path().join("gone.jsonl"), set.clone()];
        let kept = given(&read).unwrap();
        let names: Vec<&str> = kept.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["here"]);

        std::fs::write(&set, line("o/here") + &line("p/here")).unwrap();
        assert!(given(&read).is_err());
    }
}
