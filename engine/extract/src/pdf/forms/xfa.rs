//! Forms in XML (XFA 3.3): their labels and values, for documents whose pages say only that another viewer is needed.

use std::collections::VecDeque;
use std::ops::Range;

use hayro_syntax::object::{Dict, Object};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::package::xml::{self, Element, XmlEvent, XmlReader};
use crate::skip_reason::{MAX_TEXT_BYTES, SkipReason};

/// Pieces of a form.
const MAX_PIECES: usize = 1000;
/// Bytes of a label or value.
const MAX_VALUE_BYTES: usize = 1 << 20;

/// The text of the form of a document: its labels with their values, line by line. `None` where there is no form in XML.
pub(in crate::pdf) fn text_of_form(form: &Dict<'_>) -> Option<String> {
    let source = source_of(form)?;
    let source = xml::decode(&source, "PDF").ok()?;
    // What was read before a limit is worth having.
    let mut template = Template::default();
    let mut data = Data::default();
    let _ = read(&source, &mut template, &mut data);
    let text = written(&template, &mut data);
    (!text.trim().is_empty()).then_some(text)
}

/// The XML, put together from its pieces.
fn source_of(form: &Dict<'_>) -> Option<Vec<u8>> {
    match form.get::<Object<'_>>("XFA")? {
        Object::Stream(stream) => Some(stream.decoded_data().ok()?.into_owned()),
        Object::Array(pieces) => {
            let mut source = Vec::new();
            // Names and streams by turns.
            for piece in pieces.iter::<Object<'_>>().take(MAX_PIECES) {
                let Some(piece) = piece.into_stream() else {
                    continue;
                };
                let piece = piece.decoded_data().ok()?;
                if source.len() + piece.len() > MAX_TEXT_BYTES {
                    break;
                }
                source.extend_from_slice(&piece);
                source.push(b'\n');
            }
            Some(source)
        }
        _ => None,
    }
}

/// What a form shows, in its order.
#[derive(Debug)]
enum Item {
    /// A paragraph begins.
    Group,
    Text(String),
    Field(Field),
}

/// What a form shows, and the parts of it that are there only where the data are.
#[derive(Debug, Default)]
struct Template {
    items: Vec<Item>,
    optional: Vec<Part>,
}

/// A part of a form: the name of its data, its items, and whether no data means none of it.
#[derive(Debug)]
struct Part {
    name: String,
    items: Range<usize>,
    is_optional: bool,
    /// How deep its elements lie.
    depth: usize,
}

impl Template {
    /// For each item whether it is shown beside these data.
    fn shown(&self, data: &Data) -> Vec<bool> {
        // How many hidden parts begin and end at each item.
        let mut changes = vec![(0usize, 0usize); self.items.len() + 1];
        for part in &self.optional {
            if !data.elements.contains(&part.name) {
                for (at, is_start) in [(part.items.start, true), (part.items.end, false)] {
                    if let Some((starts, ends)) = changes.get_mut(at) {
                        *starts += usize::from(is_start);
                        *ends += usize::from(!is_start);
                    }
                }
            }
        }
        let mut hidden = 0;
        let depths = changes.iter().map(|(starts, ends)| {
            hidden = (hidden + starts).saturating_sub(*ends);
            hidden == 0
        });
        depths.collect()
    }
}

#[derive(Debug, Default)]
struct Field {
    /// The name that its value has.
    name: String,
    caption: String,
    /// Its value where the data have none.
    default: String,
    /// What is stored for what is shown.
    labels: Vec<(String, String)>,
}

/// The values of a form.
#[derive(Debug, Default)]
struct Data {
    values: Vec<Value>,
    by_name: FxHashMap<String, VecDeque<usize>>,
    /// Names of all elements.
    elements: FxHashSet<String>,
}

#[derive(Debug)]
struct Value {
    name: String,
    text: String,
    /// Number of the element that holds it.
    parent: usize,
    is_used: bool,
}

fn read(source: &str, template: &mut Template, data: &mut Data) -> Result<(), SkipReason> {
    let mut reader = XmlReader::new(source);
    while let Some(event) = reader.next()? {
        let XmlEvent::Start(element) = event else {
            continue;
        };
        match element.name() {
            "template" => read_template(&mut reader, template)?,
            "datasets" => read_data(&mut reader, data)?,
            _ => {}
        }
    }
    Ok(())
}

fn is_hidden(element: &Element<'_>) -> bool {
    let presence = element.attribute("presence");
    matches!(
        presence.as_deref(),
        Some("hidden" | "invisible" | "inactive")
    )
}

/// Reads the form behind its start.
fn read_template(reader: &mut XmlReader<'_>, template: &mut Template) -> Result<(), SkipReason> {
    let mut depth = 1usize;
    let mut open: Vec<Part> = Vec::new();
    let items = &mut template.items;
    while let Some(event) = reader.next()? {
        match event {
            XmlEvent::End(_) => {
                depth -= 1;
                if let Some(mut part) = open.pop_if(|part| part.depth > depth) {
                    part.items.end = items.len();
                    if part.is_optional {
                        template.optional.push(part);
                    }
                }
                if depth == 0 {
                    return Ok(());
                }
            }
            XmlEvent::Text(_) => {}
            XmlEvent::Start(element) => match element.name() {
                "field" | "draw" | "subform" | "exclGroup" | "area" if is_hidden(&element) => {
                    reader.skip()?;
                }
                "field" => {
                    let name = element.reference("name").unwrap_or_default();
                    items.push(Item::Field(read_field(reader, name)?));
                }
                "draw" => {
                    let drawn = read_field(reader, String::new())?;
                    items.push(Item::Text(drawn.default));
                }
                "subform" | "pageArea" => {
                    items.push(Item::Group);
                    depth += 1;
                    open.push(Part {
                        name: element.reference("name").unwrap_or_default(),
                        items: items.len() - 1..items.len(),
                        is_optional: false,
                        depth,
                    });
                }
                "occur" => {
                    // How often a part is there without data, which is its least number where that is not said.
                    let initial = element.attribute("initial");
                    let least = initial.or_else(|| element.attribute("min"));
                    let part = open.last_mut().filter(|part| part.depth == depth);
                    if let Some(part) = part.filter(|part| !part.name.is_empty()) {
                        part.is_optional = least.as_deref() == Some("0");
                    }
                    depth += 1;
                }
                "bind" => {
                    let part = open.last_mut().filter(|part| part.depth == depth);
                    if let (Some(part), Some(name)) = (part, bound_name(&element)) {
                        part.name = name;
                    }
                    depth += 1;
                }
                // What no page shows.
                "desc" | "proto" | "script" | "event" | "variables" => reader.skip()?,
                _ => depth += 1,
            },
        }
    }
    Ok(())
}

/// The name of the data that an element is bound to by a path.
fn bound_name(bind: &Element<'_>) -> Option<String> {
    let path = bind.attribute("ref")?;
    let last = path.rsplit('.').next().unwrap_or_default();
    let last = last.split('[').next().unwrap_or_default();
    (!last.is_empty() && last != "$").then(|| last.to_owned())
}

/// Reads a field behind its start.
fn read_field(reader: &mut XmlReader<'_>, name: String) -> Result<Field, SkipReason> {
    let mut field = Field {
        name,
        ..Field::default()
    };
    let (mut shown, mut stored): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    // The innermost of these that is open, by depth.
    let (mut depth, mut caption, mut items) = (1usize, 0usize, 0usize);
    let mut is_stored = false;
    while let Some(event) = reader.next()? {
        match event {
            XmlEvent::End(_) => {
                depth -= 1;
                if depth < caption {
                    caption = 0;
                }
                if depth < items {
                    items = 0;
                }
                if depth == 0 {
                    break;
                }
            }
            XmlEvent::Text(_) => {}
            XmlEvent::Start(element) => match element.name() {
                "caption" if is_hidden(&element) => reader.skip()?,
                "event" | "ui" | "desc" | "script" | "assist" | "validate" | "calculate"
                | "traversal" | "image" => reader.skip()?,
                "bind" => {
                    if let Some(name) = bound_name(&element) {
                        field.name = name;
                    }
                    reader.skip()?;
                }
                "text" | "exData" | "integer" | "decimal" | "float" | "date" | "time"
                | "dateTime" => {
                    let text = text_of_element(reader)?;
                    if items > 0 {
                        let list = if is_stored { &mut stored } else { &mut shown };
                        list.push(text);
                    } else if caption > 0 {
                        field.caption = text;
                    } else {
                        field.default = text;
                    }
                }
                name => {
                    depth += 1;
                    match name {
                        "caption" => caption = depth,
                        "items" => {
                            items = depth;
                            is_stored = element.attribute("save").as_deref() == Some("1");
                        }
                        _ => {}
                    }
                }
            },
        }
    }
    field.labels = stored.into_iter().zip(shown).collect();
    Ok(field)
}

/// The text of the element that was begun last; its paragraphs are apart.
fn text_of_element(reader: &mut XmlReader<'_>) -> Result<String, SkipReason> {
    let mut text = String::new();
    let mut depth = 1usize;
    while let Some(event) = reader.next()? {
        match event {
            XmlEvent::Start(element) => {
                depth += 1;
                if matches!(element.name(), "p" | "br" | "li" | "div") {
                    text.push(' ');
                }
            }
            XmlEvent::End(_) => {
                depth -= 1;
                if depth == 0 {
                    break;
                }
            }
            XmlEvent::Text(piece) if text.len() < MAX_VALUE_BYTES => text.push_str(&piece),
            XmlEvent::Text(_) => {}
        }
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    Ok(words.join(" "))
}

/// Reads the values behind the start of the datasets. An element without others in it is a value.
fn read_data(reader: &mut XmlReader<'_>, data: &mut Data) -> Result<(), SkipReason> {
    // Open elements: their names, their numbers, their text, and whether they hold others.
    let mut open: Vec<(String, usize, String, bool)> = Vec::new();
    let mut count = 0;
    while let Some(event) = reader.next()? {
        match event {
            XmlEvent::Start(element) => {
                if open.is_empty() && element.name() != "data" {
                    reader.skip()?;
                    continue;
                }
                if let Some((_, _, _, holds)) = open.last_mut() {
                    *holds = true;
                }
                count += 1;
                data.elements.insert(element.name().to_owned());
                open.push((element.name().to_owned(), count, String::new(), false));
            }
            XmlEvent::Text(piece) => {
                if let Some((_, _, text, false)) = open.last_mut()
                    && text.len() < MAX_VALUE_BYTES
                {
                    text.push_str(&piece);
                }
            }
            XmlEvent::End(_) => {
                let Some((name, _, text, holds)) = open.pop() else {
                    return Ok(());
                };
                let parent = open.last().map_or(0, |(_, number, _, _)| *number);
                if !holds && !text.trim().is_empty() {
                    data.add(name, text.trim().to_owned(), parent);
                }
            }
        }
    }
    Ok(())
}

impl Data {
    fn add(&mut self, name: String, text: String, parent: usize) {
        let queue = self.by_name.entry(name.clone()).or_default();
        queue.push_back(self.values.len());
        self.values.push(Value {
            name,
            text,
            parent,
            is_used: false,
        });
    }

    /// The next value of a name.
    fn take(&mut self, name: &str) -> Option<String> {
        let at = self.by_name.get_mut(name)?.pop_front()?;
        let value = self.values.get_mut(at)?;
        value.is_used = true;
        Some(value.text.clone())
    }
}

/// The form as text: labels with their values, then the values that no field took, such as further rows of tables.
fn written(template: &Template, data: &mut Data) -> String {
    let mut text = String::new();
    let mut names: FxHashSet<&str> = FxHashSet::default();
    let shown = template.shown(data);
    let items = template.items.iter().zip(shown);
    for (item, _) in items.filter(|(_, is_shown)| *is_shown) {
        if text.len() > MAX_TEXT_BYTES {
            return text;
        }
        match item {
            Item::Group if !text.is_empty() && !text.ends_with("\n\n") => text.push('\n'),
            Item::Group => {}
            Item::Text(words) => push_line(&mut text, &[words]),
            Item::Field(field) => {
                names.insert(&field.name);
                let value = data.take(&field.name);
                let value = value.unwrap_or_else(|| field.default.clone());
                let label = field.labels.iter().find(|(stored, _)| *stored == value);
                let value = label.map_or(&value, |(_, label)| label);
                push_line(&mut text, &[&field.caption, value]);
            }
        }
    }
    let mut rest = data.values.iter().filter(|value| !value.is_used).peekable();
    if rest.peek().is_some() {
        text.push('\n');
    }
    while let Some(value) = rest.next() {
        if !names.contains(value.name.as_str()) {
            push_line(&mut text, &[&value.name, &value.text]);
            continue;
        }
        let mut row = vec![value.text.as_str()];
        while let Some(next) =
            rest.next_if(|next| next.parent == value.parent && names.contains(next.name.as_str()))
        {
            row.push(&next.text);
        }
        push_line(&mut text, &row);
    }
    text
}

fn push_line(text: &mut String, cells: &[&str]) {
    let cells = cells.iter().filter(|cell| !cell.trim().is_empty());
    let mut is_first = true;
    for cell in cells {
        if !is_first {
            text.push('\t');
        }
        is_first = false;
        text.push_str(cell.trim());
    }
    if !is_first {
        text.push('\n');
    }
}
