//! The fields of a request, taken one by one. What is left at the end is an error.

#[cfg(feature = "write")]
use std::path::PathBuf;

#[cfg(feature = "write")]
use kb_engine::FieldValue;
use kb_engine::{Cursor, Lines, PageOptions, VECTOR_DIM_LIMIT};
use serde_json::{Map, Value};

use crate::base::fault::Fault;

/// The fields of a request that nobody has taken yet.
#[derive(Debug)]
pub(crate) struct Arguments {
    fields: Map<String, Value>,
}

impl Arguments {
    pub(crate) fn new(fields: Map<String, Value>) -> Arguments {
        Arguments { fields }
    }

    /// Takes a field; null is as good as none.
    fn take(&mut self, name: &str) -> Option<Value> {
        self.fields.remove(name).filter(|value| !value.is_null())
    }

    /// A text.
    pub(crate) fn text(&mut self, name: &'static str) -> Result<Option<String>, Fault> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(name, "a string", &other)),
        }
    }

    /// A text that must be there.
    pub(crate) fn required(&mut self, name: &'static str) -> Result<String, Fault> {
        let text = self.text(name)?;
        text.ok_or_else(|| Fault::argument(name, "it is missing"))
    }

    /// One text or several; `None`: they are not said.
    #[cfg(feature = "write")]
    pub(crate) fn optional_texts(
        &mut self,
        name: &'static str,
    ) -> Result<Option<Vec<String>>, Fault> {
        if self.fields.get(name).is_none_or(Value::is_null) {
            return Ok(None);
        }
        self.texts(name).map(Some)
    }

    /// One text or several.
    pub(crate) fn texts(&mut self, name: &'static str) -> Result<Vec<String>, Fault> {
        let items = match self.take(name) {
            None => return Ok(Vec::new()),
            Some(Value::String(text)) => return Ok(vec![text]),
            Some(Value::Array(items)) => items,
            Some(other) => return Err(wrong(name, "a string or an array of strings", &other)),
        };
        let items = items.into_iter().map(|item| match item {
            Value::String(text) => Ok(text),
            other => Err(wrong(name, "an array of strings", &other)),
        });
        items.collect()
    }

    /// One path or several.
    #[cfg(feature = "write")]
    pub(crate) fn paths(&mut self, name: &'static str) -> Result<Vec<PathBuf>, Fault> {
        let texts = self.texts(name)?;
        let paths = texts.into_iter().map(|text| match text.as_str() {
            "" => Err(Fault::argument(name, "it is empty")),
            _ if text.contains('\0') => Err(Fault::argument(name, "it holds a NUL")),
            _ => Ok(PathBuf::from(text)),
        });
        paths.collect()
    }

    /// The values of names, which `of` finds among `all`.
    pub(crate) fn named<T>(
        &mut self,
        name: &'static str,
        of: impl Fn(&str) -> Option<T>,
        all: &[&str],
    ) -> Result<Vec<T>, Fault> {
        let texts = self.texts(name)?;
        let values = texts.iter().map(|text| {
            of(text).ok_or_else(|| {
                let reason = format!("{text:?} given; allowed are {}", all.join(", "));
                Fault::argument(name, &reason)
            })
        });
        values.collect()
    }

    /// A number of 0 or more.
    pub(crate) fn number(&mut self, name: &'static str) -> Result<Option<u64>, Fault> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let number = value.as_u64();
        number
            .map(Some)
            .ok_or_else(|| wrong(name, "a whole number of 0 or more", &value))
    }

    /// A number of 0 or more that fits.
    pub(crate) fn small<T: TryFrom<u64>>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>, Fault> {
        let Some(number) = self.number(name)? else {
            return Ok(None);
        };
        let number = T::try_from(number);
        number
            .map(Some)
            .map_err(|_| Fault::argument(name, "the number is too large"))
    }

    /// A number of any size and sign.
    pub(crate) fn float(&mut self, name: &'static str) -> Result<Option<f64>, Fault> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let number = value.as_f64();
        number
            .map(Some)
            .ok_or_else(|| wrong(name, "a number", &value))
    }

    /// A time in milliseconds since 1970.
    pub(crate) fn time(&mut self, name: &'static str) -> Result<Option<i64>, Fault> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let number = value.as_i64();
        number
            .map(Some)
            .ok_or_else(|| wrong(name, "milliseconds since 1970", &value))
    }

    /// Numbers of a vector.
    pub(crate) fn numbers(&mut self, name: &'static str) -> Result<Option<Vec<f32>>, Fault> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let numbers = numbers_of(&value);
        numbers
            .map(Some)
            .map_err(|reason| Fault::argument(name, &reason))
    }

    /// An array that must be there.
    #[cfg(feature = "write")]
    pub(crate) fn array(&mut self, name: &'static str) -> Result<Vec<Value>, Fault> {
        match self.take(name) {
            None => Err(Fault::argument(name, "it is missing")),
            Some(Value::Array(items)) => Ok(items),
            Some(other) => Err(wrong(name, "an array", &other)),
        }
    }

    /// True or false; `None`: it is not said.
    pub(crate) fn choice(&mut self, name: &'static str) -> Result<Option<bool>, Fault> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(value)),
            Some(other) => Err(wrong(name, "true or false", &other)),
        }
    }

    /// True or false, where nothing means false.
    pub(crate) fn flag(&mut self, name: &'static str) -> Result<bool, Fault> {
        Ok(self.choice(name)?.unwrap_or(false))
    }

    /// Fields of a document: an object of texts, numbers, booleans and lists of them.
    #[cfg(feature = "write")]
    pub(crate) fn fields(
        &mut self,
        name: &'static str,
    ) -> Result<Vec<(String, Vec<FieldValue>)>, Fault> {
        let fields = match self.take(name) {
            None => return Ok(Vec::new()),
            Some(Value::Object(fields)) => fields,
            Some(other) => return Err(wrong(name, "an object", &other)),
        };
        let fields = fields.into_iter().map(|(key, value)| {
            let values = kb_json::field_values(&value);
            let values =
                values.map_err(|reason| Fault::argument(name, &format!("{key}: {reason}")))?;
            Ok((key, values))
        });
        fields.collect()
    }

    /// Lines: "10-20", "10-", "10".
    pub(crate) fn lines(&mut self, name: &'static str) -> Result<Option<Lines>, Fault> {
        let range = self.ranges(name)?;
        match range.as_slice() {
            [] => Ok(None),
            [(first, last)] => Ok(Some(Lines {
                first: *first,
                last: *last,
            })),
            _ => Err(Fault::argument(name, "one range is allowed")),
        }
    }

    /// Ranges of numbers from 1: "1-3,7,9-".
    pub(crate) fn ranges(&mut self, name: &'static str) -> Result<Vec<(u32, u32)>, Fault> {
        let Some(text) = self.text(name)? else {
            return Ok(Vec::new());
        };
        let range = |part: &str| -> Option<(u32, u32)> {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let last = match last.trim() {
                "" => u32::MAX,
                last => last.parse().ok()?,
            };
            Some((first.trim().parse().ok()?, last))
        };
        let ranges = text.split(',').map(|part| {
            range(part).ok_or_else(|| {
                let reason = format!("{text:?} given; allowed are ranges as 3, 10-20 and 10-");
                Fault::argument(name, &reason)
            })
        });
        ranges.collect()
    }

    /// Token budget and cursor.
    pub(crate) fn page(&mut self) -> Result<PageOptions, Fault> {
        let mut page = PageOptions::default();
        if let Some(tokens) = self.small("max_tokens")? {
            page = page.max_tokens(tokens);
        }
        if let Some(cursor) = self.text("continue")? {
            page = page.cursor(Cursor::from(cursor));
        }
        Ok(page)
    }

    /// That every field is an argument of this call, before anything is done.
    pub(crate) fn only(&self, call: &str, names: &[&str]) -> Result<(), Fault> {
        let unknown = self
            .fields
            .keys()
            .find(|name| !names.contains(&name.as_str()));
        unknown.map_or(Ok(()), |unknown| Err(no_argument(call, unknown, names)))
    }
}

/// The numbers of a vector, or what is wrong with it.
pub(crate) fn numbers_of(value: &Value) -> Result<Vec<f32>, String> {
    let most = VECTOR_DIM_LIMIT as usize;
    let items = match value {
        Value::Array(items) if items.is_empty() => return Err("the vector is empty".to_owned()),
        Value::Array(items) if items.len() <= most => items,
        Value::Array(items) => {
            return Err(format!(
                "the vector has {} numbers, more than {most}",
                items.len()
            ));
        }
        _ => return Err("the vector is no array of numbers".to_owned()),
    };
    let numbers = items.iter().enumerate().map(|(at, item)| {
        // Out of range becomes infinite, which the engine refuses.
        let number = item.as_f64().map(|number| number as f32);
        number.ok_or_else(|| format!("the vector has no number at {at}"))
    });
    numbers.collect()
}

fn no_argument(call: &str, name: &str, names: &[&str]) -> Fault {
    let reason = match names {
        [] => format!("{call:?} has no argument {name:?}; it has none"),
        names => format!(
            "{call:?} has no argument {name:?}; it has {}",
            names.join(", ")
        ),
    };
    Fault::argument("request", &reason)
}

fn wrong(name: &'static str, wanted: &str, given: &Value) -> Fault {
    let given = match given {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    Fault::argument(name, &format!("{given} given; allowed is {wanted}"))
}
