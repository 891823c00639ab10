//! What a file states that this program begins now, and whether it can go on with another.

use kb_types::error::{Error, Result};

use crate::embed::{self, Embedder};
use crate::index::keyword::ANALYSER_ID;
use crate::index::vector::{CODEC_I8, Codec};
use crate::ingest::chunk::chunker;
use crate::ingest::clock::now_ms;
use crate::store::meta::{ChunkerRecord, EmbedderRecord, Manifest, Meta, ProbeRecord};

/// What a file and a lock say of their writer.
pub(super) const PROGRAM: &str = concat!("kb ", env!("CARGO_PKG_VERSION"));

/// New rows must come from the model and the analyser that made the old ones.
pub(super) fn check_model(meta: &Meta) -> Result<()> {
    let model = embed::built_in();
    if meta.embedder.id != model.id() || meta.embedder.hash != model.hash() {
        return Err(Error::EmbeddingModelUnavailable {
            needs: meta.embedder.id.clone(),
        });
    }
    if meta.analyser != ANALYSER_ID {
        return Err(Error::FormatUnsupported {
            needs: format!("a writer with the analyser {}", meta.analyser),
            reads: format!("and writes {ANALYSER_ID}"),
        });
    }
    Ok(())
}

/// Rows of one file are stored in one way, whatever is asked for later.
pub(super) fn check_codec(meta: &Meta, asked: Option<Codec>) -> Result<()> {
    let has = Codec::of(meta.embedder.codec)?;
    match asked {
        Some(asked) if asked != has => Err(Error::InvalidArgument {
            argument: "vectors",
            reason: format!("the file has {} and not {}", has.name(), asked.name()),
        }),
        _ => Ok(()),
    }
}

pub(super) fn new_manifest() -> Manifest {
    Manifest {
        next_segment: 1,
        next_document: 1,
        next_root: 1,
        ..Manifest::default()
    }
}

/// Facts about a file that this program begins now.
pub(super) fn new_meta() -> Result<Meta> {
    let model = embed::built_in();
    let probes = embed::probes(model)?
        .into_iter()
        .map(|probe| ProbeRecord {
            text: probe.text,
            vector: probe.vector,
        })
        .collect();
    let now = now_ms();
    Ok(Meta {
        created_ms: now,
        updated_ms: now,
        writer: PROGRAM.to_owned(),
        roots: Vec::new(),
        embedder: EmbedderRecord {
            id: model.id().to_owned(),
            hash: model.hash(),
            dim: model.dim() as u32,
            quantiser_range: model.quantiser_range(),
            probes,
            codec: CODEC_I8,
        },
        analyser: ANALYSER_ID.to_owned(),
        chunker: ChunkerRecord {
            target_bytes: chunker::TARGET_BYTES as u32,
            cap_bytes: chunker::CAP_BYTES as u32,
        },
        documents: 0,
        chunks: 0,
        text_bytes: 0,
        recall: None,
    })
}
