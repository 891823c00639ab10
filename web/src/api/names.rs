//! The names that requests may have behind `?` or in a body, and what their values are. Handlers refuse others, and the
//! description of the API lists these.

use axum::http::StatusCode;
use kb_engine::{Class, Mode};

use crate::answer::Problem;
use crate::parameters::Parameters;

/// What a value is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// A number from the first to the second.
    Number(u32, u32),
    /// A number from 0 to 1.
    Share,
    /// `1`, `true`, `0` or `false`.
    Flag,
    /// `2026-11-28`.
    Day,
    /// One of a few words.
    OneOf(fn() -> Vec<&'static str>),
}

/// One name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Name {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Whether it may be given several times.
    pub(crate) repeats: bool,
    /// What it does, in a sentence.
    pub(crate) about: &'static str,
}

const fn one(name: &'static str, kind: Kind, about: &'static str) -> Name {
    Name {
        name,
        kind,
        repeats: false,
        about,
    }
}

const fn many(name: &'static str, kind: Kind, about: &'static str) -> Name {
    Name {
        repeats: true,
        ..one(name, kind, about)
    }
}

/// Names that belong together.
pub(crate) type Names = &'static [Name];

fn modes() -> Vec<&'static str> {
    Mode::ALL.iter().map(|mode| mode.name()).collect()
}

fn classes() -> Vec<&'static str> {
    Class::ALL.iter().map(|class| class.name()).collect()
}

fn outputs() -> Vec<&'static str> {
    vec!["lines", "documents", "counts"]
}

/// Most hits and symbols of one answer, and most lines of matches.
pub(crate) const HITS_LIMIT: u32 = 200;
pub(crate) const LINES_LIMIT: u32 = 1000;

/// Most tokens of one answer.
pub(crate) const TOKENS: u32 = 100_000;

/// Those of every list.
pub(crate) const PAGE: Names = &[
    one(
        "max_tokens",
        Kind::Number(1, u32::MAX),
        "Most tokens of the answer; 100,000 at most.",
    ),
    one(
        "cursor",
        Kind::Text,
        "The `continuation` of the answer before.",
    ),
];

/// Which documents are searched.
pub(crate) const FILTERS: Names = &[
    many("file", Kind::Text, "Name of an open file; all without it."),
    many("path", Kind::Text, "Glob of paths; `!` before it excludes."),
    many("type", Kind::Text, "File type, such as `markdown`."),
    many("lang", Kind::Text, "Language of programs or text."),
    many("class", Kind::OneOf(classes), "Code, prose or data."),
    many("tag", Kind::Text, "Tag, or one above it."),
    many("folder", Kind::Text, "Folder, with those below it."),
    many("field", Kind::Text, "`NAME=VALUE` of the metadata."),
    many("where", Kind::Text, "Condition on a field: `year > 2015`."),
    many("links_to", Kind::Text, "Documents with a link to this one."),
    many(
        "symbol",
        Kind::Text,
        "Documents that define a symbol of that name.",
    ),
    many("kind", Kind::Text, "Kind of symbol, such as `function`."),
    one("since", Kind::Day, "Documents changed since that day."),
];

pub(crate) const SEARCH: Names = &[
    one("q", Kind::Text, "The query."),
    one(
        "k",
        Kind::Number(1, HITS_LIMIT),
        "Most hits; 10 without it.",
    ),
    one(
        "mode",
        Kind::OneOf(modes),
        "What is searched; `hybrid` without it.",
    ),
    one(
        "sort",
        Kind::Text,
        "`score`, `recency`, `path`, or a field; `-` before a field for the greatest first.",
    ),
    many("facet", Kind::Text, "Field whose values are counted."),
    one(
        "group_by",
        Kind::Text,
        "Field: one hit for each of its values.",
    ),
    one(
        "min_score",
        Kind::Share,
        "Hits of a lower score are left out.",
    ),
    one("lines", Kind::Number(1, 1000), "Lines that a hit shows."),
    one(
        "exact",
        Kind::Flag,
        "Whether words are searched as they are written.",
    ),
    one(
        "explain",
        Kind::Flag,
        "Whether hits have the parts of their scores.",
    ),
];

pub(crate) const SYMBOLS: Names = &[
    one("name", Kind::Text, "Name, or a glob of names."),
    one(
        "k",
        Kind::Number(1, LINES_LIMIT),
        "Most symbols; 100 without it.",
    ),
];

pub(crate) const REGEX: Names = &[
    one("pattern", Kind::Text, "The regular expression."),
    one(
        "k",
        Kind::Number(1, LINES_LIMIT),
        "Most matches; 100 without it.",
    ),
    one(
        "ignore_case",
        Kind::Flag,
        "Whether letters match in either case.",
    ),
    one("word", Kind::Flag, "Whether a match is of whole words."),
    one("literal", Kind::Flag, "Whether the pattern is plain text."),
    one(
        "multiline",
        Kind::Flag,
        "Whether a match may reach over several lines.",
    ),
    one(
        "output",
        Kind::OneOf(outputs),
        "What is listed; `lines` without it.",
    ),
];

pub(crate) const FOLDER: Names = &[
    one("folder", Kind::Text, "The folder; the top without it."),
    one(
        "recursive",
        Kind::Flag,
        "Whether all documents below it are listed.",
    ),
];

pub(crate) const LINES: Names = &[one("lines", Kind::Text, "Lines, such as `10-20`.")];

pub(crate) const NUMBERS: Names = &[many(
    "number",
    Kind::Number(1, u32::MAX),
    "Only the page or slide of that number.",
)];

pub(crate) const SHEET: Names = &[
    one(
        "sheet",
        Kind::Text,
        "Name or number of the sheet; the first without it.",
    ),
    one("cells", Kind::Text, "Range, such as `A1:D10`."),
];

pub(crate) const UPLOAD: Names = &[many("tag", Kind::Text, "Tag of the document.")];

pub(crate) const FIND: Names = &[one("q", Kind::Text, "Part of a path, or words of a title.")];

/// Refuses a name that is in none of the groups: it would be a filter that does not filter.
pub(crate) fn only(parameters: &Parameters, groups: &[Names]) -> Result<(), Problem> {
    let known = |name: &str| groups.iter().any(|group| find(group, name).is_some());
    match parameters.pairs().find(|(name, _)| !known(name)) {
        None => Ok(()),
        Some((name, _)) => Err(wrong(format!(
            "{name:?} is not known here; /api/v1/openapi.json has the names"
        ))),
    }
}

/// Whether a name may repeat in one of the groups.
pub(crate) fn repeats(groups: &[Names], name: &str) -> bool {
    let mut found = groups.iter().filter_map(|group| find(group, name));
    found.any(|name| name.repeats)
}

/// A number within the bounds of its name in the group.
pub(crate) fn number(
    parameters: &Parameters,
    group: Names,
    name: &str,
) -> Result<Option<u32>, Problem> {
    let Some(given) = parameters.first(name) else {
        return Ok(None);
    };
    let (least, most) = match find(group, name).map(|name| name.kind) {
        Some(Kind::Number(least, most)) => (least, most),
        _ => (0, u32::MAX),
    };
    let number = given.parse().ok();
    let number = number.filter(|number| (least..=most).contains(number));
    let message = || format!("{name}: {given:?} given; allowed are {least} to {most}");
    number.map(Some).ok_or_else(|| wrong(message()))
}

fn find(group: Names, name: &str) -> Option<&'static Name> {
    group.iter().find(|known| known.name == name)
}

pub(crate) fn wrong(message: String) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "INVALID_ARGUMENT", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_known_in_its_group_and_a_number_within_its_bounds() {
        let read = |text: &str| Parameters::parse(text.as_bytes());
        assert!(only(&read("q=x&tag=a&tag=b&cursor=c"), &[SEARCH, FILTERS, PAGE]).is_ok());
        assert!(only(&read("q=x&tag=a"), &[SEARCH]).is_err());
        assert!(repeats(&[SEARCH, FILTERS], "tag") && !repeats(&[SEARCH, FILTERS], "q"));
        let k = |text: &str| number(&read(text), SEARCH, "k").map_err(|_| ());
        assert_eq!(k("k=200"), Ok(Some(200)));
        assert_eq!(k(""), Ok(None));
        for text in ["k=0", "k=201", "k=-1", "k=x", "k=99999999999"] {
            assert_eq!(k(text), Err(()), "{text}");
        }
    }
}
