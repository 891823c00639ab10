//! How a text is split into words, step by step, as `pre_tokenizer` of a `tokenizer.json` says.

use serde_json::Value;
use unicode_general_category::{GeneralCategory as Category, get_general_category};

use super::gpt2::first_word;
use super::normal_form::{INSERT_LIMIT_BYTES, STEPS_LIMIT};
use super::pattern::Pattern;

/// All steps, in order.
#[derive(Debug, Default)]
pub(super) struct Splits {
    steps: Vec<Step>,
    /// Words are bytes for the model. Only the last step says so.
    pub(super) is_bytes: bool,
}

#[derive(Debug)]
enum Step {
    Pattern {
        pattern: Pattern,
        rule: Rule,
        /// What does not match separates words.
        inverts: bool,
    },
    /// The words of GPT-2.
    Gpt2,
    /// Puts a space in front of a text that does not begin with one.
    AddSpace,
    /// Makes spaces visible, puts one in front, and begins a word with each.
    Metaspace {
        mark: String,
        start: Start,
        splits: bool,
    },
}

/// Where a mark is put in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Never,
    /// Only at the start of the whole text.
    First,
    Always,
}

/// What becomes of a separator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Removed,
    /// It is a word of its own: `a-b` becomes `a`, `-`, `b`.
    Isolated,
    /// It ends the word before it.
    Previous,
    /// It begins the word behind it.
    Next,
    /// Neighbouring separators are a word.
    Contiguous,
}

impl Splits {
    /// Reads the part of the file.
    pub(super) fn new(part: Option<&Value>) -> Result<Splits, String> {
        let mut splits = Splits::default();
        if let Some(part) = part.filter(|part| !part.is_null()) {
            splits.read(part)?;
        }
        if splits.steps.len() > STEPS_LIMIT {
            return Err(format!("pre_tokenizer: more than {STEPS_LIMIT} steps"));
        }
        Ok(splits)
    }

    fn read(&mut self, part: &Value) -> Result<(), String> {
        if self.is_bytes {
            return Err("pre_tokenizer: a step behind ByteLevel".to_owned());
        }
        let flag = |name: &str| part.get(name).and_then(Value::as_bool);
        let text = |name: &str| part.get(name).and_then(Value::as_str);
        let separators = |pattern, rule, inverts| Step::Pattern {
            pattern,
            rule,
            inverts,
        };
        let step = match text("type") {
            Some("Sequence") => {
                let inner = part.get("pretokenizers").and_then(Value::as_array);
                for part in inner.into_iter().flatten() {
                    if self.steps.len() > STEPS_LIMIT {
                        break;
                    }
                    self.read(part)?;
                }
                return Ok(());
            }
            Some("ByteLevel") => {
                if flag("add_prefix_space").unwrap_or(true) {
                    self.steps.push(Step::AddSpace);
                }
                if flag("use_regex").unwrap_or(true) {
                    self.steps.push(Step::Gpt2);
                }
                self.is_bytes = true;
                return Ok(());
            }
            Some("Split") => separators(
                Pattern::new(part.get("pattern"))?,
                rule(text("behavior"))?,
                flag("invert").unwrap_or(false),
            ),
            Some("WhitespaceSplit") => separators(
                Pattern::Characters(char::is_whitespace, false),
                Rule::Removed,
                false,
            ),
            Some("Whitespace") => {
                separators(Pattern::expression(r"\w+|[^\w\s]+")?, Rule::Removed, true)
            }
            Some("Punctuation") => separators(
                Pattern::Characters(is_mark, true),
                rule(text("behavior").or(Some("Isolated")))?,
                false,
            ),
            Some("Digits") => {
                let is_alone = flag("individual_digits").unwrap_or(false);
                let rule = match is_alone {
                    true => Rule::Isolated,
                    false => Rule::Contiguous,
                };
                separators(Pattern::Characters(char::is_numeric, is_alone), rule, false)
            }
            Some("Metaspace") => metaspace(part)?,
            other => {
                let kind = other.unwrap_or("none");
                return Err(format!(
                    "this program does not know the pre_tokenizer {kind}"
                ));
            }
        };
        self.steps.push(step);
        Ok(())
    }

    /// Calls `on_word` with the words of a text in order until it returns `false`. `is_first`: whether the text is the
    /// start of the whole one.
    pub(super) fn words(
        &self,
        text: &str,
        is_first: bool,
        on_word: &mut dyn FnMut(&str) -> bool,
    ) -> bool {
        walk(&self.steps, text, is_first, on_word)
    }
}

fn metaspace(part: &Value) -> Result<Step, String> {
    let mark = part.get("replacement").and_then(Value::as_str);
    let mark = mark.unwrap_or("\u{2581}");
    if mark.is_empty() || mark.len() > INSERT_LIMIT_BYTES {
        return Err("pre_tokenizer: no replacement".to_owned());
    }
    let adds = part.get("add_prefix_space").and_then(Value::as_bool);
    Ok(Step::Metaspace {
        mark: mark.to_owned(),
        start: match (part.get("prepend_scheme").and_then(Value::as_str), adds) {
            (Some("never"), _) | (None, Some(false)) => Start::Never,
            (Some("first"), _) => Start::First,
            (Some("always"), _) | (None, _) => Start::Always,
            (Some(other), _) => {
                return Err(format!(
                    "this program does not know the prepend_scheme {other}"
                ));
            }
        },
        splits: part.get("split").and_then(Value::as_bool).unwrap_or(true),
    })
}

fn rule(name: Option<&str>) -> Result<Rule, String> {
    match name {
        Some("Removed") => Ok(Rule::Removed),
        Some("Isolated") => Ok(Rule::Isolated),
        Some("MergedWithPrevious") => Ok(Rule::Previous),
        Some("MergedWithNext") => Ok(Rule::Next),
        Some("Contiguous") => Ok(Rule::Contiguous),
        other => Err(format!(
            "this program does not know the behavior {}",
            other.unwrap_or("none")
        )),
    }
}

/// Does the first step to a text, and the others to what it becomes.
fn walk(steps: &[Step], text: &str, is_first: bool, on_word: &mut dyn FnMut(&str) -> bool) -> bool {
    if text.is_empty() {
        return true;
    }
    let Some((step, steps)) = steps.split_first() else {
        return on_word(text);
    };
    match step {
        Step::AddSpace if text.starts_with(' ') => walk(steps, text, is_first, on_word),
        Step::AddSpace => walk(steps, &format!(" {text}"), is_first, on_word),
        Step::Gpt2 => {
            let mut rest = text;
            let mut goes_on = true;
            while goes_on && !rest.is_empty() {
                let (word, others) = rest.split_at(first_word(rest));
                goes_on = walk(steps, word, is_first && word.len() == rest.len(), on_word);
                rest = others;
            }
            goes_on
        }
        Step::Metaspace {
            mark,
            start,
            splits,
        } => {
            let mut marked = text.replace(' ', mark);
            let wants = *start == Start::Always || (*start == Start::First && is_first);
            if wants && !marked.starts_with(mark.as_str()) {
                marked.insert_str(0, mark);
            }
            if !splits {
                return walk(steps, &marked, is_first, on_word);
            }
            let pattern = Pattern::Text(mark.clone());
            each(&pattern, Rule::Next, false, &marked, |word, is_start| {
                walk(steps, word, is_first && is_start, on_word)
            })
        }
        Step::Pattern {
            pattern,
            rule,
            inverts,
        } => each(pattern, *rule, *inverts, text, |word, is_start| {
            walk(steps, word, is_first && is_start, on_word)
        }),
    }
}

/// Calls `on_word` with the words between and of separators, and whether a word begins the text.
fn each(
    pattern: &Pattern,
    rule: Rule,
    inverts: bool,
    text: &str,
    mut on_word: impl FnMut(&str, bool) -> bool,
) -> bool {
    /// A word that may go on: its place, and whether its last part is a separator.
    struct Word {
        start: usize,
        end: usize,
        is_separator: bool,
    }
    let mut words: Vec<Word> = Vec::new();
    let mut place = 0;
    pattern.parts(text, |part, is_match| {
        let is_separator = is_match != inverts;
        let (start, end) = (place, place + part.len());
        place = end;
        let joins = |last: &Word| match rule {
            Rule::Removed | Rule::Isolated => false,
            Rule::Previous => is_separator && !last.is_separator,
            Rule::Next => !is_separator && last.is_separator,
            Rule::Contiguous => is_separator == last.is_separator,
        };
        match words.last_mut() {
            Some(last) if joins(last) => (last.end, last.is_separator) = (end, is_separator),
            _ => words.push(Word {
                start,
                end,
                is_separator,
            }),
        }
    });
    words
        .iter()
        .filter(|word| rule != Rule::Removed || !word.is_separator)
        .all(|word| {
            let it = text.get(word.start..word.end).unwrap_or_default();
            on_word(it, word.start == 0)
        })
}

fn is_mark(character: char) -> bool {
    character.is_ascii_punctuation()
        || matches!(
            get_general_category(character),
            Category::ConnectorPunctuation
                | Category::DashPunctuation
                | Category::OpenPunctuation
                | Category::ClosePunctuation
                | Category::InitialPunctuation
                | Category::FinalPunctuation
                | Category::OtherPunctuation
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(part: serde_json::Value, text: &str) -> Vec<String> {
        let splits = Splits::new(Some(&part)).unwrap();
        let mut words = Vec::new();
        splits.words(text, true, &mut |word| {
            words.push(word.to_owned());
            true
        });
        words
    }

    #[test]
    fn separators_go_where_the_file_says() {
        for (rule, expected) in [
            ("Removed", vec!["a", "b"]),
            ("Isolated", vec!["-", "a", "-", "-", "b"]),
            ("MergedWithPrevious", vec!["-", "a-", "-", "b"]),
            ("MergedWithNext", vec!["-a", "-", "-b"]),
            ("Contiguous", vec!["-", "a", "--", "b"]),
        ] {
            let part =
                serde_json::json!({"type": "Split", "pattern": {"String": "-"}, "behavior": rule});
            assert_eq!(words(part, "-a--b"), expected, "{rule}");
        }
        let inverted = serde_json::json!(
            {"type": "Split", "pattern": {"Regex": "[a-z]"}, "behavior": "Removed", "invert": true}
        );
        assert_eq!(words(inverted, "a-b"), ["a", "b"]);
    }

    #[test]
    fn spaces_become_marks_that_begin_words() {
        let always = serde_json::json!({"type": "Sequence", "pretokenizers": [
            {"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "_", "add_prefix_space": true},
        ]});
        assert_eq!(words(always, " a\tb_c"), ["_a", "_b", "_c"]);
        let of = |scheme: &str, splits: bool, text: &str| {
            words(
                serde_json::json!({"type": "Metaspace", "replacement": "_", "prepend_scheme": scheme, "split": splits}),
                text,
            )
        };
        assert_eq!(of("first", true, "a b"), ["_a", "_b"]);
        assert_eq!(of("never", true, "a  b"), ["a", "_", "_b"]);
        assert_eq!(of("always", false, " a b"), ["_a_b"]);
        let second = serde_json::json!({"type": "Sequence", "pretokenizers": [
            {"type": "Digits", "individual_digits": true},
            {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first"},
        ]});
        assert_eq!(words(second, "a12"), ["_a", "1", "2"]);
    }

    #[test]
    fn what_is_not_known_is_named() {
        for (part, expected) in [
            (serde_json::json!({"type": "Magic"}), "Magic"),
            (
                serde_json::json!({"type": "Split", "pattern": {"String": "a"}, "behavior": "Odd"}),
                "Odd",
            ),
            (
                serde_json::json!({"type": "Split", "pattern": {"String": ""}}),
                "empty pattern",
            ),
            (
                serde_json::json!({"type": "Metaspace", "prepend_scheme": "last"}),
                "last",
            ),
            (
                serde_json::json!({"type": "Metaspace", "replacement": ""}),
                "replacement",
            ),
            (
                serde_json::json!({"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}, {"type": "Digits"}]}),
                "behind ByteLevel",
            ),
        ] {
            let error = Splits::new(Some(&part)).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
