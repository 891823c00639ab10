//! The models of the columns of a file, found and checked once.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kb_types::error::Result;
use kb_types::{EmbedError, EmbedderResolver, ModelCard, ModelFile, TextEmbedder};

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

/// A model, or why there is none.
pub(crate) type FoundModel = std::result::Result<Arc<dyn TextEmbedder>, EmbedError>;

/// Reads the files of a model that the .kb keeps; `None` if it keeps none.
pub(crate) type KeptFiles<'k> = dyn FnMut() -> Result<Option<Vec<ModelFile>>> + 'k;

/// Finds the models of columns.
#[derive(Debug, Default)]
pub(crate) struct ColumnModels {
    /// What the front knows; `None`: what is installed.
    resolver: Option<Arc<dyn EmbedderResolver>>,
    /// Models that made the column whose card they have.
    checked: Mutex<Vec<Arc<dyn TextEmbedder>>>,
    /// Cards whose models the file keeps and that were refused: a search does not read them again.
    refused: Mutex<Vec<(ModelCard, EmbedError)>>,
}

impl ColumnModels {
    /// Models that a front finds.
    pub(crate) fn new(resolver: Arc<dyn EmbedderResolver>) -> ColumnModels {
        ColumnModels {
            resolver: Some(resolver),
            ..ColumnModels::default()
        }
    }

    /// The model of a column by its card, of this machine or kept in the file: no vectors are compared.
    ///
    /// # Errors
    /// Those of `kept`; inside, those of the models.
    pub(crate) fn at_hand(
        &self,
        column: &ColumnModel,
        kept: &mut KeptFiles<'_>,
    ) -> Result<FoundModel> {
        if let Some(model) = self.known(column) {
            return Ok(Ok(model));
        }
        let Some(resolver) = self.resolver() else {
            return Ok(Err(EmbedError::Missing {
                what: format!("{}, because this program was given no models,", column.card),
            }));
        };
        let refused = self.refused(column);
        let mut is_unpacked = false;
        let mut once = || match &refused {
            Some(_) => Ok(None),
            None => {
                let files = kept()?;
                is_unpacked = files.is_some();
                Ok(files)
            }
        };
        let found = embed::find(&**resolver, &column.card, &mut once)?;
        Ok(match (found, refused) {
            (Ok(model), _) => {
                // By the weights it is the same; without them the probes have to tell.
                if column.card.weights.is_some() {
                    self.remember(&model);
                }
                Ok(model)
            }
            (Err(_), Some(reason)) => Err(reason),
            (Err(reason), None) => {
                if is_unpacked {
                    let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
                    refused.push((column.card.clone(), reason.clone()));
                }
                Err(reason)
            }
        })
    }

    /// As [`ColumnModels::at_hand`], if the model makes the vectors that the column has. The first call may load it;
    /// where no weights are known to agree, it embeds the probes of the column.
    ///
    /// # Errors
    /// As [`ColumnModels::at_hand`]; inside, [`EmbedError::Unfit`] for a model that was changed since.
    pub(crate) fn of(&self, column: &ColumnModel, kept: &mut KeptFiles<'_>) -> Result<FoundModel> {
        if let Some(model) = self.known(column) {
            return Ok(Ok(model));
        }
        let found = self.at_hand(column, kept)?;
        Ok(found.and_then(|model| {
            // The weights decide the vectors; where they cannot be read, the probes tell.
            let is_same = column.card.weights.is_some()
                || embed::verify_text_probes(&*model, &column.probes)?;
            if !is_same {
                return Err(EmbedError::Unfit {
                    reason: embed::changed(&column.card),
                });
            }
            self.remember(&model);
            Ok(model)
        }))
    }

    /// The files of the model of a column, which make this model and no other.
    ///
    /// # Errors
    /// As [`ColumnModels::at_hand`].
    pub(crate) fn files(
        &self,
        column: &ColumnModel,
        kept: &mut KeptFiles<'_>,
    ) -> Result<std::result::Result<Vec<ModelFile>, EmbedError>> {
        if let Some(files) = kept()? {
            return Ok(Ok(files));
        }
        let found = self.at_hand(column, kept)?;
        Ok(found.and_then(|model| {
            let files = model.files()?;
            // Not what is on disk counts, but what a reader makes of it.
            let unpacked = match self.resolver() {
                Some(resolver) => resolver.unpack(&column.card, files.clone())?,
                None => model,
            };
            match unpacked.card().is_same_model(&column.card) {
                true => Ok(files),
                false => Err(EmbedError::Unfit {
                    reason: embed::changed(&column.card),
                }),
            }
        }))
    }

    fn resolver(&self) -> Option<&Arc<dyn EmbedderResolver>> {
        self.resolver.as_ref().or_else(|| INSTALLED.get())
    }

    fn remember(&self, model: &Arc<dyn TextEmbedder>) {
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = checked.iter();
        if !known.any(|known| known.card().is_same_model(model.card())) {
            checked.push(Arc::clone(model));
        }
    }

    /// Why the model that the file keeps was refused before.
    fn refused(&self, column: &ColumnModel) -> Option<EmbedError> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let mut refused = refused.iter();
        let found = refused.find(|(card, _)| *card == column.card);
        found.map(|(_, reason)| reason.clone())
    }

    /// The model of a column that was checked before.
    fn known(&self, column: &ColumnModel) -> Option<Arc<dyn TextEmbedder>> {
        let checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        let mut checked = checked.iter();
        let model = checked.find(|model| model.card().is_same_model(&column.card));
        model.map(Arc::clone)
    }
}
