//! Columns that a model fills: order, commits, resuming, other models.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kb_types::embedding::toy::WordHashes;
use kb_types::{EmbedError, EmbedderResolver, ModelCard, ModelFile, TextEmbedder};

use super::{ReembedOptions, ReembedReport};
use crate::ingest::options::IndexOptions;
use crate::ingest::run::SealOptions;
use crate::ingest::run::{MergeOptions, MergeSource, OnConflict};
use crate::kb::{Kb, KbWriter};
use crate::progress::{Progress, Stage};

/// Every model but those that are missing.
#[derive(Debug)]
struct Models(Vec<Arc<WordHashes>>);

impl EmbedderResolver for Models {
    fn find(&self, card: &ModelCard) -> Result<Arc<dyn TextEmbedder>, EmbedError> {
        let mut models = self.0.iter();
        match models.find(|model| model.card().name == card.name) {
            Some(model) => Ok(model.clone()),
            None => Err(EmbedError::Missing {
                what: card.location.clone(),
            }),
        }
    }

    fn unpack(
        &self,
        _: &ModelCard,
        files: Vec<ModelFile>,
    ) -> Result<Arc<dyn TextEmbedder>, EmbedError> {
        let name = String::from_utf8(files[0].bytes.clone()).unwrap();
        Ok(Arc::new(WordHashes::new(&name, 32)))
    }
}

/// A file of so many documents with two chunks each, the later ones newer.
fn filled(folder: &Path, documents: usize) -> PathBuf {
    let path = folder.join("a.kb");
    let sources = folder.join("sources");
    std::fs::create_dir_all(&sources).unwrap();
    for number in 0..documents {
        let file = sources.join(format!("{:03}.md", documents - number));
        let text = format!("# Pier {number}\n\n{}", "high water noted\n".repeat(200));
        std::fs::write(&file, text).unwrap();
        let time = std::time::UNIX_EPOCH + Duration::from_secs(1000 + number as u64);
        let opened = std::fs::File::options().write(true).open(&file).unwrap();
        opened.set_modified(time).unwrap();
    }
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    writer
        .index(&[sources], &Default::default(), &mut Progress::ignore)
        .unwrap();
    path
}

fn reembed(path: &Path, model: &WordHashes, options: &ReembedOptions) -> ReembedReport {
    let mut writer = KbWriter::open(path).unwrap();
    writer
        .reembed(model, options, &mut Progress::ignore)
        .unwrap()
}

fn refused(path: &Path, model: &WordHashes, options: &ReembedOptions) -> String {
    let mut writer = KbWriter::open(path).unwrap();
    let error = writer.reembed(model, options, &mut Progress::ignore);
    error.unwrap_err().to_string()
}

/// Documents with a vector in a column.
fn documents_with(path: &Path, column: &str) -> Vec<String> {
    let kb = Kb::open(path).unwrap();
    let vectors = kb.vectors_of(column).unwrap();
    let rows = kb.vector_rows(&vectors).unwrap();
    let with = rows
        .into_iter()
        .filter(|row| row.has_vector && !row.is_deleted);
    let mut documents: Vec<String> = with.map(|row| row.document).collect();
    documents.sort();
    documents.dedup();
    documents
}

#[test]
fn a_column_gets_a_vector_for_each_chunk_and_knows_its_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path(), 5);
    let model = WordHashes::new("words", 32);
    let report = reembed(&path, &model, &ReembedOptions::new());
    assert_eq!((report.column.as_str(), report.left), ("words", 0));
    assert!(report.chunks > 5, "{report:?}");
    assert_eq!(report.embedded, report.chunks);
    let kb = Kb::open(&path).unwrap();
    let column = &kb.vector_columns().unwrap()[1];
    assert_eq!(column.rows, report.chunks);
    assert_eq!(column.card.as_ref(), Some(model.card()));
    assert_eq!(column.model, "toy:words");
    let vectors = kb.vectors_of("words").unwrap().to_f32();
    let texts = kb.embedded_texts("001.md").unwrap();
    let expected = model.query(&texts[0]).unwrap();
    let cosine: f32 = vectors.iter().zip(&expected).map(|(a, b)| a * b).sum();
    assert!(cosine > 0.99, "{cosine}");
    // Nothing is left to do, so nothing is embedded but the probes.
    let before = model.embedded();
    let report = reembed(&path, &model, &ReembedOptions::new());
    assert_eq!((report.embedded, report.commits), (0, 0));
    assert_eq!(model.embedded(), before + 8);
}

#[test]
fn the_newest_documents_come_first_and_a_run_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path(), 24);
    let model = WordHashes::new("words", 32);
    let every = ReembedOptions::new().commit_every(Duration::ZERO, 1);
    let mut writer = KbWriter::open(&path).unwrap();
    let mut hook = |progress: &Progress| match progress.files_done {
        0..30 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    let stopped = writer.reembed(&model, &every, &mut hook).unwrap_err();
    assert_eq!(stopped.code(), "CANCELLED");
    let with = documents_with(&path, "words");
    // The last that were written have the first names.
    assert!((5..24).contains(&with.len()), "{with:?}");
    assert_eq!(with[0], "001.md");
    assert!(!with.contains(&"024.md".to_owned()), "{with:?}");
    let before = Kb::open(&path).unwrap().vector_columns().unwrap()[1].rows;
    let report = reembed(&path, &model, &every);
    assert_eq!(report.embedded + before, report.chunks);
    assert_eq!(report.left, 0);
    assert_eq!(documents_with(&path, "words").len(), 24);
}

#[test]
fn a_run_without_time_keeps_what_it_has_and_says_what_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path(), 3);
    let model = WordHashes::new("words", 32);
    let options = ReembedOptions::new().max_time(Some(Duration::ZERO));
    let report = reembed(&path, &model, &options);
    assert_eq!((report.embedded, report.left), (0, report.chunks));
    let mut seen = 0;
    let mut writer = KbWriter::open(&path).unwrap();
    let mut hook = |progress: &Progress| {
        seen += usize::from(progress.stage == Stage::Embed && progress.files_total > 0);
        ControlFlow::Continue(())
    };
    let options = ReembedOptions::new().max_time(Some(Duration::from_secs(600)));
    let report = writer.reembed(&model, &options, &mut hook).unwrap();
    assert_eq!(report.left, 0);
    assert!(seen > 0);
}

#[test]
fn a_document_that_changes_while_it_is_embedded_keeps_no_old_vector() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path(), 3);
    let model = WordHashes::new("words", 32);
    let mut writer = KbWriter::open(&path).unwrap();
    let mut is_changed = false;
    let mut hook = |progress: &Progress| {
        if progress.files_done > 0 && !is_changed {
            is_changed = true;
            // The model works without the lock.
            let mut other = KbWriter::open(&path).unwrap();
            other
                .replace_bytes("002.md", b"# Pier\n\nlow water")
                .unwrap();
            other.commit().unwrap();
        }
        ControlFlow::Continue(())
    };
    let report = writer
        .reembed(&model, &ReembedOptions::new(), &mut hook)
        .unwrap();
    assert!(is_changed);
    assert_eq!(report.left, 1, "{report:?}");
    assert_eq!(documents_with(&path, "words"), ["001.md", "003.md"]);
    assert_eq!(reembed(&path, &model, &ReembedOptions::new()).embedded, 1);
}

#[test]
fn a_column_takes_vectors_of_its_own_model_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path(), 2);
    reembed(&path, &WordHashes::new("words", 32), &ReembedOptions::new());
    let other = WordHashes::new("other", 32);
    let into = ReembedOptions::new().name("words");
    let reason = refused(&path, &other, &into);
    assert!(reason.contains("its vectors are by toy:words"), "{reason}");
    // Beside it another model has a column of its own.
    assert_eq!(
        reembed(&path, &other, &ReembedOptions::new()).column,
        "other"
    );
    // The same card with other vectors.
    let changed = WordHashes::new("words", 32).synonym("high", "low");
    let changed = changed.synonym("how", "why").synonym("int", "long");
    let reason = refused(&path, &changed, &into);
    assert!(reason.contains("it was changed since"), "{reason}");
    let report = reembed(&path, &changed, &into.replace(true));
    assert_eq!(report.embedded, report.chunks);
}

#[test]
fn columns_follow_changed_documents_where_their_model_is_at_hand() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path(), 4);
    let words = Arc::new(WordHashes::new("words", 32));
    reembed(&path, &words, &ReembedOptions::new());
    reembed(&path, &WordHashes::new("gone", 16), &ReembedOptions::new());
    let mut writer = KbWriter::open(&path).unwrap();
    writer
        .replace_bytes("002.md", b"# Pier\n\nlow water")
        .unwrap();
    writer.commit().unwrap();
    let models = Models(vec![words]);
    let updates = writer
        .update_embeddings(&models, &ReembedOptions::new(), &mut Progress::ignore)
        .unwrap();
    assert_eq!(updates.len(), 2);
    let done = updates[0].outcome.as_ref().unwrap();
    assert_eq!((done.embedded, done.left), (1, 0));
    let missing = updates[1].outcome.as_ref().unwrap_err();
    assert_eq!(missing.to_string(), "/toys/gone is missing");
}

#[test]
fn a_text_without_a_token_has_no_vector_and_is_not_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    writer.add_bytes("...", b"- -\n").unwrap();
    writer.add_bytes("tide.txt", b"high water").unwrap();
    writer.commit().unwrap();
    drop(writer);
    let model = WordHashes::new("words", 16);
    let report = reembed(&path, &model, &ReembedOptions::new());
    assert_eq!((report.embedded, report.empty, report.left), (1, 1, 0));
}

#[test]
fn a_model_that_fails_names_itself() {
    #[derive(Debug)]
    struct Broken(WordHashes);
    impl TextEmbedder for Broken {
        fn card(&self) -> &ModelCard {
            self.0.card()
        }
        fn passages(&self, texts: &[&str]) -> Result<Vec<f32>, EmbedError> {
            Ok(vec![f32::NAN; texts.len() * 16])
        }
        fn query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
            self.0.query(text)
        }
        fn preferred_batch(&self) -> usize {
            1
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path(), 1);
    let model = Broken(WordHashes::new("words", 16));
    let mut writer = KbWriter::open(&path).unwrap();
    let error = writer.reembed(&model, &ReembedOptions::new(), &mut Progress::ignore);
    let error = error.unwrap_err();
    assert_eq!(error.code(), "EMBEDDING_MODEL_UNAVAILABLE");
    assert!(
        error
            .to_string()
            .contains("toy:words (a vector has a number"),
        "{error}"
    );
    assert_eq!(Kb::open(&path).unwrap().vector_columns().unwrap().len(), 1);
}

#[test]
fn a_rebuilt_file_keeps_the_model_and_a_sealed_one_forgets_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path(), 3);
    let model = WordHashes::new("words", 32);
    reembed(&path, &model, &ReembedOptions::new());
    let mut writer = KbWriter::open(&path).unwrap();
    let options = IndexOptions::new().rebuild(true);
    let sources = folder.path().join("sources");
    let report = writer
        .index(&[sources], &options, &mut Progress::ignore)
        .unwrap();
    assert!(report.lost_columns.is_empty());
    drop(writer);
    let column = |path: &Path| Kb::open(path).unwrap().vector_columns().unwrap().remove(1);
    assert_eq!(
        (column(&path).rows, column(&path).card),
        (0, Some(model.card().clone()))
    );
    let report = reembed(&path, &model, &ReembedOptions::new());
    assert_eq!(report.embedded, report.chunks);
    let sealed = folder.path().join("sealed.kb");
    let mut writer = KbWriter::open(&path).unwrap();
    writer
        .seal(Some(&sealed), &SealOptions::new(), &mut Progress::ignore)
        .unwrap();
    assert_eq!(column(&sealed).card.unwrap().location, "");
    assert_eq!(column(&sealed).rows, report.chunks);
    // Nothing is left to embed, but where the model is.
    reembed(&sealed, &model, &ReembedOptions::new());
    assert_eq!(column(&sealed).card.unwrap().location, "/toys/words");
}

#[test]
fn no_text_is_embedded_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path(), 6);
    let (words, other) = (WordHashes::new("words", 32), WordHashes::new("other", 32));
    let first = reembed(&path, &words, &ReembedOptions::new());
    assert_eq!(first.cached, 0);
    let nearest = |text: &str| {
        let kb = Kb::open(&path).unwrap();
        let vector = words.query(text).unwrap();
        let request = crate::search::Request::new("").vector(vector);
        let hits = kb.search(&request.vector_column("words")).unwrap().hits;
        let names = hits.iter().map(|hit| hit.document.clone());
        names.collect::<Vec<String>>()
    };
    let before = nearest("tide");
    // Texts that are embedded to know the model.
    let probes = 4;
    // A column of another model in its place, and back.
    let over = ReembedOptions::new().name("words").replace(true);
    reembed(&path, &other, &over);
    let embedded = words.embedded();
    let back = reembed(&path, &words, &over);
    assert_eq!((back.embedded, back.cached), (first.chunks, first.chunks));
    assert_eq!(words.embedded(), embedded + probes);
    assert_eq!(nearest("tide"), before);
    // A document under another name, with the same title and text.
    let mut writer = KbWriter::open(&path).unwrap();
    let text = Kb::open(&path).unwrap().text("001.md", None).unwrap().text;
    writer.remove("001.md").unwrap();
    writer.add_bytes("moved/001.md", text.as_bytes()).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let embedded = words.embedded();
    let moved = reembed(&path, &words, &ReembedOptions::new());
    assert!(moved.cached > 0, "{moved:?}");
    assert_eq!(moved.cached, moved.embedded);
    assert!(words.embedded() <= embedded + 2 * probes);
    // A sealed file has it only if asked for.
    let cached = |keeps: bool| {
        let sealed = path.with_file_name(format!("{keeps}.kb"));
        let mut writer = KbWriter::open(&path).unwrap();
        let options = crate::ingest::run::SealOptions::new().keep_cache(keeps);
        writer
            .seal(Some(&sealed), &options, &mut Progress::ignore)
            .unwrap();
        let sections = Kb::open(&sealed).unwrap().sizes().unwrap().sections;
        let mut sections = sections.into_iter();
        sections.find(|(name, _)| name == "cache").unwrap().1
    };
    assert_eq!(cached(false), 0);
    assert!(cached(true) > 0);
    // Without it the model embeds again.
    let none = over.cache(false);
    let seen = WordHashes::new("third", 32);
    reembed(&path, &seen, &none);
    reembed(&path, &other, &none);
    assert_eq!(reembed(&path, &seen, &none).cached, 0);
}

#[test]
fn a_file_that_is_made_anew_keeps_the_model_that_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path(), 3);
    let model = Arc::new(WordHashes::new("words", 32));
    reembed(&path, &model, &ReembedOptions::new());
    let kb = Kb::open(&path).unwrap();
    let models = Arc::new(Models(vec![model.clone()]));
    let packed = kb.with_models(models).pack_models().unwrap();
    let mut writer = KbWriter::open(&path).unwrap();
    let kept = |path: &Path| {
        let kb = Kb::open(path).unwrap();
        let verified = kb.verify(
            &crate::VerifyOptions::new().deep(true),
            &mut Progress::ignore,
        );
        assert_eq!(verified.unwrap().problems, [""; 0]);
        let column = kb.vector_columns().unwrap().remove(1);
        (column.rows, column.model_bytes)
    };
    let seal = |writer: &mut KbWriter, to: Option<&Path>, options: SealOptions| {
        writer.seal(to, &options, &mut Progress::ignore).unwrap();
    };
    seal(
        &mut writer,
        None,
        SealOptions::new().models(packed).keep_cache(true),
    );
    let (rows, bytes) = kept(&path);
    assert_eq!((rows > 3, bytes), (true, Some(5)));
    // Sealed again, though nobody asked for the model.
    let again = folder.path().join("again.kb");
    seal(&mut writer, Some(&again), SealOptions::new());
    assert_eq!(kept(&again), (rows, bytes));
    let merged = folder.path().join("merged.kb");
    KbWriter::create(&merged)
        .unwrap()
        .merge_from(
            &[MergeSource::new(&again), MergeSource::new(&path)],
            &MergeOptions::new().on_conflict(OnConflict::KeepFirst),
            &mut Progress::ignore,
        )
        .unwrap();
    assert_eq!(kept(&merged).1, bytes);
    // Made anew from its sources: no text is embedded again.
    let options = IndexOptions::new().rebuild(true).force_hash(true);
    let sources = folder.path().join("sources");
    writer
        .index(&[sources], &options, &mut Progress::ignore)
        .unwrap();
    assert_eq!(kept(&path), (0, bytes));
    let report = reembed(&path, &model, &ReembedOptions::new());
    assert_eq!((report.embedded, report.cached), (rows, rows));
    // Emptied: the model stays, and nothing that was made of a document.
    writer.clear().unwrap();
    assert_eq!(kept(&path), (0, bytes));
    let kb = Kb::open(&path).unwrap();
    let sizes = kb.sizes().unwrap().sections;
    assert!(sizes.contains(&("cache".to_owned(), 0)), "{sizes:?}");
    writer.add_bytes("tide.md", b"high water").unwrap();
    writer.commit().unwrap();
    // A reader without any model on its machine.
    let updates = writer
        .update_embeddings(
            &Models(Vec::new()),
            &ReembedOptions::new(),
            &mut Progress::ignore,
        )
        .unwrap();
    assert_eq!(updates[0].outcome.as_ref().unwrap().embedded, 1);
}

#[test]
fn a_model_that_fails_keeps_what_it_embedded_before() {
    #[derive(Debug)]
    struct Failing(WordHashes);
    impl TextEmbedder for Failing {
        fn card(&self) -> &ModelCard {
            self.0.card()
        }
        fn passages(&self, texts: &[&str]) -> Result<Vec<f32>, EmbedError> {
            match self.0.embedded() {
                0..16 => self.0.passages(texts),
                _ => Err(EmbedError::NotFinite),
            }
        }
        fn query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
            self.0.query(text)
        }
        fn preferred_batch(&self) -> usize {
            4
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path(), 12);
    let model = Failing(WordHashes::new("words", 16));
    let options = ReembedOptions::new().cache(false);
    let mut writer = KbWriter::open(&path).unwrap();
    let failed = writer.reembed(&model, &options, &mut Progress::ignore);
    assert_eq!(failed.unwrap_err().code(), "EMBEDDING_MODEL_UNAVAILABLE");
    let rows = Kb::open(&path).unwrap().vector_columns().unwrap()[1].rows;
    assert!(rows >= 4, "{rows}");
}

#[test]
fn a_folder_is_embedded_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path(), 3);
    let mut writer = KbWriter::open(&path).unwrap();
    for name in ["notes/a.md", "notes/b/c.md", "notes-old.md"] {
        writer.add_bytes(name, b"low water").unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    let model = WordHashes::new("words", 32);
    let report = reembed(&path, &model, &ReembedOptions::new().folder("notes/"));
    assert_eq!((report.embedded, report.left), (2, 0));
    assert_eq!(
        documents_with(&path, "words"),
        ["notes/a.md", "notes/b/c.md"]
    );
    let nothing = reembed(&path, &model, &ReembedOptions::new().folder("none"));
    assert_eq!((nothing.embedded, nothing.left), (0, 0));
    assert_eq!(reembed(&path, &model, &ReembedOptions::new()).left, 0);
}
