//! Downloads a model of a hub. Nothing calls this unless a user names a model for it.
//!
//! The hub is one that answers as Hugging Face does: `/api/models/NAME/revision/REVISION?blobs=true` lists files with
//! lengths and checksums, `/NAME/resolve/COMMIT/PATH` has them. Each file is checked by its checksum before it counts.
//! What was downloaded stays when a download ends early, and the next one goes on behind it.

mod download;
mod listing;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use kb_types::EmbedError;
use ureq::Agent;

pub use self::listing::Listing;
use self::listing::{Answer, HubName};
use crate::files::ORIGIN;
use crate::tls;

/// Most bytes of a list of files. Those of known models have 100 KB.
const LISTING_LIMIT_BYTES: u64 = 8 << 20;

/// How long to wait for a hub.
#[derive(Debug, Clone)]
struct Patience {
    /// Requests in a row that bring nothing.
    attempts: u32,
    /// The wait before the second of them; it doubles with each.
    first_wait: Duration,
    /// The longest wait, also if the hub asks for more.
    longest_wait: Duration,
    /// The longest time of a request.
    request: Duration,
    /// The same, of a hub that cannot go on within a file.
    whole: Duration,
    /// Bytes of a request.
    range_bytes: u64,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            attempts: 6,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(60),
            request: Duration::from_secs(120),
            whole: Duration::from_secs(3600),
            range_bytes: 16 << 20,
        }
    }
}

/// A hub of models: a server that answers as huggingface.co does. Nothing is asked before [`Hub::find`].
#[derive(Debug)]
pub struct Hub {
    agent: Agent,
    address: String,
    patience: Patience,
}

impl Hub {
    /// The hub that is asked if a user names no other.
    pub const ADDRESS: &str = "https://huggingface.co";

    /// A hub at an address that begins with `http://` or `https://`. Nothing is sent yet.
    ///
    /// # Errors
    /// [`EmbedError::Specification`] for what is no address, [`EmbedError::Missing`] if this build has no TLS.
    pub fn new(address: &str) -> Result<Hub, EmbedError> {
        Hub::patient(address, Patience::default())
    }

    fn patient(address: &str, patience: Patience) -> Result<Hub, EmbedError> {
        let is_https = address.starts_with("https://");
        let rest = address.strip_prefix("http://");
        let rest = rest.or_else(|| address.strip_prefix("https://"));
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"?#@\\".contains(&byte);
        if rest.is_none_or(|rest| rest.is_empty() || !rest.bytes().all(is_plain)) {
            return Err(EmbedError::Specification {
                spec: address.to_owned(),
                reason: "the address of a hub begins with http:// or https://, and has neither user nor ?".to_owned(),
            });
        }
        if is_https && cfg!(not(feature = "tls")) {
            return Err(tls::missing());
        }
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // Hubs keep large files elsewhere.
            .max_redirects(5)
            // A redirection must not lead out of TLS.
            .https_only(is_https)
            .timeout_connect(Some(Duration::from_secs(20)))
            .timeout_recv_response(Some(patience.request))
            .user_agent(concat!("kb/", env!("CARGO_PKG_VERSION")));
        let host = rest.unwrap_or_default();
        let is_local = ["localhost", "127.", "[::1]"]
            .iter()
            .any(|it| host.starts_with(it));
        let config = match is_local {
            true => config.proxy(None),
            false => config,
        };
        Ok(Hub {
            agent: config.build().into(),
            address: address.trim_end_matches('/').to_owned(),
            patience,
        })
    }

    /// Asks for the files of a model: `ORGANISATION/NAME` or `ORGANISATION/NAME@REVISION`.
    ///
    /// # Errors
    /// [`EmbedError::Specification`] for what is no such name, [`EmbedError::Service`] if the hub does not answer, and
    /// [`EmbedError::Missing`] or [`EmbedError::Unfit`] for a model that this program could not use.
    pub fn find(&self, name: &str) -> Result<Listing, EmbedError> {
        let of = HubName::parse(name)?;
        let url = format!(
            "{}/api/models/{}/{}/revision/{}?blobs=true",
            self.address, of.organisation, of.name, of.revision
        );
        let bytes = self.small(&url, LISTING_LIMIT_BYTES)?;
        let answer: Answer = serde_json::from_slice(&bytes)
            .map_err(|error| self.failed(format!("the list of files: {error}")))?;
        Listing::new(of, answer)
    }

    /// Downloads what is missing of a model into a folder of its own below `folder`, and returns that folder.
    /// `on_progress` gets the bytes that are there and those of the whole, and may stop the download.
    ///
    /// # Errors
    /// [`EmbedError::Service`] if the hub ends to answer, or sends another file than it listed; [`EmbedError::Stopped`].
    pub fn fetch(
        &self,
        listing: &Listing,
        folder: &Path,
        on_progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<PathBuf, EmbedError> {
        let of = &listing.of;
        // No name of a model begins with a dot: what is not complete is not listed.
        let start = format!(".pull-{}--{}-", of.organisation, of.name);
        let home = folder.join(format!("{start}{}", listing.commit));
        let unwritable = |error: io::Error| EmbedError::Unfit {
            reason: format!("cannot write {}: {error}", home.display()),
        };
        fs::create_dir_all(&home).map_err(unwritable)?;
        let lock = fs::File::create(home.join("lock")).map_err(unwritable)?;
        if lock.try_lock().is_err() {
            return Err(EmbedError::Unfit {
                reason: format!("another process downloads into {}", home.display()),
            });
        }
        // An older commit is of no use any more.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let is_older = entry.file_name().to_string_lossy().starts_with(&start);
            if is_older && entry.path() != home {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let total = listing.size_bytes();
        let mut done = 0;
        for file in &listing.files {
            let url = format!(
                "{}/{}/{}/resolve/{}/{}",
                self.address, of.organisation, of.name, listing.commit, file.path
            );
            self.bring(&url, file, &home, &mut |bytes| {
                on_progress(done + bytes, total)
            })?;
            done += file.size_bytes;
        }
        let origin = format!(
            "{} at commit {} of {}, licence: {}\n",
            listing.name(),
            listing.commit,
            self.address,
            listing.licence().unwrap_or("not stated")
        );
        fs::write(home.join(ORIGIN), origin).map_err(unwritable)?;
        Ok(home)
    }

    fn failed(&self, reason: String) -> EmbedError {
        EmbedError::Service {
            service: self.address.clone(),
            reason,
        }
    }
}

#[cfg(test)]
mod tests;
