//! Files that are secrets by their names, whatever they hold.

/// A path, ready to be compared.
#[derive(Debug)]
pub(super) struct Name<'p> {
    /// The folders, with `/` between them.
    pub(super) folder: &'p str,
    /// The name in lower case. Most names are short, and none of the table is long.
    pub(super) name: String,
}

impl<'p> Name<'p> {
    pub(super) fn of(path: &'p str) -> Name<'p> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        Name {
            folder,
            name: name.to_ascii_lowercase(),
        }
    }

    /// What follows the last dot, which is not the first letter; else empty.
    pub(super) fn extension(&self) -> &str {
        match self.name.rsplit_once('.') {
            // `.env` has no extension: the dot is part of the name.
            Some((stem, extension)) if !stem.is_empty() => extension,
            _ => "",
        }
    }
}

/// Whole names, in lower case.
const NAMES: &[(&str, &[&str])] = &[
    (
        "ssh-key-file",
        &[
            "id_rsa",
            "id_dsa",
            "id_ecdsa",
            "id_ecdsa_sk",
            "id_ed25519",
            "id_ed25519_sk",
        ],
    ),
    ("netrc-file", &[".netrc", "_netrc"]),
    ("postgres-password-file", &[".pgpass", "pgpass.conf"]),
    ("mysql-password-file", &[".my.cnf"]),
    ("htpasswd-file", &[".htpasswd"]),
    ("git-credentials-file", &[".git-credentials"]),
    ("docker-config-file", &[".dockercfg", ".dockerconfigjson"]),
    ("vault-token-file", &[".vault-token"]),
    (
        "cloud-credentials-file",
        &[
            "credentials.json",
            "application_default_credentials.json",
            "credentials.tfrc.json",
        ],
    ),
    ("kubeconfig-file", &["kubeconfig"]),
];

/// Extensions of key stores and private keys, in lower case. `pkcs12-file` is a rule of gitleaks.
const EXTENSIONS: &[(&str, &[&str])] = &[
    ("pkcs12-file", &["p12", "pfx", "pkcs12"]),
    ("java-keystore-file", &["jks", "jceks", "keystore"]),
    ("keepass-file", &["kdbx"]),
    ("putty-key-file", &["ppk"]),
];

/// Folders whose file of that name is a secret.
const IN_FOLDERS: &[(&str, &str, &str)] = &[
    ("kubeconfig-file", ".kube", "config"),
    ("cloud-credentials-file", ".aws", "credentials"),
];

/// What precedes `.env` in the names of examples, after any other words.
const ENV_EXAMPLE_STEMS: &[&str] = &["example", "sample", "template"];

/// What follows `.env.` in the names of examples, which hold no secrets.
const ENV_EXAMPLES: &[&str] = &[
    "example", "sample", "template", "dist", "defaults", "default", "schema",
];

/// The rule by which a file of that name is a secret.
pub(super) fn rule_of(name: &Name<'_>) -> Option<&'static str> {
    let (file_name, extension) = (name.name.as_str(), name.extension());
    let listed = |table: &[(&'static str, &[&str])], word: &str| {
        let mut rows = table.iter();
        rows.find(|(_, words)| words.contains(&word))
            .map(|(rule, _)| *rule)
    };
    listed(NAMES, file_name)
        .or_else(|| listed(EXTENSIONS, extension))
        .or_else(|| is_env(file_name).then_some("env-file"))
        .or_else(|| {
            let above = name.folder.rsplit('/').next().unwrap_or_default();
            let mut rows = IN_FOLDERS.iter();
            rows.find(|(_, folder, file)| above == *folder && file_name == *file)
                .map(|(rule, ..)| *rule)
        })
}

/// Whether a file holds variables of an environment, and is no example of one.
fn is_env(name: &str) -> bool {
    match (name.strip_suffix(".env"), name.strip_prefix(".env.")) {
        (Some(stem), _) => {
            // `my-app.example.env` is an example, `example.production.env` is not.
            let last = stem.rsplit(['.', '-', '_']).next().unwrap_or(stem);
            !ENV_EXAMPLE_STEMS.contains(&last)
        }
        (None, Some(kind)) => {
            let last = kind.rsplit('.').next().unwrap_or(kind);
            !ENV_EXAMPLES.contains(&last)
        }
        (None, None) => false,
    }
}
