//! One worker: a child process, what is sent to it, and the watchdog that ends it.

use std::io::{self, Read};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::worker::cpu_time::cpu_time_of;
use crate::worker::extraction::WorkerOptions;
use crate::worker::protocol::{self, Answer};

/// Interval of the watchdog: how late it may notice a time limit or a cancelled run.
// Ten wake-ups a second cost nothing, and a person who cancels does not notice 0.1 s.
const TICK: Duration = Duration::from_millis(100);
/// Time that a worker has to become ready.
// It takes 7 ms. A machine that swaps, or loads the program from a slow disk, can need seconds.
const START_TIME: Duration = Duration::from_secs(60);
/// Time that a worker has to end after it closed its output. It is killed afterwards.
const EXIT_TIME: Duration = Duration::from_secs(2);
/// Bytes of the last words of a worker.
const MAX_LAST_WORDS_BYTES: usize = 4 << 10;
/// Characters of them that are shown.
// The last words go into the reason of a skipped file, which is one line.
const MAX_SHOWN_CHARS: usize = 200;
/// A worker whose time is up and that had no more than this part of the CPU time that it could have had says
/// nothing of its file: the machine was busy, or the worker was stopped. Of 30 s that is twelve times what the
/// slowest of 4,220 real files took.
// A quarter of 30 s are 7.5 s (docs/decisions/16-worker-process.md).
const LITTLE_CPU_PART: u32 = 4;
/// Variables that a worker is given of its parent's: those that find libraries. Others may hold secrets.
#[cfg(unix)]
const PASSED_VARIABLES: [&str; 2] = ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"];

/// Why a worker gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WorkerEnd {
    /// It took longer than its time limit, and was ended.
    Time(Duration),
    /// The same, but it had no more than this CPU time.
    Starved(Duration, Duration),
    /// It took more CPU than its limit of so many seconds.
    Cpu(u32),
    /// It asked for more memory than its limit.
    Memory,
    /// It was killed, and not by its parent.
    Killed,
    /// It ended: with which status, and its last words.
    Crashed(String),
    /// Its answer contradicts itself; how.
    Lied(String),
    /// The run that it worked for ends.
    Stopped,
}

/// A worker that waits for a request.
#[derive(Debug)]
pub(super) struct WorkerProcess {
    watched: Arc<Watched>,
    requests: Requests,
    answers: ChildStdout,
    last_words: ChildStderr,
    /// What it was asked for.
    pub(super) documents: u32,
    cpu_seconds: u32,
    time_limit: Duration,
}

/// The child, shared with its watchdog.
#[derive(Debug)]
struct Watched {
    state: Mutex<State>,
    changed: Condvar,
    /// Whether the run shall stop.
    stop: Arc<AtomicBool>,
}

#[derive(Debug)]
struct State {
    child: Child,
    /// When it is ended unless it answered; none while it has nothing to do.
    deadline: Option<Instant>,
    /// Its CPU time before it was asked, where that is known.
    cpu_before: Option<Duration>,
    /// Why the watchdog killed it.
    killed_for: Option<KilledFor>,
    /// Whether nobody needs the watchdog any more.
    is_over: bool,
}

#[derive(Debug, Clone, Copy)]
enum KilledFor {
    /// Its time was up, after so much CPU time where that is known.
    Time(Option<Duration>),
    Stop,
}

impl WorkerProcess {
    /// Starts a worker and waits until it has set its limits. `stop` ends it while it works.
    ///
    /// # Errors
    /// Those of the system; `InvalidData` for a program that is no worker of this version, `UnexpectedEof` for one
    /// that ended.
    pub(super) fn start(
        options: &WorkerOptions,
        stop: &Arc<AtomicBool>,
    ) -> io::Result<WorkerProcess> {
        let mut command = Command::new(&options.executable);
        command.args(&options.arguments);
        confine(&mut command);
        let (mut child, requests) = spawn(command)?;
        let (Some(answers), Some(last_words)) = (child.stdout.take(), child.stderr.take()) else {
            let _ = child.kill();
            let _ = child.wait();
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let watched = Arc::new(Watched {
            state: Mutex::new(State {
                child,
                deadline: Some(Instant::now() + START_TIME),
                cpu_before: None,
                killed_for: None,
                is_over: false,
            }),
            changed: Condvar::new(),
            stop: Arc::clone(stop),
        });
        // From here on the child ends with this value.
        let mut worker = WorkerProcess {
            watched: Arc::clone(&watched),
            requests,
            answers,
            last_words,
            documents: 0,
            cpu_seconds: options.cpu_seconds(),
            time_limit: options.time_limit,
        };
        thread::Builder::new()
            .name("worker watchdog".to_owned())
            .spawn(move || watched.watch())?;
        let protection = protocol::read_hello(&mut worker.answers);
        let protection = protection.map_err(|error| worker.why_not_ready(error))?;
        protection.record();
        worker.watched.lock().deadline = None;
        Ok(worker)
    }

    /// Asks it for the document of a file.
    ///
    /// # Errors
    /// Why there is no answer; the worker is of no use then.
    pub(super) fn extract(&mut self, path: &str, content: &[u8]) -> Result<Answer, WorkerEnd> {
        self.documents = self.documents.saturating_add(1);
        let mut state = self.watched.lock();
        state.cpu_before = cpu_time_of(state.child.id());
        state.deadline = Some(Instant::now() + self.time_limit);
        drop(state);
        let sent = protocol::write_request(&mut self.requests, path, self.cpu_seconds, content);
        let answer = match sent {
            Ok(()) => protocol::read_answer(&mut self.answers, path),
            Err(error) => Err(error),
        };
        match answer {
            Ok(mut answer) => {
                let mut state = self.watched.lock();
                state.deadline = None;
                // It answered in the moment in which it was killed.
                answer.is_last |= state.killed_for.is_some();
                Ok(answer)
            }
            Err(error) => Err(self.why(&error)),
        }
    }

    /// Why it is no worker, with what it said of that.
    fn why_not_ready(&mut self, error: io::Error) -> io::Error {
        let mut state = self.watched.lock();
        let _ = state.child.kill();
        let _ = state.child.wait();
        drop(state);
        let ended = match error.kind() {
            io::ErrorKind::UnexpectedEof => "it ended before it was ready".to_owned(),
            _ => error.to_string(),
        };
        match self.last_words() {
            words if words.is_empty() => io::Error::new(error.kind(), ended),
            words => io::Error::new(error.kind(), format!("{ended}: {words}")),
        }
    }

    /// Why there was no answer but an error.
    fn why(&mut self, error: &io::Error) -> WorkerEnd {
        if error.kind() == io::ErrorKind::InvalidData {
            return WorkerEnd::Lied(error.to_string());
        }
        let until = Instant::now() + EXIT_TIME;
        let status = loop {
            let mut state = self.watched.lock();
            match state.killed_for {
                Some(KilledFor::Time(cpu_time)) => return self.out_of_time(cpu_time),
                Some(KilledFor::Stop) => return WorkerEnd::Stopped,
                None => {}
            }
            match state.child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() < until => {}
                _ => return WorkerEnd::Lied("it closed its output".to_owned()),
            }
            drop(state);
            thread::sleep(Duration::from_millis(1));
        };
        let words = self.last_words();
        match signal(status) {
            Some(Signal::Cpu) => WorkerEnd::Cpu(self.cpu_seconds),
            Some(Signal::Kill) => WorkerEnd::Killed,
            _ if words.contains("memory allocation of") => WorkerEnd::Memory,
            _ if words.is_empty() => WorkerEnd::Crashed(status.to_string()),
            _ => WorkerEnd::Crashed(format!("{status}: {words}")),
        }
    }

    /// Whether the file needed the time, or the worker did not get it. Where nothing is known, it is the file.
    fn out_of_time(&self, cpu_time: Option<Duration>) -> WorkerEnd {
        let allowed = Duration::from_secs(self.cpu_seconds.into()).min(self.time_limit);
        match cpu_time {
            Some(cpu_time) if cpu_time <= allowed / LITTLE_CPU_PART => {
                WorkerEnd::Starved(self.time_limit, cpu_time)
            }
            _ => WorkerEnd::Time(self.time_limit),
        }
    }

    /// The last line that it wrote to stderr, without control characters. It has ended, so this does not wait.
    fn last_words(&mut self) -> String {
        let mut bytes = vec![0; MAX_LAST_WORDS_BYTES];
        let count = self.last_words.read(&mut bytes).unwrap_or(0);
        bytes.truncate(count);
        let text = String::from_utf8_lossy(&bytes);
        // Rust says where a thread panicked in one line and why in the next, then how to see more.
        let mut lines = text.lines().map(str::trim);
        let last = lines.rfind(|line| !line.is_empty() && !line.starts_with("note:"));
        let shown = last.unwrap_or_default().chars().filter(|c| !c.is_control());
        shown.take(MAX_SHOWN_CHARS).collect()
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        let mut state = self.watched.lock();
        state.is_over = true;
        // It has nothing to save; waiting leaves no zombie.
        let _ = state.child.kill();
        let _ = state.child.wait();
        drop(state);
        self.watched.changed.notify_all();
    }
}

impl Watched {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Kills the child when its time is up or the run stops; until then whoever reads its answer waits.
    fn watch(&self) {
        let mut state = self.lock();
        while !state.is_over {
            let reason = match state.deadline {
                None => None,
                Some(_) if self.stop.load(Ordering::Relaxed) => Some(KilledFor::Stop),
                Some(deadline) if Instant::now() >= deadline => {
                    // Before it is killed: the system forgets it when somebody has waited for it.
                    let now = cpu_time_of(state.child.id());
                    let used = now.zip(state.cpu_before);
                    let used = used.map(|(now, before)| now.saturating_sub(before));
                    Some(KilledFor::Time(used))
                }
                Some(_) => None,
            };
            if reason.is_some() {
                state.killed_for = reason;
                let _ = state.child.kill();
                return;
            }
            let woken = self.changed.wait_timeout(state, TICK);
            (state, _) = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Signals that tell why a worker ended.
enum Signal {
    Cpu,
    Kill,
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<Signal> {
    use std::os::unix::process::ExitStatusExt;

    use rustix::process::Signal as Number;

    match status.signal()? {
        number if number == Number::XCPU.as_raw() => Some(Signal::Cpu),
        number if number == Number::KILL.as_raw() => Some(Signal::Kill),
        _ => None,
    }
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<Signal> {
    None
}

/// Requests go through a socket: writing to a pipe that a dead worker had ends hosts that do not ignore SIGPIPE,
/// as programs in C.
#[cfg(unix)]
type Requests = std::os::unix::net::UnixStream;
#[cfg(not(unix))]
type Requests = std::process::ChildStdin;

#[cfg(unix)]
fn spawn(mut command: Command) -> io::Result<(Child, Requests)> {
    let (ours, theirs) = Requests::pair()?;
    command.stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)));
    // The command holds their end, which must be closed for the worker to see that ours is.
    let child = command.spawn()?;
    Ok((child, ours))
}

#[cfg(not(unix))]
fn spawn(mut command: Command) -> io::Result<(Child, Requests)> {
    let mut child = command.stdin(Stdio::piped()).spawn()?;
    let requests = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    Ok((child, requests))
}

/// What a child does not get of its parent.
fn confine(command: &mut Command) {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;

        // An interrupt from a terminal is for the parent, which ends its workers.
        command.process_group(0).env_clear();
        for name in PASSED_VARIABLES {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
    }
}
