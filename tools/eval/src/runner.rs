//! The real engine on one collection: build a file, ask every question, map hits back to rows.

use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, anyhow};
use kb_engine::Document;
use kb_engine::Response;
use kb_engine::{Kb, KbWriter};
use kb_engine::{Mode, Progress, Request};
use kb_engine::{Scan, SealOptions, VectorCodec};
use tempfile::TempDir;

use crate::columns::Columns;
use crate::metrics::first_mentions;
use crate::sets::{self, JudgedSet, Question};

/// The modes that rank rows by what they say.
pub(crate) const RANKED: [Mode; 3] = [Mode::Hybrid, Mode::Semantic, Mode::Keyword];

/// Questions are asked by this many threads.
const THREADS: usize = 2;

/// Hits asked for when every row is one chunk.
const ROW_DEPTH: usize = 100;

/// Hits asked for when rows are cut: several may belong to one row.
const CHUNK_DEPTH: usize = 400;

/// How rows become documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// One chunk for the whole row; the path is no field.
    Uncut,
    /// Cut as any document.
    Chunked,
}

impl Cut {
    fn depth(self) -> usize {
        match self {
            Cut::Uncut => ROW_DEPTH,
            Cut::Chunked => CHUNK_DEPTH,
        }
    }
}

/// A file that disappears with this value.
pub(crate) struct TemporaryKb {
    pub(crate) kb: Kb,
    path: PathBuf,
    /// `None` for a file that is kept.
    _folder: Option<TempDir>,
}

impl TemporaryKb {
    /// A sealed copy whose vectors are stored in that way.
    pub(crate) fn sealed_as(&self, vectors: VectorCodec) -> Result<TemporaryKb> {
        self.sealed_by(KbWriter::open_or_create(&self.path)?, vectors)
    }

    /// A sealed copy whose vectors are in inverted lists, as those of large files are.
    pub(crate) fn with_lists(&self) -> Result<TemporaryKb> {
        let writer = KbWriter::open_or_create(&self.path)?.with_lists_from(0, 0);
        self.sealed_by(writer, VectorCodec::I8)
    }

    fn sealed_by(&self, mut writer: KbWriter, vectors: VectorCodec) -> Result<TemporaryKb> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("sealed.kb");
        let options = SealOptions::new().vectors(Some(vectors));
        writer.seal(Some(&path), &options, &mut Progress::ignore)?;
        Ok(TemporaryKb {
            kb: Kb::open(&path)?,
            path,
            _folder: Some(folder),
        })
    }
}

/// Builds a file of the collection.
pub(crate) fn build_rows(set: &JudgedSet, cut: Cut) -> Result<TemporaryKb> {
    build(&set.name, documents(set, 0).into_iter(), cut)
}

/// As [`build_rows`], with a column of vectors of another model. A file that is there is taken as it is.
pub(crate) fn embedded_rows(set: &JudgedSet, cut: Cut, columns: &Columns) -> Result<TemporaryKb> {
    let name = match cut {
        Cut::Uncut => format!("{}.kb", set.name),
        Cut::Chunked => format!("{}-chunked.kb", set.name),
    };
    let (path, folder) = columns.place(&name)?;
    if !path.is_file() {
        write(&path, documents(set, 0).into_iter(), cut)?;
    }
    columns.fill(&path)?;
    Ok(TemporaryKb {
        kb: columns.open(&path)?,
        path,
        _folder: folder,
    })
}

/// The rows of a collection as documents, the first with the number `first`.
pub(crate) fn documents(set: &JudgedSet, first: usize) -> Vec<Document> {
    let rows = set.rows.iter().enumerate();
    // A row without a word cannot be an answer, nor can an empty chunk.
    let worded = rows.filter(|(_, row)| !(row.title.trim().is_empty() && row.text.is_empty()));
    let documents = worded.map(|(number, row)| {
        let kind = sets::kind_of_row(&set.name, &row.title, &row.text);
        sets::document(path_of(first + number), &row.title, &row.text, kind)
    });
    documents.collect()
}

/// Builds a file of these documents.
pub(crate) fn build(
    name: &str,
    documents: impl Iterator<Item = Document>,
    cut: Cut,
) -> Result<TemporaryKb> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join(format!("{name}.kb"));
    write(&path, documents, cut)?;
    Ok(TemporaryKb {
        kb: Kb::open(&path)?,
        path,
        _folder: Some(folder),
    })
}

fn write(path: &Path, documents: impl Iterator<Item = Document>, cut: Cut) -> Result<()> {
    let mut writer = KbWriter::open_or_create(path)?;
    for document in documents {
        let place = document.path.clone();
        let added = match cut {
            Cut::Uncut => writer.add_unchunked(document),
            Cut::Chunked => writer.add(document),
        };
        added.with_context(|| format!("{}: cannot add {place}", path.display()))?;
    }
    writer.commit()?;
    Ok(())
}

/// A path that says nothing about the document: nothing can be found by it.
fn path_of(row: usize) -> String {
    format!("{row:06}")
}

/// Rows that answer each question, best first.
pub(crate) fn ranked_rows(
    kb: &Kb,
    questions: &[Question],
    mode: Mode,
    scan: Scan,
    cut: Cut,
) -> Result<Vec<Vec<u32>>> {
    for_each_question(questions, |question| {
        let mut request = request(question, mode, cut.depth());
        request.scan = scan;
        rows_of(&ask(kb, &request)?)
    })
}

/// Rows of the hits, each where it stands first.
pub(crate) fn rows_of(response: &Response) -> Result<Vec<u32>> {
    let rows: Result<Vec<u32>> = response
        .hits
        .iter()
        .map(|hit| row_of(&hit.document))
        .collect();
    Ok(first_mentions(rows?.into_iter()))
}

/// The row that a document path stands for.
pub(crate) fn row_of(document: &str) -> Result<u32> {
    document
        .parse()
        .map_err(|_| anyhow!("a hit of the document {document:?}, which is no row"))
}

/// A question of a collection, whose `k` best chunks are judged one by one.
pub(crate) fn request(question: &Question, mode: Mode, k: usize) -> Request {
    let mut request = Request::new(question.text.as_str());
    // What looks like an operator is a word.
    request.plain = true;
    request.join = false;
    request.mode = mode;
    request.k = k;
    request
}

/// Searches; the error names the query.
pub(crate) fn ask(kb: &Kb, request: &Request) -> Result<Response> {
    kb.search(request)
        .with_context(|| format!("{} search for {:?}", request.mode.name(), request.query))
}

/// Runs `answer` for every question on all threads; the results keep the order of the questions.
pub(crate) fn for_each_question<T: Send>(
    questions: &[Question],
    answer: impl Fn(&Question) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let share = questions.len().div_ceil(THREADS).max(1);
    let answer = &answer;
    thread::scope(|scope| {
        let workers: Vec<_> = questions
            .chunks(share)
            .map(|part| scope.spawn(move || part.iter().map(answer).collect::<Result<Vec<T>>>()))
            .collect();
        let mut results = Vec::with_capacity(questions.len());
        for worker in workers {
            let part = worker.join().map_err(|_| anyhow!("a search panicked"))?;
            results.extend(part?);
        }
        Ok(results)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Judgements;
    use crate::sets::Row;

    #[test]
    fn a_row_is_found_again_by_its_path() {
        assert_eq!(path_of(123), "000123");
        assert_eq!(row_of(&path_of(13_004)).unwrap(), 13_004);
        assert!(row_of("src/lib.rs").is_err());
    }

    #[test]
    fn a_file_that_is_kept_is_taken_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let files = folder.path().join("files");
        let columns = Columns::new(None, Some(&files)).unwrap().unwrap();
        let built = |texts: &[&str]| {
            let rows = texts.iter().map(|text| Row {
                title: String::new(),
                text: (*text).to_owned(),
            });
            let set = JudgedSet {
                name: "pools".to_owned(),
                folder: "f".into(),
                rows: rows.collect(),
                questions: Vec::new(),
            };
            let file = embedded_rows(&set, Cut::Uncut, &columns).unwrap();
            file.kb.info().unwrap().documents
        };
        assert_eq!(built(&["one", "two"]), 2);
        assert!(files.join("pools.kb").is_file());
        assert_eq!(built(&["one"]), 2);
    }

    #[test]
    fn answers_keep_the_order_of_the_questions() {
        let questions: Vec<Question> = (0..7)
            .map(|n| Question {
                id: n.to_string(),
                text: String::new(),
                judgements: Judgements::default(),
            })
            .collect();
        let ids = for_each_question(&questions, |question| Ok(question.id.clone())).unwrap();
        assert_eq!(ids, ["0", "1", "2", "3", "4", "5", "6"]);
        assert!(for_each_question::<()>(&questions, |_| Err(anyhow!("refused"))).is_err());
    }
}
