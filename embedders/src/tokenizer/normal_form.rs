//! What is done to a text before it is split, step by step, as `normalizer` of a `tokenizer.json` says.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::charsmap::Charsmap;
use super::pattern::Pattern;

/// Most steps. Known models have six.
pub(super) const STEPS_LIMIT: usize = 16;
/// Most bytes of what is put into a text.
pub(super) const INSERT_LIMIT_BYTES: usize = 64;

/// All steps, in order.
#[derive(Debug, Default)]
pub(super) struct NormalForm(Vec<Step>);

#[derive(Debug)]
enum Step {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
    Lowercase,
    /// Drops combining marks.
    DropMarks,
    /// Drops white space at the start, at the end.
    Strip(bool, bool),
    Replace(Pattern, String),
    /// Puts a text in front of one that is not empty.
    Prepend(String),
    /// Replaces white space and control characters as SentencePiece does for translation.
    Nmt,
    Precompiled(Charsmap),
}

impl NormalForm {
    /// Reads the part of the file.
    pub(super) fn new(part: Option<&Value>) -> Result<NormalForm, String> {
        let mut steps = Vec::new();
        if let Some(part) = part.filter(|part| !part.is_null()) {
            read(part, &mut steps)?;
        }
        if steps.len() > STEPS_LIMIT {
            return Err(format!("normalizer: more than {STEPS_LIMIT} steps"));
        }
        Ok(NormalForm(steps))
    }

    /// The text in this form. No step makes it longer than about `limit_bytes`.
    pub(super) fn apply(&self, text: &str, limit_bytes: usize) -> String {
        let mut text = text.to_owned();
        for step in &self.0 {
            text = step.apply(text, limit_bytes);
            text.truncate(start(&text, limit_bytes).len());
        }
        text
    }
}

/// The start of a text, at most `limit_bytes`.
pub(super) fn start(text: &str, limit_bytes: usize) -> &str {
    let mut end = limit_bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

fn read(part: &Value, steps: &mut Vec<Step>) -> Result<(), String> {
    let flag = |name: &str| part.get(name).and_then(Value::as_bool).unwrap_or(true);
    let text = |name: &str| {
        let text = part.get(name).and_then(Value::as_str);
        let text = text.ok_or_else(|| format!("normalizer: no {name}"))?;
        if text.len() > INSERT_LIMIT_BYTES {
            return Err(format!("normalizer: more than {INSERT_LIMIT_BYTES} bytes"));
        }
        Ok(text.to_owned())
    };
    steps.push(match part.get("type").and_then(Value::as_str) {
        Some("Sequence") => {
            let inner = part.get("normalizers").and_then(Value::as_array);
            for part in inner.into_iter().flatten() {
                if steps.len() > STEPS_LIMIT {
                    break;
                }
                read(part, steps)?;
            }
            return Ok(());
        }
        Some("NFC") => Step::Nfc,
        Some("NFD") => Step::Nfd,
        Some("NFKC") => Step::Nfkc,
        Some("NFKD") => Step::Nfkd,
        Some("Lowercase") => Step::Lowercase,
        Some("StripAccents") => Step::DropMarks,
        Some("Strip") => Step::Strip(flag("strip_left"), flag("strip_right")),
        Some("Replace") => Step::Replace(Pattern::new(part.get("pattern"))?, text("content")?),
        Some("Prepend") => Step::Prepend(text("prepend")?),
        Some("Nmt") => Step::Nmt,
        Some("Precompiled") => {
            let table = part.get("precompiled_charsmap").and_then(Value::as_str);
            // Files of models that SentencePiece normalises in no way have an empty one.
            if table.is_none_or(str::is_empty) {
                return Ok(());
            }
            let bytes = STANDARD.decode(table.unwrap_or_default());
            let bytes = bytes.map_err(|error| format!("precompiled_charsmap: {error}"))?;
            Step::Precompiled(Charsmap::new(&bytes)?)
        }
        other => {
            let kind = other.unwrap_or("none");
            return Err(format!("this program does not know the normalizer {kind}"));
        }
    });
    Ok(())
}

impl Step {
    fn apply(&self, mut text: String, limit_bytes: usize) -> String {
        match self {
            Step::Nfc if unicode_normalization::is_nfc(&text) => text,
            Step::Nfc => text.nfc().collect(),
            Step::Nfd => text.nfd().collect(),
            Step::Nfkc if unicode_normalization::is_nfkc(&text) => text,
            Step::Nfkc => text.nfkc().collect(),
            Step::Nfkd => text.nfkd().collect(),
            Step::Lowercase => text.chars().flat_map(char::to_lowercase).collect(),
            Step::DropMarks => {
                text.retain(|character| !is_combining_mark(character));
                text
            }
            Step::Strip(left, right) => {
                let mut rest = text.as_str();
                if *left {
                    rest = rest.trim_start();
                }
                if *right {
                    rest = rest.trim_end();
                }
                rest.to_owned()
            }
            Step::Replace(pattern, content) => pattern.replace(&text, content, limit_bytes),
            Step::Prepend(start) if !text.is_empty() => format!("{start}{text}"),
            Step::Prepend(_) => text,
            Step::Nmt => text.chars().filter_map(nmt).collect(),
            Step::Precompiled(map) => map.apply(&text, limit_bytes),
        }
    }
}

/// What the rules of SentencePiece for translation make of a character.
fn nmt(character: char) -> Option<char> {
    match u32::from(character) {
        0x1..=0x8 | 0xb | 0xe..=0x1f | 0x7f | 0x8f | 0x9f => None,
        0x9
        | 0xa
        | 0xc
        | 0xd
        | 0x1680
        | 0x200b..=0x200f
        | 0x2028
        | 0x2029
        | 0x2581
        | 0xfeff
        | 0xfffd => Some(' '),
        _ => Some(character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(part: serde_json::Value) -> Result<NormalForm, String> {
        NormalForm::new(Some(&part))
    }

    #[test]
    fn steps_follow_each_other() {
        let all = form(serde_json::json!({"type": "Sequence", "normalizers": [
            {"type": "Nmt"}, {"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"},
            {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            {"type": "Replace", "pattern": {"String": " "}, "content": "_"},
            {"type": "Strip", "strip_left": true, "strip_right": false},
            {"type": "Prepend", "prepend": "_"},
        ]}));
        let all = all.unwrap();
        assert_eq!(all.apply("\u{c9}\u{7}\u{fb01}  \tB ", 100), "_efi_b_");
        assert_eq!(all.apply("", 100), "");
        assert_eq!(all.apply(&"\u{fdfa}".repeat(100), 100).len(), 100);
    }

    #[test]
    fn what_is_not_known_or_too_much_is_refused() {
        let nfc = serde_json::json!({"type": "NFC"});
        let long = "x".repeat(65);
        for (part, expected) in [
            (serde_json::json!({"type": "Magic"}), "Magic"),
            (serde_json::json!({}), "none"),
            (
                serde_json::json!({"type": "Sequence", "normalizers": vec![nfc; 17]}),
                "16 steps",
            ),
            (
                serde_json::json!({"type": "Prepend", "prepend": long}),
                "64 bytes",
            ),
            (
                serde_json::json!({"type": "Precompiled", "precompiled_charsmap": "?"}),
                "charsmap",
            ),
            (
                serde_json::json!({"type": "Replace", "content": ""}),
                "no pattern",
            ),
        ] {
            let error = form(part).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
