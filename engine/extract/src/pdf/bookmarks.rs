//! The bookmarks of a document, and the lines where they lead.

use hayro_syntax::object::Dict;
use hayro_syntax::xref::XRef;
use rustc_hash::FxHashSet;

use crate::extracted::MAX_HEADINGS;
use crate::pdf::destinations::{Destination, Destinations, string_of};
use crate::pdf::page_text::{PlacedLine, key_of};

/// How far below its destination a heading may begin, and how far above, in points.
// Two lines of text of 12 points: programs set the destination above the heading.
const NEAR_ABOVE: f64 = 24.0;
/// Characters of a line that may stand for the start of a longer title.
// Fewer are the start of too many titles.
const MIN_KEY_CHARS: usize = 3;

/// A bookmark.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bookmark {
    /// From 1.
    pub(super) level: usize,
    pub(super) title: String,
    /// `None` for one that leads nowhere in the document.
    pub(super) destination: Option<Destination>,
}

/// The bookmarks in their order, those of a level below the one that they belong to. One that leads nowhere leads where the first
/// below it does, else where the one before it does.
pub(super) fn read<'p>(
    xref: &'p XRef,
    catalog: &Dict<'p>,
    destinations: &Destinations,
) -> Vec<Bookmark> {
    // An object remembers all through which it was reached, and is slower the more these are: the next bookmark is
    // looked up afresh.
    let follow = |entry: &Dict<'p>, key: &str| -> Option<Dict<'p>> {
        match entry.get_ref(key) {
            Some(place) => xref.get(place.into()),
            None => entry.get(key),
        }
    };
    let mut bookmarks: Vec<Bookmark> = Vec::new();
    let outlines = follow(catalog, "Outlines");
    let first = outlines.and_then(|outlines| follow(&outlines, "First"));
    let mut seen = FxHashSet::default();
    let mut open: Vec<(Dict<'_>, usize)> = first.map(|first| (first, 1)).into_iter().collect();
    while let Some((entry, level)) = open.pop() {
        let is_known = entry.obj_id().is_some_and(|id| !seen.insert(id));
        if is_known || bookmarks.len() >= MAX_HEADINGS {
            continue;
        }
        bookmarks.push(Bookmark {
            level,
            title: string_of(&entry, "Title"),
            destination: destinations.of_bookmark(&entry),
        });
        if let Some(next) = follow(&entry, "Next") {
            open.push((next, level));
        }
        if let Some(first) = follow(&entry, "First") {
            open.push((first, level.saturating_add(1)));
        }
    }
    let mut below: Option<(usize, Destination)> = None;
    for bookmark in bookmarks.iter_mut().rev() {
        if bookmark.destination.is_none() {
            let first_below = below.filter(|(level, _)| *level > bookmark.level);
            bookmark.destination = first_below.map(|(_, destination)| destination);
        }
        below = bookmark.destination.map(|place| (bookmark.level, place));
    }
    let mut before = None;
    for bookmark in &mut bookmarks {
        bookmark.destination = bookmark.destination.or(before);
        before = bookmark.destination;
    }
    bookmarks
}

/// The line of a page that a bookmark means: the one with its title, the nearest to its destination if there are several; else
/// the first line below its destination. `top` is the destination from the top of the page as it is shown, `from` the line of
/// the bookmark before it on the same page.
pub(super) fn line_of(
    lines: &[PlacedLine],
    title: &str,
    top: Option<f64>,
    from: usize,
) -> Option<usize> {
    let key = key_of(title);
    let titled = (0..lines.len()).filter(|at| is_titled(lines, *at, &key));
    if let Some(top) = top {
        let distance = |at: &usize| {
            let line = lines.get(*at);
            line.map_or(f64::INFINITY, |line| (line.page_y - top).abs())
        };
        let nearest = titled.min_by(|one, other| distance(one).total_cmp(&distance(other)));
        return nearest.or_else(|| {
            let below = |line: &PlacedLine| line.page_y >= top - NEAR_ABOVE;
            lines.iter().position(below)
        });
    }
    let mut titled = titled.peekable();
    let first = titled.peek().copied();
    titled.find(|at| *at >= from).or(first)
}

/// Whether the title begins at a line: it is the line, the line without its number, or the start of it goes over several lines.
fn is_titled(lines: &[PlacedLine], at: usize, key: &str) -> bool {
    let Some(line) = lines.get(at) else {
        return false;
    };
    if key.is_empty() || line.key.is_empty() {
        return false;
    }
    let without_number = |text: &str| -> String {
        let digits = |one: char| one.is_ascii_digit();
        text.trim_start_matches(digits).to_owned()
    };
    if line.key == key {
        return true;
    }
    let bare = without_number(&line.key);
    if !bare.is_empty() && bare == without_number(key) {
        return true;
    }
    let mut rest = key;
    for line in lines.get(at..).unwrap_or_default().iter().take(5) {
        if line.key.is_empty() {
            return false;
        }
        match rest.strip_prefix(line.key.as_str()) {
            Some("") => return true,
            Some(left) if line.key.chars().count() >= MIN_KEY_CHARS || rest.len() < key.len() => {
                rest = left;
            }
            _ => return false,
        }
    }
    false
}
