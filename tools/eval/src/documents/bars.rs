//! What each score must reach. The floor is what throw-away readers reached before any was written here;
//! the bar is what is asked for.

use super::metric::Metric;

/// A score that has to be reached.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bar {
    pub(super) format: &'static str,
    pub(super) metric: Metric,
    pub(super) floor: Option<f64>,
    /// At least this; without it at least the floor.
    pub(super) bar: Option<f64>,
    /// What is kept at least where the bar cannot be reached, and why.
    accepted: Option<(f64, &'static str)>,
}

const fn floor(format: &'static str, metric: Metric, floor: f64) -> Bar {
    Bar {
        format,
        metric,
        floor: Some(floor),
        bar: None,
        accepted: None,
    }
}

const fn bar(format: &'static str, metric: Metric, floor: f64, bar: f64) -> Bar {
    Bar {
        format,
        metric,
        floor: Some(floor),
        bar: Some(bar),
        accepted: None,
    }
}

/// A score without a floor.
const fn new(format: &'static str, metric: Metric, bar: f64) -> Bar {
    Bar {
        format,
        metric,
        floor: None,
        bar: Some(bar),
        accepted: None,
    }
}

/// What the oracles of text leave out and a reader of the document sees.
const LEFT_OUT: &str = "text boxes and footnotes, which these oracles leave out";
/// Of one file, which is all that is missed.
const ONE_LEFT_OUT: &str =
    "an equation, a footnote and a text box of one file, which its oracle leaves out";
/// What another program thinks of the same pages.
const LAID_OUT: &str = "pages as Word laid them out, or of few breaks in a long text";

/// All of them.
#[rustfmt::skip]
pub(super) const BARS: &[Bar] = &[
    bar("pdf", Metric::Text, 0.986, 0.988),
    bar("pdf", Metric::Sequence, 0.934, 0.945),
    floor("pdf", Metric::Pages, 1.0),
    floor("pdf", Metric::Outline, 1.0),
    floor("docx", Metric::Text, 0.985),
    bar("docx", Metric::BestText, 0.994, 0.996).accept(0.990, LEFT_OUT),
    new("docx", Metric::LaidOutText, 0.996),
    floor("docx", Metric::HeadingRecall, 1.0),
    floor("docx", Metric::OfficePages, 0.8),
    new("docx", Metric::BrokenPages, 1.0).accept(0.75, LAID_OUT),
    floor("doc", Metric::Text, 0.976),
    floor("doc", Metric::BestText, 0.999),
    floor("doc", Metric::OfficePages, 0.308),
    new("doc", Metric::BrokenPages, 1.0).accept(0.333, LAID_OUT),
    floor("rtf", Metric::Text, 0.995),
    floor("rtf", Metric::BestText, 0.996),
    floor("rtf", Metric::OfficePages, 0.9),
    new("rtf", Metric::BrokenPages, 1.0),
    bar("odt", Metric::Text, 0.985, 0.99).accept(0.985, ONE_LEFT_OUT),
    bar("odt", Metric::BestText, 0.985, 0.99).accept(0.985, ONE_LEFT_OUT),
    floor("odt", Metric::OfficePages, 0.667),
    new("odt", Metric::BrokenPages, 1.0),
    floor("odt", Metric::HeadingRecall, 1.0),
    floor("pptx", Metric::Slides, 1.0),
    // The oracle reads no charts, no diagrams and no numbers of lists.
    floor("pptx", Metric::Text, 0.993),
    floor("pptx", Metric::Titles, 1.0),
    floor("pptx", Metric::Notes, 1.0),
    floor("ppt", Metric::Slides, 1.0),
    floor("ppt", Metric::Text, 0.999),
    floor("ppt", Metric::Titles, 1.0),
    floor("ppt", Metric::Notes, 1.0),
    floor("odp", Metric::Slides, 1.0),
    // The oracle does not read the chart of one file.
    floor("odp", Metric::Text, 0.983),
    floor("odp", Metric::Titles, 1.0),
    floor("odp", Metric::Notes, 1.0),
    bar("xlsx", Metric::Cells, 0.970, 0.985),
    floor("xlsx", Metric::SheetNames, 1.0),
    floor("xls", Metric::Cells, 1.0),
    floor("xls", Metric::SheetNames, 1.0),
    bar("ods", Metric::Cells, 0.955, 0.98),
    floor("ods", Metric::SheetNames, 0.917),
    floor("csv", Metric::Cells, 1.0),
    floor("csv", Metric::SheetNames, 1.0),
    floor("html", Metric::Text, 0.993),
    floor("html", Metric::Headings, 1.0),
    // The floor is of text without markup; here the source is the text, and holds the addresses of links.
    floor("md", Metric::Recall, 0.997),
    new("md", Metric::Headings, 1.0),
    floor("txt", Metric::Text, 0.993),
];

/// Pages a second of processor time on the median PDF, in a release build.
pub(super) const PDF_PAGES_A_SECOND: f64 = 20.0;

impl Bar {
    const fn accept(mut self, least: f64, reason: &'static str) -> Bar {
        self.accepted = Some((least, reason));
        self
    }

    fn least(&self) -> f64 {
        self.bar.or(self.floor).unwrap_or(0.0)
    }

    /// Whether a mean reaches it. Floors have three digits, so means are compared with as many.
    pub(super) fn is_reached(&self, mean: f64) -> bool {
        rounded(mean) >= self.least()
    }

    /// Why a mean below it is accepted; `None` where it is not.
    pub(super) fn excuse(&self, mean: f64) -> Option<&'static str> {
        let (least, reason) = self.accepted?;
        (rounded(mean) >= least).then_some(reason)
    }

    /// The bar in words: `>= .988`.
    pub(super) fn words(&self) -> String {
        format!(">= {:.3}", self.least())
    }
}

fn rounded(mean: f64) -> f64 {
    (mean * 1000.0).round() / 1000.0
}

/// The bar of a score, if there is one.
pub(super) fn of(format: &str, metric: Metric) -> Option<&'static Bar> {
    BARS.iter()
        .find(|bar| bar.format == format && bar.metric == metric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_compared_with_three_digits() {
        let best = of("rtf", Metric::BestText).unwrap();
        assert!(best.is_reached(0.9955) && !best.is_reached(0.9954));
        let pdf = of("pdf", Metric::Text).unwrap();
        assert!(pdf.is_reached(0.988) && !pdf.is_reached(0.987));
        assert_eq!(pdf.excuse(0.987), None);
    }

    #[test]
    fn what_is_accepted_has_a_least_value_of_its_own() {
        let pages = of("docx", Metric::BrokenPages).unwrap();
        assert!(!pages.is_reached(0.75));
        assert!(pages.excuse(0.75).is_some() && pages.excuse(0.74).is_none());
    }

    #[test]
    fn no_score_has_two_bars() {
        for (at, bar) in BARS.iter().enumerate() {
            let same = |other: &Bar| other.format == bar.format && other.metric == bar.metric;
            assert!(!BARS[..at].iter().any(same), "{bar:?}");
        }
    }
}
