//! What a worker may ask of the system: nothing but memory, its pipes, and to end.
//!
//! A filter of system calls with a list of what is allowed. It covers files, network, processes and signals at
//! once, on every kernel with seccomp; Landlock would need ABI 4 for TCP and has nothing for UDP, other
//! sockets or `execve` of what is open. What is not on the list fails with EPERM, so that a call that some
//! library makes without need costs nothing.

/// Enters the sandbox, for good. False where the system has none, or refuses it: then only limits hold.
#[cfg(all(
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
))]
pub(super) fn enter() -> bool {
    filter::enter().is_some()
}

/// Enters the sandbox, for good. False: this system has none.
#[cfg(not(all(
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
)))]
pub(super) fn enter() -> bool {
    false
}

#[cfg(all(
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
))]
mod filter {
    use std::collections::BTreeMap;

    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule, apply_filter,
    };

    /// Allowed with any arguments.
    const ALLOWED: [i64; 27] = [
        // The pipes, and the file that tells how much memory there is.
        libc::SYS_read,
        libc::SYS_readv,
        libc::SYS_pread64,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_close,
        // Memory.
        libc::SYS_brk,
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        // Locks, time, random numbers of hash tables.
        libc::SYS_futex,
        libc::SYS_sched_yield,
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_nanosleep,
        libc::SYS_getrandom,
        // Signals of its own, and the end.
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_restart_syscall,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_exit,
        libc::SYS_exit_group,
    ];

    /// Allowed for this process alone, which is their first argument: a signal at abort, and its limit of CPU
    /// time.
    fn own_calls() -> [(i64, u64); 2] {
        [
            (libc::SYS_tgkill, u64::from(std::process::id())),
            (libc::SYS_prlimit64, 0),
        ]
    }

    pub(super) fn enter() -> Option<()> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
            ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
        for (call, first) in own_calls() {
            let (width, equal) = (SeccompCmpArgLen::Dword, SeccompCmpOp::Eq);
            let condition = SeccompCondition::new(0, width, equal, first).ok()?;
            rules.insert(call, vec![SeccompRule::new(vec![condition]).ok()?]);
        }
        let filter = SeccompFilter::new(
            rules,
            SeccompAction::Errno(libc::EPERM as u32),
            SeccompAction::Allow,
            std::env::consts::ARCH.try_into().ok()?,
        );
        let program: BpfProgram = filter.ok()?.try_into().ok()?;
        apply_filter(&program).ok()
    }
}
