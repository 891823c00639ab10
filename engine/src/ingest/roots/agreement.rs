//! Whether a folder is the one that a root of a sealed file was made from.
//!
//! A sealed file names its folders without their places. A folder of that name is the root when more
//! than half of a sample of the root's documents are there as files with the same content. Anything
//! less is a guess, and a wrong guess would remove the documents of the root.

use std::io::Read;
use std::path::Path;

use unicode_normalization::UnicodeNormalization;

use crate::ingest::source::open::SourceFolder;

/// Documents of a root that are compared.
// Enough to tell a moved folder from another one: more than half of them must have the same content
// (docs/limits.md).
pub(crate) const SAMPLE_DOCUMENTS: usize = 32;

/// A document of a root, to be compared with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Path below the folder of the root, with `/`, NFC.
    pub relative: String,
    /// Bytes of the file it was made from.
    pub size_bytes: u64,
    /// blake3 of these bytes.
    pub hash: [u8; 32],
}

/// How many samples were found again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Agreement {
    /// Samples that are there with the same content.
    pub same: u32,
    /// Samples in all.
    pub compared: u32,
}

impl Agreement {
    /// Compares `samples` with the files in `folder`. Reads files of equal size only, and through no
    /// link: what a sample is called stands in a file that anybody may have made.
    pub(crate) fn of(folder: &Path, samples: &[Sample]) -> Agreement {
        let same = match SourceFolder::open(folder) {
            Ok(folder) => samples.iter().filter(|s| s.is_in(&folder)).count(),
            Err(_) => 0,
        };
        Agreement {
            same: same as u32,
            compared: samples.len() as u32,
        }
    }

    /// Whether the folder is the root. A root without documents has nothing that could be lost.
    pub(crate) fn is_enough(self) -> bool {
        self.compared == 0 || self.same > self.compared / 2
    }

    /// Whether this one is a better agreement than the other: a larger share of the samples.
    pub(crate) fn is_better_than(self, other: Agreement) -> bool {
        let share = |a: Agreement, b: Agreement| u64::from(a.same) * u64::from(b.compared.max(1));
        share(self, other) > share(other, self)
    }
}

impl Sample {
    fn is_in(&self, folder: &SourceFolder) -> bool {
        // Names are stored in NFC; a disk may have them in NFD.
        let decomposed = || self.relative.nfd().collect::<String>();
        self.is_file(folder, &self.relative) || self.is_file(folder, &decomposed())
    }

    fn is_file(&self, folder: &SourceFolder, relative: &str) -> bool {
        let Ok(file) = folder.open_file(Path::new(relative)) else {
            return false;
        };
        // A file of another size needs no reading.
        let size = file.metadata().map(|found| found.len());
        if size.ok() != Some(self.size_bytes) {
            return false;
        }
        let mut hasher = blake3::Hasher::new();
        let limit = self.size_bytes.saturating_add(1);
        let read = std::io::copy(&mut file.take(limit), &mut hasher);
        read.is_ok() && *hasher.finalize().as_bytes() == self.hash
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn agreement(same: u32, compared: u32) -> Agreement {
        Agreement { same, compared }
    }

    #[test]
    fn more_than_half_must_agree() {
        for (same, compared, enough) in [
            (0, 0, true),
            (0, 1, false),
            (1, 1, true),
            (1, 2, false),
            (2, 3, true),
            (16, 32, false),
            (17, 32, true),
        ] {
            assert_eq!(agreement(same, compared).is_enough(), enough, "{same}");
        }
    }

    #[test]
    fn the_larger_share_is_the_better_agreement() {
        assert!(agreement(3, 3).is_better_than(agreement(30, 32)));
        assert!(!agreement(3, 3).is_better_than(agreement(32, 32)));
        assert!(agreement(1, 32).is_better_than(agreement(0, 0)));
        assert!(!agreement(0, 0).is_better_than(agreement(0, 4)));
    }

    #[test]
    fn content_counts_and_a_name_alone_does_not() {
        // A sample that leads out of the folder compares a file of somebody else: a crafted .kb could
        // ask what is in it.
        let around = tempfile::tempdir().unwrap();
        fs::create_dir(around.path().join("docs")).unwrap();
        fs::write(around.path().join("secret.txt"), "as it was").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("..", around.path().join("docs/up")).unwrap();
        for relative in ["../secret.txt", "up/secret.txt"] {
            let sample = Sample {
                relative: relative.to_owned(),
                size_bytes: 9,
                hash: *blake3::hash(b"as it was").as_bytes(),
            };
            let agreement = Agreement::of(&around.path().join("docs"), &[sample]);
            assert_eq!(agreement.same, 0, "{relative}");
        }

        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("same.txt"), "as it was").unwrap();
        fs::write(folder.path().join("edited.txt"), "as it is!").unwrap();
        fs::write(folder.path().join("e\u{301}.txt"), "as it was").unwrap();
        fs::create_dir(folder.path().join("folder.txt")).unwrap();
        let sample = |relative: &str| Sample {
            relative: relative.to_owned(),
            size_bytes: 9,
            hash: *blake3::hash(b"as it was").as_bytes(),
        };
        let found = |relative: &str| Agreement::of(folder.path(), &[sample(relative)]).same;
        assert_eq!(found("same.txt"), 1);
        assert_eq!(found("\u{e9}.txt"), 1, "the name is in NFD on disk");
        for other in ["edited.txt", "gone.txt", "folder.txt"] {
            assert_eq!(found(other), 0, "{other}");
        }
    }
}
