//! RTF as tokens.

/// Letters of a control word; the standard has 32.
const MAX_WORD_BYTES: usize = 40;
/// Digits of its number.
// A number of 32 bits has ten.
const MAX_DIGITS: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Open,
    Close,
    /// A control word and its number.
    Word(&'a [u8], Option<i32>),
    /// `\u`: a character by its number.
    Character(i32),
    /// A byte of text.
    Byte(u8),
    /// A control symbol: a backslash and this byte.
    Symbol(u8),
}

/// Tokens of a file from its `{\rtf` on. What `\bin` counts is passed over.
pub(super) struct Tokens<'a> {
    rest: &'a [u8],
}

impl<'a> Tokens<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Tokens<'a> {
        let start = memchr::memmem::find(bytes, b"{\\rtf").unwrap_or(0);
        Tokens {
            rest: bytes.get(start..).unwrap_or_default(),
        }
    }

    fn take_while(&mut self, most: usize, matches: impl Fn(u8) -> bool) -> &'a [u8] {
        let head = self.rest.iter().take(most);
        let length = head.take_while(|byte| matches(**byte)).count();
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or_default();
        self.rest = rest;
        taken
    }

    fn word(&mut self) -> Token<'a> {
        let word = self.take_while(MAX_WORD_BYTES, |byte| byte.is_ascii_alphabetic());
        let sign = self.take_while(1, |byte| byte == b'-');
        let digits = self.take_while(MAX_DIGITS, |byte| byte.is_ascii_digit());
        self.take_while(1, |byte| byte == b' ');
        let number = digits.iter().fold(0i64, |number, digit| {
            number * 10 + i64::from(digit.wrapping_sub(b'0'))
        });
        let number = if sign.is_empty() { number } else { -number };
        let number = i32::try_from(number).unwrap_or(0);
        let value = (!digits.is_empty()).then_some(number);
        match word {
            b"u" => Token::Character(number),
            b"bin" => {
                let length = usize::try_from(number).unwrap_or(0);
                self.rest = self.rest.get(length..).unwrap_or_default();
                Token::Word(word, value)
            }
            _ => Token::Word(word, value),
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            return Some(match byte {
                b'{' => Token::Open,
                b'}' => Token::Close,
                b'\r' | b'\n' | 0 => continue,
                b'\\' => {
                    let &next = self.rest.first()?;
                    if next.is_ascii_alphabetic() {
                        return Some(self.word());
                    }
                    self.take_while(1, |_| true);
                    match next {
                        b'\'' => {
                            let digits = self.take_while(2, |byte| byte.is_ascii_hexdigit());
                            let text = std::str::from_utf8(digits).unwrap_or_default();
                            match u8::from_str_radix(text, 16) {
                                Ok(byte) => Token::Byte(byte),
                                Err(_) => continue,
                            }
                        }
                        b'\\' | b'{' | b'}' => Token::Byte(next),
                        symbol => Token::Symbol(symbol),
                    }
                }
                byte => Token::Byte(byte),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Token, Tokens};

    #[test]
    fn control_words_take_their_number_and_one_space() {
        let tokens: Vec<Token<'_>> =
            Tokens::new(b"x{\\rtf1 \\fs-2  a\\'e9\\u-10?\\bin3 }}}\\~}").collect();
        let expected = [
            Token::Open,
            Token::Word(b"rtf", Some(1)),
            Token::Word(b"fs", Some(-2)),
            Token::Byte(b' '),
            Token::Byte(b'a'),
            Token::Byte(0xE9),
            Token::Character(-10),
            Token::Byte(b'?'),
            Token::Word(b"bin", Some(3)),
            Token::Symbol(b'~'),
            Token::Close,
        ];
        assert_eq!(tokens, expected);
    }
}
