//! What quantising loses of a column, measured on the vectors that are imported, while their numbers are known.

use kb_types::error::Result;

use crate::index::vector::Codec;
use crate::index::vector::quantise::{I4_OFFSET, I4_STEP, nibble, quantise};
use crate::index::vector::stride;
use crate::metric::Metric;
use crate::store::vector_columns::QuantisedRecord;

/// Limits of the vectors that are kept for the measurement: bytes, and number.
const LIMITS: (usize, usize) = (32 << 20, 16_384);

/// Least number of vectors of a measurement.
// The ten nearest of fewer rows are a large part of all of them, and recall is high by chance.
const LEAST_ROWS: usize = 200;

/// Vectors that are asked for.
// 320 neighbours: the recall is known to about 2 %.
const QUESTIONS: usize = 32;

/// Nearest vectors wanted of each.
const NEAREST: usize = 10;

/// Signed bytes at the ends of the range.
const LEVELS: f32 = 127.0;

/// Vectors from all over an import, as it gave them.
#[derive(Debug)]
pub(super) struct LossSample {
    dim: usize,
    metric: Metric,
    most: usize,
    vectors: Vec<f32>,
    /// Vectors that were shown.
    seen: u64,
    /// One in so many is kept.
    step: u64,
}

impl LossSample {
    /// Of vectors of `dim` numbers that are compared by that metric.
    pub(super) fn new(dim: u32, metric: Metric) -> LossSample {
        let dim = dim.max(1) as usize;
        LossSample {
            dim,
            metric,
            most: (LIMITS.0 / (dim * size_of::<f32>())).min(LIMITS.1),
            vectors: Vec::new(),
            seen: 0,
            step: 1,
        }
    }

    /// Shows it the next vector.
    pub(super) fn add(&mut self, vector: &[f32]) {
        let number = self.seen;
        self.seen += 1;
        if !number.is_multiple_of(self.step) {
            return;
        }
        if self.vectors.len() / self.dim >= self.most {
            // Every second one makes room.
            let kept = self.vectors.chunks_exact(self.dim).step_by(2);
            self.vectors = kept.flatten().copied().collect();
            self.step *= 2;
            if !number.is_multiple_of(self.step) {
                return;
            }
        }
        self.vectors.extend_from_slice(vector);
    }

    /// The share of the nearest vectors that comparing the stored rows finds. `None` for too few vectors. Asks `check`
    /// whether to go on.
    ///
    /// Cost: each of up to 16 384 vectors is compared with 32 of them, twice.
    ///
    /// # Errors
    /// What `check` says.
    pub(super) fn recall(
        &self,
        codec: Codec,
        range: f32,
        check: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Option<QuantisedRecord>> {
        let rows = self.vectors.len() / self.dim;
        if rows < LEAST_ROWS {
            return Ok(None);
        }
        let own: Vec<usize> = (0..QUESTIONS)
            .map(|number| (2 * number + 1) * rows / (2 * QUESTIONS))
            .collect();
        let mut store = Stored::new(self.dim);
        let questions: Vec<Question<'_>> = own
            .iter()
            .filter_map(|row| self.vectors.chunks_exact(self.dim).nth(*row))
            .map(|vector| Question {
                vector,
                stored: store.question(vector),
            })
            .collect();
        let mut scores = vec![(Vec::with_capacity(rows), Vec::with_capacity(rows)); QUESTIONS];
        for vector in self.vectors.chunks_exact(self.dim) {
            check()?;
            let less = match self.metric {
                Metric::L2 => dot(vector, vector) / 2.0,
                Metric::Cosine | Metric::Dot => 0.0,
            };
            let stored = store.row(vector, codec, range);
            for (question, (exact, quick)) in questions.iter().zip(&mut scores) {
                exact.push(dot(question.vector, vector) - less);
                quick.push(dot(&question.stored, stored) - less);
            }
        }
        let lists = own.iter().zip(&scores);
        let found: usize = lists
            .map(|(own, (exact, quick))| found(*own, exact, quick))
            .sum();
        Ok(Some(QuantisedRecord {
            queries: QUESTIONS as u32,
            k: NEAREST as u32,
            rows: self.seen,
            recall: found as f32 / (QUESTIONS * NEAREST) as f32,
        }))
    }
}

/// A vector that is asked for.
struct Question<'v> {
    vector: &'v [f32],
    /// Its numbers as a search has them.
    stored: Vec<f32>,
}

/// Makes of vectors what is left of them.
struct Stored {
    bytes: Vec<i8>,
    numbers: Vec<f32>,
}

impl Stored {
    fn new(dim: usize) -> Stored {
        Stored {
            bytes: vec![0; stride(u32::try_from(dim).unwrap_or(u32::MAX)) as usize],
            numbers: Vec::with_capacity(dim),
        }
    }

    /// A question has a scale of its own.
    fn question(&mut self, vector: &[f32]) -> Vec<f32> {
        let largest = vector.iter().fold(0.0f32, |most, x| most.max(x.abs()));
        let range = if largest > 0.0 { largest } else { 1.0 };
        self.row(vector, Codec::I8, range).to_vec()
    }

    fn row(&mut self, vector: &[f32], codec: Codec, range: f32) -> &[f32] {
        quantise(vector, range, &mut self.bytes);
        let scale = range / LEVELS;
        let bytes = self.bytes.iter().take(vector.len());
        self.numbers.clear();
        self.numbers.extend(bytes.map(|byte| match codec {
            Codec::I8 => f32::from(*byte) * scale,
            Codec::I4 => {
                let steps = 2 * i32::from(nibble(*byte)) - I4_OFFSET;
                (steps * i32::from(I4_STEP)) as f32 / 2.0 * scale
            }
        }));
        &self.numbers
    }
}

/// How many of the rows that look nearest are among the nearest; a row that ties with the last of these is as good.
fn found(own: usize, exact: &[f32], quick: &[f32]) -> usize {
    let nearest = |scores: &[f32]| {
        let mut rows: Vec<usize> = (0..scores.len()).filter(|row| *row != own).collect();
        let score = |row: usize| scores.get(row).copied().unwrap_or(f32::NEG_INFINITY);
        let order = |a: &usize, b: &usize| score(*b).total_cmp(&score(*a)).then(a.cmp(b));
        if rows.len() > NEAREST {
            rows.select_nth_unstable_by(NEAREST - 1, order);
        }
        rows.truncate(NEAREST);
        rows
    };
    let score = |row: &usize| exact.get(*row).copied().unwrap_or(f32::NEG_INFINITY);
    let least = nearest(exact)
        .iter()
        .map(score)
        .fold(f32::INFINITY, f32::min);
    let quick = nearest(quick);
    quick.iter().filter(|row| score(row) >= least).count()
}

/// Sums in eight lanes, which a compiler can keep in one register.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 8;
    let mut sums = [0.0f32; LANES];
    let (whole_a, rest_a) = a.as_chunks::<LANES>();
    let (whole_b, rest_b) = b.as_chunks::<LANES>();
    for (a, b) in whole_a.iter().zip(whole_b) {
        for (sum, (x, y)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += x * y;
        }
    }
    let rest: f32 = rest_a.iter().zip(rest_b).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::run::vectors::range::RangeSample;

    /// Numbers of a normal distribution, about.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f32 {
            let sum: f32 = (0..4)
                .map(|_| {
                    self.0 = self
                        .0
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    (self.0 >> 40) as f32 / (1 << 24) as f32 - 0.5
                })
                .sum();
            sum * 1.7
        }
    }

    fn recall(metric: Metric, codec: Codec, rows: usize, scale: fn(usize) -> f32) -> Option<f32> {
        const DIM: usize = 64;
        let mut random = Random(3);
        let vectors: Vec<Vec<f32>> = (0..rows)
            .map(|_| {
                let mut vector: Vec<f32> = (0..DIM).map(|at| random.next() * scale(at)).collect();
                let norm = metric.check(&vector, DIM as u32).unwrap();
                metric.scale(&mut vector, norm);
                vector
            })
            .collect();
        let (mut sample, mut range) = (LossSample::new(DIM as u32, metric), RangeSample::new());
        for vector in &vectors {
            sample.add(vector);
            range.add(vector);
        }
        let (range, _) = range
            .range(|each| {
                vectors.iter().for_each(|vector| each(vector));
                Ok(())
            })
            .unwrap();
        let measured = sample.recall(codec, range, &mut || Ok(())).unwrap();
        assert!(measured.as_ref().is_none_or(|it| it.rows == rows as u64));
        measured.map(|measured| measured.recall)
    }

    #[test]
    fn one_large_dimension_costs_recall_and_is_told() {
        let even = |_: usize| 1.0;
        let one_large = |at: usize| if at == 3 { 20.0 } else { 1.0 };
        for metric in [Metric::Cosine, Metric::L2] {
            let fine = recall(metric, Codec::I8, 2000, even).unwrap();
            assert!(fine > 0.95, "{metric:?}: {fine}");
            let lost = recall(metric, Codec::I4, 2000, one_large).unwrap();
            assert!(lost < 0.6, "{metric:?}: {lost}");
            let between = recall(metric, Codec::I8, 2000, one_large).unwrap();
            assert!(between > lost && between < fine, "{metric:?}: {between}");
        }
        assert_eq!(recall(Metric::Dot, Codec::I8, 100, even), None);
    }

    #[test]
    fn a_large_import_is_measured_on_vectors_from_all_over() {
        let mut sample = LossSample::new(1, Metric::Dot);
        for number in 0..100_000 {
            sample.add(&[number as f32]);
        }
        let kept = &sample.vectors;
        assert!((8192..=16_384).contains(&kept.len()), "{}", kept.len());
        assert_eq!((kept[0], kept[1]), (0.0, sample.step as f32));
        assert!(kept[kept.len() - 1] > 99_000.0 && kept.is_sorted());
    }
}
