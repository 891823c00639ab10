//! Where links and bookmarks of a document lead.

use hayro_syntax::Pdf;
use hayro_syntax::object::{
    Array, Dict, MaybeRef, Name, Number, ObjRef, Object, ObjectIdentifier, String as PdfString,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Names of destinations that are looked at.
// A book of a million named places is read whole; a forged tree must not fill the memory of the
// worker.
const MAX_NAMES: usize = 1 << 20;

/// A place in the document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Destination {
    /// Position of the page, from 0.
    pub(super) page: usize,
    /// A point at the upper edge of what is shown, in the coordinates of the page; without it the page as a whole.
    pub(super) point: Option<(f64, f64)>,
}

/// The destinations of a document by what leads there.
#[derive(Debug)]
pub(super) struct Destinations {
    /// Positions of the pages.
    pages: FxHashMap<ObjectIdentifier, usize>,
    count: usize,
    named: FxHashMap<Vec<u8>, Destination>,
}

impl Destinations {
    /// Reads the names that the catalog lists. Linear in the document, without a stack.
    pub(super) fn read(pdf: &Pdf, catalog: &Dict<'_>) -> Destinations {
        let pages = (0..).zip(pdf.pages().iter());
        let ids = pages.filter_map(|(at, page)| Some((page.raw().obj_id()?, at)));
        let mut destinations = Destinations {
            pages: ids.collect(),
            count: pdf.pages().len(),
            named: FxHashMap::default(),
        };
        let names = catalog.get::<Dict<'_>>("Names");
        if let Some(tree) = names.and_then(|names| names.get::<Dict<'_>>("Dests")) {
            destinations.read_tree(tree);
        }
        // Before PDF 1.2 the names were those of a dictionary.
        if let Some(old) = catalog.get::<Dict<'_>>("Dests") {
            for name in old.keys().take(MAX_NAMES) {
                let place = old.get::<Object<'_>>(&name);
                destinations.add(&name, place);
            }
        }
        destinations
    }

    fn add(&mut self, name: &[u8], place: Option<Object<'_>>) {
        if let Some(destination) = place.and_then(|place| self.of_place(place)) {
            self.named.entry(name.to_vec()).or_insert(destination);
        }
    }

    fn read_tree(&mut self, root: Dict<'_>) {
        let mut seen = FxHashSet::default();
        let mut nodes = vec![root];
        let mut names = 0;
        while let Some(node) = nodes.pop() {
            if node.obj_id().is_some_and(|id| !seen.insert(id)) {
                continue;
            }
            if let Some(pairs) = node.get::<Array<'_>>("Names") {
                let mut pairs = pairs.iter::<Object<'_>>();
                while let (Some(name), Some(place)) = (pairs.next(), pairs.next()) {
                    names += 1;
                    if names > MAX_NAMES {
                        return;
                    }
                    if let Object::String(name) = name {
                        self.add(&name, Some(place));
                    }
                }
            }
            if let Some(kids) = node.get::<Array<'_>>("Kids") {
                names += 1;
                nodes.extend(kids.iter::<Dict<'_>>().take(MAX_NAMES));
            }
            if names > MAX_NAMES || nodes.len() > MAX_NAMES {
                return;
            }
        }
    }

    /// Where a bookmark leads: by its destination, or by its action if that stays in the document.
    pub(super) fn of_bookmark(&self, bookmark: &Dict<'_>) -> Option<Destination> {
        let stated = bookmark.get::<Object<'_>>("Dest");
        let stated = stated.filter(|stated| !matches!(stated, Object::Null(_)));
        let place = stated.or_else(|| {
            let action = bookmark.get::<Dict<'_>>("A")?;
            let kind = action.get::<Name<'_>>("S");
            let stays = kind.is_none_or(|kind| &*kind == b"GoTo");
            stays.then(|| action.get::<Object<'_>>("D")).flatten()
        })?;
        match &place {
            Object::String(name) => self.of_name(name),
            Object::Name(name) => self.of_name(name),
            _ => self.of_place(place),
        }
    }

    fn of_name(&self, name: &[u8]) -> Option<Destination> {
        self.named.get(name).copied()
    }

    /// An array that begins with a page, or a dictionary with such an array.
    fn of_place(&self, place: Object<'_>) -> Option<Destination> {
        let array = match place {
            Object::Array(array) => array,
            Object::Dict(dict) => dict.get::<Array<'_>>("D")?,
            _ => return None,
        };
        let page = match array.raw_iter().next()? {
            MaybeRef::Ref(page) => self.of_page(page)?,
            // Only links to other documents should have numbers, but bookmarks have them, too.
            MaybeRef::NotRef(number) => usize::try_from(number.into_i32()?).ok()?,
        };
        if page >= self.count {
            return None;
        }
        Some(Destination {
            page,
            point: point_of(&array),
        })
    }

    fn of_page(&self, page: ObjRef) -> Option<usize> {
        self.pages.get(&page.into()).copied()
    }
}

/// The upper left corner of what a destination shows.
fn point_of(array: &Array<'_>) -> Option<(f64, f64)> {
    let mut entries = array.iter::<Object<'_>>().skip(1);
    let Some(Object::Name(kind)) = entries.next() else {
        return None;
    };
    let numbers: Vec<Option<f64>> = entries
        .take(4)
        .map(|entry| match entry {
            Object::Number(number) => Some(Number::as_f64(&number)),
            _ => None,
        })
        .collect();
    let number = |at: usize| numbers.get(at).copied().flatten();
    let (left, top) = match &*kind {
        b"XYZ" => (number(0), number(1)?),
        b"FitH" | b"FitBH" => (None, number(0)?),
        b"FitR" => (number(0), number(3)?),
        _ => return None,
    };
    let left = left.unwrap_or(0.0);
    (left.is_finite() && top.is_finite()).then_some((left, top))
}

/// The text of a string object of a dictionary; empty where there is none.
pub(super) fn string_of(dict: &Dict<'_>, key: &str) -> String {
    let string = dict.get::<PdfString<'_>>(key);
    string.map_or_else(String::new, |string| {
        crate::pdf::text_string::decode(string.as_bytes())
    })
}
