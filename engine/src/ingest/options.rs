//! How an index run is asked for.

use std::path::PathBuf;
use std::time::Duration;

use kb_extract::worker::extraction::Extraction;

use crate::index::vector::Codec;

/// How an index run reads its sources. Every option has a method that sets it:
///
/// ```
/// let options = kb_engine::IndexOptions::new().threads(2).force_hash(true);
/// assert_eq!(options.max_file_bytes, 16 << 20);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct IndexOptions {
    /// Worker threads; 0, the default: one per core.
    pub threads: usize,
    /// Largest file that is read, in bytes; 16 MiB by default. Larger files are skipped with a reason.
    pub max_file_bytes: u64,
    /// Compare the content of every file, even if its size and time have not changed.
    pub force_hash: bool,
    /// Remove the documents of folders that have no file any more, instead of keeping them. Has no influence on which
    /// root a folder is taken for.
    pub prune: bool,
    /// The root of the file that the only path given is the folder of, whatever the folder holds and wherever it was
    /// before. Needed after a seal, which keeps only the names of folders. A root is named by the prefix of its
    /// documents
    /// or by its folder, as in [`crate::Info::roots`]. `prefix/` always means the prefix, and `.` the root without one.
    pub root: Option<String>,
    /// The folders that every path must lie in, absolute and without symbolic links; `None`: any path. For runs that
    /// are
    /// requested by someone other than the owner of the files, such as a client of a server. Links in a path are
    /// resolved
    /// before it is compared. Files are then opened without following any link, even files given by name.
    pub within: Option<Vec<PathBuf>>,
    /// Whether to index files that are keys or credentials by their name (`id_rsa`, `.env`, `*.p12`) or content
    /// (private
    /// keys, tokens of known issuers). If not, they are skipped with a reason, and documents made from such files of a
    /// root are removed. The .kb stores the choice. `None`: as stored; in a new file, no.
    pub include_secrets: Option<bool>,
    /// Whether segments get trigrams, with which a [`RegexRequest`](crate::RegexRequest) skips text that cannot match.
    /// They take about 7 % of the size of the text. The .kb stores the choice. `None`: as stored; in a new file, yes.
    /// It
    /// applies to what is written from now on; a rebuild or a seal writes everything.
    pub trigrams: Option<bool>,
    /// Whether to index hidden files and folders that git does not track. Tracked ones are always indexed, `.git`
    /// never.
    /// The .kb stores the choice for each root. `None`: as stored; for a new root, no.
    pub hidden: Option<bool>,
    /// Whether to follow symbolic links below the roots. Each real file is indexed once, under its first path. Links
    /// into
    /// the same or another root, or out of the folders of [`IndexOptions::within`], are left out. The .kb stores the
    /// choice
    /// for each root. `None`: as stored; for a new root, no.
    pub follow: Option<bool>,
    /// Patterns as in `.gitignore`. Only files that match one, or lie in a folder that does, are indexed; with an empty
    /// list every file is. The .kb stores them for each root. `None`: as stored.
    pub include: Option<Vec<String>>,
    /// Patterns as in `.gitignore` of files and folders that are not indexed. The .kb stores them for each root.
    /// `None`:
    /// as stored.
    pub exclude: Option<Vec<String>>,
    /// Which process reads files of untrusted formats.
    pub extraction: Extraction,
    /// Read every file and rebuild the whole .kb. This drops [columns](crate::VectorColumn) of vectors of other models.
    pub rebuild: bool,
    /// Merge segments of any size at the end of a run that changed something, as far as that keeps them few; the
    /// default.
    /// This may copy the text of all of them. Otherwise a run merges no more than any commit, 64 MB of text, which
    /// suits
    /// runs that follow each other in the background.
    pub large_merges: bool,
    /// How long a run that makes a new file reads before it commits what it has and gives the file its name; 30 s by
    /// default. From then on readers see the file grow. A run that is stopped keeps what was committed, and the next
    /// one
    /// continues there.
    pub checkpoint_after: Duration,
    /// How many bytes of text such a run reads before it commits, if that comes before
    /// [`IndexOptions::checkpoint_after`]; 64 MiB by default.
    pub checkpoint_bytes: u64,
    /// A run that makes a new file parses programs in a second pass if they have at least this many bytes together; 64
    /// MiB by default. The first pass commits text, keywords and vectors of all files, with programs cut as plain text.
    /// The second pass replaces programs by what their syntax gives: symbols, outlines and other chunks. Until then they
    /// have the metadata `symbols_pending`, and [`Info::symbols_pending`](crate::Info::symbols_pending) counts them.
    /// The file has the same content in the end.
    pub symbols_later_bytes: u64,
    /// Whether a run parses the programs that an earlier run left pending; the default. A run that is to be short leaves
    /// them to the next.
    pub parse_pending: bool,
    /// How vectors are stored in a new or rebuilt file. `None`: as in the file; in a new file, as signed bytes. Without
    /// [`IndexOptions::rebuild`] a value other than that of the file is an error.
    pub vectors: Option<Codec>,
    /// The recall@10 that vector search is to reach against vectors that are not quantised, 0.5 to 1. Searches by the
    /// built-in vectors then read as much as that takes. If it cannot be reached,
    /// [`Report::missed_recall`](crate::Report::missed_recall) is set. The .kb stores the value. `None`: as stored; in
    /// a
    /// new file, whatever is cheap. 0 removes the stored value.
    pub min_recall: Option<f32>,
}

/// Bytes of programs from which on a first run parses them in a second pass.
// Two cores parse and index about 6 MB of programs a second, so that many take more than ten seconds, and about 20 MB of
// plain text. A number of bytes and not a time: the same tree is always indexed in the same way.
const SYMBOLS_LATER_BYTES: u64 = 64 << 20;

impl Default for IndexOptions {
    fn default() -> IndexOptions {
        IndexOptions {
            threads: 0,
            max_file_bytes: 16 << 20,
            force_hash: false,
            prune: false,
            root: None,
            within: None,
            include_secrets: None,
            trigrams: None,
            hidden: None,
            follow: None,
            include: None,
            exclude: None,
            extraction: Extraction::default(),
            rebuild: false,
            large_merges: true,
            checkpoint_after: Duration::from_secs(30),
            checkpoint_bytes: 64 << 20,
            symbols_later_bytes: SYMBOLS_LATER_BYTES,
            parse_pending: true,
            vectors: None,
            min_recall: None,
        }
    }
}

impl IndexOptions {
    /// The defaults: one thread per core, files up to 16 MiB, no pruning.
    pub fn new() -> IndexOptions {
        IndexOptions::default()
    }

    /// Sets [`IndexOptions::threads`].
    #[must_use]
    pub fn threads(mut self, threads: usize) -> IndexOptions {
        self.threads = threads;
        self
    }

    /// Sets [`IndexOptions::max_file_bytes`].
    #[must_use]
    pub fn max_file_bytes(mut self, max_file_bytes: u64) -> IndexOptions {
        self.max_file_bytes = max_file_bytes;
        self
    }

    /// Sets [`IndexOptions::force_hash`].
    #[must_use]
    pub fn force_hash(mut self, force_hash: bool) -> IndexOptions {
        self.force_hash = force_hash;
        self
    }

    /// Sets [`IndexOptions::prune`].
    #[must_use]
    pub fn prune(mut self, prune: bool) -> IndexOptions {
        self.prune = prune;
        self
    }

    /// Sets [`IndexOptions::root`].
    #[must_use]
    pub fn root(mut self, root: Option<String>) -> IndexOptions {
        self.root = root;
        self
    }

    /// Sets [`IndexOptions::within`].
    #[must_use]
    pub fn within(mut self, within: Option<Vec<PathBuf>>) -> IndexOptions {
        self.within = within;
        self
    }

    /// Sets [`IndexOptions::include_secrets`].
    #[must_use]
    pub fn include_secrets(mut self, include_secrets: bool) -> IndexOptions {
        self.include_secrets = Some(include_secrets);
        self
    }

    /// Sets [`IndexOptions::trigrams`].
    #[must_use]
    pub fn trigrams(mut self, trigrams: bool) -> IndexOptions {
        self.trigrams = Some(trigrams);
        self
    }

    /// Sets [`IndexOptions::hidden`].
    #[must_use]
    pub fn hidden(mut self, hidden: Option<bool>) -> IndexOptions {
        self.hidden = hidden;
        self
    }

    /// Sets [`IndexOptions::follow`].
    #[must_use]
    pub fn follow(mut self, follow: Option<bool>) -> IndexOptions {
        self.follow = follow;
        self
    }

    /// Sets [`IndexOptions::include`].
    #[must_use]
    pub fn include(mut self, include: Option<Vec<String>>) -> IndexOptions {
        self.include = include;
        self
    }

    /// Sets [`IndexOptions::exclude`].
    #[must_use]
    pub fn exclude(mut self, exclude: Option<Vec<String>>) -> IndexOptions {
        self.exclude = exclude;
        self
    }

    /// Sets [`IndexOptions::extraction`].
    #[must_use]
    pub fn extraction(mut self, extraction: Extraction) -> IndexOptions {
        self.extraction = extraction;
        self
    }

    /// Sets [`IndexOptions::rebuild`].
    #[must_use]
    pub fn rebuild(mut self, rebuild: bool) -> IndexOptions {
        self.rebuild = rebuild;
        self
    }

    /// Sets [`IndexOptions::large_merges`].
    #[must_use]
    pub fn large_merges(mut self, large_merges: bool) -> IndexOptions {
        self.large_merges = large_merges;
        self
    }

    /// Sets [`IndexOptions::checkpoint_after`].
    #[must_use]
    pub fn checkpoint_after(mut self, checkpoint_after: Duration) -> IndexOptions {
        self.checkpoint_after = checkpoint_after;
        self
    }

    /// Sets [`IndexOptions::checkpoint_bytes`].
    #[must_use]
    pub fn checkpoint_bytes(mut self, checkpoint_bytes: u64) -> IndexOptions {
        self.checkpoint_bytes = checkpoint_bytes;
        self
    }

    /// Sets [`IndexOptions::symbols_later_bytes`].
    #[must_use]
    pub fn symbols_later_bytes(mut self, symbols_later_bytes: u64) -> IndexOptions {
        self.symbols_later_bytes = symbols_later_bytes;
        self
    }

    /// Sets [`IndexOptions::parse_pending`].
    #[must_use]
    pub fn parse_pending(mut self, parse_pending: bool) -> IndexOptions {
        self.parse_pending = parse_pending;
        self
    }

    /// Sets [`IndexOptions::vectors`].
    #[must_use]
    pub fn vectors(mut self, vectors: Option<Codec>) -> IndexOptions {
        self.vectors = vectors;
        self
    }

    /// Sets [`IndexOptions::min_recall`].
    #[must_use]
    pub fn min_recall(mut self, min_recall: Option<f32>) -> IndexOptions {
        self.min_recall = min_recall;
        self
    }
}
