//! The progress bar of a long run.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kb_engine::{Progress, Stage};

use crate::output::format::{count, plural};
use crate::output::log;

/// Redraws per second at most.
const REDRAWS_PER_SECOND: u8 = 12;

/// The template while the total is unknown.
const UNKNOWN: &str = "{spinner} {prefix}  {msg}";

/// The template when the sizes are known.
const KNOWN: &str = "{prefix} {bar:30} {percent:>3} %  {decimal_bytes_per_sec}  {msg}  {eta} left";

/// The template for items without a size.
const COUNTED: &str = "{prefix} {bar:30} {percent:>3} %  {msg}  {eta} left";

/// The template for a terminal that is too narrow for the others.
const NARROW: &str = "{prefix} {bar:8} {percent:>3} %  {eta} left";

/// Columns that the others take with a short message.
const LEAST_COLUMNS: u16 = 80;

/// How often a progress line is printed if stderr is not a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// How long a search may take before a line says that it is still running.
const PATIENCE: Duration = Duration::from_secs(3);

/// A bar on stderr, lines, or nothing.
pub(crate) struct Meter {
    bar: ProgressBar,
    /// When the next line is due; `None`: there are none.
    next_line: Cell<Option<Instant>>,
}

impl Meter {
    /// A bar that draws when `shown`.
    pub(crate) fn new(shown: bool) -> Meter {
        let target = if shown {
            ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(style(UNKNOWN));
        if shown {
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        Meter {
            bar,
            next_line: Cell::new(None),
        }
    }

    /// A bar on a terminal; elsewhere, as in the log of a job, a line every ten seconds; nothing when `quiet`.
    pub(crate) fn of_run(is_terminal: bool, quiet: bool) -> Meter {
        let meter = Meter::new(is_terminal && !quiet);
        if !is_terminal && !quiet {
            meter.next_line.set(Some(Instant::now() + LINE_INTERVAL));
        }
        meter
    }

    /// Prints a line where one is due.
    fn show_line(&self, stage: &str, progress: &Progress) {
        let now = Instant::now();
        if self.next_line.get().is_some_and(|next| now >= next) {
            self.next_line.set(Some(now + LINE_INTERVAL));
            log(&line(stage, progress));
        }
    }

    pub(crate) fn show(&self, progress: &Progress) {
        let known = progress.bytes_total > 0;
        if known && self.bar.length() != Some(progress.bytes_total) {
            self.bar.set_style(style(fitting(KNOWN)));
            self.bar.set_length(progress.bytes_total);
        }
        let stage = match progress.stage {
            Stage::Walk => "walk",
            Stage::Index => "index",
            Stage::Symbols => "symbols",
            Stage::Lists => "vectors",
            Stage::Merge => "merge",
            _ => "write",
        };
        self.show_line(stage, progress);
        self.bar.set_prefix(stage);
        self.bar.set_message(match progress.files_total {
            0 if progress.stage == Stage::Merge => String::new(),
            0 => format!("{} files", progress.files_done),
            total => format!("{}/{total} files", progress.files_done),
        });
        self.bar.set_position(progress.bytes_done);
    }

    /// How many of all bytes were checked.
    pub(crate) fn show_bytes(&self, stage: &'static str, done: u64, total: u64) {
        if total > 0 && self.bar.length() != Some(total) {
            self.bar.set_style(style(fitting(KNOWN)));
            self.bar.set_length(total);
        }
        self.bar.set_prefix(stage);
        self.bar.set_position(done);
    }

    /// How many of all were done.
    pub(crate) fn show_count(
        &self,
        stage: &'static str,
        what: &'static str,
        done: u64,
        total: u64,
    ) {
        if self.bar.length() != Some(total) {
            self.bar.set_style(style(fitting(COUNTED)));
            self.bar.set_length(total);
        }
        self.bar.set_prefix(stage);
        self.bar.set_message(what);
        self.bar.set_position(done);
    }

    /// How many of all were done, with a message of its own; elsewhere than on a terminal a line now and then.
    pub(crate) fn show_rate(&self, stage: &'static str, message: String, done: u64, total: u64) {
        let now = Instant::now();
        if self.next_line.get().is_some_and(|next| now >= next) {
            self.next_line.set(Some(now + LINE_INTERVAL));
            log(&format!("{stage}: {message}"));
        }
        if self.bar.length() != Some(total) {
            self.bar.set_style(style(fitting(COUNTED)));
            self.bar.set_length(total);
        }
        self.bar.set_prefix(stage);
        self.bar.set_message(message);
        self.bar.set_position(done);
    }

    /// A line on stderr, above the bar.
    pub(crate) fn note(&self, text: &str) {
        self.bar.suspend(|| log(text));
    }

    /// Removes the bar, so that other text can follow.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Prints once that a search is still running. A regex search has no time limit, and a pattern with many states may take
/// minutes on a long line.
pub(crate) struct LongSearch {
    /// When it is said; `None`: it was, or nobody would see it.
    due: Option<Instant>,
}

impl LongSearch {
    /// Of a search that begins now.
    pub(crate) fn new(is_terminal: bool) -> LongSearch {
        LongSearch {
            due: is_terminal.then(|| Instant::now() + PATIENCE),
        }
    }

    /// Whether it is to be said now.
    fn take_due(&mut self, now: Instant) -> bool {
        self.due.take_if(|due| now >= *due).is_some()
    }

    /// Called again and again while the search is under way.
    pub(crate) fn tick(&mut self) -> ControlFlow<()> {
        if self.take_due(Instant::now()) {
            log("still searching; press Ctrl-C to stop");
        }
        ControlFlow::Continue(())
    }
}

/// Returns the template, or [`NARROW`] if the terminal is too narrow for it: a bar over two lines is drawn again and again.
fn fitting(template: &'static str) -> &'static str {
    match terminal_size::terminal_size_of(std::io::stderr()) {
        Some((width, _)) if width.0 < LEAST_COLUMNS => NARROW,
        _ => template,
    }
}

/// `index: 1200 of 3400 files, 12.1 of 40.0 MB (30 %)`.
fn line(stage: &str, progress: &Progress) -> String {
    let files = match progress.files_total {
        0 => plural(progress.files_done, "file"),
        total => format!(
            "{} of {}",
            count(progress.files_done),
            plural(total, "file")
        ),
    };
    if progress.bytes_total == 0 {
        return format!("{stage}: {files}");
    }
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let percent = progress.bytes_done.saturating_mul(100) / progress.bytes_total;
    format!(
        "{stage}: {files}, {:.1} of {:.1} MB ({percent} %)",
        megabytes(progress.bytes_done),
        megabytes(progress.bytes_total),
    )
}

fn style(template: &str) -> ProgressStyle {
    // A template that does not parse would show the plain bar; the test below keeps them right.
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_templates_parse() {
        for template in [UNKNOWN, KNOWN, COUNTED, NARROW] {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
    }

    #[test]
    fn without_a_terminal_a_line_comes_when_it_is_due() {
        let mut progress = Progress::new(Stage::Index);
        (progress.files_done, progress.files_total) = (1200, 3400);
        assert_eq!(line("index", &progress), "index: 1,200 of 3,400 files");
        (progress.bytes_done, progress.bytes_total) = (12_000_000, 40_000_000);
        assert_eq!(
            line("index", &progress),
            "index: 1,200 of 3,400 files, 12.0 of 40.0 MB (30 %)"
        );
        let is_due = |meter: &Meter| meter.next_line.get();
        let meter = Meter::of_run(false, false);
        let first = is_due(&meter).unwrap();
        meter.show(&progress);
        assert_eq!(is_due(&meter), Some(first), "not yet");
        meter.next_line.set(Some(Instant::now()));
        meter.show(&progress);
        assert!(is_due(&meter).unwrap() > Instant::now());
        assert_eq!(is_due(&Meter::of_run(false, true)), None);
        assert_eq!(is_due(&Meter::of_run(true, false)), None);
    }

    #[test]
    fn the_bar_follows_the_bytes_of_a_run() {
        let meter = Meter::new(false);
        let mut progress = Progress::new(Stage::Walk);
        progress.files_done = 3;
        meter.show(&progress);
        assert_eq!(
            (meter.bar.length(), meter.bar.message().as_str()),
            (None, "3 files")
        );
        progress.stage = Stage::Index;
        (
            progress.files_total,
            progress.bytes_done,
            progress.bytes_total,
        ) = (9, 50, 200);
        meter.show(&progress);
        assert_eq!((meter.bar.length(), meter.bar.position()), (Some(200), 50));
        assert_eq!(meter.bar.message(), "3/9 files");
        assert_eq!(meter.bar.prefix(), "index");
    }

    #[test]
    fn a_long_search_is_told_of_once_and_on_a_terminal_only() {
        let now = Instant::now();
        let mut search = LongSearch::new(true);
        let told: Vec<bool> = [0, 1, 4, 5, 100]
            .map(|seconds| search.take_due(now + Duration::from_secs(seconds)))
            .to_vec();
        assert_eq!(told, [false, false, true, false, false]);
        let mut unseen = LongSearch::new(false);
        assert!(!unseen.take_due(now + Duration::from_secs(100)));
    }
}
