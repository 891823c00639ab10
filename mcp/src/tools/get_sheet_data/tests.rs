use kb_engine::Document;
use serde_json::{Value, json};

use crate::tools::testing::{Fixture, parts};

fn data(fixture: &Fixture, given: Value) -> Value {
    fixture.answer("get_sheet_data", given).structured["data"].clone()
}

#[test]
fn rows_stand_under_their_headers_as_they_are_displayed() {
    let fixture = Fixture::harbour(&[]);
    let answer = fixture.answer("get_sheet_data", json!({"document_id": "ledger.xlsx"}));
    let expected = json!({
        "sheet_name": "Dues",
        "headers": ["Vessel", "Day", "Dues"],
        "rows": [
            ["Kittiwake", "1 March", "$1234.50"],
            ["Razorbill\tand tender", "", "$0.25"],
            ["Sum", "", "=SUM(C2:C5)"],
        ],
        "row_numbers": "2,5-6",
        "total_rows": 6,
        "token_count": answer.structured["data"]["token_count"],
    });
    assert_eq!(answer.structured["data"], expected);
    let status = json!({"code": "success", "message": "SUCCESS"});
    assert_eq!(answer.structured["status"], status);
    assert_eq!(
        answer.structured["continuation"],
        json!({"has_more": false})
    );
    let expected = "\
Warning: the file stores no values for 1 cell: they show their formulas
ledger.xlsx [Dues] rows 2,5-6 of 6, A1:C6
```
1\tVessel\tDay\tDues
2\tKittiwake\t1 March\t$1234.50
5\tRazorbill\\tand tender\t\t$0.25
6\tSum\t\t=SUM(C2:C5)
```
";
    assert!(answer.text.starts_with(expected), "{}", answer.text);
}

#[test]
fn a_range_has_its_first_row_as_headers() {
    let fixture = Fixture::harbour(&[]);
    let given = json!({"document_id": "ledger.xlsx", "sheet_name": " dues", "cell_range": "b2:C9"});
    let found = data(&fixture, given);
    assert_eq!(found["headers"], json!(["1 March", "$1234.50"]));
    assert_eq!(found["rows"], json!([["", "$0.25"], ["", "=SUM(C2:C5)"]]));
    let given = json!({"document_id": "ledger.xlsx", "cell_range": "A3:B4"});
    let found = data(&fixture, given);
    assert_eq!(
        (&found["headers"], &found["rows"]),
        (&json!(["A", "B"]), &json!([]))
    );
    assert_eq!(found.get("row_numbers"), None);
}

#[test]
fn a_wide_sheet_has_the_columns_with_cells_alone() {
    let fixture = Fixture::harbour(&[]);
    let given = json!({"document_id": "ledger.xlsx", "sheet_name": "Corner"});
    let found = data(&fixture, given);
    assert_eq!(found["columns"], json!(["XFD"]));
    assert_eq!(
        (&found["headers"], &found["rows"]),
        (&json!(["XFD"]), &json!([["sextant"]]))
    );
    assert_eq!(
        (&found["row_numbers"], &found["total_rows"]),
        (&json!("1048576"), &json!(1_048_576))
    );
    let given = json!({"document_id": "ledger.xlsx", "sheet_name": "Empty"});
    let found = data(&fixture, given);
    let empty = json!({"sheet_name": "Empty", "headers": [], "rows": [], "total_rows": 0, "token_count": 0});
    assert_eq!(found, empty);
}

#[test]
fn rows_are_continued_with_their_headers() {
    let rows: String = (1..=500).map(|n| format!("vessel {n},{n}\n")).collect();
    let fixture = Fixture::new("csv", &[("dues.csv", &format!("Vessel,Dues\n{rows}"))]);
    let mut given = json!({"document_id": "dues.csv", "max_tokens": 500});
    let (mut found, mut answers) = (Vec::new(), 0);
    loop {
        let answer = fixture.answer("get_sheet_data", given).structured;
        assert_eq!(answer["data"]["headers"], json!(["Vessel", "Dues"]));
        assert_eq!(answer["data"].get("sheet_name"), None);
        found.extend(answer["data"]["rows"].as_array().unwrap().clone());
        answers += 1;
        let Some(token) = answer["continuation"].get("token") else {
            assert_eq!(answer["status"]["message"], "NO_MORE_DATA");
            break;
        };
        let actions = answer["actions"].as_array().unwrap();
        let ids: Vec<&str> = actions
            .iter()
            .map(|one| one["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids[..2], ["CONTINUE", "INCREASE_LIMIT"]);
        assert_eq!(ids.last(), Some(&"USE_SPECIFIC_RANGE"));
        let range = actions.last().unwrap()["params"]["cell_range"]
            .as_str()
            .unwrap();
        assert!(
            range.starts_with(&format!("A{}:B", found.len() + 2)),
            "{range}"
        );
        given = json!({"document_id": "dues.csv", "continuation_token": token});
    }
    assert!(answers > 3);
    let expected: Vec<Value> = (1..=500)
        .map(|n| json!([format!("vessel {n}"), n.to_string()]))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn lines_of_a_hit_name_its_rows() {
    let fixture = Fixture::harbour(&[]);
    let hit = fixture.answer(
        "search",
        json!({"query": "razorbill tender", "scope": "chunks"}),
    );
    let hit = &hit.structured["data"]["results"][0];
    assert_eq!(hit["location"]["sheet"], "Dues");
    let lines = format!("ledger.xlsx:{}", 3);
    let found = data(&fixture, json!({"document_id": lines}));
    assert_eq!(found["row_numbers"], "5");
    assert_eq!(found["headers"], json!(["Vessel", "Day", "Dues"]));
    let error = fixture.error("get_sheet_data", json!({"document_id": "ledger.xlsx:99"}));
    assert_eq!(error.code, "INVALID_RANGE");
}

#[test]
fn what_is_not_there_is_refused_with_what_is() {
    let fixture = Fixture::harbour(&[
        ("dues.csv", "Vessel,Dues\nKittiwake,3\n"),
        ("plain.txt", "one\n"),
    ]);
    let given = json!({"document_id": "dues.csv", "sheet_name": "Sheet1"});
    let error = fixture.error("get_sheet_data", given);
    let told = "CSV_NO_SHEETS: CSV files don't have multiple sheets. Omit sheet_name parameter.";
    assert_eq!(error.text(), told);
    for (given, told) in [
        (
            json!({"sheet_name": "Duse"}),
            "SHEET_NOT_FOUND: no sheet \"Duse\" in ledger.xlsx. Did you mean \"Dues\"? It has Dues, Empty, Corner.",
        ),
        (
            json!({"cell_range": "ZZZ1"}),
            "INVALID_RANGE: cell_range: cells \"ZZZ1\" of \"ledger.xlsx\": the sheet has A1:C6. Write it as A1:D10, A:D or 3:10.",
        ),
        (
            json!({"document_id": "talk.pptx"}),
            "UNSUPPORTED_DOCUMENT_TYPE: \"talk.pptx\" has no sheets, but slides. get_slides reads it.",
        ),
        (
            json!({"document_id": "pilot-book.pdf"}),
            "UNSUPPORTED_DOCUMENT_TYPE: \"pilot-book.pdf\" has no sheets, but pages. get_pages reads it.",
        ),
        (
            json!({"document_id": "plain.txt"}),
            "UNSUPPORTED_DOCUMENT_TYPE: \"plain.txt\" has no sheets. get_document_data reads it.",
        ),
    ] {
        let mut arguments = json!({"document_id": "ledger.xlsx"});
        for (name, value) in given.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        assert_eq!(fixture.error("get_sheet_data", arguments).text(), told);
    }
}

#[test]
fn a_workbook_without_sheets_is_said_to_be_one() {
    let fixture = Fixture::new("empty", &[]);
    fixture.add_documents(vec![Document {
        path: "book.ods".to_owned(),
        file_type: "ods".to_owned(),
        ..parts::deck(&[])
    }]);
    let answer = fixture.answer("get_sheet_data", json!({"document_id": "book.ods"}));
    assert_eq!(answer.structured["data"]["total_rows"], 0);
    let told = "it has no sheets: the workbook is empty";
    assert_eq!(answer.structured["warnings"], json!([told]));
    assert!(answer.text.contains(told), "{}", answer.text);
    let given = json!({"document_id": "book.ods", "sheet_name": "Q1"});
    let error = fixture.error("get_sheet_data", given);
    let told =
        "SHEET_NOT_FOUND: no sheet \"Q1\" in book.ods. It has no sheets: the workbook is empty.";
    assert_eq!(error.text(), told);
}

#[test]
fn a_row_longer_than_any_answer_is_cut_with_a_warning() {
    let long = "the bar is passed at half tide ".repeat(4000);
    let fixture = Fixture::new(
        "csv",
        &[(
            "a.csv",
            &format!("Vessel,Log\nKittiwake,{long}\nRazorbill,none\n"),
        )],
    );
    let answer = fixture.answer("get_sheet_data", json!({"document_id": "a.csv"}));
    assert!(answer.text.len() < 100_000 && answer.text.contains("its cells are cut"));
    assert_eq!(answer.structured["status"]["code"], "partial_success");
    let cell = answer.structured["data"]["rows"][0][1]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(cell.len() == 20_000 && long.starts_with(&cell));
    let token = answer.structured["continuation"]["token"].clone();
    let next = data(
        &fixture,
        json!({"document_id": "a.csv", "continuation_token": token}),
    );
    assert_eq!(next["rows"], json!([["Razorbill", "none"]]));
}
