//! Flags of the verbs that make, change or check a file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};
use kb_engine::{IndexOptions, VectorCodec};

use super::flags::{FileFlag, FileOperand, JsonFlag};
use crate::output::format;

/// How long a command waits that does not say how long: an upload, or the `kb index` of a small folder,
/// takes less.
const DEFAULT_WAIT: Duration = Duration::from_secs(10);

/// Waiting for another writer.
#[derive(Debug, Args)]
pub(crate) struct WaitFlag {
    /// Wait up to SECONDS for another program to finish writing the file
    ///
    /// Without a number, wait without limit. Without this flag, wait 10 seconds; 0 does not wait. Then a
    /// file that another program is writing is an error that names the program.
    #[arg(
        long,
        value_name = "SECONDS",
        num_args = 0..=1,
        default_missing_value = "86400",
        value_parser = parse_seconds
    )]
    wait: Option<Duration>,
}

impl WaitFlag {
    /// How long to wait; zero: not at all.
    pub(crate) fn limit(&self) -> Duration {
        self.wait.unwrap_or(DEFAULT_WAIT)
    }
}

/// Which files are too large.
#[derive(Debug, Args)]
pub(crate) struct SizeLimit {
    /// Skip files larger than this
    ///
    /// A number of bytes, or a number with a unit: 500K, 16M, 1G (powers of 1024), 16MB (powers of 1000).
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = format::parse_bytes)]
    pub(crate) max_file_size: u64,
}

/// Whether keys and credentials are read.
#[derive(Debug, Args)]
pub(crate) struct SecretsFlag {
    /// Also read files that may hold a key or credentials [default: as the file has it, else false]
    ///
    /// Without it they are skipped with a reason: by name (id_rsa, .env, credentials.json, *.p12 and others), or by
    /// content (private keys, tokens of cloud services, settings with a password). The .kb file remembers the
    /// choice; --include-secrets=false goes back and removes them. A line with `gitleaks:allow` is not searched,
    /// and `kb add FILE --include-secrets` takes in one file.
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub(crate) include_secrets: Option<bool>,
}

impl SecretsFlag {
    /// Options of a run that do with secrets as was asked, or as the file has it.
    pub(crate) fn options(&self) -> IndexOptions {
        let options = IndexOptions::new();
        match self.include_secrets {
            Some(include) => options.include_secrets(include),
            None => options,
        }
    }
}

/// Which files below the PATHs are read.
#[derive(Debug, Args)]
pub(crate) struct SelectionFlags {
    /// Also read hidden files and folders that git does not track [default: as the file has it, else false]
    ///
    /// Those that git tracks (.github, .gitlab-ci.yml) are read without this flag, and what git keeps in .git never is.
    /// What is skipped is reported, and listed by `kb ls --skipped`. The .kb file remembers the choice for each PATH;
    /// --hidden=false goes back.
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    hidden: Option<bool>,

    /// Follow symbolic links [default: as the file has it, else false]
    ///
    /// Each real file is read once, under its first path. Links to a place in the same PATH, around it or in another PATH
    /// are skipped, so loops end. `kb watch` sees no changes behind links until it reads the folder again. The .kb file
    /// remembers the choice for each PATH; --follow=false goes back.
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    follow: Option<bool>,

    /// Read only files that match GLOB, or that are in a folder that does (repeatable)
    ///
    /// A pattern as in .gitignore, relative to PATH: *.md, docs/, /src/**/*.rs. It does not bring back what .gitignore,
    /// .kbignore or --exclude leave out. The .kb file remembers the patterns for each PATH, and later runs and `kb watch`
    /// obey them; new ones replace them, and --include= removes them.
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true)]
    include: Option<Vec<String>>,

    /// Skip files and folders that match GLOB (repeatable)
    ///
    /// Patterns and memory are as those of --include; --exclude= removes them. A .kbignore file in the folder does the
    /// same for everybody who indexes it.
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true)]
    exclude: Option<Vec<String>>,
}

impl SelectionFlags {
    /// Options of a run that takes what was asked, or what the file has.
    pub(crate) fn apply(&self, options: IndexOptions) -> IndexOptions {
        options
            .hidden(self.hidden)
            .follow(self.follow)
            .include(self.include.clone())
            .exclude(self.exclude.clone())
    }
}

/// Create a .kb file from folders and files, or bring it up to date
///
/// Reads documents and source code below every PATH on all cores. Files matched by .gitignore or
/// .kbignore, hidden files that git does not track, other work trees of the same git repository, binary files, .kb
/// files, and files with keys or credentials are skipped; a hidden file that is itself a PATH is read. The new state is written in one step: readers see the old state until then, and
/// interrupting the command leaves the old state. A new file is written every 30 seconds; interrupted after that, it keeps
/// what it has, and the same command goes on.
///
/// Running it again reads and writes only what changed. Other PATHs are added to those that the file
/// was made from; what came from elsewhere, or by `kb add`, stays.
#[derive(Debug, Args)]
#[command(after_help = INDEX_EXAMPLES)]
pub(crate) struct IndexArguments {
    #[command(flatten)]
    pub(crate) target: TargetArguments,

    /// Write nothing; report what would change, and exit with 1 if the file is out of date
    #[arg(long, conflicts_with = "rebuild")]
    pub(crate) check: bool,

    /// Compare the content of every file, even if its size and time have not changed
    #[arg(long)]
    pub(crate) force_hash: bool,

    /// Remove the documents of folders that have no files left
    ///
    /// A PATH without files is an error. An empty folder below a PATH keeps its documents, with exit status 2, where
    /// nothing was removed from it since they were seen: it may be a disk that is not mounted. This flag removes these
    /// documents. Those of single files, of folders that are gone and of folders that were emptied are removed without it.
    #[arg(long)]
    pub(crate) prune: bool,

    /// PATH is the folder of this root of the file, whatever it holds and wherever the root was
    ///
    /// A sealed file knows its folders by name only. A folder of that name is taken for the root when
    /// more than half of a sample of its files are there unchanged; otherwise it becomes a root of its
    /// own and this flag says that it is the same. A root whose folder is gone is recognised in the same way, whatever
    /// the new folder is called. `kb info` lists the roots: name one by its prefix,
    /// by its folder, or exactly by `PREFIX/` (`.` is the root without a prefix). One PATH only.
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(crate) root: Option<String>,

    /// Read every file again and rewrite the whole .kb file; columns of imported vectors are lost
    ///
    /// `kb seal` rewrites a file, also with another --vectors codec, and keeps them.
    #[arg(long)]
    pub(crate) rebuild: bool,

    /// How vectors are stored in a new file, or with --rebuild [default: as the file has them, else i8]
    ///
    /// i4 takes half the bytes of i8 and answers nearly as well.
    #[arg(long, value_name = "CODEC")]
    pub(crate) vectors: Option<VectorsArgument>,

    /// Least share of the 10 nearest chunks that a search by meaning finds, 0.5 to 1 or 0 [default: as the file has it]
    ///
    /// Measured on questions drawn from the file, against vectors that are not quantised. A large file is searched by
    /// parts of its vector index; searches read as much of it as this takes. Where it cannot be had, because i8 or i4
    /// vectors do not tell chunks apart that well, the exit status is 1 and the file as good as it can be. `kb info`
    /// shows what was measured. The .kb file remembers the wish, which `kb seal` keeps too; 0 takes it back. It is of the
    /// built-in vectors: columns of other models are measured when they are imported, and `kb vectors` shows that.
    #[arg(long, value_name = "SHARE", value_parser = recall)]
    pub(crate) min_recall: Option<f32>,

    /// Write no trigrams, by which `kb search --mode regex` skips text [default: as the file has it, else false]
    ///
    /// The file is smaller by some 7 % of its text, and a search for a regular expression reads all of it. The .kb file
    /// remembers the choice; --no-trigrams=false goes back. It holds for what is written from now on: with --rebuild,
    /// or after `kb seal`, for everything.
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub(crate) no_trigrams: Option<bool>,

    /// Worker threads; 0 is one per core
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,

    #[command(flatten)]
    pub(crate) selection: SelectionFlags,

    #[command(flatten)]
    pub(crate) limit: SizeLimit,

    #[command(flatten)]
    pub(crate) secrets: SecretsFlag,

    #[command(flatten)]
    pub(crate) wait: WaitFlag,

    /// List every file that changed, and every skipped file with the reason
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    /// Print errors only: no progress bar, no report
    #[arg(short, long)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// What is read, and the file that is made from it.
#[derive(Debug, Args)]
pub(crate) struct TargetArguments {
    /// Folders or files to read
    #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    /// The file to write [default: ./<folder name>.kb]
    ///
    /// Needed when several PATHs are given. Where there is no file of that name, but the current folder has a .kb
    /// that was made from PATH or from a folder around it, that one is brought up to date.
    #[arg(short, long, value_name = "FILE.kb", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

const INDEX_EXAMPLES: &str = "\
Examples:
  kb index .                            this folder, into ./<folder name>.kb
  kb index ~/notes -o notes.kb          that folder, into this file
  kb index docs src -o project.kb       two folders in one file
  kb index . --check                    exit with 1 if the file is out of date
  kb index . --include '*.md' --exclude drafts/
                                        only Markdown, and no drafts
  kb index . --max-file-size 1M -v      list skipped files with the reason";

/// Keep a .kb file up to date while its sources change
///
/// Indexes the PATHs, then picks up every save, rename and deletion below them within a fraction of a
/// second. Prints one line for each update: the time, how many documents are new (+), changed (~) and
/// removed (-), and how long it took. The file can be searched meanwhile, and other programs can write
/// it between two updates. If a folder disappears, its documents stay, and it is watched again when it
/// is back. If the .kb file itself is moved or removed, the command exits with status 2 and creates no
/// new file. Press Ctrl-C to stop.
#[derive(Debug, Args)]
#[command(after_help = WATCH_EXAMPLES)]
pub(crate) struct WatchArguments {
    #[command(flatten)]
    pub(crate) target: TargetArguments,

    #[command(flatten)]
    pub(crate) selection: SelectionFlags,

    #[command(flatten)]
    pub(crate) limit: SizeLimit,

    #[command(flatten)]
    pub(crate) secrets: SecretsFlag,

    /// Print warnings and errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

const WATCH_EXAMPLES: &str = "\
Examples:
  kb watch .                            this folder, into ./<folder name>.kb
  kb watch ~/notes docs -o all.kb       two folders in one file
  kb watch . --json | jq .changes       what changed, for a program";

/// Add one document, from a file or standard input
///
/// The document is known by its path inside the .kb from then on: `kb index` leaves it alone. Prints
/// this path and the handle, a short name that stays when the title changes.
#[derive(Debug, Args)]
#[command(after_help = ADD_EXAMPLES)]
pub(crate) struct AddArguments {
    /// The file to read; `-` reads standard input and needs --path
    #[arg(value_name = "SOURCE", value_hint = ValueHint::FilePath)]
    pub(crate) source: PathBuf,

    /// The .kb file to add to; created if it does not exist
    ///
    /// Default: the file named by KB_FILE, else the .kb file in this folder or in the nearest parent folder that
    /// has one; of several the newest that was made from this folder.
    #[arg(short, long, value_name = "FILE.kb", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,

    /// Path of the document inside the .kb [default: the name of SOURCE]
    ///
    /// Its ending says how the content is read: .md, .html, .rs. Without an ending, that of SOURCE.
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,

    /// Title [default: the one that the content states]
    #[arg(long)]
    pub(crate) title: Option<String>,

    /// Add a tag (repeatable)
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,

    /// Replace the document at this path, and keep its handle and tags
    #[arg(long)]
    pub(crate) replace: bool,

    /// Add a file that may hold a key or credentials, which is refused without this flag
    #[arg(long)]
    pub(crate) include_secrets: bool,

    #[command(flatten)]
    pub(crate) wait: WaitFlag,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

const ADD_EXAMPLES: &str = "\
Examples:
  kb add minutes.md -f team.kb --tag meeting
  kb add ~/Downloads/page.html --path web/page.html --replace
  date | kb add - --path log/today.txt --title 'Log of today'";

/// Remove documents
///
/// All of them or, when a name is wrong, none. A file of an indexed folder comes back when the folder
/// is indexed again: name it in a .kbignore to keep it out.
#[derive(Debug, Args)]
#[command(after_help = RM_EXAMPLES)]
pub(crate) struct RmArguments {
    /// Path of a document, a unique end of its path, its handle, or its kb:// address
    ///
    /// The first of several may be the .kb file itself.
    #[arg(required = true, value_name = "DOCUMENT")]
    pub(crate) documents: Vec<String>,

    #[command(flatten)]
    pub(crate) file: FileFlag,

    #[command(flatten)]
    pub(crate) wait: WaitFlag,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

const RM_EXAMPLES: &str = "\
Examples:
  kb rm minutes.md -f team.kb               by the end of its path
  kb rm release-notes-k3f9qa -f team.kb     by its handle
  kb rm team.kb minutes.md                  the file before its documents";

/// Show, add or remove tags of documents
///
/// Tags are kept in lower case. They stay when a file changes, except those that the front matter of
/// a Markdown file states, which follow it. `kb search --tag` filters by them.
#[derive(Debug, Args)]
#[command(after_help = TAG_EXAMPLES)]
pub(crate) struct TagArguments {
    /// Path of a document, a unique end of its path, its handle, or its kb:// address
    #[arg(required = true, value_name = "DOCUMENT")]
    pub(crate) documents: Vec<String>,

    #[command(flatten)]
    pub(crate) file: FileFlag,

    /// Add this tag (repeatable)
    #[arg(long, value_name = "TAG")]
    pub(crate) add: Vec<String>,

    /// Remove this tag (repeatable)
    #[arg(long, value_name = "TAG")]
    pub(crate) remove: Vec<String>,

    #[command(flatten)]
    pub(crate) wait: WaitFlag,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

const TAG_EXAMPLES: &str = "\
Examples:
  kb tag guide.md                       which tags it has
  kb tag guide.md --add draft --add sea
  kb tag docs/a.md docs/b.md --remove draft --add 'to ship'";

/// Write the smallest, reproducible form of a file, with its content root
///
/// Documents in the order of their paths, text compressed as well as possible, nothing deleted left,
/// only the names of the indexed folders. The same documents give the same content root, on any
/// machine and whatever the history. Takes about half a second for each megabyte of text. Where the sealed file misses
/// the recall that `kb index --min-recall` asked for, it is written all the same, with a warning and exit status 1.
#[derive(Debug, Args)]
#[command(after_help = SEAL_EXAMPLES)]
pub(crate) struct SealArguments {
    /// The .kb file
    #[arg(value_name = "FILE.kb", value_hint = ValueHint::FilePath, required_unless_present = "flag")]
    operand: Option<PathBuf>,

    /// The same, as a flag
    #[arg(short = 'f', long = "file", value_name = "FILE.kb", value_hint = ValueHint::FilePath, conflicts_with = "operand")]
    flag: Option<PathBuf>,

    /// Write the sealed file here [default: replace FILE.kb]
    #[arg(short, long, value_name = "OUT.kb", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Replace OUT.kb if it is another .kb file
    ///
    /// For scripts that seal to the same name again and again. Without it another .kb at OUT.kb is
    /// left as it is, with exit status 2. A file that is no .kb is never replaced.
    #[arg(long)]
    pub(crate) force: bool,

    /// How vectors are stored [default: as the file has them]
    ///
    /// i4 takes half the bytes of i8 and answers nearly as well; the way back is to index again.
    #[arg(long, value_name = "CODEC")]
    pub(crate) vectors: Option<VectorsArgument>,

    #[command(flatten)]
    pub(crate) wait: WaitFlag,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// How vectors are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VectorsArgument {
    /// 8 bits a dimension
    I8,
    /// 4 bits a dimension
    I4,
}

impl VectorsArgument {
    pub(crate) fn codec(self) -> VectorCodec {
        match self {
            VectorsArgument::I8 => VectorCodec::I8,
            VectorsArgument::I4 => VectorCodec::I4,
        }
    }
}

impl SealArguments {
    /// The file that was named.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.operand.as_deref().or(self.flag.as_deref())
    }
}

const SEAL_EXAMPLES: &str = "\
Examples:
  kb seal notes.kb                      in its place
  kb seal notes.kb -o notes-1.0.kb      beside it
  kb seal notes.kb -o ship.kb --force   also where an earlier ship.kb is
  kb seal notes.kb --vectors i4         with vectors of half the size";

/// Check a file for damage, or compare it with the folders it was made from
///
/// Exit status: 0 if no problem is found, 1 if a folder given with --source differs from the file, 2 if
/// the file is damaged.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct VerifyArguments {
    #[command(flatten)]
    pub(crate) file: FileOperand,

    /// Also rebuild every index entry from the stored text and compare
    #[arg(long)]
    pub(crate) deep: bool,

    /// Compare with this folder, wherever it was when the file was made (repeatable)
    ///
    /// Reads every file. One DIR for each folder that the file was made from, of the same name.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) source: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) limit: SizeLimit,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

const VERIFY_EXAMPLES: &str = "\
Examples:
  kb verify notes.kb                    every checksum
  kb verify notes.kb --deep             and whether the indexes say what the texts say
  kb verify notes.kb --source ~/notes   is it what is in this folder?";

/// Reads a number of seconds, with a fraction or without.
fn parse_seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| {
            format!("{text:?} is no number of seconds; give --wait=5, or --wait as the last word")
        })
}

/// A wanted recall, in the range that the engine takes: refused here, it names the flag.
fn recall(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(share) if share == 0.0 || (0.5..=1.0).contains(&share) => Ok(share),
        _ => Err("a recall is a number from 0.5 to 1, such as 0.95, or 0 for none".to_owned()),
    }
}
