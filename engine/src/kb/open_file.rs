//! [`OpenFile`]: a container with the records of the commit that was read last.

use std::sync::{Arc, Mutex, PoisonError};

use kb_types::EmbedderResolver;
use kb_types::error::Result;

use crate::catalog::Catalog;
use crate::container::{Container, SlotIdentity, Snapshot};
use crate::content::{CommitView, model_of};
use crate::embed::Embedder;
use crate::index::keyword::Analyser;
use crate::progress::Reporter;
use crate::search::Source;
use crate::search::models::ColumnModels;

/// A file that is open for reading, with what calls share.
#[derive(Debug)]
pub(super) struct OpenFile {
    /// The bytes.
    container: Container,
    /// Records of the commit that was read last.
    loaded: Mutex<Option<(SlotIdentity, Arc<Loaded>)>>,
    /// Analysers with warm caches, at most one for each call at a time.
    // A cold analyser stems every word anew. Not one behind a lock: searches of several threads
    // would wait for each other.
    analysers: Mutex<Vec<Analyser>>,
    /// Models of columns that are not built in.
    models: ColumnModels,
}

/// What is kept of one commit between calls.
#[derive(Debug)]
struct Loaded {
    catalog: Catalog,
    /// The model of the file; `None` when this program cannot reproduce it.
    model: Option<&'static dyn Embedder>,
}

impl OpenFile {
    /// Loads the records of the newest commit.
    pub(super) fn new(container: Container) -> Result<OpenFile> {
        let file = OpenFile {
            container,
            loaded: Mutex::default(),
            analysers: Mutex::default(),
            models: ColumnModels::default(),
        };
        file.read(|_| Ok(()))?;
        Ok(file)
    }

    /// Finds models of columns by that from now on.
    pub(super) fn set_models(&mut self, models: Arc<dyn EmbedderResolver>) {
        self.models = ColumnModels::new(models);
    }

    pub(super) fn container(&self) -> &Container {
        &self.container
    }

    /// Runs `request` on the newest commit, again on a newer one when that one was overwritten
    /// meanwhile.
    pub(super) fn read<T>(
        &self,
        mut request: impl FnMut(CommitView<'_>) -> Result<T>,
    ) -> Result<T> {
        self.read_with_model(|commit, _| request(commit))
    }

    /// As [`OpenFile::read`], with the model of the file; `None` when this program cannot reproduce it.
    pub(super) fn read_with_model<T>(
        &self,
        mut request: impl FnMut(CommitView<'_>, Option<&'static dyn Embedder>) -> Result<T>,
    ) -> Result<T> {
        self.container.read(|snapshot| {
            let loaded = self.loaded(snapshot)?;
            let commit = CommitView {
                snapshot,
                catalog: &loaded.catalog,
                uuid: self.container.signature().uuid,
                path: self.container.path(),
            };
            request(commit, loaded.model)
        })
    }

    fn loaded(&self, snapshot: &Snapshot<'_>) -> Result<Arc<Loaded>> {
        let identity = snapshot.identity();
        // Held while records are read: other threads wait for the same records instead of reading
        // them too.
        let mut kept = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, loaded)) = kept.as_ref()
            && *of == identity
        {
            return Ok(Arc::clone(loaded));
        }
        let before = kept.as_ref().map(|(_, loaded)| &loaded.catalog);
        let catalog = Catalog::load_after(snapshot, before)?;
        let model = model_of(&catalog);
        let loaded = Arc::new(Loaded { catalog, model });
        *kept = Some((identity, Arc::clone(&loaded)));
        Ok(loaded)
    }

    /// Lends an analyser to `work`.
    pub(super) fn with_analyser<T>(&self, work: impl FnOnce(&mut Analyser) -> T) -> T {
        let kept = || {
            self.analysers
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let mut analyser = kept().pop().unwrap_or_default();
        let result = work(&mut analyser);
        // Not returned where `work` panics: its caches may then be half written.
        kept().push(analyser);
        result
    }
}

/// Runs `work` on one commit of each file, again when one of them was overwritten meanwhile.
///
/// `work` ticks the `reporter`. A snapshot lives as long as the call that reads it, so each file is one
/// call deeper.
pub(super) fn read_all<T>(
    files: &[&OpenFile],
    reporter: &Reporter<'_>,
    work: &mut dyn FnMut(&[Source<'_>]) -> Result<T>,
) -> Result<T> {
    nested(files, reporter, &[], work)
}

fn nested<T>(
    files: &[&OpenFile],
    reporter: &Reporter<'_>,
    sources: &[Source<'_>],
    work: &mut dyn FnMut(&[Source<'_>]) -> Result<T>,
) -> Result<T> {
    let Some((file, rest)) = files.split_first() else {
        return work(sources);
    };
    file.read_with_model(|commit, model| {
        let mut sources = sources.to_vec();
        sources.push(Source {
            uuid: commit.uuid,
            path: commit.path,
            snapshot: commit.snapshot,
            catalog: commit.catalog,
            model,
            models: &file.models,
            reporter,
        });
        nested(rest, reporter, &sources, work)
    })
}
