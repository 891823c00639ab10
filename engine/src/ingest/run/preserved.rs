//! Documents of other roots, or added by name, taken along when a file is rebuilt.

use std::ops::ControlFlow;

use kb_extract::tags;
use kb_types::error::Result;
use kb_types::{Document, DocumentId, Syntax};

use crate::catalog::Catalog;
use crate::container::Snapshot;
use crate::ingest::prepare::preparer::{Chunking, Source};
use crate::ingest::prepare::preserved::{PreservedDocument, PreservedFields};

/// Whether the path of a document of the file is `part`, or begins with it. Costs two look-ups.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(super) fn is_path_prefix(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    part: &str,
) -> Result<bool> {
    let documents = &catalog.documents;
    if documents.by_path(snapshot, part)?.is_some() {
        return Ok(true);
    }
    let folder = [part, "/"].concat();
    let mut is_there = false;
    documents.each_path(snapshot, &folder, |path, _| {
        is_there = path.starts_with(&folder);
        Ok(ControlFlow::Break(()))
    })?;
    Ok(is_there)
}

/// What stays of a document when it is made again from its file, which states its own tags.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(super) fn fields(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    id: DocumentId,
) -> Result<PreservedFields> {
    let record = catalog.documents.get(snapshot, id)?;
    let stated = tags::stated(&record.file_type, &record.metadata);
    Ok(PreservedFields {
        suffix: record.suffix,
        tags: tags::restated(&record.tags, &stated, &[]),
        added_ms: record.added_ms,
    })
}

/// A document, cut as it was. Its text is in memory until it is written.
///
/// # Errors
/// [`crate::Error::Damaged`] when rows and text contradict each other.
pub(super) fn document(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    id: DocumentId,
) -> Result<PreservedDocument> {
    let record = catalog.documents.get(snapshot, id)?;
    let (mut text, mut chunks) = (String::new(), Vec::new());
    if let Some(segment) = catalog.bind_document(snapshot, &record)? {
        segment
            .blocks()?
            .append(record.first_row, record.rows, &mut text)?;
        for row in record.first_row..record.first_row.saturating_add(record.rows) {
            chunks.push(segment.chunks().get(row)?.at);
        }
    }
    let document = Document {
        class: record.class()?,
        path: record.path,
        title: record.title,
        file_type: record.file_type,
        language: record.language,
        text,
        outline: catalog.outlines.get(snapshot, id)?,
        line_numbers: Vec::new(),
        parts: catalog.parts.get(snapshot, id, record.text_bytes)?,
        metadata: record.metadata,
        // It is cut as it was before.
        syntax: Syntax {
            symbols: catalog.symbols.get(snapshot, id, record.text_bytes)?,
            ..Syntax::default()
        },
    };
    let source = Source {
        root: record.root,
        size_bytes: record.size_bytes,
        modified_ms: record.modified_ms,
        hash: record.hash,
    };
    let chunking = Chunking::Existing {
        chunks,
        lines: record.lines,
        line_map: record.line_map,
    };
    Ok(PreservedDocument {
        id,
        fields: PreservedFields {
            suffix: record.suffix,
            tags: record.tags,
            added_ms: record.added_ms,
        },
        path: document.path.clone(),
        parts: Some((document, source, chunking)),
    })
}

#[cfg(test)]
mod tests {
    use crate::ingest::options::IndexOptions;
    use crate::kb::{Kb, KbWriter};
    use kb_types::Lines;

    #[test]
    fn a_rebuild_keeps_what_people_gave_to_documents() {
        let folder = tempfile::tempdir().unwrap();
        let (path, sources) = (folder.path().join("a.kb"), folder.path().join("sources"));
        std::fs::create_dir(&sources).unwrap();
        for name in ["a.txt", "b.txt"] {
            std::fs::write(sources.join(name), name).unwrap();
        }
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let mut options = IndexOptions::default();
        let paths = [sources.clone()];
        writer
            .index(&paths, &options, &mut crate::Progress::ignore)
            .unwrap();
        writer.tag("b.txt", &["kept"], &[]).unwrap();
        writer.commit().unwrap();
        let before = Kb::open(&path).unwrap().document("b.txt").unwrap();
        options.rebuild = true;
        let report = writer
            .index(&paths, &options, &mut crate::Progress::ignore)
            .unwrap();
        assert_eq!((report.unchanged, report.has_changes()), (2, false));
        let kb = Kb::open(&path).unwrap();
        assert_eq!(kb.document("b.txt").unwrap(), before);
        assert_eq!(kb.document(&before.handle).unwrap(), before);
        std::fs::remove_file(sources.join("a.txt")).unwrap();
        let report = writer
            .index(&paths, &options, &mut crate::Progress::ignore)
            .unwrap();
        assert_eq!(report.removed, ["a.txt"]);
        std::fs::remove_file(sources.join("b.txt")).unwrap();
        let refused = writer
            .index(&paths, &options, &mut crate::Progress::ignore)
            .unwrap_err();
        assert_eq!(refused.code(), "ROOT_VANISHED");
        assert!(
            Kb::open(&path)
                .unwrap()
                .verify(
                    &crate::VerifyOptions::new().deep(true),
                    &mut crate::Progress::ignore
                )
                .unwrap()
                .problems
                .is_empty()
        );
    }

    #[test]
    fn an_added_document_survives_indexing_the_folder() {
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
                let (text, chunks) = (kb.text(name, None).unwrap(), kb.chunk_spans(name).unwrap());
                (text, chunks, kb.outline(name).unwrap())
            });
            (all, kb.text("page.html", lines).unwrap())
        };
        let before = known();
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let options = IndexOptions {
            rebuild: true,
            ..IndexOptions::default()
        };
        let report = writer.index(&[sources], &options, &mut crate::Progress::ignore);
        assert_eq!(report.unwrap().documents, 3);
        assert_eq!(known(), before);
    }
}
