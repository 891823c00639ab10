//! Takes documents of other .kb files with all that was made of them. Nothing is analysed, embedded or parsed again: words,
//! vectors and text are copied, as a merge of segments copies them.
//!
//! | module | what |
//! |---|---|
//! | `options` | how it is asked for, and the report |
//! | `plan` | which documents come, under which paths |
//! | `roots`, `columns` | folders and columns of vectors of both files |
//! | `copy` | writes them |
//! | `source` | another file |

mod columns;
mod copy;
mod options;
mod plan;
mod roots;
mod source;
#[cfg(test)]
mod tests;

use kb_extract::tags;
use kb_types::error::{Error, Result};

use crate::catalog::{Catalog, CatalogCache};
use crate::container::{Container, Transaction, watched};
use crate::index::vector::{CODEC_I8, Codec};
use crate::ingest::clock::now_ms;
use crate::ingest::run::edit::check_path;
use crate::ingest::run::new_file::{PROGRAM, check_model, new_meta};
use crate::ingest::run::session::{Session, is_one_place};
use crate::ingest::segment::batch::Batch;
use crate::ingest::segment::merge_policy::Limit;
use crate::progress::Reporter;
use crate::store::meta::{Manifest, Meta, Settings, kept_model};
use crate::store::vector_columns::VectorColumns;

use plan::{Group, Plan};
use roots::JoinedRoots;
use source::Source;

pub(crate) use options::Picked;
pub use options::{MergeOptions, MergeReport, MergeSource, OnConflict};

/// What is known of the file that takes documents, with what was taken so far.
struct Target {
    batch: Batch,
    settings: Settings,
    columns: VectorColumns,
    codec: u8,
    report: MergeReport,
}

impl Session {
    /// See [`crate::KbWriter::merge_from`]. A segment gets at most `max_rows` chunks.
    pub(crate) fn merge_from(
        &mut self,
        sources: &[MergeSource],
        options: &MergeOptions,
        max_rows: u32,
        reporter: &Reporter<'_>,
    ) -> Result<MergeReport> {
        let options = checked(options)?;
        if sources.is_empty() {
            return Err(Error::InvalidArgument {
                argument: "source",
                reason: "no file to take documents of is given".to_owned(),
            });
        }
        self.check_open()?;
        if self.has_pending() {
            // Without the hook: a break would lose the changes that wait.
            self.commit(&Reporter::silent())?;
        }
        let mut others = Vec::with_capacity(sources.len());
        for source in sources {
            if let Some(folder) = &source.folder {
                check_path(folder)?;
            }
            if !self.starts_empty && is_one_place(&source.path, &self.path) {
                return Err(Error::InvalidArgument {
                    argument: "source",
                    reason: "a file cannot be merged into itself".to_owned(),
                });
            }
            let other = Container::open(&source.path)?;
            // Held while its pages are copied.
            let lease = other.lease();
            others.push((source, other, lease));
        }
        self.lock()?;
        let mut open = self.open.take().ok_or(Error::WriterFailed)?;
        let mut target = match open.base() {
            Some((base, catalogs)) => Target::of(base, catalogs)?,
            None => {
                let files = others.iter().map(|(_, other, _)| other);
                Target::of_new(self.next_manifest(&open.writer)?, files)?
            }
        };
        let mut transaction = open.writer.begin()?;
        let (mut plan, mut prefixes, mut commits) = (Plan::new(&options), Vec::new(), Vec::new());
        for (number, (source, other, _)) in others.iter().enumerate() {
            let (of_source, commit) = read(source, other, reporter, |source| {
                check_model(&source.catalog.meta)?;
                let prefixes = plan.add(&mut transaction, (number, source), reporter)?;
                Ok((prefixes, source.snapshot.identity()))
            })?;
            prefixes.push(of_source);
            commits.push(commit);
        }
        let (groups, planned) = plan.groups(prefixes)?;
        target.report = planned;
        for (((source, other, _), groups), commit) in others.iter().zip(groups).zip(commits) {
            read(source, other, reporter, |source| {
                if source.snapshot.identity() != commit {
                    return Err(Error::SnapshotExpired);
                }
                target.take(
                    &mut transaction,
                    source,
                    &groups,
                    (&options, max_rows),
                    reporter,
                )
            })?;
        }
        let Target {
            batch,
            settings,
            columns,
            report,
            ..
        } = target;
        if !columns.list.is_empty() {
            columns.write(&mut transaction)?;
        }
        settings.write(&mut transaction)?;
        let base = open.base.as_ref().map(|base| (base, &open.catalogs));
        reporter.wait_for(watched(|| batch.finish(&mut transaction, base)))?;
        // The last moment for a stop that leaves the file as it was.
        reporter.check()?;
        reporter.wait_for(watched(|| transaction.commit()))?;
        let is_new = open.base.is_none();
        self.finish_commit(open, Limit::none(), reporter)?;
        if is_new {
            // Its segments are merged, and get their inverted lists.
            self.lock()?;
            let open = self.open.take().ok_or(Error::WriterFailed)?;
            self.finish_commit(open, Limit::none(), reporter)?;
        }
        Ok(report)
    }
}

impl Target {
    /// A file that is there.
    fn of(base: &Container, catalogs: &CatalogCache) -> Result<Target> {
        let known = base.read(|snapshot| catalogs.get(snapshot))?;
        check_model(&known.meta)?;
        let settings = base.read(Settings::read)?;
        let mut meta = known.meta.clone();
        PROGRAM.clone_into(&mut meta.writer);
        Ok(Target {
            codec: meta.embedder.codec,
            batch: Batch::new(meta, known.manifest.clone(), now_ms(), &settings),
            settings,
            columns: known.vector_columns.clone(),
            report: MergeReport::default(),
        })
    }

    /// A new file, with trigrams if any of the others has them, and with nibbles if any of them has.
    fn of_new<'f>(
        manifest: Manifest,
        files: impl Iterator<Item = &'f Container>,
    ) -> Result<Target> {
        let mut meta = new_meta()?;
        let mut without_trigrams = true;
        for file in files {
            let (theirs, settings) =
                file.read(|snapshot| Ok((Meta::read(snapshot)?, Settings::read(snapshot)?)))?;
            if theirs.embedder.codec != CODEC_I8 {
                meta.embedder.codec = theirs.embedder.codec;
            }
            without_trigrams &= settings.without_trigrams;
        }
        let settings = Settings {
            without_trigrams,
            ..Settings::default()
        };
        Ok(Target {
            codec: meta.embedder.codec,
            batch: Batch::new(meta, manifest, now_ms(), &settings),
            settings,
            columns: VectorColumns::default(),
            report: MergeReport::default(),
        })
    }

    /// Writes what is taken of another file.
    fn take(
        &mut self,
        transaction: &mut Transaction<'_>,
        source: Source<'_>,
        groups: &[Group],
        (options, max_rows): (&MergeOptions, u32),
        reporter: &Reporter<'_>,
    ) -> Result<()> {
        let from = source.catalog.meta.embedder.codec;
        // Signed bytes become nibbles; nothing makes nibbles finer.
        if from != self.codec && from != CODEC_I8 {
            return Err(Error::InvalidArgument {
                argument: "source",
                reason: format!(
                    "{} has vectors of {}, which do not become {}: merge into a new file, or seal this one as {} first",
                    source.path.display(),
                    Codec::of(from)?.name(),
                    Codec::of(self.codec)?.name(),
                    Codec::of(from)?.name()
                ),
            });
        }
        let roots = match options.only.is_empty() {
            true => {
                let (meta, manifest) = self.batch.records();
                JoinedRoots::new(&source.catalog.meta.roots, source.folder, meta, manifest)?
            }
            // An index run would bring all files of the folder.
            false => JoinedRoots::none(),
        };
        self.report.left_roots.extend_from_slice(&roots.left);
        roots.join_settings(&Settings::read(source.snapshot)?, &mut self.settings);
        let first_new = self.columns.next;
        let (moves, left) = columns::join(&source.catalog.vector_columns, &mut self.columns);
        self.report.left_columns.extend(left);
        for column in moves.iter().filter(|it| it.to.number >= first_new) {
            kept_model::copy(source.snapshot, transaction, column.from, column.to.number)?;
        }
        let copying = copy::Copying {
            source,
            options,
            roots: &roots,
            moves: &moves,
            codec: self.codec,
            has_trigrams: !self.settings.without_trigrams,
            max_rows,
            reporter,
        };
        for group in groups {
            copying.copy(transaction, &mut self.batch, group)?;
        }
        let is_whole = options.only.is_empty() && !matches!(source.picked, Picked::Only(_));
        if is_whole {
            copying.copy_skipped(transaction)?;
        }
        Ok(())
    }
}

/// Reads another file once: half of it may be in the transaction already.
fn read<T>(
    source: &MergeSource,
    other: &Container,
    reporter: &Reporter<'_>,
    once: impl FnOnce(Source<'_>) -> Result<T>,
) -> Result<T> {
    let mut once = Some(once);
    other.read_cancellable(Some(reporter.stop_flag()), |snapshot| {
        let once = once.take().ok_or(Error::SnapshotExpired)?;
        once(Source {
            path: &source.path,
            folder: source.folder.as_deref(),
            picked: &source.picked,
            snapshot,
            catalog: &Catalog::load(snapshot)?,
        })
    })
}

/// The options, with tags in the form in which they are stored.
fn checked(options: &MergeOptions) -> Result<MergeOptions> {
    let words: Vec<&str> = options.tags.iter().map(String::as_str).collect();
    Ok(MergeOptions {
        tags: tags::given(&words)?,
        ..options.clone()
    })
}
