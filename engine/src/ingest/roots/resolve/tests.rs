use std::collections::BTreeSet;
use std::fs;

use super::*;
use crate::ingest::changes::coverage::Coverage;
use crate::ingest::roots::agreement::Sample;

struct Tree(tempfile::TempDir);

impl Tree {
    fn new(files: &[&str]) -> Tree {
        let folder = tempfile::tempdir().unwrap();
        for name in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        Tree(folder)
    }

    fn at(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.0.path()).unwrap().join(name)
    }

    fn resolve(&self, names: &[&str], known: &Resolved, allow_missing: bool) -> Result<Resolved> {
        let options = ResolveOptions {
            allow_missing,
            ..ResolveOptions::default()
        };
        self.resolve_as(names, known, options, &[])
    }

    /// `samples`: root, path and content of documents.
    fn resolve_as(
        &self,
        names: &[&str],
        known: &Resolved,
        options: ResolveOptions<'_>,
        samples: &[(u32, &str, &str)],
    ) -> Result<Resolved> {
        let paths: Vec<_> = names.iter().map(|name| self.at(name)).collect();
        let is_path_prefix = |part: &str| Ok(part == "uploads");
        let holds: &IsPathPrefix<'_> = &is_path_prefix;
        let holds = (!known.records.is_empty()).then_some(holds);
        let stored = StoredRoots {
            roots: &known.records,
            next_root: known.next_root.max(1),
            is_path_prefix: holds,
        };
        let mut samples_of = |root: &RootRecord| {
            let samples = samples.iter().filter(|(of, _, _)| *of == root.id);
            let samples = samples.map(|(_, path, content)| Sample {
                relative: (*path).to_owned(),
                size_bytes: content.len() as u64,
                hash: *blake3::hash(content.as_bytes()).as_bytes(),
            });
            Ok(samples.collect())
        };
        resolve(
            &paths,
            stored,
            options,
            &mut samples_of,
            &Reporter::silent(),
        )
    }
}

fn prefixes(resolved: &Resolved) -> Vec<(u32, &str)> {
    let records = resolved.records.iter();
    records
        .map(|root| (root.id, root.prefix.as_str()))
        .collect()
}

#[test]
fn only_the_first_root_has_no_prefix() {
    let tree = Tree::new(&["a/x", "b/a/y", "uploads/z"]);
    let first = tree.resolve(&["a"], &Resolved::default(), false).unwrap();
    assert_eq!(prefixes(&first), [(1, "")]);
    let second = tree.resolve(&["b/a", "uploads"], &first, false).unwrap();
    assert_eq!(
        prefixes(&second),
        [(1, ""), (2, "a"), (3, "uploads-2")],
        "first parts that documents use are taken"
    );
    assert_eq!(second.roots.len(), 2, "the first root is left alone");
    let both = tree.resolve(&["a", "b/a"], &Resolved::default(), false);
    assert_eq!(prefixes(&both.unwrap()), [(1, "a"), (2, "a-2")]);
}

#[test]
fn a_path_inside_a_root_is_a_part_of_it() {
    let tree = Tree::new(&["a/docs/x.md", "a/docs/sub/y.md", "a/z.md"]);
    let known = tree.resolve(&["a"], &Resolved::default(), false).unwrap();
    let part = tree
        .resolve(&["a/docs/sub", "a/z.md"], &known, false)
        .unwrap();
    assert_eq!(prefixes(&part), [(1, "")]);
    let coverage = Coverage::new(&part.roots);
    for (path, covered) in [
        ("docs/sub/y.md", true),
        ("z.md", true),
        ("docs/x.md", false),
        ("docs/subway", false),
    ] {
        assert_eq!(coverage.covers(Some(1), path), covered, "{path}");
    }
    let all = tree
        .resolve(&["a/docs", "a", "a/z.md"], &known, false)
        .unwrap();
    assert_eq!(all.roots[0].scope, Scope::Whole);
}

#[test]
fn a_named_file_joins_the_root_of_its_folder() {
    let tree = Tree::new(&["x/.hidden", "x/other", "x/third"]);
    let one = tree
        .resolve(&["x/.hidden"], &Resolved::default(), false)
        .unwrap();
    assert_eq!(one.records[0].files, [".hidden"]);
    let two = tree.resolve(&["x/third"], &one, false).unwrap();
    assert_eq!(two.records[0].files, [".hidden", "third"]);
    let coverage = Coverage::new(&two.roots);
    assert!(coverage.covers(Some(1), "third") && !coverage.covers(Some(1), ".hidden"));
    let whole = tree.resolve(&["x"], &two, false).unwrap();
    assert!(whole.records[0].files.is_empty());
    assert_eq!(whole.records[0].id, 1);
}

#[test]
fn what_lies_in_another_root_is_foreign_to_the_one_around_it() {
    let tree = Tree::new(&["two/docs/a", "two/b", "one.md"]);
    let given = ["two/docs", "one.md", ""];
    let resolved = tree.resolve(&given, &Resolved::default(), false).unwrap();
    assert_eq!(resolved.roots.len(), 2, "the last folder takes its file");
    let around = &resolved.roots[1];
    assert_eq!(around.foreign, BTreeSet::from([tree.at("two/docs")]));
    // Also when the outer one was there first, with some files only.
    let files = tree
        .resolve(&["two/b"], &Resolved::default(), false)
        .unwrap();
    let inner = tree.resolve(&["two/docs"], &files, false).unwrap();
    let whole = tree.resolve(&["two"], &inner, false).unwrap();
    assert_eq!(whole.roots[0].id, 1);
    assert_eq!(
        whole.roots[0].foreign,
        BTreeSet::from([tree.at("two/docs")])
    );
}

#[test]
fn a_missing_path_must_be_known_to_the_file() {
    let tree = Tree::new(&["a/x", "a/sub/y", "f/one"]);
    let known = tree
        .resolve(&["a", "f/one"], &Resolved::default(), false)
        .unwrap();
    for name in ["a", "f"] {
        fs::remove_dir_all(tree.at(name)).unwrap();
    }
    for name in ["a", "a/sub", "f/one", "f"] {
        let refused = tree.resolve(&[name], &known, false).unwrap_err();
        assert_eq!(refused.code(), "PATH_NOT_FOUND", "{name}");
        assert_eq!(tree.resolve(&[name], &known, true).unwrap().roots.len(), 1);
    }
    let unknown = tree.resolve(&["elsewhere"], &known, true).unwrap_err();
    assert!(matches!(unknown, Error::PathNotFound { path } if path == tree.at("elsewhere")));
}

/// Roots of a sealed file: number, name of the folder, prefix.
fn sealed(roots: &[(u32, &str, &str)]) -> Resolved {
    let records = roots.iter().map(|(id, source, prefix)| RootRecord {
        id: *id,
        source: (*source).to_owned(),
        prefix: (*prefix).to_owned(),
        ..RootRecord::default()
    });
    Resolved {
        records: records.collect(),
        next_root: 9,
        ..Resolved::default()
    }
}

#[test]
fn a_sealed_file_knows_a_folder_by_its_name_and_its_content() {
    let tree = Tree::new(&["a/x", "a/y", "other/a/x", "other/a/z"]);
    let known = sealed(&[(1, "a", "")]);
    let samples = [(1, "x", ""), (1, "y", "")];
    let asked = ResolveOptions::default();
    let again = tree.resolve_as(&["a"], &known, asked, &samples).unwrap();
    assert_eq!((prefixes(&again), again.similar.len()), (vec![(1, "")], 0));
    assert_eq!(Path::new(&again.records[0].source), tree.at("a"));
    // Half of it is not enough.
    let other = tree.resolve_as(&["other/a"], &known, asked, &samples);
    let other = other.unwrap();
    assert_eq!(prefixes(&other), [(1, ""), (9, "a")]);
    assert_eq!(other.records[0].source, "a");
    let [similar] = other.similar.as_slice() else {
        panic!("{:?}", other.similar)
    };
    assert_eq!((similar.same, similar.compared), (1, 2));
    assert_eq!((similar.root.as_str(), similar.prefix.as_str()), ("a", "a"));
    assert_eq!(similar.folder, tree.at("other/a"));
    // A file of it given by name is no better known.
    let file = tree.resolve_as(&["other/a/z"], &known, asked, &samples);
    let file = file.unwrap();
    assert_eq!((file.records.len(), file.similar.len()), (2, 1));
    // Nothing can be lost of a root without documents.
    let empty = tree.resolve_as(&["other/a"], &known, asked, &[]).unwrap();
    assert_eq!(prefixes(&empty), [(1, "")]);
}

#[test]
fn the_better_agreement_decides_between_roots_of_one_name() {
    let tree = Tree::new(&["a/x", "a/y", "a/z"]);
    let known = sealed(&[(1, "a", "a"), (2, "a", "a-2")]);
    let asked = ResolveOptions::default();
    let all = [(1, "x", ""), (1, "y", ""), (1, "z", "")];
    let most = [(2, "x", ""), (2, "y", ""), (2, "gone", "")];
    let both = [all, most].concat();
    let found = tree.resolve_as(&["a"], &known, asked, &both).unwrap();
    assert_eq!(found.roots[0].id, 1);
    let same = [(2, "x", ""), (2, "y", ""), (2, "z", "")];
    let both = [all, same].concat();
    let found = tree.resolve_as(&["a"], &known, asked, &both).unwrap();
    assert_eq!(found.roots[0].id, 9);
    let names: Vec<&str> = found.similar.iter().map(|s| s.root.as_str()).collect();
    assert_eq!(names, ["a/", "a-2/"]);
}

#[test]
fn a_sealed_root_inside_an_asked_one_is_found_by_its_content() {
    let tree = Tree::new(&["a/o", "a/sub/b/x", "a/sub/b/y", "a/b/x", "a/b/z"]);
    let known = sealed(&[(1, "b", "")]);
    let samples = [(1, "x", ""), (1, "y", "")];
    let place = |paths: &[&str], known: &Resolved, samples: &[(u32, &str, &str)]| {
        let found = tree.resolve_as(paths, known, ResolveOptions::default(), samples);
        let found = found.unwrap();
        let records = found.records.iter();
        let sources: Vec<String> = records.map(|root| root.source.clone()).collect();
        (sources, found.roots[0].foreign.clone())
    };
    let shown = |name: &str| tree.at(name).display().to_string();
    // Of two folders of that name the one with its content; `a` itself is new.
    let (sources, foreign) = place(&["a"], &known, &samples);
    assert_eq!(sources, [shown("a/sub/b"), shown("a")]);
    assert_eq!(foreign, BTreeSet::from([tree.at("a/sub/b")]));
    // Only what is asked is looked through.
    let outer = Resolved {
        records: [
            known.records.clone(),
            vec![RootRecord {
                id: 2,
                source: shown("a"),
                prefix: "a".to_owned(),
                ..RootRecord::default()
            }],
        ]
        .concat(),
        ..known.clone()
    };
    assert_eq!(place(&["a/o"], &outer, &samples).0[0], "b");
    assert_eq!(place(&["a/sub"], &outer, &samples).0[0], shown("a/sub/b"));
    // Without a document nothing proves it, and the files would be lost to the outer root.
    let (sources, foreign) = place(&["a"], &outer, &[]);
    assert_eq!((sources[0].as_str(), foreign.len()), ("b", 0));
    // The root with the best claim has it; of two equal ones none.
    let two = sealed(&[(1, "b", ""), (3, "b", "b-2")]);
    let worse = [(3, "x", ""), (3, "y", ""), (3, "gone", "")];
    let (sources, _) = place(&["a"], &two, &[samples.as_slice(), &worse].concat());
    assert_eq!(sources[..2], [shown("a/sub/b"), "b".to_owned()]);
    let equal = [(3, "x", ""), (3, "y", "")];
    let (sources, _) = place(&["a"], &two, &[samples.as_slice(), &equal].concat());
    assert_eq!(sources[..2], ["b".to_owned(), "b".to_owned()]);
}

#[test]
fn a_folder_is_the_root_that_the_user_says() {
    let tree = Tree::new(&["new/a/x", "b/y"]);
    let mut known = sealed(&[(1, "a", ""), (2, "a", "a")]);
    known.records[1].source = tree.at("new/a").display().to_string();
    let ask = |path: &str, root: &str, gone: bool| {
        let root = Some(root);
        let options = ResolveOptions {
            allow_missing: gone,
            root,
            ..ResolveOptions::default()
        };
        tree.resolve_as(&[path], &known, options, &[])
    };
    let at = |resolved: &Resolved, place: &str| {
        let mut records = resolved.records.iter();
        let place = tree.at(place).display().to_string();
        records.find(|r| r.source == place).map(|root| root.id)
    };
    // The name is that of both; the folder is the second already, which goes then.
    let moved = ask("new/a", "a", false).unwrap();
    assert_eq!(prefixes(&moved), [(1, "")]);
    assert_eq!(at(&moved, "new/a"), Some(1));
    let scopes: Vec<&Scope> = moved.roots.iter().map(|root| &root.scope).collect();
    assert_eq!(scopes, [&Scope::Whole, &Scope::Superseded]);
    for (path, root, id) in [
        ("b", ".", 1),
        ("b", "a/", 2),
        ("new/a", "a/", 2),
        ("new/a", ".", 1),
    ] {
        let found = ask(path, root, false).unwrap();
        assert_eq!(at(&found, path), Some(id), "{path} {root}");
    }
    assert_eq!(at(&ask("gone", ".", true).unwrap(), "gone"), Some(1));
    for (path, root, told) in [
        ("b", "a", "names several roots"),
        ("b", "b", "has no root \"b\"; its roots: a (root .), "),
        ("b", "", "has no root"),
        ("b/y", ".", "is a file"),
        ("gone", ".", "does not exist"),
    ] {
        let refused = ask(path, root, false).unwrap_err().to_string();
        assert!(refused.contains(told), "{refused}");
    }
    let two = ResolveOptions {
        root: Some("."),
        ..ResolveOptions::default()
    };
    let two = tree.resolve_as(&["b", "new"], &known, two, &[]);
    assert!(two.unwrap_err().to_string().contains("one path"));
}

#[test]
fn a_run_over_nothing_is_refused() {
    let nothing = StoredRoots {
        roots: &[],
        next_root: 1,
        is_path_prefix: None,
    };
    let error = resolve(
        &[],
        nothing,
        ResolveOptions::default(),
        &mut |_| Ok(Vec::new()),
        &Reporter::silent(),
    );
    assert_eq!(error.unwrap_err().code(), "INVALID_ARGUMENT");
}
