//! A run that embeds and is killed loses at most one batch: the next one finds the others.
//!
//! `KB_EMBED_KILLS=50` sets the number of SIGKILLs.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use kb_engine::{
    EmbedError, Kb, KbWriter, ModelCard, Pooling, Progress, ReembedOptions, TextEmbedder,
    VerifyOptions,
};

use crate::support::{Random, memory_folder, number_from, wait_until};

const DIM: u32 = 8;
const BATCH: usize = 8;
const DOCUMENTS: usize = 64;

/// What a batch takes: vectors are kept after each if that takes less than a tenth of it.
const TAKES: Duration = Duration::from_millis(250);

/// Notes each text that it embedded in a file, and takes its time.
#[derive(Debug)]
struct Noting {
    card: ModelCard,
    notes: PathBuf,
    takes: Duration,
}

impl Noting {
    fn new(notes: PathBuf, takes: Duration) -> Noting {
        let card = ModelCard {
            source: "test".to_owned(),
            name: "noting".to_owned(),
            location: String::new(),
            dimension: DIM,
            pooling: Pooling::Mean,
            normalised: true,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            max_tokens: 0,
            weights: Some([1; 32]),
        };
        Noting { card, notes, takes }
    }
}

impl TextEmbedder for Noting {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    fn passages(&self, texts: &[&str]) -> Result<Vec<f32>, EmbedError> {
        std::thread::sleep(self.takes);
        let mut vectors = Vec::new();
        for text in texts {
            let sum = xxhash_rust::xxh3::xxh3_64(text.as_bytes());
            let numbers = (0..DIM).map(|at| (sum >> (at * 8) & 0xff) as f32 + 1.0);
            let numbers: Vec<f32> = numbers.collect();
            let norm = numbers.iter().map(|number| number * number).sum::<f32>();
            vectors.extend(numbers.iter().map(|number| number / norm.sqrt()));
        }
        let notes = File::options().append(true).create(true).open(&self.notes);
        // One call of the system, so that a kill leaves no half a line.
        let is_chunk = |text: &&&str| text.contains("The tide of day");
        let done = format!("{}\n", texts.iter().filter(is_chunk).count());
        notes
            .and_then(|mut notes| notes.write_all(done.as_bytes()))
            .expect("noted");
        Ok(vectors)
    }

    fn query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        self.passages(&[text])
    }

    fn preferred_batch(&self) -> usize {
        BATCH
    }
}

/// Chunks that were embedded, and the number of batches.
fn noted(path: &Path) -> (usize, usize) {
    let notes = fs::read_to_string(path).unwrap_or_default();
    let batches = notes
        .lines()
        .map(|line| line.parse::<usize>().expect("a number"));
    let batches: Vec<usize> = batches.collect();
    (batches.iter().sum(), batches.len())
}

fn embed(file: &Path, model: &Noting) -> kb_engine::ReembedReport {
    let mut writer = KbWriter::open(file).expect("writer");
    let report = writer.reembed(model, &ReembedOptions::new(), &mut Progress::ignore);
    report.expect("embedded")
}

#[test]
#[ignore = "run by the test of kills"]
fn a_run_that_embeds() {
    let Some(file) = std::env::var_os("KB_ROLE_FILE").map(PathBuf::from) else {
        return;
    };
    let model = Noting::new(file.with_extension("notes"), TAKES);
    embed(&file, &model);
}

#[test]
fn a_killed_run_loses_at_most_one_batch() {
    let folder = memory_folder();
    let origin = folder.path().join("origin.kb");
    let mut writer = KbWriter::open_or_create(&origin).expect("writer");
    for number in 0..DOCUMENTS {
        let text = format!("The tide of day {number} was noted.");
        writer
            .add_bytes(&format!("{number}.txt"), text.as_bytes())
            .expect("added");
    }
    writer.commit().expect("committed");
    drop(writer);
    let mut random = Random(7);
    let (mut middle, mut worst) = (0, 0);
    for round in 0..number_from("KB_EMBED_KILLS", 6) {
        let file = folder.path().join(format!("{round}.kb"));
        fs::copy(&origin, &file).expect("copied");
        let notes = file.with_extension("notes");
        let mut child = Command::new(std::env::current_exe().expect("its own path"))
            .args(["--ignored", "--exact", "--test-threads=1"])
            .arg("durability::embedding::a_run_that_embeds")
            .env("KB_ROLE_FILE", &file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process");
        let wanted = 2 + random.below(DOCUMENTS / BATCH - 3);
        wait_until("it embeds", || noted(&notes).1 >= wanted);
        std::thread::sleep(TAKES.mul_f64(random.below(100) as f64 / 100.0));
        child.kill().expect("killed");
        child.wait().expect("it ends");
        let before = noted(&notes).0;
        let rest = Noting::new(folder.path().join("rest"), Duration::ZERO);
        fs::write(&rest.notes, "").expect("emptied");
        let report = embed(&file, &rest);
        assert_eq!((report.left, report.chunks), (0, DOCUMENTS as u64));
        let again = noted(&rest.notes).0;
        let lost = (before + again).saturating_sub(DOCUMENTS);
        assert!(lost <= BATCH, "{lost} of {before} were lost");
        worst = worst.max(lost);
        middle += usize::from(before < DOCUMENTS);
        let kb = Kb::open(&file).expect("it opens");
        let verified = kb.verify(&VerifyOptions::new().deep(true), &mut Progress::ignore);
        assert_eq!(verified.expect("verified").problems, [""; 0]);
    }
    println!("kills: {middle} in the middle, at most {worst} vectors lost");
    assert!(middle > 0);
}
