use super::*;

/// The vocabulary of the tests; a token has the number of its place.
const PIECES: [&str; 17] = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "un",
    "##aff",
    "##able",
    "a",
    "##b",
    "b",
    "-",
    ".",
    "\u{4e2d}",
    "\u{3c3}",
    "##\u{3c3}",
    "e",
    "[",
];

fn file(change: impl FnOnce(&mut serde_json::Value)) -> Vec<u8> {
    let vocab: serde_json::Map<String, serde_json::Value> = PIECES
        .iter()
        .enumerate()
        .map(|(number, piece)| ((*piece).to_owned(), number.into()))
        .collect();
    let mut file = serde_json::json!({
        "truncation": {"max_length": 128, "strategy": "LongestFirst", "stride": 0},
        "padding": null,
        "added_tokens": [
            {"id": 3, "content": "[SEP]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
        ],
        "normalizer": {
            "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
            "lowercase": true,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
            ],
        },
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 10, "vocab": vocab,
        },
    });
    change(&mut file);
    serde_json::to_vec(&file).unwrap()
}

fn tokenizer(change: impl FnOnce(&mut serde_json::Value)) -> Result<Tokenizer, EmbedError> {
    Tokenizer::new(Path::new("tokenizer.json"), &file(change))
}

fn tokens(text: &str) -> Vec<&'static str> {
    let tokenizer = tokenizer(|_| {}).unwrap();
    let mut tokens = Vec::new();
    tokenizer.append(text, usize::MAX, &mut tokens);
    tokens.iter().map(|token| PIECES[*token as usize]).collect()
}

#[test]
fn words_become_their_longest_pieces() {
    assert_eq!(tokens("unaffable"), ["un", "##aff", "##able"]);
    assert_eq!(
        tokens("UNaffable a-b."),
        ["un", "##aff", "##able", "a", "-", "b", "."]
    );
    assert_eq!(tokens("unx a"), ["[UNK]", "a"]);
    assert_eq!(tokens(""), [""; 0]);
    assert_eq!(tokens(" \t\u{3000} "), [""; 0]);
}

#[test]
fn characters_follow_the_rules_of_bert() {
    // Each ideograph is a word, and so is each punctuation mark.
    assert_eq!(tokens("a\u{4e2d}b"), ["a", "\u{4e2d}", "b"]);
    // Accents go, composed or not; control characters and marks of direction, too.
    assert_eq!(tokens("\u{e9} e\u{301}"), ["e", "e"]);
    assert_eq!(tokens("a\u{200b}\u{7}b"), ["a", "##b"]);
    assert_eq!(tokens("a\nb\u{a0}a"), ["a", "b", "a"]);
    // A capital sigma is small alike at the end of a word.
    assert_eq!(tokens("\u{3a3}\u{3a3}"), ["\u{3c3}", "##\u{3c3}"]);
    // Words of more than 10 characters, and those that the vocabulary does not make.
    assert_eq!(
        tokens("abbbbbbbbb"),
        ["a"].into_iter().chain(["##b"; 9]).collect::<Vec<_>>()
    );
    assert_eq!(tokens("abbbbbbbbbb"), ["[UNK]"]);
    assert_eq!(tokens("\u{1f600}"), ["[UNK]"]);
}

#[test]
fn special_tokens_stand_for_themselves() {
    assert_eq!(tokens("a[SEP]b"), ["a", "[SEP]", "b"]);
    assert_eq!(tokens("a[sep]"), ["a", "[", "[UNK]", "[UNK]"]);
}

#[test]
fn long_texts_are_cut_within_the_tokens_around_them() {
    let tokenizer = tokenizer(|_| {}).unwrap();
    assert_eq!(tokenizer.encode("a", 8), [2, 7, 3]);
    assert_eq!(tokenizer.encode("unaffable b", 4), [2, 4, 5, 3]);
    assert_eq!(tokenizer.encode("", 4), [2, 3]);
    assert_eq!(tokenizer.encode("a", 1), [3]);
    assert_eq!(tokenizer.truncation(), Some(128));
    assert_eq!(tokenizer.highest(), 16);
    // What stands behind the cut is not read: this takes no time.
    let long = "a ".repeat(1 << 20);
    assert_eq!(tokenizer.encode(&long, 256).len(), 256);
    assert_eq!(tokenizer.encode(&"b".repeat(1 << 20), 256), [2, 1, 3]);
}

#[test]
fn unknown_words_can_be_left_out() {
    let tokenizer = tokenizer(|_| {}).unwrap();
    assert_eq!(tokenizer.known("a xyz b", 8), [7, 9]);
    assert_eq!(tokenizer.known("xyz", 8), [0; 0]);
}

#[test]
fn a_cased_model_keeps_capitals_unless_its_settings_say_otherwise() {
    let mut cased = tokenizer(|file| file["normalizer"]["lowercase"] = false.into()).unwrap();
    assert_eq!(cased.encode("A", 8), [2, 1, 3]);
    cased.lower_case();
    assert_eq!(cased.encode("A", 8), [2, 7, 3]);
}

#[test]
fn other_post_processors_put_their_tokens_around() {
    let bert = tokenizer(|file| {
        file["post_processor"] =
            serde_json::json!({"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]});
    });
    assert_eq!(bert.unwrap().encode("a", 8), [2, 7, 3]);
    let none = tokenizer(|file| file["post_processor"] = serde_json::Value::Null);
    assert_eq!(none.unwrap().encode("a", 8), [7]);
}

#[test]
fn what_this_program_cannot_do_is_named() {
    type Change = fn(&mut serde_json::Value);
    let cases: [(&str, Change); 8] = [
        ("this one is WordLevel", |file| {
            file["model"]["type"] = "WordLevel".into()
        }),
        ("normalizer NFKC", |file| {
            file["normalizer"]["type"] = "NFKC".into()
        }),
        ("normalizer none", |file| {
            file["normalizer"] = serde_json::Value::Null
        }),
        ("pre_tokenizer Metaspace", |file| {
            file["pre_tokenizer"]["type"] = "Metaspace".into()
        }),
        ("post_processor Magic", |file| {
            file["post_processor"]["type"] = "Magic".into()
        }),
        ("\"[X]\"", |file| file["model"]["unk_token"] = "[X]".into()),
        ("\"[Y]\"", |file| {
            file["post_processor"]["single"][0]["SpecialToken"]["id"] = "[Y]".into()
        }),
        ("\"[SEP]\"", |file| {
            file["added_tokens"][0]["normalized"] = true.into()
        }),
    ];
    for (expected, change) in cases {
        let error = tokenizer(change).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let text = Tokenizer::new(Path::new("tokenizer.json"), b"[1, 2");
    assert!(matches!(text, Err(EmbedError::Unfit { .. })));
}

#[test]
fn a_vocabulary_has_bounds() {
    let long = tokenizer(|file| file["model"]["vocab"]["x".repeat(2000)] = 20.into());
    assert!(long.unwrap_err().to_string().contains("1024 bytes"));
    let around = tokenizer(|file| {
        let part = file["post_processor"]["single"][0].clone();
        file["post_processor"]["single"] = vec![part; 17].into();
    });
    assert!(around.unwrap_err().to_string().contains("16 parts"));
}

/// A tokenizer of bytes without merges; the token of a byte is its number, `<mask>` is 256.
fn bytes_file(change: impl FnOnce(&mut serde_json::Value)) -> Result<Tokenizer, EmbedError> {
    let shown = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    let mut others = 0x100u32..;
    let mut vocab = serde_json::Map::new();
    for byte in 0..=u8::MAX {
        let number = match shown(byte) {
            true => u32::from(byte),
            false => others.next().unwrap(),
        };
        let piece = char::from_u32(number).unwrap().to_string();
        vocab.insert(piece, byte.into());
    }
    let mut file = serde_json::json!({
        "added_tokens": [{"id": 256, "content": "<mask>", "lstrip": true, "normalized": false}],
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
        "model": {"type": "BPE", "unk_token": null, "vocab": vocab, "merges": []},
    });
    change(&mut file);
    Tokenizer::new(Path::new("tokenizer.json"), file.to_string().as_bytes())
}

#[test]
fn bytes_are_tokens_where_the_file_says_so() {
    let mut bytes = bytes_file(|_| {}).unwrap();
    assert_eq!(bytes.encode("Ae\u{301}", 8), [65, 0xc3, 0xa9]);
    assert_eq!(bytes.encode("a \n<mask> b", 8), [97, 256, 32, 98]);
    assert_eq!(bytes.known("a", 8), [97]);
    bytes.lower_case();
    assert_eq!(bytes.encode("A", 8), [97]);
    type Change = fn(&mut serde_json::Value);
    let cases: [(&str, Change); 6] = [
        ("normalizer Magic", |file| {
            file["normalizer"]["type"] = "Magic".into()
        }),
        ("behind ByteLevel", |file| {
            let part = file["pre_tokenizer"].clone();
            file["pre_tokenizer"] =
                serde_json::json!({"type": "Sequence", "pretokenizers": [part.clone(), part]})
        }),
        ("such rules of BPE", |file| {
            file["model"]["end_of_word_suffix"] = "</w>".into()
        }),
        ("vocabulary of Unigram is no list", |file| {
            file["model"]["type"] = "Unigram".into()
        }),
        ("is no pair", |file| {
            file["model"]["merges"] = serde_json::json!(["ab"])
        }),
        ("\"ab\" is not in", |file| {
            file["model"]["merges"] = serde_json::json!(["a b"])
        }),
    ];
    for (expected, change) in cases {
        let error = bytes_file(change).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_unigram_file_is_read_with_its_steps() {
    let file = serde_json::json!({
        "added_tokens": [
            {"id": 0, "content": "<s>", "normalized": false},
            {"id": 6, "content": "<B>", "normalized": true},
        ],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "_", "prepend_scheme": "always"},
        "post_processor": {"type": "Sequence", "processors": [
            {"type": "ByteLevel"},
            {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "<s>"}}]},
        ]},
        "model": {
            "type": "Unigram", "unk_id": 1,
            "vocab": [["<s>", 0.0], ["<unk>", 0.0], ["_a", -1.0], ["b", -2.0], ["_", -3.0], ["ab", -1.5]],
        },
    });
    let tokenizer = |file: &serde_json::Value| {
        Tokenizer::new(Path::new("tokenizer.json"), file.to_string().as_bytes())
    };
    let unigram = tokenizer(&file).unwrap();
    assert_eq!(unigram.encode("Ab ab", 9), [2, 3, 2, 3, 0]);
    // Raw tokens are found before the normal form, the others in it; what begins behind one is a word of its own.
    assert_eq!(unigram.encode("<s>a<b>?", 9), [0, 2, 6, 4, 1, 0]);
    assert_eq!(unigram.known("? a", 9), [4, 2]);
    assert_eq!(unigram.highest(), 6);
    let long = "a ".repeat(1 << 20);
    assert_eq!(unigram.encode(&long, 16).len(), 16);
    for (expected, name, value) in [
        ("not in the vocabulary", "unk_id", 9.into()),
        ("invalid type", "vocab", serde_json::json!({"a": "b"})),
        ("a list, which only", "type", "BPE".into()),
    ] {
        let mut other = file.clone();
        other["model"][name] = value;
        let error = tokenizer(&other).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// Compares with what the library `tokenizers` makes of the same texts. `KB_TOKENIZER` is a folder with folders of
/// `tokenizer.json` and `expected.jsonl`, whose lines are `{"text": ..., "ids": [...]}`:
/// `tests/corpus/models/make_tokenizers.py` makes some.
#[test]
fn tokens_are_those_of_the_library() {
    let Some(folder) = std::env::var_os("KB_TOKENIZER") else {
        eprintln!("skipped: KB_TOKENIZER is not set");
        return;
    };
    let folders = std::fs::read_dir(folder).unwrap();
    let mut differ = 0;
    for folder in folders.map(|entry| entry.unwrap().path()) {
        let path = folder.join("tokenizer.json");
        let tokenizer = Tokenizer::new(&path, &std::fs::read(&path).unwrap()).unwrap();
        let expected = std::fs::read_to_string(folder.join("expected.jsonl")).unwrap();
        let (mut lines, before) = (0, differ);
        for line in expected.lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = line["text"].as_str().unwrap();
            let ids: Vec<u32> = serde_json::from_value(line["ids"].clone()).unwrap();
            lines += 1;
            let tokens = tokenizer.encode(text, usize::MAX);
            if tokens != ids {
                differ += 1;
                if differ - before < 6 {
                    eprintln!("{text:?}: {tokens:?} {ids:?}");
                }
            }
        }
        eprintln!(
            "{}: {} of {lines} differ",
            folder.display(),
            differ - before
        );
        assert!(lines > 0);
    }
    assert_eq!(differ, 0);
}
