//! Text of fonts for Chinese, Japanese and Korean that do not say it: they number their characters by a public collection, and
//! tables from those numbers to Unicode exist.

use std::rc::Rc;

use hayro_interpret::hayro_cmap::{CMap, CMapName, CidFamily, load_embedded};
use hayro_syntax::object::{Array, Dict, Name, String as PdfString};
use rustc_hash::FxHashMap;

use crate::ingest::extract::pdf::segments::text_of;

/// Fonts of a page that are looked at.
const MAX_FONTS: usize = 1000;

/// From the codes of a font to text.
#[derive(Debug)]
pub(super) struct CidText {
    encoding: CMap,
    collection: CMap,
}

impl CidText {
    pub(super) fn of_code(&self, code: u32) -> Option<String> {
        let cid = (1..=4).find_map(|bytes| self.encoding.lookup_cid_code(code, bytes))?;
        text_of(self.collection.lookup_bf_string(cid)?)
    }
}

/// The tables of a document.
#[derive(Debug, Default)]
pub(super) struct CidFonts {
    known: FxHashMap<(Vec<u8>, CidFamily), Option<Rc<CidText>>>,
}

impl CidFonts {
    /// The table for the fonts of a page that do not say their text; `None` where there is none, and where they need several, as
    /// a glyph does not tell its font.
    pub(super) fn of_page(&mut self, fonts: &Dict<'_>) -> Option<Rc<CidText>> {
        let mut found = None;
        for name in fonts.keys().take(MAX_FONTS) {
            let font = fonts.get::<Dict<'_>>(&name);
            let Some(key) = font.and_then(|font| key_of_font(&font)) else {
                continue;
            };
            if found.as_ref().is_some_and(|found| *found != key) {
                return None;
            }
            found = Some(key);
        }
        let key = found?;
        let make = || table(&key.0, &key.1).map(Rc::new);
        self.known.entry(key.clone()).or_insert_with(make).clone()
    }
}

/// The encoding of such a font, for horizontal text, and its collection.
fn key_of_font(font: &Dict<'_>) -> Option<(Vec<u8>, CidFamily)> {
    let is_composite = &*font.get::<Name<'_>>("Subtype")? == b"Type0";
    if !is_composite || font.contains_key("ToUnicode") {
        return None;
    }
    let descendants = font.get::<Array<'_>>("DescendantFonts")?;
    let descendant = descendants.iter::<Dict<'_>>().next()?;
    let system = descendant.get::<Dict<'_>>("CIDSystemInfo")?;
    let registry = system.get::<PdfString<'_>>("Registry")?;
    let ordering = system.get::<PdfString<'_>>("Ordering")?;
    let family = CidFamily::from_registry_ordering(&registry, &ordering);
    family.ucs2_cmap()?;
    let mut encoding = font.get::<Name<'_>>("Encoding")?.to_vec();
    if let Some(direction) = encoding.last_mut().filter(|last| **last == b'V') {
        *direction = b'H';
    }
    Some((encoding, family))
}

fn table(encoding: &[u8], family: &CidFamily) -> Option<CidText> {
    let parse = |name: CMapName<'_>| CMap::parse(load_embedded(name)?, load_embedded);
    let encoding = match CMapName::from_bytes(encoding) {
        CMapName::IdentityH => CMap::identity_h(),
        name => parse(name)?,
    };
    Some(CidText {
        encoding,
        collection: parse(family.ucs2_cmap()?)?,
    })
}
