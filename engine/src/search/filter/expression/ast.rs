//! What an expression is.

use std::fmt::{self, Display, Formatter, Write as _};

use kb_types::NamePattern;

use super::lexer::is_keyword;
use super::value::Literal;
use crate::store::fields::FieldValue as Value;

/// A condition on the fields of a document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression {
    /// All of them hold.
    All(Vec<Expression>),
    /// Any of them holds.
    Any(Vec<Expression>),
    /// It does not hold.
    Not(Box<Expression>),
    /// The document has no such field.
    Missing(String),
    /// A value of the field passes.
    Field(String, Test),
}

/// What a value of a field must be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    /// It compares so with one value.
    Compare(Operator, Literal),
    /// It equals one of these.
    OneOf(Vec<Literal>),
    /// It is a text of this pattern.
    Matches(NamePattern),
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Operator {
    /// The operator as it is written.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Operator::Equal => "=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
        }
    }
}

impl Test {
    /// Whether a value of a document passes.
    pub(crate) fn passes(&self, value: &Value) -> bool {
        match self {
            Test::Compare(operator, literal) => {
                value.compare(literal).is_some_and(|order| match operator {
                    Operator::Equal => order.is_eq(),
                    Operator::Less => order.is_lt(),
                    Operator::LessOrEqual => order.is_le(),
                    Operator::Greater => order.is_gt(),
                    Operator::GreaterOrEqual => order.is_ge(),
                })
            }
            Test::OneOf(literals) => {
                let mut orders = literals.iter().map(|literal| value.compare(literal));
                orders.any(|order| order.is_some_and(|order| order.is_eq()))
            }
            Test::Matches(pattern) => match value {
                Value::Text(text) => pattern.matches(text),
                _ => false,
            },
        }
    }
}

impl Expression {
    fn is_joined(&self) -> bool {
        matches!(self, Expression::All(_) | Expression::Any(_))
    }
}

#[cfg(test)]
impl Expression {
    /// Whether it holds for a document, whose values of a field `values` tells. The name is in lower case.
    pub(crate) fn holds<'v>(&self, values: &impl Fn(&str) -> &'v [Value]) -> bool {
        match self {
            Expression::All(of) => of.iter().all(|one| one.holds(values)),
            Expression::Any(of) => of.iter().any(|one| one.holds(values)),
            Expression::Not(one) => !one.holds(values),
            Expression::Missing(name) => values(name).is_empty(),
            Expression::Field(name, test) => values(name).iter().any(|value| test.passes(value)),
        }
    }
}

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Expression::All(of) => joined(f, of, " and "),
            Expression::Any(of) => joined(f, of, " or "),
            Expression::Not(one) if one.is_joined() => write!(f, "not ({one})"),
            Expression::Not(one) => write!(f, "not {one}"),
            Expression::Missing(name) => {
                f.write_str("missing(")?;
                field(f, name)?;
                f.write_char(')')
            }
            Expression::Field(name, test) => {
                field(f, name)?;
                write!(f, " {test}")
            }
        }
    }
}

impl Display for Test {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Test::Compare(operator, literal) => write!(f, "{} {literal}", operator.sign()),
            Test::OneOf(literals) => {
                f.write_str("in (")?;
                for (at, literal) in literals.iter().enumerate() {
                    let between = if at == 0 { "" } else { ", " };
                    write!(f, "{between}{literal}")?;
                }
                f.write_char(')')
            }
            Test::Matches(pattern) => {
                write!(f, "~ {}", Literal::Text(pattern.to_string()))
            }
        }
    }
}

fn joined(f: &mut Formatter<'_>, of: &[Expression], word: &str) -> fmt::Result {
    for (at, one) in of.iter().enumerate() {
        f.write_str(if at == 0 { "" } else { word })?;
        if one.is_joined() {
            write!(f, "({one})")?;
        } else {
            write!(f, "{one}")?;
        }
    }
    Ok(())
}

/// Writes a name of a field, between backquotes where it would be read as something else.
fn field(f: &mut Formatter<'_>, name: &str) -> fmt::Result {
    let is_start = |c: char| c.is_alphabetic() || c == '_';
    let is_plain = name.starts_with(is_start)
        && name.chars().all(super::lexer::is_in_name)
        && !is_keyword(name);
    if is_plain {
        return f.write_str(name);
    }
    f.write_char('`')?;
    for c in name.chars() {
        if matches!(c, '`' | '\\') {
            f.write_char('\\')?;
        }
        f.write_char(c)?;
    }
    f.write_char('`')
}
