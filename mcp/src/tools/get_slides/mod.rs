//! `get_slides`: the slides of a presentation.

use kb_engine::{DocumentSlides, SlideText};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::budget::{self, Attempt};
use super::call::context::{Context, non_empty};
use super::call::lines::source;
use super::call::params::{ContinuationToken, DocumentName, IndexName, MaxTokens};
use super::call::ranges::ranges;
use super::call::stale;
use super::call::tool::Tool;
use crate::limits::LIST_LIMIT;
use crate::response::envelope::{Envelope, RangeArgument, ResultPage};
use crate::response::{Text, ToolError, ToolResponse};

pub(super) struct GetSlides;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetSlidesParams {
    document_id: DocumentName,
    /// Such as 3, 1-5,8 or 9-. Omit for all.
    #[schemars(length(max = LIST_LIMIT))]
    slide_numbers: Option<String>,
    index_name: Option<IndexName>,
    #[serde(default)]
    max_tokens: MaxTokens,
    continuation_token: Option<ContinuationToken>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SlidesData<'a> {
    slides: Vec<Slide<'a>>,
    total_slides: u32,
    token_count: u64,
}

#[derive(Serialize, JsonSchema)]
struct Slide<'a> {
    slide_number: u32,
    /// Absent where it has none.
    title: Option<&'a str>,
    /// Its text, with the title.
    content: &'a str,
    /// Speaker notes.
    notes: Option<&'a str>,
    /// True where it is not shown in the presentation.
    hidden: Option<bool>,
}

impl Tool for GetSlides {
    const NAME: &'static str = "get_slides";
    const TITLE: &'static str = "Read slides";
    const DESCRIPTION: &'static str =
        "Read slides of a presentation (pptx, ppt, odp): title, text and speaker notes.";

    type Params = GetSlidesParams;
    type Output = Envelope<SlidesData<'static>>;

    fn run(cx: &Context<'_>, params: &GetSlidesParams) -> Result<ToolResponse, ToolError> {
        let ranges = ranges(RangeArgument::Slides, params.slide_numbers.as_deref())?;
        let index_name = params.index_name.as_deref();
        let located = cx.indexes.document(index_name, &params.document_id)?;
        let cx = &cx.with_warnings(stale::of_document(&located.index, &located.document));
        let (kb, name) = (located.index.kb(), located.name());
        budget::fit(params.max_tokens.get(), |budget| {
            let page = cx.page(budget, params.continuation_token.as_deref());
            let found = kb.slides(&name, &ranges, &page);
            let found = found.map_err(|error| located.index.failure(error))?;
            Ok(Attempt {
                can_shrink: found.slides.len() > 1,
                tokens: found.slides.tokens,
                response: respond(cx, params, &found),
            })
        })
    }
}

fn respond(cx: &Context<'_>, params: &GetSlidesParams, found: &DocumentSlides) -> ToolResponse {
    let cursor = found.slides.next.as_ref();
    let bytes = found.document.text_bytes / u64::from(found.total.max(1));
    let left = cursor.map(|_| found.left.saturating_mul(bytes.div_ceil(4).max(1)));
    let last = found.slides.last();
    // In one that is divided it goes on.
    let step = u32::from(!found.slides.is_divided);
    let next = last.map_or(1, |slide| {
        slide.number.saturating_add(step).min(found.total)
    });
    let token = cx.token_at(cursor, ("slide", next.into()));
    let next = next.to_string();
    let mut text = Text::new();
    let mut warnings = cx.warnings.clone();
    if found.total == 0 {
        warnings.push("the presentation is empty: it has no slides".to_owned());
    }
    text.warnings(&warnings);
    for slide in found.slides.iter() {
        show(&mut text, found, slide);
    }
    let page = ResultPage {
        tokens: found.slides.tokens,
        max_tokens: params.max_tokens.get().into(),
        is_cut: found.slides.is_divided,
        token: token.as_deref(),
        is_continued: params.continuation_token.is_some(),
        complete: "SUCCESS",
        items: "slides",
        tokens_left: left,
        range: Some((RangeArgument::Slides, &next)),
        ..ResultPage::default()
    };
    let slides = found.slides.iter().map(|slide| Slide {
        slide_number: slide.number,
        title: non_empty(&slide.title),
        content: &slide.text,
        notes: non_empty(&slide.notes),
        hidden: slide.is_hidden.then_some(true),
    });
    let data = SlidesData {
        slides: slides.collect(),
        total_slides: found.total,
        token_count: page.tokens,
    };
    let envelope = page.envelope(data, warnings);
    ToolResponse::new(&envelope, text.envelope(&envelope))
}

/// `deck.pptx:10-14  slide 3 of 25  Title`, then its text and its notes.
fn show(text: &mut Text, found: &DocumentSlides, slide: &SlideText) {
    let source = source(&found.document.path, slide.lines);
    let mut head = format!("{source}  slide {} of {}", slide.number, found.total);
    if slide.is_hidden {
        head.push_str(", hidden");
    }
    if let Some(title) = non_empty(&slide.title) {
        head = format!("{head}  {title}");
    }
    text.line(head);
    // The rest of a slide may be notes alone.
    if !slide.text.is_empty() || slide.notes.is_empty() {
        text.passage(&slide.text);
    }
    text.named_passage("Notes:", &slide.notes);
}

#[cfg(test)]
mod tests;
