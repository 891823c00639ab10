//! The models of the columns of a file, found and checked once.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kb_types::{EmbedError, EmbedderResolver, TextEmbedder};

use crate::embed;
use crate::store::meta::column_model::ColumnModel;

/// What [`install_models`] was given.
static INSTALLED: OnceLock<Arc<dyn EmbedderResolver>> = OnceLock::new();

/// Lets every [`Kb`](crate::Kb) of this process find models by `models`, but those that have their own by
/// [`Kb::with_models`](crate::Kb::with_models). The first call counts.
pub fn install_models(models: Arc<dyn EmbedderResolver>) {
    // Of two front ends in one process the first one has the models.
    let _ = INSTALLED.set(models);
}

/// Finds the models of columns.
#[derive(Debug, Default)]
pub(crate) struct ColumnModels {
    /// What the front knows; `None`: what is installed.
    resolver: Option<Arc<dyn EmbedderResolver>>,
    /// Models that made the column whose card they have.
    checked: Mutex<Vec<Arc<dyn TextEmbedder>>>,
}

impl ColumnModels {
    /// Models that a front finds.
    pub(crate) fn new(resolver: Arc<dyn EmbedderResolver>) -> ColumnModels {
        ColumnModels {
            resolver: Some(resolver),
            checked: Mutex::default(),
        }
    }

    /// The model of a column, if it makes the vectors that the column has. The first call may load it; where no weights
    /// are known to agree, it embeds the probes of the column.
    ///
    /// # Errors
    /// Those of the resolver; [`EmbedError::Unfit`] for a model that was changed since.
    pub(crate) fn of(&self, column: &ColumnModel) -> Result<Arc<dyn TextEmbedder>, EmbedError> {
        let checked = || self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_its = |model: &&Arc<dyn TextEmbedder>| model.card().is_same_model(&column.card);
        if let Some(model) = checked().iter().find(is_its) {
            return Ok(Arc::clone(model));
        }
        let resolver = self.resolver.as_ref().or_else(|| INSTALLED.get());
        let resolver = resolver.ok_or_else(|| EmbedError::Missing {
            what: format!("{}, because this program was given no models,", column.card),
        })?;
        let model = resolver.find(&column.card)?;
        let is_same = model.card().is_same_model(&column.card)
            // The weights decide the vectors; where they cannot be read, the probes tell.
            && (column.card.weights.is_some() || embed::verify_text_probes(&*model, &column.probes)?);
        if !is_same {
            return Err(EmbedError::Unfit {
                reason: embed::changed(&column.card),
            });
        }
        checked().push(Arc::clone(&model));
        Ok(model)
    }
}
