//! Requests to a hub: again where that can help, from where the last one ended, and checked.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use kb_types::EmbedError;
use sha2::{Digest, Sha256};
use ureq::http::Response;
use ureq::{Body, Error};

use super::Hub;
use super::listing::{Checksum, HubFile};

/// Bytes that are read at once.
const BLOCK_BYTES: usize = 64 << 10;

/// Why a request failed.
struct Refused {
    reason: String,
    /// When to ask again; `None`: never.
    again: Option<Duration>,
    /// Whether a longer time of a request may help: the hub sends whole files only.
    is_whole: bool,
}

/// How a request ended that did not fail for the hub's sake.
enum Halt {
    Refused(Refused),
    /// By this machine or the user.
    Error(EmbedError),
}

impl Refused {
    fn last(reason: impl Into<String>) -> Refused {
        Refused {
            reason: reason.into(),
            again: None,
            is_whole: false,
        }
    }

    fn once_more(reason: impl Into<String>) -> Refused {
        Refused {
            again: Some(Duration::ZERO),
            ..Refused::last(reason)
        }
    }
}

impl From<Refused> for Halt {
    fn from(refused: Refused) -> Halt {
        Halt::Refused(refused)
    }
}

impl Hub {
    /// The bytes of a small answer.
    pub(super) fn small(&self, url: &str, limit_bytes: u64) -> Result<Vec<u8>, EmbedError> {
        let mut waits = Waits::new(self);
        loop {
            let asked = self.request(url, None, self.patience.request);
            let read = asked.and_then(|mut response| {
                let body = response.body_mut().with_config().limit(limit_bytes);
                body.read_to_vec().map_err(|error| refused(&error))
            });
            match read {
                Ok(bytes) => return Ok(bytes),
                Err(refused) => waits.wait(refused, false)?,
            }
        }
    }

    /// Downloads a file unless it is there already. Its checksum is that of the list, or this is an error.
    pub(super) fn bring(
        &self,
        url: &str,
        file: &HubFile,
        home: &Path,
        on_bytes: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), EmbedError> {
        let path = home.join(&file.path);
        let unwritable = |error: io::Error| EmbedError::Unfit {
            reason: format!("cannot write {}: {error}", path.display()),
        };
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(unwritable)?;
        }
        if length(&path) == Some(file.size_bytes) && is_right(&path, file).map_err(unwritable)? {
            return stopped(on_bytes(file.size_bytes));
        }
        let mut part = path.clone().into_os_string();
        part.push(".part");
        let part = PathBuf::from(part);
        let mut waits = Waits::new(self);
        let mut time = self.patience.request;
        // A file without bytes is made here, too.
        let mut out = OpenOptions::new();
        let mut out = out
            .create(true)
            .append(true)
            .open(&part)
            .map_err(unwritable)?;
        loop {
            let mut have = length(&part).unwrap_or(0);
            if have > file.size_bytes {
                out.set_len(0).map_err(unwritable)?;
                have = 0;
            }
            if have == file.size_bytes {
                break;
            }
            match self.part(url, file, have, &mut out, time, on_bytes) {
                Ok(()) => waits = Waits::new(self),
                Err(Halt::Error(error)) => return Err(error),
                Err(Halt::Refused(refused)) => {
                    if refused.is_whole {
                        time = self.patience.whole;
                    }
                    let moved = length(&part).unwrap_or(0) > have && !refused.is_whole;
                    waits.wait(refused, moved)?;
                }
            }
        }
        out.sync_all().map_err(unwritable)?;
        drop(out);
        if !is_right(&part, file).map_err(unwritable)? {
            fs::remove_file(&part).map_err(unwritable)?;
            return Err(self.failed(format!(
                "{} does not have the checksum that the hub states; it is deleted",
                file.path
            )));
        }
        fs::rename(&part, &path).map_err(unwritable)
    }

    /// Appends a part of a file that begins at `have`.
    fn part(
        &self,
        url: &str,
        file: &HubFile,
        have: u64,
        out: &mut File,
        time: Duration,
        on_bytes: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), Halt> {
        let end = have.saturating_add(self.patience.range_bytes);
        let end = end.min(file.size_bytes);
        let mut response = self.request(url, Some((have, end)), time)?;
        let is_whole = response.status().as_u16() == 200;
        let unwritable = |error: io::Error| {
            Halt::Error(EmbedError::Unfit {
                reason: format!("cannot write {}: {error}", file.path),
            })
        };
        let (mut place, end) = match is_whole {
            true => (0, file.size_bytes),
            false => (have, end),
        };
        if is_whole {
            // The hub cannot go on within a file.
            out.set_len(0).map_err(unwritable)?;
            let stated = response.body().content_length();
            if stated.is_some_and(|stated| stated != file.size_bytes) {
                return Err(Refused::last(another_length(file)).into());
            }
        } else if range(&response) != Some((have, file.size_bytes)) {
            return Err(Refused::last(another_length(file)).into());
        }
        let mut body = response.body_mut().as_reader();
        let mut block = vec![0; BLOCK_BYTES];
        loop {
            let read = body.read(&mut block).map_err(|error| Refused {
                is_whole,
                ..Refused::once_more(error.to_string())
            })?;
            if read == 0 {
                break;
            }
            place += read as u64;
            if place > end {
                return Err(Refused::last(another_length(file)).into());
            }
            let bytes = block.get(..read).unwrap_or_default();
            out.write_all(bytes).map_err(unwritable)?;
            stopped(on_bytes(place)).map_err(Halt::Error)?;
        }
        match place < end {
            true => Err(Refused {
                is_whole,
                ..Refused::once_more(format!("{} ends too early", file.path))
            }
            .into()),
            false => Ok(()),
        }
    }

    /// The answer to a request, if it has what was asked for.
    fn request(
        &self,
        url: &str,
        range: Option<(u64, u64)>,
        time: Duration,
    ) -> Result<Response<Body>, Refused> {
        let request = self.agent.get(url).config();
        let request = request.timeout_recv_body(Some(time)).build();
        let request = match range {
            Some((start, end)) => request.header("Range", format!("bytes={start}-{}", end - 1)),
            None => request,
        };
        let response = request.call().map_err(|error| refused(&error))?;
        let status = response.status().as_u16();
        if status == 200 || (status == 206 && range.is_some()) {
            return Ok(response);
        }
        let asked = response.headers().get("retry-after");
        let asked = asked.and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let may_help = matches!(status, 408 | 429 | 500 | 502 | 503 | 504);
        let meaning = match status {
            401 | 403 => ": the model is not public, or there is none of this name",
            404 => ": there is no such model, revision or file",
            _ => "",
        };
        Err(Refused {
            again: may_help.then_some(Duration::from_secs(asked.unwrap_or(0))),
            ..Refused::last(format!("status {status}{meaning}"))
        })
    }
}

fn refused(error: &Error) -> Refused {
    match error {
        Error::Timeout(_) | Error::Io(_) | Error::ConnectionFailed | Error::HostNotFound => {
            Refused::once_more(error.to_string())
        }
        _ => Refused::last(error.to_string()),
    }
}

/// The waits between requests that bring nothing.
struct Waits<'a> {
    hub: &'a Hub,
    attempt: u32,
    wait: Duration,
}

impl Waits<'_> {
    fn new(hub: &Hub) -> Waits<'_> {
        Waits {
            hub,
            attempt: 1,
            wait: hub.patience.first_wait,
        }
    }

    /// Waits before the next request; an error if there is none. `moved`: whether the last one brought anything.
    fn wait(&mut self, refused: Refused, moved: bool) -> Result<(), EmbedError> {
        let patience = &self.hub.patience;
        if moved {
            (self.attempt, self.wait) = (0, patience.first_wait);
        }
        match refused.again {
            Some(asked) if self.attempt < patience.attempts && asked <= patience.longest_wait => {
                thread::sleep(asked.max(self.wait));
            }
            _ => return Err(self.hub.failed(refused.reason)),
        }
        self.wait = (self.wait * 2).min(patience.longest_wait);
        self.attempt += 1;
        Ok(())
    }
}

fn stopped(flow: ControlFlow<()>) -> Result<(), EmbedError> {
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(EmbedError::Stopped),
    }
}

fn another_length(file: &HubFile) -> String {
    format!("{} has another length than the hub states", file.path)
}

fn length(path: &Path) -> Option<u64> {
    let metadata = path.symlink_metadata().ok()?;
    metadata.is_file().then_some(metadata.len())
}

/// Where the bytes of an answer begin, and how many the whole file has.
fn range(response: &Response<Body>) -> Option<(u64, u64)> {
    let text = response.headers().get("content-range")?.to_str().ok()?;
    let (range, total) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (start, _) = range.split_once('-')?;
    Some((start.parse().ok()?, total.parse().ok()?))
}

/// Whether a file has its checksum.
fn is_right(path: &Path, file: &HubFile) -> io::Result<bool> {
    match &file.checksum {
        Checksum::Sha256(expected) => Ok(hash(path, Sha256::new())? == *expected),
        Checksum::Git(expected) => {
            let mut hasher = sha1::Sha1::new();
            hasher.update(format!("blob {}\0", file.size_bytes));
            Ok(hash(path, hasher)? == *expected)
        }
    }
}

fn hash<D: Digest>(path: &Path, mut hasher: D) -> io::Result<String> {
    let mut input = File::open(path)?;
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        match input.read(&mut block)? {
            0 => break,
            read => hasher.update(block.get(..read).unwrap_or_default()),
        }
    }
    let hash = hasher.finalize();
    Ok(hash.iter().map(|byte| format!("{byte:02x}")).collect())
}
