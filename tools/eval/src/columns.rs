//! Files with a column of vectors of a model that is not built in: `--embedder SPEC` fills them, `--files DIR` keeps them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use kb_embedders::{Cache, Choice, EmbedderResolver, Options, Resolver, TextEmbedder};
use kb_engine::{Kb, KbWriter, Progress, ReembedOptions};
use tempfile::TempDir;

/// What the command line says of such files.
pub(crate) struct Columns {
    /// `None`: files are searched as they are.
    model: Option<Arc<dyn TextEmbedder>>,
    /// Where files are kept; `None`: they disappear.
    folder: Option<PathBuf>,
    resolver: Arc<dyn EmbedderResolver>,
}

impl Columns {
    /// `None` where neither is named.
    pub(crate) fn new(embedder: Option<&str>, folder: Option<&Path>) -> Result<Option<Columns>> {
        if embedder.is_none() && folder.is_none() {
            return Ok(None);
        }
        let model =
            match embedder.map(|spec| (spec, kb_embedders::parse(spec, &Options::default()))) {
                None => None,
                Some((_, Ok(Choice::Model(model)))) => Some(model.shared()),
                Some((spec, Ok(_))) => bail!("--embedder {spec} has a column in every file"),
                Some((spec, Err(error))) => bail!("--embedder {spec}: {error}"),
            };
        Ok(Some(Columns {
            model,
            folder: folder.map(Path::to_path_buf),
            resolver: Arc::new(Resolver::new(Options::default(), Cache::of_user())),
        }))
    }

    /// Where a file of that name is, and the folder that disappears with it.
    pub(crate) fn place(&self, name: &str) -> Result<(PathBuf, Option<TempDir>)> {
        if let Some(folder) = &self.folder {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
            return Ok((folder.join(name), None));
        }
        let folder = tempfile::tempdir()?;
        Ok((folder.path().join(name), Some(folder)))
    }

    /// Has the model embed what the file lacks.
    pub(crate) fn fill(&self, path: &Path) -> Result<()> {
        let Some(model) = &self.model else {
            return Ok(());
        };
        let mut writer = KbWriter::open(path)?;
        let options = ReembedOptions::new().cache(false);
        let report = writer.reembed(&**model, &options, &mut Progress::ignore)?;
        if report.embedded > 0 {
            let (file, seconds) = (path.display(), report.model_time.as_secs_f64());
            eprintln!(
                "{file}: {} chunks embedded in {seconds:.0} s",
                report.embedded
            );
        }
        Ok(())
    }

    pub(crate) fn open(&self, path: &Path) -> Result<Kb> {
        Ok(Kb::open(path)?.with_models(self.resolver.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_is_no_column_is_refused() {
        assert!(Columns::new(None, None).unwrap().is_none());
        assert!(Columns::new(Some("builtin"), None).is_err());
        assert!(Columns::new(Some("onnx:/no/such/folder"), None).is_err());
    }
}
