//! Every token here is made at run time, so that this repository holds nothing that a scanner reports.

use kb_types::Class;

use super::private_key::{PEM_START, PUTTY_START};
use super::token::{Alphabet, Part, TokenRule, alphanumeric, base32, base64, digit, hex, word};
use super::tokens::TOKENS;
use super::*;
use crate::extractor;

mod stored;

/// Characters of a kind as a generator of random numbers picks them, without runs.
fn characters(alphabet: Alphabet, count: usize, seed: u64) -> String {
    let all: Vec<char> = (0..=127_u8)
        .filter(|byte| alphabet(*byte))
        .map(char::from)
        .collect();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        all[(state >> 33) as usize % all.len()]
    };
    (0..count).map(|_| next()).collect()
}

/// A token of a kind with runs of the least length.
fn token(rule: &TokenRule, start: &str, seed: u64) -> String {
    let lead = rule
        .lead
        .map(|(alphabet, count)| characters(alphabet, count, seed + 7));
    let mut token = lead.unwrap_or_default() + start;
    for (number, part) in rule.parts.iter().enumerate() {
        match part {
            Part::Text(text) => token += text,
            Part::Run(alphabet, min, _) => {
                let mut run = characters(*alphabet, *min, seed + number as u64);
                // A separator at an end is no part of the token where text follows.
                if number + 1 == rule.parts.len() && !run.is_empty() && alphabet(b'x') {
                    run.pop();
                    run.push('b');
                }
                token += &run;
            }
        }
    }
    token
}

pub(crate) fn private_key(label: &str) -> String {
    let body: Vec<String> = (1..=6).map(|line| characters(base64, 64, line)).collect();
    format!(
        "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
        body.join("\n")
    )
}

fn found(path: &str, text: &str) -> Option<&'static str> {
    find(path, text).map(|(rule, ..)| rule)
}

#[test]
fn every_kind_of_token_is_found_and_a_shorter_one_not() {
    assert!(Scanner::new().is_some());
    for rule in TOKENS {
        for start in rule.starts {
            // Few tokens of random letters look made up.
            let found_of = |seed| found("a.txt", &format!("key: '{}'\n", token(rule, start, seed)));
            let count = (1..=20)
                .filter(|seed| found_of(*seed) == Some(rule.id))
                .count();
            assert!(count >= 18, "{} {start}: {count}", rule.id);
            let token = token(rule, start, 3);
            let fixed = match rule.parts {
                [Part::Run(_, min, max)] => min == max,
                _ => false,
            };
            if fixed && rule.id != "gitlab-pat" {
                let short = &token[..token.len() - 1];
                assert_eq!(found("a.txt", &format!("'{short}'")), None, "{}", rule.id);
                let long = format!("'{token}a'");
                assert_eq!(found("a.txt", &long), None, "{}", rule.id);
            }
            let inside = format!("'a{token}'");
            assert_ne!(found("a.txt", &inside), Some(rule.id), "{start}");
        }
    }
}

/// Lengths as the issuers document them, not as the table has them.
#[test]
fn tokens_of_known_issuers_are_found_in_text() {
    let of = |start: &str, alphabet, count| start.to_owned() + &characters(alphabet, count, 11);
    for (rule, token) in [
        ("aws-access-token", of("AKIA", base32, 16)),
        ("github-pat", of("ghp_", alphanumeric, 36)),
        (
            "github-fine-grained-pat",
            of("github_pat_", alphanumeric, 82),
        ),
        ("gitlab-pat", of("glpat-", alphanumeric, 20)),
        ("npm-access-token", of("npm_", alphanumeric, 36)),
        ("gcp-api-key", of("AIza", alphanumeric, 35)),
        ("stripe-access-token", of("sk_live_", alphanumeric, 24)),
        ("twilio-api-key", of("SK", hex, 32)),
        ("digitalocean-pat", of("dop_v1_", hex, 64)),
        ("pypi-upload-token", of("pypi-AgEIcHlwaS5vcmc", word, 150)),
        (
            "slack-bot-token",
            of("xoxb-", digit, 12) + "-" + &of("", digit, 12) + "-" + &of("", alphanumeric, 24),
        ),
        (
            "slack-webhook-url",
            "https://hooks.slack.com/services/T".to_owned()
                + &of("", base32, 8)
                + &of("/B", base32, 8)
                + &of("/", alphanumeric, 24),
        ),
        (
            "sendgrid-api-token",
            of("SG.", alphanumeric, 22) + &of(".", alphanumeric, 43),
        ),
        (
            "anthropic-api-key",
            of("sk-ant-api03-", alphanumeric, 93) + "AA",
        ),
        (
            "openai-api-key",
            of("sk-proj-", alphanumeric, 74) + "T3Blbk" + "FJ" + &of("", alphanumeric, 74),
        ),
        (
            "azure-storage-key",
            of("AccountKey=", alphanumeric, 86) + "==",
        ),
        ("azure-ad-client-secret", of("abc8Q~", alphanumeric, 34)),
    ] {
        for text in [
            format!("token = \"{token}\"\n"),
            format!("curl -H 'X: {token}' https://x\n"),
            format!("{{\"a\":\"b\\n{token}\"}}"),
            token.clone(),
        ] {
            assert_eq!(found("src/a.py", &text), Some(rule), "{text}");
        }
    }
}

#[test]
fn tokens_that_are_made_up_are_no_secrets() {
    let ghp = |rest: &str| format!("ghp_{rest}");
    for text in [
        "AKIA".to_owned() + "IOSFODNN7EXAMPLE",
        ghp(&"x".repeat(36)),
        ghp(&"A".repeat(36)),
        ghp("abcdefghijklmnopqrstuvwxyz0123456789"),
        ghp("YourTokenHere7Kq2mZp9Lw4Vt8Rb3Nc6Hd1"),
        ghp("7Kq2mZp9Lw4Vt8FAKEb3Nc6Hd1s5Jf0Gx7Qy"),
        "ghp_<your token>, ghp_... or ghp_XXXX".to_owned(),
        "AIza".to_owned() + &"ab".repeat(17) + "c",
        format!(
            "Tokens begin with {}",
            TOKENS
                .iter()
                .map(|rule| rule.starts[0])
                .collect::<Vec<_>>()
                .join(", ")
        ),
        format!("r'(?:ghu|ghs)_[0-9a-zA-Z]{{36}}', r'{PEM_START}[A-Z ]*PRIVATE KEY-----'"),
        format!(
            "{PEM_START}RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA...\n-----END RSA PRIVATE KEY-----"
        ),
        private_key("PRIVATE KEY").replacen('\n', "\n<", 2),
        private_key("CERTIFICATE"),
        private_key("PUBLIC KEY"),
        format!(
            "{PEM_START}PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----",
            "A".repeat(640)
        ),
        PEM_START.to_owned(),
    ] {
        assert_eq!(found("docs/keys.md", &text), None, "{text}");
    }
}

#[test]
fn private_keys_are_found_wherever_they_are() {
    for label in [
        "PRIVATE KEY",
        "RSA PRIVATE KEY",
        "EC PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ] {
        let key = private_key(label);
        let escaped = key.replace('\n', "\\n");
        for text in [
            key.clone(),
            format!("# The key of the server\n\n{key}"),
            key.replace('\n', "\r\n    "),
            format!("const KEY: &str = \"{escaped}\";\n"),
            format!("{{\"type\":\"service_account\",\"private_key\":\"{escaped}\"}}"),
            key.replace('\n', "\" +\n  \""),
            key.replacen(
                '\n',
                "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n",
                1,
            ),
            format!("{}{key}", private_key("CERTIFICATE")),
            // Cut at the end.
            key[..key.len() / 2].to_owned(),
        ] {
            assert_eq!(found("a.txt", &text), Some("private-key"), "{text}");
        }
    }
    let lines = characters(base64, 64, 5) + "\n" + &characters(base64, 64, 6);
    let putty =
        format!("{PUTTY_START}2: ssh-rsa\nPublic-Lines: 1\nAAAA\nPrivate-Lines: 2\n{lines}\n");
    assert_eq!(found("old", &putty), Some("private-key"));
}

#[test]
fn a_marked_line_holds_no_secret_and_others_do() {
    let rule = TOKENS.iter().find(|rule| rule.id == "github-pat").unwrap();
    let (one, other) = (token(rule, "ghp_", 1), token(rule, "ghp_", 2));
    for mark in ["gitleaks:allow", "pragma: allowlist secret"] {
        let marked = format!("first = '{one}' # {mark}\n");
        assert_eq!(found("a.py", &marked), None);
        let both = format!("{marked}second = '{other}'\n");
        assert_eq!(find("a.py", &both).unwrap().2, both.find(&other).unwrap());
        // The mark holds for its line and no other.
        let above = format!("# {mark}\nsecond = '{other}'\n# {mark}\n");
        assert_eq!(found("a.py", &above), Some("github-pat"));
    }
}

#[test]
fn a_secret_is_told_by_its_line_and_kind_only() {
    let rule = TOKENS.iter().find(|rule| rule.id == "github-pat").unwrap();
    let token = token(rule, "ghp_", 1);
    let text = format!("first\nsecond\n\ntoken = '{token}'\n");
    let document = extractor::extract("a.py", text.as_bytes()).unwrap();
    let secret = secret_in(&document).unwrap();
    let shown = secret.to_string();
    assert_eq!(
        shown,
        "may hold a key or credentials (GitHub personal access token, line 4)"
    );
    assert_eq!((secret.rule, secret.line), ("github-pat", Some(4)));
    assert!(!format!("{secret:?}").contains(&token));
    // Of a page the line is that of its source.
    let page = format!("<html><head>\n<title>x</title>\n</head><body>\n<p>a</p>\n\n<p>{token}</p>");
    let document = extractor::extract("a.html", page.as_bytes()).unwrap();
    assert_eq!(document.class, Class::Doc);
    assert_eq!(secret_in(&document).unwrap().line, Some(6));
}

#[test]
fn tokens_in_other_encodings_are_found() {
    let rule = TOKENS.iter().find(|rule| rule.id == "github-pat").unwrap();
    let text = format!("\u{feff}token: {}\r\n", token(rule, "ghp_", 1));
    for bytes in [
        text.encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<u8>>(),
        text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
    ] {
        let document = extractor::extract("a.txt", &bytes).unwrap();
        assert_eq!(secret_in(&document).unwrap().rule, "github-pat");
    }
}

#[test]
fn text_made_to_harm_is_searched_in_linear_time() {
    for unit in [
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nMIIE",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----\n * ",
        "-----BEGIN PRIVATE KEY-----<p",
        "* ",
        PUTTY_START,
        "PuTTY-User-Key-File-Private-Lines:",
        "glpat-",
        "sntrys_eyJpYXQiO",
        "sk-",
        "{\"a\":",
        "\"\\\"",
        "\"a\":\"",
        "kind: Secret\ndata:\n",
    ] {
        let text = unit.repeat((1 << 18) / unit.len());
        let is_setting = unit.contains([':', '"']);
        let paths = ["a.txt", "a.tfstate", "secrets.yaml", "secrets.json"];
        for path in paths.iter().take(if is_setting { 4 } else { 1 }) {
            assert_eq!(found(path, &text), None, "{unit}");
        }
    }
    // A line with many tokens that are allowed is searched once.
    let rule = TOKENS.iter().find(|rule| rule.id == "github-pat").unwrap();
    let tokens = format!("{} ", token(rule, "ghp_", 1)).repeat(10_000);
    assert_eq!(found("a.txt", &format!("{tokens} gitleaks:allow")), None);
    let value = format!("secret: Zx81-{} ", "q ".repeat(1 << 17));
    assert_eq!(found("secrets.yaml", &value), Some("secrets-file"));
}

#[test]
fn files_are_known_by_their_names() {
    for (path, rule) in [
        ("id_rsa", "ssh-key-file"),
        ("home/.ssh/id_ed25519", "ssh-key-file"),
        ("deploy/.env", "env-file"),
        (".env.production", "env-file"),
        (".env.production.local", "env-file"),
        ("deploy/prod.env", "env-file"),
        ("App.Local.ENV", "env-file"),
        ("credentials.json", "cloud-credentials-file"),
        ("app/Server.P12", "pkcs12-file"),
        ("a.pfx", "pkcs12-file"),
        ("a.jks", "java-keystore-file"),
        ("release.keystore", "java-keystore-file"),
        ("team.kdbx", "keepass-file"),
        ("putty.ppk", "putty-key-file"),
        (".aws/credentials", "cloud-credentials-file"),
        ("x/.kube/config", "kubeconfig-file"),
        ("kubeconfig", "kubeconfig-file"),
        (".netrc", "netrc-file"),
        (".pgpass", "postgres-password-file"),
        (".my.cnf", "mysql-password-file"),
        (".htpasswd", "htpasswd-file"),
        (".git-credentials", "git-credentials-file"),
        (".dockercfg", "docker-config-file"),
        (".vault-token", "vault-token-file"),
    ] {
        let secret = secret_by_name(path).unwrap_or_else(|| panic!("{path}"));
        assert_eq!((secret.rule, secret.line), (rule, None), "{path}");
        assert_eq!(
            secret.to_string(),
            "may hold a key or credentials (by its name)"
        );
    }
    for path in [
        "id_rsa.pub",
        "id_rsa.md",
        ".env.example",
        ".env.local.example",
        "prod.env.example",
        "prod.env.sample",
        "app.env.template",
        "example.env",
        "app-sample.env",
        "config/prod.env.js",
        ".envrc",
        "env",
        "config",
        "my.kube/config",
        "credentials",
        "credentials.py",
        "docs/netrc.md",
        "jks",
        "server.pem",
        "keys.rs",
    ] {
        assert_eq!(secret_by_name(path), None, "{path}");
    }
}

/// Of each kind of file the settings that are a secret, and some that are none.
#[test]
fn files_of_settings_are_secrets_by_what_is_set() {
    let value = characters(alphanumeric, 24, 9);
    let encoded = base64_of(&value);
    let key = base64_of(&private_key("PRIVATE KEY"));
    for (rule, path, text, none) in [
        (
            "npmrc-token",
            ".npmrc",
            format!("save-exact=true\n//registry.npmjs.org/:_authToken={value}\n"),
            "//registry.npmjs.org/:_authToken=${NPM_TOKEN}\n_auth=\n".to_owned(),
        ),
        (
            "npmrc-token",
            ".yarnrc.yml",
            format!("npmRegistries:\n  x:\n    npmAuthToken: \"{value}\"\n"),
            "npmAuthToken: \"${TOKEN}\"\n".to_owned(),
        ),
        (
            "pypirc-password",
            ".pypirc",
            format!("[pypi]\nusername = me\npassword: {value}\n"),
            "[pypi]\nusername = me\npassword = <password>\n".to_owned(),
        ),
        (
            "aws-credentials-file",
            "credentials",
            format!("[default]\naws_secret_access_key={value}\n"),
            "Ask the captain.\naws_secret_access_key = YOUR_KEY\n".to_owned(),
        ),
        (
            "htpasswd-file",
            "htpasswd",
            "anna:$apr1$".to_owned() + &value,
            "anna: in the office\n".to_owned(),
        ),
        (
            "kubeconfig-file",
            "cluster.yaml",
            format!("users:\n- user:\n    client-key-data: {key}\n"),
            "users:\n- user:\n    client-key-data: DATA+OMITTED\n    token: x\n"
                .replace("DATA", "<DATA>"),
        ),
        (
            "kubeconfig-file",
            "admin.conf",
            format!("current-context: a\nusers:\n- user:\n    token: {value}\n"),
            format!("users:\n- user:\n    token: {value}\n"),
        ),
        (
            "kubernetes-secret-yaml",
            "k8s/db.yaml",
            format!("apiVersion: v1\nkind: Secret\ndata:\n  password: {encoded}\n"),
            format!(
                "kind: ConfigMap\ndata:\n  password: {encoded}\n---\nkind: Secret\ndata:\n  p: {{{{ .Values.p }}}}\n"
            ),
        ),
        (
            "kubernetes-secret-yaml",
            "k8s/db.yml",
            format!("stringData:\n  pin: \"{value}\"\nkind: \"Secret\"\n"),
            "kind: Secret\nstringData:\n  pin: $PIN\n  other: changeme\n".to_owned(),
        ),
        (
            "secrets-file",
            "config/secrets.yaml",
            format!("database:\n  db_password: {value} # of the harbour\n"),
            format!(
                "database:\n  db_password: ENC[AES256_GCM,data:{value}]\n  secretName: {value}\n"
            ),
        ),
        (
            "secrets-file",
            "app.secrets.yml",
            format!("api_key: '{value}'\n"),
            "api_key: {{ vault_api_key }}\npassword: my-secret-password\ntoken: !vault |\n"
                .to_owned(),
        ),
        (
            "secrets-file",
            "secrets.json",
            format!("{{\"a\": [1, \"x\"], \"clientSecret\": \"{value}\"}}"),
            format!("{{\"a\": \"{value}\", \"secretName\": \"{value}\"}}"),
        ),
        (
            "google-client-secret-file",
            "client_secret_12.apps.json",
            format!("{{\"installed\":{{\"client_id\":\"1.apps\",\"client_secret\":\"{value}\"}}}}"),
            "{\"installed\":{\"client_secret\":\"YOUR_CLIENT_SECRET\"}}".to_owned(),
        ),
        (
            "terraform-state",
            "prod/terraform.tfstate",
            format!("{{\"resources\":[{{\"attributes\":{{\"master_password\": \"{value}\"}}}}]}}"),
            "{\"version\": 4, \"resources\": [], \"sensitive_attributes\": [ ]}".to_owned(),
        ),
        (
            "terraform-state",
            "terraform.tfstate.backup",
            "{\"sensitive_attributes\": [[{\"type\": \"get_attr\"}]]}".to_owned(),
            "{\"sensitive_attributes\": []}".to_owned(),
        ),
        (
            "docker-config-file",
            ".docker/config.json",
            format!("{{\"auths\":{{\"ghcr.io\":{{\"auth\":\"{encoded}\"}}}}}}"),
            format!("{{\"auths\":{{\"ghcr.io\":{{}}}},\"credsStore\":\"{value}\"}}"),
        ),
    ] {
        assert_eq!(found(path, &text), Some(rule), "{path}: {text}");
        assert_eq!(found(path, &none), None, "{path}: {none}");
        let marked = text.replace('\n', " # gitleaks:allow\n") + " # gitleaks:allow";
        assert_eq!(found(path, &marked), None, "{path}: {marked}");
        let both = format!("{marked}\n{text}");
        assert_eq!(found(path, &both), Some(rule), "{path}: {both}");
        // The same words in prose are prose.
        assert_eq!(found("docs/guide.md", &text), None, "{path}: {text}");
    }
    let rules: std::collections::BTreeSet<&str> = FILES.iter().map(|file| file.id).collect();
    assert_eq!(rules.len(), 10);
}

fn base64_of(text: &str) -> String {
    use ::base64::Engine;
    ::base64::engine::general_purpose::STANDARD.encode(text)
}
