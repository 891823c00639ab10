use proptest::prelude::*;

use super::*;

fn shown(code: &str, number: f64) -> String {
    NumberFormat::parse(code).cell(number, false).shown
}

#[test]
fn numbers_are_shown_by_their_format() {
    for (code, number, expected) in [
        ("General", 12345.6789, "12345.6789"),
        ("0", 12345.6789, "12346"),
        ("0", -0.5, "-1"),
        ("0.00", 1.005, "1.01"),
        ("#,##0", 1234567.4, "1,234,567"),
        ("#,##0", 12.0, "12"),
        ("#,##0", 0.0, "0"),
        ("#,###", 0.0, ""),
        ("#,##0.00", -1234.5, "-1,234.50"),
        ("0000,000", 1234.0, "0,001,234"),
        ("$#,##0", 1234567.0, "$1,234,567"),
        ("$#,##0", -5.0, "-$5"),
        ("\"$\"#,##0_);\\(\"$\"#,##0\\)", -1234567.0, "($1,234,567)"),
        ("[$\u{20ac}-407] #,##0.00", 9.5, "\u{20ac} 9.50"),
        ("#,##0.00\\ [$kr-41D]", 9.5, "9.50 kr"),
        ("0%", 0.125, "13%"),
        ("0.00%", 0.12345, "12.35%"),
        ("0.00E+00", 12345.6789, "1.23E+04"),
        ("0.00E+00", 0.00012, "1.20E-04"),
        ("0.0E-0", 123.0, "1.2E2"),
        ("##0.0E+0", 12345.6789, "12.3E+3"),
        ("##0.0E+0", 999960.0, "1.0E+6"),
        ("0.00E+00", 0.0, "0.00E+00"),
        ("# ?/?", 12345.6789, "12345 2/3"),
        ("# ??/??", 12345.6789, "12345 55/81"),
        ("# ?/?", 5.0, "5"),
        ("# ?/?", 0.5, "1/2"),
        ("?/?", 1.5, "3/2"),
        ("# ?/8", 1.3, "1 2/8"),
        ("# ??/100", 0.999, "1"),
        ("#,##0 ;(#,##0)", -7.0, "(7)"),
        ("#,##0 ;[Red](#,##0)", 7.0, "7"),
        (
            "_(* #,##0.00_);_(* (#,##0.00);_(* \"-\"??_);_(@_)",
            1234.5,
            "1,234.50",
        ),
        (
            "_(* #,##0.00_);_(* (#,##0.00);_(* \"-\"??_);_(@_)",
            0.0,
            "-",
        ),
        (
            "_($* #,##0.00_);_($* (#,##0.00);_($* \"-\"??_);_(@_)",
            -3.0,
            "$(3.00)",
        ),
        ("0.0,", 12345.0, "12.3"),
        ("0.0,,\"M\"", 12345678.0, "12.3M"),
        ("0.##", 1.5, "1.5"),
        ("0.0##", 1.0, "1.0"),
        (".00", 12.5, "12.50"),
        ("(000) 000-0000", 5551234567.0, "(555) 123-4567"),
        ("000-00-0000", 123456789.0, "123-45-6789"),
        ("[<100]0.0;[>=100]0", 99.0, "99.0"),
        ("[<100]0.0;[>=100]0", 100.4, "100"),
        ("[>=100]\"big\";\"small\"", 3.0, "small"),
        ("0;-0;;@", 0.0, ""),
        ("\"n/a\"", 4.0, "n/a"),
        ("@", 12.5, "12.5"),
        ("0.00 \"kg\"", 2.0, "2.00 kg"),
        (
            "#,##0.00\\ \u{20ac}",
            1e15,
            "1,000,000,000,000,000.00 \u{20ac}",
        ),
    ] {
        assert_eq!(shown(code, number), expected, "{code} of {number}");
    }
}

#[test]
fn dates_and_times_are_shown_by_their_format() {
    // 1933-10-18 16:17:36.96
    let moment = 12345.6789;
    for (code, number, expected) in [
        ("m/d/yyyy", moment, "10/18/1933"),
        ("mm-dd-yy", moment, "10-18-33"),
        ("d-mmm-yy", moment, "18-Oct-33"),
        ("mmmm d, yyyy", moment, "October 18, 1933"),
        ("dddd, mmmmm", moment, "Wednesday, O"),
        ("ddd", 45_415.0, "Fri"),
        ("h:mm AM/PM", moment, "4:17 PM"),
        ("hh:mm:ss A/P", moment, "04:17:37 P"),
        ("h:mm AM/PM", 0.0, "12:00 AM"),
        ("h:mm", moment, "16:17"),
        ("m/d/yy h:mm", moment, "10/18/33 16:17"),
        ("mm:ss", moment, "17:37"),
        ("[h]:mm:ss", moment, "296296:17:37"),
        ("[mm]:ss", 0.5, "720:00"),
        ("[h]:mm", -1.25, "-30:00"),
        ("d mmm yyyy h:mm", -1.25, "28 Dec 1899 18:00"),
        ("mm:ss.0", moment, "17:37.0"),
        ("hh:mm:ss.000", moment, "16:17:36.960"),
        (
            "yyyy\\-mm\\-dd\\Thh:mm:ss",
            45_415.25,
            "2024-05-03T06:00:00",
        ),
        ("[$-409]mmmm\\ d\\,\\ yyyy;@", 45_415.0, "May 3, 2024"),
        ("yyyy-mm-dd", 1.0, "1900-01-01"),
        ("yyyy-mm-dd", 61.0, "1900-03-01"),
        ("h:mm:ss", 0.999_999_9, "0:00:00"),
    ] {
        assert_eq!(shown(code, number), expected, "{code} of {number}");
    }
    assert_eq!(
        NumberFormat::parse("yyyy-mm-dd").cell(0.0, true).shown,
        "1904-01-01"
    );
    // No day of the calendar.
    assert_eq!(shown("yyyy-mm-dd", -1e6), "-1000000");
    assert_eq!(shown("yyyy-mm-dd", 3e6), "3000000");
}

#[test]
fn the_value_of_a_date_is_as_in_iso_8601() {
    let value = |code: &str, number| NumberFormat::parse(code).cell(number, false).value;
    let date = |text: &str| CellValue::Date(text.to_owned());
    assert_eq!(value("m/d/yy", 45_415.0), date("2024-05-03"));
    assert_eq!(value("m/d/yy", 45_415.5), date("2024-05-03T12:00:00"));
    assert_eq!(value("h:mm", 0.75), date("18:00:00"));
    assert_eq!(value("[h]:mm", 1.5), CellValue::Number(1.5));
    assert_eq!(value("0.00", 1.5), CellValue::Number(1.5));
}

#[test]
fn texts_keep_what_their_section_adds() {
    let text = |code: &str| NumberFormat::parse(code).text("abc");
    assert_eq!(text("General"), "abc");
    assert_eq!(text("0.00"), "abc");
    assert_eq!(text("@"), "abc");
    assert_eq!(text("0;-0;0;\"<\"@\">\""), "<abc>");
    assert_eq!(text(";;;"), "");
}

#[test]
fn codes_of_a_workbook_have_a_limit_together() {
    let mut reader = CodeReader::new();
    let long = "0".repeat(1000);
    let formats: Vec<NumberFormat> = (200..2000).map(|id| reader.read(id, Some(&long))).collect();
    let read = formats.iter().filter(|format| !format.sections.is_empty());
    assert_eq!(read.count(), MAX_CODES_CHARS / 1000);
    assert_eq!(reader.read(9, None).cell(0.5, false).shown, "50%");
}

proptest! {
    #[test]
    fn any_code_shows_any_number(
        code in "[0#?,.%E+/@;\\[\\]<>=hHmMsydgGeneral\"\\\\_* $AP-]{0,24}",
        number in any::<f64>().prop_filter("finite", |it| it.is_finite()),
        is_1904: bool,
    ) {
        let format = NumberFormat::parse(&code);
        let cell = format.cell(number, is_1904);
        prop_assert!(cell.shown.len() < 4000);
        let _ = format.text(&code);
    }
}
