//! Flags of the verbs that create, change or check a file.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use kb_engine::IndexOptions;

use super::flags::{EmbedderFlags, FileFlag, FileOperand, JsonFlag, VectorsArgument};
use crate::output::format;

/// How long a command waits by default. An upload, or `kb index` of a small folder, takes less.
const DEFAULT_WAIT: Duration = Duration::from_secs(10);

/// How long to wait for another writer.
#[derive(Debug, Args)]
pub(crate) struct WaitFlag {
    /// Wait up to SECONDS for another program to finish writing the file
    ///
    /// Without a number, wait without limit. Without this flag, wait 10 seconds; 0 does not wait. If the other program
    /// is still writing after this time, the command fails and names the program.
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
    /// Returns how long to wait; zero means not at all.
    pub(crate) fn limit(&self) -> Duration {
        self.wait.unwrap_or(DEFAULT_WAIT)
    }
}

/// The size above which files are skipped.
#[derive(Debug, Args)]
pub(crate) struct SizeLimit {
    /// Skip files larger than this
    ///
    /// A number of bytes, or a number with a unit: 500K, 16M, 1G (powers of 1,024), 16MB (powers of 1,000).
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = format::parse_bytes)]
    pub(crate) max_file_size: u64,
}

/// Whether files with keys and credentials are read.
#[derive(Debug, Args)]
pub(crate) struct SecretsFlag {
    /// Also read files that may hold keys or credentials [default: as stored in the .kb file, else false]
    ///
    /// Without this flag they are skipped: by name (id_rsa, .env, credentials.json, *.p12 and others), or by content
    /// (private keys, tokens of cloud services, settings with a password). A line with `gitleaks:allow` is not checked.
    /// The .kb file stores this choice; --include-secrets=false reverts it and removes these files. To add a single file,
    /// use `kb add FILE --include-secrets`.
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
    /// Returns options with the choice that was given, or without one: the choice of the file then applies.
    pub(crate) fn options(&self) -> IndexOptions {
        let options = IndexOptions::new();
        match self.include_secrets {
            Some(include) => options.include_secrets(include),
            None => options,
        }
    }
}

/// Which files in the PATHs are read.
#[derive(Debug, Args)]
pub(crate) struct SelectionFlags {
    /// Also read hidden files and folders that git does not track [default: as stored in the .kb file, else false]
    ///
    /// Hidden files that git tracks (.github, .gitlab-ci.yml) are always read, and .git itself is never read. Skipped
    /// files are reported, and `kb ls --skipped` lists them. The .kb file stores this choice for each PATH;
    /// --hidden=false reverts it.
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    hidden: Option<bool>,

    /// Follow symbolic links [default: as stored in the .kb file, else false]
    ///
    /// Each real file is read once, under the first path that leads to it. A link into any PATH, or to a folder that
    /// contains one, is skipped, so there are no loops. `kb watch` does not see changes behind links until it reads the
    /// folder again. The .kb file stores this choice for each PATH; --follow=false reverts it.
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    follow: Option<bool>,

    /// Read only files that match GLOB or are in a folder that matches (repeatable)
    ///
    /// Patterns are as in .gitignore, relative to PATH: *.md, docs/, /src/**/*.rs. Files that .gitignore, .kbignore or
    /// --exclude excludes stay excluded. The .kb file stores the patterns for each PATH, for later runs and for
    /// `kb watch`. New patterns replace them; --include= removes them.
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true)]
    include: Option<Vec<String>>,

    /// Skip files and folders that match GLOB (repeatable)
    ///
    /// Patterns are written and stored as those of --include; --exclude= removes them. To exclude files for everybody
    /// who indexes a folder, put the patterns into a .kbignore file there.
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true)]
    exclude: Option<Vec<String>>,
}

impl SelectionFlags {
    /// Adds the choices that were given to `options`; the others are those of the file.
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
/// Reads documents and source code in every PATH, on all cores. Skipped are: files matched by .gitignore or .kbignore,
/// hidden files that git does not track, other work trees of the same git repository, binary files, .kb files, and
/// files with keys or credentials. A hidden file that is itself a PATH is read.
///
/// An existing file changes in one step at the end: readers see the old state until then, and an interrupted command
/// leaves it. A new file is saved every 30 seconds; after an interrupt, the same command continues from there.
///
/// When the command runs again, it reads and writes only what changed. A new PATH is added to the folders of the file.
/// Documents from other folders, and those added by `kb add`, stay.
#[derive(Debug, Args)]
#[command(after_help = INDEX_EXAMPLES)]
pub(crate) struct IndexArguments {
    #[command(flatten)]
    pub(crate) target: TargetArguments,

    /// Write nothing: report what would change, and exit with status 1 if the file is out of date
    #[arg(long, conflicts_with = "rebuild")]
    pub(crate) check: bool,

    /// Compare the content of every file, even if its size and modification time have not changed
    #[arg(long)]
    pub(crate) force_hash: bool,

    /// Remove the documents of folders that have no files left
    ///
    /// An empty folder may be the mount point of a disk that is not mounted. So a PATH without files is an error, and an
    /// empty folder inside a PATH keeps its documents, with exit status 2, unless its times show that files were removed
    /// from it. This flag removes these documents. Documents of deleted files and folders are always removed.
    #[arg(long)]
    pub(crate) prune: bool,

    /// Give documents the last commit of their files as fields: git_commit, git_author, git_date
    ///
    /// The program git is run once for each indexed folder. The fields of a file that changes later stay as they are until
    /// the next run with this flag. A file without a commit has no such fields.
    #[arg(long, conflicts_with = "check")]
    pub(crate) git: bool,

    /// Treat PATH as this root of the file, wherever the root was before
    ///
    /// A root is a folder that was indexed into the file; `kb info` lists them. Name a root by its prefix, its folder, or
    /// exactly by `PREFIX/`; `.` is the root without a prefix. Give one PATH.
    ///
    /// This flag is needed only if a moved folder is not recognised. It is recognised if more than half of a sample of
    /// its files are unchanged, and if its old folder is gone or the file is sealed: a sealed file stores folder names
    /// only. Otherwise the folder becomes a new root.
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(crate) root: Option<String>,

    /// Read every file again and rewrite the whole .kb file; imported vectors are lost
    ///
    /// `kb seal` also rewrites a file, with another --vectors codec too, and keeps imported vectors.
    #[arg(long)]
    pub(crate) rebuild: bool,

    /// How to store vectors, in a new file or with --rebuild [default: as in the .kb file, else i8]
    ///
    /// i4 takes half the bytes of i8, and results are nearly as good.
    #[arg(long, value_name = "CODEC")]
    pub(crate) vectors: Option<VectorsArgument>,

    /// Least recall of a search by meaning, 0.5 to 1; 0 removes the requirement [default: as stored in the .kb file]
    ///
    /// Recall is the share of the 10 nearest chunks that a search finds. It is measured with questions drawn from the
    /// file, against vectors that are not quantised. In a large file, a search reads only parts of the vector index; this
    /// value sets how many. If i8 or i4 vectors are not precise enough to reach it, the file gets the best recall that is
    /// possible, and the exit status is 1. `kb info` shows the measured recall. The .kb file stores this value, and `kb
    /// seal` keeps it. It applies to the built-in vectors; `kb vectors` shows the recall of imported ones.
    #[arg(long, value_name = "SHARE", value_parser = recall)]
    pub(crate) min_recall: Option<f32>,

    /// Write no trigram index [default: as stored in the .kb file, else false]
    ///
    /// The trigram index lets `kb search --mode regex` skip text that cannot match. Without it, the file is smaller by
    /// about 7 % of its text, and a regex search reads all text. The .kb file stores this choice; --no-trigrams=false
    /// reverts it. The choice applies to documents that are written from now on; --rebuild or `kb seal` applies it to all.
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub(crate) no_trigrams: Option<bool>,

    #[command(flatten)]
    pub(crate) embedder: EmbedderFlags,

    /// Number of worker threads; 0 means one per core
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

    /// List every changed file, and every skipped file with the reason
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    /// Print errors only: no progress bar, no report
    #[arg(short, long)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// The sources, and the .kb file to write.
#[derive(Debug, Args)]
pub(crate) struct TargetArguments {
    /// Folders or files to read
    #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    /// The file to write [default: ./<folder name>.kb]
    ///
    /// Required if several PATHs are given. Without this flag and without a file of the default name, a .kb file in the
    /// current folder is updated if it was indexed from PATH or from a folder that contains PATH.
    #[arg(short, long, value_name = "FILE.kb", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

const INDEX_EXAMPLES: &str = "\
Examples:
  kb index .                            this folder, into ./<folder name>.kb
  kb index ~/notes -o notes.kb          another folder, into notes.kb
  kb index docs src -o project.kb       two folders in one file
  kb index . --check                    exit with status 1 if out of date
  kb index . --embedder minilm          by meaning, too: see `kb models`
  kb index . --include '*.md' --exclude drafts/
                                        only Markdown, and no drafts
  kb index . --max-file-size 1M -v      list skipped files with the reason";

/// Keep a .kb file up to date while its sources change
///
/// Indexes the PATHs, then picks up every saved, renamed and deleted file within a fraction of a second. Prints one line
/// for each update: the time, the number of documents added (+), changed (~) and removed (-), and how long it took.
/// The file can be searched at any time, and other programs can write it between two updates.
///
/// If a folder disappears, its documents stay, and it is watched again once it is back. If the .kb file is moved or
/// removed, the command exits with status 2 and creates no new file. Press Ctrl-C to stop.
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

    #[command(flatten)]
    pub(crate) embedder: EmbedderFlags,

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
  kb watch . --json | jq .changes       changes as JSON, for a program";

/// Add one document, from a file or standard input
///
/// The command prints the path of the document inside the .kb file, and its handle: a short name that stays the same
/// if the title changes. `kb index` does not change or remove added documents.
#[derive(Debug, Args)]
#[command(after_help = ADD_EXAMPLES)]
pub(crate) struct AddArguments {
    /// The file to read; `-` reads standard input and needs --path
    #[arg(value_name = "SOURCE", value_hint = ValueHint::FilePath)]
    pub(crate) source: PathBuf,

    /// The .kb file to add to; created if it does not exist
    ///
    /// Default: the file that KB_FILE names, else the .kb file in this folder or in the nearest parent folder with
    /// one. Among several, the newest that was indexed from this folder.
    #[arg(short, long, value_name = "FILE.kb", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,

    /// Path of the document inside the .kb file [default: the file name of SOURCE]
    ///
    /// Its extension (.md, .html, .rs) decides how the content is read. Without one, that of SOURCE decides.
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,

    /// Title of the document [default: the title in the content]
    #[arg(long)]
    pub(crate) title: Option<String>,

    /// Add a tag (repeatable)
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,

    /// Give the document a field for `kb search --where` (repeatable; a name given twice has both values)
    ///
    /// `2016` is a number, `true` a boolean, `2024-05-06` a date. Anything else is a text, and so is what stands in
    /// double quotes: --meta 'zip="01234"'.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) meta: Vec<String>,

    /// Replace an existing document with this path; its handle and tags stay
    #[arg(long)]
    pub(crate) replace: bool,

    /// Add the file even if it may hold keys or credentials; without this flag it is refused
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
  kb add report.pdf --meta year=2024 --meta author=Kim --meta author=Lee
  date | kb add - --path log/today.txt --title 'Log of today'";

/// Remove documents
///
/// If one name is wrong, nothing is removed. A file of an indexed folder comes back when the folder is indexed again;
/// to keep it out, put its path into a .kbignore file.
#[derive(Debug, Args)]
#[command(after_help = RM_EXAMPLES)]
pub(crate) struct RmArguments {
    /// A document: its path, a unique end of its path, its handle, or its kb:// address
    ///
    /// If several arguments are given, the first may be the .kb file.
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
  kb rm team.kb minutes.md                  the .kb file as the first argument";

/// Show, add or remove tags of documents
///
/// Tags are stored in lower case, and `kb search --tag` filters by them. Tags that you add stay when the file changes.
/// Tags in the front matter of a Markdown file follow the file.
#[derive(Debug, Args)]
#[command(after_help = TAG_EXAMPLES)]
pub(crate) struct TagArguments {
    /// A document: its path, a unique end of its path, its handle, or its kb:// address
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
  kb tag guide.md                       show its tags
  kb tag guide.md --add draft --add sea
  kb tag docs/a.md docs/b.md --remove draft --add 'to ship'";

/// Show, set or remove fields of documents
///
/// `kb search --where` compares fields. A field that you set takes the place of one that the document states under the
/// same name, and stays when the file changes. The text is not indexed again.
#[derive(Debug, Args)]
#[command(after_help = META_EXAMPLES)]
pub(crate) struct MetaArguments {
    /// A document: its path, a unique end of its path, its handle, or its kb:// address
    #[arg(required = true, value_name = "DOCUMENT")]
    pub(crate) documents: Vec<String>,

    #[command(flatten)]
    pub(crate) file: FileFlag,

    /// Set this field (repeatable; a name given twice has both values)
    ///
    /// `2016` is a number, `true` a boolean, `2024-05-06` a date. Anything else is a text, and so is what stands in
    /// double quotes: --set 'zip="01234"'.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,

    /// Remove this field (repeatable); one that the file itself states comes back when the file changes
    #[arg(long, value_name = "NAME")]
    pub(crate) remove: Vec<String>,

    #[command(flatten)]
    pub(crate) wait: WaitFlag,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

const META_EXAMPLES: &str = "\
Examples:
  kb meta guide.md                      show its fields
  kb meta guide.md --set year=2024 --set author=Kim --set author=Lee
  kb meta docs/a.md docs/b.md --remove draft";

/// Check a file for damage, or compare it with the folders that were indexed into it
///
/// Exit status: 0 no problem found, 1 a --source folder differs from the file, 2 the file is damaged.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct VerifyArguments {
    #[command(flatten)]
    pub(crate) file: FileOperand,

    /// Also rebuild every index entry from the stored text and compare the two
    #[arg(long)]
    pub(crate) deep: bool,

    /// Compare the file with this folder (repeatable)
    ///
    /// Reads every file in DIR. Give one DIR for each folder that was indexed, with the same folder name. DIR may be in
    /// another place than the indexed folder.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) source: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) limit: SizeLimit,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

const VERIFY_EXAMPLES: &str = "\
Examples:
  kb verify notes.kb                    check every checksum
  kb verify notes.kb --deep             also compare the indexes with the texts
  kb verify notes.kb --source ~/notes   also compare the file with this folder";

/// Parses a number of seconds, which may have a fraction.
fn parse_seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| {
            format!("{text:?} is not a number of seconds; give --wait=5, or put --wait last to wait without limit")
        })
}

/// Parses a recall and checks its range. The engine checks the range too, but only here the error names the flag.
fn recall(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(share) if share == 0.0 || (0.5..=1.0).contains(&share) => Ok(share),
        _ => {
            Err("expected a recall from 0.5 to 1, such as 0.95, or 0 for no requirement".to_owned())
        }
    }
}
