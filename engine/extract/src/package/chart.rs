//! Charts of Office Open XML as lines of text: title, then a row for each category with the values of the series.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::package::xml::{XmlEvent, XmlReader};
use crate::skip_reason::SkipReason;

/// Series and points of one chart that are read. A worksheet has more columns, a chart that people look at has not.
const MAX_SERIES: usize = 255;
const MAX_POINTS: u32 = 10_000;
/// Bytes of a number; what is longer is a text.
// The longest number of a double has 24 characters in scientific form.
const MAX_NUMBER_BYTES: usize = 40;

/// A row of numbers with its name and what each stands for, by position.
#[derive(Debug, Default)]
struct Series {
    name: String,
    categories: BTreeMap<u32, String>,
    values: BTreeMap<u32, String>,
}

/// What a text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Title,
    Name,
    Category,
    Value,
    /// Text that a person put to a point.
    Label,
}

#[derive(Debug, Default)]
struct Chart {
    titles: Vec<String>,
    series: Vec<Series>,
    labels: Vec<String>,
}

/// The lines of the part of a chart. Linear in it.
///
/// # Errors
/// As [`XmlReader::next`].
pub(crate) fn lines(part: &str) -> Result<Vec<String>, SkipReason> {
    let mut reader = XmlReader::new(part);
    let mut chart = Chart::default();
    // Newer charts have their numbers in front of the series.
    let (mut in_series, mut is_text) = (false, false);
    let mut places: Vec<(Place, u64)> = Vec::new();
    let mut index = 0u32;
    let mut text = String::new();
    while let Some(event) = reader.next()? {
        match event {
            XmlEvent::Start(element) => {
                let place = match element.name() {
                    "ser" => {
                        in_series = true;
                        chart.series.push(Series::default());
                        None
                    }
                    // Numbers of a newer chart.
                    "data" if element.prefix() == "cx" => {
                        chart.series.push(Series::default());
                        None
                    }
                    "title" => Some(Place::Title),
                    "tx" if in_series && places.is_empty() => Some(Place::Name),
                    "txData" if places.is_empty() => Some(Place::Name),
                    "cat" | "xVal" | "strDim" => Some(Place::Category),
                    "val" | "yVal" | "bubbleSize" | "numDim" => Some(Place::Value),
                    "dLbl" => Some(Place::Label),
                    // Its text says which field it is.
                    "fld" => {
                        reader.skip()?;
                        None
                    }
                    "pt" => {
                        index = element.number("idx").unwrap_or(0);
                        // A point of a newer chart is its text.
                        is_text = element.prefix() == "cx";
                        text.clear();
                        None
                    }
                    "v" | "t" => {
                        is_text = true;
                        text.clear();
                        None
                    }
                    _ => None,
                };
                if let Some(place) = place {
                    places.push((place, reader.depth()));
                    if matches!(place, Place::Title | Place::Label) {
                        chart.begin(place);
                    }
                }
            }
            XmlEvent::End(end) => {
                let name = end.name();
                if is_text && matches!(name, "v" | "t" | "pt") {
                    is_text = false;
                    if let Some((place, _)) = places.last() {
                        chart.take(*place, index, &text);
                    }
                } else if name == "p" {
                    chart.end_line(places.last().map(|(place, _)| *place));
                } else if name == "ser" {
                    in_series = false;
                }
                let depth = reader.depth();
                while places.last().is_some_and(|(_, open)| *open > depth) {
                    places.pop();
                }
            }
            XmlEvent::Text(piece) if is_text => text.push_str(&piece),
            XmlEvent::Text(_) => {}
        }
    }
    Ok(chart.write())
}

impl Chart {
    fn begin(&mut self, place: Place) {
        match place {
            Place::Title => self.titles.push(String::new()),
            _ => self.labels.push(String::new()),
        }
    }

    fn take(&mut self, place: Place, index: u32, text: &str) {
        let series = match place {
            Place::Title | Place::Label => {
                let lines = match place {
                    Place::Title => &mut self.titles,
                    _ => &mut self.labels,
                };
                if let Some(line) = lines.last_mut() {
                    line.push_str(text);
                }
                return;
            }
            _ => self.series.last_mut(),
        };
        let Some(series) = series else {
            return;
        };
        let cells = match place {
            Place::Category => &mut series.categories,
            Place::Value => &mut series.values,
            _ => {
                push_word(&mut series.name, text);
                return;
            }
        };
        if index < MAX_POINTS {
            // Categories of several levels, and the values of a point, follow each other.
            push_word(cells.entry(index).or_default(), &number(text));
        }
    }

    /// A paragraph of a title ends.
    fn end_line(&mut self, place: Option<Place>) {
        let lines = match place {
            Some(Place::Title) => &mut self.titles,
            Some(Place::Label) => &mut self.labels,
            _ => return,
        };
        if let Some(line) = lines.last_mut() {
            line.push(' ');
        }
    }

    fn write(self) -> Vec<String> {
        let mut lines = self.titles;
        let series: Vec<Series> = self.series.into_iter().take(MAX_SERIES).collect();
        let is_same = |one: &Series, other: &Series| {
            other.categories.is_empty() || one.categories == other.categories
        };
        for together in series.chunk_by(is_same) {
            let names = together.iter().map(|one| tidy(&one.name));
            lines.push(names.collect::<Vec<String>>().join("\t"));
            let categories = together.first().map(|one| &one.categories);
            // Each with the number of its tabs.
            let mut rows: BTreeMap<u32, (usize, String)> = BTreeMap::new();
            for (index, category) in categories.into_iter().flatten() {
                rows.insert(*index, (0, tidy(category)));
            }
            for (column, one) in (1..).zip(together) {
                for (index, value) in &one.values {
                    let (tabs, row) = rows.entry(*index).or_default();
                    row.extend(std::iter::repeat_n('\t', column - *tabs));
                    *tabs = column;
                    row.push_str(&tidy(value));
                }
            }
            lines.extend(rows.into_values().map(|(_, row)| row));
        }
        lines.extend(self.labels);
        let lines = lines.into_iter().map(|line| line.trim().to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    }
}

/// A number as office programs show it, of 15 digits at most: those after them are what binary fractions leave.
fn number(text: &str) -> Cow<'_, str> {
    const SHOWN_BYTES: usize = 15;
    let parsed = (text.len() > SHOWN_BYTES).then(|| text.trim().parse::<f64>().ok());
    let is_plain = |number: &f64| (1e-6..1e15).contains(&number.abs());
    let rounded = parsed.flatten().filter(is_plain);
    match rounded.and_then(|number| format!("{number:.14e}").parse::<f64>().ok()) {
        Some(number) if text.len() < MAX_NUMBER_BYTES => Cow::Owned(number.to_string()),
        _ => Cow::Borrowed(text),
    }
}

fn push_word(words: &mut String, word: &str) {
    if !words.is_empty() {
        words.push(' ');
    }
    words.push_str(word);
}

/// One line, so that tabs part cells.
fn tidy(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::lines;

    fn cells(kind: &str, cells: &[&str]) -> String {
        let points = cells.iter().enumerate();
        let points: String = points
            .map(|(at, cell)| format!("<c:pt idx='{at}'><c:v>{cell}</c:v></c:pt>"))
            .collect();
        format!(
            "<c:{kind}><c:numRef><c:f>Sheet1!A1</c:f><c:numCache><c:formatCode>General</c:formatCode>{points}</c:numCache></c:numRef></c:{kind}>"
        )
    }

    #[test]
    fn series_with_the_same_categories_are_columns() {
        let name = |name: &str| {
            format!(
                "<c:tx><c:strRef><c:f>S!B1</c:f><c:strCache><c:pt idx='0'><c:v>{name}</c:v></c:pt></c:strCache></c:strRef></c:tx>"
            )
        };
        let (ports, first, second) = (
            cells("cat", &["North", "South"]),
            cells("val", &["3", "5"]),
            cells("val", &["2.5"]),
        );
        let title = "<c:title><c:tx><c:rich><a:p><a:r><a:t>Ships</a:t></a:r><a:r><a:t> at sea</a:t></a:r></a:p></c:rich></c:tx></c:title>";
        let part = format!(
            "<c:chartSpace><c:chart>{title}<c:plotArea><c:barChart><c:ser>{}{ports}{first}</c:ser><c:ser>{}{ports}{second}</c:ser></c:barChart>\
             <c:catAx><c:title><c:tx><c:rich><a:p><a:t>Port</a:t></a:p></c:rich></c:tx></c:title></c:catAx></c:plotArea></c:chart></c:chartSpace>",
            name("Sail"),
            name("Steam")
        );
        assert_eq!(
            lines(&part).unwrap(),
            [
                "Ships at sea",
                "Port",
                "Sail\tSteam",
                "North\t3\t2.5",
                "South\t5"
            ]
        );
        let long = cells(
            "val",
            &["0.30000000000000004", "1e300", "12345678901234567890 ships"],
        );
        assert_eq!(
            lines(&format!("<c:ser>{long}</c:ser>")).unwrap(),
            ["0.3", "1e300", "12345678901234567890 ships"]
        );
        let points = format!(
            "<c:scatterChart><c:ser>{}{}</c:ser><c:ser>{}{}</c:ser></c:scatterChart>",
            cells("xVal", &["1"]),
            cells("yVal", &["10"]),
            cells("xVal", &["2"]),
            cells("yVal", &["20"])
        );
        assert_eq!(lines(&points).unwrap(), ["1\t10", "2\t20"]);
    }

    #[test]
    fn newer_charts_are_read_as_well() {
        let part = "<cx:chartSpace><cx:chartData><cx:data id='0'><cx:strDim type='cat'><cx:lvl><cx:pt idx='0'>Cod</cx:pt></cx:lvl></cx:strDim>\
            <cx:numDim type='val'><cx:lvl><cx:pt idx='0'>7</cx:pt></cx:lvl></cx:numDim></cx:data></cx:chartData>\
            <cx:chart><cx:title><cx:tx><cx:txData><cx:v>Catch</cx:v></cx:txData></cx:tx></cx:title></cx:chart></cx:chartSpace>";
        assert_eq!(lines(part).unwrap(), ["Catch", "Cod\t7"]);
    }

    #[test]
    fn a_chart_made_to_harm_has_bounded_text() {
        let point = |at: u32| format!("<c:pt idx='{at}'><c:v>1</c:v></c:pt>");
        let points: String = (0..50_000).map(point).collect();
        let series = format!("<c:ser><c:val>{points}</c:val></c:ser>");
        assert_eq!(lines(&series).unwrap().len(), 10_000);
        let far = format!("<c:ser><c:val>{}</c:val></c:ser>", point(u32::MAX));
        assert_eq!(lines(&far.repeat(3000)).unwrap().len(), 0);
        assert_eq!(
            lines("<c:ser><c:val><c:pt idx='0'><c:v>4").unwrap().len(),
            0
        );
    }
}
