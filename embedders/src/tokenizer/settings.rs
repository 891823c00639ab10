//! What a `tokenizer.json` says.

use serde::Deserialize;
use serde_json::Value;

use super::byte_pairs::{BytePairs, Manner};
use super::normal_form::{NormalForm, start};
use super::parts::{Merges, Part, Vocabulary};
use super::pipeline::{Model, Pipeline};
use super::splits::Splits;
use super::unigram::Unigram;
use super::wordpiece::Pieces;
use super::words::{Literal, Normaliser};

/// Most tokens that stand for themselves. Models for code have some hundred.
const LITERAL_LIMIT: usize = 4096;
/// Most bytes of one of them.
const LITERAL_LIMIT_BYTES: usize = 1024;
/// Most tokens around a text.
const AROUND_LIMIT: usize = 16;

/// The file, as far as it matters.
#[derive(Debug, Deserialize)]
pub(super) struct Settings {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    normalizer: Option<Part>,
    pre_tokenizer: Option<Part>,
    post_processor: Option<Part>,
    truncation: Option<Truncation>,
    padding: Option<Padding>,
    model: ModelPart,
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
    Pieces(Normaliser, Pieces),
    /// Byte pairs and Unigram.
    Pipeline(Box<Pipeline>),
}

impl Rules {
    /// Makes all letters small.
    pub(super) fn make_small(&mut self) {
        match &mut self.words {
            Words::Pieces(normaliser, _) => normaliser.lower_case = true,
            Words::Pipeline(pipeline) => pipeline.lowers = true,
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
struct ModelPart {
    #[serde(rename = "type")]
    kind: Option<String>,
    vocab: Vocabulary,
    unk_token: Option<String>,
    /// Of Unigram: the number of the token for what no token has.
    unk_id: Option<u32>,
    continuing_subword_prefix: Option<String>,
    max_input_chars_per_word: Option<usize>,
    /// Of BPE: pairs of tokens that become one, the first to merge first.
    #[serde(default)]
    merges: Merges,
    dropout: Option<f32>,
    end_of_word_suffix: Option<String>,
    #[serde(default)]
    ignore_merges: bool,
    #[serde(default)]
    byte_fallback: bool,
    #[serde(default)]
    fuse_unk: bool,
}

impl ModelPart {
    /// The kind. Files of old versions leave it out; only WordPiece has this prefix.
    fn kind(&self) -> &str {
        match &self.kind {
            Some(kind) => kind,
            None if self.continuing_subword_prefix.is_some() => "WordPiece",
            None => "unknown kind",
        }
    }

    /// The number of a token.
    fn number(&self, content: &str) -> Option<u32> {
        match &self.vocab {
            Vocabulary::Numbers(pieces) => pieces.get(content).copied(),
            Vocabulary::Scores(pieces) => {
                let place = pieces.iter().position(|(piece, _)| piece == content)?;
                u32::try_from(place).ok()
            }
        }
    }

    /// The highest number of a token.
    fn highest(&self) -> u32 {
        match &self.vocab {
            Vocabulary::Numbers(pieces) => pieces.values().copied().max().unwrap_or(0),
            Vocabulary::Scores(pieces) => {
                u32::try_from(pieces.len().saturating_sub(1)).unwrap_or(0)
            }
        }
    }

    /// The token for what the vocabulary does not have.
    fn unknown(&self) -> Result<Option<u32>, String> {
        let name = match self.kind() {
            "Unigram" => return Ok(self.unk_id),
            "BPE" if self.unk_token.is_none() => return Ok(None),
            _ => self.unk_token.as_deref().unwrap_or("[UNK]"),
        };
        match self.number(name) {
            None => Err(format!(
                "the token for unknown words, {name:?}, is not in the vocabulary"
            )),
            token => Ok(token),
        }
    }
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
        let model = self.model;
        let kind = model.kind().to_owned();
        if !matches!(kind.as_str(), "WordPiece" | "BPE" | "Unigram") {
            return Err(format!(
                "this program reads tokenizers of the kinds WordPiece, BPE and Unigram, and this one is {kind}"
            ));
        }
        let unknown = model.unknown()?;
        let number = |content: &str| {
            let mut added = self.added_tokens.iter();
            let added = added.find(|token| token.content == content);
            added
                .map(|token| token.id)
                .or_else(|| model.number(content))
        };
        let (start, end) = around(value(self.post_processor.as_ref()), &number)?;
        let padding = match self.padding {
            Some(padding) => padding.pad_id,
            None => number("[PAD]").or_else(|| number("<pad>")).unwrap_or(0),
        };
        let highest = self.added_tokens.iter().map(|token| token.id);
        let highest = highest.fold(model.highest(), u32::max);
        let normalizer = value(self.normalizer.as_ref());
        let pre_tokenizer = value(self.pre_tokenizer.as_ref());
        let (words, literals) = if kind == "WordPiece" {
            let literals = literals(self.added_tokens, |token| {
                !token.normalized && !token.lstrip
            })?;
            let words = pieces(normalizer, pre_tokenizer, model, unknown.unwrap_or(0))?;
            (words, literals)
        } else {
            let (late, early) = self
                .added_tokens
                .into_iter()
                .partition(|token| token.normalized);
            let pipeline = pipeline(normalizer, pre_tokenizer, model, unknown, late)?;
            let early = literals(early, |_| true)?;
            (Words::Pipeline(Box::new(pipeline)), early)
        };
        Ok(Rules {
            words,
            unknown,
            literals,
            start,
            end,
            padding,
            truncation: self.truncation.map(|truncation| truncation.max_length),
            highest,
        })
    }
}

fn value(part: Option<&Part>) -> Option<&Value> {
    part.map(|part| &part.0)
}

/// WordPiece with the rules of BERT.
fn pieces(
    normalizer: Option<&Value>,
    pre_tokenizer: Option<&Value>,
    model: ModelPart,
    unknown: u32,
) -> Result<Words, String> {
    let normaliser = normaliser(normalizer)?;
    match type_of(pre_tokenizer) {
        Some("BertPreTokenizer") => {}
        other => return Err(unknown_part("pre_tokenizer", other)),
    }
    let Vocabulary::Numbers(pieces) = model.vocab else {
        return Err(NO_NUMBERS.to_owned());
    };
    let prefix = model.continuing_subword_prefix;
    let pieces = Pieces::new(
        pieces,
        prefix.as_deref().unwrap_or("##"),
        unknown,
        model.max_input_chars_per_word.unwrap_or(100),
    )?;
    Ok(Words::Pieces(normaliser, pieces))
}

const NO_NUMBERS: &str = "the vocabulary is a list, which only that of Unigram is";

/// Byte pairs or Unigram, with the steps before them.
fn pipeline(
    normalizer: Option<&Value>,
    pre_tokenizer: Option<&Value>,
    model: ModelPart,
    unknown: Option<u32>,
    added: Vec<AddedToken>,
) -> Result<Pipeline, String> {
    let form = NormalForm::new(normalizer)?;
    let splits = Splits::new(pre_tokenizer)?;
    let mut literals = literals(added, |_| true)?;
    for literal in &mut literals {
        literal.content = form.apply(&literal.content, LITERAL_LIMIT_BYTES);
    }
    literals.retain(|literal| !literal.content.is_empty());
    let affix = |affix: &Option<String>| affix.as_ref().is_some_and(|it| !it.is_empty());
    if affix(&model.end_of_word_suffix)
        || affix(&model.continuing_subword_prefix)
        || model.dropout.is_some_and(|share| share != 0.0)
    {
        return Err("this program does not know such rules of BPE".to_owned());
    }
    let model = match model.vocab {
        Vocabulary::Scores(_) if splits.is_bytes => {
            return Err("a vocabulary of Unigram behind the pre_tokenizer ByteLevel".to_owned());
        }
        Vocabulary::Scores(pieces) if model.kind.as_deref() == Some("Unigram") => {
            Model::Unigram(Unigram::new(&pieces, unknown, model.byte_fallback)?)
        }
        Vocabulary::Numbers(pieces) if model.kind.as_deref() == Some("BPE") => {
            let manner = Manner {
                is_bytes: splits.is_bytes,
                falls_back: model.byte_fallback,
                unknown,
                fuses: model.fuse_unk,
                takes_whole: model.ignore_merges,
            };
            Model::Pairs(BytePairs::new(&pieces, &model.merges.0, manner)?)
        }
        Vocabulary::Scores(_) => return Err(NO_NUMBERS.to_owned()),
        Vocabulary::Numbers(_) => return Err("the vocabulary of Unigram is no list".to_owned()),
    };
    Ok(Pipeline {
        form,
        literals,
        splits,
        model,
        lowers: false,
    })
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
        "Sequence" => {
            let parts = part.get("processors").and_then(Value::as_array);
            let (mut start, mut end) = (Vec::new(), Vec::new());
            for part in parts.into_iter().flatten().take(AROUND_LIMIT) {
                if type_of(Some(part)) == Some("Sequence") {
                    return Err(unknown_part(
                        "post_processor",
                        Some("Sequence in another one"),
                    ));
                }
                let (before, behind) = around(Some(part), number)?;
                start.splice(0..0, before);
                end.extend(behind);
            }
            Ok((start, end))
        }
        // Positions of tokens, which matter to no vector.
        "ByteLevel" => Ok((Vec::new(), Vec::new())),
        other => Err(unknown_part("post_processor", Some(other))),
    }
}

/// The added tokens; those that `is_known` does not know, and those whose rules nothing here knows, are an error.
fn literals(
    tokens: Vec<AddedToken>,
    is_known: impl Fn(&AddedToken) -> bool,
) -> Result<Vec<Literal>, String> {
    if tokens.len() > LITERAL_LIMIT {
        return Err(format!("more than {LITERAL_LIMIT} added tokens"));
    }
    let mut literals = Vec::with_capacity(tokens.len());
    for token in tokens {
        if token.single_word || token.rstrip || !is_known(&token) {
            let content = start(&token.content, LITERAL_LIMIT_BYTES);
            return Err(format!(
                "this program does not know the rules of the added token {content:?}"
            ));
        }
        if token.content.len() > LITERAL_LIMIT_BYTES {
            return Err(format!(
                "an added token of more than {LITERAL_LIMIT_BYTES} bytes"
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
