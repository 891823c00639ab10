//! Checks the arguments of a call against the published schema, maps their names to those of the schema, and turns them
//! into the parameters of the tool.

use std::collections::BTreeSet;

use kb_engine::Cursor;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::coerce::{coerce, invalid, of_json_text, too_long};
use super::cursor::{self, Continued, FirstCall};
use crate::response::{Object, ToolError, cut};

mod names;

/// The arguments that name a document, and those that select lines of it. A tool without the latter reads them
/// behind the name.
const DOCUMENT: [&str; 2] = ["document_id", "doc_handle"];
const FIRST_LINE: &str = "start_line";
const LAST_LINE: &str = "end_line";

/// The argument that limits a result. Results of tools that do not publish it are small.
const MAX_TOKENS: &str = "max_tokens";

/// The argument that continues an earlier result.
const CONTINUATION: &str = "continuation_token";

/// Unknown arguments that a warning names, and characters of each.
const UNKNOWN_SHOWN: usize = 10;
const UNKNOWN_LENGTH: usize = 60;

/// A system that this tool stands in for. A call with one of its spellings has its defaults.
#[derive(Debug, Clone, Copy)]
pub(in crate::tools) struct OtherSystem {
    /// Aliases that only clients of that system use.
    pub(in crate::tools) spellings: &'static [&'static str],
    /// Published names, and the numbers that these have where the call leaves them out.
    pub(in crate::tools) defaults: &'static [(&'static str, f64)],
}

/// An argument, a text, that may also come as a list of texts.
#[derive(Debug)]
pub(in crate::tools) struct JoinedList {
    pub(in crate::tools) name: &'static str,
    /// What the text begins with.
    pub(in crate::tools) begin: &'static str,
    /// What stands between the values in it.
    pub(in crate::tools) between: &'static str,
}

impl JoinedList {
    /// Values with commas between.
    pub(in crate::tools) const fn with_commas(name: &'static str) -> JoinedList {
        JoinedList {
            name,
            begin: "",
            between: ",",
        }
    }
}

/// What the arguments of a tool are read against.
#[derive(Debug)]
pub(in crate::tools) struct Signature {
    pub(super) tool: &'static str,
    /// The published schema of each argument.
    properties: Object,
    required: Vec<String>,
    /// The alias, then the argument, as `object.field` for a field of one.
    aliases: &'static [(&'static str, &'static str)],
    /// A system whose spellings bring other defaults.
    other_system: Option<OtherSystem>,
    /// Texts that may also come as a list.
    joined_lists: &'static [JoinedList],
    /// Whether an unknown argument is an error rather than a warning.
    is_strict: bool,
}

impl Signature {
    pub(super) fn new(
        tool: &'static str,
        schema: &Value,
        aliases: &'static [(&'static str, &'static str)],
        other_system: Option<OtherSystem>,
        joined_lists: &'static [JoinedList],
        is_strict: bool,
    ) -> Signature {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        let names = required.into_iter().flatten().filter_map(Value::as_str);
        let properties = properties.cloned().unwrap_or_default();
        Signature {
            tool,
            properties,
            required: names.map(str::to_owned).collect(),
            aliases,
            other_system,
            joined_lists,
            is_strict,
        }
    }

    /// The published name of an argument, or of a field of one.
    fn name_of(&self, spelled: &str) -> Option<String> {
        if self.schema_of(spelled).is_some() {
            return Some(spelled.to_owned());
        }
        let alias = self.aliases.iter().find(|(alias, _)| *alias == spelled);
        let alias = alias.map(|(_, name)| *name);
        let common = || names::published(spelled, |name| self.schema_of(name).is_some());
        let name = alias.or_else(common).map(str::to_owned);
        name.or_else(|| self.in_other_case(spelled))
    }

    /// The published name that is spelled in camelCase or with hyphens.
    fn in_other_case(&self, spelled: &str) -> Option<String> {
        let spelled = names::snake_case(spelled)?;
        let is_it = |name: &&String| names::snake_case(name).as_ref() == Some(&spelled);
        let published = self.properties.keys().find(is_it).cloned();
        published.or_else(|| {
            let mut aliases = self.aliases.iter();
            let alias = aliases.find(|(alias, _)| *alias == spelled)?;
            Some(alias.1.to_owned())
        })
    }

    /// The argument that names the document that the tool reads.
    fn document(&self) -> Option<&'static str> {
        let mut names = DOCUMENT.into_iter();
        names.find(|name| self.properties.contains_key(*name))
    }

    fn schema_of(&self, name: &str) -> Option<&Value> {
        match name.split_once('.') {
            None => self.properties.get(name),
            Some((object, field)) => self.properties.get(object)?.get("properties")?.get(field),
        }
    }
}

/// The arguments of one call, checked.
#[derive(Debug)]
pub(in crate::tools) struct Arguments {
    /// Of the published type and in range, by published name; those of an object as `object.field`.
    /// Omitted arguments are not in it.
    values: Object,
    read: Read,
}

/// How the arguments of a call were given.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// About arguments that were ignored.
    pub(super) warnings: Vec<String>,
    /// The names as the caller spelled them.
    pub(super) spelled: BTreeSet<String>,
    /// What continuation tokens remember of the first call.
    pub(super) first: FirstCall,
    /// Where a token of an earlier call goes on.
    pub(super) cursor: Option<Cursor>,
}

impl Arguments {
    /// Checks what a call is given. With a continuation token, omitted arguments are as they were in
    /// the first call.
    pub(super) fn read(signature: &Signature, given: Object) -> Result<Arguments, ToolError> {
        let mut arguments = Arguments {
            values: Object::new(),
            read: Read::default(),
        };
        arguments.take(signature, given)?;
        if let Some(Value::String(token)) = arguments.values.get(CONTINUATION) {
            let continued = Continued::read(signature.tool, token)?;
            arguments.read.cursor = Some(continued.cursor);
            arguments.fill_in(signature, continued.arguments)?;
        } else {
            arguments.fill_in_other_defaults(signature);
        }
        for required in &signature.required {
            if !arguments.values.contains_key(required) {
                return Err(invalid(required, "it is required"));
            }
        }
        if signature.properties.contains_key(CONTINUATION) {
            let remembered = arguments.remembered(signature);
            arguments.read.first = FirstCall::of(signature.tool, remembered);
        }
        Ok(arguments)
    }

    /// The parameters that they stand for.
    pub(super) fn params<P: DeserializeOwned>(self) -> Result<(P, Read), ToolError> {
        let mut nested = Object::new();
        for (name, value) in self.values {
            match name.split_once('.') {
                None => drop(nested.insert(name, value)),
                Some((object, field)) => {
                    let object = nested
                        .entry(object)
                        .or_insert_with(|| Value::Object(Object::new()));
                    if let Value::Object(object) = object {
                        object.insert(field.to_owned(), value);
                    }
                }
            }
        }
        // What was checked against the schema of a type is one of its values.
        let params = serde_json::from_value(Value::Object(nested))
            .map_err(|error| ToolError::new("INVALID_ARGUMENT", error.to_string()))?;
        Ok((params, self.read))
    }

    /// Takes in the arguments under their published names.
    fn take(&mut self, signature: &Signature, given: Object) -> Result<(), ToolError> {
        let mut unknown = Vec::new();
        let mut lines: [Option<Value>; 2] = [None, None];
        for (spelled, value) in given {
            if value.is_null() {
                continue;
            }
            let Some(name) = signature.name_of(&spelled) else {
                match signature.document() {
                    Some(_) if names::is(&spelled, FIRST_LINE) => lines[0] = Some(value),
                    Some(_) if names::is(&spelled, LAST_LINE) => lines[1] = Some(value),
                    _ if names::is(&spelled, MAX_TOKENS) => {}
                    _ => unknown.push(spelled),
                }
                continue;
            };
            let schema = signature.schema_of(&name);
            let value = match value {
                Value::String(text) if schema.is_some_and(is_object) => of_json_text(text),
                other => other,
            };
            match (schema, value) {
                (Some(schema), Value::Object(fields)) if is_object(schema) => {
                    for (field, value) in fields {
                        let spelled = format!("{name}.{field}");
                        if value.is_null() {
                            continue;
                        }
                        match signature.name_of(&spelled) {
                            Some(name) => self.put(signature, &name, value, name == spelled)?,
                            None => unknown.push(spelled),
                        }
                    }
                }
                (_, value) => self.put(signature, &name, value, name == spelled)?,
            }
            self.read.spelled.insert(spelled);
        }
        self.select_lines(signature, lines)?;
        if unknown.is_empty() {
            return Ok(());
        }
        let (shown, known) = (shown(&unknown), known(signature, &unknown));
        if signature.is_strict {
            return Err(invalid(&shown, "no such argument").with_hint(known));
        }
        self.read.warnings.push(format!("{shown} ignored: {known}"));
        Ok(())
    }

    /// Puts lines behind the name of the document, for a tool that has no arguments for them.
    fn select_lines(
        &mut self,
        signature: &Signature,
        [first, last]: [Option<Value>; 2],
    ) -> Result<(), ToolError> {
        if first.is_none() && last.is_none() {
            return Ok(());
        }
        let schema = serde_json::json!({"type": "integer", "minimum": 1});
        let number = |name: &str, value: Option<Value>| {
            let value = value
                .map(|value| coerce(name, &schema, value))
                .transpose()?;
            Ok::<_, ToolError>(value.and_then(|value| value.as_u64()))
        };
        let (first, last) = (number(FIRST_LINE, first)?, number(LAST_LINE, last)?);
        let document = signature
            .document()
            .and_then(|name| self.values.get_mut(name));
        if let Some(Value::String(name)) = document {
            name.push_str(&format!(":{}-", first.unwrap_or(1)));
            if let Some(last) = last {
                name.push_str(&last.to_string());
            }
        }
        Ok(())
    }

    /// Keeps a value. The published name has precedence over an alias.
    fn put(
        &mut self,
        signature: &Signature,
        name: &str,
        value: Value,
        is_published: bool,
    ) -> Result<(), ToolError> {
        // What models send with a first call.
        if name == CONTINUATION && value == "" {
            return Ok(());
        }
        let Some(schema) = signature.schema_of(name) else {
            return Err(invalid(name, "no such argument"));
        };
        let mut joined_lists = signature.joined_lists.iter();
        let how = joined_lists.find(|list| list.name == name);
        let value = match value {
            Value::String(text) if how.is_some() => of_json_text(text),
            other => other,
        };
        let value = match (value, how) {
            (Value::Array(list), Some(how)) => joined(how, schema, &list)?,
            (other @ Value::Object(_), Some(_)) => Value::String(other.to_string()),
            (other, _) => other,
        };
        let value = match coerce(name, schema, value) {
            // No result held a longer one.
            Err(error) if name == CONTINUATION && error.facts.contains_key("limit") => {
                return Err(cursor::malformed());
            }
            coerced => coerced?,
        };
        if is_published || !self.values.contains_key(name) {
            self.values.insert(name.to_owned(), value);
        }
        Ok(())
    }

    /// Fills in what the first call was given. They may be forged: it may say no more than a
    /// caller may.
    fn fill_in(&mut self, signature: &Signature, first: Object) -> Result<(), ToolError> {
        for (name, value) in first {
            let schema = signature.schema_of(&name);
            let schema = schema.filter(|_| name != CONTINUATION);
            let schema = schema.ok_or_else(cursor::malformed)?;
            let value = coerce(&name, schema, value).map_err(|_| cursor::malformed())?;
            match self.values.get_mut(&name) {
                // The document without the lines that the first call selected of it.
                Some(given) if signature.document() == Some(&*name) => {
                    if selects_lines_of(&value, given) {
                        *given = value;
                    }
                }
                Some(_) => {}
                None => drop(self.values.insert(name, value)),
            }
        }
        Ok(())
    }

    /// Fills in the defaults of another system, where the call has its spellings.
    fn fill_in_other_defaults(&mut self, signature: &Signature) {
        let Some(other) = signature.other_system else {
            return;
        };
        let spelled = &self.read.spelled;
        if other.spellings.iter().any(|name| spelled.contains(*name)) {
            for (name, default) in other.defaults {
                // An integer in JSON has no point.
                let value = if default.fract() == 0.0 {
                    Value::from(*default as u64)
                } else {
                    Value::from(*default)
                };
                self.values.entry(*name).or_insert(value);
            }
        }
    }

    /// The arguments that a call with a continuation token need not repeat: those that differ from
    /// their defaults, also required ones, so that a token alone goes on.
    fn remembered(&self, signature: &Signature) -> Object {
        let differs = |name: &str, value: &Value| {
            let default = signature.schema_of(name).and_then(|it| it.get("default"));
            default != Some(value)
        };
        let kept = self
            .values
            .iter()
            .filter(|(name, value)| *name != CONTINUATION && differs(name, value));
        kept.map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }
}

/// Whether a name of a document is another one and lines of it, as `a.md:3-9`.
fn selects_lines_of(name: &Value, document: &Value) -> bool {
    let (Some(name), Some(document)) = (name.as_str(), document.as_str()) else {
        return false;
    };
    let lines = name
        .strip_prefix(document)
        .and_then(|rest| rest.strip_prefix(':'));
    lines.is_some_and(|lines| {
        lines.starts_with(|first: char| first.is_ascii_digit())
            && lines.chars().all(|c| c.is_ascii_digit() || c == '-')
    })
}

/// A list of texts as one text.
fn joined(how: &JoinedList, schema: &Value, list: &[Value]) -> Result<Value, ToolError> {
    let name = how.name;
    // Each takes a character, and a separator.
    let most = schema.get("maxLength").and_then(Value::as_u64);
    if let Some(most) = most.filter(|most| list.len() as u64 > *most) {
        return Err(too_long(name, list.len(), "values", most));
    }
    let texts: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
    let texts = texts.ok_or_else(|| invalid(name, "not a list of texts"))?;
    Ok(Value::String(
        how.begin.to_owned() + &texts.join(how.between),
    ))
}

/// The first unknown names, shortened.
fn shown(unknown: &[String]) -> String {
    let shown = unknown.iter().take(UNKNOWN_SHOWN);
    let shown: Vec<_> = shown.map(|name| cut(name, UNKNOWN_LENGTH)).collect();
    let shown = shown.join(", ");
    match unknown.len().checked_sub(UNKNOWN_SHOWN) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}

/// What the tool takes, and each object that has an unknown field.
fn known(signature: &Signature, unknown: &[String]) -> String {
    let object_of = |name: &String| {
        let (object, _) = name.split_once('.')?;
        signature.schema_of(object).filter(|it| is_object(it))?;
        Some(object.to_owned())
    };
    // None, the tool itself, is the first.
    let owners: BTreeSet<Option<String>> = unknown.iter().map(object_of).collect();
    let sentences = owners.iter().map(|owner| {
        let fields = match owner {
            None => Some(&signature.properties),
            Some(name) => signature
                .schema_of(name)
                .and_then(|it| it.get("properties")?.as_object()),
        };
        let names = fields.into_iter().flat_map(Object::keys);
        let names: Vec<&str> = names.map(String::as_str).collect();
        let owner = owner.as_deref().unwrap_or(signature.tool);
        match names.as_slice() {
            [] => format!("{owner} takes no arguments"),
            some => format!("{owner} takes {}", some.join(", ")),
        }
    });
    sentences.collect::<Vec<_>>().join("; ")
}

fn is_object(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}

#[cfg(test)]
mod tests;
