//! The fields of an object in their order, without their values.

use std::iter::Peekable;
use std::str::Chars;

use kb_json::Object;

/// `{document tags part{page label} terms[{term score}]}`; of a list, its first item.
pub(crate) fn shape(object: &Object) -> String {
    let text = object.clone().finish();
    let valid = serde_json::from_str::<serde_json::Value>(&text);
    assert!(valid.is_ok_and(|value| value.is_object()), "{text}");
    value(&mut text.chars().peekable())
}

fn value(text: &mut Peekable<Chars<'_>>) -> String {
    match text.peek() {
        Some('{') => fields(text),
        Some('[') => items(text),
        Some('"') => {
            string(text);
            String::new()
        }
        _ => {
            while text.next_if(|next| !",]}".contains(*next)).is_some() {}
            String::new()
        }
    }
}

fn fields(text: &mut Peekable<Chars<'_>>) -> String {
    let mut fields = Vec::new();
    while text.next() != Some('}') {
        if text.next_if_eq(&'}').is_some() {
            break;
        }
        let name = string(text);
        text.next();
        fields.push(name + &value(text));
    }
    format!("{{{}}}", fields.join(" "))
}

fn items(text: &mut Peekable<Chars<'_>>) -> String {
    let mut first = None;
    while text.next() != Some(']') {
        if text.next_if_eq(&']').is_some() {
            break;
        }
        let item = value(text);
        first.get_or_insert(item);
    }
    match first.as_deref() {
        None | Some("") => String::new(),
        Some(first) => format!("[{first}]"),
    }
}

fn string(text: &mut Peekable<Chars<'_>>) -> String {
    let mut string = String::new();
    text.next();
    while let Some(next) = text.next().filter(|next| *next != '"') {
        string.push(next);
        if next == '\\' {
            string.extend(text.next());
        }
    }
    string
}
