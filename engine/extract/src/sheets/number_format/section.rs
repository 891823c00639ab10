//! The code of a number format, section by section.

use super::date::DatePart;

/// A piece of a section.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Literal(char),
    /// A place for a digit: `0`, `#` or `?`.
    Digit(char),
    Point,
    Comma,
    Percent,
    /// `E+` or `E-`.
    Exponent {
        shows_plus: bool,
    },
    Slash,
    /// The number as if it had no format.
    General,
    /// The text of the cell.
    Text,
    Date(DatePart),
}

/// Which numbers a section is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Condition {
    Less(f64),
    LessOrEqual(f64),
    Greater(f64),
    GreaterOrEqual(f64),
    Equal(f64),
    NotEqual(f64),
}

impl Condition {
    pub(super) fn holds(self, number: f64) -> bool {
        match self {
            Condition::Less(bound) => number < bound,
            Condition::LessOrEqual(bound) => number <= bound,
            Condition::Greater(bound) => number > bound,
            Condition::GreaterOrEqual(bound) => number >= bound,
            Condition::Equal(bound) => number == bound,
            Condition::NotEqual(bound) => number != bound,
        }
    }

    fn parse(text: &str) -> Option<Condition> {
        type Build = fn(f64) -> Condition;
        let signs: [(&str, Build); 6] = [
            ("<=", Condition::LessOrEqual),
            (">=", Condition::GreaterOrEqual),
            ("<>", Condition::NotEqual),
            ("<", Condition::Less),
            (">", Condition::Greater),
            ("=", Condition::Equal),
        ];
        let (rest, condition) = signs
            .into_iter()
            .find_map(|(sign, condition)| Some((text.strip_prefix(sign)?, condition)))?;
        let bound = rest.trim().parse::<f64>().ok()?;
        Some(condition(bound))
    }
}

/// A section of a format code.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Section {
    pub(super) tokens: Vec<Token>,
    pub(super) condition: Option<Condition>,
}

impl Section {
    pub(super) fn has(&self, is_wanted: impl Fn(&Token) -> bool) -> bool {
        self.tokens.iter().any(is_wanted)
    }

    pub(super) fn is_date(&self) -> bool {
        self.has(|token| matches!(token, Token::Date(_)))
    }

    pub(super) fn is_text(&self) -> bool {
        self.has(|token| *token == Token::Text)
    }
}

/// The sections of a format code. Linear in the code.
pub(super) fn parse(code: &str) -> Vec<Section> {
    let mut sections = vec![Section::default()];
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let Some(section) = sections.last_mut() else {
            break;
        };
        let after = rest.get(first.len_utf8()..).unwrap_or_default();
        let second = after.chars().next();
        let behind_second = || {
            let width = second.map_or(0, char::len_utf8);
            after.get(width..).unwrap_or_default()
        };
        rest = match first {
            ';' => {
                sections.push(Section::default());
                after
            }
            '"' => {
                let (quoted, rest) = after.split_once('"').unwrap_or((after, ""));
                section.tokens.extend(quoted.chars().map(Token::Literal));
                rest
            }
            '\\' | '!' => {
                section.tokens.extend(second.map(Token::Literal));
                behind_second()
            }
            // As wide as a character: a space.
            '_' => {
                section.tokens.push(Token::Literal(' '));
                behind_second()
            }
            // Fills the cell with a character.
            '*' => behind_second(),
            '[' => {
                let (inside, rest) = after.split_once(']').unwrap_or((after, ""));
                bracket(inside, section);
                rest
            }
            _ => plain(first, rest, after, section),
        };
    }
    for section in &mut sections {
        settle(section);
    }
    sections
}

/// Colours, conditions, currencies and elapsed time.
fn bracket(inside: &str, section: &mut Section) {
    if let Some(currency) = inside.strip_prefix('$') {
        let (sign, _locale) = currency.split_once('-').unwrap_or((currency, ""));
        section.tokens.extend(sign.chars().map(Token::Literal));
        return;
    }
    if let Some(condition) = Condition::parse(inside) {
        section.condition = Some(condition);
        return;
    }
    let lower = inside.to_ascii_lowercase();
    let letters = lower.chars().count();
    let is_all = |letter: char| letters > 0 && lower.chars().all(|c| c == letter);
    let part = if is_all('h') {
        DatePart::ElapsedHours(letters)
    } else if is_all('m') {
        DatePart::ElapsedMinutes(letters)
    } else if is_all('s') {
        DatePart::ElapsedSeconds(letters)
    } else {
        return;
    };
    section.tokens.push(Token::Date(part));
}

/// What stands in no quotes and no brackets; returns what is left.
fn plain<'c>(first: char, rest: &'c str, after: &'c str, section: &mut Section) -> &'c str {
    let begins = |word: &str| {
        rest.get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    let words = [
        ("General", Token::General),
        // What LibreOffice writes for it.
        ("Standard", Token::General),
        ("AM/PM", Token::Date(DatePart::HalfDay { is_short: false })),
        ("A/P", Token::Date(DatePart::HalfDay { is_short: true })),
        ("E+", Token::Exponent { shows_plus: true }),
        ("E-", Token::Exponent { shows_plus: false }),
    ];
    if let Some((word, token)) = words.into_iter().find(|(word, _)| begins(word)) {
        section.tokens.push(token);
        return rest.get(word.len()..).unwrap_or_default();
    }
    let lower = first.to_ascii_lowercase();
    if matches!(lower, 'y' | 'm' | 'd' | 'h' | 's' | 'e' | 'g' | 'b') {
        let behind = rest.trim_start_matches([lower, first.to_ascii_uppercase()]);
        let letters = rest.len() - behind.len();
        let part = match lower {
            'y' => Some(DatePart::Year(letters)),
            'e' => Some(DatePart::Year(4)),
            'm' => Some(DatePart::Month(letters)),
            'd' => Some(DatePart::Day(letters)),
            'h' => Some(DatePart::Hour(letters)),
            's' => Some(DatePart::Second(letters)),
            // Eras and Buddhist years are shown by no more than the other parts.
            _ => None,
        };
        section.tokens.extend(part.map(Token::Date));
        return behind;
    }
    section.tokens.push(match first {
        '0' | '#' | '?' => Token::Digit(first),
        '.' => Token::Point,
        ',' => Token::Comma,
        '%' => Token::Percent,
        '/' => Token::Slash,
        '@' => Token::Text,
        other => Token::Literal(other),
    });
    after
}

/// Decides what depends on the rest of the section: whether an `m` is a minute, and what the signs of numbers
/// mean in a date.
fn settle(section: &mut Section) {
    if !section.is_date() {
        return;
    }
    let mut tokens: Vec<Token> = Vec::with_capacity(section.tokens.len());
    let mut given = std::mem::take(&mut section.tokens).into_iter().peekable();
    while let Some(token) = given.next() {
        let is_second = |token: Option<&Token>| {
            matches!(
                token,
                Some(Token::Date(
                    DatePart::Second(_) | DatePart::ElapsedSeconds(_)
                ))
            )
        };
        let token = match token {
            // `ss.000`
            Token::Point if is_second(tokens.last()) => {
                let mut digits = 0;
                while given.next_if_eq(&Token::Digit('0')).is_some() {
                    digits += 1;
                }
                match digits {
                    0 => Token::Literal('.'),
                    _ => Token::Date(DatePart::Fraction(digits)),
                }
            }
            Token::Point => Token::Literal('.'),
            Token::Comma => Token::Literal(','),
            Token::Slash => Token::Literal('/'),
            Token::Percent => Token::Literal('%'),
            Token::Digit(sign) => Token::Literal(sign),
            other => other,
        };
        tokens.push(token);
    }
    // Minutes stand behind hours or before seconds.
    let parts: Vec<usize> = tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| {
            matches!(token, Token::Date(part) if !matches!(part, DatePart::HalfDay { .. }))
        })
        .map(|(at, _)| at)
        .collect();
    let part_at = |tokens: &[Token], position: Option<usize>| {
        let at = parts.get(position?)?;
        match tokens.get(*at)? {
            Token::Date(part) => Some(*part),
            _ => None,
        }
    };
    for (position, at) in parts.iter().enumerate() {
        let before = part_at(&tokens, position.checked_sub(1));
        let behind = part_at(&tokens, position.checked_add(1));
        let is_minute = matches!(before, Some(DatePart::Hour(_) | DatePart::ElapsedHours(_)))
            || matches!(
                behind,
                Some(DatePart::Second(_) | DatePart::ElapsedSeconds(_))
            );
        if let Some(Token::Date(part)) = tokens.get_mut(*at)
            && let DatePart::Month(letters @ (1 | 2)) = *part
            && is_minute
        {
            *part = DatePart::Minute(letters);
        }
    }
    section.tokens = tokens;
}
