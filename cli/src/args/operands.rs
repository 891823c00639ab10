//! Allows operands that begin with a dash, such as `kb search "- a list item"`.
//!
//! clap treats every word that begins with a dash as a flag. This module treats a word as a flag only if it looks like
//! one: `-` and a letter, or `--` and a name, without white space. Any other word that begins with a dash is an operand,
//! or the value of the flag before it. A mistyped flag still looks like a flag, so clap explains it.

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command};

/// The operand that is free text. For a verb with it, a word with white space is never a flag: `-file formats` is text,
/// not the flag `-f` with the value `ile formats`.
const TEXT: &str = "query";

/// Separates flags from operands.
const SEPARATOR: &str = "--";

/// Whether a flag takes a value from the next word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    /// The flag already has its value, or takes none.
    Complete,
    /// The next word is its value.
    Next,
    /// The next word is its value unless that begins with a dash.
    Optional,
}

/// Returns the command line with operands that begin with a dash after `--`, and values that begin with a dash as
/// `--flag=value`. Other command lines are returned unchanged. Cost: linear in the number of words.
pub(crate) fn separate(command: &Command, arguments: &[OsString]) -> Vec<OsString> {
    let mut built = command.clone();
    built.build();
    match separated(&built, arguments) {
        Some(separated) => separated,
        None => arguments.to_vec(),
    }
}

/// Returns the changed command line. `None` if clap understands it unchanged, or if the verb is unknown.
fn separated(command: &Command, arguments: &[OsString]) -> Option<Vec<OsString>> {
    let mut verb = command;
    let mut words = arguments.iter().peekable();
    let mut flags: Vec<OsString> = words.next().cloned().into_iter().collect();
    let mut operands: Vec<OsString> = Vec::new();
    let mut any_moved = false;
    while let Some(word) = words.next() {
        if word == SEPARATOR {
            operands.extend(words.cloned());
            break;
        }
        let Some(value) = flag_value(verb, word) else {
            if let Some(deeper) = subcommand(verb, word) {
                verb = deeper;
                flags.push(word.clone());
            } else {
                any_moved |= begins_with_dash(word);
                operands.push(word.clone());
            }
            continue;
        };
        flags.push(word.clone());
        let next = words.peek().filter(|next| {
            let is_free = **next != SEPARATOR && flag_value(verb, next).is_none();
            is_free && (value == Value::Next || !begins_with_dash(next))
        });
        if value == Value::Complete || next.is_none() {
            continue;
        }
        let (Some(next), Some(flag)) = (words.next(), flags.last_mut()) else {
            continue;
        };
        if begins_with_dash(next) {
            flag.push("=");
            flag.push(next);
            any_moved = true;
        } else {
            flags.push(next.clone());
        }
    }
    if !any_moved || verb.has_subcommands() {
        return None;
    }
    flags.push(SEPARATOR.into());
    flags.append(&mut operands);
    Some(flags)
}

fn subcommand<'c>(verb: &'c Command, word: &OsStr) -> Option<&'c Command> {
    let mut subcommands = verb.get_subcommands();
    subcommands.find(|subcommand| word == subcommand.get_name())
}

/// Whether a word begins with a dash. `-` alone does not count: it names standard input.
fn begins_with_dash(word: &OsStr) -> bool {
    word.as_encoded_bytes().starts_with(b"-") && word != "-"
}

/// Returns how a word that looks like a flag takes its value; `None` for an operand.
fn flag_value(verb: &Command, word: &OsStr) -> Option<Value> {
    // What is no text in it is part of a value.
    let word = word.to_string_lossy();
    if let Some(rest) = word.strip_prefix("--") {
        let (name, value) = match rest.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (rest, None),
        };
        return match verb.get_arguments().find(|flag| is_called(flag, name)) {
            Some(_) if value.is_some() => Some(Value::Complete),
            Some(flag) => Some(value_of(flag)),
            None => (is_name(name) && !has_space(&word)).then_some(Value::Complete),
        };
    }
    let letters = word.strip_prefix('-')?;
    if !letters.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return None;
    }
    let takes_text = verb
        .get_positionals()
        .any(|operand| operand.get_id() == TEXT);
    match letters_value(verb, letters) {
        _ if has_space(&word) && takes_text => None,
        None if has_space(&word) => None,
        value => Some(value.unwrap_or(Value::Complete)),
    }
}

/// How `abc` of `-abc` goes on; `None` when a letter of it is not known.
fn letters_value(verb: &Command, letters: &str) -> Option<Value> {
    for (at, letter) in letters.char_indices() {
        let flag = verb
            .get_arguments()
            .find(|flag| flag.get_short() == Some(letter))?;
        let value = value_of(flag);
        if value != Value::Complete {
            let is_last = at + letter.len_utf8() == letters.len();
            return Some(if is_last { value } else { Value::Complete });
        }
    }
    Some(Value::Complete)
}

fn value_of(flag: &Arg) -> Value {
    let fewest = flag.get_num_args().map_or(0, |values| values.min_values());
    match flag.get_action().takes_values() {
        false => Value::Complete,
        true if fewest == 0 => Value::Optional,
        true => Value::Next,
    }
}

/// Whether a flag has `name` as its long name or an alias.
fn is_called(flag: &Arg, name: &str) -> bool {
    let aliases = flag.get_all_aliases().unwrap_or_default();
    flag.get_long() == Some(name) || aliases.contains(&name)
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || "-_".contains(character))
}

fn has_space(word: &str) -> bool {
    word.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn separated(words: &[&str]) -> Vec<String> {
        let line = ["kb"].iter().chain(words).map(OsString::from);
        let line: Vec<OsString> = line.collect();
        let separated = separate(&crate::command(), &line);
        let words = separated.iter().skip(1);
        words
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn words_that_have_no_shape_of_a_flag_become_operands() {
        for word in [
            "- text",
            "-word rest",
            "--flag of git",
            "--mod=x of git",
            "-file formats",
            "-k option",
            "-1",
            "-.5",
            "->",
            "-\"exact words\"",
            "-\u{e9}t\u{e9}",
            "---",
            "--=x",
            "--1",
            "-\tx",
        ] {
            let expected = ["search", "-k", "3", "--json", "--", "how", word, "now"];
            assert_eq!(
                separated(&["search", "how", "-k", "3", word, "--json", "now"]),
                expected
            );
        }
    }

    #[test]
    fn flags_and_mistyped_flags_are_left_to_clap() {
        for line in [
            &["search", "x", "--mod", "a"][..],
            &["search", "x", "-k3", "--mode=key word", "-x"],
            &["search", "x", "--json", "-", "--no-such-flag=1"],
            &["search", "--", "- text"],
            &["search", "--", "--json"],
            &["serach", "- text"],
            &["token", "- text"],
            &["index", "docs", "-omy docs.kb"],
            &["--color", "always", "ls", "a b"],
            &[],
        ] {
            assert_eq!(separated(line), line);
        }
    }

    #[test]
    fn values_that_begin_with_a_dash_are_joined_to_their_flag() {
        assert_eq!(
            separated(&["get", "a.md", "--section", "- Notes", "-f", "-1.kb"]),
            ["get", "--section=- Notes", "-f=-1.kb", "--", "a.md"]
        );
        assert_eq!(
            separated(&["token", "create", "--tokens", "- t", "- laptop"]),
            ["token", "create", "--tokens=- t", "--", "- laptop"]
        );
        // A flag after a flag is no value of it.
        assert_eq!(
            separated(&["tag", "a.md", "--add", "--json", "- b"]),
            ["tag", "--add", "--json", "--", "a.md", "- b"]
        );
    }

    #[test]
    fn optional_values_and_operands_are_told_apart() {
        assert_eq!(
            separated(&["rm", "a.kb", "--wait", "5", "- x"]),
            ["rm", "--wait", "5", "--", "a.kb", "- x"]
        );
        assert_eq!(
            separated(&["rm", "a.kb", "--wait", "- x"]),
            ["rm", "--wait", "--", "a.kb", "- x"]
        );
    }

    #[test]
    fn words_behind_the_separator_stay_in_order() {
        assert_eq!(
            separated(&["search", "- a", "--plain", "--", "--json", "- b"]),
            ["search", "--plain", "--", "- a", "--json", "- b"]
        );
        assert_eq!(
            separated(&["--color", "never", "search", "-1"]),
            ["--color", "never", "search", "--", "-1"]
        );
    }

    #[test]
    #[cfg(unix)]
    fn bytes_that_are_no_text_are_kept() {
        use std::os::unix::ffi::OsStrExt;
        let odd = OsStr::from_bytes(b"-\xff a.kb").to_owned();
        let line = ["kb", "info"].map(OsString::from).into_iter();
        let line: Vec<OsString> = line.chain([odd.clone()]).collect();
        let expected = ["kb", "info", "--"].map(OsString::from).into_iter();
        let expected: Vec<OsString> = expected.chain([odd]).collect();
        assert_eq!(separate(&crate::command(), &line), expected);
    }
}
