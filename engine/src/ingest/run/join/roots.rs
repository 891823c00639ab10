//! Which folders of the other file are followed in this one: their numbers here, and what index runs are to do with them.

use std::collections::BTreeMap;

use kb_types::error::{Error, Result};

use crate::store::meta::selection::RootSelection;
use crate::store::meta::{Manifest, Meta, RootRecord, Settings};

/// Numbers of roots of the other file to numbers here. Documents of others become documents without a folder.
pub(super) struct JoinedRoots {
    numbers: BTreeMap<u32, u32>,
    /// Folders that are not followed.
    pub(super) left: Vec<String>,
}

impl JoinedRoots {
    /// Gives each root of the other file a number here. One of the same folder and prefix is the same root; one whose
    /// prefix another root has is left, because index runs could not tell whose a document is.
    pub(super) fn new(
        source: &[RootRecord],
        folder: Option<&str>,
        meta: &mut Meta,
        manifest: &mut Manifest,
    ) -> Result<JoinedRoots> {
        let mut joined = JoinedRoots::none();
        for root in source {
            let prefix = match (folder, root.prefix.as_str()) {
                (None, prefix) => Some(prefix),
                (Some(folder), "") if !folder.contains('/') => Some(folder),
                // The prefix of a root is one part of a path.
                (Some(_), _) => None,
            };
            let same = |known: &&RootRecord| {
                known.source == root.source && Some(known.prefix.as_str()) == prefix
            };
            if let Some(known) = meta.roots.iter().find(same) {
                joined.numbers.insert(root.id, known.id);
                continue;
            }
            let is_taken = |prefix: &str| meta.roots.iter().any(|known| known.prefix == prefix);
            let Some(prefix) = prefix.filter(|prefix| !is_taken(prefix)) else {
                joined.left.push(root.source.clone());
                continue;
            };
            let id = manifest.next_root;
            manifest.next_root = id.checked_add(1).ok_or(Error::TooMany {
                what: "folders that were ever indexed",
                count: u64::from(id),
                limit: u64::from(u32::MAX),
            })?;
            joined.numbers.insert(root.id, id);
            meta.roots.push(RootRecord {
                id,
                prefix: prefix.to_owned(),
                ..root.clone()
            });
        }
        Ok(joined)
    }

    /// No folder of the other file is followed.
    pub(super) fn none() -> JoinedRoots {
        JoinedRoots {
            numbers: BTreeMap::new(),
            left: Vec::new(),
        }
    }

    /// The number that a root of the other file has here; `None` where it is not followed.
    pub(super) fn number(&self, root: u32) -> Option<u32> {
        self.numbers.get(&root).copied()
    }

    /// Takes over what index runs of these roots are to do; what this file says of a root stays. Whether keys and
    /// credentials are kept is not taken over: a file of others must not make later runs read those of this machine.
    pub(super) fn join_settings(&self, source: &Settings, target: &mut Settings) {
        for searched in &source.searched {
            let Some(root) = self.number(searched.root) else {
                continue;
            };
            if !target.searched.iter().any(|known| known.root == root) {
                target.searched.push(searched.of_root(root));
            }
        }
        for selection in &source.selections {
            let Some(root) = self.number(selection.root) else {
                continue;
            };
            if !target.selections.iter().any(|known| known.root == root) {
                target.selections.push(RootSelection {
                    root,
                    ..selection.clone()
                });
            }
        }
    }
}
