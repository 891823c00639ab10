//! The role that the path of a document names.

use super::kind::Role;
use crate::Class;

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

/// Starts of the names of changelogs.
const CHANGELOG_STARTS: [&str; 9] = [
    "changelog",
    "change-log",
    "change_log",
    "change-archive",
    "changes-",
    "changes_",
    "release-notes",
    "release_notes",
    "migration-guide",
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

/// Folders of programs that were taken over from elsewhere.
const VENDOR_FOLDERS: [&str; 7] = [
    "vendor",
    "vendored",
    "third_party",
    "third-party",
    "thirdparty",
    "node_modules",
    "bower_components",
];

const GENERATED_FOLDERS: [&str; 3] = ["generated", "__generated__", "dist"];

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

/// Folders of documentation, at the top.
const DOC_FOLDERS: [&str; 2] = ["docs/", "documentation/"];

/// Ends of the names of declarations.
const DECLARATION_ENDS: [&str; 4] = [".d.ts", ".d.mts", ".d.cts", ".pyi"];

impl Role {
    /// The role of all chunks of the document of a path; `None` for an ordinary one.
    pub fn of_path(path: &str, class: Class) -> Option<Role> {
        role_of(path, class)
    }
}

/// Whether a path has a folder for what was taken over from elsewhere: `vendor/`, `node_modules/`.
pub fn is_vendored(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    let mut folders = folders.split('/');
    folders.any(|folder| {
        VENDOR_FOLDERS
            .iter()
            .any(|of| of.eq_ignore_ascii_case(folder))
    })
}

fn role_of(path: &str, class: Class) -> Option<Role> {
    let lower = path.to_lowercase();
    let (folders, file) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let in_folder = |names: &[&str]| folders.split('/').any(|folder| names.contains(&folder));
    let written = path.rsplit('/').next().unwrap_or(path);
    let stem = file.split_once('.').map_or(file, |(stem, _)| stem);
    if in_folder(&VENDOR_FOLDERS)
        || in_folder(&GENERATED_FOLDERS)
        || GENERATED_ENDS.iter().any(|end| file.ends_with(end))
        || LOCK_FILES.contains(&file)
    {
        return Some(Role::Generated);
    }
    // A source file may be called history.rs.
    if class != Class::Code
        && (in_folder(&CHANGELOG_FOLDERS)
            || CHANGELOGS.contains(&stem)
            || CHANGELOG_STARTS.iter().any(|start| stem.starts_with(start)))
    {
        return Some(Role::Changelog);
    }
    if in_folder(&TEST_FOLDERS) || is_test_file(file, written) {
        return Some(Role::Test);
    }
    // Programs of the documentation are its examples.
    let is_of_docs = class == Class::Code && DOC_FOLDERS.iter().any(|docs| lower.starts_with(docs));
    if in_folder(&EXAMPLE_FOLDERS) || is_of_docs {
        return Some(Role::Example);
    }
    let is_declaration = DECLARATION_ENDS.iter().any(|end| file.ends_with(end));
    is_declaration.then_some(Role::Declaration)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_tell_the_role() {
        for (path, role) in [
            ("tests/CrawlerProcess/multi.py", Some(Role::Test)),
            ("src/core/url_test.c", Some(Role::Test)),
            ("lib/route.test.js", Some(Role::Test)),
            ("gson/src/test/java/com/JsonReader.java", Some(Role::Test)),
            ("a/JsonReaderTest.java", Some(Role::Test)),
            ("conftest.py", Some(Role::Test)),
            ("pytest/src/_pytest/latest.py", None),
            ("src/attest.rs", None),
            ("CHANGELOG.md", Some(Role::Changelog)),
            ("docs/news.rst", Some(Role::Changelog)),
            ("docs/Guides/Migration-Guide-V5.md", Some(Role::Changelog)),
            ("Cargo.lock", Some(Role::Generated)),
            ("web/package-lock.json", Some(Role::Generated)),
            ("go/vendor/a/b.go", Some(Role::Generated)),
            ("api/v1/a.pb.go", Some(Role::Generated)),
            ("demo/rest/server.c", Some(Role::Example)),
            ("change-archive.txt", Some(Role::Changelog)),
            ("docs/changing-a-password.md", None),
            ("src/lib.rs", None),
            ("types/index.d.ts", Some(Role::Declaration)),
            ("pkg/_core.pyi", Some(Role::Declaration)),
        ] {
            assert_eq!(role_of(path, Class::Doc), role, "{path}");
        }
        assert_eq!(role_of("src/history.rs", Class::Code), None);
        let of_code = |path| role_of(path, Class::Code);
        assert_eq!(of_code("docs/code/queue/main.c"), Some(Role::Example));
        assert_eq!(of_code("src/docs/page.tsx"), None);
    }
}
