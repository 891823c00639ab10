//! Instructions of the inner loops and of whole searches, counted by valgrind: the same on a busy machine. `cargo xtask
//! bench instructions` compares them with the committed counts. A group of benches is a room; what
//! a bench needs is made in its setup, which is not counted.

#![expect(
    clippy::expect_used,
    missing_docs,
    reason = "without its rows a bench has nothing to measure; macros make public items"
)]

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use gungraun::prelude::*;
use kb_engine::testing::container::column::{
    ColumnId, ColumnRecord, ColumnView, ExtentSink, ExtentSource, extent_starts,
};
use kb_engine::testing::index::keyword::{
    Analyser, Cursor, DICTIONARY, DocumentTermsBuilder, LENGTHS, POSTINGS, Query, QuerySegment,
    Reader, ScoredRow, Statistics, TermSet, Writer,
};
use kb_engine::testing::index::vector::kernels::{BLOCK_ROWS, LANES, Lanes, kernels};
use kb_engine::testing::index::vector::query::Query as VectorQuery;
use kb_engine::testing::index::vector::{CODEC_I4, CODEC_I8};
use kb_engine::testing::store::block_writer::{BlockWriter, Compression};
use kb_engine::testing::store::blocks::{BLOCK_LIMIT_BYTES, BlockReader};
use kb_engine::testing::store::chunks::{ChunkReader, ChunkWriter};
use kb_engine::testing::store::decoder::DecoderPool;
use kb_engine::testing::store::tables;
use kb_engine::{ChunkSpan, DocumentId, Kb, Lines, Mode, Request, SegmentId, Span};
use roaring::RoaringBitmap;

/// Chunks of the segment of words: three windows of rows; more would take long under valgrind.
const CHUNKS: u32 = 9_000;

/// Distinct words of the segment.
const WORDS: u32 = 20_000;

/// Extents of one column.
#[derive(Default)]
struct Extents(Vec<Vec<u8>>);

impl ExtentSource for Extents {
    fn payload(&self, number: usize) -> kb_engine::Result<&[u8]> {
        Ok(self.0.get(number).map_or(&[], Vec::as_slice))
    }
}

/// A segment in memory.
#[derive(Default)]
struct Columns(BTreeMap<ColumnId, Extents>);

impl ExtentSink for Columns {
    fn put_extent(
        &mut self,
        _: SegmentId,
        column: ColumnId,
        _: u32,
        _: u64,
        payload: &[u8],
    ) -> kb_engine::Result<()> {
        self.0.entry(column).or_default().0.push(payload.to_vec());
        Ok(())
    }
}

impl Columns {
    /// A column that lives as long as the bench.
    fn view(&mut self, id: ColumnId, record: &ColumnRecord) -> ColumnView<'static> {
        let extents: &'static Extents = Box::leak(Box::new(self.0.remove(&id).unwrap_or_default()));
        ColumnView::new(extent_starts(record).leak(), record.width, extents)
    }
}

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed ^ mixed >> 27
    }

    fn below(&mut self, limit: u32) -> u32 {
        (self.next() >> 33) as u32 % limit
    }

    /// About a bell curve around 0.
    fn bell(&mut self) -> f32 {
        let sum: u32 = (0..4).map(|_| self.below(1 << 20)).sum();
        sum as f32 / (1 << 20) as f32 - 2.0
    }

    /// The number of a word: word `i` comes about `1 / (i + 1)` times.
    fn word(&mut self) -> u32 {
        let exponent = self.below(1 << 20) as f32 / (1 << 20) as f32;
        (WORDS as f32).powf(exponent) as u32 - 1
    }

    /// Words with spaces between them.
    fn prose(&mut self, words: u32) -> String {
        (0..words)
            .map(|_| word(self.word()) + " ")
            .collect::<String>()
    }
}

/// The `i`-th word, in letters that no stemmer touches.
fn word(mut i: u32) -> String {
    let mut word = "q".to_owned();
    loop {
        let letter = b"bcdfghjklmnpqrtvwxz".get(i as usize % 19);
        word.push(char::from(*letter.unwrap_or(&b'b')));
        i /= 19;
        if i == 0 {
            return word;
        }
    }
}

/// Chunks of some 35 words; a word that a chunk has comes often again there.
fn segment() -> (Reader<'static>, Statistics) {
    let mut numbers = Numbers(11);
    let mut analyser = Analyser::new();
    let mut writer = Writer::new(SegmentId(1));
    for _ in 0..CHUNKS / 20 {
        let mut builder = DocumentTermsBuilder::new(&mut analyser);
        for _ in 0..20 {
            let words = 10 + numbers.below(40);
            let mut text = numbers.prose(words);
            for _ in 0..2 {
                let again = word(numbers.word());
                for _ in 0..numbers.below(6) {
                    text += &again;
                    text.push(' ');
                }
            }
            builder.add_text(&text, 1);
            builder.end_chunk();
        }
        writer.add(&builder.finish()).expect("few rows");
    }
    let mut columns = Columns::default();
    let record = Box::leak(Box::new(writer.finish(&mut columns).expect("memory")));
    let reader = Reader::new(
        record,
        columns.view(DICTIONARY, &record.dictionary),
        columns.view(POSTINGS, &record.postings),
        columns.view(LENGTHS, &record.lengths),
    );
    let statistics = Statistics {
        chunks: u64::from(record.rows),
        total_length: record.total_length,
    };
    (reader.expect("columns"), statistics)
}

fn asked(words: &[u32]) -> (Query<'static>, Option<RoaringBitmap>) {
    let (reader, statistics) = segment();
    let text: Vec<String> = words.iter().map(|number| word(*number)).collect();
    let segment = QuerySegment {
        reader,
        deleted: None,
    };
    let query = Query::new(
        &mut Analyser::new(),
        &text.join(" "),
        &[segment],
        statistics,
    );
    (query.expect("a query"), None)
}

/// The same with one row in ten.
fn asked_of_some(words: &[u32]) -> (Query<'static>, Option<RoaringBitmap>) {
    let mut numbers = Numbers(5);
    let rows = (0..CHUNKS).filter(|_| numbers.below(10) == 0).collect();
    (asked(words).0, Some(rows))
}

type Asked = (Query<'static>, Option<RoaringBitmap>);

#[library_benchmark]
#[bench::rare_words(asked(&[900, 2_000, 4_000]))]
#[bench::mixed_words(asked(&[3, 40, 300, 2_500]))]
#[bench::filtered(asked_of_some(&[3, 40, 300, 2_500]))]
fn ten_best(asked: Asked) -> (Asked, Vec<ScoredRow>) {
    let best = black_box(&asked.0).top_k(0, 10, asked.1.as_ref(), 0.0);
    (asked, best.expect("columns"))
}

#[library_benchmark]
#[bench::mixed_words(asked(&[3, 40, 300, 2_500]))]
fn hundred_best(asked: Asked) -> (Asked, Vec<ScoredRow>) {
    let best = black_box(&asked.0).top_k(0, 100, None, 0.0);
    (asked, best.expect("columns"))
}

fn list(number: u32) -> Cursor<'static> {
    let reader = segment().0;
    let postings = reader.postings(&word(number)).expect("columns");
    let cursor = reader.cursor(&postings.expect("a frequent word"));
    cursor.expect("columns")
}

// Every row of a list with its frequency: unpacking, and a step of the cursor for each.
#[library_benchmark]
#[bench::frequent_word(list(3))]
fn unpack(mut cursor: Cursor<'static>) -> u32 {
    let (mut next, mut sum) = (0, 0u32);
    while let Some((row, frequency)) = cursor.seek(next).expect("columns") {
        sum = sum.wrapping_add(frequency);
        next = row + 1;
    }
    sum
}

fn texts() -> (Analyser, TermSet, String) {
    let words = [3, 40, 300].map(word);
    let terms = TermSet::new(words.iter().map(String::as_str));
    (Analyser::new(), terms, Numbers(21).prose(3_000))
}

#[library_benchmark]
#[bench::prose(texts())]
fn highlights(set: (Analyser, TermSet, String)) -> ((Analyser, TermSet, String), usize) {
    let (mut analyser, terms, text) = set;
    let mut sum = 0;
    analyser.highlights(black_box(&text), &terms, |_, range| sum += range.start);
    ((analyser, terms, text), sum)
}

/// The text of 200 chunks of about 700 bytes.
fn stored() -> BlockReader<'static> {
    let mut numbers = Numbers(31);
    let mut columns = Columns::default();
    let mut blocks = BlockWriter::new(SegmentId(1), Compression::Fast);
    let mut rows = ChunkWriter::new(SegmentId(1));
    let mut end = 0;
    for _ in 0..200 {
        let text = numbers.prose(120);
        let start = end;
        end += text.len() as u32;
        let chunk = ChunkSpan {
            span: Span { start, end },
            lines: Lines { first: 1, last: 1 },
        };
        let pushed = rows.push(&mut columns, DocumentId(7), &chunk);
        pushed.expect("memory");
        blocks.push(&mut columns, &text).expect("memory");
    }
    let [heads, packed] = rows.finish(&mut columns).expect("memory");
    let [blocks, text, dictionary] = blocks.finish(&mut columns).expect("memory");
    let chunks = ChunkReader::new(
        columns.view(tables::CHUNK_HEADS, &heads),
        columns.view(tables::CHUNK_BLOCKS, &packed),
        200,
    );
    let (blocks, text) = (
        columns.view(tables::BLOCKS, &blocks),
        columns.view(tables::TEXT, &text),
    );
    let decoders: &DecoderPool = Box::leak(Box::default());
    let dictionary = columns.view(tables::TEXT_DICTIONARY, &dictionary);
    let decoder = decoders.acquire(dictionary).expect("memory");
    BlockReader::new(blocks, text, chunks, decoder, BLOCK_LIMIT_BYTES)
}

// One chunk of each of three blocks, as hits are.
#[library_benchmark]
#[bench::prose(stored())]
fn texts_of_three_blocks(mut reader: BlockReader<'static>) -> (BlockReader<'static>, usize) {
    let mut sum = 0;
    for row in [150, 5, 80] {
        sum += reader.chunk(black_box(row)).expect("columns").len();
    }
    (reader, sum)
}

const DIM: usize = 192;
const RANGE: f32 = 0.305;

fn query(seed: u64) -> VectorQuery {
    let mut numbers = Numbers(seed);
    let vector: Vec<f32> = (0..DIM).map(|_| 0.07 * numbers.bell()).collect();
    VectorQuery::new(&vector, RANGE).expect("a query")
}

/// Any byte is legal in rows and codes.
fn bytes(count: usize) -> Vec<u8> {
    let mut numbers = Numbers(41);
    (0..count).map(|_| numbers.below(256) as u8).collect()
}

type Rows = (VectorQuery, Vec<u8>, Vec<i32>);

fn rows(stride: usize) -> Rows {
    (query(1), bytes(1024 * stride), vec![0; 1024])
}

#[library_benchmark]
#[bench::signed_bytes(CODEC_I8, rows(DIM))]
#[bench::nibbles(CODEC_I4, rows(DIM / 2))]
fn products_of_1024_rows(codec: u8, (query, rows, mut products): Rows) -> Rows {
    kernels().products(codec, query.one(), black_box(&rows), &mut products);
    (query, rows, products)
}

type Sixteen = (Lanes, Vec<u8>, Vec<[i32; LANES]>);

fn sixteen(stride: usize) -> Sixteen {
    let queries: Vec<VectorQuery> = (0..16).map(query).collect();
    let queries: Vec<_> = queries.iter().map(VectorQuery::one).collect();
    (
        Lanes::new(&queries),
        bytes(256 * stride),
        vec![[0; LANES]; 256],
    )
}

#[library_benchmark]
#[bench::signed_bytes(CODEC_I8, sixteen(DIM))]
#[bench::nibbles(CODEC_I4, sixteen(DIM / 2))]
fn products_of_sixteen_queries(codec: u8, (lanes, rows, mut products): Sixteen) -> Sixteen {
    kernels().products_of_lanes(codec, &lanes, black_box(&rows), &mut products);
    (lanes, rows, products)
}

type Codes = (VectorQuery, Vec<u8>, [u16; BLOCK_ROWS]);

fn codes() -> Codes {
    let query = query(1);
    let blocks = bytes(64 * query.tables().len());
    (query, blocks, [0; BLOCK_ROWS])
}

#[library_benchmark]
#[bench::signs(codes())]
fn sums_of_64_blocks((query, blocks, mut sums): Codes) -> (Codes, u64) {
    let tables = query.tables();
    let mut likely = 0;
    for block in black_box(&blocks).chunks(tables.len()) {
        likely ^= kernels().code_sums(tables, block, 1_500, &mut sums);
    }
    ((query, blocks, sums), likely)
}

/// What is asked of the golden file: questions, names, words, a slip, what it does not have.
const QUERIES: [&str; 10] = [
    "how is the lens cleaned",
    "what to do when there is fog",
    "saving people from a sinking ship",
    "drift of a buoy",
    "next_high_water",
    "latitude of a station",
    "museum opening times",
    "ligthhouse keeper",
    "\u{706f}\u{53f0} \u{9727}",
    "xyzzyplugh",
];

/// The golden file of the newest format.
fn golden() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden");
    let version = |path: &PathBuf| -> Option<(u32, u32)> {
        let (major, minor) = path
            .file_name()?
            .to_str()?
            .strip_prefix('v')?
            .split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    let files = fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path());
    let of_versions = files.filter_map(|path| Some((version(&path)?, path.join("golden.kb"))));
    of_versions.max().map(|(_, path)| path)
}

/// The golden file, of which each page was checked and each word of the queries was met once.
fn opened(mode: Mode) -> (Kb, Mode) {
    let kb = Kb::open(golden().expect("a golden file")).expect("a golden file");
    search_all(&kb, mode);
    (kb, mode)
}

/// The number of hits of all queries.
fn search_all(kb: &Kb, mode: Mode) -> usize {
    let found = QUERIES.iter().map(|query| {
        let answer = kb.search(&Request::new(*query).mode(mode));
        answer.expect("a golden file").hits.items.len()
    });
    found.sum()
}

// From the words of ten queries to the marked texts of their hits.
#[library_benchmark]
#[bench::keyword(opened(Mode::Keyword))]
#[bench::semantic(opened(Mode::Semantic))]
#[bench::hybrid(opened(Mode::Hybrid))]
fn ten_queries((kb, mode): (Kb, Mode)) -> (Kb, usize) {
    let hits = search_all(black_box(&kb), mode);
    (kb, hits)
}

library_benchmark_group!(
    name = keyword,
    benchmarks = [ten_best, hundred_best, unpack, highlights]
);
library_benchmark_group!(name = store, benchmarks = [texts_of_three_blocks]);
library_benchmark_group!(
    name = vector,
    benchmarks = [
        products_of_1024_rows,
        products_of_sixteen_queries,
        sums_of_64_blocks
    ]
);
library_benchmark_group!(name = search, benchmarks = [ten_queries]);
main!(library_benchmark_groups = [keyword, store, vector, search]);
