//! Files of settings that are secrets by their name and what is set in them.

use memchr::memmem;

use crate::secrets::names::Name;
use crate::secrets::placeholder::is_literal_secret;
use crate::secrets::values::{json_pairs, lines, settings};

/// A kind of file, and where a secret is set in it.
pub(super) struct FileRule {
    /// Its id.
    pub(super) id: &'static str,
    /// What it matches.
    pub(super) what: &'static str,
    /// Whether a file of that name is of this kind.
    pub(super) is_named: fn(&Name<'_>) -> bool,
    /// The byte where the line or field of the first secret begins that counts. Linear.
    pub(super) find: fn(&str, Counts<'_>) -> Option<usize>,
}

/// Whether what begins at a byte counts: its line is not marked.
pub(super) type Counts<'c> = &'c mut dyn FnMut(usize) -> bool;

/// All of them. What each program stores there is in its own documentation.
pub(super) static FILES: &[FileRule] = &[
    FileRule {
        id: "npmrc-token",
        what: "access token of a package registry",
        is_named: |name| matches!(name.name.as_str(), ".npmrc" | "npmrc" | ".yarnrc"),
        find: |text, counts| {
            let is_token = |key: &str| {
                ["_authtoken", "_password", "_auth"]
                    .iter()
                    .any(|end| key.ends_with(end))
            };
            set(text, b"=", counts, is_token)
        },
    },
    FileRule {
        id: "npmrc-token",
        what: "access token of a package registry",
        is_named: |name| matches!(name.name.as_str(), ".yarnrc.yml" | "yarnrc.yml"),
        find: |text, counts| {
            set(text, b":", counts, |key| {
                matches!(key, "npmauthtoken" | "npmauthident")
            })
        },
    },
    FileRule {
        id: "pypirc-password",
        what: "password of a package index",
        is_named: |name| matches!(name.name.as_str(), ".pypirc" | "pypirc"),
        find: |text, counts| set(text, b"=:", counts, |key| key == "password"),
    },
    FileRule {
        id: "aws-credentials-file",
        what: "AWS secret access key",
        is_named: |name| name.name == "credentials",
        find: |text, counts| {
            set(text, b"=", counts, |key| {
                matches!(key, "aws_secret_access_key" | "aws_session_token")
            })
        },
    },
    FileRule {
        id: "htpasswd-file",
        what: "password hash",
        is_named: |name| name.name == "htpasswd",
        find: |text, counts| {
            let is_hash = |line: &str| {
                let hash = line.split_once(':').map(|(_, hash)| hash);
                let starts = ["$apr1$", "$2a$", "$2b$", "$2y$", "{SHA}", "$5$", "$6$"];
                hash.is_some_and(|hash| starts.iter().any(|start| hash.starts_with(start)))
            };
            lines(text)
                .find(|(at, line)| is_hash(line) && counts(*at))
                .map(|(at, _)| at)
        },
    },
    FileRule {
        id: "kubeconfig-file",
        what: "key or token of a Kubernetes cluster",
        is_named: |name| matches!(name.extension(), "yaml" | "yml" | "conf" | ""),
        find: |text, counts| {
            let key = set(text, b":", counts, |key| key == "client-key-data");
            let is_config = || memmem::find(text.as_bytes(), b"current-context:").is_some();
            key.or_else(|| {
                is_config()
                    // `token:` alone is in too many YAML files.
                    .then(|| set(text, b":", counts, |key| key == "token"))
                    .flatten()
            })
        },
    },
    FileRule {
        id: "kubernetes-secret-yaml",
        what: "Kubernetes secret",
        is_named: |name| matches!(name.extension(), "yaml" | "yml"),
        find: kubernetes_secret,
    },
    FileRule {
        id: "secrets-file",
        what: "secret of a configuration",
        is_named: |name| {
            let stem = name.name.rsplit_once('.').map_or("", |(stem, _)| stem);
            let last = stem.rsplit(['.', '-', '_']).next().unwrap_or_default();
            matches!(name.extension(), "yaml" | "yml" | "toml")
                && matches!(last, "secret" | "secrets")
        },
        find: |text, counts| {
            if is_encrypted(text) {
                return None;
            }
            set(text, b":=", counts, is_sensitive)
        },
    },
    FileRule {
        id: "secrets-file",
        what: "secret of a configuration",
        is_named: |name| matches!(name.name.as_str(), "secrets.json" | "secret.json"),
        find: |text, counts| {
            if is_encrypted(text) {
                return None;
            }
            json_set(text, counts, is_sensitive)
        },
    },
    FileRule {
        id: "google-client-secret-file",
        what: "OAuth client secret",
        is_named: |name| name.name.starts_with("client_secret") && name.extension() == "json",
        find: |text, counts| json_set(text, counts, |key| key == "client_secret"),
    },
    FileRule {
        id: "terraform-state",
        what: "sensitive value of a Terraform state",
        is_named: |name| name.name.ends_with(".tfstate") || name.name.ends_with(".tfstate.backup"),
        find: |text, counts| {
            sensitive_attributes(text, counts).or_else(|| json_set(text, counts, is_sensitive))
        },
    },
    FileRule {
        id: "docker-config-file",
        what: "password of a container registry",
        is_named: |name| name.name == "config.json",
        find: |text, counts| {
            let is_docker = memmem::find(text.as_bytes(), b"\"auths\"").is_some();
            is_docker
                .then(|| json_set(text, counts, |key| matches!(key, "auth" | "identitytoken")))
                .flatten()
        },
    },
];

/// Where a key of a line is set to a secret. Keys are given in lower case, as they end: without quotes.
fn set(
    text: &str,
    separators: &[u8],
    counts: Counts<'_>,
    is_key: fn(&str) -> bool,
) -> Option<usize> {
    let mut settings = settings(text, separators);
    settings
        .find(|(at, key, value)| {
            is_key(&key.to_ascii_lowercase()) && is_literal_secret(value) && counts(*at)
        })
        .map(|(at, ..)| at)
}

/// Where a field of JSON is set to a secret.
fn json_set(text: &str, counts: Counts<'_>, is_key: fn(&str) -> bool) -> Option<usize> {
    let mut pairs = json_pairs(text);
    pairs
        .find(|(at, key, value)| {
            is_key(&key.to_ascii_lowercase()) && is_literal_secret(value) && counts(*at)
        })
        .map(|(at, ..)| at)
}

/// Whether a setting of that name, in lower case, is a secret: and not its name, place, length or lifetime.
fn is_sensitive(key: &str) -> bool {
    const WORDS: &[&str] = &[
        "password",
        "passwd",
        "passphrase",
        "secret",
        "token",
        "api_key",
        "api-key",
        "apikey",
        "access_key",
        "accesskey",
        "private_key",
        "privatekey",
        "credential",
        "_pwd",
    ];
    const OTHER: &[&str] = &[
        "name", "_id", "-id", "ref", "path", "file", "url", "uri", "type", "length", "ttl",
        "version", "arn", "policy", "date", "time", "count", "store", "engine", "mount",
    ];
    let key = key.rsplit('.').next().unwrap_or(key);
    WORDS.iter().any(|word| key.contains(word)) && !OTHER.iter().any(|end| key.ends_with(end))
}

/// Whether SOPS, Ansible Vault or Sealed Secrets has encrypted the values.
fn is_encrypted(text: &str) -> bool {
    [
        &b"ENC[AES256_GCM"[..],
        b"$ANSIBLE_VAULT;",
        b"kind: SealedSecret",
        b"kind: ExternalSecret",
    ]
    .iter()
    .any(|mark| memmem::find(text.as_bytes(), mark).is_some())
}

/// Where a manifest of kind Secret has a value: in base64 under `data`, as it is under `stringData`.
fn kubernetes_secret(text: &str, counts: Counts<'_>) -> Option<usize> {
    let is_kind = |line: &str| {
        let value = line
            .strip_prefix("kind:")
            .map(|value| value.trim().trim_matches(['"', '\'']));
        value == Some("Secret")
    };
    // Whether the manifest is a secret, and the block of values with the first secret in it.
    let (mut is_secret, mut block, mut found) = (false, None, None);
    for (at, line) in lines(text) {
        // A file may hold several manifests; only those of kind Secret count.
        if line.starts_with("---") {
            (is_secret, block, found) = (false, None, None);
        } else if !line.starts_with([' ', '\t', '#', '-']) && !line.trim().is_empty() {
            // The kind may come before or behind the values.
            is_secret |= is_kind(line);
            block = ["data:", "stringData:"]
                .into_iter()
                .find(|name| line.trim_end() == *name);
        } else if let (Some(name), None, Some((_, value))) = (block, found, line.split_once(':')) {
            let value = value.trim().trim_matches(['"', '\'']);
            let is_value = if name == "data:" {
                is_encoded_secret(value)
            } else {
                is_literal_secret(value)
            };
            found = (is_value && counts(at)).then_some(at);
        }
        if is_secret && found.is_some() {
            return found;
        }
    }
    None
}

/// Whether a value is base64 of a secret, or of bytes that are no text.
fn is_encoded_secret(value: &str) -> bool {
    use base64::Engine;
    if value.len() < 8 {
        return false;
    }
    let Ok(bytes) = base64::engine::general_purpose::STANDARD.decode(value) else {
        return false;
    };
    match std::str::from_utf8(&bytes) {
        Ok(text) => is_literal_secret(text.trim()),
        // Bytes that are no text are a key or a key store.
        Err(_) => true,
    }
}

/// Where a state of Terraform lists attributes as sensitive.
fn sensitive_attributes(text: &str, counts: Counts<'_>) -> Option<usize> {
    const NAME: &[u8] = b"\"sensitive_attributes\"";
    let is_filled = |at: &usize| {
        let after = text.as_bytes().get(at + NAME.len()..).unwrap_or_default();
        let list = after.trim_ascii_start().strip_prefix(b":");
        let items = list.and_then(|list| list.trim_ascii_start().strip_prefix(b"["));
        items.is_some_and(|items| !items.trim_ascii_start().starts_with(b"]"))
    };
    memmem::find_iter(text.as_bytes(), NAME).find(|at| is_filled(at) && counts(*at))
}
