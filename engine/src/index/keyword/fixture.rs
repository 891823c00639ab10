//! Segments for the tests of this room: made of words, with what went into them.

use std::collections::BTreeMap;

use kb_types::SegmentId;
use kb_types::error::Result;

use crate::container::column::{ColumnView, MemoryExtents, extent_starts};
use crate::index::keyword::{
    Analyser, DICTIONARY, DocumentTerms, DocumentTermsBuilder, KeywordRecord, LENGTHS, POSTINGS,
    Query, QuerySegment, Reader, Statistics, Writer,
};

/// A written segment, and what went into it.
pub(crate) struct Index {
    pub(crate) record: KeywordRecord,
    pub(crate) starts: [Vec<u64>; 3],
    pub(crate) extents: [Vec<Vec<u8>>; 3],
    pub(crate) lists: BTreeMap<String, Vec<(u32, u32)>>,
    pub(crate) lengths: Vec<u32>,
}

impl Index {
    pub(crate) fn of(documents: &[DocumentTerms]) -> Index {
        let mut writer = Writer::new(SegmentId(3));
        let mut lists: BTreeMap<String, Vec<(u32, u32)>> = BTreeMap::new();
        let mut lengths = Vec::new();
        for document in documents {
            writer.add(document).unwrap();
            let terms: Vec<&[u8]> = document.terms().collect();
            for (counts, length) in document.chunks() {
                for count in counts {
                    let term = String::from_utf8(terms[count.term as usize].to_vec()).unwrap();
                    let list = lists.entry(term).or_default();
                    list.push((lengths.len() as u32, count.frequency));
                }
                lengths.push(length);
            }
        }
        assert_eq!(writer.rows() as usize, lengths.len());
        let mut sink = MemoryExtents::default();
        let record = writer.finish(&mut sink).unwrap();
        let index = Index::from_written(sink, record);
        Index {
            lists,
            lengths,
            ..index
        }
    }

    /// A segment of which only the columns are known.
    pub(crate) fn from_written(mut sink: MemoryExtents, record: KeywordRecord) -> Index {
        let columns = [&record.dictionary, &record.postings, &record.lengths];
        Index {
            starts: columns.map(extent_starts),
            extents: [DICTIONARY, POSTINGS, LENGTHS]
                .map(|column| sink.columns.remove(&column).unwrap_or_default()),
            record,
            lists: BTreeMap::new(),
            lengths: Vec::new(),
        }
    }

    pub(crate) fn try_reader(&self) -> Result<Reader<'_>> {
        let [dictionary, postings, lengths] = std::array::from_fn(|i| {
            let width = if i == 2 { self.record.lengths.width } else { 0 };
            ColumnView::new(&self.starts[i], width, &self.extents[i])
        });
        Reader::new(&self.record, dictionary, postings, lengths)
    }

    pub(crate) fn reader(&self) -> Reader<'_> {
        self.try_reader().unwrap()
    }

    pub(crate) fn statistics(&self) -> Statistics {
        Statistics {
            chunks: self.lengths.len() as u64,
            total_length: self.lengths.iter().map(|length| u64::from(*length)).sum(),
        }
    }

    pub(crate) fn query(&self, text: &str) -> Query<'_> {
        let (mut analyser, statistics) = (Analyser::new(), self.statistics());
        Query::new(&mut analyser, text, &[live(self.reader())], statistics).unwrap()
    }
}

/// A segment of which nothing is deleted.
pub(crate) fn live(reader: Reader<'_>) -> QuerySegment<'_> {
    QuerySegment {
        reader,
        deleted: None,
    }
}

/// The `i`-th word, in letters that no stemmer touches.
pub(crate) fn word(mut i: u32) -> String {
    let mut word = "q".to_owned();
    loop {
        word.push(char::from(b"bcdfghjklmnpqrtvwxz"[i as usize % 19]));
        i /= 19;
        if i == 0 {
            return word;
        }
    }
}

/// Chunks of words whose frequencies fall off as in prose: word `i` about `1 / i` times.
pub(crate) fn prose(seed: u64, chunks: u32, words: u32) -> Vec<DocumentTerms> {
    let mut analyser = Analyser::new();
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut random = move |below: u32| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as u32 % below
    };
    (0..chunks.div_ceil(3))
        .map(|document| {
            let mut builder = DocumentTermsBuilder::new(&mut analyser);
            for _ in 0..3.min(chunks - document * 3) {
                let text: Vec<String> = (0..random(30))
                    .map(|_| {
                        let exponent = random(1000) as f32 / 1000.0;
                        word((words as f32).powf(exponent) as u32 - 1)
                    })
                    .collect();
                builder.add_text(&text.join(" "), 1);
                builder.end_chunk();
            }
            builder.finish()
        })
        .collect()
}
