//! The model that is a part of this program, where the feature `minilm` is on: the files of a folder that the variable
//! `KB_MINILM` names when the program is built.

use kb_types::ModelFile;

/// What names the model.
pub(crate) const NAME: &str = "minilm";

/// A file of the folder, under its own name.
#[cfg(feature = "minilm")]
macro_rules! file {
    ($name:literal) => {
        (
            $name,
            include_bytes!(concat!(env!("KB_MINILM"), "/", $name)).as_slice(),
        )
    };
}

/// Names and bytes. They are those that `kb models add` makes of all-MiniLM-L6-v2.
#[cfg(feature = "minilm")]
const FILES: &[(&str, &[u8])] = &[
    file!("model.onnx"),
    file!("tokenizer.json"),
    file!("config.json"),
    file!("sentence_bert_config.json"),
    file!("1_Pooling/config.json"),
    file!("NOTICE.txt"),
    file!("licences/1.txt"),
];
#[cfg(not(feature = "minilm"))]
const FILES: &[(&str, &[u8])] = &[];

/// The files of the model; `None` if this program has none.
pub(crate) fn files() -> Option<Vec<ModelFile>> {
    let files = FILES.iter().map(|(name, bytes)| ModelFile {
        name: (*name).to_owned(),
        bytes: bytes.to_vec(),
    });
    (!FILES.is_empty()).then(|| files.collect())
}

/// The name of the model that is a part of this program, and its bytes; `None` if there is none.
pub fn compiled_in() -> Option<(&'static str, u64)> {
    let bytes: u64 = FILES.iter().map(|(_, bytes)| bytes.len() as u64).sum();
    (bytes > 0).then_some((NAME, bytes))
}
