//! The limits that a worker sets itself.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

/// Address space of a worker, program and libraries included: 1 GiB.
// Four times the largest source file of 256 MiB; the limits of readers keep real files far below. A
// bomb ends its worker and not the indexer.
pub(super) const MEMORY_LIMIT_BYTES: u64 = 1 << 30;
/// Descriptors: the three of every process, and one for its own memory.
// Room for a few more. A reader that tried to open files would fail here.
const MAX_FILES: u64 = 8;

/// Seconds of CPU time that this process has used.
fn used_cpu() -> u64 {
    let used = clock_gettime(ClockId::ProcessCPUTime).tv_sec;
    u64::try_from(used).unwrap_or(0)
}

/// Sets all limits but that of CPU time, for good, and has this process end with its parent where the system
/// can: a worker that is busy would notice only later. True: all of them hold.
pub(super) fn set() -> bool {
    #[cfg(target_os = "linux")]
    {
        // It is meant for the thread that started this process. One that is killed too early costs a try.
        let signal = rustix::process::Signal::KILL;
        let _ = rustix::process::set_parent_process_death_signal(Some(signal));
        // Short of memory, the system shall end a worker rather than the indexer.
        let _ = std::fs::write("/proc/self/oom_score_adj", "500");
    }
    let limits = [
        (Resource::As, MEMORY_LIMIT_BYTES),
        (Resource::Nofile, MAX_FILES),
        // A core dump would put the content of a document on the disk.
        (Resource::Core, 0),
        // Pipes and sockets have no size.
        (Resource::Fsize, 0),
    ];
    // The clock is looked up by the first one who asks, in what the sandbox has not.
    used_cpu();
    let mut all_hold = true;
    for (resource, limit) in limits {
        // A limit of the host that is lower stays: raising it is not allowed.
        let most = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let limit = Some(limit.min(most));
        let limit = Rlimit {
            current: limit,
            maximum: limit,
        };
        all_hold &= setrlimit(resource, limit).is_ok();
    }
    all_hold
}

/// Lets this process use so many seconds of CPU from now on; then it gets SIGXCPU, which ends it.
pub(super) fn allow_cpu(seconds: u32) {
    let maximum = getrlimit(Resource::Cpu).maximum;
    let limit = used_cpu()
        .saturating_add(u64::from(seconds))
        // The limit is in whole seconds and the time used so far is rounded down.
        .saturating_add(1);
    let limit = Rlimit {
        current: Some(limit.min(maximum.unwrap_or(u64::MAX))),
        maximum,
    };
    // Without it, the parent still holds the limit of time.
    let _ = setrlimit(Resource::Cpu, limit);
}
