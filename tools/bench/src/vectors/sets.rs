//! The sets of vectors: what they are, and how each becomes tables on disk, the same for all systems:
//! `rows.npy`, `queries.npy` and `nearest.npy`, the numbers of the hundred nearest rows by exact f32.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use kb_engine::Kb;

use super::{scripts, text};
use crate::peers::npy;

/// Queries of a set.
const QUERIES: usize = 1000;
const QUICK_QUERIES: usize = 200;

/// Rows of a set in a short try.
const QUICK_ROWS: usize = 20_000;

/// Where the rows of a set come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Chunks of a .kb in the built-in model.
    Text,
    /// Drawn around centres; dimensions and seed.
    Clusters { dim: usize, seed: u64 },
}

/// One set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Set {
    /// Name for `--sets` and of its files.
    pub(crate) id: &'static str,
    /// The most rows.
    rows: usize,
    kind: Kind,
}

const fn clusters(id: &'static str, rows: usize, dim: usize, seed: u64) -> Set {
    Set {
        id,
        rows,
        kind: Kind::Clusters { dim, seed },
    }
}

/// All of them.
pub(crate) const SETS: [Set; 4] = [
    Set {
        id: "real-100k",
        rows: 100_000,
        kind: Kind::Text,
    },
    Set {
        id: "real-1m",
        rows: 1_000_000,
        kind: Kind::Text,
    },
    clusters("synthetic-1m", 1_000_000, 768, 1),
    clusters("synthetic-10m", 10_000_000, 256, 2),
];

/// A set on disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Data {
    pub(crate) name: &'static str,
    /// Where its rows come from, in words.
    pub(crate) source: String,
    pub(crate) folder: PathBuf,
    pub(crate) rows: usize,
    pub(crate) dim: usize,
    pub(crate) queries: usize,
}

/// The sets that were named, or those of such a try.
pub(crate) fn chosen(ids: &[String], quick: bool) -> Result<Vec<Set>> {
    for id in ids {
        let known = || SETS.map(|set| set.id).join(", ");
        ensure!(
            SETS.iter().any(|set| set.id == id),
            "no set {id:?}; there are: {}",
            known()
        );
    }
    let wanted = |set: &Set| match ids {
        [] => !quick || set.id == "real-100k",
        _ => ids.iter().any(|id| id == set.id),
    };
    let cut = |set: Set| {
        let rows = if quick { QUICK_ROWS } else { set.rows };
        Set { rows, ..set }
    };
    Ok(SETS.into_iter().filter(wanted).map(cut).collect())
}

impl Set {
    /// Whether it is made of a .kb.
    pub(crate) fn needs_file(&self) -> bool {
        self.kind == Kind::Text
    }

    /// Writes the tables below `parent`, unless they are there from a run that kept them.
    pub(crate) fn make(&self, file: Option<&Path>, parent: &Path, quick: bool) -> Result<Data> {
        let folder = parent.join(self.id);
        let queries = if quick { QUICK_QUERIES } else { QUERIES };
        let (source, stamp) = self.describe(file)?;
        let stamp = format!("{stamp}, {} rows, {queries} queries", self.rows);
        // Written last: a set that was not finished has none.
        let stamped = folder.join("stamp");
        if fs::read_to_string(&stamped).ok().as_deref() != Some(stamp.as_str()) {
            if folder.exists() {
                fs::remove_dir_all(&folder)?;
            }
            fs::create_dir_all(&folder)?;
            self.write(file, queries, &folder)?;
            scripts::make_table(&["nearest".to_owned(), folder.display().to_string()])?;
            fs::write(stamped, stamp)?;
        }
        let rows = npy::Table::of_floats(&folder.join("rows.npy"))?;
        let queries = npy::Table::of_floats(&folder.join("queries.npy"))?;
        ensure!(queries.rows > 0, "{}: no query", self.id);
        Ok(Data {
            name: self.id,
            source,
            rows: rows.rows,
            dim: rows.dim,
            queries: queries.rows,
            folder,
        })
    }

    /// In words, and what must be the same for tables to be kept.
    fn describe(&self, file: Option<&Path>) -> Result<(String, String)> {
        match self.kind {
            Kind::Text => {
                let info = Kb::open(file.context("no .kb")?)?.info()?;
                let source = format!(
                    "chunks of a .kb with {} documents, {} chunks and {:.0} MB of text, spread evenly over \
                     it, in the built-in model; rows without a word that it knows left out. Queries: half \
                     headings and first words, half sentences of chunks",
                    info.documents,
                    info.chunks,
                    info.text_bytes as f64 / 1e6
                );
                let stamp = format!("{} commit {}", info.uuid, info.commit);
                Ok((source, stamp))
            }
            Kind::Clusters { dim, seed } => {
                let source = "drawn around centres, clusters of unlike size and spread, the variance of \
                              directions falling as their number to the power -0.8 \
                              (`baselines/python/vectors/tables.py`). Queries: drawn the same way";
                Ok((source.to_owned(), format!("{dim} numbers, seed {seed}")))
            }
        }
    }

    fn write(&self, file: Option<&Path>, queries: usize, folder: &Path) -> Result<()> {
        match self.kind {
            Kind::Text => text::write(file.context("no .kb")?, self.rows, queries, folder),
            Kind::Clusters { dim, seed } => {
                let folder = folder.display().to_string();
                let numbers = [self.rows, dim, queries].map(|number| number.to_string());
                let mut words = vec!["synthetic".to_owned(), folder];
                words.extend(numbers);
                words.push(seed.to_string());
                scripts::make_table(&words)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_named_or_follow_the_length_of_the_try() {
        assert_eq!(chosen(&[], false).unwrap().len(), SETS.len());
        let quick = chosen(&[], true).unwrap();
        assert_eq!((quick.len(), quick[0].rows), (1, QUICK_ROWS));
        let named = chosen(&["synthetic-1m".to_owned()], false).unwrap();
        assert!(!named[0].needs_file() && named[0].rows == 1_000_000);
        assert!(chosen(&["real".to_owned()], false).is_err());
    }
}
