//! Words that are written with signs: `2.10.3`, `C++`, `.NET`, `--flag`, `@name`, `#4711`, `ABC-123`.
//!
//! Such a word is found around a run of letters and digits. Its parts are the runs in it.

use std::ops::Range;

use super::script_class::{CharClass, SECTION_SIGN, char_class, is_ascii_word};

/// Longer words with signs are data, and only their parts are words.
// A version, an address or an identifier of a ticket is far shorter.
const MAX_JOINED_BYTES: usize = 48;

/// Most digits of a part of a decimal number that is a word.
// `22.04` and `3.11` may be versions; measured values have more digits, and each would be a term that
// occurs once.
const MAX_DECIMAL_DIGITS: usize = 2;

/// Names that are written with `++`, sorted. A variable has it too: `i++`.
const PLUS_NAMES: [&str; 6] = ["c", "clang", "g", "libc", "libstdc", "notepad"];

/// Whether a sign before a run may belong to it.
static OPENS: [bool; 256] = table(b"#@.-");

/// Whether a sign after a run may belong to it.
static CONTINUES: [bool; 256] = table(b".-+#/&");

const fn table(signs: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < signs.len() {
        #[expect(clippy::indexing_slicing, reason = "a byte indexes a table of 256")]
        {
            table[signs[at] as usize] = true;
        }
        at += 1;
    }
    table
}

fn is_in(table: &[bool; 256], byte: Option<&u8>) -> bool {
    byte.and_then(|byte| table.get(usize::from(*byte)))
        .copied()
        .unwrap_or(false)
}

/// The word with signs around the run of word bytes `run`; `None` when the run is a word by itself. Signs before
/// `from` belong to other words.
#[inline]
pub(super) fn joined(text: &str, from: usize, run: &Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let before = run.start.checked_sub(1).filter(|before| *before >= from);
    let opens = is_in(&OPENS, before.and_then(|before| bytes.get(before)));
    let continues = is_in(&CONTINUES, bytes.get(run.end));
    if !opens && !continues {
        return None;
    }
    let signs = Signs { text, from, run };
    // Most signs end a sentence or stand between names; these tests spare the calls.
    let opened = (opens && signs.may_open())
        .then(|| signs.opened())
        .flatten();
    let found = match opened {
        None if continues && signs.may_continue() => signs.continued()?,
        found => found?,
    };
    let is_whole = found.end == run.end || !signs.is_letter_at(found.end);
    (is_whole && found.len() <= MAX_JOINED_BYTES).then_some(found)
}

/// A run of word bytes and what stands around it.
struct Signs<'t> {
    text: &'t str,
    /// Where the word before it ends.
    from: usize,
    run: &'t Range<usize>,
}

impl Signs<'_> {
    #[inline]
    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// The byte so far before the run; 0 where another word or the text begins.
    #[inline]
    fn before(&self, distance: usize) -> u8 {
        match self.run.start.checked_sub(distance) {
            Some(at) if at >= self.from => self.byte(at),
            _ => 0,
        }
    }

    fn bytes(&self, range: Range<usize>) -> &[u8] {
        self.text.as_bytes().get(range).unwrap_or_default()
    }

    /// Whether a character of a word ends so far before the run.
    fn is_letter_before(&self, distance: usize) -> bool {
        let end = self.run.start.saturating_sub(distance);
        let text = self.text.get(..end).unwrap_or_default();
        text.chars().next_back().is_some_and(is_letter)
    }

    /// Whether a character of a word begins at a byte.
    fn is_letter_at(&self, start: usize) -> bool {
        let text = self.text.get(start..).unwrap_or_default();
        text.chars().next().is_some_and(is_letter)
    }

    /// The end of the run of ASCII word bytes at `start`.
    fn run_end(&self, start: usize) -> usize {
        let rest = self.bytes(start..self.text.len());
        let len = rest.iter().position(|byte| !is_ascii_word(*byte));
        start + len.unwrap_or(rest.len())
    }

    /// Whether [`Signs::opened`] may find a word, by the next bytes.
    #[inline]
    fn may_open(&self) -> bool {
        let first = self.byte(self.run.start);
        match self.before(1) {
            b'.' => matches!(first, b'N' | b'n'),
            b'-' => self.before(2) == b'-',
            b'#' => first.is_ascii_digit(),
            _ => true,
        }
    }

    /// Whether [`Signs::continued`] may find a word, by the next bytes.
    #[inline]
    fn may_continue(&self) -> bool {
        let next = self.byte(self.run.end + 1);
        match self.byte(self.run.end) {
            b'.' => next.is_ascii_digit(),
            b'-' => next.is_ascii_digit() || self.run.len() == 1,
            b'+' => next == b'+',
            _ => self.run.len() == 1,
        }
    }

    /// A word that begins with a sign.
    #[cold]
    fn opened(&self) -> Option<Range<usize>> {
        let (start, end) = (self.run.start, self.run.end);
        let word = self.bytes(self.run.clone());
        let first = self.byte(start);
        match self.before(1) {
            // `--dry-run`, not `a--b`, `---x` or `--i`.
            b'-' if self.before(2) == b'-' => {
                let is_name = first.is_ascii_alphabetic() && word.len() > 1;
                let is_flag = is_name && self.before(3) != b'-' && !self.is_letter_before(2);
                let mut end = end;
                while self.byte(end) == b'-' && self.byte(end + 1).is_ascii_alphabetic() {
                    end = self.run_end(end + 1);
                }
                is_flag.then_some(start - 2..end)
            }
            // `@decorator`, not `name@host`.
            b'@' => {
                let is_name = first.is_ascii_alphabetic() && word.len() > 1;
                let is_free = self.before(2) != b'@' && !self.is_letter_before(1);
                (is_name && is_free).then_some(start - 1..end)
            }
            // `#4711`, not `&#39;`.
            b'#' => {
                let is_number = word.iter().all(u8::is_ascii_digit) && word.len() <= 10;
                let is_free = !matches!(self.before(2), b'&' | b'#') && !self.is_letter_before(1);
                (is_number && is_free).then_some(start - 1..end)
            }
            // `.NET` and `VB.NET`, not `example.net`.
            b'.' => {
                let is_free = !self.is_letter_before(1) && self.byte(end) != b'(';
                let is_net = word == b"NET" || (is_free && word.eq_ignore_ascii_case(b"net"));
                is_net.then_some(start - 1..end)
            }
            _ => None,
        }
    }

    /// A word that goes on with a sign.
    #[cold]
    fn continued(&self) -> Option<Range<usize>> {
        let (start, end) = (self.run.start, self.run.end);
        let word = self.bytes(self.run.clone());
        let next = self.byte(end + 1);
        match self.byte(end) {
            b'.' => self.dotted(),
            b'-' if next == b'>' => {
                let field = end + 2..self.run_end(end + 2);
                (word.len() == 1 && field.len() == 1).then_some(start..field.end)
            }
            b'-' => self.date().or_else(|| self.dashed()),
            // `C++` and `g++`, not `i++`.
            b'+' if next == b'+' => {
                let after = self.byte(end + 2);
                let is_capital = matches!(word, [b'A'..=b'Z']);
                let is_name = is_capital
                    || PLUS_NAMES
                        .iter()
                        .any(|name| word.eq_ignore_ascii_case(name.as_bytes()));
                // `C++17` and `c++0x` are names too.
                (is_name && after != b'+' && after != b'=' && !after.is_ascii_alphabetic())
                    .then_some(start..end + 2)
            }
            // `C#`, not `r#"` or `r#type`.
            b'#' if word.len() == 1 => {
                let is_free = !next.is_ascii_alphabetic() && next != b'"' && next != b'#';
                (is_free && word.first().is_some_and(u8::is_ascii_alphabetic))
                    .then_some(start..end + 1)
            }
            // `I/O` and `Q&A`, not a path.
            b'/' | b'&' if word.len() == 1 => {
                let other = end + 1..self.run_end(end + 1);
                let letters =
                    |range: Range<usize>| self.bytes(range).iter().all(u8::is_ascii_alphabetic);
                let is_path = self.before(1) == b'/' || self.byte(other.end) == b'/';
                (other.len() == 1 && letters(start..end) && letters(other.clone()) && !is_path)
                    .then_some(start..other.end)
            }
            _ => None,
        }
    }

    /// `2.10.3`, `v1.30`, `10.0.0.2`, `python3.11`.
    fn dotted(&self) -> Option<Range<usize>> {
        let (start, mut end) = (self.run.start, self.run.end);
        let mut dots = 0;
        while self.byte(end - 1).is_ascii_digit()
            && self.byte(end) == b'.'
            && self.byte(end + 1).is_ascii_digit()
        {
            end = self.run_end(end + 1);
            dots += 1;
        }
        let found = start..end;
        let is_long =
            |part: &[u8]| part.len() > MAX_DECIMAL_DIGITS && part.iter().all(u8::is_ascii_digit);
        let is_measure = dots == 1
            && self
                .bytes(found.clone())
                .split(|byte| *byte == b'.')
                .any(is_long);
        (dots > 0 && !is_measure).then_some(found)
    }

    /// `2024-05-01`, also with `T10` behind it.
    fn date(&self) -> Option<Range<usize>> {
        let start = self.run.start;
        self.date_at(start)
            .then(|| start..self.run_end(start + DATE_BYTES))
    }

    fn date_at(&self, start: usize) -> bool {
        is_date(self.bytes(start..self.run_end(start + DATE_BYTES)))
    }

    /// `ABC-123`, `x86-64`, `utf-8`, `k-means`, `8-bit`: a run and runs that begin with a digit, or a single character and
    /// a word.
    fn dashed(&self) -> Option<Range<usize>> {
        let (start, mut end) = (self.run.start, self.run.end);
        let word = self.bytes(self.run.clone());
        let is_variable = matches!(word, [b'a'..=b'z' | b'_']);
        if word.len() == 1 && self.byte(end + 1).is_ascii_alphabetic() {
            let after = self.run_end(end + 1);
            if after - end > 2 && word != b"_" {
                end = after;
            }
        }
        while !is_variable
            && self.byte(end) == b'-'
            && self.byte(end + 1).is_ascii_digit()
            && !self.date_at(end + 1)
        {
            let after = self.run_end(end + 1);
            // `tokio-1.30.0`: a version is a word of its own.
            if self.byte(after) == b'.' && self.byte(after + 1).is_ascii_digit() {
                break;
            }
            end = after;
        }
        (end > self.run.end).then_some(start..end)
    }
}

/// Whether a character is part of a word.
fn is_letter(c: char) -> bool {
    matches!(char_class(c), CharClass::Word | CharClass::Bigram)
}

/// Bytes of a date, `2024-05-01`.
pub(super) const DATE_BYTES: usize = 10;

/// Whether a word begins with a date, and ends there or goes on with a time.
pub(super) fn is_date(word: &[u8]) -> bool {
    let is_like = |(byte, form): (&u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        _ => byte == form,
    };
    let (Some(date), after) = (word.get(..DATE_BYTES), word.get(DATE_BYTES)) else {
        return false;
    };
    date.iter().zip(b"0000-00-00").all(is_like) && matches!(after, None | Some(b'T' | b't'))
}

/// Whether a byte is part of a run in a word with signs. Its characters outside ASCII are letters.
fn is_in_run(byte: u8) -> bool {
    is_ascii_word(byte) || byte >= 0x80
}

/// The number behind letters at the start of a dotted word, from this byte on: `3.11` of `python3.11`.
pub(super) fn number_start(word: &str) -> Option<usize> {
    if word.starts_with(SECTION_SIGN) {
        return None;
    }
    let dot = word.find('.').filter(|dot| *dot > 0)?;
    let first = word.get(..dot)?;
    let digits = first.trim_end_matches(|c: char| c.is_ascii_digit());
    (!digits.is_empty() && digits.len() < first.len()).then_some(digits.len())
}

/// The runs of word characters in a word with signs.
pub(crate) fn runs(word: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = word.as_bytes();
    // The only signs outside ASCII.
    let number = word.strip_prefix(SECTION_SIGN).map(str::trim_start);
    let mut at = number.map_or(0, |number| word.len() - number.len());
    std::iter::from_fn(move || {
        let rest = bytes.get(at..)?;
        let start = at + rest.iter().position(|byte| is_in_run(*byte))?;
        let run = bytes.get(start..)?;
        at = start
            + run
                .iter()
                .position(|byte| !is_in_run(*byte))
                .unwrap_or(run.len());
        Some(start..at)
    })
}

/// Whether a word has signs.
pub(crate) fn is_joined(word: &str) -> bool {
    !word.bytes().all(is_in_run) || word.starts_with(SECTION_SIGN)
}
