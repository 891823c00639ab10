//! Documents of a root by which its folder is recognised after a seal.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use kb_types::DocumentId;
use kb_types::error::Result;

use crate::catalog::Catalog;
use crate::container::Snapshot;
use crate::ingest::roots::agreement::{SAMPLE_DOCUMENTS, Sample};
use crate::ingest::run::even_sample::{EvenSample, evenly_spaced};
use crate::store::documents::DocumentRecord;
use crate::store::meta::RootRecord;

/// Documents that are looked at to find [`SAMPLE_DOCUMENTS`] of one root.
const CANDIDATES: usize = 4 * SAMPLE_DOCUMENTS;

/// At most [`SAMPLE_DOCUMENTS`] documents of a root, spread evenly over all of them in the order of
/// paths. Only what tells folders apart: no empty file, and of several with one content the first.
/// Folders of no relation share their empty `__init__.py` and copies of one licence.
///
/// Cost: the paths of the root are visited once, and about a hundred records are read. Only of a root
/// whose documents lie thinly among those that have no root are all records read.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(crate) fn samples(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    root: &RootRecord,
) -> Result<Vec<Sample>> {
    let mut candidates = EvenSample::new(CANDIDATES);
    each_path_of(snapshot, catalog, root, |id| candidates.push(id))?;
    let is_complete = candidates.is_complete();
    let mut records = Vec::new();
    for id in candidates.into_items() {
        let record = catalog.documents.get(snapshot, id)?;
        if is_evidence(root, &record) {
            records.push(record);
        }
    }
    keep_first_of_each_content(&mut records);
    if records.len() < SAMPLE_DOCUMENTS && !is_complete {
        let mut all = EvenSample::new(CANDIDATES);
        catalog.documents.each(snapshot, |_, record| {
            if is_evidence(root, &record) {
                all.push(record);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        records = all.into_items();
        keep_first_of_each_content(&mut records);
    }
    Ok(evenly_spaced(records, SAMPLE_DOCUMENTS)
        .filter_map(|record| sample(root, record))
        .collect())
}

fn is_evidence(root: &RootRecord, record: &DocumentRecord) -> bool {
    record.root == Some(root.id) && record.size_bytes > 0
}

fn keep_first_of_each_content(records: &mut Vec<DocumentRecord>) {
    let mut seen = BTreeSet::new();
    records.retain(|record| seen.insert(record.hash));
}

fn sample(root: &RootRecord, record: DocumentRecord) -> Option<Sample> {
    let relative = match root.prefix.as_str() {
        "" => record.path,
        prefix => {
            let below = record.path.strip_prefix(prefix)?.strip_prefix('/')?;
            below.to_owned()
        }
    };
    Some(Sample {
        relative,
        size_bytes: record.size_bytes,
        hash: record.hash,
    })
}

/// Visits the documents that have the prefix of a root; of the root without a prefix those that have
/// the prefix of no other.
fn each_path_of(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    root: &RootRecord,
    mut visit: impl FnMut(DocumentId),
) -> Result<()> {
    let others: BTreeSet<&str> = catalog
        .meta
        .roots
        .iter()
        .map(|other| other.prefix.as_str())
        .filter(|prefix| !prefix.is_empty())
        .collect();
    let prefix = root.prefix.as_str();
    let from = match prefix {
        "" => String::new(),
        prefix => format!("{prefix}/"),
    };
    catalog.documents.each_path(snapshot, &from, |path, id| {
        if !path.starts_with(&from) {
            return Ok(ControlFlow::Break(()));
        }
        let first = path.split('/').next().unwrap_or(path);
        if !prefix.is_empty() || !others.contains(first) {
            visit(id);
        }
        Ok(ControlFlow::Continue(()))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::container::Container;
    use crate::ingest::options::IndexOptions;
    use crate::ingest::report::Report;
    use crate::kb::{Kb, KbWriter};

    /// Writes files, indexes a folder.
    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Place {
            Place(tempfile::tempdir().unwrap())
        }

        fn at(&self, name: &str) -> PathBuf {
            fs::canonicalize(self.0.path()).unwrap().join(name)
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.at(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn index(&self, paths: &[&str], root: Option<&str>) -> Result<Report> {
            let paths: Vec<PathBuf> = paths.iter().map(|path| self.at(path)).collect();
            let options = IndexOptions {
                root: root.map(str::to_owned),
                ..IndexOptions::default()
            };
            let mut writer = KbWriter::open_or_create(self.at("s.kb"))?;
            writer.index(&paths, &options, &mut crate::Progress::ignore)
        }

        fn seal(&self) {
            let mut writer = KbWriter::open_or_create(self.at("s.kb")).unwrap();
            writer
                .seal(
                    None,
                    &crate::SealOptions::new(),
                    &mut crate::Progress::ignore,
                )
                .unwrap();
        }

        fn documents(&self) -> Vec<String> {
            let kb = Kb::open(self.at("s.kb")).unwrap();
            let problems = kb
                .verify(
                    &crate::VerifyOptions::new().deep(true),
                    &mut crate::Progress::ignore,
                )
                .unwrap()
                .problems;
            assert_eq!(problems, [""; 0]);
            let mut paths = Vec::new();
            let read = Container::open(&self.at("s.kb")).unwrap().read(|snapshot| {
                paths.clear();
                let documents = Catalog::load(snapshot)?.documents;
                documents.each_path(snapshot, "", |path, _| {
                    paths.push(path.to_owned());
                    Ok(ControlFlow::Continue(()))
                })
            });
            read.unwrap();
            paths
        }
    }

    /// `p1/docs` with three documents, sealed.
    fn sealed_docs() -> Place {
        let place = Place::new();
        for name in ["README", "alpha", "beta"] {
            place.write(&format!("p1/docs/{name}.md"), name);
        }
        place.index(&["p1/docs"], None).unwrap();
        place.seal();
        place
    }

    /// Any one common path used to make two folders one, and the documents of the first were removed.
    #[test]
    fn another_folder_of_the_same_name_takes_no_document_away() {
        let place = sealed_docs();
        place.write("p2/docs/README.md", "another");
        place.write("p2/docs/gamma.md", "gamma");
        // As a document of the new root `docs` it has the path that it has in the old one.
        place.write("p2/docs/docs/gamma.md", "gamma");
        let report = place.index(&["p2/docs"], None).unwrap();
        assert_eq!(report.removed, [""; 0]);
        assert_eq!(report.updated, [""; 0]);
        assert_eq!(
            place.documents(),
            [
                "README.md",
                "alpha.md",
                "beta.md",
                "docs/README.md",
                "docs/docs/gamma.md",
                "docs/gamma.md"
            ]
        );
        let [similar] = report.similar_roots.as_slice() else {
            panic!("{report:?}")
        };
        assert_eq!((similar.same, similar.compared), (0, 3));
        assert_eq!((&*similar.root, &*similar.prefix), ("docs", "docs"));
        // The remedy that is told makes one of the two.
        let report = place.index(&["p2/docs"], Some(&similar.root)).unwrap();
        assert_eq!(report.added, ["gamma.md"]);
        assert_eq!(
            place.documents(),
            ["README.md", "docs/gamma.md", "gamma.md"]
        );
        let roots = Kb::open(place.at("s.kb")).unwrap().info().unwrap().roots;
        assert_eq!(roots.len(), 1);
        assert_eq!(Path::new(&roots[0].source), place.at("p2/docs"));
        let again = place.index(&["p2/docs"], None).unwrap();
        assert!(!again.has_changes() && again.similar_roots.is_empty());
    }

    #[test]
    fn a_folder_that_moved_is_known_by_most_of_its_content() {
        let place = sealed_docs();
        fs::create_dir(place.at("p3")).unwrap();
        fs::rename(place.at("p1/docs"), place.at("p3/docs")).unwrap();
        place.write("p3/docs/beta.md", "edited");
        let report = place.index(&["p3/docs"], None).unwrap();
        assert_eq!(report.updated, ["beta.md"]);
        assert_eq!((report.unchanged, report.similar_roots.len()), (2, 0));
        place.seal();
        // All of it edited: nothing tells that it is the same folder.
        for name in ["README", "alpha", "beta"] {
            place.write(&format!("p3/docs/{name}.md"), "all new");
        }
        let report = place.index(&["p3/docs"], None).unwrap();
        assert_eq!((report.added.len(), report.removed.len()), (3, 0));
        assert_eq!(report.similar_roots.len(), 1);
        assert_eq!(place.documents().len(), 6);
        let report = place.index(&["p3/docs"], Some("docs")).unwrap();
        assert_eq!(report.updated.len(), 3);
        assert_eq!(place.documents(), ["README.md", "alpha.md", "beta.md"]);
    }

    #[test]
    fn a_rebuild_and_a_check_follow_the_same_rule() {
        let place = sealed_docs();
        place.write("p2/docs/README.md", "another");
        let paths = [place.at("p2/docs")];
        let mut options = IndexOptions {
            rebuild: true,
            ..IndexOptions::default()
        };
        let kb = Kb::open(place.at("s.kb")).unwrap();
        let told = kb
            .check_sources(&paths, &options, &mut crate::Progress::ignore)
            .unwrap();
        assert_eq!(told.similar_roots.len(), 1);
        let mut writer = KbWriter::open_or_create(place.at("s.kb")).unwrap();
        let report = writer
            .index(&paths, &options, &mut crate::Progress::ignore)
            .unwrap();
        assert_eq!(report.similar_roots, told.similar_roots);
        assert_eq!((report.added.len(), report.removed.len()), (1, 0));
        assert_eq!(place.documents().len(), 4);
        options.root = Some(".".to_owned());
        let report = writer
            .index(&paths, &options, &mut crate::Progress::ignore)
            .unwrap();
        assert_eq!(report.removed.len(), 3, "{report:?}");
        assert_eq!(place.documents(), ["README.md"]);
    }

    #[test]
    fn an_unknown_root_is_refused_and_the_roots_are_listed() {
        let place = sealed_docs();
        let refused = place.index(&["p1/docs"], Some("elsewhere")).unwrap_err();
        assert_eq!(refused.code(), "INVALID_ARGUMENT");
        assert!(refused.to_string().contains("docs (root .)"), "{refused}");
        let fresh = Place::new();
        fresh.write("a/x.md", "x");
        let refused = fresh.index(&["a"], Some("a")).unwrap_err().to_string();
        assert!(refused.contains("it has none"), "{refused}");
    }

    fn samples_of(place: &Place, root: usize) -> Vec<String> {
        let read = Container::open(&place.at("s.kb"))
            .unwrap()
            .read(|snapshot| {
                let catalog = Catalog::load(snapshot)?;
                samples(snapshot, &catalog, &catalog.meta.roots[root])
            });
        let samples = read.unwrap().into_iter();
        samples.map(|sample| sample.relative).collect()
    }

    #[test]
    fn samples_are_spread_over_the_documents_of_their_root() {
        let place = Place::new();
        for number in 0..300 {
            place.write(&format!("a/{number:03}.txt"), &format!("one root {number}"));
        }
        for number in 0..40 {
            place.write(&format!("b/{number:02}.txt"), &format!("another {number}"));
        }
        place.index(&["a"], None).unwrap();
        place.index(&["b"], None).unwrap();
        // These have no root, and lie among those of the root without a prefix.
        let mut writer = KbWriter::open_or_create(place.at("s.kb")).unwrap();
        for number in 0..1500 {
            writer
                .add_bytes(&format!("1{number:04}.txt"), b"by name")
                .unwrap();
        }
        writer.commit().unwrap();
        drop(writer);
        for (root, count) in [(0, 300), (1, 40)] {
            let samples = samples_of(&place, root);
            assert_eq!(samples.len(), SAMPLE_DOCUMENTS);
            let numbers: Vec<usize> = samples
                .iter()
                .map(|path| path.trim_end_matches(".txt").parse().unwrap())
                .collect();
            assert!(numbers.is_sorted());
            let gaps = numbers.windows(2).map(|pair| pair[1] - pair[0]);
            assert!(gaps.max() <= Some(count / 8), "{numbers:?}");
            assert!(numbers[0] < count / 8 && numbers[31] >= count - count / 8);
        }
    }

    /// Empty files and copies of one text are in folders of no relation.
    #[test]
    fn files_without_content_of_their_own_are_no_evidence() {
        let place = Place::new();
        for folder in ["p1", "p2"] {
            for name in ["a/__init__.py", "b/__init__.py", "c/__init__.py"] {
                place.write(&format!("{folder}/src/{name}"), "");
            }
            for name in ["LICENSE", "a/LICENSE", "b/LICENSE"] {
                place.write(&format!("{folder}/src/{name}"), "Do what you like.\n");
            }
            place.write(
                &format!("{folder}/src/{folder}.py"),
                &format!("def {folder}(): pass\n"),
            );
        }
        place.index(&["p1/src"], None).unwrap();
        place.seal();
        let report = place.index(&["p2/src"], None).unwrap();
        assert_eq!(report.removed, [""; 0]);
        assert_eq!((report.similar_roots.len(), report.documents), (1, 14));
    }
}
