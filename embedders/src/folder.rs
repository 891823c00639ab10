//! What the settings beside a model say: the files that Sentence Transformers write and hubs keep.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use kb_types::{EmbedError, ModelCard, Pooling};
use serde::Deserialize;
use serde_json::Value;

use crate::files::Files;

/// Tokens of a text where no file says how many a model takes.
const DEFAULT_MAX_TOKENS: u32 = 512;
/// Most tokens of a text. Attention needs memory for the square of the tokens, and chunks have fewer.
const MAX_TOKENS_LIMIT: u32 = 8192;

/// The files that [`Settings::read`] reads.
pub(crate) const SETTINGS: [&str; 6] = [
    "config.json",
    "sentence_bert_config.json",
    "tokenizer_config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "1_Pooling/config.json",
];

/// Settings of a model.
#[derive(Debug)]
pub(crate) struct Settings {
    /// How vectors of tokens become one.
    pub(crate) pooling: Pooling,
    /// Tokens of a text that the model takes, with those around it.
    pub(crate) max_tokens: u32,
    pub(crate) query_prefix: String,
    pub(crate) passage_prefix: String,
    /// Makes letters small before the tokenizer does anything.
    pub(crate) lower_case: bool,
    /// A step behind the pooling that only the graph itself could compute.
    pub(crate) further_step: Option<String>,
}

/// `config.json`.
#[derive(Debug, Default, Deserialize)]
struct ModelConfig {
    max_position_embeddings: Option<u32>,
    model_type: Option<String>,
}

/// `sentence_bert_config.json`.
#[derive(Debug, Default, Deserialize)]
struct SentenceConfig {
    max_seq_length: Option<u32>,
    #[serde(default)]
    do_lower_case: bool,
}

/// `tokenizer_config.json`. The length is a float in some files.
#[derive(Debug, Default, Deserialize)]
struct TokenizerConfig {
    model_max_length: Option<f64>,
}

/// `config_sentence_transformers.json`.
#[derive(Debug, Default, Deserialize)]
struct Prompts {
    #[serde(default)]
    prompts: HashMap<String, String>,
    default_prompt_name: Option<String>,
}

/// A line of `modules.json`.
#[derive(Debug, Deserialize)]
struct Module {
    #[serde(rename = "type")]
    kind: String,
}

impl Settings {
    /// Reads the settings in a folder. `truncation`: what the tokenizer says of the tokens of a text.
    ///
    /// # Errors
    /// [`EmbedError::Unfit`] if a file cannot be read, or names a step that this program does not know.
    pub(crate) fn read(
        files: &Files,
        folder: &Path,
        truncation: Option<usize>,
    ) -> Result<Settings, EmbedError> {
        let config: ModelConfig = or_default(files, &folder.join("config.json"))?;
        let sentence: SentenceConfig =
            or_default(files, &folder.join("sentence_bert_config.json"))?;
        let tokenizer: TokenizerConfig = or_default(files, &folder.join("tokenizer_config.json"))?;
        let prompts: Prompts =
            or_default(files, &folder.join("config_sentence_transformers.json"))?;
        let modules: Vec<Module> = or_default(files, &folder.join("modules.json"))?;
        let further_step = modules
            .iter()
            .filter_map(|module| module.kind.rsplit('.').next())
            .find(|kind| !matches!(*kind, "Transformer" | "Pooling" | "Normalize"));
        let (query_prefix, passage_prefix) = prompts.prefixes(folder)?;
        Ok(Settings {
            pooling: pooling(files, &folder.join("1_Pooling").join("config.json"))?,
            max_tokens: max_tokens(&config, &sentence, &tokenizer, truncation),
            query_prefix,
            passage_prefix,
            lower_case: sentence.do_lower_case,
            further_step: further_step.map(str::to_owned),
        })
    }
}

fn or_default<T: Default + serde::de::DeserializeOwned>(
    files: &Files,
    path: &Path,
) -> Result<T, EmbedError> {
    files.read_settings(path).map(Option::unwrap_or_default)
}

/// What the model was trained for counts first, what its tokenizer cuts last.
fn max_tokens(
    config: &ModelConfig,
    sentence: &SentenceConfig,
    tokenizer: &TokenizerConfig,
    truncation: Option<usize>,
) -> u32 {
    // Tokenizers without a limit say 1e30.
    let of_tokenizer = tokenizer
        .model_max_length
        .filter(|length| (1.0..=f64::from(MAX_TOKENS_LIMIT)).contains(length))
        .map(|length| length as u32);
    let truncation = truncation.and_then(|tokens| u32::try_from(tokens).ok());
    let wanted = sentence.max_seq_length.or(of_tokenizer).or(truncation);
    // These count positions from that behind the padding token's.
    let is_shifted = config.model_type.as_deref().is_some_and(|kind| {
        kind.contains("roberta") || kind.contains("mpnet") || kind == "camembert"
    });
    let positions = config
        .max_position_embeddings
        .map(|positions| positions.saturating_sub(if is_shifted { 2 } else { 0 }));
    wanted
        .or(positions)
        .unwrap_or(DEFAULT_MAX_TOKENS)
        .min(positions.unwrap_or(MAX_TOKENS_LIMIT))
        .clamp(1, MAX_TOKENS_LIMIT)
}

/// The way that `1_Pooling/config.json` says; the mean where there is no such file.
fn pooling(files: &Files, path: &Path) -> Result<Pooling, EmbedError> {
    let settings: HashMap<String, Value> = or_default(files, path)?;
    let ways: Vec<&str> = match settings.get("pooling_mode").and_then(Value::as_str) {
        Some(way) => vec![way],
        None => settings
            .iter()
            .filter(|(_, value)| **value == Value::Bool(true))
            .filter_map(|(name, _)| name.strip_prefix("pooling_mode_"))
            .collect(),
    };
    match ways.as_slice() {
        [] | ["mean" | "mean_tokens"] => Ok(Pooling::Mean),
        ["cls" | "cls_token"] => Ok(Pooling::Cls),
        ["lasttoken"] => Ok(Pooling::LastToken),
        ways => Err(EmbedError::Unfit {
            reason: format!(
                "{}: this program does not know the pooling {}",
                path.display(),
                ways.join(" + ")
            ),
        }),
    }
}

impl Prompts {
    /// What stands before a query and before a passage.
    fn prefixes(&self, folder: &Path) -> Result<(String, String), EmbedError> {
        let default = self.default_prompt_name.as_deref().unwrap_or_default();
        let find = |names: &[&str]| {
            let mut names = names.iter().copied().chain([default]);
            names
                .find_map(|name| self.prompts.get(name))
                .cloned()
                .unwrap_or_default()
        };
        let prefixes = (
            find(&["query", "search_query"]),
            find(&["document", "passage", "corpus", "search_document"]),
        );
        if prefixes.0.len().max(prefixes.1.len()) > ModelCard::PREFIX_LIMIT_BYTES {
            return Err(EmbedError::Unfit {
                reason: format!(
                    "{}: a prompt of more than {} bytes",
                    folder.join("config_sentence_transformers.json").display(),
                    ModelCard::PREFIX_LIMIT_BYTES
                ),
            });
        }
        Ok(prefixes)
    }
}

/// A name for a model in a folder: that of the folder. Hubs keep models in folders that are named by a hash, below
/// `snapshots` in a folder `models--ORGANISATION--NAME`.
pub(crate) fn name(folder: &Path) -> String {
    let parts: Vec<String> = folder
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    let last = parts.last().cloned().unwrap_or_default();
    let of_hub = match parts.as_slice() {
        [.., repository, snapshots, _] if snapshots == "snapshots" => repository
            .strip_prefix("models--")
            .map(|name| name.replace("--", "/")),
        _ => None,
    };
    let mut name = of_hub.unwrap_or(last);
    name.retain(|character| !character.is_control());
    let mut end = name.len().min(ModelCard::NAME_LIMIT_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.truncate(end);
    if name.is_empty() {
        "model".to_owned()
    } else {
        name
    }
}

/// The folder, absolute and without links.
///
/// # Errors
/// [`EmbedError::Missing`] if there is none.
pub(crate) fn absolute(folder: &Path) -> Result<PathBuf, EmbedError> {
    folder.canonicalize().map_err(|_| EmbedError::Missing {
        what: folder.display().to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    fn read(files: &[(&str, &str)]) -> Result<Settings, EmbedError> {
        Settings::read(&Files::Disk, folder(files).path(), Some(128))
    }

    #[test]
    fn the_files_of_a_hub_decide() {
        let settings = read(&[
            ("config.json", r#"{"max_position_embeddings": 514, "model_type": "roberta"}"#),
            ("sentence_bert_config.json", r#"{"max_seq_length": 600, "do_lower_case": true}"#),
            ("1_Pooling/config.json", r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#),
            ("config_sentence_transformers.json", r#"{"prompts": {"query": "q: ", "document": "d: "}}"#),
            ("modules.json", r#"[{"type": "sentence_transformers.models.Transformer"}, {"type": "sentence_transformers.models.Dense"}]"#),
        ])
        .unwrap();
        assert_eq!(settings.max_tokens, 512);
        assert_eq!(settings.pooling, Pooling::Cls);
        assert_eq!(
            (
                settings.query_prefix.as_str(),
                settings.passage_prefix.as_str()
            ),
            ("q: ", "d: ")
        );
        assert!(settings.lower_case);
        assert_eq!(settings.further_step.as_deref(), Some("Dense"));
    }

    #[test]
    fn a_folder_without_settings_has_the_usual_ones() {
        let settings = read(&[]).unwrap();
        assert_eq!(settings.max_tokens, 128);
        assert_eq!(settings.pooling, Pooling::Mean);
        assert_eq!(settings.query_prefix, "");
        assert!(settings.further_step.is_none());
    }

    #[test]
    fn lengths_without_sense_are_not_taken() {
        let unlimited = [("tokenizer_config.json", r#"{"model_max_length": 1e30}"#)];
        assert_eq!(read(&unlimited).unwrap().max_tokens, 128);
        let huge = [(
            "sentence_bert_config.json",
            r#"{"max_seq_length": 4000000000}"#,
        )];
        assert_eq!(read(&huge).unwrap().max_tokens, MAX_TOKENS_LIMIT);
        let none = [("sentence_bert_config.json", r#"{"max_seq_length": 0}"#)];
        assert_eq!(read(&none).unwrap().max_tokens, 1);
    }

    #[test]
    fn what_is_not_known_is_named() {
        for (file, text, expected) in [
            (
                "1_Pooling/config.json",
                r#"{"pooling_mode_max_tokens": true}"#,
                "max_tokens",
            ),
            (
                "1_Pooling/config.json",
                r#"{"pooling_mode": "weightedmean"}"#,
                "weightedmean",
            ),
            ("config.json", "{", "config.json"),
        ] {
            let error = read(&[(file, text)]).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let long = format!(r#"{{"prompts": {{"query": "{}"}}}}"#, "q".repeat(1001));
        assert!(read(&[("config_sentence_transformers.json", &long)]).is_err());
    }

    #[test]
    fn a_model_has_the_name_of_its_folder_or_of_its_hub() {
        assert_eq!(name(Path::new("/models/minilm")), "minilm");
        let hub = Path::new("/hub/models--BAAI--bge-small-en-v1.5/snapshots/5c38ec7c");
        assert_eq!(name(hub), "BAAI/bge-small-en-v1.5");
        assert_eq!(name(Path::new("/")), "/");
        assert!(name(Path::new(&"é".repeat(300))).len() <= 200);
    }
}
