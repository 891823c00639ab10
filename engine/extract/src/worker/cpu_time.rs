//! CPU time of a worker, as its parent sees it: whether it computed while its time ran out.

use std::time::Duration;

/// User and system time of a child that was not waited for yet. None where the system does not tell: only Linux
/// does, in a file.
#[cfg(target_os = "linux")]
pub(super) fn cpu_time_of(process: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let ticks_per_second = rustix::param::clock_ticks_per_second();
    let ticks = ticks_in(&stat)?;
    Some(Duration::from_millis(
        ticks.saturating_mul(1000) / ticks_per_second.max(1),
    ))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn cpu_time_of(_: u32) -> Option<Duration> {
    None
}

/// Fields 14 and 15 of the file, user and system time in ticks of the clock. The second is the name of the
/// program in brackets, which may hold spaces and brackets.
#[cfg(target_os = "linux")]
fn ticks_in(stat: &str) -> Option<u64> {
    // The last bracket: a program may choose a name with brackets.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut ticks = fields.split_ascii_whitespace().skip(11);
    let user = ticks.next()?.parse::<u64>().ok()?;
    user.checked_add(ticks.next()?.parse().ok()?)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_ticks_stand_behind_the_name_of_the_program() {
        let stat = "71 (a ) b) S 1 71 71 0 -1 4194304 9 8 7 6 120 34 5 4 20 0 1 0 99 1000 1";
        assert_eq!(ticks_in(stat), Some(154));
        assert_eq!(ticks_in("71 (kb) S 1"), None);
        assert!(cpu_time_of(std::process::id()).is_some());
    }
}
