use super::*;

fn sources(files: &[(&str, &str)]) -> Vec<SourceFile> {
    let file = |(path, text): &(&str, &str)| SourceFile {
        path: format!("a/src/{path}"),
        text: (*text).to_owned(),
    };
    files.iter().map(file).collect()
}

fn cycles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let graph = ModuleGraph::new("a/src", &sources(files));
    graph
        .cycles()
        .into_iter()
        .map(|cycle| cycle.files)
        .collect()
}

#[test]
fn files_that_import_each_other_are_a_cycle() {
    let found = cycles(&[
        ("lib.rs", "mod x; mod y; mod z;"),
        ("x.rs", "use crate::y::Y; pub struct X;"),
        ("y.rs", "use super::z; pub struct Y(z::Z);"),
        ("z.rs", "pub struct Z(crate::x::X);"),
    ]);
    assert_eq!(found, [["a/src/x.rs", "a/src/y.rs", "a/src/z.rs"]]);
}

#[test]
fn a_parent_that_only_re_exports_makes_no_cycle() {
    let found = cycles(&[
        (
            "x/mod.rs",
            "mod y; mod z; pub use y::Y; pub(crate) use z::*;",
        ),
        ("x/y.rs", "use super::Z; pub struct Y(Z); pub fn y() {}"),
        ("x/z.rs", "pub struct Z;"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_path_through_a_re_export_counts_for_the_definition() {
    let found = cycles(&[
        ("x/mod.rs", "mod y; mod z; pub use y::Y; pub use z::Z;"),
        ("x/y.rs", "use super::Z; pub struct Y(Z);"),
        (
            "x/z.rs",
            "use crate::x::{self}; pub struct Z; fn f() { x::Y; }",
        ),
    ]);
    assert_eq!(found, [["a/src/x/y.rs", "a/src/x/z.rs"]]);
}

#[test]
fn a_parent_with_code_of_its_own_is_in_a_cycle_with_its_user() {
    let found = cycles(&[
        ("x.rs", "mod y; use y::Y; pub fn f(_: Y) {}"),
        ("x/y.rs", "use super::f; pub struct Y;"),
    ]);
    assert_eq!(found, [["a/src/x.rs", "a/src/x/y.rs"]]);
}

fn folder_cycles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let files = sources(files);
    let graph = ModuleGraph::new("a/src", &files);
    assert!(graph.cycles().is_empty());
    let cycles = graph.folder_cycles("a/src").into_iter();
    cycles.map(|cycle| cycle.files).collect()
}

#[test]
fn folders_whose_files_import_each_other_are_a_cycle() {
    let found = folder_cycles(&[
        ("x/one.rs", "pub struct One;"),
        (
            "x/two.rs",
            "use crate::y::deep::three::Three; pub struct Two;",
        ),
        ("y/deep/three.rs", "use crate::z::Z; pub struct Three;"),
        ("z.rs", "use crate::x::one::One; pub struct Z;"),
    ]);
    assert_eq!(found[0], ["a/src/x", "a/src/y", "a/src/z.rs"]);
    // Files of `x` are no folders.
    assert_eq!(found.len(), 1);
}

#[test]
fn a_folder_and_a_file_beside_it_are_no_cycle_of_folders() {
    let found = folder_cycles(&[
        ("x/one.rs", "use crate::x::z::Z; pub struct One;"),
        ("x/y/two.rs", "use crate::x::one::One; pub struct Two;"),
        ("x/y/three.rs", "pub struct Three;"),
        ("x/z.rs", "use crate::x::y::three::Three; pub struct Z;"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn files_of_tests_are_those_below_their_module() {
    let files = sources(&[
        ("lib.rs", "mod x; #[cfg(test)] mod growth;"),
        ("growth/deep.rs", ""),
        ("growth/mod.rs", "mod deep;"),
        ("x/mod.rs", "#[cfg(test)] mod tests;"),
        ("x/tests.rs", ""),
    ]);
    let kept = without_test_files("a/src", files).into_iter();
    let kept: Vec<String> = kept.map(|file| file.path).collect();
    assert_eq!(kept, ["a/src/lib.rs", "a/src/x/mod.rs"]);
}

#[test]
fn tests_may_import_what_they_like() {
    let found = cycles(&[
        ("x.rs", "use crate::y::Y; pub struct X;"),
        (
            "y.rs",
            "pub struct Y; #[cfg(test)] mod tests { use crate::x::X; }",
        ),
        ("z.rs", "use crate::x::X; #[cfg(test)] mod tests;"),
        ("z/tests.rs", "use super::*;"),
        ("w.rs", "#[cfg(all(test, unix))] mod tests; pub struct W;"),
        ("w/tests.rs", "use crate::w::W; use crate::v::V;"),
        ("v.rs", "pub struct V(crate::w::tests::Case);"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}
