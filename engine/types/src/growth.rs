//! For the tests of this workspace: whether work grows faster than what it is done on.
//!
//! Measured in CPU time of the thread, which other programs do not use up, at one, two and four times a size. What is
//! too slow once may have been disturbed: it must be so in each of several tries, of which the quickest count.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How much longer twice as much may take.
const MOST: f64 = 2.3;
/// Work this short is not judged: the clock, the allocator and the caches say more of it than its length.
const FLOOR: Duration = Duration::from_millis(12);
/// Tries before something is too slow.
const TRIES: usize = 6;

/// CPU time of this thread.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// CPU time that some work takes, and its result.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = cpu_time();
    let result = std::hint::black_box(work());
    (result, cpu_time().saturating_sub(start))
}

/// How much longer twice as much takes, for each of `N` steps, where that is too much. `time` gives what each step
/// takes on an input of so many bytes. Where all of them are quick the input gets longer, up to `most` bytes. What looks
/// too slow is measured again at four times the length: work that outgrows a cache there is no slower any more, and work
/// that is quadratic is more so.
pub fn too_fast<const N: usize>(
    smallest: usize,
    most: usize,
    time: &dyn Fn(usize) -> [Duration; N],
) -> [Option<f64>; N] {
    let mut smallest = smallest;
    let mut longest = time(4 * smallest);
    while longest.iter().all(|time| *time < FLOOR) && 16 * smallest <= most {
        smallest *= 4;
        longest = time(4 * smallest);
    }
    if longest.iter().all(|time| *time < FLOOR) {
        return [None; N];
    }
    let found = growth(smallest, time);
    if found.iter().all(Option::is_none) {
        return found;
    }
    let again = growth(4 * smallest, time);
    let mut both = found;
    for (both, again) in both.iter_mut().zip(again) {
        *both = both.and(again);
    }
    both
}

/// The same between one length and four times as much.
fn growth<const N: usize>(
    smallest: usize,
    time: &dyn Fn(usize) -> [Duration; N],
) -> [Option<f64>; N] {
    let mut growth = [None; N];
    let mut best = [[Duration::MAX; N]; 3];
    for _ in 0..TRIES {
        for (best, times) in best.iter_mut().zip([1, 2, 4]) {
            for (best, new) in best.iter_mut().zip(time(times * smallest)) {
                *best = (*best).min(new);
            }
        }
        for (step, growth) in growth.iter_mut().enumerate() {
            let [one, two, four] =
                best.map(|times| times.get(step).map_or(0.0, Duration::as_secs_f64));
            let overall = (four / one.max(1e-9)).sqrt();
            let is_fast =
                four > FLOOR.as_secs_f64() && overall > MOST && four / two.max(1e-9) > MOST;
            *growth = is_fast.then_some(overall);
        }
        if growth.iter().all(Option::is_none) {
            break;
        }
    }
    growth
}

#[cfg(test)]
#[test]
fn quadratic_work_is_found_and_linear_is_not() {
    let spin = |steps: usize| {
        let mut sum = 1u64;
        for step in 0..steps as u64 {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(step));
        }
        sum
    };
    let time = |size: usize| {
        [
            timed(|| spin(size * 200)).1,
            timed(|| spin(size * size / 20)).1,
            timed(|| spin(size)).1,
        ]
    };
    let [linear, quadratic, short] = too_fast(10_000, 40_000, &time);
    assert_eq!((linear, short), (None, None));
    assert!(
        quadratic.is_some_and(|growth| growth > 3.0),
        "{quadratic:?}"
    );
}
