//! Paths below a root as a tree of names, so that a walk asks at each folder only for what is below it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Some paths, seen from a folder above them.
#[derive(Debug, Clone, Default)]
pub(super) struct Selection {
    /// Whether a path ends here.
    is_end: bool,
    below: BTreeMap<OsString, Arc<Selection>>,
}

impl Selection {
    /// Of paths relative to one folder.
    pub(super) fn new<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Arc<Selection> {
        let mut top = Arc::new(Selection::default());
        for path in paths {
            let mut node = Arc::make_mut(&mut top);
            for name in path {
                let below = node.below.entry(name.to_owned()).or_default();
                node = Arc::make_mut(below);
            }
            node.is_end = true;
        }
        top
    }

    /// Of absolute paths, those below `folder`.
    pub(super) fn below<'p>(
        folder: &Path,
        paths: impl IntoIterator<Item = &'p PathBuf>,
    ) -> Option<Arc<Selection>> {
        let relative = paths.into_iter().filter_map(|path| {
            let relative = path.strip_prefix(folder).ok()?;
            Some(relative.to_owned())
        });
        let relative: Vec<PathBuf> = relative.collect();
        (!relative.is_empty()).then(|| Selection::new(&relative))
    }

    /// Whether a path ends here.
    pub(super) fn is_end(&self) -> bool {
        self.is_end
    }

    /// What goes on through `name`.
    pub(super) fn get(&self, name: &OsStr) -> Option<&Arc<Selection>> {
        self.below.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_the_ends_of_paths() {
        let paths = ["a/b", "a/b/c", "d"].map(PathBuf::from);
        let top = Selection::new(&paths);
        let at = |path: &str| {
            let mut node = Arc::clone(&top);
            for name in Path::new(path) {
                node = Arc::clone(node.get(name)?);
            }
            Some(node.is_end())
        };
        assert_eq!(at("a"), Some(false));
        assert_eq!(at("a/b"), Some(true));
        assert_eq!(at("a/b/c"), Some(true));
        assert_eq!(at("d"), Some(true));
        assert_eq!(at("b"), None);
        let absolute = ["/x/y/z", "/other"].map(PathBuf::from);
        let below = Selection::below(Path::new("/x"), &absolute).unwrap();
        assert!(below.get(OsStr::new("y")).is_some());
        assert!(Selection::below(Path::new("/none"), &absolute).is_none());
    }
}
