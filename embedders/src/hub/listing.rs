//! What a hub says of a model, and which of its files are wanted.

use kb_types::EmbedError;
use serde::Deserialize;

use crate::folder::SETTINGS;
use crate::onnx::{GRAPH_LIMIT_BYTES, GRAPHS};
use crate::tokenizer;

/// Most bytes of a file of settings, and of a licence.
const SETTINGS_LIMIT_BYTES: u64 = 4 << 20;
/// Most files that are downloaded. A graph with its weights in pieces has some ten.
const FILES_LIMIT: usize = 64;
/// Most bytes of a name of a hub.
const NAME_LIMIT_BYTES: usize = 96;

/// A model as a hub calls it: `ORGANISATION/NAME`, with `@REVISION` if it is not the newest one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HubName {
    pub(super) organisation: String,
    pub(super) name: String,
    pub(super) revision: String,
}

impl HubName {
    pub(super) fn parse(text: &str) -> Result<HubName, EmbedError> {
        let fault = || EmbedError::Specification {
            spec: text.to_owned(),
            reason: "a model of a hub is ORGANISATION/NAME or ORGANISATION/NAME@REVISION"
                .to_owned(),
        };
        let (path, revision) = text.split_once('@').unwrap_or((text, "main"));
        let (organisation, name) = path.split_once('/').ok_or_else(fault)?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        for part in [organisation, name, revision] {
            if part.is_empty()
                || part.len() > NAME_LIMIT_BYTES
                || part.starts_with('.')
                || !part.bytes().all(is_plain)
            {
                return Err(fault());
            }
        }
        Ok(HubName {
            organisation: organisation.to_owned(),
            name: name.to_owned(),
            revision: revision.to_owned(),
        })
    }
}

/// What a file must hash to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Checksum {
    /// SHA-256 of the bytes.
    Sha256(String),
    /// SHA-1 of the bytes behind the header that git puts before a file.
    Git(String),
}

/// A file to download.
#[derive(Debug, Clone)]
pub(super) struct HubFile {
    /// With `/`, below the folder of the model. All are names that this program knows.
    pub(super) path: String,
    pub(super) size_bytes: u64,
    pub(super) checksum: Checksum,
}

/// A model of a hub, ready to be downloaded.
#[derive(Debug, Clone)]
pub struct Listing {
    pub(super) of: HubName,
    /// The commit that the revision names, in hex: all files are of it, whatever is pushed meanwhile.
    pub(super) commit: String,
    licence: Option<String>,
    pub(super) files: Vec<HubFile>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    sha: String,
    #[serde(default)]
    siblings: Vec<Sibling>,
    #[serde(default)]
    tags: Vec<String>,
    library_name: Option<String>,
    #[serde(rename = "cardData")]
    card: Option<Card>,
}

#[derive(Debug, Deserialize)]
struct Card {
    license: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
struct Sibling {
    #[serde(rename = "rfilename")]
    path: String,
    size: Option<u64>,
    #[serde(rename = "blobId")]
    blob: Option<String>,
    lfs: Option<Large>,
}

#[derive(Debug, Deserialize)]
struct Large {
    sha256: String,
}

impl Listing {
    /// The files that make a model out of all that a hub has.
    pub(super) fn new(of: HubName, answer: Answer) -> Result<Listing, EmbedError> {
        let unfit = |reason: String| EmbedError::Unfit { reason };
        if !is_hex(&answer.sha, 40) {
            return Err(unfit("the hub names no commit".to_owned()));
        }
        let find = |path: &str| answer.siblings.iter().find(|file| file.path == path);
        let missing = |what: &str| EmbedError::Missing {
            what: format!("{what} in {}/{} of the hub", of.organisation, of.name),
        };
        let tokenizer = find("tokenizer.json").ok_or_else(|| missing("tokenizer.json"))?;
        let mut wanted = vec![(tokenizer, tokenizer::FILE_LIMIT_BYTES)];
        let settings = SETTINGS.iter().filter_map(|name| find(name));
        wanted.extend(settings.map(|file| (file, SETTINGS_LIMIT_BYTES)));
        let is_table = answer.library_name.as_deref() == Some("model2vec")
            || answer.tags.iter().any(|tag| tag == "model2vec");
        let graph = GRAPHS.iter().find_map(|path| find(path));
        match (graph, find("model.safetensors").filter(|_| is_table)) {
            (Some(graph), _) => {
                // Weights of a graph are in files that have its name with something behind it.
                let of_graph = answer.siblings.iter().filter(|file| {
                    let rest = file.path.strip_prefix(graph.path.as_str());
                    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._".contains(&byte);
                    rest.is_some_and(|rest| rest.bytes().all(is_plain))
                });
                wanted.extend(of_graph.map(|file| (file, GRAPH_LIMIT_BYTES)));
            }
            (None, Some(table)) => wanted.push((table, GRAPH_LIMIT_BYTES)),
            (None, None) => return Err(missing("model.onnx, or a table of Model2Vec,")),
        }
        let licences = answer.siblings.iter().filter(|file| {
            let starts = ["LICENSE", "LICENCE", "NOTICE", "COPYING"];
            let upper = file.path.to_ascii_uppercase();
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            starts.iter().any(|start| upper.starts_with(start)) && upper.bytes().all(is_plain)
        });
        wanted.extend(licences.map(|file| (file, SETTINGS_LIMIT_BYTES)));
        if wanted.len() > FILES_LIMIT {
            return Err(unfit(format!("more than {FILES_LIMIT} files")));
        }
        let files = wanted.into_iter().map(|(file, limit)| file.checked(limit));
        let files = files
            .collect::<Result<Vec<HubFile>, String>>()
            .map_err(unfit)?;
        let licence = answer.card.and_then(|card| card.license);
        Ok(Listing {
            of,
            commit: answer.sha,
            licence: licence.and_then(|licence| licence.as_str().map(str::to_owned)),
            files,
        })
    }

    /// The model as the hub calls it.
    pub fn name(&self) -> String {
        format!("{}/{}", self.of.organisation, self.of.name)
    }

    /// A name for the model in the cache.
    pub fn short_name(&self) -> String {
        self.of.name.to_ascii_lowercase()
    }

    /// The commit of the hub that is downloaded.
    pub fn commit(&self) -> &str {
        &self.commit
    }

    /// The licence that the hub states.
    pub fn licence(&self) -> Option<&str> {
        self.licence.as_deref()
    }

    /// Bytes of all files.
    pub fn size_bytes(&self) -> u64 {
        let sizes = self.files.iter().map(|file| file.size_bytes);
        sizes.fold(0, u64::saturating_add)
    }
}

impl Sibling {
    fn checked(&self, limit_bytes: u64) -> Result<HubFile, String> {
        let path = &self.path;
        let size_bytes = self
            .size
            .ok_or_else(|| format!("the hub states no size of {path}"))?;
        if size_bytes > limit_bytes {
            return Err(format!("{path} has more than {limit_bytes} bytes"));
        }
        let checksum = match (&self.lfs, &self.blob) {
            (Some(large), _) if is_hex(&large.sha256, 64) => Checksum::Sha256(large.sha256.clone()),
            (None, Some(blob)) if is_hex(blob, 40) => Checksum::Git(blob.clone()),
            _ => return Err(format!("the hub states no checksum of {path}")),
        };
        Ok(HubFile {
            path: path.clone(),
            size_bytes,
            checksum,
        })
    }
}

fn is_hex(text: &str, length: usize) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.len() == length && text.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(change: impl FnOnce(&mut serde_json::Value)) -> Result<Listing, EmbedError> {
        let file = |path: &str, size: u64| serde_json::json!({"rfilename": path, "size": size, "blobId": "a".repeat(40)});
        let mut answer = serde_json::json!({
            "sha": "0".repeat(40),
            "cardData": {"license": "mit"},
            "siblings": [
                file("tokenizer.json", 1), file("config.json", 2), file("onnx/model.onnx", 4),
                file("onnx/model.onnx_data", 8), file("onnx/model.onnx/../../x", 16),
                file("onnx/model_fp16.onnx", 32), file("pytorch_model.bin", 64), file("LICENSE", 128),
                file("LICENSE/../../../x", 256), file("model.safetensors", 512),
            ],
        });
        change(&mut answer);
        let answer = serde_json::from_value(answer).unwrap();
        Listing::new(HubName::parse("a/B").unwrap(), answer)
    }

    #[test]
    fn only_what_makes_the_model_is_wanted() {
        let all = listing(|_| {}).unwrap();
        assert_eq!(all.size_bytes(), 1 + 2 + 4 + 8 + 128);
        assert_eq!(all.licence(), Some("mit"));
        assert_eq!((all.name(), all.short_name()), ("a/B".into(), "b".into()));
        let table = listing(|answer| {
            answer["siblings"].as_array_mut().unwrap().drain(2..6);
            answer["tags"] = serde_json::json!(["model2vec"]);
        });
        assert_eq!(table.unwrap().size_bytes(), 1 + 2 + 128 + 512);
    }

    #[test]
    fn listings_that_cannot_be_trusted_are_refused() {
        type Change = fn(&mut serde_json::Value);
        let cases: [(&str, Change); 7] = [
            ("no commit", |it| it["sha"] = "../x".into()),
            ("tokenizer.json in a/B", |it| {
                it["siblings"].as_array_mut().unwrap().remove(0);
            }),
            ("model.onnx, or", |it| {
                it["siblings"].as_array_mut().unwrap().drain(2..6);
            }),
            ("no size of config.json", |it| {
                it["siblings"][1]["size"] = serde_json::Value::Null;
            }),
            ("more than 4194304 bytes", |it| {
                it["siblings"][1]["size"] = (5 << 20).into()
            }),
            ("no checksum of config.json", |it| {
                it["siblings"][1]["blobId"] = "x".into()
            }),
            ("no checksum of config.json", |it| {
                it["siblings"][1]["lfs"] = serde_json::json!({"sha256": "0"});
            }),
        ];
        for (expected, change) in cases {
            let error = listing(change).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        for name in [
            "a", "a/", "/b", "../b", "a/b/c", "a/b@", "a/b@x/y", "a/b?x", "a/\u{e9}",
        ] {
            HubName::parse(name).unwrap_err();
        }
        assert_eq!(HubName::parse("a/b@v1.0").unwrap().revision, "v1.0");
    }
}
