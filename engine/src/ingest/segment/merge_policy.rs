//! Which segments are merged next.
//!
//! Segments of about one size form a tier; when a tier is full, its smallest segments become one. That
//! is the tiered compaction of log-structured stores (RocksDB's universal style, Lucene's
//! `TieredMergePolicy`): the number of segments grows with the logarithm of the text, and each byte
//! is written once more for each tier that it passes.
//!
//! Bounds, for `n` bytes of live text (`FAN_OUT` 8, `LARGE_FAN_OUT` 32, tiers from 64 KiB up):
//! - without a limit of bytes at most `7 * 5 + 31 * (1 + log32(n / 256 MiB))` segments;
//! - with a limit at most as many, and one for each half of the limit beside: `n / 32 MiB` for
//!   [`COMMIT_BYTES`]. What one commit merges stays below the limit, whatever the file holds;
//! - each byte is written at most once for each tier, but below 64 KiB, where a segment of `s` bytes
//!   may be written `64 KiB / (7 s)` times before it leaves the first tier.

use std::collections::BTreeMap;

use kb_types::SegmentId;

use crate::index::keyword::MAX_ROWS;

/// Segments of a tier that are merged into one.
// Each text byte is written about log8 of the size of the file times. A smaller number writes more,
// a larger one leaves more segments to each search (simulated in docs/decisions/04-segments.md).
const FAN_OUT: usize = 8;

/// Segments of a tier of large segments that are merged into one.
// A first run leaves segments of about 400 MB. Merging them at once would write everything twice
// for a few segments less.
const LARGE_FAN_OUT: usize = 32;

/// Where the smallest tier ends.
// Commits of watchers have some KB; all of them belong to one tier.
const SMALLEST_BYTES: u64 = 64 << 10;

/// From where on segments are large.
// A segment of a first run (about 400 MB) is large, one that grew from commits is not.
const LARGE_BYTES: u64 = 256 << 20;

/// Number of the first tier of large segments.
const LARGE_TIER: u32 = 1 + (LARGE_BYTES / SMALLEST_BYTES).ilog(FAN_OUT as u64);

/// Most text bytes that the merges after one commit write.
// About a second of work. Larger merges are made at the end of `kb index`, where users expect to
// wait, and by `kb seal`.
pub(crate) const COMMIT_BYTES: u64 = 64 << 20;

/// How much of a segment is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    /// Number of the segment.
    pub segment: SegmentId,
    /// Chunks that are not deleted.
    pub live_rows: u32,
    /// Bytes of their text.
    pub live_bytes: u64,
    /// Bytes of text of deleted ones.
    pub dead_bytes: u64,
}

impl Size {
    /// Number of its tier, and how many segments that takes.
    fn tier(&self) -> (u32, usize) {
        match self.live_bytes {
            0..SMALLEST_BYTES => (0, FAN_OUT),
            bytes @ SMALLEST_BYTES..LARGE_BYTES => {
                (1 + (bytes / SMALLEST_BYTES).ilog(FAN_OUT as u64), FAN_OUT)
            }
            bytes => {
                let above = (bytes / LARGE_BYTES).ilog(LARGE_FAN_OUT as u64);
                (LARGE_TIER + above, LARGE_FAN_OUT)
            }
        }
    }
}

/// What the merges of one commit or one run may still do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit {
    /// Most bytes of text that they write in all; none: as much as there is.
    all_bytes: Option<u64>,
    /// How much of that is left.
    left_bytes: u64,
    /// Most rows of a segment.
    rows: u32,
}

impl Limit {
    /// After a commit that somebody waits for.
    pub(crate) fn commit() -> Limit {
        Limit {
            all_bytes: Some(COMMIT_BYTES),
            left_bytes: COMMIT_BYTES,
            rows: MAX_ROWS,
        }
    }

    /// Where time is expected.
    pub(crate) fn none() -> Limit {
        Limit {
            all_bytes: None,
            left_bytes: u64::MAX,
            rows: MAX_ROWS,
        }
    }

    /// Notes a merge that was made.
    pub(crate) fn spend(&mut self, bytes: u64) {
        if self.all_bytes.is_some() {
            self.left_bytes = self.left_bytes.saturating_sub(bytes);
        }
    }

    /// Whether two segments of that size can become one.
    fn allows_two(&self, size: &Size) -> bool {
        let half = self.all_bytes.map_or(u64::MAX, |bytes| bytes / 2);
        size.live_bytes <= half && size.live_rows <= self.rows / 2
    }
}

/// The segments to be merged next, ascending, and their bytes of live text; none: all is well, or
/// left to a larger limit. A segment of which more is deleted than left is rebuilt alone.
///
/// Calling it until it says none ends: each merge leaves fewer segments or none deleted.
pub(crate) fn choose(sizes: &[Size], limit: &Limit) -> Option<(Vec<SegmentId>, u64)> {
    // First, because it frees most for what it writes: a segment that is mostly deleted costs every
    // search its dead rows.
    let half_dead = sizes
        .iter()
        .find(|size| size.dead_bytes > size.live_bytes && size.live_bytes <= limit.left_bytes);
    if let Some(size) = half_dead {
        return Some((vec![size.segment], size.live_bytes));
    }
    let mut tiers: BTreeMap<(u32, usize), Vec<&Size>> = BTreeMap::new();
    for size in sizes.iter().filter(|size| limit.allows_two(size)) {
        tiers.entry(size.tier()).or_default().push(size);
    }
    tiers
        .into_iter()
        .find_map(|((_, fan_out), tier)| choose_of_tier(tier, fan_out, limit))
}

/// The smallest segments of a full tier: as many as it takes, or as many as the limit allows when
/// these reach half of it.
fn choose_of_tier(
    mut tier: Vec<&Size>,
    fan_out: usize,
    limit: &Limit,
) -> Option<(Vec<SegmentId>, u64)> {
    if tier.len() < fan_out {
        return None;
    }
    // The smallest first: joining eight small ones into a large one writes the large one again for
    // little.
    tier.sort_by_key(|size| (size.live_bytes, size.segment));
    let (mut bytes, mut rows) = (0u64, 0u64);
    let most_bytes = limit.all_bytes.unwrap_or(u64::MAX);
    let mut chosen = Vec::with_capacity(fan_out);
    for size in tier.into_iter().take(fan_out) {
        let (more_bytes, more_rows) = (
            bytes.saturating_add(size.live_bytes),
            rows + u64::from(size.live_rows),
        );
        if more_bytes > most_bytes || more_rows > u64::from(limit.rows) {
            break;
        }
        (bytes, rows) = (more_bytes, more_rows);
        chosen.push(size.segment);
    }
    // Fewer than the fan-out are merged only where the result is too large for another merge under
    // this limit; otherwise the same bytes would be written again soon.
    let is_worth_it =
        chosen.len() == fan_out || bytes > most_bytes / 2 || rows > u64::from(limit.rows / 2);
    if chosen.len() < 2 || !is_worth_it || bytes > limit.left_bytes {
        return None;
    }
    chosen.sort();
    Some((chosen, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KB: u64 = 1 << 10;
    const MB: u64 = 1 << 20;

    fn size(number: usize, live_bytes: u64, dead_bytes: u64) -> Size {
        Size {
            segment: SegmentId(number as u32),
            live_rows: u32::try_from(live_bytes / 1200).unwrap_or(u32::MAX),
            live_bytes,
            dead_bytes,
        }
    }

    /// Which of segments with so much live text, numbered from 1, are merged.
    fn chosen(limit: Limit, live_bytes: &[u64]) -> Vec<u32> {
        let numbered = (1..).zip(live_bytes);
        let sizes: Vec<Size> = numbered.map(|(n, bytes)| size(n, *bytes, 0)).collect();
        let (segments, _) = choose(&sizes, &limit).unwrap_or_default();
        segments.into_iter().map(|segment| segment.0).collect()
    }

    #[test]
    fn eight_segments_of_one_size_are_merged_and_fewer_are_not() {
        let limit = Limit::commit();
        assert!(chosen(limit, &[5 * KB; 7]).is_empty());
        assert_eq!(chosen(limit, &[5 * KB; 8]), [1, 2, 3, 4, 5, 6, 7, 8]);
        let mut mixed = vec![100 * MB, 600 * KB];
        mixed.extend([KB; 8]);
        assert_eq!(chosen(limit, &mixed), [3, 4, 5, 6, 7, 8, 9, 10]);
        assert!(chosen(limit, &[KB, 600 * KB, 5 * MB, 40 * MB]).is_empty());
    }

    #[test]
    fn a_segment_of_which_most_is_deleted_is_written_anew() {
        let of = |limit: &Limit, sizes: &[Size]| choose(sizes, limit).map(|(segments, _)| segments);
        let sizes = [size(1, 50 * KB, 40 * KB), size(2, 10 * KB, 11 * KB)];
        assert_eq!(of(&Limit::commit(), &sizes), Some(vec![SegmentId(2)]));
        let large = [size(1, 70 * MB, 71 * MB)];
        assert_eq!(of(&Limit::commit(), &large), None);
        assert_eq!(of(&Limit::none(), &large), Some(vec![SegmentId(1)]));
    }

    /// Eight segments of 9 to 32 MB exceed the limit together and were never merged: a file of 10 GB
    /// had a thousand of them.
    #[test]
    fn fewer_than_eight_are_merged_when_the_limit_says_so() {
        let limit = Limit::commit();
        assert_eq!(chosen(limit, &[9 * MB; 8]).len(), 7);
        assert_eq!(chosen(limit, &[30 * MB; 8]).len(), 2);
        assert_eq!(chosen(Limit::none(), &[30 * MB; 8]).len(), 8);
        assert!(chosen(limit, &[33 * MB; 20]).is_empty());
        assert_eq!(chosen(Limit::none(), &[33 * MB; 20]).len(), 8);
        // Not as many as a tier takes, and not half of the limit: it would be written again soon.
        let mut spent = limit;
        spent.spend(60 * MB);
        assert!(chosen(spent, &[4 * MB; 8]).is_empty());
    }

    #[test]
    fn no_merge_makes_a_segment_of_more_rows_than_there_may_be() {
        let limit = Limit {
            rows: 1000,
            ..Limit::none()
        };
        let sizes = |rows: u32, count: usize| -> Vec<Size> {
            let sized = |number| Size {
                live_rows: rows,
                ..size(number, 300 * KB, 0)
            };
            (1..=count).map(sized).collect()
        };
        for (rows, merged) in [(100, 8), (125, 8), (126, 7), (400, 2), (500, 2), (501, 0)] {
            let (segments, _) = choose(&sizes(rows, 9), &limit).unwrap_or_default();
            assert_eq!(segments.len(), merged, "{rows}");
        }
    }

    /// A file while commits add text to it.
    #[derive(Default)]
    struct History {
        segments: Vec<Size>,
        next: usize,
        written_bytes: u64,
        added_bytes: u64,
        most: usize,
        /// Most bytes that the merges of one commit wrote.
        lump_bytes: u64,
    }

    impl History {
        fn commit(&mut self, bytes: u64, mut limit: Limit) {
            self.next += 1;
            self.segments.push(size(self.next, bytes, 0));
            self.added_bytes += bytes;
            self.written_bytes += bytes;
            let mut lump = 0;
            while let Some((merged, bytes)) = choose(&self.segments, &limit) {
                self.segments.retain(|size| !merged.contains(&size.segment));
                self.next += 1;
                self.segments.push(size(self.next, bytes, 0));
                self.written_bytes += bytes;
                limit.spend(bytes);
                lump += bytes;
            }
            self.lump_bytes = self.lump_bytes.max(lump);
            self.most = self.most.max(self.segments.len());
        }

        fn amplification(&self) -> f64 {
            self.written_bytes as f64 / self.added_bytes as f64
        }
    }

    fn run(commits: impl Iterator<Item = u64>, limit: Limit) -> History {
        let mut history = History::default();
        commits.for_each(|bytes| history.commit(bytes, limit));
        history
    }

    type Commits = Box<dyn Iterator<Item = u64>>;

    /// Histories of `total` bytes, by name.
    fn histories(total: u64) -> Vec<(String, Commits)> {
        let mut histories: Vec<(String, Commits)> = Vec::new();
        for bytes in [8 * KB, 100 * KB, MB, 9 * MB, 12 * MB, 32 * MB] {
            let commits = std::iter::repeat_n(bytes, (total / bytes) as usize);
            histories.push((format!("commits of {bytes}"), Box::new(commits)));
        }
        // Sizes that a tier takes as its smallest and its largest, in turns.
        let turns = [512 * KB, 4 * MB - 1, 4 * MB, 32 * MB - 1];
        let count = (total / (turns.iter().sum::<u64>() / 4)) as usize;
        histories.push((
            "borders of tiers".to_owned(),
            Box::new(turns.into_iter().cycle().take(count)),
        ));
        // A large one, then ever smaller ones, again and again.
        let falling = (0..13).map(|step| (32 * MB) >> step);
        let count = (total / (64 * MB)) as usize * 13;
        histories.push((
            "falling sizes".to_owned(),
            Box::new(falling.cycle().take(count)),
        ));
        let mut state = 7u64;
        let count = (total / (2 * MB)) as usize;
        let random = std::iter::from_fn(move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            Some(KB << ((state >> 33) % 15))
        });
        histories.push(("random sizes".to_owned(), Box::new(random.take(count))));
        histories
    }

    #[test]
    fn every_history_leaves_segments_in_the_logarithm_of_its_text() {
        let total = 1 << 30;
        for (name, commits) in histories(total) {
            let history = run(commits, Limit::none());
            assert!(history.most <= 7 * 5 + 31, "{name}: {}", history.most);
            assert!(
                history.amplification() <= 12.0,
                "{name}: {}",
                history.amplification()
            );
        }
    }

    #[test]
    fn commits_alone_stay_within_their_limit_and_leave_few_segments() {
        let total = 1 << 30;
        for (name, commits) in histories(total) {
            let history = run(commits, Limit::commit());
            let bound = 7 * 5 + (history.added_bytes / (COMMIT_BYTES / 2)) as usize;
            assert!(history.most <= bound, "{name}: {}", history.most);
            assert!(
                history.amplification() <= 12.0,
                "{name}: {}",
                history.amplification()
            );
            assert!(
                history.lump_bytes <= COMMIT_BYTES,
                "{name}: {}",
                history.lump_bytes
            );
        }
    }

    #[test]
    fn a_run_without_a_limit_brings_what_commits_left_to_the_bound() {
        for (name, commits) in histories(1 << 30) {
            let mut history = run(commits, Limit::commit());
            history.commit(KB, Limit::none());
            let left = history.segments.len();
            assert!(left <= 7 * 5 + 31, "{name}: {left}");
        }
    }

    /// The table for 10 GB: `cargo test -p kb-engine merge_policy -- --ignored --nocapture`.
    #[test]
    #[ignore = "prints a table"]
    fn table_of_ten_gigabytes() {
        let print = |line: String| println!("{line}");
        print(
            "history | limit | segments at the end | most | written / added | largest commit MB"
                .to_owned(),
        );
        for (limit_name, limit) in [("64 MB a commit", Limit::commit()), ("none", Limit::none())] {
            let small = std::iter::repeat_n(KB, (10 << 30) / KB as usize);
            let small: (String, Commits) = ("commits of 1024".to_owned(), Box::new(small));
            for (name, commits) in std::iter::once(small).chain(histories(10 << 30)) {
                let history = run(commits, limit);
                print(format!(
                    "{name} | {limit_name} | {} | {} | {:.1} | {:.0}",
                    history.segments.len(),
                    history.most,
                    history.amplification(),
                    history.lump_bytes as f64 / MB as f64
                ));
            }
        }
    }
}
