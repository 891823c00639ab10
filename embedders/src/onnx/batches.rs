//! Runs texts through a model: in batches of similar length, on all threads, within bounded memory.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use kb_types::embedding::check_vectors;
use kb_types::{EmbedError, VECTOR_DIM_LIMIT};
use rten::ThreadPool;

use super::budget::Budget;
use super::runtime::{Batch, Output, Runtime};
use crate::pooling::{normalise, pool};

/// Tokens of a batch, with padding. Vectors of longer batches leave the caches of a core.
const BATCH_TOKENS: usize = 2048;
/// Texts of a batch.
const BATCH_TEXTS: usize = 64;

/// A text that is to be embedded.
pub(super) struct Row {
    /// Which text it is: where the vector goes.
    pub(super) place: usize,
    pub(super) tokens: Vec<u32>,
    /// Where the second text begins that is read with the first one; the end if there is none.
    pub(super) second: usize,
}

impl Row {
    /// A row of one text, without a second one.
    pub(super) fn of_one(place: usize, tokens: Vec<u32>) -> Row {
        Row {
            place,
            second: tokens.len(),
            tokens,
        }
    }
}

/// A model with the threads that run it.
pub(super) struct Batches {
    runtime: Runtime,
    /// Fills short rows.
    padding: i32,
    /// A pool of one thread for each batch that runs at once: no thread waits for another inside a batch.
    pools: Vec<Arc<ThreadPool>>,
    /// Whether texts of different lengths may share a batch.
    pads: bool,
    /// Texts of a batch.
    batch_texts: usize,
    /// Whether what the graph has for each text gets length 1.
    scales: bool,
    /// What each batch is checked by before it is run; `None` for models of this machine.
    budget: Option<Budget>,
}

impl Batches {
    /// `rounds_activations`: the graph rounds by the range of all texts of a batch. The vector of a text shall not
    /// depend on others, so each of them is a batch of its own.
    pub(super) fn new(
        runtime: Runtime,
        padding: u32,
        threads: usize,
        rounds_activations: bool,
    ) -> Batches {
        Batches {
            pads: runtime.has_mask(),
            runtime,
            padding: padding.cast_signed(),
            pools: (0..threads.max(1))
                .map(|_| Arc::new(ThreadPool::with_num_threads(1)))
                .collect(),
            batch_texts: if rounds_activations { 1 } else { BATCH_TEXTS },
            scales: true,
            budget: None,
        }
    }

    /// With the numbers that the graph has for each text, as they are.
    pub(super) fn unscaled(mut self) -> Batches {
        self.scales = false;
        self
    }

    /// With a check of each batch.
    pub(super) fn within(mut self, budget: Option<Budget>) -> Batches {
        self.budget = budget;
        self
    }

    /// Texts and tokens of the batches that take most: one token, many short texts, few of the greatest length.
    pub(super) fn extremes(max_tokens: u32) -> [(usize, usize); 3] {
        let longest = (max_tokens as usize).max(1);
        let short = longest.min(BATCH_TOKENS / BATCH_TEXTS);
        let few = (BATCH_TOKENS / longest).clamp(1, BATCH_TEXTS);
        [(1, 1), (BATCH_TEXTS, short), (few, longest)]
    }

    /// Runs one row; returns the dimension of its vector, and whether the model pools itself.
    pub(super) fn probe(&self, row: Row) -> Result<(u32, bool), EmbedError> {
        let (dimension, pools_itself) = match self.output(&[row], 0)? {
            Output::Tokens { dimension, .. } => (dimension, false),
            Output::Texts { dimension, .. } => (dimension, true),
        };
        let dimension = u32::try_from(dimension).unwrap_or(u32::MAX);
        if dimension == 0 || dimension > VECTOR_DIM_LIMIT {
            let reason = format!(
                "the model has vectors of {dimension} numbers; this program takes 1 to {VECTOR_DIM_LIMIT}"
            );
            return Err(EmbedError::Unfit { reason });
        }
        Ok((dimension, pools_itself))
    }

    /// The vectors of `texts` texts; those without a row have zeros.
    pub(super) fn run(
        &self,
        mut rows: Vec<Row>,
        texts: usize,
        dimension: u32,
    ) -> Result<Vec<f32>, EmbedError> {
        // The longest first: at the end, threads wait for a short batch.
        rows.sort_by(|one, other| {
            let by_length = other.tokens.len().cmp(&one.tokens.len());
            by_length.then(one.place.cmp(&other.place))
        });
        let batches = self.cut(&rows);
        let width = dimension as usize;
        let length = texts.checked_mul(width).ok_or_else(|| EmbedError::Budget {
            limit: format!("{texts} texts at once"),
        })?;
        let vectors = Mutex::new(Ok(vec![0.0; length]));
        let (next, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let work = |pool_number: usize| {
            while !has_failed.load(Ordering::Relaxed)
                && let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed))
            {
                let result = self.vectors(batch, pool_number, dimension);
                let mut vectors = vectors.lock().unwrap_or_else(PoisonError::into_inner);
                match (result, vectors.as_mut()) {
                    (Ok(numbers), Ok(vectors)) => {
                        for (row, vector) in batch.iter().zip(numbers.chunks_exact(width.max(1))) {
                            let start = row.place * width;
                            if let Some(place) = vectors.get_mut(start..start + width) {
                                place.copy_from_slice(vector);
                            }
                        }
                    }
                    (Err(error), Ok(_)) => {
                        has_failed.store(true, Ordering::Relaxed);
                        *vectors = Err(error);
                    }
                    (_, Err(_)) => {}
                }
            }
        };
        let workers = self.pools.len().min(batches.len());
        if workers <= 1 {
            work(0);
        } else {
            thread::scope(|scope| {
                for number in 0..workers {
                    scope.spawn(move || work(number));
                }
            });
        }
        vectors.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cuts rows, the longest first, into batches.
    fn cut<'a>(&self, rows: &'a [Row]) -> Vec<&'a [Row]> {
        let mut batches = Vec::new();
        let mut rest = rows;
        while let Some(longest) = rest.first() {
            let width = longest.tokens.len();
            let most = (BATCH_TOKENS / width.max(1)).clamp(1, self.batch_texts);
            let same = rest.iter().take(most);
            let texts = if self.pads {
                same.count()
            } else {
                same.take_while(|row| row.tokens.len() == width).count()
            };
            let (batch, others) = rest.split_at(texts);
            batches.push(batch);
            rest = others;
        }
        batches
    }

    /// The vectors of a batch, checked.
    fn vectors(
        &self,
        batch: &[Row],
        pool_number: usize,
        expected: u32,
    ) -> Result<Vec<f32>, EmbedError> {
        let width = batch.iter().map(|row| row.tokens.len()).max().unwrap_or(0);
        let output = self.output(batch, pool_number)?;
        let (Output::Tokens { dimension, .. } | Output::Texts { dimension, .. }) = &output;
        if *dimension != expected as usize {
            return Err(EmbedError::Dimension {
                expected,
                got: *dimension,
            });
        }
        let dimension = *dimension;
        let vectors = match output {
            Output::Tokens { numbers, .. } => {
                let mut vectors = vec![0.0; batch.len() * dimension];
                let texts = vectors.chunks_exact_mut(dimension);
                let rows = numbers.chunks_exact(width * dimension);
                for ((vector, numbers), row) in texts.zip(rows).zip(batch) {
                    pool(self.runtime.pooling, numbers, row.tokens.len(), vector);
                }
                vectors
            }
            Output::Texts { mut numbers, .. } => {
                if self.scales {
                    numbers.chunks_exact_mut(dimension).for_each(normalise);
                }
                numbers
            }
        };
        check_vectors(&vectors, batch.len(), expected)?;
        Ok(vectors)
    }

    /// Runs a batch.
    fn output(&self, batch: &[Row], pool_number: usize) -> Result<Output, EmbedError> {
        let width = batch.iter().map(|row| row.tokens.len()).max().unwrap_or(0);
        let mut tokens = Vec::with_capacity(batch.len() * width);
        let mut mask = Vec::with_capacity(batch.len() * width);
        let mut kinds = Vec::with_capacity(batch.len() * width);
        for row in batch {
            tokens.extend(row.tokens.iter().map(|token| token.cast_signed()));
            tokens.resize(tokens.len() + width - row.tokens.len(), self.padding);
            mask.resize(mask.len() + row.tokens.len(), 1);
            mask.resize(mask.len() + width - row.tokens.len(), 0);
            kinds.resize(kinds.len() + row.second, 0);
            kinds.resize(mask.len() - (width - row.tokens.len()), 1);
            kinds.resize(mask.len(), 0);
        }
        if let Some(budget) = &self.budget {
            let checked = budget.check(batch.len(), width, true);
            checked.map_err(|limit| EmbedError::Unfit { reason: limit })?;
        }
        let batch = Batch {
            texts: batch.len(),
            width,
            tokens,
            mask,
            kinds,
        };
        let pool = self.pools.get(pool_number).or(self.pools.first());
        let pool = pool.ok_or(EmbedError::Stopped)?;
        let output = self.runtime.run(batch, pool);
        output.map_err(|reason| EmbedError::Unfit { reason })
    }
}
