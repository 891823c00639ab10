//! `kb models`: models with names, out of folders and archives.

mod pulling;

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
pub(in crate::cli) fn write_model(folder: &Path) {
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

/// A model that takes "perusal" for "reader".
fn write_synonyms(folder: &Path) {
    write_model(folder);
    let header = r#"{"embeddings": {"dtype": "I8", "shape": [4, 2], "data_offsets": [0, 8]}}"#;
    let length = (header.len() as u64).to_le_bytes();
    let table = [&length[..], header.as_bytes(), &[0, 0, 1, 0, 0, 1, 0, 1]].concat();
    fs::write(folder.join("model.safetensors"), table).unwrap();
    let tokenizer = TOKENIZER.replace("\"reader\": 2", "\"reader\": 2, \"perusal\": 3");
    fs::write(folder.join("tokenizer.json"), tokenizer).unwrap();
}

#[test]
fn a_file_sealed_with_its_model_is_searched_where_there_is_none() {
    let folder = Folder::empty();
    let model = folder.join("tiny");
    write_synonyms(&model);
    for number in 0..12 {
        let text = if number == 7 { "the reader" } else { "a word" };
        fs::create_dir_all(folder.join("docs")).unwrap();
        fs::write(folder.join(format!("docs/{number:02}.md")), text).unwrap();
    }
    folder.kb(["index", "docs", "-o", "docs.kb"]).expect(0);
    let none = folder.kb(["seal", "docs.kb", "--with-model"]).expect(2);
    none.stderr_has("no model embedded docs.kb");
    let reembed = ["reembed", "docs.kb", "--embedder", "model2vec:tiny"];
    folder.kb(reembed).expect(0);
    folder.kb(["seal", "docs.kb", "-o", "bare.kb"]).expect(0);
    let sealed = folder
        .kb(["seal", "docs.kb", "-o", "full.kb", "--with-model"])
        .expect(0);
    sealed.stderr_has("model2vec:tiny adds ");
    let gone = folder.join("gone");
    fs::rename(&model, &gone).unwrap();
    let home = folder.join("home");
    fs::create_dir_all(&home).unwrap();
    let search = |file: &str| {
        let mut command = folder.command();
        for name in ["XDG_CACHE_HOME", "KB_MODELS", "LOCALAPPDATA"] {
            command.env_remove(name);
        }
        command.env("HOME", &home);
        run(command.args(["search", "perusal", "-f", file, "--json"]))
    };
    let bare = search("bare.kb").expect(1);
    bare.stderr_has("is missing");
    let full = search("full.kb").expect(0);
    assert!(!full.stderr.contains("missing"), "{}", full.stderr);
    let first: serde_json::Value =
        serde_json::from_str(full.stdout.lines().next().unwrap()).unwrap();
    assert!(full.stdout.contains("07.md"), "{first}");
    let info = folder.kb(["info", "full.kb"]).expect(0);
    assert!(
        info.stdout.contains("with the model in the file"),
        "{}",
        info.stdout
    );
    // Without the folder there is nothing to put in.
    let missing = folder.kb(["seal", "docs.kb", "--with-model"]).expect(2);
    missing.stderr_has("kb reembed");
}

#[test]
fn a_model_that_changed_or_is_broken_never_spoils_a_column() {
    let folder = Folder::empty();
    write_model(&folder.join("tiny"));
    folder.write("docs/a.md", "a word");
    folder.write("docs/b.md", "the reader");
    folder.write("docs/empty.md", "");
    folder.write("docs/odd.md", "\u{1f600} \u{5317}\u{4eac} xqzvjw");
    folder.kb(["index", "docs", "-o", "docs.kb"]).expect(0);
    let reembed = |more: &[&str]| {
        let mut command = folder.command();
        command.args(["reembed", "docs.kb", "--json", "--embedder"]);
        run(command.args(more))
    };
    let report = |more: &[&str]| reembed(more).expect(0).json_lines().remove(0);
    let first = report(&["model2vec:tiny"]);
    assert_eq!(
        (&first["embedded"], &first["empty"]),
        (&2.into(), &1.into())
    );
    assert_eq!(report(&["model2vec:tiny"])["embedded"], 0);
    let columns = || {
        let listed = folder.kb(["vectors", "docs.kb", "--json"]);
        listed.expect(0).stdout
    };
    let before = columns();
    // Other weights under the same name.
    write_synonyms(&folder.join("tiny"));
    let other = reembed(&["model2vec:tiny"]);
    assert!(other.code != Some(0), "{other:#?}");
    other.stderr_has("--replace");
    assert_eq!(columns(), before);
    let search = folder.kb(["search", "word", "-f", "docs.kb"]).expect(0);
    search.stderr_has("it was changed since");
    reembed(&["model2vec:tiny", "--name", "second"]).expect(0);
    let both = columns();
    for (file, text) in [
        ("model.safetensors", "\u{ff}\u{ff}"),
        ("tokenizer.json", "{"),
        ("tokenizer.json", "no JSON"),
    ] {
        fs::write(folder.join("tiny").join(file), text).unwrap();
        let broken = reembed(&["model2vec:tiny", "--name", "third"]);
        assert!(broken.code != Some(0), "{broken:#?}");
        broken.stderr_has(file);
    }
    for missing in ["model2vec:none", "onnx:none", "nobody", "onnx:docs"] {
        let outcome = reembed(&[missing]);
        assert!(outcome.code != Some(0), "{missing}: {outcome:#?}");
    }
    assert_eq!(columns(), both);
    folder.kb(["verify", "docs.kb", "--deep"]).expect(0);
}
