//! Parts of a `tokenizer.json`, read in bounded memory: a file of 64 MiB could else have 30 million values.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Most tokens of a vocabulary, and most merges. Models for a hundred languages have 250,000.
pub(super) const PIECES_LIMIT: usize = 1 << 20;
/// Most values of another part. The largest one of a known model has some hundred.
const VALUES_LIMIT: usize = 1 << 16;

/// A part of the file with at most [`VALUES_LIMIT`] values.
#[derive(Debug)]
pub(super) struct Part(pub(super) Value);

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Part, D::Error> {
        let room = Cell::new(VALUES_LIMIT);
        Bounded(&room).deserialize(deserializer).map(Part)
    }
}

/// Reads a value, and takes one from the room for each value in it.
#[derive(Clone, Copy)]
struct Bounded<'a>(&'a Cell<usize>);

impl Bounded<'_> {
    fn take<E: de::Error>(self, value: Value) -> Result<Value, E> {
        let left = self.0.get().checked_sub(1);
        self.0
            .set(left.ok_or_else(|| E::custom("a part of more than 65536 values"))?);
        Ok(value)
    }
}

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        self.take(value.into())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        self.take(value.into())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        self.take(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        self.take(value.into())
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        self.take(value.into())
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        self.take(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = all.next_element_seed(self)? {
            values.push(value);
        }
        self.take(values.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(name) = all.next_key::<String>()? {
            values.insert(name, all.next_value_seed(self)?);
        }
        self.take(values.into())
    }
}

/// The tokens of a model.
#[derive(Debug)]
pub(super) enum Vocabulary {
    /// Of WordPiece and BPE: numbers by names.
    Numbers(HashMap<String, u32>),
    /// Of Unigram: names with scores, in the order of their numbers.
    Scores(Vec<(String, f64)>),
}

impl<'de> Deserialize<'de> for Vocabulary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Vocabulary, D::Error> {
        deserializer.deserialize_any(Tokens)
    }
}

struct Tokens;

impl<'de> Visitor<'de> for Tokens {
    type Value = Vocabulary;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list of tokens")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<Vocabulary, A::Error> {
        let mut tokens = HashMap::new();
        while let Some((name, number)) = all.next_entry()? {
            tokens.insert(name, number);
            bound(tokens.len())?;
        }
        Ok(Vocabulary::Numbers(tokens))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Vocabulary, A::Error> {
        let mut tokens = Vec::new();
        while let Some(token) = all.next_element()? {
            tokens.push(token);
            bound(tokens.len())?;
        }
        Ok(Vocabulary::Scores(tokens))
    }
}

fn bound<E: de::Error>(len: usize) -> Result<(), E> {
    match len > PIECES_LIMIT {
        true => Err(E::custom(format!(
            "a vocabulary of more than {PIECES_LIMIT} tokens"
        ))),
        false => Ok(()),
    }
}

/// The merges of BPE: pairs, or both words of a pair with a space between them.
#[derive(Debug, Default)]
pub(super) struct Merges(pub(super) Vec<(String, String)>);

impl<'de> Deserialize<'de> for Merges {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Merges, D::Error> {
        deserializer.deserialize_seq(Pairs).map(Merges)
    }
}

struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Vec<(String, String)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of merges")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = all.next_element_seed(Pair)? {
            pairs.push(pair);
            bound(pairs.len())?;
        }
        Ok(pairs)
    }
}

struct Pair;

impl<'de> DeserializeSeed<'de> for Pair {
    type Value = (String, String);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Pair {
    type Value = (String, String);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a pair of tokens")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        match text.split_once(' ') {
            Some((one, other)) => Ok((one.to_owned(), other.to_owned())),
            None => Err(E::custom(format!("the merge {text:?} is no pair"))),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Self::Value, A::Error> {
        match (all.next_element()?, all.next_element()?) {
            (Some(one), Some(other)) => Ok((one, other)),
            _ => Err(de::Error::custom("a merge is no pair")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error<T: for<'de> Deserialize<'de> + fmt::Debug>(text: &str) -> String {
        serde_json::from_str::<T>(text).unwrap_err().to_string()
    }

    #[test]
    fn parts_are_read_as_they_are() {
        let text = r#"{"a":[1,-1,0.5,"x",true,null,{}],"b":{"c":[]}}"#;
        let part: Part = serde_json::from_str(text).unwrap();
        assert_eq!(part.0.to_string(), text);
        let merges: Merges = serde_json::from_str(r#"["a b c", ["d e", "f"]]"#).unwrap();
        let pair = |one: &str, other: &str| (one.to_owned(), other.to_owned());
        assert_eq!(merges.0, [pair("a", "b c"), pair("d e", "f")]);
    }

    #[test]
    fn no_part_may_have_too_many_values() {
        let many = format!("[{}0]", "[],".repeat(1 << 16));
        assert!(error::<Part>(&many).contains("65536 values"));
        let wide = format!("[{}0]", "0,".repeat(1 << 22));
        assert!(error::<Part>(&wide).contains("65536 values"));
        // What is nested in a merge or a token is not read at all.
        assert!(error::<Merges>(&format!("[[{wide}]]")).contains("invalid type"));
        assert!(error::<Vocabulary>(&format!("[[{wide},0]]")).contains("invalid type"));
        assert!(error::<Merges>(r#"["ab"]"#).contains("is no pair"));
        assert!(error::<Merges>(r#"[["a"]]"#).contains("is no pair"));
        let tokens = format!("[{}[\"a\",0]]", "[\"\",0],".repeat(PIECES_LIMIT));
        assert!(error::<Vocabulary>(&tokens).contains("1048576 tokens"));
    }
}
