//! The registry of open files: found by name or UUID, and added to while the server runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use kb_engine::{DocumentInfo, KbWriter};

use super::index::Index;
use super::jobs::Jobs;
use super::paths::Roots;
use crate::options::{NAME_LIMIT, Opened, Options, StartError};
use crate::response::{ToolError, short, wording};

/// Most files that one server opens: as many as one search covers.
pub(crate) const INDEXES_LIMIT: usize = kb_engine::FILES_LIMIT;

/// How often it is looked whether uploads are stored.
const UPLOADS_INTERVAL: Duration = Duration::from_millis(20);

/// The name of the index of the folder that the server works in.
pub(crate) const WORKING_DIRECTORY: &str = ".";

/// Called after each commit of this process.
type Listener = Box<dyn Fn() + Send + Sync>;

/// All open files.
pub(crate) struct Indexes {
    all: RwLock<Vec<Arc<Index>>>,
    /// Names of indexes that are being created.
    reserved: Mutex<Vec<String>>,
    /// The runs that create new indexes.
    making: Arc<Jobs>,
    /// The command that serves them.
    command: &'static str,
    allow_write: bool,
    roots: Roots,
    /// Threads that one search may use.
    threads: usize,
    listener: OnceLock<Listener>,
    opened: Option<Opened>,
}

impl Indexes {
    /// Opens all files. If writing is allowed, a file that does not exist is created, empty.
    pub(crate) fn open(options: &Options) -> Result<Arc<Indexes>, StartError> {
        check(&options.files)?;
        let roots = if options.allow_write {
            Roots::new(&options.allow_roots)
        } else {
            Ok(Roots::none())
        };
        let roots = roots.map_err(|(path, error)| StartError::Io {
            action: format!("find {}", path.display()),
            error,
        })?;
        let mut all: Vec<Arc<Index>> = Vec::new();
        for (name, path) in &options.files {
            let failed = |error| StartError::File {
                path: path.clone(),
                error,
            };
            if options.allow_write && !path.exists() {
                let created = KbWriter::open_or_create(path).and_then(|mut writer| writer.commit());
                created.map_err(failed)?;
            }
            all.push(Arc::new(Index::open(name, path).map_err(failed)?));
        }
        mark_several(&all);
        let indexes = Arc::new(Indexes {
            all: RwLock::new(all),
            reserved: Mutex::default(),
            making: Arc::default(),
            command: options.command,
            allow_write: options.allow_write,
            roots,
            threads: options.threads,
            listener: OnceLock::new(),
            opened: options.opened.clone(),
        });
        for index in indexes.list() {
            indexes.notify_opened(&index);
        }
        Ok(indexes)
    }

    /// All indexes, in the order in which they were opened.
    pub(crate) fn list(&self) -> Vec<Arc<Index>> {
        self.all
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The command that serves them, as advice names it.
    pub(crate) fn command(&self) -> &'static str {
        self.command
    }

    /// Whether the server allows writes.
    pub(crate) fn allow_write(&self) -> bool {
        self.allow_write
    }

    /// The folders that may be indexed.
    pub(crate) fn roots(&self) -> &Roots {
        &self.roots
    }

    /// Threads that one search may use.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// The runs that create new indexes, with the name of the index as path.
    pub(crate) fn making(&self) -> &Arc<Jobs> {
        &self.making
    }

    /// Waits until all accepted uploads are stored, up to `limit`. Returns the names of the indexes with
    /// uploads that are not, and how many these are.
    pub(crate) fn finish_uploads(&self, limit: Duration) -> Vec<(String, usize)> {
        let started = Instant::now();
        loop {
            let left = self.list().into_iter().filter_map(|index| {
                let uploads = index.jobs().uploads();
                (uploads > 0).then(|| (index.name().to_owned(), uploads))
            });
            let left: Vec<(String, usize)> = left.collect();
            if left.is_empty() || started.elapsed() >= limit {
                return left;
            }
            thread::sleep(UPLOADS_INTERVAL);
        }
    }

    /// Sets the function that is called after each commit of this process. Only the first call counts.
    pub(crate) fn on_commit(&self, listener: impl Fn() + Send + Sync + 'static) {
        let _ = self.listener.set(Box::new(listener));
    }

    /// Reports a commit of this process.
    pub(crate) fn committed(&self) {
        if let Some(listener) = self.listener.get() {
            listener();
        }
    }

    /// The index of that name or UUID; `.` is that of the working directory, as no index is called so.
    pub(crate) fn named(&self, name: &str) -> Result<Arc<Index>, ToolError> {
        if name == WORKING_DIRECTORY {
            return self.of_working_directory();
        }
        let all = self.list();
        // No name is that long, and comparing costs its length for each index.
        let is_plausible = name.len() <= 4 * NAME_LIMIT;
        let named = || all.iter().find(|index| index.name() == name);
        let with_id = || all.iter().find(|index| index.has_uuid(name));
        let found = is_plausible.then(|| named().or_else(with_id)).flatten();
        found.cloned().ok_or_else(|| {
            ToolError::new(
                "INDEX_NOT_FOUND",
                format!("no index is called {:?}", short(name)),
            )
            .with_hint(match all.as_slice() {
                [only] => format!("Only {} is open", only.name()),
                _ => format!("Open are {}", names(&all)),
            })
        })
    }

    /// The index of a call: the one it names, the only one, or that of the working directory.
    pub(crate) fn pick(&self, name: Option<&str>) -> Result<Arc<Index>, ToolError> {
        if let Some(name) = name {
            return self.named(name);
        }
        let all = self.list();
        match all.as_slice() {
            [only] => Ok(Arc::clone(only)),
            _ => self.of_working_directory().map_err(|_| {
                ToolError::new("INDEX_AMBIGUOUS", format!("{} indexes are open", all.len()))
                    .with_hint(pass_one_of(&all))
            }),
        }
    }

    /// The indexes of a search: the one it names, else all.
    pub(crate) fn pick_all(&self, name: Option<&str>) -> Result<Vec<Arc<Index>>, ToolError> {
        match name {
            Some(name) => Ok(vec![self.named(name)?]),
            None => Ok(self.list()),
        }
    }

    /// The index that was made from the working directory of the server, or from a folder that contains
    /// it: an agent works there too, as it started the server.
    fn of_working_directory(&self) -> Result<Arc<Index>, ToolError> {
        let all = self.list();
        let here = std::env::current_dir().ok();
        let holds = |index: &&Arc<Index>| here.as_ref().is_some_and(|here| index.holds(here));
        let mut holding = all.iter().filter(holds);
        match (holding.next(), holding.next()) {
            (Some(one), None) => Ok(Arc::clone(one)),
            (one, _) => {
                let which = if one.is_some() {
                    "several indexes were"
                } else {
                    "no index was"
                };
                let sentence = format!("{which} made from the folder that the server works in");
                Err(ToolError::new("INDEX_NOT_FOUND", sentence).with_hint(pass_one_of(&all)))
            }
        }
    }

    /// Reserves the name of a new index, and a place for it.
    ///
    /// # Errors
    /// `INDEX_NAME_TAKEN`, or `INVALID_ARGUMENT` if no more indexes can be open.
    pub(crate) fn reserve(self: &Arc<Indexes>, name: &str) -> Result<Reserved, ToolError> {
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        let mut reserved = self.reserved();
        let is_open = all.iter().any(|index| index.name() == name);
        if is_open || reserved.iter().any(|other| other == name) {
            let why = if is_open {
                "already open"
            } else {
                "being made already"
            };
            return Err(ToolError::new(
                "INDEX_NAME_TAKEN",
                format!("index_name: an index called {:?} is {why}", short(name)),
            )
            .with_hint("Pass another index_name, or wait until get_status says that it is ready"));
        }
        if all.len() + reserved.len() >= INDEXES_LIMIT {
            return Err(ToolError::new(
                "INVALID_ARGUMENT",
                format!("index_name: {INDEXES_LIMIT} indexes are open, the maximum"),
            ));
        }
        reserved.push(name.to_owned());
        Ok(Reserved {
            indexes: Arc::clone(self),
            name: name.to_owned(),
        })
    }

    /// The index of the file at `path`, under any name.
    pub(crate) fn at(&self, path: &Path) -> Option<Arc<Index>> {
        let real = path.canonicalize().ok()?;
        let is_it = |index: &Arc<Index>| index.path().canonicalize().is_ok_and(|it| it == real);
        self.list().into_iter().find(is_it)
    }

    fn reserved(&self) -> MutexGuard<'_, Vec<String>> {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify_opened(&self, index: &Index) {
        if let Some(opened) = &self.opened {
            opened(index.name(), index.path());
        }
    }

    /// The path of a new index of that name: beside the first file.
    pub(crate) fn path_of_new(&self, name: &str) -> PathBuf {
        let all = self.list();
        let folder = all.first().and_then(|index| index.path().parent());
        folder.unwrap_or(Path::new("")).join(format!("{name}.kb"))
    }
}

/// Checks that the files can be served together, before any is opened or created.
fn check(files: &[(String, PathBuf)]) -> Result<(), StartError> {
    let refused = |message: String, hint: Option<&str>| {
        Err(StartError::Usage {
            message,
            hint: hint.map(str::to_owned),
        })
    };
    if files.is_empty() || files.len() > INDEXES_LIMIT {
        let count = files.len();
        let message = format!("{count} files given; a server opens 1 to {INDEXES_LIMIT}");
        return refused(message, None);
    }
    let (mut names, mut paths) = (BTreeSet::new(), BTreeSet::new());
    for (name, path) in files {
        if !names.insert(name) {
            let hint = "give one of them another name: NAME=FILE.kb";
            return refused(format!("two files are called {name:?}"), Some(hint));
        }
        if !paths.insert(real(path)) {
            let message = format!("{} is given twice", path.display());
            return refused(message, None);
        }
    }
    Ok(())
}

/// The path with symbolic links resolved, of a file that need not exist.
fn real(path: &Path) -> PathBuf {
    let beside = || {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    let existing = path.canonicalize().ok();
    existing
        .or_else(beside)
        .unwrap_or_else(|| path.to_path_buf())
}

/// The name of an index that is being created, and a place for it, until this is dropped.
pub(crate) struct Reserved {
    indexes: Arc<Indexes>,
    name: String,
}

impl Reserved {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Opens the file under the name, if `may_serve` allows it; else `None`. It checks the file that is
    /// open, not its path, which may lead elsewhere by now.
    pub(crate) fn open(
        self,
        path: &Path,
        may_serve: impl FnOnce(&Index) -> Result<bool, ToolError>,
    ) -> Result<Option<Arc<Index>>, ToolError> {
        let index = Arc::new(Index::open(&self.name, path)?);
        if !may_serve(&index)? {
            return Ok(None);
        }
        let all = &self.indexes.all;
        let mut all = all.write().unwrap_or_else(PoisonError::into_inner);
        all.push(Arc::clone(&index));
        mark_several(&all);
        drop(all);
        self.indexes.notify_opened(&index);
        Ok(Some(index))
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.indexes.reserved().retain(|name| *name != self.name);
    }
}

/// When the original of a document was modified; if that is not known, when the document was added.
pub(crate) fn updated_ms(document: &DocumentInfo) -> i64 {
    match document.modified_ms {
        0 => document.added_ms,
        known => known,
    }
}

/// Tells each that it is not alone, if so.
fn mark_several(all: &[Arc<Index>]) {
    if all.len() > 1 {
        all.iter().for_each(|index| index.set_one_of_several());
    }
}

/// Their names, as a list.
pub(super) fn names(all: &[Arc<Index>]) -> String {
    let names: Vec<&str> = all.iter().map(|index| index.name()).collect();
    wording::all_of(&names)
}

/// The hint to choose one of them.
pub(super) fn pass_one_of(all: &[Arc<Index>]) -> String {
    let names: Vec<&str> = all.iter().map(|index| index.name()).collect();
    format!("Pass index_name: {}", wording::one_of(&names))
}
