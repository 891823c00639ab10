//! k-means over a sample of rows, in integers: the same centroids whatever the number of threads.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::panic::resume_unwind;
use std::thread;

use kb_types::error::Result;

use super::centroids::Centroids;
use super::layout::CENTROIDS_LIMIT;
use crate::index::vector::kernels::layout::LANES;

/// Sampled rows for each centroid, at most.
// FAISS warns below 39 (`min_points_per_centroid` in its clustering). Training takes time in
// proportion.
const SAMPLED_ROWS: usize = 48;

/// Memory limit of a sample, in bytes.
// Reached at 1.4 million sampled rows of 192 bytes. The memory of `kb index` is bounded whatever
// the size of the file.
const SAMPLE_LIMIT_BYTES: usize = 256 << 20;

/// Passes of Lloyd's algorithm.
// Lloyd's algorithm gains most in its first passes; each pass costs one assignment of the sample.
// Other numbers of passes are not recorded.
const PASSES: usize = 6;

/// Least mean number of rows of a list.
// A list has at least one block of 64 rows; shorter lists would be half empty, and their centroids
// cost what they save (docs/decisions/09-inverted-lists.md).
const ROWS_OF_LIST: u64 = 160;

/// The number of centroids for a segment of so many rows: `4 sqrt(rows)`, at most one for each
/// [`ROWS_OF_LIST`], a multiple of sixteen.
pub fn wanted_centroids(rows: u64) -> usize {
    let wanted = (4 * rows.isqrt()).min(rows / ROWS_OF_LIST);
    let wanted = wanted.clamp(LANES as u64, u64::from(CENTROIDS_LIMIT));
    wanted as usize / LANES * LANES
}

/// How many rows to sample for that many centroids of `width` bytes.
pub fn sample_rows(centroids: usize, width: usize) -> usize {
    (centroids * SAMPLED_ROWS).min(SAMPLE_LIMIT_BYTES / width.max(1))
}

/// `count` centroids, a multiple of sixteen, of a sample of rows of `width` signed bytes (Lloyd 1982,
/// "Least squares quantization in PCM", from evenly spaced rows of the sample). `check` is asked between
/// passes.
///
/// # Errors
/// What `check` says.
pub fn train(
    sample: &[u8],
    width: usize,
    count: usize,
    threads: usize,
    check: &mut dyn FnMut(u32) -> Result<()>,
) -> Result<Centroids> {
    let rows = sample.len() / width.max(1);
    let row = |at: usize| sample.get(at * width..(at + 1) * width).unwrap_or_default();
    let mut bytes: Vec<i8> = Vec::with_capacity(count * width);
    for number in 0..count {
        // A sample of fewer rows than centroids repeats some; these lists stay empty.
        let at = (number * rows).checked_div(count).unwrap_or(0);
        bytes.extend(row(at).iter().map(|byte| byte.cast_signed()));
    }
    bytes.resize(count * width, 0);
    let mut centroids = Centroids::new(width, bytes);
    let mut nearest = vec![0u32; rows];
    for pass in 0..PASSES {
        // In pieces, so that somebody who waits can stop it.
        let piece = rows.div_ceil(8).max(1);
        for (number, (rows, nearest)) in
            (0..).zip(sample.chunks(piece * width).zip(nearest.chunks_mut(piece)))
        {
            check((pass * 8 + number) as u32 * 100 / (PASSES * 8) as u32)?;
            centroids.nearest(rows, nearest, threads);
        }
        centroids = Centroids::new(width, means(sample, width, &nearest, &centroids, threads));
    }
    Ok(centroids)
}

/// The mean of the rows of each centroid, rounded; of one without rows, a row of the largest list.
fn means(
    sample: &[u8],
    width: usize,
    nearest: &[u32],
    centroids: &Centroids,
    threads: usize,
) -> Vec<i8> {
    let share = nearest.len().div_ceil(threads.max(1)).max(1);
    let partial: Vec<Sums> = thread::scope(|scope| {
        let pieces = sample.chunks(share * width).zip(nearest.chunks(share));
        let handles: Vec<_> = pieces
            .map(|(rows, nearest)| {
                scope.spawn(move || Sums::of(rows, width, nearest, centroids.count()))
            })
            .collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    });
    let mut partial = partial.into_iter();
    let Some(mut sums) = partial.next() else {
        return centroids.rows().flatten().copied().collect();
    };
    for more in partial {
        sums.add(&more);
    }
    let mut means = Vec::with_capacity(centroids.count() * width);
    for (number, count) in sums.sums.chunks_exact(width).zip(&sums.counts) {
        let count = i64::from(*count).max(1);
        means.extend(number.iter().map(|sum| rounded(i64::from(*sum), count)));
    }
    split_largest(sample, width, nearest, &mut sums.counts, &mut means);
    means
}

/// `sum / count`, half away from zero, as a signed byte.
fn rounded(sum: i64, count: i64) -> i8 {
    let half = if sum < 0 { -count / 2 } else { count / 2 };
    i8::try_from((sum + half) / count).unwrap_or(0)
}

/// Gives each centroid without rows one of the rows of the list that is largest then, spread over it.
fn split_largest(
    sample: &[u8],
    width: usize,
    nearest: &[u32],
    counts: &mut [u32],
    means: &mut [i8],
) {
    let empty: Vec<usize> = (0..counts.len())
        .filter(|at| counts.get(*at) == Some(&0))
        .collect();
    if empty.is_empty() {
        return;
    }
    let mut largest: BinaryHeap<(u32, Reverse<usize>)> =
        counts.iter().copied().zip((0..).map(Reverse)).collect();
    let mut first_rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut chosen = Vec::with_capacity(empty.len());
    for target in empty {
        let Some((count, Reverse(from))) = largest.pop().filter(|(count, _)| *count > 1) else {
            break;
        };
        first_rows.entry(from).or_default();
        chosen.push((target, from, count / 2));
        largest.push((count - count / 2, Reverse(from)));
    }
    for (row, list) in nearest.iter().enumerate() {
        if let Some(rows) = first_rows.get_mut(&(*list as usize)) {
            rows.push(row);
        }
    }
    for (target, from, place) in chosen {
        let row = first_rows
            .get(&from)
            .and_then(|rows| rows.get(place as usize));
        let Some(bytes) = row.and_then(|row| sample.get(row * width..(row + 1) * width)) else {
            continue;
        };
        if let Some(mean) = means.get_mut(target * width..(target + 1) * width) {
            mean.iter_mut()
                .zip(bytes)
                .for_each(|(mean, byte)| *mean = byte.cast_signed());
        }
    }
}

/// Sums of the rows of each centroid.
struct Sums {
    sums: Vec<i32>,
    counts: Vec<u32>,
}

impl Sums {
    fn of(rows: &[u8], width: usize, nearest: &[u32], centroids: usize) -> Sums {
        let mut sums = vec![0i32; centroids * width];
        let mut counts = vec![0u32; centroids];
        for (row, centroid) in rows.chunks_exact(width).zip(nearest) {
            let at = *centroid as usize;
            if let (Some(sums), Some(count)) = (
                sums.get_mut(at * width..(at + 1) * width),
                counts.get_mut(at),
            ) {
                *count += 1;
                for (sum, byte) in sums.iter_mut().zip(row) {
                    *sum += i32::from(byte.cast_signed());
                }
            }
        }
        Sums { sums, counts }
    }

    fn add(&mut self, other: &Sums) {
        let add = |to: &mut [i32], from: &[i32]| to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        add(&mut self.sums, &other.sums);
        self.counts
            .iter_mut()
            .zip(&other.counts)
            .for_each(|(a, b)| *a += b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rows: usize, width: usize) -> Vec<u8> {
        let mut state = 3u64;
        let mut bytes = Vec::with_capacity(rows * width);
        for row in 0..rows {
            for dim in 0..width {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                let center = ((row % 40) * 17 + dim * 31) % 180;
                bytes.push(((center as i64 - 90) + ((state >> 60) as i64)) as i8 as u8);
            }
        }
        bytes
    }

    #[test]
    fn threads_do_not_change_the_centroids() {
        let sample = sample(3000, 64);
        let of = |threads| -> Vec<i8> {
            let centroids = train(&sample, 64, 48, threads, &mut |_| Ok(())).unwrap();
            centroids.rows().flatten().copied().collect()
        };
        let one = of(1);
        assert_eq!(one, of(2));
        assert_eq!(one, of(5));
    }

    #[test]
    fn clusters_are_found_and_no_list_stays_empty() {
        let sample = sample(3000, 64);
        let centroids = train(&sample, 64, 48, 2, &mut |_| Ok(())).unwrap();
        let mut nearest = vec![0; 3000];
        centroids.nearest(&sample, &mut nearest, 1);
        let mut counts = vec![0; 48];
        nearest.iter().for_each(|list| counts[*list as usize] += 1);
        assert!(
            counts.iter().filter(|count| **count > 0).count() >= 40,
            "{counts:?}"
        );
        let worst = sample.chunks(64).zip(&nearest).map(|(row, list)| {
            let centroid = centroids.get(*list).unwrap();
            let pairs = row.iter().zip(centroid);
            pairs
                .map(|(x, c)| (i64::from(x.cast_signed()) - i64::from(*c)).pow(2))
                .sum::<i64>()
        });
        // Rows of a cluster differ by at most 15 in each of 64 dimensions.
        assert!(worst.max().unwrap() <= 64 * 15 * 15);
    }

    #[test]
    fn one_row_many_times_and_no_row_at_all_are_trained() {
        let same = [5u8; 64 * 500];
        let centroids = train(&same, 64, 32, 2, &mut |_| Ok(())).unwrap();
        assert_eq!(centroids.count(), 32);
        assert!(centroids.rows().any(|row| row == [5; 64]));
        assert_eq!(train(&[], 64, 16, 2, &mut |_| Ok(())).unwrap().count(), 16);
    }

    #[test]
    fn as_many_centroids_as_rows_ask_for() {
        for (rows, centroids) in [
            (0, 16),
            (32_768, 192),
            (200_000, 1248),
            (1_000_000, 4000),
            (10_000_000, 12_640),
            (1 << 24, 16_384),
        ] {
            assert_eq!(wanted_centroids(rows), centroids, "{rows}");
        }
    }
}
