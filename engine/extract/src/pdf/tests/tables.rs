//! Rows of tables and forms, which are no columns of text.

use super::{at, document, text};

#[test]
fn labels_stay_beside_long_values() {
    let values = [
        (
            "Name of the applicant and of all owners:",
            "Fishing Union of the Northern Coast",
        ),
        (
            "Address of the office in this country:",
            "Quay Street, house beside the old crane",
        ),
        (
            "Purpose of the vessel that is registered:",
            "Carries passengers and mail in summer",
        ),
        (
            "Harbour in which the vessel is kept:",
            "The inner basin, behind the long mole",
        ),
        (
            "Insurance of the vessel and of its crew:",
            "Mutual company of the owners of boats",
        ),
    ];
    let placed = (0..).zip(&values).map(|(row, (label, value))| {
        at(50, 700 - 14 * row, label) + &at(320, 700 - 14 * row, value)
    });
    let read = text(&document(&placed.collect::<String>()));
    for (label, value) in values {
        assert!(
            read.contains(&format!("{label}\t{value}\n")),
            "{label} in {read}"
        );
    }
}

#[test]
fn numbers_stay_in_the_rows_of_long_names() {
    let names = [
        "Fresh and frozen fish from the open sea",
        "Timber for the building of houses and ships",
        "Machines, their parts and what they burn",
        "Stone, sand, lime and other building matter",
        "Grain and flour for the towns of the coast",
    ];
    let placed = (0..).zip(&names).map(|(row, name)| {
        let sum = format!("{},{}00,000,250 crowns", row + 3, row + 1);
        at(50, 700 - 12 * row, name) + &at(320, 700 - 12 * row, &sum)
    });
    let read = text(&document(&placed.collect::<String>()));
    for (row, name) in (0..).zip(&names) {
        let line = read.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(
            line.contains(&format!("\t{},{}00", row + 3, row + 1)),
            "{line}"
        );
    }
}

#[test]
fn columns_of_text_are_columns_still() {
    let words =
        |side: &str, line: u32| format!("{side} line {line} goes on about ships and harbours");
    let placed = (0..10).map(|line| {
        at(50, 700 - 12 * line, &words("left", line))
            + &at(320, 700 - 12 * line, &words("right", line))
    });
    let read = text(&document(&placed.collect::<String>()));
    let (last, first) = (read.find("left line 9"), read.find("right line 0"));
    assert!(last < first && last.is_some(), "{read}");
}
