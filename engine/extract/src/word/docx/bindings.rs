//! Content controls that are bound to data: Word shows what the data says, whatever the document holds as their text.
//!
//! A control names a part with data by its id and an element or attribute there by its path. Where that is empty or
//! not there, the text of the document is shown, as a rule a placeholder.

use std::collections::HashMap;

use crate::package::ooxml::{self, Relationships};
use crate::package::xml::{Element, XmlEvent, XmlReader};
use crate::package::zip_package::ZipPackage;
use crate::skip_reason::SkipReason;

/// Parts with data that are read.
// Documents have a few. Each is parsed whole.
const MAX_STORES: usize = 64;
/// Elements inside each other that a path may lead to.
// A path is a few steps; a forged one would cost its length for each control.
const MAX_STEPS: usize = 32;
/// Bytes of all paths and values that are kept.
// A control repeats a value of such a part; without a bound a small file could repeat one large
// value for each control.
const MAX_BYTES: usize = 16 << 20;
/// Items of the list of one control.
// A list of countries has 200. A value that is not among the items is shown as it is stored.
const MAX_ITEMS: usize = 4096;

/// The properties of the document and of the program, by the ids that controls have for them.
const PROPERTIES: [(&str, &str); 2] = [
    ("core-properties", "{6c3c8bc8-f283-45ae-878a-bab7291924a1}"),
    (
        "extended-properties",
        "{6668398d-a668-4e3e-a5eb-62b293d839f1}",
    ),
];

/// Whether a part may hold a control that is bound.
pub(super) fn are_in(part: &str) -> bool {
    memchr::memmem::find(part.as_bytes(), b"dataBinding").is_some()
}

/// The data of a document: values by id and path.
#[derive(Debug, Default)]
pub(super) struct Stores {
    values: HashMap<(String, String), String>,
    /// Their ids, in order.
    ids: Vec<String>,
    bytes: usize,
}

impl Stores {
    /// Reads the data that a part refers to.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub(super) fn read(
        package: &mut ZipPackage<'_>,
        relationships: &Relationships,
    ) -> Result<Stores, SkipReason> {
        let mut stores = Stores::default();
        for part in relationships.of_kind("customXml").take(MAX_STORES) {
            let of_part = Relationships::read(package, part)?;
            let Some(properties) = of_part.of_kind("customXmlProps").next() else {
                continue;
            };
            let properties = ooxml::read_optional(package, properties)?;
            if let Some(id) = id_of(&properties)? {
                stores.add(id, &ooxml::read_optional(package, part)?)?;
            }
        }
        let of_package = Relationships::read(package, "")?;
        for (kind, id) in PROPERTIES {
            for part in of_package.of_kind(kind).take(1) {
                stores.add(id.to_owned(), &ooxml::read_optional(package, part)?)?;
            }
        }
        Ok(stores)
    }

    /// Takes the text of each element without others in it, and of each attribute.
    fn add(&mut self, id: String, part: &str) -> Result<(), SkipReason> {
        struct Open {
            path: String,
            children: HashMap<String, usize>,
            text: String,
        }
        let mut reader = XmlReader::new(part);
        let mut open: Vec<Open> = Vec::new();
        let mut roots = HashMap::new();
        while let Some(event) = reader.next()? {
            match event {
                XmlEvent::Start(_) if open.len() >= MAX_STEPS => reader.skip()?,
                XmlEvent::Start(element) => {
                    let name = element.name().to_owned();
                    let siblings = open
                        .last_mut()
                        .map_or(&mut roots, |above| &mut above.children);
                    let place = siblings.entry(name.clone()).or_insert(0);
                    *place += 1;
                    let step = step(&name, *place);
                    let above = open.last().map_or("", |above| above.path.as_str());
                    let path = format!("{above}{step}");
                    element.each_attribute(|name, value| {
                        self.put(&id, format!("{path}/@{name}"), value);
                    });
                    self.bytes += path.len();
                    open.push(Open {
                        path,
                        children: HashMap::new(),
                        text: String::new(),
                    });
                }
                XmlEvent::End(_) => {
                    if let Some(closed) = open.pop()
                        && closed.children.is_empty()
                    {
                        self.put(&id, closed.path, closed.text);
                    }
                }
                XmlEvent::Text(text) => {
                    if let Some(open) = open.last_mut() {
                        open.text.push_str(&text);
                    }
                }
            }
            if self.bytes > MAX_BYTES {
                break;
            }
        }
        self.ids.push(id);
        Ok(())
    }

    fn put(&mut self, id: &str, path: String, value: String) {
        self.bytes += path.len() + value.len();
        if self.bytes <= MAX_BYTES && !value.trim().is_empty() {
            self.values.entry((id.to_owned(), path)).or_insert(value);
        }
    }

    /// What is at a path; without an id, in whichever part.
    fn value(&self, id: &str, path: &str) -> Option<&str> {
        let path = tidy_path(path)?;
        let id = id.to_ascii_lowercase();
        let stated = Some(id).filter(|id| !id.is_empty());
        let mut ids = match stated {
            Some(id) => vec![id],
            None => self.ids.clone(),
        }
        .into_iter();
        ids.find_map(|id| self.values.get(&(id, path.clone())))
            .map(String::as_str)
    }
}

/// The id of a part with data, from its properties.
fn id_of(properties: &str) -> Result<Option<String>, SkipReason> {
    let mut reader = XmlReader::new(properties);
    while let Some(event) = reader.next()? {
        if let XmlEvent::Start(element) = event
            && element.name() == "datastoreItem"
        {
            let id = element.reference("itemID");
            return Ok(id.map(|id| id.to_ascii_lowercase()));
        }
    }
    Ok(None)
}

fn step(name: &str, place: usize) -> String {
    format!("/{name}[{place}]")
}

/// A path of names and numbers without prefixes, each with its number: `/a[1]/b[2]`. None of what is more than that.
fn tidy_path(path: &str) -> Option<String> {
    let mut tidy = String::new();
    for one in path
        .trim()
        .strip_prefix('/')?
        .split('/')
        .take(MAX_STEPS + 2)
    {
        let (name, place) = match one.split_once('[') {
            Some((name, rest)) => (name, rest.strip_suffix(']')?.trim().parse().ok()?),
            None => (one, 1usize),
        };
        let is_attribute = name.starts_with('@');
        let name = name.trim_start_matches('@');
        let local = name.rsplit(':').next().unwrap_or(name);
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        match one {
            "text()" => break,
            _ if local.is_empty() || !local.chars().all(is_name) => return None,
            _ if is_attribute => tidy.push_str(&format!("/@{local}")),
            _ => tidy.push_str(&step(local, place)),
        }
    }
    Some(tidy)
}

/// The open content controls.
#[derive(Debug, Default)]
pub(super) struct Controls<'s> {
    stores: Option<&'s Stores>,
    open: Vec<Control>,
    /// How many of them show data.
    bound: usize,
}

#[derive(Debug, Default)]
struct Control {
    /// Id and path of its data.
    binding: Option<(String, String)>,
    /// It holds text or one of a list, not paragraphs, dates or pictures.
    is_plain: bool,
    /// What stands for values: of a list only names are shown.
    items: HashMap<String, String>,
    /// What it shows; empty once that was read.
    data: Option<String>,
}

impl<'s> Controls<'s> {
    pub(super) fn new(stores: &'s Stores) -> Controls<'s> {
        Controls {
            stores: Some(stores),
            ..Controls::default()
        }
    }

    pub(super) fn begin(&mut self) {
        self.open.push(Control::default());
    }

    pub(super) fn end(&mut self) {
        let closed = self.open.pop();
        let was_bound = closed.is_some_and(|control| control.data.is_some());
        self.bound -= usize::from(was_bound);
    }

    /// Takes what a control says of itself before its text.
    pub(super) fn property(&mut self, element: &Element<'_>) {
        let Some(control) = self.open.last_mut() else {
            return;
        };
        match element.name() {
            "dataBinding" => {
                let id = element.reference("storeItemID").unwrap_or_default();
                let path = element.attribute("xpath").unwrap_or_default();
                control.binding = Some((id, path));
            }
            "listItem" if control.items.len() < MAX_ITEMS => {
                let value = element.attribute("value").unwrap_or_default();
                if let Some(shown) = element.attribute("displayText") {
                    control.items.entry(value).or_insert(shown);
                }
            }
            "text" | "comboBox" | "dropDownList" => control.is_plain = true,
            "sdtContent" if control.data.is_none() && control.is_plain => {
                let binding = control.binding.take();
                let value = binding.zip(self.stores);
                let value = value
                    .and_then(|((id, path), stores)| stores.value(&id, &path).map(str::to_owned));
                control.data = value.map(|value| control.items.remove(&value).unwrap_or(value));
                self.bound += usize::from(control.data.is_some());
            }
            _ => {}
        }
    }

    /// What is shown in the place of a text, where it is that of a bound control: the data for the first text,
    /// nothing for others.
    pub(super) fn shown(&mut self) -> Option<String> {
        if self.bound == 0 {
            return None;
        }
        let mut open = self.open.iter_mut().rev();
        open.find_map(|control| control.data.as_mut())
            .map(std::mem::take)
    }
}
