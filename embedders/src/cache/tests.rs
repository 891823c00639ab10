use std::io::Write as _;

use super::*;

const TOKENIZER: &str = r###"{
    "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "a": 1}}
}"###;

/// A table of two tokens.
fn table() -> Vec<u8> {
    let header = r#"{"embeddings": {"dtype": "I8", "shape": [2, 2], "data_offsets": [0, 4]}}"#;
    let length = (header.len() as u64).to_le_bytes();
    [&length[..], header.as_bytes(), &[0, 0, 3, 4]].concat()
}

fn archive(files: &[(&str, &[u8])]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut writer = zip::ZipWriter::new(&mut file);
    for (name, bytes) in files {
        let options = zip::write::SimpleFileOptions::default();
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap();
    file
}

fn add(cache: &Cache, name: &str, sources: &[&Path]) -> Result<Entry, EmbedError> {
    let sources: Vec<PathBuf> = sources.iter().map(|path| (*path).to_owned()).collect();
    cache.add(name, &sources, &Addition::default(), |path, kind| {
        crate::load(kind, path, &crate::Options::default()).map(drop)
    })
}

#[test]
fn a_model_out_of_wheels_has_a_name_and_its_licences() {
    let home = tempfile::tempdir().unwrap();
    let cache = Cache::new(home.path().join("models"));
    assert!(cache.list().is_empty());
    let weights = archive(&[
        ("weights/model.safetensors", &table()),
        (
            "weights-1.0.dist-info/METADATA",
            b"Name: weights\nVersion: 1.0\nLicense-Expression: MIT\n\nText: no\n",
        ),
    ]);
    let settings = archive(&[
        ("other/model/tokenizer.json", TOKENIZER.as_bytes()),
        (
            "other/model/config_sentence_transformers.json",
            br#"{"prompts": {"query": "q"}}"#,
        ),
        ("other.dist-info/licenses/LICENSE", b"as you like"),
        ("../../escape/model.onnx_data", b"x"),
    ]);
    let entry = add(&cache, "tiny", &[weights.path(), settings.path()]).unwrap();
    assert_eq!((entry.name.as_str(), entry.kind), ("tiny", Kind::Model2Vec));
    assert!(entry.size_bytes > 0);
    let read = |name: &str| fs::read_to_string(entry.path.join(name)).unwrap();
    let notice = read("NOTICE.txt");
    assert!(
        notice.contains("License-Expression: MIT") && !notice.contains("Text"),
        "{notice}"
    );
    assert_eq!(read("licences/1.txt"), "as you like");
    assert!(read("config_sentence_transformers.json").contains("query"));
    // Nothing but the model and its notices, and nothing elsewhere.
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    assert_eq!(fs::read_dir(cache.folder()).unwrap().count(), 1);
    assert_eq!(cache.list().len(), 1);

    let taken = add(&cache, "tiny", &[weights.path(), settings.path()]).unwrap_err();
    assert!(
        taken.to_string().contains("a model of this name"),
        "{taken}"
    );
    assert_eq!(cache.remove("tiny").unwrap().name, "tiny");
    assert!(cache.list().is_empty());
    assert!(matches!(
        cache.remove("tiny"),
        Err(EmbedError::Missing { .. })
    ));
}

#[test]
fn a_model_that_does_not_load_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let cache = Cache::new(home.path());
    let folder = tempfile::tempdir().unwrap();
    let missing = add(&cache, "tiny", &[folder.path()]).unwrap_err();
    assert!(
        missing.to_string().contains("tokenizer.json in"),
        "{missing}"
    );
    fs::write(folder.path().join("tokenizer.json"), TOKENIZER).unwrap();
    let missing = add(&cache, "tiny", &[folder.path()]).unwrap_err();
    assert!(
        missing
            .to_string()
            .contains("model.onnx or model.safetensors"),
        "{missing}"
    );
    fs::write(folder.path().join("model.safetensors"), b"no").unwrap();
    add(&cache, "tiny", &[folder.path()]).unwrap_err();
    let text = home.path().join("text");
    fs::write(&text, "no archive").unwrap();
    let error = add(&cache, "tiny", &[&text]).unwrap_err();
    assert!(
        error.to_string().contains("neither a folder nor"),
        "{error}"
    );
    fs::remove_file(&text).unwrap();
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn names_stay_in_the_folder_and_clear_of_kinds() {
    let home = tempfile::tempdir().unwrap();
    let cache = Cache::new(home.path());
    let long = "x".repeat(65);
    for name in [
        "", "..", ".a", "-a", "a/b", "a\\b", "c:a", "none", "onnx", &long, "\u{e9}",
    ] {
        let error = add(&cache, name, &[home.path()]).unwrap_err();
        assert!(
            matches!(error, EmbedError::Specification { .. }),
            "{name}: {error}"
        );
        assert!(cache.get(name).is_none());
    }
    assert!(is_name("bge-small_en.v1.5"));
}

#[test]
fn what_a_user_says_of_prefixes_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let cache = Cache::new(home.path().join("models"));
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tokenizer.json"), TOKENIZER).unwrap();
    fs::write(folder.path().join("model.safetensors"), table()).unwrap();
    let addition = Addition {
        query_prefix: Some("query: ".to_owned()),
        passage_prefix: None,
    };
    let sources = [folder.path().to_owned()];
    let entry = cache
        .add("tiny", &sources, &addition, |_, _| Ok(()))
        .unwrap();
    let choice = crate::parse_with("tiny", &crate::Options::default(), Some(&cache)).unwrap();
    let crate::Choice::Model(model) = choice else {
        panic!("{choice:?}")
    };
    let card = kb_types::TextEmbedder::card(&model);
    assert_eq!(
        (card.name.as_str(), card.query_prefix.as_str()),
        ("tiny", "query: ")
    );
    assert_eq!(
        card.location,
        entry.path.canonicalize().unwrap().display().to_string()
    );
}
