//! The embedding model of the file, for callers that compare vectors themselves.

use crate::error::{Error, Result};
use crate::kb::Kb;
use crate::search;

impl Kb {
    /// The vector of a text as a query has it, in the model of the file, and the id of that model: of
    /// unit length, or all zero when the model knows nothing in the text.
    ///
    /// # Errors
    /// [`Error::EmbeddingModelUnavailable`] when this program cannot reproduce the model.
    pub fn embed(&self, text: &str) -> Result<(Vec<f32>, String)> {
        self.container().read(|snapshot| {
            let loaded = self.loaded(snapshot)?;
            let id = &loaded.catalog.meta.embedder.id;
            let Some(model) = loaded.model else {
                return Err(Error::EmbeddingModelUnavailable { needs: id.clone() });
            };
            Ok((search::embedded(model, text)?, id.clone()))
        })
    }
}

#[cfg(test)]
#[cfg(feature = "ingest")]
mod tests {
    use super::*;
    use crate::kb::KbWriter;

    #[test]
    fn a_text_gets_the_unit_vector_that_a_query_has() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&file).unwrap();
        writer
            .add_bytes("a.txt", b"The moon pulls the sea.")
            .unwrap();
        writer.commit().unwrap();
        let kb = Kb::open(&file).unwrap();
        let info = kb.info().unwrap();
        let (vector, model) = kb.embed("why does the sea rise").unwrap();
        assert_eq!((vector.len(), model), (info.dim as usize, info.model));
        let length: f32 = vector.iter().map(|x| x * x).sum();
        assert!((length - 1.0).abs() < 1e-4, "{length}");
        let mut asked = vec![0.0; vector.len()];
        let model = crate::embed::built_in();
        crate::embed::Embedder::embed_queries(model, &["why does the sea rise"], &mut asked)
            .unwrap();
        assert_eq!(vector, asked);
        assert!(kb.embed("").unwrap().0.iter().all(|x| *x == 0.0));
    }
}
