//! Words of other languages than English are found without their marks and in their other forms.

use kb_engine::{Kb, Mode, Request};

use super::{ask, kb_of};

fn found(kb: &Kb, query: &str) -> Vec<String> {
    let told = ask(kb, &Request::new(query).mode(Mode::Keyword));
    told.hits.into_iter().map(|hit| hit.document).collect()
}

#[test]
fn a_word_is_found_without_its_marks() {
    let (_folder, kb) = kb_of(&[
        (
            "de.md",
            "Der Zug f\u{e4}hrt von K\u{f6}ln an die Gro\u{df}e Br\u{fc}cke.\n",
        ),
        ("fr.md", "Le b\u{153}uf est pr\u{ea}t \u{e0} No\u{eb}l.\n"),
        (
            "ar.md",
            "\u{642}\u{64e}\u{644}\u{64e}\u{645}\u{64c} \u{637}\u{648}\u{64a}\u{644}\n",
        ),
        (
            "he.md",
            "\u{5e1}\u{5b5}\u{5e4}\u{5b6}\u{5e8} \u{5d2}\u{5d3}\u{5d5}\u{5dc}\n",
        ),
        ("other.md", "A garden with roses and a bench.\n"),
    ]);
    for (query, document) in [
        ("K\u{f6}ln", "de.md"),
        ("koln", "de.md"),
        ("Koeln", "de.md"),
        ("grosse", "de.md"),
        ("Bruecke", "de.md"),
        ("boeuf", "fr.md"),
        ("pret noel", "fr.md"),
        ("\u{642}\u{644}\u{645}", "ar.md"),
        ("\u{5e1}\u{5e4}\u{5e8}", "he.md"),
    ] {
        assert_eq!(found(&kb, query), [document], "{query}");
    }
}

#[test]
fn the_form_that_is_written_comes_first() {
    let (_folder, kb) = kb_of(&[
        (
            "plain.md",
            "A resume of the work, with a resume of the rest.\n",
        ),
        (
            "marked.md",
            "A r\u{e9}sum\u{e9} of the person, with a photo.\n",
        ),
        ("other.md", "A garden with roses and a bench.\n"),
    ]);
    assert_eq!(found(&kb, "r\u{e9}sum\u{e9}"), ["marked.md", "plain.md"]);
    assert_eq!(found(&kb, "resume").len(), 2);
    // What no text has as it is written is sought without marks.
    assert_eq!(found(&kb, "g\u{e1}rden"), ["other.md"]);
}

const GERMAN: &str = "Die H\u{e4}user am Hafen geh\u{f6}ren den Fischern. Sie bringen am Abend ihre Boote zur\u{fc}ck und verkaufen \
    am Morgen auf dem Markt, was sie in der Nacht gefangen haben.\n";
const GERMAN_TOO: &str = "Die Stra\u{df}en der Stadt sind leer, denn alle sind auf dem Feld und helfen bei der Ernte. Erst am \
    Abend kommen sie wieder und essen gemeinsam unter den B\u{e4}umen.\n";
const ENGLISH: &str = "The houses at the harbour belong to fishermen. They bring their boats back in the evening and sell \
    on the market what they caught during the night.\n";

#[test]
fn a_word_is_found_in_the_forms_of_its_language() {
    let (_folder, kb) = kb_of(&[("a.md", GERMAN), ("b.md", GERMAN_TOO), ("c.md", ENGLISH)]);
    assert_eq!(found(&kb, "Haus"), ["a.md"]);
    assert_eq!(found(&kb, "Baum"), ["b.md"]);
    assert_eq!(
        found(&kb, "wem geh\u{f6}rt das Boot des Fischers")[0],
        "a.md"
    );
    let told = ask(&kb, &Request::new("Haus").mode(Mode::Keyword));
    assert!(
        told.hits[0].text.contains("H\u{e4}user"),
        "{:?}",
        told.hits[0].text
    );
}

#[test]
fn stems_of_a_language_touch_no_english_word() {
    let queries = [
        "who brings the boats",
        "houses",
        "what did fishermen sell at the market",
    ];
    let alone = kb_of(&[("c.md", ENGLISH), ("d.md", "A garden with roses.\n")]);
    let beside = kb_of(&[("c.md", ENGLISH), ("a.md", GERMAN), ("b.md", GERMAN_TOO)]);
    for query in queries {
        assert_eq!(found(&alone.1, query), ["c.md"], "{query}");
        assert_eq!(found(&beside.1, query)[0], "c.md", "{query}");
    }
    assert_eq!(found(&beside.1, "houses"), ["c.md"]);
}
