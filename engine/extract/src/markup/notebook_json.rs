//! The JSON of a notebook, read cell by cell: what is not kept, such as images, is passed over without a copy.
//!
//! A value of another type than the format says reads as nothing, so one odd field loses no notebook.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Outputs of one cell, and authors of a notebook, that are read.
// A cell that prints in a loop may have a hundred thousand outputs. A thousand are more than any
// reader looks at.
const MAX_ITEMS: usize = 1000;

/// What a notebook says of itself, in the versions 2 to 4 of the format.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Notebook {
    /// The version of the format.
    pub(super) nbformat: Number,
    pub(super) metadata: Object<Metadata>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Metadata {
    pub(super) title: Words,
    pub(super) authors: List<Object<Author>>,
    pub(super) kernelspec: Object<Kernel>,
    pub(super) language_info: Object<Language>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Author {
    pub(super) name: Words,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Kernel {
    pub(super) display_name: Words,
    pub(super) name: Words,
    pub(super) language: Words,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Language {
    pub(super) name: Words,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Cell {
    pub(super) cell_type: Words,
    pub(super) source: Words,
    /// Of a code cell, before version 4.
    pub(super) input: Words,
    /// Of a code cell, before version 4.
    pub(super) language: Words,
    /// Of a heading cell, before version 4.
    pub(super) level: Number,
    pub(super) outputs: List<Object<Output>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Output {
    /// What was printed; before version 4 also the value as text.
    pub(super) text: Words,
    /// The value, before version 4.
    pub(super) html: Words,
    png: Present,
    jpeg: Present,
    svg: Present,
    pub(super) data: Object<Bundle>,
    /// Name of an error.
    pub(super) ename: Words,
    pub(super) evalue: Words,
}

/// One value in several forms.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Bundle {
    #[serde(rename = "text/plain")]
    pub(super) plain: Words,
    #[serde(rename = "text/markdown")]
    pub(super) markdown: Words,
    #[serde(rename = "text/html")]
    pub(super) html: Words,
    #[serde(rename = "image/png")]
    png: Present,
    #[serde(rename = "image/jpeg")]
    jpeg: Present,
    #[serde(rename = "image/svg+xml")]
    svg: Present,
}

impl Output {
    /// Whether it is a picture: its text then only says that it is one.
    pub(super) fn is_picture(&self) -> bool {
        let bundle = &self.data.0;
        let own = [&self.png, &self.jpeg, &self.svg];
        let others = [&bundle.png, &bundle.jpeg, &bundle.svg];
        own.iter().chain(&others).any(|present| present.0)
    }
}

/// Calls `add` for each cell of a notebook, until it answers that it wants no more.
///
/// # Errors
/// It is no JSON object, or nested deeper than serde_json reads (128).
pub(super) fn cells(
    source: &str,
    mut add: impl FnMut(Cell) -> bool,
) -> Result<(), serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(source);
    let holder = Holder(&mut add);
    holder.deserialize(&mut json)
}

/// Whatever holds cells: a notebook, or a worksheet of one before version 4.
struct Holder<'f, F>(&'f mut F);

impl<'de, F: FnMut(Cell) -> bool> DeserializeSeed<'de> for Holder<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, F: FnMut(Cell) -> bool> Visitor<'de> for Holder<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "cells" => map.next_value_seed(Cells(self.0))?,
                "worksheets" => map.next_value_seed(Worksheets(self.0))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

struct Worksheets<'f, F>(&'f mut F);

impl<'de, F: FnMut(Cell) -> bool> DeserializeSeed<'de> for Worksheets<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, F: FnMut(Cell) -> bool> Visitor<'de> for Worksheets<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("worksheets")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Holder(self.0))?.is_some() {}
        Ok(())
    }
}

struct Cells<'f, F>(&'f mut F);

impl<'de, F: FnMut(Cell) -> bool> DeserializeSeed<'de> for Cells<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, F: FnMut(Cell) -> bool> Visitor<'de> for Cells<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cells")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut wants_more = true;
        while wants_more {
            let Some(Object(cell)) = seq.next_element::<Object<Cell>>()? else {
                return Ok(());
            };
            wants_more = (self.0)(cell);
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

/// A text: one string, or the strings of a list joined.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Words(pub(super) String);

/// A whole number, 0 for anything else.
#[derive(Debug, Default)]
pub(super) struct Number(pub(super) u64);

/// Whether there is such a value.
#[derive(Debug, Default)]
struct Present(bool);

/// An object; all defaults for anything else.
#[derive(Debug, Default)]
pub(super) struct Object<T>(pub(super) T);

/// The first [`MAX_ITEMS`] of a list; none for anything else.
#[derive(Debug)]
pub(super) struct List<T>(pub(super) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> List<T> {
        List(Vec::new())
    }
}

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Present, D::Error> {
        IgnoredAny::deserialize(deserializer)?;
        Ok(Present(true))
    }
}

/// Reads as `T` what is of its type, and passes over anything else.
struct Lenient<T>(PhantomData<T>);

/// What [`Lenient`] makes of a value; each type takes what it can.
trait FromValue: Default {
    fn of_text(_: &str) -> Self {
        Self::default()
    }
    fn of_number(_: u64) -> Self {
        Self::default()
    }
    fn of_list<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<Self, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
    fn of_object<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

impl<'de, T: FromValue> Visitor<'de> for Lenient<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_u64<E>(self, number: u64) -> Result<T, E> {
        Ok(T::of_number(number))
    }

    fn visit_f64<E>(self, _: f64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::of_text(text))
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<T, A::Error> {
        T::of_list(seq)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::of_object(map)
    }
}

impl FromValue for Words {
    fn of_text(text: &str) -> Words {
        Words(text.to_owned())
    }

    fn of_list<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<Words, A::Error> {
        let mut words = Words::default();
        while let Some(Words(piece)) = seq.next_element::<Words>()? {
            words.0.push_str(&piece);
        }
        Ok(words)
    }
}

impl FromValue for Number {
    fn of_number(number: u64) -> Number {
        Number(number)
    }
}

impl<T: Default + for<'de> Deserialize<'de>> FromValue for Object<T> {
    fn of_object<'de, A: MapAccess<'de>>(map: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

impl<T: for<'de> Deserialize<'de>> FromValue for List<T> {
    fn of_list<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<List<T>, A::Error> {
        let mut items = Vec::new();
        while items.len() < MAX_ITEMS {
            match seq.next_element()? {
                Some(item) => items.push(item),
                None => return Ok(List(items)),
            }
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(List(items))
    }
}

macro_rules! deserialize_leniently {
    ($([$($generic:tt)*] $type:ty),*) => {$(
        impl<'de $($generic)*> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(Lenient(PhantomData))
            }
        }
    )*};
}

deserialize_leniently!(
    [] Words,
    [] Number,
    [, T: Default + for<'a> Deserialize<'a>] Object<T>,
    [, T: for<'a> Deserialize<'a>] List<T>
);
