//! Words that no document has: slips are corrected, identifiers are said to be missing.

use kb_engine::{Kb, Mode, Request, Response};
use tempfile::TempDir;

use super::{ask, file};

fn kb() -> (TempDir, Kb) {
    let folder = tempfile::tempdir().expect("folder");
    let documents = [
        (
            "keys.md",
            "Keep separate tables for keys. Each configuration has its own.\n",
        ),
        (
            "mail.md",
            "The server will receive a message and store it.\n",
        ),
        (
            "adr.md",
            "# ADR-085\n\nThe decision ADR-085 says that errors have codes. See E0998.\n",
        ),
        (
            "run.rs",
            "/// Frobnicates one thing.\npub fn frobnicate_one(all: &[u8]) {}\n\nlet readTimeout = 3;\n",
        ),
        ("other.md", "Roses transform a garden with a bench.\n"),
    ];
    let documents = documents.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let kb = file(&folder, "spelling.kb", &documents, 2);
    (folder, kb)
}

fn keyword(kb: &Kb, query: &str) -> Response {
    ask(kb, &Request::new(query).mode(Mode::Keyword))
}

fn corrected(response: &Response) -> Vec<(&str, &str)> {
    let corrections = response.corrections.iter();
    corrections
        .map(|it| (it.from.as_str(), it.to.as_str()))
        .collect()
}

#[test]
fn a_slip_is_searched_as_the_word_that_it_is_spelled_like() {
    let (_folder, kb) = kb();
    for (query, from, to, document) in [
        ("seperate", "seperate", "separate", "keys.md"),
        ("seperate keys", "seperate", "separate", "keys.md"),
        ("Seperate tables", "Seperate", "separate", "keys.md"),
        ("esparate keys", "esparate", "separate", "keys.md"),
        ("oseparate keys", "oseparate", "separate", "keys.md"),
        ("sepearte keys", "sepearte", "separate", "keys.md"),
        (
            "which configuraton is used?",
            "configuraton",
            "configuration",
            "keys.md",
        ),
        ("recieve a message", "recieve", "receive", "mail.md"),
        ("where do rosse grow", "rosse", "roses", "other.md"),
    ] {
        let told = keyword(&kb, query);
        assert_eq!(corrected(&told), [(from, to)], "{query}");
        assert_eq!(query.get(told.corrections[0].span.clone()), Some(from));
        assert_eq!(
            told.hits.first().map(|hit| hit.document.as_str()),
            Some(document),
            "{query}"
        );
        let warning = format!("no document has {from}: showing results for {to}");
        assert!(
            told.warnings.iter().any(|it| it.starts_with(&warning)),
            "{:?}",
            told.warnings
        );
    }
}

#[test]
fn the_usual_spelling_of_a_word_of_the_model_is_offered() {
    let folder = tempfile::tempdir().expect("folder");
    let mut documents: Vec<(String, String)> = (0..40)
        .map(|number| {
            let text = format!("The postal address of harbour {number} in this environment.\n");
            (format!("{number}.md"), text)
        })
        .collect();
    let slip = "An adress of a lighthouse, and a filer of sharp tools.\n";
    documents.push(("slip.md".to_owned(), slip.to_owned()));
    let file_of = "Each file of the harbour.\n".to_owned();
    documents.extend((40..80).map(|number| (format!("{number}.md"), file_of.clone())));
    let kb = file(&folder, "offers.kb", &documents, 2);
    let offered = |query: &str| {
        let told = keyword(&kb, query);
        assert!(told.corrections.is_empty(), "{query}");
        let warnings = told.warnings.iter();
        let offers = warnings.filter(|it| it.starts_with("did you mean"));
        (offers.cloned().collect::<Vec<_>>(), told.hits.items)
    };
    // No document has this one, and one has the other, which is still found.
    let (told, hits) = offered("enviroment");
    assert_eq!(told, ["did you mean environment for enviroment?"]);
    assert!(hits.is_empty());
    let (told, hits) = offered("Adress of the lighthouse");
    assert_eq!(told, ["did you mean address for Adress?"]);
    assert_eq!(hits[0].document, "slip.md");
    // Words that are written otherwise on purpose.
    for query in [
        "address",
        "filer",
        "\"adress\"",
        "the Adress",
        "environment adress.md",
    ] {
        assert!(offered(query).0.is_empty(), "{query}");
    }
    let exact = ask(&kb, &Request::new("adress").mode(Mode::Keyword).exact(true));
    assert!(exact.warnings.is_empty(), "{:?}", exact.warnings);
}

#[test]
fn what_is_no_slip_is_searched_as_it_is_written() {
    let (_folder, kb) = kb();
    for query in [
        "separate",
        "\"seperate\" keys",
        "seperate_keys",
        "src/seperate",
        "the keys of Seperate",
        "`seperate` keys",
        // Words of the model.
        "transport",
        "gardens",
    ] {
        assert!(corrected(&keyword(&kb, query)).is_empty(), "{query}");
    }
    let told = ask(
        &kb,
        &Request::new("seperate").mode(Mode::Keyword).exact(true),
    );
    assert!(told.corrections.is_empty() && told.hits.is_empty());
}

#[test]
fn an_identifier_that_no_document_has_is_missing() {
    let (_folder, kb) = kb();
    for (query, missing) in [
        ("ADR-086", "ADR-086"),
        ("what does ADR-086 say", "ADR-086"),
        ("E0999", "E0999"),
        ("frobnicate_all", "frobnicate_all"),
    ] {
        for mode in [Mode::Keyword, Mode::Hybrid] {
            let told = ask(&kb, &Request::new(query).mode(mode));
            assert_eq!(told.missing, [missing], "{query}");
            assert!(
                told.hits.iter().all(|hit| hit.score < 0.5),
                "{query} {mode:?}"
            );
            let warning = format!("no document has {missing}");
            assert!(told.warnings.contains(&warning), "{:?}", told.warnings);
        }
    }
    for query in ["ADR-085", "E0998", "frobnicate_one", "read_timeout", "keys"] {
        let told = ask(&kb, &Request::new(query));
        assert!(told.missing.is_empty(), "{query}: {:?}", told.missing);
    }
    let best = ask(&kb, &Request::new("ADR-085")).hits.items.remove(0);
    assert!(best.score > 0.5 && best.document == "adr.md");
    // One of many things that are asked for.
    let told = ask(
        &kb,
        &Request::new("which server will receive a message and store it in E0999"),
    );
    assert!(told.missing == ["E0999"] && told.hits[0].score > 0.5);
}
