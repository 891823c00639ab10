//! The pages for people: their commands and links exist, and the first ones stay short.

use super::spec::{read, repository};
use crate::support::Folder;

/// The lines of the shell blocks of the README, without comments.
fn shell_blocks(page: &str) -> Vec<Vec<&str>> {
    page.split("```sh\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap_or_default())
        .map(|block| {
            let lines = block
                .lines()
                .map(|line| line.split("  #").next().unwrap_or_default());
            lines
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .collect()
        })
        .collect()
}

#[test]
fn commands_of_the_documentation_exist() {
    let page = read("README.md");
    let blocks = shell_blocks(&page);
    let first: Vec<&str> = blocks[0][0].split(" && ").collect();
    for command in &first {
        assert!(command.starts_with("cargo run --release -- "), "{command}");
    }
    assert!(
        first[0].contains(" index ") && first[1].contains(" search "),
        "{first:?}"
    );
    assert_eq!(blocks[1], ["cargo xtask test"]);
    assert!(read(".cargo/config.toml").contains("xtask = "));
    assert!(read("xtask/src/main.rs").contains("\"test\" => test::run"));

    let folder = Folder::empty();
    let pages = [
        "docs/agents.md",
        "docs/getting-started.md",
        "docs/search.md",
        "docs/serve.md",
        "docs/troubleshooting.md",
    ]
    .map(read);
    let mut blocks = blocks;
    blocks.extend(pages.iter().flat_map(|page| shell_blocks(page)));
    let mut asked = 0;
    for line in blocks.iter().flatten() {
        let line = line.replace("cargo run --release -- ", "kb ");
        for command in line
            .split(" && ")
            .filter_map(|part| part.strip_prefix("kb "))
        {
            let command = command.split(" | ").next().unwrap_or_default();
            let verb = command.split(' ').next().expect("a verb");
            let help = folder.kb([verb, "--help"]).expect(0).stdout;
            let flags = command.split(' ').filter(|word| word.starts_with('-'));
            for flag in flags {
                let known = help.split([' ', ',', '\n']).any(|word| word == flag);
                assert!(known, "`kb {command}`: no {flag} in\n{help}");
            }
            asked += 1;
        }
    }
    assert!(asked >= 20, "only {asked} commands were found");
}

/// The targets of the links of a page that are files of the repository, without anchors.
fn linked_files(page: &str) -> Vec<&str> {
    page.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|target| !target.starts_with("http"))
        .map(|target| target.split('#').next().unwrap_or_default())
        .filter(|target| !target.is_empty())
        .collect()
}

/// The pages for people.
fn pages() -> Vec<String> {
    let mut names: Vec<String> = [
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "ffi/README.md",
        "python/README.md",
    ]
    .map(str::to_owned)
    .into();
    for folder in ["docs", "docs/decisions", "format-spec"] {
        for entry in std::fs::read_dir(repository().join(folder)).expect("the folder") {
            let name = entry.expect("an entry").file_name();
            let name = name.to_str().expect("a name in UTF-8");
            if name.ends_with(".md") {
                names.push(format!("{folder}/{name}"));
            }
        }
    }
    names
}

#[test]
fn links_of_the_documentation_lead_to_files() {
    let mut followed = 0;
    for name in pages() {
        let page = read(&name);
        let folder = repository().join(&name);
        let folder = folder.parent().expect("a folder");
        for target in linked_files(&page) {
            assert!(folder.join(target).exists(), "{name} links to {target}");
            followed += 1;
        }
    }
    assert!(followed >= 150, "only {followed} links were found");
}

#[test]
fn readme_and_changelog_are_short() {
    for (name, most) in [("README.md", 110), ("CHANGELOG.md", 120)] {
        let lines = read(name).lines().count();
        assert!(
            lines <= most,
            "{name} has {lines} lines; the rest belongs in docs/ or in git"
        );
    }
}

#[test]
fn cells_of_tables_are_short() {
    for name in pages() {
        let page = read(&name);
        for (number, line) in page.lines().enumerate() {
            let is_row = line.starts_with('|');
            let longest = line.split('|').map(|cell| cell.trim().chars().count());
            let longest = longest.max().unwrap_or_default();
            assert!(
                !is_row || longest <= 200,
                "{name}:{}: a cell has {longest} characters; move it below the table",
                number + 1
            );
        }
    }
}

#[test]
fn pages_count_the_default_grammars() {
    let manifest = read("engine/extract/Cargo.toml");
    let (_, defaults) = manifest.split_once("\ngrammars = [").expect("a list");
    let (defaults, _) = defaults.split_once(']').expect("its end");
    let count = defaults.matches("\"grammar-").count();
    let languages = format!("in {count} languages");
    for name in [
        "README.md",
        "docs/formats.md",
        "docs/decisions/15-grammars.md",
    ] {
        assert!(read(name).contains(&languages), "{name}: not {languages}");
    }
}
