//! One picture: the median time of each system in each mode, as bars on a logarithmic scale.

use std::fmt::{Result, Write};

use super::figures::{Figures, MODES};
use super::table::milliseconds;

const WIDTH: f64 = 900.0;
/// Where bars begin; names stand to the left.
const LEFT: f64 = 300.0;
/// Room for a number to the right of the longest bar.
const RIGHT: f64 = 90.0;
const BAR: f64 = 18.0;
const STEP: f64 = 24.0;
const HEADING: f64 = 46.0;

/// The picture as SVG; one panel for each mode, the fastest first.
pub(crate) fn svg(figures: &Figures) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_svg(&mut text, &panels(figures), figures);
    text
}

/// Mode and its bars: name and microseconds.
type Panel = (&'static str, Vec<(&'static str, f64)>);

fn panels(figures: &Figures) -> Vec<Panel> {
    let panel = |mode: &'static str| {
        let bars = figures.systems.iter().filter_map(|system| {
            let times = system.measured.as_ref().ok()?.times(mode, None)?;
            Some((system.name, times.p50))
        });
        let mut bars: Vec<(&'static str, f64)> = bars.filter(|(_, p50)| *p50 > 0.0).collect();
        bars.sort_by(|a, b| a.1.total_cmp(&b.1));
        (mode, bars)
    };
    MODES.into_iter().map(panel).collect()
}

fn write_svg(text: &mut String, panels: &[Panel], figures: &Figures) -> Result {
    let times = || {
        panels
            .iter()
            .flat_map(|(_, bars)| bars)
            .map(|(_, p50)| *p50)
    };
    // Whole powers of ten around all bars.
    let low = 10f64.powf(times().fold(f64::MAX, f64::min).min(1e9).log10().floor());
    let high = 10f64
        .powf(times().fold(1.0, f64::max).log10().ceil())
        .max(low * 10.0);
    let place =
        |micros: f64| LEFT + (micros / low).log10() / (high / low).log10() * (WIDTH - LEFT - RIGHT);
    let bars: usize = panels.iter().map(|(_, bars)| bars.len()).sum();
    let height = 40.0 + panels.len() as f64 * HEADING + bars as f64 * STEP + 10.0;
    writeln!(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"12\" y=\"24\" font-size=\"15\" font-weight=\"bold\">Median time of an answer, ms \
         (logarithmic), {} chunks, {}</text>",
        figures.chunks,
        escaped(&figures.date)
    )?;
    let mut y = 40.0;
    for (mode, bars) in panels {
        let bottom = y + HEADING + bars.len() as f64 * STEP;
        writeln!(
            text,
            "<text x=\"12\" y=\"{}\" font-weight=\"bold\">{mode}</text>",
            y + 20.0
        )?;
        let mut tick = low;
        while tick <= high * 1.001 {
            writeln!(
                text,
                "<line x1=\"{x:.1}\" y1=\"{}\" x2=\"{x:.1}\" y2=\"{:.1}\" stroke=\"#dddddd\"/>\
                 <text x=\"{x:.1}\" y=\"{}\" fill=\"#777777\" font-size=\"11\" \
                 text-anchor=\"middle\">{}</text>",
                y + 30.0,
                bottom - 6.0,
                y + 26.0,
                tick / 1e3,
                x = place(tick),
            )?;
            tick *= 10.0;
        }
        y += HEADING - 10.0;
        for (name, p50) in bars {
            let fill = if *name == "kb" { "#1f6f4a" } else { "#9aa7b4" };
            let (end, middle) = (place(*p50), y + BAR - 5.0);
            writeln!(
                text,
                "<text x=\"{}\" y=\"{middle:.1}\" text-anchor=\"end\">{}</text>\
                 <rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{BAR}\" fill=\"{fill}\"/>\
                 <text x=\"{:.1}\" y=\"{middle:.1}\">{}</text>",
                LEFT - 8.0,
                escaped(name),
                (end - LEFT).max(1.0),
                end + 6.0,
                milliseconds(*p50),
            )?;
            y += STEP;
        }
        y += 10.0;
    }
    writeln!(text, "</svg>")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::figures;
    use super::*;

    #[test]
    fn every_figure_is_a_bar_and_every_bar_is_inside() {
        let picture = svg(&figures());
        assert_eq!(picture.matches("fill=\"#1f6f4a\"").count(), 2);
        assert_eq!(
            picture.matches("<svg").count(),
            picture.matches("</svg>").count()
        );
        assert!(
            picture.contains(">4.00</text>") && !picture.contains("NaN"),
            "{picture}"
        );
        let widths = picture.match_indices("width=\"").filter_map(|(at, word)| {
            picture[at + word.len()..]
                .split('"')
                .next()?
                .parse::<f64>()
                .ok()
        });
        assert!(widths.clone().count() > 2 && widths.max_by(f64::total_cmp) <= Some(WIDTH));
    }

    #[test]
    fn a_run_without_figures_is_a_picture_too() {
        let mut empty = figures();
        empty.systems.clear();
        assert!(!svg(&empty).contains("NaN") && !svg(&empty).contains("inf"));
        assert_eq!(escaped("a<b & c>"), "a&lt;b &amp; c&gt;");
    }
}
