//! Programs with their comments, strings, keywords, numbers and defined names marked.
//!
//! A lexer for each language, not its grammar: grammars are parsers in C, which read documents in a worker process
//! only, and a page must not need one. It takes one pass, knows more languages, and at worst colours a word wrongly.

mod languages;

use std::collections::HashSet;
use std::ops::Range;

use maud::Render as _;

use self::languages::{GRAMMARS, Grammar, Quote};

/// Longest text that is coloured, in bytes; about 10 ms.
pub(crate) const LIMIT_BYTES: usize = 1 << 20;

/// Steps for each byte of a text, after which the rest is plain: of real programs none takes two. A hostile one could
/// make the lexer look for the end of a string again and again.
const STEPS_PER_BYTE: usize = 8;

/// Longest literal of one character with its escapes, in bytes: `'\u{10ffff}'`.
const CHARACTER_LIMIT_BYTES: usize = 12;

/// What a piece of a program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Comment,
    Text,
    Keyword,
    Number,
    /// A name behind a word that defines it.
    Defined,
}

impl Kind {
    /// Its class in the style sheet.
    fn class(self) -> &'static str {
        match self {
            Kind::Comment => "hc",
            Kind::Text => "ht",
            Kind::Keyword => "hk",
            Kind::Number => "hn",
            Kind::Defined => "hd",
        }
    }
}

/// The pieces of a program that are not plain, ascending.
#[derive(Debug, Default)]
pub(crate) struct Highlights {
    pieces: Vec<(Range<usize>, Kind)>,
}

impl Highlights {
    /// The pieces of `text`, a program in `language`: a word of the file types, or what Markdown calls it. None for a
    /// language that is not known, and for a text of more than [`LIMIT_BYTES`].
    pub(crate) fn of(language: &str, text: &str) -> Highlights {
        if text.len() > LIMIT_BYTES {
            return Highlights::default();
        }
        let Some(grammar) = grammar_of(language) else {
            return Highlights::default();
        };
        Highlights {
            pieces: Lexer::new(grammar, text).run(),
        }
    }

    /// Writes the bytes `range` of the text as HTML.
    pub(crate) fn render(&self, text: &str, range: Range<usize>, out: &mut String) {
        let first = self
            .pieces
            .partition_point(|(piece, _)| piece.end <= range.start);
        let mut at = range.start;
        for (piece, kind) in self.pieces.get(first..).unwrap_or_default() {
            let (start, end) = (piece.start.max(at), piece.end.min(range.end));
            if start >= range.end {
                break;
            }
            let (Some(before), Some(inside)) = (text.get(at..start), text.get(start..end)) else {
                continue;
            };
            before.render_to(out);
            out.push_str("<span class=");
            out.push_str(kind.class());
            out.push('>');
            inside.render_to(out);
            out.push_str("</span>");
            at = end;
        }
        text.get(at..range.end).unwrap_or_default().render_to(out);
    }
}

fn grammar_of(language: &str) -> Option<&'static Grammar> {
    let language = language.to_ascii_lowercase();
    let mut grammars = GRAMMARS.iter();
    grammars.find(|grammar| grammar.names.split(' ').any(|name| name == language))
}

struct Lexer<'t> {
    grammar: &'static Grammar,
    keywords: HashSet<&'static str>,
    text: &'t str,
    at: usize,
    steps: usize,
    pieces: Vec<(Range<usize>, Kind)>,
    /// Whether the last word defines the next name.
    is_defining: bool,
}

impl<'t> Lexer<'t> {
    fn new(grammar: &'static Grammar, text: &'t str) -> Lexer<'t> {
        Lexer {
            grammar,
            keywords: grammar.words.split(' ').collect(),
            text,
            at: 0,
            steps: 0,
            pieces: Vec::new(),
            is_defining: false,
        }
    }

    fn run(mut self) -> Vec<(Range<usize>, Kind)> {
        let most = self.text.len().saturating_mul(STEPS_PER_BYTE);
        while let Some(next) = self.rest().chars().next() {
            if self.steps > most {
                break;
            }
            if let Some(length) = self.comment() {
                self.push(length, Kind::Comment);
            } else if let Some(length) = self.quoted() {
                self.push(length, Kind::Text);
            } else if next.is_alphabetic() || next == '_' {
                self.word();
            } else if next.is_ascii_digit() {
                let length = self.number();
                self.push(length, Kind::Number);
            } else {
                // `function*`, `struct(`: what is no space may end a definition, `*` and `&` do not.
                self.is_defining &= next.is_whitespace() || matches!(next, '*' | '&');
                self.at += next.len_utf8();
            }
        }
        self.pieces
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn push(&mut self, length: usize, kind: Kind) {
        let end = self.at + length.max(1);
        self.pieces.push((self.at..end, kind));
        self.steps += length;
        self.at = end;
        self.is_defining = false;
    }

    /// The length of the comment that begins here.
    fn comment(&mut self) -> Option<usize> {
        let (rest, grammar) = (self.rest(), self.grammar);
        if let Some((open, close)) = grammar.block
            && let Some(inside) = rest.strip_prefix(open)
        {
            return Some(open.len() + block_length(inside, open, close, grammar.nests));
        }
        let is_line = grammar.lines.iter().any(|start| rest.starts_with(start));
        let before = self
            .text
            .get(..self.at)
            .unwrap_or_default()
            .chars()
            .next_back();
        let is_apart = !grammar.spaced || before.is_none_or(char::is_whitespace);
        (is_line && is_apart).then(|| rest.find('\n').unwrap_or(rest.len()))
    }

    /// The length of the string or character that begins here.
    fn quoted(&mut self) -> Option<usize> {
        let rest = self.rest();
        let mut quotes = self.grammar.quotes.iter();
        if let Some(quote) = quotes.find(|quote| rest.starts_with(quote.open)) {
            return self.string(quote);
        }
        let character = rest
            .strip_prefix('\'')
            .filter(|_| self.grammar.characters)?;
        let end = match character.strip_prefix('\\') {
            // The second character may be the quote itself.
            Some(escaped) => {
                let skipped = escaped.chars().next()?.len_utf8();
                let close = escaped.get(skipped..)?.bytes().take(CHARACTER_LIMIT_BYTES);
                2 + skipped + close.into_iter().position(|byte| byte == b'\'')?
            }
            None => {
                let length = character.chars().next()?.len_utf8();
                (character.get(length..)?.starts_with('\'')).then_some(1 + length)?
            }
        };
        Some(end + 1)
    }

    fn string(&mut self, quote: &Quote) -> Option<usize> {
        let inside = self.rest().get(quote.open.len()..)?.as_bytes();
        let mut at = 0;
        let found = loop {
            let Some(rest) = inside.get(at..).filter(|rest| !rest.is_empty()) else {
                break None;
            };
            match rest.first() {
                Some(b'\\') if quote.escapes => at += 2,
                Some(b'\n') if !quote.many_lines => break None,
                _ if rest.starts_with(quote.close.as_bytes()) => {
                    break Some(at + quote.close.len());
                }
                _ => at += 1,
            }
        };
        self.steps += at;
        Some(quote.open.len() + found?)
    }

    /// Reads a name or a word of the language.
    fn word(&mut self) {
        let rest = self.rest();
        let is_part = |c: char| {
            c.is_alphanumeric() || c == '_' || (c == '-' && self.grammar.names.starts_with("css"))
        };
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default();
        if self.grammar.raw_strings
            && matches!(word, "r" | "br" | "cr")
            && let Some(raw) = raw_length(rest.get(length..).unwrap_or_default())
        {
            return self.push(length + raw, Kind::Text);
        }
        let lower = word.to_ascii_lowercase();
        let is_keyword = match self.grammar.any_case {
            true => self.keywords.contains(lower.as_str()),
            false => self.keywords.contains(word),
        };
        if is_keyword {
            self.push(length, Kind::Keyword);
            self.is_defining = self.grammar.defining.split(' ').any(|it| it == lower);
        } else if self.is_defining {
            self.push(length, Kind::Defined);
        } else {
            self.at += length;
        }
    }

    fn number(&self) -> usize {
        let rest = self.rest();
        let mut before = '0';
        let is_end = |c: char| {
            let is_part = match c {
                // `1..2` and `1.max(2)` are no decimals, `1e-3` is one.
                '.' => before.is_ascii_digit(),
                '-' | '+' => matches!(before, 'e' | 'E') && !rest.starts_with("0x"),
                c if before == '.' => c.is_ascii_digit(),
                c => c.is_alphanumeric() || c == '_',
            };
            before = c;
            !is_part
        };
        let length = rest.find(is_end).unwrap_or(rest.len());
        let number = rest.get(..length).unwrap_or_default();
        number.trim_end_matches('.').len()
    }
}

/// The length of a comment behind its `open`; to the end of the text without a `close`.
fn block_length(inside: &str, open: &str, close: &str, nests: bool) -> usize {
    let (mut depth, mut at) = (1_usize, 0);
    let bytes = inside.as_bytes();
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with(close.as_bytes()) {
            at += close.len();
            depth -= 1;
            if depth == 0 {
                return at;
            }
        } else if nests && rest.starts_with(open.as_bytes()) {
            at += open.len();
            depth += 1;
        } else {
            at += 1;
        }
    }
    inside.len()
}

/// The length of `#"..."#`, with any number of `#`; to the end of the text without an end.
fn raw_length(rest: &str) -> Option<usize> {
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    let inside = rest.get(hashes..)?.strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let length = inside
        .find(&close)
        .map_or(inside.len(), |at| at + close.len());
    Some(hashes + 1 + length)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// The pieces as `kind:text`, with a space between.
    fn shown(language: &str, text: &str) -> String {
        let highlights = Highlights::of(language, text);
        let pieces = highlights
            .pieces
            .iter()
            .map(|(range, kind)| format!("{}:{}", kind.class(), text.get(range.clone()).unwrap()));
        pieces.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn pieces_of_programs_are_told_apart() {
        for (language, text, expected) in [
            (
                "rust",
                "/* a /* b */ c */ pub fn go<'a>(x: &'a str) -> char { '\\'' } // end",
                "hc:/* a /* b */ c */ hk:pub hk:fn hd:go hk:str hk:char ht:'\\'' hc:// end",
            ),
            (
                "rs",
                "r#\"a\"b\"# 1..2 1.5e-3 0xff_u8",
                "ht:r#\"a\"b\"# hn:1 hn:2 hn:1.5e-3 hn:0xff_u8",
            ),
            (
                "python",
                "def f():\n  \"\"\"a\n\"b\"\"\"\n  return 'x\\'y' # '",
                "hk:def hd:f ht:\"\"\"a\n\"b\"\"\" hk:return ht:'x\\'y' hc:# '",
            ),
            (
                "bash",
                "echo $# ${#x} # \"c\n\"a\nb\"",
                "hk:echo hc:# \"c ht:\"a\nb\"",
            ),
            (
                "sql",
                "SELECT 'it''s' -- c",
                "hk:SELECT ht:'it' ht:'s' hc:-- c",
            ),
            (
                "js",
                "function* go() { return `a\n${b}` }",
                "hk:function hd:go hk:return ht:`a\n${b}`",
            ),
            ("json", "{\"a\": [true, -1.5]}", "ht:\"a\" hk:true hn:1.5"),
            (
                "css",
                "a { margin-top: 2px /* \" */ }",
                "hn:2px hc:/* \" */",
            ),
            ("c", "char c = '\"'; int it's", "hk:char ht:'\"' hk:int"),
            ("klingon", "if \"a\"", ""),
        ] {
            assert_eq!(shown(language, text), expected, "{language}");
        }
    }

    #[test]
    fn a_quote_without_an_end_leaves_its_line_plain() {
        assert_eq!(shown("rust", "it's \"open"), "");
        assert_eq!(shown("go", "\"open\nreturn"), "hk:return");
        assert_eq!(shown("c", "/* open"), "hc:/* open");
        assert_eq!(shown("c", "\u{e9}'\u{e9}"), "");
    }

    #[test]
    fn a_part_is_rendered_escaped_with_what_reaches_into_it() {
        let text = "/* <a>\n<b> */ x < 1";
        let highlights = Highlights::of("c", text);
        let part = |range| {
            let mut out = String::new();
            highlights.render(text, range, &mut out);
            out
        };
        assert_eq!(part(0..6), "<span class=hc>/* &lt;a&gt;</span>");
        assert_eq!(
            part(7..text.len()),
            "<span class=hc>&lt;b&gt; */</span> x &lt; <span class=hn>1</span>"
        );
        assert_eq!(part(14..17), "x &lt;");
        assert_eq!(part(14..14), "");
    }

    #[test]
    fn hostile_texts_take_linear_time() {
        for piece in [
            "\"\\", "\"\"\"", "'\\", "/*", "r#\"", "`", "\\\"", "#", "1e-", "/* */",
        ] {
            // What takes quadratic time takes a minute.
            let text = piece.repeat((128 << 10) / piece.len());
            for grammar in GRAMMARS {
                let language = grammar.names.split(' ').next().unwrap();
                let start = Instant::now();
                let highlights = Highlights::of(language, &text);
                assert!(
                    start.elapsed() < Duration::from_secs(2),
                    "{piece} {language}"
                );
                assert!(
                    highlights
                        .pieces
                        .is_sorted_by(|(a, _), (b, _)| a.end <= b.start)
                );
            }
        }
        assert!(
            Highlights::of("c", &"int ".repeat(LIMIT_BYTES))
                .pieces
                .is_empty()
        );
    }
}
