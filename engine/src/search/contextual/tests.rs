//! Searches of files with a column whose model is, or is not, at hand.

use std::path::PathBuf;
use std::sync::Arc;

use kb_types::embedding::toy::WordHashes;
use kb_types::{EmbedError, EmbedderResolver, ModelCard, ModelFile, TextEmbedder};

use crate::ingest::run::{PackedModel, ReembedOptions, SealOptions};
use crate::kb::{Kb, KbWriter};
use crate::paging::PageOptions;
use crate::progress::Progress;
use crate::search::{Mode, Request, Response};

/// One model, whatever card is asked for.
#[derive(Debug)]
struct Only(Option<Arc<WordHashes>>);

impl EmbedderResolver for Only {
    fn find(&self, card: &ModelCard) -> Result<Arc<dyn TextEmbedder>, EmbedError> {
        match &self.0 {
            Some(model) => Ok(model.clone()),
            None => Err(EmbedError::Missing {
                what: card.location.clone(),
            }),
        }
    }

    fn unpack(
        &self,
        card: &ModelCard,
        files: Vec<ModelFile>,
    ) -> Result<Arc<dyn TextEmbedder>, EmbedError> {
        Ok(Arc::new(WordHashes::unpack(card, &files)?))
    }
}

/// Knows that a zorb is a quibble, which no other model knows.
fn model() -> WordHashes {
    WordHashes::new("words", 256).synonym("zorb", "quibble")
}

struct Files {
    _folder: tempfile::TempDir,
    with: PathBuf,
    without: PathBuf,
}

/// Twenty documents, of which one is about a quibble; one file of them with a column, and one without.
fn files() -> Files {
    let folder = tempfile::tempdir().unwrap();
    let with = folder.path().join("with.kb");
    let without = folder.path().join("without.kb");
    for path in [&with, &without] {
        let mut writer = KbWriter::open_or_create(path).unwrap();
        for number in 0..20 {
            let text = match number {
                7 => "The quibble of the harbour".to_owned(),
                _ => format!("Gauge {number} of the harbour notes high water"),
            };
            let name = format!("{number:02}.txt");
            writer.add_bytes(&name, text.as_bytes()).unwrap();
        }
        writer.commit().unwrap();
        if path == &with {
            let options = ReembedOptions::new();
            writer
                .reembed(&model(), &options, &mut Progress::ignore)
                .unwrap();
        }
    }
    Files {
        _folder: folder,
        with,
        without,
    }
}

fn search(path: &PathBuf, models: Option<Only>, request: &Request) -> Response {
    let kb = Kb::open(path).unwrap();
    let kb = match models {
        Some(models) => kb.with_models(Arc::new(models)),
        None => kb,
    };
    kb.search(request).unwrap()
}

fn order(response: &Response) -> Vec<(&str, f32)> {
    let hits = response.hits.iter();
    hits.map(|hit| (hit.document.as_str(), hit.score)).collect()
}

#[test]
fn what_only_the_model_of_the_column_knows_is_found() {
    let files = files();
    let there = || Some(Only(Some(Arc::new(model()))));
    let request = Request::new("zorb").explain(true);
    let response = search(&files.with, there(), &request);
    assert_eq!(response.hits[0].document, "07.txt");
    assert!(response.warnings.is_empty(), "{:?}", response.warnings);
    let first = &response.hits[0].bonuses[0];
    assert_eq!(first.name, "contextual");
    assert!(first.score > 0.0);
    let explanation = response.explanation.unwrap();
    assert!(
        explanation.model.ends_with("toy:words"),
        "{}",
        explanation.model
    );
    for hit in &response.hits {
        let weight = explanation.vector_weight;
        let (keyword, vector) = (hit.keyword_score.unwrap(), hit.vector_score.unwrap());
        let parts: f32 = hit.bonuses.iter().map(|bonus| bonus.score).sum();
        let sum = (1.0 - weight) * keyword + weight * vector + parts;
        assert!((sum - hit.fused_score).abs() < 1e-5, "{hit:?}");
    }
    let semantic = Request::new("zorb").mode(Mode::Semantic);
    let response = search(&files.with, there(), &semantic);
    assert_eq!(response.hits[0].document, "07.txt");
    let of_column = Request::new("zorb").vector_column("words");
    let response = search(&files.with, there(), &of_column);
    assert_eq!(response.hits[0].document, "07.txt");
}

#[test]
fn without_the_model_the_built_in_one_answers_as_if_there_were_no_column() {
    let files = files();
    let request = Request::new("gauge of the harbour");
    let expected = search(&files.without, None, &request);
    for (models, what) in [
        (None, "was given no models"),
        (Some(Only(None)), "/toys/words is missing"),
        (
            Some(Only(Some(Arc::new(WordHashes::new("other", 256))))),
            "it was changed since",
        ),
    ] {
        let response = search(&files.with, models, &request);
        assert_eq!(order(&response), order(&expected));
        assert_eq!(response.warnings.len(), 1);
        assert!(
            response.warnings[0].contains(what),
            "{:?}",
            response.warnings
        );
    }
    // Without vectors nothing is missing.
    let keyword = request.clone().mode(Mode::Keyword);
    assert!(search(&files.with, None, &keyword).warnings.is_empty());
    let built_in = request.vector_column("built-in");
    let response = search(&files.with, None, &built_in);
    assert_eq!(order(&response), order(&expected));
    assert!(response.warnings.is_empty());
}

#[test]
fn a_document_without_a_vector_keeps_the_score_of_the_built_in_model() {
    let files = files();
    let mut writer = KbWriter::open(&files.with).unwrap();
    writer
        .add_bytes("new.txt", b"Gauge 5 of the harbour notes high water")
        .unwrap();
    writer.commit().unwrap();
    let request = Request::new("gauge 5 harbour").explain(true).k(30);
    let response = search(&files.with, Some(Only(Some(Arc::new(model())))), &request);
    let hit = |name: &str| {
        let mut hits = response.hits.iter();
        hits.find(|hit| hit.document == name).unwrap()
    };
    let (new, old) = (hit("new.txt"), hit("05.txt"));
    assert!(new.bonuses.iter().all(|bonus| bonus.name != "contextual"));
    let difference = (new.fused_score - old.fused_score).abs();
    assert!(difference < 0.15, "{} {}", new.fused_score, old.fused_score);
}

#[test]
fn files_with_and_without_a_column_are_searched_together() {
    let files = files();
    let with = Kb::open(&files.with).unwrap();
    let with = with.with_models(Arc::new(Only(Some(Arc::new(model())))));
    let without = Kb::open(&files.without).unwrap();
    let request = Request::new("zorb").explain(true);
    let response = crate::kb::search_files(&[&without, &with], &request).unwrap();
    let first = &response.hits[0];
    assert_eq!((first.document.as_str(), first.file), ("07.txt", 1));
    // The same on several threads.
    let threads = crate::kb::search_files(&[&without, &with], &request.threads(2)).unwrap();
    assert_eq!(order(&threads), order(&response));
}

#[test]
fn a_sealed_file_brings_its_model() {
    let files = files();
    let there = Only(Some(Arc::new(model())));
    let kb = Kb::open(&files.with).unwrap().with_models(Arc::new(there));
    let models = kb.pack_models().unwrap();
    assert_eq!(models[0].column, "words");
    assert_eq!(
        models[0].bytes(),
        "words".len() as u64 + "quibble".len() as u64
    );
    let seal = |from: &PathBuf, to: &str, models: Vec<PackedModel>| {
        let to = from.with_file_name(to);
        let mut writer = KbWriter::open(from).unwrap();
        let options = SealOptions::new().models(models);
        writer
            .seal(Some(&to), &options, &mut Progress::ignore)
            .unwrap();
        to
    };
    let request = Request::new("zorb");
    let without = seal(&files.with, "sealed.kb", Vec::new());
    let response = search(&without, Some(Only(None)), &request);
    assert!(response.warnings[0].contains("is missing"));
    let shipped = seal(&files.with, "shipped.kb", models);
    let found = |path: &PathBuf| {
        let response = search(path, Some(Only(None)), &request);
        assert!(response.warnings.is_empty(), "{:?}", response.warnings);
        assert_eq!(response.hits[0].document, "07.txt");
    };
    found(&shipped);
    let kb = Kb::open(&shipped).unwrap();
    assert_eq!(kb.vector_columns().unwrap()[1].model_bytes, Some(12));
    let same_root = |path: &PathBuf| Kb::open(path).unwrap().info().unwrap().content_root;
    assert_eq!(same_root(&shipped), same_root(&without));
    // It embeds later chunks too, and goes into the next sealed file without any model on the machine.
    let mut writer = KbWriter::open(&shipped).unwrap();
    writer.add_bytes("new.txt", b"one more bollard").unwrap();
    writer.commit().unwrap();
    let updates = writer
        .update_embeddings(&Only(None), &ReembedOptions::new(), &mut Progress::ignore)
        .unwrap();
    assert_eq!(updates[0].outcome.as_ref().unwrap().embedded, 1);
    let kb = Kb::open(&shipped)
        .unwrap()
        .with_models(Arc::new(Only(None)));
    found(&seal(&shipped, "again.kb", kb.pack_models().unwrap()));
    // It goes with its column.
    writer.remove_vectors("words").unwrap();
    let bytes = kb.sizes().unwrap().sections;
    assert!(bytes.contains(&("models".to_owned(), 0)), "{bytes:?}");
}

#[test]
fn a_model_in_a_file_is_used_for_its_own_column_only() {
    let files = files();
    let there = Only(Some(Arc::new(model())));
    let kb = Kb::open(&files.with).unwrap().with_models(Arc::new(there));
    let mut models = kb.pack_models().unwrap();
    models[0].files[0].bytes = b"other".to_vec();
    let mut writer = KbWriter::open(&files.with).unwrap();
    let options = SealOptions::new().models(models.clone());
    writer.seal(None, &options, &mut Progress::ignore).unwrap();
    let response = search(&files.with, Some(Only(None)), &Request::new("zorb"));
    assert!(
        response.warnings[0].contains("it was changed since"),
        "{:?}",
        response.warnings
    );
    models[0].column = "elsewhere".to_owned();
    let options = SealOptions::new().models(models);
    let error = writer.seal(None, &options, &mut Progress::ignore);
    assert_eq!(error.unwrap_err().code(), "EMBEDDING_MODEL_UNAVAILABLE");
}

#[test]
fn an_answer_ends_where_all_lists_have_ended() {
    let files = files();
    let with = Kb::open(&files.with).unwrap();
    let with = with.with_models(Arc::new(Only(Some(Arc::new(model())))));
    for mode in [Mode::Hybrid, Mode::Semantic] {
        let mut request = Request::new("zorb").k(8).mode(mode);
        let mut found = Vec::new();
        // A page more than there can be: each of them ends.
        for _ in 0..4 {
            let hits = with.search(&request).unwrap().hits;
            found.extend(hits.iter().map(|hit| hit.document.clone()));
            let Some(next) = hits.next else { break };
            request = request.page(PageOptions::default().cursor(next));
        }
        assert_eq!(found[0], "07.txt");
        let before = found.len();
        found.sort();
        found.dedup();
        assert_eq!(found.len(), before);
        assert!(before <= 20, "{before}");
        // All at once, too.
        let all = with
            .search(&Request::new("zorb").k(100).mode(mode))
            .unwrap();
        assert_eq!(all.hits.len(), before);
        assert!(all.hits.next.is_none());
    }
}
