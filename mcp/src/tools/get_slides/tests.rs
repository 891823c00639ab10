use serde_json::json;

use crate::tools::testing::{Fixture, parts};

#[test]
fn slides_have_titles_texts_and_notes() {
    let fixture = Fixture::harbour(&[]);
    let given = json!({"document_id": "talk.pptx", "slide_numbers": "1-2"});
    let answer = fixture.answer("get_slides", given);
    let expected = json!({
        "slides": [
            {
                "slide_number": 1,
                "title": "The new lens",
                "content": "The new lens\n\nTwelve panels of ground glass.\n",
                "notes": "Show the old one.\n",
            },
            {"slide_number": 2, "content": "It turns on mercury.\n", "hidden": true},
        ],
        "total_slides": 3,
        "token_count": answer.structured["data"]["token_count"],
    });
    assert_eq!(answer.structured["data"], expected);
    let told = "talk.pptx:1-4  slide 1 of 3  The new lens\n```\nThe new lens\n\nTwelve panels of ground glass.\n\
                ```\nNotes:\n```\nShow the old one.\n```\ntalk.pptx:5-5  slide 2 of 3, hidden\n";
    assert!(answer.text.starts_with(told), "{}", answer.text);
}

#[test]
fn an_empty_presentation_is_said_to_be_one() {
    let fixture = Fixture::new("empty", &[]);
    fixture.add_documents(vec![parts::deck(&[])]);
    let answer = fixture.answer("get_slides", json!({"document_id": "deck.odp"}));
    assert_eq!(answer.structured["data"]["total_slides"], 0);
    let told = "the presentation is empty: it has no slides";
    assert_eq!(answer.structured["warnings"], json!([told]));
    assert!(answer.text.contains(told), "{}", answer.text);
}

#[test]
fn a_hit_leads_to_its_slide() {
    let fixture = Fixture::harbour(&[]);
    let hits = fixture.answer("search", json!({"query": "mercury", "scope": "chunks"}));
    let hit = &hits.structured["data"]["results"][0];
    let location = json!({"document_type": "pptx", "slide": 2, "start_line": 5, "end_line": 5});
    assert_eq!(hit["location"], location);
    assert!(
        hits.text.contains("1. talk.pptx slide 2  score "),
        "{}",
        hits.text
    );
    let given =
        json!({"document_id": hit["document_id"], "slide_numbers": hit["location"]["slide"]});
    let answer = fixture.answer("get_slides", given);
    let slide = &answer.structured["data"]["slides"][0];
    assert_eq!(slide["content"], "It turns on mercury.\n");
    let named = fixture.answer("get_slides", json!({"document_id": "talk.pptx:5"}));
    assert_eq!(named.structured["data"], answer.structured["data"]);
}

#[test]
fn slides_outside_of_the_presentation_are_refused() {
    let fixture = Fixture::harbour(&[]);
    let refused = |document: &str, numbers: &str| {
        let given = json!({"document_id": document, "slide_numbers": numbers});
        fixture.error("get_slides", given)
    };
    for numbers in ["4", "0", "3-1", "9-999999"] {
        let error = refused("talk.pptx", numbers);
        assert_eq!(
            (error.code, &error.facts["total_slides"]),
            ("INVALID_RANGE", &json!(3))
        );
    }
    let told = refused("talk.pptx", "one").text();
    assert!(
        told.starts_with("INVALID_RANGE: slide_numbers: \"one\" is not a list of slides. "),
        "{told}"
    );
    assert_eq!(
        refused("ledger.xlsx", "1").text(),
        "UNSUPPORTED_DOCUMENT_TYPE: \"ledger.xlsx\" has no slides, but sheets. get_sheet_data reads it."
    );
    let whole = fixture.answer(
        "get_slides",
        json!({"document_id": "talk.pptx", "slide_numbers": "2-999999"}),
    );
    assert_eq!(
        whole.structured["data"]["slides"].as_array().unwrap().len(),
        2
    );
}
