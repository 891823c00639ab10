//! Packages of Office Open XML: which part refers to which, and what a document says of itself.

use std::collections::HashMap;

use crate::extracted::Extracted;
use crate::package::xml::{self, XmlEvent, XmlReader};
use crate::package::zip_package::ZipPackage;
use crate::skip_reason::SkipReason;

/// Bytes of a property; [`Extracted`] cuts it to its own limit.
const MAX_PROPERTY_BYTES: usize = 64 << 10;
/// Relationships of one part that are kept.
// A book of a million links still opens, and a forged list cannot fill the memory of the worker.
const MAX_RELATIONSHIPS: usize = 1 << 20;

/// One part refers to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Relationship {
    pub(crate) id: String,
    /// The last word of its type: `styles`, `notesSlide`.
    pub(crate) kind: String,
    /// The name of the part.
    pub(crate) target: String,
}

/// What a part refers to, in the order in which it says so; the package itself is the part of no name.
#[derive(Debug, Default)]
pub(crate) struct Relationships(Vec<Relationship>);

impl Relationships {
    /// Reads them; a part without any has none.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub(crate) fn read(
        package: &mut ZipPackage<'_>,
        part: &str,
    ) -> Result<Relationships, SkipReason> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let path = format!("{folder}/_rels/{name}.rels");
        let text = read_optional(package, &path)?;
        let mut reader = XmlReader::new(&text);
        let mut found = Vec::new();
        while let Some(event) = reader.next()? {
            let XmlEvent::Start(element) = event else {
                continue;
            };
            let is_external = element.attribute("TargetMode").as_deref() == Some("External");
            // External targets are addresses and other files. Nothing outside of the package is
            // ever opened.
            if element.name() != "Relationship" || is_external {
                continue;
            }
            if found.len() >= MAX_RELATIONSHIPS {
                break;
            }
            let kind = element.attribute("Type").unwrap_or_default();
            found.push(Relationship {
                id: element.attribute("Id").unwrap_or_default(),
                kind: kind.rsplit('/').next().unwrap_or_default().to_owned(),
                target: package_path(folder, &element.attribute("Target").unwrap_or_default()),
            });
        }
        Ok(Relationships(found))
    }

    /// The parts of a kind.
    pub(crate) fn of_kind(&self, kind: &str) -> impl Iterator<Item = &str> {
        let kind = kind.to_owned();
        let matching = self.0.iter().filter(move |one| one.kind == kind);
        matching.map(|one| one.target.as_str())
    }

    /// Parts by the names that the part itself has for them.
    pub(crate) fn by_id(&self) -> HashMap<&str, &Relationship> {
        self.0.iter().map(|one| (one.id.as_str(), one)).collect()
    }
}

/// The text of a part; `None` without one.
///
/// # Errors
/// As [`ZipPackage::read`].
pub(crate) fn read_part(
    package: &mut ZipPackage<'_>,
    name: &str,
) -> Result<Option<String>, SkipReason> {
    match package.read(name)? {
        Some(bytes) => xml::decode(&bytes, package.format()).map(Some),
        None => Ok(None),
    }
}

/// A part that the document can be read without: nothing when it is broken.
///
/// # Errors
/// A limit is exceeded, or it is encrypted.
pub(crate) fn read_optional(
    package: &mut ZipPackage<'_>,
    name: &str,
) -> Result<String, SkipReason> {
    match read_part(package, name) {
        Ok(text) => Ok(text.unwrap_or_default()),
        Err(SkipReason::Damaged { .. }) => Ok(String::new()),
        Err(reason) => Err(reason),
    }
}

/// The part that the package is about.
///
/// # Errors
/// [`SkipReason::Damaged`] when there is none; a limit is exceeded.
pub(crate) fn main_part(package: &mut ZipPackage<'_>) -> Result<String, SkipReason> {
    let stated = Relationships::read(package, "")?;
    let stated = stated.of_kind("officeDocument").map(str::to_owned);
    // For packages whose relationships are missing or broken.
    let usual = [
        "word/document.xml",
        "ppt/presentation.xml",
        "xl/workbook.xml",
    ];
    let mut candidates = stated.chain(usual.map(str::to_owned));
    let found = candidates.find(|name| package.has(name));
    found.ok_or_else(|| SkipReason::damaged(package.format(), "its main part is missing"))
}

/// Takes title, author and times from the properties of the package.
///
/// # Errors
/// A limit is exceeded.
pub(crate) fn read_properties(
    package: &mut ZipPackage<'_>,
    extracted: &mut Extracted,
) -> Result<(), SkipReason> {
    let relationships = Relationships::read(package, "")?;
    let mut parts = relationships.of_kind("core-properties");
    let part = parts.next().unwrap_or("docProps/core.xml");
    let text = read_optional(package, part)?;
    let mut reader = XmlReader::new(&text);
    while let Some(event) = reader.next()? {
        let XmlEvent::Start(element) = event else {
            continue;
        };
        let key = match element.name() {
            "title" => "title",
            "creator" => "author",
            "created" => "created",
            "modified" => "modified",
            "subject" => "subject",
            "keywords" => "keywords",
            "description" => "description",
            "category" => "category",
            "language" => "language",
            _ => continue,
        };
        let value = reader.text_of_element(MAX_PROPERTY_BYTES)?;
        extracted.add_property(key, &value);
    }
    Ok(())
}

/// The name of a part that another one in `folder` calls `target`.
pub(crate) fn package_path(folder: &str, target: &str) -> String {
    // Some writers use the separator of Windows, against the specification.
    let target = target.replace('\\', "/");
    let mut names: Vec<&str> = match target.starts_with('/') {
        true => Vec::new(),
        false => folder.split('/').filter(|name| !name.is_empty()).collect(),
    };
    for name in target.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    names.join("/")
}

#[cfg(test)]
mod tests {
    use super::package_path;

    #[test]
    fn targets_are_relative_to_the_part_that_names_them() {
        for (folder, target, name) in [
            ("word", "styles.xml", "word/styles.xml"),
            ("ppt/slides", "../media/a.xml", "ppt/media/a.xml"),
            ("ppt/slides", "/ppt/b.xml", "ppt/b.xml"),
            ("", "..\\..\\word\\c.xml", "word/c.xml"),
        ] {
            assert_eq!(package_path(folder, target), name);
        }
    }
}
