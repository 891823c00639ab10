//! Hits of ranked searches, and how they came to their scores.

use kb_engine::{ContextLines, Explanation, Hit, Relevance, Request, Response};
use serde_json::Value;

use crate::document::pairs;
use crate::numbers::{optional_score, score};
use crate::object::Object;
use crate::parts::part_address;

/// Whether a search found something that answers its query, as `verdict`: a field of each hit.
#[must_use]
pub fn verdict(relevance: Relevance) -> Object {
    Object::new().field("verdict", relevance.name())
}

/// A hit of `request`; `file` names the .kb that it is of where several were searched. The lines
/// before and after it, and how its score came about, are there where the request asks for them;
/// `symbol`, `part`, `begins_within_line`, `ends_within_line`, `more_in_document`, `copies`, `copy_paths`, `stale` and
/// `metadata` where they say something.
#[must_use]
pub fn hit(hit: &Hit, file: Option<&str>, request: &Request) -> Object {
    let mut object = Object::new();
    if let Some(file) = file {
        object = object.field("file", file);
    }
    let mut object = object
        .field("document", &*hit.document)
        .field("handle", &*hit.handle)
        .field("title", &*hit.title)
        .field("section", hit.section.clone())
        .field("section_number", &*hit.section_number)
        .field("section_name", &*hit.section_name)
        .field("score", score(hit.score))
        .field("keyword_score", optional_score(hit.keyword_score))
        .field("vector_score", optional_score(hit.vector_score))
        .field("start_line", hit.lines.first)
        .field("end_line", hit.lines.last)
        .field("start_byte", hit.span.start)
        .field("end_byte", hit.span.end)
        .field("file_type", &*hit.file_type)
        .field("language", &*hit.language)
        .field("class", hit.class.name())
        .field("tags", hit.tags.clone())
        .field("modified_ms", hit.modified_ms)
        .field("size_bytes", hit.size_bytes)
        .field("chunk_index", hit.chunk_index)
        .field("chunks", hit.chunks)
        .field("matches", hit.matches)
        .field("text", &*hit.text);
    if let Some(symbol) = &hit.symbol {
        let symbol = Object::new()
            .field("kind", symbol.kind.name())
            .field("name", &*symbol.name)
            .field("hierarchy", &*symbol.hierarchy)
            .field("signature", &*symbol.signature)
            .field("start_line", symbol.lines.first)
            .field("end_line", symbol.lines.last);
        object = object.object("symbol", symbol);
    }
    if let Some(part) = &hit.part {
        object = object.object("part", part_address(part));
    }
    if hit.begins_within_line {
        object = object.field("begins_within_line", true);
    }
    if hit.ends_within_line {
        object = object.field("ends_within_line", true);
    }
    if hit.more_in_document > 0 {
        object = object.field("more_in_document", hit.more_in_document);
    }
    if hit.copies > 0 {
        object = object.field("copies", hit.copies);
        object = object.field("copy_paths", hit.copy_paths.clone());
    }
    if let Some(state) = hit.source_state.stale() {
        object = object.field("stale", state);
    }
    if !hit.metadata.is_empty() {
        object = object.object("metadata", pairs(&hit.metadata));
    }
    object = with_context(object, hit, request);
    if request.explain {
        with_explanation(object, hit)
    } else {
        object
    }
}

fn with_context(mut object: Object, hit: &Hit, request: &Request) -> Object {
    let ContextLines { before, after } = request.show.lines_around();
    if before > 0 {
        object = object.field("before", &*hit.before);
        if hit.before_is_cut {
            object = object.field("before_is_cut", true);
        }
    }
    if after > 0 {
        object = object.field("after", &*hit.after);
        if hit.after_is_cut {
            object = object.field("after_is_cut", true);
        }
    }
    object
}

fn with_explanation(object: Object, hit: &Hit) -> Object {
    let terms = hit.terms.iter().map(|term| {
        Object::new()
            .field("term", &*term.term)
            .field("frequency", term.frequency)
            .field("score", score(term.score))
    });
    let bonuses = hit.bonuses.iter().map(|bonus| {
        Object::new()
            .field("bonus", bonus.name)
            .field("value", score(bonus.value))
            .field("score", score(bonus.score))
    });
    object
        .field("fused_score", score(hit.fused_score))
        .objects("bonuses", bonuses.collect())
        .objects("terms", terms.collect())
}

/// How the answer as a whole came about, as `explanation`; `None` where it was not asked for.
#[must_use]
pub fn explanation(response: &Response) -> Option<Object> {
    let explanation = response.explanation.as_ref()?;
    let terms = explanation.terms.iter().map(|term| {
        Object::new()
            .field("term", &*term.term)
            .field("chunks", term.chunks)
            .field("idf", score(term.idf))
            .field("weight", score(term.weight))
    });
    let steps = explanation.steps.iter().map(|step| {
        Object::new()
            .field("step", step.name)
            .field("micros", step.micros)
    });
    let (slope, constant) = explanation.calibration.logistic().unzip();
    let number = |part: Option<f64>| part.map_or(Value::Null, |part| score(part as f32));
    let object = Object::new()
        .field("mode", response.mode.name())
        .field("verdict", response.relevance.name())
        .field("best_score", optional_score(best_score(explanation)))
        .field("chunks", explanation.chunks)
        .field("searched_chunks", response.searched_chunks)
        .field("mean_length", score(explanation.mean_length))
        .field("vector_weight", score(explanation.vector_weight))
        .field("code_share", score(explanation.code_share))
        .field("intent", explanation.intent)
        .field(
            "definition_of",
            explanation.definition_of.as_deref().unwrap_or(""),
        )
        .field("score_slope", number(slope))
        .field("score_constant", number(constant))
        .field("model", &*explanation.model)
        .field("model_words", explanation.model_words)
        .field("model_words_known", explanation.model_words_known)
        .field("keyword_candidates", explanation.keyword_candidates)
        .field("vector_candidates", explanation.vector_candidates)
        .field("vector_rows", explanation.vectors.rows)
        .field("vector_rows_read", explanation.vectors.estimated)
        .field("vector_rows_compared", explanation.vectors.scored)
        .objects("terms", terms.collect())
        .objects("steps", steps.collect());
    Some(Object::new().object("explanation", object))
}

/// The score that the verdict rests on; `None` without a hit that is ranked by its text.
#[must_use]
pub fn best_score(explanation: &Explanation) -> Option<f32> {
    let fused = explanation.signals.fused;
    (fused > 0.0).then(|| explanation.calibration.score(fused))
}
