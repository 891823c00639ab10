//! `kb models`: models with names, out of folders and archives.

use std::fs;
use std::path::Path;

use crate::support::{Folder, run};

/// Tokens have the numbers of their places.
const TOKENIZER: &str = r###"{
    "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "word": 1, "reader": 2}}
}"###;

/// Writes a table of three token vectors, as Model2Vec does.
fn write_model(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let header = r#"{"embeddings": {"dtype": "I8", "shape": [3, 2], "data_offsets": [0, 6]}}"#;
    let length = (header.len() as u64).to_le_bytes();
    let table = [&length[..], header.as_bytes(), &[0, 0, 1, 0, 0, 1]].concat();
    fs::write(folder.join("model.safetensors"), table).unwrap();
    fs::write(folder.join("tokenizer.json"), TOKENIZER).unwrap();
    fs::write(folder.join("LICENSE"), "as you like").unwrap();
}

fn models(folder: &Folder, arguments: &[&str]) -> crate::support::Outcome {
    let mut command = folder.command();
    command.env("KB_MODELS", folder.join("models"));
    run(command.arg("models").args(arguments))
}

#[test]
fn a_model_gets_a_name_is_checked_and_deleted() {
    let folder = Folder::empty();
    write_model(&folder.join("tiny"));
    let listed = models(&folder, &[]).expect(0);
    assert!(
        listed.stdout.starts_with("builtin  static, "),
        "{listed:#?}"
    );
    assert_eq!(listed.stdout.lines().count(), 1);

    let added = models(
        &folder,
        &["add", "small", "tiny", "--query-prefix", "query: "],
    )
    .expect(0);
    assert!(added.stdout.starts_with("small  model2vec, "), "{added:#?}");
    let listed = models(&folder, &["list", "--json"]).expect(0);
    let second: serde_json::Value =
        serde_json::from_str(listed.stdout.lines().nth(1).unwrap()).unwrap();
    assert_eq!(second["name"], "small");
    assert_eq!(second["kind"], "model2vec");
    let copied = folder.join("models/small");
    assert_eq!(second["path"], copied.display().to_string());
    assert!(copied.join("NOTICE.txt").is_file());
    assert_eq!(
        fs::read_to_string(copied.join("licences/1.txt")).unwrap(),
        "as you like"
    );

    let checked = models(&folder, &["check", "small", "--json"]).expect(0);
    let card: serde_json::Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!(card["dimension"], 2);
    assert_eq!(card["query_prefix"], "query: ");
    assert_eq!(card["weights_blake3"].as_str().unwrap().len(), 64);
    assert!(card["tokens_per_second"].as_u64().unwrap() > 0);
    let checked = models(&folder, &["check", "model2vec:tiny"]).expect(0);
    assert!(
        checked.stdout.starts_with("model2vec:tiny\n"),
        "{checked:#?}"
    );

    models(&folder, &["rm", "small"]).expect(0);
    assert!(!copied.exists());
    let gone = models(&folder, &["rm", "small"]).expect(2);
    gone.stderr_has("\"small\"");
}

#[test]
fn what_is_wrong_with_a_model_is_said() {
    let folder = Folder::empty();
    write_model(&folder.join("tiny"));
    for (arguments, expected) in [
        (&["check", "tiny"][..], "did you mean model2vec:tiny"),
        (&["check", "minilm"], "no model has a name yet"),
        (&["check", "onnx:tiny"], "model.onnx"),
        (&["add", "small", "nowhere"], "nowhere is missing"),
        (&["add", "onnx", "tiny"], "is no kind of model"),
    ] {
        let told = models(&folder, arguments).expect(2);
        told.stderr_has(expected);
    }
    fs::write(folder.join("tiny/model.safetensors"), "damaged").unwrap();
    let told = models(&folder, &["add", "small", "tiny"]).expect(2);
    told.stderr_has("safetensors");
    assert_eq!(fs::read_dir(folder.join("models")).unwrap().count(), 0);
}
