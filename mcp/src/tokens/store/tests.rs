use super::*;

fn store() -> (tempfile::TempDir, Tokens) {
    let folder = tempfile::tempdir().unwrap();
    let tokens = Tokens::new(folder.path().join("deep/kb/tokens.json"));
    (folder, tokens)
}

fn bearer(token: &str) -> Option<String> {
    Some(format!("Bearer {token}"))
}

#[test]
fn a_token_gives_access_and_its_text_is_not_stored() {
    let (_folder, tokens) = store();
    let token = tokens.create("laptop", false).unwrap();
    let text = fs::read_to_string(tokens.path()).unwrap();
    assert!(!text.contains(&token) && !text.contains(&token[3..]));
    let access = tokens.check(bearer(&token).as_deref()).unwrap();
    assert_eq!((access.name.as_str(), access.may_write), ("laptop", false));
    let lower = format!("bearer {token}");
    assert!(tokens.check(Some(&lower)).is_some());
}

#[test]
fn wrong_truncated_and_longer_tokens_are_refused() {
    let (_folder, tokens) = store();
    let token = tokens.create("laptop", true).unwrap();
    let short = &token[..token.len() - 1];
    let wrong = [
        None,
        Some(String::new()),
        Some(token.clone()),
        Some("Bearer ".to_owned()),
        Some(format!("Basic {token}")),
        Some(format!("Bearer  {token}")),
        bearer(short),
        bearer(&format!("{token}x")),
        bearer(&token.to_uppercase()),
    ];
    for header in wrong {
        assert_eq!(tokens.check(header.as_deref()), None, "{header:?}");
    }
}

#[test]
fn revoking_in_another_process_takes_effect_at_once() {
    let (_folder, tokens) = store();
    let token = tokens.create("laptop", true).unwrap();
    assert!(tokens.check(bearer(&token).as_deref()).is_some());
    assert!(tokens.check(bearer(&token).as_deref()).is_some());
    let other = Tokens::new(tokens.path().to_path_buf());
    let hash = tokens.check(bearer(&token).as_deref()).unwrap().hash;
    assert_eq!(tokens.hashes(), [hash]);
    assert!(tokens.is_known(bearer(&token).as_deref()));
    assert!(!tokens.is_known(bearer("x").as_deref()) && !tokens.is_known(None));
    other.revoke("laptop").unwrap();
    assert_eq!(tokens.hashes(), []);
    assert_eq!(tokens.check(bearer(&token).as_deref()), None);
    assert!(!tokens.is_known(bearer(&token).as_deref()));
    tokens.flush();
    assert_eq!(tokens.list().unwrap(), []);
}

#[test]
fn times_of_last_use_are_written() {
    let (_folder, tokens) = store();
    let token = tokens.create("laptop", false).unwrap();
    assert_eq!(tokens.list().unwrap()[0].last_used_ms, None);
    tokens.check(bearer(&token).as_deref()).unwrap();
    tokens.flush();
    let info = &tokens.list().unwrap()[0];
    assert!(info.last_used_ms.unwrap() >= info.created_ms);
}

#[test]
fn names_are_unique_printable_and_ten_at_most() {
    let (_folder, tokens) = store();
    let long = "a".repeat(65);
    for name in [
        "",
        " a",
        "a\nb",
        "a\u{202e}b",
        "a\u{200b}",
        "\u{feff}a",
        &long,
    ] {
        assert!(matches!(
            tokens.create(name, false),
            Err(TokenError::Name(_))
        ));
    }
    for number in 0..TOKENS_LIMIT {
        tokens.create(&format!("token {number}"), false).unwrap();
    }
    assert!(matches!(
        tokens.create("token 3", false),
        Err(TokenError::Taken(_))
    ));
    assert!(matches!(
        tokens.create("one more", false),
        Err(TokenError::Full)
    ));
    assert!(matches!(
        tokens.revoke("one more"),
        Err(TokenError::Unknown { .. })
    ));
    tokens.revoke("token 3").unwrap();
    tokens.create("one more", true).unwrap();
    let names = tokens.list().unwrap();
    assert_eq!(names.len(), TOKENS_LIMIT);
    assert_eq!(names[9].name, "one more");
}

#[cfg(unix)]
#[test]
fn a_file_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, tokens) = store();
    let token = tokens.create("laptop", false).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(tokens.path()), 0o600);
    assert_eq!(mode(tokens.path().parent().unwrap()), 0o700);
    fs::set_permissions(tokens.path(), PermissionsExt::from_mode(0o640)).unwrap();
    assert!(matches!(tokens.list(), Err(TokenError::Exposed(_))));
    let fresh = Tokens::new(tokens.path().to_path_buf());
    assert_eq!(fresh.check(bearer(&token).as_deref()), None);
}

/// The server caches the tokens, but checks the permissions each time.
#[cfg(unix)]
#[test]
fn a_file_that_others_can_read_now_is_refused_at_once() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, tokens) = store();
    let token = tokens.create("laptop", false).unwrap();
    let set = |mode| fs::set_permissions(tokens.path(), PermissionsExt::from_mode(mode));
    assert!(tokens.check(bearer(&token).as_deref()).is_some());
    set(0o644).unwrap();
    assert_eq!(tokens.check(bearer(&token).as_deref()), None);
    assert_eq!(tokens.hashes(), []);
    set(0o600).unwrap();
    assert!(tokens.check(bearer(&token).as_deref()).is_some());
}

/// A link used to be replaced by a file, in which tokens revoked in the target stayed valid.
#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_revoking_works_by_either_name() {
    let (folder, real) = store();
    real.create("laptop", false).unwrap();
    let link = folder.path().join("link.json");
    // From one link to the next, relative and absolute.
    std::os::unix::fs::symlink("deep/kb/next.json", &link).unwrap();
    let next = folder.path().join("deep/kb/next.json");
    std::os::unix::fs::symlink(real.path(), &next).unwrap();
    let linked = Tokens::new(link.clone());
    let token = linked.create("phone", true).unwrap();
    assert!(linked.check(bearer(&token).as_deref()).is_some());
    linked.flush();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::symlink_metadata(&next).unwrap().is_symlink());
    assert_eq!(real.list().unwrap().len(), 2);
    real.revoke("phone").unwrap();
    assert_eq!(linked.check(bearer(&token).as_deref()), None);
    // The lock is one, too.
    assert!(!beside(&link, "lock").exists());
    // A link to a file that is not there yet.
    fs::remove_file(real.path()).unwrap();
    let token = linked.create("tablet", false).unwrap();
    assert!(real.check(bearer(&token).as_deref()).is_some());
    fs::remove_file(&next).unwrap();
    std::os::unix::fs::symlink(&link, &next).unwrap();
    assert!(matches!(
        linked.create("x", false),
        Err(TokenError::Io { .. })
    ));
}

#[test]
fn a_file_of_another_kind_is_not_overwritten() {
    let (_folder, tokens) = store();
    tokens.create("laptop", false).unwrap();
    for wrong in [
        "",
        "{}",
        r#"{"version":2,"tokens":[]}"#,
        r#"{"version":1,"tokens":[{}]}"#,
    ] {
        fs::write(tokens.path(), wrong).unwrap();
        assert!(matches!(
            tokens.create("b", false),
            Err(TokenError::Unreadable(_))
        ));
        assert_eq!(fs::read_to_string(tokens.path()).unwrap(), wrong);
    }
}
