//! How many of the true nearest a system finds.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::peers::{EQUAL, K, npy};

/// The exact nearest of each query.
pub(crate) struct Truth {
    rows: npy::Table,
    queries: Vec<Vec<f32>>,
    /// By query: the score of the last of the true ten.
    floors: Vec<f32>,
    /// Scores of query and row that were looked at; systems find the same rows again and again.
    scores: HashMap<(usize, usize), f32>,
}

impl Truth {
    /// Of a set: its rows, queries and the numbers of the nearest.
    pub(crate) fn open(folder: &Path) -> Result<Truth> {
        let mut queries = npy::Table::of_floats(&folder.join("queries.npy"))?;
        let mut nearest = npy::Table::of_integers(&folder.join("nearest.npy"))?;
        let queries: Result<_> = (0..queries.rows)
            .map(|row| queries.floats(row, 1))
            .collect();
        let mut truth = Truth {
            rows: npy::Table::of_floats(&folder.join("rows.npy"))?,
            queries: queries?,
            floors: Vec::new(),
            scores: HashMap::new(),
        };
        for query in 0..truth.queries.len() {
            let rows = nearest.integers(query)?;
            let last = rows.get(K - 1).context("fewer than ten nearest rows")?;
            let floor = truth.score(query, usize::try_from(*last)?)?;
            truth.floors.push(floor);
        }
        Ok(truth)
    }

    /// Mean share of the true ten among the rows found for the first queries, and how many these are.
    /// Rows whose score equals that of the tenth count too: equal texts are common, and any of them is right.
    pub(crate) fn recall(&mut self, found: &Value) -> Result<(f64, usize)> {
        let found = found.as_array().context("no answers")?;
        let mut right = 0;
        for (query, rows) in found.iter().enumerate() {
            let floor = *self
                .floors
                .get(query)
                .context("more answers than queries")?;
            let mut rows: Vec<usize> = serde_json::from_value(rows.clone())?;
            rows.truncate(K);
            rows.sort_unstable();
            rows.dedup();
            for row in rows {
                right += usize::from(self.score(query, row)? >= floor - EQUAL);
            }
        }
        let wanted = (found.len() * K).max(1);
        Ok((right as f64 / wanted as f64, found.len()))
    }

    fn score(&mut self, query: usize, row: usize) -> Result<f32> {
        if let Some(score) = self.scores.get(&(query, row)) {
            return Ok(*score);
        }
        let asked = self.queries.get(query).context("no such query")?;
        let row_numbers = self.rows.floats(row, 1)?;
        let score = asked.iter().zip(&row_numbers).map(|(x, y)| x * y).sum();
        self.scores.insert((query, row), score);
        Ok(score)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn ties_with_the_tenth_count_and_a_row_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        // Row r has the score 1 - r / 2 / 100: each score comes twice.
        let mut rows = npy::Writer::create(&folder.path().join("rows.npy"), 2).unwrap();
        for row in 0..40 {
            rows.push(&[1.0 - (row / 2) as f32 / 100.0, 0.0]).unwrap();
        }
        rows.finish().unwrap();
        let mut queries = npy::Writer::create(&folder.path().join("queries.npy"), 2).unwrap();
        queries.push(&[1.0, 0.0]).unwrap();
        queries.finish().unwrap();
        // The header says that they are integers.
        let nearest = folder.path().join("nearest.npy");
        let mut table = npy::Writer::create(&nearest, 10).unwrap();
        let numbers: Vec<f32> = (0..10).map(f32::from_bits).collect();
        table.push(&numbers).unwrap();
        table.finish().unwrap();
        let mut bytes = fs::read(&nearest).unwrap();
        let kind = bytes.windows(3).position(|three| three == b"<f4").unwrap();
        bytes[kind + 1] = b'i';
        fs::write(&nearest, bytes).unwrap();

        let mut truth = Truth::open(folder.path()).unwrap();
        let all = json!([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]);
        assert_eq!(truth.recall(&all).unwrap(), (1.0, 1));
        let some = json!([[0, 0, 1, 8, 9, 10, 11, 12, 13]]);
        assert_eq!(truth.recall(&some).unwrap().0, 0.4);
        assert!(truth.recall(&json!([[40]])).is_err());
        assert!(truth.recall(&json!([[0], [0]])).is_err());
    }
}
