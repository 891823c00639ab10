//! Equations in a linear form: `x=(-b±√(b^2-4ac))/(2a)`. From Office Math, and from MathML as OpenDocument has it.

mod linear;
mod mathml;
mod office_math;

pub(crate) use mathml::read_mathml;
pub(crate) use office_math::{Equation, is_setting, read_office_math};

#[cfg(test)]
mod tests;
