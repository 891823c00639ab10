//! What the results of benches beside other systems have in common: what became of each system, and the files that
//! they are written to.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use xtask::repository;

use crate::machine;

/// What became of one system.
#[derive(Debug)]
pub(crate) struct Outcome<M> {
    pub(crate) name: &'static str,
    pub(crate) note: &'static str,
    pub(crate) is_ours: bool,
    /// Its figures, or why there are none.
    pub(crate) measured: std::result::Result<M, String>,
}

impl<M> Outcome<M> {
    /// An error of a peer becomes a row of the tables; an error of ours ends the bench.
    pub(crate) fn of(
        name: &'static str,
        note: &'static str,
        is_ours: bool,
        measured: Result<M>,
    ) -> Result<Outcome<M>> {
        if let Err(error) = &measured {
            eprintln!("{name}: {error:#}");
            ensure!(!is_ours, "{name}: {error:#}");
        }
        Ok(Outcome {
            name,
            note,
            is_ours,
            measured: measured.map_err(|error| format!("{error:#}")),
        })
    }

    /// The object that `figures` makes of the figures, or the reason why there are none, with name and note.
    pub(crate) fn to_json(&self, figures: impl Fn(&M) -> Value) -> Value {
        let mut value = match &self.measured {
            Ok(measured) => figures(measured),
            Err(reason) => json!({"missing": reason}),
        };
        value["name"] = self.name.into();
        value["note"] = self.note.into();
        value
    }
}

/// The systems that have figures, with their names.
pub(crate) fn measured<M>(systems: &[Outcome<M>]) -> impl Iterator<Item = (&'static str, &M)> {
    systems
        .iter()
        .filter_map(|system| Some((system.name, system.measured.as_ref().ok()?)))
}

/// The middle value; 0 of nothing.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Where the tables of a bench go. A short try must not take the place of results, so it stays in its folder.
pub(crate) fn default_table(bench: &str, quick: bool, folder: &Path) -> PathBuf {
    let name = format!("{bench}-{}.md", machine::today());
    if quick {
        folder.join(name)
    } else {
        repository::root().join("tests/bench-results").join(name)
    }
}

/// Writes the tables, and beside them the same as JSON.
pub(crate) fn write_tables(table: &Path, text: &str, figures: &Value) -> Result<()> {
    write(table, text)?;
    let json = serde_json::to_string_pretty(figures)?;
    write(&table.with_extension("json"), &(json + "\n"))
}

/// Writes one file of the results.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn the_middle_value_is_the_median() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(Vec::new()), 0.0);
    }

    #[test]
    fn only_our_errors_end_a_bench() {
        let failed = |is_ours| Outcome::<u32>::of("one", "note", is_ours, Err(anyhow!("gone")));
        assert!(failed(true).is_err());
        let peer = failed(false)
            .unwrap()
            .to_json(|number| json!({ "number": number }));
        assert_eq!(
            peer,
            json!({"name": "one", "note": "note", "missing": "gone"})
        );
    }
}
