//! Emptying a .kb: a new file without documents takes the place of the old one.

use kb_types::error::Result;

use crate::catalog::Catalog;
use crate::container::ContainerWriter;
use crate::ingest::clock::now_ms;
use crate::ingest::run::new_file::new_meta;
use crate::ingest::run::session::Session;
use crate::ingest::segment::batch::Batch;
use crate::store::meta::Settings;

impl Session {
    /// See [`crate::KbWriter::clear`].
    pub(crate) fn clear(&mut self) -> Result<u64> {
        self.check_open()?;
        // A file that this writer has open would be locked against it.
        self.abandon();
        if !self.path.exists() {
            return Ok(0);
        }
        // Locks the file that will be replaced, so what is read of it below is what is replaced.
        let mut writer = ContainerWriter::create(&self.path, &self.identity())?;
        let Some(existing) = writer.replaced()? else {
            return Ok(0);
        };
        let before = existing.read(Catalog::load)?;
        let mut meta = new_meta()?;
        meta.created_ms = before.meta.created_ms;
        meta.embedder.codec = before.meta.embedder.codec;
        // Numbers go on, so that none ever means two things.
        let mut manifest = before.manifest;
        manifest.segments.clear();
        let mut transaction = writer.begin()?;
        // A model says nothing of the documents, and a file may be the only place that has it. The vectors that are kept
        // by their texts go.
        if let Some(columns) = before.vector_columns.without_rows() {
            existing.read(|snapshot| columns.write_with_models(&mut transaction, snapshot))?;
        }
        Batch::new(meta, manifest, now_ms(), &Settings::default())
            .finish(&mut transaction, None)?;
        transaction.commit()?;
        writer.finish()?;
        Ok(before.meta.documents)
    }
}

#[cfg(test)]
mod tests {
    use crate::content::State;
    use crate::index::vector::Codec;
    use crate::ingest::options::IndexOptions;
    use crate::kb::{Kb, KbWriter};
    use crate::paging::PageOptions;
    use crate::search::Request;

    fn state(kb: &Kb) -> State {
        let report = kb
            .verify(
                &crate::VerifyOptions::new().deep(true),
                &mut crate::Progress::ignore,
            )
            .unwrap();
        assert!(report.problems.is_empty(), "{report:?}");
        kb.state().unwrap()
    }

    #[test]
    fn open_readers_see_a_cleared_file_as_empty() {
        let folder = tempfile::tempdir().unwrap();
        let (path, sources) = (folder.path().join("a.kb"), folder.path().join("sources"));
        std::fs::create_dir(&sources).unwrap();
        for number in 0..20 {
            let text = format!("The walrus number {number} sleeps.\n").repeat(200);
            std::fs::write(sources.join(format!("{number}.txt")), text).unwrap();
        }
        // Left out of the index, and to be forgotten too.
        std::fs::write(sources.join("x.bin"), [0; 2000]).unwrap();
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let options = IndexOptions {
            vectors: Some(Codec::I4),
            ..IndexOptions::default()
        };
        let paths = [sources];
        writer
            .index(&paths, &options, &mut crate::Progress::ignore)
            .unwrap();
        writer.add_bytes("added.txt", b"one walrus").unwrap();
        writer.commit().unwrap();
        writer.add_bytes("pending.txt", b"no walrus").unwrap();

        let kb = Kb::open(&path).unwrap();
        let (before, told) = (state(&kb), kb.info().unwrap());
        let walrus = |kb: &Kb| kb.search(&Request::new("walrus")).unwrap().hits;
        let segment = walrus(&kb)[0].chunk.segment;
        assert_eq!(before.documents, 21);
        let page = PageOptions::default().max_tokens(1);
        let cursor = kb.list(None, &page).unwrap().next.unwrap();

        assert_eq!(writer.clear().unwrap(), 21);
        let after = state(&kb);
        assert_eq!(after, state(&Kb::open(&path).unwrap()));
        assert_eq!((after.documents, after.chunks), (0, 0));
        assert_eq!(after.uuid, before.uuid);
        assert!(after.generation > before.generation);
        let info = kb.info().unwrap();
        assert_eq!((info.vectors, info.roots.len()), (Codec::I4, 0));
        assert_eq!(info.created_ms, told.created_ms);
        assert!(info.file_bytes < told.file_bytes, "{}", info.file_bytes);
        assert!(walrus(&kb).is_empty());
        assert!(kb.list(None, &PageOptions::default()).unwrap().is_empty());
        let page = PageOptions::default().cursor(cursor);
        let error = kb.list(None, &page).unwrap_err();
        assert_eq!(error.code(), "CONTINUATION_STALE");

        // The same writer goes on, and what was pending is gone.
        writer.add_bytes("new.txt", b"another walrus").unwrap();
        writer.commit().unwrap();
        let hits = walrus(&kb);
        assert_eq!(hits.len(), 1);
        assert_eq!(hits[0].document, "new.txt");
        assert!(
            hits[0].chunk.segment > segment,
            "no number means two things"
        );
        assert_eq!(state(&kb).documents, 1);
        let options = IndexOptions::default();
        let report = writer
            .index(&paths, &options, &mut crate::Progress::ignore)
            .unwrap();
        assert_eq!((report.added.len(), report.documents), (20, 21));
        assert_eq!(state(&kb).documents, 21);
    }

    #[test]
    fn a_missing_or_locked_file_is_not_cleared() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        writer.add_bytes("a.txt", b"a walrus").unwrap();
        assert_eq!(writer.clear().unwrap(), 0);
        assert!(!path.exists());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);

        writer.add_bytes("a.txt", b"a walrus").unwrap();
        writer.commit().unwrap();
        let mut other = KbWriter::open_or_create(&path).unwrap();
        other.add_bytes("b.txt", b"b").unwrap();
        drop(writer);
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        assert_eq!(writer.clear().unwrap_err().code(), "INDEX_LOCKED");
        drop(other);
        assert_eq!(state(&Kb::open(&path).unwrap()).documents, 1);
        assert_eq!(writer.clear().unwrap(), 1);
    }

    /// A file with two documents, and another one to add.
    fn two_documents() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        writer.add_bytes("tides.md", b"The moon pulls.").unwrap();
        writer.add_bytes("bread.md", b"Flour and water.").unwrap();
        writer.commit().unwrap();
        (folder, path)
    }

    fn paths(kb: &Kb) -> Vec<String> {
        let documents = kb.documents(None, true, &PageOptions::default()).unwrap();
        documents.iter().map(|it| it.path.clone()).collect()
    }

    #[test]
    fn a_file_that_is_made_anew_has_only_what_was_added() {
        let (_folder, path) = two_documents();
        let before = state(&Kb::open(&path).unwrap());
        let mut writer = KbWriter::create(&path).unwrap();
        // The path is taken in the old file, not in the new one.
        writer.add_bytes("tides.md", b"The sea rises.").unwrap();
        let kb = Kb::open(&path).unwrap();
        assert_eq!(paths(&kb), ["bread.md", "tides.md"]);
        writer.commit().unwrap();
        assert_eq!(paths(&kb), ["tides.md"]);
        assert_eq!(kb.text("tides.md", None).unwrap().text, "The sea rises.");
        let after = state(&kb);
        assert_eq!(after.uuid, before.uuid);
        assert!(after.generation > before.generation);
        // The second commit changes the new file.
        writer.add_bytes("salt.md", b"Salt.").unwrap();
        writer.commit().unwrap();
        assert_eq!(paths(&kb), ["salt.md", "tides.md"]);
    }

    #[test]
    fn a_file_that_is_not_made_anew_after_all_stays() {
        let (_folder, path) = two_documents();
        let mut writer = KbWriter::create(&path).unwrap();
        writer.add_bytes("salt.md", b"Salt.").unwrap();
        writer.abandon();
        drop(writer);
        let kb = Kb::open(&path).unwrap();
        assert_eq!(paths(&kb), ["bread.md", "tides.md"]);
    }

    #[test]
    fn a_folder_indexed_into_a_new_file_leaves_nothing_of_the_old() {
        let (folder, path) = two_documents();
        let sources = folder.path().join("sources");
        std::fs::create_dir(&sources).unwrap();
        std::fs::write(sources.join("salt.md"), "Salt.").unwrap();
        let mut writer = KbWriter::create(&path).unwrap();
        let options = IndexOptions::new();
        writer
            .index(&[sources], &options, &mut crate::Progress::ignore)
            .unwrap();
        let kb = Kb::open(&path).unwrap();
        assert_eq!(paths(&kb), ["salt.md"]);
        state(&kb);
    }

    #[test]
    fn an_empty_commit_of_a_new_file_empties_it() {
        let (_folder, path) = two_documents();
        KbWriter::create(&path).unwrap().commit().unwrap();
        assert_eq!(state(&Kb::open(&path).unwrap()).documents, 0);
    }
}
