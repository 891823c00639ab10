//! walk -> extract -> chunk -> embed on all cores, in the order of paths.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kb_extract::secrets;
use kb_extract::worker::extractor::Extractor;
use kb_extract::worker::refusal::{Refusal, RefusalKind};
use kb_types::DocumentId;
use kb_types::error::Result;

use crate::embed::Embedder;
use crate::ingest::changes::comparison::Candidate;
use crate::ingest::options::IndexOptions;
use crate::ingest::ordered::{Job, Work, in_order};
use crate::ingest::prepare::preparer::{Chunking, Prepared, Preparer, Source};
use crate::ingest::prepare::preserved::PreservedDocument;
use crate::ingest::report::Skipped;
use crate::ingest::source::open::OpenError;
use crate::ingest::walk::SourceFile;
use crate::progress::Reporter;
use crate::store::skipped::SkippedRecord;

/// In place of the hash of a file whose bytes were read and are not at hand.
// Other than zero, which stands for a file that was not read. No file has this hash, as far as
// anyone can make one.
const NOT_HASHED: [u8; 32] = [0xff; 32];

/// What is prepared, or passes by in its place in the order.
#[derive(Debug)]
pub(crate) enum Input {
    /// A file, to be read.
    File(Box<Candidate>),
    /// A document of a file that is rebuilt.
    Document(Box<PreservedDocument>),
    /// The file of a document is gone.
    Remove(String, DocumentId),
    /// A file that was left out is gone.
    Forget(String),
    /// A file is left out unread.
    Note(String, Box<SkippedRecord>),
}

impl Input {
    /// Bytes that are read for it, or are in memory already.
    fn size_bytes(&self) -> u64 {
        match self {
            Input::File(candidate) => candidate.file.size_bytes,
            Input::Document(preserved) => {
                let parts = preserved.parts.as_ref();
                parts.map_or(0, |(document, ..)| document.text.len() as u64)
            }
            Input::Remove(..) | Input::Forget(_) | Input::Note(..) => 0,
        }
    }
}

/// What became of it.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Ready to be written.
    Prepared(Box<Prepared>),
    /// Size, time and bytes of the file are those that the .kb knows.
    Unchanged,
    /// The bytes are those that the document was made from, the time is another.
    Same,
    /// Read and left out, with the hash of what was read.
    Skipped(Skipped, [u8; 32]),
    /// It could not be read now; nothing is known of it. What is known from before stays.
    Unread(Skipped),
    /// It is gone, and was not prepared.
    Removed,
}

/// How files are prepared.
#[derive(Clone, Copy)]
pub(crate) struct Preparation<'p> {
    /// Makes vectors.
    pub model: &'p dyn Embedder,
    /// The quantiser of the file.
    pub range: f32,
    /// Limits, threads, and whether documents whose bytes are the same are made again.
    pub options: &'p IndexOptions,
    /// Whether programs are parsed; else they are marked as pending.
    pub parses: bool,
}

impl Preparation<'_> {
    /// Draws inputs, prepares them on worker threads and hands each with its outcome to `write`, in
    /// their order. Both functions are called on this thread.
    ///
    /// # Errors
    /// The first of `inputs` or `write`; [`crate::Error::Cancelled`] when asked to stop;
    /// [`crate::Error::Io`] when the system gives no thread.
    pub(crate) fn in_order(
        &self,
        reporter: &Reporter<'_>,
        mut inputs: impl FnMut() -> Result<Option<Input>>,
        mut write: impl FnMut(Input, Outcome) -> Result<()>,
    ) -> Result<()> {
        in_order(
            self.options.threads,
            reporter,
            &Prepare {
                preparation: *self,
                stop: Arc::default(),
            },
            || {
                reporter.tick()?;
                Ok(inputs()?.map(|input| match input {
                    Input::Remove(..) | Input::Forget(_) | Input::Note(..) => {
                        Job::Done(input, Outcome::Removed)
                    }
                    _ => {
                        let bytes = input.size_bytes();
                        Job::Work(input, bytes)
                    }
                }))
            },
            |input, outcome| {
                reporter.tick()?;
                write(input, outcome)
            },
        )
    }
}

struct Prepare<'p> {
    preparation: Preparation<'p>,
    /// Ends the extraction of files that nobody waits for any more.
    stop: Arc<AtomicBool>,
}

/// What a thread keeps between files.
struct PrepareState<'p> {
    extractor: Extractor,
    preparer: Preparer<'p>,
}

impl<'p> Work<Input, Outcome> for Prepare<'p> {
    type State = PrepareState<'p>;

    fn begin(&self) -> PrepareState<'p> {
        let extraction = self.preparation.options.extraction.clone();
        PrepareState {
            extractor: Extractor::with_stop(extraction, Arc::clone(&self.stop)),
            preparer: Preparer::new(self.preparation.model, self.preparation.range),
        }
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn work(&self, state: &mut PrepareState<'p>, input: &mut Input) -> Outcome {
        let PrepareState {
            extractor,
            preparer,
        } = state;
        match input {
            Input::File(candidate) => prepare(extractor, preparer, candidate, self.preparation),
            Input::Document(preserved) => {
                let Some((document, source, chunking)) = preserved.parts.take() else {
                    return unread(preserved.path.clone(), "prepared before".to_owned());
                };
                match preparer.prepare(document, source, chunking) {
                    Ok(prepared) => Outcome::Prepared(Box::new(prepared)),
                    Err(error) => unread(preserved.path.clone(), error.to_string()),
                }
            }
            Input::Remove(..) | Input::Forget(_) | Input::Note(..) => Outcome::Removed,
        }
    }

    fn held_bytes(&self, _: &Input, outcome: &Outcome) -> u64 {
        match outcome {
            Outcome::Prepared(prepared) => prepared.held_bytes(),
            _ => 0,
        }
    }

    /// A new file is left out as one that cannot be read as text: until it changes, or another version
    /// of this program sees it. A document that is known stays as it is, and its file is tried again
    /// each time.
    fn panicked(&self, input: &Input) -> Outcome {
        let reason = "extraction failed inside; please report this file".to_owned();
        match input {
            Input::File(candidate) => failed(candidate, reason, NOT_HASHED),
            Input::Document(preserved) => unread(preserved.path.clone(), reason),
            Input::Remove(..) | Input::Forget(_) | Input::Note(..) => Outcome::Removed,
        }
    }
}

fn prepare(
    extractor: &mut Extractor,
    preparer: &mut Preparer<'_>,
    candidate: &Candidate,
    preparation: Preparation<'_>,
) -> Outcome {
    let Preparation {
        options, parses, ..
    } = preparation;
    let file = &candidate.file;
    if candidate.same_metadata && candidate.is_same() {
        return Outcome::Unchanged;
    }
    let is_checked = !options.include_secrets.unwrap_or(false);
    // By the name first: the bytes of a key are not even read.
    if is_checked && let Some(secret) = secrets::secret_by_name(&file.document_path) {
        return skipped(file, secret.to_string(), [0; 32]);
    }
    let limit = options.max_file_bytes;
    let bytes = match read(file, limit) {
        Ok(bytes) if bytes.len() as u64 > limit => {
            return skipped(file, format!("larger than {limit} bytes"), [0; 32]);
        }
        Ok(bytes) => bytes,
        Err(error) => return unread(file.document_path.clone(), error.to_string()),
    };
    let hash = *blake3::hash(&bytes).as_bytes();
    let is_same = !options.rebuild && candidate.stored.is_some_and(|stored| stored.hash == hash);
    if is_same && !candidate.is_unsearched && !candidate.is_pending {
        return Outcome::Same;
    }
    let read = if parses {
        extractor.extract(&file.document_path, &bytes)
    } else {
        extractor.extract_before_parsing(&file.document_path, &bytes)
    };
    let document = match read {
        Ok(document) => document,
        // It is read only to be searched for secrets. A reader that fails now must not cost a
        // document that is good.
        Err(_) if is_same => return Outcome::Same,
        Err(refusal) => return refused(candidate, refusal, hash),
    };
    if is_checked && let Some(secret) = secrets::secret_in(&document) {
        return skipped(file, secret.to_string(), hash);
    }
    if is_same && !candidate.is_pending {
        return Outcome::Same;
    }
    let source = Source {
        root: Some(file.root),
        size_bytes: bytes.len() as u64,
        modified_ms: file.modified_ms,
        hash,
    };
    match preparer.prepare(document, source, Chunking::Auto) {
        Ok(prepared) => Outcome::Prepared(Box::new(prepared)),
        Err(error) => skipped(file, error.to_string(), hash),
    }
}

/// A file without a document: remembered until it changes, unless it may be read the next time.
fn refused(candidate: &Candidate, refusal: Refusal, hash: [u8; 32]) -> Outcome {
    let Refusal { kind, reason } = refusal;
    match kind {
        RefusalKind::Unreadable | RefusalKind::Encrypted | RefusalKind::Limit => {
            skipped(&candidate.file, reason, hash)
        }
        RefusalKind::Failed => failed(candidate, reason, hash),
        RefusalKind::Interrupted | RefusalKind::NoWorker => {
            unread(candidate.file.document_path.clone(), reason)
        }
    }
}

fn failed(candidate: &Candidate, reason: String, hash: [u8; 32]) -> Outcome {
    match candidate.stored {
        None => skipped(&candidate.file, reason, hash),
        Some(_) => unread(candidate.file.document_path.clone(), reason),
    }
}

/// Reads a file that may have grown since the walk, at most one byte more than the limit.
fn read(file: &SourceFile, limit: u64) -> std::result::Result<Vec<u8>, OpenError> {
    let open = file.open()?;
    let mut bytes = Vec::with_capacity(usize::try_from(file.size_bytes.min(limit)).unwrap_or(0));
    // One byte more than the limit tells that the file is too large by now: its size in the walk
    // may be old.
    open.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn skipped(file: &SourceFile, reason: String, hash: [u8; 32]) -> Outcome {
    let path = file.document_path.clone();
    Outcome::Skipped(Skipped::new(path, reason), hash)
}

fn unread(path: String, reason: String) -> Outcome {
    Outcome::Unread(Skipped::new(path, reason))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::embed::built_in;
    use crate::embed::embedder::Coverage;
    use crate::ingest::changes::comparison::StoredDocument;
    use crate::ingest::root::{Root, Scope};
    use crate::ingest::walk::{Walk, WalkItem, WalkOptions};

    /// A model with a defect that one word brings out.
    #[derive(Debug)]
    struct Defect;

    impl Embedder for Defect {
        fn id(&self) -> &str {
            "defect"
        }

        fn hash(&self) -> [u8; 32] {
            [0; 32]
        }

        fn dim(&self) -> usize {
            8
        }

        fn embed_documents(&self, texts: &[&str], out: &mut [f32]) -> Result<()> {
            assert!(
                !texts.iter().any(|text| text.contains("defect")),
                "a defect"
            );
            out.fill(0.0);
            Ok(())
        }

        fn embed_queries(&self, _: &[&str], out: &mut [f32]) -> Result<()> {
            out.fill(0.0);
            Ok(())
        }

        fn coverage(&self, _: &str) -> Coverage {
            built_in().coverage("")
        }
    }

    #[test]
    fn a_panic_leaves_a_known_document_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.txt", "known.txt", "new.txt", "z.txt"] {
            let text = if name.len() > 5 { "a defect" } else { "text" };
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let root = Root {
            id: 1,
            folder: folder.path().to_owned(),
            prefix: String::new(),
            scope: Scope::Whole,
            foreign: BTreeSet::new(),
            elsewhere: Vec::new(),
            selection: Default::default(),
            indexed_ms: 0,
        };
        let walk_options = WalkOptions {
            max_file_bytes: 1000,
            ..WalkOptions::default()
        };
        let reporter = Reporter::silent();
        let walk = Walk::new(&[root], walk_options, &reporter).unwrap();
        let mut files = walk.map(|found| match found.unwrap() {
            WalkItem::File(file) => {
                let known = file.document_path.starts_with("known");
                Input::File(Box::new(Candidate {
                    stored: known.then_some(StoredDocument {
                        id: DocumentId(7),
                        hash: [1; 32],
                    }),
                    skipped: None,
                    same_metadata: false,
                    is_unsearched: false,
                    is_pending: false,
                    file,
                }))
            }
            other => panic!("{other:?}"),
        });
        let options = IndexOptions::default();
        let preparation = Preparation {
            model: &Defect,
            range: 1.0,
            options: &options,
            parses: true,
        };
        let mut outcomes = Vec::new();
        let ran = preparation.in_order(
            &Reporter::silent(),
            || Ok(files.next()),
            |_, outcome| {
                outcomes.push(outcome);
                Ok(())
            },
        );
        ran.unwrap();
        assert!(matches!(
            outcomes.as_slice(),
            [
                Outcome::Prepared(_),
                Outcome::Unread(_),
                Outcome::Skipped(..),
                Outcome::Prepared(_)
            ]
        ));
    }
}
