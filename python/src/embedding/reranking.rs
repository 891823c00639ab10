//! Rerankers: cross-encoders by name, and those of Python: functions, and objects of Sentence Transformers and fastembed.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use kb_embedders::Options;
use kb_engine::{EmbedError, Rerank, Reranker};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use crate::error::{of_code, type_name};
use crate::numbers::numbers;

/// Cross-encoders that were named before: each search names them again.
static NAMED: Mutex<Option<HashMap<String, Arc<dyn Reranker>>>> = Mutex::new(None);

/// An object of Python as a reranker.
struct PythonReranker {
    name: String,
    /// Takes pairs of the query and a passage, or the query and a list of passages.
    function: Py<PyAny>,
    takes_pairs: bool,
}

impl fmt::Debug for PythonReranker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PythonReranker({})", self.name)
    }
}

impl PythonReranker {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<PythonReranker> {
        let pairs = object.getattr_opt("predict")?;
        let takes_pairs = pairs.is_some();
        let function = match pairs {
            Some(function) => Some(function),
            None => object.getattr_opt("rerank")?,
        };
        let function = function.or_else(|| object.is_callable().then(|| object.clone()));
        let Some(function) = function else {
            return Err(PyTypeError::new_err(format!(
                "rerank takes the name of a model, a function of a query and a list of passages, or an object with predict or \
                 rerank, not {}",
                type_name(object)
            )));
        };
        Ok(PythonReranker {
            name: name_of(object)?,
            function: function.unbind(),
            takes_pairs,
        })
    }

    fn call(&self, py: Python<'_>, query: &str, passages: &[&str]) -> PyResult<Vec<f32>> {
        let function = self.function.bind(py);
        let scores = if self.takes_pairs {
            let pairs = passages.iter().map(|passage| (query, *passage));
            let pairs: Vec<Bound<'_, PyTuple>> = pairs
                .map(|pair| pair.into_pyobject(py))
                .collect::<PyResult<_>>()?;
            function.call1((PyList::new(py, pairs)?,))?
        } else {
            function.call1((query, PyList::new(py, passages)?))?
        };
        if !scores.is_instance_of::<PyList>()
            && let Ok(Some(buffer)) = numbers(&scores)
        {
            return buffer.to_vec(py);
        }
        // A list, or what a generator gives.
        scores.try_iter()?.map(|score| score?.extract()).collect()
    }
}

impl Reranker for PythonReranker {
    fn name(&self) -> &str {
        &self.name
    }

    fn scores(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError> {
        let scores = Python::attach(|py| self.call(py, query, passages));
        scores.map_err(|error| EmbedError::Service {
            service: self.name.clone(),
            reason: error.to_string(),
        })
    }
}

/// What the argument `rerank` of a search gives.
pub(crate) fn rerank(value: &Bound<'_, PyAny>) -> PyResult<Option<Rerank>> {
    if value.is_none() {
        return Ok(None);
    }
    if value.is_instance_of::<PyString>() {
        let model = named(value.py(), value.extract()?)?;
        return Ok(Some(Rerank::new(model)));
    }
    Ok(Some(Rerank::new(Arc::new(PythonReranker::of(value)?))))
}

/// The cross-encoder of a name. The first call reads its folder, without the GIL.
fn named(py: Python<'_>, name: String) -> PyResult<Arc<dyn Reranker>> {
    let loaded = py.detach(|| {
        let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
        let named = named.get_or_insert_default();
        if let Some(model) = named.get(&name) {
            return Ok(Arc::clone(model));
        }
        let model = kb_embedders::reranker(&name, &Options::default())?;
        named.insert(name, Arc::clone(&model));
        Ok(model)
    });
    loaded.map_err(|error: EmbedError| {
        let code = match &error {
            EmbedError::Specification { .. } => "INVALID_ARGUMENT",
            _ => "EMBEDDING_MODEL_UNAVAILABLE",
        };
        of_code(py, code, &format!("rerank: {error}"), None)
    })
}

/// The name of a function, or of the model of an object, or of its class.
pub(crate) fn name_of(embedder: &Bound<'_, PyAny>) -> PyResult<String> {
    for attribute in ["model_name", "model", "__name__"] {
        let value = embedder.getattr_opt(attribute)?;
        if let Some(name) = value.and_then(|value| value.extract::<String>().ok()) {
            return Ok(name);
        }
    }
    Ok(type_name(embedder))
}
