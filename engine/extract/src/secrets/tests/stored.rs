//! What is stored beside the text, and keys in unusual surroundings.

use kb_types::{Heading, Page, PageSource, Part, Sheet, Slide};

use super::*;

/// Whatever is stored, not the text alone.
#[test]
fn secrets_beside_the_text_are_found() {
    let rule = TOKENS.iter().find(|rule| rule.id == "gitlab-pat").unwrap();
    let token = token(rule, "glpat-", 4);
    let page = format!("<title>x</title><meta name=author content='{token}'><p>a");
    let notebook = format!(
        r#"{{"nbformat":4,"metadata":{{"title":"{token}"}},"cells":[{{"cell_type":"markdown","source":"a"}}]}}"#
    );
    for (path, bytes, place) in [
        ("a.html", page.as_bytes(), "its metadata"),
        ("a.ipynb", notebook.as_bytes(), "its title"),
        (&*format!("{token}/a.txt"), b"a", "its path"),
        (&*format!("{token}.md"), b"a", "its path"),
    ] {
        let document = extractor::extract(path, bytes).unwrap();
        assert!(!document.text.contains(&token), "{path}");
        let secret = secret_in(&document).unwrap();
        let expected = format!("{REASON_START} (GitLab personal access token in {place})");
        assert_eq!(secret.to_string(), expected);
        assert_eq!((secret.rule, secret.line), ("gitlab-pat", None));
    }
    let plain = extractor::extract("a.md", b"# a\n").unwrap();
    let heading = Heading {
        title: token.clone(),
        ..plain.outline[0].clone()
    };
    let part = |content| {
        vec![Part {
            start: 0,
            line: 1,
            content,
        }]
    };
    let label = token.clone();
    for (place, document) in [
        (
            "its outline",
            Document {
                outline: vec![heading],
                ..plain.clone()
            },
        ),
        (
            "its title",
            Document {
                title: token.clone(),
                ..plain.clone()
            },
        ),
        (
            "its metadata",
            Document {
                metadata: vec![("a".to_owned(), token.clone())],
                ..plain.clone()
            },
        ),
        (
            "its metadata",
            Document {
                metadata: vec![(token.clone(), String::new())],
                ..plain.clone()
            },
        ),
        (
            "the name of a sheet",
            Document {
                parts: part(PartContent::Sheet(Sheet {
                    name: token.clone(),
                    ..Sheet::default()
                })),
                ..plain.clone()
            },
        ),
        (
            "the title of a slide",
            Document {
                parts: part(PartContent::Slide(Slide {
                    title: token.clone(),
                    ..Slide::default()
                })),
                ..plain.clone()
            },
        ),
        (
            "the number of a page",
            Document {
                parts: part(PartContent::Page(Page {
                    source: PageSource::Physical,
                    label,
                })),
                ..plain.clone()
            },
        ),
    ] {
        assert_eq!(secret_in(&document).unwrap().place, Some(place));
    }
    assert_eq!(secret_in(&plain), None);
}

#[test]
fn a_path_is_shown_without_the_secret_in_it() {
    let rule = TOKENS
        .iter()
        .find(|rule| rule.id == "npm-access-token")
        .unwrap();
    let token = token(rule, "npm_", 2);
    for (path, shown) in [
        (format!("a/{token}.md"), "a/\u{2026}"),
        (format!("a/{token}/b.md"), "a/\u{2026}/b.md"),
        ("a/npm_token.md".to_owned(), "a/npm_token.md"),
    ] {
        assert_eq!(path_without_secrets(&path), shown);
    }
}

/// Inside comments and quotations, and without the line that ends it.
#[test]
fn private_keys_are_found_in_comments_and_without_their_end() {
    let key = private_key("EC PRIVATE KEY");
    let without_end = key.split("-----END").next().unwrap();
    let words = "Then read <https://example.org/a> and wait ...";
    for text in [
        format!(
            "/*\n * {}\n */\nlet a = 1;\n",
            key.trim_end().replace('\n', "\n * ")
        ),
        format!("/**\n ** {}\n **/", key.trim_end().replace('\n', "\n ** ")),
        format!("// {}\n", key.replace('\n', "\n// ")),
        format!("# {}\n", key.replace('\n', "\n# ")),
        format!("-- {}\n", key.replace('\n', "\n-- ")),
        format!("> > {}\n", key.replace('\n', "\n> > ")),
        format!("<pre>{}</pre>", key.replace('\n', "<br/>\n")),
        format!("<key>{without_end}</key><name>a</name>"),
        format!("\"{}\"", key.replace('\n', "&#xA;")),
        format!("{{\"a\": \"{}\"}}", key.replace('\n', "\\\\n")),
        format!("{without_end}\n{words}\n"),
        format!("{without_end}{words}\n"),
        format!(
            " * {}\n *\n * {words}",
            without_end.trim_end().replace('\n', "\n * ")
        ),
        format!("'{}';\ncall(...);", without_end.replace('\n', "\\n")),
    ] {
        assert_eq!(found("a.js", &text), Some("private-key"), "{text}");
    }
    let line = characters(base64, 64, 8);
    for cut in [
        format!("{line}\n...\n{line}"),
        format!("{line}\n * ...\n * {line}"),
        format!("{line}\nMIIE...\n"),
        format!("{line}\n<snip>\n"),
        format!("{line}\n*** cut ***\n{line}"),
        format!("{line}**\n"),
        format!("{line}\n\u{2026}\n{line}"),
        "goes here, in base64, and ends with a line of its own\n".to_owned(),
    ] {
        let text = format!("{PEM_START}PRIVATE KEY-----\n{cut}");
        assert_eq!(found("a.md", &text), None, "{text}");
    }
}
