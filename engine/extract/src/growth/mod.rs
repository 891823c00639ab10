//! Every reader over every construct that it knows, at one, two and four times its length: what takes more than 2.3
//! times as long for twice the length is a fault. Whatever is read is screened for keys as well.
//!
//! The constructs are tables: [`text`] has those of texts, from which whole families of inputs are made (one after
//! the other, inside each other, begun and never ended, each behind each other one), [`packed`] those of packages
//! and [`binary`] those of binary formats.

mod binary;
mod code;
mod packed;
mod text;

use std::time::Duration;

use kb_types::growth::{timed, too_fast};

use crate::extractor::extract;
use crate::secrets::secret_in;

/// What happens to a file, in this order.
const STEPS: [&str; 2] = ["read", "screen"];

/// An input of any length.
struct Construct {
    /// Of the file; its ending decides how a text is read.
    file: &'static str,
    name: String,
    /// A file of about so many bytes of this.
    make: Box<dyn Fn(usize) -> Vec<u8>>,
}

impl Construct {
    fn new(
        file: &'static str,
        name: impl Into<String>,
        make: impl Fn(usize) -> Vec<u8> + 'static,
    ) -> Construct {
        Construct {
            file,
            name: name.into(),
            make: Box::new(make),
        }
    }
}

/// CPU time of each step.
fn times(construct: &Construct, bytes: usize) -> [Duration; 2] {
    let input = (construct.make)(bytes);
    let (document, read) = timed(|| extract(construct.file, &input));
    let Ok(document) = document else {
        return [read, Duration::ZERO];
    };
    let (_, screened) = timed(|| secret_in(&document));
    [read, screened]
}

/// Reads each construct, and names those whose time grows too fast. `smallest` bytes are one length, `most` four.
fn check(constructs: Vec<Construct>, smallest: usize, most: usize) {
    let tells = std::env::var_os("KB_GROWTH_TELL").is_some();
    let mut faults = Vec::new();
    for construct in &constructs {
        let found = too_fast(smallest, most, &|bytes| times(construct, bytes));
        if tells {
            eprintln!("{}: {} {found:?}", construct.file, construct.name);
        }
        for (step, growth) in STEPS.iter().zip(found) {
            if let Some(growth) = growth {
                let (file, name) = (construct.file, &construct.name);
                faults.push(format!(
                    "{step} {file}: {name}: x{growth:.2} for twice the length"
                ));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{} of {} grow too fast:\n{}",
        faults.len(),
        constructs.len(),
        faults.join("\n")
    );
}

/// `piece` as often as fits into so many bytes, once at least. `{n}` in it is the number of the repetition, from 1, and
/// `{p}` the one before.
fn repeated(piece: &str, bytes: usize) -> String {
    let times = bytes.checked_div(piece.len()).unwrap_or(0).max(1);
    if !piece.contains('{') {
        return piece.repeat(times);
    }
    (1..=times)
        .map(|number| {
            let numbered = piece.replace("{n}", &number.to_string());
            numbered.replace("{p}", &(number - 1).to_string())
        })
        .collect()
}
