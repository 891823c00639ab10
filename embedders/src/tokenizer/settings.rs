//! What a `tokenizer.json` says.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use super::byte_pairs::BytePairs;
use super::wordpiece::Vocabulary;
use super::words::{Literal, Normaliser};

/// Most tokens that stand for themselves. Models for code have some hundred.
const LITERAL_LIMIT: usize = 4096;
/// Most tokens around a text.
const AROUND_LIMIT: usize = 16;

/// The file, as far as it matters.
#[derive(Debug, Deserialize)]
pub(super) struct Settings {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    normalizer: Option<Value>,
    pre_tokenizer: Option<Value>,
    post_processor: Option<Value>,
    truncation: Option<Truncation>,
    padding: Option<Padding>,
    model: Model,
}

/// What the file decides.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) words: Words,
    /// Stands for what the vocabulary does not have.
    pub(super) unknown: Option<u32>,
    /// Tokens that stand for themselves in a text, as `[SEP]`.
    pub(super) literals: Vec<Literal>,
    /// Tokens before each text.
    pub(super) start: Vec<u32>,
    /// Tokens behind each text.
    pub(super) end: Vec<u32>,
    /// Fills rows of a batch.
    pub(super) padding: u32,
    /// Tokens of a text with those around it.
    pub(super) truncation: Option<usize>,
    /// The highest number of a token.
    pub(super) highest: u32,
}

/// How text becomes tokens.
#[derive(Debug)]
pub(super) enum Words {
    /// WordPiece with the rules of BERT.
    Pieces(Normaliser, Vocabulary),
    /// Byte pairs; `composes`: after the normalisation NFC, `lowers`: of small letters.
    Bytes {
        composes: bool,
        lowers: bool,
        pairs: BytePairs,
    },
}

impl Rules {
    /// Makes all letters small.
    pub(super) fn make_small(&mut self) {
        match &mut self.words {
            Words::Pieces(normaliser, _) => normaliser.lower_case = true,
            Words::Bytes { lowers, .. } => *lowers = true,
        }
    }
}

#[derive(Debug, Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
    #[serde(default)]
    single_word: bool,
    #[serde(default)]
    lstrip: bool,
    #[serde(default)]
    rstrip: bool,
    #[serde(default)]
    normalized: bool,
}

#[derive(Debug, Deserialize)]
struct Truncation {
    max_length: usize,
}

#[derive(Debug, Deserialize)]
struct Padding {
    pad_id: u32,
}

#[derive(Debug, Deserialize)]
struct Model {
    #[serde(rename = "type")]
    kind: Option<String>,
    /// An object of WordPiece and BPE, a list of Unigram.
    vocab: Value,
    unk_token: Option<String>,
    continuing_subword_prefix: Option<String>,
    max_input_chars_per_word: Option<usize>,
    /// Of BPE: pairs, or both words of a pair with a space between them.
    #[serde(default)]
    merges: Vec<Merge>,
    dropout: Option<f32>,
    end_of_word_suffix: Option<String>,
    #[serde(default)]
    ignore_merges: bool,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Merge {
    Pair(String, String),
    Text(String),
}

#[derive(Debug, Deserialize)]
struct BertNormalizer {
    clean_text: bool,
    handle_chinese_chars: bool,
    strip_accents: Option<bool>,
    lowercase: bool,
}

impl Settings {
    /// The rules; an error says what this program cannot do.
    pub(super) fn rules(self) -> Result<Rules, String> {
        // Files of old versions leave the kind out; only WordPiece has this prefix.
        let kind = match &self.model.kind {
            Some(kind) => kind.as_str(),
            None if self.model.continuing_subword_prefix.is_some() => "WordPiece",
            None => "unknown kind",
        };
        let is_pairs = kind == "BPE";
        if kind != "WordPiece" && !is_pairs {
            return Err(format!(
                "this program reads tokenizers of the kinds WordPiece and BPE over bytes, and this one is {kind}"
            ));
        }
        let mut model = self.model;
        let pieces: HashMap<String, u32> = serde_json::from_value(model.vocab.take())
            .map_err(|error| format!("vocab: {error}"))?;
        let unknown = match model.unk_token.as_deref() {
            None if is_pairs => None,
            name => {
                let name = name.unwrap_or("[UNK]");
                let token = pieces.get(name).copied();
                Some(token.ok_or_else(|| {
                    format!("the token for unknown words, {name:?}, is not in the vocabulary")
                })?)
            }
        };
        let number = |content: &str| {
            let added = self
                .added_tokens
                .iter()
                .find(|token| token.content == content);
            added
                .map(|token| token.id)
                .or_else(|| pieces.get(content).copied())
        };
        let (start, end) = around(self.post_processor.as_ref(), &number)?;
        let padding = match self.padding {
            Some(padding) => padding.pad_id,
            None => number("[PAD]").or_else(|| number("<pad>")).unwrap_or(0),
        };
        let highest = pieces.values().copied();
        let highest = highest.chain(self.added_tokens.iter().map(|token| token.id));
        let highest = highest.max().unwrap_or(0);
        let (normalizer, pre_tokenizer) = (self.normalizer, self.pre_tokenizer);
        let words = if is_pairs {
            byte_pairs(normalizer.as_ref(), pre_tokenizer.as_ref(), &pieces, model)?
        } else {
            let normaliser = normaliser(normalizer.as_ref())?;
            match type_of(pre_tokenizer.as_ref()) {
                Some("BertPreTokenizer") => {}
                other => return Err(unknown_part("pre_tokenizer", other)),
            }
            let prefix = model.continuing_subword_prefix;
            let vocabulary = Vocabulary::new(
                pieces,
                prefix.as_deref().unwrap_or("##"),
                unknown.unwrap_or(0),
                model.max_input_chars_per_word.unwrap_or(100),
            )?;
            Words::Pieces(normaliser, vocabulary)
        };
        Ok(Rules {
            words,
            unknown,
            literals: literals(self.added_tokens, is_pairs)?,
            start,
            end,
            padding,
            truncation: self.truncation.map(|truncation| truncation.max_length),
            highest,
        })
    }
}

/// The `type` of a part of the file.
fn type_of(part: Option<&Value>) -> Option<&str> {
    part?.get("type")?.as_str()
}

fn unknown_part(part: &str, kind: Option<&str>) -> String {
    let kind = kind.unwrap_or("none");
    format!("this program does not know the {part} {kind}")
}

fn normaliser(part: Option<&Value>) -> Result<Normaliser, String> {
    let (Some(part), Some("BertNormalizer")) = (part, type_of(part)) else {
        return Err(unknown_part("normalizer", type_of(part)));
    };
    let rules =
        BertNormalizer::deserialize(part).map_err(|error| format!("normalizer: {error}"))?;
    Ok(Normaliser {
        clean: rules.clean_text,
        separate_ideographs: rules.handle_chinese_chars,
        strip_accents: rules.strip_accents.unwrap_or(rules.lowercase),
        lower_case: rules.lowercase,
    })
}

/// Byte pairs, as RoBERTa, GPT-2 and ModernBERT split text.
fn byte_pairs(
    normalizer: Option<&Value>,
    pre_tokenizer: Option<&Value>,
    pieces: &HashMap<String, u32>,
    model: Model,
) -> Result<Words, String> {
    let composes = match type_of(normalizer) {
        None if normalizer.is_none_or(Value::is_null) => false,
        Some("NFC") => true,
        other => return Err(unknown_part("normalizer", other)),
    };
    let flag = |name: &str, usual: bool| {
        let value = pre_tokenizer.and_then(|part| part.get(name));
        value.and_then(Value::as_bool).unwrap_or(usual)
    };
    match type_of(pre_tokenizer) {
        Some("ByteLevel") if flag("use_regex", true) => {}
        other => return Err(unknown_part("pre_tokenizer", other)),
    }
    let affix = |affix: &Option<String>| affix.as_ref().is_some_and(|it| !it.is_empty());
    if affix(&model.end_of_word_suffix)
        || affix(&model.continuing_subword_prefix)
        || model.dropout.is_some_and(|share| share != 0.0)
        || model.ignore_merges
    {
        return Err("this program does not know such rules of BPE".to_owned());
    }
    let pair = |merge| match merge {
        Merge::Pair(one, other) => Ok((one, other)),
        Merge::Text(text) => match text.split_once(' ') {
            Some((one, other)) => Ok((one.to_owned(), other.to_owned())),
            None => Err(format!("the merge {text:?} is no pair")),
        },
    };
    let merges = model.merges.into_iter().map(pair);
    let merges: Vec<(String, String)> = merges.collect::<Result<_, String>>()?;
    let adds_space = flag("add_prefix_space", true);
    let pairs = BytePairs::new(pieces, &merges, adds_space)?;
    Ok(Words::Bytes {
        composes,
        lowers: false,
        pairs,
    })
}

/// Tokens before and behind each text.
fn around(
    part: Option<&Value>,
    number: &dyn Fn(&str) -> Option<u32>,
) -> Result<(Vec<u32>, Vec<u32>), String> {
    let (Some(part), Some(kind)) = (part, type_of(part)) else {
        return Ok((Vec::new(), Vec::new()));
    };
    let named = |content: &str| {
        number(content).ok_or_else(|| format!("the token {content:?} is not in the vocabulary"))
    };
    match kind {
        "TemplateProcessing" => {
            let items = part.get("single").and_then(Value::as_array);
            let items = items.ok_or("post_processor: no template")?;
            if items.len() > AROUND_LIMIT {
                return Err(format!("post_processor: more than {AROUND_LIMIT} parts"));
            }
            let (mut start, mut end) = (Vec::new(), Vec::new());
            let mut is_behind = false;
            for item in items {
                let special = item.get("SpecialToken").and_then(|token| token.get("id"));
                match special.and_then(Value::as_str) {
                    Some(content) if is_behind => end.push(named(content)?),
                    Some(content) => start.push(named(content)?),
                    None => is_behind = true,
                }
            }
            Ok((start, end))
        }
        "BertProcessing" | "RobertaProcessing" => {
            let token = |name: &str| {
                let content = part.get(name).and_then(|pair| pair.get(0));
                named(content.and_then(Value::as_str).unwrap_or_default())
            };
            Ok((vec![token("cls")?], vec![token("sep")?]))
        }
        // Positions of tokens, which matter to no vector.
        "ByteLevel" => Ok((Vec::new(), Vec::new())),
        other => Err(unknown_part("post_processor", Some(other))),
    }
}

fn literals(tokens: Vec<AddedToken>, is_pairs: bool) -> Result<Vec<Literal>, String> {
    if tokens.len() > LITERAL_LIMIT {
        return Err(format!("more than {LITERAL_LIMIT} added tokens"));
    }
    let mut literals = Vec::with_capacity(tokens.len());
    for token in tokens {
        if token.single_word || token.rstrip || (!is_pairs && (token.normalized || token.lstrip)) {
            let content = token.content;
            return Err(format!(
                "this program does not know the rules of the added token {content:?}"
            ));
        }
        if !token.content.is_empty() {
            literals.push(Literal {
                content: token.content,
                token: token.id,
                takes_space: token.lstrip,
            });
        }
    }
    // The longest of those that begin at a place is taken.
    literals.sort_by_key(|literal| std::cmp::Reverse(literal.content.len()));
    Ok(literals)
}
