//! The tables, as Markdown.

use super::figures::Figures;
use crate::bootstrap::Interval;

/// Prints the rows of one mode; a short table has the first row only.
pub(super) fn print(mode: &str, rows: &[Figures]) {
    println!("\n## Questions, {mode}\n");
    println!(
        "| | questions | span@1 | @3 | @5 | @10 | MRR | 95 % | file@1 | @3 | @5 | @10 |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|"
    );
    for row in rows {
        println!("{}", line(row));
    }
    if let Some(all) = rows.first() {
        let cells = |figures: &[Interval; 4]| figures.map(range).join(" | ");
        println!(
            "| 95 % of all | | {} | {} | | {} |",
            cells(&all.span),
            range(all.mrr),
            cells(&all.file)
        );
    }
}

fn line(row: &Figures) -> String {
    let cells = |figures: &[Interval; 4]| figures.map(|figure| share(figure.mean, 2)).join(" | ");
    format!(
        "| {} | {} | {} | {} | {} | {} |",
        row.name,
        row.questions,
        cells(&row.span),
        share(row.mrr.mean, 3),
        range(row.mrr),
        cells(&row.file)
    )
}

fn range(figure: Interval) -> String {
    format!("{}-{}", share(figure.low, 2), share(figure.high, 2))
}

/// A number from 0 to 1 without the leading zero.
pub(super) fn share(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    text.strip_prefix('0').map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_shares_without_leading_zeros() {
        let figure = |mean: f64| Interval {
            mean,
            low: mean - 0.1,
            high: mean + 0.1,
        };
        let row = Figures {
            name: "why".to_owned(),
            questions: 8,
            span: [0.31, 0.5, 0.625, 1.0].map(figure),
            file: [0.4, 0.5, 0.75, 1.0].map(figure),
            mrr: figure(0.4532),
        };
        assert_eq!(
            line(&row),
            "| why | 8 | .31 | .50 | .62 | 1.00 | .453 | .35-.55 | .40 | .50 | .75 | 1.00 |"
        );
    }
}
