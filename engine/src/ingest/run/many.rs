//! Many documents: read, cut, analysed and embedded on all cores, added in their order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kb_extract::secrets::{self, Secret};
use kb_extract::tags;
use kb_extract::worker::extraction::Extraction;
use kb_extract::worker::extractor::Extractor;
use kb_types::error::{Error, Result};
use unicode_normalization::UnicodeNormalization;

use crate::embed;
use crate::ingest::ordered::{Job, Work, in_order};
use crate::ingest::prepare::preparer::{Chunking, Prepared, Preparer};
use crate::ingest::run::session::Session;
use crate::ingest::run::source_info::SourceInfo;
use crate::progress::{Reporter, Stage};
use crate::store::fields::{self, FieldValue, give_fields};

/// Bytes of content after which a job takes no more documents.
// Handing over a job costs some microseconds, as much as reading a short row. 32 MiB of results in memory are still
// hundreds of jobs.
const JOB_BYTES: usize = 32 << 10;

/// Most documents of a job.
const JOB_DOCUMENTS: usize = 64;

/// A document for [`KbWriter::add_many`](crate::KbWriter::add_many).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewDocument {
    /// Path inside the .kb, at most as long as [`KbWriter::add`](crate::KbWriter::add) takes; it is composed (NFC).
    pub path: String,
    /// Bytes of a file of any format that is read.
    pub content: Vec<u8>,
    /// The path as whose file the content is read; `None`: as that of `path`.
    pub read_as: Option<String>,
    /// Title in the place of the one that the content states.
    pub title: Option<String>,
    /// Tags beside those that the content states.
    pub tags: Vec<String>,
    /// Fields, as by [`give_fields`].
    pub fields: Vec<(String, Vec<FieldValue>)>,
    /// When the original was changed, milliseconds since 1970; `None`: now.
    pub modified_ms: Option<i64>,
}

/// How documents are added by [`KbWriter::add_many`](crate::KbWriter::add_many).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AddOptions {
    /// Whether a document takes the place of one that has its path.
    pub replace: bool,
    /// Whether documents with keys or credentials are added.
    pub include_secrets: bool,
    /// Threads that prepare documents; 0: one for each core.
    pub threads: usize,
}

/// What became of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Added {
    /// It waits for the next commit.
    New,
    /// It takes the place of another at the next commit.
    Replaced,
    /// It may hold a key or credentials, and is left out.
    Refused(Secret),
}

/// Is told what became of each document, in their order, and gets the writer.
pub(crate) type EachAdded<'e, W, T> = dyn FnMut(&mut W, T, Result<Added>) -> Result<()> + 'e;

/// Documents that one thread prepares, with what the caller knows of each.
type Rows<T> = Vec<(T, Row)>;

/// A document on its way.
enum Row {
    New(Box<NewDocument>),
    Ready(Box<Ready>),
    Refused(Secret),
    Failed(Error),
    /// It is being prepared.
    Taken(String),
}

/// What was read and prepared of a document.
struct Ready {
    /// Composed (NFC).
    path: String,
    prepared: Result<Prepared>,
    /// Names of the fields that it is given.
    names: Vec<String>,
    /// Normal.
    tags: Vec<String>,
}

impl Session {
    /// See [`crate::KbWriter::add_many`]. `session` finds this session in `writer`, which `each` is given.
    pub(crate) fn add_many<W, T: Send>(
        writer: &mut W,
        session: fn(&mut W) -> &mut Session,
        rows: &mut dyn Iterator<Item = (T, Result<NewDocument>)>,
        options: AddOptions,
        each: &mut EachAdded<'_, W, T>,
        reporter: &Reporter<'_>,
    ) -> Result<()> {
        reporter.start(Stage::Index)?;
        let this = session(writer);
        // Before a row is drawn, so that none is lost while another writer has the file.
        this.lock_for_change()?;
        let work = Prepare {
            extraction: this.extractor.extraction().clone(),
            stop: Arc::default(),
            include_secrets: options.include_secrets,
        };
        let mut rows = rows.fuse();
        in_order(
            options.threads,
            reporter,
            &work,
            || {
                reporter.tick()?;
                Ok(job_of(&mut rows))
            },
            |rows: Rows<T>, ()| {
                for (of, row) in rows {
                    reporter.tick()?;
                    let added = session(writer).add_row(row, options.replace);
                    each(writer, of, added)?;
                }
                Ok(())
            },
        )
    }

    fn add_row(&mut self, row: Row, replace: bool) -> Result<Added> {
        match row {
            Row::Ready(ready) => {
                let Ready {
                    path,
                    prepared,
                    names,
                    tags,
                } = *ready;
                let replaced = self.put_prepared(path, prepared, [&names, &tags], replace)?;
                Ok(if replaced {
                    Added::Replaced
                } else {
                    Added::New
                })
            }
            Row::Refused(secret) => Ok(Added::Refused(secret)),
            Row::Failed(error) => Err(error),
            // The thread panicked, at this one or one before it.
            Row::New(new) => Err(failed(new.path)),
            Row::Taken(path) => Err(failed(path)),
        }
    }
}

fn failed(path: String) -> Error {
    Error::ExtractionFailed {
        path,
        reason: "extraction failed inside; please report this file".to_owned(),
    }
}

/// The next documents as a job; `None` behind the last.
fn job_of<T>(rows: &mut dyn Iterator<Item = (T, Result<NewDocument>)>) -> Option<Job<Rows<T>, ()>> {
    let (mut job, mut bytes) = (Rows::new(), 0);
    while job.len() < JOB_DOCUMENTS
        && bytes < JOB_BYTES
        && let Some((of, row)) = rows.next()
    {
        let is_last = row.is_err();
        let row = match row {
            Ok(new) => {
                bytes += new.content.len();
                Row::New(Box::new(new))
            }
            Err(error) => Row::Failed(error),
        };
        job.push((of, row));
        // The caller mostly stops here: nothing behind it is read for nothing.
        if is_last {
            break;
        }
    }
    (!job.is_empty()).then(|| Job::Work(job, bytes as u64))
}

struct Prepare {
    extraction: Extraction,
    /// Ends the extraction of documents that nobody waits for any more.
    stop: Arc<AtomicBool>,
    include_secrets: bool,
}

/// What a thread keeps between documents.
struct PrepareState {
    extractor: Extractor,
    preparer: Preparer<'static>,
}

impl<T> Work<Rows<T>, ()> for Prepare {
    type State = PrepareState;

    fn begin(&self) -> PrepareState {
        let model = embed::built_in();
        PrepareState {
            extractor: Extractor::with_stop(self.extraction.clone(), Arc::clone(&self.stop)),
            preparer: Preparer::new(model, model.quantiser_range()),
        }
    }

    fn work(&self, state: &mut PrepareState, rows: &mut Rows<T>) {
        for (_, row) in rows {
            let Row::New(new) = row else {
                continue;
            };
            let path = std::mem::take(&mut new.path);
            let taken = Row::Taken(path.clone());
            let Row::New(mut new) = std::mem::replace(row, taken) else {
                continue;
            };
            new.path = path;
            *row = self.prepare(state, *new).unwrap_or_else(Row::Failed);
        }
    }

    fn held_bytes(&self, rows: &Rows<T>, (): &()) -> u64 {
        let of = |row: &Row| match row {
            Row::Ready(ready) => {
                let prepared = ready.prepared.as_ref();
                prepared.map_or(0, Prepared::held_bytes)
            }
            Row::New(new) => new.content.len() as u64,
            _ => 0,
        };
        rows.iter().map(|(_, row)| of(row)).sum()
    }

    fn panicked(&self, _: &Rows<T>) {}

    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Prepare {
    fn prepare(&self, state: &mut PrepareState, new: NewDocument) -> Result<Row> {
        fields::check(&new.fields)?;
        let words: Vec<&str> = new.tags.iter().map(String::as_str).collect();
        let tags = tags::given(&words)?;
        let read_as = new.read_as.as_ref().unwrap_or(&new.path);
        let document = state.extractor.extract(read_as, &new.content);
        let mut document = document.map_err(|refusal| refusal.into_error(read_as))?;
        document.path.clone_from(&new.path);
        if let Some(title) = new.title {
            document.title = title;
        }
        give_fields(&mut document, &new.fields)?;
        if !self.include_secrets {
            let secret = secrets::secret_by_name(&new.path);
            if let Some(secret) = secret.or_else(|| secrets::secret_in(&document)) {
                return Ok(Row::Refused(secret));
            }
        }
        document.path = new.path.nfc().collect();
        let mut source = SourceInfo::of(&new.content);
        if let Some(modified_ms) = new.modified_ms {
            source.modified_ms = modified_ms;
        }
        Ok(Row::Ready(Box::new(Ready {
            path: document.path.clone(),
            prepared: (state.preparer).prepare(document, source.into(), Chunking::Auto),
            names: new.fields.into_iter().map(|(name, _)| name).collect(),
            tags,
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kb::{Kb, KbWriter};
    use crate::progress::Progress;

    fn documents() -> Vec<NewDocument> {
        let document = |number: usize| {
            let name = ["a.md", "b.txt", "c.rs"][number % 3];
            let text = match number % 3 {
                0 => format!("---\ntags: [stated]\n---\n# Tide {number}\n\nThe sea rises.\n"),
                1 => format!("row {number} of the harbour\n").repeat(number % 50 + 1),
                _ => format!("fn tide_{number}() {{}}\n"),
            };
            NewDocument {
                // Not in the order of paths, and some twice.
                path: format!("d{}/{}-{name}", number % 7, number % 290),
                content: text.into_bytes(),
                title: number.is_multiple_of(5).then(|| format!("Title {number}")),
                tags: vec![format!("T{}", number % 4)],
                fields: vec![(
                    "year".to_owned(),
                    vec![FieldValue::Integer(number as i64 % 9)],
                )],
                modified_ms: Some(1_000),
                ..NewDocument::default()
            }
        };
        (0..300).map(document).collect()
    }

    fn one_by_one(writer: &mut KbWriter, new: &NewDocument) -> Result<bool> {
        let mut document = writer.read_document(&new.path, &new.content, &mut Progress::ignore)?;
        if let Some(title) = &new.title {
            document.title.clone_from(title);
        }
        give_fields(&mut document, &new.fields)?;
        let mut source = SourceInfo::of(&new.content);
        source.modified_ms = 1_000;
        let replaced = writer.add_given(document, source, &["year"], true)?;
        let tags: Vec<&str> = new.tags.iter().map(String::as_str).collect();
        writer.tag(&new.path, &tags, &[])?;
        Ok(replaced)
    }

    /// All that a file says of its documents, in the order of their numbers, and its content root.
    fn content(path: &std::path::Path) -> (Vec<String>, String) {
        let mut writer = KbWriter::open(path).unwrap();
        let kb = Kb::open(path).unwrap();
        let mut documents: Vec<String> = kb
            .documents_after(None, 1_000)
            .unwrap()
            .into_iter()
            .map(|mut it| {
                it.added_ms = 0;
                it.revision.clear();
                it.modified_ms = 0;
                format!("{it:?}")
            })
            .collect();
        documents.sort();
        let sealed = path.with_extension("sealed.kb");
        let options = crate::SealOptions::default();
        let report = writer.seal(Some(&sealed), &options, &mut Progress::ignore);
        (documents, format!("{:?}", report.unwrap().content_root))
    }

    #[test]
    fn many_documents_are_added_as_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let single = folder.path().join("single.kb");
        let mut writer = KbWriter::open_or_create(&single).unwrap();
        let mut replaced = Vec::new();
        for new in &documents() {
            replaced.push(one_by_one(&mut writer, new).unwrap());
        }
        writer.commit().unwrap();
        drop(writer);
        let expected = content(&single);
        for threads in [1, 3] {
            let many = folder.path().join(format!("many{threads}.kb"));
            let mut writer = KbWriter::open_or_create(&many).unwrap();
            let mut seen = Vec::new();
            let rows = documents().into_iter().map(Ok).enumerate();
            let options = AddOptions {
                replace: true,
                threads,
                ..AddOptions::default()
            };
            let mut each = |_: &mut KbWriter, number: usize, added: Result<Added>| {
                assert_eq!(number, seen.len());
                seen.push(added? == Added::Replaced);
                Ok(())
            };
            writer
                .add_many(rows, options, &mut each, &mut Progress::ignore)
                .unwrap();
            writer.commit().unwrap();
            drop(writer);
            assert_eq!(seen, replaced);
            assert_eq!(content(&many), expected);
        }
    }

    #[test]
    fn what_is_wrong_with_a_row_comes_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let row = |path: &str, content: &[u8]| NewDocument {
            path: path.to_owned(),
            content: content.to_vec(),
            ..NewDocument::default()
        };
        let secret = format!("key = AKIA{}", "IOSFODNN7EXAMPLX");
        let mut wrong_tag = row("tag.txt", b"x");
        wrong_tag.tags.push("a,b".to_owned());
        let rows = [
            Ok(row("a.txt", b"one")),
            Ok(row("a.txt", b"two")),
            Ok(row("../b.txt", b"three")),
            Ok(row("key.txt", secret.as_bytes())),
            Ok(wrong_tag),
            Err(Error::Cancelled),
            Ok(row("z.txt", b"last")),
        ];
        let mut seen = Vec::new();
        let rows = rows.into_iter().enumerate();
        let mut each = |writer: &mut KbWriter, number: usize, added: Result<Added>| {
            let said = match added {
                Ok(Added::New) => "new".to_owned(),
                Ok(Added::Replaced) => "replaced".to_owned(),
                Ok(Added::Refused(secret)) => secret.rule.to_owned(),
                Err(error) => error.code().to_owned(),
            };
            seen.push(format!("{number} {said} {}", writer.pending()));
            // A commit on the way.
            if number == 4 { writer.commit() } else { Ok(()) }
        };
        let options = AddOptions::default();
        writer
            .add_many(rows, options, &mut each, &mut Progress::ignore)
            .unwrap();
        writer.commit().unwrap();
        let expected = [
            "0 new 1",
            "1 DOCUMENT_EXISTS 1",
            "2 INVALID_ARGUMENT 1",
            "3 aws-access-token 1",
            "4 INVALID_ARGUMENT 1",
            "5 CANCELLED 0",
            "6 new 1",
        ];
        assert_eq!(seen, expected);
        assert_eq!(Kb::open(&path).unwrap().info().unwrap().documents, 2);
    }
}
