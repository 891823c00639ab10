use kb_types::{EmbedderResolver, Pooling};

use super::*;

#[test]
fn specifications_say_what_is_wrong_with_them() {
    let home = tempfile::tempdir().unwrap();
    let cache = Cache::new(home.path().join("models"));
    let folder = home.path().join("bert");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("model.onnx"), b"").unwrap();
    let folder = folder.display().to_string();
    for (text, expected) in [
        ("onnx:", "onnx:FOLDER"),
        ("model2vec:", "model2vec:FOLDER"),
        ("fastembed:BGESmallENV15", "onnx:FOLDER"),
        ("openai:m", "openai:MODEL@URL"),
        ("", "use builtin, none"),
        ("bert:x", "use builtin, none"),
        ("nobody", "no model has a name yet"),
        (folder.as_str(), "did you mean onnx:"),
        ("onnx:/no/such/folder", "/no/such/folder is missing"),
    ] {
        let error = parse_with(text, &Options::default(), Some(&cache)).unwrap_err();
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
    for (text, is_expected) in [
        (
            "none",
            (|choice| matches!(choice, Choice::None)) as fn(&Choice) -> bool,
        ),
        ("builtin", |choice| matches!(choice, Choice::Builtin)),
    ] {
        let choice = parse_with(text, &Options::default(), None).unwrap();
        assert!(is_expected(&choice), "{choice:?}");
    }
}

#[test]
fn a_model_that_is_gone_is_missing_by_name() {
    let card = ModelCard {
        source: "onnx".to_owned(),
        name: "gone".to_owned(),
        location: "/no/such/folder".to_owned(),
        dimension: 384,
        pooling: Pooling::Mean,
        normalised: true,
        query_prefix: String::new(),
        passage_prefix: String::new(),
        max_tokens: 256,
        weights: None,
    };
    let resolver = Resolver::new(Options::default(), None);
    for _ in 0..2 {
        let error = resolver.find(&card).unwrap_err();
        assert_eq!(
            error,
            EmbedError::Missing {
                what: "the model onnx:gone".to_owned()
            }
        );
    }
    // A function is called by the program that has it.
    let of_python = ModelCard {
        source: "python".to_owned(),
        name: "words".to_owned(),
        location: String::new(),
        ..card
    };
    let error = resolver.find(&of_python).unwrap_err();
    assert!(matches!(error, EmbedError::Missing { what } if what == "the model python:words"));
}

#[test]
fn no_file_makes_this_program_ask_another_machine_for_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut card = ModelCard {
        source: "model2vec".to_owned(),
        name: "tiny".to_owned(),
        location: folder.path().display().to_string(),
        dimension: 2,
        pooling: Pooling::Mean,
        normalised: true,
        query_prefix: String::new(),
        passage_prefix: String::new(),
        max_tokens: 512,
        weights: None,
    };
    let resolver = Resolver::new(Options::default(), None);
    // Looked at: its tokenizer is missing.
    let looked = resolver.find(&card).unwrap_err().to_string();
    assert!(looked.contains("tokenizer.json"), "{looked}");
    card.location.insert(0, '/');
    let refused = resolver.find(&card).unwrap_err().to_string();
    assert_eq!(refused, "the model model2vec:tiny is missing");
}

#[test]
fn no_file_decides_where_texts_are_sent() {
    let card = ModelCard {
        source: "openai".to_owned(),
        name: "any".to_owned(),
        location: "any@http://127.0.0.1:9".to_owned(),
        dimension: 3,
        pooling: Pooling::Given,
        normalised: true,
        query_prefix: String::new(),
        passage_prefix: String::new(),
        max_tokens: 0,
        weights: None,
    };
    let resolver = Resolver::new(Options::default(), None);
    let refused = resolver.find(&card).map(|_| ()).unwrap_err();
    let told = refused.to_string();
    assert!(
        told.contains("KB_EMBEDDER_SERVICE=any@http://127.0.0.1:9"),
        "{told}"
    );
    let local = destination("openai:any@http://127.0.0.1:9").unwrap();
    assert!(local.is_local && !local.is_allowed);
    let other = destination("openai:any@https://api.example.com/v1").unwrap();
    assert_eq!(other.host, "api.example.com");
    assert_eq!(other.location, "any@https://api.example.com/v1");
    assert!(!other.is_local);
    // A name that only begins like one of this machine.
    let near = destination("openai:any@http://localhost.example.com").unwrap();
    assert!(!near.is_local);
    assert_eq!(destination("onnx:openai"), None);
}

#[cfg(feature = "minilm")]
#[test]
fn the_model_of_the_program_needs_no_files_and_can_be_given_away() {
    let Choice::Model(model) = parse_with("minilm", &Options::default(), None).unwrap() else {
        panic!("no model");
    };
    let card = model.card().clone();
    assert_eq!((card.name.as_str(), card.dimension), ("minilm", 384));
    let files = model.files().unwrap();
    assert!(files.iter().any(|file| file.name.starts_with("licences/")));
    let found = Resolver::new(Options::default(), None).find(&card).unwrap();
    assert!(found.card().is_same_model(&card));
    assert!(found.query("a reader").unwrap().len() == 384);
}
