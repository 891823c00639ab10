//! Lines about what an index run changed, or would change.

use kb_engine::{EmptiedFolder, MovedRoot, Report, SimilarRoot};
use kb_json::{ChangeKind, changed_documents};

use crate::output::format::{count, plural};

/// Maximum number of paths that are listed without --verbose.
const SHOWN_PATHS: usize = 20;

/// Returns `added 3, updated 1, removed 2, unchanged 2294, skipped 12`, or `nothing changed, skipped 12`.
pub(crate) fn counts(report: &Report) -> String {
    if !report.has_changes() {
        return match report.skipped.len() {
            0 => "nothing changed".to_owned(),
            skipped => format!("nothing changed, skipped {skipped}"),
        };
    }
    all_counts(report)
}

/// Returns `added 3, updated 1, removed 2, unchanged 2294, skipped 12`, also if nothing changed.
pub(crate) fn all_counts(report: &Report) -> String {
    format!(
        "added {}, updated {}, removed {}, unchanged {}, skipped {}",
        report.added.len(),
        report.updated.len(),
        report.removed.len(),
        report.unchanged,
        report.skipped.len()
    )
}

/// Returns `+ path`, `~ path` and `- path`, sorted by path; only the first ones unless `all`.
pub(crate) fn lines(report: &Report, all: bool) -> Vec<String> {
    let changes = changed_documents(report);
    let shown = if all { changes.len() } else { SHOWN_PATHS };
    let mut lines: Vec<String> = changes
        .iter()
        .take(shown)
        .map(|(kind, path)| format!("{} {path}", sign(*kind)))
        .collect();
    match changes.len().saturating_sub(shown) {
        0 => {}
        more => lines.push(format!("and {more} more")),
    }
    lines
}

fn sign(kind: ChangeKind) -> char {
    match kind {
        ChangeKind::Added => '+',
        ChangeKind::Updated => '~',
        ChangeKind::Removed => '-',
    }
}

/// Returns the message about a folder that may be an existing root but was not recognised as one.
pub(crate) fn similar_root(similar: &SimilarRoot) -> String {
    let why = if similar.is_gone {
        format!("the folder of root {} is gone", similar.root)
    } else {
        format!("it has the name of root {}", similar.root)
    };
    format!(
        "{} is treated as a new root, {}/: {why}, but only {} of {} sampled files of that root are unchanged in it",
        similar.folder.display(),
        similar.prefix,
        count(u64::from(similar.same)),
        count(u64::from(similar.compared)),
    )
}

/// Returns the message about a root that was recognised in another folder.
pub(crate) fn moved_root(moved: &MovedRoot) -> String {
    let root = match moved.prefix.as_str() {
        "" => "the root".to_owned(),
        prefix => format!("root {prefix}/"),
    };
    format!(
        "{root} moved: {} is gone, and {} of {} sampled files are unchanged in {}",
        moved.from,
        count(u64::from(moved.same)),
        count(u64::from(moved.compared)),
        moved.folder.display(),
    )
}

/// Returns the message about an empty folder whose documents stay.
pub(crate) fn emptied_folder(emptied: &EmptiedFolder) -> String {
    let documents = plural(emptied.documents, "document");
    let stay = if emptied.documents == 1 {
        "stays"
    } else {
        "stay"
    };
    format!(
        "{} is empty; its {documents} {stay} in the file",
        emptied.folder.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn changes_are_listed_by_path_with_their_signs() {
        let mut report = Report::default();
        report.added = names(&["b", "d"]);
        report.updated = names(&["c"]);
        report.removed = names(&["a"]);
        report.unchanged = 9;
        assert_eq!(lines(&report, false), ["- a", "+ b", "~ c", "+ d"]);
        assert_eq!(
            counts(&report),
            "added 2, updated 1, removed 1, unchanged 9, skipped 0"
        );
        assert_eq!(counts(&Report::default()), "nothing changed");
        assert_eq!(
            all_counts(&Report::default()),
            "added 0, updated 0, removed 0, unchanged 0, skipped 0"
        );
    }

    #[test]
    fn a_long_list_is_cut_unless_all_is_asked_for() {
        let mut report = Report::default();
        report.added = (0..50).map(|number| format!("{number:02}")).collect();
        let some = lines(&report, false);
        assert_eq!((some.len(), some[20].as_str()), (21, "and 30 more"));
        assert_eq!(lines(&report, true).len(), 50);
    }
}
