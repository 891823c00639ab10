//! Checks the fields of every object and their order. The lists repeat those of the code, so that no field is lost by
//! accident.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    unreachable_pub
)]

mod example;
mod reading;
mod searching;
mod shape;
mod writing;

/// Asserts that an object has these fields in this order; `expected` may have line breaks.
fn assert_shape(object: &kb_json::Object, expected: &str) {
    let expected: Vec<&str> = expected.split_whitespace().collect();
    assert_eq!(shape::shape(object), expected.join(" "));
}
