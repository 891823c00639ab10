//! Documents that were added by name, taken along when the rest of a file is indexed anew.

use std::ops::ControlFlow;

use crate::container::Snapshot;
use crate::error::Result;
use crate::ingest::prepare::{Cut, Prepared, Preparer, Source};
use crate::search::catalog::Catalog;
use crate::store::outline;
use crate::types::Document;

/// Appends every document of a file that is no file of a root to `carried`, cut as it was.
///
/// # Errors
/// [`crate::Error::Damaged`] when rows and text contradict each other.
pub(super) fn added_documents(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    preparer: &mut Preparer<'_>,
    carried: &mut Vec<Prepared>,
) -> Result<()> {
    catalog.documents.each_path(snapshot, "", |_, id| {
        let record = catalog.documents.get(snapshot, id)?;
        if record.root.is_some() {
            return Ok(ControlFlow::Continue(()));
        }
        let segment = catalog.segment(record.segment())?.bind(snapshot)?;
        let mut text = String::new();
        segment
            .blocks()?
            .append(record.first_row, record.rows, &mut text)?;
        let mut chunks = Vec::new();
        for row in record.first_row..record.first_row.saturating_add(record.rows) {
            chunks.push(segment.chunks().get(row)?.at);
        }
        let document = Document {
            class: record.class()?,
            path: record.path,
            title: record.title,
            file_type: record.file_type,
            language: record.language,
            text,
            outline: outline::get(snapshot, id)?,
            line_numbers: Vec::new(),
            metadata: record.metadata,
        };
        let source = Source {
            root: None,
            size_bytes: record.size_bytes,
            modified_ms: record.modified_ms,
            hash: record.hash,
        };
        let cut = Cut::At {
            chunks,
            lines: record.lines,
            line_map: record.line_map,
        };
        carried.push(preparer.prepare(document, source, cut)?);
        Ok(ControlFlow::Continue(()))
    })
}

#[cfg(test)]
mod tests {
    use crate::ingest::report::IndexOptions;
    use crate::kb::{Kb, KbWriter};
    use crate::types::Lines;

    #[test]
    fn an_added_document_is_the_same_after_the_folder_is_indexed_again() {
        let folder = tempfile::tempdir().unwrap();
        let (path, sources) = (folder.path().join("a.kb"), folder.path().join("sources"));
        std::fs::create_dir(&sources).unwrap();
        std::fs::write(sources.join("m.txt"), "from a file\n").unwrap();
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        // Its text has other lines than the original.
        let page = "<h1>Page</h1>\n\n\n<p>A walrus\nswims.</p>\n\n\n<p>End</p>\n\n";
        writer.add_bytes("page.html", page.as_bytes()).unwrap();
        writer.add_bytes("z.txt", b"one\ntwo").unwrap();
        writer.commit().unwrap();
        let known = || {
            let kb = Kb::open(&path).unwrap();
            let lines = Some(Lines { first: 4, last: 4 });
            let all = ["page.html", "z.txt"].map(|name| {
                let (text, chunks) = (kb.text(name, None).unwrap(), kb.chunks(name).unwrap());
                (text, chunks, kb.outline(name).unwrap())
            });
            (all, kb.text("page.html", lines).unwrap())
        };
        let before = known();
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let report = writer.index(&[sources], &IndexOptions::default(), &mut |_| ());
        assert_eq!(report.unwrap().documents, 3);
        assert_eq!(known(), before);
    }
}
