//! Compares the numbers and lists of `format-spec/scores.md` and `format-spec/analysis.md` with the code.

use super::spec::{constant, read, rows, section};

/// The value of a field of a constant struct, as its source has it.
#[track_caller]
fn field(file: &str, constant: &str, name: &str) -> String {
    let source = read(file);
    let (_, body) = source
        .split_once(&format!("const {constant}: "))
        .unwrap_or_else(|| panic!("no {constant} in {file}"));
    let (body, _) = body.split_once("\n};").expect("its end");
    let line = body
        .lines()
        .find_map(|line| line.trim().strip_prefix(&format!("{name}: ")));
    let value = line.unwrap_or_else(|| panic!("no {name} in {constant}"));
    value.trim_end_matches(',').to_owned()
}

#[test]
fn constants_of_scores_are_those_of_the_code() {
    let page = read("format-spec/scores.md");
    let search = "engine/src/search";
    let keyword = "engine/src/index/keyword";
    let weights = format!("{search}/rank/weights.rs");
    let coded = [
        (
            "candidates",
            "engine/src/index/vector/knn/effort.rs".to_owned(),
            "MIN_CANDIDATES",
        ),
        ("k1", format!("{keyword}/bm25.rs"), "K1"),
        ("b", format!("{keyword}/bm25.rs"), "B"),
        (
            "form share",
            format!("{keyword}/query/keyword_query/forms.rs"),
            "FOLDED_SHARE",
        ),
        (
            "stem share",
            format!("{keyword}/query/keyword_query/forms.rs"),
            "STEM_SHARE",
        ),
        (
            "least weight",
            format!("{keyword}/query/keyword_query/forms.rs"),
            "LEAST_WEIGHT",
        ),
        (
            "searched terms",
            format!("{keyword}/query/keyword_query/searched.rs"),
            "SEARCHED_TERMS",
        ),
        (
            "characters",
            format!("{keyword}/query/character_rows.rs"),
            "CHARACTERS_LIMIT",
        ),
        (
            "least word weight",
            "engine/src/embed/static_model.rs".to_owned(),
            "LEAST_WORD_WEIGHT",
        ),
        (
            "join share",
            format!("{search}/rank/passages.rs"),
            "JOIN_SHARE",
        ),
        (
            "join bytes",
            format!("{search}/rank/passages.rs"),
            "JOIN_LIMIT_BYTES",
        ),
        ("first", format!("{search}/rank/spread.rs"), "FIRST"),
        (
            "passages of a document",
            format!("{search}/rank/spread.rs"),
            "OF_DOCUMENT",
        ),
        (
            "much better",
            format!("{search}/rank/spread.rs"),
            "MUCH_BETTER",
        ),
        (
            "near rank",
            format!("{search}/retrieve/signals.rs"),
            "NEAR_RANK",
        ),
        (
            "near share",
            format!("{search}/retrieve/signals.rs"),
            "NEAR_SHARE",
        ),
        (
            "every term",
            format!("{search}/calibration/mod.rs"),
            "EVERY_TERM_FUSED",
        ),
        (
            "missing odds",
            format!("{search}/calibration/mod.rs"),
            "MISSING_ODDS",
        ),
        (
            "least chunks",
            format!("{search}/calibration/mod.rs"),
            "LEAST_CHUNKS",
        ),
        (
            "relevant score",
            format!("{search}/relevance.rs"),
            "RELEVANT_SCORE",
        ),
    ];
    let mut coded: Vec<[String; 2]> = coded
        .into_iter()
        .map(|(name, file, of_code)| [name.to_owned(), constant(&file, of_code)])
        .collect();
    for (name, of_code) in [
        ("prose", "vector_in_prose"),
        ("code", "vector_in_code"),
        ("code, question", "vector_in_code_for_questions"),
    ] {
        coded.push([name.to_owned(), field(&weights, "RANK_WEIGHTS", of_code)]);
    }
    coded.sort();
    let mut told = rows(section(&page, "## Constants"));
    told.sort();
    assert_eq!(told, coded);
}

#[test]
fn weights_of_the_calibration_are_those_of_the_code() {
    let page = read("format-spec/scores.md");
    let file = "engine/src/search/calibration/table.rs";
    let told = rows(section(&page, "## The score of a hit"));
    // The next table of the section has two columns.
    let told: Vec<_> = told.into_iter().filter(|row| row.len() == 4).collect();
    assert_eq!(told.len(), 6);
    for row in told {
        for (value, of_scores) in row.iter().skip(1).zip(["HYBRID", "KEYWORD", "SEMANTIC"]) {
            let coded = match row[0] {
                "fused" => constant(file, "FUSED_WEIGHT"),
                name => field(file, of_scores, name),
            };
            assert_eq!(*value, coded, "{} of {of_scores}", row[0]);
        }
    }
}

#[test]
fn lists_of_the_analyser_are_those_of_the_code() {
    let page = read("format-spec/analysis.md");
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let folder = "engine/src/index/keyword/analysis";
    let source = read(&format!("{folder}/script_class.rs"));
    let blocks = |name: &str| -> Vec<String> {
        let (_, list) = source.split_once(&format!("const {name}: ")).expect(name);
        let (list, _) = list.split_once("];").expect("its end");
        let pairs = list
            .lines()
            .filter_map(|line| line.trim().strip_prefix("(0x"));
        pairs
            .map(|pair| {
                pair.split(')')
                    .next()
                    .unwrap_or_default()
                    .replace(", 0x", "-")
            })
            .collect()
    };
    for name in ["BIGRAM_BLOCKS", "SYMBOL_BLOCKS"] {
        let blocks = blocks(name);
        assert!(blocks.len() > 5, "{name}: {blocks:?}");
        assert!(
            words.contains(&format!("```text {} ```", blocks.join(" "))),
            "{name}"
        );
    }
    let quoted = |file: &str, name: &str| -> Vec<String> {
        let source = read(&format!("{folder}/{file}"));
        let (_, list) = source.split_once(&format!("const {name}: ")).expect(name);
        let (list, _) = list.split_once("];").expect("its end");
        list.split('"')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    let stop_words = quoted("stop_words.rs", "STOP_WORDS").join(", ");
    assert!(
        words.contains(&format!("**Stop words**: {stop_words}.")),
        "{stop_words}"
    );
    let languages = quoted("language.rs", "LANGUAGES").join("`, `");
    assert!(
        words.contains(&format!("Languages: `{languages}`.")),
        "{languages}"
    );
    let names = quoted("joined_words.rs", "PLUS_NAMES").join("`, `");
    assert!(words.contains(&format!("`{names}` in any case")), "{names}");
    let id = constant(&format!("{folder}/tokenizer/mod.rs"), "ANALYSER_ID");
    assert!(
        words.contains(&format!("`{}`", id.trim_matches('"'))),
        "{id}"
    );
}
