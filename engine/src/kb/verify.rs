//! Whether an open .kb is what it should be.

use crate::check::{self, VerifyReport};
use crate::error::Result;
use crate::kb::read::Kb;

impl Kb {
    /// Reads the newest commit and says what is wrong with it: all pages and extents against their
    /// checksums and, with `deep`, everything that the file says twice: text against its hash, rows
    /// against documents, words, vectors and tags against each other, a sealed file against its
    /// content root. It repairs nothing. `progress` hears of bytes done and to be done.
    ///
    /// Cost: reads all bytes in use once; deep about 2 s for 100 MB of text.
    ///
    /// # Errors
    /// [`crate::Error::SnapshotExpired`] when commits overtook every attempt; [`crate::Error::Io`].
    /// Damage is no error: it is in [`VerifyReport::problems`].
    pub fn verify(&self, deep: bool, progress: &mut dyn FnMut(u64, u64)) -> Result<VerifyReport> {
        check::verify(self.container(), deep, progress)
    }
}
