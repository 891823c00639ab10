//! What the tests, benches and tools of this workspace use beyond the public API: the rooms by their
//! own names, and a hook for doubles of the disk. Only with the feature `testing`; nothing here is
//! stable, and no shipped build has it.

/// Files of raw tables.
pub mod container {
    pub use crate::container::{
        Container, ContainerWriter, FEATURE_KEYWORD_STATISTICS, FEATURE_PAGE_EXTENTS,
        FEATURE_TEXT_BLOCKS, FORMAT_VERSION, Key, MAX_KEY_BYTES, MAX_VALUE_BYTES, OLDEST_READABLE,
        Snapshot, Transaction, WriterIdentity,
    };

    /// Records.
    pub mod codec {
        pub use crate::container::codec::{MAX_SEQUENCE_BYTES, decode_record, encode_record};
    }

    /// Bulk columns.
    pub mod column {
        pub use crate::container::column::{
            ColumnId, ColumnRecord, ColumnView, ExtentSink, ExtentSource, MAX_ITEM_BYTES,
            extent_starts,
        };
    }

    /// Every change on disk, announced before it is made.
    #[cfg(unix)]
    pub mod faults {
        pub use crate::container::faults::{FileId, Observer, Op, observed};
    }
}

/// The records of one commit.
pub mod catalog {
    pub use crate::catalog::Catalog;
    pub use crate::catalog::columns::{COLUMNS, Column, ColumnGroup, Facts, Width};
}

/// Records of documents and their text.
pub mod store {
    /// Writing text.
    pub mod block_writer {
        pub use crate::store::block_writer::{BlockWriter, Compression};
    }
    /// Reading text.
    pub mod blocks {
        pub use crate::store::blocks::{BLOCK_LIMIT_BYTES, BlockReader, ROW_BYTES};
    }
    /// Rows of chunks.
    pub mod chunks {
        pub use crate::store::chunks::{BLOCK_ROWS, ChunkReader, ChunkWriter, HEAD_BYTES};
    }
    /// Decoders of text.
    pub mod decoder {
        pub use crate::store::decoder::{DecoderPool, decode_frame};
    }
    /// Deleted rows.
    pub mod deleted {
        pub use crate::store::deleted::Deleted;
    }
    /// Records of documents.
    pub mod documents {
        pub use crate::store::documents::{DocumentRecord, put, put_record};
    }
    /// Rows by tag, folder and type.
    pub mod facets {
        pub use crate::store::facets::{Facet, change};
    }
    /// Columns of fields.
    pub mod fields {
        pub use crate::store::fields::columns::order::ValueKind;
        pub use crate::store::fields::columns::texts::BLOCK_TEXTS;
        pub use crate::store::fields::columns::{BLOCK_ROWS, STRIP_SLOTS};
    }
    /// Records of the file.
    pub mod meta {
        pub use crate::store::meta::{Manifest, Meta, ProbeRecord, RecallRecord, SealRecord};
    }
    /// Headings.
    pub mod outline {
        pub use crate::store::outline::{SectionPath, get, put};
    }
    /// Pages, sheets and slides.
    pub mod parts {
        pub use crate::store::parts::{PartsTable, put};
    }
    /// Records of segments.
    pub mod segments {
        pub use crate::store::segments::SegmentRecord;
    }
    /// Files that were left out.
    pub mod skipped {
        pub use crate::store::skipped::{SkippedRecord, put};
    }
    /// Names of tables and numbers of columns.
    pub mod tables {
        pub use crate::store::tables::{
            ALL, BLOCKS, CHUNK_BLOCKS, CHUNK_HEADS, FACETS, FIELD_VALUES, FIELDS, TEXT,
            TEXT_DICTIONARY, segment_table,
        };
    }
}

/// The indexes of a segment.
pub mod index {
    /// The keyword index.
    pub mod keyword {
        pub use crate::index::keyword::{
            Analyser, Cursor, DICTIONARY, DocumentTermsBuilder, KeywordRecord, LENGTHS, POSTINGS,
            Query, QuerySegment, Reader, ScoredRow, Statistics, TermSet, Writer,
        };
    }
    /// The trigram index.
    pub mod trigram {
        pub use crate::index::trigram::{BLOCK_ROW_BYTES, BLOCKS, LISTS, UNIT_ROW_BYTES, UNITS};
    }

    /// The vector index.
    pub mod vector {
        /// Inverted lists.
        pub mod lists {
            pub use crate::index::vector::lists::centroids::Centroids;
            pub use crate::index::vector::lists::present::PresentRows;
            pub use crate::index::vector::lists::sample::sample;
            pub use crate::index::vector::lists::train::{sample_rows, train, wanted_centroids};
            pub use crate::index::vector::lists::writer::write;
        }
        pub use crate::index::vector::{
            CENTROIDS, CODEC_I4, CODEC_I8, CODES, Effort, KnnSegment, LIST_BLOCKS, LISTS, Method,
            NORMS, Neighbor, ROWS, Scan, VectorRecord, WHOLE_REACH, knn, knn_batch, knn_with_stats,
        };

        /// Distances over whole blocks, chosen for this processor.
        pub mod kernels {
            pub use crate::index::vector::kernels::{BLOCK_ROWS, LANES, Lanes, kernels};
        }
        /// Queries, ready for the kernels.
        pub mod query {
            pub use crate::index::vector::query::Query;
        }
        /// Reading rows.
        pub mod reader {
            pub use crate::index::vector::reader::Reader;
        }
        /// Writing rows.
        pub mod writer {
            pub use crate::index::vector::writer::Writer;
        }
    }
}

/// Embedding models.
pub mod embed {
    #[cfg(feature = "model")]
    pub use crate::embed::built_in;
    pub use crate::embed::{Embedder, by_id};
}

/// Ranking.
pub mod search {
    pub use crate::search::{RANK_WEIGHTS, RankWeights};

    /// Weights of scores and the facts they weigh; `cargo xtask eval --tables calibration` fits them again.
    pub mod calibration {
        pub use crate::search::calibration::{
            FUSED_WEIGHT, HYBRID, KEYWORD, SEMANTIC, Weights, facts, judge, weights, with_weights,
        };
    }
}

/// Programs as trees.
#[cfg(feature = "syntax")]
pub mod syntax {
    pub use kb_extract::syntax::{SyntaxOptions, SyntaxParser};
}
