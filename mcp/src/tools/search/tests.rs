use kb_engine::{KbWriter, SourceInfo, document_of};
use serde_json::{Value, json};

use crate::tools::testing::Fixture;

#[test]
fn results_have_document_and_location() {
    let fixture = Fixture::guides();
    let answer = fixture.answer(
        "search",
        json!({"query": "how are sails mended", "max_tokens": 2000}),
    );
    let first = &answer.structured["data"]["results"][0];
    assert_eq!(first["document_id"], "guides/sails.md");
    assert_eq!(first["title"], "Sails");
    assert_eq!(first["metadata"]["document_type"], "markdown");
    assert_eq!(first["location"]["section"], "Sails > Mending");
    assert!(first["preview"].as_str().unwrap().contains("wax"));
    assert_eq!(answer.structured["status"]["message"], "SEARCH_COMPLETED");
}

#[test]
fn a_section_as_returned_reads_the_lines() {
    let text = "# A\n\n## Use\n\na walrus\n\n# B\n\n## Use\n\na walrus on ice\n";
    let fixture = Fixture::new("a", &[("a.md", text)]);
    for tool in ["search", "search_docs"] {
        let answer = fixture.answer(tool, json!({"query": "walrus ice"}));
        let whole = serde_json::Value::Object(answer.structured);
        let section = whole
            .pointer("/data/results/0/location/section")
            .or(whole.pointer("/results/0/section"));
        assert_eq!(section, Some(&json!("B > Use")), "{whole}");
        let given = json!({"document_id": "a.md", "section": section});
        let read = fixture.answer("get_document_data", given);
        let content = &read.structured["data"]["content"];
        assert_eq!(*content, "## Use\n\na walrus on ice\n");
    }
}

/// What S1-17 and S3-11 name, and no more; the rest comes when it is asked for.
#[test]
fn results_have_what_the_contracts_name_and_the_rest_with_full() {
    let page = "---\nauthor: Ada\ntags: [sea]\n---\n# Log\n\nA walrus sleeps on ice.\n";
    let fixture = Fixture::new("log", &[("log.md", page)]);
    let mut given = json!({"query": "walrus ice", "mode": "keyword"});
    let first = |given: &serde_json::Value| {
        let answer = fixture.answer("search", given.clone());
        let first = answer.structured["data"]["results"][0].clone();
        (first, answer.text)
    };
    let (result, text) = first(&given);
    let mut fields: Vec<&String> = result.as_object().unwrap().keys().collect();
    fields.sort();
    let of_s1 = ["doc_handle", "title", "updated", "approx_size"];
    let of_s3 = [
        "document_id",
        "preview",
        "score",
        "location",
        "context",
        "metadata",
    ];
    let mut wanted = [&of_s1[..], &of_s3[..]].concat();
    wanted.sort_unstable();
    assert_eq!(fields, wanted, "S1-17, S3-11");
    assert_eq!(result["metadata"], json!({"document_type": "markdown"}));
    assert!(
        !text.contains("kb://") && !text.contains("author Ada"),
        "{text}"
    );
    given["full"] = json!(true);
    let (result, text) = first(&given);
    assert_eq!(result["uri"], "kb://log/doc/log.md");
    assert_eq!(result["metadata"]["author"], "Ada");
    assert_eq!(result["metadata"]["tags"], json!(["sea"]));
    assert!(
        text.contains("kb://log/doc/log.md")
            && text.contains("author Ada")
            && text.contains("tags sea")
    );
}

#[test]
fn results_have_context_and_author() {
    let line = "The mate counts every rope on the deck and writes it down.\n";
    let text = format!(
        "---\nauthor: Ada\n---\n# Log\n\n{}A walrus!\n\n{}",
        line.repeat(90),
        line.repeat(90)
    );
    let fixture = Fixture::new("log", &[("log.md", &text)]);
    let answer = fixture.answer(
        "search",
        json!({"query": "walrus", "mode": "keyword", "full": true}),
    );
    let first = &answer.structured["data"]["results"][0];
    assert_eq!(first["metadata"]["author"], "Ada");
    assert!(first["preview"].as_str().unwrap().contains("A walrus!"));
    let context = &first["context"];
    assert!(
        context["before"].is_string() && context["after"].is_string(),
        "{first}"
    );
}

#[test]
fn filters_modes_and_limits_apply() {
    let fixture = Fixture::guides();
    let ids = |given| {
        let answer = fixture.answer("search", given);
        let results = answer.structured["data"]["results"]
            .as_array()
            .unwrap()
            .clone();
        let ids = results
            .iter()
            .map(|one| one["document_id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    let in_logs = ids(json!({"query": "sails", "filters": {"folder": "logs"}}));
    assert_eq!(in_logs, ["logs/voyage.txt"]);
    assert_eq!(ids(json!({"query": "sails", "fileType": "txt"})), in_logs);
    assert_eq!(
        ids(json!({"query": "sails", "filters": {"tag": "deck"}})),
        ["guides/sails.md"]
    );
    assert_eq!(
        ids(json!({"query": "sails", "mode": "title"})),
        ["guides/sails.md"]
    );
    let untitled = json!({"query": "thread", "mode": "title"});
    let answer = fixture.answer("search", untitled);
    assert_eq!(answer.structured["warnings"], json!([super::NO_TITLE]));
    assert!(ids(json!({"query": "wax", "mode": "keyword", "scope": "chunks"})).len() == 1);
    assert_eq!(ids(json!({"query": "sails", "limit": 1})).len(), 1);
}

#[test]
fn sort_recency_puts_the_newest_first() {
    let fixture = Fixture::new("ages", &[]);
    let add = |writer: &mut KbWriter| {
        for (path, text, modified_ms) in [
            ("old.md", "sails sails sails", 1_000_000),
            ("new.md", "one of many words about sails", 2_000_000),
        ] {
            let original = SourceInfo {
                modified_ms,
                ..SourceInfo::of(text.as_bytes())
            };
            writer.add_from(document_of(path, text.as_bytes())?, original, false)?;
        }
        writer.commit()
    };
    fixture.index().write(add).unwrap();
    let first = |sort: &str| {
        let answer = fixture.answer("search", json!({"query": "sails", "sort": sort}));
        answer.structured["data"]["results"][0].clone()
    };
    assert_eq!(first("relevance")["document_id"], "old.md");
    assert_eq!(first("recency")["document_id"], "new.md");
    assert_eq!(first("recency")["updated"], "1970-01-01T00:33:20Z");
    assert_eq!(first("-modified")["document_id"], "new.md");
    assert_eq!(first("-path")["document_id"], "old.md");
}

#[test]
fn paths_exclude_and_stand_in_lists() {
    let fixture = Fixture::guides();
    let found = |tool: &str, given: Value| {
        let answer = fixture.answer(tool, given);
        let structured = Value::Object(answer.structured);
        let results = match structured.pointer("/data/results") {
            Some(results) => results.clone(),
            None => structured["results"].clone(),
        };
        let id = |one: &Value| {
            let names = ["document_id", "file_path", "path"];
            let name = names.iter().find_map(|name| one.get(name));
            name.and_then(Value::as_str).unwrap().to_owned()
        };
        let results = results.as_array().unwrap().iter();
        results.map(id).collect::<std::collections::BTreeSet<_>>()
    };
    for mode in ["hybrid", "regex"] {
        let search = |path: Value| {
            let filters = json!({"path": path});
            let given = json!({"query": "sails", "mode": mode, "limit": 20, "filters": filters});
            found("search", given)
        };
        let all = search(json!("**"));
        let logs = search(json!("logs/**"));
        assert!(!logs.is_empty() && logs.len() < all.len(), "{mode} {all:?}");
        let others: std::collections::BTreeSet<_> = all.difference(&logs).cloned().collect();
        assert_eq!(search(json!("!logs/**")), others, "{mode}");
        let either = json!(["{guides,logs}/**", "!guides/**"]);
        assert_eq!(search(either), logs, "{mode}");
    }
    for (tool, folder) in [("search_docs", "logs"), ("search_code", "src")] {
        let search = |path: Value| found(tool, json!({"query": "trim the sails", "path": path}));
        let (all, below) = (search(json!("**")), search(json!(format!("{folder}/**"))));
        let others: std::collections::BTreeSet<_> = all.difference(&below).cloned().collect();
        assert!(!below.is_empty(), "{tool} {all:?}");
        assert!(below.iter().all(|path| path.starts_with(folder)), "{tool}");
        assert_eq!(search(json!(format!("!{folder}/**"))), others, "{tool}");
        let error = fixture.error(tool, json!({"query": "sails", "path": "!"}));
        assert!(error.text().contains("path"), "{tool} {}", error.text());
    }
    let lines = |path: Value| found("search_regex", json!({"pattern": "sails", "path": path}));
    assert_eq!(
        lines(json!("logs/**, src/**, !src/**")),
        lines(json!("logs/**"))
    );
    let refused = json!({"query": "sails", "filters": {"path": "!"}});
    let error = fixture.error("search", refused);
    assert!(error.text().contains("filters.path"), "{}", error.text());
}

#[test]
fn an_off_topic_query_has_a_warning() {
    let fixture = Fixture::guides();
    let answer = fixture.answer(
        "search",
        json!({"query": "quarterly tax filing", "mode": "keyword"}),
    );
    let warning = answer.structured["warnings"][0].as_str().unwrap();
    assert!(
        warning.starts_with("NOTHING_RELEVANT: guides contains nothing relevant"),
        "{warning}"
    );
    assert!(answer.text.contains(warning));
}

#[test]
fn operators_are_alike_in_all_searches() {
    let fixture = Fixture::guides();
    for (tool, results) in [
        ("search", "/data/results"),
        ("search_docs", "/results"),
        ("search_code", "/results"),
    ] {
        let ask = |query: &str| {
            let answer = fixture.answer(tool, json!({"query": query}));
            let structured = serde_json::Value::Object(answer.structured);
            let found = structured.pointer(results).unwrap();
            let warnings = structured["warnings"].to_string();
            (found.as_array().unwrap().len(), warnings)
        };
        let (found, warnings) = ask("how to fix the error \"Lost sail of example.org\"");
        assert!(
            found > 0 && !warnings.contains("passes"),
            "{tool}: {warnings}"
        );
        let (found, warnings) = ask("sails \"lost in example.org\"");
        assert!(found > 0, "{tool}");
        assert!(
            warnings.contains("passes \\\"lost in example.org\\\", so"),
            "{warnings}"
        );
        let (found, warnings) = ask("-sails");
        assert!(
            found == 0 && warnings.contains("only says what to leave out"),
            "{warnings}"
        );
        assert!(!warnings.contains("NOTHING_RELEVANT"), "{tool}: {warnings}");
        let (found, warnings) = ask("sails +\"lost in example.org\"");
        assert!(
            found == 0 && warnings.contains("has +"),
            "{tool}: {warnings}"
        );
    }
}

#[test]
fn a_token_continues_with_the_first_arguments() {
    let fixture = Fixture::guides();
    let given = json!({"query": "sails", "limit": 1, "scope": "chunks", "mode": "keyword"});
    let first = fixture.answer("search", given);
    let token = &first.structured["continuation"]["token"];
    // It ends because of limit, not of max_tokens.
    assert_eq!(first.structured["status"]["message"], "SEARCH_COMPLETED");
    let second = fixture.answer(
        "search",
        json!({"query": "sails", "continuation_token": token}),
    );
    let ids = |answer: &crate::response::ToolResponse| {
        answer.structured["data"]["results"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!((ids(&first), ids(&second)), (1, 1));
    assert_ne!(first.structured["data"], second.structured["data"]);
    assert!(first.text.ends_with(token.as_str().unwrap()));
    let other = fixture.error(
        "search",
        json!({"query": "ropes", "continuation_token": token}),
    );
    assert_eq!(other.code, "INVALID_CONTINUATION_TOKEN");
    fixture.add("new.md", "# New\n\nsails");
    let stale = fixture.error(
        "search",
        json!({"query": "sails", "continuation_token": token}),
    );
    assert_eq!(stale.code, "CONTINUATION_STALE");
}

#[test]
fn an_error_names_the_filter() {
    let fixture = Fixture::guides();
    let given = json!({"query": "sails", "filters": {"tag": "a,b"}});
    let error = fixture.error("search", given);
    let text = error.text();
    assert!(
        text.starts_with("INVALID_ARGUMENT: filters.tag: "),
        "{text}"
    );
}

#[test]
fn words_that_no_document_has_are_told() {
    let files = [
        ("keys.md", "# Keys\n\nKeep separate tables for keys.\n"),
        ("a.rs", "/// Keeps separate tables.\nfn tables() {}\n"),
    ];
    let fixture = Fixture::new("keys", &files);
    for tool in ["search", "search_docs", "search_code"] {
        let ask = |exact: bool| {
            let given = json!({"query": "seperate tables ADR-086", "exact": exact});
            let whole = Value::Object(fixture.answer(tool, given).structured);
            let at = |name: &str| {
                let inner = whole.pointer(&format!("/data/{name}"));
                inner.or(whole.get(name)).cloned()
            };
            (at("corrections"), at("missing"))
        };
        let correction = json!([{"from": "seperate", "to": "separate"}]);
        let missing = Some(json!(["ADR-086"]));
        assert_eq!(ask(false), (Some(correction), missing.clone()), "{tool}");
        assert_eq!(ask(true), (None, missing), "{tool}");
    }
}

#[test]
fn fields_and_links_filter() {
    let files = [
        (
            "plan.md",
            "---\nstatus: draft\n---\n# Plan\n\nThe pier, see [[guide]].\n",
        ),
        (
            "guide.md",
            "---\nstatus: final\n---\n# Guide\n\nThe pier.\n",
        ),
    ];
    let fixture = Fixture::new("notes", &files);
    for filter in [
        json!({"field": "status=draft"}),
        json!({"links_to": "guide.md"}),
        json!({"linksTo": "guide.md"}),
        json!({"where": "status = \"draft\" and not missing(path)"}),
    ] {
        let given = json!({"query": "pier", "filters": filter});
        let answer = fixture.answer("search", given);
        let results = answer.structured["data"]["results"].as_array().unwrap();
        let paths: Vec<&Value> = results.iter().map(|it| &it["document_id"]).collect();
        assert_eq!(paths, [&json!("plan.md")], "{filter}");
    }
    let wrong = json!({"query": "pier", "filters": {"links_to": "nowhere.md"}});
    let error = fixture.error("search", wrong);
    assert!(error.text().contains("nowhere.md"), "{}", error.text());
    let wrong = json!({"query": "pier", "where": "statu = \"draft\""});
    let error = fixture.error("search", wrong);
    let said = error.text();
    assert!(
        said.contains("filters.where") && said.contains("mean \"status\""),
        "{said}"
    );
    let wrong = json!({"query": "pier", "filters": {"field": "state=draft"}});
    let error = fixture.error("search", wrong);
    assert!(error.text().contains("filters.field"), "{}", error.text());
}

#[test]
fn results_are_grouped_and_counted_by_fields() {
    let note = |author: &str| format!("---\nauthor: {author}\n---\nThe moon pulls the sea.\n");
    let (kim, lee) = (note("Kim"), note("Lee"));
    let files = [("a.md", &*kim), ("b.md", &*kim), ("c.md", &*lee)];
    let fixture = Fixture::new("notes", &files);
    let asked = json!({"query": "moon", "group_by": "author", "facets": ["Author", "type"], "sort": "path"});
    let answer = fixture.answer("search", asked);
    let data = &answer.structured["data"];
    let found = data["results"].as_array().unwrap().iter();
    let found: Vec<&str> = found
        .map(|it| it["document_id"].as_str().unwrap())
        .collect();
    assert_eq!(found, ["a.md", "c.md"]);
    let expected = json!([
        {"field": "author", "values": [{"value": "kim", "documents": 2}, {"value": "lee", "documents": 1}]},
        {"field": "type", "values": [{"value": "markdown", "documents": 3}]},
    ]);
    assert_eq!(data["facets"], expected);
    assert!(
        answer.text.contains("author: kim 2, lee 1"),
        "{}",
        answer.text
    );
    for argument in ["group_by", "facets"] {
        let mut asked = json!({"query": "moon"});
        asked[argument] = json!("auhtor");
        let error = fixture.error("search", asked);
        let text = error.text();
        assert!(text.contains("author") && text.contains(argument), "{text}");
    }
    let asked = json!({"query": "moon", "mode": "regex", "facets": "author"});
    let answer = fixture.answer("search", asked);
    assert!(
        answer.text.contains("facets are ignored"),
        "{}",
        answer.text
    );
}
