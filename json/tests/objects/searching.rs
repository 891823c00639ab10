//! Objects of what is found.

use std::fs;
use std::time::Duration;

use kb_engine::{
    Mode, PageOptions, RegexOutput, RegexRequest, Request, Response, Show, SymbolRelation,
    SymbolsRequest, check_hits,
};

use crate::assert_shape;
use crate::example::Example;

const HIT: &str = "document handle title section section_number section_name score keyword_score
    vector_score start_line end_line start_byte end_byte file_type language class tags modified_ms
    size_bytes chunk_index chunks matches text";

/// The hit of a document, and the answer that has it.
fn hit(example: &Example, request: &Request, document: &str) -> (kb_json::Object, Response) {
    let mut response = example.kb.search(request).unwrap();
    let done = check_hits(
        &[&example.kb],
        &mut response.hits.items,
        Duration::from_secs(60),
    );
    assert!(done.unwrap());
    let hit = response.hits.iter().find(|hit| hit.document == document);
    (kb_json::hit(hit.unwrap(), None, request), response)
}

#[test]
fn a_hit_has_what_is_known_of_its_document() {
    let example = Example::new();
    let request = Request::new("lamp turns on mercury");
    let (object, response) = hit(&example, &request, "notes.md");
    assert_shape(&object, &format!("{{{HIT} metadata{{author date}}}}"));
    assert!(kb_json::explanation(&response).is_none());
    let object = kb_json::hit(&response.hits[0], Some("a.kb"), &request);
    assert!(
        object
            .finish()
            .starts_with(r#"{"file":"a.kb","document":""#)
    );
    let (object, _) = hit(&example, &request, "logs/lamp.py");
    let symbol = "symbol{kind name hierarchy signature start_line end_line}";
    assert_shape(&object, &format!("{{{HIT} {symbol}}}"));
    let request = Request::new("half tide beacon");
    let (object, _) = hit(&example, &request, "pilot-book.pdf");
    let part = "part{page total_pages source label}";
    assert_shape(&object, &format!("{{{HIT} {part}}}"));
}

#[test]
fn a_hit_has_more_where_its_request_asks_for_it() {
    let example = Example::new();
    fs::write(example.sources.join("notes.md"), "# Other").unwrap();
    let request = Request::new("colza burns nine hours")
        .mode(Mode::Keyword)
        .show(Show::whole().context_lines(2, 1))
        .explain(true);
    let (object, response) = hit(&example, &request, "notes.md");
    assert_shape(
        &object,
        &format!(
            "{{{HIT} stale metadata{{author date}} before after fused_score bonuses[{{bonus value score}}]
            terms[{{term frequency score}}]}}"
        ),
    );
    assert_shape(
        &kb_json::explanation(&response).unwrap(),
        "{explanation{mode verdict best_score chunks searched_chunks mean_length vector_weight code_share
        intent definition_of score_slope score_constant model model_words model_words_known keyword_candidates
        vector_candidates vector_rows vector_rows_read vector_rows_compared terms[{term chunks idf weight}]
        steps[{step micros}]}}",
    );
}

#[test]
fn an_answer_says_which_words_no_document_has() {
    let example = Example::new();
    let found = |query: &str| {
        let request = Request::new(query).mode(Mode::Keyword);
        kb_json::spelling(&example.kb.search(&request).unwrap())
    };
    assert_shape(
        &found("colza burrns ADR-086"),
        "{corrections[{from to start_byte end_byte}] missing}",
    );
    let told = r#"{"corrections":[{"from":"burrns","to":"burns","start_byte":6,"end_byte":12}],"missing":["ADR-086"]}"#;
    assert_eq!(found("colza burrns ADR-086").finish(), told);
    let nothing = r#"{"corrections":[],"missing":[]}"#;
    assert_eq!(found("colza burns").finish(), nothing);
}

#[test]
fn a_hit_says_what_of_it_was_cut() {
    let example = Example::new();
    let request = Request::new("half tide beacon").show(Show::whole().context_lines(1, 1));
    let (_, response) = hit(&example, &request, "pilot-book.pdf");
    let mut cut = response.hits[0].clone();
    cut.part = None;
    cut.begins_within_line = true;
    cut.ends_within_line = true;
    cut.before_is_cut = true;
    cut.after_is_cut = true;
    let fields = "begins_within_line ends_within_line before before_is_cut after after_is_cut";
    let object = kb_json::hit(&cut, None, &request);
    assert_shape(&object, &format!("{{{HIT} {fields}}}"));
}

#[test]
fn a_match_is_a_line_a_document_or_a_count() {
    let example = Example::new();
    let found = |pattern: &str, output: RegexOutput, file: Option<&str>| {
        let request = RegexRequest::new(pattern).output(output);
        let response = example.kb.search_regex(&request).unwrap();
        kb_json::regex_match(&response.matches[0], file, output)
    };
    assert_shape(
        &found("Colza", RegexOutput::Lines, None),
        "{document handle file_type start_line end_line text matches}",
    );
    assert_shape(
        &found("beacon", RegexOutput::Lines, Some("a.kb")),
        "{file document handle file_type start_line end_line text matches part{page total_pages source label}}",
    );
    assert_shape(
        &found("Colza", RegexOutput::Documents, None),
        "{document handle file_type}",
    );
    assert_shape(
        &found("Colza", RegexOutput::Counts, None),
        "{document handle file_type matching_lines}",
    );
    let response = example
        .kb
        .search_regex(&RegexRequest::new("Colza"))
        .unwrap();
    let mut cut = response.matches[0].clone();
    cut.lines_are_of_passage = true;
    cut.begins_within_line = true;
    cut.ends_within_line = true;
    assert_shape(
        &kb_json::regex_match(&cut, None, RegexOutput::Lines),
        "{document handle file_type start_line end_line text matches lines_are_of_passage
        begins_within_line ends_within_line}",
    );
}

#[test]
fn a_symbol_has_the_lines_of_uses_that_were_asked_for() {
    let example = Example::new();
    let found = |request: &SymbolsRequest, file: Option<&str>| {
        let response = example.kb.symbols(request).unwrap();
        kb_json::symbol(&response.symbols[0], file)
    };
    let fields = "document handle start_line end_line kind name hierarchy signature language";
    let all = SymbolsRequest::new();
    assert_shape(&found(&all, None), &format!("{{{fields}}}"));
    assert_shape(&found(&all, Some("a.kb")), &format!("{{file {fields}}}"));
    let users = SymbolsRequest::new().relation(SymbolRelation::Uses("turn".to_owned()));
    let fields = format!("{{{fields} used_in_lines called_in_lines}}");
    assert_shape(&found(&users, None), &fields);
}

#[test]
fn an_answer_in_part_ends_with_where_it_goes_on() {
    let example = Example::new();
    let page = PageOptions::default().max_tokens(1);
    let part = example.kb.documents(None, true, &page).unwrap();
    let object = kb_json::paging(part.tokens, part.over_budget, part.next.as_ref());
    assert_shape(
        &object,
        "{paging{tokens over_budget has_more continuation}}",
    );
    let text = object.finish();
    let next = part.next.unwrap().to_string();
    assert!(
        text.ends_with(&format!(r#""has_more":true,"continuation":"{next}"}}}}"#)),
        "{text}"
    );
}
