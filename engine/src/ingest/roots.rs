//! Roots as the walk has them -> roots as the file keeps them.

use std::path::Path;

use crate::error::{Error, Result};
use crate::ingest::git;
use crate::ingest::walk::{self, Root, escaped};
use crate::store::meta::RootRecord;

/// The roots of paths that a person gave, for the walk and for the file, in the same order. The
/// roots of a file that already has some must be the same ones; they keep order and prefix.
///
/// # Errors
/// As [`walk::roots_of`]; [`Error::RootsDiffer`]; [`Error::InvalidArgument`] for no path.
pub fn resolve(
    paths: &[impl AsRef<Path>],
    known: &[RootRecord],
) -> Result<(Vec<Root>, Vec<RootRecord>)> {
    let paths: Vec<_> = paths
        .iter()
        .map(|path| path.as_ref().to_path_buf())
        .collect();
    let mut roots = walk::roots_of(&paths)?;
    if roots.is_empty() {
        let reason = "none given; name a folder or a file".to_owned();
        return Err(Error::InvalidArgument {
            argument: "path",
            reason,
        });
    }
    for root in &mut roots {
        root.only.sort();
    }
    if known.is_empty() {
        walk::assign_prefixes(&mut roots, None);
    } else {
        roots = in_known_order(roots, known)?;
    }
    let records = roots.iter().map(record).collect();
    Ok((roots, records))
}

fn in_known_order(mut roots: Vec<Root>, known: &[RootRecord]) -> Result<Vec<Root>> {
    let mut ordered = Vec::with_capacity(known.len());
    for old in known {
        let same = |root: &Root| place(root) == (old.source.clone(), old.files.clone());
        if let Some(position) = roots.iter().position(same) {
            let root = roots.swap_remove(position);
            ordered.push(Root {
                prefix: old.prefix.clone(),
                ..root
            });
        }
    }
    if ordered.len() != known.len() || !roots.is_empty() {
        let roots = known.iter().flat_map(shown).collect();
        return Err(Error::RootsDiffer { roots });
    }
    Ok(ordered)
}

/// The paths that a person would give for a root.
fn shown(root: &RootRecord) -> Vec<String> {
    match root.files.as_slice() {
        [] => vec![root.source.clone()],
        files => files
            .iter()
            .map(|file| format!("{}/{file}", root.source))
            .collect(),
    }
}

fn place(root: &Root) -> (String, Vec<String>) {
    let files = root
        .only
        .iter()
        .map(|name| escaped(name.as_os_str()))
        .collect();
    (escaped(root.folder.as_os_str()), files)
}

fn record(root: &Root) -> RootRecord {
    let (source, files) = place(root);
    let git = git::git_state(&root.folder).unwrap_or_default();
    RootRecord {
        source,
        prefix: root.prefix.clone(),
        files,
        git_commit: git.commit,
        git_branch: git.branch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_roots_keep_order_and_prefix_and_others_are_refused_by_name() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let folder = temporary.path().join(name);
            std::fs::create_dir_all(&folder).unwrap();
            folder
        };
        let (a, b, c) = (folder("a"), folder("x/a"), folder("c"));
        let (_, known) = resolve(&[&a, &b], &[]).unwrap();
        let prefixes: Vec<_> = known.iter().map(|root| root.prefix.as_str()).collect();
        assert_eq!(prefixes, ["a", "a-2"]);
        let (roots, again) = resolve(&[&b, &a], &known).unwrap();
        assert_eq!(again, known);
        assert_eq!(roots[1].prefix, "a-2");
        for other in [vec![&a], vec![&a, &c], vec![&a, &b, &c]] {
            let error = resolve(&other, &known).unwrap_err();
            assert_eq!(error.code(), "ROOTS_DIFFER");
            assert!(error.to_string().contains(&known[0].source), "{error}");
        }
        let nothing: [&Path; 0] = [];
        assert_eq!(
            resolve(&nothing, &[]).unwrap_err().code(),
            "INVALID_ARGUMENT"
        );
    }
}
