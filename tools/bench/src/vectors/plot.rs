//! One picture for each set: queries a second, logarithmic, by recall; one line for each system.

use std::fmt::{Result, Write};

use super::figures::{Point, SetFigures};

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 560.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 500.0;
/// Where the lines end; names stand to the right.
const RIGHT: f64 = 720.0;
const STEP: f64 = 22.0;

/// Points with less recall are left out: nobody would use them.
const LEAST_RECALL: f64 = 0.7;

const OURS: &str = "#1f6f4a";
const COLOURS: [&str; 8] = [
    "#c44e52", "#4c72b0", "#dd8452", "#8172b3", "#937860", "#da8bc3", "#64b5cd", "#b5a000",
];

/// The picture as SVG.
pub(crate) fn svg(set: &SetFigures, date: &str) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_svg(&mut text, set, date);
    text
}

/// Recall and queries a second of the settings that no other beats in both, by recall.
fn frontier(points: &[Point]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<(f64, f64)> = points
        .iter()
        .filter(|point| point.recall >= LEAST_RECALL && point.p50_us > 0.0)
        .map(|point| (point.recall, point.rate()))
        .collect();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for point in sorted {
        if kept.last().is_none_or(|last| point.1 > last.1) {
            kept.push(point);
        }
    }
    kept.reverse();
    kept
}

/// Name, whether it is ours, and its points.
type Line<'s> = (&'s str, bool, Vec<(f64, f64)>);

fn write_svg(text: &mut String, set: &SetFigures, date: &str) -> Result {
    let lines: Vec<Line<'_>> = set
        .systems
        .iter()
        .filter_map(|system| {
            let points = frontier(&system.measured.as_ref().ok()?.points);
            (!points.is_empty()).then_some((system.name, system.is_ours, points))
        })
        .collect();
    let rates = || {
        let points = lines.iter().flat_map(|(_, _, points)| points);
        points.map(|(_, rate)| *rate)
    };
    // Whole powers of ten around all points.
    let low = 10f64.powf(rates().fold(f64::MAX, f64::min).min(1e9).log10().floor());
    let high = 10f64.powf(rates().fold(1.0, f64::max).log10().ceil());
    let high = high.max(low * 10.0);
    let across =
        |recall: f64| LEFT + (recall - LEAST_RECALL) / (1.0 - LEAST_RECALL) * (RIGHT - LEFT);
    let up = |rate: f64| BOTTOM - (rate / low).log10() / (high / low).log10() * (BOTTOM - TOP);
    writeln!(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"12\" y=\"24\" font-size=\"15\" font-weight=\"bold\">Queries a second on one thread \
         (by p50, logarithmic) by recall@10: {}, {} rows of {} numbers, {date}</text>",
        set.data.name, set.data.rows, set.data.dim,
    )?;
    let mut tick = low;
    while tick <= high * 1.001 {
        let y = up(tick);
        writeln!(
            text,
            "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{RIGHT}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\
             <text x=\"{}\" y=\"{:.1}\" fill=\"#777777\" font-size=\"11\" text-anchor=\"end\">{tick}</text>",
            LEFT - 6.0,
            y + 4.0,
        )?;
        tick *= 10.0;
    }
    for percent in [70, 75, 80, 85, 90, 95, 99, 100] {
        let x = across(f64::from(percent) / 100.0);
        writeln!(
            text,
            "<line x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{BOTTOM}\" stroke=\"#eeeeee\"/>\
             <text x=\"{x:.1}\" y=\"{}\" fill=\"#777777\" font-size=\"11\" \
             text-anchor=\"middle\">{:.2}</text>",
            BOTTOM + 16.0,
            f64::from(percent) / 100.0,
        )?;
    }
    let (mut ours, mut peers) = (0, 0);
    for (number, (name, is_ours, points)) in lines.iter().enumerate() {
        // A colour that comes again is a broken line.
        let (colour, width, again) = if *is_ours {
            ours += 1;
            (OURS, 3.5, ours > 1)
        } else {
            peers += 1;
            let colour = COLOURS[(peers - 1) % COLOURS.len()];
            (colour, 1.8, peers > COLOURS.len())
        };
        let dashes = if again {
            " stroke-dasharray=\"6 3\""
        } else {
            ""
        };
        let path: Vec<String> = points
            .iter()
            .map(|(recall, rate)| format!("{:.1},{:.1}", across(*recall), up(*rate)))
            .collect();
        writeln!(
            text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dashes}/>",
            path.join(" ")
        )?;
        for (recall, rate) in points {
            writeln!(
                text,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>",
                across(*recall),
                up(*rate)
            )?;
        }
        let y = TOP + 10.0 + number as f64 * STEP;
        writeln!(
            text,
            "<line x1=\"{}\" y1=\"{y:.1}\" x2=\"{}\" y2=\"{y:.1}\" stroke=\"{colour}\" \
             stroke-width=\"{width}\"{dashes}/><text x=\"{}\" y=\"{:.1}\">{name}</text>",
            RIGHT + 20.0,
            RIGHT + 50.0,
            RIGHT + 58.0,
            y + 4.0,
        )?;
    }
    writeln!(text, "</svg>")
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::figures;
    use super::*;

    #[test]
    fn every_system_is_a_line_with_its_name() {
        let figures = figures();
        let picture = svg(&figures.sets[0], &figures.date);
        assert_eq!(picture.matches("<polyline").count(), 1);
        assert_eq!(picture.matches("<circle").count(), 2);
        assert!(
            picture.contains(">kb</text>") && !picture.contains("NaN"),
            "{picture}"
        );
    }

    #[test]
    fn a_set_without_figures_is_a_picture_too() {
        let mut figures = figures();
        figures.sets[0].systems.clear();
        let picture = svg(&figures.sets[0], "");
        assert!(
            !picture.contains("NaN") && !picture.contains("inf"),
            "{picture}"
        );
    }

    #[test]
    fn settings_that_another_beats_in_both_are_left_out() {
        let point = |recall: f64, p50_us: f64| Point {
            recall,
            p50_us,
            ..Point::default()
        };
        let points = [
            point(0.9, 100.0),
            point(0.8, 200.0),
            point(0.99, 1000.0),
            point(0.5, 1.0),
        ];
        assert_eq!(frontier(&points), [(0.9, 1e4), (0.99, 1e3)]);
    }
}
