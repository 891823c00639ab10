//! Parts of an equation in one line.

use std::borrow::Cow;

/// Structures inside each other; what is deeper is read as one text. Each copies what is in it once.
// A structure copies its content once for each level, so the work grows with the product of depth
// and length.
pub(super) const MAX_NESTED: usize = 64;

/// Characters that an operand without brackets may have; longer numbers are not looked at.
pub(super) const MAX_OPERAND: usize = 24;

pub(super) const BINOMIAL: char = '¦';

/// Whether a text is one thing by itself: a character, a number, or what is in brackets.
pub(super) fn is_one(text: &str) -> bool {
    let mut characters = text.chars().filter(|c| !is_combining(*c));
    let (Some(first), second) = (characters.next(), characters.next()) else {
        return true;
    };
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    second.is_none() || text.chars().all(is_number) || is_enclosed(text, first)
}

/// Whether the bracket that a text begins with is closed by its last character.
pub(super) fn is_enclosed(text: &str, first: char) -> bool {
    let close = match first {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '⟨' => '⟩',
        '⌊' => '⌋',
        '⌈' => '⌉',
        _ => return false,
    };
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        if c == first {
            depth += 1;
        } else if c == close {
            depth = depth.saturating_sub(1);
        }
        if depth == 0 {
            return at + c.len_utf8() == text.len();
        }
    }
    false
}

pub(super) fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{20D0}'..='\u{20FF}')
}

/// A text as an operand: in brackets unless it is one thing.
pub(super) fn operand(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    match is_one(text) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(format!("({text})")),
    }
}

/// A text that an index or a power is put to: words stay as they are.
pub(super) fn base(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    match text.chars().all(char::is_alphanumeric) {
        true => Cow::Borrowed(text),
        false => operand(text),
    }
}

pub(super) fn fraction(above: &str, below: &str) -> String {
    format!("{}/{}", operand(above), operand(below))
}

pub(super) fn root(degree: &str, of: &str) -> String {
    let of = of.trim();
    match degree.trim() {
        "" | "2" => format!("√{}", operand(of)),
        "3" => format!("∛{}", operand(of)),
        "4" => format!("∜{}", operand(of)),
        degree => format!("√({degree}&{of})"),
    }
}

/// With what is below and above; either may be empty.
pub(super) fn scripts(text: &str, below: &str, above: &str) -> String {
    let mut written = text.to_owned();
    for (mark, script) in [('_', below), ('^', above)] {
        if !script.trim().is_empty() {
            written.push(mark);
            written.push_str(&operand(script));
        }
    }
    written
}

/// With a mark over or under it: a combining one follows its character.
pub(super) fn accented(text: &str, mark: &str) -> String {
    format!("{}{}", operand(text), mark.trim())
}

/// Appends what stands beside it: a space where it would be read as more of an operand without brackets.
pub(super) fn join(text: &mut String, more: &str) {
    if more.starts_with(char::is_alphanumeric) && ends_with_operand(text) {
        text.push(' ');
    }
    text.push_str(more);
}

/// Whether a text ends with an index, a power or what is divided or drawn a root of, without brackets.
pub(super) fn ends_with_operand(text: &str) -> bool {
    let mut characters = text.chars().rev().take(MAX_OPERAND);
    let before = characters.find(|c| !c.is_alphanumeric() && !is_combining(*c));
    text.ends_with(char::is_alphanumeric)
        && matches!(before, Some('_' | '^' | '/' | '√' | '∛' | '∜'))
}

/// A function or a large operator, and what it is applied to.
pub(super) fn applied(operator: &str, to: &str) -> String {
    let (operator, to) = (operator.trim_end(), to.trim_start());
    let needs_space = !operator.is_empty() && !to.is_empty() && !to.starts_with(['(', '[', '{']);
    let space = if needs_space { " " } else { "" };
    format!("{operator}{space}{to}")
}
