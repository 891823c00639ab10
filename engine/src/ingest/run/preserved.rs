//! Documents of other roots, or added by name, taken along when a file is rebuilt.

use std::ops::ControlFlow;

use kb_extract::tags;
use kb_types::error::Result;
use kb_types::{Document, DocumentId, Syntax};

use crate::catalog::Catalog;
use crate::container::Snapshot;
use crate::ingest::prepare::preparer::{Chunking, Source};
use crate::ingest::prepare::preserved::{Given, PreservedDocument, PreservedFields};
use crate::store::fields;

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
        given: Given {
            tags: tags::restated(&record.tags, &stated, &[]),
            fields: fields::named(&record.metadata, &record.given),
        },
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
    let class = record.class()?;
    let given = Given {
        tags: record.tags,
        fields: fields::named(&record.metadata, &record.given),
    };
    let document = Document {
        class,
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
            given,
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
    use crate::search::{Mode, Request};
    use crate::store::fields::FieldValue;
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

    /// The documents that meet a condition; the file is sound.
    fn found(path: &std::path::Path, condition: &str) -> Vec<String> {
        let kb = Kb::open(path).unwrap();
        let options = crate::VerifyOptions::new().deep(true);
        let report = kb.verify(&options, &mut crate::Progress::ignore).unwrap();
        assert_eq!(report.problems, [""; 0]);
        let mut request = Request::new("walrus").mode(Mode::Keyword);
        request.filters.where_ = Some(condition.to_owned());
        let response = kb.search(&request).unwrap();
        response.hits.into_iter().map(|hit| hit.document).collect()
    }

    #[test]
    fn given_fields_stay_whatever_the_content_becomes() {
        let folder = tempfile::tempdir().unwrap();
        let (path, sources) = (folder.path().join("a.kb"), folder.path().join("sources"));
        std::fs::create_dir(&sources).unwrap();
        let state = |year: u32, text: &str| {
            let text = format!("---\nYear: {year}\nby: Ann\n---\nA walrus {text}.\n");
            std::fs::write(sources.join("a.md"), text).unwrap();
        };
        state(1998, "sleeps");
        std::fs::write(sources.join("b.md"), "Another walrus.\n").unwrap();
        let field = |name: &str, values: Vec<FieldValue>| (name.to_owned(), values);
        let is = |year: i64| {
            let found = found(&path, &format!("year = {year} and by = \"ann\""));
            assert_eq!(found, ["a.md"], "{year}");
        };
        let index = |options: &IndexOptions| {
            let mut writer = KbWriter::open_or_create(&path).unwrap();
            let paths = [sources.clone()];
            writer
                .index(&paths, options, &mut crate::Progress::ignore)
                .unwrap()
        };
        let options = IndexOptions::default();
        index(&options);
        is(1998);
        let handle = Kb::open(&path).unwrap().document("a.md").unwrap().handle;
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let year = field("year", vec![FieldValue::Integer(2024)]);
        let more = field("Topic ", vec![FieldValue::Text("sea".to_owned())]);
        let shown = writer.set_fields("a.md", &[year, more]).unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected = [
            pair("by", "Ann"),
            pair("year", "2024"),
            pair("Topic", "sea"),
        ];
        assert_eq!(shown, expected);
        // Beside a change of tags.
        writer.tag("a.md", &["seen"], &[]).unwrap();
        writer.commit().unwrap();
        drop(writer);
        is(2024);
        assert!(index(&options).updated.is_empty(), "nothing was read again");
        for run in 0..2 {
            state(1999 + run, "swims");
            let report = index(&IndexOptions {
                rebuild: run == 1,
                ..IndexOptions::default()
            });
            assert_eq!(report.updated, ["a.md"]);
            is(2024);
            assert_eq!(
                found(&path, "topic = \"sea\" and tags has \"seen\""),
                ["a.md"]
            );
        }
        // One that is removed follows the content again, when that changes.
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let shown = writer.set_fields("a.md", &[field("YEAR", vec![])]).unwrap();
        assert_eq!(shown, [pair("by", "Ann"), pair("Topic", "sea")]);
        writer.commit().unwrap();
        writer
            .seal(
                None,
                &crate::SealOptions::new(),
                &mut crate::Progress::ignore,
            )
            .unwrap();
        drop(writer);
        assert_eq!(found(&path, "missing(year)").len(), 2);
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let text = b"---\nyear: 2001\nby: Ann\ntopic: moon\n---\nA walrus.\n";
        assert!(writer.replace_bytes("a.md", text).unwrap());
        writer.commit().unwrap();
        is(2001);
        assert_eq!(found(&path, "topic = \"sea\""), ["a.md"]);
        assert!(found(&path, "topic = \"moon\"").is_empty());
        let kb = Kb::open(&path).unwrap();
        assert_eq!(kb.document("a.md").unwrap().handle, handle);
    }

    #[test]
    fn fields_that_are_refused_change_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        writer.add_bytes("a.md", b"A walrus.").unwrap();
        writer.commit().unwrap();
        let many = |name: &str| (name.to_owned(), vec![FieldValue::Boolean(true); 150]);
        let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let secret = ("key".to_owned(), vec![FieldValue::Text(token)]);
        assert_eq!(writer.set_fields("a.md", &[many("x")]).unwrap().len(), 1);
        assert_eq!(writer.pending(), 1);
        for (name, fields) in [("a.md", many("y")), ("a.md", many("a=b")), ("a.md", secret)] {
            let error = writer.set_fields(name, &[fields]).unwrap_err();
            assert_eq!(error.code(), "INVALID_ARGUMENT");
        }
        let error = writer.set_fields("b.md", &[many("y")]).unwrap_err();
        assert_eq!(error.code(), "DOCUMENT_NOT_FOUND");
        // The same again is no change.
        writer.commit().unwrap();
        writer.set_fields("a.md", &[many("x")]).unwrap();
        assert_eq!(writer.pending(), 0);
        assert_eq!(found(&path, "x"), ["a.md"]);
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
