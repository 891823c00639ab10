//! Tokens to an expression.

use std::iter::Peekable;
use std::vec::IntoIter;

use kb_types::NamePattern;
use kb_types::error::{Error, Result};

use super::ast::{Expression, Operator, Test};
use super::lexer::{Token, error, is_keyword, tokens};
use super::value::Literal;

/// Bytes of an expression.
const LIMIT_BYTES: usize = 65_536;

/// Tests of an expression. Each costs a look at the values of a field.
const LIMIT_TESTS: usize = 1024;

/// How deep parentheses and `not` may nest.
// The parser and the evaluation recurse once a level; a hundred levels take some kilobytes of stack.
const LIMIT_DEPTH: usize = 64;

/// Reads an expression. Takes time linear in its length.
///
/// # Errors
/// [`crate::Error::InvalidArgument`] with the position of what is wrong.
pub(crate) fn parse(given: &str) -> Result<Expression> {
    if given.len() > LIMIT_BYTES {
        let what = format!("more than {LIMIT_BYTES} bytes");
        return Err(error(given, 0, &what));
    }
    let mut parser = Parser {
        given,
        tokens: tokens(given)?.into_iter().peekable(),
        tests: 0,
    };
    let expression = parser.any(0)?;
    match parser.tokens.next() {
        None => Ok(expression),
        Some((at, _)) => Err(error(given, at, "expected \"and\", \"or\" or the end")),
    }
}

struct Parser<'g> {
    given: &'g str,
    tokens: Peekable<IntoIter<(usize, Token)>>,
    tests: usize,
}

impl Parser<'_> {
    fn any(&mut self, depth: usize) -> Result<Expression> {
        let first = self.all(depth)?;
        let mut any = vec![first];
        while self.takes_word("or") {
            any.push(self.all(depth)?);
        }
        Ok(one_or(any, Expression::Any))
    }

    fn all(&mut self, depth: usize) -> Result<Expression> {
        let first = self.term(depth)?;
        let mut all = vec![first];
        while self.takes_word("and") {
            all.push(self.term(depth)?);
        }
        Ok(one_or(all, Expression::All))
    }

    fn term(&mut self, depth: usize) -> Result<Expression> {
        if depth >= LIMIT_DEPTH {
            let what = format!("more than {LIMIT_DEPTH} levels of parentheses and \"not\"");
            return Err(self.wrong(&what));
        }
        if self.takes_word("not") {
            return Ok(Expression::Not(Box::new(self.term(depth + 1)?)));
        }
        if self.takes_sign("(") {
            let inner = self.any(depth + 1)?;
            self.expect(")")?;
            return Ok(inner);
        }
        self.tests += 1;
        if self.tests > LIMIT_TESTS {
            return Err(self.wrong(&format!("more than {LIMIT_TESTS} tests")));
        }
        if self.takes_word("missing") {
            self.expect("(")?;
            let field = self.field()?;
            self.expect(")")?;
            return Ok(Expression::Missing(field));
        }
        let field = self.field()?;
        self.test(field)
    }

    fn test(&mut self, field: String) -> Result<Expression> {
        const COMPARISONS: [(&str, Operator); 6] = [
            ("=", Operator::Equal),
            ("==", Operator::Equal),
            ("<", Operator::Less),
            ("<=", Operator::LessOrEqual),
            (">", Operator::Greater),
            (">=", Operator::GreaterOrEqual),
        ];
        for (sign, operator) in COMPARISONS {
            if self.takes_sign(sign) {
                let value = self.value()?;
                return Ok(Expression::Field(field, Test::Compare(operator, value)));
            }
        }
        if self.takes_sign("!=") {
            let is = Test::Compare(Operator::Equal, self.value()?);
            return Ok(not(Expression::Field(field, is)));
        }
        if self.takes_sign("~") {
            let at = self.position();
            let pattern = match self.value()? {
                Literal::Text(pattern) => NamePattern::new(&pattern),
                _ => None,
            };
            let what = "expected a pattern of 1 to 200 bytes in quotes";
            let pattern = pattern.ok_or_else(|| error(self.given, at, what))?;
            return Ok(Expression::Field(field, Test::Matches(pattern)));
        }
        if self.takes_word("has") {
            let value = self.value()?;
            return Ok(Expression::Field(
                field,
                Test::Compare(Operator::Equal, value),
            ));
        }
        if self.takes_word("not") {
            if !self.takes_word("in") {
                return Err(self.wrong("expected \"in\""));
            }
            let of = self.list()?;
            return Ok(not(Expression::Field(field, Test::OneOf(of))));
        }
        if self.takes_word("in") {
            let of = self.list()?;
            return Ok(Expression::Field(field, Test::OneOf(of)));
        }
        let is_true = Test::Compare(Operator::Equal, Literal::Boolean(true));
        Ok(Expression::Field(field, is_true))
    }

    fn list(&mut self) -> Result<Vec<Literal>> {
        self.expect("(")?;
        let mut values = vec![self.value()?];
        while self.takes_sign(",") {
            values.push(self.value()?);
        }
        self.expect(")")?;
        Ok(values)
    }

    fn field(&mut self) -> Result<String> {
        match self.tokens.peek() {
            Some((_, Token::Field(name))) if !name.trim().is_empty() => {}
            Some((_, Token::Word(word))) if !is_keyword(word) => {}
            _ => return Err(self.wrong("expected the name of a field")),
        }
        match self.tokens.next() {
            Some((_, Token::Field(name) | Token::Word(name))) => Ok(name.trim().to_lowercase()),
            _ => Err(self.wrong("expected the name of a field")),
        }
    }

    fn value(&mut self) -> Result<Literal> {
        match self.tokens.peek() {
            Some((_, Token::Literal(_))) => {}
            Some((_, Token::Word(word))) => {
                let what = format!("expected a value; a text stands in quotes: \"{word}\"");
                return Err(self.wrong(&what));
            }
            _ => {
                return Err(
                    self.wrong("expected a text in quotes, a number, a date, true or false")
                );
            }
        }
        match self.tokens.next() {
            Some((_, Token::Literal(literal))) => Ok(literal),
            _ => Err(self.wrong("expected a value")),
        }
    }

    fn takes_word(&mut self, wanted: &str) -> bool {
        let is_it = |(_, token): &(usize, Token)| matches!(token, Token::Word(word) if word.eq_ignore_ascii_case(wanted));
        self.tokens.next_if(is_it).is_some()
    }

    fn takes_sign(&mut self, wanted: &str) -> bool {
        let is_it =
            |(_, token): &(usize, Token)| matches!(token, Token::Sign(sign) if *sign == wanted);
        self.tokens.next_if(is_it).is_some()
    }

    fn expect(&mut self, sign: &str) -> Result<()> {
        match self.takes_sign(sign) {
            true => Ok(()),
            false => Err(self.wrong(&format!("expected \"{sign}\""))),
        }
    }

    /// Where the next token begins.
    fn position(&mut self) -> usize {
        self.tokens.peek().map_or(self.given.len(), |(at, _)| *at)
    }

    /// What is wrong with the next token.
    fn wrong(&mut self, what: &str) -> Error {
        let at = self.position();
        error(self.given, at, what)
    }
}

fn not(expression: Expression) -> Expression {
    Expression::Not(Box::new(expression))
}

fn one_or(mut of: Vec<Expression>, many: fn(Vec<Expression>) -> Expression) -> Expression {
    match (of.len(), of.pop()) {
        (1, Some(one)) => one,
        (_, last) => {
            of.extend(last);
            many(of)
        }
    }
}
