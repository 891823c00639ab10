//! Several requests to the same commits.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use kb_types::error::{Error, Result};

use crate::catalog::Catalog;
use crate::container::Snapshot;
use crate::embed::Embedder;
use crate::index::keyword::Analyser;
use crate::progress::Reporter;
use crate::search::models::ColumnModels;
use crate::search::pipeline::search;
use crate::search::request::Request;
use crate::search::response::Response;
use crate::search::sources::Source;

/// Lends an analyser to what it is given, on any thread.
pub(crate) type LendAnalyser<'l> = dyn Fn(&mut dyn FnMut(&mut Analyser)) + Sync + 'l;

/// Answers several requests, each as [`search`] would: one after the other, or on several threads, each of
/// which takes the next one when it is done with another.
///
/// # Errors
/// As [`search`], for the first that fails; [`Error::Io`] when the system gives no thread.
pub(crate) fn search_many(
    files: &[Source<'_>],
    requests: &[Request],
    threads: usize,
    lend: &LendAnalyser<'_>,
) -> Result<Vec<Response>> {
    let threads = threads.min(requests.len());
    let Some(first) = files.first().filter(|_| threads > 1) else {
        let mut answers = Ok(Vec::new());
        lend(&mut |analyser| {
            let each = requests.iter();
            answers = each
                .map(|request| search(files, request, analyser))
                .collect();
        });
        return answers;
    };
    let stop = first.reporter.stop_flag();
    let files: Vec<SharedSource<'_>> = files.iter().map(SharedSource::of).collect();
    let queue = Queue {
        requests,
        next: AtomicUsize::new(0),
        failed: AtomicUsize::new(usize::MAX),
    };
    let answer_some = || {
        let reporter = Reporter::of_thread(stop);
        let files: Vec<Source<'_>> = files.iter().map(|file| file.source(&reporter)).collect();
        let mut answers = Vec::new();
        lend(&mut |analyser| {
            while let Some((number, request)) = queue.take() {
                let answer = search(&files, request, analyser);
                if answer.is_err() {
                    queue.failed.fetch_min(number, Ordering::Relaxed);
                }
                answers.push((number, answer));
            }
        });
        answers
    };
    let mut answers = first.reporter.wait_for(|| {
        thread::scope(|scope| {
            let spawn = |_| thread::Builder::new().spawn_scoped(scope, answer_some);
            // With fewer threads than were asked for there is nothing missing.
            let started: Vec<_> = (1..threads)
                .filter_map(|number| spawn(number).ok())
                .collect();
            let mut answers = answer_some();
            for thread in started {
                match thread.join() {
                    Ok(more) => answers.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            Ok(answers)
        })
    })?;
    answers.sort_by_key(|(number, _)| *number);
    let answers: Vec<Response> = answers
        .into_iter()
        .map(|(_, answer)| answer)
        .collect::<Result<_>>()?;
    if answers.len() < requests.len() {
        return Err(Error::Cancelled);
    }
    Ok(answers)
}

/// The requests that are left.
struct Queue<'r> {
    requests: &'r [Request],
    next: AtomicUsize,
    /// The first that failed: those behind it are not answered.
    failed: AtomicUsize,
}

impl<'r> Queue<'r> {
    fn take(&self) -> Option<(usize, &'r Request)> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let is_wanted = number < self.failed.load(Ordering::Relaxed);
        let request = self.requests.get(number).filter(|_| is_wanted)?;
        Some((number, request))
    }
}

/// A [`Source`] without whom to ask, which is no matter of other threads.
struct SharedSource<'p> {
    uuid: [u8; 16],
    path: Option<&'p Path>,
    snapshot: &'p Snapshot<'p>,
    catalog: &'p Catalog,
    model: Option<&'p dyn Embedder>,
    models: &'p ColumnModels,
}

impl<'p> SharedSource<'p> {
    fn of(source: &Source<'p>) -> SharedSource<'p> {
        SharedSource {
            uuid: source.uuid,
            path: source.path,
            snapshot: source.snapshot,
            catalog: source.catalog,
            model: source.model,
            models: source.models,
        }
    }

    fn source(&self, reporter: &'p Reporter<'p>) -> Source<'p> {
        Source {
            uuid: self.uuid,
            path: self.path,
            snapshot: self.snapshot,
            catalog: self.catalog,
            model: self.model,
            models: self.models,
            reporter,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use kb_types::error::Error;

    use crate::kb::{Kb, KbWriter};
    use crate::progress::Progress;
    use crate::search::{Hit, Mode, Request, Response};

    fn kb() -> (tempfile::TempDir, Kb) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        for number in 0..120 {
            let text = format!(
                "The moon pulls sea number {number} of {}.\n",
                "water ".repeat(number % 7)
            );
            writer
                .add_bytes(&format!("{number:03}.txt"), text.as_bytes())
                .unwrap();
            if number == 60 {
                writer.commit().unwrap();
            }
        }
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        (folder, kb)
    }

    fn shown(response: &Response) -> Vec<(String, u32)> {
        let of_hit = |hit: &Hit| (hit.document.clone(), hit.score.to_bits());
        response.hits.iter().map(of_hit).collect()
    }

    fn requests() -> Vec<Request> {
        let query = |number| Request::new(format!("moon water sea {number}")).k(7);
        (0..40).map(query).collect()
    }

    #[test]
    fn any_number_of_threads_gives_the_same_answers() {
        let (_folder, kb) = kb();
        let requests = requests();
        let single: Vec<_> = requests
            .iter()
            .map(|request| shown(&kb.search(request).unwrap()))
            .collect();
        assert!(single.iter().all(|hits| hits.len() == 7));
        for threads in [1, 2, 3, 64] {
            for some in [&requests[..], &requests[..1], &[]] {
                let answers = kb.search_many_with(some, threads, &mut Progress::ignore);
                let answers: Vec<_> = answers.unwrap().iter().map(shown).collect();
                assert_eq!(answers, single[..some.len()], "{threads}");
            }
        }
        for threads in [0, 65] {
            let error = kb.search_many_with(&requests, threads, &mut Progress::ignore);
            let is_named = matches!(
                error,
                Err(Error::InvalidArgument {
                    argument: "threads",
                    ..
                })
            );
            assert!(is_named, "{threads}");
        }
    }

    #[test]
    fn the_first_request_that_fails_is_the_error() {
        let (_folder, kb) = kb();
        let mut requests = requests();
        requests[3].k = 0;
        requests[17].min_score = 7.0;
        for threads in [1, 2, 5] {
            let error = kb.search_many_with(&requests, threads, &mut Progress::ignore);
            let is_first = matches!(error, Err(Error::InvalidArgument { argument: "k", .. }));
            assert!(is_first, "{threads}: {error:?}");
        }
    }

    #[test]
    fn threads_end_when_the_hook_breaks() {
        let (_folder, kb) = kb();
        let many: Vec<Request> = (0..500).flat_map(|_| requests()).collect();
        for threads in [1, 3] {
            let mut calls = 0;
            let mut hook = |_: &Progress| {
                calls += 1;
                if calls > 1 {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            let error = kb.search_many_with(&many, threads, &mut hook);
            assert!(matches!(error, Err(Error::Cancelled)), "{threads}");
        }
    }

    #[test]
    fn both_indexes_at_the_same_time_find_the_same() {
        let (_folder, kb) = kb();
        for mode in Mode::ALL {
            for query in [
                "moon water",
                "\"number 7\" sea",
                "tide -water",
                "path:01 sea",
            ] {
                let one = Request::new(query).mode(mode).k(30);
                let two = one.clone().threads(2);
                let (one, two) = (kb.search(&one).unwrap(), kb.search(&two).unwrap());
                assert_eq!(shown(&one), shown(&two), "{mode:?} {query}");
                assert_eq!(one.warnings, two.warnings);
            }
        }
        let request = Request::new("moon water").threads(2).explain(true);
        let steps = kb.search(&request).unwrap().explanation.unwrap().steps;
        assert!(steps.iter().any(|step| step.name == "keyword and vector"));
        assert!(kb.search(&Request::new("moon").threads(0)).is_err());
    }
}
