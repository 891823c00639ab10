//! Files that are made to hold keys or credentials: by their names and, where a name is not enough, by their
//! content. They are left out with a reason unless [`IndexOptions::include_secrets`] is set.
//!
//! Only whole files that are secrets count. Source code and prose that mention a key, or hold one among
//! other things, are indexed like everything else: this is no search for secrets.
//!
//! [`IndexOptions::include_secrets`]: crate::IndexOptions::include_secrets

use memchr::memmem;

use crate::ingest::extract::text;

/// How the reason of every such file begins; with it stored reasons are recognised.
pub(crate) const REASON_START: &str = "may hold a key or credentials";

/// Names in lower case whose files are secrets whatever they hold: private keys of OpenSSH, passwords of
/// tools, credentials of clouds.
const NAMES: &[&str] = &[
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    ".netrc",
    "_netrc",
    ".pgpass",
    "pgpass.conf",
    ".my.cnf",
    ".htpasswd",
    ".git-credentials",
    ".dockercfg",
    ".vault-token",
    "credentials.json",
    "application_default_credentials.json",
    "kubeconfig",
];

/// Extensions of key stores and private keys, in lower case.
const EXTENSIONS: &[&str] = &["p12", "pfx", "pkcs12", "jks", "keystore", "kdbx", "ppk"];

/// What precedes `.env` in the names of examples, after any other words.
const ENV_EXAMPLE_STEMS: &[&str] = &["example", "sample", "template"];

/// What follows `.env.` in the names of examples, which hold no secrets.
const ENV_EXAMPLES: &[&str] = &[
    "example", "sample", "template", "dist", "defaults", "default", "schema",
];

/// Extensions of files that hold keys or certificates: only those with a private key are left out.
const KEY_EXTENSIONS: &[&str] = &["pem", "key", "crt", "cer", "cert", "p8", "pk8", "ovpn"];

/// Bytes at the start of a file that are searched.
const SEARCHED_BYTES: usize = 1 << 20;

/// Why a file of that name with these bytes should not be stored where others read it: it is made to hold a
/// key or credentials, by its name (`id_rsa`, `.env`, `*.p12`) or by its content (it begins with a private
/// key, in UTF-8 or UTF-16). `None` for all others, also those that mention a key. Linear in the first megabyte.
pub fn secret_reason(path: &str, bytes: &[u8]) -> Option<String> {
    by_name(path).or_else(|| by_content(path, bytes))
}

/// The reason to leave out a file of that document path, whatever it holds.
pub(crate) fn by_name(path: &str) -> Option<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    // Most names are short, and none of these is long.
    let name = name.to_ascii_lowercase();
    let is_env = || match (name.strip_suffix(".env"), name.strip_prefix(".env.")) {
        (Some(stem), _) => {
            let last = stem.rsplit(['.', '-', '_']).next().unwrap_or(stem);
            !ENV_EXAMPLE_STEMS.contains(&last)
        }
        (None, Some(kind)) => !ENV_EXAMPLES.contains(&kind),
        (None, None) => false,
    };
    let is_secret = NAMES.contains(&name.as_str())
        || extension(&name).is_some_and(|extension| EXTENSIONS.contains(&extension))
        || is_env()
        || (name == "config" && folder.ends_with(".kube"))
        || (name == "credentials" && folder.ends_with(".aws"));
    is_secret.then(|| format!("{REASON_START} (by its name)"))
}

/// The reason to leave out a file of that document path with these bytes.
pub(crate) fn by_content(path: &str, bytes: &[u8]) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = name.to_ascii_lowercase();
    let head = bytes.get(..SEARCHED_BYTES.min(bytes.len()));
    let head = text::as_utf_8(head.unwrap_or_default());
    let what = what_it_holds(&name, &head)?;
    Some(format!("{REASON_START} ({what})"))
}

fn what_it_holds(name: &str, head: &[u8]) -> Option<&'static str> {
    let extension = extension(name);
    let is_of = |kinds: &[&str]| extension.is_some_and(|extension| kinds.contains(&extension));
    // A file that begins with a key is one, whatever it is called.
    let start = head.trim_ascii_start();
    if is_private_key(start) || start.starts_with(b"PuTTY-User-Key-File-") {
        return Some("a private key");
    }
    // Certificates may come first, or text about the key; and it may be indented.
    if is_of(KEY_EXTENSIONS) && lines(head).any(|line| is_private_key(line.trim_ascii_start())) {
        return Some("a private key");
    }
    let holds = |words: &[u8]| memmem::find(head, words).is_some();
    let begins_line =
        |words: &[u8]| lines(head).any(|line| line.trim_ascii_start().starts_with(words));
    match name {
        ".npmrc" | "npmrc" | ".yarnrc" if holds(b"_authToken=") || holds(b"_password=") => {
            Some("an access token")
        }
        ".pypirc" | "pypirc" if begins_line(b"password") => Some("a password"),
        "credentials" if begins_line(b"aws_secret_access_key") => Some("an access key"),
        _ if is_of(&["json"]) && has_json_key(head) => Some("the key of a service account"),
        _ if is_of(&["yaml", "yml", "conf"]) || extension.is_none() => {
            begins_line(b"client-key-data: ").then_some("the key of a cluster")
        }
        _ => None,
    }
}

/// Whether a line begins a private key in PEM (RFC 7468) or of OpenPGP (RFC 9580).
fn is_private_key(line: &[u8]) -> bool {
    let Some(label) = line.strip_prefix(b"-----BEGIN ") else {
        return false;
    };
    let label = label.get(..label.len().min(40)).unwrap_or_default();
    let end = memmem::find(label, b"-----");
    let label = end.and_then(|end| label.get(..end)).unwrap_or_default();
    label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK")
}

/// Whether JSON has a field `private_key` that begins as PEM.
fn has_json_key(json: &[u8]) -> bool {
    const NAME: &[u8] = b"\"private_key\"";
    memmem::find_iter(json, NAME).any(|at| {
        let after = after_white_space(json.get(at + NAME.len()..).unwrap_or_default());
        let value = after.strip_prefix(b":").map(after_white_space);
        value.is_some_and(|value| value.starts_with(b"\"-----BEGIN "))
    })
}

/// What follows the white space of JSON (RFC 8259) at the start.
fn after_white_space(json: &[u8]) -> &[u8] {
    let white = json.iter().take_while(|byte| b" \t\n\r".contains(byte));
    json.get(white.count()..).unwrap_or_default()
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| matches!(byte, b'\n' | b'\r'))
}

/// What follows the last dot of a name, which is not its first letter.
fn extension(name: &str) -> Option<&str> {
    let (stem, extension) = name.rsplit_once('.')?;
    (!stem.is_empty()).then_some(extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_secrets_are_known_by_their_names() {
        for path in [
            "id_rsa",
            "home/.ssh/id_ed25519",
            "deploy/.env",
            ".env.production",
            "deploy/prod.env",
            "App.Local.ENV",
            "credentials.json",
            "app/Server.P12",
            "a.jks",
            ".aws/credentials",
            "x/.kube/config",
            ".netrc",
            "putty.ppk",
        ] {
            let reason = by_name(path).unwrap_or_default();
            assert!(reason.starts_with(REASON_START), "{path}");
        }
        for path in [
            "id_rsa.pub",
            "id_rsa.md",
            ".env.example",
            "prod.env.example",
            "prod.env.sample",
            "app.env.template",
            "example.env",
            "app-sample.env",
            "config/prod.env.js",
            ".envrc",
            "env",
            "config",
            "credentials",
            "credentials.py",
            "docs/netrc.md",
            "jks",
            "server.pem",
            "keys.rs",
        ] {
            assert_eq!(by_name(path), None, "{path}");
        }
    }

    const KEY: &str = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n";

    #[test]
    fn files_that_hold_a_key_are_known_by_their_content() {
        let certificate = "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----\n";
        let aws = "[default]\naws_access_key_id = A\naws_secret_access_key = B\n";
        let account = "{\n  \"type\": \"service_account\",\n  \"private_key\": \"-----BEGIN PRIVATE KEY-----\\nMII\"\n}";
        for (path, text) in [
            ("deploy.txt", KEY.to_owned()),
            ("key", format!("\n  \n{KEY}")),
            ("bom.key", format!("\u{feff}{KEY}")),
            ("bom.txt", format!("\u{feff}\n{KEY}")),
            ("mac.pem", format!("{certificate}{KEY}").replace('\n', "\r")),
            ("indent.pem", format!("Key:\n{KEY}").replace('\n', "\n\t  ")),
            (
                "compact.json",
                "{\"private_key\":\"-----BEGIN PRIVATE KEY-----\\nMII\"}".to_owned(),
            ),
            (
                "wide.json",
                "{\"private_key\" \t\r\n:\n\"-----BEGIN PRIVATE KEY-----\\nMII\"}".to_owned(),
            ),
            ("server.pem", format!("{certificate}{KEY}")),
            ("server.key", KEY.replace("RSA ", "")),
            (
                "a.asc",
                "-----BEGIN PGP PRIVATE KEY BLOCK-----\n".to_owned(),
            ),
            (
                "ssh",
                "-----BEGIN OPENSSH PRIVATE KEY-----\nb3\n".to_owned(),
            ),
            ("old", "PuTTY-User-Key-File-2: ssh-rsa\n".to_owned()),
            (
                ".npmrc",
                "//registry.npmjs.org/:_authToken=npm_x\n".to_owned(),
            ),
            ("credentials", aws.to_owned()),
            ("account.json", account.to_owned()),
            (
                "kube.yaml",
                "users:\n- user:\n    client-key-data: LS0t\n".to_owned(),
            ),
        ] {
            let reason = by_content(path, text.as_bytes()).unwrap_or_default();
            assert!(reason.starts_with(REASON_START), "{path}");
        }
    }

    #[test]
    fn keys_in_utf_16_are_known() {
        let bytes = |text: &str, pair: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(pair).collect()
        };
        for pair in [u16::to_le_bytes, u16::to_be_bytes] {
            for mark in ["\u{feff}", ""] {
                for (path, start) in [("a.txt", " \n"), ("a.pem", "Of the server:\r\n  ")] {
                    let text = bytes(&format!("{mark}{start}{KEY}"), pair);
                    let reason = by_content(path, &text).unwrap_or_default();
                    assert!(reason.ends_with("(a private key)"), "{path} {mark:?}");
                }
            }
            let text = bytes(
                "\u{feff}How to make a key:\n-----BEGIN PRIVATE KEY-----\n",
                pair,
            );
            assert_eq!(by_content("docs/keys.md", &text), None);
        }
    }

    #[test]
    fn files_that_mention_a_key_are_no_secrets() {
        let code = format!("//! Reads keys.\nconst KEY: &str = \"\\\n{KEY}\";\n");
        let prose = format!("# How to make a key\n\n```\n{KEY}```\n");
        for (path, text) in [
            ("src/keys.rs", code.as_str()),
            ("docs/keys.md", prose.as_str()),
            (
                "tests/keys.py",
                "KEY = '''\n-----BEGIN PRIVATE KEY-----\n'''\n",
            ),
            ("server.pem", "-----BEGIN CERTIFICATE-----\nMIIE\n"),
            ("public.pem", "-----BEGIN PUBLIC KEY-----\nMIIE\n"),
            (".npmrc", "save-exact=true\n"),
            ("credentials", "Ask the captain.\n"),
            ("package.json", "{\"private_key\": \"no\"}"),
            ("names.json", "[\"private_key\", \"-----BEGIN \"]"),
            ("empty", ""),
            ("cut", "-----BEGIN "),
        ] {
            assert_eq!(by_content(path, text.as_bytes()), None, "{path}");
        }
    }
}
