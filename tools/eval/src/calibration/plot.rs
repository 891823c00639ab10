//! The diagram of the shares kept and gone against the threshold, as SVG.

use std::fmt::{Result, Write};

use super::shares::{STEPS, Shares};

const WIDTH: f64 = 280.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 44.0;
const TOP: f64 = 64.0;
const GAP: f64 = 30.0;

/// The curves of one mode.
pub(crate) struct Panel {
    pub(crate) name: &'static str,
    /// At thresholds from 0 to 1.
    pub(crate) curve: Vec<Shares>,
}

/// One line of a panel.
type Line = (&'static str, &'static str, &'static str, fn(&Shares) -> f64);

const LINES: [Line; 3] = [
    ("right answers kept", "#1f6f4a", "", |shares| shares.kept),
    ("hits to foreign questions gone", "#b03a2e", "", |shares| {
        shares.gone
    }),
    (
        "best hits of foreign questions gone",
        "#b03a2e",
        "5 4",
        |shares| shares.best_gone,
    ),
];

/// The same bytes for the same figures.
pub(crate) fn svg(panels: &[Panel], relevant: f32) -> String {
    let mut text = String::new();
    // Writing to a String does not fail.
    let _ = write_svg(&mut text, panels, f64::from(relevant));
    text
}

fn write_svg(text: &mut String, panels: &[Panel], relevant: f64) -> Result {
    let width = LEFT + panels.len() as f64 * (WIDTH + GAP);
    let height = TOP + HEIGHT + 70.0;
    writeln!(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">"
    )?;
    writeln!(
        text,
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
    )?;
    writeln!(
        text,
        "<text x=\"12\" y=\"24\" font-size=\"15\" font-weight=\"bold\">Share kept and gone by score, \
         each set with weights fitted to the others</text>"
    )?;
    for (number, panel) in panels.iter().enumerate() {
        let left = LEFT + number as f64 * (WIDTH + GAP);
        write_panel(text, panel, left, relevant)?;
    }
    for (number, (name, colour, dash, _)) in LINES.iter().enumerate() {
        let (x, y) = (LEFT + number as f64 * 260.0, TOP + HEIGHT + 52.0);
        writeln!(
            text,
            "<line x1=\"{x}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\" stroke=\"{colour}\" stroke-width=\"2\" \
             stroke-dasharray=\"{dash}\"/><text x=\"{}\" y=\"{}\">{name}</text>",
            x + 24.0,
            x + 30.0,
            y + 4.0
        )?;
    }
    writeln!(text, "</svg>")
}

fn write_panel(text: &mut String, panel: &Panel, left: f64, relevant: f64) -> Result {
    let at = |x: f64, y: f64| (left + x * WIDTH, TOP + (1.0 - y) * HEIGHT);
    writeln!(
        text,
        "<text x=\"{left}\" y=\"{}\" font-weight=\"bold\">{}</text>",
        TOP - 10.0,
        panel.name
    )?;
    for step in 0..=5u8 {
        let share = f64::from(step) / 5.0;
        let ((x, y), (right, _)) = (at(0.0, share), at(1.0, share));
        writeln!(
            text,
            "<line x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{right:.1}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" fill=\"#777777\" font-size=\"10\" \
             text-anchor=\"end\">{share:.1}</text>",
            x - 4.0,
            y + 3.0
        )?;
        let (x, y) = at(share, 0.0);
        writeln!(
            text,
            "<text x=\"{x:.1}\" y=\"{:.1}\" fill=\"#777777\" font-size=\"10\" \
             text-anchor=\"middle\">{share:.1}</text>",
            y + 14.0
        )?;
    }
    for (threshold, name) in [(0.5, "0.5"), (relevant, "verdict")] {
        let ((x, bottom), (_, top)) = (at(threshold, 0.0), at(threshold, 1.0));
        writeln!(
            text,
            "<line x1=\"{x:.1}\" y1=\"{bottom:.1}\" x2=\"{x:.1}\" y2=\"{top:.1}\" stroke=\"#999999\" \
             stroke-dasharray=\"2 3\"/><text x=\"{x:.1}\" y=\"{:.1}\" fill=\"#777777\" \
             font-size=\"10\" text-anchor=\"middle\">{name}</text>",
            bottom + 26.0
        )?;
    }
    for (_, colour, dash, share) in LINES {
        let points = panel.curve.iter().enumerate().map(|(step, shares)| {
            let (x, y) = at(step as f64 / STEPS as f64, share(shares));
            format!("{x:.1},{y:.1}")
        });
        writeln!(
            text,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\" \
             points=\"{}\"/>",
            points.collect::<Vec<_>>().join(" ")
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_figures_give_the_same_picture() {
        let curve = |kept: f64| Panel {
            name: "hybrid",
            curve: (0..=STEPS)
                .map(|step| Shares {
                    kept: kept * (1.0 - step as f64 / STEPS as f64),
                    ..Shares::default()
                })
                .collect(),
        };
        let picture = svg(&[curve(1.0)], 0.4);
        assert_eq!(picture, svg(&[curve(1.0)], 0.4));
        assert_ne!(picture, svg(&[curve(0.5)], 0.4));
        assert_eq!(picture.matches("<polyline").count(), LINES.len());
        assert!(picture.ends_with("</svg>\n") && !picture.contains("NaN"));
        assert!(picture.contains(">verdict</text>"));
    }
}
