//! Charts and diagrams, which lie in parts of their own.

use std::collections::{HashMap, HashSet};

use crate::package::ooxml::{self, Relationships};
use crate::package::xml::Element;
use crate::package::zip_package::ZipPackage;
use crate::package::{chart, diagram};
use crate::skip_reason::SkipReason;

/// The parts that a part refers to. Each is read once, so that references to one part do not multiply its text.
#[derive(Debug, Default)]
pub(crate) struct DrawingParts {
    /// Names of parts by the names that the part has for them.
    targets: HashMap<String, String>,
    was_read: HashSet<String>,
}

impl DrawingParts {
    pub(crate) fn new(relationships: &Relationships) -> DrawingParts {
        let targets = relationships.by_id().into_iter();
        DrawingParts {
            targets: targets
                .map(|(id, one)| (id.to_owned(), one.target.clone()))
                .collect(),
            was_read: HashSet::new(),
        }
    }

    /// The name of a part that has not been read yet, and counts as read now.
    pub(crate) fn unread(&mut self, id: &str) -> Option<String> {
        let target = self.targets.get(id)?.clone();
        self.was_read.insert(target.clone()).then_some(target)
    }

    /// The texts of the diagrams among `parts` to which no element has referred.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub(crate) fn other_diagrams<'r>(
        &mut self,
        package: &mut ZipPackage<'_>,
        parts: impl Iterator<Item = &'r str>,
    ) -> Result<Vec<String>, SkipReason> {
        let mut lines = Vec::new();
        for part in parts {
            if self.was_read.insert(part.to_owned()) {
                lines.extend(diagram::lines(&ooxml::read_optional(package, part)?)?);
            }
        }
        Ok(lines)
    }

    /// The lines of the chart or diagram that an element stands for; none of any other element.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub(crate) fn lines(
        &mut self,
        package: &mut ZipPackage<'_>,
        element: &Element<'_>,
    ) -> Result<Vec<String>, SkipReason> {
        let is_chart = element.name() == "chart";
        let id = match element.name() {
            "chart" => element.prefixed_attribute("id"),
            "relIds" => element.prefixed_attribute("dm"),
            _ => None,
        };
        let Some(part) = id.and_then(|id| self.unread(&id)) else {
            return Ok(Vec::new());
        };
        let part = ooxml::read_optional(package, &part)?;
        match is_chart {
            true => chart::lines(&part),
            false => diagram::lines(&part),
        }
    }
}
