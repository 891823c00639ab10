//! The documents that are searched, in the order of their paths, and which rows of them.

use std::ops::Range;

use kb_types::DocumentId;
use kb_types::error::Result;
use roaring::RoaringBitmap;

use crate::search::filter::rows::first_at;
use crate::search::sources::{Source, Sources};

/// A document to search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// Position of its segment in [`Sources::segments`].
    pub(super) segment: usize,
    /// Its number.
    pub(super) document: DocumentId,
    /// The rows to read, ascending.
    pub(super) rows: Vec<Range<u32>>,
    /// One past its last row.
    pub(super) end: u32,
}

/// The targets of one file. Rows of a segment are in the order of paths; several segments are merged by reading the
/// record of the next document of each.
#[derive(Debug)]
pub(super) struct Targets<'r> {
    sources: &'r Sources<'r>,
    source: &'r Source<'r>,
    queues: Vec<Queue>,
    /// Whether documents are read whole.
    is_whole: bool,
}

/// What is left of one segment.
#[derive(Debug)]
struct Queue {
    segment: usize,
    rows: RoaringBitmap,
    /// The first row that is left.
    next: u32,
    /// The next document, with its path where there are several segments.
    head: Option<(Target, String)>,
}

impl<'r> Targets<'r> {
    /// Of a file of the request, from the document of path `from` on; `rows` has a bitmap for each segment of it.
    /// With `is_whole` every row of a document is read of which one is among them.
    ///
    /// # Errors
    /// [`Error::Damaged`](crate::Error::Damaged).
    pub(super) fn new(
        sources: &'r Sources<'r>,
        file: usize,
        rows: Vec<RoaringBitmap>,
        is_whole: bool,
        from: Option<&str>,
    ) -> Result<Targets<'r>> {
        let source = sources.source(file)?;
        let mut targets = Targets {
            sources,
            source,
            queues: Vec::new(),
            is_whole,
        };
        for (segment, rows) in sources.positions(file).zip(rows) {
            let next = match from {
                Some(path) => {
                    let chunks = sources.segment(segment)?.chunks();
                    first_at(&rows, path, |row| {
                        let document = chunks.document(row)?;
                        let documents = &source.catalog.documents;
                        Ok(documents.get(source.snapshot, document)?.path)
                    })?
                }
                None => 0,
            };
            let mut queue = Queue {
                segment,
                rows,
                next,
                head: None,
            };
            targets.advance(&mut queue, sources.positions(file).len() > 1)?;
            targets.queues.push(queue);
        }
        Ok(targets)
    }

    /// The next document; `None` behind the last.
    ///
    /// # Errors
    /// [`Error::Damaged`](crate::Error::Damaged).
    pub(super) fn next(&mut self) -> Result<Option<Target>> {
        let heads = self.queues.iter().enumerate();
        let heads = heads.filter_map(|(number, queue)| Some((number, &queue.head.as_ref()?.1)));
        let Some((number, _)) = heads.min_by_key(|(_, path)| *path) else {
            return Ok(None);
        };
        let several = self.queues.len() > 1;
        let Some(mut queue) = self.queues.get_mut(number).map(Queue::take) else {
            return Ok(None);
        };
        let target = queue.head.take().map(|(target, _)| target);
        self.advance(&mut queue, several)?;
        if let Some(slot) = self.queues.get_mut(number) {
            *slot = queue;
        }
        Ok(target)
    }

    /// Fills the head of a queue.
    fn advance(&self, queue: &mut Queue, with_path: bool) -> Result<()> {
        let chunks = self.sources.segment(queue.segment)?.chunks();
        let Some(first) = queue.rows.range(queue.next..).next() else {
            queue.head = None;
            return Ok(());
        };
        let document = chunks.document(first)?;
        let count = self.sources.segment(queue.segment)?.segment.rows();
        let mut rows: Vec<Range<u32>> = Vec::new();
        let mut end = first;
        while end < count && chunks.document(end)? == document {
            if queue.rows.contains(end) {
                match rows.last_mut().filter(|last| last.end == end) {
                    Some(last) => last.end += 1,
                    None => rows.push(end..end + 1),
                }
            }
            end += 1;
        }
        if self.is_whole {
            let mut start = first;
            while start > 0 && chunks.document(start - 1)? == document {
                start -= 1;
            }
            rows.clear();
            rows.push(start..end);
        }
        queue.next = end;
        let path = if with_path {
            let documents = &self.source.catalog.documents;
            documents.get(self.source.snapshot, document)?.path
        } else {
            String::new()
        };
        let target = Target {
            segment: queue.segment,
            document,
            rows,
            end,
        };
        queue.head = Some((target, path));
        Ok(())
    }
}

impl Queue {
    /// The queue, leaving an empty one.
    fn take(&mut self) -> Queue {
        let empty = Queue {
            segment: self.segment,
            rows: RoaringBitmap::new(),
            next: 0,
            head: None,
        };
        std::mem::replace(self, empty)
    }
}
