//! Values of form fields and free text by the annotations of a page.

use hayro_syntax::object::{Array, Dict, Name, Object, Rect, Stream};
use hayro_syntax::page::Page;

use crate::pdf::text_string;

/// Annotations of a page that are looked at.
// Forms have hundreds on a page. Each costs a look at the text of the page.
const MAX_ANNOTATIONS: usize = 20_000;
/// Fields above each other: a value may be that of a field further up.
// A forged field may be its own parent.
const MAX_FIELD_DEPTH: usize = 32;
/// Choices that are looked at for all fields of a page.
// A list may belong to thousands of fields of a page, so the work is bounded for all together.
const MAX_OPTIONS: usize = 200_000;

/// Annotations that no viewer shows.
// Bits of ISO 32000-2, 12.5.3, counted from 0.
const HIDDEN: u32 = 1 << 1;
const NO_VIEW: u32 = 1 << 5;
/// Kinds of fields.
// Bits of ISO 32000-2, 12.7.5, counted from 0.
const MULTILINE: i32 = 1 << 12;
const PASSWORD: i32 = 1 << 13;
const PUSH_BUTTON: i32 = 1 << 16;

/// Size of letters of a field that leaves it to the viewer: at most, and of the height of its line.
// About what viewers do; it only places a line among others, so that it is read in the right order.
const AUTO_SIZE: f64 = 12.0;
const AUTO_HEIGHT: f64 = 0.7;
/// Between the edge of a field and its text.
const PADDING: f64 = 2.0;
const LINE_STEP: f64 = 1.2;
/// Height of small letters and of all, in em: where the baseline lies.
const HALF_HEIGHT: f64 = 0.35;
const ASCENT: f64 = 0.8;
/// Width of a letter, in em; fonts of viewers differ.
const LETTER: f64 = 0.5;

/// A line that a viewer writes, in the coordinates of its page.
#[derive(Debug)]
pub(in crate::pdf) struct Written {
    pub(in crate::pdf) text: String,
    /// Where its baseline begins, which way it goes, and how far.
    pub(in crate::pdf) origin: (f64, f64),
    pub(in crate::pdf) along: (f64, f64),
    pub(in crate::pdf) width: f64,
    pub(in crate::pdf) size: f64,
}

/// The fields of a page.
#[derive(Debug, Default)]
pub(in crate::pdf) struct PageFields {
    pub(in crate::pdf) has_any: bool,
    pub(in crate::pdf) written: Vec<Written>,
}

/// Lines of fields and free text that the page has no drawing for. `is_shown`: whether a text stands within left, bottom, right
/// and top already. `regenerates`: the document asks for new drawings of its fields.
pub(in crate::pdf) fn written_on(
    page: &Page<'_>,
    regenerates: bool,
    mut is_shown: impl FnMut((f64, f64, f64, f64), Option<&str>) -> bool,
) -> PageFields {
    let mut fields = PageFields::default();
    let Some(annotations) = page.raw().get::<Array<'_>>("Annots") else {
        return fields;
    };
    let mut options = MAX_OPTIONS;
    for annotation in annotations.iter::<Dict<'_>>().take(MAX_ANNOTATIONS) {
        let flags = annotation.get::<u32>("F").unwrap_or(0);
        let Some(area) = area_of(&annotation).filter(|_| flags & (HIDDEN | NO_VIEW) == 0) else {
            continue;
        };
        let subtype = annotation.get::<Name<'_>>("Subtype");
        let text = match subtype.as_deref() {
            Some(b"Widget") => {
                fields.has_any = true;
                field_text(&annotation, &mut options)
            }
            Some(b"FreeText") => free_text(&annotation),
            _ => None,
        };
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
            continue;
        };
        if has_appearance(&annotation) {
            // A button is what it shows; a drawing of a value may be empty, or that of an older value.
            let is_button = kind_of(&annotation).as_deref() == Some(b"Btn");
            let expected = regenerates.then_some(text.as_str());
            if is_button || is_shown(area, expected) {
                continue;
            }
        }
        place(&annotation, area, &text, &mut fields.written);
    }
    fields
}

/// Left, bottom, right and top.
fn area_of(annotation: &Dict<'_>) -> Option<(f64, f64, f64, f64)> {
    let rect = annotation.get::<Rect>("Rect")?;
    let area = (
        rect.x0.min(rect.x1),
        rect.y0.min(rect.y1),
        rect.x0.max(rect.x1),
        rect.y0.max(rect.y1),
    );
    let is_sound = [area.0, area.1, area.2, area.3]
        .iter()
        // Far beyond the largest page, 14,400 units (PDF Reference 1.7, appendix C).
        .all(|edge| edge.is_finite() && edge.abs() < 1e6);
    is_sound.then_some(area)
}

/// An entry of a field or of one that it belongs to.
fn inherited<'a>(field: &Dict<'a>, key: &str) -> Option<Object<'a>> {
    let mut field = field.clone();
    for _ in 0..MAX_FIELD_DEPTH {
        if let Some(value) = field.get::<Object<'_>>(key) {
            return Some(value);
        }
        field = field.get::<Dict<'_>>("Parent")?;
    }
    None
}

fn kind_of<'a>(field: &Dict<'a>) -> Option<Name<'a>> {
    inherited(field, "FT")?.into_name()
}

fn flags_of(field: &Dict<'_>) -> i32 {
    let flags = inherited(field, "Ff").and_then(Object::into_i32);
    flags.unwrap_or(0)
}

/// Whether there is a drawing of what the annotation says now.
fn has_appearance(annotation: &Dict<'_>) -> bool {
    let appearances = annotation.get::<Dict<'_>>("AP");
    match appearances.and_then(|appearances| appearances.get::<Object<'_>>("N")) {
        Some(Object::Stream(_)) => true,
        Some(Object::Dict(states)) => {
            let state = annotation.get::<Name<'_>>("AS");
            state.is_some_and(|state| states.get::<Stream<'_>>(state).is_some())
        }
        _ => false,
    }
}

/// What a viewer writes into a field.
fn field_text(field: &Dict<'_>, options: &mut usize) -> Option<String> {
    let flags = flags_of(field);
    let kind = kind_of(field)?;
    match &*kind {
        // What was typed as a password is not shown by viewers, and must not be found.
        b"Tx" if flags & PASSWORD == 0 => text_of(inherited(field, "V")?),
        b"Ch" => choices(field, options),
        b"Btn" if flags & PUSH_BUTTON != 0 => {
            let caption = field.get::<Dict<'_>>("MK")?.get::<Object<'_>>("CA")?;
            text_of(caption)
        }
        b"Btn" => state(field, options),
        _ => None,
    }
}

fn text_of(value: Object<'_>) -> Option<String> {
    match value {
        Object::String(text) => Some(text_string::decode(text.as_bytes())),
        Object::Name(name) => Some(text_string::decode(&name)),
        Object::Stream(stream) => Some(text_string::decode(&stream.decoded_data().ok()?)),
        _ => None,
    }
}

/// The chosen of several values, by the words that a viewer shows for them.
fn choices(field: &Dict<'_>, options: &mut usize) -> Option<String> {
    let labels = inherited(field, "Opt").and_then(Object::into_array);
    let values: Vec<String> = match inherited(field, "V") {
        Some(Object::Array(values)) => values
            .iter::<Object<'_>>()
            .take(*options)
            .filter_map(text_of)
            .collect(),
        Some(Object::Null(_)) | None => {
            let chosen = inherited(field, "I")?.into_array()?;
            let mut shown = Vec::new();
            for at in chosen.iter::<u32>().take(*options) {
                let (_, label) = label_at(labels.as_ref()?, at, options)?;
                shown.push(label);
            }
            return Some(shown.join(", "));
        }
        Some(value) => text_of(value).into_iter().collect(),
    };
    let shown = values.into_iter().map(|value| {
        let known = labels.as_ref().and_then(|labels| {
            let mut pairs = labels.iter::<Object<'_>>().take(*options).filter_map(pair);
            let mut seen = 0;
            let found = pairs.find(|(export, _)| {
                seen += 1;
                *export == value
            });
            *options = options.saturating_sub(seen);
            found
        });
        known.map_or(value, |(_, label)| label)
    });
    let shown: Vec<String> = shown.collect();
    Some(shown.join(", "))
}

/// A choice: what it is stored as and what is shown for it.
fn pair(option: Object<'_>) -> Option<(String, String)> {
    match option {
        Object::Array(pair) => {
            let mut pair = pair.iter::<Object<'_>>().filter_map(text_of);
            let export = pair.next()?;
            let label = pair.next().unwrap_or_else(|| export.clone());
            Some((export, label))
        }
        other => {
            let text = text_of(other)?;
            Some((text.clone(), text))
        }
    }
}

fn label_at(labels: &Array<'_>, at: u32, options: &mut usize) -> Option<(String, String)> {
    let at = usize::try_from(at).ok()?;
    *options = options.checked_sub(at)?;
    labels.iter::<Object<'_>>().nth(at).and_then(pair)
}

/// The words that a button which is on stands for: its label, else the name of its state.
fn state(field: &Dict<'_>, options: &mut usize) -> Option<String> {
    let own = field.get::<Name<'_>>("AS").map(|name| name.to_vec());
    let of_value = || match inherited(field, "V")? {
        Object::Name(name) => Some(name.to_vec()),
        Object::String(text) => Some(text.as_bytes().to_vec()),
        _ => None,
    };
    let name = own.or_else(of_value)?;
    // The value of a group is that of one of its buttons; the others have no such state.
    let states = field.get::<Dict<'_>>("AP");
    let states = states.and_then(|states| states.get::<Dict<'_>>("N"));
    let is_of_another = states.is_some_and(|states| !states.contains_key(&name));
    if name == b"Off" || is_of_another {
        return None;
    }
    let text = text_string::decode(&name);
    let text = match text.parse() {
        Ok(number) => {
            let labels = inherited(field, "Opt").and_then(Object::into_array)?;
            label_at(&labels, number, options)?.1
        }
        Err(_) => text,
    };
    text.contains(char::is_alphabetic).then_some(text)
}

/// The words of free text, without their form.
fn free_text(annotation: &Dict<'_>) -> Option<String> {
    let contents = annotation.get::<Object<'_>>("Contents").and_then(text_of);
    contents.filter(|text| !text.trim().is_empty())
}

/// The lines of a text within the area of its annotation.
fn place(
    annotation: &Dict<'_>,
    area: (f64, f64, f64, f64),
    text: &str,
    written: &mut Vec<Written>,
) {
    let turned = annotation.get::<Dict<'_>>("MK");
    let turned = turned.and_then(|look| look.get::<i32>("R")).unwrap_or(0);
    // Which way lines go, and where their upper edges are.
    let (along, up) = match turned.rem_euclid(360) {
        90 => ((0.0, 1.0), (-1.0, 0.0)),
        180 => ((-1.0, 0.0), (0.0, -1.0)),
        270 => ((0.0, -1.0), (1.0, 0.0)),
        _ => ((1.0, 0.0), (0.0, 1.0)),
    };
    let middle = ((area.0 + area.2) / 2.0, (area.1 + area.3) / 2.0);
    let (mut length, mut height) = (area.2 - area.0, area.3 - area.1);
    if along.0 == 0.0 {
        (length, height) = (height, length);
    }
    let lines = || {
        let lines = text.split(['\r', '\n']).map(str::trim);
        lines.filter(|line| !line.is_empty())
    };
    let count = lines().count().max(1) as f64;
    let flags = flags_of(annotation);
    let is_field = kind_of(annotation).is_some();
    let fills = count > 1.0 || !is_field || flags & MULTILINE != 0;
    let stated = inherited(annotation, "DA").and_then(Object::into_string);
    let stated = stated.and_then(|look| stated_size(look.as_bytes()));
    let most = (height / (count * LINE_STEP)).max(1.0);
    let size = match stated {
        Some(size) => size.min(most),
        None if fills => AUTO_SIZE.min(most),
        None => (AUTO_HEIGHT * height).clamp(4.0, AUTO_SIZE),
    };
    let first = if fills {
        height / 2.0 - PADDING.min(height / 8.0) - ASCENT * size
    } else {
        -HALF_HEIGHT * size
    };
    let start = -length / 2.0 + PADDING.min(length / 4.0);
    for (number, line) in lines().enumerate() {
        let rise = first - LINE_STEP * size * number as f64;
        let letters = line.chars().count() as f64;
        written.push(Written {
            text: line.to_owned(),
            origin: (
                middle.0 + along.0 * start + up.0 * rise,
                middle.1 + along.1 * start + up.1 * rise,
            ),
            along,
            width: (LETTER * size * letters).min((length - 2.0 * PADDING).max(size)),
            size,
        });
    }
}

/// The size in what a field says of its look, such as `/Helv 11 Tf 0 g`; 0 leaves it to the viewer.
fn stated_size(look: &[u8]) -> Option<f64> {
    let look = String::from_utf8_lossy(look);
    let mut words = look.split_ascii_whitespace().rev();
    words.find(|word| *word == "Tf")?;
    let size: f64 = words.next()?.parse().ok()?;
    (size.is_finite() && size > 0.5 && size < 200.0).then_some(size)
}
