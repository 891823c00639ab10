//! Text of fonts for Chinese, Japanese and Korean that do not say it: they number their characters by a public collection, and
//! tables from those numbers to Unicode exist.

use std::rc::Rc;

use encoding_rs::UTF_16BE;
use hayro_interpret::hayro_cmap::{BfString, CMap, CMapName, CidFamily, load_embedded};
use hayro_syntax::object::{Array, Dict, Name, Stream, String as PdfString};
use hayro_syntax::page::Page;
use rustc_hash::FxHashMap;

use crate::pdf::segments::text_of;

/// Fonts and drawings of a page that are looked at, and drawings inside each other.
// Pages have few fonts. Drawings may include each other without end.
const MAX_FONTS: usize = 1000;
const MAX_DEPTH: usize = 4;

/// Stands for the encoding of a font that is not in the document and has no other.
const OF_NO_GLYPHS: &[u8] = b"Uni-UTF16-H";
/// A map of a font that has a name instead: its codes are the characters themselves, in UTF-16.
const CODES_ARE_CHARACTERS: &[u8] =
    b"begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange \
    1 beginbfrange <0000> <ffff> <0000> endbfrange endcmap";

/// The map of a name. The interpreter asks for the maps of encodings, and for those of text that have a name: it knows the
/// encoding `Identity-H` without asking.
pub(super) fn named_map(name: CMapName<'_>) -> Option<&'static [u8]> {
    match name {
        CMapName::IdentityH | CMapName::IdentityV => Some(CODES_ARE_CHARACTERS),
        CMapName::Custom(b"Identity") => Some(CODES_ARE_CHARACTERS),
        name => load_embedded(name),
    }
}

/// From the codes of a font to text.
#[derive(Debug)]
pub(super) enum CidText {
    /// By the numbers of a collection.
    Collection {
        encoding: Box<CMap>,
        collection: Box<CMap>,
    },
    /// The codes are the characters, in UTF-16.
    Characters,
}

impl CidText {
    pub(super) fn of_code(&self, code: u32) -> Option<String> {
        match self {
            CidText::Collection {
                encoding,
                collection,
            } => {
                let cid = (1..=4).find_map(|bytes| encoding.lookup_cid_code(code, bytes))?;
                text_of(collection.lookup_bf_string(cid)?)
            }
            CidText::Characters => {
                let bytes = code.to_be_bytes();
                let bytes = bytes.strip_prefix(&[0, 0]).unwrap_or(&bytes);
                let (text, _) = UTF_16BE.decode_without_bom_handling(bytes);
                text_of(BfString::String(text.into_owned()))
            }
        }
    }
}

/// The tables of a document.
#[derive(Debug, Default)]
pub(super) struct CidFonts {
    known: FxHashMap<(Vec<u8>, CidFamily), Option<Rc<CidText>>>,
}

impl CidFonts {
    /// The table for the fonts of a page that do not say their text, or of the drawings in it; `None` where there is none, and
    /// where they need several, as a glyph does not tell its font.
    pub(super) fn of_page<'a>(&mut self, page: &Page<'a>) -> Option<Rc<CidText>> {
        let resources = page.resources();
        let mut level = vec![(resources.fonts.clone(), resources.x_objects.clone())];
        let mut left = MAX_FONTS;
        let mut annotations = drawn_annotations(page);
        for _ in 0..MAX_DEPTH {
            let mut found = None;
            let mut has_silent = false;
            for (fonts, _) in &level {
                for name in fonts.keys() {
                    left = left.checked_sub(1)?;
                    let font = fonts.get::<Dict<'_>>(&name);
                    let Some(font) = font else {
                        continue;
                    };
                    let Some(key) = key_of_font(&font) else {
                        has_silent |= is_silent(&font);
                        continue;
                    };
                    if found.as_ref().is_some_and(|found| *found != key) {
                        return None;
                    }
                    found = Some(key);
                }
            }
            if let Some(key) = found {
                // The codes of the other one are the numbers of its glyphs.
                if has_silent && key.0 == OF_NO_GLYPHS {
                    return None;
                }
                let make = || table(&key.0, &key.1).map(Rc::new);
                return self.known.entry(key.clone()).or_insert_with(make).clone();
            }
            let mut drawings = std::mem::take(&mut annotations);
            for (_, named) in &level {
                for name in named.keys() {
                    left = left.checked_sub(1)?;
                    drawings.extend(named.get::<Stream<'a>>(&name));
                }
            }
            let resources = drawings
                .iter()
                .filter_map(|drawing| drawing.dict().get::<Dict<'a>>("Resources"));
            let entry = |of: &Dict<'a>, name: &str| of.get::<Dict<'a>>(name).unwrap_or_default();
            level = resources
                .map(|of| (entry(&of, "Font"), entry(&of, "XObject")))
                .collect();
        }
        None
    }
}

/// The drawings of the annotations of a page.
fn drawn_annotations<'a>(page: &Page<'a>) -> Vec<Stream<'a>> {
    let annotations = page.raw().get::<Array<'a>>("Annots").unwrap_or_default();
    let annotations = annotations.iter::<Dict<'a>>().take(MAX_FONTS);
    let drawings = annotations.filter_map(|it| it.get::<Dict<'a>>("AP"));
    drawings
        .filter_map(|it| it.get::<Stream<'a>>("N"))
        .collect()
}

/// Whether a font has codes of several bytes and no map to text. The name of an encoding says no text.
fn is_silent(font: &Dict<'_>) -> bool {
    let kind = font.get::<Name<'_>>("Subtype");
    kind.is_some_and(|kind| &*kind == b"Type0") && font.get::<Stream<'_>>("ToUnicode").is_none()
}

/// The encoding of such a font, for horizontal text, and its collection.
fn key_of_font(font: &Dict<'_>) -> Option<(Vec<u8>, CidFamily)> {
    if !is_silent(font) {
        return None;
    }
    let descendants = font.get::<Array<'_>>("DescendantFonts")?;
    let descendant = descendants.iter::<Dict<'_>>().next()?;
    let system = descendant.get::<Dict<'_>>("CIDSystemInfo")?;
    let registry = system.get::<PdfString<'_>>("Registry")?;
    let ordering = system.get::<PdfString<'_>>("Ordering")?;
    let family = CidFamily::from_registry_ordering(&registry, &ordering);
    let mut encoding = font.get::<Name<'_>>("Encoding")?.to_vec();
    // Where there are no glyphs that the codes could be the numbers of, they are characters.
    if encoding.starts_with(b"Identity-") && *ordering == *b"Identity" && !is_embedded(&descendant)
    {
        return Some((OF_NO_GLYPHS.to_vec(), family));
    }
    if family.ucs2_cmap().is_none() && !is_of_characters(&encoding) {
        return None;
    }
    if let Some(direction) = encoding.last_mut().filter(|last| **last == b'V') {
        *direction = b'H';
    }
    Some((encoding, family))
}

/// Whether a font is in the document.
fn is_embedded(descendant: &Dict<'_>) -> bool {
    let descriptor = descendant.get::<Dict<'_>>("FontDescriptor");
    let has = |descriptor: Dict<'_>| {
        ["FontFile", "FontFile2", "FontFile3"]
            .iter()
            .any(|file| descriptor.contains_key(file))
    };
    descriptor.is_some_and(has)
}

/// Whether an encoding has the characters themselves for codes, such as `UniJIS-UTF16-H`.
fn is_of_characters(encoding: &[u8]) -> bool {
    let has = |part: &[u8]| memchr::memmem::find(encoding, part).is_some();
    encoding.starts_with(b"Uni") && (has(b"-UCS2-") || has(b"-UTF16-"))
}

fn table(encoding: &[u8], family: &CidFamily) -> Option<CidText> {
    if is_of_characters(encoding) {
        return Some(CidText::Characters);
    }
    let parse = |name: CMapName<'_>| CMap::parse(load_embedded(name)?, load_embedded);
    let encoding = match CMapName::from_bytes(encoding) {
        CMapName::IdentityH => CMap::identity_h(),
        name => parse(name)?,
    };
    Some(CidText::Collection {
        encoding: Box::new(encoding),
        collection: Box::new(parse(family.ucs2_cmap()?)?),
    })
}
