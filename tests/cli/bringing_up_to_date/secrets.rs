//! Keys and credentials are left out, listed, and read on request.

use crate::support::{Folder, private_key, random_letters};

/// A corpus with secrets of several kinds, and a token that is in `deploy.sh`.
fn with_secrets() -> (Folder, String) {
    let folder = Folder::with_corpus();
    let token = format!("ghp_{}", random_letters(36, 3));
    let script = format!("#!/bin/sh\n# Deploys.\nTOKEN={token} deploy\n");
    folder.write("harbour/deploy.sh", script);
    folder.write(
        "harbour/deploy.key",
        format!("# Of the light\n{}", private_key()),
    );
    folder.write("harbour/.env", "PASSWORD=walrus\n");
    folder.write("harbour/.env.example", "PASSWORD=<password>\n");
    let value = random_letters(20, 9);
    folder.write(
        "harbour/secrets.yaml",
        format!("db:\n  password: {value}\n"),
    );
    let key = "AKIA".to_owned() + "IOSFODNN7EXAMPLE";
    folder.write(
        "harbour/docs/keys.md",
        format!("# Keys\n\nAn id looks like {key}.\n"),
    );
    (folder, token)
}

const LEFT_OUT: [(&str, &str); 4] = [
    (".env", "may hold a key or credentials (by its name)"),
    (
        "deploy.key",
        "may hold a key or credentials (private key, line 2)",
    ),
    (
        "deploy.sh",
        "may hold a key or credentials (GitHub personal access token, line 3)",
    ),
    (
        "secrets.yaml",
        "may hold a key or credentials (secret of a configuration, line 2)",
    ),
];

#[test]
fn secrets_are_left_out_and_listed_without_their_text() {
    let (folder, token) = with_secrets();
    let told = folder.kb("index harbour -v").expect(0);
    for (name, reason) in LEFT_OUT {
        told.stdout_has(name);
        told.stdout_has(reason);
    }
    assert!(!told.stdout.contains(&token));
    let listed = folder.kb("ls --skipped --json").expect(0);
    for (name, reason) in LEFT_OUT {
        let mut rows = listed.json_lines().into_iter();
        let row = rows.find(|row| row["skipped"] == name);
        assert_eq!(row.unwrap()["reason"], reason);
        folder.kb(["get", name]).expect(2);
    }
    folder.kb("get docs/keys.md").expect(0);
    let file = std::fs::read(folder.join("harbour.kb")).unwrap();
    let has = |text: &str| {
        file.windows(text.len())
            .any(|bytes| bytes == text.as_bytes())
    };
    assert!(has("deploy.sh") && !has(&token));
}

#[test]
fn secrets_are_read_on_request_until_it_is_taken_back() {
    let (folder, _) = with_secrets();
    folder.kb("index harbour").expect(0);
    let told = folder.kb("index harbour --include-secrets").expect(0);
    told.stdout_has("added 4");
    for (name, _) in LEFT_OUT {
        folder.kb(["get", name]).expect(0);
    }
    folder.kb("index harbour").expect(0);
    folder.kb("get deploy.sh").expect(0);
    folder.kb("index harbour --include-secrets=false").expect(0);
    for (name, _) in LEFT_OUT {
        folder.kb(["get", name]).expect(2);
    }
}

#[test]
fn a_marked_line_is_read() {
    let (folder, token) = with_secrets();
    let script = format!("TOKEN={token} # gitleaks:allow\n");
    folder.write("harbour/deploy.sh", script);
    folder.kb("index harbour").expect(0);
    folder.kb("get deploy.sh").expect(0);
}

#[test]
fn one_secret_is_added_on_request() {
    let (folder, _) = with_secrets();
    folder.kb("index harbour").expect(0);
    for (name, reason) in LEFT_OUT {
        let source = format!("harbour/{name}");
        let told = folder.kb(["add", &source]).expect(2);
        told.stderr_has(reason);
        assert!(told.hint().contains("--include-secrets"), "{told:#?}");
        folder.kb(["add", &source, "--include-secrets"]).expect(0);
        // `kb index` leaves it alone.
        folder.kb("index harbour").expect(0);
        folder.kb(["get", name]).expect(0);
    }
}

/// Titles, metadata, names of files and of folders are stored as the text is.
#[test]
fn nothing_of_a_secret_beside_the_text_is_stored_or_shown() {
    let folder = Folder::with_corpus();
    let token = format!("ghp_{}", random_letters(36, 5));
    let page = format!("<html><head><title>{token}</title></head><body>walrus</body></html>");
    folder.write("harbour/page.html", &page);
    folder.write(
        "harbour/mail.eml",
        format!("From: {token} <a@b.example>\nSubject: x\n\nwalrus\n"),
    );
    folder.write(format!("harbour/{token}.md"), "# Walrus\n");
    folder.write(format!("harbour/{token}/a.bin"), "\0\0\0");
    let stored = |file: &str| {
        let bytes = std::fs::read(folder.join(file)).unwrap();
        bytes
            .windows(token.len())
            .any(|found| found == token.as_bytes())
    };
    for _ in 0..2 {
        let told = folder.kb("index harbour -v").expect(0);
        let output = format!("{}{}", told.stdout, told.stderr);
        assert!(!output.contains(&token), "{output}");
        assert!(output.contains("in its title)"), "{output}");
        assert!(output.contains("in its path)"), "{output}");
        let listed = folder.kb("ls --skipped").expect(0).stdout;
        assert!(listed.contains("page.html") && listed.contains("mail.eml"));
        assert!(!listed.contains(&token), "{listed}");
        assert!(!stored("harbour.kb"));
    }
    folder.write("plain.txt", "walrus");
    let title = folder.kb(["add", "plain.txt", "--title", &token]).expect(2);
    assert!(title.stderr.contains("in its title)"), "{title:#?}");
    let path = folder.kb(["add", "plain.txt", "--path", &format!("a/{token}")]);
    path.expect(2);
    folder.kb(["tag", "docs/keys.md", &format!("+{token}")]);
    assert!(!stored("harbour.kb"));
}

/// The file that was asked for is a root of its own, whose name is stored.
#[test]
fn the_name_of_a_single_file_is_searched_too() {
    let folder = Folder::with_corpus();
    let token = format!("ghp_{}", random_letters(36, 9));
    let name = format!("harbour/{token}.txt");
    folder.write(&name, "walrus");
    folder.write("harbour/walrus.txt", "walrus");
    let is_stored = || {
        let bytes = std::fs::read(folder.join("a.kb")).unwrap();
        let mut found = bytes.windows(token.len());
        found.any(|found| found == token.as_bytes())
    };
    folder.kb(["index", &name, "-o", "a.kb"]);
    assert!(!folder.join("a.kb").exists() || !is_stored());
    let told = folder
        .kb(["index", "harbour/walrus.txt", &name, "-o", "a.kb"])
        .expect(0);
    assert!(
        !format!("{}{}", told.stdout, told.stderr).contains(&token),
        "{told:#?}"
    );
    assert!(!is_stored());
    folder.kb(["index", &name, "-o", "a.kb"]);
    assert!(!is_stored());
    let info = folder.kb("info a.kb --json").expect(0);
    assert_eq!(info.json_lines()[0]["documents"], 1);
    folder.kb("verify a.kb --deep").expect(0);
    folder
        .kb(["index", &name, "-o", "a.kb", "--include-secrets"])
        .expect(0);
    assert!(is_stored());
}
