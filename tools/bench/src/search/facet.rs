//! Filters that let through about a half, a tenth and a hundredth of the chunks, chosen from what
//! the documents have.

use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow};
use kb_engine::{Class, DocumentInfo, Filters, Kb};
use serde_json::{Value, json};

use crate::export;

/// Names, as columns of the baselines, and shares wanted. `python/protocol.py` has the same names.
pub(crate) const WANTED: [(&str, f64); 3] = [("half", 0.5), ("tenth", 0.1), ("hundredth", 0.01)];

/// One filter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Facet {
    pub(crate) name: &'static str,
    pub(crate) value: Allowed,
    pub(crate) chunks: u64,
    /// Part of all chunks, 0..1.
    pub(crate) share: f64,
}

/// What documents must have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Allowed {
    Language(String),
    Class(String),
    Type(String),
    Folder(String),
}

impl Allowed {
    /// Every value that this document has.
    fn of(document: &DocumentInfo) -> Vec<Allowed> {
        let mut values = vec![
            Allowed::Class(document.class.name().to_owned()),
            Allowed::Type(document.file_type.clone()),
        ];
        if !document.language.is_empty() {
            values.push(Allowed::Language(document.language.clone()));
        }
        // A folder is asked for by a glob; one that would mean something else is left out.
        let plain = |folder: &&str| !folder.contains(['*', '?', '[', ']', '{', '}', '!', '\\']);
        let path = &document.path;
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        values.extend(
            folders
                .filter(plain)
                .map(|folder| Allowed::Folder(folder.to_owned())),
        );
        values
    }

    /// Whether the document has it.
    pub(crate) fn matches(&self, document: &DocumentInfo) -> bool {
        match self {
            Allowed::Language(language) => document.language == *language,
            Allowed::Class(class) => document.class.name() == class,
            Allowed::Type(file_type) => document.file_type == *file_type,
            Allowed::Folder(folder) => document
                .path
                .strip_prefix(folder.as_str())
                .is_some_and(|rest| rest.starts_with('/')),
        }
    }

    fn parts(&self) -> (&'static str, &str) {
        match self {
            Allowed::Language(value) => ("language", value),
            Allowed::Class(value) => ("class", value),
            Allowed::Type(value) => ("type", value),
            Allowed::Folder(value) => ("folder", value),
        }
    }

    fn from_parts(kind: &str, value: &str) -> Result<Allowed> {
        let value = value.to_owned();
        match kind {
            "language" => Ok(Allowed::Language(value)),
            "class" => Ok(Allowed::Class(value)),
            "type" => Ok(Allowed::Type(value)),
            "folder" => Ok(Allowed::Folder(value)),
            _ => Err(anyhow!("no facet of kind {kind}")),
        }
    }

    /// The same as a request of kb has it.
    pub(crate) fn filters(&self) -> Filters {
        let mut filters = Filters::default();
        match self {
            Allowed::Language(value) => filters.languages.push(value.clone()),
            Allowed::Class(value) => filters
                .classes
                .extend(Class::ALL.into_iter().filter(|class| class.name() == value)),
            Allowed::Type(value) => filters.types.push(value.clone()),
            Allowed::Folder(value) => filters.paths.push(value.clone()),
        }
        filters
    }

    /// For people: `language rust`.
    pub(crate) fn describe(&self) -> String {
        let (kind, value) = self.parts();
        format!("{kind} {value}")
    }
}

impl Facet {
    pub(crate) fn to_json(&self) -> Value {
        let (kind, value) = self.value.parts();
        json!({
            "name": self.name, "kind": kind, "value": value,
            "chunks": self.chunks, "share": self.share,
        })
    }

    pub(crate) fn from_json(line: &Value) -> Result<Facet> {
        let text = |field: &str| line[field].as_str().context("a facet lacks a field");
        let name = text("name")?;
        let wanted = WANTED.iter().find(|(wanted, _)| *wanted == name);
        Ok(Facet {
            name: wanted.context("a facet of another name")?.0,
            value: Allowed::from_parts(text("kind")?, text("value")?)?,
            chunks: line["chunks"].as_u64().unwrap_or(0),
            share: line["share"].as_f64().unwrap_or(0.0),
        })
    }
}

/// A folder is chosen only if anything else is further away by this factor: kb compares its path with those
/// of all documents, baselines have a ready column.
const FOLDER_FACTOR: f64 = 2.0;

/// The values whose shares come nearest to those wanted, by ratio.
pub(crate) fn choose(kb: &Kb) -> Result<Vec<Facet>> {
    let mut counts: BTreeMap<Allowed, u64> = BTreeMap::new();
    let mut all = 0;
    export::for_each_document(kb, None, &mut |document| {
        let chunks = u64::from(document.chunks);
        for value in Allowed::of(document) {
            *counts.entry(value).or_default() += chunks;
        }
        all += chunks;
        Ok(())
    })?;
    let nearest = |(name, wanted): (&'static str, f64)| {
        let share = |chunks: u64| chunks as f64 / all.max(1) as f64;
        let distance = |value: &Allowed, chunks: u64| {
            let ratio = (share(chunks) / wanted).ln().abs();
            match value {
                Allowed::Folder(_) => ratio + FOLDER_FACTOR.ln(),
                _ => ratio,
            }
        };
        let usable = counts.iter().filter(|(_, chunks)| **chunks > 0);
        let best = usable.min_by(|a, b| distance(a.0, *a.1).total_cmp(&distance(b.0, *b.1)));
        let (value, chunks) = best.context("the file holds no chunk")?;
        Ok(Facet {
            name,
            value: value.clone(),
            chunks: *chunks,
            share: share(*chunks),
        })
    };
    WANTED.into_iter().map(nearest).collect()
}

#[cfg(test)]
mod tests {
    use kb_engine::KbWriter;

    use super::*;

    #[test]
    fn the_nearest_shares_are_chosen_and_kb_lets_through_as_many() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        for number in 0..200 {
            let name = match number {
                0..2 => format!("rare/{number}.md"),
                2..20 => format!("some/{number}.py"),
                20..100 => format!("[odd]/{number}.md"),
                _ => format!("many/{number}.rs"),
            };
            let text = format!("number {number}");
            writer.add_bytes(&name, text.as_bytes()).unwrap();
        }
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        let facets = choose(&kb).unwrap();
        let described: Vec<_> = facets.iter().map(|one| one.value.describe()).collect();
        assert_eq!(described[1..], ["language python", "folder rare"]);
        for facet in &facets {
            let mut request = kb_engine::Request::new("number");
            request.filters = facet.value.filters();
            assert_eq!(kb.search(&request).unwrap().searched_chunks, facet.chunks);
            assert_eq!(Facet::from_json(&facet.to_json()).unwrap(), *facet);
        }
        assert_eq!(facets[0].chunks, 100);
    }
}
