//! Every text that a user can type, through the whole request path: a question, a glob, a path, a name,
//! a tag, a section, a continuation. No panic, an answer or an error with a code, bounded memory, and
//! answers that agree with each other.

use kb_engine::{Filters, Hit, Kb, KbWriter, Mode, PageOptions, Request, Scope, Show, Sort};
use serde_json::json;

use super::budget::measured;
use super::{begin, ended, seeds, word};
use crate::mcp::client::Client;
use crate::support::{Folder, Random};

/// Most bytes that one request may hold on this small file, whatever is asked.
const HELD_BYTES: usize = 48 << 20;

/// Most bytes that one request may ask the allocator for: its work.
const ASKED_BYTES: u64 = 1 << 30;

/// Texts of a user who means well.
const USUAL: [&str; 24] = [
    "lighthouse keeper",
    "how is the lamp maintained",
    "\"fog signal\"",
    "\"fog signal\" -\"twice a minute\"",
    "storm -lamp",
    "+lamp +\"a shore\"",
    "title:guide",
    "title:\"the guide\" lamp",
    "path:docs/*.md lamp",
    "path:**/*.rs",
    "type:markdown lamp",
    "lang:rust predict",
    "tag:seen lamp",
    "std::vec::Vec",
    "predict_high_water(hours)",
    "error[E0308]: mismatched types",
    "-x",
    "- text",
    "--flag of git",
    "what is 1 + 1?",
    "灯台の番人",
    "灯",
    "café naïve",
    "kb://a/doc/docs/guide.md",
];

/// Pieces that parsers stumble over.
const PIECES: [&str; 46] = [
    "\"",
    "'",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "{{",
    "}}",
    "*",
    "**",
    "?",
    "!",
    "-",
    "+",
    ":",
    "/",
    "\\",
    "\\\\",
    ",",
    ".",
    "..",
    "~",
    "^",
    "|",
    "&",
    "#",
    "%",
    "%2e",
    "%00",
    "\0",
    "\n",
    "\r\n",
    "\t",
    "\u{1b}[31m",
    "\u{202e}",
    "\u{feff}",
    "\u{301}",
    "\u{1f600}",
    "\u{200b}",
    "title:",
    "path:",
    "-\"",
    "+\"",
    " ",
];

fn text(random: &mut Random) -> String {
    let mut text = (*random.one_of(&USUAL)).to_owned();
    for _ in 0..random.below(6) {
        let at = text.floor_char_boundary(random.below(text.len() + 1));
        let piece = *random.one_of(&PIECES);
        match random.below(6) {
            0 => text.insert_str(at, &piece.repeat(1 + random.below(3000))),
            1 => text.truncate(at),
            2 => text.insert_str(at, &(*random.one_of(&USUAL)).repeat(1 + random.below(20))),
            _ => text.insert_str(at, piece),
        }
    }
    text.truncate(text.floor_char_boundary(60_000));
    text
}

fn request(random: &mut Random) -> Request {
    let mut request = Request::new(text(random));
    request.mode = *random.one_of(&Mode::ALL);
    request.scope = *random.one_of(&Scope::ALL);
    let order = *random.one_of(&["score", "recency", "path", "-size"]);
    request.sort = Sort::from_name(order).unwrap();
    request.plain = random.below(8) == 0;
    request.explain = random.below(4) == 0;
    request.k = *random.one_of(&[1, 3, 10, 100, 10_000]);
    if random.below(4) == 0 {
        let (before, after) = (random.below(5) as u32, random.below(5) as u32);
        request.show = Show::whole().context_lines(before, after);
    }
    if random.below(3) == 0 {
        let typed = |random: &mut Random| match random.below(2) {
            0 => Vec::new(),
            _ => vec![text(random)],
        };
        request.filters = Filters::new()
            .paths(typed(random))
            .types(typed(random))
            .languages(typed(random))
            .tags(typed(random))
            .folders(typed(random));
    }
    request
}

/// The file of these trials: prose, code, other scripts, one long line.
fn file(folder: &Folder) -> Kb {
    let path = folder.join("words.kb");
    let mut writer = KbWriter::open_or_create(&path).expect("writer");
    for (name, text) in crate::support::CORPUS {
        writer.add_bytes(name, text.as_bytes()).expect("added");
    }
    for number in 0..150 {
        let text = format!(
            "# Guide {number}\n\nThe {} lamp of the lighthouse stands on a shore.\nA fog signal \
             sounds twice a minute. 灯台の番人は毎晩灯を点ける。\n",
            word(number)
        );
        writer
            .add_bytes(&format!("many/{number}.md"), text.as_bytes())
            .expect("added");
    }
    let line = "one long line about a lamp ".repeat(20_000);
    writer
        .add_bytes("long.txt", line.as_bytes())
        .expect("added");
    writer.commit().expect("committed");
    writer.tag("docs/guide.md", &["seen"], &[]).expect("tagged");
    writer.commit().expect("committed");
    Kb::open(&path).expect("it opens")
}

/// What tells hits apart.
fn facts(hits: &[Hit]) -> Vec<(String, std::ops::Range<u32>, u32)> {
    let fact = |hit: &Hit| {
        (
            hit.document.clone(),
            hit.span.start..hit.span.end,
            hit.score.to_bits(),
        )
    };
    hits.iter().map(fact).collect()
}

/// Asks within the budget; `None` for an error, which must have a code and be short.
fn ask(kb: &Kb, request: &Request) -> Option<kb_engine::Response> {
    let (told, held, asked) = measured(|| kb.search(request));
    assert!(held <= HELD_BYTES, "{held} bytes held: {request:?}");
    assert!(asked <= ASKED_BYTES, "{asked} bytes asked for: {request:?}");
    match told {
        Ok(told) => Some(told),
        Err(error) => {
            let codes = ["INVALID_ARGUMENT", "FOLDER_NOT_FOUND"];
            assert!(codes.contains(&error.code()), "{error}: {request:?}");
            let is_short = error.to_string().len() < 2000;
            assert!(is_short || error.code() == "FOLDER_NOT_FOUND", "{error}");
            None
        }
    }
}

/// The first hits are the same however many are asked for, and however they are cut into parts.
fn check_parts(kb: &Kb, request: &Request) {
    let of = |k: usize| {
        let request = request.clone().k(k);
        ask(kb, &request).map(|told| facts(&told.hits))
    };
    let (Some(ten), Some(twenty)) = (of(10), of(20)) else {
        return;
    };
    assert_eq!(ten, twenty[..ten.len()], "{request:?}");
    assert_eq!(ten.len(), twenty.len().min(10), "{request:?}");
    let mut parts = Vec::new();
    let mut part = request.clone().k(7);
    while parts.len() < 20 {
        let told = ask(kb, &part).expect("it was answered before");
        parts.extend(facts(&told.hits));
        part.page.cursor = told.hits.next;
        if part.page.cursor.is_none() {
            break;
        }
    }
    let len = parts.len().min(twenty.len());
    assert_eq!(parts[..len], twenty[..len], "{request:?}");
    assert!(parts.len() >= twenty.len(), "{request:?}");
}

#[test]
fn whatever_is_typed_is_answered_within_bounds_and_consistently() {
    let folder = Folder::empty();
    let kb = file(&folder);
    // What is loaded once belongs to nobody's request.
    for mode in Mode::ALL {
        let _ = kb.search(&Request::new("lamp").mode(mode));
    }
    for seed in seeds(150) {
        let mut random = begin("words", seed);
        let request = request(&mut random);
        let Some(told) = ask(&kb, &request) else {
            continue;
        };
        let again = ask(&kb, &request).expect("an answer");
        assert_eq!(facts(&told.hits), facts(&again.hits), "{request:?}");
        assert_eq!(told.warnings, again.warnings, "{request:?}");
        check_parts(&kb, &request);
        for typed in [text(&mut random), text(&mut random)] {
            // Each of these is a name that somebody typed.
            let page = PageOptions::default().cursor(typed.clone().into());
            let (_, held, _) = measured(|| {
                let _ = kb.text(&typed, None);
                let _ = kb.outline(&typed);
                let _ = kb.chunk_spans(&typed);
                let _ = kb.list(Some(&typed), &kb_engine::PageOptions::default());
                let _ = kb.section_text("docs/guide.md", &typed, &PageOptions::default());
                let _ = kb.documents(Some(&typed), true, &page);
                let _ = kb.search(&Request::new(&typed).page(page.clone()));
            });
            assert!(held <= HELD_BYTES, "{held} bytes held: {typed:?}");
        }
    }
}

/// Whether the words stand in the text in a row, as written but for case and what is between them.
fn has_words(text: &str, phrase: &str) -> bool {
    let words = |text: &str| -> String {
        let words = text.split(|c: char| !c.is_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        format!(" {} ", words.join(" ").to_lowercase())
    };
    match phrase.is_ascii() {
        true => words(text).contains(&words(phrase)),
        // No spaces between the words of this script.
        false => text.contains(phrase),
    }
}

/// All parts of an answer.
fn all_hits(kb: &Kb, mode: Mode, query: String) -> Vec<Hit> {
    let mut hits = Vec::new();
    // Where a joined passage begins depends on the scores of the chunks beside it, which an exclusion may take away.
    let mut request = Request::new(query).mode(mode).k(10_000).join(false);
    loop {
        let told = ask(kb, &request).expect("an answer");
        request.page.cursor = told.hits.next.clone();
        hits.extend(told.hits);
        if request.page.cursor.is_none() {
            return hits;
        }
    }
}

#[test]
fn an_exclusion_takes_hits_away_and_adds_none() {
    let folder = Folder::empty();
    let kb = file(&folder);
    let usual = [
        "lighthouse keeper",
        "lamp",
        "fog signal minute",
        "storm",
        "灯台",
        "predict water",
    ];
    let excluded = [
        "fog signal",
        "a shore",
        "lamp",
        "trim the wick",
        "番人",
        "high water",
    ];
    for seed in seeds(20) {
        let mut random = begin("exclusions", seed);
        let (query, phrase) = (*random.one_of(&usual), *random.one_of(&excluded));
        for mode in Mode::ALL {
            let hits = |query: String| all_hits(&kb, mode, query);
            let all: Vec<_> = hits(query.to_owned());
            let places = |hits: &[Hit]| -> Vec<(String, u32)> {
                hits.iter()
                    .map(|hit| (hit.document.clone(), hit.span.start))
                    .collect()
            };
            let (before, left) = (places(&all), hits(format!("{query} -\"{phrase}\"")));
            println!(
                "{mode:?} {query:?} -{phrase:?}: {} of {}",
                left.len(),
                all.len()
            );
            for place in places(&left) {
                assert!(
                    before.contains(&place),
                    "{mode:?} {query:?} -{phrase:?} adds {place:?}"
                );
            }
            for hit in &left {
                let is_in = has_words(&hit.text, phrase);
                assert!(
                    !is_in,
                    "{mode:?} {query:?} -{phrase:?} gives {:?}",
                    hit.text
                );
            }
        }
    }
}

#[test]
fn whatever_is_typed_passes_the_command_line_and_the_server() {
    let folder = Folder::empty();
    drop(file(&folder));
    let mut client = Client::stdio(&folder, &["words.kb"]);
    for seed in seeds(12) {
        let mut random = begin("typed", seed);
        let typed: Vec<String> = (0..3).map(|_| text(&mut random)).collect();
        let [query, glob, name] = typed.as_slice() else {
            unreachable!()
        };
        for (tool, arguments) in [
            ("search", json!({"query": query, "filters": {"path": glob}})),
            ("search_docs", json!({"query": query, "topK": 3})),
            ("search_code", json!({"query": query})),
            ("get_document", json!({"doc_handle": name})),
            (
                "list_documents",
                json!({"folder": name, "continuation": glob}),
            ),
        ] {
            let told = client.call(tool, arguments);
            assert!(told["content"].is_array(), "{tool}: {told}");
        }
        // The system passes no NUL, and no argument of any length.
        let typed: Vec<String> = typed
            .iter()
            .map(|text| text.replace('\0', "").chars().take(20_000).collect())
            .collect();
        let [query, glob, name] = typed.as_slice() else {
            unreachable!()
        };
        for arguments in [
            vec!["search", "--json", "--path", glob, "--", query],
            vec!["search", query],
            vec!["get", "--", name],
            vec!["ls", "--", name],
            vec!["tag", "docs/guide.md", "--add", name],
        ] {
            let mut command = folder.command();
            command.args(&arguments);
            let told = ended(&folder, command);
            assert!(matches!(told.code, Some(0..=2)), "{arguments:?}: {told:#?}");
            assert!(
                !told.stderr.contains("panicked"),
                "{arguments:?}: {told:#?}"
            );
            assert!(
                told.code != Some(2) || told.stderr.contains("error"),
                "{arguments:?}: {told:#?}"
            );
        }
    }
}
