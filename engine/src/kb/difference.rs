//! How one file differs from another.

use std::cell::RefCell;

use kb_types::error::{Error, Result};

use crate::check::{self, Difference};
use crate::kb::Kb;
use crate::kb::open_file::read_all;
use crate::progress::{Hook, Reporter};

impl Kb {
    /// How the documents of `newer` differ from those of this file, by their paths. Compares records, and reads outlines,
    /// symbols, chunk rows and vectors of documents whose records are alike; no text.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::SnapshotExpired`], [`Error::Cancelled`].
    pub fn difference(&self, newer: &Kb, hook: &mut Hook<'_>) -> Result<Difference> {
        let hook = RefCell::new(hook);
        let reporter = Reporter::new(&hook);
        read_all(&[&self.file, &newer.file], &reporter, &mut |sources| {
            let [old, new] = sources else {
                return Err(Error::SnapshotExpired);
            };
            let sides = ((old.snapshot, old.catalog), (new.snapshot, new.catalog));
            check::difference(sides.0, sides.1, &mut || reporter.tick())
        })
    }
}
