//! Which documents of the other files come, and under which paths. All files are compared before any is copied: a document
//! that a later file replaces is not copied at all.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use kb_extract::tags;
use kb_types::DocumentId;
use kb_types::error::{Error, Result};

use crate::container::{Key, Transaction};
use crate::ingest::run::join::options::{MergeOptions, MergeReport, OnConflict};
use crate::ingest::run::join::source::Source;
use crate::progress::Reporter;
use crate::resolve::PathFilter;
use crate::store::documents::{self, DocumentRecord};
use crate::store::tables;

/// Most paths that an error names.
const NAMED_PATHS: usize = 5;

/// Documents that come under paths in the order of their paths in the other file.
pub(super) struct Group {
    /// What is put before the paths of the other file.
    pub(super) prefix: String,
    pub(super) documents: Vec<Taken>,
}

/// A document that comes.
pub(super) struct Taken {
    /// Its number in the other file.
    pub(super) source: DocumentId,
    /// The document of this file that it takes the place of.
    pub(super) replaces: Option<DocumentId>,
}

/// What comes of all files.
pub(super) struct Plan<'o> {
    options: &'o MergeOptions,
    /// Documents that came so far, by their new paths.
    new: BTreeMap<String, New>,
    /// Folders that documents of taken paths are put below.
    folders: BTreeSet<String>,
    clashes: Vec<String>,
    clash_count: u64,
    pub(super) report: MergeReport,
}

/// A document that comes.
struct New {
    file: usize,
    group: usize,
    id: DocumentId,
    replaces: Option<DocumentId>,
    modified_ms: i64,
    facts: [u8; 32],
}

/// A document of the path of one that would come.
struct Known {
    modified_ms: i64,
    facts: [u8; 32],
    /// Its number, if it is in this file.
    id: Option<DocumentId>,
}

impl<'o> Plan<'o> {
    pub(super) fn new(options: &'o MergeOptions) -> Plan<'o> {
        Plan {
            options,
            new: BTreeMap::new(),
            folders: BTreeSet::new(),
            clashes: Vec::new(),
            clash_count: 0,
            report: MergeReport::default(),
        }
    }

    /// Compares the documents of a file with those that are there, and with those of the files before. Nothing may have
    /// been copied.
    pub(super) fn add(
        &mut self,
        transaction: &mut Transaction<'_>,
        (number, source): (usize, Source<'_>),
        reporter: &Reporter<'_>,
    ) -> Result<Vec<String>> {
        let Source {
            snapshot, catalog, ..
        } = source;
        let prefix = source.folder.map(|folder| format!("{folder}/"));
        let prefix = prefix.unwrap_or_default();
        let filter = PathFilter::new(snapshot, catalog, &self.options.only)?;
        let mut kept = filter.kept.as_ref().map(|globs| globs.matcher());
        let mut excluded = filter.excluded.as_ref().map(|globs| globs.matcher());
        let mut beside = Vec::new();
        catalog.documents.each_path(snapshot, "", |path, id| {
            reporter.tick()?;
            let passes = source.picked.has(path)
                && kept.as_mut().is_none_or(|globs| globs.is_match(path))
                && !excluded.as_mut().is_some_and(|globs| globs.is_match(path));
            if passes {
                let record = catalog.documents.get(snapshot, id)?;
                let path = format!("{prefix}{path}");
                if self.take(transaction, (number, id), path, &record)? {
                    beside.push((id, record));
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let mut prefixes = vec![prefix];
        if !beside.is_empty() {
            let folder = self.free_folder(transaction, source)?;
            for (id, record) in beside {
                let new = self.new_of((number, 1, id), &record)?;
                self.new.insert(format!("{folder}/{}", record.path), new);
                self.report.added += 1;
            }
            prefixes.push(format!("{folder}/"));
            self.report.renamed_below.push(folder.clone());
            self.folders.insert(folder);
        }
        Ok(prefixes)
    }

    /// Decides about one document; true: it is to be put beside the one of its path.
    fn take(
        &mut self,
        transaction: &mut Transaction<'_>,
        (file, id): (usize, DocumentId),
        path: String,
        record: &DocumentRecord,
    ) -> Result<bool> {
        let mut new = self.new_of((file, 0, id), record)?;
        let Some(known) = self.known_at(transaction, &path)? else {
            self.report.added += 1;
            self.new.insert(path, new);
            return Ok(false);
        };
        if known.facts == new.facts {
            self.report.identical += 1;
            return Ok(false);
        }
        let is_newer = new.modified_ms > known.modified_ms;
        match self.options.on_conflict {
            OnConflict::Refuse => {
                self.clash_count += 1;
                if self.clashes.len() < NAMED_PATHS {
                    self.clashes.push(path);
                }
            }
            OnConflict::Both => return Ok(true),
            OnConflict::KeepNewest if !is_newer => self.report.left_out += 1,
            OnConflict::KeepFirst => self.report.left_out += 1,
            OnConflict::KeepLast | OnConflict::KeepNewest => {
                new.replaces = known.id;
                self.report.replaced += 1;
                if let Some(before) = self.new.insert(path, new) {
                    // One that came with a file before is not copied: it was neither added nor replaced.
                    match before.replaces {
                        Some(_) => self.report.replaced -= 1,
                        None => self.report.added -= 1,
                    }
                }
            }
        }
        Ok(false)
    }

    fn new_of(
        &self,
        (file, group, id): (usize, usize, DocumentId),
        record: &DocumentRecord,
    ) -> Result<New> {
        Ok(New {
            file,
            group,
            id,
            replaces: None,
            modified_ms: record.modified_ms,
            facts: facts_of(record, &self.options.tags)?,
        })
    }

    /// The document of that path so far.
    fn known_at(&self, transaction: &mut Transaction<'_>, path: &str) -> Result<Option<Known>> {
        if let Some(new) = self.new.get(path) {
            return Ok(Some(Known {
                modified_ms: new.modified_ms,
                facts: new.facts,
                id: new.replaces,
            }));
        }
        let Some(row) = transaction.get(tables::DOC_BY_PATH, Key::Str(path))? else {
            return Ok(None);
        };
        let id = documents::document_id(&row)?;
        let record = documents::get_uncommitted(transaction, id)?;
        Ok(Some(Known {
            modified_ms: record.modified_ms,
            facts: facts_of(&record, &[])?,
            id: Some(id),
        }))
    }

    /// A folder named after the other file, in which no file has documents.
    fn free_folder(&self, transaction: &mut Transaction<'_>, source: Source<'_>) -> Result<String> {
        let stem = source.path.file_stem().unwrap_or_default();
        let stem = stem.to_string_lossy().replace(char::is_control, "_");
        for number in 1u32.. {
            let name = match number {
                1 => stem.clone(),
                number => format!("{stem}-{number}"),
            };
            let folder = format!("{name}/");
            let next = self.new.range(folder.clone()..).next();
            let is_new = next.is_some_and(|(path, _)| path.starts_with(&folder));
            let is_taken = self.folders.contains(&name) || source.folder == Some(&*name);
            if !is_new && !is_taken && !transaction.has_keys_below(tables::DOC_BY_PATH, &folder)? {
                return Ok(name);
            }
        }
        Err(Error::TooMany {
            what: "folders of one name",
            count: u64::from(u32::MAX),
            limit: u64::from(u32::MAX),
        })
    }

    /// The documents of each file, by its number, in the groups of its prefixes.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for documents of one path, if that was to be refused, and if there are none.
    pub(super) fn groups(
        self,
        prefixes: Vec<Vec<String>>,
    ) -> Result<(Vec<Vec<Group>>, MergeReport)> {
        if self.clash_count > 0 {
            let more = match self.clash_count > self.clashes.len() as u64 {
                true => ", ...",
                false => "",
            };
            let (count, paths) = (self.clash_count, self.clashes.join(", "));
            let choices = choices();
            return Err(Error::InvalidArgument {
                argument: "on_conflict",
                reason: format!(
                    "paths that are there already, with other content: {count} ({paths}{more}); choose {choices}"
                ),
            });
        }
        if self.report.taken() == 0 && !self.options.only.is_empty() {
            return Err(Error::InvalidArgument {
                argument: "only",
                reason: "it matches no document of these files".to_owned(),
            });
        }
        let of_file = |prefixes: Vec<String>| {
            let groups = prefixes.into_iter().map(|prefix| Group {
                prefix,
                documents: Vec::new(),
            });
            groups.collect()
        };
        let mut files: Vec<Vec<Group>> = prefixes.into_iter().map(of_file).collect();
        // By ascending new paths, which those of one group have in the order of their old ones.
        for new in self.new.into_values() {
            let groups = files.get_mut(new.file);
            if let Some(group) = groups.and_then(|groups| groups.get_mut(new.group)) {
                group.documents.push(Taken {
                    source: new.id,
                    replaces: new.replaces,
                });
            }
        }
        Ok((files, self.report))
    }
}

/// The other ways to treat documents of one path.
fn choices() -> String {
    let others = OnConflict::ALL.into_iter().skip(1);
    let names: Vec<&str> = others.map(OnConflict::name).collect();
    names.join(", ")
}

/// A hash of what a document is, with these tags: where two are equal, one is enough.
fn facts_of(record: &DocumentRecord, tags: &[String]) -> Result<[u8; 32]> {
    let mut hasher = blake3::Hasher::new();
    // Each with its length: no two lists of strings are the same bytes.
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(&record.hash);
    part(&record.text_hash);
    part(record.title.as_bytes());
    part(record.file_type.as_bytes());
    part(&(record.metadata.len() as u64).to_le_bytes());
    for (key, value) in &record.metadata {
        part(key.as_bytes());
        part(value.as_bytes());
    }
    for tag in tags::changed(&record.tags, tags, &[])? {
        part(tag.as_bytes());
    }
    Ok(*hasher.finalize().as_bytes())
}
