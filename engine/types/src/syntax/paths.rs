//! Which symbols of a program their paths do not tell from the others.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Symbol;
use crate::sections::{OpenSections, SECTION_SEPARATOR, numbers_in};
use crate::syntax::SymbolRef;
use crate::syntax::nesting::Levels;

/// Bytes of all paths together beyond which they are not compared. 65 535 symbols have 4 MB as a rule.
// 65,535 symbols inside 64 others with long names would take gigabytes.
const MAX_PATHS_BYTES: usize = 64 << 20;

/// For each symbol, which are as [`fault`](super::nesting::fault) wants them, whether its path, the labels of those
/// that hold it and its own, also means another section: the path of another one ends with it, or it begins with the
/// number of another one, or like the mark of a path from the top. Never for fields, which are no sections. `None` where the paths are too long to tell. Takes
/// memory for all paths, and time in line with the sum of their lengths and parts.
pub fn ambiguous_paths(symbols: &[Symbol]) -> Option<Vec<bool>> {
    let paths = Paths::of(symbols)?;
    let mut meanings: FxHashMap<&str, u32> = FxHashMap::default();
    for path in paths.of_sections() {
        *meanings.entry(path).or_default() += 1;
    }
    for path in paths.of_sections() {
        for end in ends_of(path) {
            if let Some(count) = meanings.get_mut(end) {
                *count += 1;
            }
        }
    }
    let numbered = with_numbers(symbols, &paths);
    let from_top = SECTION_SEPARATOR.trim_start();
    let each = paths.iter().enumerate().map(|(position, path)| {
        meanings.get(path).is_some_and(|count| *count > 1)
            || path.starts_with(from_top)
            || numbered.contains(&position)
    });
    Some(each.collect())
}

/// What of a path is behind a separator.
fn ends_of(path: &str) -> impl Iterator<Item = &str> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let found = path.get(from..)?.find(SECTION_SEPARATOR)?;
        // The next one may begin with the space that this one ends with.
        from += found + 1;
        path.get(from - 1 + SECTION_SEPARATOR.len()..)
    })
}

/// The positions of symbols whose paths begin with the number of another one.
fn with_numbers(symbols: &[Symbol], paths: &Paths) -> FxHashSet<usize> {
    let first_words = paths.iter().map(|path| path.split(' ').next());
    let wanted = first_words.map(|word| word.filter(|word| numbers_in(word).is_some()));
    let wanted: Vec<(usize, &str)> = wanted
        .enumerate()
        .filter_map(|(at, word)| Some((at, word?)))
        .collect();
    if wanted.is_empty() {
        return FxHashSet::default();
    }
    let words: FxHashSet<&str> = wanted.iter().map(|(_, word)| *word).collect();
    let mut there: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    let mut open = OpenSections::default();
    let mut levels = Levels::default();
    for (position, symbol) in symbols.iter().enumerate() {
        let level = levels.next(&SymbolRef::from(symbol));
        if !symbol.kind.is_section() {
            continue;
        }
        open.push(level);
        if let Some(word) = words.get(open.number().as_str()) {
            there.entry(word).or_default().push(position);
        }
    }
    let is_of_another = |(position, word): &(usize, &str)| {
        there
            .get(word)
            .is_some_and(|those| those.iter().any(|other| other != position))
    };
    let of_others = wanted.into_iter().filter(is_of_another);
    of_others.map(|(position, _)| position).collect()
}

/// The paths of symbols.
#[derive(Debug)]
struct Paths {
    /// One behind the other.
    texts: String,
    /// Where each begins and ends; that of a field is empty.
    places: Vec<(usize, usize)>,
}

impl Paths {
    fn of(symbols: &[Symbol]) -> Option<Paths> {
        let mut paths = Paths {
            texts: String::new(),
            places: Vec::with_capacity(symbols.len()),
        };
        for symbol in symbols {
            let start = paths.texts.len();
            if !symbol.kind.is_section() {
                paths.places.push((start, start));
                continue;
            }
            let parent = symbol.parent.and_then(|at| paths.places.get(at as usize));
            if let Some((from, to)) = parent.copied() {
                if paths.texts.len() + (to - from) > MAX_PATHS_BYTES {
                    return None;
                }
                paths.texts.extend_from_within(from..to);
                paths.texts.push_str(SECTION_SEPARATOR);
            }
            paths.texts.push_str(&symbol.label());
            if paths.texts.len() > MAX_PATHS_BYTES {
                return None;
            }
            paths.places.push((start, paths.texts.len()));
        }
        Some(paths)
    }

    /// Those of sections alone.
    fn of_sections(&self) -> impl Iterator<Item = &str> {
        self.iter().filter(|path| !path.is_empty())
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let texts = self
            .places
            .iter()
            .map(|(from, to)| self.texts.get(*from..*to));
        texts.map(Option::unwrap_or_default)
    }
}
