//! What kind of document a path names: tests, a changelog, generated code, examples; and whether a query
//! asks for that kind.

use kb_types::Class;

use crate::index::keyword::Query;

/// A kind of document that mentions much that is defined elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentKind {
    Tests,
    /// A list of changes by version.
    Changelog,
    /// Made by a program, or copied from another project; lock files.
    Generated,
    /// Examples, demos and benchmarks.
    Examples,
    /// All others.
    Ordinary,
}

/// Folders of tests, in lower case, as all that follow.
const TEST_FOLDERS: [&str; 15] = [
    "test",
    "tests",
    "testing",
    "__tests__",
    "testdata",
    "test-data",
    "test_data",
    "spec",
    "specs",
    "fixture",
    "fixtures",
    "mock",
    "mocks",
    "__mocks__",
    "e2e",
];

const CHANGELOG_FOLDERS: [&str; 8] = [
    "changelog",
    "changelogs",
    "changelog.d",
    "changes",
    "newsfragments",
    "release-notes",
    "release_notes",
    "releases",
];

/// Names of changelogs, without extension.
const CHANGELOGS: [&str; 13] = [
    "changelog",
    "changes",
    "news",
    "history",
    "releases",
    "release_notes",
    "release-notes",
    "releasenotes",
    "whatsnew",
    "whats_new",
    "upgrading",
    "upgrade",
    "migrating",
];

const GENERATED_FOLDERS: [&str; 10] = [
    "vendor",
    "vendored",
    "third_party",
    "third-party",
    "thirdparty",
    "node_modules",
    "bower_components",
    "generated",
    "__generated__",
    "dist",
];

/// Ends of the names of generated files.
const GENERATED_ENDS: [&str; 13] = [
    ".min.js",
    ".min.css",
    ".pb.go",
    ".pb.cc",
    ".pb.h",
    "_pb2.py",
    "_pb2_grpc.py",
    ".g.dart",
    ".g.cs",
    ".designer.cs",
    ".snap",
    ".lock",
    "-lock.json",
];

/// Lock files whose names do not end like those of generated ones.
const LOCK_FILES: [&str; 4] = [
    "go.sum",
    "pnpm-lock.yaml",
    "npm-shrinkwrap.json",
    "gradle.lockfile",
];

const EXAMPLE_FOLDERS: [&str; 9] = [
    "example",
    "examples",
    "sample",
    "samples",
    "demo",
    "demos",
    "bench",
    "benches",
    "benchmarks",
];

impl DocumentKind {
    /// The kind of the document of a path.
    pub(super) fn of(path: &str, class: Class) -> DocumentKind {
        let lower = path.to_lowercase();
        let (folders, file) = lower.rsplit_once('/').unwrap_or(("", &lower));
        let in_folder = |names: &[&str]| folders.split('/').any(|folder| names.contains(&folder));
        let written = path.rsplit('/').next().unwrap_or(path);
        let stem = file.split_once('.').map_or(file, |(stem, _)| stem);
        if in_folder(&GENERATED_FOLDERS)
            || GENERATED_ENDS.iter().any(|end| file.ends_with(end))
            || LOCK_FILES.contains(&file)
        {
            return DocumentKind::Generated;
        }
        // A source file may be called history.rs.
        if class != Class::Code
            && (in_folder(&CHANGELOG_FOLDERS)
                || CHANGELOGS.contains(&stem)
                || stem.starts_with("migration-guide"))
        {
            return DocumentKind::Changelog;
        }
        if in_folder(&TEST_FOLDERS) || is_test_file(file, written) {
            return DocumentKind::Tests;
        }
        if in_folder(&EXAMPLE_FOLDERS) {
            return DocumentKind::Examples;
        }
        DocumentKind::Ordinary
    }
}

/// Whether a file is one of tests by its name: in lower case, and as it is written.
fn is_test_file(file: &str, written: &str) -> bool {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let as_written = written.rsplit_once('.').map_or(written, |(stem, _)| stem);
    let ends = [
        "_test", "_tests", "-test", ".test", ".tests", ".spec", ".tst", "_spec",
    ];
    file.starts_with("test_")
        || ends.iter().any(|end| stem.ends_with(end))
        || ["Test", "Tests", "TestCase"]
            .iter()
            .any(|end| as_written.ends_with(end))
        || ["test", "tests", "conftest"].contains(&stem)
}

/// The kinds that a query asks for, by its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct WantedKinds {
    tests: bool,
    changelog: bool,
    examples: bool,
}

/// Stems of words that ask for tests.
const TEST_WORDS: [&str; 10] = [
    "test", "testcas", "unittest", "assert", "fixtur", "mock", "spec", "coverag", "stub", "pytest",
];

/// Stems of words that ask for changes.
const CHANGE_WORDS: [&str; 12] = [
    "changelog",
    "chang",
    "news",
    "releas",
    "version",
    "histori",
    "deprec",
    "upgrad",
    "migrat",
    "introduc",
    "backward",
    "incompat",
];

/// Stems of words that ask for examples.
const EXAMPLE_WORDS: [&str; 8] = [
    "exampl",
    "sampl",
    "demo",
    "benchmark",
    "bench",
    "tutori",
    "perform",
    "usag",
];

impl WantedKinds {
    pub(super) fn of(query: &Query<'_>) -> WantedKinds {
        WantedKinds::of_terms(query.terms().iter().map(|term| term.term.as_str()))
    }

    fn of_terms<'t>(terms: impl Iterator<Item = &'t str>) -> WantedKinds {
        let mut wanted = WantedKinds::default();
        for term in terms {
            wanted.tests |= TEST_WORDS.contains(&term);
            wanted.changelog |= CHANGE_WORDS.contains(&term);
            wanted.examples |= EXAMPLE_WORDS.contains(&term);
        }
        wanted
    }

    /// The share of its score that a chunk of such a document loses, 0..1: nothing when the query asks for that
    /// kind. Between 0.1 and 0.3 nothing changes much.
    pub(super) fn loss(self, kind: DocumentKind) -> f32 {
        match kind {
            DocumentKind::Tests if !self.tests => 0.2,
            DocumentKind::Changelog if !self.changelog => 0.2,
            DocumentKind::Examples if !self.examples => 0.1,
            DocumentKind::Generated => 0.2,
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_tell_the_kind() {
        for (path, kind) in [
            ("tests/CrawlerProcess/multi.py", DocumentKind::Tests),
            ("src/core/url_test.c", DocumentKind::Tests),
            ("lib/route.test.js", DocumentKind::Tests),
            (
                "gson/src/test/java/com/JsonReader.java",
                DocumentKind::Tests,
            ),
            ("a/JsonReaderTest.java", DocumentKind::Tests),
            ("conftest.py", DocumentKind::Tests),
            ("pytest/src/_pytest/latest.py", DocumentKind::Ordinary),
            ("src/attest.rs", DocumentKind::Ordinary),
            ("CHANGELOG.md", DocumentKind::Changelog),
            ("docs/news.rst", DocumentKind::Changelog),
            ("docs/Guides/Migration-Guide-V5.md", DocumentKind::Changelog),
            ("Cargo.lock", DocumentKind::Generated),
            ("web/package-lock.json", DocumentKind::Generated),
            ("go/vendor/a/b.go", DocumentKind::Generated),
            ("api/v1/a.pb.go", DocumentKind::Generated),
            ("demo/rest/server.c", DocumentKind::Examples),
            ("src/lib.rs", DocumentKind::Ordinary),
        ] {
            assert_eq!(DocumentKind::of(path, Class::Doc), kind, "{path}");
        }
        let code = DocumentKind::of("src/history.rs", Class::Code);
        assert_eq!(code, DocumentKind::Ordinary);
    }

    #[test]
    fn words_ask_for_a_kind() {
        let tests = WantedKinds::of_terms(["dupe", "filter", "test"].into_iter());
        assert_eq!(tests.loss(DocumentKind::Tests), 0.0);
        assert!(tests.loss(DocumentKind::Changelog) > 0.0);
        let none = WantedKinds::of_terms(["crawlerprocess"].into_iter());
        assert_eq!(none.loss(DocumentKind::Ordinary), 0.0);
        assert!(none.loss(DocumentKind::Tests) > 0.0);
    }
}
