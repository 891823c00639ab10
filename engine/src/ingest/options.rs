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
    /// Worker threads; 0: one per core.
    pub threads: usize,
    /// Larger files are skipped with a reason.
    pub max_file_bytes: u64,
    /// Compare the content of every file, also where size and time are as they were.
    pub force_hash: bool,
    /// Remove the documents of folders of which no file is left. It never decides which root of the
    /// file a folder is.
    pub prune: bool,
    /// The only path given is the folder of this root of the file, whatever it holds and wherever the
    /// root was before: what a folder of the same name cannot prove after a seal. A root is named by
    /// the prefix of its documents or by its folder as [`crate::Info::roots`] has them, and without
    /// doubt by `prefix/`, or `.` for the root without a prefix.
    pub root: Option<String>,
    /// The folders that every path must lie in, for a run that somebody else than the owner of the
    /// files may ask for: absolute and without symbolic links. A path is followed through links before
    /// it is compared, as late as it is looked at, and what is read of it is opened through no link, also
    /// a file that is named. None: any path.
    pub within: Option<Vec<PathBuf>>,
    /// Whether files that are, or hold, keys or credentials are indexed: by name (`id_rsa`, `.env`, `*.p12`) or
    /// by content (private keys, tokens of known issuers). Where not, they are skipped with a reason, and one that
    /// is a document of a root is removed. The .kb remembers it; none: as the .kb has it, in a new file not.
    pub include_secrets: Option<bool>,
    /// Whether segments get trigrams, which let [`RegexRequest`](crate::RegexRequest)s skip text that cannot match, for
    /// some 7 % of the text. The .kb remembers it; none: as the .kb has it, in a new file they do. It holds for what is
    /// written from now on; a rebuild or a seal writes everything.
    pub trigrams: Option<bool>,
    /// Whether hidden files and folders are indexed that git does not track; those that it tracks are. `.git` never is.
    /// The .kb remembers it for each root; none: as it has it, for a new root not.
    pub hidden: Option<bool>,
    /// Whether symbolic links below the roots are followed: each real file is indexed once, under its first path. Links to
    /// what belongs to the same or another root, and out of the folders of [`IndexOptions::within`], are left out. The .kb
    /// remembers it for each root; none: as it has it, for a new root not.
    pub follow: Option<bool>,
    /// Patterns as in `.gitignore`: only files are indexed that match one, or that lie in a folder that does. An empty
    /// list: every file. The .kb remembers them for each root; none: as it has them.
    pub include: Option<Vec<String>>,
    /// Patterns as in `.gitignore` of files and folders that are not indexed. The .kb remembers them for each root; none:
    /// as it has them.
    pub exclude: Option<Vec<String>>,
    /// In which process files of untrusted formats are read.
    pub extraction: Extraction,
    /// Read every file and rebuild the whole .kb. [Columns](crate::VectorColumn) of vectors of other models are gone then.
    pub rebuild: bool,
    /// Merge segments of any size at the end of a run that changed something, as far as it keeps them
    /// few; the text of all of them may be copied. Without it at most as much is merged as after any
    /// commit: for runs that nobody waits for, one after the other.
    pub large_merges: bool,
    /// How long a run that makes a new file reads before it commits what it has and gives the file its name. From then on
    /// readers see it grow, and a run that is stopped keeps what was committed; the next one goes on.
    pub checkpoint_after: Duration,
    /// How many bytes of text such a run takes in before it does the same; what comes first counts.
    pub checkpoint_bytes: u64,
    /// How vectors are stored in a new file or one that is rebuilt; none: as the file has them, in a
    /// new file as signed bytes. Another way than the file has is refused without `rebuild`.
    pub vectors: Option<Codec>,
    /// The recall@10 of vector search that the file shall have, measured against vectors that are not
    /// quantised, 0.5 to 1: searches by the built-in vectors read as much as that takes.
    /// [`Report::missed_recall`](crate::Report::missed_recall) says when it cannot be had. The .kb remembers
    /// it; none: as the .kb has it, in a new file what is cheap. 0 takes the wish back.
    pub min_recall: Option<f32>,
}

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
