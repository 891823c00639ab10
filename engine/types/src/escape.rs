//! Escaping of characters that a terminal could obey or a reader cannot see. The one table of them:
//! every front prints names, messages and text of documents through these functions.
//!
//! Two kinds of characters are escaped:
//!
//! * *controls*: C0, DEL, C1 and the separators U+2028 and U+2029. A terminal obeys some of them,
//!   and each of U+0085, U+2028 and U+2029 ends a line for some programs.
//! * *invisible characters*: those that Unicode lets a program leave undrawn
//!   (`Default_Ignorable_Code_Point`), among them every `Bidi_Control`, the tag characters and the
//!   fillers of Hangul; the interlinear annotation characters; and U+2800, the Braille cell without
//!   dots, which is drawn as a space and is none. They can reorder a line, make two names look alike,
//!   or carry text that only a program reads.
//!
//! Some invisible characters are part of ordinary writing: joiners in Persian, Indic scripts and
//! emoji, U+200B between words of Thai or Khmer, variation selectors after emoji and ideographs, U+2800
//! in Braille. Directly after a visible character that takes them they stay as they are; anywhere else,
//! and in a row, they are escaped. So at most one of them follows each visible character, or U+2800
//! some times over.
//!
//! | written to | names, in lines of their own | text of a document |
//! |---|---|---|
//! | a terminal, or a model | [`escape_line`] | [`escape_text`] |
//! | a pipe | [`escape_controls`]: one line stays one line | as it is |
//! | JSON | [`escape_json`] | [`escape_json`] |
//! | a command for a shell | [`shell_word`] | |
//!
//! Every function is linear in the text and borrows it when nothing is to be escaped; what it
//! returns has at most nine bytes for each byte given.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write as _;

/// One line of an answer: a path, a title, a message. Every control, also line feeds and tabs, and
/// every invisible character is escaped: `\n`, `\u{1b}`.
pub fn escape_line(text: &str) -> Cow<'_, str> {
    replace(text, |shown| shown.is_escaped())
}

/// Text of several lines: as [`escape_line`], but line feeds and tabs stay, and a carriage return
/// before a line feed is left out.
pub fn escape_text(text: &str) -> Cow<'_, str> {
    let text = if text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    };
    let escaped = |shown: &Shown| shown.is_escaped() && !matches!(shown.character, '\n' | '\t');
    match text {
        Cow::Borrowed(text) => replace(text, escaped),
        Cow::Owned(text) => Cow::Owned(replace(&text, escaped).into_owned()),
    }
}

/// One line for another program: controls only, so that a name is one line and cannot steer a
/// terminal further on, and invisible characters stay part of the name.
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    replace(text, |shown| is_control(shown.character))
}

/// JSON with every control and invisible character as `\uXXXX`, pairs of surrogates included. No
/// value changes, since outside of its strings JSON is ASCII. A text that is one line stays one line
/// for readers that split at U+0085, U+2028 or U+2029.
pub fn escape_json(json: &str) -> Cow<'_, str> {
    // Line feeds and spaces between values are not part of a string.
    let escaped = |character: char| character >= '\u{7f}' && is_hidden(character);
    if !json.chars().any(escaped) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 64);
    for character in json.chars() {
        if escaped(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a String does not fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

/// A single character as the other functions write it: `\n`, `\r`, `\t`, else `\u{1b}`.
pub fn escape_char(character: char) -> String {
    let mut out = String::new();
    push_escaped(&mut out, character);
    out
}

/// The characters of a text in order, and which of them [`escape_line`] escapes.
pub fn shown(text: &str) -> impl Iterator<Item = Shown> + '_ {
    let mut base = None;
    text.char_indices().map(move |(offset, character)| {
        let shown = Shown {
            offset,
            character,
            is_hidden: is_hidden(character),
            is_ordinary: base.is_some_and(|base| takes(base, character)),
        };
        base = match character {
            _ if shown.is_escaped() => None,
            // Emoji go on with a joiner after their selector.
            '\u{fe0f}' | '\u{2800}' => Some(character),
            _ if shown.is_hidden || character.is_whitespace() => None,
            _ => Some(character),
        };
        shown
    })
}

/// One character of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// Where it begins, in bytes.
    pub offset: usize,
    /// The character.
    pub character: char,
    /// Whether it is a control or invisible.
    is_hidden: bool,
    /// Whether it is part of ordinary writing where it stands.
    is_ordinary: bool,
}

impl Shown {
    /// Whether [`escape_line`] escapes it.
    pub fn is_escaped(&self) -> bool {
        self.is_hidden && !self.is_ordinary
    }
}

fn replace(text: &str, is_escaped: impl Fn(&Shown) -> bool) -> Cow<'_, str> {
    // Nearly every text; no invisible character is below U+0080.
    let is_plain = |byte: u8| (0x20..0x7f).contains(&byte);
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let Some(first) = shown(text).find(|shown| is_escaped(shown)) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(text.get(..first.offset).unwrap_or_default());
    for shown in shown(text).filter(|shown| shown.offset >= first.offset) {
        if is_escaped(&shown) {
            push_escaped(&mut out, shown.character);
        } else {
            out.push(shown.character);
        }
    }
    Cow::Owned(out)
}

fn push_escaped(out: &mut String, character: char) {
    match character {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        // Writing to a String does not fail.
        _ => drop(write!(out, "\\u{{{:x}}}", u32::from(character))),
    }
}

/// Whether a character is a control or invisible, wherever it stands.
pub fn is_hidden(character: char) -> bool {
    is_control(character) || is_invisible(character)
}

/// C0, DEL, C1, line and paragraph separator.
fn is_control(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')
}

/// `Default_Ignorable_Code_Point` of Unicode 16 (DerivedCoreProperties.txt), which has all of
/// `Bidi_Control`, the interlinear annotation characters, and the Braille cell without dots.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{2800}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether `invisible` directly after `base`, which is visible or U+FE0F, is ordinary writing.
fn takes(base: char, invisible: char) -> bool {
    let is_selected = base == '\u{fe0f}';
    match invisible {
        // Spaces of Braille after a cell with dots, several in a row too, which take nothing else.
        '\u{2800}' => matches!(base, '\u{2800}'..='\u{28ff}'),
        _ if base == '\u{2800}' => false,
        // Joiners: scripts from Hebrew on, and emoji. Latin, Greek and Cyrillic have no use for them.
        '\u{200c}' | '\u{200d}' => base >= '\u{590}',
        // Where words have no spaces between them: Thai to Myanmar, Khmer, Tai.
        '\u{200b}' => matches!(
            base,
            '\u{e00}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{1950}'..='\u{1aaf}'
        ),
        // Variation selectors: keycaps, and symbols from the copyright sign on.
        '\u{fe00}'..='\u{fe0f}' => {
            !is_selected && (matches!(base, '0'..='9' | '#' | '*') || base >= '\u{a9}')
        }
        // Those of ideographs.
        '\u{e0100}'..='\u{e01ef}' => !is_selected && base >= '\u{2e80}',
        // Those of Mongolian.
        '\u{180b}'..='\u{180d}' | '\u{180f}' => matches!(base, '\u{1820}'..='\u{18aa}'),
        _ => false,
    }
}

/// A word as it must be typed in a shell, for commands that are offered to people. One with bytes
/// that are no text, or with characters that are not seen or would steer the terminal, is written as
/// `$'\033'`, which bash, zsh, ksh and POSIX 2024 read.
pub fn shell_word(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref();
    let text = match word.to_str() {
        Some(text) if escape_line(text) == text => text,
        _ => return bytes_word(word.as_encoded_bytes()),
    };
    let plain = |character: char| character.is_alphanumeric() || "-_./:=,+@%".contains(character);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Every byte but printable ASCII in octal, which takes no more than three digits: `\x1b` would go
/// on into a hexadecimal digit that follows.
fn bytes_word(bytes: &[u8]) -> String {
    let mut word = "$'".to_owned();
    for byte in bytes {
        match byte {
            b'\'' | b'\\' => {
                word.push('\\');
                word.push(char::from(*byte));
            }
            b' '..=b'~' => word.push(char::from(*byte)),
            // Writing to a String does not fail.
            _ => drop(write!(word, "\\{byte:03o}")),
        }
    }
    word.push('\'');
    word
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_general_category::{GeneralCategory, get_general_category};

    use super::*;

    #[test]
    fn every_control_and_format_character_of_unicode_is_escaped() {
        // Prepended number and verse signs, and the layout of hieroglyphs: drawn, not invisible.
        let is_drawn = |character: char| {
            matches!(
                character,
                '\u{600}'..='\u{605}'
                    | '\u{6dd}'
                    | '\u{70f}'
                    | '\u{890}'..='\u{891}'
                    | '\u{8e2}'
                    | '\u{110bd}'
                    | '\u{110cd}'
                    | '\u{13430}'..='\u{1343f}'
            )
        };
        for character in '\0'..=char::MAX {
            let category = get_general_category(character);
            let expected = match category {
                GeneralCategory::Control
                | GeneralCategory::LineSeparator
                | GeneralCategory::ParagraphSeparator => true,
                GeneralCategory::Format => !is_drawn(character),
                _ => continue,
            };
            let text = character.to_string();
            assert_eq!(escape_line(&text) != text, expected, "{character:?}");
        }
    }

    #[test]
    fn the_table_is_that_of_unicode() {
        // Bidi_Control of PropList.txt.
        let bidi = "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\
                    \u{2068}\u{2069}";
        let hangul = "\u{115f}\u{1160}\u{3164}\u{ffa0}";
        let rest = "\u{ad}\u{34f}\u{17b4}\u{17b5}\u{180e}\u{2060}\u{2064}\u{2065}\u{206a}\u{206f}\
                    \u{feff}\u{fff9}\u{fffb}\u{e0000}\u{e0020}\u{e007f}\u{e01f0}\u{e0fff}";
        for character in [bidi, hangul, rest].iter().flat_map(|text| text.chars()) {
            // Whatever stands before.
            for before in ["a", "\u{5d0}", "\u{4e2d}", "\u{1f600}", "\u{2764}\u{fe0f}"] {
                let text = format!("{before}{character}");
                let expected = format!("{before}\\u{{{:x}}}", u32::from(character));
                assert_eq!(escape_line(&text), expected);
                assert_eq!(escape_text(&text), expected);
                assert_eq!(escape_controls(&text), text);
            }
        }
    }

    #[test]
    fn spaces_and_signs_that_are_seen_stay() {
        for seen in [
            "",
            "plain",
            "back\\slash \\u{9}",
            "\u{e4}\u{4e2d}\u{1f600}",
            // No-break, thin and ideographic space, object replacement.
            "\u{a0}\u{2009}\u{3000}\u{fffc}\u{fffd}",
            // Combining marks.
            "e\u{301}\u{20e3}",
        ] {
            assert!(matches!(escape_line(seen), Cow::Borrowed(same) if same == seen));
            assert!(matches!(escape_text(seen), Cow::Borrowed(same) if same == seen));
        }
    }

    #[test]
    fn ordinary_writing_keeps_its_joiners_and_selectors() {
        for text in [
            // Persian, Hindi, Malayalam with a joiner at the end of a word.
            "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
            "\u{915}\u{94d}\u{200d}\u{937}",
            "\u{d28}\u{d4d}\u{200d} ",
            // Thai and Khmer with spaces of no width.
            "\u{e01}\u{200b}\u{e02}",
            "\u{1780}\u{17b6}\u{200b}\u{1780}",
            // A family, a heart on fire, a flag of the rainbow, a keycap, the sign of copyright.
            "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f466}",
            "\u{2764}\u{fe0f}\u{200d}\u{1f525}",
            "\u{1f3f3}\u{fe0f}\u{200d}\u{1f308}",
            "1\u{fe0f}\u{20e3} #\u{fe0f}\u{20e3}",
            "\u{a9}\u{fe0f} \u{2194}\u{fe0e}",
            // Braille with spaces, as plots in a terminal have them.
            "\u{2813}\u{2800}\u{2800}\u{2801}\u{2800}",
            // A variant of an ideograph, and of a Mongolian letter.
            "\u{845b}\u{e0100}",
            "\u{1820}\u{180b}",
        ] {
            assert_eq!(escape_line(text), text);
        }
    }

    #[test]
    fn joiners_and_selectors_elsewhere_and_in_a_row_are_escaped() {
        for (text, expected) in [
            ("pass\u{200d}word", "pass\\u{200d}word"),
            ("pass\u{200b}word", "pass\\u{200b}word"),
            ("\u{200d}a", "\\u{200d}a"),
            ("caf\u{e9}\u{200c}s", "caf\u{e9}\\u{200c}s"),
            ("a\u{fe0f}", "a\\u{fe0f}"),
            (" \u{fe0f}", " \\u{fe0f}"),
            // Two selectors carry a byte that nobody sees.
            ("\u{1f600}\u{fe0f}\u{fe01}", "\u{1f600}\u{fe0f}\\u{fe01}"),
            (
                "\u{1f600}\u{e0100}\u{e0101}",
                "\u{1f600}\u{e0100}\\u{e0101}",
            ),
            ("\u{2764}\u{fe0f}\u{e0100}", "\u{2764}\u{fe0f}\\u{e0100}"),
            ("\u{645}\u{200c}\u{200d}", "\u{645}\u{200c}\\u{200d}"),
            ("\u{645}\u{200b}", "\u{645}\\u{200b}"),
            ("\u{2801}\u{2800}\u{fe0f}", "\u{2801}\u{2800}\\u{fe0f}"),
            ("a\u{2800}\u{2800}", "a\\u{2800}\\u{2800}"),
            ("\u{2813}a\u{2800}", "\u{2813}a\\u{2800}"),
            (
                "\u{1f3f4}\u{e0067}\u{e007f}",
                "\u{1f3f4}\\u{e0067}\\u{e007f}",
            ),
        ] {
            assert_eq!(escape_line(text), expected);
        }
    }

    #[test]
    fn a_line_stays_one_line_and_a_text_keeps_its_lines() {
        assert_eq!(escape_line("a\nb\tc\r\n"), "a\\nb\\tc\\r\\n");
        assert_eq!(escape_text("a\nb\tc\r\nd\re"), "a\nb\tc\nd\\re");
        assert_eq!(
            escape_text("\u{85}\u{2028}\u{2029}"),
            "\\u{85}\\u{2028}\\u{2029}"
        );
        assert_eq!(
            escape_controls("a\nb\u{1b}[31m\u{9b}c\u{85}"),
            "a\\nb\\u{1b}[31m\\u{9b}c\\u{85}"
        );
        assert_eq!(escape_controls("if \u{202e}x\u{ad}"), "if \u{202e}x\u{ad}");
    }

    #[test]
    fn json_says_the_same_in_characters_that_are_seen() {
        let text = "\u{1b}\u{7f}\u{9b}\u{85}\u{2028}\u{202e}\u{e0041}\u{fe0f}\u{e9}\u{1f600}\n\"\\";
        let json = serde_json::to_string(text).unwrap();
        let escaped = escape_json(&json);
        assert_eq!(
            escaped,
            "\"\\u001b\\u007f\\u009b\\u0085\\u2028\\u202e\\udb40\\udc41\\ufe0f\u{e9}\u{1f600}\\n\\\"\\\\\""
        );
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
    }

    proptest! {
        #[test]
        fn nothing_that_steers_a_terminal_is_left(text in any::<String>()) {
            for line in [escape_line(&text), escape_controls(&text)] {
                prop_assert!(!line.chars().any(is_control), "{line:?}");
                prop_assert!(line.len() <= 9 * text.len());
            }
            let several = escape_text(&text);
            prop_assert!(!several.chars().any(|c| is_control(c) && c != '\n' && c != '\t'));
            // What was escaped is plain: escaping it again changes nothing.
            let line = escape_line(&text);
            prop_assert_eq!(escape_line(&line), &*line);
        }

        #[test]
        fn json_keeps_its_value(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            let escaped = escape_json(&json);
            prop_assert!(!escaped.chars().any(is_hidden));
            prop_assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
        }
    }

    #[test]
    fn words_with_spaces_or_quotes_are_quoted_for_the_shell() {
        assert_eq!(shell_word("src/main.rs"), "src/main.rs");
        assert_eq!(shell_word("my notes"), "'my notes'");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("caf\u{e9}.md"), "caf\u{e9}.md");
    }

    #[test]
    fn words_with_characters_that_are_not_seen_are_typed_in_octal() {
        assert_eq!(shell_word("a\u{1b}[1mb\n"), "$'a\\033[1mb\\012'");
        assert_eq!(shell_word("it's\\\t1"), "$'it\\'s\\\\\\0111'");
        assert_eq!(shell_word("x\u{202e}y"), "$'x\\342\\200\\256y'");
    }

    #[test]
    #[cfg(unix)]
    fn words_that_are_no_text_are_typed_in_octal() {
        use std::os::unix::ffi::OsStrExt;
        assert_eq!(shell_word(OsStr::from_bytes(b"a\xff.kb")), "$'a\\377.kb'");
    }
}
