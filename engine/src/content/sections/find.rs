//! Finds the section that a name means: a number, a path of titles, the end of one, or a title.

use kb_types::error::{Error, Result};
use kb_types::sections::SECTION_SEPARATOR;

use crate::content::sections::section::Section;
use crate::resolve::Nearest;

/// Most sections that an error names.
// An error is read by a person or a model: five lines show the pattern, and the rest is found by
// listing the outline.
const SUGGESTIONS_LIMIT: usize = 5;

/// The place in `all` of the section of a document, by its path and title, that `name` means, by the first of these that some section has:
///
/// 1. its number: `2.1`;
/// 2. its number and then its title, or its path of titles: `2.1 Install`;
/// 3. its path of titles, `Guide > Install`, or the end of that: `Install`;
/// 4. such a path after the title of the document;
/// 5. 3 and 4 without regard to case, to white space, and to the `#` of Markdown before it.
///
/// A name that begins with `> ` is a path from the top, even where it looks like a number or the end of
/// another path.
///
/// # Errors
/// [`Error::SectionNotFound`] with the sections that look like it, [`Error::AmbiguousSection`] where several
/// have it, each with its number.
pub(super) fn find_section(
    all: &[Section],
    name: &str,
    document: &str,
    title: &str,
) -> Result<usize> {
    let name = name.trim();
    let numbered = |number: &str| all.iter().position(|section| section.number == number);
    if let Some(place) = numbered(name) {
        return Ok(place);
    }
    let paths = Paths::of(all);
    if let Some((number, rest)) = name.split_once(' ')
        && let Some(place) = numbered(number)
        && paths.end_with(place, rest.trim())
    {
        return Ok(place);
    }
    let from_top = name.strip_prefix(SECTION_SEPARATOR.trim_start());
    let mut found = paths.all(from_top.unwrap_or(name), from_top.is_some());
    if found.is_empty() && from_top.is_some() {
        found = paths.all(name, false);
    }
    if found.is_empty() {
        found = paths.below_title(name, title);
    }
    if found.is_empty() {
        // Last, as it copies every title, and exact names are the rule.
        let folded = Paths::folded(all);
        let name = fold(name.trim_start_matches('#'));
        found = folded.all(&name, false);
        if found.is_empty() {
            found = folded.below_title(&name, &fold(title));
        }
    }
    match found.as_slice() {
        [place] => Ok(*place),
        [] => Err(Error::SectionNotFound {
            section: name.to_owned(),
            path: document.to_owned(),
            nearest: nearest(all, &paths, name),
        }),
        several => Err(Error::AmbiguousSection {
            section: name.to_owned(),
            path: document.to_owned(),
            candidates: several
                .iter()
                .take(SUGGESTIONS_LIMIT)
                .filter_map(|place| Some(called(all.get(*place)?, &paths, *place)))
                .collect(),
        }),
    }
}

/// The sections with the most similar titles.
fn nearest(all: &[Section], paths: &Paths, name: &str) -> Vec<String> {
    let last = name.rsplit(SECTION_SEPARATOR).next().unwrap_or(name);
    let mut nearest = Nearest::new(last);
    all.iter().for_each(|section| nearest.offer(&section.title));
    let titles = nearest.finish();
    let places = titles
        .iter()
        .filter_map(|title| all.iter().position(|section| section.title == *title));
    places
        .filter_map(|place| Some(called(all.get(place)?, paths, place)))
        .collect()
}

/// How an error names a section: number and path, which find it.
fn called(section: &Section, paths: &Paths, place: usize) -> String {
    let titles = paths.titles(place);
    format!("{} {}", section.number, titles.join(SECTION_SEPARATOR))
}

/// In lower case, with single spaces.
fn fold(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

/// The titles above each section.
struct Paths {
    titles: Vec<String>,
    /// Place of the section above; `None` at the top.
    above: Vec<Option<usize>>,
}

impl Paths {
    fn of(all: &[Section]) -> Paths {
        Paths::with(all, str::to_owned)
    }

    fn folded(all: &[Section]) -> Paths {
        Paths::with(all, fold)
    }

    fn with(all: &[Section], title: impl Fn(&str) -> String) -> Paths {
        let mut open: Vec<(u8, usize)> = Vec::new();
        let above = all.iter().enumerate().map(|(place, section)| {
            open.retain(|(level, _)| *level < section.level);
            let above = open.last().map(|(_, above)| *above);
            open.push((section.level, place));
            above
        });
        Paths {
            above: above.collect(),
            titles: all.iter().map(|section| title(&section.title)).collect(),
        }
    }

    /// The titles above a section and its own, outermost first.
    fn titles(&self, place: usize) -> Vec<&str> {
        let mut titles = Vec::new();
        let mut next = Some(place);
        while let Some(place) = next {
            titles.push(self.titles.get(place).map_or("", String::as_str));
            next = self.above.get(place).copied().flatten();
        }
        titles.reverse();
        titles
    }

    /// How many titles of the path of a section, from its own upwards, `name` is made of; `None`: it does not
    /// end that path.
    fn matched(&self, place: usize, name: &str) -> Option<usize> {
        let (mut rest, mut count) = (name, 0);
        let mut next = Some(place);
        while let Some(place) = next {
            rest = rest.strip_suffix(self.titles.get(place)?.as_str())?;
            count += 1;
            if rest.is_empty() {
                return Some(count);
            }
            rest = rest.strip_suffix(SECTION_SEPARATOR)?;
            next = self.above.get(place).copied().flatten();
        }
        None
    }

    fn end_with(&self, place: usize, name: &str) -> bool {
        self.matched(place, name).is_some()
    }

    /// The sections whose path ends with `name`; with `is_whole` those whose path it is.
    fn all(&self, name: &str, is_whole: bool) -> Vec<usize> {
        let means = |place: &usize| match self.matched(*place, name) {
            Some(count) => !is_whole || count == self.depth(*place),
            None => false,
        };
        (0..self.titles.len()).filter(means).collect()
    }

    /// The sections that `name` means after the title of the document.
    fn below_title(&self, name: &str, title: &str) -> Vec<usize> {
        let rest = name.strip_prefix(title);
        let rest = rest.and_then(|rest| rest.strip_prefix(SECTION_SEPARATOR));
        rest.map(|rest| self.all(rest, false)).unwrap_or_default()
    }

    fn depth(&self, place: usize) -> usize {
        let above = |place: &usize| self.above.get(*place).copied().flatten();
        std::iter::successors(Some(place), above).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kb_types::{Lines, Span};

    /// Sections of which two have the same title.
    fn guide() -> Vec<Section> {
        let section = |(number, level, title): (&str, u8, &str)| Section {
            number: number.to_owned(),
            level,
            title: title.to_owned(),
            lines: Lines { first: 1, last: 1 },
            span: Span { start: 0, end: 0 },
            part: None,
            kind: None,
            name: None,
        };
        let all = [
            ("1", 1, "Guide"),
            ("1.1", 3, "Install"),
            ("1.2", 3, "Use"),
            ("1.2.1", 4, "Flags"),
            ("1.3", 2, "Build"),
            ("2", 1, "Build"),
        ];
        all.map(section).to_vec()
    }

    fn number_of(name: &str) -> Result<String> {
        let all = guide();
        let place = find_section(&all, name, "a.md", "The book")?;
        Ok(all[place].number.clone())
    }

    #[test]
    fn a_section_is_found_by_number_path_or_title() {
        for (name, number) in [
            ("1.2.1", "1.2.1"),
            (" Flags ", "1.2.1"),
            ("install", "1.1"),
            ("Guide > Use > Flags", "1.2.1"),
            ("Use > Flags", "1.2.1"),
            ("guide  > use", "1.2"),
            ("1.3 Build", "1.3"),
            ("1.3 Guide > Build", "1.3"),
            ("Guide > Build", "1.3"),
            ("> Build", "2"),
            ("The book > Guide > Use", "1.2"),
            ("the book > install", "1.1"),
            ("## Install", "1.1"),
        ] {
            assert_eq!(number_of(name).unwrap(), number, "{name}");
        }
    }

    #[test]
    fn errors_name_numbers_and_paths() {
        let names = |name| match number_of(name) {
            Err(Error::SectionNotFound { nearest: names, .. })
            | Err(Error::AmbiguousSection {
                candidates: names, ..
            }) => names,
            other => panic!("{other:?}"),
        };
        assert_eq!(names("Build"), ["1.3 Guide > Build", "2 Build"]);
        assert_eq!(names("Instal"), ["1.1 Guide > Install"]);
        assert_eq!(names("Guide > Instal"), ["1.1 Guide > Install"]);
        assert_eq!(names("1.1 Use"), ["1.2 Guide > Use"]);
        assert!(names("3.1").is_empty());
        for name in names("Build") {
            number_of(&name).unwrap();
        }
    }
}
