//! Request -> plan: the analysed query, its embeddings, the rows that may match, how many candidates.

use std::sync::OnceLock;

use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;

use crate::embed::{self, Embedder};
use crate::index::keyword::{Analyser, Query as KeywordQuery, QueryTerm};
use crate::index::vector::query::Query as VectorQuery;
use crate::index::vector::{MIN_CANDIDATES, Scan};
use crate::search::contextual::columns;
use crate::search::defined::Definitions;
use crate::search::filter::facet::AbsentValues;
use crate::search::filter::metadata;
use crate::search::filter::nothing_passes;
use crate::search::filter::rows::Rows;
use crate::search::filters::Filters;
use crate::search::given_vector::{self, FileVector};
use crate::search::options::Mode;
use crate::search::query::execute;
use crate::search::query::intent::{Ask, Intent};
use crate::search::query::option_words;
use crate::search::query::other_spelling;
use crate::search::query::parsed::{Operator, ParsedQuery, has_words};
use crate::search::query::parser;
use crate::search::query::two_phase::TwoPhaseFilter;
use crate::search::query::unknown_words::{Replaced, UnknownWords};
use crate::search::rank::fusion::{Asked, FusionWeights, Scale};
use crate::search::rank::scored::vector_weight;
use crate::search::request::{QUERY_LIMIT_BYTES, Request};
use crate::search::sources::{Sources, file_name};
use crate::store::vector_columns::{BUILT_IN, NumberedColumn};

/// Most content words of a query that counts as a query of names.
// `Parser` and `Parser parse` are names; three words are mostly a phrase. Such queries read more
// texts (see `rank`).
const NAMES_LIMIT: usize = 2;

/// What a search is going to do.
#[derive(Debug)]
pub(crate) struct Plan<'b> {
    /// The parsed query, without the operators that were taken as plain text.
    pub(crate) parsed: ParsedQuery,
    /// The text that is ranked and embedded.
    pub(crate) text: String,
    /// Words of the query that no document has, each with the word that is searched in its place.
    pub(crate) corrections: Replaced,
    /// Words of the query that are searched and may be misspelled, each with the usual spelling.
    pub(crate) offered: Replaced,
    /// Identifiers of the query that no document has.
    pub(crate) missing: Vec<String>,
    /// Whether they are most of what the query asks for.
    pub(crate) asks_for_missing: bool,
    /// The mode that answers: that of the request, or keyword when no file has an available model.
    pub(crate) mode: Mode,
    /// Candidates wanted from each index in the first layer, however many hits are: their order depends on it.
    pub(crate) candidates: usize,
    /// Whether the query has no more content than one or two names; more texts are read for their definitions
    /// then.
    pub(crate) asks_for_names: bool,
    /// What the asker wants.
    pub(crate) intent: Intent,
    /// What defines the name that the query asks for; it comes first.
    pub(crate) definitions: Definitions,
    /// The query of the keyword index; `None` when the mode does not use it.
    pub(crate) keyword_query: Option<KeywordQuery<'b>>,
    /// The query of the vector index, by file.
    pub(super) vectors: Vec<FileVector>,
    /// The query of the column whose model is not built in, by file; empty where no file has one. Its weight is a share of
    /// that of `vectors`.
    pub(super) contextual: Vec<FileVector>,
    /// How scores of that model become scores of the built-in one, by the candidates of the first layer.
    pub(crate) scale: OnceLock<Scale>,
    /// The largest share of the words of the query that the model of a file knows, 0..1.
    pub(crate) coverage: f32,
    /// Words of the query that the model of the last file knows, and all words.
    pub(crate) model_words: (usize, usize),
    /// The share of code among the chunks of code and prose, 0..1; 0 in a mode without vectors.
    pub(crate) code_share: f32,
    /// Whether the request has a vector of its own: what its scores say of relevance is not known.
    pub(crate) has_given_vector: bool,
    /// Whether documents are listed, because there is nothing to rank by.
    pub(crate) is_browse: bool,
    /// How vectors are compared.
    pub(crate) scan: Scan,
    /// Threads that may search at the same time.
    pub(crate) threads: usize,
}

/// For a file without a vector score.
static NO_VECTOR: FileVector = FileVector {
    query: None,
    weight: 0.0,
    column: BUILT_IN,
};

impl Plan<'_> {
    /// Whether documents are found by their names or attributes, and nothing is ranked by its text.
    pub(crate) fn browses_documents(&self) -> bool {
        self.mode == Mode::Title || self.is_browse
    }

    /// The query of the vector index of a file.
    pub(crate) fn vector(&self, file: usize) -> &FileVector {
        self.vectors.get(file).unwrap_or(&NO_VECTOR)
    }

    /// The query of the column of a file whose model is not built in.
    pub(crate) fn contextual(&self, file: usize) -> &FileVector {
        self.contextual.get(file).unwrap_or(&NO_VECTOR)
    }

    /// Whether such a column of any file is searched.
    pub(crate) fn has_contextual(&self) -> bool {
        self.contextual.iter().any(|vector| vector.query.is_some())
    }

    /// Whether the vector index of any file is searched.
    pub(crate) fn has_vectors(&self) -> bool {
        self.vectors.iter().any(|vector| vector.query.is_some())
    }

    /// A BM25 score as a share of the highest that the query could reach, 0..1.
    pub(crate) fn keyword_share(&self, score: f32) -> f32 {
        match &self.keyword_query {
            Some(query) if query.idf_sum() > 0.0 => (score / query.idf_sum()).min(1.0),
            _ => 0.0,
        }
    }
}

/// Parses the query of a request.
pub(crate) fn parse(request: &Request, warnings: &mut Vec<String>) -> ParsedQuery {
    let query = searched_part(&request.query, warnings);
    if request.plain {
        ParsedQuery::plain(query)
    } else {
        let parsed = parser::parse(query);
        warnings.extend(parsed.signs_warning());
        parsed
    }
}

/// Makes the plan, and the filter that decides which rows may match. Operators that leave nothing are not
/// applied, and excluded words that are options of a command are taken as plain text.
///
/// # Errors
/// [`Error::EmbeddingModelUnavailable`] for a semantic request to a file of an unknown model;
/// filter errors as in [`metadata::apply`].
pub(crate) fn plan<'b>(
    request: &'b Request,
    mut parsed: ParsedQuery,
    sources: &'b Sources<'b>,
    analyser: &mut Analyser,
    warnings: &mut Vec<String>,
) -> Result<(Plan<'b>, TwoPhaseFilter<'b>)> {
    let mut rows = filtered(sources, &request.filters, warnings)?;
    option_words::take_as_text(&mut parsed, sources, &rows, analyser, warnings)?;
    let phrases = if parsed.only_excludes() && request.vector.is_none() {
        warnings.push(
            "nothing was searched: the query only says what to leave out; add words to find, or a field \
             such as path:src"
                .to_owned(),
        );
        let nothing = sources.segments.iter().map(|_| RoaringBitmap::new());
        rows = Some(nothing.collect());
        Vec::new()
    } else {
        execute::apply(&mut parsed, sources, &mut rows, warnings)?
    };
    warnings.dedup();
    let filter = TwoPhaseFilter::new(sources, rows, phrases, &mut parsed, analyser, warnings)?;
    let mut plan = Plan {
        text: parsed.ranked_text(),
        parsed,
        corrections: Vec::new(),
        offered: Vec::new(),
        missing: Vec::new(),
        asks_for_missing: false,
        mode: request.mode,
        candidates: MIN_CANDIDATES,
        asks_for_names: false,
        intent: Intent::default(),
        definitions: Definitions::default(),
        keyword_query: None,
        vectors: Vec::new(),
        contextual: Vec::new(),
        scale: OnceLock::new(),
        coverage: 0.0,
        model_words: (0, 0),
        code_share: 0.0,
        has_given_vector: false,
        is_browse: false,
        scan: request.scan,
        threads: request.threads,
    };
    if request.vector.is_some() {
        // Without words the vector alone ranks.
        if !has_words(&plan.text) {
            plan.mode = Mode::Semantic;
        }
    } else {
        plan.is_browse = plan.parsed.is_browse() || request.lists_documents();
    }
    if plan.browses_documents() {
        return Ok((plan, filter));
    }
    if plan.mode != Mode::Semantic {
        let mut query = keyword_query(&plan.text, sources, analyser)?;
        plan.intent = Intent::of(&plan.text);
        let facts = (&plan.parsed, &plan.intent);
        let unknown = UnknownWords::of(&plan.text, facts, &query, sources, analyser)?;
        if !request.exact
            && let Some((text, corrections)) = unknown.corrected(&plan.text, sources, analyser)?
        {
            query = keyword_query(&text, sources, analyser)?;
            plan.intent = Intent::of(&text);
            plan.text = text;
            plan.corrections = corrections;
        }
        if !request.exact {
            let facts = (&plan.parsed, &plan.intent);
            plan.offered = other_spelling::offered(&plan.text, facts, &query, sources, analyser)?;
        }
        plan.missing = unknown.missing;
        let is_replaced = |word: &String| plan.corrections.iter().any(|(from, _)| from == word);
        plan.missing.retain(|word| !is_replaced(word));
        // What a program filled in is missing in its message.
        plan.asks_for_missing =
            unknown.is_asked_for && !plan.missing.is_empty() && plan.intent.ask != Ask::Message;
        plan.asks_for_names = asks_for_names(&plan.text, &query, analyser);
        plan.definitions = Definitions::find(&plan.text, &plan.intent, sources)?;
        plan.keyword_query = Some(query);
    }
    add_queries(&mut plan, request, sources, warnings)?;
    // `"to be or not to be"`: neither index knows any of these words, but texts contain them. Excluded
    // phrases and fields do not make a list of a query whose plain words are unknown.
    let has_terms = plan
        .keyword_query
        .as_ref()
        .is_some_and(|query| !query.terms().is_empty());
    let requires = |(_, it): (usize, &Operator)| it.field.is_none() && !it.excludes();
    let requires = plan.parsed.operators().any(requires);
    plan.is_browse = requires && !has_terms && !plan.has_vectors() && !plan.has_contextual();
    Ok((plan, filter))
}

/// Adds what is compared with vectors: the vector that is given, that of a column that is named, or those of the built-in
/// model and of a column beside it.
fn add_queries(
    plan: &mut Plan<'_>,
    request: &Request,
    sources: &Sources<'_>,
    warnings: &mut Vec<String>,
) -> Result<()> {
    match &request.vector {
        Some(vector) => add_given(plan, vector, request, sources)?,
        None => match given_vector::embedded(request, &plan.text, sources)? {
            Some(vector) if plan.mode != Mode::Keyword => {
                add_given(plan, &vector, request, sources)?;
            }
            _ if plan.mode == Mode::Keyword => {}
            _ => {
                add_vectors(plan, sources, warnings)?;
                // Who names a column wants no other.
                if request.vector_column.is_none() {
                    add_contextual(plan, sources, warnings)?;
                }
            }
        },
    }
    Ok(())
}

/// Adds the queries of columns to a plan whose other parts are known. A model that is not found is told in `warnings`.
///
/// # Errors
/// [`Error::Cancelled`] where a model was stopped.
fn add_contextual(
    plan: &mut Plan<'_>,
    sources: &Sources<'_>,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let of_files: Vec<Option<&NumberedColumn>> = sources
        .files
        .iter()
        .map(|source| columns::column_of(source.catalog))
        .collect();
    if of_files.iter().all(Option::is_none) {
        return Ok(());
    }
    // Without a keyword score the intent is not known yet.
    let is_question = Intent::of(&plan.text).is_question;
    for (file, (source, column)) in sources.files.iter().zip(of_files).enumerate() {
        let mut vector = FileVector::default();
        if let Some(column) = column {
            match columns::embedded(source, column, &plan.text) {
                Ok(embedded) => {
                    vector.query = VectorQuery::by(column.metric, &embedded, column.record.range);
                    vector.column = column.number;
                }
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(error) => warnings.push(columns::unsearched(source, column, sources, &error)),
            }
        }
        if vector.query.is_some() {
            let of_file = plan.vector(file);
            let is_known = of_file.query.is_some();
            let weights = FusionWeights::of(Asked {
                coverage: if is_known { plan.coverage } else { 0.0 },
                code_share: plan.code_share,
                is_question,
            });
            vector.weight = weights.contextual_share();
            if let Some(of_file) = plan.vectors.get_mut(file) {
                of_file.weight = match plan.mode {
                    Mode::Semantic => 1.0,
                    _ => weights.vectors(),
                };
            }
        }
        plan.contextual.push(vector);
    }
    Ok(())
}

/// The query of the keyword index.
fn keyword_query<'b>(
    text: &str,
    sources: &'b Sources<'b>,
    analyser: &mut Analyser,
) -> Result<KeywordQuery<'b>> {
    let segments = sources.keyword_segments()?;
    // Weights are of the built-in model, whatever model the file has: they are about the query alone.
    KeywordQuery::weighted(
        analyser,
        text,
        &segments,
        sources.statistics(),
        embed::word_weight,
    )
}

/// Whether the content of a query is one or two words, an identifier counted as one.
fn asks_for_names(text: &str, query: &KeywordQuery<'_>, analyser: &mut Analyser) -> bool {
    // "where is the class Response" is one name.
    let is_content = |term: &QueryTerm| term.chunks > 0 && term.is_content();
    let (mut words, mut last, mut is_counted) = (0, 0..0, false);
    analyser.analyse(text, |term, range| {
        // The parts of an identifier come after it, and so do other forms of a word.
        let is_part = range.start < last.end && range != last;
        if range != last {
            is_counted = is_part;
        }
        let known = query.index_of(term).and_then(|at| query.terms().get(at));
        if !is_counted && known.is_some_and(is_content) {
            words += 1;
            is_counted = true;
        }
        if !is_part {
            last = range;
        }
    });
    (1..=NAMES_LIMIT).contains(&words)
}

/// The rows of all files that pass the filters of a request. A file that refuses a value has no row that
/// passes; when every file refuses, so does the search. Warns of values that no document has, and when no
/// document passes.
pub(crate) fn filtered(
    sources: &Sources<'_>,
    filters: &Filters,
    warnings: &mut Vec<String>,
) -> Result<Rows> {
    let mut all = Vec::with_capacity(sources.segments.len());
    let (mut refused, mut filtered) = (None, 0);
    let mut absent = AbsentValues::default();
    for source in sources.files {
        match metadata::apply(source, filters, &mut absent) {
            Ok(None) => return Ok(None),
            Ok(Some(rows)) => {
                all.extend(rows);
                filtered += 1;
            }
            Err(error @ (Error::InvalidArgument { .. } | Error::FolderNotFound { .. })) => {
                let nothing = source.catalog.segments.iter().map(|_| RoaringBitmap::new());
                all.extend(nothing);
                refused = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    if let (Some(error), 0) = (refused, filtered) {
        return Err(error);
    }
    let rows = Some(all);
    if nothing_passes::is_nothing(&rows) {
        warnings.push(nothing_passes::sentence(sources.files, filters)?);
    } else {
        warnings.extend(absent.warnings(filtered));
    }
    Ok(rows)
}

fn searched_part<'q>(query: &'q str, warnings: &mut Vec<String>) -> &'q str {
    if query.len() <= QUERY_LIMIT_BYTES {
        return query;
    }
    warnings.push(format!(
        "the query has {} bytes; only the first {QUERY_LIMIT_BYTES} were searched",
        query.len()
    ));
    query
        .get(..query.floor_char_boundary(QUERY_LIMIT_BYTES))
        .unwrap_or_default()
}

/// Compares the vector that is given. Like an embedding of words that the model all knows, it has its full weight.
fn add_given(
    plan: &mut Plan<'_>,
    vector: &[f32],
    request: &Request,
    sources: &Sources<'_>,
) -> Result<()> {
    let weight = if plan.mode == Mode::Semantic {
        1.0
    } else {
        plan.code_share = sources.code_share()?;
        vector_weight(1.0, plan.code_share, plan.intent.is_question)
    };
    plan.vectors = given_vector::queries(vector, request, sources, weight)?;
    plan.coverage = 1.0;
    plan.has_given_vector = true;
    Ok(())
}

fn add_vectors(
    plan: &mut Plan<'_>,
    sources: &Sources<'_>,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let mut embedding: Option<(&str, Vec<f32>)> = None;
    plan.code_share = sources.code_share()?;
    for source in sources.files {
        let record = &source.catalog.meta.embedder;
        let Some(model) = source.model else {
            if plan.mode == Mode::Semantic {
                return Err(Error::EmbeddingModelUnavailable {
                    needs: record.id.clone(),
                });
            }
            let file = file_name(source, sources.files.len());
            warnings.push(format!(
                "this program does not have the embedding model {} of {file}; only keywords were searched",
                record.id
            ));
            plan.vectors.push(FileVector::default());
            continue;
        };
        let vector = match &embedding {
            Some((id, vector)) if *id == record.id => vector.clone(),
            _ => embedded(model, &plan.text)?,
        };
        let coverage = model.coverage(&plan.text);
        plan.model_words = (coverage.known_words, coverage.words);
        plan.coverage = plan.coverage.max(coverage.known_share());
        let asked = VectorQuery::new(&vector, record.quantiser_range);
        if plan.mode == Mode::Semantic && asked.is_none() {
            warnings.push(format!(
                "the embedding model {} knows no word of the query",
                record.id
            ));
        }
        let weight = match (plan.mode, &asked) {
            (_, None) => 0.0,
            (Mode::Semantic, Some(_)) => 1.0,
            (_, Some(_)) => vector_weight(
                coverage.known_share(),
                plan.code_share,
                plan.intent.is_question,
            ),
        };
        plan.vectors.push(FileVector {
            query: asked,
            weight,
            column: BUILT_IN,
        });
        embedding = Some((&record.id, vector));
    }
    if plan.mode == Mode::Hybrid && sources.files.iter().all(|source| source.model.is_none()) {
        plan.mode = Mode::Keyword;
    }
    Ok(())
}

/// The embedding of a query.
///
/// # Errors
/// What the model reports.
pub(crate) fn embedded(model: &dyn Embedder, query: &str) -> Result<Vec<f32>> {
    let mut vector = vec![0.0; model.dim()];
    model.embed_queries(&[query], &mut vector)?;
    Ok(vector)
}
