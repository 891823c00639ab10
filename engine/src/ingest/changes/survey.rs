//! A first look at all differences: whether there are any and how much is to be read, before a file is
//! locked and written.
//!
//! The differences are buffered up to a bound of memory. When there are more, they are found again, one by
//! one, while they are applied.

use kb_extract::is_program_by_name;
use kb_types::error::Result;

use crate::ingest::changes::comparison::{Candidate, Change, Comparison, Sides};
use crate::ingest::changes::tally::Tally;
use crate::ingest::options::IndexOptions;
use crate::ingest::ordered::{Job, Work, in_order};
use crate::ingest::report::Skipped;
use crate::progress::Reporter;
use crate::store::skipped::SkippedRecord;

/// Memory limit of the differences that wait to be applied, in bytes.
// About 40,000 differences. With more, the rest is found by another pass: holding all records took
// 1.6 GB for a million documents (docs/decisions/04-segments.md).
pub(crate) const BUFFER_LIMIT_BYTES: usize = 16 << 20;

/// Memory of a thread that compares content.
const COMPARED_BYTES: u64 = 64 << 10;

/// What there is to do.
#[derive(Debug, Clone, Default)]
pub(crate) struct Survey {
    /// What is counted beside the differences.
    pub tally: Tally,
    /// Files that must be read.
    pub files: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Bytes of those that are programs by their names.
    pub program_bytes: u64,
    /// Files among them whose documents are only to be parsed.
    pub pending_files: u64,
    /// Bytes of the files that are only to be parsed.
    pub pending_bytes: u64,
    /// Documents and remembered files that are gone, and files to be remembered as left out.
    pub gone: u64,
    /// The differences; `None`: more than are buffered.
    buffered: Option<Vec<Change>>,
}

impl Survey {
    /// Compares both sides. The content of files whose size and time are as they were is compared on
    /// all cores where these prove nothing, so that a run without changes writes nothing.
    /// `limit_bytes`: see [`BUFFER_LIMIT_BYTES`].
    ///
    /// # Errors
    /// Those of [`Comparison`]; [`crate::Error::Cancelled`] when asked to stop.
    pub(crate) fn new(
        sides: Sides<'_>,
        options: &IndexOptions,
        limit_bytes: usize,
        reporter: &Reporter<'_>,
    ) -> Result<Survey> {
        let mut comparison = Comparison::new(sides, options, reporter)?;
        let mut survey = Survey {
            buffered: Some(Vec::new()),
            ..Survey::default()
        };
        let (mut unchanged, mut skipped, mut buffered_bytes) = (0, Vec::new(), 0);
        in_order(
            options.threads,
            reporter,
            &CompareContent,
            || {
                reporter.tick()?;
                Ok(comparison.next_change()?.map(|change| match &change {
                    Change::Read(candidate) if candidate.same_metadata => {
                        Job::Work(change, COMPARED_BYTES)
                    }
                    _ => Job::Done(change, false),
                }))
            },
            |mut change, is_same| {
                if let Change::Read(candidate) = &mut change {
                    if is_same {
                        match candidate.skipped.take() {
                            None => unchanged += 1,
                            Some(record) => {
                                let path = candidate.file.document_path.as_str();
                                skipped.push(Skipped::new(path, record.reason));
                            }
                        }
                        return Ok(());
                    }
                    candidate.same_metadata = false;
                    survey.files += 1;
                    survey.count_bytes(candidate);
                } else if !matches!(change, Change::Preserve(_)) {
                    survey.gone += 1;
                }
                buffered_bytes += memory_bytes(&change);
                match &mut survey.buffered {
                    Some(buffered) if buffered_bytes <= limit_bytes => buffered.push(change),
                    buffered => *buffered = None,
                }
                Ok(())
            },
        )?;
        survey.tally = comparison.finish()?;
        survey.tally.unchanged += unchanged;
        survey.tally.skipped.append(&mut skipped);
        Ok(survey)
    }

    fn count_bytes(&mut self, candidate: &Candidate) {
        let bytes = candidate.file.size_bytes;
        self.bytes = self.bytes.saturating_add(bytes);
        if is_program_by_name(&candidate.file.document_path) {
            self.program_bytes = self.program_bytes.saturating_add(bytes);
        }
        if candidate.is_pending {
            self.pending_files += 1;
            self.pending_bytes = self.pending_bytes.saturating_add(bytes);
        }
    }

    /// Whether nothing must be read, removed or forgotten.
    pub(crate) fn is_empty(&self) -> bool {
        self.files == 0 && self.gone == 0
    }

    /// The differences, in the order of paths: those that are buffered, or as both sides have them now.
    ///
    /// # Errors
    /// As [`Comparison::new`].
    pub(crate) fn into_changes<'s>(
        self,
        sides: Sides<'s>,
        options: &IndexOptions,
        reporter: &'s Reporter<'s>,
    ) -> Result<Changes<'s>> {
        Ok(match self.buffered {
            Some(buffered) => Changes::Buffered(buffered.into_iter(), self.tally),
            None => Changes::Rescan(Box::new(Comparison::new(sides, options, reporter)?)),
        })
    }
}

/// Bytes of memory that a difference takes.
fn memory_bytes(change: &Change) -> usize {
    let texts = match change {
        Change::Read(candidate) => {
            let skipped = candidate
                .skipped
                .as_ref()
                .map_or(0, |stored| stored.reason.len());
            // The path stands in it twice, once as that on disk.
            size_of::<Candidate>() + 2 * candidate.file.document_path.len() + skipped
        }
        Change::Remove(path, _) | Change::Forget(path) => path.len(),
        Change::Note(path, record) => path.len() + size_of::<SkippedRecord>() + record.reason.len(),
        Change::Preserve(document) => document.path.len(),
    };
    size_of::<Change>() + texts
}

/// Differences on their way into the file.
#[derive(Debug)]
pub(crate) enum Changes<'s> {
    /// Those of a survey, and what it counted.
    Buffered(std::vec::IntoIter<Change>, Tally),
    /// Found again.
    Rescan(Box<Comparison<'s>>),
}

impl Changes<'_> {
    /// The next one; `None` at the end.
    ///
    /// # Errors
    /// As [`Comparison::next_change`].
    pub(crate) fn next_change(&mut self) -> Result<Option<Change>> {
        match self {
            Changes::Buffered(changes, _) => Ok(changes.next()),
            Changes::Rescan(comparison) => comparison.next_change(),
        }
    }

    /// What was counted beside them, at the end.
    ///
    /// # Errors
    /// As [`Comparison::finish`].
    pub(crate) fn finish(self) -> Result<Tally> {
        match self {
            Changes::Buffered(_, tally) => Ok(tally),
            Changes::Rescan(comparison) => comparison.finish(),
        }
    }
}

/// Compares the content of files.
struct CompareContent;

impl Work<Change, bool> for CompareContent {
    type State = ();

    fn begin(&self) {}

    fn work(&self, (): &mut (), change: &mut Change) -> bool {
        match change {
            Change::Read(candidate) => candidate.is_same(),
            _ => false,
        }
    }

    fn held_bytes(&self, _: &Change, _: &bool) -> u64 {
        0
    }

    /// It is read again.
    fn panicked(&self, _: &Change) -> bool {
        false
    }
}
